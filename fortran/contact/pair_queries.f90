!> Queries of Python about pairs of primitives; shapes are given by their handles.
module pair_queries
  use kinds, only: dp, i4, i8
  use narrow_phase, only: find_contacts, find_overlaps => overlap_volumes, find_distances => primitive_distances
  use polyhedra, only: shape_tables
  use shape_state, only: open_shapes
  use state_tables, only: narrow_result, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: pair_contacts, overlap_volumes, primitive_distances

contains

  !> Calls `narrow_phase.find_contacts` for pairs first(k), second(k); `shapes`: see `open_shapes`, `results`: handle of a table.
  subroutine pair_contacts(shapes, results, first, second, epsilon, frozen, error, error_row, pairs)
    integer(i8), intent(in) :: shapes(5), results
    integer(i4), intent(in) :: pairs, frozen
    integer(i4), intent(in) :: first(0:pairs-1), second(0:pairs-1)
    real(dp), intent(in) :: epsilon
    integer(i4), intent(out) :: error, error_row
    type(shape_tables) :: tables
    type(narrow_result) :: found

    error_row = -1
    call open_shapes(shapes, tables, error)
    if (error == table_open) call open_table(results, found, error)
    if (error == table_open) call find_contacts(pairs, first, second, epsilon, tables, 0_i4, frozen, 0_i4, found, error, error_row)
  end subroutine pair_contacts

  !> Calls `narrow_phase.overlap_volumes`.
  subroutine overlap_volumes(shapes, first, second, offset, volume, centroid, area, error, error_row, pairs)
    integer(i8), intent(in) :: shapes(5)
    integer(i4), intent(in) :: pairs
    integer(i4), intent(in) :: first(0:pairs-1), second(0:pairs-1)
    real(dp), intent(in) :: offset
    real(dp), intent(inout) :: volume(0:pairs-1), centroid(3,0:pairs-1), area(0:pairs-1)
    integer(i4), intent(out) :: error, error_row
    type(shape_tables) :: tables

    error_row = -1
    call open_shapes(shapes, tables, error)
    if (error == table_open) call find_overlaps(pairs, first, second, offset, tables, volume, centroid, area, error, error_row)
  end subroutine overlap_volumes

  !> Calls `narrow_phase.primitive_distances`.
  subroutine primitive_distances(shapes, first, second, distance, first_point, second_point, error, error_row, pairs)
    integer(i8), intent(in) :: shapes(5)
    integer(i4), intent(in) :: pairs
    integer(i4), intent(in) :: first(0:pairs-1), second(0:pairs-1)
    real(dp), intent(inout) :: distance(0:pairs-1), first_point(3,0:pairs-1), second_point(3,0:pairs-1)
    integer(i4), intent(out) :: error, error_row
    type(shape_tables) :: tables

    error_row = -1
    call open_shapes(shapes, tables, error)
    if (error == table_open) call find_distances(pairs, first, second, tables, distance, first_point, second_point, error, &
      error_row)
  end subroutine primitive_distances
end module pair_queries
