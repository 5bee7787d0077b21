!> Errors of reactions in the constraint laws: Solfec-1.0's merit function, and the residual, which does not depend on scaling.
module merit
  use kinds, only: dp, i4, i8
  use constraint_measures, only: measure
  use row_tables, only: local_tables, open_local
  use table_registry, only: table_open
  implicit none
  private
  public :: evaluate

contains

  !> Computes the merit g = sum P.A P/sum B.A B with A = W_aa^-1 (docs/language-objects.md, GAUSS_SEIDEL_SOLVER.merhist), its members P.A P/Ef,
  !> and the residual: of a contact (r - P_K(r - rho F))/rho, of another row the error in its velocity condition.
  !>
  !> Reads of rows kind, driving, contact, law, diagonal, B, speed, R and U.  Writes of rows
  !> merit (members, which sum to 2 g), residual [velocity], and block of rolling rows, which take the normal reactions of their contacts.
  !>
  !>   local        handles (LocalDynamics.handles)
  !>   n            rows in use
  !>   half_step    h/2 (dynamics) or h (quasi-statics)
  !>   g            merit; without free energy 0 if there are no errors, else 1e300
  !>   total        norm of the residuals over the norm of B (over 1 where B is zero)
  !>   status       `table_open` or `table_unknown`
  !>
  !> Rows that drive obstacles are measured by their own energy and norm of B; the larger result counts.
  subroutine evaluate(local, n, half_step, g, total, status)
    integer(i8), intent(in) :: local(6)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: half_step
    real(dp), intent(out) :: g, total
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    g = 0.0_dp
    total = 0.0_dp
    call open_local(local, loc, status)
    if (status /= table_open) return
    associate (rows => loc%rows)
      call measure(n, .false., 1.0_dp, rows%kind, rows%driving, rows%contact, rows%block, rows%law, rows%diagonal, rows%B, &
                   rows%speed, rows%R, rows%U, half_step, rows%merit, rows%residual, g, total)
    end associate
  end subroutine evaluate
end module merit
