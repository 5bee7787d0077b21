!> Motion of rigid particles, eight at a time: the staggered explicit scheme.
!>
!> Velocities belong to the start of a step, positions to its middle.
module particle_motion
  use kinds, only: dp, i4
  use matrix3, only: cross
  use rotation, only: exponential_coefficients, exponential_map
  use state_tables, only: particle_table
  implicit none
  private
  public :: drift, move, map_points, map_points_of, turn_faster, all_are_numbers, few_particles, block_size

  integer, parameter :: lanes = 8
  !> Below so many particles one thread is faster.
  integer(i4), parameter :: few_particles = 512
  !> Particles in a block whose forces are summed and which then move, while they are in the cache; a multiple of the lanes.
  integer(i4), parameter :: block_size = 64

  !> Eight particles.
  type :: batch
    real(dp) :: rotation(lanes,3,3), position(lanes,3), velocity(lanes,3)
    real(dp) :: angular(lanes,3)              !< referential angular velocity
    real(dp) :: spin(lanes,3)                 !< spatial angular velocity
    real(dp) :: swing(lanes,3,3)              !< its cross products with the columns of the rotation
  end type batch

contains

  !> Moves particles by a time with their present velocities: x += h v, L := L exp[h W].
  subroutine drift(particles, h, driven)
    type(particle_table), intent(inout) :: particles
    real(dp), intent(in) :: h                     !< [time]
    integer(i4), intent(in) :: driven             !< 1: those that another program moves; 0: all others
    type(batch) :: now
    integer(i4) :: count, first, n

    n = int(particles%rows, i4)
    !$omp parallel do private(now, count) schedule(static) if (n > few_particles)
    do first = 0, n - 1, lanes
      count = min(lanes, n - first)
      if (all(particles%driven(first:first+count-1) /= driven)) cycle
      call take(particles, first, count, now)
      call drift_batch(h, now)
      call put(particles, first, count, driven, now)
    end do
  end subroutine drift

  !> Computes velocities of some particles after a step under their forces and torques, and moves the particles with them by a time.
  subroutine move(particles, start, last, h, time)
    type(particle_table), intent(inout) :: particles
    integer(i4), intent(in) :: start              !< a multiple of the lanes
    integer(i4), intent(in) :: last
    real(dp), intent(in) :: h                     !< [time] length of the step
    real(dp), intent(in) :: time                  !< by which positions move
    type(batch) :: now
    integer(i4) :: count, first

    do first = start, last, lanes
      count = min(lanes, last + 1 - first)
      call take(particles, first, count, now)
      call accelerate_batch(particles, first, count, h, now)
      call drift_batch(time, now)
      call put(particles, first, count, 0, now)
    end do
  end subroutine move

  !> Reads eight particles from their table; if there are fewer, repeats the last one.
  subroutine take(particles, first, count, now)
    type(particle_table), intent(in) :: particles
    integer(i4), intent(in) :: first, count
    type(batch), intent(inout) :: now

    call lay_nine(first, count, particles%rotation, now%rotation)
    call lay_three(first, count, particles%position, now%position)
    call lay_three(first, count, particles%velocity, now%velocity)
    call lay_three(first, count, particles%angular, now%angular)
  end subroutine take

  !> Transposes vectors of eight particles: one component of all after another.
  pure subroutine lay_three(first, count, column, across)
    integer(i4), intent(in) :: first, count
    real(dp), intent(in) :: column(3,0:*)
    real(dp), intent(inout) :: across(lanes,3)
    integer :: i, l

    if (count == lanes) then
      do i = 1, 3
        !$omp simd
        do l = 1, lanes
          across(l,i) = column(i,first + l - 1)
        end do
      end do
    else
      do l = 1, lanes
        across(l,:) = column(:,first + min(l, count) - 1)
      end do
    end if
  end subroutine lay_three

  !> Transposes matrices of eight particles: one component of all after another.  One procedure for both sizes would slow steps of
  !> large models by 6 %.
  pure subroutine lay_nine(first, count, column, across)
    integer(i4), intent(in) :: first, count
    real(dp), intent(in) :: column(9,0:*)
    real(dp), intent(inout) :: across(lanes,9)
    integer :: i, l

    if (count == lanes) then
      do i = 1, 9
        !$omp simd
        do l = 1, lanes
          across(l,i) = column(i,first + l - 1)
        end do
      end do
    else
      do l = 1, lanes
        across(l,:) = column(:,first + min(l, count) - 1)
      end do
    end if
  end subroutine lay_nine

  !> Computes velocities of eight particles after a step.
  !>
  !> v += h f/m;  T = L^T t;  Wh = J^-1 (exp[-h/2 W] J W + h/2 T);  W += h J^-1 (T - Wh x J Wh).
  subroutine accelerate_batch(particles, first, count, h, now)
    type(particle_table), intent(in) :: particles
    integer(i4), intent(in) :: first, count
    real(dp), intent(in) :: h
    type(batch), intent(inout) :: now
    real(dp) :: change(lanes), force(lanes,3), torque(lanes,3), inertia(lanes,3,3), inverse(lanes,3,3), turns(lanes)
    real(dp) :: a(lanes,3), b(lanes,3), half(lanes,3), momentum(lanes,3), referential(lanes,3), c(lanes), s(lanes), x(lanes)
    integer(i4) :: i, l, p

    do l = 1, lanes
      p = first + min(l, count) - 1
      change(l) = h/particles%mass(p)
      turns(l) = merge(0.0_dp, h, particles%steered(p) == 1)
    end do
    call lay_three(first, count, particles%force, force)
    call lay_three(first, count, particles%torque, torque)
    call lay_nine(first, count, particles%inertia, inertia)
    call lay_nine(first, count, particles%inverse_inertia, inverse)
    a = -0.5_dp*h*now%angular
    x = a(:,1)*a(:,1) + a(:,2)*a(:,2) + a(:,3)*a(:,3)
    call exponential_coefficients(x, s, c)
    do i = 1, 3
      now%velocity(:,i) = now%velocity(:,i) + change*force(:,i)
      referential(:,i) = now%rotation(:,1,i)*torque(:,1) + now%rotation(:,2,i)*torque(:,2) + now%rotation(:,3,i)*torque(:,3)
    end do
    call multiply(inertia, now%angular, momentum)
    call cross_all(a, momentum, b)
    call cross_all(a, b, half)
    do i = 1, 3
      b(:,i) = momentum(:,i) + s*b(:,i) + c*half(:,i) + 0.5_dp*h*referential(:,i)
    end do
    call multiply(inverse, b, half)
    call multiply(inertia, half, momentum)
    call cross_all(half, momentum, b)
    call multiply(inverse, referential - b, a)
    do i = 1, 3
      now%angular(:,i) = now%angular(:,i) + turns*a(:,i)
    end do
  end subroutine accelerate_batch

  !> Moves eight particles by a time.
  subroutine drift_batch(h, now)
    real(dp), intent(in) :: h
    type(batch), intent(inout) :: now
    real(dp) :: a(lanes,3), c(lanes), one, s(lanes), turn(3,3), two, three, x(lanes)
    integer(i4) :: i, l

    a = h*now%angular
    x = a(:,1)*a(:,1) + a(:,2)*a(:,2) + a(:,3)*a(:,3)
    call exponential_coefficients(x, s, c)
    !$omp simd private(turn, one, two, three, i)
    do l = 1, lanes
      turn(1,1) = 1 - c(l)*(a(l,2)*a(l,2) + a(l,3)*a(l,3))
      turn(2,2) = 1 - c(l)*(a(l,1)*a(l,1) + a(l,3)*a(l,3))
      turn(3,3) = 1 - c(l)*(a(l,1)*a(l,1) + a(l,2)*a(l,2))
      turn(2,1) = c(l)*a(l,1)*a(l,2) + s(l)*a(l,3)
      turn(1,2) = c(l)*a(l,1)*a(l,2) - s(l)*a(l,3)
      turn(3,1) = c(l)*a(l,1)*a(l,3) - s(l)*a(l,2)
      turn(1,3) = c(l)*a(l,1)*a(l,3) + s(l)*a(l,2)
      turn(3,2) = c(l)*a(l,2)*a(l,3) + s(l)*a(l,1)
      turn(2,3) = c(l)*a(l,2)*a(l,3) - s(l)*a(l,1)
      do i = 1, 3
        now%position(l,i) = now%position(l,i) + h*now%velocity(l,i)
        one = now%rotation(l,i,1)
        two = now%rotation(l,i,2)
        three = now%rotation(l,i,3)
        now%rotation(l,i,1) = one*turn(1,1) + two*turn(2,1) + three*turn(3,1)
        now%rotation(l,i,2) = one*turn(1,2) + two*turn(2,2) + three*turn(3,2)
        now%rotation(l,i,3) = one*turn(1,3) + two*turn(2,3) + three*turn(3,3)
        now%spin(l,i) = now%rotation(l,i,1)*now%angular(l,1) + now%rotation(l,i,2)*now%angular(l,2) &
                        + now%rotation(l,i,3)*now%angular(l,3)
      end do
      do i = 1, 3
        now%swing(l,1,i) = now%spin(l,2)*now%rotation(l,3,i) - now%spin(l,3)*now%rotation(l,2,i)
        now%swing(l,2,i) = now%spin(l,3)*now%rotation(l,1,i) - now%spin(l,1)*now%rotation(l,3,i)
        now%swing(l,3,i) = now%spin(l,1)*now%rotation(l,2,i) - now%spin(l,2)*now%rotation(l,1,i)
      end do
    end do
  end subroutine drift_batch

  !> Stores eight particles: only those that another program moves, or only the others.
  subroutine put(particles, first, count, driven, now)
    type(particle_table), intent(inout) :: particles
    integer(i4), intent(in) :: first, count, driven
    type(batch), intent(in) :: now

    call put_columns(first, count, driven, now, particles%driven, particles%rotation, particles%position, particles%velocity, &
                     particles%angular, particles%spin, particles%point_map)
  end subroutine put

  !> Stores eight particles in columns.
  pure subroutine put_columns(first, count, wanted, now, driven, rotation, position, velocity, angular, spin, map)
    integer(i4), intent(in) :: first, count, wanted
    type(batch), intent(in) :: now
    integer(i4), intent(in) :: driven(0:*)
    real(dp), intent(inout) :: rotation(3,3,0:*), position(3,0:*), velocity(3,0:*), angular(3,0:*), spin(3,0:*), map(8,4,0:*)
    integer :: i, j
    integer(i4) :: l, p

    do l = 1, count
      p = first + l - 1
      if (driven(p) /= wanted) cycle
      do j = 1, 3
        do i = 1, 3
          rotation(i,j,p) = now%rotation(l,i,j)
          map(i,j,p) = now%rotation(l,i,j)
          map(4+i,j,p) = now%swing(l,i,j)
        end do
        position(j,p) = now%position(l,j)
        velocity(j,p) = now%velocity(l,j)
        angular(j,p) = now%angular(l,j)
        spin(j,p) = now%spin(l,j)
        map(j,4,p) = now%position(l,j)
        map(4+j,4,p) = now%velocity(l,j)
      end do
    end do
  end subroutine put_columns

  !> Computes b = A a of eight matrices.
  pure subroutine multiply(matrix, a, b)
    real(dp), intent(in) :: matrix(lanes,3,3), a(lanes,3)
    real(dp), intent(out) :: b(lanes,3)
    integer :: i

    do i = 1, 3
      b(:,i) = matrix(:,i,1)*a(:,1) + matrix(:,i,2)*a(:,2) + matrix(:,i,3)*a(:,3)
    end do
  end subroutine multiply

  !> Computes c = a x b of eight vectors.
  pure subroutine cross_all(a, b, c)
    real(dp), intent(in) :: a(lanes,3), b(lanes,3)
    real(dp), intent(out) :: c(lanes,3)

    c(:,1) = a(:,2)*b(:,3) - a(:,3)*b(:,2)
    c(:,2) = a(:,3)*b(:,1) - a(:,1)*b(:,3)
    c(:,3) = a(:,1)*b(:,2) - a(:,2)*b(:,1)
  end subroutine cross_all

  !> Updates the point maps of all particles.
  subroutine map_points(particles)
    type(particle_table), intent(inout) :: particles
    integer(i4) :: p

    !$omp parallel do schedule(static) if (particles%rows > few_particles)
    do p = 0, int(particles%rows, i4) - 1
      call map_points_of(particles, p)
    end do
  end subroutine map_points

  !> Computes the map of referential arms to positions and velocities of a particle's points: [L, x] and [w x L, v].
  subroutine map_points_of(particles, p)
    type(particle_table), intent(inout) :: particles
    integer(i4), intent(in) :: p
    real(dp) :: map(8,4), spin(3)
    integer :: j

    map(4,:) = 0
    map(8,:) = 0
    spin = particles%spin(:,p)
    do j = 1, 3
      map(1:3,j) = particles%rotation(:,j,p)
      map(5,j) = spin(2)*map(3,j) - spin(3)*map(2,j)
      map(6,j) = spin(3)*map(1,j) - spin(1)*map(3,j)
      map(7,j) = spin(1)*map(2,j) - spin(2)*map(1,j)
    end do
    map(1:3,4) = particles%position(:,p)
    map(5:7,4) = particles%velocity(:,p)
    particles%point_map(:,:,p) = map
  end subroutine map_points_of

  !> Computes a particle's referential angular velocity after a step without reactions, for joints.
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
