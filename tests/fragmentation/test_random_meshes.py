"""Bodies of random meshes that random planes crack: whole surfaces, volumes, momenta, no flat elements, and a step after it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_conservation import assert_kept, model, set_state, sums
from test_plane_cut import PARTS, block, check_elements, euler_number

import solfec as s
from solfec import fragments
from solfec.shapes.mesh import Mesh


def random_mesh(kind, counts, seed):
    """A block under a random linear map; nodes of tetrahedra, whose faces stay plane, also move by up to a seventh of a cell, each on its own."""
    random = np.random.default_rng(seed)
    mesh = block(kind, counts)
    nodes = mesh.nodes + (random.uniform(-1, 1, mesh.nodes.shape) / (7 * np.array(counts)) if kind == "tetrahedra" else 0.0)
    stretch = np.eye(3) + 0.3 * random.uniform(-1, 1, (3, 3))
    return Mesh(nodes @ stretch.T * random.uniform(0.3, 3.0), mesh.topology, mesh.volume_ids)


def state_of(domain):
    """What an error must not change: bodies, cracks, places and velocities."""
    bodies = domain.bodies
    return bodies.id[: bodies.n].tolist(), dict(domain.cracks.of_body), bodies.configurations.view("conf").tobytes(), bodies.triples.view("velo").tobytes()


@pytest.mark.slow
@pytest.mark.timeout(3000)
@settings(max_examples=200, deadline=None)
@given(
    kind=st.sampled_from([*PARTS, "pyramids"]),
    counts=st.tuples(*[st.integers(1, 4)] * 3),
    seed=st.integers(0, 10**6),
    place=st.tuples(*[st.floats(-0.1, 1.1)] * 3),
    normal=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda n: np.linalg.norm(n) > 0.1),
)
def test_random_meshes_crack_along_random_planes(kind, counts, seed, place, normal):
    solfec, material = model()
    mesh = random_mesh(kind, counts, seed)
    lists = [mesh.topology.nodes_of(element) for element in range(mesh.topology.element_count)]
    shape = s.MESH(mesh.nodes.ravel().tolist(), [x for nodes in lists for x in (len(nodes), *nodes, 1)], 3)
    body = s.BODY(solfec, "FINITE_ELEMENT", shape, material, label="b")
    low, high = mesh.nodes.min(0), mesh.nodes.max(0)
    point = low + np.array(place) * (high - low)
    heights = (mesh.nodes - point) @ np.array(normal) / np.linalg.norm(normal)
    domain = body._simulation.domain
    set_state(solfec, body, stretch=0.3, roughness=1e-3, seed=seed)
    before, volume, unchanged = sums(domain, [body.id]), body.volume, state_of(domain)
    try:
        s.SIMPLIFIED_CRACK(body, tuple(point), tuple(normal), (7, 8), "TENSILE", ft=0.0)
    except ValueError as error:
        assert "misses the shape of" in str(error) and state_of(domain) == unchanged
        longest = max(np.ptp(heights[nodes]) for nodes in lists)
        assert min(heights.max(), -heights.min()) < 0.2 * longest  # what lies beyond the plane is less than nodes may be off the cut
        return
    fragments.open_cracks(domain)
    pieces = body.fragments
    assert len(pieces) >= 2
    meshes = [domain.meshes_of(piece.id)[0] for piece in pieces]
    assert sum(map(check_elements, meshes)) == pytest.approx(volume, rel=1e-9)
    assert sum(piece.volume for piece in pieces) == pytest.approx(volume, rel=1e-9)
    assert [euler_number(piece) for piece in meshes] == [2] * len(meshes)
    assert_kept(before, sums(domain, [piece.id for piece in pieces]), ("mass", "linear", "angular"), 1e-9)
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-3, 50), solfec.step)
    assert domain.bodies.n == len(pieces) and np.isfinite(domain.bodies.configurations.view("conf")).all()
