!> When loops are shared among threads.
!>
!> A thread that sleeps wakes after twenty microseconds, on a virtual machine after a hundred; in that time one thread does the work of
!> small loops.  So each loop says how many nanoseconds a pass takes, roughly, and one constant decides.  Results do not depend on it.
module thread_work
  use kinds, only: dp, i4, i8
  implicit none
  private
  public :: pays, share

  real(dp), parameter :: least = 1.0e5_dp  !< nanoseconds of a loop from which several threads pay

contains

  !> Whether several threads pay for `count` passes of so many nanoseconds.
  elemental logical function pays(count, nanoseconds)
    integer(i4), intent(in) :: count, nanoseconds

    pays = real(count, dp)*nanoseconds > least
  end function pays

  !> First of `count` passes that a thread makes where each of several makes as many, to one; thread `threads` has the end.
  pure integer function share(count, thread, threads)
    integer(i4), intent(in) :: count
    integer, intent(in) :: thread, threads

    share = int(int(count, i8)*thread/threads)
  end function share
end module thread_work
