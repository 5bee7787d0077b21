!> Contact of spheres with spheres and with triangles of obstacles, eight pairs at a time.
!>
!> ContactTable holds pairs that may touch before a sphere has moved by half of the margin; then Python lists them again.
module granular_contacts
  use kinds, only: dp, i4
  use state_tables, only: model_tables
  use matrix3, only: cross
  use rotation, only: exponential_map
  implicit none
  private
  public :: move_obstacles, must_search, find_touching, contact_forces

  integer, parameter :: lanes = 8
  !> Below so many pairs one thread is faster.
  integer(i4), parameter :: few_pairs = 512
  !> Distance of coincident centres along their last normal; its square is a number.
  real(dp), parameter :: smallest = 1e-150_dp

  !> Eight pairs that may touch.
  type :: batch
    real(dp) :: away(lanes,3)                     !< from the second centre, or a triangle's closest point, to the first centre
    real(dp) :: leave(lanes,3), turn(lanes,3)     !< the velocity at the point relative to the first sphere is leave + turn x away
    real(dp) :: point(lanes,3), normal(lanes,3)
    real(dp) :: reach(lanes)                      !< sum of the radii
    real(dp) :: depth(lanes)
    real(dp) :: mass(lanes), other_mass(lanes)
    real(dp) :: moves(lanes)                      !< 1: the second party has a mass; 0: it is an obstacle
    real(dp) :: spring(lanes), damper(lanes), share(lanes), static(lanes), dynamic(lanes)
    real(dp) :: touches(lanes)                    !< 1: there is a contact; 0: there is none
    real(dp) :: slip(lanes,3)
    real(dp) :: pull(lanes)                       !< force along the normal
    real(dp) :: across(lanes,3)                   !< force across it
    real(dp) :: force(lanes,3)                    !< on the first sphere
  end type batch

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

  !> Computes depths, points and normals of all pairs, and which of them touch.
  subroutine find_touching(model)
    type(model_tables), intent(inout) :: model

    call visit_pairs(model, 0.0_dp, .false.)
  end subroutine find_touching

  !> Computes forces on the first particles of all contacts.
  subroutine contact_forces(model, h)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: h                     !< [time]

    call visit_pairs(model, h, .true.)
  end subroutine contact_forces

  !> Computes geometry and, if asked for, forces of all pairs, eight at a time.
  subroutine visit_pairs(model, h, forces)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: h                     !< [time]
    logical, intent(in) :: forces
    type(batch) :: now
    integer(i4) :: count, first, n

    n = int(model%contacts%rows, i4)
    associate (contacts => model%contacts, laws => model%pairings, particles => model%particles)
      !$omp parallel do private(now, count) schedule(static) if (n > few_pairs)
      do first = 0, n - 1, lanes
        count = min(lanes, n - first)
        call take_pairs(first, count, contacts%pair, particles%position, particles%velocity, particles%spin, particles%radius, &
                        particles%mass, now)
        call take_laws(first, count, contacts%pairing, laws%spring, laws%damper, laws%tangential, laws%friction, contacts%alive, &
                       contacts%slip, now)
        call take_exceptions(model, first, count, now)
        call follow_law(h, now)
        call store_geometry(first, count, now, contacts%depth, contacts%point, contacts%normal, contacts%alive, contacts%slip)
        if (forces) call store_forces(first, count, now, contacts%normal_force, contacts%tangential, contacts%force)
      end do
    end associate
  end subroutine visit_pairs

  !> Reads eight pairs of spheres; if there are fewer, repeats the last one.  Triangles are read as spheres here.
  pure subroutine take_pairs(first, count, pair, position, velocity, spin, radius, mass, now)
    integer(i4), intent(in) :: first, count
    integer(i4), intent(in) :: pair(2,0:*)
    real(dp), intent(in) :: position(3,0:*), velocity(3,0:*), spin(3,0:*), radius(0:*), mass(0:*)
    type(batch), intent(inout) :: now
    integer :: i
    integer(i4) :: a, b, l

    do l = 1, lanes
      a = pair(1,first+min(l,count)-1)
      b = max(0, pair(2,first+min(l,count)-1))
      do i = 1, 3
        now%away(l,i) = position(i,a) - position(i,b)
        now%point(l,i) = 0.5_dp*(position(i,a) + position(i,b))
        now%leave(l,i) = velocity(i,b) - velocity(i,a)
        now%turn(l,i) = 0.5_dp*(spin(i,a) + spin(i,b))
      end do
      now%reach(l) = radius(a) + radius(b)
      now%mass(l) = mass(a)
      now%other_mass(l) = mass(b)
      now%moves(l) = 1
    end do
  end subroutine take_pairs

  !> Reads the laws and states of eight pairs.
  pure subroutine take_laws(first, count, pairing, spring, damper, tangential, friction, alive, slip, now)
    integer(i4), intent(in) :: first, count
    integer(i4), intent(in) :: pairing(0:*), alive(0:*)
    real(dp), intent(in) :: spring(0:*), damper(0:*), tangential(0:*), friction(2,0:*), slip(3,0:*)
    type(batch), intent(inout) :: now
    integer(i4) :: c, l, law

    do l = 1, lanes
      c = first + min(l, count) - 1
      law = pairing(c)
      now%spring(l) = spring(law)
      now%damper(l) = damper(law)
      now%share(l) = tangential(law)
      now%static(l) = friction(1,law)
      now%dynamic(l) = friction(2,law)
      now%touches(l) = alive(c)
      now%slip(l,1) = slip(1,c)
      now%slip(l,2) = slip(2,c)
      now%slip(l,3) = slip(3,c)
    end do
  end subroutine take_laws

  !> Reads pairs of a sphere and a triangle, and lets spheres whose centres coincide keep their last normal.
  subroutine take_exceptions(model, first, count, now)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: first, count
    type(batch), intent(inout) :: now
    integer(i4) :: a, b, c, l, o

    associate (obstacles => model%obstacles, particles => model%particles, triangles => model%triangles)
      do l = 1, lanes
        c = first + min(l, count) - 1
        b = model%contacts%pair(2,c)
        if (b < 0) then
          a = model%contacts%pair(1,c)
          o = triangles%obstacle(-1-b)
          now%point(l,:) = closest_point(triangles%corner(:,:,-1-b), particles%position(:,a))
          now%away(l,:) = particles%position(:,a) - now%point(l,:)
          now%leave(l,:) = obstacles%linear(:,o) + cross(obstacles%angular(:,o), now%point(l,:) - obstacles%point(:,o)) &
                           - particles%velocity(:,a)
          now%turn(l,:) = particles%spin(:,a)
          now%reach(l) = particles%radius(a)
          now%moves(l) = 0
        end if
        if (.not. any(abs(now%away(l,:)) > 0)) now%away(l,:) = smallest*model%contacts%normal(:,c)
      end do
    end associate
  end subroutine take_exceptions

  !> Computes geometry and forces of eight pairs: fn = k d + e vn and ft = s (k T + e vt), with T the sum of h vt.
  !>
  !> A contact begins at positive depth d and ends at negative depth.  ft beyond static friction falls to dynamic friction.
  pure subroutine follow_law(h, now)
    real(dp), intent(in) :: h
    type(batch), intent(inout) :: now
    real(dp) :: approach, bound, damping, distance, factor, inverse, size, x, y, z
    integer :: l

    !$omp simd private(approach, bound, damping, distance, factor, inverse, size, x, y, z)
    do l = 1, lanes
      distance = sqrt(now%away(l,1)*now%away(l,1) + now%away(l,2)*now%away(l,2) + now%away(l,3)*now%away(l,3))
      inverse = 1/max(distance, tiny(distance))
      now%normal(l,1) = inverse*now%away(l,1)
      now%normal(l,2) = inverse*now%away(l,2)
      now%normal(l,3) = inverse*now%away(l,3)
      now%depth(l) = now%reach(l) - distance
      factor = merge(now%touches(l), 0.0_dp, now%depth(l) >= 0)
      factor = merge(1.0_dp, factor, now%depth(l) > 0)
      x = now%leave(l,1) + now%turn(l,2)*now%away(l,3) - now%turn(l,3)*now%away(l,2)
      y = now%leave(l,2) + now%turn(l,3)*now%away(l,1) - now%turn(l,1)*now%away(l,3)
      z = now%leave(l,3) + now%turn(l,1)*now%away(l,2) - now%turn(l,2)*now%away(l,1)
      approach = x*now%normal(l,1) + y*now%normal(l,2) + z*now%normal(l,3)
      x = x - approach*now%normal(l,1)
      y = y - approach*now%normal(l,2)
      z = z - approach*now%normal(l,3)
      now%slip(l,1) = now%touches(l)*now%slip(l,1) + factor*h*x
      now%slip(l,2) = now%touches(l)*now%slip(l,2) + factor*h*y
      now%slip(l,3) = now%touches(l)*now%slip(l,3) + factor*h*z
      damping = 2*now%damper(l)*sqrt(now%spring(l)/(1/now%mass(l) + now%moves(l)/now%other_mass(l)))
      now%pull(l) = factor*(now%spring(l)*now%depth(l) + damping*approach)
      x = factor*now%share(l)*(now%spring(l)*now%slip(l,1) + damping*x)
      y = factor*now%share(l)*(now%spring(l)*now%slip(l,2) + damping*y)
      z = factor*now%share(l)*(now%spring(l)*now%slip(l,3) + damping*z)
      now%touches(l) = factor
      size = sqrt(x*x + y*y + z*z)
      bound = max(0.0_dp, now%pull(l))
      factor = now%dynamic(l)*bound/max(size, tiny(size))
      factor = merge(factor, 1.0_dp, size > now%static(l)*bound)
      now%across(l,1) = factor*x
      now%across(l,2) = factor*y
      now%across(l,3) = factor*z
      now%force(l,1) = now%pull(l)*now%normal(l,1) + now%across(l,1)
      now%force(l,2) = now%pull(l)*now%normal(l,2) + now%across(l,2)
      now%force(l,3) = now%pull(l)*now%normal(l,3) + now%across(l,3)
    end do
  end subroutine follow_law

  !> Stores depths, points, normals and states of eight pairs.
  pure subroutine store_geometry(first, count, now, depth, point, normal, alive, slip)
    integer(i4), intent(in) :: first, count
    type(batch), intent(in) :: now
    real(dp), intent(inout) :: depth(0:*), point(3,0:*), normal(3,0:*), slip(3,0:*)
    integer(i4), intent(inout) :: alive(0:*)
    integer(i4) :: c, l

    do l = 1, count
      c = first + l - 1
      depth(c) = now%depth(l)
      alive(c) = int(now%touches(l), i4)
      point(:,c) = now%point(l,:)
      normal(:,c) = now%normal(l,:)
      slip(:,c) = now%slip(l,:)
    end do
  end subroutine store_geometry

  !> Stores forces of eight pairs.
  pure subroutine store_forces(first, count, now, pull, across, force)
    integer(i4), intent(in) :: first, count
    type(batch), intent(in) :: now
    real(dp), intent(inout) :: pull(0:*), across(3,0:*), force(3,0:*)
    integer(i4) :: c, l

    do l = 1, count
      c = first + l - 1
      pull(c) = now%pull(l)
      across(:,c) = now%across(l,:)
      force(:,c) = now%force(l,:)
    end do
  end subroutine store_forces

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
