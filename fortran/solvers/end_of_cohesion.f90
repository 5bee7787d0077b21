!> The end of cohesion after a solution.
module end_of_cohesion
  use kinds, only: dp, i4
  use row_block, only: law_size, l_cohesion, l_friction, l_shift
  use row_families, only: family_of
  use row_family_base, only: row_family
  implicit none
  private
  public :: end_cohesion

  real(dp), parameter :: near_limit = 1e-2_dp !< of the cohesive force: nearer to a limit, reactions count as at the limit, and velocities decide
  real(dp), parameter :: moving = 1e-2_dp     !< of the velocity that the limiting force makes: at more, a point opens or slides

contains

  !> Ends cohesion of contacts that open or slide at their limit (docs/language-objects.md, SURFACE_MATERIAL); frictionless contacts only open.
  !>
  !>   patch      (0:n-1) first row of the points that two primitives share; rows of a patch stand together
  !>   diagonal   (3,3,0:n-1) W_aa; reaction, u (3,0:n-1) R, U
  !>   lost       (0:n-1) out: 1 where cohesion ends
  subroutine end_cohesion(n, kind, law, patch, diagonal, reaction, u, lost)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: kind(0:*), patch(0:*)
    real(dp), intent(in) :: law(law_size,0:*), diagonal(3,3,0:*), reaction(3,0:*), u(3,0:*)
    integer(i4), intent(inout) :: lost(0:*)
    class(row_family), pointer :: family
    logical :: shared
    integer :: a

    do a = 0, n - 1
      shared = patch(a) < a
      if (a + 1 < n .and. .not. shared) shared = patch(a+1) == a
      if (shared) then
        lost(a) = merge(1_i4, 0_i4, gives(law(:,a), diagonal(:,:,a), reaction(:,a), u(:,a)))
      else
        family => family_of(kind(a))   ! a single point: its reaction decides, since bodies have no other
        lost(a) = merge(1_i4, 0_i4, family%ends(law(:,a), reaction(:,a)))
      end if
    end do
  end subroutine end_cohesion

  !> Whether cohesion of one of several points of a patch ends.  The points share the patch's force, and the shares are not unique: stresses
  !> that balance one another may bring points to their limits although nothing moves.  So cohesion of a point ends only if the point really
  !> opens or slides.  A patch moves if its load is more than all points together can carry, whichever solution was found.
  pure function gives(law, w, r, u) result(lost)
    real(dp), intent(in) :: law(law_size), w(3,3), r(3), u(3)
    logical :: lost
    real(dp) :: cohesion, friction, normal

    cohesion = law(l_cohesion)
    friction = law(l_friction)
    normal = r(3) + cohesion
    lost = normal < near_limit*cohesion .and. u(3) + law(l_shift) > moving*w(3,3)*cohesion
    if (lost .or. .not. friction > 0.0_dp) return
    lost = norm2(r(1:2)) >= friction*(normal - near_limit*cohesion) .and. norm2(u(1:2)) > &
      moving*max(w(1,1), w(2,2))*friction*cohesion
  end function gives
end module end_of_cohesion
