!> One time step of all bodies of the table: initial inertia, drift to mid-step, free velocity, correction.  Finite
!> element bodies are passed over, finite_element_motion moves them.
!>
!> Columns of the body table: kind, scheme, rotation_disabled, conf_ptr, velo_ptr (0:nb-1); mass, volume, damping
!> (0:nb-1); lame (2,0:nb-1) [pressure]; tensor (3,3,0:nb-1): inertia J of rigid bodies and obstacles, Euler tensor
!> of the others; momentum (3,0:nb-1); energy (5,0:nb-1): kinetic, internal, external, contact, friction.
!> Triples: conf (3,0:nconf-1); velo, velo_prev, force, reaction (3,0:nvelo-1); inverse_inertia (3,3,0:nvelo-1).
!> The first argument is always the number of bodies in use.
!>
!> `failure` is 0, or says what went wrong with the first (lowest) `row`:
!>   1 mass not positive; 2 tensor not positive definite; 3 scheme not available for the kind; 4 unknown kind;
!>   5 determinant of the deformation gradient not positive; 6 RIG_IMP does not converge;
!>   7 rotation with a determinant that is not positive; 8 state not finite; 9 reaction not finite.
module body_motion
  use kinds, only: dp, i4, i8
  use matrix3, only: determinant, inverse, positive_definite, all_finite
  use velocity_operator, only: obstacle_kind, rigid_kind, pseudo_rigid_kind, finite_element_kind
  use rigid, only: rigid_half_step, rigid_free_velocity, rigid_finish, rigid_kinetic_energy, &
                   scheme_positive, scheme_negative, scheme_implicit
  use pseudo_rigid, only: pseudo_rigid_free_velocity, pseudo_rigid_finish, &
                          pseudo_rigid_kinetic_energy, pseudo_rigid_internal_energy
  implicit none
  private
  public :: initialise_inertia, half_step, free_velocity, predict, finish

  !> Fewer bodies than this are not worth waking other threads.
  integer(i4), parameter :: parallel_from = 500
  integer(i4), parameter :: explicit_scheme = 3, implicit_scheme = 4
  integer(i8), parameter :: no_failure = huge(0_i8)

