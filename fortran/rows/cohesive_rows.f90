!> Contacts that a damageable bond holds together (docs/materials.md, COHESIVE).
!>
!> The bond and a Signorini-Coulomb contact act in parallel, R = R_b + R_c.  With the opening d of the bond at the end of the step,
!> relative to the openings at which it is gone, 2 G_N/f_N and 2 G_T/f_T, and damage k in [0, 1],
!>
!>     k = max (k of the last step, |d|),      R_b = -(1 - k)/k S d,      S = area (f_T, f_T, f_N),
!>
!> where d_N >= 0 because the contact prevents overlaps.  So R_b falls linearly from the strength S to zero, follows a line through the
!> origin when the bond is unloaded and loaded again, and dissipates the work area (G_N d_N^2 + G_T d_T^2)/|d|^2 while k grows from 0 to 1.
!>
!> Openings are divided by the step: y = c + U is the opening at the end of the step over h, and y = -k/(1 - k) D R_b, |S^-1 R_b| <= 1 - k
!> with D = diag (2 G/f)/(h S).  This form also holds for k = 0, a rigid bond.  A row knows k before the step, and computes k at its end
!> together with its reaction.
!>
!> The damage of a bond with a spring of stiffness K per area begins at k_0 = 1/(1 + K 2 G_N/f_N^2) instead of zero, which makes it elastic:
!> R_b = -K area d when it opens.  So the forces of redundant bonds are unique.
module cohesive_rows
  use kinds, only: dp, i4
  use contact_iterations, only: status_solved, status_failed
  use matrix3, only: adjugate_of
  use diagonal_block, only: block_size, b_friction, prepare_block, solve_contact
  use row_block, only: law_size, row_options
  use row_family_base, only: row_family, prepared_row, row_error
  use row_norms, only: weighted
  implicit none
  private
  public :: cohesive_family

  !> Layout of the law data.
  integer, parameter :: c_opening = 1       !< c = opening over step (3) [velocity]; normal part not negative
  integer, parameter :: c_damage = 4        !< k before the step
  integer, parameter :: c_strength = 5      !< strengths times area, tangential and normal (2) [force]
  integer, parameter :: c_yielding = 7      !< D, tangential and normal (2) [velocity per force]

  integer, parameter :: places(3) = [0, 0, 1]           !< of T1, T2, N among two numbers
  integer, parameter :: bound = 100                      !< largest number of iterations
  real(dp), parameter :: last_digits = 1e-14_dp
  real(dp), parameter :: of_places = 16*epsilon(1.0_dp)   !< relative to coordinates: smaller openings are round-off
  real(dp), parameter :: accuracy = 1e-13_dp            !< of the contact that acts in parallel to a bond
  real(dp), parameter :: probe = 1e-7_dp                 !< step of difference quotients, relative to a row's velocities
  real(dp), parameter :: beyond_any_load = 1e9_dp        !< factor on strengths
  real(dp), parameter :: closed = 1e-6_dp                !< damage below which a bond counts as rigid
  real(dp), parameter :: share_of_slope = 0.5_dp         !< of the compliance D at which a row has two solutions: bound of W' in `stable`

  !> Contacts with a bond; the module's header has the law.
  type, extends(row_family) :: cohesive_family
  contains
    procedure :: prepare => prepare_cohesive
    procedure, nopass :: solve => solve_cohesive, measure => measure_cohesive, linearise => linearise_cohesive
    procedure, nopass :: snaps_back => cohesive_snaps_back, held => unlimited
    procedure, nopass :: damage_at => damage_of_opening, damaged => cohesive_damage
  end type cohesive_family

