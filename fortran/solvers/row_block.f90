!> One row of local dynamics with the reactions of all other rows held fixed: what kinds of rows there are, what is
!> kept of their laws, and the solution of each kind (contacts: see diagonal_block).
module row_block
  use kinds, only: dp, i4
  use kind_numbers, only: contact_row => row_contact, fixpnt_row => row_fixpnt, fixdir_row => row_fixdir, &
    velodir_row => row_velodir, velodir3_row => row_velodir3, link_row => row_riglnk, &
    spring_dashpot_row => row_spring_dashpot, open_row => row_open
  use contact_iterations, only: solve3, status_solved, status_failed
  use diagonal_block, only: block_size, b_cohesion, solve_contact
  use spring_law, only: spring_row, held_row, spring_reaction
  implicit none
  private
  public :: contact_row, fixpnt_row, fixdir_row, velodir_row, velodir3_row, link_row, spring_dashpot_row, open_row
  public :: law_size, l_gap, l_spring, l_dashpot, l_power, l_friction, l_restitution, l_cohesion, l_shift
  public :: l_link, l_length, l_target
  public :: solve_row, penalty_block, link_length_error, count_driving
  public :: row_options, sweep_figures

  !> Layout of the law data of a row: contacts ...
  integer, parameter :: law_size = 8
  integer, parameter :: l_gap = 1, l_spring = 2, l_dashpot = 3, l_power = 4, l_friction = 5, l_restitution = 6
  integer, parameter :: l_cohesion = 7              !< cohesion times area [force]
  integer, parameter :: l_shift = 8                 !< added to the normal velocity: restitution, or gap over step
  !> ... rigid links: link vector in the local base (3) and its reference length; others: velocity asked for (3).
  integer, parameter :: l_link = 1, l_length = 4, l_target = 1

  !> How rows are solved.
  type :: row_options
    real(dp) :: half_step            !< h/2 (dynamics) or h (quasi-statics) [time]
    real(dp) :: step                 !< h [time]
    integer(i4) :: solver            !< block solver of contacts (diagonal_block)
    real(dp) :: tolerance            !< its accuracy
    integer(i4) :: bound             !< and the bound of its iterations
  end type row_options

  !> What a sweep over some rows found; (1): of rows that drive obstacles (count_driving), (0): of the others.
  type :: sweep_figures
    real(dp) :: change(0:1) = 0.0_dp      !< sums of |dR|^2
    real(dp) :: size(0:1) = 0.0_dp        !< sums of |R|^2
    real(dp) :: postponed = 0.0_dp        !< |r|^2 owed by contacts that are still to close (visit_contact)
    integer(i4) :: counts(3) = 0          !< block solves resolved by a fall-back; left because of a bound, of a failure
    integer(i4) :: failed = -1            !< last row left unsolved, or -1
  end type sweep_figures

