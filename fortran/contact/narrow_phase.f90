!> Contacts of pairs of primitives, many pairs per call.
!>
!> Pairs are independent of each other, so results do not depend on the number of threads.
module narrow_phase
  use kinds, only: dp, i4
  use kind_numbers, only: sphere => primitive_sphere, ellipsoid => primitive_ellipsoid  !< lower ones: polyhedra
  use polyhedra, only: shape_tables, polyhedron, reserve_polyhedron, gather_polyhedron, mark_vertices
  use facets, only: boundary
  use overlap, only: clip_work, reserve_overlap, intersect
  use contact_record, only: contact_data
  use state_tables, only: narrow_result
  use polyhedron_contact, only: contact_of_polyhedra
  use curved, only: contact_of_spheres, contact_with_sphere
  use ellipsoids, only: contact_of_ellipsoids, contact_with_ellipsoid
  use gjk, only: closest_points
  use time_of_impact, only: is_fast, way_between, way_of_shapes, furthest_ways, advance, stays_open, approaching, met, missed
  use thread_work, only: pays
  implicit none
  private
  public :: find_contacts, overlap_volumes, primitive_distances, axes_of, centre_of

  integer(i4), parameter :: no_error = 0, row_out_of_range = 2
  real(dp), parameter :: coincidence = 1.0e-12_dp      !< planes nearer than this part of the size coincide
  real(dp), parameter :: last_places = 16*epsilon(1.0_dp)  !< planes nearer than this part of the coordinates coincide
  integer, parameter :: most_advances = 64

