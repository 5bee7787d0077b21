!> Integrals over the facets of the boundary of an intersection, eight facets at a time.
!>
!> Integrals are sums over the facets' sides, in any order, in projections along the largest components of normals.
module facets
  use kinds, only: dp, i4
  implicit none
  private
  public :: boundary, facet_batch, add_polygon, reserve_facets, empty_facets, add_facets, sum_facets

  integer(i4), parameter :: lanes = 8  !< facets handled together
  real(dp), parameter :: least_area = 1.0e-200_dp  !< of a facet; the centroid of a smaller one overflows
  ! Columns of sums over facets:
  integer(i4), parameter :: area = 1, moment = 2, volume = 5, volume_moment = 6, normal = 9, weight = 12, facet = 13

  !> Sums over the facets of the intersection's boundary.
  type :: boundary
    integer(i4) :: facets = 0         !< number of facets
    real(dp) :: area = 0              !< surface area
    real(dp) :: moment(3) = 0         !< sum of area times centroid
    real(dp) :: volume = 0            !< volume (meaningful for zero offset)
    real(dp) :: volume_moment(3) = 0  !< volume times centroid (meaningful for zero offset)
    real(dp) :: normal(3) = 0         !< sum of weight times outer normal, of the first body minus of the second
    real(dp) :: weight = 0            !< sum of the weights: mean over fans of squared triangle areas
    integer(i4) :: points = 0         !< number of facet corners kept in `clip_work%corner`
    logical :: complete = .true.      !< all corners of facets were kept
  end type boundary

  !> A batch of up to eight facets that are not summed yet, and sums over earlier facets.
  type :: facet_batch
    integer(i4) :: filled                   !< facets in the batch
    integer(i4) :: most                     !< largest number of their sides
    real(dp) :: count(lanes)                !< numbers of their sides
    real(dp) :: frame(lanes, 5)             !< normals' components u, v and w, distances of planes, signs in the normal sum
    real(dp) :: axis(lanes)                 !< 1, 2, 3: w is x, y, z; u and v follow it in turn
    real(dp), allocatable :: side(:, :, :)  !< (lanes, 4, sides) coordinates u and v of the start and of the end of sides
    real(dp) :: sums(lanes, facet)          !< over earlier facets, in lanes
  end type facet_batch

