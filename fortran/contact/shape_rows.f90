!> Rows of a shape in the geometry tables.
!>
!> Most bodies have one primitive: a call takes a fifth of the time of as many operations on short arrays (solfec/contact/geometry.py).
module shape_rows
  use kinds, only: dp, i4, i8
  use state_tables, only: vertex_table, vertex_list_table, face_table, corner_table, primitive_table, point_to_table
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
    type(vertex_table), pointer :: vertex_rows
    type(vertex_list_table), pointer :: list_rows
    type(corner_table), pointer :: corner_rows
    type(face_table), pointer :: face_rows
    type(primitive_table), pointer :: primitive_rows
    integer(i8) :: first_vertex, first_list, first_corner, first_face, row

    call point_to_table(handles(1), vertex_rows, status)
    if (status == table_open) call point_to_table(handles(2), list_rows, status)
    if (status == table_open) call point_to_table(handles(3), corner_rows, status)
    if (status == table_open) call point_to_table(handles(4), face_rows, status)
    if (status == table_open) call point_to_table(handles(5), primitive_rows, status)
    if (status /= table_open) return
    first_vertex = vertex_rows%rows - vertices
    vertex_rows%reference(:,first_vertex:vertex_rows%rows-1) = vertex
    vertex_rows%current(:,first_vertex:vertex_rows%rows-1) = vertex
    vertex_rows%body(first_vertex:vertex_rows%rows-1) = body
    first_list = list_rows%rows - vertices
    list_rows%vertex(first_list:list_rows%rows-1) = list + int(first_vertex, i4)
    first_corner = corner_rows%rows - corners
    corner_rows%vertex(first_corner:corner_rows%rows-1) = corner + int(first_vertex, i4)
    corner_rows%local(first_corner:corner_rows%rows-1) = local
    first_face = face_rows%rows - faces
    face_rows%corner_ptr(first_face:face_rows%rows-1) = corner_ptr + int(first_corner, i4)
    face_rows%corner_count(first_face:face_rows%rows-1) = corner_count
    face_rows%surface(first_face:face_rows%rows-1) = surface
    row = primitive_rows%rows - 1
    primitive_rows%kind(row) = kind
    primitive_rows%body(row) = body
    primitive_rows%deforming(row) = deforming
    primitive_rows%volume_id(row) = volume_id
    primitive_rows%orientation(:,:,row) = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3])
    primitive_rows%vertex_ptr(row) = int(first_list, i4)
    primitive_rows%vertex_count(row) = vertices
    primitive_rows%face_ptr(row) = int(first_face, i4)
    primitive_rows%face_count(row) = faces
    primitive_rows%outer_count(row) = outer_count
    primitive_rows%adjacent_ptr(row) = neighbours
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
    type(vertex_table), pointer :: vertex_rows
    type(vertex_list_table), pointer :: list_rows
    type(face_table), pointer :: face_rows
    type(primitive_table), pointer :: primitive_rows
    integer(i8) :: vertex, row
    integer :: k

    call point_to_table(handles(1), vertex_rows, status)
    if (status == table_open) call point_to_table(handles(2), list_rows, status)
    if (status == table_open) call point_to_table(handles(4), face_rows, status)
    if (status == table_open) call point_to_table(handles(5), primitive_rows, status)
    if (status /= table_open) return
    vertex = vertex_rows%rows - 1
    vertex_rows%reference(:,vertex) = centre
    vertex_rows%current(:,vertex) = centre
    vertex_rows%body(vertex) = body
    list_rows%vertex(list_rows%rows-1) = int(vertex, i4)
    row = primitive_rows%rows - 1
    primitive_rows%kind(row) = kind
    primitive_rows%body(row) = body
    primitive_rows%volume_id(row) = volume_id
    primitive_rows%surface(row) = surface
    primitive_rows%radius(row) = radius
    primitive_rows%radii(:,row) = radii
    primitive_rows%orientation(:,:,row) = orientation
    do k = 1, 3
      primitive_rows%axes(:,k,row) = orientation(:,k)*radii(k)
    end do
    primitive_rows%vertex_ptr(row) = int(list_rows%rows - 1, i4)
    primitive_rows%vertex_count(row) = 1
    primitive_rows%face_ptr(row) = int(face_rows%rows, i4)
    primitive_rows%adjacent_ptr(row) = neighbours
  end subroutine write_ball
end module shape_rows
