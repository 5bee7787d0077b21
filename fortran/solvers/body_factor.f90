!> LU factors of I + sum over rows of H^T G H, the matrix of a contact problem after elimination of reactions
!> instead of velocities.
!>
!> With W = H H^T (H: blocks H' of local_dynamics, scaled) the equations (A W + Z) x = f of rows have the solution
!>
!>   x = Z^-1 (f - A H p),   (I + H^T Z^-1 A H) p = H^T Z^-1 f,
!>
!> with one momentum p per velocity triple.  All contacts of two bodies are one edge of this matrix's graph, and there are fewer
!> bodies than contacts.  Example: a wall of 100 x 100 blocks has 79 204 contacts; factors by rows do not fit in memory, these
!> hold ten million numbers.  The method is multifrontal (Duff and Reid 1983): nested dissection, fronts in postorder, rows assembled as elements.
module body_factor
  use kinds, only: dp, i4, i8
  use dense_front, only: partial_lu, padded
  use dissection, only: dissect
  use ordered_lists, only: number_runs
  use elimination_tree, only: tree, analyse_tree
  implicit none
  private
  public :: body_lu, analyse_bodies, factorise_bodies, solve_bodies

  type :: body_lu
    integer(i4) :: fronts = 0
    integer(i4), allocatable :: pivots(:)                !< (0:fronts-1) triples that a front eliminates
    integer(i4), allocatable :: node_ptr(:), node(:)     !< triples of a front: its pivots, then those coupled with them
    integer(i4), allocatable :: relative(:)              !< (as node) place of coupled triples in the parent's list
    integer(i4), allocatable :: parent(:), children(:)   !< (0:fronts-1) front to which the Schur complement is added; number of fronts that a front takes
    integer(i4), allocatable :: row_ptr(:), row(:)       !< rows assembled in a front
    integer(i8), allocatable :: value_ptr(:)             !< (0:fronts)
    integer(i4), allocatable :: place(:)                 !< (0:nodes-1) work space
    real(dp), allocatable :: value(:), front(:), stack(:), x(:)
    real(dp) :: products = 0.0_dp                        !< multiplications of one factorisation
  end type body_lu

contains

  !> Finds the fronts for rows with triples node(entry_ptr(a):entry_ptr(a+1)-1), numbered from 0 to nodes-1, without values.
  subroutine analyse_bodies(n, nodes, entry_ptr, node, factor)
    integer(i4), intent(in) :: n, nodes
    integer(i4), intent(in) :: entry_ptr(0:n), node(0:*)
    type(body_lu), intent(out) :: factor
    type(tree) :: structure
    integer(i4), allocatable :: group(:), group_ptr(:), edge_ptr(:), edge(:), order(:), eliminated_by(:)
    integer(i4) :: groups
    integer(i8) :: deepest, widest

    call find_groups(n, nodes, entry_ptr, node, groups, group, group_ptr, edge_ptr, edge)
    allocate(order(0:groups-1), eliminated_by(0:groups-1))
    call dissect(groups, edge_ptr, edge, order)
    call analyse_tree(groups, edge_ptr, edge, group_ptr, order, structure)
    call list_triples(structure, group_ptr, factor, eliminated_by, widest)
    call relate(factor, nodes)
    call list_rows(n, entry_ptr, node, group, eliminated_by, factor)
    call simulate_stack(factor, deepest)
    allocate(factor%value(0:factor%value_ptr(factor%fronts)-1), factor%front(0:max(widest, 1_i8)-1))
    allocate(factor%stack(0:max(deepest, 1_i8)-1), factor%x(0:max(3*nodes, 1)-1))
  end subroutine analyse_bodies

  !> Lists the triples of the fronts, which are those of their groups, and counts their values and children.
  subroutine list_triples(structure, group_ptr, factor, eliminated_by, widest)
    type(tree), intent(in) :: structure
    integer(i4), intent(in) :: group_ptr(0:)
    type(body_lu), intent(inout) :: factor
    integer(i4), intent(inout) :: eliminated_by(0:)   !< front of which a group is a pivot
    integer(i8), intent(out) :: widest                !< numbers of the largest front, columns padded
    integer(i4) :: s, g, k, m, i, j, place
    integer(i8) :: values

    factor%fronts = structure%fronts
    allocate(factor%pivots(0:factor%fronts-1), factor%node_ptr(0:factor%fronts), factor%parent(0:factor%fronts-1))
    allocate(factor%children(0:factor%fronts-1), factor%value_ptr(0:factor%fronts))
    factor%parent = structure%parent
    factor%children = 0
    place = 0
    do i = 0, structure%list_ptr(factor%fronts) - 1
      g = structure%list(i)
      place = place + group_ptr(g+1) - group_ptr(g)
    end do
    allocate(factor%node(0:max(place, 1)-1))
    place = 0
    values = 0
    widest = 0
    do s = 0, factor%fronts - 1
      factor%node_ptr(s) = place
      do i = structure%list_ptr(s), structure%list_ptr(s+1) - 1
        g = structure%list(i)
        if (i - structure%list_ptr(s) < structure%pivots(s)) eliminated_by(g) = s
        do j = group_ptr(g), group_ptr(g+1) - 1
          factor%node(place) = j
          place = place + 1
        end do
        if (i - structure%list_ptr(s) == structure%pivots(s) - 1) factor%pivots(s) = place - factor%node_ptr(s)
      end do
      k = 3*factor%pivots(s)
      m = 3*(place - factor%node_ptr(s))
      factor%value_ptr(s) = values
      values = values + int(k, i8)*(2*m - k)
      widest = max(widest, int(padded(m), i8)*(m + 4))
      if (factor%parent(s) >= 0) factor%children(factor%parent(s)) = factor%children(factor%parent(s)) + 1
      factor%products = factor%products + elimination_products(real(k, dp), real(m - k, dp))
    end do
    factor%node_ptr(factor%fronts) = place
    factor%value_ptr(factor%fronts) = values
  end subroutine list_triples

  !> Lists rows by the front that eliminates the first of their triples.
  subroutine list_rows(n, entry_ptr, node, group, eliminated_by, factor)
    integer(i4), intent(in) :: n, entry_ptr(0:n), node(0:*)
    integer(i4), intent(in) :: group(0:)              !< of triples
    integer(i4), intent(in) :: eliminated_by(0:)      !< front of which a group is a pivot
    type(body_lu), intent(inout) :: factor
    integer(i4), allocatable :: first(:), fill(:)
    integer(i4) :: a, e, s

    allocate(factor%row_ptr(0:factor%fronts), factor%row(0:max(n, 1)-1), first(0:max(n, 1)-1), fill(0:factor%fronts))
    fill = 0
    do a = 0, n - 1
      first(a) = factor%fronts - 1
      do e = entry_ptr(a), entry_ptr(a+1) - 1
        first(a) = min(first(a), eliminated_by(group(node(e))))
      end do
      fill(first(a)+1) = fill(first(a)+1) + 1
    end do
    do s = 1, factor%fronts
      fill(s) = fill(s) + fill(s-1)
    end do
    factor%row_ptr = fill
    do a = 0, n - 1
      factor%row(fill(first(a))) = a
      fill(first(a)) = fill(first(a)) + 1
    end do
  end subroutine list_rows

  !> Multiplications that k pivots of a front with r further columns take.
  pure real(dp) function elimination_products(k, r)
    real(dp), intent(in) :: k, r
    elimination_products = k**3/3.0_dp + k**2*r + k*r**2
  end function elimination_products

  !> Finds the places of coupled triples in the lists of the parents.
  subroutine relate(factor, nodes)
    type(body_lu), intent(inout) :: factor
    integer(i4), intent(in) :: nodes    !< triples
    integer(i4) :: first(0:factor%fronts-1), next(0:factor%fronts-1), s, c, i

    allocate(factor%relative(0:size(factor%node)-1), factor%place(0:max(nodes, 1)-1))
    first = -1
    do s = factor%fronts - 1, 0, -1
      if (factor%parent(s) < 0) cycle
      next(s) = first(factor%parent(s))
      first(factor%parent(s)) = s
    end do
    factor%relative = 0
    do s = 0, factor%fronts - 1
      do i = factor%node_ptr(s), factor%node_ptr(s+1) - 1
        factor%place(factor%node(i)) = i - factor%node_ptr(s)
      end do
      c = first(s)
      do while (c >= 0)
        do i = factor%node_ptr(c) + factor%pivots(c), factor%node_ptr(c+1) - 1
          factor%relative(i) = factor%place(factor%node(i))
        end do
        c = next(c)
      end do
    end do
  end subroutine relate

  !> Computes the largest size of the stack of Schur complements.
  subroutine simulate_stack(factor, deepest)
    type(body_lu), intent(in) :: factor
    integer(i8), intent(out) :: deepest
    integer(i8) :: depth, size(0:factor%fronts)
    integer(i4) :: s, c, top

    depth = 0
    deepest = 0
    top = 0
    do s = 0, factor%fronts - 1
      do c = 1, factor%children(s)
        top = top - 1
        depth = depth - size(top)
      end do
      if (factor%parent(s) < 0) cycle
      size(top) = int(rest_of(factor, s), i8)**2
      depth = depth + size(top)
      top = top + 1
      deepest = max(deepest, depth)
    end do
  end subroutine simulate_stack

  !> Number of columns of a front's Schur complement.
  pure integer(i4) function rest_of(factor, s)
    type(body_lu), intent(in) :: factor
    integer(i4), intent(in) :: s
    rest_of = 3*(factor%node_ptr(s+1) - factor%node_ptr(s) - factor%pivots(s))
  end function rest_of

  !> Finds groups of successive triples on which the same rows act (those of a rigid body), and the graph of groups.
  subroutine find_groups(n, nodes, entry_ptr, node, groups, group, group_ptr, edge_ptr, edge)
    integer(i4), intent(in) :: n, nodes
    integer(i4), intent(in) :: entry_ptr(0:n), node(0:*)
    integer(i4), intent(out) :: groups
    integer(i4), allocatable, intent(out) :: group(:), group_ptr(:), edge_ptr(:), edge(:)
    integer(i4), allocatable :: row_ptr(:), row(:), mark(:), grown(:)
    logical, allocatable :: alike(:)     ! of triples: the rows of the one before act on it, too
    integer(i4) :: a, e, t, g, i, count

    allocate(row_ptr(0:nodes), row(0:max(entry_ptr(n), 1)-1), mark(0:nodes), group(0:max(nodes, 1)-1), group_ptr(0:nodes))
    mark = 0
    do e = 0, entry_ptr(n) - 1
      mark(node(e)+1) = mark(node(e)+1) + 1
    end do
    do t = 1, nodes
      mark(t) = mark(t) + mark(t-1)
    end do
    row_ptr = mark
    do a = 0, n - 1
      do e = entry_ptr(a), entry_ptr(a+1) - 1
        row(mark(node(e))) = a
        mark(node(e)) = mark(node(e)) + 1
      end do
    end do
    allocate (alike(0:nodes-1), source=.false.)
    do t = 1, nodes - 1
      alike(t) = row_ptr(t+1) - row_ptr(t) == row_ptr(t) - row_ptr(t-1)
      if (alike(t)) alike(t) = all(row(row_ptr(t):row_ptr(t+1)-1) == row(row_ptr(t-1):row_ptr(t)-1))
    end do
    call number_runs(nodes, alike, groups, group_ptr, group)
    allocate(edge_ptr(0:groups), edge(0:8*groups+15))
    mark = -1
    count = 0
    do g = 0, groups - 1
      edge_ptr(g) = count
      mark(g) = g
      t = group_ptr(g)
      do i = row_ptr(t), row_ptr(t+1) - 1
        do e = entry_ptr(row(i)), entry_ptr(row(i)+1) - 1
          a = group(node(e))
          if (mark(a) == g) cycle
          mark(a) = g
          if (count == size(edge)) then
            allocate(grown(0:2*count-1))
            grown(0:count-1) = edge
            call move_alloc(grown, edge)
          end if
          edge(count) = a
          count = count + 1
        end do
      end do
    end do
    edge_ptr(groups) = count
  end subroutine find_groups

  !> Factorises for H (3,3,0:*) and G (3,3,0:n-1); `regular` is false if a pivot vanishes.
  subroutine factorise_bodies(entry_ptr, node, h, g, factor, regular)
    integer(i4), intent(in) :: entry_ptr(0:*), node(0:*)
    real(dp), intent(in) :: h(3,3,0:*), g(3,3,0:*)
    type(body_lu), intent(inout) :: factor
    logical, intent(out) :: regular
    integer(i8) :: depth, at
    integer(i4) :: s, c, i, m, k, ld, first, top
    integer(i4) :: waiting(0:factor%fronts)   ! fronts whose Schur complement is on the stack

    regular = .true.
    depth = 0
    top = 0
    do s = 0, factor%fronts - 1
      first = factor%node_ptr(s)
      m = 3*(factor%node_ptr(s+1) - first)
      k = 3*factor%pivots(s)
      ld = padded(m)
      factor%front(0:int(ld, i8)*(m+4)-1) = 0.0_dp
      do i = first, factor%node_ptr(s+1) - 1
        factor%place(factor%node(i)) = 3*(i - first)
      end do
      do i = 0, k - 1
        factor%front(int(i, i8)*(ld + 1)) = 1.0_dp
      end do
      do i = factor%row_ptr(s), factor%row_ptr(s+1) - 1
        call add_row(entry_ptr(factor%row(i)), entry_ptr(factor%row(i)+1), node, h, g(:,:,factor%row(i)), factor%place, ld, &
                     factor%front)
      end do
      do c = 1, factor%children(s)
        top = top - 1
        i = waiting(top)
        depth = depth - int(rest_of(factor, i), i8)**2
        call add_rest(rest_of(factor, i)/3, factor%relative(factor%node_ptr(i)+factor%pivots(i)), factor%stack(depth), ld, &
                      factor%front)
      end do
      call partial_lu(m, k, ld, factor%front, regular)
      if (.not. regular) return
      at = factor%value_ptr(s)
      call keep(m, k, ld, factor%front, factor%value(at))
      if (factor%parent(s) < 0) cycle
      call push(m, k, ld, factor%front, factor%stack(depth))
      depth = depth + int(m - k, i8)**2
      waiting(top) = s
      top = top + 1
    end do
  end subroutine factorise_bodies

  !> Adds H^T G H of one row to a front.
  pure subroutine add_row(first, last, node, h, g, place, ld, front)
    integer(i4), intent(in) :: first, last, ld
    integer(i4), intent(in) :: node(0:*), place(0:*)
    real(dp), intent(in) :: h(3,3,0:*), g(3,3)
    real(dp), intent(inout) :: front(0:ld-1,0:*)
    real(dp) :: gh(3)
    integer(i4) :: e, f, c, i, j

    do f = first, last - 1
      j = place(node(f))
      do c = 1, 3
        gh = g(:,1)*h(1,c,f) + g(:,2)*h(2,c,f) + g(:,3)*h(3,c,f)
        do e = first, last - 1
          i = place(node(e))
          front(i,j+c-1) = front(i,j+c-1) + (h(1,1,e)*gh(1) + h(2,1,e)*gh(2) + h(3,1,e)*gh(3))
          front(i+1,j+c-1) = front(i+1,j+c-1) + (h(1,2,e)*gh(1) + h(2,2,e)*gh(2) + h(3,2,e)*gh(3))
          front(i+2,j+c-1) = front(i+2,j+c-1) + (h(1,3,e)*gh(1) + h(2,3,e)*gh(2) + h(3,3,e)*gh(3))
        end do
      end do
    end do
  end subroutine add_row

  !> Adds a child's Schur complement, of r triples, to the places of its triples.
  pure subroutine add_rest(r, relative, rest, ld, front)
    integer(i4), intent(in) :: r, ld
    integer(i4), intent(in) :: relative(0:r-1)
    real(dp), intent(in) :: rest(0:3*r-1,0:3*r-1)
    real(dp), intent(inout) :: front(0:ld-1,0:*)
    integer(i4) :: i, j, c, to

    do j = 0, r - 1
      do c = 0, 2
        to = 3*relative(j) + c
        do i = 0, r - 1
          associate (x => front(3*relative(i):3*relative(i)+2,to))
            x = x + rest(3*i:3*i+2,3*j+c)
          end associate
        end do
      end do
    end do
  end subroutine add_rest

  !> Stores columns of L with the square part of U (m,k), then rows of U, transposed (m-k,k).
  pure subroutine keep(m, k, ld, front, value)
    integer(i4), intent(in) :: m, k, ld
    real(dp), intent(in) :: front(0:ld-1,0:*)
    real(dp), intent(inout) :: value(0:*)
    integer(i4) :: i, j

    do j = 0, k - 1
      value(j*m:(j+1)*m-1) = front(0:m-1,j)
    end do
    do i = k, m - 1
      do j = 0, k - 1
        value(k*m+j*(m-k)+i-k) = front(j,i)
      end do
    end do
  end subroutine keep

  pure subroutine push(m, k, ld, front, rest)
    integer(i4), intent(in) :: m, k, ld
    real(dp), intent(in) :: front(0:ld-1,0:*)
    real(dp), intent(inout) :: rest(0:m-k-1,0:m-k-1)
    rest = front(k:m-1,k:m-1)
  end subroutine push

  !> Solves p = (I + H^T G H)^-1 p in place, p (3,0:nodes-1).
  subroutine solve_bodies(factor, p)
    type(body_lu), intent(inout) :: factor
    real(dp), intent(inout) :: p(3,0:*)
    integer(i4) :: s, i, m, first

    do s = 0, factor%fronts - 1
      call load_front(factor, s, p, first, m)
      call forward(3*m, 3*factor%pivots(s), factor%value(factor%value_ptr(s)), factor%x)
      do i = 0, m - 1
        p(:,factor%node(first+i)) = factor%x(3*i:3*i+2)
      end do
    end do
    do s = factor%fronts - 1, 0, -1
      call load_front(factor, s, p, first, m)
      call backward(3*m, 3*factor%pivots(s), factor%value(factor%value_ptr(s)), factor%x)
      do i = 0, factor%pivots(s) - 1
        p(:,factor%node(first+i)) = factor%x(3*i:3*i+2)
      end do
    end do
  end subroutine solve_bodies

  !> Copies the triples of front s, `m` from `first` on, from p to the factor's work space x.
  pure subroutine load_front(factor, s, p, first, m)
    type(body_lu), intent(inout) :: factor
    integer(i4), intent(in) :: s
    real(dp), intent(in) :: p(3,0:*)
    integer(i4), intent(out) :: first, m
    integer(i4) :: i

    first = factor%node_ptr(s)
    m = factor%node_ptr(s+1) - first
    do i = 0, m - 1
      factor%x(3*i:3*i+2) = p(:,factor%node(first+i))
    end do
  end subroutine load_front

  pure subroutine forward(m, k, value, x)
    integer(i4), intent(in) :: m, k
    real(dp), intent(in) :: value(0:m-1,0:k-1)
    real(dp), intent(inout) :: x(0:*)
    integer(i4) :: j

    do j = 0, k - 1
      x(j+1:m-1) = x(j+1:m-1) - value(j+1:m-1,j)*x(j)
    end do
  end subroutine forward

  pure subroutine backward(m, k, value, x)
    integer(i4), intent(in) :: m, k
    real(dp), intent(in) :: value(0:*)
    real(dp), intent(inout) :: x(0:*)
    real(dp) :: total
    integer(i4) :: i, j

    do j = k - 1, 0, -1
      total = 0.0_dp
      !$omp simd reduction(+: total)
      do i = k, m - 1
        total = total + value(k*m+j*(m-k)+i-k)*x(i)
      end do
      x(j) = x(j) - total
    end do
    do j = k - 1, 0, -1
      x(j) = x(j)/value(j*m+j)
      x(0:j-1) = x(0:j-1) - value(j*m:j*m+j-1)*x(j)
    end do
  end subroutine backward
end module body_factor
