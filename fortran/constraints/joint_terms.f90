!> Terms that joints add to U = -V, fitted to one another (joint_rows).
!>
!> They come from earlier configurations.  Joints that hold a motion twice contradict one another by the turn of half a step then, and reactions that
!> balance one another, of any size, would have to answer for it.  So the terms of a step are the nearest ones that some motion has.
module joint_terms
  use kinds, only: dp, i4, i8
  use body_state, only: constrained_bodies, open_constrained_bodies
  use gap_factors, only: sides
  use gap_motion, only: list_gap, motion_of_gaps
  use joint_rows, only: added_target, change_added_target
  use kind_numbers, only: impact => joint_start_impact, met => joint_start_met
  use row_operator, only: operator_of
  use state_tables, only: constraint_table, joint_gap_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: list_terms, fit_terms, take_terms

contains

  !> Lists the terms of joints, and their operators H L, L L^T = M^-1.
  !>
  !> Reads what row_operator reads, inverse_inertia and velo_prev of triples, and of constraints id, start, joint, value, U and reversing.  Writes
  !> constraint, component, gap (minus the term), triple and operator of gaps.
  !>
  !>   bodies, constraints, elements, gaps   handles (BodyTable.handles, ConstraintTable, FiniteElements, JointGapTable with room for 3 n)
  !>   n, rows        (0:n-1) rows of constraints, ascending
  !>   asked          (3,0:nkind-1) by kinds of constraints, 1: components that are prescribed
  !>   count          out: rows of gaps
  !>   status         `table_open` or `table_unknown`
  subroutine list_terms(bodies, constraints, elements, gaps, n, rows, nkind, asked, count, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements, gaps
    integer(i4), intent(in) :: n, nkind
    integer(i4), intent(in) :: rows(0:n-1), asked(3,0:nkind-1)
    integer(i4), intent(out) :: count, status
    type(constrained_bodies) :: state
    type(joint_gap_table) :: found
    real(dp) :: v(3)
    integer(i4) :: i, k

    count = 0
    call open_constrained_bodies(bodies, elements, constraints, state, status)
    if (status == table_open) call open_table(gaps, found, status)
    if (status /= table_open) return
    do k = 0, n - 1
      i = rows(k)
      v = 0.0_dp
      if (any(state%con%start(i) == [met, impact])) v = velocity_before(state, i)
      call list_gap(state, i, asked(:,state%con%kind(i)), -added_target(state%con, i, v), found, count)
    end do
  end subroutine list_terms

  !> Relative velocity V of constraint i at the start of the step.
  function velocity_before(state, i) result(v)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    real(dp) :: v(3), h(3,3,8)
    integer(i4) :: count, e, t(8)

    v = 0.0_dp
    call operator_of(state, state%con%master(i), 1, i, state%con%master_point(:,i), count, h, t)
    do e = 1, count
      v = v + matmul(h(:,:,e), state%triples%velo_prev(:,t(e)))
    end do
    if (state%con%slave(i) < 0) return
    call operator_of(state, state%con%slave(i), 2, i, state%con%slave_point(:,i), count, h, t)
    do e = 1, count
      v = v - matmul(h(:,:,e), state%triples%velo_prev(:,t(e)))
    end do
  end function velocity_before

  !> Replaces terms by the nearest ones that some motion has.
  !>
  !> Reads of gaps constraint, triple and operator; replaces gap, writes force.
  !>
  !>   gaps           handle; rows of one constraint follow one another
  !>   n, triples     rows of gaps; triples on which they act are counted from 0 to triples-1
  !>   redundant      added to the diagonal of (H L) (H L)^T, relative to it
  !>   regular        out: 0 if the matrix has no factors; then nothing changes
  !>   status         `table_open` or `table_unknown`
  subroutine fit_terms(gaps, n, triples, redundant, regular, status)
    integer(i8), intent(in) :: gaps
    integer(i4), intent(in) :: n, triples
    real(dp), intent(in) :: redundant
    integer(i4), intent(out) :: regular, status
    type(joint_gap_table) :: found
    real(dp) :: motion(3,0:triples-1)
    logical :: factored
    integer(i4) :: e, i

    regular = 0
    call open_table(gaps, found, status)
    if (status /= table_open) return
    call motion_of_gaps(found, n, triples, redundant, motion, factored)
    if (.not. factored) return
    regular = 1
    do i = 0, n - 1
      found%gap(i) = 0.0_dp
      do e = 1, sides
        if (found%triple(e,i) < 0) exit
        found%gap(i) = found%gap(i) - dot_product(found%operator(:,e,i), motion(:,found%triple(e,i)))
      end do
    end do
  end subroutine fit_terms

  !> Changes terms of joints.
  !>
  !>   constraints    handle; value and reversing are written
  !>   n, rows        (0:n-1) rows of constraints
  !>   component      (0:n-1) from 1
  !>   change         (0:n-1) to be added
  !>   status         `table_open` or `table_unknown`
  subroutine take_terms(constraints, n, rows, component, change, status)
    integer(i8), intent(in) :: constraints
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1), component(0:n-1)
    real(dp), intent(in) :: change(0:n-1)
    integer(i4), intent(out) :: status
    type(constraint_table) :: con
    integer(i4) :: k

    call open_table(constraints, con, status)
    if (status /= table_open) return
    do k = 0, n - 1
      call change_added_target(con, rows(k), component(k), change(k))
    end do
  end subroutine take_terms
end module joint_terms
