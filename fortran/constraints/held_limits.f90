!> Limits along axes, and ropes, whose motion joints hold already (solfec/solvers/held_limits.py).
module held_limits
  use kinds, only: dp, i4, i8
  use body_state, only: constrained_bodies, open_constrained_bodies
  use gap_factors, only: factored_gaps, sides
  use gap_motion, only: factor_motion, list_gap, motion_by_factors
  use state_tables, only: joint_gap_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: list_limits, find_held

  integer(i4), parameter :: along(3) = [0, 0, 1]   !< components that limits hold
  integer, parameter :: iterations = 8             !< each divides what `redundant` leaves of a row by its smallness

contains

  !> Lists limits after the rows of joints that `list_loops` (closed_loops) has listed, as it lists these.
  !>
  !>   bodies, constraints, elements, gaps   handles (BodyTable.handles, ConstraintTable, FiniteElements, JointGapTable with room for n rows more)
  !>   n, rows        (0:n-1) rows of constraints, ascending
  !>   first          rows of gaps that there are
  !>   count          out: rows of gaps
  !>   status         `table_open` or `table_unknown`
  subroutine list_limits(bodies, constraints, elements, gaps, n, rows, first, count, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements, gaps
    integer(i4), intent(in) :: n, first
    integer(i4), intent(in) :: rows(0:n-1)
    integer(i4), intent(out) :: count, status
    type(constrained_bodies) :: state
    type(joint_gap_table) :: found
    integer(i4) :: k

    count = first
    call open_constrained_bodies(bodies, elements, constraints, state, status)
    if (status == table_open) call open_table(gaps, found, status)
    if (status /= table_open) return
    do k = 0, n - 1
      call list_gap(state, rows(k), along, [0.0_dp, 0.0_dp, 0.0_dp], found, count)
      found%limit(count-1) = 1
    end do
  end subroutine list_limits

  !> Finds whether joints hold the motions of limits: whether rows of limits are sums of rows of joints.
  !>
  !>   gaps           handle; rows of one constraint follow one another; gap and force of joints are written
  !>   joints         rows of gaps of joints; those of limits follow
  !>   triples        on which they act, counted from 0
  !>   redundant      added to the diagonal of (H L) (H L)^T, relative to it
  !>   misfit         part of the row of a limit that rows of joints may leave
  !>   limits, held   (0:limits-1) out, 1: joints hold the motion of a limit
  !>   regular        out: 0 if the matrix has no factors; then `held` is unknown
  !>   status         `table_open` or `table_unknown`
  subroutine find_held(gaps, joints, triples, redundant, misfit, limits, held, regular, status)
    integer(i8), intent(in) :: gaps
    integer(i4), intent(in) :: joints, triples, limits
    real(dp), intent(in) :: redundant, misfit
    integer(i4), intent(inout) :: held(0:limits-1)
    integer(i4), intent(out) :: regular, status
    type(joint_gap_table) :: found
    type(factored_gaps) :: factors
    real(dp) :: rest(3,0:triples-1), motion(3,0:triples-1), size
    logical :: factored
    integer(i4) :: i, k, l

    regular = 0
    call open_table(gaps, found, status)
    if (status /= table_open) return
    call factor_motion(found, joints, triples, redundant, factors, factored)
    if (.not. factored) return
    regular = 1
    do l = 0, limits - 1
      rest = 0.0_dp
      call add_row(found, joints + l, rest)
      size = norm2(rest)
      do k = 1, iterations
        do i = 0, joints - 1
          found%gap(i) = -along_row(found, i, rest)
        end do
        call motion_by_factors(found, joints, triples, factors, motion, factored)
        if (.not. factored) exit
        rest = rest - motion
        if (norm2(rest) <= misfit*size) exit
      end do
      held(l) = merge(1, 0, norm2(rest) <= misfit*size)
    end do
  end subroutine find_held

  !> Adds row l to a motion of triples.
  subroutine add_row(gaps, l, motion)
    type(joint_gap_table), intent(in) :: gaps
    integer(i4), intent(in) :: l
    real(dp), intent(inout) :: motion(:,0:)
    integer(i4) :: e

    do e = 1, sides
      if (gaps%triple(e,l) < 0) exit
      motion(:,gaps%triple(e,l)) = motion(:,gaps%triple(e,l)) + gaps%operator(:,e,l)
    end do
  end subroutine add_row

  !> Product of row i with a motion of triples.
  pure real(dp) function along_row(gaps, i, motion) result(product)
    type(joint_gap_table), intent(in) :: gaps
    integer(i4), intent(in) :: i
    real(dp), intent(in) :: motion(:,0:)
    integer(i4) :: e

    product = 0.0_dp
    do e = 1, sides
      if (gaps%triple(e,i) < 0) exit
      product = product + dot_product(gaps%operator(:,e,i), motion(:,gaps%triple(e,i)))
    end do
  end function along_row
end module held_limits
