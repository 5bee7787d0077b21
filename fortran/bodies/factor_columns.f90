!> Solutions with a sparse Cholesky factor: for one right-hand side, and for many at once, columns of A^-1 H^T (theory, "Time
!> integration").
!>
!> Many right-hand sides are taken sixteen at a time, so that every entry of the factor that is read serves them all; columns of the
!> factor with the same rows below them (supernodes) are gone through together.
module factor_columns
  use kinds, only: dp, i4
  implicit none
  private
  public :: solve_columns, solve_vector

  integer, parameter :: lanes = 16              !< right-hand sides that go together

contains

  !> The first `used` columns of columns (0:n-1,0:m-1) := A^-1 columns, where A(order(i),order(j)) = (L L^T)(i,j).
  !>
  !>   head             (0:nhead-1), nhead = n + 1: beginnings of the columns of L in `row` and `value` (0:nvalue-1), diagonals first, rows ascending
  !>   super            (0:npart-1) first columns of the supernodes, n at last
  !>   work             (16,0:n-1,0:nwork-1) room for groups of columns that threads work on, one each
  subroutine solve_columns(used, nhead, head, nvalue, row, value, npart, super, n, order, nwork, work, m, columns)
    integer(i4), intent(in) :: used, nhead, n, nvalue, npart, nwork, m
    integer(i4), intent(in) :: head(0:nhead-1), row(0:nvalue-1), super(0:npart-1), order(0:n-1)
    real(dp), intent(in) :: value(0:nvalue-1)
    real(dp), intent(inout) :: work(16,0:n-1,0:nwork-1), columns(0:n-1,0:m-1)
    integer :: batch, groups, g, place

    groups = (used + lanes - 1)/lanes
    do batch = 0, groups - 1, nwork
      !$omp parallel do schedule(static) private(place)
      do g = batch, min(batch + nwork, groups) - 1
        place = g - batch
        call take(n, order, used, columns, lanes*g, work(:,:,place))
        call forward(n, head, nvalue, row, value, npart - 1, super, work(:,:,place))
        call backward(n, head, nvalue, row, value, npart - 1, super, work(:,:,place))
        call give(n, order, used, columns, lanes*g, work(:,:,place))
      end do
      !$omp end parallel do
    end do
  end subroutine solve_columns

  !> Columns first, first+1, ... in the order of the factor; zeros where there are no more.
  subroutine take(n, order, m, columns, first, y)
    integer(i4), intent(in) :: n, order(0:n-1), m
    integer, intent(in) :: first
    real(dp), intent(in) :: columns(0:n-1,0:m-1)
    real(dp), intent(inout) :: y(lanes,0:n-1)
    integer :: c, i

    do c = 1, lanes
      if (first + c > m) then
        y(c,:) = 0
      else
        do i = 0, n - 1
          y(c,i) = columns(order(i),first+c-1)
        end do
      end if
    end do
  end subroutine take

  !> The counterpart of `take`.
  subroutine give(n, order, m, columns, first, y)
    integer(i4), intent(in) :: n, order(0:n-1), m
    integer, intent(in) :: first
    real(dp), intent(inout) :: columns(0:n-1,0:m-1)
    real(dp), intent(in) :: y(lanes,0:n-1)
    integer :: c, i

    do c = 1, min(lanes, m - first)
      do i = 0, n - 1
        columns(order(i),first+c-1) = y(c,i)
      end do
    end do
  end subroutine give

  !> y := L^-1 y.
  subroutine forward(n, head, nvalue, row, value, nsuper, super, y)
    integer(i4), intent(in) :: n, nvalue, nsuper
    integer(i4), intent(in) :: head(0:n), row(0:nvalue-1), super(0:nsuper)
    real(dp), intent(in) :: value(0:nvalue-1)
    real(dp), intent(inout) :: y(lanes,0:n-1)
    real(dp) :: one(lanes), two(lanes), l, m
    integer :: s, j, k, r, a, b, below, start

    do s = 0, nsuper - 1
      a = super(s)
      b = super(s+1) - 1
      do k = a, b
        one = y(:,k)
        do j = a, k - 1
          one = one - value(head(j)+k-j)*y(:,j)
        end do
        y(:,k) = one/value(head(k))
      end do
      start = head(b) + 1                       ! rows below the supernode, as its last column lists them
      below = head(b+1) - start
      if (any_rows(y, n, a, b)) then
        do r = 0, below - 2, 2
          one = y(:,row(start+r))
          two = y(:,row(start+r+1))
          do j = a, b
            l = value(head(j)+b-j+1+r)
            m = value(head(j)+b-j+2+r)
            one = one - l*y(:,j)
            two = two - m*y(:,j)
          end do
          y(:,row(start+r)) = one
          y(:,row(start+r+1)) = two
        end do
        if (mod(below, 2) == 1) then
          one = y(:,row(start+below-1))
          do j = a, b
            one = one - value(head(j)+b-j+below)*y(:,j)
          end do
          y(:,row(start+below-1)) = one
        end if
      end if
    end do
  end subroutine forward

  !> Whether anything is in rows a to b: right-hand sides are zero but for the elements of their points.
  pure logical function any_rows(y, n, a, b)
    integer(i4), intent(in) :: n
    integer, intent(in) :: a, b
    real(dp), intent(in) :: y(lanes,0:n-1)

    any_rows = any(y(:,a:b) /= 0)
  end function any_rows

  !> y := L^-T y.
  subroutine backward(n, head, nvalue, row, value, nsuper, super, y)
    integer(i4), intent(in) :: n, nvalue, nsuper
    integer(i4), intent(in) :: head(0:n), row(0:nvalue-1), super(0:nsuper)
    real(dp), intent(in) :: value(0:nvalue-1)
    real(dp), intent(inout) :: y(lanes,0:n-1)
    real(dp) :: one(lanes), two(lanes), x(lanes)
    integer :: s, j, k, r, a, b, below, start, first, second

    do s = nsuper - 1, 0, -1
      a = super(s)
      b = super(s+1) - 1
      start = head(b) + 1
      below = head(b+1) - start
      do k = a, b - 1, 2
        one = y(:,k)
        two = y(:,k+1)
        first = head(k) + b - k + 1
        second = head(k+1) + b - k
        do r = 0, below - 1
          x = y(:,row(start+r))
          one = one - value(first+r)*x
          two = two - value(second+r)*x
        end do
        y(:,k) = one
        y(:,k+1) = two
      end do
      if (mod(b - a, 2) == 0) then
        one = y(:,b)
        do r = 0, below - 1
          one = one - value(start+r)*y(:,row(start+r))
        end do
        y(:,b) = one
      end if
      do k = b, a, -1
        one = y(:,k)
        do j = k + 1, b
          one = one - value(head(k)+j-k)*y(:,j)
        end do
        y(:,k) = one/value(head(k))
      end do
    end do
  end subroutine backward

  !> solved (0:n-1) := A^-1 right.
  subroutine solve_vector(nhead, head, nvalue, row, value, npart, super, n, order, work, right, solved)
    integer(i4), intent(in) :: nhead, n, nvalue, npart
    integer(i4), intent(in) :: head(0:nhead-1), row(0:nvalue-1), super(0:npart-1), order(0:n-1)
    real(dp), intent(in) :: value(0:nvalue-1), right(0:n-1)
    real(dp), intent(inout) :: work(0:n-1), solved(0:n-1)
    real(dp) :: y
    integer :: s, j, k, r, a, b, below, start, first

    do k = 0, n - 1
      work(k) = right(order(k))
    end do
    do s = 0, npart - 2
      a = super(s)
      b = super(s+1) - 1
      start = head(b) + 1
      below = head(b+1) - start
      do k = a, b
        y = work(k)/value(head(k))
        work(k) = y
        do j = k + 1, b
          work(j) = work(j) - value(head(k)+j-k)*y
        end do
        first = head(k) + b - k + 1
        !$omp simd
        do r = 0, below - 1
          work(row(start+r)) = work(row(start+r)) - value(first+r)*y
        end do
      end do
    end do
    do s = npart - 2, 0, -1
      a = super(s)
      b = super(s+1) - 1
      start = head(b) + 1
      below = head(b+1) - start
      do k = b, a, -1
        y = work(k)
        do j = k + 1, b
          y = y - value(head(k)+j-k)*work(j)
        end do
        first = head(k) + b - k + 1
        do r = 0, below - 1
          y = y - value(first+r)*work(row(start+r))
        end do
        work(k) = y/value(head(k))
      end do
    end do
    do k = 0, n - 1
      solved(order(k)) = work(k)
    end do
  end subroutine solve_vector
end module factor_columns
