!> Finite elements in blocks of eight of one type, the lane number first, so that one instruction serves a block
!> (docs/theory.md, Finite elements; docs/language-objects.md, BODY).
!>
!> In all procedures: lanes = 8; size = 4, 5, 6 or 8 nodes, points = 1, 8, 6 or 8 quadrature points;
!>   node          (8,size,0:nblock-1) node numbers; lanes without an element repeat another element with weight zero
!>   gradient      (8,3,columns,kept,0:nblock-1) referential gradients of the shape functions, columns = size [1/length]; or,
!>                 of hexahedra with columns = 3, inverse Jacobians, which need less memory traffic (`hexahedron_rates`).
!>                 kept = points, or 1 where they are the same at all points: of tetrahedra and parallelepipeds
!>   weight        (8,points,0:nblock-1) quadrature weights times det F0 [length**3]
!>   lame          (8,2,0:nblock-1) lambda, mu [pressure]
!>   displacement  (3,0:nnode-1) [length]
!>   element_force (8,3,size,0:nblock-1) [force]
!> `law` is the number of the material (`material_laws`); the linear one means the stiffness at zero displacement.
module element_blocks
  use kinds, only: dp, i4
  use element_shapes, only: shape_values, shape_derivatives, quadrature
  use lane_matrices, only: cofactors_of_lanes
  use hexahedron_rates, only: natural_rates, point_gradient, add_point_force, nodal_forces
  use material_laws, only: law_stress, law_energy, law_tangent, lessen_stress, tangent_stress, law_measure, linear_law
  implicit none
  private
  public :: prepare_blocks, lumped_masses, internal_forces, tangent_products, internal_energies, add_energies, &
            count_contributions, place_contributions, gather_nodes

  integer, parameter :: lanes = 8
  !> Number of blocks or nodes from which threads pay.
  integer, parameter :: parallel_from = 64, parallel_nodes = 2000

