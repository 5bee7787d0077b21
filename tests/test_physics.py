"""Whole models against what mechanics textbooks say of them: motion, forces and energies of a few bodies."""

import numpy as np
import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Energy, Form, Scheme
from solfec.domain import Domain
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.hull import hull
from solfec.shapes.sphere import Sphere
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.penalty import PenaltySolver

G = 10.0
TIGHT = GaussSeidelSolver(1e-12, 20000)
ROCKING = 1e-3  # velocity of blocks that rock on their one contact point while friction acts below their centre
SCHEMES = (Scheme.RIG_POS, Scheme.RIG_NEG, Scheme.RIG_IMP)


def turn(axis, angle):
    """Rotation about an axis."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


class Scene:
    """A domain whose shapes, velocities and gravity may all be turned and moved together."""

    def __init__(self, step=1e-3, friction=0.0, restitution=0.0, rotation=None, origin=(0, 0, 0), gravity=G):
        self.domain = Domain(step)
        self.rotation = np.eye(3) if rotation is None else rotation
        self.origin = np.asarray(origin, float)
        materials = self.domain.surface_materials
        materials.friction[0], materials.restitution[0] = friction, restitution
        self.domain.loads.set_gravity(self.direction((0, 0, -gravity)))

    def direction(self, vector):
        return self.rotation @ np.asarray(vector, float)

    def place(self, point):
        return self.origin + self.direction(point)

    def add(self, shape, kind=BodyKind.RIGID, velocity=(0, 0, 0), spin=(0, 0, 0), young=1e9, poisson=0.25, damping=0.0):
        material = BulkMaterial(density=1000.0, young=young, poisson=poisson)
        body = self.domain.insert_body(kind, [shape], material)
        self.domain.bodies.damping[self.row(body)] = damping
        self.domain.states.set_velocity(body, self.direction(velocity), self.direction(spin))
        return body

    def box(self, lower, upper, kind=BodyKind.RIGID, **more):
        x, y, z = zip(lower, upper)
        return self.add(hull([self.place((a, b, c)) for c in z for b in y for a in x], 1, 1), kind, **more)

    def ball(self, centre, radius, **more):
        return self.add(Sphere(self.place(centre), radius, 1, 1), **more)

    def floor(self, **more):
        return self.box((-20, -20, -1), (20, 20, 0), BodyKind.OBSTACLE, **more)

    def run(self, duration, solver=TIGHT, after=None):
        end = self.domain.time + duration
        while self.domain.time < end - 1e-6 * self.domain.step:  # critical steps may be shorter than asked for
            self.domain.advance(solver)
            if after is not None:
                after()
        return self

    def row(self, body):
        return self.domain.body_row(body)

    def mass(self, body):
        return float(self.domain.bodies.mass[self.row(body)])

    def centre(self, body):
        """Place of the mass centre in the scene's own axes."""
        return self.rotation.T @ (self.domain.states.conf(body)[9:] - self.origin)

    def velocity(self, body):
        return self.rotation.T @ self.domain.states.velo(body)[-3:]

    def energy(self, which, body=None):
        return self.domain.energy(None if body is None else [body])[which]

    def balance(self):
        """KINETIC + INTERNAL - EXTERNAL, which no motion changes."""
        energy = self.domain.energy()
        return energy[Energy.KINETIC] + energy[Energy.INTERNAL] - energy[Energy.EXTERNAL]


# --- friction ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (1, 2, 0)], ids=str)
@pytest.mark.parametrize("ratio", [0.5, 0.98, 1.02, 2.0])
def test_a_block_on_an_incline_slides_below_the_friction_of_its_angle_and_sticks_above(axis, ratio):
    angle = np.radians(25)
    friction = ratio * np.tan(angle)
    scene = Scene(friction=friction, rotation=turn(axis, angle))
    scene.domain.loads.set_gravity((0, 0, -G))  # the plane is inclined, gravity is not
    scene.floor()
    block = scene.box((-0.5, -0.5, 0), (0.5, 0.5, 0.2))
    start = scene.centre(block)
    scene.run(0.3)
    down = scene.rotation.T @ np.array([0, 0, -1.0])
    down[2] = 0
    acceleration = max(0.0, G * (np.sin(angle) - friction * np.cos(angle)))
    assert scene.velocity(block) == pytest.approx(0.3 * acceleration * down / np.linalg.norm(down), abs=ROCKING)
    travel = np.linalg.norm((scene.centre(block) - start)[:2])
    assert travel == pytest.approx(0.5 * acceleration * 0.3**2, rel=5e-3, abs=0.3 * ROCKING)


