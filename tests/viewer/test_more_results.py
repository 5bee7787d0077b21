"""Lagrange cuts, modal shapes, chains, islands, stresses, ranges over frames, lines in space, following, histories."""

from __future__ import annotations

import numpy as np
import pytest
from test_window import frames_played

import solfec
from solfec.errors import SolfecError
from solfec.viewer import arrays, cuts, fields, histories, inspection, overlays
from solfec.viewer.legend import caption
from solfec.viewer.sources import Live, Stored


@pytest.fixture
def app(window, scene):
    from solfec.viewer.application import Application

    made = Application([Stored(scene)], (200, 150))
    made.do("frame -1")
    yield made
    made.close()


def live_app(model, size=(200, 150)):
    from solfec.viewer.application import Application

    return Application([Live(model._simulation, [])], size)


@pytest.fixture
def turned(window):
    """A cube and an ellipsoid that have moved and turned by a right angle, and a ball that was stretched."""
    model = solfec.SOLFEC("DYNAMIC", 1e-3)
    model.verbose = "OFF"
    bulk = solfec.BULK_MATERIAL(model)
    cube = solfec.HULL([x - 0.5 for x in (0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1)], 1, 1)
    for shape in (cube, solfec.ELLIP((0, 4, 0), (1, 0.5, 0.5), 1, 1)):
        solfec.INITIAL_VELOCITY(solfec.BODY(model, "RIGID", shape, bulk), (2, 0, 0), (0, 0, np.pi / 2))
    solfec.RUN(model, solfec.PENALTY_SOLVER(), 1.0)
    made = live_app(model)
    yield made
    made.close()


def test_referential_places_of_turned_shapes(turned):
    domain = turned.view.domain
    places, quadrics = arrays.references(domain, turned.view.topology)
    assert places + turned.view.topology.origin == pytest.approx(domain.geometry.vertices.view("reference").T, abs=1e-6)
    axes = quadrics[0, 3:].reshape(3, 3)
    assert np.abs(axes).max(axis=1) == pytest.approx([1, 0.5, 0.5], abs=1e-3) and np.abs(axes[0, 0]) == pytest.approx(1, abs=1e-3)


def test_lagrange_cuts_move_with_the_material(turned):
    """x > 0.25 of the reference is y' > 0.25 after a quarter turn: the section keeps its area, and what is seen its side."""
    app = turned
    domain = app.view.domain
    cells = cuts.Cells(domain)
    found = cuts.section(cells, cuts.Plane.of("x:0.25", (0, 0, 0), True), cells.points(domain), np.zeros(len(cells.points(domain))), cells.references(domain))
    assert found.area() == pytest.approx(1.0, rel=1e-5)
    assert found.corners[..., 1] == pytest.approx(0.25, abs=1e-4) and found.references[..., 0] == pytest.approx(0.25)
    app.do("top")
    app.do("perspective/ortho")
    app.do("fit")
    full = app.draw().ids()[..., 0]
    app.do("Lagrange cut x:0.25")
    cut = app.draw().ids()[..., 0]
    pixel = 2 * app.view.camera.distance * np.tan(np.radians(35)) / 150
    assert (full == 1).sum() * pixel**2 == pytest.approx(1.0, rel=0.08) and (cut == 1).sum() * pixel**2 == pytest.approx(0.75, rel=0.1)
    rows = np.nonzero((full == 1) & (cut != 1))[0]
    assert rows.max() < np.nonzero(cut == 1)[0].max()  # the upper part, y from 0.25 on, is gone
    ellipse = lambda ids: (ids == 2).sum() * pixel**2  # noqa: E731
    assert ellipse(full) == pytest.approx(np.pi / 2, rel=0.08)
    t = 0.25
    whole = np.pi / 2
    gone = 0.5 * (np.arccos(t) - t * np.sqrt(1 - t * t))
    assert ellipse(cut) == pytest.approx(whole - gone, rel=0.08)


