!> Shapes follow their bodies: current vertices, boxes of primitives and extents of bodies; normals of faces follow when pairs
!> need them (`face_normals`).
module update_geometry
  use kinds, only: dp, i4, i8
  use kind_numbers, only: pseudo_rigid_kind => body_pseudo_rigid, finite_element_kind => body_finite_element, &
    sphere_kind => primitive_sphere, ellipsoid_kind => primitive_ellipsoid
  use body_state, only: bodies_and_triples, open_bodies
  use polyhedra, only: shape_tables, find_normals
  use primitive_motion, only: predict_motion
  use shape_state, only: open_shapes
  use state_tables, only: workspace, open_table
  use table_registry, only: table_open
  use thread_work, only: pays
  implicit none
  private
  public :: update_shapes

  !> Margin of bodies' extents beyond the boxes of their primitives, in geometric epsilons.
  real(dp), parameter :: extents_margin = 10.0_dp

contains

  !> Moves shapes to the present configuration of their bodies (docs/theory.md, Body kinematics):
  !> x = c + R (X - Xc) for obstacles and rigid bodies, x = c + F (X - Xc) for pseudo-rigid ones, x = X + q of
  !> their nodes for finite elements.  Shapes of bodies whose configuration has not changed by a bit since the last call
  !> are not moved (those of finite elements always are).
  !>
  !> Reads bodies, their configurations, referential shapes; writes current vertices, axes and boxes of primitives, extents of
  !> bodies, and of the work space `updates` (one more), `previous`, `moved` and `turned`.
  !>
  !>   body_handles, shape_handles, work_handle   of bodies, of shapes (`open_shapes`), of detection's work space
  !>   epsilon          geometric epsilon: the margin of boxes (docs/language-running.md, GEOMETRIC_EPSILON)
  !>   afresh           1: all shapes are moved, also of bodies at rest, and all normals are computed; else `turn_faces` computes those
  !>                    that pairs need
  !>   step             length of the step for which the motion of primitives is predicted (predict_motion); 0: not predicted
  !>   failure          100: a handle is void
  subroutine update_shapes(body_handles, shape_handles, work_handle, epsilon, afresh, step, failure)
    integer(i8), intent(in) :: body_handles(3), shape_handles(5), work_handle
    integer(i4), intent(out) :: failure
    type(bodies_and_triples) :: state
    type(shape_tables) :: shapes
    type(workspace) :: work
    integer(i4), intent(in) :: afresh
    real(dp), intent(in) :: epsilon, step
    real(dp) :: map(3,3), to(3), reach(3)
    integer :: i, k, first
    logical :: any_moved

    call open_bodies(body_handles, state, failure)
    if (failure == table_open) call open_shapes(shape_handles, shapes, failure)
    if (failure == table_open) call open_table(work_handle, work, failure)
    if (failure /= table_open) return
    work%updates = work%updates + 1
    any_moved = .false.
    associate (bodies => state%bodies, conf => state%configurations%conf, nbody => int(state%bodies%rows))
      !$omp parallel if (pays(shapes%vertices, 6)) private(map, to, reach, first, k)
      call find_moved(nbody, afresh, work%updates, bodies%kind, bodies%conf_ptr, conf, work%previous, work%moved, any_moved)
      if (any_moved) then
        call move_vertices(shapes%vertices, work%updates, work%moved, bodies%kind, bodies%conf_ptr, bodies%centre, conf, &
                           shapes%vertex_body, shapes%vertex_node, shapes%reference, shapes%current)
        !$omp do schedule(static)
        do i = 0, shapes%primitives - 1
          if (work%moved(shapes%body(i)) /= work%updates) cycle
          if (afresh /= 0) then
            if (bodies%kind(shapes%body(i)) /= finite_element_kind) call find_normals(i, shapes)   ! else `warped_faces` does
            work%turned(i) = work%updates
          end if
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
            call find_box(shapes%vertex_count(i), shapes%vertex_list(first:), shapes%current, epsilon, shapes%box(:,i))
          end if
        end do
        !$omp end do
        !$omp do schedule(static)
        do i = 0, nbody - 1
          if (work%moved(i) /= work%updates) cycle
          call find_extents(bodies%primitive_count(i), bodies%primitive_ptr(i), shapes%box, conf(:,bodies%conf_ptr(i)+3), &
                            extents_margin*epsilon, bodies%extents(:,i))
        end do
        !$omp end do
      end if
      !$omp end parallel
    end associate
    if (step > 0.0_dp) then
      call predict_motion(state, shapes, step)
      call note_motion(shapes, work)
    end if
  end subroutine update_shapes

  !> Lets bodies that will move count as moved, so that what has been found beside them at rest is found again.
  subroutine note_motion(shapes, work)
    type(shape_tables), intent(in) :: shapes
    type(workspace), intent(in) :: work
    integer(i8) :: update
    integer :: i

    update = work%updates
    !$omp parallel do if (pays(shapes%primitives, 4)) schedule(static)
    do i = 0, shapes%primitives - 1
      if (.not. any(abs(shapes%drift(:,:,i)) > 0.0_dp)) cycle
      !$omp atomic write
      work%moved(shapes%body(i)) = update
    end do
    !$omp end parallel do
  end subroutine note_motion

  !> Finds the bodies whose configuration has changed by a bit since the last update, or that move anyway: finite elements, and all of them
  !> `afresh`; threads of the caller share the loop.
  subroutine find_moved(nbody, afresh, update, kind, conf_ptr, conf, previous, moved, any_moved)
    integer, intent(in) :: nbody
    integer(i4), intent(in) :: afresh, kind(0:*), conf_ptr(0:*)
    integer(i8), intent(in) :: update
    real(dp), intent(in) :: conf(3,0:*)
    real(dp), intent(inout) :: previous(3,4,0:*)     !< configurations at the last update
    integer(i8), intent(inout) :: moved(0:*)
    logical, intent(inout) :: any_moved
    integer :: i, first

    !$omp do schedule(static) reduction(.or.:any_moved)
    do i = 0, nbody - 1
      first = conf_ptr(i)
      if (afresh == 0 .and. kind(i) /= finite_element_kind) then
        if (same_bits(conf(:,first:first+3), previous(:,:,i))) cycle
      end if
      previous(:,:,i) = conf(:,first:first+3)
      moved(i) = update
      any_moved = .true.
    end do
    !$omp end do
  end subroutine find_moved

  !> Moves the vertices of bodies that this update moves; threads of the caller share the loop.
  subroutine move_vertices(vertices, update, moved, kind, conf_ptr, centre, conf, vertex_body, vertex_node, reference, current)
    integer, intent(in) :: vertices
    integer(i8), intent(in) :: update, moved(0:*)
    integer(i4), intent(in) :: kind(0:*), conf_ptr(0:*), vertex_body(0:*), vertex_node(0:*)
    real(dp), intent(in) :: centre(3,0:*), conf(3,0:*), reference(3,0:*)
    real(dp), intent(inout) :: current(3,0:*)
    real(dp) :: map(3,3), from(3), to(3)
    integer :: i, last, first

    last = -1
    map = 0.0_dp
    from = 0.0_dp
    to = 0.0_dp
    !$omp do schedule(static)
    do i = 0, vertices - 1
      if (moved(vertex_body(i)) /= update) cycle
      if (vertex_body(i) /= last) then
        last = vertex_body(i)
        first = conf_ptr(last)
        map = body_map(kind(last), conf(:,first:first+2))
        from = centre(:,last)
        to = conf(:,first+3)
      end if
      if (kind(last) == finite_element_kind) then
        if (vertex_node(i) >= 0) current(:,i) = reference(:,i) + conf(:,conf_ptr(last)+vertex_node(i))
      else
        call move(map, from, to, reference(:,i), current(:,i))
      end if
    end do
    !$omp end do
  end subroutine move_vertices

  !> Whether all numbers are equal bit by bit.
  pure logical function same_bits(one, two)
    real(dp), intent(in) :: one(3,4), two(3,4)
    integer(i8) :: different
    integer :: j, k

    different = 0
    do k = 1, 4
      do j = 1, 3
        different = ior(different, ieor(transfer(one(j,k), 0_i8), transfer(two(j,k), 0_i8)))
      end do
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

  !> Box of the listed vertices, with a margin.
  pure subroutine find_box(count, list, vertex, margin, box)
    integer(i4), intent(in) :: count
    integer(i4), intent(in) :: list(*)
    real(dp), intent(in) :: vertex(3,0:*), margin
    real(dp), intent(out) :: box(6)
    real(dp) :: lower(3), upper(3)
    integer :: k

    lower = huge(1.0_dp)
    upper = -huge(1.0_dp)
    do k = 1, count
      lower = min(lower, vertex(:,list(k)))
      upper = max(upper, vertex(:,list(k)))
    end do
    box(1:3) = lower - margin
    box(4:6) = upper + margin
  end subroutine find_box

  !> Box around consecutive boxes, with a margin; the centre for a body without boxes.
  pure subroutine find_extents(count, first, boxes, centre, margin, box)
    integer(i4), intent(in) :: count, first
    real(dp), intent(in) :: boxes(6,0:*), centre(3), margin
    real(dp), intent(out) :: box(6)
    real(dp) :: lower(3), upper(3)
    integer :: k

    lower = huge(1.0_dp)
    upper = -huge(1.0_dp)
    if (count == 0) then
      lower = centre
      upper = centre
    end if
    do k = first, first + count - 1
      lower = min(lower, boxes(1:3,k))
      upper = max(upper, boxes(4:6,k))
    end do
    box(1:3) = lower - margin
    box(4:6) = upper + margin
  end subroutine find_extents

end module update_geometry
