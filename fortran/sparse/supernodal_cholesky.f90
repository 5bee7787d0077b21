!> Numeric Cholesky factors of sparse matrices whose pattern is known, panel by panel (docs/theory.md, Time integration).
!>
!> Left-looking (Ng and Peyton 1993): contributions of panels on the left are products of dense matrices.  Trees of panels, such as
!> those of separate bodies, share no columns, so threads factorise them side by side.
!>
!> A panel of w columns begins with its diagonal block, w x w numbers: the factor, with reciprocals on its diagonal, since divisions
!> take long, and above the diagonal its mirror image.  It continues, at a multiple of eight, with tiles (8,w) of the rows below,
!> padded with zeros.  So kernels read a factor sequentially.
module supernodal_cholesky
  use kinds, only: dp, i4, i8
  use state_tables, only: cholesky, open_table
  use table_registry, only: table_open
  use panel_products, only: multiply_tiles, padded
  use thread_work, only: pays
  implicit none
  private
  public :: factorise

contains

  !> Computes L with A(order(i),order(j)) = (L L^T)(i,j).
  !>
  !> Reads all columns of the factor but order and y; writes value, and place, waiting, next and reached, which are work space.
  !>
  !>   handle      Cholesky
  !>   entry       (0:nentry-1) entries of A
  !>   failed      1: A is not positive definite
  !>   status      `table_unknown`: the handle is not that of such a table
  subroutine factorise(handle, entry, failed, status, nentry)
    integer(i8), intent(in) :: handle
    integer(i4), intent(in) :: nentry
    real(dp), intent(in) :: entry(0:nentry-1)
    integer(i4), intent(out) :: failed, status
    type(cholesky) :: factor
    integer(i4) :: t

    failed = 0
    call open_table(handle, factor, status)
    if (status /= table_open) return
    !$omp parallel do schedule(static) reduction(max: failed) if(size(factor%tree) > 2 .and. pays(size(factor%value), 4))
    do t = 0, size(factor%tree) - 2
      call factorise_tree(factor, factor%tree(t), factor%tree(t+1) - 1, nentry, entry, failed)
    end do
    !$omp end parallel do
  end subroutine factorise

  !> Factorises the panels `from` to `to`, a tree.
  subroutine factorise_tree(factor, from, to, nentry, entry, failed)
    type(cholesky), intent(in) :: factor
    integer(i4), intent(in) :: from, to, nentry
    real(dp), intent(in) :: entry(0:nentry-1)
    integer(i4), intent(inout) :: failed
    real(dp) :: product(largest_product(factor, from, to))
    integer(i4) :: s, t, following, columns, below, unfit

    factor%waiting(from:to) = -1
    unfit = 0
    do s = from, to
      columns = factor%first(s+1) - factor%first(s)
      below = factor%row_ptr(s+1) - factor%row_ptr(s)
      call place_panel(factor, s, nentry, entry)
      t = factor%waiting(s)
      do while (t >= 0)
        following = factor%next(t)
        call take(factor, s, t, product)
        t = following
      end do
      call factorise_diagonal(columns, factor%value(factor%head(s):), unfit)
      failed = max(failed, unfit)
      if (failed /= 0) return
      if (below > 0) then
        call factorise_rows(columns, (below + 7)/8, factor%value(factor%head(s):), factor%value(tiles_of(factor, s):))
        factor%reached(s) = 0
        call wait(factor, s)
      end if
    end do
  end subroutine factorise_tree

  !> Start of the tiles of panel `t`.
  pure integer(i4) function tiles_of(factor, t)
    type(cholesky), intent(in) :: factor
    integer(i4), intent(in) :: t

    tiles_of = factor%head(t) + 8*(((factor%first(t+1) - factor%first(t))**2 + 7)/8)
  end function tiles_of

  !> Numbers of the largest product of panels in the tree from `from` to `to`.
  pure integer(i4) function largest_product(factor, from, to)
    type(cholesky), intent(in) :: factor
    integer(i4), intent(in) :: from, to
    integer(i4) :: s, rows, columns

    rows = 0
    columns = 0
    do s = from, to
      rows = max(rows, factor%row_ptr(s+1) - factor%row_ptr(s))
      columns = max(columns, factor%first(s+1) - factor%first(s))
    end do
    largest_product = 8*((rows + 7)/8 + 1)*padded(columns)   ! products may begin within a tile
  end function largest_product

  !> Fills panel `s` with the entries of A, and notes where the numbers of each of its rows start.
  subroutine place_panel(factor, s, nentry, entry)
    type(cholesky), intent(in) :: factor
    integer(i4), intent(in) :: s, nentry
    real(dp), intent(in) :: entry(0:nentry-1)
    integer(i4) :: columns, tile, i

    columns = factor%first(s+1) - factor%first(s)
    tile = tiles_of(factor, s)
    factor%value(factor%head(s):factor%head(s+1)-1) = 0
    do i = factor%source_ptr(s), factor%source_ptr(s+1) - 1
      factor%value(factor%target(i)) = entry(factor%source(i))
    end do
    do i = 0, columns - 1
      factor%place(factor%first(s)+i) = factor%head(s) + i
    end do
    do i = 0, factor%row_ptr(s+1) - factor%row_ptr(s) - 1
      factor%place(factor%row(factor%row_ptr(s)+i)) = tile + 8*columns*(i/8) + mod(i, 8)
    end do
  end subroutine place_panel

  !> Subtracts the contribution of panel `t`, on the left, from panel `s`.
  subroutine take(factor, s, t, product)
    type(cholesky), intent(in) :: factor
    integer(i4), intent(in) :: s, t
    real(dp), intent(inout) :: product(:)    !< work space
    integer(i4) :: wide, rows, begin, before, count, tiles

    wide = factor%first(t+1) - factor%first(t)
    begin = factor%row_ptr(t) + factor%reached(t)
    rows = factor%row_ptr(t+1) - begin
    count = 1
    do while (count < rows)
      if (factor%row(begin+count) >= factor%first(s+1)) exit
      count = count + 1
    end do
    before = mod(factor%reached(t), 8)
    tiles = (before + rows + 7)/8
    call multiply_tiles(tiles, wide, factor%value(tiles_of(factor, t)+wide*(factor%reached(t)-before):), before, count, &
                        product)
    call subtract(tiles, padded(count), before, rows, count, factor%row(begin:begin+rows-1), product, factor%first(s), &
                  factor%first(s+1) - factor%first(s), factor%place, factor%value)
    factor%reached(t) = factor%reached(t) + count
    if (count < rows) call wait(factor, t)
  end subroutine take

  !> Subtracts products from a panel of `columns` columns from `first` on; the first `count` of `rows` rows, after `before` earlier
  !> ones, are among its columns.
  subroutine subtract(tiles, wide, before, rows, count, row, product, first, columns, place, value)
    integer(i4), intent(in) :: tiles, wide, before, rows, count, row(0:rows-1)
    real(dp), intent(in) :: product(0:7,0:wide-1,0:tiles-1)
    integer(i4), intent(in) :: first, columns
    integer(i4), intent(in), contiguous :: place(0:)
    real(dp), intent(inout), contiguous :: value(0:)
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
          column = 8*(row(j) - first)
          do l = 0, 7
            value(at(l)+column) = value(at(l)+column) - product(l,j,i)
          end do
        end do
      else
        do j = 0, count - 1
          column = row(j) - first
          do l = from, to
            value(at(l)+stride(l)*column) = value(at(l)+stride(l)*column) - product(l,j,i)
          end do
        end do
      end if
    end do
  end subroutine subtract

  !> Puts panel `t` on the waiting list of the panel that has its next row.
  subroutine wait(factor, t)
    type(cholesky), intent(in) :: factor
    integer(i4), intent(in) :: t
    integer(i4) :: by

    by = factor%owner(factor%row(factor%row_ptr(t)+factor%reached(t)))
    factor%next(t) = factor%waiting(by)
    factor%waiting(by) = t
  end subroutine wait

  !> Computes the Cholesky factor L of a dense matrix from its lower triangle, mirrors it, and inverts its diagonal.
  pure subroutine factorise_diagonal(columns, x, failed)
    integer(i4), intent(in) :: columns
    real(dp), intent(inout) :: x(0:columns-1,0:columns-1)
    integer(i4), intent(inout) :: failed
    integer(i4) :: begin, i, j, k
    real(dp) :: pivot

    do begin = 0, columns - 1, 4
      call subtract_left(columns, begin, min(4, columns - begin), x)
      do j = begin, min(begin + 3, columns - 1)
        do k = begin, j - 1
          do i = j, columns - 1
            x(i,j) = x(i,j) - x(j,k)*x(i,k)
          end do
        end do
        pivot = x(j,j)
        failed = 1
        if (pivot /= pivot) return              ! NaN; other comparisons would signal where exceptions are caught
        if (pivot <= 0 .or. pivot > huge(pivot)) return
        failed = 0
        pivot = 1/sqrt(pivot)
        x(j,j) = pivot
        do i = j + 1, columns - 1
          x(i,j) = x(i,j)*pivot
        end do
      end do
    end do
    do j = 0, columns - 1
      do i = j + 1, columns - 1
        x(j,i) = x(i,j)
      end do
    end do
  end subroutine factorise_diagonal

  !> Subtracts the contribution of the columns before `begin` from `count` columns, at most four, from `begin` on.
  !>
  !> Eight rows at a time, counted from the last one: the first eight may have rows above the diagonal, where nothing is known yet.
  pure subroutine subtract_left(columns, begin, count, x)
    integer(i4), intent(in) :: columns, begin, count
    real(dp), intent(inout) :: x(0:columns-1,0:columns-1)
    real(dp), dimension(8) :: s1, s2, s3, s4
    integer(i4) :: i, j, k, top

    top = columns - 8*((columns - begin + 7)/8)
    if (count == 4 .and. top >= 0) then
      j = begin
      do i = top, columns - 8, 8
        s1 = x(i:i+7,j)
        s2 = x(i:i+7,j+1)
        s3 = x(i:i+7,j+2)
        s4 = x(i:i+7,j+3)
        do k = 0, begin - 1
          s1 = s1 - x(j,k)*x(i:i+7,k)
          s2 = s2 - x(j+1,k)*x(i:i+7,k)
          s3 = s3 - x(j+2,k)*x(i:i+7,k)
          s4 = s4 - x(j+3,k)*x(i:i+7,k)
        end do
        x(i:i+7,j) = s1
        x(i:i+7,j+1) = s2
        x(i:i+7,j+2) = s3
        x(i:i+7,j+3) = s4
      end do
    else
      do j = begin, begin + count - 1
        do k = 0, begin - 1
          do i = j, columns - 1
            x(i,j) = x(i,j) - x(j,k)*x(i,k)
          end do
        end do
      end do
    end if
  end subroutine subtract_left

  !> Solves x L^T = a for the rows a below, with L of the diagonal block.
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
        x(:,j,i) = s1*l(j,j)
        x(:,j,i+1) = s2*l(j,j)
        x(:,j,i+2) = s3*l(j,j)
        x(:,j,i+3) = s4*l(j,j)
      end do
    end do
    do i = i, tiles
      do j = 1, columns
        s1 = x(:,j,i)
        do k = 1, j - 1
          s1 = s1 - l(k,j)*x(:,k,i)
        end do
        x(:,j,i) = s1*l(j,j)
      end do
    end do
  end subroutine factorise_rows
end module supernodal_cholesky
