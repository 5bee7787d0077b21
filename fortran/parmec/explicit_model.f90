!> The tables of the explicit engine, opened together.
module explicit_model
  use kinds, only: i4, i8
  use state_tables, only: control_table, particle_table, curve_table, curve_point_table, link_table, link_law_table, end_table, &
                          torsion_table, joint_table, joint_group_table, joint_order_table, release_table, release_list_table, &
                          pairing_table, obstacle_table, triangle_table, sphere_table, contact_table, contact_end_table, &
                          link_batch_table, &
                          restraint_table, drive_table, probe_table, probe_source_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: model_tables, open_model

  !> The tables of solfec/parmec/tables.py, in the order of Model.tables.
  type :: model_tables
    type(control_table) :: control
    type(particle_table) :: particles
    type(curve_table) :: curves
    type(curve_point_table) :: points
    type(link_table) :: links
    type(link_law_table) :: laws
    type(end_table) :: ends
    type(restraint_table) :: restraints
    type(drive_table) :: drives
    type(probe_table) :: probes
    type(probe_source_table) :: sources
    type(torsion_table) :: torsions
    type(joint_table) :: joints
    type(joint_group_table) :: joint_groups
    type(joint_order_table) :: joint_order
    type(release_table) :: releases
    type(release_list_table) :: release_lists
    type(pairing_table) :: pairings
    type(obstacle_table) :: obstacles
    type(triangle_table) :: triangles
    type(sphere_table) :: spheres
    type(contact_table) :: contacts
    type(contact_end_table) :: contact_ends
    type(link_batch_table) :: batches
  end type model_tables

contains

  !> Opens the tables; `status` is `table_open`, or that of the first unknown handle.
  subroutine open_model(handles, model, status)
    integer(i8), intent(in) :: handles(:)
    type(model_tables), intent(out) :: model
    integer(i4), intent(out) :: status
    integer(i4) :: found(24)

    call open_table(handles(1), model%control, found(1))
    call open_table(handles(2), model%particles, found(2))
    call open_table(handles(3), model%curves, found(3))
    call open_table(handles(4), model%points, found(4))
    call open_table(handles(5), model%links, found(5))
    call open_table(handles(6), model%laws, found(6))
    call open_table(handles(7), model%ends, found(7))
    call open_table(handles(8), model%restraints, found(8))
    call open_table(handles(9), model%drives, found(9))
    call open_table(handles(10), model%probes, found(10))
    call open_table(handles(11), model%sources, found(11))
    call open_table(handles(12), model%torsions, found(12))
    call open_table(handles(13), model%joints, found(13))
    call open_table(handles(14), model%joint_groups, found(14))
    call open_table(handles(15), model%joint_order, found(15))
    call open_table(handles(16), model%releases, found(16))
    call open_table(handles(17), model%release_lists, found(17))
    call open_table(handles(18), model%pairings, found(18))
    call open_table(handles(19), model%obstacles, found(19))
    call open_table(handles(20), model%triangles, found(20))
    call open_table(handles(21), model%spheres, found(21))
    call open_table(handles(22), model%contacts, found(22))
    call open_table(handles(23), model%contact_ends, found(23))
    call open_table(handles(24), model%batches, found(24))
    status = maxval(found)
    if (all(found == table_open)) status = table_open
  end subroutine open_model
end module explicit_model
