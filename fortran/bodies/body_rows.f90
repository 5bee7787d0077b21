!> The row of a new body in the body tables.
!>
!> Bodies come in thousands: a call takes a third of the time of as many assignments to columns (solfec/bodies/table.py).
module body_rows
  use kinds, only: dp, i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use table_registry, only: table_open
  implicit none
  private
  public :: write_body

contains

  !> Writes a body without finite elements, at its referential placement, into the last row, which holds fill values so far.
  !>
  !>   handles      of bodies, velocity triples and configuration triples
  !>   conf, velo   first row of its configuration triples, four that hold fill values, and of its velocity triples
  !>
  !> The others are columns of the body table.
  subroutine write_body(handles, id, kind, form, scheme, material, law, conf, velo, primitive, primitives, mass, volume, centre, &
                        tensor, lame, status)
    integer(i8), intent(in) :: handles(3)
    integer(i8), intent(in) :: id
    integer(i4), intent(in) :: kind, form, scheme, material, law, conf, velo, primitive, primitives
    real(dp), intent(in) :: mass, volume, centre(3), tensor(3,3), lame(2)
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    integer(i8) :: row

    call open_bodies(handles, state, status)
    if (status /= table_open) return
    associate (bodies => state%bodies)
      row = bodies%rows - 1
      bodies%id(row) = id
      bodies%kind(row) = kind
      bodies%form(row) = form
      bodies%scheme(row) = scheme
      bodies%material(row) = material
      bodies%law(row) = law
      bodies%conf_ptr(row) = conf
      bodies%velo_ptr(row) = velo
      bodies%primitive_ptr(row) = primitive
      bodies%primitive_count(row) = primitives
      bodies%mass(row) = mass
      bodies%volume(row) = volume
      bodies%centre(:,row) = centre
      bodies%tensor(:,:,row) = tensor
      bodies%lame(:,row) = lame
    end associate
    state%configurations%conf(:,conf:conf+2) = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3])
    state%configurations%conf(:,conf+3) = centre
  end subroutine write_body
end module body_rows