def test_friction_of_a_sliding_block_costs_mu_n_times_the_distance():
    scene = Scene(friction=0.4)
    scene.floor()
    block = scene.box((-0.5, -0.5, 0), (0.5, 0.5, 0.2), velocity=(1, 0.5, 0))
    kinetic = 0.5 * scene.mass(block) * 1.25
    scene.run(0.2)
    distance = np.linalg.norm(scene.centre(block)[:2])
    assert scene.energy(Energy.FRICTION) == pytest.approx(-0.4 * scene.mass(block) * G * distance, rel=2e-3)
    scene.run(0.2)  # at rest after 0.28
    assert scene.velocity(block) == pytest.approx(np.zeros(3), abs=ROCKING)
    assert scene.energy(Energy.FRICTION, block) == pytest.approx(-kinetic, rel=1e-3)
    assert scene.energy(Energy.FRICTION) == pytest.approx(scene.energy(Energy.FRICTION, block), rel=1e-12)
    assert scene.energy(Energy.EXTERNAL) == pytest.approx(-kinetic, rel=1e-5)


def test_a_belt_drags_a_block_to_its_own_speed():
    scene = Scene(friction=0.5)
    scene.floor(velocity=(2, 0, 0))
    block = scene.box((-0.5, -0.5, 0), (0.5, 0.5, 0.2))
    scene.run(0.2)
    assert scene.velocity(block)[0] == pytest.approx(0.5 * G * 0.2, rel=0.01)
    scene.run(0.4)
    assert scene.velocity(block) == pytest.approx([2, 0, 0], abs=2 * ROCKING)
    # the belt does twice the work that the block gains, the rest is friction
    assert scene.energy(Energy.FRICTION) == pytest.approx(-0.5 * scene.mass(block) * 4, rel=0.01)


@pytest.mark.parametrize("friction, rolls", [(0.3, True), (0.1, False)])
def test_a_ball_rolls_down_an_incline_or_slips_where_friction_is_below_two_sevenths_of_the_slope(friction, rolls):
    angle = np.radians(30)
    scene = Scene(friction=friction, rotation=turn((0, 1, 0), angle))
    scene.domain.loads.set_gravity((0, 0, -G))
    scene.floor()
    ball = scene.ball((0, 0, 0.5), 0.5)
    scene.run(0.3)
    spin = np.linalg.norm(scene.domain.states.velo(ball)[:3])
    if rolls:
        acceleration = 5 / 7 * G * np.sin(angle)
        assert spin * 0.5 == pytest.approx(np.linalg.norm(scene.velocity(ball)), rel=1e-6)
    else:
        acceleration = G * (np.sin(angle) - friction * np.cos(angle))
        assert spin == pytest.approx(2.5 * friction * G * np.cos(angle) * 0.3 / 0.5, rel=5e-3)
    assert np.linalg.norm(scene.velocity(ball)) == pytest.approx(0.3 * acceleration, rel=5e-3)


def test_backspin_turns_a_skidding_ball_round():
    """A ball thrown with v and backspin w ends rolling at (5 v - 2 r w)/7."""
    scene = Scene(friction=0.4, step=5e-4)
    scene.floor()
    ball = scene.ball((0, 0, 0.5), 0.5, velocity=(1, 0, 0), spin=(0, -10, 0))
    scene.run(0.7)
    assert scene.velocity(ball) == pytest.approx([(5 * 1 - 2 * 0.5 * 10) / 7, 0, 0], abs=5e-3)


