!> Registration of Python's tables for kernels (table_registry).
module table_handles
  use kinds, only: i4, i8
  use table_registry, only: register_table, release_table
  implicit none
  private
  public :: bind_table, free_table

contains

  !> Calls `table_registry.register_table` for Python.
  subroutine bind_table(handle, kind, rows, column, length, bound, columns)
    integer(i8), intent(in) :: handle, rows
    integer(i4), intent(in) :: kind, columns
    integer(i8), intent(in) :: column(columns)
    integer(i4), intent(in) :: length(columns)
    integer(i8), intent(out) :: bound

    call register_table(handle, kind, rows, column, length, bound)
  end subroutine bind_table

  !> Makes a handle void.
  subroutine free_table(handle)
    integer(i8), intent(in) :: handle

    call release_table(handle)
  end subroutine free_table
end module table_handles
