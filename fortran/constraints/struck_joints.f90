!> Detection of joints that an impact of their bodies has reached.
module struck_joints
  use kinds, only: dp, i4, i8
  use connected_sets, only: connect, root_of
  use kind_numbers, only: contact => constraint_contact, span => constraint_span, obstacle => body_obstacle, &
    fresh => joint_start_new, struck => joint_start_struck
  use row_block, only: is_round_off
  use row_families, only: family_of
  use row_family_base, only: row_family
  use row_tables, only: local_tables, open_constrained
  use state_tables, only: body_table, constraint_table
  use table_registry, only: table_open
  implicit none
  private
  public :: mark_struck_joints

  real(dp), parameter :: least = 1e-6_dp       !< part of the speed of an approach that an impact takes away

contains

  !> Marks in `start` the joints of all bodies that an impact has reached in the last step.
  !>
  !> A contact strikes if it stops an approach faster than the velocity that forces produce in one step.  The impact reaches all bodies
  !> connected by reactions with those of the contact, but does not pass through obstacles.
  !>
  !> Reads kind of bodies; kind, master and slave of constraints; order, R, V, B, speed and diagonal of rows.  Writes start of constraints.
  !>
  !>   bodies, constraints, local   BodyTable.handles, ConstraintTable, LocalDynamics.handles
  !>   n, users                     rows in use; the user's constraints, which come first in the table
  !>   known                        (0:nknown-1) of rows, 1: its reaction is that of this step, as in all rows if nknown is zero
  !>   hit                          (0:nbody-1) 1: an impact has reached the body; in: those that are known, out: all
  !>   marked                       number of joints marked
  !>   status                       `table_open` or `table_unknown`
  subroutine mark_struck_joints(bodies, constraints, local, n, users, nknown, known, nbody, hit, marked, status)
    integer(i8), intent(in) :: bodies(3), constraints, local(6)
    integer(i4), intent(in) :: n, users, nknown, nbody
    integer(i4), intent(in) :: known(0:nknown-1)
    integer(i4), intent(inout) :: hit(0:nbody-1)
    integer(i4), intent(out) :: marked, status
    type(body_table) :: body
    type(constraint_table) :: con
    type(local_tables) :: loc
    class(row_family), pointer :: family
    logical :: struck_body
    integer(i4) :: i

    marked = 0
    call open_constrained(bodies, constraints, local, body, con, loc, status)
    if (status /= table_open) return
    call spread_impacts(body, con, loc, n, nknown, known, hit)
    if (all(hit == 0)) return
    do i = 0, users - 1
      family => family_of(con%kind(i))
      if (.not. family%joint .or. con%start(i) == fresh) cycle
      struck_body = hit(con%master(i)) /= 0
      if (con%slave(i) >= 0) struck_body = struck_body .or. hit(con%slave(i)) /= 0
      if (.not. struck_body) cycle
      con%start(i) = struck
      marked = marked + 1
    end do
  end subroutine mark_struck_joints

  !> Finds the bodies that impacts reach.
  subroutine spread_impacts(body, con, loc, n, nknown, known, hit)
    type(body_table), intent(in) :: body
    type(constraint_table), intent(in) :: con
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: n, nknown, known(0:*)
    integer(i4), intent(inout) :: hit(0:*)          !< see mark_struck_joints
    integer(i4), allocatable :: parent(:)
    logical, allocatable :: reached(:)
    integer(i4) :: a, i, last

    last = int(body%rows, i4) - 1
    do a = 0, n - 1
      if (strikes(a)) exit
    end do
    if (a == n .and. all(hit(0:last) == 0)) return
    allocate(parent(0:last), reached(0:last))
    do i = 0, last
      parent(i) = i
    end do
    do a = 0, n - 1
      i = loc%rows%order(a)
      if (.not. is_known(a)) cycle
      if (con%slave(i) < 0 .or. .not. acts(a)) cycle
      if (body%kind(con%master(i)) == obstacle .or. body%kind(con%slave(i)) == obstacle) cycle
      call connect(parent, con%master(i), con%slave(i))
    end do
    reached = .false.
    do i = 0, last
      if (hit(i) /= 0) reached(root_of(parent, i)) = .true.
    end do
    do a = 0, n - 1
      i = loc%rows%order(a)
      if (.not. strikes(a)) cycle
      if (body%kind(con%master(i)) /= obstacle) reached(root_of(parent, con%master(i))) = .true.
      if (con%slave(i) < 0) cycle
      if (body%kind(con%slave(i)) /= obstacle) reached(root_of(parent, con%slave(i))) = .true.
    end do
    do i = 0, last
      if (reached(root_of(parent, i))) hit(i) = 1
    end do

  contains

    !> Whether the reaction of row a is that of this step.
    pure logical function is_known(a)
      integer(i4), intent(in) :: a

      is_known = nknown == 0
      if (.not. is_known) is_known = known(a) /= 0
    end function is_known

    !> Whether row a has a reaction; of contacts and ropes one that is more than round-off.
    pure logical function acts(a)
      integer(i4), intent(in) :: a

      acts = any(abs(loc%rows%R(:,a)) > 0.0_dp)
      if (all(con%kind(loc%rows%order(a)) /= [contact, span])) return
      acts = .not. is_round_off(loc%rows%diagonal(3,3,a), loc%rows%speed(a), norm2(loc%rows%R(:,a)))
    end function acts

    !> Whether row a is a contact that strikes.
    pure logical function strikes(a)
      integer(i4), intent(in) :: a

      strikes = .false.
      if (.not. is_known(a)) return
      if (con%kind(loc%rows%order(a)) /= contact .or. loc%rows%contact(a) >= 0) return
      strikes = -loc%rows%V(3,a) > abs(loc%rows%B(3,a) - loc%rows%V(3,a))
      if (strikes) strikes = loc%rows%diagonal(3,3,a)*loc%rows%R(3,a) > -least*loc%rows%V(3,a)
    end function strikes
  end subroutine spread_impacts
end module struck_joints
