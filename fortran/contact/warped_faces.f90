!> Faces of mesh elements that deform: quadrilaterals that warp become two triangles, and one polygon again when they flatten.
module warped_faces
  use kinds, only: dp, i4
  implicit none
  private
  public :: split_faces

  !> Sine of the angle between the triangles of a quadrilateral above which it is split.
  real(dp), parameter :: warped = 1.0e-3_dp
  integer, parameter :: parallel_from = 200

contains

  !> Writes the present faces of deforming elements (theory, section on contact points).  Of a warped quadrilateral
  !> those two triangles are taken that meet in a ridge, so that the faces bound the convex hull of the nodes.
  !>
  !>   count                primitives that deform; primitive (:) their rows
  !>   source_ptr, source_count, source_outer   (:) of primitives: faces as the mesh has them, outer ones first
  !>   source_corner_ptr, source_corner_count, source_surface   (:) of these faces
  !>   source_vertex, source_local   (:) of their corners: vertex numbers, positions in the primitive's vertex list
  !>   current              (3,:) current vertices [length]
  !>   face_ptr             (:) of primitives: first present face; there is room for two for each quadrilateral
  !>   face_count, outer_count   (:) of primitives, out: number of present faces, of leading ones on the surface
  !>   corner_ptr           (:) of present faces: first corner; there is room for four
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
    integer(i4), intent(in) :: face_ptr(0:primitives-1), corner_ptr(0:faces-1)
    integer(i4), intent(inout) :: face_count(0:primitives-1), outer_count(0:primitives-1)
    integer(i4), intent(inout) :: corner_count(0:faces-1), surface(0:faces-1)
    real(dp), intent(inout) :: normal(3,0:faces-1)
    integer(i4), intent(inout) :: vertex(0:corners-1), local(0:corners-1)
    integer(i4) :: piece(3,2)
    integer :: i, k, m, row, source, face, from, pieces

    !$omp parallel do if (count > parallel_from) schedule(static) private(k, m, row, source, face, from, pieces, piece)
    do i = 0, count - 1
      row = primitive(i)
      face = face_ptr(row)
      do k = 0, source_count(row) - 1
        if (k == source_outer(row)) outer_count(row) = face - face_ptr(row)
        source = source_ptr(row) + k
        from = source_corner_ptr(source)
        pieces = 0
        if (source_corner_count(source) == 4) call find_pieces(current(:,source_vertex(from)), &
          current(:,source_vertex(from+1)), current(:,source_vertex(from+2)), current(:,source_vertex(from+3)), pieces, piece)
        do m = 1, max(pieces, 1)
          surface(face) = source_surface(source)
          if (pieces == 0) then
            corner_count(face) = source_corner_count(source)
            call copy_corners(corner_count(face), source_vertex(from), source_local(from), vertex(corner_ptr(face)), &
              local(corner_ptr(face)))
          else
            corner_count(face) = 3
            vertex(corner_ptr(face):corner_ptr(face)+2) = source_vertex(from+piece(:,m))
            local(corner_ptr(face):corner_ptr(face)+2) = source_local(from+piece(:,m))
          end if
          normal(:,face) = unit_normal(current(:,vertex(corner_ptr(face))), current(:,vertex(corner_ptr(face)+1)), &
            current(:,vertex(corner_ptr(face)+2)))
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

  !> The triangles, by corners from 0, into which a quadrilateral is split; `pieces` is 0 when it is flat.
  pure subroutine find_pieces(a, b, c, d, pieces, piece)
    real(dp), intent(in) :: a(3), b(3), c(3), d(3)
    integer, intent(out) :: pieces
    integer(i4), intent(inout) :: piece(3,2)
    real(dp) :: one(3), two(3), fold(3)

    pieces = 0
    one = cross(b - a, c - a)
    two = cross(c - a, d - a)
    fold = cross(one, two)
    if (norm2(fold) <= warped*norm2(one)*norm2(two)) return
    pieces = 2
    if (dot_product(fold, a - c) > 0.0_dp) then
      piece = reshape([0, 1, 2, 0, 2, 3], [3, 2])
    else
      piece = reshape([0, 1, 3, 1, 2, 3], [3, 2])
    end if
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
