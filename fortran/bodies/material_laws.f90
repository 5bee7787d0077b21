!> Dispatch of material laws by number (bodies/materials.py, `Law`); each law has its own file with three procedures.
!>
!> A law computes weight * P; the energy per volume; and the parts of the derivative of weight * P along V,
!> V S + B V + c1 (T:V) T + c2 T V^T T, in blocks of eight points; for arguments see `kirchhoff`.
module material_laws
  use kinds, only: dp
  use kind_numbers, only: kirchhoff_law => law_kirchhoff, linear_law => law_linear, neo_hookean_law => law_neo_hookean
  use kirchhoff, only: kirchhoff_stress, kirchhoff_energy, kirchhoff_tangent, green_strain
  use neo_hookean, only: neo_hookean_stress, neo_hookean_energy, neo_hookean_tangent, neo_hookean_bound, &
                         neo_hookean_second_stress
  use linear_elasticity, only: linear_stress, linear_energy, linear_tangent
  implicit none
  private
  public :: law_stress, law_energy, law_tangent, lessen_stress, tangent_stress, law_measure, linear_law

  !> Numbers of Law.

contains

  !> Computes weight * P(h).
  pure subroutine law_stress(law, lame, weight, h, p)
    integer, intent(in) :: law
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)

    select case (law)
    case (kirchhoff_law)
      call kirchhoff_stress(lame, weight, h, p)
    case (linear_law)
      call linear_stress(lame, weight, h, p)
    case (neo_hookean_law)
      call neo_hookean_stress(lame, weight, h, p)
    end select
  end subroutine law_stress

  !> Computes the energy per referential volume.
  pure subroutine law_energy(law, lame, h, energy)
    integer, intent(in) :: law
    real(dp), intent(in) :: lame(8,2), h(8,3,3)
    real(dp), intent(inout) :: energy(8)

    select case (law)
    case (kirchhoff_law)
      call kirchhoff_energy(lame, h, energy)
    case (linear_law)
      call linear_energy(lame, h, energy)
    case (neo_hookean_law)
      call neo_hookean_energy(lame, h, energy)
    end select
  end subroutine law_energy

  !> Computes a bound of the tangent (`frequencies.py`): the Frobenius norm of Green's strain; Neo-Hookean: a modulus [pressure].
  pure subroutine law_measure(law, lame, h, measure)
    integer, intent(in) :: law
    real(dp), intent(in) :: lame(8,2), h(8,3,3)
    real(dp), intent(inout) :: measure(8)
    real(dp) :: e(8,6)

    select case (law)
    case (kirchhoff_law)
      call green_strain(h, e)
      measure = sqrt(e(:,1)**2 + e(:,2)**2 + e(:,3)**2 + 2*(e(:,4)**2 + e(:,5)**2 + e(:,6)**2))
    case (linear_law)
      measure = 0
    case (neo_hookean_law)
      call neo_hookean_bound(lame, h, measure)
    end select
  end subroutine law_measure

  !> Computes the parts of the tangent.
  pure subroutine law_tangent(law, lame, weight, h, s, b, t, c1, c2)
    integer, intent(in) :: law
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3)
    real(dp), intent(inout) :: s(8,3,3), b(8,3,3), t(8,3,3), c1(8), c2(8)

    select case (law)
    case (kirchhoff_law)
      call kirchhoff_tangent(lame, weight, h, s, b, t, c1, c2)
    case (linear_law)
      call linear_tangent(lame, weight, s, b, t, c1, c2)
    case (neo_hookean_law)
      call neo_hookean_tangent(lame, weight, h, s, b, t, c1, c2)
    end select
  end subroutine law_tangent

  !> Leaves the share (8) of the second Piola-Kirchhoff stress S2 in the part V S of the tangent: with 0 the rest is F (dS2/dE : dE), the
  !> stress of a change of strain alone, on which damping acts; with 1 it is the whole derivative.
  pure subroutine lessen_stress(law, lame, weight, h, share, s)
    integer, intent(in) :: law
    real(dp), intent(in) :: lame(8,2), weight(8), h(8,3,3), share(8)
    real(dp), intent(inout) :: s(8,3,3)
    real(dp) :: second(8,3,3)
    integer :: i, j

    if (all(share == 1) .or. law == linear_law) return
    if (law == kirchhoff_law) then
      do j = 1, 3
        do i = 1, 3
          s(:,i,j) = share*s(:,i,j)
        end do
      end do
      return
    end if
    call neo_hookean_second_stress(lame, weight, h, second)   ! its derivative is written without S2
    do j = 1, 3
      do i = 1, 3
        s(:,i,j) = s(:,i,j) - (1 - share)*second(:,i,j)
      end do
    end do
  end subroutine lessen_stress

  !> p = V S + B V + c1 (T:V) T + c2 T V^T T, the change of weight * P along the displacement gradient v.
  pure subroutine tangent_stress(s, b, t, c1, c2, v, p)
    real(dp), intent(in) :: s(8,3,3), b(8,3,3), t(8,3,3), c1(8), c2(8), v(8,3,3)
    real(dp), intent(inout) :: p(8,3,3)
    real(dp) :: product(8,3,3), trace(8)
    integer :: i, j

    trace = 0
    do j = 1, 3
      trace = trace + (t(:,1,j)*v(:,1,j) + t(:,2,j)*v(:,2,j) + t(:,3,j)*v(:,3,j))
      do i = 1, 3
        product(:,i,j) = c2*(t(:,i,1)*v(:,j,1) + t(:,i,2)*v(:,j,2) + t(:,i,3)*v(:,j,3))
      end do
    end do
    trace = c1*trace
    do j = 1, 3
      do i = 1, 3
        p(:,i,j) = v(:,i,1)*s(:,1,j) + v(:,i,2)*s(:,2,j) + v(:,i,3)*s(:,3,j) &
                 + (b(:,i,1)*v(:,1,j) + b(:,i,2)*v(:,2,j) + b(:,i,3)*v(:,3,j)) + trace*t(:,i,j) &
                 + (product(:,i,1)*t(:,1,j) + product(:,i,2)*t(:,2,j) + product(:,i,3)*t(:,3,j))
      end do
    end do
  end subroutine tangent_stress

end module material_laws
