!> Nested dissection of a graph by level sets (George and Liu 1978): a small separator divides the nodes into two parts, the parts
!> are divided likewise, and separators come last.  On graphs of walls and sheets the factors then grow like n log n.
module dissection
  use kinds, only: i4
  implicit none
  private
  public :: dissect

  integer(i4), parameter :: smallest = 3     !< parts of this many nodes are not divided
  integer(i4), parameter :: searches = 3     !< for a node far from all others

  !> Parts of a graph, and the levels of the one at hand around one of its nodes.
  type :: partition
    integer(i4) :: parts                    !< made so far
    integer(i4), allocatable :: part(:)     !< that each node belongs to
    integer(i4), allocatable :: level(:)    !< of each node of the part at hand, -1: not reached
    integer(i4), allocatable :: queue(:)    !< nodes reached, level by level,
    integer(i4), allocatable :: start(:)    !< from start(level) on
    integer(i4) :: levels, reached          !< levels, and nodes in them
    integer(i4), allocatable :: sorted(:)   !< nodes in their new order
    integer(i4) :: stack                    !< place of the last range of nodes that is to be parted, -1: none
    integer(i4), allocatable :: first(:), last(:)   !< these ranges
  end type partition

contains

  !> Computes order (0:n-1), the nodes in the order of elimination, of a graph with neighbours adjacent(ptr(v):ptr(v+1)-1).
  subroutine dissect(n, ptr, adjacent, order)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), adjacent(0:*)
    integer(i4), intent(out) :: order(0:n-1)
    type(partition) :: state
    integer(i4) :: from, to, i

    allocate (state%part(0:n-1), source=0_i4)
    allocate (state%level(0:n-1), source=-1_i4)
    allocate (state%queue(0:n-1), state%sorted(0:n-1), state%start(0:n), state%first(0:2*n), state%last(0:2*n))
    state%parts = 1
    state%stack = -1
    order = [(i, i = 0, n - 1)]
    call push(state, 0, n - 1)
    do while (state%stack >= 0)
      from = state%first(state%stack)
      to = state%last(state%stack)
      state%stack = state%stack - 1
      if (to - from + 1 <= smallest) cycle
      call find_levels(ptr, adjacent, order(from), state)
      if (state%reached < to - from + 1) then
        call part_components(from, to, order, state)
      else if (state%levels >= 3) then
        call part_at_level(thinnest_level(state), ptr, adjacent, from, to, order, state)
      end if
    end do
  end subroutine dissect

  !> Nodes order(a:b) are to be parted.
  pure subroutine push(state, a, b)
    type(partition), intent(inout) :: state
    integer(i4), intent(in) :: a, b

    if (a > b) return
    state%stack = state%stack + 1
    state%first(state%stack) = a
    state%last(state%stack) = b
  end subroutine push

  !> Nodes order(a:b) become a part of their own.
  pure subroutine label(state, order, a, b)
    type(partition), intent(inout) :: state
    integer(i4), intent(in) :: order(0:*), a, b
    integer(i4) :: i

    do i = a, b
      state%part(order(i)) = state%parts
      state%level(order(i)) = -1
    end do
    state%parts = state%parts + 1
  end subroutine label

  !> Parts what the levels reach of order(from:to) from what is not connected with it.
  pure subroutine part_components(from, to, order, state)
    integer(i4), intent(in) :: from, to
    integer(i4), intent(inout) :: order(0:*)
    type(partition), intent(inout) :: state
    integer(i4) :: i, before, after

    before = from
    after = from + state%reached
    do i = from, to
      if (state%level(order(i)) >= 0) then
        state%sorted(before) = order(i)
        before = before + 1
      else
        state%sorted(after) = order(i)
        after = after + 1
      end if
    end do
    order(from:to) = state%sorted(from:to)
    call label(state, order, from, before - 1)
    call push(state, from, before - 1)
    call label(state, order, before, to)
    call push(state, before, to)
  end subroutine part_components

  !> Of the levels that leave a quarter on either side, the one with fewest nodes.
  pure integer(i4) function thinnest_level(state) result(best)
    type(partition), intent(in) :: state
    integer(i4) :: cut

    best = -1
    do cut = 1, state%levels - 2
      if (lopsided(cut) .and. best >= 0) cycle
      if (best < 0) then
        best = cut
      else if (lopsided(best)) then
        best = cut
      else if (width(cut) < width(best)) then
        best = cut
      end if
    end do

  contains

    !> Number of nodes in a level.
    pure integer(i4) function width(l)
      integer(i4), intent(in) :: l
      width = state%start(l+1) - state%start(l)
    end function width

    !> Whether one side has less than a quarter of what is not in a level.
    pure logical function lopsided(l)
      integer(i4), intent(in) :: l
      lopsided = 4*min(state%start(l), state%reached - state%start(l+1)) < state%reached - width(l)
    end function lopsided
  end function thinnest_level

  !> Parts order(from:to) into what is below a level, what is above, and the nodes of the level between them, which come last.
  pure subroutine part_at_level(cut, ptr, adjacent, from, to, order, state)
    integer(i4), intent(in) :: cut, ptr(0:*), adjacent(0:*), from, to
    integer(i4), intent(inout) :: order(0:*)
    type(partition), intent(inout) :: state
    integer(i4) :: i, v, before, after, below

    before = from
    after = to
    do i = 0, state%reached - 1
      v = state%queue(i)
      if (state%level(v) > cut) exit
      if (separates(v)) then
        state%sorted(after) = v
        after = after - 1
      else
        state%sorted(before) = v
        before = before + 1
      end if
    end do
    below = before
    do i = i, state%reached - 1
      state%sorted(before) = state%queue(i)
      before = before + 1
    end do
    state%level(order(from:to)) = -1
    order(from:to) = state%sorted(from:to)
    call label(state, order, from, below - 1)
    call push(state, from, below - 1)
    call label(state, order, below, after)
    call push(state, below, after)
    call label(state, order, after + 1, to)

  contains

    !> Whether a node of the level has a neighbour beyond it.
    pure logical function separates(v)
      integer(i4), intent(in) :: v
      integer(i4) :: k

      separates = .false.
      if (state%level(v) < cut) return
      do k = ptr(v), ptr(v+1) - 1
        separates = state%part(adjacent(k)) == state%part(v) .and. state%level(adjacent(k)) == cut + 1
        if (separates) return
      end do
    end function separates
  end subroutine part_at_level

  !> Levels of a part around a node that is far from the others.
  pure subroutine find_levels(ptr, adjacent, seed, state)
    integer(i4), intent(in) :: ptr(0:*), adjacent(0:*), seed
    type(partition), intent(inout) :: state
    integer(i4) :: root, search, deepest

    root = seed
    deepest = 0
    do search = 1, searches
      if (search > 1) state%level(state%queue(0:state%reached-1)) = -1
      call spread(ptr, adjacent, root, state)
      if (state%levels <= deepest) exit
      deepest = state%levels
      if (search < searches) root = state%queue(state%reached-1)
    end do
  end subroutine find_levels

  !> Levels of a part around a node.
  pure subroutine spread(ptr, adjacent, root, state)
    integer(i4), intent(in) :: ptr(0:*), adjacent(0:*), root
    type(partition), intent(inout) :: state
    integer(i4) :: head, v, w, k

    associate (level => state%level, part => state%part, queue => state%queue, reached => state%reached)
      queue(0) = root
      level(root) = 0
      reached = 1
      state%levels = 0
      head = 0
      do while (head < reached)
        v = queue(head)
        if (level(v) == state%levels) then
          state%start(state%levels) = head
          state%levels = state%levels + 1
        end if
        head = head + 1
        do k = ptr(v), ptr(v+1) - 1
          w = adjacent(k)
          if (part(w) /= part(v) .or. level(w) >= 0) cycle
          level(w) = level(v) + 1
          queue(reached) = w
          reached = reached + 1
        end do
      end do
      state%start(state%levels) = reached
    end associate
  end subroutine spread
end module dissection
