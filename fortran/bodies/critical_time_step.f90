!> The critical time step of explicitly integrated pseudo-rigid and finite element bodies.
module critical_time_step
  use kinds, only: dp, i4, i8
  use kind_numbers, only: explicit_scheme => scheme_def_exp, neo_hookean_law => law_neo_hookean
  use body_state, only: element_bodies, bodies_and_triples, open_bodies, open_elements
  use table_registry, only: table_open
  use velocity_operator, only: pseudo_rigid_kind
  use pseudo_rigid, only: second_piola_kirchhoff
  implicit none
  private
  public :: critical_step, least_element_step

  !> Number of bodies from which threads pay.
  integer(i4), parameter :: parallel_from = 500

contains

  !> Smallest half of the stability limit over the finite element bodies with scheme DEF_EXP, or of body number `only` if that is
  !> not negative.  omega**2 is bounded from the largest eigenvalue at rest and the largest strain e of the body's elements
  !> (frequencies.py): (omega_0 + 2 e sqrt(c gamma))**2 + s e gamma, c = 3 lambda + 2 mu, s = sqrt(3) lambda + 2 mu.  For
  !> the Neo-Hookean material the bound is m gamma with the elements' modulus m.
  !>
  !> Reads scheme, law, damping and owner of bodies (BodyTable.handles), and of elements (FiniteElements) linear, row, stiffest, strain (e, or
  !> m), square_at_rest (omega_0**2; not a number: unknown), laplacian (gamma, or a bound of it while omega_0**2 is unknown) and
  !> square_present (a bound of omega**2 at the present strains; huge: unknown).
  !>
  !> While omega_0**2 is unknown its bound c gamma counts, if the step that it allows for is at least `wanted`.
  !>
  !>   rank           of the process whose bodies count, others are copies; -1: all bodies count
  !>   at_rest        1: e = 0
  !>   wanted         smaller steps are exact; larger ones may be too small
  !>   least, worst   the step, and the number of the first body that bounds it; -1: none
  !>   unknown        number of a body whose eigenvalues, or a bound of them, must be computed first, else -1
  subroutine least_element_step(handles, elements, only, rank, at_rest, wanted, least, worst, unknown, failure)
    integer(i8), intent(in) :: handles(3), elements
    integer(i4), intent(in) :: only, rank, at_rest
    real(dp), intent(in) :: wanted
    real(dp), intent(out) :: least
    integer(i4), intent(out) :: worst, unknown, failure
    type(element_bodies) :: state
    real(dp) :: e, eta, frequency, lambda, mu, step, square
    logical :: bounded
    integer(i4) :: b

    least = huge(least)
    worst = -1
    unknown = -1
    call open_elements(handles, elements, state, failure)
    if (failure /= table_open) return
    associate (linear => state%fe%linear, row => state%fe%row, stiffest => state%fe%stiffest, at_zero => state%fe%square_at_rest, &
               gamma => state%fe%laplacian, strain => state%fe%strain, present => state%fe%square_present, &
               scheme => state%bodies%scheme, law => state%bodies%law, damping => state%bodies%damping, &
               owner => state%bodies%owner)
    do b = 0, state%fe%count - 1
      if (only >= 0) then
        if (b /= only) cycle
      else if (scheme(row(b)) /= explicit_scheme .or. (rank >= 0 .and. owner(row(b)) /= rank)) then
        cycle
      end if
      square = at_zero(b)
      bounded = square /= square            ! not a number; this comparison does not signal
      if (bounded) square = (3*max(stiffest(1,b), 0.0_dp) + 2*stiffest(2,b))*gamma(b)
      if (square /= square) then
        unknown = b
        return
      end if
      if (linear(b) == 0 .and. law(row(b)) == neo_hookean_law .and. at_rest == 0) then
        frequency = strain(b)*gamma(b)
      else
        e = merge(0.0_dp, strain(b), at_rest == 1)
        lambda = stiffest(1,b)
        mu = stiffest(2,b)
        ! multiplied out, so that it is omega_0**2 to the last bit without strains: steps that are critical at rest stay so
        frequency = square + e*(4*sqrt(square*(3*lambda + 2*mu)*gamma(b)) &
                                + (4*e*(3*lambda + 2*mu) + sqrt(3.0_dp)*lambda + 2*mu)*gamma(b))
      end if
      if (at_rest == 0) frequency = min(frequency, max(square, present(b)))
      eta = damping(row(b))
      step = 2/(frequency*(eta + sqrt(eta**2 + 4/frequency)))   ! h (h + eta) = 1/omega**2
      if (bounded .and. step < wanted) then
        unknown = b
        return
      end if
      if (.not. step >= least) then
        least = step
        worst = b
      end if
    end do
    end associate
  end subroutine least_element_step

  !> Smallest half of the stability limit over the pseudo-rigid bodies with scheme DEF_EXP at their present gradients
  !> (docs/language-objects.md, BODY.scheme).  With omega**2 the largest eigenvalue of M^-1/2 K M^-1/2, M = blockdiag(E0, E0, E0),
  !> K = V dP/dF, and the damping force eta K u(t), the step is stable while h**2 omega**2 + 2 h eta omega**2 <= 4;
  !> half of that limit fulfils h (h + eta) = 1/omega**2, which is 1/omega without damping.
  subroutine critical_step(handles, rank, step, row, failure)
    integer(i8), intent(in) :: handles(3)         !< BodyTable.handles
    integer(i4), intent(in) :: rank               !< of the process whose bodies count, others are copies; -1: all bodies count
    real(dp), intent(out) :: step                 !< largest real number when nothing bounds the step
    integer(i4), intent(out) :: row               !< body that bounds the step (-1: none; with a failure: the body at fault)
    integer(i4), intent(out) :: failure           !< 0; 10: no positive eigenvalue (a body without stiffness); `table_unknown`
    type(bodies_and_triples) :: state
    real(dp) :: eigenvalue, matrix(9,9)
    real(dp) :: largest, mine, demand             ! 1/h**2
    integer(i4) :: b, c, at_fault, my_row, stiffest

    step = huge(step)
    row = -1
    call open_bodies(handles, state, failure)
    if (failure /= table_open) return
    associate (kind => state%bodies%kind, scheme => state%bodies%scheme, volume => state%bodies%volume, &
               damping => state%bodies%damping, lame => state%bodies%lame, tensor => state%bodies%tensor, &
               conf_ptr => state%bodies%conf_ptr, conf => state%configurations%conf, owner => state%bodies%owner)
    largest = 0
    stiffest = -1
    at_fault = huge(at_fault)
    !$omp parallel if(state%n > parallel_from) private(eigenvalue, demand, b, c, matrix, mine, my_row) reduction(min:at_fault)
    mine = 0
    my_row = -1
    !$omp do schedule(static)
    do b = 0, state%n - 1
      if (kind(b) /= pseudo_rigid_kind) cycle
      if (scheme(b) /= explicit_scheme .or. (rank >= 0 .and. owner(b) /= rank)) cycle
      c = conf_ptr(b)
      matrix = volume(b)*stiffness(lame(:,b), tensor(:,:,b), conf(:,c:c+2))
      ! clearly softer than an earlier body; the margin keeps the result independent of the order of bodies
      if (mine > 0) then
        if (all_eigenvalues_below(matrix, mine*(1 - 1e-12_dp)/(1 + damping(b)*sqrt(mine)))) cycle
      end if
      eigenvalue = largest_eigenvalue(matrix)
      if (.not. eigenvalue > 0) then
        at_fault = min(at_fault, b)
        cycle
      end if
      demand = eigenvalue
      if (damping(b) > 0) demand = (0.5_dp*eigenvalue*(damping(b) + sqrt(damping(b)**2 + 4/eigenvalue)))**2
      if (demand > mine) then
        mine = demand
        my_row = b
      end if
    end do
    !$omp end do
    !$omp critical (smallest_step)
    ! the first one of equal bodies, for any order of threads
    if (mine > largest .or. (mine >= largest .and. my_row >= 0 .and. my_row < stiffest)) then
      largest = mine
      stiffest = my_row
    end if
    !$omp end critical (smallest_step)
    !$omp end parallel
    end associate
    row = stiffest
    if (stiffest >= 0) step = 1/sqrt(largest)
    if (at_fault < state%n) then
      failure = 10
      row = at_fault
    end if
  end subroutine critical_step

  !> L^-1 (dP/dF) L^-T with E0 = L L^T acting on the referential index; row and column 3(i-1)+J of component iJ.
  !> With G = F L^-T:  delta_ik (L^-1 S L^-T)_JL + lambda G_iJ G_kL + mu ((F F^T)_ik (L^-1 L^-T)_JL + G_iL G_kJ).
  pure function stiffness(lame, euler, transposed) result(k)
    real(dp), intent(in) :: lame(2)
    real(dp), intent(in) :: euler(3,3)
    real(dp), intent(in) :: transposed(3,3)       !< F^T
    real(dp) :: k(9,9)
    real(dp) :: lower(3,3), stress(3,3), energy, scaled_stress(3,3), metric(3,3), g(3,3), left(3,3)
    integer :: i, j, l, m, row, column

    lower = inverse_cholesky(euler)
    call second_piola_kirchhoff(lame, transposed, stress, energy)
    scaled_stress = matmul(matmul(lower, stress), transpose(lower))
    metric = matmul(lower, transpose(lower))
    g = matmul(lower, transposed)                 ! G^T
    left = matmul(transpose(transposed), transposed)
    do m = 1, 3
      do l = 1, 3
        column = 3*(m - 1) + l
        do i = 1, 3
          do j = 1, 3
            row = 3*(i - 1) + j
            k(row,column) = lame(1)*g(j,i)*g(l,m) + lame(2)*(left(i,m)*metric(j,l) + g(l,i)*g(j,m))
            if (i == m) k(row,column) = k(row,column) + scaled_stress(j,l)
          end do
        end do
      end do
    end do
  end function stiffness

  !> L^-1 of the Cholesky factorisation A = L L^T.
  pure function inverse_cholesky(a) result(x)
    real(dp), intent(in) :: a(3,3)
    real(dp) :: x(3,3)
    real(dp) :: l11, l21, l31, l22, l32, l33

    l11 = sqrt(a(1,1))
    l21 = a(2,1)/l11
    l31 = a(3,1)/l11
    l22 = sqrt(a(2,2) - l21*l21)
    l32 = (a(3,2) - l31*l21)/l22
    l33 = sqrt(a(3,3) - l31*l31 - l32*l32)
    x = 0
    x(1,1) = 1/l11
    x(2,2) = 1/l22
    x(3,3) = 1/l33
    x(2,1) = -l21*x(1,1)*x(2,2)
    x(3,2) = -l32*x(2,2)*x(3,3)
    x(3,1) = -(l31*x(1,1) + l32*x(2,1))*x(3,3)
  end function inverse_cholesky

  !> Whether shift I - A is positive definite, by its Cholesky factorisation.
  pure logical function all_eigenvalues_below(matrix, shift) result(below)
    real(dp), intent(in) :: matrix(9,9)
    real(dp), intent(in) :: shift
    real(dp) :: a(9,9), factor
    integer :: i, j, k

    a = -matrix
    below = .false.
    do k = 1, 9
      a(k,k) = a(k,k) + shift
      if (.not. a(k,k) > 0) return
      do j = k + 1, 9
        factor = a(j,k)/a(k,k)
        do i = j, 9
          a(i,j) = a(i,j) - factor*a(i,k)
        end do
      end do
    end do
    below = .true.
  end function all_eigenvalues_below

  !> Largest eigenvalue of a symmetric 9x9 matrix to round-off: reduction to tridiagonal form, then multisection with
  !> sign counts, which multiple eigenvalues do not slow down.  Not positive if the matrix has no positive eigenvalue.
  pure real(dp) function largest_eigenvalue(matrix) result(upper)
    real(dp), intent(in) :: matrix(9,9)
    integer, parameter :: lanes = 8
    real(dp) :: diagonal(9), squared(8), shift(lanes), pivot(lanes), least(lanes), lower, radius, floor_value
    integer :: i, k, pass

    call tridiagonal_form(matrix, diagonal, squared)
    lower = maxval(diagonal)
    upper = diagonal(1) + sqrt(squared(1))
    do i = 2, 9
      radius = sqrt(squared(i-1))
      if (i < 9) radius = radius + sqrt(squared(i))
      upper = max(upper, diagonal(i) + radius)
    end do
    floor_value = max(maxval(squared)*1e-30_dp, tiny(1.0_dp))
    floor_value = floor_value/max(abs(upper), 1e-100_dp) + tiny(1.0_dp)
    do pass = 1, 30
      if (upper - lower <= 4*epsilon(1.0_dp)*abs(upper)) exit
      do k = 1, lanes
        shift(k) = lower + (upper - lower)*k/(lanes + 1)
        pivot(k) = shift(k) - diagonal(1)
        least(k) = pivot(k)
      end do
      do i = 2, 9
        do k = 1, lanes
          pivot(k) = shift(k) - diagonal(i) - squared(i-1)/max(pivot(k), floor_value)
          least(k) = min(least(k), pivot(k))
        end do
      end do
      ! all pivots positive: every eigenvalue lies below the shift
      do k = lanes, 1, -1
        if (least(k) > 0) then
          upper = shift(k)
        else
          lower = shift(k)
          exit
        end if
      end do
    end do
  end function largest_eigenvalue

  !> Diagonal and squared off-diagonal of the tridiagonal form of a symmetric matrix (Householder reflections).
  pure subroutine tridiagonal_form(matrix, diagonal, squared)
    real(dp), intent(in) :: matrix(9,9)
    real(dp), intent(out) :: diagonal(9), squared(8)
    real(dp) :: a(9,9), v(9), p(9), length2, alpha, beta
    integer :: i, j, k

    a = matrix
    do k = 1, 7
      diagonal(k) = a(k,k)
      length2 = sum(a(k+1:9,k)**2)
      squared(k) = length2
      if (sum(a(k+2:9,k)**2) == 0) cycle
      v = 0
      v(k+1:9) = a(k+1:9,k)
      alpha = sign(sqrt(length2), v(k+1))
      v(k+1) = v(k+1) + alpha
      beta = 1/(alpha*v(k+1))                     ! 2/|v|**2
      p = 0
      do j = k + 1, 9
        do i = k + 1, 9
          p(i) = p(i) + a(i,j)*v(j)
        end do
      end do
      p = beta*p
      p = p - beta/2*sum(p*v)*v
      do j = k + 1, 9
        do i = k + 1, 9
          a(i,j) = a(i,j) - v(i)*p(j) - p(i)*v(j)
        end do
      end do
    end do
    diagonal(8) = a(8,8)
    diagonal(9) = a(9,9)
    squared(8) = a(9,8)**2
  end subroutine tridiagonal_form

end module critical_time_step
