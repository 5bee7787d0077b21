!> Piecewise linear functions of time.
module time_series
  use kinds, only: dp, i4
  implicit none
  private
  public :: evaluate_series

contains

  !> Values of all series at one time: linear between knots, constant beyond both ends (manual, TIME_SERIES).
  subroutine evaluate_series(n, time, nstart, start, times, values, interval, result, ns, nk)
    integer(i4), intent(in) :: n                  !< series in use
    integer(i4), intent(in) :: nstart, ns, nk
    real(dp), intent(in) :: time
    integer(i4), intent(in) :: start(0:nstart-1)  !< series k owns the knots start(k) .. start(k+1)-1, at least one
    real(dp), intent(in) :: times(0:nk-1)         !< knots, increasing within a series
    real(dp), intent(in) :: values(0:nk-1)
    integer(i4), intent(inout) :: interval(0:ns-1) !< where the last call looked (any number is fine): only a hint
    real(dp), intent(inout) :: result(0:ns-1)
    integer(i4) :: first, k, last, low, high, middle

    do k = 0, n - 1
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
        do while (high - low > 1)
          middle = (low + high)/2
          if (times(middle) <= time) then
            low = middle
          else
            high = middle
          end if
        end do
        interval(k) = low
        result(k) = values(low) + (values(high) - values(low))*((time - times(low))/(times(high) - times(low)))
      end if
    end do
  end subroutine evaluate_series

end module time_series
