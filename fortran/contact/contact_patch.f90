!> Patches of up to four points where faces of two polyhedra lie on each other.
module contact_patch
  use kinds, only: dp, i4
  implicit none
  private
  public :: find_patches

  integer(i4), parameter :: sphere = 2
  real(dp), parameter :: facing = 0.985_dp     !< cosine of the angle (10 degrees) up to which faces lie on each other
  real(dp), parameter :: turned = 0.9817_dp    !< angle of the first slot's direction from the slave face's first edge:
                                               !< not along diagonals or edges that regular shapes have
  integer, parameter :: parallel_from = 200

contains

  !> Replaces single points of contacts between faces by up to four corners of the area that the faces share.
  !>
  !> The face of each body nearest to the contact's normal is taken.  The slave's face is clipped by the sides of the
  !> prism over the master's and by the plane where the local gap is `reach`; the slots are the corners furthest along
  !> four directions that are fixed to the slave's face, so that a corner keeps its slot from step to step.
  !>
  !>   pairs              number of pairs
  !>   first, second      (:) primitive rows, the slave (of polyhedra) first
  !>   reach              largest local gap [length]
  !>   with_gap           1: gaps may be positive
  !>   kind, face_ptr, outer_count   (:) of primitives
  !>   corner_ptr, corner_count   (:) of faces; corner (:) vertex numbers of faces
  !>   face_normal        (3,:) of faces; current (3,:) vertices
  !>   status, normal, gap, slave_point, master_point   what the narrow phase found, see `find_contacts`
  !>   slots              (:) bits of the slots in use, out; 1 where the contact has one point
  !>   points, gaps       (3,4,:) points half way between the bodies, (4,:) local gaps, out
  subroutine find_patches(pairs, first, second, reach, with_gap, kind, face_ptr, outer_count, corner_ptr, corner_count, &
      corner, face_normal, current, status, normal, gap, slave_point, master_point, slots, points, gaps, npair, &
      primitives, faces, corners, vertices, results, patches)
    integer(i4), intent(in) :: pairs, with_gap, npair, primitives, faces, corners, vertices, results, patches
    integer(i4), intent(in) :: first(0:npair-1), second(0:npair-1)
    real(dp), intent(in) :: reach
    integer(i4), intent(in) :: kind(0:primitives-1), face_ptr(0:primitives-1), outer_count(0:primitives-1)
    integer(i4), intent(in) :: corner_ptr(0:faces-1), corner_count(0:faces-1), corner(0:corners-1)
    real(dp), intent(in) :: face_normal(3,0:faces-1), current(3,0:vertices-1)
    integer(i4), intent(in) :: status(0:results-1)
    real(dp), intent(in) :: normal(3,0:results-1), gap(0:results-1)
    real(dp), intent(in) :: slave_point(3,0:results-1), master_point(3,0:results-1)
    integer(i4), intent(inout) :: slots(0:patches-1)
    real(dp), intent(inout) :: points(3,0:3,0:patches-1), gaps(0:3,0:patches-1)
    real(dp), allocatable :: polygon(:,:), spare(:,:)
    integer :: k, one, two, most

    most = 2*maxval(corner_count) + 4
    !$omp parallel if (pairs > parallel_from) private(polygon, spare, one, two)
    allocate (polygon(3,most), spare(3,most))
    !$omp do schedule(dynamic, 32)
    do k = 0, pairs - 1
      slots(k) = 1
      if (status(k) /= 1) cycle
      points(:,0,k) = 0.5_dp*(slave_point(:,k) + master_point(:,k))
      gaps(0,k) = gap(k)
      if (max(kind(first(k)), kind(second(k))) >= sphere) cycle
      one = facing_face(face_ptr(first(k)), outer_count(first(k)), face_normal, normal(:,k))
      two = facing_face(face_ptr(second(k)), outer_count(second(k)), face_normal, -normal(:,k))
      if (one < 0 .or. two < 0) cycle
      call find_patch(corner_count(one), corner(corner_ptr(one)), face_normal(:,one), corner_count(two), &
        corner(corner_ptr(two)), face_normal(:,two), current, normal(:,k), reach, with_gap, polygon, spare, slots(k), &
        points(:,:,k), gaps(:,k))
    end do
    !$omp end do
    !$omp end parallel
  end subroutine find_patches

  !> The outer face whose normal is nearest to a direction; -1: it is not near enough.
  pure integer function facing_face(start, count, normal, direction)
    integer(i4), intent(in) :: start, count
    real(dp), intent(in) :: normal(3,0:*), direction(3)
    real(dp) :: best, cosine
    integer :: i

    facing_face = -1
    best = facing
    do i = start, start + count - 1
      cosine = dot_product(normal(:,i), direction)
      if (cosine <= best) cycle
      best = cosine
      facing_face = i
    end do
  end function facing_face

  !> The patch of two faces; nothing changes where they share less than two separate corners.
  subroutine find_patch(count_one, corner_one, normal_one, count_two, corner_two, normal_two, current, normal, reach, &
      with_gap, polygon, spare, slots, points, gaps)
    integer(i4), intent(in) :: count_one, corner_one(count_one), count_two, corner_two(count_two), with_gap
    real(dp), intent(in) :: normal_one(3), normal_two(3), current(3,0:*), normal(3), reach
    real(dp), intent(inout) :: polygon(:,:), spare(:,:)
    integer(i4), intent(inout) :: slots
    real(dp), intent(inout) :: points(3,0:3), gaps(0:3)
    real(dp) :: from(3), edge(3), side(3), slope(3), across(3), direction(3), origin(3), level, span
    integer :: k, m, count, chosen(0:3)

    origin = current(:,corner_one(1))
    count = count_one
    span = 0.0_dp
    do k = 1, count
      polygon(:,k) = current(:,corner_one(k)) - origin
      span = max(span, maxval(abs(polygon(:,k))))
    end do
    do k = 1, count_two
      from = current(:,corner_two(k)) - origin
      edge = current(:,corner_two(merge(k+1, 1, k < count_two))) - origin - from
      side = cross(edge, normal_two)
      call cut(side, dot_product(side, from), count, polygon, spare)
      if (count < 3) return
    end do
    from = current(:,corner_two(1)) - origin
    slope = -normal_two/dot_product(normal_two, normal)
    call cut(slope, dot_product(slope, from) + reach, count, polygon, spare)
    if (count < 3) return

    edge = current(:,corner_one(2)) - current(:,corner_one(1))
    edge = edge/norm2(edge)
    across = cross(normal_one, edge)
    do k = 0, 3
      direction = cos(turned + k*2*atan(1.0_dp))*edge + sin(turned + k*2*atan(1.0_dp))*across
      chosen(k) = 1
      do m = 2, count
        if (dot_product(direction, polygon(:,m)) > dot_product(direction, polygon(:,chosen(k)))) chosen(k) = m
      end do
    end do
    slots = 0
    do k = 0, 3
      if (any([(maxval(abs(polygon(:,chosen(m)) - polygon(:,chosen(k)))) <= 1.0e-9_dp*span, m = 0, k - 1)])) cycle
      slots = ibset(slots, k)
      level = dot_product(slope, polygon(:,chosen(k)) - from)
      points(:,k) = origin + polygon(:,chosen(k)) + 0.5_dp*level*normal
      gaps(k) = level
      if (with_gap == 0) gaps(k) = min(0.0_dp, level)
    end do
  end subroutine find_patch

  !> Cuts off the part of a polygon where normal.x > level.
  subroutine cut(normal, level, count, polygon, spare)
    real(dp), intent(in) :: normal(3), level
    integer, intent(inout) :: count
    real(dp), intent(inout) :: polygon(:,:), spare(:,:)
    real(dp) :: here, there
    integer :: k, next, kept

    kept = 0
    do k = 1, count
      next = merge(k + 1, 1, k < count)
      here = dot_product(normal, polygon(:,k)) - level
      there = dot_product(normal, polygon(:,next)) - level
      if (here <= 0.0_dp) then
        kept = kept + 1
        spare(:,kept) = polygon(:,k)
      end if
      if ((here < 0.0_dp .and. there > 0.0_dp) .or. (here > 0.0_dp .and. there < 0.0_dp)) then
        if (kept == size(spare, 2)) cycle
        kept = kept + 1
        spare(:,kept) = polygon(:,k) + (here/(here - there))*(polygon(:,next) - polygon(:,k))
      end if
    end do
    count = kept
    polygon(:,1:count) = spare(:,1:count)
  end subroutine cut

  pure function cross(a, b) result(c)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: c(3)

    c = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function cross

end module contact_patch
