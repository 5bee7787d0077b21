!> Overlapping boxes of different bodies, found cell by cell.
module pair_search
  use kinds, only: sp, dp, i1, i4, i8
  use cell_grid, only: grid_type, size_class, cell_range, bounds_of
!$ use omp_lib, only: omp_get_thread_num
  implicit none
  private
  public :: pair_store, pair_list, piece, exclusion_list, search_pairs, search_between

  !> Room for pairs; a pair is one number that sorts by (lower row, higher row): 2^32 lower + higher.  Threads and groups of
  !> lower rows take room in pieces, so that pairs are stored near those with which they will be sorted.
  type :: pair_store
    integer(i8), pointer, contiguous :: key(:)      !< (0:)
    integer(i4), allocatable :: previous(:)         !< (0:) previous piece of the same thread and group, -1: none
    integer :: shift = 0                            !< pairs are in one group if their lower rows differ only in the last bits
    integer :: groups = 0
    integer :: used = 0                             !< requested pieces, possibly more than available
  end type pair_store

  !> Position of a thread in the store.
  type :: pair_list
    integer(i4), allocatable :: next(:)     !< (0:) of groups: next place in the store; the start of a piece means that the last piece is full
    integer(i4), allocatable :: pieces(:)   !< (0:) of groups: number of pieces
  end type pair_list

  !> Pairs of bodies without contact.
  type :: exclusion_list
    integer(i4) :: count = 0
    integer(i8), pointer, contiguous :: pair(:,:)   !< (2,:) body identifiers (lower, higher), sorted
    integer(i4), pointer, contiguous :: body(:)     !< (0:) body rows of primitives
    integer(i8), pointer, contiguous :: id(:)       !< (0:) identifiers of bodies
    logical :: inner = .false.                      !< whether some bodies have self-contact
    integer(i4), pointer, contiguous :: adjacent_ptr(:), adjacent_count(:)  !< (0:) of primitives
    integer(i4), pointer, contiguous :: adjacent(:) !< (0:) adjacent primitives, sorted
  end type exclusion_list

  integer, parameter :: parallel_from = 1000
  !> Pairs of a piece of the store; a power of 2.
  integer, parameter :: piece = 256
  !> The half of a cell's neighbouring rows (y, z) that is searched; the cell's own row is searched forwards.
  integer, parameter :: row_step(2,4) = reshape([1, 0, -1, 1, 0, 1, 1, 1], [2, 4])
  !> A box is compared with blocks of others; the answers fit into the bits of one number: a byte for each box of a block
  !> (even ones first), with a bit for each block.  The last bits of all bytes mark doubt.
  integer :: number
  integer, parameter :: block = 8, most_blocks = 7, most_tasks = 32
  integer(i8), parameter :: doubt = not(9187201950435737471_i8)   ! hexadecimal 8080808080808080
  integer(i4), parameter :: sign_bit = not(huge(1_i4))
  !> Answers of the first boxes of the first block.
  integer(i8), parameter :: answers(0:block) = [0_i8, 1_i8, 4294967297_i8, 4294967553_i8, 1103806595329_i8, &
    1103806660865_i8, 282578783371521_i8, 282578800148737_i8, 72340172838076673_i8]

  !> Boxes, each with the blocks of boxes for comparison.  Many are collected, compared and answered together, since branches on
  !> answers are unpredictable and would delay the comparisons of the next box.
  type :: task_list
    integer :: count = 0
    real(sp) :: bound(6,0:most_tasks-1)
    integer(i4) :: owner(0:most_tasks-1), row(0:most_tasks-1)
    integer :: blocks(0:most_tasks-1)
    integer :: start(0:most_blocks,0:most_tasks-1)  !< positions of blocks in the order of cells; behind the last one: -1
    integer(i8) :: valid(0:most_tasks-1)            !< mask of valid answers
    integer(i8) :: meets(0:most_tasks)              !< answers
  end type task_list

  !> Boxes of a block by the number of the bit of an answer.
  integer(i4), parameter :: place_of_bit(0:63) = [(ior(iand(shiftr(number, 2), 6), shiftr(number, 5)), number = 0, 63)]

