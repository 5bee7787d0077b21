!> Boundary of the intersection of two convex polyhedra in general position, from the points where edges of one
!> cross faces of the other.
!>
!> An edge that is cut lies between two faces of its body and meets one face of the other body, so the point belongs to two
!> segments in which faces of both bodies cross; each segment has such a point at either end.  Facets of the
!> intersection are bounded by these segments and by the parts of edges within the other body.  Their integrals need
!> no order of the sides, so the work grows with the size of the result.  `overlap` clips faces instead where vertices lie on the
!> other body's surface, edges lie in its planes, faces are warped or segments lack an end (all within `tolerance`).
!> As in `overlap`, each body's faces are cut by the planes of the other body moved outward by `offset`, nearly parallel ones unmoved.
!> Unmoved planes decide which faces meet.
module edge_crossings
  use kinds, only: dp, i4, i8
  use polyhedra, only: polyhedron, word_bits, kept_size
  use facets, only: boundary, facet_batch, empty_facets, add_facets, sum_facets
  implicit none
  private
  public :: most_sides, crossing_work, reserve_crossings, intersect_by_edges

  real(dp), parameter :: nearly_parallel = 0.995_dp  !< see `overlap`
  real(dp), parameter :: steep = 100                 !< an edge cuts a plane if its ends' distances differ by this many offsets
  integer(i4), parameter :: most_sides = 16          !< facets with more sides are clipped instead; a power of two
  integer(i4), parameter :: most_corners = 8         !< bodies whose faces have more on average are clipped instead
  integer(i4), parameter :: code_bits = 8, code_mask = 255  !< of a vertex, or a face, in packed numbers
  integer(i8), parameter :: all_of_it = transfer(1.0_dp, 1_i8)  !< an edge's last parameter
  integer(i8), parameter :: plane_bits = 255         !< room for the number of a plane in a parameter's last bits

  !> Work arrays of one thread, for bodies of up to `kept_size` vertices and faces.
  type :: crossing_work
    integer(i4), allocatable :: edge(:)            !< edges of one body that may meet the other body
    ! Planes that ends of these edges touch, as words of masks; zero words are left out:
    integer(i8), allocatable :: planes(:)
    integer(i4), allocatable :: ends(:, :)         !< (4,:) places of the ends' distances, planes in words before, edge
    integer(i8), allocatable :: enters(:), leaves(:)  !< see `find_ends`
    integer(i4), allocatable :: within(:, :)       !< (3,:) edges with a part in the other body: edge, planes where the part begins and ends
    integer(i4), allocatable :: number(:, :)       !< (vertices, 2) points of the vertices inside the other body
    integer(i4), allocatable :: crossing(:, :)     !< (5,:) edge, faces along and back, plane, 1 if the edge leaves the other body there
    ! Starts of segments, (4,:): faces of the first and of the second body, points for the facets of either; ends, (2,:)
    ! points.  Starts and ends are listed as they are found, in equal numbers
    integer(i4), allocatable :: start(:, :), finish(:, :)
    integer(i4), allocatable :: finish_of(:, :)    !< (face of second, face of first): column of `finish`; zero in between
    integer(i4), allocatable :: count(:)           !< sides of facets; faces of the second body follow those of the first
    integer(i4), allocatable :: side(:, :, :)      !< (2, sides, facets) first and last points of sides
    integer(i4), allocatable :: order(:)           !< facets by numbers of sides
  end type crossing_work

