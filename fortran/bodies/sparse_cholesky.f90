!> Numeric Cholesky factors of sparse matrices whose pattern is known (theory, "Time integration").
!>
!> For the many small bodies of a model: large ones go to a library, whose dense kernels are worth their calls there.
module sparse_cholesky
  use kinds, only: dp, i4
  implicit none
  private
  public :: factorise

contains

  !> L with A(order(i),order(j)) = (L L^T)(i,j), column by column, from the columns on its left.
  !>
  !>   source     (0:nvalue-1) where the entries of L begin as entries of A; -1: as zero
  !>   entry      (0:nentry-1) entries of A
  !>   head, row, super, value   as in factor_columns.solve_columns; value out
  !>   work       (0:n-1) the present column
  !>   waiting    (0:n-1), next, reached (0:npart-1) work: supernodes that have not been taken into a column yet, the next one of
  !>              these, and how many of their rows they have been taken into
  !>   failed     1: A is not positive definite
  subroutine factorise(nvalue, source, nentry, entry, nhead, head, row, value, npart, super, n, work, waiting, next, &
                       reached, failed)
    integer(i4), intent(in) :: nvalue, nentry, nhead, npart, n
    integer(i4), intent(in) :: source(0:nvalue-1), head(0:nhead-1), row(0:nvalue-1), super(0:npart-1)
    real(dp), intent(in) :: entry(0:nentry-1)
    real(dp), intent(inout) :: value(0:nvalue-1), work(0:n-1)
    integer(i4), intent(inout) :: waiting(0:n-1), next(0:npart-1), reached(0:npart-1)
    integer(i4), intent(out) :: failed
    integer(i4) :: s, following
    integer :: a, b, below, c, first, k, p, start, t
    real(dp) :: l, m, pivot

    failed = 0
    waiting = -1
    reached = 0
    do k = 0, npart - 2
      a = super(k)
      b = super(k+1) - 1
      do t = a, b
        do p = head(t), head(t+1) - 1
          work(row(p)) = 0
          if (source(p) >= 0) work(row(p)) = entry(source(p))
        end do
        s = waiting(t)
        do while (s >= 0)                       ! what supernodes on the left, with t among their rows, take away
          following = next(s)
          start = head(super(s+1)-1) + 1
          below = head(super(s+1)) - start - reached(s)
          first = reached(s)
          c = super(s)
          do while (c + 1 < super(s+1))
            l = value(place(c, first))
            m = value(place(c+1, first))
            call take_two(below, row(start+first:), value(place(c, first):), value(place(c+1, first):), l, m, n, work)
            c = c + 2
          end do
          if (c < super(s+1)) then
            l = value(place(c, first))
            call take_one(below, row(start+first:), value(place(c, first):), l, n, work)
          end if
          call wait_for_next(s)
          s = following
        end do
        do c = a, t - 1                         ! columns of its own supernode
          l = value(head(c)+t-c)
          call take_one(int(head(c+1)) - (head(c) + t - c), row(head(c)+t-c:), value(head(c)+t-c:), l, n, work)
        end do
        pivot = work(t)
        if (.not. (pivot > 0 .and. pivot <= huge(pivot))) then
          failed = 1
          return
        end if
        pivot = sqrt(pivot)
        value(head(t)) = pivot
        do p = head(t) + 1, head(t+1) - 1
          value(p) = work(row(p))/pivot
        end do
      end do
      reached(k) = -1
      call wait_for_next(int(k, i4))
    end do

  contains

    !> Where entry number i below the supernode s is in its column c.
    pure integer function place(c, i)
      integer, intent(in) :: c, i

      place = head(c) + super(s+1) - c + i
    end function place

    !> Lets a supernode wait for the column of its next row.
    subroutine wait_for_next(s)
      integer(i4), intent(in) :: s
      integer :: at

      reached(s) = reached(s) + 1
      at = head(super(s+1)-1) + 1 + reached(s)
      if (at >= head(super(s+1))) return
      next(s) = waiting(row(at))
      waiting(row(at)) = s
    end subroutine wait_for_next
  end subroutine factorise

  !> work = work - l x at some rows.
  pure subroutine take_one(count, rows, x, l, n, work)
    integer, intent(in) :: count
    integer(i4), intent(in) :: n, rows(0:*)
    real(dp), intent(in) :: x(0:*), l
    real(dp), intent(inout) :: work(0:n-1)
    integer :: r

    !$omp simd
    do r = 0, count - 1
      work(rows(r)) = work(rows(r)) - l*x(r)
    end do
  end subroutine take_one

  !> work = work - l x - m y at some rows.
  pure subroutine take_two(count, rows, x, y, l, m, n, work)
    integer, intent(in) :: count
    integer(i4), intent(in) :: n, rows(0:*)
    real(dp), intent(in) :: x(0:*), y(0:*), l, m
    real(dp), intent(inout) :: work(0:n-1)
    integer :: r

    !$omp simd
    do r = 0, count - 1
      work(rows(r)) = work(rows(r)) - l*x(r) - m*y(r)
    end do
  end subroutine take_two
end module sparse_cholesky
