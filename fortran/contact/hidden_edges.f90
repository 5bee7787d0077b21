!> Contacts of a sphere or ellipsoid with edges that lie in the plane of a face on which it already rests.
!>
!> A ball on flush tiles is nearest to the next tile at that tile's edge.  The normal there leans against the motion of the ball,
!> which would lose speed at every seam.  But a ball cannot meet an edge that does not rise above the face under it before it
!> leaves that face.  Where the next face rises, as in a bowl, the ball will meet that face.
module hidden_edges
  use kinds, only: dp, i4
  use kind_numbers, only: sphere => primitive_sphere  !< lower kinds: polyhedra
  use body_state, only: bodies_and_triples
  use polyhedra, only: shape_tables
  use state_tables, only: constraint_table
  use contacts, only: frame, referential
  use narrow_phase, only: axes_of, centre_of
  implicit none
  private
  public :: replace_hidden_edges

  real(dp), parameter :: one_direction = 1.0_dp - 1.0e-10_dp  !< least cosine of the angle between equal normals
  real(dp), parameter :: rising = 1.0e-6_dp                   !< least angle between faces that are not flush
  integer(i4), parameter :: nobody = -1

contains

  !> Replaces or removes contacts of spheres and ellipsoids with edges and corners of polyhedra that do not rise, by more than epsilon,
  !> above a face of another polyhedron in contact with the same sphere or ellipsoid.  A contact whose own face rises from that face becomes
  !> a contact with its own face; others are marked for removal.  Cohesive contacts stay unchanged.
  !>
  !>   first, last    rows first <= k < last are contacts; point, master_point, slave_point, base, gap: inout
  !>   epsilon        [length]
  !>   keep           (:) 1: stays, row by row from `first`, out
  !>   hidden         number of contacts that do not stay
  subroutine replace_hidden_edges(first, last, epsilon, state, shapes, rows, keep, hidden)
    integer(i4), intent(in) :: first, last
    real(dp), intent(in) :: epsilon
    type(bodies_and_triples), intent(in) :: state
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(inout) :: keep(0:)
    integer(i4), intent(out) :: hidden
    integer(i4), allocatable :: latest(:), before(:)  ! contact rows of every curved primitive, as linked lists
    logical, allocatable :: on_face(:)
    integer(i4) :: k, shared, face, carrier

    hidden = 0
    keep(0:last-first-1) = 1
    call list_contacts
    if (shared == 0) return

    allocate (on_face(first:last-1), source=.false.)
    do k = first, last - 1
      if (.not. meets_polyhedron(k)) cycle
      face = foremost_face(k)
      on_face(k) = dot_product(shapes%normal(:,face), rows%base(:,3,k)) > one_direction
    end do
    do k = first, last - 1
      if (.not. meets_polyhedron(k) .or. on_face(k) .or. rows%cohesion(k) > 0.0_dp) cycle
      carrier = carrying_contact(k)
      if (carrier == nobody) cycle
      face = foremost_face(k)
      associate (away => place(carrier) - place(k))
        if (dot_product(away, shapes%normal(:,face)) > rising*norm2(away)) then
          call turn_to_face(k, shapes%normal(:,face))
        else
          keep(k-first) = 0
          hidden = hidden + 1
        end if
      end associate
    end do

  contains

    subroutine list_contacts
      integer(i4) :: k

      allocate (latest(0:shapes%primitives-1), source=nobody)
      allocate (before(first:last-1))
      shared = 0
      do k = first, last - 1
        if (.not. meets_polyhedron(k)) cycle
        associate (own => rows%master_primitive(k))
          if (latest(own) /= nobody) shared = shared + 1
          before(k) = latest(own)
          latest(own) = k
        end associate
      end do
    end subroutine list_contacts

    !> Polyhedra are slaves of spheres and ellipsoids.
    pure logical function meets_polyhedron(k)
      integer(i4), intent(in) :: k

      meets_polyhedron = shapes%kind(rows%master_primitive(k)) >= sphere .and. shapes%kind(rows%slave_primitive(k)) < sphere
    end function meets_polyhedron

    !> The outer face of the polyhedron whose normal is nearest to that of the contact.
    pure integer(i4) function foremost_face(k) result(face)
      integer(i4), intent(in) :: k
      integer(i4) :: i
      real(dp) :: cosine, largest

      face = nobody
      largest = -2.0_dp
      associate (of => rows%slave_primitive(k))
        do i = shapes%face_ptr(of), shapes%face_ptr(of) + shapes%outer_count(of) - 1
          cosine = dot_product(shapes%normal(:,i), rows%base(:,3,k))
          if (cosine <= largest) cycle
          largest = cosine
          face = i
        end do
      end associate
    end function foremost_face

    !> A contact of the same sphere or ellipsoid with a face above which the place of contact k does not rise.
    pure integer(i4) function carrying_contact(k) result(other)
      integer(i4), intent(in) :: k

      other = latest(rows%master_primitive(k))
      do while (other /= nobody)
        if (on_face(other)) then
          if (dot_product(place(k) - place(other), rows%base(:,3,other)) <= epsilon) return
        end if
        other = before(other)
      end do
    end function carrying_contact

    !> The contact's point on the polyhedron.
    pure function place(k)
      integer(i4), intent(in) :: k
      real(dp) :: place(3)

      place = rows%point(:,k) - rows%gap(k)*rows%base(:,3,k)
    end function place

    !> Turns contact k into a contact with the plane of its face.
    subroutine turn_to_face(k, normal)
      integer(i4), intent(in) :: k
      real(dp), intent(in) :: normal(3)
      real(dp) :: edge(3), axes(3,3), support(3)

      edge = place(k)
      axes = axes_of(shapes, rows%master_primitive(k))
      support = matmul(normal, axes)
      rows%point(:,k) = centre_of(shapes, rows%master_primitive(k)) - matmul(axes, support)/norm2(support)
      rows%gap(k) = dot_product(rows%point(:,k) - edge, normal)
      call frame(normal, epsilon, rows%base(:,:,k))
      call referential(state, rows%master(k), rows%point(:,k), rows%master_point(:,k))
      call referential(state, rows%slave(k), rows%point(1:3,k) - rows%gap(k)*normal, rows%slave_point(:,k))
    end subroutine turn_to_face
  end subroutine replace_hidden_edges
end module hidden_edges
