!> Coplanar neighbouring faces of a convex polyhedron merged into polygons.
!>
!> Contact facets are weighted by their areas squared, and clipping by nearly equal planes is ill-conditioned; both need every
!> flat part of a polyhedron's surface to be one polygon.  Most polyhedra have a few faces: a call takes a hundredth of the time of
!> array operations on so few (solfec/shapes/coplanar.py, hull.py).
module coplanar_faces
  use kinds, only: dp, i4
  use connected_sets, only: connect, root_of
  implicit none
  private
  public :: merge_simplices, merge_faces

  real(dp), parameter :: alike = 0.99_dp      !< least cosine between normals of coplanar faces
  real(dp), parameter :: enough = 0.999_dp    !< of the largest corner's area, from which on outlines may start at a corner

contains

  !> Polygons of a convex hull from its simplices, in the order of their first ones and counter-clockwise from outside; triangles,
  !> if polygons do not form a closed surface.
  !>
  !>   simplex (3,facets), neighbour (3,facets) across their edges, equation (4,facets) outward unit normal and offset of planes
  !>   flat        distance from a neighbour's plane within which facets are coplanar [length]
  !>   face_ptr (0:facets), corner (0:3*facets-1)   out: faces, of which the first `faces` are used
  subroutine merge_simplices(vertices, vertex, facets, simplex, neighbour, equation, flat, face_ptr, corner, faces)
    integer(i4), intent(in) :: vertices, facets
    real(dp), intent(in) :: vertex(3,0:vertices-1)
    integer(i4), intent(in) :: simplex(3,0:facets-1), neighbour(3,0:facets-1)
    real(dp), intent(in) :: equation(4,0:facets-1), flat
    integer(i4), intent(inout) :: face_ptr(0:facets), corner(0:3*facets-1)
    integer(i4), intent(out) :: faces
    integer(i4), allocatable :: triangle_ptr(:), triangles(:), parent(:), label(:), first(:)
    integer(i4) :: f, g, s
    logical :: closed

    allocate (triangle_ptr(0:facets), triangles(0:3*facets-1), parent(0:facets-1), label(0:facets-1), first(0:facets-1))
    do f = 0, facets - 1
      triangle_ptr(f) = 3*f
      triangles(3*f:3*f+2) = simplex(:,f)
      if (dot_product(area_of(vertex(:,simplex(:,f))), equation(1:3,f)) < 0.0_dp) triangles(3*f:3*f+2) = simplex(3:1:-1,f)
      parent(f) = f
    end do
    triangle_ptr(facets) = 3*facets
    do f = 0, facets - 1
      do s = 1, 3
        g = neighbour(s,f)
        if (g <= f) cycle
        if (flush(f, g) .and. flush(g, f)) call connect(parent, f, g)
      end do
    end do
    call number_sets(facets, parent, faces, label, first)
    if (faces < facets) then
      call outline_groups(vertices, vertex, facets, triangle_ptr, triangles, label, faces, equation(1:3,first(0:faces-1)), &
                          face_ptr, corner, closed)
      if (closed) return
    end if
    faces = facets
    face_ptr = triangle_ptr
    corner = triangles

  contains

    !> Whether simplex b lies in the plane of a.
    pure logical function flush(a, b)
      integer(i4), intent(in) :: a, b
      integer(i4) :: i

      flush = dot_product(equation(1:3,a), equation(1:3,b)) > alike
      do i = 1, 3
        flush = flush .and. abs(dot_product(equation(1:3,a), vertex(:,simplex(i,b))) + equation(4,a)) <= flat
      end do
    end function flush
  end subroutine merge_simplices

  !> Polygons of a convex polyhedron from faces, of which coplanar neighbours with the same surface identifier are merged.
  !>
  !>   given_ptr (0:given), given_corner (corners)   faces, counter-clockwise from outside
  !>   flat         distance from a neighbour's plane within which faces are coplanar [length]
  !>   face_ptr (0:given), corner (0:corners-1)   out: faces, unless there is nothing to merge, and `faces` = `given`
  !>   first (0:given-1)   out: the first given face of every face
  subroutine merge_faces(vertices, vertex, given, given_ptr, corners, given_corner, surface, flat, face_ptr, corner, first, faces)
    integer(i4), intent(in) :: vertices, given, corners
    real(dp), intent(in) :: vertex(3,0:vertices-1)
    integer(i4), intent(in) :: given_ptr(0:given), given_corner(0:corners-1), surface(0:given-1)
    real(dp), intent(in) :: flat
    integer(i4), intent(inout) :: face_ptr(0:given), corner(0:corners-1), first(0:given-1)
    integer(i4), intent(out) :: faces
    real(dp), allocatable :: normal(:,:), total(:,:)
    integer(i4), allocatable :: across(:), parent(:), label(:)
    integer(i4) :: f, e, g
    logical :: closed

    allocate (normal(3,0:given-1), across(0:corners-1), parent(0:given-1), label(0:given-1))
    call find_across(vertices, given, given_ptr, corners, given_corner, across)
    do f = 0, given - 1
      parent(f) = f
      normal(:,f) = unit_normal(vertex(:,given_corner(given_ptr(f):given_ptr(f+1)-1)))
    end do
    do f = 0, given - 1
      do e = given_ptr(f), given_ptr(f+1) - 1
        g = across(e)
        if (g <= f) cycle
        if (flush(f, g) .and. flush(g, f)) call connect(parent, f, g)
      end do
    end do
    call number_sets(given, parent, faces, label, first)
    if (faces == given) return
    allocate (total(3,0:faces-1), source=0.0_dp)
    do f = 0, given - 1
      total(:,label(f)) = total(:,label(f)) + normal(:,f)
    end do
    do g = 0, faces - 1
      if (any(abs(total(:,g)) > 0.0_dp)) total(:,g) = total(:,g)/norm2(total(:,g))   ! faces without area have no normal
    end do
    call outline_groups(vertices, vertex, given, given_ptr, given_corner, label, faces, total, face_ptr, corner, closed)
    if (.not. closed) faces = given

  contains

    !> Whether face b, of the same surface, lies in the plane of a.
    pure logical function flush(a, b)
      integer(i4), intent(in) :: a, b
      integer(i4) :: e

      flush = surface(a) == surface(b) .and. dot_product(normal(:,a), normal(:,b)) > alike
      do e = given_ptr(b), given_ptr(b+1) - 1
        if (.not. flush) return
        flush = abs(dot_product(vertex(:,given_corner(e)) - vertex(:,given_corner(given_ptr(a))), normal(:,a))) <= flat
      end do
    end function flush
  end subroutine merge_faces

  !> Finds the face on the other side of each edge, the last one if surfaces are not closed; -1: none.
  pure subroutine find_across(vertices, faces, face_ptr, edges, corner, across)
    integer(i4), intent(in) :: vertices, faces, edges
    integer(i4), intent(in) :: face_ptr(0:faces), corner(0:edges-1)
    integer(i4), intent(out) :: across(0:edges-1)
    integer(i4), allocatable :: head(:), edge(:), ending(:), face(:)
    integer(i4) :: e, f, k

    allocate (head(0:vertices), edge(0:edges-1), ending(0:edges-1), face(0:edges-1))
    do f = 0, faces - 1
      face(face_ptr(f):face_ptr(f+1)-1) = f
    end do
    call find_endings(faces, face_ptr, corner, ending)
    call sort_by(vertices, edges, corner, head, edge)
    across = -1
    do e = 0, edges - 1
      do k = head(ending(e)), head(ending(e)+1) - 1
        if (ending(edge(k)) == corner(e)) across(e) = face(edge(k))
      end do
    end do
  end subroutine find_across

  !> Finds the corner at which the edge from each corner ends.
  pure subroutine find_endings(faces, face_ptr, corner, ending)
    integer(i4), intent(in) :: faces
    integer(i4), intent(in) :: face_ptr(0:faces), corner(0:face_ptr(faces)-1)
    integer(i4), intent(out) :: ending(0:face_ptr(faces)-1)
    integer(i4) :: f

    do f = 0, faces - 1
      ending(face_ptr(f):face_ptr(f+1)-1) = cshift(corner(face_ptr(f):face_ptr(f+1)-1), 1)
    end do
  end subroutine find_endings

  !> Unit normal of a polygon; zero if it has no area.
  pure function unit_normal(polygon) result(normal)
    real(dp), intent(in) :: polygon(:,:)
    real(dp) :: normal(3), length
    integer :: k

    normal = 0.0_dp
    do k = 2, size(polygon, 2) - 1
      normal = normal + cross(polygon(:,k) - polygon(:,1), polygon(:,k+1) - polygon(:,1))
    end do
    length = norm2(normal)
    if (length > 0.0_dp) normal = normal/length
  end function unit_normal

  !> Labels items by their sets, in the order of the sets' first items.
  subroutine number_sets(n, parent, sets, label, first)
    integer(i4), intent(in) :: n
    integer(i4), intent(inout) :: parent(0:n-1)
    integer(i4), intent(out) :: sets, label(0:n-1)
    integer(i4), intent(inout) :: first(0:n-1)
    integer(i4) :: i, root

    sets = 0
    do i = 0, n - 1
      root = root_of(parent, i)
      if (root == i) then
        label(i) = sets
        first(sets) = i
        sets = sets + 1
      else
        label(i) = label(root)
      end if
    end do
  end subroutine number_sets

  !> Outlines groups of coplanar faces.  Vertices inside a group, or inside an edge between two groups, are dropped.  `closed` is
  !> false if the outlines do not form a closed polyhedral surface.
  subroutine outline_groups(vertices, vertex, faces, face_ptr, corner, group, groups, normal, outline_ptr, outline, closed)
    integer(i4), intent(in) :: vertices, faces, groups
    real(dp), intent(in) :: vertex(3,0:vertices-1)
    integer(i4), intent(in) :: face_ptr(0:faces), corner(0:*), group(0:faces-1)
    real(dp), intent(in) :: normal(3,0:groups-1)     !< unit outward normals of groups
    integer(i4), intent(inout) :: outline_ptr(0:groups), outline(0:*)
    logical, intent(out) :: closed
    integer(i4), allocatable :: head(:), member(:), met(:), seen(:), listed(:)
    integer(i4) :: f, g, k, e, n
    logical :: whole

    allocate (head(0:groups), member(0:faces-1), met(0:vertices-1), seen(0:vertices-1), listed(0:vertices-1))
    call sort_by(groups, faces, group, head, member)
    met = 0
    seen = -1
    do g = 0, groups - 1
      do k = head(g), head(g+1) - 1
        do e = face_ptr(member(k)), face_ptr(member(k)+1) - 1
          if (seen(corner(e)) == g) cycle
          seen(corner(e)) = g
          met(corner(e)) = met(corner(e)) + 1
        end do
      end do
    end do
    seen = -1
    outline_ptr(0) = 0
    do g = 0, groups - 1
      n = 0
      whole = head(g+1) - head(g) == 1
      do k = head(g), head(g+1) - 1
        f = member(k)
        do e = face_ptr(f), face_ptr(f+1) - 1
          whole = whole .and. met(corner(e)) > 2
          if (met(corner(e)) <= 2 .or. seen(corner(e)) == g) cycle
          seen(corner(e)) = g
          listed(n) = corner(e)
          n = n + 1
        end do
      end do
      closed = n > 2
      if (.not. closed) return
      if (.not. whole) call arrange(vertices, vertex, normal(:,g), n, listed)
      outline(outline_ptr(g):outline_ptr(g)+n-1) = listed(0:n-1)
      outline_ptr(g+1) = outline_ptr(g) + n
    end do
    closed = is_closed(vertices, groups, outline_ptr, outline)
  end subroutine outline_groups

  !> Arranges corners of a convex polygon counter-clockwise, from where three of them span the largest triangle on.
  pure subroutine arrange(vertices, vertex, normal, n, corner)
    integer(i4), intent(in) :: vertices, n
    real(dp), intent(in) :: vertex(3,0:vertices-1), normal(3)
    integer(i4), intent(inout) :: corner(0:n-1)
    real(dp) :: centre(3), arm(3,0:n-1), u(3), v(3), x(0:n-1), y(0:n-1), area(0:n-1)
    integer(i4) :: ring(0:n-1), i, next, last, start

    corner = corner(places_of(n, real(corner, dp)))
    centre = sum(vertex(:,corner), 2)/n
    do i = 0, n - 1
      arm(:,i) = vertex(:,corner(i)) - centre
    end do
    u = arm(:,maxloc(sum(arm**2, 1), 1) - 1)
    v = cross(normal, u)
    x = matmul(u, arm)
    y = matmul(v, arm)
    ring = places_of(n, atan2(y, x))
    do i = 0, n - 1
      next = ring(mod(i + 1, n))
      last = ring(mod(i + 2, n))
      area(i) = (x(next) - x(ring(i)))*(y(last) - y(next)) - (y(next) - y(ring(i)))*(x(last) - x(next))
    end do
    ! of equal triangles that of the first corner, which rounding does not choose
    start = minloc(ring, 1, area >= enough*maxval(area)) - 1
    corner = cshift(corner(ring), start)
  end subroutine arrange

  !> Places of numbers in ascending order, by insertion, since there are few.
  pure function places_of(n, number) result(place)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: number(0:n-1)
    integer(i4) :: place(0:n-1), i, k

    do i = 0, n - 1
      k = i
      do while (k > 0)
        if (.not. number(i) < number(place(k-1))) exit
        place(k) = place(k-1)
        k = k - 1
      end do
      place(k) = i
    end do
  end function places_of

  !> Whether each edge of outlines runs once in either sense, and the surface has the topology of a sphere (Euler's formula).
  pure logical function is_closed(vertices, faces, face_ptr, corner)
    integer(i4), intent(in) :: vertices, faces
    integer(i4), intent(in) :: face_ptr(0:faces), corner(0:face_ptr(faces)-1)
    integer(i4), allocatable :: head(:), edge(:), ending(:)
    integer(i4) :: edges, e

    edges = face_ptr(faces)
    allocate (head(0:vertices), edge(0:edges-1), ending(0:edges-1))
    call find_endings(faces, face_ptr, corner, ending)
    call sort_by(vertices, edges, corner, head, edge)
    is_closed = count(head(1:) > head(:vertices-1)) - edges/2 + faces == 2
    do e = 0, edges - 1
      if (.not. is_closed) return
      is_closed = times(corner(e), ending(e)) == 1 .and. times(ending(e), corner(e)) == 1
    end do

  contains

    !> Number of edges from a vertex to another.
    pure integer(i4) function times(from, to)
      integer(i4), intent(in) :: from, to

      times = count(ending(edge(head(from):head(from+1)-1)) == to)
    end function times
  end function is_closed

  !> Sorts items by a number of each, below `numbers`: those of number k are item(head(k):head(k+1)-1), ascending.
  pure subroutine sort_by(numbers, items, number, head, item)
    integer(i4), intent(in) :: numbers, items
    integer(i4), intent(in) :: number(0:items-1)
    integer(i4), intent(out) :: head(0:numbers), item(0:items-1)
    integer(i4) :: next(0:numbers-1), i

    head = 0
    do i = 0, items - 1
      head(number(i)+1) = head(number(i)+1) + 1
    end do
    do i = 1, numbers
      head(i) = head(i) + head(i-1)
    end do
    next = head(0:numbers-1)
    do i = 0, items - 1
      item(next(number(i))) = i
      next(number(i)) = next(number(i)) + 1
    end do
  end subroutine sort_by

  !> Twice the area vector of a triangle.
  pure function area_of(corners) result(area)
    real(dp), intent(in) :: corners(3,3)
    real(dp) :: area(3)

    area = cross(corners(:,2) - corners(:,1), corners(:,3) - corners(:,1))
  end function area_of

  pure function cross(a, b) result(product)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: product(3)

    product = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function cross
end module coplanar_faces
