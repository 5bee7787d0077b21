!> Operators of the user's constraints outside of local dynamics, for drift and starts of joints.
module joint_operators
  use kinds, only: dp, i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use kind_numbers, only: fixdir => constraint_fixdir, link => constraint_riglnk, pivot => constraint_pivot, &
    lock => constraint_lock, swivel => constraint_swivel, guide => constraint_guide, axial => constraint_axial, &
    torsional => constraint_torsional, span => constraint_span, gear => constraint_gear, rack => constraint_rack
  use matrix3, only: cross, multiply_transposed
  use row_operator, only: operator_of
  use state_tables, only: constraint_table, open_table
  use table_registry, only: table_open
  use velocity_operator, only: rotation_of
  implicit none
  private
  public :: fill_joint_operators, fill_joint_errors

contains

  !> Computes H of some of the user's constraints at the present configuration; blocks of slaves include their sign.
  !>
  !> Reads of bodies kind, centre, pointers and conf; of constraints kind, master, slave, points, element, weights, base, length.
  !>
  !>   bodies, constraints          handles (BodyTable.handles, ConstraintTable.handle)
  !>   n, rows                      (0:n-1) rows of constraints
  !>   element_size, element_node   (.., 0:ne-1) of finite element bodies
  !>   triple                       (16,0:n-1) out: velocity triples of the master (8) and the slave (8), -1: none
  !>   operator                     (3,3,16,0:n-1) out: blocks, 0 where there is no triple
  !>   status                       `table_open` or `table_unknown`
  subroutine fill_joint_operators(bodies, constraints, n, rows, ne, element_size, element_node, triple, operator, status)
    integer(i8), intent(in) :: bodies(3), constraints
    integer(i4), intent(in) :: n, ne
    integer(i4), intent(in) :: rows(0:n-1), element_size(0:ne-1), element_node(8,0:ne-1)
    integer(i4), intent(inout) :: triple(16,0:n-1)
    real(dp), intent(inout) :: operator(3,3,16,0:n-1)
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    type(constraint_table) :: con
    real(dp) :: h(3,3,8)
    integer(i4) :: count, i, k, t(8)

    call open_bodies(bodies, state, status)
    if (status == table_open) call open_table(constraints, con, status)
    if (status /= table_open) return
    triple = -1
    operator = 0.0_dp
    do k = 0, n - 1
      i = rows(k)
      call operator_of(state, con, element_size, element_node, con%master(i), 1, i, con%master_point(:,i), count, h, t)
      triple(1:count,k) = t(1:count)
      operator(:,:,1:count,k) = h(:,:,1:count)
      if (con%slave(i) < 0) cycle
      call operator_of(state, con, element_size, element_node, con%slave(i), 2, i, con%slave_point(:,i), count, h, t)
      triple(9:8+count,k) = t(1:count)
      operator(:,:,9:8+count,k) = -h(:,:,1:count)
    end do
  end subroutine fill_joint_operators

  !> Computes displacements of some of the user's constraints from their places, along the components of their rows; angles times the row's arm.
  !>
  !> Reads of bodies kind, conf_ptr and conf; of constraints kind, master, slave, points, base, gap, axes, length, limits, all updated by
  !> `update_user_constraints`.
  !>
  !>   bodies, constraints   handles (BodyTable.handles, ConstraintTable.handle)
  !>   n, rows               (0:n-1) rows of constraints
  !>   error                 (3,0:n-1) out
  !>   status                `table_open` or `table_unknown`
  subroutine fill_joint_errors(bodies, constraints, n, rows, error, status)
    integer(i8), intent(in) :: bodies(3), constraints
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1)
    real(dp), intent(inout) :: error(3,0:n-1)
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    type(constraint_table) :: con
    real(dp) :: mine(3,3), other(3,3)
    integer(i4) :: i, k

    call open_bodies(bodies, state, status)
    if (status == table_open) call open_table(constraints, con, status)
    if (status /= table_open) return
    do k = 0, n - 1
      i = rows(k)
      error(:,k) = 0.0_dp
      select case (con%kind(i))
      case (link)
        error(3,k) = con%gap(i)
      case (fixdir)
        error(3,k) = dot_product(con%base(:,3,i), con%point(:,i) - con%other_point(:,i))
      case (guide)
        error(1:2,k) = matmul(transpose(con%base(:,1:2,i)), con%point(:,i) - con%other_point(:,i))
      case (pivot)
        ! the rotation that takes the slave's n to the master's
        mine = frame(con%master(i), con%axes(:,:,1,i))
        error(1:2,k) = con%length(i)*matmul(transpose(con%base(:,1:2,i)), cross(con%base(:,3,i), mine(:,1)))
      case (lock)
        mine = frame(con%master(i), con%axes(:,:,1,i))
        other = frame(con%slave(i), con%axes(:,:,2,i))
        error(:,k) = 0.5_dp*con%length(i)*multiply_transposed(con%base(:,:,i), &
          cross(other(:,1), mine(:,1)) + cross(other(:,2), mine(:,2)) + cross(other(:,3), mine(:,3)))
      case (swivel)
        error(3,k) = con%length(i)*con%gap(i)
      case (gear)
        error(3,k) = con%length(i)*(con%gap(i) - con%gearing(2,i))
      case (rack)
        error(3,k) = con%gap(i) - con%gearing(2,i)
      case (axial, span)
        error(3,k) = beyond(con%gap(i), con%limits(:,i))
      case (torsional)
        error(3,k) = con%length(i)*beyond(con%gap(i), con%limits(:,i))
      case default
        error(:,k) = multiply_transposed(con%base(:,:,i), con%point(:,i) - con%other_point(:,i))
      end select
    end do

  contains

    !> Right-handed frame of two vectors that body k, or space, carries.
    function frame(k, axes) result(carried)
      integer(i4), intent(in) :: k
      real(dp), intent(in) :: axes(3,2)
      real(dp) :: carried(3,3)

      carried(:,1:2) = axes
      if (k >= 0) then
        associate (c => state%bodies%conf_ptr(k))
          carried(:,1:2) = matmul(rotation_of(state%bodies%kind(k), state%configurations%conf(:,c:c+3)), axes)
        end associate
      end if
      carried(:,3) = cross(carried(:,1), carried(:,2))
    end function frame
  end subroutine fill_joint_errors

  !> Distance of a coordinate beyond its limits.
  pure real(dp) function beyond(coordinate, limits)
    real(dp), intent(in) :: coordinate, limits(2)
    beyond = max(coordinate - limits(2), 0.0_dp) + min(coordinate - limits(1), 0.0_dp)
  end function beyond
end module joint_operators
