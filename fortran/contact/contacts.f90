!> Life of contacts: creation from what the narrow phase found, update, removal, penetration depth.
module contacts
  use kinds, only: dp, i4, i8
  implicit none
  private
  public :: update_rows, create_rows, keep_rows, deepest_row

  integer(i4), parameter :: pseudo_rigid_kind = 2, contact_kind = 0
  integer(i4), parameter :: any_surface = huge(1_i4)
  integer, parameter :: parallel_from = 500

contains

  !> Gives existing contacts the state that the narrow phase found with their roles frozen (slave first).
  !>
  !> A contact is kept while its primitives overlap, a cohesive one always.  Kept contacts get a new point,
  !> referential points, frame, gap, area and surfaces; R and U keep their local components.  Cohesive ones
  !> keep their referential points and are placed by the one on the master.  When the surfaces changed, the
  !> material is looked up again and cohesion is lost (it exists only from the time 0 on).
  !>
  !>   first, last     rows first <= k < last are contacts; result row k - first belongs to row k
  !>   epsilon, time   geometric epsilon; time at the start of the step
  !>   slave ... cohesion   columns of the constraint table
  !>   status ... result_surface   what the narrow phase found: 1 contact; normal outward from the slave;
  !>                   spatial points of slave and master; gap, area; surface identifiers (slave, master)
  !>   body_kind, conf_ptr, centre, conf   of bodies
  !>   nmaterial, material_surface, material_cohesion   the surface-material table
  !>   keep            (:) 1: contact stays, row by row from `first`, out
  !>   lost            number of contacts that do not
  subroutine update_rows(first, last, epsilon, time, slave, master, master_point, slave_point, point, base, &
      gap, area, surface, material, cohesion, status, normal, result_slave, result_master, result_gap, &
      result_area, result_surface, body_kind, conf_ptr, centre, conf, nmaterial, material_surface, &
      material_cohesion, keep, lost, rows, results, bodies, triples, materials)
    integer(i4), intent(in) :: first, last, nmaterial
    real(dp), intent(in) :: epsilon, time
    integer(i4), intent(in) :: rows, results, bodies, triples, materials
    integer(i4), intent(in) :: slave(0:rows-1), master(0:rows-1)
    real(dp), intent(inout) :: master_point(3,0:rows-1), slave_point(3,0:rows-1), point(3,0:rows-1)
    real(dp), intent(inout) :: base(3,3,0:rows-1), gap(0:rows-1), area(0:rows-1)
    integer(i4), intent(inout) :: surface(2,0:rows-1), material(0:rows-1)
    real(dp), intent(inout) :: cohesion(0:rows-1)
    integer(i4), intent(in) :: status(0:results-1)
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
    logical :: cohesive

    count = 0
    !$omp parallel do if (last - first > parallel_from) schedule(static) private(r, m, s, cohesive) &
    !$omp reduction(+:count)
    do k = first, last - 1
      r = k - first
      m = master(k)
      s = slave(k)
      cohesive = cohesion(k) > 0.0_dp
      keep(r) = merge(1, 0, status(r) == 1 .or. cohesive)
      if (keep(r) == 0) then
        count = count + 1
        cycle
      end if
      if (status(r) == 1) then
        if (any(surface(:,k) /= result_surface(:,r))) then
          surface(:,k) = result_surface(:,r)
          call look_up(surface(:,k), nmaterial, material_surface, material(k))
          cohesion(k) = merge(material_cohesion(material(k)), 0.0_dp, time == 0.0_dp)
        end if
        base(:,:,k) = frame(normal(:,r), epsilon)
        gap(k) = result_gap(r)
        area(k) = result_area(r)
      end if
      if (cohesive) then
        point(:,k) = spatial(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+3), centre(:,m), master_point(:,k))
      else
        point(:,k) = result_master(:,r)
        master_point(:,k) = referential(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+3), centre(:,m), result_master(:,r))
        slave_point(:,k) = referential(body_kind(s), conf(:,conf_ptr(s):conf_ptr(s)+3), centre(:,s), result_slave(:,r))
      end if
    end do
    lost = count
  end subroutine update_rows

  !> Appends the contacts that the narrow phase found among candidate pairs, in the order of the pairs.
  !>
  !>   last            number of rows in use; new ones follow
  !>   count           number of candidate pairs
  !>   epsilon, time, step_number   geometric epsilon; time and number of the step
  !>   nexcluded, excluded   (2,:) pairs of surface identifiers (lower, higher) between which there is no contact
  !>   first, second   (:) primitive rows of the pairs
  !>   status, outward ... result_surface   what the narrow phase found; outward 0: the first primitive is the slave
  !>   primitive_body  (:) body rows of primitives
  !>   created         number of contacts; when they do not fit, nothing is written: enlarge and call again
  !>
  !> Other arguments as in `update_rows`.  New contacts start without reaction; only those of the time 0
  !> have cohesion.  Identifiers are given by the caller.
  subroutine create_rows(last, count, epsilon, time, step_number, nexcluded, excluded, first, second, status, &
      outward, normal, result_slave, result_master, result_gap, result_area, result_surface, primitive_body, &
      body_kind, conf_ptr, centre, conf, nmaterial, material_surface, material_cohesion, kind, master, slave, &
      master_primitive, slave_primitive, master_point, slave_point, point, base, R, U, V, gap, area, surface, &
      material, cohesion, birth, merit, residual, created, exclusions, pairs, results, primitives, bodies, &
      triples, materials, rows)
    integer(i4), intent(in) :: last, count, nexcluded, nmaterial
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
    integer(i4), intent(inout) :: master_primitive(0:rows-1), slave_primitive(0:rows-1)
    real(dp), intent(inout) :: master_point(3,0:rows-1), slave_point(3,0:rows-1), point(3,0:rows-1)
    real(dp), intent(inout) :: base(3,3,0:rows-1), R(3,0:rows-1), U(3,0:rows-1), V(3,0:rows-1)
    real(dp), intent(inout) :: gap(0:rows-1), area(0:rows-1)
    integer(i4), intent(inout) :: surface(2,0:rows-1), material(0:rows-1)
    real(dp), intent(inout) :: cohesion(0:rows-1)
    integer(i8), intent(inout) :: birth(0:rows-1)
    real(dp), intent(inout) :: merit(0:rows-1), residual(0:rows-1)
    integer(i4), intent(out) :: created
    integer(i4) :: pair(max(count, 1))
    integer :: k, c, m, s

    created = 0
    do c = 0, count - 1
      if (status(c) /= 1) cycle
      if (nexcluded > 0) then
        if (is_excluded(result_surface(:,c), nexcluded, excluded)) cycle
      end if
      created = created + 1
      pair(created) = c
    end do
    if (last + created > rows) return
    !$omp parallel do if (created > parallel_from) schedule(static) private(k, c, m, s)
    do k = last, last + created - 1
      c = pair(k-last+1)
      slave_primitive(k) = merge(first(c), second(c), outward(c) == 0)
      master_primitive(k) = merge(second(c), first(c), outward(c) == 0)
      s = primitive_body(slave_primitive(k))
      m = primitive_body(master_primitive(k))
      slave(k) = s
      master(k) = m
      kind(k) = contact_kind
      birth(k) = step_number
      point(:,k) = result_master(:,c)
      master_point(:,k) = referential(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+3), centre(:,m), result_master(:,c))
      slave_point(:,k) = referential(body_kind(s), conf(:,conf_ptr(s):conf_ptr(s)+3), centre(:,s), result_slave(:,c))
      base(:,:,k) = frame(normal(:,c), epsilon)
      gap(k) = result_gap(c)
      area(k) = result_area(c)
      surface(:,k) = result_surface(:,c)
      call look_up(surface(:,k), nmaterial, material_surface, material(k))
      cohesion(k) = merge(material_cohesion(material(k)), 0.0_dp, time == 0.0_dp)
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
  subroutine keep_rows(first, last, keep, id, master, slave, master_primitive, slave_primitive, master_point, &
      slave_point, point, base, R, U, V, gap, area, surface, material, cohesion, birth, merit, residual, left, rows)
    integer(i4), intent(in) :: first, last, rows
    integer(i4), intent(in) :: keep(0:rows-1)
    integer(i8), intent(inout) :: id(0:rows-1)
    integer(i4), intent(inout) :: master(0:rows-1), slave(0:rows-1)
    integer(i4), intent(inout) :: master_primitive(0:rows-1), slave_primitive(0:rows-1)
    real(dp), intent(inout) :: master_point(3,0:rows-1), slave_point(3,0:rows-1), point(3,0:rows-1)
    real(dp), intent(inout) :: base(3,3,0:rows-1), R(3,0:rows-1), U(3,0:rows-1), V(3,0:rows-1)
    real(dp), intent(inout) :: gap(0:rows-1), area(0:rows-1)
    integer(i4), intent(inout) :: surface(2,0:rows-1), material(0:rows-1)
    real(dp), intent(inout) :: cohesion(0:rows-1)
    integer(i8), intent(inout) :: birth(0:rows-1)
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
