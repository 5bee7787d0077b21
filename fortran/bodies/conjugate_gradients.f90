!> Conjugate gradients for A = M + beta K of finite element bodies of form 'TL', preconditioned by a factor of an earlier step's A
!> that is turned with the bodies (conjugate_gradients.py; theory, "Time integration").  K v is summed from what the kernels of
!> elements leave.
!>
!> Nodes (0:nnode-1) of all bodies (0:nbody-1) of a solver, those of a body together:
!>   owner       the bodies' numbers
!>   turn        (3,3,0:nbody-1) by how much bodies have turned since the factor was made; used where `turned` is 1
!>   local, solved   (3,0:nnode-1) right-hand side and solution of the library, in the factor's frame
!>   figures     (3) norm of the residual, that of the iteration before, that of the first one
!>   counts      (3) products with A so far; 1: iterations go on; 1: they have failed, since A is not positive definite or too far
!>               from the preconditioner
!> Sums over nodes are made of parts of constant length, so that threads do not change their bits.
module conjugate_gradients
  use kinds, only: dp, i4
  use matrix3, only: multiply, multiply_transposed
  use finite_element_motion, only: polar_rotation
  implicit none
  private
  public :: begin, advance, choose_direction, follow_bodies

  integer, parameter :: length = 512            !< nodes of a part of a sum
  integer, parameter :: parallel_from = 2000    !< nodes from which threads pay
  integer, parameter :: lanes = 8               !< of the elements' blocks
  integer, parameter :: norm = 1, previous = 2, initial = 3     !< of figures
  integer, parameter :: products = 1, busy = 2, broken = 3      !< of counts

