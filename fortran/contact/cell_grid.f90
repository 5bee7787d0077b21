!> Uniform grids that hold boxes by their lower corners, one grid per class of sizes.
!>
!> Boxes are sorted into classes whose widths differ by a factor of 4 at most, so a floor or a wall does not
!> force large cells upon small bodies.  In each class and direction a cell is a little wider than the widest
!> box of the class and of all finer ones: overlapping boxes are in the same or in neighbouring cells.
!>
!> The number of cells is bounded by the number of boxes.  If bodies spread over more cells, cell numbers are
!> taken modulo a prime, which regular arrangements rarely share, so distant cells coincide.  Pairs stay
!> complete and unique, because a direction that is wrapped keeps three cells or more.
module cell_grid
  use kinds, only: sp, dp, i4, i8
  use thread_work, only: share
!$ use omp_lib, only: omp_get_max_threads
  implicit none
  private
  public :: size_class, grid_type, build_grid, store_grid, restore_grid, cell_range, bounds_of
  public :: absent, immovable, record, figures, most_classes

  !> Owners that are not body rows: of a primitive that takes no part, and of obstacles.  All obstacles have one owner,
  !> since they do not touch each other.
  integer(i4), parameter :: absent = -2, immovable = -1

  !> Largest span of widths within a class in quarters of an octave (a factor of 4).
  integer, parameter :: class_span = 8
  integer, parameter :: last_bin = 511
  !> Numbers kept for each bin: largest widths (3), largest lower corners (3), largest negated lower corners (3).
  integer, parameter :: extents = 9
  !> Largest cell number: larger ones are set to it; at this distance numbers are still exact to 1E-3.
  real(dp), parameter :: farthest_cell = 2.0_dp**38
  !> Added to numbers before rounding towards zero, so that rounding goes downwards.
  real(dp), parameter :: above_zero = 2.0_dp**39
  real(dp), parameter :: cell_margin = 1.001_dp
  !> Largest coordinate: boxes beyond it take no part.
  real(dp), parameter :: farthest = 1.0e100_dp
  integer, parameter :: cells_per_box = 4, fewest_cells = 64
  integer, parameter :: parallel_from = 4000
  !> Extra length of columns of boxes in the order of cells, so that they can be compared in blocks.
  integer, parameter :: padding = 8
  !> Numbers of the record of a box; boxes are first distributed among groups of cells that fit into the cache.
  integer, parameter :: record = 9
  !> Numbers in which a grid and each of its classes are stored, and the largest number of classes.
  integer, parameter :: figures = 20, most_classes = 64
  integer, parameter :: least_shift = 12, most_groups = 256
  !> Limit of coordinates in single precision, in cells of the finest class.
  real(dp), parameter :: farthest_bound = 1.0e37_dp

  !> The grid of one class of sizes.
  type :: size_class
    real(dp) :: width(3) = 0.0_dp      !< largest widths of its boxes
    real(dp) :: inverse_cell(3)        !< 1 / cell width
    integer(i8) :: lowest(3)           !< smallest cell numbers
    integer(i8) :: highest(3)          !< largest cell numbers
    integer(i4) :: cells(3)            !< numbers of cells kept
    logical :: wrapped(3)              !< cell numbers are taken modulo `cells`
    integer(i4) :: first_cell = 0      !< start of its cells in `grid_type%cell_start`
    integer(i4) :: boxes = 0           !< number of boxes
  end type size_class

  !> All classes, finest first, and copies of the boxes in the order of cells.
  !>
  !> Bounds are rounded to single precision by a monotone function of the coordinate.  So different bounds order coordinates
  !> correctly, and only where bounds are equal must coordinates be compared.
  type :: grid_type
    integer :: classes = 0
    real(dp) :: origin(3) = 0.0_dp
    real(dp) :: scale = 0.0_dp                          !< bounds are (coordinate - origin) scale
    integer(i4) :: boxes = 0                            !< number of boxes in cells
    type(size_class), allocatable :: class(:)
    integer(i4), pointer, contiguous :: cell_start(:)   !< (0:) first box of every cell, x fastest
    real(sp), pointer, contiguous :: bound(:,:)         !< (0:,6) lower and upper bounds of the boxes in the order of cells
    integer(i4), pointer, contiguous :: owner(:), row(:), cell(:)   !< (0:) their owners, rows and cells
  end type grid_type

