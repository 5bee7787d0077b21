!> Forces and torques of particles: gravity, damping, and the sums of what springs and contacts do.
module particle_forces
  use kinds, only: dp, i4
  use curves, only: series_vector
  use explicit_model, only: model_tables
  use matrix3, only: cross
  use particle_motion, only: block_size, few_particles, move
  use state_tables, only: particle_table
  implicit none
  private
  public :: read_loads, sum_forces, sum_and_move, move_all, sum_impulses

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

  !> Forces and torques of all particles.
  subroutine sum_forces(model)
    type(model_tables), intent(inout) :: model
    integer(i4) :: first, n

    n = int(model%particles%rows, i4)
    !$omp parallel do schedule(static) if (n > few_particles)
    do first = 0, n - 1, block_size
      call sum_block(model, first, min(n, first + block_size) - 1)
    end do
  end subroutine sum_forces

  !> Moves all particles under their forces and torques: velocities by a step, positions by a time.
  subroutine move_all(model, step, time)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: step, time
    integer(i4) :: first, n

    n = int(model%particles%rows, i4)
    !$omp parallel do schedule(static) if (n > few_particles)
    do first = 0, n - 1, block_size
      call move(model%particles, first, min(n, first + block_size) - 1, step, time)
    end do
  end subroutine move_all

  !> Both at once, where nothing changes the forces between: each block of particles is read from memory once.
  subroutine sum_and_move(model, step, time)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: step, time
    integer(i4) :: first, last, n

    n = int(model%particles%rows, i4)
    !$omp parallel do private(last) schedule(static) if (n > few_particles)
    do first = 0, n - 1, block_size
      last = min(n, first + block_size) - 1
      call sum_block(model, first, last)
      call move(model%particles, first, last, step, time)
    end do
  end subroutine sum_and_move

  !> Forces and torques of some particles: m g, less m d o v and L J L^T (d o w), and the springs' forces in the order of the ends.
  subroutine sum_block(model, start, finish)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: start, finish
    real(dp) :: force(3), moment(3,3), torque(3)
    integer(i4) :: e, first, last, p

    associate (particles => model%particles, links => model%links, ends => model%ends, control => model%control)
      do p = start, finish
        force = particles%mass(p)*control%gravity(:,0)
        torque = 0
        if (control%damped(0) == 1) then
          force = force - particles%mass(p)*control%linear_damping(:,0)*particles%velocity(:,p)
          torque = control%angular_damping(:,0)*particles%spin(:,p)
          torque = -turned_inertia(particles%rotation(:,:,p), particles%inertia(:,:,p), torque)
        end if
        moment = 0                                  ! sum of a f^T over referential arms a
        first = particles%first_end(p)
        last = first + particles%ends(p) - 1
        if (links%rows > 0) call sum_springs(first, last, ends%link, ends%side, links%force, links%arm, force, moment)
        if (model%torsions%rows == 0) first = last + 1
        do e = first, last
          select case (ends%side(e))
          case (3)
            torque = torque + model%torsions%torque(:,ends%link(e))
          case (4)
            torque = torque - model%torsions%torque(:,ends%link(e))
          end select
        end do
        torque = torque + torque_of(particles%rotation(:,:,p), moment)
        do e = particles%first_contact(p), particles%first_contact(p) + particles%contacts(p) - 1
          call add_contact(model, p, e, force, torque)
        end do
        particles%force(:,p) = force
        particles%torque(:,p) = torque
      end do
    end associate
  end subroutine sum_block

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

  !> Adds the forces f of linear springs on a particle, and the sum of a f^T over their referential arms a.
  pure subroutine sum_springs(first, last, link, side, forces, arms, force, moment)
    integer(i4), intent(in) :: first, last        !< ends of the particle
    integer(i4), intent(in) :: link(0:*), side(0:*)
    real(dp), intent(in) :: forces(3,0:*), arms(3,2,0:*)
    real(dp), intent(inout) :: force(3), moment(3,3)
    real(dp) :: own(3), sense
    integer(i4) :: e, s
    integer :: i

    do e = first, last
      if (side(e) > 2) exit
      s = link(e)
      sense = 3 - 2*side(e)
      own = sense*forces(:,s)
      force = force + own
      do i = 1, 3
        moment(i,1) = moment(i,1) + own(1)*arms(i,side(e),s)
        moment(i,2) = moment(i,2) + own(2)*arms(i,side(e),s)
        moment(i,3) = moment(i,3) + own(3)*arms(i,side(e),s)
      end do
    end do
  end subroutine sum_springs

  !> Sum of L a x f, of the sum of a f^T.
  pure function torque_of(rotation, moment) result(torque)
    real(dp), intent(in) :: rotation(3,3), moment(3,3)
    real(dp) :: torque(3)

    torque(1) = dot_product(rotation(2,:), moment(:,3)) - dot_product(rotation(3,:), moment(:,2))
    torque(2) = dot_product(rotation(3,:), moment(:,1)) - dot_product(rotation(1,:), moment(:,3))
    torque(3) = dot_product(rotation(1,:), moment(:,2)) - dot_product(rotation(2,:), moment(:,1))
  end function torque_of

  !> L J L^T a.
  pure function turned_inertia(rotation, inertia, a) result(b)
    real(dp), intent(in) :: rotation(3,3), inertia(3,3), a(3)
    real(dp) :: b(3)

    b = matmul(rotation, matmul(inertia, matmul(a, rotation)))
  end function turned_inertia
end module particle_forces
