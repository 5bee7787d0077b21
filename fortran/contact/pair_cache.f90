!> Data that detection keeps between steps: fat boxes, pairs of overlapping fat boxes, and last motions of bodies.
!>
!> While no box leaves its fat box, all overlapping pairs are among the kept pairs, so no search is needed.  Pairs
!> of primitives that have not changed by a bit since they were found apart are still apart, and contacts between bodies
!> that have not moved are unchanged.  So results have the bits of a full search and evaluation.
module pair_cache
  use kinds, only: dp, i4, i8
  use kind_numbers, only: sphere => primitive_sphere
  use detection_state, only: detection_tables
  use polyhedra, only: shape_tables
  use state_tables, only: constraint_table, narrow_result, workspace
!$ use omp_lib, only: omp_get_max_threads
  use thread_work, only: pays, share
  implicit none
  private
  public :: fatten_boxes, boxes_near, boxes_inside, sum_flags, select_pairs, note_apart, select_contacts

  integer(i4), parameter :: asleep = -1       !< a value of `rest` of bodies
  integer(i4), parameter :: in_contact = 3    !< a value of `mark` of pairs, besides 1 and 2, the order of a pair to evaluate

contains

  !> Enlarges boxes by half of `reach` plus `skin` times the lesser of the primitive's width and the mean width.
  !>
  !>   member     (:) rows of primitives; reach (:) the largest gap of their contacts [length]
  !>   box, fat   (6,:) boxes: lower corner, upper corner [length]; fat: out
  subroutine fatten_boxes(member, reach, skin, box, fat)
    integer(i4), intent(in) :: member(0:)
    real(dp), intent(in) :: skin, reach(0:), box(:,0:)
    real(dp), intent(inout) :: fat(:,0:)
    integer :: members
    real(dp) :: mean, width, more
    integer :: i, k

    members = size(member)
    mean = 0.0_dp
    if (skin > 0.0_dp) then
      do k = 0, members - 1
        i = member(k)
        width = max(box(4,i) - box(1,i), box(5,i) - box(2,i), box(6,i) - box(3,i))
        if (width < huge(width)) mean = mean + width
      end do
      mean = mean/max(members, 1)
    end if
    !$omp parallel do if (pays(members, 12)) schedule(static) private(i, width, more)
    do k = 0, members - 1
      i = member(k)
      width = max(box(4,i) - box(1,i), box(5,i) - box(2,i), box(6,i) - box(3,i))
      more = 0.5_dp*reach(i)*(1.0_dp + 1.0e-9_dp) + skin*min(width, mean)
      fat(1:3,i) = box(1:3,i) - more
      fat(4:6,i) = box(4:6,i) + more
    end do
  end subroutine fatten_boxes

  !> Lists the first boxes fat(:,0:among-1) that overlap a box, as `pair_search` compares them.
  !>
  !>   near, count  (:) their rows, ascending, and their number
  pure subroutine boxes_near(among, fat, box, near, count)
    integer(i4), intent(in) :: among
    real(dp), intent(in) :: fat(6,0:*), box(6)
    integer(i4), intent(inout) :: near(*)
    integer(i4), intent(out) :: count
    integer :: i

    count = 0
    do i = 0, among - 1
      if (fat(1,i) < box(4) .and. box(1) < fat(4,i) .and. fat(2,i) <= box(5) .and. box(2) <= fat(5,i) .and. &
        fat(3,i) <= box(6) .and. box(3) <= fat(6,i)) then
        count = count + 1
        near(count) = i
      end if
    end do
  end subroutine boxes_near

  !> Whether every box, enlarged by half of `reach`, is inside its fat box; and a sum that changes with the bodies' flags of
  !> self-contact.
  !>
  !> Reads the `searched`, `fat` and `moved` of the work space, obstacles at rest, boxes and reach of primitives.
  subroutine boxes_inside(tables, inside, flags)
    type(detection_tables), intent(in) :: tables
    integer(i4), intent(out) :: inside
    integer(i8), intent(out) :: flags
    real(dp) :: least
    integer(i4) :: leavers
    integer :: i, k

    leavers = 0
    associate (still => tables%still, box => tables%shapes%box, fat => tables%work%fat, moved => tables%work%moved)
      do k = 0, size(still%bodies) - 1
        if (moved(still%bodies(k)) > still%sorted) leavers = leavers + 1
      end do
      !$omp parallel do if (pays(size(still%movable, kind=i4), 12)) schedule(static) private(i, least) reduction(+:leavers)
      do k = 0, size(still%movable) - 1
        i = still%movable(k)
        if (moved(tables%shapes%body(i)) <= tables%work%searched) cycle
        least = 0.5_dp*tables%shapes%reach(i)
        if (.not. (box(1,i) - least >= fat(1,i) .and. box(2,i) - least >= fat(2,i) .and. box(3,i) - least >= fat(3,i) .and. &
          box(4,i) + least <= fat(4,i) .and. box(5,i) + least <= fat(5,i) .and. box(6,i) + least <= fat(6,i))) &
          leavers = leavers + 1
      end do
    end associate
    inside = merge(1, 0, leavers == 0)
    call sum_flags(tables%state%n, tables%state%bodies%selfcontact, flags)
  end subroutine boxes_inside

  !> A sum that changes with the bodies' flags of self-contact.
  pure subroutine sum_flags(nbody, selfcontact, flags)
    integer(i4), intent(in) :: nbody, selfcontact(0:)
    integer(i8), intent(out) :: flags
    integer :: i

    flags = 0
    do i = 0, nbody - 1
      if (selfcontact(i) /= 0) flags = flags*31 + i + 1
    end do
  end subroutine sum_flags

  !> Selects the pairs to evaluate, in the order of the kept pairs: their boxes overlap (strictly in x, within
  !> half of both `reach`es), and two spheres are no further apart, they are not in contact, and one of them has moved since they were found apart.
  !>
  !>   from, to        rows from <= k < to of the constraint table are contacts
  !>   bodies, rest    number of bodies; their steps of rest: pairs of two that sleep are not selected
  !>   work            reads `pairs`, their rows `low` < `high`, sorted, `apart` and `moved`; `kept_at`: position of the pairs of constraints
  !>                   at the last call, a hint, in and out; `first`, `second`: the pairs, out; the first has the smaller lower bound in
  !>                   x, or with equal bounds the lower row; `place`: position among kept pairs, out; `mark` is work space
  !>   found           number of pairs
  subroutine select_pairs(from, to, bodies, rest, shapes, rows, work, found)
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    type(workspace), intent(in) :: work
    integer(i4), intent(in) :: from, to, bodies, rest(0:)
    integer(i4), intent(out) :: found
    integer(i4), allocatable :: start(:)  ! start of each thread's share of the pairs
    integer(i8) :: newest
    integer :: k, i, j, threads, thread

    threads = 1
