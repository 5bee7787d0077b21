!> Drift of joints: gaps of their components at the end of a step, and the displacement of bodies that closes them, smallest in the metric of masses,
!>
!>     dq = M^-1 H^T x,   (H M^-1 H^T) x = -g,
!>
!> with one row of H per component that holds (solfec/constraints/joint_correction.py).  Implicit bodies move as rigid ones before
!> they deform (rigid_shares).
module joint_closing
  use kinds, only: dp, i4, i8
  use body_state, only: constrained_bodies, element_bodies, bodies_and_triples, open_bodies, open_elements, open_constrained_bodies
  use gap_factors, only: forces_of_gaps, sides
  use gap_motion, only: add_components
  use joint_gaps, only: error_of
  use matrix3, only: determinant, inverse, multiply_transposed
  use rigid_shares, only: rigid_share, moves_rigidly, rigid_share_of, add_rigid_triples, place_of
  use rotation, only: exponential_map
  use row_operator, only: operator_of
  use state_tables, only: joint_gap_table, open_table
  use table_registry, only: table_open
  use velocity_operator, only: obstacle_kind, rigid_kind, pseudo_rigid_kind
  implicit none
  private
  public :: list_gaps, close_gaps, carry_along, move_bodies

  !> How kinds of constraints take part.
  integer(i4), parameter :: left_alone = 0      !< not at all
  integer(i4), parameter :: in_space_only = 2   !< its plane between two bodies follows the slave, so that it has no place to return to
  integer(i4), parameter :: prescribed = 3      !< prescribed motions have no drift; nothing is moved along them
  integer(i4), parameter :: if_passed = 4       !< limits that are passed, taut ropes, if no joints hold them; motors correct themselves in the next step

