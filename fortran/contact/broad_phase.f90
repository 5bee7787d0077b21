!> Broad phase: candidate pairs of primitives, in the order of their keys.
module broad_phase
  use kinds, only: sp, dp, i4, i8
  use kind_numbers, only: obstacle_kind => body_obstacle, deformable_from => body_pseudo_rigid, sphere_kind => primitive_sphere
  use cell_grid, only: grid_type, build_grid, store_grid, restore_grid, absent, immovable
  use pair_search, only: pair_store, pair_list, exclusion_list, search_pairs, search_between, piece
  use pair_sort, only: prepare_store, sort_pairs
  use pair_cache, only: fatten_boxes, sum_flags
!$ use omp_lib, only: omp_get_max_threads
  implicit none
  private
  public :: sort_still, find_pairs

  integer, parameter :: parallel_from = 4000

contains

  !> Sorts the boxes of obstacles that never move into a grid of their own, once for many searches.
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

  !> Polyhedra without outer faces, which inner elements of meshes are.
  pure logical function takes_no_part(kind, outer_count)
    integer(i4), intent(in) :: kind, outer_count

    takes_no_part = kind < sphere_kind .and. outer_count == 0
  end function takes_no_part

  !> Lets a grid have its columns in the caller's arrays.
  subroutine point_columns(bounds, numbers, grid)
    real(sp), intent(inout), target, contiguous :: bounds(:,:)
    integer(i4), intent(inout), target, contiguous :: numbers(:,:)
    type(grid_type), intent(inout) :: grid

    grid%bound(0:,1:) => bounds
    grid%owner(0:) => numbers(:,1)
    grid%row(0:) => numbers(:,2)
    grid%cell(0:) => numbers(:,3)
  end subroutine point_columns

  !> All pairs of primitives of different bodies whose boxes overlap, without pairs of obstacles and excluded pairs of
  !> bodies (manual, section "Contact detection").
  !>
  !> Primitive rows are in the order of (body id, primitive number), which makes rows the key of a pair:
  !> pairs come sorted by (lower row, higher row).  Primitives without outer faces (inner mesh elements) take no part.
  !>
  !>   n, nbody              numbers of primitives and bodies
  !>   member                (:) rows of primitives that may move, ascending; all others are in the still grid
  !>   still, still_bounds, still_numbers, still_cells   the grid of `sort_still`
  !>   box                   (6,:) boxes [length]
  !>   kind, outer_count, body   (:) of primitives
  !>   adjacent_ptr, adjacent_count   (:) of primitives; adjacent (:) primitive rows, sorted for each primitive
  !>   body_kind, body_id, selfcontact   (:) of bodies; 1: polyhedra of one deformable body may touch, unless adjacent
  !>   nexcluded, excluded   (2,:) pairs of body identifiers (lower, higher), sorted by both
  !>   low, high             (:) the pairs, out
  !>   apart                 (:) nothing (-1) is known about them, out; see `pair_cache`
  !>   bounds, numbers, rows, records, cells, keys   work arrays, kept by the caller because fresh memory is dear:
  !>                         lengths `primitives` + 8 or more (bounds, numbers), `primitives` (rows, records), 4 `primitives` + 4200
  !>                         (cells), that of `low` (keys)
  !>   found                 number of pairs; when it exceeds the length of `low`, there was no room: enlarge to this
  !>                         length at least and call again
  subroutine find_pairs(n, nbody, member, still, still_bounds, still_numbers, still_cells, box, kind, outer_count, &
      body, adjacent_ptr, adjacent_count, adjacent, body_kind, body_id, selfcontact, nexcluded, excluded, low, high, apart, &
      bounds, numbers, rows, records, cells, keys, found, members, still_capacity, still_cell_capacity, primitives, &
      neighbours, bodies, exclusions, capacity, cell_capacity, length)
    integer(i4), intent(in) :: n, nbody, nexcluded, members, still_capacity, still_cell_capacity
    integer(i4), intent(in) :: primitives, neighbours, bodies, exclusions, capacity, cell_capacity, length
    integer(i4), intent(in) :: member(0:members-1)
    real(dp), intent(in) :: still(20,0:64)
    real(sp), intent(inout), target :: still_bounds(0:still_capacity-1,6)
    integer(i4), intent(inout), target :: still_numbers(0:still_capacity-1,3)
    integer(i4), intent(inout), target :: still_cells(0:still_cell_capacity-1)
    real(dp), intent(in) :: box(6,0:primitives-1)
    integer(i4), intent(in), target :: kind(0:primitives-1)
    integer(i4), intent(in) :: outer_count(0:primitives-1)
    integer(i4), intent(in), target :: body(0:primitives-1)
    integer(i4), intent(in), target :: adjacent_ptr(0:primitives-1), adjacent_count(0:primitives-1)
    integer(i4), intent(in), target :: adjacent(0:neighbours-1)
    integer(i4), intent(in) :: body_kind(0:bodies-1), selfcontact(0:bodies-1)
    integer(i8), intent(in), target :: body_id(0:bodies-1)
    integer(i8), intent(in), target :: excluded(2,0:exclusions-1)
    integer(i4), intent(inout) :: low(0:capacity-1), high(0:capacity-1)
    integer(i8), intent(inout) :: apart(0:capacity-1)
    real(sp), intent(inout), target :: bounds(0:length-1,6)
    integer(i4), intent(inout), target :: numbers(0:length-1,3)
    integer(i4), intent(inout) :: rows(0:primitives-1,2), records(9,0:primitives-1)
    integer(i4), intent(inout), target :: cells(0:cell_capacity-1)
    integer(i8), intent(inout), target :: keys(0:capacity-1)
    integer(i4), intent(out) :: found
    type(grid_type) :: grid, still_grid
    type(exclusion_list) :: exclusion
    type(pair_store) :: store
    type(pair_list), allocatable :: lists(:)
    integer :: i, k, threads

    if (capacity < piece) then
      found = piece
      return
    end if
    !$omp parallel do if (members > parallel_from) schedule(static) private(i)
    do k = 0, members - 1
      i = member(k)
      rows(k,1) = body(i)
      if (body_kind(body(i)) == obstacle_kind) rows(k,1) = immovable
      if (selfcontact(body(i)) /= 0 .and. body_kind(body(i)) >= deformable_from) rows(k,1) = bodies + i
      if (takes_no_part(kind(i), outer_count(i))) rows(k,1) = absent
    end do
    call point_columns(bounds, numbers, grid)
    call build_grid(members, member, box, rows(:,1), rows(:,2), cells, records, grid)
    call point_columns(still_bounds, still_numbers, still_grid)
    call restore_grid(still, still_cells, still_grid)
    threads = 1
!$  threads = omp_get_max_threads()
    allocate (lists(0:threads-1))
    call prepare_store(n, keys, store, lists)
    exclusion%count = nexcluded
    exclusion%pair(1:,1:) => excluded
    exclusion%body(0:) => body
    exclusion%id(0:) => body_id
    exclusion%inner = any(selfcontact(0:nbody-1) /= 0)
    exclusion%adjacent_ptr(0:) => adjacent_ptr
    exclusion%adjacent_count(0:) => adjacent_count
    exclusion%adjacent(0:) => adjacent
    call search_pairs(grid, box, exclusion, store, lists)
    call search_between(grid, still_grid, box, exclusion, store, lists)
    call sort_pairs(n, store, lists, capacity, low, high, apart, found)
  end subroutine find_pairs

end module broad_phase
