!> Accelerated projected gradient with restart (Nesterov; O'Donoghue and Candes 2015) on one island.
!>
!> Minimises r.W r/2 + r.(q + s) over the cones; s, the term of De Saxce, stays constant for some steps.
module accelerated_gradient
  use kinds, only: dp, i4
  use island_problem, only: island, island_product, island_residual, project_row, cone_contact
  implicit none
  private
  public :: gradient_island

  integer(i4), parameter :: hold = 10          !< steps between updates of s and residuals

contains

  !> Makes steps from scaled reactions r until the residual is at most `tolerance`; returns the best reactions.
  subroutine gradient_island(part, unscaled, tolerance, most, r, residual, steps)
    type(island), intent(in) :: part
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: tolerance
    integer(i4), intent(in) :: most
    real(dp), intent(inout) :: r(3,0:part%n-1)
    real(dp), intent(out) :: residual
    integer(i4), intent(out) :: steps
    real(dp), allocatable :: y(:,:), g(:,:), next(:,:), shift(:), best(:,:)
    real(dp) :: step, theta, beta, next_theta, along, measured, curve, size
    integer(i4) :: n, i

    n = part%n
    allocate(y(3,0:n-1), g(3,0:n-1), next(3,0:n-1), best(3,0:n-1), shift(0:n-1))
    do i = 0, n - 1
      r(:,i) = project_row(part%kind(i), part%mu(i), r(:,i))
    end do
    y = r
    best = r
    residual = huge(1.0_dp)
    step = 1.0_dp
    theta = 1.0_dp
    shift = 0.0_dp
    do steps = 1, most
      if (mod(steps, hold) == 1) then
        call island_product(part, r, g)
        measured = island_residual(part, unscaled, r, g)
        if (measured < residual) then
          residual = measured
          best = r
        end if
        if (.not. residual > tolerance .or. .not. measured <= huge(1.0_dp)) exit
        do i = 0, n - 1
          if (part%kind(i) == cone_contact) shift(i) = part%mu(i)*sqrt(g(1,i)**2 + g(2,i)**2)
        end do
      end if
      call island_product(part, y, g)
      do i = 0, n - 1
        g(3,i) = g(3,i) + shift(i)
      end do
      call backtracked()
      along = 0.0_dp
      do i = 0, n - 1
        along = along + dot_product(g(:,i), next(:,i) - r(:,i))
      end do
      next_theta = 0.5_dp*(sqrt(theta**4 + 4.0_dp*theta**2) - theta**2)
      beta = theta*(1.0_dp - theta)/(theta**2 + next_theta)
      theta = next_theta
      if (along > 0.0_dp) then
        theta = 1.0_dp
        beta = 0.0_dp
      end if
      y = next + beta*(next - r)
      r = next
    end do
    steps = min(steps, most)
    r = best

  contains

    !> Computes next = P(y - step g): shortens the step until it fits the curvature along next - y, then lengthens it a little.
    subroutine backtracked()
      integer(i4) :: attempt

      do attempt = 1, 30
        do i = 0, n - 1
          next(:,i) = project_row(part%kind(i), part%mu(i), y(:,i) - step*g(:,i))
        end do
        call curvature(part, next, y, curve, size)
        if (curve*step <= size) exit
        step = 0.7_dp*step
      end do
      step = min(1.02_dp*step, 1e3_dp)
    end subroutine backtracked
  end subroutine gradient_island

  !> Computes d.W d and d.d for d = a - b.
  subroutine curvature(part, a, b, curve, size)
    type(island), intent(in) :: part
    real(dp), intent(in) :: a(3,0:*), b(3,0:*)
    real(dp), intent(out) :: curve, size
    real(dp) :: d(3), x(3)
    integer(i4) :: i, k, c

    curve = 0.0_dp
    size = 0.0_dp
    do i = 0, part%n - 1
      d = a(:,i) - b(:,i)
      size = size + sum(d**2)
      if (d(1) == 0.0_dp .and. d(2) == 0.0_dp .and. d(3) == 0.0_dp) cycle
      x = matmul(part%diagonal(:,:,i), d)
      do k = part%ptr(i), part%ptr(i+1) - 1
        c = part%col(k)
        x = x + matmul(part%w(:,:,k), a(:,c) - b(:,c))
      end do
      curve = curve + dot_product(d, x)
    end do
  end subroutine curvature
end module accelerated_gradient
