!> Quasi-static motion of rigid bodies and obstacles, and of the nodes of finite elements: the velocity of a step is
!> h A^-1 (f + r), independent of the previous velocity, and moves the body for the whole step
!> (docs/theory.md, Time integration; docs/language-objects.md, SOLFEC).
!>
!> Handles are BodyTable.handles and that of FiniteElements; for failures see body_motion.  `failure`, or `status`, is `table_unknown` where
!> a handle is not that of such a table.  Kernels of rigid bodies skip deformable ones (quasi_static.py).
module quasi_static
  use kinds, only: dp, i4, i8
  use body_failures, only: not_finite, bad_reaction, report
  use body_state, only: element_bodies, bodies_and_triples, open_bodies, open_elements
  use table_registry, only: table_open
  use matrix3, only: multiply, all_finite
  use rotation, only: exponential_map, orthogonality_error, nearest_rotation
  use velocity_operator, only: obstacle_kind, rigid_kind
  implicit none
  private
  public :: move_rigid, begin_rigid, finish_rigid, begin_nodes, finish_nodes

  integer(i4), parameter :: parallel_from = 500   !< bodies from which threads pay
  integer(i4), parameter :: parallel_nodes = 2000 !< nodes from which threads pay
  real(dp), parameter :: orthogonality_limit = 1e-12_dp