contains

  !> A^-1 of every body (blocks J^-1 or E0^-1, then I/m; zero for disabled rotations), kinetic and internal energy.
  subroutine initialise_inertia(n, kind, rotation_disabled, mass, volume, lame, tensor, conf_ptr, velo_ptr, conf, velo, &
                                inverse_inertia, energy, failure, row, nb, nconf, nvelo)
    integer(i4), intent(in) :: n, nb, nconf, nvelo
    integer(i4), intent(in) :: kind(0:nb-1), rotation_disabled(0:nb-1), conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: mass(0:nb-1), volume(0:nb-1), lame(2,0:nb-1), tensor(3,3,0:nb-1)
    real(dp), intent(in) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1)
    real(dp), intent(inout) :: inverse_inertia(3,3,0:nvelo-1)
    real(dp), intent(inout) :: energy(5,0:nb-1)
    integer(i4), intent(out) :: failure, row
    integer(i8) :: first
    integer(i4) :: b, c, i, last, v

    first = no_failure
    !$omp parallel do schedule(static) if(n > parallel_from) private(c, i, last, v) reduction(min:first)
    do b = 0, n - 1
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
  end subroutine initialise_inertia

  !> conf(t) -> conf(t+h/2);  velo_prev = u(t);  force = 0;  momentum = referential angular momentum at mid-step.
  subroutine half_step(n, step, kind, rotation_disabled, conf_ptr, velo_ptr, tensor, conf, velo, velo_prev, force, &
                       momentum, failure, row, nb, nconf, nvelo)
    integer(i4), intent(in) :: n, nb, nconf, nvelo
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(in) :: kind(0:nb-1), rotation_disabled(0:nb-1), conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: tensor(3,3,0:nb-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1), force(3,0:nvelo-1)
    real(dp), intent(inout) :: momentum(3,0:nb-1)
    integer(i4), intent(out) :: failure, row
    integer(i8) :: first
    integer(i4) :: b, c, i, v

    first = no_failure
    !$omp parallel do schedule(static) if(n > parallel_from) private(c, i, v) reduction(min:first)
    do b = 0, n - 1
      if (kind(b) == finite_element_kind) cycle
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (.not. all_finite(4, conf(:,c:c+3))) then
        first = min(first, code(b, 8))
        cycle
      end if
      select case (kind(b))
      case (obstacle_kind, rigid_kind)
        if (.not. all_finite(2, velo(:,v:v+1))) then
          first = min(first, code(b, 8))
          cycle
        end if
        if (rotation_disabled(b) /= 0) velo(:,v) = 0
        velo_prev(:,v:v+1) = velo(:,v:v+1)
        force(:,v:v+1) = 0
        call rigid_half_step(step, tensor(:,:,b), conf(:,c:c+3), velo(:,v:v+1), momentum(:,b))
      case (pseudo_rigid_kind)
        if (.not. all_finite(4, velo(:,v:v+3))) then
          first = min(first, code(b, 8))
          cycle
        end if
        do i = 0, 3
          velo_prev(:,v+i) = velo(:,v+i)
          force(:,v+i) = 0
          conf(:,c+i) = conf(:,c+i) + step/2*velo(:,v+i)
        end do
        if (.not. determinant(conf(:,c:c+2)) > 0) first = min(first, code(b, 5))
      case default
        first = min(first, code(b, 4))
      end select
    end do
    !$omp end parallel do
    call decode(first, failure, row)
  end subroutine half_step

  !> u* = u(t) + h A^-1 f(t+h/2) from the loads found in `force`, gravity and internal forces.  `force` becomes the
  !> generalised force whose work counts as EXTERNAL: applied loads and gravity, less the gyroscopic moment.
  !> `implicit` is the number of bodies of scheme DEF_LIM, whose u* is found afterwards.
  subroutine free_velocity(n, step, gravity, kind, scheme, rotation_disabled, mass, volume, damping, lame, tensor, &
                           conf_ptr, velo_ptr, conf, inverse_inertia, velo, force, momentum, failure, row, implicit, &
                           nb, nconf, nvelo)
    integer(i4), intent(in) :: n, nb, nconf, nvelo
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: gravity(3)            !< acceleration [length/time**2]
    integer(i4), intent(in) :: kind(0:nb-1), scheme(0:nb-1), rotation_disabled(0:nb-1)
    real(dp), intent(in) :: mass(0:nb-1), volume(0:nb-1), damping(0:nb-1), lame(2,0:nb-1), tensor(3,3,0:nb-1)
    integer(i4), intent(in) :: conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: conf(3,0:nconf-1), inverse_inertia(3,3,0:nvelo-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1), force(3,0:nvelo-1)
    real(dp), intent(inout) :: momentum(3,0:nb-1)
    integer(i4), intent(out) :: failure, row, implicit
    real(dp) :: weight(3)
    integer(i8) :: first
    integer(i4) :: b, c, v

    first = no_failure
    !$omp parallel do schedule(static) if(n > parallel_from) private(c, v, weight) reduction(min:first)
    do b = 0, n - 1
      if (kind(b) == finite_element_kind) cycle
      c = conf_ptr(b)
      v = velo_ptr(b)
      select case (kind(b))
      case (obstacle_kind, rigid_kind)
        weight = gravity
        if (kind(b) == obstacle_kind) then
          weight = 0
        else if (scheme(b) < scheme_positive .or. scheme(b) > scheme_implicit) then
          first = min(first, code(b, 3))
          cycle
        end if
        call rigid_free_velocity(step, weight, mass(b), tensor(:,:,b), inverse_inertia(:,:,v:v+1), velo(:,v:v+1), &
                                 force(:,v:v+1), momentum(:,b))
        if (rotation_disabled(b) /= 0) momentum(:,b) = 0
      case (pseudo_rigid_kind)
        ! implicit bodies are brought to their u* afterwards (implicit.py)
        if (scheme(b) /= explicit_scheme .and. scheme(b) /= implicit_scheme) then
          first = min(first, code(b, 3))
          cycle
        end if
        call pseudo_rigid_free_velocity(step, gravity, mass(b), volume(b), lame(:,b), damping(b), &
                                        inverse_inertia(:,:,v:v+3), conf(:,c:c+3), velo(:,v:v+3), force(:,v:v+3))
      case default
        first = min(first, code(b, 4))
        cycle
      end select
    end do
    !$omp end parallel do
    implicit = count(scheme(0:n-1) == implicit_scheme)
    call decode(first, failure, row)
  end subroutine free_velocity

  !> `half_step` and `free_velocity` of bodies without loads but gravity.
  subroutine predict(n, step, gravity, kind, scheme, rotation_disabled, mass, volume, damping, lame, tensor, conf_ptr, velo_ptr, &
                     conf, inverse_inertia, velo, velo_prev, force, momentum, failure, row, implicit, nb, nconf, nvelo)
    integer(i4), intent(in) :: n, nb, nconf, nvelo
    real(dp), intent(in) :: step, gravity(3)
    integer(i4), intent(in) :: kind(0:nb-1), scheme(0:nb-1), rotation_disabled(0:nb-1)
    real(dp), intent(in) :: mass(0:nb-1), volume(0:nb-1), damping(0:nb-1), lame(2,0:nb-1), tensor(3,3,0:nb-1)
    integer(i4), intent(in) :: conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1)
    real(dp), intent(in) :: inverse_inertia(3,3,0:nvelo-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1), force(3,0:nvelo-1), momentum(3,0:nb-1)
    integer(i4), intent(out) :: failure, row, implicit

    implicit = 0
    call half_step(n, step, kind, rotation_disabled, conf_ptr, velo_ptr, tensor, conf, velo, velo_prev, force, momentum, failure, &
                   row, nb, nconf, nvelo)
    if (failure == 0) call free_velocity(n, step, gravity, kind, scheme, rotation_disabled, mass, volume, damping, lame, tensor, &
                                         conf_ptr, velo_ptr, conf, inverse_inertia, velo, force, momentum, failure, row, &
                                         implicit, nb, nconf, nvelo)
  end subroutine predict

  !> u(t+h) = u* + h A^-1 r and the scheme's rule for rotations;  conf(t+h/2) -> conf(t+h);  energies, with the work
  !> h/2 (u(t) + u(t+h)) . (force + reaction) added to EXTERNAL.  Obstacles report no energy.
  subroutine finish(n, step, kind, scheme, rotation_disabled, mass, volume, lame, tensor, conf_ptr, velo_ptr, &
                    inverse_inertia, velo_prev, force, reaction, conf, velo, momentum, energy, failure, row, nb, nconf, nvelo)
    integer(i4), intent(in) :: n, nb, nconf, nvelo
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(in) :: kind(0:nb-1), scheme(0:nb-1), rotation_disabled(0:nb-1)
    real(dp), intent(in) :: mass(0:nb-1), volume(0:nb-1), lame(2,0:nb-1), tensor(3,3,0:nb-1)
    integer(i4), intent(in) :: conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: inverse_inertia(3,3,0:nvelo-1)
    real(dp), intent(in) :: velo_prev(3,0:nvelo-1), force(3,0:nvelo-1), reaction(3,0:nvelo-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1), velo(3,0:nvelo-1)
    real(dp), intent(inout) :: momentum(3,0:nb-1)
    real(dp), intent(inout) :: energy(5,0:nb-1)
    integer(i4), intent(out) :: failure, row
    integer(i8) :: first
    integer(i4) :: b, c, effective, i, last, v
    real(dp) :: work
    logical :: converged, regular

    first = no_failure
    !$omp parallel do schedule(static) if(n > parallel_from) &
    !$omp   private(c, effective, i, last, v, work, converged, regular) reduction(min:first)
    do b = 0, n - 1
      if (kind(b) == finite_element_kind) cycle
      c = conf_ptr(b)
      v = velo_ptr(b)
      select case (kind(b))
      case (obstacle_kind, rigid_kind)
        last = v + 1
        if (.not. all_finite(2, reaction(:,v:v+1))) then
          first = min(first, code(b, 9))
          cycle
        end if
        effective = scheme(b)
        if (kind(b) == obstacle_kind) effective = scheme_implicit
        if (rotation_disabled(b) /= 0) effective = scheme_positive   ! nothing turns: the cheapest rule will do
        call rigid_finish(effective, step, tensor(:,:,b), inverse_inertia(:,:,v:v+1), reaction(:,v:v+1), &
                          conf(:,c:c+3), velo(:,v:v+1), momentum(:,b), converged, regular)
        if (.not. converged) first = min(first, code(b, 6))
        if (.not. regular) first = min(first, code(b, 7))
      case (pseudo_rigid_kind)
        last = v + 3
        if (.not. all_finite(4, reaction(:,v:v+3))) then
          first = min(first, code(b, 9))
          cycle
        end if
        call pseudo_rigid_finish(step, inverse_inertia(:,:,v:v+3), reaction(:,v:v+3), conf(:,c:c+3), velo(:,v:v+3))
      case default
        first = min(first, code(b, 4))
        cycle
      end select
      if (kind(b) == obstacle_kind) cycle
      work = 0
      do i = v, last
        work = work + sum((velo_prev(:,i) + velo(:,i))*(force(:,i) + reaction(:,i)))
      end do
      energy(3,b) = energy(3,b) + step/2*work
      if (kind(b) == rigid_kind) then
        energy(1,b) = rigid_kinetic_energy(mass(b), tensor(:,:,b), velo(:,v:v+1))
      else
        energy(1,b) = pseudo_rigid_kinetic_energy(mass(b), tensor(:,:,b), velo(:,v:v+3))
        energy(2,b) = pseudo_rigid_internal_energy(volume(b), lame(:,b), conf(:,c:c+3))
      end if
    end do
    !$omp end parallel do
    call decode(first, failure, row)
  end subroutine finish

  !> A failure as a number whose minimum is the lowest row, whatever the order of threads.
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
