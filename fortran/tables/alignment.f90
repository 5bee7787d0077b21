!> Alignment of arrays with the lines of the processor's cache.
module alignment
  use, intrinsic :: iso_c_binding, only: c_loc, c_intptr_t
  use kinds, only: dp, i4
  implicit none
  private
  public :: first_aligned

contains

  !> Index in an array at which its first whole cache line starts: numbers that straddle two lines are slow.
  integer(i4) function first_aligned(x)
    real(dp), intent(in), target, contiguous :: x(:)
    integer(c_intptr_t), parameter :: line = 64
    integer(c_intptr_t) :: address

    address = transfer(c_loc(x), address)
    first_aligned = int(1 + modulo(-address, line)/8, i4)
  end function first_aligned
end module alignment
