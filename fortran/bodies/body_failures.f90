!> Failures of the motion of bodies, and the first body that has one.
module body_failures
  use kinds, only: i4
  implicit none
  private
  public :: turned_inside_out, not_finite, bad_reaction, singular, report

  integer(i4), parameter :: turned_inside_out = 5    !< a gradient's determinant is not positive
  integer(i4), parameter :: not_finite = 8           !< configuration or velocity
  integer(i4), parameter :: bad_reaction = 9         !< a reaction, or what it makes of the velocity, is not finite
  integer(i4), parameter :: singular = 13            !< A of an implicit body

contains

  !> Reports the lowest row with a failure; `first` is huge if there is none.
  pure subroutine report(first, what, failure, row)
    integer(i4), intent(in) :: first, what
    integer(i4), intent(out) :: failure, row

    failure = 0
    row = -1
    if (first == huge(first)) return
    failure = what
    row = first
  end subroutine report
end module body_failures
