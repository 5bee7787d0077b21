!> Measures of how well reactions fulfil the constraint laws: Solfec-1.0's merit function and the scale-free residual.
module merit
  use kinds, only: dp, i4
  use contact_iterations, only: contact_map
  use diagonal_block, only: block_size, b_friction, b_rho, b_cohesion
  use row_block, only: contact_row, fixpnt_row, fixdir_row, velodir_row, velodir3_row, link_row, &
    law_size, l_shift, l_link, l_length, l_target, link_length_error
  implicit none
  private
  public :: evaluate

  integer, parameter :: parallel_from = 300   !< rows from which threads pay

contains

  !> Merit g = sum P.A P/sum B.A B with A = W_aa^-1 (manual, GAUSS_SEIDEL_SOLVER.merhist), the members P.A P/Ef, and
  !> the residual: per contact (r - P_K(r - rho F))/rho, per other row the unmet part of its velocity condition.
  !>
  !>   n            rows in use
  !>   kind         (0:nrow-1) kinds of rows (row_block)
  !>   block, law   (16,0:nrow-1), (8,0:nrow-1) contact numbers (diagonal_block), laws (row_block)
  !>   diagonal     (3,3,0:nrow-1) W_aa [velocity/force]
  !>   b            (3,0:nrow-1) free velocity [velocity]
  !>   reaction, u  (3,0:nrow-1) R [force] and U = B + W R [velocity]
  !>   half_step    h/2 (dynamics) or h (quasi-statics)
  !>   member       (0:nrow-1) out: merit of every row (the members sum to 2 g)
  !>   residual     (0:nrow-1) out: residual of every row [velocity]
  !>   g            merit; the denominator is 1 when it would be below the machine epsilon
  !>   total        norm of the residuals over the norm of B (over 1 where B is zero)
  subroutine evaluate(n, nrow, kind, block, law, diagonal, b, reaction, u, half_step, member, residual, g, total)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: nrow
    integer(i4), intent(in) :: kind(0:nrow-1)
    real(dp), intent(in) :: block(16,0:nrow-1), law(8,0:nrow-1), diagonal(3,3,0:nrow-1)
    real(dp), intent(in) :: b(3,0:nrow-1), reaction(3,0:nrow-1), u(3,0:nrow-1)
    real(dp), intent(in) :: half_step
    real(dp), intent(inout) :: member(0:nrow-1), residual(0:nrow-1)
    real(dp), intent(out) :: g, total
    real(dp) :: energy, numerator, size
    integer :: a

    ! Sums run serially in the order of rows; only the rows' own numbers are computed by threads.
    !$omp parallel do if (n > parallel_from) schedule(static)
    do a = 0, n - 1
      call row_measures(kind(a), block(:,a), law(:,a), diagonal(:,:,a), u(:,a), reaction(:,a), half_step, &
                        member(a), residual(a))
    end do
    !$omp end parallel do
    energy = 0.0_dp
    numerator = 0.0_dp
    size = 0.0_dp
    total = 0.0_dp
    do a = 0, n - 1
      energy = energy + 0.5_dp*free_energy(kind(a), law(:,a), diagonal(:,:,a), b(:,a))
      numerator = numerator + 0.5_dp*member(a)
      size = size + (b(1,a)**2 + b(2,a)**2 + b(3,a)**2)
      total = total + residual(a)**2
    end do
    if (energy < epsilon(1.0_dp)) energy = 1.0_dp
    g = numerator/energy
    member(0:n-1) = member(0:n-1)/energy
    if (.not. size > 0.0_dp) size = 1.0_dp
    total = sqrt(total/size)
  end subroutine evaluate

  !> P.A P and the residual of one row.
  pure subroutine row_measures(kind, block, law, w, u, reaction, half_step, member, residual)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: block(block_size), law(law_size), w(3,3)
    real(dp), intent(in) :: u(3)         !< U
    real(dp), intent(in) :: reaction(3)
    real(dp), intent(in) :: half_step
    real(dp), intent(out) :: member, residual
    real(dp) :: p(3), r(3), unmet(3), error

    select case (kind)
    case (contact_row)
      r = reaction
      r(3) = r(3) + block(b_cohesion)
      unmet = [u(1), u(2), u(3) + law(l_shift)]
      ! Solfec-1.0's map mixes velocity and force with unit scaling; the residual scales by rho
      p = contact_map(block(b_friction), 1.0_dp, unmet, r)
      member = weighted(w, p)
      residual = norm2(contact_map(block(b_friction), block(b_rho), unmet, r))/block(b_rho)
    case (fixpnt_row, velodir3_row)
      unmet = u - law(l_target:l_target+2)
      member = weighted(w, unmet)
      residual = norm2(unmet)
    case (fixdir_row, velodir_row)
      error = u(3) - law(l_target+2)
      member = inverse_nn(w)*error**2
      residual = abs(error)
    case (link_row)
      error = (norm2(law(l_link:l_link+2)) - law(l_length))/half_step + u(3)
      member = inverse_nn(w)*error**2
      residual = abs(link_length_error(law(l_link:l_link+2), law(l_length), half_step, u))
    case default
      ! spring-dashpot and open contacts follow laws that the merit function does not know
      member = 0.0_dp
      residual = 0.0_dp
    end select
  end subroutine row_measures

  !> B.A B, and for a prescribed velocity the energy of the target.
  pure function free_energy(kind, law, w, b) result(energy)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: law(law_size), w(3,3), b(3)
    real(dp) :: energy
    energy = weighted(w, b)
    if (kind == velodir_row) energy = energy + inverse_nn(w)*law(l_target+2)**2
  end function free_energy

  !> p.W^-1 p of a symmetric W by elimination.
  pure function weighted(w, p) result(value)
    real(dp), intent(in) :: w(3,3), p(3)
    real(dp) :: value, d2, y2, y3
    d2 = w(2,2) - w(2,1)*w(2,1)/w(1,1)
    y2 = p(2) - w(2,1)/w(1,1)*p(1)
    y3 = p(3) - w(3,1)/w(1,1)*p(1) - (w(3,2) - w(3,1)*w(2,1)/w(1,1))/d2*y2
    value = p(1)**2/w(1,1) + y2**2/d2 + y3**2*inverse_nn(w)
  end function weighted

  !> Entry NN of W^-1, W symmetric: one over the last pivot.
  pure function inverse_nn(w) result(value)
    real(dp), intent(in) :: w(3,3)
    real(dp) :: value, e32
    e32 = w(3,2) - w(3,1)*w(2,1)/w(1,1)
    value = 1.0_dp/(w(3,3) - w(3,1)*w(3,1)/w(1,1) - e32*e32/(w(2,2) - w(2,1)*w(2,1)/w(1,1)))
  end function inverse_nn
end module merit
