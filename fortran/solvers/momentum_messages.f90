!> Messages about momenta of bodies that several processes hold, one after each colour of a sweep or each product with W (solfec/parallel/colour_messages.py).
module momentum_messages
  use kinds, only: dp, i4, i8
  use persistent_requests, only: completed, request_functions, start_requests
  use row_tables, only: local_tables, open_local
  use state_tables, only: colour_messages, reduction, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: open_shared, send_momenta, receive_momenta

contains

  !> Opens the tables of iterations that processes share: local dynamics, messages about momenta, sums over all processes.
  subroutine open_shared(handles, messages, sums, loc, plan, total, status)
    integer(i8), intent(in) :: handles(6), messages, sums
    type(local_tables), intent(out) :: loc
    type(colour_messages), intent(out) :: plan
    type(reduction), intent(out) :: total
    integer(i4), intent(out) :: status

    call open_local(handles, loc, status)
    if (status == table_open) call open_table(messages, plan, status)
    if (status == table_open) call open_table(sums, total, status)
  end subroutine open_shared

  !> Sends momenta to the other processes that need them after a colour.
  subroutine send_momenta(plan, colour, momentum)
    type(colour_messages), intent(inout) :: plan
    integer(i4), intent(in) :: colour
    real(dp), intent(in) :: momentum(3,0:*)
    integer(i4) :: i, requests

    requests = plan%request_ptr(colour+1) - plan%request_ptr(colour)
    if (requests == 0 .and. plan%in_python == 0) return
    do i = plan%sent_ptr(colour), plan%sent_ptr(colour+1) - 1
      plan%outgoing(:,i) = momentum(:,plan%sent(i))
    end do
    plan%waiting = 1
    plan%turn = colour
    if (plan%in_python == 0) call start_requests(request_functions(plan%start_all, plan%test_all), requests, &
                        plan%request(plan%words*plan%request_ptr(colour):), plan%error)
  end subroutine send_momenta

  !> Waits for momenta that other processes send after a colour, and takes them over; `waiting` stays 1 if they have not come yet.
  !>
  !> Where Python exchanges them (`in_python`), it does so when the kernel returns, and writes `waiting` = 2.
  subroutine receive_momenta(plan, colour, momentum)
    type(colour_messages), intent(inout) :: plan
    integer(i4), intent(in) :: colour
    real(dp), intent(inout) :: momentum(3,0:*)
    integer(i4) :: requests
    integer(i8) :: began, ended, rate

    if (plan%waiting == 0 .or. plan%error /= 0) return
    if (plan%in_python /= 0) then
      if (plan%waiting == 1) return
      plan%waiting = 0
      call take_over()
      return
    end if
    requests = plan%request_ptr(colour+1) - plan%request_ptr(colour)
    call system_clock(began, rate)
    if (completed(request_functions(plan%start_all, plan%test_all), requests, plan%request(plan%words*plan%request_ptr(colour):), &
                  plan%status, plan%error)) plan%waiting = 0
    call system_clock(ended)
    plan%waited = plan%waited + real(ended - began, dp)/real(rate, dp)
    if (plan%waiting == 0) call take_over()

  contains

    subroutine take_over()
      integer(i4) :: i

      do i = plan%received_ptr(colour), plan%received_ptr(colour+1) - 1
        momentum(:,plan%received(i)) = plan%incoming(:,i)
      end do
    end subroutine take_over
  end subroutine receive_momenta

end module momentum_messages
