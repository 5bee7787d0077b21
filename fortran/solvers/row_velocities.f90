!> Velocities of all rows from reactions, in either form of W.
module row_velocities
  use kinds, only: dp, i4
  use row_tables, only: local_tables
  use stored_form, only: stored_velocities
  use velocity_form, only: gather_momenta, momentum_velocities
  implicit none
  private
  public :: velocities

contains

  !> Computes y = x0 + W x.
  !>
  !>   n, stored, triples   number of rows; 1: W is in blocks, 0: in velocity form; number of velocity triples
  subroutine velocities(loc, n, stored, triples, x, x0, y)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: n, stored, triples
    real(dp), intent(in) :: x(3,0:*), x0(3,0:*)
    real(dp), intent(inout) :: y(3,0:*)

    if (stored /= 0) then
      call stored_velocities(n, loc%rows%block_ptr, loc%blocks%column, loc%blocks%block, loc%rows%diagonal, x, x0, y)
    else
      call gather_momenta(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, x, triples, loc%triples%momentum)
      call momentum_velocities(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, loc%triples%momentum, x0, y)
    end if
  end subroutine velocities
end module row_velocities
