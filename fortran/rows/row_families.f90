!> The families of rows: which law a kind of rows, and which kind of rows a surface model, stands for.
!>
!> A new law is a type that extends `row_family`, its numbers in solfec/kinds.py, and its lines here.
module row_families
  use kinds, only: dp, i4
  use kind_numbers
  use cohesive_rows, only: cohesive_family
  use contact_rows, only: contact_family, open_family
  use dashpot_rows, only: dashpot_family
  use diagonal_block, only: block_size
  use joint_rows, only: point_family, direction_family
  use link_rows, only: link_family
  use row_block, only: law_size, row_options
  use row_family_base, only: row_family, frame_of_space, frame_of_direction, frame_between_points, frame_of_spring
  use spring_families, only: spring_family, held_family
  implicit none
  private
  public :: family_of, surface_row, solve_row

  type(contact_family), target :: contacts = contact_family(newton=.true.)
  type(open_family), target :: open_contacts = open_family(newton=.true.)
  type(open_family), target :: nothing_known
  type(dashpot_family), target :: dashpots = dashpot_family(newton=.true.)
  type(cohesive_family), target :: bonds = cohesive_family(newton=.true., weakens=.true.)
  type(point_family), target :: fixed_points = point_family(frame=frame_of_space, newton=.true.)
  type(point_family), target :: prescribed_points = point_family(newton=.true., prescribed=.true.)
  type(direction_family), target :: fixed_directions = direction_family(frame=frame_of_direction, newton=.true., slides=.true.)
  type(direction_family), target :: prescribed_directions = &
    direction_family(frame=frame_of_direction, newton=.true., prescribed=.true.)
  type(link_family), target :: links = link_family(frame=frame_between_points, newton=.true.)
  type(spring_family), target :: springs = spring_family(frame=frame_of_spring, newton=.true.)
  type(held_family), target :: held_springs = held_family(frame=frame_of_spring)

contains

  !> The family of a kind of rows (RowKind).  Loops that threads share ask for it in a procedure of their body: a pointer to a family
  !> that is private to threads would be freed at their end.
  function family_of(kind) result(family)
    integer(i4), intent(in) :: kind
    class(row_family), pointer :: family

    select case (kind)
    case (row_contact)
      family => contacts
    case (row_spring_dashpot)
      family => dashpots
    case (row_cohesive)
      family => bonds
    case (row_fixpnt)
      family => fixed_points
    case (row_velodir3)
      family => prescribed_points
    case (row_fixdir)
      family => fixed_directions
    case (row_velodir)
      family => prescribed_directions
    case (row_riglnk)
      family => links
    case (row_spring)
      family => springs
    case (row_held)
      family => held_springs
    case (row_open)
      family => open_contacts
    case default
      family => nothing_known
    end select
  end function family_of

  !> The kind of rows that contacts of a surface model are (SurfaceModel); those that have no cohesion are not `held`.
  pure function surface_row(model, held) result(kind)
    integer(i4), intent(in) :: model
    logical, intent(in) :: held
    integer(i4) :: kind

    select case (model)
    case (surface_model_spring_dashpot)
      kind = row_spring_dashpot
    case (surface_model_cohesive)
      kind = merge(row_cohesive, row_contact, held)
    case default
      kind = row_contact
    end select
  end function surface_row

  !> The reaction of one row with those of all others held fixed (row_family_base).
  subroutine solve_row(kind, w, block, law, normal_v, options, b, r, status)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    integer(i4), intent(out) :: status
    class(row_family), pointer :: family

    family => family_of(kind)
    call family%solve(w, block, law, normal_v, options, b, r, status)
  end subroutine solve_row
end module row_families
