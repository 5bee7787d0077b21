!> The rows of a step: one per constraint, and a second one per contact with rolling or spinning friction.
module row_list
  use kinds, only: dp, i4
  use body_state, only: bodies_and_triples
  use row_colours, only: order_rows
  use row_order, only: triples_of
  use row_tables, only: local_tables
  use state_tables, only: constraint_table, surface_material_table
  use velocity_operator, only: obstacle_kind
  implicit none
  private
  public :: list_rows

contains

  !> Orders the constraints as rows (row_colours), and puts rolling rows, in the order of their contacts, between the contacts and the user's constraints.
  !>
  !> Reads of bodies kind, rest, velo_ptr and inverse_inertia; of constraints master, slave, birth and material; of surface materials the lengths.
  !> Writes of rows order, chunk_ptr, contact and arm.
  !>
  !>   users, coloured, colour_ptr, colours    see row_colours
  !>   n                                       out: number of rows
  !>   lacking                                 out: rows need room for two per contact and one per other constraint; nothing is done
  subroutine list_rows(state, con, mat, loc, users, coloured, ncolourptr, colour_ptr, colours, n, lacking)
    type(bodies_and_triples), intent(in) :: state
    type(constraint_table), intent(in) :: con
    type(surface_material_table), intent(in) :: mat
    type(local_tables), intent(in) :: loc    !< columns of rows change
    integer(i4), intent(in) :: users, coloured, ncolourptr
    integer(i4), intent(inout) :: colour_ptr(0:ncolourptr-1)
    integer(i4), intent(out) :: colours, n
    logical, intent(out) :: lacking
    logical :: rolls

    colours = 0
    n = int(con%rows, i4)
    rolls = any(mat%rolling_length(0:mat%rows-1) > 0.0_dp .or. mat%spinning_length(0:mat%rows-1) > 0.0_dp)
    lacking = rolls .and. size(loc%rows%order) < 2*n - users + 1   ! one more ends the pointers
    if (lacking) return
    call order_rows(n, users, coloured, con%master, con%slave, con%birth, state%n, state%bodies%kind, &
                    state%bodies%rest, loc%rows%order, loc%rows%chunk_ptr, loc%rows%group_ptr, ncolourptr, colour_ptr, &
                    colours)
    loc%rows%contact(0:n-1) = -1
    loc%rows%arm(0:n-1) = 0.0_dp
    if (rolls) call add_rolling_rows(users, state, con, mat, loc, n)
  end subroutine list_rows

  !> Adds the rolling rows behind the contacts; the user's constraints, the last rows, move up.
  subroutine add_rolling_rows(users, state, con, mat, loc, n)
    integer(i4), intent(in) :: users
    type(bodies_and_triples), intent(in) :: state
    type(constraint_table), intent(in) :: con
    type(surface_material_table), intent(in) :: mat
    type(local_tables), intent(in) :: loc    !< columns of rows change
    integer(i4), intent(inout) :: n
    integer(i4) :: of_users(0:users-1), a, contacts, i
    real(dp) :: arm

    contacts = n - users
    of_users = loc%rows%order(contacts:n-1)
    n = contacts
    do a = 0, contacts - 1
      i = loc%rows%order(a)
      if (.not. (mat%rolling_length(con%material(i)) > 0.0_dp .or. mat%spinning_length(con%material(i)) > 0.0_dp)) cycle
      arm = arm_of(state, con%master(i), con%slave(i))
      if (.not. arm > 0.0_dp) cycle
      loc%rows%order(n) = i
      loc%rows%contact(n) = a
      loc%rows%arm(n) = arm
      n = n + 1
    end do
    loc%rows%order(n:n+users-1) = of_users
    loc%rows%contact(n:n+users-1) = -1
    loc%rows%arm(n:n+users-1) = 0.0_dp
    n = n + users
  end subroutine add_rolling_rows

  !> Length at which turning counts as moving: a force at this arm turns two bodies as readily as it moves them, arm^2 = tr(1/m)/tr(J^-1).
  !> It scales angular velocities and moments only.  Zero if neither body turns.
  real(dp) function arm_of(state, master, slave)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: master, slave
    real(dp) :: turning, moving

    turning = 0.0_dp
    moving = 0.0_dp
    call add(master)
    call add(slave)
    arm_of = 0.0_dp
    if (turning > 0.0_dp .and. moving > 0.0_dp) arm_of = sqrt(moving/turning)

  contains

    subroutine add(k)
      integer(i4), intent(in) :: k
      integer(i4) :: first, last

      if (state%bodies%kind(k) == obstacle_kind) return
      first = state%bodies%velo_ptr(k)
      last = first + triples_of(state%bodies%kind(k)) - 1
      turning = turning + trace(state%triples%inverse_inertia(:,:,first))
      moving = moving + trace(state%triples%inverse_inertia(:,:,last))
    end subroutine add

    pure real(dp) function trace(m)
      real(dp), intent(in) :: m(3,3)
      trace = m(1,1) + m(2,2) + m(3,3)
    end function trace
  end function arm_of
end module row_list
