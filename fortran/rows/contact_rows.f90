!> Contacts with the laws of Signorini and Coulomb, and open contacts without reactions (docs/language-objects.md, SURFACE_MATERIAL).
module contact_rows
  use kinds, only: dp, i4
  use kind_numbers, only: row_open
  use contact_iterations, only: contact_map, cone_linearisation => linearise, project_on_cone, status_solved
  use diagonal_block, only: block_size, b_friction, b_rho, b_cohesion, prepare_block, solve_contact
  use row_block, only: law_size, row_options, l_gap, l_spring, l_dashpot, l_power, l_friction, l_restitution, l_cohesion, l_shift
  use row_family_base, only: row_family, prepared_row, row_error
  use row_norms, only: weighted
  implicit none
  private
  public :: contact_family, open_family, take_material, limits_reached, at_limit, bounces, is_struck, waits_for_impact

  real(dp), parameter :: at_limit = 1e-8_dp   !< of the cohesive force: nearer to a limit, reactions count as at the limit

  !> An open contact: R = 0, U = B.
  type, extends(row_family) :: open_family
  contains
    procedure :: prepare => prepare_open
    procedure, nopass :: solve => solve_open, measure => measure_open
  end type open_family

  !> 0 <= U_N + s  _|_  R_N + c >= 0, |R_T| <= mu (R_N + c); diagonal_block has the reduced form.
  type, extends(open_family) :: contact_family
  contains
    procedure :: prepare => prepare_contact
    procedure, nopass :: solve => solve_contact_row, measure => measure_contact, linearise => linearise_contact, &
                         projected => contact_on_cone, ends => contact_ends
  end type contact_family

