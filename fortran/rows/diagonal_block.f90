!> The 3x3 problem of one contact: Signorini-Coulomb with the reactions of all other rows held fixed.
!>
!> All solvers work on the reduced problem in r and U', both in order (T1, T2, N),
!>
!>     U' = b + W r,   0 <= r_N  _|_  U'_N >= 0,   |r_T| <= mu r_N,   r_T opposite to U'_T when |r_T| = mu r_N,
!>
!> which includes cohesion c and restitution (or an open gap), once per step:
!> r = R + (0, 0, c),  b = B - c W(:,N) + (0, 0, shift)  (docs/language-objects.md, SURFACE_MATERIAL; docs/theory.md, Contact law).
module diagonal_block
  use kinds, only: dp, i4
  use contact_iterations, only: semismooth_newton, projected_gradient, de_saxce_feng, projected_newton, admissible, &
    status_solved, status_resolved
  implicit none
  private
  public :: block_size, b_inverse_nn, b_nn, b_friction, b_cohesion, b_schur, b_inverse_det, b_tn, b_nt, b_lambda, b_rho, b_opening
  public :: prepare_block, block_product, exact_block, visit_contact, solve_contact, largest_eigenvalue

  !> Layout of the numbers of a contact: two cache lines hold all that a warm block solution reads.
  integer, parameter :: block_size = 16
  integer, parameter :: b_inverse_nn = 1    !< 1/W_NN
  integer, parameter :: b_nn = 2            !< W_NN
  integer, parameter :: b_friction = 3      !< mu
  integer, parameter :: b_cohesion = 4      !< cohesion times area [force]
  integer, parameter :: b_schur = 5         !< S = W_TT - W_TN W_NT/W_NN, column by column (4)
  integer, parameter :: b_inverse_det = 9   !< 1/det S
  integer, parameter :: b_tn = 10           !< W_TN (2)
  integer, parameter :: b_nt = 12           !< W_NT (2)
  integer, parameter :: b_lambda = 14       !< multiplier of the last slip solution, the next initial guess
  integer, parameter :: b_rho = 15          !< 1/largest eigenvalue of W
  integer, parameter :: b_opening = 16      !< U'_N of the last visit of a sweep when the contact was open, else <= 0

  real(dp), parameter :: frictionless = 1e-12_dp   !< friction below this is none
  integer, parameter :: exact_bound = 60    !< steps of the safeguarded Newton iteration for the multiplier

