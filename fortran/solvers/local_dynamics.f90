!> Local dynamics U = B + W R: rows in the order of the sweep, V, B, W, and reactions back on bodies.
!>
!> The operator of every row is stored as blocks H' = H L of its bodies' velocity triples with L L^T = h A^-1, so that
!> W_ab = sum H'_a H'_b^T over the triples of both rows (docs/theory.md, Local dynamics; docs/language-objects.md, CONSTRAINT).
module local_dynamics
  use kinds, only: dp, i4, i8
  use body_state, only: constrained_bodies, open_bodies
  use matrix3, only: cholesky, copy
  use state_tables, only: constraint_table, surface_material_table, open_table
  use table_registry, only: table_open
  use row_tables, only: local_tables, open_local
  use velocity_operator, only: finite_element_kind, obstacle_kind, rigid_kind
  use kind_numbers, only: constraint_velodir, constraint_velodir3, contact_row => row_contact, open_row => row_open, &
    rolling_row => row_rolling, row_axial, row_torsional, row_span, joint_start_met
  use row_block, only: l_cohesion, drop_round_off
  use joint_rows, only: is_damped
  use row_families, only: family_of, surface_row
  use row_family_base, only: row_family, prepared_row
  use row_operator, only: operator_of, turning_operator
  use row_list, only: list_rows
  use row_order, only: attach, acts_on
  use rigid_contacts, only: lanes, find_rigid_contacts, assemble_rigid_contacts, add_rigid_reaction
  use turning_contacts, only: gap_acceleration
  use contact_rows, only: bounces
  use thread_work, only: pays
!$ use omp_lib, only: omp_get_max_threads
  implicit none
  private
  public :: assemble_rows, add_obstacle_motion, assemble_laws, apply_reactions

  integer(i4), parameter :: batch = 64        !< rows among which contacts of rigid bodies are listed together

  !> Outcomes besides 0 and `table_unknown`.
  integer(i4), parameter :: entries_lack = 1, unknown_body = 2, singular_block = 3, rows_lack = 5

