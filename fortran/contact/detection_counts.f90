!> What detection counts from step to step, before and after the kernel `detect`.
module detection_counts
  use kinds, only: i4, i8
  implicit none
  private
  public :: begin_detection, finish_detection

contains

  !> Before shapes move: detection starts from known contacts, behind the `users` rows of the user's constraints.
  !>
  !>   stage, looked, start   where `detect` begins: with known contacts, of which none has been looked at
  !>   updates                number of updates of shapes, this one included
  subroutine begin_detection(users, first_stage, stage, looked, start, updates)
    integer(i4), intent(in) :: users, first_stage
    integer(i4), intent(out) :: stage, looked, start
    integer(i8), intent(inout) :: updates

    stage = first_stage
    looked = 0
    start = users
    updates = updates + 1
  end subroutine begin_detection

  !> After `detect` is done, with what it returned as `start`, `left`, `removed`, `some_cohesive`, `count` and `new`.
  !>
  !>   patched      1: removed points of known pairs are found and judged again in every step, so that all are evaluated
  !>   symmetric    1: another sparsification follows, which gives identifiers
  !>   in_use       rows in use, `left`; next_id: identifier of the next constraint
  !>   evaluated    (0:rows-1) see `update_rows`
  !>   fresh, afresh   0 from now on: pairs of the last search have been used, all shapes have been updated
  !>   cohesive     1: some contact has cohesion
  !>   known, found   pairs of known contacts, and others, that were looked at
  subroutine finish_detection(start, left, removed, some_cohesive, count, new, patched, symmetric, in_use, next_id, evaluated, &
      fresh, afresh, cohesive, known, found, rows)
    integer(i4), intent(in) :: start, left, removed, some_cohesive, count, new, patched, symmetric, rows
    integer(i8), intent(inout) :: next_id, evaluated(0:rows-1)
    integer(i4), intent(inout) :: in_use, fresh, afresh, cohesive, known, found

    in_use = left
    fresh = 0
    afresh = 0
    cohesive = some_cohesive
    known = count
    found = new
    if (symmetric /= 0) return
    next_id = next_id + (left - start)
    if (removed > 0 .and. patched /= 0) evaluated(0:left-1) = -1
  end subroutine finish_detection
end module detection_counts
