!> Piecewise linear functions of time.
module time_series
  use kinds, only: dp, i4, i8
  use curves, only: find_segment
  use state_tables, only: series_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: evaluate_series, average_series

contains

  !> Evaluates all series at one time: linear between knots, constant beyond both ends (docs/language-objects.md, TIME_SERIES).
  !> Reads n, start, times and values, writes result and interval.
  subroutine evaluate_series(handle, time, status)
    integer(i8), intent(in) :: handle             !< SeriesTable
    real(dp), intent(in) :: time
    integer(i4), intent(out) :: status            !< `table_unknown`: the handle is not that of such a table
    type(series_table) :: series
    integer(i4) :: first, k, last, low, high, middle

    call open_table(handle, series, status)
    if (status /= table_open) return
    associate (start => series%start, times => series%times, values => series%values, interval => series%interval, &
               result => series%result)
    do k = 0, series%n - 1
      first = start(k)
      last = start(k+1) - 1
      if (.not. time > times(first)) then
        result(k) = values(first)
      else if (time >= times(last)) then
        result(k) = values(last)
      else
        ! times(low) <= time < times(high)
        low = first
        high = last
        middle = interval(k)
        if (middle >= first .and. middle < last) then
          if (times(middle) <= time) then
            low = middle
            if (time < times(middle+1)) high = middle + 1
          else
            high = middle
          end if
        end if
        low = find_segment(times, low, high, time)
        high = low + 1
        interval(k) = low
        result(k) = values(low) + (values(high) - values(low))*((time - times(low))/(times(high) - times(low)))
      end if
    end do
    end associate
  end subroutine evaluate_series

  !> Computes the means of all series from one time to a later one.  Reads n, start, times and values.
  subroutine average_series(handle, since, time, n, means, status)
    integer(i8), intent(in) :: handle             !< SeriesTable
    real(dp), intent(in) :: since, time
    integer(i4), intent(in) :: n
    real(dp), intent(inout) :: means(0:n-1)       !< out, of at least all series
    integer(i4), intent(out) :: status            !< `table_unknown`: the handle is not that of such a table
    type(series_table) :: series
    integer(i4) :: k, last, knot
    real(dp) :: area, x, y, next

    call open_table(handle, series, status)
    if (status /= table_open) return
    associate (start => series%start, times => series%times, values => series%values)
    do k = 0, series%n - 1
      last = start(k+1) - 1
      knot = start(k)
      if (last > knot .and. times(knot) <= since) knot = find_segment(times, knot, last, since) + 1
      area = 0.0_dp
      x = since
      y = value_at(times, values, start(k), last, since)
      do while (knot <= last)
        if (.not. times(knot) < time) exit
        if (times(knot) > x) then
          area = area + 0.5_dp*(times(knot) - x)*(y + values(knot))
          x = times(knot)
          y = values(knot)
        end if
        knot = knot + 1
      end do
      next = value_at(times, values, start(k), last, time)
      means(k) = (area + 0.5_dp*(time - x)*(y + next))/(time - since)
    end do
    end associate
  end subroutine average_series

  !> The value of the series with knots first .. last.
  pure real(dp) function value_at(times, values, first, last, time) result(value)
    real(dp), intent(in) :: times(0:*), values(0:*)
    integer(i4), intent(in) :: first, last
    real(dp), intent(in) :: time
    integer(i4) :: k

    if (.not. time > times(first)) then
      value = values(first)
    else if (time >= times(last)) then
      value = values(last)
    else
      k = find_segment(times, first, last, time)
      value = values(k) + (values(k+1) - values(k))*((time - times(k))/(times(k+1) - times(k)))
    end if
  end function value_at
end module time_series
