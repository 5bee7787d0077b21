!> The tables that hold the local dynamics of a step, opened together.
module row_tables
  use kinds, only: i4, i8
  use state_tables, only: body_table, constraint_table, local_tables, open_local => open_local_tables, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: local_tables, open_local, open_constrained

contains

  !> Opens these tables by LocalDynamics.handles, and those of bodies and constraints.
  subroutine open_constrained(bodies, constraints, handles, body, con, local, status)
    integer(i8), intent(in) :: bodies(3), constraints, handles(6)
    type(body_table), intent(out) :: body
    type(constraint_table), intent(out) :: con
    type(local_tables), intent(out) :: local
    integer(i4), intent(out) :: status

    call open_table(bodies(1), body, status)
    if (status == table_open) call open_table(constraints, con, status)
    if (status == table_open) call open_local(handles, local, status)
  end subroutine open_constrained
end module row_tables
