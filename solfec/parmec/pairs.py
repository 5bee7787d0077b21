"""Pairs of spheres, and of spheres and triangles, that may touch before one of them has moved by half of a margin."""

from __future__ import annotations

import numpy as np

from .granular import default_pairing
from .kinds import ParticleKind
from .model import Model

MARGIN = 0.25  # over the mean radius: larger margins mean more pairs, and fewer searches


def search(model: Model) -> None:
    """List the pairs again; contacts keep their state."""
    default_pairing(model)
    particles = np.flatnonzero(model.particles.view("kind") == ParticleKind.SPHERE)
    model.spheres.n = 0
    model.spheres.append(particles.size, particle=particles, searched=model.particles.position[:, particles])
    model.triangles.view("searched")[:] = model.triangles.view("corner")
    model.obstacles.view("moved")[:] = 0.0
    radius = model.particles.radius[particles]
    model.control.margin[0] = margin = MARGIN * radius.mean() if particles.size else 0.0
    centres = model.particles.position[:, particles].T
    one, two = near_spheres(centres, radius, margin)
    sphere, triangle = near_triangles(model, centres, radius, margin)
    pair = np.concatenate((np.array([particles[one], particles[two]]), np.array([particles[sphere], -1 - triangle])), axis=1)
    pair = pair[:, np.lexsort((pair[1], pair[0]))]
    list_pairs(model, pair.astype(np.int32))


def near_spheres(centres: np.ndarray, radius: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of spheres closer than the margin, the lower number first; sizes that differ by more than a factor of two are searched separately."""
    nothing = np.zeros(0, np.int64)
    if radius.size < 2:
        return nothing, nothing
    from scipy.spatial import cKDTree  # which few inputs need

    classes = np.floor(np.log2(radius / radius.min())).astype(int)
    groups = [np.flatnonzero(classes == c) for c in np.unique(classes)]
    trees = [cKDTree(centres[group]) for group in groups]
    found = []
    for i, (own, tree) in enumerate(zip(groups, trees)):
        near = tree.query_pairs(2 * radius[own].max() + margin, output_type="ndarray")
        found.append(np.array([own[near[:, 0]], own[near[:, 1]]]))
        for other, larger in zip(groups[i + 1 :], trees[i + 1 :]):
            reach = radius[own].max() + radius[other].max() + margin
            near = tree.sparse_distance_matrix(larger, reach, output_type="ndarray")
            found.append(np.array([own[near["i"]], other[near["j"]]]))
    one, two = np.concatenate(found, axis=1)
    distance = np.linalg.norm(centres[one] - centres[two], axis=1)
    kept = distance <= radius[one] + radius[two] + margin
    return np.minimum(one, two)[kept], np.maximum(one, two)[kept]


def near_triangles(model: Model, centres: np.ndarray, radius: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of spheres and triangles whose boxes and planes are closer than the margin."""
    nothing = np.zeros(0, np.int64)
    if not model.triangles.n or not radius.size:
        return nothing, nothing
    from scipy.spatial import cKDTree  # which few inputs need

    corners = model.triangles.view("corner").transpose(2, 1, 0)
    low, high = corners.min(axis=1), corners.max(axis=1)
    reach = np.linalg.norm(high - low, axis=1) / 2 + radius.max() + margin
    lists = cKDTree(centres).query_ball_point((low + high) / 2, reach)
    triangle = np.repeat(np.arange(len(lists)), [len(item) for item in lists])
    sphere = np.concatenate([np.array(item, np.int64) for item in lists]) if triangle.size else nothing
    size = (radius[sphere] + margin)[:, None]
    kept = ((centres[sphere] + size >= low[triangle]) & (centres[sphere] - size <= high[triangle])).all(axis=1)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    height = np.abs(((centres[sphere] - corners[triangle, 0]) * normal[triangle]).sum(axis=1))
    kept &= height <= size[:, 0]
    return sphere[kept], triangle[kept]


def list_pairs(model: Model, pair: np.ndarray) -> None:
    """Write sorted pairs (2, n) into the table; pairs that were listed before keep their state."""
    contacts = model.contacts
    key = pair[0].astype(np.int64) * 2**32 + pair[1]
    known = contacts.view("pair")[0].astype(np.int64) * 2**32 + contacts.view("pair")[1]
    state = {name: contacts.view(name).copy() for name in ("alive", "slip", "depth", "normal", "point", "normal_force", "tangential", "force")}
    contacts.n = 0
    contacts.append(key.size, pair=pair, pairing=pairings_of(model, pair))
    place = np.searchsorted(known, key)
    place[place == known.size] = 0
    again = np.flatnonzero(known[place] == key) if known.size else np.zeros(0, int)
    for name, values in state.items():
        getattr(contacts, name)[..., again] = values[..., place[again]]
    sort_ends(model)


def pairings_of(model: Model, pair: np.ndarray) -> np.ndarray:
    """Return rows of the laws of pairs (2, n)."""
    inner = pair[1] >= 0
    second = np.where(inner, model.particles.colour[np.where(inner, pair[1], 0)], model.triangles.colour[np.where(inner, 0, -1 - pair[1])])
    first = model.particles.colour[pair[0]]
    colours = np.sort(np.array([first, second]), axis=0)
    known = model.pairings.view("colour")
    rows = np.full(pair.shape[1], int(np.flatnonzero((known == 0).all(axis=0))[0]), np.int32)
    for row in range(model.pairings.n):
        rows[(colours == known[:, row : row + 1]).all(axis=0)] = row
    return rows


def sort_ends(model: Model) -> None:
    """List the ends of pairs by particle, in the order of pairs."""
    particle = model.contacts.view("pair").T.ravel()
    moving = np.flatnonzero(particle >= 0)
    order = moving[np.argsort(particle[moving], kind="stable")]
    model.contact_ends.n = 0
    model.contact_ends.append(order.size, contact=order // 2, side=order % 2 + 1)
    count = np.bincount(particle[moving], minlength=model.particles.n)
    model.particles.view("contacts")[:] = count
    model.particles.view("first_contact")[:] = np.cumsum(count) - count
