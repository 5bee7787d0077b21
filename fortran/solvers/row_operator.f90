!> The operator H of constraints, from velocity triples of a body to the relative velocity of a row.
!>
!> Most rows take the velocity of a point.  Angular rows take the body's angular velocity w at an arm l: H u = l base^T w.  `carried` rows
!> take the velocity of the master's point that an observer sees who turns with the slave: H u = base^T (v + w x d) on the slave,
!> with d from its point to the master's.  Couplings of rigid bodies take the point midway between theirs.  Springs whose direction n a body carries take n.v + dn/dt.d on this body, the rate of
!> their length.
!> Rows of wheels take the column `levers` (module wheels).
module row_operator
  use kinds, only: dp, i4
  use body_state, only: constrained_bodies, bodies_and_triples
  use element_frames, only: element_spin
  use kind_numbers, only: contact => constraint_contact, coupling => constraint_fixpnt, by_master => direction_update_conv1, &
    by_slave => direction_update_conv2, frame_of_spring
  use matrix3, only: cross
  use point_places, only: referential_point
  use row_families, only: family_of
  use row_family_base, only: row_family
  use state_tables, only: constraint_table
  use velocity_operator, only: velocity_blocks, angular_blocks, finite_element_kind, pseudo_rigid_kind, rigid_kind
  implicit none
  private
  public :: operator_of, turning_operator

