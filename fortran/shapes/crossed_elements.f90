!> Elements that a plane passes through fall into tetrahedra, those beside them into pyramids and tetrahedra (solfec/shapes/plane_cut.py).
!>
!> A polyhedron is split into the tetrahedra between its first vertex and the triangles of the faces without this vertex, or about its
!> centre where some of these would be flat; a face into triangles about its first vertex.  The first vertex has the lowest number, so that
!> both elements of a face split it alike.  A quadrilateral that the plane meets in more than two points of its boundary, which only
!> warped ones are, is cut as two triangles, along the diagonal through its lowest number.  All numbers count from zero, and -1 stands for none.
module crossed_elements
  use kinds, only: dp, i4, i8
  use state_tables, only: refined_elements, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: refine_elements

  integer, parameter :: most_vertices = 8     !< of a polygon: a face has four, a cut adds one, and a section has a vertex on each face
  integer, parameter :: most_polygons = 16    !< of a part: two for each of six faces, and sections
  integer, parameter :: most_parts = 64       !< of an element on one side
  real(dp), parameter :: flattest = 1e-6_dp   !< least volume of a tetrahedron over the cube of its size

  type :: polygon
    integer :: n = 0
    integer(i4) :: v(most_vertices)
  end type polygon

  !> Polygons that close a part of an element, seen from outside.
  type :: boundary
    integer :: n = 0
    type(polygon) :: of(most_polygons)
  end type boundary

  !> Directed edges without a partner, in the order in which they were found.
  type :: edge_list
    integer :: n = 0
    integer(i4) :: from(most_polygons*most_vertices), to(most_polygons*most_vertices)
    logical :: open(most_polygons*most_vertices)
  end type edge_list

