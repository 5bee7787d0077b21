!> Several kernels in one call, with arguments at known addresses.
!>
!> Between two kernels that work on large models Python costs ten times what it costs otherwise, since kernels empty the
!> caches: of its own code, and of the headers of every array that it hands over.  A program is entered once.
module kernel_programs
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_null_ptr
  use kinds, only: dp, i4, i8
  use kernel_calls, only: call_kernel
  implicit none
  private
  public :: run

contains

  !> Calls kernels from number `first` on, until one of them wants Python to look at what it says.
  !>
  !>   steps       (7,0:nstep-1) of every kernel: its number in `kernel_calls`; the place of its first address among
  !>               `addresses`; the address of an integer that must not be 0, or else the kernel is left out; twice the
  !>               address of an integer and what it must be afterwards, or else the program stops (address 0: nothing is
  !>               looked at)
  !>   phase       (0:nstep-1) in which of `seconds` the time of the kernel is counted
  !>   addresses   (0:naddress-1) of all arguments
  !>   seconds     (0:nphase-1) to which the times are added
  !>   reached     the kernel after which the program stopped, nstep: all have been called
  subroutine run(first, steps, phase, addresses, seconds, reached, nstep, naddress, nphase)
    integer(i4), intent(in) :: first, nstep, naddress, nphase
    integer(i8), intent(in) :: steps(7,0:nstep-1)
    integer(i4), intent(in) :: phase(0:nstep-1)
    integer(i8), intent(in) :: addresses(0:naddress-1)
    real(dp), intent(inout) :: seconds(0:nphase-1)
    integer(i4), intent(out) :: reached
    integer(i8) :: before, now, rate

    call system_clock(before, rate)
    do reached = first, nstep - 1
      associate (step => steps(:,reached))
        if (step(3) /= 0) then
          if (integer_at(step(3)) == 0) cycle
        end if
        call call_kernel(int(step(1), i4), addresses(step(2):))
        call system_clock(now)
        seconds(phase(reached)) = seconds(phase(reached)) + real(now - before, dp)/real(rate, dp)
        before = now
        if (differs(step(4), step(5)) .or. differs(step(6), step(7))) return
      end associate
    end do
  end subroutine run

  logical function differs(address, wanted)
    integer(i8), intent(in) :: address, wanted

    differs = .false.
    if (address /= 0) differs = integer_at(address) /= wanted
  end function differs

  integer(i4) function integer_at(address)
    integer(i8), intent(in) :: address
    integer(i4), pointer :: number

    call c_f_pointer(transfer(address, c_null_ptr), number)
    integer_at = number
  end function integer_at
end module kernel_programs
