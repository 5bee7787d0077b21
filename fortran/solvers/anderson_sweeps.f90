!> Gauss-Seidel sweeps over one island with Anderson acceleration (Walker and Ni 2011), safeguarded.
!>
!> A sweep maps reactions r to G(r) and changes them by f = G(r) - r.  The accelerated iterate combines the last
!> results G so that the combined f is smallest, and projects them on the cones.  If the next sweep changes reactions
!> more than the last one, the accelerated iterate and the history are dropped.
module anderson_sweeps
  use kinds, only: dp, i4
  use contact_iterations, only: solve3
  use diagonal_block, only: block_size, b_friction, b_rho, exact_block, solve_contact
  use island_problem, only: cone_contact, cone_fixed, cone_normal, project_row, add_row_measure
  use row_sums, only: row_sum
  implicit none
  private
  public :: sweep_island, measure_rows, visit_row

  integer(i4), parameter :: most_columns = 10         !< largest window
  real(dp), parameter :: growth = 2.0_dp              !< of |f|, at which an accelerated iterate is dropped

  !> History of the last sweeps of an island; rows are those of the island.
  type :: history
    integer(i4) :: width                            !< largest number of columns; 0: plain sweeps without history
    integer(i4) :: columns = 0, next = 1            !< number of columns in use, and the column that the next sweep fills
    logical :: accelerated = .false.                !< the iterate is a combination, not the result of a sweep
    real(dp) :: old_change = huge(1.0_dp)           !< |f|^2 of the sweep before, huge: there is none
    real(dp), allocatable :: f(:,:), g(:,:)         !< f and G(r) of the last sweep,
    real(dp), allocatable :: f_old(:,:), g_old(:,:) !< of the one before,
    real(dp), allocatable :: df(:,:,:), dg(:,:,:)   !< and their changes from sweep to sweep
    real(dp) :: gram(most_columns,most_columns) = 0.0_dp  !< products of the columns of df
  end type history

