!> Rotations of rigid bodies, eight at a time: one step of the schemes RIG_POS, RIG_NEG and RIG_IMP, drift - kick - drift
!> (theory, "Time integration").
!>
!> In all procedures the first index is that of the body, so that a processor's vector instructions work on eight of them:
!> turned(8,3,3) the rotation; velocity(8,3) the referential angular velocity W [rad/time]; momentum(8,3) the referential
!> angular momentum; moment(8,3) referential moments; inertia(8,6) the referential inertia tensor J as 11, 22, 33, 12, 13,
!> 23, and inverse_inertia(8,6) J^-1, zero for those whose rotation is disabled.
module rigid
  use kinds, only: dp, i4
  use matrix3, only: cross, multiply, multiply_transposed, inverse, determinant
  use rotation, only: exponential_map, exponential_maps, exponential_tangent, nearest_rotation
  implicit none
  private
  public :: rigid_inverse_inertia, rigid_half_step, rigid_free_velocity, rigid_finish, rigid_rotational_energy, rigid_kinetic_energy
  public :: lanes, scheme_positive, scheme_negative, scheme_implicit

  integer, parameter :: lanes = 8

  !> The numbers of Scheme.
  integer(i4), parameter :: scheme_positive = 0, scheme_negative = 1, scheme_implicit = 2

  !> Sum of the entries of R^T R - I, in magnitude, that is left alone.
  real(dp), parameter :: orthogonality_limit = 1e-12_dp

