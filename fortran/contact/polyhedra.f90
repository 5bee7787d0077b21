!> Local copies of the polyhedra of one pair, and the tables they are copied from.
!>
!> Coordinates are taken relative to the centre of the pair, so that plane distances lose no digits far from the
!> origin.  Every vertex carries bit masks of the other body's planes that it touches or lies beyond: AND over a
!> face (or over all vertices) rejects it, OR lists the planes that can cut it.
module polyhedra
  use kinds, only: dp, i4, i8
  implicit none
  private
  public :: shape_tables, polyhedron, lanes, word_bits, reserve_polyhedron, gather_polyhedron, mark_vertices

  integer(i4), parameter :: lanes = 8       !< vertices handled together; vertex arrays are padded to a multiple
  integer(i4), parameter :: word_bits = 64  !< planes per mask word

  !> Columns of the geometry tables (see solfec/contact/geometry.py); all arrays start at 0.
  type :: shape_tables
    integer(i4), pointer, contiguous :: kind(:), surface(:), vertex_ptr(:), vertex_count(:)  !< of primitives
    integer(i4), pointer, contiguous :: face_ptr(:), face_count(:), outer_count(:)           !< of primitives
    real(dp), pointer, contiguous :: radius(:), box(:, :)                                    !< of primitives
    integer(i4), pointer, contiguous :: vertex_list(:)                                       !< vertex numbers
    integer(i4), pointer, contiguous :: corner_ptr(:), corner_count(:), face_surface(:)      !< of faces
    real(dp), pointer, contiguous :: normal(:, :)                                            !< of faces
    integer(i4), pointer, contiguous :: corner(:)   !< corners of faces, numbers within the primitive's vertex list
    real(dp), pointer, contiguous :: current(:, :)  !< vertices
  end type shape_tables

  !> One convex polyhedron in coordinates relative to the centre of the pair.
  type :: polyhedron
    integer(i4) :: vertices, faces, outer  !< numbers of vertices, of faces, of leading faces on the body's surface
    integer(i4) :: padded                  !< vertices rounded up to full lanes (the last one repeated)
    integer(i4) :: first_face              !< row of the first face in the face table
    real(dp), allocatable :: x(:, :)       !< (padded, 3) coordinates, for sweeps over vertices
    real(dp), allocatable :: point(:, :)   !< (4, vertices) the same and a zero, for copies of single vertices
    real(dp), allocatable :: plane(:, :)   !< (4, faces) unit outward normal, distance of the plane from the centre
    integer(i8), allocatable :: touching(:, :)  !< (padded, words) planes of the other body with distance > -tolerance
  end type polyhedron

