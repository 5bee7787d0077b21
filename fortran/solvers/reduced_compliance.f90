!> Contributions to W of finite element bodies that move in a base: h H E A^-1 E^T H^T with small dense A^-1
!> (docs/language-objects.md, BODY; docs/theory.md, Local dynamics).
!>
!> Rows attached to bodies, and entries, are as local_dynamics.assemble_rows leaves them, H itself.
module reduced_compliance
  use kinds, only: dp, i4, i8
  use ordered_lists, only: first_not_below
  use row_order, only: end_of
  use row_tables, only: local_tables, open_local
  use state_tables, only: body_table, reduced_bodies, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: add_reduced_compliance

  integer, parameter :: parallel_from = 8         !< bodies from which threads pay
  integer, parameter :: rows_parallel_from = 64   !< rows of one body from which threads pay

contains

  !> Adds W of all pairs of rows of these bodies to blocks, in the layout of coupling_blocks.assemble_matrix, and to `diagonal` of rows.
  !>
  !>   bodies, local, reduced   handles: BodyTable.handles, LocalDynamics.handles, ReducedBodies
  !>   work         (0:nwork-1) room for 6 k m numbers of every body with m rows, from work_ptr (0:nk-1) on
  !>   status       `table_open` or `table_unknown`
  subroutine add_reduced_compliance(bodies, local, reduced, step, nk, work_ptr, nwork, work, status)
    integer(i8), intent(in) :: bodies(3), local(6), reduced
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: nk, nwork
    integer(i4), intent(in) :: work_ptr(0:nk-1)
    real(dp), intent(inout) :: work(0:nwork-1)
    integer(i4), intent(out) :: status
    type(body_table) :: body
    type(local_tables) :: loc
    type(reduced_bodies) :: base
    integer :: first, i, j, k, m, modes, place, row

    call open_table(bodies(1), body, status)
    if (status == table_open) call open_local(local, loc, status)
    if (status == table_open) call open_table(reduced, base, status)
    if (status /= table_open) return
    !$omp parallel do if (nk > parallel_from) schedule(dynamic) private(first, i, j, m, modes, place, row)
    do k = 0, nk - 1
      row = base%rows(k)
      modes = base%modes(k)
      first = loc%pointers%attachment(row)
      m = loc%pointers%attachment(row+1) - first
      place = work_ptr(k)
      do i = 0, m - 1
        j = loc%attachments%entry(first+i)
        call project_row(modes, base%vectors(base%vector_ptr(k):), base%rotation(:,:,k), body%velo_ptr(row), j, &
                         end_of(loc, first + i), loc%entries%triple, loc%entries%operator, &
                         work(place+3*modes*i:place+3*modes*(i+1)-1))
      end do
      if (m > 0) call solve(step, modes, m, base%inverse(base%matrix_ptr(k):), work(place), work(place+3*modes*m))
    end do
    !$omp end parallel do
    do k = 0, nk - 1   ! serial, since two of these bodies may share blocks
      first = loc%pointers%attachment(base%rows(k))
      m = loc%pointers%attachment(base%rows(k)+1) - first
      place = work_ptr(k)
      if (m > 0) call add_products(base%modes(k), m, loc%attachments%row(first:first+m-1), work(place), &
                                   work(place+3*base%modes(k)*m), loc%rows%block_ptr, loc%blocks%column, loc%blocks%block, &
                                   loc%rows%diagonal)
    end do
  end subroutine add_reduced_compliance

  !> Computes E^T H^T of one row, three columns of k numbers.
  pure subroutine project_row(k, e, rotation, velo_first, entry_first, entry_last, triple, entry, columns)
    integer(i4), intent(in) :: k, velo_first, entry_first, entry_last
    real(dp), intent(in) :: e(k,3,0:*), rotation(3,3)
    integer(i4), intent(in) :: triple(0:*)
    real(dp), intent(in) :: entry(3,3,0:*)
    real(dp), intent(inout) :: columns(k,3)
    real(dp) :: h(3,3)
    integer :: a, i, r

    columns = 0
    do i = entry_first, entry_last - 1
      h = matmul(entry(:,:,i), rotation)
      a = triple(i) - velo_first
      do r = 1, 3
        columns(:,r) = columns(:,r) + (e(:,1,a)*h(r,1) + e(:,2,a)*h(r,2) + e(:,3,a)*h(r,3))
      end do
    end do
  end subroutine project_row

  !> Computes h A^-1 G_j of all rows.
  subroutine solve(step, k, m, inverse, g, solved)
    real(dp), intent(in) :: step
    integer, intent(in) :: k, m
    real(dp), intent(in) :: inverse(k,k), g(k,3,m)
    real(dp), intent(inout) :: solved(k,3,m)
    integer :: c, j, l

    solved = 0
    do j = 1, m
      do c = 1, 3
        do l = 1, k
          solved(:,c,j) = solved(:,c,j) + inverse(:,l)*(step*g(l,c,j))
        end do
      end do
    end do
  end subroutine solve

  !> Adds blocks h G_i^T A^-1 G_j of the attached rows i >= j to W, symmetric to the last bit, and their transposes.
  subroutine add_products(k, m, attached, g, solved, row_ptr, column, off_diagonal, diagonal)
    integer, intent(in) :: k, m
    integer(i4), intent(in) :: attached(m), row_ptr(0:*), column(0:*)
    real(dp), intent(in) :: g(k,3,m), solved(k,3,m)
    real(dp), intent(inout) :: off_diagonal(3,3,0:*), diagonal(3,3,0:*)
    integer :: i

    ! one thread writes each block, for the later of its two rows; a parallel region costs more than a few rows
    if (m > rows_parallel_from) then
      !$omp parallel do schedule(dynamic, 8)
      do i = 1, m
        call add_row(i)
      end do
      !$omp end parallel do
    else
      do i = 1, m
        call add_row(i)
      end do
    end if

  contains

    !> Adds the blocks of row i with the rows up to itself.
    subroutine add_row(i)
      integer, intent(in) :: i
      real(dp) :: block(3,3)
      integer :: a, b, c, j, own, r

      a = attached(i)
      own = row_ptr(a)
      do j = 1, i
        do c = 1, 3
          do r = merge(c, 1, i == j), 3
            block(r,c) = dot_product(g(:,r,i), solved(:,c,j))
          end do
        end do
        if (i == j) then
          block(1,2) = block(2,1)
          block(1,3) = block(3,1)
          block(2,3) = block(3,2)
          diagonal(:,:,a) = diagonal(:,:,a) + block
          cycle
        end if
        do while (column(own) < attached(j))
          own = own + 1
        end do
        off_diagonal(:,:,own) = off_diagonal(:,:,own) + block
        b = first_not_below(column, row_ptr(attached(j)), row_ptr(attached(j)+1) - 1, a)  ! columns ascend
        off_diagonal(:,:,b) = off_diagonal(:,:,b) + transpose(block)
      end do
    end subroutine add_row
  end subroutine add_products

end module reduced_compliance
