!> The two phases of detection in a time step, each in one call: known contacts follow the shapes, new ones are found.
!>
!> Nothing is computed here.  The kernels below could be called one by one, but Python in between would have to be
!> fetched from memory again after each, since kernels that work on large models empty the caches.
module contact_phases
  use kinds, only: dp, i4, i8
  use pair_cache, only: boxes_inside, select_pairs, note_apart, select_contacts
  use narrow_phase, only: find_contacts
  use contact_patch, only: find_patches
  use contacts, only: update_rows, create_rows, keep_rows
  use sparsify, only: sparsify_rows
  implicit none
  private
  public :: follow_contacts, find_new_contacts

contains

  !> Known contacts at the present shapes: `select_contacts`, `find_contacts`, `find_patches`, `update_rows`, `keep_rows`,
  !> where the arguments are described.
  !>
  !>   first, last     rows first <= k < last are contacts
  !>   patched         1: faces that lie on each other share several contacts
  !>   count           pairs looked at; 0: nothing has moved
  !>   left            rows in use afterwards
  !>   error, error_row   of `find_contacts`
  !>
  !> Results and patches have room for as many pairs as there are rows.
  subroutine follow_contacts(first, last, epsilon, margin, time, now, patched, nmaterial, &
      id, master, slave, master_primitive, slave_primitive, slot, master_point, slave_point, point, base, r, u, v, gap, area, &
      surface, material, cohesion, birth, evaluated, merit, residual, &
      moved, result_of, one, two, alive, keep, &
      kind, primitive_surface, radius, axes, box, vertex_ptr, vertex_count, face_ptr, face_count, outer_count, &
      vertex_list, corner_ptr, corner_count, face_surface, face_normal, corner, corner_vertex, current, &
      status, outward, degenerate, normal, result_slave, result_master, result_gap, result_area, result_surface, &
      patch_slots, patch_point, patch_gap, body_kind, conf_ptr, centre, conf, material_surface, material_cohesion, &
      count, left, error, error_row, &
      rows, primitives, listed, faces, corners, vertices, results, patches, bodies, triples, materials)
    integer(i4), intent(in) :: first, last, patched, nmaterial
    integer(i4), intent(in) :: rows, primitives, listed, faces, corners, vertices, results, patches, bodies, triples, materials
    real(dp), intent(in) :: epsilon, margin, time
    integer(i8), intent(in) :: now
    integer(i8), intent(inout) :: id(0:rows-1)
    integer(i4), intent(inout) :: master(0:rows-1), slave(0:rows-1)
    integer(i4), intent(inout) :: master_primitive(0:rows-1), slave_primitive(0:rows-1), slot(0:rows-1)
    real(dp), intent(inout) :: master_point(3,0:rows-1), slave_point(3,0:rows-1), point(3,0:rows-1)
    real(dp), intent(inout) :: base(3,3,0:rows-1), r(3,0:rows-1), u(3,0:rows-1), v(3,0:rows-1)
    real(dp), intent(inout) :: gap(0:rows-1), area(0:rows-1)
    integer(i4), intent(inout) :: surface(2,0:rows-1), material(0:rows-1)
    real(dp), intent(inout) :: cohesion(0:rows-1)
    integer(i8), intent(inout) :: birth(0:rows-1), evaluated(0:rows-1)
    real(dp), intent(inout) :: merit(0:rows-1), residual(0:rows-1)
    integer(i8), intent(in) :: moved(0:bodies-1)
    integer(i4), intent(inout) :: result_of(0:rows-1), one(0:rows-1), two(0:rows-1), alive(0:rows-1), keep(0:rows-1)
    integer(i4), intent(in) :: kind(0:primitives-1), primitive_surface(0:primitives-1)
    real(dp), intent(in) :: radius(0:primitives-1), axes(3,3,0:primitives-1), box(6,0:primitives-1)
    integer(i4), intent(in) :: vertex_ptr(0:primitives-1), vertex_count(0:primitives-1)
    integer(i4), intent(in) :: face_ptr(0:primitives-1), face_count(0:primitives-1), outer_count(0:primitives-1)
    integer(i4), intent(in) :: vertex_list(0:listed-1)
    integer(i4), intent(in) :: corner_ptr(0:faces-1), corner_count(0:faces-1), face_surface(0:faces-1)
    real(dp), intent(in) :: face_normal(3,0:faces-1)
    integer(i4), intent(in) :: corner(0:corners-1), corner_vertex(0:corners-1)
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
    integer(i4), intent(out) :: count, left, error, error_row
    integer(i4) :: lost

    left = last
    error = 0
    error_row = -1
    call select_contacts(first, last, patched, slave, master, slave_primitive, master_primitive, slot, cohesion, evaluated, &
      moved, result_of, one, two, alive, count, rows, bodies)
    if (count == 0) return
    call find_contacts(count, one, two, epsilon, margin, 1_i4, &
      kind, primitive_surface, radius, axes, box, vertex_ptr, vertex_count, face_ptr, face_count, outer_count, &
      vertex_list, corner_ptr, corner_count, face_surface, face_normal, corner, current, &
      status, outward, degenerate, normal, result_slave, result_master, result_gap, result_area, result_surface, &
      error, error_row, rows, primitives, listed, faces, corners, vertices, results)
    if (error /= 0) return
    if (patched /= 0) call find_patches(count, one, two, max(epsilon, margin), merge(1_i4, 0_i4, margin > 0), kind, face_ptr, &
      outer_count, corner_ptr, corner_count, corner_vertex, face_normal, current, status, normal, result_gap, result_slave, &
      result_master, patch_slots, patch_point, patch_gap, rows, primitives, faces, corners, vertices, results, patches)
    call update_rows(first, last, epsilon, time, now, merge(count, 0_i4, patched /= 0), nmaterial, slave, master, slot, &
      master_point, slave_point, point, base, gap, area, surface, material, cohesion, evaluated, result_of, status, normal, &
      result_slave, result_master, result_gap, result_area, result_surface, patch_slots, patch_point, patch_gap, body_kind, &
      conf_ptr, centre, conf, material_surface, material_cohesion, keep, lost, rows, results, patches, bodies, triples, materials)
    if (lost > 0) call keep_rows(first, last, keep, id, master, slave, master_primitive, slave_primitive, slot, master_point, &
      slave_point, point, base, r, u, v, gap, area, surface, material, cohesion, birth, evaluated, merit, residual, left, rows)
  end subroutine follow_contacts

  !> New contacts among the pairs whose fat boxes overlap: `boxes_inside`, `select_pairs`, `find_contacts`, `note_apart`,
  !> `find_patches`, `create_rows`, `sparsify_rows`, `keep_rows`, where the arguments are described.
  !>
  !>   fresh           1: pairs have just been searched; 0: fat boxes and flags of self-contact are checked first
  !>   known_flags     flags of self-contact at the search
  !>   first, last     rows first <= k < last are contacts; those from `new` on are of this step already
  !>   outcome         0 done; 1 pairs must be searched anew; 2 `needed` results, 3 `needed` rows must have room (call again,
  !>                   nothing has been changed)
  !>   found           pairs looked at; guesses: those among them with a contact that is degenerate
  !>   flags           flags of self-contact
  !>   left, removed   rows in use afterwards; contacts that sparsification removed again
  subroutine find_new_contacts(fresh, known_flags, nprimitive, nbody, pairs, first, last, new, epsilon, margin, time, &
      step_number, now, patched, nmaterial, threshold, min_area, min_distance, next_id, nexcluded, excluded, &
      id, constraint_kind, master, slave, master_primitive, slave_primitive, slot, master_point, slave_point, point, base, &
      r, u, v, gap, area, surface, material, cohesion, birth, evaluated, merit, residual, keep, &
      fat, low, high, apart, mark, one, two, place, moved, selfcontact, &
      kind, primitive_surface, radius, axes, box, vertex_ptr, vertex_count, face_ptr, face_count, outer_count, &
      primitive_body, adjacent_ptr, adjacent_count, adjacent, &
      vertex_list, corner_ptr, corner_count, face_surface, face_normal, corner, corner_vertex, current, &
      status, outward, degenerate, normal, result_slave, result_master, result_gap, result_area, result_surface, &
      patch_slots, patch_point, patch_gap, body_kind, conf_ptr, centre, conf, material_surface, material_cohesion, &
      outcome, needed, found, guesses, flags, left, removed, error, error_row, &
      rows, capacity, primitives, neighbours, listed, faces, corners, vertices, results, patches, bodies, triples, materials, &
      exclusions)
    integer(i4), intent(in) :: fresh, nprimitive, nbody, pairs, first, last, new, patched, nmaterial, nexcluded
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
    real(dp), intent(in) :: fat(6,0:primitives-1)
    integer(i4), intent(in) :: low(0:capacity-1), high(0:capacity-1)
    integer(i8), intent(inout) :: apart(0:capacity-1)
    integer(i4), intent(inout) :: mark(0:capacity-1), one(0:capacity-1), two(0:capacity-1), place(0:capacity-1)
    integer(i8), intent(in) :: moved(0:bodies-1)
    integer(i4), intent(in) :: selfcontact(0:bodies-1)
    integer(i4), intent(in) :: kind(0:primitives-1), primitive_surface(0:primitives-1)
    real(dp), intent(in) :: radius(0:primitives-1), axes(3,3,0:primitives-1), box(6,0:primitives-1)
    integer(i4), intent(in) :: vertex_ptr(0:primitives-1), vertex_count(0:primitives-1)
    integer(i4), intent(in) :: face_ptr(0:primitives-1), face_count(0:primitives-1), outer_count(0:primitives-1)
    integer(i4), intent(in) :: primitive_body(0:primitives-1), adjacent_ptr(0:primitives-1), adjacent_count(0:primitives-1)
    integer(i4), intent(in) :: adjacent(0:neighbours-1)
    integer(i4), intent(in) :: vertex_list(0:listed-1)
    integer(i4), intent(in) :: corner_ptr(0:faces-1), corner_count(0:faces-1), face_surface(0:faces-1)
    real(dp), intent(in) :: face_normal(3,0:faces-1)
    integer(i4), intent(in) :: corner(0:corners-1), corner_vertex(0:corners-1)
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
    integer(i4), intent(out) :: outcome, needed, found, guesses, left, removed, error, error_row
    integer(i8), intent(out) :: flags
    integer(i4), allocatable :: none_alive(:)
    integer(i4) :: inside, created

    left = last
    removed = 0
    needed = 0
    found = 0
    guesses = 0
    error = 0
    error_row = -1
    flags = known_flags
    outcome = 0
    if (fresh == 0) then
      call boxes_inside(nprimitive, nbody, 0.5_dp*margin, box, fat, selfcontact, inside, flags, primitives, bodies)
      if (inside == 0 .or. flags /= known_flags) then
        outcome = 1
        return
      end if
    end if
    call select_pairs(pairs, margin, first, last, low, high, apart, box, primitive_body, moved, slave_primitive, &
      master_primitive, mark, one, two, place, found, capacity, primitives, bodies, rows)
    if (found > results .or. (patched /= 0 .and. found > patches)) then
      outcome = 2
      needed = found
      return
    end if
    if (found > 0) then
      call find_contacts(found, one, two, epsilon, margin, 0_i4, &
        kind, primitive_surface, radius, axes, box, vertex_ptr, vertex_count, face_ptr, face_count, outer_count, &
        vertex_list, corner_ptr, corner_count, face_surface, face_normal, corner, current, &
        status, outward, degenerate, normal, result_slave, result_master, result_gap, result_area, result_surface, &
        error, error_row, capacity, primitives, listed, faces, corners, vertices, results)
      if (error /= 0) return
      if (patched /= 0) call find_patches(found, one, two, max(epsilon, margin), merge(1_i4, 0_i4, margin > 0), kind, &
        face_ptr, outer_count, corner_ptr, corner_count, corner_vertex, face_normal, current, status, normal, result_gap, &
        result_slave, result_master, patch_slots, patch_point, patch_gap, capacity, primitives, faces, corners, vertices, &
        results, patches)
      allocate (none_alive(0:merge(found, 1_i4, patched /= 0)-1), source=0_i4)
      call create_rows(last, found, epsilon, time, step_number, now, nexcluded, excluded, one, two, &
        merge(found, 0_i4, patched /= 0), none_alive, nmaterial, status, outward, normal, result_slave, result_master, &
        result_gap, result_area, result_surface, patch_slots, patch_point, patch_gap, primitive_body, body_kind, conf_ptr, &
        centre, conf, material_surface, material_cohesion, constraint_kind, master, slave, master_primitive, &
        slave_primitive, slot, master_point, slave_point, point, base, r, u, v, gap, area, surface, material, cohesion, &
        birth, evaluated, merit, residual, created, exclusions, capacity, results, patches, size(none_alive, kind=i4), &
        primitives, bodies, triples, materials, rows)
      if (last + created > rows) then
        outcome = 3
        needed = last + created
        return
      end if
      left = last + created
      call note_apart(found, place, status, now, apart, capacity, results)
      guesses = count(status(0:found-1) == 1 .and. degenerate(0:found-1) == 1)
    end if
    if (left == new) return
    call sparsify_rows(first, new, left, threshold, min_area, min_distance, nbody, next_id, slave, master, slave_primitive, &
      master_primitive, point, area, kind, adjacent_ptr, adjacent_count, adjacent, id, keep, removed, rows, primitives, &
      neighbours)
    if (removed > 0) then
      created = left
      call keep_rows(new, created, keep, id, master, slave, master_primitive, slave_primitive, slot, master_point, &
        slave_point, point, base, r, u, v, gap, area, surface, material, cohesion, birth, evaluated, merit, residual, left, rows)
    end if
  end subroutine find_new_contacts
end module contact_phases
