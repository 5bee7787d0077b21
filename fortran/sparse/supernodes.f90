!> Supernodes of a sparse Cholesky factor, columns with the same rows below, from the graph of a matrix (docs/theory.md, Time integration).
!>
!> They form panels of dense columns, which kernels process without indirect rows (supernodal_cholesky).
module supernodes
  use kinds, only: dp, i4
  use elimination_tree, only: tree, analyse_tree
  implicit none
  private
  public :: find_supernodes

  integer(i4), parameter :: narrow(3) = [8, 16, 48]               !< numbers of columns up to which panels may merge
  real(dp), parameter :: share(4) = [1.0_dp, 0.5_dp, 0.1_dp, 0.05_dp]  !< shares of zeros that merged panels may hold up to these sizes, and beyond

  !> Parts of the order of elimination: fronts, merged where that costs few zeros.
  type :: merging
    type(tree) :: fronts
    integer(i4), allocatable :: place(:)     !< (0:n-1) of a node in the final order
    integer(i4) :: parts = 0                 !< their number
    integer(i4), allocatable :: begins(:)    !< (0:n) first place of parts; that after the last part follows
    integer(i4), allocatable :: source(:)    !< (0:n) front whose rows a part has, the last one that went into it
    real(dp), allocatable :: zeros(:)        !< (0:n) pairs of nodes that are zeros of a part
  end type merging

