!> Overlapping boxes of different bodies, found cell by cell.
module pair_search
  use kinds, only: dp, i4, i8
  use cell_grid, only: grid_type, size_class, cell_number
!$ use omp_lib, only: omp_get_thread_num
  implicit none
  private
  public :: pair_list, search_pairs

  !> Pairs found by one thread.
  type :: pair_list
    integer(i4), allocatable :: pair(:,:)   !< (2,:) rows of the first and the second primitive
    integer :: count = 0
  end type pair_list

  integer, parameter :: parallel_from = 1000
  !> The half of a cell's neighbouring rows (y, z) that is searched; the cell's own row is searched forwards.
  integer, parameter :: row_step(2,4) = reshape([1, 0, -1, 1, 0, 1, 1, 1], [2, 4])
  !> Most ranges of boxes that the neighbours of a cell make up (a wrapped row is cut in two).
  integer, parameter :: most_ranges = 9
  !> Boxes compared at a time.
  integer, parameter :: batch_size = 64

  !> Boxes that those of one cell are compared with.
  type :: batch_type
    real(dp) :: box(batch_size,6)
    integer(i8) :: owner(batch_size)
    integer :: place(batch_size)      !< positions in the order of cells
    integer :: count = 0
  end type batch_type

contains

  !> Finds every pair of overlapping boxes with different owners once.
  !>
  !>   grid        boxes in the order of cells
  !>   body, id    (:) body rows of primitives, identifiers of bodies
  !>   nexcluded, excluded   (2,:) pairs of body identifiers (lower, higher), sorted, that are left out
  !>   lists       (0:) one list per thread; their union does not depend on the number of threads
  subroutine search_pairs(grid, body, id, nexcluded, excluded, lists)
    type(grid_type), intent(in) :: grid
    integer(i4), intent(in) :: body(0:*)
    integer(i8), intent(in) :: id(0:*)
    integer(i4), intent(in) :: nexcluded
    integer(i8), intent(in) :: excluded(2,*)
    type(pair_list), intent(inout) :: lists(0:)
    integer :: c, row, thread

    !$omp parallel if (size(grid%row) > parallel_from) private(c, row, thread)
    thread = 0
