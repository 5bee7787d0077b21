!> The three tables of the state of bodies, opened together, and with the tables that go with them in one kernel or another.
module body_state
  use kinds, only: i4, i8
  use state_tables, only: body_tables, constraint_table, finite_elements, pseudo_rigid_solver, reduced_bodies, &
    open_body_tables, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: bodies_and_triples, element_bodies, constrained_bodies, touching_bodies, pseudo_rigid_bodies, based_bodies
  public :: open_bodies, open_elements, open_constrained_bodies, open_touching_bodies, open_pseudo_rigid_bodies, open_based_bodies

  !> Bodies, and the triples to which their `velo_ptr` and `conf_ptr` point.
  type, extends(body_tables) :: bodies_and_triples
    integer(i4) :: n = 0          !< bodies in use
  end type bodies_and_triples

  !> These, and the finite elements of all bodies.
  type, extends(bodies_and_triples) :: element_bodies
    type(finite_elements) :: fe
  end type element_bodies

  !> These, and constraints on bodies.
  type, extends(element_bodies) :: constrained_bodies
    type(constraint_table) :: con
  end type constrained_bodies

  !> Bodies, and the contacts and constraints between them.
  type, extends(bodies_and_triples) :: touching_bodies
    type(constraint_table) :: con
  end type touching_bodies

  !> Bodies, and the group of pseudo-rigid ones that an implicit scheme solves.
  type, extends(bodies_and_triples) :: pseudo_rigid_bodies
    type(pseudo_rigid_solver) :: group
  end type pseudo_rigid_bodies

  !> Bodies with finite elements, and those of them that move in a base.
  type, extends(element_bodies) :: based_bodies
    type(reduced_bodies) :: base
  end type based_bodies

contains

  !> Opens the tables of BodyTable.handles; `status` is `table_open`, or that of the first unknown handle.
  subroutine open_bodies(handles, state, status)
    integer(i8), intent(in) :: handles(3)
    type(bodies_and_triples), intent(out) :: state
    integer(i4), intent(out) :: status

    call open_body_tables(handles, state%body_tables, status)
    if (status == table_open) state%n = int(state%bodies%rows, i4)
  end subroutine open_bodies

  !> Opens these tables, and finite elements by their handle.
  subroutine open_elements(handles, elements, state, status)
    integer(i8), intent(in) :: handles(3), elements
    type(element_bodies), intent(out) :: state
    integer(i4), intent(out) :: status

    call open_bodies(handles, state%bodies_and_triples, status)
    if (status == table_open) call open_table(elements, state%fe, status)
  end subroutine open_elements

  !> Opens these tables, and constraints by their handle.
  subroutine open_constrained_bodies(handles, elements, constraints, state, status)
    integer(i8), intent(in) :: handles(3), elements, constraints
    type(constrained_bodies), intent(out) :: state
    integer(i4), intent(out) :: status

    call open_elements(handles, elements, state%element_bodies, status)
    if (status == table_open) call open_table(constraints, state%con, status)
  end subroutine open_constrained_bodies

  subroutine open_touching_bodies(handles, constraints, state, status)
    integer(i8), intent(in) :: handles(3), constraints
    type(touching_bodies), intent(out) :: state
    integer(i4), intent(out) :: status

    call open_bodies(handles, state%bodies_and_triples, status)
    if (status == table_open) call open_table(constraints, state%con, status)
  end subroutine open_touching_bodies

  subroutine open_pseudo_rigid_bodies(handles, solver, state, status)
    integer(i8), intent(in) :: handles(3), solver
    type(pseudo_rigid_bodies), intent(out) :: state
    integer(i4), intent(out) :: status

    call open_bodies(handles, state%bodies_and_triples, status)
    if (status == table_open) call open_table(solver, state%group, status)
  end subroutine open_pseudo_rigid_bodies

  subroutine open_based_bodies(handles, elements, reduced, state, status)
    integer(i8), intent(in) :: handles(3), elements, reduced
    type(based_bodies), intent(out) :: state
    integer(i4), intent(out) :: status

    call open_elements(handles, elements, state%element_bodies, status)
    if (status == table_open) call open_table(reduced, state%base, status)
  end subroutine open_based_bodies
end module body_state
