!> Elements of a background mesh that a shape fills only in part, and the vertices of shapes inside elements
!> (docs/language-objects.md, BODY; docs/theory.md, Finite elements).
!>
!> For arrays of blocks see element_blocks: eight lanes come first.
module cut_elements
  use kinds, only: dp, i4, i8
  use body_state, only: element_bodies, open_elements
  use state_tables, only: vertex_table, open_table
  use table_registry, only: table_open
  use element_shapes, only: shape_values, reference_gradients
  implicit none
  private
  public :: prepare_points, place_vertices

  integer, parameter :: lanes = 8
  integer, parameter :: parallel_from = 2000   !< vertices from which threads pay

contains

  !> Computes gradients (8,3,size,points,0:nblock-1) [1/length] and values (8,size,points,0:nblock-1) of the shape functions at given
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

  !> Moves the vertices x = X + sum of N_a q_a of shapes inside elements.
  !>
  !> Reads vertex_triple and vertex_weights of elements, reference of vertices and conf; writes current.
  !>
  !>   handles      BodyTable.handles
  !>   elements, vertices   FiniteElements, VertexTable
  !>   vertex       (0:n-1) rows of such vertices
  !>   status       `table_unknown`: a handle is not that of such a table
  subroutine place_vertices(handles, elements, vertices, vertex, status, n)
    integer(i8), intent(in) :: handles(3), elements, vertices
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: vertex(0:n-1)
    integer(i4), intent(out) :: status
    type(element_bodies) :: state
    type(vertex_table) :: corners
    real(dp) :: x(3)
    integer :: a, k

    call open_elements(handles, elements, state, status)
    if (status == table_open) call open_table(vertices, corners, status)
    if (status /= table_open) return
    !$omp parallel do if (n > parallel_from) schedule(static) private(a, x)
    do k = 0, n - 1
      x = corners%reference(:,vertex(k))
      do a = 1, 8
        x = x + state%fe%vertex_weights(a,k)*state%configurations%conf(:,state%fe%vertex_triple(a,k))
      end do
      corners%current(:,vertex(k)) = x
    end do
    !$omp end parallel do
  end subroutine place_vertices

end module cut_elements