# --- impacts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restitution", [0.5, 0.8, 1.0])
def test_a_ball_bounces_to_the_square_of_its_restitution(restitution):
    scene = Scene(restitution=restitution, step=1e-4)
    scene.floor()
    ball = scene.ball((0, 0, 0.1 + 0.2), 0.1)
    heights = []
    scene.run(2.2 * np.sqrt(2 * 0.2 / G) * (0.5 + restitution / 2), after=lambda: heights.append(scene.centre(ball)[2] - 0.1))
    impact = int(np.argmin(heights))
    assert impact * 1e-4 == pytest.approx(np.sqrt(2 * 0.2 / G), abs=3e-4)
    assert max(heights[impact:]) == pytest.approx(0.2 * restitution**2, abs=1e-3)
    lost = 0.5 * scene.mass(ball) * 2 * G * 0.2 * (1 - restitution**2)
    assert scene.energy(Energy.CONTACT) == pytest.approx(-lost, abs=2e-3 * scene.mass(ball) * G * 0.2)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", [BodyKind.RIGID, BodyKind.PSEUDO_RIGID])
def test_balls_of_unequal_mass_collide_by_newtons_law(restitution, kind):
    scene = Scene(restitution=restitution, gravity=0.0, step=1e-4)
    one = scene.ball((0, 0, 0), 0.1, velocity=(1, 0, 0))
    two = scene.ball((0.301, 0, 0), 0.2, kind=kind, velocity=(-0.5, 0, 0), young=1e6)
    a, b = scene.mass(one), scene.mass(two)
    scene.run(0.002)
    centre = (a - 0.5 * b) / (a + b)
    if kind == BodyKind.RIGID:
        assert scene.velocity(one)[0] == pytest.approx(centre - restitution * 1.5 * b / (a + b), rel=1e-9)
        assert scene.velocity(two)[0] == pytest.approx(centre + restitution * 1.5 * a / (a + b), rel=1e-9)
        lost = 0.5 * a * b / (a + b) * 1.5**2 * (1 - restitution**2)
        assert scene.energy(Energy.CONTACT) == pytest.approx(-lost, rel=1e-9, abs=1e-12)
        assert scene.energy(Energy.CONTACT, one) == scene.energy(Energy.CONTACT, two) == scene.energy(Energy.CONTACT)
    total = a * scene.velocity(one) + b * scene.velocity(two)
    assert total == pytest.approx([(a + b) * centre, 0, 0], abs=1e-9)
    assert scene.balance() == pytest.approx(0.5 * a + 0.5 * b * 0.25, rel=1e-3)


def test_a_block_dropped_flat_loses_its_energy_to_the_contact():
    scene = Scene(step=1e-3)
    scene.floor()
    block = scene.box((-0.5, -0.5, 0.0005), (0.5, 0.5, 0.5005), velocity=(0, 0, -1))
    kinetic = 0.5 * scene.mass(block)
    scene.run(0.005)
    assert scene.velocity(block) == pytest.approx(np.zeros(3), abs=1e-9)
    assert scene.energy(Energy.CONTACT) == pytest.approx(-kinetic, rel=0.02)
    assert scene.energy(Energy.FRICTION) == pytest.approx(0.0, abs=1e-9)


# --- springs of contacts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [PenaltySolver(), PenaltySolver("EXPLICIT"), TIGHT], ids=["implicit", "explicit", "sweeps"])
def test_a_ball_swings_on_the_spring_of_its_contact_about_its_static_depth(solver):
    stiffness = 1e5
    scene = Scene(step=1e-4)
    materials = scene.domain.surface_materials
    materials.model[0], materials.spring[0] = 1, stiffness
    scene.floor()
    ball = scene.ball((0, 0, 0.1), 0.1)
    depth = scene.mass(ball) * G / stiffness
    period = 2 * np.pi * np.sqrt(scene.mass(ball) / stiffness)
    heights = []
    scene.run(period, solver, after=lambda: heights.append(0.1 - scene.centre(ball)[2]))
    assert np.argmax(heights) * 1e-4 == pytest.approx(period / 2, rel=0.03)
    assert max(heights) == pytest.approx(2 * depth, rel=0.01)
    materials.dashpot[0] = -1  # critical: it comes to rest
    scene.run(2 * period, solver)
    assert 0.1 - scene.centre(ball)[2] == pytest.approx(depth, rel=1e-3)


