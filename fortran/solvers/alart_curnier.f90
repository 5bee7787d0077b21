!> Semismooth Newton iteration on the equations of Alart and Curnier (1991) of one island.
!>
!> With s = r - rho u, scaled:  F_N = r_N - max(s_N, 0),  F_T = r_T - projection of s_T on the disc of radius mu max(s_N, 0).
!> The Jacobian uses W + regularisation I, since W is often rank deficient.  The line search is non-monotone, and the
!> first steps may make F as large as `wandering` times q: at a point with small F often the wrong contacts
!> slide, and no path of decreasing F leads from there to the right ones.
module alart_curnier
  use kinds, only: dp, i4
  use island_factor, only: island_lu, factorise_island, solve_island_factor
  use island_problem, only: island, island_product, island_residual, project_row, cone_contact, cone_fixed, cone_normal
  implicit none
  private
  public :: newton_island, linear_island, map_rows, linearised, measure

  integer(i4), parameter :: memory = 10, halvings = 6
  integer(i4), parameter :: patience = 40   !< steps within which the best residual must fall
  real(dp), parameter :: most_shift = 1e-1_dp
  real(dp), parameter :: wandering = 1e-2_dp
  real(dp), parameter :: stagnation = 0.9_dp  !< part of a residual that a linear solution must leave less of

