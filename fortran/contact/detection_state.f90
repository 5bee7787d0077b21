!> Tables of contact detection, opened together from handles.
module detection_state
  use kinds, only: i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use polyhedra, only: shape_tables
  use shape_state, only: open_shapes
  use state_tables, only: contact_work, open_contact_work
  use table_registry, only: table_open
  implicit none
  private
  public :: detection_tables, open_detection

  type, extends(contact_work) :: detection_tables
    type(bodies_and_triples) :: state
    type(shape_tables) :: shapes
  end type detection_tables

contains

  !> Opens the tables of `Detection.handles` in Python: bodies (3), shapes (5), constraints, surface materials, work space, obstacles at
  !> rest, results and patches of the narrow phase.  `status` is `table_open`, or that of the first unknown handle.
  subroutine open_detection(handles, tables, status)
    integer(i8), intent(in) :: handles(14)
    type(detection_tables), intent(out) :: tables
    integer(i4), intent(out) :: status

    call open_bodies(handles(1:3), tables%state, status)
    if (status == table_open) call open_shapes(handles(4:8), tables%shapes, status)
    if (status == table_open) call open_contact_work(handles(9:14), tables%contact_work, status)
  end subroutine open_detection
end module detection_state
