!> Small dense linear systems that may be singular, with a right hand side in the range of the matrix: largest pivots first.
module pivoting
  use kinds, only: dp, i4
  implicit none
  private
  public :: solve

  !> Relative size below which a pivot counts as zero: other joints hold this direction already.
  real(dp), parameter :: redundant = 1e-10_dp

contains

  !> Solves a symmetric positive semidefinite system whose right hand side is in its range, by L D L^T, largest pivots first.
  !> Unknowns with zero pivots are zero: other joints hold these directions already.
  subroutine solve(n, a, b, order)
    integer(i4), intent(in) :: n
    real(dp), intent(inout) :: a(n,n), b(n)       !< matrix, which is overwritten; right hand side, then the solution
    integer(i4), intent(inout) :: order(n)
    real(dp) :: largest, swapped
    integer(i4) :: i, j, k, pivot, rank

    order = [(i, i=1, n)]
    largest = 0
    rank = n
    do k = 1, n
      pivot = k
      do i = k + 1, n
        if (a(i,i) > a(pivot,pivot)) pivot = i
      end do
      if (k == 1) largest = a(pivot,pivot)
      if (.not. a(pivot,pivot) > redundant*largest) then
        rank = k - 1
        exit
      end if
      if (pivot /= k) call exchange(k, pivot)
      do j = k + 1, n
        swapped = a(j,k)/a(k,k)
        do i = j, n
          a(i,j) = a(i,j) - swapped*a(i,k)
          a(j,i) = a(i,j)
        end do
        b(j) = b(j) - swapped*b(k)
      end do
    end do
    call substitute(n, rank, a, order, b)

  contains

    !> Exchanges two unknowns, and entries above the diagonal in eliminated rows.
    subroutine exchange(k, p)
      integer(i4), intent(in) :: k, p
      integer(i4) :: kept
      real(dp) :: row(n)

      row = a(k,:)
      a(k,:) = a(p,:)
      a(p,:) = row
      row = a(:,k)
      a(:,k) = a(:,p)
      a(:,p) = row
      kept = order(k)
      order(k) = order(p)
      order(p) = kept
      row(1) = b(k)
      b(k) = b(p)
      b(p) = row(1)
    end subroutine exchange
  end subroutine solve

  !> Back substitution in the first `rank` rows; other unknowns are zero.
  pure subroutine substitute(n, rank, a, order, b)
    integer(i4), intent(in) :: n, rank, order(n)  !< order: unknown of every column
    real(dp), intent(in) :: a(n,n)                !< upper triangle: the eliminated matrix
    real(dp), intent(inout) :: b(n)               !< right hand side, then the solution
    integer(i4) :: j, k

    do k = rank, 1, -1
      do j = k + 1, rank
        b(k) = b(k) - a(k,j)*b(j)
      end do
      b(k) = b(k)/a(k,k)
    end do
    b(rank+1:n) = 0
    b(order) = b
  end subroutine substitute
end module pivoting
