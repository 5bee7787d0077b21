!> Local dynamics U = B + W R: rows in the order of the sweep, V, B, W, and reactions back on bodies.
!>
!> The operator of every row is kept as blocks H' = H L of its bodies' velocity triples with L L^T = h A^-1, so that
!> W_ab = sum H'_a H'_b^T for rows sharing triples (theory, section "Local dynamics"; manual, CONSTRAINT).
module local_dynamics
  use kinds, only: dp, i4, i8
  use velocity_operator, only: velocity_blocks, finite_element_kind, obstacle_kind
  use row_block, only: contact_row, open_row, law_size, l_gap, l_spring, l_dashpot, l_power, l_friction, l_restitution, l_cohesion
  use row_order, only: attach, acts_on
  use row_colours, only: order_rows
  use row_laws, only: contact_laws, bilateral_laws, is_struck, waits_for_impact
  implicit none
  private
  public :: assemble_rows, assemble_laws, apply_reactions

  integer, parameter :: parallel_from = 300   !< rows (or bodies) from which threads pay

contains

  !> Order and operators of the rows: V, B, H', and the part of W_aa that explicit bodies have.
  !>
  !> Constraint table (n rows in use): kind, master, slave (0:ncon-1);
  !> master_point, slave_point, base, reaction, velocity.  Body table: body_kind, centre, conf_ptr, velo_ptr (0:nbody-1),
  !> conf (3,0:nconf-1), velo, velo_prev (3,0:ntriple-1): u* and u(t); inverse_inertia (3,3,0:ntriple-1).
  !>
  !>   bodies, triples   bodies and velocity triples in use
  !>   element, weights  (2,0:ncon-1), (8,2,0:ncon-1) elements that hold the points (master, slave), shape functions there;
  !>                     element_ptr (0:nbody-1), element_size, element_node (.., 0:ne-1) of finite element bodies
  !>   implicit          (0:nbody-1) number of velocity triples of a body of scheme DEF_LIM, 0: another scheme
  !>   step              h [time]
  !>   users, coloured, birth, chunk_ptr, colour_ptr, colours   see row_colours
  !>   order             (0:nrow-1) out: constraint table row of every row (row_colours)
  !>   diagonal          (3,3,0:nrow-1) out: W_aa, without what implicit bodies add [velocity/force]
  !>   b, v              (3,0:nrow-1) out: B; V [velocity]; speed (0:nrow-1) size of the velocities whose sum B is
  !>   r, u              (3,0:nrow-1) out: R and U of the last step
  !>   lost              (0:nrow-1) out: 0
  !>   driving           (0:nrow-1) out: 1 where a user's constraint acts on obstacles alone
  !>   entry_ptr, slave_entry   (0:nrow-1), entry n in use too: first entry of every row; first one of its slave
  !>   triple, entry     (0:nentry-1), (3,3,0:nentry-1) out: velocity triple and H'
  !>   factor            (3,3,0:ntriple-1) out: L of every triple
  !>   body_ptr          (0:nbodyptr-1), entry `bodies` in use too: first attachment of every body
  !>   attached_row, attached_entry   (0:nattached-1) out: rows acting on a body, and the first of its entries there
  !>   entries, attachments, visits   out: entries and attachments needed, bound of off-diagonal blocks of W
  !>   status            0 done; 1 more entries or attachments needed; 2 bad kind of body in row `failed`
  subroutine assemble_rows(n, users, coloured, bodies, triples, step, ncon, kind, master, slave, birth, master_point, &
      slave_point, base, reaction, velocity, nbody, body_kind, centre, conf_ptr, velo_ptr, element_ptr, implicit, nconf, conf, &
      element, weights, ne, element_size, element_node, ntriple, velo, velo_prev, inverse_inertia, nrow, order, chunk_ptr, &
      ncolourptr, colour_ptr, diagonal, b, speed, v, r, u, lost, driving, entry_ptr, slave_entry, nentry, &
      triple, entry, factor, nbodyptr, body_ptr, nattached, attached_row, attached_entry, &
      colours, entries, attachments, visits, failed, status)
    integer(i4), intent(in) :: n, users, coloured, ncon
    integer(i4), intent(in) :: kind(0:ncon-1), master(0:ncon-1), slave(0:ncon-1)
    integer(i8), intent(in) :: birth(0:ncon-1)
    real(dp), intent(in) :: master_point(3,0:ncon-1), slave_point(3,0:ncon-1)
    real(dp), intent(in) :: base(3,3,0:ncon-1), reaction(3,0:ncon-1), velocity(3,0:ncon-1)
    integer(i4), intent(in) :: bodies, nbody
    integer(i4), intent(in) :: body_kind(0:nbody-1)
    real(dp), intent(in) :: centre(3,0:nbody-1)
    integer(i4), intent(in) :: conf_ptr(0:nbody-1), velo_ptr(0:nbody-1), element_ptr(0:nbody-1), implicit(0:nbody-1)
    integer(i4), intent(in) :: nconf
    real(dp), intent(in) :: conf(3,0:nconf-1)
    integer(i4), intent(in) :: element(2,0:ncon-1)
    real(dp), intent(in) :: weights(8,2,0:ncon-1)
    integer(i4), intent(in) :: ne
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    integer(i4), intent(in) :: triples, ntriple
    real(dp), intent(in) :: velo(3,0:ntriple-1), velo_prev(3,0:ntriple-1), inverse_inertia(3,3,0:ntriple-1)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: nrow
    integer(i4), intent(inout) :: order(0:nrow-1), chunk_ptr(0:nrow-1)
    integer(i4), intent(in) :: ncolourptr
    integer(i4), intent(inout) :: colour_ptr(0:ncolourptr-1)
    real(dp), intent(inout) :: diagonal(3,3,0:nrow-1)
    real(dp), intent(inout) :: b(3,0:nrow-1), speed(0:nrow-1), v(3,0:nrow-1), r(3,0:nrow-1), u(3,0:nrow-1)
    integer(i4), intent(inout) :: lost(0:nrow-1), driving(0:nrow-1), entry_ptr(0:nrow-1), slave_entry(0:nrow-1)
    integer(i4), intent(in) :: nentry
    integer(i4), intent(inout) :: triple(0:nentry-1)
    real(dp), intent(inout) :: entry(3,3,0:nentry-1)
    real(dp), intent(inout) :: factor(3,3,0:ntriple-1)
    integer(i4), intent(in) :: nbodyptr
    integer(i4), intent(inout) :: body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: nattached
    integer(i4), intent(inout) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(out) :: colours, entries, attachments
    integer(i8), intent(out) :: visits
    integer(i4), intent(out) :: failed, status
    integer(i4) :: a
    logical :: known

    status = 0
    failed = -1
    call order_rows(n, users, coloured, ncon, master, slave, birth, bodies, nbody, body_kind, &
                    nrow, order, chunk_ptr, ncolourptr, colour_ptr, colours)
    call attach(n, order, kind, master, slave, bodies, body_kind, element_ptr, element, element_size, nrow, entry_ptr, &
                slave_entry, nbodyptr, body_ptr, &
                nattached, attached_row, attached_entry, entries, attachments, visits)
    if (entries > nentry .or. attachments > nattached) then
      status = 1
      return
    end if

    !$omp parallel do if (triples > parallel_from) schedule(static)
    do a = 0, triples - 1
      call cholesky(step, inverse_inertia(:,:,a), factor(:,:,a))
    end do
    !$omp end parallel do
    do a = 0, bodies - 1
      ! entries of implicit bodies are H itself: their inverse inertia couples all triples (add_compliance)
      if (implicit(a) /= 0) call set_identity(velo_ptr(a), velo_ptr(a) + implicit(a) - 1)
    end do

    !$omp parallel do if (n > parallel_from) schedule(static) private(known) reduction(max: failed)
    do a = 0, n - 1
      call assemble_operator(a, order(a), known)
      if (.not. known) failed = max(failed, a)
      r(:,a) = reaction(:,order(a))
      u(:,a) = velocity(:,order(a))
      lost(a) = 0
      driving(a) = merge(1_i4, 0_i4, drives(order(a)))
    end do
    !$omp end parallel do
    if (failed >= 0) then
      status = 2
      return
    end if

  contains

    !> Whether constraint i, one of the user's, has obstacles on all of its sides.
    pure function drives(i) result(answer)
      integer(i4), intent(in) :: i
      logical :: answer
      answer = kind(i) /= contact_row .and. body_kind(master(i)) == obstacle_kind
      if (answer .and. slave(i) >= 0) answer = body_kind(slave(i)) == obstacle_kind
    end function drives

    !> L = I
    subroutine set_identity(first, last)
      integer(i4), intent(in) :: first, last
      integer(i4) :: j
      factor(:,:,first:last) = 0.0_dp
      do j = 1, 3
        factor(j,j,first:last) = 1.0_dp
      end do
    end subroutine set_identity

    !> V, B, H' and W_aa of row a, constraint i.
    subroutine assemble_operator(a, i, known)
      integer(i4), intent(in) :: a, i
      logical, intent(out) :: known     !< false: a kind of body without an operator
      real(dp) :: hm(3,3,8), hs(3,3,8)
      integer(i4) :: m, s, nm, ns, tm(8), ts(8)
      logical :: same

      m = master(i)
      s = slave(i)
      ns = 0
      same = s == m .and. body_kind(m) == finite_element_kind
      call operator_of(m, 1, i, master_point(:,i), nm, hm, tm)
      known = nm > 0
      v(:,a) = transformed(nm, hm, tm, velo_prev)
      b(:,a) = transformed(nm, hm, tm, velo)
      speed(a) = terms(nm, hm, tm, velo)
      if (s >= 0) then
        call operator_of(s, 2, i, slave_point(:,i), ns, hs, ts)
        known = known .and. ns > 0
        hs(:,:,1:ns) = -hs(:,:,1:ns)
        v(:,a) = v(:,a) + transformed(ns, hs, ts, velo_prev)
        b(:,a) = b(:,a) + transformed(ns, hs, ts, velo)
        speed(a) = speed(a) + terms(ns, hs, ts, velo)
        if (s == m .and. .not. same) hm(:,:,1:nm) = hm(:,:,1:nm) + hs(:,:,1:nm)
      end if
      diagonal(:,:,a) = 0.0_dp
      ! entries of the master come first, those of the slave fill the row's last places
      if (s >= 0 .and. (s /= m .or. same) .and. acts_on(kind(i), body_kind(max(s, 0)))) &
        call store(ns, hs, ts, factor, implicit(s) == 0, entry_ptr(a+1) - ns, triple, entry, diagonal(:,:,a))
      if (acts_on(kind(i), body_kind(m))) then
        call store(nm, hm, tm, factor, implicit(m) == 0, entry_ptr(a), triple, entry, diagonal(:,:,a))
        if (same .and. implicit(m) == 0) call add_common(entry_ptr(a), entry_ptr(a) + nm, entry_ptr(a+1), diagonal(:,:,a))
      end if
    end subroutine assemble_operator

    !> Products of the two sides of a self-contact at the nodes that both elements have.
    subroutine add_common(first, middle, last, diagonal)
      integer(i4), intent(in) :: first, middle, last
      real(dp), intent(inout) :: diagonal(3,3)
      integer(i4) :: x, y
      do x = first, middle - 1
        do y = middle, last - 1
          if (triple(x) /= triple(y)) cycle
          diagonal = diagonal + matmul(entry(:,:,x), transpose(entry(:,:,y))) + matmul(entry(:,:,y), transpose(entry(:,:,x)))
        end do
      end do
    end subroutine add_common

    !> H of one body at one of its points, and the velocity triples it applies to.
    subroutine operator_of(k, side, i, point, count, h, t)
      integer(i4), intent(in) :: k, i
      integer, intent(in) :: side       !< 1 master, 2 slave
      real(dp), intent(in) :: point(3)
      integer(i4), intent(out) :: count, t(8)
      real(dp), intent(inout) :: h(3,3,8)
      call operator_blocks(body_kind(k), conf(:,conf_ptr(k):conf_ptr(k)+3), centre(:,k), point, base(:,:,i), velo_ptr(k), &
                           element_ptr(k) + element(side,i), weights(:,side,i), element_size, element_node, count, h, t)
    end subroutine operator_of
  end subroutine assemble_rows

  !> H of one point, for every kind of body: N_a base^T for the nodes of the element that holds it, or velocity_blocks.
  pure subroutine operator_blocks(kind, conf, centre, point, base, velo_ptr, element, weights, element_size, element_node, &
                                  count, h, t)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4), centre(3), point(3), base(3,3)
    integer(i4), intent(in) :: velo_ptr, element
    real(dp), intent(in) :: weights(8)
    integer(i4), intent(in) :: element_size(0:*), element_node(8,0:*)
    integer(i4), intent(out) :: count, t(8)
    real(dp), intent(inout) :: h(3,3,8)
    integer :: a

    if (kind == finite_element_kind) then
      count = element_size(element)
      do a = 1, count
        h(:,:,a) = weights(a)*transpose(base)
        t(a) = velo_ptr + element_node(a,element)
      end do
    else
      call velocity_blocks(kind, conf, centre, point, base, count, h(:,:,1:4))
      do a = 1, count
        t(a) = velo_ptr + a - 1
      end do
    end if
  end subroutine operator_blocks

  !> What the rows ask for, once W_aa is complete: laws and numbers of the contacts' block solves.
  !>
  !>   start             (0:ncon-1) 2: the step stops the points of a joint (joint_starts.py)
  !>   kind ... value, materials   columns of the constraint and surface-material tables (0:ncon-1), (0:nmat-1)
  !>   dynamic, step     1: dynamics; h [time]; epsilon   gap up to which bodies touch [length]
  !>   order, diagonal, b, v   as assemble_rows left them
  !>   row_kind          (0:nrow-1) out: kind of row (row_block)
  !>   block, law        (16,0:nrow-1), (8,0:nrow-1) out: contact numbers (diagonal_block), laws (row_block)
  !>   free              (3,0:nrow-1) out: B as the sweep sees it [velocity]
  !>   r                 (3,0:nrow-1) R to start from; 0 in rows that are open
  !>   patch             (0:nrow-1) out: first row of the cohesive points of the same two primitives, which stand together
  !>   status            0 done; 3 singular W_aa, in row `failed`
  subroutine assemble_laws(n, dynamic, epsilon, step, nbody, body_kind, ncon, kind, master, slave, start, material, point, &
      other_point, base, gap, area, cohesion, length, &
      master_primitive, slave_primitive, value, nmat, model, friction, restitution, spring, dashpot, power, gap_aware, &
      nrow, order, row_kind, block, law, &
      diagonal, b, free, v, r, patch, failed, status)
    integer(i4), intent(in) :: n, ncon, nbody
    integer(i4), intent(in) :: body_kind(0:nbody-1), master(0:ncon-1), slave(0:ncon-1)
    integer(i4), intent(in) :: kind(0:ncon-1), start(0:ncon-1), material(0:ncon-1)
    integer(i4), intent(in) :: master_primitive(0:ncon-1), slave_primitive(0:ncon-1)
    real(dp), intent(in) :: point(3,0:ncon-1), other_point(3,0:ncon-1), base(3,3,0:ncon-1)
    real(dp), intent(in) :: gap(0:ncon-1), area(0:ncon-1), cohesion(0:ncon-1), length(0:ncon-1), value(3,0:ncon-1)
    integer(i4), intent(in) :: nmat
    integer(i4), intent(in) :: model(0:nmat-1)
    real(dp), intent(in) :: friction(0:nmat-1), restitution(0:nmat-1), spring(0:nmat-1), dashpot(0:nmat-1), power(0:nmat-1)
    real(dp), intent(in) :: gap_aware(0:nmat-1)
    integer(i4), intent(in) :: dynamic
    real(dp), intent(in) :: epsilon, step
    integer(i4), intent(in) :: nrow
    integer(i4), intent(in) :: order(0:nrow-1)
    integer(i4), intent(inout) :: row_kind(0:nrow-1)
    real(dp), intent(inout) :: block(16,0:nrow-1), law(8,0:nrow-1)
    real(dp), intent(in) :: diagonal(3,3,0:nrow-1), b(3,0:nrow-1)
    real(dp), intent(inout) :: free(3,0:nrow-1)
    real(dp), intent(in) :: v(3,0:nrow-1)
    real(dp), intent(inout) :: r(3,0:nrow-1)
    integer(i4), intent(inout) :: patch(0:nrow-1)
    integer(i4), intent(out) :: failed, status
    integer(i4) :: a

    failed = -1
    status = 0
    !$omp parallel do if (n > parallel_from) schedule(static)
    do a = 0, n - 1
      call assemble_law(a, order(a))
    end do
    !$omp end parallel do
    if (dynamic /= 0 .and. any(restitution > 0.0_dp .and. gap_aware > 0.0_dp)) call leave_to_next_step
    do a = 0, n - 1
      patch(a) = a
      if (continues_patch(a)) patch(a) = patch(a-1)
      if (.not. min(diagonal(1,1,a), diagonal(2,2,a), diagonal(3,3,a)) > 0.0_dp) failed = a
    end do
    if (failed >= 0) status = 3

  contains

    !> Whether row a is a further cohesive point of the two primitives of the row before.
    function continues_patch(a) result(answer)
      integer(i4), intent(in) :: a
      logical :: answer

      answer = a > 0 .and. row_kind(a) == contact_row .and. law(l_cohesion,a) > 0.0_dp
      if (answer) answer = row_kind(a-1) == contact_row .and. law(l_cohesion,a-1) > 0.0_dp
      if (answer) answer = master_primitive(order(a)) == master_primitive(order(a-1)) .and. &
        slave_primitive(order(a)) == slave_primitive(order(a-1))
    end function continues_patch

    !> Opens rows that wait for an impact on bodies that are struck in this step.
    subroutine leave_to_next_step
      logical :: struck(0:nbody-1)
      integer(i4) :: a, i

      struck = .false.
      do a = 0, n - 1
        i = order(a)
        if (.not. rebounds(a)) cycle
        if (.not. is_struck(epsilon, step, gap(i), restitution(material(i)), v(3,a))) cycle
        struck(master(i)) = body_kind(master(i)) /= obstacle_kind
        struck(slave(i)) = body_kind(slave(i)) /= obstacle_kind
      end do
      do a = 0, n - 1
        i = order(a)
        if (.not. rebounds(a)) cycle
        if (.not. (struck(master(i)) .or. struck(slave(i)))) cycle
        if (.not. waits_for_impact(epsilon, step, gap(i), restitution(material(i)), v(3,a))) cycle
        row_kind(a) = open_row
        r(:,a) = 0.0_dp
        free(:,a) = b(:,a)
      end do
    end subroutine leave_to_next_step

    !> Is row a a gap-aware contact without cohesion?
    logical function rebounds(a)
      integer(i4), intent(in) :: a

      rebounds = row_kind(a) == contact_row
      if (rebounds) rebounds = gap_aware(material(order(a))) > 0.0_dp .and. model(material(order(a))) == 0 .and. &
        .not. cohesion(order(a)) > 0.0_dp
    end function rebounds

    !> What row a, constraint i, asks for.
    subroutine assemble_law(a, i)
      integer(i4), intent(in) :: a, i
      real(dp) :: materials(law_size)
      integer(i4) :: m

      if (kind(i) == contact_row) then
        m = material(i)
        materials = 0.0_dp
        materials(l_gap) = gap(i)
        materials(l_spring) = spring(m)
        materials(l_dashpot) = dashpot(m)
        materials(l_power) = power(m)
        materials(l_friction) = friction(m)
        materials(l_restitution) = restitution(m)
        materials(l_cohesion) = cohesion(i)*area(i)
        call contact_laws(model(m), dynamic, gap_aware(m) > 0.0_dp, epsilon, step, materials, diagonal(:,:,a), b(:,a), v(3,a), &
                          row_kind(a), law(:,a), block(:,a), free(:,a))
        if (row_kind(a) == open_row) r(:,a) = 0.0_dp
      else
        call bilateral_laws(kind(i), dynamic, start(i) == 2, base(:,:,i), point(:,i) - other_point(:,i), length(i), value(:,i), &
                            b(:,a), v(:,a), row_kind(a), law(:,a), block(:,a), free(:,a))
      end if
    end subroutine assemble_law
  end subroutine assemble_laws

  !> L of scale*m = L L^T; a zero pivot (a direction that cannot move) gives a zero column.
  pure subroutine cholesky(scale, m, l)
    real(dp), intent(in) :: scale, m(3,3)
    real(dp), intent(out) :: l(3,3)
    real(dp) :: pivot
    integer :: i, j

    l = 0.0_dp
    do j = 1, 3
      pivot = scale*m(j,j) - dot_product(l(j,1:j-1), l(j,1:j-1))
      if (.not. pivot > 0.0_dp) cycle
      l(j,j) = sqrt(pivot)
      do i = j + 1, 3
        l(i,j) = (scale*m(i,j) - dot_product(l(i,1:j-1), l(j,1:j-1)))/l(j,j)
      end do
    end do
  end subroutine cholesky

  !> Sum of H_k u_k.
  pure function transformed(count, h, t, velocity) result(local)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: h(3,3,8)
    integer(i4), intent(in) :: t(8)
    real(dp), intent(in) :: velocity(3,0:*)
    real(dp) :: local(3)
    integer :: k
    local = 0.0_dp
    do k = 1, count
      associate (u => velocity(:,t(k)))
        local = local + (h(:,1,k)*u(1) + h(:,2,k)*u(2) + h(:,3,k)*u(3))
      end associate
    end do
  end function transformed

  !> Sum of |H_k u_k|.
  pure function terms(count, h, t, velocity) result(size)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: h(3,3,8)
    integer(i4), intent(in) :: t(8)
    real(dp), intent(in) :: velocity(3,0:*)
    real(dp) :: size, term(3)
    integer :: k
    size = 0.0_dp
    do k = 1, count
      associate (u => velocity(:,t(k)))
        term = h(:,1,k)*u(1) + h(:,2,k)*u(2) + h(:,3,k)*u(3)
      end associate
      size = size + sqrt(term(1)**2 + term(2)**2 + term(3)**2)
    end do
  end function terms

  !> Stores H' = H L of one body from entry `first` on and adds its part to W_aa, if it is one of explicit bodies.
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

  !> Reactions back on bodies, work of contacts, and the rows' results back in the constraint table.
  !>
  !>   n, order, master, slave, body_kind, body_ptr, attached_row ...   as in assemble_rows
  !>   r, u, v, member, residual, lost   (.., 0:nrow-1) what the solver left
  !>   generalised   (3,0:ntriple-1) out: sum of +-H^T R over the constraints acting on each triple [force, torque]
  !>   energy        (5,0:nbody-1) CONTACT (3) and FRICTION (4), counted from 0, grow by (h/2)(U+V).R of the body's contacts
  !>   table_*       (.., 0:ncon-1) out: R, U, V, merit, residual; cohesion becomes 0 where it was lost
  !>   contact_work, friction_work   out: the same work with every contact counted once
  subroutine apply_reactions(n, bodies, triples, step, ncon, kind, master, slave, master_point, slave_point, base, nbody, &
      body_kind, centre, conf_ptr, velo_ptr, element_ptr, nconf, conf, element, weights, ne, element_size, element_node, &
      ntriple, generalised, energy, nrow, order, r, u, v, member, residual, lost, nbodyptr, body_ptr, nattached, &
      attached_row, table_r, table_u, table_v, table_merit, table_residual, table_cohesion, contact_work, friction_work)
    integer(i4), intent(in) :: n, ncon
    integer(i4), intent(in) :: kind(0:ncon-1), master(0:ncon-1), slave(0:ncon-1)
    real(dp), intent(in) :: master_point(3,0:ncon-1), slave_point(3,0:ncon-1), base(3,3,0:ncon-1)
    integer(i4), intent(in) :: bodies, nbody
    integer(i4), intent(in) :: body_kind(0:nbody-1)
    real(dp), intent(in) :: centre(3,0:nbody-1)
    integer(i4), intent(in) :: conf_ptr(0:nbody-1), velo_ptr(0:nbody-1), element_ptr(0:nbody-1)
    integer(i4), intent(in) :: nconf
    real(dp), intent(in) :: conf(3,0:nconf-1)
    integer(i4), intent(in) :: element(2,0:ncon-1)
    real(dp), intent(in) :: weights(8,2,0:ncon-1)
    integer(i4), intent(in) :: ne
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    integer(i4), intent(in) :: triples, ntriple
    real(dp), intent(inout) :: generalised(3,0:ntriple-1)
    real(dp), intent(inout) :: energy(6,0:nbody-1)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: nrow
    integer(i4), intent(in) :: order(0:nrow-1)
    real(dp), intent(in) :: r(3,0:nrow-1), u(3,0:nrow-1), v(3,0:nrow-1), member(0:nrow-1), residual(0:nrow-1)
    integer(i4), intent(in) :: lost(0:nrow-1)
    integer(i4), intent(in) :: nbodyptr
    integer(i4), intent(in) :: body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: nattached
    integer(i4), intent(in) :: attached_row(0:nattached-1)
    real(dp), intent(inout) :: table_r(3,0:ncon-1), table_u(3,0:ncon-1), table_v(3,0:ncon-1)
    real(dp), intent(inout) :: table_merit(0:ncon-1), table_residual(0:ncon-1), table_cohesion(0:ncon-1)
    real(dp), intent(out) :: contact_work, friction_work
    integer(i4) :: a, i, k, t, j, count
    real(dp) :: h(3,3,4), work(2)

    generalised(:,0:triples-1) = 0.0_dp
    !$omp parallel do if (n > parallel_from) schedule(static) private(a, i, j, t, count, h, work)
    do k = 0, bodies - 1
      do j = body_ptr(k), body_ptr(k+1) - 1
        a = attached_row(j)
        i = order(a)
        if (master(i) == k) call pull(i, k, 1, master_point(:,i), r(:,a))
        if (slave(i) == k) call pull(i, k, 2, slave_point(:,i), -r(:,a))
        if (kind(i) /= contact_row) cycle
        work = contact_works(step, u(:,a) + v(:,a), r(:,a))
        energy(4,k) = energy(4,k) + work(1)
        energy(5,k) = energy(5,k) + work(2)
      end do
    end do
    !$omp end parallel do
    contact_work = 0.0_dp
    friction_work = 0.0_dp
    do a = 0, n - 1
      i = order(a)
      table_r(:,i) = r(:,a)
      table_u(:,i) = u(:,a)
      table_v(:,i) = v(:,a)
      table_merit(i) = member(a)
      table_residual(i) = residual(a)
      if (lost(a) /= 0) table_cohesion(i) = 0.0_dp
      if (kind(i) /= contact_row) cycle
      work = contact_works(step, u(:,a) + v(:,a), r(:,a))
      contact_work = contact_work + work(1)
      friction_work = friction_work + work(2)
    end do

  contains

    !> Adds H^T r of constraint i on body k.
    subroutine pull(i, k, side, point, r)
      integer(i4), intent(in) :: i, k
      integer, intent(in) :: side
      real(dp), intent(in) :: point(3), r(3)
      real(dp) :: h(3,3,8)
      integer(i4) :: count, c, t(8), j
      call operator_blocks(body_kind(k), conf(:,conf_ptr(k):conf_ptr(k)+3), centre(:,k), point, base(:,:,i), velo_ptr(k), &
                           element_ptr(k) + element(side,i), weights(:,side,i), element_size, element_node, count, h, t)
      do c = 1, count
        do j = 1, 3
          generalised(j,t(c)) = generalised(j,t(c)) + (h(1,j,c)*r(1) + h(2,j,c)*r(2) + h(3,j,c)*r(3))
        end do
      end do
    end subroutine pull
  end subroutine apply_reactions

  !> Work of the normal and of the tangential reaction over the step.
  pure function contact_works(step, twice_mean, r) result(work)
    real(dp), intent(in) :: step, twice_mean(3), r(3)
    real(dp) :: work(2)
    work(1) = 0.5_dp*step*twice_mean(3)*r(3)
    work(2) = 0.5_dp*step*(twice_mean(1)*r(1) + twice_mean(2)*r(2))
  end function contact_works
end module local_dynamics