contains

  !> The reaction of one row; `b` is its velocity without its own reaction, less the velocity asked for (bilateral rows),
  !> in the reduced form of diagonal_block (contacts), and as it stands (links, spring-dashpot contacts).
  subroutine solve_row(kind, w, block, law, normal_v, half_step, step, solver, tolerance, bound, b, r, status)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: w(3,3)               !< diagonal block of W
    real(dp), intent(inout) :: block(block_size)
    real(dp), intent(in) :: law(law_size)
    real(dp), intent(in) :: normal_v             !< V_N
    real(dp), intent(in) :: half_step            !< h/2 (dynamics) or h (quasi-statics): from velocity to displacement
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: solver, bound     !< contacts: solver and its iteration bound
    real(dp), intent(in) :: tolerance
    real(dp), intent(in) :: b(3)
    real(dp), intent(inout) :: r(3)              !< R of the last visit; the solution, or unchanged
    integer(i4), intent(out) :: status
    real(dp) :: reduced(3), matrix(3,3)
    logical :: regular, lost

    status = status_solved
    select case (kind)
    case (contact_row)
      reduced = r
      reduced(3) = reduced(3) + block(b_cohesion)
      call solve_contact(solver, w, block, tolerance, bound, b, reduced, status)
      r = reduced
      r(3) = r(3) - block(b_cohesion)
      return
    case (fixpnt_row, velodir3_row)
      matrix = w
      reduced = -b
      call solve3(matrix, reduced, regular)
    case (fixdir_row, velodir_row)
      reduced = [0.0_dp, 0.0_dp, -b(3)/w(3,3)]
      regular = abs(reduced(3)) <= huge(1.0_dp)
    case (link_row)
      reduced = [0.0_dp, 0.0_dp, link_reaction(w(:,3), law(l_link:l_link+2), law(l_length), half_step, b)]
      regular = abs(reduced(3)) <= huge(1.0_dp)
    case (spring_row)
      reduced = [0.0_dp, 0.0_dp, spring_reaction(w(3,3), block(1:14), law, b(3))]
      regular = abs(reduced(3)) <= huge(1.0_dp)
    case (held_row)
      return
    case (spring_dashpot_row)
      reduced = r
      call penalty_block(.true., w, law, law(l_cohesion) > 0.0_dp, step, b, normal_v, reduced, lost, regular)
      regular = regular .and. all(abs(reduced) <= huge(1.0_dp))
    case default
      reduced = 0.0_dp
      regular = .true.
    end select
    if (regular) then
      r = reduced
    else
      status = status_failed
    end if
  end subroutine solve_row

  !> Adds to the sums of squares by which sweeps judge rows that drive obstacles: the velocities that a change of R makes, and those that
  !> there are.  Forces would not do: those of an obstacle that moves as it should are rounding, however large it makes them.
  pure subroutine count_driving(w, v, r, dr, change, size)
    real(dp), intent(in) :: w(3,3), v(3), r(3), dr(3)
    real(dp), intent(inout) :: change, size
    change = change + sum(matmul(w, dr)**2)
    size = size + sum(v**2) + sum(matmul(w, r)**2)
  end subroutine count_driving

  !> R_N of a rigid link: the length at the end of the step is d, |y + k (b + W_N R_N)| = d; of the two solutions the
  !> smaller force.  Without a solution (the points are too fast to be held) the normal velocity is made zero.
  pure function link_reaction(wn, y, d, k, b) result(rn)
    real(dp), intent(in) :: wn(3)    !< column W(:,N)
    real(dp), intent(in) :: y(3)     !< link vector (master minus slave) in the local base
    real(dp), intent(in) :: d        !< reference length
    real(dp), intent(in) :: k        !< h/2 or h
    real(dp), intent(in) :: b(3)     !< velocity without the link's own reaction
    real(dp) :: rn, p(3), a, half_b, c, root

    p = y + k*b
    a = k*k*dot_product(wn, wn)
    half_b = k*dot_product(p, wn)
    c = (norm2(p) - d)*(norm2(p) + d)
    root = half_b*half_b - a*c
    if (root >= 0.0_dp .and. abs(half_b) + root > 0.0_dp) then
      rn = -c/(half_b + sign(sqrt(root), half_b))
    else
      rn = -b(3)/wn(3)
    end if
  end function link_reaction

  !> Length error of a link at the end of the step, as a velocity: (|y + k U| - d)/k.
  pure function link_length_error(y, d, k, u) result(error)
    real(dp), intent(in) :: y(3), d, k, u(3)
    real(dp) :: error
    error = (norm2(y + k*u) - d)/k
  end function link_length_error

  !> Spring-dashpot contact with its diagonal block only (manual, PENALTY_SOLVER; theory, section "Penalty solver").
  pure subroutine penalty_block(implicit_law, w, law, cohesive, step, b, normal_v, r, lost, regular)
    logical, intent(in) :: implicit_law      !< the normal force follows the gap at t+h/2 and the mean velocity
    real(dp), intent(in) :: w(3,3)
    real(dp), intent(in) :: law(law_size)
    logical, intent(in) :: cohesive
    real(dp), intent(in) :: step
    real(dp), intent(in) :: b(3)             !< velocity without the contact's own reaction
    real(dp), intent(in) :: normal_v         !< V_N
    real(dp), intent(inout) :: r(3)          !< R of the last step or visit; the new one
    logical, intent(out) :: lost             !< cohesion is lost for good
    logical, intent(out) :: regular          !< false: W_TT is singular, the old R_T stays
    real(dp) :: bn, depth, stiffness, dashpot, force, det, limit, length, t(2)

    lost = .false.
    regular = .true.
    bn = b(3) + w(3,1)*r(1) + w(3,2)*r(2)
    depth = max(-law(l_gap), 0.0_dp)
    if (implicit_law) depth = max(-(law(l_gap) + 0.25_dp*step*(bn - normal_v)), 0.0_dp)
    force = 0.0_dp
    stiffness = 0.0_dp
    if (depth > 0.0_dp) then
      force = law(l_spring)*depth**law(l_power)
      stiffness = law(l_power)*force/depth
    else if (law(l_power) == 1.0_dp) then
      stiffness = law(l_spring)
    end if
    dashpot = law(l_dashpot)
    if (dashpot < 0.0_dp) dashpot = 2.0_dp*sqrt(step*stiffness/w(3,3))
    if (implicit_law) then
      r(3) = (force - 0.5_dp*dashpot*(bn + normal_v))/(1.0_dp + (0.25_dp*step*stiffness + 0.5_dp*dashpot)*w(3,3))
    else
      r(3) = force - dashpot*normal_v
    end if
    if (.not. cohesive .and. r(3) < 0.0_dp) then
      r = 0.0_dp
      return
    end if
    det = w(1,1)*w(2,2) - w(1,2)*w(2,1)
    if (det > 0.0_dp) then
      t = b(1:2) + w(1:2,3)*r(3)
      r(1) = -(w(2,2)*t(1) - w(1,2)*t(2))/det
      r(2) = -(w(1,1)*t(2) - w(2,1)*t(1))/det
    else
      regular = .false.
    end if
    if (cohesive .and. r(3) < -law(l_cohesion)) then
      lost = .true.
      r(3) = -law(l_cohesion)
    end if
    limit = law(l_friction)*abs(r(3))
    length = sqrt(r(1)**2 + r(2)**2)
    if (length > limit) then
      r(1:2) = r(1:2)*(limit/length)
      if (cohesive .and. law(l_friction) > 0.0_dp) lost = .true.  ! frictionless contacts only open
    end if
  end subroutine penalty_block
end module row_block
