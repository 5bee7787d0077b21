!> Quasi-static motion of rigid bodies and obstacles: the velocity of a step is h A^-1 (f + r), without memory of the one
!> before, and moves the body for the whole step (theory, "Time integration"; manual, SOLFEC).
!>
!> Columns of the body table and triples as in body_motion, the failures too.  Deformable bodies are passed over
!> (quasi_static.py).
module quasi_static
  use kinds, only: dp, i4
  use matrix3, only: multiply, all_finite
  use rotation, only: exponential_map, orthogonality_error, nearest_rotation
  use velocity_operator, only: obstacle_kind, rigid_kind
  implicit none
  private
  public :: move_rigid, begin_rigid, finish_rigid

  integer(i4), parameter :: parallel_from = 500   !< bodies from which threads pay
  real(dp), parameter :: orthogonality_limit = 1e-12_dp

contains

  !> x <- x + h v, R <- R exp[h W] with the velocities at hand, where loads at the end of the step are evaluated.
  subroutine move_rigid(n, step, kind, conf_ptr, velo_ptr, conf, velo, failure, row, nb, nconf, nvelo)
    integer(i4), intent(in) :: n                  !< bodies in use
    integer(i4), intent(in) :: nb, nconf, nvelo
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(in) :: kind(0:nb-1), conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1)
    real(dp), intent(in) :: velo(3,0:nvelo-1)
    integer(i4), intent(out) :: failure, row
    integer(i4) :: b, c, v
    logical :: regular

    row = huge(row)
    !$omp parallel do schedule(static) if(n > parallel_from) private(c, v, regular) reduction(min:row)
    do b = 0, n - 1
      if (kind(b) /= rigid_kind .and. kind(b) /= obstacle_kind) cycle
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (all_finite(4, conf(:,c:c+3)) .and. all_finite(2, velo(:,v:v+1))) then
        call move(step, velo(:,v:v+1), conf(:,c:c+3), regular)
        if (regular) cycle
      end if
      row = min(row, b)
    end do
    !$omp end parallel do
    failure = merge(0, 8, row == huge(row))
    if (failure == 0) row = -1
  end subroutine move_rigid

  !> velo = h A^-1 (force + m gravity) of rigid bodies; obstacles keep the velocity that they were given; velo_prev = 0.
  !> `deformable` is the number of other bodies.
  subroutine begin_rigid(n, step, gravity, kind, rotation_disabled, mass, velo_ptr, inverse_inertia, velo, velo_prev, force, &
                         deformable, nb, nvelo)
    integer(i4), intent(in) :: n, nb, nvelo
    real(dp), intent(in) :: step
    real(dp), intent(in) :: gravity(3)            !< acceleration [length/time**2]
    integer(i4), intent(in) :: kind(0:nb-1), rotation_disabled(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: mass(0:nb-1)
    real(dp), intent(in) :: inverse_inertia(3,3,0:nvelo-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1), force(3,0:nvelo-1)
    integer(i4), intent(out) :: deformable
    integer(i4) :: b, i, v

    deformable = 0
    !$omp parallel do schedule(static) if(n > parallel_from) private(i, v) reduction(+:deformable)
    do b = 0, n - 1
      v = velo_ptr(b)
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
