!> Boundary of the intersection of two convex polyhedra, by clipping the faces of each by the planes of the other.
!>
!> Planes are moved outward by `offset` before they cut, so the boundary of touching bodies is a patch with area, and
!> no interior point is needed.  Planes of equal orientation that are nearly parallel cut unmoved; otherwise both bodies
!> would contribute the same piece of boundary.  If they coincide within `tolerance`, only the first body contributes the
!> piece.  With zero offset the facets bound the exact intersection.
!>
!> Where a plane meets a body, the section is bounded by those faces that meet the plane, so other faces need not cut.
!> For the planes of faces this holds only if the corners lie in them.  Faces of deforming bodies may be slightly warped; then all
!> planes that a face touches cut it.  Otherwise a face beside an edge of such a body would stay whole.
!>
!> Around the common patch of touching bodies there are slivers as wide as the offset, on faces that only graze the other body.
!> They take most of the time, and are left out where the rest is large.
module overlap
  use kinds, only: dp, i4, i8
  use alignment, only: first_aligned
  use polyhedra, only: polyhedron, word_bits, mark_faces, faces_across, find_warp
  use facets, only: boundary, facet_batch, add_polygon, reserve_facets
  use edge_crossings, only: most_sides, crossing_work, reserve_crossings, intersect_by_edges
  implicit none
  private
  public :: clip_work, reserve_overlap, intersect, extent

  integer(i4), parameter :: block = 8  !< corners of a short polygon
  real(dp), parameter :: nearly_parallel = 0.995_dp  !< cosine above which planes of equal orientation cut unmoved
  real(dp), parameter :: parallel = 1 - 5.0e-7_dp    !< cosine (sine 1e-3) above which planes may coincide
  real(dp), parameter :: in_plane = 1.0e-6_dp        !< corners within this share of the tolerance lie in their plane

  !> Work arrays of one thread.
  type :: clip_work
    real(dp), allocatable :: polygon(:)        !< (4, :) from `polygon_at` on: the polygon of the face that is cut
    real(dp), allocatable :: distance(:)       !< of its corners from a plane
    real(dp), allocatable :: corner(:)         !< (4, :) from `corner_at` on: corners of all facets
    integer(i4) :: polygon_at, corner_at, capacity
    integer(i4), allocatable :: face(:)        !< faces that are to be cut
    integer(i8), allocatable :: across(:)      !< per word the planes that may cut one face
    integer(i4), allocatable :: turn(:), aligned(:)  !< planes that may cut one face; those nearly parallel to it
    integer(i4), allocatable :: shared(:)      !< per face of the second body: 1 if it coincides with a face of the first
    logical :: warped(2)                       !< whether bodies have faces whose corners are not in their planes
    type(crossing_work) :: crossings           !< for bodies in general position
    type(facet_batch) :: facets                !< for bodies in general position
  end type clip_work

