!> Sweeps over rows of one colour: contacts side by side in lanes, other rows one by one (solfec/solvers/rows_in_lanes.py).
module lane_sweeps
  use kinds, only: dp, i4
  use contact_lanes, only: apply_lanes, c_lambda, c_opening, lanes, numbers, solve_lanes
  use diagonal_block, only: b_lambda, b_opening
  use lane_slots, only: fill_slot, give_back_slot, most_entries
  use row_block, only: row_options
  use row_tables, only: local_tables
  use state_tables, only: lane_tables
  use velocity_form, only: listed_sweep, solve_otherwise
  implicit none
  private
  public :: sweep_chunks, sweep_listed

  integer(i4), parameter :: least_rows = 128   !< of a colour; fewer are not worth a barrier

contains

  !> Sweeps chunks of one colour, which share no body that moves.
  subroutine sweep_chunks(loc, side, first, last, options, backwards, sums, counts, failed)
    type(local_tables), intent(inout) :: loc
    type(lane_tables), intent(inout) :: side
    integer(i4), intent(in) :: first, last
    type(row_options), intent(in) :: options
    logical, intent(in) :: backwards
    real(dp), intent(inout) :: sums(5,0:*)
    integer(i4), intent(inout) :: counts(3), failed
    integer(i4) :: k, rows

    if (last < first) return
    rows = lanes*(side%chunks%slot_ptr(last+1) - side%chunks%slot_ptr(first)) &
           + side%chunks%rest_ptr(last+1) - side%chunks%rest_ptr(first)
    if (rows < least_rows) then
      do k = first, last
        call sweep_chunk(loc, side, k, options, backwards, sums, counts, failed)
      end do
      return
    end if
    !$omp parallel do schedule(static) reduction(+: counts) reduction(max: failed)
    do k = first, last
      call sweep_chunk(loc, side, k, options, backwards, sums, counts, failed)
    end do
    !$omp end parallel do
  end subroutine sweep_chunks

  !> Sweeps the rows of a chunk, or the same backwards.
  subroutine sweep_chunk(loc, side, k, options, backwards, sums, counts, failed)
    type(local_tables), intent(inout) :: loc
    type(lane_tables), intent(inout) :: side
    integer(i4), intent(in) :: k
    type(row_options), intent(in) :: options
    logical, intent(in) :: backwards
    real(dp), intent(inout) :: sums(5,0:*)
    integer(i4), intent(inout) :: counts(3), failed
    integer(i4) :: s, i, first, last

    associate (chunks => side%chunks)
      if (chunks%rest_ptr(k+1) > chunks%rest_ptr(k)) call sweep_listed(loc, options, &
                        chunks%rest(chunks%rest_ptr(k):chunks%rest_ptr(k+1)-1), backwards, sums, counts, failed)
      do i = chunks%slot_ptr(k), chunks%slot_ptr(k+1) - 1
        s = i
        if (backwards) s = chunks%slot_ptr(k) + chunks%slot_ptr(k+1) - 1 - i
        if (chunks%packed == 0) then
          call visit_unpacked(loc, side, s, options, counts, failed)
          cycle
        end if
        first = side%slots%first_entry(s)
        last = first + side%slots%entries(s) - 1
        call visit(loc, options, side%slots%used(s), side%slots%row(:,s), side%slots%entries(s), &
                   side%entries%triple(:,first:last), side%entries%operator(:,:,:,first:last), side%values%numbers(:,:,s), &
                   side%values%free(:,:,s), side%values%r(:,:,s), side%slots%figures(:,:,s), counts, failed)
      end do
    end associate
  end subroutine sweep_chunk

  !> Visits the rows of a slot that is not packed.
  subroutine visit_unpacked(loc, side, s, options, counts, failed)
    type(local_tables), intent(inout) :: loc
    type(lane_tables), intent(inout) :: side
    integer(i4), intent(in) :: s
    type(row_options), intent(in) :: options
    integer(i4), intent(inout) :: counts(3), failed
    integer(i4) :: triple(lanes,most_entries)
    real(dp) :: operator(lanes,3,3,most_entries), values(lanes,numbers), free(lanes,3), reaction(lanes,3)

    associate (used => side%slots%used(s), entries => side%slots%entries(s), row => side%slots%row(:,s))
      call fill_slot(loc%rows, loc%entries, used, entries, row, triple, operator, values, free, reaction)
      call visit(loc, options, used, row, entries, triple, operator, values, free, reaction, side%slots%figures(:,:,s), &
                 counts, failed)
      call give_back_slot(loc%rows, used, row, values, reaction)
    end associate
  end subroutine visit_unpacked

  !> Visits eight contacts side by side.
  subroutine visit(loc, options, used, row, entries, triple, operator, values, free, reaction, figure, counts, failed)
    type(local_tables), intent(inout) :: loc
    type(row_options), intent(in) :: options
    integer(i4), intent(in) :: used, row(lanes), entries, triple(lanes,entries)
    real(dp), intent(in) :: operator(lanes,3,3,entries)
    real(dp), intent(inout) :: values(lanes,numbers)
    real(dp), intent(in) :: free(lanes,3)
    real(dp), intent(inout) :: reaction(lanes,3), figure(lanes,3)
    integer(i4), intent(inout) :: counts(3), failed
    real(dp) :: b(lanes,3), r(lanes,3), unsolved(lanes), moved(lanes)
    integer(i4) :: l, a, found

    call solve_lanes(entries, triple, operator, values, free, reaction, loc%triples%momentum, b, r, figure(:,3), unsolved)
    moved = 0.0_dp
    if (any(unsolved(:used) > 0.0_dp)) then
      do l = 1, used
        if (.not. unsolved(l) > 0.0_dp) cycle
        a = row(l)
        found = -1
        loc%rows%r(:,a) = reaction(l,:)
        loc%rows%block(b_lambda,a) = values(l,c_lambda)
        loc%rows%block(b_opening,a) = values(l,c_opening)
        call solve_otherwise(a, options, loc%rows%kind(a), -1, loc%rows%block, loc%rows%law(:,a), loc%rows%diagonal(:,:,a), &
                             loc%rows%v(3,a), loc%rows%r, b(l,:), r(l,:), counts, found, moved(l))
        values(l,c_lambda) = loc%rows%block(b_lambda,a)
        values(l,c_opening) = loc%rows%block(b_opening,a)
        failed = max(failed, found)
      end do
    end if
    call apply_lanes(used, entries, triple, operator, r, reaction, figure(:,1), figure(:,2), loc%triples%momentum)
    if (any(unsolved(:used) > 0.0_dp)) figure(:,1) = figure(:,1) + moved
  end subroutine visit

  !> Sweeps some rows in the order of the list, or in the opposite one.
  subroutine sweep_listed(loc, options, listed, backwards, sums, counts, failed)
    type(local_tables), intent(inout) :: loc
    type(row_options), intent(in) :: options
    integer(i4), intent(in), contiguous :: listed(:)
    logical, intent(in) :: backwards
    real(dp), intent(inout) :: sums(5,0:*)
    integer(i4), intent(inout) :: counts(3), failed

    call listed_sweep(size(listed), listed, backwards, options, loc%rows%kind, loc%rows%driving, loc%rows%contact, loc%rows%block, &
                      loc%rows%law, loc%rows%diagonal, loc%rows%free, loc%rows%v, loc%rows%entry_ptr, loc%entries%triple, &
                      loc%entries%operator, loc%triples%momentum, loc%rows%r, sums, counts, failed)
  end subroutine sweep_listed
end module lane_sweeps
