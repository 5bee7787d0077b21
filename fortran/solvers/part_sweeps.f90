!> Gauss-Seidel sweeps over a part of a model: momenta from reactions, sweeps over listed rows, velocities, errors of rows.
!>
!> Between these calls momenta of copies are replaced by those of their owners.  Every owner of a body of a row sweeps the
!> row, from the same numbers, so reactions need not be sent.
module part_sweeps
  use ieee_arithmetic, only: ieee_is_nan
  use kinds, only: dp, i4, i8
  use lane_sweeps, only: sweep_chunks, sweep_listed
  use momentum_messages, only: open_shared, receive_momenta, send_momenta
  use reductions, only: non_negative_bits, reduce, reduced
  use state_tables, only: colour_messages, lane_tables, open_lane_tables, open_table, reduction, sweep_course, sweep_settings
  use table_registry, only: table_open
  use row_tables, only: local_tables, open_local
  use constraint_measures, only: error_without_reaction, larger, measure_terms, note_openings
  use contact_lanes, only: add_lane_figures
  use end_of_cohesion, only: end_cohesion
  use rolling_rows, only: take_normals
  use row_block, only: row_options
  use velocity_form, only: gather_momenta, momentum_velocities
  implicit none
  private
  public :: begin_parts
  public :: sweep_part, sweep_with_messages, sweep_until_settled, add_figures
  public :: find_part_velocities, measure_part, measure_part_without_reactions, finish_parts

  !> What a course of sweeps does next (Phase of solfec/parallel/sweep_course.py).
  integer(i4), parameter :: sweeping = 0, summing = 1, summing_again = 2, settled = 3
  integer, parameter :: figures = 5                          !< of a row, whose sums end the sweeps
  real(dp), parameter :: word = 2.0_dp**40                   !< range of each of the two words of a term of a sum
  real(dp), parameter :: headroom = 4.0_dp                   !< by how much the largest term may grow from one sweep to the next

