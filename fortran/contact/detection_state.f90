!> Tables of contact detection, opened together from handles.
module detection_state
  use kinds, only: i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use polyhedra, only: shape_tables
  use shape_state, only: open_shapes
  use state_tables, only: constraint_table, surface_material_table, narrow_result, patch_result, workspace, still_boxes, &
    point_to_table
  use table_registry, only: table_open
  implicit none
  private
  public :: detection_tables, open_detection

  type :: detection_tables
    type(bodies_and_triples) :: state
    type(shape_tables) :: shapes
    type(constraint_table), pointer :: rows => null()
    type(surface_material_table), pointer :: materials => null()
    type(workspace), pointer :: work => null()
    type(still_boxes), pointer :: still => null()
    type(narrow_result), pointer :: found => null()
    type(patch_result), pointer :: patches => null()
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
    if (status == table_open) call point_to_table(handles(9), tables%rows, status)
    if (status == table_open) call point_to_table(handles(10), tables%materials, status)
    if (status == table_open) call point_to_table(handles(11), tables%work, status)
    if (status == table_open) call point_to_table(handles(12), tables%still, status)
    if (status == table_open) call point_to_table(handles(13), tables%found, status)
    if (status == table_open) call point_to_table(handles(14), tables%patches, status)
  end subroutine open_detection
end module detection_state
