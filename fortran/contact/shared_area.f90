!> The area in which two bodies touch, as triangles, and four points that stand for it.
!>
!> Where the points are depends on the area alone, not on the order of nodes, axes or bodies.
module shared_area
  use kinds, only: dp, i4
  implicit none
  private
  public :: touching_area, clear_area, add_polygon, representative_points

  real(dp), parameter :: turned = 0.9817_dp      !< see `contact_patch`
  real(dp), parameter :: needle = 1.0e-12_dp     !< ratio of second moments of an area below which it is a line
  real(dp), parameter :: round = 1.0e-9_dp       !< moments of degree four without a direction, of an area with radii of gyration of one
  real(dp), parameter :: of_length = 0.05_dp     !< weight of the axes of an area beside its moments of degree four

  type :: touching_area
    integer(i4) :: count = 0
    real(dp) :: area = 0
    real(dp), allocatable :: corner(:,:,:)   !< (4,3,:) of triangles: two coordinates along the area, height of the slave's surface, gap
    real(dp), allocatable :: part(:)         !< areas of triangles
  end type touching_area

contains

  pure subroutine clear_area(touching)
    type(touching_area), intent(inout) :: touching

    touching%count = 0
    touching%area = 0
  end subroutine clear_area

  !> Adds a polygon on the slave's surface, over which the gap is height(1:3).x + height(4).
  pure subroutine add_polygon(touching, count, polygon, height, edge, across, normal)
    type(touching_area), intent(inout) :: touching
    integer(i4), intent(in) :: count
    real(dp), intent(in) :: polygon(:,:), height(4), edge(3), across(3), normal(3)
    real(dp) :: a(4), b(4), c(4), part
    integer(i4) :: k

    a = seen(polygon(:,1))
    c = seen(polygon(:,2))
    do k = 2, count - 1
      b = c
      c = seen(polygon(:,k+1))
      part = 0.5_dp*abs((b(1) - a(1))*(c(2) - a(2)) - (b(2) - a(2))*(c(1) - a(1)))
      if (.not. part > 0) cycle
      call make_room(touching)
      touching%count = touching%count + 1
      touching%corner(:,1,touching%count) = a
      touching%corner(:,2,touching%count) = b
      touching%corner(:,3,touching%count) = c
      touching%part(touching%count) = part
      touching%area = touching%area + part
    end do

  contains

    pure function seen(x) result(y)
      real(dp), intent(in) :: x(3)
      real(dp) :: y(4)

      y = [dot_product(edge, x), dot_product(across, x), dot_product(normal, x), dot_product(height(1:3), x) + height(4)]
    end function seen
  end subroutine add_polygon

  pure subroutine make_room(touching)
    type(touching_area), intent(inout) :: touching
    real(dp), allocatable :: corner(:,:,:), part(:)

    if (.not. allocated(touching%part)) allocate (touching%corner(4,3,16), touching%part(16))
    if (touching%count < size(touching%part)) return
    allocate (corner(4,3,2*touching%count), part(2*touching%count))
    corner(:,:,1:touching%count) = touching%corner
    part(1:touching%count) = touching%part
    call move_alloc(corner, touching%corner)
    call move_alloc(part, touching%part)
  end subroutine make_room

  !> Four points of equal weight that integrate every polynomial of degree two over an area of any shape exactly, so that a uniform
  !> pressure passes between linear and bilinear faces.
  !>
  !> They lie about its centre at sqrt 2 radii of gyration, turned so that they match its moments of degree four best, as far as four points
  !> can: a rectangle gets Gauss's.  Triangles have no such moments; their axes of gyration go through points: those halfway between points
  !> would not see x y over half of a square, so that two triangles would not hold a bilinear face flat.  Points of adjacent areas differ.  Heights and gaps are those of the planes that are nearest to both surfaces over all of the area (least squares).
  pure subroutine representative_points(touching, place, height, gap)
    type(touching_area), intent(in) :: touching
    real(dp), intent(out) :: place(2,0:3), height(0:3), gap(0:3)
    real(dp) :: mean(4), moment(3), length(2), angle, axis(2,2), slope(2,2), angle_of_points, off(2)
    complex(dp) :: fourth, long
    integer(i4) :: k

    mean = mean_of(touching)
    moment = second_moments(touching, mean(1:2))
    angle = 0.5_dp*atan2(2*moment(2), moment(1) - moment(3))
    axis(:,1) = [cos(angle), sin(angle)]
    axis(:,2) = [-axis(2,1), axis(1,1)]
    length(1) = 0.5_dp*(moment(1) + moment(3)) + hypot(0.5_dp*(moment(1) - moment(3)), moment(2))
    length(2) = max(moment(1)*moment(3) - moment(2)**2, 0.0_dp)/length(1)
    long = ((length(1) - length(2))/(length(1) + length(2)))**2*exp(cmplx(0.0_dp, 4*angle, dp))
    length = sqrt(length)
    call whitened_moments(touching, mean, axis, length, slope, fourth)
    fourth = fourth + of_length*long
    angle_of_points = turned
    if (abs(fourth) > round) then
      angle_of_points = 0.25_dp*atan2(aimag(fourth), real(fourth))
      angle_of_points = angle_of_points + anint((turned - angle_of_points)/(2*atan(1.0_dp)))*(2*atan(1.0_dp))
    end if
    do k = 0, 3
      off = sqrt(2.0_dp)*[cos(angle_of_points + k*2*atan(1.0_dp)), sin(angle_of_points + k*2*atan(1.0_dp))]
      off = matmul(off, axis)
      place(:,k) = mean(1:2) + matmul(axis, length*off)
      height(k) = mean(3) + dot_product(slope(:,1), off)
      gap(k) = mean(4) + dot_product(slope(:,2), off)
    end do
  end subroutine representative_points

  pure function mean_of(touching) result(mean)
    type(touching_area), intent(in) :: touching
    real(dp) :: mean(4)
    integer(i4) :: k

    mean = 0
    do k = 1, touching%count
      mean = mean + (touching%part(k)/touching%area)*sum(touching%corner(:,:,k), 2)/3
    end do
  end function mean_of

  !> Means of x^2, x y and y^2 about the centre.
  pure function second_moments(touching, centre) result(moment)
    type(touching_area), intent(in) :: touching
    real(dp), intent(in) :: centre(2)
    real(dp) :: moment(3), x(2,4)
    integer(i4) :: k, m

    moment = 0
    do k = 1, touching%count
      do m = 1, 3
        x(:,m) = touching%corner(1:2,m,k) - centre
      end do
      x(:,4) = sum(x(:,1:3), 2)
      moment = moment + touching%part(k)/(12*touching%area)*[sum(x(1,:)**2), sum(x(1,:)*x(2,:)), sum(x(2,:)**2)]
    end do
  end function second_moments

  !> In coordinates along the axes of gyration, in their radii: means of these times height and gap, that is slopes of their planes, and the
  !> mean of (x + i y)^4, in which x is the first coordinate of the area.
  pure subroutine whitened_moments(touching, mean, axis, length, slope, fourth)
    type(touching_area), intent(in) :: touching
    real(dp), intent(in) :: mean(4), axis(2,2), length(2)
    real(dp), intent(out) :: slope(2,2)
    complex(dp), intent(out) :: fourth
    real(dp) :: x(4,4), share
    complex(dp) :: z(3), along
    integer(i4) :: k, m

    slope = 0
    fourth = 0
    along = cmplx(axis(1,1), axis(2,1), dp)
    do k = 1, touching%count
      share = touching%part(k)/touching%area
      do m = 1, 3
        x(:,m) = touching%corner(:,m,k) - mean
        x(1:2,m) = matmul(x(1:2,m), axis)/max(length, tiny(1.0_dp))
        if (length(2) <= sqrt(needle)*length(1)) x(2,m) = 0
        z(m) = cmplx(x(1,m), x(2,m), dp)*along
      end do
      x(:,4) = sum(x(:,1:3), 2)
      do m = 1, 2
        slope(:,m) = slope(:,m) + share/12*matmul(x(1:2,:), x(2+m,:))
      end do
      fourth = fourth + share/15*of_degree_four(z)
    end do
  end subroutine whitened_moments

  !> Sum of all products of four of three numbers; over fifteen the mean of z^4 over a triangle with these corners.
  pure complex(dp) function of_degree_four(z) result(total)
    complex(dp), intent(in) :: z(3)
    complex(dp) :: one, two
    integer(i4) :: k

    one = 1
    two = 1
    total = 1
    do k = 1, 4
      one = one*z(1)
      two = two*z(2) + one
      total = total*z(3) + two
    end do
  end function of_degree_four
end module shared_area
