!> Shape functions, quadrature and natural coordinates of the four first-order elements (docs/theory.md, Finite elements).
!>
!> An element is identified by its number of nodes: 4 tetrahedron, 5 pyramid, 6 wedge, 8 hexahedron.  Nodes: tetrahedron
!> (0,0,0), (1,0,0), (0,1,0), (0,0,1); pyramid base (1,1), (-1,1), (-1,-1), (1,-1) at height 0, apex at height 1; wedge
!> triangle (0,0), (1,0), (0,1) at height -1, then at 1; hexahedron (-,-), (+,-), (+,+), (-,+) at height -1, then at 1.
module element_shapes
  use kinds, only: dp
  use matrix3, only: determinant, inverse
  implicit none
  private
  public :: shape_values, shape_derivatives, quadrature, reference_gradients, &
            node_coordinates, intervals, excess, from_cube, cube_derivatives

  !> Corner signs of the hexahedron.
  real(dp), parameter :: corner(3,8) = reshape([-1.0_dp, -1.0_dp, -1.0_dp, 1.0_dp, -1.0_dp, -1.0_dp, 1.0_dp, 1.0_dp, -1.0_dp, &
    -1.0_dp, 1.0_dp, -1.0_dp, -1.0_dp, -1.0_dp, 1.0_dp, 1.0_dp, -1.0_dp, 1.0_dp, 1.0_dp, 1.0_dp, 1.0_dp, -1.0_dp, 1.0_dp, 1.0_dp], &
    [3, 8])
  !> Base corner signs of the pyramid.
  real(dp), parameter :: base(2,4) = reshape([1.0_dp, 1.0_dp, -1.0_dp, 1.0_dp, -1.0_dp, -1.0_dp, 1.0_dp, -1.0_dp], [2, 4])
  !> Distance from the apex below which the rational term of the pyramid is replaced by its limit.
  real(dp), parameter :: apex = 1e-12_dp

