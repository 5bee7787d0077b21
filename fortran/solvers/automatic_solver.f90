!> The contact problem u = W r + q without bodies: islands, and solvers that are chosen for each by counts and residuals.
!>
!> Islands are groups of rows that W couples.  One thread solves each island, so the bits do not depend on the number of
!> threads.
module automatic_solver
  use kinds, only: dp, i4, i8
  use diagonal_block, only: b_friction, b_rho, prepare_block
  use constraint_measures, only: rounding_of
  use island_factor, only: island_lu, analyse_island, few_products, rows_suffice
  use island_problem, only: cone_contact, cone_none, island, pack_island, pack_operators, put_reactions, add_row_measure, &
    take_reactions
  use anderson_sweeps, only: sweep_island, measure_rows
  use static_sweeps, only: hold_still
  use alart_curnier, only: newton_island, linear_island
  use packed_solvers, only: attempt, solve_packed, load_of, newton_shift, few_steps, warm_from, use_auto, &
    use_sweeps, use_anderson, use_newton, use_gradient, converged, bound_reached, unanswered, not_finite, &
    c_method, c_status, c_sweeps, c_newton, c_interior
  use state_tables, only: cone_rows, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: prepare_contacts, solve_islands, sum_up_islands, measure_problem

  integer(i4), parameter :: linear_steps = 8              !< solutions of linear equations, each of which reduces what the shift has left
  real(dp), parameter :: soft_shift = 1e-4_dp             !< for rows that contradict one another; the angle of half a step, squared, is less
  real(dp), parameter :: no_better = 10.0_dp              !< times a residual, for which reactions of any size are no better
  real(dp), parameter :: short_chain = 100.0_dp           !< rows of a chain whose least eigenvalue is well above this shift
  real(dp), parameter :: most_products = 1e7_dp           !< most block products of a factorisation
  integer(i4), parameter :: stagnation = 50               !< sweeps within which the change must fall tenfold
  integer(i4), parameter :: warm_patience = 100           !< the same, from reactions of the last step of an island that cannot be factorised
  integer(i4), parameter :: most_ordered = 1500           !< most rows of an island that is ordered for factors by rows
  real(dp), parameter :: products_per_row = 4e3_dp        !< the same of larger islands, by bodies
  integer(i4), parameter :: stretch = 50                 !< sweeps between residuals, where they go on because factors are expensive
  integer(i4), parameter :: most_narrow = 1500            !< most rows of a narrow island, which Newton steps solve before sweeps
  integer(i4), parameter :: least_chain = 8               !< fewest rows of a chain of blocks
  integer(i4), parameter :: chain_couplings = 16          !< most rows with which a row of a chain is coupled, on average
  integer(i4), parameter :: least_sweeps = 400            !< fewest remaining sweeps for reactions that hold an island still
  integer(i4), parameter :: with_yielding = 2             !< value of `operators` if rows have compliance of their own
  integer(i4), parameter :: parallel_from = 200           !< rows from which threads pay