!$  if (pays(work%pairs, 12)) threads = omp_get_max_threads()
    allocate (start(0:threads))
    start = 0
    newest = maxval(work%moved(0:bodies-1))
    !$omp parallel num_threads(threads) if (threads > 1) private(i, j, thread)
    !$omp do schedule(static)
    do k = 0, work%pairs - 1
      work%mark(k) = 0
    end do
    !$omp end do
    !$omp do schedule(static)
    do k = from, to - 1
      i = min(rows%slave_primitive(k), rows%master_primitive(k))
      j = max(rows%slave_primitive(k), rows%master_primitive(k))
      if (.not. is_at(work%pairs, work%low, work%high, i, j, work%kept_at(k))) &
        work%kept_at(k) = position(work%pairs, work%low, work%high, i, j)
      if (work%kept_at(k) < 0) cycle
      !$omp atomic write
      work%mark(work%kept_at(k)) = in_contact
    end do
    !$omp end do
    !$omp do schedule(static)
    do k = 0, work%pairs - 1
      if (work%mark(k) == in_contact) then
        work%mark(k) = 0
        cycle
      end if
      if (newest <= work%apart(k)) cycle
      i = work%low(k)
      j = work%high(k)
      if (rest(shapes%body(i)) == asleep .and. rest(shapes%body(j)) == asleep) cycle
      if (work%apart(k) >= 0) then
        if (max(work%moved(shapes%body(i)), work%moved(shapes%body(j))) <= work%apart(k)) cycle
      end if
      if (.not. overlap(shapes%box(:,i), shapes%box(:,j), 0.5_dp*(shapes%reach(i) + shapes%reach(j)))) cycle
      if (shapes%kind(i) == sphere .and. shapes%kind(j) == sphere) then
        if (spheres_apart(shapes%box(:,i), shapes%box(:,j), 0.5_dp*(shapes%reach(i) + shapes%reach(j)))) cycle
      end if
      work%mark(k) = merge(2, 1, shapes%box(1,j) < shapes%box(1,i))
    end do
    !$omp end do
    !$omp do schedule(static)
    do thread = 0, threads - 1
      do k = share(work%pairs, thread, threads), share(work%pairs, thread + 1, threads) - 1
        if (work%mark(k) /= 0) start(thread+1) = start(thread+1) + 1
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
      do k = share(work%pairs, thread, threads), share(work%pairs, thread + 1, threads) - 1
        if (work%mark(k) == 0) cycle
        work%place(i) = k
        work%first(i) = merge(work%low(k), work%high(k), work%mark(k) == 1)
        work%second(i) = merge(work%high(k), work%low(k), work%mark(k) == 1)
        i = i + 1
      end do
    end do
    !$omp end do
    !$omp end parallel
    found = start(threads)
  end subroutine select_pairs

  !> Whether two boxes overlap.
  pure logical function overlap(a, b, margin)
    real(dp), intent(in) :: a(6), b(6), margin

    overlap = a(1) < b(4) + margin .and. b(1) < a(4) + margin .and. a(2) <= b(5) + margin .and. &
      b(2) <= a(5) + margin .and. a(3) <= b(6) + margin .and. b(3) <= a(6) + margin
  end function overlap

  !> Whether spheres in boxes, which are larger by the geometric epsilon, are certainly further apart than `margin`.  Half of the pairs of boxes
  !> in a packing overlap at corners alone, and results of such pairs would take more memory than contacts do.
  pure logical function spheres_apart(a, b, margin)
    real(dp), intent(in) :: a(6), b(6), margin
    real(dp) :: way(3), rounding

    way = 0.5_dp*((a(1:3) - b(1:3)) + (a(4:6) - b(4:6)))
    rounding = 16*epsilon(1.0_dp)*max(maxval(abs(a)), maxval(abs(b)))
    spheres_apart = norm2(way) > 0.5_dp*((a(4) - a(1)) + (b(4) - b(1))) + margin + rounding
  end function spheres_apart

  !> Whether a pair is kept at this place.
  pure logical function is_at(pairs, low, high, one, two, place)
    integer(i4), intent(in) :: pairs, low(0:*), high(0:*), one, two, place

    is_at = .false.
    if (place >= 0 .and. place < pairs) is_at = low(place) == one .and. high(place) == two
  end function is_at

  !> Place of a kept pair; -1: it is not kept.
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

  !> Records for pairs without contact when they were found apart, and deletes this record for pairs in contact.
  !>
  !>   found           number of pairs, at work%place among kept pairs; results%status is their state
  !>   work            `apart` becomes the number of the last update of shapes, or -1
  subroutine note_apart(found, work, results)
    type(workspace), intent(in) :: work
    type(narrow_result), intent(in) :: results
    integer(i4), intent(in) :: found
    integer :: k

    !$omp parallel do if (pays(found, 12)) schedule(static)
    do k = 0, found - 1
      work%apart(work%place(k)) = merge(-1_i8, work%updates, results%status(k) == 1)
    end do
  end subroutine note_apart

  !> Selects the pairs of primitives in contact that must be evaluated again: one body has moved since, or the contact
  !> is cohesive.  Consecutive contacts of one pair (slots of a patch) are one pair.
  !>
  !>   first, last     rows first <= k < last are contacts
  !>   patched         whether pairs may have several contacts
  !>   rest            steps of rest of bodies: contacts of two that sleep are not selected
  !>   rows            reads `evaluated`, the last update of shapes before a contact's evaluation, -1: not evaluated yet, and others
  !>   work            reads `moved`; `result_of`: for each row from `first` the contact's pair, -1: none, out; `known_one`, `known_two`:
  !>                   primitive rows of the pairs, the slave first, out; `alive`: bits of the slots that are in contact, out
  !>   count           number of pairs
  subroutine select_contacts(first, last, patched, rest, rows, work, count)
    logical, intent(in) :: patched
    integer(i4), intent(in) :: rest(0:)
    type(constraint_table), intent(in) :: rows
    type(workspace), intent(in) :: work
    integer(i4), intent(in) :: first, last
    integer(i4), intent(out) :: count
    integer(i4), allocatable :: pair_at(:)  ! hash table of pairs, -1: free
    integer(i4) :: pair
    integer :: k, r, size, place

    size = 16
    do while (patched .and. size < 2*(last - first))
      size = 2*size
    end do
    allocate (pair_at(0:size-1))
    pair_at = -1
    count = 0
    do k = first, last - 1
      r = k - first
      work%result_of(r) = -1
      if (rest(rows%slave(k)) == asleep .and. rest(rows%master(k)) == asleep) cycle
      if (max(work%moved(rows%slave(k)), work%moved(rows%master(k))) <= rows%evaluated(k) &
        .and. .not. rows%cohesion(k) > 0.0_dp) cycle
      pair = count
      if (patched) then
        place = int(iand(31_i8*rows%slave_primitive(k) + 40503_i8*rows%master_primitive(k), int(size - 1, i8)))
        do while (pair_at(place) >= 0)
          pair = pair_at(place)
          if (work%known_one(pair) == rows%slave_primitive(k) .and. work%known_two(pair) == rows%master_primitive(k)) exit
          pair = count
          place = iand(place + 1, size - 1)
        end do
        pair_at(place) = pair
      end if
      if (pair == count) then
        work%known_one(pair) = rows%slave_primitive(k)
        work%known_two(pair) = rows%master_primitive(k)
        work%alive(pair) = 0
        count = count + 1
      end if
      work%alive(pair) = ibset(work%alive(pair), rows%slot(k))
      work%result_of(r) = pair
    end do
  end subroutine select_contacts

end module pair_cache
