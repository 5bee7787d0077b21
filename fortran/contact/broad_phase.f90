!> Broad phase: candidate pairs of primitives, in the order of their keys.
module broad_phase
  use kinds, only: dp, i4, i8
  use cell_grid, only: grid_type, build_grid, absent, immovable, padding
  use pair_search, only: pair_list, exclusion_list, search_pairs
!$ use omp_lib, only: omp_get_max_threads
  implicit none
  private
  public :: find_pairs

  integer(i4), parameter :: obstacle_kind = 0, deformable_from = 2, sphere_kind = 2
  integer, parameter :: parallel_from = 4000
  !> Rows of more partners than this (floors, walls) are sorted by heap instead of by insertion.
  integer, parameter :: insertion_up_to = 40
  integer(i8), parameter :: low_half = 4294967295_i8
  !> Marks a partner that is to be left out.
  integer(i8), parameter :: dropped = 2_i8**62

contains

  !> All pairs of primitives of different bodies whose boxes overlap, without pairs of obstacles, excluded
  !> pairs of bodies and pairs that are in contact already (manual, section "Contact detection").
  !>
  !> Primitive rows are in the order of (body id, primitive number), which makes rows the key of a pair:
  !> pairs come sorted by (lower row, higher row).  Within a pair `first` has the smaller lower bound in x;
  !> of equal bounds the lower row.  Primitives without outer faces (inner mesh elements) take no part.
  !>
  !>   n                     number of primitives
  !>   box                   (6,:) boxes [length]
  !>   kind, outer_count, body   (:) of primitives
  !>   adjacent_ptr, adjacent_count   (:) of primitives; adjacent (:) primitive rows, sorted for each primitive
  !>   body_kind, body_id, selfcontact   (:) of bodies; 1: primitives of one deformable body may touch, unless adjacent
  !>   nexcluded, excluded   (2,:) pairs of body identifiers (lower, higher), sorted by both
  !>   from, to              rows from <= k < to of the constraint table are contacts
  !>   slave, master         (:) primitive rows of contacts
  !>   first, second         (:) the pairs, out
  !>   boxes, numbers, rows, cells, keys, partners, next   work arrays, kept by the caller because fresh memory is dear:
  !>                         lengths `primitives` + 8 (boxes, numbers), + 1 (rows), 4 `primitives` + 4200 (cells),
  !>                         those of `first` (keys, partners) and of `slave` (next)
  !>   found                 number of pairs; when it exceeds the length of `first`, there was no room: enlarge to this
  !>                         length at least and call again
  subroutine find_pairs(n, box, kind, outer_count, body, adjacent_ptr, adjacent_count, adjacent, body_kind, body_id, &
      selfcontact, nexcluded, excluded, from, to, slave, master, first, second, boxes, numbers, rows, cells, &
      keys, partners, next, found, primitives, &
      neighbours, bodies, exclusions, contacts, capacity, cell_capacity)
    integer(i4), intent(in) :: n, nexcluded, from, to
    integer(i4), intent(in) :: primitives, neighbours, bodies, exclusions, contacts, capacity, cell_capacity
    real(dp), intent(in) :: box(6,0:primitives-1)
    integer(i4), intent(in), target :: kind(0:primitives-1)
    integer(i4), intent(in) :: outer_count(0:primitives-1)
    integer(i4), intent(in), target :: body(0:primitives-1)
    integer(i4), intent(in), target :: adjacent_ptr(0:primitives-1), adjacent_count(0:primitives-1)
    integer(i4), intent(in), target :: adjacent(0:neighbours-1)
    integer(i4), intent(in) :: body_kind(0:bodies-1), selfcontact(0:bodies-1)
    integer(i8), intent(in), target :: body_id(0:bodies-1)
    integer(i8), intent(in), target :: excluded(2,0:exclusions-1)
    integer(i4), intent(in) :: slave(0:contacts-1), master(0:contacts-1)
    integer(i4), intent(inout) :: first(0:capacity-1), second(0:capacity-1)
    real(dp), intent(inout), target :: boxes(0:primitives+7,7)
    integer(i8), intent(inout), target :: numbers(0:primitives+7)
    integer(i4), intent(inout) :: rows(0:primitives,5)
    integer(i4), intent(inout), target :: cells(0:cell_capacity-1)
    integer(i8), intent(inout), target :: keys(0:capacity-1)
    integer(i8), intent(inout) :: partners(0:capacity-1)
    integer(i4), intent(inout) :: next(0:contacts-1)
    integer(i4), intent(out) :: found
    type(grid_type) :: grid
    type(exclusion_list) :: exclusion
    type(pair_list), allocatable :: lists(:)
    integer :: i, threads, share

    !$omp parallel do if (n > parallel_from) schedule(static)
    do i = 0, n - 1
      rows(i,1) = body(i)
      if (body_kind(body(i)) == obstacle_kind) rows(i,1) = immovable
      if (selfcontact(body(i)) /= 0 .and. body_kind(body(i)) >= deformable_from) rows(i,1) = bodies + i
      if (kind(i) < sphere_kind .and. outer_count(i) == 0) rows(i,1) = absent
    end do
    grid%box(0:,1:) => boxes(:,1:6)
    grid%owner(0:) => boxes(:,7)
    grid%row(0:) => numbers
    call build_grid(n, box, rows(:,1), rows(:,2), cells, grid)
    threads = 1
