!> Point forces and torques as generalised forces of their bodies.
module point_loads
  use kinds, only: dp, i4
  use kind_numbers, only: spatial_force => load_spatial_force, convected_force => load_convected_force, &
    spatial_torque => load_spatial_torque, convected_torque => load_convected_torque
  use velocity_operator, only: rigid_kind, pseudo_rigid_kind, finite_element_kind
  use element_shapes, only: reference_gradients
  use matrix3, only: cross, multiply, multiply_transposed
  implicit none
  private
  public :: add_point_loads

contains

  !> Adds every load, in its order, to `force` at the present configuration (manual, FORCE and TORQUE).
  !> With g = value direction: a SPATIAL force is g, a CONVECTED one R g or F g; a SPATIAL torque acts in space, a
  !> CONVECTED one in the body's frame.  Nodes of finite elements take N_a times the force.
  !> `failure` is 1 for a load on a body of the wrong kind, with the load's `row`.
  subroutine add_point_loads(n, series_values, load_kind, body, point, direction, value, series, element, natural, weights, &
                             kind, centre, conf_ptr, velo_ptr, element_ptr, node_ptr, element_size, element_node, reference, &
                             conf, force, failure, row, nl, ns, nb, ne, nnode, nconf, nvelo)
    integer(i4), intent(in) :: n                  !< loads in use
    integer(i4), intent(in) :: nl, ns, nb, ne, nnode, nconf, nvelo
    real(dp), intent(in) :: series_values(0:ns-1) !< series at the present time
    integer(i4), intent(in) :: load_kind(0:nl-1)
    integer(i4), intent(in) :: body(0:nl-1)       !< rows of bodies
    real(dp), intent(in) :: point(3,0:nl-1)       !< referential points [length]
    real(dp), intent(in) :: direction(3,0:nl-1)   !< unit vectors
    real(dp), intent(in) :: value(0:nl-1)         !< magnitude [force or moment], used where there is no series
    integer(i4), intent(in) :: series(0:nl-1)     !< rows of time series, -1: none
    integer(i4), intent(in) :: element(0:nl-1)    !< of a finite element body, numbered within it
    real(dp), intent(in) :: natural(3,0:nl-1), weights(8,0:nl-1) !< natural coordinates and shape functions there
    integer(i4), intent(in) :: kind(0:nb-1)
    real(dp), intent(in) :: centre(3,0:nb-1)      !< referential mass centres
    integer(i4), intent(in) :: conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    integer(i4), intent(in) :: element_ptr(0:nb-1), node_ptr(0:nb-1) !< first element and node of finite element bodies
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1) !< nodes numbered within the body
    real(dp), intent(in) :: reference(3,0:nnode-1) !< referential nodes [length]
    real(dp), intent(in) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: force(3,0:nvelo-1)
    integer(i4), intent(out) :: failure, row
    real(dp) :: g(3), arm(3)
    integer(i4) :: a, b, c, e, i, k, v

    failure = 0
    row = -1
    do k = 0, n - 1
      b = body(k)
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (series(k) < 0) then
        g = value(k)*direction(:,k)
      else
        g = series_values(series(k))*direction(:,k)
      end if
      if (kind(b) == finite_element_kind) then
        e = element_ptr(b) + element(k)
        if (load_kind(k) == convected_force) then
          g = convected(element_size(e), element_node(:,e), natural(:,k), reference(:,node_ptr(b):), conf(:,c:), g)
        end if
        do a = 1, element_size(e)
          force(:,v+element_node(a,e)) = force(:,v+element_node(a,e)) + weights(a,k)*g
        end do
        cycle
      end if
      arm = point(:,k) - centre(:,b)
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
          ! the configuration triples are the rows of F, that is, F^T
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
  end subroutine add_point_loads

  !> F g at natural coordinates of an element, from the nodes of its body (3,0:*) and their displacements.
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
