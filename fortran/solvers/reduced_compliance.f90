!> What finite element bodies that move in a base add to W: h H E A^-1 E^T H^T with small dense A^-1 (manual, BODY: forms
!> 'BC-MODAL' and 'BC-RO'; theory, "Local dynamics").
!>
!> Bodies (0:nk-1): body_row; rotation (3,3,0:nk-1) from their frames to space; modes, vector_ptr, matrix_ptr, vectors, inverse
!> as in reduced_motion.  Rows attached to bodies, entries: as local_dynamics.assemble_rows leaves them, H itself.
module reduced_compliance
  use kinds, only: dp, i4
  implicit none
  private
  public :: add_reduced_compliance

  integer, parameter :: parallel_from = 8         !< bodies from which threads pay
  integer, parameter :: rows_parallel_from = 64   !< rows of one body from which they do

contains

  !> Adds W of all pairs of rows of these bodies.
  !>
  !>   work         (0:nwork-1) room for 6 k m numbers of every body with m rows, from work_ptr (0:nk-1) on
  !>   row_ptr, column, off_diagonal, diagonal   W as coupling_blocks.assemble_matrix has laid it out
  subroutine add_reduced_compliance(step, nk, body_row, rotation, modes, vector_ptr, matrix_ptr, nvector, vectors, nmatrix, &
                                    inverse, nb, velo_ptr, nbodyptr, body_ptr, nattached, attached_row, &
                                    attached_entry, nrow, entry_ptr, slave_entry, nentry, triple, entry, work_ptr, nwork, work, &
                                    row_ptr, nblock, column, off_diagonal, diagonal)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: nk, nvector, nmatrix, nb, nbodyptr, nattached, nrow, nentry, nwork, nblock
    integer(i4), intent(in) :: body_row(0:nk-1), modes(0:nk-1), vector_ptr(0:nk-1), matrix_ptr(0:nk-1), work_ptr(0:nk-1)
    real(dp), intent(in) :: rotation(3,3,0:nk-1), vectors(0:nvector-1), inverse(0:nmatrix-1)
    integer(i4), intent(in) :: velo_ptr(0:nb-1), body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(in) :: entry_ptr(0:nrow-1), slave_entry(0:nrow-1), triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1)
    integer(i4), intent(in) :: row_ptr(0:nrow-1), column(0:nblock-1)
    real(dp), intent(inout) :: work(0:nwork-1), off_diagonal(3,3,0:nblock-1), diagonal(3,3,0:nrow-1)
    integer :: a, i, k, m, place, row

    !$omp parallel do if (nk > parallel_from) schedule(dynamic) private(a, i, m, place, row)
    do k = 0, nk - 1
      row = body_row(k)
      m = body_ptr(row+1) - body_ptr(row)
      place = work_ptr(k)
      do i = 0, m - 1
        a = attached_row(body_ptr(row)+i)
        call project_row(modes(k), vectors(vector_ptr(k):), rotation(:,:,k), velo_ptr(row), attached_entry(body_ptr(row)+i), &
                         end_of(attached_entry(body_ptr(row)+i), entry_ptr(a+1), slave_entry(a)), nentry, triple, entry, &
                         work(place+3*modes(k)*i:place+3*modes(k)*(i+1)-1))
      end do
      if (m > 0) call solve(step, modes(k), m, inverse(matrix_ptr(k)), work(place), work(place+3*modes(k)*m))
    end do
    !$omp end parallel do
    do k = 0, nk - 1   ! one by one: two of these bodies may share blocks
      row = body_row(k)
      m = body_ptr(row+1) - body_ptr(row)
      place = work_ptr(k)
      if (m > 0) call add_products(modes(k), m, attached_row(body_ptr(row)), work(place), work(place+3*modes(k)*m), nrow, &
                                   row_ptr, nblock, column, off_diagonal, diagonal)
    end do
  end subroutine add_reduced_compliance

  !> E^T H^T of one row, three columns of k numbers.
  pure subroutine project_row(k, e, rotation, velo_first, entry_first, entry_last, nentry, triple, entry, columns)
    integer(i4), intent(in) :: k, velo_first, entry_first, entry_last, nentry
    real(dp), intent(in) :: e(k,3,0:*), rotation(3,3)
    integer(i4), intent(in) :: triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1)
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

  !> h A^-1 G_j of all rows.
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

  !> Blocks h G_i^T A^-1 G_j, symmetric to the last bit, of the attached rows i >= j to W, and their transposes.
  subroutine add_products(k, m, attached, g, solved, nrow, row_ptr, nblock, column, off_diagonal, diagonal)
    integer, intent(in) :: k, m
    integer(i4), intent(in) :: nrow, nblock, attached(m), row_ptr(0:nrow-1), column(0:nblock-1)
    real(dp), intent(in) :: g(k,3,m), solved(k,3,m)
    real(dp), intent(inout) :: off_diagonal(3,3,0:nblock-1), diagonal(3,3,0:nrow-1)
    integer :: i

    ! every block has one thread, since only the later of its two rows makes it; a parallel region costs more than a few rows
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

    !> Blocks of row i with the rows up to itself.
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
        b = place_of(a, row_ptr(attached(j)), row_ptr(attached(j)+1) - 1)
        off_diagonal(:,:,b) = off_diagonal(:,:,b) + transpose(block)
      end do
    end subroutine add_row

    !> The block of column b among those from `first` to `last`, which ascend.
    pure integer function place_of(b, first, last)
      integer, intent(in) :: b, first, last
      integer :: high, middle
      place_of = first
      high = last
      do while (place_of < high)
        middle = (place_of + high)/2
        if (column(middle) < b) then
          place_of = middle + 1
        else
          high = middle
        end if
      end do
    end function place_of
  end subroutine add_products

  !> One past the last entry of a row on the body where its entries begin at `first`.
  pure integer(i4) function end_of(first, last, slave)
    integer(i4), intent(in) :: first, last, slave
    end_of = last
    if (first < slave) end_of = slave
  end function end_of

end module reduced_compliance
