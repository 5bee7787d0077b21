!> Contacts in a time step: known contacts follow the shapes, new contacts are found.
module contact_detection
  use kinds, only: dp, i4, i8
  use contacts, only: update_rows, create_rows, keep_rows, is_excluded, find_deepest => deepest_row
  use contact_patch, only: find_patches
  use detection_state, only: detection_tables, open_detection
  use face_normals, only: turn_faces
  use manifolds, only: find_manifolds
  use narrow_phase, only: find_contacts
  use pair_cache, only: boxes_inside, select_pairs, note_apart, select_contacts, sum_all => sum_flags, &
    fatten => fatten_boxes, list_near => boxes_near
  use polyhedra, only: shape_tables
  use shape_state, only: open_shapes
  use hidden_edges, only: replace_hidden_edges
  use kind_numbers, only: obstacle_kind => body_obstacle
  use sparsify, only: sparsify_rows
  use state_tables, only: constraint_table, open_table
  use symmetric_sparsify, only: sparsify_both => sparsify_symmetrically
  use table_registry, only: table_open
  implicit none
  private
  public :: detect, sparsify_new, sparsify_symmetrically, deepest_row, fatten_boxes, boxes_near, sum_flags

  integer(i4), parameter :: follow = 1, join = 2, find = 3                          !< stages
  integer(i4), parameter :: averaged = 0, manifold_points = 2, sphere = 2           !< value of `patched`; kinds below are polyhedra
  integer(i4), parameter :: done = 0, search = 1, results_lack = 2, rows_lack = 3   !< outcomes

  !> What is asked of `detect`, and how far it has come.
  type :: detection
    integer(i4) :: first, left                 !< first contact; rows in use
    integer(i4) :: patched, speculative
    real(dp) :: epsilon, margin, time
    integer(i8) :: step_number
    real(dp) :: limits(3)
    integer(i8) :: next_id
    integer(i4) :: outcome = done, needed = 0, error = 0, wrong = 0
  end type detection

  !> Contacts that are sparsified, and the shapes that they are on.
  type :: sparsified_tables
    type(shape_tables) :: shapes
    type(constraint_table) :: rows
  end type sparsified_tables

