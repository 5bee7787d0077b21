!> Contacts with springs and dashpots (docs/materials.md, SPRING_DASHPOT; docs/language-objects.md, PENALTY_SOLVER; docs/theory.md, Penalty law).
module dashpot_rows
  use kinds, only: dp, i4
  use kind_numbers, only: row_contact, row_open
  use contact_iterations, only: status_solved, status_failed
  use contact_rows, only: take_material, limits_reached, at_limit
  use diagonal_block, only: block_size, prepare_block
  use row_block, only: law_size, row_options, l_gap, l_spring, l_dashpot, l_power, l_friction, l_restitution, l_cohesion, l_shift
  use row_family_base, only: row_family, prepared_row, measure_nothing
  implicit none
  private
  public :: dashpot_family, penalty_block

  integer, parameter :: bound = 60   !< of iterations for a force in quasi-statics, which seldom exceed ten

  !> R_N = f(gap) - d U_N, not negative without cohesion; Coulomb friction.
  type, extends(row_family) :: dashpot_family
  contains
    procedure :: prepare => prepare_dashpot
    procedure, nopass :: solve => solve_dashpot, measure => measure_nothing, taken_by_newton => as_rigid, ends => dashpot_ends
  end type dashpot_family

contains

  pure subroutine prepare_dashpot(self, row)
    class(dashpot_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row

    call take_material(row)   ! but no block: springs and dashpots need W alone, and there are many of them
    if (row%dynamic /= 0 .and. row%law(l_gap) > 0.0_dp .and. .not. row%law(l_cohesion) > 0.0_dp) then
      row%kind = row_open
      call prepare_block(row%w, row%law(l_friction), row%law(l_cohesion), row%block)
    end if
  end subroutine prepare_dashpot

  integer(i4) function solve_dashpot(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    real(dp) :: found(3)
    logical :: regular, lost

    status = status_solved
    found = r
    call penalty_block(.true., w, law, law(l_cohesion) > 0.0_dp, options%step, options%half_step, b, normal_v, found, lost, regular)
    if (regular .and. all(abs(found) <= huge(1.0_dp))) then
      r = found
    else
      status = status_failed
    end if
  end function solve_dashpot

  !> Turns a contact into a Signorini-Coulomb one for the Newton solver.
  pure subroutine as_rigid(normal_v, half_step, step, w, kind, law, block)
    real(dp), intent(in) :: normal_v, half_step, step, w(3,3)
    integer(i4), intent(inout) :: kind
    real(dp), intent(inout) :: law(law_size), block(block_size)

    kind = row_contact
    call prepare_block(w, law(l_friction), law(l_cohesion), block)
    if (half_step < step) then
      law(l_shift) = law(l_restitution)*min(normal_v, 0.0_dp)
    else
      law(l_shift) = max(law(l_gap), 0.0_dp)/step
    end if
  end subroutine as_rigid

  !> Whether cohesion ends: the tension reaches it, or the contact slides.
  pure logical function dashpot_ends(law, r)
    real(dp), intent(in) :: law(law_size), r(3)
    dashpot_ends = limits_reached(law, r, abs(r(3)), r(3) < at_limit*law(l_cohesion) - law(l_cohesion))
  end function dashpot_ends

  !> Solves a spring-dashpot contact with its diagonal block only (docs/language-objects.md, PENALTY_SOLVER; docs/theory.md, Penalty law).
  pure subroutine penalty_block(implicit_law, w, law, cohesive, step, half_step, b, normal_v, r, lost, regular)
    logical, intent(in) :: implicit_law      !< from the mean gap and velocity of the step (`settled_force`)
    real(dp), intent(in) :: w(3,3)
    real(dp), intent(in) :: law(law_size)
    logical, intent(in) :: cohesive
    real(dp), intent(in) :: step, half_step  !< h; h/2 (dynamics) or h (quasi-statics) [time]
    real(dp), intent(in) :: b(3)             !< velocity without the contact's own reaction
    real(dp), intent(in) :: normal_v         !< V_N
    real(dp), intent(inout) :: r(3)          !< R of the last step or visit; the new one
    logical, intent(out) :: lost             !< cohesion is lost for good
    logical, intent(out) :: regular          !< false: W_TT is singular, and R_T is not changed
    real(dp) :: bn, depth, reach, stiffness, dashpot, force, det, limit, length, t(2)

    lost = .false.
    regular = .true.
    bn = b(3) + w(3,1)*r(1) + w(3,2)*r(2)
    reach = merge(0.25_dp, 1.0_dp, half_step < step)*step
    depth = max(-law(l_gap), 0.0_dp)
    if (implicit_law) depth = max(-(law(l_gap) + reach*(bn - normal_v)), 0.0_dp)
    force = 0.0_dp
    stiffness = 0.0_dp
    if (depth > 0.0_dp) then
      force = law(l_spring)*depth
      if (law(l_power) /= 1.0_dp) force = law(l_spring)*depth**law(l_power)
      stiffness = law(l_power)*force/depth
    else if (law(l_power) == 1.0_dp) then
      stiffness = law(l_spring)
    end if
    dashpot = law(l_dashpot)
    if (dashpot < 0.0_dp) dashpot = 2.0_dp*sqrt(step*stiffness/w(3,3))
    if (implicit_law .and. half_step >= step) then
      r(3) = settled_force(law, w(3,3), step, dashpot, bn, cohesive)
    else if (implicit_law) then
      r(3) = (force - 0.5_dp*dashpot*(bn + normal_v))/(1.0_dp + (reach*stiffness + 0.5_dp*dashpot)*w(3,3))
    else
      r(3) = force - dashpot*normal_v
    end if
    if (.not. cohesive .and. r(3) < 0.0_dp) then
      r = 0.0_dp
      return
    end if
    det = w(1,1)*w(2,2) - w(1,2)*w(2,1)
    if (det > 0.0_dp) then
      t = b(1:2) + w(1:2,3)*r(3)
      r(1) = -(w(2,2)*t(1) - w(1,2)*t(2))/det
      r(2) = -(w(1,1)*t(2) - w(2,1)*t(1))/det
    else
      regular = .false.
    end if
    if (cohesive .and. r(3) < -law(l_cohesion)) then
      lost = .true.
      r(3) = -law(l_cohesion)
    end if
    limit = law(l_friction)*abs(r(3))
    length = sqrt(r(1)**2 + r(2)**2)
    if (length > limit) then
      r(1:2) = r(1:2)*(limit/length)
      if (cohesive .and. law(l_friction) > 0.0_dp) lost = .true.  ! frictionless contacts only open
    end if
  end subroutine penalty_block

  !> R_N of a step of quasi-statics: spring and dashpot at the depth x at the end of the step, which may be far from that
  !> without them.
  !>
  !>     R_N = k x^m + d (x - s)/h,   x = f - h W_NN R_N,
  !>
  !> with the depths s at the start, not negative without cohesion, so that a dashpot acts in contact only, and f without the
  !> contact's own reaction.  For m >= 1 Newton's iteration falls to the solution from the depth without the spring.
  pure real(dp) function settled_force(law, w, step, dashpot, bn, cohesive) result(force)
    real(dp), intent(in) :: law(law_size)
    real(dp), intent(in) :: w, step, dashpot, bn
    logical, intent(in) :: cohesive
    real(dp) :: start, x, growth, load, change
    integer :: iteration

    start = -law(l_gap)
    if (.not. cohesive) start = max(start, 0.0_dp)
    growth = 1.0_dp/(step*w) + dashpot/step
    load = -(law(l_gap) + step*bn)/(step*w) + dashpot/step*start
    x = load/growth
    force = 0.0_dp
    if (x > 0.0_dp) then
      do iteration = 1, bound
        force = law(l_spring)*x**law(l_power)
        change = (growth*x + force - load)/(growth + law(l_power)*force/x)
        x = max(x - change, 0.1_dp*x)
        if (.not. abs(change) > 4.0_dp*epsilon(x)*x) exit
      end do
      force = law(l_spring)*x**law(l_power)
    end if
    force = force + dashpot/step*(x - start)
  end function settled_force
end module dashpot_rows
