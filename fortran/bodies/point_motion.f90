!> Motion of points of bodies: placement, its inverse, velocity.
module point_motion
  use kinds, only: dp, i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use table_registry, only: table_open
  use velocity_operator, only: velocity_blocks, pseudo_rigid_kind
  use matrix3, only: multiply, determinant
  use point_places, only: spatial_point, referential_point
  implicit none
  private
  public :: spatial_points, referential_points, point_velocities

contains

  !> Computes current images x = centre(t) + R (X - centre) or F (X - centre) of referential points.
  subroutine spatial_points(handles, rows, points, images, failure, row, np)
    integer(i8), intent(in) :: handles(3)         !< BodyTable.handles
    integer(i4), intent(in) :: np                 !< number of points
    integer(i4), intent(in) :: rows(0:np-1)       !< bodies
    real(dp), intent(in) :: points(3,0:np-1)      !< referential points [length]
    real(dp), intent(inout) :: images(3,0:np-1)   !< current points [length]
    integer(i4), intent(out) :: failure           !< 0, `table_unknown`
    integer(i4), intent(out) :: row               !< body at fault, -1: none
    type(bodies_and_triples) :: state
    integer(i4) :: k

    row = -1
    call open_bodies(handles, state, failure)
    if (failure /= table_open) return
    do k = 0, np - 1
      images(:,k) = spatial_point(state, rows(k), points(:,k))
    end do
  end subroutine spatial_points

  !> Computes referential points X of current points x, the inverse of `spatial_points`.
  subroutine referential_points(handles, rows, points, images, failure, row, np)
    integer(i8), intent(in) :: handles(3)         !< BodyTable.handles
    integer(i4), intent(in) :: np                 !< number of points
    integer(i4), intent(in) :: rows(0:np-1)       !< bodies
    real(dp), intent(in) :: points(3,0:np-1)      !< current points [length]
    real(dp), intent(inout) :: images(3,0:np-1)   !< referential points [length]
    integer(i4), intent(out) :: failure           !< 0, `table_unknown`, or 5: determinant of a deformation gradient not positive
    integer(i4), intent(out) :: row               !< body at fault, -1: none
    type(bodies_and_triples) :: state
    integer(i4) :: c, k

    row = -1
    call open_bodies(handles, state, failure)
    if (failure /= table_open) return
    do k = 0, np - 1
      c = state%bodies%conf_ptr(rows(k))
      if (state%bodies%kind(rows(k)) == pseudo_rigid_kind .and. .not. determinant(state%configurations%conf(:,c:c+2)) > 0) then
        failure = 5
        row = rows(k)
        return
      end if
      images(:,k) = referential_point(state, rows(k), points(:,k))
    end do
  end subroutine referential_points

  !> Computes spatial velocities of referential points, by the operator H with the identity as base.
  subroutine point_velocities(handles, rows, points, velocities, failure, row, np)
    integer(i8), intent(in) :: handles(3)         !< BodyTable.handles
    integer(i4), intent(in) :: np                 !< number of points
    integer(i4), intent(in) :: rows(0:np-1)       !< bodies
    real(dp), intent(in) :: points(3,0:np-1)      !< referential points [length]
    real(dp), intent(inout) :: velocities(3,0:np-1)   !< [length/time]
    integer(i4), intent(out) :: failure           !< 0, `table_unknown`
    integer(i4), intent(out) :: row               !< body at fault, -1: none
    type(bodies_and_triples) :: state
    real(dp), parameter :: identity(3,3) = reshape([1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp], [3, 3])
    real(dp) :: blocks(3,3,4)
    integer(i4) :: b, c, count, k, m, v

    row = -1
    call open_bodies(handles, state, failure)
    if (failure /= table_open) return
    associate (kind => state%bodies%kind, centre => state%bodies%centre, conf_ptr => state%bodies%conf_ptr, &
               velo_ptr => state%bodies%velo_ptr, velo => state%triples%velo, conf => state%configurations%conf)
    do k = 0, np - 1
      b = rows(k)
      c = conf_ptr(b)
      v = velo_ptr(b)
      call velocity_blocks(kind(b), conf(:,c:c+3), centre(:,b), points(:,k), identity, count, blocks)
      velocities(:,k) = 0
      do m = 1, count
        velocities(:,k) = velocities(:,k) + multiply(blocks(:,:,m), velo(:,v+m-1))
      end do
    end do
    end associate
  end subroutine point_velocities

end module point_motion
