!> Places of points of bodies that are no finite elements: x = centre(t) + R (X - centre), or F (X - centre), and the inverse.
module point_places
  use kinds, only: dp, i4
  use body_state, only: bodies_and_triples
  use velocity_operator, only: pseudo_rigid_kind
  use matrix3, only: multiply, multiply_transposed, inverse
  implicit none
  private
  public :: spatial_point, referential_point

contains

  !> Current place of a referential point of body b.
  pure function spatial_point(state, b, point) result(x)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: point(3)
    real(dp) :: x(3)

    associate (conf => state%configurations%conf(:,state%bodies%conf_ptr(b):state%bodies%conf_ptr(b)+3))
      if (state%bodies%kind(b) == pseudo_rigid_kind) then
        x = conf(:,4) + multiply_transposed(conf(:,1:3), point - state%bodies%centre(:,b))
      else
        x = conf(:,4) + multiply(conf(:,1:3), point - state%bodies%centre(:,b))
      end if
    end associate
  end function spatial_point

  !> Referential place of a spatial point of body b, whose gradient has an inverse.
  pure function referential_point(state, b, x) result(point)
    type(bodies_and_triples), intent(in) :: state
    integer(i4), intent(in) :: b
    real(dp), intent(in) :: x(3)
    real(dp) :: point(3)

    associate (conf => state%configurations%conf(:,state%bodies%conf_ptr(b):state%bodies%conf_ptr(b)+3))
      if (state%bodies%kind(b) == pseudo_rigid_kind) then
        point = state%bodies%centre(:,b) + multiply_transposed(inverse(conf(:,1:3)), x - conf(:,4))
      else
        point = state%bodies%centre(:,b) + multiply_transposed(conf(:,1:3), x - conf(:,4))
      end if
    end associate
  end function referential_point
end module point_places
