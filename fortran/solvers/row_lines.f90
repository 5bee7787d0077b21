!> Tangents R_N = p + g U_N of rows that act along their normal, and the linear rows that solvers of cones get in their place.
module row_lines
  use kinds, only: dp, i4, i8
  use kind_numbers, only: cone_normal, cone_none, held_row => row_held, spring_row => row_spring
  use row_families, only: family_of
  use row_family_base, only: row_family
  use row_tables, only: local_tables, open_local
  use spring_law, only: spring_line, window
  use state_tables, only: spring_lines, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: draw_lines, renew_lines, scale_reactions

  !> Effect |g| W_NN of a spring's force on its own velocity, up to which the force counts as given: where it grows against the velocity, and where it
  !> grows with it, which no joint can replace.  A given force has to be renewed, so that a step is solved more often.
  real(dp), parameter :: softest = 1.0e-4_dp, growing_softest = 0.1_dp

contains

  !> Computes the tangents of some rows at their present U and R; of rows that hold U_N, the prescribed rate.
  !>
  !> Reads of rows kind, diagonal, block, law, U and R.  Leaves what is given of springs with Python functions.
  !>
  !>   local         LocalDynamics.handles
  !>   n, rows       (0:n-1) rows of local dynamics
  !>   half_step     h/2 (dynamics) or h (quasi-statics)
  !>   constant, slope, target   (0:n-1) out: p and g, 0 where U_N is held; the rate there
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
    logical :: stops

    call open_local(local, loc, status)
    if (status /= table_open) return
    do k = 0, n - 1
      a = rows(k)
      u = loc%rows%U(:,a)
      r = loc%rows%R(:,a)
      if (loc%rows%kind(a) == held_row) cycle
      if (loc%rows%kind(a) == spring_row) then
        call spring_line(loc%rows%diagonal(3,3,a), loc%rows%block(1:2*window,a), loc%rows%law(:,a), u(3), r(3), &
                         constant(k), slope(k), target(k), stops)
        held(k) = merge(1, 0, stops)
        cycle
      end if
      constant(k) = 0.0_dp
      slope(k) = 0.0_dp
      target(k) = 0.0_dp
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

  !> Makes rows of the reduced problem of tangents (solfec/solvers/spring_lines.py).
  !>
  !> Draws tangents first (`draw_lines`), except those of Python functions, which lines have already.  Reads of rows block, diagonal, block_ptr,
  !> entry_ptr, U and R; blocks; operators; of lines spring.  Writes all other columns of lines: whole copies if lines%fresh is set, which it clears;
  !> later what tangents change.
  !>
  !>   local, lines  LocalDynamics.handles; SpringLines
  !>   n             rows of local dynamics
  !>   half_step     see draw_lines
  !>   enough        rows stay as they are if U misses the laws by no more
  !>   cone (0:nrow-1)   out for springs: their cones
  !>   free (3,0:nrow-1) free velocities of all rows without forces of springs
  !>   missed        out: norm of the errors of U in the laws
  !>   growing       out: 1 if the force of a stiff spring grows with its velocity; the rest is not written then
  !>   status        `table_open` or `table_unknown`
  subroutine renew_lines(local, lines, n, half_step, enough, nrow, cone, free, missed, growing, status)
    integer(i8), intent(in) :: local(6), lines
    integer(i4), intent(in) :: n, nrow
    real(dp), intent(in) :: half_step, enough, free(3,0:nrow-1)
    integer(i4), intent(inout) :: cone(0:nrow-1)
    real(dp), intent(out) :: missed
    integer(i4), intent(out) :: growing, status
    type(local_tables) :: loc
    type(spring_lines) :: made
    integer(i4) :: count

    missed = 0.0_dp
    growing = 0
    call open_local(local, loc, status)
    if (status == table_open) call open_table(lines, made, status)
    if (status /= table_open) return
    count = size(made%spring)
    call draw_lines(local, count, made%spring, half_step, made%constant, made%slope, made%target, made%held, status)
    call measure_lines(loc, count, made%spring, made%constant, made%slope, made%target, made%held, missed, growing)
    if (growing /= 0 .or. missed <= enough) return
    call write_lines(loc, made, n, count, made%spring, made%constant, made%slope, made%target, made%held, cone, free)
  end subroutine renew_lines

  !> Measures by how much velocities miss the laws of springs, and whether a force of a stiff spring grows with its velocity.
  subroutine measure_lines(loc, count, springs, constant, slope, target, held, missed, growing)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: count, springs(0:count-1), held(0:count-1)
    real(dp), intent(in) :: constant(0:count-1), slope(0:count-1), target(0:count-1)
    real(dp), intent(out) :: missed
    integer(i4), intent(out) :: growing
    real(dp) :: error, w
    integer(i4) :: a, k

    missed = 0.0_dp
    growing = 0
    do k = 0, count - 1
      a = springs(k)
      w = loc%rows%diagonal(3,3,a)
      error = loc%rows%U(3,a) - target(k)
      if (held(k) == 0) error = w*(loc%rows%R(3,a) - constant(k) - slope(k)*loc%rows%U(3,a))
      missed = missed + error**2
      if (held(k) == 0 .and. slope(k)*w > growing_softest) growing = 1
    end do
    missed = sqrt(missed)
  end subroutine measure_lines

  !> Writes the rows of tangents.
  subroutine write_lines(loc, made, n, count, springs, constant, slope, target, held, cone, free)
    type(local_tables), intent(in) :: loc
    type(spring_lines), intent(inout) :: made
    integer(i4), intent(in) :: n, count, springs(0:count-1), held(0:count-1)
    real(dp), intent(in) :: constant(0:count-1), slope(0:count-1), target(0:count-1), free(3,0:*)
    integer(i4), intent(inout) :: cone(0:*)
    real(dp) :: scale, w
    integer(i4) :: a, k

    if (made%fresh /= 0) call copy_rows(loc, made, n, count, springs)
    do k = 0, count - 1
      a = springs(k)
      w = loc%rows%diagonal(3,3,a)
      made%soft(a) = 0
      made%force(a) = 0.0_dp
      scale = 1.0_dp
      cone(a) = cone_normal
      if (held(k) == 0 .and. slope(k)*w >= -softest) then
        cone(a) = cone_none
        made%soft(a) = 1
        made%force(a) = constant(k) + slope(k)*loc%rows%U(3,a)
      else if (held(k) == 0) then
        scale = -slope(k)*w
      end if
      if (.not. scale == made%scale(a)) made%fresh = 1
      made%scale(a) = scale
    end do
    if (made%fresh /= 0) call scale_couplings(loc, made, n)
    made%fresh = 0
    call add_forces(loc, made, n, free)
    do k = 0, count - 1
      a = springs(k)
      associate (s => made%scale(a), q => made%q(:,a))
        made%diagonal(:,:,a) = loc%rows%diagonal(:,:,a)
        if (held(k) /= 0) then
          q(3) = q(3) - target(k)
        else if (cone(a) == cone_normal) then
          q(3) = q(3) + constant(k)/slope(k)
          made%diagonal(3,3,a) = made%diagonal(3,3,a) - 1.0_dp/slope(k)
        end if
        q = q*s
        made%diagonal(:,:,a) = made%diagonal(:,:,a)*s**2
      end associate
    end do
  end subroutine write_lines

  !> Copies what springs do not change; in rows of springs the numbers of block are knots of curves, not of friction.
  subroutine copy_rows(loc, made, n, count, springs)
    type(local_tables), intent(in) :: loc
    type(spring_lines), intent(inout) :: made
    integer(i4), intent(in) :: n, count, springs(0:count-1)

    made%block(:,0:n-1) = loc%rows%block(:,0:n-1)
    made%block(:,springs) = 0.0_dp
    made%diagonal(:,:,0:n-1) = loc%rows%diagonal(:,:,0:n-1)
    made%scale(0:n-1) = 1.0_dp
    made%force(0:n-1) = 0.0_dp
  end subroutine copy_rows

  !> Scales off-diagonal blocks and operators by rows.
  subroutine scale_couplings(loc, made, n)
    type(local_tables), intent(in) :: loc
    type(spring_lines), intent(inout) :: made
    integer(i4), intent(in) :: n
    integer(i4) :: a, e, k

    do a = 0, n - 1
      do k = loc%rows%block_ptr(a), loc%rows%block_ptr(a+1) - 1
        made%off_diagonal(:,:,k) = loc%blocks%block(:,:,k)*(made%scale(a)*made%scale(loc%blocks%column(k)))
      end do
      do e = loc%rows%entry_ptr(a), loc%rows%entry_ptr(a+1) - 1
        made%entry(:,:,e) = loc%entries%operator(:,:,e)*made%scale(a)
      end do
    end do
  end subroutine scale_couplings

  !> Adds the velocities that forces of soft springs make to free ones.
  subroutine add_forces(loc, made, n, free)
    type(local_tables), intent(in) :: loc
    type(spring_lines), intent(inout) :: made
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: free(3,0:*)
    integer(i4) :: a, k

    made%q(:,0:n-1) = free(:,0:n-1)
    if (all(made%force(0:n-1) == 0.0_dp)) return
    do a = 0, n - 1
      associate (q => made%q(:,a))
        q = q + loc%rows%diagonal(:,3,a)*made%force(a)
        do k = loc%rows%block_ptr(a), loc%rows%block_ptr(a+1) - 1
          q = q + loc%blocks%block(:,3,k)*made%force(loc%blocks%column(k))
        end do
      end associate
    end do
  end subroutine add_forces

  !> Scales reactions of springs for the solver, R' = R/s, or back; then soft springs get their forces.
  !>
  !>   back             1: back
  subroutine scale_reactions(local, lines, back, status)
    integer(i8), intent(in) :: local(6), lines
    integer(i4), intent(in) :: back
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(spring_lines) :: made
    integer(i4) :: a, k

    call open_local(local, loc, status)
    if (status == table_open) call open_table(lines, made, status)
    if (status /= table_open) return
    do k = 0, size(made%spring) - 1
      a = made%spring(k)
      if (back == 0) then
        loc%rows%R(:,a) = loc%rows%R(:,a)/made%scale(a)
      else if (made%soft(a) /= 0) then
        loc%rows%R(:,a) = [0.0_dp, 0.0_dp, made%force(a)]
      else
        loc%rows%R(:,a) = loc%rows%R(:,a)*made%scale(a)
      end if
    end do
  end subroutine scale_reactions
end module row_lines
