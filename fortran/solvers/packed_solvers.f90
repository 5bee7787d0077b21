!> Solvers of one island that is packed into arrays of its own, and the choice among them: Newton, interior point, proximal and ADMM iterations.
module packed_solvers
  use kinds, only: dp, i4
  use island_factor, only: island_lu
  use island_problem, only: island
  use admm, only: admm_state, start_admm, factor_admm, iterate_admm, grow_without_end
  use alart_curnier, only: measure, newton_island
  use interior_point, only: interior_island
  use proximal_newton, only: proximal_island
  use accelerated_gradient, only: gradient_island
  implicit none
  private
  public :: attempt, solve_packed, load_of, newton_shift, few_steps, warm_from, use_auto, use_sweeps, &
    use_anderson, use_newton, use_gradient, converged, bound_reached, unanswered, not_finite, c_method, &
    c_status, c_sweeps, c_newton, c_interior

  !> Methods: the requested one, and the one that solved an island.
  integer(i4), parameter :: use_auto = 0, use_sweeps = 1, use_anderson = 2, use_admm = 3, use_newton = 4, use_gradient = 5
  integer(i4), parameter :: use_interior = 6

  !> Outcome of an island.
  integer(i4), parameter :: converged = 0, bound_reached = 1, unanswered = 2, not_finite = 3

  ! Counts kept per island
  integer, parameter :: c_method = 1, c_status = 2, c_sweeps = 3, c_admm = 4, c_newton = 5, &
    c_gradient = 6, c_interior = 7, c_rounds = 8

  integer(i4), parameter :: newton_steps = 60
  real(dp), parameter :: newton_shift = 1e-7_dp           !< on the diagonal of Newton's scaled matrix
  real(dp), parameter :: least_shift = 1e-10_dp           !< the same where rows contradict one another by little
  integer(i4), parameter :: most_starts = 8               !< starting points of the interior point method
  integer(i4), parameter :: rounds = 24                   !< alternations of ADMM and Newton
  integer(i4), parameter :: rounds_without_gain = 6      !< rounds within which the residual must halve
  real(dp), parameter :: most_work = 4e9_dp              !< block products of all factorisations of an island in one solution
  real(dp), parameter :: dear_products = 3e6_dp           !< block products above which few Newton steps are tried first
  integer(i4), parameter :: probe_steps = 200             !< ADMM iterations after which growing reactions are visible
  integer(i4), parameter :: least_probe = 40              !< fewest iterations that show it
  real(dp), parameter :: unmet = 1e-2_dp                  !< part of the loads that remains if there is no solution
  integer(i4), parameter :: starts_if_growing = 2         !< most starting points in that case
  integer(i4), parameter :: interior_steps = 80           !< most steps of the interior point method
  integer(i4), parameter :: few_steps = 15                !< Newton steps before proximal ones, if factors are expensive, or without a solution in sight
  real(dp), parameter :: warm_from = 3e-2_dp              !< largest relative residual of reactions of the last step; from worse ones Newton does not converge
  real(dp), parameter :: much_nearer = 3e-2_dp           !< residual of swept reactions, over that of the last step's, from which on proximal iterations try them
  real(dp), parameter :: at_hand = 10.0_dp               !< residual, in tolerances, below which other starting points only lead away
  integer(i4), parameter :: warm_steps = 400              !< most Newton steps of proximal iterations from reactions of the last step
  integer(i4), parameter :: yielding_steps = 50           !< Newton steps from swept reactions of such an island
  integer(i4), parameter :: dear_steps = 60               !< the same if factorisation is expensive
  real(dp), parameter :: start_products = 1e6_dp          !< block products of a factorisation above which there is a single start
  integer(i4), parameter :: admm_share = 20               !< most ADMM iterations per allowed sweep
  real(dp), parameter :: admm_products = 1e9_dp           !< the same, over block products of a factorisation
  real(dp), parameter :: newton_from = 3e-3_dp            !< relative residual from which Newton is tried

  !> The solution of one island under way.
  type :: attempt
    real(dp) :: tolerance = 0.0_dp, residual = 0.0_dp   !< norms of residuals: wanted, reached
    logical :: unscaled = .false.                       !< residuals are those of the unscaled natural map
    logical :: warm = .false.                           !< reactions come from the step before
    integer(i4) :: maxiter = 0                          !< sweeps or steps allowed
    integer(i4) :: counts(8) = 0                        !< c_...
    real(dp) :: linear_residual = huge(1.0_dp)          !< of `linear`: reactions of an island without contacts, by its factors, that miss the tolerance
    real(dp), allocatable :: linear(:,:)
    logical :: contradictory = .false.                  !< rows of an island without contacts contradict one another
    real(dp), allocatable :: start(:,:)                 !< reactions of the step before, if there are any and W may be singular
  end type attempt

