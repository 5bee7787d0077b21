!> What a row asks for: the contact law with its parameters, a velocity, or the length of a link.
module row_laws
  use kinds, only: dp, i4
  use kind_numbers, only: start_impact => joint_start_impact, start_struck => joint_start_struck, start_halved => joint_start_halved
  use diagonal_block, only: prepare_block, block_size
  use row_block, only: contact_row, fixpnt_row, fixdir_row, velodir_row, velodir3_row, link_row, spring_dashpot_row, &
    open_row, law_size, l_gap, l_friction, l_restitution, l_cohesion, l_shift, l_link, l_length, l_target
  implicit none
  private
  public :: contact_laws, bilateral_laws, is_struck, waits_for_impact

contains

  !> Law of a contact and its reduced free velocity (diagonal_block).
  !>
  !> Contacts whose gap is larger than epsilon are open, but for cohesive ones, which hold until their law lets go of them,
  !> gap-aware ones, and those in quasi-statics, which may approach until they touch.
  pure subroutine contact_laws(model, dynamic, gap_aware, epsilon, step, materials, w, b, normal_v, row_kind, law, block, free)
    integer(i4), intent(in) :: model             !< 0 Signorini-Coulomb, 1 spring-dashpot
    integer(i4), intent(in) :: dynamic
    logical, intent(in) :: gap_aware
    real(dp), intent(in) :: epsilon              !< gap up to which bodies touch
    real(dp), intent(in) :: step, materials(law_size), w(3,3), b(3), normal_v
    integer(i4), intent(out) :: row_kind
    real(dp), intent(out) :: law(law_size), block(block_size), free(3)
    logical :: cohesive

    law = materials
    cohesive = law(l_cohesion) > 0.0_dp
    call prepare_block(w, law(l_friction), law(l_cohesion), block)
    free = b
    row_kind = contact_row
    if (model == 1) then
      row_kind = merge(open_row, spring_dashpot_row, dynamic /= 0 .and. law(l_gap) > 0.0_dp .and. .not. cohesive)
    else if (dynamic == 0) then
      law(l_shift) = max(law(l_gap), 0.0_dp)/step
    else if (gap_aware .and. .not. cohesive) then
      law(l_shift) = approach_allowed(law(l_gap), law(l_restitution), step, normal_v)
    else if (law(l_gap) > epsilon .and. .not. cohesive) then
      row_kind = open_row
    else
      law(l_shift) = law(l_restitution)*min(normal_v, 0.0_dp)
    end if
    if (row_kind /= contact_row) return
    free(3) = free(3) + law(l_shift)
    if (cohesive) free = free - law(l_cohesion)*w(:,3)
  end subroutine contact_laws

  !> s of a gap-aware contact, 0 <= U_N + s  _|_  R_N >= 0.
  !>
  !> One that would close within the step, gap + h V_N <= 0, leaves at e times the speed of its approach, s = e V_N.  Others may close the
  !> gap and no more, s = gap/h; but one that parts and is pushed back in the same step may come back at e times the speed at
  !> which it parts.  So s >= e V_N in every contact, which is what keeps impacts at several contacts from making energy.
  pure function approach_allowed(gap, restitution, step, normal_v) result(speed)
    real(dp), intent(in) :: gap, restitution, step, normal_v
    real(dp) :: speed

    speed = restitution*normal_v
    if (restitution <= 0.0_dp .or. gap + step*normal_v > 0.0_dp .or. normal_v >= 0.0_dp) speed = max(speed, max(gap, 0.0_dp)/step)
  end function approach_allowed

  !> Does a gap-aware contact with restitution close within this step, and faster than bodies that rest do?
  pure logical function is_struck(epsilon, step, gap, restitution, normal_v)
    real(dp), intent(in) :: epsilon, step, gap, restitution, normal_v

    is_struck = restitution > 0.0_dp .and. gap + step*normal_v <= 0.0_dp .and. step*normal_v < -epsilon
  end function is_struck

  !> Is a gap-aware contact with restitution still open at the end of a step in which nothing happens to its bodies?  When one of them
  !> is struck in this step, the speed at which they will meet is known in the next one only, so that such a contact has to wait.
  pure logical function waits_for_impact(epsilon, step, gap, restitution, normal_v)
    real(dp), intent(in) :: epsilon, step, gap, restitution, normal_v

    waits_for_impact = restitution > 0.0_dp .and. gap > epsilon .and. gap + step*normal_v > 0.0_dp
  end function waits_for_impact

  !> Velocity asked for (manual: FIX_POINT, FIX_DIRECTION, SET_VELOCITY), or link vector and length (PUT_RIGID_LINK).
  !>
  !> Joints ask for U = -V.  In the first step of one whose points move (JointStart IMPACT) they are to be at rest, U = 0; a link is a fixed
  !> direction then.  What an impact of bodies has left of such a motion, e = `value`, goes in two steps: U = -V + e/2 makes it -e/2
  !> (STRUCK), U = -V + e takes that to zero (HALVED), and together they move the points nowhere.  Of a link, `value` also has what it
  !> is longer by when the step begins.
  pure subroutine bilateral_laws(kind, dynamic, start, step, base, link, length, value, b, v, row_kind, law, block, free)
    integer(i4), intent(in) :: kind, dynamic, start
    real(dp), intent(in) :: step, base(3,3), link(3), length, value(3), b(3), v(3)
    integer(i4), intent(out) :: row_kind
    real(dp), intent(out) :: law(law_size), block(block_size), free(3)
    real(dp) :: target(3)

    row_kind = kind
    law = 0.0_dp
    block = 0.0_dp
    target = 0.0_dp
    if (dynamic /= 0 .and. start /= start_impact) target = -v
    if (start == start_struck) target = target + 0.5_dp*value
    if (start == start_halved) target = target + value
    select case (kind)
    case (fixpnt_row)
      law(l_target:l_target+2) = target
    case (fixdir_row)
      law(l_target+2) = target(3)
    case (velodir_row)
      law(l_target+2) = value(1)
    case (velodir3_row)
      law(l_target:l_target+2) = value
    case (link_row)
      if (start == start_impact) then
        row_kind = fixdir_row
        free = b
        return
      end if
      law(l_link:l_link+2) = link(1)*base(1,:) + link(2)*base(2,:) + link(3)*base(3,:)
      law(l_length) = length
      if (start == start_struck) law(l_length) = length + value(1) + 0.25_dp*step*value(3)
      if (start == start_halved) law(l_length) = length + value(1) + 0.5_dp*step*value(3)
    end select
    free = b
    if (kind /= link_row) free = free - law(l_target:l_target+2)
  end subroutine bilateral_laws
end module row_laws