contains

  !> Lists the components of the user's constraints that hold, with their gaps and operators.
  !>
  !> Reads of bodies kind, centre, mode_count, pointers and conf; of constraints kind, joint, master, slave, points, element, weights, base, gap, axes,
  !> length, limits and gearing, updated by `update_user_constraints`; of elements element_size and element_node.  Writes all columns of gaps but force.
  !>
  !>   bodies, constraints, elements, gaps   handles (BodyTable.handles, ConstraintTable, FiniteElements, JointGapTable with room for 3 users)
  !>   users          number of the user's constraints
  !>   treatment      (0:nkind-1) of every kind of constraint: 1 or one of the parameters above
  !>   holds          (3,0:nkind-1) 1: components that hold
  !>   count          out: rows of gaps
  !>   largest        out: largest |gap|
  !>   status         `table_open` or `table_unknown`
  subroutine list_gaps(bodies, constraints, elements, gaps, users, nkind, treatment, holds, count, largest, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements, gaps
    integer(i4), intent(in) :: users, nkind
    integer(i4), intent(in) :: treatment(0:nkind-1), holds(3,0:nkind-1)
    integer(i4), intent(out) :: count, status
    real(dp), intent(out) :: largest
    type(constrained_bodies) :: state
    type(joint_gap_table) :: found
    type(rigid_share), allocatable :: shares(:)
    logical, allocatable :: known(:)            ! shares of bodies
    real(dp) :: error(3), h(3,3,sides)
    integer(i4) :: i, triples, t(sides)

    count = 0
    largest = 0.0_dp
    call open_constrained_bodies(bodies, elements, constraints, state, status)
    if (status == table_open) call open_table(gaps, found, status)
    if (status /= table_open) return
    allocate (shares(0:state%n-1))
    allocate (known(0:state%n-1), source=.false.)
    do i = 0, users - 1
      if (.not. is_treated(state, i, treatment(state%con%kind(i)))) cycle
      error = 0.0_dp
      if (treatment(state%con%kind(i)) /= prescribed) error = error_of(state, i)
      if (treatment(state%con%kind(i)) == if_passed .and. (state%con%held(i) == 1 .or. .not. abs(error(3)) > 0.0_dp)) cycle
      call both_sides(state, i, shares, known, triples, h, t)
      call add_components(state%con%id(i), holds(:,state%con%kind(i)), error, triples, h, t, found, count)
      largest = max(largest, maxval(abs(error), holds(:,state%con%kind(i)) /= 0))
    end do
  end subroutine list_gaps

  !> Whether constraint i takes part: points of bodies in a reduced base cannot be moved independently.
  pure logical function is_treated(state, i, treatment)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i, treatment

    is_treated = treatment /= left_alone .and. state%bodies%mode_count(state%con%master(i)) == 0
    if (.not. is_treated .or. state%con%slave(i) < 0) return
    is_treated = treatment /= in_space_only .and. state%bodies%mode_count(state%con%slave(i)) == 0
  end function is_treated

  !> Operators of constraint i on the triples of the master, then on those of the slave; joints of mechanisms do not move obstacles.
  subroutine both_sides(state, i, shares, known, count, h, t)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    type(rigid_share), intent(inout) :: shares(0:)      !< of bodies, once `known`
    logical, intent(inout) :: known(0:)
    integer(i4), intent(out) :: count     !< of triples
    real(dp), intent(inout) :: h(3,3,sides)
    integer(i4), intent(inout) :: t(sides)
    integer(i4) :: more

    count = 0
    if (moves(state%con%master(i))) call one_side(state%con%master(i), 1, state%con%master_point(:,i), count, h(:,:,1:10), t(1:10))
    if (state%con%slave(i) < 0) return
    if (.not. moves(state%con%slave(i))) return
    call one_side(state%con%slave(i), 2, state%con%slave_point(:,i), more, h(:,:,count+1:count+10), t(count+1:count+10))
    h(:,:,count+1:count+more) = -h(:,:,count+1:count+more)
    count = count + more

  contains

    !> On body k: eight triples at most, and two of its rigid motion.
    subroutine one_side(k, side, point, count, h, t)
      integer(i4), intent(in) :: k
      integer, intent(in) :: side
      real(dp), intent(in) :: point(3)
      integer(i4), intent(out) :: count
      real(dp), intent(inout) :: h(3,3,10)
      integer(i4), intent(inout) :: t(10)

      call operator_of(state, k, side, i, point, count, h(:,:,1:8), t(1:8))
      if (.not. moves_rigidly(state, k)) return
      if (.not. known(k)) shares(k) = rigid_share_of(state, k)
      known(k) = .true.
      call add_rigid_triples(state, k, shares(k), int(state%triples%rows, i4) + 2*k, count, h, t)
    end subroutine one_side

    pure logical function moves(k)
      integer(i4), intent(in) :: k
      moves = .not. (state%con%joint(i) > 0 .and. state%con%slave(i) >= 0 .and. state%bodies%kind(k) == obstacle_kind)
    end function moves
  end subroutine both_sides

  !> Computes the displacement of triples that closes gaps: (H M^-1 H^T) x = -g, then M^-1 H^T x.
  !>
  !> Reads of gaps constraint, gap, triple and operator; writes force, x.
  !>
  !>   gaps           handle; rows of one constraint follow one another
  !>   n              rows of gaps
  !>   inverse        (3,3,0:nt-1) blocks of M^-1 of triples; those of rigid motions, which follow, are the identity
  !>   redundant      added to the diagonal, relative to it, so that redundant joints share the displacement
  !>   moved          (3,0:nm-1) out: the displacement, of rigid motions as `carry_along` takes it
  !>   regular        out: 0 if the matrix has no factors
  !>   status         `table_open` or `table_unknown`
  subroutine close_gaps(gaps, n, nt, inverse, redundant, nm, moved, regular, status)
    integer(i8), intent(in) :: gaps
    integer(i4), intent(in) :: n, nt, nm
    real(dp), intent(in) :: inverse(3,3,0:nt-1), redundant
    real(dp), intent(inout) :: moved(3,0:nm-1)
    integer(i4), intent(out) :: regular, status
    type(joint_gap_table) :: found
    logical :: factored
    integer(i4) :: e, i, t

    regular = 0
    call open_table(gaps, found, status)
    if (status /= table_open) return
    call forces_of_gaps(found, n, nm, inverse, redundant, found%force(0:n-1), factored)
    if (.not. factored) return
    regular = 1
    moved = 0.0_dp
    do i = 0, n - 1
      do e = 1, sides
        t = found%triple(e,i)
        if (t < 0) exit
        moved(:,t) = moved(:,t) + found%force(i)*found%operator(:,e,i)
      end do
    end do
    do t = 0, nt - 1
      moved(:,t) = matmul(inverse(:,:,t), moved(:,t))
    end do
  end subroutine close_gaps

  !> Turns displacements as `close_gaps` returns them into those of the bodies' own triples, with the rigid motions.
  !>
  !>   bodies, elements   handles
  !>   moved      (3,0:nt+2*n-1) of the nt own triples, then of the two rigid motions of each of the n bodies
  !>   status     `table_open` or `table_unknown`
  subroutine carry_along(bodies, elements, nm, moved, status)
    integer(i8), intent(in) :: bodies(3), elements
    integer(i4), intent(in) :: nm
    real(dp), intent(inout) :: moved(3,0:nm-1)
    integer(i4), intent(out) :: status
    type(element_bodies) :: state
    type(rigid_share) :: share
    real(dp) :: turned(3,3), shift(3)
    integer(i4) :: c, e, first, k, last, r, v

    call open_elements(bodies, elements, state, status)
    if (status /= table_open) return
    do k = 0, state%n - 1
      if (.not. moves_rigidly(state, k)) cycle
      v = state%bodies%velo_ptr(k)
      last = merge(4, state%bodies%node_count(k), state%bodies%kind(k) == pseudo_rigid_kind) - 1
      first = nm - 2*(state%n - k)
      if (.not. (any(moved(:,v:v+last) /= 0.0_dp) .or. any(moved(:,first:first+1) /= 0.0_dp))) cycle
      share = rigid_share_of(state, k)
      shift = share%shift*moved(:,first)
      call exponential_map(matmul(share%turn, moved(:,first+1)), turned)
      c = state%bodies%conf_ptr(k)
      moved(:,v:v+last) = share%own*moved(:,v:v+last)
      do r = 1, 3
        turned(r,r) = turned(r,r) - 1
      end do
      associate (conf => state%configurations%conf)
        if (state%bodies%kind(k) == pseudo_rigid_kind) then
          moved(:,v:v+2) = moved(:,v:v+2) + matmul(conf(:,c:c+2), transpose(turned))
          moved(:,v+3) = moved(:,v+3) + shift
        else
          do e = 0, last
            moved(:,v+e) = moved(:,v+e) + shift + matmul(turned, place_of(state, k, e) - share%centre)
          end do
        end if
      end associate
    end do
  end subroutine carry_along

  !> Moves bodies by displacements of their triples.  Velocities keep their values, but the angular velocity of a turned rigid body changes so that its
  !> angular momentum in space stays the same.
  !>
  !> Reads of bodies kind, pointers, node_count, mode_count and tensor; writes conf and velo.
  !>
  !>   bodies         handles
  !>   moved          (3,0:nt-1)
  !>   status         `table_open` or `table_unknown`
  subroutine move_bodies(bodies, nt, moved, status)
    integer(i8), intent(in) :: bodies(3)
    integer(i4), intent(in) :: nt
    real(dp), intent(in) :: moved(3,0:nt-1)
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    integer(i4) :: b, c, e, v

    call open_bodies(bodies, state, status)
    if (status /= table_open) return
    associate (conf => state%configurations%conf)
      do b = 0, state%n - 1
        c = state%bodies%conf_ptr(b)
        v = state%bodies%velo_ptr(b)
        select case (state%bodies%kind(b))
        case (obstacle_kind, rigid_kind)
          conf(:,c+3) = conf(:,c+3) + moved(:,v+1)
          if (any(moved(:,v) /= 0.0_dp)) call turn(state%bodies%tensor(:,:,b), moved(:,v), conf(:,c:c+2), state%triples%velo(:,v))
        case (pseudo_rigid_kind)
          conf(:,c:c+3) = conf(:,c:c+3) + moved(:,v:v+3)
        case default   ! nodes; bodies in a base are left out (is_treated)
          if (state%bodies%mode_count(b) > 0) cycle
          e = state%bodies%node_count(b) - 1
          conf(:,c:c+e) = conf(:,c:c+e) + moved(:,v:v+e)
        end select
      end do
    end associate
  end subroutine move_bodies

  !> Turns a body by a referential rotation vector; its angular momentum in space R J w stays the same.
  subroutine turn(tensor, angle, frame, angular)
    real(dp), intent(in) :: tensor(3,3), angle(3)
    real(dp), intent(inout) :: frame(3,3), angular(3)
    real(dp) :: turned(3,3)

    call exponential_map(angle, turned)
    frame = matmul(frame, turned)
    if (abs(determinant(tensor)) > 0.0_dp) angular = matmul(inverse(tensor), multiply_transposed(turned, matmul(tensor, angular)))
  end subroutine turn
end module joint_closing
