!> Order of constraints as rows, and lists of the rows that act on each body.
module row_order
  use kinds, only: i4, i8
  use state_tables, only: body_table, constraint_table
  use row_tables, only: local_tables
  use velocity_operator, only: obstacle_kind, pseudo_rigid_kind, finite_element_kind
  use kind_numbers, only: contact_row => constraint_contact
  implicit none
  private
  public :: sweep_order, attach, acts_on, triples_of, end_of

contains

  !> Orders rows for Gauss-Seidel's sweep: contacts by birth step, newest first, then the user's constraints, last created first.
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

  !> Finds the first entry of every row and of its slave, and lists for each body the rows that act on it, ascending.
  !> A row has one entry for each velocity triple of its bodies, or for each node of the elements that hold its points;
  !> a self-contact has the entries of both points on its master's side.
  !>
  !> Reads of rows order; writes entry_ptr and slave_entry, pointers, and attachments where there is room for them.
  subroutine attach(n, bodies, con, element_size, loc, entries, attachments, visits)
    integer(i4), intent(in) :: n
    type(body_table), intent(in) :: bodies
    type(constraint_table), intent(in) :: con
    integer(i4), intent(in) :: element_size(0:*)
    type(local_tables), intent(in) :: loc    !< their columns change
    integer(i4), intent(out) :: entries, attachments
    integer(i8), intent(out) :: visits
    integer(i4) :: a, i, k, position

    ! loc%pointers%attachment(k+1) counts the attachments of body k, then holds the next free place, and ends as a pointer
    loc%pointers%attachment(0:bodies%rows) = 0
    entries = 0
    do a = 0, n - 1
      i = loc%rows%order(a)
      loc%rows%entry_ptr(a) = entries
      k = con%master(i)
      if (acts_on(con, i, bodies%kind(k))) then
        entries = entries + blocks_of(k, con%element(1,i))
        loc%pointers%attachment(k+1) = loc%pointers%attachment(k+1) + 1
        if (con%slave(i) == k .and. bodies%kind(k) == finite_element_kind) entries = entries + blocks_of(k, con%element(2,i))
      end if
      loc%rows%slave_entry(a) = entries
      if (con%slave(i) < 0 .or. con%slave(i) == k) cycle
      k = con%slave(i)
      if (acts_on(con, i, bodies%kind(k))) then
        entries = entries + blocks_of(k, con%element(2,i))
        loc%pointers%attachment(k+1) = loc%pointers%attachment(k+1) + 1
      end if
    end do
    loc%rows%entry_ptr(n) = entries
    visits = 0
    attachments = 0
    do k = 0, int(bodies%rows, i4) - 1
      visits = visits + int(loc%pointers%attachment(k+1), i8)*(loc%pointers%attachment(k+1) - 1)
      position = attachments
      attachments = attachments + loc%pointers%attachment(k+1)
      loc%pointers%attachment(k+1) = position
    end do
    if (attachments > size(loc%attachments%row)) return
    do a = 0, n - 1
      i = loc%rows%order(a)
      position = loc%rows%entry_ptr(a)
      k = con%master(i)
      if (acts_on(con, i, bodies%kind(k))) then
        loc%attachments%row(loc%pointers%attachment(k+1)) = a
        loc%attachments%entry(loc%pointers%attachment(k+1)) = position
        loc%pointers%attachment(k+1) = loc%pointers%attachment(k+1) + 1
        position = loc%rows%slave_entry(a)
      end if
      if (con%slave(i) < 0 .or. con%slave(i) == k) cycle
      k = con%slave(i)
      if (acts_on(con, i, bodies%kind(k))) then
        loc%attachments%row(loc%pointers%attachment(k+1)) = a
        loc%attachments%entry(loc%pointers%attachment(k+1)) = position
        loc%pointers%attachment(k+1) = loc%pointers%attachment(k+1) + 1
      end if
    end do

  contains

    !> Number of blocks of the operator of a point in element e of body k.
    pure integer(i4) function blocks_of(k, e)
      integer(i4), intent(in) :: k, e
      if (bodies%kind(k) == finite_element_kind) then
        blocks_of = element_size(bodies%element_ptr(k)+e)
      else
        blocks_of = triples_of(bodies%kind(k))
      end if
    end function blocks_of
  end subroutine attach

  !> Whether constraint i acts on a body of a kind.  Contacts, and joints of mechanisms between an obstacle and another body, do not act
  !> on obstacles.  The user's other constraints do, since they may drive obstacles; the obstacle's mass counts.
  pure function acts_on(con, i, body_kind) result(answer)
    type(constraint_table), intent(in) :: con
    integer(i4), intent(in) :: i, body_kind
    logical :: answer
    answer = body_kind /= obstacle_kind
    if (.not. answer) answer = con%kind(i) /= contact_row .and. (con%joint(i) == 0 .or. con%slave(i) < 0)
  end function acts_on

  !> Number of velocity triples of a body kind (of finite elements: see attach).
  elemental function triples_of(body_kind) result(count)
    integer(i4), intent(in) :: body_kind
    integer(i4) :: count
    count = merge(4, 2, body_kind == pseudo_rigid_kind)
  end function triples_of

  !> One past the last entry, on its body, of the row of an attachment.
  pure integer(i4) function end_of(loc, attachment)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: attachment

    associate (a => loc%attachments%row(attachment))
      end_of = loc%rows%entry_ptr(a+1)
      if (loc%attachments%entry(attachment) < loc%rows%slave_entry(a)) end_of = loc%rows%slave_entry(a)
    end associate
  end function end_of
end module row_order
