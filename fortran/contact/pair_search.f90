!> Overlapping boxes of different bodies, found cell by cell.
module pair_search
  use kinds, only: sp, dp, i1, i4, i8
  use cell_grid, only: grid_type, size_class, cell_range, bounds_of
!$ use omp_lib, only: omp_get_thread_num
  implicit none
  private
  public :: pair_store, pair_list, piece, exclusion_list, search_pairs, search_between

  !> Room for pairs, each in one number that sorts by (lower row, higher row): 2^32 lower + higher.  It is handed out to
  !> threads and groups of lower rows in pieces, so that pairs are found near those that they will be sorted with.
  type :: pair_store
    integer(i8), pointer, contiguous :: key(:)      !< (0:)
    integer(i4), allocatable :: previous(:)         !< (0:) the piece of the same thread and group before a piece, -1: none
    integer :: shift = 0                            !< pairs are of one group when lower rows differ in the last bits only
    integer :: groups = 0
    integer :: used = 0                             !< pieces asked for; they may be more than there are
  end type pair_store

  !> Where a thread puts its pairs.
  type :: pair_list
    integer(i4), allocatable :: next(:)     !< (0:) of groups: the next place in the store; at the start of a piece: none is left
    integer(i4), allocatable :: pieces(:)   !< (0:) of groups: number of pieces
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
  !> Pairs of a piece of the store; a power of 2.
  integer, parameter :: piece = 256
  !> The half of a cell's neighbouring rows (y, z) that is searched; the cell's own row is searched forwards.
  integer, parameter :: row_step(2,4) = reshape([1, 0, -1, 1, 0, 1, 1, 1], [2, 4])
  !> A box is compared with blocks of others, whose answers fit into the bits of one number: a byte for each box of a block
  !> (the even ones first), and in it a bit for each block.  The last bits of all bytes mean doubt.
  integer, parameter :: block = 8, most_blocks = 7
  integer(i8), parameter :: doubt = not(9187201950435737471_i8)   ! hexadecimal 8080808080808080
  integer(i4), parameter :: sign_bit = not(huge(1_i4))
  !> Answers of the first boxes of the first block.
  integer(i8), parameter :: answers(0:block) = [0_i8, 1_i8, 4294967297_i8, 4294967553_i8, 1103806595329_i8, &
    1103806660865_i8, 282578783371521_i8, 282578800148737_i8, 72340172838076673_i8]

  !> One box, and blocks of boxes that it is to be compared with.
  type :: search_task
    real(sp) :: bound(6)
    integer(i4) :: owner, row
    integer :: blocks = 0
    integer :: start(0:most_blocks)     !< positions of blocks in the order of cells
    integer(i8) :: valid = 0            !< answers of boxes that count
  end type search_task

contains

  !> Finds every pair of overlapping boxes with different owners once.
  !>
  !>   grid         boxes in the order of cells
  !>   box          (6,:) the boxes themselves
  !>   exclusions   pairs of bodies that are left out
  !>   store        room for pairs
  !>   lists        (0:) one list per thread; their union does not depend on the number of threads
  subroutine search_pairs(grid, box, exclusions, store, lists)
    type(grid_type), intent(in) :: grid
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: lists(0:)
    integer :: c, row, thread

    !$omp parallel if (grid%boxes > parallel_from) private(c, row, thread)
    thread = 0
!$  thread = omp_get_thread_num()
    do c = 1, grid%classes
      !$omp do schedule(dynamic, 8)
      do row = 0, grid%class(c)%cells(2)*grid%class(c)%cells(3) - 1
        call search_row(grid, c, row, size(grid%owner), grid%bound, grid%owner, grid%row, grid%cell, grid%cell_start, box, &
          exclusions, store, lists(thread))
      end do
      !$omp end do nowait
    end do
    !$omp end parallel
  end subroutine search_pairs

  !> Finds every pair of overlapping boxes of two grids with different owners once.  Of each two classes those boxes are
  !> looked up in the other's cells which that costs less.
  subroutine search_between(one, two, box, exclusions, store, lists)
    type(grid_type), intent(in) :: one, two
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: lists(0:)
    integer :: a, b, thread

    !$omp parallel if (min(one%boxes, two%boxes) > 0 .and. max(one%boxes, two%boxes) > parallel_from) private(a, b, thread)
    thread = 0
