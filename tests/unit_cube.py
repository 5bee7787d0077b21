"""The unit cube, of which tests make bodies: its corners, and meshes of boxes."""

import numpy as np

from solfec.results import ResultsReader, ResultsWriter
from solfec.shapes.hex_mesh import hex_mesh

CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]  # for HEX and HULL
BOX = np.array(CUBE, float).reshape(8, 3)


def block(size=(1.0, 1.0, 1.0), cells=(1, 1, 1), low=(0.0, 0.0, 0.0)):
    """A box of hexahedra."""
    return hex_mesh((BOX * np.asarray(size) + np.asarray(low)).tolist(), *cells, 1, [1] * 6)


def cube(low, size=1.0, cells=2):
    """A cube of hexahedra."""
    return hex_mesh((BOX * size + low).tolist(), cells, cells, cells, 1, [1] * 6)


def state_of(domain):
    """Configurations, velocities and energies of all bodies."""
    bodies = domain.bodies
    return bodies.configurations.view("conf").copy(), bodies.triples.view("velo").copy(), bodies.view("energy").copy()


def assert_goes_on(directory, domain, again, run):
    """A domain that takes over a frame after 20 steps has equal bits ten steps later; `run(domain, steps)` makes steps."""
    run(domain, 20)
    with ResultsWriter.create(str(directory / "run")) as writer:
        writer.write_frame(domain)
    run(domain, 10)
    with ResultsReader(directory / "run") as reader:
        reader.load(again, 0)
    run(again, 10)
    for one, other in zip(state_of(domain), state_of(again)):
        assert np.array_equal(one, other)
