!> The clock of a model, which programs of kernels read and advance.
module step_clock
  use kinds, only: dp, i4, i8
  implicit none
  private
  public :: instant, advance

contains

  !> An instant within a step: `time`, its start, and a `share` of its length `step` later [time].
  subroutine instant(time, step, share, reached)
    real(dp), intent(in) :: time, step, share
    real(dp), intent(out) :: reached

    reached = time + share*step
  end subroutine instant

  !> The end of a step of length `step` [time].
  !>
  !>   origin, origin_number        time and step number since which the step has been constant
  !>   contact_work, friction_work  of reactions in this step [energy]; `contact_energy` and `friction_energy` are their sums
  !>   removed, sparsified          contacts that sparsification removed in this step, and what the model says about that
  !>   time, step_number            raised to the end of the step
  subroutine advance(step, origin, origin_number, contact_work, friction_work, removed, time, step_number, contact_energy, &
      friction_energy, sparsified)
    real(dp), intent(in) :: step, origin, contact_work, friction_work
    integer(i8), intent(in) :: origin_number
    integer(i4), intent(in) :: removed
    real(dp), intent(inout) :: time, contact_energy, friction_energy
    integer(i8), intent(inout) :: step_number
    integer(i4), intent(inout) :: sparsified
    real(dp), volatile :: elapsed   ! rounded by itself, as it always was: continued runs compare bits

    step_number = step_number + 1
    elapsed = real(step_number - origin_number, dp)*step
    time = origin + elapsed
    contact_energy = contact_energy + contact_work
    friction_energy = friction_energy + friction_work
    sparsified = removed
  end subroutine advance
end module step_clock
