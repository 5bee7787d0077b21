!> Contacts of two polyhedra as sets of points on the features that face each other (contacts = 'MANIFOLD').
!>
!> The normal is that of a feature: of the face along whose normal the bodies are furthest apart (or overlap least), of
!> two edges that cross, or the middle of the faces about two edges that lie on each other.  If bodies are apart, or
!> overlap by no more than a sliver, along two very different directions, they pass each other at an edge, and neither
!> direction is that of a contact.  The same is true of directions less different if they approach each other along one of them only.  So a body that slides over flush bodies is not stopped at their seams.  A sliver is thin beside
!> both bodies: foils that lie on each other overlap by little along every direction, and are in contact.
module manifold
  use kinds, only: dp, i4
  use polyhedra, only: polyhedron, shape_tables, edge_numbers, face_beyond
  use matrix3, only: cross
  use polygon_cut, only: cut
  use shared_area, only: touching_area, clear_area, add_polygon, representative_points
  use gjk, only: closest_points
  use time_of_impact, only: way_ahead
  implicit none
  private
  public :: manifold_work, manifold_points, reserve_manifold, find_manifold, passing_at_edge

  real(dp), parameter :: facing = 0.985_dp    !< cosine of the angle (10 degrees) up to which faces count as lying on each other
  real(dp), parameter :: turned = 0.9817_dp   !< see `contact_patch`
  real(dp), parameter :: passing = 0.5_dp     !< bodies apart along directions more than 60 degrees apart pass each other
  real(dp), parameter :: tangent = 0.05_dp    !< bodies that approach by less than this part move along each other
  real(dp), parameter :: same = 0.9986_dp     !< directions within 3 degrees count as one
  real(dp), parameter :: deep = 0.5_dp        !< part of the extents of bodies along a direction: overlaps that are deeper are no slivers
  real(dp), parameter :: thin = 0.1_dp        !< part of the thickness of a body: a face carries points further than this from its border
  real(dp), parameter :: least_facing = 0.02_dp   !< cosine below which an element's face does not face the other body
  real(dp), parameter :: last_places = 1.0e-9_dp   !< over the size of bodies: round-off of lengths
  real(dp), parameter :: flush = 1.0_dp - 0.5e-6_dp   !< cosine of the angle (1E-3) up to which triangles of a warped face have no edge between them

  !> Separations along the normals of faces, and polygons.
  type :: manifold_work
    real(dp), allocatable :: first(:), second(:)      !< per face of either body: distance of the other one from its plane
    real(dp), allocatable :: polygon(:,:), spare(:,:)
    type(touching_area) :: shared
  end type manifold_work

  !> The corners that lie furthest along four directions.
  type :: far_corners
    real(dp) :: along(0:3), place(3,0:3), gap(0:3)
  end type far_corners

  !> An edge, and the arc of normals on the unit sphere between those of its faces.
  type :: edge_arc
    integer(i4) :: face                    !< the first one, counted from 1
    real(dp) :: a(3), b(3), ba(3)          !< ends of the arc, and b x a
    real(dp) :: from(3), along(3), square  !< one end of the edge, the way to the other one, and its length squared
  end type edge_arc

  !> Contact points of two bodies, relative to the centre of the pair.
  type :: manifold_points
    logical :: found
    real(dp) :: normal(3), area
    real(dp) :: nearest      !< least gap over the shared area
    integer(i4) :: face(2)   !< of either body, counted from 1; 0: none
    integer(i4) :: slots     !< bits of the slots in use
    real(dp) :: point(3,0:3), gap(0:3)
  end type manifold_points

