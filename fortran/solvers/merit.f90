!> Errors of reactions in the constraint laws: Solfec-1.0's merit function, and the residual, which does not depend on scaling.
module merit
  use kinds, only: dp, i4
  use constraint_measures, only: measure
  implicit none
  private
  public :: evaluate

contains

  !> Computes the merit g = sum P.A P/sum B.A B with A = W_aa^-1 (docs/language-objects.md, GAUSS_SEIDEL_SOLVER.merhist), its members P.A P/Ef,
  !> and the residual: of a contact (r - P_K(r - rho F))/rho, of another row the error in its velocity condition.
  !>
  !>   n            rows in use
  !>   kind         (0:nrow-1) kinds of rows (row_block); driving 1: the row drives an obstacle; contact: row of a rolling row's contact, or -1
  !>   block, law   (16,0:nrow-1), (8,0:nrow-1) contact numbers (diagonal_block), laws (row_block); rolling rows take normal reactions in `block`
  !>   diagonal     (3,3,0:nrow-1) W_aa [velocity/force]
  !>   b            (3,0:nrow-1) free velocity [velocity]
  !>   speed        (0:nrow-1) size of the velocities of which B is the sum [velocity]; an error within their round-off counts as none
  !>   reaction, u  (3,0:nrow-1) R [force] and U = B + W R [velocity]
  !>   half_step    h/2 (dynamics) or h (quasi-statics)
  !>   member       (0:nrow-1) out: merit of every row (the members sum to 2 g)
  !>   residual     (0:nrow-1) out: residual of every row [velocity]
  !>   g            merit; without free energy 0 if there are no errors, else 1e300
  !>   total        norm of the residuals over the norm of B (over 1 where B is zero)
  !>
  !> Rows that drive obstacles are measured by their own energy and norm of B; the larger result counts.
  subroutine evaluate(n, nrow, kind, driving, contact, block, law, diagonal, b, speed, reaction, u, half_step, member, &
                      residual, g, total)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: nrow
    integer(i4), intent(in) :: kind(0:nrow-1), driving(0:nrow-1), contact(0:nrow-1)
    real(dp), intent(inout) :: block(16,0:nrow-1)
    real(dp), intent(in) :: law(8,0:nrow-1), diagonal(3,3,0:nrow-1)
    real(dp), intent(in) :: b(3,0:nrow-1), speed(0:nrow-1), reaction(3,0:nrow-1), u(3,0:nrow-1)
    real(dp), intent(in) :: half_step
    real(dp), intent(inout) :: member(0:nrow-1), residual(0:nrow-1)
    real(dp), intent(out) :: g, total

    call measure(n, .false., 1.0_dp, kind, driving, contact, block, law, diagonal, b, speed, reaction, u, half_step, member, &
                 residual, g, total)
  end subroutine evaluate
end module merit
