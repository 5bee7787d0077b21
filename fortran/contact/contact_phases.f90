!> Detection in a time step in one call: known contacts follow the shapes, new ones are found.
!>
!> Nothing is computed here.  The kernels below could be called one by one, but Python in between would have to be
!> fetched from memory again after each, since kernels that work on large models empty the caches.
module contact_phases
  use kinds, only: dp, i4, i8
  use pair_cache, only: boxes_inside, select_pairs, note_apart, select_contacts
  use narrow_phase, only: find_contacts
  use contact_patch, only: find_patches
  use manifolds, only: find_manifolds
  use contacts, only: update_rows, create_rows, keep_rows
  use sparsify, only: sparsify_rows
  implicit none
  private
  public :: detect

  integer(i4), parameter :: follow = 1, join = 2, find = 3   !< stages
  integer(i4), parameter :: manifold_points = 2, sphere = 2   !< value of `patched`; kinds of primitives below are polyhedra
  integer(i4), parameter :: done = 0, search = 1, results_lack = 2, rows_lack = 3   !< outcomes

contains

  !> Stages `from` to `to` of 1 known contacts follow (`select_contacts`, `find_contacts`,
  !> `find_patches`, `update_rows`, `keep_rows`); 2 points join the patches of these (`create_rows`); 3 new contacts among the
  !> pairs whose fat boxes overlap (`boxes_inside`, `select_pairs`, `find_contacts`, `note_apart`, `find_patches`,
  !> `create_rows`, `sparsify_rows`, `keep_rows`).  Arguments are described there, but for
  !>
  !>   fresh           1: pairs have just been searched; 0: fat boxes and flags of self-contact are checked first; -1: they
  !>                   must be searched
  !>   known_flags     flags of self-contact at the search
  !>   searched, sorted, member, still   see `boxes_inside`
  !>   first, last     rows first <= k < last are contacts
  !>   looked, new     what an interrupted call returned as `count` and `start`
  !>   patched         1: faces that lie on each other share several contacts; 2: polyhedra have those of `manifold`
  !>   speculative     1: contacts may act before bodies meet, see `contact_of_polyhedra`
  !>   reach           (:) from which primitives can come into contact, near (:) margins, drift (3,4,:) ways; see `primitive_motion`
  !>   known_one, known_two   pairs of known contacts; one, two: those of new ones
  !>   outcome         0 done; 1 pairs must be searched anew; 2 `needed` results, 3 `needed` rows must have room (call again
  !>                   from `stage` on, of which nothing has been changed)
  !>   count           known pairs looked at; start: first row of those that are new in this step
  !>   found           new pairs looked at; guesses: those among them with a contact that is degenerate
  !>   flags           flags of self-contact
  !>   left, removed   rows in use afterwards; new contacts that sparsification removed again
  !>   cohesive        1: some contact has cohesion
  subroutine detect(from, to, looked, new, fresh, known_flags, searched, sorted, nprimitive, nbody, pairs, &
      first, last, epsilon, margin, time, step_number, now, patched, speculative, nmaterial, threshold, &
      min_area, min_distance, next_id, nexcluded, excluded, &
      id, constraint_kind, master, slave, master_primitive, slave_primitive, slot, master_point, slave_point, point, base, &
      r, u, v, gap, area, surface, material, cohesion, birth, evaluated, merit, residual, keep, &
      result_of, known_one, known_two, alive, kept_at, fat, member, still, low, high, apart, mark, one, two, place, moved, &
      selfcontact, kind, primitive_surface, radius, axes, reach, near, drift, box, vertex_ptr, vertex_count, face_ptr, face_count, &
      outer_count, edge_count, primitive_body, adjacent_ptr, adjacent_count, adjacent, &
      vertex_list, corner_ptr, corner_count, face_surface, face_normal, corner, edge, corner_vertex, current, &
      status, outward, degenerate, normal, result_slave, result_master, result_gap, result_area, result_surface, &
      patch_slots, patch_point, patch_gap, body_kind, conf_ptr, centre, conf, material_surface, material_cohesion, &
      outcome, stage, needed, count, start, found, guesses, flags, left, removed, cohesive, error, error_row, &
      rows, capacity, primitives, neighbours, listed, faces, corners, vertices, results, patches, bodies, triples, materials, &
      exclusions, members, stills)
    integer(i4), intent(in) :: from, to, looked, new
    integer(i4), intent(in) :: fresh, nprimitive, nbody, pairs, first, last, patched, speculative, nmaterial, nexcluded
    integer(i8), intent(in) :: searched, sorted
    integer(i4), intent(in) :: members, stills
    integer(i4), intent(in) :: member(0:members-1), still(0:stills-1)
    integer(i8), intent(in) :: known_flags, step_number, now, next_id
    integer(i4), intent(in) :: rows, capacity, primitives, neighbours, listed, faces, corners, vertices, results, patches
    integer(i4), intent(in) :: bodies, triples, materials, exclusions
    real(dp), intent(in) :: epsilon, margin, time, threshold, min_area, min_distance
    integer(i4), intent(in) :: excluded(2,0:exclusions-1)
    integer(i8), intent(inout) :: id(0:rows-1)
    integer(i4), intent(inout) :: constraint_kind(0:rows-1), master(0:rows-1), slave(0:rows-1)
    integer(i4), intent(inout) :: master_primitive(0:rows-1), slave_primitive(0:rows-1), slot(0:rows-1)
    real(dp), intent(inout) :: master_point(3,0:rows-1), slave_point(3,0:rows-1), point(3,0:rows-1)
    real(dp), intent(inout) :: base(3,3,0:rows-1), r(3,0:rows-1), u(3,0:rows-1), v(3,0:rows-1)
    real(dp), intent(inout) :: gap(0:rows-1), area(0:rows-1)
    integer(i4), intent(inout) :: surface(2,0:rows-1), material(0:rows-1)
    real(dp), intent(inout) :: cohesion(0:rows-1)
    integer(i8), intent(inout) :: birth(0:rows-1), evaluated(0:rows-1)
    real(dp), intent(inout) :: merit(0:rows-1), residual(0:rows-1)
    integer(i4), intent(inout) :: keep(0:rows-1)
    integer(i4), intent(inout) :: result_of(0:rows-1), known_one(0:rows-1), known_two(0:rows-1), alive(0:rows-1)
    integer(i4), intent(inout) :: kept_at(0:rows-1)
    real(dp), intent(in) :: fat(6,0:primitives-1)
    integer(i4), intent(in) :: low(0:capacity-1), high(0:capacity-1)
    integer(i8), intent(inout) :: apart(0:capacity-1)
    integer(i4), intent(inout) :: mark(0:capacity-1), one(0:capacity-1), two(0:capacity-1), place(0:capacity-1)
    integer(i8), intent(in) :: moved(0:bodies-1)
    integer(i4), intent(in) :: selfcontact(0:bodies-1)
    integer(i4), intent(in) :: kind(0:primitives-1), primitive_surface(0:primitives-1)
    real(dp), intent(in) :: radius(0:primitives-1)
    real(dp), intent(in) :: reach(0:primitives-1), near(0:primitives-1), drift(3,4,0:primitives-1)
    real(dp), intent(in) :: axes(3,3,0:primitives-1), box(6,0:primitives-1)
    integer(i4), intent(in) :: vertex_ptr(0:primitives-1), vertex_count(0:primitives-1)
    integer(i4), intent(in) :: face_ptr(0:primitives-1), face_count(0:primitives-1), outer_count(0:primitives-1)
    integer(i4), intent(in) :: edge_count(0:primitives-1)
    integer(i4), intent(in) :: primitive_body(0:primitives-1), adjacent_ptr(0:primitives-1), adjacent_count(0:primitives-1)
    integer(i4), intent(in) :: adjacent(0:neighbours-1)
    integer(i4), intent(in) :: vertex_list(0:listed-1)
    integer(i4), intent(in) :: corner_ptr(0:faces-1), corner_count(0:faces-1), face_surface(0:faces-1)
    real(dp), intent(in) :: face_normal(3,0:faces-1)
    integer(i4), intent(in) :: corner(0:corners-1), edge(0:corners-1), corner_vertex(0:corners-1)
    real(dp), intent(in) :: current(3,0:vertices-1)
    integer(i4), intent(inout) :: status(0:results-1), outward(0:results-1), degenerate(0:results-1)
    real(dp), intent(inout) :: normal(3,0:results-1), result_slave(3,0:results-1), result_master(3,0:results-1)
    real(dp), intent(inout) :: result_gap(0:results-1), result_area(0:results-1)
    integer(i4), intent(inout) :: result_surface(2,0:results-1)
    integer(i4), intent(inout) :: patch_slots(0:patches-1)
    real(dp), intent(inout) :: patch_point(3,0:3,0:patches-1), patch_gap(0:3,0:patches-1)
    integer(i4), intent(in) :: body_kind(0:bodies-1), conf_ptr(0:bodies-1)
    real(dp), intent(in) :: centre(3,0:bodies-1), conf(3,0:triples-1)
    integer(i4), intent(in) :: material_surface(2,0:materials-1)
    real(dp), intent(in) :: material_cohesion(0:materials-1)
    integer(i4), intent(out) :: outcome
    integer(i4), intent(out) :: stage, needed, count, start, found, guesses, left, removed, cohesive, error, error_row
    integer(i8), intent(out) :: flags

    outcome = done
    needed = 0
    count = looked
    start = new
    found = 0
    guesses = 0
    flags = known_flags
    left = last
    removed = 0
    error = 0
    error_row = -1
    do stage = from, to
      select case (stage)
      case (follow)
        call follow_contacts
        start = left
      case (join)
        if (patched /= 0 .and. count > 0) call join_patches
      case (find)
        call find_new_contacts
      end select
      if (outcome /= done .or. error /= 0) exit
    end do
    cohesive = merge(1_i4, 0_i4, any(cohesion(first:left-1) > 0))

  contains

    !> Known contacts at the present shapes; those that opened are removed.
    subroutine follow_contacts
      integer(i4) :: lost

      count = 0
      if (left == first) return
      if (left > results .or. (patched /= 0 .and. left > patches)) then
        outcome = results_lack
        needed = left
        return
      end if
      call select_contacts(first, left, patched, slave, master, slave_primitive, master_primitive, slot, cohesion, evaluated, &
        moved, result_of, known_one, known_two, alive, count, rows, bodies)
      if (count == 0) return
      call look_at(count, known_one, known_two, rows, 1_i4)
      if (error /= 0) return
      call update_rows(first, left, epsilon, time, now, merge(count, 0_i4, patched /= 0), nmaterial, slave, master, slot, &
        master_point, slave_point, point, base, gap, area, surface, material, cohesion, evaluated, result_of, status, normal, &
        result_slave, result_master, result_gap, result_area, result_surface, patch_slots, patch_point, patch_gap, body_kind, &
        conf_ptr, centre, conf, material_surface, material_cohesion, keep, lost, rows, results, patches, bodies, triples, &
        materials)
      if (lost > 0) call keep_from(first)
    end subroutine follow_contacts

    !> Points of pairs in contact that were not known in the last step.
    subroutine join_patches
      integer(i4) :: created

      call create(count, known_one, known_two, rows, count, alive, rows, created)
    end subroutine join_patches

    subroutine find_new_contacts
      integer(i4) :: inside, created, none_alive(0:0)
      integer(i4), allocatable :: nothing_alive(:)

      if (fresh < 0) then
        outcome = search
        return
      else if (fresh == 0) then
        call boxes_inside(member, still, searched, sorted, nbody, reach, box, fat, primitive_body, moved, &
          selfcontact, inside, flags, members, stills, primitives, bodies)
        if (inside == 0 .or. flags /= known_flags) then
          outcome = search
          return
        end if
      end if
      call select_pairs(pairs, nbody, reach, first, left, low, high, apart, box, primitive_body, moved, slave_primitive, &
        master_primitive, kept_at, mark, one, two, place, found, capacity, primitives, bodies, rows)
      if (found > results .or. (patched /= 0 .and. found > patches)) then
        outcome = results_lack
        needed = found
        return
      end if
      if (found > 0) then
        call look_at(found, one, two, capacity, 0_i4)
        if (error /= 0) return
        if (patched /= 0) then
          allocate (nothing_alive(0:found-1), source=0_i4)
          call create(found, one, two, capacity, found, nothing_alive, found, created)
        else
          call create(found, one, two, capacity, 0_i4, none_alive, 1_i4, created)
        end if
        if (outcome /= done) return
        call note_apart(found, place, status, now, apart, capacity, results)
        guesses = int(sum(merge(1, 0, status(0:found-1) == 1 .and. degenerate(0:found-1) == 1)), i4)
      end if
      if (left == start) return
      call sparsify_rows(first, start, left, threshold, min_area, min_distance, merge(1_i4, 0_i4, patched /= 0), nbody, &
        next_id, slave, master, slave_primitive, master_primitive, point, area, kind, adjacent_ptr, adjacent_count, adjacent, id, &
        keep, removed, rows, primitives, neighbours)
      if (removed > 0) call keep_from(start)
    end subroutine find_new_contacts

    !> Contacts and patches of `n` pairs of primitives.
    subroutine look_at(n, one, two, room, frozen)
      integer(i4), intent(in) :: n, room, frozen
      integer(i4), intent(in) :: one(0:room-1), two(0:room-1)

      call find_contacts(n, one, two, epsilon, near, drift, speculative, frozen, merge(1_i4, 0_i4, patched == manifold_points), &
        kind, primitive_surface, radius, axes, box, vertex_ptr, vertex_count, face_ptr, face_count, outer_count, edge_count, &
        vertex_list, corner_ptr, corner_count, face_surface, face_normal, corner, edge, current, &
        status, outward, degenerate, normal, result_slave, result_master, result_gap, result_area, result_surface, &
        error, error_row, room, primitives, listed, faces, corners, vertices, results)
      if (error /= 0 .or. patched == 0) return
      if (patched == manifold_points) then
        call find_manifolds(n, one, two, epsilon, near, drift, kind, primitive_surface, box, vertex_ptr, vertex_count, &
          face_ptr, face_count, outer_count, edge_count, primitive_body, body_kind, vertex_list, corner_ptr, corner_count, &
          face_surface, face_normal, corner, edge, current, status, outward, degenerate, normal, result_slave, &
          result_master, result_gap, &
          result_area, result_surface, patch_slots, patch_point, patch_gap, room, primitives, bodies, listed, faces, corners, &
          vertices, results, patches)
        where (max(kind(one(0:n-1)), kind(two(0:n-1))) >= sphere) patch_slots(0:n-1) = 1
        return
      end if
      call find_patches(n, one, two, max(epsilon, margin), merge(1_i4, 0_i4, margin > 0), kind, face_ptr, outer_count, &
        corner_ptr, corner_count, corner_vertex, face_normal, current, status, normal, result_gap, result_slave, &
        result_master, patch_slots, patch_point, patch_gap, room, primitives, faces, corners, vertices, results, patches)
    end subroutine look_at

    !> Rows behind those in use for contacts among `n` pairs, `known` of which have points `alive` in rows already.
    subroutine create(n, one, two, room, known, alive, listed_alive, created)
      integer(i4), intent(in) :: n, room, known, listed_alive
      integer(i4), intent(in) :: one(0:room-1), two(0:room-1), alive(0:listed_alive-1)
      integer(i4), intent(out) :: created

      call create_rows(left, n, epsilon, time, step_number, now, nexcluded, excluded, one, two, known, alive, nmaterial, &
        status, outward, normal, result_slave, result_master, result_gap, result_area, result_surface, patch_slots, &
        patch_point, patch_gap, primitive_body, body_kind, conf_ptr, centre, conf, material_surface, material_cohesion, &
        constraint_kind, master, slave, master_primitive, slave_primitive, slot, master_point, slave_point, point, base, r, u, &
        v, gap, area, surface, material, cohesion, birth, evaluated, merit, residual, created, exclusions, room, results, &
        patches, listed_alive, primitives, bodies, triples, materials, rows)
      if (left + created > rows) then
        outcome = rows_lack
        needed = left + created
      else
        left = left + created
      end if
    end subroutine create

    !> Only the rows from `row` on that `keep` marks.
    subroutine keep_from(row)
      integer(i4), intent(in) :: row
      integer(i4) :: used

      used = left
      call keep_rows(row, used, keep, id, master, slave, master_primitive, slave_primitive, slot, master_point, slave_point, &
        point, base, r, u, v, gap, area, surface, material, cohesion, birth, evaluated, merit, residual, left, rows)
    end subroutine keep_from
  end subroutine detect
end module contact_phases
