!> Newton's method for energy and momentum conserving steps of implicit finite elements (energy_momentum.py; docs,
!> BODY.conserving):
!>
!>   M (u(t+h) - u(t)) = h (f - f_c(q(t), q(t+h)) - eta K (u(t) + u(t+h))/2),   q(t+h) = q(t) + h/2 (u(t) + u(t+h)).
!>
!> Nodes (0:n-1) of the bodies of a solver, one body after another:
!>   node, owner  numbers among all nodes (0:nnode-1), whose rows are conf_row and velo_row; numbers of their bodies (0:k-1)
!>   rows         (0:k-1) rows of the body table, of which `conserving` (1: the body conserves) and damping are columns
!>   start, old   (3,0:n-1) q(t) and u(t);  velocity: u(t+h);  mean, finish: the mean velocity, and q(t+h)
!>   load         applied forces and, at the end of a step, reactions
module energy_momentum
  use kinds, only: dp, i4
  use matrix3, only: all_finite
  implicit none
  private
  public :: begin, residuals, improve, store

  integer, parameter :: parallel_from = 2000    !< nodes from which threads pay
  integer, parameter :: lanes = 8               !< of the elements' blocks

contains

  !> Everything from the tables, where conf is that of mid-step and velo the solution of one linear system.  `damped` is 1 if a
  !> body has damping, `size` the sum of the largest components of both velocities, `far` the largest component of q(t).
  subroutine begin(step, reacting, n, node, nnode, conf_row, velo_row, nconf, conf, nvelo, velo, velo_prev, force, reaction, &
                   k, rows, nb, damping, start, old, velocity, mean, finish, load, damped, size, far)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: reacting           !< 1: reactions count
    integer(i4), intent(in) :: n, nnode, nconf, nvelo, k, nb
    integer(i4), intent(in) :: node(0:n-1), conf_row(0:nnode-1), velo_row(0:nnode-1), rows(0:k-1)
    real(dp), intent(in) :: conf(3,0:nconf-1), velo(3,0:nvelo-1), velo_prev(3,0:nvelo-1)
    real(dp), intent(in) :: force(3,0:nvelo-1), reaction(3,0:nvelo-1), damping(0:nb-1)
    real(dp), intent(inout) :: start(3,0:n-1), old(3,0:n-1), velocity(3,0:n-1), mean(3,0:n-1), finish(3,0:n-1), load(3,0:n-1)
    integer(i4), intent(out) :: damped
    real(dp), intent(out) :: size, far
    real(dp) :: largest, largest_old
    integer :: a, b, v

    damped = 0
    do b = 0, k - 1
      if (damping(rows(b)) > 0) damped = 1
    end do
    largest = 0
    largest_old = 0
    far = 0
    !$omp parallel do if (n > parallel_from) schedule(static) private(v) reduction(max:largest,largest_old,far)
    do a = 0, n - 1
      v = velo_row(node(a))
      old(:,a) = velo_prev(:,v)
      velocity(:,a) = velo(:,v)
      start(:,a) = conf(:,conf_row(node(a))) - step/2*old(:,a)
      load(:,a) = force(:,v)
      if (reacting == 1) load(:,a) = load(:,a) + reaction(:,v)
      call move(step, start(:,a), old(:,a), velocity(:,a), mean(:,a), finish(:,a))
      largest = max(largest, maxval(abs(velocity(:,a))))
      largest_old = max(largest_old, maxval(abs(old(:,a))))
      far = max(far, maxval(abs(start(:,a))))
    end do
    !$omp end parallel do
    size = largest + largest_old
  end subroutine begin

  pure subroutine move(step, start, old, velocity, mean, finish)
    real(dp), intent(in) :: step, start(3), old(3), velocity(3)
    real(dp), intent(out) :: mean(3), finish(3)
    mean = (old + velocity)/2
    finish = start + step*mean
  end subroutine move

  !> residual = h (load - f_c - eta viscous) - M (velocity - old) of conserving bodies, zero for others; first, position and flat
  !> sum f_c at nodes as in element_blocks.gather_nodes, viscous is K times the mean velocity where `damped`.
  subroutine residuals(step, damped, n, owner, k, rows, nb, conserving, damping, mass, npointer, first, nentry, position, nflat, &
                       flat, viscous, old, velocity, load, residual)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: damped, n, k, nb, npointer, nentry, nflat
    integer(i4), intent(in) :: owner(0:n-1), rows(0:k-1), conserving(0:nb-1), first(0:npointer-1), position(0:nentry-1)
    real(dp), intent(in) :: damping(0:nb-1), mass(0:n-1), flat(0:nflat-1), viscous(3,0:n-1)
    real(dp), intent(in) :: old(3,0:n-1), velocity(3,0:n-1), load(3,0:n-1)
    real(dp), intent(inout) :: residual(3,0:n-1)
    real(dp) :: net(3)
    integer :: a, b, e, p

    !$omp parallel do if (n > parallel_from) schedule(static) private(net, b, e, p)
    do a = 0, n - 1
      b = rows(owner(a))
      residual(:,a) = 0
      if (conserving(b) /= 1) cycle
      net = 0
      do e = first(a), first(a+1) - 1
        p = position(e)
        net = net + [flat(p), flat(p+lanes), flat(p+2*lanes)]
      end do
      net = load(:,a) - net
      if (damped == 1) net = net - damping(b)*viscous(:,a)
      residual(:,a) = step*net - mass(a)*(velocity(:,a) - old(:,a))
    end do
    !$omp end parallel do
  end subroutine residuals

  !> velocity + change (0:3*n-1) and what follows from it; `size` is the largest component of the change, or negative where one is
  !> not finite.
  subroutine improve(step, n, change, start, old, velocity, mean, finish, size)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: change(0:3*n-1), start(3,0:n-1), old(3,0:n-1)
    real(dp), intent(inout) :: velocity(3,0:n-1), mean(3,0:n-1), finish(3,0:n-1)
    real(dp), intent(out) :: size
    real(dp) :: largest
    integer(i4) :: wrong
    integer :: a

    largest = 0
    wrong = 0
    !$omp parallel do if (n > parallel_from) schedule(static) reduction(max:largest,wrong)
    do a = 0, n - 1
      if (all_finite(1, change(3*a))) then
        velocity(:,a) = velocity(:,a) + change(3*a:3*a+2)
        call move(step, start(:,a), old(:,a), velocity(:,a), mean(:,a), finish(:,a))
        largest = max(largest, maxval(abs(change(3*a:3*a+2))))
      else
        wrong = 1
      end if
    end do
    !$omp end parallel do
    size = largest
    if (wrong == 1) size = -1
  end subroutine improve

  !> The velocities of conserving bodies into the table of triples.
  subroutine store(n, node, nnode, velo_row, owner, k, rows, nb, conserving, velocity, nvelo, velo)
    integer(i4), intent(in) :: n, nnode, k, nb, nvelo
    integer(i4), intent(in) :: node(0:n-1), velo_row(0:nnode-1), owner(0:n-1), rows(0:k-1), conserving(0:nb-1)
    real(dp), intent(in) :: velocity(3,0:n-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1)
    integer :: a

    do a = 0, n - 1
      if (conserving(rows(owner(a))) == 1) velo(:,velo_row(node(a))) = velocity(:,a)
    end do
  end subroutine store

end module energy_momentum
