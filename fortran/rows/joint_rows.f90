!> Rows that prescribe velocities: fixed points and directions, prescribed motions (docs/language-objects.md, Constraints).
module joint_rows
  use kinds, only: dp, i4
  use kind_numbers, only: start_impact => joint_start_impact, start_struck => joint_start_struck, &
    start_halved => joint_start_halved, start_met => joint_start_met
  use contact_iterations, only: solve3, status_solved, status_failed
  use diagonal_block, only: block_size
  use row_block, only: law_size, l_length, l_at_rest, row_options
  use row_family_base, only: row_family, prepared_row, row_error, identity, carry, normal_line, joint_length
  use state_tables, only: constraint_table
  use matrix3, only: multiply_transposed
  use row_norms, only: weighted, inverse_nn
  implicit none
  private
  public :: point_family, direction_family, joint_target, hold_direction, prescribed_target, added_target, &
            change_added_target, is_damped

  real(dp), parameter :: damping = 0.125_dp         !< halves what U = -V reverses, in every step
  integer, parameter :: l_target = 1                !< law data: prescribed velocity (3); `l_length`: way_to_target if the user gives it

  !> U = target.
  type, extends(row_family) :: point_family
    logical :: prescribed = .false.                 !< the user gives the velocity; else the point is fixed
  contains
    procedure :: prepare => prepare_point, load => load_of_point, free_energy => energy_of_point
    procedure, nopass :: solve => solve_point, measure => measure_point, linearise => linearise_point, length => joint_length, &
                         free_square => square_of_target
  end type point_family

  !> U_N = target, R_T = 0.
  type, extends(row_family) :: direction_family
    logical :: prescribed = .false.
  contains
    procedure :: prepare => prepare_direction, free_energy => energy_of_direction
    procedure, nopass :: solve => solve_direction, measure => measure_direction, linearise => linearise_direction, &
                         length => joint_length, free_square => square_of_target
  end type direction_family

