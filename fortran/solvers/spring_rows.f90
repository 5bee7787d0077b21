!> Laws of springs, row by row, before the sweeps.
module spring_rows
  use kinds, only: dp, i4
  use spring_law, only: spring_row, held_row, window, s_stroke, s_lower, s_upper, s_dashpot, s_target, s_mean, s_reach, s_implicit
  implicit none
  private
  public :: assemble_springs

contains

  !> Fills law and curve window of the springs among rows first .. n-1 (manual, PUT_SPRING).
  !>
  !>   order, row_kind  (0:nrow-1) constraint of every row; its kind, 6 becoming 9 where a Python function gives the force
  !>   v                (3,0:nrow-1) V [velocity]
  !>   limits           (2,0:ncon-1) strokes at the stops; gap (0:ncon-1) stroke [length]
  !>   dashpot          (0:ncon-1) [force/velocity]; implicit (0:ncon-1) 1: implicit law
  !>   curve            (0:ncon-1) curve of the spring, -1: a Python function
  !>   start            (0:nstart-1) first point of every curve, at least two each
  !>   stroke, force    (0:npoint-1) points, strokes increasing within a curve
  !>   dynamic, step    1: dynamics; h [time]
  !>   known            number of curves
  !>   held             out: springs that a Python function describes; failed: a constraint whose curve is not known, or -1
  !>   law, block       (8,0:nrow-1), (16,0:nrow-1) out: see spring_law; the window fills the first 14 places of block
  subroutine assemble_springs(first, n, nrow, order, row_kind, v, ncon, limits, gap, dashpot, implicit_law, curve, &
                              nstart, start, npoint, stroke, force, known, dynamic, step, law, block, held, failed)
    integer(i4), intent(in) :: first, n, known
    integer(i4), intent(in) :: nrow
    integer(i4), intent(in) :: order(0:nrow-1)
    integer(i4), intent(inout) :: row_kind(0:nrow-1)
    real(dp), intent(in) :: v(3,0:nrow-1)
    integer(i4), intent(in) :: ncon
    real(dp), intent(in) :: limits(2,0:ncon-1), gap(0:ncon-1), dashpot(0:ncon-1)
    integer(i4), intent(in) :: implicit_law(0:ncon-1), curve(0:ncon-1)
    integer(i4), intent(in) :: nstart
    integer(i4), intent(in) :: start(0:nstart-1)
    integer(i4), intent(in) :: npoint
    real(dp), intent(in) :: stroke(0:npoint-1), force(0:npoint-1)
    integer(i4), intent(in) :: dynamic
    real(dp), intent(in) :: step
    real(dp), intent(inout) :: law(8,0:nrow-1), block(16,0:nrow-1)
    integer(i4), intent(out) :: held, failed
    integer(i4) :: a, i, c

    held = 0
    failed = -1
    do a = first, n - 1
      if (row_kind(a) /= spring_row) cycle
      i = order(a)
      law(s_stroke,a) = gap(i)
      law(s_lower,a) = limits(1,i)
      law(s_upper,a) = limits(2,i)
      law(s_dashpot,a) = dashpot(i)
      law(s_target,a) = 0.0_dp
      law(s_mean,a) = 1.0_dp
      law(s_reach,a) = step
      if (dynamic /= 0) then
        law(s_target,a) = -v(3,a)
        law(s_mean,a) = 0.5_dp
        law(s_reach,a) = 0.25_dp*step
      end if
      law(s_implicit,a) = real(implicit_law(i), dp)
      c = curve(i)
      if (c >= known) then
        failed = i
        return
      end if
      if (c < 0) then
        row_kind(a) = held_row
        held = held + 1
      else
        call copy_window(start(c+1) - start(c), stroke(start(c)), force(start(c)), gap(i), block(:,a))
      end if
    end do
  end subroutine assemble_springs

  !> The knots around stroke s; a short curve is continued along its last piece.
  pure subroutine copy_window(points, stroke, force, s, block)
    integer(i4), intent(in) :: points
    real(dp), intent(in) :: stroke(points), force(points), s
    real(dp), intent(inout) :: block(16)
    integer :: low, high, middle, first, count, k

    low = 1
    high = points
    do while (high - low > 1)
      middle = (low + high)/2
      if (stroke(middle) <= s) then
        low = middle
      else
        high = middle
      end if
    end do
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
