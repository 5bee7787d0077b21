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
  !>   unsolved                     not 0: constraints were not solved to the accuracy asked for
  !>   alarm, patience              time before which nothing is due [time]; seconds until somebody wants to look nevertheless
  !>   since                        reading of the computer's clock at the last look; 0: there will be one now
  !>   idle                         0: something is due; 1: nothing is; 2 more where patience has come to its end, 4 more where
  !>                                constraints were not solved
  subroutine advance(step, origin, origin_number, contact_work, friction_work, removed, unsolved, alarm, patience, since, time, &
      step_number, contact_energy, friction_energy, sparsified, idle)
    real(dp), intent(in) :: step, origin, contact_work, friction_work, alarm, patience
    integer(i8), intent(in) :: origin_number
    integer(i4), intent(in) :: removed, unsolved
    integer(i8), intent(inout) :: since, step_number
    real(dp), intent(inout) :: time, contact_energy, friction_energy
    integer(i4), intent(inout) :: sparsified, idle
    real(dp), volatile :: elapsed   ! rounded by itself, as it always was: continued runs compare bits
    integer(i8) :: now, rate

    step_number = step_number + 1
    elapsed = real(step_number - origin_number, dp)*step
    time = origin + elapsed
    contact_energy = contact_energy + contact_work
    friction_energy = friction_energy + friction_work
    sparsified = removed
    idle = 0
    if (.not. time < alarm) return
    call system_clock(now, rate)
    if (since == 0) since = now
    idle = 1 + merge(0_i4, 2_i4, real(now - since, dp) < patience*real(rate, dp)) + merge(0_i4, 4_i4, unsolved == 0)
  end subroutine advance
end module step_clock