contains

  pure subroutine prepare_cohesive(self, row)
    class(cohesive_family), intent(in) :: self
    type(prepared_row), intent(inout) :: row
    real(dp) :: opening(3)               ! of both sides, in the base [length]
    real(dp) :: last_opening(2)          ! tangential and normal opening at which the bond is gone [length]

    associate (con => row%constraints, i => row%constraint, mat => row%materials, m => row%material)
      opening = matmul(con%point(:,i) - con%other_point(:,i), con%base(:,:,i))
      if (norm2(opening) <= of_places*norm2(con%point(:,i))) opening = 0.0_dp
      row%law(c_opening:c_opening+2) = opening/row%step
      row%law(c_opening+2) = max(row%law(c_opening+2), 0.0_dp)   ! overlaps are not pushed apart
      last_opening = 2.0_dp*mat%fracture_energy(2:1:-1,m)/[mat%shear_strength(m), mat%cohesion(m)]
      row%law(c_damage) = con%damage(i)
      if (mat%spring(m) > 0) row%law(c_damage) = max(con%damage(i), 1.0_dp/(1.0_dp + mat%spring(m)*last_opening(2)/mat%cohesion(m)))
      row%law(c_strength:c_strength+1) = [mat%shear_strength(m), mat%cohesion(m)]*con%area(i)
      row%law(c_yielding:c_yielding+1) = last_opening/(row%step*row%law(c_strength:c_strength+1))
      call prepare_block(row%w, mat%friction(m), 0.0_dp, row%block)
    end associate
  end subroutine prepare_cohesive

  integer(i4) function solve_cohesive(w, block, law, normal_v, options, b, r) result(status)
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    real(dp), intent(in) :: b(3)
    real(dp) :: found(3), damage

    call bonded_row(w, block(b_friction), law, b, found, damage, status)
    if (status == status_solved) r = found
  end function solve_cohesive

  pure logical function cohesive_snaps_back(law, w) result(snaps)
    real(dp), intent(in) :: law(law_size), w(3,3)
    integer :: i

    snaps = sum([(w(i,i)/law(c_yielding+places(i)), i = 1, 3)]) > share_of_slope
  end function cohesive_snaps_back

  !> A bond of the given damage, or its own if that is more, whose strength nothing reaches: a spring (8.8c).
  pure function unlimited(law, damage) result(strong)
    real(dp), intent(in) :: law(law_size), damage
    real(dp) :: strong(law_size)

    strong = law
    strong(c_damage) = max(law(c_damage), min(damage, 1.0_dp))
    strong(c_strength:c_strength+1) = law(c_strength:c_strength+1)*beyond_any_load
  end function unlimited

  !> Damage of a bond with this velocity: its size of opening (8.8a).  A rigid bond has none yet; its load decides, as in the row's own solution.
  pure real(dp) function damage_of_opening(law, block, w, u, r) result(damage)
    real(dp), intent(in) :: law(law_size), block(block_size), w(3,3), u(3), r(3)
    real(dp) :: opening(3)

    opening = law(c_opening:c_opening+2) + u
    opening(3) = max(opening(3), 0.0_dp)
    damage = max(law(c_damage), norm2(opening/(law(c_yielding + places)*law(c_strength + places))))
    if (damage < closed) damage = cohesive_damage(law, block, w, u, r)
  end function damage_of_opening

  !> Compliance W' with which the law reads  R = r(U - W' R), r(b) the reaction that it gives at the free velocity b.
  !>
  !> Every W' for which r(b) is unique gives the same U and R.  So W_aa may stand in its place only if one over the slope of the law is
  !> larger, (8.8d) of docs/materials.md.  Else W_aa is that of a body which only its bonds hold, whose bonds hold one another.
  pure function stable(law, w) result(compliance)
    real(dp), intent(in) :: law(law_size), w(3,3)
    real(dp) :: compliance(3,3)
    integer :: i

    compliance = w
    if (.not. cohesive_snaps_back(law, w)) return
    compliance = 0.0_dp
    do i = 1, 3
      compliance(i,i) = share_of_slope*law(c_yielding+places(i))
    end do
  end function stable

  !> Measures a row by the velocity by which its reaction, with those of all others held, would still change.
  pure type(row_error) function measure_cohesive(exact, unit, block, law, w, u, reaction, half_step)
    logical, intent(in) :: exact
    real(dp), intent(in) :: unit, block(block_size), law(law_size), w(3,3), u(3), reaction(3), half_step
    real(dp) :: own(3,3), found(3), damage, unmet(3)
    integer(i4) :: status

    own = stable(law, w)
    call bonded_row(own, block(b_friction), law, u - matmul(own, reaction), found, damage, status)
    unmet = matmul(w, found - reaction)
    measure_cohesive = row_error(member=weighted(w, unmet), residual=norm2(unmet))
  end function measure_cohesive

  !> Computes Newton's row of  W_aa (R - r(U - W' R)) = 0 (`stable`).
  !>
  !> The derivative G = dr/db comes from differences, which take three more solutions of the row; x = -W_aa G, y = W_aa (1 + G W').
  pure subroutine linearise_cohesive(w, block, law, u, r, unit, half_step, omega, x, y, rhs)
    real(dp), intent(in) :: w(3,3), block(block_size), law(law_size), u(3), r(3), unit, half_step, omega
    real(dp), intent(out) :: x(3,3), y(3,3), rhs(3)
    real(dp) :: own(3,3), b(3), moved(3), found(3), near(3), g(3,3), damage, size
    integer(i4) :: status
    integer :: i

    own = stable(law, w)
    b = u - matmul(own, r)
    call bonded_row(own, block(b_friction), law, b, found, damage, status)
    size = max(norm2(b), norm2(law(c_opening:c_opening+2)), norm2(matmul(own, r)))
    if (size <= 0.0_dp) size = maxval(law(c_strength:c_strength+1))*own(3,3)
    size = probe*size
    do i = 1, 3
      moved = b
      moved(i) = b(i) + size
      call bonded_row(own, block(b_friction), law, moved, near, damage, status)
      g(:,i) = (near - found)/(moved(i) - b(i))
    end do
    x = -matmul(w, g)
    y = w + matmul(w, matmul(g, own))
    rhs = matmul(w, found - r)
  end subroutine linearise_cohesive

  !> k at the end of a step with these final velocities and reactions.
  pure real(dp) function cohesive_damage(law, block, w, u, r) result(damage)
    real(dp), intent(in) :: law(law_size), block(block_size), w(3,3), u(3), r(3)
    real(dp) :: own(3,3), found(3)
    integer(i4) :: status

    own = stable(law, w)
    call bonded_row(own, block(b_friction), law, u - matmul(own, r), found, damage, status)
    if (status /= status_solved) damage = law(c_damage)
  end function cohesive_damage

  !> Solves one row for its reaction and damage, with the reactions of all others held.
  !>
  !> The bond first keeps its damage.  If its reaction is then more than it can carry, h(k) = 1 - (1 - k)/|S^-1 R_b(k)| > 0, the smallest larger k
  !> with h(k) = 0 is computed; h(1) = 1 - 1/|d(1)| is the limit of a bond without reaction, and h is linear in k in one direction.  If there is no
  !> such k, the bond breaks within the step.  This is always so if W_aa is too large for the slope of the law, W h/(2 G/f) S > 1.
  pure subroutine bonded_row(w, friction, law, b, r, damage, status)
    real(dp), intent(in) :: w(3,3), friction, law(law_size), b(3)
    real(dp), intent(out) :: r(3), damage
    integer(i4), intent(out) :: status
    real(dp) :: low, high, at_low, at_high, k, h
    integer :: i, side

    low = law(c_damage)
    call share(w, friction, law, b, low, r, at_low, status)
    damage = low
    if (at_low <= last_digits .or. status /= status_solved) return
    high = 1.0_dp
    call share(w, friction, law, b, high, r, at_high, status)
    damage = high
    if (at_high >= 0.0_dp .or. status /= status_solved) return
    side = 0
    do i = 1, bound
      k = high - at_high*(high - low)/(at_high - at_low)   ! false position with the Illinois modification: the value at a stagnant end is halved
      if (.not. (k > low .and. k < high)) k = 0.5_dp*(low + high)
      call share(w, friction, law, b, k, r, h, status)
      damage = k
      if (abs(h) <= last_digits .or. high - low <= epsilon(1.0_dp) .or. status /= status_solved) return
      if (h < 0.0_dp) then
        high = k
        at_high = h
        if (side < 0) at_low = 0.5_dp*at_low
        side = -1
      else
        low = k
        at_low = h
        if (side > 0) at_high = 0.5_dp*at_high
        side = 1
      end if
    end do
  end subroutine bonded_row

  !> Computes the reaction of a bond of damage k and of the parallel contact, and h(k) of `bonded_row`.
  !>
  !> The bond is a spring, y = -L R_b with L = k/(1 - k) D.  Without contact R_b = -(W + L)^-1 (c + b).  With the bond eliminated, the contact has
  !> the reduced W and b: L (W + L)^-1 W and L (W + L)^-1 (c + b).  For a rigid bond, L = 0, both vanish, and their ratios decide.
  pure subroutine share(w, friction, law, b, k, r, h, status)
    real(dp), intent(in) :: w(3,3), friction, law(law_size), b(3), k
    real(dp), intent(out) :: r(3), h
    integer(i4), intent(out) :: status
    real(dp) :: yielding(3), strength(3), opening(3), contact(3), bond(3), left(3,3), soft(3,3), free(3), load, determinant
    integer :: i

    status = status_solved
    yielding = law(c_yielding + places)
    strength = law(c_strength + places)
    opening = law(c_opening:c_opening+2)
    contact = 0.0_dp
    if (k >= 1.0_dp) then
      free = b
      free(3) = free(3) + opening(3)
      if (free(3) < 0.0_dp) call press(w, friction, free, contact, status)
      r = contact
      h = 1.0_dp - 1.0_dp/max(norm2((opening + b + matmul(w, r))/(yielding*strength)), tiny(h))
      return
    end if
    load = k/(1.0_dp - k)
    soft = w
    do i = 1, 3
      soft(i,i) = soft(i,i) + load*yielding(i)
    end do
    call adjugate_of(soft, left, determinant)
    left = left/determinant
    bond = -matmul(left, opening + b)
    if (bond(3) > 0.0_dp) then   ! pressed together
      if (load > 0.0_dp) then
        do i = 1, 3
          soft(i,:) = load*yielding(i)*matmul(left(i,:), w)
        end do
        free = -load*yielding*bond
        free(1:2) = free(1:2) - opening(1:2)
        call press(0.5_dp*(soft + transpose(soft)), friction, free, contact, status)
        bond = bond - matmul(left, matmul(w, contact))
      else
        contact = bond
        contact(1:2) = contact(1:2)*min(1.0_dp, friction*contact(3)/max(norm2(contact(1:2)), tiny(1.0_dp)))
        bond = bond - contact
      end if
    end if
    r = bond + contact
    h = norm2(bond/strength)
    h = 1.0_dp - (1.0_dp - k)/max(h, tiny(h))
    if (.not. sum(abs(r)) <= huge(1.0_dp)) status = status_failed
  end subroutine share

  !> Solves a closed contact: U = b + W r.
  pure subroutine press(w, friction, b, r, status)
    real(dp), intent(in) :: w(3,3), friction, b(3)
    real(dp), intent(out) :: r(3)
    integer(i4), intent(out) :: status
    real(dp) :: block(block_size)

    r = [0.0_dp, 0.0_dp, -b(3)/w(3,3)]
    status = status_solved
    if (.not. friction > 0.0_dp) return
    call prepare_block(w, friction, 0.0_dp, block)
    call solve_contact(0_i4, w, block, accuracy, int(bound, i4), b, r, status)
    if (status < status_failed) status = status_solved
  end subroutine press
end module cohesive_rows
