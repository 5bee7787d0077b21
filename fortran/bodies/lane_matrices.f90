!> Matrices of the eight elements of a block, the lane number first.
module lane_matrices
  use kinds, only: dp
  implicit none
  private
  public :: cofactors_of_lanes

contains

  !> Computes the cofactors of matrices, det(a) a^-T, and their determinants.
  pure subroutine cofactors_of_lanes(a, cofactor, determinant)
    real(dp), intent(in) :: a(8,3,3)
    real(dp), intent(out) :: cofactor(8,3,3), determinant(8)
    integer :: i, j, i1, i2, j1, j2

    do j = 1, 3
      j1 = mod(j, 3) + 1
      j2 = mod(j1, 3) + 1
      do i = 1, 3
        i1 = mod(i, 3) + 1
        i2 = mod(i1, 3) + 1
        cofactor(:,i,j) = a(:,i1,j1)*a(:,i2,j2) - a(:,i1,j2)*a(:,i2,j1)
      end do
    end do
    determinant = a(:,1,1)*cofactor(:,1,1) + a(:,2,1)*cofactor(:,2,1) + a(:,3,1)*cofactor(:,3,1)
  end subroutine cofactors_of_lanes
end module lane_matrices
