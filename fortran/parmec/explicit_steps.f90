!> Time steps of the explicit engine: Python calls `run` from one output, callback or full memory to the next.
module explicit_steps
  use kinds, only: dp, i4, i8
  use ball_joints, only: joint_reactions, joint_work, prepare_joints
  use critical_steps, only: least_step, particle_step
  use explicit_model, only: model_tables, open_model
  use granular_contacts, only: contact_forces, find_touching, move_obstacles, must_search
  use histories, only: sample
  use kind_numbers, only: pause_end, pause_output, pause_room, pause_no_number, pause_search
  use linear_springs, only: spring_forces
  use particle_forces, only: read_loads, sum_forces, sum_impulses
  use particle_motion, only: advance_velocities, all_are_numbers, drift
  use prescriptions, only: drive_accelerations, drive_velocities, read_drives, restrain_forces, restrain_velocities
  use released_springs, only: release_springs
  use table_registry, only: table_open
  use torsion_springs, only: torsion_torques
  implicit none
  private
  public :: begin, run, take_sample, estimate_steps

  !> Steps between two looks at whether all numbers are finite.
  integer(i8), parameter :: steps_between_looks = 64

contains

  !> Start of a DEM: restrained velocities vanish; the first one moves positions by half a step.
  subroutine begin(handles, first, status, nh)
    integer(i4), intent(in) :: nh
    integer(i8), intent(in) :: handles(nh)        !< Model.handles
    integer(i4), intent(in) :: first              !< 1: time has not begun
    integer(i4), intent(out) :: status
    type(model_tables) :: model

    call open_model(handles, model, status)
    if (status /= table_open) return
    call restrain_velocities(model%restraints, model%particles)
    if (first /= 1) return
    call drift_by(model, 0.5_dp*model%control%step(0))
    call move_obstacles(model, 0.5_dp*model%control%step(0))
  end subroutine begin

  !> Steps until something is due.
  !>
  !>   most      steps at most
  !>   samples   (probes, room) of histories; `taken` columns are written
  !>   reason    PauseKind
  subroutine run(handles, most, np, room, samples, taken, reason, status, nh)
    integer(i4), intent(in) :: nh, np, room
    integer(i8), intent(in) :: handles(nh)        !< Model.handles
    integer(i8), intent(in) :: most
    real(dp), intent(inout) :: samples(0:np-1,0:room-1)
    integer(i4), intent(out) :: taken
    integer(i4), intent(out) :: reason, status
    type(model_tables) :: model
    type(joint_work) :: work
    integer(i8) :: made
    real(dp) :: next

    taken = 0
    reason = pause_end
    call open_model(handles, model, status)
    if (status /= table_open) return
    call prepare_joints(model, work)
    associate (control => model%control)
      made = 0
      do while (control%elapsed(0) < control%duration(0) .and. made < most .and. reason == pause_end)
        if (control%followed(0) == 0) call drift(model%particles, control%step(0), 1)
        control%followed(0) = 1
        if (must_search(model)) then
          reason = pause_search
          exit
        end if
        call forces(model, work)
        if (control%leads(0) == 1) call sum_impulses(model%particles, control%step(0))
        next = control%step(0)
        if (control%adaptive(0) > 0) next = min(control%longest(0), control%adaptive(0)*least_step(model))
        call move(model, control%step(0), next)
        control%followed(0) = 0
        if (is_due(control%time(0), control%sample_interval(0), control%last_sample(0))) then
          call sample(model, samples(:,taken))
          if (model%probes%rows > 0) taken = taken + 1
          if (taken == room) reason = pause_room
        end if
        if (is_due(control%time(0), control%output_interval(0), control%last_output(0))) reason = pause_output
        control%label(0) = control%time(0)
        control%time(0) = control%time(0) + control%step(0)
        control%elapsed(0) = control%elapsed(0) + control%step(0)
        control%step(0) = next
        control%steps(0) = control%steps(0) + 1
        made = made + 1
        if (mod(control%steps(0), steps_between_looks) == 0) then
          if (.not. all_are_numbers(model%particles)) reason = pause_no_number
        end if
      end do
      if (reason == pause_end .and. .not. all_are_numbers(model%particles)) reason = pause_no_number
    end associate
  end subroutine run

  !> Forces of a step, from positions at its middle and velocities at its start.
  subroutine forces(model, work)
    type(model_tables), intent(inout) :: model
    type(joint_work), intent(inout) :: work

    call read_loads(model)
    call read_drives(model)
    call spring_forces(model, model%control%step(0))
    call torsion_torques(model, model%control%step(0), model%control%drifted(0))
    call release_springs(model)
    call contact_forces(model, model%control%step(0))
    call sum_forces(model)
    if (model%joints%rows > 0) then
      call drive_accelerations(model)               ! joints follow prescribed motion
      call joint_reactions(model, model%control%step(0), work)
    end if
    call restrain_forces(model%restraints, model%particles)
    call drive_accelerations(model)
  end subroutine forces

  !> Velocities at the end of a step, and positions at the middle of the next one.
  subroutine move(model, step, next)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: step, next            !< lengths of this step and of the next one

    call advance_velocities(model%particles, step)
    call drift_by(model, 0.5_dp*(step + next))
    call drive_velocities(model)
    call move_obstacles(model, 0.5_dp*(step + next))
  end subroutine move

  !> Moves positions, and keeps by how much time.
  subroutine drift_by(model, time)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: time

    call drift(model%particles, time, 0)
    model%control%drifted(0) = time
  end subroutine drift_by

  !> Whether a time has come, which then moves on by the interval; an interval of zero is every step.
  logical function is_due(time, interval, last)
    real(dp), intent(in) :: time, interval
    real(dp), intent(inout) :: last

    is_due = time >= last + interval
    if (is_due) last = last + interval
  end function is_due

  !> What histories show now.
  subroutine take_sample(handles, np, values, status, nh)
    integer(i4), intent(in) :: nh, np
    integer(i8), intent(in) :: handles(nh)        !< Model.handles
    real(dp), intent(inout) :: values(0:np-1)
    integer(i4), intent(out) :: status
    type(model_tables) :: model

    call open_model(handles, model, status)
    if (status /= table_open) return
    call sample(model, values)
  end subroutine take_sample

  !> Critical steps of all particles by the largest slopes of their springs, with frequencies [1/time] and damping ratios.
  subroutine estimate_steps(handles, n, steps, frequencies, ratios, status, nh)
    integer(i4), intent(in) :: nh, n
    integer(i8), intent(in) :: handles(nh)        !< Model.handles
    real(dp), intent(inout) :: steps(0:n-1), frequencies(0:n-1), ratios(0:n-1)
    integer(i4), intent(out) :: status
    type(model_tables) :: model
    integer(i4) :: p

    call open_model(handles, model, status)
    if (status /= table_open) return
    call find_touching(model)
    do p = 0, n - 1
      call particle_step(model, p, .false., steps(p), frequencies(p), ratios(p))
    end do
  end subroutine estimate_steps
end module explicit_steps
