!> When loops are shared among threads.
!>
!> A thread that sleeps wakes after twenty microseconds, on a virtual machine after a hundred; in that time one thread does the work of
!> small loops.  So each loop says how many nanoseconds a pass takes, roughly, and one constant decides.  Results do not depend on it.
module thread_work
  use kinds, only: dp, i4
  implicit none
  private
  public :: pays

  real(dp), parameter :: least = 1.0e5_dp  !< nanoseconds of a loop from which several threads pay

contains

  !> Whether several threads pay for `count` passes of so many nanoseconds.
  elemental logical function pays(count, nanoseconds)
    integer(i4), intent(in) :: count, nanoseconds

    pays = real(count, dp)*nanoseconds > least
  end function pays
end module thread_work
