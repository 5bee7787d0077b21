!> What implicitly integrated bodies add to W: their A^-1 couples all velocity triples, so it is applied to all rows of a
!> body at once (theory, "Local dynamics"; manual, BODY.scheme DEF_LIM).
!>
!> Bodies (0:nk-1) of one solver: body_row; first unknown of each (dof_first); rotation (3,3,0:nk-1) from its frame to space.
!> Rows attached to bodies, entries: as local_dynamics.assemble_rows leaves them; the entries of these bodies are H itself.
module compliance
  use kinds, only: dp, i4
  implicit none
  private
  public :: place_blocks, most_columns, fill_columns, inverse_columns, add_compliance

  integer, parameter :: parallel_from = 16      !< bodies from which threads pay

contains

  !> Where the blocks of W of all pairs of rows on a body begin, body after body.
  !>
  !>   implicit     (0:nb-1) positive: the body's A^-1 couples its triples
  !>   room         number of blocks that there is room for
  !>   dense_ptr    (0:nb-1) out: first block; -1: none
  !>   blocks       out: number of blocks; lacking 1: there is not enough room for them
  !>   form         out: `asked`, or 1 where there are blocks: A^-1 has no factor by triples then, and W must be stored
  subroutine place_blocks(bodies, room, asked, nb, implicit, nbodyptr, body_ptr, dense_ptr, blocks, form, lacking)
    integer(i4), intent(in) :: bodies, room, asked, nb, nbodyptr
    integer(i4), intent(in) :: implicit(0:nb-1), body_ptr(0:nbodyptr-1)
    integer(i4), intent(inout) :: dense_ptr(0:nb-1)
    integer(i4), intent(out) :: blocks, form, lacking
    integer(i4) :: k, m

    blocks = 0
    do k = 0, bodies - 1
      dense_ptr(k) = -1
      m = body_ptr(k+1) - body_ptr(k)
      if (implicit(k) <= 0 .or. m == 0) cycle
      dense_ptr(k) = blocks
      blocks = blocks + m**2
    end do
    form = merge(1_i4, asked, blocks > 0)
    lacking = merge(1_i4, 0_i4, blocks > room)
  end subroutine place_blocks

  !> The columns of H^T of the one of these bodies that has the most rows, 3 of each row; lacking 1: they are more than `room`.
  subroutine most_columns(room, nk, body_row, nbodyptr, body_ptr, most, lacking)
    integer(i4), intent(in) :: room, nk, nbodyptr
    integer(i4), intent(in) :: body_row(0:nk-1), body_ptr(0:nbodyptr-1)
    integer(i4), intent(out) :: most, lacking
    integer :: k

    most = 0
    do k = 0, nk - 1
      most = max(most, 3*(body_ptr(body_row(k)+1) - body_ptr(body_row(k))))
    end do
    lacking = merge(1_i4, 0_i4, most > room)
  end subroutine most_columns

  !> columns(:, 3j+r) = component r of H^T of the j-th row of every body, in its frame; other numbers of the first `used`
  !> columns become zero.
  subroutine fill_columns(used, nk, body_row, dof_first, rotation, nb, velo_ptr, nbodyptr, body_ptr, nattached, attached_row, &
                          attached_entry, nrow, entry_ptr, slave_entry, nentry, triple, entry, ndof, ncolumn, columns)
    integer(i4), intent(in) :: used, nk, nb, nbodyptr, nattached, nrow, nentry, ndof, ncolumn
    integer(i4), intent(in) :: body_row(0:nk-1), dof_first(0:nk-1)
    real(dp), intent(in) :: rotation(3,3,0:nk-1)
    integer(i4), intent(in) :: velo_ptr(0:nb-1), body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(in) :: entry_ptr(0:nrow-1), slave_entry(0:nrow-1), triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1)
    real(dp), intent(inout) :: columns(0:ndof-1,0:ncolumn-1)
    real(dp) :: h(3,3)
    integer :: a, c, dof, e, j, k, r, row

    columns(:,0:used-1) = 0
    do k = 0, nk - 1
      row = body_row(k)
      do j = body_ptr(row), body_ptr(row+1) - 1
        a = attached_row(j)
        do e = attached_entry(j), end_of(attached_entry(j), entry_ptr(a+1), slave_entry(a)) - 1
          h = multiply(entry(:,:,e), rotation(:,:,k))
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

  !> columns(:, 3j+r) = A^-1 times component r of H^T of the j-th row of every body, in its frame, from the bodies' symmetric
  !> inverses (n,n,0:nk-1): a row has entries at the nodes of one element only, so few columns of an inverse are read.
  !> Columns beyond a body's rows are left alone.
  subroutine inverse_columns(nk, body_row, dof_first, rotation, nb, velo_ptr, nbodyptr, body_ptr, nattached, attached_row, &
                             attached_entry, nrow, entry_ptr, slave_entry, nentry, triple, entry, n, inverse, ndof, ncolumn, &
                             columns)
    integer(i4), intent(in) :: nk, nb, nbodyptr, nattached, nrow, nentry, n, ndof, ncolumn
    integer(i4), intent(in) :: body_row(0:nk-1), dof_first(0:nk-1)
    real(dp), intent(in) :: rotation(3,3,0:nk-1)
    integer(i4), intent(in) :: velo_ptr(0:nb-1), body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(in) :: entry_ptr(0:nrow-1), slave_entry(0:nrow-1), triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1), inverse(n,n,0:nk-1)
    real(dp), intent(inout) :: columns(0:ndof-1,0:ncolumn-1)
    real(dp) :: h(3,3), x, y, z
    integer :: a, at, dof, e, i, j, k, row, start

    !$omp parallel do if (nk > parallel_from) schedule(static) private(h, x, y, z, a, at, dof, e, i, j, row, start)
    do k = 0, nk - 1
      row = body_row(k)
      start = dof_first(k)
      do j = body_ptr(row), body_ptr(row+1) - 1
        a = attached_row(j)
        at = 3*(j - body_ptr(row))
        columns(start:start+n-1,at:at+2) = 0
        do e = attached_entry(j), end_of(attached_entry(j), entry_ptr(a+1), slave_entry(a)) - 1
          h = multiply(entry(:,:,e), rotation(:,:,k))
          dof = 3*(triple(e) - velo_ptr(row)) + 1
          !$omp simd private(x, y, z)
          do i = 1, n
            x = inverse(i,dof,k)
            y = inverse(i,dof+1,k)
            z = inverse(i,dof+2,k)
            columns(start+i-1,at) = columns(start+i-1,at) + (h(1,1)*x + h(1,2)*y + h(1,3)*z)
            columns(start+i-1,at+1) = columns(start+i-1,at+1) + (h(2,1)*x + h(2,2)*y + h(2,3)*z)
            columns(start+i-1,at+2) = columns(start+i-1,at+2) + (h(3,1)*x + h(3,2)*y + h(3,3)*z)
          end do
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine inverse_columns

  !> A B
  pure function multiply(a, b) result(c)
    real(dp), intent(in) :: a(3,3), b(3,3)
    real(dp) :: c(3,3)
    integer :: j
    do j = 1, 3
      c(:,j) = a(:,1)*b(1,j) + a(:,2)*b(2,j) + a(:,3)*b(3,j)
    end do
  end function multiply

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
    real(dp) :: h(3,3)
    integer :: a, c, dof, e, i, j, k, m, one, row

    do k = 0, nk - 1
      row = body_row(k)
      m = body_ptr(row+1) - body_ptr(row)
      do i = 0, m - 1
        a = attached_row(body_ptr(row)+i)
        do j = 0, i
          dense(:,:,dense_ptr(row)+i*m+j) = 0
        end do
        do e = attached_entry(body_ptr(row)+i), end_of(attached_entry(body_ptr(row)+i), entry_ptr(a+1), slave_entry(a)) - 1
          h = step*multiply(entry(:,:,e), rotation(:,:,k))
          dof = dof_first(k) + 3*(triple(e) - velo_ptr(row))
          do j = 0, i
            one = dense_ptr(row) + i*m + j
            do c = 1, 3
              dense(:,c,one) = dense(:,c,one) + (h(:,1)*columns(dof,3*j+c-1) + h(:,2)*columns(dof+1,3*j+c-1) &
                                                 + h(:,3)*columns(dof+2,3*j+c-1))
            end do
          end do
        end do
        ! W is symmetric to the last bit, whatever the solver's round-off
        one = dense_ptr(row) + i*m + i
        dense(:,:,one) = (dense(:,:,one) + transpose(dense(:,:,one)))/2
        do j = 0, i - 1
          dense(:,:,dense_ptr(row)+j*m+i) = transpose(dense(:,:,dense_ptr(row)+i*m+j))
        end do
        diagonal(:,:,a) = diagonal(:,:,a) + dense(:,:,one)
      end do
    end do
  end subroutine add_compliance

end module compliance
