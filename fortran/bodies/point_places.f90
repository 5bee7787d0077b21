!> Places of points of bodies that are no finite elements: x = centre(t) + R (X - centre), or F (X - centre), and the inverse.
module point_places
  use kinds, only: dp, i4
  use body_state, only: bodies_and_triples
  use velocity_operator, only: obstacle_kind, rigid_kind, pseudo_rigid_kind
  use matrix3, only: cross, multiply, multiply_transposed, inverse
  implicit none
  private
  public :: spatial_point, referential_point, turned, whirled

contains

  !> Current place of a referential point of body b.
  pure function spatial_point(state, b, point) result(x)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: point(3)
    real(dp) :: x(3)

    x = state%configurations%conf(:,state%bodies%conf_ptr(b)+3) + turned(state, b, point - state%bodies%centre(:,b))
  end function spatial_point

  !> R v, or F v, of body b.
  pure function turned(state, b, v)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: v(3)
    real(dp) :: turned(3)

    associate (gradient => state%configurations%conf(:,state%bodies%conf_ptr(b):state%bodies%conf_ptr(b)+2))
      if (state%bodies%kind(b) == pseudo_rigid_kind) then   ! rows of F
        turned = multiply_transposed(gradient, v)
      else                                                  ! columns of R
        turned = multiply(gradient, v)
      end if
    end associate
  end function turned

  !> Referential place of a spatial point of body b, whose gradient has an inverse.
  pure function referential_point(state, b, x) result(point)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: x(3)
    real(dp) :: point(3)

    integer(i4) :: c

    c = state%bodies%conf_ptr(b)
    point = x - state%configurations%conf(:,c+3)
    if (state%bodies%kind(b) == pseudo_rigid_kind) then
      point = multiply_transposed(inverse(state%configurations%conf(:,c:c+2)), point)
    else
      point = multiply_transposed(state%configurations%conf(:,c:c+2), point)
    end if
    point = state%bodies%centre(:,b) + point
  end function referential_point

  !> Mean acceleration of a referential point of body b in the second half of a step by its rotation, which bends the way of the point; that of
  !> points of deformable bodies is straight within half a step.
  !>
  !> It is what the turn a = w h/2 adds along w x (w x r) to the point's velocity, over h/2: (sin a)/a of that acceleration.  Beyond a quarter turn the
  !> way has no one bend, and 0 is returned.
  pure function whirled(state, b, point, step)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: point(3), step
    real(dp) :: whirled(3)

    real(dp), parameter :: quarter_turn = acos(0.0_dp)
    real(dp) :: angle

    whirled = 0.0_dp
    if (state%bodies%kind(b) /= rigid_kind .and. state%bodies%kind(b) /= obstacle_kind) return
    associate (rate => state%triples%velo(:,state%bodies%velo_ptr(b)))   ! referential
      angle = 0.5_dp*step*norm2(rate)
      if (angle >= quarter_turn) return
      whirled = turned(state, b, cross(rate, cross(rate, point - state%bodies%centre(:,b))))
      if (angle > 0.0_dp) whirled = whirled*(sin(angle)/angle)
    end associate
  end function whirled
end module point_places
