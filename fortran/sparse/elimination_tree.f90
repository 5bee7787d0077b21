!> Fill of the elimination of a graph's nodes, and fronts: runs of nodes with the same later neighbours, in postorder.
module elimination_tree
  use kinds, only: i4
  use ordered_lists, only: number_runs
  implicit none
  private
  public :: tree, analyse_tree

  type :: tree
    integer(i4) :: fronts = 0
    integer(i4), allocatable :: pivots(:)                !< (0:fronts-1) nodes that a front eliminates
    integer(i4), allocatable :: list_ptr(:), list(:)     !< nodes of a front in the order of elimination: its pivots, then the later nodes that they reach
    integer(i4), allocatable :: parent(:)                !< (0:fronts-1) front that receives the Schur complement, or -1
  end type tree

  integer(i4), parameter :: small_front = 24   !< most triples of a front that may merge with another by adding zeros
  integer(i4), parameter :: small_gain = 8     !< zeros, in triples, that such a merge may add

  !> Steps of an elimination, which nodes they reach, and the tree that they make.
  type :: elimination
    integer(i4), allocatable :: reach_ptr(:), reach(:)  !< reach(reach_ptr(k):reach_ptr(k+1)-1): later steps, of nodes that step k reaches
    integer(i4), allocatable :: parent(:)               !< the first of them, n: there is none
    integer(i4), allocatable :: child(:), sibling(:)    !< the last step with this parent, and the one before it, -1: none
    integer(i4), allocatable :: node_size(:)            !< of the node that a step eliminates
    integer(i4), allocatable :: reach_size(:)           !< of all nodes that it reaches
  end type elimination

