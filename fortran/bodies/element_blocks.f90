!> Finite elements in blocks of eight of one type, the lane number first, so that one instruction serves a block
!> (theory, "Finite elements"; manual, BODY form 'TL' and 'BC').
!>
!> In all procedures: lanes = 8; size = 4, 5, 6 or 8 nodes, points = 4, 8, 6 or 8 quadrature points;
!>   node          (8,size,0:nblock-1) node numbers; lanes without an element repeat another and weigh nothing
!>   gradient      (8,3,size,points,0:nblock-1) referential gradients of the shape functions [1/length]
!>   weight        (8,points,0:nblock-1) quadrature weights times det F0 [length**3]
!>   lame          (8,2,0:nblock-1) lambda, mu [pressure]
!>   displacement  (3,0:nnode-1) [length]
!>   element_force (8,3,size,0:nblock-1) [force]
!> `linear` 1: the stiffness at zero displacement applied to the displacement; 0: St Venant-Kirchhoff material.
module element_blocks
  use kinds, only: dp, i4
  use element_shapes, only: shape_values, quadrature, mass_quadrature, reference_gradients
  implicit none
  private
  public :: prepare_blocks, lumped_masses, internal_forces, tangent_products, internal_energies, element_stiffness, gather_nodes

  integer, parameter :: lanes = 8
  !> Blocks (or nodes) from which threads pay.
  integer, parameter :: parallel_from = 64, parallel_nodes = 2000

