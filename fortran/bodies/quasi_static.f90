!> Quasi-static motion of rigid bodies and obstacles, and of the nodes of finite elements: the velocity of a step is
!> h A^-1 (f + r), without memory of the one before, and moves the body for the whole step (theory, "Time integration"; manual,
!> SOLFEC).
!>
!> Columns of the body table and triples as in body_motion, the failures too; nodes as in finite_element_motion.  Kernels of
!> rigid bodies pass over deformable ones (quasi_static.py).
module quasi_static
  use kinds, only: dp, i4
  use matrix3, only: multiply, all_finite
  use rotation, only: exponential_map, orthogonality_error, nearest_rotation
  use velocity_operator, only: obstacle_kind, rigid_kind
  implicit none
  private
  public :: move_rigid, begin_rigid, finish_rigid, begin_nodes, finish_nodes

  integer(i4), parameter :: parallel_from = 500   !< bodies from which threads pay
  integer(i4), parameter :: parallel_nodes = 2000 !< the same of nodes
  real(dp), parameter :: orthogonality_limit = 1e-12_dp

contains

  !> force = 0, kinetic energies are 0.  If `loaded`: conf is `kept`, and x <- x + h v, R <- R exp[h W] with the velocities at
  !> hand, where loads at the end of the step are evaluated.
  subroutine move_rigid(n, triples, loaded, step, kind, conf_ptr, velo_ptr, kept, conf, velo, force, energy, failure, row, &
                        nb, nconf, nvelo)
    integer(i4), intent(in) :: n                  !< bodies in use
    integer(i4), intent(in) :: triples            !< velocity triples in use
    integer(i4), intent(in) :: loaded             !< 1: there are loads besides gravity
    integer(i4), intent(in) :: nb, nconf, nvelo
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(in) :: kind(0:nb-1), conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(inout) :: kept(3,0:nconf-1), conf(3,0:nconf-1)
    real(dp), intent(in) :: velo(3,0:nvelo-1)
    real(dp), intent(inout) :: force(3,0:nvelo-1), energy(6,0:nb-1)
    integer(i4), intent(out) :: failure, row
    integer(i4) :: b, c, v
    logical :: regular

    !$omp parallel do schedule(static) if(n > parallel_from)
    do v = 0, triples - 1
      force(:,v) = 0
    end do
    !$omp end parallel do
    row = huge(row)
    !$omp parallel do schedule(static) if(n > parallel_from) private(c, v, regular) reduction(min:row)
    do b = 0, n - 1
      energy(1,b) = 0
      if (kind(b) /= rigid_kind .and. kind(b) /= obstacle_kind) cycle
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (.not. (all_finite(4, conf(:,c:c+3)) .and. all_finite(2, velo(:,v:v+1)))) then
        row = min(row, b)
      else if (loaded == 1) then
        kept(:,c:c+3) = conf(:,c:c+3)
        call move(step, velo(:,v:v+1), conf(:,c:c+3), regular)
        if (.not. regular) row = min(row, b)
      end if
    end do
    !$omp end parallel do
    failure = merge(0, 8, row == huge(row))
    if (failure == 0) row = -1
  end subroutine move_rigid

  !> velo = h A^-1 (force + m gravity) of rigid bodies; obstacles keep the velocity that they were given; velo_prev = 0.  If
  !> `loaded`, conf is what was `kept`.  `deformable` is the number of other bodies.
  subroutine begin_rigid(n, loaded, step, gravity, kind, rotation_disabled, mass, conf_ptr, velo_ptr, inverse_inertia, kept, conf, &
                         velo, velo_prev, force, deformable, nb, nconf, nvelo)
    integer(i4), intent(in) :: n, loaded, nb, nconf, nvelo
    real(dp), intent(in) :: step
    real(dp), intent(in) :: gravity(3)            !< acceleration [length/time**2]
    integer(i4), intent(in) :: kind(0:nb-1), rotation_disabled(0:nb-1), conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: mass(0:nb-1)
    real(dp), intent(in) :: inverse_inertia(3,3,0:nvelo-1), kept(3,0:nconf-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1), velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1), force(3,0:nvelo-1)
    integer(i4), intent(out) :: deformable
    integer(i4) :: b, c, i, v

    deformable = 0
    !$omp parallel do schedule(static) if(n > parallel_from) private(c, i, v) reduction(+:deformable)
    do b = 0, n - 1
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
  end subroutine begin_rigid

  !> velo += h A^-1 reaction, conf(t+h) = conf(t) moved by h velo.
  subroutine finish_rigid(n, step, kind, conf_ptr, velo_ptr, inverse_inertia, reaction, conf, velo, failure, row, nb, nconf, nvelo)
    integer(i4), intent(in) :: n, nb, nconf, nvelo
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: kind(0:nb-1), conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: inverse_inertia(3,3,0:nvelo-1), reaction(3,0:nvelo-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1), velo(3,0:nvelo-1)
    integer(i4), intent(out) :: failure, row
    integer(i4) :: b, c, i, v
    logical :: regular

    row = huge(row)
    !$omp parallel do schedule(static) if(n > parallel_from) private(c, i, v, regular) reduction(min:row)
    do b = 0, n - 1
      if (kind(b) /= rigid_kind .and. kind(b) /= obstacle_kind) cycle
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (.not. all_finite(2, reaction(:,v:v+1))) then
        row = min(row, b)
        cycle
      end if
      do i = v, v + 1
        velo(:,i) = velo(:,i) + step*multiply(inverse_inertia(:,:,i), reaction(:,i))
      end do
      call move(step, velo(:,v:v+1), conf(:,c:c+3), regular)
      if (.not. regular) row = min(row, b)
    end do
    !$omp end parallel do
    failure = merge(0, 9, row == huge(row))
    if (failure == 0) row = -1
  end subroutine finish_rigid

  !> Nodes of finite elements start from rest: velo = velo_prev = 0.  `failed`: first body with displacements that are not finite.
  subroutine begin_nodes(bodies, nfirst, first, nnode, conf_row, velo_row, nconf, conf, nvelo, velo, velo_prev, failed)
    integer(i4), intent(in) :: bodies, nfirst, nnode, nconf, nvelo
    integer(i4), intent(in) :: first(0:nfirst-1), conf_row(0:nnode-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1)
    integer(i4), intent(out) :: failed
    integer :: b, k

    failed = huge(failed)
    !$omp parallel do schedule(static) if(nnode > parallel_nodes) private(k) reduction(min:failed)
    do b = 0, bodies - 1
      do k = first(b), first(b+1) - 1
        velo(:,velo_row(k)) = 0
        velo_prev(:,velo_row(k)) = 0
        if (.not. all_finite(1, conf(:,conf_row(k)))) failed = min(failed, b)
      end do
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
  end subroutine begin_nodes

  !> conf(t+h) = conf(t) + h velo of the nodes of finite elements.  `failed`: first body with velocities that are not finite.
  subroutine finish_nodes(bodies, step, nfirst, first, nnode, conf_row, velo_row, nconf, conf, nvelo, velo, failed)
    integer(i4), intent(in) :: bodies, nfirst, nnode, nconf, nvelo
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: first(0:nfirst-1), conf_row(0:nnode-1), velo_row(0:nnode-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1)
    real(dp), intent(in) :: velo(3,0:nvelo-1)
    integer(i4), intent(out) :: failed
    integer :: b, c, k, v

    failed = huge(failed)
    !$omp parallel do schedule(static) if(nnode > parallel_nodes) private(c, k, v) reduction(min:failed)
    do b = 0, bodies - 1
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
  end subroutine finish_nodes

  !> x <- x + h v, R <- R exp[h W] of one body.
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