contains

  !> Finds every pair of overlapping boxes with different owners once.
  !>
  !>   grid         boxes in the order of cells
  !>   box          (6,:) the boxes themselves
  !>   exclusions   pairs of bodies to leave out
  !>   store        room for pairs
  !>   lists        (0:) one list per thread; their union does not depend on the number of threads
  subroutine search_pairs(grid, box, exclusions, store, lists)
    type(grid_type), intent(in) :: grid
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: lists(0:)
    type(task_list) :: tasks
    integer :: c, row, thread

    !$omp parallel if (grid%boxes > parallel_from) private(c, row, thread, tasks)
    thread = 0
    tasks%count = 0
!$  thread = omp_get_thread_num()
    do c = 1, grid%classes
      !$omp do schedule(dynamic, 8)
      do row = 0, grid%class(c)%cells(2)*grid%class(c)%cells(3) - 1
        call search_row(grid, c, row, size(grid%owner), grid%bound, grid%owner, grid%row, grid%cell, grid%cell_start, box, &
          exclusions, store, lists(thread), tasks)
      end do
      !$omp end do nowait
    end do
    call answer(grid, box, exclusions, store, lists(thread), tasks)
    !$omp end parallel
  end subroutine search_pairs

  !> Finds every pair of overlapping boxes of two grids with different owners once.  For each two classes the boxes of one are
  !> looked up in the cells of the other, in the cheaper order.
  subroutine search_between(one, two, box, exclusions, store, lists)
    type(grid_type), intent(in) :: one, two
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: lists(0:)
    type(task_list) :: tasks
    integer :: a, b, thread

    !$omp parallel if (min(one%boxes, two%boxes) > 0 .and. max(one%boxes, two%boxes) > parallel_from) &
    !$omp private(a, b, thread, tasks)
    thread = 0
    tasks%count = 0