!$  thread = omp_get_thread_num()
    allocate (lists(thread)%pair(2,1024))
    do c = 1, grid%classes
      !$omp do schedule(dynamic, 8)
      do row = 0, grid%class(c)%cells(2)*grid%class(c)%cells(3) - 1
        call search_row(grid, c, row, body, id, nexcluded, excluded, lists(thread))
      end do
      !$omp end do nowait
    end do
    !$omp end parallel
  end subroutine search_pairs

  !> Pairs of the boxes in one row of cells with those behind them in the same class and with coarser ones.
  subroutine search_row(grid, c, row, body, id, nexcluded, excluded, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: c, row
    integer(i4), intent(in) :: body(0:*)
    integer(i8), intent(in) :: id(0:*)
    integer(i4), intent(in) :: nexcluded
    integer(i8), intent(in) :: excluded(2,*)
    type(pair_list), intent(inout) :: list
    type(batch_type) :: batch
    integer :: range(2,most_ranges), base(4)
    integer :: x, nx, own, rows, ranges, r, i, k, coarser, start, end, passed

    associate (class => grid%class(c), cell_start => grid%cell_start)
      nx = class%cells(1)
      own = class%first_cell + row*nx
      if (cell_start(own) == cell_start(own+nx)) return
      call neighbour_rows(class, row, rows, base)
      do x = 0, nx - 1
        start = cell_start(own+x)
        end = cell_start(own+x+1)
        if (start == end) cycle
        call neighbour_ranges(grid%cell_start, class, x, own, rows, base, ranges, range)
        ! box start + k - 1 of the cell is candidate number k, and looks at those behind it
        batch%count = 0
        passed = 0
        do r = 1, ranges
          do k = range(1,r), range(2,r)
            if (batch%count == batch_size) then
              do i = start, end - 1
                call compare(grid, i, i-start+2-passed, batch, body, id, nexcluded, excluded, list)
              end do
              passed = passed + batch%count
              batch%count = 0
            end if
            batch%count = batch%count + 1
            batch%box(batch%count,:) = grid%box(:,k)
            batch%owner(batch%count) = grid%owner(k)
            batch%place(batch%count) = k
          end do
        end do
        do i = start, end - 1
          call compare(grid, i, i-start+2-passed, batch, body, id, nexcluded, excluded, list)
          do coarser = c + 1, grid%classes
            call search_coarser(grid, coarser, i, body, id, nexcluded, excluded, list)
          end do
        end do
      end do
    end associate
  end subroutine search_row

  !> Ranges of boxes that a cell is compared with: itself and the next cell, then the neighbouring rows.
  subroutine neighbour_ranges(cell_start, class, x, own, rows, base, ranges, range)
    integer(i4), intent(in) :: cell_start(0:)
    type(size_class), intent(in) :: class
    integer, intent(in) :: x, own, rows, base(4)
    integer, intent(out) :: ranges, range(2,most_ranges)
    integer :: r, nx

    nx = class%cells(1)
    ranges = 1
    range(:,1) = [cell_start(own+x), cell_start(own+min(x+2, nx)) - 1]
    if (x == nx - 1 .and. class%wrapped(1)) call add(own, 0, 0)
    do r = 1, rows
      call add(base(r), max(x-1, 0), min(x+1, nx-1))
      if (class%wrapped(1)) then
        if (x == 0) call add(base(r), nx-1, nx-1)
        if (x == nx-1) call add(base(r), 0, 0)
      end if
    end do

  contains

    !> Adds the boxes of cells `from` to `to` of a row.
    subroutine add(first_cell, from, to)
      integer, intent(in) :: first_cell, from, to

      ranges = ranges + 1
      range(:,ranges) = [cell_start(first_cell+from), cell_start(first_cell+to+1) - 1]
    end subroutine add

  end subroutine neighbour_ranges

  !> First cells of the rows in the half stencil of a row.
  pure subroutine neighbour_rows(class, row, rows, base)
    type(size_class), intent(in) :: class
    integer, intent(in) :: row
    integer, intent(out) :: rows, base(4)
    integer :: y, z, k

    rows = 0
    do k = 1, 4
      y = mod(row, class%cells(2)) + row_step(1,k)
      z = row/class%cells(2) + row_step(2,k)
      if (class%wrapped(2)) y = modulo(y, class%cells(2))
      if (class%wrapped(3)) z = modulo(z, class%cells(3))
      if (y < 0 .or. y >= class%cells(2) .or. z >= class%cells(3)) cycle
      rows = rows + 1
      base(rows) = class%first_cell + class%cells(1)*(y + class%cells(2)*z)
    end do
  end subroutine neighbour_rows

  !> Pairs of one box with the boxes of a coarser class.
  subroutine search_coarser(grid, coarser, i, body, id, nexcluded, excluded, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: coarser, i
    integer(i4), intent(in) :: body(0:*)
    integer(i8), intent(in) :: id(0:*)
    integer(i4), intent(in) :: nexcluded
    integer(i8), intent(in) :: excluded(2,*)
    type(pair_list), intent(inout) :: list
    integer(i8) :: from(3), to(3)
    integer :: axis, y, z, base, low, high, nx

    associate (class => grid%class(coarser), cell_start => grid%cell_start)
      do axis = 1, 3
        ! a box that reaches this one starts one cell below it or later
        from(axis) = cell_number(grid%box(axis,i), grid%origin(axis), class%inverse_cell(axis)) &
          - class%lowest(axis) - 1
        to(axis) = cell_number(grid%box(axis+3,i), grid%origin(axis), class%inverse_cell(axis)) &
          - class%lowest(axis)
        if (.not. class%wrapped(axis)) then
          from(axis) = max(from(axis), 0_i8)
          to(axis) = min(to(axis), int(class%cells(axis) - 1, i8))
          if (from(axis) > to(axis)) return
        else
          to(axis) = to(axis) - from(axis)
          from(axis) = modulo(from(axis), int(class%cells(axis), i8))
          to(axis) = to(axis) + from(axis)
        end if
      end do
      nx = class%cells(1)
      low = int(from(1))
      high = int(to(1))
      do z = int(from(3)), int(to(3))
        do y = int(from(2)), int(to(2))
          base = class%first_cell + nx*(folded(y, class%cells(2)) + class%cells(2)*folded(z, class%cells(3)))
          call scan(grid, i, cell_start(base+low), cell_start(base+min(high, nx-1)+1) - 1, body, id, &
            nexcluded, excluded, list)
          if (high >= nx) call scan(grid, i, cell_start(base), cell_start(base+high-nx+1) - 1, body, id, &
            nexcluded, excluded, list)
        end do
      end do
    end associate
  end subroutine search_coarser

  !> Cell number after wrapping, for numbers below twice the number of cells.
  pure integer function folded(number, cells)
    integer, intent(in) :: number
    integer(i4), intent(in) :: cells

    folded = number
    if (number >= cells) folded = number - cells
  end function folded

  !> Pairs of box `i` with the boxes `from` to `to`.
  subroutine scan(grid, i, from, to, body, id, nexcluded, excluded, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: i, from, to
    integer(i4), intent(in) :: body(0:*)
    integer(i8), intent(in) :: id(0:*)
    integer(i4), intent(in) :: nexcluded
    integer(i8), intent(in) :: excluded(2,*)
    type(pair_list), intent(inout) :: list
    real(dp) :: low(3), high(3)
    integer :: j

    low = grid%box(1:3,i)
    high = grid%box(4:6,i)
    do j = from, to
      if (grid%box(1,j) >= high(1) .or. grid%box(4,j) <= low(1)) cycle
      if (grid%box(2,j) > high(2) .or. grid%box(5,j) < low(2)) cycle
      if (grid%box(3,j) > high(3) .or. grid%box(6,j) < low(3)) cycle
      if (grid%owner(j) == grid%owner(i)) cycle
      call add_pair(grid, i, j, body, id, nexcluded, excluded, list)
    end do
  end subroutine scan

  !> Pairs of box `i` with the members of a batch from number `from` on.
  subroutine compare(grid, i, from, batch, body, id, nexcluded, excluded, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: i, from
    type(batch_type), intent(in) :: batch
    integer(i4), intent(in) :: body(0:*)
    integer(i8), intent(in) :: id(0:*)
    integer(i4), intent(in) :: nexcluded
    integer(i8), intent(in) :: excluded(2,*)
    type(pair_list), intent(inout) :: list
    integer(i8) :: meets(batch_size)
    integer(i4) :: hit(batch_size)
    integer :: k, hits

    call overlaps(grid%box(:,i), int(grid%owner(i), i8), batch%count, batch%box, batch%owner, meets)
    hits = 0
    do k = max(from, 1), batch%count
      hit(hits+1) = k
      hits = hits + int(meets(k))
    end do
    do k = 1, hits
      call add_pair(grid, i, batch%place(hit(k)), body, id, nexcluded, excluded, list)
    end do
  end subroutine compare

  !> 1 for each of `n` boxes that overlaps `one`: strictly in x, touching counts in y and z (vectorised).
  pure subroutine overlaps(one, own, n, box, owner, meets)
    real(dp), intent(in) :: one(6)
    integer(i8), intent(in) :: own
    integer, intent(in) :: n
    real(dp), intent(in) :: box(batch_size,6)
    integer(i8), intent(in) :: owner(batch_size)
    integer(i8), intent(inout) :: meets(batch_size)
    real(dp) :: overlap_x, overlap_yz
    integer :: k

    do k = 1, n
      overlap_x = min(one(4) - box(k,1), box(k,4) - one(1))
      overlap_yz = min(min(one(5) - box(k,2), box(k,5) - one(2)), min(one(6) - box(k,3), box(k,6) - one(3)))
      meets(k) = merge(1_i8, 0_i8, overlap_x > 0.0_dp .and. overlap_yz >= 0.0_dp .and. owner(k) /= own)
    end do
  end subroutine overlaps

  !> Adds the pair of boxes `i` and `j` unless their bodies are excluded.
  subroutine add_pair(grid, i, j, body, id, nexcluded, excluded, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: i, j
    integer(i4), intent(in) :: body(0:*)
    integer(i8), intent(in) :: id(0:*)
    integer(i4), intent(in) :: nexcluded
    integer(i8), intent(in) :: excluded(2,*)
    type(pair_list), intent(inout) :: list

    if (nexcluded > 0) then
      if (is_excluded(id(body(grid%row(i))), id(body(grid%row(j))), nexcluded, excluded)) return
    end if
    if (list%count == size(list%pair, 2)) call enlarge(list)
    list%count = list%count + 1
    list%pair(:,list%count) = in_order(grid%box(1,i), grid%box(1,j), grid%row(i), grid%row(j))
  end subroutine add_pair

  !> A pair in the order of its roles: the lower bound in x decides who is first; equal bounds: the lower row,
  !> which is the older body.
  pure function in_order(x_one, x_two, one, two) result(pair)
    real(dp), intent(in) :: x_one, x_two
    integer(i4), intent(in) :: one, two
    integer(i4) :: pair(2)

    pair = [one, two]
    if (x_two < x_one .or. (.not. x_one < x_two .and. two < one)) pair = [two, one]
  end function in_order

  !> Whether contact between two bodies is excluded.
  pure logical function is_excluded(one, two, n, excluded)
    integer(i8), intent(in) :: one, two
    integer(i4), intent(in) :: n
    integer(i8), intent(in) :: excluded(2,*)
    integer(i8) :: low, high
    integer :: first, last, k

    low = min(one, two)
    high = max(one, two)
    first = 1
    last = n
    do while (first <= last)
      k = (first + last)/2
      if (excluded(1,k) < low .or. (excluded(1,k) == low .and. excluded(2,k) < high)) then
        first = k + 1
      else
        last = k - 1
      end if
    end do
    is_excluded = .false.
    if (first <= n) is_excluded = excluded(1,first) == low .and. excluded(2,first) == high
  end function is_excluded

  !> Doubles a list.
  subroutine enlarge(list)
    type(pair_list), intent(inout) :: list
    integer(i4), allocatable :: larger(:,:)

    allocate (larger(2,2*size(list%pair, 2)))
    larger(:,1:list%count) = list%pair(:,1:list%count)
    call move_alloc(larger, list%pair)
  end subroutine enlarge

end module pair_search
