!> Velocities at the end of a step of obstacles, and of rigid bodies without contacts, whose motion the user's constraints prescribe.
!>
!> Contacts do not act on obstacles, so their velocities are known before contacts are found.
module driven_motion
  use kinds, only: dp, i4, i8
  use body_state, only: constrained_bodies, open_constrained_bodies
  use drive_rows, only: motor_prescribes, motor_target
  use joint_rows, only: joint_target, prescribed_target
  use kind_numbers, only: obstacle => body_obstacle, rigid => body_rigid, axial => constraint_axial, &
    torsional => constraint_torsional, along_direction => constraint_velodir, along_all => constraint_velodir3
  use row_family_base, only: prepared_row
  use row_operator, only: operator_of
  use table_registry, only: table_open
  implicit none
  private
  public :: change_velocities

  integer, parameter :: components = 6                 !< of a body's velocity
  real(dp), parameter :: rounding = 1.0e-13_dp         !< relative to the velocities of a row: smaller changes are round-off
  real(dp), parameter :: dependent = 1.0e-5_dp         !< part of the square of a row that others do not hold: solvers hardly see it
  real(dp), parameter :: met = 1.0e-4_dp               !< relative to the velocities of a row: others meet it
  integer(i4), parameter :: left_alone = -1            !< place of bodies that are not driven

  !> Velocities that a body's rows have prescribed so far.
  type :: driven_body
    integer(i4) :: body
    logical :: contradictory = .false.                 !< solvers find velocities between those that rows prescribe
    integer :: held = 0                                !< independent components of these rows
    real(dp) :: row(components,components)             !< covectors of these components, without what those before hold
    real(dp) :: response(components,components)        !< A^-1 g
    real(dp) :: square(components)                     !< g A^-1 g
    real(dp) :: change(components) = 0
  end type driven_body

