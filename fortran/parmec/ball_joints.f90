!> Reactions of ball joints: the relative velocities of a joint's two points at the start and at the end of a step sum to zero.
module ball_joints
  use kinds, only: dp, i4
  use explicit_model, only: model_tables
  use matrix3, only: cross
  use particle_motion, only: turn_faster
  implicit none
  private
  public :: joint_work, prepare_joints, joint_reactions

  !> Memory for the equations of the largest set of joints.
  type :: joint_work
    real(dp), allocatable :: matrix(:,:), right(:)
    integer(i4), allocatable :: order(:)
  end type joint_work

  !> Relative size below which a pivot counts as zero: other joints hold this direction already.
  real(dp), parameter :: redundant = 1e-10_dp

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
    real(dp) :: velocity(3), angular(3)
    integer(i4) :: p

    velocity = 0
    p = model%joints%particle(side,j)
    if (p < 0) return
    associate (particles => model%particles, arm => model%joints%arm(:,side,j))
      velocity = 2*particles%velocity(:,p)
      if (particles%held(1,p) == 0) velocity = velocity + (h/particles%mass(p))*particles%force(:,p)
      angular = particles%angular(:,p)
      if (particles%held(2,p) == 0) call turn_faster(h, particles%rotation(:,:,p), particles%torque(:,p), &
        particles%inertia(:,:,p), particles%inverse_inertia(:,:,p), angular)
      velocity = velocity + matmul(particles%rotation(:,:,p), cross(particles%angular(:,p) + angular, arm))
    end associate
  end function point_velocity

  !> Velocity at joint a from a unit impulse at joint b, through the particles that both joints hold.
  pure function coupling(model, a, b) result(block)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: a, b
    real(dp) :: block(3,3), one(3,3), two(3,3)
    integer :: i, k, l
    integer(i4) :: p
    real(dp) :: sense

    block = 0
    do k = 1, 2
      p = model%joints%particle(k,a)
      if (p < 0) cycle
      do l = 1, 2
        if (model%joints%particle(l,b) /= p) cycle
        sense = merge(1.0_dp, -1.0_dp, k == l)
        if (model%particles%held(1,p) == 0) then
          do i = 1, 3
            block(i,i) = block(i,i) + sense/model%particles%mass(p)
          end do
        end if
        if (model%particles%held(2,p) == 0) then
          one = lever(model, a, k, p)
          two = lever(model, b, l, p)
          block = block + sense*matmul(one, matmul(model%particles%inverse_inertia(:,:,p), transpose(two)))
        end if
      end do
    end do
  end function coupling

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

  !> Solves a symmetric positive semidefinite system whose right hand side is in its range, by L D L^T, largest pivots first.
  !> Unknowns with zero pivots are zero: other joints hold these directions already.
  subroutine solve(n, a, b, order)
    integer(i4), intent(in) :: n
    real(dp), intent(inout) :: a(n,n), b(n)       !< matrix, which is overwritten; right hand side, then the solution
    integer(i4), intent(inout) :: order(n)
    real(dp) :: largest, swapped
    integer(i4) :: i, j, k, pivot, rank

    order = [(i, i=1, n)]
    largest = 0
    rank = n
    do k = 1, n
      pivot = k
      do i = k + 1, n
        if (a(i,i) > a(pivot,pivot)) pivot = i
      end do
      if (k == 1) largest = a(pivot,pivot)
      if (.not. a(pivot,pivot) > redundant*largest) then
        rank = k - 1
        exit
      end if
      if (pivot /= k) call exchange(k, pivot)
      do j = k + 1, n
        swapped = a(j,k)/a(k,k)
        do i = j, n
          a(i,j) = a(i,j) - swapped*a(i,k)
          a(j,i) = a(i,j)
        end do
        b(j) = b(j) - swapped*b(k)
      end do
    end do
    do k = rank, 1, -1
      do j = k + 1, rank
        b(k) = b(k) - a(k,j)*b(j)
      end do
      b(k) = b(k)/a(k,k)
    end do
    b(rank+1:n) = 0
    b(order) = b

  contains

    !> Exchanges two unknowns, and entries above the diagonal in eliminated rows.
    subroutine exchange(k, p)
      integer(i4), intent(in) :: k, p
      integer(i4) :: kept
      real(dp) :: row(n)

      row = a(k,:)
      a(k,:) = a(p,:)
      a(p,:) = row
      row = a(:,k)
      a(:,k) = a(:,p)
      a(:,p) = row
      kept = order(k)
      order(k) = order(p)
      order(p) = kept
      row(1) = b(k)
      b(k) = b(p)
      b(p) = row(1)
    end subroutine exchange
  end subroutine solve
end module ball_joints
