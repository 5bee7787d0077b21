!> Piecewise linear functions: time series, which are constant beyond their ends, and tables of springs, which continue with their end slopes.
module curves
  use kinds, only: dp, i4
  use state_tables, only: curve_table, curve_point_table
  implicit none
  private
  public :: find_segment, find_by_value, curve_at, series_at, series_vector

contains

  !> The point k of first .. last-1 with x(k) <= x < x(k+1); the first and the last such k beyond the ends.
  pure integer(i4) function find_segment(places, first, last, x) result(low)
    real(dp), intent(in) :: places(0:*)
    integer(i4), intent(in) :: first, last
    real(dp), intent(in) :: x
    integer(i4) :: high, middle

    low = first
    high = last
    do while (high - low > 1)
      middle = (low + high)/2
      if (places(middle) <= x) then
        low = middle
      else
        high = middle
      end if
    end do
  end function find_segment

  !> The segment of a curve of increasing values in which a value lies.
  pure integer(i4) function find_by_value(curves, points, curve, y) result(k)
    type(curve_table), intent(in) :: curves
    type(curve_point_table), intent(in) :: points
    integer(i4), intent(in) :: curve
    real(dp), intent(in) :: y

    k = find_segment(points%y, curves%first(curve), curves%first(curve) + curves%size(curve) - 1, y)
  end function find_by_value

  !> Computes value and slope of a spring's table.
  pure subroutine curve_at(curves, points, curve, x, value, slope)
    type(curve_table), intent(in) :: curves
    type(curve_point_table), intent(in) :: points
    integer(i4), intent(in) :: curve
    real(dp), intent(in) :: x
    real(dp), intent(out) :: value, slope
    integer(i4) :: k

    k = find_segment(points%x, curves%first(curve), curves%first(curve) + curves%size(curve) - 1, x)
    slope = points%slope(k)
    value = points%y(k) + slope*(x - points%x(k))
  end subroutine curve_at

  !> Value of a time series.
  pure real(dp) function series_at(curves, points, curve, time) result(value)
    type(curve_table), intent(in) :: curves
    type(curve_point_table), intent(in) :: points
    integer(i4), intent(in) :: curve
    real(dp), intent(in) :: time
    integer(i4) :: first, k, last

    first = curves%first(curve)
    last = first + curves%size(curve) - 1
    if (.not. time > points%x(first)) then
      value = points%y(first)
    else if (time >= points%x(last)) then
      value = points%y(last)
    else
      k = find_segment(points%x, first, last, time)
      value = points%y(k) + (points%y(k+1) - points%y(k))*((time - points%x(k))/(points%x(k+1) - points%x(k)))
    end if
  end function series_at

  !> Sets components of a vector to the values of their series; components with series -1 do not change.
  pure subroutine series_vector(curves, points, series, time, vector)
    type(curve_table), intent(in) :: curves
    type(curve_point_table), intent(in) :: points
    integer(i4), intent(in) :: series(3)
    real(dp), intent(in) :: time
    real(dp), intent(inout) :: vector(3)
    integer :: i

    do i = 1, 3
      if (series(i) >= 0) vector(i) = series_at(curves, points, series(i), time)
    end do
  end subroutine series_vector
end module curves
