"""Work that a step leaves out when its results are not read must not change other results."""

import numpy as np
import pytest

from solfec import _kernels
from solfec.parmec import ANALYTICAL, DEM, HISTORY, RESET, RESTRAIN, SPRING, VELOCITY
from solfec.parmec.kinds import LinkKind
from solfec.parmec.model import current

pytestmark = pytest.mark.usefixtures("without_files")

COUNT = 21  # particles: two batches of eight and some


def chain():
    """Particles in a row on springs off their mass centres, of all kinds, the last one held by the ground."""
    made = [ANALYTICAL([0.1, 0.2, 0.3, 0, 0, 0], 1.0 + 0.1 * i, position=(i, 0, 0)) for i in range(COUNT)]
    kinds = {}, {"direction": (1, 0, 0)}, {"direction": (0, 0, 1), "planar": "ON"}, {"friction": 0.2}
    for i in made:
        second = (i + 1, 0.2, 0.1)
        geometry = [second, (1, 0, 0)] if i % 5 == 4 else second
        table = [-1, -50, 0, 0, 1, 80] if i % 3 else [-1, -60, -0.01, 0, 0.01, 0, 1, 60]
        other = {} if i % 5 == 4 else kinds[i % 5]
        SPRING(i, (i, 0.2, -0.1), i + 1 if i + 1 < COUNT else -1, geometry, table, dashpot=0.1 if i % 2 else [-1, -0.5, 1, 0.5], **other)
        VELOCITY(i, (0.1 * np.sin(i), 0.05, 0.1 * np.cos(3 * i)), (0.3, 0.1 * i, -0.2))
    return made


def motion():
    """Positions, rotations and velocities."""
    table = current().particles
    return np.concatenate([table.view(name)[..., :COUNT].reshape(-1, COUNT) for name in ("position", "rotation", "velocity", "angular", "force", "torque")])


def test_histories_of_springs_are_the_same_however_rare_they_are():
    found = {}
    for every in (1, 7):
        RESET()
        chain()
        recorded = [HISTORY("TIME")] + [HISTORY(what, i) for i in (3, 8, 20) for what in ("STROKE", "LENGTH", "F", "SF", "FF")]
        DEM(0.07, 2.0**-10, (0.07, every * 2.0**-10))
        found[every] = np.array(recorded)
    places = np.searchsorted(found[1][0], found[7][0])
    assert len(places) > 5
    assert np.ptp(found[7][1]) > 0
    np.testing.assert_array_equal(found[1][:, places], found[7])


def test_springs_show_the_last_step_of_a_run():
    found = []
    for interval in (2.0**-10, 1.0):
        RESET()
        chain()
        DEM(37 * 2.0**-10, 2.0**-10, interval)
        found.append(np.stack([current().links.view(name) for name in ("stroke", "length", "total", "elastic", "friction")]))
    assert np.abs(found[0]).max(axis=1).all()
    np.testing.assert_array_equal(*found)


def test_particles_move_with_the_same_bits_where_another_one_is_restrained():
    """A restraint parts the sum of forces from the motion."""
    found = []
    for restrained in (False, True):
        RESET()
        chain()
        far = ANALYTICAL([1, 1, 1, 0, 0, 0], 1.0, position=(0, 90, 0))
        if restrained:
            RESTRAIN(far, [1, 0, 0])
        DEM(0.05, 2.0**-10)
        found.append(motion())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("shuffled", [False, True], ids=["springs by particle", "springs in any order"])
def test_springs_and_particles_in_one_pass_have_the_bits_of_two_passes_and_of_any_number_of_threads(shuffled):
    """More particles than one thread takes alone; springs reach across the ranges of threads."""
    count, found = 1300, []
    pairs = [(i, i + step) for i in range(count) for step in (1, 37) if i + step < count]
    order = np.random.default_rng(4).permutation(len(pairs)) if shuffled else range(len(pairs))
    before = _kernels.threads.get_threads()
    try:
        for restrained, threads in ((True, 1), (False, 1), (False, 2), (False, 3), (False, 5)):
            RESET()
            for i in range(count):
                ANALYTICAL([0.1, 0.2, 0.3, 0, 0, 0], 1.0 + 0.1 * (i % 7), position=(i % 37, i // 37, 0))
                VELOCITY(i, (0.1 * np.sin(i), 0.05, 0.1 * np.cos(3 * i)), (0.3, 0.01 * (i % 11), -0.2))
            for k in order:
                one, two = pairs[k]
                places = [(i % 37 + 0.1, i // 37, 0.2) for i in (one, two)]
                SPRING(one, places[0], two, places[1], [-1, -50, 0, 0, 1, 80], dashpot=[-1, -0.5, 1, 0.5], friction=0.1 if two % 5 == 0 else 0)
            far = ANALYTICAL([1, 1, 1, 0, 0, 0], 1.0, position=(0, 900, 0))
            if restrained:
                RESTRAIN(far, [1, 0, 0])
            _kernels.threads.set_threads(threads)
            DEM(0.02, 2.0**-10, 1.0)
            p, links = current().particles, current().links
            found.append([p.view("position").copy(), p.view("velocity").copy(), p.view("spin").copy(), links.view("force").copy()])
    finally:
        _kernels.threads.set_threads(before)
    assert np.abs(found[0][3]).max() > 0.1
    for other in found[1:]:
        for one, two in zip(found[0], other):
            np.testing.assert_array_equal(one, two)


def test_torques_are_those_of_the_springs_forces():
    chain()
    DEM(0.02, 2.0**-10)
    model = current()
    before = {name: model.particles.view(name).copy() for name in ("position", "rotation")}
    DEM(2.0**-10, 2.0**-10)
    links, expected = model.links, np.zeros((2, 3, COUNT))
    planes = 0
    for s in range(links.n):
        for side, sense in ((0, 1.0), (1, -1.0)):
            p = links.particle[side, s]
            if p >= 0:
                force, turn = sense * links.force[:, s], before["rotation"][:, :, p]
                arm = turn @ links.arm[:, side, s]
                if side == 1 and links.kind[s] == LinkKind.PLANE:  # the first point's foot on the plane
                    one, normal = links.particle[0, s], turn @ links.direction[:, s]
                    first = before["position"][:, one] + before["rotation"][:, :, one] @ links.arm[:, 0, s] - before["position"][:, p]
                    arm, planes = first - normal * (normal @ (first - arm)), planes + 1
                expected[0, :, p] += force
                expected[1, :, p] += np.cross(arm, force)
    assert planes
    assert model.particles.view("force") == pytest.approx(expected[0], abs=1e-12)
    assert np.abs(expected[1]).max() > 0.1
    assert model.particles.view("torque") == pytest.approx(expected[1], abs=1e-12)
