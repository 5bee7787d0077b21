!> The force of a spring between two points: a tabulated curve with a dashpot, between rigid stops (docs/language-objects.md, PUT_SPRING).
module spring_law
  use kinds, only: dp, i4
  implicit none
  private
  public :: window
  public :: s_stroke, s_lower, s_upper, s_dashpot, s_target, s_mean, s_reach, s_implicit
  public :: spring_reaction, spring_error, spring_line, step_force, find_stop

  !> Law data of a spring, in dynamics and in quasi-statics.
  integer, parameter :: s_stroke = 1         !< s at which constraints are evaluated: at mid step; at the start
  integer, parameter :: s_lower = 2, s_upper = 3   !< strokes at the stops
  integer, parameter :: s_dashpot = 4
  integer, parameter :: s_target = 5         !< velocity that stops the stroke: -V_N; 0 (find_stop)
  integer, parameter :: s_mean = 6           !< weight of U_N in the velocity of the step: 1/2; 1
  integer, parameter :: s_reach = 7          !< stroke made from U_N - target: h/4; h
  integer, parameter :: s_implicit = 8       !< 1: force at the mean stroke and velocity of the step, 0: see spring_reaction

  !> Number of knots of the curve around the present stroke that a row holds, strokes before forces.
  integer, parameter :: window = 7
  integer, parameter :: solution_bound = 30  !< Newton steps of the implicit law, each to another piece of the curve

contains

  !> R_N of a spring whose velocity without its own reaction is b.
  pure function spring_reaction(w, knots, law, b) result(r)
    real(dp), intent(in) :: w                !< W_NN
    real(dp), intent(in) :: knots(2*window), law(8), b
    real(dp) :: r, target
    logical :: held

    call find_stop(w, knots, law, b, held, target)
    if (held) then
      r = (target - b)/w
    else
      r = curve_reaction(w, knots, law, b)
    end if
  end function spring_reaction

  !> R_N without stops.  Explicit: f(s, b).  Implicit: f at the mean stroke and the mean velocity of the step, both of which
  !> depend on R_N; the explicit value if there is no solution.
  pure function curve_reaction(w, knots, law, b) result(r)
    real(dp), intent(in) :: w, knots(2*window), law(8), b
    real(dp) :: r, explicit, force, slope, derivative
    integer :: iteration, piece, last

    call evaluate(knots, law, law(s_stroke), b, explicit, slope, piece)
    r = explicit
    if (law(s_implicit) == 0.0_dp) return
    last = 0
    do iteration = 1, solution_bound
      call step_force(knots, law, b + w*r, force, slope, piece)
      if (piece == last) return   ! r solves the equation of this piece
      last = piece
      derivative = 1.0_dp - w*(law(s_reach)*slope - law(s_mean)*law(s_dashpot))
      if (.not. derivative > 0.0_dp) exit
      r = r + (force - r)/derivative
    end do
    r = explicit
  end function curve_reaction

  !> Error of a spring in its law, as a velocity.
  pure function spring_error(w, knots, law, u, r) result(error)
    real(dp), intent(in) :: w                !< W_NN
    real(dp), intent(in) :: knots(2*window), law(8)
    real(dp), intent(in) :: u, r             !< U_N, R_N
    real(dp) :: error, force, slope, target
    integer :: piece
    logical :: held

    call find_stop(w, knots, law, u - w*r, held, target)
    if (held) then
      error = u - target
    else
      if (law(s_implicit) == 0.0_dp) then
        call evaluate(knots, law, law(s_stroke), u - w*r, force, slope, piece)
      else
        call step_force(knots, law, u, force, slope, piece)
      end if
      error = w*(r - force)
    end if
  end function spring_error

  !> Tangent R_N = p + g U_N of a spring at its present velocity and reaction; `held`: it is at a stop, which prescribes the velocity `target`.
  pure subroutine spring_line(w, knots, law, u, r, constant, slope, target, held)
    real(dp), intent(in) :: w                !< W_NN
    real(dp), intent(in) :: knots(2*window), law(8)
    real(dp), intent(in) :: u, r             !< U_N, R_N
    real(dp), intent(out) :: constant, slope, target
    logical, intent(out) :: held
    real(dp) :: free, force, by_stroke, share
    integer :: piece

    constant = 0.0_dp
    slope = 0.0_dp
    free = u - w*r
    call find_stop(w, knots, law, free, held, target)
    if (held) return
    if (law(s_implicit) /= 0.0_dp) then
      call step_force(knots, law, u, force, by_stroke, piece)
      slope = law(s_reach)*by_stroke - law(s_mean)*law(s_dashpot)
      constant = force - slope*u
    else
      call evaluate(knots, law, law(s_stroke), free, force, by_stroke, piece)
      share = 1.0_dp - w*law(s_dashpot)      ! f at U - W R, with R in it
      slope = -law(s_dashpot)/share
      constant = (force + law(s_dashpot)*free)/share
    end if
  end subroutine spring_line

  !> Finds whether a stop holds the spring, whose velocity without its own reaction is b, and at what velocity.  In dynamics
  !> a stroke beyond a limit goes no further.  In quasi-statics, where a step goes any way, it does not pass the limit.
  pure subroutine find_stop(w, knots, law, b, held, target)
    real(dp), intent(in) :: w, knots(2*window), law(8), b
    logical, intent(out) :: held
    real(dp), intent(out) :: target
    real(dp) :: stroke

    target = law(s_target)
    if (law(s_mean) < 1.0_dp) then
      held = (law(s_stroke) < law(s_lower) .and. b < 0.0_dp) .or. (law(s_stroke) > law(s_upper) .and. b > 0.0_dp)
    else
      stroke = law(s_stroke) + law(s_reach)*(b + w*curve_reaction(w, knots, law, b))
      held = stroke < law(s_lower) .or. stroke > law(s_upper)
      if (held) target = (merge(law(s_lower), law(s_upper), stroke < law(s_lower)) - law(s_stroke))/law(s_reach)
    end if
  end subroutine find_stop

  !> Force and slope of the curve at the mean stroke and velocity of a step that ends with U_N = u.
  pure subroutine step_force(knots, law, u, force, slope, piece)
    real(dp), intent(in) :: knots(2*window), law(8), u
    real(dp), intent(out) :: force, slope
    integer, intent(out) :: piece
    call evaluate(knots, law, law(s_stroke) + law(s_reach)*(u + law(s_target)), &
                  law(s_mean)*u - (1.0_dp - law(s_mean))*law(s_target), force, slope, piece)
  end subroutine step_force

  !> Computes f(s, v) and df/ds; the first and the last piece of the curve extend to infinity.
  pure subroutine evaluate(knots, law, stroke, velocity, force, slope, piece)
    real(dp), intent(in) :: knots(2*window), law(8), stroke, velocity
    real(dp), intent(out) :: force, slope
    integer, intent(out) :: piece            !< of the curve, 1 .. window - 1
    integer :: k

    do k = 1, window - 2
      if (stroke < knots(k+1)) exit
    end do
    piece = k
    slope = (knots(window+k+1) - knots(window+k))/(knots(k+1) - knots(k))
    force = knots(window+k) + slope*(stroke - knots(k)) - law(s_dashpot)*velocity
  end subroutine evaluate
end module spring_law
