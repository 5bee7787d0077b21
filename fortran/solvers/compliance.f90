!> Contributions of implicit bodies to W: their A^-1 couples all velocity triples, so it is applied to all rows of a
!> body at once (docs/theory.md, Local dynamics; docs/language-objects.md, BODY.scheme).
!>
!> Bodies (0:nk-1) of one solver: body_row; first unknown of each (dof_first); rotation (3,3,0:nk-1) from its frame to space.
!> Rows attached to bodies, entries: as local_dynamics.assemble_rows leaves them; the entries of these bodies are H itself.
!> `bodies` and `local` are BodyTable.handles and LocalDynamics.handles; `status` is `table_open` or `table_unknown`.
!>
!> Columns of A^-1 H^T are computed in slices, so that memory for them grows with unknowns alone, and a body with many rows costs the
!> others nothing.  A slice holds the columns of the rows from <= j < from + used/3 of every body, in the order of attachments.
!>
!> While A of linear bodies stays (form 'BC'), columns of A^-1 at the nodes that rows touch are kept: contacts move over the same few nodes for
!> many steps, and sums of kept columns cost far less than solutions for all rows.
module compliance
  use kinds, only: dp, i4, i8
  use row_order, only: end_of
  use row_tables, only: local_tables, open_local
  use state_tables, only: body_table, open_table
  use table_registry, only: table_open
  use thread_work, only: pays
  implicit none
  private
  public :: fill_columns, inverse_columns, touched_nodes, keep_columns, kept_columns, add_compliance

  integer, parameter :: parallel_from = 16      !< bodies from which threads pay

