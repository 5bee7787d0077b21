!> Products with stored inverses of many small co-rotated bodies (docs/theory.md, Time integration; docs/language-objects.md, BODY).
module small_inverses
  use kinds, only: dp, i4
  implicit none
  private
  public :: add_solutions, invert

  integer, parameter :: parallel_from = 16      !< bodies from which threads pay

contains

  !> Adds step R A^-1 R^T source of every body to velo, with rotation R (3,3,0:count-1) and symmetric inverse (n,n,0:nplace-1).
  !>
  !>   place            (0:count-1) where the bodies' inverses are
  !>   which            (0:count-1) numbers of the bodies among those with nodes, of which `first` (0:nfirst-1) is the first
  !>   velo_row         (0:nnode-1) rows of the nodes in velo (3,0:nvelo-1) [velocity]
  !>   by_row           1: source (3,0:nsource-1) [force] has these rows, too; 0: it is indexed by nodes
  subroutine add_solutions(step, by_row, count, which, rotation, place, n, nplace, inverse, nfirst, first, nnode, velo_row, &
                           nsource, source, nvelo, velo)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: by_row, count, n, nplace, nfirst, nnode, nsource, nvelo
    integer(i4), intent(in) :: which(0:count-1), place(0:count-1), first(0:nfirst-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: rotation(3,3,0:count-1), inverse(n,n,0:nplace-1), source(3,0:nsource-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1)
    real(dp) :: moved(3,n/3)
    integer :: a, b, node

    !$omp parallel do if (count > parallel_from) schedule(static) private(a, node, moved)
    do b = 0, count - 1
      do a = 1, n/3
        node = first(which(b)) + a - 1
        if (by_row == 1) node = velo_row(node)
        moved(:,a) = source(:,node)
      end do
      if (.not. any(moved /= 0)) cycle
      call solve(n, rotation(:,:,b), inverse(:,:,place(b)), moved)
      do a = 1, n/3
        node = velo_row(first(which(b)) + a - 1)
        velo(:,node) = velo(:,node) + step*moved(:,a)
      end do
    end do
    !$omp end parallel do
  end subroutine add_solutions

  !> Multiplies the vectors of one body by R A^-1 R^T, in place.
  subroutine solve(n, rotation, inverse, vector)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: rotation(3,3), inverse(n,n)
    real(dp), intent(inout) :: vector(3,n/3)
    real(dp) :: local(n), solved(n)
    integer :: a, i, j

    do a = 1, n/3
      do i = 1, 3
        local(3*a-3+i) = rotation(1,i)*vector(1,a) + rotation(2,i)*vector(2,a) + rotation(3,i)*vector(3,a)
      end do
    end do
    solved = 0
    if (any(local(1:n) /= 0)) then
      do j = 1, n
        solved = solved + inverse(:,j)*local(j)
      end do
    end if
    do a = 1, n/3
      vector(:,a) = rotation(:,1)*solved(3*a-2) + rotation(:,2)*solved(3*a-1) + rotation(:,3)*solved(3*a)
    end do
  end subroutine solve

  !> Replaces symmetric positive definite matrices (n,n,0:count-1) by their inverses; failed: the first one not definite, or -1.
  !>
  !> The sweep operator (Goodnight, The American Statistician 33, 1979) on the lower triangles.  LAPACK would be as short to call,
  !> but its bits depend on the number of threads.
  subroutine invert(n, count, matrix, failed)
    integer(i4), intent(in) :: n, count
    real(dp), intent(inout) :: matrix(n,n,0:count-1)
    integer(i4), intent(out) :: failed
    logical :: definite
    integer :: b

    failed = count
    !$omp parallel do schedule(static) private(definite) reduction(min: failed)
    do b = 0, count - 1
      call sweep(n, matrix(:,:,b), definite)
      if (.not. definite) failed = min(failed, b)
    end do
    !$omp end parallel do
    if (failed == count) failed = -1
  end subroutine invert

  !> Replaces one matrix by its inverse.
  subroutine sweep(n, a, definite)
    integer(i4), intent(in) :: n
    real(dp), intent(inout) :: a(n,n)
    logical, intent(out) :: definite
    real(dp) :: column(n), pivot
    integer :: j, k

    definite = .false.
    do k = 1, n
      pivot = a(k,k)
      if (.not. pivot > 0) return
      column(:k-1) = a(k,:k-1)
      column(k:) = a(k:,k)
      do j = 1, n
        a(j:,j) = a(j:,j) - column(j:)*(column(j)/pivot)
      end do
      a(k,:k-1) = column(:k-1)/pivot
      a(k:,k) = column(k:)/pivot
      a(k,k) = -1/pivot
    end do
    do j = 1, n
      a(j:,j) = -a(j:,j)
      a(j,j+1:) = a(j+1:,j)
    end do
    definite = .true.
  end subroutine sweep

end module small_inverses
