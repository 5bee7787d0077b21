!> Proximal point iterations (Rockafellar 1976) for the contacts of one island; Newton steps make each of them.
!>
!> An iteration starts at reactions r_k and solves the problem with u = W r + q + alpha (r - r_k).  Where W is singular, as in
!> walls and stacks of blocks, reactions are not unique: plain Newton steps then go from one set of sliding contacts to another
!> without end.  The weight alpha leaves reactions that W does not see as they are.  A solution of the problem, at which
!> r = r_k, is a solution of the original one whatever alpha is.
module proximal_newton
  use kinds, only: dp, i4
  use alart_curnier, only: linearised, map_rows, measure
  use island_factor, only: island_lu, factorise_island, solve_island_factor
  use island_problem, only: island, island_product
  implicit none
  private
  public :: proximal_island

  integer(i4), parameter :: inner_steps = 15           !< most Newton steps of an iteration
  integer(i4), parameter :: iterations = 40            !< most iterations
  integer(i4), parameter :: patience = 20               !< iterations within which the residual must halve,
  integer(i4), parameter :: first_patience = 6          !< and far from a solution, since there may be none
  integer(i4), parameter :: memory = 8, halvings = 6   !< of the non-monotone line search
  real(dp), parameter :: first_weight = 1e-2_dp        !< alpha in the scaled problem, whose diagonal blocks are of order one
  real(dp), parameter :: least_weight = 1e-6_dp, most_weight = 1.0_dp
  real(dp), parameter :: relaxation = 1.5_dp           !< of an iteration; below 2 (Eckstein and Bertsekas 1992)
  real(dp), parameter :: shift = 1e-7_dp               !< on the diagonal of the Jacobian, besides alpha
  real(dp), parameter :: inexact = 0.1_dp              !< part of the residual to which an iteration is solved

contains

  !> Makes iterations from scaled reactions r until the residual is at most `tolerance` or falls no more; returns the best reactions.
  subroutine proximal_island(part, unscaled, tolerance, near, most, factor, r, residual, steps)
    type(island), intent(in) :: part
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: tolerance
    real(dp), intent(in) :: near                       !< residual below which there seems to be a solution
    integer(i4), intent(in) :: most                    !< no iteration begins after so many Newton steps
    type(island_lu), intent(inout) :: factor
    real(dp), intent(inout) :: r(3,0:part%n-1)
    real(dp), intent(out) :: residual
    integer(i4), intent(out) :: steps                  !< Newton steps of all iterations
    real(dp), allocatable :: anchor(:,:), trial(:,:), projected(:,:), velocity(:,:)
    real(dp) :: weight, least(0:iterations), last, measured
    integer(i4) :: iteration, before, made
    logical :: solved

    allocate(anchor, trial, projected, velocity, mold=r)
    anchor = r
    call measure(part, unscaled, anchor, velocity, r, residual)
    weight = first_weight
    last = residual
    least(0) = residual
    steps = 0
    do iteration = 1, iterations
      trial = anchor
      call newton_near(part, weight, anchor, max(0.3_dp*tolerance, inexact*last), factor, trial, made, solved)
      steps = steps + made
      call measure(part, unscaled, trial, velocity, projected, measured)
      if (solved) then
        anchor = anchor + relaxation*(trial - anchor)
      else if (measured < residual) then
        anchor = trial
      end if
      if (solved .or. measured < residual) last = measured
      if (measured < residual) then
        r = projected
        residual = measured
      end if
      least(iteration) = residual
      if (residual <= tolerance .or. steps >= most) return
      before = iteration - merge(patience, first_patience, residual <= near)
      if (before >= 0) then
        if (residual > 0.5_dp*least(before)) return
      end if
      weight = merge(max(0.7_dp*weight, least_weight), min(4.0_dp*weight, most_weight), solved)
    end do
  end subroutine proximal_island

  !> Newton steps on the problem with u = W r + q + weight (r - anchor), from r, until |F| is at most `goal` [velocity].
  subroutine newton_near(part, weight, anchor, goal, factor, r, steps, solved)
    type(island), intent(in) :: part
    real(dp), intent(in) :: weight, anchor(3,0:part%n-1), goal
    type(island_lu), intent(inout) :: factor
    real(dp), intent(inout) :: r(3,0:part%n-1)
    integer(i4), intent(out) :: steps
    logical, intent(out) :: solved
    real(dp), allocatable :: u(:,:), f(:,:), dr(:,:), trial(:,:), velocity(:,:)
    real(dp) :: history(memory), merit, length, measured
    integer(i4) :: halving
    logical :: regular

    allocate(u, f, dr, trial, velocity, mold=r)
    call equations(r, u, merit)
    history = 0.0_dp
    do steps = 0, inner_steps
      solved = missed(part, f) <= goal
      if (solved .or. steps == inner_steps) exit
      call linearised(part, 1.0_dp, weight + shift, .true., r, u, factor%left, factor%own)
      call factorise_island(part, factor, .false., regular)
      if (.not. regular) exit
      history(mod(steps, memory) + 1) = merit
      f = -f
      call solve_island_factor(part, factor, f, dr)
      length = 1.0_dp
      do halving = 1, halvings
        trial = r + length*dr
        call equations(trial, velocity, measured)
        if (measured <= (1.0_dp - 2e-4_dp*length)*maxval(history)) exit
        length = 0.5_dp*length
      end do
      if (.not. measured <= huge(1.0_dp)) exit
      r = trial
      u = velocity
      merit = measured
    end do
    steps = min(steps, inner_steps)

  contains

    subroutine equations(x, y, square)
      real(dp), intent(in) :: x(3,0:part%n-1)
      real(dp), intent(inout) :: y(3,0:part%n-1)
      real(dp), intent(out) :: square

      call island_product(part, x, y)
      y = y + weight*(x - anchor)
      call map_rows(part, 1.0_dp, x, y, f, square)
    end subroutine equations
  end subroutine newton_near

  !> |F| in units of velocity.
  pure real(dp) function missed(part, f)
    type(island), intent(in) :: part
    real(dp), intent(in) :: f(3,0:part%n-1)
    integer(i4) :: i

    missed = 0.0_dp
    do i = 0, part%n - 1
      missed = missed + sum((f(:,i)/part%d(i))**2)
    end do
    missed = sqrt(missed)
  end function missed
end module proximal_newton
