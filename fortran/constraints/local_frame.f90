!> Local frames of constraints.
module local_frame
  use kinds, only: dp
  use matrix3, only: cross
  implicit none
  private
  public :: frame_of_normal

contains

  !> Computes columns t1 = e x n/|e x n|, t2 = t1 x n, n, with e = e_x, or e_y when |e_x x n| < epsilon (docs/language-objects.md, CONSTRAINT.base).
  !> The frame of a unit normal is left-handed, as in Solfec-1.0.
  pure function frame_of_normal(normal, epsilon) result(base)
    real(dp), intent(in) :: normal(3), epsilon
    real(dp) :: base(3,3)
    base(:,1) = cross([1.0_dp, 0.0_dp, 0.0_dp], normal)
    if (norm2(base(:,1)) < epsilon) base(:,1) = cross([0.0_dp, 1.0_dp, 0.0_dp], normal)
    base(:,1) = base(:,1)/norm2(base(:,1))
    base(:,2) = cross(base(:,1), normal)
    base(:,3) = normal
  end function frame_of_normal
end module local_frame
