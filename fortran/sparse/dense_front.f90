!> LU factors of the leading columns of a dense matrix, and the Schur complement of the rest: one front of a sparse factorisation.
!>
!> Panels of columns are factorised one by one, and the rest is updated by products of matrices that stay in registers
!> (eight rows by four columns), at about two fifths of dgemm's speed.  There is no pivoting: the matrices here have
!> the identity plus a positive part on their diagonal (body_factor).
module dense_front
  use kinds, only: dp, i4
  implicit none
  private
  public :: partial_lu, padded

  integer(i4), parameter :: panel = 48          !< columns of a panel
  integer(i4), parameter :: parallel_from = 300 !< rows from which threads pay

contains

  !> Leading dimension of a front with m rows: products process eight rows at a time, padded with zeros.
  pure integer(i4) function padded(m)
    integer(i4), intent(in) :: m
    padded = 8*((m + 7)/8) + 8
  end function padded

  !> f (ld, m + 4), zero below row m and right of column m: the first k columns become L (unit diagonal) and U, the first k
  !> rows U, the rest f22 - f21 f11^-1 f12.
  subroutine partial_lu(m, k, ld, f, regular)
    integer(i4), intent(in) :: m, k, ld
    real(dp), intent(inout) :: f(ld,*)
    logical, intent(inout) :: regular       !< set to false if a pivot vanishes or is not finite
    real(dp) :: factor
    integer(i4) :: first, last, i, j

    do first = 1, k, panel
      last = min(first + panel - 1, k)
      do j = first, last
        if (.not. (abs(f(j,j)) > tiny(1.0_dp) .and. abs(f(j,j)) <= huge(1.0_dp))) then
          regular = .false.
          return
        end if
        factor = 1.0_dp/f(j,j)
        f(j+1:m,j) = f(j+1:m,j)*factor
        do i = j + 1, last
          factor = f(j,i)
          if (factor /= 0.0_dp) f(j+1:m,i) = f(j+1:m,i) - factor*f(j+1:m,j)
        end do
      end do
      if (last == m) exit
      !$omp parallel do if (m - last > parallel_from) schedule(static)
      do j = last + 1, m, 4
        call update_columns(m, first, last, ld, j, f)
      end do
      !$omp end parallel do
    end do
  end subroutine partial_lu

  !> Updates four columns from column j on: rows of U, and their products with the panel's columns.
  pure subroutine update_columns(m, first, last, ld, j, f)
    integer(i4), intent(in) :: m, first, last, ld, j
    real(dp), intent(inout) :: f(ld,*)
    integer(i4) :: i, p

    do p = first, last - 1
      do i = p + 1, last
        f(i,j:j+3) = f(i,j:j+3) - f(i,p)*f(p,j:j+3)
      end do
    end do
    call subtract_product(m - last, last - first + 1, ld, f(last+1,first), f(first,j), f(last+1,j))
  end subroutine update_columns

  !> Computes c (m,4) = c - a (m,k) b (k,4); rows beyond m up to a multiple of eight are zero in a, and unchanged in c.
  pure subroutine subtract_product(m, k, ld, a, b, c)
    integer(i4), intent(in) :: m, k, ld
    real(dp), intent(in) :: a(ld,*), b(ld,*)
    real(dp), intent(inout) :: c(ld,*)
    real(dp), dimension(8) :: s1, s2, s3, s4
    integer(i4) :: i, l, p

    do i = 1, m, 8
      s1 = 0.0_dp
      s2 = 0.0_dp
      s3 = 0.0_dp
      s4 = 0.0_dp
      do p = 1, k
        do l = 1, 8
          s1(l) = s1(l) + a(i+l-1,p)*b(p,1)
          s2(l) = s2(l) + a(i+l-1,p)*b(p,2)
          s3(l) = s3(l) + a(i+l-1,p)*b(p,3)
          s4(l) = s4(l) + a(i+l-1,p)*b(p,4)
        end do
      end do
      c(i:i+7,1) = c(i:i+7,1) - s1
      c(i:i+7,2) = c(i:i+7,2) - s2
      c(i:i+7,3) = c(i:i+7,3) - s3
      c(i:i+7,4) = c(i:i+7,4) - s4
    end do
  end subroutine subtract_product
end module dense_front