def test_modes_displace_the_body_alone(app):
    app.do("frame 0")  # a loaded body's tangent has other eigenvalues
    app.do("inspect 4")
    before = app.draw().pixels()
    app.do("modal analysis 10")
    shape = app.view.shape
    moved = shape.displacements(app.view.domain)
    body = app.view.domain.geometry.vertices.view("body")
    row = app.view.domain.body_row(4)
    assert not moved[body != row].any() and shape.number == 6 and shape.base.values[:6] == pytest.approx(0, abs=1e-3 * shape.base.values[6])
    low, high = app.view.domain.bodies.view("extents")[:3, row], app.view.domain.bodies.view("extents")[3:, row]
    assert np.linalg.norm(moved, axis=1).max() == pytest.approx(0.05 * np.linalg.norm(high - low), rel=1e-6)
    assert (app.draw().pixels() != before).any() and "eigenvalue" in app.message and app.view.legend is None
    app.do("next eigenshape")
    assert app.view.shape.number == 7
    frequency = np.sqrt(shape.base.values[7]) / (2 * np.pi)
    assert caption(app.view) == f"t = 0, mode 8 of 10, eigenvalue {shape.base.values[7]:.4g}, frequency {frequency:.4g}"  # of pictures
    app.do("bigger arrows")
    assert app.view.shape.scale == 1.25
    app.do("animate eigenshape")
    first = app.view.shape.phase
    assert app.tick() and app.view.shape.phase != first
    app.do("no eigenshape")
    app.view.bases.clear()
    for line, text in (("modal shape 1", "moves in no base"), ("modal analysis 100000", "between 1 and"), ("animate eigenshape", "no mode is shown")):
        with pytest.raises(SolfecError, match=text):
            app.do(line)
    app.do("inspect 2")
    app.do("hide fem")
    with pytest.raises(SolfecError, match="one finite element body"):
        app.do("modal analysis 7")


def test_principal_stresses_and_pressure(app):
    domain = app.view.domain
    tensors = fields.stresses(domain)
    s = [fields.at_vertices(domain, name) for name in ("s1", "s2", "s3")]
    known = np.isfinite(tensors[:, 0])
    assert (s[0][known] >= s[1][known]).all() and (s[1][known] >= s[2][known]).all() and np.isnan(s[0][~known]).all()
    assert sum(s)[known] == pytest.approx(tensors[known, :3].sum(axis=1))
    assert fields.at_vertices(domain, "pressure")[known] == pytest.approx(-tensors[known, :3].sum(axis=1) / 3)
    mises = np.sqrt(0.5 * ((s[0] - s[1]) ** 2 + (s[1] - s[2]) ** 2 + (s[2] - s[0]) ** 2))
    soft = domain.geometry.vertices.view("body") == domain.body_row(3)  # of elements these are means, and their mises not that of the mean
    assert mises[soft] == pytest.approx(tensors[soft, 6])


def test_islands_are_groups_that_touch(app):
    domain = app.view.domain
    number = fields.islands(domain)
    of = {int(body): int(group) for body, group in zip(domain.bodies.view("id"), number)}
    assert of[1] == -1 and of[2] == of[3] and of[4] == of[5] and len({of[2], of[4], of[6]}) == 3
    app.do("result islands")
    assert [word for _, word in app.view.legend.words] == ["0", "1", "2"]


def test_chains_lead_from_contacts_to_centres(app):
    domain = app.view.domain
    points, ways, values = fields.at_constraints(domain, "chains")
    n = domain.constraints.n
    assert len(points) == 2 * n and values[:n] == pytest.approx(np.linalg.norm(domain.constraints.view("R"), axis=0))
    floor = domain.body_row(1)
    for side, part in (("master", slice(0, n)), ("slave", slice(n, None))):
        rows = domain.constraints.view(side)
        assert (np.linalg.norm(ways[part], axis=1) == 0).tolist() == (rows == floor).tolist()
    fem = domain.constraints.view("master") == domain.body_row(4)
    low, high = domain.bodies.view("extents")[:3, domain.body_row(4)], domain.bodies.view("extents")[3:, domain.body_row(4)]
    assert fem.any() and (points[:n] + ways[:n])[fem] == pytest.approx(np.tile(0.5 * (low + high), (fem.sum(), 1)), abs=0.01)
    ball = domain.constraints.view("master") == domain.body_row(5)
    if ball.any():
        assert (points[:n] + ways[:n])[ball] == pytest.approx(np.tile([2, 0, 1.5], (ball.sum(), 1)), abs=0.01)
    app.do("result chains")
    app.do("top")
    app.do("hide fem")
    ids = app.draw().ids()
    assert (ids[..., 0] >= 0x80000000).any()
    y, x = np.argwhere(ids[..., 0] >= 0x80000000)[0]
    app.click(int(x), int(y))
    assert app.picked.constraint in domain.constraints.view("id")


