!> Reactions of redundant joints: of all that move the bodies alike, those of least norm.
!>
!> Bodies get H^T R from the reactions R of joints.  If joints hold a motion more than once, some R change nothing, H^T R = 0, and those of a
!> solver depend on its way to them.  With weights D of components, H' = D H and R = D r, the reactions of least |r| are r = H' y with
!> H'^T H' y = H^T R.  H'^T H' is singular where joints leave motions free.  So the kernel factorises H'^T H' + shift, and repeats
!> r = r + H' (H'^T H' + shift)^-1 (H^T R - H'^T r), which converges to the solution without the shift.
!>
!> Singular values of H' below 1E-7 count as zero.  In a loop that moves, joints that are redundant fit together up to the errors of positions
!> only.  A motion that is free then has such a value: its reactions do next to nothing, but can be very large.
!>
!> The matrix couples bodies that share a joint.  It is kept by rows from the first entry to the diagonal, in an order that puts neighbours near
!> each other.
module joint_shares
  use kinds, only: dp, i4, i8
  use row_tables, only: local_tables, open_local
  use state_tables, only: constraint_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: share_reactions

  real(dp), parameter :: shift = 1.0e-13_dp        !< of a diagonal of ones; well above the round-off of H'^T H'
  real(dp), parameter :: accuracy = 1.0e-16_dp     !< of H^T R, over |r|
  real(dp), parameter :: change = 1.0e-8_dp        !< smallest change over |r|; below it joints are not redundant, and reactions keep their bits
  integer, parameter :: most = 30                  !< repetitions

  !> H' of joints with scaled columns, and the factor of H'^T H' + shift.
  type :: joint_system
    integer(i4) :: n = 0, columns = 0              !< joint rows, columns of H
    integer(i4), allocatable :: first(:), place(:) !< (0:n) first entry of a row; of an entry: first column, counted from zero
    real(dp), allocatable :: h(:,:,:)              !< (3,3,0:entries-1)
    integer(i4), allocatable :: start(:)           !< (0:columns-1) first column of a row of the factor
    integer(i8), allocatable :: diagonal(:)        !< (0:columns-1) place of its diagonal in `factor`
    real(dp), allocatable :: factor(:)
  end type joint_system

