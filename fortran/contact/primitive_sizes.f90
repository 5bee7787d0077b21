!> Sizes of primitives, of which margins are parts (docs/contact-points.md).
module primitive_sizes
  use kinds, only: dp, i4, i8
  use kind_numbers, only: sphere => primitive_sphere, ellipsoid => primitive_ellipsoid  !< lower ones: polyhedra
  use state_tables, only: geometry_tables, open_geometry_tables
  use table_registry, only: table_open
  implicit none
  private
  public :: find_sizes

contains

  !> Finds sizes in the reference placement: largest diameters, and of polyhedra the largest width across a face, which is the longest
  !> side of a box.
  !>
  !>   handles   of vertices, vertex lists, corners, faces and primitives
  !>   sizes     (0:primitives-1) out
  !>   status    100: a handle is void
  subroutine find_sizes(handles, sizes, primitives, status)
    integer(i4), intent(in) :: primitives
    integer(i8), intent(in) :: handles(5)
    real(dp), intent(inout) :: sizes(0:primitives-1)
    integer(i4), intent(out) :: status
    type(geometry_tables) :: geometry
    integer :: i, k

    call open_geometry_tables(handles, geometry, status)
    if (status /= table_open) return
    associate (rows => geometry%primitives)
      do i = 0, primitives - 1
        select case (rows%kind(i))
        case (sphere)
          sizes(i) = 2*rows%radius(i)
        case (ellipsoid)
          sizes(i) = 2*maxval(rows%radii(:,i))
        case default
          sizes(i) = 0
          do k = rows%face_ptr(i), rows%face_ptr(i) + rows%face_count(i) - 1
            sizes(i) = max(sizes(i), width_along(normal_of(geometry, k), geometry, i))
          end do
        end select
      end do
    end associate
  end subroutine find_sizes

  !> Unit normal of a face in the reference placement, of all its corners, since it may be warped; zero where it has no area.
  pure function normal_of(geometry, face) result(normal)
    type(geometry_tables), intent(in) :: geometry
    integer, intent(in) :: face
    real(dp) :: normal(3), u(3), v(3)
    integer(i4) :: first
    integer :: k

    normal = 0
    first = geometry%faces%corner_ptr(face)
    associate (corner => geometry%corners%vertex, at => geometry%vertices%reference)
      v = at(:,corner(first+1)) - at(:,corner(first))
      do k = first + 2, first + geometry%faces%corner_count(face) - 1
        u = v
        v = at(:,corner(k)) - at(:,corner(first))
        normal = normal + [u(2)*v(3) - u(3)*v(2), u(3)*v(1) - u(1)*v(3), u(1)*v(2) - u(2)*v(1)]
      end do
    end associate
    if (any(abs(normal) > 0)) normal = normal/norm2(normal)
  end function normal_of

  !> Width of a polyhedron along a direction in the reference placement.
  pure real(dp) function width_along(direction, geometry, primitive)
    real(dp), intent(in) :: direction(3)
    type(geometry_tables), intent(in) :: geometry
    integer, intent(in) :: primitive
    real(dp) :: place, lowest, highest, origin(3)
    integer(i4) :: first
    integer :: k

    first = geometry%primitives%vertex_ptr(primitive)
    lowest = 0
    highest = 0
    associate (vertex => geometry%vertex_lists%vertex, at => geometry%vertices%reference)
      origin = at(:,vertex(first))
      do k = first + 1, first + geometry%primitives%vertex_count(primitive) - 1
        place = dot_product(direction, at(:,vertex(k)) - origin)
        lowest = min(lowest, place)
        highest = max(highest, place)
      end do
    end associate
    width_along = highest - lowest
  end function width_along
end module primitive_sizes
