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
  use body_state, only: element_bodies, open_elements
  use ordered_lists, only: first_not_below
  use state_tables, only: constraint_table, element_solver, springs => support_stiffness, open_table
  use table_registry, only: table_open
  implicit none
  private
  public :: add_supports, pull_supports, release_supports

  integer(i4), parameter :: fixpnt = 1, fixdir = 2, velodir = 3, velodir3 = 4   !< of ConstraintKind
  integer(i4), parameter :: fixed = 1                                           !< of DirectionUpdate
  real(dp), parameter :: negligible = 1e-12_dp                                  !< weight below which a node is ignored

  !> What springs in a matrix depend on.
  type, extends(element_bodies) :: support_tables
    type(constraint_table) :: rows
    type(element_solver) :: matrix
    type(springs) :: spring
  end type support_tables

contains

  !> Opens all tables for springs in a matrix.
  subroutine open_all(handles, constraints, elements, solver, supports, state, status)
    integer(i8), intent(in) :: handles(3), constraints, elements, solver, supports
    type(support_tables), intent(out) :: state
    integer(i4), intent(out) :: status

    call open_elements(handles, elements, state%element_bodies, status)
    if (status == table_open) call open_table(constraints, state%rows, status)
    if (status == table_open) call open_table(solver, state%matrix, status)
    if (status == table_open) call open_table(supports, state%spring, status)
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
    type(support_tables) :: state
    integer :: b, e, i, n(8)

    call open_all(handles, constraints, elements, solver, supports, state, status)
    if (status /= table_open) return
    associate (rows => state%rows, fe => state%fe, matrix => state%matrix, spring => state%spring)
    ! all stiffnesses come from the matrix without springs
    do i = 0, users - 1
      b = place_of(matrix, rows%master(i))
      if (b >= 0) call set_spring(factor, i, b, state)
    end do
    if (factor <= 0) return
    do i = 0, users - 1
      b = place_of(matrix, rows%master(i))
      if (b < 0) cycle
      if (.not. spring%stiffness(i) > 0) cycle
      e = state%bodies%element_ptr(rows%master(i)) + rows%element(1,i)
      n = matrix%dof_first(b) + 3*fe%element_node(:,e)
      call add_spring(fe%element_size(e), n, rows%weights(:,1,i), spring%stiffness(i), &
                      rows%kind(i) == fixpnt .or. rows%kind(i) == velodir3, rows%direction(:,i), matrix)
    end do
    end associate
  end subroutine add_supports

  !> Number of a body in this matrix, or -1.
  pure integer function place_of(matrix, body)
    type(element_solver), intent(in) :: matrix
    integer(i4), intent(in) :: body

    place_of = first_not_below(matrix%rows, 0, size(matrix%rows) - 1, body)
    if (matrix%rows(place_of) /= body) place_of = -1
  end function place_of

  !> Sets stiffness and known velocity of the spring of constraint `i` at body number `b` of the matrix; no spring: stiffness 0.
  subroutine set_spring(factor, i, b, state)
    real(dp), intent(in) :: factor
    integer, intent(in) :: i, b
    type(support_tables), intent(inout) :: state
    real(dp) :: most, square
    integer :: a, e, j

    associate (rows => state%rows, fe => state%fe, matrix => state%matrix, spring => state%spring)
    spring%stiffness(i) = 0
    if (factor <= 0 .or. .not. is_support(rows, i)) return
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
    end associate
  end subroutine set_spring

  !> Whether constraint `i` holds a point of one body, or moves it along a direction fixed in space.
  pure logical function is_support(rows, i)
    type(constraint_table), intent(in) :: rows
    integer, intent(in) :: i

    is_support = rows%slave(i) < 0 .and. (rows%kind(i) == fixpnt .or. rows%kind(i) == velodir3 .or. &
                                          ((rows%kind(i) == fixdir .or. rows%kind(i) == velodir) .and. rows%update(i) == fixed))
  end function is_support

  !> Adds k H^T H of one spring to the lower triangle.
  subroutine add_spring(nodes, n, w, stiffness, whole, direction, matrix)
    integer, intent(in) :: nodes, n(8)         !< of the element; first degrees of freedom of its nodes
    real(dp), intent(in) :: w(8), stiffness    !< weights of nodes
    logical, intent(in) :: whole               !< the spring acts in all directions, not in one
    real(dp), intent(in) :: direction(3)
    type(element_solver), intent(in) :: matrix
    real(dp) :: pair, part
    integer :: a, c, p, q, k, column, line

    do a = 1, nodes
      if (abs(w(a)) <= negligible) cycle
      do c = 1, nodes
        if (abs(w(c)) <= negligible .or. n(c) < n(a)) cycle
        pair = stiffness*w(a)*w(c)
        do p = 0, 2
          column = n(a) + p
          do q = 0, 2
            line = n(c) + q
            if (line < column) cycle
            if (whole) then
              if (p /= q) cycle
              part = pair
            else
              part = pair*direction(p+1)*direction(q+1)
            end if
            ! the entry exists, since nodes of one element are coupled
            k = first_not_below(matrix%matrix_row, matrix%matrix_start(column), matrix%matrix_start(column+1) - 1, line)
            matrix%values(k) = matrix%values(k) + part
          end do
        end do
      end do
    end do
  end subroutine add_spring

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
    type(support_tables) :: state
    integer :: a, b, e, i, n

    call open_all(handles, constraints, elements, solver, supports, state, status)
    if (status /= table_open) return
    associate (rows => state%rows, fe => state%fe, matrix => state%matrix, spring => state%spring)
    do i = 0, users - 1
      if (.not. spring%stiffness(i) > 0) cycle
      if (all(spring%known(:,i) == 0)) cycle
      b = place_of(matrix, rows%master(i))
      if (b < 0) cycle
      nonzero = 1
      e = state%bodies%element_ptr(rows%master(i)) + rows%element(1,i)
      do a = 1, fe%element_size(e)
        n = matrix%dof_first(b)/3 + fe%element_node(a,e)
        matrix%unknowns(:,n) = matrix%unknowns(:,n) + spring%stiffness(i)/step*rows%weights(a,1,i)*spring%known(:,i)
      end do
    end do
    end associate
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
