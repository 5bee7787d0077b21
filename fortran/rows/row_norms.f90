!> Norms for measures of rows.
module row_norms
  use kinds, only: dp
  implicit none
  private
  public :: weighted, inverse_nn

contains

  !> Number p.W^-1 p for a symmetric W, by elimination.
  pure function weighted(w, p) result(value)
    real(dp), intent(in) :: w(3,3), p(3)
    real(dp) :: value, d2, y2, y3
    d2 = w(2,2) - w(2,1)*w(2,1)/w(1,1)
    y2 = p(2) - w(2,1)/w(1,1)*p(1)
    y3 = p(3) - w(3,1)/w(1,1)*p(1) - (w(3,2) - w(3,1)*w(2,1)/w(1,1))/d2*y2
    value = p(1)**2/w(1,1) + y2**2/d2 + y3**2*inverse_nn(w)
  end function weighted

  !> Entry NN of W^-1, W symmetric: one over the last pivot.
  pure function inverse_nn(w) result(value)
    real(dp), intent(in) :: w(3,3)
    real(dp) :: value, e32
    e32 = w(3,2) - w(3,1)*w(2,1)/w(1,1)
    value = 1.0_dp/(w(3,3) - w(3,1)*w(3,1)/w(1,1) - e32*e32/(w(2,2) - w(2,1)*w(2,1)/w(1,1)))
  end function inverse_nn
end module row_norms
