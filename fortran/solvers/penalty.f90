!> Contacts as springs and dashpots, without iteration (docs/language-objects.md, PENALTY_SOLVER; docs/theory.md, Penalty law).
module penalty
  use kinds, only: dp, i4
  use dashpot_rows, only: penalty_block
  use row_block, only: l_gap, l_cohesion
  use thread_work, only: pays
  implicit none
  private
  public :: penalty_contacts


contains

  !> Computes reactions of contacts from their own diagonal blocks; ignores coupling between contacts.
  !>
  !>   left, users   number of rows, and of the user's constraints, which are the last rows; contacts out: number of contacts, which are the first
  !>   implicit_law  1: IMPLICIT, 0: EXPLICIT variant
  !>   law           (8,0:nrow-1) laws (row_block); diagonal (3,3,0:nrow-1) W_aa; b, v (3,0:nrow-1) B, V
  !>   step          h [time]
  !>   reaction      (3,0:nrow-1) R of the last step; the new one [force]
  !>   u             (3,0:nrow-1) out: U = B + W_aa R of the contact alone [velocity]
  !>   lost          (0:nrow-1) out: 1 where cohesion ends for good
  !>   failed        row with a singular tangential block (its old R_T stays), or -1
  subroutine penalty_contacts(left, users, implicit_law, nrow, law, diagonal, b, v, step, reaction, u, lost, contacts, failed)
    integer(i4), intent(in) :: left, users, implicit_law, nrow
    real(dp), intent(in) :: law(8,0:nrow-1), diagonal(3,3,0:nrow-1), b(3,0:nrow-1), v(3,0:nrow-1)
    real(dp), intent(in) :: step
    real(dp), intent(inout) :: reaction(3,0:nrow-1), u(3,0:nrow-1)
    integer(i4), intent(inout) :: lost(0:nrow-1)
    integer(i4), intent(out) :: contacts, failed
    logical :: broken, regular
    integer :: a

    contacts = left - users
    failed = -1
    !$omp parallel do if (pays(contacts, 50)) schedule(static) private(broken, regular) reduction(max: failed)
    do a = 0, contacts - 1
      lost(a) = 0
      if (law(l_gap,a) > 0.0_dp .and. .not. law(l_cohesion,a) > 0.0_dp) then
        reaction(:,a) = 0.0_dp   ! spring and dashpot act in contact only
        u(:,a) = b(:,a)
        cycle
      end if
      call penalty_block(implicit_law /= 0, diagonal(:,:,a), law(:,a), law(l_cohesion,a) > 0.0_dp, step, b(:,a), v(3,a), &
                         reaction(:,a), broken, regular)
      lost(a) = merge(1, 0, broken)
      u(:,a) = b(:,a) + matmul(diagonal(:,:,a), reaction(:,a))
      if (.not. regular) failed = max(failed, a)
    end do
    !$omp end parallel do
  end subroutine penalty_contacts
end module penalty
