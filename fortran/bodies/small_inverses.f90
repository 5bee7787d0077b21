!> Products with stored inverses of many small co-rotated bodies (theory, "Time integration"; manual, BODY form 'BC').
module small_inverses
  use kinds, only: dp, i4
  implicit none
  private
  public :: apply_inverses

  integer, parameter :: parallel_from = 16      !< bodies from which threads pay

contains

  !> result = R A^-1 R^T vector for every body: rotation (3,3,0:count-1), symmetric inverse (n,n,0:count-1), vectors of n/3
  !> nodes a body, one body after another (3,0:nnode-1).
  subroutine apply_inverses(count, n, rotation, inverse, nnode, vector, result)
    integer(i4), intent(in) :: count, n, nnode
    real(dp), intent(in) :: rotation(3,3,0:count-1), inverse(n,n,0:count-1)
    real(dp), intent(in) :: vector(3,0:nnode-1)
    real(dp), intent(inout) :: result(3,0:nnode-1)
    real(dp) :: local(n), solved(n)
    integer :: a, b, i, j, node

    !$omp parallel do if (count > parallel_from) schedule(static) private(local, solved, a, i, j, node)
    do b = 0, count - 1
      do a = 0, n/3 - 1
        node = b*(n/3) + a
        do i = 1, 3
          local(3*a+i) = rotation(1,i,b)*vector(1,node) + rotation(2,i,b)*vector(2,node) + rotation(3,i,b)*vector(3,node)
        end do
      end do
      solved = 0
      if (any(local(1:n) /= 0)) then
        do j = 1, n
          solved = solved + inverse(:,j,b)*local(j)
        end do
      end if
      do a = 0, n/3 - 1
        node = b*(n/3) + a
        result(:,node) = rotation(:,1,b)*solved(3*a+1) + rotation(:,2,b)*solved(3*a+2) + rotation(:,3,b)*solved(3*a+3)
      end do
    end do
    !$omp end parallel do
  end subroutine apply_inverses

end module small_inverses