!$  threads = omp_get_max_threads()
    allocate (lists(0:threads-1))
    share = capacity/threads
    do i = 0, threads - 1
      lists(i)%key(1:share) => keys(i*share:(i+1)*share-1)
    end do
    exclusion%count = nexcluded
    exclusion%pair(1:,1:) => excluded
    exclusion%body(0:) => body
    exclusion%id(0:) => body_id
    exclusion%inner = .false.
    do i = 0, maxval(body(0:n-1))
      if (selfcontact(i) /= 0) exclusion%inner = .true.
    end do
    exclusion%adjacent_ptr(0:) => adjacent_ptr
    exclusion%adjacent_count(0:) => adjacent_count
    exclusion%adjacent(0:) => adjacent
    call search_pairs(grid, exclusion, lists)
    if (maxval(lists%count) > share) then
      found = max(threads*maxval(lists%count), capacity + 1)
      return
    end if
    call sort_pairs(n, lists, from, to, slave, master, partners, rows(:,3), rows(:,4), rows(:,5), next, &
      first, second, found)
  end subroutine find_pairs

  !> Collects the pairs of all threads by lower row, sorts each row and leaves out pairs in contact already.
  subroutine sort_pairs(n, lists, from, to, slave, master, partner, start, length, head, next, first, second, found)
    integer(i4), intent(in) :: n, from, to
    type(pair_list), intent(in) :: lists(0:)
    integer(i4), intent(in) :: slave(0:*), master(0:*)
    integer(i8), intent(inout) :: partner(0:*)
    integer(i4), intent(inout) :: start(0:n), length(0:n), head(0:n), next(0:*)
    integer(i4), intent(inout) :: first(0:*), second(0:*)
    integer(i4), intent(out) :: found
    integer(i4) :: low
    integer :: total, i, k, thread, place, count

    total = sum(lists%count)
    found = 0
    if (total == 0) return
    start = 0
    do thread = 0, size(lists) - 1
      do k = 1, lists(thread)%count
        low = int(shiftr(lists(thread)%key(k), 32))
        start(low) = start(low) + 1
      end do
    end do
    count = 0
    do i = 0, n
      count = count + start(i)
      start(i) = count
    end do
    do thread = 0, size(lists) - 1
      do k = 1, lists(thread)%count
        low = int(shiftr(lists(thread)%key(k), 32))
        start(low) = start(low) - 1
        partner(start(low)) = iand(lists(thread)%key(k), low_half)
      end do
    end do
    call chain_contacts(n, from, to, slave, master, head, next)
    !$omp parallel do if (total > parallel_from) schedule(dynamic, 512)
    do i = 0, n - 1
      length(i) = start(i+1) - start(i)
      if (length(i) == 0) cycle
      call drop_contacts(i, head, next, slave, master, length(i), partner(start(i)))
    end do
    do i = 0, n - 1
      place = found
      found = found + length(i)
      length(i) = place
    end do
    !$omp parallel do if (total > parallel_from) schedule(static) private(k, place, count)
    do i = 0, n - 1
      place = length(i)
      if (i < n - 1) then
        count = length(i+1) - place
      else
        count = found - place
      end if
      do k = start(i), start(i) + count - 1
        if (btest(partner(k), 0)) then
          first(place) = int(shiftr(partner(k), 1), i4)
          second(place) = i
        else
          first(place) = i
          second(place) = int(shiftr(partner(k), 1), i4)
        end if
        place = place + 1
      end do
    end do
  end subroutine sort_pairs

  !> Links the contacts of every lower primitive row: `head` is the last one, `next` leads on, -1 ends.
  subroutine chain_contacts(n, from, to, slave, master, head, next)
    integer(i4), intent(in) :: n, from, to
    integer(i4), intent(in) :: slave(0:*), master(0:*)
    integer(i4), intent(inout) :: head(0:n), next(0:*)
    integer(i4) :: low
    integer :: k

    head(0:n-1) = -1
    do k = from, to - 1
      low = min(slave(k), master(k))
      next(k) = head(low)
      head(low) = k
    end do
  end subroutine chain_contacts

  !> Sorts the partners of `row` and removes those that it is in contact with.
  subroutine drop_contacts(row, head, next, slave, master, count, partner)
    integer, intent(in) :: row
    integer(i4), intent(in) :: head(0:*), next(0:*), slave(0:*), master(0:*)
    integer(i4), intent(inout) :: count
    integer(i8), intent(inout) :: partner(*)
    integer(i8) :: high
    integer :: contact, low, top, k

    call sort_row(count, partner)
    if (head(row) < 0) return
    contact = head(row)
    do while (contact >= 0)
      high = 2_i8*max(slave(contact), master(contact))
      low = 1
      top = count
      do while (low < top)
        k = (low + top)/2
        if (iand(partner(k), not(dropped) - 1) < high) then
          low = k + 1
        else
          top = k
        end if
      end do
      if (iand(partner(low), not(dropped) - 1) == high) partner(low) = ior(partner(low), dropped)
      contact = next(contact)
    end do
    k = 0
    do low = 1, count
      if (iand(partner(low), dropped) /= 0) cycle
      k = k + 1
      partner(k) = partner(low)
    end do
    count = k
  end subroutine drop_contacts

  !> Sorts numbers in ascending order.
  pure subroutine sort_row(n, x)
    integer(i4), intent(in) :: n
    integer(i8), intent(inout) :: x(n)
    integer(i8) :: moved
    integer :: i, j, last, parent, child

    if (n <= insertion_up_to) then
      do i = 2, n
        moved = x(i)
        do j = i - 1, 1, -1
          if (x(j) <= moved) exit
          x(j+1) = x(j)
        end do
        x(j+1) = moved
      end do
      return
    end if
    last = n
    i = n/2 + 1
    do
      if (i > 1) then
        i = i - 1
        moved = x(i)
      else
        moved = x(last)
        x(last) = x(1)
        last = last - 1
        if (last == 1) then
          x(1) = moved
          return
        end if
      end if
      parent = i
      child = 2*i
      do while (child <= last)
        if (child < last) then
          if (x(child) < x(child+1)) child = child + 1
        end if
        if (moved >= x(child)) exit
        x(parent) = x(child)
        parent = child
        child = 2*child
      end do
      x(parent) = moved
    end do
  end subroutine sort_row

end module broad_phase
