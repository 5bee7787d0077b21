"""Finite elements against closed-form solutions of elasticity, with mesh convergence."""

import numpy as np
import pytest
from elastic import Body, grid, merged, octant, order
from scipy.sparse import diags
from scipy.sparse.linalg import eigsh

from solfec.bodies import point_values

YOUNG, POISSON = 2e11, 0.3


def quarter_ring(inner, outer, thickness, across, around):
    """A quarter of a ring about z."""

    def place(p):
        radius, angle = inner + (outer - inner) * p[:, 0], 0.5 * np.pi * p[:, 1]
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), thickness * p[:, 2]], 1)

    return grid((across, around, 1), place)


def ring_under_pressure(across, around, inner=0.1, outer=0.2, thickness=0.1, pressure=6e7):
    """Body, displacements, and radii of the nodes of a quarter ring with free faces under internal pressure."""
    body = Body(quarter_ring(inner, outer, thickness, across, around), YOUNG, POISSON, 7820.0)
    x, y, z = body.nodes.T
    radius = np.hypot(x, y)
    load = body.pressure(pressure, np.abs(radius - inner) < 1e-9)
    middle = np.zeros(len(x), bool)
    middle[np.flatnonzero((np.abs(y) < 1e-9) & (z < 1e-9))[0]] = True
    fixed = np.stack([np.abs(x) < 1e-9, np.abs(y) < 1e-9, middle], 1)
    return body, body.equilibrium(load, fixed), radius


def test_a_ring_under_pressure_widens_as_lame_says_to_second_order():
    """u = p a^2 / (E (b^2 - a^2)) ((1 - nu) r + (1 + nu) b^2 / r): generalised plane stress is exact for free faces."""
    errors, hoops = [], []
    for n in (4, 8, 16):
        body, q, radius = ring_under_pressure(n, n)
        exact = 6e7 / YOUNG / 3 * (0.7 * radius + 1.3 * 0.04 / radius)
        radial = (q * body.nodes)[:, :2].sum(1) / radius
        errors.append(np.abs(radial / exact - 1).max())
        stress = point_values.stress(body.bodies, 0, (0.15 * np.sqrt(0.5), 0.15 * np.sqrt(0.5), 0.0), 1e-6)
        hoops.append([stress[0] + stress[1] - 4e7, stress[0] + stress[3] - 2e7 * (1 - 0.04 / 0.15**2)])  # both, and radial
    assert errors[-1] < 5e-3
    assert order(np.array(errors)) == pytest.approx(2, abs=0.15)
    assert np.abs(hoops[-1]).max() < 0.01 * 4e7
    assert np.abs(hoops[-1]).max() < 0.4 * np.abs(hoops[-2]).max()


def test_the_thick_cylinder_of_400_hexahedra_agrees_with_lame():
    """Forty hexahedra through the wall, ten of nine degrees around, as in Solfec-1.0's own program: half a per cent."""
    body, q, radius = ring_under_pressure(40, 10)
    assert body.volume == pytest.approx(0.0023465075082, rel=1e-5)
    inner = np.abs(radius - 0.1) < 1e-9
    assert (q * body.nodes)[inner, :2].sum(1) / 0.1 == pytest.approx(np.full(inner.sum(), 5.9e-5), rel=5e-3)
    low = body.nodes[:, 2] < 1e-9
    assert q[~low, 2].mean() - q[low, 2].mean() == pytest.approx(-6e-6, rel=5e-3)


def test_a_hollow_sphere_under_pressure_widens_as_lame_says_to_second_order():
    """u = p a^3 / (E (b^3 - a^3)) ((1 - 2 nu) r + (1 + nu) b^3 / (2 r^2))."""
    errors = []
    for n in (2, 4, 8):
        body = Body(octant(1.0, 2.0, n, n), YOUNG, POISSON)
        radius = np.linalg.norm(body.nodes, axis=1)
        q = body.equilibrium(body.pressure(1e8, np.abs(radius - 1) < 1e-9), np.abs(body.nodes) < 1e-9)
        exact = 1e8 / YOUNG / 7 * (0.4 * radius + 1.3 * 8 / (2 * radius**2))
        errors.append(np.abs((q * body.nodes).sum(1) / radius / exact - 1).max())
    assert errors[-1] < 0.02
    assert order(np.array(errors))[-1] == pytest.approx(2, abs=0.25)


