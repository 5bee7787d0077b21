!> Rolling and spinning friction: the second row of a contact (docs/language-objects.md, SURFACE_MATERIAL; docs/theory.md, Rolling friction).
!>
!> U = l (w_T1, w_T2, w_N) is the relative angular velocity of the bodies at the row's arm l, and l R the moment.  The normal reaction p of the contact
!> bounds it,
!>
!>   -U in the normal cone of K at R,   K: |R_T| <= a p/l, |R_N| <= c p/l,
!>
!> with the rolling length a and the spinning length c.  So R makes R.W R/2 + b.R smallest in K, U = b + W R.
module rolling_rows
  use kinds, only: dp, i4
  use diagonal_block, only: block_size, b_rho, largest_eigenvalue
  use row_block, only: law_size, row_options
  use row_family_base, only: row_family, prepared_row, row_error, accept
  use row_norms, only: weighted
  implicit none
  private
  public :: rolling_family, take_normals, b_normal

  integer, parameter :: l_rolling = 1, l_spinning = 2   !< law data: lengths over the arm
  integer, parameter :: b_normal = 1                    !< numbers of the row: normal reaction of its contact
  integer, parameter :: bound = 60                      !< of iterations, which seldom exceed five

  type, extends(row_family) :: rolling_family
  contains
    procedure :: prepare => prepare_rolling
    procedure, nopass :: solve => solve_rolling, measure => measure_rolling
  end type rolling_family

contains

  !> Stores the normal reactions of contacts with their rolling rows; `contact`: row of a rolling row's contact, -1 for other rows.
  pure subroutine take_normals(n, contact, reaction, block)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: contact(0:*)
    real(dp), intent(in) :: reaction(3,0:*)
    real(dp), intent(inout) :: block(block_size,0:*)
    integer :: a

    do a = 0, n - 1
      if (contact(a) >= 0) block(b_normal,a) = max(reaction(3,contact(a)), 0.0_dp)
    end do
  end subroutine take_normals

  pure subroutine prepare_rolling(self, row)
    class(rolling_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row

    row%law(l_rolling) = row%materials%rolling_length(row%material)/row%arm
    row%law(l_spinning) = row%materials%spinning_length(row%material)/row%arm
    row%block(b_rho) = 1.0_dp/largest_eigenvalue(row%w)
  end subroutine prepare_rolling

  integer(i4) function solve_rolling(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options

    status = accept(moment(w, law(l_rolling)*block(b_normal), law(l_spinning)*block(b_normal), b), r)
  end function solve_rolling

  !> R in K with the smallest R.W R/2 + b.R, for |R_T| <= rolling, |R_N| <= spinning.
  !>
  !> The smallest value over R_T alone is a convex function of R_N.  So R_N is that of the solution without its bound, moved to the bound if it is beyond.
  pure function moment(w, rolling, spinning, b) result(r)
    real(dp), intent(in) :: w(3,3), rolling, spinning, b(3)
    real(dp) :: r(3), s(2,2), c(2)

    s = w(1:2,1:2) - matmul(w(1:2,3:3), w(3:3,1:2))/w(3,3)
    c = b(1:2) - w(1:2,3)*(b(3)/w(3,3))
    r(1:2) = held_in_disc(s, rolling, c)
    r(3) = -(b(3) + dot_product(w(3,1:2), r(1:2)))/w(3,3)
    if (.not. abs(r(3)) > spinning) return
    r(3) = sign(spinning, r(3))
    r(1:2) = held_in_disc(w(1:2,1:2), rolling, b(1:2) + w(1:2,3)*r(3))
  end function moment

  !> r with |r| <= radius and the smallest r.S r/2 + c.r.
  !>
  !> At the rim (S + q I) r = -c.  With D = det(S + q I) and D r = -adj(S) c - q c, Newton's iteration for 1/|r| = 1/radius, whose left-hand
  !> side is a concave function of q, rises from q = 0 to the solution.
  pure function held_in_disc(s, radius, c) result(r)
    real(dp), intent(in) :: s(2,2), radius, c(2)
    real(dp) :: r(2), x(2), det, trace, d, slope, p0, p1, p2, p, q, change
    integer :: iteration

    r = 0.0_dp
    if (.not. radius > 0.0_dp) return
    det = s(1,1)*s(2,2) - s(1,2)*s(2,1)
    trace = s(1,1) + s(2,2)
    x = [s(1,2)*c(2) - s(2,2)*c(1), s(2,1)*c(1) - s(1,1)*c(2)]
    r = x/det
    if (.not. norm2(r) > radius) return
    p0 = dot_product(x, x)
    p1 = -2.0_dp*dot_product(x, c)
    p2 = dot_product(c, c)
    q = 0.0_dp
    do iteration = 1, bound
      d = det + q*(trace + q)
      slope = trace + 2.0_dp*q
      p = p0 + q*(p1 + q*p2)
      change = (sqrt(p)/radius - d)/(slope - 0.5_dp*d*(p1 + 2.0_dp*q*p2)/p)
      q = q + max(change, 0.0_dp)
      if (.not. change > 2.0_dp*epsilon(1.0_dp)*q) exit
    end do
    r = x - q*c
    r = r*(radius/norm2(r))
  end function held_in_disc

  !> Measures a rolling row: the natural map R - P_K(R - rho U), as a velocity.
  pure type(row_error) function measure_rolling(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp) :: error(3), length, radius

    error = reaction - block(b_rho)*u
    radius = law(l_rolling)*block(b_normal)
    length = norm2(error(1:2))
    if (length > radius) error(1:2) = error(1:2)*(radius/length)
    error(3) = sign(min(abs(error(3)), law(l_spinning)*block(b_normal)), error(3))
    error = (reaction - error)/block(b_rho)
    measure_rolling = row_error(member=weighted(w, error), residual=norm2(error))
  end function measure_rolling
end module rolling_rows
