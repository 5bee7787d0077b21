!> Contacts in a time step: known contacts follow the shapes, new contacts are found.
module contact_detection
  use kinds, only: dp, i4, i8
  use contacts, only: update_rows, create_rows, keep_rows, is_excluded, find_deepest => deepest_row
  use contact_patch, only: find_patches
  use detection_state, only: detection_tables, open_detection
  use manifolds, only: find_manifolds
  use narrow_phase, only: find_contacts
  use pair_cache, only: boxes_inside, select_pairs, note_apart, select_contacts, sum_all => sum_flags, fatten => fatten_boxes
  use polyhedra, only: shape_tables
  use shape_state, only: open_shapes
  use hidden_edges, only: replace_hidden_edges
  use sparsify, only: sparsify_rows
  use state_tables, only: constraint_table, open_table
  use symmetric_sparsify, only: sparsify_both => sparsify_symmetrically
  use table_registry, only: table_open
  implicit none
  private
  public :: detect, sparsify_new, sparsify_symmetrically, deepest_row, fatten_boxes, sum_flags

  integer(i4), parameter :: follow = 1, join = 2, find = 3                          !< stages
  integer(i4), parameter :: averaged = 0, manifold_points = 2, sphere = 2           !< value of `patched`; kinds below are polyhedra
  integer(i4), parameter :: done = 0, search = 1, results_lack = 2, rows_lack = 3   !< outcomes

