!> The procedures that solvers need of a family of rows, that is of constraints with one law.  solfec/kinds.py lists the families.
module row_family_base
  use kinds, only: dp, i4
  use contact_iterations, only: status_solved, status_failed
  use diagonal_block, only: block_size
  use kind_numbers, only: frame_kept
  use row_block, only: law_size, l_length, row_options
  use row_norms, only: weighted
  use state_tables, only: constraint_table, surface_material_table
  implicit none
  private
  public :: row_family, prepared_row, row_error, no_error
  public :: identity, accept, carry, normal_line, joint_length, keep_reaction, measure_nothing

  real(dp), parameter :: identity(3,3) = reshape([1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp], [3, 3])

  !> One row whose law `prepare` makes: its numbers, and the tables from which a law reads the columns that it needs.
  type :: prepared_row
    integer(i4) :: kind                         !< RowKind: that of the constraint, or of another law that holds in this step
    integer(i4) :: dynamic                      !< 1: dynamics
    real(dp) :: step                            !< h [time]
    real(dp) :: epsilon                         !< gap up to which bodies touch [length]
    integer(i4) :: constraint                   !< row of the constraint table
    integer(i4) :: material                     !< of a contact: row of the surface materials
    real(dp) :: arm                             !< of a rolling row: length at which turning counts as moving; else 0
    type(constraint_table), pointer :: constraints
    type(surface_material_table), pointer :: materials
    real(dp) :: w(3,3), b(3), v(3)              !< W_aa, B, V
    real(dp) :: free(3)                         !< B less the prescribed velocity, for `solve`; B at first
    real(dp) :: law(law_size)                   !< numbers of the law, zero at first; each family has its own layout
    real(dp) :: block(block_size)               !< numbers computed from W_aa, zero at first
  end type prepared_row

  !> Error of a row in its law.
  type :: row_error
    real(dp) :: member                          !< term of the merit function (docs/solvers.md, Gauss-Seidel solver)
    real(dp) :: residual                        !< error in velocity
  end type row_error

  type(row_error), parameter :: no_error = row_error(0.0_dp, 0.0_dp)

  !> Rows with one law.  Procedures that a law does not need have defaults; those without `self` need only numbers of the row.  The components are those of `RowFamily` in solfec/kinds.py.
  type, abstract :: row_family
    integer :: frame = frame_kept
    logical :: newton = .false.
    logical :: weakens = .false.
    logical :: joint = .false.
    logical :: slides = .false.
    logical :: angular = .false.
    logical :: carried = .false.
    logical :: masked = .false.
    logical :: geared = .false.
  contains
    procedure :: prepare => keeps_what_is_given
    procedure(solve_one_row), nopass, deferred :: solve
    procedure(measure_row), nopass, deferred :: measure
    procedure, nopass :: taken_by_newton => as_it_is_assembled
    procedure, nopass :: linearise => carries_nothing
    procedure, nopass :: snaps_back => has_one_solution
    procedure, nopass :: held => as_strong
    procedure, nopass :: damage_at => undamaged
    procedure, nopass :: projected => stays
    procedure, nopass :: ends => never_ends
    procedure, nopass :: damaged => undamaged
    procedure :: free_energy => energy_of_b
    procedure, nopass :: free_square => square_of_b
    procedure, nopass :: length => no_length
    procedure :: load => no_load
  end type row_family

  abstract interface
    !> Solves for the reaction of a row with those of all others held; returns a status of contact_iterations.
    integer(i4) function solve_one_row(w, block, law, normal_v, options, b, r) result(status)
      import :: row_options, dp, i4, law_size, block_size
      real(dp), intent(in) :: w(3,3)              !< W_aa
      real(dp), intent(inout) :: block(block_size)
      real(dp), intent(in) :: law(law_size)
      real(dp), intent(in) :: normal_v            !< V_N
      type(row_options), intent(in) :: options
      real(dp), intent(in) :: b(3)                !< free velocity with the reactions of all others
      real(dp), intent(inout) :: r(3)             !< R of the last visit; the solution, or unchanged
    end function solve_one_row

    !> Measures the error of a row in its law.
    pure type(row_error) function measure_row(exact, unit, block, law, w, u, reaction, half_step)
      import :: row_error, dp, law_size, block_size
      logical, intent(in) :: exact                !< links and springs as at the end of the step (constraint_measures)
      real(dp), intent(in) :: unit                !< of force, in which the merit adds reactions to velocities
      real(dp), intent(in) :: block(block_size), law(law_size), w(3,3)
      real(dp), intent(in) :: u(3), reaction(3)
      real(dp), intent(in) :: half_step           !< h/2 (dynamics) or h (quasi-statics): from velocity to displacement
    end function measure_row
  end interface