contains

  !> Makes room for polyhedra of up to `vertices` vertices and `faces` faces meeting one of as many.
  subroutine reserve_polyhedron(body, vertices, faces)
    type(polyhedron), intent(inout) :: body
    integer(i4), intent(in) :: vertices, faces
    integer(i4) :: padded, words
    padded = lanes*((vertices + lanes - 1)/lanes)
    words = (faces + word_bits - 1)/word_bits
    allocate (body%x(padded, 3), body%point(4, padded), body%plane(4, faces))
    allocate (body%touching(padded, words))
  end subroutine reserve_polyhedron

  !> Copies primitive `row` of the tables; coordinates relative to `centre`.
  subroutine gather_polyhedron(tables, row, centre, body)
    type(shape_tables), intent(in) :: tables
    integer(i4), intent(in) :: row
    real(dp), intent(in) :: centre(3)
    type(polyhedron), intent(inout) :: body
    integer(i4) :: i, face, base
    body%vertices = tables%vertex_count(row)
    body%padded = lanes*((body%vertices + lanes - 1)/lanes)
    body%faces = tables%face_count(row)
    body%outer = tables%outer_count(row)
    body%first_face = tables%face_ptr(row)
    call gather_vertices(body%vertices, tables%vertex_list(tables%vertex_ptr(row):), tables%current, centre, body%point)
    do i = 1, body%padded
      body%x(i, 1) = body%point(1, min(i, body%vertices))
      body%x(i, 2) = body%point(2, min(i, body%vertices))
      body%x(i, 3) = body%point(3, min(i, body%vertices))
    end do
    do i = 1, body%faces
      face = body%first_face + i - 1
      base = tables%corner(tables%corner_ptr(face)) + 1
      body%plane(1:3, i) = tables%normal(:, face)
      body%plane(4, i) = tables%normal(1, face)*body%point(1, base) + tables%normal(2, face)*body%point(2, base) &
                         + tables%normal(3, face)*body%point(3, base)
    end do
  end subroutine gather_polyhedron

  pure subroutine gather_vertices(count, list, current, centre, point)
    integer(i4), intent(in) :: count, list(count)
    real(dp), intent(in) :: current(3, 0:*), centre(3)
    real(dp), intent(inout) :: point(4, count)
    integer(i4) :: i
    do i = 1, count
      point(1:3, i) = current(:, list(i)) - centre
      point(4, i) = 0
    end do
  end subroutine gather_vertices

  !> Marks the vertices of `body` that touch or lie beyond planes of `other`; `separated` when all vertices lie
  !> beyond one plane by more than `tolerance`.
  subroutine mark_vertices(body, other, tolerance, separated)
    type(polyhedron), intent(inout) :: body
    type(polyhedron), intent(in) :: other
    real(dp), intent(in) :: tolerance
    logical, intent(out) :: separated
    integer(i4) :: word, first, last, plane
    integer(i8) :: every
    separated = .false.
    do word = 1, (other%faces + word_bits - 1)/word_bits
      first = (word - 1)*word_bits + 1
      last = min(word*word_bits, other%faces)
      call mark_word(size(body%x, 1), body%padded, body%x, last - first + 1, other%plane(1, first), tolerance, &
                     body%touching(1, word), every)
      do while (every /= 0)  ! all vertices touch these planes: do all lie beyond?
        plane = first + trailz(every)
        every = iand(every, every - 1)
        separated = lowest(size(body%x, 1), body%padded, body%x, other%plane(1, plane)) > tolerance
        if (separated) return
      end do
    end do
  end subroutine mark_vertices

  pure subroutine mark_word(stride, padded, x, planes, plane, tolerance, touching, every)
    integer(i4), intent(in) :: stride, padded, planes
    real(dp), intent(in) :: x(stride, 3), plane(4, planes), tolerance
    integer(i8), intent(inout) :: touching(padded)
    integer(i8), intent(out) :: every  !< planes that all vertices touch
    integer(i8) :: near(lanes), bit
    real(dp) :: level
    integer(i4) :: first, i, k
    every = not(0_i8)
    do first = 0, padded - 1, lanes
      near = 0
      bit = 1
      do i = 1, planes
        level = plane(4, i) - tolerance
        do k = 1, lanes
          near(k) = ior(near(k), merge(bit, 0_i8, plane(1, i)*x(first + k, 1) + plane(2, i)*x(first + k, 2) &
                                       + plane(3, i)*x(first + k, 3) > level))
        end do
        bit = shiftl(bit, 1)
      end do
      do k = 1, lanes
        touching(first + k) = near(k)
        every = iand(every, near(k))
      end do
    end do
  end subroutine mark_word

  !> Least distance of vertices from a plane.
  pure real(dp) function lowest(stride, padded, x, plane)
    integer(i4), intent(in) :: stride, padded
    real(dp), intent(in) :: x(stride, 3), plane(4)
    integer(i4) :: k
    lowest = huge(lowest)
    do k = 1, padded
      lowest = min(lowest, plane(1)*x(k, 1) + plane(2)*x(k, 2) + plane(3)*x(k, 3) - plane(4))
    end do
  end function lowest
end module polyhedra
