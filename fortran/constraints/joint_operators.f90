!> Operators of the user's constraints outside of local dynamics, for starts of joints.
module joint_operators
  use kinds, only: dp, i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use row_operator, only: operator_of
  use state_tables, only: constraint_table, finite_elements, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: fill_joint_operators

contains

  !> Computes H of some of the user's constraints at the present configuration; blocks of slaves include their sign.
  !>
  !> Reads of bodies kind, centre, pointers and conf; of constraints kind, master, slave, points, element, weights, base, length.
  !>
  !>   bodies, constraints, elements   handles (BodyTable.handles, ConstraintTable.handle, FiniteElements.handle)
  !>   n, rows                      (0:n-1) rows of constraints
  !>   triple                       (16,0:n-1) out: velocity triples of the master (8) and the slave (8), -1: none
  !>   operator                     (3,3,16,0:n-1) out: blocks, 0 where there is no triple
  !>   status                       `table_open` or `table_unknown`
  subroutine fill_joint_operators(bodies, constraints, elements, n, rows, triple, operator, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1)
    integer(i4), intent(inout) :: triple(16,0:n-1)
    real(dp), intent(inout) :: operator(3,3,16,0:n-1)
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    type(constraint_table) :: con
    type(finite_elements) :: fe
    real(dp) :: h(3,3,8)
    integer(i4) :: count, i, k, t(8)

    call open_bodies(bodies, state, status)
    if (status == table_open) call open_table(constraints, con, status)
    if (status == table_open) call open_table(elements, fe, status)
    if (status /= table_open) return
    triple = -1
    operator = 0.0_dp
    do k = 0, n - 1
      i = rows(k)
      call operator_of(state, con, fe, con%master(i), 1, i, con%master_point(:,i), count, h, t)
      triple(1:count,k) = t(1:count)
      operator(:,:,1:count,k) = h(:,:,1:count)
      if (con%slave(i) < 0) cycle
      call operator_of(state, con, fe, con%slave(i), 2, i, con%slave_point(:,i), count, h, t)
      triple(9:8+count,k) = t(1:count)
      operator(:,:,9:8+count,k) = -h(:,:,1:count)
    end do
  end subroutine fill_joint_operators
end module joint_operators
