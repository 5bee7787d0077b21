!> Joints in loops, placed where their points and axes meet.
!>
!> In the middle of a step points of joints are apart, by their drift and by half a step's motion.  Joints that hold a motion twice then hold
!> motions that they should leave free: two hinges on one axis hold bodies by the angle between the line through their points and the axis.
!> So H of a step is taken where joints of loops are closed.  Bodies do not stay there.
module closed_loops
  use kinds, only: dp, i4, i8
  use body_state, only: bodies_and_triples, constrained_bodies, open_bodies, open_constrained_bodies
  use gap_factors, only: factored_gaps, sides
  use gap_motion, only: factor_motion, list_gap, motion_by_factors, motion_of_gaps
  use joint_gaps, only: error_of
  use matrix3, only: cholesky
  use rotation, only: exponential_map
  use state_tables, only: joint_gap_table, open_table
  use table_registry, only: table_open
  use velocity_operator, only: rigid_kind
  implicit none
  private
  public :: list_loops, measure_misfit, loop_motion, move_loops

  integer, parameter :: starts = 2              !< since reactions of one may fit together by chance
  real(dp), parameter :: golden = 0.6180339887_dp
  integer, parameter :: iterations = 5          !< inverse ones, which find reactions that balance one another
  real(dp), parameter :: balanced = 0.5_dp      !< growth of such reactions in an iteration, over that of those that move nothing