contains

  !> Runs stages `from` to `to` of contact detection.  Stage 1: known contacts follow the shapes (`select_contacts`, `find_contacts`,
  !> `find_patches`, `update_rows`, `keep_rows`).  Stage 2: points join their patches (`create_rows`).  Stage 3: new contacts are found
  !> among the pairs whose fat boxes overlap (`boxes_inside`, `select_pairs`, `find_contacts`, `note_apart`, `find_patches`,
  !> `create_rows`, `sparsify_rows`, `keep_rows`).
  !>
  !> The work space holds afterwards: `known`, the number of known pairs that were evaluated; `found` and `guesses`, the numbers of new
  !> pairs that were evaluated and of their degenerate contacts; `removed`, new contacts that sparsification removed; `cohesive`,
  !> whether some contact has cohesion; `first_new`, the first new row; `present_flags`, a sum of flags of self-contact; `fresh`, 0.
  !>
  !>   handles        of detection's tables, see `open_detection`
  !>   first, last    rows first <= k < last are contacts
  !>   patched        1: faces that lie on each other share several contacts; 2: polyhedra have the contacts of `manifold`
  !>   speculative    1: contacts may act before bodies meet, see `contact_of_polyhedra`
  !>   limits         (3) threshold, least area and distance of `sparsify_rows`
  !>   excluded       (2,:) see `create_rows`
  !>   outcome        0 done; 1 pairs must be searched again; 2 `needed` results, or 3 `needed` rows, need room; call again from
  !>                  `stage` on, which has changed nothing.  100: a handle is void
  !>   error          see `find_contacts`; then `stage` is the pair
  !>   left           rows in use afterwards
  subroutine detect(handles, from, to, first, last, epsilon, margin, time, step_number, patched, speculative, limits, next_id, &
      excluded, outcome, stage, needed, left, error, exclusions)
    integer(i8), intent(in) :: handles(14), step_number, next_id
    integer(i4), intent(in) :: from, to, first, last, patched, speculative, exclusions
    real(dp), intent(in) :: epsilon, margin, time, limits(3)
    integer(i4), intent(in) :: excluded(2,0:exclusions-1)
    integer(i4), intent(out) :: outcome, stage, needed, left, error
    type(detection_tables) :: tables
    type(detection) :: run

    needed = 0
    left = last
    error = 0
    stage = from
    call open_detection(handles, tables, outcome)
    if (outcome /= table_open) return
    run = detection(first, last, patched, speculative, epsilon, margin, time, step_number, limits, next_id)
    associate (work => tables%work, rows => tables%rows)
      do stage = from, to
        select case (stage)
        case (follow)
          call follow_contacts(tables, run, excluded)
          work%first_new = run%left
        case (join)
          if (patched /= averaged .and. work%known > 0) &
            call create(tables, run, work%known, work%known_one, work%known_two, work%alive, excluded)
        case (find)
          call find_new_contacts(tables, run, excluded)
        end select
        if (run%outcome /= done .or. run%error /= 0) exit
      end do
      work%cohesive = merge(1_i4, 0_i4, any(rows%cohesion(first:run%left-1) > 0))
    end associate
    outcome = run%outcome
    needed = run%needed
    left = run%left
    error = run%error
    if (error /= 0) stage = run%wrong
  end subroutine detect

  !> Evaluates known contacts at the present shapes, and removes those that opened or came to excluded surfaces.
  subroutine follow_contacts(tables, run, excluded)
    type(detection_tables), intent(inout) :: tables
    type(detection), intent(inout) :: run
    integer(i4), intent(in) :: excluded(:,0:)
    integer(i4) :: count, lost

    tables%work%known = 0
    if (run%left == run%first) return
    call check_room(tables, run%left - run%first, run)
    if (run%outcome /= done) return
    call select_contacts(run%first, run%left, run%patched /= averaged, tables%state%bodies%rest, tables%rows, &
      tables%work, count)
    tables%work%known = count
    if (count == 0) return
    call look_at(tables, run, count, tables%work%known_one, tables%work%known_two, 1_i4)
    if (run%error /= 0) return
    call update_rows(run%first, run%left, run%epsilon, run%time, run%patched /= averaged, excluded, tables, lost)
    if (lost > 0) call keep_from(tables, run%first, run%left)
  end subroutine follow_contacts

  !> Evaluates pairs whose fat boxes overlap, and appends rows for their contacts but those that sparsification removes.
  subroutine find_new_contacts(tables, run, excluded)
    type(detection_tables), intent(inout) :: tables
    type(detection), intent(inout) :: run
    integer(i4), intent(in) :: excluded(:,0:)
    integer(i4) :: count, bodies

    bodies = tables%state%n
    associate (work => tables%work)
      work%found = 0
      work%guesses = 0
      work%removed = 0
      work%removed_own = 0
      call check_boxes(tables, run)
      if (run%outcome /= done) return
      call select_pairs(run%first, run%left, bodies, tables%state%bodies%rest, tables%shapes, tables%rows, work, count)
      work%found = count
      call check_room(tables, count, run)
      if (run%outcome /= done) return
      if (count > 0) call evaluate_pairs(tables, run, count, excluded)
      if (run%error /= 0 .or. run%outcome /= done) return
      if (run%patched == manifold_points) call hide_edges(tables, run)
      work%fresh = 0
      if (run%left == work%first_new) return
      call sparsify_rows(run%first, work%first_new, run%left, run%limits(1), run%limits(2), run%limits(3), &
        merge(1_i4, 0_i4, run%patched /= averaged), bodies, run%next_id, tables%shapes, tables%rows, work%keep, count)
      work%removed = count
      if (work%rank >= 0) call count_own(tables, run%left)
      if (count > 0) call keep_from(tables, work%first_new, run%left)
    end associate
  end subroutine find_new_contacts

  !> Counts the removed contacts of this process: those whose last moving body it owns.
  subroutine count_own(tables, left)
    type(detection_tables), intent(inout) :: tables
    integer(i4), intent(in) :: left
    integer(i4) :: k, last

    tables%work%removed_own = 0
    associate (work => tables%work, bodies => tables%state%bodies, rows => tables%rows)
      do k = work%first_new, left - 1
        if (work%keep(k-work%first_new) /= 0) cycle
        last = max(rows%master(k), rows%slave(k))
        if (bodies%kind(last) == obstacle_kind) last = min(rows%master(k), rows%slave(k))
        if (bodies%owner(last) == work%rank) work%removed_own = work%removed_own + 1
      end do
    end associate
  end subroutine count_own

  !> Requests a new search where boxes have left their fat boxes, or flags of self-contact have changed.
  subroutine check_boxes(tables, run)
    type(detection_tables), intent(inout) :: tables
    type(detection), intent(inout) :: run
    integer(i4) :: inside
    integer(i8) :: flags

    associate (work => tables%work)
      if (work%fresh == 0) then
        call boxes_inside(tables, inside, flags)
        work%present_flags = flags
        if (inside == 0 .or. flags /= work%flags) run%outcome = search
      else if (work%fresh < 0) then
        run%outcome = search
      end if
    end associate
  end subroutine check_boxes

  !> Evaluates the `pairs` selected pairs and appends rows for their contacts.
  subroutine evaluate_pairs(tables, run, pairs, excluded)
    type(detection_tables), intent(inout) :: tables
    type(detection), intent(inout) :: run
    integer(i4), intent(in) :: pairs, excluded(:,0:)
    integer(i4), allocatable :: none_alive(:)
    integer(i4) :: c

    associate (work => tables%work, found => tables%found)
      call look_at(tables, run, pairs, work%first, work%second, 0_i4)
      if (run%error /= 0) return
      allocate (none_alive(0:pairs-1), source=0_i4)
      call create(tables, run, pairs, work%first, work%second, none_alive, excluded)
      if (run%outcome /= done) return
      call note_apart(pairs, work, found)
      ! the normal of a degenerate contact is a guess; pairs of excluded surfaces have no contacts
      do c = 0, pairs - 1
        if (found%degenerate(c) == 0) cycle
        if (is_excluded(found%surface(:,c), excluded)) found%degenerate(c) = 0
      end do
      work%guesses = int(count(found%status(0:pairs-1) == 1 .and. found%degenerate(0:pairs-1) == 1), i4)
    end associate
  end subroutine evaluate_pairs

  !> Removes contacts that would stop bodies sliding over seams.
  subroutine hide_edges(tables, run)
    type(detection_tables), intent(inout) :: tables
    type(detection), intent(inout) :: run
    integer(i4) :: hidden, known

    call replace_hidden_edges(run%first, run%left, run%epsilon, tables%state, tables%shapes, tables%rows, tables%work%keep, hidden)
    if (hidden == 0) return
    known = tables%work%first_new - run%first
    tables%work%first_new = run%first + sum(tables%work%keep(0:known-1))
    call keep_from(tables, run%first, run%left)
  end subroutine hide_edges

  !> Requests room where the tables of results are too short for so many pairs.
  subroutine check_room(tables, pairs, run)
    type(detection_tables), intent(in) :: tables
    integer(i4), intent(in) :: pairs
    type(detection), intent(inout) :: run
    logical :: lacks

    lacks = pairs > size(tables%found%status)
    if (run%patched /= averaged) lacks = lacks .or. pairs > size(tables%patches%slots)
    if (.not. lacks) return
    run%outcome = results_lack
    run%needed = pairs
  end subroutine check_room

  !> Evaluates contacts and patches of `n` pairs of primitives.
  subroutine look_at(tables, run, n, one, two, frozen)
    type(detection_tables), intent(inout) :: tables
    type(detection), intent(inout) :: run
    integer(i4), intent(in) :: n, one(0:), two(0:), frozen

    call turn_faces(n, one, two, tables%shapes, tables%work)
    call find_contacts(n, one, two, run%epsilon, tables%shapes, run%speculative, frozen, &
      merge(1_i4, 0_i4, run%patched == manifold_points), tables%found, run%error, run%wrong)
    if (run%error /= 0 .or. run%patched == averaged) return
    if (run%patched == manifold_points) then
      call find_manifolds(n, one, two, run%epsilon, tables%shapes, tables%state%bodies%kind, tables%found, tables%patches)
      where (max(tables%shapes%kind(one(0:n-1)), tables%shapes%kind(two(0:n-1))) >= sphere) tables%patches%slots(0:n-1) = 1
      return
    end if
    call find_patches(n, one, two, max(run%epsilon, run%margin), merge(1_i4, 0_i4, run%margin > 0), tables%shapes, tables%found, &
      tables%patches)
  end subroutine look_at

  !> Appends rows for contacts among `n` pairs; points in `alive` have rows already.
  subroutine create(tables, run, n, one, two, alive, excluded)
    type(detection_tables), intent(inout) :: tables
    type(detection), intent(inout) :: run
    integer(i4), intent(in) :: n, one(0:), two(0:), alive(0:), excluded(:,0:)
    integer(i4) :: created

    call create_rows(run%left, n, run%epsilon, run%time, run%step_number, excluded, one, two, run%patched /= averaged, alive, &
      tables, created)
    if (run%left + created > size(tables%rows%id)) then
      run%outcome = rows_lack
      run%needed = run%left + created
    else
      run%left = run%left + created
    end if
  end subroutine create

  !> Keeps of the rows from `row` up to `left` only those that `keep` marks.
  subroutine keep_from(tables, row, left)
    type(detection_tables), intent(inout) :: tables
    integer(i4), intent(in) :: row
    integer(i4), intent(inout) :: left
    integer(i4) :: used

    used = left
    call keep_rows(row, used, tables%work%keep, tables%rows, left)
  end subroutine keep_from

  subroutine open_sparsified(shape_handles, constraints, tables, failure)
    integer(i8), intent(in) :: shape_handles(5), constraints
    type(sparsified_tables), intent(out) :: tables
    integer(i4), intent(out) :: failure

    call open_shapes(shape_handles, tables%shapes, failure)
    if (failure == table_open) call open_table(constraints, tables%rows, failure)
  end subroutine open_sparsified

  !> Calls `sparsify_rows` on tables given by handles; failure 100: a handle is void.
  subroutine sparsify_new(shape_handles, constraints, first, new, last, limits, within, nbody, next_id, keep, removed, failure, &
      rows)
    integer(i8), intent(in) :: shape_handles(5), constraints, next_id
    integer(i4), intent(in) :: first, new, last, within, nbody, rows
    real(dp), intent(in) :: limits(3)
    integer(i4), intent(inout) :: keep(0:rows-1)
    integer(i4), intent(out) :: removed, failure
    type(sparsified_tables) :: tables

    removed = 0
    call open_sparsified(shape_handles, constraints, tables, failure)
    if (failure == table_open) call sparsify_rows(first, new, last, limits(1), limits(2), limits(3), within, nbody, next_id, &
                                                  tables%shapes, tables%rows, keep, removed)
  end subroutine sparsify_new

  !> Calls `symmetric_sparsify` on tables given by handles; failure 100: a handle is void.
  subroutine sparsify_symmetrically(shape_handles, constraints, first, new, last, order, limits, gained, keep, removed, failure, &
      ordered, rows)
    integer(i8), intent(in) :: shape_handles(5), constraints
    integer(i4), intent(in) :: first, new, last, ordered, rows
    integer(i4), intent(in) :: order(0:ordered-1)
    real(dp), intent(in) :: limits(3)
    real(dp), intent(inout) :: gained(0:rows-1)
    integer(i4), intent(inout) :: keep(0:ordered-1)
    integer(i4), intent(out) :: removed, failure
    type(sparsified_tables) :: tables

    removed = 0
    call open_sparsified(shape_handles, constraints, tables, failure)
    if (failure == table_open) call sparsify_both(first, new, last, order, limits(1), limits(2), limits(3), tables%shapes, &
                                                  tables%rows, gained, keep, removed)
  end subroutine sparsify_symmetrically

  !> Calls `contacts.deepest_row` on the constraints of a handle; -2: it is void.
  subroutine deepest_row(constraints, first, last, depth, step_number, row)
    integer(i8), intent(in) :: constraints, step_number
    integer(i4), intent(in) :: first, last
    real(dp), intent(in) :: depth
    integer(i4), intent(out) :: row
    type(constraint_table) :: table
    integer(i4) :: status

    row = -2
    call open_table(constraints, table, status)
    if (status == table_open) call find_deepest(first, last, depth, step_number, table, row)
  end subroutine deepest_row

  !> Calls `pair_cache.fatten_boxes` for Python.
  subroutine fatten_boxes(member, reach, skin, box, fat, members, primitives)
    integer(i4), intent(in) :: members, primitives
    integer(i4), intent(in) :: member(0:members-1)
    real(dp), intent(in) :: skin, reach(0:primitives-1), box(6,0:primitives-1)
    real(dp), intent(inout) :: fat(6,0:primitives-1)

    call fatten(member, reach, skin, box, fat)
  end subroutine fatten_boxes

  !> Calls `pair_cache.boxes_near` for Python.
  subroutine boxes_near(among, fat, box, near, count, primitives, room)
    integer(i4), intent(in) :: among, primitives, room
    real(dp), intent(in) :: fat(6,0:primitives-1), box(6)
    integer(i4), intent(inout) :: near(room)
    integer(i4), intent(out) :: count

    call list_near(among, fat, box, near, count)
  end subroutine boxes_near

  !> Calls `pair_cache.sum_flags` for Python.
  subroutine sum_flags(nbody, selfcontact, flags, bodies)
    integer(i4), intent(in) :: nbody, bodies
    integer(i4), intent(in) :: selfcontact(0:bodies-1)
    integer(i8), intent(out) :: flags

    call sum_all(nbody, selfcontact, flags)
  end subroutine sum_flags
end module contact_detection
