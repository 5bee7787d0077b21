!> Forces of linear springs, eight at a time.
!>
!> LinkBatchTable lists common properties of eight springs, so that most springs are evaluated without tests of single ones.
module linear_springs
  use kinds, only: dp, i4
  use curves, only: curve_at, find_by_value, find_segment
  use kind_numbers, only: link_constant, link_planar, link_plane, link_status_undone, yield_elastic, yield_loading, &
                          yield_unloading
  use matrix3, only: cross
  use state_tables, only: model_tables, link_table
  implicit none
  private
  public :: spring_forces, forces_of_batches, batch_forces, inverse_mass_along

  integer, parameter :: lanes = 8
  !> Numbers from one column of `between` to the next: of every eighth number compilers make vectors by shuffles of whole columns.
  integer, parameter :: pitch = 8
  !> Below so many batches one thread is faster; threads take so many at a time.
  integer(i4), parameter :: few_batches = 64
  !> Number in LinkBatchTable that means that the springs have different curves.
  integer(i4), parameter :: different = -2
  !> Points of a table up to which its segments are searched one by one (SHORT_TABLE in solfec/parmec/model.py).
  integer(i4), parameter :: short_table = 9

  !> Eight springs: geometry, strokes, velocities and forces.
  type :: batch
    real(dp) :: axis(lanes,3)         !< along which the force acts
    real(dp) :: slip(lanes,3)         !< velocity of the second point relative to the first
    real(dp) :: length(lanes), stroke(lanes), rate(lanes)
    real(dp) :: elastic(lanes), total(lanes), friction(lanes)
    real(dp) :: force(lanes,3)
  end type batch

