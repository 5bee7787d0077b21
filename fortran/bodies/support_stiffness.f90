!> Supports as part of the matrices of bodies (docs/theory.md, Quasi-statics).
!>
!> Springs k that pull supported points to their prescribed velocities are added to A of quasi-static bodies of form 'TL'.  Where supports are met,
!> springs carry nothing; and a body that is stable only on its supports gets a positive definite matrix.  The reactions at the end of
!> the step take over the spring forces, so they are exactly those of A without springs, whether supports are met or not:
!>
!>    A u = h (f + H^T r),   (A + k H^T H) u = h (f + H^T r' + k/h H^T c),   r = r' - k/h (H u - c)
!>
!> for any c.  Supports are the user's constraints of one body at a point, or along a direction fixed in space.
!>
!> Handles are BodyTable.handles and those of ConstraintTable, FiniteElements, an ElementSolver and its SupportStiffness; the user's
!> constraints are the first `users` rows of their table.  `status` is `table_unknown` where a handle is not that of such a table.
module support_stiffness
  use kinds, only: dp, i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use state_tables, only: constraint_table, element_solver, finite_elements, springs => support_stiffness, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: add_supports, pull_supports, release_supports

  integer(i4), parameter :: fixpnt = 1, fixdir = 2, velodir = 3, velodir3 = 4   !< of ConstraintKind
  integer(i4), parameter :: fixed = 1                                           !< of DirectionUpdate
  real(dp), parameter :: negligible = 1e-12_dp                                  !< weight below which a node is ignored

contains

  !> Opens all tables for springs in a matrix.
  subroutine open_all(handles, constraints, elements, solver, supports, state, rows, fe, matrix, spring, status)
    integer(i8), intent(in) :: handles(3), constraints, elements, solver, supports
    type(bodies_and_triples), intent(out) :: state
    type(constraint_table), intent(out) :: rows
    type(finite_elements), intent(out) :: fe
    type(element_solver), intent(out) :: matrix
    type(springs), intent(out) :: spring
    integer(i4), intent(out) :: status

    call open_bodies(handles, state, status)
    if (status == table_open) call open_table(constraints, rows, status)
    if (status == table_open) call open_table(elements, fe, status)
    if (status == table_open) call open_table(solver, matrix, status)
    if (status == table_open) call open_table(supports, spring, status)
  end subroutine open_all

  !> Adds springs, `factor` times as stiff as the stiffest node of the element, to the lower triangle of A.  Factor 0: no springs; their
  !> stiffness is set to 0.
  !>
  !> Reads kind, update, master, slave, element, weights, direction, base and value of constraints, element_ptr of bodies, element_size and
  !> element_node of elements, rows, dof_first and places of the entries of A; writes values of A, and stiffness and known of springs.
  subroutine add_supports(handles, constraints, elements, solver, supports, factor, users, status)
    integer(i8), intent(in) :: handles(3), constraints, elements, solver, supports
    real(dp), intent(in) :: factor
    integer(i4), intent(in) :: users
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    type(constraint_table) :: rows
    type(finite_elements) :: fe
    type(element_solver) :: matrix
    type(springs) :: spring
    real(dp) :: most, square
    integer :: a, b, count, e, i, j, n(8)

    call open_all(handles, constraints, elements, solver, supports, state, rows, fe, matrix, spring, status)
    if (status /= table_open) return
    count = size(matrix%rows)
    ! all stiffnesses come from the matrix without springs
    do i = 0, users - 1
      b = place(rows%master(i))
      if (b < 0) cycle
      spring%stiffness(i) = 0
      if (factor <= 0 .or. .not. is_support(i)) cycle
      e = state%bodies%element_ptr(rows%master(i)) + rows%element(1,i)
      most = 0
      square = 0
      do a = 1, fe%element_size(e)
        if (abs(rows%weights(a,1,i)) <= negligible) cycle
        square = square + rows%weights(a,1,i)**2
        do j = 0, 2
          most = max(most, matrix%values(matrix%matrix_start(matrix%dof_first(b)+3*fe%element_node(a,e)+j)))
        end do
      end do
      if (square > 0) spring%stiffness(i) = factor*most/square
      spring%known(:,i) = 0
      if (rows%kind(i) == velodir) spring%known(:,i) = rows%value(1,i)*rows%direction(:,i)
      if (rows%kind(i) == velodir3) spring%known(:,i) = matmul(rows%base(:,:,i), rows%value(:,i))
    end do
    if (factor <= 0) return
    do i = 0, users - 1
      b = place(rows%master(i))
      if (b < 0) cycle
      if (.not. spring%stiffness(i) > 0) cycle
      e = state%bodies%element_ptr(rows%master(i)) + rows%element(1,i)
      n = matrix%dof_first(b) + 3*fe%element_node(:,e)
      call add_spring(fe%element_size(e), n, rows%weights(:,1,i))
    end do

  contains

    !> Number of a body in this matrix, or -1.
    pure integer function place(body)
      integer(i4), intent(in) :: body
      integer :: low, high, middle
      low = 0
      high = count - 1
      do while (low < high)
        middle = (low + high)/2
        if (matrix%rows(middle) < body) then
          low = middle + 1
        else
          high = middle
        end if
      end do
      place = merge(low, -1, matrix%rows(low) == body)
    end function place

    pure logical function is_support(i)
      integer, intent(in) :: i
      is_support = rows%slave(i) < 0 .and. (rows%kind(i) == fixpnt .or. rows%kind(i) == velodir3 .or. &
                                     ((rows%kind(i) == fixdir .or. rows%kind(i) == velodir) .and. rows%update(i) == fixed))
    end function is_support

    subroutine add_spring(size, n, w)
      integer, intent(in) :: size, n(8)
      real(dp), intent(in) :: w(8)
      real(dp) :: pair, part
      integer :: a, c, p, q, k, column, line

      do a = 1, size
        if (abs(w(a)) <= negligible) cycle
        do c = 1, size
          if (abs(w(c)) <= negligible .or. n(c) < n(a)) cycle
          pair = spring%stiffness(i)*w(a)*w(c)
          do p = 0, 2
            column = n(a) + p
            do q = 0, 2
              line = n(c) + q
              if (line < column) cycle
              if (rows%kind(i) == fixpnt .or. rows%kind(i) == velodir3) then
                if (p /= q) cycle
                part = pair
              else
                part = pair*rows%direction(p+1,i)*rows%direction(q+1,i)
              end if
              k = entry_of(column, line)
              matrix%values(k) = matrix%values(k) + part
            end do
          end do
        end do
      end do
    end subroutine add_spring

    !> Place of an entry of the lower triangle; it exists, since nodes of one element are coupled.
    pure integer function entry_of(column, line)
      integer, intent(in) :: column, line
      integer :: low, high, middle
      low = matrix%matrix_start(column)
      high = matrix%matrix_start(column+1) - 1
      do while (low < high)
        middle = (low + high)/2
        if (matrix%matrix_row(middle) < line) then
          low = middle + 1
        else
          high = middle
        end if
      end do
      entry_of = low
    end function entry_of
  end subroutine add_supports

  !> Adds k/h H^T c of the springs to the unknowns of the solver; nonzero: 1 where some are not zero.
  !>
  !> Reads master, element and weights of constraints, element_ptr of bodies, element_size and element_node of elements, rows and
  !> dof_first of A, stiffness and known of springs.
  subroutine pull_supports(handles, constraints, elements, solver, supports, step, users, nonzero, status)
    integer(i8), intent(in) :: handles(3), constraints, elements, solver, supports
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: users
    integer(i4), intent(inout) :: nonzero(1)
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    type(constraint_table) :: rows
    type(finite_elements) :: fe
    type(element_solver) :: matrix
    type(springs) :: spring
    integer :: a, b, count, e, i, n

    call open_all(handles, constraints, elements, solver, supports, state, rows, fe, matrix, spring, status)
    if (status /= table_open) return
    count = size(matrix%rows)
    b = 0
    do i = 0, users - 1
      if (.not. spring%stiffness(i) > 0) cycle
      if (all(spring%known(:,i) == 0)) cycle
      if (matrix%rows(b) /= rows%master(i)) then
        do b = 0, count - 1
          if (matrix%rows(b) == rows%master(i)) exit
        end do
        if (b == count) then
          b = 0
          cycle
        end if
      end if
      nonzero = 1
      e = state%bodies%element_ptr(rows%master(i)) + rows%element(1,i)
      do a = 1, fe%element_size(e)
        n = matrix%dof_first(b)/3 + fe%element_node(a,e)
        matrix%unknowns(:,n) = matrix%unknowns(:,n) + spring%stiffness(i)/step*rows%weights(a,1,i)*spring%known(:,i)
      end do
    end do
  end subroutine pull_supports

  !> Subtracts the spring forces from the reactions of supports; reads kind, base and U of constraints, writes R.
  subroutine release_supports(constraints, supports, step, users, status)
    integer(i8), intent(in) :: constraints, supports
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: users
    integer(i4), intent(out) :: status
    type(constraint_table) :: rows
    type(springs) :: spring
    real(dp) :: carried(3)
    integer :: i

    call open_table(constraints, rows, status)
    if (status == table_open) call open_table(supports, spring, status)
    if (status /= table_open) return
    do i = 0, users - 1
      if (.not. spring%stiffness(i) > 0) cycle
      carried = spring%stiffness(i)/step*(rows%U(:,i) - matmul(spring%known(:,i), rows%base(:,:,i)))
      if (rows%kind(i) == fixdir .or. rows%kind(i) == velodir) carried(1:2) = 0
      rows%R(:,i) = rows%R(:,i) - carried
    end do
  end subroutine release_supports

end module support_stiffness
