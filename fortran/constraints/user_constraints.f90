!> Points, bases and gaps of the user's constraints in the current configuration (manual: FIX_POINT, PUT_RIGID_LINK).
module user_constraints
  use kinds, only: dp, i4
  use velocity_operator, only: pseudo_rigid_kind
  use matrix3, only: multiply, multiply_transposed
  use local_frame, only: frame_of_normal
  implicit none
  private
  public :: update_user_constraints

  integer(i4), parameter :: fixpnt = 1, link = 5   !< of ConstraintKind
  real(dp), parameter :: aligned = 1e-6_dp         !< a normal this close to e_x takes e_y to build its base

contains

  !> Refreshes the first `users` rows of the constraint table.
  !>
  !>   kind, master, slave           (0:ncon-1) ConstraintKind and body rows; slave -1: none
  !>   master_point, slave_point     (3,0:ncon-1) referential points; of a link without slave a fixed spatial point
  !>   length                        (0:ncon-1) reference length of links
  !>   body_kind, centre, conf_ptr   (0:nbody-1); conf (3,0:nconf-1): configuration triples of bodies
  !>   point, other_point            (3,0:ncon-1) out: current points on master and slave
  !>   base                          (3,3,0:ncon-1) out: identity (FIXPNT) or link direction from slave to master as normal
  !>   gap                           (0:ncon-1) out: current length minus reference length (links), else 0
  subroutine update_user_constraints(users, ncon, kind, master, slave, master_point, slave_point, length, &
                                     nbody, body_kind, centre, conf_ptr, nconf, conf, point, other_point, base, gap)
    integer(i4), intent(in) :: users, ncon
    integer(i4), intent(in) :: kind(0:ncon-1), master(0:ncon-1), slave(0:ncon-1)
    real(dp), intent(in) :: master_point(3,0:ncon-1), slave_point(3,0:ncon-1), length(0:ncon-1)
    integer(i4), intent(in) :: nbody
    integer(i4), intent(in) :: body_kind(0:nbody-1)
    real(dp), intent(in) :: centre(3,0:nbody-1)
    integer(i4), intent(in) :: conf_ptr(0:nbody-1)
    integer(i4), intent(in) :: nconf
    real(dp), intent(in) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: point(3,0:ncon-1), other_point(3,0:ncon-1), base(3,3,0:ncon-1), gap(0:ncon-1)
    real(dp) :: vector(3), distance
    integer(i4) :: i, k

    do i = 0, users - 1
      k = master(i)
      point(:,i) = spatial_point(body_kind(k), conf(:,conf_ptr(k):conf_ptr(k)+3), centre(:,k), master_point(:,i))
      k = slave(i)
      other_point(:,i) = slave_point(:,i)
      if (k >= 0) other_point(:,i) = spatial_point(body_kind(k), conf(:,conf_ptr(k):conf_ptr(k)+3), centre(:,k), slave_point(:,i))
      gap(i) = 0.0_dp
      select case (kind(i))
      case (fixpnt)
        base(:,:,i) = reshape([1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp], [3, 3])
      case (link)
        vector = point(:,i) - other_point(:,i)
        distance = norm2(vector)
        gap(i) = distance - length(i)
        ! a link that has shrunk to a point keeps its last direction
        if (distance > 0.0_dp) base(:,:,i) = frame_of_normal(vector/distance, aligned)
      end select
    end do
  end subroutine update_user_constraints

  !> Current place of a referential point.
  pure function spatial_point(kind, conf, centre, point) result(x)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4), centre(3), point(3)
    real(dp) :: x(3)
    if (kind == pseudo_rigid_kind) then   ! rows of the gradient
      x = conf(:,4) + multiply_transposed(conf(:,1:3), point - centre)
    else                                  ! columns of the rotation
      x = conf(:,4) + multiply(conf(:,1:3), point - centre)
    end if
  end function spatial_point
end module user_constraints
