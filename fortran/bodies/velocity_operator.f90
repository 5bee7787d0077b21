!> The operator H from the velocity triples of a body to the velocity of one of its points in a local base.
module velocity_operator
  use kinds, only: dp, i4
  use kind_numbers, only: obstacle_kind => body_obstacle, rigid_kind => body_rigid, pseudo_rigid_kind => body_pseudo_rigid, &
    finite_element_kind => body_finite_element
  use matrix3, only: cofactors, determinant, inverse
  implicit none
  private
  public :: velocity_blocks, angular_blocks, spin_blocks, rotation_of, polar_rotation
  public :: obstacle_kind, rigid_kind, pseudo_rigid_kind, finite_element_kind

contains

  !> Computes the 3x3 blocks of H, one per velocity triple of a body without elements: base^T v(point) = sum_k blocks(:,:,k) velo(:,k)
  !> (docs/theory.md, Local dynamics; docs/language-objects.md, BODY.velo).  The blocks of elements are N_a base^T.
  !>
  !>   kind      BodyKind: obstacle, rigid (2 blocks) or pseudo-rigid (4 blocks)
  !>   conf      (3,4) configuration triples: rigid - columns of the rotation, then the current centre;
  !>             pseudo-rigid - rows of the gradient F, then the current centre
  !>   centre    referential mass centre [length]
  !>   point     referential point [length]
  !>   base      columns t1, t2, n in spatial coordinates; the identity gives spatial velocities
  !>   count     number of blocks filled (0: unknown kind)
  !>   blocks    (3,3,4); blocks beyond `count` are not changed
  !>
  !> The caller applies the sign (master +, slave -) and the rule that contacts do not act on obstacles.
  pure subroutine velocity_blocks(kind, conf, centre, point, base, count, blocks)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4)
    real(dp), intent(in) :: centre(3)
    real(dp), intent(in) :: point(3)
    real(dp), intent(in) :: base(3,3)
    integer(i4), intent(out) :: count
    real(dp), intent(inout) :: blocks(3,3,4)
    real(dp) :: arm(3), rotated(3,3)
    integer :: i, j, k

    arm = point - centre
    select case (kind)
    case (obstacle_kind, rigid_kind)
      ! velocity = v + R (W x arm), so row i of the first block is arm x (R^T base_i)
      do j = 1, 3
        do i = 1, 3
          rotated(i,j) = base(1,i)*conf(1,j) + base(2,i)*conf(2,j) + base(3,i)*conf(3,j)
        end do
      end do
      blocks(:,1,1) = arm(2)*rotated(:,3) - arm(3)*rotated(:,2)
      blocks(:,2,1) = arm(3)*rotated(:,1) - arm(1)*rotated(:,3)
      blocks(:,3,1) = arm(1)*rotated(:,2) - arm(2)*rotated(:,1)
      blocks(:,:,2) = transpose(base)
      count = 2
    case (pseudo_rigid_kind)
      ! velocity_k = v_k + dF_k . arm for every row k of dF/dt
      do k = 1, 3
        do j = 1, 3
          blocks(:,j,k) = base(k,:)*arm(j)
        end do
      end do
      blocks(:,:,4) = transpose(base)
      count = 4
    case default
      count = 0
    end select
  end subroutine velocity_blocks

  !> The blocks of the operator from the velocity triples of a body without elements to its angular velocity in a local base; a pseudo-rigid body
  !> turns as the rotation of its gradient does (`spin_blocks`).
  !>
  !>   kind, conf, base, count, blocks   as in `velocity_blocks`
  pure subroutine angular_blocks(kind, conf, base, count, blocks)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4), base(3,3)
    integer(i4), intent(out) :: count
    real(dp), intent(inout) :: blocks(3,3,4)
    integer :: i, j

    select case (kind)
    case (obstacle_kind, rigid_kind)
      do j = 1, 3
        do i = 1, 3
          blocks(i,j,1) = base(1,i)*conf(1,j) + base(2,i)*conf(2,j) + base(3,i)*conf(3,j)
        end do
      end do
      blocks(:,:,2) = 0.0_dp
      count = 2
    case (pseudo_rigid_kind)
      call spin_blocks(transpose(conf(:,1:3)), base, blocks(:,:,1:3))
      blocks(:,:,4) = 0.0_dp
      count = 4
    case default
      count = 0
    end select
  end subroutine angular_blocks

  !> The blocks (3,3,3) of the operator from the rows of dF/dt to the angular velocity of R of a gradient F = R U, in a local base.
  !>
  !> From R^T dF/dt = (R^T dR/dt) U + dU/dt the part that is not symmetric gives
  !>
  !>   w = R (tr(U) I - U)^-1 a,   a = sum_p f_p x r_p,
  !>
  !> with f_p and r_p the rows of dF/dt and R.
  pure subroutine spin_blocks(gradient, base, blocks)
    real(dp), intent(in) :: gradient(3,3), base(3,3)
    real(dp), intent(out) :: blocks(3,3,3)
    real(dp) :: rotation(3,3), stretch(3,3), map(3,3), row(3)
    integer :: i, p

    rotation = polar_rotation(gradient)
    stretch = matmul(transpose(rotation), gradient)
    map = -0.5_dp*(stretch + transpose(stretch))
    do i = 1, 3
      map(i,i) = map(i,i) + stretch(1,1) + stretch(2,2) + stretch(3,3)
    end do
    map = matmul(matmul(transpose(base), rotation), inverse(map))
    do p = 1, 3
      row = rotation(p,:)
      do i = 1, 3   ! column j of -[r x] is e_j x r
        blocks(i,1,p) = map(i,3)*row(2) - map(i,2)*row(3)
        blocks(i,2,p) = map(i,1)*row(3) - map(i,3)*row(1)
        blocks(i,3,p) = map(i,2)*row(1) - map(i,1)*row(2)
      end do
    end do
  end subroutine spin_blocks

  !> The rotation of a body without elements: its own, or that of the gradient of a pseudo-rigid one.
  pure function rotation_of(kind, conf) result(rotation)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: conf(3,4)    !< as in `velocity_blocks`
    real(dp) :: rotation(3,3)

    if (kind == pseudo_rigid_kind) then
      rotation = polar_rotation(transpose(conf(:,1:3)))
    else
      rotation = conf(:,1:3)
    end if
  end function rotation_of

  !> R of F = R U (Higham's iteration, which starts at F).
  pure function polar_rotation(gradient) result(rotation)
    real(dp), intent(in) :: gradient(3,3)
    real(dp) :: rotation(3,3), before(3,3)
    integer, parameter :: most = 100
    integer :: k

    rotation = gradient
    do k = 1, most
      before = rotation
      rotation = 0.5_dp*(before + cofactors(before)/determinant(before))
      if (maxval(abs(rotation - before)) <= 4*epsilon(1.0_dp)) return
    end do
  end function polar_rotation

end module velocity_operator