!$  thread = omp_get_thread_num()
    do a = 1, one%classes
      do b = 1, two%classes
        if (cost(one%class(a), two%class(b)) <= cost(two%class(b), one%class(a))) then
          call look_up(one, a, two, b, box, exclusions, store, lists(thread))
        else
          call look_up(two, b, one, a, box, exclusions, store, lists(thread))
        end if
      end do
    end do
    !$omp end parallel
  end subroutine search_between

  !> What it costs to look up boxes of one class in the cells of another, in rows of cells and blocks of boxes visited.
  pure real(dp) function cost(one, two)
    type(size_class), intent(in) :: one, two
    real(dp) :: visited(3), boxes
    integer :: axis

    boxes = two%boxes
    do axis = 1, 3
      visited(axis) = min(one%width(axis)*two%inverse_cell(axis) + 2.0_dp, real(two%cells(axis), dp))
      boxes = boxes*visited(axis)/two%cells(axis)
    end do
    cost = one%boxes*(4.0_dp + visited(2)*visited(3) + boxes/block)
  end function cost

  !> Pairs of the boxes of class `a` of grid `one` with those of class `b` of grid `two`.  Called by all threads.
  subroutine look_up(one, a, two, b, box, exclusions, store, list)
    type(grid_type), intent(in) :: one, two
    integer, intent(in) :: a, b
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    type(search_task) :: task
    integer :: k, first

    first = one%cell_start(one%class(a)%first_cell)
    !$omp do schedule(dynamic, 64)
    do k = first, first + one%class(a)%boxes - 1
      task%owner = one%owner(k)
      task%row = one%row(k)
      task%bound = bounds_of(box(:,task%row), two)
      call collect_class(two, b, two%origin, box(:,task%row), task, box, exclusions, store, list)
      call compare(size(two%owner), two%bound, two%owner, two%row, box, task, exclusions, store, list)
    end do
    !$omp end do nowait
  end subroutine look_up

  !> Pairs of the boxes in one row of cells with those behind them in the same class and with coarser ones.
  subroutine search_row(grid, c, row, n, bound, owner, row_of, cell, cell_start, box, exclusions, store, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: c, row, n
    real(sp), intent(in) :: bound(0:n-1,6)
    integer(i4), intent(in) :: owner(0:n-1), row_of(0:n-1), cell(0:n-1), cell_start(0:*)
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    type(search_task) :: task
    integer :: base(4), from(0:4), to(0:4), i, r, x, nx, own, rows, coarser, longest
    real(dp) :: origin(3), one(6)

    nx = grid%class(c)%cells(1)
    own = grid%class(c)%first_cell + row*nx
    if (cell_start(own) == cell_start(own+nx)) return
    call neighbour_rows(grid%class(c), row, rows, base)
    do i = cell_start(own), cell_start(own+nx) - 1
      task%bound = bound(i,:)
      task%owner = owner(i)
      task%row = row_of(i)
      x = cell(i) - own
      ! one block of each row of cells, whatever its length, and the rest where there is one
      from(0) = i + 1
      to(0) = cell_start(own+min(x+2, nx))
      longest = to(0) - from(0)
      task%start(0) = from(0)
      task%valid = answers(min(longest, block))
      do r = 1, rows
        from(r) = cell_start(base(r)+max(x-1, 0))
        to(r) = cell_start(base(r)+min(x+2, nx))
        longest = max(longest, to(r) - from(r))
        task%start(r) = from(r)
        task%valid = ior(task%valid, shiftl(answers(min(to(r) - from(r), block)), r))
      end do
      task%blocks = rows + 1
      if (longest > block) then
        do r = 0, rows
          call collect(grid, from(r) + block, to(r), task, box, exclusions, store, list)
        end do
      end if
      if (grid%class(c)%wrapped(1) .and. (x == 0 .or. x == nx - 1)) then
        if (x == nx - 1) call collect(grid, cell_start(own), cell_start(own+1), task, box, exclusions, store, list)
        do r = 1, rows
          if (x == 0) call collect(grid, cell_start(base(r)+nx-1), cell_start(base(r)+nx), task, box, exclusions, store, list)
          if (x == nx - 1) call collect(grid, cell_start(base(r)), cell_start(base(r)+1), task, box, exclusions, store, list)
        end do
      end if
      if (c < grid%classes) call widen(task%bound, box(:,task%row), grid%origin, grid%scale, origin, one)
      do coarser = c + 1, grid%classes
        call collect_class(grid, coarser, origin, one, task, box, exclusions, store, list)
      end do
      call compare(n, bound, owner, row_of, box, task, exclusions, store, list)
    end do
  end subroutine search_row

  !> A box around a box, from its bounds, which are at hand while the box itself is far away in memory.  Where bounds are too
  !> coarse it is the box itself.
  !>
  !>   origin   out: the grid's origin in the coordinates of `one`
  !>   one      out: lower and upper corner
  subroutine widen(bound, box, grid_origin, scale, origin, one)
    real(sp), intent(in) :: bound(6)
    real(dp), intent(in) :: box(6), grid_origin(3), scale
    real(dp), intent(out) :: origin(3), one(6)
    real(dp), parameter :: rounding = 1.2e-7_dp, least = 1.0e-30_dp, coarse = 1.0e6_dp
    real(dp) :: x(6)

    x = real(bound, dp)
    if (maxval(abs(x)) > coarse) then
      origin = grid_origin
      one = box
      return
    end if
    origin = 0.0_dp
    one(1:3) = (x(1:3) - rounding*abs(x(1:3)) - least)/scale
    one(4:6) = (x(4:6) + rounding*abs(x(4:6)) + least)/scale
  end subroutine widen

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

  !> Adds to a task the boxes at the positions from <= k < to in the order of cells.
  subroutine collect(grid, from, to, task, box, exclusions, store, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: from, to
    type(search_task), intent(inout) :: task
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    integer :: k

    do k = from, to - 1, block
      if (task%blocks == most_blocks) call compare(size(grid%owner), grid%bound, grid%owner, grid%row, box, task, exclusions, &
        store, list)
      task%start(task%blocks) = k
      task%valid = ior(task%valid, shiftl(answers(min(to - k, block)), task%blocks))
      task%blocks = task%blocks + 1
    end do
  end subroutine collect

  !> Adds to a task the boxes of a class that its box may meet.
  subroutine collect_class(grid, c, origin, one, task, box, exclusions, store, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: c
    real(dp), intent(in) :: origin(3), one(6)   ! the grid's origin in the coordinates of `one`
    type(search_task), intent(inout) :: task
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    integer(i4) :: from(3), to(3)
    integer :: y, z, base, nx

    call cell_range(grid%class(c), origin, one, from, to)
    if (any(from > to)) return
    associate (class => grid%class(c), start => grid%cell_start)
      nx = class%cells(1)
      do z = from(3), to(3)
        do y = from(2), to(2)
          base = class%first_cell + nx*(folded(y, class%cells(2)) + class%cells(2)*folded(z, class%cells(3)))
          call collect(grid, start(base+from(1)), start(base+min(to(1)+1, nx)), task, box, exclusions, store, list)
          if (to(1) >= nx) call collect(grid, start(base), start(base+to(1)-nx+1), task, box, exclusions, store, list)
        end do
      end do
    end associate
  end subroutine collect_class

  !> Cell number after wrapping, for numbers below twice the number of cells.
  pure integer function folded(number, cells)
    integer, intent(in) :: number
    integer(i4), intent(in) :: cells

    folded = number
    if (number >= cells) folded = number - cells
  end function folded

  !> Pairs of the box of a task with those of its blocks, which are dropped.
  subroutine compare(n, bound, owner, row, box, task, exclusions, store, list)
    integer, intent(in) :: n
    real(sp), intent(in) :: bound(0:n-1,6)
    integer(i4), intent(in) :: owner(0:n-1), row(0:n-1)
    real(dp), intent(in) :: box(6,0:*)
    type(search_task), intent(inout) :: task
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    integer(i8) :: meets

    task%start(task%blocks) = -1
    meets = compared(n, bound, owner, task%bound, task%owner, task%blocks, task%start)
    if (iand(meets, doubt) /= 0) then
      meets = iand(meets, task%valid)
      call remove_apart(row, task, box, meets)
    end if
    meets = iand(meets, task%valid)
    if (meets /= 0) then
      if (exclusions%count > 0 .or. exclusions%inner) call remove_excluded(row, task, exclusions, meets)
      call store_pairs(row, task, meets, store, store%key, list%next, list%pieces)
    end if
    task%blocks = 0
    task%valid = 0
  end subroutine compare

  !> Answers about blocks of boxes: a bit is set when a box overlaps or touches `one`, after rounding, and has another owner.
  !> The last bits of bytes mean doubt: some bounds of the boxes there are the same, after rounding, as those of `one`.
  !>
  !> Signs of the least of all distances and of other numbers are worked out by arithmetic, without comparisons and branches:
  !> nobody could predict them, and vector instructions have none.
  pure integer(i8) function compared(n, bound, owner, one, own, blocks, start)
    integer, intent(in) :: n
    real(sp), intent(in) :: bound(0:n-1,6), one(6)
    integer(i4), intent(in) :: owner(0:n-1), own
    integer, intent(in) :: blocks, start(0:most_blocks)   ! behind the last one: -1
    integer(i4) :: touching(0:block-1), different(0:block-1), least, other
    integer(i8) :: two(block/2)   ! answers of two boxes each
    integer :: b, j, k

    touching = 0
    different = -1
    b = 0
    do
      ! the end is marked, since compilers would merge rounds of a counted loop, and then find no vectors in them
      j = start(b)
      if (j < 0) exit
      b = b + 1
      !$omp simd private(least, other)
      do k = 0, block - 1
        least = transfer(min(min(min(one(4) - bound(j+k,1), bound(j+k,4) - one(1)), &
          min(one(5) - bound(j+k,2), bound(j+k,5) - one(2))), min(one(6) - bound(j+k,3), bound(j+k,6) - one(3))), 0_i4)
        other = ieor(owner(j+k), own)
        touching(k) = ior(shiftr(touching(k), 1), iand(iand(not(least), ior(other, -other)), sign_bit))
        different(k) = iand(different(k), ior(least, -least))
      end do
    end do
    touching = ior(shiftr(touching, 32 - blocks), iand(shiftr(not(different), 31 - most_blocks), 2**most_blocks))
    two = transfer(touching, two)
    compared = ior(ior(two(1), shiftl(two(2), 8)), ior(shiftl(two(3), 16), shiftl(two(4), 24)))
  end function compared

  !> Removes the answers about boxes that do not overlap: they overlap strictly in x, and may touch in y and z.
  pure subroutine remove_apart(row, task, box, meets)
    integer(i4), intent(in) :: row(0:*)
    type(search_task), intent(in) :: task
    real(dp), intent(in) :: box(6,0:*)
    integer(i8), intent(inout) :: meets
    integer(i8) :: rest
    integer :: bit, i, j

    i = task%row
    rest = meets
    do while (rest /= 0)
      bit = trailz(rest)
      rest = iand(rest, rest - 1)
      j = row(position(task, bit))
      if (.not. (box(1,i) < box(4,j) .and. box(1,j) < box(4,i) .and. box(2,i) <= box(5,j) .and. box(2,j) <= box(5,i) .and. &
        box(3,i) <= box(6,j) .and. box(3,j) <= box(6,i))) meets = ibclr(meets, bit)
    end do
  end subroutine remove_apart

  !> Where the box of an answer is in the order of cells.
  pure integer function position(task, bit)
    type(search_task), intent(in) :: task
    integer, intent(in) :: bit

    position = task%start(iand(bit, 7)) + ior(iand(shiftr(bit, 2), 6), shiftr(bit, 5))
  end function position

  !> Removes the answers about pairs that are left out.
  pure subroutine remove_excluded(row, task, exclusions, meets)
    integer(i4), intent(in) :: row(0:*)
    type(search_task), intent(in) :: task
    type(exclusion_list), intent(in) :: exclusions
    integer(i8), intent(inout) :: meets
    integer(i8) :: rest
    integer(i4) :: j
    integer :: bit

    rest = meets
    do while (rest /= 0)
      bit = trailz(rest)
      rest = iand(rest, rest - 1)
      j = row(position(task, bit))
      if (exclusions%count > 0) then
        if (is_excluded(task%row, j, exclusions)) meets = ibclr(meets, bit)
      end if
      if (exclusions%inner) then
        if (is_adjacent(task%row, j, exclusions)) meets = ibclr(meets, bit)
      end if
    end do
  end subroutine remove_excluded

  !> Stores pairs.
  subroutine store_pairs(row, task, meets, store, key, next, pieces)
    integer(i4), intent(in) :: row(0:*)
    type(search_task), intent(in) :: task
    integer(i8), intent(in) :: meets
    type(pair_store), intent(inout) :: store
    integer(i8), intent(inout) :: key(0:*)
    integer(i4), intent(inout) :: next(0:*), pieces(0:*)
    integer(i8) :: rest
    integer(i4) :: j, low
    integer :: group, place, shift

    rest = meets
    shift = store%shift
    do while (rest /= 0)
      j = row(position(task, trailz(rest)))
      rest = iand(rest, rest - 1)
      low = min(task%row, j)
      group = shiftr(low, shift)
      place = next(group)
      if (iand(place, piece - 1) == 0) call take_piece(store, place, pieces(group))
      key(place) = ior(shiftl(int(low, i8), 32), int(max(task%row, j), i8))
      next(group) = place + 1
    end do
  end subroutine store_pairs

  !> Takes a piece of the store for the pairs from `place` on; where none is left pairs fall on one another, and will be lost.
  subroutine take_piece(store, place, pieces)
    type(pair_store), intent(inout) :: store
    integer, intent(inout) :: place
    integer(i4), intent(inout) :: pieces
    integer :: taken

    !$omp atomic capture
    taken = store%used
    store%used = store%used + 1
    !$omp end atomic
    pieces = pieces + 1
    if (taken > ubound(store%previous, 1)) then
      place = 0
      return
    end if
    store%previous(taken) = place/piece - 1
    place = piece*taken
  end subroutine take_piece

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
    integer(i4), intent(in) :: one, two
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
