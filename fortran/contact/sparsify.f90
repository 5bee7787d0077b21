!> Sparsification: removal of redundant new contacts.
!>
!> Two hash tables keep the work linear in the number of contacts, also if many bodies rest on one floor: the largest
!> contact area by (primitive, other body), and contact points by (cell of twice the coincidence distance, body), so that
!> each of many bodies in one place searches only its own contacts.
module sparsify
  use kinds, only: dp, i4, i8
  use kind_numbers, only: element_kind => primitive_element, convex_kind => primitive_convex
  use polyhedra, only: shape_tables
  use state_tables, only: constraint_table
  use contact_tables, only: area_table, point_table, tabulate_areas, largest_area, tabulate_points, cell_of, hash_of
  use thread_work, only: pays
  implicit none
  private
  public :: sparsify_rows


contains

  !> Marks new contacts for removal (docs/language-running.md, CONTACT_SPARSIFY).  A new contact is removed if
  !>
  !> 1. its area is below `min_area`; or
  !> 2. another contact of the same two bodies is larger by more than the factor 1/threshold, and the
  !>    primitives of both on the new contact's master body are topologically adjacent (elements: equal or
  !>    sharing a node; convexes: neighbours in the body's shape); or
  !> 3. its point is within 2 `min_distance` (largest coordinate difference) of that of another contact of one
  !>    of its bodies which is old, or new but later in the list, and not larger in the sense of rule 2.
  !>
  !> With `within` the other contact of rule 3 is of the same two bodies: corners of patches coincide with those of other pairs
  !> wherever three bodies meet in a point, and all of them are needed.
  !>
  !> Contacts that are already marked still count as "another contact".
  !>
  !>   first, new, last   rows first <= k < last are contacts, those from `new` on are new
  !>   threshold, min_area [length^2], min_distance [length]   settings
  !>   within             1: points are compared with those of the same two bodies only
  !>   nbody              number of bodies
  !>   next_id            identifier of the first new row that stays, in ascending order; rows%id from `new` on is written
  !>   keep               (:) 1: stays, row by row from `new`, out
  !>   removed            number of contacts that do not stay
  subroutine sparsify_rows(first, new, last, threshold, min_area, min_distance, within, nbody, next_id, shapes, rows, keep, &
      removed)
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(inout) :: keep(0:)
    integer(i4), intent(in) :: first, new, last, nbody, within
    real(dp), intent(in) :: threshold, min_area, min_distance
    integer(i8), intent(in) :: next_id
    integer(i4), intent(out) :: removed
    type(area_table) :: areas
    type(point_table) :: points
    logical, allocatable :: touched(:)
    integer(i4) :: count
    integer :: k

    allocate (touched(0:max(nbody, 1)-1))
    touched = .false.
    do k = new, last - 1
      touched(rows%slave(k)) = .true.
      touched(rows%master(k)) = .true.
    end do
    if (threshold > 0.0_dp) call tabulate_areas(first, last, rows%slave, rows%master, rows%slave_primitive, &
      rows%master_primitive, &
      rows%area, touched, areas)
    if (min_distance > 0.0_dp) call tabulate_points(first, new, last, rows%slave, rows%master, rows%point, &
      min_distance, touched, points)

    count = 0
    !$omp parallel do if (pays(last - new, 100)) schedule(static) reduction(+:count)
    do k = new, last - 1
      keep(k-new) = 1
      if (rows%area(k) < min_area) then
        keep(k-new) = 0
      else if (is_minor(k)) then
        keep(k-new) = 0
      else if (is_coincident(k, new, threshold, min_distance, within, rows%slave, rows%master, rows%point, rows%area, points)) then
        keep(k-new) = 0
      end if
      count = count + (1 - keep(k-new))
    end do
    removed = count
    count = 0
    do k = new, last - 1
      rows%id(k) = next_id + count
      count = count + keep(k-new)
    end do

  contains

    !> Whether rule 2 removes row k.
    pure logical function is_minor(k)
      integer, intent(in) :: k
      integer :: own, other, i
      real(dp) :: largest

      is_minor = .false.
      own = rows%master_primitive(k)
      if (threshold <= 0.0_dp .or. (shapes%kind(own) /= element_kind .and. shapes%kind(own) /= convex_kind)) return
      largest = 0.0_dp
      if (shapes%kind(own) == element_kind) largest = largest_area(areas, own, rows%slave(k))
      do i = shapes%adjacent_ptr(own), shapes%adjacent_ptr(own) + shapes%adjacent_count(own) - 1
        other = shapes%adjacent(i)
        if (other == own .or. shapes%kind(other) /= shapes%kind(own)) cycle
        largest = max(largest, largest_area(areas, other, rows%slave(k)))
      end do
      is_minor = rows%area(k) < threshold*largest
    end function is_minor
  end subroutine sparsify_rows

  !> Whether rule 3 removes row k.
  pure logical function is_coincident(k, new, threshold, min_distance, within, slave, master, point, area, points)
    integer, intent(in) :: k
    integer(i4), intent(in) :: new, within
    real(dp), intent(in) :: threshold, min_distance
    integer(i4), intent(in) :: slave(0:*), master(0:*)
    real(dp), intent(in) :: point(3,0:*), area(0:*)
    type(point_table), intent(in) :: points
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
              if (is_witness(points%first + entry/2)) then
                is_coincident = .true.
                return
              end if
              entry = points%next(entry)
            end do
          end do
        end do
      end do
    end do

  contains

    !> Whether row k is removed because of the coincidence with another row.
    pure logical function is_witness(other)
      integer, intent(in) :: other

      is_witness = .false.
      if (other == k .or. (other >= new .and. other < k)) return
      if (.not. all(abs(point(:,k) - point(:,other)) < 2.0_dp*min_distance)) return
      if (.not. any([slave(other) == slave(k), slave(other) == master(k), master(other) == slave(k), master(other) == master(k)])) &
        return
      if (within /= 0 .and. (min(slave(k), master(k)) /= min(slave(other), master(other)) .or. &
        max(slave(k), master(k)) /= max(slave(other), master(other)))) return
      is_witness = .not. area(k) < threshold*area(other)
    end function is_witness
  end function is_coincident
end module sparsify
