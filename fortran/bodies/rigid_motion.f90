!> Rigid bodies and obstacles among the rows of the body table.  Their centres move row by row; what their rotations need is
!> gathered for eight bodies at a time into arrays whose first index is that of the body (rigid.f90), and put back.
!>
!> Columns and triples as in body_motion.  `rows` (0:count-1), at most eight, are rows of the table; the last one stands in
!> for those that eight are short of, and is put back once.
module rigid_motion
  use kinds, only: dp, i4, i8
  use velocity_operator, only: obstacle_kind, rigid_kind
  use rigid, only: lanes, rigid_inverse_inertia, rigid_half_step, rigid_free_velocity, rigid_finish, &
                   rigid_rotational_energy, scheme_positive, scheme_implicit
  implicit none
  private
  public :: find_rigid, predict_rigid, finish_rigid

contains

  !> Rigid bodies and obstacles among the rows first to last.
  pure subroutine find_rigid(first, last, kind, found, rows, nb)
    integer(i4), intent(in) :: first, last, nb
    integer(i4), intent(in) :: kind(0:nb-1)
    integer(i4), intent(out) :: found
    integer(i4), intent(inout) :: rows(0:*)
    integer(i4) :: b

    found = 0
    do b = first, last
      rows(found) = b
      if (kind(b) == rigid_kind .or. kind(b) == obstacle_kind) found = found + 1
    end do
  end subroutine find_rigid

  !> `drift`: conf(t) -> conf(t+h/2), velo_prev = u(t), force = 0, momentum = referential angular momentum at mid-step.
  !> `kick`: u* = u(t) + h A^-1 f(t+h/2), and `force` becomes what counts as EXTERNAL.  Both, where no loads act between.
  pure subroutine predict_rigid(drift, kick, count, rows, step, gravity, kind, rotation_disabled, mass, tensor, conf_ptr, &
                                velo_ptr, conf, velo, velo_prev, force, momentum, finite, nb, nconf, nvelo)
    logical, intent(in) :: drift, kick
    integer(i4), intent(in) :: count              !< bodies, 1 to 8
    integer(i4), intent(in) :: nb, nconf, nvelo
    integer(i4), intent(in) :: rows(0:count-1)
    real(dp), intent(in) :: step
    real(dp), intent(in) :: gravity(3)            !< acceleration, not of obstacles
    integer(i4), intent(in) :: kind(0:nb-1), rotation_disabled(0:nb-1), conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: mass(0:nb-1), tensor(3,3,0:nb-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1), force(3,0:nvelo-1)
    real(dp), intent(inout) :: momentum(3,0:nb-1)
    logical, intent(inout) :: finite(lanes)       !< false: the state is not; none of the eight moves
    real(dp) :: turned(lanes,3,3), velocity(lanes,3), inertia(lanes,6), inverse_inertia(lanes,6), free(lanes)
    real(dp) :: angular(lanes,3), moment(lanes,3), centre(lanes), weight(3)
    integer(i4) :: b, c, i, l, v

    do l = 1, lanes
      b = rows(min(l, count) - 1)
      v = velo_ptr(b)
      free(l) = merge(1.0_dp, 0.0_dp, rotation_disabled(b) == 0)
      if (rotation_disabled(b) /= 0 .and. drift) velo(:,v) = 0
      do i = 1, 3
        velocity(l,i) = velo(i,v)
      end do
      call gather_symmetric(tensor(:,:,b), l, inertia)
    end do
    finite = .true.
    if (drift) then
      do l = 1, lanes
        b = rows(min(l, count) - 1)
        c = conf_ptr(b)
        v = velo_ptr(b)
        call get_rotation(conf(:,c:c+2), l, turned)
        centre(l) = sum(abs(conf(:,c+3)) + abs(velo(:,v+1)))
      end do
      call find_finite(9, turned, finite)
      call find_finite(3, velocity, finite)
      call find_finite(1, centre, finite)
      if (.not. all(finite)) return
      call rigid_half_step(step, inertia, velocity, turned, angular)
      moment = 0
    else
      do l = 1, lanes
        b = rows(min(l, count) - 1)
        v = velo_ptr(b)
        do i = 1, 3
          angular(l,i) = momentum(i,b)
          moment(l,i) = force(i,v)
        end do
      end do
    end if
    if (kick) then
      call rigid_inverse_inertia(inertia, free, inverse_inertia)
      call rigid_free_velocity(step, inertia, inverse_inertia, velocity, moment, angular)
    end if
    if (drift) then
      do l = 1, count
        b = rows(l - 1)
        c = conf_ptr(b)
        v = velo_ptr(b)
        call put_rotation(turned, l, conf(:,c:c+2))
        conf(:,c+3) = conf(:,c+3) + step/2*velo(:,v+1)
      end do
      do l = 1, count
        v = velo_ptr(rows(l - 1))
        velo_prev(:,v:v+1) = velo(:,v:v+1)
      end do
    end if
    if (drift .and. .not. kick) then
      do l = 1, count
        v = velo_ptr(rows(l - 1))
        force(:,v:v+1) = 0
      end do
    else
      do l = 1, count
        b = rows(l - 1)
        v = velo_ptr(b)
        weight = gravity
        if (kind(b) == obstacle_kind) weight = 0
        if (drift) force(:,v+1) = 0
        do i = 1, 3
          velo(i,v) = velocity(l,i)
          velo(i,v+1) = velo(i,v+1) + step*(weight(i) + force(i,v+1)/mass(b))
          force(i,v) = moment(l,i)
          force(i,v+1) = force(i,v+1) + mass(b)*weight(i)
        end do
      end do
    end if
    do l = 1, count
      b = rows(l - 1)
      do i = 1, 3
        momentum(i,b) = free(l)*angular(l,i)
      end do
    end do
  end subroutine predict_rigid

  !> u(t+h), conf(t+h) and the energies of rigid bodies; obstacles report none.
  pure subroutine finish_rigid(count, rows, step, kind, scheme, rotation_disabled, mass, tensor, conf_ptr, velo_ptr, &
                               velo_prev, force, reaction, conf, velo, momentum, energy, finite, converged, regular, &
                               nb, nconf, nvelo)
    integer(i4), intent(in) :: count              !< bodies, 1 to 8
    integer(i4), intent(in) :: nb, nconf, nvelo
    integer(i4), intent(in) :: rows(0:count-1)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: kind(0:nb-1), scheme(0:nb-1), rotation_disabled(0:nb-1)
    real(dp), intent(in) :: mass(0:nb-1), tensor(3,3,0:nb-1)
    integer(i4), intent(in) :: conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: velo_prev(3,0:nvelo-1), force(3,0:nvelo-1), reaction(3,0:nvelo-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1), velo(3,0:nvelo-1)
    real(dp), intent(inout) :: momentum(3,0:nb-1)
    real(dp), intent(inout) :: energy(5,0:nb-1)
    logical, intent(inout) :: finite(lanes)       !< false: a reaction is not; none of the eight moves
    logical, intent(inout) :: converged(lanes), regular(lanes)
    real(dp) :: turned(lanes,3,3), velocity(lanes,3), inertia(lanes,6), inverse_inertia(lanes,6), free(lanes)
    real(dp) :: angular(lanes,3), moment(lanes,3), centre(lanes), rotational(lanes), work, speed, factor
    integer(i4) :: b, c, i, l, rule(lanes), v

    do l = 1, lanes
      b = rows(min(l, count) - 1)
      c = conf_ptr(b)
      v = velo_ptr(b)
      do i = 1, 3
        velocity(l,i) = velo(i,v)
        moment(l,i) = reaction(i,v)
        angular(l,i) = momentum(i,b)
      end do
      call gather_symmetric(tensor(:,:,b), l, inertia)
    end do
    do l = 1, lanes
      b = rows(min(l, count) - 1)
      c = conf_ptr(b)
      v = velo_ptr(b)
      call get_rotation(conf(:,c:c+2), l, turned)
      rule(l) = scheme(b)
      if (kind(b) == obstacle_kind) rule(l) = scheme_implicit
      if (rotation_disabled(b) /= 0) rule(l) = scheme_positive   ! nothing turns: the cheapest rule will do
      free(l) = merge(1.0_dp, 0.0_dp, rotation_disabled(b) == 0)
      centre(l) = sum(abs(reaction(:,v+1)))
    end do
    finite = .true.
    call find_finite(3, moment, finite)
    call find_finite(1, centre, finite)
    if (.not. all(finite)) return
    call rigid_inverse_inertia(inertia, free, inverse_inertia)
    call rigid_finish(step, rule, inertia, inverse_inertia, moment, turned, velocity, angular, converged, regular)
    call rigid_rotational_energy(inertia, velocity, rotational)
    do l = 1, count
      b = rows(l - 1)
      c = conf_ptr(b)
      v = velo_ptr(b)
      factor = step/mass(b)
      velo(:,v+1) = velo(:,v+1) + factor*reaction(:,v+1)
      conf(:,c+3) = conf(:,c+3) + step/2*velo(:,v+1)
      call put_rotation(turned, l, conf(:,c:c+2))
      do i = 1, 3
        velo(i,v) = velocity(l,i)
      end do
    end do
    do l = 1, count
      b = rows(l - 1)
      v = velo_ptr(b)
      do i = 1, 3
        momentum(i,b) = angular(l,i)
      end do
      if (kind(b) == obstacle_kind) cycle
      work = 0
      speed = 0
      do i = 1, 3
        work = work + (velo_prev(i,v) + velo(i,v))*(force(i,v) + reaction(i,v)) &
             + (velo_prev(i,v+1) + velo(i,v+1))*(force(i,v+1) + reaction(i,v+1))
        speed = speed + velo(i,v+1)*velo(i,v+1)
      end do
      energy(1,b) = rotational(l) + mass(b)/2*speed
      energy(3,b) = energy(3,b) + step/2*work
    end do
  end subroutine finish_rigid

  !> One of eight rotations to the columns of `conf`.
  pure subroutine put_rotation(turned, l, conf)
    real(dp), intent(in) :: turned(lanes,9)
    integer(i4), intent(in) :: l
    real(dp), intent(inout) :: conf(9)
    integer :: i

    do i = 1, 9
      conf(i) = turned(l,i)
    end do
  end subroutine put_rotation

  !> Columns of `conf` among eight rotations.
  pure subroutine get_rotation(conf, l, turned)
    real(dp), intent(in) :: conf(9)
    integer(i4), intent(in) :: l
    real(dp), intent(inout) :: turned(lanes,9)
    integer :: i

    do i = 1, 9
      turned(l,i) = conf(i)
    end do
  end subroutine get_rotation

  !> The lower triangle of a tensor, as 11, 22, 33, 12, 13, 23.
  pure subroutine gather_symmetric(tensor, l, inertia)
    real(dp), intent(in) :: tensor(9)
    integer(i4), intent(in) :: l
    real(dp), intent(inout) :: inertia(lanes,6)

    inertia(l,1) = tensor(1)
    inertia(l,2) = tensor(5)
    inertia(l,3) = tensor(9)
    inertia(l,4) = tensor(2)
    inertia(l,5) = tensor(3)
    inertia(l,6) = tensor(6)
  end subroutine gather_symmetric

  !> Whether no number is infinite or not a number, told from the bits so that checking builds do not trap.
  pure logical function all_finite(n, a)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(n)
    integer(i8) :: bad
    integer :: i

    bad = 0
    !$omp simd reduction(ior:bad)
    do i = 1, n       ! an exponent of ones only: adding one carries into bit 11
      bad = ior(bad, iand(shiftr(transfer(a(i), 0_i8), 52), 2047_i8) + 1)
    end do
    all_finite = .not. btest(bad, 11)
  end function all_finite

  !> Which of eight bodies have finite numbers only among theirs.
  pure subroutine find_finite(n, a, finite)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(lanes,n)
    logical, intent(inout) :: finite(lanes)
    integer :: l

    if (all_finite(lanes*n, a)) return
    do l = 1, lanes
      finite(l) = finite(l) .and. all_finite(n, a(l,:))
    end do
  end subroutine find_finite

end module rigid_motion
