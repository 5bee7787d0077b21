!> What is kept of a solution of the contact problem, for those who ask for it later.
module solution_notes
  use kinds, only: dp, i4
  implicit none
  private
  public :: note_solution, note_penalty, copy_columns

contains

  !> Notes on a solution that took `iterations` and ended with `status` (0: it is one) and a `residual`.
  !>
  !>   most         residual above which a solution is suspicious
  !>   silent       1: nobody has to be told about failures; always 1: every solution has to be told of
  !>   notable      1: Python has to look at it now
  !>   unread       1: the model's report is in memory; unsolved 1: it tells of a failure
  !>   last_iterations, last_status   of the solver, whichever model it solved last
  subroutine note_solution(status, residual, iterations, most, silent, always, notable, unread, unsolved, &
      last_iterations, last_status)
    integer(i4), intent(in) :: status, iterations, silent, always
    real(dp), intent(in) :: residual, most
    integer(i4), intent(out) :: notable
    integer(i4), intent(inout) :: unread, unsolved, last_iterations, last_status

    unread = 1
    unsolved = merge(1_i4, 0_i4, status /= 0)
    last_iterations = iterations
    last_status = status
    notable = merge(1_i4, 0_i4, always /= 0 .or. (silent == 0 .and. (status /= 0 .or. residual > most)))
  end subroutine note_solution

  !> Notes on a solution by penalty of `left` rows, the last `users` of which, if there are any, have been swept as noted in
  !> `iterations`, `error`, `status`, `fallbacks` and `failed`.
  !>
  !>   member       (0:rows-1) merits of rows, which are no measure here; merit: that of all
  subroutine note_penalty(left, users, member, iterations, error, merit, status, fallbacks, failed, unread, unsolved, rows)
    integer(i4), intent(in) :: left, users, rows
    real(dp), intent(inout) :: member(0:rows-1), error, merit
    integer(i4), intent(inout) :: iterations, status, fallbacks, failed, unread, unsolved

    member(0:left-1) = 0
    merit = 0
    if (users == 0) then
      iterations = 1
      error = 0
      status = 0
      fallbacks = 0
      failed = -1
    end if
    unread = 1
    unsolved = merge(1_i4, 0_i4, status /= 0)
  end subroutine note_penalty

  !> The first `count` columns of (3,0:rows-1) `from` to `to`.
  subroutine copy_columns(count, from, to, rows)
    integer(i4), intent(in) :: count, rows
    real(dp), intent(in) :: from(3,0:rows-1)
    real(dp), intent(inout) :: to(3,0:rows-1)

    to(:,0:count-1) = from(:,0:count-1)
  end subroutine copy_columns
end module solution_notes
