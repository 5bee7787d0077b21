!> Searches of the table of bodies for Python.
module body_options
  use kinds, only: dp, i4, i8
  use state_tables, only: body_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: find_outside

contains

  !> Marks and counts bodies whose boxes do not overlap the scene's box (6) [length].
  subroutine find_outside(handle, scene, outside, count, status, nb)
    integer(i8), intent(in) :: handle             !< of the body table
    integer(i4), intent(in) :: nb
    real(dp), intent(in) :: scene(6)
    integer(i4), intent(inout) :: outside(0:nb-1)
    integer(i4), intent(out) :: count, status     !< `table_unknown`: the handle is not that of the table
    type(body_table) :: bodies
    integer :: b

    count = 0
    call open_table(handle, bodies, status)
    if (status /= table_open) return
    do b = 0, int(bodies%rows) - 1
      outside(b) = 0
      if (any(bodies%extents(1:3,b) > scene(4:6)) .or. any(bodies%extents(4:6,b) < scene(1:3))) then
        outside(b) = 1
        count = count + 1
      end if
    end do
  end subroutine find_outside

end module body_options
