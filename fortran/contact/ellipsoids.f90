!> Contacts of ellipsoids with ellipsoids, spheres and polyhedra.
!>
!> The separation of two convex sets along a unit vector n is s(n) = (min over the second of n.x) - (max over the first of
!> n.x).  Its maximum over all n is their distance when they are apart and minus the least penetration depth when they
!> overlap (Cameron and Culley, Proc. IEEE Int. Conf. Robotics and Automation, 1986); the maximiser is the common normal,
!> continuous through touching.  An ellipsoid c + M s, |s| <= 1, has max n.x = n.c + |M^T n|.
!> The area of these contacts is 1 by definition.
module ellipsoids
  use kinds, only: dp, i4
  use matrix3, only: cross
  use polyhedra, only: polyhedron
  use contact_record, only: contact_data
  use polyhedron_contact, only: outer_plane
  implicit none
  private
  public :: contact_of_ellipsoids, contact_with_ellipsoid

  integer(i4), parameter :: max_steps = 60, polishing_steps = 3
  real(dp), parameter :: round_off = 1.0e-15_dp

contains

  !> Contact of two ellipsoids, or of an ellipsoid and a sphere (a slave with axes radius times identity), given by centres and axes.
  !> They touch if the separation is less than `reach`; the gap is positive only if `with_gap`.
  !> If they overlap, the middle of their facing surface points is the common point.
  pure subroutine contact_of_ellipsoids(slave_centre, slave_axes, master_centre, master_axes, reach, with_gap, contact)
    real(dp), intent(in) :: slave_centre(3), slave_axes(3, 3), master_centre(3), master_axes(3, 3), reach
    logical, intent(in) :: with_gap
    type(contact_data), intent(inout) :: contact
    real(dp) :: d(3), a(3, 3), b(3, 3), n(3), level, best, trial(3), thinnest
    integer(i4) :: k

    contact%found = .false.
    d = master_centre - slave_centre
    a = matmul(slave_axes, transpose(slave_axes))
    b = matmul(master_axes, transpose(master_axes))
    n = d
    if (.not. norm2(n) > 0) n = [1.0_dp, 0.0_dp, 0.0_dp]
    n = n/norm2(n)
    call climb(d, a, b, reach, n, best)
    if (best >= reach) return
    thinnest = min(shortest(slave_axes), shortest(master_axes))
    if (best < -0.1_dp*thinnest) then
      do k = 1, 6  ! deep overlap: the least of several local depths may be along an axis
        if (k <= 3) trial = slave_axes(:, k)
        if (k > 3) trial = master_axes(:, k - 3)
        trial = sign(1.0_dp, dot_product(trial, d))*trial/norm2(trial)
        call climb(d, a, b, reach, trial, level)
        if (level > best + 1.0e-9_dp*thinnest) then
          best = level
          n = trial
        end if
      end do
    end if
    contact%found = .true.
    contact%normal = n
    contact%slave_point = slave_centre + support(a, n)
    contact%master_point = master_centre - support(b, n)
    contact%gap = best
    if (best <= 0) then
      contact%slave_point = 0.5_dp*(contact%slave_point + contact%master_point)
      contact%master_point = contact%slave_point
    else if (.not. with_gap) then
      contact%gap = 0
    end if
    contact%area = 1
    contact%degenerate = .false.
    contact%face = 0
  end subroutine contact_of_ellipsoids

  pure real(dp) function shortest(axes)
    real(dp), intent(in) :: axes(3, 3)
    shortest = min(norm2(axes(:, 1)), norm2(axes(:, 2)), norm2(axes(:, 3)))
  end function shortest

  !> Contact of a polyhedron, which is always the slave, with an ellipsoid.  The normal maximises the separation over the normals of faces,
  !> edges and vertices.  If the centre is inside, only outer faces count.  There is no contact where the separation is
  !> largest across an internal face.  If they overlap, the polyhedron's point is the ellipsoid's.
  pure subroutine contact_with_ellipsoid(body, corner_ptr, corner_count, corner, centre, axes, reach, with_gap, size, &
                                         contact)
    type(polyhedron), intent(in) :: body
    integer(i4), intent(in) :: corner_ptr(0:*), corner_count(0:*), corner(0:*)  !< faces; see `overlap`
    real(dp), intent(in) :: centre(3), axes(3, 3)  !< relative to the pair's centre
    real(dp), intent(in) :: reach, size            !< size of the pair
    logical, intent(in) :: with_gap
    type(contact_data), intent(inout) :: contact
    real(dp) :: a(3, 3), n(3), level, best, foot(3), small
    integer(i4) :: i, face, faces, row

    contact%found = .false.
    if (body%outer == 0) return
    a = matmul(axes, transpose(axes))
    small = 1.0e-12_dp*size
    faces = body%outer
    do i = 1, body%faces
      if (dot_product(body%plane(1:3, i), centre) > body%plane(4, i)) faces = body%faces
    end do
    best = -huge(best)
    face = 0
    do i = 1, body%faces
      level = dot_product(body%plane(1:3, i), centre) - body%plane(4, i) - radius_along(a, body%plane(1:3, i))
      if (level >= reach) return
      if (i <= faces .and. level > best + small) then
        best = level
        face = i
      end if
    end do
    n = body%plane(1:3, face)
    do i = 1, faces
      row = body%first_face + i - 1
      call try_edges(body, i, corner_count(row), corner(corner_ptr(row):corner_ptr(row) + corner_count(row) - 1), &
                     centre, a, reach, small, n, best, face)
      if (best >= reach) return
    end do
    if (face > body%outer) return

    contact%found = .true.
    contact%normal = n
    contact%master_point = centre - support(a, n)
    foot = contact%master_point - best*n  ! on the polyhedron's surface
    contact%slave_point = contact%master_point
    contact%gap = best
    if (best > 0) then
      contact%slave_point = foot
      if (.not. with_gap) contact%gap = 0
    end if
    contact%face(1) = face
    if (face == 0) contact%face(1) = outer_plane(body, foot, size)
    contact%face(2) = 0
    contact%area = 1
    contact%degenerate = .false.
  end subroutine contact_with_ellipsoid

  !> Tries the normals of those edges of one face beyond which the ellipsoid's lowest point lies, and of vertices at an end of such an
  !> edge beyond which the lowest point along the edge's normal lies.  Better directions replace `n`, `best` and `face` (by 0).
  pure subroutine try_edges(body, i, corners, corner, centre, a, reach, small, n, best, face)
    type(polyhedron), intent(in) :: body
    integer(i4), intent(in) :: i, corners, corner(corners)
    real(dp), intent(in) :: centre(3), a(3, 3), reach, small
    real(dp), intent(inout) :: n(3), best
    integer(i4), intent(inout) :: face
    real(dp) :: lowest(3), from(3), edge(3), across(3), length, trial(3), place, none(3, 3), ignored, vertex(3)
    integer(i4) :: k
    logical :: found

    none = 0
    lowest = centre - support(a, body%plane(1:3, i))
    do k = 1, corners
      from = body%point(1:3, corner(k) + 1)
      edge = body%point(1:3, corner(merge(k + 1, 1, k < corners)) + 1) - from
      length = norm2(edge)
      if (.not. length > 0) cycle
      edge = edge/length
      across = cross(edge, body%plane(1:3, i))
      if (dot_product(across, lowest - from) <= small) cycle
      call turn_about_edge(body%plane(1:3, i), across, centre - from, a, trial, found)
      if (.not. found) cycle
      call consider(body, trial, centre, a, small, n, best, face)
      place = dot_product(centre - support(a, trial) - from, edge)
      if (place >= 0 .and. place <= length) cycle
      vertex = from
      if (place > length) vertex = from + length*edge
      call climb(centre - vertex, a, none, reach + 1.0_dp, trial, ignored)
      call consider(body, trial, centre, a, small, n, best, face)
    end do
  end subroutine try_edges

  !> Keeps the direction `trial` if the separation along it is larger than the best one.
  pure subroutine consider(body, trial, centre, a, small, n, best, face)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: trial(3), centre(3), a(3, 3), small
    real(dp), intent(inout) :: n(3), best
    integer(i4), intent(inout) :: face
    real(dp) :: level, highest
    integer(i4) :: i

    highest = -huge(highest)
    do i = 1, body%padded
      highest = max(highest, trial(1)*body%x(i, 1) + trial(2)*body%x(i, 2) + trial(3)*body%x(i, 3))
    end do
    level = dot_product(trial, centre) - radius_along(a, trial) - highest
    if (level <= best + small) return
    best = level
    n = trial
    face = 0
  end subroutine consider

  !> Finds the first maximum of n.d - sqrt(n.A n) as n turns from `normal` towards `across`, the direction in which it grows.
  pure subroutine turn_about_edge(normal, across, d, a, n, found)
    real(dp), intent(in) :: normal(3), across(3), d(3), a(3, 3)
    real(dp), intent(out) :: n(3)
    logical, intent(out) :: found
    real(dp), parameter :: quarter = atan(1.0_dp)
    real(dp) :: d1, d2, a11, a12, a22, low, high, angle, slope, curvature, next
    integer(i4) :: k

    d1 = dot_product(normal, d)
    d2 = dot_product(across, d)
    n = matmul(a, normal)
    a11 = dot_product(normal, n)
    a12 = dot_product(across, n)
    a22 = dot_product(across, matmul(a, across))
    found = .false.
    low = 0
    do k = 1, 4
      high = k*quarter
      call slope_at(high, slope, curvature)
      if (slope <= 0) then
        found = .true.
        exit
      end if
      low = high
    end do
    if (.not. found) return
    angle = 0.5_dp*(low + high)
    do k = 1, 60
      call slope_at(angle, slope, curvature)
      if (slope > 0) low = angle
      if (slope <= 0) high = angle
      next = 0.5_dp*(low + high)
      if (curvature < 0) then
        next = angle - slope/curvature
        if (.not. (next > low .and. next < high)) next = 0.5_dp*(low + high)
      end if
      if (abs(next - angle) <= 4*round_off) exit
      angle = next
    end do
    n = cos(angle)*normal + sin(angle)*across
    n = n/norm2(n)

  contains

    pure subroutine slope_at(angle, slope, curvature)
      real(dp), intent(in) :: angle
      real(dp), intent(out) :: slope, curvature
      real(dp) :: c, s, root, change
      c = cos(angle)
      s = sin(angle)
      root = sqrt(max(a11*c*c + 2*a12*c*s + a22*s*s, tiny(root)))
      change = ((a22 - a11)*c*s + a12*(c*c - s*s))/root
      slope = c*d2 - s*d1 - change
      curvature = -c*d1 - s*d2 - ((a22 - a11)*(c*c - s*s) - 4*a12*c*s - change*change)/root
    end subroutine slope_at
  end subroutine turn_about_edge

  !> Maximises s(n) = n.d - sqrt(n.A n) - sqrt(n.B n) over unit vectors, starting at `n`: Newton's method on the sphere with a
  !> positive step along every principal direction, so that each step increases s.  Stops early when s reaches `enough`.
  pure subroutine climb(d, a, b, enough, n, level)
    real(dp), intent(in) :: d(3), a(3, 3), b(3, 3), enough
    real(dp), intent(inout) :: n(3)
    real(dp), intent(out) :: level
    real(dp) :: g(3), u(3), v(3), h(3), gu, gv, scale, step(2), length, factor, trial(3), higher
    integer(i4) :: k, polished, halving
    logical :: concave

    polished = 0
    level = separation(d, a, b, n)
    do k = 1, max_steps
      if (level >= enough) return
      call tangents(n, u, v)
      call derivatives(d, a, b, n, u, v, g, h)
      gu = dot_product(g, u)
      gv = dot_product(g, v)
      scale = norm2(d) + norm2(g) + abs(level)
      if (hypot(gu, gv) <= round_off*scale) return
      call uphill(gu, gv, h, scale, step, concave)
      length = norm2(step)
      if (concave .and. length < 1.0e-3_dp) then  ! Newton's method converges; s changes by round-off only
        n = n + step(1)*u + step(2)*v
        n = n/norm2(n)
        level = separation(d, a, b, n)
        polished = polished + 1
        if (polished == polishing_steps) return
        cycle
      end if
      factor = min(1.0_dp, 0.7_dp/length)
      do halving = 1, 40
        trial = n + factor*(step(1)*u + step(2)*v)
        trial = trial/norm2(trial)
        higher = separation(d, a, b, trial)
        if (higher > level) exit
        factor = 0.5_dp*factor
      end do
      if (.not. higher > level) return
      n = trial
      level = higher
    end do
  end subroutine climb

  !> Newton's step for gradient (gu, gv) and Hessian h = (uu, uv, vv), with magnitudes of its eigenvalues.
  pure subroutine uphill(gu, gv, h, scale, step, concave)
    real(dp), intent(in) :: gu, gv, h(3), scale
    real(dp), intent(out) :: step(2)
    logical, intent(out) :: concave
    real(dp) :: mean, half, radius, low, high, axis(2), along, beside
    mean = 0.5_dp*(h(1) + h(3))
    half = 0.5_dp*(h(1) - h(3))
    radius = hypot(half, h(2))
    low = mean - radius
    high = mean + radius
    concave = high < 0
    axis = [1.0_dp, 0.0_dp]  ! of the eigenvalue `high`
    if (radius > 0) then
      axis = [h(2), radius - half]
      if (half > 0) axis = [radius + half, h(2)]
      axis = axis/norm2(axis)
    end if
    along = (axis(1)*gu + axis(2)*gv)/max(abs(high), 1.0e-12_dp*scale)
    beside = (axis(1)*gv - axis(2)*gu)/max(abs(low), 1.0e-12_dp*scale)
    step = [along*axis(1) - beside*axis(2), along*axis(2) + beside*axis(1)]
  end subroutine uphill

  !> Gradient of s and its Hessian (uu, uv, vv) on the sphere.
  pure subroutine derivatives(d, a, b, n, u, v, g, h)
    real(dp), intent(in) :: d(3), a(3, 3), b(3, 3), n(3), u(3), v(3)
    real(dp), intent(out) :: g(3), h(3)
    real(dp) :: level
    g = d
    h = 0
    call subtract(a, n, u, v, g, h)
    call subtract(b, n, u, v, g, h)
    level = dot_product(g, n)
    h(1) = h(1) - level
    h(3) = h(3) - level
  end subroutine derivatives

  !> Subtracts gradient and Hessian (uu, uv, vv) of sqrt(n.A n).
  pure subroutine subtract(a, n, u, v, g, h)
    real(dp), intent(in) :: a(3, 3), n(3), u(3), v(3)
    real(dp), intent(inout) :: g(3), h(3)
    real(dp) :: an(3), au(3), av(3), root, nu, nv
    an = matmul(a, n)
    root = sqrt(max(dot_product(n, an), 0.0_dp))
    if (.not. root > 0) return
    au = matmul(a, u)
    av = matmul(a, v)
    nu = dot_product(n, au)/root
    nv = dot_product(n, av)/root
    g = g - an/root
    h(1) = h(1) - (dot_product(u, au) - nu*nu)/root
    h(2) = h(2) - (dot_product(u, av) - nu*nv)/root
    h(3) = h(3) - (dot_product(v, av) - nv*nv)/root
  end subroutine subtract

  pure real(dp) function separation(d, a, b, n)
    real(dp), intent(in) :: d(3), a(3, 3), b(3, 3), n(3)
    separation = dot_product(n, d) - radius_along(a, n) - radius_along(b, n)
  end function separation

  !> Half the width along n of the ellipsoid with A = M M^T.
  pure real(dp) function radius_along(a, n)
    real(dp), intent(in) :: a(3, 3), n(3)
    radius_along = sqrt(max(dot_product(n, matmul(a, n)), 0.0_dp))
  end function radius_along

  !> The ellipsoid's furthest point along n, from its centre.
  pure function support(a, n) result(x)
    real(dp), intent(in) :: a(3, 3), n(3)
    real(dp) :: x(3), root
    x = matmul(a, n)
    root = sqrt(max(dot_product(n, x), 0.0_dp))
    if (root > 0) x = x/root
  end function support

  !> Two unit vectors orthogonal to n and to each other.
  pure subroutine tangents(n, u, v)
    real(dp), intent(in) :: n(3)
    real(dp), intent(out) :: u(3), v(3)
    u = [0.0_dp, -n(3), n(2)]
    if (abs(n(1)) > 0.8_dp) u = [n(3), 0.0_dp, -n(1)]
    u = u/norm2(u)
    v = cross(n, u)
  end subroutine tangents
end module ellipsoids
