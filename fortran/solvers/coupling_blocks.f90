!> Off-diagonal blocks of W (theory, section "Local dynamics").
module coupling_blocks
  use kinds, only: dp, i4
  use row_block, only: contact_row, spring_dashpot_row
  use row_order, only: acts_on
  use velocity_operator, only: finite_element_kind
  implicit none
  private
  public :: assemble_matrix

  integer, parameter :: parallel_from = 300   !< rows from which threads pay

contains

  !> One summed block per pair of rows that share a body, columns ascending.
  !>
  !> Implicit bodies, whose A^-1 couples all their velocity triples, add their parts themselves (compliance, reduced_compliance)
  !> between two calls: the first lays W out, the second adds the parts of the others.
  !>
  !>   laying_out, adding    whether blocks are laid out, with zeros; whether parts of bodies that are not implicit are added
  !>   n, order, master, slave, kind, body_kind, entry_ptr, slave_entry, triple, entry, body_ptr, attached_*   as in
  !>                         assemble_rows
  !>   implicit              (0:nbody-1) positive: the body's A^-1 couples its triples
  !>   row_ptr               (0:nrow-1) out: first block of every row, entry n in use too
  !>   column, off_diagonal  (0:nblock-1), (3,3,0:nblock-1) out: column and block [velocity/force]
  !>   blocks                out: number of blocks; nothing is filled when it exceeds nblock (status 1)
  subroutine assemble_matrix(n, laying_out, adding, ncon, master, slave, nbody, body_kind, implicit, nrow, order, row_kind, &
                             entry_ptr, slave_entry, nentry, triple, entry, &
                             nbodyptr, body_ptr, nattached, attached_row, attached_entry, &
                             row_ptr, nblock, column, off_diagonal, blocks, status)
    integer(i4), intent(in) :: n, ncon
    logical, intent(in) :: laying_out, adding
    integer(i4), intent(in) :: master(0:ncon-1), slave(0:ncon-1)
    integer(i4), intent(in) :: nbody
    integer(i4), intent(in) :: body_kind(0:nbody-1), implicit(0:nbody-1)
    integer(i4), intent(in) :: nrow
    integer(i4), intent(in) :: order(0:nrow-1), row_kind(0:nrow-1), entry_ptr(0:nrow-1), slave_entry(0:nrow-1)
    integer(i4), intent(in) :: nentry
    integer(i4), intent(in) :: triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1)
    integer(i4), intent(in) :: nbodyptr
    integer(i4), intent(in) :: body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: nattached
    integer(i4), intent(in) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(inout) :: row_ptr(0:nrow-1)
    integer(i4), intent(in) :: nblock
    integer(i4), intent(inout) :: column(0:nblock-1)
    real(dp), intent(inout) :: off_diagonal(3,3,0:nblock-1)
    integer(i4), intent(out) :: blocks, status
    integer(i4) :: a, k1, k2, e1, e2, first(2), last(2)

    blocks = 0
    status = 0
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
        row_ptr(a) = merged_length(a, first, last)
      end do
      !$omp end parallel do
      do a = 0, n - 1
        length = row_ptr(a)
        row_ptr(a) = blocks
        blocks = blocks + length
      end do
      row_ptr(n) = blocks
      status = merge(1, 0, blocks > nblock)
    end subroutine place_rows

    !> The bodies row a acts on (-1: none) and the first of its entries for each.
    subroutine sides(a, k1, k2, e1, e2)
      integer(i4), intent(in) :: a
      integer(i4), intent(out) :: k1, k2, e1, e2
      integer(i4) :: kind
      kind = merge(contact_row, row_kind(a), row_kind(a) >= spring_dashpot_row)
      k1 = master(order(a))
      k2 = slave(order(a))
      e1 = entry_ptr(a)
      e2 = e1
      if (.not. acts_on(kind, body_kind(k1))) then
        k1 = -1
      else
        e2 = slave_entry(a)
      end if
      if (k2 >= 0) then
        if (k2 == k1 .or. .not. acts_on(kind, body_kind(k2))) k2 = -1
      end if
    end subroutine sides

    subroutine ranges(k1, k2, first, last)
      integer(i4), intent(in) :: k1, k2
      integer(i4), intent(out) :: first(2), last(2)
      first = 0
      last = 0
      if (k1 >= 0) first(1) = body_ptr(k1)
      if (k1 >= 0) last(1) = body_ptr(k1+1)
      if (k2 >= 0) first(2) = body_ptr(k2)
      if (k2 >= 0) last(2) = body_ptr(k2+1)
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
        if (attached_row(i) < attached_row(j)) then
          i = i + 1
        else if (attached_row(i) > attached_row(j)) then
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
      place = row_ptr(a)
      i = first(1)
      j = first(2)
      do while (i < last(1) .or. j < last(2))
        ci = huge(ci)
        cj = huge(cj)
        if (i < last(1)) ci = attached_row(i)
        if (j < last(2)) cj = attached_row(j)
        c = min(ci, cj)
        if (c == a) then
          if (ci == c) i = i + 1
          if (cj == c) j = j + 1
          cycle
        end if
        if (laying_out) then
          column(place) = c
          off_diagonal(:,:,place) = 0.0_dp
        end if
        if (ci == c) then
          if (adding) call add_products(k1, a, e1, i, off_diagonal(:,:,place))
          i = i + 1
        end if
        if (cj == c) then
          if (adding) call add_products(k2, a, e2, j, off_diagonal(:,:,place))
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
      eb = attached_entry(i)
      if (body_kind(k) /= finite_element_kind) then
        do x = 0, end_of(a, ea) - ea - 1
          call add_product(entry(:,:,ea+x), entry(:,:,eb+x), w)
        end do
        return
      end if
      do x = ea, end_of(a, ea) - 1
        do y = eb, end_of(attached_row(i), eb) - 1
          if (triple(x) == triple(y)) call add_product(entry(:,:,x), entry(:,:,y), w)
        end do
      end do
    end subroutine add_products

    !> One past the last entry that row a has on the body where its entries begin at e.
    pure integer(i4) function end_of(a, e)
      integer(i4), intent(in) :: a, e
      end_of = entry_ptr(a+1)
      if (e < slave_entry(a)) end_of = slave_entry(a)
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
