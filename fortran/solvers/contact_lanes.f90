!> Visits of eight contacts side by side, one in each lane: what `diagonal_block` and `velocity_form` do for one, without a branch for a lane.
!>
!> The build compiles this module without traps of floating point, since lanes divide by numbers that mean nothing where another case applies, and what
!> they find is not used.  Numbers that choose between cases are 1 or 0, as wide as what they choose, so that loops over lanes become vectors.
module contact_lanes
  use kinds, only: dp, i4, i8
  use ieee_arithmetic, only: ieee_is_nan, ieee_quiet_nan, ieee_value
  implicit none
  private
  public :: lanes, numbers, c_lambda, c_opening, solve_lanes, apply_lanes, add_lane_figures

  integer, parameter :: lanes = 8

  !> Numbers of a contact in its lane; the first ones are those of `diagonal_block`, in its order.
  integer, parameter :: c_inverse_nn = 1, c_nn = 2, c_friction = 3, c_cohesion = 4
  integer, parameter :: c_s11 = 5, c_s21 = 6, c_s12 = 7, c_s22 = 8, c_inverse_det = 9
  integer, parameter :: c_t1n = 10, c_t2n = 11, c_nt1 = 12, c_nt2 = 13
  integer, parameter :: c_lambda = 14, c_opening = 15
  integer, parameter :: numbers = 15

  real(dp), parameter :: frictionless = 1e-12_dp   !< as in diagonal_block
  integer, parameter :: slip_bound = 60            !< steps of the iteration for the multiplier of slip
  integer, parameter :: at_once = 4096             !< slots whose words a real number adds exactly
  real(dp), parameter :: word = 2.0_dp**40         !< as in part_sweeps

