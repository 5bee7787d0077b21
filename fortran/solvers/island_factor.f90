!> Solution of (A W + Z) x = f on an island, A and Z one block a row: the linear systems of ADMM, Newton and interior point steps.
!>
!> There are two ways, of which the one with fewer multiplications is chosen: factors of the matrix itself, one block per pair of rows
!> (block_factor); or, if the operators of rows are known, factors in the space of the bodies' momenta (body_factor), from which x follows
!> row by row.  The compliance E of rows, an addition to the diagonal of W, is added to Z there: A (H H^T + E) + Z.
module island_factor
  use kinds, only: dp, i4
  use block_factor, only: block_lu, analyse, factorise, solve_factored
  use body_factor, only: body_lu, analyse_bodies, factorise_bodies, solve_bodies
  use contact_iterations, only: solve3
  use island_problem, only: island, cone_contact
  implicit none
  private
  public :: island_lu, few_products, rows_suffice, analyse_island, factorise_island, solve_island_factor, solve_accurately

  type :: island_lu
    logical :: by_bodies = .false.
    logical :: analysed = .false.
    real(dp) :: products = 0.0_dp                       !< products of 3x3 blocks that a factorisation takes
    type(block_lu) :: rows
    type(body_lu) :: bodies
    real(dp), allocatable :: left(:,:,:), own(:,:,:)    !< (3,3,0:n-1) A, Z
    real(dp), allocatable :: inverse(:,:,:)             !< (3,3,0:n-1) Z^-1; by rows: diagonal blocks of the matrix
    real(dp), allocatable :: matrix(:,:,:)              !< by bodies: (3,3,0:n-1) G = Z^-1 A
    real(dp), allocatable :: momentum(:,:)              !< (3,0:nodes-1)
    real(dp), allocatable :: rest(:,:), correction(:,:) !< (3,0:n-1)
  end type island_lu

  integer(i4), parameter :: bodies_from = 24      !< fewest rows of an island for which factors by bodies are considered
  integer(i4), parameter :: rows_up_to = 1500     !< most rows of an island for which factors by rows are considered
  integer(i4), parameter :: linear_rows_up_to = 6000  !< the same of islands of joints alone,
  integer(i4), parameter :: blocks_per_row = 16   !< if rows are coupled with so many others at most
  real(dp), parameter :: few_products = 2e4_dp    !< block products up to which factors by rows are taken without comparison
  integer(i4), parameter :: refinements = 4
  real(dp), parameter :: enough = 1e-13_dp        !< residual of an accurate solution, relative to the right-hand side

