!> Reactions of an island from zero, by sweeps with momentum that first hold all rows still.
!>
!> Reactions in their cones with W r + q = 0 minimise r.W r/2 + r.q over the cones, a convex problem, and
!> solve the contact problem, too: without sliding, the term of De Saxce is zero.  Sweeps on Coulomb's law itself do not find them:
!> while forces still pass through a pile, thousands of contacts slide and keep sliding.  Nesterov's momentum with restart (O'Donoghue and
!> Candes 2015) replaces the many sweeps that a pile of many layers needs.
!>
!> The first sweeps use less friction.  They end inside of the cones, from where the solution is near; otherwise they would
!> follow the boundary slowly: a pile of 10 000 spheres has a residual of 1E-6 after 2 x 250 sweeps,
!> but 1E-4 after 700 sweeps with full friction.  If a contact has to slide, it opens in the convex problem, and the sweeps stagnate;
!> from there, sweeps with the term of De Saxce lead to the solution.
module static_sweeps
  use kinds, only: dp, i4
  use anderson_sweeps, only: measure_rows, visit_row
  use contact_iterations, only: project_on_cone
  use diagonal_block, only: block_size, b_friction, b_rho
  use island_problem, only: cone_contact, project_row
  use row_sums, only: row_sum
  implicit none
  private
  public :: hold_still

  real(dp), parameter :: less = 0.7_dp              !< friction of the first sweeps, over the given one
  integer(i4), parameter :: first_sweeps = 250      !< number of sweeps with less friction
  integer(i4), parameter :: visits = 2              !< projected gradient steps on a contact in a sweep
  integer(i4), parameter :: check_every = 25        !< sweeps between residuals
  integer(i4), parameter :: patience = 50           !< sweeps within which the residual must halve
  integer(i4), parameter :: last_patience = 150     !< the same for sweeps with Coulomb's law

  !> Stages of sweeps: less friction, full friction, Coulomb's law.
  integer, parameter :: soft = 1, associated = 2, coulomb = 3

contains

  !> Sweeps from zero reactions until the residual of the contact problem is at most `tolerance`, `most` times, or until stagnation.
  subroutine hold_still(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, tolerance, most, r, residual, &
                        sweeps)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1), kind(0:*), row_ptr(0:*), column(0:*)
    real(dp), intent(inout) :: block(block_size,0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), q(3,0:*), off_diagonal(3,3,0:*)
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: tolerance          !< of the residual's norm over the island [velocity]
    integer(i4), intent(in) :: most
    real(dp), intent(inout) :: r(3,0:*)        !< reactions of all rows; those of the island change
    real(dp), intent(out) :: residual
    integer(i4), intent(out) :: sweeps
    real(dp), allocatable :: last(:,:)         !< (3,0:n-1) reactions after the previous sweep
    real(dp) :: share, theta, momentum, along, b(3), x(3), mark
    integer(i4) :: i, a, last_mark
    integer :: stage
    logical :: ends

    allocate(last(3,0:n-1))
    last = 0.0_dp
    do i = 0, n - 1
      r(:,rows(i)) = 0.0_dp
    end do
    theta = 1.0_dp
    mark = huge(1.0_dp)
    last_mark = first_sweeps
    residual = huge(1.0_dp)
    stage = soft
    do sweeps = 1, most
      share = merge(less, 1.0_dp, stage == soft)
      along = 0.0_dp
      do i = 0, n - 1
        a = rows(i)
        b = row_sum(row_ptr(a), row_ptr(a+1), column, off_diagonal, r, q(:,a))
        if (kind(a) == cone_contact) then
          x = r(:,a)
          call visit_contact(diagonal(:,:,a), share*block(b_friction,a), block(b_rho,a), stage == coulomb, b, x)
        else
          call visit_row(kind(a), diagonal(:,:,a), block(:,a), b, r(:,a), x)
        end if
        along = along + dot_product(r(:,a) - x, x - last(:,i))*(diagonal(1,1,a) + diagonal(2,2,a) + diagonal(3,3,a))
        r(:,a) = x
      end do
      if (.not. abs(along) <= huge(1.0_dp)) return
      ends = sweeps == first_sweeps   ! of a stage
      if (sweeps == most .or. (stage > soft .and. mod(sweeps, check_every) == 0)) then
        call measure_rows(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, unscaled, r, residual)
        if (residual <= tolerance .or. sweeps == most) return
        if (residual < 0.5_dp*mark) then
          mark = residual
          last_mark = sweeps
        else if (sweeps - last_mark >= merge(last_patience, patience, stage == coulomb)) then
          if (stage == coulomb) return
          ends = .true.
          mark = residual
          last_mark = sweeps
        end if
      end if
      if (ends) stage = stage + 1
      ! momentum is reset if it increases the function
      momentum = 0.0_dp
      if (along > 0.0_dp .or. ends) then
        theta = 1.0_dp
      else
        momentum = theta - 1.0_dp
        theta = 0.5_dp*(1.0_dp + sqrt(1.0_dp + 4.0_dp*theta**2))
        momentum = momentum/theta
      end if
      do i = 0, n - 1
        a = rows(i)
        x = r(:,a)
        r(:,a) = project_row(kind(a), share*block(b_friction,a), x + momentum*(x - last(:,i)))
        last(:,i) = x
      end do
    end do
    sweeps = most
  end subroutine hold_still

  !> Makes projected gradient steps on r.W r/2 + r.b over the cone; with `lifted` those of De Saxce and Feng.
  pure subroutine visit_contact(w, mu, rho, lifted, b, r)
    real(dp), intent(in) :: w(3,3), mu, rho, b(3)
    logical, intent(in) :: lifted
    real(dp), intent(inout) :: r(3)
    real(dp) :: u(3)
    integer(i4) :: visit

    do visit = 1, visits
      u = b + w(:,1)*r(1) + w(:,2)*r(2) + w(:,3)*r(3)
      if (lifted) u(3) = u(3) + mu*sqrt(u(1)**2 + u(2)**2)
      r = project_on_cone(mu, r - rho*u)
    end do
  end subroutine visit_contact
end module static_sweeps
