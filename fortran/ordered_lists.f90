!> Search in ascending numbers.
module ordered_lists
  use kinds, only: i4
  implicit none
  private
  public :: first_not_below

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
end module ordered_lists
