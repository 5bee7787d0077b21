!> Rigid bodies, eight at a time: one step of the schemes RIG_POS, RIG_NEG and RIG_IMP, drift - kick - drift
!> (docs/theory.md, Time integration).
!>
!> Arrays hold eight bodies side by side, as in the body table: conf(nc,8) rotation by columns and centre; velo(nv,8) referential angular
!> velocity W [rad/time], 0 where the rotation is disabled, and velocity of the centre, velo_prev alike; force(nv,8) and
!> reaction(nv,8) referential moments and spatial forces; momentum(nm,8) referential angular momentum; tensor(nt,8) referential
!> inertia J; mass(8).  falls(8) is 1, or 0 for obstacles; turns(8) is 1, or 0 where the rotation is disabled.
!>
!> Vector instructions process one number of eight bodies.  Gathering and scattering these numbers takes more time than the
!> arithmetic, so each loop over bodies loads, computes and stores at once.  The extents nt = 9, nc = 12, nv = 6, nm = 3 are arguments,
!> because compilers vectorise loads at an unknown stride, but not at a constant stride of 12.  There are no
!> conditions in these loops, not even merge().
module rigid
  use kinds, only: dp, i4, i8
  use kind_numbers, only: scheme_positive => scheme_rig_pos, scheme_negative => scheme_rig_neg, scheme_implicit => scheme_rig_imp
  use matrix3, only: cross, multiply, multiply_transposed, inverse, determinant
  use rotation, only: exponential_map, exponential_coefficients, exponential_tangent, nearest_rotation
  implicit none
  private
  public :: rigid_drift, rigid_kick, rigid_finish, rigid_kinetic_energy
  public :: lanes, scheme_positive, scheme_negative, scheme_implicit

  integer, parameter :: lanes = 8

  !> Numbers of Scheme.

  !> Sum of magnitudes of R^T R - I up to which rotations are not corrected.
  real(dp), parameter :: orthogonality_limit = 1e-12_dp