contains

  !> Refines all elements of a record RefinedElements, and numbers the points, parts and pieces of faces that arise.  It ends early, and
  !> `unsound` becomes 1, if a part would be flat, or its boundary does not close.
  !>
  !> Reads first, node_first, crossed, upper, node, corner, edge, whole, ends, sign and height; writes cut, point, sources, source, place, part,
  !> element, above, piece, of_face and the numbers.
  subroutine refine_elements(handle, status)
    integer(i8), intent(in) :: handle
    integer(i4), intent(out) :: status
    type(refined_elements) :: mesh
    integer(i4) :: e

    call open_table(handle, mesh, status)
    if (status /= table_open) return
    do e = 0, size(mesh%crossed, kind=i4) - 1
      if (mesh%crossed(e) == 1) then
        call cut_element(mesh, e, -1_i4)
        call cut_element(mesh, e, 1_i4)
      else
        call fan_element(mesh, e)
      end if
      if (mesh%unsound == 1) return
    end do
  end subroutine refine_elements

  !> Splits the part of an element on one side of the plane (-1 below, 1 above).
  subroutine cut_element(mesh, e, side)
    type(refined_elements), intent(inout) :: mesh
    integer(i4), intent(in) :: e, side
    type(boundary) :: closed
    integer(i4) :: face, at(4)
    logical :: sound

    do face = mesh%first(e), mesh%first(e+1) - 1
      if (mesh%corner(4, face) < 0) then
        call clip_face(mesh, face, [1, 2, 3], side, closed)
      else if (cut_once(mesh%sign(mesh%corner(:, face)))) then
        call clip_face(mesh, face, [1, 2, 3, 4], side, closed)
      else
        at = cshift([1, 2, 3, 4], minloc(mesh%corner(:, face), 1) - 1)
        call clip_face(mesh, face, at(:3), side, closed)
        call clip_face(mesh, face, at([1, 3, 4]), side, closed)
      end if
    end do
    call close_with_sections(closed, sound)
    if (sound) then
      call fill(mesh, e, side, closed)
    else
      mesh%unsound = 1
    end if
  end subroutine cut_element

  !> Whether the plane meets the boundary of a quadrilateral in at most two points, or along an edge.  Where it meets it in more, both ends
  !> of a diagonal lie on the same side, or one on the plane.
  pure logical function cut_once(sign)
    integer(i4), intent(in) :: sign(4)

    cut_once = count(sign == 0) + count(sign*cshift(sign, 1) < 0) <= 2
  end function cut_once

  !> Adds the part of a face on one side to a boundary, unless the face only touches the plane.
  subroutine clip_face(mesh, face, at, side, closed)
    type(refined_elements), intent(inout) :: mesh
    integer(i4), intent(in) :: face
    integer, intent(in) :: at(:)        !< positions of the face's corners, or of those of a triangle in it
    integer(i4), intent(in) :: side
    type(boundary), intent(inout) :: closed
    type(polygon) :: half
    integer(i4) :: sign(4)
    integer :: corners, k

    corners = size(at)
    sign(:corners) = mesh%sign(mesh%corner(at, face))
    if (all(sign(:corners) == 0)) then  ! it may be a face of either part
      half%n = corners
      half%v(:corners) = mesh%corner(at, face)
      call list_pieces(mesh, half, face)
    end if
    if (.not. any(sign(:corners) == side)) return
    do k = 1, corners
      if (sign(k) /= -side) call put(half, mesh%corner(at(k), face))
      if (sign(k)*sign(mod(k, corners)+1) < 0) call put(half, point_on_edge(mesh, mesh%edge(at(k), face)))
    end do
    closed%n = closed%n + 1
    closed%of(closed%n) = half
    call list_pieces(mesh, half, face)
  end subroutine clip_face

  pure subroutine put(half, vertex)
    type(polygon), intent(inout) :: half
    integer(i4), intent(in) :: vertex

    half%n = half%n + 1
    half%v(half%n) = vertex
  end subroutine put

  !> Returns the number of the point in which the plane cuts an edge; the first call makes it.
  integer(i4) function point_on_edge(mesh, edge) result(number)
    type(refined_elements), intent(inout) :: mesh
    integer(i4), intent(in) :: edge
    integer(i4) :: a, b
    real(dp) :: place

    number = mesh%cut(edge)
    if (number >= 0) return
    a = mesh%ends(1, edge)
    b = mesh%ends(2, edge)
    place = mesh%height(a)/(mesh%height(a) - mesh%height(b))
    call add_point(mesh, mesh%ends(:, edge), mesh%point(:, a) + place*(mesh%point(:, b) - mesh%point(:, a)), number)
    mesh%place(number) = place
    mesh%cut(edge) = number
  end function point_on_edge

  !> Adds a point that lies between others.
  subroutine add_point(mesh, sources, point, number)
    type(refined_elements), intent(inout) :: mesh
    integer(i4), intent(in) :: sources(:)
    real(dp), intent(in) :: point(3)
    integer(i4), intent(out) :: number

    number = mesh%points
    mesh%points = number + 1
    mesh%point(:, number) = point
    mesh%sources(number) = size(sources, kind=i4)
    mesh%source(:size(sources), number) = sources
  end subroutine add_point

  !> Adds the mean of some points.
  subroutine add_centre(mesh, vertices, number)
    type(refined_elements), intent(inout) :: mesh
    integer(i4), intent(in) :: vertices(:)
    integer(i4), intent(out) :: number
    real(dp) :: middle(3)
    integer :: k

    middle = 0
    do k = 1, size(vertices)
      middle = middle + mesh%point(:, vertices(k))
    end do
    call add_point(mesh, vertices, middle/size(vertices), number)
  end subroutine add_centre

  !> Adds to the polygons of a part those that close it.  `sound` is false if open edges do not form simple loops.
  subroutine close_with_sections(closed, sound)
    type(boundary), intent(inout) :: closed
    logical, intent(out) :: sound
    type(edge_list) :: edges
    type(polygon) :: section
    integer(i4) :: at
    integer :: last, k

    call list_open_edges(closed, edges, sound)
    do last = edges%n, 1, -1
      if (.not. (sound .and. edges%open(last))) cycle
      section%n = 0
      at = edges%to(last)
      do
        k = ends_at(edges, at)
        sound = k > 0 .and. section%n < most_vertices
        if (.not. sound) return
        call put(section, at)
        at = edges%from(k)
        edges%open(k) = .false.
        if (at == edges%to(last)) exit
      end do
      if (section%n < 3) cycle
      sound = closed%n < most_polygons
      if (.not. sound) return
      closed%n = closed%n + 1
      closed%of(closed%n) = section
    end do
  end subroutine close_with_sections

  !> Lists edges of polygons without a partner of opposite sense; not `sound` if two of them end at the same vertex.
  subroutine list_open_edges(closed, edges, sound)
    type(boundary), intent(in) :: closed
    type(edge_list), intent(out) :: edges
    logical, intent(out) :: sound
    integer :: p, k, partner
    integer(i4) :: a, b

    do p = 1, closed%n
      do k = 1, closed%of(p)%n
        a = closed%of(p)%v(k)
        b = closed%of(p)%v(mod(k, closed%of(p)%n)+1)
        do partner = 1, edges%n
          if (edges%open(partner) .and. edges%from(partner) == b .and. edges%to(partner) == a) exit
        end do
        if (partner <= edges%n) then
          edges%open(partner) = .false.
          cycle
        end if
        edges%n = edges%n + 1
        edges%from(edges%n) = a
        edges%to(edges%n) = b
        edges%open(edges%n) = .true.
      end do
    end do
    sound = .true.
    do k = 2, edges%n
      if (edges%open(k)) sound = sound .and. .not. any(edges%open(:k-1) .and. edges%to(:k-1) == edges%to(k))
    end do
  end subroutine list_open_edges

  !> Returns the open edge that ends at a vertex, or 0.
  pure integer function ends_at(edges, vertex)
    type(edge_list), intent(in) :: edges
    integer(i4), intent(in) :: vertex

    do ends_at = edges%n, 1, -1
      if (edges%open(ends_at) .and. edges%to(ends_at) == vertex) return
    end do
  end function ends_at

  !> Splits a polyhedron into tetrahedra: from its first vertex or, where these are flat, from its centre.
  subroutine fill(mesh, e, side, closed)
    type(refined_elements), intent(inout) :: mesh
    integer(i4), intent(in) :: e, side
    type(boundary), intent(in) :: closed
    integer(i4) :: parts(4, most_parts), vertices(most_polygons*most_vertices), first, centre
    integer :: n, p, listed

    first = minval([(minval(closed%of(p)%v(:closed%of(p)%n)), p = 1, closed%n)])
    n = 0
    do p = 1, closed%n
      if (.not. any(closed%of(p)%v(:closed%of(p)%n) == first)) call fan_polygon(closed%of(p), first, parts, n)
    end do
    if (n == 0 .or. any_flat(mesh, parts(:, :n))) then
      call list_vertices(closed, vertices, listed)
      call add_centre(mesh, vertices(:listed), centre)
      n = 0
      do p = 1, closed%n
        call fan_polygon(closed%of(p), centre, parts, n)
      end do
      if (any_flat(mesh, parts(:, :n))) mesh%unsound = 1
    end if
    do p = 1, n
      call add_part(mesh, e, merge(1_i4, 0_i4, side > 0), parts(:, p))
    end do
  end subroutine fill

  !> Lists the vertices of all polygons once each, ascending.
  pure subroutine list_vertices(closed, vertices, listed)
    type(boundary), intent(in) :: closed
    integer(i4), intent(inout) :: vertices(:)
    integer, intent(out) :: listed
    integer(i4) :: vertex
    integer :: p, k, at

    listed = 0
    do p = 1, closed%n
      do k = 1, closed%of(p)%n
        vertex = closed%of(p)%v(k)
        at = count(vertices(:listed) < vertex) + 1
        if (at <= listed) then
          if (vertices(at) == vertex) cycle
        end if
        vertices(at+1:listed+1) = vertices(at:listed)
        vertices(at) = vertex
        listed = listed + 1
      end do
    end do
  end subroutine list_vertices

  !> Appends the tetrahedra between an apex and a polygon's triangles about its vertex of the lowest number.
  pure subroutine fan_polygon(face, apex, parts, n)
    type(polygon), intent(in) :: face
    integer(i4), intent(in) :: apex
    integer(i4), intent(inout) :: parts(:, :)
    integer, intent(inout) :: n
    integer(i4) :: turned(most_vertices)
    integer :: k

    turned(:face%n) = cshift(face%v(:face%n), minloc(face%v(:face%n), 1) - 1)
    do k = 2, face%n - 1
      n = n + 1
      parts(:, n) = [turned(k+1), turned(k), turned(1), apex]
    end do
  end subroutine fan_polygon

  !> Whether some tetrahedron or pyramid has no volume to speak of.
  pure logical function any_flat(mesh, parts)
    type(refined_elements), intent(in) :: mesh
    integer(i4), intent(in) :: parts(:, :)
    real(dp) :: x(3, size(parts, 1)), volume
    integer :: k, last

    last = size(parts, 1)
    any_flat = .true.
    do k = 1, size(parts, 2)
      x = mesh%point(:, parts(:, k))
      volume = tetrahedron(x(:, [1, 2, 3, last]))
      if (last == 5) volume = volume + tetrahedron(x(:, [1, 3, 4, last]))
      if (.not. volume > flattest*maxval(maxval(x, 2) - minval(x, 2))**3) return
    end do
    any_flat = .false.
  end function any_flat

  pure real(dp) function tetrahedron(x) result(volume)
    real(dp), intent(in) :: x(3, 4)
    real(dp) :: a(3), b(3), c(3)

    a = x(:, 2) - x(:, 1)
    b = x(:, 3) - x(:, 1)
    c = x(:, 4) - x(:, 1)
    volume = (a(1)*(b(2)*c(3) - b(3)*c(2)) + a(2)*(b(3)*c(1) - b(1)*c(3)) + a(3)*(b(1)*c(2) - b(2)*c(1)))/6
  end function tetrahedron

  !> Splits an element that the plane does not cross about its centre; faces that it shares with crossed elements fall into triangles.
  subroutine fan_element(mesh, e)
    type(refined_elements), intent(inout) :: mesh
    integer(i4), intent(in) :: e
    integer(i4) :: centre, face, parts(4, 2), pyramid(5, 1)
    type(polygon) :: whole
    integer :: k, n

    call add_centre(mesh, mesh%node(mesh%node_first(e):mesh%node_first(e+1)-1), centre)
    do face = mesh%first(e), mesh%first(e+1) - 1
      whole%n = merge(3, 4, mesh%corner(4, face) < 0)
      whole%v(:whole%n) = mesh%corner(:whole%n, face)
      if (mesh%whole(face) == 1) then
        pyramid(:, 1) = [whole%v(4:1:-1), centre]
        if (any_flat(mesh, pyramid)) mesh%unsound = 1
        call add_part(mesh, e, mesh%upper(e), pyramid(:, 1))
        call add_piece(mesh, face, whole%v(:4))
        cycle
      end if
      call list_pieces(mesh, whole, face)
      n = 0
      call fan_polygon(whole, centre, parts, n)
      if (any_flat(mesh, parts(:, :n))) mesh%unsound = 1
      do k = 1, n
        call add_part(mesh, e, mesh%upper(e), parts(:, k))
      end do
    end do
  end subroutine fan_element

  subroutine add_part(mesh, e, above, vertices)
    type(refined_elements), intent(inout) :: mesh
    integer(i4), intent(in) :: e, above, vertices(:)

    mesh%part(:, mesh%parts) = -1
    mesh%part(:size(vertices), mesh%parts) = vertices
    mesh%element(mesh%parts) = e
    mesh%above(mesh%parts) = above
    mesh%parts = mesh%parts + 1
  end subroutine add_part

  !> Lists the triangles of a part of a face.
  subroutine list_pieces(mesh, part, face)
    type(refined_elements), intent(inout) :: mesh
    type(polygon), intent(in) :: part
    integer(i4), intent(in) :: face
    integer(i4) :: triangles(4, most_vertices)
    integer :: k, n

    n = 0
    call fan_polygon(part, -1_i4, triangles, n)
    do k = 1, n
      call add_piece(mesh, face, triangles(:, k))
    end do
  end subroutine list_pieces

  subroutine add_piece(mesh, face, vertices)
    type(refined_elements), intent(inout) :: mesh
    integer(i4), intent(in) :: face, vertices(4)

    mesh%piece(:, mesh%pieces) = vertices
    mesh%of_face(mesh%pieces) = face
    mesh%pieces = mesh%pieces + 1
  end subroutine add_piece

end module crossed_elements
