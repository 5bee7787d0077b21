!> Number kinds shared by every kernel.
module kinds
  use, intrinsic :: iso_fortran_env, only: real32, real64, int8, int32, int64
  implicit none
  private
  public :: sp, dp, i1, i4, i8

  integer, parameter :: dp = real64   !< all reals
  integer, parameter :: sp = real32   !< coordinates of first comparisons; exact ones follow only in doubt
  integer, parameter :: i1 = int8     !< results of eight comparisons, as bits
  integer, parameter :: i4 = int32    !< row numbers, kinds, pointers
  integer, parameter :: i8 = int64    !< identifiers, keys
end module kinds
