!> Detection of joints that an impact of their bodies has reached.
module struck_joints
  use kinds, only: dp, i4, i8
  use kind_numbers, only: contact => constraint_contact, obstacle => body_obstacle, fresh => joint_start_new, &
    struck => joint_start_struck
  use row_families, only: family_of
  use row_family_base, only: row_family
  use row_tables, only: local_tables, open_local
  use state_tables, only: body_table, constraint_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: mark_struck_joints

contains

  !> Marks in `start` the joints of all bodies that an impact has reached in the last step.
  !>
  !> A contact strikes if it stops an approach faster than the velocity that forces produce in one step.  The impact reaches all bodies
  !> connected by reactions with those of the contact, but does not pass through obstacles.
  !>
  !> Reads kind of bodies; kind, master and slave of constraints; order, R, V and B of rows.  Writes start of constraints.
  !>
  !>   bodies, constraints, local   BodyTable.handles, ConstraintTable, LocalDynamics.handles
  !>   n, users                     rows in use; the user's constraints, which come first in the table
  !>   marked                       number of joints marked
  !>   status                       `table_open` or `table_unknown`
  subroutine mark_struck_joints(bodies, constraints, local, n, users, marked, status)
    integer(i8), intent(in) :: bodies(3), constraints, local(6)
    integer(i4), intent(in) :: n, users
    integer(i4), intent(out) :: marked, status
    type(body_table) :: body
    type(constraint_table) :: con
    type(local_tables) :: loc
    integer(i4), allocatable :: parent(:)
    logical, allocatable :: reached(:)
    class(row_family), pointer :: family
    integer(i4) :: a, i

    marked = 0
    call open_table(bodies(1), body, status)
    if (status == table_open) call open_table(constraints, con, status)
    if (status == table_open) call open_local(local, loc, status)
    if (status /= table_open) return
    do a = 0, n - 1
      if (strikes(a)) exit
    end do
    if (a == n) return
    allocate(parent(0:int(body%rows)-1), reached(0:int(body%rows)-1))
    do i = 0, int(body%rows, i4) - 1
      parent(i) = i
    end do
    do a = 0, n - 1
      i = loc%rows%order(a)
      if (con%slave(i) < 0 .or. all(abs(loc%rows%R(:,a)) <= 0.0_dp)) cycle
      if (body%kind(con%master(i)) == obstacle .or. body%kind(con%slave(i)) == obstacle) cycle
      parent(root(con%master(i))) = root(con%slave(i))
    end do
    reached = .false.
    do a = 0, n - 1
      i = loc%rows%order(a)
      if (.not. strikes(a)) cycle
      if (body%kind(con%master(i)) /= obstacle) reached(root(con%master(i))) = .true.
      if (con%slave(i) < 0) cycle
      if (body%kind(con%slave(i)) /= obstacle) reached(root(con%slave(i))) = .true.
    end do
    do i = 0, users - 1
      family => family_of(con%kind(i))
      if (.not. family%joint .or. con%start(i) == fresh) cycle
      if (.not. reached(root(con%master(i)))) then
        if (con%slave(i) < 0) cycle
        if (.not. reached(root(con%slave(i)))) cycle
      end if
      con%start(i) = struck
      marked = marked + 1
    end do

  contains

    !> Whether row a is a contact that strikes.
    pure logical function strikes(a)
      integer(i4), intent(in) :: a

      strikes = .false.
      if (con%kind(loc%rows%order(a)) /= contact .or. loc%rows%contact(a) >= 0) return
      strikes = loc%rows%R(3,a) > 0.0_dp .and. -loc%rows%V(3,a) > abs(loc%rows%B(3,a) - loc%rows%V(3,a))
    end function strikes

    !> Representative of all bodies that are connected with body i.
    integer(i4) function root(i)
      integer(i4), intent(in) :: i

      root = i
      do while (parent(root) /= root)
        parent(root) = parent(parent(root))
        root = parent(root)
      end do
    end function root
  end subroutine mark_struck_joints
end module struck_joints
