!> Motor, Coulomb friction, spring, damper and limits along one coordinate of a joint (docs/mechanisms.md).
!>
!> With q the coordinate and U its rate at the end of the step, both as lengths of the row (angles times the row's arm),
!>
!>   -R in c + k U + f sgn(U) + m sgn(U - u) + N(U),
!>
!> with c and k of spring and damper, which take the mean coordinate and rate of the step; the friction f; the largest effort m of the motor and
!> its rate u; sgn(0) = [-1, 1]; and the normal cone N of the rates lower <= U <= upper that limits allow.  The right-hand side grows with U, so
!> U = b + W_NN R has one solution, which needs no iteration.  Where the rotation of bodies bends the ways of points (column `bend`), U is taken along
!> the directions of mid-step, and the rate at the end of the step is U + h/2 a_N: rates that friction, motors and limits hold are those.
module drive_rows
  use kinds, only: dp, i4
  use kind_numbers, only: frame_between_points, motor_rate, motor_coordinate, motor_effort, motor_called
  use diagonal_block, only: block_size
  use row_block, only: law_size, l_length, row_options
  use row_family_base, only: row_family, prepared_row, row_error, carry, normal_line, joint_length
  use row_norms, only: weighted, inverse_nn
  use matrix3, only: multiply_transposed
  use state_tables, only: constraint_table
  implicit none
  private
  public :: drive_family, motor_target, motor_prescribes

  !> Law data, in the units of the row; `l_length`: size of prescribed coordinates.
  integer, parameter :: l_constant = 1, l_slope = 2, l_friction = 3, l_effort = 5, l_target = 6, l_lower = 7, l_upper = 8
  integer, parameter :: b_rest = 1   !< block data: velocity of rest, which friction holds
  real(dp), parameter :: endless = 0.5_dp*huge(1.0_dp)   !< efforts and rates from here on count as infinite

  type, extends(row_family) :: drive_family
  contains
    procedure :: prepare => prepare_drive, free_energy => energy_of_drive, load => load_of_drive
    procedure, nopass :: solve => solve_drive, measure => measure_drive, linearise => linearise_drive, length => joint_length
  end type drive_family

contains

  !> Makes the law data of this step.  `gap` is the coordinate at mid-step (quasi-statics: at the start), so the mean coordinate is
  !> gap + h/4 (U - V) (gap + h U).
  pure subroutine prepare_drive(self, row)
    class(drive_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row
    real(dp) :: arm, rate, effort, friction, stiffness, damping, rest, restitution, reach, mean, start, span, bend(3), touch

    associate (con => row%constraints, i => row%constraint)
      arm = 1.0_dp
      if (self%angular) arm = con%length(i)
      rate = row%v(3)/arm
      effort = con%drive(1,i)
      friction = con%drive(2,i)
      stiffness = con%drive(3,i)
      damping = con%drive(4,i)
      rest = con%drive(5,i)
      restitution = con%drive(6,i)
      reach = merge(0.25_dp, 1.0_dp, row%dynamic /= 0)*row%step
      mean = merge(0.5_dp, 1.0_dp, row%dynamic /= 0)
      if (row%dynamic == 0) rate = 0.0_dp
      row%law(l_constant) = (stiffness*(con%gap(i) - rest - reach*rate) + (1.0_dp - mean)*damping*rate)/arm
      row%law(l_slope) = (reach*stiffness + mean*damping)/arm**2
      row%law(l_friction) = friction/arm
      row%block(b_rest) = -bend_along(row)
      select case (mod(con%motor(i), motor_called))
      case (motor_rate, motor_coordinate)
        row%law(l_effort) = effort/arm
        row%law(l_target) = motor_target(row)*arm
      case (motor_effort)
        row%law(l_constant) = row%law(l_constant) - sign(min(abs(con%value(1,i)), effort), con%value(1,i))/arm
      end select
      row%law(l_lower) = -huge(1.0_dp)
      row%law(l_upper) = huge(1.0_dp)
      if (row%dynamic /= 0 .and. con%held(i) == 0) then
        call start_of_step(self, row, rate, start, span, bend)
        touch = row%epsilon/arm
        if (con%gap(i) <= con%limits(1,i) + touch) &
          row%law(l_lower) = arm*velocity_for(rate_at_limit(start, restitution, span), 0.5_dp*row%step, span, row%v(1:2), bend)
        if (con%gap(i) >= con%limits(2,i) - touch) &
          row%law(l_upper) = arm*velocity_for(-rate_at_limit(-start, restitution, span), 0.5_dp*row%step, span, row%v(1:2), bend)
      end if
      row%law(l_length) = merge(0.5_dp, 1.0_dp, row%dynamic /= 0)*row%step*size_of(row%law, row%w(3,3))
      if (row%dynamic == 0 .and. con%held(i) == 0) then   ! a step goes any way, but not past a limit; one that is far counts for no round-off
        if (con%limits(1,i) > -endless) row%law(l_lower) = arm*(con%limits(1,i) - con%gap(i))/row%step
        if (con%limits(2,i) < endless) row%law(l_upper) = arm*(con%limits(2,i) - con%gap(i))/row%step
      end if
    end associate
  end subroutine prepare_drive

  !> Whether a motor moves its bodies at the rate that it prescribes whatever acts on them: its effort is infinite, and no limit stops it.
  pure logical function motor_prescribes(con, i)
    type(constraint_table), intent(in) :: con
    integer(i4), intent(in) :: i

    motor_prescribes = any(mod(con%motor(i), motor_called) == [motor_rate, motor_coordinate]) .and. con%drive(1,i) >= endless &
      .and. con%limits(1,i) <= -endless .and. con%limits(2,i) >= endless
  end function motor_prescribes

  !> Rate that a motor prescribes.  One that follows a prescribed coordinate, q(t+h) = value(1) with the rate value(2), lets an error at the
  !> end of a step vanish within the next two.  The coordinate at the start of the step is gap - h/2 V.
  pure function motor_target(row) result(target)
    type(prepared_row), intent(in) :: row
    real(dp) :: target

    associate (con => row%constraints, i => row%constraint)
      if (mod(con%motor(i), motor_called) == motor_rate) then
        target = con%value(1,i) - bend_along(row)
      else if (row%dynamic /= 0) then
        target = (con%value(1,i) - con%gap(i))/row%step + 0.5_dp*con%value(2,i)
      else
        target = (con%value(1,i) - con%gap(i))/row%step
      end if
    end associate
  end function motor_target

  !> Velocity that the rotation of bodies adds along the row within half a step.
  pure real(dp) function bend_along(row)
    type(prepared_row), intent(in) :: row

    bend_along = 0.0_dp
    if (row%dynamic /= 0) &
      bend_along = 0.5_dp*row%step*dot_product(row%constraints%base(:,3,row%constraint), row%constraints%bend(:,row%constraint))
  end function bend_along

  !> Computes the rate of the coordinate at the start of the step; of a span also its length at mid-step (0: no span).  With x the span at
  !> mid-step and the acceleration a by which bodies that turn bend the ways of its points, it is y = x - h/2 V + h^2/8 a at the start and
  !> has the rate (V - h/2 a).y/|y|; `bend` is h/2 a.
  pure subroutine start_of_step(self, row, rate, start, span, bend)
    class(drive_family), intent(in) :: self
    type(prepared_row), intent(in) :: row
    real(dp), intent(in) :: rate
    real(dp), intent(out) :: start, span, bend(3)
    real(dp) :: before(3)

    associate (con => row%constraints, i => row%constraint, v => row%v)
      bend = [0.0_dp, 0.0_dp, bend_along(row)]
      start = rate - bend(3)
      span = 0.0_dp
      if (self%frame /= frame_between_points .or. row%dynamic == 0 .or. .not. con%gap(i) > 0.0_dp) return
      span = con%gap(i)
      bend = 0.5_dp*row%step*multiply_transposed(con%base(:,:,i), con%bend(:,i))
      before = -0.5_dp*row%step*(v - 0.5_dp*bend)
      before(3) = span + before(3)
      start = dot_product(v - bend, before)/max(norm2(before), tiny(1.0_dp))
    end associate
  end subroutine start_of_step

  !> Least rate that a limit allows at the end of a step from one with the rate `start`, both away from the limit.
  !>
  !> A coordinate that comes is thrown back.  One that goes already, though it has not left the limit yet, may come back by as much as it has
  !> gone: vibrations that steps do not resolve change their sign in every step, and a limit that stopped them would do the work of a
  !> whole impact, against a motion that goes its way.  A rope is closed to its length from both sides instead.
  pure real(dp) function rate_at_limit(start, restitution, span) result(rate)
    real(dp), intent(in) :: start, restitution, span

    rate = restitution*max(-start, 0.0_dp)
    if (.not. span > 0.0_dp) rate = rate - max(start, 0.0_dp)
  end function rate_at_limit

  !> Returns the velocity along the row with which the coordinate has a rate after half a step of `time`.
  !>
  !> A span of length q, with the velocity u along it and w across, has the rate (u (q + t u) + t w^2)/|(q + t u, t w)| then, if its points go
  !> straight; rotation adds `bend` to their velocities until then, and half of it to the mean ones.  A limit holds this rate, which conserves
  !> the energy of a body that swings on a rope; and of one that rebounds along it, whose rate is u all the time.
  pure real(dp) function velocity_for(rate, time, span, across, bend) result(u)
    real(dp), intent(in) :: rate, time, span, across(2), bend(3)
    integer, parameter :: newton_steps = 5
    real(dp) :: along, apart(2), end_rate, length
    integer :: k

    u = rate - bend(3)
    if (.not. span > 0.0_dp .or. .not. (any(abs(across) > 0.0_dp) .or. any(abs(bend) > 0.0_dp))) return
    apart = time*(across + 0.5_dp*bend(1:2))
    do k = 1, newton_steps
      along = span + time*(u + 0.5_dp*bend(3))
      length = sqrt(along**2 + dot_product(apart, apart))
      end_rate = (u + bend(3))*along + dot_product(across + bend(1:2), apart)
      u = u - (end_rate - rate*length)/max(along + time*(u + bend(3)) - rate*time*along/length, 0.1_dp*span)
      u = max(u, min(rate, 0.0_dp) - 0.5_dp*span/time)   ! there is none for a body that turns by more than a radian in the step
    end do
  end function velocity_for

  !> Size of the velocities that the law prescribes.
  pure function size_of(law, w) result(velocity)
    real(dp), intent(in) :: law(law_size), w
    real(dp) :: velocity

    velocity = w*(abs(law(l_constant)) + law(l_friction))
    if (law(l_effort) > 0.0_dp) velocity = velocity + abs(law(l_target))
    if (law(l_lower) > -endless) velocity = velocity + abs(law(l_lower))
    if (law(l_upper) < endless) velocity = velocity + abs(law(l_upper))
  end function size_of

  integer(i4) function solve_drive(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    real(dp) :: normal, u
    logical :: held

    call solution(w(3,3), law, block(b_rest), b(3), u, normal, held)
    status = carry(normal, r)
  end function solve_drive

  !> Solves U = b + w R; `held`: U is a rate at which the law is set-valued; else R = -(c' + k U) there.
  pure subroutine solution(w, law, rest, b, u, r, held)
    real(dp), intent(in) :: w, law(law_size), rest, b
    real(dp), intent(out) :: u, r
    logical, intent(out) :: held
    real(dp) :: rate(2), jump(2), force, before, after, asked
    integer :: k

    held = .true.
    if (law(l_effort) >= endless) then
      u = law(l_target)
    else
      ! the velocities at which the law jumps, in order: that of rest, and that of the motor
      rate = [rest, law(l_target)]
      jump = [law(l_friction), law(l_effort)]
      if (rate(2) < rate(1)) then
        rate = rate([2, 1])
        jump = jump([2, 1])
      end if
      force = jump(1) + jump(2) - law(l_constant)      ! R at U = 0 of the line below the first place
      held = .false.
      do k = 1, 2
        asked = rate(k)*(1.0_dp/w + law(l_slope))
        before = b/w + force - asked
        after = before - 2.0_dp*jump(k)
        if (before <= 0.0_dp) exit
        if (after <= 0.0_dp) then
          held = jump(k) > 0.0_dp
          exit
        end if
        force = force - 2.0_dp*jump(k)
      end do
      if (held) then
        u = rate(k)
      else
        r = (force - law(l_slope)*b)/(1.0_dp + w*law(l_slope))
        u = b + w*r
      end if
    end if
    if (u < law(l_lower) .or. u > law(l_upper)) then
      u = min(max(u, law(l_lower)), law(l_upper))
      held = .true.
    end if
    if (held) r = (u - b)/w
  end subroutine solution

  pure type(row_error) function measure_drive(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp) :: right, r
    logical :: held

    call solution(w(3,3), law, block(b_rest), u(3) - w(3,3)*reaction(3), right, r, held)
    measure_drive = row_error(member=inverse_nn(w)*(u(3) - right)**2, residual=abs(u(3) - right))
  end function measure_drive

  !> Linearises the law: the rate if U is held, else the line R = -(c' + k U) through the solution.
  pure subroutine linearise_drive(w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    real(dp), intent(in) :: w(3,3), block(block_size), law(law_size), u(3), r(3), unit, half_step, omega
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)
    real(dp) :: right, force
    logical :: held

    call solution(w(3,3), law, block(b_rest), u(3) - w(3,3)*r(3), right, force, held)
    if (held) then
      call normal_line(1.0_dp, 0.0_dp, right - u(3), r, x, y, rhs)
    else
      force = force - law(l_slope)*(u(3) - right)   ! of the line at U
      call normal_line(w(3,3)*law(l_slope), w(3,3), w(3,3)*(force - r(3)), r, x, y, rhs)
    end if
  end subroutine linearise_drive

  !> Twice the energy of B and of the prescribed rate of a motor.
  pure real(dp) function energy_of_drive(self, law, w, b)
    class(drive_family), intent(in) :: self
    real(dp), intent(in) :: law(law_size), w(3,3), b(3)
    energy_of_drive = weighted(w, b) + inverse_nn(w)*law(l_target)**2
  end function energy_of_drive

  pure real(dp) function load_of_drive(self, reaction)
    class(drive_family), intent(in) :: self
    real(dp), intent(in) :: reaction(3)
    load_of_drive = abs(reaction(3))
  end function load_of_drive
end module drive_rows