contains

  !> Lists the components of joints in loops, with their gaps and operators H L, L L^T = M^-1.
  !>
  !> Reads what `list_gaps` reads (joint_closing), and inverse_inertia of triples.  Writes constraint, component, gap, triple and operator of
  !> gaps.
  !>
  !>   bodies, constraints, elements, gaps   handles (BodyTable.handles, ConstraintTable, FiniteElements, JointGapTable with room for 3 rows each)
  !>   n, rows        (0:n-1) rows of constraints, ascending
  !>   holds          (3,0:nkind-1) 1: components that hold
  !>   count          out: rows of gaps
  !>   status         `table_open` or `table_unknown`
  subroutine list_loops(bodies, constraints, elements, gaps, n, rows, nkind, holds, count, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements, gaps
    integer(i4), intent(in) :: n, nkind
    integer(i4), intent(in) :: rows(0:n-1), holds(3,0:nkind-1)
    integer(i4), intent(out) :: count, status
    type(constrained_bodies) :: state
    type(joint_gap_table) :: found
    integer(i4) :: k

    count = 0
    call open_constrained_bodies(bodies, elements, constraints, state, status)
    if (status == table_open) call open_table(gaps, found, status)
    if (status /= table_open) return
    do k = 0, n - 1
      call list_gap(state, rows(k), holds(:,state%con%kind(rows(k))), error_of(state, rows(k)), found, count)
    end do
  end subroutine list_loops

  !> Measures how far reactions of redundant joints are from balancing one another on every body: zero if no joints are redundant, or where they fit
  !> together, as joints of a linkage in a plane always do.  Reactions found from anything stand for all.
  !>
  !>   gaps           handle; rows of one constraint follow one another; `force` is written
  !>   n, triples     rows of gaps; triples on which they act are counted from 0 to triples-1
  !>   redundant      added to the diagonal of (H L) (H L)^T, relative to it; much more than the squares of misfits
  !>   found_any      out: 1 if some joints are redundant
  !>   misfit         out: forces that are left on bodies over those that balance one another
  !>   status         `table_open` or `table_unknown`
  subroutine measure_misfit(gaps, n, triples, redundant, found_any, misfit, status)
    integer(i8), intent(in) :: gaps
    integer(i4), intent(in) :: n, triples
    real(dp), intent(in) :: redundant
    integer(i4), intent(out) :: found_any, status
    real(dp), intent(out) :: misfit
    type(joint_gap_table) :: found
    real(dp) :: kept(0:n-1), z(0:n-1), weight(0:n-1), motion(3,0:triples-1), size(0:triples-1), growth
    type(factored_gaps) :: factors
    logical :: factored
    integer(i4) :: e, i, k, start, t

    misfit = 0.0_dp
    found_any = 0
    call open_table(gaps, found, status)
    if (status /= table_open) return
    size = 0.0_dp
    do i = 0, n - 1
      weight(i) = 0.0_dp
      do e = 1, sides
        if (found%triple(e,i) < 0) exit
        weight(i) = weight(i) + sum(found%operator(:,e,i)**2)
        size(found%triple(e,i)) = size(found%triple(e,i)) + norm2(found%operator(:,e,i))
      end do
    end do
    call factor_motion(found, n, triples, redundant, factors, factored)
    if (.not. factored) return
    kept = found%gap(0:n-1)
    do start = 1, starts
      z = [(modulo(golden**start*(i + 1), 1.0_dp) - 0.5_dp, i = 0, n - 1)]
      do k = 1, iterations
        z = z/norm2(z)
        found%gap(0:n-1) = -weight*z
        call motion_by_factors(found, n, triples, factors, motion, factored)
        if (.not. factored) exit
        z = found%force(0:n-1)
        growth = redundant*norm2(z)
      end do
      if (.not. factored) exit
      if (growth < balanced) exit
      found_any = 1
      do t = 0, triples - 1   ! motion is H^T z
        if (size(t) > 0.0_dp) misfit = max(misfit, norm2(motion(:,t))/(size(t)*maxval(abs(z))))
      end do
    end do
    found%gap(0:n-1) = kept
  end subroutine measure_misfit

  !> Computes the motion that closes gaps, scaled: y of module gap_motion.
  !>
  !>   gaps           handle; rows of one constraint follow one another; `force` is written
  !>   n, triples     rows of gaps; triples on which they act are counted from 0 to triples-1
  !>   redundant      added to the diagonal of (H L) (H L)^T, relative to it
  !>   motion         (3,0:triples-1) out
  !>   regular        out: 0 if the matrix has no factors
  !>   status         `table_open` or `table_unknown`
  subroutine loop_motion(gaps, n, triples, redundant, motion, regular, status)
    integer(i8), intent(in) :: gaps
    integer(i4), intent(in) :: n, triples
    real(dp), intent(in) :: redundant
    real(dp), intent(inout) :: motion(3,0:triples-1)
    integer(i4), intent(out) :: regular, status
    type(joint_gap_table) :: found
    logical :: factored

    regular = 0
    call open_table(gaps, found, status)
    if (status /= table_open) return
    call motion_of_gaps(found, n, triples, redundant, motion, factored)
    if (factored) regular = 1
  end subroutine loop_motion

  !> Moves bodies; their velocities stay.
  !>
  !> Reads of bodies kind and pointers, inverse_inertia of triples; writes conf.
  !>
  !>   bodies         handles
  !>   n, rows        (0:n-1) rigid and pseudo-rigid bodies
  !>   triples, place (0:triples-1) columns of `motion` of the triples of all bodies, -1: it does not move
  !>   m, motion      (3,0:m-1) y of `loop_motion`
  !>   status         `table_open` or `table_unknown`
  subroutine move_loops(bodies, n, rows, triples, place, m, motion, status)
    integer(i8), intent(in) :: bodies(3)
    integer(i4), intent(in) :: n, triples, m
    integer(i4), intent(in) :: rows(0:n-1), place(0:triples-1)
    real(dp), intent(in) :: motion(3,0:m-1)
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    real(dp) :: turned(3,3), way(3,0:3)
    integer(i4) :: c, e, k, v

    call open_bodies(bodies, state, status)
    if (status /= table_open) return
    associate (conf => state%configurations%conf)
      do k = 0, n - 1
        c = state%bodies%conf_ptr(rows(k))
        v = state%bodies%velo_ptr(rows(k))
        way = 0.0_dp
        do e = 0, merge(1, 3, state%bodies%kind(rows(k)) == rigid_kind)
          if (place(v+e) >= 0) way(:,e) = displacement(state%triples%inverse_inertia(:,:,v+e), motion(:,place(v+e)))
        end do
        if (state%bodies%kind(rows(k)) == rigid_kind) then
          call exponential_map(way(:,0), turned)
          conf(:,c:c+2) = matmul(conf(:,c:c+2), turned)
          conf(:,c+3) = conf(:,c+3) + way(:,1)
        else
          conf(:,c:c+3) = conf(:,c:c+3) + way
        end if
      end do
    end associate
  end subroutine move_loops

  !> Displacement L y of a triple.
  pure function displacement(inverse, motion) result(way)
    real(dp), intent(in) :: inverse(3,3), motion(3)
    real(dp) :: way(3), factor(3,3)

    call cholesky(1.0_dp, inverse, factor)
    way = matmul(factor, motion)
  end function displacement
end module closed_loops
