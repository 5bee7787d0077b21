!> Displacement gradients at the 2 x 2 x 2 Gauss points of hexahedra, and nodal forces, by derivatives with respect to natural
!> coordinates.  Each derivative is bilinear in the other two coordinates, so four numbers determine it at eight points
!> (docs/theory.md, Finite elements).  In blocks of eight elements, lane first.
!>
!>   u, force  (8,3,8) of nodes;  rates (8,3,3,4): component, natural coordinate, and place in the plane of the two others
!>   map       (8,3,3) inverse Jacobian: natural coordinate, referential coordinate [1/length]
module hexahedron_rates
  use kinds, only: dp
  implicit none
  private
  public :: natural_rates, point_gradient, add_point_force, nodal_forces, hexahedron_gradients

  !> Ends of the four edges along each natural coordinate, in the order of the signs of the two others (lower one first).
  integer, parameter :: low(4,3) = reshape([1, 4, 5, 8, 1, 2, 5, 6, 1, 2, 4, 3], [4, 3])
  integer, parameter :: high(4,3) = reshape([2, 3, 6, 7, 4, 3, 8, 7, 5, 6, 8, 7], [4, 3])
  !> For every Gauss point (in the order of nodes) its place in the plane across each natural coordinate.
  integer, parameter :: place(3,8) = reshape([1, 1, 1, 1, 2, 2, 2, 2, 4, 2, 1, 3, 3, 3, 1, 3, 4, 2, 4, 4, 4, 4, 3, 3], [3, 8])
  !> Linear functions of the near and the far end at a Gauss point; halved for the first of two directions.
  real(dp), parameter :: near = (1 + 1/sqrt(3.0_dp))/2, far = (1 - 1/sqrt(3.0_dp))/2
  real(dp), parameter :: half_near = near/2, half_far = far/2

