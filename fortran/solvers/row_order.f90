!> Which constraint is which row, and which rows act on which body.
module row_order
  use kinds, only: i4, i8
  use velocity_operator, only: obstacle_kind, pseudo_rigid_kind, finite_element_kind
  use row_block, only: contact_row
  implicit none
  private
  public :: sweep_order, attach, acts_on, triples_of

contains

  !> Contacts by birth step, newest first, then the user's constraints, last created first (decides Gauss-Seidel's sweep).
  pure subroutine sweep_order(n, users, birth, order)
    integer(i4), intent(in) :: n, users
    integer(i8), intent(in) :: birth(0:*)
    integer(i4), intent(inout) :: order(0:*)
    integer(i4) :: first, last, i, a

    a = 0
    last = n - 1
    do while (last >= users)
      first = last
      do while (first > users)
        if (birth(first-1) /= birth(last)) exit
        first = first - 1
      end do
      do i = first, last
        order(a) = i
        a = a + 1
      end do
      last = first - 1
    end do
    do i = users - 1, 0, -1
      order(a) = i
      a = a + 1
    end do
  end subroutine sweep_order

  !> First entry of every row and first one of its slave, and body by body the rows acting on it in the order of rows.
  !> A row has one entry for each velocity triple of its bodies, or for each node of the elements that hold its points;
  !> a self-contact keeps those of both points as its master's.
  pure subroutine attach(n, order, kind, master, slave, bodies, body_kind, element_ptr, element, element_size, &
                         nrow, entry_ptr, slave_entry, nbodyptr, body_ptr, &
                         nattached, attached_row, attached_entry, entries, attachments, visits)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: order(0:*), kind(0:*), master(0:*), slave(0:*)
    integer(i4), intent(in) :: bodies
    integer(i4), intent(in) :: body_kind(0:*), element_ptr(0:*), element(2,0:*), element_size(0:*)
    integer(i4), intent(in) :: nrow, nbodyptr, nattached
    integer(i4), intent(inout) :: entry_ptr(0:nrow-1), slave_entry(0:nrow-1), body_ptr(0:nbodyptr-1)
    integer(i4), intent(inout) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(out) :: entries, attachments
    integer(i8), intent(out) :: visits
    integer(i4) :: a, i, k, position

    ! body_ptr(k+1) counts the attachments of body k, then holds the next free place, and ends as a pointer
    body_ptr(0:bodies) = 0
    entries = 0
    do a = 0, n - 1
      i = order(a)
      entry_ptr(a) = entries
      k = master(i)
      if (acts_on(kind(i), body_kind(k))) then
        entries = entries + blocks_of(k, element(1,i))
        body_ptr(k+1) = body_ptr(k+1) + 1
        if (slave(i) == k .and. body_kind(k) == finite_element_kind) entries = entries + blocks_of(k, element(2,i))
      end if
      slave_entry(a) = entries
      if (slave(i) < 0 .or. slave(i) == k) cycle
      k = slave(i)
      if (acts_on(kind(i), body_kind(k))) then
        entries = entries + blocks_of(k, element(2,i))
        body_ptr(k+1) = body_ptr(k+1) + 1
      end if
    end do
    entry_ptr(n) = entries
    visits = 0
    attachments = 0
    do k = 0, bodies - 1
      visits = visits + int(body_ptr(k+1), i8)*(body_ptr(k+1) - 1)
      position = attachments
      attachments = attachments + body_ptr(k+1)
      body_ptr(k+1) = position
    end do
    if (attachments > nattached) return
    do a = 0, n - 1
      i = order(a)
      position = entry_ptr(a)
      k = master(i)
      if (acts_on(kind(i), body_kind(k))) then
        attached_row(body_ptr(k+1)) = a
        attached_entry(body_ptr(k+1)) = position
        body_ptr(k+1) = body_ptr(k+1) + 1
        position = slave_entry(a)
      end if
      if (slave(i) < 0 .or. slave(i) == k) cycle
      k = slave(i)
      if (acts_on(kind(i), body_kind(k))) then
        attached_row(body_ptr(k+1)) = a
        attached_entry(body_ptr(k+1)) = position
        body_ptr(k+1) = body_ptr(k+1) + 1
      end if
    end do

  contains

    !> Blocks of the operator of a point in element e of body k.
    pure integer(i4) function blocks_of(k, e)
      integer(i4), intent(in) :: k, e
      if (body_kind(k) == finite_element_kind) then
        blocks_of = element_size(element_ptr(k)+e)
      else
        blocks_of = triples_of(body_kind(k))
      end if
    end function blocks_of
  end subroutine attach

  !> Contacts do not act on obstacles; other constraints do, with the obstacle's own mass.
  elemental function acts_on(kind, body_kind) result(answer)
    integer(i4), intent(in) :: kind, body_kind
    logical :: answer
    answer = kind /= contact_row .or. body_kind /= obstacle_kind
  end function acts_on

  !> Velocity triples of a body kind (of finite elements: see attach).
  elemental function triples_of(body_kind) result(count)
    integer(i4), intent(in) :: body_kind
    integer(i4) :: count
    count = merge(4, 2, body_kind == pseudo_rigid_kind)
  end function triples_of
end module row_order
