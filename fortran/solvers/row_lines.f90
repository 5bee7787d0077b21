!> Tangents R_N = p + g U_N of rows that act along their normal, for solvers that renew them until nothing changes.
module row_lines
  use kinds, only: dp, i4, i8
  use row_families, only: family_of
  use row_family_base, only: row_family
  use row_tables, only: local_tables, open_local
  use table_registry, only: table_open
  implicit none
  private
  public :: draw_lines

contains

  !> Computes the tangents of some rows at their present U and R; of rows that hold U_N, the prescribed rate.
  !>
  !> Reads of rows kind, diagonal, block, law, U and R.
  !>
  !>   local         LocalDynamics.handles
  !>   n, rows       (0:n-1) rows of local dynamics
  !>   half_step     h/2 (dynamics) or h (quasi-statics)
  !>   constant, slope, target   (0:n-1) out: p and g, 0 where U_N is held; the rate there, else 0
  !>   held          (0:n-1) out: 1 where U_N is held
  !>   status        `table_open` or `table_unknown`
  subroutine draw_lines(local, n, rows, half_step, constant, slope, target, held, status)
    integer(i8), intent(in) :: local(6)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1)
    real(dp), intent(in) :: half_step
    real(dp), intent(inout) :: constant(0:n-1), slope(0:n-1), target(0:n-1)
    integer(i4), intent(inout) :: held(0:n-1)
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    class(row_family), pointer :: family
    real(dp) :: x(3,3), y(3,3), rhs(3), u(3), r(3)
    integer(i4) :: a, k

    call open_local(local, loc, status)
    if (status /= table_open) return
    constant = 0.0_dp
    slope = 0.0_dp
    target = 0.0_dp
    do k = 0, n - 1
      a = rows(k)
      u = loc%rows%U(:,a)
      r = loc%rows%R(:,a)
      family => family_of(loc%rows%kind(a))
      call family%linearise(loc%rows%diagonal(:,:,a), loc%rows%block(:,a), loc%rows%law(:,a), u, r, 1.0_dp, half_step, 0.0_dp, &
                            x, y, rhs)
      held(k) = merge(0, 1, y(3,3) > 0.0_dp)
      if (held(k) /= 0) then
        target(k) = u(3) + rhs(3)/x(3,3)
      else
        slope(k) = -x(3,3)/y(3,3)
        constant(k) = r(3) + rhs(3)/y(3,3) - slope(k)*u(3)
      end if
    end do
  end subroutine draw_lines
end module row_lines
