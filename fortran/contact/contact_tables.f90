!> Hash tables of the contacts of one step: the largest contact area by (primitive, other body), and contact points by cells.
module contact_tables
  use kinds, only: dp, i4, i8
  implicit none
  private
  public :: area_table, point_table, tabulate_areas, raise_area, largest_area, lower_gap, least_gap, tabulate_points, cell_of, &
    hash_of, pair_key, mixed, table_size

  !> Largest cell number: larger ones are set to it.
  real(dp), parameter :: farthest_cell = 2.0_dp**62

  !> Largest areas by key (open addressing).
  type :: area_table
    integer(i8), allocatable :: key(:)    !< (0:) -1: free
    real(dp), allocatable :: area(:)
    real(dp), allocatable :: gap(:)       !< least gaps by key, where `lower_gap` enters them
  end type area_table

  !> Contacts by cell of their points and body: each contact appears once for each of its two bodies (chains, last row first).
  type :: point_table
    real(dp) :: inverse_cell
    integer(i4) :: first                  !< row of entries 0 and 1
    real(dp) :: low(3), high(3)           !< box in which points are listed
    integer(i4), allocatable :: head(:)   !< (0:) entry, -1: empty
    integer(i4), allocatable :: next(:)   !< (0:) by entry
  end type point_table

contains

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

  !> Enters the gap of a contact whose area has been entered, unless a smaller one is there.
  pure subroutine lower_gap(table, primitive, body, gap)
    type(area_table), intent(inout) :: table
    integer(i4), intent(in) :: primitive, body
    real(dp), intent(in) :: gap
    integer :: place

    place = place_of(table, pair_key(primitive, body))
    table%gap(place) = min(table%gap(place), gap)
  end subroutine lower_gap

  !> Least gap of the contacts of a primitive with another body; huge when there are none.
  pure real(dp) function least_gap(table, primitive, body)
    type(area_table), intent(in) :: table
    integer(i4), intent(in) :: primitive, body

    least_gap = table%gap(place_of(table, pair_key(primitive, body)))
  end function least_gap

  pure integer(i8) function pair_key(primitive, body)
    integer(i4), intent(in) :: primitive, body

    pair_key = ior(shiftl(int(primitive, i8), 32), int(body, i8))
  end function pair_key

  !> Place of a key, or the place where it would be inserted.
  pure integer function place_of(table, key) result(place)
    type(area_table), intent(in) :: table
    integer(i8), intent(in) :: key

    place = int(iand(mixed(key), int(size(table%key) - 1, i8)))
    do while (table%key(place) >= 0 .and. table%key(place) /= key)
      place = iand(place + 1, size(table%key) - 1)
    end do
  end function place_of

  !> Chains the contacts of the bodies that have new ones, the rows from `new` on, by the cells of their points; only points about new
  !> ones are listed, since a new contact on a floor would list all that stand on it.
  subroutine tabulate_points(first, new, last, slave, master, point, min_distance, touched, table)
    integer(i4), intent(in) :: first, new, last
    integer(i4), intent(in) :: slave(0:*), master(0:*)
    real(dp), intent(in) :: point(3,0:*), min_distance
    logical, intent(in) :: touched(0:)
    type(point_table), intent(inout) :: table
    integer :: k, side, place

    ! a box of four distances about a point meets at most two of these cells in each direction
    table%inverse_cell = 0.25_dp/min_distance
    table%first = first
    table%low = minval(point(:,new:last-1), dim=2) - 4*min_distance
    table%high = maxval(point(:,new:last-1), dim=2) + 4*min_distance
    allocate (table%head(0:table_size(2*int(last - first))-1), table%next(0:2*(last-first)-1))
    table%head = -1
    do k = first, last - 1
      if (any(point(:,k) < table%low .or. point(:,k) > table%high)) cycle
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

end module contact_tables
