!> Gaps of joints: how far they are from their places.
module joint_gaps
  use kinds, only: dp, i4
  use body_state, only: constrained_bodies
  use element_frames, only: rotation_at
  use kind_numbers, only: fixdir => constraint_fixdir, link => constraint_riglnk, pivot => constraint_pivot, &
    lock => constraint_lock, swivel => constraint_swivel, guide => constraint_guide, axial => constraint_axial, &
    torsional => constraint_torsional, span => constraint_span, gear => constraint_gear, rack => constraint_rack
  use matrix3, only: cross, multiply_transposed
  implicit none
  private
  public :: error_of

contains

  !> Displacements of constraint i from its place, along the components of its row; angles times the row's arm.
  function error_of(state, i) result(error)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    real(dp) :: error(3), mine(3,3), other(3,3)

    error = 0.0_dp
    select case (state%con%kind(i))
    case (link)
      error(3) = state%con%gap(i)
    case (fixdir)
      error(3) = dot_product(state%con%base(:,3,i), state%con%point(:,i) - state%con%other_point(:,i))
    case (guide)
      error(1:2) = matmul(transpose(state%con%base(:,1:2,i)), state%con%point(:,i) - state%con%other_point(:,i))
    case (pivot)
      ! the rotation that takes the slave's n to the master's
      mine = frame(state%con%master(i), 1)
      error(1:2) = state%con%length(i)*matmul(transpose(state%con%base(:,1:2,i)), cross(state%con%base(:,3,i), mine(:,1)))
    case (lock)
      mine = frame(state%con%master(i), 1)
      other = frame(state%con%slave(i), 2)
      error = 0.5_dp*state%con%length(i)*multiply_transposed(state%con%base(:,:,i), &
        cross(other(:,1), mine(:,1)) + cross(other(:,2), mine(:,2)) + cross(other(:,3), mine(:,3)))
    case (swivel)
      error(3) = state%con%length(i)*state%con%gap(i)
    case (gear)
      error(3) = state%con%length(i)*(state%con%gap(i) - state%con%gearing(2,i))
    case (rack)
      error(3) = state%con%gap(i) - state%con%gearing(2,i)
    case (span)
      ! A rope that pulls has its length, as a rod has.  Closed from the outside alone, it would be slack by the error of time
      ! integration where a swing slows down, and knock.
      error(3) = beyond(state%con%gap(i), state%con%limits(:,i))
      if (state%con%R(3,i) < 0.0_dp .and. state%con%motor(i) == 0) error(3) = state%con%gap(i) - state%con%limits(2,i)
    case (axial)
      error(3) = beyond(state%con%gap(i), state%con%limits(:,i))
    case (torsional)
      error(3) = state%con%length(i)*beyond(state%con%gap(i), state%con%limits(:,i))
    case default
      error = multiply_transposed(state%con%base(:,:,i), state%con%point(:,i) - state%con%other_point(:,i))
    end select

  contains

    !> Right-handed frame of the axes on one side, which body k, or space, carries.
    function frame(k, side) result(carried)
      integer(i4), intent(in) :: k
      integer, intent(in) :: side
      real(dp) :: carried(3,3)

      carried(:,1:2) = state%con%axes(:,:,side,i)
      if (k >= 0) carried(:,1:2) = matmul(rotation_at(state, side, i), state%con%axes(:,:,side,i))
      carried(:,3) = cross(carried(:,1), carried(:,2))
    end function frame
  end function error_of

  !> Distance of a coordinate beyond its limits.
  pure real(dp) function beyond(coordinate, limits)
    real(dp), intent(in) :: coordinate, limits(2)
    beyond = max(coordinate - limits(2), 0.0_dp) + min(coordinate - limits(1), 0.0_dp)
  end function beyond
end module joint_gaps
