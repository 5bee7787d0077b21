!> Faces of shapes that deform: polygons that warp become triangles, and one polygon again when they flatten.
module warped_faces
  use kinds, only: dp, i4
  implicit none
  private
  public :: split_faces

  !> Sine of the angle between the triangles of a polygon above which it is split.
  real(dp), parameter :: warped = 1.0e-3_dp
  integer, parameter :: parallel_from = 200

contains

  !> Writes the present faces of deforming primitives (theory, section on contact points).  Of a warped quadrilateral
  !> those two triangles are taken that meet in a ridge, so that the faces bound the convex hull of the nodes; a warped face of
  !> more corners becomes a fan.
  !>
  !>   count                primitives that deform; primitive (:) their rows
  !>   source_ptr, source_count, source_outer   (:) of primitives: faces as the shape has them, outer ones first
  !>   source_corner_ptr, source_corner_count, source_surface   (:) of these faces
  !>   source_vertex, source_local   (:) of their corners: vertex numbers, positions in the primitive's vertex list
  !>   current              (3,:) current vertices [length]
  !>   face_ptr             (:) of primitives: first present face; there is room for all triangles
  !>   face_count, outer_count   (:) of primitives, out: number of present faces, of leading ones on the surface
  !>   corner_ptr           (:) of present faces: first corner, of the first face of a primitive in, of the others out
  !>   corner_count, surface, normal   (:), (:), (3,:) of present faces, out
  !>   vertex, local        (:) of corners of present faces, out
  subroutine split_faces(count, primitive, source_ptr, source_count, source_outer, source_corner_ptr, source_corner_count, &
      source_surface, source_vertex, source_local, current, face_ptr, face_count, outer_count, corner_ptr, corner_count, &
      surface, normal, vertex, local, listed, primitives, source_faces, source_corners, vertices, faces, corners)
    integer(i4), intent(in) :: count, listed, primitives, source_faces, source_corners, vertices, faces, corners
    integer(i4), intent(in) :: primitive(0:listed-1)
    integer(i4), intent(in) :: source_ptr(0:primitives-1), source_count(0:primitives-1), source_outer(0:primitives-1)
    integer(i4), intent(in) :: source_corner_ptr(0:source_faces-1), source_corner_count(0:source_faces-1)
    integer(i4), intent(in) :: source_surface(0:source_faces-1)
    integer(i4), intent(in) :: source_vertex(0:source_corners-1), source_local(0:source_corners-1)
    real(dp), intent(in) :: current(3,0:vertices-1)
    integer(i4), intent(in) :: face_ptr(0:primitives-1)
    integer(i4), intent(inout) :: face_count(0:primitives-1), outer_count(0:primitives-1), corner_ptr(0:faces-1)
    integer(i4), intent(inout) :: corner_count(0:faces-1), surface(0:faces-1)
    real(dp), intent(inout) :: normal(3,0:faces-1)
    integer(i4), intent(inout) :: vertex(0:corners-1), local(0:corners-1)
    integer(i4) :: piece(3)
    integer :: i, k, m, row, source, face, from, to, corners_here, pieces
    logical :: ridge

    !$omp parallel do if (count > parallel_from) schedule(static) &
    !$omp private(k, m, row, source, face, from, to, corners_here, pieces, ridge, piece)
    do i = 0, count - 1
      row = primitive(i)
      face = face_ptr(row)
      to = corner_ptr(face)
      do k = 0, source_count(row) - 1
        if (k == source_outer(row)) outer_count(row) = face - face_ptr(row)
        source = source_ptr(row) + k
        from = source_corner_ptr(source)
        corners_here = source_corner_count(source)
        call find_pieces(corners_here, source_vertex(from), current, pieces, ridge)
        do m = 1, pieces
          corner_ptr(face) = to
          surface(face) = source_surface(source)
          if (pieces == 1) then
            corner_count(face) = corners_here
            call copy_corners(corners_here, source_vertex(from), source_local(from), vertex(to), local(to))
          else
            corner_count(face) = 3
            piece = [0, m, m + 1]
            if (.not. ridge) piece = merge([0, 1, 3], [1, 2, 3], m == 1)
            vertex(to:to+2) = source_vertex(from+piece)
            local(to:to+2) = source_local(from+piece)
          end if
          normal(:,face) = unit_normal(current(:,vertex(to)), current(:,vertex(to+1)), current(:,vertex(to+2)))
          to = to + corner_count(face)
          face = face + 1
        end do
      end do
      face_count(row) = face - face_ptr(row)
      if (source_outer(row) == source_count(row)) outer_count(row) = face_count(row)
    end do
  end subroutine split_faces

  pure subroutine copy_corners(count, source_vertex, source_local, vertex, local)
    integer(i4), intent(in) :: count, source_vertex(count), source_local(count)
    integer(i4), intent(inout) :: vertex(count), local(count)

    vertex = source_vertex
    local = source_local
  end subroutine copy_corners

  !> The number of faces that a polygon is at present: 1 when it is flat, else triangles, of a fan from its first corner; for
  !> quadrilaterals `ridge` is false where the fan from the second corner is the convex one.
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
      if (norm2(fold) <= warped*norm2(one)*norm2(two)) cycle
      pieces = count - 2
      if (count == 4) ridge = dot_product(fold, from - current(:,corner(2))) > 0.0_dp
      return
    end do
  end subroutine find_pieces

  !> Unit normal of the triangle (a, b, c), zero when it is degenerate.
  pure function unit_normal(a, b, c) result(normal)
    real(dp), intent(in) :: a(3), b(3), c(3)
    real(dp) :: normal(3), length

    normal = cross(b - a, c - a)
    length = norm2(normal)
    if (length > 0.0_dp) normal = normal/length
  end function unit_normal

  pure function cross(a, b) result(c)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: c(3)

    c = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function cross

end module warped_faces