contains

  !> Computes the rates of the nodal values u.
  pure subroutine natural_rates(u, rates)
    real(dp), intent(in) :: u(8,3,8)
    real(dp), intent(inout) :: rates(8,3,3,4)
    real(dp) :: d1, d2, d3, d4, e1, e2, e3, e4
    integer :: i, k, l

    do k = 1, 3
      do i = 1, 3
        !$omp simd private(d1, d2, d3, d4, e1, e2, e3, e4)
        do l = 1, 8
          d1 = u(l,i,high(1,k)) - u(l,i,low(1,k))
          d2 = u(l,i,high(2,k)) - u(l,i,low(2,k))
          d3 = u(l,i,high(3,k)) - u(l,i,low(3,k))
          d4 = u(l,i,high(4,k)) - u(l,i,low(4,k))
          e1 = half_near*d1 + half_far*d2
          e2 = half_far*d1 + half_near*d2
          e3 = half_near*d3 + half_far*d4
          e4 = half_far*d3 + half_near*d4
          rates(l,i,k,1) = near*e1 + far*e3
          rates(l,i,k,2) = near*e2 + far*e4
          rates(l,i,k,3) = far*e1 + near*e3
          rates(l,i,k,4) = far*e2 + near*e4
        end do
      end do
    end do
  end subroutine natural_rates

  !> Computes h at Gauss point q.
  pure subroutine point_gradient(q, rates, map, h)
    integer, intent(in) :: q
    real(dp), intent(in) :: rates(8,3,3,4), map(8,3,3)
    real(dp), intent(inout) :: h(8,3,3)
    integer :: i, j, l

    associate (x => place(1,q), y => place(2,q), z => place(3,q))
      do j = 1, 3
        do i = 1, 3
          !$omp simd
          do l = 1, 8
            h(l,i,j) = rates(l,i,1,x)*map(l,1,j) + rates(l,i,2,y)*map(l,2,j) + rates(l,i,3,z)*map(l,3,j)
          end do
        end do
      end do
    end associate
  end subroutine point_gradient

  !> Adds the generalised forces of the rates from the stress p at Gauss point q: the transpose of point_gradient.
  pure subroutine add_point_force(q, p, map, rates)
    integer, intent(in) :: q
    real(dp), intent(in) :: p(8,3,3), map(8,3,3)
    real(dp), intent(inout) :: rates(8,3,3,4)
    integer :: i, k, l, at

    do k = 1, 3
      at = place(k,q)
      do i = 1, 3
        !$omp simd
        do l = 1, 8
          rates(l,i,k,at) = rates(l,i,k,at) + (p(l,i,1)*map(l,k,1) + p(l,i,2)*map(l,k,2) + p(l,i,3)*map(l,k,3))
        end do
      end do
    end do
  end subroutine add_point_force

  !> Computes nodal forces: the transpose of natural_rates.
  pure subroutine nodal_forces(rates, force)
    real(dp), intent(in) :: rates(8,3,3,4)
    real(dp), intent(inout) :: force(8,3,8)
    real(dp) :: d(8,4), e1, e2, e3, e4
    integer :: i, k, l

    force = 0
    do k = 1, 3
      do i = 1, 3
        !$omp simd private(e1, e2, e3, e4)
        do l = 1, 8
          e1 = near*rates(l,i,k,1) + far*rates(l,i,k,3)
          e2 = near*rates(l,i,k,2) + far*rates(l,i,k,4)
          e3 = far*rates(l,i,k,1) + near*rates(l,i,k,3)
          e4 = far*rates(l,i,k,2) + near*rates(l,i,k,4)
          d(l,1) = half_near*e1 + half_far*e2
          d(l,2) = half_far*e1 + half_near*e2
          d(l,3) = half_near*e3 + half_far*e4
          d(l,4) = half_far*e3 + half_near*e4
          force(l,i,high(1,k)) = force(l,i,high(1,k)) + d(l,1)
          force(l,i,high(2,k)) = force(l,i,high(2,k)) + d(l,2)
          force(l,i,high(3,k)) = force(l,i,high(3,k)) + d(l,3)
          force(l,i,high(4,k)) = force(l,i,high(4,k)) + d(l,4)
          force(l,i,low(1,k)) = force(l,i,low(1,k)) - d(l,1)
          force(l,i,low(2,k)) = force(l,i,low(2,k)) - d(l,2)
          force(l,i,low(3,k)) = force(l,i,low(3,k)) - d(l,3)
          force(l,i,low(4,k)) = force(l,i,low(4,k)) - d(l,4)
        end do
      end do
    end do
  end subroutine nodal_forces

  !> Computes referential gradients (8,3,8) of the shape functions at Gauss point q.
  pure subroutine hexahedron_gradients(q, map, gradient)
    integer, intent(in) :: q
    real(dp), intent(in) :: map(8,3,3)
    real(dp), intent(inout) :: gradient(8,3,8)
    real(dp) :: slope(3)
    integer :: a, j

    do a = 1, 8
      slope = slopes(a, q)
      do j = 1, 3
        gradient(:,j,a) = slope(1)*map(:,1,j) + slope(2)*map(:,2,j) + slope(3)*map(:,3,j)
      end do
    end do
  contains

    !> Natural derivatives of the shape function of node a at Gauss point q.
    pure function slopes(a, q) result(slope)
      integer, intent(in) :: a, q
      real(dp) :: slope(3), value(3)
      integer, parameter :: sign(3,8) = reshape([-1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1, &
                                                 -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1, 1], [3, 8])
      integer :: k

      do k = 1, 3
        value(k) = merge(near, far, sign(k,a) == sign(k,q))
      end do
      slope(1) = sign(1,a)*value(2)*value(3)/2
      slope(2) = sign(2,a)*value(3)*value(1)/2
      slope(3) = sign(3,a)*value(1)*value(2)/2
    end function slopes
  end subroutine hexahedron_gradients

end module hexahedron_rates
