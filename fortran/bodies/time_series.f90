!> Piecewise linear functions of time.
module time_series
  use kinds, only: dp, i4, i8
  use curves, only: find_segment
  use state_tables, only: series_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: evaluate_series

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

end module time_series
