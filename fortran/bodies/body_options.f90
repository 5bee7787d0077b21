!> Looks through the table of bodies for what Python must know of in a step.
module body_options
  use kinds, only: dp, i4, i8
  use state_tables, only: body_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: compare_options, find_outside

contains

  !> Whether columns scheme and damping are still the known ones, since users change both between steps without a word.
  subroutine compare_options(handle, nb, known_scheme, known_damping, changed)
    integer(i8), intent(in) :: handle             !< of the body table
    integer(i4), intent(in) :: nb
    integer(i4), intent(in) :: known_scheme(0:nb-1)
    real(dp), intent(in) :: known_damping(0:nb-1) !< [time]
    integer(i4), intent(out) :: changed           !< 1: they are not, or the handle is not that of the table
    type(body_table) :: bodies
    integer(i4) :: status
    integer :: b

    changed = 1
    call open_table(handle, bodies, status)
    if (status /= table_open) return
    do b = 0, int(bodies%rows) - 1
      if (bodies%scheme(b) /= known_scheme(b) .or. bodies%damping(b) /= known_damping(b)) return
    end do
    changed = 0
  end subroutine compare_options

  !> Marks bodies whose boxes have nothing in common with the scene's box (6) [length], and counts them.
  subroutine find_outside(handle, scene, nb, outside, count)
    integer(i8), intent(in) :: handle             !< of the body table
    integer(i4), intent(in) :: nb
    real(dp), intent(in) :: scene(6)
    integer(i4), intent(inout) :: outside(0:nb-1)
    integer(i4), intent(out) :: count             !< -1: the handle is not that of the table
    type(body_table) :: bodies
    integer(i4) :: status
    integer :: b

    count = -1
    call open_table(handle, bodies, status)
    if (status /= table_open) return
    count = 0
    do b = 0, int(bodies%rows) - 1
      outside(b) = 0
      if (any(bodies%extents(1:3,b) > scene(4:6)) .or. any(bodies%extents(4:6,b) < scene(1:3))) then
        outside(b) = 1
        count = count + 1
      end if
    end do
  end subroutine find_outside

end module body_options
