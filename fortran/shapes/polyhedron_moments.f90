!> Moments of bodies from the triangles of their surface, and faces of hexahedra from the order of their corners.
!>
!> Most bodies have a few triangles: a call takes a tenth of the time of array operations on so few (solfec/shapes/characteristics.py, hull.py).
module polyhedron_moments
  use kinds, only: dp, i4, i8
  implicit none
  private
  public :: add_moments, centre_moments, moments_of_one, tell_hexahedron

contains

  !> Adds volume, first moment (3) and second moment (3 x 3) about an origin of what outward triangles bound.
  pure subroutine add_moments(vertices, vertex, triangles, corner, origin, moments)
    integer(i4), intent(in) :: vertices, triangles
    real(dp), intent(in) :: vertex(3, 0:vertices-1)
    integer(i8), intent(in) :: corner(3, triangles)   !< vertex numbers
    real(dp), intent(in) :: origin(3)
    real(dp), intent(inout) :: moments(13)
    real(dp) :: a(3), b(3), c(3), total(3), jacobian, volume, first(3), second(3, 3)
    integer(i4) :: t, i

    volume = 0
    first = 0
    second = 0
    do t = 1, triangles
      a = vertex(:, corner(1, t)) - origin
      b = vertex(:, corner(2, t)) - origin
      c = vertex(:, corner(3, t)) - origin
      jacobian = a(1)*(b(2)*c(3) - b(3)*c(2)) + a(2)*(b(3)*c(1) - b(1)*c(3)) + a(3)*(b(1)*c(2) - b(2)*c(1))
      total = a + b + c
      volume = volume + jacobian
      first = first + jacobian*total
      do i = 1, 3
        second(:, i) = second(:, i) + jacobian*(a*a(i) + b*b(i) + c*c(i) + total*total(i))
      end do
    end do
    moments(1) = moments(1) + volume/6
    moments(2:4) = moments(2:4) + first/24
    moments(5:) = moments(5:) + reshape(second, [9])/120
  end subroutine add_moments

  !> Turns moments about an origin into volume, centre and the second moment about the centre, which is exactly symmetric.
  pure subroutine centre_moments(origin, moments)
    real(dp), intent(in) :: origin(3)
    real(dp), intent(inout) :: moments(13)   !< the volume must be positive
    real(dp) :: arm(3), second(3, 3)
    integer(i4) :: i

    arm = moments(2:4)/moments(1)
    second = reshape(moments(5:), [3, 3])
    do i = 1, 3
      second(:, i) = second(:, i) - moments(1)*(arm*arm(i))
    end do
    moments(2:4) = origin + arm
    moments(5:) = reshape(0.5_dp*(second + transpose(second)), [9])
  end subroutine centre_moments

  !> Volume, centre and second moment about the centre of what outward triangles bound; the volume alone unless it is positive.
  pure subroutine moments_of_one(vertices, vertex, triangles, corner, moments)
    integer(i4), intent(in) :: vertices, triangles
    real(dp), intent(in) :: vertex(3, 0:vertices-1)
    integer(i8), intent(in) :: corner(3, triangles)   !< vertex numbers
    real(dp), intent(out) :: moments(13)
    real(dp) :: origin(3)
    integer(i4) :: v

    origin = 0
    do v = 0, vertices - 1
      origin = origin + vertex(:, v)
    end do
    origin = origin/vertices   ! near the shape, so that a far global origin does not spoil digits
    moments = 0
    call add_moments(vertices, vertex, triangles, corner, origin, moments)
    if (moments(1) > 0) call centre_moments(origin, moments)
  end subroutine moments_of_one

  !> Tells whether eight points are the corners of a convex hexahedron with these faces: `sense` becomes 1 if the faces point outwards,
  !> -1 if they point inwards, and 0 if they are no such faces.
  !>
  !> Lengths are relative to the size of the points.  Corners of a face lie within `flat` of its plane, the others further than `thin`
  !> from it, all on one side.
  pure subroutine tell_hexahedron(point, face, flat, thin, sense)
    real(dp), intent(in) :: point(3, 0:7)
    integer(i4), intent(in) :: face(4, 6)   !< vertex numbers
    real(dp), intent(in) :: flat, thin
    integer(i4), intent(out) :: sense
    real(dp) :: middle(3), size, scaled(3, 0:7), one(3), two(3), normal(3), length, height, lowest, highest
    integer(i4) :: f, v

    sense = 0
    size = maxval(maxval(point, 2) - minval(point, 2))
    if (.not. size > 0) return
    middle = 0.5_dp*(minval(point, 2) + maxval(point, 2))
    do v = 0, 7
      scaled(:, v) = (point(:, v) - middle)/size
    end do
    lowest = huge(lowest)
    highest = -huge(highest)
    do f = 1, 6
      one = scaled(:, face(3, f)) - scaled(:, face(1, f))
      two = scaled(:, face(4, f)) - scaled(:, face(2, f))
      normal = [one(2)*two(3) - one(3)*two(2), one(3)*two(1) - one(1)*two(3), one(1)*two(2) - one(2)*two(1)]
      length = norm2(normal)
      if (.not. length > thin**2) return
      do v = 0, 7
        height = dot_product(normal, scaled(:, v) - scaled(:, face(1, f)))/length
        if (any(face(:, f) == v)) then
          if (.not. abs(height) <= flat) return
        else
          lowest = min(lowest, height)
          highest = max(highest, height)
        end if
      end do
    end do
    if (highest < -thin) sense = 1
    if (lowest > thin) sense = -1
  end subroutine tell_hexahedron
end module polyhedron_moments
