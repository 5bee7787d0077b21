!> Life of contacts: creation from results of the narrow phase, update, removal, penetration depth.
module contacts
  use kinds, only: dp, i4, i8
  use matrix3, only: cross
  use kind_numbers, only: pseudo_rigid_kind => body_pseudo_rigid, obstacle_kind => body_obstacle, &
    contact_kind => constraint_contact, bonded => surface_model_cohesive, sphere => primitive_sphere, &
    ellipsoid => primitive_ellipsoid
  use body_state, only: bodies_and_triples
  use contact_record, only: contact_place
  use detection_state, only: detection_tables
  use polyhedra, only: shape_tables
  use state_tables, only: constraint_table, surface_material_table
  use thread_work, only: pays
  implicit none
  private
  public :: update_rows, create_rows, keep_rows, deepest_row, turn_frame, referential, part_beneath, is_excluded

  integer(i4), parameter :: any_surface = huge(1_i4)
  real(dp), parameter :: parallel = 1.0_dp - 1e-12_dp   !< cosine from which directions are the same
  real(dp), parameter :: aside = 1e-3_dp                !< tangent up to which points of two bodies lie on one line along the normal

contains

  !> Updates existing contacts by results of the narrow phase, with frozen roles (slave first).
  !>
  !> A contact is kept while its primitives overlap on surfaces that are not excluded; a cohesive one is kept always.  Kept
  !> contacts get a new point, referential points, frame, gap, area and surfaces; R and U keep their local components.  Cohesive ones
  !> keep their referential points, and the point on the master determines their place.  When the surfaces changed, the
  !> material is looked up again and cohesion is lost (it exists only from the time 0 on, between bodies that touch).  Bonds of
  !> model 'COHESIVE' keep their area and surfaces, too; their gap is that of their two points.
  !>
  !>   first, last     rows first <= k < last are contacts
  !>   epsilon, time   geometric epsilon; time at the start of the step
  !>   patched         whether contacts have patches
  !>   excluded        (2,:) see `create_rows`
  !>
  !> Of `tables`:
  !>
  !>   work            `updates`: number of the last update of shapes;
  !>                   `result_of`: for each row from `first` the result of the contact; -1: the contact stays unchanged;
  !>                   `keep`: for each row from `first`, out; 1: the contact stays
  !>   found, patches  results of the narrow phase, and of `contact_patch`
  !>   rows            point, other_point, master_point, slave_point, base, rounding, carriers, gap, area, surface,
  !>                   material, cohesion, evaluated: out
  !>   lost            number of contacts that do not stay
  subroutine update_rows(first, last, epsilon, time, patched, excluded, tables, lost)
    integer(i4), intent(in) :: first, last, excluded(:,0:)
    real(dp), intent(in) :: epsilon, time
    logical, intent(in) :: patched
    type(detection_tables), intent(inout) :: tables   !< its columns change
    integer(i4), intent(out) :: lost
    integer(i4) :: count
    integer :: k, r, m, s
    logical :: cohesive, found, bond
    type(contact_place) :: at

    count = 0
    associate (work => tables%work, results => tables%found, patches => tables%patches, state => tables%state, &
               materials => tables%materials, rows => tables%rows)
    !$omp parallel do if (pays(last - first, 60)) schedule(static) private(r, m, s, cohesive, found, bond, at) &
    !$omp reduction(+:count)
    do k = first, last - 1
      r = work%result_of(k-first)
      work%keep(k-first) = 1
      if (r < 0) cycle
      m = rows%master(k)
      s = rows%slave(k)
      cohesive = rows%cohesion(k) > 0.0_dp
      bond = cohesive .and. materials%model(rows%material(k)) == bonded
      found = results%status(r) == 1
      if (found) then
        at = contact_place(results%slave_point(:,r), results%master_point(:,r), results%gap(r), results%area(r))
        if (patched) then
          found = btest(patches%slots(r), rows%slot(k))
          if (found) at = place_of(rows%slot(k), patches%slots(r), patches%point(:,:,r), patches%gap(:,r), &
            results%normal(:,r), at)
        else if (rows%slot(k) > 0) then
          found = .false.
        end if
        call join_across_gap(state, tables%shapes, m, s, [rows%master_primitive(k), rows%slave_primitive(k)], &
          results%normal(:,r), at)
        if (is_excluded(results%surface(:,r), excluded)) found = .false.
      end if
      if (.not. (found .or. cohesive)) then
        work%keep(k-first) = 0
        count = count + 1
        cycle
      end if
      rows%evaluated(k) = merge(work%updates, -1_i8, found .and. .not. cohesive)
      if (bond .and. results%status(r) == 1) call turn_frame(results%normal(:,r), epsilon, rows, k)
      if (found .and. .not. bond) then
        if (any(rows%surface(:,k) /= results%surface(:,r))) then
          rows%surface(:,k) = results%surface(:,r)
          call look_up(rows%surface(:,k), materials, rows%material(k))
          rows%cohesion(k) = merge(materials%cohesion(rows%material(k)), 0.0_dp, time == 0.0_dp .and. at%gap <= epsilon)
        end if
        call turn_frame(results%normal(:,r), epsilon, rows, k)
        call note_curvature(tables%shapes, rows, k)
        rows%gap(k) = at%gap
        rows%area(k) = at%area
      end if
      if (cohesive) then
        call spatial(state, m, rows%master_point(:,k), rows%point(:,k))
        call spatial(state, s, rows%slave_point(:,k), rows%other_point(:,k))
        if (bond) rows%gap(k) = dot_product(rows%base(:,3,k), rows%point(:,k) - rows%other_point(:,k))
      else
        rows%point(:,k) = at%master
        rows%other_point(:,k) = at%slave
        call referential(state, m, at%master, rows%master_point(:,k))
        call referential(state, s, at%slave, rows%slave_point(:,k))
      end if
    end do
    end associate
    lost = count
  end subroutine update_rows

  !> Appends the contacts among candidate pairs, in the order of the pairs.
  !>
  !>   last            number of rows in use; new ones follow
  !>   alive           (:) bits of slots of a pair that already have rows (only with patches)
  !>   count           number of candidate pairs
  !>   epsilon, time, step_number   geometric epsilon; time and number of the step
  !>   excluded        (2,:) pairs of surface identifiers (lower, higher) between which there is no contact
  !>   first, second   (:) primitive rows of the pairs
  !>   tables          see `update_rows`; `rows`: all columns that contacts have, of new rows, out
  !>   created         number of contacts; if they do not fit, nothing is written: enlarge and call again
  !>
  !> See `update_rows` for other arguments.  New contacts start without reaction; only those of the time 0
  !> have cohesion.  Identifiers are given by the caller.
  subroutine create_rows(last, count, epsilon, time, step_number, excluded, first, second, patched, alive, tables, created)
    integer(i4), intent(in) :: last, count, excluded(:,0:), first(0:), second(0:), alive(0:)
    real(dp), intent(in) :: epsilon, time
    integer(i8), intent(in) :: step_number
    logical, intent(in) :: patched
    type(detection_tables), intent(inout) :: tables   !< its columns change
    integer(i4), intent(out) :: created
    integer(i4), allocatable :: pair(:)
    integer(i4) :: slots
    integer :: k, c, m, s, point_number
    type(contact_place) :: at

    allocate (pair(0:max(merge(4, 1, patched)*count, 1)-1))
    created = 0
    associate (results => tables%found, patches => tables%patches, shapes => tables%shapes, state => tables%state, &
               materials => tables%materials, rows => tables%rows)
    do c = 0, count - 1
      if (results%status(c) /= 1) cycle
      if (is_excluded(results%surface(:,c), excluded)) cycle
      slots = 1
      if (patched) slots = iand(patches%slots(c), not(alive(c)))
      do point_number = 0, 3
        if (.not. btest(slots, point_number)) cycle
        pair(created) = 4*c + point_number
        created = created + 1
      end do
    end do
    if (last + created > size(rows%id)) return
    !$omp parallel do if (pays(created, 80)) schedule(static) private(k, c, m, s, at)
    do k = last, last + created - 1
      c = pair(k-last)/4
      rows%slot(k) = mod(pair(k-last), 4)
      at = contact_place(results%slave_point(:,c), results%master_point(:,c), results%gap(c), results%area(c))
      if (patched) at = place_of(rows%slot(k), patches%slots(c), patches%point(:,:,c), patches%gap(:,c), &
        results%normal(:,c), at)
      rows%slave_primitive(k) = merge(first(c), second(c), results%outward(c) == 0)
      rows%master_primitive(k) = merge(second(c), first(c), results%outward(c) == 0)
      s = shapes%body(rows%slave_primitive(k))
      m = shapes%body(rows%master_primitive(k))
      call join_across_gap(state, shapes, m, s, [first(c), second(c)], results%normal(:,c), at)
      rows%slave(k) = s
      rows%master(k) = m
      rows%kind(k) = contact_kind
      rows%birth(k) = step_number
      rows%evaluated(k) = tables%work%updates
      call frame(results%normal(:,c), epsilon, rows%base(:,:,k))
      call note_curvature(shapes, rows, k)
      rows%gap(k) = at%gap
      rows%area(k) = at%area
      rows%surface(:,k) = results%surface(:,c)
      call look_up(rows%surface(:,k), materials, rows%material(k))
      rows%cohesion(k) = merge(materials%cohesion(rows%material(k)), 0.0_dp, time == 0.0_dp .and. at%gap <= epsilon)
      rows%damage(k) = 0.0_dp
      ! a bond is closed when it is made, whatever rounding lies between its sides
      if (rows%cohesion(k) > 0.0_dp .and. materials%model(rows%material(k)) == bonded) at%slave = at%master
      rows%point(:,k) = at%master
      rows%other_point(:,k) = at%slave
      call referential(state, m, at%master, rows%master_point(:,k))
      call referential(state, s, at%slave, rows%slave_point(:,k))
      rows%r(:,k) = 0.0_dp
      rows%moment(:,k) = 0.0_dp
      rows%u(:,k) = 0.0_dp
      rows%v(:,k) = 0.0_dp
      rows%merit(k) = 0.0_dp
      rows%residual(k) = 0.0_dp
    end do
    end associate
  end subroutine create_rows

  !> Notes what determines how the gap of contact k changes when its bodies turn (module turning_contacts): radii of curvature, and
  !> which body carries the normal along: that to whose face it is normal; both by halves where edges cross or faces lie on
  !> each other.
  subroutine note_curvature(shapes, rows, k)
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    integer, intent(in) :: k
    logical :: carries(2)
    integer(i4) :: primitive(2)
    integer :: side

    primitive = [rows%master_primitive(k), rows%slave_primitive(k)]
    do side = 1, 2
      rows%rounding(:,side,k) = rounding(shapes, primitive(side), rows%base(:,:,k))
      carries(side) = has_face(shapes, primitive(side), rows%base(:,3,k))
    end do
    rows%carriers(:,k) = merge(1.0_dp, 0.0_dp, carries)
    if (all(shapes%kind(primitive) < sphere) .and. (carries(1) .eqv. carries(2))) rows%carriers(:,k) = 0.5_dp
  end subroutine note_curvature

  !> Whether a primitive has a face along a direction.
  pure logical function has_face(shapes, primitive, direction)
    type(shape_tables), intent(in) :: shapes
    integer(i4), intent(in) :: primitive
    real(dp), intent(in) :: direction(3)
    integer(i4) :: face

    has_face = .false.
    if (shapes%kind(primitive) >= sphere) return
    do face = shapes%face_ptr(primitive), shapes%face_ptr(primitive) + shapes%outer_count(primitive) - 1
      has_face = abs(dot_product(shapes%normal(:,face), direction)) >= parallel
      if (has_face) return
    end do
  end function has_face

  !> Radii of curvature K_11, K_22, K_12 of a primitive in the tangents of a contact: zero of a polyhedron; of an ellipsoid
  !> {x + A s, |s| <= 1} the second derivative K = M/s - (M n)(M n)^T/s^3 of its support function s = sqrt(n.M n), M = A A^T.
  pure function rounding(shapes, primitive, base) result(radii)
    type(shape_tables), intent(in) :: shapes
    integer(i4), intent(in) :: primitive
    real(dp), intent(in) :: base(3,3)
    real(dp) :: radii(3), along(3,3), support

    radii = 0.0_dp
    if (shapes%kind(primitive) == sphere) radii(1:2) = shapes%radius(primitive)
    if (shapes%kind(primitive) /= ellipsoid) return
    along = matmul(transpose(shapes%axes(:,:,primitive)), base)
    support = norm2(along(:,3))
    along(:,1:2) = along(:,1:2) - spread(along(:,3), 2, 2)*spread(matmul(along(:,3), along(:,1:2))/support**2, 1, 3)
    radii = [sum(along(:,1)**2), sum(along(:,2)**2), dot_product(along(:,1), along(:,2))]/support
  end function rounding

  !> Removes contacts; the remaining rows move up and keep their order.
  !>
  !>   first, last   rows first <= k < last are considered
  !>   keep          (:) 1: stays, row by row from `first`
  !>   left          number of rows in use afterwards
  !>
  !> Moves all columns that contacts use; only the user's constraints use the others.
  subroutine keep_rows(first, last, keep, rows, left)
    integer(i4), intent(in) :: keep(0:)
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(in) :: first, last
    integer(i4), intent(out) :: left
    integer :: k, to

    to = first
    do k = first, last - 1
      if (keep(k-first) == 0) cycle
      if (to < k) then
        rows%id(to) = rows%id(k)
        rows%master(to) = rows%master(k)
        rows%slave(to) = rows%slave(k)
        rows%master_primitive(to) = rows%master_primitive(k)
        rows%slave_primitive(to) = rows%slave_primitive(k)
        rows%slot(to) = rows%slot(k)
        rows%master_point(:,to) = rows%master_point(:,k)
        rows%slave_point(:,to) = rows%slave_point(:,k)
        rows%point(:,to) = rows%point(:,k)
        rows%base(:,:,to) = rows%base(:,:,k)
        rows%r(:,to) = rows%r(:,k)
        rows%moment(:,to) = rows%moment(:,k)
        rows%u(:,to) = rows%u(:,k)
        rows%v(:,to) = rows%v(:,k)
        rows%rounding(:,:,to) = rows%rounding(:,:,k)
        rows%carriers(:,to) = rows%carriers(:,k)
        rows%gap(to) = rows%gap(k)
        rows%area(to) = rows%area(k)
        rows%surface(:,to) = rows%surface(:,k)
        rows%material(to) = rows%material(k)
        rows%cohesion(to) = rows%cohesion(k)
        rows%damage(to) = rows%damage(k)
        rows%other_point(:,to) = rows%other_point(:,k)
        rows%birth(to) = rows%birth(k)
        rows%evaluated(to) = rows%evaluated(k)
        rows%merit(to) = rows%merit(k)
        rows%residual(to) = rows%residual(k)
      end if
      to = to + 1
    end do
    left = to
  end subroutine keep_rows

  !> The deepest contact that reaches the depth limit (docs/language-running.md, UNPHYSICAL_PENETRATION); -1: none.
  !>
  !>   first, last     rows first <= k < last are contacts
  !>   depth           limit; a gap of -depth or less reaches it
  !>   step_number     contacts born in this step are always tested, older ones only if they are not cohesive
  subroutine deepest_row(first, last, depth, step_number, rows, row)
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(in) :: first, last
    real(dp), intent(in) :: depth
    integer(i8), intent(in) :: step_number
    integer(i4), intent(out) :: row
    real(dp) :: deepest
    integer :: k

    row = -1
    deepest = 0.0_dp
    do k = first, last - 1
      if (rows%gap(k) > -depth) cycle
      if (rows%cohesion(k) > 0.0_dp .and. rows%birth(k) /= step_number) cycle
      if (row >= 0 .and. rows%gap(k) >= deepest) cycle
      row = k
      deepest = rows%gap(k)
    end do
  end subroutine deepest_row

  !> Place of one point of a patch: bodies' points on either side of the gap, and an equal share of the area.  A patch with
  !> only the first slot is the whole contact.
  pure type(contact_place) function place_of(slot, slots, points, gaps, normal, whole) result(at)
    integer(i4), intent(in) :: slot, slots
    real(dp), intent(in) :: points(3,0:3), gaps(0:3), normal(3)
    type(contact_place), intent(in) :: whole

    at = whole
    if (slots == 1) return
    at%gap = gaps(slot)
    at%area = whole%area/popcnt(slots)
    at%slave = points(:,slot) - 0.5_dp*max(gaps(slot), 0.0_dp)*normal
    at%master = points(:,slot) + 0.5_dp*max(gaps(slot), 0.0_dp)*normal
  end function place_of

  !> Lets both bodies of a contact within a margin have one point along the normal: friction at two points, a gap apart,
  !> would change their angular momentum.
  !>
  !> Points of curved bodies that meet in flight (module narrow_phase) are not on one line along it. Each body keeps its own, at
  !> which it will be struck: one point for both would turn smooth balls, and give friction other arms than those of the impact.
  pure subroutine join_across_gap(state, shapes, m, s, primitives, normal, at)
    type(bodies_and_triples), intent(in) :: state
    type(shape_tables), intent(in) :: shapes
    integer(i4), intent(in) :: m, s, primitives(2)
    real(dp), intent(in) :: normal(3)
    type(contact_place), intent(inout) :: at
    real(dp) :: across, part, margin

    margin = minval(shapes%margin(primitives))
    if (.not. margin > 0.0_dp) return   ! two points, as in Solfec-1.0
    across = dot_product(at%master - at%slave, normal)
    if (any(shapes%kind(primitives) >= sphere)) then
      if (at%gap > margin .or. norm2(at%master - at%slave - across*normal) > aside*abs(across)) return
    end if
    part = part_beneath(state, m, s, at%gap)
    at%slave = at%slave + (part*across)*normal
    at%master = at%master - ((1.0_dp - part)*across)*normal
  end subroutine join_across_gap

  !> Part of the gap of a contact between the slave's surface and the common point of both bodies.
  !>
  !> An impact turns the lighter body more, so the point is the nearer to its surface the lighter it is; on the surface of
  !> a body that meets an obstacle.  Where curved bodies overlap others it is their own point.
  pure real(dp) function part_beneath(state, m, s, gap) result(part)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: m, s
    real(dp), intent(in) :: gap

    if (.not. gap > 0.0_dp .or. state%bodies%kind(s) == obstacle_kind) then
      part = 1.0_dp
    else if (state%bodies%kind(m) == obstacle_kind) then
      part = 0.0_dp
    else
      part = state%bodies%mass(s)/(state%bodies%mass(m) + state%bodies%mass(s))
    end if
  end function part_beneath

  !> Local frame, columns t1, t2, n: t1 = unit(e_x x n), or unit(e_y x n) where n is along e_x; t2 = t1 x n.
  !> The frame is left-handed (docs/theory.md, Contact points).  If epsilon exceeds 1 in the units of length, a normal
  !> along e_y must not count as one along e_x.
  pure subroutine frame(normal, epsilon, base)
    real(dp), intent(in) :: normal(3), epsilon
    real(dp), intent(out) :: base(3,3)
    real(dp) :: length

    base(:,3) = normal
    base(:,1) = [0.0_dp, -normal(3), normal(2)]
    length = sqrt(normal(2)**2 + normal(3)**2)
    if (length < min(epsilon, 0.5_dp)) then
      base(:,1) = [normal(3), 0.0_dp, -normal(1)]
      length = sqrt(normal(1)**2 + normal(3)**2)
    end if
    base(:,1) = base(:,1)/length
    base(1,2) = base(2,1)*normal(3) - base(3,1)*normal(2)
    base(2,2) = base(3,1)*normal(1) - base(1,1)*normal(3)
    base(3,2) = base(1,1)*normal(2) - base(2,1)*normal(1)
  end subroutine frame

  !> Gives known contact k a new normal.  Tangents follow axes of space, so they may turn about it by any angle while it hardly
  !> changes, as on a wall across x; the reaction of the last step, from which solvers begin and friction at springs follows,
  !> keeps its direction in space.
  subroutine turn_frame(normal, epsilon, rows, k)
    real(dp), intent(in) :: normal(3), epsilon
    type(constraint_table), intent(in) :: rows
    integer, intent(in) :: k
    real(dp) :: before(3,2)

    before = rows%base(:,1:2,k)
    call frame(normal, epsilon, rows%base(:,:,k))
    if (all(before == rows%base(:,1:2,k))) return
    rows%R(1:2,k) = matmul(matmul(before, rows%R(1:2,k)), rows%base(:,1:2,k))
    rows%moment(1:2,k) = matmul(matmul(before, rows%moment(1:2,k)), rows%base(:,1:2,k))
  end subroutine turn_frame

  !> Referential point that the map of body `b` takes to the spatial point x.
  pure subroutine referential(state, b, x, point)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: x(3)
    real(dp), intent(out) :: point(3)
    integer(i4) :: c

    c = state%bodies%conf_ptr(b)
    call pull_back(state%bodies%kind(b), state%configurations%conf(:,c:c+3), state%bodies%centre(:,b), x, point)
  end subroutine referential

  !> X = Xc + R^T (x - c) or Xc + F^-1 (x - c).
  pure subroutine pull_back(kind, conf, centre, x, point)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4), centre(3), x(3)
    real(dp), intent(out) :: point(3)
    real(dp) :: arm(3), normals(3,3), volume

    arm = x - conf(:,4)
    if (kind /= pseudo_rigid_kind) then
      point(1) = conf(1,1)*arm(1) + conf(2,1)*arm(2) + conf(3,1)*arm(3)
      point(2) = conf(1,2)*arm(1) + conf(2,2)*arm(2) + conf(3,2)*arm(3)
      point(3) = conf(1,3)*arm(1) + conf(2,3)*arm(2) + conf(3,3)*arm(3)
    else
      ! triples are the rows of F; the columns of F^-1 are cross products of rows over the determinant
      normals(:,1) = cross(conf(:,2), conf(:,3))
      normals(:,2) = cross(conf(:,3), conf(:,1))
      normals(:,3) = cross(conf(:,1), conf(:,2))
      volume = dot_product(conf(:,1), normals(:,1))
      point = (normals(:,1)*arm(1) + normals(:,2)*arm(2) + normals(:,3)*arm(3))/volume
    end if
    point = point + centre
  end subroutine pull_back

  !> Spatial point c + R (X - Xc) or c + F (X - Xc) of a referential point of body `b`.
  pure subroutine spatial(state, b, point, x)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: point(3)
    real(dp), intent(out) :: x(3)
    real(dp) :: arm(3), conf(3,4)

    conf = state%configurations%conf(:,state%bodies%conf_ptr(b):state%bodies%conf_ptr(b)+3)
    arm = point - state%bodies%centre(:,b)
    if (state%bodies%kind(b) /= pseudo_rigid_kind) then
      x = conf(:,1)*arm(1) + conf(:,2)*arm(2) + conf(:,3)*arm(3)
    else
      x = [dot_product(conf(:,1), arm), dot_product(conf(:,2), arm), dot_product(conf(:,3), arm)]
    end if
    x = x + conf(:,4)
  end subroutine spatial

  !> Row of the surface material of a pair (slave, master): of the exact pair, else of (slave, any), else of
  !> (master, any), else the default in row 0 (docs/language-objects.md, SURFACE_MATERIAL).
  pure subroutine look_up(pair, materials, row)
    integer(i4), intent(in) :: pair(2)
    type(surface_material_table), intent(in) :: materials
    integer(i4), intent(out) :: row
    integer :: k, rank, best

    row = 0
    best = 4
    do k = 0, int(materials%rows) - 1
      rank = 4
      if (materials%surface(1,k) == minval(pair) .and. materials%surface(2,k) == maxval(pair)) then
        rank = 1
      else if (materials%surface(2,k) == any_surface) then
        if (materials%surface(1,k) == pair(1)) then
          rank = 2
        else if (materials%surface(1,k) == pair(2)) then
          rank = 3
        end if
      end if
      if (rank < best) then
        best = rank
        row = k
      end if
    end do
  end subroutine look_up

  !> Whether contact between two surfaces is excluded.
  pure logical function is_excluded(pair, excluded)
    integer(i4), intent(in) :: pair(2), excluded(:,:)
    integer :: k

    is_excluded = .false.
    do k = 1, size(excluded, 2)
      if (excluded(1,k) == minval(pair) .and. excluded(2,k) == maxval(pair)) is_excluded = .true.
    end do
  end function is_excluded
end module contacts
