!> What elimination of a graph's nodes fills, and fronts: runs of nodes that reach the same others, in postorder.
module elimination_tree
  use kinds, only: i4
  implicit none
  private
  public :: tree, analyse_tree

  type :: tree
    integer(i4) :: fronts = 0
    integer(i4), allocatable :: pivots(:)                !< (0:fronts-1) nodes that a front eliminates
    integer(i4), allocatable :: list_ptr(:), list(:)     !< nodes of a front: those, then what they reach, as they are eliminated
    integer(i4), allocatable :: parent(:)                !< (0:fronts-1) front that takes what is left, or -1
  end type tree

  integer(i4), parameter :: small_front = 24   !< triples that a front may reach to take in another with zeros
  integer(i4), parameter :: small_gain = 8     !< zeros, in triples, that are taken in with it

contains

  !> Fronts for a graph with neighbours adjacent(ptr(v):ptr(v+1)-1), nodes of size first(v+1) - first(v), eliminated in the
  !> order given, but for what changes nothing.
  subroutine analyse_tree(n, ptr, adjacent, first, order, structure)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), adjacent(0:*), first(0:n), order(0:n-1)
    type(tree), intent(out) :: structure
    integer(i4), allocatable :: reach_ptr(:), reach(:), parent(:), child(:), sibling(:), place(:), mark(:), post(:), weight(:)
    integer(i4) :: k, s, v, begin, found

    allocate(parent(0:n-1), child(0:n-1), sibling(0:n-1), place(0:n-1), mark(0:n-1), post(0:n-1), weight(0:n-1))
    do k = 0, n - 1
      place(order(k)) = k
    end do
    call find_reach()
    call postorder()
    allocate(structure%pivots(0:n-1), structure%list_ptr(0:n), structure%parent(0:n-1))
    call find_fronts()

  contains

    !> reach(reach_ptr(k):reach_ptr(k+1)-1): steps after k at which what step k reaches is eliminated; parent: the first of them.
    subroutine find_reach()
      integer(i4), allocatable :: grown(:)
      integer(i4) :: c, i, j, need

      allocate(reach_ptr(0:n), reach(0:16*n+15))
      child = -1
      mark = -1
      found = 0
      do k = 0, n - 1
        reach_ptr(k) = found
        v = order(k)
        mark(k) = k
        need = ptr(v+1) - ptr(v)
        c = child(k)
        do while (c >= 0)
          need = need + reach_ptr(c+1) - reach_ptr(c)
          c = sibling(c)
        end do
        if (found + need > size(reach)) then
          allocate(grown(0:2*size(reach)+need-1))
          grown(0:found-1) = reach(0:found-1)
          call move_alloc(grown, reach)
        end if
        parent(k) = n
        do i = ptr(v), ptr(v+1) - 1
          call take(place(adjacent(i)))
        end do
        c = child(k)
        do while (c >= 0)
          do j = reach_ptr(c), reach_ptr(c+1) - 1
            call take(reach(j))
          end do
          c = sibling(c)
        end do
        reach_ptr(k+1) = found
        weight(k) = 0
        do j = reach_ptr(k), found - 1
          weight(k) = weight(k) + first(order(reach(j))+1) - first(order(reach(j)))
        end do
        if (parent(k) < n) then
          sibling(k) = child(parent(k))
          child(parent(k)) = k
        end if
      end do
    end subroutine find_reach

    subroutine take(step)
      integer(i4), intent(in) :: step
      if (step <= k) return
      if (mark(step) == k) return
      mark(step) = k
      reach(found) = step
      found = found + 1
      parent(k) = min(parent(k), step)
    end subroutine take

    !> post(i): the step that comes i-th when children precede their parents and subtrees stand together.
    subroutine postorder()
      integer(i4) :: stack(0:n-1), top, count, c

      count = n
      top = -1
      do k = 0, n - 1
        if (parent(k) < n) cycle
        top = top + 1
        stack(top) = k
      end do
      ! parents from behind, so that the place of every node is known when it leaves the stack
      do while (top >= 0)
        k = stack(top)
        top = top - 1
        count = count - 1
        post(count) = k
        c = child(k)
        do while (c >= 0)
          top = top + 1
          stack(top) = c
          c = sibling(c)
        end do
      end do
    end subroutine postorder

    subroutine find_fronts()
      integer(i4) :: front_of(0:n-1), after(0:n-1), begins(0:n), last, i, j, count, size_of

      do i = 0, n - 1
        after(post(i)) = i
      end do
      structure%fronts = 0
      do i = 0, n - 1
        if (i > 0) then
          if (joins(post(i-1), post(i))) then
            front_of(i) = structure%fronts - 1
            cycle
          end if
        end if
        front_of(i) = structure%fronts
        begins(structure%fronts) = i
        structure%fronts = structure%fronts + 1
      end do
      begins(structure%fronts) = n
      count = 0
      do s = 0, structure%fronts - 1
        last = post(begins(s+1)-1)
        count = count + begins(s+1) - begins(s) + reach_ptr(last+1) - reach_ptr(last)
      end do
      allocate(structure%list(0:max(count, 1)-1))
      count = 0
      do s = 0, structure%fronts - 1
        structure%list_ptr(s) = count
        structure%pivots(s) = begins(s+1) - begins(s)
        do i = begins(s), begins(s+1) - 1
          structure%list(count) = i
          count = count + 1
        end do
        last = post(begins(s+1)-1)
        begin = count
        do j = reach_ptr(last), reach_ptr(last+1) - 1
          structure%list(count) = after(reach(j))
          count = count + 1
        end do
        size_of = count - begin
        call sort(size_of, structure%list(begin:count-1))
        structure%parent(s) = -1
        if (parent(last) < n) structure%parent(s) = front_of(after(parent(last)))
        do i = structure%list_ptr(s), count - 1
          structure%list(i) = order(post(structure%list(i)))
        end do
      end do
      structure%list_ptr(structure%fronts) = count
    end subroutine find_fronts

    !> Step k goes on where step `before` ended: it reaches the same, or little more.
    logical function joins(before, k)
      integer(i4), intent(in) :: before, k
      integer(i4) :: more
      joins = .false.
      if (parent(before) /= k) return
      more = weight(k) + first(order(k)+1) - first(order(k)) - weight(before)
      joins = more == 0 .or. (weight(k) <= small_front .and. more <= small_gain)
    end function joins
  end subroutine analyse_tree

  !> Shell's sort: lists are short.
  pure subroutine sort(n, list)
    integer(i4), intent(in) :: n
    integer(i4), intent(inout) :: list(0:n-1)
    integer(i4) :: gap, i, j, value

    gap = 1
    do while (gap < n/3)
      gap = 3*gap + 1
    end do
    do while (gap > 0)
      do i = gap, n - 1
        value = list(i)
        j = i
        do while (j >= gap)
          if (list(j-gap) <= value) exit
          list(j) = list(j-gap)
          j = j - gap
        end do
        list(j) = value
      end do
      gap = gap/3
    end do
  end subroutine sort
end module elimination_tree
