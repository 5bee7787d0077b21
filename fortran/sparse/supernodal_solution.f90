!> Solutions with a sparse Cholesky factor of panels: for one right-hand side, and for many at once, columns of A^-1 H^T
!> (docs/theory.md, Time integration).
!>
!> One right-hand side costs reading the factor twice.  Many right-hand sides are solved sixteen at a time, so that each entry
!> is read once for all of them.
module supernodal_solution
  use kinds, only: dp, i4, i8
  use state_tables, only: cholesky, open_table
  use table_registry, only: table_open
  use panel_products, only: most_columns
  use thread_work, only: pays
  implicit none
  private
  public :: solve_columns, solve_vector

  integer, parameter :: lanes = 16              !< right-hand sides solved together
  integer, parameter :: many = 64               !< trees from which each is the work of one thread

contains

  !> Computes solved (0:n-1) := A^-1 right, where A(order(i),order(j)) = (L L^T)(i,j).
  !>
  !> Reads panels and order of the factor, writes y.
  !>
  !>   handle  Cholesky
  !>   status  `table_unknown`: the handle is not that of such a table
  subroutine solve_vector(handle, right, solved, status, n)
    integer(i8), intent(in) :: handle
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: right(0:n-1)
    real(dp), intent(inout) :: solved(0:n-1)
    integer(i4), intent(out) :: status
    type(cholesky) :: factor
    integer(i4) :: t

    call open_table(handle, factor, status)
    if (status /= table_open) return
    !$omp parallel do schedule(static) if(size(factor%tree) > 2 .and. pays(size(factor%value), 1))
    do t = 0, size(factor%tree) - 2
      call solve_tree(factor, factor%tree(t), factor%tree(t+1) - 1, n, right, solved)
    end do
    !$omp end parallel do
  end subroutine solve_vector

  !> Solves for the columns of the panels `from` to `to`, a tree.
  subroutine solve_tree(factor, from, to, n, right, solved)
    type(cholesky), intent(in) :: factor
    integer(i4), intent(in) :: from, to, n
    real(dp), intent(in) :: right(0:n-1)
    real(dp), intent(inout) :: solved(0:n-1)
    integer(i4) :: s, i, columns, below, tile

    associate (first => factor%first, row_ptr => factor%row_ptr, row => factor%row, head => factor%head, value => factor%value, &
               order => factor%order, y => factor%y)
      do i = first(from), first(to+1) - 1
        y(i) = right(order(i))
      end do
      do s = from, to
        columns = first(s+1) - first(s)
        below = row_ptr(s+1) - row_ptr(s)
        tile = tiles_of(head(s), columns)
        call forward_diagonal(columns, value(head(s):), y(first(s):))
        if (below > 0) call forward(columns, below, value(tile:), row(row_ptr(s):), y(first(s):), n, y)
      end do
      do s = to, from, -1
        columns = first(s+1) - first(s)
        below = row_ptr(s+1) - row_ptr(s)
        tile = tiles_of(head(s), columns)
        if (below > 0) call backward(columns, below, value(tile:), row(row_ptr(s):), first(s), n, y)
        call backward_diagonal(columns, value(head(s):), y(first(s):))
      end do
      do i = first(from), first(to+1) - 1
        solved(order(i)) = y(i)
      end do
    end associate
  end subroutine solve_tree

  !> Start of the tiles of a panel.
  pure integer(i4) function tiles_of(head, columns)
    integer(i4), intent(in) :: head, columns

    tiles_of = head + 8*((columns**2 + 7)/8)
  end function tiles_of

  !> Computes x := L^-1 x.
  pure subroutine forward_diagonal(columns, l, x)
    integer(i4), intent(in) :: columns
    real(dp), intent(in) :: l(columns,columns)
    real(dp), intent(inout) :: x(columns)
    integer(i4) :: i, j

    do j = 1, columns
      x(j) = x(j)*l(j,j)
      do i = j + 1, columns
        x(i) = x(i) - l(i,j)*x(j)
      end do
    end do
  end subroutine forward_diagonal

  !> Computes x := L^-T x, with L mirrored above the diagonal.
  pure subroutine backward_diagonal(columns, l, x)
    integer(i4), intent(in) :: columns
    real(dp), intent(in) :: l(columns,columns)
    real(dp), intent(inout) :: x(columns)
    integer(i4) :: i, j

    do j = columns, 1, -1
      x(j) = x(j)*l(j,j)
      do i = 1, j - 1
        x(i) = x(i) - l(i,j)*x(j)
      end do
    end do
  end subroutine backward_diagonal

  !> Computes y(row) := y(row) - L21 x for one panel.
  pure subroutine forward(columns, below, panel, row, x, n, y)
    integer(i4), intent(in) :: columns, below, n
    integer(i4), intent(in) :: row(0:below-1)
    real(dp), intent(in) :: panel(8,columns,0:(below+7)/8-1), x(columns)
    real(dp), intent(inout) :: y(0:n-1)
    real(dp) :: s(8), t(8)
    integer(i4) :: i, j, l

    do i = 0, (below + 7)/8 - 1
      s = 0
      t = 0
      do j = 1, columns - 1, 2
        s = s + panel(:,j,i)*x(j)
        t = t + panel(:,j+1,i)*x(j+1)
      end do
      if (mod(columns, 2) == 1) s = s + panel(:,columns,i)*x(columns)
      s = s + t
      do l = 1, min(8, below - 8*i)
        y(row(8*i+l-1)) = y(row(8*i+l-1)) - s(l)
      end do
    end do
  end subroutine forward

  !> Computes y(first:) := y(first:) - L21^T y(row) for one panel.
  pure subroutine backward(columns, below, panel, row, first, n, y)
    integer(i4), intent(in) :: columns, below, first, n
    integer(i4), intent(in) :: row(0:below-1)
    real(dp), intent(in) :: panel(8,columns,0:(below+7)/8-1)
    real(dp), intent(inout) :: y(0:n-1)
    real(dp) :: s(8,most_columns), x(8)
    integer(i4) :: i, j, l

    s(:,1:columns) = 0
    do i = 0, (below + 7)/8 - 1
      x = 0
      do l = 1, min(8, below - 8*i)
        x(l) = y(row(8*i+l-1))
      end do
      do j = 1, columns
        s(:,j) = s(:,j) + panel(:,j,i)*x
      end do
    end do
    do j = 1, columns
      y(first+j-1) = y(first+j-1) - ((s(1,j) + s(5,j)) + (s(2,j) + s(6,j)) + ((s(3,j) + s(7,j)) + (s(4,j) + s(8,j))))
    end do
  end subroutine backward

  !> Replaces the first `used` columns of columns (0:n-1,0:m-1) by A^-1 times them.
  !>
  !> Reads panels and order of the factor.
  !>
  !>   handle  Cholesky
  !>   status  `table_unknown`: the handle is not that of such a table
  subroutine solve_columns(handle, used, columns, status, n, m)
    integer(i8), intent(in) :: handle
    integer(i4), intent(in) :: used, n, m
    real(dp), intent(inout) :: columns(0:n-1,0:m-1)
    integer(i4), intent(out) :: status
    type(cholesky) :: factor
    integer(i4) :: t, g, groups, trees

    call open_table(handle, factor, status)
    if (status /= table_open) return
    groups = (used + lanes - 1)/lanes
    trees = size(factor%tree) - 1
    ! Groups inside, so that the panels of a tree stay in the cache.  Bodies with more rows have more columns, so threads take
    ! trees one by one; few trees are shared by groups
    !$omp parallel do collapse(2) schedule(dynamic, merge(max(groups, 1), 1, trees > many)) if(pays(size(factor%value), 2*groups))
    do t = 0, trees - 1
      do g = 0, groups - 1
        call solve_group(factor, factor%tree(t), factor%tree(t+1) - 1, n, min(lanes, used - lanes*g), columns(0,lanes*g))
      end do
    end do
    !$omp end parallel do
  end subroutine solve_columns

  !> Solves for `m` columns, at most `lanes`, at the panels `from` to `to`, a tree.
  subroutine solve_group(factor, from, to, n, m, columns)
    type(cholesky), intent(in) :: factor
    integer(i4), intent(in) :: from, to, n, m
    real(dp), intent(inout) :: columns(0:n-1,m)
    real(dp) :: y(lanes,factor%first(from):factor%first(to+1)-1)
    integer(i4) :: begin, past, s, below, wide, i, c

    begin = factor%first(from)
    past = factor%first(to+1) - 1
    associate (first => factor%first, row_ptr => factor%row_ptr, row => factor%row, head => factor%head, value => factor%value, &
               order => factor%order)
      do i = begin, past
        do c = 1, m
          y(c,i) = columns(order(i),c)
        end do
        y(m+1:,i) = 0
      end do
      if (all(y == 0)) return  ! the other bodies' columns
      do s = from, to
        if (all(y(:,first(s):first(s+1)-1) == 0)) cycle  ! most rows of right-hand sides are zero
        wide = first(s+1) - first(s)
        below = row_ptr(s+1) - row_ptr(s)
        call forward_lanes(wide, below, value(head(s):), value(tiles_of(head(s), wide):head(s+1)-1), &
                           row(row_ptr(s):row_ptr(s+1)-1), first(s), begin, past, y)
      end do
      do s = to, from, -1
        if (all(y(:,first(s):first(s+1)-1) == 0)) then
          if (all(y(:,row(row_ptr(s):row_ptr(s+1)-1)) == 0)) cycle  ! most of a tree without right-hand sides
        end if
        wide = first(s+1) - first(s)
        below = row_ptr(s+1) - row_ptr(s)
        call backward_lanes(wide, below, value(head(s):), value(tiles_of(head(s), wide):head(s+1)-1), &
                            row(row_ptr(s):row_ptr(s+1)-1), first(s), begin, past, y)
      end do
      do i = begin, past
        do c = 1, m
          columns(order(i),c) = y(c,i)
        end do
      end do
    end associate
  end subroutine solve_group

  !> Computes y := L^-1 y at the columns of a panel from `first` on, and subtracts their contribution from the rows below.
  pure subroutine forward_lanes(wide, below, l, panel, row, first, begin, past, y)
    integer(i4), intent(in) :: wide, below, first, begin, past
    integer(i4), intent(in) :: row(0:below-1)
    real(dp), intent(in) :: l(0:wide-1,0:wide-1), panel(0:7,0:wide-1,0:(below+7)/8-1)
    real(dp), intent(inout) :: y(lanes,begin:past)
    real(dp), dimension(lanes) :: one, two, three, four
    integer :: i, j, k, r

    do k = 0, wide - 2, 2
      one = y(:,first+k)
      two = y(:,first+k+1)
      do j = 0, k - 1
        one = one - l(k,j)*y(:,first+j)
        two = two - l(k+1,j)*y(:,first+j)
      end do
      one = one*l(k,k)
      y(:,first+k) = one
      y(:,first+k+1) = (two - l(k+1,k)*one)*l(k+1,k+1)
    end do
    if (mod(wide, 2) == 1) then
      k = wide - 1
      one = y(:,first+k)
      do j = 0, k - 1
        one = one - l(k,j)*y(:,first+j)
      end do
      y(:,first+k) = one*l(k,k)
    end if
    do r = 0, below - 4, 4
      i = r/8
      k = mod(r, 8)
      one = y(:,row(r))
      two = y(:,row(r+1))
      three = y(:,row(r+2))
      four = y(:,row(r+3))
      do j = 0, wide - 1
        one = one - panel(k,j,i)*y(:,first+j)
        two = two - panel(k+1,j,i)*y(:,first+j)
        three = three - panel(k+2,j,i)*y(:,first+j)
        four = four - panel(k+3,j,i)*y(:,first+j)
      end do
      y(:,row(r)) = one
      y(:,row(r+1)) = two
      y(:,row(r+2)) = three
      y(:,row(r+3)) = four
    end do
    do r = r, below - 1
      one = y(:,row(r))
      do j = 0, wide - 1
        one = one - panel(mod(r,8),j,r/8)*y(:,first+j)
      end do
      y(:,row(r)) = one
    end do
  end subroutine forward_lanes

  !> Computes y := L^-T (y - contribution of the rows below) at the columns of a panel.
  pure subroutine backward_lanes(wide, below, l, panel, row, first, begin, past, y)
    integer(i4), intent(in) :: wide, below, first, begin, past
    integer(i4), intent(in) :: row(0:below-1)
    real(dp), intent(in) :: l(0:wide-1,0:wide-1), panel(0:7,0:wide-1,0:(below+7)/8-1)
    real(dp), intent(inout) :: y(lanes,begin:past)
    real(dp), dimension(lanes) :: one, two, three, x
    integer :: j, k, r

    do k = 0, wide - 3, 3
      one = y(:,first+k)
      two = y(:,first+k+1)
      three = y(:,first+k+2)
      do r = 0, below - 1
        x = y(:,row(r))
        one = one - panel(mod(r,8),k,r/8)*x
        two = two - panel(mod(r,8),k+1,r/8)*x
        three = three - panel(mod(r,8),k+2,r/8)*x
      end do
      y(:,first+k) = one
      y(:,first+k+1) = two
      y(:,first+k+2) = three
    end do
    do k = k, wide - 1
      one = y(:,first+k)
      do r = 0, below - 1
        one = one - panel(mod(r,8),k,r/8)*y(:,row(r))
      end do
      y(:,first+k) = one
    end do
    do k = wide - 1, 0, -1
      one = y(:,first+k)
      do j = k + 1, wide - 1
        one = one - l(j,k)*y(:,first+j)
      end do
      y(:,first+k) = one*l(k,k)
    end do
  end subroutine backward_lanes
end module supernodal_solution