contains

  !> N_a at natural coordinates; those beyond the element's nodes are zero.
  pure function shape_values(size, natural) result(n)
    integer, intent(in) :: size
    real(dp), intent(in) :: natural(3)
    real(dp) :: n(8)
    real(dp) :: ratio
    integer :: a

    n = 0
    associate (x => natural(1), y => natural(2), z => natural(3))
      select case (size)
      case (4)
        n(1:4) = [1 - x - y - z, x, y, z]
      case (5)
        ratio = 0
        if (1 - z > apex) ratio = x*y*z/(1 - z)
        do a = 1, 4
          n(a) = ((1 + base(1,a)*x)*(1 + base(2,a)*y) - z + base(1,a)*base(2,a)*ratio)/4
        end do
        n(5) = z
      case (6)
        n(1:3) = [1 - x - y, x, y]*(1 - z)/2
        n(4:6) = [1 - x - y, x, y]*(1 + z)/2
      case (8)
        do a = 1, 8
          n(a) = (1 + corner(1,a)*x)*(1 + corner(2,a)*y)*(1 + corner(3,a)*z)/8
        end do
      end select
    end associate
  end function shape_values

  !> Derivatives (3,8) of N_a with respect to the natural coordinates.
  pure function shape_derivatives(size, natural) result(d)
    integer, intent(in) :: size
    real(dp), intent(in) :: natural(3)
    real(dp) :: d(3,8)
    real(dp) :: slope(3), triangle(3)
    integer :: a

    d = 0
    associate (x => natural(1), y => natural(2), z => natural(3))
      select case (size)
      case (4)
        d(:,1) = -1
        do a = 1, 3
          d(a,a+1) = 1
        end do
      case (5)
        slope = 0
        if (1 - z > apex) slope = [y*z/(1 - z), x*z/(1 - z), x*y/(1 - z)**2]
        do a = 1, 4
          d(1,a) = base(1,a)*(1 + base(2,a)*y)/4
          d(2,a) = base(2,a)*(1 + base(1,a)*x)/4
          d(3,a) = -0.25_dp
          d(:,a) = d(:,a) + base(1,a)*base(2,a)*slope/4
        end do
        d(3,5) = 1
      case (6)
        triangle = [1 - x - y, x, y]
        d(1,1:3) = [-1, 1, 0]*(1 - z)/2
        d(2,1:3) = [-1, 0, 1]*(1 - z)/2
        d(3,1:3) = -triangle/2
        d(1,4:6) = [-1, 1, 0]*(1 + z)/2
        d(2,4:6) = [-1, 0, 1]*(1 + z)/2
        d(3,4:6) = triangle/2
      case (8)
        do a = 1, 8
          d(1,a) = corner(1,a)*(1 + corner(2,a)*y)*(1 + corner(3,a)*z)/8
          d(2,a) = corner(2,a)*(1 + corner(1,a)*x)*(1 + corner(3,a)*z)/8
          d(3,a) = corner(3,a)*(1 + corner(1,a)*x)*(1 + corner(2,a)*y)/8
        end do
      end select
    end associate
  end function shape_derivatives

  !> Natural coordinates of the nodes; zeros beyond the element's nodes.
  pure function node_coordinates(size) result(natural)
    integer, intent(in) :: size
    real(dp) :: natural(3,8)
    integer :: a

    natural = 0
    select case (size)
    case (4)
      do a = 1, 3
        natural(a,a+1) = 1
      end do
    case (5)
      natural(1:2,1:4) = base
      natural(3,5) = 1
    case (6)
      natural(1,[2, 5]) = 1
      natural(2,[3, 6]) = 1
      natural(3,1:3) = -1
      natural(3,4:6) = 1
    case (8)
      natural = corner
    end select
  end function node_coordinates

  !> Bounds of each natural coordinate.
  pure subroutine intervals(size, low, high)
    integer, intent(in) :: size
    real(dp), intent(out) :: low(3), high(3)

    high = 1
    select case (size)
    case (4)
      low = 0
    case (5)
      low = [-1, -1, 0]
    case (6)
      low = [0, 0, -1]
    case default
      low = -1
    end select
  end subroutine intervals

  !> Violation of the conditions that couple natural coordinates.
  pure real(dp) function excess(size, natural)
    integer, intent(in) :: size
    real(dp), intent(in) :: natural(3)
    select case (size)
    case (4)
      excess = max(sum(natural) - 1, 0.0_dp)
    case (5)
      excess = max(abs(natural(1)) + natural(3) - 1, abs(natural(2)) + natural(3) - 1, 0.0_dp)
    case (6)
      excess = max(natural(1) + natural(2) - 1, 0.0_dp)
    case default
      excess = 0
    end select
  end function excess

  !> Natural coordinates from coordinates in the unit cube, whose image with collapsed edges or faces is the element.
  pure function from_cube(size, cube) result(natural)
    integer, intent(in) :: size
    real(dp), intent(in) :: cube(3)
    real(dp) :: natural(3)

    select case (size)
    case (4)
      natural = [cube(1)*(1 - cube(2))*(1 - cube(3)), cube(2)*(1 - cube(3)), cube(3)]
    case (5)
      natural = [(2*cube(1:2) - 1)*(1 - cube(3)), cube(3)]
    case (6)
      natural = [cube(1)*(1 - cube(2)), cube(2), 2*cube(3) - 1]
    case default
      natural = 2*cube - 1
    end select
  end function from_cube

  !> Derivatives (natural, cube) of `from_cube`.
  pure function cube_derivatives(size, cube) result(d)
    integer, intent(in) :: size
    real(dp), intent(in) :: cube(3)
    real(dp) :: d(3,3)
    integer :: i

    d = 0
    select case (size)
    case (4)
      d(:,1) = [(1 - cube(2))*(1 - cube(3)), 0.0_dp, 0.0_dp]
      d(:,2) = [-cube(1)*(1 - cube(3)), 1 - cube(3), 0.0_dp]
      d(:,3) = [-cube(1)*(1 - cube(2)), -cube(2), 1.0_dp]
    case (5)
      d(1,1) = 2*(1 - cube(3))
      d(2,2) = d(1,1)
      d(:,3) = [1 - 2*cube(1), 1 - 2*cube(2), 1.0_dp]
    case (6)
      d(1,1) = 1 - cube(2)
      d(:,2) = [-cube(1), 1.0_dp, 0.0_dp]
      d(3,3) = 2
    case default
      do i = 1, 3
        d(i,i) = 2
      end do
    end select
  end function cube_derivatives

  !> Quadrature rule of second order for stiffness, internal force, energy.
  pure subroutine quadrature(size, count, points, weights)
    integer, intent(in) :: size
    integer, intent(out) :: count
    real(dp), intent(out) :: points(3,8), weights(8)
    real(dp), parameter :: far = 0.5854101966249684_dp, near = 0.1381966011250105_dp
    real(dp), parameter :: high = 0.544151844011225_dp, high_side = 0.263184055569714_dp, high_weight = 0.100785882079825_dp
    real(dp), parameter :: low = 0.122514822655441_dp, low_side = 0.506616303349788_dp, low_weight = 0.232547451253508_dp
    integer :: a

    points = 0
    weights = 0
    select case (size)
    case (4)
      count = 4
      points(:,1:4) = near
      do a = 1, 3
        points(a,a) = far
      end do
      weights(1:4) = 1/24.0_dp
    case (5)
      count = 8
      do a = 1, 4
        points(:,a) = [high_side*base(1,a), high_side*base(2,a), high]
        points(:,a+4) = [low_side*base(1,a), low_side*base(2,a), low]
      end do
      weights(1:4) = high_weight
      weights(5:8) = low_weight
    case (6)
      count = 6
      points(1:2,1:3) = reshape([4, 1, 1, 4, 1, 1]/6.0_dp, [2, 3])
      points(1:2,4:6) = points(1:2,1:3)
      points(3,1:3) = -1/sqrt(3.0_dp)
      points(3,4:6) = 1/sqrt(3.0_dp)
      weights(1:6) = 1/6.0_dp
    case (8)
      count = 8
      points = corner/sqrt(3.0_dp)
      weights = 1
    case default
      count = 0
    end select
  end subroutine quadrature

  !> Computes g_a = F0^-T dN_a/dxi in an element with the given nodes, and det F0 (gradients only if it is positive).
  pure subroutine reference_gradients(size, nodes, natural, gradients, jacobian)
    integer, intent(in) :: size
    real(dp), intent(in) :: nodes(3,8)            !< nodes beyond `size` are ignored
    real(dp), intent(in) :: natural(3)
    real(dp), intent(out) :: gradients(3,8)
    real(dp), intent(out) :: jacobian
    real(dp) :: map(3,3), d(3,8)

    d = shape_derivatives(size, natural)
    map = matmul(nodes(:,1:size), transpose(d(:,1:size)))
    jacobian = determinant(map)
    gradients = 0
    if (.not. jacobian > 0) return
    gradients(:,1:size) = matmul(transpose(inverse(map)), d(:,1:size))
  end subroutine reference_gradients

end module element_shapes