contains

  !> Computes fronts for a graph with neighbours adjacent(ptr(v):ptr(v+1)-1) and nodes of size first(v+1) - first(v), eliminated in the
  !> given order up to changes that keep the fill.
  subroutine analyse_tree(n, ptr, adjacent, first, order, structure)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), adjacent(0:*), first(0:n), order(0:n-1)
    type(tree), intent(out) :: structure
    type(elimination) :: steps
    integer(i4), allocatable :: post(:), begins(:), front_of(:)
    integer(i4) :: k

    allocate (steps%node_size(0:n-1), post(0:n-1), begins(0:n), front_of(0:n-1))
    do k = 0, n - 1
      steps%node_size(k) = first(order(k)+1) - first(order(k))
    end do
    call find_reach(n, ptr, adjacent, order, steps)
    call find_postorder(n, steps, post)
    call join_steps(n, steps, post, structure%fronts, begins, front_of)
    call list_fronts(n, order, steps, post, begins, front_of, structure)
  end subroutine analyse_tree

  !> All of `steps` but the sizes of nodes.
  subroutine find_reach(n, ptr, adjacent, order, steps)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), adjacent(0:*), order(0:n-1)
    type(elimination), intent(inout) :: steps
    integer(i4), allocatable :: place(:), mark(:)   ! the step of a node; the step by which another was found to be reached last
    integer(i4) :: k, c, i, v, found

    allocate (steps%parent(0:n-1), steps%child(0:n-1), steps%sibling(0:n-1), steps%reach_size(0:n-1), place(0:n-1), mark(0:n-1))
    allocate (steps%reach_ptr(0:n), steps%reach(0:16*n+15))
    do k = 0, n - 1
      place(order(k)) = k
    end do
    steps%child = -1
    mark = -1
    found = 0
    do k = 0, n - 1
      v = order(k)
      steps%reach_ptr(k) = found
      call make_room(k, found, ptr(v+1) - ptr(v), steps)
      mark(k) = k
      steps%parent(k) = n
      do i = ptr(v), ptr(v+1) - 1
        call take(place(adjacent(i)), k, mark, steps%reach, found, steps%parent(k))
      end do
      c = steps%child(k)
      do while (c >= 0)
        do i = steps%reach_ptr(c), steps%reach_ptr(c+1) - 1
          call take(steps%reach(i), k, mark, steps%reach, found, steps%parent(k))
        end do
        c = steps%sibling(c)
      end do
      steps%reach_ptr(k+1) = found
      steps%reach_size(k) = 0
      do i = steps%reach_ptr(k), found - 1
        steps%reach_size(k) = steps%reach_size(k) + steps%node_size(steps%reach(i))
      end do
      if (steps%parent(k) < n) then
        steps%sibling(k) = steps%child(steps%parent(k))
        steps%child(steps%parent(k)) = k
      end if
    end do
  end subroutine find_reach

  !> Room for what step k can reach at most: so many neighbours, and what its children reach.
  subroutine make_room(k, found, neighbours, steps)
    integer(i4), intent(in) :: k, found, neighbours
    type(elimination), intent(inout) :: steps
    integer(i4), allocatable :: grown(:)
    integer(i4) :: c, need

    need = neighbours
    c = steps%child(k)
    do while (c >= 0)
      need = need + steps%reach_ptr(c+1) - steps%reach_ptr(c)
      c = steps%sibling(c)
    end do
    if (found + need <= size(steps%reach)) return
    allocate (grown(0:2*size(steps%reach)+need-1))
    grown(0:found-1) = steps%reach(0:found-1)
    call move_alloc(grown, steps%reach)
  end subroutine make_room

  !> Step k reaches a step, unless this is not later, or known.
  pure subroutine take(step, k, mark, reach, found, parent)
    integer(i4), value :: step
    integer(i4), intent(in) :: k
    integer(i4), intent(inout) :: mark(0:*), reach(0:*), found, parent

    if (step <= k) return
    if (mark(step) == k) return
    mark(step) = k
    reach(found) = step
    found = found + 1
    parent = min(parent, step)
  end subroutine take

  !> post(i): the step that comes i-th when children precede their parents and subtrees stand together.
  pure subroutine find_postorder(n, steps, post)
    integer(i4), intent(in) :: n
    type(elimination), intent(in) :: steps
    integer(i4), intent(inout) :: post(0:n-1)
    integer(i4) :: stack(0:n-1), top, count, c, k

    count = n
    top = -1
    do k = 0, n - 1
      if (steps%parent(k) < n) cycle
      top = top + 1
      stack(top) = k
    end do
    ! parents from behind, so that the place of every node is known when it leaves the stack
    do while (top >= 0)
      k = stack(top)
      top = top - 1
      count = count - 1
      post(count) = k
      c = steps%child(k)
      do while (c >= 0)
        top = top + 1
        stack(top) = c
        c = steps%sibling(c)
      end do
    end do
  end subroutine find_postorder

  !> Fronts: front s has steps post(begins(s):begins(s+1)-1); front_of(i): that of step post(i).
  pure subroutine join_steps(n, steps, post, fronts, begins, front_of)
    integer(i4), intent(in) :: n
    type(elimination), intent(in) :: steps
    integer(i4), intent(in) :: post(0:n-1)
    integer(i4), intent(out) :: fronts
    integer(i4), intent(inout) :: begins(0:n), front_of(0:n-1)
    logical :: continues(0:n-1)
    integer(i4) :: i

    continues = .false.
    do i = 1, n - 1
      continues(i) = joins(steps, post(i-1), post(i))
    end do
    call number_runs(n, continues, fronts, begins, front_of)
  end subroutine join_steps

  !> Step k goes on where step `before` ended: it reaches the same, or little more.
  pure logical function joins(steps, before, k)
    type(elimination), intent(in) :: steps
    integer(i4), intent(in) :: before, k
    integer(i4) :: more

    joins = .false.
    if (steps%parent(before) /= k) return
    more = steps%reach_size(k) + steps%node_size(k) - steps%reach_size(before)
    joins = more == 0 .or. (steps%reach_size(k) <= small_front .and. more <= small_gain)
  end function joins

  !> Nodes of every front, and the tree of fronts.
  subroutine list_fronts(n, order, steps, post, begins, front_of, structure)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: order(0:n-1), post(0:n-1), begins(0:n), front_of(0:n-1)
    type(elimination), intent(in) :: steps
    type(tree), intent(inout) :: structure
    integer(i4) :: after(0:n-1), last, i, j, s, count, reached   ! after: the inverse of `post`

    do i = 0, n - 1
      after(post(i)) = i
    end do
    count = 0
    do s = 0, structure%fronts - 1
      last = post(begins(s+1)-1)
      count = count + begins(s+1) - begins(s) + steps%reach_ptr(last+1) - steps%reach_ptr(last)
    end do
    allocate (structure%pivots(0:n-1), structure%list_ptr(0:n), structure%parent(0:n-1), structure%list(0:max(count, 1)-1))
    count = 0
    do s = 0, structure%fronts - 1
      structure%list_ptr(s) = count
      structure%pivots(s) = begins(s+1) - begins(s)
      do i = begins(s), begins(s+1) - 1
        structure%list(count) = i
        count = count + 1
      end do
      last = post(begins(s+1)-1)
      reached = count
      do j = steps%reach_ptr(last), steps%reach_ptr(last+1) - 1
        structure%list(count) = after(steps%reach(j))
        count = count + 1
      end do
      call sort(count - reached, structure%list(reached:count-1))
      structure%parent(s) = -1
      if (steps%parent(last) < n) structure%parent(s) = front_of(after(steps%parent(last)))
      do i = structure%list_ptr(s), count - 1
        structure%list(i) = order(post(structure%list(i)))
      end do
    end do
    structure%list_ptr(structure%fronts) = count
  end subroutine list_fronts

  !> Sorts a list by Shell's method; lists are short.
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
