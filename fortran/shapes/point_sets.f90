!> Sets of points: which of them are distinct, and whether they span a line, a plane or space.
!>
!> Hulls mostly have few points: a call takes a tenth of the time of array operations on so few (solfec/shapes/hull.py).
module point_sets
  use kinds, only: dp, i4
  implicit none
  private
  public :: mark_distinct, count_axes

contains

  !> Marks points that have no earlier marked one within `tolerance` along every axis.
  pure subroutine mark_distinct(points, point, tolerance, distinct)
    integer(i4), intent(in) :: points
    real(dp), intent(in) :: point(3,0:points-1), tolerance
    integer(i4), intent(out) :: distinct(0:points-1)   !< 1: distinct, else 0
    integer(i4) :: i, k

    distinct = 1
    do i = 1, points - 1
      do k = 0, i - 1
        if (distinct(k) == 1 .and. all(abs(point(:,i) - point(:,k)) <= tolerance)) distinct(i) = 0
      end do
    end do
  end subroutine mark_distinct

  !> Number of axes along which points extend, 0 (a point) to 3 (space): those within `flat` of a point, a line or a plane extend no
  !> further.
  pure subroutine count_axes(points, point, flat, axes)
    integer(i4), intent(in) :: points
    real(dp), intent(in) :: point(3,0:points-1), flat
    integer(i4), intent(out) :: axes
    real(dp), allocatable :: arm(:,:)
    real(dp) :: axis(3), normal(3)
    integer(i4) :: i

    allocate (arm(3,0:points-1))
    do i = 0, points - 1
      arm(:,i) = point(:,i) - point(:,0)
    end do
    axes = 0
    axis = longest(points, arm)
    if (norm2(axis) <= flat) return
    axes = 1
    axis = axis/norm2(axis)
    do i = 0, points - 1
      arm(:,i) = arm(:,i) - dot_product(arm(:,i), axis)*axis
    end do
    normal = longest(points, arm)
    if (norm2(normal) <= flat) return
    normal = normal/norm2(normal)
    normal = [axis(2)*normal(3) - axis(3)*normal(2), axis(3)*normal(1) - axis(1)*normal(3), axis(1)*normal(2) - axis(2)*normal(1)]
    axes = 2
    do i = 0, points - 1
      if (abs(dot_product(arm(:,i), normal)) > flat) axes = 3
    end do
  end subroutine count_axes

  !> The first of the longest vectors.
  pure function longest(n, vector)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: vector(3,n)
    real(dp) :: longest(3)

    longest = vector(:,maxloc(sum(vector**2, 1), 1))
  end function longest
end module point_sets
