!> The whole block Gauss-Seidel iteration in one call (manual, GAUSS_SEIDEL_SOLVER).
module gauss_seidel
  use kinds, only: dp, i4
  use diagonal_block, only: b_cohesion, b_opening
  use end_of_cohesion, only: end_cohesion
  use row_block, only: l_shift
  use stored_form, only: stored_sweep, stored_velocities
  use velocity_form, only: velocity_sweep, gather_momenta, momentum_velocities
  use constraint_measures, only: larger
  use merit, only: evaluate
  implicit none
  private
  public :: iterate

contains

  !> Sweeps until the relative change of R is at most `epsilon` and the merit at most `meritval`, or `maxiter` times;
  !> then U = B + W R and, for contacts, the end of cohesion.
  !>
  !>   n, first_row   rows in use; rows before first_row keep their reactions
  !>   stored         1: W in block-CSR, 0: velocity form
  !>   colours        colours that contacts stand in, 0 for none; colour_ptr (0:ncolourptr-1), chunk_ptr (0:nrow-1): their
  !>                  chunks of rows (row_colours).  Not looked at unless first_row is 0.
  !>   kind           (0:nrow-1) kinds of rows (row_block); driving 1: the row drives an obstacle.  Such rows are judged
  !>                  apart, by velocities (count_driving), so that it does not matter what the obstacle weighs
  !>   patch          (0:nrow-1) first row of a patch of cohesive points (end_of_cohesion)
  !>   block, law     (16,0:nrow-1), (8,0:nrow-1) contact numbers (diagonal_block) and laws (row_block)
  !>   diagonal       (3,3,0:nrow-1) W_aa [velocity/force]
  !>   b, free, v     (3,0:nrow-1) B, B in the reduced form, V [velocity]; speed (0:nrow-1) size of the terms of B (merit)
  !>   row_ptr        (0:nrow-1) first block of each row; column (0:nblock-1), off_diagonal (3,3,0:nblock-1): W_ab
  !>   entry_ptr      (0:nrow-1) first entry of each row; triple (0:nentry-1), entry (3,3,0:nentry-1): H' (velocity_form)
  !>   triples        velocity triples in use; momentum (3,0:ntriple-1) is work space
  !>   half_step      h/2 (dynamics) or h (quasi-statics); step: h [time]
  !>   solver, diag_epsilon, diag_maxiter   block solver of contacts (0..3, see diagonal_block), its accuracy and bound
  !>   reverse        1: odd sweeps run backwards, 2: all do
  !>   epsilon, maxiter, meritval   stopping rule; meritval >= 1 disables the merit function
  !>   check_cohesion 1: mark contacts that lost cohesion in `lost`
  !>   reaction, u    (3,0:nrow-1) R: initial guess and solution [force]; U [velocity]
  !>   member, residual   (0:nrow-1) merit and residual of rows, as of g and total
  !>   lost           (0:nrow-1) out: 1 where cohesion ends for good
  !>   errors, merits (0:nhistory-1) out: history of the relative change and of the merit
  !>   fallbacks      block solves resolved by a fall-back
  !>   iterations, error   sweeps made, last relative change
  !>   g, total       merit and residual at the end (merit); 0 when only some of the rows are swept
  !>   failed         row left unsolved in the last sweep, or -1
  !>   status         0 converged, 1 bound reached, 2 a block not solved in the last sweep, 3 the same, singular or not finite
  subroutine iterate(n, first_row, stored, colours, triples, half_step, step, solver, diag_epsilon, diag_maxiter, reverse, &
      epsilon, maxiter, meritval, check_cohesion, ncolourptr, colour_ptr, chunk_ptr, nrow, nblock, nentry, ntriple, nhistory, &
      kind, driving, patch, block, law, diagonal, b, speed, free, v, row_ptr, column, off_diagonal, entry_ptr, triple, entry, &
      momentum, &
      reaction, u, member, residual, lost, errors, merits, fallbacks, iterations, error, g, total, failed, status)
    integer(i4), intent(in) :: n, first_row, stored, colours, ncolourptr
    integer(i4), intent(in) :: nrow, nblock, nentry, ntriple, nhistory
    integer(i4), intent(in) :: colour_ptr(0:ncolourptr-1), chunk_ptr(0:nrow-1)
    integer(i4), intent(in) :: kind(0:nrow-1), driving(0:nrow-1), patch(0:nrow-1)
    real(dp), intent(inout) :: block(16,0:nrow-1)
    real(dp), intent(in) :: law(8,0:nrow-1), diagonal(3,3,0:nrow-1)
    real(dp), intent(in) :: b(3,0:nrow-1), speed(0:nrow-1), free(3,0:nrow-1), v(3,0:nrow-1)
    integer(i4), intent(in) :: row_ptr(0:nrow-1), column(0:nblock-1)
    real(dp), intent(in) :: off_diagonal(3,3,0:nblock-1)
    integer(i4), intent(in) :: entry_ptr(0:nrow-1), triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1)
    integer(i4), intent(in) :: triples
    real(dp), intent(inout) :: momentum(3,0:ntriple-1)
    real(dp), intent(in) :: half_step, step
    integer(i4), intent(in) :: solver
    real(dp), intent(in) :: diag_epsilon
    integer(i4), intent(in) :: diag_maxiter, reverse
    real(dp), intent(in) :: epsilon
    integer(i4), intent(in) :: maxiter
    real(dp), intent(in) :: meritval
    integer(i4), intent(in) :: check_cohesion
    real(dp), intent(inout) :: reaction(3,0:nrow-1), u(3,0:nrow-1)
    real(dp), intent(inout) :: member(0:nrow-1), residual(0:nrow-1)
    integer(i4), intent(inout) :: lost(0:nrow-1)
    real(dp), intent(inout) :: errors(0:nhistory-1), merits(0:nhistory-1)
    integer(i4), intent(out) :: fallbacks, iterations
    real(dp), intent(out) :: error, g, total
    integer(i4), intent(out) :: failed, status
    real(dp) :: change(0:1), size(0:1), postponed   ! of rows that drive obstacles (1), of others (0)
    integer(i4) :: counts(3)                    ! blocks: resolved by a fall-back; left because of a bound, of a failure
    integer(i4) :: start, finish, stride, before(3), chunks, coloured_rows
    logical :: converged
    real(dp), allocatable :: sums(:,:)          ! per chunk: change (2), size (2), postponed
    integer(i4), allocatable :: tallies(:,:)    ! per chunk: counts, failed

    counts = 0
    before = 0
    failed = -1
    error = 0.0_dp
    g = 0.0_dp
    total = 0.0_dp
    converged = .false.
    chunks = 0
    if (first_row == 0) chunks = colour_ptr(colours)
    coloured_rows = first_row
    if (chunks > 0) coloured_rows = chunk_ptr(chunks)
    allocate(sums(5,0:chunks), tallies(4,0:chunks))
    ! reactions of the last step are no start where nothing has to be stopped
    if (meritval < 1.0_dp .and. first_row == 0 .and. .not. any(b(:,0:n-1) /= 0.0_dp)) reaction(:,0:n-1) = 0.0_dp
    if (stored == 0) call gather_momenta(n, entry_ptr, triple, entry, reaction, triples, momentum)
    do iterations = 1, maxiter
      start = first_row
      finish = n - 1
      stride = 1
      if (reverse == 2 .or. (reverse /= 0 .and. mod(iterations, 2) == 0)) then
        start = n - 1
        finish = first_row
        stride = -1
      end if
      failed = -1
      before = counts
      call sweep_rows(start, finish, stride)
      error = larger(relative(change(0), size(0)), relative(change(1), size(1)))
      if (meritval < 1.0_dp) then
        call velocities()
        call evaluate(n, nrow, kind, driving, block, law, diagonal, b, speed, reaction, u, half_step, member, residual, g, total)
        where (reaction(3,0:n-1) + block(b_cohesion,0:n-1) <= 0.0_dp) block(b_opening,0:n-1) = u(3,0:n-1) + law(l_shift,0:n-1)
      end if
      errors(iterations-1) = error
      merits(iterations-1) = g
      if (.not. (error <= huge(1.0_dp) .and. g <= huge(1.0_dp))) exit
      converged = error <= epsilon .and. postponed <= epsilon**2*size(0) .and. (meritval >= 1.0_dp .or. g <= meritval)
      if (converged) exit
    end do
    iterations = min(iterations, maxiter)
    call velocities()
    if (check_cohesion /= 0) call end_cohesion(n, kind, law, patch, diagonal, reaction, u, lost)
    if (first_row == 0) then
      call evaluate(n, nrow, kind, driving, block, law, diagonal, b, speed, reaction, u, half_step, member, residual, g, total)
    end if
    status = 0
    if (.not. converged) status = 1
    ! where nothing but rounding is wrong, reactions may wander without end
    if (first_row == 0 .and. failed < 0 .and. abs(total) <= 0.0_dp .and. (meritval >= 1.0_dp .or. g <= meritval)) status = 0
    fallbacks = counts(1)
    if (any(counts(2:3) > before(2:3))) status = 2
    if (counts(3) > before(3) .or. .not. error <= huge(1.0_dp)) status = 3

  contains

    !> One sweep: colours, each by all threads, then the other rows; or the other way round.  Sums are taken in the order
    !> of chunks, so the bits do not depend on the number of threads.
    subroutine sweep_rows(start, finish, stride)
      integer(i4), intent(in) :: start, finish, stride
      integer(i4) :: c, k, first_colour, last_colour

      if (chunks == 0) then
        call sweep_range(start, finish, stride, change, size, counts, failed, postponed)
        return
      end if
      tallies(1:3,0:chunks) = 0
      tallies(4,0:chunks) = -1
      first_colour = 0
      last_colour = colours - 1
      if (stride < 0) then
        first_colour = colours - 1
        last_colour = 0
        call sweep_range(start, coloured_rows, stride, sums(1:2,chunks), sums(3:4,chunks), tallies(1:3,chunks), &
                         tallies(4,chunks), sums(5,chunks))
      end if
      !$omp parallel private(c)
      do c = first_colour, last_colour, stride
        !$omp do schedule(static)
        do k = colour_ptr(c), colour_ptr(c+1) - 1
          if (stride > 0) then
            call sweep_range(chunk_ptr(k), chunk_ptr(k+1) - 1, stride, sums(1:2,k), sums(3:4,k), tallies(1:3,k), &
                             tallies(4,k), sums(5,k))
          else
            call sweep_range(chunk_ptr(k+1) - 1, chunk_ptr(k), stride, sums(1:2,k), sums(3:4,k), tallies(1:3,k), &
                             tallies(4,k), sums(5,k))
          end if
        end do
        !$omp end do
      end do
      !$omp end parallel
      if (stride > 0) call sweep_range(coloured_rows, finish, stride, sums(1:2,chunks), sums(3:4,chunks), tallies(1:3,chunks), &
                                       tallies(4,chunks), sums(5,chunks))
      change = 0.0_dp
      size = 0.0_dp
      postponed = 0.0_dp
      do k = 0, chunks
        change = change + sums(1:2,k)
        size = size + sums(3:4,k)
        postponed = postponed + sums(5,k)
        counts = counts + tallies(1:3,k)
        failed = max(failed, tallies(4,k))
      end do
    end subroutine sweep_rows

    subroutine sweep_range(first, last, stride, change, size, counts, failed, postponed)
      integer(i4), intent(in) :: first, last, stride
      real(dp), intent(out) :: change(0:1), size(0:1), postponed
      integer(i4), intent(inout) :: counts(3), failed

      if (stored /= 0) then
        call stored_sweep(first, last, stride, kind, driving, block, law, diagonal, free, v, row_ptr, column, off_diagonal, &
                          half_step, step, solver, diag_epsilon, diag_maxiter, reaction, change, size, counts, &
                          failed, postponed)
      else
        call velocity_sweep(first, last, stride, kind, driving, block, law, diagonal, free, v, entry_ptr, triple, entry, &
                            half_step, step, solver, diag_epsilon, diag_maxiter, momentum, reaction, change, size, &
                            counts, failed, postponed)
      end if
    end subroutine sweep_range

    subroutine velocities()
      if (stored /= 0) then
        call stored_velocities(n, row_ptr, column, off_diagonal, diagonal, reaction, b, u)
      else
        ! momenta are gathered anew: those of the sweep carry the rounding of all updates
        call gather_momenta(n, entry_ptr, triple, entry, reaction, triples, momentum)
        call momentum_velocities(n, entry_ptr, triple, entry, momentum, b, u)
      end if
    end subroutine velocities
  end subroutine iterate

  !> Root of a sum of squared changes over that of squared sizes, where these are any.
  pure function relative(change, size) result(error)
    real(dp), intent(in) :: change, size
    real(dp) :: error
    error = sqrt(change)
    if (size > 0.0_dp) error = error/sqrt(size)
  end function relative
end module gauss_seidel
