!> Time within a step at which convex bodies that approach each other meet: conservative advancement (Mirtich, Impulse-based
!> dynamic simulation of rigid body systems, 1996) along their relative motion.
!>
!> Two convex bodies cannot be nearer than the planes through their closest points.  So an advance in time until these
!> planes would meet never jumps over an impact, and if the planes separate after an advance, there is no impact.
module time_of_impact
  use kinds, only: dp, i4
  use kind_numbers, only: sphere => primitive_sphere, ellipsoid => primitive_ellipsoid  !< lower ones: polyhedra
  use polyhedra, only: polyhedron, shape_tables
  use gjk, only: closest_points
  implicit none
  private
  public :: is_fast, way_ahead, way_between, way_of_shapes, furthest_ways, advance, stays_open, impact_of_polyhedra, &
    approaching, met, missed, beside

  integer, parameter :: approaching = 0, met = 1, missed = 2   !< states of `advance`
  integer, parameter :: beside = 3   !< missed, and the plane between the present places is not crossed: see `stays_open`
  integer, parameter :: most_steps = 64
  real(dp), parameter :: part_of_margin = 0.5_dp   !< bodies that move by less within a step meet within the margin

contains

  !> Whether the motion within a step is too long for a margin.
  pure logical function is_fast(way, margin)
    real(dp), intent(in) :: way(3), margin

    is_fast = dot_product(way, way) > (part_of_margin*margin)**2
  end function is_fast

  !> Motion of primitive b relative to a within a step, at a point: zero where neither is fast beside its margin, or the lesser one of both.
  pure function way_between(tables, a, b, point) result(way)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: a, b
    real(dp), intent(in) :: point(3)
    real(dp) :: way(3), way_of_a(3)

    way = way_at(point, tables%box(:,b), tables%drift(:,:,b))
    way_of_a = way_at(point, tables%box(:,a), tables%drift(:,:,a))
    if (.not. either_is_fast(tables, a, b, way_of_a, way)) then
      way = 0
    else
      way = way - way_of_a
    end if
  end function way_between

  !> Motion of the surface of primitive b relative to that of a within a step, near a point where `normal` is the direction
  !> between them.
  !>
  !> A ball that spins moves the points of its surface but not the surface itself.
  pure function way_of_shapes(tables, a, b, point, normal) result(way)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: a, b
    real(dp), intent(in) :: point(3), normal(3)
    real(dp) :: way(3)

    way = way_of_surface(tables, b, point, normal) - way_of_surface(tables, a, point, normal)
  end function way_of_shapes

  !> Motion of the surface of a primitive within a step: of a sphere that of its centre. That of an ellipsoid {c + A s, |s| <= 1}
  !> is the way of the point with the normal n: of its place M n/sqrt(n.M n) about the centre, M = A A^T with the rate D M + M D^T.
  !> This way is no longer than those of points of the body: in truth the point crosses a flat side within a small turn.
  pure function way_of_surface(tables, primitive, point, normal) result(way)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: primitive
    real(dp), intent(in) :: point(3), normal(3)
    real(dp) :: way(3), axes(3,3), turn(3,3), support(3), along(3), turned(3), change(3), most

    associate (box => tables%box(:,primitive), drift => tables%drift(:,:,primitive))
      way = drift(:,4)
      if (tables%kind(primitive) < sphere) way = way_at(point, box, drift)
      if (tables%kind(primitive) /= ellipsoid) return
      axes = tables%axes(:,:,primitive)
      turn = drift(:,1:3)
      along = matmul(normal, axes)
      along = along/norm2(along)
      support = matmul(axes, along)
      turned = matmul(matmul(normal, turn), axes)
      change = matmul(turn, support) + matmul(axes, turned - dot_product(along, turned)*along)/norm2(matmul(normal, axes))
      most = norm2(matmul(abs(turn), 0.5_dp*(box(4:6) - box(1:3))))
      if (norm2(change) > most) change = (most/norm2(change))*change
      way = way + change
    end associate
  end function way_of_surface

  !> Whether one of two primitives, which move by such ways, is too fast for its own margin or for the lesser one, that of their contact:
  !> large bodies have large margins.
  pure logical function either_is_fast(tables, a, b, way_of_a, way_of_b)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: a, b
    real(dp), intent(in) :: way_of_a(3), way_of_b(3)
    real(dp) :: margin

    margin = min(tables%margin(a), tables%margin(b))
    either_is_fast = max(tables%reach(a) - tables%margin(a), tables%reach(b) - tables%margin(b)) > 0 .or. &
      is_fast(way_of_a, margin) .or. is_fast(way_of_b, margin)
  end function either_is_fast

  !> Motion of primitive b relative to a within a step, at a point, without what loads make.
  pure function way_ahead(tables, a, b, point) result(way)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: a, b
    real(dp), intent(in) :: point(3)
    real(dp) :: way(3)

    way = way_at(point, tables%box(:,b), tables%drift(:,:,b)) - way_at(point, tables%box(:,a), tables%drift(:,:,a)) - &
      (tables%push(:,b) - tables%push(:,a))
  end function way_ahead

  !> Bound of `way_between` over all points of both primitives, along each axis.
  pure function furthest_ways(tables, a, b) result(ways)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: a, b
    real(dp) :: ways(3), ways_of_a(3)

    ways = furthest_way(tables%box(:,b), tables%drift(:,:,b))
    ways_of_a = furthest_way(tables%box(:,a), tables%drift(:,:,a))
    if (.not. either_is_fast(tables, a, b, ways_of_a, ways)) then
      ways = 0
    else
      ways = ways + ways_of_a
    end if
  end function furthest_ways

  !> Bound of `way_at` over the points in a box.
  pure function furthest_way(box, drift) result(way)
    real(dp), intent(in) :: box(6), drift(3,4)
    real(dp) :: way(3)

    way = abs(drift(:,4)) + matmul(abs(drift(:,1:3)), 0.5_dp*(box(4:6) - box(1:3)))
  end function furthest_way

  !> Motion of a primitive within a step at a point; for `drift` see `primitive_motion`.
  pure function way_at(point, box, drift) result(way)
    real(dp), intent(in) :: point(3), box(6), drift(3,4)
    real(dp) :: way(3)

    way = drift(:,4) + matmul(drift(:,1:3), point - 0.5_dp*(box(1:3) + box(4:6)))
  end function way_at

  !> Makes one step of the advancement.
  !>
  !>   distance, direction   between two bodies at `time`, and the unit vector from the first to the second along it
  !>   way                   of the second relative to the first from time 0 to 1
  !>   near                  bodies this near have met
  !>   time                  in and out
  pure subroutine advance(distance, direction, way, near, time, state)
    real(dp), intent(in) :: distance, direction(3), way(3), near
    real(dp), intent(inout) :: time
    integer, intent(out) :: state
    real(dp) :: closing

    closing = -dot_product(direction, way)
    if (distance <= near) then
      state = met
    else if (time >= 1 .or. .not. closing > 0) then
      state = missed
    else
      state = approaching
      time = min(1.0_dp, time + (distance - 0.5_dp*near)/closing)
    end if
  end subroutine advance

  !> Whether a motion does not cross the plane between two bodies at their present places.  Then a contact of these places is open
  !> unless forces close it within the step, and cannot stop bodies that pass each other.  Without it a ball that rolls fast over a
  !> dome would leave it in every other step.
  pure logical function stays_open(distance, direction, way)
    real(dp), intent(in) :: distance, direction(3), way(3)

    stays_open = distance + dot_product(direction, way) >= 0
  end function stays_open

  !> Finds the motion with which two polyhedra meet within a step, if they do, and the share of the step after which they meet.
  !>
  !> Bodies that turn move at different speeds in different places.  The motion is that of the middle of what their boxes share;
  !> if they do not meet so, that of the corners that cross the plane between them furthest, as an end of a plate that falls over does.
  !>
  !>   a, b, centre   primitives, and the point to which `one` and `two` refer
  !>   held           part of the motion of b relative to a that does not take place
  !>   state          `met`, `missed`, `beside`
  pure subroutine impact_of_polyhedra(tables, a, b, one, two, centre, held, margin, near, size, way, time, state)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: a, b
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: centre(3), held(3), margin, near, size
    real(dp), intent(out) :: way(3), time
    integer, intent(out) :: state
    real(dp) :: drift(3,4), apart(3), unused(3), high, low, way_of_one(3), way_of_two(3), time_of_corners
    integer :: state_of_corners

    drift = tables%drift(:,:,b)
    drift(:,4) = drift(:,4) - held
    way = way_at(centre, tables%box(:,b), drift) - way_at(centre, tables%box(:,a), tables%drift(:,:,a))
    if (.not. is_fast(way, margin)) way = 0
    call time_of_polyhedra(one, two, way, near, size, time, state, apart)
    if (state == met) return
    call find_leader(one, centre, tables%box(:,a), tables%drift(:,:,a), apart, high, way_of_one)
    call find_leader(two, centre, tables%box(:,b), drift, -apart, low, way_of_two)
    if (high + low < 0) return   ! the plane stays between them
    way_of_two = way_of_two - way_of_one
    if (.not. is_fast(way_of_two, margin)) return
    call time_of_polyhedra(one, two, way_of_two, near, size, time_of_corners, state_of_corners, unused)
    if (state_of_corners /= met) return
    way = way_of_two
    time = time_of_corners
    state = met
  end subroutine impact_of_polyhedra

  !> Finds the motion of the corner that is furthest along a direction at the end of the step, and its place along it.
  pure subroutine find_leader(body, centre, box, drift, direction, furthest, way)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: centre(3), box(6), drift(3,4), direction(3)
    real(dp), intent(out) :: furthest, way(3)
    real(dp) :: way_of_corner(3), place
    integer :: k

    furthest = -huge(furthest)
    way = 0
    do k = 1, body%vertices
      way_of_corner = way_at(centre + body%x(k,:), box, drift)
      place = dot_product(direction, body%x(k,:) + way_of_corner)
      if (place <= furthest) cycle
      furthest = place
      way = way_of_corner
    end do
  end subroutine find_leader

  !> Finds the share of a step after which two polyhedra meet, if they do, and the direction along which they are apart before it.
  pure subroutine time_of_polyhedra(one, two, way, near, size, time, state, apart)
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: way(3), near, size
    real(dp), intent(out) :: time, apart(3)
    integer, intent(out) :: state
    real(dp) :: distance, p(3), q(3), direction(3)
    integer :: k
    logical :: failed, open

    time = 0
    direction = -way
    do k = 1, most_steps
      call closest_points(one%padded, ubound(one%x, 1), one%x, two%padded, ubound(two%x, 1), two%x, time*way, direction, size, &
        distance, p, q, failed)
      if (distance > 0) direction = (q - p)/distance
      if (k == 1) then
        open = stays_open(distance, direction, way)
        apart = direction
      end if
      call advance(distance, direction, way, near, time, state)
      if (state == approaching) cycle
      if (state == missed .and. open) state = beside
      return
    end do
    state = met
  end subroutine time_of_polyhedra

end module time_of_impact
