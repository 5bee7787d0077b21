!> Supports as part of the matrices of bodies (theory, "Quasi-statics").
!>
!> Springs k between supported points and the velocities asked of them go into A of quasi-static bodies of form 'TL': where supports are met, springs
!> carry nothing, and a body that is stable on its supports has a positive definite matrix, though alone it had none.  What springs
!> carry is taken up by the reactions at the end of the step, so that these are those of A without springs whether supports are met or not:
!>
!>    A u = h (f + H^T r),   (A + k H^T H) u = h (f + H^T r' + k/h H^T c),   r = r' - k/h (H u - c)
!>
!> for any c.  Supports: the user's constraints of one body at a point, or along a direction that is fixed in space.
!>
!>   users            the user's constraints, the first rows of the constraint table (ncon)
!>   kind, update, master, slave, element, weights, direction, base, value   columns of that table
!>   rows (0:k-1), dof_first (0:k-1)   bodies of the matrix, rows ascending, and their first unknowns
!>   element_ptr (0:nb-1), element_size (0:ne-1), element_node (8,0:ne-1)   elements of bodies
!>   stiffness (0:ncon-1)   k of the users' rows [mass], 0: not in the matrix
!>   known (3,0:ncon-1)     c, in space
module support_stiffness
  use kinds, only: dp, i4
  implicit none
  private
  public :: add_supports, pull_supports, release_supports

  integer(i4), parameter :: fixpnt = 1, fixdir = 2, velodir = 3, velodir3 = 4   !< of ConstraintKind
  integer(i4), parameter :: fixed = 1                                           !< of DirectionUpdate
  real(dp), parameter :: negligible = 1e-12_dp                                  !< weight of a node that does not count

contains

  !> Adds springs, `factor` times as stiff as the stiffest node of the element, to the lower triangle `value` of a matrix whose columns go
  !> by start (0:nstart-1) and row (0:nentry-1), ascending.  Factor 0: none, and no stiffness.
  subroutine add_supports(factor, users, ncon, kind, update, master, slave, element, weights, direction, base, prescribed, &
                          count, rows, dof_first, nb, element_ptr, ne, element_size, element_node, nstart, start, nentry, &
                          row, value, nspring, stiffness, known)
    real(dp), intent(in) :: factor
    integer(i4), intent(in) :: users, ncon, count, nb, ne, nstart, nentry, nspring
    integer(i4), intent(in) :: kind(0:ncon-1), update(0:ncon-1), master(0:ncon-1), slave(0:ncon-1), element(2,0:ncon-1)
    real(dp), intent(in) :: weights(8,2,0:ncon-1), direction(3,0:ncon-1), base(3,3,0:ncon-1), prescribed(3,0:ncon-1)
    integer(i4), intent(in) :: rows(0:count-1), dof_first(0:count-1)
    integer(i4), intent(in) :: element_ptr(0:nb-1), element_size(0:ne-1), element_node(8,0:ne-1)
    integer(i4), intent(in) :: start(0:nstart-1), row(0:nentry-1)
    real(dp), intent(inout) :: value(0:nentry-1), stiffness(0:nspring-1), known(3,0:nspring-1)
    real(dp) :: most, square
    integer :: a, b, e, i, j, n(8)

    ! all from the matrix without springs
    do i = 0, users - 1
      b = place(master(i))
      if (b < 0) cycle
      stiffness(i) = 0
      if (factor <= 0 .or. .not. supports(i)) cycle
      e = element_ptr(master(i)) + element(1,i)
      most = 0
      square = 0
      do a = 1, element_size(e)
        if (abs(weights(a,1,i)) <= negligible) cycle
        square = square + weights(a,1,i)**2
        do j = 0, 2
          most = max(most, value(start(dof_first(b)+3*element_node(a,e)+j)))
        end do
      end do
      if (square > 0) stiffness(i) = factor*most/square
      known(:,i) = 0
      if (kind(i) == velodir) known(:,i) = prescribed(1,i)*direction(:,i)
      if (kind(i) == velodir3) known(:,i) = matmul(base(:,:,i), prescribed(:,i))
    end do
    if (factor <= 0) return
    do i = 0, users - 1
      b = place(master(i))
      if (b < 0) cycle
      if (.not. stiffness(i) > 0) cycle
      e = element_ptr(master(i)) + element(1,i)
      n = dof_first(b) + 3*element_node(:,e)
      call add_spring(element_size(e), n, weights(:,1,i))
    end do

  contains

    !> The number of a body of this matrix, or -1.
    pure integer function place(body)
      integer(i4), intent(in) :: body
      integer :: low, high, middle
      low = 0
      high = count - 1
      do while (low < high)
        middle = (low + high)/2
        if (rows(middle) < body) then
          low = middle + 1
        else
          high = middle
        end if
      end do
      place = merge(low, -1, rows(low) == body)
    end function place

    pure logical function supports(i)
      integer, intent(in) :: i
      supports = slave(i) < 0 .and. (kind(i) == fixpnt .or. kind(i) == velodir3 .or. &
                                     ((kind(i) == fixdir .or. kind(i) == velodir) .and. update(i) == fixed))
    end function supports

    subroutine add_spring(size, n, w)
      integer, intent(in) :: size, n(8)
      real(dp), intent(in) :: w(8)
      real(dp) :: pair, part
      integer :: a, c, p, q, k, column, line

      do a = 1, size
        if (abs(w(a)) <= negligible) cycle
        do c = 1, size
          if (abs(w(c)) <= negligible .or. n(c) < n(a)) cycle
          pair = stiffness(i)*w(a)*w(c)
          do p = 0, 2
            column = n(a) + p
            do q = 0, 2
              line = n(c) + q
              if (line < column) cycle
              if (kind(i) == fixpnt .or. kind(i) == velodir3) then
                if (p /= q) cycle
                part = pair
              else
                part = pair*direction(p+1,i)*direction(q+1,i)
              end if
              k = entry_of(column, line)
              value(k) = value(k) + part
            end do
          end do
        end do
      end do
    end subroutine add_spring

    !> Place of an entry of the lower triangle, which is there: nodes of one element are coupled.
    pure integer function entry_of(column, line)
      integer, intent(in) :: column, line
      integer :: low, high, middle
      low = start(column)
      high = start(column+1) - 1
      do while (low < high)
        middle = (low + high)/2
        if (row(middle) < line) then
          low = middle + 1
        else
          high = middle
        end if
      end do
      entry_of = low
    end function entry_of
  end subroutine add_supports

  !> Adds k/h H^T c of the springs to forces (3,0:nunknown-1) at the nodes of the bodies; nonzero: 1 where some are not zero.
  subroutine pull_supports(step, users, ncon, master, element, weights, nspring, stiffness, known, count, rows, dof_first, nb, &
                           element_ptr, ne, element_size, element_node, nunknown, unknown, nonzero)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: users, ncon, count, nb, ne, nunknown, nspring
    integer(i4), intent(in) :: master(0:ncon-1), element(2,0:ncon-1)
    real(dp), intent(in) :: weights(8,2,0:ncon-1), stiffness(0:nspring-1), known(3,0:nspring-1)
    integer(i4), intent(in) :: rows(0:count-1), dof_first(0:count-1)
    integer(i4), intent(in) :: element_ptr(0:nb-1), element_size(0:ne-1), element_node(8,0:ne-1)
    real(dp), intent(inout) :: unknown(3,0:nunknown-1)
    integer(i4), intent(inout) :: nonzero(1)
    integer :: a, b, e, i, n

    b = 0
    do i = 0, users - 1
      if (.not. stiffness(i) > 0) cycle
      if (all(known(:,i) == 0)) cycle
      if (rows(b) /= master(i)) then
        do b = 0, count - 1
          if (rows(b) == master(i)) exit
        end do
        if (b == count) then
          b = 0
          cycle
        end if
      end if
      nonzero = 1
      e = element_ptr(master(i)) + element(1,i)
      do a = 1, element_size(e)
        n = dof_first(b)/3 + element_node(a,e)
        unknown(:,n) = unknown(:,n) + stiffness(i)/step*weights(a,1,i)*known(:,i)
      end do
    end do
  end subroutine pull_supports

  !> Takes what springs have carried from the reactions R (3,0:ncon-1) of supports, local as their velocities U.
  subroutine release_supports(step, users, ncon, kind, base, nspring, stiffness, known, u, r)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: users, ncon, nspring
    integer(i4), intent(in) :: kind(0:ncon-1)
    real(dp), intent(in) :: base(3,3,0:ncon-1), stiffness(0:nspring-1), known(3,0:nspring-1), u(3,0:ncon-1)
    real(dp), intent(inout) :: r(3,0:ncon-1)
    real(dp) :: carried(3)
    integer :: i

    do i = 0, users - 1
      if (.not. stiffness(i) > 0) cycle
      carried = stiffness(i)/step*(u(:,i) - matmul(known(:,i), base(:,:,i)))
      if (kind(i) == fixdir .or. kind(i) == velodir) carried(1:2) = 0
      r(:,i) = r(:,i) - carried
    end do
  end subroutine release_supports

end module support_stiffness
