!> Points, bases, gaps and prescribed velocities of the user's constraints in the current configuration
!> (docs/language-objects.md, Constraints).
module user_constraints
  use kinds, only: dp, i4, i8
  use body_state, only: constrained_bodies, open_constrained_bodies
  use state_tables, only: constraint_table, kept_row_table, series_table, open_table
  use table_registry, only: table_open
  use kind_numbers, only: follow => direction_update_follow, by_master => direction_update_conv1, &
    by_slave => direction_update_conv2, frame_of_space, frame_of_direction, frame_between_points, frame_of_spring, &
    frame_of_joint, frame_across_axes, frame_of_wheels, rack => constraint_rack
  use row_families, only: family_of
  use row_family_base, only: row_family, identity
  use velocity_operator, only: finite_element_kind, pseudo_rigid_kind
  use element_frames, only: rotation_at, spin_at
  use matrix3, only: cross
  use point_places, only: spatial_point, referential_point, turned, whirled
  use local_frame, only: frame_of_normal
  use wheels, only: mesh_wheels
  implicit none
  private
  public :: update_user_constraints, keep_rows, find_overloaded

  real(dp), parameter :: aligned = 1e-6_dp         !< the base of a normal closer to e_x is built with e_y

contains

  !> Refreshes the first `users` rows of the constraint table.
  !>
  !> Reads kind, master, slave, slave_point (of a link without slave a fixed spatial point), length and series_rows of constraints, the
  !> number of series and their values at the end of the step, kind, centre, conf_ptr, conf, velo_ptr and velo of bodies.  Writes point and other_point
  !> (finite_element_points writes those on finite element bodies before), base (FIXPNT: identity; VELODIR3: not changed; others: built
  !> on the direction), gap (current length minus reference length of links and springs, else 0), bend, value (prescribed velocities that follow
  !> a series) and master_point of fixed directions between two bodies.
  !>
  !>   handles              BodyTable.handles
  !>   constraints, series, elements   ConstraintTable, SeriesTable, FiniteElements
  !>   step                 length of the step [s]
  !>   direction, update    (3,0:ncon-1), (0:ncon-1) instead of these columns (constraints/element_points.py)
  !>   failed               first row that follows an unknown series (then nothing is written), or -1
  !>   status               `table_open` or `table_unknown`
  subroutine update_user_constraints(handles, constraints, series, elements, users, step, direction, update, failed, status, ncon)
    integer(i8), intent(in) :: handles(3), constraints, series, elements
    integer(i4), intent(in) :: users, ncon
    real(dp), intent(in) :: step, direction(3,0:ncon-1)
    integer(i4), intent(in) :: update(0:ncon-1)
    integer(i4), intent(out) :: failed, status
    type(constrained_bodies) :: state
    type(series_table) :: known
    integer(i4) :: i, j

    failed = -1
    call open_constrained_bodies(handles, elements, constraints, state, status)
    if (status == table_open) call open_table(series, known, status)
    if (status /= table_open) return
    do failed = 0, users - 1
      if (any(state%con%series_rows(:,failed) >= known%n)) return
    end do
    failed = -1
    do i = 0, users - 1
      call update_points(state, i)
      call update_frame(state, i, users, direction(:,i), update(i))
      call update_bend(state, i, step)
      do j = 1, 3
        if (state%con%series_rows(j,i) >= 0) state%con%value(j,i) = known%result(state%con%series_rows(j,i))
      end do
    end do
  end subroutine update_user_constraints

  !> Keeps what `update_user_constraints` writes of the first `users` rows, or puts it back.
  !>
  !>   constraints, kept    ConstraintTable; KeptRowTable with room for these rows
  !>   back                 1: back
  !>   status               `table_open` or `table_unknown`
  subroutine keep_rows(constraints, kept, users, back, status)
    integer(i8), intent(in) :: constraints, kept
    integer(i4), intent(in) :: users, back
    integer(i4), intent(out) :: status
    type(constraint_table) :: rows
    type(kept_row_table) :: other
    integer(i4) :: i

    call open_table(constraints, rows, status)
    if (status == table_open) call open_table(kept, other, status)
    if (status /= table_open) return
    do i = 0, users - 1
      call copy(3, rows%point(:,i), other%point(:,i))
      call copy(3, rows%other_point(:,i), other%other_point(:,i))
      call copy(9, rows%base(:,:,i), other%base(:,:,i))
      call copy(1, rows%gap(i:i), other%gap(i:i))
      call copy(3, rows%master_point(:,i), other%master_point(:,i))
      call copy(1, rows%travel(i:i), other%travel(i:i))
      call copy(3, rows%value(:,i), other%value(:,i))
      call copy(12, rows%levers(:,:,:,i), other%levers(:,:,:,i))
      call copy(3, rows%bend(:,i), other%bend(:,i))
    end do

  contains

    subroutine copy(n, here, there)
      integer, intent(in) :: n
      real(dp), intent(inout) :: here(n), there(n)

      if (back == 0) then
        there = here
      else
        here = there
      end if
    end subroutine copy
  end subroutine keep_rows

  !> Places the points of constraint `i` on its bodies.  Two bodies that slide, in a plane through the slave's point, or as a rack without
  !> elements along its pinion, have the force on the master act there, too.
  subroutine update_points(state, i)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    class(row_family), pointer :: family

    family => family_of(state%con%kind(i))
    associate (m => state%con%master(i), s => state%con%slave(i))
      if (s < 0) then
        state%con%other_point(:,i) = state%con%slave_point(:,i)
      else if (state%bodies%kind(s) /= finite_element_kind) then
        state%con%other_point(:,i) = spatial_point(state%bodies_and_triples, s, state%con%slave_point(:,i))
      end if
      if (state%bodies%kind(m) == finite_element_kind) return
      if ((family%slides .or. state%con%kind(i) == rack) .and. s >= 0) &
        state%con%master_point(:,i) = referential_point(state%bodies_and_triples, m, state%con%other_point(:,i))
      state%con%point(:,i) = spatial_point(state%bodies_and_triples, m, state%con%master_point(:,i))
    end associate
  end subroutine update_points

  !> Base and gap of constraint `i`, whose points are placed.
  subroutine update_frame(state, i, users, direction, update)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i, users, update
    real(dp), intent(in) :: direction(3)
    class(row_family), pointer :: family
    real(dp) :: vector(3), distance

    family => family_of(state%con%kind(i))
    state%con%gap(i) = 0.0_dp
    vector = state%con%point(:,i) - state%con%other_point(:,i)
    select case (family%frame)
    case (frame_of_space)
      state%con%base(:,:,i) = identity
    case (frame_of_direction)
      state%con%base(:,:,i) = frame_of_normal(current_direction(), aligned)
    case (frame_between_points)
      distance = norm2(vector)
      state%con%gap(i) = distance - state%con%length(i)
      ! a link that has shrunk to a point keeps its last direction
      if (distance > 0.0_dp) state%con%base(:,:,i) = frame_of_normal(vector/distance, aligned)
    case (frame_of_spring)
      if (update == follow) then
        distance = norm2(vector)
        vector = merge(vector/max(distance, tiny(1.0_dp)), [0.0_dp, 0.0_dp, 1.0_dp], distance > 0.0_dp)
      else
        distance = dot_product(vector, current_direction())
        vector = current_direction()
      end if
      state%con%gap(i) = distance - state%con%length(i)
      state%con%base(:,:,i) = frame_of_normal(vector, aligned)
    case (frame_of_joint)
      call follow_joint(state, i, vector, family%angular)
    case (frame_across_axes)
      call cross_axes(state, i)
    case (frame_of_wheels)
      call follow_wheels(state, i, users)
    end select

  contains

    !> Direction of row i, convected with one of its bodies if `update` says so.
    pure function current_direction() result(n)
      real(dp) :: n(3)

      select case (update)
      case (by_master)
        n = convected(state%con%master(i))
      case (by_slave)
        n = convected(state%con%slave(i))
      case default
        n = direction
      end select
    end function current_direction

    !> The direction convected with body b.
    pure function convected(b) result(n)
      integer(i4), intent(in) :: b
      real(dp) :: n(3)

      n = turned(state%bodies_and_triples, b, direction)
      n = n/norm2(n)
    end function convected
  end subroutine update_frame

  !> The acceleration of the points of row i by the rotation of their bodies, master less slave.  Joints that prescribe U = -V need
  !> none: the bends of both halves of a step cancel.  Points of deformable bodies move straight on, but an axis that such a body
  !> carries turns about its point.
  subroutine update_bend(state, i, step)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    real(dp), intent(in) :: step
    class(row_family), pointer :: family
    real(dp) :: point(3), spin(3)

    family => family_of(state%con%kind(i))
    if (family%angular .or. (family%joint .and. family%frame /= frame_between_points)) return
    associate (m => state%con%master(i), s => state%con%slave(i), bend => state%con%bend(:,i))
      bend = whirled(state%bodies_and_triples, m, state%con%master_point(:,i), step)
      if (s < 0) return
      if (any(state%bodies%kind(s) == [finite_element_kind, pseudo_rigid_kind])) then
        if (family%carried) then
          spin = spin_at(state, 2, i)
          bend = bend - cross(spin, cross(spin, state%con%point(:,i) - state%con%other_point(:,i)))
        end if
        return
      end if
      point = state%con%slave_point(:,i)
      if (family%carried) point = referential_point(state%bodies_and_triples, s, state%con%point(:,i))
      bend = bend - whirled(state%bodies_and_triples, s, point, step)
    end associate
  end subroutine update_bend

  !> Computes the base of row i, which the slave or space carries, and its coordinate: along n, or about n with turns counted.
  subroutine follow_joint(state, i, apart, angular)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    real(dp), intent(in) :: apart(3)     !< from the slave's point to the master's
    logical, intent(in) :: angular
    real(dp) :: mine(3,2), other(3,2), across(3)

    other = carried_axes(state, i, 2)
    across = cross(other(:,1), other(:,2))
    state%con%base(:,1,i) = other(:,2)
    state%con%base(:,2,i) = across
    state%con%base(:,3,i) = other(:,1)
    if (angular) then
      mine = carried_axes(state, i, 1)
      state%con%gap(i) = nearest_turn(atan2(dot_product(mine(:,2), across), dot_product(mine(:,2), other(:,2))), &
                                      state%con%travel(i))
    else
      state%con%gap(i) = dot_product(apart, other(:,1))
    end if
    state%con%travel(i) = state%con%gap(i)
  end subroutine follow_joint

  !> Computes the base of row i, with n perpendicular to the axes that its sides carry; the gap is the cosine of their angle.
  subroutine cross_axes(state, i)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    real(dp) :: mine(3,2), other(3,2), normal(3)

    mine = carried_axes(state, i, 1)
    other = carried_axes(state, i, 2)
    state%con%gap(i) = dot_product(mine(:,1), other(:,1))
    ! the rate of m.o is (w_m - w_o).(m x o)
    normal = cross(mine(:,1), other(:,1))
    normal = normal/norm2(normal)
    state%con%base(:,1,i) = other(:,1)
    state%con%base(:,2,i) = cross(normal, other(:,1))
    state%con%base(:,3,i) = normal
  end subroutine cross_axes

  !> Computes the levers of wheels in row i (module wheels).
  subroutine follow_wheels(state, i, users)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i, users
    real(dp) :: mine(3,2), other(3,2), lever_arm(3)

    mine = carried_axes(state, i, 1)
    other = carried_axes(state, i, 2)
    lever_arm = 0.0_dp
    if (state%bodies%kind(state%con%master(i)) == finite_element_kind) lever_arm = state%con%other_point(:,i) - state%con%point(:,i)
    call mesh_wheels(state%con, i, users, mine(:,1), other(:,1), lever_arm)
  end subroutine follow_wheels

  !> The axes of row i on one side, as its body carries them; space does not change them.
  function carried_axes(state, i, side) result(carried)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    integer, intent(in) :: side       !< 1 master, 2 slave
    real(dp) :: carried(3,2)

    carried = state%con%axes(:,:,side,i)
    if (side == 1 .or. state%con%slave(i) >= 0) carried = matmul(rotation_at(state, side, i), state%con%axes(:,:,side,i))
  end function carried_axes

  !> The angle nearest to `near` that differs from `angle` by whole turns.
  pure real(dp) function nearest_turn(angle, near)
    real(dp), intent(in) :: angle, near
    real(dp), parameter :: turn = 2*acos(-1.0_dp)
    nearest_turn = angle + turn*anint((near - angle)/turn)
  end function nearest_turn

  !> Marks constraints among the first `users` rows whose load exceeds their strength: |R| of fixed points and the tension of links.
  !>
  !>   kind, strength, reaction   (0:ncon-1), (0:ncon-1), (3,0:ncon-1) columns of the constraint table [force]
  !>   overloaded                 (0:ncon-1) out: 1 for these rows, 0 for the user's other rows
  subroutine find_overloaded(users, ncon, kind, strength, reaction, overloaded, count)
    integer(i4), intent(in) :: users, ncon
    integer(i4), intent(in) :: kind(0:ncon-1)
    real(dp), intent(in) :: strength(0:ncon-1), reaction(3,0:ncon-1)
    integer(i4), intent(inout) :: overloaded(0:ncon-1)
    integer(i4), intent(out) :: count
    class(row_family), pointer :: family
    integer(i4) :: i
    logical :: breaks

    count = 0
    do i = 0, users - 1
      family => family_of(kind(i))
      breaks = family%load(reaction(:,i)) > strength(i)
      overloaded(i) = merge(1, 0, breaks)
      if (breaks) count = count + 1
    end do
  end subroutine find_overloaded

end module user_constraints
