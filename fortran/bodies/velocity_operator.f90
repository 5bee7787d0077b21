!> The operator H from the velocity triples of a body to the velocity of one of its points in a local base.
module velocity_operator
  use kinds, only: dp, i4
  use kind_numbers, only: obstacle_kind => body_obstacle, rigid_kind => body_rigid, pseudo_rigid_kind => body_pseudo_rigid, &
    finite_element_kind => body_finite_element
  implicit none
  private
  public :: velocity_blocks, obstacle_kind, rigid_kind, pseudo_rigid_kind, finite_element_kind

contains

  !> The 3x3 blocks of H, one per velocity triple of a body without elements (the blocks of elements are N_a base^T), so that base^T v(point) = sum_k blocks(:,:,k) velo(:,k)
  !> (docs/theory.md, Body kinematics; docs/language-objects.md, BODY.velo).
  !>
  !>   kind      BodyKind: obstacle, rigid (2 blocks) or pseudo-rigid (4 blocks)
  !>   conf      (3,4) configuration triples: rigid - columns of the rotation, then the current centre;
  !>             pseudo-rigid - rows of the gradient F, then the current centre
  !>   centre    referential mass centre [length]
  !>   point     referential point [length]
  !>   base      columns t1, t2, n in spatial coordinates; the identity gives spatial velocities
  !>   count     number of blocks filled (0: unknown kind)
  !>   blocks    (3,3,4); blocks beyond `count` are left alone
  !>
  !> The sign (master +, slave -) and the rule that contacts do not act on obstacles belong to the caller.
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

end module velocity_operator
