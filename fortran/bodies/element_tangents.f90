!> Tangent matrices of elements in blocks of eight, and sums of their entries into a sparse matrix (docs/theory.md, Finite elements).
!>
!> For arguments see `element_blocks`.  With f_a = T g_a and the parts of the material's derivative (`material_laws`)
!>   K_ab = (g_a.S g_b) I + (g_a.g_b) B + c1 f_a f_b^T + c2 f_b f_a^T
module element_tangents
  use kinds, only: dp, i4
  use hexahedron_rates, only: hexahedron_gradients
  use material_laws, only: law_tangent, lessen_stress, linear_law
  implicit none
  private
  public :: element_stiffness, assemble_matrix, laplacian_rows

  integer, parameter :: lanes = 8
  !> Number of blocks of elements, or of unknowns, from which threads pay.
  integer, parameter :: parallel_from = 16, parallel_unknowns = 500

contains

  !> Computes dense tangents (8,3*size,3*size,0:nblock-1) with rows and columns 3(a-1)+i; `mirrored` 0: only the upper triangles.
  !>
  !>   share  (8,0:nblock-1) of the stress in the tangent, see `lessen_stress`
  subroutine element_stiffness(size, columns, kept, points, rows, nblock, law, node, gradient, weight, lame, share, nnode, &
                               displacement, mirrored, stiffness)
    integer(i4), intent(in) :: size, columns, kept, points, rows, nblock, law, nnode, mirrored
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: gradient(8,3,columns,kept,0:nblock-1), weight(8,points,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: share(8,0:nblock-1), displacement(3,0:nnode-1)
    real(dp), intent(inout) :: stiffness(8,rows,rows,0:nblock-1)
    real(dp) :: g(8,3,8), h(8,3,3), s(8,3,3), b(8,3,3), t(8,3,3), c1(8), c2(8)
    integer :: k, q, row, column

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(g, h, s, b, t, c1, c2, q, row, column)
    do k = 0, nblock - 1
      stiffness(:,:,:,k) = 0
      do q = 1, points
        call point_gradients(size, columns, q, gradient(:,:,:,min(q,kept),k), g)
        if (law /= linear_law) call displacement_gradient(size, node(:,:,k), displacement, g, h)
        call law_tangent(law, lame(:,:,k), weight(:,q,k), h, s, b, t, c1, c2)
        call lessen_stress(law, lame(:,:,k), weight(:,q,k), h, share(:,k), s)
        call add_tangent(size, rows, g, s, b, t, c1, c2, stiffness(:,:,:,k))
      end do
      if (mirrored == 0) cycle
      do column = 1, rows
        do row = column + 1, rows
          stiffness(:,row,column,k) = stiffness(:,column,row,k)
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine element_stiffness

  !> Computes gradients of shape functions at point q, from those that are stored, or of hexahedra from the stored map.
  pure subroutine point_gradients(size, columns, q, stored, g)
    integer(i4), intent(in) :: size, columns, q
    real(dp), intent(in) :: stored(8,3,columns)
    real(dp), intent(inout) :: g(8,3,8)

    if (columns == size) then
      g(:,:,1:size) = stored
    else
      call hexahedron_gradients(q, stored, g)
    end if
  end subroutine point_gradients

  !> Computes sums of the moduli of the entries in each row of the elements' Laplacians L_ab = integral of g_a.g_b.
  !>
  !>   total  (8,size,0:nblock-1) out [length]
  subroutine laplacian_rows(size, columns, kept, points, nblock, gradient, weight, total)
    integer(i4), intent(in) :: size, columns, kept, points, nblock
    real(dp), intent(in) :: gradient(8,3,columns,kept,0:nblock-1), weight(8,points,0:nblock-1)
    real(dp), intent(inout) :: total(8,size,0:nblock-1)
    real(dp) :: g(8,3,8), entry(8,8,8)
    integer :: k, q, a, b

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(g, entry, q, a, b)
    do k = 0, nblock - 1
      entry = 0
      do q = 1, points
        call point_gradients(size, columns, q, gradient(:,:,:,min(q,kept),k), g)
        do b = 1, size
          do a = 1, size
            entry(:,a,b) = entry(:,a,b) + weight(:,q,k)*(g(:,1,a)*g(:,1,b) + g(:,2,a)*g(:,2,b) + g(:,3,a)*g(:,3,b))
          end do
        end do
      end do
      total(:,:,k) = sum(abs(entry(:,1:size,1:size)), dim=3)
    end do
    !$omp end parallel do
  end subroutine laplacian_rows

  !> Computes the displacement gradient h = sum of u_a g_a^T.
  pure subroutine displacement_gradient(size, node, displacement, g, h)
    integer, intent(in) :: size
    integer(i4), intent(in) :: node(8,size)
    real(dp), intent(in) :: displacement(3,0:*), g(8,3,8)
    real(dp), intent(inout) :: h(8,3,3)
    real(dp) :: u(8,3)
    integer :: a, i, j, l

    h = 0
    do a = 1, size
      do l = 1, lanes
        u(l,:) = displacement(:,node(l,a))
      end do
      do j = 1, 3
        do i = 1, 3
          h(:,i,j) = h(:,i,j) + u(:,i)*g(:,j,a)
        end do
      end do
    end do
  end subroutine displacement_gradient

  !> Adds the contribution of one quadrature point to the blocks of nodes a <= b.
  pure subroutine add_tangent(size, rows, g, s, m, t, c1, c2, stiffness)
    integer, intent(in) :: size, rows
    real(dp), intent(in) :: g(8,3,8), s(8,3,3), m(8,3,3), t(8,3,3), c1(8), c2(8)
    real(dp), intent(inout) :: stiffness(8,rows,rows)
    real(dp) :: f(8,3,8), first(8,3), second(8,3), traction(8,3), stress, metric
    integer :: a, b, i, k, l, row, column

    do a = 1, size
      do i = 1, 3
        f(:,i,a) = t(:,i,1)*g(:,1,a) + t(:,i,2)*g(:,2,a) + t(:,i,3)*g(:,3,a)
      end do
    end do
    do b = 1, size
      do i = 1, 3
        traction(:,i) = s(:,i,1)*g(:,1,b) + s(:,i,2)*g(:,2,b) + s(:,i,3)*g(:,3,b)
        first(:,i) = c1*f(:,i,b)
        second(:,i) = c2*f(:,i,b)
      end do
      column = 3*(b - 1)
      do a = 1, b
        row = 3*(a - 1)
        !$omp simd private(stress, metric)
        do l = 1, lanes
          stress = g(l,1,a)*traction(l,1) + g(l,2,a)*traction(l,2) + g(l,3,a)*traction(l,3)
          metric = g(l,1,a)*g(l,1,b) + g(l,2,a)*g(l,2,b) + g(l,3,a)*g(l,3,b)
          do k = 1, 3
            do i = 1, 3
              stiffness(l,row+i,column+k) = stiffness(l,row+i,column+k) &
                + (metric*m(l,i,k) + f(l,i,a)*first(l,k) + second(l,i)*f(l,k,a))
            end do
            stiffness(l,row+k,column+k) = stiffness(l,row+k,column+k) + stress
          end do
        end do
      end do
    end do
  end subroutine add_tangent

  !> Assembles the lower triangle of M + beta K column by column, the diagonal first.  The blocks (3,3) of node c with itself and with later nodes are
  !> begin(c) .. begin(c+1)-1; block p is beta(owner) times the sum of its parts first(p) .. first(p+1)-1, in that order.
  !>
  !>   start         (0:3 nnode) of columns in `value`
  !>   part          (3,0:npart-1) where entry (1,1) of a part is in `flat`, and the steps from there to its next row and its next column
  !>   owner, mass   (0:nnode-1) bodies and masses of nodes, each of three unknowns;  beta (0:nbody-1) [time**2]
  subroutine assemble_matrix(nnode, owner, mass, nbody, beta, nstart, start, nbegin, begin, nfirst, first, npart, part, nflat, &
                             flat, nentry, value)
    integer(i4), intent(in) :: nnode, nbody, nstart, nbegin, nfirst, npart, nflat, nentry
    integer(i4), intent(in) :: owner(0:nnode-1), start(0:nstart-1), begin(0:nbegin-1), first(0:nfirst-1), part(3,0:npart-1)
    real(dp), intent(in) :: mass(0:nnode-1), beta(0:nbody-1), flat(0:nflat-1)
    real(dp), intent(inout) :: value(0:nentry-1)
    real(dp) :: total(0:2,0:2)
    integer :: c, i, j, k, p, at

    !$omp parallel do if (3*nnode > parallel_unknowns) schedule(static) private(total, i, j, k, p, at)
    do c = 0, nnode - 1
      do p = begin(c), begin(c+1) - 1
        total = 0
        do k = first(p), first(p+1) - 1
          do j = 0, 2
            do i = 0, 2
              total(i,j) = total(i,j) + flat(part(1,k) + part(2,k)*i + part(3,k)*j)
            end do
          end do
        end do
        do j = 0, 2
          at = start(3*c+j) + 3*(p - begin(c)) - j
          do i = merge(j, 0, p == begin(c)), 2
            value(at+i) = beta(owner(c))*total(i,j)
          end do
        end do
      end do
      do j = 0, 2
        value(start(3*c+j)) = value(start(3*c+j)) + mass(c)
      end do
    end do
    !$omp end parallel do
  end subroutine assemble_matrix

end module element_tangents
