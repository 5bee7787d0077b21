!> Torques of torsion springs about three axes of their first particles.
module torsion_springs
  use kinds, only: dp, i4
  use curves, only: curve_at
  use state_tables, only: model_tables
  use matrix3, only: cross, inverse
  use rotation, only: exponential_map
  implicit none
  private
  public :: torsion_torques, torsion_axes

  !> Below so many springs one thread is faster.
  integer(i4), parameter :: few_springs = 128

contains

  !> Computes angles and torques of all torsion springs.
  subroutine torsion_torques(model, span)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: span                  !< [time] of rotation since the angles were last updated
    integer(i4) :: n, s

    n = int(model%torsions%rows, i4)
    !$omp parallel do schedule(static) if (n > few_springs)
    do s = 0, n - 1
      call evaluate(model, s, span)
    end do
  end subroutine torsion_torques

  !> Present axes x, y and z of a spring, one a column.
  pure function torsion_axes(model, s) result(axes)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: s
    real(dp) :: axes(3,3)
    integer(i4) :: p

    p = model%torsions%particle(1,s)
    axes(:,1) = matmul(model%particles%rotation(:,:,p), model%torsions%x(:,s))
    axes(:,3) = matmul(model%particles%rotation(:,:,p), model%torsions%z(:,s))
    axes(:,2) = cross(axes(:,3), axes(:,1))
  end function torsion_axes

  !> Axes in the middle of the rotation `turn` that has brought them to where they are.
  pure function axes_before(axes, turn) result(middle)
    real(dp), intent(in) :: axes(3,3)
    real(dp), intent(in) :: turn(3)               !< rotation vector [rad]
    real(dp) :: middle(3,3), back(3,3)

    call exponential_map(-0.5_dp*turn, back)
    middle = matmul(back, axes)
  end function axes_before

  !> Computes angles and torques of one spring.
  subroutine evaluate(model, s, span)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: s
    real(dp), intent(in) :: span                  !< [time] of rotation
    real(dp) :: axes(3,3), angle, inertia(3), own(3), rate, rates(3), share(3), spin(3), together(2), turns(3,2)
    integer :: i, lead
    integer(i4) :: p
    logical :: in_cone(3)

    associate (torsions => model%torsions)
      axes = torsion_axes(model, s)
      spin = 0
      turns = 0
      do i = 1, 2
        p = torsions%particle(i,s)
        if (p < 0) cycle
        own = merge(1, -1, i == 1)*model%particles%spin(:,p)
        spin = spin + own
        turns(:,i) = span*own
      end do
      rates = matmul(spin, axes)
      ! The first particle has the same components along its axes before and after it turned, the second one has not.
      torsions%angle(:,s) = torsions%angle(:,s) + (matmul(turns(:,1), axes) + matmul(turns(:,2), axes_before(axes, turns(:,1))))
      inertia = 0
      if (any(torsions%ratio(:,s) >= 0)) inertia = joint_inertia(model, s, axes)
      in_cone = torsions%cone(:,s) == 1
      do i = 1, 3
        if (in_cone(i)) cycle
        call torque_at(i, torsions%angle(i,s), rates(i), inertia(i), torsions%elastic(i,s), torsions%total(i,s))
      end do
      if (any(in_cone)) then
        lead = merge(1, 2, in_cone(1))            ! the first of two or three members is roll or pitch
        angle = sqrt(sum(torsions%angle(:,s)**2, mask=in_cone))
        share = 0
        if (angle > 0) share = merge(torsions%angle(:,s)/angle, 0.0_dp, in_cone)
        rate = dot_product(share, rates)
        call torque_at(lead, angle, rate, sqrt(sum(inertia**2, mask=in_cone)), together(1), together(2))
        where (in_cone)
          torsions%elastic(:,s) = together(1)*share
          torsions%total(:,s) = together(2)*share
        end where
      end if
      torsions%torque(:,s) = matmul(axes, torsions%total(:,s))
    end associate

  contains

    !> Computes the torque from the tables of one axis.
    subroutine torque_at(i, angle, rate, inertia, elastic, total)
      integer, intent(in) :: i
      real(dp), intent(in) :: angle, rate, inertia
      real(dp), intent(out) :: elastic, total
      real(dp) :: damping, slope, unused

      elastic = 0
      total = 0
      if (model%torsions%curve(i,s) < 0) return
      call curve_at(model%curves, model%points, model%torsions%curve(i,s), angle, elastic, slope)
      total = elastic
      if (.not. abs(elastic) > 0) return            ! the dashpot acts only while the spring has a torque
      if (model%torsions%dashpot(i,s) >= 0) then
        call curve_at(model%curves, model%points, model%torsions%dashpot(i,s), rate, damping, unused)
        total = elastic + damping
      else if (model%torsions%ratio(i,s) >= 0) then
        total = elastic - 2*model%torsions%ratio(i,s)*sqrt(abs(slope)*inertia)*rate
      end if
    end subroutine torque_at
  end subroutine evaluate

  !> Inertias of the relative rotation of two bodies about a spring's axes.
  function joint_inertia(model, s, axes) result(diagonal)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: s
    real(dp), intent(in) :: axes(3,3)
    real(dp) :: diagonal(3), local(3,3), sum_of_inverses(3,3)
    integer :: i
    integer(i4) :: p

    sum_of_inverses = 0
    do i = 1, 2
      p = model%torsions%particle(i,s)
      if (p < 0) cycle
      local = matmul(transpose(model%particles%rotation(:,:,p)), axes)
      sum_of_inverses = sum_of_inverses + matmul(transpose(local), matmul(model%particles%inverse_inertia(:,:,p), local))
    end do
    local = inverse(sum_of_inverses)
    diagonal = [local(1,1), local(2,2), local(3,3)]
  end function joint_inertia
end module torsion_springs
