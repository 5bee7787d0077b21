!> Laws of springs, row by row, before the sweeps.
module spring_rows
  use kinds, only: dp, i4, i8
  use curves, only: find_segment
  use row_tables, only: local_tables, open_local
  use kind_numbers, only: spring_row => row_spring, held_row => row_held
  use spring_law, only: window, s_stroke, s_lower, s_upper, s_dashpot, s_target, s_mean, s_reach, s_implicit
  use state_tables, only: constraint_table, spring_curves, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: assemble_springs

contains

  !> Fills law and curve window of spring rows (docs/language-objects.md, PUT_SPRING).
  !>
  !> Reads of constraints limits (strokes at the stops), gap (stroke), dashpot, implicit (1: implicit law; in dynamics) and curve (-1: a Python
  !> function); all curves; of rows order and V.  Writes of rows kind (held_row if a Python function gives the force), law and
  !> block (spring_law); the window fills the first 14 places of block.
  !>
  !>   constraints, curves, local   handles (ConstraintTable, SpringCurves, LocalDynamics.handles)
  !>   n                number of rows
  !>   dynamic, step    1: dynamics; h [time]
  !>   held             number of springs with Python functions
  !>   failed           a constraint whose curve is unknown, or -1
  !>   status           0 done; `table_unknown`
  subroutine assemble_springs(constraints, curves, local, n, dynamic, step, held, failed, status)
    integer(i8), intent(in) :: constraints, curves, local(6)
    integer(i4), intent(in) :: n, dynamic
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: held, failed, status
    type(constraint_table) :: con
    type(spring_curves) :: points
    type(local_tables) :: loc
    integer(i4) :: a, i, c, first

    held = 0
    failed = -1
    call open_table(constraints, con, status)
    if (status == table_open) call open_table(curves, points, status)
    if (status == table_open) call open_local(local, loc, status)
    if (status /= table_open) return
    do a = 0, n - 1
      if (loc%rows%kind(a) /= spring_row) cycle
      i = loc%rows%order(a)
      c = con%curve(i)
      if (c >= points%n) then
        failed = i
        return
      end if
      associate (law => loc%rows%law(:,a))
        law(s_stroke) = con%gap(i)
        law(s_lower) = con%limits(1,i)
        law(s_upper) = con%limits(2,i)
        law(s_dashpot) = con%dashpot(i)
        law(s_target) = 0.0_dp
        law(s_mean) = 1.0_dp
        law(s_reach) = step
        law(s_implicit) = 1.0_dp   ! a step of quasi-statics may be long: explicit forces would throw bodies about
        if (dynamic /= 0) then
          law(s_target) = -loc%rows%V(3,a)
          law(s_mean) = 0.5_dp
          law(s_reach) = 0.25_dp*step
          law(s_implicit) = real(con%implicit(i), dp)
        end if
      end associate
      if (c < 0) then
        loc%rows%kind(a) = held_row
        held = held + 1
      else
        first = points%start(c)
        call copy_window(points%start(c+1) - first, points%strokes(first:), points%forces(first:), con%gap(i), &
                         loc%rows%block(:,a))
      end if
    end do
  end subroutine assemble_springs

  !> Copies the knots around stroke s; a short curve is continued along its last piece.
  pure subroutine copy_window(points, stroke, force, s, block)
    integer(i4), intent(in) :: points
    real(dp), intent(in) :: stroke(points), force(points), s
    real(dp), intent(inout) :: block(16)
    integer :: low, first, count, k

    low = find_segment(stroke, 0, points - 1, s) + 1    ! which counts from 0
    first = max(1, min(low - window/2, points - window + 1))
    count = min(window, points)
    block(1:count) = stroke(first:first+count-1)
    block(window+1:window+count) = force(first:first+count-1)
    do k = count + 1, window
      block(k) = 2.0_dp*block(k-1) - block(k-2)
      block(window+k) = 2.0_dp*block(window+k-1) - block(window+k-2)
    end do
  end subroutine copy_window
end module spring_rows