contains

  !> Adds one facet.  Its integrals use the projection along the largest component of the normal; its weight in
  !> the normal sum is the sum of squared triangle areas of a fan, averaged over the fans from all corners.
  pure subroutine add_polygon(count, p, plane, sign, sum)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: p(4, *), plane(4), sign
    type(boundary), intent(inout) :: sum
    integer(i4) :: k, u, v, w
    real(dp) :: a(2), b(2), t, total, moment(2), squares, area, weight, scale, cone
    real(dp) :: at_u, at_v, at_w  ! the centroid

    w = merge(2, 1, abs(plane(2)) > abs(plane(1)))
    w = merge(3, w, abs(plane(3)) > abs(plane(w)))
    u = merge(w + 1, 1, w < 3)
    v = merge(u + 1, 1, u < 3)
    total = 0
    moment = 0
    squares = 0
    a = [p(u, 1) - p(u, count), p(v, 1) - p(v, count)]
    do k = 2, count - 1  ! the fan from the last corner; t: twice the area of a triangle
      b = [p(u, k) - p(u, count), p(v, k) - p(v, count)]
      t = a(1)*b(2) - a(2)*b(1)
      total = total + t
      moment = moment + t*(a + b)
      squares = squares + t*t
      a = b
    end do
    scale = 1/plane(w)
    area = 0.5_dp*total*scale
    if (.not. area > 0) return
    if (count == 4) then  ! two fans in all
      squares = 0.5_dp*(squares + twice_area(p(:, 1), p(:, 2), p(:, 3), u, v)**2 &
                        + twice_area(p(:, 3), p(:, 4), p(:, 1), u, v)**2)
    else if (count > 4) then
      squares = mean_over_fans(count, p, u, v)
    end if
    t = 1/(3*total)
    at_u = p(u, count) + moment(1)*t
    at_v = p(v, count) + moment(2)*t
    at_w = (plane(4) - plane(u)*at_u - plane(v)*at_v)*scale
    weight = 0.25_dp*scale*scale*squares

    sum%facets = sum%facets + 1
    sum%area = sum%area + area
    sum%moment(u) = sum%moment(u) + area*at_u
    sum%moment(v) = sum%moment(v) + area*at_v
    sum%moment(w) = sum%moment(w) + area*at_w
    sum%normal = sum%normal + sign*weight*plane(1:3)
    sum%weight = sum%weight + abs(sign)*weight
    sum%volume = sum%volume + area*plane(4)/3
    cone = 0.25_dp*area*plane(4)  ! a cone's centroid is at 3/4 of its height
    sum%volume_moment(u) = sum%volume_moment(u) + cone*at_u
    sum%volume_moment(v) = sum%volume_moment(v) + cone*at_v
    sum%volume_moment(w) = sum%volume_moment(w) + cone*at_w
  end subroutine add_polygon

  pure real(dp) function twice_area(a, b, c, u, v)
    real(dp), intent(in) :: a(4), b(4), c(4)
    integer(i4), intent(in) :: u, v  !< the two coordinates of the projection
    twice_area = (b(u) - a(u))*(c(v) - a(v)) - (c(u) - a(u))*(b(v) - a(v))
  end function twice_area

  !> Sum over a fan of the squared double areas of triangles, averaged over the fans from all corners.  Sums over
  !> corners and edges alone would be faster for many corners, but cancel for slivers.
  pure real(dp) function mean_over_fans(count, p, u, v) result(mean)
    integer(i4), intent(in) :: count, u, v
    real(dp), intent(in) :: p(4, *)
    integer(i4) :: first, i, k
    real(dp) :: a(2), b(2), x(lanes), y(lanes), counts(lanes), squares(lanes)
    squares = 0
    do first = 0, count - 1, lanes  ! apexes of the fans
      do k = 1, lanes
        x(k) = p(u, first + k)
        y(k) = p(v, first + k)
        counts(k) = merge(1.0_dp, 0.0_dp, first + k <= count)
      end do
      a = [p(u, count), p(v, count)]
      do i = 1, count
        b = [p(u, i), p(v, i)]
        do k = 1, lanes  ! triangles with the apex on the edge a-b vanish
          squares(k) = squares(k) + counts(k)*((a(1) - x(k))*(b(2) - y(k)) - (b(1) - x(k))*(a(2) - y(k)))**2
        end do
        a = b
      end do
    end do
    mean = sum(squares)/count
  end function mean_over_fans

  !> Makes room for facets of up to `sides` sides.
  subroutine reserve_facets(batch, sides)
    type(facet_batch), intent(inout) :: batch
    integer(i4), intent(in) :: sides
    allocate (batch%side(lanes, 4, sides), source=0.0_dp)  ! unused lanes must hold finite numbers
    batch%frame = 1
    batch%axis = 1
  end subroutine reserve_facets

  pure subroutine empty_facets(batch)
    type(facet_batch), intent(inout) :: batch
    batch%filled = 0
    batch%sums = 0
  end subroutine empty_facets

  !> Adds the listed facets of one body's faces.
  pure subroutine add_facets(batch, listed, list, outer, plane, direction, most, count, ends, points)
    type(facet_batch), intent(inout) :: batch
    integer(i4), intent(in) :: listed, list(listed), outer, most
    real(dp), intent(in) :: plane(4, *), direction        !< of faces; 1 for the first body, -1 for the second
    integer(i4), intent(in) :: count(*), ends(2, 0:most - 1, *) !< of faces: numbers of sides, first and last points of sides
    real(dp), intent(in) :: points(4, *)
    integer(i4) :: i, face, u, v
    do i = 1, listed
      face = list(i)
      call set_plane(batch, count(face), plane(:, face), merge(direction, 0.0_dp, face <= outer), u, v)
      call set_listed_sides(batch%filled, count(face), ends(:, :, face), points, u, v, batch%side)
      if (batch%filled == lanes) call integrate_batch(batch)
    end do
  end subroutine add_facets

  pure subroutine set_listed_sides(lane, count, ends, points, u, v, side)
    integer(i4), intent(in) :: lane, count, ends(2, count), u, v
    real(dp), intent(in) :: points(4, *)
    real(dp), intent(inout) :: side(lanes, 4, count)
    integer(i4) :: k
    !GCC$ unroll 1
    do k = 1, count
      side(lane, 1, k) = points(u, ends(1, k))
      side(lane, 2, k) = points(v, ends(1, k))
      side(lane, 3, k) = points(u, ends(2, k))
      side(lane, 4, k) = points(v, ends(2, k))
    end do
  end subroutine set_listed_sides

  !> Takes the next lane for a facet; u and v are the coordinates of its projection.
  pure subroutine set_plane(batch, count, plane, sign, u, v)
    type(facet_batch), intent(inout) :: batch
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: plane(4), sign
    integer(i4), intent(out) :: u, v
    integer(i4) :: w, lane, is_y, is_z
    is_y = merge(1, 0, abs(plane(2)) > abs(plane(1)))
    is_z = merge(1, 0, abs(plane(3)) > max(abs(plane(1)), abs(plane(2))))
    w = 1 + is_y + is_z*(2 - is_y)
    u = iand(shiftr(9, 2*w - 2), 3) + 1
    v = iand(shiftr(18, 2*w - 2), 3) + 1
    lane = batch%filled + 1
    batch%filled = lane
    batch%most = max(count, merge(batch%most, 0, lane > 1))
    batch%count(lane) = count
    batch%frame(lane, 1) = plane(u)
    batch%frame(lane, 2) = plane(v)
    batch%frame(lane, 3) = plane(w)
    batch%frame(lane, 4) = plane(4)
    batch%frame(lane, 5) = sign
    batch%axis(lane) = w
  end subroutine set_plane

  !> Sums over all facets.
  pure subroutine sum_facets(batch, sum)
    type(facet_batch), intent(inout) :: batch
    type(boundary), intent(inout) :: sum
    real(dp) :: x(4, facet)
    if (batch%filled > 0) call integrate_batch(batch)
    x = batch%sums(1:4, :) + batch%sums(5:8, :)
    x(1, :) = (x(1, :) + x(3, :)) + (x(2, :) + x(4, :))
    sum%area = x(1, area)
    sum%moment = x(1, moment:moment + 2)
    sum%volume = x(1, volume)/3  ! cones from the centre
    sum%volume_moment = 0.25_dp*x(1, volume_moment:volume_moment + 2)  ! centroids of cones are at 3/4 of their heights
    sum%normal = x(1, normal:normal + 2)
    sum%weight = x(1, weight)
    sum%facets = nint(x(1, facet), i4)
  end subroutine sum_facets

  !> Adds the facets of the batch to the sums.
  pure subroutine integrate_batch(batch)
    type(facet_batch), intent(inout) :: batch
    batch%count(batch%filled + 1:) = 0
    batch%frame(batch%filled + 1:, 3) = 1
    call integrate(batch%most, batch%count, batch%side, batch%frame, batch%axis, batch%sums)
    batch%filled = 0
  end subroutine integrate_batch

  !> A facet's weight in the normal sum is the sum of squared triangle areas of a fan, averaged over the fans from all
  !> corners p.  With p, and the ends of sides, relative to the corners' mean, a triangle's double area is c - p x e, of a
  !> side with c = a x b and e = b - a, and its mean square c^2 + (e_x^2 S_yy - 2 e_x e_y S_xy + e_y^2 S_xx)/n with second
  !> moments S of the corners.  In a frame that is sheared so that S_xy = 0, which changes no area, all terms are positive:
  !> nothing cancels, not even in slivers.
  pure subroutine integrate(most, count, side, frame, axis, sums)
    integer(i4), intent(in) :: most
    real(dp), intent(in) :: count(lanes), side(lanes, 4, most), frame(lanes, 5), axis(lanes)
    real(dp), intent(inout) :: sums(lanes, facet)
    real(dp), dimension(lanes) :: total, first, second, squares, mean_u, mean_v, moment_uu, shear, moment_vv, side_uu, side_vv
    real(dp) :: nu, nv, nw, twice, sides, is_x, is_y, is_z, scale, piece, is_facet, u, v, w, x, y, z, mass, turn, counts
    real(dp) :: a_u, a_v, b_u, b_v, t
    integer(i4) :: k, i
    call find_shear(most, count, side, mean_u, mean_v, moment_uu, shear)
    total = 0
    first = 0
    second = 0
    squares = 0
    moment_vv = 0
    side_uu = 0
    side_vv = 0
    !GCC$ unroll 1
    do i = 1, most  ! t: twice the area of the triangle from the corners' mean
      turn = i
      !$omp simd private(counts, a_u, a_v, b_u, b_v, t)
      do k = 1, lanes
        counts = merge(1.0_dp, 0.0_dp, count(k) >= turn)
        a_u = counts*(side(k, 1, i) - mean_u(k))
        b_u = counts*(side(k, 3, i) - mean_u(k))
        a_v = counts*(side(k, 2, i) - mean_v(k)) - shear(k)*a_u
        b_v = counts*(side(k, 4, i) - mean_v(k)) - shear(k)*b_u
        t = a_u*b_v - b_u*a_v
        total(k) = total(k) + t
        squares(k) = squares(k) + t*t
        moment_vv(k) = moment_vv(k) + a_v*a_v
        side_uu(k) = side_uu(k) + (b_u - a_u)*(b_u - a_u)
        side_vv(k) = side_vv(k) + (b_v - a_v)*(b_v - a_v)
        first(k) = first(k) + t*(a_u + b_u)
        second(k) = second(k) + t*(a_v + b_v)
      end do
    end do
    !$omp simd private(nu, nv, nw, twice, sides, is_x, is_y, is_z, scale, piece, is_facet, u, v, w, x, y, z, mass)
    do k = 1, lanes
      nu = frame(k, 1)
      nv = frame(k, 2)
      nw = frame(k, 3)
      twice = total(k)
      sides = count(k)
      is_y = merge(1.0_dp, 0.0_dp, axis(k) == 2)
      is_z = merge(1.0_dp, 0.0_dp, axis(k) == 3)
      is_x = 1 - is_y - is_z
      scale = 1/nw
      piece = 0.5_dp*twice*scale
      is_facet = merge(1.0_dp, 0.0_dp, piece > least_area)*merge(1.0_dp, 0.0_dp, sides > 0)
      piece = is_facet*piece
      twice = is_facet/(3*twice*is_facet + (1 - is_facet))
      u = mean_u(k) + first(k)*twice
      v = mean_v(k) + (second(k) + shear(k)*first(k))*twice
      w = (frame(k, 4) - nu*u - nv*v)*scale
      x = is_x*w + is_y*v + is_z*u
      y = is_x*u + is_y*w + is_z*v
      z = is_x*v + is_y*u + is_z*w
      mass = is_facet*0.25_dp*scale*scale*(squares(k) + (side_uu(k)*moment_vv(k) + side_vv(k)*moment_uu(k)) &
                                           /(sides + merge(1.0_dp, 0.0_dp, sides == 0)))
      sums(k, facet) = sums(k, facet) + is_facet
      sums(k, area) = sums(k, area) + piece
      sums(k, weight) = sums(k, weight) + abs(frame(k, 5))*mass
      sums(k, moment) = sums(k, moment) + piece*x
      sums(k, moment + 1) = sums(k, moment + 1) + piece*y
      sums(k, moment + 2) = sums(k, moment + 2) + piece*z
      piece = piece*frame(k, 4)
      sums(k, volume) = sums(k, volume) + piece
      sums(k, volume_moment) = sums(k, volume_moment) + piece*x
      sums(k, volume_moment + 1) = sums(k, volume_moment + 1) + piece*y
      sums(k, volume_moment + 2) = sums(k, volume_moment + 2) + piece*z
      mass = frame(k, 5)*mass
      sums(k, normal) = sums(k, normal) + mass*(is_x*nw + is_y*nv + is_z*nu)
      sums(k, normal + 1) = sums(k, normal + 1) + mass*(is_x*nu + is_y*nw + is_z*nv)
      sums(k, normal + 2) = sums(k, normal + 2) + mass*(is_x*nv + is_y*nu + is_z*nw)
    end do
  end subroutine integrate

  !> The mean of the corners, their second moment S_uu about it and the shear S_uv/S_uu.
  pure subroutine find_shear(most, count, side, mean_u, mean_v, moment_uu, shear)
    integer(i4), intent(in) :: most
    real(dp), intent(in) :: count(lanes), side(lanes, 4, most)
    real(dp), dimension(lanes), intent(out) :: mean_u, mean_v, moment_uu, shear
    real(dp), parameter :: least = 1.0e-290_dp  !< no moment is smaller
    real(dp) :: moment_uv(lanes), turn, counts, a_u
    integer(i4) :: k, i
    mean_u = 0
    mean_v = 0
    !GCC$ unroll 1
    do i = 2, most
      turn = i
      !$omp simd private(counts)
      do k = 1, lanes
        counts = merge(1.0_dp, 0.0_dp, count(k) >= turn)
        mean_u(k) = mean_u(k) + counts*(side(k, 1, i) - side(k, 1, 1))
        mean_v(k) = mean_v(k) + counts*(side(k, 2, i) - side(k, 2, 1))
      end do
    end do
    !$omp simd private(counts)
    do k = 1, lanes
      counts = max(count(k), 1.0_dp)
      mean_u(k) = side(k, 1, 1) + mean_u(k)/counts
      mean_v(k) = side(k, 2, 1) + mean_v(k)/counts
      moment_uu(k) = least
      moment_uv(k) = 0
    end do
    !GCC$ unroll 1
    do i = 1, most
      turn = i
      !$omp simd private(counts, a_u)
      do k = 1, lanes
        counts = merge(1.0_dp, 0.0_dp, count(k) >= turn)
        a_u = counts*(side(k, 1, i) - mean_u(k))
        moment_uu(k) = moment_uu(k) + a_u*a_u
        moment_uv(k) = moment_uv(k) + a_u*(side(k, 2, i) - mean_v(k))
      end do
    end do
    shear = moment_uv/moment_uu
  end subroutine find_shear
end module facets
