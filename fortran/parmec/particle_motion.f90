!> Motion of rigid particles: the staggered explicit scheme.
!>
!> Velocities belong to the start of a step, positions to its middle.
module particle_motion
  use kinds, only: dp, i4
  use matrix3, only: cross
  use rotation, only: exponential_map
  use state_tables, only: particle_table
  implicit none
  private
  public :: drift, advance_velocities, turn_faster, all_are_numbers, few_particles

  !> Below so many particles one thread is faster.
  integer(i4), parameter :: few_particles = 512

contains

  !> Moves particles by a time with their present velocities: x += h v, L := L exp[h W].
  subroutine drift(particles, h, driven)
    type(particle_table), intent(inout) :: particles
    real(dp), intent(in) :: h                     !< [time]
    integer(i4), intent(in) :: driven             !< 1: those that another program moves; 0: all others
    real(dp) :: turn(3,3)
    integer(i4) :: p

    !$omp parallel do private(turn) schedule(static) if (particles%rows > few_particles)
    do p = 0, int(particles%rows, i4) - 1
      if (particles%driven(p) /= driven) cycle
      particles%position(:,p) = particles%position(:,p) + h*particles%velocity(:,p)
      if (any(abs(particles%angular(:,p)) > 0)) then
        call exponential_map(h*particles%angular(:,p), turn)
        particles%rotation(:,:,p) = matmul(particles%rotation(:,:,p), turn)
      end if
      particles%spin(:,p) = matmul(particles%rotation(:,:,p), particles%angular(:,p))
    end do
  end subroutine drift

  !> Velocities after a step under the forces and torques of the particles.
  !>
  !> T = L^T t;  Wh = J^-1 (exp[-h/2 W] J W + h/2 T);  W += h J^-1 (T - Wh x J Wh).
  subroutine advance_velocities(particles, h)
    type(particle_table), intent(inout) :: particles
    real(dp), intent(in) :: h                     !< [time]
    integer(i4) :: p

    !$omp parallel do schedule(static) if (particles%rows > few_particles)
    do p = 0, int(particles%rows, i4) - 1
      if (particles%driven(p) == 1) cycle
      particles%velocity(:,p) = particles%velocity(:,p) + (h/particles%mass(p))*particles%force(:,p)
      if (particles%steered(p) == 1) cycle
      call turn_faster(h, particles%rotation(:,:,p), particles%torque(:,p), particles%inertia(:,:,p), &
                       particles%inverse_inertia(:,:,p), particles%angular(:,p))
    end do
  end subroutine advance_velocities

  !> The same of one particle's referential angular velocity.
  pure subroutine turn_faster(h, rotation, torque, inertia, inverse, angular)
    real(dp), intent(in) :: h
    real(dp), intent(in) :: rotation(3,3)
    real(dp), intent(in) :: torque(3)             !< spatial
    real(dp), intent(in) :: inertia(3,3), inverse(3,3)
    real(dp), intent(inout) :: angular(3)
    real(dp) :: back(3,3), half(3), momentum(3), referential(3)

    if (.not. any(abs(angular) > 0) .and. .not. any(abs(torque) > 0)) return
    referential = matmul(torque, rotation)
    call exponential_map(-0.5_dp*h*angular, back)
    momentum = matmul(inertia, angular)
    half = matmul(inverse, matmul(back, momentum) + 0.5_dp*h*referential)
    momentum = matmul(inertia, half)
    angular = angular + h*matmul(inverse, referential - cross(half, momentum))
  end subroutine turn_faster

  !> Whether the sum of all positions and velocities is a finite number.
  pure logical function all_are_numbers(particles)
    type(particle_table), intent(in) :: particles
    real(dp) :: total
    integer(i4) :: p

    total = 0
    do p = 0, int(particles%rows, i4) - 1
      total = max(total, abs(particles%position(1,p)), abs(particles%position(2,p)), abs(particles%position(3,p)))
      if (.not. abs(sum(particles%velocity(:,p)) + sum(particles%angular(:,p)) + total) < huge(total)) then
        all_are_numbers = .false.
        return
      end if
    end do
    all_are_numbers = .true.
  end function all_are_numbers
end module particle_motion