def deflected_beam(counts, enhanced):
    """Mean deflection of the end of a cantilever 10 x 1 x 1, nu = 0, relative to Timoshenko's."""
    body = Body(grid(counts, lambda p: p * (10, 1, 1)), 1e6, 0.0, enhanced=enhanced)
    end = body.nodes[:, 0] > 10 - 1e-9
    load = np.zeros_like(body.nodes)
    load[end, 2] = 1.0 / end.sum()
    q = body.equilibrium(load, np.repeat(body.nodes[:, :1] < 1e-9, 3, axis=1))
    return q[end, 2].mean() / (1000 / (3 * 1e6 / 12) + 10 * 1.2 / 5e5)


def test_a_cantilever_bends_as_timoshenko_says_to_second_order():
    plain = [deflected_beam((10 * n, n, n), False) - 1 for n in (2, 4)]
    assert order(np.array(plain)) == pytest.approx(2, abs=0.2)
    assert abs(deflected_beam((10, 1, 1), True) - 1) < 0.005


def test_a_curved_beam_bends_as_castigliano_says():
    """A quarter ring clamped at one end, a radial force F at the other: pi/4 F R (R^2/EI - 1/EA + 1.2/GA)."""
    radius, depth, width = 10.0, 0.5, 0.5
    around, errors = (10, 20, 40), []
    for n in around:
        body = Body(quarter_ring(radius - depth / 2, radius + depth / 2, width, 1, n), 1e7, 0.0, enhanced=True)
        x, y, _ = body.nodes.T
        end = np.abs(x) < 1e-9  # at ninety degrees, where the radius is along y
        load = np.zeros_like(body.nodes)
        load[end, 1] = 1.0 / end.sum()
        q = body.equilibrium(load, np.repeat((np.abs(y) < 1e-9)[:, None], 3, axis=1))
        area = depth * width
        second = area * depth**2 / 12
        exact = 0.25 * np.pi * (radius**3 / (1e7 * second) - radius / (1e7 * area) + 1.2 * radius / (5e6 * area))
        errors.append(q[end, 1].mean() / exact - 1)
    assert abs(errors[-1]) < 2e-3
    assert abs(errors[-1]) < abs(errors[0])


def quarter_disc(radius, thickness, side, across):
    """A quarter of a disc: a square in the middle and two patches round it."""
    half = 0.5 * radius

    def square(p):
        return np.stack([half * p[:, 0], half * p[:, 1], thickness * p[:, 2]], 1)

    def outside(turned):
        def place(p):
            angle = 0.25 * np.pi * p[:, 1]
            rim = radius * np.stack([np.cos(angle), np.sin(angle)], 1)
            side_of_square = half * np.stack([np.ones(len(p)), p[:, 1]], 1)
            flat = side_of_square + p[:, :1] * (rim - side_of_square)
            if turned:
                flat = flat[:, ::-1]
            return np.stack([flat[:, 0], flat[:, 1], thickness * p[:, 2]], 1)

        return place

    def mirrored(p):  # keeps the grid right-handed
        return outside(True)(np.stack([p[:, 1], p[:, 0], p[:, 2]], 1))

    return merged([((side, side, across), square), ((side, side, across), outside(False)), ((side, side, across), mirrored)])


def test_a_clamped_circular_plate_sags_as_kirchhoff_and_mindlin_say():
    """p R^4 / (64 D) + p R^2 / (4 kappa G t), enhanced hexahedra, two through the thickness."""
    radius, thickness, pressure = 1.0, 0.05, 1e5
    rigidity = YOUNG * thickness**3 / (12 * (1 - POISSON**2))
    shear = YOUNG / (2 * (1 + POISSON))
    exact = pressure * radius**4 / (64 * rigidity) + pressure * radius**2 / (4 * 5 / 6 * shear * thickness)
    ratios = []
    for side in (3, 6, 12):
        body = Body(quarter_disc(radius, thickness, side, 2), YOUNG, POISSON, enhanced=True)
        x, y, z = body.nodes.T
        rim = np.abs(np.hypot(x, y) - radius) < 1e-9
        fixed = np.stack([rim | (np.abs(x) < 1e-9), rim | (np.abs(y) < 1e-9), rim], 1)
        q = body.equilibrium(body.pressure(pressure, z > thickness - 1e-9), fixed)
        centre = (np.hypot(x, y) < 1e-9) & (np.abs(z - thickness / 2) < 1e-9)
        ratios.append(-q[centre, 2][0] / exact)
    assert ratios[-1] == pytest.approx(1, abs=0.01)
    assert abs(ratios[-1] - 1) < abs(ratios[0] - 1)