contains

  !> Makes the law of an open contact.
  pure subroutine prepare_open(self, row)
    class(open_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row

    call take_material(row)
    call prepare_block(row%w, row%law(l_friction), row%law(l_cohesion), row%block)
  end subroutine prepare_open

  !> Takes law data of a contact from its material and geometry.
  pure subroutine take_material(row)
    type(prepared_row), intent(inout) :: row

    associate (con => row%constraints, i => row%constraint, mat => row%materials, m => row%material, law => row%law)
      law(l_gap) = con%gap(i)
      law(l_spring) = mat%spring(m)
      law(l_dashpot) = mat%dashpot(m)
      law(l_power) = mat%hpow(m)
      law(l_friction) = mat%friction(m)
      law(l_restitution) = mat%restitution(m)
      law(l_cohesion) = con%cohesion(i)*con%area(i)
    end associate
  end subroutine take_material

  !> Makes the law of a contact and its reduced free velocity.
  !>
  !> Contacts with a gap larger than epsilon are open, with three exceptions: cohesive ones, which hold until their cohesion ends;
  !> gap-aware ones, and those in quasi-statics, which may approach until they touch.
  pure subroutine prepare_contact(self, row)
    class(contact_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row
    logical :: cohesive

    call self%open_family%prepare(row)
    cohesive = row%law(l_cohesion) > 0.0_dp
    if (row%dynamic == 0) then
      row%law(l_shift) = max(row%law(l_gap), 0.0_dp)/row%step
    else if (row%materials%gap_aware(row%material) > 0.0_dp .and. .not. cohesive) then
      row%law(l_shift) = approach_allowed(row%law(l_gap), row%law(l_restitution), row%step, row%v(3))
    else if (row%law(l_gap) > row%epsilon .and. .not. cohesive) then
      row%kind = row_open
      return
    else
      row%law(l_shift) = row%law(l_restitution)*min(row%v(3), 0.0_dp)
    end if
    row%free(3) = row%free(3) + row%law(l_shift)
    if (cohesive) row%free = row%free - row%law(l_cohesion)*row%w(:,3)
  end subroutine prepare_contact

  !> Number s of a gap-aware contact, 0 <= U_N + s  _|_  R_N >= 0.
  !>
  !> A contact that would close within the step, gap + h V_N <= 0, leaves at e times the speed of its approach, s = e V_N.  Other contacts may
  !> close the gap and no more, s = gap/h.  But a contact that opens with V_N and is pushed back in the same step may return at e times V_N.
  !> So s >= e V_N in every contact, and impacts at several contacts cannot increase the energy.
  pure function approach_allowed(gap, restitution, step, normal_v) result(speed)
    real(dp), intent(in) :: gap, restitution, step, normal_v
    real(dp) :: speed

    speed = restitution*normal_v
    if (.not. bounces(gap, restitution, step, normal_v)) speed = max(speed, max(gap, 0.0_dp)/step)
  end function approach_allowed

  !> Whether a gap-aware contact with restitution closes within this step.
  pure logical function bounces(gap, restitution, step, normal_v)
    real(dp), intent(in) :: gap, restitution, step, normal_v

    bounces = restitution > 0.0_dp .and. gap + step*normal_v <= 0.0_dp .and. normal_v < 0.0_dp
  end function bounces

  !> Whether a gap-aware contact with restitution closes within this step, and faster than a contact at rest.
  pure logical function is_struck(epsilon, step, gap, restitution, normal_v)
    real(dp), intent(in) :: epsilon, step, gap, restitution, normal_v

    is_struck = bounces(gap, restitution, step, normal_v) .and. step*normal_v < -epsilon
  end function is_struck

  !> Whether a gap-aware contact with restitution stays open until the end of an undisturbed step.  If one of its bodies is struck in this
  !> step, the speed of their impact is known in the next step only, so the contact has to wait.
  pure logical function waits_for_impact(epsilon, step, gap, restitution, normal_v)
    real(dp), intent(in) :: epsilon, step, gap, restitution, normal_v

    waits_for_impact = restitution > 0.0_dp .and. gap > epsilon .and. gap + step*normal_v > 0.0_dp
  end function waits_for_impact

  !> Solves one contact; `b` is the reduced free velocity of diagonal_block.
  integer(i4) function solve_contact_row(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options

    r(3) = r(3) + block(b_cohesion)
    call solve_contact(options%solver, w, block, options%tolerance, options%bound, b, r, status)
    r(3) = r(3) - block(b_cohesion)
  end function solve_contact_row

  !> Measures a contact: Solfec-1.0's map adds velocities and forces without scaling; the residual scales by rho.
  pure type(row_error) function measure_contact(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp) :: p(3), r(3), unmet(3)

    r = reaction
    r(3) = r(3) + block(b_cohesion)
    unmet = [u(1), u(2), u(3) + law(l_shift)]
    p = contact_map(block(b_friction), 1.0_dp, unmet, r/unit)
    measure_contact%member = weighted(w, p)
    measure_contact%residual = norm2(contact_map(block(b_friction), block(b_rho), unmet, r))/block(b_rho)
  end function measure_contact

  pure subroutine linearise_contact(w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    real(dp), intent(in) :: w(3,3), block(block_size), law(law_size), u(3), r(3), unit, half_step, omega
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)

    x = 0.0_dp
    y = 0.0_dp
    call cone_linearisation(block(b_friction), omega, [u(1), u(2), u(3) + law(l_shift)], &
                            [r(1), r(2), r(3) + block(b_cohesion)]/unit, rhs, x, y)
    rhs = -rhs
    y = y/unit
  end subroutine linearise_contact

  pure function contact_on_cone(block, r) result(p)
    real(dp), intent(in) :: block(block_size), r(3)
    real(dp) :: p(3)

    p = project_on_cone(block(b_friction), [r(1), r(2), r(3) + block(b_cohesion)])
    p(3) = p(3) - block(b_cohesion)
  end function contact_on_cone

  !> Whether cohesion ends: the contact opens or slides at its limit.
  pure logical function contact_ends(law, r)
    real(dp), intent(in) :: law(law_size), r(3)
    real(dp) :: normal

    normal = r(3) + law(l_cohesion)
    contact_ends = limits_reached(law, r, normal, normal < at_limit*law(l_cohesion))
  end function contact_ends

  !> Whether a cohesive contact opens, or has friction and slides under a normal force.
  pure logical function limits_reached(law, r, normal, opens)
    real(dp), intent(in) :: law(law_size), r(3), normal
    logical, intent(in) :: opens

    limits_reached = .false.
    if (.not. law(l_cohesion) > 0.0_dp) return
    limits_reached = opens
    if (law(l_friction) > 0.0_dp) limits_reached = limits_reached .or. &
      sqrt(r(1)**2 + r(2)**2) + at_limit*law(l_cohesion) >= law(l_friction)*normal
  end function limits_reached

  integer(i4) function solve_open(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    r = 0.0_dp
    status = status_solved
  end function solve_open

  !> Measures an open contact: any reaction is an error.
  pure type(row_error) function measure_open(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    measure_open = row_error(member=weighted(w, reaction/unit), residual=norm2(reaction)/block(b_rho))
  end function measure_open
end module contact_rows
