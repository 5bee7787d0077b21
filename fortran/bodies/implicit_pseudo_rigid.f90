!> Pseudo-rigid bodies of scheme DEF_LIM: A = M + beta V dP/dF with the tangent of St Venant-Kirchhoff's material at the present
!> gradient, beta = eta h/2 + h**2/4, or h**2 in quasi-statics; its part dF S, on which damping does not act, has h**2/4 for beta (docs/theory.md, Time integration; docs/language-objects.md, BODY.scheme).
!>
!> `handles` is BodyTable.handles, `solver` that of a PseudoRigidSolver, whose bodies these are.  Unknowns of a body are the
!> components of its four velocity triples, rows of dF/dt and the velocity of the centre; `inverses` holds A^-1.
!> For `failure` see body_motion; 13: A is singular; `row` is that of the first (lowest) body.  `failure`, or `status`, is `table_unknown`
!> where a handle is not that of such a table.
module implicit_pseudo_rigid
  use kinds, only: dp, i4, i8
  use body_failures, only: turned_inside_out, bad_reaction, singular, report
  use body_state, only: pseudo_rigid_bodies, open_pseudo_rigid_bodies
  use table_registry, only: table_open
  use matrix3, only: multiply, determinant, all_finite
  use pseudo_rigid, only: second_piola_kirchhoff, pseudo_rigid_internal_energy
  implicit none
  private
  public :: invert, free_velocities, add_reactions, begin_static, finish_static

  integer, parameter :: parallel_from = 16      !< bodies from which threads pay

