!> Finite rotations: the exponential map, its derivative, and the rotation nearest to a matrix.
module rotation
  use kinds, only: dp
  use matrix3, only: determinant, cofactors
  implicit none
  private
  public :: exponential_map, exponential_coefficients, exponential_tangent, orthogonality_error, nearest_rotation

  integer, parameter :: lanes = 8
  real(dp), parameter :: sixth = 1/6.0_dp
  !> Limit (10 degrees)**2 below which coefficients come from their series: the closed forms lose digits there.
  real(dp), parameter :: series_limit = 3.0461741978671e-2_dp

contains

  !> Coefficients of the exponential map as functions of x = |psi|**2: s = sin|psi|/|psi|,
  !> c = (1 - cos|psi|)/|psi|**2 and, for derivatives, t = (1 - s)/|psi|**2.
  pure subroutine coefficients(x, s, c, t)
    real(dp), intent(in) :: x
    real(dp), intent(out) :: s, c, t
    real(dp) :: angle, half

    if (x < series_limit) then
      s = sine_series(x)
      c = cosine_series(x)
      t = sixth*(1 - x*(1/20.0_dp)*(1 - x*(1/42.0_dp)*(1 - x*(1/72.0_dp)*(1 - x*(1/110.0_dp)*(1 - x*(1/156.0_dp) &
          *(1 - x*(1/210.0_dp)))))))
    else
      angle = sqrt(x)
      s = sin(angle)/angle
      half = sin(angle/2)/angle
      c = 2*half*half      ! 1 - cos would cancel
      t = (1 - s)/x
    end if
  end subroutine coefficients

  !> sin|psi|/|psi| of x = |psi|**2 below the limit.
  elemental real(dp) function sine_series(x) result(s)
    real(dp), intent(in) :: x
    s = 1 - x*sixth*(1 - x*(1/20.0_dp)*(1 - x*(1/42.0_dp)*(1 - x*(1/72.0_dp)*(1 - x*(1/110.0_dp)*(1 - x*(1/156.0_dp))))))
  end function sine_series

  !> (1 - cos|psi|)/|psi|**2 of x = |psi|**2 below the limit.
  elemental real(dp) function cosine_series(x) result(c)
    real(dp), intent(in) :: x
    c = (1 - x*(1/12.0_dp)*(1 - x*(1/30.0_dp)*(1 - x*(1/56.0_dp)*(1 - x*(1/90.0_dp)*(1 - x*(1/132.0_dp) &
        *(1 - x*(1/182.0_dp)))))))/2
  end function cosine_series

  !> Computes the rotation exp[psi] = I + s ^psi + c ^psi**2 about the axis psi by the angle |psi| (docs/theory.md, Rigid rotations).
  pure subroutine exponential_map(psi, rotation_matrix)
    real(dp), intent(in) :: psi(3)                !< rotation vector [rad]
    real(dp), intent(out) :: rotation_matrix(3,3)
    real(dp) :: s, c, t

    call coefficients(dot3(psi, psi), s, c, t)
    call polynomial(psi, s, c, rotation_matrix)
  end subroutine exponential_map

  !> Computes I + a ^psi + b ^psi**2.
  pure subroutine polynomial(psi, a, b, matrix)
    real(dp), intent(in) :: psi(3), a, b
    real(dp), intent(out) :: matrix(3,3)

    matrix(1,1) = 1 - b*(psi(2)*psi(2) + psi(3)*psi(3))
    matrix(2,2) = 1 - b*(psi(1)*psi(1) + psi(3)*psi(3))
    matrix(3,3) = 1 - b*(psi(1)*psi(1) + psi(2)*psi(2))
    matrix(2,1) = b*psi(1)*psi(2) + a*psi(3)
    matrix(1,2) = b*psi(1)*psi(2) - a*psi(3)
    matrix(3,1) = b*psi(1)*psi(3) - a*psi(2)
    matrix(1,3) = b*psi(1)*psi(3) + a*psi(2)
    matrix(3,2) = b*psi(2)*psi(3) + a*psi(1)
    matrix(2,3) = b*psi(2)*psi(3) - a*psi(1)
  end subroutine polynomial

  !> Computes the coefficients s and c of eight exponential maps, exp[psi] = I + s ^psi + c ^psi**2, from x = |psi|**2.
  pure subroutine exponential_coefficients(x, s, c)
    real(dp), intent(in) :: x(lanes)
    real(dp), intent(inout) :: s(lanes), c(lanes)
    real(dp) :: t
    integer :: l

    !$omp simd
    do l = 1, lanes
      s(l) = sine_series(x(l))
      c(l) = cosine_series(x(l))
    end do
    if (any(x >= series_limit)) then              ! a fast spin of 10 degrees and more in half a step
      do l = 1, lanes
        call coefficients(x(l), s(l), c(l), t)
      end do
    end if
  end subroutine exponential_coefficients

  !> Computes T(psi) = I - c ^psi + t ^psi**2, so that d(exp[psi] b) = -exp[psi] ^b T(psi) dpsi for every fixed b.
  pure subroutine exponential_tangent(psi, tangent)
    real(dp), intent(in) :: psi(3)                !< rotation vector [rad]
    real(dp), intent(out) :: tangent(3,3)
    real(dp) :: s, c, t

    call coefficients(dot3(psi, psi), s, c, t)
    call polynomial(psi, -c, t, tangent)
  end subroutine exponential_tangent

  !> Largest entry of |Q^T Q - I|.
  pure real(dp) function orthogonality_error(q) result(error)
    real(dp), intent(in) :: q(3,3)

    error = max(abs(dot3(q(:,1), q(:,1)) - 1), abs(dot3(q(:,2), q(:,2)) - 1), abs(dot3(q(:,3), q(:,3)) - 1), &
                abs(dot3(q(:,1), q(:,2))), abs(dot3(q(:,1), q(:,3))), abs(dot3(q(:,2), q(:,3))))
  end function orthogonality_error

  !> Replaces Q by the rotation of its polar decomposition (Newton's iteration Q <- (Q + Q^-T)/2).
  pure subroutine nearest_rotation(q, found)
    real(dp), intent(inout) :: q(3,3)
    logical, intent(out) :: found                 !< false: the determinant is not positive, Q is not changed
    real(dp) :: det
    integer :: iteration

    found = determinant(q) > 0
    if (.not. found) return
    do iteration = 1, 50
      det = determinant(q)
      q = (q + cofactors(q)/det)/2
      if (orthogonality_error(q) < 1e-15_dp) exit
    end do
  end subroutine nearest_rotation

  pure real(dp) function dot3(a, b)
    real(dp), intent(in) :: a(3), b(3)
    dot3 = a(1)*b(1) + a(2)*b(2) + a(3)*b(3)
  end function dot3

end module rotation