contains

  !> Velocity prescribed by a joint, U = -V in dynamics.
  !>
  !> The first step of a joint whose points move (JointStart IMPACT) stops them, U = 0, as far as others in its loops let it (joint_terms).  A relative velocity e = `value` that an impact of
  !> bodies has left is removed in two steps: U = -V + e/2 makes it -e/2 (STRUCK), U = -V + e makes that zero (HALVED).  The two steps
  !> together do not displace the points.
  !>
  !> U = -V keeps an error e of velocity for ever, with the other sign in every step, and where bodies of unlike inertia turn in space it
  !> grows.  Rows of mechanisms damp it: d_k = V_k + U_k-1 (column `reversing`) is 2 e and a smooth term, so d_k - d_k-1 is 4 e except for
  !> terms of third order in h, and U = -V + (d_k - d_k-1)/8 halves e.  These terms add up to nothing: points do not drift.
  !> Constraints of Solfec-1.0 keep its law, but for supports of rigid bodies (solfec/constraints/supports.py).
  pure function joint_target(row) result(target)
    type(prepared_row), intent(in) :: row
    real(dp) :: target(3)

    target = 0.0_dp
    if (row%dynamic /= 0) target = -row%v + added_target(row%constraints, row%constraint, row%v)
  end function joint_target

  !> Term that constraint i adds to U = -V.
  pure function added_target(con, i, v) result(term)
    type(constraint_table), intent(in) :: con
    integer(i4), intent(in) :: i
    real(dp), intent(in) :: v(3)
    real(dp) :: term(3)

    select case (con%start(i))
    case (start_impact)
      term = v + con%value(:,i)
    case (start_met)
      term = 0.0_dp
      if (is_damped(con, i)) term = damping*(v + con%U(:,i) - con%reversing(:,i))
    case (start_struck)
      term = 0.5_dp*con%value(:,i)
    case (start_halved)
      term = con%value(:,i)
    case default
      term = 0.0_dp
    end select
  end function added_target

  !> Whether constraint i damps errors of velocity.
  pure logical function is_damped(con, i)
    type(constraint_table), intent(in) :: con
    integer(i4), intent(in) :: i

    is_damped = con%joint(i) /= 0 .or. con%damped(i) > 0
  end function is_damped

  !> Adds to a component of the term of constraint i besides U = -V.
  subroutine change_added_target(con, i, c, change)
    type(constraint_table), intent(in) :: con   !< its columns are written
    integer(i4), intent(in) :: i, c
    real(dp), intent(in) :: change

    select case (con%start(i))
    case (start_met)
      if (is_damped(con, i)) con%reversing(c,i) = con%reversing(c,i) - change/damping
    case (start_impact)
      con%value(c,i) = con%value(c,i) + change
    case (start_struck)
      con%value(c,i) = con%value(c,i) + 2.0_dp*change
    case (start_halved)
      con%value(c,i) = con%value(c,i) + change
    end select
  end subroutine change_added_target

  !> Velocity along the directions of mid-step that makes a point's velocity that of the user at the end of the step, until which the rotation of its body bends it.
  pure function prescribed_target(row, value) result(target)
    type(prepared_row), intent(in) :: row
    real(dp), intent(in) :: value(3)
    real(dp) :: target(3)

    target = value
    if (row%dynamic /= 0) target = value - 0.5_dp*row%step* &
      multiply_transposed(row%constraints%base(:,:,row%constraint), row%constraints%bend(:,row%constraint))
  end function prescribed_target

  pure subroutine prepare_point(self, row)
    class(point_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row

    if (self%prescribed) then
      row%law(l_target:l_target+2) = prescribed_target(row, row%constraints%value(:,row%constraint))
      row%law(l_length) = way_to_target(row)
    else
      row%law(l_target:l_target+2) = joint_target(row)
    end if
    row%law(l_at_rest) = merge(0.0_dp, 1.0_dp, row%dynamic /= 0)
    row%free = row%b - row%law(l_target:l_target+2)
  end subroutine prepare_point

  !> Way of half a step (a step in quasi-statics) at the prescribed velocity.  If a body is driven from rest, B is zero, and this velocity
  !> alone tells how large round-off may be.
  pure real(dp) function way_to_target(row)
    type(prepared_row), intent(in) :: row
    way_to_target = merge(0.5_dp, 1.0_dp, row%dynamic /= 0)*row%step*norm2(row%law(l_target:l_target+2))
  end function way_to_target

  integer(i4) function solve_point(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    real(dp) :: matrix(3,3), found(3)
    logical :: regular

    matrix = w
    found = -b
    call solve3(matrix, found, regular)
    status = merge(status_solved, status_failed, regular)
    if (regular) r = found
  end function solve_point

  pure type(row_error) function measure_point(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp) :: unmet(3)

    unmet = u - law(l_target:l_target+2)
    measure_point = row_error(member=weighted(w, unmet), residual=norm2(unmet))
  end function measure_point

  pure subroutine linearise_point(w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    real(dp), intent(in) :: w(3,3), block(block_size), law(law_size), u(3), r(3), unit, half_step, omega
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)
    x = identity
    y = 0.0_dp
    rhs = law(l_target:l_target+2) - u
  end subroutine linearise_point

  pure real(dp) function load_of_point(self, reaction)
    class(point_family), intent(in) :: self
    real(dp), intent(in) :: reaction(3)
    load_of_point = merge(0.0_dp, norm2(reaction), self%prescribed)
  end function load_of_point

  pure subroutine prepare_direction(self, row)
    class(direction_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row

    real(dp) :: target(3)

    if (self%prescribed) then
      target = prescribed_target(row, [0.0_dp, 0.0_dp, row%constraints%value(1,row%constraint)])
      row%law(l_target+2) = target(3)
      row%law(l_length) = way_to_target(row)
      row%free = row%b - row%law(l_target:l_target+2)
    else
      call hold_direction(row)
    end if
    row%law(l_at_rest) = merge(0.0_dp, 1.0_dp, row%dynamic /= 0)
  end subroutine prepare_direction

  !> Prescribes the normal velocity of a joint.
  pure subroutine hold_direction(row)
    type(prepared_row), intent(inout) :: row

    row%law(l_target:l_target+2) = joint_target(row)
    row%law(l_target:l_target+1) = 0.0_dp     ! only the normal velocity is prescribed
    row%free = row%b - row%law(l_target:l_target+2)
  end subroutine hold_direction

  integer(i4) function solve_direction(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options

    status = carry(-b(3)/w(3,3), r)
  end function solve_direction

  pure type(row_error) function measure_direction(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp) :: error

    error = u(3) - law(l_target+2)
    measure_direction = row_error(member=inverse_nn(w)*error**2, residual=abs(error))
  end function measure_direction

  pure subroutine linearise_direction(w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    real(dp), intent(in) :: w(3,3), block(block_size), law(law_size), u(3), r(3), unit, half_step, omega
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)
    call normal_line(1.0_dp, 0.0_dp, law(l_target+2) - u(3), r, x, y, rhs)
  end subroutine linearise_direction

  !> Twice the energy that reactions change (row_family_base).  In quasi-statics it is that of what B lacks of the prescribed motion: springs that hold supports
  !> (support_stiffness) make this motion in B already, and are so stiff that its own energy, also along directions that other rows prescribe, would exceed
  !> that of all else.
  pure real(dp) function energy_of_point(self, law, w, b)
    class(point_family), intent(in) :: self
    real(dp), intent(in) :: law(law_size), w(3,3), b(3)
    energy_of_point = weighted(w, b - law(l_at_rest)*law(l_target:l_target+2))
  end function energy_of_point

  !> Twice the energy that reactions change along a direction (energy_of_point).  In dynamics that of a prescribed velocity is added to that of B, as in
  !> Solfec-1.0.
  pure real(dp) function energy_of_direction(self, law, w, b)
    class(direction_family), intent(in) :: self
    real(dp), intent(in) :: law(law_size), w(3,3), b(3)
    if (law(l_at_rest) > 0.0_dp) then
      energy_of_direction = inverse_nn(w)*(b(3) - law(l_target+2))**2
    else
      energy_of_direction = weighted(w, b)
      if (self%prescribed) energy_of_direction = energy_of_direction + inverse_nn(w)*law(l_target+2)**2
    end if
  end function energy_of_direction

  !> Square of B, or in quasi-statics, if it is larger, of what B lacks of a prescribed motion: where nothing else moves bodies, B is round-off.
  pure real(dp) function square_of_target(law, b)
    real(dp), intent(in) :: law(law_size), b(3)
    square_of_target = max(sum(b**2), sum((b - law(l_at_rest)*law(l_target:l_target+2))**2))
  end function square_of_target
end module joint_rows
