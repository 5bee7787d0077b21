!> Shapes follow their bodies: current vertices, face normals, boxes of primitives and extents of bodies.
module update_geometry
  use kinds, only: dp, i4, i8
  use kind_numbers, only: pseudo_rigid_kind => body_pseudo_rigid, finite_element_kind => body_finite_element, &
    sphere_kind => primitive_sphere, ellipsoid_kind => primitive_ellipsoid
  use body_state, only: bodies_and_triples, open_bodies
  use polyhedra, only: shape_tables
  use shape_state, only: open_shapes
  use state_tables, only: workspace, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: update_shapes

  !> Bodies' extents reach this many geometric epsilons beyond the boxes of their primitives.
  real(dp), parameter :: extents_margin = 10.0_dp
  !> Below this number of vertices one thread is faster.
  integer, parameter :: parallel_from = 2000

contains

  !> Moves shapes to the present configuration of their bodies (theory, section "Body kinematics"):
  !> x = c + R (X - Xc) for obstacles and rigid bodies, x = c + F (X - Xc) for pseudo-rigid ones, x = X + q of
  !> their nodes for finite elements.  Shapes of bodies whose configuration has not changed by a bit since the last call
  !> stay as they are (those of finite elements are always moved).
  !>
  !> Reads bodies, their configurations, referential shapes; writes current vertices, normals, axes and boxes of primitives, extents of
  !> bodies, and of the work space `previous` and `moved`.
  !>
  !>   body_handles, shape_handles, work_handle   of bodies, of shapes (`open_shapes`), of detection's work space
  !>   epsilon          geometric epsilon: the margin of boxes (manual, GEOMETRIC_EPSILON)
  !>   afresh           1: all shapes are moved, whatever their bodies did
  !>   failure          100: a handle is void
  subroutine update_shapes(body_handles, shape_handles, work_handle, epsilon, afresh, failure)
    integer(i8), intent(in) :: body_handles(3), shape_handles(5), work_handle
    integer(i4), intent(out) :: failure
    type(bodies_and_triples) :: state
    type(shape_tables) :: shapes
    type(workspace) :: work
    integer(i4), intent(in) :: afresh
    real(dp), intent(in) :: epsilon
    real(dp) :: map(3,3), from(3), to(3), reach(3)
    integer :: i, k, last, first
    logical :: any_moved

    call open_bodies(body_handles, state, failure)
    if (failure == table_open) call open_shapes(shape_handles, shapes, failure)
    if (failure == table_open) call open_table(work_handle, work, failure)
    if (failure /= table_open) return
    any_moved = .false.
    associate (bodies => state%bodies, conf => state%configurations%conf, nbody => int(state%bodies%rows))
      !$omp parallel if (shapes%vertices > parallel_from) private(map, from, to, reach, last, first, k)
      !$omp do schedule(static) reduction(.or.:any_moved)
      do i = 0, nbody - 1
        first = bodies%conf_ptr(i)
        if (afresh == 0 .and. bodies%kind(i) /= finite_element_kind) then
          if (same_bits(conf(:,first:first+3), work%previous(:,first:first+3))) cycle
        end if
        work%previous(:,first:first+3) = conf(:,first:first+3)
        work%moved(i) = work%updates
        any_moved = .true.
      end do
      !$omp end do
      if (any_moved) then
        last = -1
        map = 0.0_dp
        from = 0.0_dp
        to = 0.0_dp
        !$omp do schedule(static)
        do i = 0, shapes%vertices - 1
          if (work%moved(shapes%vertex_body(i)) /= work%updates) cycle
          if (shapes%vertex_body(i) /= last) then
            last = shapes%vertex_body(i)
            first = bodies%conf_ptr(last)
            map = body_map(bodies%kind(last), conf(:,first:first+2))
            from = bodies%centre(:,last)
            to = conf(:,first+3)
          end if
          if (bodies%kind(last) == finite_element_kind) then
            if (shapes%vertex_node(i) >= 0) &
              shapes%current(:,i) = shapes%reference(:,i) + conf(:,bodies%conf_ptr(last)+shapes%vertex_node(i))
          else
            call move(map, from, to, shapes%reference(:,i), shapes%current(:,i))
          end if
        end do
        !$omp end do
        !$omp do schedule(static)
        do i = 0, shapes%primitives - 1
          if (work%moved(shapes%body(i)) /= work%updates) cycle
          do k = shapes%face_ptr(i), shapes%face_ptr(i) + shapes%face_count(i) - 1
            first = shapes%corner_ptr(k)
            shapes%normal(:,k) = unit_normal(shapes%current(:,shapes%corner_vertex(first)), &
              shapes%current(:,shapes%corner_vertex(first+1)), shapes%current(:,shapes%corner_vertex(first+2)))
          end do
          first = shapes%vertex_ptr(i)
          if (shapes%kind(i) >= sphere_kind) then
            to = shapes%current(:,shapes%vertex_list(first))
            reach = shapes%radius(i)
            if (shapes%kind(i) == ellipsoid_kind) then
              k = bodies%conf_ptr(shapes%body(i))
              map = body_map(bodies%kind(shapes%body(i)), conf(:,k:k+2))
              shapes%axes(:,:,i) = moved_axes(map, shapes%orientation(:,:,i), shapes%radii(:,i))
              reach = sqrt(shapes%axes(:,1,i)**2 + shapes%axes(:,2,i)**2 + shapes%axes(:,3,i)**2)
            end if
            shapes%box(1:3,i) = to - (reach + epsilon)
            shapes%box(4:6,i) = to + (reach + epsilon)
          else
            shapes%box(:,i) = box_of(shapes%vertex_count(i), shapes%vertex_list(first:), shapes%current)
            shapes%box(1:3,i) = shapes%box(1:3,i) - epsilon
            shapes%box(4:6,i) = shapes%box(4:6,i) + epsilon
          end if
        end do
        !$omp end do
        !$omp do schedule(static)
        do i = 0, nbody - 1
          if (work%moved(i) /= work%updates) cycle
          bodies%extents(:,i) = union(bodies%primitive_count(i), bodies%primitive_ptr(i), shapes%box)
          if (bodies%primitive_count(i) == 0) then
            bodies%extents(1:3,i) = conf(:,bodies%conf_ptr(i)+3)
            bodies%extents(4:6,i) = bodies%extents(1:3,i)
          end if
          bodies%extents(1:3,i) = bodies%extents(1:3,i) - extents_margin*epsilon
          bodies%extents(4:6,i) = bodies%extents(4:6,i) + extents_margin*epsilon
        end do
        !$omp end do
      end if
      !$omp end parallel
    end associate
  end subroutine update_shapes

  !> Are all numbers the same, bit by bit?
  pure logical function same_bits(one, two)
    real(dp), intent(in) :: one(12), two(12)
    integer(i8) :: different
    integer :: k

    different = 0
    do k = 1, 12
      different = ior(different, ieor(transfer(one(k), 0_i8), transfer(two(k), 0_i8)))
    end do
    same_bits = different == 0
  end function same_bits

  !> The body's linear map: the rotation, or F, whose rows are the triples of pseudo-rigid bodies.
  pure function body_map(kind, triples) result(map)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: triples(3,3)
    real(dp) :: map(3,3)

    map = triples
    if (kind == pseudo_rigid_kind) map = transpose(triples)
  end function body_map

  !> M = F R0 diag(radii).
  pure function moved_axes(map, orientation, radii) result(axes)
    real(dp), intent(in) :: map(3,3), orientation(3,3), radii(3)
    real(dp) :: axes(3,3)
    integer :: k

    do k = 1, 3
      axes(:,k) = (map(:,1)*orientation(1,k) + map(:,2)*orientation(2,k) + map(:,3)*orientation(3,k))*radii(k)
    end do
  end function moved_axes

  !> x = to + map (X - from), point by point, so that its bits do not depend on how a loop over points is split.
  pure subroutine move(map, from, to, point, moved)
    real(dp), intent(in) :: map(3,3), from(3), to(3), point(3)
    real(dp), intent(inout) :: moved(3)
    real(dp) :: arm(3)

    arm = point - from
    moved(1) = to(1) + (map(1,1)*arm(1) + map(1,2)*arm(2) + map(1,3)*arm(3))
    moved(2) = to(2) + (map(2,1)*arm(1) + map(2,2)*arm(2) + map(2,3)*arm(3))
    moved(3) = to(3) + (map(3,1)*arm(1) + map(3,2)*arm(2) + map(3,3)*arm(3))
  end subroutine move

  !> Unit normal of the triangle (a, b, c), zero when it is degenerate.
  pure function unit_normal(a, b, c) result(normal)
    real(dp), intent(in) :: a(3), b(3), c(3)
    real(dp) :: normal(3), u(3), v(3), length

    u = b - a
    v = c - a
    normal(1) = u(2)*v(3) - u(3)*v(2)
    normal(2) = u(3)*v(1) - u(1)*v(3)
    normal(3) = u(1)*v(2) - u(2)*v(1)
    length = sqrt(normal(1)**2 + normal(2)**2 + normal(3)**2)
    if (length > 0.0_dp) normal = normal/length
  end function unit_normal

  !> Box of the listed vertices.
  pure function box_of(count, list, vertex) result(box)
    integer(i4), intent(in) :: count
    integer(i4), intent(in) :: list(*)
    real(dp), intent(in) :: vertex(3,0:*)
    real(dp) :: box(6)
    integer :: k

    box(1:3) = huge(1.0_dp)
    box(4:6) = -huge(1.0_dp)
    do k = 1, count
      box(1:3) = min(box(1:3), vertex(:,list(k)))
      box(4:6) = max(box(4:6), vertex(:,list(k)))
    end do
  end function box_of

  !> Box around consecutive boxes.
  pure function union(count, first, boxes) result(box)
    integer(i4), intent(in) :: count, first
    real(dp), intent(in) :: boxes(6,0:*)
    real(dp) :: box(6)
    integer :: k

    box(1:3) = huge(1.0_dp)
    box(4:6) = -huge(1.0_dp)
    do k = first, first + count - 1
      box(1:3) = min(box(1:3), boxes(1:3,k))
      box(4:6) = max(box(4:6), boxes(4:6,k))
    end do
  end function union

end module update_geometry
