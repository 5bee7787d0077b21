!> Points of finite element bodies: their elements and shape functions, places, and deformation gradients.
!>
!> Elements of all bodies: element_size (0:ne-1), element_node (8,0:ne-1) node numbers within the body; reference (3,0:nnode-1) nodes of all
!> bodies [length].
module finite_element_points
  use kinds, only: dp, i4, i8
  use body_state, only: element_bodies, open_elements
  use state_tables, only: constraint_table, primitive_table, surface_material_table, open_table
  use table_registry, only: table_open
  use kind_numbers, only: sphere_kind => primitive_sphere, ellipsoid_kind => primitive_ellipsoid, bonded => surface_model_cohesive
  use velocity_operator, only: finite_element_kind
  use element_shapes, only: shape_values, reference_gradients, excess
  use inverse_maps, only: natural_coordinates
  implicit none
  private
  public :: refer_contacts, place_constraints, elements_near, weigh_points, extend_weights, deformation_gradients

  integer, parameter :: parallel_from = 200                       !< rows from which threads pay

contains

  !> Finds elements, shape functions and referential points of contacts on finite element bodies from their spatial points.
  !>
  !> Reads master, slave, their primitives, points, base, gap, cohesion and birth of constraints, kind, element (-1: a part of a shape inside a
  !> background mesh, which is in several elements) and number of primitives, kind and pointers of bodies, conf, and of elements
  !> element_size, element_node, reference, overlap_first and overlap; writes element, weights, master_point, slave_point and, for
  !> held contacts, point and other_point, and of bonds gap.
  !>
  !>   handles         BodyTable.handles
  !>   constraints, materials, primitives, elements   ConstraintTable, SurfaceMaterialTable, PrimitiveTable, FiniteElements
  !>   first           first row of the constraint table that is a contact; all rows after it are contacts
  !>   now             number of this step
  !>   only_held       1: only held contacts, the cohesive ones of earlier steps, which keep their referential points and move with the master's
  !>   failed          first row whose point or element is not finite, or -1
  !>   status          `table_unknown`: a handle is not that of such a table
  subroutine refer_contacts(handles, constraints, materials, primitives, elements, first, now, only_held, failed, status)
    integer(i8), intent(in) :: handles(3), constraints, materials, primitives, elements, now
    integer(i4), intent(in) :: first, only_held
    integer(i4), intent(out) :: failed, status
    type(element_bodies) :: state
    type(constraint_table) :: rows
    type(surface_material_table) :: mat
    type(primitive_table) :: parts
    real(dp) :: x(3)
    integer :: k, last
    logical :: found, curved, held

    failed = -1
    call open_elements(handles, elements, state, status)
    if (status == table_open) call open_table(constraints, rows, status)
    if (status == table_open) call open_table(materials, mat, status)
    if (status == table_open) call open_table(primitives, parts, status)
    if (status /= table_open) return
    last = int(rows%rows)
    failed = huge(failed)
    !$omp parallel do if (last - first > parallel_from) schedule(static) private(x, found, curved, held) reduction(min:failed)
    do k = first, last - 1
      held = rows%cohesion(k) > 0 .and. rows%birth(k) < now
      if (only_held == 1 .and. .not. held) cycle
      found = .true.
      if (state%bodies%kind(rows%master(k)) == finite_element_kind) then
        call refer(state, parts, rows%master(k), rows%master_primitive(k), held, rows%point(:,k), rows%element(1,k), &
                   rows%master_point(:,k), rows%weights(:,1,k), found)
        if (found .and. held) rows%point(:,k) = placed(state, rows%master(k), rows%element(1,k), rows%weights(:,1,k))
        if (.not. found) failed = min(failed, k)
      end if
      if (state%bodies%kind(rows%slave(k)) == finite_element_kind) then
        ! bodies have one point; without margins a curved master's is on its own surface, at the distance of the gap, and in flight
        ! both have their own ones
        x = rows%point(:,k)
        curved = parts%kind(rows%master_primitive(k)) == sphere_kind .or. parts%kind(rows%master_primitive(k)) == ellipsoid_kind
        if (curved .and. .not. min(parts%margin(rows%master_primitive(k)), parts%margin(rows%slave_primitive(k))) > 0.0_dp) then
          x = x - rows%gap(k)*rows%base(:,3,k)
        else if (curved .and. 2*dot_product(rows%base(:,3,k), x - rows%other_point(:,k)) > max(rows%gap(k), 0.0_dp)) then
          x = rows%other_point(:,k)
        end if
        call refer(state, parts, rows%slave(k), rows%slave_primitive(k), held, x, rows%element(2,k), rows%slave_point(:,k), &
                   rows%weights(:,2,k), found)
        if (found .and. held) rows%other_point(:,k) = placed(state, rows%slave(k), rows%element(2,k), rows%weights(:,2,k))
        if (.not. found) failed = min(failed, k)
      end if
      ! shapes may touch elsewhere than the sides of a bond
      if (held .and. mat%model(rows%material(k)) == bonded) &
        rows%gap(k) = dot_product(rows%base(:,3,k), rows%point(:,k) - rows%other_point(:,k))
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
  end subroutine refer_contacts

  !> Finds element, shape functions at x and referential point X; for held contacts shape functions at X.
  subroutine refer(state, parts, b, p, held, x, e, reference_point, n, found)
    type(element_bodies), intent(in) :: state
    type(primitive_table), intent(in) :: parts
    integer(i4), intent(in) :: b, p
    logical, intent(in) :: held
    real(dp), intent(in) :: x(3)
    integer(i4), intent(inout) :: e
    real(dp), intent(inout) :: reference_point(3), n(8)
    logical, intent(out) :: found
    real(dp) :: nodes(3,8), moved(3,8), natural(3)
    integer :: size

    e = parts%element(p)
    if (e < 0) e = nearest_element(state, parts, b, p, held, merge(reference_point, x, held))
    found = e >= 0
    if (.not. found) return
    call element_nodes(state, b, state%bodies%element_ptr(b) + e, size, nodes, moved)
    if (held) then
      call natural_coordinates(size, nodes, reference_point, natural, found)
      n = shape_values(size, natural)
    else
      call natural_coordinates(size, moved, x, natural, found)
      n = shape_values(size, natural)
      reference_point = matmul(nodes, n)
    end if
  end subroutine refer

  !> First element overlapped by a primitive that holds a point, current or (referential) of the reference
  !> placement, or the nearest one; -1: no element has coordinates for it.
  pure function nearest_element(state, parts, b, p, referential, x) result(best)
    type(element_bodies), intent(in) :: state
    type(primitive_table), intent(in) :: parts
    integer(i4), intent(in) :: b, p
    logical, intent(in) :: referential
    real(dp), intent(in) :: x(3)
    integer(i4) :: best, first, j, e
    real(dp) :: nodes(3,8), moved(3,8), natural(3), distance, edge, least
    integer :: size
    logical :: found

    best = -1
    least = huge(least)
    first = state%bodies%overlap_ptr(b) + parts%number(p)
    do j = state%fe%overlap_first(first), state%fe%overlap_first(first+1) - 1
      e = state%bodies%element_ptr(b) + state%fe%overlap(j)
      call element_nodes(state, b, e, size, nodes, moved)
      if (referential) moved = nodes
      call natural_coordinates(size, moved, x, natural, found)
      if (.not. found) cycle
      edge = maxval(abs(moved(:,2) - moved(:,1)))
      distance = norm2(matmul(moved, shape_values(size, natural)) - x) + edge*excess(size, natural)
      if (.not. distance < least) cycle
      least = distance
      best = state%fe%overlap(j)
      if (least <= 1e-9_dp*edge) return
    end do
  end function nearest_element

  !> Current place of a point of element e of body b with shape functions n.
  pure function placed(state, b, e, n) result(x)
    type(element_bodies), intent(in) :: state
    integer(i4), intent(in) :: b, e
    real(dp), intent(in) :: n(8)
    real(dp) :: x(3), nodes(3,8), moved(3,8)
    integer :: size

    call element_nodes(state, b, state%bodies%element_ptr(b) + e, size, nodes, moved)
    x = matmul(moved, n)
  end function placed

  !> Gathers the nodes of element e (among all) of body b, referential and current; zeros beyond the last node.
  pure subroutine element_nodes(state, b, e, size, nodes, moved)
    type(element_bodies), intent(in) :: state
    integer(i4), intent(in) :: b, e
    integer, intent(out) :: size
    real(dp), intent(out) :: nodes(3,8), moved(3,8)

    size = state%fe%element_size(e)
    nodes = gathered(size, state%fe%element_node(:,e), state%fe%reference(:,state%bodies%node_ptr(b):))
    moved = nodes + gathered(size, state%fe%element_node(:,e), state%configurations%conf(:,state%bodies%conf_ptr(b):))
  end subroutine element_nodes

  !> Columns of the nodes of an element, of all its body's nodes; zeros beyond the last node.
  pure function gathered(size, node, columns) result(nodes)
    integer, intent(in) :: size
    integer(i4), intent(in) :: node(8)
    real(dp), intent(in) :: columns(3,0:*)
    real(dp) :: nodes(3,8)
    integer :: a

    nodes = 0
    do a = 1, size
      nodes(:,a) = columns(:,node(a))
    end do
  end function gathered

  !> Moves the points of the first `users` constraints that are on finite element bodies.
  !>
  !> Reads master, slave, their points, element and weights of constraints, kind and pointers of bodies, conf, and element_size and
  !> element_node of elements; writes point and other_point.
  subroutine place_constraints(handles, constraints, elements, users, status)
    integer(i8), intent(in) :: handles(3), constraints, elements    !< BodyTable.handles, ConstraintTable, FiniteElements
    integer(i4), intent(in) :: users
    integer(i4), intent(out) :: status            !< `table_unknown`: a handle is not that of such a table
    type(element_bodies) :: state
    type(constraint_table) :: rows
    integer :: i, m, s

    call open_elements(handles, elements, state, status)
    if (status == table_open) call open_table(constraints, rows, status)
    if (status /= table_open) return
    do i = 0, users - 1
      m = rows%master(i)
      s = rows%slave(i)
      if (state%bodies%kind(m) == finite_element_kind) rows%point(:,i) = rows%master_point(:,i) + moved(m, 1)
      if (s < 0) cycle
      if (state%bodies%kind(s) == finite_element_kind) rows%other_point(:,i) = rows%slave_point(:,i) + moved(s, 2)
    end do

  contains

    !> Displacement of a point of constraint i.
    pure function moved(b, side) result(u)
      integer(i4), intent(in) :: b
      integer, intent(in) :: side
      real(dp) :: u(3)
      integer :: a, e
      e = state%bodies%element_ptr(b) + rows%element(side,i)
      u = 0
      do a = 1, state%fe%element_size(e)
        u = u + rows%weights(a,side,i)*state%configurations%conf(:,state%bodies%conf_ptr(b)+state%fe%element_node(a,e))
      end do
    end function moved
  end subroutine place_constraints

  !> Marks elements of a body whose boxes, wider by a margin, hold a point.
  !>
  !>   size, element   (0:ne-1), (8,0:ne-1) as `element_size` and `element_node`
  !>   near            (0:ne-1) out, 1: marked
  pure subroutine elements_near(point, margin, ne, size, element, nnode, reference, near)
    real(dp), intent(in) :: point(3), margin
    integer(i4), intent(in) :: ne, nnode
    integer(i4), intent(in) :: size(0:ne-1), element(8,0:ne-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)
    integer(i4), intent(inout) :: near(0:ne-1)
    real(dp) :: low(3), high(3), place(3)
    integer :: a, e

    do e = 0, ne - 1
      low = reference(:,element(1,e))
      high = low
      do a = 2, size(e)
        place = reference(:,element(a,e))
        low = min(low, place)
        high = max(high, place)
      end do
      near(e) = merge(1_i4, 0_i4, all(point >= low - margin .and. point <= high + margin))
    end do
  end subroutine elements_near

  !> Computes natural coordinates and shape functions at referential points in given elements (rows among those of all bodies,
  !> whose nodes begin at `node_start`), and the distance [length] of the points from the image of these coordinates.
  subroutine weigh_points(n, points, element, node_start, ne, element_size, element_node, nnode, reference, natural, weights, &
                          distance)
    integer(i4), intent(in) :: n, ne, nnode
    real(dp), intent(in) :: points(3,0:n-1)
    integer(i4), intent(in) :: element(0:n-1), node_start(0:n-1)
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)
    real(dp), intent(inout) :: natural(3,0:n-1), weights(8,0:n-1), distance(0:n-1)
    real(dp) :: nodes(3,8)
    integer :: e, k, size
    logical :: found

    do k = 0, n - 1
      e = element(k)
      size = element_size(e)
      nodes = gathered(size, element_node(:,e), reference(:,node_start(k):))
      call natural_coordinates(size, nodes, points(:,k), natural(:,k), found)
      ! the sum of the coordinates of triangles and tetrahedra, and the pyramid's slope, are not clamped: a point beyond
      ! them is outside as far as its coordinates are
      weights(:,k) = shape_values(size, natural(:,k))
      distance(k) = norm2(matmul(nodes, weights(:,k)) - points(:,k)) &
                  + maxval(abs(nodes(:,2) - nodes(:,1)))*excess(size, natural(:,k))
      if (.not. found) distance(k) = huge(1.0_dp)
    end do
  end subroutine weigh_points

  !> Computes shape functions at referential points outside of their elements, by linear continuation from natural coordinates nearby.
  !> So displacements that are linear in space are met exactly.  For arguments see weigh_points.
  subroutine extend_weights(n, points, natural, element, node_start, ne, element_size, element_node, nnode, reference, weights)
    integer(i4), intent(in) :: n, ne, nnode
    real(dp), intent(in) :: points(3,0:n-1), natural(3,0:n-1)
    integer(i4), intent(in) :: element(0:n-1), node_start(0:n-1)
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)
    real(dp), intent(inout) :: weights(8,0:n-1)
    real(dp) :: nodes(3,8), g(3,8), jacobian
    integer :: e, k, size

    do k = 0, n - 1
      e = element(k)
      size = element_size(e)
      nodes = gathered(size, element_node(:,e), reference(:,node_start(k):))
      call reference_gradients(size, nodes, natural(:,k), g, jacobian)
      weights(:,k) = shape_values(size, natural(:,k))
      if (.not. jacobian > 0) cycle  ! a corner with a reversed map
      weights(:size,k) = weights(:size,k) + matmul(points(:,k) - matmul(nodes, weights(:,k)), g(:,:size))
    end do
  end subroutine extend_weights

  !> Computes F at natural coordinates of elements, with displacements of all nodes (3,0:nnode-1).
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
      nodes = gathered(size, element_node(:,e), reference(:,node_start(k):))
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
