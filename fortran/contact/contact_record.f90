!> What the narrow phase finds out about one pair.
module contact_record
  use kinds, only: dp, i4
  implicit none
  private
  public :: contact_data

  !> One contact; points relative to the centre of the pair.
  type :: contact_data
    logical :: found
    logical :: degenerate        !< facet normals cancel: the face of least penetration was taken
    real(dp) :: normal(3)        !< unit, outward from the slave
    real(dp) :: slave_point(3), master_point(3)
    real(dp) :: gap              !< not positive
    real(dp) :: area
    integer(i4) :: face(2)       !< nearest outer faces of slave and master, counted from 1; 0 where there is none
  end type contact_data
end module contact_record
