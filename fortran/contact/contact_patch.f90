!> Patches of up to four points where faces of two polyhedra lie on each other.
module contact_patch
  use kinds, only: dp, i4
  use matrix3, only: cross
  use polygon_cut, only: cut
  use polyhedra, only: shape_tables
  use state_tables, only: narrow_result, patch_result
  use kind_numbers, only: sphere => primitive_sphere
  use thread_work, only: pays
  implicit none
  private
  public :: find_patches

  real(dp), parameter :: facing = 0.985_dp     !< cosine of the angle (10 degrees) up to which faces count as lying on each other
  real(dp), parameter :: turned = 0.9817_dp    !< angle of the first slot's direction from the slave face's first edge,
                                               !< away from diagonals and edges of regular shapes

contains

  !> Replaces single points of contacts between faces by up to four corners of the area that the faces share.
  !>
  !> The faces of each body that point along the contact's normal are taken.  The slave's faces are clipped by the sides of the
  !> prisms over the master's and by the planes where the local gap is `reach`.  The slots are the corners furthest along
  !> four directions fixed to the slave's first such face, so that a corner keeps its slot from step to step.
  !>
  !>   pairs              number of pairs
  !>   first, second      (:) primitive rows, the slave (of polyhedra) first
  !>   reach              largest local gap [length]
  !>   with_gap           1: gaps may be positive
  !>   results            results of the narrow phase, see `find_contacts`
  !>   patches            all columns are written; slots are 1 where the contact has one point
  subroutine find_patches(pairs, first, second, reach, with_gap, tables, results, patches)
    integer(i4), intent(in) :: first(0:), second(0:)
    type(shape_tables), intent(in) :: tables
    type(narrow_result), intent(in) :: results
    type(patch_result), intent(in) :: patches
    integer(i4), intent(in) :: pairs, with_gap
    real(dp), intent(in) :: reach
    real(dp), allocatable :: polygon(:,:), spare(:,:)
    integer :: k, most

    most = 2*maxval(tables%corner_count) + 4
    !$omp parallel if (pays(pairs, 300)) private(polygon, spare)
    allocate (polygon(3,most), spare(3,most))
    !$omp do schedule(dynamic, 32)
    do k = 0, pairs - 1
      patches%slots(k) = 1
      if (results%status(k) /= 1) cycle
      patches%point(:,1,k) = 0.5_dp*(results%slave_point(:,k) + results%master_point(:,k))
      patches%gap(1,k) = results%gap(k)
      if (max(tables%kind(first(k)), tables%kind(second(k))) >= sphere) cycle
      call find_patch(tables, first(k), second(k), results%normal(:,k), reach, with_gap, polygon, spare, patches%slots(k), &
        patches%point(:,:,k), patches%gap(:,k))
    end do
    !$omp end do
    !$omp end parallel
  end subroutine find_patches

  !> First outer face with from <= row < `end` whose normal is near a direction; -1: there is none.
  pure integer function facing_face(from, end, normal, direction)
    integer, intent(in) :: from, end
    real(dp), intent(in) :: normal(3,0:*), direction(3)
    integer :: i

    facing_face = -1
    do i = from, end - 1
      if (dot_product(normal(:,i), direction) <= facing) cycle
      facing_face = i
      return
    end do
  end function facing_face

  !> Computes the patch of two bodies; nothing changes if they share less than two separate corners.
  subroutine find_patch(tables, first, second, normal, reach, with_gap, polygon, spare, slots, points, gaps)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: first, second
    integer(i4), intent(in) :: with_gap
    real(dp), intent(in) :: normal(3), reach
    real(dp), intent(inout) :: polygon(:,:), spare(:,:)
    integer(i4), intent(inout) :: slots
    real(dp), intent(inout) :: points(3,0:3), gaps(0:3)
    real(dp) :: edge(3), across(3), direction(3,0:3), origin(3), best(0:3), place(3,0:3), level(0:3), span, slope(3), from(3)
    integer :: one, two, k, m, count

    one = facing_face(tables%face_ptr(first), tables%face_ptr(first) + tables%outer_count(first), tables%normal, normal)
    if (one < 0) return
    origin = tables%current(:,tables%corner_vertex(tables%corner_ptr(one)))
    edge = tables%current(:,tables%corner_vertex(tables%corner_ptr(one)+1)) - origin
    edge = edge/norm2(edge)
    across = cross(tables%normal(:,one), edge)
    do k = 0, 3
      direction(:,k) = cos(turned + k*2*atan(1.0_dp))*edge + sin(turned + k*2*atan(1.0_dp))*across
    end do
    best = -huge(best)
    span = 0.0_dp
    do while (one >= 0)
      two = facing_face(tables%face_ptr(second), tables%face_ptr(second) + tables%outer_count(second), tables%normal, -normal)
      do while (two >= 0)
        call share(tables%corner_count(one), tables%corner_vertex(tables%corner_ptr(one):), tables%corner_count(two), &
          tables%corner_vertex(tables%corner_ptr(two):), tables%normal(:,two), tables%current, origin, normal, &
          reach, count, polygon, spare, span, slope, from)
        do m = 1, count
          do k = 0, 3
            if (dot_product(direction(:,k), polygon(:,m)) <= best(k)) cycle
            best(k) = dot_product(direction(:,k), polygon(:,m))
            place(:,k) = polygon(:,m)
            level(k) = dot_product(slope, polygon(:,m) - from)
          end do
        end do
        two = facing_face(two + 1, tables%face_ptr(second) + tables%outer_count(second), tables%normal, -normal)
      end do
      one = facing_face(one + 1, tables%face_ptr(first) + tables%outer_count(first), tables%normal, normal)
    end do
    if (best(0) <= -huge(best)) return

    slots = 0
    do k = 0, 3
      if (any([(maxval(abs(place(:,m) - place(:,k))) <= 1.0e-9_dp*span, m = 0, k - 1)])) cycle
      slots = ibset(slots, k)
      points(:,k) = origin + place(:,k) + 0.5_dp*level(k)*normal
      gaps(k) = level(k)
      if (with_gap == 0) gaps(k) = min(0.0_dp, level(k))
    end do
  end subroutine find_patch

  !> The part of a face of the first body, relative to `origin`, that lies over a face of the second and is not further
  !> from it than `reach`; its distance along the contact's normal is slope.(x - from).
  subroutine share(count_one, corner_one, count_two, corner_two, normal_two, current, origin, normal, reach, count, polygon, &
      spare, span, slope, from)
    integer(i4), intent(in) :: count_one, corner_one(count_one), count_two, corner_two(count_two)
    real(dp), intent(in) :: normal_two(3), current(3,0:*), origin(3), normal(3), reach
    integer, intent(out) :: count
    real(dp), intent(inout) :: polygon(:,:), spare(:,:), span
    real(dp), intent(out) :: slope(3), from(3)
    real(dp) :: edge(3), side(3)
    integer :: k

    count = count_one
    do k = 1, count
      polygon(:,k) = current(:,corner_one(k)) - origin
      span = max(span, maxval(abs(polygon(:,k))))
    end do
    from = current(:,corner_two(1)) - origin
    slope = -normal_two/dot_product(normal_two, normal)
    do k = 1, count_two
      side = current(:,corner_two(k)) - origin
      edge = current(:,corner_two(merge(k+1, 1, k < count_two))) - origin - side
      edge = cross(edge, normal_two)
      call cut(edge, dot_product(edge, side), count, polygon, spare)
    end do
    call cut(slope, dot_product(slope, from) + reach, count, polygon, spare)
    if (count < 3) count = 0
  end subroutine share

end module contact_patch
