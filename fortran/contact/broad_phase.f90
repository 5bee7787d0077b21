!> Broad phase: candidate pairs of primitives, in the order of their keys.
module broad_phase
  use kinds, only: sp, dp, i4, i8
  use cell_grid, only: grid_type, build_grid, absent, immovable
  use pair_search, only: pair_store, pair_list, exclusion_list, search_pairs, piece
  use pair_sort, only: prepare_store, sort_pairs
!$ use omp_lib, only: omp_get_max_threads
  implicit none
  private
  public :: find_pairs

  integer(i4), parameter :: obstacle_kind = 0, deformable_from = 2, sphere_kind = 2
  integer, parameter :: parallel_from = 4000

contains

  !> All pairs of primitives of different bodies whose boxes overlap, without pairs of obstacles and excluded pairs of
  !> bodies (manual, section "Contact detection").
  !>
  !> Primitive rows are in the order of (body id, primitive number), which makes rows the key of a pair:
  !> pairs come sorted by (lower row, higher row).  Primitives without outer faces (inner mesh elements) take no part.
  !>
  !>   n                     number of primitives
  !>   box                   (6,:) boxes [length]
  !>   kind, outer_count, body   (:) of primitives
  !>   adjacent_ptr, adjacent_count   (:) of primitives; adjacent (:) primitive rows, sorted for each primitive
  !>   body_kind, body_id, selfcontact   (:) of bodies; 1: polyhedra of one deformable body may touch, unless adjacent
  !>   nexcluded, excluded   (2,:) pairs of body identifiers (lower, higher), sorted by both
  !>   low, high             (:) the pairs, out
  !>   apart                 (:) nothing (-1) is known about them, out; see `pair_cache`
  !>   bounds, numbers, rows, records, cells, keys   work arrays, kept by the caller because fresh memory is dear:
  !>                         lengths `primitives` + 8 (bounds, numbers), `primitives` (rows, records), 4 `primitives` + 4200
  !>                         (cells), that of `low` (keys)
  !>   found                 number of pairs; when it exceeds the length of `low`, there was no room: enlarge to this
  !>                         length at least and call again
  subroutine find_pairs(n, box, kind, outer_count, body, adjacent_ptr, adjacent_count, adjacent, body_kind, body_id, &
      selfcontact, nexcluded, excluded, low, high, apart, bounds, numbers, rows, records, cells, keys, found, primitives, &
      neighbours, bodies, exclusions, capacity, cell_capacity)
    integer(i4), intent(in) :: n, nexcluded
    integer(i4), intent(in) :: primitives, neighbours, bodies, exclusions, capacity, cell_capacity
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
    real(sp), intent(inout), target :: bounds(0:primitives+7,6)
    integer(i4), intent(inout), target :: numbers(0:primitives+7,3)
    integer(i4), intent(inout) :: rows(0:primitives-1,2), records(9,0:primitives-1)
    integer(i4), intent(inout), target :: cells(0:cell_capacity-1)
    integer(i8), intent(inout), target :: keys(0:capacity-1)
    integer(i4), intent(out) :: found
    type(grid_type) :: grid
    type(exclusion_list) :: exclusion
    type(pair_store) :: store
    type(pair_list), allocatable :: lists(:)
    integer :: i, threads

    if (capacity < piece) then
      found = piece
      return
    end if
    !$omp parallel do if (n > parallel_from) schedule(static)
    do i = 0, n - 1
      rows(i,1) = body(i)
      if (body_kind(body(i)) == obstacle_kind) rows(i,1) = immovable
      if (selfcontact(body(i)) /= 0 .and. body_kind(body(i)) >= deformable_from) rows(i,1) = bodies + i
      if (kind(i) < sphere_kind .and. outer_count(i) == 0) rows(i,1) = absent
    end do
    grid%bound(0:,1:) => bounds
    grid%owner(0:) => numbers(:,1)
    grid%row(0:) => numbers(:,2)
    grid%cell(0:) => numbers(:,3)
    call build_grid(n, box, rows(:,1), rows(:,2), cells, records, grid)
    threads = 1
!$  threads = omp_get_max_threads()
    allocate (lists(0:threads-1))
    call prepare_store(n, keys, store, lists)
    exclusion%count = nexcluded
    exclusion%pair(1:,1:) => excluded
    exclusion%body(0:) => body
    exclusion%id(0:) => body_id
    exclusion%inner = .false.
    do i = 0, maxval(body(0:n-1))
      if (selfcontact(i) /= 0) exclusion%inner = .true.
    end do
    exclusion%adjacent_ptr(0:) => adjacent_ptr
    exclusion%adjacent_count(0:) => adjacent_count
    exclusion%adjacent(0:) => adjacent
    call search_pairs(grid, box, exclusion, store, lists)
    call sort_pairs(n, store, lists, capacity, low, high, apart, found)
  end subroutine find_pairs

end module broad_phase
