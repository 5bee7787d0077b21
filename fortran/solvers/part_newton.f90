!> The projected quasi-Newton iteration over listed rows of a part of a model, step by step; solfec/parallel/part_newton.py makes the steps.
!>
!> Momenta of copies are replaced by those of their owners within products of `solve_linear`, and behind `spread_rows`.
module part_newton
  use kinds, only: dp, i4, i8
  use krylov_basis, only: back_substitute, rotate_column
  use momentum_messages, only: open_shared, receive_momenta, send_momenta
  use newton_rows, only: linearise_row, soften_contacts, stepped
  use reductions, only: reduce, reduced
  use row_sums, only: row_sum
  use row_tables, only: local_tables, open_local
  use state_tables, only: colour_messages, krylov_course, open_table, reduction
  use table_registry, only: table_open
  use velocity_form, only: push
  implicit none
  private
  public :: soften_rows, linearise_rows, spread_rows, multiply_rows, solve_linear, precondition_rows, step_rows

  !> What a course of GMRES does next.
  integer(i4), parameter :: starting = 0, measuring = 1, multiplying = 2, projecting = 3, solved = 4
  integer, parameter :: restart = 20              !< directions of a cycle; as in newton.f90, which explains them:
  real(dp), parameter :: breakdown = 1e-8_dp
  real(dp), parameter :: kept = 0.1_dp            !< part of a product's norm that must stay when it is made orthogonal, or round-off counts
  integer, parameter :: piece = 512               !< rows whose numbers stay in the cache while they are multiplied by all vectors

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
    if (status == table_open) call soften_contacts(n, half_step, step, loc%rows%v, loc%rows%diagonal, loc%rows%kind, loc%rows%law, &
                                                   loc%rows%block, failed)
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

  !> Solves (X W + Y) dR = rhs for the change dR of listed rows by flexible GMRES, right-preconditioned by the diagonal blocks, from the last dR
  !> (krylov_step of newton.f90), in all processes.
  !>
  !> Products exchange momenta, and dot products are sums over all processes.  A wait that lasts long ends the call, which then has to be made again.
  !>
  !>   handles     of local dynamics (row_tables)
  !>   messages    handle of the messages of a product, of one colour (ColourMessages)
  !>   sums        handle of sums over all processes, of which there are two more than vectors of a cycle (Reduction)
  !>   course      handle of rows, their operators and vectors, and of what is known between calls (KrylovCourse)
  !>   status      out: table_open, or a handle is void
  subroutine solve_linear(handles, messages, sums, course, status)
    integer(i8), intent(in) :: handles(6), messages, sums, course
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(colour_messages) :: plan
    type(reduction) :: total
    type(krylov_course) :: run

    call open_shared(handles, messages, sums, loc, plan, total, status)
    if (status == table_open) call open_table(course, run, status)
    if (status /= table_open) return
    do while (run%phase /= solved)
      select case (run%phase)
      case (starting)
        call product_with_messages(loc, plan, run, run%change, run%basis)
        if (plan%waiting /= 0 .or. plan%error /= 0) return
        run%basis(:,0:run%size-1) = run%rhs - run%basis(:,0:run%size-1)
        run%product = run%rhs
        call offer_dots(run, total, 0, run%basis)
        run%phase = measuring
      case (measuring)
        call reduce(total)
        if (.not. reduced(total)) return
        call begin_cycle(run, sqrt(value(total, 0)), sqrt(value(total, 1)))
      case (multiplying)
        call product_with_messages(loc, plan, run, run%direction(:,run%size*run%column:), run%product)
        if (plan%waiting /= 0 .or. plan%error /= 0) return
        run%pass = 0
        call offer_dots(run, total, run%column + 1, run%product)
        run%phase = projecting
      case (projecting)
        call reduce(total)
        if (.not. reduced(total)) return
        call project(run, total)
      end select
    end do
  end subroutine solve_linear

  !> Offers the products of basis vectors 0 .. vectors-1, and of `last`, with the last product: sums over all processes are to follow.
  !> Where there are no vectors, those of the right-hand side (which is in `product` then), and of `last`, with themselves.
  subroutine offer_dots(run, total, vectors, last)
    type(krylov_course), intent(inout) :: run
    type(reduction), intent(inout) :: total
    integer(i4), intent(in) :: vectors
    real(dp), intent(in) :: last(3,0:run%size-1)
    real(dp) :: weighted(3,0:piece-1), dots(0:vectors+1)
    integer(i4) :: first, count, k

    dots = 0.0_dp
    do first = 0, run%size - 1, piece
      count = min(piece, run%size - first)
      call weigh(count, run%counted(first:), run%product(:,first:), weighted)
      do k = 0, vectors - 1
        dots(k) = dots(k) + dot(3*count, run%basis(:,run%size*k+first:), weighted)
      end do
      if (vectors == 0) then
        dots(0) = dots(0) + dot(3*count, run%product(:,first:), weighted)
        call weigh(count, run%counted(first:), last(:,first:), weighted)
      end if
      k = max(vectors, 1)
      dots(k) = dots(k) + dot(3*count, last(:,first:), weighted)
    end do
    total%value = 0
    total%value(0:max(vectors, 1)) = transfer(dots(0:max(vectors, 1)), 1_i8, max(vectors, 1) + 1)
    total%stage = 0
  end subroutine offer_dots

  !> Computes y = x of rows that this process counts, and y = 0 of others.
  pure subroutine weigh(count, counted, x, y)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: counted(count), x(3,count)
    real(dp), intent(out) :: y(3,count)
    integer(i4) :: i

    do i = 1, count
      y(:,i) = counted(i)*x(:,i)
    end do
  end subroutine weigh

  !> Sum of x.y, in eight partial sums that can be added at the same time.
  pure real(dp) function dot(count, x, y)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: x(count), y(count)
    real(dp) :: sums(8)
    integer(i4) :: i, k, whole

    sums = 0.0_dp
    whole = count - mod(count, 8)
    do i = 1, whole, 8
      do k = 1, 8
        sums(k) = sums(k) + x(i+k-1)*y(i+k-1)
      end do
    end do
    do i = whole + 1, count
      sums(1) = sums(1) + x(i)*y(i)
    end do
    dot = sum(sums)
  end function dot

  !> A sum over all processes.
  real(dp) function value(total, number)
    type(reduction), intent(in) :: total
    integer(i4), intent(in) :: number

    value = transfer(total%value(number), 1.0_dp)
  end function value

  !> Begins a cycle from the residual, or ends the solution; lengths of the right-hand side and of the residual.
  subroutine begin_cycle(run, whole, length)
    type(krylov_course), intent(inout) :: run
    real(dp), intent(in) :: whole, length
    integer(i4) :: room

    room = min(restart, run%most - run%made)
    run%phase = solved
    if (.not. length > 0.0_dp .or. room <= 0 .or. (run%made > 0 .and. length <= run%epsilon*whole)) return
    run%target = run%epsilon*whole
    run%right(0) = length
    run%largest = 0.0_dp
    run%used = 0
    run%column = 0
    call take_direction(run, length)
  end subroutine begin_cycle

  !> Makes the newest vector of the basis one of length 1, and the next direction from it.
  subroutine take_direction(run, length)
    type(krylov_course), intent(inout) :: run
    real(dp), intent(in) :: length
    integer(i4) :: first

    first = run%size*run%column
    if (run%column > 0) then
      call scaled(3*run%size, 1.0_dp/length, run%product, run%basis(:,first:))
    else
      call scaled(3*run%size, 1.0_dp/length, run%basis, run%basis)
    end if
    call precondition_rows(run%size, run%operator, run%basis(:,first:), run%direction(:,first:))
    run%phase = multiplying
  end subroutine take_direction

  !> Computes y = factor x.
  pure subroutine scaled(count, factor, x, y)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: factor, x(count)
    real(dp), intent(inout) :: y(count)

    y = factor*x
  end subroutine scaled

  !> Computes y = y + factor x.
  pure subroutine add(count, factor, x, y)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: factor, x(count)
    real(dp), intent(inout) :: y(count)

    y = y + factor*x
  end subroutine add

  !> Makes the last product orthogonal to the basis, by classical Gram-Schmidt, twice where round-off counts; then goes on with the column.
  subroutine project(run, total)
    type(krylov_course), intent(inout) :: run
    type(reduction), intent(inout) :: total
    real(dp) :: parts(0:run%column), whole, square
    integer(i4) :: first, count, k, j

    j = run%column
    do k = 0, j
      parts(k) = value(total, k)
    end do
    whole = value(total, j + 1)
    if (run%pass == 0) run%triangle(:,j) = 0.0_dp
    run%triangle(1:j+1,j) = run%triangle(1:j+1,j) + parts
    do first = 0, run%size - 1, piece
      count = 3*min(piece, run%size - first)
      do k = 0, j
        call add(count, -parts(k), run%basis(:,run%size*k+first:), run%product(:,first:))
      end do
    end do
    square = max(whole - sum(parts**2), 0.0_dp)
    run%pass = run%pass + 1
    if (square > kept**2*whole .or. run%pass == 2) then
      call finish_column(run, sqrt(square))
    else
      call offer_dots(run, total, j + 1, run%product)
    end if
  end subroutine project

  !> Applies rotations to the newest column, whose last entry is `length`; goes on with the next direction, or ends the cycle.
  subroutine finish_column(run, length)
    type(krylov_course), intent(inout) :: run
    real(dp), intent(in) :: length
    integer(i4) :: j, room
    logical :: ends

    j = run%column
    room = min(restart, run%most - run%made)
    run%triangle(j+2,j) = length
    call rotate_column(j + 1, run%cosine, run%sine, run%triangle(:,j), run%right)
    run%largest = max(run%largest, abs(run%triangle(j+1,j)))
    ends = .not. abs(run%triangle(j+1,j)) > breakdown*run%largest   ! along reactions that cause no motion
    if (.not. ends) then
      run%used = j + 1
      ends = .not. length > 0.0_dp .or. abs(run%right(j+1)) <= run%target .or. j + 1 == room
    end if
    if (ends) then
      call end_cycle(run, room)
    else
      run%column = j + 1
      call take_direction(run, length)
    end if
  end subroutine finish_column

  !> Adds the directions to dR; then comes the residual, unless the solution ends.
  subroutine end_cycle(run, room)
    type(krylov_course), intent(inout) :: run
    integer(i4), intent(in) :: room
    integer(i4) :: k

    call back_substitute(run%used, size(run%triangle, 1), run%triangle, run%right)
    do k = 0, run%used - 1
      call add(3*run%size, run%right(k), run%direction(:,run%size*k:), run%change)
    end do
    run%made = run%made + run%column + 1
    run%phase = starting
    if (run%made >= run%most .or. run%used < room) run%phase = solved
  end subroutine end_cycle

  !> Computes y = X W x + Y x of listed rows, with the exchange of momenta on the way.
  !>
  !> Rows on bodies that several processes hold come first, and of these the rows on copies: momenta are on the way while the other rows are
  !> multiplied.  If W is stored, these take its blocks and no momenta, since all rows on their bodies are listed.
  subroutine product_with_messages(loc, plan, run, x, y)
    type(local_tables), intent(inout) :: loc
    type(colour_messages), intent(inout) :: plan
    type(krylov_course), intent(inout) :: run
    real(dp), intent(in) :: x(3,run%size)
    real(dp), intent(inout) :: y(3,run%size)
    integer(i4) :: copied, shared

    if (run%coupled /= 0) then
      call product_by_blocks(loc, plan, run, x, y)
      if (plan%waiting /= 0 .or. plan%error /= 0) return
      call apply_operators(run%size, run%operator, x, y)
      run%products = run%products + 1
      return
    end if
    copied = run%copied
    shared = run%shared
    associate (count => run%size, listed => run%listed, operator => run%operator, nrow => size(run%place))
      if (plan%waiting == 0) then
        if (nrow > 0) then
          call clear(loc, listed(0:shared-1))
        else
          loc%triples%momentum(:,0:run%triples-1) = 0.0_dp
        end if
        call spread(loc, shared, listed, x)
        call send_momenta(plan, 0, loc%triples%momentum)
        if (nrow > 0) then
          call multiply_stored(copied + 1, count, listed, nrow, run%place, loc%rows%diagonal, loc%rows%block_ptr, &
                               loc%blocks%column, loc%blocks%block, operator, x, y)
        else
          call spread(loc, count - shared, listed(shared:), x(:,shared+1:))
          call multiply(loc, count - copied, listed(copied:), operator(:,:,:,copied:), x(:,copied+1:), y(:,copied+1:))
        end if
      end if
      call receive_momenta(plan, 0, loc%triples%momentum)
      if (plan%waiting /= 0 .or. plan%error /= 0) return
      call multiply(loc, copied, listed, operator, x, y)
    end associate
    run%products = run%products + 1
  end subroutine product_with_messages

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

  !> Computes the product W x of listed rows that implicit bodies couple, into product.
  !>
  !> Reads diagonal and blocks of rows.  A wait that lasts long ends the call, which then has to be made again.
  !>
  !>   handles, messages, course   as in solve_linear
  !>   x           (3,0:count-1), of no rows one column that is not read
  !>   status      out: table_open, or a handle is void
  subroutine multiply_rows(handles, messages, course, x, status, count)
    integer(i8), intent(in) :: handles(6), messages, course
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: x(3,0:count-1)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(colour_messages) :: plan
    type(krylov_course) :: run

    call open_local(handles, loc, status)
    if (status == table_open) call open_table(messages, plan, status)
    if (status == table_open) call open_table(course, run, status)
    if (status /= table_open) return
    call product_by_blocks(loc, plan, run, x, run%product)
  end subroutine multiply_rows

  !> Computes y = W x of listed rows, by blocks of W, with the exchange of parts of the first `copied` rows, which act on bodies of two processes.
  !>
  !> Of such a row this process has the blocks that its own body makes with rows of this process alone, and complete ones with rows on the same
  !> two bodies; the other process adds those of its own body.
  subroutine product_by_blocks(loc, plan, run, x, y)
    type(local_tables), intent(in) :: loc
    type(colour_messages), intent(inout) :: plan
    type(krylov_course), intent(inout) :: run
    real(dp), intent(in) :: x(3,0:run%size-1)
    real(dp), intent(inout) :: y(3,0:run%size-1)
    integer(i4) :: i

    associate (seams => run%copied, diagonal => loc%rows%diagonal, column => loc%blocks%column, block => loc%blocks%block)
      if (plan%waiting == 0) then
        do i = 0, seams - 1
          run%part(:,i) = 0.0_dp
        end do
        call add_listed(seams, run%own_ptr, run%own, column, block, size(run%place), run%place, x, run%part)
        call send_momenta(plan, 0, run%part)
        call multiply_diagonal(run%size, run%listed, diagonal, x, y)
        call add_listed(seams, run%common_ptr, run%common, column, block, size(run%place), run%place, x, y)
        call add_blocks(run%size - seams, run%listed(seams:), loc%rows%block_ptr, column, block, size(run%place), run%place, x, &
                        y(:,seams:))
      end if
      call receive_momenta(plan, 0, run%part)
      if (plan%waiting /= 0 .or. plan%error /= 0) return
      do i = 0, seams - 1
        y(:,i) = y(:,i) + (run%part(:,i) + run%part(:,seams+i))
      end do
    end associate
  end subroutine product_by_blocks

  !> Computes y = W_aa x of listed rows.
  pure subroutine multiply_diagonal(count, listed, diagonal, x, y)
    integer(i4), intent(in) :: count, listed(count)
    real(dp), intent(in) :: diagonal(3,3,0:*), x(3,count)
    real(dp), intent(inout) :: y(3,count)
    integer(i4) :: i

    do i = 1, count
      y(:,i) = times(diagonal(:,:,listed(i)), x(:,i))
    end do
  end subroutine multiply_diagonal

  !> Adds to y the sums over all blocks of listed rows.
  pure subroutine add_blocks(count, listed, block_ptr, column, block, nrow, place, x, y)
    integer(i4), intent(in) :: count, nrow, listed(count), block_ptr(0:*), column(0:*), place(0:nrow-1)
    real(dp), intent(in) :: block(3,3,0:*), x(3,0:*)
    real(dp), intent(inout) :: y(3,count)
    real(dp) :: v(3)
    integer(i4) :: b, i

    do i = 1, count
      v = y(:,i)
      do b = block_ptr(listed(i)), block_ptr(listed(i)+1) - 1
        v = v + times(block(:,:,b), x(:,place(column(b))))
      end do
      y(:,i) = v
    end do
  end subroutine add_blocks

  !> Adds to y the sums over blocks that are listed for each row, from `ptr` on.
  pure subroutine add_listed(count, ptr, blocks, column, block, nrow, place, x, y)
    integer(i4), intent(in) :: count, nrow, ptr(0:count), blocks(0:*), column(0:*), place(0:nrow-1)
    real(dp), intent(in) :: block(3,3,0:*), x(3,0:*)
    real(dp), intent(inout) :: y(3,0:count-1)
    real(dp) :: v(3)
    integer(i4) :: i, k

    do i = 0, count - 1
      v = y(:,i)
      do k = ptr(i), ptr(i+1) - 1
        v = v + times(block(:,:,blocks(k)), x(:,place(column(blocks(k)))))
      end do
      y(:,i) = v
    end do
  end subroutine add_listed

  !> Product of a block and a vector.
  pure function times(block, x) result(y)
    real(dp), intent(in) :: block(3,3), x(3)
    real(dp) :: y(3)

    y = block(:,1)*x(1) + (block(:,2)*x(2) + block(:,3)*x(3))
  end function times

  !> Computes y = X y + Y x of rows.
  pure subroutine apply_operators(count, operator, x, y)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: operator(3,3,3,count), x(3,count)
    real(dp), intent(inout) :: y(3,count)
    integer(i4) :: i

    do i = 1, count
      y(:,i) = matmul(operator(:,:,1,i), y(:,i)) + matmul(operator(:,:,2,i), x(:,i))
    end do
  end subroutine apply_operators

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
  !>   operator, x, y   X, Y, T^-1 of each row (linearise_rows); (3,0:count-1)
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
