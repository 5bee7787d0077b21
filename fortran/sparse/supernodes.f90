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
    type(tree) :: fronts
    integer(i4) :: sizes(0:n), place(0:n-1), begins(0:n), source(0:n), parts, p, s, i
    real(dp) :: zeros(0:n)

    do i = 0, n
      sizes(i) = width*i
    end do
    call analyse_tree(n, ptr, adjacent, sizes, order, fronts)
    i = 0
    do s = 0, fronts%fronts - 1
      eliminated(i:i+fronts%pivots(s)-1) = fronts%list(fronts%list_ptr(s):fronts%list_ptr(s)+fronts%pivots(s)-1)
      i = i + fronts%pivots(s)
    end do
    do i = 0, n - 1
      place(eliminated(i)) = i
    end do
    parts = 0
    begins(0) = 0
    do s = 0, fronts%fronts - 1
      source(parts) = s
      zeros(parts) = 0
      parts = parts + 1
      begins(parts) = begins(parts-1) + fronts%pivots(s)
      do while (parts > 1)
        if (.not. joins(parts - 2)) exit
        zeros(parts-2) = zeros(parts-2) + zeros(parts-1) + added(parts - 2)
        source(parts-2) = s
        begins(parts-1) = begins(parts)
        parts = parts - 1
      end do
    end do
    panels = 0
    needed = 0
    do p = 0, parts - 1
      call list(p)
    end do
    first(panels) = n
    if (needed <= room) row_ptr(panels) = needed

  contains

    !> Number of nodes below a part.
    integer(i4) function below(p)
      integer(i4), intent(in) :: p
      integer(i4) :: front

      front = source(p)
      below = fronts%list_ptr(front+1) - fronts%list_ptr(front) - fronts%pivots(front)
    end function below

    !> Zeros, in pairs of nodes, that columns of a part get by merging with the next one.
    real(dp) function added(p)
      integer(i4), intent(in) :: p

      added = real(begins(p+1) - begins(p), dp)*(begins(p+2) - begins(p+1) + below(p+1) - below(p))
    end function added

    !> Whether a part is a child of the next one and has nearly the same rows.
    logical function joins(p)
      integer(i4), intent(in) :: p
      real(dp) :: columns, whole
      integer(i4) :: front, kind

      joins = .false.
      if (below(p) == 0) return
      front = source(p)
      if (place(fronts%list(fronts%list_ptr(front)+fronts%pivots(front))) >= begins(p+2)) return
      columns = begins(p+2) - begins(p)
      whole = columns*(0.5_dp*(columns + 1) + below(p+1))
      do kind = 1, size(narrow)
        if (width*columns <= narrow(kind)) exit
      end do
      joins = zeros(p) + zeros(p+1) + added(p) <= share(kind)*whole
    end function joins

    !> Lists the panels of a part.
    subroutine list(p)
      integer(i4), intent(in) :: p
      integer(i4) :: front, pieces, from, to, k, j

      pieces = (begins(p+1) - begins(p) + most - 1)/most
      from = begins(p)
      front = source(p)
      do k = 1, pieces
        to = begins(p) + int(real(k, dp)*(begins(p+1) - begins(p))/pieces, i4)
        first(panels) = from
        if (needed <= room) row_ptr(panels) = needed
        do j = to, begins(p+1) - 1
          if (needed < room) row(needed) = j
          needed = needed + 1
        end do
        do j = fronts%list_ptr(front) + fronts%pivots(front), fronts%list_ptr(front+1) - 1
          if (needed < room) row(needed) = place(fronts%list(j))
          needed = needed + 1
        end do
        panels = panels + 1
        from = to
      end do
    end subroutine list
  end subroutine find_supernodes
end module supernodes
