!> Gap-aware contacts with restitution that wait for the next step, since impacts of their bodies begin in this one (docs/materials.md, SIGNORINI_COULOMB).
module waiting_contacts
  use kinds, only: dp, i4, i8
  use contact_rows, only: is_struck, waits_for_impact
  use kind_numbers, only: obstacle => body_obstacle, row_contact, row_open
  use row_tables, only: local_tables, open_constrained
  use state_tables, only: body_table, constraint_table, surface_material_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: mark_struck_bodies, leave_to_next_step

  !> Rows, and the tables of what their contacts depend on.
  type :: contact_tables
    type(body_table) :: body
    type(constraint_table) :: con
    type(surface_material_table) :: mat
    type(local_tables) :: loc
  end type contact_tables

contains

  !> Marks the bodies that contacts strike in this step.
  !>
  !> Reads kind of bodies; master, slave, gap, material and cohesion of constraints; gap_aware and restitution of surface materials; of rows order, kind and V.
  !>
  !>   bodies, constraints, materials, local   handles (as in local_dynamics)
  !>   n                 number of rows, with their laws
  !>   epsilon, step     gap up to which bodies touch [length]; h [time]
  !>   struck            (0:nbody-1) out: 1: a contact strikes the body
  !>   status            `table_open` or `table_unknown`
  subroutine mark_struck_bodies(bodies, constraints, materials, local, n, epsilon, step, nbody, struck, status)
    integer(i8), intent(in) :: bodies(3), constraints, materials, local(6)
    integer(i4), intent(in) :: n, nbody
    real(dp), intent(in) :: epsilon, step
    integer(i4), intent(inout) :: struck(0:nbody-1)
    integer(i4), intent(out) :: status
    type(contact_tables) :: tables
    integer(i4) :: a, i

    call open_contacts(bodies, constraints, materials, local, tables, status)
    if (status /= table_open) return
    associate (body => tables%body, con => tables%con, mat => tables%mat, rows => tables%loc%rows)
      do a = 0, n - 1
        i = rows%order(a)
        if (.not. rebounds(tables, a)) cycle
        if (.not. is_struck(epsilon, step, con%gap(i), mat%restitution(con%material(i)), rows%V(3,a))) cycle
        if (body%kind(con%master(i)) /= obstacle) struck(con%master(i)) = 1
        if (body%kind(con%slave(i)) /= obstacle) struck(con%slave(i)) = 1
      end do
    end associate
  end subroutine mark_struck_bodies

  !> Opens gap-aware contacts that do not close in this step and one of whose bodies is struck in it.
  !>
  !> Reads, besides what mark_struck_bodies reads, of rows B.  Writes of rows kind, R and free of these contacts.
  !>
  !>   bodies ... step   as in mark_struck_bodies
  !>   struck            (0:nbody-1) 1: a contact strikes the body
  subroutine leave_to_next_step(bodies, constraints, materials, local, n, epsilon, step, nbody, struck, status)
    integer(i8), intent(in) :: bodies(3), constraints, materials, local(6)
    integer(i4), intent(in) :: n, nbody
    real(dp), intent(in) :: epsilon, step
    integer(i4), intent(in) :: struck(0:nbody-1)
    integer(i4), intent(out) :: status
    type(contact_tables) :: tables
    integer(i4) :: a, i

    call open_contacts(bodies, constraints, materials, local, tables, status)
    if (status /= table_open) return
    associate (con => tables%con, mat => tables%mat, rows => tables%loc%rows)
      do a = 0, n - 1
        i = rows%order(a)
        if (.not. rebounds(tables, a)) cycle
        if (struck(con%master(i)) + struck(con%slave(i)) == 0) cycle
        if (.not. waits_for_impact(epsilon, step, con%gap(i), mat%restitution(con%material(i)), rows%V(3,a))) cycle
        rows%kind(a) = row_open
        rows%R(:,a) = 0.0_dp
        rows%free(:,a) = rows%B(:,a)
      end do
    end associate
  end subroutine leave_to_next_step

  subroutine open_contacts(bodies, constraints, materials, local, tables, status)
    integer(i8), intent(in) :: bodies(3), constraints, materials, local(6)
    type(contact_tables), intent(out) :: tables
    integer(i4), intent(out) :: status

    call open_constrained(bodies, constraints, local, tables%body, tables%con, tables%loc, status)
    if (status == table_open) call open_table(materials, tables%mat, status)
  end subroutine open_contacts

  !> Whether row a is a gap-aware contact without cohesion.
  pure logical function rebounds(tables, a)
    type(contact_tables), intent(in) :: tables
    integer(i4), intent(in) :: a

    rebounds = tables%loc%rows%kind(a) == row_contact
    associate (con => tables%con, i => tables%loc%rows%order(a))
      if (rebounds) rebounds = tables%mat%gap_aware(con%material(i)) > 0.0_dp .and. .not. con%cohesion(i) > 0.0_dp
    end associate
  end function rebounds
end module waiting_contacts
