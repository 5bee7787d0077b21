!> What elements and primitives of shapes have in common: connected items, elements that share a node, faces, places of faces' corners.
!> All numbers count from zero.
module mesh_connections
  use kinds, only: i4, i8
  use connected_sets, only: connect
  use pair_sort, only: order
  implicit none
  private
  public :: label_connected, group_incidences, list_neighbours, list_faces, find_equal_faces, place_corners

contains

  !> Labels items by connected component of the pairs (one, two); labels ascend with first items.
  subroutine label_connected(count, pairs, one, two, label)
    integer(i4), intent(in) :: count, pairs
    integer(i4), intent(in) :: one(pairs), two(pairs)
    integer(i4), intent(inout) :: label(0:count-1)
    integer(i4), allocatable :: parent(:)   ! the first item known of the component, or one that is nearer to it
    integer(i4) :: i

    allocate (parent(0:count-1))
    parent = [(i, i = 0, count - 1)]
    do i = 1, pairs
      call connect(parent, one(i), two(i))
    end do
    call number_components(parent, label)
  end subroutine label_connected

  !> Numbers components in the order of their first items.
  pure subroutine number_components(parent, label)
    integer(i4), intent(in) :: parent(0:)
    integer(i4), intent(inout) :: label(0:)
    integer(i4) :: i, labels

    labels = 0
    do i = 0, size(parent, kind=i4) - 1
      if (parent(i) == i) then
        label(i) = labels
        labels = labels + 1
      else
        label(i) = label(parent(i))   ! parents come first
      end if
    end do
  end subroutine number_components

  !> Labels the incidences of elements at some nodes: those of one node have one label if their elements are connected through faces at the
  !> node.  Labels ascend with first incidences.
  !>
  !>   first         start of each element's nodes in `node`, and the number of all
  !>   place         of nodes in `node`: number of the incidence; -1: the node is none of these
  !>   element, neighbour, corner   of faces: element, the same face of the other element or -1, and nodes; -1 after the third of a triangle
  !>   apart         1: a face that connects nothing
  subroutine group_incidences(elements, listed, faces, incidences, first, node, place, element, neighbour, corner, apart, label)
    integer(i4), intent(in) :: elements, listed, faces, incidences
    integer(i8), intent(in) :: first(0:elements), node(0:listed-1), element(0:faces-1), neighbour(0:faces-1), corner(4, 0:faces-1)
    integer(i4), intent(in) :: place(0:listed-1), apart(0:faces-1)
    integer(i4), intent(inout) :: label(0:incidences-1)
    integer(i4), allocatable :: parent(:)
    integer(i4) :: i, f, k, one, two

    allocate (parent(0:incidences-1))
    parent = [(i, i = 0, incidences - 1)]
    do f = 0, faces - 1
      if (neighbour(f) <= f .or. apart(f) == 1) cycle   ! each face once
      do k = 1, 4
        if (corner(k, f) < 0) cycle
        one = incidence(element(f), corner(k, f))
        if (one < 0) cycle
        two = incidence(element(neighbour(f)), corner(k, f))
        call connect(parent, one, two)
      end do
    end do
    call number_components(parent, label)

  contains

    !> Returns the incidence of an element at one of its nodes.
    pure integer(i4) function incidence(e, n)
      integer(i8), intent(in) :: e, n
      integer(i8) :: i

      do i = first(e), first(e+1) - 1
        if (node(i) == n) exit
      end do
      incidence = place(i)
    end function incidence

  end subroutine group_incidences

  !> Lists the elements that share a node with each element, itself included, in ascending order.
  !>
  !>   first         start of each element's nodes in `node`, and the number of all
  !>   node          numbers below `nodes`
  !>   neighbour     one list after another; `start` says where they begin, and how many there are.  There is room enough for the
  !>                 sum over all nodes of the square of the number of their elements
  subroutine list_neighbours(elements, listed, nodes, first, node, start, room, neighbour)
    integer(i4), intent(in) :: elements, listed, nodes, room
    integer(i4), intent(in) :: first(0:elements), node(0:listed-1)
    integer(i4), intent(inout) :: start(0:elements), neighbour(0:room-1)
    integer(i4), allocatable :: at(:), around(:), seen(:)
    integer(i4) :: e, i, j, n, other, total

    allocate (at(0:nodes), around(0:listed-1), seen(0:elements-1))
    at = 0
    do i = 0, listed - 1
      at(node(i)) = at(node(i)) + 1
    end do
    do n = 1, nodes
      at(n) = at(n) + at(n-1)
    end do
    do e = elements - 1, 0, -1
      do i = first(e), first(e+1) - 1
        at(node(i)) = at(node(i)) - 1   ! in the end the start of the node's elements
        around(at(node(i))) = e
      end do
    end do
    seen = -1
    total = 0
    do e = 0, elements - 1
      start(e) = total
      do i = first(e), first(e+1) - 1
        do j = at(node(i)), at(node(i)+1) - 1
          other = around(j)
          if (seen(other) == e) cycle
          seen(other) = e
          call put(neighbour(start(e):total), other)
          total = total + 1
        end do
      end do
    end do
    start(elements) = total
  end subroutine list_neighbours

  !> Puts a number into an ascending list whose last place is free.
  pure subroutine put(list, number)
    integer(i4), intent(inout) :: list(:)
    integer(i4), intent(in) :: number
    integer :: k

    k = size(list)
    do while (k > 1)
      if (list(k-1) < number) exit
      list(k) = list(k-1)
      k = k - 1
    end do
    list(k) = number
  end subroutine put

  !> Lists the faces of some elements, in the order of these elements and of the faces in them.
  !>
  !>   first         start of each element's nodes in `node`, and the number of all
  !>   chosen        elements
  !>   count, position   of a type of element with so many nodes: number of faces, and which nodes of the element are their corners
  !>   element, number, corner   of faces: element, number in it, nodes; -1 after the third of a triangle
  subroutine list_faces(elements, listed, types, some, faces, first, node, chosen, count, position, element, number, corner)
    integer(i4), intent(in) :: elements, listed, types, some, faces
    integer(i8), intent(in) :: first(0:elements), node(0:listed-1), chosen(0:some-1)
    integer(i4), intent(in) :: count(0:types-1), position(4, 6, 0:types-1)
    integer(i4), intent(inout) :: element(0:faces-1), number(0:faces-1), corner(4, 0:faces-1)
    integer(i8) :: e, start
    integer(i4) :: i, k, f, kind, c

    f = 0
    do i = 0, some - 1
      e = chosen(i)
      start = first(e)
      kind = int(first(e+1) - start, i4)
      do k = 1, count(kind)
        element(f) = int(e, i4)
        number(f) = k - 1
        do c = 1, 4
          corner(c, f) = -1
          if (position(c, k, kind) >= 0) corner(c, f) = int(node(start+position(c, k, kind)), i4)
        end do
        f = f + 1
      end do
    end do
  end subroutine list_faces

  !> Finds the first face with the same nodes as each face, which is often the face itself.
  !>
  !>   corner        nodes of faces in any order, below `nodes`; -1 after the third of a triangle
  !>
  !> Faces are sorted by counting, from their highest nodes to their lowest ones: the time grows with the number of faces whatever they are.
  subroutine find_equal_faces(faces, nodes, corner, first)
    integer(i4), intent(in) :: faces, nodes
    integer(i4), intent(in) :: corner(4, 0:faces-1)
    integer(i4), intent(inout) :: first(0:faces-1)
    integer(i4), allocatable :: key(:, :), order(:), sorted(:), start(:)
    integer(i4) :: f, k, i, a, b

    allocate (key(4, 0:faces-1), order(0:faces-1), sorted(0:faces-1), start(-1:nodes))
    do f = 0, faces - 1
      key(:, f) = corner(:, f)
      call ascend(key(:, f))
      order(f) = f
    end do
    do k = 4, 1, -1
      start = 0
      do f = 0, faces - 1
        start(key(k, f)+1) = start(key(k, f)+1) + 1
      end do
      do i = 0, nodes
        start(i) = start(i) + start(i-1)   ! in the end the first place of faces with node i
      end do
      do i = 0, faces - 1
        f = order(i)
        sorted(start(key(k, f))) = f
        start(key(k, f)) = start(key(k, f)) + 1
      end do
      order = sorted
    end do
    a = -1
    do i = 0, faces - 1
      b = order(i)
      if (a >= 0) then
        if (any(key(:, b) /= key(:, a))) a = -1
      end if
      if (a < 0) a = b
      first(b) = a
    end do
  end subroutine find_equal_faces

  !> Sorts four numbers.
  pure subroutine ascend(v)
    integer(i4), intent(inout) :: v(4)

    call order(v(1), v(2))
    call order(v(3), v(4))
    call order(v(1), v(3))
    call order(v(2), v(4))
    call order(v(2), v(3))
  end subroutine ascend

  !> Finds the position of every face corner's vertex in the vertex list of the face's primitive; `failed` is the number of the first
  !> corner whose vertex its primitive does not list, or -1.
  subroutine place_corners(primitives, faces, corners, vertices, listed, vertex_ptr, vertex_count, vertex_list, face_ptr, &
                           face_count, corner_ptr, corner_count, corner, place, failed)
    integer(i4), intent(in) :: primitives, faces, corners, vertices, listed
    integer(i4), intent(in) :: vertex_ptr(0:primitives-1), vertex_count(0:primitives-1), vertex_list(0:listed-1)
    integer(i4), intent(in) :: face_ptr(0:primitives-1), face_count(0:primitives-1)
    integer(i4), intent(in) :: corner_ptr(0:faces-1), corner_count(0:faces-1), corner(0:corners-1)
    integer(i4), intent(inout) :: place(0:corners-1)
    integer(i4), intent(out) :: failed
    integer(i4), allocatable :: position(:), owner(:)
    integer(i4) :: c, f, p, v

    allocate (position(0:vertices-1), owner(0:vertices-1))
    failed = -1
    owner = -1
    do p = 0, primitives - 1
      do v = 0, vertex_count(p) - 1
        position(vertex_list(vertex_ptr(p)+v)) = v
        owner(vertex_list(vertex_ptr(p)+v)) = p
      end do
      do f = face_ptr(p), face_ptr(p) + face_count(p) - 1
        do c = corner_ptr(f), corner_ptr(f) + corner_count(f) - 1
          if (owner(corner(c)) == p) then
            place(c) = position(corner(c))
          else if (failed < 0) then
            failed = c
          end if
        end do
      end do
    end do
  end subroutine place_corners

end module mesh_connections