# --- deformable bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("poisson", [0.0, 0.3])
def test_a_stack_of_soft_cubes_is_compressed_by_the_mean_of_the_weights_above_and_below(poisson):
    young, density = 1e7, 1000.0
    scene = Scene(step=2e-3)
    scene.floor()
    cubes = [
        scene.box((0, 0, k), (1, 1, k + 1), BodyKind.PSEUDO_RIGID, young=young, poisson=poisson, damping=5e-3)
        for k in range(3)
    ]
    scene.run(2.0, GaussSeidelSolver(1e-8, 1000))
    for k, cube in enumerate(cubes):
        stress = -density * G * (3 - k - 0.5)
        gradient = scene.domain.states.conf(cube)[:9].reshape(3, 3)
        assert gradient[2, 2] - 1 == pytest.approx(stress / young, rel=5e-3)
        assert gradient[0, 0] - 1 == pytest.approx(-poisson * stress / young, rel=5e-3, abs=1e-7)
        assert scene.velocity(cube) == pytest.approx(np.zeros(3), abs=1e-6)
    floor = scene.domain.constraints.R[2, : scene.domain.constraints.n].max()
    assert floor == pytest.approx(3 * density * G, rel=1e-5)


def test_a_pseudo_rigid_body_that_flies_freely_keeps_its_momenta_and_its_energy():
    scene = Scene(gravity=0.0, step=1e-4)
    body = scene.box((0, 0, 0), (1, 2, 0.5), BodyKind.PSEUDO_RIGID, velocity=(1, 2, 3), spin=(3, -1, 2), young=1e7)
    euler = scene.domain.bodies.tensor[:, :, 0]
    stretch = np.diag([1.01, 0.99, 1.0])
    scene.domain.states.set_conf(body, [*stretch.ravel(), *scene.centre(body)])
    scene.domain.initialise()

    def spin():
        gradient, rate = scene.domain.states.conf(body)[:9].reshape(3, 3), scene.domain.states.velo(body)[:9].reshape(3, 3)
        moment = gradient @ euler @ rate.T
        return np.array([moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2], moment[0, 1] - moment[1, 0]])

    start, place, energy = spin(), scene.centre(body), scene.balance()
    assert scene.energy(Energy.INTERNAL) > 0
    scene.run(0.2)
    assert spin() == pytest.approx(start, rel=1e-10)
    assert scene.centre(body) == pytest.approx(place + 0.2 * np.array([1, 2, 3]), rel=1e-12)
    assert scene.balance() == pytest.approx(energy, rel=1e-3)
    assert scene.energy(Energy.EXTERNAL) == pytest.approx(0.0, abs=1e-9)


