!> Bodies at rest that fall asleep and wake, by islands: rigid bodies that contacts connect, obstacles apart (docs/running.md, Sleeping).
!>
!> The column `rest` of bodies counts the steps in which a body has been slow; `asleep` and `wakes` mark those that do not move.
module sleeping
  use kinds, only: dp, i4, i8
  use body_state, only: touching_bodies, open_touching_bodies
  use connected_sets, only: connect, root_of
  use kind_numbers, only: obstacle_kind => body_obstacle, rigid_kind => body_rigid
  use table_registry, only: table_open
  implicit none
  private
  public :: fall_asleep, wake

  integer(i4), parameter :: asleep = -1   !< a value of `rest`
  integer(i4), parameter :: wakes = -2    !< a body that wakes within the present step

contains

  !> Counts steps of rest, and lets islands sleep of which all bodies have been slow for long enough.  They lose what velocity they have;
  !> its energy becomes DISSIPATED.
  !>
  !>   users      first rows of constraints, which the user has put; bodies on which they act stay awake
  !>   speed      a body is slow while the root of twice its kinetic energy per mass is below this [length/time]
  !>   steps      number of slow steps after which a body may sleep
  !>   kept       (0:bodies-1) 1: the body stays awake
  subroutine fall_asleep(handles, constraints, users, speed, steps, kept, failure, bodies)
    integer(i8), intent(in) :: handles(3), constraints
    integer(i4), intent(in) :: users, steps, bodies
    real(dp), intent(in) :: speed
    integer(i4), intent(in) :: kept(0:bodies-1)
    integer(i4), intent(out) :: failure
    type(touching_bodies) :: state
    integer(i4), allocatable :: root(:)
    logical, allocatable :: restless(:)
    integer(i4) :: b, i, ready, fell

    fell = 0
    call open_touching_bodies(handles, constraints, state, failure)
    if (failure /= table_open) return
    associate (rest => state%bodies%rest, kind => state%bodies%kind)
      ready = 0
      do b = 0, state%n - 1
        if (rest(b) < 0) cycle
        rest(b) = merge(min(rest(b) + 1, steps), 0_i4, is_slow(state, b, speed))
        if (rest(b) >= steps .and. kept(b) == 0) ready = ready + 1
      end do
      if (ready > 0) then
        allocate (root(0:state%n-1), restless(0:state%n-1))
        call join_bodies(users, state, root)
        restless = .false.
        do b = 0, state%n - 1
          if (kind(b) == obstacle_kind .or. rest(b) < 0) cycle
          if (rest(b) < steps .or. kept(b) /= 0) restless(root_of(root, b)) = .true.
        end do
        call note_disturbed(users, state, root, restless)
        do b = 0, state%n - 1
          if (kind(b) == obstacle_kind .or. rest(b) < 0) cycle
          if (restless(root_of(root, b))) cycle
          call stop_body(state, b)
          fell = fell + 1
        end do
      end if
      if (fell == 0) return
      do i = users, int(state%con%rows, i4) - 1
        if (rest(state%con%master(i)) >= 0 .and. rest(state%con%slave(i)) >= 0) cycle
        state%con%U(:,i) = 0.0_dp
        state%con%V(:,i) = 0.0_dp
      end do
    end associate
  end subroutine fall_asleep

  !> Whether a rigid body is slow.
  pure logical function is_slow(state, b, speed)
    type(touching_bodies), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: speed

    is_slow = state%bodies%kind(b) == rigid_kind
    if (is_slow) is_slow = 2.0_dp*state%bodies%energy(1,b) < state%bodies%mass(b)*speed**2
  end function is_slow

  !> Takes the velocity of a rigid body and marks it as asleep.
  subroutine stop_body(state, b)
    type(touching_bodies), intent(in) :: state    !< its columns change
    integer(i4), intent(in) :: b

    associate (energy => state%bodies%energy, v => state%bodies%velo_ptr(b))
      energy(6,b) = energy(6,b) + energy(1,b)
      energy(1,b) = 0.0_dp
      state%triples%velo(:,v:v+1) = 0.0_dp
      state%triples%velo_prev(:,v:v+1) = 0.0_dp
    end associate
    state%bodies%momentum(:,b) = 0.0_dp
    state%bodies%rest(b) = asleep
  end subroutine stop_body

  !> Marks islands that the user's constraints or moving obstacles touch.
  subroutine note_disturbed(users, state, root, restless)
    integer(i4), intent(in) :: users
    type(touching_bodies), intent(in) :: state
    integer(i4), intent(inout) :: root(0:state%n-1)
    logical, intent(inout) :: restless(0:state%n-1)
    logical :: moves(0:state%n-1)
    integer(i4) :: i

    call find_moving(users, state, moves)
    do i = 0, users - 1
      call disturb(state%con%master(i))
      if (state%con%slave(i) >= 0) call disturb(state%con%slave(i))
    end do
    do i = users, int(state%con%rows, i4) - 1
      if (moves(state%con%master(i))) call disturb(state%con%slave(i))
      if (moves(state%con%slave(i))) call disturb(state%con%master(i))
    end do

  contains

    subroutine disturb(b)
      integer(i4), intent(in) :: b

      if (state%bodies%kind(b) /= obstacle_kind) restless(root_of(root, b)) = .true.
    end subroutine disturb
  end subroutine note_disturbed

  !> Finds the obstacles that move, or that a constraint of the user may move.
  subroutine find_moving(users, state, moves)
    integer(i4), intent(in) :: users
    type(touching_bodies), intent(in) :: state
    logical, intent(out) :: moves(0:state%n-1)
    integer(i4) :: b, i, v

    moves = .false.
    do b = 0, state%n - 1
      if (state%bodies%kind(b) /= obstacle_kind) cycle
      v = state%bodies%velo_ptr(b)
      moves(b) = any(abs(state%triples%velo(:,v:v+1)) > 0.0_dp)
    end do
    do i = 0, users - 1
      if (state%con%slave(i) < 0 .and. .not. any(abs(state%con%value(:,i)) > 0.0_dp)) cycle
      call move(state%con%master(i))
      if (state%con%slave(i) >= 0) call move(state%con%slave(i))
    end do

  contains

    subroutine move(k)
      integer(i4), intent(in) :: k

      if (state%bodies%kind(k) == obstacle_kind) moves(k) = .true.
    end subroutine move
  end subroutine find_moving

  !> Joins bodies, obstacles apart, that contacts connect and that are alike: awake, or asleep.
  subroutine join_bodies(users, state, root)
    integer(i4), intent(in) :: users
    type(touching_bodies), intent(in) :: state
    integer(i4), intent(out) :: root(0:state%n-1)
    integer(i4) :: b, i, one, two

    do b = 0, state%n - 1
      root(b) = b
    end do
    associate (rest => state%bodies%rest, kind => state%bodies%kind)
      do i = users, int(state%con%rows, i4) - 1
        one = state%con%master(i)
        two = state%con%slave(i)
        if (kind(one) == obstacle_kind .or. kind(two) == obstacle_kind) cycle
        if ((rest(one) < 0) .neqv. (rest(two) < 0)) cycle
        call connect(root, one, two)
      end do
    end associate
  end subroutine join_bodies

  !> Marks as waking (`rest` = -2) the islands of sleeping bodies that are marked, or that a marked obstacle touches.
  !>
  !>   look       1: also those that an awake body, a moving obstacle, or a constraint of the user touches
  !>   marked     (0:bodies-1) 1: the body has been changed
  !>   woken      out: number of bodies that wake
  subroutine wake(handles, constraints, users, look, marked, woken, failure, bodies)
    integer(i8), intent(in) :: handles(3), constraints
    integer(i4), intent(in) :: users, look, bodies
    integer(i4), intent(in) :: marked(0:bodies-1)
    integer(i4), intent(out) :: woken, failure
    type(touching_bodies) :: state
    integer(i4), allocatable :: root(:)
    logical, allocatable :: moves(:), touched(:)
    integer(i4) :: b, i

    woken = 0
    call open_touching_bodies(handles, constraints, state, failure)
    if (failure /= table_open) return
    associate (rest => state%bodies%rest, kind => state%bodies%kind)
      allocate (moves(0:state%n-1), touched(0:state%n-1))
      moves = .false.
      if (look /= 0) call find_moving(users, state, moves)
      touched = rest(0:state%n-1) < 0 .and. marked(0:state%n-1) /= 0
      do i = 0, merge(users, 0_i4, look /= 0) - 1
        touched(state%con%master(i)) = .true.
        if (state%con%slave(i) >= 0) touched(state%con%slave(i)) = .true.
      end do
      do i = users, int(state%con%rows, i4) - 1
        call look_at(state%con%master(i), state%con%slave(i))
        call look_at(state%con%slave(i), state%con%master(i))
      end do
      if (.not. any(touched .and. rest(0:state%n-1) < 0)) return
      allocate (root(0:state%n-1))
      call join_bodies(users, state, root)
      do b = 0, state%n - 1
        if (touched(b) .and. rest(b) < 0) touched(root_of(root, b)) = .true.
      end do
      do b = 0, state%n - 1
        if (rest(b) /= asleep) cycle
        if (.not. touched(root_of(root, b))) cycle
        rest(b) = wakes
        woken = woken + 1
      end do
    end associate

  contains

    !> Marks body `b` if it sleeps and its neighbour in a contact disturbs it.
    subroutine look_at(b, neighbour)
      integer(i4), intent(in) :: b, neighbour

      if (state%bodies%rest(b) >= 0) return
      if (look /= 0 .and. is_awake(neighbour)) touched(b) = .true.
      if (moves(neighbour)) touched(b) = .true.
      if (state%bodies%kind(neighbour) == obstacle_kind .and. marked(neighbour) /= 0) touched(b) = .true.
    end subroutine look_at

    logical function is_awake(b)
      integer(i4), intent(in) :: b

      is_awake = state%bodies%kind(b) /= obstacle_kind .and. state%bodies%rest(b) >= 0
    end function is_awake
  end subroutine wake
end module sleeping
