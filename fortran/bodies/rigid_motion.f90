!> Rigid bodies and obstacles among the rows of the body table, passed to rigid.f90 eight at a time: in place if the eight
!> are contiguous in all columns, as copies otherwise.
!>
!> `state` holds the tables (body_state).  `rows` (0:count-1), at most eight, are rows of the table; copies of the last one fill
!> up the eight, and it is stored once.
module rigid_motion
  use kinds, only: dp, i4
  use body_state, only: bodies_and_triples
  use velocity_operator, only: obstacle_kind, rigid_kind
  use rigid, only: lanes, rigid_drift, rigid_kick, rigid_finish, scheme_positive, scheme_implicit
  implicit none
  private
  public :: find_rigid, predict_rigid, finish_rigid

contains

  !> Finds rigid bodies and obstacles among the rows first to last: those that are awake, or if `waking`, those that wake in this step.
  pure subroutine find_rigid(first, last, waking, kind, rest, found, rows)
    integer(i4), intent(in) :: first, last
    logical, intent(in) :: waking
    integer(i4), intent(in) :: kind(0:*), rest(0:*)
    integer(i4), intent(out) :: found
    integer(i4), intent(inout) :: rows(0:*)
    integer(i4) :: b

    found = 0
    do b = first, last
      rows(found) = b
      if (merge(rest(b) /= -2, rest(b) < 0, waking)) cycle
      if (kind(b) == rigid_kind .or. kind(b) == obstacle_kind) found = found + 1
    end do
  end subroutine find_rigid

  !> Moves up to eight bodies.  `drift`: conf(t) -> conf(t+h/2), velo_prev = u(t), force = 0, momentum = referential angular momentum at mid-step.
  !> `kick`: u* = u(t) + h A^-1 f(t+h/2), and `force` becomes the force that counts as EXTERNAL.  Both, if no loads act.
  subroutine predict_rigid(drift, kick, count, rows, step, gravity, state, finite)
    logical, intent(in) :: drift, kick
    integer(i4), intent(in) :: count              !< bodies, 1 to 8
    integer(i4), intent(in) :: rows(0:count-1)
    real(dp), intent(in) :: step
    real(dp), intent(in) :: gravity(3)            !< acceleration, not of obstacles
    type(bodies_and_triples), intent(in) :: state
    logical, intent(inout) :: finite(lanes)       !< false: the state is not finite; none of the eight moves
    real(dp) :: falls(lanes), turns(lanes), weight(lanes), inertia(9,lanes), angular(3,lanes)
    real(dp) :: place(12,lanes), velocity(6,lanes), before(6,lanes), applied(6,lanes)
    integer(i4) :: b(lanes), c(lanes), v(lanes)
    logical :: dense

    call find_places(count, rows, state, b, c, v, dense, falls, turns)
    associate (mass => state%bodies%mass, tensor => state%bodies%tensor, momentum => state%bodies%momentum, &
               conf => state%configurations%conf, velo => state%triples%velo, velo_prev => state%triples%velo_prev, &
               force => state%triples%force)
      if (dense) then
        call predict_eight(drift, kick, 9, 12, 6, 3, step, gravity, falls, turns, mass(b(1):b(8)), tensor(:,:,b(1):b(8)), &
                           conf(:,c(1):c(8)+3), velo(:,v(1):v(8)+1), velo_prev(:,v(1):v(8)+1), force(:,v(1):v(8)+1), &
                           momentum(:,b(1):b(8)), finite)
        return
      end if
      call fetch_bodies(b, c, v, state, weight, inertia, angular, place, velocity, before, applied)
      call predict_eight(drift, kick, 9, 12, 6, 3, step, gravity, falls, turns, weight, inertia, place, velocity, before, applied, &
                         angular, finite)
      call put(12, count, c, place, conf, size(conf))
      call put(6, count, v, velocity, velo, size(velo))
      call put(6, count, v, before, velo_prev, size(velo_prev))
      call put(6, count, v, applied, force, size(force))
      call put(3, count, b, angular, momentum, size(momentum))
    end associate
  end subroutine predict_rigid

  !> Moves eight contiguous bodies; for nt, nc, nv, nm see rigid.f90.
  pure subroutine predict_eight(drift, kick, nt, nc, nv, nm, step, gravity, falls, turns, mass, tensor, conf, velo, velo_prev, &
                                force, momentum, finite)
    logical, intent(in) :: drift, kick
    integer, intent(in) :: nt, nc, nv, nm
    real(dp), intent(in) :: step, gravity(3), falls(lanes), turns(lanes), mass(lanes), tensor(nt,lanes)
    real(dp), intent(inout) :: conf(nc,lanes), velo(nv,lanes), velo_prev(nv,lanes), force(nv,lanes), momentum(nm,lanes)
    logical, intent(inout) :: finite(lanes)

    finite = .true.
    if (drift) then
      call rigid_drift(nt, nc, nv, nm, step, turns, tensor, conf, velo, momentum, finite)
      if (.not. all(finite)) return
      velo_prev = velo
      force = 0
    end if
    if (kick) call rigid_kick(nt, nv, nm, step, gravity, falls, turns, mass, tensor, velo, force, momentum)
  end subroutine predict_eight

  !> Computes u(t+h), conf(t+h) and the energies of rigid bodies; obstacles have no energies.
  subroutine finish_rigid(count, rows, step, state, finite, converged, regular)
    integer(i4), intent(in) :: count              !< bodies, 1 to 8
    integer(i4), intent(in) :: rows(0:count-1)
    real(dp), intent(in) :: step
    type(bodies_and_triples), intent(in) :: state
    logical, intent(inout) :: finite(lanes)       !< false: a reaction is not finite; none of the eight moves
    logical, intent(inout) :: converged(lanes), regular(lanes)
    real(dp) :: falls(lanes), turns(lanes), kinetic(lanes), work(lanes), weight(lanes), inertia(9,lanes), angular(3,lanes)
    real(dp) :: place(12,lanes), velocity(6,lanes), before(6,lanes), applied(6,lanes), reacting(6,lanes)
    integer(i4) :: b(lanes), c(lanes), l, rule(lanes), v(lanes)
    logical :: dense

    call find_places(count, rows, state, b, c, v, dense, falls, turns)
    associate (mass => state%bodies%mass, tensor => state%bodies%tensor, momentum => state%bodies%momentum, &
               energy => state%bodies%energy, conf => state%configurations%conf, velo => state%triples%velo, &
               velo_prev => state%triples%velo_prev, force => state%triples%force, reaction => state%triples%reaction)
      do l = 1, lanes
        rule(l) = state%bodies%scheme(b(l))
        if (state%bodies%kind(b(l)) == obstacle_kind) rule(l) = scheme_implicit
        if (state%bodies%rotation_disabled(b(l)) /= 0) rule(l) = scheme_positive   ! no rotation: the cheapest rule suffices
      end do
      finite = .true.
      if (dense) then
        call rigid_finish(9, 12, 6, 3, step, turns, rule, mass(b(1):b(8)), tensor(:,:,b(1):b(8)), velo_prev(:,v(1):v(8)+1), &
                          force(:,v(1):v(8)+1), reaction(:,v(1):v(8)+1), conf(:,c(1):c(8)+3), velo(:,v(1):v(8)+1), &
                          momentum(:,b(1):b(8)), kinetic, work, finite, converged, regular)
      else
        call fetch_bodies(b, c, v, state, weight, inertia, angular, place, velocity, before, applied)
        call fetch(6, 3, v, reaction, reacting, size(reaction))
        call rigid_finish(9, 12, 6, 3, step, turns, rule, weight, inertia, before, applied, reacting, place, velocity, angular, &
                          kinetic, work, finite, converged, regular)
        call put(12, count, c, place, conf, size(conf))
        call put(6, count, v, velocity, velo, size(velo))
        call put(3, count, b, angular, momentum, size(momentum))
      end if
      if (.not. all(finite)) return
      do l = 1, count
        energy(1,b(l)) = falls(l)*kinetic(l)
        energy(3,b(l)) = energy(3,b(l)) + falls(l)*work(l)
      end do
    end associate
  end subroutine finish_rigid

  !> Finds rows and first triples of eight bodies; whether they are contiguous (`dense`); and falls and turns of rigid.f90.
  subroutine find_places(count, rows, state, b, c, v, dense, falls, turns)
    integer(i4), intent(in) :: count
    integer(i4), intent(in) :: rows(0:count-1)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(inout) :: b(lanes), c(lanes), v(lanes)
    logical, intent(inout) :: dense
    real(dp), intent(inout) :: falls(lanes), turns(lanes)
    integer(i4) :: gaps, l

    gaps = 0
    do l = 1, lanes
      b(l) = rows(min(l, count) - 1)
      c(l) = state%bodies%conf_ptr(b(l))
      v(l) = state%bodies%velo_ptr(b(l))
      gaps = ior(gaps, ior(b(l) - b(1) - (l - 1), ior(c(l) - c(1) - 4*(l - 1), v(l) - v(1) - 2*(l - 1))))
      falls(l) = merge(0.0_dp, 1.0_dp, state%bodies%kind(b(l)) == obstacle_kind)
      turns(l) = merge(1.0_dp, 0.0_dp, state%bodies%rotation_disabled(b(l)) == 0)
    end do
    dense = gaps == 0
  end subroutine find_places

  !> Copies the state of eight bodies that are not contiguous.
  subroutine fetch_bodies(b, c, v, state, mass, tensor, momentum, conf, velo, velo_prev, force)
    integer(i4), intent(in) :: b(lanes), c(lanes), v(lanes)
    type(bodies_and_triples), intent(in) :: state
    real(dp), intent(inout) :: mass(lanes), tensor(9,lanes), momentum(3,lanes), conf(12,lanes)
    real(dp), intent(inout) :: velo(6,lanes), velo_prev(6,lanes), force(6,lanes)

    associate (bodies => state%bodies, triples => state%triples)
      call fetch(1, 1, b, bodies%mass, mass, size(bodies%mass))
      call fetch(9, 9, b, bodies%tensor, tensor, size(bodies%tensor))
      call fetch(3, 3, b, bodies%momentum, momentum, size(bodies%momentum))
      call fetch(12, 3, c, state%configurations%conf, conf, size(state%configurations%conf))
      call fetch(6, 3, v, triples%velo, velo, size(triples%velo))
      call fetch(6, 3, v, triples%velo_prev, velo_prev, size(triples%velo_prev))
      call fetch(6, 3, v, triples%force, force, size(triples%force))
    end associate
  end subroutine fetch_bodies

  !> Copies `n` numbers of each of eight bodies from a column, starting at `pitch` times `first`.
  pure subroutine fetch(n, pitch, first, table, values, size)
    integer(i4), intent(in) :: n, pitch, size
    integer(i4), intent(in) :: first(lanes)
    real(dp), intent(in) :: table(0:size-1)
    real(dp), intent(inout) :: values(n,lanes)
    integer(i4) :: l, start

    do l = 1, lanes
      start = pitch*first(l)
      values(:,l) = table(start:start+n-1)
    end do
  end subroutine fetch

  !> Copies triples of `count` bodies back to a column.
  pure subroutine put(n, count, first, values, table, size)
    integer(i4), intent(in) :: n, count, size
    integer(i4), intent(in) :: first(lanes)
    real(dp), intent(in) :: values(n,lanes)
    real(dp), intent(inout) :: table(0:size-1)
    integer(i4) :: l

    do l = 1, count
      table(3*first(l):3*first(l)+n-1) = values(:,l)
    end do
  end subroutine put

end module rigid_motion
