!> The tables of the explicit engine, opened together.
module explicit_model
  use kinds, only: i4, i8
  use state_tables, only: control_table, particle_table, curve_table, curve_point_table, link_table, link_law_table, end_table, &
                          torsion_table, joint_table, joint_group_table, joint_order_table, release_table, release_list_table, &
                          pairing_table, obstacle_table, triangle_table, sphere_table, contact_table, contact_end_table, &
                          link_batch_table, &
                          restraint_table, drive_table, probe_table, probe_source_table, point_to_table
  use table_registry, only: table_open
  implicit none
  private
  public :: model_tables, open_model

  !> The tables of solfec/parmec/tables.py, in the order of Model.tables.
  type :: model_tables
    type(control_table), pointer :: control => null()
    type(particle_table), pointer :: particles => null()
    type(curve_table), pointer :: curves => null()
    type(curve_point_table), pointer :: points => null()
    type(link_table), pointer :: links => null()
    type(link_law_table), pointer :: laws => null()
    type(end_table), pointer :: ends => null()
    type(restraint_table), pointer :: restraints => null()
    type(drive_table), pointer :: drives => null()
    type(probe_table), pointer :: probes => null()
    type(probe_source_table), pointer :: sources => null()
    type(torsion_table), pointer :: torsions => null()
    type(joint_table), pointer :: joints => null()
    type(joint_group_table), pointer :: joint_groups => null()
    type(joint_order_table), pointer :: joint_order => null()
    type(release_table), pointer :: releases => null()
    type(release_list_table), pointer :: release_lists => null()
    type(pairing_table), pointer :: pairings => null()
    type(obstacle_table), pointer :: obstacles => null()
    type(triangle_table), pointer :: triangles => null()
    type(sphere_table), pointer :: spheres => null()
    type(contact_table), pointer :: contacts => null()
    type(contact_end_table), pointer :: contact_ends => null()
    type(link_batch_table), pointer :: batches => null()
  end type model_tables

contains

  !> Opens the tables; `status` is `table_open`, or that of the first unknown handle.
  subroutine open_model(handles, model, status)
    integer(i8), intent(in) :: handles(:)
    type(model_tables), intent(out) :: model
    integer(i4), intent(out) :: status
    integer(i4) :: found(24)

    call point_to_table(handles(1), model%control, found(1))
    call point_to_table(handles(2), model%particles, found(2))
    call point_to_table(handles(3), model%curves, found(3))
    call point_to_table(handles(4), model%points, found(4))
    call point_to_table(handles(5), model%links, found(5))
    call point_to_table(handles(6), model%laws, found(6))
    call point_to_table(handles(7), model%ends, found(7))
    call point_to_table(handles(8), model%restraints, found(8))
    call point_to_table(handles(9), model%drives, found(9))
    call point_to_table(handles(10), model%probes, found(10))
    call point_to_table(handles(11), model%sources, found(11))
    call point_to_table(handles(12), model%torsions, found(12))
    call point_to_table(handles(13), model%joints, found(13))
    call point_to_table(handles(14), model%joint_groups, found(14))
    call point_to_table(handles(15), model%joint_order, found(15))
    call point_to_table(handles(16), model%releases, found(16))
    call point_to_table(handles(17), model%release_lists, found(17))
    call point_to_table(handles(18), model%pairings, found(18))
    call point_to_table(handles(19), model%obstacles, found(19))
    call point_to_table(handles(20), model%triangles, found(20))
    call point_to_table(handles(21), model%spheres, found(21))
    call point_to_table(handles(22), model%contacts, found(22))
    call point_to_table(handles(23), model%contact_ends, found(23))
    call point_to_table(handles(24), model%batches, found(24))
    status = maxval(found)
    if (all(found == table_open)) status = table_open
  end subroutine open_model
end module explicit_model
