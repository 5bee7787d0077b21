!> Newton's method for energy and momentum conserving steps of implicit finite elements
!> (energy_momentum.py; docs/language-objects.md, BODY.conserving):
!>
!>   M (u(t+h) - u(t)) = h (f - f_c(q(t), q(t+h)) - eta K (u(t) + u(t+h))/2),   q(t+h) = q(t) + h/2 (u(t) + u(t+h)).
!>
!> Handles are BodyTable.handles and those of FiniteElements, an ElementSolver and its ElementAssembly and NewtonIterations, whose
!> vectors belong to the solver's nodes.  `status` is `table_unknown` where a handle is not that of such a table.
module energy_momentum
  use kinds, only: dp, i4, i8
  use body_state, only: element_bodies, bodies_and_triples, open_bodies, open_elements
  use state_tables, only: element_assembly, element_solver, newton_iterations, open_table
  use table_registry, only: table_open
  use matrix3, only: all_finite
  implicit none
  private
  public :: begin, residuals, improve, store

  integer, parameter :: parallel_from = 2000    !< nodes from which threads pay
  integer, parameter :: lanes = 8               !< of the elements' blocks

  !> What the iterations of bodies depend on.
  type, extends(element_bodies) :: iterated_bodies
    type(element_solver) :: matrix
    type(newton_iterations) :: work
  end type iterated_bodies