contains

  !> Whether an island of joints alone is likely to be factorised well by rows: they fill in little, unless many of them act on one body.
  pure logical function rows_suffice(part)
    type(island), intent(in) :: part

    rows_suffice = part%n <= linear_rows_up_to .and. part%ptr(part%n) <= blocks_per_row*part%n
  end function rows_suffice

  !> Finds orders of elimination; `analysed` is true if there is one.
  subroutine analyse_island(part, factor)
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    integer(i4) :: n
    logical :: by_rows, by_bodies

    n = part%n
    by_bodies = part%nodes > 0 .and. n >= bodies_from
    by_rows = n <= rows_up_to
    if (.not. any(part%kind(0:n-1) == cone_contact)) by_rows = rows_suffice(part)
    by_rows = by_rows .or. .not. by_bodies
    factor%products = huge(1.0_dp)
    if (by_rows) then
      call analyse(n, part%ptr, part%col, factor%rows)
      factor%products = factor%rows%pattern%products
      by_bodies = by_bodies .and. factor%products > few_products
    end if
    factor%by_bodies = .false.
    if (by_bodies) then
      call analyse_bodies(n, part%nodes, part%entry_ptr, part%node, factor%bodies)
      factor%by_bodies = factor%bodies%products/27.0_dp < factor%products
      if (factor%by_bodies) factor%products = factor%bodies%products/27.0_dp
    end if
    factor%analysed = .true.
    allocate(factor%left(3,3,0:n-1), factor%own(3,3,0:n-1), factor%inverse(3,3,0:n-1))
    allocate(factor%rest(3,0:n-1), factor%correction(3,0:n-1))
    if (factor%by_bodies) then
      allocate(factor%matrix(3,3,0:n-1), factor%momentum(3,0:part%nodes-1))
    else
      allocate(factor%matrix(3,3,0:0), factor%momentum(3,0:0))
    end if
  end subroutine analyse_island

  !> Factorises for the blocks in factor%left and factor%own; if `inverted`, factor%inverse holds the inverses of the latter already.
  subroutine factorise_island(part, factor, inverted, regular)
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    logical, intent(in) :: inverted
    logical, intent(out) :: regular
    real(dp) :: m(3,3), x(3)
    integer(i4) :: i, c
    logical :: solved, yields

    if (factor%by_bodies) then
      regular = .true.
      do i = 0, part%n - 1
        yields = part%yields
        if (yields) yields = any(part%extra(:,:,i) /= 0.0_dp)
        do c = 1, merge(0, 3, inverted .and. .not. yields)
          m = factor%own(:,:,i)
          if (yields) m = m + matmul(factor%left(:,:,i), part%extra(:,:,i))
          x = 0.0_dp
          x(c) = 1.0_dp
          call solve3(m, x, solved)
          regular = regular .and. solved
          factor%inverse(:,c,i) = x
        end do
        factor%matrix(:,:,i) = matmul(factor%inverse(:,:,i), factor%left(:,:,i))
      end do
      if (regular) call factorise_bodies(part%entry_ptr, part%node, part%h, factor%matrix, factor%bodies, regular)
      return
    end if
    do i = 0, part%n - 1
      factor%inverse(:,:,i) = matmul(factor%left(:,:,i), part%diagonal(:,:,i)) + factor%own(:,:,i)
    end do
    call factorise(part%ptr, part%col, factor%inverse, part%w, factor%rows, regular, factor%left)
  end subroutine factorise_island

  !> Computes x = (A W + Z)^-1 b; x and b may be the same array.
  subroutine solve_island_factor(part, factor, b, x)
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    real(dp), intent(in) :: b(3,0:*)
    real(dp), intent(inout) :: x(3,0:*)
    real(dp) :: g(3)
    integer(i4) :: i, e

    if (.not. factor%by_bodies) then
      call solve_factored(factor%rows, b, x)
      return
    end if
    associate (p => factor%momentum)
      p = 0.0_dp
      do i = 0, part%n - 1
        g = matmul(factor%inverse(:,:,i), b(:,i))
        x(:,i) = g
        do e = part%entry_ptr(i), part%entry_ptr(i+1) - 1
          p(1,part%node(e)) = p(1,part%node(e)) + (part%h(1,1,e)*g(1) + part%h(2,1,e)*g(2) + part%h(3,1,e)*g(3))
          p(2,part%node(e)) = p(2,part%node(e)) + (part%h(1,2,e)*g(1) + part%h(2,2,e)*g(2) + part%h(3,2,e)*g(3))
          p(3,part%node(e)) = p(3,part%node(e)) + (part%h(1,3,e)*g(1) + part%h(2,3,e)*g(2) + part%h(3,3,e)*g(3))
        end do
      end do
      call solve_bodies(factor%bodies, p)
      do i = 0, part%n - 1
        g = 0.0_dp
        do e = part%entry_ptr(i), part%entry_ptr(i+1) - 1
          g = g + (part%h(:,1,e)*p(1,part%node(e)) + part%h(:,2,e)*p(2,part%node(e)) + part%h(:,3,e)*p(3,part%node(e)))
        end do
        x(:,i) = x(:,i) - matmul(factor%matrix(:,:,i), g)
      end do
    end associate
  end subroutine solve_island_factor

  !> Solves with iterative refinement: small pivots cost digits, which solutions for b - (A W + Z) x restore.
  subroutine solve_accurately(part, factor, b, x)
    type(island), intent(in) :: part
    type(island_lu), intent(inout) :: factor
    real(dp), intent(in) :: b(3,0:*)
    real(dp), intent(inout) :: x(3,0:*)
    real(dp) :: size, left, last
    integer(i4) :: i
    integer :: step

    call solve_island_factor(part, factor, b, x)
    last = huge(1.0_dp)
    do step = 1, refinements
      call subtract_matrix(part, factor, b, x, factor%rest)
      size = 0.0_dp
      left = 0.0_dp
      do i = 0, part%n - 1
        size = size + sum(b(:,i)**2)
        left = left + sum(factor%rest(:,i)**2)
      end do
      if (.not. (left > enough**2*size .and. left < 0.25_dp*last)) return
      last = left
      call solve_island_factor(part, factor, factor%rest, factor%correction)
      do i = 0, part%n - 1
        x(:,i) = x(:,i) + factor%correction(:,i)
      end do
    end do
  end subroutine solve_accurately

  !> Computes rest = b - (A W + Z) x.
  subroutine subtract_matrix(part, factor, b, x, rest)
    type(island), intent(in) :: part
    type(island_lu), intent(in) :: factor
    real(dp), intent(in) :: b(3,0:*), x(3,0:*)
    real(dp), intent(inout) :: rest(3,0:*)
    real(dp) :: u(3)
    integer(i4) :: i, k, c

    do i = 0, part%n - 1
      u = 0.0_dp
      if (factor%by_bodies) u = matmul(part%diagonal(:,:,i), x(:,i))
      do k = part%ptr(i), part%ptr(i+1) - 1
        c = part%col(k)
        u = u + (part%w(:,1,k)*x(1,c) + part%w(:,2,k)*x(2,c) + part%w(:,3,k)*x(3,c))
      end do
      associate (own => factor%own(:,:,i), with_diagonal => factor%inverse(:,:,i))
        rest(:,i) = b(:,i) - matmul(factor%left(:,:,i), u)
        if (factor%by_bodies) then
          rest(:,i) = rest(:,i) - matmul(own, x(:,i))
        else
          rest(:,i) = rest(:,i) - matmul(with_diagonal, x(:,i))
        end if
      end associate
    end do
  end subroutine subtract_matrix
end module island_factor
