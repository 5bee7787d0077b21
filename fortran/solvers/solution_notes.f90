!> What is kept of a solution of the contact problem, for those who ask for it later.
module solution_notes
  use kinds, only: dp, i4
  implicit none
  private
  public :: note_solution

contains

  !> Notes on a solution that took `iterations` and ended with `status` (0: it is one) and a `residual`.
  !>
  !>   most         residual above which a solution is suspicious
  !>   silent       1: nobody has to be told about failures; always 1: every solution has to be told of
  !>   notable      1: Python has to look at it now
  !>   unread       1: the model's report is in memory
  !>   last_iterations, last_status   of the solver, whichever model it solved last
  subroutine note_solution(status, residual, iterations, most, silent, always, notable, unread, last_iterations, last_status)
    integer(i4), intent(in) :: status, iterations, silent, always
    real(dp), intent(in) :: residual, most
    integer(i4), intent(out) :: notable
    integer(i4), intent(inout) :: unread, last_iterations, last_status

    unread = 1
    last_iterations = iterations
    last_status = status
    notable = merge(1_i4, 0_i4, always /= 0 .or. (silent == 0 .and. (status /= 0 .or. residual > most)))
  end subroutine note_solution
end module solution_notes
