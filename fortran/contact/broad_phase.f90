!> Broad phase: candidate pairs of primitives, in the order of their keys.
module broad_phase
  use kinds, only: sp, dp, i4, i8
  use kind_numbers, only: obstacle_kind => body_obstacle, deformable_from => body_pseudo_rigid, sphere_kind => primitive_sphere
  use cell_grid, only: grid_type, build_grid, store_grid, restore_grid, absent, immovable
  use pair_search, only: pair_store, pair_list, exclusion_list, search_pairs, search_between, piece
  use pair_sort, only: prepare_store, sort_pairs
  use body_state, only: bodies_and_triples, open_bodies
  use polyhedra, only: shape_tables
  use shape_state, only: open_shapes
  use state_tables, only: workspace, still_boxes, open_table
  use table_registry, only: table_open
!$ use omp_lib, only: omp_get_max_threads
  implicit none
  private
  public :: sort_still, find_pairs

  integer, parameter :: parallel_from = 4000

contains

  !> Sorts the boxes of obstacles that never move into a separate grid, which many searches then use.
  !>
  !>   member        (:) rows of their primitives, ascending
  !>   box           (6,:) boxes of all primitives [length]
  !>   kind, outer_count   (:) of primitives
  !>   rows, records work arrays, of length `primitives`
  !>   grid          (20,0:64) the grid, out
  !>   bounds, numbers, cells   its columns, out: lengths n + 8, n + 8, 4 n + 4200 for n members
  subroutine sort_still(member, box, kind, outer_count, rows, records, grid, bounds, numbers, cells, primitives, &
      members, capacity, cell_capacity)
    integer(i4), intent(in) :: primitives, members, capacity, cell_capacity
    integer(i4), intent(in) :: member(0:members-1)
    real(dp), intent(in) :: box(6,0:primitives-1)
    integer(i4), intent(in) :: kind(0:primitives-1), outer_count(0:primitives-1)
    integer(i4), intent(inout) :: rows(0:primitives-1,2), records(9,0:primitives-1)
    real(dp), intent(inout) :: grid(20,0:64)
    real(sp), intent(inout), target :: bounds(0:capacity-1,6)
    integer(i4), intent(inout), target :: numbers(0:capacity-1,3)
    integer(i4), intent(inout), target :: cells(0:cell_capacity-1)
    type(grid_type) :: still
    integer :: k

    do k = 0, members - 1
      rows(k,1) = immovable
      if (takes_no_part(kind(member(k)), outer_count(member(k)))) rows(k,1) = absent
    end do
    call point_columns(bounds, numbers, still)
    call build_grid(members, member, box, rows(:,1), rows(:,2), cells, records, still)
    call store_grid(still, grid)
  end subroutine sort_still

  !> Whether a primitive takes no part in contact: a polyhedron without outer faces, that is, an interior element of a mesh.
  pure logical function takes_no_part(kind, outer_count)
    integer(i4), intent(in) :: kind, outer_count

    takes_no_part = kind < sphere_kind .and. outer_count == 0
  end function takes_no_part

  !> Points the columns of a grid to arrays of the caller.
  subroutine point_columns(bounds, numbers, grid)
    real(sp), intent(inout), target, contiguous :: bounds(:,:)
    integer(i4), intent(inout), target, contiguous :: numbers(:,:)
    type(grid_type), intent(inout) :: grid

    grid%bound(0:,1:) => bounds
    grid%owner(0:) => numbers(:,1)
    grid%row(0:) => numbers(:,2)
    grid%cell(0:) => numbers(:,3)
  end subroutine point_columns

  !> Finds all pairs of primitives of different bodies with overlapping boxes, except pairs of obstacles and excluded pairs of
  !> bodies (docs/contact-points.md, Cost of a step).
  !>
  !> Primitive rows are in the order of (body id, primitive number), which makes rows the key of a pair:
  !> pairs come sorted by (lower row, higher row).  Primitives without outer faces (inner mesh elements) take no part.
  !>
  !>   bodies                reads kind, id and selfcontact (1: polyhedra of one deformable body may touch, unless adjacent)
  !>   shapes                reads kind, outer_count, body and adjacent primitives
  !>   work                  reads `fat`; writes `low`, `high`, the pairs, and `apart`, which becomes -1 (unknown); see `pair_cache`
  !>   still_boxes           reads `movable`, rows of primitives that may move, ascending; all others are in the still grid
  !>   still, still_bounds, still_numbers, still_cells   the grid of `sort_still`
  !>   excluded              (2,:) pairs of body identifiers (lower, higher), sorted by both
  !>   bounds, numbers, rows, records, cells   work arrays, kept by the caller, since new memory is slow:
  !>                         lengths `primitives` + 8 or more (bounds, numbers), `primitives` (rows, records), 4 `primitives` + 4200
  !>   found                 number of pairs; if it exceeds the length of `low`, there was no room: enlarge to this
  !>                         length at least and call again; -1: a handle is void
  subroutine find_pairs(handles, still, still_bounds, still_numbers, still_cells, excluded, bounds, numbers, rows, records, cells, &
      found, still_capacity, still_cell_capacity, primitives, exclusions, cell_capacity, length)
    integer(i8), intent(in) :: handles(10)        !< of bodies (3), shapes (5), work space and obstacles at rest
    integer(i4), intent(in) :: still_capacity, still_cell_capacity, primitives, exclusions, cell_capacity, length
    real(dp), intent(in) :: still(20,0:64)
    real(sp), intent(inout), target :: still_bounds(0:still_capacity-1,6)
    integer(i4), intent(inout), target :: still_numbers(0:still_capacity-1,3)
    integer(i4), intent(inout), target :: still_cells(0:still_cell_capacity-1)
    integer(i8), intent(in), target :: excluded(2,0:exclusions-1)
    real(sp), intent(inout), target :: bounds(0:length-1,6)
    integer(i4), intent(inout), target :: numbers(0:length-1,3)
    integer(i4), intent(inout) :: rows(0:primitives-1,2), records(9,0:primitives-1)
    integer(i4), intent(inout), target :: cells(0:cell_capacity-1)
    integer(i4), intent(out) :: found
    type(bodies_and_triples) :: state
    type(shape_tables) :: shapes
    type(workspace) :: work
    type(still_boxes) :: resting
    type(grid_type) :: grid, still_grid
    type(exclusion_list) :: exclusion
    type(pair_store) :: store
    type(pair_list), allocatable :: lists(:)
    integer(i4) :: members, status
    integer :: i, k, threads

    found = -1
    call open_bodies(handles(1:3), state, status)
    if (status == table_open) call open_shapes(handles(4:8), shapes, status)
    if (status == table_open) call open_table(handles(9), work, status)
    if (status == table_open) call open_table(handles(10), resting, status)
    if (status /= table_open) return
    found = piece
    if (size(work%low) < piece) return
    members = size(resting%movable)
    associate (bodies => state%bodies, body => shapes%body)
      !$omp parallel do if (members > parallel_from) schedule(static) private(i)
      do k = 0, members - 1
        i = resting%movable(k)
        rows(k,1) = body(i)
        if (bodies%kind(body(i)) == obstacle_kind) rows(k,1) = immovable
        if (bodies%selfcontact(body(i)) /= 0 .and. bodies%kind(body(i)) >= deformable_from) rows(k,1) = size(bodies%id) + i
        if (takes_no_part(shapes%kind(i), shapes%outer_count(i))) rows(k,1) = absent
      end do
    end associate
    call point_columns(bounds, numbers, grid)
    call build_grid(members, resting%movable, work%fat, rows(:,1), rows(:,2), cells, records, grid)
    call point_columns(still_bounds, still_numbers, still_grid)
    call restore_grid(still, still_cells, still_grid)
    threads = 1
!$  threads = omp_get_max_threads()
    allocate (lists(0:threads-1))
    call prepare_store(shapes%primitives, work%keys, store, lists)
    exclusion%count = exclusions
    exclusion%pair(1:,1:) => excluded
    exclusion%body => shapes%body
    exclusion%id => state%bodies%id
    exclusion%inner = any(state%bodies%selfcontact(0:int(state%bodies%rows)-1) /= 0)
    exclusion%adjacent_ptr => shapes%adjacent_ptr
    exclusion%adjacent_count => shapes%adjacent_count
    exclusion%adjacent => shapes%adjacent
    call search_pairs(grid, work%fat, exclusion, store, lists)
    call search_between(grid, still_grid, work%fat, exclusion, store, lists)
    call sort_pairs(shapes%primitives, store, lists, size(work%low), work%low, work%high, work%apart, found)
  end subroutine find_pairs

end module broad_phase