contains

  !> Solves contacts with the reactions of all others held: separation, stick or slip (exact_block of diagonal_block).
  !>
  !>   entries, triple, operator   blocks H' of the contacts; lanes with fewer have zeros behind theirs
  !>   c           numbers of the contacts; multipliers of slip and openings are renewed
  !>   free, reaction, momentum    free velocities, reactions of the last visit, momenta of triples
  !>   b           velocities without the contacts' own reactions
  !>   r           new reactions
  !>   postponed   squared reactions of open contacts that must close in the next visit
  !>   unsolved    > 0: not solved, the reaction has no meaning
  pure subroutine solve_lanes(entries, triple, operator, c, free, reaction, momentum, b, r, postponed, unsolved)
    integer(i4), intent(in) :: entries
    integer(i4), intent(in) :: triple(lanes,entries)
    real(dp), intent(in) :: operator(lanes,3,3,entries)
    real(dp), intent(inout) :: c(lanes,numbers)
    real(dp), intent(in) :: free(lanes,3), reaction(lanes,3), momentum(3,0:*)
    real(dp), intent(out) :: b(lanes,3), r(lanes,3), postponed(lanes), unsolved(lanes)
    real(dp), dimension(lanes) :: c1, c2, x1, x2, wn1, wn2, bn, slides
    real(dp) :: mu, rn, r1, r2, excess, turns, pushed, opened, shut, stuck, smooth, frictional, last, squared, size
    integer :: l

    call find_velocities(entries, triple, operator, c, free, reaction, momentum, b)
    do l = 1, lanes
      mu = c(l,c_friction)
      wn1(l) = c(l,c_nt1)*c(l,c_inverse_nn)
      wn2(l) = c(l,c_nt2)*c(l,c_inverse_nn)
      bn(l) = b(l,3)*c(l,c_inverse_nn)
      c1(l) = b(l,1) - c(l,c_t1n)*bn(l)
      c2(l) = b(l,2) - c(l,c_t2n)*bn(l)
      x1(l) = c(l,c_s12)*c2(l) - c(l,c_s22)*c1(l)
      x2(l) = c(l,c_s21)*c1(l) - c(l,c_s11)*c2(l)
      rn = -bn(l) - (wn1(l)*x1(l) + wn2(l)*x2(l))*c(l,c_inverse_det)
      r1 = x1(l)*c(l,c_inverse_det)
      r2 = x2(l)*c(l,c_inverse_det)
      excess = r1*r1 + r2*r2 - (mu*rn)**2
      turns = mu*mu*(wn1(l)*wn1(l) + wn2(l)*wn2(l))
      pushed = merge(1.0_dp, 0.0_dp, b(l,3) < 0.0_dp)
      opened = merge(1.0_dp, 0.0_dp, c(l,c_opening) > 0.0_dp)
      frictional = merge(1.0_dp, 0.0_dp, mu > frictionless)
      shut = pushed*(1.0_dp - opened)
      stuck = shut*merge(1.0_dp, 0.0_dp, rn > 0.0_dp)*merge(1.0_dp, 0.0_dp, excess <= 0.0_dp)
      slides(l) = (shut - stuck)*frictional
      smooth = shut - stuck - slides(l)
      last = -bn(l)
      squared = bn(l)*bn(l)
      postponed(l) = merge(squared, 0.0_dp, opened*pushed > 0.0_dp)
      r(l,1) = merge(r1, 0.0_dp, stuck > 0.0_dp)
      r(l,2) = merge(r2, 0.0_dp, stuck > 0.0_dp)
      rn = merge(rn, 0.0_dp, stuck > 0.0_dp)
      r(l,3) = merge(last, rn, smooth > 0.0_dp)
      size = abs(b(l,1)) + abs(b(l,2)) + abs(b(l,3))
      ! a contact that sticks may slide as well if mu |W_NT| >= W_NN: its last reaction must decide
      unsolved(l) = merge(0.0_dp, 1.0_dp, size <= huge(1.0_dp)) + stuck*merge(0.0_dp, 1.0_dp, turns < 1.0_dp)
    end do
    if (any(slides > 0.0_dp)) call slip(slides, c, c1, c2, x1, x2, wn1, wn2, bn, r, unsolved)
    do l = 1, lanes
      c(l,c_opening) = merge(b(l,3), 0.0_dp, r(l,3) <= 0.0_dp)
      r(l,3) = r(l,3) - c(l,c_cohesion)
    end do
  end subroutine solve_lanes

  !> Computes b = B + H' p - W_aa R.
  pure subroutine find_velocities(entries, triple, operator, c, free, reaction, momentum, b)
    integer(i4), intent(in) :: entries
    integer(i4), intent(in) :: triple(lanes,entries)
    real(dp), intent(in) :: operator(lanes,3,3,entries), c(lanes,numbers), free(lanes,3), reaction(lanes,3), momentum(3,0:*)
    real(dp), intent(out) :: b(lanes,3)
    real(dp), dimension(lanes,3) :: p, u1, u2, u3
    real(dp) :: coupled
    integer :: l, e, i, t

    u1 = free
    u2 = 0.0_dp
    u3 = 0.0_dp
    do e = 1, entries
      do l = 1, lanes
        t = triple(l,e)
        p(l,1) = momentum(1,t)
        p(l,2) = momentum(2,t)
        p(l,3) = momentum(3,t)
      end do
      do i = 1, 3
        do l = 1, lanes
          u1(l,i) = u1(l,i) + operator(l,i,1,e)*p(l,1)
          u2(l,i) = u2(l,i) + operator(l,i,2,e)*p(l,2)
          u3(l,i) = u3(l,i) + operator(l,i,3,e)*p(l,3)
        end do
      end do
    end do
    do l = 1, lanes
      coupled = c(l,c_nt1)*reaction(l,1) + c(l,c_nt2)*reaction(l,2)
      b(l,3) = u1(l,3) + (u2(l,3) + u3(l,3)) - (coupled + c(l,c_nn)*reaction(l,3))
      coupled = coupled*c(l,c_inverse_nn) + reaction(l,3)
      b(l,1) = u1(l,1) + (u2(l,1) + u3(l,1)) - (c(l,c_s11)*reaction(l,1) + c(l,c_s12)*reaction(l,2) + c(l,c_t1n)*coupled)
      b(l,2) = u1(l,2) + (u2(l,2) + u3(l,2)) - (c(l,c_s21)*reaction(l,1) + c(l,c_s22)*reaction(l,2) + c(l,c_t2n)*coupled)
    end do
  end subroutine find_velocities

  !> Solves the contacts that slide (slip of diagonal_block): a lane whose multiplier is found waits for the others.
  pure subroutine slip(slides, c, c1, c2, x1, x2, wn1, wn2, bn, r, unsolved)
    real(dp), intent(in) :: slides(lanes)            !< 1: the contact in this lane slides
    real(dp), intent(inout) :: c(lanes,numbers)
    real(dp), dimension(lanes), intent(in) :: c1, c2, x1, x2, wn1, wn2, bn
    real(dp), intent(inout) :: r(lanes,3), unsolved(lanes)
    real(dp), dimension(lanes) :: q0, q1, p0, p1, p2, low, high, lambda, found, trace, det, left
    real(dp) :: first, scaled, r1, r2, rn, inverse, wrong
    integer :: l, iteration

    do l = 1, lanes
      trace(l) = c(l,c_s11) + c(l,c_s22)
      det(l) = c(l,c_s11)*c(l,c_s22) - c(l,c_s12)*c(l,c_s21)
      q0(l) = -bn(l)*det(l) - (wn1(l)*x1(l) + wn2(l)*x2(l))
      q1(l) = -bn(l)*trace(l) + (wn1(l)*c1(l) + wn2(l)*c2(l))
      p0(l) = x1(l)*x1(l) + x2(l)*x2(l)
      p1(l) = -2.0_dp*(x1(l)*c1(l) + x2(l)*c2(l))
      p2(l) = c1(l)*c1(l) + c2(l)*c2(l)
      low(l) = 0.0_dp
      high(l) = huge(1.0_dp)
      first = sqrt(p2(l))/(-c(l,c_friction)*bn(l)) - 0.5_dp*trace(l)
      scaled = 1e-3_dp*trace(l)
      first = merge(first, scaled, first > 0.0_dp)
      lambda(l) = c(l,c_lambda)
      lambda(l) = merge(lambda(l), first, lambda(l) > 0.0_dp)
      found(l) = lambda(l)
      left(l) = slides(l)
    end do
    do iteration = 1, slip_bound
      call step_of_slip(c(:,c_friction), q0, q1, p0, p1, p2, trace, bn, low, high, lambda, found, left)
      if (.not. any(left > 0.0_dp)) exit
    end do
    do l = 1, lanes
      inverse = 1.0_dp/(det(l) + found(l)*(trace(l) + found(l)))
      r1 = (x1(l) - found(l)*c1(l))*inverse
      r2 = (x2(l) - found(l)*c2(l))*inverse
      rn = (q0(l) + found(l)*(q1(l) - found(l)*bn(l)))*inverse
      r(l,1) = merge(r1, r(l,1), slides(l) > 0.0_dp)
      r(l,2) = merge(r2, r(l,2), slides(l) > 0.0_dp)
      r(l,3) = merge(rn, r(l,3), slides(l) > 0.0_dp)
      c(l,c_lambda) = merge(found(l), c(l,c_lambda), slides(l) > 0.0_dp)
      wrong = 1.0_dp - merge(1.0_dp, 0.0_dp, rn >= 0.0_dp)*merge(1.0_dp, 0.0_dp, abs(r1) + abs(r2) <= huge(1.0_dp))
      unsolved(l) = unsolved(l) + slides(l)*(left(l) + wrong)
    end do
  end subroutine slip

  !> One safeguarded Newton step for the multipliers of the lanes that are left.
  pure subroutine step_of_slip(friction, q0, q1, p0, p1, p2, trace, bn, low, high, lambda, found, left)
    real(dp), dimension(lanes), intent(in) :: friction, q0, q1, p0, p1, p2, trace, bn
    real(dp), dimension(lanes), intent(inout) :: low, high, lambda   !< bounds of the multiplier, and where it is
    real(dp), dimension(lanes), intent(inout) :: found               !< the solution
    real(dp), dimension(lanes), intent(inout) :: left                !< 1: the multiplier is not found yet
    real(dp) :: mu, q, dq, p, dpl, misfit, root, step, slope, change, trial, small, near, moves, below, narrow, bisected, grown
    real(dp) :: inside
    integer :: l

    do l = 1, lanes
      mu = friction(l)
      q = q0(l) + lambda(l)*(q1(l) - lambda(l)*bn(l))
      dq = q1(l) - 2.0_dp*lambda(l)*bn(l)
      p = p0(l) + lambda(l)*(p1(l) + lambda(l)*p2(l))
      dpl = p1(l) + 2.0_dp*lambda(l)*p2(l)
      misfit = (mu*q)**2 - p
      root = sqrt(p)
      ! one more step, whose own error is of second order
      step = -misfit/(2.0_dp*mu*mu*q*dq - dpl)
      trial = lambda(l) + step
      small = 1e-6_dp*(lambda(l) + abs(trace(l))) - abs(step)
      misfit = 2e-7_dp*p - abs(misfit)
      near = merge(1.0_dp, 0.0_dp, q > 0.0_dp)*merge(1.0_dp, 0.0_dp, misfit >= 0.0_dp)*merge(1.0_dp, 0.0_dp, small >= 0.0_dp) &
             *merge(1.0_dp, 0.0_dp, trial > low(l))*merge(1.0_dp, 0.0_dp, trial < high(l))
      found(l) = merge(trial, found(l), left(l)*near > 0.0_dp)
      moves = left(l)*(1.0_dp - near)
      below = merge(1.0_dp, 0.0_dp, mu*q < root)
      low(l) = merge(lambda(l), low(l), moves*below > 0.0_dp)
      high(l) = merge(lambda(l), high(l), moves*(1.0_dp - below) > 0.0_dp)
      small = 4.0_dp*epsilon(1.0_dp)*high(l)
      narrow = merge(1.0_dp, 0.0_dp, high(l) - low(l) <= small)
      found(l) = merge(lambda(l), found(l), moves*narrow > 0.0_dp)
      slope = mu*(dq*p - 0.5_dp*q*dpl)
      change = -(mu*q - root)*p/slope
      change = merge(change, huge(1.0_dp), abs(slope) > 0.0_dp)   ! products of reactions near zero underflow
      trial = lambda(l) + change
      bisected = 0.5_dp*(low(l) + high(l))
      grown = 4.0_dp*low(l) + 1e-3_dp*abs(trace(l))
      bisected = merge(bisected, grown, high(l) < huge(1.0_dp))
      inside = merge(1.0_dp, 0.0_dp, trial > low(l))*merge(1.0_dp, 0.0_dp, trial < high(l))
      trial = merge(trial, bisected, inside > 0.0_dp)
      left(l) = moves*(1.0_dp - narrow)
      lambda(l) = merge(trial, lambda(l), left(l) > 0.0_dp)
    end do
  end subroutine step_of_slip

  !> Takes new reactions, adds their changes to momenta, and finds |dR|^2 and |R|^2.
  !>
  !>   used        lanes that have a contact, the first ones
  !>   others as in solve_lanes
  pure subroutine apply_lanes(used, entries, triple, operator, r, reaction, change, size, momentum)
    integer(i4), intent(in) :: used, entries
    integer(i4), intent(in) :: triple(lanes,entries)
    real(dp), intent(in) :: operator(lanes,3,3,entries), r(lanes,3)
    real(dp), intent(inout) :: reaction(lanes,3), momentum(3,0:*)
    real(dp), intent(out) :: change(lanes), size(lanes)
    real(dp) :: d(lanes,3), p(lanes,3)
    integer :: l, e, i, t

    do l = 1, lanes
      d(l,1) = r(l,1) - reaction(l,1)
      d(l,2) = r(l,2) - reaction(l,2)
      d(l,3) = r(l,3) - reaction(l,3)
      change(l) = d(l,1)**2 + d(l,2)**2 + d(l,3)**2
      size(l) = r(l,1)**2 + r(l,2)**2 + r(l,3)**2
      reaction(l,1) = r(l,1)
      reaction(l,2) = r(l,2)
      reaction(l,3) = r(l,3)
    end do
    do e = 1, entries
      do i = 1, 3
        do l = 1, lanes
          p(l,i) = operator(l,1,i,e)*d(l,1) + operator(l,2,i,e)*d(l,2) + operator(l,3,i,e)*d(l,3)
        end do
      end do
      do l = 1, used
        t = triple(l,e)
        momentum(1,t) = momentum(1,t) + p(l,1)
        momentum(2,t) = momentum(2,t) + p(l,2)
        momentum(3,t) = momentum(3,t) + p(l,3)
      end do
    end do
  end subroutine apply_lanes

  !> Finds the largest of the figures of slots, and their sums as two words (add_figures of part_sweeps).
  !>
  !>   judged      (8,0:slots-1) 1 where this process adds the figures
  !>   figures     (8,3,0:slots-1)
  !>   scale       (3) powers of two; 0: the figure is not summed
  !>   largest     (3) raised to the largest ones; not a number if one is none
  !>   high, low   (3) raised by the words; without meaning if a figure exceeds its scale
  pure subroutine add_lane_figures(slots, judged, figures, scale, largest, high, low)
    integer(i4), intent(in) :: slots
    real(dp), intent(in) :: judged(lanes,0:*), figures(lanes,3,0:*), scale(3)
    real(dp), intent(inout) :: largest(3)
    integer(i8), intent(inout) :: high(3), low(3)
    real(dp), dimension(lanes,3) :: most, all, highs, lows
    real(dp) :: figure, part, whole, factor(3), top
    integer :: first, s, j, l

    factor = 0.0_dp
    where (scale > 0.0_dp) factor = word/scale
    most = 0.0_dp
    all = 0.0_dp
    do first = 0, slots - 1, at_once
      highs = 0.0_dp
      lows = 0.0_dp
      do s = first, min(first + at_once, slots) - 1
        do j = 1, 3
          do l = 1, lanes
            figure = judged(l,s)*figures(l,j,s)
            most(l,j) = merge(figure, most(l,j), figure > most(l,j))
            all(l,j) = all(l,j) + figure
            part = figure*factor(j)
            whole = aint(part)
            highs(l,j) = highs(l,j) + whole
            lows(l,j) = lows(l,j) + aint((part - whole)*word)
          end do
        end do
      end do
      do j = 1, 3
        if (.not. maxval(most(:,j)) <= scale(j)) cycle
        high(j) = high(j) + sum(int(highs(:,j), i8))
        low(j) = low(j) + sum(int(lows(:,j), i8))
      end do
    end do
    do j = 1, 3
      top = maxval(most(:,j))
      if (any(ieee_is_nan(all(:,j)))) top = ieee_value(top, ieee_quiet_nan)
      if (.not. ieee_is_nan(largest(j)) .and. .not. top <= largest(j)) largest(j) = top
    end do
  end subroutine add_lane_figures
end module contact_lanes
