!> One row of the projected quasi-Newton iteration: right-hand side, and the row of the linear operator on dR
!> (manual, 10.3, Projected quasi-Newton solver).
module newton_rows
  use kinds, only: dp, i4
  use contact_iterations, only: linearise, project_on_cone
  use diagonal_block, only: b_friction, b_cohesion
  use row_block, only: contact_row, fixpnt_row, fixdir_row, velodir_row, velodir3_row, link_row, spring_dashpot_row, &
    open_row, law_size, l_gap, l_friction, l_restitution, l_shift, l_link, l_length, l_target
  use spring_law, only: spring_row, window, s_target, s_mean, s_dashpot, s_reach, step_force, stopped
  implicit none
  private
  public :: known_row, rigid_contact, linear_row, projected, linked_velocity

contains

  !> Whether the iteration knows this kind of row.
  elemental function known_row(kind) result(answer)
    integer(i4), intent(in) :: kind
    logical :: answer
    select case (kind)
    case (contact_row, fixpnt_row, fixdir_row, velodir_row, velodir3_row, link_row, spring_row, spring_dashpot_row, open_row)
      answer = .true.
    case default
      answer = .false.
    end select
  end function known_row

  !> A spring-dashpot contact as what this solver takes it for: Signorini-Coulomb.
  pure subroutine rigid_contact(normal_v, half_step, step, kind, law)
    real(dp), intent(in) :: normal_v, half_step, step
    integer(i4), intent(inout) :: kind
    real(dp), intent(inout) :: law(law_size)

    if (kind /= spring_dashpot_row) return
    kind = contact_row
    if (half_step < step) then
      law(l_shift) = law(l_restitution)*min(normal_v, 0.0_dp)
    else
      law(l_shift) = max(law(l_gap), 0.0_dp)/step
    end if
  end subroutine rigid_contact

  !> Row of the linear system  x (W dR) + y dR = rhs  at U, R.
  pure subroutine linear_row(kind, w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: w(3,3)       !< W_aa
    real(dp), intent(in) :: block(*), law(law_size), u(3), r(3)
    real(dp), intent(in) :: half_step    !< h/2 (dynamics) or h (quasi-statics)
    real(dp), intent(in) :: unit         !< of force, in which reactions are added to velocities
    real(dp), intent(in) :: omega        !< smoothing [velocity]
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)
    real(dp) :: force, slope
    integer :: piece

    x = 0.0_dp
    y = 0.0_dp
    select case (kind)
    case (contact_row)
      call linearise(block(b_friction), omega, [u(1), u(2), u(3) + law(l_shift)], &
                     [r(1), r(2), r(3) + block(b_cohesion)]/unit, rhs, x, y)
      rhs = -rhs
      y = y/unit
    case (fixpnt_row, velodir3_row)
      x(1,1) = 1.0_dp
      x(2,2) = 1.0_dp
      x(3,3) = 1.0_dp
      rhs = law(l_target:l_target+2) - u
    case (fixdir_row, velodir_row, link_row)
      y(1,1) = 1.0_dp
      y(2,2) = 1.0_dp
      x(3,3) = 1.0_dp
      rhs(1:2) = -r(1:2)
      if (kind == link_row) then
        rhs(3) = linked_velocity(law(l_link:l_link+2), law(l_length), half_step, u) - u(3)
      else
        rhs(3) = law(l_target+2) - u(3)
      end if
    case (spring_row)
      y(1,1) = 1.0_dp
      y(2,2) = 1.0_dp
      rhs(1:2) = -r(1:2)
      if (stopped(law, u(3) - w(3,3)*r(3))) then
        x(3,3) = 1.0_dp
        rhs(3) = law(s_target) - u(3)
      else
        ! the force at the mean stroke and velocity of the step, as a velocity
        call step_force(block(1:2*window), law, u(3), force, slope, piece)
        x(3,3) = -w(3,3)*(law(s_reach)*slope - law(s_mean)*law(s_dashpot))
        y(3,3) = w(3,3)
        rhs(3) = w(3,3)*(force - r(3))
      end if
    case default
      ! an open contact carries nothing
      y(1,1) = 1.0_dp
      y(2,2) = 1.0_dp
      y(3,3) = 1.0_dp
      rhs = -r
    end select
  end subroutine linear_row

  !> Normal velocity that gives a link its length at the end of the step, |y + k U| = d with the given U_T; zero when the
  !> tangential motion alone is longer.
  pure function linked_velocity(y, d, k, u) result(normal)
    real(dp), intent(in) :: y(3), d, k, u(3)
    real(dp) :: normal, root

    root = d**2 - (y(1) + k*u(1))**2 - (y(2) + k*u(2))**2
    normal = 0.0_dp
    if (root >= 0.0_dp) normal = (sqrt(root) - y(3))/k
  end function linked_velocity

  !> R back on the friction cone.
  pure function projected(kind, block, r) result(p)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: block(*), r(3)
    real(dp) :: p(3)

    p = r
    if (kind /= contact_row) return
    p = project_on_cone(block(b_friction), [r(1), r(2), r(3) + block(b_cohesion)])
    p(3) = p(3) - block(b_cohesion)
  end function projected
end module newton_rows
