!> The boundary of the intersection of two convex polyhedra in general position, from the points where edges of either
!> cross faces of the other.
!>
!> An edge that is cut lies between two faces of its body and meets one of the other's, so the point belongs to two
!> segments in which faces of both bodies cross; each segment has one such point at either end.  Facets of the
!> intersection are bounded by these segments and by what the edges have within the other body, and their integrals need
!> no order of the sides, so work grows with the size of the result.  Vertices on the other body's surface, edges in its
!> planes, warped faces and segments that lack an end (all within `tolerance`) are left to the clipping of faces in `overlap`.
!>
!> As there, each body's faces are cut by the planes of the other moved outward by `offset`, nearly parallel ones unmoved.
!> Which faces meet is found for unmoved planes.
module edge_crossings
  use kinds, only: dp, i4, i8
  use polyhedra, only: polyhedron, word_bits, kept_size
  use facets, only: boundary, facet_batch, empty_facets, add_facets, sum_facets
  implicit none
  private
  public :: most_sides, crossing_work, reserve_crossings, intersect_by_edges

  real(dp), parameter :: nearly_parallel = 0.995_dp  !< see `overlap`
  real(dp), parameter :: steep = 100                 !< edges cut planes if their ends' distances differ by this many offsets
  integer(i4), parameter :: most_sides = 16          !< facets of more sides are left to clipping; a power of two
  integer(i4), parameter :: most_corners = 8         !< so are bodies whose faces have more corners on average
  integer(i4), parameter :: code_bits = 8, code_mask = 255  !< of a vertex, or a face, in packed numbers
  integer(i4), parameter :: last_stamp = 2**22       !< leaves room for a face
  integer(i8), parameter :: plane_bits = 255         !< room for the number of a plane in a parameter's last bits

  !> Work arrays of one thread, for bodies of up to `kept_size` vertices and faces.
  type :: crossing_work
    integer(i4), allocatable :: edge(:)            !< packed vertices (low, high) of edges of one body that may meet the other
    integer(i4), allocatable :: face_of(:, :)      !< (to, from): the face that runs between two vertices, and the body's stamp
    integer(i4) :: stamp                           !< tells entries of one body in one pair from those before
    integer(i4), allocatable :: within(:, :)       !< (3,:) edges that the other has a part of: edge, planes where it begins and ends
    integer(i4), allocatable :: number(:, :)       !< (vertices, 2) points that vertices inside are
    integer(i4), allocatable :: crossing(:, :)     !< (5,:) edge, faces along and back, plane, 1 if it leaves the other body there
    ! Starts of segments, (4,:): faces of the first and of the second body, points for the facets of either; ends, (2,:)
    ! points.  Starts and ends are listed as they are found, as many of the one as of the other
    integer(i4), allocatable :: start(:, :), finish(:, :)
    integer(i4), allocatable :: finish_of(:, :)    !< (face of second, face of first): column of `finish`; zero in between
    integer(i4), allocatable :: count(:)           !< sides of facets; faces of the second body follow those of the first
    integer(i4), allocatable :: side(:, :, :)      !< (2, sides, facets) points from which and to which sides go
    integer(i4), allocatable :: order(:)           !< facets by numbers of sides
  end type crossing_work

