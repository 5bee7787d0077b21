!> Point, normal, area, surfaces and gap of a contact between two polyhedra
!> (docs/theory.md, Contact points; Solfec's averaging over the boundary of the intersection).
module polyhedron_contact
  use kinds, only: dp, i4
  use polyhedra, only: polyhedron, lanes, word_bits, mark_vertices
  use contact_record, only: contact_data
  use facets, only: boundary
  use overlap, only: clip_work, intersect, extent
  use gjk, only: closest_points
  use manifold, only: passing_at_edge
  implicit none
  private
  public :: contact_of_polyhedra, outer_plane

  real(dp), parameter :: round_off = 64*epsilon(1.0_dp)
  real(dp), parameter :: along_a_face = 1 - 1.0e-9_dp  !< cosine above which a normal is that of a face
  !> Ratio of a patch to a sliver of the tolerance's width above which slivers are left out: they are less than 1e-4 of it.
  real(dp), parameter :: large = 1.0e5_dp
  real(dp), parameter :: sliver_part = 0.02_dp  !< part of the margin: smaller overlaps do not determine the direction in which bodies meet

contains

  !> Finds the contact of two polyhedra.  They touch if and only if their distance is at most `epsilon`.  With a positive `margin`
  !> bodies nearer than this are in contact, too, along the line of their closest points.  The normal of overlapping bodies changes from
  !> the direction of least depth, which continues that line, to the usual normal at the depth `margin`.
  !>
  !> `speculative`: contacts may act before bodies meet (gap-aware materials), so bodies that only pass each other at an edge, as at
  !> a seam of flush faces, must not be in contact.
  subroutine contact_of_polyhedra(one, two, corner_ptr, corner_count, corner, edge, epsilon, margin, speculative, size, work, &
      contact)
    type(polyhedron), intent(inout) :: one, two
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*), corner(0:*), edge(0:*)  !< faces; see `overlap`
    real(dp), intent(in) :: epsilon, margin, size  !< geometric tolerance, detection margin, size of the pair
    logical, intent(in) :: speculative
    type(clip_work), intent(inout) :: work
    type(contact_data), intent(inout) :: contact
    real(dp) :: tolerance, distance, p(3), q(3), no_shift(3)
    logical :: separated, failed

    contact%found = .false.
    tolerance = max(epsilon, round_off*size)
    if (margin > tolerance) then
      if (one%outer == 0 .and. two%outer == 0) return
      call mark_vertices(two, one, margin, separated)
      if (.not. separated) call mark_vertices(one, two, margin, separated)
      if (separated) return
      no_shift = 0
      call closest_points(one%padded, ubound(one%x, 1), one%x, two%padded, ubound(two%x, 1), two%x, no_shift, no_shift, &
                          size, distance, p, q, failed)
      if (distance >= margin) return
      if (distance > tolerance) then
        if (speculative) then
          if (passing_at_edge(one, two, max(10*tolerance, sliver_part*margin))) return
        end if
        call contact_apart(one, two, corner_ptr, corner_count, corner, edge, tolerance, size, p, q, distance, work, contact)
        return
      end if
    end if
    call contact_of_touching(one, two, corner_ptr, corner_count, corner, edge, epsilon, size, work, contact)
    if (contact%found .and. margin > tolerance) call blend(one, two, margin, size, contact)
  end subroutine contact_of_polyhedra

  !> Finds the contact of bodies at a `distance` between the points `p` and `q`, in the middle of the overlap
  !> that they would have if they were swollen by that distance.  There is none if the points face each other across an inner face.
  subroutine contact_apart(one, two, corner_ptr, corner_count, corner, edge, tolerance, size, p, q, distance, work, contact)
    type(polyhedron), intent(inout) :: one, two
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*), corner(0:*), edge(0:*)
    real(dp), intent(in) :: tolerance, size, p(3), q(3), distance
    type(clip_work), intent(inout) :: work
    type(contact_data), intent(inout) :: contact
    type(boundary) :: sum
    real(dp) :: swollen, middle(3), x(3)
    logical :: separated

    contact%normal = (q - p)/norm2(q - p)
    if (across_inner_face(one, p, contact%normal, size) .or. across_inner_face(two, q, -contact%normal, size)) return
    swollen = distance + tolerance
    middle = 0.5_dp*(p + q)
    contact%area = 0
    call mark_vertices(two, one, swollen, separated)
    if (.not. separated) call mark_vertices(one, two, swollen, separated)
    if (.not. separated) then
      call intersect(one, two, corner_ptr, corner_count, corner, edge, swollen, tolerance, huge(swollen), work, sum)
      if (sum%area > 0) then
        contact%area = 0.5_dp*sum%area
        x = sum%moment/sum%area
        x = x + dot_product(contact%normal, middle - x)*contact%normal
        if (max(height(one, x), height(two, x)) <= swollen) middle = x
      end if
    end if
    contact%found = .true.
    contact%degenerate = .false.
    contact%gap = distance
    contact%slave_point = middle - 0.5_dp*distance*contact%normal
    contact%master_point = middle + 0.5_dp*distance*contact%normal
    contact%face(1) = outer_plane(one, contact%slave_point, size)
    contact%face(2) = outer_plane(two, contact%master_point, size)
  end subroutine contact_apart

  !> Whether a direction from a point on an inner face, or on its edge, leads across the face.  Then the neighbouring element is
  !> nearer and has the contact: an edge between two elements is no edge of their body.
  pure logical function across_inner_face(body, point, direction, size)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: point(3), direction(3), size
    integer(i4) :: i
    across_inner_face = .false.
    do i = body%outer + 1, body%faces
      if (dot_product(body%plane(1:3, i), direction) <= 1.0e-9_dp) cycle
      if (abs(dot_product(body%plane(1:3, i), point) - body%plane(4, i)) <= 1.0e-9_dp*size) across_inner_face = .true.
    end do
  end function across_inner_face

  !> Turns the normal of a contact shallower than `margin` towards the direction of least depth, completely at depth
  !> zero, and recomputes the gap along the normal.  To find the direction, the bodies are moved apart along it: the
  !> features that are closest then are those that touch last.
  subroutine blend(one, two, margin, size, contact)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: margin, size
    type(contact_data), intent(inout) :: contact
    real(dp) :: direction(3), next(3), distance, p(3), q(3), separation, weight, shift(3)
    logical :: failed
    integer(i4) :: k

    if (contact%gap <= -margin .or. contact%degenerate) return
    direction = contact%normal
    do k = 1, 6
      shift = (margin - contact%gap)*direction
      call closest_points(one%padded, ubound(one%x, 1), one%x, two%padded, ubound(two%x, 1), two%x, shift, direction, size, &
                          distance, p, q, failed)
      if (.not. distance > round_off*size) return
      next = (q - p)/norm2(q - p)
      weight = norm2(next - direction)
      direction = next
      if (weight < 1.0e-12_dp) exit
    end do
    if (across_inner_face(one, p, direction, size) .or. across_inner_face(two, q - shift, -direction, size)) return
    separation = -highest(one, direction) - highest(two, -direction)
    weight = min(max(-separation/margin, 0.0_dp), 1.0_dp)
    weight = weight*weight*(3 - 2*weight)
    contact%normal = (1 - weight)*direction + weight*contact%normal
    contact%normal = contact%normal/norm2(contact%normal)
    contact%gap = (1 - weight)*separation + weight*contact%gap
  end subroutine blend

  subroutine contact_of_touching(one, two, corner_ptr, corner_count, corner, edge, epsilon, size, work, contact)
    type(polyhedron), intent(inout) :: one, two
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*), corner(0:*), edge(0:*)  !< faces; see `overlap`
    real(dp), intent(in) :: epsilon, size  !< geometric tolerance, size of the pair
    type(clip_work), intent(inout) :: work
    type(contact_data), intent(inout) :: contact
    type(boundary) :: sum
    real(dp) :: tolerance, norm, distance, p(3), q(3), worst(2), no_shift(3)
    logical :: separated, failed, certain

    contact%found = .false.
    contact%degenerate = .false.
    tolerance = max(epsilon, round_off*size)
    call mark_vertices(two, one, tolerance, separated)
    if (separated) return
    call mark_vertices(one, two, tolerance, separated)
    if (separated) return
    if (one%outer == 0 .and. two%outer == 0) return
    call intersect(one, two, corner_ptr, corner_count, corner, edge, tolerance, tolerance, large*tolerance*size, &
                   work, sum)

    if (sum%area > 0) then
      contact%slave_point = sum%moment/sum%area
      worst(1) = height(one, contact%slave_point)
      worst(2) = height(two, contact%slave_point)
      certain = all(worst <= 0)
      if (.not. certain .and. max(worst(1), 0.0_dp) + max(worst(2), 0.0_dp) <= tolerance) then
        certain = projects(one, contact%slave_point, worst(1)) .and. projects(two, contact%slave_point, worst(2))
      end if
    else
      worst = 0
      certain = .false.
    end if
    if (.not. certain) then
      no_shift = 0
      call closest_points(one%padded, ubound(one%x, 1), one%x, two%padded, ubound(two%x, 1), two%x, no_shift, &
                          sum%normal, size, distance, p, q, failed)
      if (distance > tolerance) return
      if (.not. sum%area > 0) then
        contact%slave_point = 0.5_dp*(p + q)
        if (distance > round_off*size) then
          sum%normal = q - p
          sum%weight = distance
        end if
      else if (max(worst(1), worst(2)) > tolerance) then
        contact%slave_point = 0.5_dp*(p + q)
      end if
    end if

    contact%found = .true.
    contact%master_point = contact%slave_point
    contact%area = 0.5_dp*sum%area
    contact%face(1) = outer_plane(one, contact%slave_point, size)
    contact%face(2) = outer_plane(two, contact%slave_point, size)
    norm = norm2(sum%normal)
    if (norm > 1.0e-8_dp*sum%weight .and. .not. (swallowed(one, two) .or. swallowed(two, one))) then
      contact%normal = sum%normal/norm
      call gap_between_faces(one, two, contact%slave_point, contact%normal, contact%face, size, contact%gap, certain)
      if (.not. certain) contact%gap = separated_gap(one, two, contact%normal, size, tolerance, sum, work)
    else
      contact%degenerate = .true.
      call least_penetration(one, two, size, contact%normal, contact%gap)
    end if
  end subroutine contact_of_touching

  !> Whether a closed surface is entirely within another body.  Then only its own facets enter the normal sum, which depends on
  !> their triangles and not on the origin of the body.  The outer faces of an element do determine the normal.
  pure logical function swallowed(inner, other)
    type(polyhedron), intent(in) :: inner, other
    swallowed = inner%outer == inner%faces .and. all(inner%reached(1:(other%faces - 1)/word_bits + 1) == 0)
  end function swallowed

  !> Largest distance of a point above the planes of a polyhedron; negative inside.
  pure real(dp) function height(body, point)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: point(3)
    integer(i4) :: i
    height = -huge(height)
    do i = 1, body%faces
      height = max(height, body%plane(1, i)*point(1) + body%plane(2, i)*point(2) + body%plane(3, i)*point(3) &
                           - body%plane(4, i))
    end do
  end function height

  !> Whether the point's projection on the plane that it violates most is inside; then `worst` is its distance from the body.
  pure logical function projects(body, point, worst)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: point(3), worst
    real(dp) :: foot(3), again
    integer(i4) :: i, top
    projects = .true.
    if (worst <= 0) return
    top = 1
    again = -huge(again)
    do i = 1, body%faces
      if (dot_product(body%plane(1:3, i), point) - body%plane(4, i) > again) then
        again = dot_product(body%plane(1:3, i), point) - body%plane(4, i)
        top = i
      end if
    end do
    foot = point - worst*body%plane(1:3, top)
    do i = 1, body%faces
      if (i == top) cycle
      if (dot_product(body%plane(1:3, i), foot) > body%plane(4, i)) projects = .false.
    end do
  end function projects

  !> The outer plane nearest to a point, the first of equals (within round-off); 0 when there is none.
  pure integer(i4) function outer_plane(body, point, size)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: point(3), size
    real(dp) :: distance, best
    integer(i4) :: i
    outer_plane = 0
    best = huge(best)
    do i = 1, body%outer
      distance = abs(body%plane(1, i)*point(1) + body%plane(2, i)*point(2) + body%plane(3, i)*point(3) &
                     - body%plane(4, i))
      if (distance < best - round_off*size) then
        best = distance
        outer_plane = i
      end if
    end do
  end function outer_plane

  !> Gap along a normal that is that of a face nearest to `point`: the distance of the planes orthogonal to the normal that support
  !> the bodies, if the projections of the point on them are points of the bodies (`certain`).
  pure subroutine gap_between_faces(one, two, point, normal, face, size, gap, certain)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: point(3), normal(3), size
    integer(i4), intent(in) :: face(2)  !< of either body; 0: none
    real(dp), intent(inout) :: gap
    logical, intent(out) :: certain
    real(dp) :: cosine, top, bottom
    cosine = 0
    if (face(1) > 0) cosine = dot_product(one%plane(1:3, face(1)), normal)
    if (face(2) > 0) cosine = max(cosine, -dot_product(two%plane(1:3, face(2)), normal))
    certain = cosine > along_a_face
    if (.not. certain) return
    top = reach(one, normal) - dot_product(normal, point)
    bottom = reach(two, -normal) + dot_product(normal, point)
    certain = height(one, point + top*normal) <= round_off*size .and. height(two, point - bottom*normal) <= round_off*size
    if (certain) gap = min(0.0_dp, -top - bottom)
  end subroutine gap_between_faces

  !> Extent of a body along a direction.
  pure real(dp) function reach(body, direction)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: direction(3)
    real(dp) :: best(lanes)
    integer(i4) :: first, k
    best = -huge(best)
    do first = 0, body%padded - 1, lanes
      !$omp simd
      do k = 1, lanes
        best(k) = max(best(k), direction(1)*body%x(first + k, 1) + direction(2)*body%x(first + k, 2) &
                               + direction(3)*body%x(first + k, 3))
      end do
    end do
    reach = maxval(best)
  end function reach

  !> The gap along `normal`: both bodies are moved apart by the extent h of their intersection, and the gap is their
  !> distance then, less 2 h, and never positive.
  real(dp) function separated_gap(one, two, normal, size, tolerance, sum, work) result(gap)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: normal(3), size, tolerance
    type(boundary), intent(in) :: sum
    type(clip_work), intent(in) :: work
    real(dp) :: h, distance, p(3), q(3), shift(3)
    logical :: failed
    h = 0
    if (sum%points > 0) h = extent(sum%points, work%corner(work%corner_at), normal)
    if (.not. sum%complete) h = max(0.0_dp, common_extent(one, two, normal))
    h = max(h, tolerance)
    shift = 2*h*normal
    call closest_points(one%padded, ubound(one%x, 1), one%x, two%padded, ubound(two%x, 1), two%x, shift, normal, size, &
                        distance, p, q, failed)
    if (failed) then
      gap = -directional_depth(one, two, normal)
    else
      gap = min(0.0_dp, distance - 2*h)
    end if
  end function separated_gap

  !> Length that the two bodies' extents along a direction have in common.
  pure real(dp) function common_extent(one, two, direction)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: direction(3)
    common_extent = min(highest(one, direction), highest(two, direction)) &
                    + min(highest(one, -direction), highest(two, -direction))
  end function common_extent

  pure real(dp) function highest(body, direction)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: direction(3)
    integer(i4) :: i
    highest = -huge(highest)
    do i = 1, body%vertices
      highest = max(highest, dot_product(body%point(1:3, i), direction))
    end do
  end function highest

  !> Least t >= 0 for which a face plane or the plane orthogonal to `normal` separates the first body from the second
  !> moved by t along `normal`.
  pure real(dp) function directional_depth(one, two, normal) result(depth)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: normal(3)
    real(dp) :: cosine, level
    integer(i4) :: i
    depth = highest(one, normal) + highest(two, -normal)
    do i = 1, one%faces
      cosine = dot_product(one%plane(1:3, i), normal)
      level = one%plane(4, i) + highest(two, -one%plane(1:3, i))
      if (cosine > 0) depth = min(depth, level/cosine)
    end do
    do i = 1, two%faces
      cosine = -dot_product(two%plane(1:3, i), normal)
      level = two%plane(4, i) + highest(one, -two%plane(1:3, i))
      if (cosine > 0) depth = min(depth, level/cosine)
    end do
    depth = max(0.0_dp, depth)
  end function directional_depth

  !> Finds the outer face beneath which the other body extends least; the first face of the first body among equals.
  pure subroutine least_penetration(one, two, size, normal, gap)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: size
    real(dp), intent(out) :: normal(3), gap
    real(dp) :: level, tie
    integer(i4) :: i
    tie = 1.0e-9_dp*size
    gap = -huge(gap)
    normal = 0
    do i = 1, one%outer
      level = -highest(two, -one%plane(1:3, i)) - one%plane(4, i)
      if (level > gap + tie) then
        gap = level
        normal = one%plane(1:3, i)
      end if
    end do
    do i = 1, two%outer
      level = -highest(one, -two%plane(1:3, i)) - two%plane(4, i)
      if (level > gap + tie) then
        gap = level
        normal = -two%plane(1:3, i)
      end if
    end do
    gap = min(0.0_dp, gap)
  end subroutine least_penetration
end module polyhedron_contact
