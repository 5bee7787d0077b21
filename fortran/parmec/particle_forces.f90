!> Forces and torques of particles: gravity, damping, and sums over springs and contacts.
module particle_forces
  use kinds, only: dp, i4
  use curves, only: series_vector
  use particle_motion, only: block_size, few_particles, move
  use state_tables, only: model_tables, particle_table
  implicit none
  private
  public :: read_loads, sum_forces, sum_block, move_all, sum_impulses, sum_work

contains

  !> Reads gravity and damping from their time series.
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

  !> Computes forces and torques of all particles.
  subroutine sum_forces(model)
    type(model_tables), intent(inout) :: model
    integer(i4) :: first, n

    n = int(model%particles%rows, i4)
    !$omp parallel do schedule(static) if (n > few_particles)
    do first = 0, n - 1, block_size
      call sum_block(model, first, min(n, first + block_size) - 1)
    end do
  end subroutine sum_forces

  !> Advances all particles under their forces and torques: velocities by a step, positions by a time.
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

  !> Computes forces and torques of some particles: m g, less m d o v and L J L^T (d o w), springs in the order of the ends, contacts.
  subroutine sum_block(model, start, finish)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: start, finish

    associate (particles => model%particles)
      call weigh(start, finish, model%control%gravity(:,0), particles%mass, particles%force, particles%torque)
      if (model%control%damped(0) == 1) call damp(model, start, finish)
      if (model%torsions%rows > 0) call add_torsions(start, finish, particles%first_end, particles%ends, model%ends%end, &
                                                     model%torsions%torque, particles%torque)
      if (model%links%rows > 0) call add_springs(start, finish, particles%first_end, particles%ends, model%ends%end, &
                                                 model%links%pull, model%links%lever, particles%rotation, particles%force, &
                                                 particles%torque)
      if (model%contacts%rows == 0) return
      call add_contacts(start, finish, particles%first_contact, particles%contacts, model%contact_ends%contact, &
                        model%contact_ends%side, model%contacts%alive, model%contacts%point, model%contacts%force, &
                        particles%position, particles%force, particles%torque)
    end associate
  end subroutine sum_block

  !> Sets forces to gravity and torques to zero.
  pure subroutine weigh(start, finish, gravity, mass, force, torque)
    integer(i4), intent(in) :: start, finish
    real(dp), intent(in) :: gravity(3), mass(0:*)
    real(dp), intent(inout) :: force(3,0:*), torque(3,0:*)
    integer(i4) :: p

    do p = start, finish
      force(1,p) = mass(p)*gravity(1)
      force(2,p) = mass(p)*gravity(2)
      force(3,p) = mass(p)*gravity(3)
      torque(1,p) = 0
      torque(2,p) = 0
      torque(3,p) = 0
    end do
  end subroutine weigh

  !> Subtracts damping: m d o v, and L J L^T (d o w).
  subroutine damp(model, start, finish)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: start, finish
    integer(i4) :: p

    associate (particles => model%particles, control => model%control)
      do p = start, finish
        particles%force(:,p) = particles%force(:,p) - particles%mass(p)*control%linear_damping(:,0)*particles%velocity(:,p)
        particles%torque(:,p) = particles%torque(:,p) - turned_inertia(particles%rotation(:,:,p), particles%inertia(:,:,p), &
                                                                       control%angular_damping(:,0)*particles%spin(:,p))
      end do
    end associate
  end subroutine damp

  !> Adds the impulses of forces and torques in a step, for particles that another program moves.
  subroutine sum_impulses(particles, h)
    type(particle_table), intent(inout) :: particles
    real(dp), intent(in) :: h                     !< [time]
    integer(i4) :: p

    !$omp parallel do schedule(static) if (particles%rows > few_particles)
    do p = 0, int(particles%rows, i4) - 1
      if (particles%driven(p) == 0) cycle
      particles%impulse(:,p) = particles%impulse(:,p) + h*particles%force(:,p)
      particles%angular_impulse(:,p) = particles%angular_impulse(:,p) + h*particles%torque(:,p)
    end do
  end subroutine sum_impulses

  !> Adds the work of present forces and torques at present velocities in a time, for particles that another program moves.
  subroutine sum_work(particles, time)
    type(particle_table), intent(inout) :: particles
    real(dp), intent(in) :: time
    integer(i4) :: p

    !$omp parallel do schedule(static) if (particles%rows > few_particles)
    do p = 0, int(particles%rows, i4) - 1
      if (particles%driven(p) == 0) cycle
      particles%work(p) = particles%work(p) + time*(dot_product(particles%force(:,p), particles%velocity(:,p)) &
                                                    + dot_product(particles%torque(:,p), particles%spin(:,p)))
    end do
  end subroutine sum_work

  !> Adds the forces of contacts on some particles, and their torques about the mass centres.
  pure subroutine add_contacts(start, finish, first_end, counts, ends, sides, alive, points, forces, position, force, torque)
    integer(i4), intent(in) :: start, finish
    integer(i4), intent(in) :: first_end(0:*), counts(0:*), ends(0:*), sides(0:*), alive(0:*)
    real(dp), intent(in) :: points(3,0:*), forces(3,0:*), position(3,0:*)
    real(dp), intent(inout) :: force(3,0:*), torque(3,0:*)
    real(dp) :: arm(3), own(3), sense, total(3), turning(3)
    integer(i4) :: c, e, p

    do p = start, finish
      total = force(:,p)
      turning = torque(:,p)
      do e = first_end(p), first_end(p) + counts(p) - 1
        c = ends(e)
        if (alive(c) == 0) cycle
        sense = 3 - 2*sides(e)
        own = sense*forces(:,c)
        arm = points(:,c) - position(:,p)
        total = total + own
        turning(1) = turning(1) + (arm(2)*own(3) - arm(3)*own(2))
        turning(2) = turning(2) + (arm(3)*own(1) - arm(1)*own(3))
        turning(3) = turning(3) + (arm(1)*own(2) - arm(2)*own(1))
      end do
      force(:,p) = total
      torque(:,p) = turning
    end do
  end subroutine add_contacts

  !> Adds the forces of linear springs on some particles, and their torques.
  pure subroutine add_springs(start, finish, first_end, counts, ends, pulls, arms, rotation, force, torque)
    integer(i4), intent(in) :: start, finish
    integer(i4), intent(in) :: first_end(0:*), counts(0:*)
    integer(i4), intent(in) :: ends(0:*)          !< 2 s, or 2 s + 1, of spring s; below zero: of a torsion spring
    real(dp), intent(in) :: pulls(4,0:*), arms(3,0:*), rotation(3,3,0:*)
    real(dp), intent(inout) :: force(3,0:*), torque(3,0:*)
    real(dp) :: moments(4,4,block_size)           ! of all particles first: what is read at once after it was stored waits for the store
    integer(i4) :: p

    do p = start, finish
      call sum_springs(counts(p), ends(first_end(p)), pulls, arms, moments(1,1,1+p-start))
    end do
    do p = start, finish
      force(1,p) = force(1,p) + moments(1,4,1+p-start)
      force(2,p) = force(2,p) + moments(2,4,1+p-start)
      force(3,p) = force(3,p) + moments(3,4,1+p-start)
      call add_torque(rotation(1,1,p), moments(1,1,1+p-start), torque(1,p))
    end do
  end subroutine add_springs

  !> Computes sums over the linear springs on a particle: of f a^T with referential arms a, in columns 1..3, and of the forces f, in column 4.
  !>
  !> Vectors have a fourth number, zero, for vector instructions.
  pure subroutine sum_springs(count, ends, pulls, arms, total)
    integer(i4), intent(in) :: count
    integer(i4), intent(in) :: ends(count)
    real(dp), intent(in) :: pulls(4,0:*), arms(3,0:*)
    real(dp), intent(out) :: total(4,4)
    real(dp), parameter :: senses(0:1) = [1.0_dp, -1.0_dp]
    real(dp) :: f(4), fx(4), fy(4), fz(4), own, sense  ! arrays of one vector register each
    integer(i4) :: e, end
    integer :: i

    !$omp simd
    do i = 1, 4
      fx(i) = 0
      fy(i) = 0
      fz(i) = 0
      f(i) = 0
    end do
    do e = 1, count
      end = ends(e)
      if (end < 0) exit
      sense = senses(iand(end, 1))
      !$omp simd private(own)
      do i = 1, 4
        own = sense*pulls(i,shiftr(end, 1))
        fx(i) = fx(i) + own*arms(1,end)
        fy(i) = fy(i) + own*arms(2,end)
        fz(i) = fz(i) + own*arms(3,end)
        f(i) = f(i) + own
      end do
    end do
    !$omp simd
    do i = 1, 4
      total(i,1) = fx(i)
      total(i,2) = fy(i)
      total(i,3) = fz(i)
      total(i,4) = f(i)
    end do
  end subroutine sum_springs

  !> Adds the sum of L a x f, computed from the sum of f a^T.
  pure subroutine add_torque(rotation, moment, torque)
    real(dp), intent(in) :: rotation(3,3), moment(4,4)
    real(dp), intent(inout) :: torque(3)
    integer :: k

    do k = 1, 3
      torque(1) = torque(1) + (rotation(2,k)*moment(3,k) - rotation(3,k)*moment(2,k))
      torque(2) = torque(2) + (rotation(3,k)*moment(1,k) - rotation(1,k)*moment(3,k))
      torque(3) = torque(3) + (rotation(1,k)*moment(2,k) - rotation(2,k)*moment(1,k))
    end do
  end subroutine add_torque

  !> Adds the torques of torsion springs on some particles.
  pure subroutine add_torsions(start, finish, first_end, counts, ends, torques, torque)
    integer(i4), intent(in) :: start, finish
    integer(i4), intent(in) :: first_end(0:*), counts(0:*)
    integer(i4), intent(in) :: ends(0:*)          !< -1 - 2 s, or -2 - 2 s, of torsion spring s; others are linear springs'
    real(dp), intent(in) :: torques(3,0:*)
    real(dp), intent(inout) :: torque(3,0:*)
    integer(i4) :: e, end, p

    do p = start, finish
      do e = first_end(p), first_end(p) + counts(p) - 1
        end = -1 - ends(e)
        if (end >= 0) torque(:,p) = torque(:,p) + (1 - 2*iand(end, 1))*torques(:,shiftr(end, 1))
      end do
    end do
  end subroutine add_torsions

  !> Product L J L^T a.
  pure function turned_inertia(rotation, inertia, a) result(b)
    real(dp), intent(in) :: rotation(3,3), inertia(3,3), a(3)
    real(dp) :: b(3)

    b = matmul(rotation, matmul(inertia, matmul(a, rotation)))
  end function turned_inertia
end module particle_forces
