!> One time step of finite element bodies that move in a base (docs/modes.md, Modes and reduced bodies; docs/theory.md, Reduced bodies):
!> u_m = R E u for the nodal velocities u_m, the body's rotation R and the base E.
!>
!> Handles are BodyTable.handles, and those of FiniteElements and its ReducedBodies, whose lists of columns describe the arrays:
!> (k, 3 n) numbers of a base, grouped by nodal component, from `vector_ptr` on in `vectors`; k x k numbers from
!> `matrix_ptr` on in `stiffness` (E^T K E) and `inverse` (of E^T M E + beta E^T K E); (k, r) and (6, r) numbers of the r rigid motions
!> within the base from `motion_ptr` and `field_ptr` on.  Reduced velocities follow those of the nodes in `velo`, reduced forces in
!> `force`, k numbers in triples; three triples of `conf` from `frame_ptr` on hold the rotation between steps.
!> `status` is `table_unknown` where a handle is not that of such a table.
module reduced_motion
  use kinds, only: dp, i4, i8
  use body_state, only: based_bodies, open_based_bodies
  use table_registry, only: table_open
  use finite_element_motion, only: polar_rotation
  implicit none
  private
  public :: clear_forces, frames_and_weights, free_velocities, add_reactions, end_velocities, represent_shapes, strain_energies
  public :: reduced_coordinates, reduced_velocities

  integer, parameter :: parallel_from = 8   !< bodies from which threads pay
  integer, parameter :: passes = 3          !< most iterations for a frame and the velocities in it
  real(dp), parameter :: settled = 1e-13_dp !< change of a rotation at which iterations stop

