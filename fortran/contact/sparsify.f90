!> Sparsification: contacts of one step that add nothing to those around them.
!>
!> Two hash tables keep the work linear in the number of contacts, whatever rests on one floor: the largest
!> contact area by (primitive, other body), and contact points by (cell of twice the coincidence distance, body), so that
!> many bodies in one place do not look through the contacts of one another.
module sparsify
  use kinds, only: dp, i4, i8
  implicit none
  private
  public :: sparsify_rows

  integer(i4), parameter :: element_kind = 1, convex_kind = 0
  integer, parameter :: parallel_from = 500
  !> Cell numbers beyond this one are taken for it.
  real(dp), parameter :: farthest_cell = 2.0_dp**62

  !> Largest areas by key (open addressing).
  type :: area_table
    integer(i8), allocatable :: key(:)    !< (0:) -1: free
    real(dp), allocatable :: area(:)
  end type area_table

  !> Contacts by cell of their points and body, every contact once for each of its two bodies (chains, last row first).
  type :: point_table
    real(dp) :: inverse_cell
    integer(i4) :: first                  !< row that entries 0 and 1 stand for
    integer(i4), allocatable :: head(:)   !< (0:) entry, -1: empty
    integer(i4), allocatable :: next(:)   !< (0:) by entry
  end type point_table

