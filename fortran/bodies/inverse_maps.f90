!> Natural coordinates of points in elements, also in strongly distorted ones.
!>
!> Newton's method finds them in sound elements.  If the determinant of the map is not positive at a corner, where no integration
!> point detects it, the map is not one to one: Newton's method may find no place, or one far outside.  Then the
!> coordinates are those of the element's place nearest to the point.
module inverse_maps
  use kinds, only: dp
  use matrix3, only: determinant, inverse, multiply
  use element_shapes, only: shape_values, shape_derivatives, node_coordinates, intervals, excess, from_cube, cube_derivatives
  implicit none
  private
  public :: natural_coordinates

  real(dp), parameter :: accuracy = 1e-9_dp       !< of natural coordinates
  real(dp), parameter :: settled = 1e-12_dp       !< size of increments that are round-off
  integer, parameter :: most = 64                 !< passes of Newton's method
  integer, parameter :: most_damped = 200         !< of the search for the nearest place

contains

  !> Natural coordinates of a point, clamped to each coordinate's interval; `found` is false only if numbers are not finite.
  pure subroutine natural_coordinates(size, nodes, point, natural, found)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8), point(3)
    real(dp), intent(out) :: natural(3)
    logical, intent(out) :: found
    real(dp) :: free(3)

    call newton(size, nodes, point, free, found)
    natural = clamped(size, free)
    if (found) then
      if (inside(size, free)) return
      if (.not. corner_inside_out(size, nodes)) return
    end if
    natural = nearest_place(size, nodes, point)
    found = distance(size, nodes, point, natural) <= huge(1.0_dp)
  end subroutine natural_coordinates

  !> Runs Newton's method from the centre.
  pure subroutine newton(size, nodes, point, natural, converged)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8), point(3)
    real(dp), intent(out) :: natural(3)
    logical, intent(out) :: converged
    real(dp) :: map(3,3), increment(3), rest(3)
    integer :: iteration

    natural = 0
    converged = .false.
    do iteration = 1, most
      call linearise(size, nodes, point, natural, map, rest)
      if (.not. abs(determinant(map)) > 0) exit
      increment = multiply(inverse(map), rest)
      natural = natural + increment
      ! the pyramid's functions are singular beyond the apex
      if (size == 5) natural(3) = min(natural(3), 1.0_dp)
      if (.not. sum(abs(natural)) < 1e6_dp) exit
      ! convergence is quadratic: one more pass after a small increment reduces the rest to round-off
      converged = converged .or. all(abs(increment) <= settled)
      if (converged) return
      converged = all(abs(increment) <= accuracy)
    end do
    converged = .false.
  end subroutine newton

  !> Derivatives (3,3) of the place with respect to natural coordinates, and the vector from the place to the point.
  pure subroutine linearise(size, nodes, point, natural, map, rest)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8), point(3), natural(3)
    real(dp), intent(out) :: map(3,3), rest(3)
    real(dp) :: d(3,8), n(8)
    integer :: a, j

    n = shape_values(size, natural)
    d = shape_derivatives(size, natural)
    map = 0
    rest = point
    do a = 1, size
      do j = 1, 3
        map(:,j) = map(:,j) + nodes(:,a)*d(j,a)
      end do
      rest = rest - nodes(:,a)*n(a)
    end do
  end subroutine linearise

  pure function clamped(size, natural) result(within)
    integer, intent(in) :: size
    real(dp), intent(in) :: natural(3)
    real(dp) :: within(3), low(3), high(3)

    call intervals(size, low, high)
    within = min(max(natural, low), high)
  end function clamped

  !> Whether natural coordinates are within the element, to their accuracy.
  pure logical function inside(size, natural)
    integer, intent(in) :: size
    real(dp), intent(in) :: natural(3)

    inside = maxval(abs(clamped(size, natural) - natural)) <= accuracy .and. excess(size, natural) <= accuracy
  end function inside

  !> Whether the map has no positive determinant at a node.
  pure logical function corner_inside_out(size, nodes)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8)
    real(dp) :: places(3,8), map(3,3), rest(3)
    integer :: a

    places = node_coordinates(size)
    corner_inside_out = .false.
    do a = 1, size
      call linearise(size, nodes, nodes(:,1), places(:,a), map, rest)
      corner_inside_out = corner_inside_out .or. .not. determinant(map) > 0
    end do
  end function corner_inside_out

  pure real(dp) function distance(size, nodes, point, natural)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8), point(3), natural(3)
    real(dp) :: map(3,3), rest(3)

    call linearise(size, nodes, point, natural, map, rest)
    distance = norm2(rest)
  end function distance

  !> The element's place nearest to a point: the best result of damped searches that start at the nearest node, and at those places of a grid
  !> over the element that are nearer than their neighbours.
  pure function nearest_place(size, nodes, point) result(best)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8), point(3)
    real(dp) :: best(3)
    integer, parameter :: grid = 4
    real(dp) :: away(0:grid+1,0:grid+1,0:grid+1), cube(3), least, near
    integer :: i, j, k

    away = huge(least)
    do k = 1, grid
      do j = 1, grid
        do i = 1, grid
          away(i,j,k) = distance(size, nodes, point, from_cube(size, middle([i, j, k])))
        end do
      end do
    end do
    best = from_cube(size, [0.5_dp, 0.5_dp, 0.5_dp])
    least = huge(least)
    do k = 1, grid
      do j = 1, grid
        do i = 1, grid
          near = min(away(i-1,j,k), away(i+1,j,k), away(i,j-1,k), away(i,j+1,k), away(i,j,k-1), away(i,j,k+1))
          if (.not. away(i,j,k) <= near) cycle
          cube = middle([i, j, k])
          call improve(size, nodes, point, cube, best, least)
        end do
      end do
    end do
    ! a node that was pressed into the element may lie where no place of the grid leads
    call improve(size, nodes, point, corner_nearest_to(size, nodes, point), best, least)

  contains

    pure function middle(cell) result(cube)
      integer, intent(in) :: cell(3)
      real(dp) :: cube(3)
      cube = (cell - 0.5_dp)/grid
    end function middle
  end function nearest_place

  !> Replaces the best place, and its distance, by what a search from a place of the unit cube finds, if this is nearer.
  pure subroutine improve(size, nodes, point, start, best, least)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8), point(3), start(3)
    real(dp), intent(inout) :: best(3), least
    real(dp) :: cube(3), reached

    cube = start
    call search(size, nodes, point, cube, reached)
    if (.not. reached < least) return
    least = reached
    best = from_cube(size, cube)
  end subroutine improve

  !> The corner of the unit cube whose place in the element is nearest to a point.
  pure function corner_nearest_to(size, nodes, point) result(cube)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8), point(3)
    real(dp) :: cube(3), tried(3), least, away
    integer :: corner

    least = huge(least)
    cube = 0
    do corner = 0, 7
      tried = real([ibits(corner, 0, 1), ibits(corner, 1, 1), ibits(corner, 2, 1)], dp)
      away = distance(size, nodes, point, from_cube(size, tried))
      if (.not. away < least) cycle
      least = away
      cube = tried
    end do
  end function corner_nearest_to

  !> Reduces the distance by steps of Levenberg and Marquardt within the unit cube.
  pure subroutine search(size, nodes, point, cube, least)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8), point(3)
    real(dp), intent(inout) :: cube(3)
    real(dp), intent(out) :: least
    real(dp), parameter :: first_damping = 1e-3_dp, most_damping = 1e10_dp, least_damping = 1e-12_dp
    real(dp) :: map(3,3), rest(3), normal(3,3), gradient(3), tried(3), damping, scale, away
    integer :: pass, i

    damping = first_damping
    call linearise(size, nodes, point, from_cube(size, cube), map, rest)
    least = norm2(rest)
    do pass = 1, most_damped
      map = matmul(map, cube_derivatives(size, cube))
      do
        gradient = matmul(rest, map)
        normal = matmul(transpose(map), map)
        scale = (normal(1,1) + normal(2,2) + normal(3,3))/3
        if (.not. scale > 0) return
        do i = 1, 3
          normal(i,i) = normal(i,i) + damping*scale
          ! a coordinate at its bound stays there if the point lies beyond
          if ((cube(i) >= 1 .and. gradient(i) > 0) .or. (cube(i) <= 0 .and. gradient(i) < 0)) then
            normal(:,i) = 0
            normal(i,:) = 0
            normal(i,i) = scale
            gradient(i) = 0
          end if
        end do
        tried = min(max(cube + multiply(inverse(normal), gradient), 0.0_dp), 1.0_dp)
        away = distance(size, nodes, point, from_cube(size, tried))
        if (away < least) exit
        damping = damping*10
        if (damping > most_damping) return
      end do
      cube = tried
      call linearise(size, nodes, point, from_cube(size, cube), map, rest)
      least = norm2(rest)
      damping = max(damping/10, least_damping)
    end do
  end subroutine search

end module inverse_maps
