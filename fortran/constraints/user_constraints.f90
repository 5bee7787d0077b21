!> Points, bases, gaps and prescribed velocities of the user's constraints in the current configuration (manual: FIX_POINT,
!> FIX_DIRECTION, SET_VELOCITY, PUT_RIGID_LINK, PUT_SPRING).
module user_constraints
  use kinds, only: dp, i4
  use kind_numbers, only: fixpnt => constraint_fixpnt, fixdir => constraint_fixdir, velodir => constraint_velodir, &
    link => constraint_riglnk, spring => constraint_spring, follow => direction_update_follow, &
    by_master => direction_update_conv1, by_slave => direction_update_conv2
  use velocity_operator, only: pseudo_rigid_kind, finite_element_kind
  use matrix3, only: inverse, multiply, multiply_transposed
  use local_frame, only: frame_of_normal
  implicit none
  private
  public :: update_user_constraints, find_overloaded

  real(dp), parameter :: aligned = 1e-6_dp         !< a normal this close to e_x takes e_y to build its base

contains

  !> Refreshes the first `users` rows of the constraint table.
  !>
  !>   kind, master, slave           (0:ncon-1) ConstraintKind and body rows; slave -1: none
  !>   master_point, slave_point     (3,0:ncon-1) referential points; of a link without slave a fixed spatial point; the
  !>                                 master's one is renewed where a direction is fixed between two bodies
  !>   length                        (0:ncon-1) reference length of links and springs
  !>   direction, update             (3,0:ncon-1) unit, (0:ncon-1) DirectionUpdate: FIXED in space, convected with a body
  !>                                 (then referential), or FOLLOW: from slave to master
  !>   series                        (3,0:ncon-1) time series of prescribed velocities, -1: constant
  !>   series_value                  (0:nseries-1) their values at the end of the step
  !>   body_kind, centre, conf_ptr   (0:nbody-1); conf (3,0:nconf-1): configuration triples of bodies
  !>   point, other_point            (3,0:ncon-1) out: current points on master and slave; those on finite element bodies
  !>                                 have been found before (finite_element_points)
  !>   base                          (3,3,0:ncon-1) out: identity (FIXPNT), built on the direction, or untouched (VELODIR3)
  !>   gap                           (0:ncon-1) out: current length minus reference length (links, springs), else 0
  !>   value                         (3,0:ncon-1) out: prescribed velocities that follow a series
  !>   failed                        first row that follows a series beyond `known` ones, or -1; nothing is done then
  subroutine update_user_constraints(users, ncon, kind, master, slave, master_point, slave_point, length, &
                                     direction, update, known, series, nseries, series_value, &
                                     nbody, body_kind, centre, conf_ptr, nconf, conf, point, other_point, base, gap, value, &
                                     failed)
    integer(i4), intent(in) :: users, known, ncon
    integer(i4), intent(in) :: kind(0:ncon-1), master(0:ncon-1), slave(0:ncon-1)
    real(dp), intent(inout) :: master_point(3,0:ncon-1)
    real(dp), intent(in) :: slave_point(3,0:ncon-1), length(0:ncon-1), direction(3,0:ncon-1)
    integer(i4), intent(in) :: update(0:ncon-1), series(3,0:ncon-1)
    integer(i4), intent(in) :: nseries
    real(dp), intent(in) :: series_value(0:nseries-1)
    integer(i4), intent(in) :: nbody
    integer(i4), intent(in) :: body_kind(0:nbody-1)
    real(dp), intent(in) :: centre(3,0:nbody-1)
    integer(i4), intent(in) :: conf_ptr(0:nbody-1)
    integer(i4), intent(in) :: nconf
    real(dp), intent(in) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: point(3,0:ncon-1), other_point(3,0:ncon-1), base(3,3,0:ncon-1), gap(0:ncon-1)
    real(dp), intent(inout) :: value(3,0:ncon-1)
    integer(i4), intent(out) :: failed
    real(dp) :: vector(3), distance
    integer(i4) :: i, j, m, s

    do failed = 0, users - 1
      if (any(series(:,failed) >= known)) return
    end do
    failed = -1
    do i = 0, users - 1
      m = master(i)
      s = slave(i)
      if (s < 0) then
        other_point(:,i) = slave_point(:,i)
      else if (body_kind(s) /= finite_element_kind) then
        other_point(:,i) = spatial_point(body_kind(s), conf(:,conf_ptr(s):conf_ptr(s)+3), centre(:,s), slave_point(:,i))
      end if
      ! two bodies slide in a plane through the slave's point: the force acts on the master there as well
      if (kind(i) == fixdir .and. s >= 0) &
        master_point(:,i) = referential_point(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+3), centre(:,m), other_point(:,i))
      if (body_kind(m) /= finite_element_kind) &
        point(:,i) = spatial_point(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+3), centre(:,m), master_point(:,i))
      gap(i) = 0.0_dp
      vector = point(:,i) - other_point(:,i)
      select case (kind(i))
      case (fixpnt)
        base(:,:,i) = reshape([1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp], [3, 3])
      case (fixdir, velodir)
        base(:,:,i) = frame_of_normal(current_direction(i, m, s), aligned)
      case (link)
        distance = norm2(vector)
        gap(i) = distance - length(i)
        ! a link that has shrunk to a point keeps its last direction
        if (distance > 0.0_dp) base(:,:,i) = frame_of_normal(vector/distance, aligned)
      case (spring)
        if (update(i) == follow) then
          distance = norm2(vector)
          vector = merge(vector/max(distance, tiny(1.0_dp)), [0.0_dp, 0.0_dp, 1.0_dp], distance > 0.0_dp)
        else
          distance = dot_product(vector, current_direction(i, m, s))
          vector = current_direction(i, m, s)
        end if
        gap(i) = distance - length(i)
        base(:,:,i) = frame_of_normal(vector, aligned)
      end select
      do j = 1, 3
        if (series(j,i) >= 0) value(j,i) = series_value(series(j,i))
      end do
    end do

  contains

    !> The direction of row i, convected with one of its bodies if it is to be.
    pure function current_direction(i, m, s) result(n)
      integer(i4), intent(in) :: i, m, s
      real(dp) :: n(3)
      select case (update(i))
      case (by_master)
        n = convected(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+2), direction(:,i))
      case (by_slave)
        n = convected(body_kind(s), conf(:,conf_ptr(s):conf_ptr(s)+2), direction(:,i))
      case default
        n = direction(:,i)
      end select
    end function current_direction
  end subroutine update_user_constraints

  !> Unit direction that a body has carried along.
  pure function convected(kind, gradient, direction) result(n)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: gradient(3,3), direction(3)
    real(dp) :: n(3)
    if (kind == pseudo_rigid_kind) then   ! rows of the gradient
      n = multiply_transposed(gradient, direction)
    else                                  ! columns of the rotation
      n = multiply(gradient, direction)
    end if
    n = n/norm2(n)
  end function convected

  !> Current place of a referential point.
  pure function spatial_point(kind, conf, centre, point) result(x)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4), centre(3), point(3)
    real(dp) :: x(3)
    if (kind == pseudo_rigid_kind) then
      x = conf(:,4) + multiply_transposed(conf(:,1:3), point - centre)
    else
      x = conf(:,4) + multiply(conf(:,1:3), point - centre)
    end if
  end function spatial_point

  !> Referential place of a spatial point.
  pure function referential_point(kind, conf, centre, x) result(point)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4), centre(3), x(3)
    real(dp) :: point(3)
    if (kind == pseudo_rigid_kind) then
      point = centre + multiply_transposed(inverse(conf(:,1:3)), x - conf(:,4))
    else
      point = centre + multiply_transposed(conf(:,1:3), x - conf(:,4))
    end if
  end function referential_point

  !> Marks fixed points with |R| and rigid links with a tension -R_N above their strength; `count` of the first `users` rows.
  !>
  !>   kind, strength, reaction   (0:ncon-1), (0:ncon-1), (3,0:ncon-1) columns of the constraint table [force]
  !>   overloaded                 (0:ncon-1) out: 1 for these rows, 0 for the other ones of the user's
  subroutine find_overloaded(users, ncon, kind, strength, reaction, overloaded, count)
    integer(i4), intent(in) :: users, ncon
    integer(i4), intent(in) :: kind(0:ncon-1)
    real(dp), intent(in) :: strength(0:ncon-1), reaction(3,0:ncon-1)
    integer(i4), intent(inout) :: overloaded(0:ncon-1)
    integer(i4), intent(out) :: count
    integer(i4) :: i
    logical :: breaks

    count = 0
    do i = 0, users - 1
      breaks = .false.
      if (kind(i) == fixpnt) breaks = norm2(reaction(:,i)) > strength(i)
      if (kind(i) == link) breaks = -reaction(3,i) > strength(i)
      overloaded(i) = merge(1, 0, breaks)
      if (breaks) count = count + 1
    end do
  end subroutine find_overloaded

end module user_constraints
