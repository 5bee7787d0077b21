!> Contacts of pairs of polyhedra as sets of points, many pairs per call; see `manifold`.
module manifolds
  use kinds, only: dp, i4
  use polyhedra, only: shape_tables, polyhedron, reserve_polyhedron, gather_polyhedron
  use manifold, only: manifold_work, manifold_points, reserve_manifold, find_manifold
  use time_of_impact, only: is_fast, way_at, time_of_polyhedra, missed
  use velocity_operator, only: finite_element_kind
  implicit none
  private
  public :: find_manifolds

  integer(i4), parameter :: sphere = 2
  integer, parameter :: serial_count = 200
  real(dp), parameter :: last_places = 64*epsilon(1.0_dp)
  real(dp), parameter :: sliver_part = 0.02_dp  !< of the margin: overlaps up to this do not tell which way bodies met

contains

  !> Finds the contacts of those pairs of primitives that are polyhedra.  Arguments are those of `find_contacts` and
  !> `find_patches`, but for
  !>
  !>   owner, body_kind   (:) body of a primitive; kind of a body
  !>   drift              ways of primitives within the step; see `primitive_motion`
  subroutine find_manifolds(pairs, first, second, epsilon, reach, drift, kind, surface, box, vertex_ptr, vertex_count, face_ptr, &
      face_count, outer_count, edge_count, owner, body_kind, vertex_list, corner_ptr, corner_count, face_surface, face_normal, &
      corner, edge, current, status, outward, degenerate, normal, slave_point, master_point, gap, area, surfaces, slots, points, &
      gaps, npair, nprimitive, nbody, nlisted, nface, ncorner, nvertex, nresult, npatch)
    integer(i4), intent(in) :: pairs, npair, nprimitive, nbody, nlisted, nface, ncorner, nvertex, nresult, npatch
    integer(i4), intent(in) :: first(0:npair-1), second(0:npair-1)
    real(dp), intent(in) :: epsilon, reach(0:nprimitive-1), drift(3,4,0:nprimitive-1)
    integer(i4), intent(in), target :: kind(0:nprimitive-1), surface(0:nprimitive-1)
    real(dp), intent(in), target :: box(6,0:nprimitive-1)
    integer(i4), intent(in), target :: vertex_ptr(0:nprimitive-1), vertex_count(0:nprimitive-1)
    integer(i4), intent(in), target :: face_ptr(0:nprimitive-1), face_count(0:nprimitive-1), outer_count(0:nprimitive-1)
    integer(i4), intent(in), target :: edge_count(0:nprimitive-1)
    integer(i4), intent(in) :: owner(0:nprimitive-1), body_kind(0:nbody-1)
    integer(i4), intent(in), target :: vertex_list(0:nlisted-1)
    integer(i4), intent(in), target :: corner_ptr(0:nface-1), corner_count(0:nface-1), face_surface(0:nface-1)
    real(dp), intent(in), target :: face_normal(3,0:nface-1)
    integer(i4), intent(in), target :: corner(0:ncorner-1), edge(0:ncorner-1)
    real(dp), intent(in), target :: current(3,0:nvertex-1)
    integer(i4), intent(inout) :: status(0:nresult-1), outward(0:nresult-1), degenerate(0:nresult-1)
    real(dp), intent(inout) :: normal(3,0:nresult-1), slave_point(3,0:nresult-1), master_point(3,0:nresult-1)
    real(dp), intent(inout) :: gap(0:nresult-1), area(0:nresult-1)
    integer(i4), intent(inout) :: surfaces(2,0:nresult-1)
    integer(i4), intent(inout) :: slots(0:npatch-1)
    real(dp), intent(inout) :: points(3,0:3,0:npatch-1), gaps(0:3,0:npatch-1)
    type(shape_tables) :: tables
    type(polyhedron) :: one, two
    type(manifold_work) :: work
    type(manifold_points) :: made
    real(dp) :: centre(3), size, touching, margin, way(3), sliver, time
    integer(i4) :: k, m, a, b, most_vertices, most_faces, most_corners
    integer :: state

    tables%kind(0:) => kind
    tables%surface(0:) => surface
    tables%box(1:, 0:) => box
    tables%vertex_ptr(0:) => vertex_ptr
    tables%vertex_count(0:) => vertex_count
    tables%face_ptr(0:) => face_ptr
    tables%face_count(0:) => face_count
    tables%outer_count(0:) => outer_count
    tables%vertex_list(0:) => vertex_list
    tables%corner_ptr(0:) => corner_ptr
    tables%corner_count(0:) => corner_count
    tables%face_surface(0:) => face_surface
    tables%normal(1:, 0:) => face_normal
    tables%corner(0:) => corner
    tables%edge_count(0:) => edge_count
    tables%edge(0:) => edge
    tables%current(1:, 0:) => current
    most_vertices = 1
    most_faces = 1
    do k = 0, pairs - 1
      most_vertices = max(most_vertices, vertex_count(first(k)), vertex_count(second(k)))
      most_faces = max(most_faces, face_count(first(k)), face_count(second(k)))
    end do
    most_corners = most_vertices  ! no face has more
    !$omp parallel if (pairs > serial_count) default(shared) private(one, two, work, made, k, m, a, b, centre, size, touching, &
    !$omp   margin, way, sliver, time, state)
    call reserve_polyhedron(one, most_vertices, most_faces)
    call reserve_polyhedron(two, most_vertices, most_faces)
    call reserve_manifold(work, most_faces, most_corners)
    !$omp do schedule(dynamic, 32)
    do k = 0, pairs - 1
      a = first(k)
      b = second(k)
      if (max(kind(a), kind(b)) >= sphere) cycle
      status(k) = 0
      slots(k) = 1
      margin = min(reach(a), reach(b))
      centre = 0.5_dp*(max(box(1:3,a), box(1:3,b)) + min(box(4:6,a), box(4:6,b)))
      way = way_at(centre, box(:,b), drift(:,:,b)) - way_at(centre, box(:,a), drift(:,:,a))
      if (.not. is_fast(way, margin)) way = 0
      if (any(box(1:3,a) > box(4:6,b) + margin + abs(way)) .or. any(box(1:3,b) > box(4:6,a) + margin + abs(way))) cycle
      size = max(maxval(box(4:6,a) - box(1:3,a)), maxval(box(4:6,b) - box(1:3,b)))
      touching = max(epsilon, last_places*size)
      call gather_polyhedron(tables, a, centre, one)
      call gather_polyhedron(tables, b, centre, two)
      sliver = max(10*touching, sliver_part*margin)
      if (any(abs(way) > 0)) then
        call time_of_polyhedra(one, two, way, touching, size, time, state)
        if (state == missed) cycle
        way = time*way
        if (time > 0) call gather_polyhedron(tables, b, centre - way, two)   ! where it is at the impact
      end if
      call find_manifold(one, two, corner_ptr, corner_count, corner, edge, touching, max(margin, touching), &
        sliver, size, body_kind(owner(a)) == finite_element_kind .and. &
        body_kind(owner(b)) == finite_element_kind, work, made)
      if (.not. made%found) cycle
      status(k) = 1
      outward(k) = 0
      degenerate(k) = 0
      normal(:,k) = made%normal
      area(k) = made%area
      slots(k) = made%slots
      do m = 0, 3
        points(:,m,k) = made%point(:,m) + centre - 0.5_dp*way
        gaps(m,k) = made%gap(m) - dot_product(way, made%normal)
      end do
      gap(k) = gaps(0,k)
      slave_point(:,k) = points(:,0,k) - 0.5_dp*max(gap(k), 0.0_dp)*made%normal
      master_point(:,k) = points(:,0,k) + 0.5_dp*max(gap(k), 0.0_dp)*made%normal
      surfaces(1,k) = face_surface(face_ptr(a) + made%face(1) - 1)
      surfaces(2,k) = face_surface(face_ptr(b) + made%face(2) - 1)
    end do
    !$omp end do
    !$omp end parallel
  end subroutine find_manifolds

end module manifolds
