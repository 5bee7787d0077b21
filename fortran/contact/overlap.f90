!> The boundary of the intersection of two convex polyhedra, by clipping the faces of each by the planes of the other.
!>
!> Planes are moved outward by `offset` before they cut, so the boundary of touching bodies is a patch with area and
!> no interior point is needed.  Planes of equal orientation that are nearly parallel cut unmoved, else both bodies
!> would contribute the same piece of boundary; where they coincide within `tolerance` the piece is taken once, from
!> the first body.  With zero offset the facets bound the exact intersection.
module overlap
  use kinds, only: dp, i4, i8
  use polyhedra, only: polyhedron, word_bits
  implicit none
  private
  public :: boundary, clip_work, reserve_overlap, intersect, extent

  integer(i4), parameter :: block = 8  !< corners handled together
  real(dp), parameter :: nearly_parallel = 0.995_dp  !< cosine above which planes of equal orientation cut unmoved
  real(dp), parameter :: parallel = 1 - 5.0e-7_dp    !< cosine (sine 1e-3) above which planes may coincide

  !> Sums over the facets of the intersection's boundary.
  type :: boundary
    integer(i4) :: facets             !< number of facets
    real(dp) :: area                  !< surface area
    real(dp) :: moment(3)             !< sum of area times centroid
    real(dp) :: volume                !< volume (meaningful for zero offset)
    real(dp) :: volume_moment(3)      !< volume times centroid (the same)
    real(dp) :: normal(3)             !< sum of weight times outer normal, of the first body minus of the second
    real(dp) :: weight                !< sum of the weights: mean over fans of squared triangle areas
    integer(i4) :: points             !< number of facet corners kept in `clip_work%corner`
    logical :: complete               !< all corners of facets were kept
  end type boundary

  !> Work arrays of one thread.
  type :: clip_work
    real(dp), allocatable :: polygon(:, :, :)  !< (4, :, 2) the polygon before and after a cut
    real(dp), allocatable :: distance(:)
    real(dp), allocatable :: corner(:, :)      !< (4, :) corners of all facets
    integer(i4), allocatable :: cutting(:)     !< planes that can cut one face
    integer(i4), allocatable :: aligned(:)     !< planes nearly parallel to one face
    integer(i4), allocatable :: shared(:)      !< per face of the second body: 1 if it coincides with a face of the first
  end type clip_work

