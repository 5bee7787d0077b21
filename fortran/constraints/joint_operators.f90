!> Velocities of the user's constraints outside of local dynamics, and what follows from them: rates of motors, and starts of joints.
module joint_operators
  use kinds, only: dp, i4, i8
  use body_state, only: constrained_bodies, open_constrained_bodies
  use kind_numbers, only: torsional => constraint_torsional, start_met => joint_start_met, start_new => joint_start_new, &
    start_impact => joint_start_impact
  use row_operator, only: operator_of
  use table_registry, only: table_open
  implicit none
  private
  public :: joint_velocities, joint_rates, examine_starts

  real(dp), parameter :: rounding = 1.0e-9_dp   !< relative to the velocities of its bodies: smaller velocities of a joint count as zero

contains

  !> Computes relative velocities H u of some of the user's constraints at the present configuration, in local components.
  !>
  !> Reads of bodies kind, centre, pointers, conf and velo; of constraints kind, master, slave, points, element, weights, base, length.
  !>
  !>   bodies, constraints, elements   handles (BodyTable.handles, ConstraintTable.handle, FiniteElements.handle)
  !>   n, rows                      (0:n-1) rows of constraints
  !>   velocity                     (3,0:n-1) out
  !>   status                       `table_open` or `table_unknown`
  subroutine joint_velocities(bodies, constraints, elements, n, rows, velocity, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1)
    real(dp), intent(inout) :: velocity(3,0:n-1)
    integer(i4), intent(out) :: status
    type(constrained_bodies) :: state
    real(dp) :: terms
    integer(i4) :: k

    call open_constrained_bodies(bodies, elements, constraints, state, status)
    if (status /= table_open) return
    do k = 0, n - 1
      call find_velocity(state, rows(k), .false., velocity(:,k), terms)
    end do
  end subroutine joint_velocities

  !> Takes coordinates of joints, and their rates from the velocities at the start of the present step.
  !>
  !>   bodies, constraints, elements, n, rows   see joint_velocities
  !>   coordinate                   (2,0:n-1) out: coordinates and rates
  !>   status                       `table_open` or `table_unknown`
  subroutine joint_rates(bodies, constraints, elements, n, rows, coordinate, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1)
    real(dp), intent(inout) :: coordinate(2,0:n-1)
    integer(i4), intent(out) :: status
    type(constrained_bodies) :: state
    real(dp) :: terms, velocity(3)
    integer(i4) :: i, k

    call open_constrained_bodies(bodies, elements, constraints, state, status)
    if (status /= table_open) return
    do k = 0, n - 1
      i = rows(k)
      call find_velocity(state, i, .true., velocity, terms)
      coordinate(1,k) = state%con%gap(i)
      coordinate(2,k) = velocity(3)
      if (state%con%kind(i) == torsional) coordinate(2,k) = velocity(3)/state%con%length(i)
    end do
  end subroutine joint_rates

  !> Decides for marked joints whether the next step stops their points, and notes the velocities that impacts have left.
  !>
  !> Reads what joint_velocities reads, and of constraints start and gap.  Writes of constraints start of new joints, value of others.
  !>
  !>   bodies, constraints, elements   see joint_velocities
  !>   users                        the user's constraints, which come first in the table
  !>   asked (3,0:nkind-1), link (0:nkind-1)   by kinds of constraints, 1: components that are prescribed; links
  !>   treated, stopped             out: joints that the next step treats, and those of them whose points it stops
  !>   status                       `table_open` or `table_unknown`
  subroutine examine_starts(bodies, constraints, elements, users, nkind, asked, link, treated, stopped, status)
    integer(i8), intent(in) :: bodies(3), constraints, elements
    integer(i4), intent(in) :: users, nkind
    integer(i4), intent(in) :: asked(3,0:nkind-1), link(0:nkind-1)
    integer(i4), intent(out) :: treated, stopped, status
    type(constrained_bodies) :: state
    real(dp) :: terms, velocity(3)
    integer(i4) :: i

    treated = 0
    stopped = 0
    call open_constrained_bodies(bodies, elements, constraints, state, status)
    if (status /= table_open) return
    do i = 0, users - 1
      if (state%con%start(i) == start_met) cycle
      call find_velocity(state, i, .false., velocity, terms)
      if (state%con%start(i) == start_new) then
        state%con%start(i) = merge(start_impact, start_met, norm2(asked(:,state%con%kind(i))*velocity) > rounding*terms)
      else
        if (link(state%con%kind(i)) /= 0) velocity(1) = state%con%gap(i)
        state%con%value(:,i) = velocity
      end if
      if (state%con%start(i) /= start_met) treated = treated + 1
      if (state%con%start(i) == start_impact) stopped = stopped + 1
    end do
  end subroutine examine_starts

  !> Computes the relative velocity of constraint i, in local components.
  subroutine find_velocity(state, i, before, velocity, terms)
    type(constrained_bodies), intent(in) :: state
    integer(i4), intent(in) :: i
    logical, intent(in) :: before          !< from velocities at the start of the present step
    real(dp), intent(out) :: velocity(3)
    real(dp), intent(out) :: terms         !< sum of the norms of its terms

    velocity = 0.0_dp
    terms = 0.0_dp
    call add(state%con%master(i), 1, state%con%master_point(:,i), 1.0_dp)
    if (state%con%slave(i) >= 0) call add(state%con%slave(i), 2, state%con%slave_point(:,i), -1.0_dp)

  contains

    !> Adds the velocity of a point of body b.
    subroutine add(b, side, point, sign)
      integer(i4), intent(in) :: b
      integer, intent(in) :: side
      real(dp), intent(in) :: point(3), sign
      real(dp) :: h(3,3,8), part(3)
      integer(i4) :: count, e, t(8)

      call operator_of(state, b, side, i, point, count, h, t)
      do e = 1, count
        if (before) then
          part = sign*matmul(h(:,:,e), state%triples%velo_prev(:,t(e)))
        else
          part = sign*matmul(h(:,:,e), state%triples%velo(:,t(e)))
        end if
        velocity = velocity + part
        terms = terms + norm2(part)
      end do
    end subroutine add
  end subroutine find_velocity
end module joint_operators
