!> Order of elimination and pattern of the factors of matrices of blocks with a symmetric pattern (block_factor).
!>
!> Mechanisms have the same pattern in every step, so patterns that were found last are kept.  They follow from the matrix alone: a
!> pattern that is kept is the one that would be found, so results do not depend on what is kept.
module block_patterns
  use kinds, only: dp, i4
  use minimum_degree, only: find_order
!$ use omp_lib, only: omp_in_parallel
  implicit none
  private
  public :: block_pattern, find_pattern

  type :: block_pattern
    integer(i4) :: n = 0
    real(dp) :: products = 0.0_dp                        !< block products of one factorisation
    integer(i4), allocatable :: order(:), place(:)       !< (0:n-1) k-th eliminated row; step at which a row is eliminated
    integer(i4), allocatable :: upper_ptr(:), upper(:)   !< rows of U, steps ascending
    integer(i4), allocatable :: lower_ptr(:), lower(:)   !< rows of L, steps ascending
  end type block_pattern

  !> A pattern and the matrix for which it was found.
  type :: kept_pattern
    integer(i4), allocatable :: ptr(:), col(:)
    type(block_pattern) :: pattern
  end type kept_pattern

  integer(i4), parameter :: places = 8                   !< of kept patterns
  integer(i4), parameter :: most_blocks = 100000         !< off-diagonal blocks of a matrix whose pattern is kept

  !> Python calls one kernel at a time, so only threads of one kernel could meet here, and these find patterns anew.
  type(kept_pattern), save :: kept(places)
  integer(i4), save :: latest = 0                        !< place that was filled last; the next one is filled next

contains

  !> Finds order and pattern of the factors of a matrix with off-diagonal blocks ptr (0:n), col.
  !>
  !> If more than `most` block products are needed, pattern%products tells so, and there is no pattern, which would take much memory.
  subroutine find_pattern(n, ptr, col, pattern, most)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), col(0:*)
    type(block_pattern), intent(out) :: pattern
    real(dp), intent(in), optional :: most
    integer(i4) :: place
    logical :: alone

    alone = .true.
!$  alone = .not. omp_in_parallel()
    do place = 1, merge(places, 0, alone)
      if (.not. belongs(kept(place), n, ptr, col)) cycle
      if (present(most)) then
        if (kept(place)%pattern%products > most) exit
      end if
      pattern = kept(place)%pattern
      return
    end do
    call find_anew(n, ptr, col, pattern, most)
    if (.not. alone .or. ptr(n) > most_blocks .or. .not. allocated(pattern%upper)) return
    latest = 1 + mod(latest, places)
    if (allocated(kept(latest)%ptr)) deallocate (kept(latest)%ptr, kept(latest)%col)
    allocate (kept(latest)%ptr(0:n), kept(latest)%col(0:ptr(n)-1))
    kept(latest)%ptr = ptr
    kept(latest)%col = col(0:ptr(n)-1)
    kept(latest)%pattern = pattern
  end subroutine find_pattern

  !> Whether a kept pattern is that of a matrix.
  pure logical function belongs(known, n, ptr, col)
    type(kept_pattern), intent(in) :: known
    integer(i4), intent(in) :: n, ptr(0:n), col(0:*)

    belongs = known%pattern%n == n .and. allocated(known%ptr)
    if (belongs) belongs = known%ptr(n) == ptr(n)
    if (belongs) belongs = all(known%ptr == ptr)
    if (belongs) belongs = all(known%col == col(0:ptr(n)-1))
  end function belongs

  !> Finds a pattern that is not kept.
  subroutine find_anew(n, ptr, col, pattern, most)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: ptr(0:n), col(0:*)
    type(block_pattern), intent(out) :: pattern
    real(dp), intent(in), optional :: most
    integer(i4), allocatable :: struct_ptr(:), struct(:)
    real(dp) :: bound
    logical :: complete
    integer(i4) :: k

    bound = huge(1.0_dp)
    if (present(most)) bound = most
    allocate (pattern%order(0:n-1), pattern%place(0:n-1), struct_ptr(0:n))
    pattern%n = n
    call find_order(n, ptr, col, bound, pattern%order, struct_ptr, struct, pattern%products, complete)
    if (.not. complete) return
    do k = 0, n - 1
      pattern%place(pattern%order(k)) = k
    end do
    call sort_patterns(n, struct_ptr, struct, pattern)
  end subroutine find_anew

  !> Computes patterns of the rows of L and U by steps of elimination, from the rows that each step touches.
  subroutine sort_patterns(n, struct_ptr, struct, pattern)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: struct_ptr(0:n), struct(0:*)
    type(block_pattern), intent(inout) :: pattern
    integer(i4), allocatable :: fill(:)
    integer(i4) :: a, k, j, count, place

    allocate(fill(0:n))
    ! patterns by steps of elimination; a loop over the rows of L in order sorts the rows of U, and conversely
    count = struct_ptr(n)
    allocate(pattern%upper_ptr(0:n), pattern%lower_ptr(0:n), pattern%upper(0:max(count, 1)-1), pattern%lower(0:max(count, 1)-1))
    pattern%upper_ptr = struct_ptr
    fill = 0
    do j = 0, count - 1
      place = pattern%place(struct(j))
      fill(place+1) = fill(place+1) + 1
    end do
    do k = 1, n
      fill(k) = fill(k) + fill(k-1)
    end do
    pattern%lower_ptr = fill
    do k = 0, n - 1
      do j = struct_ptr(k), struct_ptr(k+1) - 1
        place = pattern%place(struct(j))
        pattern%lower(fill(place)) = k
        fill(place) = fill(place) + 1
      end do
    end do
    fill(0:n) = struct_ptr
    do k = 0, n - 1
      do j = pattern%lower_ptr(k), pattern%lower_ptr(k+1) - 1
        a = pattern%lower(j)
        pattern%upper(fill(a)) = k
        fill(a) = fill(a) + 1
      end do
    end do
  end subroutine sort_patterns
end module block_patterns
