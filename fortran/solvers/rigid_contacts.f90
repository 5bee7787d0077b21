!> Rows of contacts between rigid bodies and obstacles, most rows of most models, eight at a time.
!>
!> Such a row has two velocity triples on each side, an angular and a linear one, whose L is diagonal.  Numbers of eight rows are
!> gathered side by side: most of the time goes into fetching numbers of bodies, and fetches of eight rows overlap.
module rigid_contacts
  use kinds, only: dp, i4
  use body_state, only: bodies_and_triples
  use row_tables, only: local_tables
  use state_tables, only: constraint_table
  use kind_numbers, only: contact_row => row_contact
  use velocity_operator, only: obstacle_kind, rigid_kind
  implicit none
  private
  public :: lanes, find_rigid_contacts, assemble_rigid_contacts, add_rigid_reaction

  integer, parameter :: lanes = 8

  !> One side of eight rows: what its body is, and its blocks of H' = H L.
  type :: row_side
    integer(i4) :: body(lanes), triple(lanes)
    logical :: moves(lanes)                         !< whether contacts act on the body
    real(dp) :: arm(lanes,3), turn(lanes,3,3)       !< referential arm of the point; columns of the rotation
    real(dp) :: velo(lanes,6), before(lanes,6)      !< u* and u(t)
    real(dp) :: angular(lanes,6), linear(lanes,3)   !< L by columns, zero where contacts do not act
    real(dp) :: turned(lanes,3,3), moved(lanes,3,3) !< H' of both triples
  end type row_side