contains

  !> Makes room for pairs of polyhedra of up to `vertices` vertices and `faces` faces.
  subroutine reserve_overlap(work, vertices, faces)
    type(clip_work), intent(inout) :: work
    integer(i4), intent(in) :: vertices, faces
    ! A cut adds at most one corner.
    allocate (work%polygon(4, vertices + faces + block, 2), work%distance(vertices + faces + block))
    ! Twice the number of corners of the two clipped surfaces, which have at most 2*faces facets each.
    allocate (work%corner(4, 48*faces + 4*vertices))
    allocate (work%cutting(faces), work%aligned(faces), work%shared(faces))
    work%polygon = 0
  end subroutine reserve_overlap

  !> Clips both bodies, whose vertices are marked.  `solid` asks for `volume_moment` too.
  subroutine intersect(one, two, corner_ptr, corner_count, corner, offset, tolerance, work, sum)
    type(polyhedron), intent(in) :: one, two
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*)  !< of faces
    integer(i4), intent(in) :: corner(0:*)                         !< corners of faces, local vertex numbers
    real(dp), intent(in) :: offset, tolerance
    type(clip_work), intent(inout) :: work
    type(boundary), intent(inout) :: sum
    sum%facets = 0
    sum%area = 0
    sum%moment = 0
    sum%volume = 0
    sum%volume_moment = 0
    sum%normal = 0
    sum%weight = 0
    sum%points = 0
    sum%complete = .true.
    work%shared(1:two%faces) = 0
    call clip_faces(one, two, .true., corner_ptr(one%first_face), corner_count(one%first_face), corner, offset, &
                    tolerance, work, sum)
    call clip_faces(two, one, .false., corner_ptr(two%first_face), corner_count(two%first_face), corner, offset, &
                    tolerance, work, sum)
  end subroutine intersect

  subroutine clip_faces(subject, cutter, is_first, corner_ptr, corner_count, corner, offset, tolerance, work, sum)
    type(polyhedron), intent(in) :: subject, cutter
    logical, intent(in) :: is_first
    integer(i4), intent(in) :: corner_ptr(*), corner_count(*), corner(0:*)
    real(dp), intent(in) :: offset, tolerance
    type(clip_work), intent(inout) :: work
    type(boundary), intent(inout) :: sum
    integer(i4) :: face, k, words, count, now, cut_by, cutting, aligned
    logical :: shared_by_outer
    real(dp) :: sign

    words = (cutter%faces + word_bits - 1)/word_bits
    do face = 1, subject%faces
      if (.not. is_first) then
        if (work%shared(face) /= 0) cycle
      end if
      count = corner_count(face)
      associate (corners => corner(corner_ptr(face):corner_ptr(face) + count - 1))
        call choose_planes(count, corners, subject, cutter, words, face, tolerance, work, cutting, aligned)
        if (cutting < 0) cycle
        do k = 1, count
          work%polygon(:, k, 1) = subject%point(:, corners(k) + 1)
        end do
      end associate
      now = 1
      call clip_polygon(size(work%polygon, 2), cutting, work%cutting, cutter%plane, offset, count, work%polygon, now, &
                        work%distance)
      if (count < 3) cycle

      shared_by_outer = .false.
      do k = 1, aligned
        cut_by = work%aligned(k)
        if (is_first .and. dot_product(subject%plane(1:3, face), cutter%plane(1:3, cut_by)) > parallel) then
          if (within(count, work%polygon(:, :, now), cutter%plane(:, cut_by), tolerance)) then
            work%shared(cut_by) = 1
            if (cut_by <= cutter%outer) shared_by_outer = .true.
            cycle
          end if
        end if
        call clip_polygon(size(work%polygon, 2), 1, work%aligned(k), cutter%plane, 0.0_dp, count, work%polygon, now, &
                          work%distance)
        if (count < 3) exit
      end do
      if (count < 3) cycle

      sign = 0
      if (face <= subject%outer) sign = 1
      if (shared_by_outer) sign = sign - 1
      if (.not. is_first) sign = -sign
      call add_facet(count, work%polygon(:, :, now), subject%plane(:, face), sign, sum)
      if (sum%points + count <= size(work%corner, 2)) then
        work%corner(:, sum%points + 1:sum%points + count) = work%polygon(:, 1:count, now)
        sum%points = sum%points + count
      else
        sum%complete = .false.
      end if
    end do
  end subroutine clip_faces

  !> Lists the planes of `cutter` that can cut a face of `subject`: `work%cutting(1:cutting)`, those that several corners
  !> touch first, and apart from them `work%aligned(1:aligned)`.  `cutting` < 0: the face lies beyond one of them.
  subroutine choose_planes(count, corners, subject, cutter, words, face, tolerance, work, cutting, aligned)
    integer(i4), intent(in) :: count, corners(count), words, face
    type(polyhedron), intent(in) :: subject, cutter
    real(dp), intent(in) :: tolerance
    type(clip_work), intent(inout) :: work
    integer(i4), intent(out) :: cutting, aligned
    integer(i8) :: touching, any, twice, every, bits
    integer(i4) :: word, k, plane, pass
    real(dp) :: normal(3)
    normal = subject%plane(1:3, face)
    cutting = 0
    aligned = 0
    do word = 1, words
      any = 0
      twice = 0
      every = not(0_i8)
      do k = 1, count
        touching = subject%touching(corners(k) + 1, word)
        twice = ior(twice, iand(any, touching))
        any = ior(any, touching)
        every = iand(every, touching)
      end do
      do while (every /= 0)  ! rarely all corners touch a plane and one does not lie beyond it
        plane = (word - 1)*word_bits + trailz(every) + 1
        every = iand(every, every - 1)
        if (beyond(count, corners, subject%point, cutter%plane(:, plane), tolerance)) then
          cutting = -1
          return
        end if
      end do
      do pass = 1, 2
        bits = twice
        if (pass == 2) bits = iand(any, not(twice))
        do while (bits /= 0)
          plane = (word - 1)*word_bits + trailz(bits) + 1
          bits = iand(bits, bits - 1)
          if (normal(1)*cutter%plane(1, plane) + normal(2)*cutter%plane(2, plane) + normal(3)*cutter%plane(3, plane) &
              > nearly_parallel) then
            aligned = aligned + 1
            work%aligned(aligned) = plane
          else
            cutting = cutting + 1
            work%cutting(cutting) = plane
          end if
        end do
      end do
    end do
  end subroutine choose_planes

  !> Do all corners lie beyond a plane by more than `tolerance`?
  pure logical function beyond(count, corners, point, plane, tolerance)
    integer(i4), intent(in) :: count, corners(count)
    real(dp), intent(in) :: point(4, *), plane(4), tolerance
    integer(i4) :: k
    beyond = .false.
    do k = 1, count
      if (plane(1)*point(1, corners(k) + 1) + plane(2)*point(2, corners(k) + 1) + plane(3)*point(3, corners(k) + 1) &
          - plane(4) <= tolerance) return
    end do
    beyond = .true.
  end function beyond

  !> Cuts the convex polygon `p(:, 1:count, now)` by listed planes moved outward by `offset`; the two buffers take turns.
  !>
  !> Rounding may put several corners of a polygon that lies in the plane on either side: only the run around the
  !> furthest one is cut off, so one cut adds at most one corner.
  pure subroutine clip_polygon(capacity, planes, list, plane, offset, count, p, now, distance)
    integer(i4), intent(in) :: capacity, planes, list(planes)
    real(dp), intent(in) :: plane(4, *), offset
    integer(i4), intent(inout) :: count, now
    real(dp), intent(inout) :: p(4, capacity, 2), distance(capacity)
    real(dp) :: a, b, c, level
    integer(i8) :: outside, starts
    integer(i4) :: i, k, m, first, out, next

    do i = 1, planes
      a = plane(1, list(i))
      b = plane(2, list(i))
      c = plane(3, list(i))
      level = plane(4, list(i)) + offset
      m = count
      if (m <= block) then
        outside = 0
        do k = 1, block
          distance(k) = a*p(1, k, now) + b*p(2, k, now) + c*p(3, k, now) - level
          outside = ior(outside, merge(shiftl(1_i8, k - 1), 0_i8, distance(k) > 0))
        end do
        outside = iand(outside, shiftl(1_i8, m) - 1)
        if (outside == 0) cycle
        starts = iand(outside, not(ior(shiftl(outside, 1), shiftr(outside, m - 1))))
        out = popcnt(outside)
        first = trailz(starts) + 1
        if (iand(starts, starts - 1) /= 0) call furthest_run(m, distance, first, out)
      else
        do k = 1, m
          distance(k) = a*p(1, k, now) + b*p(2, k, now) + c*p(3, k, now) - level
        end do
        if (all(distance(1:m) <= 0)) cycle
        call furthest_run(m, distance, first, out)
      end if
      if (out == m) then
        count = 0
        return
      end if
      next = 3 - now
      call replace_run(m, p(:, :, now), distance, first, out, count, p(:, :, next))
      now = next
      if (count < 3) then
        count = 0
        return
      end if
    end do
  end subroutine clip_polygon

  !> Replaces the cyclic run of `out` corners from `first` by the points where the polygon's edges enter and leave it.
  pure subroutine replace_run(m, p, distance, first, out, count, q)
    integer(i4), intent(in) :: m, first, out
    real(dp), intent(in) :: p(4, *), distance(m)
    integer(i4), intent(out) :: count
    real(dp), intent(inout) :: q(4, *)
    integer(i4) :: leave, before, enter, k, i
    real(dp) :: t
    leave = first - 1
    if (leave < 1) leave = m
    before = first + out - 1
    if (before > m) before = before - m
    enter = before + 1
    if (enter > m) enter = 1
    count = m - out
    i = enter
    do k = 1, count
      q(:, k) = p(:, i)
      i = merge(i + 1, 1, i < m)
    end do
    if (distance(leave) < 0) then
      count = count + 1
      t = distance(leave)/(distance(leave) - distance(first))
      q(:, count) = p(:, leave) + t*(p(:, first) - p(:, leave))
    end if
    if (distance(enter) < 0) then
      count = count + 1
      t = distance(enter)/(distance(enter) - distance(before))
      q(:, count) = p(:, enter) + t*(p(:, before) - p(:, enter))
    end if
  end subroutine replace_run

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

  !> All corners within `tolerance` of a plane?
  pure logical function within(count, p, plane, tolerance)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: p(4, *), plane(4), tolerance
    integer(i4) :: k
    within = .true.
    do k = 1, count
      if (abs(plane(1)*p(1, k) + plane(2)*p(2, k) + plane(3)*p(3, k) - plane(4)) > tolerance) within = .false.
    end do
  end function within

  !> Adds one facet.  Its integrals are taken in the projection along the largest component of the normal.  Its weight
  !> in the normal sum is the sum of squared triangle areas of a fan, averaged over the fans from all corners: with
  !> p_k the corners relative to their mean, e_i = p_{i+1} - p_i and c_i = p_i x p_{i+1}, the triangle (k, i, i+1) has
  !> twice the area c_i - p_k x e_i, hence the sum over k and i separates.
  pure subroutine add_facet(count, p, plane, sign, sum)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: p(4, *), plane(4), sign
    type(boundary), intent(inout) :: sum
    integer(i4) :: k, u, v, w
    real(dp) :: mean(2), a(2), b(2), e(2), c, twice_area, area, centroid(3), weight, scale
    real(dp) :: s_cc, s_pp(3), s_ee(3), s_m(2)

    w = 1
    if (abs(plane(2)) > abs(plane(1))) w = 2
    if (abs(plane(3)) > abs(plane(w))) w = 3
    u = mod(w, 3) + 1
    v = mod(u, 3) + 1
    mean = 0
    do k = 1, count
      mean(1) = mean(1) + p(u, k)
      mean(2) = mean(2) + p(v, k)
    end do
    mean = mean/count
    twice_area = 0
    s_cc = 0
    s_pp = 0
    s_ee = 0
    s_m = 0
    a = [p(u, count) - mean(1), p(v, count) - mean(2)]
    do k = 1, count
      b(1) = p(u, k) - mean(1)
      b(2) = p(v, k) - mean(2)
      e = b - a
      c = a(1)*b(2) - a(2)*b(1)
      twice_area = twice_area + c
      s_m = s_m + c*(a + b)
      s_cc = s_cc + c*c
      s_pp(1) = s_pp(1) + b(1)*b(1)
      s_pp(2) = s_pp(2) + b(1)*b(2)
      s_pp(3) = s_pp(3) + b(2)*b(2)
      s_ee(1) = s_ee(1) + e(1)*e(1)
      s_ee(2) = s_ee(2) + e(1)*e(2)
      s_ee(3) = s_ee(3) + e(2)*e(2)
      a = b
    end do
    scale = 1/plane(w)
    area = 0.5_dp*twice_area*scale
    if (.not. area > 0) return
    c = 1/(3*twice_area)
    centroid(u) = mean(1) + s_m(1)*c
    centroid(v) = mean(2) + s_m(2)*c
    centroid(w) = (plane(4) - plane(u)*centroid(u) - plane(v)*centroid(v))*scale
    weight = 0.25_dp*scale*scale*(s_cc + (s_pp(1)*s_ee(3) - 2*s_pp(2)*s_ee(2) + s_pp(3)*s_ee(1))/count)

    sum%facets = sum%facets + 1
    sum%area = sum%area + area
    sum%moment = sum%moment + area*centroid
    sum%normal = sum%normal + sign*weight*plane(1:3)
    sum%weight = sum%weight + abs(sign)*weight
    sum%volume = sum%volume + area*plane(4)/3
    sum%volume_moment = sum%volume_moment + 0.25_dp*area*plane(4)*centroid  ! a cone's centroid is at 3/4 of its height
  end subroutine add_facet

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
