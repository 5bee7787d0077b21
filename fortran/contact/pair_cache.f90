!> What detection keeps from step to step: fat boxes, the pairs whose fat boxes overlap, and who moved since when.
!>
!> While no box leaves its fat box, the pairs whose boxes overlap are among those kept, so no search is needed.  Pairs
!> of primitives that have not moved by a bit since they were found apart are still apart, and contacts between bodies
!> that have not moved are what they were: results are those of a search and of an evaluation of all, bit by bit.
module pair_cache
  use kinds, only: dp, i4, i8
!$ use omp_lib, only: omp_get_max_threads
  implicit none
  private
  public :: fatten_boxes, boxes_inside, sum_flags, select_pairs, note_apart, select_contacts

  integer, parameter :: parallel_from = 4000

contains

  !> Enlarges boxes by half of `reach` and by the part `skin` of the primitive's width or of the mean width, whichever is less.
  !>
  !>   member     (:) rows of primitives; reach (:) the largest gap of their contacts [length]
  !>   box, fat   (6,:) boxes: lower corner, upper corner [length]; fat: out
  subroutine fatten_boxes(member, reach, skin, box, fat, members, primitives)
    integer(i4), intent(in) :: members, primitives
    integer(i4), intent(in) :: member(0:members-1)
    real(dp), intent(in) :: skin
    real(dp), intent(in) :: reach(0:primitives-1), box(6,0:primitives-1)
    real(dp), intent(inout) :: fat(6,0:primitives-1)
    real(dp) :: mean, width, more
    integer :: i, k

    mean = 0.0_dp
    if (skin > 0.0_dp) then
      do k = 0, members - 1
        i = member(k)
        width = max(box(4,i) - box(1,i), box(5,i) - box(2,i), box(6,i) - box(3,i))
        if (width < huge(width)) mean = mean + width
      end do
      mean = mean/max(members, 1)
    end if
    !$omp parallel do if (members > parallel_from) schedule(static) private(i, width, more)
    do k = 0, members - 1
      i = member(k)
      width = max(box(4,i) - box(1,i), box(5,i) - box(2,i), box(6,i) - box(3,i))
      more = 0.5_dp*reach(i)*(1.0_dp + 1.0e-9_dp) + skin*min(width, mean)
      fat(1:3,i) = box(1:3,i) - more
      fat(4:6,i) = box(4:6,i) + more
    end do
  end subroutine fatten_boxes

  !> Whether every box, enlarged by half of `reach`, is inside its fat box; and a sum that tells whether the bodies' flags of
  !> self-contact are the same as before.
  !>
  !>   member             (:) rows of primitives that may move
  !>   still              (:) rows of bodies that are taken not to move
  !>   searched, sorted   updates of shapes after which fat boxes were made, and boxes of still bodies sorted
  !>   body, moved        (:) of primitives; (:) of bodies: the last update of shapes that moved them
  subroutine boxes_inside(member, still, searched, sorted, nbody, reach, box, fat, body, moved, selfcontact, &
      inside, flags, members, stills, primitives, bodies)
    integer(i4), intent(in) :: nbody, members, stills, primitives, bodies
    integer(i4), intent(in) :: member(0:members-1), still(0:stills-1)
    integer(i8), intent(in) :: searched, sorted
    real(dp), intent(in) :: reach(0:primitives-1), box(6,0:primitives-1), fat(6,0:primitives-1)
    integer(i4), intent(in) :: body(0:primitives-1)
    integer(i8), intent(in) :: moved(0:bodies-1)
    integer(i4), intent(in) :: selfcontact(0:bodies-1)
    integer(i4), intent(out) :: inside
    integer(i8), intent(out) :: flags
    real(dp) :: least
    integer(i4) :: leavers
    integer :: i, k

    leavers = 0
    do k = 0, stills - 1
      if (moved(still(k)) > sorted) leavers = leavers + 1
    end do
    !$omp parallel do if (members > parallel_from) schedule(static) private(i, least) reduction(+:leavers)
    do k = 0, members - 1
      i = member(k)
      if (moved(body(i)) <= searched) cycle
      least = 0.5_dp*reach(i)
      if (.not. (box(1,i) - least >= fat(1,i) .and. box(2,i) - least >= fat(2,i) .and. box(3,i) - least >= fat(3,i) .and. &
        box(4,i) + least <= fat(4,i) .and. box(5,i) + least <= fat(5,i) .and. box(6,i) + least <= fat(6,i))) &
        leavers = leavers + 1
    end do
    inside = merge(1, 0, leavers == 0)
    call sum_flags(nbody, selfcontact, flags, bodies)
  end subroutine boxes_inside

  !> A sum that tells whether the bodies' flags of self-contact are the same as before.
  pure subroutine sum_flags(nbody, selfcontact, flags, bodies)
    integer(i4), intent(in) :: nbody, bodies
    integer(i4), intent(in) :: selfcontact(0:bodies-1)
    integer(i8), intent(out) :: flags
    integer :: i

    flags = 0
    do i = 0, nbody - 1
      if (selfcontact(i) /= 0) flags = flags*31 + i + 1
    end do
  end subroutine sum_flags

  !> The pairs to be looked at closely, in the order of the pairs kept: their boxes overlap (strictly in x, within
  !> half of both `reach`es), they are not in contact, and one of them has moved since they were found apart.
  !>
  !>   pairs, nbody    numbers of pairs kept and of bodies
  !>   low, high       (:) their primitive rows, low < high, sorted
  !>   apart           (:) number of the update of shapes after which a pair was found apart, -1: unknown
  !>   box             (6,:) boxes [length]
  !>   body, moved     (:) of primitives; (:) of bodies: the last update of shapes that moved them
  !>   from, to, slave, master   rows from <= k < to of the constraint table are contacts; their primitives
  !>   kept_at         (:) of constraints: where their pairs were last time, a hint, in and out
  !>   mark            (:) work array, length of `low`
  !>   first, second   (:) the pairs, out; `first` has the smaller lower bound in x, of equal bounds the lower row
  !>   place           (:) where a pair is kept, out
  !>   found           number of pairs
  subroutine select_pairs(pairs, nbody, reach, from, to, low, high, apart, box, body, moved, slave, master, kept_at, mark, first, &
      second, place, found, capacity, primitives, bodies, contacts)
    integer(i4), intent(in) :: pairs, nbody, from, to, capacity, primitives, bodies, contacts
    integer(i4), intent(in) :: low(0:capacity-1), high(0:capacity-1)
    integer(i8), intent(in) :: apart(0:capacity-1)
    real(dp), intent(in) :: reach(0:primitives-1), box(6,0:primitives-1)
    integer(i4), intent(in) :: body(0:primitives-1)
    integer(i8), intent(in) :: moved(0:bodies-1)
    integer(i4), intent(in) :: slave(0:contacts-1), master(0:contacts-1)
    integer(i4), intent(inout) :: kept_at(0:contacts-1)
    integer(i4), intent(inout) :: mark(0:capacity-1), first(0:capacity-1), second(0:capacity-1), place(0:capacity-1)
    integer(i4), intent(out) :: found
    integer(i4), allocatable :: start(:)   ! where each thread's share of the pairs starts
    integer(i8) :: newest
    integer :: k, i, j, threads, thread

    threads = 1
