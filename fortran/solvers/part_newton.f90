!> The projected quasi-Newton iteration over listed rows of a part of a model, step by step; solfec/parallel/part_newton.py makes the steps.
!>
!> Momenta of copies are replaced by those of their owners between `spread_rows` and `multiply_rows`; `multiply_with_messages` makes all three steps.
module part_newton
  use kinds, only: dp, i4, i8
  use momentum_messages, only: receive_momenta, send_momenta
  use newton_rows, only: linearise_row, soften_contacts, stepped
  use row_tables, only: local_tables, open_local
  use state_tables, only: colour_messages, open_table
  use table_registry, only: table_open
  use velocity_form, only: pulled, push
  implicit none
  private
  public :: soften_rows, linearise_rows, spread_rows, multiply_rows, multiply_with_messages, precondition_rows, step_rows

contains

  !> Replaces laws of rows by those that the iteration takes.
  !>
  !> Reads of rows V.  Writes of rows kind, law.
  !>
  !>   handles     of local dynamics (row_tables); n: rows in use
  !>   half_step   h/2 (dynamics) or h (quasi-statics); step: h [time]
  !>   failed      out: row without a linearisation, or -1
  !>   status      out: table_open, or a handle is void
  subroutine soften_rows(handles, n, half_step, step, failed, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: half_step, step
    integer(i4), intent(out) :: failed, status
    type(local_tables) :: loc

    failed = -1
    call open_local(handles, loc, status)
    if (status == table_open) call soften_contacts(n, half_step, step, loc%rows%v, loc%rows%kind, loc%rows%law, failed)
  end subroutine soften_rows

  !> Linearises C(U, R) = 0 at the present U and R of listed rows.
  !>
  !> Reads of rows kind, diagonal, block, law, U, R.
  !>
  !>   count, listed   (0:count-1) rows
  !>   added           on the diagonal of the operator [velocity/force]
  !>   unit            of force, in which reactions are added to velocities
  !>   half_step, omega   h/2 or h [time]; smoothing of the contact equation
  !>   operator, rhs   (3,3,3,0:count-1), (3,0:count-1) out: X, Y, T^-1; right-hand side
  !>   failed          out: row whose T is singular, or -1
  !>   status          out: table_open, or a handle is void
  subroutine linearise_rows(handles, count, listed, added, unit, half_step, omega, operator, rhs, failed, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: count, listed(0:count-1)
    real(dp), intent(in) :: added, unit, half_step, omega
    real(dp), intent(inout) :: operator(3,3,3,0:count-1), rhs(3,0:count-1)
    integer(i4), intent(out) :: failed, status
    type(local_tables) :: loc
    logical :: regular
    integer(i4) :: i, a

    failed = -1
    call open_local(handles, loc, status)
    if (status /= table_open) return
    do i = 0, count - 1
      a = listed(i)
      call linearise_row(loc%rows%kind(a), loc%rows%diagonal(:,:,a), loc%rows%block(:,a), loc%rows%law(:,a), loc%rows%u(:,a), &
                         loc%rows%r(:,a), added, unit, half_step, omega, operator(:,:,:,i), rhs(:,i), regular)
      if (.not. regular) failed = max(failed, a)
    end do
  end subroutine linearise_rows

  !> Computes momenta p = sum over listed rows of H'^T x.
  !>
  !> Reads entries of rows.  Writes momenta of triples.
  !>
  !>   count, listed, x   (0:count-1) rows, and (3,0:count-1) their reactions or a direction
  !>   triples     velocity triples in use
  !>   status      out: table_open, or a handle is void
  subroutine spread_rows(handles, count, listed, x, triples, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: count, listed(0:count-1), triples
    real(dp), intent(in) :: x(3,0:count-1)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    call open_local(handles, loc, status)
    if (status /= table_open) return
    loc%triples%momentum(:,0:triples-1) = 0.0_dp
    call spread(loc, listed, x)
  end subroutine spread_rows

  !> Adds H'^T x of rows to momenta.
  subroutine spread(loc, listed, x)
    type(local_tables), intent(inout) :: loc
    integer(i4), intent(in), contiguous :: listed(:)
    real(dp), intent(in), contiguous :: x(:,:)        !< (3,size(listed))
    integer(i4) :: a, i

    do i = 1, size(listed)
      a = listed(i)
      call push(loc%rows%entry_ptr(a), loc%rows%entry_ptr(a+1), loc%entries%triple, loc%entries%operator, x(:,i), &
                loc%triples%momentum)
    end do
  end subroutine spread

  !> Computes y = X W x + Y x of listed rows, where W x = H' p.
  !>
  !> Reads entries of rows, momenta of triples.
  !>
  !>   count, listed, operator   as in linearise_rows
  !>   x, y        (3,0:count-1) the direction whose momenta were spread; out
  !>   status      out: table_open, or a handle is void
  subroutine multiply_rows(handles, count, listed, operator, x, y, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: count, listed(0:count-1)
    real(dp), intent(in) :: operator(3,3,3,0:count-1), x(3,0:count-1)
    real(dp), intent(inout) :: y(3,0:count-1)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    call open_local(handles, loc, status)
    if (status == table_open) call multiply(loc, listed, operator, x, y)
  end subroutine multiply_rows

  !> Computes y = X W x + Y x of rows from momenta.
  subroutine multiply(loc, listed, operator, x, y)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in), contiguous :: listed(:)
    real(dp), intent(in), contiguous :: operator(:,:,:,:), x(:,:)   !< (3,3,3,size(listed)), (3,size(listed))
    real(dp), intent(inout), contiguous :: y(:,:)
    real(dp), parameter :: none(3) = 0.0_dp
    real(dp) :: v(3)
    integer(i4) :: a, i

    do i = 1, size(listed)
      a = listed(i)
      v = pulled(loc%rows%entry_ptr(a), loc%rows%entry_ptr(a+1), loc%entries%triple, loc%entries%operator, &
                 loc%triples%momentum, none)
      y(:,i) = matmul(operator(:,:,1,i), v) + matmul(operator(:,:,2,i), x(:,i))
    end do
  end subroutine multiply

  !> Computes y = X W x + Y x of listed rows, with the exchange of momenta on the way.
  !>
  !> Rows on bodies that several processes hold come first, so that momenta are on the way while the others are multiplied.  A wait that lasts
  !> long ends the call, which then has to be made again (sweep_with_messages of part_sweeps).
  !>
  !> Reads entries of rows.  Writes momenta of triples.
  !>
  !>   messages    handle of the messages, of one colour (ColourMessages)
  !>   inner       number of listed rows that act on bodies which several processes hold
  !>   triples     velocity triples in use
  !>   count, listed, operator, x, y, status   as in multiply_rows
  subroutine multiply_with_messages(handles, messages, inner, triples, count, listed, operator, x, y, status)
    integer(i8), intent(in) :: handles(6), messages
    integer(i4), intent(in) :: inner, triples, count, listed(count)
    real(dp), intent(in) :: operator(3,3,3,count), x(3,count)
    real(dp), intent(inout) :: y(3,count)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(colour_messages) :: plan

    call open_local(handles, loc, status)
    if (status == table_open) call open_table(messages, plan, status)
    if (status /= table_open) return
    if (plan%waiting == 0) then
      loc%triples%momentum(:,0:triples-1) = 0.0_dp
      call spread(loc, listed(:inner), x(:,:inner))
      call send_momenta(plan, 0, loc%triples%momentum)
      call spread(loc, listed(inner+1:), x(:,inner+1:))
      call multiply(loc, listed(inner+1:), operator(:,:,:,inner+1:), x(:,inner+1:), y(:,inner+1:))
    end if
    call receive_momenta(plan, 0, loc%triples%momentum)
    if (plan%waiting == 0) call multiply(loc, listed(:inner), operator(:,:,:,:inner), x(:,:inner), y(:,:inner))
  end subroutine multiply_with_messages

  !> Computes y = T^-1 x.
  !>
  !>   operator, x, y   as in multiply_rows
  subroutine precondition_rows(count, operator, x, y)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: operator(3,3,3,0:count-1), x(3,0:count-1)
    real(dp), intent(inout) :: y(3,0:count-1)
    integer(i4) :: i

    do i = 0, count - 1
      y(:,i) = matmul(operator(:,:,3,i), x(:,i))
    end do
  end subroutine precondition_rows

  !> Computes R = P(R + dR) of listed rows.
  !>
  !> Reads of rows kind, block.  Writes of rows R.
  !>
  !>   count, listed, change   (0:count-1) rows, and (3,0:count-1) dR
  !>   status      out: table_open, or a handle is void
  subroutine step_rows(handles, count, listed, change, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: count, listed(0:count-1)
    real(dp), intent(in) :: change(3,0:count-1)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    integer(i4) :: i, a

    call open_local(handles, loc, status)
    if (status /= table_open) return
    do i = 0, count - 1
      a = listed(i)
      loc%rows%r(:,a) = stepped(loc%rows%kind(a), loc%rows%block(:,a), loc%rows%r(:,a) + change(:,i))
    end do
  end subroutine step_rows
end module part_newton
