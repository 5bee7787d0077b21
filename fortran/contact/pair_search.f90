!> Overlapping boxes of different bodies, found cell by cell.
module pair_search
  use kinds, only: dp, i4, i8
  use cell_grid, only: grid_type, size_class, cell_number
!$ use omp_lib, only: omp_get_thread_num
  implicit none
  private
  public :: pair_list, exclusion_list, search_pairs

  !> Pairs found by one thread, each in one number that sorts by (lower row, higher row): 2^32 lower + higher.
  type :: pair_list
    integer(i8), pointer, contiguous :: key(:)
    integer :: count = 0    !< may exceed the length of `key`; pairs beyond it are not stored
  end type pair_list

  !> Pairs of bodies between which there is no contact.
  type :: exclusion_list
    integer(i4) :: count = 0
    integer(i8), pointer, contiguous :: pair(:,:)   !< (2,:) body identifiers (lower, higher), sorted
    integer(i4), pointer, contiguous :: body(:)     !< (0:) body rows of primitives
    integer(i8), pointer, contiguous :: id(:)       !< (0:) identifiers of bodies
    logical :: inner = .false.                      !< there are bodies with self-contact
    integer(i4), pointer, contiguous :: adjacent_ptr(:), adjacent_count(:)  !< (0:) of primitives
    integer(i4), pointer, contiguous :: adjacent(:) !< (0:) adjacent primitives, sorted
  end type exclusion_list

  integer, parameter :: parallel_from = 1000
  !> The half of a cell's neighbouring rows (y, z) that is searched; the cell's own row is searched forwards.
  integer, parameter :: row_step(2,4) = reshape([1, 0, -1, 1, 0, 1, 1, 1], [2, 4])
  !> Boxes are compared in blocks; a bit of one number is kept for each box of sixteen blocks.
  integer, parameter :: block = 4, most_blocks = 16

  !> The boxes of one cell, and blocks of boxes that they are compared with.
  type :: cell_task
    integer :: start, end                !< positions of the cell's boxes: start <= i < end
    integer :: count = 0
    integer :: block_start(most_blocks)  !< positions in the order of cells
    integer(i8) :: valid(most_blocks)    !< bits of the boxes that count
  end type cell_task

contains

  !> Finds every pair of overlapping boxes with different owners once.
  !>
  !>   grid         boxes in the order of cells
  !>   exclusions   pairs of bodies that are left out
  !>   lists        (0:) one list per thread; their union does not depend on the number of threads
  subroutine search_pairs(grid, exclusions, lists)
    type(grid_type), intent(in) :: grid
    type(exclusion_list), intent(in) :: exclusions
    type(pair_list), intent(inout) :: lists(0:)
    integer :: c, row, thread

    !$omp parallel if (grid%boxes > parallel_from) private(c, row, thread)
    thread = 0
