!> Shapes follow their bodies: current vertices, face normals, boxes of primitives and extents of bodies.
module update_geometry
  use kinds, only: dp, i4, i8
  use kind_numbers, only: pseudo_rigid_kind => body_pseudo_rigid, finite_element_kind => body_finite_element, &
    sphere_kind => primitive_sphere, ellipsoid_kind => primitive_ellipsoid
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
  !> Rows in use come first; every array may be longer.  Lengths are in the model's unit.
  !>
  !>   nvertex, nprimitive, nbody   numbers of rows in use
  !>   epsilon          geometric epsilon: the margin of boxes (manual, GEOMETRIC_EPSILON)
  !>   afresh           1: all shapes are moved, whatever their bodies did
  !>   now              number of this call, larger than all before
  !>   reference        (3,:) referential vertices
  !>   vertex_body      (:) row of the body that moves a vertex
  !>   vertex_node      (:) node of a finite element body that a vertex is; -1: the vertex is in place already (place_vertices)
  !>   current          (3,:) current vertices, out
  !>   vertex_list      (:) vertex numbers of primitives
  !>   corner           (:) vertex numbers of faces
  !>   corner_ptr       (:) first corner of a face
  !>   normal           (3,:) current unit outward normals of faces, out: from the first three corners
  !>   primitive_kind, body, radius, vertex_ptr, vertex_count, face_ptr, face_count   (:) of primitives
  !>   radii            (3,:) referential semi-axes of ellipsoids; orientation (3,3,:) their directions, column by column
  !>   axes             (3,3,:) current axes of ellipsoids, out: M = F R0 diag(radii); points are c + M s with |s| <= 1
  !>   box              (6,:) boxes of primitives enlarged by epsilon, out: lower corner, upper corner
  !>   body_kind, conf_ptr, primitive_ptr, primitive_count   (:) of bodies
  !>   centre           (3,:) referential mass centres
  !>   extents          (6,:) boxes of bodies, out; a body without primitives is where its centre is
  !>   conf             (3,:) configuration triples
  !>   previous         (3,:) configuration triples of the last call, in and out
  !>   moved            (:) number of the last call that moved a body's shape, in and out
  subroutine update_shapes(nvertex, nprimitive, nbody, epsilon, afresh, now, reference, vertex_body, vertex_node, current, &
      vertex_list, corner, corner_ptr, normal, primitive_kind, body, radius, vertex_ptr, vertex_count, face_ptr, &
      face_count, radii, orientation, axes, box, body_kind, conf_ptr, primitive_ptr, primitive_count, centre, extents, &
      conf, previous, moved, vertices, listed, corners, faces, primitives, bodies, triples)
    integer(i4), intent(in) :: nvertex, nprimitive, nbody, afresh
    integer(i8), intent(in) :: now
    real(dp), intent(in) :: epsilon
    integer(i4), intent(in) :: vertices, listed, corners, faces, primitives, bodies, triples
    real(dp), intent(in) :: reference(3,0:vertices-1)
    integer(i4), intent(in) :: vertex_body(0:vertices-1), vertex_node(0:vertices-1)
    real(dp), intent(inout) :: current(3,0:vertices-1)
    integer(i4), intent(in) :: vertex_list(0:listed-1)
    integer(i4), intent(in) :: corner(0:corners-1)
    integer(i4), intent(in) :: corner_ptr(0:faces-1)
    real(dp), intent(inout) :: normal(3,0:faces-1)
    integer(i4), intent(in) :: primitive_kind(0:primitives-1), body(0:primitives-1)
    real(dp), intent(in) :: radius(0:primitives-1)
    integer(i4), intent(in) :: vertex_ptr(0:primitives-1), vertex_count(0:primitives-1)
    integer(i4), intent(in) :: face_ptr(0:primitives-1), face_count(0:primitives-1)
    real(dp), intent(in) :: radii(3,0:primitives-1), orientation(3,3,0:primitives-1)
    real(dp), intent(inout) :: axes(3,3,0:primitives-1)
    real(dp), intent(inout) :: box(6,0:primitives-1)
    integer(i4), intent(in) :: body_kind(0:bodies-1), conf_ptr(0:bodies-1)
    integer(i4), intent(in) :: primitive_ptr(0:bodies-1), primitive_count(0:bodies-1)
    real(dp), intent(in) :: centre(3,0:bodies-1)
    real(dp), intent(inout) :: extents(6,0:bodies-1)
    real(dp), intent(in) :: conf(3,0:triples-1)
    real(dp), intent(inout) :: previous(3,0:triples-1)
    integer(i8), intent(inout) :: moved(0:bodies-1)
    real(dp) :: map(3,3), from(3), to(3), reach(3)
    integer :: i, k, last, first
    logical :: any_moved

    any_moved = .false.
    !$omp parallel if (nvertex > parallel_from) private(map, from, to, reach, last, first, k)
    !$omp do schedule(static) reduction(.or.:any_moved)
    do i = 0, nbody - 1
      first = conf_ptr(i)
      if (afresh == 0 .and. body_kind(i) /= finite_element_kind) then
        if (same_bits(conf(:,first:first+3), previous(:,first:first+3))) cycle
      end if
      previous(:,first:first+3) = conf(:,first:first+3)
      moved(i) = now
      any_moved = .true.
    end do
    !$omp end do
    if (any_moved) then
      last = -1
      map = 0.0_dp
      from = 0.0_dp
      to = 0.0_dp
      !$omp do schedule(static)
      do i = 0, nvertex - 1
        if (moved(vertex_body(i)) /= now) cycle
        if (vertex_body(i) /= last) then
          last = vertex_body(i)
          first = conf_ptr(last)
          map = body_map(body_kind(last), conf(:,first:first+2))
          from = centre(:,last)
          to = conf(:,first+3)
        end if
        if (body_kind(last) == finite_element_kind) then
          if (vertex_node(i) >= 0) current(:,i) = reference(:,i) + conf(:,conf_ptr(last)+vertex_node(i))
        else
          call move(map, from, to, reference(:,i), current(:,i))
        end if
      end do
      !$omp end do
      !$omp do schedule(static)
      do i = 0, nprimitive - 1
        if (moved(body(i)) /= now) cycle
        do k = face_ptr(i), face_ptr(i) + face_count(i) - 1
          first = corner_ptr(k)
          normal(:,k) = unit_normal(current(:,corner(first)), current(:,corner(first+1)), current(:,corner(first+2)))
        end do
        first = vertex_ptr(i)
        if (primitive_kind(i) >= sphere_kind) then
          to = current(:,vertex_list(first))
          reach = radius(i)
          if (primitive_kind(i) == ellipsoid_kind) then
            k = conf_ptr(body(i))
            map = body_map(body_kind(body(i)), conf(:,k:k+2))
            axes(:,:,i) = moved_axes(map, orientation(:,:,i), radii(:,i))
            reach = sqrt(axes(:,1,i)**2 + axes(:,2,i)**2 + axes(:,3,i)**2)
          end if
          box(1:3,i) = to - (reach + epsilon)
          box(4:6,i) = to + (reach + epsilon)
        else
          box(:,i) = box_of(vertex_count(i), vertex_list(first), current)
          box(1:3,i) = box(1:3,i) - epsilon
          box(4:6,i) = box(4:6,i) + epsilon
        end if
      end do
      !$omp end do
      !$omp do schedule(static)
      do i = 0, nbody - 1
        if (moved(i) /= now) cycle
        extents(:,i) = union(primitive_count(i), primitive_ptr(i), box)
        if (primitive_count(i) == 0) then
          extents(1:3,i) = conf(:,conf_ptr(i)+3)
          extents(4:6,i) = extents(1:3,i)
        end if
        extents(1:3,i) = extents(1:3,i) - extents_margin*epsilon
        extents(4:6,i) = extents(4:6,i) + extents_margin*epsilon
      end do
      !$omp end do
    end if
    !$omp end parallel
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
