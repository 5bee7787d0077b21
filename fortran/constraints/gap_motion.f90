!> Smallest motions of bodies that close gaps of joints, or have prescribed velocities.
!>
!> In the metric of masses, with L L^T = M^-1:
!>
!>     dq = L y,   y = (H L)^T x,   (H L) (H L)^T x = -g.
module gap_motion
  use kinds, only: dp, i4, i8
  use body_state, only: constrained_bodies
  use gap_factors, only: factor_gaps, solve_gaps, factored_gaps, sides
  use matrix3, only: cholesky
  use row_family_base, only: identity
  use row_operator, only: operator_of
  use state_tables, only: joint_gap_table
  use velocity_operator, only: obstacle_kind
  implicit none
  private
  public :: add_components, list_gap, motion_of_gaps, factor_motion, motion_by_factors

contains

  !> Lists the components of constraint i that hold, with gaps, and H L of both sides; joints of mechanisms do not move obstacles.
  subroutine list_gap(state, i, holds, gap, found, count)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    integer(i4), intent(in) :: holds(3)          !< 1: components that hold
    real(dp), intent(in) :: gap(3)
    type(joint_gap_table), intent(in) :: found   !< its columns are written
    integer(i4), intent(inout) :: count          !< rows of `found`
    real(dp) :: h(3,3,sides)
    integer(i4) :: triples, t(sides)

    triples = 0
    call add_side(state%con%master(i), 1, state%con%master_point(:,i), 1.0_dp)
    if (state%con%slave(i) >= 0) call add_side(state%con%slave(i), 2, state%con%slave_point(:,i), -1.0_dp)
    call add_components(state%con%id(i), holds, gap, triples, h, t, found, count)

  contains

    !> Adds the operators on body k.
    subroutine add_side(k, side, point, sign)
      integer(i4), intent(in) :: k
      integer, intent(in) :: side
      real(dp), intent(in) :: point(3), sign
      real(dp) :: factor(3,3)
      integer(i4) :: more, e

      if (state%con%joint(i) > 0 .and. state%bodies%kind(k) == obstacle_kind) return
      call operator_of(state, k, side, i, point, more, h(:,:,triples+1:triples+8), t(triples+1:triples+8))
      do e = triples + 1, triples + more
        call cholesky(1.0_dp, state%triples%inverse_inertia(:,:,t(e)), factor)
        h(:,:,e) = sign*matmul(h(:,:,e), factor)
      end do
      triples = triples + more
    end subroutine add_side
  end subroutine list_gap

  !> Adds rows of the components of a constraint that hold.
  subroutine add_components(constraint, holds, gap, triples, h, t, found, count)
    integer(i8), intent(in) :: constraint        !< identifier
    integer(i4), intent(in) :: holds(3)          !< 1: components that hold
    real(dp), intent(in) :: gap(3)
    integer(i4), intent(in) :: triples           !< on which it acts
    real(dp), intent(in) :: h(3,3,sides)         !< operators on them
    integer(i4), intent(in) :: t(sides)          !< their numbers
    type(joint_gap_table), intent(in) :: found   !< its columns are written
    integer(i4), intent(inout) :: count          !< rows of `found`
    integer(i4) :: c, e

    do c = 1, 3
      if (holds(c) == 0) cycle
      found%constraint(count) = constraint
      found%component(count) = c
      found%gap(count) = gap(c)
      found%limit(count) = 0
      found%triple(1:triples,count) = t(1:triples)
      found%triple(triples+1:sides,count) = -1
      do e = 1, triples
        found%operator(:,e,count) = h(c,:,e)
      end do
      count = count + 1
    end do
  end subroutine add_components

  !> Computes y; not `regular` if there are no factors.
  subroutine motion_of_gaps(gaps, n, triples, redundant, motion, regular)
    type(joint_gap_table), intent(in) :: gaps   !< `force` is written: x
    integer(i4), intent(in) :: n, triples
    real(dp), intent(in) :: redundant           !< added to the diagonal, relative to it
    real(dp), intent(out) :: motion(3,0:triples-1)
    logical, intent(out) :: regular
    type(factored_gaps) :: factors

    motion = 0.0_dp
    call factor_motion(gaps, n, triples, redundant, factors, regular)
    if (regular) call motion_by_factors(gaps, n, triples, factors, motion, regular)
  end subroutine motion_of_gaps

  !> Computes factors from which y follows for any gaps; not `regular` if there are none.
  subroutine factor_motion(gaps, n, triples, redundant, factors, regular)
    type(joint_gap_table), intent(in) :: gaps
    integer(i4), intent(in) :: n, triples
    real(dp), intent(in) :: redundant           !< added to the diagonal, relative to it
    type(factored_gaps), intent(out) :: factors
    logical, intent(out) :: regular
    real(dp), allocatable :: inverse(:,:,:)

    allocate (inverse(3,3,0:triples-1), source=spread(identity, 3, triples))
    call factor_gaps(gaps, n, triples, inverse, redundant, factors, regular)
  end subroutine factor_motion

  !> Computes y for the present gaps; not `regular` if it does not close them.
  subroutine motion_by_factors(gaps, n, triples, factors, motion, regular)
    type(joint_gap_table), intent(in) :: gaps   !< `force` is written: x
    integer(i4), intent(in) :: n, triples
    type(factored_gaps), intent(inout) :: factors
    real(dp), intent(out) :: motion(3,0:triples-1)
    logical, intent(out) :: regular
    integer(i4) :: e, i, t

    motion = 0.0_dp
    call solve_gaps(gaps, factors, gaps%force(0:n-1), regular)
    if (.not. regular) return
    do i = 0, n - 1
      do e = 1, sides
        t = gaps%triple(e,i)
        if (t < 0) exit
        motion(:,t) = motion(:,t) + gaps%force(i)*gaps%operator(:,e,i)
      end do
    end do
  end subroutine motion_by_factors
end module gap_motion
