!> Sums of 3x3 blocks times vectors along a row of W or H.
module row_sums
  use kinds, only: dp, i4
  implicit none
  private
  public :: row_sum

contains

  !> b + sum of block k times x(column(k)) over k = first .. last-1; nine independent sums, so that none waits for another.
  pure function row_sum(first, last, column, block, x, b) result(u)
    integer(i4), intent(in) :: first, last
    integer(i4), intent(in) :: column(0:*)
    real(dp), intent(in) :: block(3,3,0:*), x(3,0:*), b(3)
    real(dp) :: u(3), u1(3), u2(3), u3(3)
    integer :: k, c

    u1 = b
    u2 = 0.0_dp
    u3 = 0.0_dp
    do k = first, last - 1
      c = column(k)
      u1 = u1 + block(:,1,k)*x(1,c)
      u2 = u2 + block(:,2,k)*x(2,c)
      u3 = u3 + block(:,3,k)*x(3,c)
    end do
    u = u1 + (u2 + u3)
  end function row_sum
end module row_sums