contains

  !> Marks new contacts for removal (manual, CONTACT_SPARSIFY).  A new contact goes when
  !>
  !> 1. its area is below `min_area`; or
  !> 2. another contact of the same two bodies is larger by more than the factor 1/threshold, and the
  !>    primitives of both on the new contact's master body are topologically adjacent (elements: equal or
  !>    sharing a node; convexes: neighbours in the body's shape); or
  !> 3. its point is within 2 `min_distance` (largest coordinate difference) of that of another contact of one
  !>    of its bodies which is old, or new but later in the list, and not larger as in 2.
  !>
  !> Contacts marked already still count as "another contact".
  !>
  !>   first, new, last   rows first <= k < last are contacts, those from `new` on are new
  !>   threshold, min_area [length^2], min_distance [length]   settings
  !>   slave ... area     columns of the constraint table
  !>   kind, adjacent_ptr, adjacent_count   (:) of primitives; adjacent (:) primitive rows
  !>   nbody              number of bodies
  !>   next_id            identifier of the first row that stays, the others follow; id (:) those of rows from `new` on, out
  !>   keep               (:) 1: stays, row by row from `new`, out
  !>   removed            number of contacts that do not
  subroutine sparsify_rows(first, new, last, threshold, min_area, min_distance, nbody, next_id, slave, master, &
      slave_primitive, master_primitive, point, area, kind, adjacent_ptr, adjacent_count, adjacent, id, keep, removed, rows, &
      primitives, neighbours)
    integer(i4), intent(in) :: first, new, last, nbody
    real(dp), intent(in) :: threshold, min_area, min_distance
    integer(i4), intent(in) :: rows, primitives, neighbours
    integer(i4), intent(in) :: slave(0:rows-1), master(0:rows-1)
    integer(i4), intent(in) :: slave_primitive(0:rows-1), master_primitive(0:rows-1)
    real(dp), intent(in) :: point(3,0:rows-1), area(0:rows-1)
    integer(i4), intent(in) :: kind(0:primitives-1), adjacent_ptr(0:primitives-1), adjacent_count(0:primitives-1)
    integer(i4), intent(in) :: adjacent(0:neighbours-1)
    integer(i8), intent(in) :: next_id
    integer(i8), intent(inout) :: id(0:rows-1)
    integer(i4), intent(inout) :: keep(0:rows-1)
    integer(i4), intent(out) :: removed
    type(area_table) :: areas
    type(point_table) :: points
    logical, allocatable :: touched(:)
    integer(i4) :: count
    integer :: k

    allocate (touched(0:max(nbody, 1)-1))
    touched = .false.
    do k = new, last - 1
      touched(slave(k)) = .true.
      touched(master(k)) = .true.
    end do
    if (threshold > 0.0_dp) call tabulate_areas(first, last, slave, master, slave_primitive, master_primitive, &
      area, touched, areas)
    if (min_distance > 0.0_dp) call tabulate_points(first, last, slave, master, point, min_distance, touched, points)

    count = 0
    !$omp parallel do if (last - new > parallel_from) schedule(static) reduction(+:count)
    do k = new, last - 1
      keep(k-new) = 1
      if (area(k) < min_area) then
        keep(k-new) = 0
      else if (is_minor(k)) then
        keep(k-new) = 0
      else if (is_coincident(k)) then
        keep(k-new) = 0
      end if
      count = count + (1 - keep(k-new))
    end do
    removed = count
    count = 0
    do k = new, last - 1
      id(k) = next_id + count
      count = count + keep(k-new)
    end do

  contains

    !> Rule 2 for row k.
    pure logical function is_minor(k)
      integer, intent(in) :: k
      integer :: own, other, i
      real(dp) :: largest

      is_minor = .false.
      own = master_primitive(k)
      if (threshold <= 0.0_dp .or. (kind(own) /= element_kind .and. kind(own) /= convex_kind)) return
      largest = 0.0_dp
      if (kind(own) == element_kind) largest = largest_area(areas, own, slave(k))
      do i = adjacent_ptr(own), adjacent_ptr(own) + adjacent_count(own) - 1
        other = adjacent(i)
        if (other == own .or. kind(other) /= kind(own)) cycle
        largest = max(largest, largest_area(areas, other, slave(k)))
      end do
      is_minor = area(k) < threshold*largest
    end function is_minor

    !> Rule 3 for row k.
    pure logical function is_coincident(k)
      integer, intent(in) :: k
      integer(i8) :: from(3), to(3), x, y, z
      integer :: entry, side

      is_coincident = .false.
      if (min_distance <= 0.0_dp) return
      from = cell_of(point(:,k) - 2.0_dp*min_distance, points%inverse_cell)
      to = cell_of(point(:,k) + 2.0_dp*min_distance, points%inverse_cell)
      do z = from(3), to(3)
        do y = from(2), to(2)
          do x = from(1), to(1)
            do side = 0, 1
              entry = points%head(hash_of([x, y, z], merge(slave(k), master(k), side == 0), size(points%head)))
              do while (entry >= 0)
                if (is_witness(k, points%first + entry/2)) then
                  is_coincident = .true.
                  return
                end if
                entry = points%next(entry)
              end do
            end do
          end do
        end do
      end do
    end function is_coincident

    !> Whether row k is removed because of the coincidence with another row.
    pure logical function is_witness(k, other)
      integer, intent(in) :: k, other

      is_witness = .false.
      if (other == k .or. (other >= new .and. other < k)) return
      if (.not. all(abs(point(:,k) - point(:,other)) < 2.0_dp*min_distance)) return
      if (.not. any([slave(other) == slave(k), slave(other) == master(k), master(other) == slave(k), &
        master(other) == master(k)])) return
      is_witness = .not. area(k) < threshold*area(other)
    end function is_witness

  end subroutine sparsify_rows

  !> Tabulates the largest area of the contacts of every primitive with every other body.
  subroutine tabulate_areas(first, last, slave, master, slave_primitive, master_primitive, area, touched, table)
    integer(i4), intent(in) :: first, last
    integer(i4), intent(in) :: slave(0:*), master(0:*), slave_primitive(0:*), master_primitive(0:*)
    real(dp), intent(in) :: area(0:*)
    logical, intent(in) :: touched(0:)
    type(area_table), intent(inout) :: table
    integer :: k, size

    size = table_size(2*int(last - first))
    allocate (table%key(0:size-1), table%area(0:size-1))
    table%key = -1
    do k = first, last - 1
      if (.not. (touched(slave(k)) .and. touched(master(k)))) cycle
      call raise_area(table, master_primitive(k), slave(k), area(k))
      call raise_area(table, slave_primitive(k), master(k), area(k))
    end do
  end subroutine tabulate_areas

  !> Enters an area unless a larger one is there.
  pure subroutine raise_area(table, primitive, body, area)
    type(area_table), intent(inout) :: table
    integer(i4), intent(in) :: primitive, body
    real(dp), intent(in) :: area
    integer :: place

    place = place_of(table, pair_key(primitive, body))
    if (table%key(place) < 0) then
      table%key(place) = pair_key(primitive, body)
      table%area(place) = area
    else
      table%area(place) = max(table%area(place), area)
    end if
  end subroutine raise_area

  !> Largest area of the contacts of a primitive with another body; 0 when there are none.
  pure real(dp) function largest_area(table, primitive, body)
    type(area_table), intent(in) :: table
    integer(i4), intent(in) :: primitive, body
    integer :: place

    place = place_of(table, pair_key(primitive, body))
    largest_area = 0.0_dp
    if (table%key(place) >= 0) largest_area = table%area(place)
  end function largest_area

  pure integer(i8) function pair_key(primitive, body)
    integer(i4), intent(in) :: primitive, body

    pair_key = ior(shiftl(int(primitive, i8), 32), int(body, i8))
  end function pair_key

  !> Where a key is, or where it would go.
  pure integer function place_of(table, key) result(place)
    type(area_table), intent(in) :: table
    integer(i8), intent(in) :: key

    place = int(iand(mixed(key), int(size(table%key) - 1, i8)))
    do while (table%key(place) >= 0 .and. table%key(place) /= key)
      place = iand(place + 1, size(table%key) - 1)
    end do
  end function place_of

  !> Chains the contacts of the bodies that have new ones by the cells of their points.
  subroutine tabulate_points(first, last, slave, master, point, min_distance, touched, table)
    integer(i4), intent(in) :: first, last
    integer(i4), intent(in) :: slave(0:*), master(0:*)
    real(dp), intent(in) :: point(3,0:*), min_distance
    logical, intent(in) :: touched(0:)
    type(point_table), intent(inout) :: table
    integer :: k, side, place

    ! a box of four distances about a point meets two of these cells in each direction at most
    table%inverse_cell = 0.25_dp/min_distance
    table%first = first
    allocate (table%head(0:table_size(2*int(last - first))-1), table%next(0:2*(last-first)-1))
    table%head = -1
    do k = first, last - 1
      do side = 0, 1
        if (.not. touched(merge(slave(k), master(k), side == 0))) cycle
        place = hash_of(cell_of(point(:,k), table%inverse_cell), merge(slave(k), master(k), side == 0), size(table%head))
        table%next(2*(k-first)+side) = table%head(place)
        table%head(place) = 2*(k - first) + side
      end do
    end do
  end subroutine tabulate_points

  !> Cell of a point.
  pure function cell_of(point, inverse_cell) result(cell)
    real(dp), intent(in) :: point(3), inverse_cell
    integer(i8) :: cell(3)
    real(dp) :: t
    integer :: axis

    do axis = 1, 3
      t = point(axis)*inverse_cell
      if (.not. abs(t) < farthest_cell) t = sign(farthest_cell, t)
      cell(axis) = floor(t, i8)
    end do
  end function cell_of

  !> Place in a table of `size` (a power of two) for a cell and a body.
  pure integer function hash_of(cell, body, size)
    integer(i8), intent(in) :: cell(3)
    integer(i4), intent(in) :: body
    integer, intent(in) :: size
    integer(i8) :: key

    key = mixed(ieor(cell(2), mixed(ieor(cell(3), mixed(int(body, i8))))))
    hash_of = int(iand(mixed(ieor(cell(1), key)), int(size - 1, i8)))
  end function hash_of

  !> Scrambles the bits of a number; both products stay below 2^63.
  pure integer(i8) function mixed(x)
    integer(i8), intent(in) :: x
    integer(i8), parameter :: low_half = 4294967295_i8, one = 1640531527_i8, two = 1218071683_i8

    mixed = ieor(iand(x, low_half)*one, ishftc(shiftr(x, 32)*two, 17))
    mixed = ieor(mixed, shiftr(mixed, 29))
  end function mixed

  !> A power of two that leaves half of a table of `count` entries free.
  pure integer function table_size(count)
    integer, intent(in) :: count

    table_size = 16
    do while (table_size < 2*count)
      table_size = 2*table_size
    end do
  end function table_size

end module sparsify