# --- joints ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [BodyKind.RIGID, BodyKind.PSEUDO_RIGID])
def test_a_dumbbell_spins_about_its_mass_centre_and_pulls_its_link_by_the_centripetal_force(kind):
    scene = Scene(gravity=0.0, step=1e-3)
    one = scene.ball((0, 0, 0), 0.1, kind=kind, velocity=(0, 2, 0), young=1e7)
    two = scene.ball((1.5, 0, 0), 0.2, kind=kind, velocity=(0, -0.25, 0), young=1e7)
    link = scene.domain.joints.rigid_link(one, two, (0, 0, 0), (1.5, 0, 0))
    a, b = scene.mass(one), scene.mass(two)  # 1 : 8, so the velocities are those of a spin about the mass centre
    scene.run(0.5)
    between = scene.centre(two) - scene.centre(one)
    assert np.linalg.norm(between) == pytest.approx(1.5, rel=1e-9)
    assert np.arctan2(between[1], between[0]) == pytest.approx(-2.25 / 1.5 * scene.domain.time, rel=1e-5)
    assert a * scene.velocity(one) + b * scene.velocity(two) == pytest.approx(np.zeros(3), abs=1e-10 * a)
    table = scene.domain.constraints
    assert table.R[2, table.row_of(link)] == pytest.approx(-a * 2**2 / (1.5 * b / (a + b)), rel=1e-4)
    assert scene.balance() == pytest.approx(0.5 * a * 4 + 0.5 * b / 16, rel=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_a_compound_pendulum_has_its_period_and_keeps_its_energy(scheme):
    scene = Scene(step=1e-3)
    bar = scene.box((-0.05, -0.05, -1), (0.05, 0.05, 0))
    scene.domain.bodies.scheme[0] = scheme
    # hung in two points of one axis, and turned about it by 0.1
    tilt = turn((0, 1, 0), 0.1)
    scene.domain.states.set_conf(bar, [*tilt.T.ravel(), *(tilt @ [0, 0, -0.5])])
    for y in (-0.05, 0.05):
        scene.domain.joints.fix_point(bar, (0, y, 0))
    angles, levels = [], []

    def sample():
        rotation = scene.domain.states.conf(bar)[:9].reshape(3, 3).T
        angles.append(np.arctan2(rotation[0, 2], rotation[2, 2]))
        levels.append(scene.energy(Energy.KINETIC) + scene.mass(bar) * G * scene.centre(bar)[2])

    inertia = (0.1**2 + 1) / 12 + 0.5**2  # per mass, about the axis
    period = 2 * np.pi * np.sqrt(inertia / (0.5 * G)) * (1 + 0.1**2 / 16)
    scene.run(1.25 * period, GaussSeidelSolver(1e-10, 2000), sample)
    crossing = np.flatnonzero(np.diff(np.sign(angles)))[:3] + 1
    assert (crossing[2] - crossing[0]) * 1e-3 == pytest.approx(period, abs=3e-3)
    fall = scene.mass(bar) * G * 0.5 * (1 - np.cos(0.1))
    assert np.ptp(levels) < 5e-3 * fall


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_a_fast_top_with_a_horizontal_axis_precesses_by_the_ratio_of_moment_and_spin(scheme):
    scene = Scene(step=5e-4)
    top = scene.ball((0.5, 0, 0), 0.1)
    mass, spin = scene.mass(top), 200.0
    scene.domain.states.set_characteristics(top, mass, 1.0, (0.5, 0, 0), mass * np.diag([0.02, 0.015, 0.015]))
    scene.domain.bodies.scheme[0] = scheme
    precession = G * 0.5 / (0.02 * spin)  # about z, exact for a horizontal axis
    scene.domain.states.set_velocity(top, (0, 0.5 * precession, 0), (spin, 0, precession))
    scene.domain.joints.fix_point(top, (0, 0, 0))
    scene.run(0.5, GaussSeidelSolver(1e-10, 2000))
    place = scene.centre(top)
    assert np.arctan2(place[1], place[0]) == pytest.approx(0.5 * precession, rel=0.01)
    assert np.linalg.norm(place) == pytest.approx(0.5, rel=1e-3)
    assert place[2] == pytest.approx(0.0, abs=5e-3)


# --- models as a whole -------------------------------------------------------------------------------------


def tumble(rotation=None, origin=(0, 0, 0), duration=0.35):
    """Blocks, a soft block and a ball that fall onto each other and slide; their places and energies at the end."""
    scene = Scene(step=1e-3, friction=0.3, restitution=0.2, rotation=rotation, origin=origin)
    scene.floor()
    bodies = [
        scene.box((0, 0, 0.02), (1, 1, 0.52), velocity=(0.5, 0, 0)),
        scene.box((0.3, 0.1, 0.55), (1.2, 0.9, 0.95), BodyKind.PSEUDO_RIGID, young=1e6, velocity=(0, 0.3, 0)),
        scene.ball((0.6, 0.4, 1.4), 0.3, spin=(1, 2, 3)),
        scene.box((2.6, 0.1, 0.1), (3, 0.6, 0.5), velocity=(-3, 0.2, 0), spin=(0, 0, 1)),
    ]
    scene.run(duration, GaussSeidelSolver(1e-11, 20000))
    assert scene.domain.constraints.n >= 3
    return np.array([scene.centre(body) for body in bodies]), scene.domain.energy(), scene


@pytest.mark.parametrize(
    "rotation, origin",
    [
        (turn((0, 0, 1), np.pi / 2), (0, 0, 0)),
        (turn((1, 0, 0), np.pi / 2), (0, 0, 0)),
        (turn((0, 1, 0), -np.pi / 2), (0, 0, 0)),
        (turn((1, 2, -0.5), 1.1), (300, -200, 100)),
    ],
    ids=["about z", "z to -y", "z to -x", "any"],
)
def test_a_scene_that_is_turned_and_moved_with_its_gravity_goes_through_the_same_motion(rotation, origin):
    places, energies, _ = tumble()
    moved, energies_moved, _ = tumble(rotation, origin)
    assert moved == pytest.approx(places, abs=2e-6)
    assert energies_moved == pytest.approx(energies, rel=1e-4, abs=1e-4 * np.abs(energies).max())


def test_energies_of_a_scene_balance():
    _, energies, scene = tumble()
    start = sum(0.5 * scene.mass(body) * v for body, v in ((2, 0.25), (3, 0.09), (5, 9.04)))
    start += 0.5 * 0.4 * scene.mass(4) * 0.3**2 * 14 + 0.5 * scene.mass(5) * (0.4**2 + 0.5**2) / 12
    # INTERNAL is stored in the body, not summed up, and rotations are integrated to second order
    assert scene.balance() == pytest.approx(start, rel=5e-3)
    assert energies[Energy.CONTACT] < 0 and energies[Energy.FRICTION] < 0


# --- stresses and relative velocities ----------------------------------------------------------------------


@pytest.mark.parametrize("form", [None, Form.TL, Form.BC])
def test_the_stress_of_a_stretched_block_turns_with_it(form):
    """A stretch by 1.01 along x, then a quarter turn about z: S = 4E8 (3, 1, 1) times 0.01005, sigma = F S F^T / J."""
    domain = Domain(1e-4)
    nodes = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float)
    kind = BodyKind.FINITE_ELEMENT if form else BodyKind.PSEUDO_RIGID
    body = domain.insert_body(kind, [hex_mesh(nodes.tolist(), 1, 1, 1, 1, [1] * 6)], BulkMaterial(), form=form or Form.NONE)
    gradient = turn((0, 0, 1), np.pi / 2) @ np.diag([1.01, 1.0, 1.0])
    conf = domain.bodies.configurations.conf[:, domain.bodies.conf_slice(0)]
    if form:
        mesh = domain.bodies.meshes[body].nodes
        conf[:] = (mesh @ gradient.T - mesh).T
    else:
        conf[:, :3] = gradient.T  # rows
    small, large = 4.02e6 / 1.01, 1.206e7 * 1.01
    expected = small, large, small, 0, 0, 0, large - small
    assert domain.points.stress(body, (0.3, 0.6, 0.2)) == pytest.approx(expected, rel=1e-9, abs=1e-2)


@pytest.mark.parametrize("below", ["obstacle is master", "obstacle is slave"])
def test_the_speed_of_an_obstacle_is_in_the_relative_velocity_of_its_contacts(below):
    """The master's velocity less the slave's, whichever of them the obstacle is; without friction it slides on below a block at rest."""
    scene = Scene()
    makers = [lambda: scene.floor(velocity=(1, 0, 0)), lambda: scene.box((0, 0, 0), (1, 1, 1))]
    bodies = [make() for make in (makers if below == "obstacle is master" else makers[::-1])]
    floor = scene.row(bodies[0 if below == "obstacle is master" else 1])
    scene.run(3e-3)
    table = scene.domain.constraints
    assert table.contact_count
    for k in range(table.n):
        sign = 1.0 if table.master[k] == floor else -1.0
        assert table.base[:, :, k] @ table.V[:, k] == pytest.approx((sign, 0.0, 0.0), abs=1e-9)
    assert len(set(table.view("master"))) == 1
    assert scene.domain.bodies.configurations.conf[0, scene.domain.bodies.conf_ptr[floor] + 3] == pytest.approx(3e-3, abs=1e-12)
