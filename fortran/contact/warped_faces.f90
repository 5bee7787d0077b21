!> Faces of shapes that deform: warped polygons become triangles, and one polygon again when they are flat.
module warped_faces
  use kinds, only: dp, i4, i8
  use matrix3, only: cross
  use polyhedra, only: shape_tables, find_normals
  use shape_edges, only: not_listed
  use shape_state, only: open_shapes
  use state_tables, only: primitive_table, face_table, corner_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: split_faces

  !> Sine of the angle between the triangles of a polygon; above it the polygon is split.  It is that of round-off: nodes off a plane
  !> through others are as far off as stiff bodies deform.
  real(dp), parameter :: warped = 1.0e-9_dp
  integer, parameter :: parallel_from = 200

contains

  !> Writes the present faces of deforming primitives (docs/theory.md, Contact points).  A warped quadrilateral is split into
  !> the two triangles that meet in a ridge, so that the faces bound the convex hull of the nodes; a warped face with
  !> more corners is split into a fan.
  !>
  !> Reads the shape's faces and corners; writes the present ones: face_count and outer_count of primitives, corners and surfaces of
  !> faces.  Edges of primitives whose faces have changed are no longer listed; few do, from one step to the next.
  !>
  !>   shape_handles        of shapes with present faces (`open_shapes`)
  !>   table_handles        of the tables of primitives, faces and corners
  !>   primitive            (:) rows of primitives that deform
  !>   with_normals         1: computes normals of faces, too; else they wait until pairs need them (`face_normals`)
  !>   failure              100: a handle is void
  subroutine split_faces(shape_handles, table_handles, primitive, with_normals, failure, listed)
    integer(i8), intent(in) :: shape_handles(5), table_handles(3)
    integer(i4), intent(in) :: with_normals
    integer(i4), intent(out) :: failure
    type(shape_tables) :: shapes
    type(primitive_table) :: primitives
    type(face_table) :: faces
    type(corner_table) :: corners
    integer(i4), intent(in) :: listed
    integer(i4), intent(in) :: primitive(0:listed-1)
    integer :: i, row

    call open_shapes(shape_handles, shapes, failure)
    if (failure == table_open) call open_table(table_handles(1), primitives, failure)
    if (failure == table_open) call open_table(table_handles(2), faces, failure)
    if (failure == table_open) call open_table(table_handles(3), corners, failure)
    if (failure /= table_open) return
    !$omp parallel do if (size(primitive) > parallel_from) schedule(static) private(row)
    do i = 0, size(primitive) - 1
      row = primitive(i)
      call split_one(row, primitives, faces, corners, shapes)
      if (with_normals /= 0) call find_normals(row, shapes)
    end do
  end subroutine split_faces

  !> Writes the present faces of one primitive.
  subroutine split_one(row, primitives, faces, corners, shapes)
    integer, intent(in) :: row
    type(primitive_table), intent(in) :: primitives
    type(face_table), intent(in) :: faces
    type(corner_table), intent(in) :: corners
    type(shape_tables), intent(in) :: shapes
    integer(i4) :: piece(0:2)
    integer :: k, m, c, source, face, from, to, corners_here, pieces, count, number
    logical :: ridge, changed

    changed = .false.
    face = shapes%face_ptr(row)
    to = shapes%corner_ptr(face)
    do k = 0, primitives%face_count(row) - 1
      if (k == primitives%outer_count(row)) shapes%outer_count(row) = face - shapes%face_ptr(row)
      source = primitives%face_ptr(row) + k
      from = faces%corner_ptr(source)
      corners_here = faces%corner_count(source)
      call find_pieces(corners_here, corners%vertex(from:), shapes%current, pieces, ridge)
      do m = 1, pieces
        piece = [0, m, m + 1]
        if (.not. ridge) piece = merge([0, 1, 3], [1, 2, 3], m == 1)
        count = merge(corners_here, 3, pieces == 1)
        changed = changed .or. shapes%corner_ptr(face) /= to .or. shapes%corner_count(face) /= count
        shapes%corner_ptr(face) = to
        shapes%corner_count(face) = count
        shapes%face_surface(face) = faces%surface(source)
        do c = 0, count - 1
          number = from + merge(c, piece(min(c, 2)), pieces == 1)
          changed = changed .or. shapes%corner(to + c) /= corners%local(number)
          shapes%corner(to + c) = corners%local(number)
          shapes%corner_vertex(to + c) = corners%vertex(number)
        end do
        to = to + count
        face = face + 1
      end do
    end do
    changed = changed .or. shapes%face_count(row) /= face - shapes%face_ptr(row)
    shapes%face_count(row) = face - shapes%face_ptr(row)
    if (primitives%outer_count(row) == primitives%face_count(row)) shapes%outer_count(row) = shapes%face_count(row)
    if (changed) shapes%edge_count(row) = not_listed
  end subroutine split_one

  !> Number of faces into which a polygon is split at present: 1 if it is flat, else triangles of a fan from its first corner. For
  !> quadrilaterals `ridge` is false if the fan from the second corner is the convex one.
  pure subroutine find_pieces(count, corner, current, pieces, ridge)
    integer, intent(in) :: count
    integer(i4), intent(in) :: corner(0:count-1)
    real(dp), intent(in) :: current(3,0:*)
    integer, intent(out) :: pieces
    logical, intent(out) :: ridge
    real(dp) :: from(3), one(3), two(3), fold(3)
    integer :: k

    pieces = 1
    ridge = .true.
    from = current(:,corner(0))
    one = cross(current(:,corner(1)) - from, current(:,corner(2)) - from)
    do k = 2, count - 2
      two = cross(current(:,corner(k)) - from, current(:,corner(k+1)) - from)
      fold = cross(one, two)
      if (dot_product(fold, fold) <= warped**2*dot_product(one, one)*dot_product(two, two)) cycle
      pieces = count - 2
      if (count == 4) ridge = dot_product(fold, from - current(:,corner(2))) > 0.0_dp
      return
    end do
  end subroutine find_pieces
end module warped_faces