contains

  !> Opens all tables of the step's local dynamics; finite elements only if asked for.
  subroutine open_all(bodies, constraints, local, state, loc, status, elements)
    integer(i8), intent(in) :: bodies(3), constraints, local(6)
    type(constrained_bodies), intent(out) :: state
    type(local_tables), intent(out) :: loc
    integer(i4), intent(out) :: status
    integer(i8), intent(in), optional :: elements

    call open_bodies(bodies, state%bodies_and_triples, status)
    if (status == table_open) call open_table(constraints, state%con, status)
    if (status == table_open) call open_local(local, loc, status)
    if (present(elements) .and. status == table_open) call open_table(elements, state%fe, status)
  end subroutine open_all

  !> Lists the rows (row_list) and assembles their operators: V, B, H', and the contributions of explicit bodies to W_aa.
  !>
  !> Reads, besides what row_list reads, of bodies kind, centre, pointers, conf, velo and velo_prev (u* and u(t)), inverse_inertia; of constraints kind, master,
  !> slave, points, element, weights, base, R, U.  Writes, besides what row_list writes, of rows, one more than are in use,
  !> diagonal (W_aa without contributions of implicit bodies), B, turning (0), speed (size of the velocities of which B is the sum), V,
  !> R and U (of the last step), lost (0), driving, entry_ptr, slave_entry; entries, attachments, pointers; factors of triples.
  !>
  !>   bodies, constraints, materials, local, elements   handles (BodyTable.handles, ConstraintTable.handle, SurfaceMaterialTable.handle,
  !>                     LocalDynamics.handles, FiniteElements.handle)
  !>   users, coloured, colour_ptr, colours              see row_colours
  !>   implicit          (0:nbody-1) number of velocity triples of a body of scheme DEF_LIM, 0: another scheme
  !>   step              h [time]
  !>   n                 out: number of rows
  !>   entries, attachments, visits   out: entries and attachments needed, bound of off-diagonal blocks of W
  !>   failed            out: a row that failed, or -1
  !>   status            0 done; `entries_lack` more entries or attachments needed; `unknown_body` in row `failed`; `rows_lack`: rows need room
  !>                     for two per contact and one per other constraint; `table_unknown`
  subroutine assemble_rows(bodies, constraints, materials, local, elements, users, coloured, ncolourptr, colour_ptr, nbody, &
                           implicit, step, colours, n, entries, attachments, visits, failed, status)
    integer(i8), intent(in) :: bodies(3), constraints, materials, local(6), elements
    integer(i4), intent(in) :: users, coloured, ncolourptr, nbody
    integer(i4), intent(inout) :: colour_ptr(0:ncolourptr-1)
    integer(i4), intent(in) :: implicit(0:nbody-1)
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: colours, n, entries, attachments
    integer(i8), intent(out) :: visits
    integer(i4), intent(out) :: failed, status
    type(constrained_bodies) :: state
    type(local_tables) :: loc
    type(surface_material_table) :: mat
    integer(i4) :: a
    logical :: lacking

    colours = 0
    n = 0
    entries = 0
    attachments = 0
    visits = 0
    failed = -1
    call open_all(bodies, constraints, local, state, loc, status, elements)
    if (status == table_open) call open_table(materials, mat, status)
    if (status /= table_open) return
    call list_rows(state%bodies_and_triples, state%con, mat, loc, users, coloured, ncolourptr, colour_ptr, colours, n, lacking)
    if (lacking) then
      status = rows_lack
      return
    end if
    call attach(n, state%bodies, state%con, state%fe%element_size, loc, entries, attachments, visits)
    if (entries > size(loc%entries%triple) .or. attachments > size(loc%attachments%row)) then
      status = entries_lack
      return
    end if

    call factorise_inertia(step, state, loc)
    do a = 0, state%n - 1
      ! entries of implicit bodies are H itself: their inverse inertia couples all triples (add_compliance)
      if (implicit(a) /= 0) call set_identity(loc, state%bodies%velo_ptr(a), state%bodies%velo_ptr(a) + implicit(a) - 1)
    end do

    !$omp parallel do if (pays(n, merge(300, 100, size(state%fe%row) > 0))) schedule(static) reduction(max: failed)
    do a = 0, n - 1, batch
      call assemble_batch(state, loc, implicit, a, min(a + batch, n) - 1, failed)
    end do
    !$omp end parallel do
    call find_coupled_drives(state, loc, n)
    if (failed >= 0) status = unknown_body
  end subroutine assemble_rows

  !> Assembles the operators of the rows from `first` to `last`; `failed`: a row on a kind of body without an operator.
  subroutine assemble_batch(state, loc, implicit, first, last, failed)
    type(constrained_bodies), intent(in) :: state
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: implicit(0:*)     !< see `assemble_rows`
    integer(i4), intent(in) :: first, last
    integer(i4), intent(inout) :: failed
    integer(i4) :: a, found, next, rows(batch)
    logical :: known

    call find_rigid_contacts(first, last, state%bodies_and_triples, state%con, loc, found, rows)
    do next = 1, found, lanes
      call assemble_rigid_contacts(rows(next:min(next + lanes - 1, found)), state%bodies_and_triples, state%con, loc)
    end do
    next = 1
    do a = first, last
      if (next <= found .and. rows(min(next, batch)) == a) then
        next = next + 1
      else
        call assemble_operator(state, loc, implicit, a, loc%rows%order(a), known)
        if (.not. known) failed = max(failed, a)
      end if
      call take_last(state%con, loc, a, loc%rows%order(a))
      loc%rows%lost(a) = 0
      loc%rows%turning(:,a) = 0.0_dp
      loc%rows%driving(a) = merge(1_i4, 0_i4, drives(state, loc%rows%order(a)))
    end do
  end subroutine assemble_batch

  !> Factorises the inverse inertia of all triples, those of bodies that sleep left out.
  subroutine factorise_inertia(step, state, loc)
    real(dp), intent(in) :: step
    type(constrained_bodies), intent(in) :: state
    type(local_tables), intent(in) :: loc
    integer(i4) :: a, b, bodies

    bodies = state%n
    if (.not. any(state%bodies%rest(0:bodies-1) < 0)) then
      !$omp parallel do if (pays(int(state%triples%rows, i4), 15)) schedule(static)
      do a = 0, int(state%triples%rows, i4) - 1
        call cholesky(step, state%triples%inverse_inertia(:,:,a), loc%triples%factor(:,:,a))
      end do
      !$omp end parallel do
      return
    end if
    !$omp parallel do if (pays(bodies, 30)) schedule(static) private(a)
    do b = 0, bodies - 1
      if (state%bodies%rest(b) < 0) cycle
      do a = state%bodies%velo_ptr(b), last_triple(state, b)
        call cholesky(step, state%triples%inverse_inertia(:,:,a), loc%triples%factor(:,:,a))
      end do
    end do
    !$omp end parallel do
  end subroutine factorise_inertia

  !> Last velocity triple of body b.
  pure integer(i4) function last_triple(state, b)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: b

    last_triple = int(state%triples%rows, i4) - 1
    if (b < state%n - 1) last_triple = state%bodies%velo_ptr(b+1) - 1
  end function last_triple

  !> Rows that hold obstacles on which other bodies pull, through springs or links, do not count as driving: nothing but these pulls moves a held
  !> obstacle, so its B is round-off and no measure of errors.  Rows of obstacles that move keep a measure of their own.
  subroutine find_coupled_drives(state, loc, n)
    type(constrained_bodies), intent(in) :: state
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: n
    logical, allocatable :: pulled(:), moved(:)
    integer(i4) :: a
    logical :: changed

    if (all(loc%rows%driving(0:n-1) == 0)) return
    allocate (pulled(-1:state%n-1), moved(-1:state%n-1), source=.false.)
    do a = 0, n - 1
      if (loc%rows%driving(a) == 0) cycle
      associate (i => loc%rows%order(a))
        if (state%con%kind(i) /= constraint_velodir .and. state%con%kind(i) /= constraint_velodir3) cycle
        if (any(abs(state%con%value(:,i)) > 0)) moved([state%con%master(i), state%con%slave(i)]) = .true.
      end associate
    end do
    moved(-1) = .false.
    changed = .true.
    do while (changed)
      changed = .false.
      do a = 0, n - 1
        associate (i => loc%rows%order(a), driving => loc%rows%driving(a))
          if (driving /= 0) then
            if (.not. (pulled(state%con%master(i)) .or. pulled(state%con%slave(i)))) cycle
            if (moved(state%con%master(i)) .or. moved(state%con%slave(i))) cycle
            driving = 0
            changed = .true.
          end if
          if (.not. acts_on(state%con, i, obstacle_kind)) cycle
          if (state%bodies%kind(state%con%master(i)) == obstacle_kind) call pull(state%con%master(i))
          if (state%con%slave(i) < 0) cycle
          if (state%bodies%kind(state%con%slave(i)) == obstacle_kind) call pull(state%con%slave(i))
        end associate
      end do
    end do

  contains

    subroutine pull(k)
      integer(i4), intent(in) :: k

      changed = changed .or. .not. pulled(k)
      pulled(k) = .true.
    end subroutine pull
  end subroutine find_coupled_drives

  !> Takes R and U of the last step.
  subroutine take_last(con, loc, a, i)
    type(constraint_table), intent(in) :: con
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: a, i

    if (loc%rows%contact(a) < 0) then
      call copy(con%R(:,i), loc%rows%R(:,a))
      call copy(con%U(:,i), loc%rows%U(:,a))
    else
      loc%rows%R(:,a) = con%moment(:,i)/loc%rows%arm(a)
      loc%rows%U(:,a) = 0.0_dp
    end if
  end subroutine take_last

  !> Computes H of row a, constraint i, on its master (side 1) or slave (side 2).
  subroutine operator_of_row(state, loc, a, i, side, count, h, t)
    type(constrained_bodies), intent(in) :: state
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: a, i
    integer, intent(in) :: side
    integer(i4), intent(out) :: count, t(8)
    real(dp), intent(inout) :: h(3,3,8)
    integer(i4) :: k
    real(dp) :: point(3)

    k = state%con%master(i)
    point = state%con%master_point(:,i)
    if (side == 2) k = state%con%slave(i)
    if (side == 2) point = state%con%slave_point(:,i)
    if (loc%rows%contact(a) < 0) then
      call operator_of(state, k, side, i, point, count, h, t)
    else
      call turning_operator(state%bodies_and_triples, state%con, k, i, loc%rows%arm(a), count, h, t)
    end if
  end subroutine operator_of_row

  !> Whether constraint i, one of the user's, acts on obstacles only.
  pure function drives(state, i) result(answer)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    logical :: answer

    answer = state%con%kind(i) /= contact_row .and. state%bodies%kind(state%con%master(i)) == obstacle_kind
    if (answer .and. state%con%slave(i) >= 0) answer = state%bodies%kind(state%con%slave(i)) == obstacle_kind
  end function drives

  !> Sets L = I of triples from `first` to `last`.
  subroutine set_identity(loc, first, last)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: first, last
    integer(i4) :: j

    loc%triples%factor(:,:,first:last) = 0.0_dp
    do j = 1, 3
      loc%triples%factor(j,j,first:last) = 1.0_dp
    end do
  end subroutine set_identity

  !> Assembles V, B, H' and W_aa of row a, constraint i.
  subroutine assemble_operator(state, loc, implicit, a, i, known)
    type(constrained_bodies), intent(in) :: state
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: implicit(0:*)     !< see `assemble_rows`
    integer(i4), intent(in) :: a, i
    logical, intent(out) :: known     !< false: a kind of body without an operator
    real(dp) :: hm(3,3,8), hs(3,3,8)
    integer(i4) :: m, s, nm, ns, tm(8), ts(8)
    logical :: same

    m = state%con%master(i)
    s = state%con%slave(i)
    ns = 0
    same = s == m .and. state%bodies%kind(m) == finite_element_kind
    call operator_of_row(state, loc, a, i, 1, nm, hm, tm)
    known = nm > 0
    call clear(loc%rows%V(:,a), loc%rows%B(:,a), loc%rows%speed(a), loc%rows%diagonal(:,:,a))
    call add_velocities(nm, hm, tm, state%triples%velo_prev, state%triples%velo, loc%rows%V(:,a), loc%rows%B(:,a), &
                        loc%rows%speed(a))
    if (s >= 0) then
      call operator_of_row(state, loc, a, i, 2, ns, hs, ts)
      known = known .and. ns > 0
      hs(:,:,1:ns) = -hs(:,:,1:ns)
      call add_velocities(ns, hs, ts, state%triples%velo_prev, state%triples%velo, loc%rows%V(:,a), loc%rows%B(:,a), &
                          loc%rows%speed(a))
      if (s == m .and. .not. same) hm(:,:,1:nm) = hm(:,:,1:nm) + hs(:,:,1:nm)
    end if
    ! entries of the master come first, those of the slave fill the row's last places
    if (s >= 0 .and. (s /= m .or. same) .and. acts_on(state%con, i, state%bodies%kind(max(s, 0)))) &
      call store(ns, hs, ts, loc%triples%factor, implicit(s) == 0, loc%rows%entry_ptr(a+1) - ns, &
                 loc%entries%triple, loc%entries%operator, loc%rows%diagonal(:,:,a))
    if (acts_on(state%con, i, state%bodies%kind(m))) then
      call store(nm, hm, tm, loc%triples%factor, implicit(m) == 0, loc%rows%entry_ptr(a), &
                 loc%entries%triple, loc%entries%operator, loc%rows%diagonal(:,:,a))
      if (same .and. implicit(m) == 0) call add_common(loc%rows%entry_ptr(a), loc%rows%entry_ptr(a) + nm, &
                                                       loc%rows%entry_ptr(a+1), loc%entries%triple, loc%entries%operator, &
                                                       loc%rows%diagonal(:,:,a))
    end if
  end subroutine assemble_operator

  !> Adds to B what obstacles change their velocities in the step, of rows that do not act on them.  Bodies that are apart meet an obstacle at
  !> its new velocity, from which they bounce: there V has the change, too.
  !>
  !>   bodies, constraints, local   handles (as in assemble_rows)
  !>   n                 number of rows
  !>   epsilon           gap up to which bodies touch
  !>   count, body, change   obstacles and the changes of their velocities (driven_motion)
  !>   status            0 done; `table_unknown`
  subroutine add_obstacle_motion(bodies, constraints, local, n, epsilon, count, body, change, status)
    integer(i8), intent(in) :: bodies(3), constraints, local(6)
    integer(i4), intent(in) :: n, count, body(0:count-1)
    real(dp), intent(in) :: epsilon, change(6,0:count-1)
    integer(i4), intent(out) :: status
    type(constrained_bodies) :: state
    type(local_tables) :: loc
    integer(i4), allocatable :: place(:)
    integer(i4) :: a, i, k

    call open_all(bodies, constraints, local, state, loc, status)
    if (status /= table_open) return
    allocate(place(0:state%n-1))
    place = -1
    do k = 0, count - 1
      place(body(k)) = k
    end do
    !$omp parallel do if (pays(n, 20)) schedule(static) private(i)
    do a = 0, n - 1
      i = loc%rows%order(a)
      call add_side(a, i, 1, state%con%master(i), 1.0_dp)
      call add_side(a, i, 2, state%con%slave(i), -1.0_dp)
    end do
    !$omp end parallel do

  contains

    !> Adds the change of velocity of one side of row a, constraint i.
    subroutine add_side(a, i, side, of, sign)
      integer(i4), intent(in) :: a, i, of
      integer, intent(in) :: side
      real(dp), intent(in) :: sign
      real(dp) :: h(3,3,8), unused(3), added(3)
      integer(i4) :: blocks, t(8)

      if (of < 0) return
      if (place(of) < 0) return
      if (acts_on(state%con, i, state%bodies%kind(of))) return
      call operator_of_row(state, loc, a, i, side, blocks, h, t)
      unused = 0.0_dp
      added = 0.0_dp
      t(1:2) = [0, 1]   ! rows of `change`
      associate (moves => reshape(change(:,place(of)), [3, 2]))
        call add_velocities(blocks, h, t, moves, moves, unused, added, loc%rows%speed(a))
      end associate
      loc%rows%B(:,a) = loc%rows%B(:,a) + sign*added
      if (state%con%kind(i) == contact_row .and. state%con%gap(i) > epsilon) loc%rows%V(:,a) = loc%rows%V(:,a) + sign*added
    end subroutine add_side
  end subroutine add_obstacle_motion

  !> Adds products of the two sides of a self-contact at nodes that both elements share.
  subroutine add_common(first, middle, last, triple, entry, diagonal)
    integer(i4), intent(in) :: first, middle, last
    integer(i4), intent(in) :: triple(0:*)
    real(dp), intent(in) :: entry(3,3,0:*)
    real(dp), intent(inout) :: diagonal(3,3)
    integer(i4) :: x, y
    do x = first, middle - 1
      do y = middle, last - 1
        if (triple(x) /= triple(y)) cycle
        associate (hx => entry(:,:,x), hy => entry(:,:,y))
          diagonal = diagonal + matmul(hx, transpose(hy)) + matmul(hy, transpose(hx))
        end associate
      end do
    end do
  end subroutine add_common

  !> Assembles the laws of rows and the numbers of the contacts' block solutions, from complete W_aa.
  !>
  !> Reads of bodies kind; of constraints kind, master, slave, primitives, start, material, points, base, gap, area, cohesion, damage, length,
  !> value; all of surface materials; of rows order, diagonal, B, V; of bodies also conf, centre and velo_prev.
  !> Writes of rows B and turning (of gap-aware contacts), kind, block (diagonal_block), law (row_block),
  !> free (B less the prescribed velocity), R (0 in open rows), patch (first row of the cohesive points of the same two primitives).
  !>
  !>   bodies, constraints, materials, local   handles (as in assemble_rows; SurfaceMaterialTable.handle)
  !>   n                 number of rows
  !>   dynamic, step     1: dynamics; h [time]
  !>   epsilon           gap up to which bodies touch [length]
  !>   asked             out: largest velocity that laws along axes of joints prescribe
  !>   failed, status    0 done; `singular_block` W_aa, in row `failed`; `table_unknown`
  subroutine assemble_laws(bodies, constraints, materials, local, n, dynamic, epsilon, step, asked, failed, status)
    integer(i8), intent(in) :: bodies(3), constraints, materials, local(6)
    integer(i4), intent(in) :: n, dynamic
    real(dp), intent(in) :: epsilon, step
    real(dp), intent(out) :: asked
    integer(i4), intent(out) :: failed, status
    type(constrained_bodies), target :: state
    type(surface_material_table), target :: mat
    type(local_tables) :: loc
    integer(i4) :: a, i

    failed = -1
    asked = 0.0_dp
    call open_all(bodies, constraints, local, state, loc, status)
    if (status == table_open) call open_table(materials, mat, status)
    if (status /= table_open) return
    !$omp parallel do if (pays(n, 120)) schedule(static) private(i)
    do a = 0, n - 1
      i = loc%rows%order(a)
      if (dynamic /= 0) call allow_for_turning(state, mat, loc, a, i, step)
      call assemble_law(dynamic, step, epsilon, state%con, mat, loc, a)
    end do
    !$omp end parallel do
    asked = velocity_of_drives(n, merge(0.5_dp, 1.0_dp, dynamic /= 0)*step, loc)
    do a = 0, n - 1
      loc%rows%patch(a) = a
      if (continues_patch(state%con, loc, a)) loc%rows%patch(a) = loc%rows%patch(a-1)
      if (.not. min(loc%rows%diagonal(1,1,a), loc%rows%diagonal(2,2,a), loc%rows%diagonal(3,3,a)) > 0.0_dp) failed = a
    end do
    if (failed >= 0) status = singular_block
  end subroutine assemble_laws

  !> Adds to B of a gap-aware contact what its points move more, until the next detection, than their velocity says.
  subroutine allow_for_turning(state, mat, loc, a, i, step)
    type(constrained_bodies), intent(in) :: state
    type(surface_material_table), intent(in) :: mat
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: a, i
    real(dp), intent(in) :: step
    real(dp) :: turning(3)

    if (state%con%kind(i) /= contact_row .or. loc%rows%contact(a) >= 0) return
    associate (m => state%con%material(i))
      if (.not. mat%gap_aware(m) > 0.0_dp .or. state%con%cohesion(i) > 0.0_dp) return
      if (surface_row(mat%model(m), .false.) /= contact_row) return
      ! a rebound has Newton's speed, and the turning of the body is another one afterwards
      if (bounces(state%con%gap(i), mat%restitution(m), step, loc%rows%V(3,a))) return
    end associate
    turning = 0.5_dp*step*gap_acceleration(state%bodies_and_triples, state%con, i, loc%rows%V(:,a))
    loc%rows%B(:,a) = loc%rows%B(:,a) + (turning - loc%rows%turning(:,a))  ! laws may be assembled again
    loc%rows%turning(:,a) = turning
  end subroutine allow_for_turning

  !> The largest velocity that laws along axes of joints prescribe.
  real(dp) function velocity_of_drives(n, half_step, loc) result(asked)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: half_step
    type(local_tables), intent(in) :: loc
    class(row_family), pointer :: family
    real(dp) :: velocity
    integer(i4) :: a

    asked = 0.0_dp
    do a = 0, n - 1
      if (all(loc%rows%kind(a) /= [row_axial, row_torsional, row_span])) cycle
      family => family_of(loc%rows%kind(a))
      velocity = family%length(loc%rows%law(:,a))/half_step
      if (velocity > asked .and. velocity <= huge(1.0_dp)) asked = velocity
    end do
  end function velocity_of_drives

  !> Whether row a is another cohesive point of the two primitives of the previous row.
  pure function continues_patch(con, loc, a) result(answer)
    type(constraint_table), intent(in) :: con
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: a
    logical :: answer

    answer = .false.
    if (a == 0) return
    if (any(loc%rows%kind(a-1:a) /= contact_row .or. .not. loc%rows%law(l_cohesion,a-1:a) > 0.0_dp)) return
    associate (i => loc%rows%order(a), before => loc%rows%order(a-1))
      answer = con%master_primitive(i) == con%master_primitive(before) .and. con%slave_primitive(i) == con%slave_primitive(before)
    end associate
  end function continues_patch

  !> Assembles the law of row a.
  subroutine assemble_law(dynamic, step, epsilon, con, mat, loc, a)
    integer(i4), intent(in) :: dynamic
    real(dp), intent(in) :: step, epsilon
    type(constraint_table), target, intent(in) :: con
    type(surface_material_table), target, intent(in) :: mat
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: a
    class(row_family), pointer :: family
    type(prepared_row) :: row
    integer(i4) :: i, kind

    i = loc%rows%order(a)
    kind = con%kind(i)
    if (kind == contact_row) then   ! without area, as of edges, a bond has no strength
      kind = surface_row(mat%model(con%material(i)), con%cohesion(i) > 0.0_dp .and. con%area(i) > 0.0_dp)
    end if
    if (loc%rows%contact(a) >= 0) kind = rolling_row
    family => family_of(kind)
    ! a component in which a row does not act is a separate unknown: 0 = W_NN R_N
    if (family%masked) loc%rows%diagonal(3,3,a) = 0.5_dp*(loc%rows%diagonal(1,1,a) + loc%rows%diagonal(2,2,a))
    row%kind = kind
    row%dynamic = dynamic                     ! one by one: a constructor would take longer than the law
    row%step = step
    row%epsilon = epsilon
    row%constraint = i
    row%material = con%material(i)
    row%arm = loc%rows%arm(a)
    row%constraints => con
    row%materials => mat
    row%w = loc%rows%diagonal(:,:,a)
    row%b = loc%rows%B(:,a)
    row%v = loc%rows%V(:,a)
    row%free = row%b
    row%law = 0.0_dp
    row%block = 0.0_dp
    call family%prepare(row)
    loc%rows%kind(a) = row%kind
    loc%rows%law(:,a) = row%law
    loc%rows%block(:,a) = row%block
    loc%rows%free(:,a) = row%free
    if (row%kind == open_row) loc%rows%R(:,a) = 0.0_dp
  end subroutine assemble_law

  pure subroutine clear(v, b, speed, diagonal)
    real(dp), intent(out) :: v(3), b(3), speed, diagonal(3,3)
    v = 0.0_dp
    b = 0.0_dp
    speed = 0.0_dp
    diagonal = 0.0_dp
  end subroutine clear

  !> Adds the sums of H_k u_k(t) to V, of H_k u_k* to B, and of the sizes of the terms of B to `speed`.
  pure subroutine add_velocities(count, h, t, velo_prev, velo, v, b, speed)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: h(3,3,8)
    integer(i4), intent(in) :: t(8)
    real(dp), intent(in) :: velo_prev(3,0:*), velo(3,0:*)
    real(dp), intent(inout) :: v(3), b(3), speed
    real(dp) :: vk(3), bk(3), sk, term(3)
    integer :: k

    vk = 0.0_dp
    bk = 0.0_dp
    sk = 0.0_dp
    do k = 1, count
      vk = vk + product_of(h(:,:,k), velo_prev(:,t(k)))
      term = product_of(h(:,:,k), velo(:,t(k)))
      bk = bk + term
      sk = sk + (abs(term(1)) + abs(term(2)) + abs(term(3)))
    end do
    v = v + vk
    b = b + bk
    speed = speed + sk
  end subroutine add_velocities

  pure function product_of(h, u) result(local)
    real(dp), intent(in) :: h(3,3), u(3)
    real(dp) :: local(3)
    local = h(:,1)*u(1) + h(:,2)*u(2) + h(:,3)*u(3)
  end function product_of

  !> Stores H' = H L of one body from entry `first` on, and adds its contribution to W_aa if it is explicit.
  pure subroutine store(count, h, t, factor, explicit, first, triple, entry, diagonal)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: h(3,3,8)
    integer(i4), intent(in) :: t(8)
    real(dp), intent(in) :: factor(3,3,0:*)
    logical, intent(in) :: explicit
    integer(i4), intent(in) :: first
    integer(i4), intent(inout) :: triple(0:*)
    real(dp), intent(inout) :: entry(3,3,0:*), diagonal(3,3)
    integer :: k, e, j

    do k = 1, count
      e = first + k - 1
      triple(e) = t(k)
      associate (l => factor(:,:,t(k)))
        entry(:,1,e) = h(:,1,k)*l(1,1) + h(:,2,k)*l(2,1) + h(:,3,k)*l(3,1)
        entry(:,2,e) = h(:,2,k)*l(2,2) + h(:,3,k)*l(3,2)
        entry(:,3,e) = h(:,3,k)*l(3,3)
      end associate
      if (.not. explicit) cycle
      do j = 1, 3
        diagonal(:,j) = diagonal(:,j) + (entry(:,1,e)*entry(j,1,e) + entry(:,2,e)*entry(j,2,e) + entry(:,3,e)*entry(j,3,e))
      end do
    end do
  end subroutine store

  !> Applies reactions to bodies, computes work of contacts, and writes the results of rows to the constraint table.
  !>
  !> Reads of rows the solver's results (R, U, V, merit, residual, lost) and order, attachments, and the columns of bodies and constraints
  !> that assemble_rows reads.  Writes reaction of triples (sum of +-H^T R over the constraints acting on each), energy of bodies (CONTACT (4)
  !> and FRICTION (5), counted from 1, grow by (h/2)(U+V).R, U without `turning`, of the body's contacts), and R, U, V, moment, reversing,
  !> merit, residual, damage of constraints, and cohesion, which becomes 0 where it was lost.
  !>
  !>   bodies, constraints, local, elements, n, step   as in assemble_rows; step 0: no work is counted
  !>   contact_work, friction_work   out: the work of all contacts, each counted once
  !>   status                        0, `table_unknown`
  subroutine apply_reactions(bodies, constraints, local, elements, n, step, contact_work, friction_work, status)
    integer(i8), intent(in) :: bodies(3), constraints, local(6), elements
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: step
    real(dp), intent(out) :: contact_work, friction_work
    integer(i4), intent(out) :: status
    type(constrained_bodies) :: state
    type(local_tables) :: loc
    integer(i8) :: bodies_in_use
    integer :: part, parts

    contact_work = 0.0_dp
    friction_work = 0.0_dp
    call open_all(bodies, constraints, local, state, loc, status, elements)
    if (status /= table_open) return
    call clear_reactions(state)
    ! rows one after the other, since a contact has more numbers than a body; each thread serves the bodies of a range of its own
    parts = 1
    !$ if (pays(n, 60)) parts = omp_get_max_threads()
    bodies_in_use = state%bodies%rows
    !$omp parallel do if (parts > 1) schedule(static, 1)
    do part = 0, parts - 1
      call apply_to(int(bodies_in_use*part/parts, i4), int(bodies_in_use*(part + 1)/parts, i4) - 1)
    end do
    !$omp end parallel do
    call store_results(state%con, loc, n, step, contact_work, friction_work)

  contains

    !> Applies all rows to the bodies first <= k <= last, in the order of rows.
    subroutine apply_to(first, last)
      integer(i4), intent(in) :: first, last
      integer(i4) :: a, i, k, side, on(2)
      real(dp) :: work(2), r(3)

      do a = 0, n - 1
        i = loc%rows%order(a)
        on = [state%con%master(i), state%con%slave(i)]
        r = loc%rows%R(1:3,a)
        do side = 1, merge(1, 2, on(1) == on(2))
          k = on(side)
          if (k < first .or. k > last) cycle
          if (.not. acts_on(state%con, i, state%bodies%kind(k))) cycle
          if (state%con%master(i) == k) call pull(k, a, i, 1, state%con%master_point(:,i), r)
          if (state%con%slave(i) == k) call pull(k, a, i, 2, state%con%slave_point(:,i), -r)
          if (state%con%kind(i) /= contact_row) cycle
          work = works_of(loc, a, step)
          state%bodies%energy(4,k) = state%bodies%energy(4,k) + work(1)
          state%bodies%energy(5,k) = state%bodies%energy(5,k) + work(2)
        end do
      end do
    end subroutine apply_to

    !> Adds H^T r of row a, constraint i, on one of its bodies, k.
    subroutine pull(k, a, i, side, point, r)
      integer(i4), intent(in) :: k, a, i
      integer, intent(in) :: side
      real(dp), intent(in) :: point(3), r(3)
      real(dp) :: h(3,3,8)
      integer(i4) :: count, t(8)

      if (state%bodies%kind(k) <= rigid_kind .and. state%con%kind(i) == contact_row .and. loc%rows%contact(a) < 0) then
        call add_rigid_reaction(k, point, state%con%base(:,:,i), r, state%bodies%conf_ptr, state%bodies%velo_ptr, &
                                state%bodies%centre, state%configurations%conf, state%triples%reaction)
      else
        call operator_of_row(state, loc, a, i, side, count, h, t)
        call add_transposed(count, h, t, r, state%triples%reaction)
      end if
    end subroutine pull
  end subroutine apply_reactions

  !> Clears the reactions on bodies; those that sleep keep theirs.
  subroutine clear_reactions(state)
    type(constrained_bodies), intent(in) :: state
    integer(i4) :: b, bodies

    bodies = state%n
    if (.not. any(state%bodies%rest(0:bodies-1) < 0)) then
      state%triples%reaction(:,0:state%triples%rows-1) = 0.0_dp
      return
    end if
    do b = 0, bodies - 1
      if (state%bodies%rest(b) < 0) cycle
      state%triples%reaction(:,state%bodies%velo_ptr(b):last_triple(state, b)) = 0.0_dp
    end do
  end subroutine clear_reactions

  !> Writes results of rows to their constraints, and adds the works of contacts.
  subroutine store_results(con, loc, n, step, contact_work, friction_work)
    type(constraint_table), intent(in) :: con
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: step
    real(dp), intent(inout) :: contact_work, friction_work
    integer(i4) :: a, i
    real(dp) :: work(2)

    do a = 0, n - 1
      i = loc%rows%order(a)
      if (con%kind(i) == contact_row) then
        work = works_of(loc, a, step)
        contact_work = contact_work + work(1)
        friction_work = friction_work + work(2)
      end if
      if (loc%rows%contact(a) >= 0) then
        con%moment(:,i) = loc%rows%arm(a)*loc%rows%R(:,a)
        cycle
      end if
      con%moment(:,i) = 0.0_dp
      call copy(loc%rows%R(:,a), con%R(:,i))
      if (loc%rows%kind(a) == row_span) call drop_round_off(loc%rows%diagonal(3,3,a), loc%rows%speed(a), con%R(3,i))
      if (is_damped(con, i)) con%reversing(:,i) = merge(loc%rows%V(:,a) + con%U(:,i), 0.0_dp, con%start(i) == joint_start_met)
      call copy(loc%rows%U(:,a), con%U(:,i))
      call copy(loc%rows%V(:,a), con%V(:,i))
      con%merit(i) = loc%rows%merit(a)
      con%residual(i) = loc%rows%residual(a)
      if (loc%rows%lost(a) /= 0) con%cohesion(i) = 0.0_dp
      call weaken(con, loc, a, i)
    end do
  end subroutine store_results

  !> Updates the damage of a bond; a bond with damage 1 ends.
  subroutine weaken(con, loc, a, i)
    type(constraint_table), intent(in) :: con
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: a, i
    class(row_family), pointer :: family

    family => family_of(loc%rows%kind(a))
    if (.not. family%weakens) return
    con%damage(i) = family%damaged(loc%rows%law(:,a), loc%rows%block(:,a), loc%rows%diagonal(:,:,a), loc%rows%U(:,a), &
                                   loc%rows%R(:,a))
    if (con%damage(i) < 1.0_dp) return
    con%damage(i) = 1.0_dp
    con%cohesion(i) = 0.0_dp
  end subroutine weaken

  !> Works of the normal reaction and of friction of a contact's row; in a rolling row all is friction.
  pure function works_of(loc, a, step) result(work)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: a
    real(dp), intent(in) :: step
    real(dp) :: work(2), r(3), twice_mean(3)

    r = loc%rows%R(1:3,a)
    twice_mean = loc%rows%U(1:3,a) - loc%rows%turning(1:3,a) + loc%rows%V(1:3,a)
    work = contact_works(step, twice_mean, r)
    if (loc%rows%contact(a) >= 0) work = [0.0_dp, work(1) + work(2)]
  end function works_of

  !> Adds H_k^T r to the reactions of the triples.
  pure subroutine add_transposed(count, h, t, r, reaction)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: h(3,3,8)
    integer(i4), intent(in) :: t(8)
    real(dp), intent(in) :: r(3)
    real(dp), intent(inout) :: reaction(3,0:*)
    integer :: c, j

    do c = 1, count
      do j = 1, 3
        reaction(j,t(c)) = reaction(j,t(c)) + (h(1,j,c)*r(1) + h(2,j,c)*r(2) + h(3,j,c)*r(3))
      end do
    end do
  end subroutine add_transposed

  !> Work of the normal and of the tangential reaction in the step.
  pure function contact_works(step, twice_mean, r) result(work)
    real(dp), intent(in) :: step, twice_mean(3), r(3)
    real(dp) :: work(2)
    work(1) = 0.5_dp*step*twice_mean(3)*r(3)
    work(2) = 0.5_dp*step*(twice_mean(1)*r(1) + twice_mean(2)*r(2))
  end function contact_works
end module local_dynamics
