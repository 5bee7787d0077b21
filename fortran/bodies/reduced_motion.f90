!> One time step of finite element bodies that move in a base (manual, BODY: forms 'BC-MODAL' and 'BC-RO'; theory, "Time
!> integration"): u_m = R E u for the nodal velocities u_m, the body's rotation R and the base E.
!>
!> Bodies (0:nr-1) of these forms, of which every array below has one entry unless stated otherwise:
!>   number       number among all finite element bodies; first (0:nfirst-1) and arrays of nodes as in finite_element_motion
!>   modes        k, vectors of the base
!>   modal        1: form 'BC-MODAL', vectors are projected on with the masses; 0: 'BC-RO', without
!>   vector_ptr   where the base begins in `vectors`: (k, 3 n) numbers, those of one nodal component together
!>   matrix_ptr   where k x k numbers begin in stiffness (E^T K E) and inverse (of E^T M E + beta E^T K E)
!>   rows         rows of the body table; frame_ptr: the first of three rows of conf that hold the rotation between steps
!>   rigid        r, rigid motions that the base holds (6: all)
!>   motion_ptr, field_ptr   where (k, r) numbers begin in `motions`, (6, r) numbers in `fields`
!> Reduced velocities follow those of the nodes in `velo`, reduced forces in `force`, k numbers in triples.
module reduced_motion
  use kinds, only: dp, i4
  use finite_element_motion, only: polar_rotation
  implicit none
  private
  public :: clear_forces, frames_and_weights, free_velocities, add_reactions, end_velocities, represent_shapes, strain_energies
  public :: reduced_coordinates, reduced_velocities, nodal_velocities

  integer, parameter :: parallel_from = 8   !< bodies from which threads pay
  integer, parameter :: passes = 3          !< at most, in which a frame and the velocities in it are found
  real(dp), parameter :: settled = 1e-13_dp !< change of a rotation that makes no difference

contains

  !> force = 0 on reduced velocities.
  subroutine clear_forces(nr, number, modes, nfirst, first, nnode, velo_row, nvelo, force)
    integer(i4), intent(in) :: nr, nfirst, nnode, nvelo
    integer(i4), intent(in) :: number(0:nr-1), modes(0:nr-1), first(0:nfirst-1), velo_row(0:nnode-1)
    real(dp), intent(inout) :: force(3,0:nvelo-1)
    integer :: b, i, v

    do i = 0, nr - 1
      b = number(i)
      v = velo_row(first(b)) + first(b+1) - first(b)
      force(:,v:v+(modes(i)+2)/3-1) = 0
    end do
  end subroutine clear_forces

  !> The frames of mid-step (3,3,0:nr-1), and beta (0:nr-1) of A = E^T M E + beta E^T K E: eta h/2 + h**2/4, or h**2 in
  !> quasi-statics; `changed` is 1 if that is another one for any body.
  subroutine frames_and_weights(step, dynamic, nr, rows, number, nbody, rotation, nb, damping, frames, beta, changed)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: dynamic            !< 0: quasi-statics
    integer(i4), intent(in) :: nr, nbody, nb
    integer(i4), intent(in) :: rows(0:nr-1), number(0:nr-1)
    real(dp), intent(in) :: rotation(3,3,0:nbody-1), damping(0:nb-1)
    real(dp), intent(inout) :: frames(3,3,0:nr-1), beta(0:nr-1)
    integer(i4), intent(out) :: changed
    real(dp) :: weight
    integer :: i

    changed = 0
    do i = 0, nr - 1
      frames(:,:,i) = rotation(:,:,number(i))
      weight = step**2
      if (dynamic /= 0) weight = damping(rows(i))*step/2 + step**2/4
      if (weight /= beta(i)) changed = 1
      beta(i) = weight
    end do
  end subroutine frames_and_weights

  !> u = u(t) + h A^-1 b with b = E^T R^T f + f_r - K_r (q + eta w), w being the projection of R^T u_m(t), and
  !> u_m = u_m(t) + R E (u - u(t)).
  !>
  !>   dynamic       0: quasi-statics, which start from rest and know no damping
  !>   damping       (0:nb-1) eta of all bodies [time]
  !>   net           (3,0:nnode-1) applied nodal forces f and gravity
  !>   displacement  (3,0:nnode-1) R^T (X + q_m) - X at mid-step, whose projection is q
  !>   velo          in u(t), u_m(t); out u, u_m.  velo_prev out: u(t)
  !>   force         applied forces f_r on reduced velocities, behind those of the nodes
  subroutine free_velocities(step, dynamic, nr, number, modes, modal, vector_ptr, matrix_ptr, nvector, vectors, nmatrix, &
                             stiffness, inverse, rows, nb, damping, nfirst, first, nnode, velo_row, mass, net, displacement, &
                             nbody, rotation, nvelo, velo, velo_prev, force)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: dynamic, nr, nvector, nmatrix, nb, nfirst, nnode, nbody, nvelo
    integer(i4), intent(in) :: number(0:nr-1), modes(0:nr-1), modal(0:nr-1), vector_ptr(0:nr-1), matrix_ptr(0:nr-1), rows(0:nr-1)
    real(dp), intent(in) :: vectors(0:nvector-1), stiffness(0:nmatrix-1), inverse(0:nmatrix-1), damping(0:nb-1)
    integer(i4), intent(in) :: first(0:nfirst-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: mass(0:nnode-1), net(3,0:nnode-1), displacement(3,0:nnode-1), rotation(3,3,0:nbody-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1)
    real(dp), intent(in) :: force(3,0:nvelo-1)
    real(dp) :: eta
    integer :: b, i, k, n, v

    !$omp parallel do if (nr > parallel_from) schedule(dynamic) private(eta, b, k, n, v)
    do i = 0, nr - 1
      b = number(i)
      k = modes(i)
      n = first(b+1) - first(b)
      v = velo_row(first(b))
      eta = damping(rows(i))
      if (dynamic == 0) then
        eta = 0
        velo(:,v:v+n+(k+2)/3-1) = 0
      end if
      call kick(step, k, n, modal(i), vectors(vector_ptr(i)), stiffness(matrix_ptr(i)), inverse(matrix_ptr(i)), eta, &
                mass(first(b)), net(1,first(b)), displacement(1,first(b)), rotation(:,:,b), velo(1,v), velo(1,v+n), &
                velo_prev(1,v+n), force(1,v+n))
    end do
    !$omp end parallel do
  end subroutine free_velocities

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

  !> The part of nodal reactions r in the velocities: u = u* + h A^-1 E^T R^T r, u_m = u_m* + R E (u - u*).
  subroutine add_reactions(step, nr, number, modes, vector_ptr, matrix_ptr, nvector, vectors, nmatrix, inverse, &
                           nfirst, first, nnode, velo_row, nbody, rotation, nvelo, velo, reaction)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: nr, nvector, nmatrix, nfirst, nnode, nbody, nvelo
    integer(i4), intent(in) :: number(0:nr-1), modes(0:nr-1), vector_ptr(0:nr-1), matrix_ptr(0:nr-1)
    real(dp), intent(in) :: vectors(0:nvector-1), inverse(0:nmatrix-1)
    integer(i4), intent(in) :: first(0:nfirst-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: rotation(3,3,0:nbody-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1)
    real(dp), intent(in) :: reaction(3,0:nvelo-1)
    integer :: b, i, n, v

    !$omp parallel do if (nr > parallel_from) schedule(dynamic) private(b, n, v)
    do i = 0, nr - 1
      b = number(i)
      n = first(b+1) - first(b)
      v = velo_row(first(b))
      call react(step, modes(i), n, vectors(vector_ptr(i)), inverse(matrix_ptr(i)), rotation(:,:,b), reaction(1,v), &
                 velo(1,v), velo(1,v+n))
    end do
    !$omp end parallel do
  end subroutine add_reactions

  !> The velocities of t+h in the frame of t+h, that of q_m + h/2 u_m, from those in the frame of mid-step.
  !>
  !> A turning body keeps its momentum and angular momentum, that of 'BC-MODAL' about the undeformed shape: in Solfec-1.0 the
  !> six rigid velocities of 'BC-MODAL' stay as they are in the frame, so that flying bodies turn off; those of 'BC-RO' fade.
  !>
  !>   reference, normal, conf, conf_row   nodes, as in finite_element_motion.local_displacements; conf at mid-step
  !>   conf         at mid-step, with the rotations of u(t), out: those of u(t+h)
  !>   motions      (k, r): C with E C = r rigid motions, orthonormal in the norm of M
  !>   fields, duals   (6, r): N, these motions as translations and rotations about the mass centre, and their momenta
  !>   force        its work on reduced velocities is added to `energy` (5,0:nb-1), EXTERNAL; that on nodes is counted there
  !>   damping      (0:nb-1) eta of all bodies; its work in the frame of mid-step is added to DISSIPATED
  !>   turned_by    (0:nr-1) out: square of the angle between the frames of t and t+h, at most 1 [radian**2]
  !>   failed       row of the first body that is turned inside out, or -1
  subroutine end_velocities(step, nr, number, modes, modal, vector_ptr, matrix_ptr, nvector, vectors, nmatrix, stiffness, damping, &
                            rigid, motion_ptr, field_ptr, nmotion, motions, nfield, fields, duals, rows, frame_ptr, &
                            nfirst, first, nnode, velo_row, conf_row, mass, reference, normal, nbody, rotation, &
                            nconf, conf, nvelo, velo, velo_prev, force, nb, energy, turned_by, failed)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: nr, nvector, nmatrix, nmotion, nfield, nfirst, nnode, nbody, nconf, nvelo, nb
    integer(i4), intent(in) :: number(0:nr-1), modes(0:nr-1), modal(0:nr-1), vector_ptr(0:nr-1), matrix_ptr(0:nr-1)
    real(dp), intent(in) :: vectors(0:nvector-1), stiffness(0:nmatrix-1), damping(0:nb-1)
    integer(i4), intent(in) :: rigid(0:nr-1), motion_ptr(0:nr-1), field_ptr(0:nr-1), rows(0:nr-1), frame_ptr(0:nr-1)
    real(dp), intent(in) :: motions(0:nmotion-1), fields(0:nfield-1), duals(0:nfield-1)
    integer(i4), intent(in) :: first(0:nfirst-1), velo_row(0:nnode-1), conf_row(0:nnode-1)
    real(dp), intent(in) :: mass(0:nnode-1), reference(3,0:nnode-1), normal(3,0:nnode-1), rotation(3,3,0:nbody-1)
    real(dp), intent(in) :: velo_prev(3,0:nvelo-1), force(3,0:nvelo-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1), velo(3,0:nvelo-1), energy(6,0:nb-1)
    real(dp), intent(inout) :: turned_by(0:nr-1)
    integer(i4), intent(out) :: failed
    real(dp) :: frame(3,3)
    integer :: b, f, i, n, v
    logical :: proper

    failed = huge(failed)
    !$omp parallel do if (nr > parallel_from) schedule(dynamic) private(frame, b, f, n, v, proper) reduction(min:failed)
    do i = 0, nr - 1
      b = number(i)
      f = frame_ptr(i)
      n = first(b+1) - first(b)
      v = velo_row(first(b))
      frame = conf(:,f:f+2)
      if (damping(rows(i)) > 0) then
        energy(6,rows(i)) = energy(6,rows(i)) + step*damping(rows(i)) &
          *resistance(modes(i), n, modal(i), vectors(vector_ptr(i)), stiffness(matrix_ptr(i)), mass(first(b)), rotation(:,:,b), &
                      velo_prev(1,v), velo(1,v))
      end if
      call settle(step, modes(i), n, modal(i), vectors(vector_ptr(i)), mass(first(b)), reference(1,first(b)), &
                  normal(1,first(b)), conf(1,conf_row(first(b))), rigid(i), motions(motion_ptr(i)), fields(field_ptr(i)), &
                  duals(field_ptr(i)), rotation(:,:,b), frame, velo_prev(1,v+n), velo(1,v), velo(1,v+n), turned_by(i), proper)
      if (.not. proper) failed = min(failed, rows(i))
      conf(:,f:f+2) = frame
      energy(3,rows(i)) = energy(3,rows(i)) + step/2*power(modes(i), force(1,v+n), velo_prev(1,v+n), velo(1,v+n))
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
  end subroutine end_velocities

  !> w.K_r w of the mean w of the velocities before and after.
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

  !> One body of `end_velocities`: the frame follows from nodal velocities, which follow from the frame.
  pure subroutine settle(step, k, n, modal, e, mass, reference, normal, conf, r, motions, fields, duals, middle, frame, u_prev, &
                         um, u, turned_by, proper)
    real(dp), intent(in) :: step
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal, r
    real(dp), intent(in) :: e(k,3,n), mass(n), reference(3,n), normal(3,n), conf(3,n), motions(k,r), fields(6,r), duals(6,r)
    real(dp), intent(in) :: middle(3,3), u_prev(k)
    real(dp), intent(inout) :: frame(3,3), um(3,n), u(k), turned_by
    logical, intent(out) :: proper                !< false: the body is turned inside out
    real(dp) :: after(3,3), last(3,3), free(3,n), old(r), new(r), momentum(6), missing(r)
    integer :: pass

    free = um
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
    turned_by = min(1.0_dp, sum((last - frame)**2)/2)
    frame = last
  end subroutine settle

  !> Two vectors of one frame in another one.
  pure function turned(from, to, pair) result(result)
    real(dp), intent(in) :: from(3,3), to(3,3), pair(6)
    real(dp) :: result(6)
    result(1:3) = matmul(matmul(from, pair(1:3)), to)
    result(4:6) = matmul(matmul(from, pair(4:6)), to)
  end function turned

  !> The rigid motions d with the momentum and the angular momentum about the mass centre that u_m has and R E w has not:
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

  !> The rotation of q_m + h/2 u_m.
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

  !> A^-1 b by elimination without pivots, for matrices close to the identity.
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

  !> q of the present configuration in given frames (3,3,0:nr-1), k numbers from coordinate_ptr on.
  subroutine reduced_coordinates(nr, number, modes, modal, vector_ptr, nvector, vectors, frames, nfirst, first, nnode, mass, &
                                 reference, conf_row, nconf, conf, coordinate_ptr, ncoordinate, coordinates)
    integer(i4), intent(in) :: nr, nvector, nfirst, nnode, nconf, ncoordinate
    integer(i4), intent(in) :: number(0:nr-1), modes(0:nr-1), modal(0:nr-1), vector_ptr(0:nr-1)
    real(dp), intent(in) :: vectors(0:nvector-1), frames(3,3,0:nr-1)
    integer(i4), intent(in) :: first(0:nfirst-1), conf_row(0:nnode-1), coordinate_ptr(0:nr-1)
    real(dp), intent(in) :: mass(0:nnode-1), reference(3,0:nnode-1), conf(3,0:nconf-1)
    real(dp), intent(inout) :: coordinates(0:ncoordinate-1)
    integer :: b, i

    do i = 0, nr - 1
      b = number(i)
      call project_shape(modes(i), first(b+1) - first(b), vectors(vector_ptr(i)), modal(i), mass(first(b)), frames(:,:,i), &
                         reference(1,first(b)), conf(1,conf_row(first(b))), coordinates(coordinate_ptr(i)))
    end do
  end subroutine reduced_coordinates

  !> INTERNAL energy q.K_r q/2 of the present configuration, into `energy` (5,0:nb-1).
  subroutine strain_energies(nr, number, modes, modal, vector_ptr, matrix_ptr, nvector, vectors, nmatrix, stiffness, rows, &
                             frame_ptr, nfirst, first, nnode, mass, reference, conf_row, nconf, conf, nb, energy)
    integer(i4), intent(in) :: nr, nvector, nmatrix, nfirst, nnode, nconf, nb
    integer(i4), intent(in) :: number(0:nr-1), modes(0:nr-1), modal(0:nr-1), vector_ptr(0:nr-1), matrix_ptr(0:nr-1)
    real(dp), intent(in) :: vectors(0:nvector-1), stiffness(0:nmatrix-1)
    integer(i4), intent(in) :: rows(0:nr-1), frame_ptr(0:nr-1), first(0:nfirst-1), conf_row(0:nnode-1)
    real(dp), intent(in) :: mass(0:nnode-1), reference(3,0:nnode-1), conf(3,0:nconf-1)
    real(dp), intent(inout) :: energy(6,0:nb-1)
    integer :: b, f, i

    !$omp parallel do if (nr > parallel_from) schedule(dynamic) private(b, f)
    do i = 0, nr - 1
      b = number(i)
      f = frame_ptr(i)
      energy(2,rows(i)) = strain_energy(modes(i), first(b+1) - first(b), vectors(vector_ptr(i)), modal(i), &
                                        stiffness(matrix_ptr(i)), mass(first(b)), conf(:,f:f+2), reference(1,first(b)), &
                                        conf(1,conf_row(first(b))))
    end do
    !$omp end parallel do
  end subroutine strain_energies

  pure real(dp) function strain_energy(k, n, e, modal, stiffness, mass, frame, reference, conf)
    integer, intent(in) :: k, n
    integer(i4), intent(in) :: modal
    real(dp), intent(in) :: e(k,3,n), stiffness(k,k), mass(n), frame(3,3), reference(3,n), conf(3,n)
    real(dp) :: q(k)

    call project_shape(k, n, e, modal, mass, frame, reference, conf, q)
    strain_energy = dot_product(q, times(k, k, stiffness, q))/2
  end function strain_energy

  !> Towards shapes that the base can represent: q_m = R (X + E q) - X in the frames in `conf`, q being the projection of
  !> R^T (X + q_m) - X.
  !>
  !> Nodes that drift along tangents of rotations leave what the base can represent, where no stiffness brings them back:
  !> bodies would inflate.  So they are moved by a `part` (0:nr-1) of the way, of second order in the step; the `whole` way in
  !> quasi-statics, to `rotation` (3,3,0:nbody-1), which becomes the frame.
  subroutine represent_shapes(whole, nr, number, modes, modal, vector_ptr, nvector, vectors, part, frame_ptr, nbody, rotation, &
                              nfirst, first, nnode, mass, reference, conf_row, nconf, conf)
    integer(i4), intent(in) :: whole              !< 1: as said, 0: a part of the way
    integer(i4), intent(in) :: nr, nvector, nbody, nfirst, nnode, nconf
    integer(i4), intent(in) :: number(0:nr-1), modes(0:nr-1), modal(0:nr-1), vector_ptr(0:nr-1)
    real(dp), intent(in) :: vectors(0:nvector-1), part(0:nr-1), rotation(3,3,0:nbody-1)
    integer(i4), intent(in) :: frame_ptr(0:nr-1), first(0:nfirst-1), conf_row(0:nnode-1)
    real(dp), intent(in) :: mass(0:nnode-1), reference(3,0:nnode-1)
    real(dp), intent(inout) :: conf(3,0:nconf-1)
    real(dp) :: way
    integer :: b, f, i, n

    !$omp parallel do if (nr > parallel_from) schedule(dynamic) private(way, b, f, n)
    do i = 0, nr - 1
      b = number(i)
      f = frame_ptr(i)
      n = first(b+1) - first(b)
      way = part(i)
      if (whole == 1) then
        way = 1
        conf(:,f:f+2) = rotation(:,:,b)
      end if
      call represent(modes(i), n, vectors(vector_ptr(i)), modal(i), mass(first(b)), way, conf(:,f:f+2), reference(1,first(b)), &
                     conf(1,conf_row(first(b))))
    end do
    !$omp end parallel do
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

  !> The projection of R^T (X + q_m) - X.
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

  !> Reduced velocities behind those of the nodes, from the nodes' ones: the projection of R^T u_m.
  subroutine reduced_velocities(nr, number, modes, modal, vector_ptr, nvector, vectors, nfirst, first, nnode, velo_row, mass, &
                                nbody, rotation, nvelo, velo)
    integer(i4), intent(in) :: nr, nvector, nfirst, nnode, nbody, nvelo
    integer(i4), intent(in) :: number(0:nr-1), modes(0:nr-1), modal(0:nr-1), vector_ptr(0:nr-1)
    real(dp), intent(in) :: vectors(0:nvector-1)
    integer(i4), intent(in) :: first(0:nfirst-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: mass(0:nnode-1), rotation(3,3,0:nbody-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1)
    integer :: b, i, n, v

    do i = 0, nr - 1
      b = number(i)
      n = first(b+1) - first(b)
      v = velo_row(first(b))
      call project_back(modes(i), n, vectors(vector_ptr(i)), modal(i), mass(first(b)), rotation(:,:,b), velo(1,v), velo(1,v+n))
    end do
  end subroutine reduced_velocities

  !> Velocities of the nodes from the reduced ones behind them: u_m = R E u.
  subroutine nodal_velocities(nr, number, modes, vector_ptr, nvector, vectors, nfirst, first, nnode, velo_row, nbody, rotation, &
                              nvelo, velo)
    integer(i4), intent(in) :: nr, nvector, nfirst, nnode, nbody, nvelo
    integer(i4), intent(in) :: number(0:nr-1), modes(0:nr-1), vector_ptr(0:nr-1)
    real(dp), intent(in) :: vectors(0:nvector-1)
    integer(i4), intent(in) :: first(0:nfirst-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: rotation(3,3,0:nbody-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1)
    integer :: b, i, n, v

    do i = 0, nr - 1
      b = number(i)
      n = first(b+1) - first(b)
      v = velo_row(first(b))
      velo(:,v:v+n-1) = 0
      call add_motion(modes(i), n, vectors(vector_ptr(i)), rotation(:,:,b), velo(1,v+n), velo(1,v))
    end do
  end subroutine nodal_velocities

  !> E^T y, or E^T M y where modal.
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

  !> The same of R^T y.
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

  !> um = um + R E u.
  pure subroutine add_motion(k, n, e, rotation, u, um)
    integer, intent(in) :: k, n
    real(dp), intent(in) :: e(k,3,n), rotation(3,3), u(k)
    real(dp), intent(inout) :: um(3,n)
    integer :: a

    do a = 1, n
      um(:,a) = um(:,a) + matmul(rotation, [dot_product(e(:,1,a), u), dot_product(e(:,2,a), u), dot_product(e(:,3,a), u)])
    end do
  end subroutine add_motion

  !> A x, column by column.
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
