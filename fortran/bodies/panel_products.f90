!> Products of dense tiles, eight rows each: sixteen rows by six columns in registers, at dgemm's speed for panels of fifty columns.
module panel_products
  use kinds, only: dp, i4
  implicit none
  private
  public :: multiply_tiles, padded, most_columns

  integer(i4), parameter :: most_columns = 96   !< of a panel

contains

  !> Number of columns, rounded up, that products of `count` columns compute.
  pure integer(i4) function padded(count)
    integer(i4), intent(in) :: count

    padded = 6*((count + 5)/6)
  end function padded

  !> c (8,padded(count),tiles) := rows of all tiles times rows begin to begin+count-1 (from 0), of x (8,k,tiles), k at most most_columns.
  pure subroutine multiply_tiles(tiles, k, x, begin, count, c)
    integer(i4), intent(in) :: tiles, k, begin, count
    real(dp), intent(in) :: x(8,k,0:tiles-1)
    real(dp), intent(inout) :: c(8,padded(count),0:tiles-1)
    real(dp) :: b(6,k,padded(count)/6), twice(8,6)
    integer(i4) :: g, i, j, r

    do g = 1, padded(count)/6
      do j = 1, 6
        if (6*g + j - 6 > count) then
          b(j,:,g) = 0
        else
          r = begin + 6*g + j - 7
          b(j,:,g) = x(mod(r,8)+1,:,r/8)
        end if
      end do
    end do
    do i = 0, tiles - 2, 2
      do g = 1, padded(count)/6
        j = 6*g - 5
        if (count - j >= 3) then
          call six_columns(k, x(1,1,i), x(1,1,i+1), b(1,1,g), c(1,j,i), c(1,j,i+1))
        else
          call three_columns(k, x(1,1,i), x(1,1,i+1), b(1,1,g), c(1,j,i), c(1,j,i+1))
        end if
      end do
    end do
    if (mod(tiles, 2) == 0) return
    i = tiles - 1
    do g = 1, padded(count)/6
      j = 6*g - 5
      if (count - j >= 3) then
        call six_columns(k, x(1,1,i), x(1,1,i), b(1,1,g), c(1,j,i), twice)
      else
        call three_columns(k, x(1,1,i), x(1,1,i), b(1,1,g), c(1,j,i), twice)
      end if
    end do
  end subroutine multiply_tiles

  !> Computes c := x b^T, d := y b^T for six columns.
  pure subroutine six_columns(k, x, y, b, c, d)
    integer(i4), intent(in) :: k
    real(dp), intent(in) :: x(8,k), y(8,k), b(6,k)
    real(dp), intent(inout) :: c(8,6), d(8,6)
    real(dp), dimension(8) :: s1, s2, s3, s4, s5, s6, t1, t2, t3, t4, t5, t6
    integer(i4) :: l, p

    s1 = 0
    s2 = 0
    s3 = 0
    s4 = 0
    s5 = 0
    s6 = 0
    t1 = 0
    t2 = 0
    t3 = 0
    t4 = 0
    t5 = 0
    t6 = 0
    do p = 1, k
      !$omp simd simdlen(8)
      do l = 1, 8
        s1(l) = s1(l) + x(l,p)*b(1,p)
        s2(l) = s2(l) + x(l,p)*b(2,p)
        s3(l) = s3(l) + x(l,p)*b(3,p)
        s4(l) = s4(l) + x(l,p)*b(4,p)
        s5(l) = s5(l) + x(l,p)*b(5,p)
        s6(l) = s6(l) + x(l,p)*b(6,p)
      end do
      !$omp simd simdlen(8)
      do l = 1, 8
        t1(l) = t1(l) + y(l,p)*b(1,p)
        t2(l) = t2(l) + y(l,p)*b(2,p)
        t3(l) = t3(l) + y(l,p)*b(3,p)
        t4(l) = t4(l) + y(l,p)*b(4,p)
        t5(l) = t5(l) + y(l,p)*b(5,p)
        t6(l) = t6(l) + y(l,p)*b(6,p)
      end do
    end do
    c(:,1) = s1
    c(:,2) = s2
    c(:,3) = s3
    c(:,4) = s4
    c(:,5) = s5
    c(:,6) = s6
    d(:,1) = t1
    d(:,2) = t2
    d(:,3) = t3
    d(:,4) = t4
    d(:,5) = t5
    d(:,6) = t6
  end subroutine six_columns

  !> Computes c := x b^T, d := y b^T for three columns.
  pure subroutine three_columns(k, x, y, b, c, d)
    integer(i4), intent(in) :: k
    real(dp), intent(in) :: x(8,k), y(8,k), b(6,k)
    real(dp), intent(inout) :: c(8,3), d(8,3)
    real(dp), dimension(8) :: s1, s2, s3, t1, t2, t3
    integer(i4) :: l, p

    s1 = 0
    s2 = 0
    s3 = 0
    t1 = 0
    t2 = 0
    t3 = 0
    do p = 1, k
      !$omp simd simdlen(8)
      do l = 1, 8
        s1(l) = s1(l) + x(l,p)*b(1,p)
        s2(l) = s2(l) + x(l,p)*b(2,p)
        s3(l) = s3(l) + x(l,p)*b(3,p)
      end do
      !$omp simd simdlen(8)
      do l = 1, 8
        t1(l) = t1(l) + y(l,p)*b(1,p)
        t2(l) = t2(l) + y(l,p)*b(2,p)
        t3(l) = t3(l) + y(l,p)*b(3,p)
      end do
    end do
    c(:,1) = s1
    c(:,2) = s2
    c(:,3) = s3
    d(:,1) = t1
    d(:,2) = t2
    d(:,3) = t3
  end subroutine three_columns
end module panel_products