contains

  !> Sorts boxes into cells, except absent ones.
  !>
  !>   n      number of boxes
  !>   member (0:) their rows, ascending
  !>   box    (6,:) lower corner, upper corner, by rows
  !>   owner  (0:) body row, `immovable` or `absent`; owners of boxes that are not finite become absent
  !>   place  (:) work array
  !>   cells  (0:) work array that holds `cell_start`: 4 n + 64 for each class of sizes, of which there are 64 at most
  !>   records (9,:) work array
  !>   grid   the classes, and the boxes in the order of cells in columns that the caller provides
  subroutine build_grid(n, member, box, owner, place, cells, records, grid)
    integer(i4), intent(in) :: n, member(0:*)
    real(dp), intent(in) :: box(6,0:*)
    integer(i4), intent(inout) :: owner(0:*), place(0:*), records(record,0:*)
    integer(i4), intent(inout), target, contiguous :: cells(0:)
    type(grid_type), intent(inout) :: grid
    integer(i4), allocatable :: used(:,:)   ! boxes of a bin of widths, thread by thread
    real(dp), allocatable :: most(:,:,:)    ! their extents, thread by thread
    integer(i4) :: class_of_bin(0:last_bin)
    integer :: last, threads

    grid%origin = middle(n, member, box)
    threads = 1
