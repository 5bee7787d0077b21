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
  public :: run, run_at

contains

  !> `run` with arguments whose addresses are known: those of steps, phase, addresses and seconds; and nstep, naddress, nphase.
  subroutine run_at(first, places, reached)
    integer(i4), intent(in) :: first
    integer(i8), intent(in) :: places             !< address of these (7)
    integer(i4), intent(out) :: reached
    integer(i8), pointer :: place(:), steps(:,:), addresses(:)
    integer(i4), pointer :: phase(:)
    real(dp), pointer :: seconds(:)
    integer(i4) :: extents(3)

    call c_f_pointer(transfer(places, c_null_ptr), place, [7])
    extents = int(place(5:7), i4)
    call c_f_pointer(transfer(place(1), c_null_ptr), steps, [8, extents(1)])
    call c_f_pointer(transfer(place(2), c_null_ptr), phase, [extents(1)])
    call c_f_pointer(transfer(place(3), c_null_ptr), addresses, [extents(2)])
    call c_f_pointer(transfer(place(4), c_null_ptr), seconds, [extents(3)])
    call run(first, steps, phase, addresses, seconds, reached, extents(1), extents(2), extents(3))
  end subroutine run_at

  !> Calls kernels from number `first` on, until one of them wants Python to look at what it says.
  !>
  !>   steps       (8,0:nstep-1) of every kernel: its number in `kernel_calls`, or -1: the program stops; the place of its first address among
  !>               `addresses`; the address of an integer that must not be 0, or else the kernel is left out; twice the
  !>               address of an integer and what it must be afterwards, or else the program stops (address 0: nothing is
  !>               looked at); how many kernels the program goes back as long as the first of these integers is not 0
  !>   phase       (0:nstep-1) in which of `seconds` the time of the kernel is counted
  !>   addresses   (0:naddress-1) of all arguments
  !>   seconds     (0:nphase-1) to which the times are added
  !>   reached     the kernel after which the program stopped, nstep: all have been called
  subroutine run(first, steps, phase, addresses, seconds, reached, nstep, naddress, nphase)
    integer(i4), intent(in) :: first, nstep, naddress, nphase
    integer(i8), intent(in) :: steps(8,0:nstep-1)
    integer(i4), intent(in) :: phase(0:nstep-1)
    integer(i8), intent(in) :: addresses(0:naddress-1)
    real(dp), intent(inout) :: seconds(0:nphase-1)
    integer(i4), intent(out) :: reached
    integer(i8) :: before, now, rate

    call system_clock(before, rate)
    reached = first
    do while (reached < nstep)
      if (is_wanted(steps(3,reached))) then
        if (steps(1,reached) < 0) return
        call call_kernel(int(steps(1,reached), i4), addresses(steps(2,reached):))
        call system_clock(now)
        seconds(phase(reached)) = seconds(phase(reached)) + real(now - before, dp)/real(rate, dp)
        before = now
        if (differs(steps(4,reached), steps(5,reached)) .or. differs(steps(6,reached), steps(7,reached))) return
        if (steps(8,reached) > 0 .and. is_wanted(steps(3,reached))) then
          reached = reached - int(steps(8,reached), i4)
          cycle
        end if
      end if
      reached = reached + 1
    end do
  end subroutine run

  logical function is_wanted(address)
    integer(i8), intent(in) :: address

    is_wanted = .true.
    if (address /= 0) is_wanted = integer_at(address) /= 0
  end function is_wanted

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