def test_a_simply_supported_plate_sounds_at_its_frequency():
    """pi^2 (1/a^2 + 1/b^2) sqrt(D / (rho t)), with Mindlin's correction for shear and rotary inertia."""
    side, thickness, density = 1.0, 0.02, 7800.0
    values = []
    for cells in (6, 12):
        body = Body(grid((cells, cells, 2), lambda p: p * (side, side, thickness)), YOUNG, POISSON, density, enhanced=True)
        x, y, z = body.nodes.T
        middle = np.abs(z - thickness / 2) < 1e-9
        edge = middle & ((x < 1e-9) | (x > side - 1e-9) | (y < 1e-9) | (y > side - 1e-9))
        fixed = np.zeros_like(body.nodes, bool)
        fixed[edge, 2] = True
        fixed[middle & ((x < 1e-9) | (x > side - 1e-9)), 1] = True
        fixed[middle & ((y < 1e-9) | (y > side - 1e-9)), 0] = True
        free = ~fixed.ravel()
        mass = np.repeat(body.mass, 3)[free]
        square = eigsh(body.stiffness()[free][:, free], 1, diags(mass).tocsc(), sigma=0.0, which="LM")[0][0]
        values.append(np.sqrt(square))
    rigidity = YOUNG * thickness**3 / (12 * (1 - POISSON**2))
    exact = 2 * np.pi**2 * np.sqrt(rigidity / (density * thickness))
    assert values[-1] == pytest.approx(exact, rel=0.01)
    assert abs(values[-1] - exact) < abs(values[0] - exact)


def test_a_bar_of_one_row_sounds_at_the_frequencies_of_its_chain_of_masses():
    """(2c/l) sin(k pi / 20) of ten hexahedra with nu = 0."""
    body = Body(grid((10, 1, 1), lambda p: p * (1, 0.1, 0.1)), 2e11, 0.0, 7800.0)
    mass = np.repeat(body.mass, 3)
    along = np.zeros((len(body.nodes), 3))
    along[:, 0] = 1
    chosen = along.ravel() == 1
    root = 1 / np.sqrt(mass[chosen])
    values = np.linalg.eigvalsh(body.stiffness()[chosen][:, chosen].toarray() * root * root[:, None])
    speed = np.sqrt(2e11 / 7800)
    for k in range(1, 11):
        expected = 20 * speed * np.sin(k * np.pi / 20)
        assert np.abs(np.sqrt(np.maximum(values, 0)) / expected - 1).min() < 1e-9


def pulled_shell(side, enhanced):
    """Displacement of a force of 2E6 that pulls the equator of a hemisphere, radii 10 and 10.4, an eighth of it modelled."""
    body = Body(octant(9.8, 10.2, side, 1), 2.1e11, POISSON, enhanced=enhanced)
    x, y, z = body.nodes.T
    load = np.zeros_like(body.nodes)
    for axis, sign in ((0, 1.0), (1, -1.0)):
        at = (body.nodes[:, axis] > 9.7) & (np.delete(body.nodes, axis, axis=1).max(1) < 1e-6)
        load[at, axis] = sign * 2e6 / at.sum()
    fixed = np.stack([np.abs(x) < 1e-9, np.abs(y) < 1e-9, (z > 9.7) & (np.hypot(x, y) < 1e-9)], 1)
    q = body.equilibrium(load, fixed)
    return q[load[:, 0] > 0, 0].mean()


def test_a_pulled_hemispherical_shell_moves_as_thin_shells_do():
    """0.0924 for R = 10, t = 0.04, E = 6.825E7, F = 1 (MacNeal and Harder; 0.094 without their hole), times F/(E t^3)."""
    exact = 0.094 * 2e6 * 6.825e7 / 2.1e11 * 1e-3
    assert pulled_shell(8, True) == pytest.approx(exact, rel=0.05)
    assert pulled_shell(4, False) < 0.25 * exact  # what 48 plain hexahedra make of it: BM01 is a test of locking
