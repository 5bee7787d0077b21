!> One time step of all bodies of the table: initial inertia, drift to mid-step, free velocity, correction.  These kernels
!> skip the nodes of finite element bodies, which finite_element_motion moves.
!>
!> `handles` are BodyTable.handles: bodies, their velocity triples, their configuration triples.
!>
!> `failure` is 0, or the failure of the first (lowest) `row`:
!>   1 mass not positive; 2 tensor not positive definite; 3 scheme not available for the kind; 4 unknown kind;
!>   5 determinant of the deformation gradient not positive; 6 RIG_IMP does not converge;
!>   7 rotation with a determinant that is not positive; 8 state not finite; 9 reaction not finite;
!>   `table_unknown` (with row -1): a handle does not belong to an existing table.
module body_motion
  use kinds, only: dp, i4, i8
  use kind_numbers, only: explicit_scheme => scheme_def_exp, implicit_scheme => scheme_def_lim
  use body_state, only: bodies_and_triples, open_bodies
  use matrix3, only: determinant, inverse, positive_definite, all_finite
  use velocity_operator, only: obstacle_kind, rigid_kind, pseudo_rigid_kind, finite_element_kind
  use rigid, only: lanes, rigid_kinetic_energy, scheme_positive, scheme_implicit
  use table_registry, only: table_open
  use rigid_motion, only: find_rigid, predict_rigid, finish_rigid
  use pseudo_rigid, only: pseudo_rigid_free_velocity, pseudo_rigid_finish, &
                          pseudo_rigid_kinetic_energy, pseudo_rigid_internal_energy, pseudo_rigid_damping_power
  use thread_work, only: pays
  implicit none
  private
  public :: initialise_inertia, predict, finish

  !> Number of rows that are searched together for rigid bodies, which are moved eight at a time.
  integer(i4), parameter :: batch = 64
  integer(i8), parameter :: no_failure = huge(0_i8)

