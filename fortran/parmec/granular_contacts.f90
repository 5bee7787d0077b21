!> Contact of spheres with spheres and with triangles of obstacles.
!>
!> ContactTable holds pairs that may touch before a sphere has moved by half of the margin; then Python lists them again.
module granular_contacts
  use kinds, only: dp, i4
  use explicit_model, only: model_tables
  use matrix3, only: cross
  use rotation, only: exponential_map
  implicit none
  private
  public :: move_obstacles, must_search, find_touching, contact_forces

  !> Below so many pairs one thread is faster.
  integer(i4), parameter :: few_pairs = 512

contains

  !> Moves obstacles by a time with their present velocities: turns them about their points, then translates both.
  subroutine move_obstacles(model, h)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: h                     !< [time]
    real(dp) :: turn(3,3), shift(3)
    integer :: corner
    integer(i4) :: o, t

    associate (obstacles => model%obstacles, triangles => model%triangles)
      do o = 0, int(obstacles%rows, i4) - 1
        if (obstacles%moving(o) == 0) cycle
        call exponential_map(h*obstacles%angular(:,o), turn)
        shift = obstacles%point(:,o) + h*obstacles%linear(:,o)
        do t = obstacles%first(o), obstacles%first(o) + obstacles%size(o) - 1
          do corner = 1, 3
            triangles%corner(:,corner,t) = matmul(turn, triangles%corner(:,corner,t) - obstacles%point(:,o)) + shift
            obstacles%moved(o) = max(obstacles%moved(o), norm2(triangles%corner(:,corner,t) - triangles%searched(:,corner,t)))
          end do
        end do
        obstacles%point(:,o) = shift
      end do
    end associate
  end subroutine move_obstacles

  !> Whether a sphere, or a corner of an obstacle, has moved by more than half of the margin since the pairs were listed.
  logical function must_search(model)
    type(model_tables), intent(in) :: model
    real(dp) :: limit, most
    integer(i4) :: k, p

    limit = 0.5_dp*model%control%margin(0)
    most = 0
    !$omp parallel do private(p) reduction(max: most) schedule(static) if (model%spheres%rows > few_pairs)
    do k = 0, int(model%spheres%rows, i4) - 1
      p = model%spheres%particle(k)
      most = max(most, sum((model%particles%position(:,p) - model%spheres%searched(:,k))**2))
    end do
    must_search = sqrt(most) > limit
    if (model%obstacles%rows > 0) must_search = must_search .or. &
      maxval(model%obstacles%moved(0:int(model%obstacles%rows, i4)-1)) > limit
  end function must_search

  !> Computes depths, points and normals of all pairs; a contact begins at positive depth and ends at negative depth.
  subroutine find_touching(model)
    type(model_tables), intent(inout) :: model
    real(dp) :: away(3), distance
    integer(i4) :: a, b, c

    associate (contacts => model%contacts, particles => model%particles)
      !$omp parallel do private(away, distance, a, b) schedule(static) if (contacts%rows > few_pairs)
      do c = 0, int(contacts%rows, i4) - 1
        a = contacts%pair(1,c)
        b = contacts%pair(2,c)
        if (b >= 0) then
          away = particles%position(:,a) - particles%position(:,b)
          distance = norm2(away)
          contacts%depth(c) = particles%radius(a) + particles%radius(b) - distance
          contacts%point(:,c) = 0.5_dp*(particles%position(:,a) + particles%position(:,b))
        else
          contacts%point(:,c) = closest_point(model%triangles%corner(:,:,-1-b), particles%position(:,a))
          away = particles%position(:,a) - contacts%point(:,c)
          distance = norm2(away)
          contacts%depth(c) = particles%radius(a) - distance
        end if
        if (distance > 0) contacts%normal(:,c) = away/distance
        if (contacts%alive(c) == 0 .and. contacts%depth(c) > 0) then
          contacts%alive(c) = 1
          contacts%slip(:,c) = 0
        else if (contacts%depth(c) < 0) then
          contacts%alive(c) = 0
        end if
      end do
    end associate
  end subroutine find_touching

  !> Computes forces on the first particles of all contacts.
  subroutine contact_forces(model, h)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: h                     !< [time]
    integer(i4) :: c

    call find_touching(model)
    !$omp parallel do schedule(static) if (model%contacts%rows > few_pairs)
    do c = 0, int(model%contacts%rows, i4) - 1
      if (model%contacts%alive(c) == 1) then
        call one_contact(model, c, h)
      else
        model%contacts%normal_force(c) = 0
        model%contacts%tangential(:,c) = 0
        model%contacts%force(:,c) = 0
      end if
    end do
  end subroutine contact_forces

  !> Computes fn = k d + e vn and ft = s (k T + e vt), T the sum of h vt; ft beyond static friction falls to dynamic friction.
  subroutine one_contact(model, c, h)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: c
    real(dp), intent(in) :: h
    real(dp) :: approach, bound, damping, inverse_mass, normal(3), relative(3), size
    integer(i4) :: a, b, law

    associate (contacts => model%contacts, pairings => model%pairings)
      a = contacts%pair(1,c)
      b = contacts%pair(2,c)
      law = contacts%pairing(c)
      normal = contacts%normal(:,c)
      inverse_mass = 1/model%particles%mass(a)
      if (b >= 0) inverse_mass = inverse_mass + 1/model%particles%mass(b)
      damping = 2*pairings%damper(law)*sqrt(pairings%spring(law)/inverse_mass)
      relative = velocity_of_second(model, b, contacts%point(:,c)) - point_velocity(model, a, contacts%point(:,c))
      approach = dot_product(relative, normal)
      relative = relative - approach*normal
      contacts%normal_force(c) = pairings%spring(law)*contacts%depth(c) + damping*approach
      contacts%slip(:,c) = contacts%slip(:,c) + h*relative
      contacts%tangential(:,c) = pairings%tangential(law)*(pairings%spring(law)*contacts%slip(:,c) + damping*relative)
      size = norm2(contacts%tangential(:,c))
      bound = max(0.0_dp, contacts%normal_force(c))
      if (size > pairings%friction(1,law)*bound) then
        contacts%tangential(:,c) = (pairings%friction(2,law)*bound/size)*contacts%tangential(:,c)
      end if
      contacts%force(:,c) = contacts%normal_force(c)*normal + contacts%tangential(:,c)
    end associate
  end subroutine one_contact

  !> Velocity of a particle's material point.
  pure function point_velocity(model, p, point) result(velocity)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: p
    real(dp), intent(in) :: point(3)
    real(dp) :: velocity(3)

    velocity = model%particles%velocity(:,p) + cross(model%particles%spin(:,p), point - model%particles%position(:,p))
  end function point_velocity

  !> Velocity of the second party of a contact: a sphere, or the obstacle of a triangle.
  pure function velocity_of_second(model, b, point) result(velocity)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: point(3)
    real(dp) :: velocity(3)
    integer(i4) :: o

    if (b >= 0) then
      velocity = point_velocity(model, b, point)
      return
    end if
    o = model%triangles%obstacle(-1-b)
    velocity = model%obstacles%linear(:,o) + cross(model%obstacles%angular(:,o), point - model%obstacles%point(:,o))
  end function velocity_of_second

  !> Point of a triangle that is closest to a point: its projection, or the closest point of a side if that is outside.
  pure function closest_point(corner, point) result(closest)
    real(dp), intent(in) :: corner(3,3), point(3)
    real(dp) :: closest(3), normal(3), other(3), square
    integer :: i, j
    logical :: inside

    normal = cross(corner(:,2) - corner(:,1), corner(:,3) - corner(:,1))
    square = dot_product(normal, normal)
    inside = square > 0
    do i = 1, 3
      j = mod(i, 3) + 1
      inside = inside .and. dot_product(cross(corner(:,j) - corner(:,i), point - corner(:,i)), normal) >= 0
    end do
    if (inside) then
      closest = point - dot_product(point - corner(:,1), normal)/square*normal
      return
    end if
    closest = on_side(corner(:,1), corner(:,2), point)
    do i = 2, 3
      other = on_side(corner(:,i), corner(:,mod(i, 3)+1), point)
      if (sum((point - other)**2) < sum((point - closest)**2)) closest = other
    end do
  end function closest_point

  !> Closest point of the side from a to b.
  pure function on_side(a, b, point) result(closest)
    real(dp), intent(in) :: a(3), b(3), point(3)
    real(dp) :: closest(3), share, square

    square = sum((b - a)**2)
    share = 0
    if (square > 0) share = min(1.0_dp, max(0.0_dp, dot_product(point - a, b - a)/square))
    closest = a + share*(b - a)
  end function on_side
end module granular_contacts
