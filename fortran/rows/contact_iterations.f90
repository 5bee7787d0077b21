!> Iterative solvers of one contact, in the reduced form of diagonal_block (docs/language-objects.md, GAUSS_SEIDEL_SOLVER.diagsolver).
!>
!> All take W (velocity per force), mu, rho = 1/largest eigenvalue of W, the relative change of r at which to stop, the
!> largest number of iterations and b; r holds the initial guess.  They return the number of iterations and a status.
module contact_iterations
  use kinds, only: dp, i4
  use ieee_arithmetic, only: ieee_is_finite
  implicit none
  private
  public :: semismooth_newton, projected_gradient, de_saxce_feng, projected_newton
  public :: contact_map, project_on_cone, linearise, admissible, solve3
  public :: status_solved, status_resolved, status_diverged, status_failed

  !> Outcomes of a block solution: solved, solved by a fall-back, bound reached, singular or not finite.
  integer(i4), parameter :: status_solved = 0, status_resolved = 1, status_diverged = 2, status_failed = 3

contains

  !> Primal-dual active set iteration with stabilised sliding rows (docs/theory.md, Block solvers).
  pure subroutine semismooth_newton(w, mu, rho, tolerance, bound, b, r, iterations, status)
    real(dp), intent(in) :: w(3,3), mu, rho, tolerance, b(3)
    integer(i4), intent(in) :: bound
    real(dp), intent(inout) :: r(3)
    integer(i4), intent(out) :: iterations, status
    real(dp) :: u(3), residual(3), d(3), m(3,3), x(3), scaling, limit, length, e, alpha, delta, beta, dmat(2,2), direction(2)
    logical :: regular
    integer :: i, j

    scaling = rho
    u = b + matmul(w, r)
    status = status_diverged
    do iterations = 1, bound
      d = r - scaling*u
      residual = b + matmul(w, r) - u
      if (d(3) < 0.0_dp) then
        m = identity()
        x = -r
      else
        m(3,:) = w(3,:)
        x(3) = -u(3) - residual(3)
        length = sqrt(d(1)**2 + d(2)**2)
        limit = mu*d(3)
        if (limit <= 0.0_dp) then
          m(1:2,:) = 0.0_dp
          m(1,1) = 1.0_dp
          m(2,2) = 1.0_dp
          x(1:2) = -r(1:2)
        else if (length >= limit) then
          direction = d(1:2)/length
          e = limit/length
          do j = 1, 2
            do i = 1, 2
              dmat(i,j) = merge(e, 0.0_dp, i == j) - e*r(i)*direction(j)/max(limit, sqrt(r(1)**2 + r(2)**2))
            end do
          end do
          beta = 1.0_dp
          alpha = r(1)*direction(1) + r(2)*direction(2)
          if (alpha < 0.0_dp) then
            alpha = alpha/sqrt(r(1)**2 + r(2)**2)
            delta = min(sqrt(r(1)**2 + r(2)**2)/limit, 1.0_dp)
            beta = 1.0_dp/(1.0_dp - alpha*delta)
          end if
          m(1:2,1:2) = -beta*dmat + scaling*matmul(dmat, w(1:2,1:2))
          m(1,1) = m(1,1) + 1.0_dp
          m(2,2) = m(2,2) + 1.0_dp
          m(1:2,3) = scaling*matmul(dmat, w(1:2,3)) - mu*direction
          x(1:2) = mu*direction*r(3) - r(1:2) - scaling*matmul(dmat, residual(1:2))
        else
          m(1:2,:) = w(1:2,:)
          m(1:2,3) = m(1:2,3) + u(1:2)/d(3)
          x(1:2) = -(1.0_dp + scaling*u(3)/d(3))*u(1:2) - residual(1:2)
        end if
      end if
      call solve3(m, x, regular)
      if (.not. regular) then
        status = status_failed
        return
      end if
      r = r + x
      u = u + residual + matmul(w, x)
      if (norm2(x) <= tolerance*max(norm2(r), rho*norm2(b))) then
        status = merge(status_solved, status_diverged, admissible(w, mu, rho, b, r, tolerance))
        if (status == status_solved) return
      end if
      if (mod(iterations, max(1, bound/10)) == 0) scaling = 10.0_dp*scaling
      if (.not. ieee_is_finite(scaling)) status = status_failed
      if (status == status_failed) return
    end do
    iterations = bound
  end subroutine semismooth_newton

  !> Whether r solves the contact law; a small change of r alone is no proof while the active set changes.
  pure function admissible(w, mu, rho, b, r, tolerance) result(answer)
    real(dp), intent(in) :: w(3,3), mu, rho, b(3), r(3), tolerance
    logical :: answer
    answer = norm2(contact_map(mu, rho, b + matmul(w, r), r)) <= 1e3_dp*max(tolerance, 1e-13_dp)*max(norm2(r), rho*norm2(b))
  end function admissible

  !> Natural map r - P(r - rho F(U')), F = (U'_T, U'_N + mu |U'_T|) [force], which is zero at solutions.
  !>
  !> It is computed as rho F + (s - P(s)), s = r - rho F: near a solution r and P(s) agree in all but the last digits, and if reactions
  !> are large and velocities small, their difference would be round-off only.
  pure function contact_map(mu, rho, u, r) result(c)
    real(dp), intent(in) :: mu, rho, u(3), r(3)
    real(dp) :: c(3), s(3), length, beyond(2)

    c = scaled_velocity(mu, rho, u)
    s = r - c
    length = sqrt(s(1)**2 + s(2)**2)
    if (in_cone(mu, length, s(3))) return
    if (mu*length <= -s(3)) then
      c = r
    else
      beyond = parts(mu, length, -s(3))
      c(1:2) = c(1:2) + s(1:2)*(beyond(1)/length)
      c(3) = c(3) - beyond(2)
    end if
  end function contact_map

  !> Whether a vector with |s_T| = `length` and s_N is in the friction cone.  Without friction the cone is the half line s_T = 0,
  !> s_N >= 0, for which |s_T| <= mu s_N alone would allow any s_N.
  pure function in_cone(mu, length, normal) result(answer)
    real(dp), intent(in) :: mu, length, normal
    logical :: answer
    answer = normal >= 0.0_dp .and. length <= mu*normal
  end function in_cone

  !> Numbers (a, mu a) with a = (x + mu y)/(1 + mu^2), for mu of any size.
  pure function parts(mu, x, y) result(pair)
    real(dp), intent(in) :: mu, x, y
    real(dp) :: pair(2)
    if (mu <= 1.0_dp) then
      pair(1) = (x + mu*y)/(1.0_dp + mu**2)
      pair(2) = mu*pair(1)
    else
      pair(2) = (x/mu + y)/(1.0_dp + (1.0_dp/mu)**2)
      pair(1) = pair(2)/mu
    end if
  end function parts

  !> Scaled velocity rho F.
  pure function scaled_velocity(mu, rho, u) result(f)
    real(dp), intent(in) :: mu, rho, u(3)
    real(dp) :: f(3)
    f = rho*[u(1), u(2), u(3) + mu*sqrt(u(1)**2 + u(2)**2)]
  end function scaled_velocity

  !> Solves by projected gradient; the updated normal reaction gives the radius of Coulomb's disc (docs/language-objects.md, GAUSS_SEIDEL_SOLVER).
  pure subroutine projected_gradient(w, mu, rho, tolerance, bound, b, r, iterations, status)
    real(dp), intent(in) :: w(3,3), mu, rho, tolerance, b(3)
    integer(i4), intent(in) :: bound
    real(dp), intent(inout) :: r(3)
    integer(i4), intent(out) :: iterations, status
    real(dp) :: u(3), old(3), length, limit

    do iterations = 1, bound
      old = r
      u = b + matmul(w, r)
      r(1:2) = r(1:2) - rho*u(1:2)
      r(3) = max(0.0_dp, r(3) - rho*u(3))
      limit = mu*r(3)
      length = sqrt(r(1)**2 + r(2)**2)
      if (length >= limit .and. length > 0.0_dp) r(1:2) = r(1:2)*(limit/length)
      call settle(old, r, rho, b, tolerance, status)
      if (status /= status_diverged) return
    end do
    iterations = bound
  end subroutine projected_gradient

  !> Solves by projections of r - rho (U'_T, U'_N + mu |U'_T|) on the friction cone (De Saxce and Feng; docs/language-objects.md, GAUSS_SEIDEL_SOLVER).
  pure subroutine de_saxce_feng(w, mu, rho, tolerance, bound, b, r, iterations, status)
    real(dp), intent(in) :: w(3,3), mu, rho, tolerance, b(3)
    integer(i4), intent(in) :: bound
    real(dp), intent(inout) :: r(3)
    integer(i4), intent(out) :: iterations, status
    real(dp) :: old(3)

    do iterations = 1, bound
      old = r
      r = project_on_cone(mu, r - scaled_velocity(mu, rho, b + matmul(w, r)))
      call settle(old, r, rho, b, tolerance, status)
      if (status /= status_diverged) return
    end do
    iterations = bound
  end subroutine de_saxce_feng

  !> Tests the change of r for the gradient iterations; forces below rho |b| count as zero.
  pure subroutine settle(old, r, rho, b, tolerance, status)
    real(dp), intent(in) :: old(3), r(3), rho, b(3), tolerance
    integer(i4), intent(out) :: status
    real(dp) :: change
    change = norm2(r - old)
    status = status_diverged
    if (.not. ieee_is_finite(change + norm2(b))) then
      status = status_failed
    else if (change <= tolerance*max(norm2(r), rho*norm2(b))) then
      status = status_solved
    end if
  end subroutine settle

  !> Solves by Newton steps on the smoothed natural map, each projected on the cone (docs/theory.md, Block solvers).
  !> Velocities are scaled by rho, and smoothing by the size of the problem; without smoothing the derivative does not exist at rest.
  pure subroutine projected_newton(w, mu, rho, tolerance, bound, b, r, iterations, status)
    real(dp), intent(in) :: w(3,3), mu, rho, tolerance, b(3)
    integer(i4), intent(in) :: bound
    real(dp), intent(inout) :: r(3)
    integer(i4), intent(out) :: iterations, status
    real(dp) :: scaled(3,3), x(3,3), y(3,3), c(3), m(3,3), omega, size
    logical :: regular

    scaled = rho*w
    size = max(rho*norm2(b), tiny(1.0_dp))
    omega = 1e-14_dp*size/max(1.0_dp, mu**2)   ! the map is smoothed by mu^2 omega
    status = status_diverged
    do iterations = 1, bound
      call linearise(mu, omega, rho*b + matmul(scaled, r), r, c, x, y)
      if (norm2(c) <= tolerance*max(norm2(r), size)) then
        status = status_solved
        return
      end if
      m = matmul(x, scaled) + y
      call solve3(m, c, regular)
      if (.not. regular) then
        status = status_failed
        return
      end if
      r = project_on_cone(mu, r - c)
    end do
    iterations = bound
  end subroutine projected_newton

  !> Computes the smoothed natural map C(U', r) with X = dC/dU' and Y = dC/dr (docs/theory.md, Non-smooth velocity formulation).
  pure subroutine linearise(mu, omega, u, r, c, x, y)
    real(dp), intent(in) :: mu, omega, u(3), r(3)
    real(dp), intent(out) :: c(3), x(3,3), y(3,3)
    real(dp) :: f(3), s(3), t(2), slip, length, l1, l2, q1, q2, p1, p2, k, a, bb, cc, dd, df(3,3)
    integer :: i, j

    slip = sqrt(u(1)**2 + u(2)**2 + omega**2)
    f = [u(1), u(2), u(3) + mu*(slip - omega)]
    s = r - f
    length = sqrt(s(1)**2 + s(2)**2)
    t = [1.0_dp, 0.0_dp]
    if (length > 0.0_dp) t = s(1:2)/length
    k = 1.0_dp + mu**2
    l1 = -(s(3) + mu*length)/k
    l2 = (length - mu*s(3))/k
    q1 = sqrt(l1**2 + 4.0_dp*omega**2)
    q2 = sqrt(l2**2 + 4.0_dp*mu**2*omega**2)
    c(1:2) = f(1:2) + 0.5_dp*((l2 + q2) - mu*(l1 + q1))*t
    c(3) = f(3) - 0.5_dp*((l1 + q1) + mu*(l2 + q2))
    p1 = half_one_plus(l1, q1)
    p2 = half_one_plus(l2, q2)
    y = 0.0_dp
    if (length > 0.0_dp) then
      a = half_one_plus(l2 + mu*l1, q2 + mu*q1)
      bb = (mu**2*p1 + p2)/k
      cc = mu*(p1 - p2)/k
      dd = (p1 + mu**2*p2)/k
      do j = 1, 2
        do i = 1, 2
          y(i,j) = merge(a, 0.0_dp, i == j) + (bb - a)*t(i)*t(j)
        end do
      end do
      y(1:2,3) = cc*t
      y(3,1:2) = cc*t
      y(3,3) = dd
    else
      ! without friction C_T is r_T whatever the normal reaction
      y(1,1) = merge(p1, 1.0_dp, mu > 0.0_dp)
      y(2,2) = y(1,1)
      y(3,3) = p1
    end if
    df = identity()
    if (slip > 0.0_dp) df(3,1:2) = mu*u(1:2)/slip
    x = matmul(identity() - y, df)
  end subroutine linearise

  !> Number (1 + l/q)/2, and 1/2, the middle of the subdifferential, at l = q = 0.
  pure function half_one_plus(l, q) result(p)
    real(dp), intent(in) :: l, q
    real(dp) :: p
    p = 0.5_dp
    if (q > 0.0_dp) p = 0.5_dp*(1.0_dp + l/q)
  end function half_one_plus

  !> Projection on the cone |s_T| <= mu s_N.
  pure function project_on_cone(mu, s) result(p)
    real(dp), intent(in) :: mu, s(3)
    real(dp) :: p(3), length, along(2)
    length = sqrt(s(1)**2 + s(2)**2)
    if (in_cone(mu, length, s(3))) then
      p = s
    else if (mu*length <= -s(3)) then
      p = 0.0_dp
    else
      ! from the place along the boundary, so that the result is on the boundary to the last digit
      along = parts(mu, s(3), length)
      p(1:2) = s(1:2)*(along(2)/length)
      p(3) = along(1)
    end if
  end function project_on_cone

  !> Solves m x = rhs in place by elimination with row pivoting.
  pure subroutine solve3(m, rhs, regular)
    real(dp), intent(inout) :: m(3,3)       !< destroyed
    real(dp), intent(inout) :: rhs(3)       !< solution
    logical, intent(out) :: regular         !< false if singular or not finite
    real(dp) :: row(3), factor, swap
    integer :: i, k, pivot

    regular = .false.
    do k = 1, 3
      pivot = k
      do i = k + 1, 3
        if (abs(m(i,k)) > abs(m(pivot,k))) pivot = i
      end do
      if (.not. abs(m(pivot,k)) > 0.0_dp) return
      row = m(k,:)
      m(k,:) = m(pivot,:)
      m(pivot,:) = row
      swap = rhs(k)
      rhs(k) = rhs(pivot)
      rhs(pivot) = swap
      do i = k + 1, 3
        factor = m(i,k)/m(k,k)
        m(i,k+1:3) = m(i,k+1:3) - factor*m(k,k+1:3)
        rhs(i) = rhs(i) - factor*rhs(k)
      end do
    end do
    rhs(3) = rhs(3)/m(3,3)
    rhs(2) = (rhs(2) - m(2,3)*rhs(3))/m(2,2)
    rhs(1) = (rhs(1) - m(1,2)*rhs(2) - m(1,3)*rhs(3))/m(1,1)
    regular = all(abs(rhs) <= huge(1.0_dp))
  end subroutine solve3

  pure function identity() result(m)
    real(dp) :: m(3,3)
    m = 0.0_dp
    m(1,1) = 1.0_dp
    m(2,2) = 1.0_dp
    m(3,3) = 1.0_dp
  end function identity
end module contact_iterations
