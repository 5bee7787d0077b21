!> Velocities of the user's constraints outside of local dynamics, for starts of joints and for motors.
module joint_operators
  use kinds, only: dp, i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use row_operator, only: operator_of
  use state_tables, only: constraint_table, finite_elements, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: joint_velocities

contains

  !> Computes relative velocities H u of some of the user's constraints at the present configuration, in local components.
  !>
  !> Reads of bodies kind, centre, pointers, conf, velo or velo_prev; of constraints kind, master, slave, points, element, weights, base, length.
  !>
  !>   bodies, constraints, elements   handles (BodyTable.handles, ConstraintTable.handle, FiniteElements.handle)
  !>   n, rows                      (0:n-1) rows of constraints
  !>   before                       1: from velocities at the start of the present step
  !>   velocity                     (3,0:n-1) out
  !>   size                         (0:n-1) out: sum of the norms of its terms
  !>   status                       `table_open` or `table_unknown`
  subroutine joint_velocities(bodies, constraints, elements, n, rows, before, velocity, size, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements
    integer(i4), intent(in) :: n, before
    integer(i4), intent(in) :: rows(0:n-1)
    real(dp), intent(inout) :: velocity(3,0:n-1), size(0:n-1)
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    type(constraint_table) :: con
    type(finite_elements) :: fe
    integer(i4) :: i, k

    call open_bodies(bodies, state, status)
    if (status == table_open) call open_table(constraints, con, status)
    if (status == table_open) call open_table(elements, fe, status)
    if (status /= table_open) return
    velocity = 0.0_dp
    size = 0.0_dp
    do k = 0, n - 1
      i = rows(k)
      call add(con%master(i), 1, con%master_point(:,i), 1.0_dp)
      if (con%slave(i) >= 0) call add(con%slave(i), 2, con%slave_point(:,i), -1.0_dp)
    end do

  contains

    !> Adds the velocity of a point of body b.
    subroutine add(b, side, point, sign)
      integer(i4), intent(in) :: b
      integer, intent(in) :: side
      real(dp), intent(in) :: point(3), sign
      real(dp) :: h(3,3,8), part(3)
      integer(i4) :: count, e, t(8)

      call operator_of(state, con, fe, b, side, i, point, count, h, t)
      do e = 1, count
        if (before /= 0) then
          part = sign*matmul(h(:,:,e), state%triples%velo_prev(:,t(e)))
        else
          part = sign*matmul(h(:,:,e), state%triples%velo(:,t(e)))
        end if
        velocity(:,k) = velocity(:,k) + part
        size(k) = size(k) + norm2(part)
      end do
    end subroutine add
  end subroutine joint_velocities
end module joint_operators
