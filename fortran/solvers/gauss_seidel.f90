!> The whole block Gauss-Seidel iteration in one call (docs/language-objects.md, GAUSS_SEIDEL_SOLVER).
module gauss_seidel
  use kinds, only: dp, i4, i8
  use contact_lanes, only: lanes
  use end_of_cohesion, only: end_cohesion
  use lane_slots, only: unpack_slots
  use lane_sweeps, only: sweep_chunks
  use row_block, only: row_options, sweep_figures
  use row_tables, only: local_tables, open_local
  use state_tables, only: lane_tables, open_lane_tables, open_table, sweep_settings
  use stored_form, only: stored_sweep, stored_velocities
  use table_registry, only: table_open
  use velocity_form, only: velocity_sweep, gather_momenta, momentum_velocities
  use constraint_measures, only: larger, measure, note_openings
  implicit none
  private
  public :: iterate

  !> Rows of a sweep, and options.
  type :: sweeps
    type(local_tables) :: loc
    type(lane_tables) :: side
    type(row_options) :: options
    logical :: beside               !< rows of colours are visited in lanes (rows_in_lanes)
    real(dp), allocatable :: figures(:,:)   !< of rows of colours that are visited one by one there
    logical :: stored               !< W is stored in blocks, not applied through body velocities
    integer(i4) :: n                !< rows in use
    integer(i4) :: triples          !< velocity triples in use
    integer(i4) :: colours, chunks  !< colours, and chunks of rows of all colours; 0: rows are swept one after another
    real(dp) :: unit                !< of force, in which the merit adds reactions to velocities
    integer(i4) :: coloured_rows    !< the first row behind those of colours
    logical :: heard                !< rows behind those of colours read reactions of contacts, which lanes hold: those of rolling friction
  end type sweeps