contains

  !> Computes H of one side of constraint i, on body k, and the velocity triples that it applies to.
  subroutine operator_of(state, k, side, i, point, count, h, t)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: k, i
    integer, intent(in) :: side       !< 1 master, 2 slave
    real(dp), intent(in) :: point(3)  !< referential
    integer(i4), intent(out) :: count, t(8)
    real(dp), intent(inout) :: h(3,3,8)
    real(dp) :: at(3)
    integer(i4) :: c

    if (state%bodies%kind(k) == finite_element_kind) then
      call element_operator(state, k, side, i, count, h, t)
      return
    end if
    c = state%bodies%conf_ptr(k)
    if (state%con%kind(i) /= contact) then
      at = point
      if (couples_rigid_bodies(state, i)) &
        at = referential_point(state%bodies_and_triples, k, 0.5_dp*(state%con%point(:,i) + state%con%other_point(:,i)))
      call joint_operator(state%con, side, i, state%bodies%kind(k), state%configurations%conf(:,c:c+3), state%bodies%centre(:,k), &
                          at, count, h(:,:,1:4))
    else
      call velocity_blocks(state%bodies%kind(k), state%configurations%conf(:,c:c+3), state%bodies%centre(:,k), point, &
                           state%con%base(:,:,i), count, h(:,:,1:4))
    end if
    do c = 1, count
      t(c) = state%bodies%velo_ptr(k) + c - 1
    end do
  end subroutine operator_of

  !> Whether constraint i couples points of two rigid bodies, which then act on one another midway between the points, at the same place.
  !>
  !> If each acted at its own point, couplings of two points, which hold their distance twice, would contradict one another as soon as points
  !> have drifted apart, and R and -R would be a couple.
  pure logical function couples_rigid_bodies(state, i) result(answer)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i

    answer = state%con%kind(i) == coupling .and. state%con%slave(i) >= 0
    if (answer) answer = all(state%bodies%kind([state%con%master(i), state%con%slave(i)]) == rigid_kind)
  end function couples_rigid_bodies

  !> Computes H of body k in the rolling row of contact i, and the velocity triples that it applies to; count 0: the points of the body do not turn.
  subroutine turning_operator(state, con, k, i, arm, count, h, t)
    type(bodies_and_triples), intent(in) :: state
    type(constraint_table), intent(in) :: con
    integer(i4), intent(in) :: k, i
    real(dp), intent(in) :: arm         !< l of H u = l base^T w
    integer(i4), intent(out) :: count, t(8)
    real(dp), intent(inout) :: h(3,3,8)
    integer(i4) :: c

    c = state%bodies%conf_ptr(k)
    call angular_blocks(state%bodies%kind(k), state%configurations%conf(:,c:c+3), arm*con%base(:,:,i), count, h(:,:,1:4))
    do c = 1, count
      t(c) = state%bodies%velo_ptr(k) + c - 1
    end do
  end subroutine turning_operator

  !> Computes the blocks of constraint i on the nodes of the element of body k that holds the point: N_a base^T, and those of its local frame.
  subroutine element_operator(state, k, side, i, count, h, t)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: k, i
    integer, intent(in) :: side
    integer(i4), intent(out) :: count, t(8)
    real(dp), intent(inout) :: h(3,3,8)
    class(row_family), pointer :: family
    real(dp) :: turned(3,3), spin(3,3,8)
    integer(i4) :: e
    integer :: a

    e = state%bodies%element_ptr(k) + state%con%element(side,i)
    count = state%fe%element_size(e)
    t(1:count) = state%bodies%velo_ptr(k) + state%fe%element_node(1:count,e)
    associate (base => state%con%base(:,:,i), weights => state%con%weights(:,side,i))
      do a = 1, count
        h(:,:,a) = weights(a)*transpose(base)
      end do
      if (state%con%kind(i) == contact) return
      family => family_of(state%con%kind(i))
      if (family%geared) then
        turned(:,1:2) = state%con%length(i)*base(:,1:2)
        turned(:,3) = state%con%levers(:,1,side,i)
        h = element_spin(state, side, i, k, turned)
        do a = 1, count
          h(3,:,a) = h(3,:,a) + weights(a)*state%con%levers(:,2,side,i)
        end do
      else if (family%angular) then
        h = element_spin(state, side, i, k, state%con%length(i)*base)
      else if (family%carried .and. side == 2) then
        spin = element_spin(state, side, i, k, across(state%con, i))
        h(:,:,1:count) = h(:,:,1:count) + spin(:,:,1:count)
      end if
    end associate
    if (family%masked) h(3,:,1:count) = 0.0_dp
  end subroutine element_operator

  !> Cross products of the vector from the slave's point to the master's with the base vectors of constraint i.
  pure function across(con, i) result(turned)
    type(constraint_table), intent(in) :: con
    integer(i4), intent(in) :: i
    real(dp) :: turned(3,3)
    integer :: j

    do j = 1, 3
      turned(:,j) = cross(con%point(:,i) - con%other_point(:,i), con%base(:,j,i))
    end do
  end function across

  !> Computes the blocks of one of the user's constraints on a body without elements.
  subroutine joint_operator(con, side, i, kind, conf, centre, point, count, h)
    type(constraint_table), intent(in) :: con
    integer, intent(in) :: side
    integer(i4), intent(in) :: i, kind
    real(dp), intent(in) :: conf(3,4), centre(3), point(3)
    integer(i4), intent(out) :: count
    real(dp), intent(inout) :: h(3,3,4)
    class(row_family), pointer :: family
    real(dp) :: turned(3,3), turning(3,3,4)

    family => family_of(con%kind(i))
    associate (base => con%base(:,:,i))
      if (family%geared) then
        ! the tangents carry nothing; they are those of an angular row, so that W_aa is regular
        turned(:,1:2) = con%length(i)*base(:,1:2)
        turned(:,3) = con%levers(:,1,side,i)
        call angular_blocks(kind, conf, turned, count, turning)
        turned(:,1:2) = 0.0_dp
        turned(:,3) = con%levers(:,2,side,i)
        call velocity_blocks(kind, conf, centre, point, turned, count, h)
        h(:,:,1:count) = h(:,:,1:count) + turning(:,:,1:count)
      else if (family%angular) then
        call angular_blocks(kind, conf, con%length(i)*base, count, h)
      else
        call velocity_blocks(kind, conf, centre, point, base, count, h)
        if (family%frame == frame_of_spring .and. con%update(i) == merge(by_master, by_slave, side == 1)) then
          call add_turning_direction(con, side, i, kind, conf, centre, count, h)
        else if (family%carried .and. side == 2) then
          call angular_blocks(kind, conf, across(con, i), count, turning)
          h(:,:,1:count) = h(:,:,1:count) + turning(:,:,1:count)
        end if
      end if
    end associate
    if (family%masked) h(3,:,1:count) = 0.0_dp
  end subroutine joint_operator

  !> Adds dn/dt.d to the normal row of a spring whose direction n this body carries, d from the slave's point to the master's:
  !> forces along n at points that are apart across n make a couple, which the carrier bears.  Without it springs make energy and
  !> angular momentum.
  subroutine add_turning_direction(con, side, i, kind, conf, centre, count, h)
    type(constraint_table), intent(in) :: con
    integer, intent(in) :: side
    integer(i4), intent(in) :: i, kind
    real(dp), intent(in) :: conf(3,4), centre(3)
    integer(i4), intent(inout) :: count
    real(dp), intent(inout) :: h(3,3,4)
    real(dp) :: across_normal(3,3), fibre(3), turning(3,3,4)

    if (kind == pseudo_rigid_kind) then   ! rows of F
      fibre = con%direction(:,i)/norm2(matmul(transpose(conf(:,1:3)), con%direction(:,i)))
    else
      fibre = con%direction(:,i)
    end if
    associate (n => con%base(:,3,i), d => con%point(:,i) - con%other_point(:,i))
      across_normal(:,1:2) = 0.0_dp
      across_normal(:,3) = d - dot_product(n, d)*n
    end associate
    if (side == 2) across_normal = -across_normal   ! U is the master's velocity minus the slave's
    call velocity_blocks(kind, conf, centre, centre + fibre, across_normal, count, turning)
    turning(:,:,count) = 0.0_dp                     ! a direction does not move with the centre
    h(:,:,1:count) = h(:,:,1:count) + turning(:,:,1:count)
  end subroutine add_turning_direction
end module row_operator
