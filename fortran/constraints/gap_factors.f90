!> Solution of (H M^-1 H^T) x = -g for the gaps g of joints, by sparse factors of blocks (block_factor), one block per constraint.
!>
!> Constraints are coupled if they act on one velocity triple.  Each island of coupled constraints has factors of its own.
module gap_factors
  use kinds, only: dp, i4
  use block_factor, only: block_lu, analyse, factorise, solve_factored
  use state_tables, only: joint_gap_table
  implicit none
  private
  public :: forces_of_gaps, factor_gaps, solve_gaps, factored_gaps, sides

  real(dp), parameter :: misfit = 1e-6_dp  !< of a solution, over the right-hand side
  integer, parameter :: sides = 20      !< velocity triples of a constraint, eight of either body, and two of its rigid motion

  !> The matrix: blocks (3,3) of constraints; components that do not hold have a row of the identity.
  type :: coupled_gaps
    integer(i4) :: n = 0
    integer(i4), allocatable :: first(:)              !< (0:n) rows of the table where those of a constraint begin
    integer(i4), allocatable :: entry(:), triple(:)   !< (0:n) where the triples of a constraint begin; triples
    real(dp), allocatable :: h(:,:,:)                 !< (3,3,0:entries-1) H of constraints on them, a row per component that holds, then zeros
    integer(i4), allocatable :: ptr(:), col(:)        !< off-diagonal blocks
    real(dp), allocatable :: diagonal(:,:,:), block(:,:,:), right(:,:)
  end type coupled_gaps

  !> The matrix and the factors of its islands, which serve for any gaps.
  type :: factored_gaps
    private
    type(coupled_gaps) :: equations
    integer(i4) :: islands = 0
    integer(i4), allocatable :: first(:), member(:)   !< (0:islands) where the constraints of an island begin; constraints
    integer(i4), allocatable :: number(:)             !< (0:n-1) places of constraints in their islands
    type(block_lu), allocatable :: factor(:)          !< (0:islands-1)
  end type factored_gaps

