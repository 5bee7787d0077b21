!> Number kinds shared by every kernel.
module kinds
  use, intrinsic :: iso_fortran_env, only: real64, int32, int64
  implicit none
  private
  public :: dp, i4, i8

  integer, parameter :: dp = real64   !< all reals
  integer, parameter :: i4 = int32    !< row numbers, kinds, pointers
  integer, parameter :: i8 = int64    !< identifiers, keys
end module kinds