contains

  !> Starts from x = 0: residual = b, local = T^T b.
  subroutine begin(turned, nnode, right, owner, nbody, turn, solution, residual, local, figures, counts)
    integer(i4), intent(in) :: turned, nnode, nbody
    real(dp), intent(in) :: right(3,0:nnode-1)    !< b
    integer(i4), intent(in) :: owner(0:nnode-1)
    real(dp), intent(in) :: turn(3,3,0:nbody-1)
    real(dp), intent(inout) :: solution(3,0:nnode-1), residual(3,0:nnode-1), local(3,0:nnode-1), figures(3)
    integer(i4), intent(inout) :: counts(3)
    integer :: n

    figures = 0
    counts = [0_i4, 1_i4, 0_i4]
    !$omp parallel do if (nnode > parallel_from) schedule(static)
    do n = 0, nnode - 1
      solution(:,n) = 0
      residual(:,n) = right(:,n)
      local(:,n) = right(:,n)
      if (turned == 1) local(:,n) = multiply_transposed(turn(:,:,owner(n)), right(:,n))
    end do
    !$omp end parallel do
  end subroutine begin

  !> After the elements' products with `direction` p: x = x + a p, residual = residual - a A p and local = T^T residual with
  !> a = norm/(p.A p), or a = 1 in the first step, when p is the preconditioner's solution.  Iterations have failed, and nothing
  !> moves, unless p.A p is positive or the step is the first; and after `most` products.
  !>
  !>   beta         (0:nbody-1) of A = M + beta K [time**2];  mass (0:nnode-1)
  !>   first, position, flat   what elements contribute to K p at nodes, as in element_blocks.gather_nodes
  subroutine advance(most, turned, nnode, mass, owner, nbody, beta, turn, npointer, first, nentry, position, &
                     nflat, flat, direction, image, solution, residual, local, figures, counts)
    integer(i4), intent(in) :: most, turned, nnode, nbody, npointer, nentry, nflat
    real(dp), intent(in) :: mass(0:nnode-1), beta(0:nbody-1), turn(3,3,0:nbody-1), flat(0:nflat-1), direction(3,0:nnode-1)
    integer(i4), intent(in) :: owner(0:nnode-1), first(0:npointer-1), position(0:nentry-1)
    real(dp), intent(inout) :: image(3,0:nnode-1), solution(3,0:nnode-1), residual(3,0:nnode-1), local(3,0:nnode-1)
    real(dp), intent(inout) :: figures(3)
    integer(i4), intent(inout) :: counts(3)
    real(dp) :: curvature
    real(dp) :: part(0:(nnode-1)/length), total(3), a
    integer :: b, k, n, p

    !$omp parallel do if (nnode > parallel_from) schedule(static) private(total, k, n, p)
    do b = 0, (nnode - 1)/length
      part(b) = 0
      do n = b*length, min(nnode, (b + 1)*length) - 1
        total = 0
        do k = first(n), first(n+1) - 1
          p = position(k)
          total(1) = total(1) + flat(p)
          total(2) = total(2) + flat(p+lanes)
          total(3) = total(3) + flat(p+2*lanes)
        end do
        image(:,n) = beta(owner(n))*total + mass(n)*direction(:,n)
        part(b) = part(b) + (direction(1,n)*image(1,n) + direction(2,n)*image(2,n) + direction(3,n)*image(3,n))
      end do
    end do
    !$omp end parallel do
    curvature = sum_of(part)
    a = 1
    if (counts(products) > 0) then
      if (.not. curvature > 0) then
        counts(busy:broken) = [0_i4, 1_i4]
        return
      end if
      a = figures(norm)/curvature
    end if
    counts(products) = counts(products) + 1
    if (counts(products) > most) counts(busy:broken) = [0_i4, 1_i4]
    !$omp parallel do if (nnode > parallel_from) schedule(static)
    do n = 0, nnode - 1
      solution(:,n) = solution(:,n) + a*direction(:,n)
      residual(:,n) = residual(:,n) - a*image(:,n)
      local(:,n) = residual(:,n)
      if (turned == 1) local(:,n) = multiply_transposed(turn(:,:,owner(n)), residual(:,n))
    end do
    !$omp end parallel do
  end subroutine advance

  !> With the preconditioner's z = T solved: norm = residual.z, direction = z + norm/previous z.  Iterations end where norm <=
  !> tolerance**2 initial, and z has been added to the solution; they have failed where the norm is not that of a positive
  !> definite matrix.  In the first step norm becomes the initial one and direction z; it is the last if there is nothing to solve.
  subroutine choose_direction(tolerance, turned, nnode, solved, owner, nbody, turn, residual, change, direction, solution, &
                              figures, counts)
    integer(i4), intent(in) :: turned, nnode, nbody
    real(dp), intent(in) :: tolerance
    real(dp), intent(in) :: solved(3,0:nnode-1), turn(3,3,0:nbody-1), residual(3,0:nnode-1)
    integer(i4), intent(in) :: owner(0:nnode-1)
    real(dp), intent(inout) :: change(3,0:nnode-1), direction(3,0:nnode-1), solution(3,0:nnode-1), figures(3)
    integer(i4), intent(inout) :: counts(3)
    real(dp) :: part(0:(nnode-1)/length), ratio
    integer :: b, n

    !$omp parallel do if (nnode > parallel_from) schedule(static) private(n)
    do b = 0, (nnode - 1)/length
      part(b) = 0
      do n = b*length, min(nnode, (b + 1)*length) - 1
        change(:,n) = solved(:,n)
        if (turned == 1) change(:,n) = multiply(turn(:,:,owner(n)), solved(:,n))
        part(b) = part(b) + (residual(1,n)*change(1,n) + residual(2,n)*change(2,n) + residual(3,n)*change(3,n))
      end do
    end do
    !$omp end parallel do
    figures(previous) = figures(norm)
    figures(norm) = sum_of(part)
    counts(broken) = 1
    ratio = 0
    if (counts(products) == 0) then
      figures(initial) = figures(norm)
      if (figures(norm) >= 0) counts(broken) = 0
      if (figures(norm) == 0) counts(busy) = 0
    else if (figures(norm) >= 0 .and. figures(initial) > 0) then
      counts(broken) = 0
      if (figures(norm) <= tolerance**2*figures(initial)) counts(busy) = 0
      if (counts(products) > 1 .and. figures(previous) > 0) ratio = figures(norm)/figures(previous)
    end if
    if (counts(broken) == 1) then
      counts(busy) = 0
      return
    end if
    !$omp parallel do if (nnode > parallel_from) schedule(static)
    do n = 0, nnode - 1
      if (counts(busy) == 0) then
        solution(:,n) = solution(:,n) + change(:,n)
      else if (ratio > 0) then
        direction(:,n) = change(:,n) + ratio*direction(:,n)
      else
        direction(:,n) = change(:,n)
      end if
    end do
    !$omp end parallel do
  end subroutine choose_direction

  pure real(dp) function sum_of(part)
    real(dp), intent(in) :: part(:)
    integer :: b

    sum_of = 0
    do b = 1, size(part)
      sum_of = sum_of + part(b)
    end do
  end function sum_of

  !> turn = R R0^T with the rotations R of the bodies' mean deformation (as in finite_element_motion.local_displacements) now and R0 at
  !> displacements at which a factor was made, which are looked at once: before (3,3,0:nbody-1).
  !>
  !>   frame   (2): 1 if the factor turns, 0 if not: a body is turned inside out, and has no R; whether `before` is known, 1, or cannot be, 2
  subroutine follow_bodies(nbody, npointer, first, nnode, reference, normal, made, displacement, before, turn, frame)
    integer(i4), intent(in) :: nbody, npointer, nnode
    integer(i4), intent(in) :: first(0:npointer-1) !< nodes of the bodies
    real(dp), intent(in) :: reference(3,0:nnode-1), normal(3,0:nnode-1), made(3,0:nnode-1), displacement(3,0:nnode-1)
    real(dp), intent(inout) :: before(3,3,0:nbody-1), turn(3,3,0:nbody-1)
    integer(i4), intent(inout) :: frame(2)
    integer(i4) :: proper
    integer :: b

    if (frame(2) == 0) then
      call find_rotations(nbody, first, nnode, reference, normal, made, before, proper)
      frame(2) = 2 - proper
    end if
    frame(1) = 0
    if (frame(2) == 2) return
    call find_rotations(nbody, first, nnode, reference, normal, displacement, turn, frame(1))
    do b = 0, nbody - 1
      turn(:,:,b) = matmul(turn(:,:,b), transpose(before(:,:,b)))
    end do
  end subroutine follow_bodies

  !> R of the bodies; `proper` is 0 where one has none.
  subroutine find_rotations(nbody, first, nnode, reference, normal, displacement, found, proper)
    integer(i4), intent(in) :: nbody, nnode
    integer(i4), intent(in) :: first(0:nbody)
    real(dp), intent(in) :: reference(3,0:nnode-1), normal(3,0:nnode-1), displacement(3,0:nnode-1)
    real(dp), intent(inout) :: found(3,3,0:nbody-1)
    integer(i4), intent(out) :: proper
    real(dp) :: gradient(3,3), rotation(3,3), x(3)
    integer :: b, j, n
    logical :: regular

    proper = 1
    !$omp parallel do if (nnode > parallel_from) schedule(dynamic) private(gradient, rotation, x, j, n, regular) &
    !$omp reduction(min:proper)
    do b = 0, nbody - 1
      gradient = 0
      do n = first(b), first(b+1) - 1
        x = reference(:,n) + displacement(:,n)
        do j = 1, 3
          gradient(:,j) = gradient(:,j) + x*normal(j,n)
        end do
      end do
      call polar_rotation(gradient, rotation, regular)
      if (regular) then
        found(:,:,b) = rotation
      else
        proper = 0
      end if
    end do
    !$omp end parallel do
  end subroutine find_rotations

end module conjugate_gradients