contains

  subroutine reserve_manifold(work, faces, corners)
    type(manifold_work), intent(inout) :: work
    integer(i4), intent(in) :: faces, corners

    allocate (work%first(faces), work%second(faces), work%polygon(3,2*corners+6), work%spare(3,2*corners+6))
  end subroutine reserve_manifold

  !> Distance of `other` from every plane of `body`, negative where it extends beneath.
  pure subroutine face_axes(body, other, separation)
    type(polyhedron), intent(in) :: body, other
    real(dp), intent(inout) :: separation(:)
    integer(i4) :: i, k
    real(dp) :: least

    do i = 1, body%faces
      least = huge(least)
      do k = 1, other%padded
        least = min(least, body%plane(1,i)*other%x(k,1) + body%plane(2,i)*other%x(k,2) + body%plane(3,i)*other%x(k,3))
      end do
      separation(i) = least - body%plane(4,i)
    end do
  end subroutine face_axes

  !> Computes the contact points of two bodies.
  !>
  !>   tables     of the shapes from which the bodies are copied
  !>   touching   distance at which bodies touch; reach: the largest gap of a point; sliver: see above (lengths)
  !>   push       motion of the second body relative to the first that loads of this step have made
  !>   a, b       primitives; centre: of the pair
  !>   spread     points of bodies that touch are those of a quadrature of the common area (deformable bodies), not its corners
  subroutine find_manifold(one, two, tables, a, b, centre, touching, reach, sliver, push, size, spread, work, made)
    type(polyhedron), intent(in) :: one, two
    type(shape_tables), intent(in) :: tables
    real(dp), intent(in) :: touching, reach, sliver, push(3), centre(3), size
    integer(i4), intent(in) :: a, b
    logical, intent(in) :: spread
    type(manifold_work), intent(inout) :: work
    type(manifold_points), intent(inout) :: made
    real(dp) :: best, normal(3), aside(3), distance, p(3), q(3), no_shift(3)
    integer(i4) :: one_face, two_face, faces(2)
    logical :: failed, supported, crossed

    made%found = .false.
    made%nearest = reach
    made%point = 0
    made%gap = 0
    if (one%outer == 0 .or. two%outer == 0) return
    call face_axes(one, two, work%first)
    if (maxval(work%first(1:one%faces)) > reach) return
    call face_axes(two, one, work%second)
    if (maxval(work%second(1:two%faces)) > reach) return
    one_face = maxloc(work%first(1:one%outer), 1)
    two_face = maxloc(work%second(1:two%outer), 1)
    faces = [one_face, two_face]
    best = work%first(one_face)
    normal = one%plane(1:3,one_face)
    if (work%second(two_face) > best + last_places*size) then
      best = work%second(two_face)
      normal = -two%plane(1:3,two_face)
      one_face = 0
    else
      two_face = 0
    end if
    if (beneath_inner_face(one, work%first, best) .or. beneath_inner_face(two, work%second, best)) return
    if (pass_each_other(one, two, work%first, work%second, sliver, push, normal, aside)) return
    if (slide_past(tables, a, b, centre, normal, aside, touching)) return
    if (touch_inside(one, two, one_face > 0, normal, -best, size)) then
      call crossing_edges(one, two, tables, faces, 0.25_dp*best, touching, reach, size, made, crossed)
      return
    end if

    call shared_points(one, two, tables%corner_ptr, tables%corner_count, tables%corner, normal, one_face, two_face, touching, &
      reach, sliver, size, spread, work, made, supported)
    ! bodies that overlap deeper beside the face than over it may overlap less across two edges, as crossed ridges do
    if (supported .and. (best >= -sliver .or. made%nearest <= best + sliver)) return
    call crossing_edges(one, two, tables, faces, best, touching, reach, size, made, crossed)
    if (crossed) then   ! the foot of a pyramid passes the upright edge of a block on which it slides
      if (made%gap(0) < -sliver) return
      made%found = .not. pass_each_other(one, two, work%first, work%second, sliver, push, made%normal, aside)
      if (slide_past(tables, a, b, centre, made%normal, aside, touching)) made%found = .false.
      return
    end if
    if (best > touching) then
      no_shift = 0
      call closest_points(one%padded, ubound(one%x, 1), one%x, two%padded, ubound(two%x, 1), two%x, no_shift, normal, size, &
        distance, p, q, failed)
      if (failed .or. .not. distance > touching .or. distance > reach) return
      normal = (q - p)/distance
    else if (dot_product(normal, aside) < same) then
      normal = (normal + aside)/norm2(normal + aside)
    else
      return
    end if
    call shared_points(one, two, tables%corner_ptr, tables%corner_count, tables%corner, normal, 0_i4, 0_i4, touching, reach, &
      sliver, size, spread, work, made, supported)
  end subroutine find_manifold

  !> Whether the other body is further from an inner face than from all outer ones, and overlaps none of these.  Then it is in
  !> contact with the neighbouring element beyond that face.
  pure logical function beneath_inner_face(body, separation, best)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: separation(:), best

    beneath_inner_face = .false.
    if (body%faces > body%outer) beneath_inner_face = best < 0 .and. &
      maxval(separation(body%outer+1:body%faces)) > max(0.0_dp, 1.0e-3_dp*abs(best))
  end function beneath_inner_face

  !> Whether elements, or convexes, touch with inner faces, or edges and corners of these, as tetrahedra do that reach a body's surface
  !> with an edge.  Then the other body is beneath the outer face that overlaps least by half the thickness of its element or more, though
  !> it overlaps the element by less than a quarter of this depth.  Neighbours are in contact.
  logical function touch_inside(one, two, of_first, normal, depth, size)
    type(polyhedron), intent(in) :: one, two
    logical, intent(in) :: of_first   !< the face is of the first body
    real(dp), intent(in) :: normal(3), depth, size
    real(dp) :: way(3), thickness, distance, p(3), q(3)
    logical :: failed

    touch_inside = .false.
    if (one%outer == one%faces .and. two%outer == two%faces .or. depth < 0) return
    thickness = extent(two, normal)
    if (of_first) thickness = extent(one, normal)
    if (depth < 0.5_dp*thickness) return
    way = sum(two%point(1:3,1:two%vertices), 2)/two%vertices - sum(one%point(1:3,1:one%vertices), 2)/one%vertices
    if (.not. norm2(way) > last_places*size) return
    way = (0.25_dp*depth/norm2(way))*way
    call closest_points(one%padded, ubound(one%x, 1), one%x, two%padded, ubound(two%x, 1), two%x, way, way, size, distance, p, q, &
      failed)
    touch_inside = distance > last_places*size
  end function touch_inside

  !> Length of a body along a direction.
  pure real(dp) function extent(body, direction)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: direction(3)
    integer(i4) :: k
    real(dp) :: height, least, most

    least = huge(least)
    most = -huge(most)
    do k = 1, body%padded
      height = direction(1)*body%x(k,1) + direction(2)*body%x(k,2) + direction(3)*body%x(k,3)
      least = min(least, height)
      most = max(most, height)
    end do
    extent = most - least
  end function extent

  !> Whether bodies are apart, or overlap by at most `sliver`, along two very different directions.  Then they pass each other at
  !> an edge (see above), and the direction in which they will meet is unknown.
  logical function passing_at_edge(one, two, sliver)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: sliver
    real(dp) :: first(one%faces), second(two%faces), normal(3), aside(3)
    integer(i4) :: one_face, two_face

    passing_at_edge = .false.
    if (one%outer == 0 .or. two%outer == 0) return
    call face_axes(one, two, first)
    call face_axes(two, one, second)
    one_face = maxloc(first(1:one%outer), 1)
    two_face = maxloc(second(1:two%outer), 1)
    normal = one%plane(1:3,one_face)
    if (second(two_face) > first(one_face)) normal = -two%plane(1:3,two_face)
    passing_at_edge = pass_each_other(one, two, first, second, sliver, [0.0_dp, 0.0_dp, 0.0_dp], normal, aside)
  end function passing_at_edge

  !> Whether bodies pass each other at an edge.  `aside`: among the normals of both along which they are apart or overlap by a sliver, the one furthest
  !> from `normal`.  Overlaps that loads of this step make are not counted, since other contacts may bear these: a body that slides
  !> over flush tiles falls by g h^2 on its predicted way to the next one.
  logical function pass_each_other(one, two, first, second, sliver, push, normal, aside)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: first(:), second(:), sliver, push(3), normal(3)
    real(dp), intent(out) :: aside(3)

    aside = normal
    call direction_aside(one, two, first, 1.0_dp, sliver, push, normal, aside)
    call direction_aside(two, one, second, -1.0_dp, sliver, push, normal, aside)
    pass_each_other = dot_product(normal, aside) < passing
  end function pass_each_other

  !> Whether bodies that are apart along two directions, see `pass_each_other`, move towards each other along the one but not along the
  !> other.  Then their edges do not meet, at any angle between the directions above 10 degrees: a block with chamfered edges, or a lying
  !> prism of many sides, slides over flush tiles.
  pure logical function slide_past(tables, a, b, centre, normal, aside, touching)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: a, b
    real(dp), intent(in) :: centre(3), normal(3), aside(3), touching
    real(dp) :: ahead(3), most, least

    slide_past = .false.
    if (dot_product(normal, aside) > facing) return
    ahead = way_ahead(tables, a, b, centre)
    most = max(dot_product(normal, ahead), dot_product(aside, ahead))
    least = min(dot_product(normal, ahead), dot_product(aside, ahead))
    slide_past = least < -touching .and. most >= tangent*least
  end function slide_past

  !> A sliver's width that is no more than a part of the thickness of either body, its least extent along the normals of its faces.
  pure real(dp) function thin_sliver(one, two, sliver)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: sliver
    integer(i4) :: i

    thin_sliver = sliver
    do i = 1, one%faces
      thin_sliver = min(thin_sliver, thin*extent(one, one%plane(1:3,i)))
    end do
    do i = 1, two%faces
      thin_sliver = min(thin_sliver, thin*extent(two, two%plane(1:3,i)))
    end do
  end function thin_sliver

  !> Updates `aside`, the normal furthest from `normal`, by normals of one body along which the bodies are apart or overlap by a sliver.
  pure subroutine direction_aside(body, other, separation, sense, sliver, push, normal, aside)
    type(polyhedron), intent(in) :: body, other
    real(dp), intent(in) :: separation(:), sense, sliver, push(3), normal(3)
    real(dp), intent(inout) :: aside(3)
    real(dp) :: apart
    integer(i4) :: i

    do i = 1, body%outer
      apart = separation(i) + max(0.0_dp, -sense*dot_product(body%plane(1:3,i), push))
      if (apart < -sliver) cycle
      if (.not. sense*dot_product(body%plane(1:3,i), normal) < dot_product(aside, normal)) cycle
      if (apart < 0.0_dp) then   ! an overlap that is deep beside the thickness of a body is no sliver
        if (apart < -deep*min(extent(body, body%plane(1:3,i)), extent(other, body%plane(1:3,i)))) cycle
      end if
      aside = sense*body%plane(1:3,i)
    end do
  end subroutine direction_aside

  !> Face whose normal is nearest to a direction, among the faces with a corner furthest along it; 0: none.
  pure integer(i4) function foremost_face(body, corner_ptr, corner_count, corner, direction, size) result(face)
    type(polyhedron), intent(in) :: body
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*), corner(0:*)
    real(dp), intent(in) :: direction(3), size
    real(dp) :: top, best, cosine
    integer(i4) :: i, k

    top = -huge(top)
    do k = 1, body%vertices
      top = max(top, dot_product(direction, body%point(1:3,k)))
    end do
    face = 0
    best = merge(least_facing, last_places, body%outer < body%faces)
    do i = 1, body%outer
      cosine = dot_product(body%plane(1:3,i), direction)
      if (cosine <= best) cycle
      do k = corner_ptr(body%first_face+i-1), corner_ptr(body%first_face+i-1) + corner_count(body%first_face+i-1) - 1
        if (dot_product(direction, body%point(1:3,corner(k)+1)) < top - 1.0e-6_dp*size) cycle
        best = cosine
        face = i
        exit
      end do
    end do
  end function foremost_face

  !> Points of the area that faces share along a normal.  `supported`: the nearest part of it lies within the face of the
  !> normal, not on its border.
  subroutine shared_points(one, two, corner_ptr, corner_count, corner, normal, one_face, two_face, touching, reach, sliver, &
      size, spread, work, made, supported)
    type(polyhedron), intent(in) :: one, two
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*), corner(0:*), one_face, two_face
    real(dp), intent(in) :: normal(3), touching, reach, sliver, size
    logical, intent(in) :: spread
    type(manifold_work), intent(inout) :: work
    type(manifold_points), intent(inout) :: made
    logical, intent(out) :: supported
    type(far_corners) :: far, low   !< of all corners, and of those that touch
    real(dp) :: edge(3), across(3), direction(3,0:3), height(4), lowest(3), nearest
    real(dp) :: deepest, middle(3), inside, ground
    integer(i4) :: i, j, k, m, count, own(2), at

    supported = .false.
    own(1) = one_face
    own(2) = two_face
    if (own(1) == 0) own(1) = foremost_face(one, corner_ptr, corner_count, corner, normal, size)
    if (own(2) == 0) own(2) = foremost_face(two, corner_ptr, corner_count, corner, -normal, size)
    if (any(own == 0)) return
    at = corner_ptr(one%first_face + first_piece(one, own(1), corner_ptr, corner_count, corner) - 1)
    edge = one%point(1:3,corner(at+1)+1) - one%point(1:3,corner(at)+1)
    edge = edge - dot_product(edge, normal)*normal
    if (.not. norm2(edge) > last_places*size) edge = one%point(1:3,corner(at+2)+1) - one%point(1:3,corner(at+1)+1)
    edge = edge - dot_product(edge, normal)*normal
    edge = edge/norm2(edge)
    across = cross(normal, edge)
    do k = 0, 3
      direction(:,k) = cos(turned + k*2*atan(1.0_dp))*edge + sin(turned + k*2*atan(1.0_dp))*across
    end do

    far = far_corners(-huge(far%along), 0, 0)
    low = far
    ground = huge(ground)
    call clear_area(work%shared)
    nearest = huge(nearest)
    lowest = 0
    inside = -huge(inside)
    do i = 1, one%outer
      if (i /= own(1) .and. dot_product(one%plane(1:3,i), normal) <= facing) cycle
      do j = 1, two%outer
        if (j /= own(2) .and. -dot_product(two%plane(1:3,j), normal) <= facing) cycle
        call common_polygon(one, i, two, j, corner_ptr, corner_count, corner, normal, reach, count, work%polygon, work%spare, &
          height)
        if (count == 0) cycle
        do m = 1, count
          deepest = dot_product(height(1:3), work%polygon(:,m)) + height(4)
          if (deepest < nearest) then
            nearest = deepest
            lowest = work%polygon(:,m)
          end if
          call keep_far(far, direction, work%polygon(:,m), deepest)
          if (deepest < ground - touching .and. ground > 0) then
            ground = max(deepest, 0.0_dp)
            low%along = -huge(low%along)
            call clear_area(work%shared)   ! what lay nearest until now touches no more than the rest
            inside = -huge(inside)
          end if
          if (deepest <= ground + touching) call keep_far(low, direction, work%polygon(:,m), deepest)
        end do
        call cut(height(1:3), max(nearest, 0.0_dp) + touching - height(4), count, work%polygon, work%spare)
        if (count == 0) cycle
        call add_polygon(work%shared, count, work%polygon, height, edge, across, normal)
        middle = sum(work%polygon(:,1:count), 2)/count
        if (one_face > 0) then
          inside = max(inside, within(one, i, corner_ptr, corner_count, corner, middle))
        else if (two_face > 0) then
          inside = max(inside, within(two, j, corner_ptr, corner_count, corner, middle))
        end if
      end do
    end do
    if (nearest >= huge(nearest)) return
    supported = inside > sliver .or. one_face == 0 .and. two_face == 0
    if (.not. supported .and. inside > 0.0_dp) supported = inside > thin_sliver(one, two, sliver)
    if (nearest > reach) return

    call prefer_touching(low, direction, last_places*size, far%place, far%gap)
    call set_points(own, normal, touching, size, spread, edge, across, direction, work%shared, nearest, lowest, far%place, &
      far%gap, made)
  end subroutine shared_points

  !> Updates the furthest corners by one more.
  pure subroutine keep_far(corners, direction, place, gap)
    type(far_corners), intent(inout) :: corners
    real(dp), intent(in) :: direction(3,0:3), place(3), gap
    integer(i4) :: k

    do k = 0, 3
      if (dot_product(direction(:,k), place) <= corners%along(k)) cycle
      corners%along(k) = dot_product(direction(:,k), place)
      corners%place(:,k) = place
      corners%gap(k) = gap
    end do
  end subroutine keep_far

  !> Puts corners that touch in the place of others.  Faces at a small angle to the normal reach further than the edge or face
  !> that carries the body (a keel, a cylinder of many sides), which would sink in at the corners that were left out.
  pure subroutine prefer_touching(low, direction, same_place, place, level)
    type(far_corners), intent(in) :: low
    real(dp), intent(in) :: direction(3,0:3), same_place
    real(dp), intent(inout) :: place(3,0:3), level(0:3)
    real(dp) :: middle(3)
    logical :: alike(0:3), all_in
    integer(i4) :: k, m, slot

    all_in = .true.
    do k = 0, 3
      alike = [(maxval(abs(place(:,m) - low%place(:,k))) <= same_place, m = 0, 3)]
      all_in = all_in .and. any(alike)
    end do
    if (all_in) return
    middle = 0.25_dp*sum(low%place, 2)
    do k = 0, 3
      alike = [(maxval(abs(low%place(:,m) - low%place(:,k))) <= same_place, m = 0, 3)]
      slot = maxloc(matmul(low%place(:,k) - middle, direction), 1, alike) - 1
      place(:,slot) = low%place(:,k)
      level(slot) = low%gap(k)
    end do
  end subroutine prefer_touching

  !> Sets the contact to four `place`s with gaps `level`, among them the nearest one, or to points that `spread` over the area.
  subroutine set_points(own, normal, touching, size, spread, edge, across, direction, shared, nearest, lowest, place, level, made)
    integer(i4), intent(in) :: own(2)
    real(dp), intent(in) :: normal(3), touching, size, edge(3), across(3), direction(3,0:3), nearest, lowest(3)
    type(touching_area), intent(in) :: shared
    logical, intent(in) :: spread
    real(dp), intent(inout) :: place(3,0:3), level(0:3)
    type(manifold_points), intent(inout) :: made
    real(dp) :: flat(2,0:3), height(0:3)
    integer(i4) :: k, m

    made%found = .true.
    made%normal = normal
    made%nearest = nearest
    made%face = own
    made%area = shared%area
    made%slots = 0
    if (spread .and. nearest <= touching .and. shared%area > (last_places*size)*size) then
      call representative_points(shared, flat, height, level)
      do k = 0, 3
        place(:,k) = flat(1,k)*edge + flat(2,k)*across + height(k)*normal
      end do
    else if (nearest < minval(level) - touching) then
      k = maxloc(matmul(lowest - 0.25_dp*sum(place, 2), direction), 1) - 1
      place(:,k) = lowest
      level(k) = nearest
    end if
    do k = 0, 3
      if (any([(maxval(abs(place(:,m) - place(:,k))) <= last_places*size, m = 0, k - 1)])) cycle
      made%slots = ibset(made%slots, k)
      made%gap(k) = level(k)
      made%point(:,k) = place(:,k) + 0.5_dp*level(k)*normal   ! places are on the slave's surface
    end do
  end subroutine set_points

  !> Part of a face of the first body over a face of the second, seen along a normal, where the gap is at most `reach`;
  !> the gap at x is height(1:3).x + height(4).  Corners lie in the plane of the first face.
  subroutine common_polygon(one, i, two, j, corner_ptr, corner_count, corner, normal, reach, count, polygon, spare, height)
    type(polyhedron), intent(in) :: one, two
    integer(i4), intent(in) :: i, j, corner_ptr(0:*), corner_count(0:*), corner(0:*)
    real(dp), intent(in) :: normal(3), reach
    integer(i4), intent(out) :: count
    real(dp), intent(inout) :: polygon(:,:), spare(:,:)
    real(dp), intent(out) :: height(4)
    real(dp) :: side(3), edge(3)
    integer(i4) :: k, next, face

    face = one%first_face + i - 1
    count = corner_count(face)
    do k = 1, count
      polygon(:,k) = one%point(1:3,corner(corner_ptr(face)+k-1)+1)
    end do
    ! a point x of the slave's face lies over the master's point x + g n, which is in the master's plane
    height(1:3) = -two%plane(1:3,j)/dot_product(two%plane(1:3,j), normal)
    height(4) = two%plane(4,j)/dot_product(two%plane(1:3,j), normal)
    face = two%first_face + j - 1
    do k = 0, corner_count(face) - 1
      next = merge(0, k + 1, k == corner_count(face) - 1)
      side = two%point(1:3,corner(corner_ptr(face)+k)+1)
      edge = two%point(1:3,corner(corner_ptr(face)+next)+1) - side
      edge = cross(normal, edge)   ! the master's face runs clockwise about the normal
      call cut(edge, dot_product(edge, side), count, polygon, spare)
      if (count == 0) return
    end do
    call cut(height(1:3), reach - height(4), count, polygon, spare)
  end subroutine common_polygon

  !> Distance of a point from the nearest side of a face, across its plane; negative outside.  Triangles of a face that is hardly warped
  !> have no side between them.
  pure real(dp) function within(body, i, corner_ptr, corner_count, corner, point)
    type(polyhedron), intent(in) :: body
    integer(i4), intent(in) :: i, corner_ptr(0:*), corner_count(0:*), corner(0:*)
    real(dp), intent(in) :: point(3)
    real(dp) :: side(3), edge(3)
    integer(i4) :: k, next, face

    within = huge(within)
    face = body%first_face + i - 1
    do k = 0, corner_count(face) - 1
      next = merge(0, k + 1, k == corner_count(face) - 1)
      if (any([goes_on(i - 1), goes_on(i + 1)])) cycle
      side = body%point(1:3,corner(corner_ptr(face)+k)+1)
      edge = cross(body%plane(1:3,i), body%point(1:3,corner(corner_ptr(face)+next)+1) - side)
      within = min(within, dot_product(edge, point - side)/max(norm2(edge), tiny(1.0_dp)))
    end do

  contains

    !> Whether face j goes on where this side of face i is.
    pure logical function goes_on(j)
      integer(i4), intent(in) :: j

      goes_on = flush_along(body, i, j, corner_ptr, corner_count, corner, corner(corner_ptr(face)+k), corner(corner_ptr(face)+next))
    end function goes_on
  end function within

  !> Whether face j of a body has the side between two vertices, too, and hardly another normal than face i: both are triangles of one
  !> warped face, which follow one another.
  pure logical function flush_along(body, i, j, corner_ptr, corner_count, corner, from, to)
    type(polyhedron), intent(in) :: body
    integer(i4), intent(in) :: i, j, corner_ptr(0:*), corner_count(0:*), corner(0:*), from, to
    integer(i4) :: face

    flush_along = .false.
    if (j < 1 .or. j > body%faces) return
    if (dot_product(body%plane(1:3,i), body%plane(1:3,j)) <= flush) return
    face = body%first_face + j - 1
    associate (these => corner(corner_ptr(face):corner_ptr(face)+corner_count(face)-1))
      flush_along = any(these == from) .and. any(these == to)
    end associate
  end function flush_along

  !> The first one of the triangles of a warped face: directions that go by it stay when it splits.
  pure integer(i4) function first_piece(body, i, corner_ptr, corner_count, corner) result(piece)
    type(polyhedron), intent(in) :: body
    integer(i4), intent(in) :: i, corner_ptr(0:*), corner_count(0:*), corner(0:*)
    integer(i4) :: at

    piece = i
    do while (piece > 1)
      at = corner_ptr(body%first_face + piece - 1)
      if (corner_count(body%first_face + piece - 1) /= 3) exit
      if (.not. (flush_along(body, piece, piece - 1, corner_ptr, corner_count, corner, corner(at), corner(at+1)) .or. &
                 flush_along(body, piece, piece - 1, corner_ptr, corner_count, corner, corner(at), corner(at+2)))) exit
      piece = piece - 1
    end do
  end function first_piece

  !> Finds two edges that cross, if the bodies are further apart along their common perpendicular than along any face's normal;
  !> the contact is then one point.  The arcs of normals of the two edges on the sphere must cross, too.
  subroutine crossing_edges(one, two, tables, faces, best, touching, reach, size, made, crossed)
    type(polyhedron), intent(in) :: one, two
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: faces(2)   !< of either body, along whose normals they are furthest apart
    real(dp), intent(in) :: best, touching, reach, size
    type(manifold_points), intent(inout) :: made
    logical, intent(out) :: crossed
    type(edge_arc) :: mine(max(one%edges, 0)), its(max(two%edges, 0))
    real(dp) :: normal(3), between(3), most, enough, gap, s, t, square
    integer(i4) :: i, j, mine_count, its_count
    logical :: ridges

    crossed = .false.
    most = best + last_places*size
    enough = min(best + 0.5_dp*last_places*size, 0.0_dp)
    ridges = made%nearest > best + touching   ! else the corner that lies deepest is over the face: so flush meshes cost no search
    call near_edges(one, two, tables, faces(1), 1, enough, touching, ridges, mine, mine_count)
    if (mine_count == 0) return
    call near_edges(two, one, tables, faces(2), -1, enough, touching, ridges, its, its_count)
    do i = 1, mine_count
      do j = 1, its_count
        if (.not. arcs_cross(mine(i), its(j))) cycle
        normal = cross(mine(i)%along, its(j)%along)
        square = dot_product(normal, normal)
        if (.not. square > last_places**2*mine(i)%square*its(j)%square) cycle
        normal = normal/sqrt(square)
        if (dot_product(normal, mine(i)%a + mine(i)%b) < 0) normal = -normal
        between = its(j)%from - mine(i)%from
        gap = dot_product(normal, between)
        if (gap <= most .or. gap > reach) cycle
        s = dot_product(cross(between, its(j)%along), cross(mine(i)%along, its(j)%along))/square
        t = dot_product(cross(between, mine(i)%along), cross(mine(i)%along, its(j)%along))/square
        ! edges that follow one another have their common end both
        if (min(s, t) < -last_places .or. max(s, t) > 1 + last_places) cycle
        crossed = .true.
        most = gap
        made%normal = normal
        made%gap(0) = gap
        made%point(:,0) = 0.5_dp*(mine(i)%from + s*mine(i)%along + its(j)%from + t*its(j)%along)
        made%face = [mine(i)%face, its(j)%face]
      end do
    end do
    if (.not. crossed) return
    made%found = .true.
    made%slots = 1
    made%area = 0
  end subroutine crossing_edges

  !> Lists the edges of a body along whose arcs of normals the other one may be further away than `enough` <= 0.
  !>
  !> Along a unit vector n = (x a + y b)/|x a + y b|, x, y >= 0, of the arc between the normals a and b the other body is no further away than any
  !> of its points p is from a point of the edge, so no further than the larger distance of p from the two faces, if p is beneath both.  Points
  !> p are the centre of the other body, and its corner deepest beneath the face that overlaps least.
  !>
  !> An edge between an outer and an inner face is one of the body if the outer face beyond it, of a neighbouring element or
  !> convex, turns away.
  subroutine near_edges(body, other, tables, face, sense, enough, touching, ridges, arcs, count)
    type(polyhedron), intent(in) :: body, other
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: face
    integer, intent(in) :: sense   !< 1, or -1: arcs are those of the negative normals
    real(dp), intent(in) :: enough, touching
    logical, intent(in) :: ridges  !< also edges between outer faces of two neighbours
    type(edge_arc), intent(out) :: arcs(:)
    integer(i4), intent(out) :: count
    real(dp) :: near(3,2), from(3), to(3), normal(3,2), away(2,body%faces), beyond(2)
    integer(i4) :: i, numbers(4)
    logical :: found

    near(:,1) = other%point(1:3,minloc(matmul(body%plane(1:3,face), other%point(1:3,1:other%vertices)), 1))
    near(:,2) = sum(other%point(1:3,1:other%vertices), 2)/other%vertices
    do i = 1, body%faces
      away(:,i) = matmul(body%plane(1:3,i), near) - body%plane(4,i)
    end do
    count = 0
    do i = 0, body%edges - 1
      numbers = edge_numbers(body, tables%edge(tables%corner_ptr(body%first_face):), i)
      if (numbers(3) > body%outer) numbers(3:4) = numbers(4:3:-1)
      if (numbers(3) > body%outer) cycle
      from = body%point(1:3,numbers(1)+1)
      to = body%point(1:3,numbers(2)+1)
      normal = body%plane(1:3,numbers(3:4))
      if (dot_product(normal(:,1), normal(:,2)) > flush) cycle
      beyond = away(:,numbers(4))
      if (numbers(4) > body%outer) then
        if (.not. ridges) cycle
        call face_beyond(body, tables, normal(:,1), from, to, touching, normal(:,2), found)
        if (.not. found) cycle
        beyond = matmul(normal(:,2), near) - dot_product(normal(:,2), from)
      end if
      if (any(max(away(:,numbers(3)), beyond) <= enough)) cycle
      count = count + 1
      associate (arc => arcs(count))
        arc%face = numbers(3)
        arc%a = sense*normal(:,1)
        arc%b = sense*normal(:,2)
        arc%ba = cross(arc%b, arc%a)
        arc%from = from
        arc%along = to - from
        arc%square = dot_product(arc%along, arc%along)
      end associate
    end do
  end subroutine near_edges

  !> Whether the shorter arcs between the normals of two edges cross.
  pure logical function arcs_cross(one, two)
    type(edge_arc), intent(in) :: one, two

    arcs_cross = dot_product(two%a, one%ba)*dot_product(two%b, one%ba) < 0 .and. &
      dot_product(one%a, two%ba)*dot_product(one%b, two%ba) < 0 .and. dot_product(two%a, one%ba)*dot_product(one%b, two%ba) > 0
  end function arcs_cross

end module manifold
