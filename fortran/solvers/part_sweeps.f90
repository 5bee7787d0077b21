!> Sweeps of Gauss-Seidel in parts, for domains that share bodies: momenta are gathered, listed rows are swept, velocities follow.
!>
!> Between these calls the momenta of bodies that other domains own are copied from there.  A row on a shared body is swept by every
!> domain that owns one of its bodies, from the same numbers, so reactions need not be sent.
module part_sweeps
  use kinds, only: dp, i4, i8
  use table_registry, only: table_open
  use row_tables, only: local_tables, open_local
  use end_of_cohesion, only: end_cohesion
  use row_block, only: row_options, sweep_figures
  use velocity_form, only: gather_momenta, momentum_velocities, velocity_sweep
  implicit none
  private
  public :: begin_parts, sweep_part, finish_parts

contains

  !> p = sum over rows of H'^T R.
  !>
  !> Reads of rows R, entry_ptr; entries.  Writes momenta of triples.
  !>
  !>   handles     of local dynamics (row_tables); n, triples: rows and velocity triples in use
  !>   status      out: table_open, or a handle is void
  subroutine begin_parts(handles, n, triples, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: n, triples
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    call open_local(handles, loc, status)
    if (status /= table_open) return
    call gather_momenta(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, loc%rows%r, triples, loc%triples%momentum)
  end subroutine begin_parts

  !> Sweeps over some rows, in the order of the list; momenta follow.
  !>
  !> Reads of rows kind, driving, law, diagonal, free, V, entry_ptr; entries.  Writes of rows block, R; momenta of triples.
  !>
  !>   listed      (0:count-1) rows
  !>   half_step   h/2 (dynamics) or h (quasi-statics); step: h [time]
  !>   solver, tolerance, bound   block solver of contacts (diagonal_block), its accuracy and bound
  !>   sums        (3,0:nrow-1) in the columns of these rows: |dR|^2, |R|^2, and |r|^2 owed by contacts that are still to close
  !>   counts      blocks resolved by a fall-back; left because of a bound, of a failure: added to
  !>   failed      last row left unsolved, or -1
  !>   status      out: table_open, or a handle is void
  subroutine sweep_part(handles, count, listed, half_step, step, solver, tolerance, bound, nrow, sums, counts, failed, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: count, listed(0:count-1)
    real(dp), intent(in) :: half_step, step, tolerance
    integer(i4), intent(in) :: solver, bound, nrow
    real(dp), intent(inout) :: sums(3,0:nrow-1)
    integer(i4), intent(inout) :: counts(3)
    integer(i4), intent(out) :: failed, status
    type(local_tables) :: loc
    type(row_options) :: options
    type(sweep_figures) :: found
    integer(i4) :: i, a

    failed = -1
    call open_local(handles, loc, status)
    if (status /= table_open) return
    options = row_options(half_step, step, solver, tolerance, bound)
    do i = 0, count - 1
      a = listed(i)
      call velocity_sweep(a, a, 1, options, loc%rows%kind, loc%rows%driving, loc%rows%block, loc%rows%law, loc%rows%diagonal, &
                          loc%rows%free, loc%rows%v, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, &
                          loc%triples%momentum, loc%rows%r, found)
      sums(:,a) = [found%change(0) + found%change(1), found%size(0) + found%size(1), found%postponed]
      counts = counts + found%counts
      failed = max(failed, found%failed)
    end do
  end subroutine sweep_part

  !> U = B + H' p, and the end of cohesion.
  !>
  !> Reads of rows kind, law, patch, diagonal, B, R, entry_ptr; entries, momenta of triples.  Writes of rows U, lost.
  !>
  !>   n           rows in use
  !>   status      out: table_open, or a handle is void
  subroutine finish_parts(handles, n, status)
    integer(i8), intent(in) :: handles(6)
    integer(i4), intent(in) :: n
    integer(i4), intent(out) :: status
    type(local_tables) :: loc

    call open_local(handles, loc, status)
    if (status /= table_open) return
    call momentum_velocities(n, loc%rows%entry_ptr, loc%entries%triple, loc%entries%operator, loc%triples%momentum, loc%rows%b, &
                             loc%rows%u)
    call end_cohesion(n, loc%rows%kind, loc%rows%law, loc%rows%patch, loc%rows%diagonal, loc%rows%r, loc%rows%u, loc%rows%lost)
  end subroutine finish_parts
end module part_sweeps