contains

  !> Gradients and weights from the referential nodes (3,0:nnode-1); `failed` is the number 8*block + lane of the first
  !> element without positive volume at a quadrature point, or -1.
  subroutine prepare_blocks(size, points, nblock, node, nnode, reference, gradient, weight, failed)
    integer(i4), intent(in) :: size, points, nblock, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)
    real(dp), intent(inout) :: gradient(8,3,size,points,0:nblock-1), weight(8,points,0:nblock-1)
    integer(i4), intent(out) :: failed
    real(dp) :: natural(3,8), factor(8), nodes(3,8), g(3,8), jacobian
    integer :: a, b, count, l, q

    failed = huge(failed)
    call quadrature(size, count, natural, factor)
    !$omp parallel do if (nblock > parallel_from) schedule(static) private(nodes, g, jacobian, a, l, q) reduction(min:failed)
    do b = 0, nblock - 1
      do l = 1, lanes
        nodes = 0
        do a = 1, size
          nodes(:,a) = reference(:,node(l,a,b))
        end do
        do q = 1, count
          call reference_gradients(size, nodes, natural(:,q), g, jacobian)
          if (.not. jacobian > 0) failed = min(failed, lanes*b + l - 1)
          gradient(l,:,:,q,b) = g(:,1:size)
          weight(l,q,b) = factor(q)*jacobian
        end do
      end do
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
  end subroutine prepare_blocks

  !> Integrals of density times N_a, (8,size,0:nblock-1) [mass], and volumes (8,0:nblock-1).
  subroutine lumped_masses(size, nblock, node, nnode, reference, density, mass, volume)
    integer(i4), intent(in) :: size, nblock, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)
    real(dp), intent(in) :: density(8,0:nblock-1)  !< [mass/length**3]
    real(dp), intent(inout) :: mass(8,size,0:nblock-1), volume(8,0:nblock-1)
    real(dp) :: natural(3,64), factor(64), nodes(3,8), g(3,8), n(8), jacobian
    integer :: a, b, count, l, q

    call mass_quadrature(size, count, natural, factor)
    !$omp parallel do if (nblock > parallel_from) schedule(static) private(nodes, g, n, jacobian, a, l, q)
    do b = 0, nblock - 1
      mass(:,:,b) = 0
      volume(:,b) = 0
      do l = 1, lanes
        nodes = 0
        do a = 1, size
          nodes(:,a) = reference(:,node(l,a,b))
        end do
        do q = 1, count
          call reference_gradients(size, nodes, natural(:,q), g, jacobian)
          n = shape_values(size, natural(:,q))
          mass(l,:,b) = mass(l,:,b) + density(l,b)*factor(q)*jacobian*n(1:size)
          volume(l,b) = volume(l,b) + factor(q)*jacobian
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine lumped_masses

  !> f_a = integral of P g_a, with P = F S (or the linear stress).
  subroutine internal_forces(size, points, nblock, linear, node, gradient, weight, lame, nnode, displacement, element_force)
    integer(i4), intent(in) :: size, points, nblock, linear, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: gradient(8,3,size,points,0:nblock-1), weight(8,points,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: displacement(3,0:nnode-1)
    real(dp), intent(inout) :: element_force(8,3,size,0:nblock-1)
    integer :: b

    !$omp parallel do if (nblock > parallel_from) schedule(static)
    do b = 0, nblock - 1
      ! constant sizes let the compiler unroll the loops over nodes
      select case (size)
      case (4)
        call block_force(4, 4, linear, node(:,:,b), gradient(:,:,:,:,b), weight(:,:,b), lame(:,:,b), displacement, &
                         element_force(:,:,:,b))
      case (5)
        call block_force(5, 8, linear, node(:,:,b), gradient(:,:,:,:,b), weight(:,:,b), lame(:,:,b), displacement, &
                         element_force(:,:,:,b))
      case (6)
        call block_force(6, 6, linear, node(:,:,b), gradient(:,:,:,:,b), weight(:,:,b), lame(:,:,b), displacement, &
                         element_force(:,:,:,b))
      case (8)
        call block_force(8, 8, linear, node(:,:,b), gradient(:,:,:,:,b), weight(:,:,b), lame(:,:,b), displacement, &
                         element_force(:,:,:,b))
      end select
    end do
    !$omp end parallel do
  end subroutine internal_forces

  !> Internal force of one block.
  subroutine block_force(size, points, linear, node, gradient, weight, lame, displacement, force)
    integer, intent(in) :: size, points, linear
    integer(i4), intent(in) :: node(8,size)
    real(dp), intent(in) :: gradient(8,3,size,points), weight(8,points), lame(8,2)
    real(dp), intent(in) :: displacement(3,0:*)
    real(dp), intent(inout) :: force(8,3,size)
    real(dp) :: u(8,3,8), h(8,3,3), p(8,3,3)
    integer :: a, i, l, q

    call pick(size, node, displacement, u)
    force = 0
    do q = 1, points
      call gradients_of(size, gradient(:,:,:,q), u, h)
      if (linear == 1) then
        call linear_stress(lame, weight(:,q), h, p)
      else
        call first_piola_kirchhoff(lame, weight(:,q), h, p)
      end if
      do a = 1, size
        do i = 1, 3
          do l = 1, lanes
            force(l,i,a) = force(l,i,a) + (p(l,i,1)*gradient(l,1,a,q) + p(l,i,2)*gradient(l,2,a,q) + p(l,i,3)*gradient(l,3,a,q))
          end do
        end do
      end do
    end do
  end subroutine block_force

  !> Displacements of the nodes of a block.
  pure subroutine pick(size, node, displacement, u)
    integer, intent(in) :: size
    integer(i4), intent(in) :: node(8,size)
    real(dp), intent(in) :: displacement(3,0:*)
    real(dp), intent(inout) :: u(8,3,8)
    integer :: a, l

    do a = 1, size
      do l = 1, lanes
        u(l,1,a) = displacement(1,node(l,a))
        u(l,2,a) = displacement(2,node(l,a))
        u(l,3,a) = displacement(3,node(l,a))
      end do
    end do
  end subroutine pick

  !> h = sum of u_a g_a^T, the displacement gradient.
  pure subroutine gradients_of(size, gradient, u, h)
    integer, intent(in) :: size
    real(dp), intent(in) :: gradient(8,3,size)
    real(dp), intent(in) :: u(8,3,8)
    real(dp), intent(inout) :: h(8,3,3)
    integer :: a, i, j, l

    do j = 1, 3
      do i = 1, 3
        h(:,i,j) = u(:,i,1)*gradient(:,j,1)
      end do
    end do
    do a = 2, size
      do j = 1, 3
        do i = 1, 3
          do l = 1, lanes
            h(l,i,j) = h(l,i,j) + u(l,i,a)*gradient(l,j,a)
          end do
        end do
      end do
    end do
  end subroutine gradients_of

  !> weight * F S with S = lambda tr(E) I + 2 mu E, E = (h + h^T + h^T h)/2, F = I + h.
  pure subroutine first_piola_kirchhoff(lame, weight, h, p)
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)
    real(dp) :: e11, e22, e33, e12, e13, e23, t, m
    integer :: i, l

    !$omp simd private(e11, e22, e33, e12, e13, e23, t, m)
    do l = 1, lanes
      m = 2*lame(l,2)*weight(l)
      e11 = h(l,1,1) + (h(l,1,1)*h(l,1,1) + h(l,2,1)*h(l,2,1) + h(l,3,1)*h(l,3,1))/2
      e22 = h(l,2,2) + (h(l,1,2)*h(l,1,2) + h(l,2,2)*h(l,2,2) + h(l,3,2)*h(l,3,2))/2
      e33 = h(l,3,3) + (h(l,1,3)*h(l,1,3) + h(l,2,3)*h(l,2,3) + h(l,3,3)*h(l,3,3))/2
      e12 = m*(h(l,1,2) + h(l,2,1) + (h(l,1,1)*h(l,1,2) + h(l,2,1)*h(l,2,2) + h(l,3,1)*h(l,3,2)))/2
      e13 = m*(h(l,1,3) + h(l,3,1) + (h(l,1,1)*h(l,1,3) + h(l,2,1)*h(l,2,3) + h(l,3,1)*h(l,3,3)))/2
      e23 = m*(h(l,2,3) + h(l,3,2) + (h(l,1,2)*h(l,1,3) + h(l,2,2)*h(l,2,3) + h(l,3,2)*h(l,3,3)))/2
      t = lame(l,1)*weight(l)*(e11 + e22 + e33)
      e11 = t + m*e11
      e22 = t + m*e22
      e33 = t + m*e33
      do i = 1, 3
        p(l,i,1) = h(l,i,1)*e11 + h(l,i,2)*e12 + h(l,i,3)*e13
        p(l,i,2) = h(l,i,1)*e12 + h(l,i,2)*e22 + h(l,i,3)*e23
        p(l,i,3) = h(l,i,1)*e13 + h(l,i,2)*e23 + h(l,i,3)*e33
      end do
      p(l,1,1) = p(l,1,1) + e11
      p(l,2,2) = p(l,2,2) + e22
      p(l,3,3) = p(l,3,3) + e33
      p(l,1,2) = p(l,1,2) + e12
      p(l,2,1) = p(l,2,1) + e12
      p(l,1,3) = p(l,1,3) + e13
      p(l,3,1) = p(l,3,1) + e13
      p(l,2,3) = p(l,2,3) + e23
      p(l,3,2) = p(l,3,2) + e23
    end do
  end subroutine first_piola_kirchhoff

  !> weight * (lambda tr(h) I + mu (h + h^T)).
  pure subroutine linear_stress(lame, weight, h, p)
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)
    real(dp) :: t, m
    integer :: i, j, l

    !$omp simd private(t, m)
    do l = 1, lanes
      m = lame(l,2)*weight(l)
      t = lame(l,1)*weight(l)*(h(l,1,1) + h(l,2,2) + h(l,3,3))
      do j = 1, 3
        do i = 1, 3
          p(l,i,j) = m*(h(l,i,j) + h(l,j,i))
        end do
        p(l,j,j) = p(l,j,j) + t
      end do
    end do
  end subroutine linear_stress

  !> weight * (v S + F (C : sym(F^T v))), the change of P along the displacement gradient v.
  pure subroutine stress_change(lame, weight, h, v, p)
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3), v(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)
    real(dp) :: f(8,3,3), s(8,3,3), d(8,3,3), t(8)
    integer :: i, j

    f = h
    do i = 1, 3
      f(:,i,i) = f(:,i,i) + 1
    end do
    do j = 1, 3
      do i = 1, 3
        s(:,i,j) = lame(:,2)*(h(:,i,j) + h(:,j,i) + (h(:,1,i)*h(:,1,j) + h(:,2,i)*h(:,2,j) + h(:,3,i)*h(:,3,j)))
        d(:,i,j) = lame(:,2)*((f(:,1,i)*v(:,1,j) + f(:,2,i)*v(:,2,j) + f(:,3,i)*v(:,3,j)) &
                            + (v(:,1,i)*f(:,1,j) + v(:,2,i)*f(:,2,j) + v(:,3,i)*f(:,3,j)))
      end do
    end do
    ! traces of E and of its change, times lambda: s and d hold 2 mu times these
    t = (h(:,1,1) + h(:,2,2) + h(:,3,3) + (sum(sum(h**2, 3), 2))/2)*lame(:,1)
    do i = 1, 3
      s(:,i,i) = s(:,i,i) + t
    end do
    t = 0
    do j = 1, 3
      t = t + (f(:,1,j)*v(:,1,j) + f(:,2,j)*v(:,2,j) + f(:,3,j)*v(:,3,j))
    end do
    t = t*lame(:,1)
    do i = 1, 3
      d(:,i,i) = d(:,i,i) + t
    end do
    do j = 1, 3
      do i = 1, 3
        p(:,i,j) = weight*(v(:,i,1)*s(:,1,j) + v(:,i,2)*s(:,2,j) + v(:,i,3)*s(:,3,j) &
                         + (f(:,i,1)*d(:,1,j) + f(:,i,2)*d(:,2,j) + f(:,i,3)*d(:,3,j)))
      end do
    end do
  end subroutine stress_change

  !> K v of every element at the present displacement (linear: at zero), v (3,0:nnode-1).
  subroutine tangent_products(size, points, nblock, linear, node, gradient, weight, lame, nnode, displacement, direction, &
                              element_force)
    integer(i4), intent(in) :: size, points, nblock, linear, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: gradient(8,3,size,points,0:nblock-1), weight(8,points,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: displacement(3,0:nnode-1), direction(3,0:nnode-1)
    real(dp), intent(inout) :: element_force(8,3,size,0:nblock-1)
    real(dp) :: u(8,3,8), d(8,3,8), h(8,3,3), v(8,3,3), p(8,3,3)
    integer :: a, b, i, q

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(u, d, h, v, p, a, i, q)
    do b = 0, nblock - 1
      call pick(size, node(:,:,b), displacement, u)
      call pick(size, node(:,:,b), direction, d)
      element_force(:,:,:,b) = 0
      do q = 1, points
        call gradients_of(size, gradient(:,:,:,q,b), d, v)
        if (linear == 1) then
          call linear_stress(lame(:,:,b), weight(:,q,b), v, p)
        else
          call gradients_of(size, gradient(:,:,:,q,b), u, h)
          call stress_change(lame(:,:,b), weight(:,q,b), h, v, p)
        end if
        do a = 1, size
          do i = 1, 3
            element_force(:,i,a,b) = element_force(:,i,a,b) + (p(:,i,1)*gradient(:,1,a,q,b) + p(:,i,2)*gradient(:,2,a,q,b) &
                                                             + p(:,i,3)*gradient(:,3,a,q,b))
          end do
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine tangent_products

  !> Energies (8,0:nblock-1), and the largest Frobenius norm of the Green strain in each element (linear: zero).
  subroutine internal_energies(size, points, nblock, linear, node, gradient, weight, lame, nnode, displacement, energy, strain)
    integer(i4), intent(in) :: size, points, nblock, linear, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: gradient(8,3,size,points,0:nblock-1), weight(8,points,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: displacement(3,0:nnode-1)
    real(dp), intent(inout) :: energy(8,0:nblock-1), strain(8,0:nblock-1)
    real(dp) :: u(8,3,8), h(8,3,3), e(8), square(8), trace(8)
    real(dp) :: quadratic
    integer :: b, i, j, q

    quadratic = merge(0.0_dp, 1.0_dp, linear == 1)
    !$omp parallel do if (nblock > parallel_from) schedule(static) private(u, h, e, square, trace, i, j, q)
    do b = 0, nblock - 1
      call pick(size, node(:,:,b), displacement, u)
      energy(:,b) = 0
      strain(:,b) = 0
      do q = 1, points
        call gradients_of(size, gradient(:,:,:,q,b), u, h)
        square = 0
        trace = 0
        do j = 1, 3
          do i = 1, j
            e = (h(:,i,j) + h(:,j,i) + quadratic*(h(:,1,i)*h(:,1,j) + h(:,2,i)*h(:,2,j) + h(:,3,i)*h(:,3,j)))/2
            if (i == j) then
              trace = trace + e
              square = square + e*e
            else
              square = square + 2*e*e
            end if
          end do
        end do
        energy(:,b) = energy(:,b) + weight(:,q,b)*(lame(:,1,b)/2*trace**2 + lame(:,2,b)*square)
        strain(:,b) = max(strain(:,b), quadratic*square)
      end do
      strain(:,b) = sqrt(strain(:,b))
    end do
    !$omp end parallel do
  end subroutine internal_energies

  !> Dense tangents (8,3*size,3*size,0:nblock-1): rows and columns 3(a-1)+i.
  subroutine element_stiffness(size, points, rows, nblock, linear, node, gradient, weight, lame, nnode, displacement, stiffness)
    integer(i4), intent(in) :: size, points, rows, nblock, linear, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: gradient(8,3,size,points,0:nblock-1), weight(8,points,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: displacement(3,0:nnode-1)
    real(dp), intent(inout) :: stiffness(8,rows,rows,0:nblock-1)
    real(dp) :: u(8,3,8), h(8,3,3), v(8,3,3), p(8,3,3), product(8)
    integer :: a, b, c, i, k, q, row, column

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(u, h, v, p, product, a, c, i, k, q, row, column)
    do b = 0, nblock - 1
      call pick(size, node(:,:,b), displacement, u)
      if (linear == 1) u = 0
      stiffness(:,:,:,b) = 0
      do q = 1, points
        call gradients_of(size, gradient(:,:,:,q,b), u, h)
        do c = 1, size
          do k = 1, 3
            column = 3*(c - 1) + k
            v = 0
            v(:,k,:) = gradient(:,:,c,q,b)
            call stress_change(lame(:,:,b), weight(:,q,b), h, v, p)
            do a = 1, c
              do i = 1, 3
                row = 3*(a - 1) + i
                product = p(:,i,1)*gradient(:,1,a,q,b) + p(:,i,2)*gradient(:,2,a,q,b) + p(:,i,3)*gradient(:,3,a,q,b)
                stiffness(:,row,column,b) = stiffness(:,row,column,b) + product
              end do
            end do
          end do
        end do
      end do
      do column = 1, rows
        do row = column + 1, rows
          stiffness(:,row,column,b) = stiffness(:,column,row,b)
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine element_stiffness

  !> Sums of element vectors at nodes, in a fixed order: entries position(first(n) .. first(n+1)-1) of the flat array of
  !> all element vectors, whose components are eight numbers apart.
  subroutine gather_nodes(nnode, npointer, first, nentry, position, nflat, flat, result)
    integer(i4), intent(in) :: nnode, npointer, nentry, nflat
    integer(i4), intent(in) :: first(0:npointer-1), position(0:nentry-1)
    real(dp), intent(in) :: flat(0:nflat-1)
    real(dp), intent(inout) :: result(3,0:nnode-1)
    real(dp) :: total(3)
    integer :: k, n, p

    !$omp parallel do if (nnode > parallel_nodes) schedule(static) private(total, k, p)
    do n = 0, nnode - 1
      total = 0
      do k = first(n), first(n+1) - 1
        p = position(k)
        total(1) = total(1) + flat(p)
        total(2) = total(2) + flat(p+lanes)
        total(3) = total(3) + flat(p+2*lanes)
      end do
      result(:,n) = total
    end do
    !$omp end parallel do
  end subroutine gather_nodes

end module element_blocks
