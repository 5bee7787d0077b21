!> Elements of a background mesh that a shape fills in part only, and the vertices of shapes inside elements (manual, BODY:
!> mesh; theory, "Finite elements").
!>
!> Arrays of blocks as in element_blocks: eight lanes first.
module cut_elements
  use kinds, only: dp, i4
  use element_shapes, only: shape_values, reference_gradients
  implicit none
  private
  public :: prepare_points, place_vertices

  integer, parameter :: lanes = 8
  integer, parameter :: parallel_from = 2000   !< vertices from which threads pay

contains

  !> Gradients (8,3,size,points,0:nblock-1) [1/length] and values (8,size,points,0:nblock-1) of the shape functions at given
  !> natural coordinates (8,3,points,0:nblock-1); `failed` is the number 8*block + lane of the first element whose
  !> Jacobian is not positive at a point, or -1.
  subroutine prepare_points(size, points, nblock, node, nnode, reference, natural, gradient, value, failed)
    integer(i4), intent(in) :: size, points, nblock, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)         !< [length]
    real(dp), intent(in) :: natural(8,3,points,0:nblock-1)
    real(dp), intent(inout) :: gradient(8,3,size,points,0:nblock-1), value(8,size,points,0:nblock-1)
    integer(i4), intent(out) :: failed
    real(dp) :: nodes(3,8), g(3,8), n(8), jacobian
    integer :: a, b, l, q

    failed = -1
    do b = nblock - 1, 0, -1
      do l = lanes, 1, -1
        nodes = 0
        do a = 1, size
          nodes(:,a) = reference(:,node(l,a,b))
        end do
        do q = 1, points
          call reference_gradients(size, nodes, natural(l,:,q,b), g, jacobian)
          if (.not. jacobian > 0) failed = lanes*b + l - 1
          n = shape_values(size, natural(l,:,q,b))
          gradient(l,:,:,q,b) = g(:,1:size)
          value(l,:,q,b) = n(1:size)
        end do
      end do
    end do
  end subroutine prepare_points

  !> Current vertices x = X + sum of N_a q_a of shapes inside elements.
  !>
  !>   n            number of such vertices
  !>   vertex       (0:n-1) their rows in the vertex table
  !>   triple       (8,0:n-1) configuration triples of the nodes of the element that holds a vertex
  !>   weights      (8,0:n-1) shape functions there, 0 beyond the element's nodes
  !>   reference, current   (3,:) of the vertex table
  !>   conf         (3,:) configuration triples, displacements of nodes
  subroutine place_vertices(n, vertex, triple, weights, nvertex, reference, current, nconf, conf)
    integer(i4), intent(in) :: n, nvertex, nconf
    integer(i4), intent(in) :: vertex(0:n-1), triple(8,0:n-1)
    real(dp), intent(in) :: weights(8,0:n-1)
    real(dp), intent(in) :: reference(3,0:nvertex-1)
    real(dp), intent(inout) :: current(3,0:nvertex-1)
    real(dp), intent(in) :: conf(3,0:nconf-1)
    real(dp) :: x(3)
    integer :: a, k

    !$omp parallel do if (n > parallel_from) schedule(static) private(a, x)
    do k = 0, n - 1
      x = reference(:,vertex(k))
      do a = 1, 8
        x = x + weights(a,k)*conf(:,triple(a,k))
      end do
      current(:,vertex(k)) = x
    end do
    !$omp end parallel do
  end subroutine place_vertices

end module cut_elements
