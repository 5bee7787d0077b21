!> Order of elimination by minimum degree: the node with fewest neighbours comes next, among several of them the first one.
!>
!> Neighbours are sets of bits, of which a node has those of a range of words only.  Nodes of one clique, such as contacts of the same two
!> bodies or the rows of a hinge, often have the same neighbours; they are eliminated together, which changes no step of the order.
module minimum_degree
  use kinds, only: dp, i4, i8
  implicit none
  private
  public :: find_order

  !> What is left of the graph.  A node counts as a neighbour of itself.
  type :: remaining_graph
    integer(i8), allocatable :: adjacent(:,:)            !< (0:words-1,0:n-1) bits of neighbours, set
    integer(i4), allocatable :: from(:), to(:)           !< (0:n-1) in these words
    integer(i4), allocatable :: degree(:)                !< (0:64 words-1) numbers of neighbours; huge: of no node that is left
    integer(i4), allocatable :: lowest(:)                !< (0:words-1) least degree of 64 nodes
  end type remaining_graph

contains

  !> Finds the order for a graph with neighbours col(ptr(a):ptr(a+1)-1), both ways, and the later nodes reached(reached_ptr(k):reached_ptr(k+1)-1),
  !> ascending, that are neighbours of order(k) when it is eliminated.
  !>
  !> `products` is the sum of the squares of their numbers.  If it exceeds `most`, the order ends there and is not `complete`.
  subroutine find_order(n, ptr, col, most, order, reached_ptr, reached, products, complete)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), col(0:*)
    real(dp), intent(in) :: most
    integer(i4), intent(out) :: order(0:n-1), reached_ptr(0:n)
    integer(i4), allocatable, intent(out) :: reached(:)
    real(dp), intent(out) :: products
    logical, intent(out) :: complete
    type(remaining_graph) :: graph
    integer(i4) :: neighbour(0:n-1), together(0:n-1)     ! neighbours of a node; the node and others that are eliminated with it
    integer(i4) :: k, i, j, count, several

    allocate (reached(0:max(16, 8*ptr(n))-1))
    call set_graph(n, ptr, col, graph)
    products = 0.0_dp
    reached_ptr(0) = 0
    k = 0
    do while (k < n)
      together(0) = first_of_lowest(graph)
      call eliminate(graph, neighbour, count, together, several)
      call make_room(reached_ptr(k) + several*count, reached_ptr(k), reached)
      do i = 0, several - 1
        order(k) = together(i)
        reached_ptr(k+1) = reached_ptr(k)
        do j = 0, count - 1
          if (neighbour(j) == together(i)) cycle
          neighbour(reached_ptr(k+1)-reached_ptr(k)) = neighbour(j)
          reached(reached_ptr(k+1)) = neighbour(j)
          reached_ptr(k+1) = reached_ptr(k+1) + 1
        end do
        count = reached_ptr(k+1) - reached_ptr(k)
        products = products + real(count, dp)**2
        k = k + 1
        complete = .not. products > most
        if (.not. complete) return
      end do
    end do
    complete = .true.
  end subroutine find_order

  !> Sets the neighbours of all nodes.
  subroutine set_graph(n, ptr, col, graph)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), col(0:*)
    type(remaining_graph), intent(inout) :: graph
    integer(i4) :: words, a, c, k

    words = (n + 63)/64
    allocate (graph%adjacent(0:words-1,0:n-1), graph%degree(0:64*words-1), graph%lowest(0:words-1))
    allocate (graph%from(0:n-1), graph%to(0:n-1))
    do a = 0, n - 1
      graph%from(a) = a/64
      graph%to(a) = a/64
    end do
    do a = 0, n - 1
      do k = ptr(a), ptr(a+1) - 1
        c = col(k)
        graph%from(a) = min(graph%from(a), c/64)
        graph%to(a) = max(graph%to(a), c/64)
      end do
    end do
    do a = 0, n - 1
      graph%adjacent(graph%from(a):graph%to(a),a) = 0_i8
      graph%adjacent(a/64,a) = ibset(0_i8, mod(a, 64))
    end do
    do a = 0, n - 1
      do k = ptr(a), ptr(a+1) - 1
        c = col(k)
        graph%adjacent(c/64,a) = ibset(graph%adjacent(c/64,a), mod(c, 64))
      end do
    end do
    graph%degree(n:) = huge(1_i4)
    do a = 0, n - 1
      graph%degree(a) = degree_of(graph, a)
    end do
    do k = 0, words - 1
      call find_lowest(graph, k)
    end do
  end subroutine set_graph

  !> Number of neighbours of a node.
  pure integer(i4) function degree_of(graph, a)
    type(remaining_graph), intent(in) :: graph
    integer(i4), intent(in) :: a
    integer(i4) :: w

    degree_of = 0
    do w = graph%from(a), graph%to(a)
      degree_of = degree_of + int(popcnt(graph%adjacent(w,a)), i4)
    end do
  end function degree_of

  !> Finds the least degree among the nodes of a word.
  pure subroutine find_lowest(graph, word)
    type(remaining_graph), intent(inout) :: graph
    integer(i4), intent(in) :: word
    graph%lowest(word) = minval(graph%degree(64*word:64*word+63))
  end subroutine find_lowest

  !> First node of the lowest degree.
  pure integer(i4) function first_of_lowest(graph) result(v)
    type(remaining_graph), intent(in) :: graph
    integer(i4) :: word

    word = minloc(graph%lowest, dim=1) - 1
    v = 64*word
    do while (graph%degree(v) /= graph%lowest(word))
      v = v + 1
    end do
  end function first_of_lowest

  !> Takes node together(0) out of the graph, whose neighbours become neighbours of one another, and with it those that have no other neighbours than it.
  !>
  !> Of the degrees that remain, theirs would be the least, so they would come next, one by one.
  subroutine eliminate(graph, neighbour, count, together, several)
    type(remaining_graph), intent(inout) :: graph
    integer(i4), intent(inout) :: neighbour(0:*)   !< out: neighbours of the node, ascending
    integer(i4), intent(out) :: count
    integer(i4), intent(inout) :: together(0:*)    !< out, behind the node: the others, ascending
    integer(i4), intent(out) :: several            !< number of nodes that are eliminated
    integer(i4) :: v, a, j, w

    v = together(0)
    several = 1
    call list_neighbours(graph, v, neighbour, count)
    do j = 0, count - 1
      a = neighbour(j)
      call widen(graph, a, graph%from(v), graph%to(v))
      do w = graph%from(v), graph%to(v)
        graph%adjacent(w,a) = ior(graph%adjacent(w,a), graph%adjacent(w,v))
      end do
      call take_out(v, a)
      graph%degree(a) = degree_of(graph, a)
      if (graph%degree(a) > count) cycle
      together(several) = a
      several = several + 1
    end do
    do j = 1, several - 1
      graph%degree(together(j)) = huge(1_i4)
    end do
    graph%degree(v) = huge(1_i4)
    call find_lowest(graph, v/64)
    do j = 0, count - 1
      a = neighbour(j)
      if (graph%degree(a) < huge(1_i4) .and. several > 1) call take_others_out(a)
      if (j < count - 1) then
        if (neighbour(j+1)/64 == a/64) cycle
      end if
      call find_lowest(graph, a/64)
    end do

  contains

    !> Node a, of those that remain, has no neighbours any more among the nodes that are eliminated with v.
    subroutine take_others_out(a)
      integer(i4), intent(in) :: a
      integer(i4) :: i

      do i = 1, several - 1
        call take_out(together(i), a)
      end do
      graph%degree(a) = graph%degree(a) - (several - 1)
    end subroutine take_others_out

    !> Node b is no neighbour of node a any more.
    subroutine take_out(b, a)
      integer(i4), intent(in) :: b, a
      graph%adjacent(b/64,a) = ibclr(graph%adjacent(b/64,a), mod(b, 64))
    end subroutine take_out
  end subroutine eliminate

  !> Lists the neighbours of node v but v itself.
  pure subroutine list_neighbours(graph, v, neighbour, count)
    type(remaining_graph), intent(in) :: graph
    integer(i4), intent(in) :: v
    integer(i4), intent(inout) :: neighbour(0:*)
    integer(i4), intent(out) :: count
    integer(i8) :: bits
    integer(i4) :: w

    count = 0
    do w = graph%from(v), graph%to(v)
      bits = graph%adjacent(w,v)
      if (w == v/64) bits = ibclr(bits, mod(v, 64))
      do while (bits /= 0_i8)
        neighbour(count) = 64*w + int(trailz(bits), i4)
        bits = iand(bits, bits - 1_i8)
        count = count + 1
      end do
    end do
  end subroutine list_neighbours

  !> Node a gets words from `first` to `last`.
  pure subroutine widen(graph, a, first, last)
    type(remaining_graph), intent(inout) :: graph
    integer(i4), intent(in) :: a, first, last

    if (first < graph%from(a)) then
      graph%adjacent(first:graph%from(a)-1,a) = 0_i8
      graph%from(a) = first
    end if
    if (last > graph%to(a)) then
      graph%adjacent(graph%to(a)+1:last,a) = 0_i8
      graph%to(a) = last
    end if
  end subroutine widen

  !> Makes room for so many nodes; the first `used` stay.
  pure subroutine make_room(needed, used, reached)
    integer(i4), intent(in) :: needed, used
    integer(i4), allocatable, intent(inout) :: reached(:)
    integer(i4), allocatable :: grown(:)

    if (needed <= size(reached)) return
    allocate (grown(0:2*needed-1))
    grown(0:used-1) = reached(0:used-1)
    call move_alloc(grown, reached)
  end subroutine make_room
end module minimum_degree
