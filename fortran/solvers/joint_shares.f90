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
!> The matrix couples bodies that share a joint.  It is kept by rows from the first entry to the diagonal, three rows of a velocity triple side by
!> side, in an order that puts neighbours near each other.
module joint_shares
  use kinds, only: dp, i4, i8
  use matrix3, only: multiply_transposed
  use row_tables, only: local_tables, open_local
  use state_tables, only: constraint_table, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: share_reactions

  real(dp), parameter :: shift = 1.0e-13_dp        !< of a diagonal of ones; well above the round-off of H'^T H'
  real(dp), parameter :: accuracy = 1.0e-15_dp     !< of H^T R, over |r|; its round-off is some 3e-16
  real(dp), parameter :: change = 1.0e-8_dp        !< smallest change over |r|; below it joints are not redundant, and reactions keep their bits
  integer, parameter :: most = 30                  !< repetitions

  !> H' of joints with scaled columns, and the factor of H'^T H' + shift.
  type :: joint_system
    integer(i4) :: n = 0, columns = 0              !< joint rows, columns of H
    integer(i4), allocatable :: first(:), place(:) !< (0:n) first entry of a row; of an entry: first column, counted from zero
    real(dp), allocatable :: h(:,:,:)              !< (3,3,0:entries-1)
    integer(i4), allocatable :: start(:)           !< (0:triples-1) first column of the three rows of a triple in the factor
    integer(i8), allocatable :: offset(:)          !< (0:triples-1) to be added to a column for its place in `factor`
    real(dp), allocatable :: factor(:,:)           !< (3,0:*) entries of the three rows of a triple, triple after triple
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
    real(dp) :: a(3,3)
    integer(i4) :: i, k, s, t, from

    call fill_factor(joints)
    associate (start => joints%start, offset => joints%offset, factor => joints%factor)
      do t = 0, joints%columns/3 - 1
        do s = start(t)/3, t
          a = factor(:,offset(t)+3*s:offset(t)+3*s+2)
          from = max(start(t), start(s))
          do k = from, 3*s - 1
            do i = 1, 3
              a(:,i) = a(:,i) - factor(:,offset(t)+k)*factor(i,offset(s)+k)
            end do
          end do
          if (s < t) then
            call divide(factor(:,offset(s)+3*s:offset(s)+3*s+2), a)
          else
            call take_root(a)
          end if
          factor(:,offset(t)+3*s:offset(t)+3*s+2) = a
        end do
      end do
    end associate
  end subroutine factorise

  !> Lays out the factor, and fills it with H^T H.
  subroutine fill_factor(joints)
    type(joint_system), intent(inout) :: joints
    integer(i8) :: at, total
    integer(i4) :: j, k, e, f, from, t, triples

    triples = joints%columns/3
    allocate(joints%offset(0:triples-1), joints%start(0:triples-1))
    joints%start(:) = [(3*t, t = 0, triples - 1)]  ! (:) keeps the bounds
    do k = 0, joints%n - 1
      if (joints%first(k) == joints%first(k+1)) cycle
      from = minval(joints%place(joints%first(k):joints%first(k+1)-1))
      do e = joints%first(k), joints%first(k+1) - 1
        t = joints%place(e)/3
        joints%start(t) = min(joints%start(t), from)
      end do
    end do
    total = 0_i8
    do t = 0, triples - 1
      joints%offset(t) = total - int(joints%start(t), i8)
      total = total + int(3*t + 3 - joints%start(t), i8)
    end do
    allocate(joints%factor(3,0:max(total, 1_i8)-1_i8))
    joints%factor = 0.0_dp
    do k = 0, joints%n - 1
      do e = joints%first(k), joints%first(k+1) - 1
        do f = joints%first(k), joints%first(k+1) - 1
          if (joints%place(f) > joints%place(e)) cycle
          at = joints%offset(joints%place(e)/3) + int(joints%place(f), i8)
          do j = 1, 3
            joints%factor(:,at+j-1) = joints%factor(:,at+j-1) + multiply_transposed(joints%h(:,:,e), joints%h(:,j,f))
          end do
        end do
      end do
    end do
  end subroutine fill_factor

  !> Replaces a by a L^-T, with a block L of the factor's diagonal.
  pure subroutine divide(l, a)
    real(dp), intent(in) :: l(3,3)
    real(dp), intent(inout) :: a(3,3)

    a(:,1) = a(:,1)/l(1,1)
    a(:,2) = (a(:,2) - a(:,1)*l(2,1))/l(2,2)
    a(:,3) = (a(:,3) - a(:,1)*l(3,1) - a(:,2)*l(3,2))/l(3,3)
  end subroutine divide

  !> Replaces a by the lower factor of a + shift.
  pure subroutine take_root(a)
    real(dp), intent(inout) :: a(3,3)
    integer :: c, d

    do c = 1, 3
      do d = 1, c - 1
        a(c:3,c) = a(c:3,c) - a(c:3,d)*a(c,d)
        a(d,c) = 0.0_dp
      end do
      a(c,c) = sqrt(max(a(c,c) + shift, 0.1_dp*shift))
      a(c+1:3,c) = a(c+1:3,c)/a(c,c)
    end do
  end subroutine take_root

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
    real(dp) :: y(3)
    integer(i4) :: k, t

    do t = 0, joints%columns/3 - 1
      associate (l => joints%factor(:,joints%offset(t)+3*t:joints%offset(t)+3*t+2))
        y = x(3*t:3*t+2)
        do k = joints%start(t), 3*t - 1
          y = y - joints%factor(:,joints%offset(t)+k)*x(k)
        end do
        x(3*t) = y(1)/l(1,1)
        x(3*t+1) = (y(2) - l(2,1)*x(3*t))/l(2,2)
        x(3*t+2) = (y(3) - l(3,1)*x(3*t) - l(3,2)*x(3*t+1))/l(3,3)
      end associate
    end do
    do t = joints%columns/3 - 1, 0, -1
      associate (l => joints%factor(:,joints%offset(t)+3*t:joints%offset(t)+3*t+2))
        y(3) = x(3*t+2)/l(3,3)
        y(2) = (x(3*t+1) - l(3,2)*y(3))/l(2,2)
        y(1) = (x(3*t) - l(3,1)*y(3) - l(2,1)*y(2))/l(1,1)
        x(3*t:3*t+2) = y
        do k = joints%start(t), 3*t - 1
          x(k) = x(k) - dot_product(joints%factor(:,joints%offset(t)+k), y)
        end do
      end associate
    end do
  end subroutine solve
end module joint_shares
