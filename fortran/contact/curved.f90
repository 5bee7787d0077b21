!> Closed forms of contacts of spheres with spheres and with polyhedra.  Their area is 1 by definition.
module curved
  use kinds, only: dp, i4
  use polyhedra, only: polyhedron
  use contact_record, only: contact_data
  use polyhedron_contact, only: outer_plane
  use gjk, only: closest_points
  implicit none
  private
  public :: contact_of_spheres, contact_with_sphere

contains

  !> Spheres touch when their distance is below `reach`.  The normal points from slave to master (along e_x when the
  !> centres coincide); overlapping spheres share the middle of their facing surface points.
  pure subroutine contact_of_spheres(slave_centre, slave_radius, master_centre, master_radius, reach, with_gap, contact)
    real(dp), intent(in) :: slave_centre(3), slave_radius, master_centre(3), master_radius, reach
    logical, intent(in) :: with_gap  !< gaps may be positive
    type(contact_data), intent(inout) :: contact
    real(dp) :: distance, radii
    contact%normal = master_centre - slave_centre
    distance = norm2(contact%normal)
    radii = slave_radius + master_radius
    contact%found = distance - radii < reach
    if (.not. contact%found) return
    if (distance > 1.0e-14_dp*radii) then
      contact%normal = contact%normal/distance
    else
      contact%normal = [1.0_dp, 0.0_dp, 0.0_dp]
    end if
    contact%slave_point = slave_centre + slave_radius*contact%normal
    contact%master_point = master_centre - master_radius*contact%normal
    if (distance <= radii) then
      contact%slave_point = 0.5_dp*(contact%slave_point + contact%master_point)
      contact%master_point = contact%slave_point
    end if
    contact%gap = distance - radii
    if (.not. with_gap) contact%gap = min(0.0_dp, contact%gap)
    contact%area = 1
    contact%degenerate = .false.
    contact%face = 0
  end subroutine contact_of_spheres

  !> A polyhedron, which is always the slave, touches a sphere if its point closest to the centre is nearer than radius +
  !> `reach`.  A centre inside belongs to the outer plane under which it is least deep.  There is no contact where the
  !> closest point is in the relative interior of an internal face of an element.
  pure subroutine contact_with_sphere(body, centre, radius, reach, with_gap, size, contact)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: centre(3), radius, reach  !< `centre` relative to the pair's centre
    logical, intent(in) :: with_gap                   !< gaps may be positive
    real(dp), intent(in) :: size                        !< of the pair
    type(contact_data), intent(inout) :: contact
    real(dp) :: x(8, 3), distance, closest(3), other(3), no_shift(3), level, deepest, outermost, small
    logical :: failed
    integer(i4) :: i, face

    contact%found = .false.
    if (body%outer == 0) return
    small = 1.0e-12_dp*size
    outermost = -huge(outermost)
    deepest = -huge(deepest)
    do i = 1, body%faces
      level = dot_product(body%plane(1:3, i), centre) - body%plane(4, i)
      outermost = max(outermost, level)
      if (i <= body%outer .and. level > deepest) then
        deepest = level
        face = i
      end if
    end do
    if (outermost >= radius + reach) return

    distance = 0
    if (outermost > small) then
      no_shift = 0
      do i = 1, 8
        x(i, :) = centre
      end do
      call closest_points(body%padded, ubound(body%x, 1), body%x, 8, 8, x, no_shift, centre, size, distance, closest, &
                          other, failed)
      if (distance >= radius + reach) return
    end if
    if (distance > small) then
      contact%normal = (centre - closest)/distance
      if (in_internal_face(body, contact%normal, closest, size)) return
      contact%slave_point = closest
      contact%gap = distance - radius
      if (.not. with_gap) contact%gap = min(0.0_dp, contact%gap)
      contact%face(1) = outer_plane(body, closest, size)
    else
      contact%normal = body%plane(1:3, face)
      contact%slave_point = centre - deepest*contact%normal
      contact%gap = min(0.0_dp, deepest - radius)
      contact%face(1) = face
    end if
    contact%found = .true.
    contact%face(2) = 0
    contact%master_point = centre - radius*contact%normal
    contact%area = 1
    contact%degenerate = .false.
  end subroutine contact_with_sphere

  !> Whether a surface point with this outward direction lies in the relative interior of an internal face.
  pure logical function in_internal_face(body, normal, point, size)
    type(polyhedron), intent(in) :: body
    real(dp), intent(in) :: normal(3), point(3), size
    real(dp) :: level
    integer(i4) :: i, j
    in_internal_face = .false.
    do i = body%outer + 1, body%faces
      if (dot_product(body%plane(1:3, i), normal) < 1 - 1.0e-12_dp) cycle
      in_internal_face = .true.
      do j = 1, body%faces
        if (dot_product(body%plane(1:3, j), body%plane(1:3, i)) > 1 - 1.0e-12_dp) cycle
        level = dot_product(body%plane(1:3, j), point) - body%plane(4, j)
        if (level > -1.0e-9_dp*size) in_internal_face = .false.
      end do
      if (in_internal_face) return
    end do
  end function in_internal_face
end module curved
