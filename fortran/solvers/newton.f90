!> The whole projected quasi-Newton iteration in one call (docs/solvers.md, Projected quasi-Newton solver).
module newton
  use kinds, only: dp, i4, i8
  use block_factor, only: block_lu, analyse, factorise, solve_factored
  use end_of_cohesion, only: end_cohesion
  use krylov_basis, only: ordered_dot, add_scaled, rotate_column, back_substitute
  use constraint_measures, only: measure, unbounded
  use diagonal_block, only: b_rho, block_size
  use kind_numbers, only: contact_row => row_contact
  use newton_rows, only: linearise_row, soften_contacts, stepped
  use row_block, only: law_size
  use row_families, only: family_of
  use row_family_base, only: row_family
  use row_tables, only: local_tables, open_local
  use row_velocities, only: velocities
  use state_tables, only: newton_settings, open_table
  use table_registry, only: table_open
  use thread_work, only: pays
  implicit none
  private
  public :: iterate, peels, relative_velocities

  integer, parameter :: restart = 20          !< directions kept by flexible GMRES
  integer, parameter :: patience = 100       !< steps without halving of the merit after which the iteration counts as stagnant
  integer, parameter :: attempts = 30         !< the same for direct solutions
  integer, parameter :: problems = 300       !< largest number of problems with held damage
  real(dp), parameter :: of_held = 1.0e-6_dp !< goal of their merits, over that of the step: forces of stiff bonds hardly count in them
  real(dp), parameter :: farthest = 32.0_dp  !< changes of damage that are made at once
  real(dp), parameter :: redundancy = 1.0e-6_dp !< part of the mean diagonal of W that direct solutions add, since points may be redundant
  real(dp), parameter :: lift = 1.0e-3_dp     !< part of the mean diagonal of W that regularises a stagnant iteration
  real(dp), parameter :: breakdown = 1.0e-8_dp  !< part of the largest pivot of GMRES below which a direction is one of reactions alone
  real(dp), parameter :: beyond_measure = 1.0e6_dp  !< growth of the merit, 1 without reactions, after which a step is taken back
  integer, parameter :: halvings = 6         !< of a step along a direction that is solved for directly
  real(dp), parameter :: descent = 1.0e-4_dp  !< least decrease of the residual, relative to the length of the step
  real(dp), parameter :: affordable = 1.0e7_dp  !< products of blocks up to which the linear system is factorised
  integer(i4), parameter :: blocks_wanted = 4, unaffordable = 5
  integer, parameter :: v_zero = 1, v_rhs = 2, v_step = 3, v_product = 4, v_basis = 5   !< work vectors; directions follow the basis

  !> An iteration under way.
  type :: iteration
    type(local_tables) :: loc
    type(newton_settings) :: asked
    integer(i4) :: n, stored, triples                !< see `iterate`
    real(dp) :: half_step                            !< see `iterate` [time]
    real(dp), allocatable :: operator(:,:,:,:)       !< (3,3,3,0:n-1) derivatives X, Y and the inverse diagonal block
    real(dp), allocatable :: vectors(:,:,:)          !< (3,0:n-1,v_...)
    integer(i4) :: directions                        !< vectors of the basis, and as many directions
    logical :: holds = .false.                       !< whether rows have laws that do not weaken, instead of their own
    logical :: direct = .false.                      !< whether the linear systems are factorised:
    type(block_lu) :: factor
    real(dp), allocatable :: diagonal(:,:,:), matrix(:,:,:)   !< (3,3,0:n-1), (3,3,0:blocks-1) X W + Y
    real(dp), allocatable :: best(:,:)               !< (3,0:n-1) reactions of the least residual,
    real(dp) :: least = huge(1.0_dp)                 !< and that residual
    real(dp) :: unit                                 !< of force, in which reactions are added to velocities
    integer(i4) :: matvecs = 0                       !< products made
    real(dp) :: g = 0.0_dp, total = 0.0_dp           !< merit, residual (merit)
  end type iteration

