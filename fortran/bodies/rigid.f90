!> Rigid bodies: one step of the schemes RIG_POS, RIG_NEG and RIG_IMP, drift - kick - drift (theory, "Time integration").
!>
!> In all procedures: conf(3,4) columns of the rotation and the current centre; velo(3,2) referential angular
!> velocity [rad/time] and velocity of the centre; force and reaction (3,2) referential moment and spatial
!> force; inertia(3,3) the referential inertia tensor J; inverse_inertia(3,3,2) the blocks J^-1 and I/m.
module rigid
  use kinds, only: dp, i4
  use matrix3, only: cross, multiply, multiply_transposed, inverse, determinant
  use rotation, only: exponential_map, exponential_tangent, orthogonality_error, nearest_rotation
  implicit none
  private
  public :: rigid_half_step, rigid_free_velocity, rigid_finish, rigid_kinetic_energy
  public :: scheme_positive, scheme_negative, scheme_implicit

  !> The numbers of Scheme.
  integer(i4), parameter :: scheme_positive = 0, scheme_negative = 1, scheme_implicit = 2

  !> Largest |R^T R - I| that is left alone.
  real(dp), parameter :: orthogonality_limit = 1e-12_dp

contains

  !> conf(t) -> conf(t+h/2), and the referential angular momentum J W(t) transported to mid-step.
  pure subroutine rigid_half_step(step, inertia, conf, velo, momentum)
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: inertia(3,3)
    real(dp), intent(inout) :: conf(3,4)
    real(dp), intent(in) :: velo(3,2)
    real(dp), intent(out) :: momentum(3)          !< D^T J W, D = exp[h/2 W]
    real(dp) :: turn(3,3)

    conf(:,4) = conf(:,4) + step/2*velo(:,2)
    if (all(velo(:,1) == 0)) then
      momentum = 0
    else
      call exponential_map(step/2*velo(:,1), turn)
      call rotate(conf, turn)
      momentum = multiply_transposed(turn, multiply(inertia, velo(:,1)))
    end if
  end subroutine rigid_half_step

  !> u* from the loads at mid-step; `force` becomes the generalised force less the gyroscopic moment, and
  !> `momentum` takes in the full impulse of the applied moment.
  pure subroutine rigid_free_velocity(step, gravity, mass, inertia, inverse_inertia, velo, force, momentum)
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: gravity(3)            !< acceleration [length/time**2]
    real(dp), intent(in) :: mass
    real(dp), intent(in) :: inertia(3,3)
    real(dp), intent(in) :: inverse_inertia(3,3,2)
    real(dp), intent(inout) :: velo(3,2)
    real(dp), intent(inout) :: force(3,2)
    real(dp), intent(inout) :: momentum(3)
    real(dp) :: middle(3), moment(3)

    moment = force(:,1)
    middle = multiply(inverse_inertia(:,:,1), momentum + step/2*moment)
    force(:,1) = moment - cross(middle, multiply(inertia, middle))
    momentum = momentum + step*moment
    velo(:,1) = velo(:,1) + step*multiply(inverse_inertia(:,:,1), force(:,1))
    velo(:,2) = velo(:,2) + step*(gravity + inverse_inertia(1,1,2)*force(:,2))
    force(:,2) = force(:,2) + mass*gravity
  end subroutine rigid_free_velocity

  !> u(t+h) = u* + h A^-1 r, the scheme's rule for the angular velocity, and conf(t+h).
  pure subroutine rigid_finish(scheme, step, inertia, inverse_inertia, reaction, conf, velo, momentum, converged, regular)
    integer(i4), intent(in) :: scheme
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: inertia(3,3)
    real(dp), intent(in) :: inverse_inertia(3,3,2)
    real(dp), intent(in) :: reaction(3,2)
    real(dp), intent(inout) :: conf(3,4)
    real(dp), intent(inout) :: velo(3,2)
    real(dp), intent(inout) :: momentum(3)
    logical, intent(out) :: converged             !< false: RIG_IMP found no angular velocity
    logical, intent(out) :: regular               !< false: the rotation is not one (determinant not positive)
    real(dp) :: turn(3,3)

    converged = .true.
    regular = .true.
    velo(:,2) = velo(:,2) + step*inverse_inertia(1,1,2)*reaction(:,2)
    conf(:,4) = conf(:,4) + step/2*velo(:,2)
    velo(:,1) = velo(:,1) + step*multiply(inverse_inertia(:,:,1), reaction(:,1))
    momentum = momentum + step*reaction(:,1)
    if (scheme == scheme_implicit) call implicit_velocity(step, inertia, momentum, velo(:,1), converged)
    if (all(velo(:,1) == 0) .and. all(momentum == 0)) return
    call exponential_map(step/2*velo(:,1), turn)
    call rotate(conf, turn)
    if (scheme == scheme_negative) then
      velo(:,1) = multiply(inverse_inertia(:,:,1), multiply_transposed(turn, momentum))
    end if
    if (orthogonality_error(conf) > orthogonality_limit) call nearest_rotation(conf, regular)
  end subroutine rigid_finish

  !> Solves exp[h/2 W] J W = momentum by Newton's method from the given W.  With D = exp[h/2 W] the residual
  !> D J W - momentum has the tangent D (J - h/2 ^(J W) T(h/2 W)), so D drops out of the equation of an increment.
  !> Accepted at round-off: residual below 1e-14 of the momentum, or as good as it gets.
  pure subroutine implicit_velocity(step, inertia, momentum, velocity, converged)
    real(dp), intent(in) :: step
    real(dp), intent(in) :: inertia(3,3)
    real(dp), intent(in) :: momentum(3)
    real(dp), intent(inout) :: velocity(3)
    logical, intent(out) :: converged
    real(dp) :: turn(3,3), tangent(3,3), momentum_now(3), residual(3), matrix(3,3), best(3), error, least, scale
    integer :: iteration, j

    converged = .true.
    scale = maxval(abs(momentum))
    if (scale == 0 .and. all(velocity == 0)) return
    least = huge(least)
    best = velocity
    do iteration = 1, 50
      call exponential_map(step/2*velocity, turn)
      momentum_now = multiply(inertia, velocity)
      residual = momentum_now - multiply_transposed(turn, momentum)
      error = maxval(abs(residual))
      if (.not. error < least) then
        ! no further decrease: round-off reached, or no solution nearby
        if (least <= 1e-11_dp*max(scale, maxval(abs(momentum_now)))) exit
      end if
      if (error < least) then
        least = error
        best = velocity
      end if
      if (error <= 1e-14_dp*scale .or. error == 0) exit
      call exponential_tangent(step/2*velocity, tangent)
      do j = 1, 3
        matrix(:,j) = inertia(:,j) - step/2*cross(momentum_now, tangent(:,j))
      end do
      if (abs(determinant(matrix)) <= 1e-14_dp*maxval(abs(matrix))**3) then
        converged = .false.
        return
      end if
      velocity = velocity - multiply(inverse(matrix), residual)
    end do
    velocity = best
    converged = least <= 1e-9_dp*max(scale, maxval(abs(multiply(inertia, best))))
    if (scale == 0) converged = .true.      ! the momentum vanished: so does the velocity, to round-off
  end subroutine implicit_velocity

  !> 1/2 W.J W + 1/2 m |v|**2
  pure real(dp) function rigid_kinetic_energy(mass, inertia, velo) result(energy)
    real(dp), intent(in) :: mass
    real(dp), intent(in) :: inertia(3,3)
    real(dp), intent(in) :: velo(3,2)

    energy = (sum(velo(:,1)*multiply(inertia, velo(:,1))) + mass*sum(velo(:,2)*velo(:,2)))/2
  end function rigid_kinetic_energy

  !> R <- R D for the first three columns of conf.
  pure subroutine rotate(conf, turn)
    real(dp), intent(inout) :: conf(3,4)
    real(dp), intent(in) :: turn(3,3)
    real(dp) :: before(3,3)
    integer :: j

    before = conf(:,1:3)
    do j = 1, 3
      conf(:,j) = before(:,1)*turn(1,j) + before(:,2)*turn(2,j) + before(:,3)*turn(3,j)
    end do
  end subroutine rotate

end module rigid