def test_forces_of_an_input_are_arrows(window):
    model = solfec.SOLFEC("DYNAMIC", 1e-2)
    model.verbose = "OFF"
    body = solfec.BODY(model, "RIGID", solfec.SPHERE((0, 0, 0), 1, 1, 1), solfec.BULK_MATERIAL(model))
    solfec.FORCE(body, "SPATIAL", (0, 0, 1), (0, 3, 0), 5)
    solfec.FORCE(body, "CONVECTED", (1, 0, 0), (0, 0, 1), solfec.TIME_SERIES([0, 0, 1, 10]))
    solfec.INITIAL_VELOCITY(body, (0, 0, 0), (0, np.pi / 2, 0))
    domain = model._simulation.domain
    points, vectors, values, rows = fields.at_loads(domain)
    assert points == pytest.approx(np.array([(0, 0, 1), (1, 0, 0)])) and values.tolist() == [5, 0] and rows.tolist() == [0, 0]
    assert vectors[0] == pytest.approx([0, 5, 0])
    app = live_app(model)
    app.do("show forces")
    assert app.view.legend.range == (0, 5) and (app.draw().ids()[..., 0] >= 0x80000000).any()
    app.close()


def test_ranges_over_all_frames(app):
    app.do("frame 0")
    app.do("result |v|")
    here = app.view.legend.range
    app.do("legend extents all")
    every = app.view.legend.range
    found = []
    for k in range(len(app.source.times)):
        app.source.seek(k)
        found.append(fields.at_vertices(app.source.domain, "|v|"))
    assert every == (min(v.min() for v in found), max(v.max() for v in found)) != here
    app.do("frame 1")
    assert app.view.legend.range == every
    app.view.ranges.forget()
    app.view.budget = 0.0
    app.do("frame 2")
    for _ in range(10):
        app.tick()
    assert app.view.legend.range == every
    app.do("legend extents auto")
    assert app.view.legend.range != every and not app.view.over_all


def test_symmetric_signed_and_logarithmic_ranges(app):
    app.do("result vz")
    low, high = app.view.legend.range
    app.do("legend extents symmetric")
    assert app.view.legend.range == (-max(-low, high), max(-low, high))
    app.do("legend extents auto")
    app.do("colours diverging")
    assert app.view.legend.range == (-max(-low, high), max(-low, high))
    app.do("result mises")
    app.do("colours viridis")
    app.do("legend extents logarithm")
    low, high = app.view.legend.range
    values = fields.at_vertices(app.view.domain, "mises")
    assert high == pytest.approx(np.log10(np.nanmax(values)), abs=1e-6) and app.view.legend.logarithmic
    app.do("legend extents 1 1E4")
    assert app.view.legend.range == (0, 4)
    with pytest.raises(SolfecError, match="above zero"):
        app.do("legend extents -1 1")


def test_lines_in_space(app):
    for name, count in (("frames of bodies", 18), ("boxes of bodies", 72)):
        app.do(name)
        assert app.view.renderer.line_end.size == 2 * count
        app.do(name)
        assert app.view.renderer.line_end.size == 0
    app.do("labels of bodies")
    assert sorted(app.view.overlay.texts) == ["ball", "block", "egg", "fem", "floor", "soft"]
    assert app.view.overlay.places[app.view.overlay.texts.index("fem")] == pytest.approx([2, 0, 0.5], abs=0.01)
    app.do("toggle rough mesh fem")
    assert app.view.renderer.line_end.size == 2 * (2 * 4 * 5 * 3 + 5 * 5 * 2)  # 4 x 4 x 2 elements
    with pytest.raises(SolfecError, match="finite element"):
        app.do("toggle rough mesh block")


def test_display_points_of_an_input_are_drawn(window):
    model = solfec.SOLFEC("DYNAMIC", 1e-2)
    body = solfec.BODY(model, "RIGID", solfec.SPHERE((0, 0, 0), 1, 1, 1), solfec.BULK_MATERIAL(model))
    solfec.DISPLAY_POINT(body, (0, 0, 0.5), "gauge")
    app = live_app(model)
    app.do("display points")
    assert app.view.overlay.texts == ["gauge"] and app.view.overlay.places[0] == pytest.approx([0, 0, 0.5])
    assert app.draw().pixels().shape == (150, 200, 4)
    app.close()


