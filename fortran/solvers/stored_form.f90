!> Sweeps with W stored in block-CSR (diagonal apart).  Sums run in the order of columns, the same for any number of threads.
module stored_form
  use kinds, only: dp, i4
  use contact_iterations, only: status_solved, status_failed
  use diagonal_block, only: block_size, b_cohesion, visit_contact
  use kind_numbers, only: contact_row => row_contact
  use row_block, only: law_size, row_options, sweep_figures, count_driving
  use row_families, only: solve_row
  use row_sums, only: row_sum
  use rolling_rows, only: b_normal
  use thread_work, only: pays
  implicit none
  private
  public :: stored_velocities, stored_sweep


contains

  !> Computes U = B + W R of all rows.
  subroutine stored_velocities(n, row_ptr, column, off_diagonal, diagonal, reaction, b, u)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: row_ptr(0:*), column(0:*)
    real(dp), intent(in) :: off_diagonal(3,3,0:*), diagonal(3,3,0:*), reaction(3,0:*), b(3,0:*)
    real(dp), intent(inout) :: u(3,0:*)
    integer :: a

    !$omp parallel do if (pays(row_ptr(n), 5)) schedule(static)
    do a = 0, n - 1
      u(:,a) = row_sum(row_ptr(a), row_ptr(a+1), column, off_diagonal, reaction, b(:,a)) &
               + matmul(diagonal(:,:,a), reaction(:,a))
    end do
    !$omp end parallel do
  end subroutine stored_velocities

  !> Sweeps rows first, first + stride, ..., last, each with the newest reactions of its neighbours.
  subroutine stored_sweep(first, last, stride, options, kind, driving, contact, block, law, diagonal, free, v, row_ptr, column, &
                          off_diagonal, reaction, found)
    integer(i4), intent(in) :: first, last, stride
    type(row_options), intent(in) :: options
    integer(i4), intent(in) :: kind(0:*), driving(0:*), contact(0:*)   !< contact: row of a rolling row's contact, or -1
    real(dp), intent(inout) :: block(block_size,0:*)
    real(dp), intent(in) :: law(law_size,0:*), diagonal(3,3,0:*), free(3,0:*), v(3,0:*)
    integer(i4), intent(in) :: row_ptr(0:*), column(0:*)
    real(dp), intent(in) :: off_diagonal(3,3,0:*)
    real(dp), intent(inout) :: reaction(3,0:*)
    type(sweep_figures), intent(out) :: found
    real(dp) :: postponed
    integer(i4) :: solver, counts(3), failed   ! local copies, since the compiler must assume that writes to rows change options
    real(dp) :: b(3), r(3)
    real(dp) :: moved, whole, sums(2)   ! sums of rows that do not drive obstacles, and of those that do
    integer(i4) :: a, status
    logical :: solved

    solver = options%solver
    counts = 0
    failed = -1
    postponed = 0.0_dp
    moved = 0.0_dp
    whole = 0.0_dp
    sums = 0.0_dp
    do a = first, last, stride
      b = row_sum(row_ptr(a), row_ptr(a+1), column, off_diagonal, reaction, free(:,a))
      solved = .false.
      if (kind(a) == contact_row .and. solver == 0) then
        call visit_contact(block(:,a), b, r, solved, postponed)
        r(3) = r(3) - block(b_cohesion,a)
      end if
      if (.not. solved) then
        r = reaction(:,a)
        if (contact(a) >= 0) block(b_normal,a) = max(reaction(3,contact(a)), 0.0_dp)
        call solve_row(kind(a), diagonal(:,:,a), block(:,a), law(:,a), v(3,a), options, b, r, status)
        if (status /= status_solved) counts(status) = counts(status) + 1
        if (status > 1) failed = a
        if (status == status_failed .and. .not. sum(abs(b)) <= huge(1.0_dp)) moved = b(1) + b(2) + b(3)
        if (driving(a) /= 0) then   ! tested here, since most rows are contacts, which do not drive obstacles
          call count_driving(diagonal(:,:,a), v(:,a), r, r - reaction(:,a), sums(1), sums(2))
          reaction(:,a) = r
          cycle
        end if
      end if
      moved = moved + ((r(1) - reaction(1,a))**2 + (r(2) - reaction(2,a))**2 + (r(3) - reaction(3,a))**2)
      whole = whole + (r(1)**2 + r(2)**2 + r(3)**2)
      reaction(:,a) = r
    end do
    found = sweep_figures([moved, sums(1)], [whole, sums(2)], postponed, counts, failed)
  end subroutine stored_sweep
end module stored_form
