!> Hexahedra with twelve enhanced strains, which lock neither in bending nor under constrained volume
!> (docs/language-objects.md, BODY.enhanced; Simo and Rifai 1990, on Green's strain).
!>
!> To Green's strain E (form 'BC': the linear strain) at a Gauss point is added
!>   E+ = (j0/j) (A^T M(alpha) A + (alpha_10 x y + alpha_11 y z + alpha_12 z x) I),   A the inverse Jacobian and j0 its determinant's inverse at the centre, and in M, symmetric,
!>   alpha_1 x, alpha_2 y, alpha_3 z on the diagonal, alpha_4 x + alpha_5 y, alpha_6 x + alpha_7 z, alpha_8 y + alpha_9 z beside it
!> (12, 13, 23; x, y, z natural coordinates).  The energy of the St Venant-Kirchhoff material is quadratic in E, so the alpha
!> that makes it smallest is linear in E, with a constant matrix (`inverse`): no iteration, an energy, a symmetric tangent.
!> In the energy-momentum scheme stresses belong to the mean of two strains and act along the mean gradient.
!>
!>   map, weight, lame, node, displacement as in `element_blocks` (hexahedra, inverse Jacobians);
!>   centre (8,3,3,0:nblock-1) inverse Jacobians at the centre; jacobian (8,0:nblock-1) their determinants' inverses;
!>   share (8,0:nblock-1) of the stress in tangents (`material_laws`, lessen_stress);
!>   inverse (8,12,12,0:nblock-1) that of the sums over points of weight * (mode : C : mode)
module enhanced_hexahedra
  use kinds, only: dp, i4
  use hexahedron_rates, only: natural_rates, point_gradient, add_point_force, nodal_forces
  use kirchhoff, only: green_strain
  use material_laws, only: linear_law
  implicit none
  private
  public :: enhanced_forces, enhanced_products, enhanced_energies, enhanced_stiffness

  integer, parameter :: lanes = 8, parallel_from = 64
  !> Natural coordinates of the Gauss points, in the order of nodes.
  real(dp), parameter :: g = 1/sqrt(3.0_dp)
  real(dp), parameter :: place(3,8) = reshape([-g, -g, -g, g, -g, -g, g, g, -g, -g, g, -g, &
                                               -g, -g, g, g, -g, g, g, g, g, -g, g, g], [3, 8])

contains

  !> Computes internal forces (8,3,8,0:nblock-1) of the mean strain of two displacements along their mean gradient; equal displacements
  !> give the force at that displacement.
  subroutine enhanced_forces(nblock, law, node, map, weight, lame, centre, jacobian, inverse, nnode, displacement, other, &
                             element_force)
    integer(i4), intent(in) :: nblock, law, nnode
    integer(i4), intent(in) :: node(8,8,0:nblock-1)
    real(dp), intent(in) :: map(8,3,3,8,0:nblock-1), weight(8,8,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: centre(8,3,3,0:nblock-1), jacobian(8,0:nblock-1), inverse(8,12,12,0:nblock-1)
    real(dp), intent(in) :: displacement(3,0:nnode-1), other(3,0:nnode-1)
    real(dp), intent(inout) :: element_force(8,3,8,0:nblock-1)
    real(dp) :: h(8,3,3,8), e(8,6,8), s(8,6), p(8,3,3), rates(8,3,3,4)
    integer :: b, q

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(h, e, s, p, rates, q)
    do b = 0, nblock - 1
      call mean_strains(law, node(:,:,b), map(:,:,:,:,b), displacement, other, h, e)
      call enhance(lame(:,:,b), weight(:,:,b), centre(:,:,:,b), jacobian(:,b), inverse(:,:,:,b), e)
      rates = 0
      do q = 1, 8
        call stress(lame(:,:,b), weight(:,q,b), e(:,:,q), s)
        call first_stress(law, h(:,:,:,q), s, p)
        call add_point_force(q, p, map(:,:,:,q,b), rates)
      end do
      call nodal_forces(rates, element_force(:,:,:,b))
    end do
    !$omp end parallel do
  end subroutine enhanced_forces

  !> Computes K v of every element at the displacement, v (3,0:nnode-1).
  subroutine enhanced_products(nblock, law, node, map, weight, lame, centre, jacobian, inverse, share, nnode, displacement, &
                               direction, element_force)
    integer(i4), intent(in) :: nblock, law, nnode
    integer(i4), intent(in) :: node(8,8,0:nblock-1)
    real(dp), intent(in) :: map(8,3,3,8,0:nblock-1), weight(8,8,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: centre(8,3,3,0:nblock-1), jacobian(8,0:nblock-1), inverse(8,12,12,0:nblock-1)
    real(dp), intent(in) :: share(8,0:nblock-1), displacement(3,0:nnode-1), direction(3,0:nnode-1)
    real(dp), intent(inout) :: element_force(8,3,8,0:nblock-1)
    real(dp) :: d(8,3,8), h(8,3,3,8), e(8,6,8)
    integer :: a, b, l

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(d, h, e, a, l)
    do b = 0, nblock - 1
      call mean_strains(law, node(:,:,b), map(:,:,:,:,b), displacement, displacement, h, e)
      call enhance(lame(:,:,b), weight(:,:,b), centre(:,:,:,b), jacobian(:,b), inverse(:,:,:,b), e)
      do a = 1, 8
        do l = 1, lanes
          d(l,:,a) = direction(:,node(l,a,b))
        end do
      end do
      call change(law, lame(:,:,b), weight(:,:,b), map(:,:,:,:,b), centre(:,:,:,b), jacobian(:,b), inverse(:,:,:,b), share(:,b), &
                  h, e, d, element_force(:,:,:,b))
    end do
    !$omp end parallel do
  end subroutine enhanced_products

  !> Computes energies (8,0:nblock-1), and the largest Frobenius norm of E or E + E+ in each element (linear: zero).
  subroutine enhanced_energies(nblock, law, node, map, weight, lame, centre, jacobian, inverse, nnode, displacement, energy, &
                               strain)
    integer(i4), intent(in) :: nblock, law, nnode
    integer(i4), intent(in) :: node(8,8,0:nblock-1)
    real(dp), intent(in) :: map(8,3,3,8,0:nblock-1), weight(8,8,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: centre(8,3,3,0:nblock-1), jacobian(8,0:nblock-1), inverse(8,12,12,0:nblock-1)
    real(dp), intent(in) :: displacement(3,0:nnode-1)
    real(dp), intent(inout) :: energy(8,0:nblock-1), strain(8,0:nblock-1)
    real(dp) :: h(8,3,3,8), e(8,6,8), s(8,6)
    integer :: b, q

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(h, e, s, q)
    do b = 0, nblock - 1
      call mean_strains(law, node(:,:,b), map(:,:,:,:,b), displacement, displacement, h, e)
      strain(:,b) = 0
      if (law /= linear_law) strain(:,b) = largest(e)
      call enhance(lame(:,:,b), weight(:,:,b), centre(:,:,:,b), jacobian(:,b), inverse(:,:,:,b), e)
      if (law /= linear_law) strain(:,b) = max(strain(:,b), largest(e))
      energy(:,b) = 0
      do q = 1, 8
        call stress(lame(:,:,b), weight(:,q,b), e(:,:,q), s)
        energy(:,b) = energy(:,b) + (s(:,1)*e(:,1,q) + s(:,2)*e(:,2,q) + s(:,3)*e(:,3,q))/2 &
                    + (s(:,4)*e(:,4,q) + s(:,5)*e(:,5,q) + s(:,6)*e(:,6,q))
      end do
    end do
    !$omp end parallel do
  end subroutine enhanced_energies

  !> Computes dense tangents (8,24,24,0:nblock-1).
  subroutine enhanced_stiffness(nblock, law, node, map, weight, lame, centre, jacobian, inverse, share, nnode, displacement, &
                                stiffness)
    integer(i4), intent(in) :: nblock, law, nnode
    integer(i4), intent(in) :: node(8,8,0:nblock-1)
    real(dp), intent(in) :: map(8,3,3,8,0:nblock-1), weight(8,8,0:nblock-1), lame(8,2,0:nblock-1)
    real(dp), intent(in) :: centre(8,3,3,0:nblock-1), jacobian(8,0:nblock-1), inverse(8,12,12,0:nblock-1)
    real(dp), intent(in) :: share(8,0:nblock-1), displacement(3,0:nnode-1)
    real(dp), intent(inout) :: stiffness(8,24,24,0:nblock-1)
    real(dp) :: d(8,3,8), h(8,3,3,8), e(8,6,8), force(8,3,8)
    integer :: a, b, i, k

    !$omp parallel do if (nblock > parallel_from) schedule(static) private(d, h, e, force, a, i, k)
    do b = 0, nblock - 1
      call mean_strains(law, node(:,:,b), map(:,:,:,:,b), displacement, displacement, h, e)
      call enhance(lame(:,:,b), weight(:,:,b), centre(:,:,:,b), jacobian(:,b), inverse(:,:,:,b), e)
      do a = 1, 8
        do i = 1, 3
          d = 0
          d(:,i,a) = 1
          call change(law, lame(:,:,b), weight(:,:,b), map(:,:,:,:,b), centre(:,:,:,b), jacobian(:,b), inverse(:,:,:,b), &
                      share(:,b), h, e, d, force)
          do k = 1, 8
            stiffness(:,3*k-2,3*(a-1)+i,b) = force(:,1,k)
            stiffness(:,3*k-1,3*(a-1)+i,b) = force(:,2,k)
            stiffness(:,3*k,3*(a-1)+i,b) = force(:,3,k)
          end do
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine enhanced_stiffness

  !> Computes mean gradients and mean strains (11, 22, 33, 12, 13, 23) of two displacements at all points.
  pure subroutine mean_strains(law, node, map, displacement, other, h, e)
    integer, intent(in) :: law
    integer(i4), intent(in) :: node(8,8)
    real(dp), intent(in) :: map(8,3,3,8), displacement(3,0:*), other(3,0:*)
    real(dp), intent(inout) :: h(8,3,3,8), e(8,6,8)
    real(dp) :: u(8,3,8), v(8,3,8), first(8,3,3,4), second(8,3,3,4), one(8,3,3), two(8,3,3), strain(8,6)
    integer :: a, l, q

    do a = 1, 8
      do l = 1, lanes
        u(l,:,a) = displacement(:,node(l,a))
        v(l,:,a) = other(:,node(l,a))
      end do
    end do
    call natural_rates(u, first)
    call natural_rates(v, second)
    do q = 1, 8
      call point_gradient(q, first, map(:,:,:,q), one)
      call point_gradient(q, second, map(:,:,:,q), two)
      h(:,:,:,q) = (one + two)/2
      if (law == linear_law) then
        call symmetric(h(:,:,:,q), e(:,:,q))
      else
        call green_strain(one, e(:,:,q))
        call green_strain(two, strain)
        e(:,:,q) = (e(:,:,q) + strain)/2
      end if
    end do
  end subroutine mean_strains

  !> The symmetric part of h.
  pure subroutine symmetric(h, e)
    real(dp), intent(in) :: h(8,3,3)
    real(dp), intent(inout) :: e(8,6)
    e(:,1) = h(:,1,1)
    e(:,2) = h(:,2,2)
    e(:,3) = h(:,3,3)
    e(:,4) = (h(:,1,2) + h(:,2,1))/2
    e(:,5) = (h(:,1,3) + h(:,3,1))/2
    e(:,6) = (h(:,2,3) + h(:,3,2))/2
  end subroutine symmetric

  !> s = weight * (lambda tr(e) I + 2 mu e)
  pure subroutine stress(lame, weight, e, s)
    real(dp), intent(in) :: lame(8,2), weight(8), e(8,6)
    real(dp), intent(inout) :: s(8,6)
    real(dp) :: t, m
    integer :: l

    !$omp simd private(t, m)
    do l = 1, lanes
      m = 2*lame(l,2)*weight(l)
      t = lame(l,1)*weight(l)*(e(l,1) + e(l,2) + e(l,3))
      s(l,1) = t + m*e(l,1)
      s(l,2) = t + m*e(l,2)
      s(l,3) = t + m*e(l,3)
      s(l,4) = m*e(l,4)
      s(l,5) = m*e(l,5)
      s(l,6) = m*e(l,6)
    end do
  end subroutine stress

  !> p = (I + h) s, or s where the law is linear.
  pure subroutine first_stress(law, h, s, p)
    integer, intent(in) :: law
    real(dp), intent(in) :: h(8,3,3), s(8,6)
    real(dp), intent(inout) :: p(8,3,3)
    integer :: i

    p(:,1,1) = s(:,1)
    p(:,2,2) = s(:,2)
    p(:,3,3) = s(:,3)
    p(:,1,2) = s(:,4)
    p(:,2,1) = s(:,4)
    p(:,1,3) = s(:,5)
    p(:,3,1) = s(:,5)
    p(:,2,3) = s(:,6)
    p(:,3,2) = s(:,6)
    if (law == linear_law) return
    do i = 1, 3
      p(:,i,1) = p(:,i,1) + (h(:,i,1)*s(:,1) + h(:,i,2)*s(:,4) + h(:,i,3)*s(:,5))
      p(:,i,2) = p(:,i,2) + (h(:,i,1)*s(:,4) + h(:,i,2)*s(:,2) + h(:,i,3)*s(:,6))
      p(:,i,3) = p(:,i,3) + (h(:,i,1)*s(:,5) + h(:,i,2)*s(:,6) + h(:,i,3)*s(:,3))
    end do
  end subroutine first_stress

  !> Replaces e by e + E+ at all points, with the alpha of least energy.
  pure subroutine enhance(lame, weight, centre, jacobian, inverse, e)
    real(dp), intent(in) :: lame(8,2), weight(8,8), centre(8,3,3), jacobian(8), inverse(8,12,12)
    real(dp), intent(inout) :: e(8,6,8)
    real(dp) :: s(8,6), hat(8,6), gamma(8,12), alpha(8,12), ones(8), ratio(8), trace(8)
    integer :: j, k, q

    gamma = 0
    ones = 1
    do q = 1, 8
      call stress(lame, ones, e(:,:,q), s)
      call to_natural(centre, s, hat)
      associate (x => place(1,q), y => place(2,q), z => place(3,q))
        gamma(:,1) = gamma(:,1) + x*hat(:,1)
        gamma(:,2) = gamma(:,2) + y*hat(:,2)
        gamma(:,3) = gamma(:,3) + z*hat(:,3)
        gamma(:,4) = gamma(:,4) + 2*x*hat(:,4)
        gamma(:,5) = gamma(:,5) + 2*y*hat(:,4)
        gamma(:,6) = gamma(:,6) + 2*x*hat(:,5)
        gamma(:,7) = gamma(:,7) + 2*z*hat(:,5)
        gamma(:,8) = gamma(:,8) + 2*y*hat(:,6)
        gamma(:,9) = gamma(:,9) + 2*z*hat(:,6)
        trace = s(:,1) + s(:,2) + s(:,3)
        gamma(:,10) = gamma(:,10) + x*y*trace
        gamma(:,11) = gamma(:,11) + y*z*trace
        gamma(:,12) = gamma(:,12) + z*x*trace
      end associate
    end do
    ! weight * j0/j = j0
    do k = 1, 12
      gamma(:,k) = jacobian*gamma(:,k)
    end do
    alpha = 0
    do k = 1, 12
      do j = 1, 12
        alpha(:,j) = alpha(:,j) - inverse(:,j,k)*gamma(:,k)
      end do
    end do
    do q = 1, 8
      associate (x => place(1,q), y => place(2,q), z => place(3,q))
        hat(:,1) = x*alpha(:,1)
        hat(:,2) = y*alpha(:,2)
        hat(:,3) = z*alpha(:,3)
        hat(:,4) = x*alpha(:,4) + y*alpha(:,5)
        hat(:,5) = x*alpha(:,6) + z*alpha(:,7)
        hat(:,6) = y*alpha(:,8) + z*alpha(:,9)
        trace = x*y*alpha(:,10) + y*z*alpha(:,11) + z*x*alpha(:,12)
      end associate
      ratio = 0
      where (weight(:,q) > 0) ratio = jacobian/weight(:,q)
      call add_from_natural(centre, ratio, hat, e(:,:,q))
      do k = 1, 3
        e(:,k,q) = e(:,k,q) + ratio*trace
      end do
    end do
  end subroutine enhance

  !> A s A^T
  pure subroutine to_natural(a, s, hat)
    real(dp), intent(in) :: a(8,3,3), s(8,6)
    real(dp), intent(inout) :: hat(8,6)
    real(dp) :: t(8,3,3)
    integer :: i

    do i = 1, 3
      t(:,i,1) = a(:,i,1)*s(:,1) + a(:,i,2)*s(:,4) + a(:,i,3)*s(:,5)
      t(:,i,2) = a(:,i,1)*s(:,4) + a(:,i,2)*s(:,2) + a(:,i,3)*s(:,6)
      t(:,i,3) = a(:,i,1)*s(:,5) + a(:,i,2)*s(:,6) + a(:,i,3)*s(:,3)
    end do
    hat(:,1) = t(:,1,1)*a(:,1,1) + t(:,1,2)*a(:,1,2) + t(:,1,3)*a(:,1,3)
    hat(:,2) = t(:,2,1)*a(:,2,1) + t(:,2,2)*a(:,2,2) + t(:,2,3)*a(:,2,3)
    hat(:,3) = t(:,3,1)*a(:,3,1) + t(:,3,2)*a(:,3,2) + t(:,3,3)*a(:,3,3)
    hat(:,4) = t(:,1,1)*a(:,2,1) + t(:,1,2)*a(:,2,2) + t(:,1,3)*a(:,2,3)
    hat(:,5) = t(:,1,1)*a(:,3,1) + t(:,1,2)*a(:,3,2) + t(:,1,3)*a(:,3,3)
    hat(:,6) = t(:,2,1)*a(:,3,1) + t(:,2,2)*a(:,3,2) + t(:,2,3)*a(:,3,3)
  end subroutine to_natural

  !> e + ratio * A^T hat A
  pure subroutine add_from_natural(a, ratio, hat, e)
    real(dp), intent(in) :: a(8,3,3), ratio(8), hat(8,6)
    real(dp), intent(inout) :: e(8,6)
    real(dp) :: t(8,3,3)
    integer :: i

    do i = 1, 3
      t(:,1,i) = ratio*(hat(:,1)*a(:,1,i) + hat(:,4)*a(:,2,i) + hat(:,5)*a(:,3,i))
      t(:,2,i) = ratio*(hat(:,4)*a(:,1,i) + hat(:,2)*a(:,2,i) + hat(:,6)*a(:,3,i))
      t(:,3,i) = ratio*(hat(:,5)*a(:,1,i) + hat(:,6)*a(:,2,i) + hat(:,3)*a(:,3,i))
    end do
    e(:,1) = e(:,1) + (a(:,1,1)*t(:,1,1) + a(:,2,1)*t(:,2,1) + a(:,3,1)*t(:,3,1))
    e(:,2) = e(:,2) + (a(:,1,2)*t(:,1,2) + a(:,2,2)*t(:,2,2) + a(:,3,2)*t(:,3,2))
    e(:,3) = e(:,3) + (a(:,1,3)*t(:,1,3) + a(:,2,3)*t(:,2,3) + a(:,3,3)*t(:,3,3))
    e(:,4) = e(:,4) + (a(:,1,1)*t(:,1,2) + a(:,2,1)*t(:,2,2) + a(:,3,1)*t(:,3,2))
    e(:,5) = e(:,5) + (a(:,1,1)*t(:,1,3) + a(:,2,1)*t(:,2,3) + a(:,3,1)*t(:,3,3))
    e(:,6) = e(:,6) + (a(:,1,2)*t(:,1,3) + a(:,2,2)*t(:,2,3) + a(:,3,2)*t(:,3,3))
  end subroutine add_from_natural

  !> Computes K d from gradients h and enhanced strains e: weight * (share * grad d S + F C : enhanced sym(F^T grad d)).
  pure subroutine change(law, lame, weight, map, centre, jacobian, inverse, share, h, e, d, force)
    integer, intent(in) :: law
    real(dp), intent(in) :: lame(8,2), weight(8,8), map(8,3,3,8), centre(8,3,3), jacobian(8), inverse(8,12,12)
    real(dp), intent(in) :: share(8), h(8,3,3,8), e(8,6,8), d(8,3,8)
    real(dp), intent(inout) :: force(8,3,8)
    real(dp) :: v(8,3,3,8), de(8,6,8), f(8,3,3), s(8,6), ds(8,6), p(8,3,3), rates(8,3,3,4)
    integer :: i, j, q

    call natural_rates(d, rates)
    do q = 1, 8
      call point_gradient(q, rates, map(:,:,:,q), v(:,:,:,q))
      if (law == linear_law) then
        call symmetric(v(:,:,:,q), de(:,:,q))
        cycle
      end if
      do j = 1, 3
        do i = 1, 3
          f(:,i,j) = v(:,i,j,q) + (h(:,1,i,q)*v(:,1,j,q) + h(:,2,i,q)*v(:,2,j,q) + h(:,3,i,q)*v(:,3,j,q))
        end do
      end do
      call symmetric(f, de(:,:,q))
    end do
    call enhance(lame, weight, centre, jacobian, inverse, de)
    rates = 0
    do q = 1, 8
      call stress(lame, weight(:,q), de(:,:,q), ds)
      call first_stress(law, h(:,:,:,q), ds, p)
      if (law /= linear_law) then
        call stress(lame, share*weight(:,q), e(:,:,q), s)
        do i = 1, 3
          p(:,i,1) = p(:,i,1) + (v(:,i,1,q)*s(:,1) + v(:,i,2,q)*s(:,4) + v(:,i,3,q)*s(:,5))
          p(:,i,2) = p(:,i,2) + (v(:,i,1,q)*s(:,4) + v(:,i,2,q)*s(:,2) + v(:,i,3,q)*s(:,6))
          p(:,i,3) = p(:,i,3) + (v(:,i,1,q)*s(:,5) + v(:,i,2,q)*s(:,6) + v(:,i,3,q)*s(:,3))
        end do
      end if
      call add_point_force(q, p, map(:,:,:,q), rates)
    end do
    call nodal_forces(rates, force)
  end subroutine change

  !> Largest Frobenius norm over the points.
  pure function largest(e) result(norm)
    real(dp), intent(in) :: e(8,6,8)
    real(dp) :: norm(8)
    integer :: q

    norm = 0
    do q = 1, 8
      norm = max(norm, e(:,1,q)**2 + e(:,2,q)**2 + e(:,3,q)**2 + 2*(e(:,4,q)**2 + e(:,5,q)**2 + e(:,6,q)**2))
    end do
    norm = sqrt(norm)
  end function largest

end module enhanced_hexahedra
