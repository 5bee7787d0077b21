!> Time steps of the explicit engine: Python calls `run` from one output, callback or full memory to the next.
module explicit_steps
  use kinds, only: dp, i4, i8
  use ball_joints, only: joint_reactions, joint_work, prepare_joints
  use critical_steps, only: least_step, particle_step
  use state_tables, only: model_tables, open_model_tables
  use granular_contacts, only: contact_forces, find_touching, move_obstacles, must_search
  use histories, only: sample
  use kind_numbers, only: pause_end, pause_output, pause_room, pause_no_number, pause_search
  use linear_springs, only: spring_forces
  use particle_forces, only: move_all, read_loads, sum_forces, sum_impulses, sum_work
  use particle_motion, only: all_are_numbers, drift, map_points
  use prescriptions, only: drive_accelerations, drive_velocities, read_drives, restrain_forces, restrain_velocities
  use released_springs, only: release_springs
  use spring_waves, only: springs_and_motion
  use table_registry, only: table_open
  use torsion_springs, only: torsion_torques
  implicit none
  private
  public :: begin, run, take_sample, estimate_steps

  !> Steps between two checks that all numbers are finite.
  integer(i8), parameter :: steps_between_looks = 64

contains

  !> Starts a DEM: sets restrained velocities to zero, finds the first of adaptive steps, and moves positions to the middle of the first step.
  subroutine begin(handles, ahead, status, nh)
    integer(i4), intent(in) :: nh
    integer(i8), intent(in) :: handles(nh)        !< Model.handles
    real(dp), intent(in) :: ahead                 !< [time] by which positions are ahead of velocities
    integer(i4), intent(out) :: status
    type(model_tables) :: model
    real(dp) :: time

    call open_model_tables(handles, model, status)
    if (status /= table_open) return
    call restrain_velocities(model%restraints, model%particles)
    if (model%control%adaptive(0) > 0) then         ! strokes of the first step are not known: under the largest slopes, too
      call find_touching(model)
      model%control%step(0) = min(model%control%step(0), model%control%adaptive(0)*min(least_step(model, .true.), &
                                                                                      least_step(model, .false.)))
    end if
    time = 0.5_dp*model%control%step(0) - ahead
    if (.not. abs(time) > 0) return
    call drift(model%particles, time, 0)
    model%control%drifted(0) = model%control%drifted(0) + time
    call move_obstacles(model, time)
  end subroutine begin

  !> Makes steps until an output, a callback or the end is due.
  !>
  !>   most      largest number of steps
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
    logical :: shown                                ! results of springs are needed after the present step

    taken = 0
    reason = pause_end
    call open_model_tables(handles, model, status)
    if (status /= table_open) return
    call prepare_joints(model, work)
    call map_points(model%particles)                ! commands may have set velocities
    associate (control => model%control)
      made = 0
      do while (control%elapsed(0) < control%duration(0) .and. made < most .and. reason == pause_end)
        if (control%followed(0) == 0 .and. control%leads(0) == 1) call follow(model)
        control%followed(0) = 1
        if (must_search(model)) then
          reason = pause_search
          exit
        end if
        shown = shows(model, made + 1 == most)
        call forces(model, work, shown)
        if (control%leads(0) == 1) then
          call sum_impulses(model%particles, control%step(0))
          call sum_work(model%particles, merge(0.5_dp, 1.0_dp, control%steps(0) > 0)*control%drifted(0))
        end if
        next = control%longest(0)
        if (control%adaptive(0) > 0) next = min(next, control%adaptive(0)*least_step(model, .true.))
        call advance(model, control%step(0), next, shown)
        control%followed(0) = 0
        if (is_due(control%time(0), control%sample_interval(0), control%last_sample(0))) then
          control%last_sample(0) = control%last_sample(0) + control%sample_interval(0)
          call sample(model, samples(:,taken))
          if (model%probes%rows > 0) taken = taken + 1
          if (taken == room) reason = pause_room
        end if
        if (is_due(control%time(0), control%output_interval(0), control%last_output(0))) then
          control%last_output(0) = control%last_output(0) + control%output_interval(0)
          reason = pause_output
        end if
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

  !> Moves the particles that another program moves, from where forces were last computed to the middle of the step, as all others have moved.
  !> Forces before and after do half of the work of this motion each; before the first step there are none.
  subroutine follow(model)
    type(model_tables), intent(inout) :: model

    if (model%control%steps(0) > 0) call sum_work(model%particles, 0.5_dp*model%control%drifted(0))
    call drift(model%particles, model%control%drifted(0), 1)
  end subroutine follow

  !> Computes forces of a step, from positions at its middle and velocities at its start.
  subroutine forces(model, work, shown)
    type(model_tables), intent(inout) :: model
    type(joint_work), intent(inout) :: work
    logical, intent(in) :: shown                  !< something reads the springs after this step

    call read_loads(model)
    call read_drives(model)
    call torsion_torques(model, model%control%drifted(0))
    call contact_forces(model, model%control%step(0))
    if (none_between(model)) return                 ! springs are evaluated together with the motion
    call spring_forces(model, model%control%step(0), shown)
    call release_springs(model)
    call sum_forces(model)
    if (model%joints%rows > 0) then
      call drive_accelerations(model)               ! joints follow prescribed motion
      call joint_reactions(model, model%control%step(0), work)
    end if
    call restrain_forces(model%restraints, model%particles, model%control%step(0))
    call drive_accelerations(model)
  end subroutine forces

  !> Whether forces and motion can be computed in one pass.
  !>
  !> No joint, restraint, prescribed motion or other program changes the forces, and neither UNSPRING nor the length of the next
  !> step depends on the springs.
  pure logical function none_between(model)
    type(model_tables), intent(in) :: model

    none_between = model%joints%rows == 0 .and. model%restraints%rows == 0 .and. model%drives%rows == 0 &
                   .and. model%control%leads(0) == 0 .and. model%releases%rows == 0 .and. .not. model%control%adaptive(0) > 0
  end function none_between

  !> Computes velocities at the end of a step, and positions at the middle of the next one.
  subroutine advance(model, step, next, shown)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: step, next            !< lengths of this step and of the next one
    logical, intent(in) :: shown                  !< something reads the springs after this step

    if (none_between(model)) then
      call springs_and_motion(model, step, 0.5_dp*(step + next), shown)
    else
      call move_all(model, step, 0.5_dp*(step + next))
    end if
    model%control%drifted(0) = 0.5_dp*(step + next)
    call drive_velocities(model)
    call move_obstacles(model, 0.5_dp*(step + next))
  end subroutine advance

  !> Whether files, histories, conditions of UNSPRING, the adaptive step or Python need results of springs after the present step.
  logical function shows(model, is_last)
    type(model_tables), intent(in) :: model
    logical, intent(in) :: is_last                !< of this call

    associate (control => model%control)
      shows = is_last .or. control%elapsed(0) + control%step(0) >= control%duration(0) .or. control%adaptive(0) > 0 &
              .or. model%releases%rows > 0 .or. model%spheres%rows > 0 &  ! a search for pairs ends the call before a step
              .or. is_due(control%time(0), control%sample_interval(0), control%last_sample(0)) &
              .or. is_due(control%time(0), control%output_interval(0), control%last_output(0))
    end associate
  end function shows

  !> Whether a time has come; an interval of zero is every step.
  pure logical function is_due(time, interval, last)
    real(dp), intent(in) :: time, interval, last

    is_due = time >= last + interval
  end function is_due

  !> Computes the present values of histories.
  subroutine take_sample(handles, np, values, status, nh)
    integer(i4), intent(in) :: nh, np
    integer(i8), intent(in) :: handles(nh)        !< Model.handles
    real(dp), intent(inout) :: values(0:np-1)
    integer(i4), intent(out) :: status
    type(model_tables) :: model

    call open_model_tables(handles, model, status)
    if (status /= table_open) return
    call sample(model, values)
  end subroutine take_sample

  !> Computes critical steps of all particles from the largest slopes of their springs, with frequencies [1/time] and damping ratios.
  subroutine estimate_steps(handles, n, steps, frequencies, ratios, status, nh)
    integer(i4), intent(in) :: nh, n
    integer(i8), intent(in) :: handles(nh)        !< Model.handles
    real(dp), intent(inout) :: steps(0:n-1), frequencies(0:n-1), ratios(0:n-1)
    integer(i4), intent(out) :: status
    type(model_tables) :: model
    integer(i4) :: p

    call open_model_tables(handles, model, status)
    if (status /= table_open) return
    call find_touching(model)
    do p = 0, n - 1
      call particle_step(model, p, .false., steps(p), frequencies(p), ratios(p))
    end do
  end subroutine estimate_steps
end module explicit_steps
