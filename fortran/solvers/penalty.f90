!> Contacts as springs and dashpots, without iteration (docs/language-objects.md, PENALTY_SOLVER; docs/theory.md, Penalty law).
module penalty
  use kinds, only: dp, i4, i8
  use dashpot_rows, only: penalty_block
  use kind_numbers, only: row_open, row_spring_dashpot
  use row_block, only: l_gap, l_cohesion, l_dashpot, l_spring
  use row_tables, only: local_tables, open_local
  use table_registry, only: table_open
  use thread_work, only: pays
  implicit none
  private
  public :: penalty_contacts

  !> Outcomes besides 0 and `table_unknown`.
  integer(i4), parameter :: other_law = 1, singular_block = 3

contains

  !> Computes reactions of contacts from their own diagonal blocks; ignores coupling between contacts.
  !>
  !> Reads of rows kind, law, diagonal, B, V and R (of the last step).  Writes of rows R [force], lost (1 where cohesion ends for good), merit
  !> and residual (0).
  !>
  !>   local         handles (LocalDynamics.handles)
  !>   contacts      number of contacts, which are the first rows
  !>   other_laws    bit k is set if contacts of kind k have a law that springs and dashpots do not replace
  !>   implicit_law  1: IMPLICIT, 0: EXPLICIT variant
  !>   step, half_step   h; h/2 (dynamics) or h (quasi-statics) [time]
  !>   exact         out: 1 if no contact has a residual, since all are open without reactions or have the law SPRING_DASHPOT
  !>   failed        out: a row that failed, or -1
  !>   slack         out: the first row in contact without spring and dashpot, which carries nothing, or -1
  !>   status        0 done; `other_law` of row `failed`: nothing is done; `singular_block`: tangential block of row `failed` (its old R_T stays);
  !>                 `table_unknown`
  subroutine penalty_contacts(local, contacts, other_laws, implicit_law, step, half_step, exact, failed, slack, status)
    integer(i8), intent(in) :: local(6), other_laws
    integer(i4), intent(in) :: contacts, implicit_law
    real(dp), intent(in) :: step, half_step
    integer(i4), intent(out) :: exact, failed, slack, status
    type(local_tables) :: loc
    integer(i4) :: a

    exact = 1
    failed = -1
    slack = -1
    call open_local(local, loc, status)
    if (status /= table_open) return
    associate (rows => loc%rows)
      do a = 0, contacts - 1
        if (btest(other_laws, rows%kind(a))) failed = a
        if (failed >= 0) exit
      end do
      if (failed >= 0) then
        status = other_law
        return
      end if
      call react(contacts, implicit_law /= 0, step, half_step, rows%law, rows%diagonal, rows%B, rows%V, rows%R, rows%lost, failed, &
                 slack)
      rows%merit(0:contacts-1) = 0.0_dp
      rows%residual(0:contacts-1) = 0.0_dp
      if (failed >= 0) status = singular_block
      do a = 0, contacts - 1
        if (rows%kind(a) == row_spring_dashpot) cycle
        if (rows%kind(a) /= row_open .or. any(rows%R(:,a) /= 0.0_dp)) exact = 0
      end do
    end associate
  end subroutine penalty_contacts

  !> Computes reactions (penalty_contacts); in arrays of explicit shape a contact's part is no copy.
  subroutine react(contacts, implicit_law, step, half_step, law, diagonal, b, v, r, lost, failed, slack)
    integer(i4), intent(in) :: contacts
    logical, intent(in) :: implicit_law
    real(dp), intent(in) :: step, half_step, law(8,0:*), diagonal(3,3,0:*), b(3,0:*), v(3,0:*)
    real(dp), intent(inout) :: r(3,0:*)
    integer(i4), intent(inout) :: lost(0:*), failed, slack
    logical :: broken, regular
    integer(i4) :: a, first

    first = contacts
    !$omp parallel do if (pays(contacts, 50)) schedule(static) private(broken, regular) reduction(max: failed) reduction(min: first)
    do a = 0, contacts - 1
      lost(a) = 0
      if (half_step < step .and. law(l_gap,a) > 0.0_dp .and. .not. law(l_cohesion,a) > 0.0_dp) then
        r(:,a) = 0.0_dp   ! spring and dashpot act in contact only; a step of quasi-statics may close the gap
        cycle
      end if
      if (abs(law(l_spring,a)) + abs(law(l_dashpot,a)) == 0.0_dp) first = min(first, a)
      call penalty_block(implicit_law, diagonal(:,:,a), law(:,a), law(l_cohesion,a) > 0.0_dp, step, half_step, b(:,a), v(3,a), &
                         r(:,a), broken, regular)
      lost(a) = merge(1, 0, broken)
      if (.not. regular) failed = max(failed, a)
    end do
    !$omp end parallel do
    if (first < contacts) slack = first
  end subroutine react
end module penalty