contains

  !> Makes room for pairs of polyhedra of up to `vertices` vertices and `faces` faces.
  subroutine reserve_overlap(work, vertices, faces)
    type(clip_work), intent(inout) :: work
    integer(i4), intent(in) :: vertices, faces
    ! A cut moves the last corner by at most two places; short polygons are processed in full blocks.
    allocate (work%polygon(4*(vertices + 2*faces + 2*block) + 8), work%distance(vertices + faces + block))
    ! Twice the number of corners of the two clipped surfaces, which have at most 2*faces facets each.
    work%capacity = 48*faces + 4*vertices + block
    allocate (work%corner(4*work%capacity + 8))
    allocate (work%face(faces), work%across((faces + word_bits - 1)/word_bits), work%turn(faces), &
              work%aligned(faces), work%shared(faces))
    call reserve_crossings(work%crossings, vertices, faces)
    call reserve_facets(work%facets, most_sides)
    work%polygon = 0
    work%polygon_at = first_aligned(work%polygon)
    work%corner_at = first_aligned(work%corner)
  end subroutine reserve_overlap

  !> Sums over the boundary of the intersection of two bodies, whose vertices are marked with the same tolerance: from
  !> edges if the bodies are in general position, else by clipping.
  subroutine intersect(one, two, corner_ptr, corner_count, corner, edge, offset, tolerance, enough, work, sum)
    type(polyhedron), intent(inout) :: one, two
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*)  !< of faces
    integer(i4), intent(in) :: corner(0:*)                         !< corners of faces, local vertex numbers
    integer(i4), intent(in) :: edge(0:*)                           !< edges, see `shape_edges`
    real(dp), intent(in) :: offset, tolerance
    real(dp), intent(in) :: enough  !< surface area above which slivers on faces that only graze the other body are left out
    type(clip_work), intent(inout) :: work
    type(boundary), intent(inout) :: sum
    logical :: general
    call find_warp(one, corner_ptr(one%first_face), corner_count(one%first_face), corner)
    call find_warp(two, corner_ptr(two%first_face), corner_count(two%first_face), corner)
    call intersect_by_edges(one, two, corner_ptr, edge, offset, tolerance, work%crossings, work%capacity, &
                            work%corner(work%corner_at), work%facets, sum, general)
    if (general) return
    call mark_faces(one, two%faces, corner_ptr(one%first_face), corner_count(one%first_face), corner)
    call mark_faces(two, one%faces, corner_ptr(two%first_face), corner_count(two%first_face), corner)
    work%warped = [one%warp, two%warp] > in_plane*tolerance
    sum = boundary()
    if (enough < huge(enough)) then
      call clip_both(one, two, .false., corner_ptr, corner_count, corner, offset, tolerance, work, sum)
      if (sum%area > enough) return
      if (sum%facets > 0) sum = boundary()
    end if
    call clip_both(one, two, .true., corner_ptr, corner_count, corner, offset, tolerance, work, sum)
  end subroutine intersect

  !> Clips all faces of both bodies, or only the faces that do more than graze the other body.
  subroutine clip_both(one, two, everything, corner_ptr, corner_count, corner, offset, tolerance, work, sum)
    type(polyhedron), intent(in) :: one, two
    logical, intent(in) :: everything
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*), corner(0:*)
    real(dp), intent(in) :: offset, tolerance
    type(clip_work), intent(inout) :: work
    type(boundary), intent(inout) :: sum
    work%shared(1:two%faces) = 0
    call clip_faces(one, two, .true., everything, corner_ptr(one%first_face), corner_count(one%first_face), corner, offset, &
                    tolerance, work, sum)
    call clip_faces(two, one, .false., everything, corner_ptr(two%first_face), corner_count(two%first_face), corner, offset, &
                    tolerance, work, sum)
  end subroutine clip_both

  !> Clips the faces of `subject` and adds the facets to `sum`.
  subroutine clip_faces(subject, cutter, is_first, everything, corner_ptr, corner_count, corner, offset, tolerance, work, sum)
    type(polyhedron), intent(in) :: subject, cutter
    logical, intent(in) :: is_first, everything
    integer(i4), intent(in) :: corner_ptr(*), corner_count(*), corner(0:*)
    real(dp), intent(in) :: offset, tolerance
    type(clip_work), intent(inout) :: work
    type(boundary), intent(inout) :: sum
    integer(i4) :: face, k, faces, cuts, parallels
    logical :: met, warped

    warped = work%warped(merge(2, 1, is_first))
    faces = 0
    do face = 1, subject%faces  ! a list costs less than unpredictable branches
      met = btest(cutter%reached((face - 1)/word_bits + 1), mod(face - 1, word_bits)) .and. .not. subject%outside(face)
      if (.not. is_first) met = met .and. work%shared(face) == 0
      work%face(faces + 1) = face
      faces = faces + merge(1, 0, met)
    end do
    if (.not. everything) call leave_out_grazing(subject%plane, size(subject%above, 1), subject%above, cutter%faces, &
                                                 cutter%plane, faces, work%face)
    do k = 1, faces
      face = work%face(k)
      call planes_across(face, size(subject%touched, 1), cutter%faces, size(cutter%crossed, 1), subject%touched, &
                         cutter%crossed, warped, work%across)
      call list_planes(face, size(subject%exceeded, 1), cutter%faces, work%across, subject%exceeded, offset < tolerance, &
                       subject%plane(1, face), cutter%plane, cuts, work%turn, parallels, work%aligned)
      call clip_face(is_first, face <= subject%outer, corner_count(face), corner(corner_ptr(face)), subject%point, &
                     subject%plane(1, face), cutter%outer, cutter%plane, cuts, work%turn, parallels, work%aligned, offset, &
                     tolerance, work%capacity, work%polygon(work%polygon_at), work%distance, work%corner(work%corner_at), &
                     work%shared, sum)
    end do
  end subroutine clip_faces

  !> Removes from a list the faces that have no corner within some plane of the other body, whose bits are set in `above`, and
  !> are at an angle to that plane.  Their part within the moved planes is a sliver.
  pure subroutine leave_out_grazing(own, rows, above, planes, plane, faces, face)
    integer(i4), intent(in) :: rows, planes
    real(dp), intent(in) :: own(4, *), plane(4, planes)  !< of the faces; of the other body
    integer(i8), intent(in) :: above(rows, *)
    integer(i4), intent(inout) :: faces, face(faces)
    integer(i8) :: bits
    integer(i4) :: word, i, k, kept, grazing, here
    kept = 0
    do k = 1, faces
      here = face(k)
      grazing = 0
      do word = 1, (planes + word_bits - 1)/word_bits
        bits = above(here, word)
        do while (bits /= 0)
          i = (word - 1)*word_bits + trailz(bits) + 1
          bits = iand(bits, bits - 1)
          grazing = merge(1, grazing, abs(own(1, here)*plane(1, i) + own(2, here)*plane(2, i) + own(3, here)*plane(3, i)) &
                                      <= nearly_parallel)
        end do
      end do
      face(kept + 1) = here
      kept = kept + 1 - grazing
    end do
    faces = kept
  end subroutine leave_out_grazing

  !> Planes of the cutter that some corners of a face touch and whose faces meet the face's plane.  No other faces bound the
  !> section of the cutter by the face's plane, unless the cutter is warped.
  pure subroutine planes_across(face, rows, planes, columns, touched, crossed, warped, across)
    integer(i4), intent(in) :: face, rows, planes, columns
    integer(i8), intent(in) :: touched(rows, *), crossed(columns, *)  !< of the face's body and of the cutter, by words
    logical, intent(in) :: warped  !< the cutter is
    integer(i8), intent(inout) :: across(*)
    integer(i4) :: word, base
    do word = 1, (planes + word_bits - 1)/word_bits
      base = (word - 1)*word_bits
      across(word) = touched(face, word)
      if (across(word) == 0 .or. warped) cycle
      across(word) = iand(across(word), faces_across(min(planes - base, word_bits), &
                                                     crossed(base + 1, (face - 1)/word_bits + 1), &
                                                     mod(face - 1, word_bits)))
    end do
  end subroutine planes_across

  !> Clips one face and adds the facet to `sum`.
  pure subroutine clip_face(is_first, is_outer, corners, corner, point, own, outer, plane, cuts, turn, parallels, aligned, &
                            offset, tolerance, capacity, p, distance, kept, shared, sum)
    logical, intent(in) :: is_first, is_outer          !< whether the face is of the first body; whether it is on the body's surface
    integer(i4), intent(in) :: corners, corner(corners)
    real(dp), intent(in) :: point(4, 0:*), own(4)      !< vertices of the face's body; the face's plane
    integer(i4), intent(in) :: outer                   !< number of the cutter's leading outer planes
    real(dp), intent(in) :: plane(4, *)                !< of the cutter
    integer(i4), intent(in) :: cuts, turn(cuts), parallels, aligned(parallels)   !< see `list_planes`
    real(dp), intent(in) :: offset, tolerance
    integer(i4), intent(in) :: capacity
    real(dp), intent(inout) :: p(4, 0:*), distance(0:*), kept(4, capacity)
    integer(i4), intent(inout) :: shared(*)
    type(boundary), intent(inout) :: sum
    integer(i4) :: k, i, start, count
    logical :: shared_by_outer
    real(dp) :: sign, level

    start = 0
    count = corners
    do k = 1, count
      p(:, k - 1) = point(:, corner(k))
    end do
    shared_by_outer = .false.
    do k = 1, cuts + parallels
      if (k <= cuts) then
        i = turn(k)
        level = plane(4, i) + offset
      else
        i = aligned(k - cuts)
        level = plane(4, i)
        if (is_first .and. dot_product(own(1:3), plane(1:3, i)) > parallel) then
          if (within(count, p(1, start), plane(:, i), tolerance)) then
            shared(i) = 1
            if (i <= outer) shared_by_outer = .true.
            cycle
          end if
        end if
      end if
      call cut(plane(:, i), level, start, count, p, distance)
      if (count < 3) return
    end do

    sign = 0
    if (is_outer) sign = 1
    if (shared_by_outer) sign = sign - 1
    if (.not. is_first) sign = -sign
    call add_polygon(count, p(1, start), own, sign, sum)
    if (sum%points + max(count, block) > capacity) then
      sum%complete = .false.
      return
    end if
    do k = 0, max(count, block) - 1  ! short polygons take full blocks
      kept(:, sum%points + 1 + k) = p(:, start + k)
    end do
    sum%points = sum%points + count
  end subroutine clip_face

  !> Lists the planes whose bits are set in `across`; planes nearly parallel to `own`, the plane of a face, get a separate list.
  !> Of the other planes only those cut that some corner of the face exceeds, if vertices are marked with the offset of planes
  !> or less (`short` is false): parts of a face exceed no plane that the whole does not.
  pure subroutine list_planes(face, rows, planes, across, exceeded, short, own, plane, cuts, turn, parallels, aligned)
    integer(i4), intent(in) :: face, rows, planes
    integer(i8), intent(in) :: across(*), exceeded(rows, *)  !< planes by words; `exceeded` of faces
    logical, intent(in) :: short
    real(dp), intent(in) :: own(4), plane(4, planes)
    integer(i4), intent(out) :: cuts, parallels
    integer(i4), intent(inout) :: turn(planes), aligned(planes)
    integer(i8) :: bits, cutting
    integer(i4) :: word, i, is_parallel
    cuts = 0
    parallels = 0
    do word = 1, (planes + word_bits - 1)/word_bits
      bits = across(word)
      cutting = merge(not(0_i8), exceeded(face, word), short)
      do while (bits /= 0)
        i = (word - 1)*word_bits + trailz(bits) + 1
        is_parallel = merge(1, 0, own(1)*plane(1, i) + own(2)*plane(2, i) + own(3)*plane(3, i) > nearly_parallel)
        turn(cuts + 1) = i
        aligned(parallels + 1) = i
        cuts = cuts + iand(1 - is_parallel, int(shiftr(cutting, iand(trailz(bits), 63)), i4))
        parallels = parallels + is_parallel
        bits = iand(bits, bits - 1)
      end do
    end do
  end subroutine list_planes

  !> Cuts the convex polygon `p(:, start:start + count - 1)` by a plane at distance `level`, in place.
  !>
  !> Rounding may put several corners of a polygon that lies in the plane on either side.  Only the run of corners around the
  !> furthest one is cut off, so one cut adds at most one corner and moves the last one by at most two places.
  pure subroutine cut(plane, level, start, count, p, distance)
    real(dp), intent(in) :: plane(3), level
    integer(i4), intent(inout) :: start, count
    real(dp), intent(inout) :: p(4, 0:*), distance(0:*)
    integer(i4) :: k, first, length
    integer(i8) :: outside, begins
    real(dp) :: inside
    if (count <= block) then  ! a fixed number of corners costs less than mispredicted branches
      outside = 0
      do k = block - 1, 0, -1  ! collect signs
        inside = ((level - plane(3)*p(3, start + k)) - plane(2)*p(2, start + k)) - plane(1)*p(1, start + k)
        distance(k) = inside
        outside = 2*outside + shiftr(transfer(inside, outside), 63)
      end do
      outside = iand(outside, shiftl(1_i8, iand(count, 63)) - 1)
      if (outside == 0) return
      begins = iand(outside, not(ior(shiftl(outside, 1), shiftr(outside, iand(count - 1, 63)))))
      if (begins == 0) then
        count = 0
        return
      end if
      if (iand(begins, begins - 1) == 0) then
        call cut_short(outside, iand(trailz(begins), 63), distance, start, count, p)
        return
      end if
    end if
    do k = 0, count - 1
      distance(k) = plane(1)*p(1, start + k) + (plane(2)*p(2, start + k) + (plane(3)*p(3, start + k) - level))
    end do
    if (.not. any(distance(0:count - 1) > 0)) return
    call furthest_run(count, distance, first, length)
    call cut_long(first, length, distance, count, p(1, start))
  end subroutine cut

  !> Cuts off the one run of corners whose bits are set in `outside`, from a polygon of at most `block` corners; `begin` is
  !> the number, from 0, of the run's first corner; `inside`: distances of corners, positive inside.  There are no
  !> branches on the position of the run.
  pure subroutine cut_short(outside, begin, inside, start, count, p)
    integer(i8), intent(in) :: outside
    integer(i4), intent(in) :: begin
    real(dp), intent(in) :: inside(0:*)
    integer(i4), intent(inout) :: start, count
    real(dp), intent(inout) :: p(4, 0:*)
    integer(i4) :: before, enter, leave, length, place
    real(dp) :: x(4), y(4), r1(4), r2(4), r3(4), r4(4), r5(4), r6(4)
    length = popcnt(outside)
    leave = wrap(begin - 1, count)               ! the last kept corner before the run
    enter = wrap(begin + length - count, count)  ! the first one after it
    before = wrap(enter - 1, count)
    x = p(:, start + leave)
    y = p(:, start + begin)
    x = x + (inside(leave)/(inside(leave) - inside(begin)))*(y - x)
    r1 = p(:, start + enter)
    y = p(:, start + before)
    y = r1 + (inside(enter)/(inside(enter) - inside(before)))*(y - r1)
    ! The two new corners follow `leave`.  Either the tail moves, or the run holds corner 0 and the polygon starts later;
    ! then the copies land behind its end.
    r1 = p(:, start + before + 1)
    r2 = p(:, start + before + 2)
    r3 = p(:, start + before + 3)
    r4 = p(:, start + before + 4)
    r5 = p(:, start + before + 5)
    r6 = p(:, start + before + 6)
    place = start + leave
    if (inside(leave) > 0) then
      place = place + 1
      p(:, place) = x
    end if
    if (inside(enter) > 0) then
      place = place + 1
      p(:, place) = y
    end if
    p(:, place + 1) = r1
    p(:, place + 2) = r2
    p(:, place + 3) = r3
    p(:, place + 4) = r4
    p(:, place + 5) = r5
    p(:, place + 6) = r6
    count = count - length + place - (start + leave)
    start = start + enter*int(iand(outside, 1_i8), i4)
  end subroutine cut_short

  !> A corner number between -count and count-1, brought into 0..count-1.
  pure integer(i4) function wrap(number, count)
    integer(i4), intent(in) :: number, count
    wrap = number + iand(shifta(number, 31), count)
  end function wrap

  !> Cuts off `length` corners from `first` on, cyclically, of any polygon.
  pure subroutine cut_long(first, length, distance, count, p)
    integer(i4), intent(in) :: first, length
    real(dp), intent(in) :: distance(*)
    integer(i4), intent(inout) :: count
    real(dp), intent(inout) :: p(4, count + 1)
    real(dp) :: x(4), y(4)
    integer(i4) :: enter, leave, before
    if (length == count) then
      count = 0
      return
    end if
    leave = modulo(first - 2, count) + 1
    before = modulo(first + length - 2, count) + 1
    enter = modulo(before, count) + 1
    x = p(:, leave) + (distance(leave)/(distance(leave) - distance(first)))*(p(:, first) - p(:, leave))
    y = p(:, enter) + (distance(enter)/(distance(enter) - distance(before)))*(p(:, before) - p(:, enter))
    p(:, 1:count) = cshift(p(:, 1:count), enter - 1, dim=2)
    count = count - length
    if (distance(leave) < 0) then
      count = count + 1
      p(:, count) = x
    end if
    if (distance(enter) < 0) then
      count = count + 1
      p(:, count) = y
    end if
  end subroutine cut_long

  !> The cyclic run of positive distances that holds the largest one.
  pure subroutine furthest_run(count, distance, first, length)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: distance(count)
    integer(i4), intent(out) :: first, length
    integer(i4) :: k, last
    last = maxloc(distance, dim=1)
    first = last
    length = 1
    do while (length < count)
      k = modulo(first - 2, count) + 1
      if (.not. distance(k) > 0) exit
      first = k
      length = length + 1
    end do
    do while (length < count)
      k = modulo(last, count) + 1
      if (.not. distance(k) > 0) exit
      last = k
      length = length + 1
    end do
  end subroutine furthest_run

  !> Whether all corners are within `tolerance` of a plane.
  pure logical function within(count, p, plane, tolerance)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: p(4, *), plane(4), tolerance
    integer(i4) :: k
    within = .true.
    do k = 1, count
      if (abs(plane(1)*p(1, k) + plane(2)*p(2, k) + plane(3)*p(3, k) - plane(4)) > tolerance) within = .false.
    end do
  end function within

  !> Extent of the facets' corners along a direction.
  pure real(dp) function extent(points, corner, direction)
    integer(i4), intent(in) :: points
    real(dp), intent(in) :: corner(4, *), direction(3)
    integer(i4) :: k
    real(dp) :: x, low, high
    low = huge(low)
    high = -huge(high)
    do k = 1, points
      x = direction(1)*corner(1, k) + direction(2)*corner(2, k) + direction(3)*corner(3, k)
      low = min(low, x)
      high = max(high, x)
    end do
    extent = max(0.0_dp, high - low)
  end function extent
end module overlap
