!> Local copies of the polyhedra of one pair, and the tables from which they are copied.
!>
!> Coordinates are relative to the centre of the pair, so that plane distances keep their digits far from the
!> origin.  Every vertex has bit masks of the other body's planes that it touches or lies beyond.  AND of the masks over a
!> face, or over all vertices, rejects it; OR gives the planes that may cut it.
module polyhedra
  use kinds, only: dp, i4, i8
  implicit none
  private
  public :: shape_tables, polyhedron, lanes, word_bits, kept_size, reserve_polyhedron, gather_polyhedron, mark_vertices, &
            mark_faces, faces_across, find_warp, find_normals, edge_numbers, face_beyond

  integer(i4), parameter :: lanes = 8       !< vertices processed together; vertex arrays are padded to a multiple
  integer(i4), parameter :: wide = 4        !< vertices that are marked together: their masks stay in registers
  integer(i4), parameter :: word_bits = 64  !< planes per mask word
  integer(i4), parameter :: kept_size = 128 !< most planes of a body from which distances are kept

  !> Columns of the geometry tables (see solfec/contact/geometry.py); all arrays start at 0.
  type :: shape_tables
    integer(i4) :: primitives = 0, vertices = 0                                              !< in use
    real(dp), pointer, contiguous :: reference(:, :)                                         !< vertices
    integer(i4), pointer, contiguous :: vertex_body(:), vertex_node(:)                       !< of vertices
    real(dp), pointer, contiguous :: radii(:, :), orientation(:, :, :)                       !< of ellipsoids, referential
    integer(i4), pointer, contiguous :: body(:), adjacent_ptr(:), adjacent_count(:)          !< of primitives
    integer(i4), pointer, contiguous :: adjacent(:)                                          !< primitives next to primitives
    real(dp), pointer, contiguous :: margin(:), reach(:), drift(:, :, :), push(:, :)         !< of primitives, see `primitive_motion`
    integer(i4), pointer, contiguous :: corner_vertex(:)                                     !< corners of faces, vertex numbers
    integer(i4), pointer, contiguous :: kind(:), surface(:), vertex_ptr(:), vertex_count(:)  !< of primitives
    integer(i4), pointer, contiguous :: face_ptr(:), face_count(:), outer_count(:)           !< of primitives
    real(dp), pointer, contiguous :: radius(:), box(:, :)                                    !< of primitives
    real(dp), pointer, contiguous :: axes(:, :, :)                                           !< of ellipsoids
    integer(i4), pointer, contiguous :: vertex_list(:)                                       !< vertex numbers
    integer(i4), pointer, contiguous :: corner_ptr(:), corner_count(:), face_surface(:)      !< of faces
    real(dp), pointer, contiguous :: normal(:, :)                                            !< of faces
    integer(i4), pointer, contiguous :: edge_count(:), edge(:)  !< of primitives, at the places of corners: see `shape_edges`
    integer(i4), pointer, contiguous :: corner(:)   !< corners of faces, numbers within the primitive's vertex list
    real(dp), pointer, contiguous :: current(:, :)  !< vertices
  end type shape_tables

  !> One convex polyhedron in coordinates relative to the centre of the pair.
  type :: polyhedron
    integer(i4) :: vertices, faces, outer  !< numbers of vertices, of faces, of leading faces on the body's surface
    integer(i4) :: padded                  !< vertices rounded up to full lanes (the last one repeated)
    integer(i4) :: edges                   !< their number, where they are listed, else negative
    integer(i4) :: first_face              !< row of the first face in the face table
    integer(i4) :: row                     !< of the primitive
    real(dp) :: centre(3)                  !< of the pair
    real(dp) :: warp                       !< largest distance of a face's corners from the face's plane, see `find_warp`
    real(dp), allocatable :: x(:, :)       !< (padded, 3) coordinates, for sweeps over vertices
    real(dp), allocatable :: point(:, :)   !< (4, vertices) coordinates and a zero, for copies of single vertices
    real(dp), allocatable :: plane(:, :)   !< (4, faces) unit outward normal, distance of the plane from the centre
    ! Masks of the other body's planes, (padded, words) for vertices and (words, faces) for faces:
    integer(i8), allocatable :: touching(:, :)  !< vertices: distance > -tolerance
    integer(i8), allocatable :: beyond(:, :)    !< vertices: distance > tolerance
    integer(i8), allocatable :: reached(:)      !< touched by some vertex
    real(dp), allocatable :: distance(:, :)     !< (padded, faces) distances of vertices from the other body's planes, if kept
    ! Marks of own faces: (faces, words of the other's planes), faces padded to full lanes
    integer(i8), allocatable :: touched(:, :)   !< planes that some corner touches
    integer(i8), allocatable :: crossed(:, :)   !< planes in `touched` that not all corners are beyond
    integer(i8), allocatable :: exceeded(:, :)  !< planes that some corner is beyond
    integer(i8), allocatable :: above(:, :)     !< planes that all corners touch, so the face is not within them
    logical, allocatable :: outside(:)          !< all corners are beyond one plane
  end type polyhedron

contains

  !> Makes room for a polyhedron of up to `vertices` vertices and `faces` faces, and for marks of another one of that size.
  subroutine reserve_polyhedron(body, vertices, faces)
    type(polyhedron), intent(inout) :: body
    integer(i4), intent(in) :: vertices, faces
    integer(i4) :: padded, words, padded_faces
    padded = lanes*((vertices + lanes - 1)/lanes)
    padded_faces = lanes*((faces + lanes - 1)/lanes)
    words = (faces + word_bits - 1)/word_bits
    allocate (body%x(padded, 3), body%point(4, padded), body%plane(4, faces))
    allocate (body%touching(padded, words), body%beyond(padded, words), body%reached(words))
    allocate (body%distance(padded, min(faces, kept_size)))
    allocate (body%touched(padded_faces, words), body%crossed(padded_faces, words), body%exceeded(padded_faces, words))
    allocate (body%above(padded_faces, words), body%outside(faces))
  end subroutine reserve_polyhedron

  !> Copies primitive `row` of the tables; coordinates relative to `centre`.
  subroutine gather_polyhedron(tables, row, centre, body)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: row
    real(dp), intent(in) :: centre(3)
    type(polyhedron), intent(inout) :: body
    body%vertices = tables%vertex_count(row)
    body%padded = lanes*((body%vertices + lanes - 1)/lanes)
    body%faces = tables%face_count(row)
    body%outer = tables%outer_count(row)
    body%edges = tables%edge_count(row)
    body%first_face = tables%face_ptr(row)
    body%row = row
    body%centre = centre
    call gather_vertices(body%vertices, body%padded, tables%vertex_list(tables%vertex_ptr(row):), tables%current, centre, &
                         body%point, size(body%x, 1), body%x)
    call gather_planes(body%faces, tables%corner_ptr(body%first_face:), tables%normal(:, body%first_face:), tables%corner, &
                       body%point, body%plane)
  end subroutine gather_polyhedron

  pure subroutine gather_planes(count, corner_ptr, normal, corner, point, plane)
    integer(i4), intent(in) :: count, corner_ptr(count), corner(0:*)
    real(dp), intent(in) :: normal(3, count), point(4, 0:*)
    real(dp), intent(inout) :: plane(4, count)
    integer(i4) :: i, base
    !GCC$ novector
    !GCC$ unroll 2
    do i = 1, count
      base = corner(corner_ptr(i))
      plane(1, i) = normal(1, i)
      plane(2, i) = normal(2, i)
      plane(3, i) = normal(3, i)
      plane(4, i) = normal(1, i)*point(1, base) + normal(2, i)*point(2, base) + normal(3, i)*point(3, base)
    end do
  end subroutine gather_planes

  pure subroutine gather_vertices(count, padded, list, current, centre, point, stride, x)
    integer(i4), intent(in) :: count, padded, stride, list(count)
    real(dp), intent(in) :: current(3, 0:*), centre(3)
    real(dp), intent(inout) :: point(4, count), x(stride, 3)
    real(dp) :: r(3)
    integer(i4) :: i
    !GCC$ novector
    !GCC$ unroll 2
    do i = 1, count
      r = current(:, list(i)) - centre
      point(1:3, i) = r
      point(4, i) = 0
      x(i, :) = r
    end do
    do i = count + 1, padded
      x(i, :) = r
    end do
  end subroutine gather_vertices

  !> Marks the vertices of `body` that touch or lie beyond planes of `other`; `separated` when all vertices lie
  !> beyond one plane by more than `tolerance`.
  subroutine mark_vertices(body, other, tolerance, separated)
    type(polyhedron), intent(inout) :: body
    type(polyhedron), intent(in) :: other
    real(dp), intent(in) :: tolerance
    logical, intent(out) :: separated
    integer(i4) :: word, first, last, step
    integer(i8) :: all_beyond
    separated = .false.
    step = merge(1, 0, other%faces <= kept_size)
    do word = 1, (other%faces + word_bits - 1)/word_bits
      first = (word - 1)*word_bits + 1
      last = min(word*word_bits, other%faces)
      call mark_word(size(body%x, 1), body%padded, body%x, last - first + 1, other%plane(1, first), tolerance, &
                     body%touching(1, word), body%beyond(1, word), body%reached(word), all_beyond, step, &
                     body%distance(1, (first - 1)*step + 1))
      separated = all_beyond /= 0
      if (separated) return
    end do
  end subroutine mark_vertices

  pure subroutine mark_word(stride, padded, x, planes, plane, tolerance, touching, beyond, reached, all_beyond, step, kept)
    integer(i4), intent(in) :: stride, padded, planes, step  !< 1: distances are kept in columns of their own, 0: overwritten
    real(dp), intent(in) :: x(stride, 3), plane(4, planes), tolerance
    integer(i8), intent(inout) :: touching(padded), beyond(padded)
    integer(i8), intent(out) :: reached, all_beyond
    real(dp), intent(inout) :: kept(stride, (planes - 1)*step + 1)
    integer(i8) :: bit, near(wide), far(wide)
    real(dp) :: distance
    integer(i4) :: first, i, k
    reached = 0
    all_beyond = not(0_i8)
    do first = 0, padded - 1, wide
      near = 0
      far = 0
      bit = 1
      !GCC$ unroll 1
      do i = 1, planes
        !$omp simd simdlen(wide) private(distance)
        do k = 1, wide
          distance = plane(1, i)*x(first + k, 1) + (plane(2, i)*x(first + k, 2) + (plane(3, i)*x(first + k, 3) - plane(4, i)))
          kept(first + k, (i - 1)*step + 1) = distance
          near(k) = ior(near(k), iand(bit, merge(-1_i8, 0_i8, distance > -tolerance)))
          far(k) = ior(far(k), iand(bit, merge(-1_i8, 0_i8, distance > tolerance)))
        end do
        bit = shiftl(bit, 1)
      end do
      touching(first + 1:first + wide) = near
      beyond(first + 1:first + wide) = far
      reached = ior(reached, iany(near))
      all_beyond = iand(all_beyond, iall(far))
    end do
  end subroutine mark_word

  !> Combines the marks of vertices into marks of faces.
  pure subroutine mark_faces(body, planes, corner_ptr, corner_count, corner)
    type(polyhedron), intent(inout) :: body
    integer(i4), intent(in) :: planes  !< number of planes of the other body
    integer(i4), intent(in) :: corner_ptr(*), corner_count(*), corner(0:*)  !< of the body's faces; local vertex numbers
    integer(i4) :: word
    body%outside(1:body%faces) = .false.
    do word = 1, (planes + word_bits - 1)/word_bits
      call mark_faces_word(body%faces, size(body%touched, 1), corner_ptr, corner_count, corner, body%touching(:, word), &
                           body%beyond(:, word), body%touched(:, word), body%crossed(:, word), body%exceeded(:, word), &
                           body%above(:, word), body%outside)
    end do
  end subroutine mark_faces

  pure subroutine mark_faces_word(faces, padded, corner_ptr, corner_count, corner, touching, beyond, touched, crossed, &
                                  exceeded, above, outside)
    integer(i4), intent(in) :: faces, padded, corner_ptr(faces), corner_count(faces), corner(0:*)
    integer(i8), intent(in) :: touching(0:*), beyond(0:*)
    integer(i8), intent(inout) :: touched(padded), crossed(padded), exceeded(padded), above(padded)
    logical, intent(inout) :: outside(faces)
    integer(i4) :: face, k
    integer(i8) :: some, any, all, low
    do face = 1, faces
      some = 0
      any = 0
      all = not(0_i8)
      low = not(0_i8)
      !GCC$ unroll 1
      do k = corner_ptr(face), corner_ptr(face) + corner_count(face) - 1
        some = ior(some, touching(corner(k)))
        any = ior(any, beyond(corner(k)))
        all = iand(all, beyond(corner(k)))
        low = iand(low, touching(corner(k)))
      end do
      above(face) = low
      touched(face) = some
      exceeded(face) = any
      crossed(face) = iand(some, not(all))
      outside(face) = outside(face) .or. all /= 0
    end do
    touched(faces + 1:) = 0
    crossed(faces + 1:) = 0
  end subroutine mark_faces_word

  !> Finds the largest distance of a face's corners from the face's plane.  Faces of deforming bodies may be slightly warped.
  !> A plane goes through its face's first corner, orthogonal to the normal there or to the mean one, so the fourth corner decides
  !> for quadrilaterals.
  pure subroutine find_warp(body, corner_ptr, corner_count, corner)
    type(polyhedron), intent(inout) :: body
    integer(i4), intent(in) :: corner_ptr(*), corner_count(*), corner(0:*)  !< of the body's faces; local vertex numbers
    real(dp) :: largest
    integer(i4) :: face, k, at
    largest = 0
    do face = 1, body%faces
      !GCC$ unroll 1
      do k = corner_ptr(face) + 3, corner_ptr(face) + corner_count(face) - 1
        at = corner(k) + 1
        largest = max(largest, abs(body%plane(1, face)*body%point(1, at) + body%plane(2, face)*body%point(2, at) &
                                   + body%plane(3, face)*body%point(3, at) - body%plane(4, face)))
      end do
    end do
    body%warp = largest
  end subroutine find_warp

  !> Bits of the faces of one word that cross the plane whose bit in `crossed` has the number `place`, counted from 0.
  pure integer(i8) function faces_across(faces, crossed, place) result(mask)
    integer(i4), intent(in) :: faces, place
    integer(i8), intent(in) :: crossed(*)  !< of up to one word of faces, padded with zeros to full lanes
    integer(i8), parameter :: lane(lanes) = [0_i8, 1_i8, 2_i8, 3_i8, 4_i8, 5_i8, 6_i8, 7_i8]
    integer(i8) :: bits(lanes)
    integer(i4) :: first, k
    bits = 0
    do first = 0, faces - 1, lanes
      !$omp simd
      do k = 1, lanes
        bits(k) = ior(bits(k), shiftl(iand(shiftr(crossed(first + k), iand(place, 63)), 1_i8), iand(first, 63)))
      end do
    end do
    mask = 0
    !$omp simd reduction(ior:mask)
    do k = 1, lanes
      mask = ior(mask, shiftl(bits(k), iand(lane(k), 63_i8)))
    end do
  end function faces_across

  !> Ends of the edge k = 0, 1, ... of a body, counted from 0, and the faces on either side, from 1; `edge`: see `shape_edges`.
  pure function edge_numbers(body, edge, k) result(numbers)
    type(polyhedron), intent(in) :: body
    integer(i4), intent(in) :: edge(0:*), k
    integer(i4) :: numbers(4)
    if (max(body%vertices, body%faces) <= kept_size) then
      numbers = ibits(edge(k), [0, 8, 16, 24], 8)
    else
      numbers(1:2) = ibits(edge(2*k), [0, 16], 16)
      numbers(3:4) = ibits(edge(2*k + 1), [0, 16], 16)
    end if
  end function edge_numbers

  !> Finds the outer face that meets a body's own one, with the normal `own`, in a ridge along the edge `from`-`to`: that of a
  !> primitive next to it, such as the next element of a mesh.  `found` is false if there is none, or if faces meet in a groove.
  pure subroutine face_beyond(body, tables, own, from, to, tolerance, normal, found)
    type(polyhedron), intent(in) :: body
    type(shape_tables), intent(in) :: tables
    real(dp), intent(in) :: own(3), from(3), to(3), tolerance
    real(dp), intent(out) :: normal(3)
    logical, intent(out) :: found
    integer(i4) :: i, k, face, c, other
    logical :: ends(2)
    normal = 0
    found = .false.
    do i = tables%adjacent_ptr(body%row), tables%adjacent_ptr(body%row) + tables%adjacent_count(body%row) - 1
      other = tables%adjacent(i)
      if (other == body%row) cycle
      do face = tables%face_ptr(other), tables%face_ptr(other) + tables%outer_count(other) - 1
        c = tables%corner_ptr(face)
        ends = .false.
        do k = c, c + tables%corner_count(face) - 1
          ends(1) = ends(1) .or. all(abs(place(k) - from) <= tolerance)
          ends(2) = ends(2) .or. all(abs(place(k) - to) <= tolerance)
        end do
        if (.not. all(ends)) cycle
        normal = unit_normal(place(c), place(c + 1), place(c + 2))
        found = .true.
        do k = c, c + tables%corner_count(face) - 1
          found = found .and. dot_product(own, place(k) - from) <= tolerance
        end do
        return
      end do
    end do

  contains

    pure function place(k)
      integer(i4), intent(in) :: k  !< row of a corner
      real(dp) :: place(3)
      place = tables%current(:, tables%corner_vertex(k)) - body%centre
    end function place
  end subroutine face_beyond

  !> Computes unit normals of the faces of a primitive, from their first three corners.
  subroutine find_normals(primitive, shapes)
    integer(i4), intent(in) :: primitive
    type(shape_tables), intent(in) :: shapes
    integer(i4) :: k, c

    do k = shapes%face_ptr(primitive), shapes%face_ptr(primitive) + shapes%face_count(primitive) - 1
      c = shapes%corner_ptr(k)
      associate (corner => shapes%corner_vertex(c:c+2), at => shapes%current)
        shapes%normal(:,k) = unit_normal(at(:,corner(1)), at(:,corner(2)), at(:,corner(3)))
      end associate
    end do
  end subroutine find_normals

  !> Unit normal of the triangle (a, b, c), zero when it is degenerate.
  pure function unit_normal(a, b, c) result(normal)
    real(dp), intent(in) :: a(3), b(3), c(3)
    real(dp) :: normal(3), u(3), v(3), length

    u = b - a
    v = c - a
    normal(1) = u(2)*v(3) - u(3)*v(2)
    normal(2) = u(3)*v(1) - u(1)*v(3)
    normal(3) = u(1)*v(2) - u(2)*v(1)
    length = sqrt(normal(1)**2 + normal(2)**2 + normal(3)**2)
    if (length > 0.0_dp) normal = normal/length
  end function unit_normal
end module polyhedra