contains

  !> Fills the numbers of one contact from its diagonal block W (velocity per force).
  pure subroutine prepare_block(w, friction, cohesion, block)
    real(dp), intent(in) :: w(3,3)
    real(dp), intent(in) :: friction, cohesion
    real(dp), intent(out) :: block(block_size)
    real(dp) :: inverse

    inverse = 1.0_dp/w(3,3)
    block = 0.0_dp
    block(b_inverse_nn) = inverse
    block(b_nn) = w(3,3)
    block(b_friction) = friction
    block(b_cohesion) = cohesion
    block(b_schur)   = w(1,1) - w(1,3)*w(3,1)*inverse
    block(b_schur+1) = w(2,1) - w(2,3)*w(3,1)*inverse
    block(b_schur+2) = w(1,2) - w(1,3)*w(3,2)*inverse
    block(b_schur+3) = w(2,2) - w(2,3)*w(3,2)*inverse
    block(b_inverse_det) = 1.0_dp/(block(b_schur)*block(b_schur+3) - block(b_schur+1)*block(b_schur+2))
    block(b_tn:b_tn+1) = w(1:2,3)
    block(b_nt:b_nt+1) = w(3,1:2)
    block(b_rho) = 1.0_dp/largest_eigenvalue(w)
  end subroutine prepare_block

  !> Product W r from the numbers of one contact.
  pure function block_product(block, r) result(v)
    real(dp), intent(in) :: block(block_size)
    real(dp), intent(in) :: r(3)
    real(dp) :: v(3), coupled

    coupled = block(b_nt)*r(1) + block(b_nt+1)*r(2)
    v(3) = coupled + block(b_nn)*r(3)
    coupled = coupled*block(b_inverse_nn) + r(3)
    v(1) = block(b_schur)*r(1) + block(b_schur+2)*r(2) + block(b_tn)*coupled
    v(2) = block(b_schur+1)*r(1) + block(b_schur+3)*r(2) + block(b_tn+1)*coupled
  end function block_product

  !> Visits a contact in a sweep with the semismooth Newton solver, by the direct solution.  The active set comes from the last visit:
  !> a contact that was open stays open in this visit, and closes in the next one if it must.  Solfec-1.0's numbers of sweeps
  !> follow from this.  `postponed` sums the reactions of such contacts; it must be small for a sweep to count as converged.
  pure subroutine visit_contact(block, b, r, solved, postponed)
    real(dp), intent(inout) :: block(block_size)
    real(dp), intent(in) :: b(3)
    real(dp), intent(out) :: r(3)
    logical, intent(out) :: solved
    real(dp), intent(inout) :: postponed     !< sum of |r|^2, normal part, of contacts that must still close

    if (block(b_opening) > 0.0_dp) then
      block(b_opening) = b(3)
      r = 0.0_dp
      solved = abs(b(1)) + abs(b(2)) + abs(b(3)) <= huge(1.0_dp)
      if (b(3) < 0.0_dp) postponed = postponed + (b(3)*block(b_inverse_nn))**2
    else
      call exact_block(block, b, r, solved)
      block(b_opening) = merge(b(3), 0.0_dp, r(3) <= 0.0_dp)
    end if
  end subroutine visit_contact

  !> Solves the reduced problem directly: separation, stick, or slip with U'_T = -lambda r_T.
  !>
  !>   block    numbers of the contact; stores the multiplier as the next initial guess
  !>   b        velocity without the contact's own reaction
  !>   r        solution (output only)
  !>   solved   false if the iteration did not converge (r is then meaningless), or if r sticks but sliding may be a
  !>            solution, too, mu |W_NT| >= W_NN: then the last reaction must decide, as in the iterative solvers
  pure subroutine exact_block(block, b, r, solved)
    real(dp), intent(inout) :: block(block_size)
    real(dp), intent(in) :: b(3)
    real(dp), intent(out) :: r(3)
    logical, intent(out) :: solved
    real(dp) :: mu, s11, s21, s12, s22, wn1, wn2, bn, c1, c2, x1, x2, rn, inverse_det

    solved = .true.
    if (b(3) >= 0.0_dp) then
      r = 0.0_dp
      solved = abs(b(1)) + abs(b(2)) + b(3) <= huge(1.0_dp)
      return
    end if
    mu = block(b_friction)
    s11 = block(b_schur)
    s21 = block(b_schur+1)
    s12 = block(b_schur+2)
    s22 = block(b_schur+3)
    wn1 = block(b_nt)*block(b_inverse_nn)
    wn2 = block(b_nt+1)*block(b_inverse_nn)
    bn = b(3)*block(b_inverse_nn)
    c1 = b(1) - block(b_tn)*bn
    c2 = b(2) - block(b_tn+1)*bn
    x1 = s12*c2 - s22*c1
    x2 = s21*c1 - s11*c2
    inverse_det = block(b_inverse_det)
    rn = -bn - (wn1*x1 + wn2*x2)*inverse_det
    if (rn > 0.0_dp .and. (x1*x1 + x2*x2)*inverse_det**2 <= (mu*rn)**2) then
      r(1) = x1*inverse_det
      r(2) = x2*inverse_det
      r(3) = rn
      solved = mu*mu*(wn1*wn1 + wn2*wn2) < 1.0_dp
    else if (mu <= frictionless) then
      r(1:2) = 0.0_dp
      r(3) = -bn
    else
      call slip(s11 + s22, s11*s22 - s12*s21, c1, c2, x1, x2, wn1, wn2, bn, mu, block(b_lambda), r, solved)
    end if
    ! NaN in b makes all comparisons above false; it must not count as a solution
    solved = solved .and. r(3) >= 0.0_dp .and. abs(r(1)) + abs(r(2)) <= huge(1.0_dp)
  end subroutine exact_block

  !> Solves the sliding branch of `exact_block`.  With (S + lambda I) r_T = -c and D = det(S + lambda I), D r_N is a quadratic function q and
  !> D r_T a linear function of lambda; lambda is the root of mu q/|D r_T| - 1, which is nearly linear.
  pure subroutine slip(trace, det, c1, c2, x1, x2, wn1, wn2, bn, mu, lambda, r, solved)
    real(dp), intent(in) :: trace, det        !< of S
    real(dp), intent(in) :: c1, c2            !< c
    real(dp), intent(in) :: x1, x2            !< D r_T at lambda = 0
    real(dp), intent(in) :: wn1, wn2, bn, mu  !< W_NT/W_NN, b_N/W_NN, friction
    real(dp), intent(inout) :: lambda         !< initial guess if positive; the solution
    real(dp), intent(out) :: r(3)
    logical, intent(out) :: solved
    real(dp) :: q0, q1, p0, p1, p2, q, dq, p, dpl, misfit, slope, change, low, high, inverse
    integer :: iteration

    q0 = -bn*det - (wn1*x1 + wn2*x2)
    q1 = -bn*trace + (wn1*c1 + wn2*c2)
    p0 = x1*x1 + x2*x2
    p1 = -2.0_dp*(x1*c1 + x2*c2)
    p2 = c1*c1 + c2*c2
    low = 0.0_dp
    high = huge(1.0_dp)
    if (.not. lambda > 0.0_dp) then
      lambda = sqrt(p2)/(-mu*bn) - 0.5_dp*trace
      if (.not. lambda > 0.0_dp) lambda = 1e-3_dp*trace
    end if
    solved = .false.
    do iteration = 1, exact_bound
      q = q0 + lambda*(q1 - lambda*bn)
      dq = q1 - 2.0_dp*lambda*bn
      p = p0 + lambda*(p1 + lambda*p2)
      dpl = p1 + 2.0_dp*lambda*p2
      misfit = (mu*q)**2 - p
      if (q > 0.0_dp .and. abs(misfit) <= 2e-7_dp*p) then
        ! one more step, whose own error is of second order
        change = -misfit/(2.0_dp*mu*mu*q*dq - dpl)
        solved = abs(change) <= 1e-6_dp*(lambda + abs(trace)) .and. lambda + change > low .and. lambda + change < high
        if (solved) exit
      end if
      if (mu*q < sqrt(p)) then
        low = lambda
      else
        high = lambda
      end if
      solved = high - low <= 4.0_dp*epsilon(1.0_dp)*high
      change = 0.0_dp
      if (solved) exit
      slope = mu*(dq*p - 0.5_dp*q*dpl)
      change = huge(1.0_dp)  ! out of the bounds: products of reactions near zero underflow
      if (abs(slope) > 0.0_dp) change = -(mu*q - sqrt(p))*p/slope
      if (lambda + change > low .and. lambda + change < high) then
        lambda = lambda + change
      else if (high < huge(1.0_dp)) then
        lambda = 0.5_dp*(low + high)
      else
        lambda = 4.0_dp*low + 1e-3_dp*abs(trace)
      end if
    end do
    lambda = lambda + change
    inverse = 1.0_dp/(det + lambda*(trace + lambda))
    r(1) = (x1 - lambda*c1)*inverse
    r(2) = (x2 - lambda*c2)*inverse
    r(3) = (q0 + lambda*(q1 - lambda*bn))*inverse
  end subroutine slip

  !> Solves one contact with the chosen solver (0 semismooth Newton, 1 projected gradient, 2 De Saxce-Feng, 3 projected
  !> Newton); if it fails, with the others in this order, each from the given reaction.  The semismooth solver
  !> tries the direct solution first; both have the same solution, to the accuracy of the iteration.
  pure subroutine solve_contact(solver, w, block, tolerance, bound, b, r, status)
    integer(i4), intent(in) :: solver
    real(dp), intent(in) :: w(3,3)
    real(dp), intent(inout) :: block(block_size)
    real(dp), intent(in) :: tolerance        !< relative change of r at which iterations end
    integer(i4), intent(in) :: bound         !< largest number of iterations
    real(dp), intent(in) :: b(3)
    real(dp), intent(inout) :: r(3)          !< reaction of the last visit; the solution, or unchanged
    integer(i4), intent(out) :: status
    real(dp) :: trial(3), direct(3)
    integer(i4) :: attempt, chosen, outcome, iterations
    logical :: solved

    status = status_solved
    do attempt = -1, 3
      chosen = attempt
      if (attempt == -1) chosen = solver
      if (attempt == solver) cycle
      trial = r
      select case (chosen)
      case (0)
        call exact_block(block, b, trial, solved)
        outcome = status_solved
        if (.not. solved) then
          direct = trial
          trial = r
          call semismooth_newton(w, block(b_friction), block(b_rho), tolerance, bound, b, trial, iterations, outcome)
          if (outcome /= status_solved .and. admissible(w, block(b_friction), block(b_rho), b, direct, tolerance)) then
            trial = direct
            outcome = status_solved
          end if
        end if
      case (1)
        call projected_gradient(w, block(b_friction), block(b_rho), tolerance, bound, b, trial, iterations, outcome)
      case (2)
        call de_saxce_feng(w, block(b_friction), block(b_rho), tolerance, bound, b, trial, iterations, outcome)
      case default
        call projected_newton(w, block(b_friction), block(b_rho), tolerance, bound, b, trial, iterations, outcome)
      end select
      if (outcome == status_solved) then
        if (trial(3) < 0.0_dp) trial = 0.0_dp  ! tension is round-off only: the law has none
        r = trial
        if (attempt >= 0) status = status_resolved
        return
      end if
      status = max(status, outcome)
    end do
  end subroutine solve_contact

  !> Largest eigenvalue of the symmetric part of a 3x3 matrix, in closed form.
  pure function largest_eigenvalue(w) result(value)
    real(dp), intent(in) :: w(3,3)
    real(dp) :: value, mean, a, b, c, d, e, f, p, half_det

    mean = (w(1,1) + w(2,2) + w(3,3))/3.0_dp
    a = w(1,1) - mean
    b = w(2,2) - mean
    c = w(3,3) - mean
    d = 0.5_dp*(w(1,2) + w(2,1))
    e = 0.5_dp*(w(1,3) + w(3,1))
    f = 0.5_dp*(w(2,3) + w(3,2))
    p = sqrt((a*a + b*b + c*c + 2.0_dp*(d*d + e*e + f*f))/6.0_dp)
    value = mean
    if (.not. p > 1e-17_dp*abs(mean)) return   ! smaller ones change nothing, and their cubes underflow
    half_det = (a*(b*c - f*f) - d*(d*c - f*e) + e*(d*f - b*e))/(2.0_dp*p**3)
    value = mean + 2.0_dp*p*cos(acos(min(1.0_dp, max(-1.0_dp, half_det)))/3.0_dp)
  end function largest_eigenvalue
end module diagonal_block
