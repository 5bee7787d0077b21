!> Convex polygons cut by planes.
module polygon_cut
  use kinds, only: dp
  implicit none
  private
  public :: cut

contains

  !> Cuts off the part of a polygon where normal.x > level.
  subroutine cut(normal, level, count, polygon, spare)
    real(dp), intent(in) :: normal(3), level
    integer, intent(inout) :: count
    real(dp), intent(inout) :: polygon(:,:), spare(:,:)
    real(dp) :: here, there
    integer :: k, next, kept

    kept = 0
    do k = 1, count
      next = merge(k + 1, 1, k < count)
      here = dot_product(normal, polygon(:,k)) - level
      there = dot_product(normal, polygon(:,next)) - level
      if (here <= 0.0_dp) then
        kept = kept + 1
        spare(:,kept) = polygon(:,k)
      end if
      if ((here < 0.0_dp .and. there > 0.0_dp) .or. (here > 0.0_dp .and. there < 0.0_dp)) then
        if (kept == size(spare, 2)) cycle
        kept = kept + 1
        spare(:,kept) = polygon(:,k) + (here/(here - there))*(polygon(:,next) - polygon(:,k))
      end if
    end do
    count = kept
    polygon(:,1:count) = spare(:,1:count)
  end subroutine cut
end module polygon_cut
