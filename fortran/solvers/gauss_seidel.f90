!> The whole block Gauss-Seidel iteration in one call (docs/language-objects.md, GAUSS_SEIDEL_SOLVER).
module gauss_seidel
  use kinds, only: dp, i4, i8
  use diagonal_block, only: block_size, b_cohesion, b_opening
  use end_of_cohesion, only: end_cohesion
  use row_block, only: l_shift, law_size, row_options, sweep_figures
  use row_tables, only: local_tables, open_local
  use state_tables, only: sweep_settings, open_table
  use stored_form, only: stored_sweep, stored_velocities
  use table_registry, only: table_open
  use velocity_form, only: velocity_sweep, gather_momenta, momentum_velocities
  use constraint_measures, only: larger, measure
  implicit none
  private
  public :: iterate

contains

  !> Sweeps until the relative change of R is at most `epsilon` and the merit at most `meritval`, or `maxiter` times;
  !> then U = B + W R and, for contacts, the end of cohesion.
  !>
  !> Reads of rows kind, driving (1: the row drives an obstacle; such rows are judged apart, by velocities, so that it does not matter
  !> what the obstacle weighs), patch, law, diagonal, B, speed, free, V, block_ptr, entry_ptr, chunk_ptr, and R, the initial guess;
  !> blocks or entries.  Writes of rows block, R, U, merit, residual, lost (1: cohesion ends for good); momenta of triples; the
  !> history in `settings`.
  !>
  !>   local          LocalDynamics.handles
  !>   settings       handle of SweepSettings
  !>   n, first_row   rows in use; rows before first_row keep their reactions
  !>   stored         1: W in block-CSR, 0: velocity form
  !>   triples        velocity triples in use
  !>   colours        colours that contacts stand in, 0 for none; colour_ptr (0:ncolourptr-1): their chunks of rows (row_colours).
  !>                  Not looked at unless first_row is 0.
  !>   half_step      h/2 (dynamics) or h (quasi-statics); step: h [time]
  !>   check_cohesion 1: mark contacts that lost cohesion
  !>   fallbacks      block solves resolved by a fall-back
  !>   iterations, error   sweeps made, last relative change
  !>   g, total       merit and residual at the end (merit); 0 when only some of the rows are swept
  !>   failed         row left unsolved in the last sweep, or -1
  !>   status         0 converged, 1 bound reached, 2 a block not solved in the last sweep, 3 the same, singular or not finite;
  !>                  `table_unknown`
  subroutine iterate(local, settings, n, first_row, stored, triples, colours, ncolourptr, colour_ptr, half_step, step, &
                     check_cohesion, fallbacks, iterations, error, g, total, failed, status)
    integer(i8), intent(in) :: local(6), settings
    integer(i4), intent(in) :: n, first_row, stored, triples, colours, ncolourptr
    integer(i4), intent(in) :: colour_ptr(0:ncolourptr-1)
    real(dp), intent(in) :: half_step, step
    integer(i4), intent(in) :: check_cohesion
    integer(i4), intent(out) :: fallbacks, iterations
    real(dp), intent(out) :: error, g, total
    integer(i4), intent(out) :: failed, status
    type(local_tables) :: loc
    type(sweep_settings) :: asked
    type(row_options) :: options
    type(sweep_figures) :: found                ! of the last sweep
    type(sweep_figures), allocatable :: part(:) ! of its chunks
    integer(i4) :: counts(3), start, finish, stride, chunks, coloured_rows
    logical :: converged

    fallbacks = 0
    iterations = 0
    failed = -1
    error = 0.0_dp
    g = 0.0_dp
    total = 0.0_dp
    call open_local(local, loc, status)
    if (status == table_open) call open_table(settings, asked, status)
    if (status /= table_open) return
    options = row_options(half_step, step, asked%solver, asked%tolerance, asked%bound)
    counts = 0
    converged = .false.
    chunks = 0
    if (first_row == 0) chunks = colour_ptr(colours)
    coloured_rows = first_row
    if (chunks > 0) coloured_rows = loc%rows%chunk_ptr(chunks)
    allocate(part(0:chunks))
    ! reactions of the last step are no start where nothing has to be stopped
    if (asked%meritval < 1.0_dp .and. first_row == 0) then
      if (.not. any(loc%rows%B(:,0:n-1) /= 0.0_dp)) loc%rows%R(:,0:n-1) = 0.0_dp
    end if
    if (stored == 0) call gather_momenta(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, loc%rows%R, triples, &
                                         loc%triples%momentum)
    do iterations = 1, asked%maxiter
      start = first_row
      finish = n - 1
      stride = 1
      if (asked%reverse == 2 .or. (asked%reverse /= 0 .and. mod(iterations, 2) == 0)) then
        start = n - 1
        finish = first_row
        stride = -1
      end if
      call sweep_rows(start, finish, stride)
      counts = counts + found%counts
      error = larger(relative(found%change(0), found%size(0)), relative(found%change(1), found%size(1)))
      if (asked%meritval < 1.0_dp) then
        call velocities()
        call evaluate()
        call note_openings(n, loc%rows%R, loc%rows%U, loc%rows%law, loc%rows%block)
      end if
      asked%errors(iterations-1) = error
      asked%merits(iterations-1) = g
      if (.not. (error <= huge(1.0_dp) .and. g <= huge(1.0_dp))) exit
      converged = error <= asked%epsilon .and. found%postponed <= asked%epsilon**2*found%size(0) .and. &
        (asked%meritval >= 1.0_dp .or. g <= asked%meritval)
      if (converged) exit
    end do
    iterations = min(iterations, asked%maxiter)
    failed = found%failed
    call velocities()
    if (check_cohesion /= 0) call end_cohesion(n, loc%rows%kind, loc%rows%law, loc%rows%patch, loc%rows%diagonal, loc%rows%R, &
                                               loc%rows%U, loc%rows%lost)
    if (first_row == 0) call evaluate()
    status = 0
    if (.not. converged) status = 1
    ! where nothing but rounding is wrong, reactions may wander without end
    if (first_row == 0 .and. failed < 0 .and. abs(total) <= 0.0_dp .and. (asked%meritval >= 1.0_dp .or. g <= asked%meritval)) &
      status = 0
    fallbacks = counts(1)
    if (any(found%counts(2:3) > 0)) status = 2
    if (found%counts(3) > 0 .or. .not. error <= huge(1.0_dp)) status = 3

  contains

    !> One sweep: colours, each by all threads, then the other rows; or the other way round.  Sums are taken in the order
    !> of chunks, so the bits do not depend on the number of threads.
    subroutine sweep_rows(start, finish, stride)
      integer(i4), intent(in) :: start, finish, stride
      integer(i4) :: c, k, first_colour, last_colour

      if (chunks == 0) then
        call sweep_range(start, finish, stride, found)
        return
      end if
      first_colour = 0
      last_colour = colours - 1
      if (stride < 0) then
        first_colour = colours - 1
        last_colour = 0
        call sweep_range(start, coloured_rows, stride, part(chunks))
      end if
      !$omp parallel private(c)
      do c = first_colour, last_colour, stride
        !$omp do schedule(static)
        do k = colour_ptr(c), colour_ptr(c+1) - 1
          if (stride > 0) then
            call sweep_range(loc%rows%chunk_ptr(k), loc%rows%chunk_ptr(k+1) - 1, stride, part(k))
          else
            call sweep_range(loc%rows%chunk_ptr(k+1) - 1, loc%rows%chunk_ptr(k), stride, part(k))
          end if
        end do
        !$omp end do
      end do
      !$omp end parallel
      if (stride > 0) call sweep_range(coloured_rows, finish, stride, part(chunks))
      found = sweep_figures()
      do k = 0, chunks
        found%change = found%change + part(k)%change
        found%size = found%size + part(k)%size
        found%postponed = found%postponed + part(k)%postponed
        found%counts = found%counts + part(k)%counts
        found%failed = max(found%failed, part(k)%failed)
      end do
    end subroutine sweep_rows

    subroutine sweep_range(first, last, stride, figures)
      integer(i4), intent(in) :: first, last, stride
      type(sweep_figures), intent(out) :: figures

      if (stored /= 0) then
        call stored_sweep(first, last, stride, options, loc%rows%kind, loc%rows%driving, loc%rows%block, loc%rows%law, &
                          loc%rows%diagonal, loc%rows%free, loc%rows%V, loc%rows%block_ptr, loc%blocks%column, loc%blocks%block, &
                          loc%rows%R, figures)
      else
        call velocity_sweep(first, last, stride, options, loc%rows%kind, loc%rows%driving, loc%rows%block, loc%rows%law, &
                            loc%rows%diagonal, loc%rows%free, loc%rows%V, loc%rows%entry_ptr, loc%entries%triple, &
                            loc%entries%operator, loc%triples%momentum, loc%rows%R, figures)
      end if
    end subroutine sweep_range

    subroutine velocities()
      if (stored /= 0) then
        call stored_velocities(n, loc%rows%block_ptr, loc%blocks%column, loc%blocks%block, loc%rows%diagonal, loc%rows%R, &
                               loc%rows%B, loc%rows%U)
      else
        ! momenta are gathered anew: those of the sweep carry the rounding of all updates
        call gather_momenta(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, loc%rows%R, triples, &
                            loc%triples%momentum)
        call momentum_velocities(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, loc%triples%momentum, &
                                 loc%rows%B, loc%rows%U)
      end if
    end subroutine velocities

    !> Merit and residual of all rows.
    subroutine evaluate()
      call measure(n, .false., 1.0_dp, loc%rows%kind, loc%rows%driving, loc%rows%block, loc%rows%law, loc%rows%diagonal, &
                   loc%rows%B, loc%rows%speed, loc%rows%R, loc%rows%U, half_step, loc%rows%merit, loc%rows%residual, g, total)
    end subroutine evaluate
  end subroutine iterate

  !> Contacts that carry nothing know how fast they open.
  pure subroutine note_openings(n, reaction, u, law, block)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: reaction(3,0:*), u(3,0:*), law(law_size,0:*)
    real(dp), intent(inout) :: block(block_size,0:*)
    integer :: a

    do a = 0, n - 1
      if (reaction(3,a) + block(b_cohesion,a) <= 0.0_dp) block(b_opening,a) = u(3,a) + law(l_shift,a)
    end do
  end subroutine note_openings

  !> Root of a sum of squared changes over that of squared sizes, where these are any.
  pure function relative(change, size) result(error)
    real(dp), intent(in) :: change, size
    real(dp) :: error
    error = sqrt(change)
    if (size > 0.0_dp) error = error/sqrt(size)
  end function relative
end module gauss_seidel
