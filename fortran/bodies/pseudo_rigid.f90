!> Pseudo-rigid bodies: one homogeneous deformation gradient, St Venant-Kirchhoff material, scheme DEF_EXP
!> (docs/theory.md, Pseudo-rigid bodies).
!>
!> In all procedures: conf(3,4) rows of the gradient F and the current centre; velo(3,4) rows of dF/dt and the
!> velocity of the centre; force and reaction (3,4) conjugate to velo; inverse_inertia(3,3,4) three times E0^-1,
!> then I/m.  The rows of F are columns of the array, so conf(:,1:3) is F^T in the formulas below.
module pseudo_rigid
  use kinds, only: dp
  use matrix3, only: multiply
  implicit none
  private
  public :: pseudo_rigid_free_velocity, pseudo_rigid_finish
  public :: pseudo_rigid_kinetic_energy, pseudo_rigid_internal_energy, pseudo_rigid_damping_power, second_piola_kirchhoff

contains

  !> Computes S = lambda tr(G) I + 2 mu G with G = (F^T F - I)/2, and the energy density G : S / 2.
  pure subroutine second_piola_kirchhoff(lame, transposed, stress, energy)
    real(dp), intent(in) :: lame(2)               !< lambda, mu [pressure]
    real(dp), intent(in) :: transposed(3,3)       !< F^T
    real(dp), intent(out) :: stress(3,3)
    real(dp), intent(out) :: energy               !< [pressure]
    real(dp) :: strain(3,3)
    integer :: j

    do j = 1, 3
      strain(:,j) = (transposed(:,1)*transposed(j,1) + transposed(:,2)*transposed(j,2) + transposed(:,3)*transposed(j,3))/2
      strain(j,j) = strain(j,j) - 0.5_dp
    end do
    stress = elastic_stress(lame, strain)
    energy = sum(strain*stress)/2
  end subroutine second_piola_kirchhoff

  !> Stress lambda tr(G) I + 2 mu G of a strain G.
  pure function elastic_stress(lame, strain) result(stress)
    real(dp), intent(in) :: lame(2), strain(3,3)
    real(dp) :: stress(3,3), volumetric
    integer :: j

    volumetric = lame(1)*(strain(1,1) + strain(2,2) + strain(3,3))
    stress = 2*lame(2)*strain
    do j = 1, 3
      stress(j,j) = stress(j,j) + volumetric
    end do
  end function elastic_stress

  !> Computes u* from applied, internal and stiffness-proportional damping forces at mid-step; `force` keeps the applied ones.
  pure subroutine pseudo_rigid_free_velocity(step, gravity, mass, volume, lame, damping, inverse_inertia, conf, velo, force)
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: gravity(3)            !< acceleration [length/time**2]
    real(dp), intent(in) :: mass
    real(dp), intent(in) :: volume
    real(dp), intent(in) :: lame(2)               !< lambda, mu [pressure]
    real(dp), intent(in) :: damping               !< eta: the damping stress is eta dS/dt [time]
    real(dp), intent(in) :: inverse_inertia(3,3,4)
    real(dp), intent(in) :: conf(3,4)
    real(dp), intent(inout) :: velo(3,4)
    real(dp), intent(inout) :: force(3,4)
    real(dp) :: stress(3,3), internal(3,3), energy
    integer :: i

    call second_piola_kirchhoff(lame, conf(:,1:3), stress, energy)
    do i = 1, 3
      internal(:,i) = multiply(stress, conf(:,i))
    end do
    if (damping > 0) call add_damping(lame, damping, conf, velo, internal)
    do i = 1, 3
      velo(:,i) = velo(:,i) + step*multiply(inverse_inertia(:,:,i), force(:,i) - volume*internal(:,i))
    end do
    velo(:,4) = velo(:,4) + step*(gravity + inverse_inertia(1,1,4)*force(:,4))
    force(:,4) = force(:,4) + mass*gravity
  end subroutine pseudo_rigid_free_velocity

  !> Adds (F eta dS/dt)^T to `internal`, with the rate of S by that of Green's strain.  The rest of dP/dt, dF/dt S, would brake the rotation.
  pure subroutine add_damping(lame, damping, conf, velo, internal)
    real(dp), intent(in) :: lame(2)
    real(dp), intent(in) :: damping
    real(dp), intent(in) :: conf(3,4)
    real(dp), intent(in) :: velo(3,4)
    real(dp), intent(inout) :: internal(3,3)
    real(dp) :: rate(3,3)
    integer :: i, j

    do j = 1, 3
      do i = 1, 3
        rate(i,j) = (sum(conf(i,1:3)*velo(j,1:3)) + sum(velo(i,1:3)*conf(j,1:3)))/2
      end do
    end do
    rate = elastic_stress(lame, rate)
    do i = 1, 3
      internal(:,i) = internal(:,i) + damping*multiply(rate, conf(:,i))
    end do
  end subroutine add_damping

  !> Mean power of damping in a step: explicit steps have the damping force of u(t) with the gradient at mid-step, others that of
  !> (u(t) + u(t+h))/2.
  pure real(dp) function pseudo_rigid_damping_power(volume, lame, damping, conf, before, after, explicit) result(power)
    real(dp), intent(in) :: volume, lame(2), damping
    real(dp), intent(in) :: conf(3,4)             !< at mid-step
    real(dp), intent(in) :: before(3,4), after(3,4)   !< u(t), u(t+h)
    logical, intent(in) :: explicit
    real(dp) :: viscous(3,3), mean(3,4)

    mean = (before + after)/2
    viscous = 0
    if (explicit) then
      call add_damping(lame, damping, conf, before, viscous)
    else
      call add_damping(lame, damping, conf, mean, viscous)
    end if
    power = volume*sum(viscous*mean(:,1:3))
  end function pseudo_rigid_damping_power

  !> Computes u(t+h) = u* + h A^-1 r and conf(t+h).
  pure subroutine pseudo_rigid_finish(step, inverse_inertia, reaction, conf, velo)
    real(dp), intent(in) :: step                  !< time step h
    real(dp), intent(in) :: inverse_inertia(3,3,4)
    real(dp), intent(in) :: reaction(3,4)
    real(dp), intent(inout) :: conf(3,4)
    real(dp), intent(inout) :: velo(3,4)
    integer :: i

    do i = 1, 4
      velo(:,i) = velo(:,i) + step*multiply(inverse_inertia(:,:,i), reaction(:,i))
      conf(:,i) = conf(:,i) + step/2*velo(:,i)
    end do
  end subroutine pseudo_rigid_finish

  !> Kinetic energy 1/2 tr(dF/dt E0 dF/dt^T) + 1/2 m |v|**2.
  pure real(dp) function pseudo_rigid_kinetic_energy(mass, euler, velo) result(energy)
    real(dp), intent(in) :: mass
    real(dp), intent(in) :: euler(3,3)            !< referential Euler tensor E0
    real(dp), intent(in) :: velo(3,4)
    integer :: i

    energy = mass*sum(velo(:,4)*velo(:,4))
    do i = 1, 3
      energy = energy + sum(velo(:,i)*multiply(euler, velo(:,i)))
    end do
    energy = energy/2
  end function pseudo_rigid_kinetic_energy

  !> Internal energy V Psi(F).
  pure real(dp) function pseudo_rigid_internal_energy(volume, lame, conf) result(energy)
    real(dp), intent(in) :: volume
    real(dp), intent(in) :: lame(2)
    real(dp), intent(in) :: conf(3,4)
    real(dp) :: stress(3,3), density

    call second_piola_kirchhoff(lame, conf(:,1:3), stress, density)
    energy = volume*density
  end function pseudo_rigid_internal_energy

end module pseudo_rigid
