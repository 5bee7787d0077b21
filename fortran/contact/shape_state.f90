!> Tables of shapes, opened together from handles.
module shape_state
  use kinds, only: i4, i8
  use polyhedra, only: shape_tables
  use state_tables, only: vertex_table, vertex_list_table, adjacency_table, primitive_table, current_faces, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: open_shapes

contains

  !> Opens the tables of `current_faces.shape_handles` in Python: vertices, vertex lists, adjacency, primitives, present faces; `status`
  !> is `table_open`, or that of the first unknown handle.
  subroutine open_shapes(handles, shapes, status)
    integer(i8), intent(in) :: handles(5)
    type(shape_tables), intent(out) :: shapes
    integer(i4), intent(out) :: status
    type(vertex_table) :: vertices
    type(vertex_list_table) :: lists
    type(adjacency_table) :: adjacency
    type(primitive_table) :: primitives
    type(current_faces) :: faces

    call open_table(handles(1), vertices, status)
    if (status == table_open) call open_table(handles(2), lists, status)
    if (status == table_open) call open_table(handles(3), adjacency, status)
    if (status == table_open) call open_table(handles(4), primitives, status)
    if (status == table_open) call open_table(handles(5), faces, status)
    if (status /= table_open) return
    shapes%primitives = int(primitives%rows, i4)
    shapes%vertices = int(vertices%rows, i4)
    shapes%kind => primitives%kind
    shapes%body => primitives%body
    shapes%surface => primitives%surface
    shapes%radius => primitives%radius
    shapes%axes => primitives%axes
    shapes%radii => primitives%radii
    shapes%orientation => primitives%orientation
    shapes%box => primitives%box
    shapes%margin => primitives%margin
    shapes%drift => primitives%drift
    shapes%reach => primitives%reach
    shapes%vertex_ptr => primitives%vertex_ptr
    shapes%vertex_count => primitives%vertex_count
    shapes%adjacent_ptr => primitives%adjacent_ptr
    shapes%adjacent_count => primitives%adjacent_count
    shapes%adjacent => adjacency%primitive
    shapes%face_ptr => faces%face_ptr
    shapes%face_count => faces%face_count
    shapes%outer_count => faces%outer_count
    shapes%edge_count => faces%edge_count
    shapes%vertex_list => lists%vertex
    shapes%corner_ptr => faces%corner_ptr
    shapes%corner_count => faces%corner_count
    shapes%face_surface => faces%surface
    shapes%normal => faces%normal
    shapes%corner => faces%local
    shapes%corner_vertex => faces%vertex
    shapes%edge => faces%edge
    shapes%current => vertices%current
    shapes%reference => vertices%reference
    shapes%vertex_body => vertices%body
    shapes%vertex_node => vertices%node
  end subroutine open_shapes
end module shape_state