contains

  !> Makes room for pairs of polyhedra of up to `vertices` vertices and `faces` faces.
  subroutine reserve_crossings(work, vertices, faces)
    type(crossing_work), intent(inout) :: work
    integer(i4), intent(in) :: vertices, faces
    integer(i4) :: v, f, edges
    v = min(vertices, kept_size)
    f = min(faces, kept_size)
    edges = most_corners*f + 2  ! of two bodies; each is cut twice at most
    allocate (work%edge(edges), work%within(3, edges), work%number(v, 2))
    allocate (work%crossing(5, 2*edges), work%start(4, 2*edges), work%finish(2, 2*edges))
    allocate (work%face_of(0:v - 1, 0:v - 1), work%finish_of(f, f), work%count(2*f), source=0)
    work%stamp = 0
    allocate (work%side(2, most_sides, 2*f), source=1)
    allocate (work%order(2*f))
  end subroutine reserve_crossings

  !> Sums over the boundary of the intersection of two bodies, whose vertices are marked with `tolerance`; `general`
  !> is false, and the sums mean nothing, where clipping must do it.  `points` gets the corners of all facets.
  subroutine intersect_by_edges(one, two, corner_ptr, corner_count, corner, offset, tolerance, work, capacity, points, facets, &
                                sum, general)
    type(polyhedron), intent(in) :: one, two
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*), corner(0:*)  !< of faces; local vertex numbers
    real(dp), intent(in) :: offset, tolerance
    type(crossing_work), intent(inout) :: work
    integer(i4), intent(in) :: capacity
    real(dp), intent(inout) :: points(4, capacity)
    type(facet_batch), intent(inout) :: facets
    type(boundary), intent(inout) :: sum
    logical, intent(out) :: general
    integer(i4) :: used, crossings, before, first

    general = .false.
    if (max(one%faces, two%faces, one%padded, two%padded) > kept_size) return
    used = 0
    call number_vertices(one%vertices, size(one%touching, 1), words_of(two%faces), one%touching, one%beyond, one%point, &
                         work%number(:, 1), used, points, general)
    if (.not. general) return
    call number_vertices(two%vertices, size(two%touching, 1), words_of(one%faces), two%touching, two%beyond, two%point, &
                         work%number(:, 2), used, points, general)
    if (.not. general) return
    work%count(1:one%faces + two%faces) = 0
    crossings = 0
    call cross_edges(one, two, 1, 0, corner_ptr(one%first_face), corner_count(one%first_face), corner, offset, tolerance, &
                     work, capacity, used, points, crossings, general)
    if (general) call cross_edges(two, one, 2, one%faces, corner_ptr(two%first_face), corner_count(two%first_face), corner, &
                                  offset, tolerance, work, capacity, used, points, crossings, general)
    if (.not. general) then
      work%finish_of = 0
      return
    end if
    call add_segments(one%faces, crossings, work%start, work%finish, size(work%finish_of, 1), work%finish_of, work%count, &
                      work%side, general)
    if (.not. general) return
    general = all(work%count(1:one%faces + two%faces) <= most_sides)
    if (.not. general) return
    call empty_facets(facets)
    call sort_facets(one%faces, work%count, first, work%order)
    call add_facets(facets, one%faces + 1 - first, work%order(first:), one%outer, one%plane, 1.0_dp, most_sides, work%count, &
                    work%side, points)
    before = one%faces + 1
    call sort_facets(two%faces, work%count(before:), first, work%order)
    call add_facets(facets, two%faces + 1 - first, work%order(first:), two%outer, two%plane, -1.0_dp, most_sides, &
                    work%count(before:), work%side(:, :, before:), points)
    call sum_facets(facets, sum)
    sum%complete = .true.
    sum%points = used
    general = sum%facets > 3
  end subroutine intersect_by_edges

  !> Sorts the facets of a body's faces by the number of their sides; those from `first` on have three and more.
  pure subroutine sort_facets(faces, count, first, order)
    integer(i4), intent(in) :: faces, count(faces)
    integer(i4), intent(out) :: first
    integer(i4), intent(inout) :: order(faces)
    integer(i4) :: face, place(0:most_sides), k, before
    place = 0
    do face = 1, faces
      place(count(face)) = place(count(face)) + 1
    end do
    first = 1 + place(0) + place(1) + place(2)
    before = 0
    do k = 0, most_sides
      before = before + place(k)
      place(k) = before - place(k)
    end do
    do face = 1, faces
      k = place(count(face)) + 1
      place(count(face)) = k
      order(k) = face
    end do
  end subroutine sort_facets

  !> Numbers the vertices that are inside the other body and makes them points; `general` when none is on its surface.
  pure subroutine number_vertices(vertices, stride, words, touching, beyond, point, number, used, points, general)
    integer(i4), intent(in) :: vertices, stride, words
    integer(i8), intent(in) :: touching(stride, words), beyond(stride, words)
    real(dp), intent(in) :: point(4, vertices)
    integer(i4), intent(inout) :: number(vertices), used
    real(dp), intent(inout) :: points(4, *)
    logical, intent(out) :: general
    integer(i4) :: k, doubtful
    integer(i8) :: touched, outside
    doubtful = 0
    do k = 1, vertices
      touched = touching(k, 1)
      outside = beyond(k, 1)
      if (words > 1) then
        touched = ior(touched, touching(k, 2))
        outside = ior(outside, beyond(k, 2))
      end if
      number(k) = used + 1
      points(:, used + 1) = point(:, k)
      used = used + is_zero(touched)
      doubtful = doubtful + (1 - is_zero(touched))*is_zero(outside)
    end do
    general = doubtful == 0
  end subroutine number_vertices

  !> Number of mask words for so many planes.
  pure integer(i4) function words_of(planes)
    integer(i4), intent(in) :: planes
    words_of = (planes + word_bits - 1)/word_bits
  end function words_of

  pure integer(i4) function is_zero(bits)
    integer(i8), intent(in) :: bits
    is_zero = 1 - min(1, popcnt(bits))
  end function is_zero

  !> What the edges of `body` (`number`: the first or the second) have within `other`: sides of the body's facets, points
  !> where the edges are cut, and there starts and ends of segments.
  subroutine cross_edges(body, other, number, base, corner_ptr, corner_count, corner, offset, tolerance, work, capacity, &
                         used, points, crossings, general)
    type(polyhedron), intent(in) :: body, other
    integer(i4), intent(in) :: number, base, capacity  !< base: facets before those of the body
    integer(i4), intent(in) :: corner_ptr(*), corner_count(*), corner(0:*)  !< of the body's faces
    real(dp), intent(in) :: offset, tolerance
    type(crossing_work), intent(inout) :: work
    integer(i4), intent(inout) :: used, crossings
    real(dp), intent(inout) :: points(4, capacity)
    logical, intent(out) :: general
    integer(i4) :: edges, within, last

    general = sum(corner_count(1:body%faces)) <= most_corners*body%faces
    if (general) general = flat(body%faces, corner_ptr, corner_count, corner, body%point, body%plane, tolerance)
    if (.not. general) return
    work%stamp = work%stamp + 1
    if (work%stamp == last_stamp) then
      work%stamp = 1
      work%face_of = 0
    end if
    call list_edges(body%faces, corner_ptr, corner_count, corner, size(body%beyond, 1), words_of(other%faces), body%beyond, &
                    work%stamp, size(work%face_of, 1), work%face_of, edges, work%edge, general)
    general = general .and. used + 6*edges <= capacity  ! always, for closed bodies
    if (.not. general) return
    call find_parts(edges, work%edge, size(body%touching, 1), other%faces, body%touching, body%beyond, body%distance, &
                    within, work%within, general)
    if (.not. general) return
    last = crossings
    call add_parts(within, work%within, work%stamp, size(work%face_of, 1), work%face_of, work%number(:, number), &
                   used - 3*crossings, work%count(base + 1:), work%side(:, :, base + 1:), last, work%crossing, general)
    if (.not. general) return
    call make_points(crossings + 1, last, work%crossing, size(body%distance, 1), body%distance, body%point, body%plane, &
                     other%plane, number, steep*max(offset, tolerance), offset, used, points, work%start, work%finish, &
                     size(work%finish_of, 1), work%finish_of, general)
    used = used + 3*(last - crossings)
    crossings = last
  end subroutine cross_edges

  !> Are all corners of faces within `tolerance` of their planes?  Faces of deforming bodies may be warped a little; their
  !> edges are not where planes meet.
  pure logical function flat(faces, corner_ptr, corner_count, corner, point, plane, tolerance)
    integer(i4), intent(in) :: faces, corner_ptr(faces), corner_count(faces), corner(0:*)
    real(dp), intent(in) :: point(4, 0:*), plane(4, faces), tolerance
    integer(i4) :: face, k
    real(dp) :: largest
    largest = 0
    do face = 1, faces
      if (corner_count(face) == 3) cycle
      !GCC$ unroll 1
      do k = corner_ptr(face) + 1, corner_ptr(face) + corner_count(face) - 1
        largest = max(largest, abs(dot3(plane(:, face), point(:, corner(k))) - plane(4, face)))
      end do
    end do
    flat = largest <= tolerance
  end function flat

  !> Notes which faces run along half-edges, and lists the edges that do not lie beyond one plane of the other body; not
  !> `general` when some have only one face.
  pure subroutine list_edges(faces, corner_ptr, corner_count, corner, stride, words, beyond, stamp, vertices, face_of, edges, &
                             edge, general)
    integer(i4), intent(in) :: faces, corner_ptr(faces), corner_count(faces), corner(0:*), stride, words, stamp, vertices
    integer(i8), intent(in) :: beyond(0:stride - 1, words)
    integer(i4), intent(inout) :: face_of(0:vertices - 1, 0:vertices - 1), edge(*)
    integer(i4), intent(out) :: edges
    logical, intent(out) :: general
    integer(i4) :: face, k, from, to, met, all_met, mark
    integer(i8) :: common, before
    edges = 0
    all_met = 0
    do face = 1, faces
      from = corner(corner_ptr(face) + corner_count(face) - 1)
      before = beyond(from, 1)
      mark = ior(face, shiftl(stamp, code_bits))
      !GCC$ unroll 1
      do k = corner_ptr(face), corner_ptr(face) + corner_count(face) - 1
        to = corner(k)
        common = iand(before, beyond(to, 1))
        before = beyond(to, 1)
        if (words > 1) common = ior(common, iand(beyond(from, 2), beyond(to, 2)))
        face_of(to, from) = mark
        edge(edges + 1) = ior(from, shiftl(to, code_bits))
        met = merge(1, 0, common == 0)
        all_met = all_met + met
        edges = edges + iand(met, shiftr(from - to, 31))
        from = to
      end do
    end do
    general = all_met == 2*edges
  end subroutine list_edges

  pure integer(i4) function low_of(code)
    integer(i4), intent(in) :: code
    low_of = iand(code, code_mask) + 1
  end function low_of

  pure integer(i4) function high_of(code)
    integer(i4), intent(in) :: code
    high_of = shiftr(code, code_bits) + 1
  end function high_of

  !> Lists the edges that the other body has a part of, and the planes that bound it (0: none does).  Not `general` where
  !> both ends are in the same plane.
  pure subroutine find_parts(edges, edge, stride, planes, touching, beyond, distance, found, within, general)
    integer(i4), intent(in) :: edges, edge(edges), stride, planes
    integer(i8), intent(in) :: touching(stride, *), beyond(stride, *)
    real(dp), intent(in) :: distance(stride*planes)
    integer(i4), intent(out) :: found
    integer(i4), intent(inout) :: within(3, edges + 1)
    logical, intent(out) :: general
    integer(i8) :: bits, enter, leave, t, falls, doubtful
    integer(i4) :: word, i, k, low, high
    real(dp) :: step, below
    found = 0
    doubtful = 0
    do k = 1, edges
      low = low_of(edge(k))
      high = high_of(edge(k))
      enter = 0
      leave = transfer(1.0_dp, leave)
      do word = 1, words_of(planes)
        doubtful = iand(iand(touching(low, word), touching(high, word)), not(ior(beyond(low, word), beyond(high, word))))
        if (doubtful /= 0) exit
        bits = ior(touching(low, word), touching(high, word))
        do while (bits /= 0)
          i = (word - 1)*word_bits + trailz(bits)
          bits = iand(bits, bits - 1)
          below = distance(low + stride*i)
          step = distance(high + stride*i) - below
          t = ior(iand(transfer(-below/step, t), not(plane_bits)), int(i + 1, i8))
          falls = shifta(transfer(step, falls), 63)
          enter = max(enter, iand(t, falls))
          leave = min(leave, ior(t, shiftr(falls, 1)))
        end do
      end do
      within(1, found + 1) = edge(k)
      within(2, found + 1) = int(iand(enter, plane_bits), i4)
      within(3, found + 1) = int(iand(leave, plane_bits), i4)
      found = found + merge(1, 0, enter < leave)
      if (doubtful /= 0) exit
    end do
    general = doubtful == 0
  end subroutine find_parts

  !> Lists where edges are cut, and makes their parts sides of facets; three points belong to each crossing, from `base` on.
  !> Not `general` where an edge has only one face.
  pure subroutine add_parts(found, within, stamp, vertices, face_of, number, base, count, side, crossings, crossing, general)
    integer(i4), intent(in) :: found, within(3, *), stamp, vertices, face_of(vertices, vertices), number(*), base
    integer(i4), intent(inout) :: count(*), side(2, 0:most_sides - 1, *), crossings, crossing(5, *)
    logical, intent(out) :: general
    integer(i4) :: k, code, one, two, enters, leaves, start, finish, place, wrong
    wrong = 0
    do k = 1, found
      code = within(1, k)
      one = ieor(face_of(high_of(code), low_of(code)), shiftl(stamp, code_bits))
      two = ieor(face_of(low_of(code), high_of(code)), shiftl(stamp, code_bits))
      wrong = ior(wrong, ior(shiftr(one, code_bits), shiftr(two, code_bits)))
      if (wrong /= 0) exit
      enters = shifta(-within(2, k), 31)  ! all bits are set where the edge is cut
      start = number(low_of(code))
      start = ieor(start, iand(enters, ieor(start, base + 3*crossings + 1)))
      crossing(1, crossings + 1) = code
      crossing(2, crossings + 1) = one
      crossing(3, crossings + 1) = two
      crossing(4, crossings + 1) = within(2, k)
      crossing(5, crossings + 1) = 0
      crossings = crossings - enters
      leaves = shifta(-within(3, k), 31)
      finish = number(high_of(code))
      finish = ieor(finish, iand(leaves, ieor(finish, base + 3*crossings + 1)))
      crossing(1, crossings + 1) = code
      crossing(2, crossings + 1) = one
      crossing(3, crossings + 1) = two
      crossing(4, crossings + 1) = within(3, k)
      crossing(5, crossings + 1) = 1
      crossings = crossings - leaves
      place = count(one)
      count(one) = place + 1
      side(1, iand(place, most_sides - 1), one) = start
      side(2, iand(place, most_sides - 1), one) = finish
      place = count(two)
      count(two) = place + 1
      side(1, iand(place, most_sides - 1), two) = finish - leaves
      side(2, iand(place, most_sides - 1), two) = start - enters
    end do
    general = wrong == 0
  end subroutine add_parts

  !> Makes the points where edges cut planes, as the edge's two faces see them and as the plane's face does, and notes them
  !> as start of one segment and end of another.
  pure subroutine make_points(first, last, crossing, stride, distance, point, plane, other_plane, number, least, offset, used, &
                              points, start, finish, faces, finish_of, general)
    integer(i4), intent(in) :: first, last, crossing(5, *), stride, number, used, faces
    real(dp), intent(in) :: distance(stride, *), point(4, *), plane(4, *), other_plane(4, *)
    real(dp), intent(in) :: least, offset
    real(dp), intent(inout) :: points(4, *)
    integer(i4), intent(inout) :: start(4, *), finish(2, *), finish_of(faces, faces)
    logical, intent(out) :: general
    real(dp) :: step, below, smallest, cosine(2), level(2), direction(4), shift(4), low(4), one(4), two(4), cutter(4)
    integer(i4) :: k, next, code, cut, leaves, along
    smallest = huge(smallest)
    next = used
    do k = first, last
      code = crossing(1, k)
      cut = crossing(4, k)
      leaves = crossing(5, k)
      below = distance(low_of(code), cut)
      step = distance(high_of(code), cut) - below
      smallest = min(smallest, abs(step))
      low = point(:, low_of(code))
      direction = (1/step)*(point(:, high_of(code)) - low)
      cutter = other_plane(:, cut)
      one = plane(:, crossing(2, k))
      two = plane(:, crossing(3, k))
      ! The edge of the two faces when they are moved
      shift = (offset/max(1 + dot3(one, two), 1.0e-3_dp))*(one + two)
      cosine(1) = dot3(one, cutter)
      cosine(2) = dot3(two, cutter)
      level = offset
      if (max(cosine(1), cosine(2)) > nearly_parallel) then
        level = merge(0.0_dp, offset, cosine > nearly_parallel)
        shift = (0.5_dp*sum(level)/max(1 + dot3(one, two), 1.0e-3_dp))*(one + two) &
                + (0.5_dp*(level(1) - level(2))/max(1 - dot3(one, two), 1.0e-3_dp))*(one - two)
      end if
      points(:, next + 1) = low + (level(1) - below)*direction
      points(:, next + 2) = low + (level(2) - below)*direction
      points(:, next + 3) = (low + shift) - (below + dot3(cutter, shift))*direction
      along = ieor(leaves, number - 1)  ! 1: the segment of the face along the edge starts here, else that of the other
      if (number == 1) then
        start(1, k) = crossing(3 - along, k)
        start(2, k) = cut
        start(3, k) = next + 2 - along
        start(4, k) = next + 3
        finish(1, k) = next + 1 + along
        finish(2, k) = next + 3
        finish_of(cut, crossing(2 + along, k)) = k
      else
        start(1, k) = cut
        start(2, k) = crossing(3 - along, k)
        start(3, k) = next + 3
        start(4, k) = next + 2 - along
        finish(1, k) = next + 3
        finish(2, k) = next + 1 + along
        finish_of(crossing(2 + along, k), cut) = k
      end if
      next = next + 3
    end do
    general = smallest > least
  end subroutine make_points

  pure real(dp) function dot3(a, b)
    real(dp), intent(in) :: a(4), b(4)
    dot3 = a(1)*b(1) + a(2)*b(2) + a(3)*b(3)
  end function dot3

  !> Makes segments sides of the two facets that they bound; not `general` if a start has no end.
  pure subroutine add_segments(base, segments, start, finish, faces, finish_of, count, side, general)
    integer(i4), intent(in) :: base, segments, start(4, segments), finish(2, segments), faces
    integer(i4), intent(inout) :: finish_of(faces, faces), count(*), side(2, 0:most_sides - 1, *)
    logical, intent(out) :: general
    integer(i4) :: k, column, one, two, place
    general = .true.
    do k = 1, segments
      one = start(1, k)
      two = start(2, k)
      column = finish_of(two, one)
      if (column == 0) then
        general = .false.
        exit
      end if
      finish_of(two, one) = 0
      place = count(one)
      count(one) = place + 1
      side(1, iand(place, most_sides - 1), one) = start(3, k)
      side(2, iand(place, most_sides - 1), one) = finish(1, column)
      two = base + two
      place = count(two)
      count(two) = place + 1
      side(1, iand(place, most_sides - 1), two) = finish(2, column)
      side(2, iand(place, most_sides - 1), two) = start(4, k)
    end do
    if (.not. general) finish_of = 0
  end subroutine add_segments
end module edge_crossings