contains

  subroutine open_all(handles, elements, solver, iterations, state, status)
    integer(i8), intent(in) :: handles(3), elements, solver, iterations
    type(iterated_bodies), intent(out) :: state
    integer(i4), intent(out) :: status

    call open_elements(handles, elements, state%element_bodies, status)
    if (status == table_open) call open_table(solver, state%matrix, status)
    if (status == table_open) call open_table(iterations, state%work, status)
  end subroutine open_all

  !> Gathers all vectors from the tables, where conf is that of mid-step and velo the solution of one linear system.  `damped` is 1 if a
  !> body has damping, `scale` the sum of the largest components of both velocities, `far` the largest component of q(t).
  !>
  !> Reads damping, conf, velo, velo_prev, force and reaction of bodies, conf_row and velo_row of elements, rows and node of the solver;
  !> writes start, finish, old, velocity, mean and load.
  subroutine begin(handles, elements, solver, iterations, step, reacting, damped, scale, far, status)
    integer(i8), intent(in) :: handles(3), elements, solver, iterations
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: reacting           !< 1: reactions are included
    integer(i4), intent(out) :: damped, status
    real(dp), intent(out) :: scale, far
    type(iterated_bodies) :: state
    real(dp) :: largest, largest_old
    integer :: a, b, c, n, v

    damped = 0
    scale = 0
    far = 0
    call open_all(handles, elements, solver, iterations, state, status)
    if (status /= table_open) return
    do b = 0, size(state%matrix%rows) - 1
      if (state%bodies%damping(state%matrix%rows(b)) > 0) damped = 1
    end do
    largest = 0
    largest_old = 0
    n = size(state%matrix%node)
    associate (start => state%work%start, old => state%work%old, velocity => state%work%velocity, load => state%work%load)
      !$omp parallel do if (n > parallel_from) schedule(static) private(c, v) reduction(max:largest,largest_old,far)
      do a = 0, n - 1
        c = state%fe%conf_row(state%matrix%node(a))
        v = state%fe%velo_row(state%matrix%node(a))
        old(:,a) = state%triples%velo_prev(:,v)
        velocity(:,a) = state%triples%velo(:,v)
        start(:,a) = state%configurations%conf(:,c) - step/2*old(:,a)
        load(:,a) = state%triples%force(:,v)
        if (reacting == 1) load(:,a) = load(:,a) + state%triples%reaction(:,v)
        call move(step, start(:,a), old(:,a), velocity(:,a), state%work%mean(:,a), state%work%finish(:,a))
        largest = max(largest, maxval(abs(velocity(:,a))))
        largest_old = max(largest_old, maxval(abs(old(:,a))))
        far = max(far, maxval(abs(start(:,a))))
      end do
      !$omp end parallel do
    end associate
    scale = largest + largest_old
  end subroutine begin

  pure subroutine move(step, start, old, velocity, mean, finish)
    real(dp), intent(in) :: step, start(3), old(3), velocity(3)
    real(dp), intent(out) :: mean(3), finish(3)
    mean = (old + velocity)/2
    finish = start + step*mean
  end subroutine move

  !> Computes residual = h (load - f_c - eta viscous) - M (velocity - old) of conserving bodies, zero for others.  f_c is summed at nodes from
  !> the elements' forces, see element_blocks.gather_nodes; viscous forces are included where `damped`.
  !>
  !> Reads conserving and damping of bodies, rows, owner and mass of the solver, all columns of its assembly, and load, viscous, old and
  !> velocity; writes residual.
  subroutine residuals(handles, assembly, solver, iterations, step, damped, status)
    integer(i8), intent(in) :: handles(3), assembly, solver, iterations
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: damped
    integer(i4), intent(out) :: status
    type(bodies_and_triples) :: state
    type(element_assembly) :: parts
    type(element_solver) :: matrix
    type(newton_iterations) :: work
    real(dp) :: net(3)
    integer :: a, b, e, n, p

    call open_bodies(handles, state, status)
    if (status == table_open) call open_table(assembly, parts, status)
    if (status == table_open) call open_table(solver, matrix, status)
    if (status == table_open) call open_table(iterations, work, status)
    if (status /= table_open) return
    n = size(matrix%node)
    associate (first => parts%first, flat => parts%flat, residual => work%residual)
      !$omp parallel do if (n > parallel_from) schedule(static) private(net, b, e, p)
      do a = 0, n - 1
        b = matrix%rows(matrix%owner(a))
        residual(:,a) = 0
        if (state%bodies%conserving(b) /= 1) cycle
        net = 0
        do e = first(a), first(a+1) - 1
          p = parts%position(e)
          net = net + [flat(p), flat(p+lanes), flat(p+2*lanes)]
        end do
        net = work%load(:,a) - net
        if (damped == 1) net = net - state%bodies%damping(b)*work%viscous(:,a)
        residual(:,a) = step*net - matrix%mass(a)*(work%velocity(:,a) - work%old(:,a))
      end do
      !$omp end parallel do
    end associate
  end subroutine residuals

  !> Adds a change to velocity and updates mean and finish; `largest` is the largest component of the change, or negative where
  !> one is not finite.  Reads start and old.
  subroutine improve(iterations, step, change, largest, status, unknowns)
    integer(i8), intent(in) :: iterations
    integer(i4), intent(in) :: unknowns
    real(dp), intent(in) :: step, change(0:unknowns-1)
    real(dp), intent(out) :: largest
    integer(i4), intent(out) :: status
    type(newton_iterations) :: work
    integer(i4) :: wrong
    integer :: a, n

    largest = 0
    call open_table(iterations, work, status)
    if (status /= table_open) return
    wrong = 0
    n = unknowns/3
    associate (start => work%start, old => work%old, velocity => work%velocity)
      !$omp parallel do if (n > parallel_from) schedule(static) reduction(max:largest,wrong)
      do a = 0, n - 1
        if (all_finite(1, change(3*a))) then
          velocity(:,a) = velocity(:,a) + change(3*a:3*a+2)
          call move(step, start(:,a), old(:,a), velocity(:,a), work%mean(:,a), work%finish(:,a))
          largest = max(largest, maxval(abs(change(3*a:3*a+2))))
        else
          wrong = 1
        end if
      end do
      !$omp end parallel do
    end associate
    if (wrong == 1) largest = -1
  end subroutine improve

  !> Writes the velocities of conserving bodies to the table of triples (velo).
  !>
  !> Reads conserving of bodies, velo_row of elements, rows, node and owner of the solver, and velocity.
  subroutine store(handles, elements, solver, iterations, status)
    integer(i8), intent(in) :: handles(3), elements, solver, iterations
    integer(i4), intent(out) :: status
    type(iterated_bodies) :: state
    integer :: a

    call open_all(handles, elements, solver, iterations, state, status)
    if (status /= table_open) return
    do a = 0, size(state%matrix%node) - 1
      if (state%bodies%conserving(state%matrix%rows(state%matrix%owner(a))) == 1) &
        state%triples%velo(:,state%fe%velo_row(state%matrix%node(a))) = state%work%velocity(:,a)
    end do
  end subroutine store

end module energy_momentum
