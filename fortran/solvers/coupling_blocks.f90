!> Off-diagonal blocks of W (docs/theory.md, Local dynamics).
module coupling_blocks
  use kinds, only: dp, i4, i8
  use state_tables, only: body_table, constraint_table
  use table_registry, only: table_open
  use row_tables, only: local_tables, open_constrained
  use row_order, only: acts_on
  use velocity_operator, only: finite_element_kind
  use thread_work, only: pays
  implicit none
  private
  public :: assemble_matrix

  integer(i4), parameter :: blocks_lack = 4   !< outcome: more blocks are needed

  !> A body that a row acts on.
  type :: row_side
    integer(i4) :: body = -1              !< -1: none
    integer(i4) :: entry = 0              !< the row's first entry there
    integer(i4) :: first = 0, last = 0    !< first attachment of the body, one past its last
  end type row_side

contains

  !> Assembles W: one summed block per pair of rows that share a body, columns ascending.
  !>
  !> The first call lays W out.  Then implicit bodies, whose A^-1 couples all their velocity triples, add their contributions
  !> (compliance, reduced_compliance).  The second call adds those of the others.
  !>
  !> Reads of bodies kind; of constraints kind, master, slave; of rows order, entry_ptr, slave_entry; entries, attachments, pointers.
  !> Writes of rows block_ptr, one more than there are rows, and blocks.
  !>
  !>   bodies, constraints, local   handles, as in assemble_rows; n: number of rows
  !>   laying_out, adding    whether blocks are laid out, with zeros; whether contributions of explicit bodies are added
  !>   implicit              (0:nbody-1) positive: the body's A^-1 couples its triples
  !>   blocks                out: number of blocks; if there is no room for them, none is filled
  !>   status                0, `blocks_lack`, `table_unknown`
  subroutine assemble_matrix(bodies, constraints, local, n, nbody, implicit, laying_out, adding, blocks, status)
    integer(i8), intent(in) :: bodies(3), constraints, local(6)
    integer(i4), intent(in) :: n, nbody
    integer(i4), intent(in) :: implicit(0:nbody-1)
    logical, intent(in) :: laying_out, adding
    integer(i4), intent(out) :: blocks, status
    type(body_table) :: body
    type(constraint_table) :: con
    type(local_tables) :: loc
    type(row_side) :: side(2)
    integer(i4) :: a

    blocks = 0
    call open_constrained(bodies, constraints, local, body, con, loc, status)
    if (status /= table_open) return
    if (laying_out) call place_rows(n, body%kind, con, loc, blocks)
    if (blocks > size(loc%blocks%column)) then
      status = blocks_lack
      return
    end if

    !$omp parallel do if (pays(n, 120)) schedule(static) private(side)
    do a = 0, n - 1
      side = sides_of(a, body%kind, con, loc)
      call merge_row(a, side, laying_out, adding, body%kind, implicit, loc%rows%entry_ptr, loc%rows%slave_entry, &
                     loc%attachments%row, loc%attachments%entry, loc%entries%triple, loc%entries%operator, &
                     loc%rows%block_ptr(a), loc%blocks%column, loc%blocks%block)
    end do
    !$omp end parallel do
  end subroutine assemble_matrix

  !> Counts the blocks of all rows.
  subroutine place_rows(n, body_kind, con, loc, blocks)
    integer(i4), intent(in) :: n, body_kind(0:*)
    type(constraint_table), intent(in) :: con
    type(local_tables), intent(in) :: loc
    integer(i4), intent(out) :: blocks
    type(row_side) :: side(2)
    integer(i4) :: a, length

    !$omp parallel do if (pays(n, 40)) schedule(static) private(side)
    do a = 0, n - 1
      side = sides_of(a, body_kind, con, loc)
      loc%rows%block_ptr(a) = merged_length(side, loc%attachments%row)
    end do
    !$omp end parallel do
    blocks = 0
    do a = 0, n - 1
      length = loc%rows%block_ptr(a)
      loc%rows%block_ptr(a) = blocks
      blocks = blocks + length
    end do
    loc%rows%block_ptr(n) = blocks
  end subroutine place_rows

  !> Bodies that row a acts on.
  pure function sides_of(a, body_kind, con, loc) result(side)
    integer(i4), intent(in) :: a, body_kind(0:*)
    type(constraint_table), intent(in) :: con
    type(local_tables), intent(in) :: loc
    type(row_side) :: side(2)
    integer(i4) :: i

    i = loc%rows%order(a)
    side(1)%body = con%master(i)
    side(2)%body = con%slave(i)
    side%entry = loc%rows%entry_ptr(a)
    if (.not. acts_on(con, i, body_kind(side(1)%body))) then
      side(1)%body = -1
    else
      side(2)%entry = loc%rows%slave_entry(a)
    end if
    if (side(2)%body >= 0) then
      if (side(2)%body == side(1)%body .or. .not. acts_on(con, i, body_kind(side(2)%body))) side(2)%body = -1
    end if
    call find_attachments(side(1), loc%pointers%attachment)
    call find_attachments(side(2), loc%pointers%attachment)
  end function sides_of

  pure subroutine find_attachments(side, attachment_ptr)
    type(row_side), intent(inout) :: side
    integer(i4), intent(in) :: attachment_ptr(0:*)
    if (side%body < 0) return
    side%first = attachment_ptr(side%body)
    side%last = attachment_ptr(side%body + 1)
  end subroutine find_attachments

  !> Number of other rows that share a body with a row.
  pure function merged_length(side, attached_row) result(length)
    type(row_side), intent(in) :: side(2)
    integer(i4), intent(in) :: attached_row(0:*)
    integer(i4) :: length, i, j

    length = -1   ! the row itself
    i = side(1)%first
    j = side(2)%first
    do while (i < side(1)%last .and. j < side(2)%last)
      length = length + 1
      if (attached_row(i) < attached_row(j)) then
        i = i + 1
      else if (attached_row(i) > attached_row(j)) then
        j = j + 1
      else
        i = i + 1
        j = j + 1
      end if
    end do
    length = length + (side(1)%last - i) + (side(2)%last - j)
    length = max(length, 0)
  end function merged_length

  !> Writes the blocks of row a, from block `first` on.
  !>
  !> Columns are separate arguments: the same loop over rows and blocks through a table's pointers takes half as long again,
  !> since the compiler does not know the strides of pointers.
  pure subroutine merge_row(a, side, laying_out, adding, body_kind, implicit, entry_ptr, slave_entry, &
                            attached_row, attached_entry, triple, operator, first, column, block)
    integer(i4), intent(in) :: a
    type(row_side), intent(in) :: side(2)
    logical, intent(in) :: laying_out, adding
    integer(i4), intent(in) :: body_kind(0:*), implicit(0:*), entry_ptr(0:*), slave_entry(0:*)
    integer(i4), intent(in) :: attached_row(0:*), attached_entry(0:*), triple(0:*)
    real(dp), intent(in) :: operator(3,3,0:*)
    integer(i4), intent(in) :: first
    integer(i4), intent(inout) :: column(0:*)
    real(dp), intent(inout) :: block(3,3,0:*)
    real(dp) :: wide(4,6,2,2)   ! operators of the row by pairs of triples, of which rigid and pseudo-rigid bodies have one and two
    integer(i4) :: pairs(2)     ! numbers of such pairs by sides; 0: another body, or nothing is to be added
    integer(i4) :: i, j, c, ci, cj, place

    place = first
    pairs = 0
    do i = 1, merge(2, 0, adding)
      call widen(a, side(i), body_kind, implicit, entry_ptr, slave_entry, operator, wide(:,:,:,i), pairs(i))
    end do
    i = side(1)%first
    j = side(2)%first
    do while (i < side(1)%last .or. j < side(2)%last)
      ci = huge(ci)
      cj = huge(cj)
      if (i < side(1)%last) ci = attached_row(i)
      if (j < side(2)%last) cj = attached_row(j)
      c = min(ci, cj)
      if (c == a) then
        if (ci == c) i = i + 1
        if (cj == c) j = j + 1
        cycle
      end if
      if (laying_out) then
        column(place) = c
        block(:,:,place) = 0.0_dp
      end if
      if (ci == c) then
        if (pairs(1) > 0) then
          call add_pair(wide(:,:,1,1), operator(1,1,attached_entry(i)), block(1,1,place))
          if (pairs(1) > 1) call add_pair(wide(:,:,2,1), operator(1,1,attached_entry(i)+2), block(1,1,place))
        else if (adding) then
          call add_products(side(1), i, block(:,:,place))
        end if
        i = i + 1
      end if
      if (cj == c) then
        if (pairs(2) > 0) then
          call add_pair(wide(:,:,1,2), operator(1,1,attached_entry(j)), block(1,1,place))
          if (pairs(2) > 1) call add_pair(wide(:,:,2,2), operator(1,1,attached_entry(j)+2), block(1,1,place))
        else if (adding) then
          call add_products(side(2), j, block(:,:,place))
        end if
        j = j + 1
      end if
      place = place + 1
    end do

  contains

    !> Adds the contribution of one side's finite element body to the block of row a and the row of attachment i.
    pure subroutine add_products(side, i, w)
      type(row_side), intent(in) :: side
      integer(i4), intent(in) :: i
      real(dp), intent(inout) :: w(3,3)
      integer(i4) :: eb, x, y

      if (implicit(side%body) > 0) return
      eb = attached_entry(i)
      do x = side%entry, end_of(a, side%entry, entry_ptr, slave_entry) - 1
        do y = eb, end_of(attached_row(i), eb, entry_ptr, slave_entry) - 1
          if (triple(x) /= triple(y)) cycle
          call add_product(operator(:,:,x), operator(:,:,y), w)
        end do
      end do
    end subroutine add_products
  end subroutine merge_row

  !> One past the last entry of row a on the body whose entries begin at e.
  pure integer(i4) function end_of(a, e, entry_ptr, slave_entry)
    integer(i4), intent(in) :: a, e, entry_ptr(0:*), slave_entry(0:*)
    end_of = entry_ptr(a+1)
    if (e < slave_entry(a)) end_of = slave_entry(a)
  end function end_of

  !> Copies the operator of one side of row a, with zeros behind its columns, so that one fills a register.
  pure subroutine widen(a, side, body_kind, implicit, entry_ptr, slave_entry, operator, wide, pairs)
    integer(i4), intent(in) :: a
    type(row_side), intent(in) :: side
    integer(i4), intent(in) :: body_kind(0:*), implicit(0:*), entry_ptr(0:*), slave_entry(0:*)
    real(dp), intent(in) :: operator(3,3,0:*)
    real(dp), intent(inout) :: wide(4,6,2)
    integer(i4), intent(inout) :: pairs    !< see `merge_row`; 0 before
    integer(i4) :: p, e, k

    if (side%body < 0) return
    if (implicit(side%body) > 0 .or. body_kind(side%body) == finite_element_kind) return
    pairs = (end_of(a, side%entry, entry_ptr, slave_entry) - side%entry)/2
    do p = 1, pairs
      do e = 0, 1
        do k = 1, 3
          wide(1:3,3*e+k,p) = operator(:,k,side%entry+2*(p-1)+e)
          wide(4,3*e+k,p) = 0.0_dp
        end do
      end do
    end do
  end subroutine widen

  !> w = w + x y^T.
  pure subroutine add_product(x, y, w)
    real(dp), intent(in) :: x(3,3), y(3,3)
    real(dp), intent(inout) :: w(3,3)
    integer :: j
    do j = 1, 3
      w(:,j) = w(:,j) + (x(:,1)*y(j,1) + x(:,2)*y(j,2) + x(:,3)*y(j,3))
    end do
  end subroutine add_product

  !> w = w + x y^T of a pair of triples, with zeros behind the columns of x.
  !>
  !> Compilers make poor code of columns of three numbers: the loop over four takes 60 % of the time.
  pure subroutine add_pair(x, y, w)
    real(dp), intent(in) :: x(4,6), y(3,6)
    real(dp), intent(inout) :: w(3,3)
    real(dp) :: s(4), t(4)
    integer :: i, j
    do j = 1, 3
      !$omp simd simdlen(4)
      do i = 1, 4
        s(i) = x(i,1)*y(j,1) + x(i,2)*y(j,2) + x(i,3)*y(j,3)
        t(i) = x(i,4)*y(j,4) + x(i,5)*y(j,5) + x(i,6)*y(j,6)
      end do
      w(1,j) = (w(1,j) + s(1)) + t(1)
      w(2,j) = (w(2,j) + s(2)) + t(2)
      w(3,j) = (w(3,j) + s(3)) + t(3)
    end do
  end subroutine add_pair
end module coupling_blocks
