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
  use contacts, only: turn_frame, referential, part_beneath
  use narrow_phase, only: axes_of, centre_of
  implicit none
  private
  public :: replace_hidden_edges

  real(dp), parameter :: one_direction = 1.0_dp - 1.0e-10_dp  !< least cosine of the angle between equal normals
  real(dp), parameter :: rising = 1.0e-6_dp                   !< least angle between faces that are not flush
  integer(i4), parameter :: nobody = -1

  !> Contacts of every curved primitive with polyhedra, as linked lists.
  type :: chains
    integer(i4) :: shared = 0                !< contacts of primitives that have others
    integer(i4), allocatable :: latest(:)    !< of primitives: their last contact
    integer(i4), allocatable :: before(:)    !< of contacts: the one before
    logical, allocatable :: on_face(:)       !< of contacts: with the inside of a face
  end type chains

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
    type(chains) :: curved
    integer(i4) :: k, face, carrier

    hidden = 0
    keep(0:last-first-1) = 1
    call chain_contacts(first, last, shapes, rows, curved)
    if (curved%shared == 0) return

    do k = first, last - 1
      if (.not. meets_polyhedron(shapes, rows, k)) cycle
      face = foremost_face(state, shapes, rows, epsilon, k)
      if (face /= nobody) curved%on_face(k) = dot_product(shapes%normal(:,face), rows%base(:,3,k)) > one_direction
    end do
    do k = first, last - 1
      if (.not. meets_polyhedron(shapes, rows, k) .or. curved%on_face(k) .or. rows%cohesion(k) > 0.0_dp) cycle
      carrier = carrying_contact(curved, state, rows, epsilon, k)
      if (carrier == nobody) cycle
      face = foremost_face(state, shapes, rows, epsilon, k)
      if (rises(state, shapes, rows, face, carrier, k)) then
        call turn_to_face(state, shapes, rows, epsilon, k, shapes%normal(:,face))
      else
        keep(k-first) = 0
        hidden = hidden + 1
      end if
    end do
  end subroutine replace_hidden_edges

  !> Chains the contacts of every sphere and ellipsoid with polyhedra.
  subroutine chain_contacts(first, last, shapes, rows, curved)
    integer(i4), intent(in) :: first, last
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    type(chains), intent(out) :: curved
    integer(i4) :: k

    allocate (curved%latest(0:shapes%primitives-1), source=nobody)
    allocate (curved%before(first:last-1))
    allocate (curved%on_face(first:last-1), source=.false.)
    do k = first, last - 1
      if (.not. meets_polyhedron(shapes, rows, k)) cycle
      associate (own => rows%master_primitive(k))
        if (curved%latest(own) /= nobody) curved%shared = curved%shared + 1
        curved%before(k) = curved%latest(own)
        curved%latest(own) = k
      end associate
    end do
  end subroutine chain_contacts

  !> Whether contact k is that of a sphere or ellipsoid with a polyhedron; polyhedra are slaves then.
  pure logical function meets_polyhedron(shapes, rows, k)
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(in) :: k

    meets_polyhedron = shapes%kind(rows%master_primitive(k)) >= sphere .and. shapes%kind(rows%slave_primitive(k)) < sphere
  end function meets_polyhedron

  !> The outer face of the polyhedron at the place of contact k whose normal is nearest to that of the contact.
  !>
  !> `nobody` if there is none: an element of a mesh may have an edge on the surface, and no face beside it.
  pure integer(i4) function foremost_face(state, shapes, rows, epsilon, k) result(face)
    type(bodies_and_triples), intent(in) :: state
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    real(dp), intent(in) :: epsilon
    integer(i4), intent(in) :: k
    integer(i4) :: i
    real(dp) :: cosine, largest, near

    face = nobody
    largest = -2.0_dp
    associate (of => rows%slave_primitive(k), ball => rows%master_primitive(k))
      ! fast bodies meet where they will be
      near = epsilon + max(shapes%reach(of) - shapes%margin(of), 0.0_dp) + max(shapes%reach(ball) - shapes%margin(ball), 0.0_dp)
      do i = shapes%face_ptr(of), shapes%face_ptr(of) + shapes%outer_count(of) - 1
        cosine = dot_product(shapes%normal(:,i), rows%base(:,3,k))
        if (cosine <= largest .or. is_apart(shapes, i, near, place(state, rows, k))) cycle
        largest = cosine
        face = i
      end do
    end associate
  end function foremost_face

  !> Whether a point of a polyhedron is further than `near` from one of its faces, which may be warped.
  pure logical function is_apart(shapes, face, near, point)
    type(shape_tables), intent(in) :: shapes
    integer(i4), intent(in) :: face
    real(dp), intent(in) :: near, point(3)
    real(dp) :: above, lowest
    integer(i4) :: c

    associate (normal => shapes%normal(:,face))
      above = dot_product(normal, point)
      lowest = huge(lowest)
      do c = shapes%corner_ptr(face), shapes%corner_ptr(face) + shapes%corner_count(face) - 1
        lowest = min(lowest, dot_product(normal, shapes%current(:,shapes%corner_vertex(c))))
      end do
    end associate
    is_apart = above < lowest - near
  end function is_apart

  !> Whether a face, if there is one, rises from the face of the carrying contact; the side of a crack, for one, falls from it.
  pure logical function rises(state, shapes, rows, face, carrier, k)
    type(bodies_and_triples), intent(in) :: state
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(in) :: face, carrier, k
    real(dp) :: height
    integer(i4) :: c

    rises = .false.
    if (face == nobody) return
    associate (ground => place(state, rows, carrier), up => rows%base(:,3,carrier), &
               away => place(state, rows, carrier) - place(state, rows, k))
      height = 0.0_dp
      do c = shapes%corner_ptr(face), shapes%corner_ptr(face) + shapes%corner_count(face) - 1
        height = height + dot_product(up, shapes%current(:,shapes%corner_vertex(c)) - ground)
      end do
      rises = height > 0.0_dp .and. dot_product(away, shapes%normal(:,face)) > rising*norm2(away)
    end associate
  end function rises

  !> Row of the contact of the same sphere or ellipsoid with a face above which the place of contact k does not rise.
  !>
  !> `nobody` if there is none.
  pure integer(i4) function carrying_contact(curved, state, rows, epsilon, k) result(other)
    type(chains), intent(in) :: curved
    type(bodies_and_triples), intent(in) :: state
    type(constraint_table), intent(in) :: rows
    real(dp), intent(in) :: epsilon
    integer(i4), intent(in) :: k

    other = curved%latest(rows%master_primitive(k))
    do while (other /= nobody)
      if (curved%on_face(other)) then
        if (dot_product(place(state, rows, k) - place(state, rows, other), rows%base(:,3,other)) <= epsilon) return
      end if
      other = curved%before(other)
    end do
  end function carrying_contact

  !> The point of contact k on the polyhedron.
  pure function place(state, rows, k)
    type(bodies_and_triples), intent(in) :: state
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(in) :: k
    real(dp) :: place(3)

    place = rows%other_point(:,k)
    if (rows%gap(k) > 0.0_dp) then
      if (2*dot_product(rows%base(:,3,k), rows%point(:,k) - place) > rows%gap(k)) return   ! in flight each has its own
    end if
    place = rows%point(:,k) - part_beneath(state, rows%master(k), rows%slave(k), rows%gap(k))*rows%gap(k)*rows%base(:,3,k)
  end function place

  !> Turns contact k into a contact with the plane of its face.
  subroutine turn_to_face(state, shapes, rows, epsilon, k, normal)
    type(bodies_and_triples), intent(in) :: state
    type(shape_tables), intent(in) :: shapes
    type(constraint_table), intent(in) :: rows
    integer(i4), intent(in) :: k
    real(dp), intent(in) :: epsilon, normal(3)
    real(dp) :: edge(3), axes(3,3), support(3)

    edge = place(state, rows, k)
    axes = axes_of(shapes, rows%master_primitive(k))
    support = matmul(normal, axes)
    rows%point(:,k) = centre_of(shapes, rows%master_primitive(k)) - matmul(axes, support)/norm2(support)
    rows%gap(k) = dot_product(rows%point(:,k) - edge, normal)
    rows%point(:,k) = rows%point(:,k) &
      - (1.0_dp - part_beneath(state, rows%master(k), rows%slave(k), rows%gap(k)))*rows%gap(k)*normal
    rows%other_point(:,k) = rows%point(:,k)
    call turn_frame(normal, epsilon, rows, k)
    call referential(state, rows%master(k), rows%point(:,k), rows%master_point(:,k))
    call referential(state, rows%slave(k), rows%point(1:3,k), rows%slave_point(:,k))
  end subroutine turn_to_face
end module hidden_edges
