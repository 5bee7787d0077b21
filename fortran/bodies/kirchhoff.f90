!> The St Venant-Kirchhoff material in blocks of eight points: S = lambda tr(E) I + 2 mu E, E = (F^T F - I)/2, P = F S
!> (docs/language-objects.md, BULK_MATERIAL; docs/theory.md, Materials).
!>
!> In all procedures: lame (8,2) lambda, mu [pressure]; h (8,3,3) displacement gradients, F = I + h; weight (8) factors of the result.
module kirchhoff
  use kinds, only: dp
  implicit none
  private
  public :: kirchhoff_stress, kirchhoff_energy, kirchhoff_tangent, green_strain

  integer, parameter :: lanes = 8

contains

  !> Computes weight * P.
  pure subroutine kirchhoff_stress(lame, weight, h, p)
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)
    real(dp) :: e11, e22, e33, e12, e13, e23, t, m
    integer :: i, l

    !$omp simd private(e11, e22, e33, e12, e13, e23, t, m)
    do l = 1, lanes
      m = 2*lame(l,2)*weight(l)
      e11 = h(l,1,1) + (h(l,1,1)*h(l,1,1) + h(l,2,1)*h(l,2,1) + h(l,3,1)*h(l,3,1))/2
      e22 = h(l,2,2) + (h(l,1,2)*h(l,1,2) + h(l,2,2)*h(l,2,2) + h(l,3,2)*h(l,3,2))/2
      e33 = h(l,3,3) + (h(l,1,3)*h(l,1,3) + h(l,2,3)*h(l,2,3) + h(l,3,3)*h(l,3,3))/2
      e12 = m*(h(l,1,2) + h(l,2,1) + (h(l,1,1)*h(l,1,2) + h(l,2,1)*h(l,2,2) + h(l,3,1)*h(l,3,2)))/2
      e13 = m*(h(l,1,3) + h(l,3,1) + (h(l,1,1)*h(l,1,3) + h(l,2,1)*h(l,2,3) + h(l,3,1)*h(l,3,3)))/2
      e23 = m*(h(l,2,3) + h(l,3,2) + (h(l,1,2)*h(l,1,3) + h(l,2,2)*h(l,2,3) + h(l,3,2)*h(l,3,3)))/2
      t = lame(l,1)*weight(l)*(e11 + e22 + e33)
      e11 = t + m*e11
      e22 = t + m*e22
      e33 = t + m*e33
      do i = 1, 3
        p(l,i,1) = h(l,i,1)*e11 + h(l,i,2)*e12 + h(l,i,3)*e13
        p(l,i,2) = h(l,i,1)*e12 + h(l,i,2)*e22 + h(l,i,3)*e23
        p(l,i,3) = h(l,i,1)*e13 + h(l,i,2)*e23 + h(l,i,3)*e33
      end do
      p(l,1,1) = p(l,1,1) + e11
      p(l,2,2) = p(l,2,2) + e22
      p(l,3,3) = p(l,3,3) + e33
      p(l,1,2) = p(l,1,2) + e12
      p(l,2,1) = p(l,2,1) + e12
      p(l,1,3) = p(l,1,3) + e13
      p(l,3,1) = p(l,3,1) + e13
      p(l,2,3) = p(l,2,3) + e23
      p(l,3,2) = p(l,3,2) + e23
    end do
  end subroutine kirchhoff_stress

  !> Computes Green's strain E as 11, 22, 33, 12, 13, 23.
  pure subroutine green_strain(h, e)
    real(dp), intent(in) :: h(8,3,3)
    real(dp), intent(inout) :: e(8,6)
    integer :: l

    !$omp simd
    do l = 1, lanes
      e(l,1) = h(l,1,1) + (h(l,1,1)*h(l,1,1) + h(l,2,1)*h(l,2,1) + h(l,3,1)*h(l,3,1))/2
      e(l,2) = h(l,2,2) + (h(l,1,2)*h(l,1,2) + h(l,2,2)*h(l,2,2) + h(l,3,2)*h(l,3,2))/2
      e(l,3) = h(l,3,3) + (h(l,1,3)*h(l,1,3) + h(l,2,3)*h(l,2,3) + h(l,3,3)*h(l,3,3))/2
      e(l,4) = (h(l,1,2) + h(l,2,1) + (h(l,1,1)*h(l,1,2) + h(l,2,1)*h(l,2,2) + h(l,3,1)*h(l,3,2)))/2
      e(l,5) = (h(l,1,3) + h(l,3,1) + (h(l,1,1)*h(l,1,3) + h(l,2,1)*h(l,2,3) + h(l,3,1)*h(l,3,3)))/2
      e(l,6) = (h(l,2,3) + h(l,3,2) + (h(l,1,2)*h(l,1,3) + h(l,2,2)*h(l,2,3) + h(l,3,2)*h(l,3,3)))/2
    end do
  end subroutine green_strain

  !> Computes the energy per referential volume, lambda/2 tr(E)**2 + mu E:E.
  pure subroutine kirchhoff_energy(lame, h, energy)
    real(dp), intent(in) :: lame(8,2), h(8,3,3)
    real(dp), intent(inout) :: energy(8)
    real(dp) :: e(8,6)

    call green_strain(h, e)
    energy = lame(:,1)/2*(e(:,1) + e(:,2) + e(:,3))**2 &
           + lame(:,2)*(e(:,1)**2 + e(:,2)**2 + e(:,3)**2 + 2*(e(:,4)**2 + e(:,5)**2 + e(:,6)**2))
  end subroutine kirchhoff_energy

  !> Computes the parts of dP along V = weight * (V S + B V + c1 (T:V) T + c2 T V^T T): S the stress, B = mu F F^T, T = F, c1 = lambda, c2 = mu.
  pure subroutine kirchhoff_tangent(lame, weight, h, s, b, t, c1, c2)
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: s(8,3,3), b(8,3,3), t(8,3,3), c1(8), c2(8)
    real(dp) :: e(8,6), trace(8)
    integer :: i, j

    call green_strain(h, e)
    t = h
    do i = 1, 3
      t(:,i,i) = t(:,i,i) + 1
    end do
    c1 = weight*lame(:,1)
    c2 = weight*lame(:,2)
    do j = 1, 3
      do i = 1, 3
        b(:,i,j) = c2*(t(:,i,1)*t(:,j,1) + t(:,i,2)*t(:,j,2) + t(:,i,3)*t(:,j,3))
      end do
    end do
    trace = c1*(e(:,1) + e(:,2) + e(:,3))
    s(:,1,1) = trace + 2*c2*e(:,1)
    s(:,2,2) = trace + 2*c2*e(:,2)
    s(:,3,3) = trace + 2*c2*e(:,3)
    s(:,1,2) = 2*c2*e(:,4)
    s(:,1,3) = 2*c2*e(:,5)
    s(:,2,3) = 2*c2*e(:,6)
    s(:,2,1) = s(:,1,2)
    s(:,3,1) = s(:,1,3)
    s(:,3,2) = s(:,2,3)
  end subroutine kirchhoff_tangent

end module kirchhoff