contains

  !> Computes by what constraints change the velocities of obstacles, and of driven rigid bodies, in this step, with the least kinetic energy of
  !> the change.
  !>
  !> Constraints that are no prescribed motions, such as springs and motors of limited effort, are left out, as are links to
  !> other bodies, and bodies whose constraints contradict one another.
  !>
  !> Reads of bodies kind, centre, pointers, conf, velo (u*), velo_prev, inverse_inertia; all of constraints.
  !>
  !>   bodies, constraints, elements   handles (BodyTable.handles, ConstraintTable.handle, FiniteElements.handle)
  !>   users                        the user's constraints, which come first in the table
  !>   asked                        (3,0:nkind-1) by kinds of constraints, 1: components that are prescribed
  !>   drives                       (0:nkind-1) 1: kinds that drive rigid bodies
  !>   step                         h [time], of dynamics
  !>   body, change                 (0:count-1) out: bodies that change their velocities, and by what; room for one per
  !>                                constraint
  !>   status                       `table_open` or `table_unknown`
  subroutine change_velocities(bodies, constraints, elements, users, nkind, asked, drives, step, room, body, change, count, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements
    integer(i4), intent(in) :: users, nkind, room
    integer(i4), intent(in) :: asked(3,0:nkind-1), drives(0:nkind-1)
    real(dp), intent(in) :: step
    integer(i4), intent(inout) :: body(0:room-1)
    real(dp), intent(inout) :: change(6,0:room-1)
    integer(i4), intent(out) :: count, status
    type(constrained_bodies), target :: state
    type(driven_body), allocatable :: driven(:)
    integer(i4), allocatable :: place(:)
    integer(i4) :: i, k, found

    count = 0
    call open_constrained_bodies(bodies, elements, constraints, state, status)
    if (status /= table_open) return
    allocate(driven(room), place(0:state%n-1))
    place = left_alone
    do i = 0, users - 1
      if (is_driven(state, i, drives)) place(state%con%master(i)) = 0
    end do
    found = 0
    do i = 0, users - 1
      k = state%con%master(i)
      if (place(k) == left_alone .or. state%con%slave(i) >= 0) cycle
      if (place(k) == 0) then
        found = found + 1
        place(k) = found
        driven(found)%body = k
      end if
      call drive(state, i, asked(:,state%con%kind(i)), step, driven(place(k)))
    end do
    do i = 1, found
      if (driven(i)%contradictory .or. .not. any(abs(driven(i)%change) > 0.0_dp)) cycle
      body(count) = driven(i)%body
      change(:,count) = driven(i)%change
      count = count + 1
    end do
  end subroutine change_velocities

  !> Whether constraint i, on one body, drives it: an obstacle by any constraint.
  pure logical function is_driven(state, i, drives)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i, drives(0:)

    associate (kind => state%bodies%kind(state%con%master(i)))
      is_driven = state%con%slave(i) < 0 .and. (kind == obstacle .or. kind == rigid .and. drives(state%con%kind(i)) /= 0)
    end associate
  end function is_driven

  !> Lets a body move as constraint i prescribes.
  subroutine drive(state, i, asked, step, driven)
    type(constrained_bodies), target, intent(in) :: state
    integer(i4), intent(in) :: i, asked(3)
    real(dp), intent(in) :: step
    type(driven_body), intent(inout) :: driven
    type(prepared_row) :: row
    real(dp) :: h(3,3,8), target(3)
    integer(i4) :: count, t(8)
    integer :: c
    logical :: acts(3)

    call operator_of(state, driven%body, 1, i, state%con%master_point(:,i), count, h, t)
    row%dynamic = 1
    row%step = step
    row%constraint = i
    row%constraints => state%con
    associate (velo => state%triples%velo, before => state%triples%velo_prev)
      row%v = matmul(h(:,:,1), before(:,t(1))) + matmul(h(:,:,2), before(:,t(2)))
      acts = asked /= 0
      target = 0.0_dp
      select case (state%con%kind(i))
      case (along_direction)
        target = prescribed_target(row, [0.0_dp, 0.0_dp, state%con%value(1,i)])
      case (along_all)
        target = prescribed_target(row, state%con%value(:,i))
      case (axial, torsional)
        acts = [.false., .false., motor_prescribes(state%con, i)]
        if (acts(3)) target(3) = motor_target(row)
        if (state%con%kind(i) == torsional) target(3) = target(3)*state%con%length(i)
      case default
        target = joint_target(row)
      end select
      do c = 1, 3
        if (acts(c)) call hold([h(c,:,1), h(c,:,2)], target(c), [velo(:,t(1)), velo(:,t(2))], &
          state%triples%inverse_inertia(:,:,t(1)), state%triples%inverse_inertia(:,:,t(2)), driven)
      end do
    end associate
  end subroutine drive

  !> Adds the change of velocity with which g u = target, without a change in the rows before; g is zero where rotations are
  !> disabled.
  pure subroutine hold(g, target, velocity, angular, linear, driven)
    real(dp), intent(in) :: g(components), target, velocity(components), angular(3,3), linear(3,3)
    type(driven_body), intent(inout) :: driven
    real(dp) :: response(components), rest(components), part, whole, lack, terms
    integer :: k

    response = [matmul(angular, g(1:3)), matmul(linear, g(4:6))]
    rest = g
    whole = dot_product(g, response)
    do k = 1, driven%held
      part = dot_product(rest, driven%response(:,k))/driven%square(k)
      rest = rest - part*driven%row(:,k)
      response = response - part*driven%response(:,k)
    end do
    part = dot_product(rest, response)
    lack = target - dot_product(g, velocity + driven%change)
    terms = abs(target) + norm2(g(1:3))*(norm2(velocity(1:3)) + norm2(driven%change(1:3))) + &
      norm2(g(4:6))*(norm2(velocity(4:6)) + norm2(driven%change(4:6)))
    if (driven%held == components .or. .not. part > dependent*whole) then
      if (abs(lack) > met*terms) driven%contradictory = .true.
      return
    end if
    driven%held = driven%held + 1
    driven%row(:,driven%held) = rest
    driven%response(:,driven%held) = response
    driven%square(driven%held) = part
    if (abs(lack) <= rounding*terms) return
    driven%change = driven%change + lack/part*response
  end subroutine hold
end module driven_motion
