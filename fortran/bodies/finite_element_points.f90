!> Points of finite element bodies: which shape functions hold them, where they are, how the material is deformed there.
!>
!> Columns of the body table: body_kind, conf_ptr, node_ptr (first node among those of all bodies), element_ptr (first
!> element) (0:nb-1).  Elements of all bodies: element_size (0:ne-1), element_node (8,0:ne-1) node numbers within the body.
!> reference (3,0:nnode-1) nodes of all bodies [length]; conf (3,0:nconf-1).
module finite_element_points
  use kinds, only: dp, i4, i8
  use kind_numbers, only: sphere_kind => primitive_sphere, ellipsoid_kind => primitive_ellipsoid
  use velocity_operator, only: finite_element_kind
  use element_shapes, only: shape_values, reference_gradients
  use inverse_maps, only: natural_coordinates
  implicit none
  private
  public :: refer_contacts, place_constraints, weigh_points, extend_weights, deformation_gradients

  integer, parameter :: parallel_from = 200                       !< rows from which threads pay

contains

  !> Elements, shape functions and referential points of contacts on finite element bodies, from their spatial points.
  !>
  !>   first, last     rows first <= k < last of the constraint table, contacts
  !>   now             number of this step
  !>   only_held       1: only the cohesive ones of earlier steps, which keep their referential points and move with the master's
  !>   master ... gap  columns of the constraint table
  !>   primitive_kind, primitive_element   of primitives; elements are numbered within their body, -1: a part of a shape
  !>                   inside a background mesh, which is in several
  !>   primitive_number   of primitives: number within their body
  !>   overlap_ptr     (0:nb-1) of bodies with a background mesh: where the pointers of their primitives begin in
  !>   overlap_first   (0:) first of the elements of a primitive in (the next number is behind the last)
  !>   overlap         (0:) elements that primitives overlap, numbered within their body
  !>   failed          first row whose point or element is not finite, or -1
  subroutine refer_contacts(first, last, now, only_held, ncon, master, slave, master_primitive, slave_primitive, base, &
                            gap, cohesion, birth, point, master_point, slave_point, element, weights, nprimitive, primitive_kind, &
                            primitive_element, primitive_number, nfirst, overlap_first, noverlap, overlap, &
                            nb, body_kind, conf_ptr, node_ptr, element_ptr, overlap_ptr, ne, element_size, element_node, &
                            nnode, reference, nconf, conf, failed)
    integer(i4), intent(in) :: first, last, only_held, ncon, nprimitive, nfirst, noverlap, nb, ne, nnode, nconf
    integer(i8), intent(in) :: now
    integer(i4), intent(in) :: master(0:ncon-1), slave(0:ncon-1), master_primitive(0:ncon-1), slave_primitive(0:ncon-1)
    real(dp), intent(in) :: base(3,3,0:ncon-1), gap(0:ncon-1), cohesion(0:ncon-1)
    integer(i8), intent(in) :: birth(0:ncon-1)
    real(dp), intent(inout) :: point(3,0:ncon-1), master_point(3,0:ncon-1), slave_point(3,0:ncon-1)
    integer(i4), intent(inout) :: element(2,0:ncon-1)
    real(dp), intent(inout) :: weights(8,2,0:ncon-1)
    integer(i4), intent(in) :: primitive_kind(0:nprimitive-1), primitive_element(0:nprimitive-1)
    integer(i4), intent(in) :: primitive_number(0:nprimitive-1), overlap_first(0:nfirst-1), overlap(0:noverlap-1)
    integer(i4), intent(in) :: body_kind(0:nb-1), conf_ptr(0:nb-1), node_ptr(0:nb-1), element_ptr(0:nb-1), overlap_ptr(0:nb-1)
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    real(dp), intent(in) :: reference(3,0:nnode-1), conf(3,0:nconf-1)
    integer(i4), intent(out) :: failed
    real(dp) :: x(3)
    integer :: k
    logical :: found, curved, held

    failed = huge(failed)
    !$omp parallel do if (last - first > parallel_from) schedule(static) private(x, found, curved, held) reduction(min:failed)
    do k = first, last - 1
      held = cohesion(k) > 0 .and. birth(k) < now
      if (only_held == 1 .and. .not. held) cycle
      found = .true.
      if (body_kind(master(k)) == finite_element_kind) then
        call refer(master(k), master_primitive(k), held, point(:,k), element(1,k), master_point(:,k), &
                   weights(:,1,k), found)
        if (found .and. held) point(:,k) = placed(master(k), element(1,k), weights(:,1,k))
        if (.not. found) failed = min(failed, k)
      end if
      if (body_kind(slave(k)) == finite_element_kind) then
        ! polyhedra touch in one point; a curved master's point lies on its own surface, the gap away
        x = point(:,k)
        curved = primitive_kind(master_primitive(k)) == sphere_kind .or. primitive_kind(master_primitive(k)) == ellipsoid_kind
        if (curved) x = x - gap(k)*base(:,3,k)
        call refer(slave(k), slave_primitive(k), held, x, element(2,k), slave_point(:,k), weights(:,2,k), found)
        if (.not. found) failed = min(failed, k)
      end if
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1

  contains

    !> The element, shape functions at x and their referential point X, or (held) shape functions at X.
    subroutine refer(b, p, held, x, e, reference_point, n, found)
      integer(i4), intent(in) :: b, p
      logical, intent(in) :: held
      real(dp), intent(in) :: x(3)
      integer(i4), intent(inout) :: e
      real(dp), intent(inout) :: reference_point(3), n(8)
      logical, intent(out) :: found
      real(dp) :: nodes(3,8), moved(3,8), natural(3)
      integer :: size

      e = primitive_element(p)
      if (e < 0) e = nearest_element(b, p, held, merge(reference_point, x, held))
      found = e >= 0
      if (.not. found) return
      size = element_size(element_ptr(b)+e)
      call element_nodes(size, element_node(:,element_ptr(b)+e), node_ptr(b), conf_ptr(b), reference, conf, nodes, moved)
      if (held) then
        call natural_coordinates(size, nodes, reference_point, natural, found)
        n = shape_values(size, natural)
      else
        call natural_coordinates(size, moved, x, natural, found)
        n = shape_values(size, natural)
        reference_point = matmul(nodes, n)
      end if
    end subroutine refer

    !> Of the elements that a primitive overlaps the first that holds a point, current or (referential) of the reference
    !> placement, or the nearest one; -1: no element has coordinates for it.
    function nearest_element(b, p, referential, x) result(best)
      integer(i4), intent(in) :: b, p
      logical, intent(in) :: referential
      real(dp), intent(in) :: x(3)
      integer(i4) :: best, j, e
      real(dp) :: nodes(3,8), moved(3,8), natural(3), distance, edge, least
      integer :: size
      logical :: found

      best = -1
      least = huge(least)
      do j = overlap_first(overlap_ptr(b)+primitive_number(p)), overlap_first(overlap_ptr(b)+primitive_number(p)+1) - 1
        e = element_ptr(b) + overlap(j)
        size = element_size(e)
        call element_nodes(size, element_node(:,e), node_ptr(b), conf_ptr(b), reference, conf, nodes, moved)
        if (referential) moved = nodes
        call natural_coordinates(size, moved, x, natural, found)
        if (.not. found) cycle
        edge = maxval(abs(moved(:,2) - moved(:,1)))
        distance = norm2(matmul(moved, shape_values(size, natural)) - x) + edge*excess(size, natural)
        if (.not. distance < least) cycle
        least = distance
        best = overlap(j)
        if (least <= 1e-9_dp*edge) return
      end do
    end function nearest_element

    function placed(b, e, n) result(x)
      integer(i4), intent(in) :: b, e
      real(dp), intent(in) :: n(8)
      real(dp) :: x(3), nodes(3,8), moved(3,8)
      integer :: size
      size = element_size(element_ptr(b)+e)
      call element_nodes(size, element_node(:,element_ptr(b)+e), node_ptr(b), conf_ptr(b), reference, conf, nodes, moved)
      x = matmul(moved, n)
    end function placed
  end subroutine refer_contacts

  !> Referential and current nodes of an element; zeros beyond its size.
  pure subroutine element_nodes(size, node, node_ptr, conf_ptr, reference, conf, nodes, moved)
    integer, intent(in) :: size
    integer(i4), intent(in) :: node(8), node_ptr, conf_ptr
    real(dp), intent(in) :: reference(3,0:*), conf(3,0:*)
    real(dp), intent(out) :: nodes(3,8), moved(3,8)
    integer :: a

    nodes = 0
    moved = 0
    do a = 1, size
      nodes(:,a) = reference(:,node_ptr+node(a))
      moved(:,a) = nodes(:,a) + conf(:,conf_ptr+node(a))
    end do
  end subroutine element_nodes

  !> Current points of the first `users` constraints where they are on finite element bodies.
  subroutine place_constraints(users, ncon, master, slave, master_point, slave_point, element, weights, point, other_point, &
                               nb, body_kind, conf_ptr, element_ptr, ne, element_size, element_node, nconf, conf)
    integer(i4), intent(in) :: users, ncon, nb, ne, nconf
    integer(i4), intent(in) :: master(0:ncon-1), slave(0:ncon-1)
    real(dp), intent(in) :: master_point(3,0:ncon-1), slave_point(3,0:ncon-1)
    integer(i4), intent(in) :: element(2,0:ncon-1)
    real(dp), intent(in) :: weights(8,2,0:ncon-1)
    real(dp), intent(inout) :: point(3,0:ncon-1), other_point(3,0:ncon-1)
    integer(i4), intent(in) :: body_kind(0:nb-1), conf_ptr(0:nb-1), element_ptr(0:nb-1)
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    real(dp), intent(in) :: conf(3,0:nconf-1)
    integer :: i

    do i = 0, users - 1
      if (body_kind(master(i)) == finite_element_kind) point(:,i) = master_point(:,i) + moved(master(i), 1)
      if (slave(i) < 0) cycle
      if (body_kind(slave(i)) == finite_element_kind) other_point(:,i) = slave_point(:,i) + moved(slave(i), 2)
    end do

  contains

    !> Displacement of a point of constraint i.
    pure function moved(b, side) result(u)
      integer(i4), intent(in) :: b
      integer, intent(in) :: side
      real(dp) :: u(3)
      integer :: a, e
      e = element_ptr(b) + element(side,i)
      u = 0
      do a = 1, element_size(e)
        u = u + weights(a,side,i)*conf(:,conf_ptr(b)+element_node(a,e))
      end do
    end function moved
  end subroutine place_constraints

  !> Natural coordinates and shape functions at referential points of given elements (rows among those of all bodies,
  !> whose nodes begin at `node_start`), and how far the points are from where these coordinates lead [length].
  subroutine weigh_points(n, points, element, node_start, ne, element_size, element_node, nnode, reference, natural, weights, &
                          distance)
    integer(i4), intent(in) :: n, ne, nnode
    real(dp), intent(in) :: points(3,0:n-1)
    integer(i4), intent(in) :: element(0:n-1), node_start(0:n-1)
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)
    real(dp), intent(inout) :: natural(3,0:n-1), weights(8,0:n-1), distance(0:n-1)
    real(dp) :: nodes(3,8)
    integer :: a, e, k, size
    logical :: found

    do k = 0, n - 1
      e = element(k)
      size = element_size(e)
      nodes = 0
      do a = 1, size
        nodes(:,a) = reference(:,node_start(k)+element_node(a,e))
      end do
      call natural_coordinates(size, nodes, points(:,k), natural(:,k), found)
      ! the sum of the coordinates of triangles and tetrahedra, and the pyramid's slope, are not clamped: a point beyond
      ! them is outside by as much as its coordinates are
      weights(:,k) = shape_values(size, natural(:,k))
      distance(k) = norm2(matmul(nodes, weights(:,k)) - points(:,k)) &
                  + maxval(abs(nodes(:,2) - nodes(:,1)))*excess(size, natural(:,k))
      if (.not. found) distance(k) = huge(1.0_dp)
    end do
  end subroutine weigh_points

  !> Shape functions at referential points outside of their elements: those at natural coordinates nearby, continued along their
  !> gradients.  So a displacement that is linear in space is met exactly.  Arguments are those of weigh_points.
  subroutine extend_weights(n, points, natural, element, node_start, ne, element_size, element_node, nnode, reference, weights)
    integer(i4), intent(in) :: n, ne, nnode
    real(dp), intent(in) :: points(3,0:n-1), natural(3,0:n-1)
    integer(i4), intent(in) :: element(0:n-1), node_start(0:n-1)
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)
    real(dp), intent(inout) :: weights(8,0:n-1)
    real(dp) :: nodes(3,8), g(3,8), jacobian
    integer :: a, e, k, size

    do k = 0, n - 1
      e = element(k)
      size = element_size(e)
      nodes = 0
      do a = 1, size
        nodes(:,a) = reference(:,node_start(k)+element_node(a,e))
      end do
      call reference_gradients(size, nodes, natural(:,k), g, jacobian)
      weights(:,k) = shape_values(size, natural(:,k))
      if (.not. jacobian > 0) cycle  ! a corner that is inside out
      weights(:size,k) = weights(:size,k) + matmul(points(:,k) - matmul(nodes, weights(:,k)), g(:,:size))
    end do
  end subroutine extend_weights

  !> By how much natural coordinates break the conditions that tie them to each other.
  pure real(dp) function excess(size, natural)
    integer, intent(in) :: size
    real(dp), intent(in) :: natural(3)
    select case (size)
    case (4)
      excess = max(sum(natural) - 1, 0.0_dp)
    case (5)
      excess = max(abs(natural(1)) + natural(3) - 1, abs(natural(2)) + natural(3) - 1, 0.0_dp)
    case (6)
      excess = max(natural(1) + natural(2) - 1, 0.0_dp)
    case default
      excess = 0
    end select
  end function excess

  !> F at natural coordinates of elements, with displacements of all nodes (3,0:nnode-1).
  subroutine deformation_gradients(n, natural, element, node_start, ne, element_size, element_node, nnode, reference, &
                                   displacement, gradient)
    integer(i4), intent(in) :: n, ne, nnode
    real(dp), intent(in) :: natural(3,0:n-1)
    integer(i4), intent(in) :: element(0:n-1), node_start(0:n-1)
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    real(dp), intent(in) :: reference(3,0:nnode-1), displacement(3,0:nnode-1)
    real(dp), intent(inout) :: gradient(3,3,0:n-1)
    real(dp) :: nodes(3,8), g(3,8), jacobian
    integer :: a, e, j, k, row, size

    do k = 0, n - 1
      e = element(k)
      size = element_size(e)
      nodes = 0
      do a = 1, size
        nodes(:,a) = reference(:,node_start(k)+element_node(a,e))
      end do
      call reference_gradients(size, nodes, natural(:,k), g, jacobian)
      gradient(:,:,k) = 0
      do j = 1, 3
        gradient(j,j,k) = 1
      end do
      do a = 1, size
        row = node_start(k) + element_node(a,e)
        do j = 1, 3
          gradient(:,j,k) = gradient(:,j,k) + displacement(:,row)*g(j,a)
        end do
      end do
    end do
  end subroutine deformation_gradients

end module finite_element_points