contains

  !> Computes forces of all springs, from positions, rotations and velocities of the particles.
  subroutine spring_forces(model, h, shown)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: h                     !< [time] length of the step
    logical, intent(in) :: shown                  !< lengths, strokes and forces along the axes are stored for all springs
    integer(i4) :: k, n

    n = int(model%batches%rows, i4)
    !$omp parallel do schedule(static) if (n > few_batches)
    do k = 0, n - 1, few_batches
      call forces_of_batches(model, k, min(n, k + few_batches) - 1, huge(k), h, shown)
    end do
  end subroutine spring_forces

  !> Computes forces of the springs of those of the batches start .. last that have no particle from `past` on.
  subroutine forces_of_batches(model, start, last, past, h, shown)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: start, last, past
    real(dp), intent(in) :: h                     !< [time] length of the step
    logical, intent(in) :: shown                  !< lengths, strokes and forces along the axes are stored for all springs
    integer(i4) :: k

    if (.not. shown) call pull_plainly(start, last, past, model%batches%first, model%batches%high, model%batches%plain, &
                                       model%batches%curve, model%batches%dashpot, model%links%particle, model%links%lever, &
                                       model%links%rest, model%particles%point_map, model%curves%first, model%curves%size, &
                                       model%points%x, model%points%y, model%points%slope, model%links%pull)
    do k = start, last
      if (model%batches%high(k) >= past) cycle
      if (shown .or. model%batches%plain(k) == 0) call batch_forces(model, k, h, shown)
    end do
  end subroutine forces_of_batches

  !> Computes forces of the plain ones of the batches start .. last that have no particle from `past` on, and stores no more.
  pure subroutine pull_plainly(start, last, past, first, high, plain, curve, dashpot, particle, arms, rests, map, row, size, x, y, &
                               slope, pull)
    integer(i4), intent(in) :: start, last, past
    integer(i4), intent(in) :: first(0:*), high(0:*), plain(0:*), curve(0:*), dashpot(0:*)  !< columns of LinkBatchTable
    integer(i4), intent(in) :: particle(2,0:*), row(0:*), size(0:*)
    real(dp), intent(in) :: arms(3,2,0:*), rests(0:*), map(8,4,0:*), x(0:*), y(0:*), slope(0:*)
    real(dp), intent(inout) :: pull(4,0:*)
    type(batch) :: now
    integer(i4) :: k

    do k = start, last
      if (high(k) >= past .or. plain(k) == 0) cycle
      call plain_forces(first(k), curve(k), dashpot(k), particle, arms, rests, map, row, size, x, y, slope, now)
      call store(first(k), lanes, now%force, pull)
    end do
  end subroutine pull_plainly

  !> Computes forces of the springs of one batch.
  subroutine batch_forces(model, k, h, shown)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: k                  !< the batch
    real(dp), intent(in) :: h                     !< [time] length of the step
    logical, intent(in) :: shown
    type(batch) :: now
    integer(i4) :: count, first, l
    logical :: kept

    first = model%batches%first(k)
    count = min(lanes, int(model%links%rows, i4) - first)
    kept = shown
    if (model%batches%plain(k) == 1) then
      call plain_forces(first, model%batches%curve(k), model%batches%dashpot(k), model%links%particle, model%links%lever, &
                        model%links%rest, model%particles%point_map, model%curves%first, model%curves%size, model%points%x, &
                        model%points%y, model%points%slope, now)
    else
      call measure(model, k, first, count, now)
      call follow_tables(model, k, first, count, now)
    end if
    if (model%batches%special(k) == 1) then
      do l = first, first + count - 1
        if (.not. is_special(model%links, l)) cycle
        call evaluate(model, l, l - first + 1, h, now)
        kept = .true.                               ! springs that UNSPRING releases need their last stroke
      end do
    end if
    call store(first, count, now%force, model%links%pull)
    if (kept) call show(first, count, now, model%links%length, model%links%stroke, model%links%elastic, model%links%total, &
                        model%links%friction, model%links%force)
  end subroutine batch_forces

  !> Computes forces of eight follower springs between particles, with the same short tables.
  pure subroutine plain_forces(first, curve, dashpot, particle, arms, rests, map, start, size, x, y, slope, now)
    integer(i4), intent(in) :: first
    integer(i4), intent(in) :: curve, dashpot     !< tables of all springs, -1: none
    integer(i4), intent(in) :: particle(2,0:*), start(0:*), size(0:*)
    real(dp), intent(in) :: arms(3,2,0:*), rests(0:*), map(8,4,0:*), x(0:*), y(0:*), slope(0:*)
    type(batch), intent(inout) :: now
    real(dp) :: between(8,lanes), damping(lanes)
    integer(i4) :: k

    call gather(first, particle, arms, map, between)
    call follow(first, between, rests, now)
    k = start(curve)
    call same_table(size(curve), x(k), y(k), slope(k), now%stroke, now%elastic)
    damping = 0
    if (dashpot >= 0) then
      k = start(dashpot)
      call same_table(size(dashpot), x(k), y(k), slope(k), now%rate, damping)
    end if
    call pull_along(damping, now)
  end subroutine plain_forces

  !> Moves the points of planes that particles carry to the feet of the springs' first points.  There their forces act, as those
  !> of bodies that slide on one another do, so that pairs of particles keep their angular momentum.
  pure subroutine move_feet(model, first, count)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: first, count
    real(dp) :: at(8), foot(3)
    integer(i4) :: p, s

    associate (links => model%links, map => model%particles%point_map)
      do s = first, first + count - 1
        p = links%particle(2,s)
        if (links%kind(s) /= link_plane .or. p < 0) cycle
        at = point(links%particle(1,s), map, links%lever(:,1,s))
        foot = matmul(at(1:3) - map(1:3,4,p), model%particles%rotation(:,:,p))
        associate (n => links%direction(:,s))
          links%lever(:,2,s) = foot - dot_product(n, foot - links%arm(:,2,s))*n
        end associate
      end do
    end associate
  end subroutine move_feet

  !> Computes points, axes, strokes and velocities.
  subroutine measure(model, k, first, count, now)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: k, first, count
    type(batch), intent(inout) :: now
    real(dp) :: between(8,lanes), across(lanes), along(lanes), sense(lanes), direction(lanes,3), rest(lanes)
    real(dp) :: inverse, part, x, y, z
    integer :: l

    call move_feet(model, first, count)
    if (count == lanes .and. model%batches%grounded(k) == 0) then
      call gather(first, model%links%particle, model%links%lever, model%particles%point_map, between)
    else
      call gather_slowly(first, count, model%links%particle, model%links%lever, model%particles%point_map, between)
    end if
    call take_kinds(first, count, model%links%kind, model%links%rest, model%links%direction, model%links%particle, &
                    model%particles%rotation, direction, rest, across, along, sense)
    !$omp simd private(x, y, z, part, inverse)
    do l = 1, lanes
      now%slip(l,1) = between(5,l)
      now%slip(l,2) = between(6,l)
      now%slip(l,3) = between(7,l)
      x = sense(l)*between(1,l)
      y = sense(l)*between(2,l)
      z = sense(l)*between(3,l)
      part = x*direction(l,1) + y*direction(l,2) + z*direction(l,3)
      x = x - across(l)*part*direction(l,1)
      y = y - across(l)*part*direction(l,2)
      z = z - across(l)*part*direction(l,3)
      now%length(l) = sqrt(x*x + y*y + z*z)
      inverse = (1 - along(l))/max(now%length(l), tiny(part))  ! coincident points of a follower or planar spring have no axis
      now%axis(l,1) = along(l)*direction(l,1) + inverse*x
      now%axis(l,2) = along(l)*direction(l,2) + inverse*y
      now%axis(l,3) = along(l)*direction(l,3) + inverse*z
      now%length(l) = along(l)*part + (1 - along(l))*now%length(l)
      now%stroke(l) = now%length(l) - rest(l)
      now%rate(l) = now%axis(l,1)*now%slip(l,1) + now%axis(l,2)*now%slip(l,2) + now%axis(l,3)*now%slip(l,3)
    end do
  end subroutine measure

  !> Computes axes, strokes and velocities of eight follower springs.
  pure subroutine follow(first, between, rest, now)
    integer(i4), intent(in) :: first
    real(dp), intent(in) :: between(8,lanes), rest(0:*)
    type(batch), intent(inout) :: now
    real(dp) :: inverse, x, y, z
    integer :: l

    !$omp simd private(x, y, z, inverse)
    do l = 1, lanes
      now%slip(l,1) = between(5,l)
      now%slip(l,2) = between(6,l)
      now%slip(l,3) = between(7,l)
      x = between(1,l)
      y = between(2,l)
      z = between(3,l)
      now%length(l) = sqrt(x*x + y*y + z*z)
      inverse = 1/max(now%length(l), tiny(x))       ! a spring whose points coincide has no axis
      now%axis(l,1) = inverse*x
      now%axis(l,2) = inverse*y
      now%axis(l,3) = inverse*z
      now%stroke(l) = now%length(l) - rest(first + l - 1)
      now%rate(l) = now%axis(l,1)*now%slip(l,1) + now%axis(l,2)*now%slip(l,2) + now%axis(l,3)*now%slip(l,3)
    end do
  end subroutine follow

  !> Computes positions (1..3) and velocities (5..7) of the second points of eight springs relative to their first ones.
  pure subroutine gather(first, particle, arms, map, between)
    integer(i4), intent(in) :: first
    integer(i4), intent(in) :: particle(2,0:*)
    real(dp), intent(in) :: arms(3,2,0:*), map(8,4,0:*)
    real(dp), intent(inout) :: between(8,lanes)
    integer(i4) :: i, l, one, s, two

    do l = 1, lanes
      s = first + l - 1
      one = particle(1,s)
      two = particle(2,s)
      !$omp simd
      do i = 1, 8
        between(i,l) = map(i,4,two) - map(i,4,one) &
                       + (map(i,1,two)*arms(1,2,s) + map(i,2,two)*arms(2,2,s) + map(i,3,two)*arms(3,2,s)) &
                       - (map(i,1,one)*arms(1,1,s) + map(i,2,one)*arms(2,1,s) + map(i,3,one)*arms(3,1,s))
      end do
    end do
  end subroutine gather

  !> Computes relative positions and velocities of fewer than eight springs, or of springs on the ground.
  pure subroutine gather_slowly(first, count, particle, arms, map, between)
    integer(i4), intent(in) :: first, count
    integer(i4), intent(in) :: particle(2,0:*)
    real(dp), intent(in) :: arms(3,2,0:*), map(8,4,0:*)
    real(dp), intent(inout) :: between(8,lanes)
    integer(i4) :: l, s

    do l = 1, lanes
      s = first + min(l, count) - 1
      between(:,l) = point(particle(2,s), map, arms(:,2,s)) - point(particle(1,s), map, arms(:,1,s))
    end do
  end subroutine gather_slowly

  !> Position and velocity of a point of a particle, or of the ground.
  pure function point(p, map, arm) result(at)
    integer(i4), intent(in) :: p
    real(dp), intent(in) :: map(8,4,0:*), arm(3)
    real(dp) :: at(8)

    if (p < 0) then
      at = 0
      at(1:3) = arm
    else
      at = map(:,4,p) + map(:,1,p)*arm(1) + map(:,2,p)*arm(2) + map(:,3,p)*arm(3)
    end if
  end function point

  !> Translates the springs' kinds into numbers.
  !>
  !>   direction  spatial
  !>   rest       length without stroke
  !>   across     1: the part of the line between the points along the direction is subtracted
  !>   along      1: the axis is the direction itself
  !>   sense      -1: length is measured from the second point to the first
  subroutine take_kinds(first, count, kinds, rests, directions, particle, rotation, direction, rest, across, along, sense)
    integer(i4), intent(in) :: first, count
    integer(i4), intent(in) :: kinds(0:*), particle(2,0:*)
    real(dp), intent(in) :: rests(0:*), directions(3,0:*), rotation(3,3,0:*)
    real(dp), intent(inout) :: direction(lanes,3), rest(lanes), across(lanes), along(lanes), sense(lanes)
    integer(i4) :: kind, l, p, s

    do l = 1, lanes
      s = first + min(l, count) - 1
      kind = kinds(s)
      rest(l) = rests(s)
      across(l) = merge(1.0_dp, 0.0_dp, kind == link_planar)
      along(l) = merge(1.0_dp, 0.0_dp, kind == link_constant .or. kind == link_plane)
      sense(l) = merge(-1.0_dp, 1.0_dp, kind == link_plane)
      direction(l,1) = directions(1,s)
      direction(l,2) = directions(2,s)
      direction(l,3) = directions(3,s)
      if (kind /= link_plane) cycle
      p = particle(2,s)
      if (p >= 0) direction(l,:) = matmul(rotation(:,:,p), directions(:,s))
    end do
  end subroutine take_kinds

  !> Whether a spring has more than tables of force over stroke and velocity.
  pure logical function is_special(links, s)
    type(link_table), intent(in) :: links
    integer(i4), intent(in) :: s

    is_special = links%law(s) >= 0 .or. links%ratio(s) >= 0 .or. links%status(s) >= link_status_undone
  end function is_special

  !> Computes forces along the axes from the tables of stroke and velocity.
  subroutine follow_tables(model, k, first, count, now)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: k, first, count
    type(batch), intent(inout) :: now
    real(dp) :: damping(lanes)

    associate (curves => model%curves, points => model%points, batches => model%batches)
      call table_values(first, count, batches%curve(k), model%links%curve, curves%first, curves%size, points%x, points%y, &
                        points%slope, now%stroke, now%elastic)
      call table_values(first, count, batches%dashpot(k), model%links%dashpot, curves%first, curves%size, points%x, points%y, &
                        points%slope, now%rate, damping)
    end associate
    call pull_along(damping, now)
  end subroutine follow_tables

  !> Adds dashpots to forces along the axes; a dashpot acts only while its spring has a force.
  pure subroutine pull_along(damping, now)
    real(dp), intent(in) :: damping(lanes)
    type(batch), intent(inout) :: now
    integer :: l

    !$omp simd
    do l = 1, lanes
      now%total(l) = now%elastic(l) + merge(damping(l), 0.0_dp, abs(now%elastic(l)) > 0)
      now%friction(l) = 0
      now%force(l,1) = now%total(l)*now%axis(l,1)
      now%force(l,2) = now%total(l)*now%axis(l,2)
      now%force(l,3) = now%total(l)*now%axis(l,3)
    end do
  end subroutine pull_along

  !> Computes values of the springs' curves, zero for springs without one (-1).
  subroutine table_values(first, count, common, curve, start, size, x, y, slope, place, value)
    integer(i4), intent(in) :: first, count
    integer(i4), intent(in) :: common             !< the curve of all springs, or `different`
    integer(i4), intent(in) :: curve(0:*), start(0:*), size(0:*)
    real(dp), intent(in) :: x(0:*), y(0:*), slope(0:*)
    real(dp), intent(in) :: place(lanes)
    real(dp), intent(inout) :: value(lanes)
    integer(i4) :: k, l, last, row

    if (common == -1) then
      value = 0
      return
    else if (common >= 0) then
      k = start(common)
      if (size(common) <= short_table) then
        call same_table(size(common), x(k), y(k), slope(k), place, value)
        return
      end if
    end if
    do l = 1, lanes
      row = curve(first + min(l, count) - 1)
      if (row < 0) then
        value(l) = 0
        cycle
      end if
      k = start(row)
      last = k + size(row) - 2                      ! the last segment
      if (last > k) then
        if (size(row) <= short_table) then
          do while (k < last .and. place(l) >= x(k+1))
            k = k + 1
          end do
        else
          k = find_segment(x, k, last + 1, place(l))
        end if
      end if
      value(l) = y(k) + slope(k)*(place(l) - x(k))
    end do
  end subroutine table_values

  !> Computes values of eight springs with the same short table.
  pure subroutine same_table(n, x, y, slope, place, value)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: x(n), y(n), slope(n)
    real(dp), intent(in) :: place(lanes)
    real(dp), intent(inout) :: value(lanes)
    real(dp) :: here(lanes)                       ! a variable of its own, so that merge needs no branch
    integer(i4) :: k
    integer :: l

    value = y(1) + slope(1)*(place - x(1))
    do k = 2, n - 1
      here = y(k) + slope(k)*(place - x(k))
      !$omp simd
      do l = 1, lanes
        value(l) = merge(here(l), value(l), place(l) >= x(k))
      end do
    end do
  end subroutine same_table

  !> Computes the force of a spring that has more than tables.
  subroutine evaluate(model, s, l, h, now)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: s
    integer(i4), intent(in) :: l                  !< its lane
    real(dp), intent(in) :: h
    type(batch), intent(inout) :: now
    real(dp) :: damping, elastic, rate_slope, slope, total
    integer(i4) :: law

    associate (links => model%links)
      law = links%law(s)
      elastic = 0
      slope = 0
      if (links%status(s) >= 0) then
        call release(model, s, law, now%stroke(l), elastic)
        now%elastic(l) = elastic
        now%total(l) = elastic
        now%force(l,:) = elastic*now%axis(l,:)
        return
      end if
      if (links%status(s) /= link_status_undone) then
        if (law < 0) then
          call curve_at(model%curves, model%points, links%curve(s), now%stroke(l), elastic, slope)
        else
          call elastic_by_law(model, s, law, now%stroke(l), elastic, slope)
        end if
      end if
      total = elastic
      rate_slope = 0
      if (abs(elastic) > 0) then                    ! the dashpot acts only while the spring has a force
        if (links%dashpot(s) >= 0) then
          call curve_at(model%curves, model%points, links%dashpot(s), now%rate(l), damping, rate_slope)
          total = elastic + damping
        else if (links%ratio(s) >= 0) then
          rate_slope = critical_damping(model, s, l, slope, now)
          total = elastic + rate_slope*now%rate(l)
        end if
      end if
      now%elastic(l) = elastic
      now%total(l) = total
      now%force(l,:) = total*now%axis(l,:)
      if (law >= 0) call add_friction(model, law, l, h, abs(slope), rate_slope, now)
    end associate
  end subroutine evaluate

  !> Computes the force of a spring that UNSPRING releases along a curve of slope g: it falls by |g ds| for a change ds of stroke of either sign.
  subroutine release(model, s, law, stroke, elastic)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: s, law
    real(dp), intent(in) :: stroke
    real(dp), intent(out) :: elastic
    real(dp) :: before, left
    integer(i4) :: k

    before = model%links%elastic(s)
    k = find_by_value(model%curves, model%points, model%laws%release(law), before)
    left = abs(before) - abs(model%points%slope(k)*(stroke - model%links%stroke(s)))
    elastic = sign(max(0.0_dp, left), before)
    if (left <= 0) model%links%status(s) = link_status_undone
  end subroutine release

  !> Coefficient 2 xi sqrt(|f'| m) of a spring with a ratio xi of critical damping.
  real(dp) function critical_damping(model, s, l, slope, now) result(c)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: s, l
    real(dp), intent(in) :: slope
    type(batch), intent(in) :: now
    real(dp) :: arm(3), axis(3), inverse_mass
    integer(i4) :: p
    integer :: side

    axis = now%axis(l,:)
    inverse_mass = 0
    do side = 1, 2
      p = model%links%particle(side,s)
      if (p < 0) cycle
      arm = matmul(model%particles%rotation(:,:,p), model%links%lever(:,side,s))
      inverse_mass = inverse_mass + inverse_mass_along(model, p, arm, axis)
    end do
    c = 0
    if (inverse_mass > 0 .and. any(abs(axis) > 0)) c = 2*model%links%ratio(s)*sqrt(abs(slope)/inverse_mass)
  end function critical_damping

  !> Velocity of a particle's point along an axis from a unit impulse along it: z.(I/m + [a]x^T L J^-1 L^T [a]x) z.
  pure real(dp) function inverse_mass_along(model, p, arm, axis) result(inverse)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: p                  !< the particle, -1: the ground
    real(dp), intent(in) :: arm(3)                !< of the point from the mass centre, spatial
    real(dp), intent(in) :: axis(3)               !< of length 1
    real(dp) :: lever(3)

    inverse = 0
    if (p < 0) return
    lever = matmul(cross(arm, axis), model%particles%rotation(:,:,p))
    inverse = 1/model%particles%mass(p) + dot_product(lever, matmul(model%particles%inverse_inertia(:,:,p), lever))
  end function inverse_mass_along

  !> Computes the elastic force of a spring with stroke offset or unloading curve.
  subroutine elastic_by_law(model, s, law, stroke, elastic, slope)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: s, law
    real(dp), intent(in) :: stroke
    real(dp), intent(out) :: elastic, slope
    real(dp) :: offset, rate, rise

    associate (laws => model%laws, curve => model%links%curve(s))
      offset = 0
      if (laws%offset(law) >= 0) call curve_at(model%curves, model%points, laws%offset(law), model%control%time(0), offset, rate)
      if (laws%unload(law) < 0) then
        call curve_at(model%curves, model%points, curve, stroke - offset, elastic, slope)
        return
      end if
      rise = stroke - laws%last_stroke(law)
      if (laws%yielded(law) == yield_elastic) then
        call curve_at(model%curves, model%points, curve, stroke - offset, elastic, slope)
        if (elastic < laws%limit(1,law)) call yield(1, 2)
        if (elastic > laws%limit(2,law)) call yield(2, 1)
      else
        call follow_yielded(model, curve, law, rise, elastic, slope)
      end if
      laws%last_stroke(law) = stroke
      laws%last_force(law) = elastic
    end associate

  contains

    !> Marks that the spring exceeds its limit on one side.
    subroutine yield(side, other)
      integer, intent(in) :: side, other

      model%laws%yielded(law) = yield_loading
      model%laws%loaded(side,law) = stroke - offset
      model%laws%loaded(other,law) = 0
      model%laws%limit(side,law) = elastic
      model%laws%limit(other,law) = 0
    end subroutine yield
  end subroutine elastic_by_law

  !> Computes the elastic force of a spring that has yielded, after a change of its stroke.
  subroutine follow_yielded(model, curve, law, rise, elastic, slope)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: curve, law
    real(dp), intent(in) :: rise
    real(dp), intent(out) :: elastic, slope
    integer(i4) :: k
    integer :: side
    real(dp) :: before, place

    associate (laws => model%laws, points => model%points)
      before = laws%last_force(law)
      if (.not. (before*rise > 0 .and. laws%yielded(law) == yield_loading)) then
        k = find_by_value(model%curves, points, laws%unload(law), before)
        slope = points%slope(k)
        elastic = before + slope*rise
        if (before*rise <= 0) then
          laws%yielded(law) = yield_unloading
          if (elastic*before < 0) then                ! through zero: along the curve instead of its tangent
            place = points%x(k) + (before - points%y(k))/slope
            call curve_at(model%curves, points, laws%unload(law), place + rise, elastic, slope)
          end if
        end if
        if (elastic >= laws%limit(1,law) .and. elastic <= laws%limit(2,law)) return
        laws%yielded(law) = yield_loading
        side = merge(2, 1, elastic > laws%limit(2,law))
      else
        side = merge(2, 1, before > 0)
      end if
      laws%loaded(side,law) = laws%loaded(side,law) + rise
      call curve_at(model%curves, points, curve, laws%loaded(side,law), elastic, slope)
      laws%limit(side,law) = elastic
    end associate
  end subroutine follow_yielded

  !> Adds friction, of at most its coefficient times the force along the axis.
  subroutine add_friction(model, law, l, h, stiffness, damping, now)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: law, l
    real(dp), intent(in) :: h
    real(dp), intent(in) :: stiffness, damping    !< present slopes of the force along the axis, over stroke and velocity
    type(batch), intent(inout) :: now
    real(dp) :: bound, force(3), magnitude, tangential(3)

    associate (laws => model%laws)
      if (.not. laws%friction(law) > 0) return
      bound = laws%friction(law)*abs(now%total(l))
      tangential = now%slip(l,:) - now%rate(l)*now%axis(l,:)
      force = 0
      if (.not. laws%tangential(law) > 0) then
        magnitude = norm2(tangential)
        if (magnitude > 0) force = bound/magnitude*tangential
      else if (.not. abs(now%elastic(l)) > 0) then
        laws%slip(:,law) = 0
      else
        laws%slip(:,law) = laws%slip(:,law) + h*tangential
        force = laws%tangential(law)*(stiffness*laws%slip(:,law) + damping*tangential)
        magnitude = norm2(force)
        if (magnitude > bound) then
          force = bound/magnitude*force
          magnitude = norm2(laws%slip(:,law))
          if (magnitude > 0 .and. stiffness > 0) &
            laws%slip(:,law) = bound/(laws%tangential(law)*stiffness)/magnitude*laws%slip(:,law)
        end if
      end if
      now%friction(l) = norm2(force)
      now%force(l,:) = now%force(l,:) + force
    end associate
  end subroutine add_friction

  !> Stores the forces; the fourth number of a row stays zero.
  pure subroutine store(first, count, force, pull)
    integer(i4), intent(in) :: first, count
    real(dp), intent(in) :: force(lanes,3)
    real(dp), intent(inout) :: pull(4,0:*)
    integer(i4) :: l

    do l = 1, count
      pull(1,first + l - 1) = force(l,1)
      pull(2,first + l - 1) = force(l,2)
      pull(3,first + l - 1) = force(l,3)
    end do
  end subroutine store

  !> Stores results of springs for output.
  subroutine show(first, count, now, length, stroke, elastic, total, friction, force)
    integer(i4), intent(in) :: first, count
    type(batch), intent(in) :: now
    real(dp), intent(inout) :: length(0:*), stroke(0:*), elastic(0:*), total(0:*), friction(0:*), force(3,0:*)
    integer(i4) :: l, s

    do l = 1, count
      s = first + l - 1
      length(s) = abs(now%length(l))
      stroke(s) = now%stroke(l)
      elastic(s) = now%elastic(l)
      total(s) = now%total(l)
      friction(s) = now%friction(l)
      force(:,s) = now%force(l,:)
    end do
  end subroutine show
end module linear_springs
