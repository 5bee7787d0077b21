!> Local dynamics U = B + W R: rows in the order of the sweep, V, B, W, and reactions back on bodies.
!>
!> The operator of every row is kept as blocks H' = H L of its bodies' velocity triples with L L^T = h A^-1, so that
!> W_ab = sum H'_a H'_b^T for rows sharing triples (theory, section "Local dynamics"; manual, CONSTRAINT).
module local_dynamics
  use kinds, only: dp, i4, i8
  use velocity_operator, only: velocity_blocks, obstacle_kind
  use diagonal_block, only: prepare_block, block_size, b_cohesion
  use row_block, only: contact_row, fixpnt_row, fixdir_row, velodir_row, velodir3_row, link_row, spring_dashpot_row, &
    open_row, law_size, l_gap, l_spring, l_dashpot, l_power, l_friction, l_restitution, l_cohesion, l_shift, l_link, &
    l_length, l_target
  implicit none
  private
  public :: assemble_rows, assemble_matrix, apply_reactions

  integer, parameter :: parallel_from = 300   !< rows (or bodies) from which threads pay

contains

  !> Everything of local dynamics except the off-diagonal blocks of W.
  !>
  !> Constraint table (n rows in use, the first `users` of them the user's): kind, master, slave, material, birth
  !> (0:ncon-1); master_point, slave_point, point, other_point, base, reaction, velocity, gap, area, cohesion, length,
  !> value.  Body table: body_kind, centre, conf_ptr, velo_ptr (0:nbody-1), conf (3,0:nconf-1), velo, velo_prev
  !> (3,0:ntriple-1): u* and u(t); inverse_inertia (3,3,0:ntriple-1).  Surface materials (0:nmat-1).
  !>
  !>   bodies, triples   bodies and velocity triples in use
  !>   dynamic, step     1: dynamics; h [time]
  !>   order             (0:nrow-1) out: constraint table row of every row
  !>   row_kind          (0:nrow-1) out: kind of row (row_block)
  !>   block, law        (16,0:nrow-1), (8,0:nrow-1) out: contact numbers (diagonal_block), laws (row_block)
  !>   diagonal          (3,3,0:nrow-1) out: W_aa [velocity/force]
  !>   b, free, v        (3,0:nrow-1) out: B; B as the sweep sees it; V [velocity]
  !>   r, u              (3,0:nrow-1) out: R and U of the last step
  !>   lost              (0:nrow-1) out: 0
  !>   entry_ptr         (0:nrow-1), entry n in use too: first entry of every row
  !>   triple, entry     (0:nentry-1), (3,3,0:nentry-1) out: velocity triple and H'
  !>   factor            (3,3,0:ntriple-1) out: L of every triple
  !>   body_ptr          (0:nbodyptr-1), entry `bodies` in use too: first attachment of every body
  !>   attached_row, attached_entry   (0:nattached-1) out: rows acting on a body, and the first of its entries there
  !>   entries, attachments, visits   out: entries and attachments needed, bound of off-diagonal blocks of W
  !>   status            0 done; 1 more entries or attachments needed; 2 bad kind of body, 3 singular W_aa, in row `failed`
  subroutine assemble_rows(n, users, ncon, kind, master, slave, material, birth, master_point, slave_point, point, &
                           other_point, base, reaction, velocity, gap, area, cohesion, length, value, &
                           bodies, nbody, body_kind, centre, conf_ptr, velo_ptr, nconf, conf, &
                           triples, ntriple, velo, velo_prev, inverse_inertia, &
                           nmat, model, friction, restitution, spring, dashpot, power, dynamic, step, &
                           nrow, order, row_kind, block, law, diagonal, b, free, v, r, u, lost, entry_ptr, &
                           nentry, triple, entry, factor, nbodyptr, body_ptr, nattached, attached_row, attached_entry, &
                           entries, attachments, visits, failed, status)
    integer(i4), intent(in) :: n, users, ncon
    integer(i4), intent(in) :: kind(0:ncon-1), master(0:ncon-1), slave(0:ncon-1), material(0:ncon-1)
    integer(i8), intent(in) :: birth(0:ncon-1)
    real(dp), intent(in) :: master_point(3,0:ncon-1), slave_point(3,0:ncon-1), point(3,0:ncon-1), other_point(3,0:ncon-1)
    real(dp), intent(in) :: base(3,3,0:ncon-1), reaction(3,0:ncon-1), velocity(3,0:ncon-1)
    real(dp), intent(in) :: gap(0:ncon-1), area(0:ncon-1), cohesion(0:ncon-1), length(0:ncon-1), value(3,0:ncon-1)
    integer(i4), intent(in) :: bodies, nbody
    integer(i4), intent(in) :: body_kind(0:nbody-1)
    real(dp), intent(in) :: centre(3,0:nbody-1)
    integer(i4), intent(in) :: conf_ptr(0:nbody-1), velo_ptr(0:nbody-1)
    integer(i4), intent(in) :: nconf
    real(dp), intent(in) :: conf(3,0:nconf-1)
    integer(i4), intent(in) :: triples, ntriple
    real(dp), intent(in) :: velo(3,0:ntriple-1), velo_prev(3,0:ntriple-1), inverse_inertia(3,3,0:ntriple-1)
    integer(i4), intent(in) :: nmat
    integer(i4), intent(in) :: model(0:nmat-1)
    real(dp), intent(in) :: friction(0:nmat-1), restitution(0:nmat-1), spring(0:nmat-1), dashpot(0:nmat-1), power(0:nmat-1)
    integer(i4), intent(in) :: dynamic
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: nrow
    integer(i4), intent(inout) :: order(0:nrow-1), row_kind(0:nrow-1)
    real(dp), intent(inout) :: block(16,0:nrow-1), law(8,0:nrow-1), diagonal(3,3,0:nrow-1)
    real(dp), intent(inout) :: b(3,0:nrow-1), free(3,0:nrow-1), v(3,0:nrow-1), r(3,0:nrow-1), u(3,0:nrow-1)
    integer(i4), intent(inout) :: lost(0:nrow-1), entry_ptr(0:nrow-1)
    integer(i4), intent(in) :: nentry
    integer(i4), intent(inout) :: triple(0:nentry-1)
    real(dp), intent(inout) :: entry(3,3,0:nentry-1)
    real(dp), intent(inout) :: factor(3,3,0:ntriple-1)
    integer(i4), intent(in) :: nbodyptr
    integer(i4), intent(inout) :: body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: nattached
    integer(i4), intent(inout) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(out) :: entries, attachments
    integer(i8), intent(out) :: visits
    integer(i4), intent(out) :: failed, status
    integer(i4) :: a, i, m, s, count, first
    real(dp) :: hm(3,3,4), hs(3,3,4), materials(law_size)

    status = 0
    failed = -1
    call sweep_order(n, users, birth, order)
    call attach(n, order, kind, master, slave, bodies, body_kind, nrow, entry_ptr, nbodyptr, body_ptr, &
                nattached, attached_row, attached_entry, entries, attachments, visits)
    if (entries > nentry .or. attachments > nattached) then
      status = 1
      return
    end if

    !$omp parallel do if (triples > parallel_from) schedule(static)
    do i = 0, triples - 1
      call cholesky(step, inverse_inertia(:,:,i), factor(:,:,i))
    end do
    !$omp end parallel do

    ! body -> rows, and row by row everything else; only `failed` is shared
    !$omp parallel do if (n > parallel_from) schedule(static) &
    !$omp private(i, m, s, count, first, hm, hs, materials) reduction(max: failed)
    do a = 0, n - 1
      i = order(a)
      m = master(i)
      s = slave(i)
      call velocity_blocks(body_kind(m), conf(:,conf_ptr(m):conf_ptr(m)+3), centre(:,m), master_point(:,i), base(:,:,i), count, hm)
      if (count == 0) failed = max(failed, a)
      v(:,a) = transformed(count, hm, velo_prev(:,velo_ptr(m):velo_ptr(m)+count-1))
      b(:,a) = transformed(count, hm, velo(:,velo_ptr(m):velo_ptr(m)+count-1))
      first = entry_ptr(a)
      diagonal(:,:,a) = 0.0_dp
      if (s >= 0) then
        call velocity_blocks(body_kind(s), conf(:,conf_ptr(s):conf_ptr(s)+3), centre(:,s), slave_point(:,i), base(:,:,i), count, hs)
        if (count == 0) failed = max(failed, a)
        v(:,a) = v(:,a) - transformed(count, hs, velo_prev(:,velo_ptr(s):velo_ptr(s)+count-1))
        b(:,a) = b(:,a) - transformed(count, hs, velo(:,velo_ptr(s):velo_ptr(s)+count-1))
        hs = -hs
        if (s == m) then
          hm(:,:,1:count) = hm(:,:,1:count) + hs(:,:,1:count)
        else if (acts_on(kind(i), body_kind(s))) then
          first = entry_ptr(a+1) - count
          call store(count, hs, velo_ptr(s), factor(:,:,velo_ptr(s):velo_ptr(s)+count-1), first, triple, entry, diagonal(:,:,a))
          first = entry_ptr(a)
        end if
      end if
      if (acts_on(kind(i), body_kind(m))) then
        count = triples_of(body_kind(m))
        call store(count, hm, velo_ptr(m), factor(:,:,velo_ptr(m):velo_ptr(m)+count-1), first, triple, entry, diagonal(:,:,a))
      end if

      r(:,a) = reaction(:,i)
      u(:,a) = velocity(:,i)
      lost(a) = 0
      if (kind(i) == contact_row) then
        materials = 0.0_dp
        materials(l_gap) = gap(i)
        materials(l_spring) = spring(material(i))
        materials(l_dashpot) = dashpot(material(i))
        materials(l_power) = power(material(i))
        materials(l_friction) = friction(material(i))
        materials(l_restitution) = restitution(material(i))
        materials(l_cohesion) = cohesion(i)*area(i)
        call contact_laws(model(material(i)), dynamic, step, materials, diagonal(:,:,a), b(:,a), v(3,a), &
                          row_kind(a), law(:,a), block(:,a), free(:,a))
      else
        call bilateral_laws(kind(i), dynamic, base(:,:,i), point(:,i) - other_point(:,i), length(i), value(:,i), &
                            b(:,a), v(:,a), row_kind(a), law(:,a), block(:,a), free(:,a))
      end if
    end do
    !$omp end parallel do
    if (failed >= 0) then
      status = 2
      return
    end if
    do a = 0, n - 1
      if (.not. min(diagonal(1,1,a), diagonal(2,2,a), diagonal(3,3,a)) > 0.0_dp) failed = a
    end do
    if (failed >= 0) status = 3
  end subroutine assemble_rows

  !> Contacts by birth step, newest first, then the user's constraints, last created first (decides Gauss-Seidel's sweep).
  pure subroutine sweep_order(n, users, birth, order)
    integer(i4), intent(in) :: n, users
    integer(i8), intent(in) :: birth(0:*)
    integer(i4), intent(inout) :: order(0:*)
    integer(i4) :: first, last, i, a

    a = 0
    last = n - 1
    do while (last >= users)
      first = last
      do while (first > users)
        if (birth(first-1) /= birth(last)) exit
        first = first - 1
      end do
      do i = first, last
        order(a) = i
        a = a + 1
      end do
      last = first - 1
    end do
    do i = users - 1, 0, -1
      order(a) = i
      a = a + 1
    end do
  end subroutine sweep_order

  !> First entry of every row, and body by body the rows acting on it in the order of rows.
  pure subroutine attach(n, order, kind, master, slave, bodies, body_kind, nrow, entry_ptr, nbodyptr, body_ptr, &
                         nattached, attached_row, attached_entry, entries, attachments, visits)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: order(0:*), kind(0:*), master(0:*), slave(0:*)
    integer(i4), intent(in) :: bodies
    integer(i4), intent(in) :: body_kind(0:*)
    integer(i4), intent(in) :: nrow, nbodyptr, nattached
    integer(i4), intent(inout) :: entry_ptr(0:nrow-1), body_ptr(0:nbodyptr-1)
    integer(i4), intent(inout) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(out) :: entries, attachments
    integer(i8), intent(out) :: visits
    integer(i4) :: a, i, k, position

    ! body_ptr(k+1) counts the attachments of body k, then holds the next free place, and ends as a pointer
    body_ptr(0:bodies) = 0
    entries = 0
    do a = 0, n - 1
      i = order(a)
      entry_ptr(a) = entries
      k = master(i)
      if (acts_on(kind(i), body_kind(k))) then
        entries = entries + triples_of(body_kind(k))
        body_ptr(k+1) = body_ptr(k+1) + 1
      end if
      if (slave(i) < 0 .or. slave(i) == k) cycle
      k = slave(i)
      if (acts_on(kind(i), body_kind(k))) then
        entries = entries + triples_of(body_kind(k))
        body_ptr(k+1) = body_ptr(k+1) + 1
      end if
    end do
    entry_ptr(n) = entries
    visits = 0
    attachments = 0
    do k = 0, bodies - 1
      visits = visits + int(body_ptr(k+1), i8)*(body_ptr(k+1) - 1)
      position = attachments
      attachments = attachments + body_ptr(k+1)
      body_ptr(k+1) = position
    end do
    if (attachments > nattached) return
    do a = 0, n - 1
      i = order(a)
      position = entry_ptr(a)
      k = master(i)
      if (acts_on(kind(i), body_kind(k))) then
        attached_row(body_ptr(k+1)) = a
        attached_entry(body_ptr(k+1)) = position
        body_ptr(k+1) = body_ptr(k+1) + 1
        position = position + triples_of(body_kind(k))
      end if
      if (slave(i) < 0 .or. slave(i) == k) cycle
      k = slave(i)
      if (acts_on(kind(i), body_kind(k))) then
        attached_row(body_ptr(k+1)) = a
        attached_entry(body_ptr(k+1)) = position
        body_ptr(k+1) = body_ptr(k+1) + 1
      end if
    end do
  end subroutine attach

  !> Contacts do not act on obstacles; other constraints do, with the obstacle's own mass.
  elemental function acts_on(kind, body_kind) result(answer)
    integer(i4), intent(in) :: kind, body_kind
    logical :: answer
    answer = kind /= contact_row .or. body_kind /= obstacle_kind
  end function acts_on

  !> Velocity triples of a body kind.
  elemental function triples_of(body_kind) result(count)
    integer(i4), intent(in) :: body_kind
    integer(i4) :: count
    count = merge(2, 4, body_kind <= 1)
  end function triples_of

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
  pure function transformed(count, h, u) result(local)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: h(3,3,4), u(3,count)
    real(dp) :: local(3)
    integer :: k
    local = 0.0_dp
    do k = 1, count
      local = local + (h(:,1,k)*u(1,k) + h(:,2,k)*u(2,k) + h(:,3,k)*u(3,k))
    end do
  end function transformed

  !> Stores H' = H L of one body from entry `first` on and adds its part to W_aa.
  pure subroutine store(count, h, velo_ptr, factor, first, triple, entry, diagonal)
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: h(3,3,4)
    integer(i4), intent(in) :: velo_ptr
    real(dp), intent(in) :: factor(3,3,count)
    integer(i4), intent(in) :: first
    integer(i4), intent(inout) :: triple(0:*)
    real(dp), intent(inout) :: entry(3,3,0:*), diagonal(3,3)
    integer :: k, e

    do k = 1, count
      e = first + k - 1
      triple(e) = velo_ptr + k - 1
      entry(:,1,e) = h(:,1,k)*factor(1,1,k) + h(:,2,k)*factor(2,1,k) + h(:,3,k)*factor(3,1,k)
      entry(:,2,e) = h(:,2,k)*factor(2,2,k) + h(:,3,k)*factor(3,2,k)
      entry(:,3,e) = h(:,3,k)*factor(3,3,k)
      call add_product(entry(:,:,e), entry(:,:,e), diagonal)
    end do
  end subroutine store

  !> w = w + x y^T.
  pure subroutine add_product(x, y, w)
    real(dp), intent(in) :: x(3,3), y(3,3)
    real(dp), intent(inout) :: w(3,3)
    integer :: j
    do j = 1, 3
      w(:,j) = w(:,j) + (x(:,1)*y(j,1) + x(:,2)*y(j,2) + x(:,3)*y(j,3))
    end do
  end subroutine add_product

  !> Law of a contact and its reduced free velocity (diagonal_block).
  pure subroutine contact_laws(model, dynamic, step, materials, w, b, normal_v, row_kind, law, block, free)
    integer(i4), intent(in) :: model             !< 0 Signorini-Coulomb, 1 spring-dashpot
    integer(i4), intent(in) :: dynamic
    real(dp), intent(in) :: step, materials(law_size), w(3,3), b(3), normal_v
    integer(i4), intent(out) :: row_kind
    real(dp), intent(out) :: law(law_size), block(block_size), free(3)

    law = materials
    call prepare_block(w, law(l_friction), law(l_cohesion), block)
    free = b
    row_kind = contact_row
    if (model == 1) then
      row_kind = spring_dashpot_row
    else if (dynamic /= 0 .and. law(l_gap) > 0.0_dp) then
      row_kind = open_row
    else
      if (dynamic /= 0) then
        law(l_shift) = law(l_restitution)*min(normal_v, 0.0_dp)
      else
        law(l_shift) = max(law(l_gap), 0.0_dp)/step
      end if
      free(3) = free(3) + law(l_shift)
      if (law(l_cohesion) > 0.0_dp) free = free - law(l_cohesion)*w(:,3)
    end if
  end subroutine contact_laws

  !> Velocity asked for (manual: FIX_POINT, FIX_DIRECTION, SET_VELOCITY), or link vector and length (PUT_RIGID_LINK).
  pure subroutine bilateral_laws(kind, dynamic, base, link, length, value, b, v, row_kind, law, block, free)
    integer(i4), intent(in) :: kind, dynamic
    real(dp), intent(in) :: base(3,3), link(3), length, value(3), b(3), v(3)
    integer(i4), intent(out) :: row_kind
    real(dp), intent(out) :: law(law_size), block(block_size), free(3)

    row_kind = kind
    law = 0.0_dp
    block = 0.0_dp
    select case (kind)
    case (fixpnt_row)
      if (dynamic /= 0) law(l_target:l_target+2) = -v
    case (fixdir_row)
      if (dynamic /= 0) law(l_target+2) = -v(3)
    case (velodir_row)
      law(l_target+2) = value(1)
    case (velodir3_row)
      law(l_target:l_target+2) = value
    case (link_row)
      law(l_link:l_link+2) = link(1)*base(1,:) + link(2)*base(2,:) + link(3)*base(3,:)
      law(l_length) = length
    end select
    free = b
    if (kind /= link_row) free = free - law(l_target:l_target+2)
  end subroutine bilateral_laws

  !> Off-diagonal blocks of W, one summed block per pair of rows that share a body, columns ascending.
  !>
  !>   n, order, master, slave, kind, body_kind, entry_ptr, entry, body_ptr, attached_*   as in assemble_rows
  !>   row_ptr               (0:nrow-1) out: first block of every row, entry n in use too
  !>   column, off_diagonal  (0:nblock-1), (3,3,0:nblock-1) out: column and block [velocity/force]
  !>   blocks                out: number of blocks; nothing is filled when it exceeds nblock (status 1)
  subroutine assemble_matrix(n, ncon, master, slave, nbody, body_kind, nrow, order, row_kind, entry_ptr, nentry, entry, &
                             nbodyptr, body_ptr, nattached, attached_row, attached_entry, &
                             row_ptr, nblock, column, off_diagonal, blocks, status)
    integer(i4), intent(in) :: n, ncon
    integer(i4), intent(in) :: master(0:ncon-1), slave(0:ncon-1)
    integer(i4), intent(in) :: nbody
    integer(i4), intent(in) :: body_kind(0:nbody-1)
    integer(i4), intent(in) :: nrow
    integer(i4), intent(in) :: order(0:nrow-1), row_kind(0:nrow-1), entry_ptr(0:nrow-1)
    integer(i4), intent(in) :: nentry
    real(dp), intent(in) :: entry(3,3,0:nentry-1)
    integer(i4), intent(in) :: nbodyptr
    integer(i4), intent(in) :: body_ptr(0:nbodyptr-1)
    integer(i4), intent(in) :: nattached
    integer(i4), intent(in) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(inout) :: row_ptr(0:nrow-1)
    integer(i4), intent(in) :: nblock
    integer(i4), intent(inout) :: column(0:nblock-1)
    real(dp), intent(inout) :: off_diagonal(3,3,0:nblock-1)
    integer(i4), intent(out) :: blocks, status
    integer(i4) :: a, k1, k2, e1, e2, first(2), last(2)

    !$omp parallel do if (n > parallel_from) schedule(static) private(k1, k2, e1, e2, first, last)
    do a = 0, n - 1
      call sides(a, k1, k2, e1, e2)
      call ranges(k1, k2, first, last)
      row_ptr(a) = merged_length(a, first, last)
    end do
    !$omp end parallel do
    blocks = 0
    do a = 0, n - 1
      k1 = row_ptr(a)
      row_ptr(a) = blocks
      blocks = blocks + k1
    end do
    row_ptr(n) = blocks
    status = merge(1, 0, blocks > nblock)
    if (status /= 0) return

    !$omp parallel do if (n > parallel_from) schedule(static) private(k1, k2, e1, e2, first, last)
    do a = 0, n - 1
      call sides(a, k1, k2, e1, e2)
      call ranges(k1, k2, first, last)
      call merge_rows(a, first, last, k1, k2, e1, e2)
    end do
    !$omp end parallel do

  contains

    !> The bodies row a acts on (-1: none) and the first of its entries for each.
    subroutine sides(a, k1, k2, e1, e2)
      integer(i4), intent(in) :: a
      integer(i4), intent(out) :: k1, k2, e1, e2
      integer(i4) :: kind
      kind = merge(contact_row, row_kind(a), row_kind(a) >= spring_dashpot_row)
      k1 = master(order(a))
      k2 = slave(order(a))
      e1 = entry_ptr(a)
      e2 = e1
      if (.not. acts_on(kind, body_kind(k1))) then
        k1 = -1
      else
        e2 = e1 + triples_of(body_kind(k1))
      end if
      if (k2 >= 0) then
        if (k2 == k1 .or. .not. acts_on(kind, body_kind(k2))) k2 = -1
      end if
    end subroutine sides

    subroutine ranges(k1, k2, first, last)
      integer(i4), intent(in) :: k1, k2
      integer(i4), intent(out) :: first(2), last(2)
      first = 0
      last = 0
      if (k1 >= 0) first(1) = body_ptr(k1)
      if (k1 >= 0) last(1) = body_ptr(k1+1)
      if (k2 >= 0) first(2) = body_ptr(k2)
      if (k2 >= 0) last(2) = body_ptr(k2+1)
    end subroutine ranges

    !> Number of rows other than a in two sorted lists of rows.
    function merged_length(a, first, last) result(length)
      integer(i4), intent(in) :: a, first(2), last(2)
      integer(i4) :: length, i, j
      length = -1   ! a itself
      i = first(1)
      j = first(2)
      do while (i < last(1) .and. j < last(2))
        length = length + 1
        if (attached_row(i) < attached_row(j)) then
          i = i + 1
        else if (attached_row(i) > attached_row(j)) then
          j = j + 1
        else
          i = i + 1
          j = j + 1
        end if
      end do
      length = length + (last(1) - i) + (last(2) - j)
      length = max(length, 0)
    end function merged_length

    subroutine merge_rows(a, first, last, k1, k2, e1, e2)
      integer(i4), intent(in) :: a, first(2), last(2), k1, k2, e1, e2
      integer(i4) :: i, j, c, ci, cj, place
      place = row_ptr(a)
      i = first(1)
      j = first(2)
      do while (i < last(1) .or. j < last(2))
        ci = huge(ci)
        cj = huge(cj)
        if (i < last(1)) ci = attached_row(i)
        if (j < last(2)) cj = attached_row(j)
        c = min(ci, cj)
        if (c == a) then
          if (ci == c) i = i + 1
          if (cj == c) j = j + 1
          cycle
        end if
        column(place) = c
        off_diagonal(:,:,place) = 0.0_dp
        if (ci == c) then
          call add_products(triples_of(body_kind(k1)), e1, attached_entry(i), off_diagonal(:,:,place))
          i = i + 1
        end if
        if (cj == c) then
          call add_products(triples_of(body_kind(k2)), e2, attached_entry(j), off_diagonal(:,:,place))
          j = j + 1
        end if
        place = place + 1
      end do
    end subroutine merge_rows

    subroutine add_products(count, ea, eb, w)
      integer(i4), intent(in) :: count, ea, eb
      real(dp), intent(inout) :: w(3,3)
      integer :: k
      do k = 0, count - 1
        call add_product(entry(:,:,ea+k), entry(:,:,eb+k), w)
      end do
    end subroutine add_products
  end subroutine assemble_matrix

  !> Reactions back on bodies, work of contacts, and the rows' results back in the constraint table.
  !>
  !>   n, order, master, slave, body_kind, body_ptr, attached_row ...   as in assemble_rows
  !>   r, u, v, member, residual, lost   (.., 0:nrow-1) what the solver left
  !>   generalised   (3,0:ntriple-1) out: sum of +-H^T R over the constraints acting on each triple [force, torque]
  !>   energy        (5,0:nbody-1) CONTACT (3) and FRICTION (4), counted from 0, grow by (h/2)(U+V).R of the body's contacts
  !>   table_*       (.., 0:ncon-1) out: R, U, V, merit, residual; cohesion becomes 0 where it was lost
  !>   contact_work, friction_work   out: the same work with every contact counted once
  subroutine apply_reactions(n, ncon, kind, master, slave, master_point, slave_point, base, &
                             bodies, nbody, body_kind, centre, conf_ptr, velo_ptr, nconf, conf, triples, ntriple, generalised, &
                             energy, step, nrow, order, r, u, v, member, residual, lost, &
                             nbodyptr, body_ptr, nattached, attached_row, &
                             table_r, table_u, table_v, table_merit, table_residual, table_cohesion, &
                             contact_work, friction_work)
    integer(i4), intent(in) :: n, ncon
    integer(i4), intent(in) :: kind(0:ncon-1), master(0:ncon-1), slave(0:ncon-1)
    real(dp), intent(in) :: master_point(3,0:ncon-1), slave_point(3,0:ncon-1), base(3,3,0:ncon-1)
    integer(i4), intent(in) :: bodies, nbody
    integer(i4), intent(in) :: body_kind(0:nbody-1)
    real(dp), intent(in) :: centre(3,0:nbody-1)
    integer(i4), intent(in) :: conf_ptr(0:nbody-1), velo_ptr(0:nbody-1)
    integer(i4), intent(in) :: nconf
    real(dp), intent(in) :: conf(3,0:nconf-1)
    integer(i4), intent(in) :: triples, ntriple
    real(dp), intent(inout) :: generalised(3,0:ntriple-1)
    real(dp), intent(inout) :: energy(5,0:nbody-1)
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
        if (master(i) == k) call pull(i, k, master_point(:,i), r(:,a))
        if (slave(i) == k) call pull(i, k, slave_point(:,i), -r(:,a))
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
    subroutine pull(i, k, point, r)
      integer(i4), intent(in) :: i, k
      real(dp), intent(in) :: point(3), r(3)
      real(dp) :: h(3,3,4)
      integer(i4) :: count, c, t, j
      call velocity_blocks(body_kind(k), conf(:,conf_ptr(k):conf_ptr(k)+3), centre(:,k), point, base(:,:,i), count, h)
      do c = 1, count
        t = velo_ptr(k) + c - 1
        do j = 1, 3
          generalised(j,t) = generalised(j,t) + (h(1,j,c)*r(1) + h(2,j,c)*r(2) + h(3,j,c)*r(3))
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
