!> Springs between two points (docs/language-objects.md, PUT_SPRING): those with a tabulated curve, and those whose force a Python function gives.
module spring_families
  use kinds, only: dp, i4
  use diagonal_block, only: block_size
  use row_block, only: law_size, row_options
  use row_family_base, only: row_family, row_error, carry, normal_line, keep_reaction, measure_nothing
  use row_norms, only: inverse_nn
  use spring_law, only: window, s_mean, s_dashpot, s_reach, s_implicit, spring_reaction, spring_error, step_force, find_stop
  implicit none
  private
  public :: spring_family, held_family

  !> R_N = f(s, U_N), within stops.  `spring_rows` fills law and curve.
  type, extends(row_family) :: spring_family
  contains
    procedure, nopass :: solve => solve_spring, measure => measure_spring, linearise => linearise_spring
  end type spring_family

  !> R is the function's value; sweeps do not change it.
  type, extends(spring_family) :: held_family
  contains
    procedure, nopass :: solve => keep_reaction, measure => measure_nothing
  end type held_family

contains

  integer(i4) function solve_spring(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options

    status = carry(spring_reaction(w(3,3), block(1:2*window), law, b(3)), r)
  end function solve_spring

  pure type(row_error) function measure_spring(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp) :: error, implicit_law(law_size)

    implicit_law = law
    if (exact) implicit_law(s_implicit) = 1.0_dp
    error = spring_error(w(3,3), block(1:2*window), implicit_law, u(3), reaction(3))
    measure_spring = row_error(member=inverse_nn(w)*error**2, residual=abs(error))
  end function measure_spring

  !> Linearises the force at the mean stroke and velocity of the step, as a velocity; at a stop the velocity that ends the stroke.
  pure subroutine linearise_spring(w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    real(dp), intent(in) :: w(3,3), block(block_size), law(law_size), u(3), r(3), unit, half_step, omega
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)
    real(dp) :: force, slope, target
    integer :: piece
    logical :: held

    call find_stop(w(3,3), block(1:2*window), law, u(3) - w(3,3)*r(3), held, target)
    if (held) then
      call normal_line(1.0_dp, 0.0_dp, target - u(3), r, x, y, rhs)
    else
      call step_force(block(1:2*window), law, u(3), force, slope, piece)
      slope = law(s_reach)*slope - law(s_mean)*law(s_dashpot)
      call normal_line(-w(3,3)*slope, w(3,3), w(3,3)*(force - r(3)), r, x, y, rhs)
    end if
  end subroutine linearise_spring
end module spring_families