contains

  !> Computes gradients and weights from the referential nodes (3,0:nnode-1); `failed` is the number 8*block + lane of the first
  !> element without positive volume at a quadrature point, or -1.
  subroutine prepare_blocks(size, columns, kept, points, nblock, node, nnode, reference, gradient, weight, failed)
    integer(i4), intent(in) :: size, columns, kept, points, nblock, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)
    real(dp), intent(inout) :: gradient(8,3,columns,kept,0:nblock-1), weight(8,points,0:nblock-1)
    integer(i4), intent(out) :: failed
    real(dp) :: natural(3,8), factor(8), d(3,8,8), jacobian(8,8)
    integer :: b, count, l, q

    failed = huge(failed)
    call quadrature(size, count, natural, factor)
    do q = 1, count
      d(:,:,q) = shape_derivatives(size, natural(:,q))
    end do
    !$omp parallel do if (nblock > parallel_from) schedule(static) private(jacobian, l, q) reduction(min:failed)
    do b = 0, nblock - 1
      call block_gradients(size, columns, kept, count, node(:,:,b), reference, d, gradient(:,:,:,:,b), jacobian)
      weight(:,:,b) = 0
      do q = 1, count
        weight(:,min(q,points),b) = weight(:,min(q,points),b) + factor(q)*jacobian(:,q)
        do l = lanes, 1, -1
          if (.not. jacobian(l,q) > 0) failed = min(failed, lanes*b + l - 1)
        end do
      end do
    end do
    !$omp end parallel do
    if (failed == huge(failed)) failed = -1
  end subroutine prepare_blocks

  !> Computes gradients g_a = F0^-T dN_a/dxi (or F0^-1, for `columns` = 3 of hexahedra) of one block, and det F0; gradients are zero where
  !> this is not positive.
  pure subroutine block_gradients(size, columns, kept, count, node, reference, d, gradient, jacobian)
    integer, intent(in) :: size, columns, kept, count
    integer(i4), intent(in) :: node(8,size)
    real(dp), intent(in) :: reference(3,0:*), d(3,8,count)
    real(dp), intent(inout) :: gradient(8,3,columns,kept), jacobian(8,count)
    real(dp) :: place(8,3,8), map(8,3,3), inverse(8,3,3)
    integer :: a, i, j, q

    place = 0
    call pick(size, node, reference, place)
    do q = 1, count
      call map_of(place, d(:,:,q), map)
      call invert_maps(map, inverse, jacobian(:,q))
      if (q > kept) cycle
      if (columns == size) then
        do a = 1, size
          do i = 1, 3
            gradient(:,i,a,q) = inverse(:,1,i)*d(1,a,q) + inverse(:,2,i)*d(2,a,q) + inverse(:,3,i)*d(3,a,q)
          end do
        end do
      else
        do i = 1, 3
          do j = 1, 3
            gradient(:,j,i,q) = inverse(:,j,i)
          end do
        end do
      end if
    end do
  end subroutine block_gradients

  !> Inverts matrices of a block with a positive determinant, and makes others zero.
  pure subroutine invert_maps(map, inverse, determinant)
    real(dp), intent(in) :: map(8,3,3)
    real(dp), intent(inout) :: inverse(8,3,3), determinant(8)
    real(dp) :: cofactor(8,3,3), factor(8)
    integer :: i, j

    call cofactors_of_lanes(map, cofactor, determinant)
    factor = merge(1/merge(determinant, 1.0_dp, determinant > 0), 0.0_dp, determinant > 0)
    do i = 1, 3
      do j = 1, 3
        inverse(:,j,i) = cofactor(:,i,j)*factor
      end do
    end do
  end subroutine invert_maps

  !> Computes integrals of density times N_a, (8,size,0:nblock-1) [mass], and volumes (8,0:nblock-1).
  subroutine lumped_masses(size, nblock, node, nnode, reference, density, mass, volume)
    integer(i4), intent(in) :: size, nblock, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: reference(3,0:nnode-1)
    real(dp), intent(in) :: density(8,0:nblock-1)  !< [mass/length**3]
    real(dp), intent(inout) :: mass(8,size,0:nblock-1), volume(8,0:nblock-1)
    real(dp) :: natural(3,8), factor(8), n(8,8), d(3,8,8)
    integer :: b, count, q

    call quadrature(size, count, natural, factor)   ! exact for hexahedra, where N_a det F0 is cubic in each coordinate
    do q = 1, count
      n(:,q) = shape_values(size, natural(:,q))
      d(:,:,q) = shape_derivatives(size, natural(:,q))
    end do
    !$omp parallel do if (nblock > parallel_from) schedule(static)
    do b = 0, nblock - 1
      call block_mass(size, count, node(:,:,b), reference, density(:,b), factor, n, d, mass(:,:,b), volume(:,b))
    end do
    !$omp end parallel do
  end subroutine lumped_masses

  !> Integrals of one block.
  pure subroutine block_mass(size, count, node, reference, density, factor, n, d, mass, volume)
    integer, intent(in) :: size, count
    integer(i4), intent(in) :: node(8,size)
    real(dp), intent(in) :: reference(3,0:*), density(8), factor(count), n(8,count), d(3,8,count)
    real(dp), intent(inout) :: mass(8,size), volume(8)
    real(dp) :: place(8,3,8), map(8,3,3), jacobian(8), share(8), lump(8,8)
    integer :: a, q

    place = 0
    call pick(size, node, reference, place)
    lump = 0
    volume = 0
    do q = 1, count
      call map_of(place, d(:,:,q), map)
      jacobian = map(:,1,1)*(map(:,2,2)*map(:,3,3) - map(:,2,3)*map(:,3,2)) &
                 - map(:,1,2)*(map(:,2,1)*map(:,3,3) - map(:,2,3)*map(:,3,1)) &
                 + map(:,1,3)*(map(:,2,1)*map(:,3,2) - map(:,2,2)*map(:,3,1))
      share = density*factor(q)*jacobian
      do a = 1, 8
        lump(:,a) = lump(:,a) + share*n(a,q)
      end do
      volume = volume + factor(q)*jacobian
    end do
    mass = lump(:,1:size)
  end subroutine block_mass

  !> Computes derivatives (lane, place, natural) of places by natural coordinates; of nodes that elements do not have both factors are zero.
  pure subroutine map_of(place, d, map)
    real(dp), intent(in) :: place(8,3,8), d(3,8)
    real(dp), intent(inout) :: map(8,3,3)
    integer :: a, i, j, l

    do j = 1, 3
      do i = 1, 3
        do l = 1, lanes
          map(l,i,j) = place(l,i,1)*d(j,1)
        end do
        do a = 2, 8   ! a constant, which lets the compiler unroll
          do l = 1, lanes
            map(l,i,j) = map(l,i,j) + place(l,i,a)*d(j,a)
          end do
        end do
      end do
    end do
  end subroutine map_of

  !> Computes internal forces, f_a = integral of P g_a.
  subroutine internal_forces(size, columns, kept, points, nblock, law, node, gradient, weight, lame, nnode, displacement, &
                             element_force)
    integer(i4), intent(in) :: size, columns, kept, points, nblock, law, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: gradient(8,3,columns,kept,0:nblock-1), weight(8,points,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: displacement(3,0:nnode-1)
    real(dp), intent(inout) :: element_force(8,3,size,0:nblock-1)
    integer :: b

    !$omp parallel do if (nblock > parallel_from) schedule(static)
    do b = 0, nblock - 1
      ! constant sizes let the compiler unroll the loops over nodes
      select case (size)
      case (4)
        call block_force(4, kept, points, law, node(:,:,b), gradient(:,:,:,:,b), weight(:,:,b), lame(:,:,b), displacement, &
                         element_force(:,:,:,b))
      case (5)
        call block_force(5, kept, points, law, node(:,:,b), gradient(:,:,:,:,b), weight(:,:,b), lame(:,:,b), displacement, &
                         element_force(:,:,:,b))
      case (6)
        call block_force(6, kept, points, law, node(:,:,b), gradient(:,:,:,:,b), weight(:,:,b), lame(:,:,b), displacement, &
                         element_force(:,:,:,b))
      case default
        if (columns == size) then
          call block_force(size, kept, points, law, node(:,:,b), gradient(:,:,:,:,b), weight(:,:,b), lame(:,:,b), displacement, &
                           element_force(:,:,:,b))
        else
          call hexahedron_force(kept, law, node(:,:,b), gradient(:,:,:,:,b), weight(:,:,b), lame(:,:,b), displacement, &
                                element_force(:,:,:,b))
        end if
      end select
    end do
    !$omp end parallel do
  end subroutine internal_forces

  !> Internal force of one block.
  pure subroutine block_force(size, kept, points, law, node, gradient, weight, lame, displacement, force)
    integer, intent(in) :: size, kept, points, law
    integer(i4), intent(in) :: node(8,size)
    real(dp), intent(in) :: gradient(8,3,size,kept), weight(8,points), lame(8,2)
    real(dp), intent(in) :: displacement(3,0:*)
    real(dp), intent(inout) :: force(8,3,size)
    real(dp) :: u(8,3,8), h(8,3,3), p(8,3,3)
    integer :: q

    call pick(size, node, displacement, u)
    force = 0
    do q = 1, points
      call gradients_of(size, gradient(:,:,:,min(q,kept)), u, h)
      call law_stress(law, lame, weight(:,q), h, p)
      call add_force(size, gradient(:,:,:,min(q,kept)), p, force)
    end do
  end subroutine block_force

  !> Internal force of one block of hexahedra with inverse Jacobians.
  pure subroutine hexahedron_force(kept, law, node, map, weight, lame, displacement, force)
    integer, intent(in) :: kept, law
    integer(i4), intent(in) :: node(8,8)
    real(dp), intent(in) :: map(8,3,3,kept), weight(8,8), lame(8,2)
    real(dp), intent(in) :: displacement(3,0:*)
    real(dp), intent(inout) :: force(8,3,8)
    real(dp) :: u(8,3,8), h(8,3,3), p(8,3,3), rates(8,3,3,4), forces(8,3,3,4)
    integer :: q

    call pick(8, node, displacement, u)
    call natural_rates(u, rates)
    forces = 0
    do q = 1, 8
      call point_gradient(q, rates, map(:,:,:,min(q,kept)), h)
      call law_stress(law, lame, weight(:,q), h, p)
      call add_point_force(q, p, map(:,:,:,min(q,kept)), forces)
    end do
    call nodal_forces(forces, force)
  end subroutine hexahedron_force

  !> Adds P g_a to force_a.
  pure subroutine add_force(size, gradient, p, force)
    integer, intent(in) :: size
    real(dp), intent(in) :: gradient(8,3,size), p(8,3,3)
    real(dp), intent(inout) :: force(8,3,size)
    integer :: a, i, l

    do a = 1, size
      do i = 1, 3
        do l = 1, lanes
          force(l,i,a) = force(l,i,a) + (p(l,i,1)*gradient(l,1,a) + p(l,i,2)*gradient(l,2,a) + p(l,i,3)*gradient(l,3,a))
        end do
      end do
    end do
  end subroutine add_force

  !> Gathers the displacements of the nodes of a block.
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

  !> Computes the displacement gradient h = sum of u_a g_a^T.
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

  !> Computes K v of every element at the present displacement, v (3,0:nnode-1).
  !>
  !>   share  (8,0:nblock-1) of the stress in K, see `lessen_stress`
  subroutine tangent_products(size, columns, kept, points, nblock, law, node, gradient, weight, lame, share, nnode, &
                              displacement, direction, element_force)
    integer(i4), intent(in) :: size, columns, kept, points, nblock, law, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: gradient(8,3,columns,kept,0:nblock-1), weight(8,points,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: share(8,0:nblock-1), displacement(3,0:nnode-1), direction(3,0:nnode-1)
    real(dp), intent(inout) :: element_force(8,3,size,0:nblock-1)
    real(dp) :: u(8,3,8), d(8,3,8), h(8,3,3), v(8,3,3), p(8,3,3), rates(8,3,3,4), changes(8,3,3,4), forces(8,3,3,4)
    integer :: b, q

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(u, d, h, v, p, rates, changes, forces, q)
    do b = 0, nblock - 1
      call pick(size, node(:,:,b), displacement, u)
      call pick(size, node(:,:,b), direction, d)
      if (columns /= size) then
        if (law /= linear_law) call natural_rates(u, rates)
        call natural_rates(d, changes)
        forces = 0
        do q = 1, points
          call point_gradient(q, changes, gradient(:,:,:,min(q,kept),b), v)
          if (law /= linear_law) call point_gradient(q, rates, gradient(:,:,:,min(q,kept),b), h)
          call stress_change(law, lame(:,:,b), weight(:,q,b), share(:,b), h, v, p)
          call add_point_force(q, p, gradient(:,:,:,min(q,kept),b), forces)
        end do
        call nodal_forces(forces, element_force(:,:,:,b))
        cycle
      end if
      element_force(:,:,:,b) = 0
      do q = 1, points
        call gradients_of(size, gradient(:,:,:,min(q,kept),b), d, v)
        if (law /= linear_law) call gradients_of(size, gradient(:,:,:,min(q,kept),b), u, h)
        call stress_change(law, lame(:,:,b), weight(:,q,b), share(:,b), h, v, p)
        call add_force(size, gradient(:,:,:,min(q,kept),b), p, element_force(:,:,:,b))
      end do
    end do
    !$omp end parallel do
  end subroutine tangent_products

  !> Computes the derivative p of weight * P at h along v, with a share of the stress.
  pure subroutine stress_change(law, lame, weight, share, h, v, p)
    integer, intent(in) :: law
    real(dp), intent(in) :: lame(8,2), weight(8), share(8), h(8,3,3), v(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)
    real(dp) :: s(8,3,3), b(8,3,3), t(8,3,3), c1(8), c2(8)

    if (law == linear_law) then
      call law_stress(law, lame, weight, v, p)
      return
    end if
    call law_tangent(law, lame, weight, h, s, b, t, c1, c2)
    call lessen_stress(law, lame, weight, h, share, s)
    call tangent_stress(s, b, t, c1, c2, v, p)
  end subroutine stress_change

  !> Computes energies (8,0:nblock-1), and the largest measure of strain (`law_measure`) in each element.
  subroutine internal_energies(size, columns, kept, points, nblock, law, node, gradient, weight, lame, nnode, displacement, &
                               energy, strain)
    integer(i4), intent(in) :: size, columns, kept, points, nblock, law, nnode
    integer(i4), intent(in) :: node(8,size,0:nblock-1)
    real(dp), intent(in) :: gradient(8,3,columns,kept,0:nblock-1), weight(8,points,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: displacement(3,0:nnode-1)
    real(dp), intent(inout) :: energy(8,0:nblock-1), strain(8,0:nblock-1)
    real(dp) :: u(8,3,8), h(8,3,3), density(8), measure(8), rates(8,3,3,4)
    integer :: b, q

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(u, h, density, measure, rates, q)
    do b = 0, nblock - 1
      call pick(size, node(:,:,b), displacement, u)
      if (columns /= size) call natural_rates(u, rates)
      energy(:,b) = 0
      strain(:,b) = 0
      do q = 1, points
        if (columns /= size) then
          call point_gradient(q, rates, gradient(:,:,:,min(q,kept),b), h)
        else
          call gradients_of(size, gradient(:,:,:,min(q,kept),b), u, h)
        end if
        call law_energy(law, lame(:,:,b), h, density)
        energy(:,b) = energy(:,b) + weight(:,q,b)*density
        call law_measure(law, lame(:,:,b), h, measure)
        strain(:,b) = max(strain(:,b), measure)
      end do
    end do
    !$omp end parallel do
  end subroutine internal_energies

  !> Sums energies of elements for each body, in the order of elements, and takes the largest of their measures of strain.
  !>
  !>   afresh           1: the bodies' numbers start from zero
  !>   from, count      elements from <= e < count; element_body (0:count-1) number of their body
  !>   energy, strain   (8,0:nblock-1) as `internal_energies` leaves them, eight elements a block
  !>   row              (0:nbody-1) rows of the bodies in the body table, whose INTERNAL energy (2) is found
  !>   body_energy, body_strain   (5,0:nb-1), (0:nbody-1)
  subroutine add_energies(afresh, from, count, nelement, element_body, nblock, energy, strain, nbody, row, nb, body_energy, &
                          body_strain)
    integer(i4), intent(in) :: afresh, from, count, nelement, nblock, nbody, nb
    integer(i4), intent(in) :: element_body(0:nelement-1), row(0:nbody-1)
    real(dp), intent(in) :: energy(0:7,0:nblock-1), strain(0:7,0:nblock-1)
    real(dp), intent(inout) :: body_energy(6,0:nb-1), body_strain(0:nbody-1)
    integer :: b, e

    if (afresh == 1) then
      body_energy(2,row) = 0
      body_strain = 0
    end if
    do e = from, count - 1
      b = element_body(e)
      body_energy(2,row(b)) = body_energy(2,row(b)) + energy(mod(e,8),e/8)
      body_strain(b) = max(body_strain(b), strain(mod(e,8),e/8))
    end do
  end subroutine add_energies

  !> Counts the contributions of elements `begin` to `finish` - 1 to nodes: of node n in starts(n+2).
  subroutine count_contributions(corners, nblock, length, begin, finish, node, starts)
    integer(i4), intent(in) :: corners, nblock, length, begin, finish
    integer(i4), intent(in) :: node(8, 0:corners-1, 0:nblock-1)
    integer(i4), intent(inout) :: starts(0:length-1)
    integer(i4) :: a, e, n

    do e = begin, finish - 1
      do a = 0, corners - 1
        n = node(mod(e, lanes)+1, a, e/lanes)
        starts(n+2) = starts(n+2) + 1
      end do
    end do
  end subroutine count_contributions

  !> Lists the same contributions by nodes, in the order of elements and of nodes in them: each goes to place starts(n+1), which moves on.  So
  !> starts(n+1), where the list of node n started, becomes its end, which is where the next one starts.
  !>
  !>   origin        start of the elements' vectors in the flat array of all
  !>   position      where in it contributions start
  subroutine place_contributions(corners, nblock, length, listed, begin, finish, origin, node, starts, position)
    integer(i4), intent(in) :: corners, nblock, length, listed, begin, finish, origin
    integer(i4), intent(in) :: node(8, 0:corners-1, 0:nblock-1)
    integer(i4), intent(inout) :: starts(0:length-1), position(0:listed-1)
    integer(i4) :: a, e, n

    do e = begin, finish - 1
      do a = 0, corners - 1
        n = node(mod(e, lanes)+1, a, e/lanes)
        position(starts(n+1)) = origin + mod(e, lanes) + 3*lanes*(a + corners*(e/lanes))
        starts(n+1) = starts(n+1) + 1
      end do
    end do
  end subroutine place_contributions

  !> Sums element vectors at nodes, in a fixed order: entries position(first(n) .. first(n+1)-1) of the flat array of
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
