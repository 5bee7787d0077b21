!> Motion of points of bodies: placement, its inverse, velocity.
module point_motion
  use kinds, only: dp, i4
  use velocity_operator, only: velocity_blocks, pseudo_rigid_kind
  use matrix3, only: multiply, multiply_transposed, inverse, determinant
  implicit none
  private
  public :: spatial_points, referential_points, point_velocities

contains

  !> Current images x = centre(t) + R (X - centre) or F (X - centre) of referential points.
  subroutine spatial_points(n, rows, points, kind, centre, conf_ptr, conf, images, np, nb, nconf)
    integer(i4), intent(in) :: n                  !< number of points
    integer(i4), intent(in) :: np, nb, nconf
    integer(i4), intent(in) :: rows(0:np-1)       !< bodies
    real(dp), intent(in) :: points(3,0:np-1)      !< referential points [length]
    integer(i4), intent(in) :: kind(0:nb-1)
    real(dp), intent(in) :: centre(3,0:nb-1)
    integer(i4), intent(in) :: conf_ptr(0:nb-1)
    real(dp), intent(in) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: images(3,0:np-1)   !< current points [length]
    real(dp) :: arm(3)
    integer(i4) :: b, c, k

    do k = 0, n - 1
      b = rows(k)
      c = conf_ptr(b)
      arm = points(:,k) - centre(:,b)
      if (kind(b) == pseudo_rigid_kind) then
        images(:,k) = conf(:,c+3) + multiply_transposed(conf(:,c:c+2), arm)
      else
        images(:,k) = conf(:,c+3) + multiply(conf(:,c:c+2), arm)
      end if
    end do
  end subroutine spatial_points

  !> Referential points X of current points x, the inverse of `spatial_points`.
  subroutine referential_points(n, rows, points, kind, centre, conf_ptr, conf, images, failure, row, np, nb, nconf)
    integer(i4), intent(in) :: n                  !< number of points
    integer(i4), intent(in) :: np, nb, nconf
    integer(i4), intent(in) :: rows(0:np-1)       !< bodies
    real(dp), intent(in) :: points(3,0:np-1)      !< current points [length]
    integer(i4), intent(in) :: kind(0:nb-1)
    real(dp), intent(in) :: centre(3,0:nb-1)
    integer(i4), intent(in) :: conf_ptr(0:nb-1)
    real(dp), intent(in) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: images(3,0:np-1)   !< referential points [length]
    integer(i4), intent(out) :: failure           !< 0, or 5: determinant of a deformation gradient not positive
    integer(i4), intent(out) :: row               !< body at fault
    real(dp) :: arm(3)
    integer(i4) :: b, c, k

    failure = 0
    row = -1
    do k = 0, n - 1
      b = rows(k)
      c = conf_ptr(b)
      arm = points(:,k) - conf(:,c+3)
      if (kind(b) == pseudo_rigid_kind) then
        if (.not. determinant(conf(:,c:c+2)) > 0) then
          failure = 5
          row = b
          return
        end if
        images(:,k) = centre(:,b) + multiply_transposed(inverse(conf(:,c:c+2)), arm)
      else
        images(:,k) = centre(:,b) + multiply_transposed(conf(:,c:c+2), arm)
      end if
    end do
  end subroutine referential_points

  !> Spatial velocities of referential points, by the operator H with the identity as base.
  subroutine point_velocities(n, rows, points, kind, centre, conf_ptr, velo_ptr, conf, velo, velocities, np, nb, nconf, nvelo)
    integer(i4), intent(in) :: n                  !< number of points
    integer(i4), intent(in) :: np, nb, nconf, nvelo
    integer(i4), intent(in) :: rows(0:np-1)       !< bodies
    real(dp), intent(in) :: points(3,0:np-1)      !< referential points [length]
    integer(i4), intent(in) :: kind(0:nb-1)
    real(dp), intent(in) :: centre(3,0:nb-1)
    integer(i4), intent(in) :: conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: conf(3,0:nconf-1), velo(3,0:nvelo-1)
    real(dp), intent(inout) :: velocities(3,0:np-1) !< [length/time]
    real(dp), parameter :: identity(3,3) = reshape([1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp], [3, 3])
    real(dp) :: blocks(3,3,4)
    integer(i4) :: b, c, count, k, m, v

    do k = 0, n - 1
      b = rows(k)
      c = conf_ptr(b)
      v = velo_ptr(b)
      call velocity_blocks(kind(b), conf(:,c:c+3), centre(:,b), points(:,k), identity, count, blocks)
      velocities(:,k) = 0
      do m = 1, count
        velocities(:,k) = velocities(:,k) + multiply(blocks(:,:,m), velo(:,v+m-1))
      end do
    end do
  end subroutine point_velocities

end module point_motion
