!> Rigid motions of implicit bodies in the correction of joints.
!>
!> Explicit steps are short beside vibrations, so that a correction in the metric of masses hardly strains bodies.  Steps of scheme
!> DEF_LIM may be many periods long: half a millimetre at the nodes of a joint alone can hold a hundred times the energy with which
!> the body moves.  So such bodies move as rigid ones, and deform only where this does not close gaps.
!>
!> The metric is that of two more triples for each of them, a translation and a rotation about the mass centre, beside its own, whose
!> mobility is scaled by a small `give`.  They are scaled so that their own mobility is the identity.
module rigid_shares
  use kinds, only: dp, i4
  use body_state, only: bodies_and_triples, element_bodies
  use kind_numbers, only: implicit => scheme_def_lim
  use matrix3, only: cholesky, cross, inverse
  use velocity_operator, only: finite_element_kind, pseudo_rigid_kind
  implicit none
  private
  public :: rigid_share, moves_rigidly, rigid_share_of, add_rigid_triples, place_of

  real(dp), parameter :: give = 1e-6_dp     !< mobility of a node's deformation over that of the body

  !> How a body moves as a rigid one, from the amounts m of its two triples: centre + shift*m_1, and turned by turn*m_2.
  type :: rigid_share
    real(dp) :: centre(3), shift, turn(3,3)
    real(dp) :: own     !< factor of the body's own triples
  end type rigid_share

contains

  !> Whether corrections move body k as a rigid one.
  pure logical function moves_rigidly(state, k)
    class(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: k

    moves_rigidly = state%bodies%scheme(k) == implicit .and. state%bodies%mode_count(k) == 0 &
      .and. any(state%bodies%kind(k) == [finite_element_kind, pseudo_rigid_kind])
  end function moves_rigidly

  !> Computes centre and scales of body k in its present configuration.
  pure function rigid_share_of(state, k) result(share)
    class(element_bodies), intent(in) :: state
    integer(i4), intent(in) :: k
    type(rigid_share) :: share
    real(dp) :: mass, second(3,3), inertia(3,3), arm(3)
    integer :: c, e, i

    c = state%bodies%conf_ptr(k)
    second = 0.0_dp     ! sum of m x x^T about the centre
    associate (conf => state%configurations%conf, node_mass => state%fe%mass(state%bodies%node_ptr(k):))
      if (state%bodies%kind(k) == pseudo_rigid_kind) then
        mass = state%bodies%mass(k)
        share%centre = conf(:,c+3)
        share%own = sqrt(give)
        second = matmul(matmul(transpose(conf(:,c:c+2)), state%bodies%tensor(:,:,k)), conf(:,c:c+2))
      else
        mass = 0.0_dp
        arm = 0.0_dp
        share%own = sqrt(give/state%bodies%node_count(k))
        do e = 1, state%bodies%node_count(k)
          mass = mass + node_mass(e)
          arm = arm + node_mass(e)*(place_of(state, k, e - 1) - place_of(state, k, 0))
        end do
        share%centre = place_of(state, k, 0) + arm/mass
        do e = 1, state%bodies%node_count(k)
          arm = place_of(state, k, e - 1) - share%centre
          do i = 1, 3
            second(:,i) = second(:,i) + arm*(arm(i)*node_mass(e))
          end do
        end do
      end if
    end associate
    share%shift = 1/sqrt(mass)
    inertia = -second
    do i = 1, 3
      inertia(i,i) = inertia(i,i) + second(1,1) + second(2,2) + second(3,3)
    end do
    call cholesky(1.0_dp, inverse(inertia), share%turn)
  end function rigid_share_of

  !> Present place of a node of body k, numbered from 0.
  pure function place_of(state, k, node) result(place)
    class(element_bodies), intent(in) :: state
    integer(i4), intent(in) :: k
    integer, intent(in) :: node
    real(dp) :: place(3)

    place = state%fe%reference(:,state%bodies%node_ptr(k)+node) + state%configurations%conf(:,state%bodies%conf_ptr(k)+node)
  end function place_of

  !> Scales the operators h of body k on its own triples t, and adds those on its rigid motion, triples `first` and first + 1.
  pure subroutine add_rigid_triples(state, k, share, first, count, h, t)
    class(element_bodies), intent(in) :: state
    integer(i4), intent(in) :: k, first
    type(rigid_share), intent(in) :: share
    integer(i4), intent(inout) :: count, t(:)
    real(dp), intent(inout) :: h(:,:,:)
    real(dp) :: moving(3,3), turning(3,3), motion(3,3)
    integer :: c, e, i

    c = state%bodies%conf_ptr(k)
    moving = 0.0_dp
    turning = 0.0_dp
    do e = 1, count
      if (state%bodies%kind(k) == pseudo_rigid_kind) then
        if (e == 4) moving = h(:,:,4)
        if (e == 4) cycle
        do i = 1, 3     ! row e of the gradient as the body turns about axis i
          motion(:,i) = row_turned(unit(i), state%configurations%conf(:,c:c+2), e)
        end do
      else
        moving = moving + h(:,:,e)
        do i = 1, 3
          motion(:,i) = cross(unit(i), place_of(state, k, t(e) - state%bodies%velo_ptr(k)) - share%centre)
        end do
      end if
      turning = turning + matmul(h(:,:,e), motion)
    end do
    h(:,:,1:count) = share%own*h(:,:,1:count)
    h(:,:,count+1) = share%shift*moving
    h(:,:,count+2) = matmul(turning, share%turn)
    t(count+1:count+2) = [first, first + 1]
    count = count + 2
  end subroutine add_rigid_triples

  !> Row e of the rate of a gradient, whose rows are the columns given, of a body with angular velocity w.
  pure function row_turned(w, rows, e) result(rate)
    real(dp), intent(in) :: w(3), rows(3,3)
    integer, intent(in) :: e
    real(dp) :: rate(3), across(3)

    across = cross(unit(e), w)     ! e.(w x f) = (e x w).f
    rate = matmul(rows, across)
  end function row_turned

  pure function unit(i)
    integer, intent(in) :: i
    real(dp) :: unit(3)
    unit = 0.0_dp
    unit(i) = 1.0_dp
  end function unit
end module rigid_shares
