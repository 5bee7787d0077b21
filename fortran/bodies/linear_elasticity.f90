!> Linear elasticity in blocks of eight points, for the stiffness at zero displacement: sigma = lambda tr(h) I + mu (h + h^T)
!> (docs/language-objects.md, BODY).  For arguments see `kirchhoff`.
module linear_elasticity
  use kinds, only: dp
  implicit none
  private
  public :: linear_stress, linear_energy, linear_tangent

  integer, parameter :: lanes = 8

contains

  !> Computes weight * sigma.
  pure subroutine linear_stress(lame, weight, h, p)
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)
    real(dp) :: t, m
    integer :: i, j, l

    !$omp simd private(t, m)
    do l = 1, lanes
      m = lame(l,2)*weight(l)
      t = lame(l,1)*weight(l)*(h(l,1,1) + h(l,2,2) + h(l,3,3))
      do j = 1, 3
        do i = 1, 3
          p(l,i,j) = m*(h(l,i,j) + h(l,j,i))
        end do
        p(l,j,j) = p(l,j,j) + t
      end do
    end do
  end subroutine linear_stress

  !> Computes the energy per volume.
  pure subroutine linear_energy(lame, h, energy)
    real(dp), intent(in) :: lame(8,2), h(8,3,3)
    real(dp), intent(inout) :: energy(8)

    energy = lame(:,1)/2*(h(:,1,1) + h(:,2,2) + h(:,3,3))**2 &
           + lame(:,2)*(h(:,1,1)**2 + h(:,2,2)**2 + h(:,3,3)**2 &
                        + ((h(:,1,2) + h(:,2,1))**2 + (h(:,1,3) + h(:,3,1))**2 + (h(:,2,3) + h(:,3,2))**2)/2)
  end subroutine linear_energy

  !> Sets the parts of the tangent: S = 0, B = mu I, T = I, c1 = lambda, c2 = mu.
  pure subroutine linear_tangent(lame, weight, s, b, t, c1, c2)
    real(dp), intent(in) :: lame(8,2), weight(8)
    real(dp), intent(inout) :: s(8,3,3), b(8,3,3), t(8,3,3), c1(8), c2(8)
    integer :: i

    s = 0
    b = 0
    t = 0
    c1 = weight*lame(:,1)
    c2 = weight*lame(:,2)
    do i = 1, 3
      b(:,i,i) = c2
      t(:,i,i) = 1
    end do
  end subroutine linear_tangent

end module linear_elasticity
