!> Wheels that mesh: two gears whose axes a frame holds, or a rack and a pinion (docs/mechanisms.md).
!>
!> The frame itself may move.  Its velocity is eliminated, so that a row couples the two wheels alone: with the axes n and p of gears that
!> turn at q' = r s', q and s the angles against the frame, and points a and b of these axes,
!>
!>   q' - r s' = n.w_a - r p.w_b - m.w_frame,   m = n - r p,   m.w_frame = (v_b - v_a).y,   y = m x d/|d|^2,   d = b - a,
!>
!> if d is square to m, since v_b - v_a = w_frame x d.  y is the direction of the common velocity of their rims, and the reaction acts there.
!> A rack does not turn against the frame, so w_frame is its own angular velocity.  The force on a rack without elements acts at the pinion's
!> axis; one of elements is held in the element at its slider's point, and the velocity at the axis is that of a rigid lever c from there,
!> v + w_frame x c.
module wheels
  use kinds, only: dp, i4, i8
  use kind_numbers, only: rack => constraint_rack
  use local_frame, only: frame_of_normal
  use matrix3, only: copy, cross
  use state_tables, only: constraint_table
  implicit none
  private
  public :: mesh_wheels

  integer, parameter :: ratio = 1, at_rims = 3     !< places in the column `gearing`
  integer, parameter :: turning = 1, moving = 2    !< places in `levers`: factors of angular velocities, and of velocities of points
  real(dp), parameter :: aligned = 1e-6_dp         !< as in user_constraints

contains

  !> Computes levers, base and gap of a row, whose points are up to date, and so are the rows of the joints whose coordinates it couples.
  subroutine mesh_wheels(rows, i, users, mine, other, lever_arm)
    type(constraint_table), intent(in) :: rows     !< its columns change
    integer(i4), intent(in) :: i, users
    real(dp), intent(in) :: mine(3), other(3)      !< axes that master and slave carry
    real(dp), intent(in) :: lever_arm(3)           !< from the point of a rack of elements to the pinion's axis; 0 for other racks
    real(dp) :: apart(3), rim(3)
    integer(i4) :: one, two

    rows%levers(:,:,:,i) = 0.0_dp
    associate (r => rows%gearing(ratio,i), lever => rows%levers(:,:,:,i))
      if (rows%kind(i) == rack .and. rows%slave(i) >= 0) then
        call copy(mine, lever(:,moving,1))
        call copy(mine, lever(:,moving,2))
        call copy(r*other + cross(lever_arm, mine), lever(:,turning,1))
        call copy(r*other, lever(:,turning,2))
      else if (rows%kind(i) == rack) then   ! a pinion on a rack in space
        call copy(-other, lever(:,moving,1))
        call copy(-r*mine, lever(:,turning,1))
      else
        rim = 0.0_dp
        if (rows%gearing(at_rims,i) > 0.0_dp) then
          apart = rows%other_point(:,i) - rows%point(:,i)
          rim = cross(mine - r*other, apart)/dot_product(apart, apart)
        end if
        call copy(rows%length(i)*mine, lever(:,turning,1))
        call copy(rows%length(i)*r*other, lever(:,turning,2))
        call copy(rows%length(i)*rim, lever(:,moving,1))
        call copy(rows%length(i)*rim, lever(:,moving,2))
      end if
    end associate
    rim = rows%levers(:,moving,1,i)
    if (.not. norm2(rim) > 0.0_dp) rim = mine
    rows%base(:,:,i) = frame_of_normal(rim/norm2(rim), aligned)
    one = row_of(rows, users, rows%geared(1,i))
    two = row_of(rows, users, rows%geared(2,i))
    if (one >= 0 .and. two >= 0) rows%gap(i) = rows%gap(one) - rows%gearing(ratio,i)*rows%gap(two)
  end subroutine mesh_wheels

  !> Row of one of the user's constraints, or -1; identifiers ascend.
  pure function row_of(rows, users, identifier) result(row)
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(in) :: users
    integer(i8), intent(in) :: identifier
    integer(i4) :: row, low, high

    low = 0
    high = users
    do while (low < high)
      row = low + (high - low)/2
      if (rows%id(row) < identifier) then
        low = row + 1
      else
        high = row
      end if
    end do
    row = -1
    if (low < users) then
      if (rows%id(low) == identifier) row = low
    end if
  end function row_of
end module wheels
