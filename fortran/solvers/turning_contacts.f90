!> Curvature of the gaps of contacts whose bodies turn (docs/theory.md, Contact law).
module turning_contacts
  use kinds, only: dp, i4
  use body_state, only: bodies_and_triples
  use contacts, only: part_beneath
  use matrix3, only: cross, multiply, multiply_transposed
  use point_places, only: spatial_point
  use state_tables, only: constraint_table
  use velocity_operator, only: obstacle_kind, rigid_kind, finite_element_kind
  implicit none
  private
  public :: gap_acceleration

contains

  !> Acceleration of the master at contact i relative to the slave that follows from present velocities, local.
  !>
  !> With angular velocities w, arms r from mass centres, and the normal n that the slave, for instance, carries along,
  !>
  !>     a = w_m x (w_m x r_m) - w_s x (w_s x r_s) + w x K (w x n) + 2 n (w_s x n).v,   w = w_m - w_s,
  !>
  !> where K are the radii of curvature of the master, on which the contact point moves by K (w x n), and v is the slip.
  pure function gap_acceleration(state, con, i, v) result(local)
    type(bodies_and_triples), intent(in) :: state
    type(constraint_table), intent(in) :: con
    integer(i4), intent(in) :: i
    real(dp), intent(in) :: v(3)                  !< velocity of the master's contact point relative to the slave's, local
    real(dp) :: local(3), master(3), slave(3), spin(3,2), turn(3), up(3), part

    part = part_beneath(state, con%master(i), con%slave(i), con%gap(i))
    up = gap_beside(state, con, i)*con%base(:,3,i)
    call follow(state, con%master(i), con%master_point(:,i), (1.0_dp - part)*up, spin(:,1), master)
    call follow(state, con%slave(i), con%slave_point(:,i), -part*up, spin(:,2), slave)
    local = multiply_transposed(con%base(:,:,i), master - slave)
    turn = con%carriers(1,i)*spin(:,1) + con%carriers(2,i)*spin(:,2)
    local(3) = local(3) + 2*dot_product(cross(turn, con%base(:,3,i)), multiply(con%base(:,:,i), v))
    if (.not. any(con%rounding(:,:,i) > 0.0_dp)) return
    turn = multiply_transposed(con%base(:,:,i), spin(:,1) - con%carriers(2,i)*spin(:,2))
    local = local + bend(con%rounding(:,1,i), turn)
    turn = multiply_transposed(con%base(:,:,i), spin(:,2) - con%carriers(1,i)*spin(:,1))
    local = local + bend(con%rounding(:,2,i), turn)
  end function gap_acceleration

  !> The part of the gap of contact i that is not between its two points: all of it where bodies have one point, none where each
  !> has its own.
  pure function gap_beside(state, con, i) result(gap)
    type(bodies_and_triples), intent(in) :: state
    type(constraint_table), intent(in) :: con
    integer(i4), intent(in) :: i
    real(dp) :: gap, apart(3)

    gap = max(con%gap(i), 0.0_dp)
    if (.not. gap > 0.0_dp) return
    if (any(state%bodies%kind([con%master(i), con%slave(i)]) == finite_element_kind)) return
    apart = spatial_point(state, con%master(i), con%master_point(:,i)) - spatial_point(state, con%slave(i), con%slave_point(:,i))
    gap = max(gap - dot_product(con%base(:,3,i), apart), 0.0_dp)
  end function gap_beside

  !> The vector w x K (w x n), in local components; the base may be left-handed, since the product is taken twice.
  pure function bend(radii, w) result(local)
    real(dp), intent(in) :: radii(3)              !< K_11, K_22, K_12
    real(dp), intent(in) :: w(3)
    real(dp) :: local(3)

    local = cross(w, [radii(1)*w(2) - radii(3)*w(1), radii(3)*w(2) - radii(2)*w(1), 0.0_dp])  ! w x n = (w_2, -w_1, 0)
  end function bend

  !> Angular velocity w of a body, and acceleration w x (w x r) of one of its points; zero of deformable bodies, whose points
  !> move straight on within a step.
  pure subroutine follow(state, k, point, across, spin, acceleration)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: k
    real(dp), intent(in) :: point(3)              !< referential
    real(dp), intent(in) :: across(3)             !< from the contact's point to the body's surface, spatial
    real(dp), intent(out) :: spin(3), acceleration(3)
    integer(i4) :: c, u

    spin = 0.0_dp
    acceleration = 0.0_dp
    if (state%bodies%kind(k) /= obstacle_kind .and. state%bodies%kind(k) /= rigid_kind) return
    c = state%bodies%conf_ptr(k)
    u = state%bodies%velo_ptr(k)
    if (.not. any(abs(state%triples%velo_prev(:,u)) > 0.0_dp)) return
    spin = multiply(state%configurations%conf(:,c:c+2), state%triples%velo_prev(:,u))
    acceleration = multiply(state%configurations%conf(:,c:c+2), point - state%bodies%centre(:,k)) + across
    acceleration = cross(spin, cross(spin, acceleration))
  end subroutine follow
end module turning_contacts
