!> Result of the narrow phase for one pair, and the place of a contact.
module contact_record
  use kinds, only: dp, i4
  implicit none
  private
  public :: contact_data, contact_place

  !> One contact; points relative to the centre of the pair.
  type :: contact_data
    logical :: found
    logical :: degenerate        !< facet normals cancel: the normal is that of the face of least penetration
    real(dp) :: normal(3)        !< unit, outward from the slave
    real(dp) :: slave_point(3), master_point(3)
    real(dp) :: gap              !< not positive
    real(dp) :: area
    integer(i4) :: face(2)       !< nearest outer faces of slave and master, counted from 1; 0 where there is none
  end type contact_data

  !> Place of a contact: spatial points of slave and master, gap, area.
  type :: contact_place
    real(dp) :: slave(3), master(3), gap, area
  end type contact_place
end module contact_record