contains

  !> Sets the reaction of a row without tangential ones, unless its normal component is not finite; returns the status.
  integer(i4) function carry(normal, r) result(status)
    real(dp), intent(in) :: normal
    real(dp), intent(inout) :: r(3)

    status = accept([0.0_dp, 0.0_dp, normal], r)
  end function carry

  !> Sets the reaction of a row unless it is not finite; returns the status.
  integer(i4) function accept(found, r) result(status)
    real(dp), intent(in) :: found(3)
    real(dp), intent(inout) :: r(3)

    status = merge(status_solved, status_failed, sum(abs(found)) <= huge(1.0_dp))
    if (status == status_solved) r = found
  end function accept

  !> Newton's linear system (`linearise`) of a row without tangential reactions: R_T = 0, and  slope (W dR)_N + weight dR_N = right.
  pure subroutine normal_line(slope, weight, right, r, x, y, rhs)
    real(dp), intent(in) :: slope, weight, right, r(3)
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)

    x = 0.0_dp
    x(3,3) = slope
    y = identity
    y(3,3) = weight
    rhs = [-r(1), -r(2), right]
  end subroutine normal_line

  !> Leaves the reaction as it is, as sweeps do with springs whose force a Python function gives.
  integer(i4) function keep_reaction(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    status = status_solved
  end function keep_reaction

  !> Measures zero: the merit function does not include this law.
  pure type(row_error) function measure_nothing(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    measure_nothing = no_error
  end function measure_nothing

  !> Makes the law of a constraint in this step; by default free velocity and kind are those given, and the law's numbers zero.
  pure subroutine keeps_what_is_given(self, row)
    class(row_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row
  end subroutine keeps_what_is_given

  !> Replaces kind, law and block of a row by those that the Newton solver takes; by default they stay.
  pure subroutine as_it_is_assembled(normal_v, half_step, step, w, kind, law, block)
    real(dp), intent(in) :: normal_v, half_step, step, w(3,3)   !< w: W_aa
    integer(i4), intent(inout) :: kind
    real(dp), intent(inout) :: law(law_size), block(block_size)
  end subroutine as_it_is_assembled

  !> Computes a row of Newton's linear system  x (W dR) + y dR = rhs  at U, R (docs/solvers.md, Projected quasi-Newton solver).
  pure subroutine carries_nothing(w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    real(dp), intent(in) :: w(3,3)       !< W_aa
    real(dp), intent(in) :: block(block_size), law(law_size), u(3), r(3)
    real(dp), intent(in) :: unit         !< of force, in which reactions are added to velocities
    real(dp), intent(in) :: half_step    !< h/2 (dynamics) or h (quasi-statics)
    real(dp), intent(in) :: omega        !< smoothing [velocity]
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)

    x = 0.0_dp
    y = identity
    rhs = -r
  end subroutine carries_nothing

  !> Whether the law weakens so fast that the row may have several solutions with the reactions of all others held.
  pure logical function has_one_solution(law, w)
    real(dp), intent(in) :: law(law_size), w(3,3)
    has_one_solution = .false.
  end function has_one_solution

  !> The law of a row that does not weaken within the step, whatever it carries, and has at least the given damage.
  pure function as_strong(law, damage) result(strong)
    real(dp), intent(in) :: law(law_size), damage
    real(dp) :: strong(law_size)
    strong = law
  end function as_strong

  !> Projection of a reaction on those that the law allows; by default the reaction itself.
  pure function stays(block, r) result(p)
    real(dp), intent(in) :: block(block_size), r(3)
    real(dp) :: p(3)
    p = r
  end function stays

  !> Whether cohesion ends in a contact of one point with this reaction (docs/language-objects.md, SURFACE_MATERIAL).
  pure logical function never_ends(law, r)
    real(dp), intent(in) :: law(law_size), r(3)
    never_ends = .false.
  end function never_ends

  !> Damage at the end of a step with these final velocities and reactions, from 0 to 1, at which cohesion ends.
  pure real(dp) function undamaged(law, block, w, u, r)
    real(dp), intent(in) :: law(law_size), block(block_size), w(3,3), u(3), r(3)
    undamaged = 0.0_dp
  end function undamaged

  !> Twice the energy that reactions have to bring in or to take away, of which merits are parts: that of B, by default.
  pure real(dp) function energy_of_b(self, law, w, b)
    class(row_family), intent(in) :: self
    real(dp), intent(in) :: law(law_size), w(3,3), b(3)
    energy_of_b = weighted(w, b)
  end function energy_of_b

  !> Square of the velocity of which residuals are parts: of B, by default.
  pure real(dp) function square_of_b(law, b)
    real(dp), intent(in) :: law(law_size), b(3)
    square_of_b = b(1)**2 + b(2)**2 + b(3)**2
  end function square_of_b

  !> Length that the law prescribes, whose round-off bounds the residual.
  pure real(dp) function no_length(law)
    real(dp), intent(in) :: law(law_size)
    no_length = 0.0_dp
  end function no_length

  !> The length among the numbers of a joint's law.
  pure real(dp) function joint_length(law)
    real(dp), intent(in) :: law(law_size)
    joint_length = law(l_length)
  end function joint_length

  !> Load that is compared with the constraint's strength [force].
  pure real(dp) function no_load(self, reaction)
    class(row_family), intent(in) :: self
    real(dp), intent(in) :: reaction(3)
    no_load = 0.0_dp
  end function no_load
end module row_family_base
