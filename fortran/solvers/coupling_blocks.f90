!> Off-diagonal blocks of W (theory, section "Local dynamics").
module coupling_blocks
  use kinds, only: dp, i4, i8
  use state_tables, only: body_table, constraint_table, open_table
  use table_registry, only: table_open
  use row_tables, only: local_tables, open_local
  use row_order, only: acts_on
  use velocity_operator, only: finite_element_kind
  implicit none
  private
  public :: assemble_matrix

  integer, parameter :: parallel_from = 300   !< rows from which threads pay
  integer(i4), parameter :: blocks_lack = 4   !< outcome: more blocks are needed

contains

  !> One summed block per pair of rows that share a body, columns ascending.
  !>
  !> Implicit bodies, whose A^-1 couples all their velocity triples, add their parts themselves (compliance, reduced_compliance)
  !> between two calls: the first lays W out, the second adds the parts of the others.
  !>
  !> Reads of bodies kind; of constraints kind, master, slave; of rows order, entry_ptr, slave_entry; entries, attachments, pointers.
  !> Writes of rows block_ptr, one more than there are constraints, and blocks.
  !>
  !>   bodies, constraints, local   handles, as in assemble_rows
  !>   laying_out, adding    whether blocks are laid out, with zeros; whether parts of bodies that are not implicit are added
  !>   implicit              (0:nbody-1) positive: the body's A^-1 couples its triples
  !>   blocks                out: number of blocks; nothing is filled when there is no room for them
  !>   status                0, `blocks_lack`, `table_unknown`
  subroutine assemble_matrix(bodies, constraints, local, nbody, implicit, laying_out, adding, blocks, status)
    integer(i8), intent(in) :: bodies(3), constraints, local(6)
    integer(i4), intent(in) :: nbody
    integer(i4), intent(in) :: implicit(0:nbody-1)
    logical, intent(in) :: laying_out, adding
    integer(i4), intent(out) :: blocks, status
    type(body_table) :: body
    type(constraint_table) :: con
    type(local_tables) :: loc
    integer(i4) :: a, k1, k2, e1, e2, first(2), last(2), n

    blocks = 0
    call open_table(bodies(1), body, status)
    if (status == table_open) call open_table(constraints, con, status)
    if (status == table_open) call open_local(local, loc, status)
    if (status /= table_open) return
    n = int(con%rows, i4)
    if (laying_out) call place_rows()
    if (status /= 0) return

    !$omp parallel do if (n > parallel_from) schedule(static) private(k1, k2, e1, e2, first, last)
    do a = 0, n - 1
      call sides(a, k1, k2, e1, e2)
      call ranges(k1, k2, first, last)
      call merge_rows(a, first, last, k1, k2, e1, e2)
    end do
    !$omp end parallel do

  contains

    !> Counts the blocks of all rows.
    subroutine place_rows()
      integer(i4) :: length

      !$omp parallel do if (n > parallel_from) schedule(static) private(k1, k2, e1, e2, first, last)
      do a = 0, n - 1
        call sides(a, k1, k2, e1, e2)
        call ranges(k1, k2, first, last)
        loc%rows%block_ptr(a) = merged_length(a, first, last)
      end do
      !$omp end parallel do
      do a = 0, n - 1
        length = loc%rows%block_ptr(a)
        loc%rows%block_ptr(a) = blocks
        blocks = blocks + length
      end do
      loc%rows%block_ptr(n) = blocks
      if (blocks > size(loc%blocks%column)) status = blocks_lack
    end subroutine place_rows

    !> The bodies row a acts on (-1: none) and the first of its entries for each.
    subroutine sides(a, k1, k2, e1, e2)
      integer(i4), intent(in) :: a
      integer(i4), intent(out) :: k1, k2, e1, e2
      integer(i4) :: kind
      kind = con%kind(loc%rows%order(a))
      k1 = con%master(loc%rows%order(a))
      k2 = con%slave(loc%rows%order(a))
      e1 = loc%rows%entry_ptr(a)
      e2 = e1
      if (.not. acts_on(kind, body%kind(k1))) then
        k1 = -1
      else
        e2 = loc%rows%slave_entry(a)
      end if
      if (k2 >= 0) then
        if (k2 == k1 .or. .not. acts_on(kind, body%kind(k2))) k2 = -1
      end if
    end subroutine sides

    subroutine ranges(k1, k2, first, last)
      integer(i4), intent(in) :: k1, k2
      integer(i4), intent(out) :: first(2), last(2)
      first = 0
      last = 0
      if (k1 >= 0) first(1) = loc%pointers%attachment(k1)
      if (k1 >= 0) last(1) = loc%pointers%attachment(k1+1)
      if (k2 >= 0) first(2) = loc%pointers%attachment(k2)
      if (k2 >= 0) last(2) = loc%pointers%attachment(k2+1)
    end subroutine ranges

    !> Number of rows other than a in two sorted lists of rows.
    function merged_length(a, first, last) result(length)
      integer(i4), intent(in) :: a, first(2), last(2)
      integer(i4) :: length, i, j
      length = -1   ! a itself
      i = first(1)
      j = first(2)
      do while (i < last(1) .and. j < last(2))
        length = length + 1
        if (loc%attachments%row(i) < loc%attachments%row(j)) then
          i = i + 1
        else if (loc%attachments%row(i) > loc%attachments%row(j)) then
          j = j + 1
        else
          i = i + 1
          j = j + 1
        end if
      end do
      length = length + (last(1) - i) + (last(2) - j)
      length = max(length, 0)
    end function merged_length

    subroutine merge_rows(a, first, last, k1, k2, e1, e2)
      integer(i4), intent(in) :: a, first(2), last(2), k1, k2, e1, e2
      integer(i4) :: i, j, c, ci, cj, place
      place = loc%rows%block_ptr(a)
      i = first(1)
      j = first(2)
      do while (i < last(1) .or. j < last(2))
        ci = huge(ci)
        cj = huge(cj)
        if (i < last(1)) ci = loc%attachments%row(i)
        if (j < last(2)) cj = loc%attachments%row(j)
        c = min(ci, cj)
        if (c == a) then
          if (ci == c) i = i + 1
          if (cj == c) j = j + 1
          cycle
        end if
        if (laying_out) then
          loc%blocks%column(place) = c
          loc%blocks%block(:,:,place) = 0.0_dp
        end if
        if (ci == c) then
          if (adding) call add_products(k1, a, e1, i, loc%blocks%block(:,:,place))
          i = i + 1
        end if
        if (cj == c) then
          if (adding) call add_products(k2, a, e2, j, loc%blocks%block(:,:,place))
          j = j + 1
        end if
        place = place + 1
      end do
    end subroutine merge_rows

    !> Part of body k in the coupling of row a, whose entries there begin at ea, with the row of attachment i.
    subroutine add_products(k, a, ea, i, w)
      integer(i4), intent(in) :: k, a, ea, i
      real(dp), intent(inout) :: w(3,3)
      integer(i4) :: eb, x, y
      if (implicit(k) > 0) return
      eb = loc%attachments%entry(i)
      if (body%kind(k) /= finite_element_kind) then
        do x = 0, end_of(a, ea) - ea - 1
          call add_product(loc%entries%operator(:,:,ea+x), loc%entries%operator(:,:,eb+x), w)
        end do
        return
      end if
      do x = ea, end_of(a, ea) - 1
        do y = eb, end_of(loc%attachments%row(i), eb) - 1
          if (loc%entries%triple(x) /= loc%entries%triple(y)) cycle
          call add_product(loc%entries%operator(:,:,x), loc%entries%operator(:,:,y), w)
        end do
      end do
    end subroutine add_products

    !> One past the last entry that row a has on the body where its entries begin at e.
    pure integer(i4) function end_of(a, e)
      integer(i4), intent(in) :: a, e
      end_of = loc%rows%entry_ptr(a+1)
      if (e < loc%rows%slave_entry(a)) end_of = loc%rows%slave_entry(a)
    end function end_of
  end subroutine assemble_matrix

  !> w = w + x y^T.
  pure subroutine add_product(x, y, w)
    real(dp), intent(in) :: x(3,3), y(3,3)
    real(dp), intent(inout) :: w(3,3)
    integer :: j
    do j = 1, 3
      w(:,j) = w(:,j) + (x(:,1)*y(j,1) + x(:,2)*y(j,2) + x(:,3)*y(j,3))
    end do
  end subroutine add_product
end module coupling_blocks
