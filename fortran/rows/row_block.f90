!> Data that all rows of local dynamics share: the size of law data, options of solutions, results of a sweep.
module row_block
  use kinds, only: dp, i4
  implicit none
  private
  public :: law_size, l_gap, l_spring, l_dashpot, l_power, l_friction, l_restitution, l_cohesion, l_shift, l_length, l_at_rest
  public :: row_options, sweep_figures, count_driving, is_round_off, drop_round_off

  !> Layout of the law data of contacts; other families have their own.
  integer, parameter :: law_size = 8
  integer, parameter :: l_gap = 1, l_spring = 2, l_dashpot = 3, l_power = 4, l_friction = 5, l_restitution = 6
  integer, parameter :: l_cohesion = 7              !< cohesion times area [force]
  integer, parameter :: l_shift = 8                 !< added to the normal velocity: restitution, or gap over step
  integer, parameter :: l_length = 4                !< of joints: length that the law prescribes, for round-off (`joint_length`)
  integer, parameter :: l_at_rest = 5               !< of joints: 1 in quasi-statics, whose steps start from rest (`free_energy`)

  real(dp), parameter :: last_digits = 1e-12_dp     !< of velocities: solvers leave such reactions where there are none

  !> Options of solutions of rows.
  type :: row_options
    real(dp) :: half_step            !< h/2 (dynamics) or h (quasi-statics) [time]
    real(dp) :: step                 !< h [time]
    integer(i4) :: solver            !< block solver of contacts (diagonal_block)
    real(dp) :: tolerance            !< accuracy of the block solver
    integer(i4) :: bound             !< largest number of its iterations
  end type row_options

  !> Results of a sweep over some rows; (1): of rows that drive obstacles (count_driving), (0): of the others.
  type :: sweep_figures
    real(dp) :: change(0:1) = 0.0_dp      !< sums of |dR|^2
    real(dp) :: size(0:1) = 0.0_dp        !< sums of |R|^2
    real(dp) :: postponed = 0.0_dp        !< |r|^2 of contacts that must still close (visit_contact)
    integer(i4) :: counts(3) = 0          !< numbers of blocks solved by a fall-back, not solved within the bound, not solved
    integer(i4) :: failed = -1            !< last row that was not solved, or -1
  end type sweep_figures

contains

  !> Adds to the sums of squares that measure convergence of rows that drive obstacles: velocities that a change of R makes, and velocities
  !> themselves.  Forces are unsuitable: those of an obstacle that moves as prescribed are round-off, however large its mass makes them.
  pure subroutine count_driving(w, v, r, dr, change, size)
    real(dp), intent(in) :: w(3,3), v(3), r(3), dr(3)
    real(dp), intent(inout) :: change, size
    change = change + sum(matmul(w, dr)**2)
    size = size + sum(v**2) + sum(matmul(w, r)**2)
  end subroutine count_driving

  !> Whether the reaction r changes velocities, sums of terms of the size `speed`, by no more than round-off.
  pure logical function is_round_off(w, speed, r)
    real(dp), intent(in) :: w, speed, r

    is_round_off = w*abs(r) <= last_digits*speed
  end function is_round_off

  !> Clears the reaction of a row that acts to one side only, such as a rope, if it is round-off: signs tell whether such rows act.
  pure subroutine drop_round_off(w, speed, r)
    real(dp), intent(in) :: w, speed
    real(dp), intent(inout) :: r

    if (is_round_off(w, speed, r)) r = 0.0_dp
  end subroutine drop_round_off
end module row_block
