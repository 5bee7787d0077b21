!> Products and inverses of 3-vectors and 3x3 matrices, and a test for finite numbers.
module matrix3
  use kinds, only: dp, i8
  implicit none
  private
  public :: copy, cross, determinant, cofactors, adjugate_of, inverse, cholesky, positive_definite, multiply, multiply_transposed, &
    all_finite

contains

  !> Copies a vector: an assignment between columns of two tables would make a temporary array, since these may overlap.
  pure subroutine copy(from, to)
    real(dp), intent(in) :: from(3)
    real(dp), intent(out) :: to(3)
    to = from
  end subroutine copy

  !> a x b
  pure function cross(a, b) result(c)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: c(3)
    c(1) = a(2)*b(3) - a(3)*b(2)
    c(2) = a(3)*b(1) - a(1)*b(3)
    c(3) = a(1)*b(2) - a(2)*b(1)
  end function cross

  !> A b
  pure function multiply(a, b) result(c)
    real(dp), intent(in) :: a(3,3), b(3)
    real(dp) :: c(3)
    c = a(:,1)*b(1) + a(:,2)*b(2) + a(:,3)*b(3)
  end function multiply

  !> A^T b
  pure function multiply_transposed(a, b) result(c)
    real(dp), intent(in) :: a(3,3), b(3)
    real(dp) :: c(3)
    c(1) = a(1,1)*b(1) + a(2,1)*b(2) + a(3,1)*b(3)
    c(2) = a(1,2)*b(1) + a(2,2)*b(2) + a(3,2)*b(3)
    c(3) = a(1,3)*b(1) + a(2,3)*b(2) + a(3,3)*b(3)
  end function multiply_transposed

  pure real(dp) function determinant(a)
    real(dp), intent(in) :: a(3,3)
    determinant = a(1,1)*(a(2,2)*a(3,3) - a(3,2)*a(2,3)) + a(2,1)*(a(3,2)*a(1,3) - a(1,2)*a(3,3)) &
                + a(3,1)*(a(1,2)*a(2,3) - a(2,2)*a(1,3))
  end function determinant

  !> Matrix of cofactors, det(A) A^-T
  pure function cofactors(a) result(c)
    real(dp), intent(in) :: a(3,3)
    real(dp) :: c(3,3)
    c(:,1) = cross(a(:,2), a(:,3))
    c(:,2) = cross(a(:,3), a(:,1))
    c(:,3) = cross(a(:,1), a(:,2))
  end function cofactors

  !> The adjugate of A, adj(A) = det(A) A^-1, and det(A).
  pure subroutine adjugate_of(a, adjugate, determinant)
    real(dp), intent(in) :: a(3,3)
    real(dp), intent(out) :: adjugate(3,3), determinant

    adjugate(1,1) = a(2,2)*a(3,3) - a(2,3)*a(3,2)
    adjugate(2,1) = a(2,3)*a(3,1) - a(2,1)*a(3,3)
    adjugate(3,1) = a(2,1)*a(3,2) - a(2,2)*a(3,1)
    adjugate(1,2) = a(1,3)*a(3,2) - a(1,2)*a(3,3)
    adjugate(2,2) = a(1,1)*a(3,3) - a(1,3)*a(3,1)
    adjugate(3,2) = a(1,2)*a(3,1) - a(1,1)*a(3,2)
    adjugate(1,3) = a(1,2)*a(2,3) - a(1,3)*a(2,2)
    adjugate(2,3) = a(1,3)*a(2,1) - a(1,1)*a(2,3)
    adjugate(3,3) = a(1,1)*a(2,2) - a(1,2)*a(2,1)
    determinant = a(1,1)*adjugate(1,1) + a(1,2)*adjugate(2,1) + a(1,3)*adjugate(3,1)
  end subroutine adjugate_of

  !> A^-1 by cofactors; the caller ensures that A is regular.
  pure function inverse(a) result(b)
    real(dp), intent(in) :: a(3,3)
    real(dp) :: b(3,3)
    b = transpose(cofactors(a))/determinant(a)
  end function inverse

  !> Computes L of scale*m = L L^T; a zero pivot (a direction that cannot move) gives a zero column.
  pure subroutine cholesky(scale, m, l)
    real(dp), intent(in) :: scale, m(3,3)
    real(dp), intent(out) :: l(3,3)
    real(dp) :: pivot
    integer :: i, j

    l = 0.0_dp
    do j = 1, 3
      pivot = scale*m(j,j) - dot_product(l(j,1:j-1), l(j,1:j-1))
      if (.not. pivot > 0.0_dp) cycle
      l(j,j) = sqrt(pivot)
      do i = j + 1, 3
        l(i,j) = (scale*m(i,j) - dot_product(l(i,1:j-1), l(j,1:j-1)))/l(j,j)
      end do
    end do
  end subroutine cholesky

  !> Whether the leading minors of A are positive, beyond round-off.
  pure logical function positive_definite(a)
    real(dp), intent(in) :: a(3,3)
    real(dp) :: scale
    scale = max(a(1,1), a(2,2), a(3,3))
    positive_definite = .false.
    if (.not. scale > 0) return
    if (.not. scale <= huge(scale)) return
    positive_definite = a(1,1) > 0 .and. a(1,1)*a(2,2) - a(1,2)*a(2,1) > 0 &
      .and. determinant(a/scale) > 1e-30_dp
  end function positive_definite

  !> Whether all numbers of a (3,n) are finite; the test reads bits, so that builds with checks do not trap.
  pure logical function all_finite(n, a)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(3,n)
    integer(i8), parameter :: exponent = int(z'7FF0000000000000', i8)
    integer :: i, j
    all_finite = .true.
    do j = 1, n
      do i = 1, 3
        if (iand(transfer(a(i,j), exponent), exponent) == exponent) all_finite = .false.
      end do
    end do
  end function all_finite

end module matrix3
