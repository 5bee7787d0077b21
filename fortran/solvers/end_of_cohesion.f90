!> The end of cohesion after a solution.
module end_of_cohesion
  use kinds, only: dp, i4
  use row_block, only: contact_row, open_row, spring_dashpot_row, law_size, l_cohesion, l_friction
  implicit none
  private
  public :: end_cohesion

contains

  !> Cohesion ends where the contact opens or slides at its limit (manual, SURFACE_MATERIAL); frictionless contacts only open.
  pure subroutine end_cohesion(n, kind, law, reaction, lost)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: law(law_size,0:*), reaction(3,0:*)
    integer(i4), intent(inout) :: lost(0:*)
    real(dp) :: cohesion, margin, normal, tangential
    integer :: a

    do a = 0, n - 1
      lost(a) = 0
      cohesion = law(l_cohesion,a)
      if (.not. cohesion > 0.0_dp) cycle
      margin = 1e-8_dp*cohesion
      tangential = sqrt(reaction(1,a)**2 + reaction(2,a)**2)
      select case (kind(a))
      case (contact_row, open_row)
        normal = reaction(3,a) + cohesion
        if (normal < margin) lost(a) = 1
      case (spring_dashpot_row)
        normal = abs(reaction(3,a))
        if (reaction(3,a) < margin - cohesion) lost(a) = 1
      case default
        cycle
      end select
      if (law(l_friction,a) > 0.0_dp .and. tangential + margin >= law(l_friction,a)*normal) lost(a) = 1
    end do
  end subroutine end_cohesion
end module end_of_cohesion