contains

  !> Moves conf(t) -> conf(t+h/2); momentum = D^T J W, D = exp[h/2 W]: the angular momentum of t in the frame of mid-step.
  pure subroutine rigid_drift(nt, nc, nv, nm, step, turns, tensor, conf, velo, momentum, finite)
    integer, intent(in) :: nt, nc, nv, nm
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: turns(lanes), tensor(nt,lanes)
    real(dp), intent(inout) :: conf(nc,lanes), velo(nv,lanes), momentum(nm,lanes)
    logical, intent(inout) :: finite(lanes)       !< false: the state is not finite; none of the eight moves
    real(dp) :: x(lanes), s(lanes), c(lanes), total(lanes)
    real(dp) :: w1, w2, w3, j1, j2, j3, d11, d12, d13, d21, d22, d23, d31, d32, d33, a, b, e
    integer :: i, l

    !$omp simd private(w1, w2, w3)
    do l = 1, lanes
      w1 = turns(l)*velo(1,l)
      w2 = turns(l)*velo(2,l)
      w3 = turns(l)*velo(3,l)
      velo(1,l) = w1
      velo(2,l) = w2
      velo(3,l) = w3
      x(l) = (step/2*w1)*(step/2*w1) + (step/2*w2)*(step/2*w2) + (step/2*w3)*(step/2*w3)
      total(l) = abs(w1) + abs(w2) + abs(w3) + abs(velo(4,l)) + abs(velo(5,l)) + abs(velo(6,l)) &
               + abs(conf(1,l)) + abs(conf(2,l)) + abs(conf(3,l)) + abs(conf(4,l)) + abs(conf(5,l)) + abs(conf(6,l)) &
               + abs(conf(7,l)) + abs(conf(8,l)) + abs(conf(9,l)) + abs(conf(10,l)) + abs(conf(11,l)) + abs(conf(12,l))
    end do
    call find_finite(total, finite)
    if (.not. all(finite)) return
    call exponential_coefficients(x, s, c)
    !$omp simd private(w1, w2, w3, j1, j2, j3, d11, d12, d13, d21, d22, d23, d31, d32, d33, a, b, e)
    do l = 1, lanes
      w1 = velo(1,l)
      w2 = velo(2,l)
      w3 = velo(3,l)
      a = step/2*w1
      b = step/2*w2
      e = step/2*w3
      d11 = 1 - c(l)*(b*b + e*e)
      d22 = 1 - c(l)*(a*a + e*e)
      d33 = 1 - c(l)*(a*a + b*b)
      d21 = c(l)*a*b + s(l)*e
      d12 = c(l)*a*b - s(l)*e
      d31 = c(l)*a*e - s(l)*b
      d13 = c(l)*a*e + s(l)*b
      d32 = c(l)*b*e + s(l)*a
      d23 = c(l)*b*e - s(l)*a
      j1 = tensor(1,l)*w1 + tensor(2,l)*w2 + tensor(3,l)*w3
      j2 = tensor(2,l)*w1 + tensor(5,l)*w2 + tensor(6,l)*w3
      j3 = tensor(3,l)*w1 + tensor(6,l)*w2 + tensor(9,l)*w3
      momentum(1,l) = turns(l)*(d11*j1 + d21*j2 + d31*j3)
      momentum(2,l) = turns(l)*(d12*j1 + d22*j2 + d32*j3)
      momentum(3,l) = turns(l)*(d13*j1 + d23*j2 + d33*j3)
      do i = 1, 3
        a = conf(i,l)
        b = conf(i+3,l)
        e = conf(i+6,l)
        conf(i,l) = a*d11 + b*d21 + e*d31
        conf(i+3,l) = a*d12 + b*d22 + e*d32
        conf(i+6,l) = a*d13 + b*d23 + e*d33
        conf(i+9,l) = conf(i+9,l) + step/2*velo(i+3,l)
      end do
    end do
  end subroutine rigid_drift

  !> Computes J^-1 by cofactors, as 11, 22, 33, 12, 13, 23, which is faster than reading it from memory; 0 where the rotation is
  !> disabled.
  pure subroutine invert_inertia(nt, turns, tensor, inverse_inertia)
    integer, intent(in) :: nt
    real(dp), intent(in) :: turns(lanes), tensor(nt,lanes)
    real(dp), intent(inout) :: inverse_inertia(lanes,6)
    real(dp) :: scale
    integer :: l

    !$omp simd private(scale)
    do l = 1, lanes
      inverse_inertia(l,1) = tensor(5,l)*tensor(9,l) - tensor(6,l)*tensor(6,l)
      inverse_inertia(l,4) = tensor(3,l)*tensor(6,l) - tensor(2,l)*tensor(9,l)
      inverse_inertia(l,5) = tensor(2,l)*tensor(6,l) - tensor(3,l)*tensor(5,l)
      inverse_inertia(l,2) = tensor(1,l)*tensor(9,l) - tensor(3,l)*tensor(3,l)
      inverse_inertia(l,6) = tensor(2,l)*tensor(3,l) - tensor(1,l)*tensor(6,l)
      inverse_inertia(l,3) = tensor(1,l)*tensor(5,l) - tensor(2,l)*tensor(2,l)
      scale = turns(l)/(tensor(1,l)*inverse_inertia(l,1) + tensor(2,l)*inverse_inertia(l,4) + tensor(3,l)*inverse_inertia(l,5))
      inverse_inertia(l,1) = scale*inverse_inertia(l,1)
      inverse_inertia(l,2) = scale*inverse_inertia(l,2)
      inverse_inertia(l,3) = scale*inverse_inertia(l,3)
      inverse_inertia(l,4) = scale*inverse_inertia(l,4)
      inverse_inertia(l,5) = scale*inverse_inertia(l,5)
      inverse_inertia(l,6) = scale*inverse_inertia(l,6)
    end do
  end subroutine invert_inertia

  !> Computes u* from the loads at mid-step in `force`.  `force` becomes the force whose work counts as EXTERNAL: the weight is added.  The
  !> gyroscopic moment does no work; here it lacks what reactions add to W, so that its product with mean velocities would be of first order.  The
  !> full impulse of the applied moment is added to `momentum`.
  pure subroutine rigid_kick(nt, nv, nm, step, gravity, falls, turns, mass, tensor, velo, force, momentum)
    integer, intent(in) :: nt, nv, nm
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: gravity(3)            !< acceleration
    real(dp), intent(in) :: falls(lanes), turns(lanes), mass(lanes), tensor(nt,lanes)
    real(dp), intent(inout) :: velo(nv,lanes), force(nv,lanes), momentum(nm,lanes)
    real(dp) :: inverse_inertia(lanes,6)
    real(dp) :: i1, i2, i3, i12, i13, i23, m1, m2, m3, w1, w2, w3, j1, j2, j3, weight
    integer :: i, l

    call invert_inertia(nt, turns, tensor, inverse_inertia)
    !$omp simd private(i1, i2, i3, i12, i13, i23, m1, m2, m3, w1, w2, w3, j1, j2, j3, weight)
    do l = 1, lanes
      i1 = inverse_inertia(l,1)
      i2 = inverse_inertia(l,2)
      i3 = inverse_inertia(l,3)
      i12 = inverse_inertia(l,4)
      i13 = inverse_inertia(l,5)
      i23 = inverse_inertia(l,6)
      m1 = momentum(1,l) + step/2*force(1,l)
      m2 = momentum(2,l) + step/2*force(2,l)
      m3 = momentum(3,l) + step/2*force(3,l)
      w1 = i1*m1 + i12*m2 + i13*m3        ! W at mid-step
      w2 = i12*m1 + i2*m2 + i23*m3
      w3 = i13*m1 + i23*m2 + i3*m3
      j1 = tensor(1,l)*w1 + tensor(2,l)*w2 + tensor(3,l)*w3
      j2 = tensor(2,l)*w1 + tensor(5,l)*w2 + tensor(6,l)*w3
      j3 = tensor(3,l)*w1 + tensor(6,l)*w2 + tensor(9,l)*w3
      m1 = force(1,l)
      m2 = force(2,l)
      m3 = force(3,l)
      momentum(1,l) = momentum(1,l) + turns(l)*step*m1
      momentum(2,l) = momentum(2,l) + turns(l)*step*m2
      momentum(3,l) = momentum(3,l) + turns(l)*step*m3
      m1 = m1 - (w2*j3 - w3*j2)
      m2 = m2 - (w3*j1 - w1*j3)
      m3 = m3 - (w1*j2 - w2*j1)
      velo(1,l) = velo(1,l) + step*(i1*m1 + i12*m2 + i13*m3)
      velo(2,l) = velo(2,l) + step*(i12*m1 + i2*m2 + i23*m3)
      velo(3,l) = velo(3,l) + step*(i13*m1 + i23*m2 + i3*m3)
      do i = 1, 3
        weight = falls(l)*gravity(i)
        velo(i+3,l) = velo(i+3,l) + step*(weight + force(i+3,l)/mass(l))
        force(i+3,l) = force(i+3,l) + mass(l)*weight
      end do
    end do
  end subroutine rigid_kick

  !> Computes u(t+h) from u* and the reactions by each scheme's rule, conf(t+h/2) -> conf(t+h), the kinetic energy, and the work
  !> h/2 (u(t) + u(t+h)) . (force + reaction) of the step.
  pure subroutine rigid_finish(nt, nc, nv, nm, step, turns, scheme, mass, tensor, velo_prev, force, reaction, conf, velo, &
                               momentum, kinetic, work, finite, converged, regular)
    integer, intent(in) :: nt, nc, nv, nm
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(in) :: scheme(lanes)
    real(dp), intent(in) :: turns(lanes), mass(lanes), tensor(nt,lanes)
    real(dp), intent(in) :: velo_prev(nv,lanes), force(nv,lanes), reaction(nv,lanes)
    real(dp), intent(inout) :: conf(nc,lanes), velo(nv,lanes), momentum(nm,lanes), kinetic(lanes), work(lanes)
    logical, intent(inout) :: finite(lanes)       !< false: a reaction is not finite; none of the eight moves
    logical, intent(inout) :: converged(lanes)    !< false: RIG_IMP found no angular velocity
    logical, intent(inout) :: regular(lanes)      !< false: the rotation is not one (determinant not positive)
    real(dp) :: x(lanes), inverse_inertia(lanes,6), velocity(lanes,3), carried(lanes,3), d(lanes,9)
    integer :: l

    !$omp simd
    do l = 1, lanes
      x(l) = abs(reaction(1,l)) + abs(reaction(2,l)) + abs(reaction(3,l)) &
           + abs(reaction(4,l)) + abs(reaction(5,l)) + abs(reaction(6,l))
    end do
    call find_finite(x, finite)
    if (.not. all(finite)) return
    call invert_inertia(nt, turns, tensor, inverse_inertia)
    call react(nv, nm, step, turns, inverse_inertia, velo, momentum, reaction, velocity, carried)
    converged = .true.
    if (any(scheme == scheme_implicit)) call implicit_velocities(step, scheme, tensor, carried, velocity, converged)
    call half_turns(step, velocity, d)
    call finish_translation(nc, nv, step, mass, velo_prev, force, reaction, conf, velo, work)
    call finish_rotation(nt, nv, nm, step, scheme, mass, tensor, inverse_inertia, carried, velocity, d, velo_prev, force, &
                         reaction, velo, momentum, kinetic, work)
    call turn(nc, d, conf)
    call keep_orthogonal(nc, conf, regular)
  end subroutine rigid_finish

  !> Angular velocities and momenta, as the body carries them from step to step, with the impulses of reactions.
  pure subroutine react(nv, nm, step, turns, inverse_inertia, velo, momentum, reaction, velocity, carried)
    integer, intent(in) :: nv, nm
    real(dp), intent(in) :: step, turns(lanes), inverse_inertia(lanes,6), velo(nv,lanes), momentum(nm,lanes), reaction(nv,lanes)
    real(dp), intent(inout) :: velocity(lanes,3), carried(lanes,3)
    real(dp) :: j1, j2, j3
    integer :: l

    !$omp simd private(j1, j2, j3)
    do l = 1, lanes
      j1 = reaction(1,l)
      j2 = reaction(2,l)
      j3 = reaction(3,l)
      velocity(l,1) = velo(1,l) + step*(inverse_inertia(l,1)*j1 + inverse_inertia(l,4)*j2 + inverse_inertia(l,5)*j3)
      velocity(l,2) = velo(2,l) + step*(inverse_inertia(l,4)*j1 + inverse_inertia(l,2)*j2 + inverse_inertia(l,6)*j3)
      velocity(l,3) = velo(3,l) + step*(inverse_inertia(l,5)*j1 + inverse_inertia(l,6)*j2 + inverse_inertia(l,3)*j3)
      carried(l,1) = momentum(1,l) + turns(l)*step*j1
      carried(l,2) = momentum(2,l) + turns(l)*step*j2
      carried(l,3) = momentum(3,l) + turns(l)*step*j3
    end do
  end subroutine react

  !> exp[h/2 W], as 11, 21, 31, 12, 22, 32, 13, 23, 33.
  pure subroutine half_turns(step, velocity, d)
    real(dp), intent(in) :: step, velocity(lanes,3)
    real(dp), intent(inout) :: d(lanes,9)
    real(dp) :: x(lanes), s(lanes), c(lanes), a, b, e
    integer :: l

    x = (step/2*velocity(:,1))**2 + (step/2*velocity(:,2))**2 + (step/2*velocity(:,3))**2
    call exponential_coefficients(x, s, c)
    !$omp simd private(a, b, e)
    do l = 1, lanes
      a = step/2*velocity(l,1)
      b = step/2*velocity(l,2)
      e = step/2*velocity(l,3)
      d(l,1) = 1 - c(l)*(b*b + e*e)
      d(l,5) = 1 - c(l)*(a*a + e*e)
      d(l,9) = 1 - c(l)*(a*a + b*b)
      d(l,2) = c(l)*a*b + s(l)*e
      d(l,4) = c(l)*a*b - s(l)*e
      d(l,3) = c(l)*a*e - s(l)*b
      d(l,7) = c(l)*a*e + s(l)*b
      d(l,6) = c(l)*b*e + s(l)*a
      d(l,8) = c(l)*b*e - s(l)*a
    end do
  end subroutine half_turns

  !> Velocities and places of mass centres at t+h; work: (v(t) + v(t+h)).(force + reaction).
  pure subroutine finish_translation(nc, nv, step, mass, velo_prev, force, reaction, conf, velo, work)
    integer, intent(in) :: nc, nv
    real(dp), intent(in) :: step, mass(lanes), velo_prev(nv,lanes), force(nv,lanes), reaction(nv,lanes)
    real(dp), intent(inout) :: conf(nc,lanes), velo(nv,lanes), work(lanes)
    real(dp) :: a
    integer :: i, l

    work = 0
    do i = 4, 6
      !$omp simd private(a)
      do l = 1, lanes
        a = velo(i,l) + step/mass(l)*reaction(i,l)
        velo(i,l) = a
        conf(i+6,l) = conf(i+6,l) + step/2*a
        work(l) = work(l) + (velo_prev(i,l) + a)*(force(i,l) + reaction(i,l))
      end do
    end do
  end subroutine finish_translation

  !> Angular velocities at t+h by each scheme's rule, momenta, the kinetic energy, and `work` with its angular part, times h/2.
  pure subroutine finish_rotation(nt, nv, nm, step, scheme, mass, tensor, inverse_inertia, carried, velocity, d, velo_prev, force, &
                                  reaction, velo, momentum, kinetic, work)
    integer, intent(in) :: nt, nv, nm
    integer(i4), intent(in) :: scheme(lanes)
    real(dp), intent(in) :: step, mass(lanes), tensor(nt,lanes), inverse_inertia(lanes,6), carried(lanes,3), velocity(lanes,3)
    real(dp), intent(in) :: d(lanes,9), velo_prev(nv,lanes), force(nv,lanes), reaction(nv,lanes)
    real(dp), intent(inout) :: velo(nv,lanes), momentum(nm,lanes), kinetic(lanes), work(lanes)
    real(dp) :: negative(lanes), w1, w2, w3, j1, j2, j3
    integer :: l

    negative = merge(1.0_dp, 0.0_dp, scheme == scheme_negative)
    !$omp simd private(w1, w2, w3, j1, j2, j3)
    do l = 1, lanes
      ! RIG_NEG: W = J^-1 D^T momentum
      j1 = d(l,1)*carried(l,1) + d(l,2)*carried(l,2) + d(l,3)*carried(l,3)
      j2 = d(l,4)*carried(l,1) + d(l,5)*carried(l,2) + d(l,6)*carried(l,3)
      j3 = d(l,7)*carried(l,1) + d(l,8)*carried(l,2) + d(l,9)*carried(l,3)
      w1 = inverse_inertia(l,1)*j1 + inverse_inertia(l,4)*j2 + inverse_inertia(l,5)*j3
      w2 = inverse_inertia(l,4)*j1 + inverse_inertia(l,2)*j2 + inverse_inertia(l,6)*j3
      w3 = inverse_inertia(l,5)*j1 + inverse_inertia(l,6)*j2 + inverse_inertia(l,3)*j3
      w1 = negative(l)*w1 + (1 - negative(l))*velocity(l,1)
      w2 = negative(l)*w2 + (1 - negative(l))*velocity(l,2)
      w3 = negative(l)*w3 + (1 - negative(l))*velocity(l,3)
      momentum(1,l) = carried(l,1)
      momentum(2,l) = carried(l,2)
      momentum(3,l) = carried(l,3)
      velo(1,l) = w1
      velo(2,l) = w2
      velo(3,l) = w3
      work(l) = step/2*(work(l) + (velo_prev(1,l) + w1)*(force(1,l) + reaction(1,l)) &
                                + (velo_prev(2,l) + w2)*(force(2,l) + reaction(2,l)) &
                                + (velo_prev(3,l) + w3)*(force(3,l) + reaction(3,l)))
      j1 = tensor(1,l)*w1 + tensor(2,l)*w2 + tensor(3,l)*w3
      j2 = tensor(2,l)*w1 + tensor(5,l)*w2 + tensor(6,l)*w3
      j3 = tensor(3,l)*w1 + tensor(6,l)*w2 + tensor(9,l)*w3
      kinetic(l) = (w1*j1 + w2*j2 + w3*j3)/2 &
                 + mass(l)/2*(velo(4,l)*velo(4,l) + velo(5,l)*velo(5,l) + velo(6,l)*velo(6,l))
    end do
  end subroutine finish_rotation

  !> Rotations R become R D.
  pure subroutine turn(nc, d, conf)
    integer, intent(in) :: nc
    real(dp), intent(in) :: d(lanes,9)
    real(dp), intent(inout) :: conf(nc,lanes)
    real(dp) :: a, b, e
    integer :: i, l

    do i = 1, 3
      !$omp simd private(a, b, e)
      do l = 1, lanes
        a = conf(i,l)
        b = conf(i+3,l)
        e = conf(i+6,l)
        conf(i,l) = a*d(l,1) + b*d(l,2) + e*d(l,3)
        conf(i+3,l) = a*d(l,4) + b*d(l,5) + e*d(l,6)
        conf(i+6,l) = a*d(l,7) + b*d(l,8) + e*d(l,9)
      end do
    end do
  end subroutine turn

  !> Corrects rotations that are no longer orthogonal after the round-off of many steps.
  pure subroutine keep_orthogonal(nc, conf, regular)
    integer, intent(in) :: nc
    real(dp), intent(inout) :: conf(nc,lanes)
    logical, intent(inout) :: regular(lanes)
    real(dp) :: error(lanes), turned(3,3)
    integer :: l

    !$omp simd
    do l = 1, lanes
      error(l) = abs(conf(1,l)*conf(1,l) + conf(2,l)*conf(2,l) + conf(3,l)*conf(3,l) - 1) &
               + abs(conf(4,l)*conf(4,l) + conf(5,l)*conf(5,l) + conf(6,l)*conf(6,l) - 1) &
               + abs(conf(7,l)*conf(7,l) + conf(8,l)*conf(8,l) + conf(9,l)*conf(9,l) - 1) &
               + abs(conf(1,l)*conf(4,l) + conf(2,l)*conf(5,l) + conf(3,l)*conf(6,l)) &
               + abs(conf(1,l)*conf(7,l) + conf(2,l)*conf(8,l) + conf(3,l)*conf(9,l)) &
               + abs(conf(4,l)*conf(7,l) + conf(5,l)*conf(8,l) + conf(6,l)*conf(9,l))
    end do
    regular = .true.
    if (all(error <= orthogonality_limit)) return
    do l = 1, lanes
      if (error(l) <= orthogonality_limit) cycle
      turned = reshape(conf(1:9,l), [3, 3])
      call nearest_rotation(turned, regular(l))
      conf(1:9,l) = reshape(turned, [9])
    end do
  end subroutine keep_orthogonal

  !> Computes the angular velocities of the bodies of scheme RIG_IMP; momentum(8,3), velocity(8,3).
  pure subroutine implicit_velocities(step, scheme, tensor, momentum, velocity, converged)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: scheme(lanes)
    real(dp), intent(in) :: tensor(9,lanes)
    real(dp), intent(in) :: momentum(lanes,3)
    real(dp), intent(inout) :: velocity(lanes,3)
    logical, intent(inout) :: converged(lanes)
    real(dp) :: one(3)
    integer :: l

    do l = 1, lanes
      if (scheme(l) /= scheme_implicit) cycle
      one = velocity(l,:)
      call implicit_velocity(step, reshape(tensor(:,l), [3, 3]), momentum(l,:), one, converged(l))
      velocity(l,:) = one
    end do
  end subroutine implicit_velocities

  !> Solves exp[h/2 W] J W = momentum by Newton's method from the given W.  With D = exp[h/2 W] the residual
  !> D J W - momentum has the tangent D (J - h/2 ^(J W) T(h/2 W)), so D drops out of the equation of an increment.
  !> Stops at round-off: the residual is below 1e-14 of the momentum, or does not decrease any more.
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
    if (scale == 0) converged = .true.      ! without momentum the velocity vanishes, to round-off
  end subroutine implicit_velocity

  !> Kinetic energy 1/2 W.J W + 1/2 m |v|**2 of one body, velo(3,2).
  pure real(dp) function rigid_kinetic_energy(mass, inertia, velo) result(energy)
    real(dp), intent(in) :: mass
    real(dp), intent(in) :: inertia(3,3)
    real(dp), intent(in) :: velo(3,2)

    energy = (sum(velo(:,1)*multiply(inertia, velo(:,1))) + mass*sum(velo(:,2)*velo(:,2)))/2
  end function rigid_kinetic_energy

  !> Tests which of eight numbers are finite; the test reads bits, so that builds with checks do not trap.
  pure subroutine find_finite(a, finite)
    real(dp), intent(in) :: a(lanes)
    logical, intent(inout) :: finite(lanes)
    integer :: l

    do l = 1, lanes
      finite(l) = iand(shiftr(transfer(a(l), 0_i8), 52), 2047_i8) /= 2047_i8
    end do
  end subroutine find_finite

end module rigid