contains

  !> Makes room for pairs of polyhedra of up to `vertices` vertices and `faces` faces.
  subroutine reserve_crossings(work, vertices, faces)
    type(crossing_work), intent(inout) :: work
    integer(i4), intent(in) :: vertices, faces
    integer(i4) :: v, f, edges, words
    v = min(vertices, kept_size)
    f = min(faces, kept_size)
    edges = most_corners*f + 2  ! of two bodies; each is cut twice at most
    words = words_of(f)
    allocate (work%edge(edges), work%planes(words*edges + 1), work%within(3, edges), work%number(v, 2))
    allocate (work%ends(4, words*edges + 1), source=1)
    allocate (work%enters(words*edges + 1), work%leaves(words*edges + 1))
    allocate (work%crossing(5, 2*edges), work%start(4, 2*edges), work%finish(2, 2*edges))
    allocate (work%finish_of(f, f), work%count(2*f), source=0)
    allocate (work%side(2, most_sides, 2*f), source=1)
    allocate (work%order(2*f))
  end subroutine reserve_crossings

  !> Sums over the boundary of the intersection of two bodies, whose vertices are marked with `tolerance`.  If `general`
  !> is false, the sums are invalid and clipping must compute them.  `points` gets the corners of all facets.
  subroutine intersect_by_edges(one, two, corner_ptr, edge, offset, tolerance, work, capacity, points, facets, sum, general)
    type(polyhedron), intent(in) :: one, two
    integer(i4), intent(in) :: corner_ptr(0:*)  !< of faces
    integer(i4), intent(in) :: edge(0:*)        !< at the places of faces' corners, see `shape_edges`
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
    if (min(one%edges, two%edges) < 6 .or. 2*max(one%edges, two%edges) > size(work%edge) - 2) return
    used = 0
    call number_vertices(one%vertices, size(one%touching, 1), words_of(two%faces), one%touching, one%beyond, one%point, &
                         work%number(:, 1), used, points, general)
    if (.not. general) return
    call number_vertices(two%vertices, size(two%touching, 1), words_of(one%faces), two%touching, two%beyond, two%point, &
                         work%number(:, 2), used, points, general)
    if (.not. general) return
    work%count(1:one%faces + two%faces) = 0
    crossings = 0
    call cross_edges(one, two, 1, 0, edge(corner_ptr(one%first_face)), offset, tolerance, work, capacity, used, points, &
                     crossings, general)
    if (general) call cross_edges(two, one, 2, one%faces, edge(corner_ptr(two%first_face)), offset, tolerance, work, capacity, &
                                  used, points, crossings, general)
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

  !> Sorts the facets of a body's faces by the number of their sides; facets from `first` on have three sides and more.
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

  !> Numbers the vertices inside the other body and makes them points; `general` if none is on its surface.
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

  !> Number of mask words for this many planes.
  pure integer(i4) function words_of(planes)
    integer(i4), intent(in) :: planes
    words_of = (planes + word_bits - 1)/word_bits
  end function words_of

  pure integer(i4) function is_zero(bits)
    integer(i8), intent(in) :: bits
    is_zero = 1 - min(1, popcnt(bits))
  end function is_zero

  !> Finds the parts of the edges of `body` (`number`: the first or the second) within `other`: sides of the body's facets, points
  !> where edges are cut, and starts and ends of segments at these points.
  subroutine cross_edges(body, other, number, base, edge, offset, tolerance, work, capacity, used, points, crossings, general)
    type(polyhedron), intent(in) :: body, other
    integer(i4), intent(in) :: number, base, capacity  !< base: number of facets before those of the body
    integer(i4), intent(in) :: edge(*)  !< of the body
    real(dp), intent(in) :: offset, tolerance
    type(crossing_work), intent(inout) :: work
    integer(i4), intent(inout) :: used, crossings
    real(dp), intent(inout) :: points(4, capacity)
    logical, intent(out) :: general
    integer(i4) :: edges, words, within, last

    general = body%warp <= tolerance  ! otherwise edges are not the lines where planes meet
    if (.not. general) return
    call choose_edges(body%edges, edge, size(body%beyond, 1), words_of(other%faces), body%touching, body%beyond, &
                      edges, work%edge, words, work%planes, work%ends, general)
    general = general .and. used + 6*edges <= capacity  ! always true for closed bodies
    if (.not. general) return
    call find_ends(words, work%planes, work%ends, body%distance, work%enters, work%leaves)
    call list_parts(edges, work%edge, words, work%ends, work%enters, work%leaves, within, work%within)
    last = crossings
    call add_parts(within, work%within, work%number(:, number), used - 3*crossings, work%count(base + 1:), &
                   work%side(:, :, base + 1:), last, work%crossing)
    call make_points(crossings + 1, last, work%crossing, size(body%distance, 1), body%distance, body%point, body%plane, &
                     other%plane, number, steep*max(offset, tolerance), offset, used, points, work%start, work%finish, &
                     size(work%finish_of, 1), work%finish_of, general)
    used = used + 3*(last - crossings)
    crossings = last
  end subroutine cross_edges

  !> Chooses the edges that do not lie beyond one plane of the other body, and lists the planes that their ends touch; not
  !> `general` where both ends are in the same plane.
  pure subroutine choose_edges(edges, edge, stride, words, touching, beyond, chosen, choice, found, planes, ends, general)
    integer(i4), intent(in) :: edges, edge(edges), stride, words
    integer(i8), intent(in) :: touching(stride, words), beyond(stride, words)
    integer(i4), intent(out) :: chosen, found
    integer(i4), intent(inout) :: choice(*), ends(4, *)
    integer(i8), intent(inout) :: planes(*)
    logical, intent(out) :: general
    integer(i4) :: k, code, low, high, word, met
    integer(i8) :: common, doubtful, bits
    chosen = 0
    found = 0
    doubtful = 0
    if (words == 1) then
      !GCC$ unroll 1
      do k = 1, edges
        code = edge(k)
        low = low_of(code)
        high = high_of(code)
        met = is_zero(iand(beyond(low, 1), beyond(high, 1)))
        bits = ior(touching(low, 1), touching(high, 1))
        choice(chosen + 1) = code
        chosen = chosen + met
        planes(found + 1) = bits
        ends(1, found + 1) = low - 1
        ends(2, found + 1) = high - 1
        ends(3, found + 1) = 0
        ends(4, found + 1) = chosen
        found = found + iand(met, 1 - is_zero(bits))
        doubtful = ior(doubtful, iand(int(-met, i8), &
                                      in_one_plane(touching(low, 1), touching(high, 1), beyond(low, 1), beyond(high, 1))))
      end do
    else
      do k = 1, edges
        code = edge(k)
        low = low_of(code)
        high = high_of(code)
        common = 0
        do word = 1, words
          common = ior(common, iand(beyond(low, word), beyond(high, word)))
        end do
        if (common /= 0) cycle
        chosen = chosen + 1
        choice(chosen) = code
        do word = 1, words
          bits = ior(touching(low, word), touching(high, word))
          planes(found + 1) = bits
          ends(1, found + 1) = low - 1 + stride*(word - 1)*word_bits
          ends(2, found + 1) = high - 1 + stride*(word - 1)*word_bits
          ends(3, found + 1) = (word - 1)*word_bits
          ends(4, found + 1) = chosen
          found = found + merge(1, 0, bits /= 0)
          doubtful = ior(doubtful, in_one_plane(touching(low, word), touching(high, word), beyond(low, word), beyond(high, word)))
        end do
      end do
    end if
    planes(found + 1) = 0
    ends(3, found + 1) = stride
    ends(4, found + 1) = 0
    general = doubtful == 0
  end subroutine choose_edges

  !> Planes that both ends of an edge touch, with neither end beyond.
  pure integer(i8) function in_one_plane(low_touching, high_touching, low_beyond, high_beyond)
    integer(i8), intent(in) :: low_touching, high_touching, low_beyond, high_beyond
    in_one_plane = iand(iand(low_touching, high_touching), not(ior(low_beyond, high_beyond)))
  end function in_one_plane

  pure integer(i4) function low_of(code)
    integer(i4), intent(in) :: code
    low_of = iand(code, code_mask) + 1  ! vertices are counted from 1 here
  end function low_of

  pure integer(i4) function high_of(code)
    integer(i4), intent(in) :: code
    high_of = iand(shiftr(code, code_bits), code_mask) + 1
  end function high_of

  !> The face that runs from the lower to the higher vertex of an edge.
  pure integer(i4) function face_along(code)
    integer(i4), intent(in) :: code
    face_along = iand(shiftr(code, 2*code_bits), code_mask)
  end function face_along

  !> The face that runs back.
  pure integer(i4) function face_back(code)
    integer(i4), intent(in) :: code
    face_back = shiftr(code, 3*code_bits)
  end function face_back

  !> For each word of planes that ends of an edge touch: the position on the edge, from 0 to 1, where the last of them is entered and where
  !> the first is left, with the plane's number, from 1, in the last bits (0: none).  One loop runs over all planes of all edges, without
  !> branches on their numbers.
  pure subroutine find_ends(words, planes, ends, distance, enters, leaves)
    integer(i4), intent(in) :: words, ends(4, words + 1)
    integer(i8), intent(in) :: planes(words + 1)
    real(dp), intent(in) :: distance(0:*)
    integer(i8), intent(inout) :: enters(words + 1), leaves(words + 1)
    integer(i8) :: bits, next_bits, enter, leave, t, falls, done, i
    integer(i4) :: k, word, total, stride
    real(dp) :: step, below
    total = 0
    do k = 1, words
      total = total + popcnt(planes(k))
    end do
    stride = ends(3, words + 1)
    word = 1
    bits = planes(1)
    enter = 0
    leave = all_of_it
    !GCC$ unroll 1
    do k = 1, total
      next_bits = planes(word + 1)
      i = trailz(bits)
      below = distance(ends(1, word) + stride*i)
      step = below - distance(ends(2, word) + stride*i)
      t = ior(iand(transfer(below/step, t), not(plane_bits)), i + 1)
      falls = shifta(transfer(step, falls), 63)  ! zero where the edge leads into the plane
      enter = max(enter, iand(t, not(falls)))
      leave = min(leave, ior(t, shiftr(not(falls), 1)))
      enters(word) = enter
      leaves(word) = leave
      bits = iand(bits, bits - 1)
      done = shifta(iand(not(bits), bits - 1), 63)  ! all bits are set after the last one
      bits = ior(bits, iand(next_bits, done))
      word = word - int(done, i4)
      enter = iand(enter, not(done))
      leave = ior(iand(leave, not(done)), iand(all_of_it, done))
    end do
  end subroutine find_ends

  !> Lists the edges with a part in the other body, and the planes that bound this part (0: none).
  pure subroutine list_parts(edges, edge, words, ends, enters, leaves, found, within)
    integer(i4), intent(in) :: edges, edge(edges), words, ends(4, words + 1)
    integer(i8), intent(inout) :: enters(words + 1), leaves(words + 1)
    integer(i4), intent(out) :: found
    integer(i4), intent(inout) :: within(3, edges + 1)
    integer(i8) :: enter, leave
    integer(i4) :: k, word, offset
    enters(words + 1) = 0
    leaves(words + 1) = all_of_it
    found = 0
    word = 1
    do k = 1, edges
      enter = 0
      leave = all_of_it
      do while (ends(4, word) == k)
        offset = ends(3, word)
        enter = max(enter, enters(word) + merge(offset, 0, enters(word) /= 0))
        leave = min(leave, leaves(word) + merge(offset, 0, leaves(word) /= all_of_it))
        word = word + 1
      end do
      within(1, found + 1) = edge(k)
      within(2, found + 1) = int(iand(enter, plane_bits), i4)
      within(3, found + 1) = int(iand(leave, plane_bits), i4)
      found = found + merge(1, 0, enter < leave)
    end do
  end subroutine list_parts

  !> Lists the crossings of edges, and makes parts of edges sides of facets; each crossing has three points, from `base` on.
  pure subroutine add_parts(found, within, number, base, count, side, crossings, crossing)
    integer(i4), intent(in) :: found, within(3, *), number(*), base
    integer(i4), intent(inout) :: count(*), side(2, 0:most_sides - 1, *), crossings, crossing(5, *)
    integer(i4) :: k, code, one, two, enters, leaves, start, finish, place
    !GCC$ unroll 1
    do k = 1, found
      code = within(1, k)
      one = face_along(code)
      two = face_back(code)
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
  end subroutine add_parts

  !> Makes the points where edges cut planes: one for each of the edge's two faces and one for the plane's face.  Each is recorded
  !> as the start of one segment and the end of another.
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
      ! The edge of the two moved faces
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

  !> Makes segments sides of the two facets that they bound; not `general` if a start has no end point.
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
