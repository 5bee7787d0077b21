"""Small faults in the sources that the property suite must detect (see mutants.py)."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """`old` in `file`, where it stands once, becomes `new`; `killers`: tests that are likely to notice."""

    name: str
    file: str
    old: str
    new: str
    killers: tuple[str, ...]


KERNELS, MEASURES, SYSTEMS = "test_contact_kernels.py", "test_measures.py", "test_random_problems.py"
SCENES, JOINTS, POINTS, GLUE, SAME = "test_scene_laws.py", "test_joint_laws.py", "test_contact_points.py", "test_glue.py", "test_invariance.py"
BONDS, SHARES, KNOCKS = "test_bond_law.py", "test_redundant_joints.py", "test_knocks.py"
WHIRLING, BENDING = "test_whirling_supports.py", "test_ways_that_bend.py"
TURNING, LANES, ROLLING = "test_turning_contacts.py", "test_contacts_beside_one_another.py", "test_rolling.py"


def _of(file: str, killers: tuple[str, ...], *changes: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(name, file, old, new, killers) for name, old, new in changes]


MUTANTS = [
    *_of(
        "fortran/constraints/gap_factors.f90", (SHARES,),
        ("motions of redundant joints are not checked", "regular = now <= misfit*size_of_right", "regular = now <= huge(now)"),
    ),
    *_of(
        "fortran/rows/link_rows.f90", ("test_links_beside_joints.py",),
        ("links keep lengths beside joints", "start_impact .or. con%damped(i) == by_velocity", "start_impact .or. con%damped(i) < 0"),
    ),
    *_of(
        "solfec/constraints/supports.py", (WHIRLING,),
        ("supports do not damp", "np.where(damped, np.bincount(", "np.where(False, np.bincount("),
        ("supports in loops keep the old law", "members.support & ~(looped & members._near(mixed, looped))", "members.support & ~looped"),
    ),
    *_of(
        "fortran/rows/row_block.f90", ("test_slack_rope.py",),
        ("round-off pulls at slack ropes", "    if (is_round_off(w, speed, r)) r = 0.0_dp\n", "    if (w < 0.0_dp .and. speed < 0.0_dp) r = 0.0_dp\n"),
    ),
    *_of(
        "fortran/bodies/reduced_motion.f90", ("../bodies/test_reduced_order.py",),
        ("velocities leave the base", "    u = u - step*p\n  end subroutine keep_in_base", "    u = u - 0*step*p\n  end subroutine keep_in_base"),
    ),
    *_of(
        "fortran/constraints/user_constraints.f90", (BENDING,),
        ("axes of soft arms do not turn on", "bend = bend - cross(spin, cross(spin,", "bend = bend + 0*cross(spin, cross(spin,"),
    ),
    *_of(
        "fortran/rows/contact_iterations.f90", (KERNELS, MEASURES),
        ("the cone without friction is a line", "answer = normal >= 0.0_dp .and. length <= mu*normal", "answer = length <= mu*normal"),
        ("a wider cone", "answer = normal >= 0.0_dp .and. length <= mu*normal", "answer = normal >= 0.0_dp .and. length <= 1.01_dp*mu*normal"),
        ("no polar cone in the map", "    if (mu*length <= -s(3)) then\n      c = r\n", "    if (mu*length <= -2.0_dp*s(3)) then\n      c = r\n"),
        ("the map's normal part turned", "      c(3) = c(3) - beyond(2)\n", "      c(3) = c(3) + beyond(2)\n"),
        ("the map's tangential part turned", "      c(1:2) = c(1:2) + s(1:2)*(beyond(1)/length)", "      c(1:2) = c(1:2) - s(1:2)*(beyond(1)/length)"),
        ("associated sliding in the map", "f = rho*[u(1), u(2), u(3) + mu*sqrt(u(1)**2 + u(2)**2)]", "f = rho*[u(1), u(2), u(3)]"),
        ("the projection's share for small friction", "pair(1) = (x + mu*y)/(1.0_dp + mu**2)", "pair(1) = (x + mu*y)/(1.0_dp + mu)"),
        ("the projection's share for large friction", "pair(2) = (x/mu + y)/(1.0_dp + (1.0_dp/mu)**2)", "pair(2) = (x/mu + y)/(1.0_dp + 1.0_dp/mu)"),
        ("gradient: pressure may be tension", "r(3) = max(0.0_dp, r(3) - rho*u(3))", "r(3) = r(3) - rho*u(3)"),
        ("gradient: disc of the wrong radius", "      limit = mu*r(3)\n", "      limit = 0.9_dp*mu*r(3)\n"),
        ("gradient: friction along the sliding", "r(1:2) = r(1:2) - rho*u(1:2)", "r(1:2) = r(1:2) + rho*u(1:2)"),
        ("derivative: sliding velocity", "if (slip > 0.0_dp) df(3,1:2) = mu*u(1:2)/slip", "if (slip > 0.0_dp) df(3,1:2) = -mu*u(1:2)/slip"),
        ("derivative: coupling of parts", "      cc = mu*(p1 - p2)/k", "      cc = mu*(p2 - p1)/k"),
        ("derivative: across the sliding direction", "      bb = (mu**2*p1 + p2)/k", "      bb = (p1 + mu**2*p2)/k"),
        ("elimination: no pivots", "if (abs(m(i,k)) > abs(m(pivot,k))) pivot = i", "if (abs(m(i,k)) > huge(1.0_dp)) pivot = i"),
        ("an iteration is solved too early", "change <= tolerance*max(norm2(r), rho*norm2(b))) then", "change <= 1e-3_dp*max(norm2(r), rho*norm2(b))) then"),
    ),
    *_of(
        "fortran/rows/diagonal_block.f90", (KERNELS, SYSTEMS),
        ("Schur complement: no coupling", "block(b_schur)   = w(1,1) - w(1,3)*w(3,1)*inverse", "block(b_schur)   = w(1,1)"),
        ("Schur complement: an index", "block(b_schur+3) = w(2,2) - w(2,3)*w(3,2)*inverse", "block(b_schur+3) = w(2,2) - w(1,3)*w(3,1)*inverse"),
        ("an open contact decided the other way", "    if (b(3) >= 0.0_dp) then\n", "    if (b(3) >= abs(b(1))*1e-2_dp) then\n"),
        ("stick in a smaller cone", "inverse_det**2 <= (mu*rn)**2) then", "inverse_det**2 <= (0.9_dp*mu*rn)**2) then"),
        ("stick: an index", "      r(2) = x2*inverse_det\n", "      r(2) = x1*inverse_det\n"),
        ("pressure without the coupling", "rn = -bn - (wn1*x1 + wn2*x2)*inverse_det", "rn = -bn"),
        ("slip: a sign of the quadratic", "    q0 = -bn*det - (wn1*x1 + wn2*x2)", "    q0 = -bn*det + (wn1*x1 + wn2*x2)"),
        ("slip: the root on the other side", "      if (mu*q < sqrt(p)) then\n", "      if (mu*q > sqrt(p)) then\n"),
        ("slip: an index of the reaction", "    r(2) = (x2 - lambda*c2)*inverse", "    r(2) = (x2 - lambda*c1)*inverse"),
        ("frictionless contacts are not pressed enough", "      r(3) = -bn\n", "      r(3) = -0.99_dp*bn\n"),
        ("the largest eigenvalue is too small", "value = mean + 2.0_dp*p*cos(", "value = mean + 0.5_dp*p*cos("),
    ),
    *_of(
        "fortran/rows/contact_rows.f90", (SCENES, SYSTEMS, MEASURES, GLUE),
        ("glue of any area", "law(l_cohesion) = con%cohesion(i)*con%area(i)", "law(l_cohesion) = con%cohesion(i)"),
        ("restitution of contacts that part", "row%law(l_restitution)*min(row%v(3), 0.0_dp)", "row%law(l_restitution)*row%v(3)"),
        ("restitution upside down", "row%law(l_restitution)*min(row%v(3), 0.0_dp)", "-row%law(l_restitution)*min(row%v(3), 0.0_dp)"),
        ("gaps count double", "speed = max(speed, max(gap, 0.0_dp)/step)", "speed = max(speed, max(2*gap, 0.0_dp)/step)"),
        ("gap-aware contacts rebound before they meet", "gap + step*normal_v <= 0.0_dp .and. normal_v < 0.0_dp", "gap - step*normal_v >= 0.0_dp .and. normal_v < 0.0_dp"),
        ("contacts within a margin carry forces", "    else if (row%law(l_gap) > row%epsilon .and. .not. cohesive) then", "    else if (row%law(l_gap) > 1e6_dp*row%epsilon .and. .not. cohesive) then"),
        ("quasi-static gaps pull", "row%law(l_shift) = max(row%law(l_gap), 0.0_dp)/row%step", "row%law(l_shift) = -max(row%law(l_gap), 0.0_dp)/row%step"),
        ("cohesion's share of the velocity", "row%free = row%free - row%law(l_cohesion)*row%w(:,3)", "row%free = row%free + row%law(l_cohesion)*row%w(:,3)"),
        ("the shift is forgotten", "    row%free(3) = row%free(3) + row%law(l_shift)\n", "    row%free(3) = row%free(3)\n"),
        ("the residual forgets the shift", "    unmet = [u(1), u(2), u(3) + law(l_shift)]\n", "    unmet = [u(1), u(2), u(3)]\n"),
        ("cohesion is forgotten", "    r(3) = r(3) + block(b_cohesion)\n    unmet", "    unmet"),
        ("open contacts have no residual", "residual=norm2(reaction)/block(b_rho)", "residual=0.0_dp*norm2(reaction)/block(b_rho)"),
        ("projection forgets cohesion", "    p(3) = p(3) - block(b_cohesion)\n", "    p(3) = p(3)\n"),
        ("cohesion never ends by opening", "limits_reached(law, r, normal, normal < at_limit*law(l_cohesion))", "limits_reached(law, r, normal, normal < -at_limit*law(l_cohesion))"),
        ("sliding is judged without the glue", "    normal = r(3) + law(l_cohesion)\n", "    normal = r(3)\n"),
    ),
    *_of(
        "fortran/solvers/joint_shares.f90", (SHARES,),
        ("shares: moments weigh as forces", "given(:,k) = loc%rows%R(:,rows(k))/weight(:,k)", "given(:,k) = loc%rows%R(:,rows(k))"),
        ("shares: a shift that counts", "parameter :: shift = 1.0e-13_dp", "parameter :: shift = 1.0e-2_dp"),
        ("shares: products on the diagonal", "if (joints%place(f) > joints%place(e)) cycle", "if (joints%place(f) >= joints%place(e)) cycle"),
    ),
    *_of(
        "fortran/rows/joint_rows.f90", (JOINTS, SYSTEMS, MEASURES, SCENES),
        ("fixed points do not move back", "target = -row%v + added_target(", "target = row%v + added_target("),
        ("fixed directions do not move back", "row%law(l_target:l_target+1) = 0.0_dp ", "row%law(l_target:l_target+2) = 0.0_dp "),
        ("the prescribed velocity is another's", "row%constraints%value(1,row%constraint)", "row%constraints%value(2,row%constraint)"),
        ("fixed points pushed the wrong way", "    found = -b\n", "    found = b\n"),
        ("joints are measured along the normal alone", "residual=norm2(unmet)", "residual=abs(unmet(3))"),
        ("energy of prescribed velocities", "if (self%prescribed) energy_of_direction = energy_of_direction + inverse_nn(w)*law(l_target+2)**2", "continue"),
        ("prescribed velocities of the wrong sign", "law(l_target+2) - u(3), r", "law(l_target+2) + u(3), r"),
        ("fixed points: an entry", "    rhs = law(l_target:l_target+2) - u\n", "    rhs = law(l_target:l_target+2)\n"),
        ("fixed points break by the normal part", "norm2(reaction), self%prescribed", "abs(reaction(3)), self%prescribed"),
    ),
    *_of(
        "fortran/rows/link_rows.f90", (JOINTS, SYSTEMS),
        ("links: a base's row", "multiply_transposed(con%base(:,:,i), ", "multiply_transposed(transpose(con%base(:,:,i)), "),
        ("links by the larger force", "rn = -c/(half_b + sign(sqrt(root), half_b))", "rn = -c/(half_b - sign(sqrt(root), half_b))"),
        ("links at mid step", "    p = y + k*b\n", "    p = y + 0.5_dp*k*b\n"),
        ("links: a sign", "normal = (sqrt(root) - y(3))/k", "normal = (sqrt(root) + y(3))/k"),
        ("links break by compression", "    load_of_link = -reaction(3)\n", "    load_of_link = reaction(3)\n"),
    ),
    *_of(
        "fortran/rows/dashpot_rows.f90", (JOINTS, SYSTEMS),
        ("spring-dashpot: damping of the wrong sign", "r(3) = (force - 0.5_dp*dashpot*(bn + normal_v))/", "r(3) = (force + 0.5_dp*dashpot*(bn + normal_v))/"),
        ("spring-dashpot: gap at the end of the step", "reach = merge(0.25_dp, 1.0_dp, half_step < step)*step", "reach = merge(0.5_dp, 1.0_dp, half_step < step)*step"),
        ("spring-dashpot: friction beyond the disc", "    limit = law(l_friction)*abs(r(3))\n", "    limit = 2.0_dp*law(l_friction)*abs(r(3))\n"),
        ("spring-dashpot: contacts pull", "    if (.not. cohesive .and. r(3) < 0.0_dp) then", "    if (.not. cohesive .and. r(3) < -1e30_dp) then"),
        ("spring-dashpot: an index of sticking", "r(2) = -(w(1,1)*t(2) - w(2,1)*t(1))/det", "r(2) = -(w(2,2)*t(2) - w(2,1)*t(1))/det"),
    ),
    *_of(
        "fortran/rows/row_norms.f90", (MEASURES, SYSTEMS),
        ("weights: an index", "y3 = p(3) - w(3,1)/w(1,1)*p(1)", "y3 = p(3) - w(3,1)/w(1,1)*p(2)"),
        ("weights: no coupling", "    d2 = w(2,2) - w(2,1)*w(2,1)/w(1,1)\n", "    d2 = w(2,2)\n"),
    ),
    *_of(
        "fortran/solvers/end_of_cohesion.f90", (GLUE,),
        ("patches end by their limits alone", "and. u(3) + law(l_shift) > moving*w(3,3)*cohesion", "and. u(3) + law(l_shift) > -moving*w(3,3)*cohesion"),
    ),
    *_of(
        "fortran/solvers/alart_curnier.f90", (SYSTEMS, SCENES),
        ("no disc", "        if (length > limit) s(1:2) = s(1:2)*(limit/length)\n", "        if (length > 2.0_dp*limit) s(1:2) = s(1:2)*(limit/length)\n"),
        ("pressure of the wrong sign", "        f(3,i) = r(3,i) - max(s(3), 0.0_dp)\n", "        f(3,i) = r(3,i) + max(s(3), 0.0_dp)\n"),
        ("joints are free", "        f(:,i) = rho*u(:,i)\n", "        f(:,i) = r(:,i)\n"),
    ),
    *_of(
        "fortran/solvers/turning_contacts.f90", (TURNING,),
        ("points move straight on", "    acceleration = cross(spin,", "    acceleration = 0.0_dp*cross(spin,"),
        ("normals do not turn", "    local(3) = local(3) + 2*dot_product(", "    local(3) = local(3) + 0*dot_product("),
        ("round bodies roll on a point", "    local = cross(w, [", "    local = 0.0_dp*cross(w, ["),
    ),
    *_of(
        "fortran/solvers/proximal_newton.f90", (KNOCKS,),
        ("the last reactions do not hold", "      y = y + weight*(x - anchor)\n", "      y = y + 0.0_dp*(x - anchor)\n"),
        ("iterations stay where they are", "        anchor = anchor + relaxation*(trial - anchor)\n", "        anchor = anchor + 0.0_dp*(trial - anchor)\n"),
    ),
    *_of(
        "fortran/solvers/automatic_solver.f90", (SYSTEMS, SCENES, SAME),
        ("islands lose a row", "        island_row(tail) = column(k)\n", "        island_row(tail) = a\n"),
        ("every residual will do", "    if (.not. (it%residual <= tolerance .or.", "    if (.not. (it%residual <= 1e4_dp*tolerance .or."),
    ),
    *_of(
        "fortran/solvers/packed_solvers.f90", (SYSTEMS, SCENES, SAME),
        ("better reactions are thrown away", "    if (.not. measured < residual) return\n    x = trial\n", "    if (.not. measured > residual) return\n    x = trial\n"),
    ),
    *_of(
        "solfec/solvers/auto.py", (SYSTEMS, GLUE, JOINTS),
        ("cohesion is added twice", "            rows.R[2, :n] -= form.cohesion[:n]\n", "            rows.R[2, :n] += form.cohesion[:n]\n"),
        ("links of the wrong sign", "        q[2, links] = rows.B[2, links] - targets\n", "        q[2, links] = rows.B[2, links] + targets\n"),
    ),
    *_of(
        "solfec/kinds.py", (SYSTEMS, GLUE, JOINTS),
        ("fixed points held along the normal alone", '"PNT", Frame.OF_SPACE, cone=Cone.FIXED', '"PNT", Frame.OF_SPACE, cone=Cone.NORMAL'),
    ),
    *_of(
        "fortran/solvers/gauss_seidel.f90", (SYSTEMS, MEASURES),
        ("sweeps end too early", "converged = error <= asked%epsilon", "converged = error <= 1e5_dp*asked%epsilon"),
    ),
    *_of(
        "fortran/solvers/gauss_seidel.f90", (LANES, ROLLING),
        ("lanes: sweeps end before open contacts close", "      found%postponed = found%postponed + sum(total(:,3))\n", ""),
        ("rows beside lanes: sweeps end before open contacts close", "          found%postponed = found%postponed + figure(5)\n", ""),
        ("lanes keep their reactions", "      if (run%side%chunks%packed /= 0) call unpack_slots(run%loc%rows, run%side)\n    end if\n", "    end if\n"),
        ("lanes: rolling friction of the step before", "      if (run%heard .and. run%side%chunks%packed /= 0) call unpack_slots(run%loc%rows, run%side)\n", ""),
    ),
    *_of(
        "fortran/solvers/contact_lanes.f90", (LANES,),
        ("lanes: an index of sticking", "c(l,c_s12)*c2(l) - c(l,c_s22)*c1(l)", "c(l,c_s12)*c2(l) - c(l,c_s11)*c1(l)"),
        ("lanes: pressure without the coupling", "rn = -bn(l) - (wn1(l)*x1(l) + wn2(l)*x2(l))*c(l,c_inverse_det)", "rn = -bn(l)"),
        ("lanes: stick in a wider cone", "excess = r1*r1 + r2*r2 - (mu*rn)**2", "excess = r1*r1 + r2*r2 - (1.1_dp*mu*rn)**2"),
        ("lanes: open contacts stay open", "c(l,c_opening) = merge(b(l,3), 0.0_dp, r(l,3) <= 0.0_dp)", "c(l,c_opening) = merge(abs(b(l,3)), 0.0_dp, r(l,3) <= 0.0_dp)"),
        ("lanes: contacts that must close do not count", "postponed(l) = merge(squared, 0.0_dp, opened*pushed > 0.0_dp)", "postponed(l) = 0.0_dp*squared"),
        ("lanes: frictionless contacts are not pressed enough", "      last = -bn(l)\n", "      last = -0.99_dp*bn(l)\n"),
        ("lanes: changes of friction do not count", "change(l) = d(l,1)**2 + d(l,2)**2 + d(l,3)**2", "change(l) = d(l,3)**2"),
        ("lanes: momenta by the transposed operator", "operator(l,2,i,e)*d(l,2)", "operator(l,i,2,e)*d(l,2)"),
        ("lanes: cohesion is forgotten", "      r(l,3) = r(l,3) - c(l,c_cohesion)\n", "      r(l,3) = r(l,3) - 0.0_dp*c(l,c_cohesion)\n"),
        ("lanes: slip, a sign of the quadratic", "q0(l) = -bn(l)*det(l) - (wn1", "q0(l) = -bn(l)*det(l) + (wn1"),
        ("lanes: no number is a solution", "unsolved(l) = merge(0.0_dp, 1.0_dp, size <= huge(1.0_dp)) +", "unsolved(l) = 0.0_dp*size +"),
    ),
    *_of(
        "fortran/solvers/lane_slots.f90", (LANES,),
        ("lanes: entries of other contacts", "        if (e > own(l)) operator(l,:,:,e) = 0.0_dp\n", ""),
        ("lanes: contacts that are gone count", "    reaction(used+1:,:) = 0.0_dp\n", ""),
    ),
    *_of(
        "fortran/solvers/rows_in_lanes.f90", (LANES,),
        ("lanes: as many entries as the first contact", "to%slots%entries(s) = maxval(width(order(k:k+used-1)))", "to%slots%entries(s) = width(order(k))"),
        ("lanes: whatever block solver is asked", "    if (solver /= 0 .or. size(listed) > most_depth) return", "    if (size(listed) > most_depth) return"),
    ),
    *_of(
        "fortran/solvers/lane_sweeps.f90", (LANES,),
        ("lanes: failures are not told", "        failed = max(failed, found)\n", ""),
        ("lanes: reactions of slots are lost", "      call give_back_slot(loc%rows, used, row, values, reaction)\n", ""),
    ),
    *_of(
        "fortran/constraints/user_constraints.f90", (JOINTS, SYSTEMS),
        ("links point the other way", "    vector = state%con%point(:,i) - state%con%other_point(:,i)\n", "    vector = state%con%other_point(:,i) - state%con%point(:,i)\n"),
        ("elongation of the wrong sign", "      distance = norm2(vector)\n      state%con%gap(i) = distance - state%con%length(i)", "      distance = norm2(vector)\n      state%con%gap(i) = state%con%length(i) - distance"),
    ),
    *_of(
        "solfec/constraints/user.py", (JOINTS,),
        ("every user's constraint breaks", "constraints.overloaded[:users] == 1", "constraints.overloaded[:users] >= 0"),
    ),
    *_of(
        "fortran/contact/contact_patch.f90", (POINTS, SCENES),
        ("a patch's gap at the wrong place", "level(k) = dot_product(slope, polygon(:,m) - from)", "level(k) = dot_product(slope, polygon(:,m))"),
        ("points beside the gap", "points(:,k) = origin + place(:,k) + 0.5_dp*level(k)*normal", "points(:,k) = origin + place(:,k) - 2.0_dp*level(k)*normal"),
        ("one corner serves four slots", "        if (dot_product(direction(:,k), polygon(:,m)) <= best(k)) cycle\n", "            if (dot_product(direction(:,0), polygon(:,m)) <= best(k)) cycle\n"),
    ),
    *_of(
        "fortran/contact/polygon_cut.f90", (POINTS, SCENES),
        ("clipping keeps the outside", "      if (here <= 0.0_dp) then\n        kept = kept + 1", "      if (here >= 0.0_dp) then\n        kept = kept + 1"),
        ("clipping cuts at the wrong place", "polygon(:,k) + (here/(here - there))*(polygon", "polygon(:,k) + (there/(there - here))*(polygon"),
    ),
    *_of(
        "fortran/contact/contacts.f90", (POINTS, GLUE, SCENES),
        ("shares of the area", "    at%area = whole%area/popcnt(slots)\n", "    at%area = whole%area\n"),
        ("the frame is right-handed", "base(1,2) = base(2,1)*normal(3) - base(3,1)*normal(2)", "base(1,2) = -base(2,1)*normal(3) + base(3,1)*normal(2)"),
        ("referential points of rotated bodies", "point(2) = conf(1,2)*arm(1) + conf(2,2)*arm(2) + conf(3,2)*arm(3)", "point(2) = conf(2,1)*arm(1) + conf(2,2)*arm(2) + conf(3,2)*arm(3)"),
        ("slave and master change places", "rows%slave_primitive(k) = merge(first(c), second(c), results%outward(c) == 0)", "rows%slave_primitive(k) = merge(first(c), second(c), results%outward(c) /= 0)"),
        ("later contacts are glued", "time == 0.0_dp .and. at%gap <= epsilon)\n      rows%damage(k)", "at%gap <= epsilon)\n      rows%damage(k)"),
        ("contacts at a distance are glued", "time == 0.0_dp .and. at%gap <= epsilon)\n      rows%damage(k)", "time == 0.0_dp)\n      rows%damage(k)"),
    ),
    *_of(
        "fortran/rows/cohesive_rows.f90", (BONDS,),
        ("bonds forget their damage", "    low = law(c_damage)\n", "    low = 0.0_dp\n"),
        ("bonds that hold overlap", "row%law(c_opening+2) = max(row%law(c_opening+2), 0.0_dp)", "row%law(c_opening+2) = row%law(c_opening+2) + 1e-3_dp"),
        ("bonds lose friction", "friction*contact(3)/max(norm2", "0.0_dp*contact(3)/max(norm2"),
        ("bonds do not soften", "    h = 1.0_dp - (1.0_dp - k)/max(h, tiny(h))", "    h = 1.0_dp - 1.0_dp/max(h, tiny(h))"),
    ),
    *_of(
        "fortran/contact/curved.f90", (POINTS, SCENES),
        ("gaps of balls", "    contact%gap = distance - radii\n", "    contact%gap = distance - slave_radius\n"),
        ("points of balls", "contact%slave_point = slave_centre + slave_radius*contact%normal", "contact%slave_point = slave_centre + master_radius*contact%normal"),
        ("normals of balls on blocks", "      contact%normal = (centre - closest)/distance\n", "      contact%normal = (closest - centre)/distance\n"),
        ("balls float", "      contact%gap = distance - radius\n", "      contact%gap = distance - 1.01_dp*radius\n"),
    ),
    *_of(
        "fortran/contact/overlap.f90", (POINTS, SCENES),
        ("signs of facets", "    if (.not. is_first) sign = -sign\n", "    if (is_first) sign = -sign\n"),
        ("a cut at the wrong place", "x = x + (inside(leave)/(inside(leave) - inside(begin)))*(y - x)", "x = x + (inside(begin)/(inside(begin) - inside(leave)))*(y - x)"),
    ),
    *_of(
        "fortran/solvers/rigid_contacts.f90", (SYSTEMS, SCENES),
        ("slaves move like masters", "call find_blocks(-base, slave, v, b, speed)", "call find_blocks(base, slave, v, b, speed)"),
        ("reactions act on centres", "    arm = point - centre(:,k)\n", "    arm = 0.0_dp*point\n"),
    ),
    *_of(
        "fortran/solvers/local_dynamics.f90", (SYSTEMS, SCENES),
        ("slaves are pushed like masters", "call pull(k, a, i, 2, state%con%slave_point(:,i), -r)", "call pull(k, a, i, 2, state%con%slave_point(:,i), r)"),
        ("slaves at the master's point", "if (side == 2) point = state%con%slave_point(:,i)", "if (side == 2) point = state%con%master_point(:,i)"),
        ("reactions are not turned into space", "(h(1,j,c)*r(1) + h(2,j,c)*r(2) + h(3,j,c)*r(3))", "(h(j,1,c)*r(1) + h(j,2,c)*r(2) + h(j,3,c)*r(3))"),
        ("open contacts keep their force", "if (row%kind == open_row) loc%rows%R(:,a) = 0.0_dp", "continue"),
        ("a root of the inverse mass", "entry(:,2,e) = h(:,2,k)*l(2,2) + h(:,3,k)*l(3,2)", "entry(:,2,e) = h(:,2,k)*l(2,2)"),
    ),
    *_of(
        "fortran/constraints/closed_loops.f90", (SHARES,),
        ("loops: centres are moved away", "          conf(:,c+3) = conf(:,c+3) + way(:,1)\n", "          conf(:,c+3) = conf(:,c+3) - way(:,1)\n"),
        ("loops: bodies turn in space", "conf(:,c:c+2) = matmul(conf(:,c:c+2), turned)", "conf(:,c:c+2) = matmul(turned, conf(:,c:c+2))"),
        ("loops: none is redundant", "      if (growth < balanced) exit\n", "      if (growth > balanced) exit\n"),
    ),
    *_of(
        "fortran/constraints/gap_motion.f90", (SHARES,),
        ("loops: slaves move like masters", "state%con%slave_point(:,i), -1.0_dp)", "state%con%slave_point(:,i), 1.0_dp)"),
        ("loops: motions have no metric", "        h(:,:,e) = sign*matmul(h(:,:,e), factor)\n", "        h(:,:,e) = sign*h(:,:,e)\n"),
    ),
    *_of(
        "fortran/constraints/joint_terms.f90", (SHARES,),
        ("loops: terms of joints change sign", "found%gap(i) = found%gap(i) - dot_product(", "found%gap(i) = found%gap(i) + dot_product("),
    ),
    *_of(
        "solfec/solvers/closed_loops.py", (SHARES,),
        ("loops: joints drift", "self.drifts = by_velocity or not fits", "self.drifts = by_velocity"),
        ("loops: joints fit together", "return self._misfit(gaps, count, triples) <= FITTING", "return self._misfit(gaps, count, triples) < np.inf"),
    ),
    *_of(
        "fortran/constraints/held_limits.f90", ("test_ropes_beside_joints.py",),
        ("ropes: joints hold all motions", "held(l) = merge(1, 0, norm2(rest) <= misfit*size)", "held(l) = 1"),
        ("ropes: joints hold none", "        rest = rest - motion\n", "        rest = rest + motion\n"),
    ),
    *_of(
        "fortran/bodies/rigid.f90", (SHARES, SCENES),
        ("loops: gyroscopic moments turn round", "      m1 = m1 - (w2*j3 - w3*j2)\n", "      m1 = m1 + (w2*j3 - w3*j2)\n"),
        ("loops: work with the velocity of the start", "(velo_prev(2,l) + w2)*(force(2,l) + reaction(2,l))", "2*velo_prev(2,l)*(force(2,l) + reaction(2,l))"),
    ),
]  # fmt: skip
