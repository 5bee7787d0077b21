!> Reactions of ball joints: the relative velocities of a joint's two points at the start and at the end of a step sum to zero.
!>
!> Restraints act after the reactions are added: a particle moves under P f, where P is I less the sum of d d^T over the restrained
!> directions d, and turns about axes across the restrained ones only.  The equations of the joints contain both.
module ball_joints
  use kinds, only: dp, i4
  use state_tables, only: model_tables
  use matrix3, only: cross
  use particle_motion, only: turn_faster
  use pivoting, only: solve
  use prescriptions, only: hold_axes, remove, turning_of_free_axes
  implicit none
  private
  public :: joint_work, prepare_joints, joint_reactions

  !> Memory for the equations of the largest set of joints.
  type :: joint_work
    real(dp), allocatable :: matrix(:,:), right(:)
    integer(i4), allocatable :: order(:)
  end type joint_work

  real(dp), parameter :: identity(3,3) = reshape([1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp], [3, 3])

contains

  !> Allocates the memory.
  subroutine prepare_joints(model, work)
    type(model_tables), intent(in) :: model
    type(joint_work), intent(inout) :: work
    integer(i4) :: most

    most = 0
    if (model%joint_groups%rows > 0) most = 3*maxval(model%joint_groups%size(0:int(model%joint_groups%rows, i4)-1))
    allocate (work%matrix(most,most), work%right(most), work%order(most))
  end subroutine prepare_joints

  !> Solves all sets of joints, and adds the reactions to the particles' forces and torques.
  subroutine joint_reactions(model, h, work)
    type(model_tables), intent(inout) :: model
    real(dp), intent(in) :: h                     !< [time]
    type(joint_work), intent(inout) :: work
    integer(i4) :: g, i, j, n

    do g = 0, int(model%joint_groups%rows, i4) - 1
      n = 3*model%joint_groups%size(g)
      call assemble(model, g, h, work)
      call solve(n, work%matrix(1:n,1:n), work%right(1:n), work%order(1:n))
      do i = 1, model%joint_groups%size(g)
        j = model%joint_order%joint(model%joint_groups%first(g) + i - 1)
        model%joints%reaction(:,j) = work%right(3*i-2:3*i)
      end do
    end do
    do j = 0, int(model%joints%rows, i4) - 1
      call add_reaction(model, j)
    end do
  end subroutine joint_reactions

  !> Assembles h W R = -(U + U'), with U at the start and U', without reactions, at the end of the step.
  subroutine assemble(model, g, h, work)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: g
    real(dp), intent(in) :: h
    type(joint_work), intent(inout) :: work
    real(dp) :: block(3,3)
    integer(i4) :: a, b, first, i, j

    first = model%joint_groups%first(g)
    do i = 1, model%joint_groups%size(g)
      a = model%joint_order%joint(first + i - 1)
      work%right(3*i-2:3*i) = -(point_velocity(model, a, 1, h) - point_velocity(model, a, 2, h))/h
      do j = 1, i
        b = model%joint_order%joint(first + j - 1)
        block = coupling(model, a, b)
        work%matrix(3*i-2:3*i,3*j-2:3*j) = block
        work%matrix(3*j-2:3*j,3*i-2:3*i) = transpose(block)
      end do
    end do
  end subroutine assemble

  !> Velocity of a joint's point on one side at the start of a step, plus that at its end without reactions.
  function point_velocity(model, j, side, h) result(velocity)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: j
    integer, intent(in) :: side
    real(dp), intent(in) :: h
    real(dp) :: velocity(3), angular(3), force(3), torque(3)
    integer(i4) :: p, r

    velocity = 0
    p = model%joints%particle(side,j)
    if (p < 0) return
    associate (particles => model%particles, arm => model%joints%arm(:,side,j))
      force = particles%force(:,p)
      torque = particles%torque(:,p)
      r = model%joints%restraint(side,j)
      if (r >= 0) then
        call remove(model%restraints%linear(:,:,r), model%restraints%linear_count(r), force)
        call remove(model%restraints%angular(:,:,r), model%restraints%angular_count(r), torque)
        if (particles%held(2,p) == 0) call hold_axes(h, model%restraints%angular(:,:,r), model%restraints%angular_count(r), &
                                                     particles%rotation(:,:,p), particles%inertia(:,:,p), &
                                                     particles%inverse_inertia(:,:,p), particles%angular(:,p), torque)
      end if
      velocity = 2*particles%velocity(:,p)
      if (particles%held(1,p) == 0) velocity = velocity + (h/particles%mass(p))*force
      angular = particles%angular(:,p)
      if (particles%held(2,p) == 0) call turn_faster(h, particles%rotation(:,:,p), torque, particles%inertia(:,:,p), &
                                                     particles%inverse_inertia(:,:,p), angular)
      velocity = velocity + matmul(particles%rotation(:,:,p), cross(particles%angular(:,p) + angular, arm))
    end associate
  end function point_velocity

  !> Velocity at joint a from a unit impulse at joint b, through the particles that both joints hold: P/m + H_a K H_b^T, where K is
  !> J^-1, or that of rotation about free axes.
  pure function coupling(model, a, b) result(block)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: a, b
    real(dp) :: block(3,3), one(3,3), turning(3,3)
    integer :: k, l
    integer(i4) :: p, r
    real(dp) :: sense

    block = 0
    do k = 1, 2
      p = model%joints%particle(k,a)
      if (p < 0) cycle
      do l = 1, 2
        if (model%joints%particle(l,b) /= p) cycle
        sense = merge(1.0_dp, -1.0_dp, k == l)
        r = model%joints%restraint(l,b)
        if (model%particles%held(1,p) == 0) then
          one = identity
          if (r >= 0) call remove_from_all(model%restraints%linear(:,:,r), model%restraints%linear_count(r), one)
          block = block + (sense/model%particles%mass(p))*one
        end if
        if (model%particles%held(2,p) == 0) then
          one = lever(model, a, k, p)
          turning = model%particles%inverse_inertia(:,:,p)
          if (r >= 0) turning = turning_of_free_axes(model%restraints%angular(:,:,r), model%restraints%angular_count(r), &
                                                     model%particles%rotation(:,:,p), turning)
          block = block + sense*matmul(one, matmul(turning, transpose(lever(model, b, l, p))))
        end if
      end do
    end do
  end function coupling

  !> Removes from three columns their components along orthonormal directions.
  pure subroutine remove_from_all(directions, count, columns)
    real(dp), intent(in) :: directions(3,3)
    integer(i4), intent(in) :: count
    real(dp), intent(inout) :: columns(3,3)
    integer :: k

    do k = 1, 3
      call remove(directions, count, columns(:,k))
    end do
  end subroutine remove_from_all

  !> Matrix H = L [X - P]x, which maps referential angular velocity to the velocity of the joint's point.
  pure function lever(model, j, side, p) result(h)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: j, p
    integer, intent(in) :: side
    real(dp) :: h(3,3), a(3)

    a = -model%joints%arm(:,side,j)
    h = reshape([0.0_dp, a(3), -a(2), -a(3), 0.0_dp, a(1), a(2), -a(1), 0.0_dp], [3, 3])
    h = matmul(model%particles%rotation(:,:,p), h)
  end function lever

  !> Adds a joint's reaction to the forces and torques of its particles.
  subroutine add_reaction(model, j)
    type(model_tables), intent(inout) :: model
    integer(i4), intent(in) :: j
    real(dp) :: force(3)
    integer :: side
    integer(i4) :: p

    do side = 1, 2
      p = model%joints%particle(side,j)
      if (p < 0) cycle
      force = merge(1.0_dp, -1.0_dp, side == 1)*model%joints%reaction(:,j)
      model%particles%force(:,p) = model%particles%force(:,p) + force
      model%particles%torque(:,p) = model%particles%torque(:,p) &
        + cross(matmul(model%particles%rotation(:,:,p), model%joints%arm(:,side,j)), force)
    end do
  end subroutine add_reaction
end module ball_joints