contains

  !> Finds panels of the factor of a graph whose nodes are eliminated in a given order, up to changes that keep the fill.
  !>
  !>   ptr, adjacent  (0:nptr-1), nptr = n + 1; (0:nadjacent-1) neighbours adjacent(ptr(v):ptr(v+1)-1) of node v
  !>   order       (0:n-1) nodes in the given order of elimination
  !>   width       columns of a node
  !>   most        nodes of a panel
  !>   eliminated  (0:n-1) nodes in the final order of elimination; other arrays use places in this order
  !>   first       (0:nptr-1) start of panels; the last entry is n
  !>   row_ptr     (0:nptr-1), row (0:room-1): nodes below panels, row(row_ptr(p):row_ptr(p+1)-1), ascending
  !>   panels      number of panels
  !>   needed      number of rows; if it exceeds room, row and row_ptr are not set
  subroutine find_supernodes(n, nptr, ptr, nadjacent, adjacent, order, width, most, eliminated, first, row_ptr, room, row, &
                             panels, needed)
    integer(i4), intent(in) :: n, nptr, nadjacent, width, most, room
    integer(i4), intent(in) :: ptr(0:nptr-1), adjacent(0:nadjacent-1), order(0:n-1)
    integer(i4), intent(inout) :: eliminated(0:n-1), first(0:nptr-1), row_ptr(0:nptr-1), row(0:room-1)
    integer(i4), intent(out) :: panels, needed
    type(merging) :: whole
    integer(i4) :: sizes(0:n), p, i

    do i = 0, n
      sizes(i) = width*i
    end do
    call analyse_tree(n, ptr, adjacent, sizes, order, whole%fronts)
    call find_places(n, whole, eliminated)
    call merge_fronts(n, width, whole)
    panels = 0
    needed = 0
    do p = 0, whole%parts - 1
      call list_panels(whole, p, most, first, row_ptr, room, row, panels, needed)
    end do
    first(panels) = n
    if (needed <= room) row_ptr(panels) = needed
  end subroutine find_supernodes

  !> Sets the final order of elimination, in which the pivots of a front follow each other, and the places of nodes in it.
  subroutine find_places(n, whole, eliminated)
    integer(i4), intent(in) :: n
    type(merging), intent(inout) :: whole
    integer(i4), intent(inout) :: eliminated(0:n-1)
    integer(i4) :: s, i

    allocate (whole%place(0:n-1))
    i = 0
    associate (fronts => whole%fronts)
      do s = 0, fronts%fronts - 1
        eliminated(i:i+fronts%pivots(s)-1) = fronts%list(fronts%list_ptr(s):fronts%list_ptr(s)+fronts%pivots(s)-1)
        i = i + fronts%pivots(s)
      end do
    end associate
    do i = 0, n - 1
      whole%place(eliminated(i)) = i
    end do
  end subroutine find_places

  !> Makes a part of every front, and merges it with those before it as long as few zeros come in.
  subroutine merge_fronts(n, width, whole)
    integer(i4), intent(in) :: n, width      !< nodes; columns of a node
    type(merging), intent(inout) :: whole
    integer(i4) :: s

    allocate (whole%begins(0:n), whole%source(0:n), whole%zeros(0:n))
    whole%begins(0) = 0
    associate (parts => whole%parts, zeros => whole%zeros)
      do s = 0, whole%fronts%fronts - 1
        whole%source(parts) = s
        zeros(parts) = 0
        parts = parts + 1
        whole%begins(parts) = whole%begins(parts-1) + whole%fronts%pivots(s)
        do while (parts > 1)
          if (.not. joins(whole, parts - 2, width)) exit
          zeros(parts-2) = zeros(parts-2) + zeros(parts-1) + added(whole, parts - 2)
          whole%source(parts-2) = s
          whole%begins(parts-1) = whole%begins(parts)
          parts = parts - 1
        end do
      end do
    end associate
  end subroutine merge_fronts

  !> Number of nodes below part `p`.
  pure integer(i4) function below(whole, p)
    type(merging), intent(in) :: whole
    integer(i4), intent(in) :: p
    integer(i4) :: front

    front = whole%source(p)
    below = whole%fronts%list_ptr(front+1) - whole%fronts%list_ptr(front) - whole%fronts%pivots(front)
  end function below

  !> Zeros, in pairs of nodes, that columns of part `p` get by merging with the next one.
  pure real(dp) function added(whole, p)
    type(merging), intent(in) :: whole
    integer(i4), intent(in) :: p

    associate (begins => whole%begins)
      added = real(begins(p+1) - begins(p), dp)*(begins(p+2) - begins(p+1) + below(whole, p + 1) - below(whole, p))
    end associate
  end function added

  !> Whether part `p` is a child of the next one and has nearly the same rows.
  pure logical function joins(whole, p, width)
    type(merging), intent(in) :: whole
    integer(i4), intent(in) :: p, width
    real(dp) :: columns, entries
    integer(i4) :: front, kind

    joins = .false.
    if (below(whole, p) == 0) return
    front = whole%source(p)
    associate (fronts => whole%fronts, begins => whole%begins)
      if (whole%place(fronts%list(fronts%list_ptr(front)+fronts%pivots(front))) >= begins(p+2)) return
      columns = begins(p+2) - begins(p)
      entries = columns*(0.5_dp*(columns + 1) + below(whole, p + 1))
    end associate
    do kind = 1, size(narrow)
      if (width*columns <= narrow(kind)) exit
    end do
    joins = whole%zeros(p) + whole%zeros(p+1) + added(whole, p) <= share(kind)*entries
  end function joins

  !> Appends the panels of part `p` to those that `find_supernodes` lists.
  subroutine list_panels(whole, p, most, first, row_ptr, room, row, panels, needed)
    type(merging), intent(in) :: whole
    integer(i4), intent(in) :: p, most, room
    integer(i4), intent(inout) :: first(0:*), row_ptr(0:*), row(0:room-1), panels, needed
    integer(i4) :: front, pieces, from, to, k, j

    associate (begins => whole%begins, fronts => whole%fronts)
      pieces = (begins(p+1) - begins(p) + most - 1)/most
      from = begins(p)
      front = whole%source(p)
      do k = 1, pieces
        to = begins(p) + int(real(k, dp)*(begins(p+1) - begins(p))/pieces, i4)
        first(panels) = from
        if (needed <= room) row_ptr(panels) = needed
        do j = to, begins(p+1) - 1
          call add_row(j)
        end do
        do j = fronts%list_ptr(front) + fronts%pivots(front), fronts%list_ptr(front+1) - 1
          call add_row(whole%place(fronts%list(j)))
        end do
        panels = panels + 1
        from = to
      end do
    end associate

  contains

    subroutine add_row(node)
      integer(i4), intent(in) :: node

      if (needed < room) row(needed) = node
      needed = needed + 1
    end subroutine add_row
  end subroutine list_panels
end module supernodes