contains

  !> Makes Newton steps on C(U(R), R) = 0, each projected on the friction cones, until the merit is at most `meritval`.
  !>
  !> If bodies share more points than necessary, such as rigid faces with four points, W is singular, and GMRES steps may go
  !> back and forth along reactions that cause no motion.  A stagnant iteration continues with a regularised operator.
  !>
  !> Where a row may have several solutions with the reactions of all others held, as bonds of a slender arm that is peeled off, an approximate
  !> direction leads to another solution.  Then the linear systems are factorised, and steps are halved until the residual falls.  So they are where W is
  !> stiff (`stiff` of settings): a quasi-static step of many periods moves bodies as a whole a thousand times as far as it deforms them, and ten
  !> directions of GMRES find one or the other.
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
  !>   unit            out: of force, in which the merit adds reactions to velocities
  !>   failed          row whose diagonal block is singular or whose kind has no linearisation, or -1
  !>   status          0 converged, 1 bound reached, 2 not a number or a singular diagonal block, 3 unknown kind of row, 4 the blocks of W are
  !>                   needed (stored 1), 5 only direct solutions are wanted (`direct` of settings), and they are too expensive; in both cases nothing is
  !>                   done; `table_unknown`
  subroutine iterate(local, settings, n, stored, triples, half_step, step, regularisation, maxiter, maxmatvec, check_cohesion, &
                     iterations, matvecs, g, total, unit, failed, status)
    integer(i8), intent(in) :: local(6), settings
    integer(i4), intent(in) :: n, stored, triples
    real(dp), intent(in) :: half_step, step, regularisation
    integer(i4), intent(in) :: maxiter, maxmatvec, check_cohesion
    integer(i4), intent(out) :: iterations, matvecs
    real(dp), intent(out) :: g, total, unit
    integer(i4), intent(out) :: failed, status
    type(iteration) :: it
    logical :: weakens

    weakens = .false.
    failed = -1
    iterations = 0
    matvecs = 0
    g = 0.0_dp
    total = 0.0_dp
    unit = 1.0_dp
    call open_local(local, it%loc, status)
    if (status == table_open) call open_table(settings, it%asked, status)
    if (status /= table_open) return
    status = 3
    associate (rows => it%loc%rows)
      call soften_contacts(n, half_step, step, rows%V, rows%diagonal, rows%kind, rows%law, rows%block, failed)
      if (failed >= 0) return
      if (it%asked%averaged == 0) weakens = any_snaps_back(n, rows%kind, rows%law, rows%diagonal)
      it%direct = weakens .or. (it%asked%averaged == 0 .and. it%asked%stiff /= 0 .and. stored /= 0)
      status = blocks_wanted
      if (it%direct .and. stored == 0) return
      if (it%direct) call prepare_factor(it, n)
      status = unaffordable
      if (it%asked%direct /= 0 .and. .not. it%direct) return
      call start_iteration(it, n, stored, triples, half_step)
      if (it%direct) call keep_best(it)
      if (it%direct .and. weakens) then
        call soften_gradually(it, regularisation, maxiter, maxmatvec, iterations, failed)
      else
        call run_steps(it, regularisation, maxiter, maxmatvec, iterations, failed)
        if (it%direct .and. .not. it%g <= it%asked%meritval) &
          call go_on_by_krylov(it, regularisation, maxiter, maxmatvec, iterations, failed)
      end if
      if (allocated(it%best) .and. .not. it%g <= it%asked%meritval) then
        rows%R(:,0:n-1) = it%best
        call take_measure(it)
      end if
      matvecs = it%matvecs
      g = it%g
      total = it%total
      unit = it%unit
      status = merge(0, 1, g <= it%asked%meritval)
      if (failed >= 0 .or. .not. g <= huge(1.0_dp)) status = 2
      if (check_cohesion /= 0 .and. status < 2) &
        call end_cohesion(n, rows%kind, rows%law, rows%patch, rows%diagonal, rows%R, rows%U, rows%lost)
    end associate
  end subroutine iterate

  !> Continues from the best reactions of steps with factors by steps of GMRES: these steps ended where no shorter one reduces the residual.
  subroutine go_on_by_krylov(it, regularisation, maxiter, maxmatvec, iterations, failed)
    type(iteration), intent(inout) :: it
    real(dp), intent(in) :: regularisation
    integer(i4), intent(in) :: maxiter, maxmatvec
    integer(i4), intent(inout) :: iterations, failed

    it%direct = .false.
    it%loc%rows%R(:,0:it%n-1) = it%best
    it%vectors(:,:,v_step) = 0.0_dp
    call take_measure(it)
    call run_steps(it, regularisation, maxiter, maxmatvec, iterations, failed)
    call keep_best(it)
  end subroutine go_on_by_krylov

  !> Makes room, and measures the initial guess.
  subroutine start_iteration(it, n, stored, triples, half_step)
    type(iteration), intent(inout) :: it
    integer(i4), intent(in) :: n, stored, triples
    real(dp), intent(in) :: half_step

    it%n = n
    it%stored = stored
    it%triples = triples
    it%half_step = half_step
    it%directions = merge(0, min(it%asked%linmaxiter, restart), it%asked%averaged /= 0)
    allocate(it%operator(3,3,3,0:n-1), it%vectors(3,0:n-1,v_basis+2*it%directions))
    it%unit = unit_of_force(n, it%loc%rows%kind, it%loc%rows%block)
    it%vectors(:,:,v_zero) = 0.0_dp
    it%vectors(:,:,v_step) = 0.0_dp
    call take_measure(it)
    if (it%g < 0.5_dp*unbounded) return
    ! there is no velocity to stop, so reactions of the last step are no good start
    it%loc%rows%R(:,0:n-1) = 0.0_dp
    call take_measure(it)
  end subroutine start_iteration

  !> Solves a step in which laws weaken, by problems in which none does.
  !>
  !> Each of these holds the damage that the openings of the last one make, and the first that of the last step.  The potential of a bond, concave in
  !> |d|^2, is so replaced by a parabola that touches it from above.  So the energy of bodies and bonds falls from problem to problem, until it
  !> is stationary, which is a solution (majorisation and minimisation: D. R. Hunter and K. Lange, The American Statistician 58 (2004), 30-37).
  !> Bonds that can hold do so, and others give way one after another, also if the load drops on the way.  This converges slowly where many
  !> bonds soften together, so Newton steps with the laws themselves try to finish, after 1, 2, 3, 5, 9... problems.
  subroutine soften_gradually(it, regularisation, maxiter, maxmatvec, iterations, failed)
    type(iteration), intent(inout) :: it
    real(dp), intent(in) :: regularisation
    integer(i4), intent(in) :: maxiter, maxmatvec
    integer(i4), intent(inout) :: iterations, failed
    real(dp) :: reached(3,0:it%n-1), damage(0:it%n-1), change(0:it%n-1), reach
    integer :: problem, next

    damage = 0.0_dp
    reach = 1.0_dp
    next = 0
    associate (rows => it%loc%rows, n => it%n)
      do problem = 0, problems
        call solve_held(it, damage, regularisation, maxiter, maxmatvec, iterations, failed)
        if (problem == next) then
          reached = rows%R(:,0:n-1)
          call run_steps(it, regularisation, maxiter, maxmatvec, iterations, failed)
          if (it%g <= it%asked%meritval) return
          rows%R(:,0:n-1) = reached
          call take_measure(it)
          next = max(1, 2*next)
        end if
        if (it%g <= it%asked%meritval .or. .not. it%g <= huge(1.0_dp) .or. iterations >= maxiter .or. failed >= 0) return
        call increase_damage(it, problem == 0, damage, change, reach)
      end do
    end associate
  end subroutine soften_gradually

  !> Solves the problem in which every row keeps its damage, then measures the result by the laws themselves.
  subroutine solve_held(it, damage, regularisation, maxiter, maxmatvec, iterations, failed)
    type(iteration), intent(inout) :: it
    real(dp), intent(in) :: damage(0:it%n-1), regularisation
    integer(i4), intent(in) :: maxiter, maxmatvec
    integer(i4), intent(inout) :: iterations, failed
    real(dp) :: law(law_size,0:it%n-1)
    class(row_family), pointer :: family
    integer :: a

    associate (rows => it%loc%rows, n => it%n)
      law = rows%law(:,0:n-1)
      do a = 0, n - 1
        family => family_of(rows%kind(a))
        rows%law(:,a) = family%held(law(:,a), damage(a))
      end do
      it%holds = .true.
      call take_measure(it)
      call run_steps(it, regularisation, maxiter, maxmatvec, iterations, failed)
      it%holds = .false.
      rows%law(:,0:n-1) = law
      call take_measure(it)
      call keep_best(it)
    end associate
  end subroutine solve_held

  !> Moves the damage of all rows towards that of their present velocities, `reach` times as far: twice as far as the last time if it goes on
  !> in the same direction.
  subroutine increase_damage(it, first, damage, change, reach)
    type(iteration), intent(in) :: it
    logical, intent(in) :: first                       !< there is no direction yet
    real(dp), intent(inout) :: damage(0:it%n-1), change(0:it%n-1), reach
    real(dp) :: found(0:it%n-1)
    class(row_family), pointer :: family
    integer :: a

    associate (rows => it%loc%rows)
      do a = 0, it%n - 1
        family => family_of(rows%kind(a))
        found(a) = min(family%damage_at(rows%law(:,a), rows%block(:,a), rows%diagonal(:,:,a), rows%U(:,a), rows%R(:,a)), 1.0_dp)
      end do
    end associate
    if (first) then
      damage = found
      change = 0.0_dp
    end if
    reach = merge(min(2.0_dp*reach, farthest), 1.0_dp, dot_product(found - damage, change) > 0.0_dp)
    change = found - damage
    damage = min(max(damage + reach*change, 0.0_dp), 1.0_dp)
  end subroutine increase_damage

  !> Keeps the present reactions, unless laws are held, if none before had a smaller residual.
  subroutine keep_best(it)
    type(iteration), intent(inout) :: it

    if (it%holds .or. .not. it%total < it%least) return
    it%least = it%total
    it%best = it%loc%rows%R(:,0:it%n-1)
  end subroutine keep_best

  !> Takes steps until the merit or a bound is reached, or numbers fail.
  subroutine run_steps(it, regularisation, maxiter, maxmatvec, iterations, failed)
    type(iteration), intent(inout) :: it
    real(dp), intent(in) :: regularisation
    integer(i4), intent(in) :: maxiter, maxmatvec
    integer(i4), intent(inout) :: iterations, failed
    real(dp) :: added, halved, goal
    logical :: ran_away
    integer(i4) :: since

    goal = it%asked%meritval*merge(of_held, 1.0_dp, it%holds)
    added = regularisation
    if (it%direct) added = max(added, redundancy*mean_diagonal(it%n, it%loc%rows%diagonal))
    halved = it%g
    since = 0
    associate (asked => it%asked, rows => it%loc%rows, n => it%n)
      do while (iterations < maxiter .and. it%g > goal .and. it%g <= huge(1.0_dp))
        if (asked%averaged == 0 .and. it%matvecs >= maxmatvec) exit
        call linearise(n, merge(added, 0.0_dp, asked%averaged == 0), it%unit, it%half_step, asked%omega, rows%kind, rows%diagonal, &
                       rows%block, rows%law, rows%U, rows%R, it%operator, it%vectors(:,:,v_rhs), failed)
        if (failed >= 0) exit
        if (asked%averaged /= 0) then
          call average(n, asked%theta, it%operator, it%vectors(:,:,v_rhs), it%vectors(:,:,v_step))
        else if (it%direct) then
          call direct_step(it)
        else
          call krylov_step(it)
        end if
        if (it%direct) then
          call take_shortened_step(it)
        else
          call take_whole_step(it, ran_away)
          if (ran_away) added = max(10.0_dp*added, redundancy*mean_diagonal(n, rows%diagonal))
        end if
        asked%merits(iterations) = it%g
        asked%products(iterations) = it%matvecs
        iterations = iterations + 1
        since = since + 1
        if (it%g <= 0.5_dp*halved) then
          halved = it%g
          since = 0
        else if (since >= attempts .and. it%direct) then
          exit
        else if (since >= patience .and. asked%averaged == 0) then
          added = max(added, lift*mean_diagonal(n, rows%diagonal))
        end if
      end do
    end associate
  end subroutine run_steps

  !> Computes U = B + W R, merit and residual of the present reactions.
  subroutine take_measure(it)
    type(iteration), intent(inout) :: it

    associate (rows => it%loc%rows)
      call velocities(it%loc, it%n, it%stored, it%triples, rows%R, rows%B, rows%U)
      call measure(it%n, .true., it%unit, rows%kind, rows%driving, rows%contact, rows%block, rows%law, rows%diagonal, rows%B, &
                   rows%speed, rows%R, rows%U, it%half_step, rows%merit, rows%residual, it%g, it%total)
    end associate
  end subroutine take_measure

  !> Computes work vector y = A x of work vector x, with A = X W + Y.
  subroutine apply_operator(it, x, y)
    type(iteration), intent(inout) :: it
    integer(i4), intent(in) :: x, y

    call velocities(it%loc, it%n, it%stored, it%triples, it%vectors(:,:,x), it%vectors(:,:,v_zero), it%vectors(:,:,v_product))
    it%matvecs = it%matvecs + 1
    call combine(it%n, it%operator, it%vectors(:,:,v_product), it%vectors(:,:,x), it%vectors(:,:,y))
  end subroutine apply_operator

  !> Solves by flexible GMRES, right-preconditioned by the diagonal blocks, from the last dR.
  !>
  !> Redundant supports, such as two fixed points of an axle, make the operator singular: a direction along which nothing moves ends the solution, for
  !> round-off would lead along it without bound.
  subroutine krylov_step(it)
    type(iteration), intent(inout) :: it
    real(dp) :: triangle(restart+1,restart), cosine(restart), sine(restart), rhs(restart+1), length, target, largest
    integer(i4) :: made, cycle_size, used, first_direction, j, i

    associate (n => it%n, vectors => it%vectors, asked => it%asked)
      target = asked%epsilon*sqrt(ordered_dot(n, vectors(:,:,v_rhs), vectors(:,:,v_rhs)))
      first_direction = v_basis + it%directions
      made = 0
      do
        call apply_operator(it, v_step, v_basis)
        call subtract_from(n, vectors(:,:,v_rhs), vectors(:,:,v_basis))
        length = sqrt(ordered_dot(n, vectors(:,:,v_basis), vectors(:,:,v_basis)))
        if (.not. length > 0.0_dp .or. made >= asked%linmaxiter .or. (made > 0 .and. length <= target)) exit
        rhs(1) = length
        cycle_size = min(restart, asked%linmaxiter - made)
        largest = 0.0_dp
        used = 0
        do j = 1, cycle_size
          call scale(n, 1.0_dp/length, vectors(:,:,v_basis+j-1))
          call precondition(n, it%operator, vectors(:,:,v_basis+j-1), vectors(:,:,first_direction+j))
          call apply_operator(it, first_direction + j, v_basis + j)
          do i = 1, j
            triangle(i,j) = ordered_dot(n, vectors(:,:,v_basis+i-1), vectors(:,:,v_basis+j))
            call add_scaled(n, -triangle(i,j), vectors(:,:,v_basis+i-1), vectors(:,:,v_basis+j))
          end do
          length = sqrt(ordered_dot(n, vectors(:,:,v_basis+j), vectors(:,:,v_basis+j)))
          triangle(j+1,j) = length
          call rotate_column(j, cosine, sine, triangle(:,j), rhs)
          made = made + 1
          largest = max(largest, abs(triangle(j,j)))
          if (.not. abs(triangle(j,j)) > breakdown*largest) exit   ! along reactions that cause no motion
          used = j
          if (.not. length > 0.0_dp .or. abs(rhs(j+1)) <= target .or. j == cycle_size) exit
        end do
        call back_substitute(used, restart + 1, triangle, rhs)
        do i = 1, used
          call add_scaled(n, rhs(i), vectors(:,:,first_direction+i), vectors(:,:,v_step))
        end do
        if (made >= asked%linmaxiter .or. used < cycle_size) exit
      end do
    end associate
  end subroutine krylov_step

  !> Tells whether a row may have several solutions with the reactions of all others held, which sweeps cannot follow.
  !>
  !>   local, n   as in `iterate`
  !>   found      1: there is such a row
  !>   status     `table_open` or `table_unknown`
  subroutine peels(local, n, found, status)
    integer(i8), intent(in) :: local(6)
    integer(i4), intent(in) :: n
    integer(i4), intent(out) :: found, status
    type(local_tables) :: loc

    found = 0
    call open_local(local, loc, status)
    if (status == table_open) found = merge(1, 0, any_snaps_back(n, loc%rows%kind, loc%rows%law, loc%rows%diagonal))
  end subroutine peels

  !> Whether a row may have several solutions with the reactions of all others held.
  logical function any_snaps_back(n, kind, law, diagonal) result(any_row)
    integer(i4), intent(in) :: n, kind(0:*)
    real(dp), intent(in) :: law(law_size,0:*), diagonal(3,3,0:*)
    class(row_family), pointer :: family
    integer :: a

    any_row = .false.
    do a = 0, n - 1
      family => family_of(kind(a))
      any_row = any_row .or. family%snaps_back(law(:,a), diagonal(:,:,a))
    end do
  end function any_snaps_back

  !> Finds an order of elimination, and makes room for the matrix X W + Y; larger systems are left to GMRES.
  subroutine prepare_factor(it, n)
    type(iteration), intent(inout) :: it
    integer(i4), intent(in) :: n

    associate (ptr => it%loc%rows%block_ptr)
      call analyse(n, ptr(0:n), it%loc%blocks%column, it%factor, affordable)
      it%direct = it%factor%pattern%products <= affordable
      if (it%direct) allocate(it%diagonal(3,3,0:n-1), it%matrix(3,3,0:max(ptr(n), 1)-1), it%best(3,0:n-1))
    end associate
  end subroutine prepare_factor

  !> Solves X W dR + Y dR = rhs by factors; if there are none, by GMRES.
  subroutine direct_step(it)
    type(iteration), intent(inout) :: it
    logical :: regular
    integer :: a, k

    associate (rows => it%loc%rows, blocks => it%loc%blocks)
      !$omp parallel do if (pays(it%n, 40)) schedule(static) private(k)
      do a = 0, it%n - 1
        it%diagonal(:,:,a) = matmul(it%operator(:,:,1,a), rows%diagonal(:,:,a)) + it%operator(:,:,2,a)
        do k = rows%block_ptr(a), rows%block_ptr(a+1) - 1
          it%matrix(:,:,k) = matmul(it%operator(:,:,1,a), blocks%block(:,:,k))
        end do
      end do
      !$omp end parallel do
      call factorise(rows%block_ptr, blocks%column, it%diagonal, it%matrix, it%factor, regular)
    end associate
    if (regular) then
      call solve_factored(it%factor, it%vectors(:,:,v_rhs), it%vectors(:,:,v_step))
    else
      call krylov_step(it)
    end if
  end subroutine direct_step

  !> Computes R = P(R + dR), unless that is without all measure: where the operator is close to singular, as of a hinged lever that rests on
  !> faces, a direction may lead to reactions that cause no motion, of any size.  Then reactions stay.
  subroutine take_whole_step(it, ran_away)
    type(iteration), intent(inout) :: it
    logical, intent(out) :: ran_away
    real(dp) :: start(3,0:it%n-1), before

    associate (rows => it%loc%rows, n => it%n)
      start = rows%R(:,0:n-1)
      before = it%g
      call take_step(n, rows%kind, rows%block, it%vectors(:,:,v_step), rows%R)
      call take_measure(it)
      ran_away = it%g > beyond_measure*max(before, 1.0_dp) .and. it%asked%averaged == 0
      if (.not. ran_away) return
      rows%R(:,0:n-1) = start
      it%vectors(:,:,v_step) = 0.0_dp
      call take_measure(it)
    end associate
  end subroutine take_whole_step

  !> Computes R = P(R + t dR) with t = 1, or halved until the residual falls.
  subroutine take_shortened_step(it)
    type(iteration), intent(inout) :: it
    real(dp) :: before, length
    integer :: halving

    associate (rows => it%loc%rows, n => it%n, start => it%vectors(:,:,v_product), change => it%vectors(:,:,v_step))
      start = rows%R(:,0:n-1)
      before = it%total
      length = 1.0_dp
      do halving = 0, halvings
        rows%R(:,0:n-1) = start
        call take_step(n, rows%kind, rows%block, change, rows%R)
        call take_measure(it)
        if (it%total <= (1.0_dp - descent*length)*before) exit
        length = 0.5_dp*length
        change = 0.5_dp*change
      end do
      call keep_best(it)
    end associate
  end subroutine take_shortened_step

  !> Computes X, Y + added, right-hand side and T^-1 = (X W_aa + Y + added)^-1 of all rows.
  subroutine linearise(n, added, unit, half_step, omega, kind, diagonal, block, law, u, reaction, operator, rhs, failed)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: added, unit, half_step, omega
    integer(i4), intent(in) :: kind(0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), block(block_size,0:*), law(law_size,0:*), u(3,0:*), reaction(3,0:*)
    real(dp), intent(inout) :: operator(3,3,3,0:*), rhs(3,0:*)
    integer(i4), intent(inout) :: failed         !< row whose T is singular, if any
    logical :: regular
    integer :: a

    !$omp parallel do if (pays(n, 150)) schedule(static) private(regular) reduction(max: failed)
    do a = 0, n - 1
      call linearise_row(kind(a), diagonal(:,:,a), block(:,a), law(:,a), u(:,a), reaction(:,a), added, unit, half_step, omega, &
                         operator(:,:,:,a), rhs(:,a), regular)
      if (.not. regular) failed = max(failed, a)
    end do
    !$omp end parallel do
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

    !$omp parallel do if (pays(n, 20)) schedule(static)
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

    !$omp parallel do if (pays(n, 40)) schedule(static)
    do a = 0, n - 1
      reaction(:,a) = stepped(kind(a), block(:,a), reaction(:,a) + change(:,a))
    end do
    !$omp end parallel do
  end subroutine take_step

  !> Computes y = X p + Y x, where p = W x.
  subroutine combine(n, operator, product, x, y)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: operator(3,3,3,0:*), product(3,0:*), x(3,0:*)
    real(dp), intent(inout) :: y(3,0:*)
    integer :: a

    !$omp parallel do if (pays(n, 20)) schedule(static)
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

    !$omp parallel do if (pays(n, 5)) schedule(static)
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

    !$omp parallel do if (pays(n, 5)) schedule(static)
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

    !$omp parallel do if (pays(n, 15)) schedule(static)
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

end module newton
