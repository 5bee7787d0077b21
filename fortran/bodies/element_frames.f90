!> Local frames of finite elements at points of constraints: the gradient of deformation there, its rotation, and their rates.
module element_frames
  use kinds, only: dp, i4
  use body_state, only: constrained_bodies
  use element_shapes, only: node_coordinates, reference_gradients
  use velocity_operator, only: finite_element_kind, angular_blocks, polar_rotation, rotation_of, spin_blocks
  implicit none
  private
  public :: rotation_at, element_spin, spin_at

contains

  !> The rotation of the body on one side of constraint i, at the point there; the body's own if it has no elements.
  function rotation_at(state, side, i) result(rotation)
    type(constrained_bodies), intent(in) :: state
    integer, intent(in) :: side       !< 1 master, 2 slave
    integer(i4), intent(in) :: i
    real(dp) :: rotation(3,3), g(3,8)
    integer(i4) :: k, c

    k = state%con%master(i)
    if (side == 2) k = state%con%slave(i)
    c = state%bodies%conf_ptr(k)
    if (state%bodies%kind(k) /= finite_element_kind) then
      rotation = rotation_of(state%bodies%kind(k), state%configurations%conf(:,c:c+3))
    else
      g = point_gradients(state, side, i, k)
      rotation = polar_rotation(gradient_of(state, side, i, k, g))
    end if
  end function rotation_at

  !> Blocks (3,3,8) of the operator from the velocities of an element's nodes to the angular velocity of its frame in a local base, at the point
  !> on one side of constraint i, on body k: those of the rows of dF/dt (velocity_operator) times the gradients of shape functions.
  function element_spin(state, side, i, k, base) result(blocks)
    type(constrained_bodies), intent(in) :: state
    integer, intent(in) :: side
    integer(i4), intent(in) :: i, k
    real(dp), intent(in) :: base(3,3)
    real(dp) :: blocks(3,3,8), of_rows(3,3,3), g(3,8)
    integer :: a, p

    g = point_gradients(state, side, i, k)
    call spin_blocks(gradient_of(state, side, i, k, g), base, of_rows)
    do a = 1, 8
      do p = 1, 3
        blocks(:,p,a) = matmul(of_rows(:,:,p), g(:,a))
      end do
    end do
  end function element_spin

  !> Present angular velocity of the frame at the point on one side of constraint i: of the element there, or of a body without.
  function spin_at(state, side, i) result(spin)
    type(constrained_bodies), intent(in) :: state
    integer, intent(in) :: side
    integer(i4), intent(in) :: i
    real(dp) :: spin(3), unit(3,3), blocks(3,3,8)
    integer(i4) :: k, c, e, count, node
    integer :: a, j

    k = merge(state%con%master(i), state%con%slave(i), side == 1)
    unit = 0.0_dp
    do j = 1, 3
      unit(j,j) = 1.0_dp
    end do
    spin = 0.0_dp
    if (state%bodies%kind(k) /= finite_element_kind) then
      c = state%bodies%conf_ptr(k)
      call angular_blocks(state%bodies%kind(k), state%configurations%conf(:,c:c+3), unit, count, blocks(:,:,1:4))
    else
      blocks = element_spin(state, side, i, k, unit)
      e = state%bodies%element_ptr(k) + state%con%element(side,i)
      count = state%fe%element_size(e)
    end if
    do a = 1, count
      node = state%bodies%velo_ptr(k) + a - 1
      if (state%bodies%kind(k) == finite_element_kind) node = state%bodies%velo_ptr(k) + state%fe%element_node(a,e)
      spin = spin + matmul(blocks(:,:,a), state%triples%velo(:,node))
    end do
  end function spin_at

  !> Referential gradients (3,8) of shape functions at the point of a constraint; zeros beyond the element's nodes.
  !>
  !> Shape functions reproduce natural coordinates, so those of the point follow from its weights.
  function point_gradients(state, side, i, k) result(g)
    type(constrained_bodies), intent(in) :: state
    integer, intent(in) :: side
    integer(i4), intent(in) :: i, k
    real(dp) :: g(3,8), nodes(3,8), natural(3,8), jacobian
    integer(i4) :: e, first
    integer :: a, size

    e = state%bodies%element_ptr(k) + state%con%element(side,i)
    first = state%bodies%node_ptr(k)
    size = state%fe%element_size(e)
    nodes = 0.0_dp
    do a = 1, size
      nodes(:,a) = state%fe%reference(:,first+state%fe%element_node(a,e))
    end do
    natural = node_coordinates(size)
    call reference_gradients(size, nodes, matmul(natural, state%con%weights(:,side,i)), g, jacobian)
  end function point_gradients

  !> The gradient F of deformation at the point of a constraint.
  function gradient_of(state, side, i, k, g) result(gradient)
    type(constrained_bodies), intent(in) :: state
    integer, intent(in) :: side
    integer(i4), intent(in) :: i, k
    real(dp), intent(in) :: g(3,8)
    real(dp) :: gradient(3,3)
    integer(i4) :: e
    integer :: a, j

    gradient = 0.0_dp
    do j = 1, 3
      gradient(j,j) = 1.0_dp
    end do
    e = state%bodies%element_ptr(k) + state%con%element(side,i)
    do a = 1, state%fe%element_size(e)
      associate (u => state%configurations%conf(:,state%bodies%conf_ptr(k)+state%fe%element_node(a,e)))
        do j = 1, 3
          gradient(:,j) = gradient(:,j) + u*g(j,a)
        end do
      end associate
    end do
  end function gradient_of
end module element_frames
