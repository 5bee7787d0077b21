!> Sorts the pairs that threads have found.
!>
!> Each group of lower rows is sorted separately, so that its data stay in the cache.
module pair_sort
  use kinds, only: i4, i8
  use pair_search, only: pair_store, pair_list, piece
  implicit none
  private
  public :: prepare_store, sort_pairs, order

  integer, parameter :: parallel_from = 4000
  integer, parameter :: least_shift = 11, most_groups = 512
  !> Rows per pair from which a group is sorted by comparisons.
  integer, parameter :: sparse = 8
  !> Number of rows sorted together, and the most partners that such rows have.
  integer, parameter :: side = 8, few = 16, half = few/2
  !> Number of keys up to which insertion sort replaces heap sort.
  integer, parameter :: insertion_up_to = 40
  integer(i8), parameter :: low_half = 4294967295_i8

contains

  !> Divides rows into groups and the store into lists, all empty.
  !>
  !>   n      number of rows
  !>   keys   (0:) room for pairs
  subroutine prepare_store(n, keys, store, lists)
    integer(i4), intent(in) :: n
    integer(i8), intent(inout), target, contiguous :: keys(0:)
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: lists(0:)
    integer :: list

    store%key(0:) => keys
    store%shift = least_shift
    do while (shiftr(n, store%shift) >= most_groups)
      store%shift = store%shift + 1
    end do
    store%groups = shiftr(n, store%shift) + 1
    store%used = 0
    allocate (store%previous(0:size(keys)/piece-1))
    do list = 0, ubound(lists, 1)
      allocate (lists(list)%next(0:store%groups-1), lists(list)%pieces(0:store%groups-1), source=0_i4)
    end do
  end subroutine prepare_store

  !> Sorts all pairs by (lower row, higher row).
  !>
  !>   n           number of rows
  !>   store       pairs
  !>   lists       (0:) positions of each thread's pairs
  !>   capacity    length of `low`, `high` and `apart`
  !>   low, high   (0:) the pairs, out
  !>   apart       (0:) -1, out; a work array before
  !>   found       number of pairs; more than `capacity`: there was no room for so many
  subroutine sort_pairs(n, store, lists, capacity, low, high, apart, found)
    integer(i4), intent(in) :: n, capacity
    type(pair_store), intent(in) :: store
    type(pair_list), intent(in) :: lists(0:)
    integer(i8), intent(inout) :: apart(0:*)
    integer(i4), intent(inout) :: low(0:*), high(0:*)
    integer(i4), intent(out) :: found
    integer(i4), allocatable :: partner(:,:,:)  ! partners of a group's rows: of `side` rows, place by place
    integer(i4), allocatable :: count(:,:)      ! numbers of partners and first places of a group's rows
    integer(i4) :: first(0:most_groups)
    integer :: group, list, rows

    if (store%used > size(store%previous)) then
      found = max(piece*store%used, capacity + 1)
      return
    end if
    first(0) = 0
    do group = 0, store%groups - 1
      first(group+1) = first(group)
      do list = 0, ubound(lists, 1)
        if (lists(list)%pieces(group) == 0) cycle
        first(group+1) = first(group+1) + piece*(lists(list)%pieces(group) - 1) + filled(lists(list)%next(group))
      end do
    end do
    found = first(store%groups)
    if (found > capacity) return
    rows = shiftl(1, store%shift)
    !$omp parallel if (found > parallel_from) default(shared) private(group, partner, count)
    allocate (partner(side,few,0:rows/side-1), count(0:rows+side-1,2))
    !$omp do schedule(dynamic)
    do group = 0, store%groups - 1
      call sort_group(rows*group, min(rows*(group + 1), n), first(group), first(group+1), group, store, lists, partner, &
        count(:,1), count(:,2), low, high, apart)
    end do
    !$omp end do
    deallocate (partner, count)
    !$omp end parallel
  end subroutine sort_pairs

  !> Number of pairs in the last piece.
  pure integer function filled(next)
    integer(i4), intent(in) :: next

    filled = iand(next - 1, piece - 1) + 1
  end function filled

  !> Sorts the pairs of a group, whose lower rows are from <= row < to, into the places first <= k < last.
  subroutine sort_group(from, to, first, last, group, store, lists, partner, count, start, low, high, apart)
    integer, intent(in) :: from, to, first, last, group
    type(pair_store), intent(in) :: store
    type(pair_list), intent(in) :: lists(0:)
    integer(i4), intent(inout) :: partner(side,few,0:*), count(0:*), start(0:*)
    integer(i8), intent(inout) :: apart(0:*)
    integer(i4), intent(inout) :: low(0:*), high(0:*)
    integer :: k, number, part, left, rows, list

    rows = to - from
    if (first == last) return
    if (last - first <= rows/sparse) then
      call sort_few_pairs(first, last, group, store, lists, low, high, apart)
      return
    end if
    count(0:rows+side-1) = 0
    partner(:,:,0:(rows-1)/side) = huge(partner)
    do list = 0, ubound(lists, 1)
      call first_piece(lists(list), group, part, left, number)
      do while (left > 0)
        call place_partners(number, store%key(piece*part:piece*part+number-1), from, count, partner)
        call next_piece(store, part, left, number)
      end do
    end do
    do k = 0, (rows - 1)/side
      call sort_partners(maxval(count(side*k:side*k+side-1)), partner(:,:,k))
    end do
    call write_pairs(from, rows, first, last, count, partner, start, low, high)
    if (maxval(count(0:rows-1)) > few) then
      do list = 0, ubound(lists, 1)
        call first_piece(lists(list), group, part, left, number)
        do while (left > 0)
          call place_keys(number, store%key(piece*part:piece*part+number-1), from, count, start, apart)
          call next_piece(store, part, left, number)
        end do
      end do
      call sort_long_rows(from, rows, count, start, low, high, apart)
    end if
    apart(first:last-1) = -1
  end subroutine sort_group

  !> The last piece of a group in a list, how many pieces are left with it, and how many pairs it holds.
  pure subroutine first_piece(list, group, part, left, number)
    type(pair_list), intent(in) :: list
    integer, intent(in) :: group
    integer, intent(out) :: part, left, number

    left = list%pieces(group)
    part = (list%next(group) - 1)/piece
    number = filled(list%next(group))
  end subroutine first_piece

  !> The piece before it, which is full.
  pure subroutine next_piece(store, part, left, number)
    type(pair_store), intent(in) :: store
    integer, intent(inout) :: part, left
    integer, intent(out) :: number

    left = left - 1
    number = piece
    if (left > 0) part = store%previous(part)
  end subroutine next_piece

  !> Sorts the pairs of a group with few of them by comparisons.
  pure subroutine sort_few_pairs(first, last, group, store, lists, low, high, apart)
    integer, intent(in) :: first, last, group
    type(pair_store), intent(in) :: store
    type(pair_list), intent(in) :: lists(0:)
    integer(i8), intent(inout) :: apart(0:*)
    integer(i4), intent(inout) :: low(0:*), high(0:*)
    integer :: k, number, part, left, place, list

    place = first
    do list = 0, ubound(lists, 1)
      call first_piece(lists(list), group, part, left, number)
      do while (left > 0)
        apart(place:place+number-1) = store%key(piece*part:piece*part+number-1)
        place = place + number
        call next_piece(store, part, left, number)
      end do
    end do
    call sort_keys(last - first, apart(first))
    do k = first, last - 1
      low(k) = int(shiftr(apart(k), 32), i4)
      high(k) = int(iand(apart(k), low_half), i4)
    end do
    apart(first:last-1) = -1
  end subroutine sort_few_pairs

  !> Sorts the partners of `side` rows that have at most `longest` each.
  pure subroutine sort_partners(longest, x)
    integer(i4), intent(in) :: longest
    integer(i4), intent(inout) :: x(side,few)

    call sort_half(x(:,:half))
    if (longest <= half) return
    call sort_half(x(:,half+1:))
    call merge_halves(x)
  end subroutine sort_partners

  !> Writes the pairs of a group's rows, but for those beyond a few of a row, into the places first <= k < last; `start`: a row's first place.
  pure subroutine write_pairs(from, rows, first, last, count, partner, start, low, high)
    integer, intent(in) :: from, rows, first, last
    integer(i4), intent(in) :: count(0:*), partner(side,few,0:*)
    integer(i4), intent(inout) :: start(0:*), low(0:*), high(0:*)
    integer :: i, j, k, row, place

    place = first
    do row = 0, rows - 1
      k = row/side
      j = row - side*k + 1
      start(row) = place
      if (place + half <= last) then
        ! the next row overwrites surplus entries
        low(place:place+half-1) = from + row
        high(place:place+half-1) = partner(j,:half,k)
      else
        do i = 0, min(int(count(row)), half) - 1
          low(place+i) = from + row
          high(place+i) = partner(j,i+1,k)
        end do
      end if
      do i = half, min(int(count(row)), few) - 1
        low(place+i) = from + row
        high(place+i) = partner(j,i+1,k)
      end do
      place = place + count(row)
    end do
  end subroutine write_pairs

  !> Puts pairs into the table of partners, and counts those of each row.
  pure subroutine place_partners(n, key, from, count, partner)
    integer, intent(in) :: n, from
    integer(i8), intent(in) :: key(n)
    integer(i4), intent(inout) :: count(0:*), partner(side,few,0:*)
    integer :: k, row, place

    do k = 1, n
      row = int(shiftr(key(k), 32)) - from
      place = count(row)
      count(row) = place + 1
      if (place < few) partner(iand(row, side-1)+1,place+1,shiftr(row, 3)) = int(iand(key(k), low_half), i4)
    end do
  end subroutine place_partners

  !> Puts the pairs of rows with many partners into their places, counted by `start`.
  pure subroutine place_keys(n, key, from, count, start, apart)
    integer, intent(in) :: n, from
    integer(i8), intent(in) :: key(n)
    integer(i4), intent(in) :: count(0:*)
    integer(i4), intent(inout) :: start(0:*)
    integer(i8), intent(inout) :: apart(0:*)
    integer :: k, row

    do k = 1, n
      row = int(shiftr(key(k), 32)) - from
      if (count(row) <= few) cycle
      apart(start(row)) = key(k)
      start(row) = start(row) + 1
    end do
  end subroutine place_keys

  !> Sorts rows with many partners.  `end`: places after their last pairs.
  pure subroutine sort_long_rows(from, rows, count, end, low, high, apart)
    integer, intent(in) :: from, rows
    integer(i4), intent(in) :: count(0:*), end(0:*)
    integer(i4), intent(inout) :: low(0:*), high(0:*)
    integer(i8), intent(inout) :: apart(0:*)
    integer :: k, row, start

    do row = 0, rows - 1
      if (count(row) <= few) cycle
      start = end(row) - count(row)
      call sort_keys(int(count(row)), apart(start))
      do k = start, end(row) - 1
        low(k) = from + row
        high(k) = int(iand(apart(k), low_half), i4)
      end do
    end do
  end subroutine sort_long_rows

  !> Sorts the columns of a table by Batcher's network, since branches of other methods would be unpredictable.
  pure subroutine sort_half(x)
    integer(i4), intent(inout) :: x(side,half)
    integer :: k

    !$omp simd
    do k = 1, side
      call order(x(k,1), x(k,2))
      call order(x(k,3), x(k,4))
      call order(x(k,5), x(k,6))
      call order(x(k,7), x(k,8))
      call order(x(k,1), x(k,3))
      call order(x(k,2), x(k,4))
      call order(x(k,5), x(k,7))
      call order(x(k,6), x(k,8))
      call order(x(k,2), x(k,3))
      call order(x(k,6), x(k,7))
      call order(x(k,1), x(k,5))
      call order(x(k,2), x(k,6))
      call order(x(k,3), x(k,7))
      call order(x(k,4), x(k,8))
      call order(x(k,3), x(k,5))
      call order(x(k,4), x(k,6))
      call order(x(k,2), x(k,3))
      call order(x(k,4), x(k,5))
      call order(x(k,6), x(k,7))
    end do
  end subroutine sort_half

  !> Merges two sorted halves of each column by Batcher's network.
  pure subroutine merge_halves(x)
    integer(i4), intent(inout) :: x(side,few)
    integer :: k

    !$omp simd
    do k = 1, side
      call order(x(k,1), x(k,9))
      call order(x(k,2), x(k,10))
      call order(x(k,3), x(k,11))
      call order(x(k,4), x(k,12))
      call order(x(k,5), x(k,13))
      call order(x(k,6), x(k,14))
      call order(x(k,7), x(k,15))
      call order(x(k,8), x(k,16))
      call order(x(k,5), x(k,9))
      call order(x(k,6), x(k,10))
      call order(x(k,7), x(k,11))
      call order(x(k,8), x(k,12))
      call order(x(k,3), x(k,5))
      call order(x(k,4), x(k,6))
      call order(x(k,7), x(k,9))
      call order(x(k,8), x(k,10))
      call order(x(k,11), x(k,13))
      call order(x(k,12), x(k,14))
      call order(x(k,2), x(k,3))
      call order(x(k,4), x(k,5))
      call order(x(k,6), x(k,7))
      call order(x(k,8), x(k,9))
      call order(x(k,10), x(k,11))
      call order(x(k,12), x(k,13))
      call order(x(k,14), x(k,15))
    end do
  end subroutine merge_halves

  !> Puts the lesser one of two numbers first.
  pure subroutine order(one, two)
    integer(i4), intent(inout) :: one, two
    integer(i4) :: least

    least = min(one, two)
    two = max(one, two)
    one = least
  end subroutine order

  !> Sorts numbers in ascending order.
  pure subroutine sort_keys(n, x)
    integer, intent(in) :: n
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
  end subroutine sort_keys

end module pair_sort
