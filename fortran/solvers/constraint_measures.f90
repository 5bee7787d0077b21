!> How well rows fulfil their laws: terms of the merit function and residuals, and their sums.
module constraint_measures
  use kinds, only: dp, i4
  use contact_iterations, only: contact_map
  use diagonal_block, only: block_size, b_friction, b_rho, b_cohesion
  use row_block, only: contact_row, fixpnt_row, fixdir_row, velodir_row, velodir3_row, link_row, open_row, &
    law_size, l_shift, l_link, l_length, l_target, link_length_error
  use spring_law, only: spring_row, spring_error, s_implicit
  implicit none
  private
  public :: measure, larger, unbounded, rounding_of

  integer, parameter :: parallel_from = 300   !< rows from which threads pay
  real(dp), parameter :: no_reaction(3) = 0.0_dp
  real(dp), parameter :: last_digits = 8*epsilon(1.0_dp)   !< part of a sum of terms that their rounding may leave
  real(dp), parameter :: unbounded = 1e300_dp !< terms of the merit of rows that are wrong where there is no free energy

contains

  !> Merit and residual as in `merit`; `exact` (the Newton solver): links have their length at the end of the
  !> step, springs the force of its mean stroke and velocity; else the merit of a link takes the elongation at mid step and the
  !> normal velocity alone, as Solfec-1.0 does for Gauss-Seidel, and a spring follows the law that its row asks for.
  !> Rows that drive obstacles (`driving` 1) are measured apart, so that no obstacle's weight or speed excuses errors of others.
  !> An error that the rounding of the terms of U explains (`speed`) is none: relative to a B that is rounding itself, as of bodies that move
  !> together, it would be large however well the row is solved.
  subroutine measure(n, exact, unit, kind, driving, block, law, diagonal, b, speed, reaction, u, half_step, member, residual, g, &
                     total)
    integer(i4), intent(in) :: n
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit         !< of force, in which the merit adds reactions to velocities: 1 in Solfec-1.0
    integer(i4), intent(in) :: kind(0:*), driving(0:*)
    real(dp), intent(in) :: block(block_size,0:*), law(law_size,0:*), diagonal(3,3,0:*)
    real(dp), intent(in) :: b(3,0:*), speed(0:*), reaction(3,0:*), u(3,0:*)   !< speed: of the terms that B is the sum of
    real(dp), intent(in) :: half_step
    real(dp), intent(inout) :: member(0:*), residual(0:*)
    real(dp), intent(out) :: g, total
    real(dp) :: energy(0:1), numerator(0:1), size(0:1), unmet(0:1)   ! of rows that drive obstacles (1), of others (0)
    integer :: a, k

    ! Sums run serially in the order of rows; only the rows' own numbers are computed by threads.
    !$omp parallel do if (n > parallel_from) schedule(static)
    do a = 0, n - 1
      call row_measures(kind(a), exact, unit, block(:,a), law(:,a), diagonal(:,:,a), u(:,a), reaction(:,a), half_step, &
                        member(a), residual(a))
      if (is_rounding(residual(a), kind(a), speed(a), law(:,a), diagonal(:,:,a), reaction(:,a), half_step)) then
        member(a) = 0.0_dp
        residual(a) = 0.0_dp
      end if
    end do
    !$omp end parallel do
    energy = 0.0_dp
    numerator = 0.0_dp
    size = 0.0_dp
    unmet = 0.0_dp
    do a = 0, n - 1
      k = driving(a)
      energy(k) = energy(k) + 0.5_dp*free_energy(kind(a), law(:,a), diagonal(:,:,a), b(:,a))
      numerator(k) = numerator(k) + 0.5_dp*member(a)
      size(k) = size(k) + (b(1,a)**2 + b(2,a)**2 + b(3,a)**2)
      unmet(k) = unmet(k) + residual(a)**2
    end do
    do a = 0, n - 1
      member(a) = share(member(a), energy(driving(a)))
    end do
    g = 0.5_dp*larger(share(2.0_dp*numerator(0), energy(0)), share(2.0_dp*numerator(1), energy(1)))
    if (any(size <= 0.0_dp .and. .not. unmet <= 0.0_dp)) call add_what_is_asked
    total = larger(sqrt(share(unmet(0), size(0))), sqrt(share(unmet(1), size(1))))

  contains

    !> Where B is zero, what is wrong without reactions takes its place.
    subroutine add_what_is_asked
      real(dp) :: asked(0:1), no_member, error
      integer :: a

      asked = 0.0_dp
      do a = 0, n - 1
        call row_measures(kind(a), exact, unit, block(:,a), law(:,a), diagonal(:,:,a), b(:,a), no_reaction, half_step, no_member, &
                          error)
        asked(driving(a)) = asked(driving(a)) + error**2
      end do
      where (size <= 0.0_dp) size = asked
    end subroutine add_what_is_asked
  end subroutine measure

  !> An energy of errors over the free energy.  Without any a row that does not move is right, and one that moves wholly wrong.
  pure function share(errors, free) result(part)
    real(dp), intent(in) :: errors, free
    real(dp) :: part
    if (free > tiny(1.0_dp)) then
      part = errors/free
    else
      part = merge(unbounded, errors, errors > 0.0_dp)   ! what is no number stays none
    end if
  end function share

  !> The larger of two errors, and no number where one of them is none.
  pure function larger(one, other) result(error)
    real(dp), intent(in) :: one, other
    real(dp) :: error
    error = one
    if (one == one .and. .not. other <= one) error = other
  end function larger

  !> P.A P and the residual of one row.
  pure subroutine row_measures(kind, exact, unit, block, law, w, u, reaction, half_step, member, residual)
    integer(i4), intent(in) :: kind
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit
    real(dp), intent(in) :: block(block_size), law(law_size), w(3,3)
    real(dp), intent(in) :: u(3)         !< U
    real(dp), intent(in) :: reaction(3)
    real(dp), intent(in) :: half_step
    real(dp), intent(out) :: member, residual
    real(dp) :: p(3), r(3), unmet(3), error, implicit_law(law_size)

    select case (kind)
    case (contact_row)
      r = reaction
      r(3) = r(3) + block(b_cohesion)
      unmet = [u(1), u(2), u(3) + law(l_shift)]
      ! Solfec-1.0's map mixes velocity and force with unit scaling; the residual scales by rho
      p = contact_map(block(b_friction), 1.0_dp, unmet, r/unit)
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
      error = link_length_error(law(l_link:l_link+2), law(l_length), half_step, u)
      residual = abs(error)
      if (.not. exact) error = (norm2(law(l_link:l_link+2)) - law(l_length))/half_step + u(3)
      member = inverse_nn(w)*error**2
    case (spring_row)
      implicit_law = law
      if (exact) implicit_law(s_implicit) = 1.0_dp
      error = spring_error(w(3,3), block(1:14), implicit_law, u(3), reaction(3))
      member = inverse_nn(w)*error**2
      residual = abs(error)
    case (open_row)
      ! whatever an open contact carries is too much
      member = weighted(w, reaction/unit)
      residual = norm2(reaction)/block(b_rho)
    case default
      ! spring-dashpot contacts follow laws that the merit function does not know
      member = 0.0_dp
      residual = 0.0_dp
    end select
  end subroutine row_measures

  !> Whether rounding of velocities, reactions and lengths may leave such a residual in a row.
  pure function is_rounding(residual, kind, speed, law, w, reaction, half_step) result(answer)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: residual, speed, law(law_size), w(3,3), reaction(3), half_step
    logical :: answer
    real(dp) :: length, sizes

    length = 0.0_dp
    if (kind == link_row) length = law(l_length)/half_step
    answer = residual <= last_digits*(speed + speed + length)
    if (.not. answer) return
    ! reactions of constraints that contradict one another grow without end, and must excuse nothing
    sizes = norm2(w(:,1)*reaction(1)) + norm2(w(:,2)*reaction(2)) + norm2(w(:,3)*reaction(3))
    answer = residual <= last_digits*(speed + min(speed, sizes) + length)
  end function is_rounding

  !> Velocity that the rounding of a sum of terms, of this size together, may leave.
  pure function rounding_of(speed) result(velocity)
    real(dp), intent(in) :: speed
    real(dp) :: velocity
    velocity = last_digits*speed
  end function rounding_of

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
end module constraint_measures
