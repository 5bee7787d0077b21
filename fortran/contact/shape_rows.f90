!> Rows of a shape in the geometry tables.
!>
!> Most bodies have one primitive: a call takes a fifth of the time of as many operations on short arrays (solfec/contact/geometry.py).
module shape_rows
  use kinds, only: dp, i4, i8
  use state_tables, only: geometry_tables, open_geometry_tables
  use table_registry, only: table_open
  implicit none
  private
  public :: write_polyhedron, write_ball

contains

  !> Writes a polyhedron without neighbours into the last rows of the geometry tables, which hold fill values so far.
  !>
  !>   handles            of vertices, vertex lists, corners, faces and primitives
  !>   body               row of the body that it belongs to
  !>   neighbours         rows of the adjacency table
  !>   kind, volume_id, outer_count, deforming   columns of the primitive
  !>   vertex             (3,:) coordinates
  !>   list, corner, local, corner_ptr, corner_count, surface   as in ShapePrimitives
  subroutine write_polyhedron(handles, body, neighbours, kind, volume_id, outer_count, deforming, vertex, list, corner, local, &
                              corner_ptr, corner_count, surface, status, vertices, corners, faces)
    integer(i4), intent(in) :: vertices, corners, faces
    integer(i8), intent(in) :: handles(5)
    integer(i4), intent(in) :: body, neighbours, kind, volume_id, outer_count, deforming
    real(dp), intent(in) :: vertex(3,vertices)
    integer(i4), intent(in) :: list(vertices), corner(corners), local(corners)
    integer(i4), intent(in) :: corner_ptr(faces), corner_count(faces), surface(faces)
    integer(i4), intent(out) :: status
    type(geometry_tables) :: geometry
    integer(i8) :: first_vertex, first_list, first_corner, first_face, row

    call open_geometry_tables(handles, geometry, status)
    if (status /= table_open) return
    first_vertex = geometry%vertices%rows - vertices
    geometry%vertices%reference(:,first_vertex:geometry%vertices%rows-1) = vertex
    geometry%vertices%current(:,first_vertex:geometry%vertices%rows-1) = vertex
    geometry%vertices%body(first_vertex:geometry%vertices%rows-1) = body
    first_list = geometry%vertex_lists%rows - vertices
    geometry%vertex_lists%vertex(first_list:geometry%vertex_lists%rows-1) = list + int(first_vertex, i4)
    first_corner = geometry%corners%rows - corners
    geometry%corners%vertex(first_corner:geometry%corners%rows-1) = corner + int(first_vertex, i4)
    geometry%corners%local(first_corner:geometry%corners%rows-1) = local
    first_face = geometry%faces%rows - faces
    geometry%faces%corner_ptr(first_face:geometry%faces%rows-1) = corner_ptr + int(first_corner, i4)
    geometry%faces%corner_count(first_face:geometry%faces%rows-1) = corner_count
    geometry%faces%surface(first_face:geometry%faces%rows-1) = surface
    row = geometry%primitives%rows - 1
    geometry%primitives%kind(row) = kind
    geometry%primitives%body(row) = body
    geometry%primitives%deforming(row) = deforming
    geometry%primitives%volume_id(row) = volume_id
    geometry%primitives%orientation(:,:,row) = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3])
    geometry%primitives%vertex_ptr(row) = int(first_list, i4)
    geometry%primitives%vertex_count(row) = vertices
    geometry%primitives%face_ptr(row) = int(first_face, i4)
    geometry%primitives%face_count(row) = faces
    geometry%primitives%outer_count(row) = outer_count
    geometry%primitives%adjacent_ptr(row) = neighbours
  end subroutine write_polyhedron

  !> Writes a sphere or an ellipsoid into the last rows of the geometry tables, as `write_polyhedron` does.
  !>
  !>   radius               of a sphere; 0: an ellipsoid
  !>   radii, orientation   of an ellipsoid, as in PrimitiveTable; of a sphere 0 and the identity
  subroutine write_ball(handles, body, neighbours, kind, volume_id, surface, centre, radius, radii, orientation, status)
    integer(i8), intent(in) :: handles(5)
    integer(i4), intent(in) :: body, neighbours, kind, volume_id, surface
    real(dp), intent(in) :: centre(3), radius, radii(3), orientation(3,3)
    integer(i4), intent(out) :: status
    type(geometry_tables) :: geometry
    integer(i8) :: vertex, row
    integer :: k

    call open_geometry_tables(handles, geometry, status)
    if (status /= table_open) return
    vertex = geometry%vertices%rows - 1
    geometry%vertices%reference(:,vertex) = centre
    geometry%vertices%current(:,vertex) = centre
    geometry%vertices%body(vertex) = body
    geometry%vertex_lists%vertex(geometry%vertex_lists%rows-1) = int(vertex, i4)
    row = geometry%primitives%rows - 1
    geometry%primitives%kind(row) = kind
    geometry%primitives%body(row) = body
    geometry%primitives%volume_id(row) = volume_id
    geometry%primitives%surface(row) = surface
    geometry%primitives%radius(row) = radius
    geometry%primitives%radii(:,row) = radii
    geometry%primitives%orientation(:,:,row) = orientation
    do k = 1, 3
      geometry%primitives%axes(:,k,row) = orientation(:,k)*radii(k)
    end do
    geometry%primitives%vertex_ptr(row) = int(geometry%vertex_lists%rows - 1, i4)
    geometry%primitives%vertex_count(row) = 1
    geometry%primitives%face_ptr(row) = int(geometry%faces%rows, i4)
    geometry%primitives%adjacent_ptr(row) = neighbours
  end subroutine write_ball
end module shape_rows