!$  if (n > parallel_from) threads = omp_get_max_threads()
    allocate (used(0:last_bin,0:threads-1), most(extents,0:last_bin,0:threads-1))
    call survey(n, member, box, owner, place, used, most)
    call find_classes(used, class_of_bin, grid)
    call find_ranges(used, most, class_of_bin, grid)
    call choose_cells(grid, last)
    grid%cell_start(0:last) => cells(0:last)
    call fill_cells(n, member, box, owner, class_of_bin, place, records, grid)
  end subroutine build_grid

  !> Stores a grid without its columns: the grid in column 0 of `kept`, its classes in columns 1 to `classes`.
  pure subroutine store_grid(grid, kept)
    type(grid_type), intent(in) :: grid
    real(dp), intent(inout) :: kept(figures,0:most_classes)
    integer :: c

    kept(:6,0) = [real(grid%classes, dp), grid%origin, grid%scale, real(grid%boxes, dp)]
    do c = 1, grid%classes
      associate (class => grid%class(c))
        kept(:,c) = [class%width, class%inverse_cell, real(class%lowest, dp), real(class%highest, dp), real(class%cells, dp), &
          merge(1.0_dp, 0.0_dp, class%wrapped), real(class%first_cell, dp), real(class%boxes, dp)]
      end associate
    end do
  end subroutine store_grid

  !> Restores a grid, without its columns.
  subroutine restore_grid(kept, cells, grid)
    real(dp), intent(in) :: kept(figures,0:most_classes)
    integer(i4), intent(inout), target, contiguous :: cells(0:)
    type(grid_type), intent(inout) :: grid
    integer :: c, last

    grid%classes = nint(kept(1,0))
    grid%origin = kept(2:4,0)
    grid%scale = kept(5,0)
    grid%boxes = nint(kept(6,0))
    allocate (grid%class(grid%classes))
    last = 0
    do c = 1, grid%classes
      associate (class => grid%class(c))
        class%width = kept(1:3,c)
        class%inverse_cell = kept(4:6,c)
        class%lowest = nint(kept(7:9,c), i8)
        class%highest = nint(kept(10:12,c), i8)
        class%cells = nint(kept(13:15,c))
        class%wrapped = kept(16:18,c) > 0.0_dp
        class%first_cell = nint(kept(19,c))
        class%boxes = nint(kept(20,c))
        last = last + product(class%cells)
      end associate
    end do
    grid%cell_start(0:last) => cells(0:last)
  end subroutine restore_grid

  !> Cell number of a coordinate before wrapping; monotone in `x`, and one cell or less from the lower to the
  !> upper corner of a box of the class or of a finer one.
  elemental integer(i8) function cell_number(x, origin, inverse_cell)
    real(dp), intent(in) :: x, origin, inverse_cell
    real(dp) :: t

    t = min(max((x - origin)*inverse_cell, -farthest_cell), farthest_cell)
    cell_number = int(t + above_zero, i8) - int(above_zero, i8)
  end function cell_number

  !> First and last cells, by direction, in which boxes of a class start that may meet a box.  They may exceed the number
  !> of cells once, where cell numbers are wrapped.  If there are none, the first is beyond the last.
  pure subroutine cell_range(class, origin, box, from, to)
    type(size_class), intent(in) :: class
    real(dp), intent(in) :: origin(3), box(6)
    integer(i4), intent(inout) :: from(3), to(3)
    integer(i8) :: first, last
    integer :: axis

    do axis = 1, 3
      ! a box that reaches these cells starts at most one cell below them
      first = cell_number(box(axis), origin(axis), class%inverse_cell(axis)) - class%lowest(axis) - 1
      last = cell_number(box(axis+3), origin(axis), class%inverse_cell(axis)) - class%lowest(axis)
      if (class%wrapped(axis)) then
        last = min(last - first, int(class%cells(axis), i8) - 1)
        first = wrap(first, class%cells(axis))
        last = last + first
      else
        first = min(max(first, 0_i8), int(class%cells(axis), i8))
        last = max(min(last, int(class%cells(axis), i8) - 1), -1_i8)
      end if
      from(axis) = int(first, i4)
      to(axis) = int(last, i4)
    end do
  end subroutine cell_range

  !> Cell number after wrapping; small numbers take a fast division.
  pure integer(i8) function wrap(number, cells)
    integer(i8), intent(in) :: number
    integer(i4), intent(in) :: cells

    if (abs(number) <= huge(1_i4)) then
      wrap = modulo(int(number, i4), cells)
    else
      wrap = modulo(number, int(cells, i8))
    end if
  end function wrap

  !> A point in the middle of most bodies: the median of a sample of lower corners, by direction.
  pure function middle(n, member, box) result(point)
    integer(i4), intent(in) :: n, member(0:*)
    real(dp), intent(in) :: box(6,0:*)
    real(dp) :: point(3)
    integer, parameter :: samples = 63
    real(dp) :: sorted(samples), x
    integer :: axis, count, i, j

    point = 0.0_dp
    count = min(int(n), samples)
    do axis = 1, 3
      do i = 1, count
        x = box(axis, member(int((int(i - 1, i8)*n)/count)))
        do j = i - 1, 1, -1
          if (.not. sorted(j) > x) exit
          sorted(j+1) = sorted(j)
        end do
        sorted(j+1) = x
      end do
      if (count > 0) point(axis) = sorted((count + 1)/2)
      if (.not. abs(point(axis)) <= farthest) point(axis) = 0.0_dp
    end do
  end function middle

  !> Whether all bounds are numbers of reasonable size.
  pure logical function is_near(box)
    real(dp), intent(in) :: box(6)

    is_near = abs(box(1)) <= farthest .and. abs(box(2)) <= farthest .and. abs(box(3)) <= farthest .and. &
      abs(box(4)) <= farthest .and. abs(box(5)) <= farthest .and. abs(box(6)) <= farthest
  end function is_near

  !> Quarter-octave bin of a width: its exponent, from -64 to 63, and two bits of its mantissa.
  pure integer function bin_of(width)
    real(dp), intent(in) :: width
    integer(i8), parameter :: lowest = 4*(1023 - 64)

    bin_of = int(min(max(shiftr(transfer(width, 1_i8), 50) - lowest, 0_i8), int(last_bin, i8)))
  end function bin_of

  !> Bins of the largest widths (left in `place`), and for each thread the numbers of boxes and the extents of bins.  Extents are
  !> maxima, which do not depend on the distribution of boxes among threads.
  subroutine survey(n, member, box, owner, place, used, most)
    integer(i4), intent(in) :: n, member(0:*)
    real(dp), intent(in) :: box(6,0:*)
    integer(i4), intent(inout) :: owner(0:*), place(0:*)
    integer(i4), intent(inout) :: used(0:,0:)
    real(dp), intent(inout) :: most(:,0:,0:)
    integer :: threads, thread

    threads = size(used, 2)
    !$omp parallel do num_threads(threads) if (threads > 1) schedule(static) private(thread)
    do thread = 0, threads - 1
      call survey_share(share(n, thread, threads), share(n, thread + 1, threads), member, box, owner, place, used(:,thread), &
        most(:,:,thread))
    end do
  end subroutine survey

  !> Bins, numbers of boxes and extents for one thread's share of the boxes.
  pure subroutine survey_share(from, to, member, box, owner, place, used, most)
    integer, intent(in) :: from, to
    integer(i4), intent(in) :: member(0:*)
    real(dp), intent(in) :: box(6,0:*)
    integer(i4), intent(inout) :: owner(0:*), place(0:*), used(0:*)
    real(dp), intent(inout) :: most(extents,0:*)
    real(dp) :: width
    integer :: i, k, bin

    used(0:last_bin) = 0
    do k = from, to - 1
      if (owner(k) == absent) cycle
      i = member(k)
      width = -1.0_dp
      if (is_near(box(:,i))) width = max(box(4,i) - box(1,i), box(5,i) - box(2,i), box(6,i) - box(3,i))
      if (width < 0.0_dp) then
        owner(k) = absent
        cycle
      end if
      bin = bin_of(width)
      place(k) = bin
      if (used(bin) == 0) most(:,bin) = -huge(1.0_dp)
      used(bin) = used(bin) + 1
      most(1:3,bin) = max(most(1:3,bin), box(4:6,i) - box(1:3,i))
      most(4:6,bin) = max(most(4:6,bin), box(1:3,i))
      most(7:9,bin) = max(most(7:9,bin), -box(1:3,i))
    end do
  end subroutine survey_share

  !> Chooses the classes of the bins in use.
  subroutine find_classes(used, class_of_bin, grid)
    integer(i4), intent(in) :: used(0:,0:)
    integer(i4), intent(inout) :: class_of_bin(0:last_bin)
    type(grid_type), intent(inout) :: grid
    integer :: bin, start

    grid%classes = 0
    start = -class_span
    class_of_bin = 0
    do bin = 0, last_bin
      if (all(used(bin,:) == 0)) cycle
      if (bin >= start + class_span) then
        grid%classes = grid%classes + 1
        start = bin
      end if
      class_of_bin(bin) = grid%classes
    end do
    allocate (grid%class(grid%classes))
    do bin = 0, last_bin
      if (class_of_bin(bin) == 0) cycle
      associate (class => grid%class(class_of_bin(bin)))
        class%boxes = class%boxes + sum(used(bin,:))
      end associate
    end do
  end subroutine find_classes

  !> Largest widths, cell widths and ranges of cell numbers of every class.
  subroutine find_ranges(used, most, class_of_bin, grid)
    integer(i4), intent(in) :: used(0:,0:), class_of_bin(0:last_bin)
    real(dp), intent(in) :: most(:,0:,0:)
    type(grid_type), intent(inout) :: grid
    real(dp) :: extent(extents,grid%classes), cell(3)
    integer :: thread, bin, c, axis

    extent = -huge(1.0_dp)
    do bin = 0, last_bin
      c = class_of_bin(bin)
      if (c == 0) cycle
      do thread = 0, ubound(used, 2)
        if (used(bin,thread) > 0) extent(:,c) = max(extent(:,c), most(:,bin,thread))
      end do
    end do
    grid%scale = 1.0_dp
    do c = 1, grid%classes
      associate (class => grid%class(c))
        class%width = max(extent(1:3,c), 0.0_dp)
        if (c > 1) class%width = max(class%width, grid%class(c-1)%width)
        cell = cell_margin*max(class%width, 1.0e-3_dp*maxval(class%width), tiny(1.0_dp)*1.0e10_dp)
        class%inverse_cell = 1.0_dp/cell
        if (c == 1) grid%scale = minval(class%inverse_cell)
        do axis = 1, 3
          class%lowest(axis) = cell_number(-extent(axis+6,c), grid%origin(axis), class%inverse_cell(axis))
          class%highest(axis) = cell_number(extent(axis+3,c), grid%origin(axis), class%inverse_cell(axis))
        end do
      end associate
    end do
  end subroutine find_ranges

  !> Chooses the number of cells of every class: the whole range if it is small, else a bounded number with wrapping.
  !> `last` is the total number of cells.
  subroutine choose_cells(grid, last)
    type(grid_type), intent(inout) :: grid
    integer, intent(out) :: last
    integer(i8) :: range(3)
    real(dp) :: room, bound
    integer :: c, axis, rank, order(3)

    last = 0
    do c = 1, grid%classes
      associate (class => grid%class(c))
        range = class%highest - class%lowest + 1
        order = ascending(range)
        room = real(max(fewest_cells, cells_per_box*class%boxes), dp)
        do rank = 1, 3
          axis = order(rank)
          bound = room**(1.0_dp/(4 - rank))
          class%wrapped(axis) = real(range(axis), dp) > bound
          if (class%wrapped(axis)) then
            class%cells(axis) = prime_below(max(3, int(bound)))
            class%wrapped(axis) = range(axis) > class%cells(axis)
          end if
          if (.not. class%wrapped(axis)) class%cells(axis) = int(range(axis), i4)
          room = max(1.0_dp, room/class%cells(axis))
        end do
        class%first_cell = last
        last = last + product(class%cells)
      end associate
    end do
  end subroutine choose_cells

  !> Order of three numbers by size.
  pure function ascending(x) result(order)
    integer(i8), intent(in) :: x(3)
    integer :: order(3)

    order = [1, 2, 3]
    if (x(order(1)) > x(order(2))) order(1:2) = order([2, 1])
    if (x(order(2)) > x(order(3))) order(2:3) = order([3, 2])
    if (x(order(1)) > x(order(2))) order(1:2) = order([2, 1])
  end function ascending

  !> Largest prime number up to `bound` (at least 3).
  pure integer function prime_below(bound) result(prime)
    integer, intent(in) :: bound
    integer :: divisor

    candidates: do prime = bound, 3, -1
      do divisor = 2, int(sqrt(real(prime, dp)))
        if (mod(prime, divisor) == 0) cycle candidates
      end do
      return
    end do candidates
    prime = 3
  end function prime_below

  !> Counting sort of the boxes by cell, in two passes that each stay within the cache: by groups of cells, then by the cells
  !> of each group.  `place` holds bins on entry.
  subroutine fill_cells(n, member, box, owner, class_of_bin, place, records, grid)
    integer(i4), intent(in) :: n, member(0:*)
    real(dp), intent(in) :: box(6,0:*)
    integer(i4), intent(in) :: owner(0:*), class_of_bin(0:last_bin)
    integer(i4), intent(inout) :: place(0:*), records(record,0:*)
    type(grid_type), intent(inout) :: grid
    integer(i4), allocatable :: next(:,:)   ! for each thread the next free place of each group of cells
    integer(i4) :: group_start(0:most_groups), bound(6)
    integer :: cells, shift, groups, threads, thread, i, j, k, group, count

    cells = ubound(grid%cell_start, 1)
    shift = least_shift
    do while (shiftr(cells, shift) >= most_groups)
      shift = shift + 1
    end do
    groups = shiftr(cells, shift) + 1
    threads = 1
