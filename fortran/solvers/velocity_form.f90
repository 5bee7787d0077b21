!> Sweeps with body momenta instead of W.
!>
!> Every row has blocks H' = H L of its bodies' triples, L L^T = h A^-1, so W_ab = sum H'_a H'_b^T, and with the scaled
!> momenta p = sum H'^T R of the triples, (W R)_a = sum H'_a p.  Cost and memory are linear in the number of rows and do not
!> depend on the number of neighbours.  Sums run in the order of rows, so bits do not depend on threads.
module velocity_form
  use kinds, only: dp, i4
  use contact_iterations, only: status_solved, status_failed
  use diagonal_block, only: block_size, b_cohesion, block_product, visit_contact
  use kind_numbers, only: contact_row => row_contact
  use row_block, only: law_size, row_options, sweep_figures, count_driving
  use row_families, only: solve_row
  use row_sums, only: row_sum
  use rolling_rows, only: b_normal
  use thread_work, only: pays
  implicit none
  private
  public :: gather_momenta, listed_sweep, momentum_velocities, push, solve_otherwise, velocity_sweep


contains

  !> Computes p = sum over rows of H'^T R.
  pure subroutine gather_momenta(n, entry_ptr, triple, entry, reaction, triples, momentum)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: entry_ptr(0:*), triple(0:*)
    real(dp), intent(in) :: entry(3,3,0:*), reaction(3,0:*)
    integer(i4), intent(in) :: triples
    real(dp), intent(inout) :: momentum(3,0:*)
    integer :: a

    momentum(:,0:triples-1) = 0.0_dp
    do a = 0, n - 1
      call push(entry_ptr(a), entry_ptr(a+1), triple, entry, reaction(:,a), momentum)
    end do
  end subroutine gather_momenta

  !> Computes U = B + W R of all rows from the momenta.
  subroutine momentum_velocities(n, entry_ptr, triple, entry, momentum, b, u)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: entry_ptr(0:*), triple(0:*)
    real(dp), intent(in) :: entry(3,3,0:*), momentum(3,0:*), b(3,0:*)
    real(dp), intent(inout) :: u(3,0:*)
    integer :: a

    !$omp parallel do if (pays(n, 35)) schedule(static)
    do a = 0, n - 1
      u(:,a) = row_sum(entry_ptr(a), entry_ptr(a+1), triple, entry, momentum, b(:,a))
    end do
    !$omp end parallel do
  end subroutine momentum_velocities

  !> Sweeps rows first, first + stride, ..., last, and updates momenta after every change of a reaction.
  subroutine velocity_sweep(first, last, stride, options, kind, driving, contact, block, law, diagonal, free, v, entry_ptr, &
                            triple, entry, momentum, reaction, found)
    integer(i4), intent(in) :: first, last, stride
    type(row_options), intent(in) :: options
    integer(i4), intent(in) :: kind(0:*), driving(0:*), contact(0:*)   !< contact: row of a rolling row's contact, or -1
    real(dp), intent(inout) :: block(block_size,0:*)
    real(dp), intent(in) :: law(law_size,0:*), diagonal(3,3,0:*), free(3,0:*), v(3,0:*)
    integer(i4), intent(in) :: entry_ptr(0:*), triple(0:*)
    real(dp), intent(in) :: entry(3,3,0:*)
    real(dp), intent(inout) :: momentum(3,0:*), reaction(3,0:*)
    type(sweep_figures), intent(out) :: found
    real(dp) :: postponed
    integer(i4) :: solver, counts(3), failed   ! local copies, since the compiler must assume that writes to rows change options
    real(dp) :: b(3), r(3), old(3), difference(3)
    real(dp) :: moved, whole, sums(2)   ! sums of rows that do not drive obstacles, and of those that do
    integer(i4) :: a
    logical :: solved

    solver = options%solver
    counts = 0
    failed = -1
    postponed = 0.0_dp
    moved = 0.0_dp
    whole = 0.0_dp
    sums = 0.0_dp
    do a = first, last, stride
      old = reaction(:,a)
      b = row_sum(entry_ptr(a), entry_ptr(a+1), triple, entry, momentum, free(:,a))
      solved = .false.
      if (kind(a) == contact_row) then
        b = b - block_product(block(:,a), old)
        if (solver == 0) then
          call visit_contact(block(:,a), b, r, solved, postponed)
          r(3) = r(3) - block(b_cohesion,a)
        end if
      else
        b = b - matmul(diagonal(:,:,a), old)
      end if
      if (.not. solved) call solve_otherwise(a, options, kind(a), contact(a), block, law(:,a), diagonal(:,:,a), v(3,a), reaction, &
                                             b, r, counts, failed, moved)
      difference = r - old
      if (any(difference /= 0.0_dp)) then
        call push(entry_ptr(a), entry_ptr(a+1), triple, entry, difference, momentum)
        reaction(:,a) = r
      end if
      if (driving(a) == 0) then
        moved = moved + (difference(1)**2 + difference(2)**2 + difference(3)**2)
        whole = whole + (r(1)**2 + r(2)**2 + r(3)**2)
      else
        call count_driving(diagonal(:,:,a), v(:,a), r, difference, sums(1), sums(2))
      end if
    end do
    found = sweep_figures([moved, sums(1)], [whole, sums(2)], postponed, counts, failed)
  end subroutine velocity_sweep

  !> Solves a row by its family, after the direct solution of contacts or without it; `moved` becomes a number that is none where velocities are none.
  subroutine solve_otherwise(a, options, kind, contact, block, law, diagonal, v, reaction, b, r, counts, failed, moved)
    integer(i4), intent(in) :: a, kind, contact
    type(row_options), intent(in) :: options
    real(dp), intent(inout) :: block(block_size,0:*)
    real(dp), intent(in) :: law(law_size), diagonal(3,3), v, reaction(3,0:*), b(3)
    real(dp), intent(out) :: r(3)
    integer(i4), intent(inout) :: counts(3), failed
    real(dp), intent(inout) :: moved
    integer(i4) :: status

    r = reaction(:,a)
    if (contact >= 0) block(b_normal,a) = max(reaction(3,contact), 0.0_dp)
    call solve_row(kind, diagonal, block(:,a), law, v, options, b, r, status)
    if (status /= status_solved) counts(status) = counts(status) + 1
    if (status > 1) failed = a
    if (status == status_failed .and. .not. sum(abs(b)) <= huge(1.0_dp)) moved = b(1) + b(2) + b(3)
  end subroutine solve_otherwise

  !> Sweeps listed rows, or the same backwards, and writes the figures of each: |dR|^2, |R|^2 (two of each, sweep_figures), and what is postponed.
  subroutine listed_sweep(count, listed, backwards, options, kind, driving, contact, block, law, diagonal, free, v, entry_ptr, &
                          triple, entry, momentum, reaction, figures, counts, failed)
    integer(i4), intent(in) :: count, listed(0:count-1)
    logical, intent(in) :: backwards
    type(row_options), intent(in) :: options
    integer(i4), intent(in) :: kind(0:*), driving(0:*), contact(0:*)
    real(dp), intent(inout) :: block(block_size,0:*)
    real(dp), intent(in) :: law(law_size,0:*), diagonal(3,3,0:*), free(3,0:*), v(3,0:*)
    integer(i4), intent(in) :: entry_ptr(0:*), triple(0:*)
    real(dp), intent(in) :: entry(3,3,0:*)
    real(dp), intent(inout) :: momentum(3,0:*), reaction(3,0:*), figures(5,0:*)
    integer(i4), intent(inout) :: counts(3), failed
    real(dp) :: b(3), r(3), old(3), difference(3)
    real(dp) :: postponed, moved, sums(2)
    integer(i4) :: solver, i, a, found
    logical :: solved

    solver = options%solver
    do i = 0, count - 1
      a = listed(merge(count - 1 - i, i, backwards))
      old = reaction(:,a)
      b = row_sum(entry_ptr(a), entry_ptr(a+1), triple, entry, momentum, free(:,a))
      solved = .false.
      postponed = 0.0_dp
      moved = 0.0_dp
      if (kind(a) == contact_row) then
        b = b - block_product(block(:,a), old)
        if (solver == 0) then
          call visit_contact(block(:,a), b, r, solved, postponed)
          r(3) = r(3) - block(b_cohesion,a)
        end if
      else
        b = b - matmul(diagonal(:,:,a), old)
      end if
      if (.not. solved) then
        found = -1
        call solve_otherwise(a, options, kind(a), contact(a), block, law(:,a), diagonal(:,:,a), v(3,a), reaction, b, r, counts, &
                             found, moved)
        failed = max(failed, found)
      end if
      difference = r - old
      if (any(difference /= 0.0_dp)) then
        call push(entry_ptr(a), entry_ptr(a+1), triple, entry, difference, momentum)
        reaction(:,a) = r
      end if
      if (driving(a) == 0) then
        figures(1,a) = moved + (difference(1)**2 + difference(2)**2 + difference(3)**2)
        figures(2,a) = 0.0_dp
        figures(3,a) = r(1)**2 + r(2)**2 + r(3)**2
        figures(4,a) = 0.0_dp
      else
        sums = 0.0_dp
        call count_driving(diagonal(:,:,a), v(:,a), r, difference, sums(1), sums(2))
        figures(1:4,a) = [moved, sums(1), 0.0_dp, sums(2)]
      end if
      figures(5,a) = postponed
    end do
  end subroutine listed_sweep

  !> Adds H'^T r to p over entries first .. last-1.
  pure subroutine push(first, last, triple, entry, r, momentum)
    integer(i4), intent(in) :: first, last
    integer(i4), intent(in) :: triple(0:*)
    real(dp), intent(in) :: entry(3,3,0:*), r(3)
    real(dp), intent(inout) :: momentum(3,0:*)
    real(dp) :: p1, p2, p3
    integer :: e, t

    do e = first, last - 1
      t = triple(e)
      p1 = entry(1,1,e)*r(1) + entry(2,1,e)*r(2) + entry(3,1,e)*r(3)
      p2 = entry(1,2,e)*r(1) + entry(2,2,e)*r(2) + entry(3,2,e)*r(3)
      p3 = entry(1,3,e)*r(1) + entry(2,3,e)*r(2) + entry(3,3,e)*r(3)
      momentum(1,t) = momentum(1,t) + p1
      momentum(2,t) = momentum(2,t) + p2
      momentum(3,t) = momentum(3,t) + p3
    end do
  end subroutine push
end module velocity_form
