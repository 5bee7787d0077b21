!> Gauss-Seidel sweeps over one island with Anderson acceleration (Walker and Ni 2011), safeguarded.
!>
!> A sweep is a map G of the reactions; f = G(r) - r is what it changes.  The accelerated iterate is the combination of
!> the last G whose combined f is smallest, projected on the cones.  It is dropped, with the history, when the next
!> sweep changes more than the last one did.
module anderson_sweeps
  use kinds, only: dp, i4
  use contact_iterations, only: solve3
  use diagonal_block, only: block_size, b_friction, b_rho, exact_block, solve_contact
  use island_problem, only: cone_contact, cone_fixed, cone_normal, project_row, row_measure
  implicit none
  private
  public :: sweep_island, measure_rows, row_velocity, visit_row

  integer(i4), parameter :: most_columns = 10         !< largest window
  real(dp), parameter :: growth = 2.0_dp              !< of |f| that drops an accelerated iterate

contains

  !> Sweeps until the residual is at most `tolerance`, or `most` times, or (with `patience` > 0) until sweeps stagnate.
  subroutine sweep_island(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, tolerance, most, &
                          window, patience, r, residual, sweeps)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1), kind(0:*), row_ptr(0:*), column(0:*)
    real(dp), intent(inout) :: block(block_size,0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), q(3,0:*), off_diagonal(3,3,0:*)
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: tolerance          !< of the residual's norm over the island [velocity]
    integer(i4), intent(in) :: most, window    !< window 0: plain sweeps
    integer(i4), intent(in) :: patience        !< sweeps within which the residual must fall tenfold; 0: no matter
    real(dp), intent(inout) :: r(3,0:*)        !< reactions of all rows; those of the island change
    real(dp), intent(out) :: residual
    integer(i4), intent(out) :: sweeps
    real(dp), allocatable :: f(:,:), g(:,:), f_old(:,:), g_old(:,:), df(:,:,:), dg(:,:,:)
    real(dp) :: gram(most_columns,most_columns), right(most_columns), gamma(most_columns)
    real(dp) :: b(3), x(3), fresh(3), scale, size, change, old_change, estimate, owed, check_below, mark
    integer(i4) :: i, a, j, columns, next, width, last_mark
    logical :: solved, accelerated

    width = min(window, most_columns)
    if (width > 0) then
      allocate(f(3,0:n-1), g(3,0:n-1), f_old(3,0:n-1), g_old(3,0:n-1), df(3,0:n-1,width), dg(3,0:n-1,width))
    else
      allocate(f(3,0:0), g(3,0:0), f_old(3,0:0), g_old(3,0:0), df(3,0:0,0:0), dg(3,0:0,0:0))
    end if
    gram = 0.0_dp
    columns = 0
    next = 1
    accelerated = .false.
    old_change = huge(1.0_dp)
    residual = huge(1.0_dp)
    mark = huge(1.0_dp)
    last_mark = 0
    check_below = 2.0_dp*tolerance
    do sweeps = 1, most
      change = 0.0_dp
      owed = 0.0_dp
      do i = 0, n - 1
        a = rows(i)
        b = row_velocity(row_ptr(a), row_ptr(a+1), column, off_diagonal, r, q(:,a))
        call visit_row(kind(a), diagonal(:,:,a), block(:,a), b, r(:,a), x)
        fresh = x - r(:,a)
        scale = (diagonal(1,1,a) + diagonal(2,2,a) + diagonal(3,3,a))/3.0_dp
        size = fresh(1)**2 + fresh(2)**2 + fresh(3)**2
        change = change + size*scale
        owed = owed + size*scale**2
        if (width > 0) then
          f(:,i) = fresh
          g(:,i) = x
        end if
        r(:,a) = x
      end do
      if (.not. change <= huge(1.0_dp)) return
      estimate = sqrt(owed)
      if (estimate <= check_below .or. sweeps == most) then
        call measure_rows(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, r, residual)
        if (residual <= tolerance) return
        check_below = min(0.7_dp*check_below, 0.8_dp*estimate*tolerance/residual)
      end if
      ! stagnation: within the time allowed the change has not fallen tenfold
      if (patience > 0) then
        if (estimate < 0.1_dp*mark) then
          mark = estimate
          last_mark = sweeps
        else if (sweeps - last_mark > patience) then
          call measure_rows(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, r, residual)
          return
        end if
      end if
      if (width == 0) cycle
      call accelerate()
    end do
    sweeps = most
    if (accelerated) then
      ! the residual was measured at the last sweep itself
      do i = 0, n - 1
        r(:,rows(i)) = g(:,i)
      end do
    end if

  contains

    !> The next iterate from the last columns of changes, or back to the last plain one.
    subroutine accelerate()
      if (accelerated .and. change > growth**2*old_change) then
        columns = 0
        next = 1
        accelerated = .false.
        do i = 0, n - 1
          r(:,rows(i)) = g_old(:,i)
        end do
        old_change = huge(1.0_dp)
        return
      end if
      if (old_change < huge(1.0_dp)) then
        df(:,:,next) = f - f_old
        dg(:,:,next) = g - g_old
        columns = min(columns + 1, width)
        do j = 1, columns
          gram(j,next) = weighted_product(n, rows, diagonal, df(:,:,j), df(:,:,next))
          gram(next,j) = gram(j,next)
        end do
        next = mod(next, width) + 1
      end if
      f_old = f
      g_old = g
      old_change = change
      if (columns == 0) return
      do j = 1, columns
        right(j) = weighted_product(n, rows, diagonal, df(:,:,j), f)
      end do
      call least_squares(columns, gram, right, gamma, solved)
      if (.not. solved) then
        columns = 0
        next = 1
        accelerated = .false.
        return
      end if
      accelerated = .true.
      do i = 0, n - 1
        a = rows(i)
        x = g(:,i)
        do j = 1, columns
          x = x - gamma(j)*dg(:,i,j)
        end do
        r(:,a) = project_row(kind(a), block(b_friction,a), x)
      end do
    end subroutine accelerate
  end subroutine sweep_island

  !> Reaction x of one row, b its velocity without its own reaction; `old` stays where nothing is found.
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

  !> Norm of the residuals of the island's rows (see island_residual).
  subroutine measure_rows(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, r, residual)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1), kind(0:*), row_ptr(0:*), column(0:*)
    real(dp), intent(in) :: block(block_size,0:*), diagonal(3,3,0:*), q(3,0:*), off_diagonal(3,3,0:*), r(3,0:*)
    logical, intent(in) :: unscaled
    real(dp), intent(out) :: residual
    real(dp) :: u(3), first, second, total, other
    integer(i4) :: i, a

    total = 0.0_dp
    other = 0.0_dp
    do i = 0, n - 1
      a = rows(i)
      u = row_velocity(row_ptr(a), row_ptr(a+1), column, off_diagonal, r, q(:,a)) &
          + diagonal(:,1,a)*r(1,a) + diagonal(:,2,a)*r(2,a) + diagonal(:,3,a)*r(3,a)
      call row_measure(kind(a), block(b_friction,a), block(b_rho,a), u, r(:,a), first, second)
      total = total + first
      other = other + second
    end do
    if (unscaled) total = max(total, other)
    residual = sqrt(total)
  end subroutine measure_rows

  !> b + sum of W_ab R_b over off-diagonal blocks first .. last-1.
  pure function row_velocity(first, last, column, off_diagonal, r, b) result(u)
    integer(i4), intent(in) :: first, last
    integer(i4), intent(in) :: column(0:*)
    real(dp), intent(in) :: off_diagonal(3,3,0:*), r(3,0:*), b(3)
    real(dp) :: u(3), x1(3), x2(3), x3(3)
    integer(i4) :: k, c

    x1 = b
    x2 = 0.0_dp
    x3 = 0.0_dp
    do k = first, last - 1
      c = column(k)
      x1 = x1 + off_diagonal(:,1,k)*r(1,c)
      x2 = x2 + off_diagonal(:,2,k)*r(2,c)
      x3 = x3 + off_diagonal(:,3,k)*r(3,c)
    end do
    u = x1 + (x2 + x3)
  end function row_velocity

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

  !> (gram + a trace of it) x = right by Cholesky factors; not solved when the columns depend on each other.
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