contains

  !> Computes A^-1 of every body at its present gradient; reads mass, volume, damping, lame, tensor and conf, writes `inverses`.
  subroutine invert(handles, solver, step, dynamic, failure, row)
    integer(i8), intent(in) :: handles(3), solver
    real(dp), intent(in) :: step                  !< time step h
    integer(i4), intent(in) :: dynamic            !< 1: beta of dynamics, 0: of quasi-statics
    integer(i4), intent(out) :: failure, row
    type(pseudo_rigid_bodies) :: state
    real(dp) :: matrix(9,9), beta, undamped
    integer(i4) :: b, first
    integer :: i
    logical :: regular

    row = -1
    call open_pseudo_rigid_bodies(handles, solver, state, failure)
    if (failure /= table_open) return
    associate (rows => state%group%rows, inverse => state%group%inverses, mass => state%bodies%mass, &
               volume => state%bodies%volume, damping => state%bodies%damping, lame => state%bodies%lame, &
               tensor => state%bodies%tensor, conf_ptr => state%bodies%conf_ptr, conf => state%configurations%conf)
    first = huge(first)
    !$omp parallel do if (size(rows) > parallel_from) schedule(static) private(matrix, beta, undamped, b, regular) &
    !$omp reduction(min:first)
    do i = 0, size(rows) - 1
      b = rows(i)
      undamped = step**2
      if (dynamic /= 0) undamped = step**2/4
      beta = undamped
      if (dynamic /= 0) beta = damping(b)*step/2 + undamped
      call implicit_matrix(beta*volume(b), undamped*volume(b), lame(:,b), tensor(:,:,b), conf(:,conf_ptr(b):conf_ptr(b)+2), matrix)
      call invert_symmetric(matrix, regular)
      if (.not. regular) first = min(first, b)
      inverse(:,:,i) = 0
      inverse(1:9,1:9,i) = matrix
      inverse(10,10,i) = 1/mass(b)
      inverse(11,11,i) = inverse(10,10,i)
      inverse(12,12,i) = inverse(10,10,i)
    end do
    !$omp end parallel do
    call report(first, singular, failure, row)
    end associate
  end subroutine invert

  !> Computes M + weight dP/dF for the gradient's nine components.  With F_ij = transposed(j,i) and P = F S,
  !>   dP_ij/dF_kl = delta_ik S_jl + lambda F_ij F_kl + mu (F F^T)_ik delta_jl + mu F_il F_kj.
  pure subroutine implicit_matrix(weight, undamped, lame, euler, transposed, matrix)
    real(dp), intent(in) :: weight, undamped      !< beta V; that of the part with S
    real(dp), intent(in) :: lame(2)
    real(dp), intent(in) :: euler(3,3)            !< referential Euler tensor E0
    real(dp), intent(in) :: transposed(3,3)       !< F^T
    real(dp), intent(out) :: matrix(9,9)
    real(dp) :: stress(3,3), energy, left
    integer :: i, j, k, l

    call second_piola_kirchhoff(lame, transposed, stress, energy)
    do k = 1, 3
      do i = 1, 3
        left = lame(2)*sum(transposed(:,i)*transposed(:,k))
        do l = 1, 3
          do j = 1, 3
            matrix(3*i+j-3,3*k+l-3) = weight*(lame(1)*transposed(j,i)*transposed(l,k) + lame(2)*transposed(l,i)*transposed(j,k))
          end do
          matrix(3*i+l-3,3*k+l-3) = matrix(3*i+l-3,3*k+l-3) + weight*left
        end do
      end do
      matrix(3*k-2:3*k,3*k-2:3*k) = matrix(3*k-2:3*k,3*k-2:3*k) + (euler + undamped*stress)
    end do
  end subroutine implicit_matrix

  !> Inverts A, symmetric to the last bit, by Gauss-Jordan elimination with row exchanges: A of a compressed body may be indefinite.
  pure subroutine invert_symmetric(a, regular)
    real(dp), intent(inout) :: a(9,9)
    logical, intent(out) :: regular
    real(dp) :: column(9), row(9), pivot
    integer :: exchanged(9), i, j, p

    regular = .false.
    do p = 1, 9
      i = p - 1 + maxloc(abs(a(p:,p)), 1)
      pivot = a(i,p)
      if (.not. abs(pivot) > 0) return
      exchanged(p) = i
      row = a(i,:)
      a(i,:) = a(p,:)
      column = a(:,p)
      row = row/pivot
      column(p) = 0
      a(:,p) = 0
      row(p) = 1/pivot
      do j = 1, 9
        a(:,j) = a(:,j) - column*row(j)
      end do
      a(p,:) = row
    end do
    do p = 9, 1, -1
      i = exchanged(p)
      if (i == p) cycle
      column = a(:,p)
      a(:,p) = a(:,i)
      a(:,i) = column
    end do
    do j = 1, 9
      do i = 1, j - 1
        a(i,j) = (a(i,j) + a(j,i))/2
        a(j,i) = a(i,j)
      end do
    end do
    regular = .true.
  end subroutine invert_symmetric

  !> Computes u* = u(t) + A^-1 M (u*_explicit - u(t)), where `velo` holds the u* of scheme DEF_EXP from pseudo_rigid_free_velocity.
  !> Reads mass, tensor and velo_prev.
  subroutine free_velocities(handles, solver, status)
    integer(i8), intent(in) :: handles(3), solver
    integer(i4), intent(out) :: status
    type(pseudo_rigid_bodies) :: state
    real(dp) :: impulse(3,4)
    integer :: a, b, i, v

    call open_pseudo_rigid_bodies(handles, solver, state, status)
    if (status /= table_open) return
    associate (rows => state%group%rows, inverse => state%group%inverses, mass => state%bodies%mass, &
               tensor => state%bodies%tensor, velo_ptr => state%bodies%velo_ptr, velo_prev => state%triples%velo_prev, &
               velo => state%triples%velo)
    !$omp parallel do if (size(rows) > parallel_from) schedule(static) private(impulse, a, b, v)
    do i = 0, size(rows) - 1
      b = rows(i)
      v = velo_ptr(b)
      impulse = velo(:,v:v+3) - velo_prev(:,v:v+3)
      do a = 1, 3
        impulse(:,a) = multiply(tensor(:,:,b), impulse(:,a))
      end do
      impulse(:,4) = mass(b)*impulse(:,4)
      velo(:,v:v+3) = velo_prev(:,v:v+3) + solved(inverse(:,:,i), impulse)
    end do
    !$omp end parallel do
    end associate
  end subroutine free_velocities

  !> Adds h (A^-1 - M^-1) r to velo; body_motion adds h M^-1 r, and reports reactions that are not finite.
  !> Reads inverse_inertia and reaction.
  subroutine add_reactions(handles, solver, step, status)
    integer(i8), intent(in) :: handles(3), solver
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: status
    type(pseudo_rigid_bodies) :: state
    real(dp) :: change(3,4)
    integer :: a, i, v

    call open_pseudo_rigid_bodies(handles, solver, state, status)
    if (status /= table_open) return
    associate (rows => state%group%rows, inverse => state%group%inverses, velo_ptr => state%bodies%velo_ptr, &
               inverse_inertia => state%triples%inverse_inertia, reaction => state%triples%reaction, &
               velo => state%triples%velo)
    !$omp parallel do if (size(rows) > parallel_from) schedule(static) private(change, a, v)
    do i = 0, size(rows) - 1
      v = velo_ptr(rows(i))
      if (all(reaction(:,v:v+3) == 0) .or. .not. all_finite(4, reaction(:,v:v+3))) cycle
      change = solved(inverse(:,:,i), reaction(:,v:v+3))
      do a = 1, 4
        change(:,a) = change(:,a) - multiply(inverse_inertia(:,:,v+a-1), reaction(:,v+a-1))
      end do
      velo(:,v:v+3) = velo(:,v:v+3) + step*change
    end do
    !$omp end parallel do
    end associate
  end subroutine add_reactions

  !> Begins a quasi-static step: velo = h A^-1 (force + m gravity - V P), velo_prev = 0; gravity is added to `force`.
  !> Reads mass, volume, lame and conf.
  subroutine begin_static(handles, solver, step, gravity, status)
    integer(i8), intent(in) :: handles(3), solver
    real(dp), intent(in) :: step, gravity(3)      !< time step h, acceleration [length/time**2]
    integer(i4), intent(out) :: status
    type(pseudo_rigid_bodies) :: state
    real(dp) :: stress(3,3), energy, net(3,4)
    integer :: a, b, c, i, v

    call open_pseudo_rigid_bodies(handles, solver, state, status)
    if (status /= table_open) return
    associate (rows => state%group%rows, inverse => state%group%inverses, mass => state%bodies%mass, &
               volume => state%bodies%volume, lame => state%bodies%lame, conf_ptr => state%bodies%conf_ptr, &
               velo_ptr => state%bodies%velo_ptr, conf => state%configurations%conf, velo => state%triples%velo, &
               velo_prev => state%triples%velo_prev, force => state%triples%force)
    !$omp parallel do if (size(rows) > parallel_from) schedule(static) private(stress, energy, net, a, b, c, v)
    do i = 0, size(rows) - 1
      b = rows(i)
      c = conf_ptr(b)
      v = velo_ptr(b)
      force(:,v+3) = force(:,v+3) + mass(b)*gravity
      net = force(:,v:v+3)
      call second_piola_kirchhoff(lame(:,b), conf(:,c:c+2), stress, energy)
      do a = 1, 3
        net(:,a) = net(:,a) - volume(b)*multiply(stress, conf(:,c+a-1))
      end do
      velo(:,v:v+3) = step*solved(inverse(:,:,i), net)
      velo_prev(:,v:v+3) = 0
    end do
    !$omp end parallel do
    end associate
  end subroutine begin_static

  !> Ends a quasi-static step: velo += h A^-1 r, conf(t+h) = conf(t) + h velo, internal energy.
  !> Reads volume, lame and reaction.
  subroutine finish_static(handles, solver, step, failure, row)
    integer(i8), intent(in) :: handles(3), solver
    real(dp), intent(in) :: step
    integer(i4), intent(out) :: failure, row
    type(pseudo_rigid_bodies) :: state
    integer(i4) :: b, bad, turned
    integer :: c, i, v

    row = -1
    call open_pseudo_rigid_bodies(handles, solver, state, failure)
    if (failure /= table_open) return
    associate (rows => state%group%rows, inverse => state%group%inverses, volume => state%bodies%volume, &
               lame => state%bodies%lame, conf_ptr => state%bodies%conf_ptr, velo_ptr => state%bodies%velo_ptr, &
               energy => state%bodies%energy, reaction => state%triples%reaction, velo => state%triples%velo, &
               conf => state%configurations%conf)
    bad = huge(bad)
    turned = huge(turned)
    !$omp parallel do if (size(rows) > parallel_from) schedule(static) private(b, c, v) reduction(min:bad,turned)
    do i = 0, size(rows) - 1
      b = rows(i)
      c = conf_ptr(b)
      v = velo_ptr(b)
      if (.not. (all_finite(4, reaction(:,v:v+3)) .and. all_finite(4, velo(:,v:v+3)))) then
        bad = min(bad, b)
        cycle
      end if
      if (any(reaction(:,v:v+3) /= 0)) velo(:,v:v+3) = velo(:,v:v+3) + step*solved(inverse(:,:,i), reaction(:,v:v+3))
      conf(:,c:c+3) = conf(:,c:c+3) + step*velo(:,v:v+3)
      if (.not. determinant(conf(:,c:c+2)) > 0) turned = min(turned, b)
      energy(2,b) = pseudo_rigid_internal_energy(volume(b), lame(:,b), conf(:,c:c+3))
    end do
    !$omp end parallel do
    call report(bad, bad_reaction, failure, row)
    if (failure == 0) call report(turned, turned_inside_out, failure, row)
    end associate
  end subroutine finish_static

  !> Computes A^-1 f of one body.
  pure function solved(inverse, force) result(velocity)
    real(dp), intent(in) :: inverse(12,12), force(3,4)
    real(dp) :: velocity(3,4), total(12)
    integer :: i, j

    total = 0
    do j = 1, 4
      do i = 1, 3
        total = total + inverse(:,3*j+i-3)*force(i,j)
      end do
    end do
    velocity = reshape(total, [3, 4])
  end function solved

end module implicit_pseudo_rigid