contains

  !> Runs stages `from` to `to` of contact detection.  Stage 1: known contacts follow the shapes (`select_contacts`, `find_contacts`,
  !> `find_patches`, `update_rows`, `keep_rows`).  Stage 2: points join their patches (`create_rows`).  Stage 3: new contacts are found
  !> among the pairs whose fat boxes overlap (`boxes_inside`, `select_pairs`, `find_contacts`, `note_apart`, `find_patches`,
  !> `create_rows`, `sparsify_rows`, `keep_rows`).
  !>
  !> The work space holds afterwards: `known`, the number of known pairs that were evaluated; `found` and `guesses`, the numbers of new
  !> pairs that were evaluated and of their degenerate contacts; `removed`, new contacts that sparsification removed; `cohesive`,
  !> whether some contact has cohesion; `first_new`, the first new row; `present_flags`, a sum of flags of self-contact.
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
    integer(i4) :: wrong

    needed = 0
    left = last
    error = 0
    stage = from
    call open_detection(handles, tables, outcome)
    if (outcome /= table_open) return
    outcome = done
    associate (work => tables%work, rows => tables%rows)
      do stage = from, to
        select case (stage)
        case (follow)
          call follow_contacts
          work%first_new = left
        case (join)
          if (patched /= averaged .and. work%known > 0) &
            call create(work%known, work%known_one, work%known_two, work%alive)
        case (find)
          call find_new_contacts
        end select
        if (outcome /= done .or. error /= 0) exit
      end do
      work%cohesive = merge(1_i4, 0_i4, any(rows%cohesion(first:left-1) > 0))
    end associate
    if (error /= 0) stage = wrong

  contains

    !> Evaluates known contacts at the present shapes, and removes those that opened.
    subroutine follow_contacts
      integer(i4) :: count, lost

      tables%work%known = 0
      if (left == first .or. lacks_room(left - first)) return
      call select_contacts(first, left, patched /= averaged, tables%rows, tables%work, count)
      tables%work%known = count
      if (count == 0) return
      call look_at(count, tables%work%known_one, tables%work%known_two, 1_i4)
      if (error /= 0) return
      call update_rows(first, left, epsilon, time, tables%work%updates, patched /= averaged, tables%work, tables%found, &
        tables%patches, tables%state, tables%materials, tables%rows, lost)
      if (lost > 0) call keep_from(first)
    end subroutine follow_contacts

    subroutine find_new_contacts
      integer(i4) :: inside, count, bodies
      integer(i8) :: flags
      integer(i4), allocatable :: none_alive(:)

      bodies = int(tables%state%bodies%rows, i4)
      associate (work => tables%work)
        work%found = 0
        work%guesses = 0
        work%removed = 0
        if (work%fresh == 0) then
          call boxes_inside(tables, inside, flags)
          work%present_flags = flags
          if (inside == 0 .or. flags /= work%flags) outcome = search
        else if (work%fresh < 0) then
          outcome = search
        end if
        if (outcome == search) return
        call select_pairs(first, left, bodies, tables%shapes, tables%rows, work, count)
        work%found = count
        if (lacks_room(count)) return
        if (count > 0) then
          call look_at(count, work%first, work%second, 0_i4)
          if (error /= 0) return
          allocate (none_alive(0:count-1), source=0_i4)
          call create(count, work%first, work%second, none_alive)
          if (outcome /= done) return
          call note_apart(count, work, tables%found)
          work%guesses = count_guesses(count)
        end if
        if (patched == manifold_points) call hide_edges
        if (left == work%first_new) return
        call sparsify_rows(first, work%first_new, left, limits(1), limits(2), limits(3), merge(1_i4, 0_i4, patched /= averaged), &
          bodies, next_id, tables%shapes, tables%rows, work%keep, count)
        work%removed = count
        if (count > 0) call keep_from(work%first_new)
      end associate
    end subroutine find_new_contacts

    !> Removes contacts that would stop bodies sliding over seams.
    subroutine hide_edges
      integer(i4) :: hidden, known

      call replace_hidden_edges(first, left, epsilon, tables%state, tables%shapes, tables%rows, tables%work%keep, hidden)
      if (hidden == 0) return
      known = tables%work%first_new - first
      tables%work%first_new = first + sum(tables%work%keep(0:known-1))
      call keep_from(first)
    end subroutine hide_edges

    !> Whether the tables of results are too short for so many pairs.
    logical function lacks_room(pairs)
      integer(i4), intent(in) :: pairs

      lacks_room = pairs > size(tables%found%status) .or. (patched /= averaged .and. pairs > size(tables%patches%slots))
      if (.not. lacks_room) return
      outcome = results_lack
      needed = pairs
    end function lacks_room

    !> Number of pairs with a degenerate contact, whose normal is a guess; pairs of excluded surfaces have none.
    integer(i4) function count_guesses(pairs)
      integer(i4), intent(in) :: pairs
      integer(i4) :: c

      do c = 0, pairs - 1
        if (tables%found%degenerate(c) == 0) cycle
        if (is_excluded(tables%found%surface(:,c), excluded)) tables%found%degenerate(c) = 0
      end do
      count_guesses = int(count(tables%found%status(0:pairs-1) == 1 .and. tables%found%degenerate(0:pairs-1) == 1), i4)
    end function count_guesses

    !> Evaluates contacts and patches of `n` pairs of primitives.
    subroutine look_at(n, one, two, frozen)
      integer(i4), intent(in) :: n, one(0:), two(0:), frozen

      call find_contacts(n, one, two, epsilon, tables%shapes, speculative, frozen, &
        merge(1_i4, 0_i4, patched == manifold_points), tables%found, error, wrong)
      if (error /= 0 .or. patched == averaged) return
      if (patched == manifold_points) then
        call find_manifolds(n, one, two, epsilon, tables%shapes, tables%state%bodies%kind, tables%found, tables%patches)
        where (max(tables%shapes%kind(one(0:n-1)), tables%shapes%kind(two(0:n-1))) >= sphere) tables%patches%slots(0:n-1) = 1
        return
      end if
      call find_patches(n, one, two, max(epsilon, margin), merge(1_i4, 0_i4, margin > 0), tables%shapes, tables%found, &
        tables%patches)
    end subroutine look_at

    !> Appends rows for contacts among `n` pairs; points in `alive` have rows already.
    subroutine create(n, one, two, alive)
      integer(i4), intent(in) :: n, one(0:), two(0:), alive(0:)
      integer(i4) :: created

      call create_rows(left, n, epsilon, time, step_number, tables%work%updates, excluded, one, two, patched /= averaged, alive, &
        tables%found, tables%patches, tables%shapes%body, tables%state, tables%materials, tables%rows, created)
      if (left + created > size(tables%rows%id)) then
        outcome = rows_lack
        needed = left + created
      else
        left = left + created
      end if
    end subroutine create

    !> Keeps of the rows from `row` on only those that `keep` marks.
    subroutine keep_from(row)
      integer(i4), intent(in) :: row
      integer(i4) :: used

      used = left
      call keep_rows(row, used, tables%work%keep, tables%rows, left)
    end subroutine keep_from
  end subroutine detect

  !> Calls `sparsify_rows` on tables given by handles; failure 100: a handle is void.
  subroutine sparsify_new(shape_handles, constraints, first, new, last, limits, within, nbody, next_id, keep, removed, failure, &
      rows)
    integer(i8), intent(in) :: shape_handles(5), constraints, next_id
    integer(i4), intent(in) :: first, new, last, within, nbody, rows
    real(dp), intent(in) :: limits(3)
    integer(i4), intent(inout) :: keep(0:rows-1)
    integer(i4), intent(out) :: removed, failure
    type(shape_tables) :: shapes
    type(constraint_table) :: table

    removed = 0
    call open_shapes(shape_handles, shapes, failure)
    if (failure == table_open) call open_table(constraints, table, failure)
    if (failure /= table_open) return
    call sparsify_rows(first, new, last, limits(1), limits(2), limits(3), within, nbody, next_id, shapes, table, keep, removed)
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
    type(shape_tables) :: shapes
    type(constraint_table) :: table

    removed = 0
    call open_shapes(shape_handles, shapes, failure)
    if (failure == table_open) call open_table(constraints, table, failure)
    if (failure /= table_open) return
    call sparsify_both(first, new, last, order, limits(1), limits(2), limits(3), shapes, table, gained, keep, removed)
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

  !> Calls `pair_cache.sum_flags` for Python.
  subroutine sum_flags(nbody, selfcontact, flags, bodies)
    integer(i4), intent(in) :: nbody, bodies
    integer(i4), intent(in) :: selfcontact(0:bodies-1)
    integer(i8), intent(out) :: flags

    call sum_all(nbody, selfcontact, flags)
  end subroutine sum_flags
end module contact_detection
