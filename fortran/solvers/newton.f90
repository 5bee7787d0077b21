!> The whole projected quasi-Newton iteration in one call (docs/solvers.md, Projected quasi-Newton solver).
module newton
  use kinds, only: dp, i4, i8
  use end_of_cohesion, only: end_cohesion
  use krylov_basis, only: ordered_dot, add_scaled, rotate_column, back_substitute
  use constraint_measures, only: measure, unbounded
  use diagonal_block, only: b_rho, block_size
  use kind_numbers, only: contact_row => row_contact
  use row_block, only: law_size
  use row_families, only: family_of
  use row_family_base, only: row_family
  use row_tables, only: local_tables, open_local
  use state_tables, only: newton_settings, open_table
  use table_registry, only: table_open
  use stored_form, only: stored_velocities
  use velocity_form, only: gather_momenta, momentum_velocities
  implicit none
  private
  public :: iterate, relative_velocities

  integer, parameter :: parallel_from = 300   !< rows from which threads pay
  integer, parameter :: restart = 20          !< directions kept by flexible GMRES
  integer, parameter :: patience = 100       !< steps without halving of the merit after which the iteration counts as stagnant
  real(dp), parameter :: lift = 1.0e-3_dp     !< part of the mean diagonal of W that regularises a stagnant iteration
  integer, parameter :: v_zero = 1, v_rhs = 2, v_step = 3, v_product = 4, v_basis = 5   !< work vectors; directions follow the basis

