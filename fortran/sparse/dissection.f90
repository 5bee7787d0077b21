!> Nested dissection of a graph by level sets (George and Liu 1978): two parts that a small separator keeps apart, the parts
!> in the same way, separators last.  On graphs of walls and sheets the factors then grow like n log n.
module dissection
  use kinds, only: i4
  implicit none
  private
  public :: dissect

  integer(i4), parameter :: smallest = 3     !< nodes that are not parted any more
  integer(i4), parameter :: searches = 3     !< of a node far from all others

contains

  !> order (0:n-1): nodes as they are to be eliminated, of a graph with neighbours adjacent(ptr(v):ptr(v+1)-1).
  subroutine dissect(n, ptr, adjacent, order)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), adjacent(0:*)
    integer(i4), intent(out) :: order(0:n-1)
    integer(i4) :: part(0:n-1), level(0:n-1), queue(0:n-1), sorted(0:n-1), start(0:n), first(0:2*n), last(0:2*n)
    integer(i4) :: stack, from, to, levels, reached, parts, i, best, cut, before, after, sides

    parts = 1
    part = 0
    level = -1
    do i = 0, n - 1
      order(i) = i
    end do
    stack = 0
    first(0) = 0
    last(0) = n - 1
    do while (stack >= 0)
      from = first(stack)
      to = last(stack)
      stack = stack - 1
      if (to - from + 1 <= smallest) cycle
      call find_levels(order(from), levels, reached)
      if (reached < to - from + 1) then
        ! what is not connected is dissected apart
        before = from
        after = from + reached
        do i = from, to
          if (level(order(i)) >= 0) then
            sorted(before) = order(i)
            before = before + 1
          else
            sorted(after) = order(i)
            after = after + 1
          end if
        end do
        order(from:to) = sorted(from:to)
        call label(from, from + reached - 1)
        call push(from, from + reached - 1)
        call label(from + reached, to)
        call push(from + reached, to)
        cycle
      end if
      if (levels < 3) cycle
      ! of the levels that leave a quarter on either side, the one with fewest nodes
      best = -1
      do cut = 1, levels - 2
        sides = min(start(cut), reached - start(cut+1))
        if (4*sides < reached - (start(cut+1) - start(cut)) .and. best >= 0) cycle
        if (best < 0) then
          best = cut
        else if (4*min(start(best), reached - start(best+1)) < reached - (start(best+1) - start(best))) then
          best = cut
        else if (start(cut+1) - start(cut) < start(best+1) - start(best)) then
          best = cut
        end if
      end do
      before = from
      after = to
      do i = 0, reached - 1
        if (level(queue(i)) < best) then
          sorted(before) = queue(i)
          before = before + 1
        else if (level(queue(i)) == best) then
          if (touches_next(queue(i))) then
            sorted(after) = queue(i)
            after = after - 1
          else
            sorted(before) = queue(i)
            before = before + 1
          end if
        end if
      end do
      sides = before
      do i = 0, reached - 1
        if (level(queue(i)) > best) then
          sorted(before) = queue(i)
          before = before + 1
        end if
      end do
      level(order(from:to)) = -1
      order(from:to) = sorted(from:to)
      call label(from, sides - 1)
      call push(from, sides - 1)
      call label(sides, after)
      call push(sides, after)
      call label(after + 1, to)
    end do

  contains

    subroutine push(a, b)
      integer(i4), intent(in) :: a, b
      if (a > b) return
      stack = stack + 1
      first(stack) = a
      last(stack) = b
    end subroutine push

    !> Nodes order(a:b) become a part of their own.
    subroutine label(a, b)
      integer(i4), intent(in) :: a, b
      integer(i4) :: j
      do j = a, b
        part(order(j)) = parts
        level(order(j)) = -1
      end do
      parts = parts + 1
    end subroutine label

    !> Levels of the part around a node that is far from the others; queue: nodes level by level, from start(level) on.
    subroutine find_levels(seed, levels, reached)
      integer(i4), intent(in) :: seed
      integer(i4), intent(out) :: levels, reached
      integer(i4) :: root, search, deepest

      root = seed
      deepest = 0
      do search = 1, searches
        if (search > 1) level(queue(0:reached-1)) = -1
        call spread(root, levels, reached)
        if (levels <= deepest) exit
        deepest = levels
        if (search < searches) root = queue(reached-1)
      end do
    end subroutine find_levels

    subroutine spread(root, levels, reached)
      integer(i4), intent(in) :: root
      integer(i4), intent(out) :: levels, reached
      integer(i4) :: head, v, w, k

      queue(0) = root
      level(root) = 0
      reached = 1
      levels = 0
      head = 0
      do while (head < reached)
        v = queue(head)
        if (level(v) == levels) then
          start(levels) = head
          levels = levels + 1
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
      start(levels) = reached
    end subroutine spread

    !> A node of the separator has a neighbour beyond it.
    logical function touches_next(v)
      integer(i4), intent(in) :: v
      integer(i4) :: k
      touches_next = .true.
      do k = ptr(v), ptr(v+1) - 1
        if (part(adjacent(k)) == part(v) .and. level(adjacent(k)) == level(v) + 1) return
      end do
      touches_next = .false.
    end function touches_next
  end subroutine dissect
end module dissection