contains

  !> Finds the contact of each pair of primitives (`first(k)`, `second(k)`), k < `pairs` (docs/contact-points.md, From overlaps to contacts).
  !>
  !> Pairs nearer than the lesser of their margins are in contact with their gap; without margins gaps are not positive.
  !> Only `status` is written for a pair without contact.
  subroutine find_contacts(pairs, first, second, epsilon, tables, speculative, frozen, curved, results, error, error_row)
    integer(i4), intent(in) :: first(0:), second(0:)  !< primitive rows
    type(shape_tables), intent(in) :: tables
    type(narrow_result), intent(in) :: results  !< all columns are written
    integer(i4), intent(in) :: pairs  !< number of pairs
    real(dp), intent(in) :: epsilon  !< geometric tolerance (length)
    integer(i4), intent(in) :: speculative  !< 1: polyhedra that pass each other at an edge are not in contact while they are apart
    integer(i4), intent(in) :: frozen  !< 1: of two spheres or ellipsoids the first is the slave, else the one with the smaller centre
    integer(i4), intent(in) :: curved  !< 1: results of pairs of polyhedra are not changed
    integer(i4), intent(out) :: error  !< 0 none, 2 row out of range
    integer(i4), intent(out) :: error_row  !< pair that `error` is about, else -1
    type(polyhedron) :: one, two
    type(clip_work) :: work
    type(contact_data) :: contact
    real(dp), parameter :: no_way(3) = 0
    real(dp) :: margin, centre(3), size
    integer(i4) :: k, most_vertices, most_faces, vertices

    call check_pairs(pairs, first, second, tables, most_vertices, most_faces, vertices, error, error_row)
    if (error /= no_error) return
    !$omp parallel if (pays(2*pairs + vertices, 20)) default(shared) &
    !$omp   private(one, two, work, contact, k, margin, centre, size)
    call reserve_polyhedron(one, most_vertices, most_faces)
    call reserve_polyhedron(two, most_vertices, most_faces)
    call reserve_overlap(work, most_vertices, most_faces)
    !$omp do schedule(dynamic, 32)
    do k = 0, pairs - 1
      if (curved /= 0 .and. max(tables%kind(first(k)), tables%kind(second(k))) < sphere) cycle
      margin = min(tables%margin(first(k)), tables%margin(second(k)))
      call pair_frame(tables%box(:, first(k)), tables%box(:, second(k)), centre, size)
      if (meet_in_flight(tables, first(k), second(k), centre, margin)) then
        call contact_in_flight(tables, first(k), second(k), epsilon, margin, frozen, one, two, work, contact, &
                               results%outward(k), results%surface(:, k))
      else
        call contact_of_pair(tables, first(k), second(k), epsilon, margin, no_way, speculative, frozen, one, two, work, contact, &
                             results%outward(k), results%surface(:, k))
      end if
      results%status(k) = merge(1, 0, contact%found)
      if (.not. contact%found) cycle
      results%degenerate(k) = merge(1, 0, contact%degenerate)
      results%normal(:, k) = contact%normal
      results%slave_point(:, k) = contact%slave_point
      results%master_point(:, k) = contact%master_point
      results%gap(k) = contact%gap
      results%area(k) = contact%area
    end do
    !$omp end do
    !$omp end parallel
  end subroutine find_contacts

  !> Volume, centroid and surface area of the intersections of pairs of polyhedra, with planes moved outward by
  !> `offset` (zero: the exact intersection).  Other kinds of primitives give zeros.
  subroutine overlap_volumes(pairs, first, second, offset, tables, volume, centroid, surface_area, error, error_row)
    integer(i4), intent(in) :: first(0:), second(0:)  !< primitive rows
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: pairs  !< number of pairs
    real(dp), intent(in) :: offset  !< planes are moved outward by this length
    real(dp), intent(inout) :: volume(0:)  !< length^3
    real(dp), intent(inout) :: centroid(:, 0:)  !< length; zero where there is no volume
    real(dp), intent(inout) :: surface_area(0:)  !< length^2
    integer(i4), intent(out) :: error, error_row  !< see `find_contacts`
    type(polyhedron) :: one, two
    type(clip_work) :: work
    type(boundary) :: sum
    real(dp) :: centre(3), size, tolerance
    integer(i4) :: k, most_vertices, most_faces, vertices
    logical :: separated

    call check_pairs(pairs, first, second, tables, most_vertices, most_faces, vertices, error, error_row)
    if (error /= no_error) return
    call reserve_polyhedron(one, most_vertices, most_faces)
    call reserve_polyhedron(two, most_vertices, most_faces)
    call reserve_overlap(work, most_vertices, most_faces)
    do k = 0, pairs - 1
      volume(k) = 0
      centroid(:, k) = 0
      surface_area(k) = 0
      if (tables%kind(first(k)) >= sphere .or. tables%kind(second(k)) >= sphere) cycle
      call pair_frame(tables%box(:, first(k)), tables%box(:, second(k)), centre, size)
      call gather_polyhedron(tables, first(k), centre, one)
      call gather_polyhedron(tables, second(k), centre, two)
      tolerance = max(offset, coincidence*size, last_places*maxval(abs(centre)))
      call mark_vertices(one, two, tolerance, separated)
      if (separated) cycle
      call mark_vertices(two, one, tolerance, separated)
      if (separated) cycle
      call intersect(one, two, tables%corner_ptr, tables%corner_count, tables%corner, tables%edge, offset, tolerance, &
        huge(tolerance), work, sum)
      volume(k) = sum%volume
      surface_area(k) = sum%area
      if (sum%volume > 0) centroid(:, k) = centre + sum%volume_moment/sum%volume
    end do
  end subroutine overlap_volumes

  !> Distances and closest points of pairs of primitives (a point is a sphere without radius).
  subroutine primitive_distances(pairs, first, second, tables, distance, first_point, second_point, error, error_row)
    integer(i4), intent(in) :: first(0:), second(0:)  !< primitive rows
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: pairs  !< number of pairs
    real(dp), intent(inout) :: distance(0:)  !< zero where the primitives overlap (length)
    real(dp), intent(inout) :: first_point(:, 0:), second_point(:, 0:)  !< closest points (length)
    integer(i4), intent(out) :: error, error_row  !< see `find_contacts`
    type(polyhedron) :: one, two
    type(contact_data) :: contact
    real(dp) :: centre(3), size, no_shift(3), direction(3), reach(2)
    integer(i4) :: k, most_vertices, most_faces, vertices
    logical :: failed

    call check_pairs(pairs, first, second, tables, most_vertices, most_faces, vertices, error, error_row)
    if (error /= no_error) return
    call reserve_polyhedron(one, most_vertices, most_faces)
    call reserve_polyhedron(two, most_vertices, most_faces)
    no_shift = 0
    do k = 0, pairs - 1
      call pair_frame(tables%box(:, first(k)), tables%box(:, second(k)), centre, size)
      if (max(tables%kind(first(k)), tables%kind(second(k))) >= ellipsoid) then
        call ellipsoid_contact(tables, first(k), second(k), spread(centre, 2, 2), huge(1.0_dp), .true., size, one, contact)
        distance(k) = max(contact%gap, 0.0_dp)
        first_point(:, k) = contact%slave_point + centre
        second_point(:, k) = contact%master_point + centre
        cycle
      end if
      call gather_polyhedron(tables, first(k), centre, one)
      call gather_polyhedron(tables, second(k), centre, two)
      call closest_points(one%padded, ubound(one%x, 1), one%x, two%padded, ubound(two%x, 1), two%x, no_shift, no_shift, &
                          size, distance(k), first_point(:, k), second_point(:, k), failed)
      reach = 0
      if (tables%kind(first(k)) == sphere) reach(1) = tables%radius(first(k))
      if (tables%kind(second(k)) == sphere) reach(2) = tables%radius(second(k))
      if (distance(k) > 0) then
        direction = (second_point(:, k) - first_point(:, k))/distance(k)
        reach(1) = min(reach(1), distance(k))
        reach(2) = min(reach(2), distance(k) - reach(1))
        distance(k) = max(0.0_dp, distance(k) - reach(1) - reach(2))
        first_point(:, k) = first_point(:, k) + reach(1)*direction
        second_point(:, k) = second_point(:, k) - reach(2)*direction
      end if
      first_point(:, k) = first_point(:, k) + centre
      second_point(:, k) = second_point(:, k) + centre
    end do
  end subroutine primitive_distances

  !> Finds the contact of one pair after the second primitive has moved a `way`; points of the contact stay at the present places.
  !> `outward` and `surfaces` are set if there is a contact.
  subroutine contact_of_pair(tables, first, second, epsilon, margin, way, speculative, frozen, one, two, work, contact, &
      outward, surfaces)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: first, second, speculative, frozen
    real(dp), intent(in) :: epsilon, margin, way(3)
    type(polyhedron), intent(inout) :: one, two
    type(clip_work), intent(inout) :: work
    type(contact_data), intent(inout) :: contact
    integer(i4), intent(inout) :: outward, surfaces(2)
    real(dp) :: centre(3), size, reach, place(3, 2)
    integer(i4) :: slave, master

    contact%found = .false.
    if (boxes_apart(tables%box(:, first), tables%box(:, second), margin + maxval(abs(way)))) return
    call pair_frame(tables%box(:, first), tables%box(:, second), centre, size)
    slave = first
    master = second
    place(:, 1) = centre
    place(:, 2) = centre - way
    if (max(tables%kind(first), tables%kind(second)) < sphere) then
      call gather_polyhedron(tables, first, place(:, 1), one)
      call gather_polyhedron(tables, second, place(:, 2), two)
      call contact_of_polyhedra(one, two, tables%corner_ptr, tables%corner_count, tables%corner, tables%edge, epsilon, &
                                margin, speculative /= 0, size, work, contact)
    else
      reach = max(epsilon, margin)
      if (swapped(tables, first, second, frozen)) then
        slave = second
        master = first
        place = place(:, 2:1:-1)
      end if
      if (max(tables%kind(first), tables%kind(second)) >= ellipsoid) then
        call ellipsoid_contact(tables, slave, master, place, reach, margin > 0, size, one, contact)
      else if (tables%kind(slave) == sphere) then
        call contact_of_spheres(centre_of(tables, slave) - place(:, 1), tables%radius(slave), &
                                centre_of(tables, master) - place(:, 2), tables%radius(master), reach, margin > 0, contact)
      else
        call gather_polyhedron(tables, slave, place(:, 1), one)
        call contact_with_sphere(one, centre_of(tables, master) - place(:, 2), tables%radius(master), reach, margin > 0, size, &
                                 contact)
      end if
    end if
    if (.not. contact%found) return
    outward = merge(0, 1, slave == first)
    surfaces(1) = surface_of(tables, slave, contact%face(1))
    surfaces(2) = surface_of(tables, master, contact%face(2))
    contact%slave_point = contact%slave_point + place(:, 1)
    contact%master_point = contact%master_point + place(:, 2)
  end subroutine contact_of_pair

  !> Whether the motion of a pair may be fast beside the margin: near a point between them, or in the middle of one that is curved,
  !> whose spin may make the former slow.
  pure logical function meet_in_flight(tables, first, second, point, margin)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: first, second
    real(dp), intent(in) :: point(3), margin

    meet_in_flight = is_fast(way_between(tables, first, second, point), margin)
    if (meet_in_flight) return
    if (tables%kind(first) >= sphere) meet_in_flight = is_fast(way_between(tables, first, second, centre_of(tables, first)), margin)
    if (meet_in_flight .or. tables%kind(second) < sphere) return
    meet_in_flight = is_fast(way_between(tables, first, second, centre_of(tables, second)), margin)
  end function meet_in_flight

  !> Finds the contact of a pair other than two polyhedra whose second primitive moves a way within the step that is long
  !> compared with the margin: the contact of the impact, if there is one, with the points that meet then and the remaining way as
  !> the gap; else that of the present places, if the motion leaves it open.  A motion whose impact is not located in as many
  !> advances gets the contact of the last advance, unless the present places' stays open.
  !>
  !> Bodies within the margin that meet only by what loads of this step add keep the contact of the present places, which bears
  !> the loads: its normal is that of a body that slides over another one.
  subroutine contact_in_flight(tables, first, second, epsilon, margin, frozen, one, two, work, contact, outward, surfaces)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: first, second, frozen
    real(dp), intent(in) :: epsilon, margin
    type(polyhedron), intent(inout) :: one, two
    type(clip_work), intent(inout) :: work
    type(contact_data), intent(inout) :: contact
    integer(i4), intent(inout) :: outward, surfaces(2)
    real(dp), parameter :: no_way(3) = 0
    real(dp) :: time, direction(3), way(3), push(3), middle(3), reach
    integer :: state, k
    logical :: fast, open, borne

    time = 0
    way = 0
    open = .false.
    borne = .false.
    reach = margin + 2*norm2(furthest_ways(tables, first, second))
    do k = 1, most_advances
      call contact_of_pair(tables, first, second, epsilon, reach, time*way, 0_i4, frozen, one, two, work, contact, outward, &
                           surfaces)
      state = missed
      if (.not. contact%found) exit
      direction = merge(contact%normal, -contact%normal, outward == 0)
      if (k == 1) then
        middle = 0.5_dp*(contact%slave_point + contact%master_point)
        fast = is_fast(way_between(tables, first, second, middle), margin)   ! not a ball that rolls over a dome
        way = way_of_shapes(tables, first, second, middle, direction)
        fast = fast .and. is_fast(way, margin)
        open = .not. fast .or. stays_open(contact%gap, direction, way)
        if (.not. fast) exit
        push = tables%push(:, second) - tables%push(:, first)
        borne = contact%gap < max(epsilon, margin) .and. stays_open(contact%gap, direction, way - push)
      end if
      contact%gap = contact%gap - time*dot_product(way, direction)   ! the present gap
      call advance(contact%gap + time*dot_product(way, direction), direction, way, epsilon, time, state)
      if (state /= approaching) exit
    end do
    contact%found = state == met .or. (state == approaching .and. .not. open)
    if (contact%found .and. .not. (borne .and. time > 0)) return
    if (.not. (contact%found .or. open)) return
    call contact_of_pair(tables, first, second, epsilon, margin, no_way, 0_i4, frozen, one, two, work, contact, outward, surfaces)
  end subroutine contact_in_flight

  !> Whether the second primitive is the slave.  Polyhedra come first, then spheres, then ellipsoids; of equal kinds the one with
  !> the smaller centre, unless roles are frozen.
  pure logical function swapped(tables, first, second, frozen)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: first, second, frozen
    integer(i4) :: one, two
    one = max(tables%kind(first), sphere - 1)
    two = max(tables%kind(second), sphere - 1)
    swapped = one > two
    if (one == two .and. frozen == 0) swapped = precedes(centre_of(tables, second), centre_of(tables, first))
  end function swapped

  !> Finds the contact of a pair with an ellipsoid; points are relative to `places` (3, 2) of both.  Pairs in reversed order are
  !> accepted; then the points are exchanged.
  subroutine ellipsoid_contact(tables, first, second, places, reach, with_gap, size, body, contact)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: first, second
    real(dp), intent(in) :: places(3, 2), reach, size
    logical, intent(in) :: with_gap
    type(polyhedron), intent(inout) :: body
    type(contact_data), intent(inout) :: contact
    real(dp) :: point(3), place(3, 2)
    integer(i4) :: slave, master
    logical :: exchanged
    exchanged = swapped(tables, first, second, 1)
    slave = merge(second, first, exchanged)
    master = merge(first, second, exchanged)
    place = places
    if (exchanged) place = places(:, 2:1:-1)
    if (tables%kind(slave) < sphere) then
      call gather_polyhedron(tables, slave, place(:, 1), body)
      call contact_with_ellipsoid(body, tables%corner_ptr, tables%corner_count, tables%corner, &
                                  centre_of(tables, master) - place(:, 2), axes_of(tables, master), reach, with_gap, size, contact)
    else
      call contact_of_ellipsoids(centre_of(tables, slave) - place(:, 1), axes_of(tables, slave), &
                                 centre_of(tables, master) - place(:, 2), axes_of(tables, master), reach, with_gap, contact)
    end if
    if (.not. exchanged) return
    point = contact%slave_point
    contact%slave_point = contact%master_point
    contact%master_point = point
  end subroutine ellipsoid_contact

  !> Semi-axes of an ellipsoid or a sphere.
  pure function axes_of(tables, primitive) result(axes)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: primitive
    real(dp) :: axes(3, 3)
    integer(i4) :: k
    if (tables%kind(primitive) >= ellipsoid) then
      axes = tables%axes(:, :, primitive)
    else
      axes = 0
      do k = 1, 3
        axes(k, k) = tables%radius(primitive)
      end do
    end if
  end function axes_of

  !> Surface identifier of a face (counted from 1), or of the primitive where `face` is 0.
  pure integer(i4) function surface_of(tables, primitive, face)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: primitive, face
    if (face > 0) then
      surface_of = tables%face_surface(tables%face_ptr(primitive) + face - 1)
    else
      surface_of = tables%surface(primitive)
    end if
  end function surface_of

  pure function centre_of(tables, primitive) result(centre)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: primitive
    real(dp) :: centre(3)
    centre = tables%current(:, tables%vertex_list(tables%vertex_ptr(primitive)))
  end function centre_of

  !> Strict lexicographic order of points.
  pure logical function precedes(a, b)
    real(dp), intent(in) :: a(3), b(3)
    integer(i4) :: i
    precedes = .false.
    do i = 1, 3
      if (a(i) == b(i)) cycle
      precedes = a(i) < b(i)
      return
    end do
  end function precedes

  pure logical function boxes_apart(a, b, margin)
    real(dp), intent(in) :: a(6), b(6), margin
    boxes_apart = any(a(1:3) > b(4:6) + margin) .or. any(b(1:3) > a(4:6) + margin)
  end function boxes_apart

  !> Middle of the common part of two boxes, or of the space between them, and size of the pair.
  pure subroutine pair_frame(a, b, centre, size)
    real(dp), intent(in) :: a(6), b(6)
    real(dp), intent(out) :: centre(3), size
    centre = 0.5_dp*(max(a(1:3), b(1:3)) + min(a(4:6), b(4:6)))
    size = max(a(4) - a(1), a(5) - a(2), a(6) - a(3), b(4) - b(1), b(5) - b(2), b(6) - b(3))
  end subroutine pair_frame

  !> Checks all pairs and finds the sizes that work arrays need.
  subroutine check_pairs(pairs, first, second, tables, most_vertices, most_faces, vertices, error, error_row)
    integer(i4), intent(in) :: pairs, first(0:*), second(0:*)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(out) :: most_vertices, most_faces, error, error_row
    integer(i4), intent(out) :: vertices  !< of all pairs
    integer(i4) :: k
    vertices = 0
    most_vertices = 1
    most_faces = 1
    error = no_error
    error_row = pairs
    !$omp parallel do if (pays(pairs, 3)) schedule(static) reduction(max:most_vertices, most_faces) &
    !$omp reduction(min:error_row) reduction(+:vertices)
    do k = 0, pairs - 1
      if (min(first(k), second(k)) < 0 .or. max(first(k), second(k)) >= tables%primitives) then
        error_row = min(error_row, k)
      else
        most_vertices = max(most_vertices, tables%vertex_count(first(k)), tables%vertex_count(second(k)))
        vertices = vertices + tables%vertex_count(first(k)) + tables%vertex_count(second(k))
        most_faces = max(most_faces, tables%face_count(first(k)), tables%face_count(second(k)))
      end if
    end do
    if (error_row < pairs) then
      error = row_out_of_range
    else
      error_row = -1
    end if
  end subroutine check_pairs
end module narrow_phase