def test_cameras_follow_and_ride(turned):
    app = turned
    view, domain = app.view, app.view.domain
    app.do("follow body 1")
    target, rotation = view.camera.target.copy(), view.camera.rotation.copy()
    before = domain.bodies.configurations.conf[:, domain.bodies.conf_ptr[0] + 3].copy()
    app.do("step")
    moved = domain.bodies.configurations.conf[:, domain.bodies.conf_ptr[0] + 3] - before
    assert moved[0] > 0 and view.camera.target - target == pytest.approx(moved) and (view.camera.rotation == rotation).all()
    app.do("ride body 1")
    eye = [domain.bodies.configurations.conf[:, :3].T @ axis for axis in view.camera.rotation]
    for _ in range(20):
        app.do("step")
    after = [domain.bodies.configurations.conf[:, :3].T @ axis for axis in view.camera.rotation]
    assert np.array(after) == pytest.approx(np.array(eye), abs=1e-9) and np.abs(view.camera.rotation - rotation).max() > 0.01
    app.do("stop following")
    with pytest.raises(SolfecError, match="no body 77"):
        app.do("follow body 77")


def test_histories_of_clicked_points_are_those_of_the_results(app):
    app.do("inspect 5")
    app.do("plot cz")
    app.do("plot |v|")
    times, values = app.histories[0].values(app.source)
    (expected, z) = app.source.reader.history([(5, tuple(app.histories[0].point), "CZ")])
    assert times.tolist() == expected.tolist() and values.tolist() == z.tolist()
    assert (app.histories[1].values(app.source)[1] >= 0).all()
    for line, text in (("plot nonsense", "no history"), ("clear plots", None), ("click 0.001 0.001", None), ("plot dz", "click the point")):
        if text is None:
            app.do(line)
        else:
            with pytest.raises(SolfecError, match=text):
                app.do(line)


def test_histories_of_runs_are_collected(turned):
    turned.do("inspect 1")
    turned.do("plot vx")
    for _ in range(3):
        turned.do("step")
    times, values = turned.histories[0].values(turned.source)
    assert len(times) == 4 and np.diff(times) == pytest.approx(1e-3) and values == pytest.approx(2.0, rel=0.01)
    figures = turned.source.solver_figures()
    assert len(figures["time"]) == 3 and not figures["contacts"].any()


def test_the_inspector_tells_bodies_and_constraints(app):
    app.do("inspect 2")
    rows = dict(inspection.rows_of(app.view.domain, app.picked))
    assert rows["label"] == "block" and rows["mass"] == "1000" and int(rows["constraints"]) >= 2 and any(name.startswith("CNT") for name in rows)
    identifier = int(app.view.domain.constraints.id[0])
    app.picked.body, app.picked.constraint = 0, identifier
    rows = dict(inspection.rows_of(app.view.domain, app.picked))
    assert rows["constraint"] == str(identifier) and rows["kind"] == "CNT"
    app.picked.constraint = 10**9
    assert inspection.rows_of(app.view.domain, app.picked) == []


def test_runs_go_until_a_time_and_at_a_pace(turned, monkeypatch):
    app = turned
    end = app.source.time + 0.01
    app.do(f"run until {end}")
    for _ in range(20):
        app.tick()
    assert app.source.time == pytest.approx(end) and not app.playing
    with pytest.raises(SolfecError, match="until a later one"):
        app.do("run until 0")
    now = [50.0]
    monkeypatch.setattr("solfec.viewer.application.time.monotonic", lambda: now[0])
    app.do("speed 0.1")
    app.do("run/stop")
    start = app.source.time
    now[0] += 0.055
    for _ in range(10):
        app.tick()
    assert app.source.time - start == pytest.approx(5e-3, abs=1.1e-3)
    app.do("run/stop")
    app.do("stop run")
    assert app.source.finished and "has ended" in app.message


def test_frames_play_in_a_loop(app, monkeypatch):
    now = [50.0]
    monkeypatch.setattr("solfec.viewer.application.time.monotonic", lambda: now[0])
    app.do("frame 0")
    app.do("loop on/off")
    app.do("run/stop")
    seen = frames_played(app, now, 0.0025, 16)
    assert app.playing and max(seen) in (3, 4) and seen.count(0) > 1 and seen.count(1) > 2


def test_overlays_know_no_body_of_an_empty_model(window):
    app = live_app(solfec.SOLFEC("DYNAMIC", 1e-3), (60, 40))
    for name in ("frames of bodies", "boxes of bodies", "labels of bodies", "joints", "display points", "result islands", "result chains", "result mises", "Euler cut x:0"):
        app.do(name)
        app.draw()
    assert overlays.overlay(app.view, []).texts == []
    with pytest.raises(SolfecError, match="no history|click the point"):
        histories.at(app.view.domain, app.picked, "dz")
    app.close()
