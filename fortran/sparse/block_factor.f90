!> Sparse LU factors of matrices of 3x3 blocks with a symmetric pattern, without exchanges between blocks.
!>
!> The order of elimination is that of minimum degree (block_patterns).  The matrices here (W + rho I, and Newton
!> matrices of a regularised W) have blocks of order one and a dominant positive part, so that the diagonal block is a good pivot.
!>
!> This is our own code, because islands are small and sparse: LAPACK's factors are dense, and sparse
!> libraries work on entries, not on blocks.  Order and factors of the largest islands of the published FCLIB problems (W + 0.03,
!> scaled; one core, OpenBLAS's LAPACK, SuperLU with minimum degree and diagonal pivots; ms):
!>
!>   contacts    here   dgetrf   dpotrf   SuperLU
!>         20   0.010    0.017    0.008      0.07
!>         40   0.021    0.073    0.034      0.12
!>         57   0.016    0.18     0.081      0.16
!>        245   0.34    22       12          1.4
!>        570  10.7    256      149         14
!>
!> Newton matrices are not symmetric, so dpotrf cannot factorise them.  The order is computed once per island for all factors.
module block_factor
  use block_patterns, only: block_pattern, find_pattern
  use kinds, only: dp, i4
  use matrix3, only: adjugate_of
  implicit none
  private
  public :: block_lu, analyse, factorise, solve_factored

  type :: block_lu
    type(block_pattern) :: pattern
    real(dp), allocatable :: u(:,:,:), l(:,:,:)          !< blocks
    real(dp), allocatable :: inverse(:,:,:)              !< (3,3,0:n-1) inverted pivots
    real(dp), allocatable :: work(:,:,:), x(:,:)         !< (3,3,0:n-1), (3,0:n-1)
    logical, allocatable :: lone(:)                      !< (0:n-1) rows of U that are zero
  end type block_lu

  real(dp), parameter :: cancelled = 1e-8_dp   !< determinant over the cube of the largest entry below which cofactors lose half of their digits

contains

  !> Computes order and pattern of the factors of a matrix with off-diagonal blocks ptr (0:n), col (find_pattern), and makes room for them.
  subroutine analyse(n, ptr, col, factor, most)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), col(0:*)
    type(block_lu), intent(out) :: factor
    real(dp), intent(in), optional :: most
    integer(i4) :: count

    call find_pattern(n, ptr, col, factor%pattern, most)
    if (.not. allocated(factor%pattern%upper)) return
    count = size(factor%pattern%upper)
    allocate (factor%u(3,3,0:count-1), factor%l(3,3,0:count-1), factor%inverse(3,3,0:n-1))
    allocate (factor%work(3,3,0:n-1), factor%x(3,0:n-1), factor%lone(0:n-1))
    factor%work = 0.0_dp
  end subroutine analyse

  !> Computes the factors of the matrix with diagonal blocks and off-diagonal blocks (pattern as analysed), the latter of row a times left(a).
  subroutine factorise(ptr, col, diagonal, block, factor, regular, left)
    integer(i4), intent(in) :: ptr(0:*), col(0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), block(3,3,0:*)
    type(block_lu), intent(inout) :: factor
    logical, intent(out) :: regular
    real(dp), intent(in), optional :: left(3,3,0:*)   !< absent: ones

    associate (pattern => factor%pattern)
      call eliminate(pattern%n, ptr, col, diagonal, block, pattern%order, pattern%place, pattern%lower_ptr, pattern%lower, &
                     pattern%upper_ptr, pattern%upper, factor%l, factor%u, factor%inverse, factor%work, factor%lone, regular, left)
    end associate
    if (.not. regular) factor%work = 0.0_dp
  end subroutine factorise

  !> Computes the factors row by row (block_lu); in arrays of explicit shape the strides of blocks are constants.
  subroutine eliminate(n, ptr, col, diagonal, block, order, place, lower_ptr, lower, upper_ptr, upper, l, u, inverse, work, lone, &
                       regular, left)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:*), col(0:*), order(0:*), place(0:*), lower_ptr(0:*), lower(0:*), upper_ptr(0:*), upper(0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), block(3,3,0:*)
    real(dp), intent(inout) :: l(3,3,0:*), u(3,3,0:*), inverse(3,3,0:*)
    real(dp), intent(inout) :: work(3,3,0:*)          !< zeros; the row at hand
    logical, intent(inout) :: lone(0:*)
    logical, intent(out) :: regular
    real(dp), intent(in), optional :: left(3,3,0:*)
    integer(i4) :: i, a, k, j, p

    regular = .true.
    do i = 0, n - 1
      a = order(i)
      work(:,:,i) = diagonal(:,:,a)
      if (present(left)) then
        do k = ptr(a), ptr(a+1) - 1
          call set_product(left(:,:,a), block(:,:,k), work(:,:,place(col(k))))
        end do
      else
        do k = ptr(a), ptr(a+1) - 1
          work(:,:,place(col(k))) = block(:,:,k)
        end do
      end if
      do p = lower_ptr(i), lower_ptr(i+1) - 1
        k = lower(p)
        if (lone(k) .or. all(work(:,:,k) == 0.0_dp)) then
          l(:,:,p) = 0.0_dp
          if (lone(k)) l(:,:,p) = matmul(work(:,:,k), inverse(:,:,k))
          work(:,:,k) = 0.0_dp
          cycle
        end if
        call set_product(work(:,:,k), inverse(:,:,k), l(:,:,p))
        work(:,:,k) = 0.0_dp
        do j = upper_ptr(k), upper_ptr(k+1) - 1
          call subtract_product(l(:,:,p), u(:,:,j), work(:,:,upper(j)))
        end do
      end do
      call invert(work(:,:,i), inverse(:,:,i), regular)
      if (.not. regular) return
      work(:,:,i) = 0.0_dp
      lone(i) = .true.
      do j = upper_ptr(i), upper_ptr(i+1) - 1
        u(:,:,j) = work(:,:,upper(j))
        if (lone(i)) lone(i) = all(u(:,:,j) == 0.0_dp)
        work(:,:,upper(j)) = 0.0_dp
      end do
    end do
  end subroutine eliminate

  pure subroutine set_product(m, u, w)
    real(dp), intent(in) :: m(3,3), u(3,3)
    real(dp), intent(out) :: w(3,3)
    w(:,1) = m(:,1)*u(1,1) + m(:,2)*u(2,1) + m(:,3)*u(3,1)
    w(:,2) = m(:,1)*u(1,2) + m(:,2)*u(2,2) + m(:,3)*u(3,2)
    w(:,3) = m(:,1)*u(1,3) + m(:,2)*u(2,3) + m(:,3)*u(3,3)
  end subroutine set_product

  pure subroutine subtract_product(m, u, w)
    real(dp), intent(in) :: m(3,3), u(3,3)
    real(dp), intent(inout) :: w(3,3)
    w(:,1) = w(:,1) - m(:,1)*u(1,1) - m(:,2)*u(2,1) - m(:,3)*u(3,1)
    w(:,2) = w(:,2) - m(:,1)*u(1,2) - m(:,2)*u(2,2) - m(:,3)*u(3,2)
    w(:,3) = w(:,3) - m(:,1)*u(1,3) - m(:,2)*u(2,3) - m(:,3)*u(3,3)
  end subroutine subtract_product

  !> Solves x = A^-1 b, both (3,0:n-1) in the problem's order; they may be one array.
  subroutine solve_factored(factor, b, x)
    type(block_lu), intent(inout) :: factor
    real(dp), intent(in) :: b(3,0:*)
    real(dp), intent(inout) :: x(3,0:*)

    associate (pattern => factor%pattern)
      call substitute(pattern%n, pattern%order, pattern%lower_ptr, pattern%lower, pattern%upper_ptr, pattern%upper, &
                      factor%l, factor%u, factor%inverse, b, factor%x, x)
    end associate
  end subroutine solve_factored

  !> Computes x by rows of L, then of U (block_lu), in arrays of explicit shape as `eliminate`.
  subroutine substitute(n, order, lower_ptr, lower, upper_ptr, upper, l, u, inverse, b, y, x)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: order(0:*), lower_ptr(0:*), lower(0:*), upper_ptr(0:*), upper(0:*)
    real(dp), intent(in) :: l(3,3,0:*), u(3,3,0:*), inverse(3,3,0:*), b(3,0:*)
    real(dp), intent(inout) :: y(3,0:*), x(3,0:*)     !< y: work space, in the order of elimination
    real(dp) :: s(3)
    integer(i4) :: i

    do i = 0, n - 1
      y(:,i) = rest(lower_ptr(i), lower_ptr(i+1), lower, l, y, b(:,order(i)))
    end do
    do i = n - 1, 0, -1
      s = rest(upper_ptr(i), upper_ptr(i+1), upper, u, y, y(:,i))
      y(:,i) = inverse(:,1,i)*s(1) + inverse(:,2,i)*s(2) + inverse(:,3,i)*s(3)
      x(:,order(i)) = y(:,i)
    end do
  end subroutine substitute

  !> b - sum of block p times y(column(p)) over p = first .. last-1; nine independent sums, so that none waits for another.
  pure function rest(first, last, column, block, y, b) result(s)
    integer(i4), intent(in) :: first, last, column(0:*)
    real(dp), intent(in) :: block(3,3,0:*), y(3,0:*), b(3)
    real(dp) :: s(3), s2(3), s3(3)
    integer(i4) :: p, k

    s = b
    s2 = 0.0_dp
    s3 = 0.0_dp
    do p = first, last - 1
      k = column(p)
      s = s - block(:,1,p)*y(1,k)
      s2 = s2 - block(:,2,p)*y(2,k)
      s3 = s3 - block(:,3,p)*y(3,k)
    end do
    s = s + (s2 + s3)
  end function rest

  !> Inverts a 3x3 block by cofactors, or by elimination if cancellation takes their digits, as where rows are redundant up to what makes them regular;
  !> not `regular` if the determinant is zero or not finite.
  pure subroutine invert(a, inverse, regular)
    real(dp), intent(in) :: a(3,3)
    real(dp), intent(out) :: inverse(3,3)
    logical, intent(inout) :: regular
    real(dp) :: det

    call adjugate_of(a, inverse, det)
    if (.not. (abs(det) > tiny(1.0_dp) .and. abs(det) <= huge(1.0_dp))) then
      regular = .false.
      return
    end if
    if (abs(det) >= cancelled*maxval(abs(a))**3) then
      inverse = inverse/det
    else
      call invert_by_elimination(a, inverse, regular)
    end if
  end subroutine invert

  !> Inverts a 3x3 block by elimination with the largest pivots of all, which keeps the digits of small ones.
  pure subroutine invert_by_elimination(a, inverse, regular)
    real(dp), intent(in) :: a(3,3)
    real(dp), intent(out) :: inverse(3,3)
    logical, intent(inout) :: regular
    real(dp) :: m(3,3), factor
    integer :: at(2), i, k, row(3), column(3)
    logical :: left(3,3)

    m = a
    left = .true.
    do k = 1, 3
      at = maxloc(abs(m), left)
      row(k) = at(1)
      column(k) = at(2)
      factor = m(at(1),at(2))
      if (.not. abs(factor) > 0.0_dp) then
        regular = .false.
        inverse = 0.0_dp
        return
      end if
      left(at(1),:) = .false.
      left(:,at(2)) = .false.
      ! in place: the pivot's column gets that of the inverse
      m(at(1),at(2)) = 1.0_dp
      m(at(1),:) = m(at(1),:)/factor
      do i = 1, 3
        if (i == at(1)) cycle
        factor = m(i,at(2))
        m(i,at(2)) = 0.0_dp
        m(i,:) = m(i,:) - factor*m(at(1),:)
      end do
    end do
    inverse(column,row) = m(row,column)
  end subroutine invert_by_elimination
end module block_factor
