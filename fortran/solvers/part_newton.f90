!> The projected quasi-Newton iteration over listed rows of a part of a model, step by step; solfec/parallel/part_newton.py makes the steps.
!>
!> Momenta of copies are replaced by those of their owners between `spread_rows` and `multiply_rows`; `multiply_with_messages` makes all three steps.
module part_newton
  use kinds, only: dp, i4, i8
  use momentum_messages, only: receive_momenta, send_momenta
  use newton_rows, only: linearise_row, soften_contacts, stepped
  use row_sums, only: row_sum
  use row_tables, only: local_tables, open_local
  use state_tables, only: colour_messages, open_table
  use table_registry, only: table_open
  use velocity_form, only: push
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
    call spread(loc, count, listed, x)
  end subroutine spread_rows

  !> Adds H'^T x of rows to momenta.
  subroutine spread(loc, count, listed, x)
    type(local_tables), intent(inout) :: loc
    integer(i4), intent(in) :: count, listed(count)
    real(dp), intent(in) :: x(3,count)
    integer(i4) :: a, i

    do i = 1, count
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
    if (status == table_open) call multiply(loc, count, listed, operator, x, y)
  end subroutine multiply_rows

  !> Computes y = X W x + Y x of rows from momenta.
  subroutine multiply(loc, count, listed, operator, x, y)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: count, listed(count)
    real(dp), intent(in) :: operator(3,3,3,count), x(3,count)
    real(dp), intent(inout) :: y(3,count)
    real(dp), parameter :: none(3) = 0.0_dp
    real(dp) :: v(3)
    integer(i4) :: a, i

    do i = 1, count
      a = listed(i)
      v = row_sum(loc%rows%entry_ptr(a), loc%rows%entry_ptr(a+1), loc%entries%triple, loc%entries%operator, &
                 loc%triples%momentum, none)
      y(:,i) = matmul(operator(:,:,1,i), v) + matmul(operator(:,:,2,i), x(:,i))
    end do
  end subroutine multiply

  !> Computes y = X W x + Y x of listed rows, with the exchange of momenta on the way.
  !>
  !> Rows on bodies that several processes hold come first, and of these the rows on copies: momenta are on the way while the other rows are
  !> multiplied.  If W is stored, these take its blocks and no momenta, since all rows on their bodies are listed.  A wait that lasts long ends
  !> the call, which then has to be made again (sweep_with_messages of part_sweeps).
  !>
  !> Reads of rows diagonal, block_ptr, entry_ptr; blocks or entries.  Writes momenta of triples.
  !>
  !>   messages    handle of the messages, of one colour (ColourMessages)
  !>   copied, shared   numbers of listed rows on copies, and on bodies that several processes hold
  !>   triples     velocity triples in use
  !>   nrow, place   (0:nrow-1) places of rows in the list; nothing if W is not stored
  !>   count, listed, operator, x, y, status   as in multiply_rows
  subroutine multiply_with_messages(handles, messages, copied, shared, triples, nrow, place, count, listed, operator, x, y, status)
    integer(i8), intent(in) :: handles(6), messages
    integer(i4), intent(in) :: copied, shared, triples, nrow, place(0:nrow-1), count, listed(count)
    real(dp), intent(in) :: operator(3,3,3,count), x(3,count)
    real(dp), intent(inout) :: y(3,count)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(colour_messages) :: plan

    call open_local(handles, loc, status)
    if (status == table_open) call open_table(messages, plan, status)
    if (status /= table_open) return
    if (plan%waiting == 0) then
      if (nrow > 0) then
        call clear(loc, listed(:shared))
      else
        loc%triples%momentum(:,0:triples-1) = 0.0_dp
      end if
      call spread(loc, shared, listed, x)
      call send_momenta(plan, 0, loc%triples%momentum)
      if (nrow > 0) then
        call multiply_stored(copied + 1, count, listed, nrow, place, loc%rows%diagonal, loc%rows%block_ptr, loc%blocks%column, &
                             loc%blocks%block, operator, x, y)
      else
        call spread(loc, count - shared, listed(shared+1:), x(:,shared+1:))
        call multiply(loc, count - copied, listed(copied+1:), operator(:,:,:,copied+1:), x(:,copied+1:), y(:,copied+1:))
      end if
    end if
    call receive_momenta(plan, 0, loc%triples%momentum)
    if (plan%waiting == 0) call multiply(loc, copied, listed, operator, x, y)
  end subroutine multiply_with_messages

  !> Sets the momenta of the triples of rows to zero.
  subroutine clear(loc, listed)
    type(local_tables), intent(inout) :: loc
    integer(i4), intent(in), contiguous :: listed(:)
    integer(i4) :: e, i

    do i = 1, size(listed)
      do e = loc%rows%entry_ptr(listed(i)), loc%rows%entry_ptr(listed(i)+1) - 1
        loc%triples%momentum(:,loc%entries%triple(e)) = 0.0_dp
      end do
    end do
  end subroutine clear

  !> Computes y = X W x + Y x of the listed rows from number `first` on, by blocks of W.
  subroutine multiply_stored(first, count, listed, nrow, place, diagonal, block_ptr, column, block, operator, x, y)
    integer(i4), intent(in) :: first, count, listed(count), nrow, place(0:nrow-1), block_ptr(0:*), column(0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), block(3,3,0:*), operator(3,3,3,count), x(3,count)
    real(dp), intent(inout) :: y(3,count)
    real(dp) :: v1(3), v2(3), v3(3)
    integer(i4) :: a, b, i, k

    do i = first, count
      a = listed(i)
      v1 = diagonal(:,1,a)*x(1,i)
      v2 = diagonal(:,2,a)*x(2,i)
      v3 = diagonal(:,3,a)*x(3,i)
      do b = block_ptr(a), block_ptr(a+1) - 1
        k = place(column(b)) + 1
        v1 = v1 + block(:,1,b)*x(1,k)
        v2 = v2 + block(:,2,b)*x(2,k)
        v3 = v3 + block(:,3,b)*x(3,k)
      end do
      y(:,i) = matmul(operator(:,:,1,i), v1 + (v2 + v3)) + matmul(operator(:,:,2,i), x(:,i))
    end do
  end subroutine multiply_stored

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
