!> Edges of polyhedra and the faces on either side, listed once while shapes keep their faces.
module shape_edges
  use kinds, only: i4
  use thread_work, only: pays
  implicit none
  private
  public :: list_edges, not_listed

  integer(i4), parameter :: not_listed = -2, none = -1  !< counts of edges
  integer(i4), parameter :: few = 128                   !< most vertices and faces of short codes; see `kept_size` in `polyhedra`
  integer(i4), parameter :: most = 65535                !< of vertices and of faces
  integer(i4), parameter :: short_bits = 8, long_bits = 16  !< of a vertex, or a face, in packed numbers

contains

  !> Lists the edges of primitives without listed edges, of all or of those in a list.  Edges are stored at the places of the corners of the
  !> primitive's faces, of which there are twice as many.  The count is -1 where edges cannot be listed: for spheres and
  !> ellipsoids, for surfaces with an edge that is not between two faces, for more than 65535 vertices or faces, and for corners
  !> that are not stored consecutively.
  !>
  !>   count              primitives to go through, the first ones if `listed` is 0, else those in `list` (:)
  !>   vertex_count, face_ptr, face_count   (:) of primitives
  !>   corner_ptr, corner_count             (:) of faces
  !>   corner             (:) of corners: positions in the vertex list of the primitive
  !>   edge_count         (:) of primitives; -2: not listed yet
  !>   edge               (:) packed from the right, 8 bits each: lower vertex, higher vertex, number of the face that runs from
  !>                      the lower to the higher one, of that which runs back; numbers within the primitive.  Primitives of more
  !>                      than 128 vertices or faces have two codes per edge, vertices and faces, 16 bits each; see `edge_numbers`
  subroutine list_edges(count, listed, list, vertex_count, face_ptr, face_count, corner_ptr, corner_count, corner, edge_count, &
                        edge, lists, primitives, faces, corners)
    integer(i4), intent(in) :: count, listed, lists, primitives, faces, corners
    integer(i4), intent(in) :: list(0:lists-1)
    integer(i4), intent(in) :: vertex_count(0:primitives-1), face_ptr(0:primitives-1), face_count(0:primitives-1)
    integer(i4), intent(in) :: corner_ptr(0:faces-1), corner_count(0:faces-1)
    integer(i4), intent(in) :: corner(0:corners-1)
    integer(i4), intent(inout) :: edge_count(0:primitives-1), edge(0:corners-1)
    integer(i4) :: face_of(0:few - 1, 0:few - 1)  ! (to, from): number of the face with this directed edge, from 1
    integer(i4) :: i, row, first

    face_of = 0
    !$omp parallel do if (pays(count, 100)) schedule(static) firstprivate(face_of) private(row, first)
    do i = 0, count - 1
      row = i
      if (listed /= 0) row = list(i)
      if (edge_count(row) /= not_listed) cycle
      edge_count(row) = none
      if (face_count(row) == 0 .or. max(vertex_count(row), face_count(row)) > most) cycle
      first = face_ptr(row)
      if (.not. consecutive(face_count(row), corner_ptr(first), corner_count(first))) cycle
      if (max(vertex_count(row), face_count(row)) <= few) then
        call list_of_one(face_count(row), corner_ptr(first), corner_count(first), corner, face_of, edge_count(row), &
                         edge(corner_ptr(first)))
      else
        call list_of_many(vertex_count(row), face_count(row), corner_ptr(first), corner_count(first), corner, edge_count(row), &
                          edge(corner_ptr(first)))
      end if
    end do
    !$omp end parallel do
  end subroutine list_edges

  !> Whether the corners of faces are stored consecutively.
  pure logical function consecutive(faces, corner_ptr, corner_count)
    integer(i4), intent(in) :: faces, corner_ptr(faces), corner_count(faces)
    consecutive = all(corner_ptr(2:) == corner_ptr(1:faces - 1) + corner_count(1:faces - 1))
  end function consecutive

  !> Edges of one primitive of few vertices and faces; `face_of` is zero before and after.
  pure subroutine list_of_one(faces, corner_ptr, corner_count, corner, face_of, edges, edge)
    integer(i4), intent(in) :: faces, corner_ptr(faces), corner_count(faces), corner(0:*)
    integer(i4), intent(inout) :: face_of(0:few - 1, 0:few - 1), edges, edge(*)
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
          edge(found) = ior(ior(from, shiftl(to, short_bits)), &
                            ior(shiftl(face_of(to, from), 2*short_bits), shiftl(face_of(from, to), 3*short_bits)))
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

  !> Edges of one primitive of many vertices or faces, from the sides of faces in the order of the vertices where they start.
  pure subroutine list_of_many(vertices, faces, corner_ptr, corner_count, corner, edges, edge)
    integer(i4), intent(in) :: vertices, faces, corner_ptr(faces), corner_count(faces), corner(0:*)
    integer(i4), intent(inout) :: edges, edge(*)
    integer(i4) :: place(0:vertices)                                 ! where sides that start at a vertex begin
    integer(i4) :: to(sum(corner_count)), face_of(sum(corner_count))  ! ends and faces of sides
    integer(i4) :: face, k, from, next, side, back, found
    logical :: closed
    place = 0
    do k = corner_ptr(1), corner_ptr(1) + size(to) - 1
      place(corner(k)) = place(corner(k)) + 1
    end do
    do from = 1, vertices
      place(from) = place(from) + place(from - 1)
    end do
    do face = 1, faces
      next = corner(corner_ptr(face))
      do k = corner_ptr(face) + corner_count(face) - 1, corner_ptr(face), -1
        from = corner(k)
        to(place(from)) = next
        face_of(place(from)) = face
        place(from) = place(from) - 1
        next = from
      end do
    end do
    closed = .true.
    found = 0
    do from = 0, vertices - 1
      do side = place(from) + 1, place(from + 1)
        next = to(side)
        back = findloc(to(place(next) + 1:place(next + 1)), from, dim=1)
        closed = closed .and. back > 0 .and. count(to(place(from) + 1:place(from + 1)) == next) == 1
        if (.not. closed .or. from > next) cycle
        edge(2*found + 1) = ior(from, shiftl(next, long_bits))
        edge(2*found + 2) = ior(face_of(side), shiftl(face_of(place(next) + back), long_bits))
        found = found + 1
      end do
    end do
    if (closed) edges = found
  end subroutine list_of_many
end module shape_edges
