!> Restraints and prescribed motion of particles.
module prescriptions
  use kinds, only: dp, i4
  use curves, only: series_vector
  use kind_numbers, only: drive_velocity, drive_acceleration
  use matrix3, only: cross
  use particle_motion, only: map_points_of
  use state_tables, only: model_tables, restraint_table, particle_table
  implicit none
  private
  public :: restrain_velocities, restrain_forces, remove, read_drives, drive_accelerations, drive_velocities

contains

  !> Removes velocities along restrained directions.
  subroutine restrain_velocities(restraints, particles)
    type(restraint_table), intent(in) :: restraints
    type(particle_table), intent(inout) :: particles
    integer(i4) :: p, r

    do r = 0, int(restraints%rows, i4) - 1
      p = restraints%particle(r)
      call remove_restrained(restraints, r, particles%velocity(:,p), particles%spin(:,p))
      if (restraints%angular_count(r) > 0) particles%angular(:,p) = matmul(particles%spin(:,p), particles%rotation(:,:,p))
    end do
  end subroutine restrain_velocities

  !> Removes forces and torques along restrained directions; programs that move particles get their forces.
  subroutine restrain_forces(restraints, particles)
    type(restraint_table), intent(in) :: restraints
    type(particle_table), intent(inout) :: particles
    integer(i4) :: p, r

    do r = 0, int(restraints%rows, i4) - 1
      p = restraints%particle(r)
      if (particles%driven(p) /= 1) call remove_restrained(restraints, r, particles%force(:,p), particles%torque(:,p))
    end do
  end subroutine restrain_forces

  !> Removes the components that a restraint holds from a vector of translation and one of rotation.
  pure subroutine remove_restrained(restraints, r, linear, angular)
    type(restraint_table), intent(in) :: restraints
    integer(i4), intent(in) :: r
    real(dp), intent(inout) :: linear(3), angular(3)

    call remove(restraints%linear(:,:,r), restraints%linear_count(r), linear)
    call remove(restraints%angular(:,:,r), restraints%angular_count(r), angular)
  end subroutine remove_restrained

  !> Removes from a vector its components along orthonormal directions; three directions leave zero.
  pure subroutine remove(directions, count, vector)
    real(dp), intent(in) :: directions(3,3)
    integer(i4), intent(in) :: count
    real(dp), intent(inout) :: vector(3)
    integer :: k

    if (count == 3) then
      vector = 0
      return
    end if
    do k = 1, count
      vector = vector - dot_product(vector, directions(:,k))*directions(:,k)
    end do
  end subroutine remove

  !> Reads prescribed values from their time series.
  subroutine read_drives(model)
    type(model_tables), intent(inout) :: model
    integer(i4) :: d

    associate (drives => model%drives, time => model%control%time(0))
      do d = 0, int(drives%rows, i4) - 1
        call series_vector(model%curves, model%points, drives%linear_curve(:,d), time, drives%linear(:,d))
        call series_vector(model%curves, model%points, drives%angular_curve(:,d), time, drives%angular(:,d))
      end do
    end associate
  end subroutine read_drives

  !> Sets forces and torques for prescribed accelerations; zero for prescribed velocities.
  subroutine drive_accelerations(model)
    type(model_tables), intent(inout) :: model
    integer(i4) :: d, p

    associate (drives => model%drives, particles => model%particles)
      do d = 0, int(drives%rows, i4) - 1
        p = drives%particle(d)
        if (drives%linear_kind(d) == drive_acceleration) particles%force(:,p) = particles%mass(p)*drives%linear(:,d)
        if (drives%linear_kind(d) == drive_velocity) particles%force(:,p) = 0
        if (drives%angular_kind(d) == drive_acceleration) call accelerate_spin(particles, p, drives%angular(:,d))
        if (drives%angular_kind(d) == drive_velocity) particles%torque(:,p) = 0
      end do
    end associate
  end subroutine drive_accelerations

  !> Sets the torque L (J A + W x J W), A = L^T alpha, under which a particle's angular acceleration is alpha.
  subroutine accelerate_spin(particles, p, acceleration)
    type(particle_table), intent(inout) :: particles
    integer(i4), intent(in) :: p
    real(dp), intent(in) :: acceleration(3)       !< spatial
    real(dp) :: gyroscopic(3), momentum(3)

    momentum = matmul(particles%inertia(:,:,p), particles%angular(:,p))
    gyroscopic = cross(particles%angular(:,p), momentum)
    momentum = matmul(particles%inertia(:,:,p), matmul(acceleration, particles%rotation(:,:,p)))
    particles%torque(:,p) = matmul(particles%rotation(:,:,p), momentum + gyroscopic)
  end subroutine accelerate_spin

  !> Sets prescribed velocities, with which positions move in the next step.
  subroutine drive_velocities(model)
    type(model_tables), intent(inout) :: model
    integer(i4) :: d, p

    associate (drives => model%drives, particles => model%particles)
      do d = 0, int(drives%rows, i4) - 1
        p = drives%particle(d)
        if (drives%linear_kind(d) == drive_velocity) particles%velocity(:,p) = drives%linear(:,d)
        if (drives%angular_kind(d) == drive_velocity) then
          particles%spin(:,p) = drives%angular(:,d)
          particles%angular(:,p) = matmul(drives%angular(:,d), particles%rotation(:,:,p))
        end if
        call map_points_of(particles, p)
      end do
    end associate
  end subroutine drive_velocities
end module prescriptions