contains

  !> Prepares numbers of contacts for their block solutions; `failed` is the first row whose diagonal block is not positive, or -1.
  !>
  !>   diagonal  (3,3,0:nrow-1) W_aa, rows (T1, T2, N);  friction (0:nrow-1);  block (16,0:nrow-1) out
  subroutine prepare_contacts(n, nrow, diagonal, friction, block, failed)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: nrow
    real(dp), intent(in) :: diagonal(3,3,0:nrow-1), friction(0:nrow-1)
    real(dp), intent(inout) :: block(16,0:nrow-1)
    integer(i4), intent(out) :: failed
    integer(i4) :: a

    failed = -1
    do a = n - 1, 0, -1
      if (min(diagonal(1,1,a), diagonal(2,2,a), diagonal(3,3,a)) > 0.0_dp) then
        call prepare_block(diagonal(:,:,a), friction(a), 0.0_dp, block(:,a))
      else
        failed = a
      end if
    end do
  end subroutine prepare_contacts

  !> Finds connected groups of rows: rows of island k are island_row(island_ptr(k):island_ptr(k+1)-1), ascending; islands are in the
  !> order of their first rows.
  !>
  !>   row_ptr (0:n), column (0:*) off-diagonal blocks;  island_ptr (0:n), island_row (0:n-1) out
  subroutine find_islands(n, row_ptr, column, island_ptr, island_row, count)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: row_ptr(0:*), column(0:*)
    integer(i4), intent(inout) :: island_ptr(0:*), island_row(0:*)
    integer(i4), intent(out) :: count
    integer(i4), allocatable :: label(:)
    integer(i4) :: a, c, k, head, tail

    allocate (label(0:n-1), source=-1_i4)
    count = 0
    tail = 0
    do a = 0, n - 1
      if (label(a) >= 0) cycle
      label(a) = count
      head = tail
      island_row(tail) = a
      tail = tail + 1
      do while (head < tail)
        c = island_row(head)
        head = head + 1
        do k = row_ptr(c), row_ptr(c+1) - 1
          if (label(column(k)) >= 0) cycle
          label(column(k)) = count
          island_row(tail) = column(k)
          tail = tail + 1
        end do
      end do
      count = count + 1
    end do
    ! counting sort by label puts the rows of an island in ascending order
    island_ptr(0:count) = 0
    do a = 0, n - 1
      island_ptr(label(a)+1) = island_ptr(label(a)+1) + 1
    end do
    do k = 1, count
      island_ptr(k) = island_ptr(k) + island_ptr(k-1)
    end do
    do a = 0, n - 1
      island_row(island_ptr(label(a))) = a
      island_ptr(label(a)) = island_ptr(label(a)) + 1
    end do
    do k = count, 1, -1
      island_ptr(k) = island_ptr(k-1)
    end do
    island_ptr(0) = 0
  end subroutine find_islands

  !> Computes u = W r + q and the residuals of all rows.
  !>
  !>   kind (0:nrow-1) cones; block (16,0:nrow-1); diagonal, off_diagonal (3,3,...); q, r (3,0:nrow-1); u (3,0:nrow-1) out
  !>   scaled    norm of the residuals in velocity units (docs/accuracy.md, Accuracy of constraints)
  !>   unscaled  norm of the unscaled natural map
  subroutine measure_problem(n, nrow, nblock, nptr, kind, block, diagonal, q, row_ptr, column, off_diagonal, r, u, scaled, unscaled)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: nrow, nblock, nptr
    integer(i4), intent(in) :: kind(0:nrow-1), row_ptr(0:nptr-1), column(0:nblock-1)
    real(dp), intent(in) :: block(16,0:nrow-1), diagonal(3,3,0:nrow-1), q(3,0:nrow-1), off_diagonal(3,3,0:nblock-1)
    real(dp), intent(in) :: r(3,0:nrow-1)
    real(dp), intent(inout) :: u(3,0:nrow-1)
    real(dp), intent(out) :: scaled, unscaled
    integer(i4) :: a, k

    scaled = 0.0_dp
    unscaled = 0.0_dp
    do a = 0, n - 1
      u(:,a) = q(:,a) + matmul(diagonal(:,:,a), r(:,a))
      do k = row_ptr(a), row_ptr(a+1) - 1
        u(:,a) = u(:,a) + matmul(off_diagonal(:,:,k), r(:,column(k)))
      end do
      call add_row_measure(kind(a), block(b_friction,a), block(b_rho,a), u(:,a), r(:,a), scaled, unscaled)
    end do
    scaled = sqrt(scaled)
    unscaled = sqrt(unscaled)
  end subroutine measure_problem

  !> Solves every island.
  !>
  !>   rows     handle of ConeRows: rows, options and work space.  Writes
  !>            reaction, which holds the initial guess; island_ptr, island_row (find_islands); counts: method that solved an island
  !>            (0: none was needed), status (0 converged, 1 bound reached, 2 reactions grow without bound, 3 not finite), sweeps, ADMM
  !>            iterations, Newton steps, gradient steps, interior point steps, alternations
  !>   n        rows in use
  !>   split    0: all rows are one island
  !>   size, driven_size   norms of q over the rows that do not drive obstacles, and over those that do
  !>   total    rows of the problem, of which these are some islands
  !>   count    out: islands
  !>   worst, iterations   out: sums of their counts (sum_up_islands)
  !>   status   `table_open` or `table_unknown`
  subroutine solve_islands(rows, n, split, size, driven_size, total, count, worst, iterations, status)
    integer(i8), intent(in) :: rows
    integer(i4), intent(in) :: n, split, total
    real(dp), intent(in) :: size, driven_size
    integer(i4), intent(out) :: count, worst, iterations, status
    type(cone_rows) :: all_rows
    integer(i4) :: k, first, last
    real(dp) :: share

    count = 0
    worst = 0
    iterations = 0
    call open_table(rows, all_rows, status)
    if (status /= table_open) return
    if (split /= 0) then
      call find_islands(n, all_rows%row_ptr, all_rows%column, all_rows%island_ptr, all_rows%island_row, count)
    else
      count = min(n, 1)
      all_rows%island_ptr(0:1) = [0, n]
      all_rows%island_row(0:n-1) = [(k, k = 0, n - 1)]
    end if
    !$omp parallel do if (n > parallel_from .and. count > 1) schedule(dynamic) private(first, last, share)
    do k = 0, count - 1
      first = all_rows%island_ptr(k)
      last = all_rows%island_ptr(k+1) - 1
      ! the sum of the squares of the islands' tolerances is the square of the tolerance
      associate (drives => all_rows%driving(all_rows%island_row(first:last)) /= 0)
        share = size
        if (all(drives)) then
          share = driven_size
        else if (any(drives)) then   ! springs or links couple them, and each is measured by its own size
          share = min(size, driven_size)
        end if
      end associate
      share = all_rows%tolerance*share*sqrt(real(last - first + 1, dp)/real(total, dp))
      ! errors of this step must be corrected in the next one, so they stay well below the round-off there
      share = max(share, 0.25_dp*rounding_of(norm2(all_rows%speed(all_rows%island_row(first:last)))))
      call solve_island(all_rows, last - first + 1, all_rows%island_row(first:last), share, all_rows%reaction, all_rows%counts(:,k))
    end do
    !$omp end parallel do
    call sum_up_islands(count, all_rows%counts, worst, iterations)
  end subroutine solve_islands

  !> Sums up the counts of islands (solve_islands): `worst` is their largest status, `iterations` the sum over kinds of iterations, without
  !> alternations, of the largest number of any island.
  pure subroutine sum_up_islands(n, counts, worst, iterations)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: counts(8,n)
    integer(i4), intent(out) :: worst, iterations
    integer(i4) :: kind

    worst = max(0, maxval(counts(c_status,:)))
    iterations = 0
    do kind = c_sweeps, c_interior
      iterations = iterations + max(0, maxval(counts(kind,:)))
    end do
  end subroutine sum_up_islands

  !> Solves the island of `rows`; see `solve_islands`.
  subroutine solve_island(all_rows, n, rows, tolerance, r, counts)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1)
    real(dp), intent(in) :: tolerance
    real(dp), intent(inout) :: r(3,0:*)
    integer(i4), intent(out) :: counts(8)
    type(attempt) :: it
    type(island) :: part
    type(island_lu) :: factor
    integer(i4) :: i
    logical :: packed

    it%tolerance = tolerance
    it%unscaled = all_rows%unscaled /= 0
    it%maxiter = all_rows%maxiter
    do i = 0, n - 1
      if (all_rows%kind(rows(i)) == cone_none) r(:,rows(i)) = 0.0_dp
      it%warm = it%warm .or. any(r(:,rows(i)) /= 0.0_dp)
    end do
    call measure_rows(n, rows, all_rows%kind, all_rows%block, all_rows%diagonal, all_rows%free, all_rows%row_ptr, all_rows%column, &
                      all_rows%off_diagonal, it%unscaled, r, it%residual)
    if (.not. it%residual <= tolerance .and. all_rows%method == use_auto .and. n > 1) then
      if (it%warm .and. all_rows%operators /= with_yielding) it%start = r(:,rows)
      call solve_linear(all_rows, n, rows, it, r)
      if (it%warm .and. .not. it%residual <= tolerance) call solve_narrow(all_rows, n, rows, it, r)
    end if
    if (.not. (it%residual <= tolerance .or. it%contradictory)) then
      packed = all_rows%method > use_anderson
      if (packed) then
        call pack(all_rows, n, rows, part)
        if (all_rows%method /= use_gradient) call analyse_island(part, factor)
      else
        call solve_by_sweeps(all_rows, n, rows, it, r, part, factor, packed)
      end if
      if (packed) call refine(all_rows%method, part, factor, it, r)
    end if
    if (.not. it%residual <= tolerance .and. it%linear_residual <= no_better*it%residual) r(:,rows) = it%linear
    if (it%contradictory .and. .not. it%residual <= tolerance) it%counts(c_status) = bound_reached
    counts = it%counts
  end subroutine solve_island

  !> Copies the rows of an island.
  subroutine pack(all_rows, n, rows, part)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n, rows(0:n-1)
    type(island), intent(inout) :: part

    call pack_rows(all_rows, n, rows, part)
    if (all_rows%operators > 0) call pack_factors(all_rows, part)
  end subroutine pack

  !> Copies rows without their operators.
  subroutine pack_rows(all_rows, n, rows, part)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n, rows(0:n-1)
    type(island), intent(inout) :: part

    call pack_island(n, rows, all_rows%kind, all_rows%block, all_rows%diagonal, all_rows%free, all_rows%row_ptr, &
                     all_rows%column, all_rows%off_diagonal, all_rows%local, part)
  end subroutine pack_rows

  !> Copies the operators of packed rows.
  subroutine pack_factors(all_rows, part)
    type(cone_rows), intent(in) :: all_rows
    type(island), intent(inout) :: part

    call pack_operators(all_rows%first_entry, all_rows%triple, all_rows%entry, all_rows%operators > 1, all_rows%local_triple, part)
  end subroutine pack_factors

  !> Solves an island without contacts, whose equations are linear, by its factors: from zero, so that redundant rows get reactions of least norm.
  !> Else only `it%linear` changes: where rows contradict one another, or hold by a turn of half a step what they leave free in truth, other methods find
  !> reactions of any size that balance one another, for a residual that is hardly smaller.
  subroutine solve_linear(all_rows, n, rows, it, r)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n, rows(0:n-1)
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: r(3,0:*)
    type(island) :: part
    type(island_lu) :: factor
    real(dp), allocatable :: x(:,:)
    real(dp) :: residual, shift
    integer(i4) :: i, steps
    logical :: by_rows

    if (any(all_rows%kind(rows) == cone_contact)) return
    if (.not. (n <= most_ordered .or. all_rows%operators > 0)) return
    call pack_rows(all_rows, n, rows, part)
    by_rows = rows_suffice(part)
    if (by_rows) then
      call analyse_island(part, factor)
      by_rows = factor%products <= few_products
    end if
    if (.not. by_rows .and. (all_rows%operators > 0 .or. .not. factor%analysed)) then
      if (all_rows%operators > 0) call pack_factors(all_rows, part)
      factor = island_lu()
      call analyse_island(part, factor)
    end if
    if (factor%products > most_products) return
    allocate (x(3,0:n-1))
    ! the least eigenvalue of W of a chain falls with the square of its length
    shift = newton_shift*min(1.0_dp, (short_chain/n)**2)
    call linear_island(part, it%unscaled, it%tolerance, linear_steps, shift, factor, x, residual, it%contradictory, steps)
    if (it%contradictory) call soften(part, factor, it, x, residual)
    if (.not. residual <= it%tolerance) then
      it%linear_residual = residual
      it%counts(c_newton) = steps
      it%counts(c_method) = use_newton
      it%linear = reshape([(x(:,i)*part%d(i), i = 0, n - 1)], [3, n])
      return
    end if
    it%residual = residual
    it%counts(c_newton) = steps
    it%counts(c_method) = use_newton
    call put_reactions(part, x, r)
  end subroutine solve_linear

  !> Replaces reactions x of rows that contradict one another by smaller ones, unless their residual is much larger.
  subroutine soften(part, factor, it, x, residual)
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    type(attempt), intent(in) :: it
    real(dp), intent(inout) :: x(3,0:part%n-1), residual
    real(dp) :: softer(3,0:part%n-1), left
    integer(i4) :: steps
    logical :: stagnant

    call linear_island(part, it%unscaled, it%tolerance, linear_steps, soft_shift, factor, softer, left, stagnant, steps)
    if (.not. left <= no_better*residual) return
    x = softer
    residual = left
  end subroutine soften

  !> Newton steps from reactions of the last step on a narrow island: its factors cost less than the many sweeps that forces take to pass
  !> through it.  Narrow are islands of joints that have contacts, and chains of blocks, such as stacks and arches, whose rows are coupled with few
  !> others.  Newton steps must come first: sweeps that stop at the tolerance leave errors that differ from row to row, by which other contacts
  !> seem to slide, and from there Newton takes several times as many steps.  If they do not converge, their best reactions are kept.
  subroutine solve_narrow(all_rows, n, rows, it, r)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n, rows(0:n-1)
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: r(3,0:*)
    type(island) :: part
    type(island_lu) :: factor
    real(dp), allocatable :: x(:,:)
    real(dp) :: residual
    integer(i4) :: contacts, steps

    contacts = count(all_rows%kind(rows) == cone_contact)
    if (contacts == 0 .or. n > most_narrow) return
    if (2*contacts > n .and. .not. is_chain(all_rows, n, rows, it)) return
    call pack_rows(all_rows, n, rows, part)
    call analyse_island(part, factor)
    if (factor%products > few_products) return
    allocate (x(3,0:n-1))
    call take_reactions(part, r, x)
    call newton_island(part, it%unscaled, it%tolerance, few_steps, newton_shift, 1.0_dp, .true., factor, x, residual, steps)
    it%counts(c_newton) = steps
    if (.not. residual < it%residual) return
    it%residual = residual
    it%counts(c_method) = use_newton
    call put_reactions(part, x, r)
  end subroutine solve_narrow

  !> Whether rows are coupled with few others; walls and heaps, in whose contacts Newton steps lose their way, have more couplings.
  pure logical function is_chain(all_rows, n, rows, it)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n, rows(0:n-1)
    type(attempt), intent(in) :: it

    is_chain = n >= least_chain .and. allocated(it%start)
    if (is_chain) is_chain = sum(all_rows%row_ptr(rows+1) - all_rows%row_ptr(rows)) <= chain_couplings*n
  end function is_chain

  !> Sweeps over an island.  `packed`: they do not converge, and the island is packed, its factors are worth their products.
  subroutine solve_by_sweeps(all_rows, n, rows, it, r, part, factor, packed)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n, rows(0:n-1)
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: r(3,0:*)
    type(island), intent(inout) :: part
    type(island_lu), intent(inout) :: factor
    logical, intent(out) :: packed
    logical :: choosing

    choosing = all_rows%method == use_auto
    packed = .false.
    call sweep(all_rows, n, rows, it%maxiter, merge(stagnation, 0, choosing), it, r)
    if (it%residual <= it%tolerance) return
    packed = choosing .and. (n <= most_ordered .or. all_rows%operators > 0)
    if (packed) then
      call pack(all_rows, n, rows, part)
      call analyse_island(part, factor)
      packed = factor%products <= max(most_products, merge(products_per_row*n, 0.0_dp, factor%by_bodies))
    end if
    if (packed) then
      if (n > most_ordered) call sweep_instead(all_rows, n, rows, part, factor, it, r)
      packed = .not. it%residual <= it%tolerance
      return
    end if
    ! for an island that cannot be factorised there is no better method than more sweeps
    if (choosing) then
      if (it%warm) call sweep(all_rows, n, rows, it%maxiter - it%counts(c_sweeps), warm_patience, it, r)
      if (it%residual <= it%tolerance) return
      call start_still(all_rows, n, rows, it%maxiter, it, r)
      if (it%residual > it%tolerance) call sweep(all_rows, n, rows, it%maxiter - it%counts(c_sweeps), 0, it, r)
    end if
    call judge(it)
  end subroutine solve_by_sweeps

  !> Number of sweeps that cost as much as one factorisation, by counts of block products.
  pure real(dp) function sweeps_of(part, factor)
    type(island), intent(in) :: part
    type(island_lu), intent(in) :: factor

    sweeps_of = factor%products/real(part%ptr(part%n) + part%n, dp)
  end function sweeps_of

  !> Sweeps on where Newton steps are likely to cost more: for as long as sweeps promise to reach the tolerance at the cost of the first Newton
  !> steps.  If reactions of the last step are not known, all sweeps that are allowed follow, first those that hold everything still.  Nothing is done
  !> far from a solution, as in walls, through which forces pass slowly.
  subroutine sweep_instead(all_rows, n, rows, part, factor, it, r)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n, rows(0:n-1)
    type(island), intent(in) :: part
    type(island_lu), intent(in) :: factor
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: r(3,0:*)
    real(dp) :: before, worth
    integer(i4) :: left

    if (.not. it%residual < warm_from*load_of(part)) return
    worth = few_steps*sweeps_of(part, factor)
    do
      left = it%maxiter - it%counts(c_sweeps) - stretch
      if (left < 0) exit
      before = it%residual
      call sweep(all_rows, n, rows, stretch, 0, it, r)
      if (it%residual <= it%tolerance) return
      if (.not. it%residual < before) exit
      ! sweeps that remain if the residual goes on to fall like this
      if (stretch*log(it%residual/it%tolerance) > min(worth, real(left, dp))*log(before/it%residual)) exit
    end do
    if (it%warm .or. .not. it%residual <= huge(1.0_dp)) return
    call start_still(all_rows, n, rows, it%maxiter, it, r)
    if (it%residual > it%tolerance) call sweep(all_rows, n, rows, it%maxiter - it%counts(c_sweeps), 0, it, r)
    it%start = r(:,rows)   ! as if they were those of the last step
  end subroutine sweep_instead

  !> Sets the status of an island that is left unsolved.
  subroutine judge(it)
    type(attempt), intent(inout) :: it

    if (.not. it%residual <= it%tolerance) it%counts(c_status) = merge(bound_reached, not_finite, it%residual <= huge(1.0_dp))
  end subroutine judge

  !> Makes at most `most` further sweeps.
  subroutine sweep(all_rows, n, rows, most, patience, it, r)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n, rows(0:n-1), most, patience
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: r(3,0:*)
    integer(i4) :: made, width

    if (most < 1) return
    width = merge(0, all_rows%window, all_rows%method == use_sweeps)
    call sweep_island(n, rows, all_rows%kind, all_rows%block, all_rows%diagonal, all_rows%free, all_rows%row_ptr, all_rows%column, &
                      all_rows%off_diagonal, it%unscaled, it%tolerance, most, width, patience, r, it%residual, made)
    it%counts(c_sweeps) = it%counts(c_sweeps) + made
    it%counts(c_method) = merge(use_sweeps, use_anderson, width == 0)
  end subroutine sweep

  !> Computes reactions by sweeps that first hold everything still, and keeps them if their residual is smaller.
  subroutine start_still(all_rows, n, rows, most, it, r)
    type(cone_rows), intent(in) :: all_rows
    integer(i4), intent(in) :: n, rows(0:n-1)
    integer(i4), intent(in) :: most            !< sweeps in all, with those that were made before
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: r(3,0:*)
    real(dp), allocatable :: swept(:,:)
    real(dp) :: before
    integer(i4) :: made, left, i

    left = most - it%counts(c_sweeps)
    if (left < least_sweeps) return
    allocate(swept(3,0:n-1))
    do i = 0, n - 1
      swept(:,i) = r(:,rows(i))
    end do
    before = it%residual
    call hold_still(n, rows, all_rows%kind, all_rows%block, all_rows%diagonal, all_rows%free, all_rows%row_ptr, &
                    all_rows%column, all_rows%off_diagonal, it%unscaled, it%tolerance, left, r, it%residual, made)
    it%counts(c_sweeps) = it%counts(c_sweeps) + made
    if (it%residual < before) return
    it%residual = before
    do i = 0, n - 1
      r(:,rows(i)) = swept(:,i)
    end do
  end subroutine start_still

  !> Solves a packed island from its present reactions.
  subroutine refine(method, part, factor, it, r)
    integer(i4), intent(in) :: method
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    type(attempt), intent(inout) :: it
    real(dp), intent(inout) :: r(3,0:*)
    real(dp), allocatable :: x(:,:)

    allocate(x(3,0:part%n-1))
    call take_reactions(part, r, x)
    call solve_packed(part, factor, method, it, x)
    if (it%residual <= huge(1.0_dp)) call put_reactions(part, x, r)
    if (it%residual <= it%tolerance) it%counts(c_status) = converged
    if (it%counts(c_status) /= unanswered) call judge(it)
  end subroutine refine
end module automatic_solver
