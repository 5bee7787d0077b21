!> One time step of the nodes of all finite element bodies: drift, kick, drift (docs/theory.md, Time integration).
!>
!> Handles are BodyTable.handles and those of FiniteElements and its ElementAssembly.  Nodes of all bodies are numbered consecutively,
!> body by body.  Vectors of co-rotated bodies are rotated into the body's frame for the element kernels, and back.
!> `failure` is `table_unknown` where a handle is not that of such a table.
module finite_element_motion
  use kinds, only: dp, i4, i8
  use kind_numbers, only: explicit_scheme => scheme_def_exp
  use body_failures, only: turned_inside_out, not_finite, bad_reaction
  use body_state, only: element_bodies, open_elements
  use state_tables, only: element_assembly, finite_elements, open_table
  use table_registry, only: table_open
  use matrix3, only: all_finite, determinant, inverse
  use element_blocks, only: gather_nodes
  implicit none
  private
  public :: materials_changed, drift, kick, damped_velocities, add_dissipation, finish
  public :: local_displacements, seen_displacements, to_body_frame, polar_rotation

  integer, parameter :: parallel_from = 2000   !< nodes from which threads pay

contains

  !> Counts finite element bodies whose columns in the body table have changed since they were compiled.
  !>
  !> Reads lame, mass, volume, form, law and enhanced of bodies and known_* of elements.
  subroutine materials_changed(handles, elements, changed, failure)
    integer(i8), intent(in) :: handles(3), elements
    integer(i4), intent(out) :: changed, failure
    type(element_bodies) :: state
    integer :: b, k

    changed = 0
    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    associate (row => state%fe%row, lame => state%bodies%lame, mass => state%bodies%mass, volume => state%bodies%volume, &
               form => state%bodies%form, law => state%bodies%law, enhanced => state%bodies%enhanced, &
               known_lame => state%fe%known_lame, known_mass => state%fe%known_mass, known_volume => state%fe%known_volume, &
               known_form => state%fe%known_form, known_law => state%fe%known_law, known_enhanced => state%fe%known_enhanced)
    do b = 0, state%fe%count - 1
      k = row(b)
      if (any(lame(:,k) /= known_lame(:,b)) .or. mass(k) /= known_mass(b) .or. volume(k) /= known_volume(b) .or. &
          form(k) /= known_form(b) .or. law(k) /= known_law(b) .or. enhanced(k) /= known_enhanced(b)) changed = changed + 1
    end do
    end associate
  end subroutine materials_changed

  !> Moves nodes to mid-step: conf(t+h/2) = conf(t) + h/2 u(t), velo_prev = u(t), force = 0; then `local_displacements`.
  !>
  !> Reads damping of bodies, and of elements linear, first, row, passive, conf_row, velo_row, reference and normal; writes conf,
  !> velo_prev, force, rotation and displacement.
  !>
  !>   damped     1: some body has damping, apart from bodies in a base, which treat damping themselves
  !>   failure, failed   failure (numbers not finite, turned inside out) of the first body `failed`; 0, -1: none
  subroutine drift(handles, elements, step, damped, failure, failed)
    integer(i8), intent(in) :: handles(3), elements
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(out) :: damped, failure, failed
    type(element_bodies) :: state
    integer :: b
    logical :: finite

    damped = 0
    failed = -1
    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    do b = 0, state%fe%count - 1
      if (state%fe%passive(b) == 0 .and. state%bodies%damping(state%fe%row(b)) > 0) damped = 1
    end do
    failed = huge(failed)
    !$omp parallel do if (size(state%fe%conf_row) > parallel_from) schedule(dynamic) private(finite) reduction(min:failed)
    do b = 0, state%fe%count - 1
      call drift_nodes(state%fe%first(b), state%fe%first(b+1) - 1, step, state%fe%conf_row, state%fe%velo_row, &
                       state%configurations%conf, state%triples%velo, state%triples%velo_prev, state%triples%force, finite)
      if (.not. finite) failed = min(failed, b)
    end do
    !$omp end parallel do
    call follow_nodes(not_finite, state, failure, failed)
  end subroutine drift

  !> Ends a half of the motion: reports the first body whose numbers failed, if `failed` is one, else computes rotations and displacements.
  subroutine follow_nodes(trouble, state, failure, failed)
    integer(i4), intent(in) :: trouble            !< the failure of a body whose numbers failed
    type(element_bodies), intent(in) :: state
    integer(i4), intent(inout) :: failure
    integer(i4), intent(inout) :: failed          !< a body, or huge(failed); out: a body, or -1

    if (failed < huge(failed)) then
      failure = trouble
      return
    end if
    call co_rotate(state%fe, 0, state%configurations%conf, state%fe%linear, state%fe%rotation, state%fe%displacement, failed)
    if (failed >= 0) failure = turned_inside_out
  end subroutine follow_nodes

  !> Moves the nodes first to last of one body.  Columns are separate arguments: the compiler has no
  !> strides of a table's pointers.
  pure subroutine drift_nodes(first, last, step, conf_row, velo_row, conf, velo, velo_prev, force, finite)
    integer, intent(in) :: first, last
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: conf_row(0:*), velo_row(0:*)
    real(dp), intent(inout) :: conf(3,0:*), velo_prev(3,0:*), force(3,0:*)
    real(dp), intent(in) :: velo(3,0:*)
    logical, intent(out) :: finite
    integer :: n, c, v

    finite = .true.
    do n = first, last
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
  end subroutine drift_nodes

  !> Calls `co_rotate` for the bodies from number `from` on by their forms.
  !>
  !> Reads conf, and of elements linear, first, conf_row, reference and normal; writes rotation and displacement.
  subroutine local_displacements(handles, elements, from, failure, failed)
    integer(i8), intent(in) :: handles(3), elements
    integer(i4), intent(in) :: from
    integer(i4), intent(out) :: failure, failed
    type(element_bodies) :: state

    failed = -1
    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    call co_rotate(state%fe, from, state%configurations%conf, state%fe%linear, state%fe%rotation, state%fe%displacement, failed)
    if (failed >= 0) failure = turned_inside_out
  end subroutine local_displacements

  !> Calls `co_rotate` with marks, rotations and displacements of the caller instead of the table's.
  !>
  !>   linear         (0:nbody-1) 1: in the body's rotated frame; other columns: see local_displacements
  subroutine seen_displacements(handles, elements, linear, rotation, displacement, failure, failed, nbody, nnode)
    integer(i8), intent(in) :: handles(3), elements
    integer(i4), intent(in) :: nbody, nnode
    integer(i4), intent(in) :: linear(0:nbody-1)
    real(dp), intent(inout) :: rotation(3,3,0:nbody-1), displacement(3,0:nnode-1)
    integer(i4), intent(out) :: failure, failed
    type(element_bodies) :: state

    failed = -1
    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    call co_rotate(state%fe, 0, state%configurations%conf, linear, rotation, displacement, failed)
  end subroutine seen_displacements

  !> Computes rotations and the displacements for the element kernels of the bodies from number `from` on: q, or R^T (X + q) - X
  !> where co-rotated.  R is the rotation of the polar decomposition of the sum of x_a n_a^T, with `normal` n_a the integral of N_a
  !> times the referential normal over the boundary [length**2].  `failed`: first body that is turned inside out.
  subroutine co_rotate(fe, from, conf, linear, rotation, displacement, failed)
    type(finite_elements), intent(in) :: fe
    integer, intent(in) :: from
    real(dp), intent(in) :: conf(3,0:*)
    integer(i4), intent(in) :: linear(0:*)              !< 1: co-rotated
    real(dp), intent(inout) :: rotation(3,3,0:*), displacement(3,0:*)
    integer(i4), intent(out) :: failed
    integer :: b
    logical :: proper

    failed = huge(failed)
    !$omp parallel do if (size(fe%conf_row) > parallel_from) schedule(dynamic) private(proper) reduction(min:failed)
    do b = from, fe%count - 1
      call co_rotate_nodes(fe%first(b), fe%first(b+1) - 1, linear(b) /= 0, fe%conf_row, conf, fe%reference, fe%normal, &
                           rotation(:,:,b), displacement, proper)
      if (.not. proper) failed = min(failed, b)
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
  end subroutine co_rotate

  !> Computes rotation and displacements of one body with the nodes first to last.
  pure subroutine co_rotate_nodes(first, last, linear, conf_row, conf, reference, normal, rotation, displacement, proper)
    integer, intent(in) :: first, last
    logical, intent(in) :: linear
    integer(i4), intent(in) :: conf_row(0:*)
    real(dp), intent(in) :: conf(3,0:*), reference(3,0:*), normal(3,0:*)
    real(dp), intent(inout) :: rotation(3,3), displacement(3,0:*)
    logical, intent(out) :: proper
    real(dp) :: gradient(3,3), x(3)
    integer :: j, n

    proper = .true.
    if (.not. linear) then
      do n = first, last
        displacement(:,n) = conf(:,conf_row(n))
      end do
      return
    end if
    gradient = 0
    do n = first, last
      x = reference(:,n) + conf(:,conf_row(n))
      do j = 1, 3
        gradient(:,j) = gradient(:,j) + x*normal(j,n)
      end do
    end do
    call polar_rotation(gradient, rotation, proper)
    if (.not. proper) return
    do n = first, last
      x = reference(:,n) + conf(:,conf_row(n))
      displacement(:,n) = matmul(x, rotation) - reference(:,n)
    end do
  end subroutine co_rotate_nodes

  !> Computes R of F = R U by Newton's iteration R <- (R + R^-T)/2 with scaling.
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

  !> Writes velocities of nodes in the bodies' frames, R^T v where co-rotated, to net.
  !>
  !> Reads velo, and of elements linear, first, velo_row and rotation; writes net.
  subroutine to_body_frame(handles, elements, failure)
    integer(i8), intent(in) :: handles(3), elements
    integer(i4), intent(out) :: failure
    type(element_bodies) :: state
    integer :: b, n

    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    associate (linear => state%fe%linear, first => state%fe%first, velo_row => state%fe%velo_row, rotation => state%fe%rotation, &
               velo => state%triples%velo, vector => state%fe%net)
    do b = 0, state%fe%count - 1
      do n = first(b), first(b+1) - 1
        if (linear(b) == 1) then
          vector(:,n) = matmul(velo(:,velo_row(n)), rotation(:,:,b))
        else
          vector(:,n) = velo(:,velo_row(n))
        end if
      end do
    end do
    end associate
  end subroutine to_body_frame

  !> Computes net = force + m gravity - internal - eta K u(t); adds gravity to force; u* = u(t) + h/m net of explicit bodies.
  !>
  !> Reads scheme and damping of bodies, of elements linear, first, row, passive, velo_row, mass, rotation and viscous, and the elements'
  !> forces in the assembly; writes velo, force, internal and net.
  !>
  !>   damped     1: K u(t) is in `viscous`, in the bodies' frames; 0: no body has damping
  subroutine kick(handles, elements, parts, step, gravity, damped, failure)
    integer(i8), intent(in) :: handles(3), elements, parts
    real(dp), intent(in) :: step, gravity(3)
    integer(i4), intent(in) :: damped
    integer(i4), intent(out) :: failure
    type(element_bodies) :: state
    type(element_assembly) :: assembly
    real(dp) :: eta
    integer :: b
    logical :: explicit

    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    call open_table(parts, assembly, failure)
    if (failure /= table_open) return
    associate (row => state%fe%row, flat_first => assembly%first, position => assembly%position, flat => assembly%flat)
    call gather_nodes(size(state%fe%mass), size(flat_first), flat_first, size(position), position, size(flat), flat, &
                      state%fe%internal)
    !$omp parallel do if (size(state%fe%mass) > parallel_from) schedule(dynamic) private(eta, explicit)
    do b = 0, state%fe%count - 1
      eta = 0
      if (damped == 1 .and. state%fe%passive(b) == 0) eta = state%bodies%damping(row(b))
      explicit = state%bodies%scheme(row(b)) == explicit_scheme
      call kick_nodes(state%fe%first(b), state%fe%first(b+1) - 1, explicit, state%fe%linear(b) == 1, eta, step, gravity, &
                      state%fe%velo_row, state%fe%mass, state%fe%rotation(:,:,b), state%fe%viscous, state%fe%internal, &
                      state%triples%velo, state%triples%force, state%fe%net)
    end do
    !$omp end parallel do
    end associate
  end subroutine kick

  !> Computes forces and u* of the nodes first to last of one body.
  pure subroutine kick_nodes(first, last, explicit, linear, eta, step, gravity, velo_row, mass, rotation, viscous, internal, velo, &
                             force, net)
    integer, intent(in) :: first, last
    logical, intent(in) :: explicit, linear
    real(dp), intent(in) :: eta, step, gravity(3)
    integer(i4), intent(in) :: velo_row(0:*)
    real(dp), intent(in) :: mass(0:*), rotation(3,3), viscous(3,0:*), internal(3,0:*)
    real(dp), intent(inout) :: velo(3,0:*), force(3,0:*), net(3,0:*)
    real(dp) :: resisting(3)
    integer :: n, v

    do n = first, last
      v = velo_row(n)
      resisting = internal(:,n)
      if (eta > 0) resisting = resisting + eta*viscous(:,n)
      if (linear) resisting = matmul(rotation, resisting)
      force(:,v) = force(:,v) + mass(n)*gravity
      net(:,n) = force(:,v) - resisting
      if (explicit) velo(:,v) = velo(:,v) + step/mass(n)*net(:,n)
    end do
  end subroutine kick_nodes

  !> Writes to net the velocities on which damping acts, in the bodies' frames of mid-step: u(t) of explicit bodies, (u(t) + u(t+h))/2 of
  !> others, whose `velo` holds u(t+h).
  !>
  !> Reads scheme, damping, velo_prev and velo of bodies, and of elements linear, first, row, passive, velo_row and rotation; writes net.
  subroutine damped_velocities(handles, elements, failure)
    integer(i8), intent(in) :: handles(3), elements
    integer(i4), intent(out) :: failure
    type(element_bodies) :: state
    integer :: b

    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    !$omp parallel do if (size(state%fe%velo_row) > parallel_from) schedule(dynamic)
    do b = 0, state%fe%count - 1
      call write_damped(state, b)
    end do
    !$omp end parallel do
  end subroutine damped_velocities

  !> Writes to net the velocities of one body on which damping acts.
  subroutine write_damped(state, b)
    type(element_bodies), intent(in) :: state    !< its columns change
    integer, intent(in) :: b
    logical :: damped, explicit
    real(dp) :: mean(3)
    integer :: n, v

    damped = state%fe%passive(b) == 0 .and. state%bodies%damping(state%fe%row(b)) > 0
    explicit = state%bodies%scheme(state%fe%row(b)) == explicit_scheme
    do n = state%fe%first(b), state%fe%first(b+1) - 1
      v = state%fe%velo_row(n)
      mean = 0
      if (damped) then
        mean = state%triples%velo_prev(:,v)
        if (.not. explicit) mean = (mean + state%triples%velo(:,v))/2
      end if
      if (state%fe%linear(b) == 1) mean = matmul(mean, state%fe%rotation(:,:,b))
      state%fe%net(:,n) = mean
    end do
  end subroutine write_damped

  !> Adds the work of damping, energy(6) += h/2 (u(t) + u(t+h)) . eta viscous, with `viscous` = K times the `net` of damped_velocities;
  !> u(t+h) of explicit bodies is u* + h/m r.
  !>
  !> Reads what damped_velocities does, reaction, and mass, viscous and net of elements; writes energy.
  subroutine add_dissipation(handles, elements, step, failure)
    integer(i8), intent(in) :: handles(3), elements
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: failure
    type(element_bodies) :: state
    integer :: b

    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    associate (row => state%fe%row, damping => state%bodies%damping, energy => state%bodies%energy)
    !$omp parallel do if (size(state%fe%mass) > parallel_from) schedule(dynamic)
    do b = 0, state%fe%count - 1
      if (state%fe%passive(b) == 1 .or. .not. damping(row(b)) > 0) cycle
      energy(6,row(b)) = energy(6,row(b)) + step*damping(row(b))*viscous_work(state, step, b)
    end do
    !$omp end parallel do
    end associate
  end subroutine add_dissipation

  !> Computes (u(t) + u(t+h))/2 . viscous of the nodes of one body.
  pure function viscous_work(state, step, b) result(work)
    type(element_bodies), intent(in) :: state
    real(dp), intent(in) :: step
    integer, intent(in) :: b
    real(dp) :: work, mean(3)
    logical :: explicit
    integer :: n, v

    explicit = state%bodies%scheme(state%fe%row(b)) == explicit_scheme
    work = 0
    associate (velo_prev => state%triples%velo_prev, velo => state%triples%velo, reaction => state%triples%reaction)
    do n = state%fe%first(b), state%fe%first(b+1) - 1
      mean = state%fe%net(:,n)
      if (explicit) then
        v = state%fe%velo_row(n)
        mean = (velo_prev(:,v) + velo(:,v) + step/state%fe%mass(n)*reaction(:,v))/2
        if (state%fe%linear(b) == 1) mean = matmul(mean, state%fe%rotation(:,:,b))
      end if
      work = work + dot_product(mean, state%fe%viscous(:,n))
    end do
    end associate
  end function viscous_work

  !> Ends the step: u(t+h) = u* + h/m r of explicit bodies (others have theirs already); conf(t+h); `local_displacements`; KINETIC
  !> (1) and EXTERNAL (3) energy, which grows by the work of applied forces and reactions.
  !>
  !> Reads scheme, velo_prev, force and reaction of bodies, and of elements first, row, conf_row, velo_row, mass and what
  !> local_displacements reads; writes energy, conf, velo, rotation and displacement.
  !>
  !>   failure, failed       failure (velocities not finite, turned inside out) of the first body `failed`; 0, -1: none
  subroutine finish(handles, elements, step, failure, failed)
    integer(i8), intent(in) :: handles(3), elements
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: failure, failed
    type(element_bodies) :: state
    real(dp) :: kinetic, work
    integer :: b, k
    logical :: finite, explicit

    failed = -1
    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    failed = huge(failed)
    !$omp parallel do if (size(state%fe%mass) > parallel_from) schedule(dynamic) private(finite, explicit, k, kinetic, work) &
    !$omp reduction(min:failed)
    do b = 0, state%fe%count - 1
      k = state%fe%row(b)
      explicit = state%bodies%scheme(k) == explicit_scheme
      call finish_nodes(state%fe%first(b), state%fe%first(b+1) - 1, explicit, step, state%fe%conf_row, state%fe%velo_row, &
                        state%fe%mass, state%triples%velo_prev, state%triples%force, state%triples%reaction, &
                        state%configurations%conf, state%triples%velo, kinetic, work, finite)
      state%bodies%energy(1,k) = kinetic
      state%bodies%energy(3,k) = state%bodies%energy(3,k) + work
      if (.not. finite) failed = min(failed, b)
    end do
    !$omp end parallel do
    call follow_nodes(bad_reaction, state, failure, failed)
  end subroutine finish

  !> Ends the step of the nodes first to last of one body; computes its kinetic energy and the work of forces on it.
  pure subroutine finish_nodes(first, last, explicit, step, conf_row, velo_row, mass, velo_prev, force, reaction, conf, velo, &
                               kinetic, work, finite)
    integer, intent(in) :: first, last
    logical, intent(in) :: explicit
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: conf_row(0:*), velo_row(0:*)
    real(dp), intent(in) :: mass(0:*), velo_prev(3,0:*), force(3,0:*), reaction(3,0:*)
    real(dp), intent(inout) :: conf(3,0:*), velo(3,0:*)
    real(dp), intent(out) :: kinetic, work
    logical, intent(out) :: finite
    integer :: n, c, v

    kinetic = 0
    work = 0
    finite = .true.
    do n = first, last
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
  end subroutine finish_nodes

end module finite_element_motion
