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
    integer(i8), allocatable :: any(:), twice(:), beyond(:)  !< plane masks of one face
    integer(i4), allocatable :: aligned(:)     !< nearly parallel planes of one face
    integer(i4), allocatable :: shared(:)      !< per face of the second body: 1 if it coincides with a face of the first
  end type clip_work

contains

  !> Makes room for pairs of polyhedra of up to `vertices` vertices and `faces` faces.
  subroutine reserve_overlap(work, vertices, faces)
    type(clip_work), intent(inout) :: work
    integer(i4), intent(in) :: vertices, faces
    integer(i4) :: words
    words = (faces + word_bits - 1)/word_bits
    ! A cut adds at most one corner.
    allocate (work%polygon(4, vertices + faces + 8, 2), work%distance(vertices + faces + 8))
    ! Twice the number of corners of the two clipped surfaces, which have at most 2*faces facets each.
    allocate (work%corner(4, 48*faces + 4*vertices))
    allocate (work%any(words), work%twice(words), work%beyond(words), work%aligned(faces), work%shared(faces))
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
    integer(i4) :: face, k, word, words, count, now, pass, cut_by, aligned, vertex
    integer(i8) :: touching, bits
    logical :: shared_by_outer
    real(dp) :: plane(4), sign, cosine

    words = (cutter%faces + word_bits - 1)/word_bits
    do face = 1, subject%faces
      if (.not. is_first) then
        if (work%shared(face) /= 0) cycle
      end if
      count = corner_count(face)
      do word = 1, words
        work%any(word) = 0
        work%twice(word) = 0
        work%beyond(word) = not(0_i8)
        do k = 0, count - 1
          vertex = corner(corner_ptr(face) + k) + 1
          touching = subject%touching(vertex, word)
          work%twice(word) = ior(work%twice(word), iand(work%any(word), touching))
          work%any(word) = ior(work%any(word), touching)
          work%beyond(word) = iand(work%beyond(word), subject%beyond(vertex, word))
        end do
      end do
      if (any(work%beyond(1:words) /= 0)) cycle

      do k = 1, count
        work%polygon(:, k, 1) = subject%point(:, corner(corner_ptr(face) + k - 1) + 1)
      end do
      plane = subject%plane(:, face)
      now = 1
      aligned = 0
      clip: do pass = 1, 2  ! planes that cut off several corners first
        do word = 1, words
          bits = work%twice(word)
          if (pass == 2) bits = iand(work%any(word), not(bits))
          do while (bits /= 0)
            cut_by = (word - 1)*word_bits + trailz(bits) + 1
            bits = iand(bits, bits - 1)
            cosine = plane(1)*cutter%plane(1, cut_by) + plane(2)*cutter%plane(2, cut_by) &
                     + plane(3)*cutter%plane(3, cut_by)
            if (cosine > nearly_parallel) then
              aligned = aligned + 1
              work%aligned(aligned) = cut_by
            else
              call cut(count, work%polygon(:, :, now), cutter%plane(:, cut_by), offset, work%distance, &
                       work%polygon(:, :, 3 - now), now)
              if (count < 3) exit clip
            end if
          end do
        end do
      end do clip
      if (count < 3) cycle

      shared_by_outer = .false.
      do k = 1, aligned
        cut_by = work%aligned(k)
        cosine = plane(1)*cutter%plane(1, cut_by) + plane(2)*cutter%plane(2, cut_by) + plane(3)*cutter%plane(3, cut_by)
        if (is_first .and. cosine > parallel) then
          if (within(count, work%polygon(:, :, now), cutter%plane(:, cut_by), tolerance)) then
            work%shared(cut_by) = 1
            if (cut_by <= cutter%outer) shared_by_outer = .true.
            cycle
          end if
        end if
        call cut(count, work%polygon(:, :, now), cutter%plane(:, cut_by), 0.0_dp, work%distance, &
                 work%polygon(:, :, 3 - now), now)
        if (count < 3) exit
      end do
      if (count < 3) cycle

      sign = 0
      if (face <= subject%outer) sign = 1
      if (shared_by_outer) sign = sign - 1
      if (.not. is_first) sign = -sign
      call add_facet(count, work%polygon(:, :, now), plane, sign, sum)
      if (sum%points + count <= size(work%corner, 2)) then
        work%corner(:, sum%points + 1:sum%points + count) = work%polygon(:, 1:count, now)
        sum%points = sum%points + count
      else
        sum%complete = .false.
      end if
    end do
  end subroutine clip_faces

  !> Cuts a convex polygon by a plane moved outward by `offset`.  The result replaces `now` by the other buffer; a
  !> polygon that the plane does not cut stays where it is.  Rounding may put several corners of a polygon that lies
  !> in the plane on either side: only the run around the furthest one is cut off, so one cut adds at most one corner.
  pure subroutine cut(count, p, plane, offset, distance, q, now)
    integer(i4), intent(inout) :: count, now
    real(dp), intent(in) :: p(4, *), plane(4), offset
    real(dp), intent(inout) :: distance(*), q(4, *)
    integer(i4) :: k, furthest, enter, leave, before, after, kept
    real(dp) :: t, level, top
    level = plane(4) + offset
    furthest = 0
    top = 0
    do k = 1, count
      distance(k) = plane(1)*p(1, k) + plane(2)*p(2, k) + plane(3)*p(3, k) - level
      if (distance(k) > top) then
        top = distance(k)
        furthest = k
      end if
    end do
    if (furthest == 0) return

    enter = furthest  ! the first kept corner after the run
    do
      before = enter
      enter = enter + 1
      if (enter > count) enter = 1
      if (enter == furthest) then
        count = 0
        return
      end if
      if (distance(enter) <= 0) exit
    end do
    leave = furthest  ! the last kept corner before the run
    do
      after = leave
      leave = leave - 1
      if (leave < 1) leave = count
      if (distance(leave) <= 0) exit
    end do

    kept = 0
    k = enter
    do
      kept = kept + 1
      q(:, kept) = p(:, k)
      if (k == leave) exit
      k = k + 1
      if (k > count) k = 1
    end do
    if (distance(leave) < 0) then
      kept = kept + 1
      t = distance(leave)/(distance(leave) - distance(after))
      q(:, kept) = p(:, leave) + t*(p(:, after) - p(:, leave))
    end if
    if (distance(enter) < 0) then
      kept = kept + 1
      t = distance(enter)/(distance(enter) - distance(before))
      q(:, kept) = p(:, enter) + t*(p(:, before) - p(:, enter))
    end if
    count = kept
    now = 3 - now
  end subroutine cut

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