contains

  !> Sweeps until the relative change of R is at most `epsilon` and the merit at most `meritval`, at most `maxiter` times;
  !> then computes U = B + W R and the end of cohesion of contacts.
  !>
  !> Reads of rows kind, contact, driving (1: the row drives an obstacle; such rows are judged separately, by velocities, so that the obstacle's
  !> weight has no effect), patch, law, diagonal, B, speed, free, V, block_ptr, entry_ptr, chunk_ptr, and R, the initial guess;
  !> blocks or entries.  Writes of rows block, R, U, merit, residual, lost (1: cohesion ends for good); momenta of triples; the
  !> history in `settings`.
  !>
  !>   local          LocalDynamics.handles
  !>   lane_handles   of the rows of colours, if they are visited in lanes (RowsInLanes.handles); else 0
  !>   settings       handle of SweepSettings
  !>   n              rows in use
  !>   stored         1: W in block-CSR, 0: velocity form
  !>   triples        velocity triples in use
  !>   colours        number of colours of contacts, 0 for none; colour_ptr (0:ncolourptr-1): their chunks of rows (row_colours)
  !>   half_step      h/2 (dynamics) or h (quasi-statics); step: h [time]
  !>   fallbacks      number of block solutions by a fall-back
  !>   iterations, error   sweeps made, last relative change
  !>   g, total       merit and residual at the end (merit)
  !>   failed         row that was not solved in the last sweep, or -1
  !>   status         0 converged, 1 bound reached, 2 a block not solved in the last sweep, 3 a singular block or numbers not finite;
  !>                  `table_unknown`
  subroutine iterate(local, lane_handles, settings, n, stored, triples, colours, ncolourptr, colour_ptr, half_step, step, &
                     fallbacks, iterations, error, g, total, failed, status)
    integer(i8), intent(in) :: local(6), lane_handles(4), settings
    integer(i4), intent(in) :: n, stored, triples, colours, ncolourptr
    integer(i4), intent(in) :: colour_ptr(0:ncolourptr-1)
    real(dp), intent(in) :: half_step, step
    integer(i4), intent(out) :: fallbacks, iterations
    real(dp), intent(out) :: error, g, total
    integer(i4), intent(out) :: failed, status
    type(sweeps) :: run
    type(sweep_settings) :: asked
    type(sweep_figures) :: found                !< of the last sweep
    type(sweep_figures), allocatable :: part(:) !< of its chunks, and of the rows behind them
    integer(i4) :: counts(3)
    logical :: converged

    fallbacks = 0
    iterations = 0
    failed = -1
    error = 0.0_dp
    g = 0.0_dp
    total = 0.0_dp
    call open_local(local, run%loc, status)
    if (status == table_open) call open_table(settings, asked, status)
    run%beside = lane_handles(1) /= 0
    if (status == table_open .and. run%beside) call open_lane_tables(lane_handles, run%side, status)
    if (status /= table_open) return
    if (run%beside) allocate (run%figures(5,0:n-1))
    run%unit = asked%unit
    run%options = row_options(half_step, step, asked%solver, asked%tolerance, asked%bound)
    call take_arguments(run, n, stored, triples, colours, colour_ptr, asked%meritval)
    allocate (part(0:run%chunks))
    counts = 0
    converged = .false.
    do iterations = 1, asked%maxiter
      call sweep(run, colour_ptr, asked%reverse == 2 .or. (asked%reverse /= 0 .and. mod(iterations, 2) == 0), &
                 part, found)
      counts = counts + found%counts
      error = larger(relative(found%change(0), found%size(0)), relative(found%change(1), found%size(1)))
      if (asked%meritval < 1.0_dp) then
        call find_velocities(run)
        call evaluate_rows(run, g, total)
        call note_openings(n, run%loc%rows%R, run%loc%rows%U, run%loc%rows%law, run%loc%rows%block)
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
    if (run%beside) then
      if (run%side%chunks%packed /= 0) call unpack_slots(run%loc%rows, run%side)
    end if
    call find_velocities(run)
    call end_cohesion(n, run%loc%rows%kind, run%loc%rows%law, run%loc%rows%patch, run%loc%rows%diagonal, run%loc%rows%R, &
                      run%loc%rows%U, run%loc%rows%lost)
    call evaluate_rows(run, g, total)
    ! if all errors are within round-off, reactions may keep changing
    if (failed < 0 .and. abs(total) <= 0.0_dp) converged = converged .or. asked%meritval >= 1.0_dp .or. g <= asked%meritval
    fallbacks = counts(1)
    status = merge(0, 1, converged)
    if (any(found%counts(2:3) > 0)) status = 2
    if (found%counts(3) > 0 .or. .not. error <= huge(1.0_dp)) status = 3
  end subroutine iterate

  !> Stores the arguments of `iterate`, and computes momenta of the initial reactions.
  subroutine take_arguments(run, n, stored, triples, colours, colour_ptr, meritval)
    type(sweeps), intent(inout) :: run
    integer(i4), intent(in) :: n, stored, triples, colours, colour_ptr(0:*)
    real(dp), intent(in) :: meritval

    run%n = n
    run%stored = stored /= 0
    run%triples = triples
    run%colours = colours
    run%chunks = colour_ptr(colours)
    run%coloured_rows = 0
    if (run%chunks > 0) run%coloured_rows = run%loc%rows%chunk_ptr(run%chunks)
    run%heard = any(run%loc%rows%contact(run%coloured_rows:n-1) >= 0)
    ! if there is no velocity to stop, reactions of the last step are no good start
    if (meritval < 1.0_dp) then
      if (.not. any(run%loc%rows%B(:,0:n-1) /= 0.0_dp)) run%loc%rows%R(:,0:n-1) = 0.0_dp
    end if
    if (.not. run%stored) call gather(run)
  end subroutine take_arguments

  !> Makes one sweep: colours, each by all threads, then the other rows; backwards in the opposite order.  Sums run in the
  !> order of chunks, so the bits do not depend on the number of threads.
  subroutine sweep(run, colour_ptr, backwards, part, found)
    type(sweeps), intent(inout) :: run
    integer(i4), intent(in) :: colour_ptr(0:*)
    logical, intent(in) :: backwards
    type(sweep_figures), intent(inout) :: part(0:)
    type(sweep_figures), intent(out) :: found
    integer(i4) :: k

    if (run%chunks == 0) then
      call sweep_range(run, 0, run%n - 1, backwards, found)
      return
    end if
    if (backwards) call sweep_range(run, run%coloured_rows, run%n - 1, backwards, part(run%chunks))
    if (run%beside) then
      call sweep_lanes(run, backwards, found)
      if (run%heard .and. run%side%chunks%packed /= 0) call unpack_slots(run%loc%rows, run%side)
    else
      call sweep_colours(run, colour_ptr, backwards, part)
      do k = 0, run%chunks - 1
        call add(part(k), found)
      end do
    end if
    if (.not. backwards) call sweep_range(run, run%coloured_rows, run%n - 1, backwards, part(run%chunks))
    call add(part(run%chunks), found)
  end subroutine sweep

  !> Adds the figures of some rows to those of others.
  pure subroutine add(some, found)
    type(sweep_figures), intent(in) :: some
    type(sweep_figures), intent(inout) :: found

    found%change = found%change + some%change
    found%size = found%size + some%size
    found%postponed = found%postponed + some%postponed
    found%counts = found%counts + some%counts
    found%failed = max(found%failed, some%failed)
  end subroutine add

  !> Sweeps colour after colour in lanes.
  subroutine sweep_lanes(run, backwards, found)
    type(sweeps), intent(inout) :: run
    logical, intent(in) :: backwards
    type(sweep_figures), intent(inout) :: found
    real(dp) :: total(lanes,3)
    integer(i4) :: c, i, s

    associate (side => run%side, chunks => run%side%chunks)
      do i = 0, run%colours - 1
        c = i
        if (backwards) c = run%colours - 1 - i
        call sweep_chunks(run%loc, side, chunks%chunk_ptr(c), chunks%chunk_ptr(c+1) - 1, run%options, backwards, run%figures, &
                          found%counts, found%failed)
      end do
      total = 0.0_dp
      do s = 0, chunks%slots - 1
        total = total + side%slots%figures(:,:,s)
      end do
      found%change(0) = found%change(0) + sum(total(:,1))
      found%size(0) = found%size(0) + sum(total(:,2))
      found%postponed = found%postponed + sum(total(:,3))
      do i = 0, chunks%judged_rest - 1
        associate (figure => run%figures(:,chunks%judged(i)))
          found%change = found%change + figure(1:2)
          found%size = found%size + figure(3:4)
          found%postponed = found%postponed + figure(5)
        end associate
      end do
    end associate
  end subroutine sweep_lanes

  !> Sweeps colour after colour; chunks of one colour share no body.
  subroutine sweep_colours(run, colour_ptr, backwards, part)
    type(sweeps), intent(inout) :: run
    integer(i4), intent(in) :: colour_ptr(0:*)
    logical, intent(in) :: backwards
    type(sweep_figures), intent(inout) :: part(0:)
    integer(i4) :: c, k, first_colour, last_colour, stride

    first_colour = merge(run%colours - 1, 0, backwards)
    last_colour = merge(0, run%colours - 1, backwards)
    stride = merge(-1, 1, backwards)
    !$omp parallel private(c)
    do c = first_colour, last_colour, stride
      !$omp do schedule(static)
      do k = colour_ptr(c), colour_ptr(c+1) - 1
        call sweep_range(run, run%loc%rows%chunk_ptr(k), run%loc%rows%chunk_ptr(k+1) - 1, backwards, part(k))
      end do
      !$omp end do
    end do
    !$omp end parallel
  end subroutine sweep_colours

  !> Sweeps rows from `first` to `last`, or, backwards, from `last` to `first`.
  subroutine sweep_range(run, first, last, backwards, figures)
    type(sweeps), intent(inout) :: run
    integer(i4), intent(in) :: first, last
    logical, intent(in) :: backwards
    type(sweep_figures), intent(out) :: figures
    integer(i4) :: start, finish, stride

    start = merge(last, first, backwards)
    finish = merge(first, last, backwards)
    stride = merge(-1, 1, backwards)
    associate (rows => run%loc%rows, blocks => run%loc%blocks, entries => run%loc%entries)
      if (run%stored) then
        call stored_sweep(start, finish, stride, run%options, rows%kind, rows%driving, rows%contact, rows%block, rows%law, &
                          rows%diagonal, rows%free, rows%V, rows%block_ptr, blocks%column, blocks%block, rows%R, figures)
      else
        call velocity_sweep(start, finish, stride, run%options, rows%kind, rows%driving, rows%contact, rows%block, rows%law, &
                            rows%diagonal, rows%free, rows%V, rows%entry_ptr, entries%triple, entries%operator, &
                            run%loc%triples%momentum, rows%R, figures)
      end if
    end associate
  end subroutine sweep_range

  !> Computes momenta from all reactions.
  subroutine gather(run)
    type(sweeps), intent(inout) :: run

    call gather_momenta(run%n, run%loc%rows%entry_ptr, run%loc%entries%triple, run%loc%entries%operator, run%loc%rows%R, &
                        run%triples, run%loc%triples%momentum)
  end subroutine gather

  !> Computes U = B + W R.
  subroutine find_velocities(run)
    type(sweeps), intent(inout) :: run

    associate (rows => run%loc%rows, blocks => run%loc%blocks, entries => run%loc%entries)
      if (run%stored) then
        call stored_velocities(run%n, rows%block_ptr, blocks%column, blocks%block, rows%diagonal, rows%R, rows%B, rows%U)
      else
        call gather(run)  ! momenta of the sweep contain the round-off of all updates
        call momentum_velocities(run%n, rows%entry_ptr, entries%triple, entries%operator, run%loc%triples%momentum, rows%B, rows%U)
      end if
    end associate
  end subroutine find_velocities

  !> Computes merit and residual of all rows.
  subroutine evaluate_rows(run, g, total)
    type(sweeps), intent(inout) :: run
    real(dp), intent(out) :: g, total

    associate (rows => run%loc%rows)
      call measure(run%n, .false., run%unit, rows%kind, rows%driving, rows%contact, rows%block, rows%law, rows%diagonal, rows%B, &
                   rows%speed, rows%R, rows%U, run%options%half_step, rows%merit, rows%residual, g, total)
    end associate
  end subroutine evaluate_rows

  !> Root of the sum of squared changes over the sum of squared sizes; of the former alone if the latter is zero.
  pure function relative(change, size) result(error)
    real(dp), intent(in) :: change, size
    real(dp) :: error
    error = sqrt(change)
    if (size > 0.0_dp) error = error/sqrt(size)
  end function relative
end module gauss_seidel
