!> Broad phase: candidate pairs of primitives, in the order of their keys.
module broad_phase
  use kinds, only: dp, i4, i8
  use cell_grid, only: grid_type, build_grid, absent, immovable, padding
  use pair_search, only: pair_list, exclusion_list, search_pairs
!$ use omp_lib, only: omp_get_max_threads, omp_get_num_threads, omp_get_thread_num
  implicit none
  private
  public :: find_pairs

  integer(i4), parameter :: obstacle_kind = 0, deformable_from = 2, sphere_kind = 2
  integer, parameter :: parallel_from = 4000
  !> Rows of more partners than this (floors, walls) are sorted by heap instead of by insertion.
  integer, parameter :: insertion_up_to = 40
  !> Rows of up to this number of partners are sorted by a network.
  integer, parameter :: few = 8
  integer(i8), parameter :: low_half = 4294967295_i8

contains

  !> All pairs of primitives of different bodies whose boxes overlap, without pairs of obstacles and excluded pairs of
  !> bodies (manual, section "Contact detection").
  !>
  !> Primitive rows are in the order of (body id, primitive number), which makes rows the key of a pair:
  !> pairs come sorted by (lower row, higher row).  Primitives without outer faces (inner mesh elements) take no part.
  !>
  !>   n                     number of primitives
  !>   box                   (6,:) boxes [length]
  !>   kind, outer_count, body   (:) of primitives
  !>   adjacent_ptr, adjacent_count   (:) of primitives; adjacent (:) primitive rows, sorted for each primitive
  !>   body_kind, body_id, selfcontact   (:) of bodies; 1: polyhedra of one deformable body may touch, unless adjacent
  !>   nexcluded, excluded   (2,:) pairs of body identifiers (lower, higher), sorted by both
  !>   low, high             (:) the pairs, out
  !>   apart                 (:) nothing (-1) is known about them, out; see `pair_cache`
  !>   boxes, numbers, rows, cells, keys, partners   work arrays, kept by the caller because fresh memory is dear:
  !>                         lengths `primitives` + 8 (boxes, numbers), + 1 (rows), 4 `primitives` + 4200 (cells),
  !>                         those of `low` (keys, partners)
  !>   found                 number of pairs; when it exceeds the length of `low`, there was no room: enlarge to this
  !>                         length at least and call again
  subroutine find_pairs(n, box, kind, outer_count, body, adjacent_ptr, adjacent_count, adjacent, body_kind, body_id, &
      selfcontact, nexcluded, excluded, low, high, apart, boxes, numbers, rows, cells, keys, partners, found, primitives, &
      neighbours, bodies, exclusions, capacity, cell_capacity)
    integer(i4), intent(in) :: n, nexcluded
    integer(i4), intent(in) :: primitives, neighbours, bodies, exclusions, capacity, cell_capacity
    real(dp), intent(in) :: box(6,0:primitives-1)
    integer(i4), intent(in), target :: kind(0:primitives-1)
    integer(i4), intent(in) :: outer_count(0:primitives-1)
    integer(i4), intent(in), target :: body(0:primitives-1)
    integer(i4), intent(in), target :: adjacent_ptr(0:primitives-1), adjacent_count(0:primitives-1)
    integer(i4), intent(in), target :: adjacent(0:neighbours-1)
    integer(i4), intent(in) :: body_kind(0:bodies-1), selfcontact(0:bodies-1)
    integer(i8), intent(in), target :: body_id(0:bodies-1)
    integer(i8), intent(in), target :: excluded(2,0:exclusions-1)
    integer(i4), intent(inout) :: low(0:capacity-1), high(0:capacity-1)
    integer(i8), intent(inout) :: apart(0:capacity-1)
    real(dp), intent(inout), target :: boxes(0:primitives+7,7)
    integer(i8), intent(inout), target :: numbers(0:primitives+7)
    integer(i4), intent(inout) :: rows(0:primitives,3)
    integer(i4), intent(inout), target :: cells(0:cell_capacity-1)
    integer(i8), intent(inout), target :: keys(0:capacity-1)
    integer(i4), intent(inout) :: partners(0:capacity-1)
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
    call sort_pairs(n, lists, partners, rows(:,3), low, high, apart, found)
  end subroutine find_pairs

  !> Collects the pairs of all threads by lower row and sorts each row.  Every thread reads all pairs and takes those of its
  !> own rows.
  subroutine sort_pairs(n, lists, partner, start, low, high, apart, found)
    integer(i4), intent(in) :: n
    type(pair_list), intent(in) :: lists(0:)
    integer(i4), intent(inout) :: partner(0:*), start(0:n), low(0:*), high(0:*)
    integer(i8), intent(inout) :: apart(0:*)
    integer(i4), intent(out) :: found
    integer(i4) :: i, k, list, thread, threads, from, to, count, last, row(few)

    found = sum(lists%count)
    !$omp parallel if (found > parallel_from) default(shared) private(i, k, list, thread, threads, from, to, count, last, row)
    thread = 0
    threads = 1