contains

  !> Clears forces and kinetic energies.  If `loaded`: keeps conf in `kept` and moves bodies by their last velocities,
  !> x <- x + h v, R <- R exp[h W], so that loads can be evaluated at the end of the step.  Reads kind and velo, writes force, energy, kept and conf.
  subroutine move_rigid(handles, loaded, step, failure, row)
    integer(i8), intent(in) :: handles(3)
    integer(i4), intent(in) :: loaded             !< 1: there are loads besides gravity
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(out) :: failure, row
    type(bodies_and_triples) :: state
    integer(i4) :: b, c, first, v
    logical :: regular

    row = -1
    call open_bodies(handles, state, failure)
    if (failure /= table_open) return
    associate (kind => state%bodies%kind, conf_ptr => state%bodies%conf_ptr, velo_ptr => state%bodies%velo_ptr, &
               energy => state%bodies%energy, kept => state%configurations%kept, conf => state%configurations%conf, &
               velo => state%triples%velo, force => state%triples%force)
    !$omp parallel do schedule(static) if(state%n > parallel_from)
    do v = 0, int(state%triples%rows, i4) - 1
      force(:,v) = 0
    end do
    !$omp end parallel do
    first = huge(first)
    !$omp parallel do schedule(static) if(state%n > parallel_from) private(c, v, regular) reduction(min:first)
    do b = 0, state%n - 1
      energy(1,b) = 0
      if (kind(b) /= rigid_kind .and. kind(b) /= obstacle_kind) cycle
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (.not. (all_finite(4, conf(:,c:c+3)) .and. all_finite(2, velo(:,v:v+1)))) then
        first = min(first, b)
      else if (loaded == 1) then
        kept(:,c:c+3) = conf(:,c:c+3)
        call move(step, velo(:,v:v+1), conf(:,c:c+3), regular)
        if (.not. regular) first = min(first, b)
      end if
    end do
    !$omp end parallel do
    call report(first, not_finite, failure, row)
    end associate
  end subroutine move_rigid

  !> Computes velo = h A^-1 (force + m gravity) of rigid bodies; obstacles keep the user's velocity; velo_prev = 0.  If
  !> `loaded`, conf is restored from `kept`.  `deformable` is the number of other bodies.
  !> Reads kind, rotation_disabled, mass, inverse_inertia and kept, writes conf, velo, velo_prev and force.
  subroutine begin_rigid(handles, loaded, step, gravity, deformable, status)
    integer(i8), intent(in) :: handles(3)
    integer(i4), intent(in) :: loaded
    real(dp), intent(in) :: step
    real(dp), intent(in) :: gravity(3)            !< acceleration [length/time**2]
    integer(i4), intent(out) :: deformable, status
    type(bodies_and_triples) :: state
    integer(i4) :: b, c, i, v

    deformable = 0
    call open_bodies(handles, state, status)
    if (status /= table_open) return
    associate (kind => state%bodies%kind, rotation_disabled => state%bodies%rotation_disabled, mass => state%bodies%mass, &
               conf_ptr => state%bodies%conf_ptr, velo_ptr => state%bodies%velo_ptr, &
               inverse_inertia => state%triples%inverse_inertia, velo => state%triples%velo, &
               velo_prev => state%triples%velo_prev, force => state%triples%force, kept => state%configurations%kept, &
               conf => state%configurations%conf)
    deformable = 0
    !$omp parallel do schedule(static) if(state%n > parallel_from) private(c, i, v) reduction(+:deformable)
    do b = 0, state%n - 1
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (loaded == 1 .and. (kind(b) == rigid_kind .or. kind(b) == obstacle_kind)) conf(:,c:c+3) = kept(:,c:c+3)
      if (kind(b) == obstacle_kind) then
        velo_prev(:,v:v+1) = 0
        if (rotation_disabled(b) /= 0) velo(:,v) = 0
      else if (kind(b) == rigid_kind) then
        velo_prev(:,v:v+1) = 0
        force(:,v+1) = force(:,v+1) + mass(b)*gravity
        do i = v, v + 1
          velo(:,i) = step*multiply(inverse_inertia(:,:,i), force(:,i))
        end do
      else
        deformable = deformable + 1
      end if
    end do
    !$omp end parallel do
    end associate
  end subroutine begin_rigid

  !> Adds reactions, velo += h A^-1 reaction, and moves conf(t) by h velo to conf(t+h).  Reads kind and inverse_inertia.
  subroutine finish_rigid(handles, step, failure, row)
    integer(i8), intent(in) :: handles(3)
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: failure, row
    type(bodies_and_triples) :: state
    integer(i4) :: b, c, first, i, v
    logical :: regular

    row = -1
    call open_bodies(handles, state, failure)
    if (failure /= table_open) return
    associate (kind => state%bodies%kind, conf_ptr => state%bodies%conf_ptr, velo_ptr => state%bodies%velo_ptr, &
               inverse_inertia => state%triples%inverse_inertia, reaction => state%triples%reaction, &
               velo => state%triples%velo, conf => state%configurations%conf)
    first = huge(first)
    !$omp parallel do schedule(static) if(state%n > parallel_from) private(c, i, v, regular) reduction(min:first)
    do b = 0, state%n - 1
      if (kind(b) /= rigid_kind .and. kind(b) /= obstacle_kind) cycle
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (.not. all_finite(2, reaction(:,v:v+1))) then
        first = min(first, b)
        cycle
      end if
      do i = v, v + 1
        velo(:,i) = velo(:,i) + step*multiply(inverse_inertia(:,:,i), reaction(:,i))
      end do
      call move(step, velo(:,v:v+1), conf(:,c:c+3), regular)
      if (.not. regular) first = min(first, b)
    end do
    !$omp end parallel do
    call report(first, bad_reaction, failure, row)
    end associate
  end subroutine finish_rigid

  !> Sets nodes of finite elements to rest: velo = velo_prev = 0.  `failed`: first body with displacements that are not finite.
  subroutine begin_nodes(handles, elements, failed, status)
    integer(i8), intent(in) :: handles(3), elements
    integer(i4), intent(out) :: failed, status
    type(element_bodies) :: state
    integer :: b, k

    failed = -1
    call open_elements(handles, elements, state, status)
    if (status /= table_open) return
    associate (first => state%fe%first, conf_row => state%fe%conf_row, velo_row => state%fe%velo_row, &
               conf => state%configurations%conf, velo => state%triples%velo, velo_prev => state%triples%velo_prev)
    failed = huge(failed)
    !$omp parallel do schedule(static) if(size(conf_row) > parallel_nodes) private(k) reduction(min:failed)
    do b = 0, state%fe%count - 1
      do k = first(b), first(b+1) - 1
        velo(:,velo_row(k)) = 0
        velo_prev(:,velo_row(k)) = 0
        if (.not. all_finite(1, conf(:,conf_row(k)))) failed = min(failed, b)
      end do
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
    end associate
  end subroutine begin_nodes

  !> Moves the nodes of finite elements: conf(t+h) = conf(t) + h velo.  `failed`: first body with velocities that are not finite.
  subroutine finish_nodes(handles, elements, step, failed, status)
    integer(i8), intent(in) :: handles(3), elements
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: failed, status
    type(element_bodies) :: state
    integer :: b, c, k, v

    failed = -1
    call open_elements(handles, elements, state, status)
    if (status /= table_open) return
    associate (first => state%fe%first, conf_row => state%fe%conf_row, velo_row => state%fe%velo_row, &
               conf => state%configurations%conf, velo => state%triples%velo)
    failed = huge(failed)
    !$omp parallel do schedule(static) if(size(conf_row) > parallel_nodes) private(c, k, v) reduction(min:failed)
    do b = 0, state%fe%count - 1
      do k = first(b), first(b+1) - 1
        c = conf_row(k)
        v = velo_row(k)
        if (all_finite(1, velo(:,v))) then
          conf(:,c) = conf(:,c) + step*velo(:,v)
        else
          failed = min(failed, b)
        end if
      end do
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
    end associate
  end subroutine finish_nodes

  !> Moves one body: x <- x + h v, R <- R exp[h W].
  pure subroutine move(step, velo, conf, regular)
    real(dp), intent(in) :: step
    real(dp), intent(in) :: velo(3,2)
    real(dp), intent(inout) :: conf(3,4)
    logical, intent(out) :: regular               !< false: the rotation is not one
    real(dp) :: turn(3,3)

    regular = .true.
    conf(:,4) = conf(:,4) + step*velo(:,2)
    if (all(velo(:,1) == 0)) return
    call exponential_map(step*velo(:,1), turn)
    conf(:,1:3) = matmul(conf(:,1:3), turn)
    if (orthogonality_error(conf(:,1:3)) > orthogonality_limit) call nearest_rotation(conf(:,1:3), regular)
  end subroutine move

end module quasi_static
