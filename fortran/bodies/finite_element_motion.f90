!> One time step of the nodes of all finite element bodies: drift, kick, drift (theory, "Time integration").
!>
!> Nodes of all bodies are numbered through, those of a body together:
!>   bodies       number of finite element bodies
!>   first        (0:nfirst-1) first node of every body, and the number of nodes
!>   linear       (0:nbody-1) 1: co-rotated, form 'BC'; 0: form 'TL'
!>   conf_row, velo_row   (0:nnode-1) rows of a node in the tables of triples
!>   reference    (3,0:nnode-1) referential places [length]
!>   conf         (3,0:nconf-1) displacements; velo, velo_prev, force, reaction (3,0:nvelo-1) as in the body table
!> Vectors of co-rotated bodies are brought to the element kernels, and back, by the body's rotation (3,3,0:nbody-1).
module finite_element_motion
  use kinds, only: dp, i4
  use matrix3, only: all_finite, determinant, inverse
  implicit none
  private
  public :: drift_nodes, kick_nodes, finish_nodes, local_displacements, to_body_frame, to_space, polar_rotation

  integer, parameter :: parallel_from = 2000   !< nodes from which threads pay

contains

  !> conf(t+h/2) = conf(t) + h/2 u(t);  velo_prev = u(t);  force = 0.  `failed`: first body with numbers that are not finite.
  subroutine drift_nodes(step, bodies, nfirst, first, nnode, conf_row, velo_row, nconf, conf, nvelo, velo, velo_prev, force, failed)
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(in) :: bodies, nfirst, nnode, nconf, nvelo
    integer(i4), intent(in) :: first(0:nfirst-1), conf_row(0:nnode-1), velo_row(0:nnode-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1), velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1), force(3,0:nvelo-1)
    integer(i4), intent(out) :: failed
    integer :: b, c, n, v
    logical :: finite

    failed = huge(failed)
    !$omp parallel do if (nnode > parallel_from) schedule(dynamic) private(c, n, v, finite) reduction(min:failed)
    do b = 0, bodies - 1
      finite = .true.
      do n = first(b), first(b+1) - 1
        c = conf_row(n)
        v = velo_row(n)
        if (.not. (all_finite(1, conf(:,c)) .and. all_finite(1, velo(:,v)))) then
          finite = .false.
          cycle
        end if
        velo_prev(:,v) = velo(:,v)
        force(:,v) = 0
        conf(:,c) = conf(:,c) + step/2*velo(:,v)
      end do
      if (.not. finite) failed = min(failed, b)
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
  end subroutine drift_nodes

  !> The bodies' rotations and the displacements that the element kernels see: q, or R^T (X + q) - X where co-rotated.
  !> R is the rotation of the polar decomposition of the sum of x_a n_a^T, `normal` (3,0:nnode-1) being the integrals of
  !> N_a times the referential normal over the boundary [length**2].  `failed`: first body that is turned inside out.
  subroutine local_displacements(bodies, nbody, linear, nfirst, first, nnode, conf_row, reference, normal, nconf, conf, &
                                 rotation, displacement, failed)
    integer(i4), intent(in) :: bodies, nbody, nfirst, nnode, nconf
    integer(i4), intent(in) :: linear(0:nbody-1), first(0:nfirst-1), conf_row(0:nnode-1)
    real(dp), intent(in) :: reference(3,0:nnode-1), normal(3,0:nnode-1), conf(3,0:nconf-1)
    real(dp), intent(inout) :: rotation(3,3,0:nbody-1), displacement(3,0:nnode-1)
    integer(i4), intent(out) :: failed
    real(dp) :: gradient(3,3), x(3)
    integer :: b, j, n
    logical :: proper

    failed = huge(failed)
    !$omp parallel do if (nnode > parallel_from) schedule(dynamic) private(gradient, x, j, n, proper) reduction(min:failed)
    do b = 0, bodies - 1
      if (linear(b) == 0) then
        do n = first(b), first(b+1) - 1
          displacement(:,n) = conf(:,conf_row(n))
        end do
        cycle
      end if
      gradient = 0
      do n = first(b), first(b+1) - 1
        x = reference(:,n) + conf(:,conf_row(n))
        do j = 1, 3
          gradient(:,j) = gradient(:,j) + x*normal(j,n)
        end do
      end do
      call polar_rotation(gradient, rotation(:,:,b), proper)
      if (.not. proper) then
        failed = min(failed, b)
        cycle
      end if
      do n = first(b), first(b+1) - 1
        x = reference(:,n) + conf(:,conf_row(n))
        displacement(:,n) = matmul(x, rotation(:,:,b)) - reference(:,n)
      end do
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
  end subroutine local_displacements

  !> R of F = R U by Newton's iteration R <- (R + R^-T)/2 with scaling.
  pure subroutine polar_rotation(gradient, rotation, proper)
    real(dp), intent(in) :: gradient(3,3)
    real(dp), intent(inout) :: rotation(3,3)
    logical, intent(out) :: proper
    real(dp) :: old(3,3), opposite(3,3), factor
    integer :: iteration

    proper = determinant(gradient) > 0
    if (.not. proper) return
    rotation = gradient
    do iteration = 1, 50
      old = rotation
      opposite = transpose(inverse(old))
      factor = sqrt(norm2(opposite)/norm2(old))
      rotation = (factor*old + opposite/factor)/2
      if (maxval(abs(rotation - old)) <= 4*epsilon(1.0_dp)) exit
    end do
  end subroutine polar_rotation

  !> R^T v of co-rotated bodies' nodes and v of the others, from rows of a table of triples to nodes.
  subroutine to_body_frame(bodies, nbody, linear, nfirst, first, nnode, row, rotation, ntable, table, vector)
    integer(i4), intent(in) :: bodies, nbody, nfirst, nnode, ntable
    integer(i4), intent(in) :: linear(0:nbody-1), first(0:nfirst-1), row(0:nnode-1)
    real(dp), intent(in) :: rotation(3,3,0:nbody-1), table(3,0:ntable-1)
    real(dp), intent(inout) :: vector(3,0:nnode-1)
    integer :: b, n

    do b = 0, bodies - 1
      do n = first(b), first(b+1) - 1
        if (linear(b) == 1) then
          vector(:,n) = matmul(table(:,row(n)), rotation(:,:,b))
        else
          vector(:,n) = table(:,row(n))
        end if
      end do
    end do
  end subroutine to_body_frame

  !> R v of co-rotated bodies' nodes, in place.
  subroutine to_space(bodies, nbody, linear, nfirst, first, nnode, rotation, vector)
    integer(i4), intent(in) :: bodies, nbody, nfirst, nnode
    integer(i4), intent(in) :: linear(0:nbody-1), first(0:nfirst-1)
    real(dp), intent(in) :: rotation(3,3,0:nbody-1)
    real(dp), intent(inout) :: vector(3,0:nnode-1)
    integer :: b, n

    do b = 0, bodies - 1
      if (linear(b) == 0) cycle
      do n = first(b), first(b+1) - 1
        vector(:,n) = matmul(rotation(:,:,b), vector(:,n))
      end do
    end do
  end subroutine to_space

  !> net = force + m gravity - internal - damping * viscous; force takes gravity up; u* = u(t) + h/m net of explicit bodies.
  subroutine kick_nodes(step, gravity, bodies, nbody, explicit, damping, nfirst, first, nnode, velo_row, mass, internal, viscous, &
                        nvelo, velo, force, net)
    real(dp), intent(in) :: step, gravity(3)
    integer(i4), intent(in) :: bodies, nbody, nfirst, nnode, nvelo
    integer(i4), intent(in) :: explicit(0:nbody-1) !< 1: scheme DEF_EXP
    real(dp), intent(in) :: damping(0:nbody-1)    !< eta: the damping force is eta K u(t) [time]
    integer(i4), intent(in) :: first(0:nfirst-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: mass(0:nnode-1), internal(3,0:nnode-1)
    real(dp), intent(in) :: viscous(3,0:nnode-1)  !< K u(t), used where damping is positive
    real(dp), intent(inout) :: velo(3,0:nvelo-1), force(3,0:nvelo-1), net(3,0:nnode-1)
    integer :: b, n, v

    !$omp parallel do if (nnode > parallel_from) schedule(dynamic) private(n, v)
    do b = 0, bodies - 1
      do n = first(b), first(b+1) - 1
        v = velo_row(n)
        force(:,v) = force(:,v) + mass(n)*gravity
        net(:,n) = force(:,v) - internal(:,n)
        if (damping(b) > 0) net(:,n) = net(:,n) - damping(b)*viscous(:,n)
        if (explicit(b) == 1) velo(:,v) = velo(:,v) + step/mass(n)*net(:,n)
      end do
    end do
    !$omp end parallel do
  end subroutine kick_nodes

  !> u(t+h) = u* + h/m r of explicit bodies (that of the others is there already); conf(t+h); kinetic energy and the work
  !> of applied forces and reactions (both 0:nbody-1) of every body.  `failed`: first body whose velocity is not finite.
  subroutine finish_nodes(step, bodies, nbody, explicit, nfirst, first, nnode, conf_row, velo_row, mass, nconf, conf, &
                          nvelo, velo, velo_prev, force, reaction, kinetic, work, failed)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: bodies, nbody, nfirst, nnode, nconf, nvelo
    integer(i4), intent(in) :: explicit(0:nbody-1), first(0:nfirst-1), conf_row(0:nnode-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: mass(0:nnode-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1), velo(3,0:nvelo-1)
    real(dp), intent(in) :: velo_prev(3,0:nvelo-1), force(3,0:nvelo-1), reaction(3,0:nvelo-1)
    real(dp), intent(inout) :: kinetic(0:nbody-1), work(0:nbody-1)
    integer(i4), intent(out) :: failed
    integer :: b, c, n, v
    logical :: finite

    failed = huge(failed)
    !$omp parallel do if (nnode > parallel_from) schedule(dynamic) private(c, n, v, finite) reduction(min:failed)
    do b = 0, bodies - 1
      kinetic(b) = 0
      work(b) = 0
      finite = .true.
      do n = first(b), first(b+1) - 1
        c = conf_row(n)
        v = velo_row(n)
        if (explicit(b) == 1) velo(:,v) = velo(:,v) + step/mass(n)*reaction(:,v)
        if (.not. all_finite(1, velo(:,v))) then
          finite = .false.
          cycle
        end if
        conf(:,c) = conf(:,c) + step/2*velo(:,v)
        kinetic(b) = kinetic(b) + mass(n)/2*sum(velo(:,v)**2)
        work(b) = work(b) + step/2*sum((velo_prev(:,v) + velo(:,v))*(force(:,v) + reaction(:,v)))
      end do
      if (.not. finite) failed = min(failed, b)
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
  end subroutine finish_nodes

end module finite_element_motion