!$  thread = omp_get_thread_num()
!$  threads = omp_get_num_threads()
    from = int(int(n, i8)*thread/threads, i4)
    to = int(int(n, i8)*(thread + 1)/threads, i4)
    start(from:to-1) = 0
    do list = 0, ubound(lists, 1)
      call count_rows(lists(list)%count, lists(list)%key, from, to, start)
    end do
    !$omp barrier
    !$omp single
    count = 0
    do i = 0, n - 1
      count = count + start(i)
      start(i) = count
    end do
    !$omp end single
    ! rows are shared out anew, about as many pairs to each thread
    from = 0
    to = n
    if (thread > 0) from = first_beyond(n, start, int(int(found, i8)*thread/threads, i4))
    if (thread < threads - 1) to = first_beyond(n, start, int(int(found, i8)*(thread + 1)/threads, i4))
    last = 0
    if (to > from) last = start(to-1)
    !$omp barrier
    do list = 0, ubound(lists, 1)
      call fill_rows(lists(list)%count, lists(list)%key, from, to, start, partner)
    end do
    do i = to - 1, from, -1
      count = last - start(i)
      last = start(i)
      if (count == 0) cycle
      if (count <= few) then
        do k = 1, few
          row(k) = partner(last+min(k, count)-1)
          if (k > count) row(k) = huge(row)
        end do
        call sort_few(row)
      else
        call sort_row(count, partner(last))
      end if
      do k = last, last + count - 1
        low(k) = i
        apart(k) = -1
        if (count <= few) then
          high(k) = row(k-last+1)
        else
          high(k) = partner(k)
        end if
      end do
    end do
    !$omp end parallel
  end subroutine sort_pairs

  !> Counts the pairs of the lower rows from <= low < to.
  pure subroutine count_rows(count, key, from, to, start)
    integer(i4), intent(in) :: count, from, to
    integer(i8), intent(in) :: key(count)
    integer(i4), intent(inout) :: start(0:*)
    integer(i4) :: k, row

    do k = 1, count
      row = int(shiftr(key(k), 32), i4)
      if (row >= from .and. row < to) start(row) = start(row) + 1
    end do
  end subroutine count_rows

  !> Puts the higher rows of these pairs in their places.  `start`: ends of rows on entry, their beginnings on return.
  pure subroutine fill_rows(count, key, from, to, start, partner)
    integer(i4), intent(in) :: count, from, to
    integer(i8), intent(in) :: key(count)
    integer(i4), intent(inout) :: start(0:*), partner(0:*)
    integer(i4) :: k, row

    do k = 1, count
      row = int(shiftr(key(k), 32), i4)
      if (row < from .or. row >= to) cycle
      start(row) = start(row) - 1
      partner(start(row)) = int(iand(key(k), low_half), i4)
    end do
  end subroutine fill_rows

  !> The first row that ends beyond a place.
  pure integer(i4) function first_beyond(n, end, place)
    integer(i4), intent(in) :: n, end(0:*), place
    integer(i4) :: left, right, k

    left = 0
    right = n
    do while (left < right)
      k = (left + right)/2
      if (end(k) > place) then
        right = k
      else
        left = k + 1
      end if
    end do
    first_beyond = left
  end function first_beyond

  !> Sorts eight numbers by Batcher's network: nobody could predict the branches of another method.
  pure subroutine sort_few(x)
    integer(i4), intent(inout) :: x(few)
    call order(x(1), x(2))
    call order(x(3), x(4))
    call order(x(5), x(6))
    call order(x(7), x(8))
    call order(x(1), x(3))
    call order(x(2), x(4))
    call order(x(5), x(7))
    call order(x(6), x(8))
    call order(x(2), x(3))
    call order(x(6), x(7))
    call order(x(1), x(5))
    call order(x(2), x(6))
    call order(x(3), x(7))
    call order(x(4), x(8))
    call order(x(3), x(5))
    call order(x(4), x(6))
    call order(x(2), x(3))
    call order(x(4), x(5))
    call order(x(6), x(7))
  end subroutine sort_few

  pure subroutine order(one, two)
    integer(i4), intent(inout) :: one, two
    integer(i4) :: least

    least = min(one, two)
    two = max(one, two)
    one = least
  end subroutine order

  !> Sorts numbers in ascending order.
  pure subroutine sort_row(n, x)
    integer(i4), intent(in) :: n
    integer(i4), intent(inout) :: x(n)
    integer(i4) :: moved
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
