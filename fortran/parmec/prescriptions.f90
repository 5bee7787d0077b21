!> Restraints and prescribed motion of particles.
module prescriptions
  use kinds, only: dp, i4
  use curves, only: series_vector
  use kind_numbers, only: drive_velocity, drive_acceleration
  use matrix3, only: cross
  use particle_motion, only: map_points_of, turn_faster
  use state_tables, only: model_tables, restraint_table, particle_table
  implicit none
  private
  public :: restrain_velocities, restrain_forces, remove, hold_axes, turning_of_free_axes, read_drives, drive_accelerations, &
            drive_velocities

  !> Corrections of the torque under which a particle does not turn about its axes; each reduces the rest by a part of the angle of a step.
  integer, parameter :: corrections = 4

contains

  !> Removes velocities along restrained directions; particles that another program moves keep those of their bodies.
  subroutine restrain_velocities(restraints, particles)
    type(restraint_table), intent(in) :: restraints
    type(particle_table), intent(inout) :: particles
    integer(i4) :: p, r

    do r = 0, int(restraints%rows, i4) - 1
      p = restraints%particle(r)
      if (particles%driven(p) == 1) cycle
      call remove(restraints%linear(:,:,r), restraints%linear_count(r), particles%velocity(:,p))
      call remove(restraints%angular(:,:,r), restraints%angular_count(r), particles%spin(:,p))
      if (restraints%angular_count(r) > 0) particles%angular(:,p) = matmul(particles%spin(:,p), particles%rotation(:,:,p))
    end do
  end subroutine restrain_velocities

  !> Removes forces along restrained directions, and finds the torques under which particles do not turn about restrained axes; from torques
  !> on particles that another program moves it removes the components about these axes.
  subroutine restrain_forces(restraints, particles, h)
    type(restraint_table), intent(in) :: restraints
    type(particle_table), intent(inout) :: particles
    real(dp), intent(in) :: h                     !< [time]
    integer(i4) :: p, r

    do r = 0, int(restraints%rows, i4) - 1
      p = restraints%particle(r)
      call remove(restraints%linear(:,:,r), restraints%linear_count(r), particles%force(:,p))
      call remove(restraints%angular(:,:,r), restraints%angular_count(r), particles%torque(:,p))
      if (particles%driven(p) == 1) cycle
      call hold_axes(h, restraints%angular(:,:,r), restraints%angular_count(r), particles%rotation(:,:,p), &
                     particles%inertia(:,:,p), particles%inverse_inertia(:,:,p), particles%angular(:,p), particles%torque(:,p))
    end do
  end subroutine restrain_forces

  !> Finds the torque of a particle that does not turn about one axis or two at the end of a step, from one without components along them,
  !> under which it would still turn about axes that are no principal ones, or by its gyroscopic torque.
  pure subroutine hold_axes(h, axes, count, rotation, inertia, inverse, angular, torque)
    real(dp), intent(in) :: h                     !< [time]
    real(dp), intent(in) :: axes(3,3)             !< spatial, orthonormal
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: rotation(3,3), inertia(3,3), inverse(3,3)
    real(dp), intent(in) :: angular(3)            !< at the start of the step
    real(dp), intent(inout) :: torque(3)          !< spatial
    real(dp) :: later(3), share(3,2), spin(3)
    integer :: k, pass

    if (count == 0 .or. count == 3) return
    share = torques_about(axes, count, rotation, inverse)
    do pass = 1, corrections
      later = angular
      call turn_faster(h, rotation, torque, inertia, inverse, later)
      spin = matmul(rotation, later)
      do k = 1, count
        torque = torque - dot_product(axes(:,k), spin)/h*share(:,k)
      end do
    end do
  end subroutine hold_axes

  !> Spatial torques along one axis or two, each of which accelerates the rotation about its own axis by 1 and not about the other one.
  pure function torques_about(axes, count, rotation, inverse) result(torques)
    real(dp), intent(in) :: axes(3,3)             !< spatial, orthonormal
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: rotation(3,3), inverse(3,3)
    real(dp) :: torques(3,2), a(2,2), local(3,2)
    integer :: i, j

    local = matmul(transpose(rotation), axes(:,1:2))
    do j = 1, 2
      do i = 1, 2
        a(i,j) = dot_product(local(:,i), matmul(inverse, local(:,j)))
      end do
    end do
    if (count == 1) then
      torques(:,1) = axes(:,1)/a(1,1)
      torques(:,2) = 0
    else
      torques(:,1) = (a(2,2)*axes(:,1) - a(2,1)*axes(:,2))/(a(1,1)*a(2,2) - a(1,2)*a(2,1))
      torques(:,2) = (a(1,1)*axes(:,2) - a(1,2)*axes(:,1))/(a(1,1)*a(2,2) - a(1,2)*a(2,1))
    end if
  end function torques_about

  !> Inverse inertia of a particle that turns only about axes across the restrained ones: J^-1 - J^-1 L^T S E^T L J^-1, with the axes E and
  !> the torques S that accelerate rotation about them.
  pure function turning_of_free_axes(axes, count, rotation, inverse) result(turning)
    real(dp), intent(in) :: axes(3,3)             !< spatial, orthonormal
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: rotation(3,3), inverse(3,3)
    real(dp) :: turning(3,3), about(3), share(3,2)
    integer :: j, k

    turning = inverse
    if (count == 0) return
    share = torques_about(axes, count, rotation, inverse)
    do k = 1, count
      about = matmul(inverse, matmul(axes(:,k), rotation))
      do j = 1, 3
        turning(:,j) = turning(:,j) - matmul(inverse, matmul(share(:,k), rotation))*about(j)
      end do
    end do
  end function turning_of_free_axes

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
