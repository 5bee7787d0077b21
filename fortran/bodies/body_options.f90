!> Looks through the table of bodies for what Python must know of in a step.
module body_options
  use kinds, only: dp, i4
  implicit none
  private
  public :: compare_options, find_outside

contains

  !> Users may change options between steps without a word.  changed 1: columns scheme (BODY.scheme) and damping [time] (0:nb-1) of the first n bodies are not the known ones any more.
  subroutine compare_options(n, nb, scheme, damping, known_scheme, known_damping, changed)
    integer(i4), intent(in) :: n, nb
    integer(i4), intent(in) :: scheme(0:nb-1), known_scheme(0:nb-1)
    real(dp), intent(in) :: damping(0:nb-1), known_damping(0:nb-1)
    integer(i4), intent(out) :: changed
    integer :: b

    changed = 0
    do b = 0, n - 1
      if (scheme(b) /= known_scheme(b) .or. damping(b) /= known_damping(b)) changed = 1
    end do
  end subroutine compare_options

  !> Marks bodies whose boxes (6,0:nb-1) have nothing in common with the scene's box (6) [length]; count of the first n bodies.
  subroutine find_outside(n, scene, nb, box, outside, count)
    integer(i4), intent(in) :: n, nb
    real(dp), intent(in) :: scene(6), box(6,0:nb-1)
    integer(i4), intent(inout) :: outside(0:nb-1)
    integer(i4), intent(out) :: count
    integer :: b

    count = 0
    do b = 0, n - 1
      outside(b) = 0
      if (any(box(1:3,b) > scene(4:6)) .or. any(box(4:6,b) < scene(1:3))) then
        outside(b) = 1
        count = count + 1
      end if
    end do
  end subroutine find_outside

end module body_options