!$  thread = omp_get_thread_num()
    do a = 1, one%classes
      do b = 1, two%classes
        if (cost(one%class(a), two%class(b)) <= cost(two%class(b), one%class(a))) then
          call look_up(one, a, two, b, box, exclusions, store, lists(thread), tasks)
        else
          call look_up(two, b, one, a, box, exclusions, store, lists(thread), tasks)
        end if
      end do
    end do
    !$omp end parallel
  end subroutine search_between

  !> Cost of looking up boxes of one class in the cells of another, in visited rows of cells and blocks of boxes.
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
  subroutine look_up(one, a, two, b, box, exclusions, store, list, tasks)
    type(grid_type), intent(in) :: one, two
    integer, intent(in) :: a, b
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    type(task_list), intent(inout) :: tasks
    integer :: k, first

    first = one%cell_start(one%class(a)%first_cell)
    !$omp do schedule(dynamic, 64)
    do k = first, first + one%class(a)%boxes - 1
      call open_task(bounds_of(box(:,one%row(k)), two), one%owner(k), one%row(k), tasks)
      call collect_class(two, b, two%origin, box(:,one%row(k)), tasks, box, exclusions, store, list)
      if (tasks%count == most_tasks) call answer(two, box, exclusions, store, list, tasks)
    end do
    !$omp end do nowait
    call answer(two, box, exclusions, store, list, tasks)
  end subroutine look_up

  !> Begins the list of blocks of a box.
  pure subroutine open_task(bound, owner, row, tasks)
    real(sp), intent(in) :: bound(6)
    integer(i4), intent(in) :: owner, row
    type(task_list), intent(inout) :: tasks
    integer :: t

    t = tasks%count
    tasks%bound(:,t) = bound
    tasks%owner(t) = owner
    tasks%row(t) = row
    tasks%blocks(t) = 0
    tasks%start(0,t) = -1
    tasks%valid(t) = 0
    tasks%count = t + 1
  end subroutine open_task

  !> Finds pairs of the boxes in one row of cells with later boxes of the same class and with boxes of coarser classes.
  subroutine search_row(grid, c, row, n, bound, owner, row_of, cell, cell_start, box, exclusions, store, list, tasks)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: c, row, n
    real(sp), intent(in) :: bound(0:n-1,6)
    integer(i4), intent(in) :: owner(0:n-1), row_of(0:n-1), cell(0:n-1), cell_start(0:*)
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    type(task_list), intent(inout) :: tasks
    integer :: base(4), from(0:4), to(0:4), i, r, t, x, nx, own, rows, coarser, longest
    integer(i8) :: valid
    real(dp) :: origin(3), one(6)
    logical :: wrapped

    nx = grid%class(c)%cells(1)
    own = grid%class(c)%first_cell + row*nx
    if (cell_start(own) == cell_start(own+nx)) return
    call neighbour_rows(grid%class(c), row, rows, base)
    wrapped = grid%class(c)%wrapped(1)
    do i = cell_start(own), cell_start(own+nx) - 1
      if (tasks%count == most_tasks) call answer(grid, box, exclusions, store, list, tasks)
      t = tasks%count
      tasks%count = t + 1
      tasks%bound(:,t) = bound(i,:)
      tasks%owner(t) = owner(i)
      tasks%row(t) = row_of(i)
      x = cell(i) - own
      ! one block of each row of cells, and further blocks of long rows
      from(0) = i + 1
      to(0) = cell_start(own+min(x+2, nx))
      longest = to(0) - from(0)
      tasks%start(0,t) = from(0)
      valid = answers(min(longest, block))
      do r = 1, rows
        from(r) = cell_start(base(r)+max(x-1, 0))
        to(r) = cell_start(base(r)+min(x+2, nx))
        longest = max(longest, to(r) - from(r))
        tasks%start(r,t) = from(r)
        valid = ior(valid, shiftl(answers(min(to(r) - from(r), block)), r))
      end do
      tasks%valid(t) = valid
      tasks%blocks(t) = rows + 1
      tasks%start(rows+1,t) = -1
      if (longest > block) then
        do r = 0, rows
          call collect(grid, from(r) + block, to(r), tasks, box, exclusions, store, list)
        end do
      end if
      if (wrapped .and. (x == 0 .or. x == nx - 1)) then
        if (x == nx - 1) call collect(grid, cell_start(own), cell_start(own+1), tasks, box, exclusions, store, list)
        do r = 1, rows
          if (x == 0) call collect(grid, cell_start(base(r)+nx-1), cell_start(base(r)+nx), tasks, box, exclusions, store, list)
          if (x == nx - 1) call collect(grid, cell_start(base(r)), cell_start(base(r)+1), tasks, box, exclusions, store, list)
        end do
      end if
      if (c == grid%classes) cycle
      call widen(tasks%bound(:,tasks%count-1), box(:,row_of(i)), grid%origin, grid%scale, origin, one)
      do coarser = c + 1, grid%classes
        call collect_class(grid, coarser, origin, one, tasks, box, exclusions, store, list)
      end do
    end do
  end subroutine search_row

  !> A box that contains a box, computed from bounds, which are in the cache while the box itself is not.  Where bounds are too
  !> coarse, it is the box itself.
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

  !> Adds to the last task the boxes at the positions from <= k < to in the order of cells.
  subroutine collect(grid, from, to, tasks, box, exclusions, store, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: from, to
    type(task_list), intent(inout) :: tasks
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    real(sp) :: bound(6)
    integer(i4) :: owner, row
    integer :: k, t, b

    do k = from, to - 1, block
      t = tasks%count - 1
      b = tasks%blocks(t)
      if (b == most_blocks) then
        bound = tasks%bound(:,t)
        owner = tasks%owner(t)
        row = tasks%row(t)
        if (tasks%count == most_tasks) call answer(grid, box, exclusions, store, list, tasks)
        call open_task(bound, owner, row, tasks)
        t = tasks%count - 1
        b = 0
      end if
      tasks%start(b,t) = k
      tasks%start(b+1,t) = -1
      tasks%valid(t) = ior(tasks%valid(t), shiftl(answers(min(to - k, block)), b))
      tasks%blocks(t) = b + 1
    end do
  end subroutine collect

  !> Adds to the last task the boxes of a class that the task's box may meet.
  subroutine collect_class(grid, c, origin, one, tasks, box, exclusions, store, list)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: c
    real(dp), intent(in) :: origin(3), one(6)   ! the grid's origin in the coordinates of `one`
    type(task_list), intent(inout) :: tasks
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    integer(i4) :: from(3), to(3)
    integer :: y, z, nx, base, first, last, b, t
    integer(i8) :: valid

    call cell_range(grid%class(c), origin, one, from, to)
    if (any(from > to)) return
    t = tasks%count - 1
    b = tasks%blocks(t)
    valid = tasks%valid(t)
    associate (class => grid%class(c), start => grid%cell_start)
      nx = class%cells(1)
      do z = from(3), to(3)
        do y = from(2), to(2)
          base = class%first_cell + nx*(folded(y, class%cells(2)) + class%cells(2)*folded(z, class%cells(3)))
          first = start(base+from(1))
          last = start(base+min(to(1)+1, nx))
          if (b < most_blocks .and. last - first <= block .and. to(1) < nx) then
            ! the usual case: one block or none
            tasks%start(b,t) = first
            valid = ior(valid, shiftl(answers(last - first), iand(b, 7)))
            b = b + min(last - first, 1)
          else
            tasks%start(b,t) = -1
            tasks%blocks(t) = b
            tasks%valid(t) = valid
            call collect(grid, first, last, tasks, box, exclusions, store, list)
            if (to(1) >= nx) call collect(grid, start(base), start(base+to(1)-nx+1), tasks, box, exclusions, store, list)
            t = tasks%count - 1
            b = tasks%blocks(t)
            valid = tasks%valid(t)
          end if
        end do
      end do
    end associate
    tasks%start(b,t) = -1
    tasks%blocks(t) = b
    tasks%valid(t) = valid
  end subroutine collect_class

  !> Cell number after wrapping, for numbers below twice the number of cells.
  pure integer function folded(number, cells)
    integer, intent(in) :: number
    integer(i4), intent(in) :: cells

    folded = number
    if (number >= cells) folded = number - cells
  end function folded

  !> Stores the pairs of the tasks' boxes with boxes of their blocks, and clears the tasks.
  subroutine answer(grid, box, exclusions, store, list, tasks)
    type(grid_type), intent(in) :: grid
    real(dp), intent(in) :: box(6,0:*)
    type(exclusion_list), intent(in) :: exclusions
    type(pair_store), intent(inout) :: store
    type(pair_list), intent(inout) :: list
    type(task_list), intent(inout) :: tasks
    logical :: doubts
    integer :: t

    call compare(size(grid%owner), grid%bound, grid%owner, tasks, doubts)
    if (doubts) then
      do t = 0, tasks%count - 1
        call remove_apart(grid%row, box, t, tasks)
      end do
    end if
    if (exclusions%count > 0 .or. exclusions%inner) then
      do t = 0, tasks%count - 1
        call remove_excluded(grid%row, exclusions, t, tasks)
      end do
    end if
    call store_pairs(grid%row, tasks, store, store%key, list%next, list%pieces)
    tasks%count = 0
  end subroutine answer

  !> Computes the valid answers of all tasks, and whether any is in doubt.
  pure subroutine compare(n, bound, owner, tasks, doubts)
    integer, intent(in) :: n
    real(sp), intent(in) :: bound(0:n-1,6)
    integer(i4), intent(in) :: owner(0:n-1)
    type(task_list), intent(inout) :: tasks
    logical, intent(out) :: doubts
    integer(i8) :: meets, all
    integer :: t

    all = 0
    do t = 0, tasks%count - 1
      meets = compared(n, bound, owner, tasks%bound(:,t), tasks%owner(t), tasks%blocks(t), tasks%start(:,t))
      all = ior(all, meets)
      tasks%meets(t) = iand(meets, tasks%valid(t))
    end do
    doubts = iand(all, doubt) /= 0
  end subroutine compare

  !> Answers about blocks of boxes: a bit is set if a box overlaps or touches `one`, after rounding, and has another owner.
  !> The last bits of bytes mark doubt: some rounded bounds of the boxes equal those of `one`.
  !>
  !> Signs of the smallest distances and of other numbers are computed by arithmetic, without comparisons and branches, which
  !> would be unpredictable and have no vector instructions.
  pure integer(i8) function compared(n, bound, owner, one, own, blocks, start)
    integer, intent(in) :: n
    real(sp), intent(in) :: bound(0:n-1,6), one(6)
    integer(i4), intent(in) :: owner(0:n-1), own
    integer, intent(in) :: blocks, start(0:most_blocks)   ! after the last one: -1
    integer(i4) :: touching(0:block-1), different(0:block-1), least, other
    integer(i8) :: two(block/2)   ! answers of two boxes each
    integer :: b, j, k

    touching = 0
    different = -1
    b = 0
    do
      ! the end is marked, since compilers would unroll a counted loop, and then not vectorise it
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

  !> Removes answers about boxes that do not overlap: strictly in x; in y and z touching is enough.
  pure subroutine remove_apart(row, box, t, tasks)
    integer(i4), intent(in) :: row(0:*)
    real(dp), intent(in) :: box(6,0:*)
    integer, intent(in) :: t
    type(task_list), intent(inout) :: tasks
    integer(i8) :: rest
    integer :: bit, i, j

    i = tasks%row(t)
    rest = tasks%meets(t)
    do while (rest /= 0)
      bit = trailz(rest)
      rest = iand(rest, rest - 1)
      j = row(position(tasks%start(:,t), bit))
      if (.not. (box(1,i) < box(4,j) .and. box(1,j) < box(4,i) .and. box(2,i) <= box(5,j) .and. box(2,j) <= box(5,i) .and. &
        box(3,i) <= box(6,j) .and. box(3,j) <= box(6,i))) tasks%meets(t) = ibclr(tasks%meets(t), bit)
    end do
  end subroutine remove_apart

  !> Position of an answer's box in the order of cells.
  pure integer function position(start, bit)
    integer, intent(in) :: start(0:most_blocks), bit

    position = start(iand(bit, 7)) + place_of_bit(bit)
  end function position

  !> Removes answers about excluded pairs.
  pure subroutine remove_excluded(row, exclusions, t, tasks)
    integer(i4), intent(in) :: row(0:*)
    type(exclusion_list), intent(in) :: exclusions
    integer, intent(in) :: t
    type(task_list), intent(inout) :: tasks
    integer(i8) :: rest
    integer(i4) :: j
    integer :: bit

    rest = tasks%meets(t)
    do while (rest /= 0)
      bit = trailz(rest)
      rest = iand(rest, rest - 1)
      j = row(position(tasks%start(:,t), bit))
      if (exclusions%count > 0) then
        if (is_excluded(tasks%row(t), j, exclusions)) tasks%meets(t) = ibclr(tasks%meets(t), bit)
      end if
      if (exclusions%inner) then
        if (is_adjacent(tasks%row(t), j, exclusions)) tasks%meets(t) = ibclr(tasks%meets(t), bit)
      end if
    end do
  end subroutine remove_excluded

  !> Stores pairs of all tasks in one loop, since the number of pairs per task is unpredictable.
  subroutine store_pairs(row_of, tasks, store, key, next, pieces)
    integer(i4), intent(in) :: row_of(0:*)
    type(task_list), intent(inout) :: tasks
    type(pair_store), intent(inout) :: store
    integer(i8), intent(inout) :: key(0:*)
    integer(i4), intent(inout) :: next(0:*), pieces(0:*)
    integer(i8) :: rest, following, done
    integer(i4) :: i, j, low, less
    integer :: task(0:most_tasks)   ! those with pairs
    integer :: k, t, p, bit, pairs, used, group, place, shift

    used = 0
    pairs = 0
    do t = 0, tasks%count - 1
      rest = tasks%meets(t)
      tasks%meets(used) = rest
      task(used) = t
      used = used + merge(1, 0, rest /= 0)
      pairs = pairs + popcnt(rest)
    end do
    tasks%meets(used) = 0
    task(used) = 0
    shift = iand(store%shift, 31)
    k = 0
    rest = tasks%meets(0)
    do p = 1, pairs
      following = tasks%meets(k+1)
      t = task(k)
      bit = int(trailz(rest))
      i = tasks%row(t)
      j = row_of(tasks%start(iand(bit, 7),t) + place_of_bit(bit))
      less = iand(j - i, shifta(j - i, 31))   ! i - j where j is less than i
      low = i + less
      group = shiftr(low, shift)
      place = next(group)
      if (iand(place, piece - 1) == 0) call take_piece(store, key, place, pieces(group))
      key(place) = ior(shiftl(int(low, i8), 32), int(j - less, i8))
      next(group) = place + 1
      rest = iand(rest, rest - 1)
      done = shiftr(rest - 1, 63)   ! 1: no pair is left
      k = k + int(done)
      rest = ior(rest, iand(following, -done))
    end do
  end subroutine store_pairs

  !> Takes a piece of the store for the pairs from `place` on; if the store is full, pairs overwrite each other and are lost.
  subroutine take_piece(store, key, place, pieces)
    type(pair_store), intent(inout) :: store
    integer(i8), intent(inout) :: key(0:*)
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
    key(place:place+piece-1) = 0   ! loads the whole piece into the cache at once; single pairs would wait for it
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
