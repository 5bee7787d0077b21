!> Contacts of pairs of polyhedra as sets of points, many pairs per call; see `manifold`.
module manifolds
  use kinds, only: dp, i4
  use polyhedra, only: shape_tables, polyhedron, reserve_polyhedron, gather_polyhedron
  use manifold, only: manifold_work, manifold_points, reserve_manifold, find_manifold
  use time_of_impact, only: is_fast, furthest_ways, impact_of_polyhedra, met, missed, beside
  use state_tables, only: narrow_result, patch_result
  use velocity_operator, only: finite_element_kind
  use thread_work, only: pays
  implicit none
  private
  public :: find_manifolds

  integer(i4), parameter :: sphere = 2
  real(dp), parameter :: last_places = 64*epsilon(1.0_dp)
  real(dp), parameter :: sliver_part = 0.02_dp  !< part of the margin: smaller overlaps do not determine the direction in which bodies met

contains

  !> Finds the contacts of the pairs of polyhedra; writes all columns of `results` and `patches`.
  !> See `find_contacts` and `find_patches` for arguments; body_kind (:) of bodies.
  subroutine find_manifolds(pairs, first, second, epsilon, tables, body_kind, results, patches)
    integer(i4), intent(in) :: first(0:), second(0:), body_kind(0:)
    type(shape_tables), intent(in) :: tables
    type(narrow_result), intent(in) :: results
    type(patch_result), intent(in) :: patches
    integer(i4), intent(in) :: pairs
    real(dp), intent(in) :: epsilon
    type(polyhedron) :: one, two
    type(manifold_work) :: work
    type(manifold_points) :: made
    real(dp) :: centre(3), size, touching, margin, way(3), ways(3), push(3), sliver, reach
    integer(i4) :: k, m, a, b, most_vertices, most_faces, most_corners
    integer :: state

    most_vertices = 1
    most_faces = 1
    do k = 0, pairs - 1
      most_vertices = max(most_vertices, tables%vertex_count(first(k)), tables%vertex_count(second(k)))
      most_faces = max(most_faces, tables%face_count(first(k)), tables%face_count(second(k)))
    end do
    most_corners = most_vertices  ! no face has more
    !$omp parallel if (pays(pairs, 500)) default(shared) private(one, two, work, made, k, m, a, b, centre, size, touching, &
    !$omp   margin, way, ways, push, sliver, reach, state)
    call reserve_polyhedron(one, most_vertices, most_faces)
    call reserve_polyhedron(two, most_vertices, most_faces)
    call reserve_manifold(work, most_faces, most_corners)
    !$omp do schedule(dynamic, 32)
    do k = 0, pairs - 1
      a = first(k)
      b = second(k)
      if (max(tables%kind(a), tables%kind(b)) >= sphere) cycle
      results%status(k) = 0
      patches%slots(k) = 1
      margin = min(tables%margin(a), tables%margin(b))
      centre = 0.5_dp*(max(tables%box(1:3,a), tables%box(1:3,b)) + min(tables%box(4:6,a), tables%box(4:6,b)))
      ways = furthest_ways(tables, a, b)
      if (.not. is_fast(ways, margin)) ways = 0
      if (any(tables%box(1:3,a) > tables%box(4:6,b) + margin + ways) .or. &
        any(tables%box(1:3,b) > tables%box(4:6,a) + margin + ways)) cycle
      size = max(maxval(tables%box(4:6,a) - tables%box(1:3,a)), maxval(tables%box(4:6,b) - tables%box(1:3,b)))
      touching = max(epsilon, last_places*size)
      call gather_polyhedron(tables, a, centre, one)
      call gather_polyhedron(tables, b, centre, two)
      sliver = max(10*touching, sliver_part*margin)
      reach = max(margin, touching)
      way = 0
      push = 0
      if (any(ways > 0)) then
        call move_to_impact(tables, a, b, one, two, centre, margin, touching, size, way, push, state)
        if (state == missed) cycle
        if (state == met) reach = reach + norm2(ways)   ! an end that falls down while the other one rests
        if (any(way /= 0)) call gather_polyhedron(tables, b, centre - way, two)   ! its place at the impact
      end if
      call find_manifold(one, two, tables, a, b, centre, touching, reach, sliver, push, size, body_kind(tables%body(a)) == &
        finite_element_kind .and. body_kind(tables%body(b)) == finite_element_kind, work, made)
      if (.not. made%found) cycle
      results%status(k) = 1
      results%outward(k) = 0
      results%degenerate(k) = 0
      results%normal(:,k) = made%normal
      results%area(k) = made%area
      patches%slots(k) = made%slots
      do m = 0, 3
        patches%point(:,m+1,k) = made%point(:,m) + centre - 0.5_dp*way
        patches%gap(m+1,k) = made%gap(m) - dot_product(way, made%normal)
      end do
      results%gap(k) = patches%gap(1,k)
      results%slave_point(:,k) = patches%point(:,1,k) - 0.5_dp*max(results%gap(k), 0.0_dp)*made%normal
      results%master_point(:,k) = patches%point(:,1,k) + 0.5_dp*max(results%gap(k), 0.0_dp)*made%normal
      results%surface(1,k) = tables%face_surface(tables%face_ptr(a) + made%face(1) - 1)
      results%surface(2,k) = tables%face_surface(tables%face_ptr(b) + made%face(2) - 1)
    end do
    !$omp end do
    !$omp end parallel
  end subroutine find_manifolds

  !> Finds the motion of the second polyhedron relative to the first, of this step, with which they meet.
  !>
  !> Loads may be borne by other contacts: a body that slides over a floor falls on its predicted way by g h^2, and a foil beneath
  !> the next one.  So the way is the one without what loads add to it, if the bodies meet on it.
  !>
  !>   push    part of the way that loads of this step have made and that must not hide the direction in which bodies met
  !>   state   `met`, `missed`, or `beside` without a way
  pure subroutine move_to_impact(tables, a, b, one, two, centre, margin, touching, size, way, push, state)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: a, b
    type(polyhedron), intent(in) :: one, two
    real(dp), intent(in) :: centre(3), margin, touching, size
    real(dp), intent(out) :: way(3), push(3)
    integer, intent(out) :: state
    real(dp), parameter :: nothing(3) = 0
    real(dp) :: time, all_push(3)

    all_push = tables%push(:,b) - tables%push(:,a)
    push = 0
    state = missed
    if (norm2(all_push) > touching) call impact_of_polyhedra(tables, a, b, one, two, centre, all_push, margin, touching, size, &
      way, time, state)
    if (state /= met) then
      call impact_of_polyhedra(tables, a, b, one, two, centre, nothing, margin, touching, size, way, time, state)
      if (state == beside) time = 0
      push = time*all_push
      if (norm2(push) > margin) push = 0   ! loads that move bodies further bring them together by themselves
    end if
    way = time*way
  end subroutine move_to_impact

end module manifolds
