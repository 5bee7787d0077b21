!> ADMM on one island: reactions r in the range of the equations, z in the cones, and one factorisation of W + rho I.
!>
!>   (W + rho I) r = rho (z - y) - q - s,   z = P(r^ + y),   y = y + r^ - z,   r^ = 1.6 r - 0.6 z
!>
!> -rho y becomes u + s, and s = mu |u_T| n, the term of De Saxce, is mu rho |y_T| (docs/language-objects.md, AUTO_SOLVER).
module admm
  use kinds, only: dp, i4
  use island_factor, only: island_lu, factorise_island, solve_island_factor
  use island_problem, only: island, island_product, island_residual, project_row, cone_contact
  implicit none
  private
  public :: admm_state, start_admm, factor_admm, iterate_admm, grow_without_end

  real(dp), parameter :: relaxation = 1.6_dp
  integer(i4), parameter :: check_every = 10     !< iterations between residuals
  real(dp), parameter :: pull = 0.1_dp           !< least work of growing reactions against q, over the largest possible work
  real(dp), parameter :: answer = 0.1_dp         !< largest velocity that they make, over the velocity that they work against

  type :: admm_state
    real(dp) :: rho = 0.0_dp
    real(dp), allocatable :: z(:,:), y(:,:), r(:,:), u(:,:)   !< (3,0:n-1), scaled
  end type admm_state

contains

  !> Starts from scaled reactions r: z = P(r), -rho y = u + s.
  subroutine start_admm(part, rho, r, state)
    type(island), intent(in) :: part
    real(dp), intent(in) :: rho, r(3,0:*)
    type(admm_state), intent(inout) :: state
    real(dp) :: dual(3)
    integer(i4) :: i

    if (.not. allocated(state%z)) then
      allocate(state%z(3,0:part%n-1), state%y(3,0:part%n-1), state%r(3,0:part%n-1), state%u(3,0:part%n-1))
    end if
    state%rho = rho
    do i = 0, part%n - 1
      state%z(:,i) = project_row(part%kind(i), part%mu(i), r(:,i))
    end do
    call island_product(part, state%z, state%u)
    do i = 0, part%n - 1
      dual = state%u(:,i)
      if (part%kind(i) == cone_contact) then
        dual(3) = dual(3) + part%mu(i)*sqrt(dual(1)**2 + dual(2)**2)
        ! only the admissible part: the remainder of -dual after projection on the cone
        state%y(:,i) = (-dual - project_row(cone_contact, part%mu(i), -dual))/rho
      else
        state%y(:,i) = 0.0_dp
      end if
    end do
  end subroutine start_admm

  !> Factorises W + rho I, and rescales the dual if rho has changed.
  subroutine factor_admm(part, rho, state, factor, regular)
    type(island), intent(in) :: part
    real(dp), intent(in) :: rho
    type(admm_state), intent(inout) :: state
    type(island_lu), intent(inout) :: factor
    logical, intent(out) :: regular
    integer(i4) :: i, c

    if (rho /= state%rho) state%y = state%y*(state%rho/rho)
    state%rho = rho
    factor%left = 0.0_dp
    factor%own = 0.0_dp
    do i = 0, part%n - 1
      do c = 1, 3
        factor%left(c,c,i) = 1.0_dp
        factor%own(c,c,i) = rho
      end do
    end do
    call factorise_island(part, factor, .false., regular)
  end subroutine factor_admm

  !> Iterates until the residual of z is at most `tolerance`, or `most` times.
  subroutine iterate_admm(part, unscaled, tolerance, most, factor, state, residual, iterations)
    type(island), intent(in) :: part
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: tolerance
    integer(i4), intent(in) :: most
    type(island_lu), intent(inout) :: factor
    type(admm_state), intent(inout) :: state
    real(dp), intent(out) :: residual
    integer(i4), intent(out) :: iterations
    real(dp) :: x(3)
    integer(i4) :: i

    residual = huge(1.0_dp)
    do iterations = 1, most
      do i = 0, part%n - 1
        x = state%rho*(state%z(:,i) - state%y(:,i)) - part%q(:,i)
        if (part%kind(i) == cone_contact) x(3) = x(3) - part%mu(i)*state%rho*sqrt(state%y(1,i)**2 + state%y(2,i)**2)
        state%u(:,i) = x
      end do
      call solve_island_factor(part, factor, state%u, state%r)
      do i = 0, part%n - 1
        x = relaxation*state%r(:,i) + (1.0_dp - relaxation)*state%z(:,i) + state%y(:,i)
        state%z(:,i) = project_row(part%kind(i), part%mu(i), x)
        state%y(:,i) = x - state%z(:,i)
      end do
      if (mod(iterations, check_every) == 0 .or. iterations == most) then
        call island_product(part, state%z, state%u)
        residual = island_residual(part, unscaled, state%z, state%u)
        if (.not. residual > tolerance) return
      end if
    end do
    iterations = most
  end subroutine iterate_admm

  !> Whether reactions z have grown from `before` in a direction d with q.d < 0 and W d nearly zero.  If
  !> W d = 0, such a d proves that there is no solution without sliding: for all velocities u, d.u = d.q < 0, while
  !> contacts that open or stick need d.u >= 0.  Iterates of a solvable island converge, so d vanishes.
  function grow_without_end(part, before, state) result(growing)
    type(island), intent(in) :: part
    real(dp), intent(in) :: before(3,0:part%n-1)
    type(admm_state), intent(inout) :: state
    logical :: growing
    real(dp) :: size, work, made, loads
    integer(i4) :: i

    state%r(:,0:part%n-1) = state%z(:,0:part%n-1) - before
    call island_product(part, state%r, state%u)
    state%u(:,0:part%n-1) = state%u(:,0:part%n-1) - part%q(:,0:part%n-1)
    size = 0.0_dp
    work = 0.0_dp
    made = 0.0_dp
    loads = 0.0_dp
    do i = 0, part%n - 1
      size = size + sum(state%r(:,i)**2)
      work = work - sum(part%q(:,i)*state%r(:,i))
      made = made + sum(state%u(:,i)**2)
      loads = loads + sum(part%q(:,i)**2)
    end do
    size = sqrt(size)
    loads = sqrt(loads)
    growing = work > pull*loads*size .and. sqrt(made)*loads < answer*work
  end function grow_without_end
end module admm