contains

  !> Applies the solvers that need the packed island.
  subroutine solve_packed(part, factor, method, it, x)
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    integer(i4), intent(in) :: method
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: x(3,0:part%n-1)
    type(admm_state) :: state
    logical :: regular

    if (method /= use_auto) it%counts(c_method) = method
    select case (method)
    case (use_gradient)
      call gradient_island(part, it%unscaled, it%tolerance, it%maxiter, x, it%residual, it%counts(c_gradient))
    case (use_newton)
      call newton_island(part, it%unscaled, it%tolerance, it%maxiter, newton_shift, 1.0_dp, .true., factor, x, it%residual, &
                         it%counts(c_newton))
    case (use_admm)
      call start_admm(part, 0.03_dp, x, state)
      call factor_admm(part, 0.03_dp, state, factor, regular)
      call iterate_admm(part, it%unscaled, it%tolerance, it%maxiter, factor, state, it%residual, it%counts(c_admm))
      x = state%z
    case (use_interior)
      call interior_island(part, it%unscaled, it%tolerance, it%maxiter, 0_i4, factor, x, it%residual, it%counts(c_interior))
    case default
      call try_solvers(part, factor, it, x)
    end select
  end subroutine solve_packed

  !> Proximal iterations from reactions of the step before, then interior point and Newton from one start after the other, at last ADMM and Newton.
  subroutine try_solvers(part, factor, it, x)
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: x(3,0:part%n-1)
    type(admm_state) :: state
    real(dp), allocatable :: trial(:,:)
    real(dp) :: loads
    integer(i4) :: start, starts, iterations
    logical :: growing, dear

    allocate(trial, source=x)
    loads = load_of(part)
    dear = factor%products > dear_products
    if ((it%warm .or. dear) .and. it%residual < warm_from*loads) then
      call try_newton(part, merge(few_steps, yielding_steps, dear .or. allocated(it%start)), newton_shift, factor, it, trial, x)
      if (it%residual <= it%tolerance) return
    end if
    if (allocated(it%start)) then
      call try_both_starts(part, merge(dear_steps, warm_steps, dear), unmet*loads, factor, it, trial, x)
      if (it%residual <= it%tolerance) return
      if (factor%products > start_products .and. it%residual <= at_hand*it%tolerance) return
    end if
    starts = nint(max(1.0_dp, min(real(most_starts, dp), start_products/max(factor%products, 1.0_dp))))
    iterations = int(min(real(admm_share, dp)*it%maxiter, admm_products/max(factor%products, 1.0_dp)), i4)
    growing = .false.
    do start = 0, starts - 1
      if (left_of(it, factor) == 0) return
      growing = growing .and. it%residual > unmet*loads
      if (growing .and. start >= starts_if_growing) exit
      call try_interior(part, start, factor, it, trial, x)
      if (it%residual <= it%tolerance) return
      ! if factorisations are expensive, Newton is not tried on an island without a solution
      if (starts == 1) call probe(part, iterations, factor, state, it, x, growing)
      if (it%residual <= it%tolerance) return
      ! degenerate contacts end the interior point iteration early; from there Newton finds which of them stick and slide
      call try_newton(part, merge(few_steps, newton_steps, growing), newton_shift, factor, it, trial, x)
      if (it%residual <= it%tolerance) return
      if (start == 0 .and. starts > 1) call probe(part, iterations, factor, state, it, x, growing)
      if (it%residual <= it%tolerance) return
    end do
    if (growing .and. it%residual > unmet*loads) then
      it%counts(c_status) = unanswered
      return
    end if
    if (left_of(it, factor) > 0) call alternate(part, iterations, factor, state, it, x)
    if (it%residual <= it%tolerance .or. left_of(it, factor) == 0 .or. .not. it%residual <= unmet*loads) return
    ! Joints that close what they have drifted apart contradict, by next to nothing, contacts that hold the same motion.  Reactions
    ! must move from contact to contact until some of them open or slide, and in a step none moves by more than the contradiction
    ! over the shift.
    trial = x
    call try_newton(part, merge(few_steps, newton_steps, dear), least_shift, factor, it, trial, x)
  end subroutine try_solvers

  !> Number of factorisations for which there is work left; Newton and interior point steps make one each.
  pure integer(i4) function left_of(it, factor)
    type(attempt), intent(in) :: it
    type(island_lu), intent(in) :: factor
    integer(i4) :: most

    most = int(min(most_work/max(factor%products, 1.0_dp), 1e9_dp), i4)
    left_of = max(most - it%counts(c_newton) - it%counts(c_interior), 0)
  end function left_of

  !> At most so many Newton steps from `trial`; x keeps the better reactions.
  subroutine try_newton(part, most, shift, factor, it, trial, x)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: most
    real(dp), intent(in) :: shift
    type(island_lu), intent(inout) :: factor
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: trial(3,0:part%n-1), x(3,0:part%n-1)
    real(dp) :: measured
    integer(i4) :: made

    call newton_island(part, it%unscaled, it%tolerance, min(most, left_of(it, factor)), shift, 1.0_dp, .true., factor, &
                       trial, measured, made)
    it%counts(c_newton) = it%counts(c_newton) + made
    it%counts(c_method) = use_newton
    call keep_better(trial, measured, it%residual, x)
  end subroutine try_newton

  !> Few proximal point iterations from the present reactions, if factorisations are expensive and sweeps have come much nearer to a solution than
  !> reactions of the step before, as in heaps that creep; then more from those.
  subroutine try_both_starts(part, most, near, factor, it, trial, x)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: most            !< Newton steps from reactions of the step before
    real(dp), intent(in) :: near               !< residual below which slow progress is worth its time
    type(island_lu), intent(inout) :: factor
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: trial(3,0:part%n-1), x(3,0:part%n-1)
    real(dp), allocatable :: start(:,:), velocity(:,:), projected(:,:)
    real(dp) :: measured
    integer(i4) :: i

    allocate(start, velocity, projected, mold=x)
    do i = 0, part%n - 1
      start(:,i) = it%start(:,i+1)/part%d(i)
    end do
    call measure(part, it%unscaled, start, velocity, projected, measured)
    if (factor%products > start_products .and. it%residual < much_nearer*measured) then
      trial = x
      call try_proximal(part, dear_steps, near, factor, it, trial, x)
      if (it%residual <= it%tolerance) return
    end if
    trial = start
    call try_proximal(part, most, near, factor, it, trial, x)
  end subroutine try_both_starts

  !> Proximal point iterations from `trial`; x keeps the better reactions.
  subroutine try_proximal(part, most, near, factor, it, trial, x)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: most            !< Newton steps
    real(dp), intent(in) :: near               !< residual below which slow progress is worth its time
    type(island_lu), intent(inout) :: factor
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: trial(3,0:part%n-1), x(3,0:part%n-1)
    real(dp) :: measured
    integer(i4) :: made

    call proximal_island(part, it%unscaled, it%tolerance, near, min(most, left_of(it, factor)), factor, trial, measured, made)
    it%counts(c_newton) = it%counts(c_newton) + made
    it%counts(c_method) = use_newton
    call keep_better(trial, measured, it%residual, x)
  end subroutine try_proximal

  !> Interior point steps from start number `start`; x keeps the better reactions.
  subroutine try_interior(part, start, factor, it, trial, x)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: start
    type(island_lu), intent(inout) :: factor
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: trial(3,0:part%n-1), x(3,0:part%n-1)
    real(dp) :: measured
    integer(i4) :: made

    call interior_island(part, it%unscaled, it%tolerance, min(interior_steps, left_of(it, factor)), start, factor, trial, &
                         measured, made)
    it%counts(c_interior) = it%counts(c_interior) + made
    it%counts(c_method) = use_interior
    call keep_better(trial, measured, it%residual, x)
  end subroutine try_interior

  !> Takes reactions that leave less than those so far.
  subroutine keep_better(trial, measured, residual, x)
    real(dp), intent(in) :: trial(:,:), measured
    real(dp), intent(inout) :: residual, x(:,:)

    if (.not. measured < residual) return
    x = trial
    residual = measured
  end subroutine keep_better

  !> Tests whether ADMM's reactions grow without bound from zero, as for loads that no reactions can balance.
  subroutine probe(part, iterations, factor, state, it, x, growing)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: iterations       !< of ADMM that are allowed
    type(island_lu), intent(inout) :: factor
    type(admm_state), intent(inout) :: state
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: x(3,0:part%n-1)
    logical, intent(inout) :: growing
    real(dp), allocatable :: half(:,:)
    real(dp) :: measured
    integer(i4) :: steps, made
    logical :: regular

    steps = min(probe_steps, iterations)
    if (steps < least_probe) return
    allocate(half, mold=x)
    half = 0.0_dp
    call start_admm(part, 0.03_dp, half, state)
    call factor_admm(part, 0.03_dp, state, factor, regular)
    if (.not. regular) return
    call iterate_admm(part, it%unscaled, it%tolerance, steps/2, factor, state, measured, made)
    it%counts(c_admm) = it%counts(c_admm) + made
    if (measured > it%tolerance) then
      half = state%z
      call iterate_admm(part, it%unscaled, it%tolerance, steps - steps/2, factor, state, measured, made)
      it%counts(c_admm) = it%counts(c_admm) + made
      growing = grow_without_end(part, half, state)
    end if
    if (measured <= it%tolerance) it%counts(c_method) = use_admm
    call keep_better(state%z, measured, it%residual, x)
  end subroutine probe

  !> Iterates ADMM until it is near a solution, then Newton; if that fails, more ADMM, other variants of Newton and other penalties.
  !> Ends when rounds no longer halve the residual: the island then has loads that no reactions can balance.
  subroutine alternate(part, most, factor, state, it, x)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: most            !< ADMM iterations
    type(island_lu), intent(inout) :: factor
    type(admm_state), intent(inout) :: state
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: x(3,0:part%n-1)
    real(dp), parameter :: penalties(0:3) = [0.03_dp, 0.1_dp, 0.01_dp, 0.3_dp]
    real(dp), parameter :: local_rho(0:2) = [1.0_dp, 0.3_dp, 3.0_dp]
    real(dp), parameter :: shifts(0:1) = [1e-6_dp, 1e-8_dp]
    real(dp), allocatable :: trial(:,:), best(:,:)
    real(dp) :: least, goal, before(0:rounds-1)
    integer(i4) :: round, chunk, made
    logical :: regular

    allocate(trial(3,0:part%n-1), best(3,0:part%n-1))
    goal = newton_from*load_of(part)
    call start_admm(part, penalties(0), x, state)
    best = x
    least = it%residual
    chunk = 400
    do round = 0, rounds - 1
      before(round) = least
      if (round >= rounds_without_gain) then
        if (least > 0.5_dp*before(round-rounds_without_gain)) exit
      end if
      it%counts(c_rounds) = it%counts(c_rounds) + 1
      call factor_admm(part, penalties(mod(shiftr(round, 1), 4)), state, factor, regular)
      if (.not. regular) exit
      call iterate_admm(part, it%unscaled, max(it%tolerance, goal), chunk, factor, state, it%residual, made)
      it%counts(c_admm) = it%counts(c_admm) + made
      it%counts(c_method) = use_admm
      call keep_better(state%z, it%residual, least, best)
      if (it%residual <= it%tolerance .or. .not. it%residual <= huge(1.0_dp)) exit
      if (left_of(it, factor) == 0) exit
      trial = state%z
      call newton_island(part, it%unscaled, it%tolerance, min(newton_steps, left_of(it, factor)), &
                         shifts(mod(shiftr(round, 1), 2)), local_rho(mod(round, 3)), mod(round, 2) == 0, factor, trial, &
                         it%residual, made)
      it%counts(c_newton) = it%counts(c_newton) + made
      it%counts(c_method) = use_newton
      call keep_better(trial, it%residual, least, best)
      if (it%residual <= it%tolerance .or. it%counts(c_admm) >= most) exit
      chunk = (3*chunk)/2
      goal = 0.3_dp*goal
    end do
    x = best
    it%residual = least
  end subroutine alternate

  !> Norm of an island's unscaled free velocity.
  pure function load_of(part) result(size)
    type(island), intent(in) :: part
    real(dp) :: size
    integer(i4) :: i

    size = 0.0_dp
    do i = 0, part%n - 1
      size = size + sum((part%q(:,i)/part%d(i))**2)
    end do
    size = sqrt(size)
  end function load_of
end module packed_solvers
