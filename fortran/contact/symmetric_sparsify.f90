!> Sparsification by a rule that treats both bodies of a contact alike.
module symmetric_sparsify
  use kinds, only: dp, i4, i8
  use polyhedra, only: shape_tables
  use state_tables, only: constraint_table
  use contact_tables, only: area_table, point_table, raise_area, largest_area, lower_gap, least_gap, pair_key, cell_of, hash_of, &
    mixed, table_size
  implicit none
  private
  public :: sparsify_symmetrically

  real(dp), parameter :: facing = 0.985_dp   !< cosine of the angle (10 degrees) up to which normals count as equal, as in `manifold`

contains

  !> Marks new contacts for removal.  In order of decreasing area, a new contact is removed if
  !>
  !> 1. its area is below `min_area`; or
  !> 2. a contact that stays, of the same two bodies, is larger by more than the factor 1/threshold, the primitives of both are
  !>    the same or topologically adjacent on each body, and its gap is not larger by more than 2 `min_distance`: points where edges
  !>    cross have no area, but carry bodies that are further apart beside them; or
  !> 3. its point is within 2 `min_distance` (largest coordinate difference) of that of a contact that stays, of the same two
  !>    bodies.
  !>
  !>   first, new, last   rows first <= k < last are contacts, those from `new` on are new
  !>   order              (:) the new rows, in the order in which they are judged
  !>   threshold, min_area [length^2], min_distance [length]   settings
  !>   gained             (:) for each row, out: areas of contacts that rule 3 removed and whose normal is that of the contact that stays:
  !>                      corners of the faces of a mesh coincide, and the remaining contact acts for all of them [length^2]
  !>   keep               (:) 1: stays, row by row from `new`, out
  !>   removed            number of contacts that do not stay
  subroutine sparsify_symmetrically(first, new, last, order, threshold, min_area, min_distance, shapes, rows, gained, keep, &
      removed)
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(in) :: order(0:)
    real(dp), intent(inout) :: gained(0:)
    integer(i4), intent(inout) :: keep(0:)
    integer(i4), intent(in) :: first, new, last
    real(dp), intent(in) :: threshold, min_area, min_distance
    integer(i4), intent(out) :: removed
    type(area_table) :: areas
    type(point_table) :: points
    integer :: i, k, other
    real(dp) :: largest   ! area of a contact that stays
    logical :: large

    i = table_size(int(last - first))
    allocate (areas%key(0:i-1), areas%area(0:i-1), areas%gap(0:i-1), points%head(0:i-1), points%next(0:last-first-1))
    areas%key = -1
    areas%gap = huge(1.0_dp)
    points%head = -1
    points%first = first
    points%inverse_cell = 0.0_dp
    if (min_distance > 0.0_dp) points%inverse_cell = 0.25_dp/min_distance
    largest = 0.0_dp
    do k = first, new - 1
      call stay(rows, k, areas, points)
      largest = max(largest, rows%area(k))
    end do
    removed = 0
    gained = 0.0_dp
    do i = 0, last - new - 1
      k = order(i)
      keep(k-new) = 0
      other = coincident(rows, points, min_distance, k)
      large = .not. rows%area(k) < min_area
      if (large .and. rows%area(k) < threshold*largest) large = .not. is_minor(shapes, rows, areas, threshold, min_distance, k)
      if (other >= 0) then
        if (large .and. abs(dot_product(rows%base(:,3,k), rows%base(:,3,other))) > facing) &
          gained(other) = gained(other) + rows%area(k)
      else if (large) then
        keep(k-new) = 1
        call stay(rows, k, areas, points)
        largest = max(largest, rows%area(k))
      end if
      removed = removed + (1 - keep(k-new))
    end do
  end subroutine sparsify_symmetrically

  !> Enters contact k, which stays, into the tables.
  subroutine stay(rows, k, areas, points)
    type(constraint_table), intent(in) :: rows
    integer, intent(in) :: k
    type(area_table), intent(inout) :: areas
    type(point_table), intent(inout) :: points
    integer :: place

    call raise_area(areas, min(rows%slave_primitive(k), rows%master_primitive(k)), max(rows%slave_primitive(k), &
      rows%master_primitive(k)), rows%area(k))
    call lower_gap(areas, min(rows%slave_primitive(k), rows%master_primitive(k)), max(rows%slave_primitive(k), &
      rows%master_primitive(k)), rows%gap(k))
    place = hash_of(cell_of(rows%point(:,k), points%inverse_cell), pair_of(rows, k), size(points%head))
    points%next(k-points%first) = points%head(place)
    points%head(place) = k
  end subroutine stay

  !> A number for the two bodies of contact k; other pairs may have the same.
  pure integer(i4) function pair_of(rows, k)
    type(constraint_table), intent(in) :: rows
    integer, intent(in) :: k

    pair_of = int(iand(mixed(pair_key(min(rows%slave(k), rows%master(k)), max(rows%slave(k), rows%master(k)))), &
      1073741823_i8), i4)
  end function pair_of

  !> Whether contacts k and l are of the same two bodies.
  pure logical function same_bodies(rows, k, l)
    type(constraint_table), intent(in) :: rows
    integer, intent(in) :: k, l

    same_bodies = min(rows%slave(k), rows%master(k)) == min(rows%slave(l), rows%master(l)) .and. &
      max(rows%slave(k), rows%master(k)) == max(rows%slave(l), rows%master(l))
  end function same_bodies

  !> Whether rule 2 removes row k.
  pure logical function is_minor(shapes, rows, areas, threshold, min_distance, k)
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    type(area_table), intent(in) :: areas
    real(dp), intent(in) :: threshold, min_distance
    integer, intent(in) :: k
    integer :: i, j, one, two

    is_minor = .false.
    if (.not. threshold > 0.0_dp) return
    do i = -1, shapes%adjacent_count(rows%slave_primitive(k)) - 1
      one = near(shapes, rows%slave_primitive(k), i)
      if (shapes%kind(one) /= shapes%kind(rows%slave_primitive(k))) cycle
      do j = -1, shapes%adjacent_count(rows%master_primitive(k)) - 1
        two = near(shapes, rows%master_primitive(k), j)
        if (shapes%kind(two) /= shapes%kind(rows%master_primitive(k))) cycle
        is_minor = rows%area(k) < threshold*largest_area(areas, min(one, two), max(one, two)) .and. &
          least_gap(areas, min(one, two), max(one, two)) <= rows%gap(k) + 2*min_distance
        if (is_minor) return
      end do
    end do
  end function is_minor

  !> A primitive itself for number -1, or one adjacent to it.
  pure integer function near(shapes, primitive, number)
    type(shape_tables), intent(in) :: shapes
    integer(i4), intent(in) :: primitive
    integer, intent(in) :: number

    near = primitive
    if (number >= 0) near = shapes%adjacent(shapes%adjacent_ptr(primitive)+number)
  end function near

  !> Row that stays and makes rule 3 remove row k, -1: none.
  pure integer function coincident(rows, points, min_distance, k)
    type(constraint_table), intent(in) :: rows
    type(point_table), intent(in) :: points
    real(dp), intent(in) :: min_distance
    integer, intent(in) :: k
    integer(i8) :: from(3), to(3), x, y, z

    coincident = -1
    if (min_distance <= 0.0_dp) return
    from = cell_of(rows%point(1:3,k) - 2.0_dp*min_distance, points%inverse_cell)
    to = cell_of(rows%point(1:3,k) + 2.0_dp*min_distance, points%inverse_cell)
    do z = from(3), to(3)
      do y = from(2), to(2)
        do x = from(1), to(1)
          coincident = points%head(hash_of([x, y, z], pair_of(rows, k), size(points%head)))
          do while (coincident >= 0)
            if (all(abs(rows%point(1:3,k) - rows%point(1:3,coincident)) < 2.0_dp*min_distance) .and. &
              same_bodies(rows, k, coincident)) return
            coincident = points%next(coincident-points%first)
          end do
        end do
      end do
    end do
  end function coincident
end module symmetric_sparsify
