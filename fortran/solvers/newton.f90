!> The whole projected quasi-Newton iteration in one call (manual, 10.3, Projected quasi-Newton solver).
module newton
  use kinds, only: dp, i4
  use end_of_cohesion, only: end_cohesion
  use krylov_basis, only: ordered_dot, add_scaled, rotate_column, back_substitute
  use constraint_measures, only: measure, unbounded
  use diagonal_block, only: b_rho
  use row_block, only: contact_row
  use newton_rows, only: known_row, rigid_contact, linear_row, projected
  use stored_form, only: stored_velocities
  use velocity_form, only: gather_momenta, momentum_velocities
  implicit none
  private
  public :: iterate, relative_velocities

  integer, parameter :: parallel_from = 300   !< rows from which threads pay
  integer, parameter :: restart = 20          !< directions kept by flexible GMRES
  integer, parameter :: patience = 100       !< steps in which the merit is halved at least once, unless the iteration stands still
  real(dp), parameter :: lift = 1.0e-3_dp     !< part of the mean diagonal of W that regularises an iteration that stands still
  integer, parameter :: v_zero = 1, v_rhs = 2, v_step = 3, v_product = 4, v_basis = 5   !< work vectors; directions follow the basis

contains

  !> Newton steps on C(U(R), R) = 0, each projected on the friction cones, until the merit is at most `meritval`.
  !>
  !> Where bodies share more points than they need, as rigid faces with four of them do, W is singular, and GMRES steps may go
  !> back and forth along reactions that move nothing.  An iteration that stands still goes on with a regularised operator.
  !>
  !>   n, stored       rows in use; 1: products with W from its blocks, 0: through body velocities
  !>   driving, patch  (0:nrow-1) 1: the row drives an obstacle (merit); first row of a patch of cohesive points (end_of_cohesion)
  !>   kind            (0:nrow-1) kinds of rows (row_block); spring-dashpot contacts become Signorini-Coulomb ones
  !>   block, law      (16,0:nrow-1), (8,0:nrow-1) contact numbers (diagonal_block) and laws (row_block)
  !>   diagonal        (3,3,0:nrow-1) W_aa [velocity/force]
  !>   b, v            (3,0:nrow-1) B, V [velocity]; speed (0:nrow-1) size of the terms of B (merit)
  !>   row_ptr, column, off_diagonal, entry_ptr, triple, entry, triples, momentum   as in gauss_seidel
  !>   half_step       h/2 (dynamics) or h (quasi-statics); step: h [time]
  !>   averaged        1: dR = (1 - theta) dR + theta T^-1 rhs (DIAG), 0: flexible GMRES
  !>   linmaxiter, epsilon, delta   GMRES: bound of directions, relative accuracy, regularisation of the operator
  !>   maxmatvec       GMRES: products allowed in all
  !>   omega           smoothing of the contact equation
  !>   maxiter, meritval   stopping rule
  !>   check_cohesion  1: mark contacts that lost cohesion in `lost`
  !>   reaction, u     (3,0:nrow-1) R: initial guess and solution [force]; U [velocity]
  !>   member, residual   (0:nrow-1) out: merit and residual of rows
  !>   lost            (0:nrow-1) out: 1 where cohesion ends for good
  !>   operator        (3,3,3,0:nrow-1) work: derivatives X, Y and the inverse diagonal block
  !>   vectors         (3,0:nrow-1,nvector) work, nvector at least 5 + 2 min(linmaxiter, 20)
  !>   merits, products   (0:nhistory-1) out: merit after every iteration, products so far
  !>   iterations, matvecs, g, total   out: steps and products made, merit, residual (merit)
  !>   failed          row whose diagonal block is singular, or of a kind that is not known here, or -1
  !>   status          0 converged, 1 bound reached, 2 not a number or a singular diagonal block, 3 unknown kind of row
  subroutine iterate(n, stored, nrow, nblock, nentry, ntriple, nhistory, nvector, kind, driving, patch, block, law, &
                     diagonal, b, speed, v, row_ptr, column, off_diagonal, entry_ptr, triple, entry, triples, momentum, &
                     half_step, step, &
                     averaged, linmaxiter, maxmatvec, epsilon, delta, theta, omega, maxiter, meritval, check_cohesion, &
                     reaction, u, member, residual, lost, operator, vectors, merits, products, &
                     iterations, matvecs, g, total, failed, status)
    integer(i4), intent(in) :: n, stored, nrow, nblock, nentry, ntriple, nhistory, nvector
    integer(i4), intent(inout) :: kind(0:nrow-1)
    integer(i4), intent(in) :: driving(0:nrow-1), patch(0:nrow-1)
    real(dp), intent(in) :: block(16,0:nrow-1)
    real(dp), intent(inout) :: law(8,0:nrow-1)
    real(dp), intent(in) :: diagonal(3,3,0:nrow-1), b(3,0:nrow-1), speed(0:nrow-1), v(3,0:nrow-1)
    integer(i4), intent(in) :: row_ptr(0:nrow-1), column(0:nblock-1)
    real(dp), intent(in) :: off_diagonal(3,3,0:nblock-1)
    integer(i4), intent(in) :: entry_ptr(0:nrow-1), triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1)
    integer(i4), intent(in) :: triples
    real(dp), intent(inout) :: momentum(3,0:ntriple-1)
    real(dp), intent(in) :: half_step, step
    integer(i4), intent(in) :: averaged, linmaxiter, maxmatvec
    real(dp), intent(in) :: epsilon, delta, theta, omega
    integer(i4), intent(in) :: maxiter
    real(dp), intent(in) :: meritval
    integer(i4), intent(in) :: check_cohesion
    real(dp), intent(inout) :: reaction(3,0:nrow-1), u(3,0:nrow-1), member(0:nrow-1), residual(0:nrow-1)
    integer(i4), intent(inout) :: lost(0:nrow-1)
    real(dp), intent(inout) :: operator(3,3,3,0:nrow-1), vectors(3,0:nrow-1,nvector)
    real(dp), intent(inout) :: merits(0:nhistory-1)
    integer(i4), intent(inout) :: products(0:nhistory-1)
    integer(i4), intent(out) :: iterations, matvecs
    real(dp), intent(out) :: g, total
    integer(i4), intent(out) :: failed, status
    real(dp) :: unit, added, halved
    integer :: a, since

    failed = -1
    iterations = 0
    matvecs = 0
    g = 0.0_dp
    total = 0.0_dp
    status = 3
    do a = 0, n - 1
      if (.not. known_row(kind(a))) failed = a
      call rigid_contact(v(3,a), half_step, step, kind(a), law(:,a))
    end do
    if (failed >= 0) return
    unit = unit_of_force(n, kind, block)
    vectors(:,0:n-1,v_zero) = 0.0_dp
    vectors(:,0:n-1,v_step) = 0.0_dp
    call multiply(reaction, b, u)
    call take_measure()
    if (g >= 0.5_dp*unbounded) then
      ! nothing has to be stopped: reactions of the last step are no start
      reaction(:,0:n-1) = 0.0_dp
      call multiply(reaction, b, u)
      call take_measure()
    end if
    added = delta
    halved = g
    since = 0
    do while (iterations < maxiter .and. g > meritval .and. g <= huge(1.0_dp))
      if (averaged == 0 .and. matvecs >= maxmatvec) exit
      call linearise_rows()
      if (failed >= 0) exit
      if (averaged /= 0) then
        call averaged_step()
      else
        call krylov_step()
      end if
      call take_step()
      call multiply(reaction, b, u)
      call take_measure()
      merits(iterations) = g
      products(iterations) = matvecs
      iterations = iterations + 1
      since = since + 1
      if (g <= 0.5_dp*halved) then
        halved = g
        since = 0
      else if (since >= patience .and. averaged == 0) then
        added = max(added, lift*mean_diagonal())
      end if
    end do
    status = merge(0, 1, g <= meritval)
    if (failed >= 0 .or. .not. g <= huge(1.0_dp)) status = 2
    if (check_cohesion /= 0 .and. status < 2) call end_cohesion(n, kind, law, patch, diagonal, reaction, u, lost)

  contains

    !> Merit and residual of the present reactions.
    subroutine take_measure()
      call measure(n, .true., unit, kind, driving, block, law, diagonal, b, speed, reaction, u, half_step, member, residual, g, &
                   total)
    end subroutine take_measure

    !> y = x0 + W x.
    subroutine multiply(x, x0, y)
      real(dp), intent(in) :: x(3,0:nrow-1), x0(3,0:nrow-1)
      real(dp), intent(inout) :: y(3,0:nrow-1)
      call relative_velocities(n, stored, nrow, nblock, nentry, ntriple, diagonal, row_ptr, column, off_diagonal, &
                               entry_ptr, triple, entry, triples, momentum, x, x0, y)
    end subroutine multiply

    !> X, Y, right-hand side and T^-1 = (X W_aa + Y + delta)^-1 of all rows.
    subroutine linearise_rows()
      real(dp) :: t(3,3)
      logical :: regular
      integer :: a, j

      !$omp parallel do if (n > parallel_from) schedule(static) private(t, regular, j) reduction(max: failed)
      do a = 0, n - 1
        call linear_row(kind(a), diagonal(:,:,a), block(:,a), law(:,a), u(:,a), reaction(:,a), unit, half_step, omega, &
                        operator(:,:,1,a), operator(:,:,2,a), vectors(:,a,v_rhs))
        if (averaged == 0) then
          do j = 1, 3
            operator(j,j,2,a) = operator(j,j,2,a) + added
          end do
        end if
        t = matmul(operator(:,:,1,a), diagonal(:,:,a)) + operator(:,:,2,a)
        call invert(t, operator(:,:,3,a), regular)
        if (.not. regular) failed = max(failed, a)
      end do
      !$omp end parallel do
    end subroutine linearise_rows

    real(dp) function mean_diagonal()
      integer :: a, j

      mean_diagonal = 0.0_dp
      do a = 0, n - 1
        do j = 1, 3
          mean_diagonal = mean_diagonal + diagonal(j,j,a)/(3*n)
        end do
      end do
    end function mean_diagonal

    subroutine averaged_step()
      integer :: a
      !$omp parallel do if (n > parallel_from) schedule(static)
      do a = 0, n - 1
        vectors(:,a,v_step) = (1.0_dp - theta)*vectors(:,a,v_step) + theta*matmul(operator(:,:,3,a), vectors(:,a,v_rhs))
      end do
      !$omp end parallel do
    end subroutine averaged_step

    !> R = P(R + dR).
    subroutine take_step()
      integer :: a
      !$omp parallel do if (n > parallel_from) schedule(static)
      do a = 0, n - 1
        reaction(:,a) = projected(kind(a), block(:,a), reaction(:,a) + vectors(:,a,v_step))
      end do
      !$omp end parallel do
    end subroutine take_step

    !> y = scale (z - A x) with A = X W + Y, or y = A x (z absent: `residual_of` false).
    subroutine apply_operator(x, residual_of, y)
      real(dp), intent(in) :: x(3,0:nrow-1)
      logical, intent(in) :: residual_of
      real(dp), intent(inout) :: y(3,0:nrow-1)
      real(dp) :: image(3)
      integer :: a

      call multiply(x, vectors(:,:,v_zero), vectors(:,:,v_product))
      matvecs = matvecs + 1
      !$omp parallel do if (n > parallel_from) schedule(static) private(image)
      do a = 0, n - 1
        image = matmul(operator(:,:,1,a), vectors(:,a,v_product)) + matmul(operator(:,:,2,a), x(:,a))
        if (residual_of) image = vectors(:,a,v_rhs) - image
        y(:,a) = image
      end do
      !$omp end parallel do
    end subroutine apply_operator

    !> Flexible GMRES, right-preconditioned by the diagonal blocks, from the last dR.
    subroutine krylov_step()
      real(dp) :: triangle(restart+1,restart), cosine(restart), sine(restart), rhs(restart+1), length, target
      integer :: made, cycle_size, first_direction, j, i

      target = epsilon*sqrt(ordered_dot(n, vectors(:,:,v_rhs), vectors(:,:,v_rhs)))
      first_direction = v_basis + min(linmaxiter, restart)
      made = 0
      do
        call apply_operator(vectors(:,:,v_step), .true., vectors(:,:,v_basis))
        length = sqrt(ordered_dot(n, vectors(:,:,v_basis), vectors(:,:,v_basis)))
        if (.not. length > 0.0_dp .or. made >= linmaxiter .or. (made > 0 .and. length <= target)) exit
        rhs(1) = length
        cycle_size = min(restart, linmaxiter - made)
        do j = 1, cycle_size
          call scale(1.0_dp/length, vectors(:,:,v_basis+j-1))
          call precondition(vectors(:,:,v_basis+j-1), vectors(:,:,first_direction+j))
          call apply_operator(vectors(:,:,first_direction+j), .false., vectors(:,:,v_basis+j))
          do i = 1, j
            triangle(i,j) = ordered_dot(n, vectors(:,:,v_basis+i-1), vectors(:,:,v_basis+j))
            call add_scaled(n, -triangle(i,j), vectors(:,:,v_basis+i-1), vectors(:,:,v_basis+j))
          end do
          length = sqrt(ordered_dot(n, vectors(:,:,v_basis+j), vectors(:,:,v_basis+j)))
          triangle(j+1,j) = length
          call rotate_column(j, cosine, sine, triangle(:,j), rhs)
          made = made + 1
          if (.not. length > 0.0_dp .or. abs(rhs(j+1)) <= target .or. j == cycle_size) exit
        end do
        call back_substitute(j, restart + 1, triangle, rhs)
        do i = 1, j
          call add_scaled(n, rhs(i), vectors(:,:,first_direction+i), vectors(:,:,v_step))
        end do
        if (made >= linmaxiter .or. j < cycle_size) exit
      end do
    end subroutine krylov_step

    subroutine scale(factor, x)
      real(dp), intent(in) :: factor
      real(dp), intent(inout) :: x(3,0:nrow-1)
      integer :: a
      !$omp parallel do if (n > parallel_from) schedule(static)
      do a = 0, n - 1
        x(:,a) = factor*x(:,a)
      end do
      !$omp end parallel do
    end subroutine scale

    subroutine precondition(x, y)
      real(dp), intent(in) :: x(3,0:nrow-1)
      real(dp), intent(inout) :: y(3,0:nrow-1)
      integer :: a
      !$omp parallel do if (n > parallel_from) schedule(static)
      do a = 0, n - 1
        y(:,a) = matmul(operator(:,:,3,a), x(:,a))
      end do
      !$omp end parallel do
    end subroutine precondition
  end subroutine iterate

  !> The unit of force in which reactions are added to velocities: that of the model, or a smaller one where forces of this unit would
  !> throw contacts about faster than at one unit of velocity in a step, so that the reactions of small bodies are as large as their
  !> velocities, and neither the merit nor the smoothing misses them.
  pure function unit_of_force(n, kind, block) result(unit)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: block(16,0:*)
    real(dp) :: unit, velocity
    integer :: a, contacts

    velocity = 0.0_dp
    contacts = 0
    do a = 0, n - 1
      if (kind(a) /= contact_row) cycle
      velocity = velocity + 1.0_dp/block(b_rho,a)
      contacts = contacts + 1
    end do
    unit = 1.0_dp
    if (velocity > contacts) unit = contacts/velocity
  end function unit_of_force

  !> U = B + W R of all rows, in either form of W (arrays as in `iterate`).
  subroutine relative_velocities(n, stored, nrow, nblock, nentry, ntriple, diagonal, row_ptr, column, off_diagonal, &
                                 entry_ptr, triple, entry, triples, momentum, reaction, b, u)
    integer(i4), intent(in) :: n, stored, nrow, nblock, nentry, ntriple
    real(dp), intent(in) :: diagonal(3,3,0:nrow-1)
    integer(i4), intent(in) :: row_ptr(0:nrow-1), column(0:nblock-1)
    real(dp), intent(in) :: off_diagonal(3,3,0:nblock-1)
    integer(i4), intent(in) :: entry_ptr(0:nrow-1), triple(0:nentry-1)
    real(dp), intent(in) :: entry(3,3,0:nentry-1)
    integer(i4), intent(in) :: triples
    real(dp), intent(inout) :: momentum(3,0:ntriple-1)
    real(dp), intent(in) :: reaction(3,0:nrow-1), b(3,0:nrow-1)
    real(dp), intent(inout) :: u(3,0:nrow-1)

    if (stored /= 0) then
      call stored_velocities(n, row_ptr, column, off_diagonal, diagonal, reaction, b, u)
    else
      call gather_momenta(n, entry_ptr, triple, entry, reaction, triples, momentum)
      call momentum_velocities(n, entry_ptr, triple, entry, momentum, b, u)
    end if
  end subroutine relative_velocities

  !> Inverse of a 3x3 matrix by cofactors.
  pure subroutine invert(m, inverse, regular)
    real(dp), intent(in) :: m(3,3)
    real(dp), intent(out) :: inverse(3,3)
    logical, intent(out) :: regular      !< false: singular, or not finite
    real(dp) :: determinant

    inverse(1,1) = m(2,2)*m(3,3) - m(2,3)*m(3,2)
    inverse(1,2) = m(1,3)*m(3,2) - m(1,2)*m(3,3)
    inverse(1,3) = m(1,2)*m(2,3) - m(1,3)*m(2,2)
    inverse(2,1) = m(2,3)*m(3,1) - m(2,1)*m(3,3)
    inverse(2,2) = m(1,1)*m(3,3) - m(1,3)*m(3,1)
    inverse(2,3) = m(1,3)*m(2,1) - m(1,1)*m(2,3)
    inverse(3,1) = m(2,1)*m(3,2) - m(2,2)*m(3,1)
    inverse(3,2) = m(1,2)*m(3,1) - m(1,1)*m(3,2)
    inverse(3,3) = m(1,1)*m(2,2) - m(1,2)*m(2,1)
    determinant = m(1,1)*inverse(1,1) + m(1,2)*inverse(2,1) + m(1,3)*inverse(3,1)
    regular = abs(determinant) > 0.0_dp .and. abs(determinant) <= huge(1.0_dp)
    if (regular) inverse = inverse/determinant
  end subroutine invert
end module newton