contains

  !> J^-1 by cofactors, times `free`: 1, or 0 where the rotation is disabled.  Found anew in every step, which takes less
  !> time than fetching it from memory.
  pure subroutine rigid_inverse_inertia(inertia, free, inverse_inertia)
    real(dp), intent(in) :: inertia(lanes,6), free(lanes)
    real(dp), intent(inout) :: inverse_inertia(lanes,6)
    real(dp) :: a11, a22, a33, a12, a13, a23, scale
    integer :: l

    !$omp simd private(a11, a22, a33, a12, a13, a23, scale)
    do l = 1, lanes
      a11 = inertia(l,2)*inertia(l,3) - inertia(l,6)*inertia(l,6)
      a12 = inertia(l,5)*inertia(l,6) - inertia(l,4)*inertia(l,3)
      a13 = inertia(l,4)*inertia(l,6) - inertia(l,5)*inertia(l,2)
      a22 = inertia(l,1)*inertia(l,3) - inertia(l,5)*inertia(l,5)
      a23 = inertia(l,4)*inertia(l,5) - inertia(l,1)*inertia(l,6)
      a33 = inertia(l,1)*inertia(l,2) - inertia(l,4)*inertia(l,4)
      scale = free(l)/(inertia(l,1)*a11 + inertia(l,4)*a12 + inertia(l,5)*a13)
      inverse_inertia(l,1) = scale*a11
      inverse_inertia(l,2) = scale*a22
      inverse_inertia(l,3) = scale*a33
      inverse_inertia(l,4) = scale*a12
      inverse_inertia(l,5) = scale*a13
      inverse_inertia(l,6) = scale*a23
    end do
  end subroutine rigid_inverse_inertia

  !> Rotation to mid-step, and the angular momentum J W(t) transported there.
  pure subroutine rigid_half_step(step, inertia, velocity, turned, momentum)
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: inertia(lanes,6)
    real(dp), intent(in) :: velocity(lanes,3)
    real(dp), intent(inout) :: turned(lanes,3,3)
    real(dp), intent(inout) :: momentum(lanes,3)  !< D^T J W, D = exp[h/2 W]
    real(dp) :: turn(lanes,3,3), before(lanes,3)

    call exponential_maps(step/2*velocity, turn)
    call rotate(turn, turned)
    call products(inertia, velocity, before)
    call turn_back(turn, before, momentum)
  end subroutine rigid_half_step

  !> W* from the moments at mid-step; `moment` loses the gyroscopic one, and `momentum` takes in the full impulse of what
  !> was applied.
  pure subroutine rigid_free_velocity(step, inertia, inverse_inertia, velocity, moment, momentum)
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: inertia(lanes,6), inverse_inertia(lanes,6)
    real(dp), intent(inout) :: velocity(lanes,3)
    real(dp), intent(inout) :: moment(lanes,3)
    real(dp), intent(inout) :: momentum(lanes,3)
    real(dp) :: middle(lanes,3), turning(lanes,3)

    call products(inverse_inertia, momentum + step/2*moment, middle)
    momentum = momentum + step*moment
    call products(inertia, middle, turning)
    moment(:,1) = moment(:,1) - (middle(:,2)*turning(:,3) - middle(:,3)*turning(:,2))
    moment(:,2) = moment(:,2) - (middle(:,3)*turning(:,1) - middle(:,1)*turning(:,3))
    moment(:,3) = moment(:,3) - (middle(:,1)*turning(:,2) - middle(:,2)*turning(:,1))
    call products(inverse_inertia, moment, middle)
    velocity = velocity + step*middle
  end subroutine rigid_free_velocity

  !> W(t+h) from W* and the moment of reactions by each scheme's rule, and the rotation at t+h.
  pure subroutine rigid_finish(step, scheme, inertia, inverse_inertia, moment, turned, velocity, momentum, converged, regular)
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(in) :: scheme(lanes)
    real(dp), intent(in) :: inertia(lanes,6), inverse_inertia(lanes,6)
    real(dp), intent(in) :: moment(lanes,3)
    real(dp), intent(inout) :: turned(lanes,3,3)
    real(dp), intent(inout) :: velocity(lanes,3)
    real(dp), intent(inout) :: momentum(lanes,3)
    logical, intent(inout) :: converged(lanes)    !< false: RIG_IMP found no angular velocity
    logical, intent(inout) :: regular(lanes)      !< false: the rotation is not one (determinant not positive)
    real(dp) :: turn(lanes,3,3), change(lanes,3), back(lanes,3)
    integer :: i

    call products(inverse_inertia, moment, change)
    velocity = velocity + step*change
    momentum = momentum + step*moment
    converged = .true.
    if (any(scheme == scheme_implicit)) call implicit_velocities(step, scheme, inertia, momentum, velocity, converged)
    call exponential_maps(step/2*velocity, turn)
    call rotate(turn, turned)
    if (any(scheme == scheme_negative)) then
      call turn_back(turn, momentum, back)
      call products(inverse_inertia, back, change)
      do i = 1, 3
        velocity(:,i) = merge(change(:,i), velocity(:,i), scheme == scheme_negative)
      end do
    end if
    call keep_orthogonal(turned, regular)
  end subroutine rigid_finish

  !> The angular velocities of the bodies of scheme RIG_IMP.
  pure subroutine implicit_velocities(step, scheme, inertia, momentum, velocity, converged)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: scheme(lanes)
    real(dp), intent(in) :: inertia(lanes,6)
    real(dp), intent(in) :: momentum(lanes,3)
    real(dp), intent(inout) :: velocity(lanes,3)
    logical, intent(inout) :: converged(lanes)
    integer, parameter :: entry(9) = [1, 4, 5, 4, 2, 6, 5, 6, 3]
    real(dp) :: one(3)
    integer :: l

    do l = 1, lanes
      if (scheme(l) /= scheme_implicit) cycle
      one = velocity(l,:)
      call implicit_velocity(step, reshape(inertia(l,entry), [3, 3]), momentum(l,:), one, converged(l))
      velocity(l,:) = one
    end do
  end subroutine implicit_velocities

  !> Solves exp[h/2 W] J W = momentum by Newton's method from the given W.  With D = exp[h/2 W] the residual
  !> D J W - momentum has the tangent D (J - h/2 ^(J W) T(h/2 W)), so D drops out of the equation of an increment.
  !> Accepted at round-off: residual below 1e-14 of the momentum, or as good as it gets.
  pure subroutine implicit_velocity(step, inertia, momentum, velocity, converged)
    real(dp), intent(in) :: step
    real(dp), intent(in) :: inertia(3,3)
    real(dp), intent(in) :: momentum(3)
    real(dp), intent(inout) :: velocity(3)
    logical, intent(inout) :: converged
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

  !> Brings rotations back that have left the orthogonal matrices by round-off of many steps.
  pure subroutine keep_orthogonal(q, regular)
    real(dp), intent(inout) :: q(lanes,3,3)
    logical, intent(inout) :: regular(lanes)
    real(dp) :: error(lanes), one(3,3)
    integer :: l

    !$omp simd
    do l = 1, lanes
      ! a sum of magnitudes: the largest of them takes branches
      error(l) = abs(q(l,1,1)*q(l,1,1) + q(l,2,1)*q(l,2,1) + q(l,3,1)*q(l,3,1) - 1) &
               + abs(q(l,1,2)*q(l,1,2) + q(l,2,2)*q(l,2,2) + q(l,3,2)*q(l,3,2) - 1) &
               + abs(q(l,1,3)*q(l,1,3) + q(l,2,3)*q(l,2,3) + q(l,3,3)*q(l,3,3) - 1) &
               + abs(q(l,1,1)*q(l,1,2) + q(l,2,1)*q(l,2,2) + q(l,3,1)*q(l,3,2)) &
               + abs(q(l,1,1)*q(l,1,3) + q(l,2,1)*q(l,2,3) + q(l,3,1)*q(l,3,3)) &
               + abs(q(l,1,2)*q(l,1,3) + q(l,2,2)*q(l,2,3) + q(l,3,2)*q(l,3,3))
    end do
    regular = .true.
    if (all(error <= orthogonality_limit)) return
    do l = 1, lanes
      if (error(l) <= orthogonality_limit) cycle
      one = q(l,:,:)
      call nearest_rotation(one, regular(l))
      q(l,:,:) = one
    end do
  end subroutine keep_orthogonal

  !> 1/2 W.J W
  pure subroutine rigid_rotational_energy(inertia, velocity, energy)
    real(dp), intent(in) :: inertia(lanes,6)
    real(dp), intent(in) :: velocity(lanes,3)
    real(dp), intent(inout) :: energy(lanes)
    real(dp) :: momentum(lanes,3)

    call products(inertia, velocity, momentum)
    energy = (velocity(:,1)*momentum(:,1) + velocity(:,2)*momentum(:,2) + velocity(:,3)*momentum(:,3))/2
  end subroutine rigid_rotational_energy

  !> 1/2 W.J W + 1/2 m |v|**2 of one body, velo(3,2)
  pure real(dp) function rigid_kinetic_energy(mass, inertia, velo) result(energy)
    real(dp), intent(in) :: mass
    real(dp), intent(in) :: inertia(3,3)
    real(dp), intent(in) :: velo(3,2)

    energy = (sum(velo(:,1)*multiply(inertia, velo(:,1))) + mass*sum(velo(:,2)*velo(:,2)))/2
  end function rigid_kinetic_energy

  !> R <- R D
  pure subroutine rotate(turn, turned)
    real(dp), intent(in) :: turn(lanes,3,3)
    real(dp), intent(inout) :: turned(lanes,3,3)
    real(dp) :: a, b, c
    integer :: i, l

    do i = 1, 3
      !$omp simd private(a, b, c)
      do l = 1, lanes
        a = turned(l,i,1)
        b = turned(l,i,2)
        c = turned(l,i,3)
        turned(l,i,1) = a*turn(l,1,1) + b*turn(l,2,1) + c*turn(l,3,1)
        turned(l,i,2) = a*turn(l,1,2) + b*turn(l,2,2) + c*turn(l,3,2)
        turned(l,i,3) = a*turn(l,1,3) + b*turn(l,2,3) + c*turn(l,3,3)
      end do
    end do
  end subroutine rotate

  !> c = A b, A symmetric
  pure subroutine products(a, b, c)
    real(dp), intent(in) :: a(lanes,6), b(lanes,3)
    real(dp), intent(inout) :: c(lanes,3)
    integer :: l

    !$omp simd
    do l = 1, lanes
      c(l,1) = a(l,1)*b(l,1) + a(l,4)*b(l,2) + a(l,5)*b(l,3)
      c(l,2) = a(l,4)*b(l,1) + a(l,2)*b(l,2) + a(l,6)*b(l,3)
      c(l,3) = a(l,5)*b(l,1) + a(l,6)*b(l,2) + a(l,3)*b(l,3)
    end do
  end subroutine products

  !> c = D^T b
  pure subroutine turn_back(turn, b, c)
    real(dp), intent(in) :: turn(lanes,3,3), b(lanes,3)
    real(dp), intent(inout) :: c(lanes,3)
    integer :: l

    !$omp simd
    do l = 1, lanes
      c(l,1) = turn(l,1,1)*b(l,1) + turn(l,2,1)*b(l,2) + turn(l,3,1)*b(l,3)
      c(l,2) = turn(l,1,2)*b(l,1) + turn(l,2,2)*b(l,2) + turn(l,3,2)*b(l,3)
      c(l,3) = turn(l,1,3)*b(l,1) + turn(l,2,3)*b(l,2) + turn(l,3,3)*b(l,3)
    end do
  end subroutine turn_back

end module rigid
