!> Edges of polyhedra and the faces on either side, listed once while shapes keep their faces.
module shape_edges
  use kinds, only: i4
  use thread_work, only: pays
  implicit none
  private
  public :: list_edges

  integer(i4), parameter :: not_listed = -2, none = -1  !< counts of edges
  integer(i4), parameter :: most = 128                  !< of vertices and of faces; see `kept_size` in `polyhedra`
  integer(i4), parameter :: code_bits = 8               !< of a vertex, or a face, in packed numbers

contains

  !> Lists the edges of primitives without listed edges, or of those in a list.  Edges are stored at the places of the corners of the
  !> primitive's faces, of which there are twice as many.  The count is -1 where edges cannot be listed: for spheres and
  !> ellipsoids, for surfaces with an edge that is not between two faces, for more than 128 vertices or faces, and for corners
  !> that are not stored consecutively.
  !>
  !>   count              primitives to go through, the first ones if `listed` is 0, else those in `list` (:)
  !>   vertex_count, face_ptr, face_count   (:) of primitives
  !>   corner_ptr, corner_count             (:) of faces
  !>   corner             (:) of corners: positions in the vertex list of the primitive
  !>   edge_count         (:) of primitives; -2: not listed yet
  !>   edge               (:) packed from the right, 8 bits each: lower vertex, higher vertex, number of the face that runs from
  !>                      the lower to the higher one, of that which runs back; numbers within the primitive
  subroutine list_edges(count, listed, list, vertex_count, face_ptr, face_count, corner_ptr, corner_count, corner, edge_count, &
                        edge, lists, primitives, faces, corners)
    integer(i4), intent(in) :: count, listed, lists, primitives, faces, corners
    integer(i4), intent(in) :: list(0:lists-1)
    integer(i4), intent(in) :: vertex_count(0:primitives-1), face_ptr(0:primitives-1), face_count(0:primitives-1)
    integer(i4), intent(in) :: corner_ptr(0:faces-1), corner_count(0:faces-1)
    integer(i4), intent(in) :: corner(0:corners-1)
    integer(i4), intent(inout) :: edge_count(0:primitives-1), edge(0:corners-1)
    integer(i4) :: face_of(0:most - 1, 0:most - 1)  ! (to, from): number of the face with this directed edge, from 1
    integer(i4) :: i, row, first

    face_of = 0
    !$omp parallel do if (pays(count, 100)) schedule(static) firstprivate(face_of) private(row, first)
    do i = 0, count - 1
      row = i
      if (listed /= 0) then
        row = list(i)
      else if (edge_count(row) /= not_listed) then
        cycle
      end if
      edge_count(row) = none
      if (face_count(row) == 0 .or. max(vertex_count(row), face_count(row)) > most) cycle
      first = face_ptr(row)
      if (.not. consecutive(face_count(row), corner_ptr(first), corner_count(first))) cycle
      call list_of_one(face_count(row), corner_ptr(first), corner_count(first), corner, face_of, edge_count(row), &
                       edge(corner_ptr(first)))
    end do
    !$omp end parallel do
  end subroutine list_edges

  !> Whether the corners of faces are stored consecutively.
  pure logical function consecutive(faces, corner_ptr, corner_count)
    integer(i4), intent(in) :: faces, corner_ptr(faces), corner_count(faces)
    consecutive = all(corner_ptr(2:) == corner_ptr(1:faces - 1) + corner_count(1:faces - 1))
  end function consecutive

  !> Edges of one primitive; `face_of` is zero before and after.
  pure subroutine list_of_one(faces, corner_ptr, corner_count, corner, face_of, edges, edge)
    integer(i4), intent(in) :: faces, corner_ptr(faces), corner_count(faces), corner(0:*)
    integer(i4), intent(inout) :: face_of(0:most - 1, 0:most - 1), edges, edge(*)
    integer(i4) :: face, k, from, to, sides, found
    logical :: closed
    closed = .true.
    sides = 0
    do face = 1, faces
      from = corner(corner_ptr(face) + corner_count(face) - 1)
      do k = corner_ptr(face), corner_ptr(face) + corner_count(face) - 1
        to = corner(k)
        closed = closed .and. face_of(to, from) == 0
        face_of(to, from) = face
        sides = sides + 1
        from = to
      end do
    end do
    found = 0
    do face = 1, faces
      from = corner(corner_ptr(face) + corner_count(face) - 1)
      do k = corner_ptr(face), corner_ptr(face) + corner_count(face) - 1
        to = corner(k)
        if (from < to .and. face_of(from, to) > 0) then
          found = found + 1
          edge(found) = ior(ior(from, shiftl(to, code_bits)), &
                            ior(shiftl(face_of(to, from), 2*code_bits), shiftl(face_of(from, to), 3*code_bits)))
        end if
        from = to
      end do
    end do
    do face = 1, faces
      from = corner(corner_ptr(face) + corner_count(face) - 1)
      do k = corner_ptr(face), corner_ptr(face) + corner_count(face) - 1
        to = corner(k)
        face_of(to, from) = 0
        from = to
      end do
    end do
    if (closed .and. 2*found == sides) edges = found
  end subroutine list_of_one
end module shape_edges
