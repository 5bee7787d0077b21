!> What the projected quasi-Newton iteration does to one row (docs/solvers.md, Projected quasi-Newton solver).
module newton_rows
  use kinds, only: dp, i4
  use diagonal_block, only: block_size
  use matrix3, only: adjugate_of
  use row_block, only: law_size
  use row_families, only: family_of
  use row_family_base, only: row_family
  implicit none
  private
  public :: linearise_row, soften_contacts, stepped

contains

  !> Replaces laws by those that the iteration takes: spring-dashpot contacts become Signorini-Coulomb ones; `failed` is the last row
  !> without a linearisation, or -1.
  subroutine soften_contacts(n, half_step, step, v, diagonal, kind, law, block, failed)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: half_step, step, v(3,0:*), diagonal(3,3,0:*)
    integer(i4), intent(inout) :: kind(0:*)
    real(dp), intent(inout) :: law(law_size,0:*), block(block_size,0:*)
    integer(i4), intent(out) :: failed
    class(row_family), pointer :: family
    integer :: a

    failed = -1
    do a = 0, n - 1
      family => family_of(kind(a))
      if (.not. family%newton) failed = a
      call family%taken_by_newton(v(3,a), half_step, step, diagonal(:,:,a), kind(a), law(:,a), block(:,a))
    end do
  end subroutine soften_contacts

  !> Computes X, Y + added, T^-1 = (X W_aa + Y + added)^-1 and the right-hand side of a row.
  subroutine linearise_row(kind, diagonal, block, law, u, reaction, added, unit, half_step, omega, operator, rhs, regular)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: diagonal(3,3), block(block_size), law(law_size), u(3), reaction(3), added, unit, half_step, omega
    real(dp), intent(inout) :: operator(3,3,3), rhs(3)
    logical, intent(out) :: regular      !< whether T has an inverse
    class(row_family), pointer :: family
    integer :: j

    family => family_of(kind)
    call family%linearise(diagonal, block, law, u, reaction, unit, half_step, omega, operator(:,:,1), operator(:,:,2), rhs)
    do j = 1, 3
      operator(j,j,2) = operator(j,j,2) + added
    end do
    call invert(matmul(operator(:,:,1), diagonal) + operator(:,:,2), operator(:,:,3), regular)
  end subroutine linearise_row

  !> P(R + dR) of a row.
  function stepped(kind, block, reaction) result(projected)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: block(block_size), reaction(3)   !< reaction: R + dR
    real(dp) :: projected(3)
    class(row_family), pointer :: family

    family => family_of(kind)
    projected = family%projected(block, reaction)
  end function stepped

  !> Inverts a 3x3 matrix by cofactors.
  pure subroutine invert(m, inverse, regular)
    real(dp), intent(in) :: m(3,3)
    real(dp), intent(out) :: inverse(3,3)
    logical, intent(out) :: regular      !< false: singular, or not finite
    real(dp) :: determinant

    call adjugate_of(m, inverse, determinant)
    regular = abs(determinant) > 0.0_dp .and. abs(determinant) <= huge(1.0_dp)
    if (regular) inverse = inverse/determinant
  end subroutine invert
end module newton_rows
