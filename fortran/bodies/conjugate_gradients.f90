!> Conjugate gradients for A = M + beta K of finite element bodies of form 'TL', preconditioned by a factor of A of an earlier step,
!> rotated with the bodies (conjugate_gradients.py; docs/theory.md, Time integration).  K v is summed from the products of elements.
!>
!> `handle` is that of ConjugateGradients, whose lists describe columns and numbers.  `local` and `solved` (3,0:nnode-1) are right-hand
!> side and solution of the preconditioner, in the factor's frame.  `status` is `table_unknown` where a handle is not that of such a table.
!> Sums over nodes are split into parts of constant length, so that the number of threads does not change their bits.
module conjugate_gradients
  use kinds, only: dp, i4, i8
  use state_tables, only: iterations => conjugate_gradients, element_assembly, open_table
  use table_registry, only: table_open
  use matrix3, only: multiply, multiply_transposed
  use finite_element_motion, only: polar_rotation
  implicit none
  private
  public :: begin, advance, choose_direction, follow_bodies

  integer, parameter :: length = 512            !< nodes in a part of a sum
  integer, parameter :: parallel_from = 2000    !< nodes from which threads pay
  integer, parameter :: lanes = 8               !< of the elements' blocks

contains

  !> Starts the iteration from x = 0: residual = b, local = T^T b.  Reads turned, turn and owner, writes solution, residual and all figures.
  subroutine begin(handle, right, local, status, nnode)
    integer(i8), intent(in) :: handle
    integer(i4), intent(in) :: nnode
    real(dp), intent(in) :: right(3,0:nnode-1)    !< b
    real(dp), intent(inout) :: local(3,0:nnode-1)
    integer(i4), intent(out) :: status
    type(iterations) :: cg
    integer :: n

    call open_table(handle, cg, status)
    if (status /= table_open) return
    cg%norm = 0
    cg%previous = 0
    cg%initial = 0
    cg%products = 0
    cg%busy = 1
    cg%broken = 0
    !$omp parallel do if (nnode > parallel_from) schedule(static)
    do n = 0, nnode - 1
      cg%solution(:,n) = 0
      cg%residual(:,n) = right(:,n)
      local(:,n) = right(:,n)
      if (cg%turned == 1) local(:,n) = multiply_transposed(cg%turn(:,:,cg%owner(n)), right(:,n))
    end do
    !$omp end parallel do
  end subroutine begin

  !> Makes one step after the elements' products with `direction` p: x = x + a p, residual = residual - a A p and local = T^T residual
  !> with a = norm/(p.A p), or a = 1 in the first step, in which p is the preconditioner's solution.  The iteration fails, without
  !> moving, if p.A p is not positive after the first step, or after `most` products.
  !>
  !> Reads turned, turn, owner, mass, direction and norm, and the elements' contributions to K p at nodes (ElementAssembly, see
  !> element_blocks.gather_nodes); writes image, solution, residual, products, busy and broken.
  !>
  !>   beta         (0:nbody-1) of A = M + beta K [time**2]
  subroutine advance(handle, assembly, most, beta, local, status, nbody, nnode)
    integer(i8), intent(in) :: handle, assembly
    integer(i4), intent(in) :: most, nbody, nnode
    real(dp), intent(in) :: beta(0:nbody-1)
    real(dp), intent(inout) :: local(3,0:nnode-1)
    integer(i4), intent(out) :: status
    type(iterations) :: cg
    type(element_assembly) :: parts
    real(dp) :: curvature
    real(dp) :: part(0:(nnode-1)/length), total(3), a
    integer :: b, k, n, p

    call open_table(handle, cg, status)
    if (status == table_open) call open_table(assembly, parts, status)
    if (status /= table_open) return
    associate (first => parts%first, flat => parts%flat, direction => cg%direction, image => cg%image)
      !$omp parallel do if (nnode > parallel_from) schedule(static) private(total, k, n, p)
      do b = 0, (nnode - 1)/length
        part(b) = 0
        do n = b*length, min(nnode, (b + 1)*length) - 1
          total = 0
          do k = first(n), first(n+1) - 1
            p = parts%position(k)
            total(1) = total(1) + flat(p)
            total(2) = total(2) + flat(p+lanes)
            total(3) = total(3) + flat(p+2*lanes)
          end do
          image(:,n) = beta(cg%owner(n))*total + cg%mass(n)*direction(:,n)
          part(b) = part(b) + (direction(1,n)*image(1,n) + direction(2,n)*image(2,n) + direction(3,n)*image(3,n))
        end do
      end do
      !$omp end parallel do
    end associate
    curvature = sum_of(part)
    a = 1
    if (cg%products > 0) then
      if (.not. curvature > 0) then
        cg%busy = 0
        cg%broken = 1
        return
      end if
      a = cg%norm/curvature
    end if
    cg%products = cg%products + 1
    if (cg%products > most) then
      cg%busy = 0
      cg%broken = 1
    end if
    associate (solution => cg%solution, residual => cg%residual)
      !$omp parallel do if (nnode > parallel_from) schedule(static)
      do n = 0, nnode - 1
        solution(:,n) = solution(:,n) + a*cg%direction(:,n)
        residual(:,n) = residual(:,n) - a*cg%image(:,n)
        local(:,n) = residual(:,n)
        if (cg%turned == 1) local(:,n) = multiply_transposed(cg%turn(:,:,cg%owner(n)), residual(:,n))
      end do
      !$omp end parallel do
    end associate
  end subroutine advance

  !> Chooses the next direction after the preconditioner's solution z = T solved: norm = residual.z, direction = z + norm/previous z.
  !> The iteration ends when norm <= tolerance**2 initial, and z is added to the solution.  It fails if norm shows that the matrix is not
  !> positive definite.  The first step sets the initial norm and direction z; it is the last if the right-hand side is zero.
  !>
  !> Reads turned, turn, owner, residual and products; writes change, direction, solution, the norms, busy and broken.
  subroutine choose_direction(handle, tolerance, solved, status, nnode)
    integer(i8), intent(in) :: handle
    integer(i4), intent(in) :: nnode
    real(dp), intent(in) :: tolerance, solved(3,0:nnode-1)
    integer(i4), intent(out) :: status
    type(iterations) :: cg
    real(dp) :: part(0:(nnode-1)/length), ratio
    integer :: b, n

    call open_table(handle, cg, status)
    if (status /= table_open) return
    associate (residual => cg%residual, change => cg%change)
      !$omp parallel do if (nnode > parallel_from) schedule(static) private(n)
      do b = 0, (nnode - 1)/length
        part(b) = 0
        do n = b*length, min(nnode, (b + 1)*length) - 1
          change(:,n) = solved(:,n)
          if (cg%turned == 1) change(:,n) = multiply(cg%turn(:,:,cg%owner(n)), solved(:,n))
          part(b) = part(b) + (residual(1,n)*change(1,n) + residual(2,n)*change(2,n) + residual(3,n)*change(3,n))
        end do
      end do
      !$omp end parallel do
    end associate
    cg%previous = cg%norm
    cg%norm = sum_of(part)
    cg%broken = 1
    ratio = 0
    if (cg%products == 0) then
      cg%initial = cg%norm
      if (cg%norm >= 0) cg%broken = 0
      if (cg%norm == 0) cg%busy = 0
    else if (cg%norm >= 0 .and. cg%initial > 0) then
      cg%broken = 0
      if (cg%norm <= tolerance**2*cg%initial) cg%busy = 0
      if (cg%products > 1 .and. cg%previous > 0) ratio = cg%norm/cg%previous
    end if
    if (cg%broken == 1) then
      cg%busy = 0
      return
    end if
    associate (change => cg%change, direction => cg%direction, solution => cg%solution)
      !$omp parallel do if (nnode > parallel_from) schedule(static)
      do n = 0, nnode - 1
        if (cg%busy == 0) then
          solution(:,n) = solution(:,n) + change(:,n)
        else if (ratio > 0) then
          direction(:,n) = change(:,n) + ratio*direction(:,n)
        else
          direction(:,n) = change(:,n)
        end if
      end do
      !$omp end parallel do
    end associate
  end subroutine choose_direction

  pure real(dp) function sum_of(part)
    real(dp), intent(in) :: part(:)
    integer :: b

    sum_of = 0
    do b = 1, size(part)
      sum_of = sum_of + part(b)
    end do
  end function sum_of

  !> Computes turn = R R0^T from the rotations R of the bodies' mean deformation (see finite_element_motion.local_displacements) now, and R0 at
  !> the displacements `made` (3,0:nnode-1) at which the factor was made; R0 is computed once (`before`).
  !>
  !> Reads first, reference and normal; writes before, turn, known and turned (0 where a body is turned inside out, and has no R).
  subroutine follow_bodies(handle, made, displacement, status, nnode)
    integer(i8), intent(in) :: handle
    integer(i4), intent(in) :: nnode
    real(dp), intent(in) :: made(3,0:nnode-1), displacement(3,0:nnode-1)
    integer(i4), intent(out) :: status
    type(iterations) :: cg
    integer(i4) :: proper
    integer :: b, nbody

    call open_table(handle, cg, status)
    if (status /= table_open) return
    nbody = size(cg%first) - 1
    if (cg%known == 0) then
      call find_rotations(nbody, cg%first, nnode, cg%reference, cg%normal, made, cg%before, proper)
      cg%known = 2 - proper
    end if
    cg%turned = 0
    if (cg%known == 2) return
    call find_rotations(nbody, cg%first, nnode, cg%reference, cg%normal, displacement, cg%turn, cg%turned)
    do b = 0, nbody - 1
      cg%turn(:,:,b) = matmul(cg%turn(:,:,b), transpose(cg%before(:,:,b)))
    end do
  end subroutine follow_bodies

  !> Computes R of the bodies; `proper` is 0 where a body is turned inside out.
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
