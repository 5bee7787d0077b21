"""Detection as a phase of a time step: shapes follow the bodies, known contacts the shapes, and new contacts are found.

Known contacts keep their roles and the local components of R and U; those between bodies that have not moved stay as they
are, those that opened are removed.  New ones stand in the order of their keys, without reactions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..kernel_programs import CONDET, CONUPD, PHASES, TIMINT, Call, Numbers, Pause, Phase, Program, remembered
from . import narrow
from .current_faces import current_faces, edge_columns, split_columns
from .detection import search, shape_columns, sparsify_symmetrically
from .workspace import LONGEST_PAUSE, SHORT_LIFE, SKIN, Workspace, workspace_of

MANIFOLD_POINTS = 2  # of `patched`
FOLLOW, JOIN, FIND = 1, 2, 3  # stages of the kernel `detect`
DONE, SEARCH, RESULTS = 0, 1, 2  # its outcomes; another one: rows are lacking

_deepest_row = _kernels.contacts.deepest_row


def _results() -> Numbers:
    """Scalars that the kernel `detect` returns, besides `left`."""
    names = ("outcome", "stopping", "searching", "stage", "needed", "count", "start", "found", "guesses", "removed", "cohesive", "error", "error_row")
    return Numbers(**dict.fromkeys(names, "i4"), flags="i8")


class Detection(Phase):
    """Detection in a model.

    Parameters
    ----------
    model
        Has `constraints`, `geometry`, `bodies`, `surface_materials`, `settings`, `epsilon`, and `clock`, which stands at the
        start of the step.
    places : optional
        Of a model with finite elements: ``places.settle()`` as of phases, ``places.call(only_held, rows, unless_zero)`` makes the
        kernel's call that keeps cohesive contacts where they are in elements, ``places.fail()`` raises what it says.
    notice : callable, optional
        Called when there are new contacts whose normal is a guess.

    Attributes
    ----------
    removed : int
        Number of contacts that were found in the last step and removed again by sparsification.
    """

    phase = CONDET
    removed = remembered("_found", "removed")

    def __init__(self, model, places=None, notice: Callable[[], None] | None = None):
        self.model, self.places, self.notice = model, places, notice
        counts = ("vertices", "primitives", "bodies", "users", "patched", "speculative", "symmetric", "materials", "excluded")
        lengths = ("epsilon", "margin", "threshold", "area", "distance", "depth")
        self._given = Numbers(**dict.fromkeys(counts, "i4"), **dict.fromkeys(lengths, "f8"))
        self._follow = Numbers(stage="i4", looked="i4", start="i4")
        self._sorted = Numbers(sorted="i8")
        self._step = Numbers(step="f8")
        self._followed, self._found, self._depth = _results(), _results(), Numbers(row="i4")
        self._searched_again = Numbers(lacking="i4")
        self._between = Numbers(left="i4")
        self._alone = Program([self], np.zeros(len(PHASES)))

    # --- before --------------------------------------------------------------------------------------------

    def settle(self) -> None:
        model = self.model
        constraints, geometry, bodies, settings = model.constraints, model.geometry, model.bodies, model.settings
        work = self.work = workspace_of(geometry, bodies, constraints)
        settings.suit(geometry)
        current_faces(geometry)
        options = *settings.margins, settings.patch, settings.manifold, settings.speculative
        if work.options != options:
            work.options = options
            constraints.view("evaluated")[:] = -1
        primitives = geometry.primitives.n
        work.shape(geometry.version, model.epsilon)
        self._searched = (geometry.version, primitives, settings.margins)
        if not (self._searched == work.pairs_state and settings.excludes_as(work.excluded)):
            work.fresh = -1
        self._sorted.set(work.still.sorted)
        self._given.set(
            geometry.vertices.n, primitives, bodies.n, constraints.user_count,
            MANIFOLD_POINTS if settings.manifold else settings.patch, settings.speculative, settings.symmetric,
            model.surface_materials.n, settings.excluded_surfaces.shape[1], model.epsilon, settings.margin,
            settings.threshold, settings.min_area, settings.min_distance, settings.depth,
        )  # fmt: skip
        if settings.follows_speed and model.dynamic:
            self._step.set(model.step)
        if self.places is not None:
            self.places.settle()

    @property
    def removed_count(self) -> np.ndarray:
        """`removed` in memory."""
        return self._found["removed"]

    # --- kernels -------------------------------------------------------------------------------------------

    def calls(self) -> list[Call]:
        model, given = self.model, self._given
        geometry, faces, bodies, work = model.geometry, current_faces(model.geometry), model.bodies, self.work
        begins = Call("detection_counts.begin_detection", given["users"], FOLLOW, work.numbers["updates"], results=self._follow, phase=TIMINT)
        moves = Call(
            "update_geometry.update_shapes", given["vertices"], given["primitives"], given["bodies"], given["epsilon"],
            work.numbers["afresh"], work.numbers["updates"], *shape_columns(geometry, faces, bodies, work), phase=TIMINT,
        )  # fmt: skip
        calls = {"begin": [begins], "move": [moves]}
        if faces.deforming.size:
            calls["split"] = [
                Call("warped_faces.split_faces", *split_columns(geometry, faces), phase=TIMINT),
                Call("shape_edges.list_edges", *edge_columns(geometry, faces), phase=TIMINT),
            ]
        if model.settings.follows_speed and model.dynamic:
            calls["predict"] = [self._predict_motion()]
        known, followed, between, rows = self._follow, self._followed, self._between, model.constraints.counts
        calls["follow"] = [self._detect(known["stage"], JOIN, known["looked"], known["start"], rows["rows"], followed, between)]
        if self.places is not None:
            calls["held"] = [self.places.call(True, between["left"], work.numbers["cohesive"])]
        calls["find"] = [self._detect(FIND, FIND, followed["count"], followed["start"], between["left"], self._found, rows)]
        if not model.settings.excluded_parts.size:
            calls["search"] = [self._search()]
        calls["finish"] = [self._finish()]
        if self.notice is not None:
            calls["notice"] = [Pause(self._found["guesses"])]
        if model.settings.depth < inf and not model.settings.symmetric:
            calls["deepest"] = [self._deepest()]
        self._order = [name for name, made in calls.items() for _ in made]
        return [call for made in calls.values() for call in made]

    def _detect(self, first, last, looked, start, rows, results: Numbers, left: Numbers) -> Call:
        """Stages `first` to `last` of the kernel."""
        model, given, kept, clock = self.model, self._given, self.work.numbers, self.model.clock
        settings = model.settings
        limits = (0.0, 0.0, 0.0) if settings.symmetric else (given["threshold"], given["area"], given["distance"])
        return Call(
            "contact_phases.detect", first, last, looked, start, kept["fresh"],
            kept["flags"], kept["searched"], self._sorted["sorted"], given["primitives"], given["bodies"], kept["pairs"],
            given["users"], rows, given["epsilon"], given["margin"], clock["time"], clock["step_number"], kept["updates"],
            given["patched"], given["speculative"], given["materials"], *limits, model.constraints.counts["next_id"], given["excluded"], settings.excluded_surfaces,
            *_columns(model, self.work), results=(results, left), wanted={self._stop(last): 0, "error": 0},
            phase=CONDET if last == FIND else CONUPD,
        )  # fmt: skip

    def _stop(self, last: int) -> str:
        """The result that is not 0 where Python has to help."""
        return "stopping" if last == FIND and not self.model.settings.excluded_parts.size else "outcome"

    def _predict_motion(self) -> Call:
        """Ways of primitives within the step."""
        geometry, bodies = self.model.geometry, self.model.bodies
        primitives, vertices = geometry.primitives, geometry.vertices
        return Call(
            "primitive_motion.predict_motion", bodies.handles, self._step["step"], self._given["primitives"], primitives.margin,
            primitives.box, primitives.body, primitives.vertex_ptr, primitives.vertex_count, geometry.vertex_lists.vertex,
            vertices.node, primitives.reach, primitives.drift, phase=TIMINT,
        )  # fmt: skip

    def _search(self) -> Call:
        """A search for pairs, from which the program goes back to find contacts among them."""
        model, given, work = self.model, self._given, self.work
        geometry, bodies, excluded, still = model.geometry, model.bodies, model.settings.excluded_bodies, work.still
        primitives = geometry.primitives
        return Call(
            "broad_phase.search_again", given["primitives"], given["bodies"], primitives.reach, work.numbers["updates"],
            self._sorted["sorted"], SKIN, SHORT_LIFE, LONGEST_PAUSE, work.choice, still.bodies, work.moved, primitives.box, still.movable,
            still.grid, still.bounds, still.numbers, still.cells, work.fat, primitives.kind,
            primitives.outer_count, primitives.body, primitives.adjacent_ptr, primitives.adjacent_count,
            geometry.adjacency.primitive, bodies.kind, bodies.id, bodies.selfcontact, excluded.shape[1], excluded, work.low,
            work.high, work.apart, work.bounds, work.box_numbers, work.rows, work.records, work.cells, work.keys,
            results=(work.numbers, self._searched_again), wanted={"lacking": 0}, unless_zero=self._found["searching"], back=1,
        )  # fmt: skip

    def _finish(self) -> Call:
        counts, found, given, kept = self.model.constraints.counts, self._found, self._given, self.work.numbers
        return Call(
            "detection_counts.finish_detection", found["start"], counts["left"], found["removed"], found["cohesive"],
            found["count"], found["found"], given["patched"], given["symmetric"], counts["rows"], counts["next_id"],
            self.model.constraints.evaluated, kept["fresh"], kept["afresh"], kept["cohesive"], kept["known"], kept["found"],
        )  # fmt: skip

    def _deepest(self) -> Call:
        constraints, given = self.model.constraints, self._given
        return Call(
            "contacts.deepest_row", given["users"], constraints.counts["left"], given["depth"], self.model.clock["step_number"],
            constraints.gap, constraints.cohesion, constraints.birth, results=self._depth, wanted={"row": -1},
        )  # fmt: skip

    # --- afterwards ----------------------------------------------------------------------------------------

    def stopped(self, call: int) -> int:
        work, model, place = self.work, self.model, self._order[call]
        if place == "notice":
            self.notice()
            return call + 1
        if place == "deepest":
            self._raise_depth(self._depth.get()[0])
        if place == "held":
            self.places.fail()
        known = place == "follow"
        results, left = (self._followed, self._between) if known else (self._found, model.constraints.counts)
        outcome, _, _, stage, needed, count, start, *_, error, row, flags = results.get()
        constraints_left = left["left"].item()
        if error:
            narrow.fail(error, row, *((work.known_one, work.known_two) if known else (work.first, work.second)))
        constraints = model.constraints
        constraints.n = constraints_left
        if outcome == SEARCH:
            moved_only = place == "search" or (work.fresh >= 0 and flags == work.flags)
            search(model.geometry, model.bodies, model.settings, work, work.pairs_state if moved_only else self._searched)
            self._sorted.set(work.still.sorted)
        elif outcome == RESULTS:
            work.result.reserve(needed)
            if model.settings.patch:
                work.patches.reserve(needed)
        else:
            constraints.reserve(needed)
            work.fit_contacts(constraints)
        if known:
            self._follow.set(stage, count, start)
        else:
            self._followed["count"][0], self._followed["start"][0], self._between["left"][0] = count, start, constraints_left
        return self._order.index("find") if place == "search" else call

    def sparsify(self) -> None:
        """The symmetric kind of sparsification, which follows the program."""
        model = self.model
        constraints, depth, start = model.constraints, model.settings.depth, self._found["start"].item()
        if constraints.n > start:
            self.removed = sparsify_symmetrically(constraints, model.geometry, model.settings, start)
        constraints.counts["left"][0] = constraints.n
        constraints.next_id += constraints.n - start
        if self.removed and model.settings.patch:  # removed points of known pairs are found and judged again in every step
            constraints.view("evaluated")[:] = -1
        if depth < inf:
            columns = constraints.gap, constraints.cohesion, constraints.birth
            self._raise_depth(_deepest_row(constraints.user_count, constraints.n, depth, model.clock.get()[4], *columns))

    def run(self) -> int:
        """Detection by itself; returns `removed`.

        Raises
        ------
        SolfecError
            A contact is as deep as `settings.depth`.
        """
        self._alone.run()
        if self.model.settings.symmetric:
            self.sparsify()
        return self.removed

    def _raise_depth(self, row: int) -> None:
        """Raise if there is a contact, in `row`, that reaches the penetration depth limit."""
        if row < 0:
            return
        constraints, bodies = self.model.constraints, self.model.bodies
        one, two = (int(bodies.id[side[row]]) for side in (constraints.master, constraints.slave))
        x, y, z = constraints.point[:, row]
        raise SolfecError(
            f"unphysical penetration: bodies {one} and {two} overlap by {-constraints.gap[row]:g} "
            f"at ({x:g}, {y:g}, {z:g}); the limit is {self.model.settings.depth:g}"
        )


def _columns(model, work: Workspace) -> tuple[np.ndarray, ...]:
    constraints, geometry, bodies, surface_materials = model.constraints, model.geometry, model.bodies, model.surface_materials
    faces = current_faces(geometry)
    vertices, primitives, result, patches = geometry.vertices, geometry.primitives, work.result, work.patches
    return (
        constraints.id, constraints.kind, constraints.master, constraints.slave, constraints.master_primitive,
        constraints.slave_primitive, constraints.slot, constraints.master_point, constraints.slave_point,
        constraints.point, constraints.base, constraints.R, constraints.U, constraints.V, constraints.gap,
        constraints.area, constraints.surface, constraints.material, constraints.cohesion, constraints.birth,
        constraints.evaluated, constraints.merit, constraints.residual, work.keep,
        work.result_of, work.known_one, work.known_two, work.alive, work.kept_at,
        work.fat, work.still.movable, work.still.bodies, work.low, work.high, work.apart, work.mark, work.first, work.second, work.place,
        work.moved, bodies.selfcontact,
        primitives.kind, primitives.surface, primitives.radius, primitives.axes, primitives.reach,
        primitives.margin, primitives.drift, primitives.box,
        primitives.vertex_ptr, primitives.vertex_count, faces.face_ptr, faces.face_count, faces.outer_count,
        faces.edge_count, primitives.body, primitives.adjacent_ptr, primitives.adjacent_count, geometry.adjacency.primitive,
        geometry.vertex_lists.vertex, faces.corner_ptr, faces.corner_count, faces.surface, faces.normal,
        faces.local, faces.edge, faces.vertex, vertices.current,
        result.status, result.outward, result.degenerate, result.normal, result.slave_point, result.master_point,
        result.gap, result.area, result.surface, patches.slots, patches.point, patches.gap,
        bodies.kind, bodies.conf_ptr, bodies.centre, bodies.configurations.conf,
        surface_materials.surface, surface_materials.cohesion,
    )  # fmt: skip
