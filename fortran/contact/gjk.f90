!> Closest points of two convex polyhedra: the iteration of Gilbert, Johnson and Keerthi (IEEE J. Robot. Autom. 4,
!> 1988) on the set of differences, with a sub-algorithm on signed volumes instead of Johnson's cofactors.
module gjk
  use kinds, only: dp, i4
  implicit none
  private
  public :: closest_points

  integer(i4), parameter :: lanes = 8
  integer(i4), parameter :: max_iterations = 200

  !> Up to four differences; the current iterate is the point of their hull closest to the origin.
  type :: simplex
    integer(i4) :: n
    integer(i4) :: a(4), b(4)  !< vertex numbers
    real(dp) :: w(3, 4)        !< differences
    real(dp) :: lambda(4)      !< barycentric coordinates of the closest point
    real(dp) :: v(3)           !< the closest point
    real(dp) :: vv             !< its squared norm
  end type simplex

contains

  !> Computes distance and closest points of the hulls of `xa` and of `xb` + `shift`.
  !>
  !> Vertices are structures of arrays with `padded_*` rows, a multiple of eight, in which the last vertex is repeated.  `start` is a
  !> direction from the first to the second hull, or zero if none is known.  `size` is the pair's size; distances
  !> below its round-off count as zero.  `failed` if the iteration did not end; the points are then the best found.
  pure subroutine closest_points(padded_a, stride_a, xa, padded_b, stride_b, xb, shift, start, size, distance, pa, pb, &
                                 failed)
    integer(i4), intent(in) :: padded_a, stride_a, padded_b, stride_b
    real(dp), intent(in) :: xa(stride_a, 3), xb(stride_b, 3)
    real(dp), intent(in) :: shift(3), start(3), size
    real(dp), intent(out) :: distance, pa(3), pb(3)
    logical, intent(out) :: failed
    type(simplex) :: record(2)  ! the iterate and its successor take turns
    real(dp) :: direction(3), w(3), vw
    integer(i4) :: iteration, a, b, k, now, next

    direction = start
    if (dot_product(start, start) <= 0) direction = [1.0_dp, 0.0_dp, 0.0_dp]
    a = furthest(padded_a, stride_a, xa, direction)
    b = furthest(padded_b, stride_b, xb, -direction)
    now = 1
    record(1)%n = 1
    record(1)%a(1) = a
    record(1)%b(1) = b
    record(1)%w(:, 1) = xb(b, :) + shift - xa(a, :)
    record(1)%lambda(1) = 1
    record(1)%v = record(1)%w(:, 1)
    record(1)%vv = dot_product(record(1)%v, record(1)%v)

    failed = .true.
    iterate: do iteration = 1, max_iterations
      next = 3 - now
      if (record(now)%vv <= (1.0e-15_dp*size)**2) then
        failed = .false.
        exit
      end if
      direction = record(now)%v
      a = furthest(padded_a, stride_a, xa, direction)
      b = furthest(padded_b, stride_b, xb, -direction)
      w = xb(b, :) + shift - xa(a, :)
      vw = dot_product(direction, w)
      if (record(now)%vv - vw <= 1.0e-15_dp*record(now)%vv) failed = .false.
      do k = 1, record(now)%n
        if (record(now)%a(k) == a .and. record(now)%b(k) == b) failed = .false.
      end do
      if (.not. failed) exit iterate
      k = record(now)%n + 1  ! at most the fourth place: a simplex of four ends the iteration
      record(now)%a(k) = a
      record(now)%b(k) = b
      record(now)%w(:, k) = w
      call reduce(record(now), k, record(next))
      if (record(next)%n == 4) then  ! the origin is inside
        now = next
        failed = .false.
        exit
      end if
      if (record(next)%vv >= record(now)%vv) then  ! round-off: the iterate cannot be improved
        failed = .false.
        exit
      end if
      now = next
    end do iterate

    distance = sqrt(record(now)%vv)
    pa = 0
    pb = shift
    do k = 1, record(now)%n
      pa = pa + record(now)%lambda(k)*xa(record(now)%a(k), :)
      pb = pb + record(now)%lambda(k)*xb(record(now)%b(k), :)
    end do
  end subroutine closest_points

  !> Number of the vertex furthest along a direction; the first of equals in each lane.
  pure integer(i4) function furthest(padded, stride, x, direction)
    integer(i4), intent(in) :: padded, stride
    real(dp), intent(in) :: x(stride, 3), direction(3)
    real(dp) :: best(lanes), value(lanes)
    integer(i4) :: number(lanes), k, first
    do k = 1, lanes
      best(k) = direction(1)*x(k, 1) + direction(2)*x(k, 2) + direction(3)*x(k, 3)
      number(k) = k
    end do
    do first = lanes, padded - 1, lanes
      do k = 1, lanes
        value(k) = direction(1)*x(first + k, 1) + direction(2)*x(first + k, 2) + direction(3)*x(first + k, 3)
        number(k) = merge(first + k, number(k), value(k) > best(k))
        best(k) = max(best(k), value(k))
      end do
    end do
    do k = 1, 4
      number(k) = merge(number(k + 4), number(k), best(k + 4) > best(k))
      best(k) = max(best(k), best(k + 4))
    end do
    do k = 1, 2
      number(k) = merge(number(k + 2), number(k), best(k + 2) > best(k))
      best(k) = max(best(k), best(k + 2))
    end do
    furthest = merge(number(2), number(1), best(2) > best(1))
  end function furthest

  !> Finds the point of the hull of the first `n` differences of `s` closest to the origin; `best` gets the differences that
  !> span it.  All four remain if the origin is inside.
  pure subroutine reduce(s, n, best)
    type(simplex), intent(in) :: s
    integer(i4), intent(in) :: n
    type(simplex), intent(inout) :: best
    best%vv = huge(best%vv)
    best%n = 0
    select case (n)
    case (2)
      call try_segment(s, 1, 2, best)
    case (3)
      call try_triangle(s, 1, 2, 3, best)
    case default
      call try_tetrahedron(s, best)
    end select
  end subroutine reduce

  pure subroutine try_segment(s, i, j, best)
    type(simplex), intent(in) :: s
    integer(i4), intent(in) :: i, j
    type(simplex), intent(inout) :: best
    real(dp) :: e(3), ee, t, v(3), vv
    e = s%w(:, j) - s%w(:, i)
    ee = dot_product(e, e)
    t = -dot_product(s%w(:, i), e)
    if (t <= 0 .or. ee <= 0) then
      call keep_vertex(s, i, best)
    else if (t >= ee) then
      call keep_vertex(s, j, best)
    else
      t = t/ee
      v = s%w(:, i) + t*e
      vv = dot_product(v, v)
      if (vv >= best%vv) return
      best%n = 2
      best%a(1:2) = [s%a(i), s%a(j)]
      best%b(1:2) = [s%b(i), s%b(j)]
      best%w(:, 1) = s%w(:, i)
      best%w(:, 2) = s%w(:, j)
      best%lambda(1:2) = [1 - t, t]
      best%v = v
      best%vv = vv
    end if
  end subroutine try_segment

  pure subroutine keep_vertex(s, i, best)
    type(simplex), intent(in) :: s
    integer(i4), intent(in) :: i
    type(simplex), intent(inout) :: best
    real(dp) :: vv
    vv = dot_product(s%w(:, i), s%w(:, i))
    if (vv >= best%vv) return
    best%n = 1
    best%a(1) = s%a(i)
    best%b(1) = s%b(i)
    best%w(:, 1) = s%w(:, i)
    best%lambda(1) = 1
    best%v = s%w(:, i)
    best%vv = vv
  end subroutine keep_vertex

  pure subroutine try_triangle(s, i, j, k, best)
    type(simplex), intent(in) :: s
    integer(i4), intent(in) :: i, j, k
    type(simplex), intent(inout) :: best
    real(dp) :: ij(3), jk(3), ki(3), n(3), nn, share(3), total, height, v(3), vv
    ij = s%w(:, j) - s%w(:, i)
    jk = s%w(:, k) - s%w(:, j)
    ki = s%w(:, i) - s%w(:, k)
    n = cross(jk, ki)
    nn = dot_product(n, n)
    if (nn <= 1.0e-30_dp*(dot_product(ij, ij) + dot_product(ki, ki))**2) then  ! a line
      call try_segment(s, i, j, best)
      call try_segment(s, j, k, best)
      call try_segment(s, k, i, best)
      return
    end if
    share(1) = dot_product(n, cross(s%w(:, j), jk))
    share(2) = dot_product(n, cross(s%w(:, k), ki))
    share(3) = dot_product(n, cross(s%w(:, i), ij))
    if (all(share > 0)) then
      total = sum(share)
      height = dot_product(n, s%w(:, i))/nn
      v = height*n
      vv = height*height*nn
      if (vv >= best%vv) return
      best%n = 3
      best%a(1:3) = [s%a(i), s%a(j), s%a(k)]
      best%b(1:3) = [s%b(i), s%b(j), s%b(k)]
      best%w(:, 1) = s%w(:, i)
      best%w(:, 2) = s%w(:, j)
      best%w(:, 3) = s%w(:, k)
      best%lambda(1:3) = share/total
      best%v = v
      best%vv = vv
    else
      if (share(1) <= 0) call try_segment(s, j, k, best)
      if (share(2) <= 0) call try_segment(s, k, i, best)
      if (share(3) <= 0) call try_segment(s, i, j, best)
    end if
  end subroutine try_triangle

  pure subroutine try_tetrahedron(s, best)
    type(simplex), intent(in) :: s
    type(simplex), intent(inout) :: best
    integer(i4), parameter :: face(3, 4) = reshape([2, 3, 4, 1, 3, 4, 1, 2, 4, 1, 2, 3], [3, 4])
    real(dp) :: n(3), origin, apex, lambda(4), reach
    logical :: inside
    integer(i4) :: f
    inside = .true.
    do f = 1, 4
      associate (i => face(1, f), j => face(2, f), k => face(3, f))
        n = cross(s%w(:, j) - s%w(:, i), s%w(:, k) - s%w(:, i))
        origin = -dot_product(n, s%w(:, i))
        apex = dot_product(n, s%w(:, f) - s%w(:, i))
        reach = dot_product(s%w(:, f) - s%w(:, i), s%w(:, f) - s%w(:, i))*dot_product(n, n)
        if (origin*apex < 0 .or. apex*apex <= 1.0e-30_dp*reach) then
          inside = .false.
          call try_triangle(s, i, j, k, best)
        else
          lambda(f) = origin/apex
        end if
      end associate
    end do
    if (.not. inside) return
    best = s
    best%n = 4
    best%lambda = lambda/sum(lambda)
    best%v = 0
    best%vv = 0
  end subroutine try_tetrahedron

  !> a x b, as in `matrix3`: calls into another file would slow detection of overlapping boxes by 4 %.
  pure function cross(a, b) result(c)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: c(3)
    c = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function cross
end module gjk
