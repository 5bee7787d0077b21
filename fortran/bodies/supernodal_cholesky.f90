!> Numeric Cholesky factors of sparse matrices whose pattern is known, panel by panel (theory, "Time integration").
!>
!> Left-looking (Ng and Peyton 1993): what a panel gets from the panels on its left are products of dense matrices.
!>
!> A panel of w columns begins with their own rows, w x w numbers, the factor's part as it is and, above the diagonal, mirrored; and goes
!> on, at a multiple of eight, with tiles (8,w) of the rows below, zeros where these end.  So kernels read a factor from one end to
!> the other.
module supernodal_cholesky
  use kinds, only: dp, i4, i8
  use panel_products, only: multiply_tiles, padded
  implicit none
  private
  public :: factorise

contains

  !> L with A(order(i),order(j)) = (L L^T)(i,j).
  !>
  !>   source      (0:nentry-1) entries of A as they follow in panels
  !>   target      (0:nentry-1) their places there, ascending
  !>   entry       (0:nentry-1) entries of A
  !>   first       (0:npanel-1) first columns of panels, n at last
  !>   row_ptr     (0:npanel-1), row (0:nrow-1): rows below the columns of panels, ascending
  !>   head        (0:npanel-1) where panels begin in value (0:nvalue-1), out
  !>   owner       (0:n-1) panels of columns
  !>   work        (0:nwork-1) room for as many columns as a panel has, padded, of as many tiles
  !>   place       (0:n-1), waiting, next, reached (0:npanel-1) work: places of rows in the present panel; panels that wait to be taken
  !>               into others, the next one that waits for the same, and how many of their rows have been taken into panels
  !>   failed      1: A is not positive definite
  subroutine factorise(nentry, source, target, entry, npanel, first, row_ptr, nrow, row, head, nvalue, value, n, owner, &
                       nwork, work, place, waiting, next, reached, failed)
    integer(i4), intent(in) :: nentry, npanel, nrow, nvalue, n, nwork
    integer(i4), intent(in) :: source(0:nentry-1), target(0:nentry-1), first(0:npanel-1), row_ptr(0:npanel-1), row(0:nrow-1)
    integer(i4), intent(in) :: head(0:npanel-1), owner(0:n-1)
    real(dp), intent(in) :: entry(0:nentry-1)
    real(dp), intent(inout) :: value(0:nvalue-1), work(0:nwork-1)
    integer(i4), intent(inout) :: place(0:n-1), waiting(0:npanel-1), next(0:npanel-1), reached(0:npanel-1)
    integer(i4), intent(out) :: failed
    integer(i4) :: s, t, following, columns, below, tile, i, taken

    failed = 0
    waiting = -1
    taken = 0
    do s = 0, npanel - 2
      columns = first(s+1) - first(s)
      below = row_ptr(s+1) - row_ptr(s)
      tile = tiles_of(s)
      value(head(s):head(s+1)-1) = 0
      do while (taken < nentry)
        if (target(taken) >= head(s+1)) exit
        value(target(taken)) = entry(source(taken))
        taken = taken + 1
      end do
      do i = 0, columns - 1
        place(first(s)+i) = head(s) + i
      end do
      do i = 0, below - 1
        place(row(row_ptr(s)+i)) = tile + 8*columns*(i/8) + mod(i, 8)
      end do
      t = waiting(s)
      do while (t >= 0)
        following = next(t)
        call take(t)
        t = following
      end do
      call factorise_diagonal(columns, value(head(s)), failed)
      if (failed /= 0) return
      if (below > 0) then
        call factorise_rows(columns, (below + 7)/8, value(head(s)), value(tile))
        reached(s) = 0
        call wait(s)
      end if
    end do

  contains

    !> Where the tiles of a panel begin.
    pure integer(i4) function tiles_of(t)
      integer(i4), intent(in) :: t

      tiles_of = head(t) + 8*(((first(t+1) - first(t))**2 + 7)/8)
    end function tiles_of

    !> Takes away what a panel on the left leaves in the present one.
    subroutine take(t)
      integer(i4), intent(in) :: t
      integer(i4) :: wide, rows, begin, before, count, tiles

      wide = first(t+1) - first(t)
      begin = row_ptr(t) + reached(t)
      rows = row_ptr(t+1) - begin
      count = 1
      do while (count < rows)
        if (row(begin+count) >= first(s+1)) exit
        count = count + 1
      end do
      before = mod(reached(t), 8)
      tiles = (before + rows + 7)/8
      call multiply_tiles(tiles, wide, value(tiles_of(t)+wide*(reached(t)-before)), before, count, work)
      call subtract(tiles, padded(count), before, rows, count, row(begin:begin+rows-1), work)
      reached(t) = reached(t) + count
      if (count < rows) call wait(t)
    end subroutine take

    !> Takes products away from the present panel; the first `count` of `rows` rows, after those before, are among its columns.
    subroutine subtract(tiles, wide, before, rows, count, row, product)
      integer(i4), intent(in) :: tiles, wide, before, rows, count, row(0:rows-1)
      real(dp), intent(in) :: product(0:7,0:wide-1,0:tiles-1)
      integer(i4) :: i, j, l, stride(0:7), from, to
      integer(i8) :: at(0:7), column

      do i = 0, tiles - 1
        from = max(0, before - 8*i)
        to = min(7, before + rows - 8*i - 1)
        do l = from, to
          at(l) = place(row(8*i+l-before))
          stride(l) = merge(columns, 8, 8*i + l - before < count)
        end do
        if (from == 0 .and. to == 7 .and. 8*i - before >= count) then
          do j = 0, count - 1
            column = 8*(row(j) - first(s))
            do l = 0, 7
              value(at(l)+column) = value(at(l)+column) - product(l,j,i)
            end do
          end do
        else
          do j = 0, count - 1
            column = row(j) - first(s)
            do l = from, to
              value(at(l)+stride(l)*column) = value(at(l)+stride(l)*column) - product(l,j,i)
            end do
          end do
        end if
      end do
    end subroutine subtract

    !> Lets a panel wait for that of its next row.
    subroutine wait(t)
      integer(i4), intent(in) :: t
      integer(i4) :: by

      by = owner(row(row_ptr(t)+reached(t)))
      next(t) = waiting(by)
      waiting(by) = t
    end subroutine wait
  end subroutine factorise

  !> The Cholesky factor L of a dense matrix, of which the lower triangle is taken, and its mirror image.
  pure subroutine factorise_diagonal(columns, x, failed)
    integer(i4), intent(in) :: columns
    real(dp), intent(inout) :: x(0:columns-1,0:columns-1)
    integer(i4), intent(inout) :: failed
    integer(i4) :: i, j, k
    real(dp) :: pivot

    do j = 0, columns - 1
      do k = 0, j - 1
        do i = j, columns - 1
          x(i,j) = x(i,j) - x(j,k)*x(i,k)
        end do
      end do
      pivot = x(j,j)
      failed = 1
      if (pivot /= pivot) return                ! NaN, which may not be compared otherwise where exceptions are caught
      if (pivot <= 0 .or. pivot > huge(pivot)) return
      failed = 0
      pivot = sqrt(pivot)
      x(j,j) = pivot
      do i = j + 1, columns - 1
        x(i,j) = x(i,j)/pivot
        x(j,i) = x(i,j)
      end do
    end do
  end subroutine factorise_diagonal

  !> The rows below, x with x L^T = what is there, L of the diagonal and its mirror image.
  pure subroutine factorise_rows(columns, tiles, l, x)
    integer(i4), intent(in) :: columns, tiles
    real(dp), intent(in) :: l(columns,columns)
    real(dp), intent(inout) :: x(8,columns,tiles)
    real(dp), dimension(8) :: s1, s2, s3, s4
    integer(i4) :: i, j, k

    do i = 1, tiles - 3, 4
      do j = 1, columns
        s1 = x(:,j,i)
        s2 = x(:,j,i+1)
        s3 = x(:,j,i+2)
        s4 = x(:,j,i+3)
        do k = 1, j - 1
          s1 = s1 - l(k,j)*x(:,k,i)
          s2 = s2 - l(k,j)*x(:,k,i+1)
          s3 = s3 - l(k,j)*x(:,k,i+2)
          s4 = s4 - l(k,j)*x(:,k,i+3)
        end do
        x(:,j,i) = s1/l(j,j)
        x(:,j,i+1) = s2/l(j,j)
        x(:,j,i+2) = s3/l(j,j)
        x(:,j,i+3) = s4/l(j,j)
      end do
    end do
    do i = i, tiles
      do j = 1, columns
        s1 = x(:,j,i)
        do k = 1, j - 1
          s1 = s1 - l(k,j)*x(:,k,i)
        end do
        x(:,j,i) = s1/l(j,j)
      end do
    end do
  end subroutine factorise_rows
end module supernodal_cholesky