contains

  !> Lists those of the rows from `first` to `last` that are first rows of contacts between two different bodies, rigid or obstacles.
  subroutine find_rigid_contacts(first, last, state, con, loc, found, rows)
    integer(i4), intent(in) :: first, last
    type(bodies_and_triples), intent(in) :: state
    type(constraint_table), intent(in) :: con
    type(local_tables), intent(in) :: loc
    integer(i4), intent(out) :: found, rows(:)
    integer(i4) :: a, i

    found = 0
    do a = first, last
      i = loc%rows%order(a)
      if (con%kind(i) /= contact_row .or. loc%rows%contact(a) >= 0 .or. con%master(i) == con%slave(i)) cycle
      if (max(state%bodies%kind(con%master(i)), state%bodies%kind(con%slave(i))) > rigid_kind) cycle
      found = found + 1
      rows(found) = a
    end do
  end subroutine find_rigid_contacts

  !> Assembles V, B, H' and W_aa of up to eight rows that `find_rigid_contacts` has listed.
  subroutine assemble_rigid_contacts(rows, state, con, loc)
    integer(i4), intent(in) :: rows(:)
    type(bodies_and_triples), intent(in) :: state
    type(constraint_table), intent(in) :: con
    type(local_tables), intent(in) :: loc
    type(row_side) :: master, slave
    real(dp) :: base(lanes,3,3), v(lanes,3), b(lanes,3), speed(lanes), diagonal(lanes,6)
    integer(i4) :: a(lanes), i(lanes)
    integer :: l

    do l = 1, lanes   ! the last row fills places that are left
      a(l) = rows(min(l, size(rows)))
      i(l) = loc%rows%order(a(l))
      base(l,:,:) = con%base(:,:,i(l))
      master%body(l) = con%master(i(l))
      slave%body(l) = con%slave(i(l))
    end do
    v = 0.0_dp
    b = 0.0_dp
    speed = 0.0_dp
    diagonal = 0.0_dp
    call fetch(i, con%master_point, state, loc%triples%factor, master)
    call fetch(i, con%slave_point, state, loc%triples%factor, slave)
    call find_blocks(base, master, v, b, speed)
    call find_blocks(-base, slave, v, b, speed)
    call add_products(slave%turned, diagonal)
    call add_products(slave%moved, diagonal)
    call add_products(master%turned, diagonal)
    call add_products(master%moved, diagonal)
    call put_rows(size(rows), a, v, b, speed, diagonal, loc%rows%V, loc%rows%B, loc%rows%speed, loc%rows%diagonal)
    call put(size(rows), loc%rows%entry_ptr, a, master, loc%entries%triple, loc%entries%operator)
    call put(size(rows), loc%rows%slave_entry, a, slave, loc%entries%triple, loc%entries%operator)
  end subroutine assemble_rigid_contacts

  !> Writes the first `count` rows: V, B, sizes of terms of B, and W_aa from its upper triangle, column by column.
  pure subroutine put_rows(count, a, v, b, speed, diagonal, all_v, all_b, all_speed, all_diagonal)
    integer, intent(in) :: count
    integer(i4), intent(in) :: a(lanes)
    real(dp), intent(in) :: v(lanes,3), b(lanes,3), speed(lanes), diagonal(lanes,6)
    real(dp), intent(inout) :: all_v(3,0:*), all_b(3,0:*), all_speed(0:*), all_diagonal(3,3,0:*)
    integer :: l

    do l = 1, count
      all_v(:,a(l)) = v(l,:)
      all_b(:,a(l)) = b(l,:)
      all_speed(a(l)) = speed(l)
      all_diagonal(:,1,a(l)) = [diagonal(l,1), diagonal(l,2), diagonal(l,4)]
      all_diagonal(:,2,a(l)) = [diagonal(l,2), diagonal(l,3), diagonal(l,5)]
      all_diagonal(:,3,a(l)) = [diagonal(l,4), diagonal(l,5), diagonal(l,6)]
    end do
  end subroutine put_rows

  !> Fetches the numbers of the bodies of one side; `point` are the referential points of constraints `i`.
  subroutine fetch(i, point, state, factor, side)
    integer(i4), intent(in) :: i(lanes)
    real(dp), intent(in) :: point(3,0:*), factor(3,3,0:*)
    type(bodies_and_triples), intent(in) :: state
    type(row_side), intent(inout) :: side
    integer :: l

    do l = 1, lanes
      side%triple(l) = state%bodies%velo_ptr(side%body(l))
      side%moves(l) = state%bodies%kind(side%body(l)) /= obstacle_kind
    end do
    call fetch_places(i, point, state%bodies%conf_ptr, state%bodies%centre, state%configurations%conf, side)
    call fetch_velocities(state%triples%velo, state%triples%velo_prev, factor, side)
  end subroutine fetch

  subroutine fetch_places(i, point, conf_ptr, centre, conf, side)
    integer(i4), intent(in) :: i(lanes), conf_ptr(0:*)
    real(dp), intent(in) :: point(3,0:*), centre(3,0:*), conf(3,0:*)
    type(row_side), intent(inout) :: side
    integer(i4) :: c
    integer :: l

    do l = 1, lanes
      c = conf_ptr(side%body(l))
      side%arm(l,:) = point(:,i(l)) - centre(:,side%body(l))
      side%turn(l,:,1) = conf(:,c)
      side%turn(l,:,2) = conf(:,c+1)
      side%turn(l,:,3) = conf(:,c+2)
    end do
  end subroutine fetch_places

  subroutine fetch_velocities(velo, before, factor, side)
    real(dp), intent(in) :: velo(3,0:*), before(3,0:*), factor(3,3,0:*)
    type(row_side), intent(inout) :: side
    integer(i4) :: t
    integer :: l

    do l = 1, lanes
      t = side%triple(l)
      side%velo(l,1:3) = velo(:,t)
      side%velo(l,4:6) = velo(:,t+1)
      side%before(l,1:3) = before(:,t)
      side%before(l,4:6) = before(:,t+1)
      side%angular(l,1:3) = factor(:,1,t)
      side%angular(l,4:5) = factor(2:3,2,t)
      side%angular(l,6) = factor(3,3,t)
      side%linear(l,1) = factor(1,1,t+1)
      side%linear(l,2) = factor(2,2,t+1)
      side%linear(l,3) = factor(3,3,t+1)
      if (side%moves(l)) cycle
      side%angular(l,:) = 0.0_dp
      side%linear(l,:) = 0.0_dp
    end do
  end subroutine fetch_velocities

  !> Computes H' of one side, and adds H u(t) to V, H u* to B, and sizes of the terms of B to `speed`; `base` has columns t1, t2, n,
  !> negative for slaves.
  pure subroutine find_blocks(base, side, v, b, speed)
    real(dp), intent(in) :: base(lanes,3,3)
    type(row_side), intent(inout) :: side
    real(dp), intent(inout) :: v(lanes,3), b(lanes,3), speed(lanes)
    real(dp) :: r1, r2, r3, h1, h2, h3, turning, moving
    integer :: i, l

    associate (arm => side%arm, turn => side%turn, velo => side%velo, before => side%before, factor => side%angular, &
               one => side%turned, two => side%moved)
      do i = 1, 3
        !$omp simd private(r1, r2, r3, h1, h2, h3, turning, moving)
        do l = 1, lanes
          ! velocity = v + R (W x arm), so row i of the angular block is arm x (R^T base_i)
          r1 = base(l,1,i)*turn(l,1,1) + base(l,2,i)*turn(l,2,1) + base(l,3,i)*turn(l,3,1)
          r2 = base(l,1,i)*turn(l,1,2) + base(l,2,i)*turn(l,2,2) + base(l,3,i)*turn(l,3,2)
          r3 = base(l,1,i)*turn(l,1,3) + base(l,2,i)*turn(l,2,3) + base(l,3,i)*turn(l,3,3)
          h1 = arm(l,2)*r3 - arm(l,3)*r2
          h2 = arm(l,3)*r1 - arm(l,1)*r3
          h3 = arm(l,1)*r2 - arm(l,2)*r1
          turning = h1*before(l,1) + h2*before(l,2) + h3*before(l,3)
          moving = base(l,1,i)*before(l,4) + base(l,2,i)*before(l,5) + base(l,3,i)*before(l,6)
          v(l,i) = v(l,i) + (turning + moving)
          turning = h1*velo(l,1) + h2*velo(l,2) + h3*velo(l,3)
          moving = base(l,1,i)*velo(l,4) + base(l,2,i)*velo(l,5) + base(l,3,i)*velo(l,6)
          b(l,i) = b(l,i) + (turning + moving)
          speed(l) = speed(l) + (abs(turning) + abs(moving))
          one(l,i,1) = h1*factor(l,1) + h2*factor(l,2) + h3*factor(l,3)
          one(l,i,2) = h2*factor(l,4) + h3*factor(l,5)
          one(l,i,3) = h3*factor(l,6)
          two(l,i,1) = base(l,1,i)*side%linear(l,1)
          two(l,i,2) = base(l,2,i)*side%linear(l,2)
          two(l,i,3) = base(l,3,i)*side%linear(l,3)
        end do
      end do
    end associate
  end subroutine find_blocks

  !> Adds H' H'^T of one triple to the upper triangle of W_aa, column by column.
  pure subroutine add_products(h, diagonal)
    real(dp), intent(in) :: h(lanes,3,3)
    real(dp), intent(inout) :: diagonal(lanes,6)
    integer :: i, j, k, l

    k = 0
    do j = 1, 3
      do i = 1, j
        k = k + 1
        !$omp simd
        do l = 1, lanes
          diagonal(l,k) = diagonal(l,k) + (h(l,i,1)*h(l,j,1) + h(l,i,2)*h(l,j,2) + h(l,i,3)*h(l,j,3))
        end do
      end do
    end do
  end subroutine add_products

  !> Stores H' of one side of the rows a, whose first entry there is first(a).
  pure subroutine put(count, first, a, side, triple, entry)
    integer, intent(in) :: count
    integer(i4), intent(in) :: first(0:*), a(lanes)
    type(row_side), intent(in) :: side
    integer(i4), intent(inout) :: triple(0:*)
    real(dp), intent(inout) :: entry(3,3,0:*)
    integer(i4) :: e
    integer :: l

    do l = 1, count
      if (.not. side%moves(l)) cycle
      e = first(a(l))
      triple(e) = side%triple(l)
      triple(e+1) = side%triple(l) + 1
      entry(:,:,e) = side%turned(l,:,:)
      entry(:,:,e+1) = side%moved(l,:,:)
    end do
  end subroutine put

  !> Adds H^T r, of a contact with this base, to the reactions on rigid body k: a force at a referential point.
  pure subroutine add_rigid_reaction(k, point, base, r, conf_ptr, velo_ptr, centre, conf, reaction)
    integer(i4), intent(in) :: k, conf_ptr(0:*), velo_ptr(0:*)
    real(dp), intent(in) :: point(3), base(3,3), r(3), centre(3,0:*), conf(3,0:*)
    real(dp), intent(inout) :: reaction(3,0:*)
    real(dp) :: arm(3), force(3), turned(3)
    integer(i4) :: c, t

    c = conf_ptr(k)
    t = velo_ptr(k)
    force = base(:,1)*r(1) + base(:,2)*r(2) + base(:,3)*r(3)
    arm = point - centre(:,k)
    turned(1) = conf(1,c)*force(1) + conf(2,c)*force(2) + conf(3,c)*force(3)
    turned(2) = conf(1,c+1)*force(1) + conf(2,c+1)*force(2) + conf(3,c+1)*force(3)
    turned(3) = conf(1,c+2)*force(1) + conf(2,c+2)*force(2) + conf(3,c+2)*force(3)
    reaction(1,t) = reaction(1,t) + (arm(2)*turned(3) - arm(3)*turned(2))
    reaction(2,t) = reaction(2,t) + (arm(3)*turned(1) - arm(1)*turned(3))
    reaction(3,t) = reaction(3,t) + (arm(1)*turned(2) - arm(2)*turned(1))
    reaction(:,t+1) = reaction(:,t+1) + force
  end subroutine add_rigid_reaction
end module rigid_contacts