!$  thread = omp_get_thread_num()
    do c = 1, grid%classes
      !$omp do schedule(dynamic, 8)
      do row = 0, grid%class(c)%cells(2)*grid%class(c)%cells(3) - 1
        call search_row(grid, c, row, exclusions, lists(thread))
      end do
      !$omp end do nowait
    end do
    !$omp end parallel
  end subroutine search_pairs

  !> Pairs of the boxes in one row of cells with those behind them in the same class and with coarser ones.
  subroutine search_row(grid, c, row, exclusions, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: c, row
    type(exclusion_list), intent(in) :: exclusions
    type(pair_list), intent(inout) :: list
    type(cell_task) :: task
    integer :: base(4), x, nx, own, rows, r, i, end

    associate (class => grid%class(c), cell_start => grid%cell_start)
      nx = class%cells(1)
      own = class%first_cell + row*nx
      if (cell_start(own) == cell_start(own+nx)) return
      call neighbour_rows(class, row, rows, base)
      do x = 0, nx - 1
        task%start = cell_start(own+x)
        task%end = cell_start(own+x+1)
        if (task%start == task%end) cycle
        call collect(grid, own+x, own+min(x+1, nx-1), task, exclusions, list)
        if (x == nx - 1 .and. class%wrapped(1)) call collect(grid, own, own, task, exclusions, list)
        do r = 1, rows
          call collect(grid, base(r)+max(x-1, 0), base(r)+min(x+1, nx-1), task, exclusions, list)
          if (class%wrapped(1)) then
            if (x == 0) call collect(grid, base(r)+nx-1, base(r)+nx-1, task, exclusions, list)
            if (x == nx - 1) call collect(grid, base(r), base(r), task, exclusions, list)
          end if
        end do
        if (any(class%wrapped)) then
          ! boxes of one cell may be far from each other
          call compare(grid, task, exclusions, list)
          end = task%end
          do i = task%start, end - 1
            task%start = i
            task%end = i + 1
            call compare_coarser(grid, c, task, exclusions, list)
          end do
        else
          call compare_coarser(grid, c, task, exclusions, list)
        end if
      end do
    end associate
  end subroutine search_row

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

  !> Adds to a task the boxes that start in cells `first` to `last`.
  subroutine collect(grid, first, last, task, exclusions, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: first, last
    type(cell_task), intent(inout) :: task
    type(exclusion_list), intent(in) :: exclusions
    type(pair_list), intent(inout) :: list
    integer :: k, end

    end = grid%cell_start(last+1)
    do k = grid%cell_start(first), end - 1, block
      if (task%count == most_blocks) call compare(grid, task, exclusions, list)
      task%count = task%count + 1
      task%block_start(task%count) = k
      task%valid(task%count) = shiftl(1_i8, min(end - k, block)) - 1
    end do
  end subroutine collect

  !> Pairs of the boxes of a task with its blocks and with all coarser classes.
  subroutine compare_coarser(grid, c, task, exclusions, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: c
    type(cell_task), intent(inout) :: task
    type(exclusion_list), intent(in) :: exclusions
    type(pair_list), intent(inout) :: list
    integer :: coarser

    do coarser = c + 1, grid%classes
      call collect_coarser(grid, coarser, task, exclusions, list)
    end do
    call compare(grid, task, exclusions, list)
  end subroutine compare_coarser

  !> Adds to a task the boxes of a coarser class that its boxes may meet.
  subroutine collect_coarser(grid, coarser, task, exclusions, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: coarser
    type(cell_task), intent(inout) :: task
    type(exclusion_list), intent(in) :: exclusions
    type(pair_list), intent(inout) :: list
    integer(i8) :: from(3), to(3), cells
    integer :: axis, y, z, base, low, high, nx

    associate (class => grid%class(coarser))
      do axis = 1, 3
        ! a box that reaches this cell's starts one cell below them or later
        from(axis) = cell_number(minval(grid%box(task%start:task%end-1,axis)), grid%origin(axis), &
          class%inverse_cell(axis)) - class%lowest(axis) - 1
        to(axis) = cell_number(maxval(grid%box(task%start:task%end-1,axis+3)), grid%origin(axis), &
          class%inverse_cell(axis)) - class%lowest(axis)
        cells = class%cells(axis)
        if (class%wrapped(axis)) then
          to(axis) = min(to(axis) - from(axis), cells - 1)
          from(axis) = modulo(from(axis), cells)
          to(axis) = to(axis) + from(axis)
        else
          from(axis) = max(from(axis), 0_i8)
          to(axis) = min(to(axis), cells - 1)
          if (from(axis) > to(axis)) return
        end if
      end do
      nx = class%cells(1)
      low = int(from(1))
      high = int(to(1))
      do z = int(from(3)), int(to(3))
        do y = int(from(2)), int(to(2))
          base = class%first_cell + nx*(folded(y, class%cells(2)) + class%cells(2)*folded(z, class%cells(3)))
          call collect(grid, base+low, base+min(high, nx-1), task, exclusions, list)
          if (high >= nx) call collect(grid, base, base+high-nx, task, exclusions, list)
        end do
      end do
    end associate
  end subroutine collect_coarser

  !> Cell number after wrapping, for numbers below twice the number of cells.
  pure integer function folded(number, cells)
    integer, intent(in) :: number
    integer(i4), intent(in) :: cells

    folded = number
    if (number >= cells) folded = number - cells
  end function folded

  !> Pairs of the boxes of a task with those of its blocks, which are dropped.
  subroutine compare(grid, task, exclusions, list)
    type(grid_type), intent(in) :: grid
    type(cell_task), intent(inout) :: task
    type(exclusion_list), intent(in) :: exclusions
    type(pair_list), intent(inout) :: list

    call compare_boxes(size(grid%owner), grid%box, grid%owner, grid%row, task, exclusions, size(list%key), list%key, &
      list%count)
    task%count = 0
  end subroutine compare

  subroutine compare_boxes(n, box, owner, row, task, exclusions, capacity, key, found)
    integer, intent(in) :: n, capacity
    real(dp), intent(in) :: box(0:n-1,6), owner(0:n-1)
    integer(i8), intent(in) :: row(0:n-1)
    type(cell_task), intent(in) :: task
    type(exclusion_list), intent(in) :: exclusions
    integer(i8), intent(inout) :: key(capacity)
    integer, intent(inout) :: found
    real(dp) :: one(6)
    integer(i8) :: meets
    integer :: bit, i, j

    do i = task%start, task%end - 1
      one = box(i,:)
      meets = overlaps(one, owner(i), task, n, box, owner)
      do while (meets /= 0)
        bit = trailz(meets)
        meets = iand(meets, meets - 1)
        j = task%block_start(bit/block+1) + mod(bit, block)
        ! boxes of the cell up to this one have met it before; overlap in x is strict
        if (j >= task%start .and. j <= i) cycle
        if (.not. (one(1) < box(j,4) .and. box(j,1) < one(4))) cycle
        if (exclusions%count > 0) then
          if (is_excluded(row(i), row(j), exclusions)) cycle
        end if
        if (exclusions%inner) then
          if (is_adjacent(int(row(i), i4), int(row(j), i4), exclusions)) cycle
        end if
        found = found + 1
        if (found <= capacity) key(found) = ior(shiftl(min(row(i), row(j)), 32), max(row(i), row(j)))
      end do
    end do
  end subroutine compare_boxes

  !> A bit for each box of a task's blocks that overlaps or touches `one` and has another owner.  One comparison of the
  !> least of all distances, without branches: nobody could predict them, and vector instructions have none.
  pure integer(i8) function overlaps(one, own, task, n, box, owner)
    real(dp), intent(in) :: one(6), own
    type(cell_task), intent(in) :: task
    integer, intent(in) :: n
    real(dp), intent(in) :: box(0:n-1,6), owner(0:n-1)
    integer(i8), parameter :: bit(0:block-1) = [1_i8, 2_i8, 4_i8, 8_i8]
    real(dp) :: least
    integer(i8) :: bits
    integer :: b, j, k

    overlaps = 0
    do b = 1, task%count
      j = task%block_start(b)
      bits = 0
      !$omp simd reduction(ior:bits) private(least)
      do k = 0, block - 1
        least = min(min(one(4) - box(j+k,1), box(j+k,4) - one(1)), min(one(5) - box(j+k,2), box(j+k,5) - one(2)))
        least = min(least, min(one(6) - box(j+k,3), box(j+k,6) - one(3)))
        least = min(least, abs(own - owner(j+k)) - 0.5_dp)
        bits = ior(bits, merge(bit(k), 0_i8, least >= 0.0_dp))
      end do
      overlaps = ior(overlaps, shiftl(iand(bits, task%valid(b)), block*(b - 1)))
    end do
  end function overlaps

  !> Whether two primitives belong to one body and are adjacent.
  pure logical function is_adjacent(one, two, exclusions)
    integer(i4), intent(in) :: one, two
    type(exclusion_list), intent(in) :: exclusions
    integer :: first, last, k

    is_adjacent = .false.
    if (exclusions%body(one) /= exclusions%body(two)) return
    first = exclusions%adjacent_ptr(one)
    last = first + exclusions%adjacent_count(one) - 1
    do while (first <= last)
      k = (first + last)/2
      if (exclusions%adjacent(k) == two) then
        is_adjacent = .true.
        return
      end if
      if (exclusions%adjacent(k) < two) first = k + 1
      if (exclusions%adjacent(k) > two) last = k - 1
    end do
  end function is_adjacent

  !> Whether contact between the bodies of two primitives is excluded.
  pure logical function is_excluded(one, two, exclusions)
    integer(i8), intent(in) :: one, two
    type(exclusion_list), intent(in) :: exclusions
    integer(i8) :: low, high
    integer :: first, last, k

    low = exclusions%id(exclusions%body(one))
    high = exclusions%id(exclusions%body(two))
    if (low > high) then
      high = low
      low = exclusions%id(exclusions%body(two))
    end if
    first = 1
    last = exclusions%count
    do while (first <= last)
      k = (first + last)/2
      if (exclusions%pair(1,k) < low .or. (exclusions%pair(1,k) == low .and. exclusions%pair(2,k) < high)) then
        first = k + 1
      else
        last = k - 1
      end if
    end do
    is_excluded = .false.
    if (first <= exclusions%count) is_excluded = all(exclusions%pair(:,first) == [low, high])
  end function is_excluded

end module pair_search
