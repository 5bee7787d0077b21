!> Springs between two points (docs/language-objects.md, PUT_SPRING): those with a tabulated curve, and those whose force a Python function gives.
module spring_families
  use kinds, only: dp, i4
  use contact_iterations, only: status_solved
  use diagonal_block, only: block_size
  use row_block, only: law_size, row_options
  use row_family_base, only: row_family, constraint_data, carry, normal_line
  use row_norms, only: inverse_nn
  use spring_law, only: window, s_target, s_mean, s_dashpot, s_reach, s_implicit, spring_reaction, spring_error, step_force, stopped
  implicit none
  private
  public :: spring_family, held_family

  !> R_N = f(s, U_N), within stops.  `spring_rows` fills law and curve.
  type, extends(row_family) :: spring_family
  contains
    procedure :: prepare => prepare_spring
    procedure :: solve => solve_spring
    procedure :: measure => measure_spring
    procedure :: linearise => linearise_spring
  end type spring_family

  !> R is the function's value; sweeps do not change it.
  type, extends(spring_family) :: held_family
  contains
    procedure :: solve => solve_held
    procedure :: measure => measure_held
  end type held_family

contains

  pure subroutine prepare_spring(self, asked, w, b, v, kind, law, block, free)
    class(spring_family), intent(in) :: self
    type(constraint_data), intent(in) :: asked
    real(dp), intent(in) :: w(3,3), b(3), v(3)
    integer(i4), intent(inout) :: kind
    real(dp), intent(out) :: law(law_size), block(block_size), free(3)
    law = 0.0_dp
    block = 0.0_dp
    free = b
  end subroutine prepare_spring

  subroutine solve_spring(self, w, block, law, normal_v, options, b, r, status)
    class(spring_family), intent(in) :: self
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    integer(i4), intent(out) :: status
    real(dp) :: normal

    normal = spring_reaction(w(3,3), block(1:2*window), law, b(3))
    call carry(normal, r, status)
  end subroutine solve_spring

  pure subroutine measure_spring(self, exact, unit, block, law, w, u, reaction, half_step, member, residual)
    class(spring_family), intent(in) :: self
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp), intent(out) :: member, residual
    real(dp) :: error, implicit_law(law_size)

    implicit_law = law
    if (exact) implicit_law(s_implicit) = 1.0_dp
    error = spring_error(w(3,3), block(1:2*window), implicit_law, u(3), reaction(3))
    member = inverse_nn(w)*error**2
    residual = abs(error)
  end subroutine measure_spring

  !> Linearises the force at the mean stroke and velocity of the step, as a velocity; at a stop the velocity that ends the stroke.
  pure subroutine linearise_spring(self, w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    class(spring_family), intent(in) :: self
    real(dp), intent(in) :: w(3,3), block(block_size), law(law_size), u(3), r(3), unit, half_step, omega
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)
    real(dp) :: force, slope
    integer :: piece

    if (stopped(law, u(3) - w(3,3)*r(3))) then
      call normal_line(1.0_dp, 0.0_dp, law(s_target) - u(3), r, x, y, rhs)
    else
      call step_force(block(1:2*window), law, u(3), force, slope, piece)
      slope = law(s_reach)*slope - law(s_mean)*law(s_dashpot)
      call normal_line(-w(3,3)*slope, w(3,3), w(3,3)*(force - r(3)), r, x, y, rhs)
    end if
  end subroutine linearise_spring

  subroutine solve_held(self, w, block, law, normal_v, options, b, r, status)
    class(held_family), intent(in) :: self
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    integer(i4), intent(out) :: status
    status = status_solved
  end subroutine solve_held

  pure subroutine measure_held(self, exact, unit, block, law, w, u, reaction, half_step, member, residual)
    class(held_family), intent(in) :: self
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp), intent(out) :: member, residual
    member = 0.0_dp
    residual = 0.0_dp
  end subroutine measure_held
end module spring_families
