!> Critical time steps of particles under their springs and contacts.
module critical_steps
  use kinds, only: dp, i4
  use curves, only: curve_at
  use state_tables, only: model_tables
  use kind_numbers, only: link_follower, link_planar, link_plane, link_status_undone
  use particle_motion, only: few_particles
  use torsion_springs, only: torsion_axes
  implicit none
  private
  public :: particle_step, least_step

contains

  !> Computes the longest stable step of one particle, and the frequency and damping ratio that determine it.
  !>
  !> Translation: w**2 = n k/m, with n the largest sum over its springs of a component of their directions, and k the largest slope.
  !> Rotation: w**2 is the largest eigenvalue of k K against J, K = sum of (a.a I - a a^T) over the arms a; with present slopes
  !> those of torsion springs are added to k K.
  !> With the ratio z = c/(2 m w), or c/(2 J w), of the largest damping c the step is 2/w (sqrt(1 + z**2) - z).
  subroutine particle_step(model, p, present, step, frequency, ratio)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: p
    logical, intent(in) :: present                !< use slopes at the present strokes, not the largest ones
    real(dp), intent(out) :: step                 !< huge: there is no limit
    real(dp), intent(out) :: frequency, ratio
    real(dp) :: count(3), damping, k, levers(3,3), slope, turning, twisting(3,3), w
    integer(i4) :: e, end, link

    count = 0
    levers = 0
    twisting = 0
    k = 0
    damping = 0
    step = huge(step)
    frequency = 0
    ratio = 0
    do e = model%particles%first_end(p), model%particles%first_end(p) + model%particles%ends(p) - 1
      end = model%ends%end(e)
      if (end < 0) then
        if (present) twisting = twisting + torsion_stiffness(model, p, (-1 - end)/2)
        cycle
      end if
      link = end/2
      if (model%links%status(link) == link_status_undone) cycle
      count = count + directions_of(model, link)
      levers = levers + lever_square(model%links%lever(:,1+mod(end, 2),link))
      slope = largest_slope(model, model%links%curve(link))
      if (present) slope = slope_at(model, model%links%curve(link), model%links%stroke(link))
      k = max(k, slope)
      if (model%links%dashpot(link) >= 0) damping = max(damping, largest_slope(model, model%links%dashpot(link)))
      ! a ratio z of critical damping means c = 2 z sqrt(k m)
      if (model%links%ratio(link) >= 0) damping = max(damping, 2*model%links%ratio(link)*sqrt(slope*model%particles%mass(p)))
    end do
    call add_contacts(model, p, count, levers, k, damping)
    if (.not. k > 0 .and. .not. any(abs(twisting) > 0)) return
    w = sqrt(maxval(count)*k/model%particles%mass(p))
    if (w > 0) call take(w, damping/(2*model%particles%mass(p)*w))
    w = sqrt(largest_eigenvalue(model%particles%inertia(:,:,p), k*levers + twisting))
    turning = least_eigenvalue(model%particles%inertia(:,:,p))
    if (w > 1e-6_dp*frequency) call take(w, damping/(2*turning*w))  ! without lever arms w is round-off only

  contains

    !> Keeps the shortest step.
    subroutine take(own, own_ratio)
      real(dp), intent(in) :: own, own_ratio
      real(dp) :: limit

      limit = 2/(own*(sqrt(1 + own_ratio**2) + own_ratio))
      if (limit >= step) return
      step = limit
      frequency = own
      ratio = own_ratio
    end subroutine take
  end subroutine particle_step

  !> Shortest stable step of all particles under the present, or the largest, slopes of their springs.
  real(dp) function least_step(model, present) result(least)
    type(model_tables), intent(in) :: model
    logical, intent(in) :: present
    real(dp) :: frequency, ratio, step
    integer(i4) :: p

    least = huge(least)
    !$omp parallel do private(step, frequency, ratio) reduction(min: least) schedule(static) &
    !$omp& if (model%particles%rows > few_particles)
    do p = 0, int(model%particles%rows, i4) - 1
      if (model%particles%driven(p) == 1) cycle
      call particle_step(model, p, present, step, frequency, ratio)
      least = min(least, step)
    end do
  end function least_step

  !> Adds a particle's contacts to the sums over its springs.
  subroutine add_contacts(model, p, count, levers, k, damping)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: p
    real(dp), intent(inout) :: count(3), levers(3,3), k, damping
    real(dp) :: arm(3), stiffness
    integer(i4) :: c, e, law

    do e = model%particles%first_contact(p), model%particles%first_contact(p) + model%particles%contacts(p) - 1
      c = model%contact_ends%contact(e)
      if (model%contacts%alive(c) == 0) cycle
      law = model%contacts%pairing(c)
      stiffness = model%pairings%spring(law)
      count = count + abs(model%contacts%normal(:,c))
      arm = matmul(model%contacts%point(:,c) - model%particles%position(:,p), model%particles%rotation(:,:,p))
      levers = levers + lever_square(arm)
      k = max(k, stiffness)
      damping = max(damping, 2*model%pairings%damper(law)*sqrt(stiffness*model%particles%mass(p)))
    end do
  end subroutine add_contacts

  !> Stiffness of a torsion spring for a particle at the present angles, in the particle's own frame.
  function torsion_stiffness(model, p, s) result(stiffness)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: p, s
    real(dp) :: stiffness(3,3), angle, axes(3,3)
    integer :: i
    integer(i4) :: curve

    axes = torsion_axes(model, s)
    axes = matmul(transpose(model%particles%rotation(:,:,p)), axes)
    stiffness = 0
    do i = 1, 3
      curve = model%torsions%curve(i,s)
      angle = model%torsions%angle(i,s)
      if (model%torsions%cone(i,s) == 1) then
        angle = sqrt(sum(model%torsions%angle(:,s)**2, mask=model%torsions%cone(:,s) == 1))
        curve = model%torsions%curve(merge(1, 2, model%torsions%cone(1,s) == 1),s)
      end if
      if (curve >= 0) stiffness = stiffness + slope_at(model, curve, angle)*dyad(axes(:,i))
    end do
  end function torsion_stiffness

  !> Matrix a a^T.
  pure function dyad(a) result(square)
    real(dp), intent(in) :: a(3)
    real(dp) :: square(3,3)

    square = spread(a, 2, 3)*spread(a, 1, 3)
  end function dyad

  !> Sizes of the components of a spring's directions; a follower spring may get any direction.
  pure function directions_of(model, link) result(sizes)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: link
    real(dp) :: sizes(3)
    integer(i4) :: p

    sizes = model%links%direction(:,link)
    p = model%links%particle(2,link)
    select case (model%links%kind(link))
    case (link_follower)
      sizes = 1
    case (link_planar)
      sizes = sqrt(max(0.0_dp, 1 - sizes**2))
    case (link_plane)
      if (p >= 0) sizes = matmul(model%particles%rotation(:,:,p), sizes)
    end select
    sizes = abs(sizes)
  end function directions_of

  !> Matrix a.a I - a a^T.
  pure function lever_square(a) result(square)
    real(dp), intent(in) :: a(3)
    real(dp) :: square(3,3)
    integer :: i, j

    do j = 1, 3
      do i = 1, 3
        square(i,j) = -a(i)*a(j)
      end do
      square(j,j) = square(j,j) + dot_product(a, a)
    end do
  end function lever_square

  !> Largest slope of a curve, by size.
  pure real(dp) function largest_slope(model, curve)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: curve
    integer(i4) :: first

    first = model%curves%first(curve)
    largest_slope = maxval(abs(model%points%slope(first:first+model%curves%size(curve)-1)))
  end function largest_slope

  !> Size of the slope at a place of a curve.
  pure real(dp) function slope_at(model, curve, place)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: curve
    real(dp), intent(in) :: place
    real(dp) :: value

    call curve_at(model%curves, model%points, curve, place, value, slope_at)
    slope_at = abs(slope_at)
  end function slope_at

  !> Largest x with K v = x J v, for symmetric K and positive definite J.
  pure real(dp) function largest_eigenvalue(j, k) result(largest)
    real(dp), intent(in) :: j(3,3), k(3,3)
    real(dp) :: root(3,3), c(3,3), half(3,3), values(3)
    integer :: i

    root = 0                                      ! J = R R^T
    root(1,1) = sqrt(j(1,1))
    root(2,1) = j(2,1)/root(1,1)
    root(3,1) = j(3,1)/root(1,1)
    root(2,2) = sqrt(j(2,2) - root(2,1)**2)
    root(3,2) = (j(3,2) - root(3,1)*root(2,1))/root(2,2)
    root(3,3) = sqrt(j(3,3) - root(3,1)**2 - root(3,2)**2)
    do i = 1, 3
      half(:,i) = solved(k(:,i))
    end do
    half = transpose(half)
    do i = 1, 3
      c(:,i) = solved(half(:,i))
    end do
    values = eigenvalues(c)
    largest = maxval(values)

  contains

    !> The solution of R x = b.
    pure function solved(b) result(x)
      real(dp), intent(in) :: b(3)
      real(dp) :: x(3)

      x(1) = b(1)/root(1,1)
      x(2) = (b(2) - root(2,1)*x(1))/root(2,2)
      x(3) = (b(3) - root(3,1)*x(1) - root(3,2)*x(2))/root(3,3)
    end function solved
  end function largest_eigenvalue

  !> The smallest eigenvalue of a symmetric matrix.
  pure real(dp) function least_eigenvalue(a)
    real(dp), intent(in) :: a(3,3)

    least_eigenvalue = minval(eigenvalues(a))
  end function least_eigenvalue

  !> Eigenvalues of a symmetric matrix by Jacobi's rotations.
  pure function eigenvalues(matrix) result(values)
    real(dp), intent(in) :: matrix(3,3)
    real(dp) :: values(3), a(3,3), cosine, outer, sine, tangent, theta
    real(dp) :: turn(3,3)
    integer :: i, j, k, sweep

    a = 0.5_dp*(matrix + transpose(matrix))
    do sweep = 1, 20
      outer = abs(a(2,1)) + abs(a(3,1)) + abs(a(3,2))
      if (.not. outer > epsilon(outer)*(abs(a(1,1)) + abs(a(2,2)) + abs(a(3,3)))) exit
      do k = 1, 3
        i = merge(2, 1, k == 3)
        j = merge(2, 3, k == 1)
        if (.not. abs(a(i,j)) > 0) cycle
        theta = (a(j,j) - a(i,i))/(2*a(i,j))
        tangent = sign(1.0_dp, theta)/(abs(theta) + sqrt(theta**2 + 1))
        cosine = 1/sqrt(tangent**2 + 1)
        sine = tangent*cosine
        turn = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1]*1.0_dp, [3, 3])
        turn(i,i) = cosine
        turn(j,j) = cosine
        turn(i,j) = sine
        turn(j,i) = -sine
        a = matmul(transpose(turn), matmul(a, turn))
      end do
    end do
    values = [a(1,1), a(2,2), a(3,3)]
  end function eigenvalues
end module critical_steps
