!> Many problems of one row each, for tests and comparisons of block solvers.
module block_problems
  use kinds, only: dp, i4
  use contact_iterations, only: semismooth_newton, projected_gradient, de_saxce_feng, projected_newton, project_on_cone, &
    linearise, status_solved, status_failed
  use diagonal_block, only: block_size, b_rho, prepare_block, exact_block, solve_contact
  use dashpot_rows, only: penalty_block
  use row_block, only: row_options, l_cohesion
  use row_families, only: solve_row
  implicit none
  private
  public :: contact_problems, row_problems, penalty_problems, projections, linearisations

contains

  !> Solves n independent contacts in the reduced form of diagonal_block.
  !>
  !>   method       0 semismooth Newton, 1 projected gradient, 2 De Saxce-Feng, 3 projected Newton, 4 direct solution,
  !>                10 + k: solver k with its fast path and fall-backs
  !>   w, b         (3,3,n) [velocity/force], (3,n) [velocity]; friction (n)
  !>   tolerance, bound   accuracy and largest number of iterations
  !>   r            (3,n) initial guess and solution [force]
  !>   iterations   (n) out: iterations made (0 where not counted)
  !>   status       (n) out: 0 solved, 1 by a fall-back, 2 bound reached, 3 failed
  subroutine contact_problems(method, n, w, b, friction, tolerance, bound, r, iterations, status)
    integer(i4), intent(in) :: method, n
    real(dp), intent(in) :: w(3,3,n), b(3,n), friction(n), tolerance
    integer(i4), intent(in) :: bound
    real(dp), intent(inout) :: r(3,n)
    integer(i4), intent(inout) :: iterations(n), status(n)
    real(dp) :: block(block_size), rho
    logical :: solved
    integer :: k

    do k = 1, n
      call prepare_block(w(:,:,k), friction(k), 0.0_dp, block)
      rho = block(b_rho)
      iterations(k) = 0
      select case (method)
      case (0)
        call semismooth_newton(w(:,:,k), friction(k), rho, tolerance, bound, b(:,k), r(:,k), iterations(k), status(k))
      case (1)
        call projected_gradient(w(:,:,k), friction(k), rho, tolerance, bound, b(:,k), r(:,k), iterations(k), status(k))
      case (2)
        call de_saxce_feng(w(:,:,k), friction(k), rho, tolerance, bound, b(:,k), r(:,k), iterations(k), status(k))
      case (3)
        call projected_newton(w(:,:,k), friction(k), rho, tolerance, bound, b(:,k), r(:,k), iterations(k), status(k))
      case (4)
        call exact_block(block, b(:,k), r(:,k), solved)
        status(k) = merge(status_solved, status_failed, solved)
      case default
        call solve_contact(method - 10, w(:,:,k), block, tolerance, bound, b(:,k), r(:,k), status(k))
      end select
    end do
  end subroutine contact_problems

  !> Solves n rows that are no contacts: kind (n) and law (8,n) as in row_block, w (3,3,n), b (3,n) less the prescribed
  !> velocity, half_step (n) h/2 or h; r (3,n) out; status (n) out: 0 solved, 3 singular.
  subroutine row_problems(n, kind, w, law, half_step, b, r, status)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: kind(n)
    real(dp), intent(in) :: w(3,3,n), law(8,n), half_step(n), b(3,n)
    real(dp), intent(inout) :: r(3,n)
    integer(i4), intent(inout) :: status(n)
    real(dp) :: block(block_size)
    integer :: k

    block = 0.0_dp
    do k = 1, n
      call solve_row(kind(k), w(:,:,k), block, law(:,k), 0.0_dp, row_options(half_step(k), 0.0_dp, 0, 0.0_dp, 1), b(:,k), &
                     r(:,k), status(k))
    end do
  end subroutine row_problems

  !> Solves the spring-dashpot law of n contacts: implicit_law (n) 1 or 0, w (3,3,n), law (8,n), step (n), b, v (3,n);
  !> r (3,n) R of the last step and the new one; lost (n) out: 1 where cohesion ends.
  subroutine penalty_problems(n, implicit_law, w, law, step, b, v, r, lost)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: implicit_law(n)
    real(dp), intent(in) :: w(3,3,n), law(8,n), step(n), b(3,n), v(3,n)
    real(dp), intent(inout) :: r(3,n)
    integer(i4), intent(inout) :: lost(n)
    logical :: broken, regular
    integer :: k

    do k = 1, n
      call penalty_block(implicit_law(k) /= 0, w(:,:,k), law(:,k), law(l_cohesion,k) > 0.0_dp, step(k), 0.5_dp*step(k), &
                         b(:,k), v(3,k), r(:,k), broken, regular)
      lost(k) = merge(1, 0, broken)
    end do
  end subroutine penalty_problems

  !> Projects s (3,n) [force] on the cones |s_T| <= mu s_N: p (3,n) out; friction (n).
  subroutine projections(n, friction, s, p)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: friction(n), s(3,n)
    real(dp), intent(inout) :: p(3,n)
    integer :: k

    do k = 1, n
      p(:,k) = project_on_cone(friction(k), s(:,k))
    end do
  end subroutine projections

  !> Computes the smoothed natural map c (3,n) with unit scaling, and its derivatives x = dC/dU', y = dC/dr (3,3,n);
  !> friction, omega (n), u, r (3,n): U' and r in the reduced form of diagonal_block.
  subroutine linearisations(n, friction, omega, u, r, c, x, y)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: friction(n), omega(n), u(3,n), r(3,n)
    real(dp), intent(inout) :: c(3,n), x(3,3,n), y(3,3,n)
    integer :: k

    do k = 1, n
      call linearise(friction(k), omega(k), u(:,k), r(:,k), c(:,k), x(:,:,k), y(:,:,k))
    end do
  end subroutine linearisations
end module block_problems
