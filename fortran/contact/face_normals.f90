!> Normals of faces at the present places of vertices, of those primitives whose pairs are evaluated.
!>
!> A square root and a division for each face are most of the time in which a free body's shape follows it, and few bodies of
!> a loose packing are near others.  So normals wait until a pair needs them.
module face_normals
  use kinds, only: i4, i8
  use kind_numbers, only: sphere => primitive_sphere  !< lower kinds: polyhedra
  use polyhedra, only: shape_tables, find_normals
  use state_tables, only: workspace
  use thread_work, only: pays
  implicit none
  private
  public :: turn_faces

  integer(i8), parameter :: asked = -1       !< a value of `turned`

contains

  !> Updates the normals of the primitives of `pairs` pairs whose bodies have moved since their normals were computed.
  !>
  !>   one, two    (:) primitive rows
  !>   work        reads `moved` and `updates`; `turned` of primitives: inout
  subroutine turn_faces(pairs, one, two, shapes, work)
    integer(i4), intent(in) :: pairs, one(0:), two(0:)
    type(shape_tables), intent(in) :: shapes
    type(workspace), intent(in) :: work
    integer :: i, k
    logical :: any_asked

    any_asked = .false.
    !$omp parallel if (pays(pairs, 30))
    !$omp do schedule(static) reduction(.or.:any_asked)
    do k = 0, pairs - 1
      call ask(one(k), shapes, work, any_asked)
      call ask(two(k), shapes, work, any_asked)
    end do
    !$omp end do
    if (any_asked) then
      !$omp do schedule(static)
      do i = 0, shapes%primitives - 1
        if (work%turned(i) /= asked) cycle
        call find_normals(i, shapes)
        work%turned(i) = work%updates
      end do
      !$omp end do
    end if
    !$omp end parallel
  end subroutine turn_faces

  !> Marks a polyhedron whose normals are those of an earlier place; several threads may mark the same one.
  subroutine ask(primitive, shapes, work, any_asked)
    integer(i4), intent(in) :: primitive
    type(shape_tables), intent(in) :: shapes
    type(workspace), intent(in) :: work
    logical, intent(inout) :: any_asked
    integer(i8) :: turned

    if (shapes%kind(primitive) >= sphere) return
    !$omp atomic read
    turned = work%turned(primitive)
    if (turned >= work%moved(shapes%body(primitive))) return
    !$omp atomic write
    work%turned(primitive) = asked
    any_asked = .true.
  end subroutine ask

end module face_normals