contains

  !> Computes x of all rows; not `regular` if there are no factors.
  subroutine forces_of_gaps(gaps, rows, triples, inverse, redundant, x, regular)
    type(joint_gap_table), intent(in) :: gaps
    integer(i4), intent(in) :: rows, triples
    real(dp), intent(in) :: inverse(:,:,0:)           !< blocks of M^-1, of the triples that follow the identity
    real(dp), intent(in) :: redundant                 !< added to the diagonal, relative to it
    real(dp), intent(inout) :: x(0:)
    logical, intent(out) :: regular
    type(factored_gaps) :: these

    call factor_gaps(gaps, rows, triples, inverse, redundant, these, regular)
    if (regular) call solve_gaps(gaps, these, x, regular)
  end subroutine forces_of_gaps

  !> Factorises the matrix; not `regular` if there are no factors.
  subroutine factor_gaps(gaps, rows, triples, inverse, redundant, these, regular)
    type(joint_gap_table), intent(in) :: gaps
    integer(i4), intent(in) :: rows, triples
    real(dp), intent(in) :: inverse(:,:,0:), redundant   !< see forces_of_gaps
    type(factored_gaps), intent(out) :: these
    logical, intent(out) :: regular
    integer(i4) :: a, count, k

    regular = .true.
    associate (equations => these%equations)
      call find_blocks(gaps, rows, equations)
      call collect_operators(gaps, equations)
      call couple(triples, equations)
      call fill(triples, inverse, redundant, equations)
      allocate (these%member(0:max(equations%n, 1)-1), these%number(0:max(equations%n, 1)-1), these%first(0:equations%n))
      these%number = -1
      these%first(0) = 0
      do a = 0, equations%n - 1
        if (these%number(a) >= 0) cycle
        k = these%first(these%islands)
        call find_island(equations, a, these%number, these%member(k:), count)
        these%islands = these%islands + 1
        these%first(these%islands) = k + count
      end do
      allocate (these%factor(0:max(these%islands, 1)-1))
      do k = 0, these%islands - 1
        call factor_island(equations, these%member(these%first(k):these%first(k+1)-1), these%number, these%factor(k), regular)
        if (.not. regular) return
      end do
    end associate
  end subroutine factor_gaps

  !> Computes x of all rows for the present gaps; not `regular` if it does not fulfil its equations.
  subroutine solve_gaps(gaps, these, x, regular)
    type(joint_gap_table), intent(in) :: gaps
    type(factored_gaps), intent(inout) :: these
    real(dp), intent(inout) :: x(0:)
    logical, intent(out) :: regular
    integer(i4) :: a, k

    regular = .true.
    associate (equations => these%equations)
      do a = 0, equations%n - 1
        equations%right(:,a) = 0.0_dp
        equations%right(1:equations%first(a+1)-equations%first(a),a) = -gaps%gap(equations%first(a):equations%first(a+1)-1)
      end do
      do k = 0, these%islands - 1
        call solve_island(equations, these%member(these%first(k):these%first(k+1)-1), these%number, these%factor(k), x, regular)
        if (.not. regular) return
      end do
    end associate
  end subroutine solve_gaps

  !> Finds where the rows of each constraint begin.
  subroutine find_blocks(gaps, rows, these)
    type(joint_gap_table), intent(in) :: gaps
    integer(i4), intent(in) :: rows
    type(coupled_gaps), intent(inout) :: these
    integer(i4) :: i

    allocate (these%first(0:rows))
    do i = 0, rows - 1
      if (i > 0) then
        if (gaps%constraint(i) == gaps%constraint(i-1)) cycle
      end if
      these%first(these%n) = i
      these%n = these%n + 1
    end do
    these%first(these%n) = rows
  end subroutine find_blocks

  !> Collects the operators of each constraint on its triples; constraints on rotations do not act on velocities of centres.
  subroutine collect_operators(gaps, these)
    type(joint_gap_table), intent(in) :: gaps
    type(coupled_gaps), intent(inout) :: these
    integer(i4) :: a, count, e, i

    allocate (these%entry(0:these%n), these%triple(0:max(sides*these%n, 1)-1), these%h(3,3,0:max(sides*these%n, 1)-1))
    count = 0
    do a = 0, these%n - 1
      these%entry(a) = count
      do e = 1, sides
        if (gaps%triple(e,these%first(a)) < 0) exit
        these%triple(count) = gaps%triple(e,these%first(a))
        these%h(:,:,count) = 0.0_dp
        do i = these%first(a), these%first(a+1) - 1
          these%h(i-these%first(a)+1,:,count) = gaps%operator(:,e,i)
        end do
        if (any(these%h(:,:,count) /= 0.0_dp)) count = count + 1
      end do
    end do
    these%entry(these%n) = count
  end subroutine collect_operators

  !> Finds the constraints that share a triple with each constraint.
  subroutine couple(triples, these)
    integer(i4), intent(in) :: triples
    type(coupled_gaps), intent(inout) :: these
    integer(i4), allocatable :: user_ptr(:), user(:), seen(:), grown(:)
    integer(i4) :: a, b, e, k, count

    call list_users(triples, these, user_ptr, user)
    allocate (these%ptr(0:these%n), these%col(0:max(64, 8*these%n)-1), seen(0:max(these%n, 1)-1))
    seen = -1
    count = 0
    do a = 0, these%n - 1
      these%ptr(a) = count
      seen(a) = a
      do e = these%entry(a), these%entry(a+1) - 1
        do k = user_ptr(these%triple(e)), user_ptr(these%triple(e)+1) - 1
          b = user(k)
          if (seen(b) == a) cycle
          seen(b) = a
          if (count > ubound(these%col, 1)) then
            allocate (grown(0:2*count-1))
            grown(0:count-1) = these%col
            call move_alloc(grown, these%col)
          end if
          these%col(count) = b
          count = count + 1
        end do
      end do
    end do
    these%ptr(these%n) = count
  end subroutine couple

  !> Lists the constraints that act on each triple.
  subroutine list_users(triples, these, user_ptr, user)
    integer(i4), intent(in) :: triples
    type(coupled_gaps), intent(in) :: these
    integer(i4), allocatable, intent(out) :: user_ptr(:), user(:)
    integer(i4), allocatable :: place(:)
    integer(i4) :: a, e, t

    allocate (user_ptr(0:triples), source=0)
    do e = 0, these%entry(these%n) - 1
      user_ptr(these%triple(e)+1) = user_ptr(these%triple(e)+1) + 1
    end do
    do t = 1, triples
      user_ptr(t) = user_ptr(t) + user_ptr(t-1)
    end do
    allocate (user(0:max(user_ptr(triples), 1)-1))
    allocate (place(0:triples), source=user_ptr)
    do a = 0, these%n - 1
      do e = these%entry(a), these%entry(a+1) - 1
        t = these%triple(e)
        user(place(t)) = a
        place(t) = place(t) + 1
      end do
    end do
  end subroutine list_users

  !> Computes the blocks of H M^-1 H^T.
  subroutine fill(triples, inverse, redundant, these)
    integer(i4), intent(in) :: triples
    real(dp), intent(in) :: inverse(:,:,0:), redundant
    type(coupled_gaps), intent(inout) :: these
    integer(i4), allocatable :: place(:)              ! of triples: number among those of one constraint, 0: it has no such triple
    real(dp) :: spread(3,3,sides)                     ! H M^-1 of one constraint
    integer(i4) :: a, e, k, r

    allocate (these%diagonal(3,3,0:these%n-1), these%block(3,3,0:max(these%ptr(these%n), 1)-1), these%right(3,0:these%n-1))
    allocate (place(0:triples-1), source=0)
    do a = 0, these%n - 1
      do e = these%entry(a), these%entry(a+1) - 1
        place(these%triple(e)) = e - these%entry(a) + 1
        if (these%triple(e) <= ubound(inverse, 3)) then
          spread(:,:,e-these%entry(a)+1) = matmul(these%h(:,:,e), inverse(:,:,these%triple(e)))
        else
          spread(:,:,e-these%entry(a)+1) = these%h(:,:,e)
        end if
      end do
      these%diagonal(:,:,a) = coupling(these%entry(a), these%entry(a+1), these%triple, these%h, place, spread)
      do r = 1, 3
        associate (entry => these%diagonal(r,r,a))
          entry = entry + merge(redundant*entry, 1.0_dp, entry > 0.0_dp)
        end associate
      end do
      do k = these%ptr(a), these%ptr(a+1) - 1
        associate (b => these%col(k))
          these%block(:,:,k) = coupling(these%entry(b), these%entry(b+1), these%triple, these%h, place, spread)
        end associate
      end do
      place(these%triple(these%entry(a):these%entry(a+1)-1)) = 0
    end do
  end subroutine fill

  !> Block of a constraint whose H M^-1 is `spread`, on the triples at their `place`, and of one with entries from `first` to last - 1.
  pure function coupling(first, last, triple, h, place, spread) result(block)
    integer(i4), intent(in) :: first, last, triple(0:*), place(0:*)
    real(dp), intent(in) :: h(3,3,0:*), spread(3,3,sides)
    real(dp) :: block(3,3)
    integer(i4) :: c, e, k

    block = 0.0_dp
    do e = first, last - 1
      k = place(triple(e))
      if (k == 0) cycle
      do c = 1, 3
        block(:,c) = block(:,c) + (spread(:,1,k)*h(c,1,e) + spread(:,2,k)*h(c,2,e) + spread(:,3,k)*h(c,3,e))
      end do
    end do
  end function coupling

  !> Lists the constraints that are coupled with constraint `a`, also through others, and numbers them.
  subroutine find_island(these, a, number, island, count)
    type(coupled_gaps), intent(in) :: these
    integer(i4), intent(in) :: a
    integer(i4), intent(inout) :: number(0:)          !< places in their islands; -1: not known
    integer(i4), intent(inout) :: island(0:)
    integer(i4), intent(out) :: count
    integer(i4) :: head, k

    island(0) = a
    number(a) = 0
    count = 1
    head = 0
    do while (head < count)
      do k = these%ptr(island(head)), these%ptr(island(head)+1) - 1
        if (number(these%col(k)) >= 0) cycle
        number(these%col(k)) = count
        island(count) = these%col(k)
        count = count + 1
      end do
      head = head + 1
    end do
  end subroutine find_island

  !> Factorises the blocks of an island.
  subroutine factor_island(these, island, number, factor, regular)
    type(coupled_gaps), intent(in) :: these
    integer(i4), intent(in) :: island(0:), number(0:)
    type(block_lu), intent(out) :: factor
    logical, intent(out) :: regular
    integer(i4), allocatable :: ptr(:), col(:)
    real(dp), allocatable :: block(:,:,:)
    integer(i4) :: a, i, k, n

    n = size(island)
    allocate (ptr(0:n))
    ptr(0) = 0
    do i = 0, n - 1
      a = island(i)
      ptr(i+1) = ptr(i) + these%ptr(a+1) - these%ptr(a)
    end do
    allocate (col(0:max(ptr(n), 1)-1), block(3,3,0:max(ptr(n), 1)-1))
    do i = 0, n - 1
      a = island(i)
      do k = 0, these%ptr(a+1) - these%ptr(a) - 1
        col(ptr(i)+k) = number(these%col(these%ptr(a)+k))
        block(:,:,ptr(i)+k) = these%block(:,:,these%ptr(a)+k)
      end do
    end do
    call analyse(n, ptr, col, factor)
    call factorise(ptr, col, these%diagonal(:,:,island), block, factor, regular)
  end subroutine factor_island

  !> Computes x of an island, again from what is left of the right-hand side until it fulfils its equations: pivots in which one motion
  !> outweighs others by many digits, as the rigid one of a deformable body does, keep few digits of these where they lie oblique to the axes.
  subroutine solve_island(these, island, number, factor, x, regular)
    type(coupled_gaps), intent(in) :: these
    integer(i4), intent(in) :: island(0:), number(0:)
    type(block_lu), intent(inout) :: factor
    real(dp), intent(inout) :: x(0:)
    logical, intent(out) :: regular
    real(dp) :: solution(3,0:size(island)-1), left(3,0:size(island)-1), more(3,0:size(island)-1), before, now, size_of_right
    integer(i4) :: a, count, i

    solution = 0.0_dp
    left = these%right(:,island)
    size_of_right = largest(left)
    now = huge(now)
    do
      before = now
      call solve_factored(factor, left, more)
      solution = solution + more
      call find_left(these, island, number, solution, left)
      now = largest(left)
      regular = now <= misfit*size_of_right
      if (regular .or. .not. now < 0.5_dp*before) exit
    end do
    if (.not. regular) return
    do i = 0, size(island) - 1
      a = island(i)
      count = these%first(a+1) - these%first(a)
      x(these%first(a):these%first(a+1)-1) = solution(1:count,i)
    end do
  end subroutine solve_island

  pure real(dp) function largest(vectors)
    real(dp), intent(in) :: vectors(:,:)
    integer :: i

    largest = 0.0_dp
    do i = 1, size(vectors, 2)
      largest = max(largest, norm2(vectors(:,i)))
    end do
  end function largest

  !> What x leaves of the right-hand side of an island.  Pivots that are little but what redundant rows have on the diagonal lose their digits,
  !> and what is found may be anything.
  pure subroutine find_left(these, island, number, x, left)
    type(coupled_gaps), intent(in) :: these
    integer(i4), intent(in) :: island(0:), number(0:)
    real(dp), intent(in) :: x(3,0:size(island)-1)
    real(dp), intent(out) :: left(3,0:size(island)-1)
    integer(i4) :: a, i, k

    do i = 0, size(island) - 1
      a = island(i)
      left(:,i) = these%right(:,a) - matmul(these%diagonal(:,:,a), x(:,i))
      do k = these%ptr(a), these%ptr(a+1) - 1
        left(:,i) = left(:,i) - matmul(these%block(:,:,k), x(:,number(these%col(k))))
      end do
    end do
  end subroutine find_left
end module gap_factors
