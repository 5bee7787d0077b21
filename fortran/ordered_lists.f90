!> Search in ascending numbers, and runs in sequences.
module ordered_lists
  use kinds, only: i4
  implicit none
  private
  public :: first_not_below, number_runs

contains

  !> First of the places from `first` to `last` whose number is not below `wanted`; `last` where all before it are.
  pure integer(i4) function first_not_below(numbers, first, last, wanted) result(low)
    integer(i4), intent(in) :: numbers(0:*)          !< ascending between these places
    integer(i4), intent(in) :: first, last, wanted
    integer(i4) :: high, middle

    low = first
    high = last
    do while (low < high)
      middle = (low + high)/2
      if (numbers(middle) < wanted) then
        low = middle + 1
      else
        high = middle
      end if
    end do
  end function first_not_below

  !> Numbers the runs of a sequence, of which run s has the elements first(s) to first(s+1) - 1.
  pure subroutine number_runs(n, continues, runs, first, run)
    integer(i4), intent(in) :: n
    logical, intent(in) :: continues(0:n-1)          !< element i belongs to the run of element i - 1; false for the first one
    integer(i4), intent(out) :: runs
    integer(i4), intent(inout) :: first(0:n)
    integer(i4), intent(inout) :: run(0:n-1)         !< of each element
    integer(i4) :: i

    runs = 0
    do i = 0, n - 1
      if (.not. continues(i)) then
        first(runs) = i
        runs = runs + 1
      end if
      run(i) = runs - 1
    end do
    first(runs) = n
  end subroutine number_runs
end module ordered_lists
