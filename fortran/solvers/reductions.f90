!> Maxima and sums over all processes, found by kernels without a stop in Python (solfec/parallel/reductions.py).
module reductions
  use kinds, only: dp, i4, i8
  use persistent_requests, only: completed, request_functions, start_requests
  use state_tables, only: reduction
  implicit none
  private
  public :: reduce, reduced, non_negative_bits

  !> What a process does in a stage with what it receives (Role of reductions.py).
  integer(i4), parameter :: sends = 0, takes = 1
  !> Operations on numbers (Operation of reductions.py).
  integer(i4), parameter :: maximum = 0, integer_sum = 1

contains

  !> Combines the numbers of all processes; a wait that lasts long ends the call, which then has to be made again.
  !>
  !> Numbers to combine are written to `value` before, with `stage` = 0.  All processes get the same bits.  Where Python combines them (`in_python`), it does
  !> so when the kernel returns.
  subroutine reduce(plan)
    type(reduction), intent(inout) :: plan
    integer(i4) :: s, requests
    integer(i8) :: began, ended, rate

    if (plan%in_python /= 0) return
    do while (.not. reduced(plan))
      s = plan%stage
      requests = plan%request_ptr(s+1) - plan%request_ptr(s)
      if (plan%waiting == 0) then
        call start_requests(functions(), requests, plan%request(plan%words*plan%request_ptr(s):), plan%error)
        plan%waiting = 1
        if (plan%error /= 0) return
      end if
      call system_clock(began, rate)
      if (completed(functions(), requests, plan%request(plan%words*plan%request_ptr(s):), plan%status, plan%error)) plan%waiting = 0
      call system_clock(ended)
      plan%waited = plan%waited + real(ended - began, dp)/real(rate, dp)
      if (plan%waiting /= 0 .or. plan%error /= 0) return
      if (plan%role(s) == takes) then
        plan%value = plan%received
      else if (plan%role(s) /= sends) then
        call combine(plan%operation, plan%received, plan%value)
      end if
      plan%stage = s + 1
    end do

  contains

    type(request_functions) function functions()
      functions = request_functions(plan%start_all, plan%test_all)
    end function functions
  end subroutine reduce

  !> Whether all stages are done.
  pure logical function reduced(plan)
    type(reduction), intent(in) :: plan

    reduced = plan%stage >= size(plan%role) + plan%in_python
  end function reduced

  !> Combines numbers with those of another process.
  pure subroutine combine(operation, other, value)
    integer(i4), intent(in) :: operation(:)
    integer(i8), intent(in) :: other(:)
    integer(i8), intent(inout) :: value(:)
    integer :: i

    do i = 1, size(value)
      select case (operation(i))
      case (maximum)
        value(i) = max(value(i), other(i))
      case (integer_sum)
        value(i) = value(i) + other(i)
      case default
        value(i) = transfer(transfer(value(i), 1.0_dp) + transfer(other(i), 1.0_dp), 1_i8)
      end select
    end do
  end subroutine combine

  !> The bits of a number that is not negative, in the order of these numbers; those of infinity if it is none.
  elemental integer(i8) function non_negative_bits(x)
    real(dp), intent(in) :: x
    integer(i8), parameter :: infinity = int(z'7FF0000000000000', i8)

    non_negative_bits = infinity
    if (x <= huge(x)) non_negative_bits = transfer(abs(x), 1_i8)
  end function non_negative_bits
end module reductions
