!> Primal-dual interior point iteration on one island, with Nesterov-Todd scaling and Mehrotra's corrector.
!>
!> With x = (r_T, mu r_N) and v = (u_T, u_N/mu + |u_T|) both in the cone |x_T| <= x_N, the contact law is x o v = 0 in the
!> algebra of that cone (o: (x_N y_T + y_N x_T, x.y)).  The term of De Saxce |u_T| = |v_T| enters the linearisation, so
!> that Coulomb's law is met directly, not as a sequence of associated problems.  Every step solves
!>
!>   (B T W + Q^2 T^-1) dr = Q c + B d,   r = T x,  T = diag(1, 1, 1/mu),  B = 1 + n (v_T/|v_T|)^T,  Q x = Q^-1 v = lambda,
!>
!> whose matrix has the pattern of W.  Frictionless contacts have the half line as their cone; bilateral rows have none.
module interior_point
  use kinds, only: dp, i4
  use island_factor, only: island_lu, factorise_island, solve_accurately
  use island_problem, only: island, island_product, island_residual, cone_contact, cone_fixed, cone_normal
  implicit none
  private
  public :: interior_island

  !> Kinds of rows: friction cone, half line, free, free normal, zero.
  integer(i4), parameter :: row_cone = 0, row_line = 1, row_free = 2, row_normal = 3, row_zero = 4
  real(dp), parameter :: frictionless = 1e-9_dp
  real(dp), parameter :: to_boundary = 0.99_dp
  real(dp), parameter :: bilateral_shift = 1e-10_dp   !< on the scaled diagonal, for redundant joints
  real(dp), parameter :: short_step = 0.2_dp          !< after a shorter step the next one only goes back to the central path
  integer(i4), parameter :: patience = 5              !< steps without progress after which to stop

  !> An iterate and the direction of its next step.
  type :: iterate
    integer(i4), allocatable :: kind(:)           !< kinds of rows
    integer(i4) :: cones                          !< rows with a cone or half line
    real(dp), allocatable, dimension(:,:) :: x, v !< in the cones
    real(dp), allocatable, dimension(:,:) :: u    !< velocities of r = T x
    real(dp), allocatable, dimension(:,:) :: d    !< residuals of the equations
    real(dp), allocatable, dimension(:,:) :: w    !< Nesterov-Todd points, with
    real(dp), allocatable :: eta(:)               !< their sizes
    real(dp), allocatable, dimension(:,:) :: lambda  !< Q x = Q^-1 v
    real(dp), allocatable, dimension(:,:) :: c    !< right-hand side of the complementarity
    real(dp), allocatable, dimension(:,:) :: dx, dv  !< the direction
    real(dp), allocatable, dimension(:,:) :: rhs, rest  !< work
  end type iterate

