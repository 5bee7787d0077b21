!> Internal forces that conserve energy and momentum over a step (docs/language-objects.md, BODY.conserving; Simo and Tarnow 1992): the St
!> Venant-Kirchhoff stress of the mean of the two Green strains at the ends of the step, along the mean gradient,
!>   P = (F(t) + F(t+h))/2 (lambda tr(E) I + 2 mu E),  E = (E(t) + E(t+h))/2,
!> whose work over the step is the difference of the two energies.  For arguments see `element_blocks`.
module midpoint_forces
  use kinds, only: dp, i4
  use hexahedron_rates, only: natural_rates, point_gradient, add_point_force, nodal_forces
  use kirchhoff, only: green_strain
  implicit none
  private
  public :: conserving_forces

  integer, parameter :: lanes = 8, parallel_from = 64

contains

  subroutine conserving_forces(size, columns, kept, points, nblock, node, gradient, weight, lame, nnode, displacement, &
                               other, element_force)
    integer(i4), intent(in) :: size, columns, kept, points, nblock, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: gradient(8,3,columns,kept,0:nblock-1), weight(8,points,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: displacement(3,0:nnode-1), other(3,0:nnode-1)   !< at t and t+h
    real(dp), intent(inout) :: element_force(8,3,size,0:nblock-1)
    real(dp) :: u(8,3,8), v(8,3,8), one(8,3,3), two(8,3,3), p(8,3,3), first(8,3,3,4), second(8,3,3,4), rates(8,3,3,4)
    integer :: a, b, i, k, l, q

    !$omp parallel do if (nblock > parallel_from) schedule(static) &
    !$omp private(u, v, one, two, p, first, second, rates, a, i, k, l, q)
    do b = 0, nblock - 1
      do a = 1, size
        do l = 1, lanes
          u(l,:,a) = displacement(:,node(l,a,b))
          v(l,:,a) = other(:,node(l,a,b))
        end do
      end do
      if (columns /= size) then
        call natural_rates(u, first)
        call natural_rates(v, second)
        rates = 0
        do q = 1, points
          call point_gradient(q, first, gradient(:,:,:,min(q,kept),b), one)
          call point_gradient(q, second, gradient(:,:,:,min(q,kept),b), two)
          call mean_stress(lame(:,:,b), weight(:,q,b), one, two, p)
          call add_point_force(q, p, gradient(:,:,:,min(q,kept),b), rates)
        end do
        call nodal_forces(rates, element_force(:,:,:,b))
        cycle
      end if
      element_force(:,:,:,b) = 0
      do q = 1, points
        k = min(q, kept)
        one = 0
        two = 0
        do a = 1, size
          do i = 1, 3
            do l = 1, lanes
              one(l,:,i) = one(l,:,i) + u(l,:,a)*gradient(l,i,a,k,b)
              two(l,:,i) = two(l,:,i) + v(l,:,a)*gradient(l,i,a,k,b)
            end do
          end do
        end do
        call mean_stress(lame(:,:,b), weight(:,q,b), one, two, p)
        do a = 1, size
          do i = 1, 3
            element_force(:,i,a,b) = element_force(:,i,a,b) + (p(:,i,1)*gradient(:,1,a,k,b) + p(:,i,2)*gradient(:,2,a,k,b) &
                                                             + p(:,i,3)*gradient(:,3,a,k,b))
          end do
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine conserving_forces

  !> Computes weight * P from the two displacement gradients.
  pure subroutine mean_stress(lame, weight, one, two, p)
    real(dp), intent(in) :: lame(8,2), weight(8), one(8,3,3), two(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)
    real(dp) :: e(8,6), other(8,6), s(8,3,3), f(8,3,3), t(8), m(8)
    integer :: i, j

    call green_strain(one, e)
    call green_strain(two, other)
    e = (e + other)/2
    m = 2*lame(:,2)*weight
    t = lame(:,1)*weight*(e(:,1) + e(:,2) + e(:,3))
    s(:,1,1) = t + m*e(:,1)
    s(:,2,2) = t + m*e(:,2)
    s(:,3,3) = t + m*e(:,3)
    s(:,1,2) = m*e(:,4)
    s(:,1,3) = m*e(:,5)
    s(:,2,3) = m*e(:,6)
    s(:,2,1) = s(:,1,2)
    s(:,3,1) = s(:,1,3)
    s(:,3,2) = s(:,2,3)
    f = (one + two)/2
    do i = 1, 3
      f(:,i,i) = f(:,i,i) + 1
    end do
    do j = 1, 3
      do i = 1, 3
        p(:,i,j) = f(:,i,1)*s(:,1,j) + f(:,i,2)*s(:,2,j) + f(:,i,3)*s(:,3,j)
      end do
    end do
  end subroutine mean_stress

end module midpoint_forces
