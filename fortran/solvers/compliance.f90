!> What implicitly integrated bodies add to W: their A^-1 couples all velocity triples, so it is applied to all rows of a
!> body at once (theory, "Local dynamics"; manual, BODY.scheme DEF_LIM).
!>
!> Bodies (0:nk-1) of one solver: body_row; first unknown of each (dof_first); rotation (3,3,0:nk-1) from its frame to space.
!> Rows attached to bodies, entries: as local_dynamics.assemble_rows leaves them; the entries of these bodies are H itself.
module compliance
  use kinds, only: dp, i4
  implicit none
  private
  public :: fill_columns, add_compliance

contains

  !> columns(:, 3j+r) = component r of H^T of the j-th row of every body, in its frame; other numbers become zero.
  subroutine fill_columns(nk, body_row, dof_first, rotation, nb, velo_ptr, nbodyptr, body_ptr, nattached, attached_row, &
                          attached_entry, nrow, entry_ptr, slave_entry, nentry, triple, entry, ndof, ncolumn, columns)
    integer(i4), intent(in) :: nk, nb, nbodyptr, nattached, nrow, nentry, ndof, ncolumn
    integer(i4), intent(in) :: body_row(0:nk-1), dof_first(0:nk-1)
    real(dp), intent(in) :: rotation(3,3,0:nk-1)
    integer(i4), intent(in) :: velo_ptr(0:nb-1), body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(in) :: entry_ptr(0:nrow-1), slave_entry(0:nrow-1), triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1)
    real(dp), intent(inout) :: columns(0:ndof-1,0:ncolumn-1)
    real(dp) :: h(3,3)
    integer :: a, c, dof, e, j, k, r, row

    columns = 0
    do k = 0, nk - 1
      row = body_row(k)
      do j = body_ptr(row), body_ptr(row+1) - 1
        a = attached_row(j)
        do e = attached_entry(j), end_of(attached_entry(j), entry_ptr(a+1), slave_entry(a)) - 1
          h = matmul(entry(:,:,e), rotation(:,:,k))
          dof = dof_first(k) + 3*(triple(e) - velo_ptr(row))
          do r = 1, 3
            do c = 1, 3
              columns(dof+c-1,3*(j-body_ptr(row))+r-1) = columns(dof+c-1,3*(j-body_ptr(row))+r-1) + h(r,c)
            end do
          end do
        end do
      end do
    end do
  end subroutine fill_columns

  !> One past the last entry of a row on the body where its entries begin at `first`.
  pure integer(i4) function end_of(first, last, slave)
    integer(i4), intent(in) :: first, last, slave
    end_of = last
    if (first < slave) end_of = slave
  end function end_of

  !> W of all pairs of rows of these bodies, step H A^-1 H^T, from columns that hold A^-1 H^T now.
  !>
  !>   dense_ptr    (0:nb-1) where the blocks of a body begin: that of rows i, j (in the order of attachments) is i*m + j
  !>   dense        (3,3,0:ndense-1) out
  !>   diagonal     (3,3,0:nrow-1) those of equal rows are added
  subroutine add_compliance(step, nk, body_row, dof_first, rotation, nb, velo_ptr, dense_ptr, nbodyptr, body_ptr, nattached, &
                            attached_row, attached_entry, nrow, entry_ptr, slave_entry, nentry, triple, entry, ndof, ncolumn, &
                            columns, ndense, dense, diagonal)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: nk, nb, nbodyptr, nattached, nrow, nentry, ndof, ncolumn, ndense
    integer(i4), intent(in) :: body_row(0:nk-1), dof_first(0:nk-1)
    real(dp), intent(in) :: rotation(3,3,0:nk-1)
    integer(i4), intent(in) :: velo_ptr(0:nb-1), dense_ptr(0:nb-1), body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(in) :: entry_ptr(0:nrow-1), slave_entry(0:nrow-1), triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1), columns(0:ndof-1,0:ncolumn-1)
    real(dp), intent(inout) :: dense(3,3,0:ndense-1), diagonal(3,3,0:nrow-1)
    real(dp) :: h(3,3), mean(3,3)
    integer :: a, dof, e, i, j, k, m, one, row, two

    do k = 0, nk - 1
      row = body_row(k)
      m = body_ptr(row+1) - body_ptr(row)
      do i = 0, m - 1
        a = attached_row(body_ptr(row)+i)
        do j = 0, m - 1
          dense(:,:,dense_ptr(row)+i*m+j) = 0
        end do
        do e = attached_entry(body_ptr(row)+i), end_of(attached_entry(body_ptr(row)+i), entry_ptr(a+1), slave_entry(a)) - 1
          h = step*matmul(entry(:,:,e), rotation(:,:,k))
          dof = dof_first(k) + 3*(triple(e) - velo_ptr(row))
          do j = 0, m - 1
            one = dense_ptr(row) + i*m + j
            dense(:,:,one) = dense(:,:,one) + matmul(h, columns(dof:dof+2,3*j:3*j+2))
          end do
        end do
      end do
      ! W is symmetric to the last bit, whatever the solver's round-off
      do i = 0, m - 1
        do j = 0, i
          one = dense_ptr(row) + i*m + j
          two = dense_ptr(row) + j*m + i
          mean = (dense(:,:,one) + transpose(dense(:,:,two)))/2
          dense(:,:,one) = mean
          dense(:,:,two) = transpose(mean)
        end do
        a = attached_row(body_ptr(row)+i)
        diagonal(:,:,a) = diagonal(:,:,a) + dense(:,:,dense_ptr(row)+i*m+i)
      end do
    end do
  end subroutine add_compliance

end module compliance
