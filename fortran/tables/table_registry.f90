!> Registry of Python's tables: addresses of columns by handle.
!>
!> f2py passes arrays and numbers, not tables.  A table registers the addresses of its columns whenever it allocates them, under a
!> handle that it keeps; kernels take handles and open them as the types of `state_tables`.  A handle holds the place in the registry
!> and a generation, so that the handle of a deleted table is refused.
!> Only this module and the module of the types handle addresses.
module table_registry
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr
  use kinds, only: i4, i8
  implicit none
  private
  public :: register_table, release_table, columns_of, opened_table, keep_opened, table_open, table_unknown

  !> Outcome of opening a table: success, or the handle belongs to another type, a deleted table, or no table.
  integer(i4), parameter :: table_open = 0, table_unknown = 100

  integer(i8), parameter :: places = 2_i8**24   !< a handle is place + generation*places

  type :: registration
    integer(i4) :: kind = 0                     !< number of the type, 0: the place is free
    integer(i8) :: generation = 0
    integer(i8) :: rows = 0                     !< address of the number of rows in use; 0: a record, which has none
    integer(i8), allocatable :: column(:)       !< addresses
    integer(i4), allocatable :: length(:)       !< of the columns
    class(*), pointer :: opened => null()       !< the type of `state_tables` with these columns; null: no kernel has opened it yet
  end type registration

  type(registration), allocatable, save :: known(:)

contains

  !> Registers the columns of a table.
  !>
  !>   handle     of the table; 0: it is new
  !>   kind       number of its type, as tools/table_types.py counts them
  !>   rows       address of the number of rows in use (int64); 0: a record
  !>   column     (:) addresses of the columns in their order
  !>   length     (:) their lengths, equal for a table
  !>   bound      handle of the table
  subroutine register_table(handle, kind, rows, column, length, bound)
    integer(i8), intent(in) :: handle, rows
    integer(i4), intent(in) :: kind
    integer(i8), intent(in) :: column(:)
    integer(i4), intent(in) :: length(:)
    integer(i8), intent(out) :: bound
    integer(i8) :: place

    place = place_of(handle)
    if (place == 0) then
      place = free_place()
      known(place)%generation = known(place)%generation + 1
    end if
    call close_opened(known(place))
    known(place)%kind = kind
    known(place)%rows = rows
    known(place)%column = column
    known(place)%length = length
    bound = place + known(place)%generation*places
  end subroutine register_table

  !> Removes a table; a void handle is ignored.
  subroutine release_table(handle)
    integer(i8), intent(in) :: handle
    integer(i8) :: place

    place = place_of(handle)
    if (place == 0) return
    known(place)%kind = 0
    known(place)%generation = known(place)%generation + 1
    deallocate (known(place)%column, known(place)%length)
    call close_opened(known(place))
  end subroutine release_table

  !> Forgets what kernels have opened.
  subroutine close_opened(table)
    type(registration), intent(inout) :: table

    if (associated(table%opened)) deallocate (table%opened)
    nullify (table%opened)
  end subroutine close_opened

  !> The table of type number `kind` that has been kept for a handle (keep_opened), or null.
  subroutine opened_table(handle, kind, opened, status)
    integer(i8), intent(in) :: handle
    integer(i4), intent(in) :: kind
    class(*), pointer, intent(out) :: opened
    integer(i4), intent(out) :: status
    integer(i8) :: place

    nullify (opened)
    status = table_unknown
    place = place_of(handle)
    if (place == 0) return
    if (known(place)%kind /= kind) return
    opened => known(place)%opened
    status = table_open
  end subroutine opened_table

  !> Keeps an opened table until its columns change.
  subroutine keep_opened(handle, opened)
    integer(i8), intent(in) :: handle
    class(*), pointer, intent(in) :: opened
    integer(i8) :: place

    place = place_of(handle)
    if (place > 0) known(place)%opened => opened
  end subroutine keep_opened

  !> Addresses and lengths of the columns of a table of type number `kind`.
  subroutine columns_of(handle, kind, rows, column, length, status)
    integer(i8), intent(in) :: handle
    integer(i4), intent(in) :: kind
    type(c_ptr), intent(out) :: rows, column(:)
    integer(i4), intent(out) :: length(:), status
    integer(i8) :: place
    integer :: k

    length = 0
    rows = c_null_ptr
    status = table_unknown
    place = place_of(handle)
    if (place == 0) return
    if (known(place)%kind /= kind .or. size(known(place)%column) /= size(column)) return
    length = known(place)%length
    rows = transfer(known(place)%rows, rows)
    do k = 1, size(column)
      column(k) = transfer(known(place)%column(k), rows)
    end do
    status = table_open
  end subroutine columns_of

  !> Place of a handle in the registry; 0: the handle is void.
  integer(i8) function place_of(handle)
    integer(i8), intent(in) :: handle

    place_of = 0
    if (.not. allocated(known) .or. handle <= places) return
    if (mod(handle, places) < 1 .or. mod(handle, places) > size(known)) return
    if (known(mod(handle, places))%generation /= handle/places) return
    place_of = mod(handle, places)
  end function place_of

  !> Finds a free place, and enlarges the registry if there is none.
  integer(i8) function free_place()
    type(registration), allocatable :: more(:)
    integer :: k

    if (.not. allocated(known)) allocate (known(64))
    do k = 1, size(known)
      free_place = k
      if (known(k)%kind == 0) return
    end do
    allocate (more(2*size(known)))
    more(1:size(known)) = known
    free_place = size(known) + 1
    call move_alloc(more, known)
  end function free_place
end module table_registry