contains

  !> Computes momenta p = sum over rows of H'^T R.
  !>
  !> Reads of rows R, entry_ptr; entries.  Writes momenta of triples.
  !>
  !>   handles     of local dynamics (row_tables); n, triples: rows and velocity triples in use
  !>   status      out: table_open, or a handle is void
  subroutine begin_parts(handles, n, triples, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: n, triples
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    call open_local(handles, loc, status)
    if (status /= table_open) return
    call gather_momenta(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, loc%rows%r, triples, loc%triples%momentum)
  end subroutine begin_parts

  !> Sweeps some rows in the order of the list, and updates momenta.
  !>
  !> Reads of rows kind, driving, contact, law, diagonal, free, V, entry_ptr; entries.  Writes of rows block, R; momenta of triples.
  !>
  !>   listed      (0:count-1) rows
  !>   half_step   h/2 (dynamics) or h (quasi-statics); step: h [time]
  !>   solver, tolerance, bound   block solver of contacts (diagonal_block), its accuracy and bound
  !>   sums        (5,0:nrow-1) in the columns of these rows: |dR|^2, or its measure in rows that drive obstacles (row_block), |R|^2 likewise, and
  !>               |r|^2 of contacts that must still close
  !>   counts      increased by the numbers of blocks solved by a fall-back, not solved within the bound, not solved
  !>   failed      last row that was not solved, or -1
  !>   status      out: table_open, or a handle is void
  subroutine sweep_part(handles, count, listed, half_step, step, solver, tolerance, bound, nrow, sums, counts, failed, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: count, listed(0:count-1)
    real(dp), intent(in) :: half_step, step, tolerance
    integer(i4), intent(in) :: solver, bound, nrow
    real(dp), intent(inout) :: sums(5,0:nrow-1)
    integer(i4), intent(inout) :: counts(3)
    integer(i4), intent(out) :: failed, status
    type(local_tables) :: loc

    failed = -1
    call open_local(handles, loc, status)
    if (status /= table_open) return
    call sweep_listed(loc, row_options(half_step, step, solver, tolerance, bound), listed, .false., sums, counts, failed)
  end subroutine sweep_part

  !> Sweeps the rows of all colours; after each of them momenta of bodies that several processes hold are exchanged.
  !>
  !> Rows on these bodies come first, so that their momenta are on the way while the others are swept.  A wait that lasts long ends the call, which then has
  !> to be made again: `place` says how many colours are done, and `waiting` that the messages of the next one are on the way.
  !>
  !> Reads and writes of rows, entries and triples what sweep_part does.
  !>
  !>   messages    handle of the rows and messages of the colours (ColourMessages)
  !>   lane_handles   of the arrangement of these rows (RowsInLanes.handles), which are not packed
  !>   backwards   1: colours and their rows in the opposite order
  !>   half_step, step, solver, tolerance, bound, sums, counts, failed, status   as in sweep_part
  subroutine sweep_with_messages(handles, messages, lane_handles, backwards, half_step, step, solver, tolerance, bound, nrow, &
                                 sums, counts, failed, status)
    integer(i8), intent(in) :: handles(6), messages, lane_handles(4)
    integer(i4), intent(in) :: backwards
    real(dp), intent(in) :: half_step, step, tolerance
    integer(i4), intent(in) :: solver, bound, nrow
    real(dp), intent(inout) :: sums(5,0:nrow-1)
    integer(i4), intent(inout) :: counts(3)
    integer(i4), intent(out) :: failed, status
    type(local_tables) :: loc
    type(colour_messages) :: plan
    type(lane_tables) :: side
    integer(i4) :: s, l

    failed = -1
    call open_local(handles, loc, status)
    if (status == table_open) call open_table(messages, plan, status)
    if (status == table_open) call open_lane_tables(lane_handles, side, status)
    if (status /= table_open) return
    call sweep_colours(loc, plan, side, row_options(half_step, step, solver, tolerance, bound), backwards /= 0, sums, counts, &
                       failed)
    do s = 0, side%chunks%slots - 1
      do l = 1, side%slots%used(s)
        sums(1::2,side%slots%row(l,s)) = side%slots%figures(l,:,s)
        sums(2::2,side%slots%row(l,s)) = 0.0_dp
      end do
    end do
  end subroutine sweep_with_messages

  !> Sweeps until the relative change of R is at most `epsilon`, at most `maxiter` times (gauss_seidel); after each sweep processes add up the figures of
  !> their rows.  A wait that lasts long ends the call, which then has to be made again.
  !>
  !> Reads and writes of rows, entries and triples what sweep_part does.  Writes the history in `settings`.
  !>
  !>   handles     of local dynamics
  !>   messages    handle of the rows and messages of the colours (ColourMessages)
  !>   lane_handles   of the arrangement of these rows (RowsInLanes.handles)
  !>   sums        handle of the sums over all processes (Reduction)
  !>   course      handle of what is known between calls (SweepCourse)
  !>   settings    handle of SweepSettings
  !>   half_step   h/2 (dynamics) or h (quasi-statics); step: h [time]
  !>   status      out: table_open, or a handle is void
  subroutine sweep_until_settled(handles, messages, lane_handles, sums, course, settings, half_step, step, status)
    integer(i8), intent(in) :: handles(6), messages, lane_handles(4), sums, course, settings
    real(dp), intent(in) :: half_step, step
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(colour_messages) :: plan
    type(lane_tables) :: side
    type(reduction) :: total
    type(sweep_course) :: run
    type(sweep_settings) :: asked
    type(row_options) :: options
    integer(i4) :: failed

    call open_shared(handles, messages, sums, loc, plan, total, status)
    if (status == table_open) call open_lane_tables(lane_handles, side, status)
    if (status == table_open) call open_table(course, run, status)
    if (status == table_open) call open_table(settings, asked, status)
    if (status /= table_open) return
    options = row_options(half_step, step, asked%solver, asked%tolerance, asked%bound)
    do while (run%phase /= settled)
      if (run%phase == sweeping) then
        call sweep_colours(loc, plan, side, options, asked%reverse /= 0 .and. mod(run%sweeps, 2) == 1, run%figures, run%counts, &
                           failed)
        if (plan%waiting /= 0 .or. plan%error /= 0) return
        call offer(run, side, total, summing)
      end if
      call reduce(total)
      if (.not. reduced(total)) return
      if (run%phase == summing .and. outgrown(run, total)) then
        call offer(run, side, total, summing_again)
      else
        call judge(run, total, asked)
        plan%place = 0
      end if
    end do
  end subroutine sweep_until_settled

  !> Writes the numbers of this process for the sums over all processes: counts and largest figures, then words of figures.
  subroutine offer(run, side, total, phase)
    type(sweep_course), intent(inout) :: run
    type(lane_tables), intent(in) :: side
    type(reduction), intent(inout) :: total
    integer(i4), intent(in) :: phase
    real(dp) :: largest(figures), slot_largest(3)
    integer(i8) :: words(figures,2), slot_words(3,2)

    call add_figures(side%chunks%judged_rest, side%chunks%judged, figures, size(run%figures, 2), run%figures, run%scale, &
                     largest, words)
    associate (in_lanes => [1, 3, 5])
      slot_largest = largest(in_lanes)
      slot_words = words(in_lanes,:)
      call add_lane_figures(side%chunks%slots, side%slots%judged, side%slots%figures, run%scale(in_lanes-1), slot_largest, &
                            slot_words(:,1), slot_words(:,2))
      largest(in_lanes) = slot_largest
      words(in_lanes,:) = slot_words
    end associate
    total%value(0:2) = run%counts
    total%value(3:2+figures) = non_negative_bits(largest)
    total%value(3+figures:) = reshape(words, [2*figures])
    total%stage = 0
    run%phase = phase
  end subroutine offer

  !> Whether the largest figures of all processes exceed the scales of their words; takes scales that they do not exceed.
  logical function outgrown(run, total)
    type(sweep_course), intent(inout) :: run
    type(reduction), intent(in) :: total
    real(dp) :: largest(figures)

    largest = largest_of_all(total)
    outgrown = all(largest <= huge(1.0_dp)) .and. any(largest > run%scale)
    if (outgrown) run%scale = power_above(largest)
  end function outgrown

  !> Finds the sums of all figures, and whether sweeps end.
  subroutine judge(run, total, asked)
    type(sweep_course), intent(inout) :: run
    type(reduction), intent(in) :: total
    type(sweep_settings), intent(inout) :: asked
    real(dp) :: largest(figures), found(figures)
    logical :: finite

    largest = largest_of_all(total)
    finite = all(largest <= huge(1.0_dp))
    if (finite) then
      found = run%scale*(real(total%value(3+figures:2+2*figures), dp)/word + real(total%value(3+2*figures:), dp)/word**2)
      run%scale = headroom*power_above(largest)
    else
      found = merge(0.0_dp, largest, largest <= huge(1.0_dp))
    end if
    run%left = int(total%value(0:2), i4)
    run%counts = 0
    run%fallbacks = run%fallbacks + run%left(0)
    run%error = larger(relative(found(1), found(3)), relative(found(2), found(4)))
    run%sweeps = run%sweeps + 1
    asked%errors(run%sweeps-1) = run%error
    asked%merits(run%sweeps-1) = 0.0_dp
    run%converged = merge(1, 0, run%error <= asked%epsilon .and. found(5) <= asked%epsilon**2*found(3))
    run%phase = sweeping
    if (run%converged /= 0 .or. run%sweeps >= asked%maxiter .or. .not. run%error <= huge(1.0_dp)) run%phase = settled
  end subroutine judge

  !> Root of a sum of squared changes over a sum of squared sizes; of the former alone if the latter is zero.
  pure real(dp) function relative(change, size)
    real(dp), intent(in) :: change, size

    relative = sqrt(change)
    if (size > 0.0_dp) relative = sqrt(change/size)
  end function relative

  !> Largest figures of all processes.
  function largest_of_all(total) result(largest)
    type(reduction), intent(in) :: total
    real(dp) :: largest(figures)

    largest = transfer(total%value(3:2+figures), largest)
  end function largest_of_all

  !> Least power of two that x does not exceed; 1 if x is zero (solfec/parallel/sums.py, scale).
  elemental real(dp) function power_above(x)
    real(dp), intent(in) :: x

    power_above = 1.0_dp
    if (x > 0.0_dp) power_above = scale(1.0_dp, exponent(x) - merge(1, 0, fraction(x) <= 0.5_dp))
  end function power_above

  !> Sweeps the rows of the colours that are not done yet, with the messages that follow each of them.
  subroutine sweep_colours(loc, plan, side, options, backwards, sums, counts, failed)
    type(local_tables), intent(inout) :: loc
    type(colour_messages), intent(inout) :: plan
    type(lane_tables), intent(inout) :: side
    type(row_options), intent(in) :: options
    logical, intent(in) :: backwards
    real(dp), intent(inout) :: sums(5,0:*)          !< of rows that are visited one by one
    integer(i4), intent(inout) :: counts(3), failed
    integer(i4) :: c, colours

    colours = size(plan%part_ptr)/2
    do while (plan%place < colours)
      c = plan%place
      if (backwards) c = colours - 1 - c
      if (plan%waiting == 0) then
        call sweep_chunks(loc, side, side%chunks%chunk_ptr(2*c), side%chunks%chunk_ptr(2*c+1) - 1, options, backwards, sums, &
                          counts, failed)
        call send_momenta(plan, c, loc%triples%momentum)
        call sweep_chunks(loc, side, side%chunks%chunk_ptr(2*c+1), side%chunks%chunk_ptr(2*c+2) - 1, options, backwards, sums, &
                          counts, failed)
      end if
      call receive_momenta(plan, c, loc%triples%momentum)
      if (plan%waiting /= 0 .or. plan%error /= 0) return
      plan%place = plan%place + 1
    end do
  end subroutine sweep_colours

  !> Finds the largest of each of the figures of some rows, and sums them as integers of two words, whose sums depend on no order (solfec/parallel/sums.py).
  !>
  !>   count, listed   (0:count-1) rows
  !>   sums            (m,0:nrow-1) figures of rows, none of them negative (sweep_part)
  !>   scale           (m) powers of two; 0: that figure is not summed
  !>   largest         (m) out: at least 0; not a number if one of them is none
  !>   words           (m,2) out: sums of high and of low words, 40 bits of each figure; without meaning if a figure exceeds its scale
  subroutine add_figures(count, listed, m, nrow, sums, scale, largest, words)
    integer(i4), intent(in) :: count, listed(0:count-1), m, nrow
    real(dp), intent(in) :: sums(m,0:nrow-1), scale(m)
    real(dp), intent(out) :: largest(m)
    integer(i8), intent(out) :: words(m,2)
    real(dp) :: figure, factor(m)
    integer(i8) :: high
    integer(i4) :: i, j

    factor = 0.0_dp
    where (scale > 0.0_dp) factor = word/scale   ! products with powers of two are exact
    largest = 0.0_dp
    words = 0
    do i = 0, count - 1
      do j = 1, m
        figure = sums(j,listed(i))
        if (figure == 0.0_dp) cycle
        if (.not. figure <= largest(j) .and. .not. ieee_is_nan(largest(j))) largest(j) = figure
        if (.not. figure <= scale(j)) cycle
        figure = figure*factor(j)
        high = int(figure, i8)
        words(j,1) = words(j,1) + high
        words(j,2) = words(j,2) + int((figure - real(high, dp))*word, i8)
      end do
    end do
  end subroutine add_figures

  !> Computes U = B + H' p.
  !>
  !> Reads of rows B, entry_ptr; entries, momenta of triples.  Writes of rows U.
  !>
  !>   n           rows in use
  !>   status      out: table_open, or a handle is void
  subroutine find_part_velocities(handles, n, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: n
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    call open_local(handles, loc, status)
    if (status /= table_open) return
    call momentum_velocities(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, loc%triples%momentum, loc%rows%b, &
                             loc%rows%u)
  end subroutine find_part_velocities

  !> Computes the terms of rows whose sums over all parts give merit and residual (constraint_measures).
  !>
  !> Reads of rows kind, driving, contact, law, diagonal, B, speed, R, U.  Writes of rows block, normal reactions there, merit, which is not divided by the free energy yet, residual,
  !> and, if `noting`, opening velocities for the next sweep.
  !>
  !>   n           rows in use
  !>   half_step   h/2 (dynamics) or h (quasi-statics)
  !>   exact, unit   1: the contact equation of Newton steps; unit of force in which its errors add reactions to velocities
  !>   noting      1: opening velocities are noted
  !>   terms       (4,0:nrow-1) out: see measure_terms
  !>   status      out: table_open, or a handle is void
  subroutine measure_part(handles, n, half_step, exact, unit, noting, nrow, terms, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: n, exact, noting, nrow
    real(dp), intent(in) :: half_step, unit
    real(dp), intent(inout) :: terms(4,0:nrow-1)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    call open_local(handles, loc, status)
    if (status /= table_open) return
    call take_normals(n, loc%rows%contact, loc%rows%r, loc%rows%block)
    call measure_terms(n, exact /= 0, unit, loc%rows%kind, loc%rows%driving, loc%rows%block, loc%rows%law, loc%rows%diagonal, &
                       loc%rows%b, loc%rows%speed, loc%rows%r, loc%rows%u, half_step, loc%rows%merit, loc%rows%residual, terms)
    if (noting /= 0) call note_openings(n, loc%rows%r, loc%rows%u, loc%rows%law, loc%rows%block)
  end subroutine measure_part

  !> Computes squared errors of rows without reactions, the reference of the residual where B is zero (constraint_measures).
  !>
  !> Reads of rows kind, block, law, diagonal, B.
  !>
  !>   n           rows in use
  !>   half_step   h/2 (dynamics) or h (quasi-statics)
  !>   terms       (0:nrow-1) out
  !>   status      out: table_open, or a handle is void
  subroutine measure_part_without_reactions(handles, n, half_step, nrow, terms, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: n, nrow
    real(dp), intent(in) :: half_step
    real(dp), intent(inout) :: terms(0:nrow-1)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    integer(i4) :: a

    call open_local(handles, loc, status)
    if (status /= table_open) return
    do a = 0, n - 1
      terms(a) = error_without_reaction(.false., 1.0_dp, loc%rows%kind(a), loc%rows%block(:,a), loc%rows%law(:,a), &
                                        loc%rows%diagonal(:,:,a), loc%rows%b(:,a), half_step)**2
    end do
  end subroutine measure_part_without_reactions

  !> Finds the end of cohesion.
  !>
  !> Reads of rows kind, law, patch, diagonal, R, U.  Writes of rows lost.
  !>
  !>   n           rows in use
  !>   status      out: table_open, or a handle is void
  subroutine finish_parts(handles, n, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: n
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    call open_local(handles, loc, status)
    if (status /= table_open) return
    call end_cohesion(n, loc%rows%kind, loc%rows%law, loc%rows%patch, loc%rows%diagonal, loc%rows%r, loc%rows%u, loc%rows%lost)
  end subroutine finish_parts
end module part_sweeps
