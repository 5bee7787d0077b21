!> Life of contacts: creation from what the narrow phase found, update, removal, penetration depth.
module contacts
  use kinds, only: dp, i4, i8
  use kind_numbers, only: pseudo_rigid_kind => body_pseudo_rigid, contact_kind => constraint_contact
  use contact_record, only: contact_place
  implicit none
  private
  public :: update_rows, create_rows, keep_rows, deepest_row

  integer(i4), parameter :: any_surface = huge(1_i4)
  integer, parameter :: parallel_from = 500

contains

  !> Gives existing contacts the state that the narrow phase found with their roles frozen (slave first).
  !>
  !> A contact is kept while its primitives overlap, a cohesive one always.  Kept contacts get a new point,
  !> referential points, frame, gap, area and surfaces; R and U keep their local components.  Cohesive ones
  !> keep their referential points and are placed by the one on the master.  When the surfaces changed, the
  !> material is looked up again and cohesion is lost (it exists only from the time 0 on, between bodies that touch).
  !>
  !>   first, last     rows first <= k < last are contacts
  !>   epsilon, time, now   geometric epsilon; time at the start of the step; number of the last update of shapes
  !>   slave ... evaluated   columns of the constraint table
  !>   result_of       (:) row by row from `first` the result that belongs to a contact; -1: it stays as it is
  !>   status ... result_surface   what the narrow phase found: 1 contact; normal outward from the slave;
  !>                   spatial points of slave and master; gap, area; surface identifiers (slave, master)
  !>   body_kind, conf_ptr, centre, conf   of bodies
  !>   nmaterial, material_surface, material_cohesion   the surface-material table
  !>   npatch          number of results with contact patches: 0 or all of them
  !>   patch_slots, patch_point, patch_gap   see `contact_patch`
  !>   keep            (:) 1: contact stays, row by row from `first`, out
  !>   lost            number of contacts that do not
  subroutine update_rows(first, last, epsilon, time, now, npatch, nmaterial, slave, master, slot, master_point, slave_point, &
      point, base, gap, area, surface, material, cohesion, evaluated, result_of, status, normal, result_slave, result_master, &
      result_gap, result_area, result_surface, patch_slots, patch_point, patch_gap, body_kind, conf_ptr, centre, conf, &
      material_surface, material_cohesion, keep, lost, rows, results, patches, bodies, triples, materials)
    integer(i4), intent(in) :: first, last, nmaterial, npatch, patches
    integer(i8), intent(in) :: now
    real(dp), intent(in) :: epsilon, time
    integer(i4), intent(in) :: rows, results, bodies, triples, materials
    integer(i4), intent(in) :: slave(0:rows-1), master(0:rows-1), slot(0:rows-1), result_of(0:rows-1)
    real(dp), intent(inout) :: master_point(3,0:rows-1), slave_point(3,0:rows-1), point(3,0:rows-1)
    real(dp), intent(inout) :: base(3,3,0:rows-1), gap(0:rows-1), area(0:rows-1)
    integer(i4), intent(inout) :: surface(2,0:rows-1), material(0:rows-1)
    real(dp), intent(inout) :: cohesion(0:rows-1)
    integer(i8), intent(inout) :: evaluated(0:rows-1)
    integer(i4), intent(in) :: status(0:results-1)
    integer(i4), intent(in) :: patch_slots(0:patches-1)
    real(dp), intent(in) :: patch_point(3,0:3,0:patches-1), patch_gap(0:3,0:patches-1)
    real(dp), intent(in) :: normal(3,0:results-1), result_slave(3,0:results-1), result_master(3,0:results-1)
    real(dp), intent(in) :: result_gap(0:results-1), result_area(0:results-1)
    integer(i4), intent(in) :: result_surface(2,0:results-1)
    integer(i4), intent(in) :: body_kind(0:bodies-1), conf_ptr(0:bodies-1)
    real(dp), intent(in) :: centre(3,0:bodies-1), conf(3,0:triples-1)
    integer(i4), intent(in) :: material_surface(2,0:materials-1)
    real(dp), intent(in) :: material_cohesion(0:materials-1)
    integer(i4), intent(inout) :: keep(0:rows-1)
    integer(i4), intent(out) :: lost
    integer(i4) :: count
    integer :: k, r, m, s
    logical :: cohesive, found
    type(contact_place) :: at

    count = 0
    !$omp parallel do if (last - first > parallel_from) schedule(static) private(r, m, s, cohesive, found, at) &
    !$omp reduction(+:count)
    do k = first, last - 1
      r = result_of(k-first)
      keep(k-first) = 1
      if (r < 0) cycle
      m = master(k)
      s = slave(k)
      cohesive = cohesion(k) > 0.0_dp
      found = status(r) == 1
      if (found) then
        at = contact_place(result_slave(:,r), result_master(:,r), result_gap(r), result_area(r))
        if (npatch > 0) then
          found = btest(patch_slots(r), slot(k))
          if (found) at = place_of(slot(k), patch_slots(r), patch_point(:,:,r), patch_gap(:,r), normal(:,r), at)
        else if (slot(k) > 0) then
          found = .false.
        end if
      end if
      if (.not. (found .or. cohesive)) then
        keep(k-first) = 0
        count = count + 1
        cycle
      end if
      evaluated(k) = merge(now, -1_i8, found .and. .not. cohesive)
      if (found) then
        if (any(surface(:,k) /= result_surface(:,r))) then
          surface(:,k) = result_surface(:,r)
          call look_up(surface(:,k), nmaterial, material_surface, material(k))
          cohesion(k) = merge(material_cohesion(material(k)), 0.0_dp, time == 0.0_dp .and. at%gap <= epsilon)
        end if
        base(:,:,k) = frame(normal(:,r), epsilon)
        gap(k) = at%gap
        area(k) = at%area
      end if
      if (cohesive) then
        point(:,k) = spatial(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+3), centre(:,m), master_point(:,k))
      else
        point(:,k) = at%master
        master_point(:,k) = referential(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+3), centre(:,m), at%master)
        slave_point(:,k) = referential(body_kind(s), conf(:,conf_ptr(s):conf_ptr(s)+3), centre(:,s), at%slave)
      end if
    end do
    lost = count
  end subroutine update_rows

  !> Appends the contacts that the narrow phase found among candidate pairs, in the order of the pairs.
  !>
  !>   last            number of rows in use; new ones follow
  !>   npatch, patch_slots, patch_point, patch_gap   see `update_rows`
  !>   alive           (:) bits of slots of a pair that are in contact already (only with patches)
  !>   count           number of candidate pairs
  !>   epsilon, time, step_number, now   geometric epsilon; time and number of the step; number of the last update of shapes
  !>   nexcluded, excluded   (2,:) pairs of surface identifiers (lower, higher) between which there is no contact
  !>   first, second   (:) primitive rows of the pairs
  !>   status, outward ... result_surface   what the narrow phase found; outward 0: the first primitive is the slave
  !>   primitive_body  (:) body rows of primitives
  !>   created         number of contacts; when they do not fit, nothing is written: enlarge and call again
  !>
  !> Other arguments as in `update_rows`.  New contacts start without reaction; only those of the time 0
  !> have cohesion.  Identifiers are given by the caller.
  subroutine create_rows(last, count, epsilon, time, step_number, now, nexcluded, excluded, first, second, npatch, alive, &
      nmaterial, status, outward, normal, result_slave, result_master, result_gap, result_area, result_surface, patch_slots, &
      patch_point, patch_gap, primitive_body, body_kind, conf_ptr, centre, conf, material_surface, material_cohesion, kind, &
      master, slave, master_primitive, slave_primitive, slot, master_point, slave_point, point, base, R, U, V, gap, area, &
      surface, material, cohesion, birth, evaluated, merit, residual, created, exclusions, pairs, results, patches, livings, &
      primitives, bodies, triples, materials, rows)
    integer(i4), intent(in) :: last, count, nexcluded, nmaterial, npatch, patches, livings
    integer(i8), intent(in) :: now
    integer(i4), intent(in) :: patch_slots(0:patches-1), alive(0:livings-1)
    real(dp), intent(in) :: patch_point(3,0:3,0:patches-1), patch_gap(0:3,0:patches-1)
    real(dp), intent(in) :: epsilon, time
    integer(i8), intent(in) :: step_number
    integer(i4), intent(in) :: exclusions, pairs, results, primitives, bodies, triples, materials, rows
    integer(i4), intent(in) :: excluded(2,0:exclusions-1)
    integer(i4), intent(in) :: first(0:pairs-1), second(0:pairs-1)
    integer(i4), intent(in) :: status(0:results-1), outward(0:results-1)
    real(dp), intent(in) :: normal(3,0:results-1), result_slave(3,0:results-1), result_master(3,0:results-1)
    real(dp), intent(in) :: result_gap(0:results-1), result_area(0:results-1)
    integer(i4), intent(in) :: result_surface(2,0:results-1)
    integer(i4), intent(in) :: primitive_body(0:primitives-1)
    integer(i4), intent(in) :: body_kind(0:bodies-1), conf_ptr(0:bodies-1)
    real(dp), intent(in) :: centre(3,0:bodies-1), conf(3,0:triples-1)
    integer(i4), intent(in) :: material_surface(2,0:materials-1)
    real(dp), intent(in) :: material_cohesion(0:materials-1)
    integer(i4), intent(inout) :: kind(0:rows-1), master(0:rows-1), slave(0:rows-1)
    integer(i4), intent(inout) :: master_primitive(0:rows-1), slave_primitive(0:rows-1), slot(0:rows-1)
    real(dp), intent(inout) :: master_point(3,0:rows-1), slave_point(3,0:rows-1), point(3,0:rows-1)
    real(dp), intent(inout) :: base(3,3,0:rows-1), R(3,0:rows-1), U(3,0:rows-1), V(3,0:rows-1)
    real(dp), intent(inout) :: gap(0:rows-1), area(0:rows-1)
    integer(i4), intent(inout) :: surface(2,0:rows-1), material(0:rows-1)
    real(dp), intent(inout) :: cohesion(0:rows-1)
    integer(i8), intent(inout) :: birth(0:rows-1), evaluated(0:rows-1)
    real(dp), intent(inout) :: merit(0:rows-1), residual(0:rows-1)
    integer(i4), intent(out) :: created
    integer(i4), allocatable :: pair(:)
    integer(i4) :: slots
    integer :: k, c, m, s, point_number
    type(contact_place) :: at

    allocate (pair(0:max(merge(4, 1, npatch > 0)*count, 1)-1))
    created = 0
    do c = 0, count - 1
      if (status(c) /= 1) cycle
      if (nexcluded > 0) then
        if (is_excluded(result_surface(:,c), nexcluded, excluded)) cycle
      end if
      slots = 1
      if (npatch > 0) slots = iand(patch_slots(c), not(alive(c)))
      do point_number = 0, 3
        if (.not. btest(slots, point_number)) cycle
        pair(created) = 4*c + point_number
        created = created + 1
      end do
    end do
    if (last + created > rows) return
    !$omp parallel do if (created > parallel_from) schedule(static) private(k, c, m, s, at)
    do k = last, last + created - 1
      c = pair(k-last)/4
      slot(k) = mod(pair(k-last), 4)
      at = contact_place(result_slave(:,c), result_master(:,c), result_gap(c), result_area(c))
      if (npatch > 0) at = place_of(slot(k), patch_slots(c), patch_point(:,:,c), patch_gap(:,c), normal(:,c), at)
      slave_primitive(k) = merge(first(c), second(c), outward(c) == 0)
      master_primitive(k) = merge(second(c), first(c), outward(c) == 0)
      s = primitive_body(slave_primitive(k))
      m = primitive_body(master_primitive(k))
      slave(k) = s
      master(k) = m
      kind(k) = contact_kind
      birth(k) = step_number
      evaluated(k) = now
      point(:,k) = at%master
      master_point(:,k) = referential(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+3), centre(:,m), at%master)
      slave_point(:,k) = referential(body_kind(s), conf(:,conf_ptr(s):conf_ptr(s)+3), centre(:,s), at%slave)
      base(:,:,k) = frame(normal(:,c), epsilon)
      gap(k) = at%gap
      area(k) = at%area
      surface(:,k) = result_surface(:,c)
      call look_up(surface(:,k), nmaterial, material_surface, material(k))
      cohesion(k) = merge(material_cohesion(material(k)), 0.0_dp, time == 0.0_dp .and. at%gap <= epsilon)
      R(:,k) = 0.0_dp
      U(:,k) = 0.0_dp
      V(:,k) = 0.0_dp
      merit(k) = 0.0_dp
      residual(k) = 0.0_dp
    end do
  end subroutine create_rows

  !> Removes contacts; the others move up in their order.
  !>
  !>   first, last   rows first <= k < last are looked at
  !>   keep          (:) 1: stays, row by row from `first`
  !>   left          number of rows in use afterwards
  !>
  !> The columns are all that contacts use; the user's constraints alone use the others.
  subroutine keep_rows(first, last, keep, id, master, slave, master_primitive, slave_primitive, slot, master_point, &
      slave_point, point, base, R, U, V, gap, area, surface, material, cohesion, birth, evaluated, merit, residual, left, rows)
    integer(i4), intent(in) :: first, last, rows
    integer(i4), intent(in) :: keep(0:rows-1)
    integer(i8), intent(inout) :: id(0:rows-1)
    integer(i4), intent(inout) :: master(0:rows-1), slave(0:rows-1)
    integer(i4), intent(inout) :: master_primitive(0:rows-1), slave_primitive(0:rows-1), slot(0:rows-1)
    real(dp), intent(inout) :: master_point(3,0:rows-1), slave_point(3,0:rows-1), point(3,0:rows-1)
    real(dp), intent(inout) :: base(3,3,0:rows-1), R(3,0:rows-1), U(3,0:rows-1), V(3,0:rows-1)
    real(dp), intent(inout) :: gap(0:rows-1), area(0:rows-1)
    integer(i4), intent(inout) :: surface(2,0:rows-1), material(0:rows-1)
    real(dp), intent(inout) :: cohesion(0:rows-1)
    integer(i8), intent(inout) :: birth(0:rows-1), evaluated(0:rows-1)
    real(dp), intent(inout) :: merit(0:rows-1), residual(0:rows-1)
    integer(i4), intent(out) :: left
    integer :: k, to

    to = first
    do k = first, last - 1
      if (keep(k-first) == 0) cycle
      if (to < k) then
        id(to) = id(k)
        master(to) = master(k)
        slave(to) = slave(k)
        master_primitive(to) = master_primitive(k)
        slave_primitive(to) = slave_primitive(k)
        slot(to) = slot(k)
        master_point(:,to) = master_point(:,k)
        slave_point(:,to) = slave_point(:,k)
        point(:,to) = point(:,k)
        base(:,:,to) = base(:,:,k)
        R(:,to) = R(:,k)
        U(:,to) = U(:,k)
        V(:,to) = V(:,k)
        gap(to) = gap(k)
        area(to) = area(k)
        surface(:,to) = surface(:,k)
        material(to) = material(k)
        cohesion(to) = cohesion(k)
        birth(to) = birth(k)
        evaluated(to) = evaluated(k)
        merit(to) = merit(k)
        residual(to) = residual(k)
      end if
      to = to + 1
    end do
    left = to
  end subroutine keep_rows

  !> The deepest contact that reaches the depth limit (manual, UNPHYSICAL_PENETRATION); -1: none.
  !>
  !>   first, last     rows first <= k < last are contacts
  !>   depth           limit; a gap of -depth or less reaches it
  !>   step_number     contacts of this birth step are tested in any case, older ones unless they are cohesive
  subroutine deepest_row(first, last, depth, step_number, gap, cohesion, birth, row, rows)
    integer(i4), intent(in) :: first, last, rows
    real(dp), intent(in) :: depth
    integer(i8), intent(in) :: step_number
    real(dp), intent(in) :: gap(0:rows-1), cohesion(0:rows-1)
    integer(i8), intent(in) :: birth(0:rows-1)
    integer(i4), intent(out) :: row
    real(dp) :: deepest
    integer :: k

    row = -1
    deepest = 0.0_dp
    do k = first, last - 1
      if (gap(k) > -depth) cycle
      if (cohesion(k) > 0.0_dp .and. birth(k) /= step_number) cycle
      if (row >= 0 .and. gap(k) >= deepest) cycle
      row = k
      deepest = gap(k)
    end do
  end subroutine deepest_row

  !> One point of a patch: bodies' points on either side of the gap, an equal share of the area.  A patch that has but
  !> the first slot is the whole contact.
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

  !> Local frame, columns t1, t2, n: t1 = unit(e_x x n), or unit(e_y x n) where n is along e_x; t2 = t1 x n.
  !> The frame is left-handed (theory, section "Contact points").  Where lengths are in such units that epsilon
  !> exceeds 1, a normal along e_y must not be taken for one along e_x.
  pure function frame(normal, epsilon) result(base)
    real(dp), intent(in) :: normal(3), epsilon
    real(dp) :: base(3,3), length

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
  end function frame

  !> Referential point that a body's map takes to the spatial point x: Xc + R^T (x - c) or Xc + F^-1 (x - c).
  pure function referential(kind, conf, centre, x) result(point)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4), centre(3), x(3)
    real(dp) :: point(3), arm(3), normals(3,3), volume

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
  end function referential

  !> Spatial point c + R (X - Xc) or c + F (X - Xc) of a referential point.
  pure function spatial(kind, conf, centre, point) result(x)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4), centre(3), point(3)
    real(dp) :: x(3), arm(3)

    arm = point - centre
    if (kind /= pseudo_rigid_kind) then
      x = conf(:,1)*arm(1) + conf(:,2)*arm(2) + conf(:,3)*arm(3)
    else
      x = [dot_product(conf(:,1), arm), dot_product(conf(:,2), arm), dot_product(conf(:,3), arm)]
    end if
    x = x + conf(:,4)
  end function spatial

  pure function cross(a, b) result(c)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: c(3)

    c = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function cross

  !> Row of the surface material of a pair (slave, master): of the exact pair, else of (slave, any), else of
  !> (master, any), else the default in row 0 (manual, SURFACE_MATERIAL).
  pure subroutine look_up(pair, n, surface, row)
    integer(i4), intent(in) :: pair(2)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: surface(2,0:*)
    integer(i4), intent(out) :: row
    integer :: k, rank, best

    row = 0
    best = 4
    do k = 0, n - 1
      rank = 4
      if (surface(1,k) == minval(pair) .and. surface(2,k) == maxval(pair)) then
        rank = 1
      else if (surface(2,k) == any_surface) then
        if (surface(1,k) == pair(1)) then
          rank = 2
        else if (surface(1,k) == pair(2)) then
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
  pure logical function is_excluded(pair, n, excluded)
    integer(i4), intent(in) :: pair(2)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: excluded(2,*)
    integer :: k

    is_excluded = .false.
    do k = 1, n
      if (excluded(1,k) == minval(pair) .and. excluded(2,k) == maxval(pair)) is_excluded = .true.
    end do
  end function is_excluded

end module contacts