contains

  !> Computes A^-1 of some bodies (blocks J^-1 or E0^-1, then I/m; zero for disabled rotations), kinetic and internal energy.
  !>
  !>   rows       (:) of these bodies, ascending
  !>
  !> Reads kind, rotation_disabled, mass, volume, lame, tensor, pointers and conf; writes inverse_inertia and energy, and velo where
  !> rotations are disabled.
  subroutine initialise_inertia(handles, rows, failure, row, count)
    integer(i8), intent(in) :: handles(3)
    integer(i4), intent(in) :: count
    integer(i4), intent(in) :: rows(0:count-1)
    integer(i4), intent(out) :: failure, row
    type(bodies_and_triples) :: state
    integer(i8) :: first
    integer(i4) :: b, c, i, k, last, v

    row = -1
    call open_bodies(handles, state, failure)
    if (failure /= table_open) return
    associate (kind => state%bodies%kind, rotation_disabled => state%bodies%rotation_disabled, mass => state%bodies%mass, &
               volume => state%bodies%volume, lame => state%bodies%lame, tensor => state%bodies%tensor, &
               conf_ptr => state%bodies%conf_ptr, velo_ptr => state%bodies%velo_ptr, energy => state%bodies%energy, &
               conf => state%configurations%conf, velo => state%triples%velo, &
               inverse_inertia => state%triples%inverse_inertia)
    first = no_failure
    !$omp parallel do schedule(static) if (pays(count, 200)) private(b, c, i, last, v) reduction(min:first)
    do k = 0, count - 1
      b = rows(k)
      if (kind(b) == finite_element_kind) cycle
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (.not. (mass(b) > 0 .and. mass(b) <= huge(0.0_dp))) then
        first = min(first, code(b, 1))
        cycle
      end if
      if (.not. positive_definite(tensor(:,:,b))) then
        first = min(first, code(b, 2))
        cycle
      end if
      select case (kind(b))
      case (obstacle_kind, rigid_kind)
        last = v + 1
        if (rotation_disabled(b) /= 0) velo(:,v) = 0
      case (pseudo_rigid_kind)
        last = v + 3
      case default
        first = min(first, code(b, 4))
        cycle
      end select
      do i = v, last - 1
        inverse_inertia(:,:,i) = inverse(tensor(:,:,b))
      end do
      if (last == v + 1 .and. rotation_disabled(b) /= 0) inverse_inertia(:,:,v) = 0
      inverse_inertia(:,:,last) = 0
      do i = 1, 3
        inverse_inertia(i,i,last) = 1/mass(b)
      end do
      if (kind(b) == rigid_kind) then
        energy(1,b) = rigid_kinetic_energy(mass(b), tensor(:,:,b), velo(:,v:v+1))
      else if (kind(b) == pseudo_rigid_kind) then
        energy(1,b) = pseudo_rigid_kinetic_energy(mass(b), tensor(:,:,b), velo(:,v:v+3))
        energy(2,b) = pseudo_rigid_internal_energy(volume(b), lame(:,b), conf(:,c:c+3))
      end if
    end do
    !$omp end parallel do
    call decode(first, failure, row)
    end associate
  end subroutine initialise_inertia

  !> Moves bodies to mid-step and computes free velocities.  `stage` 1: conf(t) -> conf(t+h/2), velo_prev = u(t), force = 0,
  !> momentum = referential angular momentum at mid-step.  Stage 2, after loads have been added to `force`:
  !> u* = u(t) + h A^-1 f(t+h/2) with loads, gravity and internal forces; `force` becomes the generalised force whose work counts
  !> as EXTERNAL: loads and gravity.  Stage 0: both, with gravity as the only load.
  !> `implicit` is the number of bodies of scheme DEF_LIM, whose u* is computed afterwards.
  !>
  !> Reads kind, scheme, rotation_disabled, mass, volume, damping, lame, tensor, pointers and inverse_inertia; writes conf, velo,
  !> velo_prev, force and momentum.
  subroutine predict(handles, stage, waking, step, gravity, failure, row, implicit)
    integer(i8), intent(in) :: handles(3)
    integer(i4), intent(in) :: stage
    integer(i4), intent(in) :: waking             !< 1: moves only rigid bodies that wake in this step; else all but those that sleep
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: gravity(3)            !< acceleration [length/time**2]
    integer(i4), intent(out) :: failure, row, implicit
    type(bodies_and_triples) :: state
    integer(i8) :: first
    integer(i4) :: b, count, found, i, l, rows(0:batch-1), start
    integer :: wrong
    logical :: drift, kick, finite(lanes)

    implicit = 0
    row = -1
    call open_bodies(handles, state, failure)
    if (failure /= table_open) return
    associate (kind => state%bodies%kind, scheme => state%bodies%scheme)
    drift = stage /= 2
    kick = stage /= 1
    first = no_failure
    !$omp parallel do schedule(static) if (pays(state%n, 40)) private(b, count, finite, found, i, l, rows, wrong) &
    !$omp   reduction(min:first) reduction(+:implicit)
    do start = 0, state%n - 1, batch
      call find_rigid(start, min(start + batch, state%n) - 1, waking /= 0, kind, state%bodies%rest, found, rows)
      do i = 0, found - 1, lanes
        count = min(lanes, found - i)
        call predict_rigid(drift, kick, count, rows(i:), step, gravity, state, finite)
        do l = 1, count
          b = rows(i+l-1)
          if (.not. finite(l)) first = min(first, code(b, 8))
          if (kind(b) == obstacle_kind) cycle
          if (scheme(b) < scheme_positive .or. scheme(b) > scheme_implicit) first = min(first, code(b, 3))
        end do
      end do
      if (found == min(batch, state%n - start) .or. waking /= 0) cycle
      do b = start, min(start + batch, state%n) - 1
        if (scheme(b) == implicit_scheme) implicit = implicit + 1
        select case (kind(b))
        case (pseudo_rigid_kind)
          call predict_pseudo_rigid(drift, kick, step, gravity, state, b, wrong)
          if (wrong /= 0) first = min(first, code(b, wrong))
        case (obstacle_kind, rigid_kind, finite_element_kind)
        case default
          first = min(first, code(b, 4))
        end select
      end do
    end do
    !$omp end parallel do
    call decode(first, failure, row)
    end associate
  end subroutine predict

  !> Moves one pseudo-rigid body to mid-step, and computes its free velocity; returns 0 or the failure.
  subroutine predict_pseudo_rigid(drift, kick, step, gravity, state, b, wrong)
    logical, intent(in) :: drift, kick
    real(dp), intent(in) :: step, gravity(3)
    type(bodies_and_triples), intent(in) :: state    !< its columns change
    integer(i4), intent(in) :: b
    integer, intent(out) :: wrong
    integer(i4) :: c, v

    c = state%bodies%conf_ptr(b)
    v = state%bodies%velo_ptr(b)
    wrong = 0
    associate (bodies => state%bodies, conf => state%configurations%conf, velo => state%triples%velo, force => state%triples%force)
      if (drift) call drift_pseudo_rigid(step, conf(:,c:c+3), velo(:,v:v+3), state%triples%velo_prev(:,v:v+3), &
                                         force(:,v:v+3), wrong)
      if (bodies%scheme(b) /= explicit_scheme .and. bodies%scheme(b) /= implicit_scheme) wrong = 3
      if (wrong /= 0 .or. .not. kick) return
      ! implicit.py replaces u* of implicit bodies afterwards
      call pseudo_rigid_free_velocity(step, gravity, bodies%mass(b), bodies%volume(b), bodies%lame(:,b), bodies%damping(b), &
                                      state%triples%inverse_inertia(:,:,v:v+3), conf(:,c:c+3), velo(:,v:v+3), force(:,v:v+3))
    end associate
  end subroutine predict_pseudo_rigid

  !> Moves one pseudo-rigid body, q(t) -> q(t+h/2); returns 0 or the failure.
  pure subroutine drift_pseudo_rigid(step, conf, velo, velo_prev, force, failure)
    real(dp), intent(in) :: step
    real(dp), intent(inout) :: conf(3,4)
    real(dp), intent(in) :: velo(3,4)
    real(dp), intent(inout) :: velo_prev(3,4), force(3,4)
    integer, intent(out) :: failure

    failure = 8
    if (.not. (all_finite(4, conf) .and. all_finite(4, velo))) return
    velo_prev = velo
    force = 0
    conf = conf + step/2*velo
    failure = merge(0, 5, determinant(conf(:,1:3)) > 0)
  end subroutine drift_pseudo_rigid

  !> Ends the step: u(t+h) = u* + h A^-1 r and the scheme's rule for rotations; conf(t+h/2) -> conf(t+h); energies.  The work
  !> h/2 (u(t) + u(t+h)) . (force + reaction) is added to EXTERNAL, that of damping forces to DISSIPATED.  Obstacles have no energies.
  !>
  !> Reads what `predict` reads and wrote, and reaction; writes conf, velo, momentum and energy.
  subroutine finish(handles, step, failure, row)
    integer(i8), intent(in) :: handles(3)
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(out) :: failure, row
    type(bodies_and_triples) :: state
    integer(i8) :: first
    integer(i4) :: b, c, count, found, i, l, rows(0:batch-1), start
    logical :: finite(lanes), converged(lanes), regular(lanes), sound

    row = -1
    call open_bodies(handles, state, failure)
    if (failure /= table_open) return
    associate (kind => state%bodies%kind, conf_ptr => state%bodies%conf_ptr, conf => state%configurations%conf)
    first = no_failure
    !$omp parallel do schedule(static) if (pays(state%n, 50)) &
    !$omp   private(b, c, count, found, i, l, rows, finite, converged, regular, sound) reduction(min:first)
    do start = 0, state%n - 1, batch
      call find_rigid(start, min(start + batch, state%n) - 1, .false., kind, state%bodies%rest, found, rows)
      do i = 0, found - 1, lanes
        count = min(lanes, found - i)
        call finish_rigid(count, rows(i:), step, state, finite, converged, regular)
        do l = 1, count
          if (.not. finite(l)) first = min(first, code(rows(i+l-1), 9))
        end do
        if (.not. all(finite)) cycle
        do l = 1, count
          if (.not. converged(l)) first = min(first, code(rows(i+l-1), 6))
          if (regular(l)) cycle
          c = conf_ptr(rows(i+l-1))
          first = min(first, code(rows(i+l-1), merge(7, 8, all_finite(3, conf(:,c:c+2)))))
        end do
      end do
      if (found == min(batch, state%n - start)) cycle
      do b = start, min(start + batch, state%n) - 1
        if (kind(b) /= pseudo_rigid_kind) cycle   ! `predict` has refused unknown kinds
        call finish_pseudo_rigid(step, state, b, sound)
        if (.not. sound) first = min(first, code(b, 9))
      end do
    end do
    !$omp end parallel do
    call decode(first, failure, row)
    end associate
  end subroutine finish

  !> Ends the step of one pseudo-rigid body; `sound`: its reaction is finite, else nothing changes.
  subroutine finish_pseudo_rigid(step, state, b, sound)
    real(dp), intent(in) :: step
    type(bodies_and_triples), intent(in) :: state    !< its columns change
    integer(i4), intent(in) :: b
    logical, intent(out) :: sound
    real(dp) :: middle(3,4), work
    integer(i4) :: c, i, v

    c = state%bodies%conf_ptr(b)
    v = state%bodies%velo_ptr(b)
    associate (bodies => state%bodies, conf => state%configurations%conf, velo => state%triples%velo, &
               velo_prev => state%triples%velo_prev, reaction => state%triples%reaction, energy => state%bodies%energy)
      sound = all_finite(4, reaction(:,v:v+3))
      if (.not. sound) return
      middle = conf(:,c:c+3)
      call pseudo_rigid_finish(step, state%triples%inverse_inertia(:,:,v:v+3), reaction(:,v:v+3), conf(:,c:c+3), velo(:,v:v+3))
      work = 0
      do i = v, v + 3
        work = work + sum((velo_prev(:,i) + velo(:,i))*(state%triples%force(:,i) + reaction(:,i)))
      end do
      energy(1,b) = pseudo_rigid_kinetic_energy(bodies%mass(b), bodies%tensor(:,:,b), velo(:,v:v+3))
      energy(2,b) = pseudo_rigid_internal_energy(bodies%volume(b), bodies%lame(:,b), conf(:,c:c+3))
      energy(3,b) = energy(3,b) + step/2*work
      if (bodies%damping(b) > 0) then
        energy(6,b) = energy(6,b) + step*pseudo_rigid_damping_power(bodies%volume(b), bodies%lame(:,b), bodies%damping(b), middle, &
          velo_prev(:,v:v+3), velo(:,v:v+3), bodies%scheme(b) == explicit_scheme)
      end if
    end associate
  end subroutine finish_pseudo_rigid

  !> Encodes a failure so that the minimum belongs to the lowest row, for any order of threads.
  pure integer(i8) function code(row, failure)
    integer(i4), intent(in) :: row
    integer, intent(in) :: failure
    code = 16_i8*row + failure
  end function code

  pure subroutine decode(first, failure, row)
    integer(i8), intent(in) :: first
    integer(i4), intent(out) :: failure, row
    failure = 0
    row = -1
    if (first == no_failure) return
    failure = int(mod(first, 16_i8), i4)
    row = int(first/16, i4)
  end subroutine decode

end module body_motion
