!> Forces and torques of particles: gravity, damping, and the sums of what springs and contacts do.
module particle_forces
  use kinds, only: dp, i4
  use curves, only: series_vector
  use explicit_model, only: model_tables
  use matrix3, only: cross
  use particle_motion, only: few_particles
  use state_tables, only: particle_table
  implicit none
  private
  public :: read_loads, sum_forces, sum_impulses

contains

  !> Takes gravity and damping from their time series.
  subroutine read_loads(model)
    type(model_tables), intent(inout) :: model

    associate (control => model%control)
      call take(control%gravity_curve(:,0), control%gravity(:,0))
      call take(control%linear_damping_curve(:,0), control%linear_damping(:,0))
      call take(control%angular_damping_curve(:,0), control%angular_damping(:,0))
    end associate

  contains

    subroutine take(series, vector)
      integer(i4), intent(in) :: series(3)
      real(dp), intent(inout) :: vector(3)

      call series_vector(model%curves, model%points, series, model%control%time(0), vector)
    end subroutine take
  end subroutine read_loads

  !> Force and torque of every particle: m g, less m d o v and L J L^T (d o w), and the springs' forces in the order of the ends.
  subroutine sum_forces(model)
    type(model_tables), intent(inout) :: model
    real(dp) :: force(3), torque(3)
    integer(i4) :: e, p, link

    associate (particles => model%particles, links => model%links, ends => model%ends, control => model%control)
      !$omp parallel do private(force, torque, e, link) schedule(static) if (particles%rows > few_particles)
      do p = 0, int(particles%rows, i4) - 1
        force = particles%mass(p)*control%gravity(:,0)
        torque = 0
        if (control%damped(0) == 1) then
          force = force - particles%mass(p)*control%linear_damping(:,0)*particles%velocity(:,p)
          torque = control%angular_damping(:,0)*particles%spin(:,p)
          torque = -turned_inertia(particles%rotation(:,:,p), particles%inertia(:,:,p), torque)
        end if
        do e = particles%first_end(p), particles%first_end(p) + particles%ends(p) - 1
          link = ends%link(e)
          select case (ends%side(e))
          case (1)
            force = force + links%force(:,link)
            torque = torque + links%torque(:,1,link)
          case (2)
            force = force - links%force(:,link)
            torque = torque + links%torque(:,2,link)
          case (3)
            torque = torque + model%torsions%torque(:,link)
          case (4)
            torque = torque - model%torsions%torque(:,link)
          end select
        end do
        do e = particles%first_contact(p), particles%first_contact(p) + particles%contacts(p) - 1
          call add_contact(model, p, e, force, torque)
        end do
        particles%force(:,p) = force
        particles%torque(:,p) = torque
      end do
    end associate
  end subroutine sum_forces

  !> Adds what forces and torques do in a step to particles that another program moves.
  subroutine sum_impulses(particles, h)
    type(particle_table), intent(inout) :: particles
    real(dp), intent(in) :: h                     !< [time]
    integer(i4) :: p

    !$omp parallel do schedule(static) if (particles%rows > few_particles)
    do p = 0, int(particles%rows, i4) - 1
      if (particles%driven(p) == 0) cycle
      particles%impulse(:,p) = particles%impulse(:,p) + h*particles%force(:,p)
      particles%angular_impulse(:,p) = particles%angular_impulse(:,p) + h*particles%torque(:,p)
      particles%work(p) = particles%work(p) + h*(dot_product(particles%force(:,p), particles%velocity(:,p)) &
                                                 + dot_product(particles%torque(:,p), particles%spin(:,p)))
    end do
  end subroutine sum_impulses

  !> Adds the force of a contact and its torque about a particle's mass centre.
  subroutine add_contact(model, p, e, force, torque)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: p, e
    real(dp), intent(inout) :: force(3), torque(3)
    real(dp) :: own(3)
    integer(i4) :: c

    c = model%contact_ends%contact(e)
    if (model%contacts%alive(c) == 0) return
    own = model%contacts%force(:,c)
    if (model%contact_ends%side(e) == 2) own = -own
    force = force + own
    torque = torque + cross(model%contacts%point(:,c) - model%particles%position(:,p), own)
  end subroutine add_contact

  !> L J L^T a.
  pure function turned_inertia(rotation, inertia, a) result(b)
    real(dp), intent(in) :: rotation(3,3), inertia(3,3), a(3)
    real(dp) :: b(3)

    b = matmul(rotation, matmul(inertia, matmul(a, rotation)))
  end function turned_inertia
end module particle_forces