contains

  !> Sweeps an island until the residual is at most `tolerance`, at most `most` times; with `patience` > 0 until sweeps stagnate.
  subroutine sweep_island(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, tolerance, most, &
                          window, patience, r, residual, sweeps)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1), kind(0:*), row_ptr(0:*), column(0:*)
    real(dp), intent(inout) :: block(block_size,0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), q(3,0:*), off_diagonal(3,3,0:*)
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: tolerance          !< of the residual's norm over the island [velocity]
    integer(i4), intent(in) :: most, window    !< window 0: plain sweeps
    integer(i4), intent(in) :: patience        !< sweeps within which the residual must fall tenfold; 0: no such condition
    real(dp), intent(inout) :: r(3,0:*)        !< reactions of all rows; those of the island change
    real(dp), intent(out) :: residual
    integer(i4), intent(out) :: sweeps
    type(history) :: past
    real(dp) :: change, estimate, check_below, mark
    integer(i4) :: last_mark

    call begin_history(n, window, past)
    residual = huge(1.0_dp)
    mark = huge(1.0_dp)
    last_mark = 0
    check_below = 2.0_dp*tolerance
    do sweeps = 1, most
      call sweep_rows(n, rows, kind, diagonal, q, row_ptr, column, off_diagonal, block, r, past, change, estimate)
      if (.not. change <= huge(1.0_dp)) return
      if (estimate <= check_below .or. sweeps == most) then
        call measure_rows(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, r, residual)
        if (residual <= tolerance) return
        check_below = min(0.7_dp*check_below, 0.8_dp*estimate*tolerance/residual)
      end if
      ! stagnation: the change has not fallen tenfold within `patience` sweeps
      if (patience > 0) then
        if (estimate < 0.1_dp*mark) then
          mark = estimate
          last_mark = sweeps
        else if (sweeps - last_mark > patience) then
          call measure_rows(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, r, residual)
          return
        end if
      end if
      if (past%width > 0) call accelerate(n, rows, kind, block, diagonal, change, past, r)
    end do
    sweeps = most
    if (past%accelerated) call take_reactions(n, rows, past%g, r)  ! the residual was measured at the last sweep itself
  end subroutine sweep_island

  subroutine begin_history(n, window, past)
    integer(i4), intent(in) :: n, window
    type(history), intent(inout) :: past
    integer(i4) :: kept

    past%width = min(window, most_columns)
    kept = merge(n, 0, past%width > 0)
    allocate (past%f(3,0:kept-1), past%g(3,0:kept-1), past%f_old(3,0:kept-1), past%g_old(3,0:kept-1))
    allocate (past%df(3,0:kept-1,past%width), past%dg(3,0:kept-1,past%width))
  end subroutine begin_history

  !> Makes one sweep; computes |f|^2 in the norm of `weighted_product`, and an estimate of the velocity |W f| that the change makes.
  subroutine sweep_rows(n, rows, kind, diagonal, q, row_ptr, column, off_diagonal, block, r, past, change, estimate)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1), kind(0:*), row_ptr(0:*), column(0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), q(3,0:*), off_diagonal(3,3,0:*)
    real(dp), intent(inout) :: block(block_size,0:*), r(3,0:*)
    type(history), intent(inout) :: past
    real(dp), intent(out) :: change, estimate
    real(dp) :: b(3), x(3), fresh(3), scale, size, owed
    integer(i4) :: i, a

    change = 0.0_dp
    owed = 0.0_dp
    do i = 0, n - 1
      a = rows(i)
      b = row_sum(row_ptr(a), row_ptr(a+1), column, off_diagonal, r, q(:,a))
      call visit_row(kind(a), diagonal(:,:,a), block(:,a), b, r(:,a), x)
      fresh = x - r(:,a)
      scale = (diagonal(1,1,a) + diagonal(2,2,a) + diagonal(3,3,a))/3.0_dp
      size = fresh(1)**2 + fresh(2)**2 + fresh(3)**2
      change = change + size*scale
      owed = owed + size*scale**2
      if (past%width > 0) then
        past%f(:,i) = fresh
        past%g(:,i) = x
      end if
      r(:,a) = x
    end do
    estimate = sqrt(owed)
  end subroutine sweep_rows

  !> Makes the next iterate from the last columns of changes, or goes back to the last plain iterate.
  subroutine accelerate(n, rows, kind, block, diagonal, change, past, r)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1), kind(0:*)
    real(dp), intent(in) :: block(block_size,0:*), diagonal(3,3,0:*), change
    type(history), intent(inout) :: past
    real(dp), intent(inout) :: r(3,0:*)
    real(dp) :: right(most_columns), gamma(most_columns), x(3)
    integer(i4) :: i, a, j
    logical :: solved

    if (past%accelerated .and. change > growth**2*past%old_change) then
      call forget(past)
      call take_reactions(n, rows, past%g_old, r)
      past%old_change = huge(1.0_dp)
      return
    end if
    if (past%old_change < huge(1.0_dp)) call add_column(n, rows, diagonal, past)
    past%f_old = past%f
    past%g_old = past%g
    past%old_change = change
    if (past%columns == 0) return
    do j = 1, past%columns
      right(j) = weighted_product(n, rows, diagonal, past%df(:,:,j), past%f)
    end do
    call least_squares(past%columns, past%gram, right, gamma, solved)
    if (.not. solved) then
      call forget(past)
      return
    end if
    past%accelerated = .true.
    do i = 0, n - 1
      a = rows(i)
      x = past%g(:,i)
      do j = 1, past%columns
        x = x - gamma(j)*past%dg(:,i,j)
      end do
      r(:,a) = project_row(kind(a), block(b_friction,a), x)
    end do
  end subroutine accelerate

  !> Stores changes of f and G(r) from the previous to the last sweep in the place of the oldest ones.
  subroutine add_column(n, rows, diagonal, past)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1)
    real(dp), intent(in) :: diagonal(3,3,0:*)
    type(history), intent(inout) :: past
    integer(i4) :: j, next

    next = past%next
    past%df(:,:,next) = past%f - past%f_old
    past%dg(:,:,next) = past%g - past%g_old
    past%columns = min(past%columns + 1, past%width)
    do j = 1, past%columns
      past%gram(j,next) = weighted_product(n, rows, diagonal, past%df(:,:,j), past%df(:,:,next))
      past%gram(next,j) = past%gram(j,next)
    end do
    past%next = mod(next, past%width) + 1
  end subroutine add_column

  !> Clears the history, so that the next sweep starts from a plain iterate.
  pure subroutine forget(past)
    type(history), intent(inout) :: past

    past%columns = 0
    past%next = 1
    past%accelerated = .false.
  end subroutine forget

  pure subroutine take_reactions(n, rows, g, r)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1)
    real(dp), intent(in) :: g(3,0:n-1)
    real(dp), intent(inout) :: r(3,0:*)
    integer(i4) :: i

    do i = 0, n - 1
      r(:,rows(i)) = g(:,i)
    end do
  end subroutine take_reactions

  !> Computes the reaction x of one row from b, its velocity without its own reaction; x is `old` if the row cannot be solved.
  subroutine visit_row(kind, w, block, b, old, x)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: w(3,3), b(3), old(3)
    real(dp), intent(inout) :: block(block_size)
    real(dp), intent(out) :: x(3)
    real(dp) :: matrix(3,3)
    integer(i4) :: status
    logical :: solved

    select case (kind)
    case (cone_contact)
      call exact_block(block, b, x, solved)
      if (.not. solved) then
        x = old
        call solve_contact(0, w, block, 1e-10_dp, 100, b, x, status)
      end if
    case (cone_fixed)
      x = -b
      matrix = w
      call solve3(matrix, x, solved)
      if (.not. solved) x = old
    case (cone_normal)
      x = [0.0_dp, 0.0_dp, -b(3)/w(3,3)]
    case default
      x = 0.0_dp
    end select
  end subroutine visit_row

  !> Computes the norm of the residuals of the island's rows (see island_residual).  It is at least the round-off of W r: reactions that are balanced
  !> by others have no limit, and velocities that are sums of huge numbers fulfil conditions by chance.
  subroutine measure_rows(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, r, residual)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1), kind(0:*), row_ptr(0:*), column(0:*)
    real(dp), intent(in) :: block(block_size,0:*), diagonal(3,3,0:*), q(3,0:*), off_diagonal(3,3,0:*), r(3,0:*)
    logical, intent(in) :: unscaled
    real(dp), intent(out) :: residual
    real(dp) :: u(3), total, other, balanced
    integer(i4) :: i, a

    total = 0.0_dp
    other = 0.0_dp
    balanced = 0.0_dp
    do i = 0, n - 1
      a = rows(i)
      balanced = balanced + sum(r(:,a)**2)*(diagonal(1,1,a) + diagonal(2,2,a) + diagonal(3,3,a))**2/9.0_dp
      u = row_sum(row_ptr(a), row_ptr(a+1), column, off_diagonal, r, q(:,a)) &
          + diagonal(:,1,a)*r(1,a) + diagonal(:,2,a)*r(2,a) + diagonal(:,3,a)*r(3,a)
      call add_row_measure(kind(a), block(b_friction,a), block(b_rho,a), u, r(:,a), total, other)
    end do
    if (unscaled) total = max(total, other)
    residual = max(sqrt(total), epsilon(1.0_dp)*sqrt(balanced))
    if (total /= total) residual = total    ! max may hide it
  end subroutine measure_rows

  !> Sum of a.b over rows, weighted by the mean diagonal of W, so that forces on light and heavy bodies count alike.
  pure function weighted_product(n, rows, diagonal, a, b) result(total)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1)
    real(dp), intent(in) :: diagonal(3,3,0:*), a(3,0:n-1), b(3,0:n-1)
    real(dp) :: total
    integer(i4) :: i, k

    total = 0.0_dp
    do i = 0, n - 1
      k = rows(i)
      total = total + (a(1,i)*b(1,i) + a(2,i)*b(2,i) + a(3,i)*b(3,i))*(diagonal(1,1,k) + diagonal(2,2,k) + diagonal(3,3,k))
    end do
  end function weighted_product

  !> Solves (gram + a small multiple of its trace I) x = right by Cholesky factors; `solved` is false if columns depend on each other.
  pure subroutine least_squares(n, gram, right, x, solved)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: gram(most_columns,most_columns), right(most_columns)
    real(dp), intent(out) :: x(most_columns)
    logical, intent(out) :: solved
    real(dp) :: l(most_columns,most_columns), shift
    integer(i4) :: i, j

    l = gram
    shift = 0.0_dp
    do i = 1, n
      shift = max(shift, gram(i,i))
    end do
    solved = .false.
    do j = 1, n
      l(j,j) = l(j,j) + 1e-14_dp*shift - sum(l(j,1:j-1)**2)
      if (.not. l(j,j) > 0.0_dp) return
      l(j,j) = sqrt(l(j,j))
      do i = j + 1, n
        l(i,j) = (l(i,j) - sum(l(i,1:j-1)*l(j,1:j-1)))/l(j,j)
      end do
    end do
    do i = 1, n
      x(i) = (right(i) - sum(l(i,1:i-1)*x(1:i-1)))/l(i,i)
    end do
    do i = n, 1, -1
      x(i) = (x(i) - sum(l(i+1:n,i)*x(i+1:n)))/l(i,i)
    end do
    solved = .true.
  end subroutine least_squares
end module anderson_sweeps
