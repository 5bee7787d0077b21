!> Errors of rows in their laws: terms of the merit function and residuals, and their sums.
module constraint_measures
  use kinds, only: dp, i4
  use diagonal_block, only: block_size, b_cohesion, b_opening
  use row_block, only: l_shift, law_size
  use row_families, only: family_of
  use row_family_base, only: row_family, row_error, no_error
  use rolling_rows, only: take_normals
  use thread_work, only: pays
  implicit none
  private
  public :: measure, measure_terms, error_without_reaction, note_openings, larger, unbounded, rounding_of

  real(dp), parameter :: no_reaction(3) = 0.0_dp
  real(dp), parameter :: last_digits = 8*epsilon(1.0_dp)   !< relative round-off of a sum of terms
  real(dp), parameter :: no_velocity = 1e-100_dp    !< in any units; squares of smaller ones underflow
  real(dp), parameter :: unbounded = 1e300_dp !< merit of rows with errors if there is no free energy

contains

  !> Computes merit and residual as in `merit`.  If `exact` (the Newton solver), links must have their length at the end of the
  !> step, and springs the force of its mean stroke and velocity.  Else the merit of a link uses the elongation at mid step and the
  !> normal velocity alone, as Solfec-1.0 does for Gauss-Seidel, and a spring follows the law of its row.
  !> Rows that drive obstacles (`driving` 1) are measured separately, so that weight or speed of an obstacle does not hide errors of others:
  !> by B and by the change of velocity that they prescribe, since B vanishes where a shaken table turns back.
  !> An error within the round-off of the terms of U (`speed`) counts as none: if bodies move together, B itself is round-off, and relative
  !> to it the error would be large even for an exact solution.
  subroutine measure(n, exact, unit, kind, driving, contact, block, law, diagonal, b, speed, reaction, u, half_step, member, &
                     residual, g, total)
    integer(i4), intent(in) :: n
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit         !< of force, in which the merit adds reactions to velocities: 1 in Solfec-1.0
    integer(i4), intent(in) :: kind(0:*), driving(0:*), contact(0:*)  !< contact: row of a rolling row's contact, or -1
    real(dp), intent(inout) :: block(block_size,0:*)   !< rolling rows take the normal reactions of their contacts
    real(dp), intent(in) :: law(law_size,0:*), diagonal(3,3,0:*)
    real(dp), intent(in) :: b(3,0:*), speed(0:*), reaction(3,0:*), u(3,0:*)   !< speed: size of the terms of which B is the sum
    real(dp), intent(in) :: half_step
    real(dp), intent(inout) :: member(0:*), residual(0:*)
    real(dp), intent(out) :: g, total
    real(dp) :: energy(0:1), numerator(0:1), size(0:1), unmet(0:1)   ! of rows that drive obstacles (1), of others (0)
    class(row_family), pointer :: family
    integer :: a, k

    call take_normals(n, contact, reaction, block)
    ! Threads compute the numbers of rows; sums over rows are serial, in the order of rows.
    call measure_rows(n, exact, unit, kind, block, law, diagonal, speed, reaction, u, half_step, member, residual)
    energy = 0.0_dp
    numerator = 0.0_dp
    size = 0.0_dp
    unmet = 0.0_dp
    do a = 0, n - 1
      k = driving(a)
      family => family_of(kind(a))
      energy(k) = energy(k) + 0.5_dp*family%free_energy(law(:,a), diagonal(:,:,a), b(:,a))
      numerator(k) = numerator(k) + 0.5_dp*member(a)
      size(k) = size(k) + family%free_square(law(:,a), b(:,a))
      if (k > 0) size(k) = size(k) + error_without_reaction(exact, unit, kind(a), block(:,a), law(:,a), diagonal(:,:,a), &
                                                            b(:,a), half_step)**2
      unmet(k) = unmet(k) + residual(a)**2
    end do
    where (energy <= 0.0_dp) energy = sum(energy)   ! an obstacle moves bodies that were at rest, through springs or links
    if (all(energy <= 0.0_dp) .and. any(numerator > 0.0_dp)) energy = energy_of_reactions(n, diagonal, reaction)
    do a = 0, n - 1
      member(a) = share(member(a), energy(driving(a)))
    end do
    g = 0.5_dp*larger(share(2.0_dp*numerator(0), energy(0)), share(2.0_dp*numerator(1), energy(1)))
    if (any(size <= 0.0_dp .and. .not. unmet <= 0.0_dp)) call add_what_is_asked
    total = larger(sqrt(share(unmet(0), size(0))), sqrt(share(unmet(1), size(1))))

  contains

    !> Uses the errors without reactions as a reference if B is zero.  Where these are zero, too, no reaction is needed, and errors
    !> are relative to the velocities of those that are left, such as reactions of supports that press against one another.
    subroutine add_what_is_asked
      real(dp) :: asked(0:1), error
      integer :: a

      asked = 0.0_dp
      do a = 0, n - 1
        error = error_without_reaction(exact, unit, kind(a), block(:,a), law(:,a), diagonal(:,:,a), b(:,a), half_step)
        asked(driving(a)) = asked(driving(a)) + error**2
      end do
      where (size <= 0.0_dp) size = asked
      where (size <= 0.0_dp) size = sum(size)
      if (any(size > 0.0_dp)) return
      do a = 0, n - 1
        size = size + sum(matmul(diagonal(:,:,a), reaction(:,a))**2)
      end do
    end subroutine add_what_is_asked
  end subroutine measure

  !> Energy of reactions, each alone in its row: that of errors where nothing is asked is relative to it.
  pure real(dp) function energy_of_reactions(n, diagonal, reaction) result(energy)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: diagonal(3,3,0:*), reaction(3,0:*)
    integer :: a

    energy = 0.0_dp
    do a = 0, n - 1
      energy = energy + 0.5_dp*dot_product(reaction(:,a), matmul(diagonal(:,:,a), reaction(:,a)))
    end do
  end function energy_of_reactions

  !> Error of a row if its reaction is zero.
  real(dp) function error_without_reaction(exact, unit, kind, block, law, diagonal, b, half_step) result(error)
    logical, intent(in) :: exact
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: unit, block(block_size), law(law_size), diagonal(3,3), b(3), half_step
    class(row_family), pointer :: family
    type(row_error) :: found

    family => family_of(kind)
    found = family%measure(exact, unit, block, law, diagonal, b, no_reaction, half_step)
    error = found%residual
  end function error_without_reaction

  !> Computes merits, not divided by the free energy, and residuals of rows; an error within round-off counts as none.
  subroutine measure_rows(n, exact, unit, kind, block, law, diagonal, speed, reaction, u, half_step, member, residual)
    integer(i4), intent(in) :: n, kind(0:*)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size,0:*), law(law_size,0:*), diagonal(3,3,0:*)
    real(dp), intent(in) :: speed(0:*), reaction(3,0:*), u(3,0:*), half_step
    real(dp), intent(inout) :: member(0:*), residual(0:*)
    integer :: a

    !$omp parallel do if (pays(n, 40)) schedule(static)
    do a = 0, n - 1
      call measure_row(a)
    end do
    !$omp end parallel do

  contains

    subroutine measure_row(a)
      integer, intent(in) :: a
      class(row_family), pointer :: family
      type(row_error) :: found

      family => family_of(kind(a))
      found = family%measure(exact, unit, block(:,a), law(:,a), diagonal(:,:,a), u(:,a), reaction(:,a), half_step)
      if (is_rounding(found%residual, speed(a), family%length(law(:,a))/half_step, diagonal(:,:,a), reaction(:,a))) found = no_error
      member(a) = found%member
      residual(a) = found%residual
    end subroutine measure_row
  end subroutine measure_rows

  !> Computes what each row adds to the sums of `measure`: merit, free energy, |B|^2 (of rows that drive obstacles with the change that they ask
  !> for), squared residual (4,0:*).
  subroutine measure_terms(n, exact, unit, kind, driving, block, law, diagonal, b, speed, reaction, u, half_step, &
                           member, residual, terms)
    integer(i4), intent(in) :: n, kind(0:*), driving(0:*)
    logical, intent(in) :: exact         !< see measure
    real(dp), intent(in) :: unit
    real(dp), intent(in) :: block(block_size,0:*), law(law_size,0:*), diagonal(3,3,0:*)
    real(dp), intent(in) :: b(3,0:*), speed(0:*), reaction(3,0:*), u(3,0:*), half_step
    real(dp), intent(inout) :: member(0:*), residual(0:*), terms(4,0:*)
    class(row_family), pointer :: family
    integer :: a

    call measure_rows(n, exact, unit, kind, block, law, diagonal, speed, reaction, u, half_step, member, residual)
    do a = 0, n - 1
      family => family_of(kind(a))
      terms(1,a) = member(a)
      terms(2,a) = 0.5_dp*family%free_energy(law(:,a), diagonal(:,:,a), b(:,a))
      terms(3,a) = family%free_square(law(:,a), b(:,a))
      if (driving(a) > 0) terms(3,a) = terms(3,a) + error_without_reaction(exact, unit, kind(a), block(:,a), law(:,a), &
                                                                           diagonal(:,:,a), b(:,a), half_step)**2
      terms(4,a) = residual(a)**2
    end do
  end subroutine measure_terms

  !> Stores the opening velocities of contacts without reactions, for their next solution.
  pure subroutine note_openings(n, reaction, u, law, block)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: reaction(3,0:*), u(3,0:*), law(law_size,0:*)
    real(dp), intent(inout) :: block(block_size,0:*)
    integer :: a

    do a = 0, n - 1
      if (reaction(3,a) + block(b_cohesion,a) <= 0.0_dp) block(b_opening,a) = u(3,a) + law(l_shift,a)
    end do
  end subroutine note_openings

  !> Energy of errors over the free energy.  Without free energy the merit is 0 if there is no error, else `unbounded`.
  pure function share(errors, free) result(part)
    real(dp), intent(in) :: errors, free
    real(dp) :: part
    if (free > tiny(1.0_dp)) then
      part = errors/free
    else
      part = merge(unbounded, errors, errors > 0.0_dp)   ! NaN stays NaN
    end if
  end function share

  !> Larger of two errors; NaN if one of them is NaN.
  pure function larger(one, other) result(error)
    real(dp), intent(in) :: one, other
    real(dp) :: error
    error = one
    if (one == one .and. .not. other <= one) error = other
  end function larger

  !> Whether a residual of a row is within the round-off of velocities, reactions and lengths, or too small to be squared.
  pure function is_rounding(residual, speed, length, w, reaction) result(answer)
    real(dp), intent(in) :: residual, speed, w(3,3), reaction(3)
    real(dp), intent(in) :: length       !< length that the law keeps, as a velocity
    logical :: answer
    real(dp) :: sizes

    answer = residual <= no_velocity
    if (answer) return
    answer = residual <= last_digits*(speed + speed + length)
    if (.not. answer) return
    ! reactions of contradictory constraints grow without bound, and must not hide errors
    sizes = norm2(w(:,1)*reaction(1)) + norm2(w(:,2)*reaction(2)) + norm2(w(:,3)*reaction(3))
    answer = residual <= last_digits*(speed + min(speed, sizes) + length)
  end function is_rounding

  !> Round-off of a sum of terms whose sizes add up to `speed`.
  pure function rounding_of(speed) result(velocity)
    real(dp), intent(in) :: speed
    real(dp) :: velocity
    velocity = last_digits*speed
  end function rounding_of

end module constraint_measures
