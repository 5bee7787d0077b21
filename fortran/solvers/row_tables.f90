!> The tables that hold the local dynamics of a step, opened together.
module row_tables
  use kinds, only: i4, i8
  use state_tables, only: body_table, constraint_table, row_table, entry_table, block_table, attachment_table, pointer_table, &
    triple_work, open_table, point_to_table
  use table_registry, only: table_open
  implicit none
  private
  public :: local_tables, open_local, open_constrained

  !> Rows; their entries H' on bodies; off-diagonal blocks of W; rows attached to bodies; factors and momenta of velocity triples.
  type :: local_tables
    type(row_table), pointer :: rows => null()
    type(entry_table), pointer :: entries => null()
    type(block_table), pointer :: blocks => null()
    type(attachment_table), pointer :: attachments => null()
    type(pointer_table), pointer :: pointers => null()
    type(triple_work), pointer :: triples => null()
  end type local_tables

contains

  !> Opens the tables of LocalDynamics.handles; `status` is `table_open`, or that of the first unknown handle.
  subroutine open_local(handles, local, status)
    integer(i8), intent(in) :: handles(6)
    type(local_tables), intent(out) :: local
    integer(i4), intent(out) :: status

    call point_to_table(handles(1), local%rows, status)
    if (status == table_open) call point_to_table(handles(2), local%entries, status)
    if (status == table_open) call point_to_table(handles(3), local%blocks, status)
    if (status == table_open) call point_to_table(handles(4), local%attachments, status)
    if (status == table_open) call point_to_table(handles(5), local%pointers, status)
    if (status == table_open) call point_to_table(handles(6), local%triples, status)
  end subroutine open_local

  !> Opens these tables, and those of bodies and constraints.
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