contains

  !> Replaces reactions of joints by those of least norm with the same H^T R, if that changes them.
  !>
  !> Reads of rows order and entry_ptr; entries.  Writes R of rows and of constraints.
  !>
  !>   local, constraints   LocalDynamics.handles; ConstraintTable
  !>   total     rows in use
  !>   n, from_end   (0:n-1) rows of joints, counted from the end: 1 is the last one
  !>   weight    (3,0:n-1) D; 0: components that have no reaction
  !>   m, order  (0:m-1) velocity triples of their bodies, in the order of elimination
  !>   triples   velocity triples in use
  !>   changed   out: change of r over |r|; 0 if reactions stay
  !>   status    `table_open` or `table_unknown`
  subroutine share_reactions(local, constraints, total, n, from_end, weight, m, order, triples, changed, status)
    integer(i8), intent(in) :: local(6), constraints
    integer(i4), intent(in) :: total, n
    integer(i4), intent(in) :: from_end(0:n-1)
    real(dp), intent(in) :: weight(3,0:n-1)
    integer(i4), intent(in) :: m, triples
    integer(i4), intent(in) :: order(0:m-1)
    real(dp), intent(out) :: changed
    integer(i4), intent(out) :: status
    type(local_tables) :: loc
    type(constraint_table) :: con
    type(joint_system) :: joints
    real(dp) :: given(3,0:n-1), least(3,0:n-1), norm
    integer(i4) :: rows(0:n-1)
    integer(i4) :: k

    changed = 0.0_dp
    call open_local(local, loc, status)
    if (status == table_open) call open_table(constraints, con, status)
    if (status /= table_open) return
    rows = total - from_end
    do k = 0, n - 1
      given(:,k) = 0.0_dp
      where (weight(:,k) > 0.0_dp) given(:,k) = loc%rows%R(:,rows(k))/weight(:,k)
    end do
    norm = norm2(given)
    if (.not. (norm > 0.0_dp .and. norm <= huge(1.0_dp))) return
    call take_operators(loc, n, rows, weight, order, triples, joints)
    call factorise(joints)
    call find_least(joints, given, norm, least)
    if (.not. norm2(least - given) > change*norm) return
    changed = norm2(least - given)/norm
    do k = 0, n - 1
      where (weight(:,k) > 0.0_dp) loc%rows%R(:,rows(k)) = weight(:,k)*least(:,k)
      con%R(:,loc%rows%order(rows(k))) = loc%rows%R(:,rows(k))
    end do
  end subroutine share_reactions

  !> Takes H', with columns of length one, which changes neither the reactions that do nothing nor their norm.
  subroutine take_operators(loc, n, rows, weight, order, triples, joints)
    type(local_tables), intent(in) :: loc
    integer(i4), intent(in) :: n, rows(0:n-1), order(0:), triples
    real(dp), intent(in) :: weight(3,0:n-1)
    type(joint_system), intent(out) :: joints
    integer(i4) :: column(0:triples-1)
    real(dp), allocatable :: length(:)
    integer(i4) :: k, e, first, t, j

    joints%n = n
    allocate(joints%first(0:n))
    joints%first(0) = 0
    do k = 0, n - 1
      joints%first(k+1) = joints%first(k) + loc%rows%entry_ptr(rows(k)+1) - loc%rows%entry_ptr(rows(k))
    end do
    joints%columns = 3*size(order)
    do t = 0, size(order) - 1
      column(order(t)) = 3*t
    end do
    allocate(joints%place(0:joints%first(n)-1), joints%h(3,3,0:joints%first(n)-1), length(0:joints%columns-1))
    length = 0.0_dp
    do k = 0, n - 1
      first = loc%rows%entry_ptr(rows(k))
      do e = joints%first(k), joints%first(k+1) - 1
        joints%place(e) = column(loc%entries%triple(first+e-joints%first(k)))
        do j = 1, 3
          joints%h(:,j,e) = weight(:,k)*loc%entries%operator(:,j,first+e-joints%first(k))
          length(joints%place(e)+j-1) = length(joints%place(e)+j-1) + sum(joints%h(:,j,e)**2)
        end do
      end do
    end do
    where (length > 0.0_dp) length = 1.0_dp/sqrt(length)
    do e = 0, joints%first(n) - 1
      do j = 1, 3
        joints%h(:,j,e) = length(joints%place(e)+j-1)*joints%h(:,j,e)
      end do
    end do
  end subroutine take_operators

  !> Computes the Cholesky factor of H^T H + shift.
  subroutine factorise(joints)
    type(joint_system), intent(inout) :: joints
    integer(i8) :: at, other
    integer(i4) :: i, j, from, k, e, f, p, q

    allocate(joints%start(0:joints%columns-1), joints%diagonal(0:joints%columns-1))
    joints%start = [(i - mod(i, 3), i = 0, joints%columns - 1)]
    do k = 0, joints%n - 1
      if (joints%first(k) == joints%first(k+1)) cycle
      from = minval(joints%place(joints%first(k):joints%first(k+1)-1))
      do e = joints%first(k), joints%first(k+1) - 1
        p = joints%place(e)
        joints%start(p:p+2) = min(joints%start(p:p+2), from)
      end do
    end do
    at = 0_i8
    do i = 0, joints%columns - 1
      at = at + int(i - joints%start(i), i8)
      joints%diagonal(i) = at
      at = at + 1_i8
    end do
    allocate(joints%factor(0:max(at, 1_i8)-1_i8))
    joints%factor = 0.0_dp
    do k = 0, joints%n - 1
      do e = joints%first(k), joints%first(k+1) - 1
        p = joints%place(e)
        do f = joints%first(k), joints%first(k+1) - 1
          q = joints%place(f)
          if (q > p) cycle
          do i = 1, 3
            at = joints%diagonal(p+i-1) - int(p + i - q, i8)
            do j = 1, merge(i, 3, q == p)
              joints%factor(at+j) = joints%factor(at+j) + dot_product(joints%h(:,i,e), joints%h(:,j,f))
            end do
          end do
        end do
      end do
    end do
    do i = 0, joints%columns - 1
      joints%factor(joints%diagonal(i)) = joints%factor(joints%diagonal(i)) + shift
      do j = joints%start(i), i
        from = max(joints%start(i), joints%start(j))
        at = joints%diagonal(i) - int(i, i8)
        other = joints%diagonal(j) - int(j, i8)
        if (j > from) joints%factor(at+j) = joints%factor(at+j) - &
          dot_product(joints%factor(at+from:at+j-1), joints%factor(other+from:other+j-1))
        if (j < i) joints%factor(at+j) = joints%factor(at+j)/joints%factor(other+j)
      end do
      joints%factor(joints%diagonal(i)) = sqrt(max(joints%factor(joints%diagonal(i)), 0.1_dp*shift))
    end do
  end subroutine factorise

  !> Finds r = H' y with the same H^T R.
  subroutine find_least(joints, given, norm, least)
    type(joint_system), intent(in) :: joints
    real(dp), intent(in) :: given(3,0:*), norm
    real(dp), intent(out) :: least(3,0:joints%n-1)
    real(dp), allocatable :: x(:)
    real(dp) :: rest(3,0:joints%n-1), error, before
    integer :: count

    allocate(x(0:joints%columns-1))
    least = 0.0_dp
    before = huge(1.0_dp)
    do count = 1, most
      rest = given(:,0:joints%n-1) - least
      call gather(joints, rest, x)
      error = norm2(x)/norm
      if (error <= accuracy .or. .not. error < 0.5_dp*before) exit
      before = error
      call solve(joints, x)
      call spread_out(joints, x, least)
    end do
  end subroutine find_least

  !> Computes x = H'^T r.
  subroutine gather(joints, r, x)
    type(joint_system), intent(in) :: joints
    real(dp), intent(in) :: r(3,0:*)
    real(dp), intent(out) :: x(0:joints%columns-1)
    integer(i4) :: k, e, p

    x = 0.0_dp
    do k = 0, joints%n - 1
      do e = joints%first(k), joints%first(k+1) - 1
        p = joints%place(e)
        x(p:p+2) = x(p:p+2) + matmul(r(:,k), joints%h(:,:,e))
      end do
    end do
  end subroutine gather

  !> Computes r = r + H' x.
  subroutine spread_out(joints, x, r)
    type(joint_system), intent(in) :: joints
    real(dp), intent(in) :: x(0:*)
    real(dp), intent(inout) :: r(3,0:*)
    integer(i4) :: k, e, p

    do k = 0, joints%n - 1
      do e = joints%first(k), joints%first(k+1) - 1
        p = joints%place(e)
        r(:,k) = r(:,k) + matmul(joints%h(:,:,e), x(p:p+2))
      end do
    end do
  end subroutine spread_out

  !> Solves with the factor, in place.
  subroutine solve(joints, x)
    type(joint_system), intent(in) :: joints
    real(dp), intent(inout) :: x(0:joints%columns-1)
    integer(i8) :: at
    integer(i4) :: i, from

    do i = 0, joints%columns - 1
      from = joints%start(i)
      at = joints%diagonal(i) - int(i, i8)
      x(i) = (x(i) - dot_product(joints%factor(at+from:at+i-1), x(from:i-1)))/joints%factor(at+i)
    end do
    do i = joints%columns - 1, 0, -1
      from = joints%start(i)
      at = joints%diagonal(i) - int(i, i8)
      x(i) = x(i)/joints%factor(at+i)
      x(from:i-1) = x(from:i-1) - x(i)*joints%factor(at+from:at+i-1)
    end do
  end subroutine solve
end module joint_shares