!$  if (pairs > parallel_from) threads = omp_get_max_threads()
    allocate (start(0:threads))
    start = 0
    newest = maxval(moved(0:nbody-1))
    !$omp parallel num_threads(threads) if (threads > 1) private(i, j, thread)
    !$omp do schedule(static)
    do k = 0, pairs - 1
      mark(k) = 0
      if (newest <= apart(k)) cycle
      i = low(k)
      j = high(k)
      if (apart(k) >= 0) then
        if (max(moved(body(i)), moved(body(j))) <= apart(k)) cycle
      end if
      if (overlap(box(:,i), box(:,j), 0.5_dp*(reach(i) + reach(j)))) mark(k) = merge(2, 1, box(1,j) < box(1,i))
    end do
    !$omp end do
    !$omp do schedule(static)
    do k = from, to - 1
      i = min(slave(k), master(k))
      j = max(slave(k), master(k))
      if (.not. is_at(pairs, low, high, i, j, kept_at(k))) kept_at(k) = position(pairs, low, high, i, j)
      if (kept_at(k) >= 0) mark(kept_at(k)) = 0
    end do
    !$omp end do
    !$omp do schedule(static)
    do thread = 0, threads - 1
      do k = share(pairs, thread, threads), share(pairs, thread + 1, threads) - 1
        if (mark(k) /= 0) start(thread+1) = start(thread+1) + 1
      end do
    end do
    !$omp end do
    !$omp single
    do i = 1, threads
      start(i) = start(i) + start(i-1)
    end do
    !$omp end single
    !$omp do schedule(static)
    do thread = 0, threads - 1
      i = start(thread)
      do k = share(pairs, thread, threads), share(pairs, thread + 1, threads) - 1
        if (mark(k) == 0) cycle
        place(i) = k
        first(i) = merge(low(k), high(k), mark(k) == 1)
        second(i) = merge(high(k), low(k), mark(k) == 1)
        i = i + 1
      end do
    end do
    !$omp end do
    !$omp end parallel
    found = start(threads)
  end subroutine select_pairs

  !> First of the pairs that a thread sees to.
  pure integer function share(pairs, thread, threads)
    integer(i4), intent(in) :: pairs
    integer, intent(in) :: thread, threads

    share = int(int(pairs, i8)*thread/threads)
  end function share

  !> Do two boxes overlap?
  pure logical function overlap(a, b, margin)
    real(dp), intent(in) :: a(6), b(6), margin

    overlap = a(1) < b(4) + margin .and. b(1) < a(4) + margin .and. a(2) <= b(5) + margin .and. &
      b(2) <= a(5) + margin .and. a(3) <= b(6) + margin .and. b(3) <= a(6) + margin
  end function overlap

  !> Is a pair kept at this place?
  pure logical function is_at(pairs, low, high, one, two, place)
    integer(i4), intent(in) :: pairs, low(0:*), high(0:*), one, two, place

    is_at = .false.
    if (place >= 0 .and. place < pairs) is_at = low(place) == one .and. high(place) == two
  end function is_at

  !> Where a pair is kept; -1: it is not.
  pure integer function position(pairs, low, high, one, two)
    integer(i4), intent(in) :: pairs, low(0:*), high(0:*), one, two
    integer :: left, right, k

    left = 0
    right = pairs
    do while (left < right)
      k = (left + right)/2
      if (low(k) < one .or. (low(k) == one .and. high(k) < two)) then
        left = k + 1
      else
        right = k
      end if
    end do
    position = -1
    if (left < pairs) then
      if (low(left) == one .and. high(left) == two) position = left
    end if
  end function position

  !> Notes when the pairs without contact were found apart, and forgets it for those with one.
  !>
  !>   found, place    number of pairs and where they are kept
  !>   status          (:) 1: in contact
  !>   now             number of the last update of shapes
  !>   apart           (:) see `select_pairs`, in and out
  subroutine note_apart(found, place, status, now, apart, capacity, results)
    integer(i4), intent(in) :: found, capacity, results
    integer(i8), intent(in) :: now
    integer(i4), intent(in) :: place(0:capacity-1), status(0:results-1)
    integer(i8), intent(inout) :: apart(0:capacity-1)
    integer :: k

    !$omp parallel do if (found > parallel_from) schedule(static)
    do k = 0, found - 1
      apart(place(k)) = merge(-1_i8, now, status(k) == 1)
    end do
  end subroutine note_apart

  !> The pairs of primitives in contact that must be evaluated again: one of the bodies has moved since, or the contact
  !> is cohesive.  Consecutive contacts of one pair (slots of a patch) are one pair.
  !>
  !>   first, last     rows first <= k < last are contacts
  !>   patched         1: pairs may have several contacts
  !>   slave, master, slave_primitive, master_primitive, slot, cohesion, evaluated   (:) of constraints; `evaluated`:
  !>                   the last update of shapes before a contact's evaluation, -1: it was not evaluated here
  !>   moved           (:) of bodies
  !>   result_of       (:) row by row from `first` the contact's pair, -1: none, out
  !>   one, two        (:) primitive rows of the pairs, the slave first, out
  !>   alive           (:) bits of the slots of a pair that are in contact, out
  !>   count           number of pairs
  subroutine select_contacts(first, last, patched, slave, master, slave_primitive, master_primitive, slot, cohesion, evaluated, &
      moved, result_of, one, two, alive, count, rows, bodies)
    integer(i4), intent(in) :: first, last, patched, rows, bodies
    integer(i4), intent(in) :: slave(0:rows-1), master(0:rows-1), slave_primitive(0:rows-1), master_primitive(0:rows-1)
    integer(i4), intent(in) :: slot(0:rows-1)
    real(dp), intent(in) :: cohesion(0:rows-1)
    integer(i8), intent(in) :: evaluated(0:rows-1), moved(0:bodies-1)
    integer(i4), intent(inout) :: result_of(0:rows-1), one(0:rows-1), two(0:rows-1), alive(0:rows-1)
    integer(i4), intent(out) :: count
    integer(i4), allocatable :: pair_at(:)   ! hash table of pairs, -1: free
    integer(i4) :: pair
    integer :: k, r, size, place

    size = 16
    do while (patched /= 0 .and. size < 2*(last - first))
      size = 2*size
    end do
    allocate (pair_at(0:size-1))
    pair_at = -1
    count = 0
    do k = first, last - 1
      r = k - first
      result_of(r) = -1
      if (max(moved(slave(k)), moved(master(k))) <= evaluated(k) .and. .not. cohesion(k) > 0.0_dp) cycle
      pair = count
      if (patched /= 0) then
        place = int(iand(31_i8*slave_primitive(k) + 40503_i8*master_primitive(k), int(size - 1, i8)))
        do while (pair_at(place) >= 0)
          pair = pair_at(place)
          if (one(pair) == slave_primitive(k) .and. two(pair) == master_primitive(k)) exit
          pair = count
          place = iand(place + 1, size - 1)
        end do
        pair_at(place) = pair
      end if
      if (pair == count) then
        one(pair) = slave_primitive(k)
        two(pair) = master_primitive(k)
        alive(pair) = 0
        count = count + 1
      end if
      alive(pair) = ibset(alive(pair), slot(k))
      result_of(r) = pair
    end do
  end subroutine select_contacts

end module pair_cache