contains

  !> Makes Newton steps on C(U(R), R) = 0, each projected on the friction cones, until the merit is at most `meritval`.
  !>
  !> If bodies share more points than necessary, such as rigid faces with four points, W is singular, and GMRES steps may go
  !> back and forth along reactions that cause no motion.  A stagnant iteration continues with a regularised operator.
  !>
  !> Reads of rows driving, patch, block, law, diagonal, B, V, speed, block_ptr, entry_ptr, and R, the initial guess; blocks or entries.
  !> Writes of rows kind and law (spring-dashpot contacts become Signorini-Coulomb ones), R, U, merit, residual, lost (1: cohesion ends for
  !> good); momenta of triples; the history in `settings`.
  !>
  !>   local           LocalDynamics.handles
  !>   settings        handle of NewtonSettings
  !>   n, stored       rows in use; 1: products with W from its blocks, 0: through body velocities
  !>   triples         velocity triples in use
  !>   half_step       h/2 (dynamics) or h (quasi-statics); step: h [time]
  !>   regularisation  on the diagonal of the operator, for GMRES [velocity/force]
  !>   maxiter, maxmatvec   largest numbers of iterations, and of products of GMRES in all
  !>   check_cohesion  1: mark contacts that lost cohesion
  !>   iterations, matvecs, g, total   out: steps and products made, merit, residual (merit)
  !>   failed          row whose diagonal block is singular or whose kind has no linearisation, or -1
  !>   status          0 converged, 1 bound reached, 2 not a number or a singular diagonal block, 3 unknown kind of row; `table_unknown`
  subroutine iterate(local, settings, n, stored, triples, half_step, step, regularisation, maxiter, maxmatvec, check_cohesion, &
                     iterations, matvecs, g, total, failed, status)
    integer(i8), intent(in) :: local(6), settings
    integer(i4), intent(in) :: n, stored, triples
    real(dp), intent(in) :: half_step, step, regularisation
    integer(i4), intent(in) :: maxiter, maxmatvec, check_cohesion
    integer(i4), intent(out) :: iterations, matvecs
    real(dp), intent(out) :: g, total
    integer(i4), intent(out) :: failed, status
    type(local_tables) :: loc
    type(newton_settings) :: asked
    real(dp), allocatable :: operator(:,:,:,:)   ! (3,3,3,0:n-1) derivatives X, Y and the inverse diagonal block
    real(dp), allocatable :: vectors(:,:,:)      ! (3,0:n-1,v_...)
    real(dp) :: unit, added, halved
    integer(i4) :: since, directions

    failed = -1
    iterations = 0
    matvecs = 0
    g = 0.0_dp
    total = 0.0_dp
    call open_local(local, loc, status)
    if (status == table_open) call open_table(settings, asked, status)
    if (status /= table_open) return
    status = 3
    call soften_contacts(n, half_step, step, loc%rows%V, loc%rows%kind, loc%rows%law, failed)
    if (failed >= 0) return
    directions = merge(0, min(asked%linmaxiter, restart), asked%averaged /= 0)
    allocate(operator(3,3,3,0:n-1), vectors(3,0:n-1,v_basis+2*directions))
    unit = unit_of_force(n, loc%rows%kind, loc%rows%block)
    vectors(:,:,v_zero) = 0.0_dp
    vectors(:,:,v_step) = 0.0_dp
    call take_measure()
    if (g >= 0.5_dp*unbounded) then
      ! there is no velocity to stop, so reactions of the last step are no good start
      loc%rows%R(:,0:n-1) = 0.0_dp
      call take_measure()
    end if
    added = regularisation
    halved = g
    since = 0
    do while (iterations < maxiter .and. g > asked%meritval .and. g <= huge(1.0_dp))
      if (asked%averaged == 0 .and. matvecs >= maxmatvec) exit
      call linearise(n, merge(added, 0.0_dp, asked%averaged == 0), unit, half_step, asked%omega, loc%rows%kind, loc%rows%diagonal, &
                     loc%rows%block, loc%rows%law, loc%rows%U, loc%rows%R, operator, vectors(:,:,v_rhs), failed)
      if (failed >= 0) exit
      if (asked%averaged /= 0) then
        call average(n, asked%theta, operator, vectors(:,:,v_rhs), vectors(:,:,v_step))
      else
        call krylov_step()
      end if
      call take_step(n, loc%rows%kind, loc%rows%block, vectors(:,:,v_step), loc%rows%R)
      call take_measure()
      asked%merits(iterations) = g
      asked%products(iterations) = matvecs
      iterations = iterations + 1
      since = since + 1
      if (g <= 0.5_dp*halved) then
        halved = g
        since = 0
      else if (since >= patience .and. asked%averaged == 0) then
        added = max(added, lift*mean_diagonal(n, loc%rows%diagonal))
      end if
    end do
    status = merge(0, 1, g <= asked%meritval)
    if (failed >= 0 .or. .not. g <= huge(1.0_dp)) status = 2
    if (check_cohesion /= 0 .and. status < 2) call end_cohesion(n, loc%rows%kind, loc%rows%law, loc%rows%patch, loc%rows%diagonal, &
                                                                loc%rows%R, loc%rows%U, loc%rows%lost)

  contains

    !> Computes U = B + W R, merit and residual of the present reactions.
    subroutine take_measure()
      call velocities(loc, n, stored, triples, loc%rows%R, loc%rows%B, loc%rows%U)
      call measure(n, .true., unit, loc%rows%kind, loc%rows%driving, loc%rows%block, loc%rows%law, loc%rows%diagonal, loc%rows%B, &
                   loc%rows%speed, loc%rows%R, loc%rows%U, half_step, loc%rows%merit, loc%rows%residual, g, total)
    end subroutine take_measure

    !> Computes y = A x with A = X W + Y.
    subroutine apply_operator(x, y)
      real(dp), intent(in) :: x(3,0:*)
      real(dp), intent(inout) :: y(3,0:*)

      call velocities(loc, n, stored, triples, x, vectors(:,:,v_zero), vectors(:,:,v_product))
      matvecs = matvecs + 1
      call combine(n, operator, vectors(:,:,v_product), x, y)
    end subroutine apply_operator

    !> Solves by flexible GMRES, right-preconditioned by the diagonal blocks, from the last dR.
    subroutine krylov_step()
      real(dp) :: triangle(restart+1,restart), cosine(restart), sine(restart), rhs(restart+1), length, target
      integer(i4) :: made, cycle_size, first_direction, j, i

      target = asked%epsilon*sqrt(ordered_dot(n, vectors(:,:,v_rhs), vectors(:,:,v_rhs)))
      first_direction = v_basis + directions
      made = 0
      do
        call apply_operator(vectors(:,:,v_step), vectors(:,:,v_basis))
        call subtract_from(n, vectors(:,:,v_rhs), vectors(:,:,v_basis))
        length = sqrt(ordered_dot(n, vectors(:,:,v_basis), vectors(:,:,v_basis)))
        if (.not. length > 0.0_dp .or. made >= asked%linmaxiter .or. (made > 0 .and. length <= target)) exit
        rhs(1) = length
        cycle_size = min(restart, asked%linmaxiter - made)
        do j = 1, cycle_size
          call scale(n, 1.0_dp/length, vectors(:,:,v_basis+j-1))
          call precondition(n, operator, vectors(:,:,v_basis+j-1), vectors(:,:,first_direction+j))
          call apply_operator(vectors(:,:,first_direction+j), vectors(:,:,v_basis+j))
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
        if (made >= asked%linmaxiter .or. j < cycle_size) exit
      end do
    end subroutine krylov_step
  end subroutine iterate

  !> Replaces laws by those that the iteration takes: spring-dashpot contacts become Signorini-Coulomb ones; `failed` is the last row
  !> without a linearisation, or -1.
  subroutine soften_contacts(n, half_step, step, v, kind, law, failed)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: half_step, step, v(3,0:*)
    integer(i4), intent(inout) :: kind(0:*)
    real(dp), intent(inout) :: law(law_size,0:*)
    integer(i4), intent(out) :: failed
    class(row_family), pointer :: family
    integer :: a

    failed = -1
    do a = 0, n - 1
      family => family_of(kind(a))
      if (.not. family%newton) failed = a
      call family%taken_by_newton(v(3,a), half_step, step, kind(a), law(:,a))
    end do
  end subroutine soften_contacts

  !> Computes X, Y + added, right-hand side and T^-1 = (X W_aa + Y + added)^-1 of all rows.
  subroutine linearise(n, added, unit, half_step, omega, kind, diagonal, block, law, u, reaction, operator, rhs, failed)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: added, unit, half_step, omega
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), block(block_size,0:*), law(law_size,0:*), u(3,0:*), reaction(3,0:*)
    real(dp), intent(inout) :: operator(3,3,3,0:*), rhs(3,0:*)
    integer(i4), intent(inout) :: failed         !< row whose T is singular, if any
    real(dp) :: t(3,3)
    logical :: regular
    integer :: a, j

    !$omp parallel do if (n > parallel_from) schedule(static) private(t, regular, j) reduction(max: failed)
    do a = 0, n - 1
      call linearise_row(a)
      do j = 1, 3
        operator(j,j,2,a) = operator(j,j,2,a) + added
      end do
      t = matmul(operator(:,:,1,a), diagonal(:,:,a)) + operator(:,:,2,a)
      call invert(t, operator(:,:,3,a), regular)
      if (.not. regular) failed = max(failed, a)
    end do
    !$omp end parallel do

  contains

    subroutine linearise_row(a)
      integer, intent(in) :: a
      class(row_family), pointer :: family

      family => family_of(kind(a))
      call family%linearise(diagonal(:,:,a), block(:,a), law(:,a), u(:,a), reaction(:,a), unit, half_step, omega, &
                            operator(:,:,1,a), operator(:,:,2,a), rhs(:,a))
    end subroutine linearise_row
  end subroutine linearise

  !> Mean of the diagonal entries of W.
  pure real(dp) function mean_diagonal(n, diagonal)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: diagonal(3,3,0:*)
    integer :: a, j

    mean_diagonal = 0.0_dp
    do a = 0, n - 1
      do j = 1, 3
        mean_diagonal = mean_diagonal + diagonal(j,j,a)/(3*n)
      end do
    end do
  end function mean_diagonal

  !> Computes dR = (1 - theta) dR + theta T^-1 rhs.
  subroutine average(n, theta, operator, rhs, change)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: theta, operator(3,3,3,0:*), rhs(3,0:*)
    real(dp), intent(inout) :: change(3,0:*)
    integer :: a

    !$omp parallel do if (n > parallel_from) schedule(static)
    do a = 0, n - 1
      change(:,a) = (1.0_dp - theta)*change(:,a) + theta*matmul(operator(:,:,3,a), rhs(:,a))
    end do
    !$omp end parallel do
  end subroutine average

  !> Computes R = P(R + dR).
  subroutine take_step(n, kind, block, change, reaction)
    integer(i4), intent(in) :: n, kind(0:*)
    real(dp), intent(in) :: block(block_size,0:*), change(3,0:*)
    real(dp), intent(inout) :: reaction(3,0:*)
    integer :: a

    !$omp parallel do if (n > parallel_from) schedule(static)
    do a = 0, n - 1
      call take_step_of_row(a)
    end do
    !$omp end parallel do

  contains

    subroutine take_step_of_row(a)
      integer, intent(in) :: a
      class(row_family), pointer :: family

      family => family_of(kind(a))
      reaction(:,a) = family%projected(block(:,a), reaction(:,a) + change(:,a))
    end subroutine take_step_of_row
  end subroutine take_step

  !> Computes y = X p + Y x, where p = W x.
  subroutine combine(n, operator, product, x, y)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: operator(3,3,3,0:*), product(3,0:*), x(3,0:*)
    real(dp), intent(inout) :: y(3,0:*)
    integer :: a

    !$omp parallel do if (n > parallel_from) schedule(static)
    do a = 0, n - 1
      y(:,a) = matmul(operator(:,:,1,a), product(:,a)) + matmul(operator(:,:,2,a), x(:,a))
    end do
    !$omp end parallel do
  end subroutine combine

  !> Computes y = z - y.
  subroutine subtract_from(n, z, y)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: z(3,0:*)
    real(dp), intent(inout) :: y(3,0:*)
    integer :: a

    !$omp parallel do if (n > parallel_from) schedule(static)
    do a = 0, n - 1
      y(:,a) = z(:,a) - y(:,a)
    end do
    !$omp end parallel do
  end subroutine subtract_from

  subroutine scale(n, factor, x)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: factor
    real(dp), intent(inout) :: x(3,0:*)
    integer :: a

    !$omp parallel do if (n > parallel_from) schedule(static)
    do a = 0, n - 1
      x(:,a) = factor*x(:,a)
    end do
    !$omp end parallel do
  end subroutine scale

  !> Computes y = T^-1 x.
  subroutine precondition(n, operator, x, y)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: operator(3,3,3,0:*), x(3,0:*)
    real(dp), intent(inout) :: y(3,0:*)
    integer :: a

    !$omp parallel do if (n > parallel_from) schedule(static)
    do a = 0, n - 1
      y(:,a) = matmul(operator(:,:,3,a), x(:,a))
    end do
    !$omp end parallel do
  end subroutine precondition

  !> Unit of force in which reactions are added to velocities: that of the model, or a smaller one if a force of one unit would
  !> change velocities of contacts by more than one unit in a step.  Then reactions of small bodies are as large as their
  !> velocities, and neither merit nor smoothing neglects them.
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

  !> Computes U = B + W R of all rows, in either form of W, from R and B of rows.
  !>
  !>   local, n, stored, triples   as in `iterate`
  !>   u        (3,0:nrow-1) out; may be the column U of rows, but no other column
  !>   status   `table_open` or `table_unknown`
  subroutine relative_velocities(local, n, stored, triples, nrow, u, status)
    integer(i8), intent(in) :: local(6)
    integer(i4), intent(in) :: n, stored, triples, nrow
    real(dp), intent(inout) :: u(3,0:nrow-1)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    call open_local(local, loc, status)
    if (status == table_open) call velocities(loc, n, stored, triples, loc%rows%R, loc%rows%B, u)
  end subroutine relative_velocities

  !> Computes y = x0 + W x.
  subroutine velocities(loc, n, stored, triples, x, x0, y)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: n, stored, triples
    real(dp), intent(in) :: x(3,0:*), x0(3,0:*)
    real(dp), intent(inout) :: y(3,0:*)

    if (stored /= 0) then
      call stored_velocities(n, loc%rows%block_ptr, loc%blocks%column, loc%blocks%block, loc%rows%diagonal, x, x0, y)
    else
      call gather_momenta(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, x, triples, loc%triples%momentum)
      call momentum_velocities(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, loc%triples%momentum, x0, y)
    end if
  end subroutine velocities

  !> Inverts a 3x3 matrix by cofactors.
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
