!> Which factor solves with the tangents of a step: counts decide, never clocks (theory, "Time integration").
!>
!> A factor of an earlier step preconditions conjugate gradients.  When their products beyond those of its first step have cost as
!> much as a factorisation, or as many right-hand sides follow, A of the present step is factorised.
!>
!> `course` (12) holds, from its first number on: whether there is a factor; whether it is of the present step; products with A in
!> this step, and at most for one right-hand side; products in the first step of the factor, 0: it has not come yet; products beyond
!> these since then; and for programs: whether to factorise now, the factor is older, to iterate, the factor alone solves, columns are solved
!> for one by one, the present one of these, the factor alone solves for all columns.
module tangent_factors
  use kinds, only: dp, i4
  implicit none
  private
  public :: begin_step, keep_factor, choose_solution, note_products, choose_columns, take_column, put_column

  integer, parameter :: known = 1, fresh = 2, products = 3, fewest = 4, spent = 5
  integer, parameter :: renewing = 6, lagging = 7, iterating = 8, alone = 9, separate = 10, column = 11, together = 12

contains

  !> Decides on the factor of a step; worth: solutions that cost as much as a factorisation; direct: nothing but a new one does.
  subroutine begin_step(worth, direct, course)
    integer(i4), intent(in) :: worth, direct
    integer(i4), intent(inout) :: course(12)

    course(products) = 0
    course(fresh) = merge(1, 0, direct == 1 .or. course(known) == 0 .or. course(spent) >= worth)
    course(renewing) = course(fresh)
    course(lagging) = 1 - course(fresh)
    if (course(fresh) == 1) course(known) = 0           ! until it is made
  end subroutine begin_step

  !> The factor that has been made is of displacements (3,0:nnode-1), which are kept; it has not turned (`conjugate_gradients`).
  subroutine keep_factor(nnode, displacement, made, frame, course)
    integer(i4), intent(in) :: nnode
    real(dp), intent(in) :: displacement(3,0:nnode-1)
    real(dp), intent(inout) :: made(3,0:nnode-1)
    integer(i4), intent(inout) :: frame(2), course(12)

    made = displacement
    frame = 0
    course(known:fresh) = 1
    course(fewest:renewing) = 0
  end subroutine keep_factor

  !> How to solve for a right-hand side that is not zero.
  subroutine choose_solution(direct, nonzero, course)
    integer(i4), intent(in) :: direct, nonzero
    integer(i4), intent(inout) :: course(12)

    course(alone) = merge(nonzero, 0_i4, course(fresh) == 1 .and. direct == 1)
    course(iterating) = nonzero - course(alone)
  end subroutine choose_solution

  !> Notes what iterations have cost.
  subroutine note_products(count, course)
    integer(i4), intent(in) :: count
    integer(i4), intent(inout) :: course(12)

    course(products) = max(course(products), count)
    if (course(fresh) == 1) return
    if (course(fewest) == 0) course(fewest) = count
    course(spent) = course(spent) + max(count - course(fewest), 0)
  end subroutine note_products

  !> How to solve for `used` columns, a slice of `most`.
  subroutine choose_columns(worth, most, used, course)
    integer(i4), intent(in) :: worth, most, used
    integer(i4), intent(inout) :: course(12)

    course(renewing) = merge(1, 0, most*course(products) > worth .and. course(fresh) == 0)
    if (course(renewing) == 1) course(known) = 0
    course(together) = merge(1_i4, 0_i4, used > 0 .and. (course(fresh) == 1 .or. course(renewing) == 1))
    course(separate) = merge(1_i4, 0_i4, used > 0 .and. course(together) == 0)
    course(column) = 0
    course(iterating) = 0      ! the right-hand side is still that of velocities
  end subroutine choose_columns

  !> The right-hand side of the present column, to iterate for.
  subroutine take_column(n, m, columns, right, course)
    integer(i4), intent(in) :: n, m
    real(dp), intent(in) :: columns(0:n-1,0:m-1)
    real(dp), intent(inout) :: right(0:n-1)
    integer(i4), intent(inout) :: course(12)

    right = columns(:,course(column))
    course(iterating) = 1
  end subroutine take_column

  !> Its solution in its place; the next one follows.
  subroutine put_column(used, n, m, solution, columns, course)
    integer(i4), intent(in) :: used, n, m
    real(dp), intent(in) :: solution(0:n-1)
    real(dp), intent(inout) :: columns(0:n-1,0:m-1)
    integer(i4), intent(inout) :: course(12)

    columns(:,course(column)) = solution
    course(column) = course(column) + 1
    course(separate) = merge(1_i4, 0_i4, course(column) < used)
  end subroutine put_column
end module tangent_factors
