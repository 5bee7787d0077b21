!> Steps of models in which only springs act between particles: springs and particles in one pass.
!>
!> A particle can move as soon as all springs on it have been evaluated.  Springs are in the order of their lower particles.  So after
!> the springs whose lower particle is below p, all particles below p can move, while their data are still in the processor's cache:
!> each number passes through memory once a step.  Each thread has a range of particles; springs that reach beyond it are evaluated before
!> all others.  The same instructions process every spring and every particle once, whatever the number of threads.
module spring_waves
!$ use omp_lib, only: omp_get_num_threads, omp_get_thread_num
  use kinds, only: dp, i4, i8
  use ordered_lists, only: first_not_below
  use state_tables, only: model_tables
  use linear_springs, only: batch_forces, forces_of_batches
  use particle_forces, only: sum_block
  use particle_motion, only: block_size, few_particles, move
  implicit none
  private
  public :: springs_and_motion

  !> Cost of a particle's motion over the cost of an end of a spring, for the split among threads.
  integer(i8), parameter :: weight_of_motion = 4

contains

  !> Computes forces of springs and velocities after a step, and moves particles with them by a time.
  subroutine springs_and_motion(model, step, time, shown)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: step, time
    logical, intent(in) :: shown                  !< lengths, strokes and forces along the axes are stored for all springs
    integer(i4) :: me, team

    !$omp parallel private(me, team) if (model%particles%rows > few_particles)
    me = 0
    team = 1
!$  me = omp_get_thread_num()
!$  team = omp_get_num_threads()
    if (team > 1) call springs_across(model, team, step, shown)
    call advance_range(model, start_of(model, me, team), start_of(model, me + 1, team), step, time, shown)
    !$omp end parallel
  end subroutine springs_and_motion

  !> Computes forces of springs whose particles are in different ranges; all threads of a team share the work.
  subroutine springs_across(model, team, step, shown)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: team
    real(dp), intent(in) :: step
    logical, intent(in) :: shown
    integer(i4) :: k, next, range

    range = 0
    next = start_of(model, 1, team)
    !$omp do schedule(static, 16)
    do k = 0, int(model%batches%rows, i4) - 1
      do while (model%batches%low(k) >= next .and. range < team - 1)
        range = range + 1
        next = start_of(model, range + 1, team)
      end do
      if (model%batches%high(k) >= next) call batch_forces(model, k, step, shown)
    end do
  end subroutine springs_across

  !> Computes forces of springs between the particles start .. past-1, and moves these particles.
  subroutine advance_range(model, start, past, step, time, shown)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: start, past
    real(dp), intent(in) :: step, time
    logical, intent(in) :: shown
    integer(i4) :: first, k, last, next

    k = first_batch(model, start)
    do first = start, past - 1, block_size
      last = min(past, first + block_size) - 1
      next = k
      do while (next < model%batches%rows)
        if (model%batches%low(next) > last) exit
        next = next + 1
      end do
      call forces_of_batches(model, k, next - 1, past, step, shown)
      k = next
      call sum_block(model, first, last)
      call move(model%particles, first, last, step, time)
    end do
  end subroutine advance_range

  !> First particle of a range; ranges have equal work and begin with a block.
  pure integer(i4) function start_of(model, range, ranges) result(start)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: range, ranges
    integer(i4) :: high, low, middle, n
    integer(i8) :: wanted

    n = int(model%particles%rows, i4)
    start = 0
    if (range == 0) return
    start = n
    if (range == ranges) return
    wanted = (model%ends%rows + weight_of_motion*n)*range/ranges
    low = 0
    high = (n + block_size - 1)/block_size          ! blocks below `low` have less than the intended work before them
    do while (low < high)
      middle = (low + high)/2
      if (model%particles%first_end(middle*block_size) + weight_of_motion*middle*block_size < wanted) then
        low = middle + 1
      else
        high = middle
      end if
    end do
    start = min(n, low*block_size)
  end function start_of

  !> First batch without particles below a number.
  pure integer(i4) function first_batch(model, particle) result(low)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: particle

    low = first_not_below(model%batches%low, 0, int(model%batches%rows, i4), particle)
  end function first_batch
end module spring_waves
