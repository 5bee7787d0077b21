!> The compressible Neo-Hookean material in blocks of eight points: energy mu/2 (F:F - 3) - mu ln J + lambda/2 (ln J)**2,
!> so P = mu (F - F^-T) + lambda ln J F^-T (docs/materials.md, Bulk materials).
!>
!> For arguments see `kirchhoff`.  Where det F is not positive the energy does not exist: results are NaN, and the
!> integrator reports a body that is turned inside out.
module neo_hookean
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  use kinds, only: dp
  use lane_matrices, only: cofactors_of_lanes
  implicit none
  private
  public :: neo_hookean_stress, neo_hookean_energy, neo_hookean_tangent, neo_hookean_bound, neo_hookean_second_stress

contains

  !> Computes weight * P.
  pure subroutine neo_hookean_stress(lame, weight, h, p)
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)
    real(dp) :: logarithm(8), t(8,3,3), f(8,3,3)
    integer :: i, j

    call inverse_transposed(h, f, t, logarithm)
    do j = 1, 3
      do i = 1, 3
        p(:,i,j) = weight*(lame(:,2)*(f(:,i,j) - t(:,i,j)) + lame(:,1)*logarithm*t(:,i,j))
      end do
    end do
  end subroutine neo_hookean_stress

  !> Computes the energy per referential volume; F:F - 3 is 2 tr h + h:h.
  pure subroutine neo_hookean_energy(lame, h, energy)
    real(dp), intent(in) :: lame(8,2), h(8,3,3)
    real(dp), intent(inout) :: energy(8)
    real(dp) :: logarithm(8), t(8,3,3), f(8,3,3), excess(8)
    integer :: j

    call inverse_transposed(h, f, t, logarithm)
    excess = 2*(h(:,1,1) + h(:,2,2) + h(:,3,3))
    do j = 1, 3
      excess = excess + h(:,1,j)**2 + h(:,2,j)**2 + h(:,3,j)**2
    end do
    energy = lame(:,2)*(excess/2 - logarithm) + lame(:,1)/2*logarithm**2
  end subroutine neo_hookean_energy

  !> Computes the parts of dP along V = weight * (V S + B V + c1 (T:V) T + c2 T V^T T): S = 0, B = mu I, T = F^-T, c1 = lambda, c2 = mu - lambda ln J.
  pure subroutine neo_hookean_tangent(lame, weight, h, s, b, t, c1, c2)
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: s(8,3,3), b(8,3,3), t(8,3,3), c1(8), c2(8)
    real(dp) :: logarithm(8), f(8,3,3)
    integer :: i

    call inverse_transposed(h, f, t, logarithm)
    s = 0
    b = 0
    do i = 1, 3
      b(:,i,i) = weight*lame(:,2)
    end do
    c1 = weight*lame(:,1)
    c2 = weight*(lame(:,2) - lame(:,1)*logarithm)
  end subroutine neo_hookean_tangent

  !> Computes weight * S = weight * F^-1 P = weight * (mu I + (lambda ln J - mu) F^-1 F^-T).
  pure subroutine neo_hookean_second_stress(lame, weight, h, s)
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: s(8,3,3)
    real(dp) :: logarithm(8), t(8,3,3), f(8,3,3)
    integer :: i, j

    call inverse_transposed(h, f, t, logarithm)
    do j = 1, 3
      do i = 1, 3
        s(:,i,j) = weight*(lame(:,1)*logarithm - lame(:,2))*(t(:,1,i)*t(:,1,j) + t(:,2,i)*t(:,2,j) + t(:,3,i)*t(:,3,j))
      end do
      s(:,j,j) = s(:,j,j) + weight*lame(:,2)
    end do
  end subroutine neo_hookean_second_stress

  !> Computes m with V : dP(V) <= m V:V for all V: mu + (|mu - lambda ln J| + 3 lambda) |F^-1|**2, where the square of the spectral norm
  !> is bounded by the Frobenius norm of F^-T F^-1.
  pure subroutine neo_hookean_bound(lame, h, bound)
    real(dp), intent(in) :: lame(8,2), h(8,3,3)
    real(dp), intent(inout) :: bound(8)
    real(dp) :: logarithm(8), f(8,3,3), t(8,3,3), square(8)
    integer :: i, j

    call inverse_transposed(h, f, t, logarithm)
    square = 0
    do j = 1, 3
      do i = 1, 3
        square = square + (t(:,1,i)*t(:,1,j) + t(:,2,i)*t(:,2,j) + t(:,3,i)*t(:,3,j))**2
      end do
    end do
    bound = lame(:,2) + (abs(lame(:,2) - lame(:,1)*logarithm) + 3*lame(:,1))*sqrt(square)
  end subroutine neo_hookean_bound

  !> Computes F, F^-T and ln det F.
  pure subroutine inverse_transposed(h, f, t, logarithm)
    real(dp), intent(in) :: h(8,3,3)
    real(dp), intent(out) :: f(8,3,3), t(8,3,3), logarithm(8)
    real(dp) :: jacobian(8)
    integer :: i, l

    f = h
    do i = 1, 3
      f(:,i,i) = f(:,i,i) + 1
    end do
    call cofactors_of_lanes(f, t, jacobian)
    do l = 1, 8
      if (jacobian(l) > 0) then
        logarithm(l) = log(jacobian(l))
        t(l,:,:) = t(l,:,:)/jacobian(l)
      else
        logarithm(l) = ieee_value(1.0_dp, ieee_quiet_nan)
      end if
    end do
  end subroutine inverse_transposed

end module neo_hookean
