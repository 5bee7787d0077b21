!> The order of rows in a sweep: by key, or by colours, which threads sweep in parallel.
!>
!> Contacts of one pair of bodies form a group.  Groups of one colour share no body that contacts act on, so a sweep over
!> colours gives the same bits however the groups of a colour are split among threads (docs/theory.md, Gauss-Seidel).
module row_colours
  use kinds, only: i4, i8
  use ordered_lists, only: number_runs
  use row_order, only: sweep_order
  use velocity_operator, only: obstacle_kind
  implicit none
  private
  public :: order_rows

  integer(i4), parameter :: most_colours = 62   !< bits of the masks of used colours
  integer(i4), parameter :: least_rows = 128    !< fewest rows of a colour; fewer are not worth a barrier
  integer(i4), parameter :: chunk_rows = 32     !< fewest rows of a chunk

contains

  !> Orders rows by key (row_order), then, if `coloured`, contacts by colour, greedily in the order of keys.  Contacts on bodies that sleep have no rows.
  !>
  !>   n, users       constraints in use, the first `users` of them the user's; n: out, rows
  !>   coloured       1: contacts by colours; contacts in no large colour, and the user's constraints, follow in the order of keys
  !>   master, slave, birth   of the constraint table
  !>   bodies, body_kind, rest   bodies in use, their kinds, and steps of rest, negative: it sleeps
  !>   order          out: constraint table row of every row
  !>   chunk_ptr      out: first row of every chunk of groups, and the end of the last one
  !>   group_start    out: first row of every group, and the end of the last one
  !>   colour_ptr     (0:ncolourptr-1), ncolourptr > 62, out: first chunk of every colour, and the end of the last one
  !>   colours        out: number of colours, 0 if rows are in the order of keys
  subroutine order_rows(n, users, coloured, master, slave, birth, bodies, body_kind, rest, order, chunk_ptr, group_start, &
                        ncolourptr, colour_ptr, colours)
    integer(i4), intent(inout) :: n
    integer(i4), intent(in) :: users, coloured
    integer(i4), intent(in) :: master(0:*), slave(0:*)
    integer(i8), intent(in) :: birth(0:*)
    integer(i4), intent(in) :: bodies
    integer(i4), intent(in) :: body_kind(0:*), rest(0:*)
    integer(i4), intent(inout) :: order(0:*), chunk_ptr(0:*), group_start(0:*)
    integer(i4), intent(in) :: ncolourptr
    integer(i4), intent(inout) :: colour_ptr(0:ncolourptr-1)
    integer(i4), intent(out) :: colours
    integer(i4), allocatable :: low(:), high(:), sorted(:), group_ptr(:), group_of(:), colour(:)
    integer(i4) :: contacts, groups

    call sweep_order(n, users, birth, order)
    if (any(rest(0:bodies-1) < 0)) call leave_out_sleeping(n, users, master, slave, rest, order)
    colours = 0
    colour_ptr(0) = 0
    chunk_ptr(0) = 0
    contacts = n - users
    if (coloured == 0 .or. contacts == 0 .or. ncolourptr <= most_colours) return
    allocate(low(0:contacts-1), high(0:contacts-1), sorted(0:contacts-1), group_ptr(0:contacts), group_of(0:contacts-1), &
             colour(0:contacts-1))
    call find_pairs(contacts, order, master, slave, bodies, body_kind, low, high)
    call find_groups(contacts, bodies, low, high, sorted, groups, group_ptr, group_of)
    call colour_groups(contacts, bodies, low, high, groups, group_ptr, group_of, colour, colours)
    call renumber(contacts, groups, group_ptr, group_of, sorted, colour, colours, order, chunk_ptr, group_start, colour_ptr)
  end subroutine order_rows

  !> Takes contacts on bodies that sleep out of the order.
  pure subroutine leave_out_sleeping(n, users, master, slave, rest, order)
    integer(i4), intent(inout) :: n
    integer(i4), intent(in) :: users
    integer(i4), intent(in) :: master(0:*), slave(0:*), rest(0:*)
    integer(i4), intent(inout) :: order(0:*)
    integer(i4) :: a, i, left

    left = 0
    do a = 0, n - 1
      i = order(a)
      if (a < n - users) then
        if (rest(master(i)) < 0 .or. rest(slave(i)) < 0) cycle
      end if
      order(left) = i
      left = left + 1
    end do
    n = left
  end subroutine leave_out_sleeping

  !> Finds the bodies that each contact acts on, smaller row first; the number `bodies` means none.
  pure subroutine find_pairs(contacts, order, master, slave, bodies, body_kind, low, high)
    integer(i4), intent(in) :: contacts, bodies
    integer(i4), intent(in) :: order(0:*), master(0:*), slave(0:*), body_kind(0:*)
    integer(i4), intent(out) :: low(0:contacts-1), high(0:contacts-1)
    integer(i4) :: a, k1, k2

    do a = 0, contacts - 1
      k1 = moved(master(order(a)))
      k2 = moved(slave(order(a)))
      low(a) = min(k1, k2)
      high(a) = max(k1, k2)
      if (low(a) == high(a)) high(a) = bodies
    end do

  contains

    pure function moved(k) result(body)
      integer(i4), intent(in) :: k
      integer(i4) :: body
      body = bodies
      if (k < 0) return
      if (body_kind(k) /= obstacle_kind) body = k
    end function moved
  end subroutine find_pairs

  !> Sorts contacts by pair, and by key within a pair: counting sorts by the larger body, then by the smaller.
  pure subroutine find_groups(contacts, bodies, low, high, sorted, groups, group_ptr, group_of)
    integer(i4), intent(in) :: contacts, bodies
    integer(i4), intent(in) :: low(0:contacts-1), high(0:contacts-1)
    integer(i4), intent(out) :: sorted(0:contacts-1), groups, group_ptr(0:contacts), group_of(0:contacts-1)
    integer(i4) :: order(0:contacts-1), i, a
    logical :: same(0:contacts-1)      ! pairs as that of the contact before, in the order of pairs

    do a = 0, contacts - 1
      order(a) = a
    end do
    call count_sort(contacts, bodies, high, order, group_of)
    call count_sort(contacts, bodies, low, group_of, sorted)
    same = .false.
    do i = 1, contacts - 1
      same(i) = low(sorted(i)) == low(sorted(i-1)) .and. high(sorted(i)) == high(sorted(i-1))
    end do
    call number_runs(contacts, same, groups, group_ptr, order)
    group_of(sorted) = order
  end subroutine find_groups

  pure subroutine count_sort(count, largest, key, given, sorted)
    integer(i4), intent(in) :: count, largest
    integer(i4), intent(in) :: key(0:count-1), given(0:count-1)
    integer(i4), intent(out) :: sorted(0:count-1)
    integer(i4) :: place(0:largest+1), i, k

    place = 0
    do i = 0, count - 1
      place(key(i)+1) = place(key(i)+1) + 1
    end do
    do k = 1, largest + 1
      place(k) = place(k) + place(k-1)
    end do
    do i = 0, count - 1
      k = key(given(i))
      sorted(place(k)) = given(i)
      place(k) = place(k) + 1
    end do
  end subroutine count_sort

  !> Gives each group, in the order of first rows, the first colour that neither body has yet; small colours become none (-1).
  pure subroutine colour_groups(contacts, bodies, low, high, groups, group_ptr, group_of, colour, colours)
    integer(i4), intent(in) :: contacts, bodies, groups
    integer(i4), intent(in) :: low(0:contacts-1), high(0:contacts-1), group_ptr(0:contacts), group_of(0:contacts-1)
    integer(i4), intent(out) :: colour(0:contacts-1), colours
    integer(i8) :: used(0:bodies), mask
    integer(i4) :: a, g, c, rows(0:most_colours-1), renamed(-1:most_colours-1)

    used = 0
    rows = 0
    colour(0:groups-1) = -2
    do a = 0, contacts - 1
      g = group_of(a)
      if (colour(g) /= -2) cycle
      mask = ior(used(low(a)), used(high(a)))
      c = trailz(not(mask))
      if (c >= most_colours) then
        colour(g) = -1
        cycle
      end if
      colour(g) = c
      rows(c) = rows(c) + group_ptr(g+1) - group_ptr(g)
      if (low(a) < bodies) used(low(a)) = ibset(used(low(a)), c)
      if (high(a) < bodies) used(high(a)) = ibset(used(high(a)), c)
    end do
    colours = 0
    renamed = -1
    do c = 0, most_colours - 1
      if (rows(c) < least_rows) cycle
      renamed(c) = colours
      colours = colours + 1
    end do
    do g = 0, groups - 1
      colour(g) = renamed(colour(g))
    end do
  end subroutine colour_groups

  !> Orders groups by colour; the rest follows in the order of keys.
  pure subroutine renumber(contacts, groups, group_ptr, group_of, sorted, colour, colours, order, chunk_ptr, group_start, &
                           colour_ptr)
    integer(i4), intent(in) :: contacts, groups
    integer(i4), intent(in) :: group_ptr(0:contacts), group_of(0:contacts-1), sorted(0:contacts-1)
    integer(i4), intent(in) :: colour(0:contacts-1), colours
    integer(i4), intent(inout) :: order(0:*), chunk_ptr(0:*), group_start(0:*), colour_ptr(0:*)
    integer(i4) :: by_key(0:contacts-1), listed(0:groups-1), place(0:colours), c, g, a, i, k, row, chunks

    by_key = order(0:contacts-1)
    ! groups by colour, within one in the order of their first rows
    place = 0
    do g = 0, groups - 1
      if (colour(g) >= 0) place(colour(g)+1) = place(colour(g)+1) + 1
    end do
    do c = 1, colours
      place(c) = place(c) + place(c-1)
    end do
    do a = 0, contacts - 1
      g = group_of(a)
      if (a /= sorted(group_ptr(g)) .or. colour(g) < 0) cycle
      listed(place(colour(g))) = g
      place(colour(g)) = place(colour(g)) + 1
    end do
    row = 0
    chunks = 0
    k = 0
    do c = 0, colours - 1
      colour_ptr(c) = chunks
      chunk_ptr(chunks) = row
      do k = merge(0, place(max(c-1, 0)), c == 0), place(c) - 1
        g = listed(k)
        if (row - chunk_ptr(chunks) >= chunk_rows) then
          chunks = chunks + 1
          chunk_ptr(chunks) = row
        end if
        group_start(k) = row
        do i = group_ptr(g), group_ptr(g+1) - 1
          order(row) = by_key(sorted(i))
          row = row + 1
        end do
      end do
      chunks = chunks + 1
    end do
    colour_ptr(colours) = chunks
    chunk_ptr(chunks) = row
    if (colours > 0) group_start(place(colours-1)) = row
    do a = 0, contacts - 1
      if (colour(group_of(a)) >= 0) cycle
      order(row) = by_key(a)
      row = row + 1
    end do
  end subroutine renumber
end module row_colours