!$  if (n > parallel_from) threads = omp_get_max_threads()
    allocate (next(0:groups-1,0:threads-1))
    next = 0
    !$omp parallel num_threads(threads) if (threads > 1) default(shared) private(thread, i, j, k, group, bound)
    !$omp do schedule(static)
    do thread = 0, threads - 1
      if (grid%classes == 1) then
        call number_cells_of_one(share(n, thread, threads), share(n, thread + 1, threads), member, box, owner, grid%class(1), &
          grid%origin, place)
      else
        call number_cells(share(n, thread, threads), share(n, thread + 1, threads), member, box, owner, class_of_bin, grid%class, &
          grid%origin, place)
      end if
      call count_groups(share(n, thread, threads), share(n, thread + 1, threads), shift, owner, place, next(:,thread))
    end do
    !$omp end do
    !$omp single
    count = 0
    do group = 0, groups - 1
      group_start(group) = count
      do k = 0, threads - 1
        count = count + next(group,k)
        next(group,k) = count - next(group,k)
      end do
    end do
    group_start(groups) = count
    grid%boxes = count
    grid%cell_start(cells) = count
    !$omp end single
    !$omp do schedule(static)
    do thread = 0, threads - 1
      do i = share(n, thread, threads), share(n, thread + 1, threads) - 1
        if (owner(i) == absent) cycle
        group = shiftr(place(i), shift)
        k = next(group,thread)
        next(group,thread) = k + 1
        j = member(i)
        call set_bounds(box(:,j), grid%origin, grid%scale, bound)
        records(1:6,k) = bound
        records(7,k) = owner(i)
        records(8,k) = j
        records(9,k) = place(i)
      end do
    end do
    !$omp end do
    !$omp do schedule(dynamic)
    do group = 0, groups - 1
      call fill_group(shiftl(group, shift), min(shiftl(group + 1, shift), cells), group_start(group), group_start(group+1), &
        records, size(grid%owner), grid%cell_start, grid%bound, grid%owner, grid%row, grid%cell)
    end do
    !$omp end do
    !$omp end parallel
    grid%bound(count:count+padding-1,:) = 0.0_sp
    grid%owner(count:count+padding-1) = 0
    grid%row(count:count+padding-1) = 0
  end subroutine fill_cells

  !> Computes the cells of lower corners.
  pure subroutine number_cells(from, to, member, box, owner, class_of_bin, class, origin, place)
    integer, intent(in) :: from, to
    integer(i4), intent(in) :: member(0:*), owner(0:*), class_of_bin(0:last_bin)
    real(dp), intent(in) :: box(6,0:*), origin(3)
    type(size_class), intent(in) :: class(*)
    integer(i4), intent(inout) :: place(0:*)
    integer :: i

    do i = from, to - 1
      if (owner(i) /= absent) place(i) = cell_of(class(class_of_bin(place(i))), origin, box(1:3,member(i)))
    end do
  end subroutine number_cells

  !> Computes the cells of lower corners of boxes of one class; its local copy lets compilers keep it in registers.
  pure subroutine number_cells_of_one(from, to, member, box, owner, one, origin, place)
    integer, intent(in) :: from, to
    integer(i4), intent(in) :: member(0:*), owner(0:*)
    real(dp), intent(in) :: box(6,0:*), origin(3)
    type(size_class), intent(in) :: one
    integer(i4), intent(inout) :: place(0:*)
    type(size_class) :: class
    integer :: i

    class = one
    do i = from, to - 1
      if (owner(i) /= absent) place(i) = cell_of(class, origin, box(1:3,member(i)))
    end do
  end subroutine number_cells_of_one

  !> Numbers of boxes in groups of cells.
  pure subroutine count_groups(from, to, shift, owner, cell, boxes)
    integer, intent(in) :: from, to, shift
    integer(i4), intent(in) :: owner(0:*), cell(0:*)
    integer(i4), intent(inout) :: boxes(0:*)
    integer :: i, group

    do i = from, to - 1
      if (owner(i) == absent) cycle
      group = shiftr(cell(i), iand(shift, 31))
      boxes(group) = boxes(group) + 1
    end do
  end subroutine count_groups

  !> Cell of a lower corner.
  pure integer(i4) function cell_of(class, origin, corner)
    type(size_class), intent(in) :: class
    real(dp), intent(in) :: origin(3), corner(3)
    integer(i8) :: number(3)
    integer :: axis

    number = cell_number(corner, origin, class%inverse_cell) - class%lowest
    if (any(class%wrapped)) then
      do axis = 1, 3
        if (class%wrapped(axis)) number(axis) = wrap(number(axis), class%cells(axis))
      end do
    end if
    cell_of = class%first_cell + int(number(1) + class%cells(1)*(number(2) + class%cells(2)*number(3)), i4)
  end function cell_of

  !> Bounds of a box in single precision, bit by bit.
  pure subroutine set_bounds(box, origin, scale, bits)
    real(dp), intent(in) :: box(6), origin(3), scale
    integer(i4), intent(inout) :: bits(6)
    real(dp) :: bound
    integer :: k

    do k = 1, 3
      bound = min(max((box(k) - origin(k))*scale, -farthest_bound), farthest_bound)
      bits(k) = transfer(real(bound, sp), 0_i4)
      bound = min(max((box(k+3) - origin(k))*scale, -farthest_bound), farthest_bound)
      bits(k+3) = transfer(real(bound, sp), 0_i4)
    end do
  end subroutine set_bounds

  !> Bounds of a box as they are in a grid.  (Separate from `set_bounds`, which compilers can inline; they cannot inline
  !> public procedures of shared libraries.)
  pure function bounds_of(box, grid) result(bound)
    real(dp), intent(in) :: box(6)
    type(grid_type), intent(in) :: grid
    real(sp) :: bound(6)
    integer(i4) :: bits(6)
    integer :: k

    call set_bounds(box, grid%origin, grid%scale, bits)
    do k = 1, 6
      bound(k) = transfer(bits(k), 0.0_sp)
    end do
  end function bounds_of

  !> Sorts the records first <= k < last of cells from <= c < to into columns, rows ascending within a cell.
  pure subroutine fill_group(from, to, first, last, records, n, start, bound, owner, row, cell)
    integer, intent(in) :: from, to, first, last, n
    integer(i4), intent(in) :: records(record,0:*)
    integer(i4), intent(inout) :: start(0:*), owner(0:*), row(0:*), cell(0:*)
    real(sp), intent(inout) :: bound(0:n-1,6)
    integer :: c, count, k, place, axis

    start(from:to-1) = 0
    do k = first, last - 1
      c = records(9,k)
      start(c) = start(c) + 1
    end do
    count = first
    do c = from, to - 1
      count = count + start(c)
      start(c) = count
    end do
    ! filled from the end, so that starts end at the first box and rows ascend within a cell
    do k = last - 1, first, -1
      c = records(9,k)
      place = start(c) - 1
      start(c) = place
      do axis = 1, 6
        bound(place,axis) = transfer(records(axis,k), 0.0_sp)
      end do
      owner(place) = records(7,k)
      row(place) = records(8,k)
      cell(place) = c
    end do
  end subroutine fill_group

end module cell_grid
