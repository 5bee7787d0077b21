!> Shapes follow their bodies: current vertices, face normals, boxes of primitives and extents of bodies.
module update_geometry
  use kinds, only: dp, i4
  implicit none
  private
  public :: update_shapes

  integer(i4), parameter :: pseudo_rigid_kind = 2, sphere_kind = 2
  !> Bodies' extents reach this many geometric epsilons beyond the boxes of their primitives.
  real(dp), parameter :: extents_margin = 10.0_dp
  !> Below this number of vertices one thread is faster.
  integer, parameter :: parallel_from = 2000

contains

  !> Moves all shapes to the present configuration of their bodies (theory, section "Body kinematics"):
  !> x = c + R (X - Xc) for obstacles and rigid bodies, x = c + F (X - Xc) for pseudo-rigid ones.
  !>
  !> Rows in use come first; every array may be longer.  Lengths are in the model's unit.
  !>
  !>   nvertex, nface, nprimitive, nbody   numbers of rows in use
  !>   epsilon          geometric epsilon: the margin of boxes (manual, GEOMETRIC_EPSILON)
  !>   reference        (3,:) referential vertices
  !>   vertex_body      (:) row of the body that moves a vertex
  !>   current          (3,:) current vertices, out
  !>   vertex_list      (:) vertex numbers of primitives
  !>   corner           (:) vertex numbers of faces
  !>   corner_ptr       (:) first corner of a face
  !>   normal           (3,:) current unit outward normals of faces, out: from the first three corners
  !>   primitive_kind, radius, vertex_ptr, vertex_count   (:) of primitives
  !>   box              (6,:) boxes of primitives enlarged by epsilon, out: lower corner, upper corner
  !>   body_kind, conf_ptr, primitive_ptr, primitive_count   (:) of bodies
  !>   centre           (3,:) referential mass centres
  !>   extents          (6,:) boxes of bodies, out; a body without primitives is where its centre is
  !>   conf             (3,:) configuration triples
  subroutine update_shapes(nvertex, nface, nprimitive, nbody, epsilon, reference, vertex_body, current, &
      vertex_list, corner, corner_ptr, normal, primitive_kind, radius, vertex_ptr, vertex_count, box, &
      body_kind, conf_ptr, primitive_ptr, primitive_count, centre, extents, conf, &
      vertices, listed, corners, faces, primitives, bodies, triples)
    integer(i4), intent(in) :: nvertex, nface, nprimitive, nbody
    real(dp), intent(in) :: epsilon
    integer(i4), intent(in) :: vertices, listed, corners, faces, primitives, bodies, triples
    real(dp), intent(in) :: reference(3,0:vertices-1)
    integer(i4), intent(in) :: vertex_body(0:vertices-1)
    real(dp), intent(inout) :: current(3,0:vertices-1)
    integer(i4), intent(in) :: vertex_list(0:listed-1)
    integer(i4), intent(in) :: corner(0:corners-1)
    integer(i4), intent(in) :: corner_ptr(0:faces-1)
    real(dp), intent(inout) :: normal(3,0:faces-1)
    integer(i4), intent(in) :: primitive_kind(0:primitives-1)
    real(dp), intent(in) :: radius(0:primitives-1)
    integer(i4), intent(in) :: vertex_ptr(0:primitives-1), vertex_count(0:primitives-1)
    real(dp), intent(inout) :: box(6,0:primitives-1)
    integer(i4), intent(in) :: body_kind(0:bodies-1), conf_ptr(0:bodies-1)
    integer(i4), intent(in) :: primitive_ptr(0:bodies-1), primitive_count(0:bodies-1)
    real(dp), intent(in) :: centre(3,0:bodies-1)
    real(dp), intent(inout) :: extents(6,0:bodies-1)
    real(dp), intent(in) :: conf(3,0:triples-1)
    real(dp) :: map(3,3), from(3), to(3)
    integer :: i, last, first

    !$omp parallel if (nvertex > parallel_from) private(map, from, to, last, first)
    last = -1
    map = 0.0_dp
    from = 0.0_dp
    to = 0.0_dp
    !$omp do schedule(static)
    do i = 0, nvertex - 1
      if (vertex_body(i) /= last) then
        last = vertex_body(i)
        first = conf_ptr(last)
        map = conf(:,first:first+2)
        if (body_kind(last) == pseudo_rigid_kind) map = transpose(map)
        from = centre(:,last)
        to = conf(:,first+3)
      end if
      call move(map, from, to, reference(:,i), current(:,i))
    end do
    !$omp end do
    !$omp do schedule(static)
    do i = 0, nface - 1
      first = corner_ptr(i)
      normal(:,i) = unit_normal(current(:,corner(first)), current(:,corner(first+1)), current(:,corner(first+2)))
    end do
    !$omp end do nowait
    !$omp do schedule(static)
    do i = 0, nprimitive - 1
      first = vertex_ptr(i)
      if (primitive_kind(i) == sphere_kind) then
        to = current(:,vertex_list(first))
        box(1:3,i) = to - (radius(i) + epsilon)
        box(4:6,i) = to + (radius(i) + epsilon)
      else
        box(:,i) = box_of(vertex_count(i), vertex_list(first), current)
        box(1:3,i) = box(1:3,i) - epsilon
        box(4:6,i) = box(4:6,i) + epsilon
      end if
    end do
    !$omp end do
    !$omp do schedule(static)
    do i = 0, nbody - 1
      extents(:,i) = union(primitive_count(i), primitive_ptr(i), box)
      if (primitive_count(i) == 0) then
        extents(1:3,i) = conf(:,conf_ptr(i)+3)
        extents(4:6,i) = extents(1:3,i)
      end if
      extents(1:3,i) = extents(1:3,i) - extents_margin*epsilon
      extents(4:6,i) = extents(4:6,i) + extents_margin*epsilon
    end do
    !$omp end do
    !$omp end parallel
  end subroutine update_shapes

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
