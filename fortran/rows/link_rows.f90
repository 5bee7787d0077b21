!> Rigid links: two points keep their distance (docs/language-objects.md, PUT_RIGID_LINK).
module link_rows
  use kinds, only: dp, i4
  use kind_numbers, only: row_fixdir, start_impact => joint_start_impact, start_struck => joint_start_struck, &
    start_halved => joint_start_halved, by_velocity => looped_link_velocity
  use diagonal_block, only: block_size
  use joint_rows, only: hold_direction
  use matrix3, only: multiply_transposed
  use row_block, only: law_size, l_length, row_options
  use row_family_base, only: row_family, prepared_row, row_error, carry, normal_line, joint_length
  use row_norms, only: inverse_nn
  implicit none
  private
  public :: link_family

  integer, parameter :: l_link = 1       !< law data: link vector (master minus slave) in the local base (3); `l_length`: its reference length

  !> |y + k U| = d.
  type, extends(row_family) :: link_family
  contains
    procedure :: prepare => prepare_link, load => load_of_link
    procedure, nopass :: solve => solve_link, measure => measure_link, linearise => linearise_link, length => joint_length
  end type link_family

contains

  !> Makes link vector and length.  The vector takes in how far the rotation of rigid bodies bends the ways of the points off their
  !> velocities in the second half of the step; without it a link would be too short by h^2 w^2 r/8 after it.  The first step of a link whose points move relative to each other stops them: the link is a fixed
  !> direction then.  After an impact of bodies, `value` holds the link's excess length at the start of the step, and the remaining velocity (joint_rows).
  !> So is a link that holds, with joints, a motion twice: its length would contradict velocities that these prescribe, by terms of second order in h.
  pure subroutine prepare_link(self, row)
    class(link_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row
    real(dp) :: vector(3)

    associate (con => row%constraints, i => row%constraint)
      if (con%start(i) == start_impact .or. con%damped(i) == by_velocity) then
        row%kind = row_fixdir
        call hold_direction(row)
        return
      end if
      vector = con%point(:,i) - con%other_point(:,i)
      if (row%dynamic /= 0) vector = vector + 0.125_dp*row%step**2*con%bend(:,i)
      row%law(l_link:l_link+2) = multiply_transposed(con%base(:,:,i), vector)
      row%law(l_length) = con%length(i)
      if (con%start(i) == start_struck) row%law(l_length) = con%length(i) + con%value(1,i) + 0.25_dp*row%step*con%value(3,i)
      if (con%start(i) == start_halved) row%law(l_length) = con%length(i) + con%value(1,i) + 0.5_dp*row%step*con%value(3,i)
    end associate
  end subroutine prepare_link

  integer(i4) function solve_link(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options

    status = carry(link_reaction(w(:,3), law(l_link:l_link+2), law(l_length), options%half_step, b), r)
  end function solve_link

  !> R_N of a rigid link with the length d at the end of the step, |y + k (b + W_N R_N)| = d; of two solutions the
  !> smaller force.  If there is none (the points are too fast for the link), R_N makes the normal velocity zero.
  pure function link_reaction(wn, y, d, k, b) result(rn)
    real(dp), intent(in) :: wn(3)    !< column W(:,N)
    real(dp), intent(in) :: y(3)     !< link vector (master minus slave) in the local base
    real(dp), intent(in) :: d        !< reference length
    real(dp), intent(in) :: k        !< h/2 or h
    real(dp), intent(in) :: b(3)     !< velocity without the link's own reaction
    real(dp) :: rn, p(3), a, half_b, c, root

    p = y + k*b
    a = k*k*dot_product(wn, wn)
    half_b = k*dot_product(p, wn)
    c = (norm2(p) - d)*(norm2(p) + d)
    root = half_b*half_b - a*c
    if (root >= 0.0_dp .and. abs(half_b) + root > 0.0_dp) then
      rn = -c/(half_b + sign(sqrt(root), half_b))
    else
      rn = -b(3)/wn(3)
    end if
  end function link_reaction

  !> Measures a link; unless `exact`, the merit uses the elongation at mid step and the normal velocity alone, as Solfec-1.0 does.
  pure type(row_error) function measure_link(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp) :: error

    error = (norm2(law(l_link:l_link+2) + half_step*u) - law(l_length))/half_step   ! of the length at the end, as a velocity
    measure_link%residual = abs(error)
    if (.not. exact) error = (norm2(law(l_link:l_link+2)) - law(l_length))/half_step + u(3)
    measure_link%member = inverse_nn(w)*error**2
  end function measure_link

  pure subroutine linearise_link(w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    real(dp), intent(in) :: w(3,3), block(block_size), law(law_size), u(3), r(3), unit, half_step, omega
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)
    real(dp) :: target

    target = linked_velocity(law(l_link:l_link+2), law(l_length), half_step, u)
    call normal_line(1.0_dp, 0.0_dp, target - u(3), r, x, y, rhs)
  end subroutine linearise_link

  !> Normal velocity that gives a link its length at the end of the step, |y + k U| = d with the given U_T; zero if the
  !> tangential motion alone makes it longer.
  pure function linked_velocity(y, d, k, u) result(normal)
    real(dp), intent(in) :: y(3), d, k, u(3)
    real(dp) :: normal, root

    root = d**2 - (y(1) + k*u(1))**2 - (y(2) + k*u(2))**2
    normal = 0.0_dp
    if (root >= 0.0_dp) normal = (sqrt(root) - y(3))/k
  end function linked_velocity

  !> Tension of a link, which its strength limits.
  pure real(dp) function load_of_link(self, reaction)
    class(link_family), intent(in) :: self
    real(dp), intent(in) :: reaction(3)
    load_of_link = -reaction(3)
  end function load_of_link
end module link_rows