contains

  !> Makes steps from an interior point until the residual is at most `tolerance`; r (3,0:n-1), scaled: the best reactions.
  subroutine interior_island(part, unscaled, tolerance, most, start_number, factor, r, residual, steps)
    type(island), intent(in) :: part
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: tolerance
    integer(i4), intent(in) :: most
    integer(i4), intent(in) :: start_number   !< 0: all rows start alike; otherwise scattered, for another path
    type(island_lu), intent(inout) :: factor
    real(dp), intent(inout) :: r(3,0:part%n-1)
    real(dp), intent(out) :: residual
    integer(i4), intent(out) :: steps
    type(iterate) :: at
    real(dp), allocatable :: best(:,:)
    real(dp) :: length, measured
    integer(i4) :: idle
    logical :: regular, short, started

    residual = huge(1.0_dp)
    steps = 0
    call begin(part, start_number, at, started)
    if (.not. started) return
    idle = 0
    short = .false.
    do steps = 0, most
      call reactions(part, at%kind, at%x, at%rhs)
      call island_product(part, at%rhs, at%u)
      measured = island_residual(part, unscaled, at%rhs, at%u)
      if (.not. measured <= huge(1.0_dp)) exit
      if (measured > 0.5_dp*residual) idle = idle + 1
      if (measured <= 0.5_dp*residual) idle = 0
      if (measured < residual) then
        residual = measured
        best = at%rhs
      end if
      if (residual <= tolerance .or. idle > patience .or. steps == most) exit
      call infeasibility(part, at%kind, at%x, at%v, at%u, at%d)
      call scale_points(part%n, at%kind, at%x, at%v, at%w, at%eta, at%lambda)
      call assemble(part, at%kind, at%v, at%w, at%eta, factor%left, factor%own, factor%inverse)
      call factorise_island(part, factor, .true., regular)
      if (.not. regular) exit
      call predict_and_correct(part, factor, short, at)
      length = min(1.0_dp, to_boundary*min(longest(part%n, at%kind, at%x, at%dx), longest(part%n, at%kind, at%v, at%dv)))
      short = length < short_step
      at%x = at%x + length*at%dx
      at%v = at%v + length*at%dv
    end do
    if (residual <= huge(1.0_dp)) r = best
  end subroutine interior_island

  !> Makes the first iterate, on the axes of all cones, at a distance of the size of free velocities.
  subroutine begin(part, start_number, at, started)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: start_number
    type(iterate), intent(out) :: at
    logical, intent(out) :: started   !< false: free velocities are zero, or not finite
    real(dp) :: size
    integer(i4) :: n, i

    n = part%n
    allocate (at%x(3,0:n-1), at%v(3,0:n-1), at%u(3,0:n-1), at%d(3,0:n-1), at%w(3,0:n-1), at%lambda(3,0:n-1), at%c(3,0:n-1))
    allocate (at%dx(3,0:n-1), at%dv(3,0:n-1), at%rhs(3,0:n-1), at%rest(3,0:n-1), at%eta(0:n-1), at%kind(0:n-1))
    call classify(part, at%kind, at%cones)
    size = free_velocity(part, at%kind)
    started = size > 0.0_dp .and. size <= huge(1.0_dp)
    at%x = 0.0_dp
    at%v = 0.0_dp
    do i = 0, n - 1
      if (at%kind(i) > row_line) cycle
      at%x(3,i) = size
      at%v(3,i) = size
      if (start_number == 0) cycle
      at%x(3,i) = size*scattered(start_number*(i + 1.0_dp)*0.6180339887498949_dp)
      at%v(3,i) = size*scattered(start_number*(i + 1.0_dp)*0.7548776662466927_dp)
    end do
  end subroutine begin

  !> Root mean square of the rows' free velocities, with normal parts of cones over their friction.
  pure real(dp) function free_velocity(part, kind) result(size)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: kind(0:*)
    integer(i4) :: i

    size = 0.0_dp
    do i = 0, part%n - 1
      size = size + part%q(1,i)**2 + part%q(2,i)**2
      if (kind(i) == row_cone) then
        size = size + (part%q(3,i)/part%mu(i))**2
      else
        size = size + part%q(3,i)**2
      end if
    end do
    size = sqrt(size/real(part%n, dp))
  end function free_velocity

  !> Computes Mehrotra's direction: a step towards the solution gives the centring and the second-order correction.
  subroutine predict_and_correct(part, factor, short, at)
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    logical, intent(in) :: short    !< the last step was short; this one only goes back to the central path
    type(iterate), intent(inout) :: at
    real(dp) :: gap, trial_gap, length, centring
    integer(i4) :: i, n

    n = part%n
    at%c = -at%lambda
    call find_direction(part, factor, at)
    length = min(1.0_dp, longest(n, at%kind, at%x, at%dx), longest(n, at%kind, at%v, at%dv))
    gap = 0.0_dp
    trial_gap = 0.0_dp
    do i = 0, n - 1
      if (at%kind(i) > row_line) cycle
      gap = gap + dot_product(at%x(:,i), at%v(:,i))
      trial_gap = trial_gap + dot_product(at%x(:,i) + length*at%dx(:,i), at%v(:,i) + length*at%dv(:,i))
    end do
    gap = gap/real(max(at%cones, 1), dp)
    trial_gap = trial_gap/real(max(at%cones, 1), dp)
    centring = 0.0_dp
    if (gap > 0.0_dp) centring = min(1.0_dp, trial_gap/gap)**3
    if (short) centring = max(centring, 0.5_dp)
    do i = 0, n - 1
      if (at%kind(i) > row_line) cycle
      if (short) then
        at%dx(:,i) = 0.0_dp
        at%dv(:,i) = 0.0_dp
      end if
      at%c(:,i) = corrected(at%kind(i), at%w(:,i), at%eta(i), at%lambda(:,i), at%dx(:,i), at%dv(:,i), centring*gap)
    end do
    call find_direction(part, factor, at)
  end subroutine predict_and_correct

  !> Computes dx and dv for the right-hand side c.
  subroutine find_direction(part, factor, at)
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    type(iterate), intent(inout) :: at
    integer(i4) :: k

    call right_hand_side(part%n, at%kind, at%v, at%d, at%w, at%eta, at%c, at%rhs)
    call solve_accurately(part, factor, at%rhs, at%dx)
    do k = 0, part%n - 1
      if (at%kind(k) == row_cone) at%dx(3,k) = at%dx(3,k)*part%mu(k)
    end do
    ! dv follows from the equations, not from the complementarity, so that the equations hold however large the entries of Q are
    at%rest = at%x + at%dx
    call reactions(part, at%kind, at%rest, at%rhs)
    call island_product(part, at%rhs, at%u)
    call infeasibility(part, at%kind, at%x, at%v, at%u, at%rest)
    do k = 0, part%n - 1
      select case (at%kind(k))
      case (row_cone)
        at%dv(:,k) = -leaned(at%v(:,k), at%rest(:,k))
      case (row_line)
        at%dv(:,k) = [0.0_dp, 0.0_dp, -at%rest(3,k)]
      case default
        at%dv(:,k) = 0.0_dp
      end select
    end do
  end subroutine find_direction

  !> Computes Q c + B d of cones, and the right-hand sides of other rows.
  subroutine right_hand_side(n, kind, v, d, w, eta, c, rhs)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: v(3,0:*), d(3,0:*), w(3,0:*), eta(0:*), c(3,0:*)
    real(dp), intent(inout) :: rhs(3,0:*)
    integer(i4) :: i

    do i = 0, n - 1
      select case (kind(i))
      case (row_cone)
        rhs(:,i) = scaled(w(:,i), eta(i), c(:,i)) + leaned(v(:,i), d(:,i))
      case (row_line)
        rhs(:,i) = [0.0_dp, 0.0_dp, eta(i)*c(3,i) + d(3,i)]
      case default
        rhs(:,i) = d(:,i)
      end select
    end do
  end subroutine right_hand_side

  !> A factor between 1/10 and 10 from the digits of a number, spread evenly in its logarithm.
  pure function scattered(number) result(factor)
    real(dp), intent(in) :: number
    real(dp) :: factor
    factor = 10.0_dp**(2.0_dp*modulo(number, 1.0_dp) - 1.0_dp)
  end function scattered

  subroutine classify(part, kind, cones)
    type(island), intent(in) :: part
    integer(i4), intent(inout) :: kind(0:*)
    integer(i4), intent(out) :: cones
    integer(i4) :: i

    cones = 0
    do i = 0, part%n - 1
      select case (part%kind(i))
      case (cone_contact)
        kind(i) = merge(row_cone, row_line, part%mu(i) > frictionless)
        cones = cones + 1
      case (cone_fixed)
        kind(i) = row_free
      case (cone_normal)
        kind(i) = row_normal
      case default
        kind(i) = row_zero
      end select
    end do
  end subroutine classify

  !> Computes r = T x.
  subroutine reactions(part, kind, x, r)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: x(3,0:*)
    real(dp), intent(inout) :: r(3,0:*)
    integer(i4) :: i

    do i = 0, part%n - 1
      r(:,i) = x(:,i)
      if (kind(i) == row_cone) r(3,i) = x(3,i)/part%mu(i)
    end do
  end subroutine reactions

  !> Computes d = v - T u - |v_T| n on cones; on other rows minus the velocity or reaction that must vanish.
  subroutine infeasibility(part, kind, x, v, u, d)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: x(3,0:*), v(3,0:*), u(3,0:*)
    real(dp), intent(inout) :: d(3,0:*)
    integer(i4) :: i

    do i = 0, part%n - 1
      select case (kind(i))
      case (row_cone)
        d(1:2,i) = v(1:2,i) - u(1:2,i)
        d(3,i) = v(3,i) - u(3,i)/part%mu(i) - sqrt(v(1,i)**2 + v(2,i)**2)
      case (row_line)
        d(:,i) = [0.0_dp, 0.0_dp, v(3,i) - u(3,i)]
      case (row_free)
        d(:,i) = -u(:,i)
      case (row_normal)
        d(:,i) = [-x(1,i), -x(2,i), -u(3,i)]
      case default
        d(:,i) = -x(:,i)
      end select
    end do
  end subroutine infeasibility

  !> Computes Nesterov-Todd points: Q = eta [1 + w_T w_T^T/(1 + w_N), w_T; w_T^T, w_N] with Q x = Q^-1 v = lambda.
  subroutine scale_points(n, kind, x, v, w, eta, lambda)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: x(3,0:*), v(3,0:*)
    real(dp), intent(inout) :: w(3,0:*), eta(0:*), lambda(3,0:*)
    real(dp) :: size_x, size_v, a(3), b(3)
    integer(i4) :: i

    do i = 0, n - 1
      w(:,i) = 0.0_dp
      eta(i) = 0.0_dp
      lambda(:,i) = 0.0_dp
      if (kind(i) == row_line) then
        eta(i) = sqrt(v(3,i)/x(3,i))
        lambda(3,i) = eta(i)*x(3,i)
      else if (kind(i) == row_cone) then
        size_x = sqrt(cone_product(x(:,i)))
        size_v = sqrt(cone_product(v(:,i)))
        a = x(:,i)/size_x
        b = v(:,i)/size_v
        w(1:2,i) = b(1:2) - a(1:2)
        w(3,i) = b(3) + a(3)
        w(:,i) = w(:,i)/(2.0_dp*sqrt(0.5_dp*(1.0_dp + dot_product(a, b))))
        eta(i) = sqrt(size_v/size_x)
        lambda(:,i) = scaled(w(:,i), eta(i), x(:,i))
        ! near the boundary all digits of the normal part may cancel
        lambda(3,i) = max(lambda(3,i), sqrt(lambda(1,i)**2 + lambda(2,i)**2))
      end if
    end do
  end subroutine scale_points

  !> x_N^2 - |x_T|^2 without cancellation, and positive.
  pure function cone_product(x) result(value)
    real(dp), intent(in) :: x(3)
    real(dp) :: value, length
    length = sqrt(x(1)**2 + x(2)**2)
    value = max((x(3) - length)*(x(3) + length), 1e-30_dp*x(3)**2)
  end function cone_product

  !> Product Q y.
  pure function scaled(w, eta, y) result(z)
    real(dp), intent(in) :: w(3), eta, y(3)
    real(dp) :: z(3), along
    along = w(1)*y(1) + w(2)*y(2)
    z(1:2) = eta*(y(1:2) + w(1:2)*(along/(1.0_dp + w(3)) + y(3)))
    z(3) = eta*(along + w(3)*y(3))
  end function scaled

  !> B d = d + n (v_T/|v_T|).d_T.
  pure function leaned(v, d) result(z)
    real(dp), intent(in) :: v(3), d(3)
    real(dp) :: z(3)
    z = d
    z(3) = z(3) + (v(1)*d(1) + v(2)*d(2))/max(sqrt(v(1)**2 + v(2)**2), tiny(1.0_dp))
  end function leaned

  !> Right-hand side with centring and second-order correction: lambda^-1 o (centre n - (Q dx) o (Q^-1 dv)) - lambda.
  pure function corrected(kind, w, eta, lambda, dx, dv, centre) result(c)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: w(3), eta, lambda(3), dx(3), dv(3), centre
    real(dp) :: c(3), a(3), b(3), y(3)

    if (kind == row_line) then
      c = [0.0_dp, 0.0_dp, (centre - dx(3)*dv(3))/lambda(3) - lambda(3)]
      return
    end if
    a = scaled(w, eta, dx)
    b = scaled([-w(1), -w(2), w(3)], 1.0_dp/eta, dv)
    y(1:2) = -(a(3)*b(1:2) + b(3)*a(1:2))
    y(3) = centre - dot_product(a, b)
    c(3) = (lambda(3)*y(3) - lambda(1)*y(1) - lambda(2)*y(2))/cone_product(lambda)
    c(1:2) = (y(1:2) - c(3)*lambda(1:2))/lambda(3)
    c = c - lambda
  end function corrected

  !> Assembles the matrix B T W + Q^2 T^-1 of reactions T dx: left = B T, own = Q^2 T^-1, whose
  !> inverse has a closed form, Q^-2 = eta^-2 (2 J w w^T J - J); rows whose reactions must vanish have no left part.
  subroutine assemble(part, kind, v, w, eta, left, own, inverse)
    type(island), intent(in) :: part
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: v(3,0:*), w(3,0:*), eta(0:*)
    real(dp), intent(inout) :: left(3,3,0:*), own(3,3,0:*), inverse(3,3,0:*)
    integer(i4) :: i, c
    real(dp) :: squared, mirror(3)

    do i = 0, part%n - 1
      left(:,:,i) = 0.0_dp
      own(:,:,i) = 0.0_dp
      do c = 1, 3
        own(c,c,i) = 1.0_dp
      end do
      inverse(:,:,i) = own(:,:,i)
      select case (kind(i))
      case (row_cone)
        left(1,1,i) = 1.0_dp
        left(2,2,i) = 1.0_dp
        left(3,3,i) = 1.0_dp/part%mu(i)
        left(3,1:2,i) = v(1:2,i)/max(sqrt(v(1,i)**2 + v(2,i)**2), tiny(1.0_dp))
        ! Q^2 = eta^2 (2 w w^T - J)
        squared = eta(i)**2
        do c = 1, 3
          own(:,c,i) = (2.0_dp*squared*w(c,i))*w(:,i)
          own(c,c,i) = own(c,c,i) + merge(squared, -squared, c < 3)
        end do
        own(:,3,i) = own(:,3,i)*part%mu(i)
        mirror = [-w(1,i), -w(2,i), w(3,i)]
        do c = 1, 3
          inverse(:,c,i) = (2.0_dp/squared*mirror(c))*mirror
          inverse(c,c,i) = inverse(c,c,i) + merge(1.0_dp, -1.0_dp, c < 3)/squared
        end do
        inverse(3,:,i) = inverse(3,:,i)/part%mu(i)
      case (row_line)
        left(3,3,i) = 1.0_dp
        own(3,3,i) = eta(i)**2
        inverse(3,3,i) = 1.0_dp/eta(i)**2
      case (row_free)
        do c = 1, 3
          left(c,c,i) = 1.0_dp
          own(c,c,i) = bilateral_shift
          inverse(c,c,i) = 1.0_dp/bilateral_shift
        end do
      case (row_normal)
        left(3,3,i) = 1.0_dp
        own(3,3,i) = bilateral_shift
        inverse(3,3,i) = 1.0_dp/bilateral_shift
      case default
        continue
      end select
    end do
  end subroutine assemble

  !> Longest step along d with every x in its cone.
  pure function longest(n, kind, x, d) result(length)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: x(3,0:*), d(3,0:*)
    real(dp) :: length, a, b, c, root
    integer(i4) :: i

    length = huge(1.0_dp)
    do i = 0, n - 1
      if (kind(i) > row_line) cycle
      if (d(3,i) < 0.0_dp) length = min(length, -x(3,i)/d(3,i))
      if (kind(i) == row_line) cycle
      a = (d(3,i) - sqrt(d(1,i)**2 + d(2,i)**2))*(d(3,i) + sqrt(d(1,i)**2 + d(2,i)**2))
      b = x(3,i)*d(3,i) - x(1,i)*d(1,i) - x(2,i)*d(2,i)
      c = cone_product(x(:,i))
      root = b*b - a*c
      if (root < 0.0_dp .or. (a >= 0.0_dp .and. b >= 0.0_dp)) cycle
      root = sqrt(root) - b
      if (root > 0.0_dp) length = min(length, c/root)
    end do
  end function longest
end module interior_point
