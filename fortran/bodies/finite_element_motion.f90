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
  use kind_numbers, only: explicit_scheme => scheme_def_exp
  use matrix3, only: all_finite, determinant, inverse
  use element_blocks, only: gather_nodes
  implicit none
  private
  public :: materials_changed, drift, kick, damped_velocities, add_dissipation, finish
  public :: local_displacements, to_body_frame, polar_rotation

  integer(i4), parameter :: turned_inside_out = 5, not_finite = 8, bad_reaction = 9      !< failures as in body_motion
  integer, parameter :: parallel_from = 2000   !< nodes from which threads pay

contains

  !> Number of finite element bodies that have other columns of the body table than those known (known_* (..,0:nbody-1)).
  subroutine materials_changed(bodies, nbody, row, nb, lame, mass, volume, form, law, enhanced, known_lame, known_mass, &
                               known_volume, known_form, known_law, known_enhanced, changed)
    integer(i4), intent(in) :: bodies, nbody, nb
    integer(i4), intent(in) :: row(0:nbody-1), form(0:nb-1), law(0:nb-1), enhanced(0:nb-1)
    real(dp), intent(in) :: lame(2,0:nb-1), mass(0:nb-1), volume(0:nb-1)
    real(dp), intent(in) :: known_lame(2,0:nbody-1), known_mass(0:nbody-1), known_volume(0:nbody-1)
    integer(i4), intent(in) :: known_form(0:nbody-1), known_law(0:nbody-1), known_enhanced(0:nbody-1)
    integer(i4), intent(out) :: changed
    integer :: b, k

    changed = 0
    do b = 0, bodies - 1
      k = row(b)
      if (any(lame(:,k) /= known_lame(:,b)) .or. mass(k) /= known_mass(b) .or. volume(k) /= known_volume(b) .or. &
          form(k) /= known_form(b) .or. law(k) /= known_law(b) .or. enhanced(k) /= known_enhanced(b)) changed = changed + 1
    end do
  end subroutine materials_changed

  !> conf(t+h/2) = conf(t) + h/2 u(t);  velo_prev = u(t);  force = 0; then `local_displacements`.
  !>
  !>   row        (0:nbody-1) rows of the bodies in the body table; body_damping (0:nb-1) eta there
  !>   passive    (0:nbody-1) 1: the body moves in a base, which sees to its damping
  !>   damped     1: some other body has damping
  !>   failure, failed   what went wrong (numbers not finite, turned inside out) with the first body `failed`; 0, -1: nothing
  subroutine drift(step, bodies, nbody, linear, nfirst, first, row, passive, nnode, conf_row, velo_row, reference, normal, nb, &
                   body_damping, nconf, conf, nvelo, velo, velo_prev, force, rotation, displacement, damped, failure, failed)
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(in) :: bodies, nbody, nfirst, nnode, nb, nconf, nvelo
    integer(i4), intent(in) :: linear(0:nbody-1), first(0:nfirst-1), row(0:nbody-1), passive(0:nbody-1)
    integer(i4), intent(in) :: conf_row(0:nnode-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: reference(3,0:nnode-1), normal(3,0:nnode-1), body_damping(0:nb-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1), velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1), force(3,0:nvelo-1)
    real(dp), intent(inout) :: rotation(3,3,0:nbody-1), displacement(3,0:nnode-1)
    integer(i4), intent(out) :: damped, failure, failed
    integer :: b, c, n, v
    logical :: finite

    damped = 0
    do b = 0, bodies - 1
      if (passive(b) == 0 .and. body_damping(row(b)) > 0) damped = 1
    end do
    failure = 0
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
    if (failed < huge(failed)) then
      failure = not_finite
      return
    end if
    call local_displacements(bodies, nbody, linear, nfirst, first, nnode, conf_row, reference, normal, nconf, conf, rotation, &
                             displacement, failed)
    if (failed >= 0) failure = turned_inside_out
  end subroutine drift

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

  !> net = force + m gravity - internal - eta K u(t); force takes gravity up; u* = u(t) + h/m net of explicit bodies.
  !>
  !>   damped                 1: K u(t) is in `viscous` (3,0:nnode-1), in the bodies' frames; 0: no body has damping
  !>   row, scheme, body_damping   rows of the bodies (0:nbody-1) in columns of the body table (0:nb-1)
  !>   passive                (0:nbody-1) 1: the body moves in a base, which sees to its damping
  !>   flat_first, position, flat   internal forces of elements and their places, as for `gather_nodes`
  !>   internal               (3,0:nnode-1) out: internal forces in the bodies' frames
  subroutine kick(step, gravity, damped, bodies, nbody, linear, nfirst, first, row, passive, nb, scheme, body_damping, nnode, &
                  velo_row, mass, rotation, nptr, flat_first, nposition, position, nflat, flat, viscous, internal, &
                  nvelo, velo, force, net)
    real(dp), intent(in) :: step, gravity(3)
    integer(i4), intent(in) :: damped, bodies, nbody, nfirst, nb, nnode, nptr, nposition, nflat, nvelo
    integer(i4), intent(in) :: linear(0:nbody-1), first(0:nfirst-1), row(0:nbody-1), passive(0:nbody-1), scheme(0:nb-1)
    real(dp), intent(in) :: body_damping(0:nb-1)
    integer(i4), intent(in) :: velo_row(0:nnode-1), flat_first(0:nptr-1), position(0:nposition-1)
    real(dp), intent(in) :: mass(0:nnode-1), rotation(3,3,0:nbody-1), flat(0:nflat-1), viscous(3,0:nnode-1)
    real(dp), intent(inout) :: internal(3,0:nnode-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1), force(3,0:nvelo-1), net(3,0:nnode-1)
    real(dp) :: eta, resisting(3)
    integer :: b, n, v
    logical :: explicit

    call gather_nodes(nnode, nptr, flat_first, nposition, position, nflat, flat, internal)
    !$omp parallel do if (nnode > parallel_from) schedule(dynamic) private(n, v, eta, resisting, explicit)
    do b = 0, bodies - 1
      eta = 0
      if (damped == 1 .and. passive(b) == 0) eta = body_damping(row(b))
      explicit = scheme(row(b)) == explicit_scheme
      do n = first(b), first(b+1) - 1
        v = velo_row(n)
        resisting = internal(:,n)
        if (eta > 0) resisting = resisting + eta*viscous(:,n)
        if (linear(b) == 1) resisting = matmul(rotation(:,:,b), resisting)
        force(:,v) = force(:,v) + mass(n)*gravity
        net(:,n) = force(:,v) - resisting
        if (explicit) velo(:,v) = velo(:,v) + step/mass(n)*net(:,n)
      end do
    end do
    !$omp end parallel do
  end subroutine kick

  !> The velocities on which damping acts, in the bodies' frames of mid-step, into `vector` (3,0:nnode-1): u(t) of explicit bodies,
  !> (u(t) + u(t+h))/2 of the others, whose `velo` holds u(t+h).
  subroutine damped_velocities(bodies, nbody, linear, nfirst, first, row, passive, nb, scheme, body_damping, nnode, velo_row, &
                               rotation, nvelo, velo_prev, velo, vector)
    integer(i4), intent(in) :: bodies, nbody, nfirst, nb, nnode, nvelo
    integer(i4), intent(in) :: linear(0:nbody-1), first(0:nfirst-1), row(0:nbody-1), passive(0:nbody-1), scheme(0:nb-1)
    integer(i4), intent(in) :: velo_row(0:nnode-1)
    real(dp), intent(in) :: body_damping(0:nb-1), rotation(3,3,0:nbody-1), velo_prev(3,0:nvelo-1), velo(3,0:nvelo-1)
    real(dp), intent(inout) :: vector(3,0:nnode-1)
    real(dp) :: mean(3)
    integer :: b, n, v

    !$omp parallel do if (nnode > parallel_from) schedule(dynamic) private(n, v, mean)
    do b = 0, bodies - 1
      do n = first(b), first(b+1) - 1
        v = velo_row(n)
        mean = 0
        if (passive(b) == 0 .and. body_damping(row(b)) > 0) then
          mean = velo_prev(:,v)
          if (scheme(row(b)) /= explicit_scheme) mean = (mean + velo(:,v))/2
        end if
        if (linear(b) == 1) mean = matmul(mean, rotation(:,:,b))
        vector(:,n) = mean
      end do
    end do
    !$omp end parallel do
  end subroutine damped_velocities

  !> energy(6) += h/2 (u(t) + u(t+h)) . eta viscous, `viscous` (3,0:nnode-1) being K times the `vector` of damped_velocities, in the
  !> bodies' frames; u(t+h) of explicit bodies is u* + h/m r.
  subroutine add_dissipation(step, bodies, nbody, linear, nfirst, first, row, passive, nb, scheme, body_damping, nnode, velo_row, &
                             rotation, nvelo, velo_prev, velo, vector, viscous, mass, reaction, energy)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: bodies, nbody, nfirst, nb, nnode, nvelo
    integer(i4), intent(in) :: linear(0:nbody-1), first(0:nfirst-1), row(0:nbody-1), passive(0:nbody-1), scheme(0:nb-1)
    integer(i4), intent(in) :: velo_row(0:nnode-1)
    real(dp), intent(in) :: body_damping(0:nb-1), rotation(3,3,0:nbody-1), velo_prev(3,0:nvelo-1), velo(3,0:nvelo-1)
    real(dp), intent(in) :: vector(3,0:nnode-1), viscous(3,0:nnode-1), mass(0:nnode-1), reaction(3,0:nvelo-1)
    real(dp), intent(inout) :: energy(6,0:nb-1)
    real(dp) :: mean(3), work
    integer :: b, n, v

    !$omp parallel do if (nnode > parallel_from) schedule(dynamic) private(n, v, mean, work)
    do b = 0, bodies - 1
      if (passive(b) == 1 .or. .not. body_damping(row(b)) > 0) cycle
      work = 0
      do n = first(b), first(b+1) - 1
        mean = vector(:,n)
        if (scheme(row(b)) == explicit_scheme) then
          v = velo_row(n)
          mean = (velo_prev(:,v) + velo(:,v) + step/mass(n)*reaction(:,v))/2
          if (linear(b) == 1) mean = matmul(mean, rotation(:,:,b))
        end if
        work = work + dot_product(mean, viscous(:,n))
      end do
      energy(6,row(b)) = energy(6,row(b)) + step*body_damping(row(b))*work
    end do
    !$omp end parallel do
  end subroutine add_dissipation

  !> u(t+h) = u* + h/m r of explicit bodies (that of the others is there already); conf(t+h); `local_displacements`; KINETIC
  !> (1) and EXTERNAL (3) energy, which grows by the work of applied forces and reactions.
  !>
  !>   row, scheme, energy   rows of the bodies (0:nbody-1) in columns of the body table (0:nb-1), (5,0:nb-1)
  !>   failure, failed       what went wrong (velocities not finite, turned inside out) with the first body `failed`; 0, -1
  subroutine finish(step, bodies, nbody, linear, nfirst, first, row, nb, scheme, energy, nnode, conf_row, velo_row, mass, &
                    reference, normal, nconf, conf, nvelo, velo, velo_prev, force, reaction, rotation, displacement, &
                    failure, failed)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: bodies, nbody, nfirst, nb, nnode, nconf, nvelo
    integer(i4), intent(in) :: linear(0:nbody-1), first(0:nfirst-1), row(0:nbody-1), scheme(0:nb-1)
    integer(i4), intent(in) :: conf_row(0:nnode-1), velo_row(0:nnode-1)
    real(dp), intent(inout) :: energy(6,0:nb-1)
    real(dp), intent(in) :: mass(0:nnode-1), reference(3,0:nnode-1), normal(3,0:nnode-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1), velo(3,0:nvelo-1)
    real(dp), intent(in) :: velo_prev(3,0:nvelo-1), force(3,0:nvelo-1), reaction(3,0:nvelo-1)
    real(dp), intent(inout) :: rotation(3,3,0:nbody-1), displacement(3,0:nnode-1)
    integer(i4), intent(out) :: failure, failed
    real(dp) :: kinetic, work
    integer :: b, c, n, v
    logical :: finite, explicit

    failure = 0
    failed = huge(failed)
    !$omp parallel do if (nnode > parallel_from) schedule(dynamic) private(c, n, v, finite, explicit, kinetic, work) &
    !$omp reduction(min:failed)
    do b = 0, bodies - 1
      kinetic = 0
      work = 0
      finite = .true.
      explicit = scheme(row(b)) == explicit_scheme
      do n = first(b), first(b+1) - 1
        c = conf_row(n)
        v = velo_row(n)
        if (explicit) velo(:,v) = velo(:,v) + step/mass(n)*reaction(:,v)
        if (.not. all_finite(1, velo(:,v))) then
          finite = .false.
          cycle
        end if
        conf(:,c) = conf(:,c) + step/2*velo(:,v)
        kinetic = kinetic + mass(n)/2*sum(velo(:,v)**2)
        work = work + step/2*sum((velo_prev(:,v) + velo(:,v))*(force(:,v) + reaction(:,v)))
      end do
      energy(1,row(b)) = kinetic
      energy(3,row(b)) = energy(3,row(b)) + work
      if (.not. finite) failed = min(failed, b)
    end do
    !$omp end parallel do
    if (failed < huge(failed)) then
      failure = bad_reaction
      return
    end if
    call local_displacements(bodies, nbody, linear, nfirst, first, nnode, conf_row, reference, normal, nconf, conf, rotation, &
                             displacement, failed)
    if (failed >= 0) failure = turned_inside_out
  end subroutine finish

end module finite_element_motion
