!> Tables of shapes, opened together from handles.
module shape_state
  use kinds, only: i4, i8
  use polyhedra, only: shape_tables
  use state_tables, only: present_tables, open_present_tables
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
    type(present_tables) :: opened

    call open_present_tables(handles, opened, status)
    if (status /= table_open) return
    shapes%primitives = int(opened%primitives%rows, i4)
    shapes%vertices = int(opened%vertices%rows, i4)
    shapes%kind => opened%primitives%kind
    shapes%body => opened%primitives%body
    shapes%surface => opened%primitives%surface
    shapes%radius => opened%primitives%radius
    shapes%axes => opened%primitives%axes
    shapes%radii => opened%primitives%radii
    shapes%orientation => opened%primitives%orientation
    shapes%box => opened%primitives%box
    shapes%margin => opened%primitives%margin
    shapes%drift => opened%primitives%drift
    shapes%push => opened%primitives%push
    shapes%reach => opened%primitives%reach
    shapes%vertex_ptr => opened%primitives%vertex_ptr
    shapes%vertex_count => opened%primitives%vertex_count
    shapes%adjacent_ptr => opened%primitives%adjacent_ptr
    shapes%adjacent_count => opened%primitives%adjacent_count
    shapes%adjacent => opened%adjacency%primitive
    shapes%face_ptr => opened%faces%face_ptr
    shapes%face_count => opened%faces%face_count
    shapes%outer_count => opened%faces%outer_count
    shapes%edge_count => opened%faces%edge_count
    shapes%vertex_list => opened%vertex_lists%vertex
    shapes%corner_ptr => opened%faces%corner_ptr
    shapes%corner_count => opened%faces%corner_count
    shapes%face_surface => opened%faces%surface
    shapes%normal => opened%faces%normal
    shapes%corner => opened%faces%local
    shapes%corner_vertex => opened%faces%vertex
    shapes%edge => opened%faces%edge
    shapes%current => opened%vertices%current
    shapes%reference => opened%vertices%reference
    shapes%vertex_body => opened%vertices%body
    shapes%vertex_node => opened%vertices%node
  end subroutine open_shapes
end module shape_state
