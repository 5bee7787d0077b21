!> Bounds of how far points of bodies move: several processes divide a model anew before their copies of bodies are too few.
module motion_bounds
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use kinds, only: dp, i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use kind_numbers, only: finite_element_kind => body_finite_element, obstacle_kind => body_obstacle, &
    pseudo_rigid_kind => body_pseudo_rigid, rigid_kind => body_rigid
  use matrix3, only: inverse
  use table_registry, only: table_open
  implicit none
  private
  public :: bound_lengths, bound_motion

contains

  !> Bounds what velocity triples do to points of bodies: |v| + |w| s for a body whose box has the diagonal s, |v| + |dF F^-1| s for a pseudo-rigid one,
  !> the largest of nodes.
  !>
  !> Reads kinds, extents and configurations of bodies.
  !>
  !>   motion    (3,0:triples-1) velocities, or displacements of the same meaning
  !>   lengths   (0:bodies-1) out
  !>   status    out: table_open, or a handle is void
  subroutine bound_lengths(handles, triples, motion, bodies, lengths, status)
    integer(i8), intent(in) :: handles(3)
    integer(i4), intent(in) :: triples, bodies
    real(dp), intent(in) :: motion(3,0:triples-1)
    real(dp), intent(inout) :: lengths(0:bodies-1)
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    integer(i4) :: b

    call open_bodies(handles, state, status)
    if (status /= table_open) return
    do b = 0, state%n - 1
      lengths(b) = length(state, b, motion)
    end do
  end subroutine bound_lengths

  !> Finds by how much corners of boxes have moved at most, and will have after a step, if boxes are looked at when bodies have made half of their way.
  !>
  !> Reads kinds, extents, configurations and velocities of bodies.
  !>
  !>   chosen   (0:bodies-1) 1: the body counts
  !>   start    (6,0:bodies-1) extents at the beginning
  !>   jump     (0:bodies-1) further displacements at the end of a step
  !>   moved, ahead, status   out
  subroutine bound_motion(handles, bodies, chosen, start, jump, step, moved, ahead, status)
    integer(i8), intent(in) :: handles(3)
    integer(i4), intent(in) :: bodies, chosen(0:bodies-1)
    real(dp), intent(in) :: start(6,0:bodies-1), jump(0:bodies-1), step
    real(dp), intent(out) :: moved, ahead
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    real(dp) :: by
    integer(i4) :: b

    moved = 0.0_dp
    ahead = 0.0_dp
    call open_bodies(handles, state, status)
    if (status /= table_open) return
    do b = 0, state%n - 1
      if (chosen(b) == 0) cycle
      by = maxval(abs(state%bodies%extents(:,b) - start(:,b)))
      call raise(moved, by)
      call raise(ahead, by + step*length(state, b, state%triples%velo) + jump(b))
    end do
  end subroutine bound_motion

  !> Bounds what the triples of one body do to its points.
  pure real(dp) function length(state, b, motion)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: motion(3,0:*)
    real(dp) :: size, rate(3,3)
    integer(i4) :: c, k, v

    v = state%bodies%velo_ptr(b)
    size = size_of(state%bodies%extents(4:6,b) - state%bodies%extents(1:3,b))
    length = 0.0_dp
    select case (state%bodies%kind(b))
    case (obstacle_kind, rigid_kind)
      length = size_of(motion(:,v+1)) + size_of(motion(:,v))*size
    case (pseudo_rigid_kind)
      c = state%bodies%conf_ptr(b)
      rate = matmul(inverse(state%configurations%conf(:,c:c+2)), motion(:,v:v+2))
      length = size_of(motion(:,v+3)) + sqrt(sum(rate**2))*size
    case (finite_element_kind)
      do k = v, v + state%bodies%node_count(b) - 1
        call raise(length, size_of(motion(:,k)))
      end do
    end select
  end function length

  pure real(dp) function size_of(x)
    real(dp), intent(in) :: x(3)

    size_of = sqrt(sum(x**2))
  end function size_of

  !> Raises the largest number to x; it stays none if one of them is none.
  pure subroutine raise(largest, x)
    real(dp), intent(inout) :: largest
    real(dp), intent(in) :: x

    if (.not. x <= largest .and. .not. ieee_is_nan(largest)) largest = x
  end subroutine raise
end module motion_bounds
