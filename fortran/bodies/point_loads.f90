!> Point forces and torques as generalised forces of their bodies.
module point_loads
  use kinds, only: dp, i4, i8
  use body_state, only: element_bodies, open_elements
  use state_tables, only: point_load_table, series_table, open_table
  use table_registry, only: table_open
  use kind_numbers, only: spatial_force => load_spatial_force, convected_force => load_convected_force, &
    spatial_torque => load_spatial_torque, convected_torque => load_convected_torque
  use velocity_operator, only: rigid_kind, pseudo_rigid_kind, finite_element_kind
  use element_shapes, only: reference_gradients
  use matrix3, only: cross, multiply, multiply_transposed
  implicit none
  private
  public :: add_point_loads

contains

  !> Adds every load, in its order, to `force` at the present configuration (docs/language-running.md, Loads).
  !> With g = value direction: a SPATIAL force is g, a CONVECTED one R g or F g; a SPATIAL torque acts in space, a
  !> CONVECTED one in the body's frame.  Nodes of finite elements take N_a times the force.
  !> `failure` is 1 for a load on a body of the wrong kind, with the load's `row`, `table_unknown` where a handle is not that of such a table.
  !>
  !> Reads all columns of loads, the values of series at the present time, kind, centre, pointers and conf of bodies, and element_size,
  !> element_node and reference of elements; writes force.
  subroutine add_point_loads(handles, loads, series, elements, failure, row)
    integer(i8), intent(in) :: handles(3)         !< BodyTable.handles
    integer(i8), intent(in) :: loads, series, elements    !< PointLoadTable, SeriesTable, FiniteElements
    integer(i4), intent(out) :: failure, row
    type(element_bodies) :: state
    type(point_load_table) :: load
    type(series_table) :: known
    real(dp) :: g(3), arm(3)
    integer(i4) :: a, b, c, e, i, k, v

    row = -1
    call open_elements(handles, elements, state, failure)
    if (failure == table_open) call open_table(loads, load, failure)
    if (failure == table_open) call open_table(series, known, failure)
    if (failure /= table_open) return
    associate (kind => state%bodies%kind, node_ptr => state%bodies%node_ptr, conf => state%configurations%conf, &
               force => state%triples%force, load_kind => load%kind, natural => load%natural, weights => load%weights, &
               element_size => state%fe%element_size, element_node => state%fe%element_node, reference => state%fe%reference)
    do k = 0, int(load%rows, i4) - 1
      b = load%body(k)
      c = state%bodies%conf_ptr(b)
      v = state%bodies%velo_ptr(b)
      if (load%series(k) < 0) then
        g = load%value(k)*load%direction(:,k)
      else
        g = known%result(load%series(k))*load%direction(:,k)
      end if
      if (kind(b) == finite_element_kind) then
        e = state%bodies%element_ptr(b) + load%element(k)
        if (load_kind(k) == convected_force) then
          g = convected(element_size(e), element_node(:,e), natural(:,k), reference(:,node_ptr(b):), conf(:,c:), g)
        end if
        do a = 1, element_size(e)
          force(:,v+element_node(a,e)) = force(:,v+element_node(a,e)) + weights(a,k)*g
        end do
        cycle
      end if
      arm = load%point(:,k) - state%bodies%centre(:,b)
      if (kind(b) == rigid_kind) then
        select case (load_kind(k))
        case (spatial_force)
          force(:,v) = force(:,v) + cross(arm, multiply_transposed(conf(:,c:c+2), g))
          force(:,v+1) = force(:,v+1) + g
        case (convected_force)
          force(:,v) = force(:,v) + cross(arm, g)
          force(:,v+1) = force(:,v+1) + multiply(conf(:,c:c+2), g)
        case (spatial_torque)
          force(:,v) = force(:,v) + multiply_transposed(conf(:,c:c+2), g)
        case (convected_torque)
          force(:,v) = force(:,v) + g
        end select
      else if (kind(b) == pseudo_rigid_kind .and. load_kind(k) <= convected_force) then
        if (load_kind(k) == convected_force) then
          ! with the rows of F as columns this is F^T
          g = multiply_transposed(conf(:,c:c+2), g)
        end if
        do i = 1, 3
          force(:,v+i-1) = force(:,v+i-1) + g(i)*arm
        end do
        force(:,v+3) = force(:,v+3) + g
      else
        failure = 1
        row = k
        return
      end if
    end do
    end associate
  end subroutine add_point_loads

  !> Computes F g at natural coordinates of an element, from the nodes of its body (3,0:*) and their displacements.
  pure function convected(size, node, natural, reference, displacement, g) result(turned)
    integer, intent(in) :: size
    integer(i4), intent(in) :: node(8)
    real(dp), intent(in) :: natural(3), reference(3,0:*), displacement(3,0:*), g(3)
    real(dp) :: turned(3), nodes(3,8), slope(3,8), jacobian
    integer :: a

    nodes = 0
    do a = 1, size
      nodes(:,a) = reference(:,node(a))
    end do
    call reference_gradients(size, nodes, natural, slope, jacobian)
    turned = g
    do a = 1, size
      turned = turned + displacement(:,node(a))*sum(slope(:,a)*g)
    end do
  end function convected

end module point_loads