contains

  !> Sets the forces on reduced velocities to 0.
  subroutine clear_forces(handles, elements, reduced, status)
    integer(i8), intent(in) :: handles(3), elements, reduced
    integer(i4), intent(out) :: status
    type(based_bodies) :: state
    integer :: b, i, v

    call open_based_bodies(handles, elements, reduced, state, status)
    if (status /= table_open) return
    associate (fe => state%fe, base => state%base, first => state%fe%first, force => state%triples%force)
      do i = 0, base%count - 1
        b = base%number(i)
        v = fe%velo_row(first(b)) + first(b+1) - first(b)
        force(:,v:v+(base%modes(i)+2)/3-1) = 0
      end do
    end associate
  end subroutine clear_forces

  !> Copies the frames of mid-step from the elements to `rotation` of reduced bodies, and computes beta of A = E^T M E + beta E^T K E from
  !> the bodies' damping eta: eta h/2 + h**2/4, or h**2 in quasi-statics; `changed` is 1 if beta of any body has changed.
  subroutine frames_and_weights(handles, elements, reduced, step, dynamic, changed, status)
    integer(i8), intent(in) :: handles(3), elements, reduced
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: dynamic            !< 0: quasi-statics
    integer(i4), intent(out) :: changed, status
    type(based_bodies) :: state
    real(dp) :: weight
    integer :: i

    changed = 0
    call open_based_bodies(handles, elements, reduced, state, status)
    if (status /= table_open) return
    associate (base => state%base)
      do i = 0, base%count - 1
        base%rotation(:,:,i) = state%fe%rotation(:,:,base%number(i))
        weight = step**2
        if (dynamic /= 0) weight = state%bodies%damping(base%rows(i))*step/2 + step**2/4
        if (weight /= base%beta(i)) changed = 1
        base%beta(i) = weight
      end do
    end associate
  end subroutine frames_and_weights

  !> Computes u = u(t) + h A^-1 b with b = E^T R^T f + f_r - K_r (q + eta w), where w is the projection of R^T u_m(t), and
  !> u_m = u_m(t) + R E (u - u(t)) + `turning`.
  !>
  !> `turning` is what the end of the step adds to u_m of a body without reactions, since its frame turns.  Constraints see it, so that they hold
  !> velocities of the end of the step; `end_velocities` takes it off.
  !>
  !> Reads damping (eta), force (f_r, after those of the nodes), conf, and of elements first, conf_row, velo_row, mass, reference, normal, rotation,
  !> net (f and gravity) and displacement (R^T (X + q_m) - X at mid-step, whose projection is q); writes velo, velo_prev (u(t), after those of the
  !> nodes) and `turning`.
  !>
  !>   dynamic       0: quasi-statics, which start from rest without damping
  subroutine free_velocities(handles, elements, reduced, step, dynamic, status)
    integer(i8), intent(in) :: handles(3), elements, reduced
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: dynamic
    integer(i4), intent(out) :: status
    type(based_bodies) :: state
    real(dp) :: eta
    integer :: b, i, k, n, p, v

    call open_based_bodies(handles, elements, reduced, state, status)
    if (status /= table_open) return
    associate (fe => state%fe, base => state%base, first => state%fe%first, triples => state%triples, &
               damping => state%bodies%damping)
      !$omp parallel do if (base%count > parallel_from) schedule(dynamic) private(eta, b, k, n, p, v)
      do i = 0, base%count - 1
        b = base%number(i)
        k = base%modes(i)
        n = first(b+1) - first(b)
        v = fe%velo_row(first(b))
        p = base%matrix_ptr(i)
        eta = damping(base%rows(i))
        if (dynamic == 0) then
          eta = 0
          triples%velo(:,v:v+n+(k+2)/3-1) = 0
        end if
        call kick(step, k, n, base%modal(i), base%vectors(base%vector_ptr(i):), base%stiffness(p:), base%inverse(p:), eta, &
                  fe%mass(first(b):), fe%net(:,first(b):), fe%displacement(:,first(b):), fe%rotation(:,:,b), &
                  triples%velo(:,v:), triples%velo(:,v+n:), triples%velo_prev(:,v+n:), triples%force(:,v+n:))
        if (dynamic /= 0) call expect_turning(state, i, n, step)
      end do
      !$omp end parallel do
    end associate
  end subroutine free_velocities

  !> Adds to nodal velocities what the end of the step adds to them if there are no reactions.
  subroutine expect_turning(state, i, n, step)
    type(based_bodies), intent(in) :: state
    integer, intent(in) :: i, n
    real(dp), intent(in) :: step
    real(dp) :: frame(3,3), um(3,n), u(state%base%modes(i)), angle
    integer :: k, t, v
    logical :: proper

    k = state%base%modes(i)
    t = state%base%node_ptr(i)
    v = state%fe%velo_row(state%fe%first(state%base%number(i)))
    associate (velo => state%triples%velo(:,v:v+n-1), turning => state%base%turning(:,t:t+n-1))
      um = velo
      u = reshape(state%triples%velo(:,v+n:v+n+(k+2)/3-1), [k])
      angle = 0
      call settle_body(state, i, n, step, um, u, frame, angle, proper)
      turning = 0
      if (proper) turning = um - velo
      velo = velo + turning
    end associate
  end subroutine expect_turning

  pure subroutine kick(step, k, n, modal, e, stiffness, inverse, eta, mass, net, displacement, rotation, um, u, u_prev, force)
    real(dp), intent(in) :: step, eta
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), stiffness(k,k), inverse(k,k), mass(n), net(3,n), displacement(3,n), rotation(3,3), force(k)
    real(dp), intent(inout) :: um(3,n), u(k), u_prev(k)
    real(dp) :: q(k), w(k), b(k)

    u_prev = u
    call project(k, n, e, modal, mass, displacement, q)
    if (eta > 0) then
      call project_back(k, n, e, modal, mass, rotation, um, w)
      q = q + eta*w
    end if
    call project_back(k, n, e, 0_i4, mass, rotation, net, b)
    b = b + force - times(k, k, stiffness, q)
    w = step*times(k, k, inverse, b)
    u = u + w
    call add_motion(k, n, e, rotation, w, um)
  end subroutine kick

  !> Adds nodal reactions r to the velocities: u = u* + h A^-1 E^T R^T r, u_m = u_m* + R E (u - u*).
  !> Reads reaction and, of elements, first, velo_row and rotation; writes velo.
  subroutine add_reactions(handles, elements, reduced, step, status)
    integer(i8), intent(in) :: handles(3), elements, reduced
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: status
    type(based_bodies) :: state
    integer :: b, i, n, v

    call open_based_bodies(handles, elements, reduced, state, status)
    if (status /= table_open) return
    associate (fe => state%fe, base => state%base, first => state%fe%first, velo => state%triples%velo, &
               reaction => state%triples%reaction)
      !$omp parallel do if (base%count > parallel_from) schedule(dynamic) private(b, n, v)
      do i = 0, base%count - 1
        b = base%number(i)
        n = first(b+1) - first(b)
        v = fe%velo_row(first(b))
        call react(step, base%modes(i), n, base%vectors(base%vector_ptr(i):), base%inverse(base%matrix_ptr(i):), &
                   fe%rotation(:,:,b), reaction(:,v:), velo(:,v:), velo(:,v+n:))
      end do
      !$omp end parallel do
    end associate
  end subroutine add_reactions

  !> Transforms the velocities of t+h from the frame of mid-step to the frame of t+h, the rotation of q_m + h/2 u_m.
  !>
  !> A turning body keeps its momentum and angular momentum, in form 'BC-MODAL' about the undeformed shape.  In Solfec-1.0 the
  !> six rigid velocities of 'BC-MODAL' stay constant in the turning frame, so that flying bodies leave their path; those of 'BC-RO' decay.
  !>
  !> Reads damping, force, velo_prev and `turning`, and of elements first, velo_row, conf_row, mass, reference, normal and rotation (the frames of
  !> mid-step); writes velo, the rotations in conf (in: those of u(t), out: those of u(t+h); nodes stay at mid-step), `turned_by`
  !> and energy: the work of `force` on reduced velocities is added to EXTERNAL (work on nodes is counted elsewhere), that of damping in the frame
  !> of mid-step to DISSIPATED.
  !>
  !>   failed       row of the first body that is turned inside out, or -1
  subroutine end_velocities(handles, elements, reduced, step, failed, status)
    integer(i8), intent(in) :: handles(3), elements, reduced
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: failed, status
    type(based_bodies) :: state
    real(dp) :: frame(3,3)
    integer :: a, b, e, f, i, n, r, t, v
    logical :: proper

    failed = -1
    call open_based_bodies(handles, elements, reduced, state, status)
    if (status /= table_open) return
    failed = huge(failed)
    associate (fe => state%fe, base => state%base, velo => state%triples%velo, velo_prev => state%triples%velo_prev, &
               force => state%triples%force, conf => state%configurations%conf, damping => state%bodies%damping, &
               energy => state%bodies%energy)
      !$omp parallel do if (base%count > parallel_from) schedule(dynamic) private(frame, a, b, e, f, n, r, t, v, proper) &
      !$omp   reduction(min:failed)
      do i = 0, base%count - 1
        b = base%number(i)
        r = base%rows(i)
        e = base%vector_ptr(i)
        f = base%frame_ptr(i)
        t = base%node_ptr(i)
        a = fe%first(b)
        n = fe%first(b+1) - a
        v = fe%velo_row(a)
        velo(:,v:v+n-1) = velo(:,v:v+n-1) - base%turning(:,t:t+n-1)
        if (damping(r) > 0) then
          energy(6,r) = energy(6,r) + step*damping(r) &
            *resistance(base%modes(i), n, base%modal(i), base%vectors(e:), base%stiffness(base%matrix_ptr(i):), fe%mass(a:), &
                        fe%rotation(:,:,b), velo_prev(:,v:), velo(:,v:))
        end if
        call settle_body(state, i, n, step, velo(:,v:), velo(:,v+n:), frame, base%turned_by(i), proper)
        if (.not. proper) failed = min(failed, r)
        conf(:,f:f+2) = frame
        energy(3,r) = energy(3,r) + step/2*power(base%modes(i), force(:,v+n:), velo_prev(:,v+n:), velo(:,v+n:))
      end do
      !$omp end parallel do
    end associate
    if (failed == huge(failed)) failed = -1
  end subroutine end_velocities

  !> Ends the step of reduced body i of n nodes with the velocities u_m and u: `frame` is that of t+h.
  subroutine settle_body(state, i, n, step, um, u, frame, turned_by, proper)
    type(based_bodies), intent(in) :: state
    integer, intent(in) :: i, n
    real(dp), intent(in) :: step
    real(dp), intent(inout) :: um(3,n), u(state%base%modes(i)), turned_by
    real(dp), intent(out) :: frame(3,3)
    logical, intent(out) :: proper
    integer :: a, b, f, m

    associate (fe => state%fe, base => state%base, conf => state%configurations%conf)
      b = base%number(i)
      f = base%frame_ptr(i)
      m = base%field_ptr(i)
      a = fe%first(b)
      frame = conf(:,f:f+2)
      call settle(step, base%modes(i), n, base%modal(i), base%vectors(base%vector_ptr(i):), fe%mass(a:), fe%reference(:,a:), &
                  fe%normal(:,a:), conf(:,fe%conf_row(a):), base%rigid(i), base%motions(base%motion_ptr(i):), base%fields(m:), &
                  base%duals(m:), fe%rotation(:,:,b), frame, state%triples%velo_prev(:,fe%velo_row(a)+n:), um, u, turned_by, proper)
    end associate
  end subroutine settle_body

  !> Computes w.K_r w with the mean w of the velocities before and after the step.
  pure real(dp) function resistance(k, n, modal, e, stiffness, mass, rotation, before, after)
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), stiffness(k,k), mass(n), rotation(3,3), before(3,n), after(3,n)
    real(dp) :: mean(3,n), w(k)

    mean = (before + after)/2
    call project_back(k, n, e, modal, mass, rotation, mean, w)
    resistance = dot_product(w, times(k, k, stiffness, w))
  end function resistance

  pure real(dp) function power(k, force, old, new)
    integer, intent(in) :: k
    real(dp), intent(in) :: force(k), old(k), new(k)
    power = sum(force*(old + new))
  end function power

  !> Ends the step of one body by iteration: the frame depends on nodal velocities, which depend on the frame.
  pure subroutine settle(step, k, n, modal, e, mass, reference, normal, conf, r, motions, fields, duals, middle, frame, u_prev, &
                         um, u, turned_by, proper)
    real(dp), intent(in) :: step
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal, r
    real(dp), intent(in) :: e(k,3,n), mass(n), reference(3,n), normal(3,n), conf(3,n), motions(k,r), fields(6,r), duals(6,r)
    real(dp), intent(in) :: middle(3,3), u_prev(k)
    real(dp), intent(inout) :: frame(3,3), um(3,n), u(k), turned_by
    logical, intent(out) :: proper                !< false: the body is turned inside out
    real(dp) :: after(3,3), last(3,3), free(3,n), kicked(k), old(r), new(r), momentum(6), missing(r)
    integer :: pass

    free = um
    kicked = u
    old = matmul(u_prev, motions)
    new = matmul(u - u_prev, motions)
    do pass = 1, passes
      call frame_at_end(step, n, reference, normal, conf, um, after, proper)
      if (.not. proper) return
      if (pass > 1) then
        if (maxval(abs(after - last)) <= settled) exit
      end if
      last = after
      call project_back(k, n, e, modal, mass, after, free, u)
      call keep_in_base(step, k, n, e, modal, mass, reference, conf, middle, frame, after, u_prev, kicked, free, u)
      if (modal == 1) then
        momentum = turned(frame, after, times(6, r, duals, old)) + turned(middle, after, times(6, r, duals, new))
        missing = matmul(momentum, fields) - matmul(u, motions)
      else
        call lost_momentum(k, n, e, mass, reference, conf, r, fields, after, free, u, missing)
      end if
      u = u + times(k, r, motions, missing)
      um = 0
      call add_motion(k, n, e, after, u, um)
    end do
    call carry_deformation(step, k, n, e, modal, mass, reference, normal, conf, last, um)
    if (modal == 0) then   ! what was added must not change the momentum
      call lost_momentum(k, n, e, mass, reference, conf, r, fields, last, um, u, missing)
      call add_motion(k, n, e, last, -times(k, r, motions, missing), um)
    end if
    turned_by = min(1.0_dp, sum((last - frame)**2)/2)
    frame = last
  end subroutine settle

  !> Adds to u what its projection on the base in the frame of t+h lacks, since velocities stay in the base at every instant,
  !>
  !>   -h P w x (o_m - o + h/2 (1 - P)(w x E (u(t) + u')/2)),
  !>
  !> with the parts o and o_m of nodal velocities at t and mid-step that are not in the base.
  pure subroutine keep_in_base(step, k, n, e, modal, mass, reference, conf, middle, before, after, old, kicked, um, u)
    real(dp), intent(in) :: step
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), mass(n), reference(3,n), conf(3,n), middle(3,3), before(3,3), after(3,3), old(k), kicked(k)
    real(dp), intent(in) :: um(3,n)
    real(dp), intent(inout) :: u(k)
    real(dp) :: spin(3,3), d(3,n), y(3,n), start(3,n), p(k), mean(k)
    integer :: a

    spin = matmul(transpose(before), after)
    spin = (spin - transpose(spin))/(2*step)
    call out_of_base(k, n, e, modal, mass, reference, conf, middle, spin, d)
    start = um
    p = old - kicked
    call add_motion(k, n, e, middle, p, start)
    p = -old
    call add_motion(k, n, e, before, p, start)
    mean = (old + kicked)/2
    do a = 1, n
      y(:,a) = matmul(spin, [dot_product(e(:,1,a), mean), dot_product(e(:,2,a), mean), dot_product(e(:,3,a), mean)])
    end do
    call project(k, n, e, modal, mass, y, p)
    do a = 1, n
      y(:,a) = y(:,a) - [dot_product(e(:,1,a), p), dot_product(e(:,2,a), p), dot_product(e(:,3,a), p)]
      y(:,a) = matmul(spin, d(:,a) - matmul(start(:,a), before) + step/2*y(:,a))
    end do
    call project(k, n, e, modal, mass, y, p)
    u = u - step*p
  end subroutine keep_in_base

  !> (1 - P)(w x d) in the frame, d = R^T (X + q) - X.
  pure subroutine out_of_base(k, n, e, modal, mass, reference, conf, rotation, spin, d)
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), mass(n), reference(3,n), conf(3,n), rotation(3,3), spin(3,3)
    real(dp), intent(inout) :: d(3,n)
    real(dp) :: mean(3), p(k)
    integer :: a

    do a = 1, n
      d(:,a) = matmul(reference(:,a) + conf(:,a), rotation) - reference(:,a)
    end do
    mean = matmul(d, mass)/sum(mass)   ! a translation turns with the frame alone
    do a = 1, n
      d(:,a) = matmul(spin, d(:,a) - mean)
    end do
    call project(k, n, e, modal, mass, d, p)
    do a = 1, n
      d(:,a) = d(:,a) - [dot_product(e(:,1,a), p), dot_product(e(:,2,a), p), dot_product(e(:,3,a), p)]
    end do
  end subroutine out_of_base

  !> Adds to u_m what the base lacks to turn the deformation of t+h with the body.
  pure subroutine carry_deformation(step, k, n, e, modal, mass, reference, normal, conf, after, um)
    real(dp), intent(in) :: step
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), mass(n), reference(3,n), normal(3,n), conf(3,n), after(3,3)
    real(dp), intent(inout) :: um(3,n)
    real(dp) :: spin(3,3), q(3,3), y(3,3), d(3,n), last(3,n), w(3)
    integer :: a, j

    last = conf + step/2*um
    q = 0
    y = 0
    do a = 1, n
      do j = 1, 3
        q(:,j) = q(:,j) + matmul(reference(:,a) + last(:,a), after)*normal(j,a)
        y(:,j) = y(:,j) + matmul(um(:,a), after)*normal(j,a)
      end do
    end do
    spin = -q
    do j = 1, 3
      spin(j,j) = spin(j,j) + q(1,1) + q(2,2) + q(3,3)
    end do
    w = solved(3_i4, spin, [y(3,2) - y(2,3), y(1,3) - y(3,1), y(2,1) - y(1,2)])
    spin = reshape([0.0_dp, w(3), -w(2), -w(3), 0.0_dp, w(1), w(2), -w(1), 0.0_dp], [3, 3])
    call out_of_base(k, n, e, modal, mass, reference, last, after, spin, d)
    um = um + matmul(after, d)
  end subroutine carry_deformation

  !> Transforms two vectors from one frame to another.
  pure function turned(from, to, pair) result(result)
    real(dp), intent(in) :: from(3,3), to(3,3), pair(6)
    real(dp) :: result(6)
    result(1:3) = matmul(matmul(from, pair(1:3)), to)
    result(4:6) = matmul(matmul(from, pair(4:6)), to)
  end function turned

  !> Computes the rigid motions d whose momentum and angular momentum about the mass centre are those of u_m minus those of R E w:
  !>
  !>   N^T D N d = N^T (sum of m s, sum of m y x s),   s = R^T u_m - E w,   y = R^T (x - x_c),
  !>   D = diag(m I, tr(T) I - T^T) for a rigid motion of arms Z,   T = sum of m y Z^T.
  pure subroutine lost_momentum(k, n, e, mass, reference, conf, r, fields, after, um, w, lost)
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: r
    real(dp), intent(in) :: e(k,3,n), mass(n), reference(3,n), conf(3,n), fields(6,r), after(3,3), um(3,n), w(k)
    real(dp), intent(inout) :: lost(r)
    real(dp) :: momentum(6), tensor(3,3), total, centre(3), s(3), y(3), carried(6,r)
    integer :: a, j

    total = sum(mass)
    centre = matmul(reference + conf, mass)/total
    momentum = 0
    tensor = 0
    do a = 1, n
      s = matmul(um(:,a), after) - [dot_product(e(:,1,a), w), dot_product(e(:,2,a), w), dot_product(e(:,3,a), w)]
      y = matmul(reference(:,a) + conf(:,a) - centre, after)
      momentum(1:3) = momentum(1:3) + mass(a)*s
      momentum(4:6) = momentum(4:6) + mass(a)*[y(2)*s(3) - y(3)*s(2), y(3)*s(1) - y(1)*s(3), y(1)*s(2) - y(2)*s(1)]
      do j = 1, 3
        tensor(:,j) = tensor(:,j) + mass(a)*y*reference(j,a)
      end do
    end do
    do j = 1, r
      carried(1:3,j) = total*fields(1:3,j)
      carried(4:6,j) = (tensor(1,1) + tensor(2,2) + tensor(3,3))*fields(4:6,j) - matmul(fields(4:6,j), tensor)
    end do
    lost = solved(r, matmul(transpose(fields), carried), matmul(momentum, fields))
  end subroutine lost_momentum

  pure subroutine react(step, k, n, e, inverse, rotation, reaction, um, u)
    real(dp), intent(in) :: step
    integer, intent(in) :: k, n
    real(dp), intent(in) :: e(k,3,n), inverse(k,k), rotation(3,3), reaction(3,n)
    real(dp), intent(inout) :: um(3,n), u(k)
    real(dp) :: b(k)

    if (all(reaction == 0)) return
    call project_back(k, n, e, 0_i4, reaction(1,:), rotation, reaction, b)
    b = step*times(k, k, inverse, b)
    u = u + b
    call add_motion(k, n, e, rotation, b, um)
  end subroutine react

  !> Computes the rotation of q_m + h/2 u_m.
  pure subroutine frame_at_end(step, n, reference, normal, conf, um, after, proper)
    real(dp), intent(in) :: step
    integer, intent(in) :: n
    real(dp), intent(in) :: reference(3,n), normal(3,n), conf(3,n), um(3,n)
    real(dp), intent(inout) :: after(3,3)
    logical, intent(out) :: proper
    real(dp) :: gradient(3,3), x(3)
    integer :: a, j

    gradient = 0
    do a = 1, n
      x = reference(:,a) + conf(:,a) + step/2*um(:,a)
      do j = 1, 3
        gradient(:,j) = gradient(:,j) + x*normal(j,a)
      end do
    end do
    call polar_rotation(gradient, after, proper)
  end subroutine frame_at_end

  !> Computes A^-1 b by elimination without pivots, for matrices close to the identity.
  pure function solved(r, matrix, right) result(x)
    integer(i4), intent(in) :: r
    real(dp), intent(in) :: matrix(r,r), right(r)
    real(dp) :: a(r,r), x(r), factor
    integer :: i, j

    a = matrix
    x = right
    do j = 1, r
      do i = j + 1, r
        factor = a(i,j)/a(j,j)
        a(i,j+1:) = a(i,j+1:) - factor*a(j,j+1:)
        x(i) = x(i) - factor*x(j)
      end do
    end do
    do j = r, 1, -1
      x(j) = (x(j) - dot_product(a(j,j+1:), x(j+1:)))/a(j,j)
    end do
  end function solved

  !> Writes q of the present configuration in given frames to `coordinates`.  Reads conf and, of elements, first, conf_row, mass and reference.
  subroutine reduced_coordinates(handles, elements, reduced, frames, status, nr)
    integer(i8), intent(in) :: handles(3), elements, reduced
    integer(i4), intent(in) :: nr
    real(dp), intent(in) :: frames(3,3,0:nr-1)
    integer(i4), intent(out) :: status
    type(based_bodies) :: state
    integer :: a, b, i

    call open_based_bodies(handles, elements, reduced, state, status)
    if (status /= table_open) return
    associate (fe => state%fe, base => state%base)
      do i = 0, base%count - 1
        b = base%number(i)
        a = fe%first(b)
        call project_shape(base%modes(i), fe%first(b+1) - a, base%vectors(base%vector_ptr(i):), base%modal(i), fe%mass(a:), &
                           frames(:,:,i), fe%reference(:,a:), state%configurations%conf(:,fe%conf_row(a):), &
                           base%coordinates(base%coordinate_ptr(i):))
      end do
    end associate
  end subroutine reduced_coordinates

  !> Writes the INTERNAL energy q.K_r q/2 of the present configuration to the bodies' energy.
  !> Reads conf and, of elements, first, conf_row, mass and reference.
  subroutine strain_energies(handles, elements, reduced, status)
    integer(i8), intent(in) :: handles(3), elements, reduced
    integer(i4), intent(out) :: status
    type(based_bodies) :: state
    integer :: a, b, f, i

    call open_based_bodies(handles, elements, reduced, state, status)
    if (status /= table_open) return
    associate (fe => state%fe, base => state%base, conf => state%configurations%conf, energy => state%bodies%energy)
      !$omp parallel do if (base%count > parallel_from) schedule(dynamic) private(a, b, f)
      do i = 0, base%count - 1
        b = base%number(i)
        f = base%frame_ptr(i)
        a = fe%first(b)
        energy(2,base%rows(i)) = strain_energy(base%modes(i), fe%first(b+1) - a, base%vectors(base%vector_ptr(i):), base%modal(i), &
                                               base%stiffness(base%matrix_ptr(i):), fe%mass(a:), conf(:,f:f+2), &
                                               fe%reference(:,a:), conf(:,fe%conf_row(a):))
      end do
      !$omp end parallel do
    end associate
  end subroutine strain_energies

  pure real(dp) function strain_energy(k, n, e, modal, stiffness, mass, frame, reference, conf)
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), stiffness(k,k), mass(n), frame(3,3), reference(3,n), conf(3,n)
    real(dp) :: q(k)

    call project_shape(k, n, e, modal, mass, frame, reference, conf, q)
    strain_energy = dot_product(q, times(k, k, stiffness, q))/2
  end function strain_energy

  !> Moves nodes towards shapes that the base can represent: q_m = R (X + E q) - X in the frames in `conf`, where q is the projection of
  !> R^T (X + q_m) - X.
  !>
  !> Nodes that move along tangents of rotations leave the shapes that the base can represent, and no stiffness brings them back:
  !> bodies would inflate.  So they are moved back by the part `turned_by`, of second order in the step, of this difference; in
  !> quasi-statics by all of it (`whole`), in the rotation of the elements, which becomes the frame.  Writes conf; reads first, conf_row, mass, reference
  !> and rotation of elements.
  subroutine represent_shapes(handles, elements, reduced, whole, status)
    integer(i8), intent(in) :: handles(3), elements, reduced
    integer(i4), intent(in) :: whole              !< 1: move by the whole difference, 0: by a part
    integer(i4), intent(out) :: status
    type(based_bodies) :: state
    real(dp) :: way
    integer :: a, b, f, i

    call open_based_bodies(handles, elements, reduced, state, status)
    if (status /= table_open) return
    associate (fe => state%fe, base => state%base, conf => state%configurations%conf)
      !$omp parallel do if (base%count > parallel_from) schedule(dynamic) private(way, a, b, f)
      do i = 0, base%count - 1
        b = base%number(i)
        f = base%frame_ptr(i)
        a = fe%first(b)
        way = base%turned_by(i)
        if (whole == 1) then
          way = 1
          conf(:,f:f+2) = fe%rotation(:,:,b)
        end if
        call represent(base%modes(i), fe%first(b+1) - a, base%vectors(base%vector_ptr(i):), base%modal(i), fe%mass(a:), way, &
                       conf(:,f:f+2), fe%reference(:,a:), conf(:,fe%conf_row(a):))
      end do
      !$omp end parallel do
    end associate
  end subroutine represent_shapes

  pure subroutine represent(k, n, e, modal, mass, part, rotation, reference, conf)
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), mass(n), part, rotation(3,3), reference(3,n)
    real(dp), intent(inout) :: conf(3,n)
    real(dp) :: q(k)
    integer :: a

    call project_shape(k, n, e, modal, mass, rotation, reference, conf, q)
    do a = 1, n
      conf(:,a) = (1 - part)*conf(:,a) + part*(matmul(rotation, reference(:,a)) - reference(:,a))
    end do
    q = part*q
    call add_motion(k, n, e, rotation, q, conf)
  end subroutine represent

  !> Projects R^T (X + q_m) - X on the base.
  pure subroutine project_shape(k, n, e, modal, mass, rotation, reference, conf, p)
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), mass(n), rotation(3,3), reference(3,n), conf(3,n)
    real(dp), intent(inout) :: p(k)
    real(dp) :: local(3)
    integer :: a

    p = 0
    do a = 1, n
      local = matmul(reference(:,a) + conf(:,a), rotation) - reference(:,a)
      if (modal == 1) local = mass(a)*local
      p = p + e(:,1,a)*local(1) + e(:,2,a)*local(2) + e(:,3,a)*local(3)
    end do
  end subroutine project_shape

  !> Computes the reduced velocities of reduced body number i by projection of R^T u_m; they are stored after those of its nodes.
  !> `back` 1: computes the velocities of its nodes from the reduced ones, u_m = R E u.
  subroutine reduced_velocities(handles, elements, reduced, i, back, status)
    integer(i8), intent(in) :: handles(3), elements, reduced
    integer(i4), intent(in) :: i, back
    integer(i4), intent(out) :: status
    type(based_bodies) :: state
    integer :: a, b, f, n, v

    call open_based_bodies(handles, elements, reduced, state, status)
    if (status /= table_open) return
    b = state%base%number(i)
    f = state%base%frame_ptr(i)
    a = state%fe%first(b)
    n = state%fe%first(b+1) - a
    v = state%fe%velo_row(a)
    associate (fe => state%fe, base => state%base, velo => state%triples%velo, rotation => state%configurations%conf(:,f:f+2), &
               vectors => state%base%vectors(state%base%vector_ptr(i):))
      if (back == 0) then
        call project_back(base%modes(i), n, vectors, base%modal(i), fe%mass(a:), rotation, velo(:,v:), velo(:,v+n:))
      else
        velo(:,v:v+n-1) = 0
        call add_motion(base%modes(i), n, vectors, rotation, velo(:,v+n:), velo(:,v:))
      end if
    end associate
  end subroutine reduced_velocities

  !> Projects y on the base: E^T y, or E^T M y of modal bases.
  pure subroutine project(k, n, e, modal, mass, y, p)
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), mass(n), y(3,n)
    real(dp), intent(inout) :: p(k)
    real(dp) :: factor
    integer :: a

    p = 0
    do a = 1, n
      factor = merge(mass(a), 1.0_dp, modal == 1)
      p = p + e(:,1,a)*(factor*y(1,a)) + e(:,2,a)*(factor*y(2,a)) + e(:,3,a)*(factor*y(3,a))
    end do
  end subroutine project

  !> Projects R^T y on the base.
  pure subroutine project_back(k, n, e, modal, mass, rotation, y, p)
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), mass(n), rotation(3,3), y(3,n)
    real(dp), intent(inout) :: p(k)
    real(dp) :: local(3)
    integer :: a

    p = 0
    do a = 1, n
      local = matmul(y(:,a), rotation)
      if (modal == 1) local = mass(a)*local
      p = p + e(:,1,a)*local(1) + e(:,2,a)*local(2) + e(:,3,a)*local(3)
    end do
  end subroutine project_back

  !> Adds R E u to um.
  pure subroutine add_motion(k, n, e, rotation, u, um)
    integer, intent(in) :: k, n
    real(dp), intent(in) :: e(k,3,n), rotation(3,3), u(k)
    real(dp), intent(inout) :: um(3,n)
    integer :: a

    do a = 1, n
      um(:,a) = um(:,a) + matmul(rotation, [dot_product(e(:,1,a), u), dot_product(e(:,2,a), u), dot_product(e(:,3,a), u)])
    end do
  end subroutine add_motion

  !> Computes A x, column by column.
  pure function times(m, n, a, x) result(y)
    integer, intent(in) :: m, n
    real(dp), intent(in) :: a(m,n), x(n)
    real(dp) :: y(m)
    integer :: j
    y = 0
    do j = 1, n
      y = y + a(:,j)*x(j)
    end do
  end function times

end module reduced_motion
