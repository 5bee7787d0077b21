!> Arranges the rows of a solution by sweeps for visits of eight contacts side by side (solfec/solvers/rows_in_lanes.py).
module rows_in_lanes
  use kinds, only: dp, i4, i8
  use contact_lanes, only: lanes
  use kind_numbers, only: contact_row => row_contact
  use lane_slots, only: fill_slot, most_entries, unpack_slots
  use row_tables, only: local_tables, open_local
  use state_tables, only: lane_tables, open_lane_tables, row_table
  use table_registry, only: table_open
  use thread_work, only: pays
  implicit none
  private
  public :: plan_lanes, pack_lanes, unpack_lanes

  integer, parameter :: most_depth = 32      !< rows of a pair of bodies; more are visited one by one
  integer, parameter :: blocks_of_chunk = 4
  integer, parameter :: rows_of_chunk = 32   !< fewest rows of a chunk of rows that are visited one by one

contains

  !> Finds the slots and chunks of all colours.
  !>
  !> Which rows are visited in lanes depends on them and their pair alone, so that all processes get the same bits.
  !>
  !>   handles     of local dynamics (row_tables); lane_handles: RowsInLanes.handles
  !>   solver      block solver of contacts; lanes know that of number 0
  !>   rows, row   (0:rows-1) rows, part after part, whole groups behind one another
  !>   groups, group   (0:groups-1) places in `row` where groups begin; groups of one part share no body that moves
  !>   parts, part_ptr   (0:parts-1) places in `row` where parts begin, and the number of rows
  !>   count, judged   (0:count-1) rows whose figures this process adds
  !>   n           rows in use
  !>   status      out: table_open, or a handle is void
  subroutine plan_lanes(handles, lane_handles, solver, rows, row, groups, group, parts, part_ptr, count, judged, n, status)
    integer(i8), intent(in) :: handles(6), lane_handles(4)
    integer(i4), intent(in) :: solver, rows, row(0:rows-1), groups, group(0:groups-1), parts, part_ptr(0:parts-1)
    integer(i4), intent(in) :: count, judged(0:count-1), n
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(lane_tables) :: to
    logical, allocatable :: adds(:)
    integer(i4), allocatable :: place(:)   !< of the first row of each group, and the number of rows
    integer(i4) :: part, chunks, rest, i, g, from

    call open_local(handles, loc, status)
    if (status == table_open) call open_lane_tables(lane_handles, to, status)
    if (status /= table_open) return
    allocate (adds(0:max(n,1)-1), source=.false.)
    adds(judged) = .true.
    to%chunks%slots = 0
    to%chunks%entries = 0
    to%chunks%judged_rest = 0
    chunks = 0
    rest = 0
    g = 0
    do part = 0, parts - 2
      to%chunks%chunk_ptr(part) = chunks
      from = g
      do while (group(g) < part_ptr(part+1))
        g = g + 1
        if (g == groups) exit
      end do
      place = [group(from:g-1), part_ptr(part+1)]
      call arrange(loc%rows, row, place, to, solver, adds, chunks, rest)
    end do
    to%chunks%chunk_ptr(parts-1) = chunks
    to%chunks%slot_ptr(chunks) = to%chunks%slots
    to%chunks%rest_ptr(chunks) = rest
    do i = 0, rest - 1
      if (.not. adds(to%chunks%rest(i))) cycle
      to%chunks%judged(to%chunks%judged_rest) = to%chunks%rest(i)
      to%chunks%judged_rest = to%chunks%judged_rest + 1
    end do
  end subroutine plan_lanes

  !> Arranges groups of rows, which share no body that moves.
  subroutine arrange(rows, row, group, to, solver, adds, chunks, rest)
    type(row_table), intent(in) :: rows
    integer(i4), intent(in) :: row(0:), group(0:)   !< places in `row` where groups begin, and where the last one ends
    type(lane_tables), intent(inout) :: to
    integer(i4), intent(in) :: solver
    logical, intent(in) :: adds(0:)
    integer(i4), intent(inout) :: chunks, rest
    integer(i4), allocatable :: width(:)      !< most entries of a row of each group
    integer(i4), allocatable :: listed(:)     !< groups for lanes
    integer(i4) :: g, groups, found, rows_there

    groups = size(group) - 1
    allocate (width(0:groups-1), listed(0:groups-1))
    found = 0
    do g = 0, groups - 1
      width(g) = most_of_entries(rows, solver, row(group(g):group(g+1)-1))
      if (width(g) > most_entries) cycle
      listed(found) = g
      found = found + 1
    end do
    call fill_blocks(row, group, to, listed(0:found-1), width(listed(0:found-1)), adds, chunks, rest)
    rows_there = rows_of_chunk   ! of the present chunk
    do g = 0, groups - 1
      if (width(g) <= most_entries) cycle
      if (rows_there >= rows_of_chunk) then
        call begin_chunk(to, chunks, rest)
        rows_there = 0
      end if
      associate (first => group(g), count => group(g+1) - group(g))
        to%chunks%rest(rest:rest+count-1) = row(first:first+count-1)
        rest = rest + count
        rows_there = rows_there + count
      end associate
    end do
  end subroutine arrange

  !> Begins a chunk.
  subroutine begin_chunk(to, chunks, rest)
    type(lane_tables), intent(inout) :: to
    integer(i4), intent(inout) :: chunks
    integer(i4), intent(in) :: rest

    to%chunks%slot_ptr(chunks) = to%chunks%slots
    to%chunks%rest_ptr(chunks) = rest
    chunks = chunks + 1
  end subroutine begin_chunk

  !> Puts groups into blocks of eight, alike ones side by side; a slot has one row of each.
  subroutine fill_blocks(row, group, to, listed, width, adds, chunks, rest)
    integer(i4), intent(in) :: row(0:), group(0:)
    type(lane_tables), intent(inout) :: to
    integer(i4), intent(in) :: listed(0:), width(0:)   !< groups, and most entries of their rows
    logical, intent(in) :: adds(0:)
    integer(i4), intent(inout) :: chunks
    integer(i4), intent(in) :: rest
    integer(i4) :: depth(0:size(listed)-1), order(0:size(listed)-1), groups, l, k, step, used

    groups = size(listed)
    depth = group(listed+1) - group(listed)
    call sort_down(depth*(most_entries + 1) + width, order)
    do k = 0, groups - 1, lanes
      if (mod(k/lanes, blocks_of_chunk) == 0) call begin_chunk(to, chunks, rest)
      used = min(lanes, groups - k)
      do step = 0, depth(order(k)) - 1
        do while (depth(order(k+used-1)) <= step)
          used = used - 1
        end do
        associate (s => to%chunks%slots)
          to%slots%row(:,s) = -1
          to%slots%judged(:,s) = 0.0_dp
          to%slots%used(s) = used
          to%slots%entries(s) = maxval(width(order(k:k+used-1)))
          to%slots%first_entry(s) = to%chunks%entries
          do l = 1, used
            to%slots%row(l,s) = row(group(listed(order(k+l-1)))+step)
            if (adds(to%slots%row(l,s))) to%slots%judged(l,s) = 1.0_dp
          end do
          to%chunks%entries = to%chunks%entries + to%slots%entries(s)
          s = s + 1
        end associate
      end do
    end do
  end subroutine fill_blocks

  !> Most entries of the rows of a group; more than `most_entries` if it cannot be visited in a lane.
  pure integer(i4) function most_of_entries(rows, solver, listed) result(most)
    type(row_table), intent(in) :: rows
    integer(i4), intent(in) :: solver, listed(:)
    integer(i4) :: i, a

    most = most_entries + 1
    if (solver /= 0 .or. size(listed) > most_depth) return
    most = 0
    do i = 1, size(listed)
      a = listed(i)
      most = max(most, rows%entry_ptr(a+1) - rows%entry_ptr(a))
      if (rows%kind(a) /= contact_row .or. rows%driving(a) /= 0 .or. rows%contact(a) >= 0) most = most_entries + 1
    end do
  end function most_of_entries

  !> Orders numbers from 0 on by descending keys, equal ones as they are.
  pure subroutine sort_down(key, order)
    integer(i4), intent(in) :: key(0:)
    integer(i4), intent(out) :: order(0:)
    integer(i4), allocatable :: place(:)   !< of the next number with each key
    integer(i4) :: i, k, next, count

    if (size(key) == 0) return
    allocate (place(minval(key):maxval(key)), source=0_i4)
    do i = 0, size(key) - 1
      place(key(i)) = place(key(i)) + 1
    end do
    next = 0
    do k = ubound(place, 1), lbound(place, 1), -1
      count = place(k)
      place(k) = next
      next = next + count
    end do
    do i = 0, size(key) - 1
      order(place(key(i))) = i
      place(key(i)) = place(key(i)) + 1
    end do
  end subroutine sort_down

  !> Copies what visits read and write to the slots (plan_lanes).
  !>
  !>   handles, lane_handles, status   as in plan_lanes
  subroutine pack_lanes(handles, lane_handles, status)
    integer(i8), intent(in) :: handles(6), lane_handles(4)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(lane_tables) :: to
    integer(i4) :: s, first, last

    call open_local(handles, loc, status)
    if (status == table_open) call open_lane_tables(lane_handles, to, status)
    if (status /= table_open) return
    !$omp parallel do if (pays(lanes*to%chunks%slots, 80)) schedule(static) private(first, last)
    do s = 0, to%chunks%slots - 1
      first = to%slots%first_entry(s)
      last = first + to%slots%entries(s) - 1
      call fill_slot(loc%rows, loc%entries, to%slots%used(s), to%slots%entries(s), to%slots%row(:,s), &
                     to%entries%triple(:,first:last), to%entries%operator(:,:,:,first:last), to%values%numbers(:,:,s), &
                     to%values%free(:,:,s), to%values%r(:,:,s))
    end do
    !$omp end parallel do
  end subroutine pack_lanes

  !> Writes reactions, and what block solvers remember, from the slots to the rows.
  !>
  !>   handles, lane_handles, status   as in plan_lanes
  subroutine unpack_lanes(handles, lane_handles, status)
    integer(i8), intent(in) :: handles(6), lane_handles(4)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(lane_tables) :: from

    call open_local(handles, loc, status)
    if (status == table_open) call open_lane_tables(lane_handles, from, status)
    if (status == table_open) call unpack_slots(loc%rows, from)
  end subroutine unpack_lanes
end module rows_in_lanes
