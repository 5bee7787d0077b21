!> Small steps of flexible GMRES: sums of fixed order, plane rotations, back substitution.
module krylov_basis
  use kinds, only: dp, i4
  implicit none
  private
  public :: ordered_dot, add_scaled, rotate_column, back_substitute

  integer, parameter :: piece = 512     !< columns summed by one thread before partial sums are added in order

contains

  !> Sum of x.y over columns 0 .. n-1, with the same bits for any number of threads.
  function ordered_dot(n, x, y) result(total)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: x(3,0:*), y(3,0:*)
    real(dp) :: total, partial(0:63)
    integer :: first, pieces, k

    total = 0.0_dp
    do first = 0, n - 1, size(partial)*piece
      pieces = min(size(partial), (n - first + piece - 1)/piece)
      !$omp parallel do if (pieces > 2) schedule(static)
      do k = 0, pieces - 1
        partial(k) = piece_dot(first + k*piece, min(n, first + (k + 1)*piece) - 1)
      end do
      !$omp end parallel do
      do k = 0, pieces - 1
        total = total + partial(k)
      end do
    end do

  contains

    function piece_dot(from, to) result(part)
      integer, intent(in) :: from, to
      real(dp) :: part, s1, s2, s3
      integer :: a
      s1 = 0.0_dp
      s2 = 0.0_dp
      s3 = 0.0_dp
      do a = from, to
        s1 = s1 + x(1,a)*y(1,a)
        s2 = s2 + x(2,a)*y(2,a)
        s3 = s3 + x(3,a)*y(3,a)
      end do
      part = s1 + s2 + s3
    end function piece_dot
  end function ordered_dot

  !> Computes y = y + factor x.
  subroutine add_scaled(n, factor, x, y)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: factor, x(3,0:*)
    real(dp), intent(inout) :: y(3,0:*)
    integer :: a

    !$omp parallel do if (n > 2*piece) schedule(static)
    do a = 0, n - 1
      y(:,a) = y(:,a) + factor*x(:,a)
    end do
    !$omp end parallel do
  end subroutine add_scaled

  !> Applies the earlier rotations to column j of the Hessenberg matrix, adds a rotation that removes its last entry, and applies
  !> it to the right-hand side; |rhs(j+1)| is then the norm of the linear residual.
  pure subroutine rotate_column(j, cosine, sine, column, rhs)
    integer, intent(in) :: j
    real(dp), intent(inout) :: cosine(*), sine(*), column(*), rhs(*)
    real(dp) :: length, upper
    integer :: i

    do i = 1, j - 1
      upper = cosine(i)*column(i) + sine(i)*column(i+1)
      column(i+1) = cosine(i)*column(i+1) - sine(i)*column(i)
      column(i) = upper
    end do
    length = sqrt(column(j)**2 + column(j+1)**2)
    cosine(j) = 1.0_dp
    sine(j) = 0.0_dp
    if (length > 0.0_dp) then
      cosine(j) = column(j)/length
      sine(j) = column(j+1)/length
    end if
    column(j) = length
    rhs(j+1) = -sine(j)*rhs(j)
    rhs(j) = cosine(j)*rhs(j)
  end subroutine rotate_column

  !> Computes coefficients of the search directions, without directions that the operator maps to zero.
  pure subroutine back_substitute(size, leading, triangle, rhs)
    integer, intent(in) :: size, leading
    real(dp), intent(in) :: triangle(leading,*)
    real(dp), intent(inout) :: rhs(*)
    integer :: i, k

    do i = size, 1, -1
      do k = i + 1, size
        rhs(i) = rhs(i) - triangle(i,k)*rhs(k)
      end do
      if (triangle(i,i) > 0.0_dp) then
        rhs(i) = rhs(i)/triangle(i,i)
      else
        rhs(i) = 0.0_dp
      end if
    end do
  end subroutine back_substitute
end module krylov_basis