contains

  !> Makes Newton steps from scaled reactions r until the residual is at most `tolerance`; returns the best reactions.
  subroutine newton_island(part, unscaled, tolerance, most, regularisation, rho, along_reaction, factor, r, residual, steps)
    type(island), intent(in) :: part
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: tolerance
    integer(i4), intent(in) :: most
    real(dp), intent(in) :: regularisation, rho
    logical, intent(in) :: along_reaction        !< sliding direction in the Jacobian: of r_T, otherwise of s_T
    type(island_lu), intent(inout) :: factor
    real(dp), intent(inout) :: r(3,0:part%n-1)
    real(dp), intent(out) :: residual
    integer(i4), intent(out) :: steps
    real(dp), allocatable :: u(:,:), velocity(:,:), f(:,:), dr(:,:), trial(:,:), best(:,:)
    real(dp) :: history(memory), merit, length, measured, reference, shift
    integer(i4) :: n, halving, improved
    logical :: regular

    n = part%n
    allocate(u(3,0:n-1), velocity(3,0:n-1), f(3,0:n-1), dr(3,0:n-1), trial(3,0:n-1), best(3,0:n-1))
    call equations(part, rho, r, u, f, merit)
    call measure(part, unscaled, r, velocity, dr, residual)
    best = dr
    history = 0.5_dp*wandering**2*sum(part%q**2)
    shift = regularisation
    improved = 0
    do steps = 1, most
      if (residual <= tolerance .or. steps > improved + patience) exit
      call linearised(part, rho, shift, along_reaction, r, u, factor%left, factor%own)
      call factorise_island(part, factor, .false., regular)
      if (.not. regular) exit
      history(mod(steps, memory) + 1) = merit
      reference = maxval(history)
      f = -f
      call solve_island_factor(part, factor, f, dr)
      length = 1.0_dp
      do halving = 1, halvings
        trial = r + length*dr
        call equations(part, rho, trial, velocity, f, measured)
        if (measured <= (1.0_dp - 2e-4_dp*length)*reference) exit
        length = 0.5_dp*length
      end do
      if (.not. measured <= reference) then
        if (shift >= most_shift) exit
        shift = 30.0_dp*shift
        call equations(part, rho, r, u, f, merit)
        cycle
      end if
      if (length == 1.0_dp) shift = max(0.3_dp*shift, regularisation)
      if (length < 0.1_dp) shift = min(10.0_dp*shift, most_shift)
      r = trial
      u = velocity
      merit = measured
      call measure(part, unscaled, r, velocity, dr, measured)
      if (measured < residual) then
        residual = measured
        best = dr
        improved = steps
      end if
    end do
    steps = min(steps, most)
    r = best
  end subroutine newton_island

  !> Solves the equations of an island without contacts, which are linear, from zero: one factorisation, and at most so many solutions, each of
  !> which reduces what the regularisation has left.  Reactions of redundant rows have the least norm.
  subroutine linear_island(part, unscaled, tolerance, most, regularisation, factor, r, residual, stagnant, steps)
    type(island), intent(in) :: part
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: tolerance
    integer(i4), intent(in) :: most
    real(dp), intent(in) :: regularisation
    type(island_lu), intent(inout) :: factor
    real(dp), intent(out) :: r(3,0:part%n-1)
    real(dp), intent(out) :: residual
    logical, intent(out) :: stagnant             !< the last solution did not reduce the residual: rows contradict one another
    integer(i4), intent(out) :: steps
    real(dp), allocatable :: u(:,:), f(:,:), dr(:,:)
    real(dp) :: merit, before
    logical :: regular

    allocate(u(3,0:part%n-1), f(3,0:part%n-1), dr(3,0:part%n-1))
    r = 0.0_dp
    residual = huge(residual)
    stagnant = .false.
    steps = 0
    call equations(part, 1.0_dp, r, u, f, merit)
    call linearised(part, 1.0_dp, regularisation, .true., r, u, factor%left, factor%own)
    call factorise_island(part, factor, .false., regular)
    if (.not. regular) return
    do steps = 1, most
      f = -f
      call solve_island_factor(part, factor, f, dr)
      r = r + dr
      call equations(part, 1.0_dp, r, u, f, merit)
      before = residual
      residual = island_residual(part, unscaled, r, u)
      if (residual <= tolerance) return
      stagnant = residual > stagnation*before
      if (stagnant) return
    end do
    steps = most
  end subroutine linear_island

  !> Computes projected reactions `p` and their residual; u is work space.
  subroutine measure(part, unscaled, r, u, p, residual)
    type(island), intent(in) :: part
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: r(3,0:*)
    real(dp), intent(inout) :: u(3,0:*), p(3,0:*)
    real(dp), intent(out) :: residual
    integer(i4) :: i

    do i = 0, part%n - 1
      p(:,i) = project_row(part%kind(i), part%mu(i), r(:,i))
    end do
    call island_product(part, p, u)
    residual = island_residual(part, unscaled, p, u)
  end subroutine measure

  !> Computes u = W r + q, F and half the square of F.
  subroutine equations(part, rho, r, u, f, merit)
    type(island), intent(in) :: part
    real(dp), intent(in) :: rho, r(3,0:*)
    real(dp), intent(inout) :: u(3,0:*), f(3,0:*)
    real(dp), intent(out) :: merit

    call island_product(part, r, u)
    call map_rows(part, rho, r, u, f, merit)
  end subroutine equations

  !> Computes F of given r and u, and half the square of F.
  pure subroutine map_rows(part, rho, r, u, f, merit)
    type(island), intent(in) :: part
    real(dp), intent(in) :: rho, r(3,0:*), u(3,0:*)
    real(dp), intent(inout) :: f(3,0:*)
    real(dp), intent(out) :: merit
    real(dp) :: s(3), limit, length
    integer(i4) :: i

    merit = 0.0_dp
    do i = 0, part%n - 1
      select case (part%kind(i))
      case (cone_contact)
        s = r(:,i) - rho*u(:,i)
        limit = part%mu(i)*max(s(3), 0.0_dp)
        length = sqrt(s(1)**2 + s(2)**2)
        f(3,i) = r(3,i) - max(s(3), 0.0_dp)
        if (length > limit) s(1:2) = s(1:2)*(limit/length)
        f(1:2,i) = r(1:2,i) - s(1:2)
      case (cone_fixed)
        f(:,i) = rho*u(:,i)
      case (cone_normal)
        f(:,i) = [r(1,i), r(2,i), rho*u(3,i)]
      case default
        f(:,i) = r(:,i)
      end select
      merit = merit + 0.5_dp*(f(1,i)**2 + f(2,i)**2 + f(3,i)**2)
    end do
  end subroutine map_rows

  !> Computes the Jacobian X (W + regularisation I) + Y: left = X, own = Y + regularisation X.
  subroutine linearised(part, rho, regularisation, along_reaction, r, u, left, own)
    type(island), intent(in) :: part
    real(dp), intent(in) :: rho, regularisation
    logical, intent(in) :: along_reaction
    real(dp), intent(in) :: r(3,0:*), u(3,0:*)
    real(dp), intent(inout) :: left(3,3,0:*), own(3,3,0:*)
    real(dp) :: x(3,3), y(3,3)
    integer(i4) :: i

    do i = 0, part%n - 1
      call row_derivatives(part%kind(i), part%mu(i), rho, along_reaction, r(:,i), u(:,i), x, y)
      left(:,:,i) = x
      own(:,:,i) = y + regularisation*x
    end do
  end subroutine linearised

  !> Computes x = dF/du and y = dF/dr of one row.
  pure subroutine row_derivatives(kind, mu, rho, along_reaction, r, u, x, y)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: mu, rho, r(3), u(3)
    logical, intent(in) :: along_reaction
    real(dp), intent(out) :: x(3,3), y(3,3)
    real(dp) :: s(3), t(2), v(2), limit, length, size, m(2,2)
    integer(i4) :: i, j

    x = 0.0_dp
    y = 0.0_dp
    select case (kind)
    case (cone_fixed)
      x(1,1) = rho
      x(2,2) = rho
      x(3,3) = rho
      return
    case (cone_normal)
      y(1,1) = 1.0_dp
      y(2,2) = 1.0_dp
      x(3,3) = rho
      return
    case (cone_contact)
      continue
    case default
      y(1,1) = 1.0_dp
      y(2,2) = 1.0_dp
      y(3,3) = 1.0_dp
      return
    end select
    s = r - rho*u
    if (s(3) <= 0.0_dp) then
      y(1,1) = 1.0_dp
      y(2,2) = 1.0_dp
      y(3,3) = 1.0_dp
      return
    end if
    x(3,3) = rho
    limit = mu*s(3)
    length = sqrt(s(1)**2 + s(2)**2)
    if (length <= limit .and. limit > 0.0_dp) then
      x(1,1) = rho
      x(2,2) = rho
      return
    else if (limit <= 0.0_dp) then
      ! without friction F_T is r_T, whether or not s_T is zero
      y(1,1) = 1.0_dp
      y(2,2) = 1.0_dp
      return
    end if
    t = s(1:2)/length
    v = t
    if (along_reaction) then
      ! r_T stays inside of the disc, so that the tangential block stays positive
      size = sqrt(r(1)**2 + r(2)**2)
      v = r(1:2)/max(limit, size, tiny(1.0_dp))
    end if
    do j = 1, 2
      do i = 1, 2
        m(i,j) = -(limit/length)*v(i)*t(j)
      end do
      m(j,j) = m(j,j) + limit/length
    end do
    ! dF_T = dr_T - M (dr_T - rho du_T) - mu t (dr_N - rho du_N)
    x(1:2,1:2) = rho*m
    y(1:2,1:2) = -m
    y(1,1) = y(1,1) + 1.0_dp
    y(2,2) = y(2,2) + 1.0_dp
    y(1:2,3) = -mu*t
    x(1:2,3) = rho*mu*t
  end subroutine row_derivatives
end module alart_curnier