contains

  !> Fills columns(:, 3(j-from)+r) with component r of H^T of row j of every body, in its frame; other numbers of the slice become zero.
  subroutine fill_columns(bodies, local, from, used, nk, body_row, dof_first, rotation, ndof, ncolumn, columns, status)
    integer(i8), intent(in) :: bodies(3), local(6)
    integer(i4), intent(in) :: from, used, nk, ndof, ncolumn
    integer(i4), intent(in) :: body_row(0:nk-1), dof_first(0:nk-1)
    real(dp), intent(in) :: rotation(3,3,0:nk-1)
    real(dp), intent(inout) :: columns(0:ndof-1,0:ncolumn-1)
    integer(i4), intent(out) :: status
    type(body_table) :: body
    type(local_tables) :: loc
    real(dp) :: h(3,3)
    integer :: c, dof, e, j, k, r, row, start

    call open_tables(bodies, local, body, loc, status)
    if (status /= table_open) return
    !$omp parallel if (nk > parallel_from) private(h, c, dof, e, j, k, r, row, start)
    !$omp do schedule(static)
    do c = 0, used - 1
      columns(:,c) = 0
    end do
    !$omp end do
    !$omp do schedule(static)
    do k = 0, nk - 1
      row = body_row(k)
      start = loc%pointers%attachment(row) + from
      do j = start, min(loc%pointers%attachment(row+1), start + used/3) - 1
        do e = loc%attachments%entry(j), end_of(loc, j) - 1
          h = multiply(loc%entries%operator(:,:,e), rotation(:,:,k))
          dof = dof_first(k) + 3*(loc%entries%triple(e) - body%velo_ptr(row))
          do r = 1, 3
            do c = 1, 3
              columns(dof+c-1,3*(j-start)+r-1) = columns(dof+c-1,3*(j-start)+r-1) + h(r,c)
            end do
          end do
        end do
      end do
    end do
    !$omp end do
    !$omp end parallel
  end subroutine fill_columns

  !> Fills columns(:, 3(j-from)+r) with A^-1 times component r of H^T of row j of every body, in its frame, from the bodies' symmetric
  !> inverses (n,n,0:nplace-1) at place(0:nk-1): a row has entries at the nodes of one element only, so few columns of an inverse
  !> are read.
  !> Columns beyond a body's rows do not change.
  subroutine inverse_columns(bodies, local, from, used, nk, body_row, dof_first, rotation, place, n, nplace, inverse, ndof, &
                             ncolumn, columns, status)
    integer(i8), intent(in) :: bodies(3), local(6)
    integer(i4), intent(in) :: from, used, nk, n, nplace, ndof, ncolumn
    integer(i4), intent(in) :: body_row(0:nk-1), dof_first(0:nk-1), place(0:nk-1)
    real(dp), intent(in) :: rotation(3,3,0:nk-1)
    real(dp), intent(in) :: inverse(n,n,0:nplace-1)
    real(dp), intent(inout) :: columns(0:ndof-1,0:ncolumn-1)
    integer(i4), intent(out) :: status
    type(body_table) :: body
    type(local_tables) :: loc
    real(dp) :: h(3,3), x, y, z
    integer :: a, at, dof, e, first, i, j, k, row, start

    call open_tables(bodies, local, body, loc, status)
    if (status /= table_open) return
    !$omp parallel do if (nk > parallel_from) schedule(static) private(h, x, y, z, a, at, dof, e, first, i, j, row, start)
    do k = 0, nk - 1
      row = body_row(k)
      start = dof_first(k)
      first = loc%pointers%attachment(row) + from
      do j = first, min(loc%pointers%attachment(row+1), first + used/3) - 1
        a = loc%attachments%row(j)
        at = 3*(j - first)
        columns(start:start+n-1,at:at+2) = 0
        do e = loc%attachments%entry(j), end_of(loc, j) - 1
          h = multiply(loc%entries%operator(:,:,e), rotation(:,:,k))
          dof = 3*(loc%entries%triple(e) - body%velo_ptr(row)) + 1
          !$omp simd private(x, y, z)
          do i = 1, n
            x = inverse(i,dof,place(k))
            y = inverse(i,dof+1,place(k))
            z = inverse(i,dof+2,place(k))
            columns(start+i-1,at) = columns(start+i-1,at) + (h(1,1)*x + h(1,2)*y + h(1,3)*z)
            columns(start+i-1,at+1) = columns(start+i-1,at+1) + (h(2,1)*x + h(2,2)*y + h(2,3)*z)
            columns(start+i-1,at+2) = columns(start+i-1,at+2) + (h(3,1)*x + h(3,2)*y + h(3,3)*z)
          end do
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine inverse_columns

  !> Sets touched(node) of the nodes (0:nnode-1) of these bodies at which rows have entries.
  subroutine touched_nodes(bodies, local, nk, body_row, dof_first, nnode, touched, status)
    integer(i8), intent(in) :: bodies(3), local(6)
    integer(i4), intent(in) :: nk, nnode
    integer(i4), intent(in) :: body_row(0:nk-1), dof_first(0:nk-1)
    integer(i4), intent(inout) :: touched(0:nnode-1)
    integer(i4), intent(out) :: status
    type(body_table) :: body
    type(local_tables) :: loc
    integer :: e, j, k, row

    touched = 0
    call open_tables(bodies, local, body, loc, status)
    if (status /= table_open) return
    do k = 0, nk - 1
      row = body_row(k)
      do j = loc%pointers%attachment(row), loc%pointers%attachment(row+1) - 1
        do e = loc%attachments%entry(j), end_of(loc, j) - 1
          touched(dof_first(k)/3 + loc%entries%triple(e) - body%velo_ptr(row)) = 1
        end do
      end do
    end do
  end subroutine touched_nodes

  !> Copies columns of A^-1 to where they are kept: of each node(1:count), of a body with the unknowns from(i) <= dof < from(i) + length(i),
  !> the columns(:,3 group(i):) to kept(place(i):).
  subroutine keep_columns(count, from, length, group, place, ndof, ncolumn, columns, nkept, kept)
    integer(i4), intent(in) :: count, ndof, ncolumn
    integer(i4), intent(in) :: from(count), length(count), group(count)
    integer(i8), intent(in) :: place(count), nkept
    real(dp), intent(in) :: columns(0:ndof-1,0:ncolumn-1)
    real(dp), intent(inout) :: kept(0:nkept-1)
    integer(i8) :: to
    integer :: c, i

    do i = 1, count
      do c = 0, 2
        to = place(i) + c*length(i)
        kept(to:to+length(i)-1) = columns(from(i):from(i)+length(i)-1,3*group(i)+c)
      end do
    end do
  end subroutine keep_columns

  !> Fills columns(:,3(j-from)+r) with A^-1 times component r of H^T of row j of every body, in its frame, from kept columns of A^-1: the
  !> three of a node begin at kept(place(node)).  Columns beyond a body's rows do not change.
  subroutine kept_columns(bodies, local, from, used, nk, body_row, dof_first, rotation, nnode, place, nkept, kept, ndof, ncolumn, &
                          columns, status)
    integer(i8), intent(in) :: bodies(3), local(6), nkept
    integer(i4), intent(in) :: from, used, nk, nnode, ndof, ncolumn
    integer(i4), intent(in) :: body_row(0:nk-1), dof_first(0:nk-1)
    integer(i8), intent(in) :: place(0:nnode-1)
    real(dp), intent(in) :: rotation(3,3,0:nk-1), kept(0:nkept-1)
    real(dp), intent(inout) :: columns(0:ndof-1,0:ncolumn-1)
    integer(i4), intent(out) :: status
    type(body_table) :: body
    type(local_tables) :: loc
    integer(i8) :: at
    integer :: begin, column, e, j, k, node, past, row

    call open_tables(bodies, local, body, loc, status)
    if (status /= table_open) return
    !$omp parallel do schedule(dynamic) private(at, begin, column, e, j, node, past, row)
    do k = 0, nk - 1
      row = body_row(k)
      past = ndof
      if (k < nk - 1) past = dof_first(k+1)
      begin = loc%pointers%attachment(row) + from
      do j = begin, min(loc%pointers%attachment(row+1), begin + used/3) - 1
        column = 3*(j - begin)
        columns(dof_first(k):past-1,column:column+2) = 0
        do e = loc%attachments%entry(j), end_of(loc, j) - 1
          node = dof_first(k)/3 + loc%entries%triple(e) - body%velo_ptr(row)
          at = place(node)
          call add_node(past - dof_first(k), multiply(loc%entries%operator(:,:,e), rotation(:,:,k)), kept(at), &
                        columns(dof_first(k),column), columns(dof_first(k),column+1), columns(dof_first(k),column+2))
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine kept_columns

  !> Adds the three columns `kept` of a node, times h^T, to the columns one, two and three of a row.
  pure subroutine add_node(n, h, kept, one, two, three)
    integer, intent(in) :: n
    real(dp), intent(in) :: h(3,3), kept(n,3)
    real(dp), intent(inout) :: one(n), two(n), three(n)
    integer :: i

    do i = 1, n
      one(i) = one(i) + (h(1,1)*kept(i,1) + h(1,2)*kept(i,2) + h(1,3)*kept(i,3))
      two(i) = two(i) + (h(2,1)*kept(i,1) + h(2,2)*kept(i,2) + h(2,3)*kept(i,3))
      three(i) = three(i) + (h(3,1)*kept(i,1) + h(3,2)*kept(i,2) + h(3,3)*kept(i,3))
    end do
  end subroutine add_node

  subroutine open_tables(bodies, local, body, loc, status)
    integer(i8), intent(in) :: bodies(3), local(6)
    type(body_table), intent(out) :: body
    type(local_tables), intent(out) :: loc
    integer(i4), intent(out) :: status

    call open_table(bodies(1), body, status)
    if (status == table_open) call open_local(local, loc, status)
  end subroutine open_tables

  !> Matrix product A B.
  pure function multiply(a, b) result(c)
    real(dp), intent(in) :: a(3,3), b(3,3)
    real(dp) :: c(3,3)
    integer :: j
    do j = 1, 3
      c(:,j) = a(:,1)*b(1,j) + a(:,2)*b(2,j) + a(:,3)*b(3,j)
    end do
  end function multiply

  !> Adds h H A^-1 H^T of these bodies to W, from columns that hold A^-1 H^T: blocks of the rows i >= j of all j of the
  !> slice, and their transposes.  Writes blocks in the layout of coupling_blocks.assemble_matrix, and `diagonal` of rows.
  !>
  !> Two bodies add to one block if both rows act on both.  The first of them does so in a first pass, the other one in a second pass, so threads
  !> share the bodies of a pass, and sums have the order of bodies.
  subroutine add_compliance(bodies, local, from, used, step, nk, body_row, dof_first, rotation, ndof, ncolumn, columns, status)
    integer(i8), intent(in) :: bodies(3), local(6)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: from, used, nk, ndof, ncolumn
    integer(i4), intent(in) :: body_row(0:nk-1), dof_first(0:nk-1)
    real(dp), intent(in) :: rotation(3,3,0:nk-1)
    real(dp), intent(in) :: columns(0:ndof-1,0:ncolumn-1)
    integer(i4), intent(out) :: status
    type(body_table) :: body
    type(local_tables) :: loc
    integer(i4), allocatable :: first_body(:)    ! of rows: number of the first of these bodies on which they act
    integer(i4) :: k, pass, row, blocks, widest

    call open_tables(bodies, local, body, loc, status)
    if (status /= table_open) return
    call survey(loc, used/3, nk, body_row, first_body, blocks, widest)
    !$omp parallel if (pays(blocks, 100)) private(k, pass, row)
    do pass = 1, 2
      !$omp do schedule(dynamic)
      do k = 0, nk - 1
        row = body_row(k)
        call add_body(loc, pass == 2, k, loc%pointers%attachment(row) + from, loc%pointers%attachment(row+1), used/3, widest, &
                      first_body, dof_first(k) - 3*body%velo_ptr(row), step, rotation(:,:,k), ndof, columns)
      end do
      !$omp end do
    end do
    !$omp end parallel
  end subroutine add_compliance

  !> Finds the first body of each row, the number of blocks to which a slice of so many rows of each body adds, and the most entries of a row.
  subroutine survey(loc, slice, nk, body_row, first_body, blocks, widest)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: slice, nk, body_row(0:nk-1)
    integer(i4), allocatable, intent(out) :: first_body(:)
    integer(i4), intent(out) :: blocks, widest
    integer :: j, k, last

    last = -1
    do k = 0, nk - 1     ! rows ascend
      associate (past => loc%pointers%attachment(body_row(k)+1))
        if (past > loc%pointers%attachment(body_row(k))) last = max(last, loc%attachments%row(past-1))
      end associate
    end do
    allocate (first_body(0:last), source=-1)
    blocks = 0
    widest = 0
    do k = 0, nk - 1
      associate (begin => loc%pointers%attachment(body_row(k)), past => loc%pointers%attachment(body_row(k)+1))
        blocks = blocks + min(past - begin, slice)*(past - begin)
        do j = begin, past - 1
          if (first_body(loc%attachments%row(j)) < 0) first_body(loc%attachments%row(j)) = k
          widest = max(widest, end_of(loc, j) - loc%attachments%entry(j))
        end do
      end associate
    end do
  end subroutine survey

  !> Adds the contribution of body k to the blocks of its rows, attachments start <= i < past, that belong to the first or the second pass.
  subroutine add_body(loc, second, k, start, past, slice, widest, first_body, dof_shift, step, rotation, ndof, columns)
    type(local_tables), intent(in) :: loc
    logical, intent(in) :: second
    integer, intent(in) :: k, start, past, slice, widest
    integer(i4), intent(in) :: first_body(0:*)
    integer, intent(in) :: dof_shift, ndof      !< first unknown of triple 0; unknowns of all bodies
    real(dp), intent(in) :: step, rotation(3,3), columns(0:ndof-1,0:*)
    real(dp) :: h(4,3,widest), wide(4,3), part(3,3)   ! a fourth row of zeros, so that a column fills a register
    integer :: a, b, c, e, i, j, l, last, own, before, dof(widest), mirrored(0:slice-1)
    logical :: shared

    do j = 0, min(past - start, slice) - 1
      mirrored(j) = loc%rows%block_ptr(loc%attachments%row(start+j))
    end do
    do i = 0, past - start - 1
      a = loc%attachments%row(start+i)
      before = first_body(a)
      if (second .and. before == k) cycle
      last = end_of(loc, start + i) - loc%attachments%entry(start+i)
      do e = 1, last
        associate (entry => loc%attachments%entry(start+i) + e - 1)
          h(1:3,:,e) = step*multiply(loc%entries%operator(:,:,entry), rotation)
          h(4,:,e) = 0
          dof(e) = dof_shift + 3*loc%entries%triple(entry)
        end associate
      end do
      own = loc%rows%block_ptr(a)
      do j = 0, min(i, slice - 1)
        b = loc%attachments%row(start+j)
        shared = before < k .and. first_body(b) == before
        if (shared .neqv. second) cycle
        wide = 0
        do e = 1, last
          do c = 1, 3
            !$omp simd simdlen(4)
            do l = 1, 4
              wide(l,c) = wide(l,c) + (h(l,1,e)*columns(dof(e),3*j+c-1) + h(l,2,e)*columns(dof(e)+1,3*j+c-1) &
                                       + h(l,3,e)*columns(dof(e)+2,3*j+c-1))
            end do
          end do
        end do
        part = wide(1:3,:)
        if (j == i) then ! W is symmetric to the last bit, whatever the solver's round-off
          loc%rows%diagonal(:,:,a) = loc%rows%diagonal(:,:,a) + (part + transpose(part))/2
          cycle
        end if
        call advance(b, own)
        loc%blocks%block(:,:,own) = loc%blocks%block(:,:,own) + part
        call advance(a, mirrored(j))
        loc%blocks%block(:,:,mirrored(j)) = loc%blocks%block(:,:,mirrored(j)) + transpose(part)
      end do
    end do

  contains

    !> Moves from a block of a row to the later one of a column.
    subroutine advance(to, place)
      integer, intent(in) :: to
      integer, intent(inout) :: place
      do while (loc%blocks%column(place) < to)
        place = place + 1
      end do
    end subroutine advance
  end subroutine add_body

end module compliance
