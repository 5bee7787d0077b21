"""Pages that a browser shows, and views of Python programs and notebooks."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import solfec
from solfec import cli
from solfec.errors import SolfecError
from solfec.kinds import ConstraintKind
from solfec.viewer import fields

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
DRAG = """<script>
const send = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {clientX: x, clientY: y, pointerId: 1, bubbles: true}));
canvas.setPointerCapture = () => {};
WHAT
</script></body>"""
TURN = "send('pointerdown', 200, 150); send('pointermove', 320, 190); send('pointerup', 320, 190);"
PICK = "const X = canvas.clientWidth / 2, Y = 0.55 * canvas.clientHeight; send('pointerdown', X, Y); send('pointerup', X, Y); document.title = told.textContent + frame;"


def shot(page: Path, what: str) -> tuple[np.ndarray, str]:
    """The browser's picture of a page in which the mouse has done something, and its title."""
    if BROWSER is None:
        pytest.skip("no Chromium is installed: no page was opened")
    changed, picture = page.with_name("changed.html"), page.with_name("shot.png")
    changed.write_text(page.read_text().replace("</body>", DRAG.replace("WHAT", what)))
    words = ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=400,300"]
    common = [BROWSER, *words, f"--user-data-dir={page.parent / 'profile'}", "--virtual-time-budget=3000"]
    done = subprocess.run([*common, "--dump-dom", changed.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    subprocess.run([*common, f"--screenshot={picture}", changed.as_uri()], capture_output=True, timeout=120, check=True)
    title = re.search("<title>(.*?)</title>", done.stdout, re.S)
    with Image.open(picture) as image:
        return np.asarray(image.convert("RGB")).astype(int), title[1]


def data_of(path: Path) -> dict:
    return json.loads(re.search(r"^const D = (.*);$", path.read_text(), re.M)[1])


def decoded(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype)


def test_pages_hold_what_results_hold(window, scene, tmp_path, capsys):
    """Points of rigid bodies come from poses, those of deformable ones as they are: both are the domain's."""
    from solfec.viewer.sources import Stored

    path = tmp_path / "p.html"
    assert cli.main(["view", scene, "--html", str(path), "--result", "mises", "--hide", "floor"]) == 0
    data, source = data_of(path), Stored(scene)
    assert len(data["frames"]) == 5 and len(data["labels"]) == 5 and data["labels"][0] == "body 2 (block)"
    points, body, soft = decoded(data["points"], "<f4").reshape(-1, 3), decoded(data["body"], "<u4"), decoded(data["soft"], "<u4")
    source.seek(-1)
    domain, frame = source.domain, data["frames"][-1]
    moved, pose = decoded(frame["moved"], "<f4").reshape(-1, 3), decoded(frame["pose"], "<f4").reshape(-1, 7)
    assert len(moved) == len(soft) and frame["time"] == source.time
    vertices = domain.geometry.vertices
    origin = vertices.view("current").mean(axis=1)
    for number, label in ((0, 2), (1, 3), (2, 4)):
        x, y, z, w, *shift = pose[number]
        turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                         [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])  # fmt: skip
        now = points.copy()
        now[soft] = moved
        placed = now[body == number] @ turn.T + shift
        real = vertices.view("current")[:, vertices.view("body") == domain.body_row(label)].T
        offset = (placed - real)[0]
        assert np.abs(placed - real - offset).max() < 1e-5 and np.abs(offset + origin).max() < 0.2  # the page's origin is the first frame's
    coded = decoded(frame["values"], "u1").astype(float)
    assert (coded[body == 0] == 255).all()  # a rigid body has no stress
    low, high = (float(data["legend"]["numbers"][k][1]) for k in (0, -1))
    values = fields.at_vertices(domain, "mises")[domain.geometry.vertices.view("body") == domain.body_row(4)]
    assert low + coded[body == 2] / 254 * (high - low) == pytest.approx(values, abs=0.01 * high)
    assert "http" not in re.sub(r"data:[^\"]*", "", path.read_text()).replace("http-equiv", "")
    source.close()


def test_browsers_show_pages_and_the_mouse_turns_them(window, scene, tmp_path):
    path = tmp_path / "p.html"
    assert cli.main(["view", scene, "--html", str(path), "--result", "|v|", "--look", "-60,30", "--every", "4"]) == 0
    still, title = shot(path, PICK)
    assert title.startswith("body ") and title.endswith("1")
    turned, _ = shot(path, TURN)
    drawn = (still.max(axis=2) - still.min(axis=2) > 60).mean()
    assert drawn > 0.01 and (np.abs(still - turned).max(axis=2) > 60).mean() > 0.02
    first, title = shot(path, "show(0); document.title = String(arrowCount) + document.getElementById('time').textContent;")
    assert title == "0t = 0   frame 1 of 2"
    assert cli.main(["view", scene, "--html", str(path), "--result", "R", "--look", "-60,30"]) == 0
    _, title = shot(path, "document.title = String(arrowCount);")
    assert int(title) > 5


@pytest.mark.parametrize("result", ["surfaces", "volumes", "materials", "bodies"])
def test_every_triangle_of_a_page_has_the_colour_of_its_kind(window, tmp_path, result):
    """A browser takes the kind of the last corner for all of a triangle, and faces of several kinds share corners."""
    cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    nodes, elements, surfaces = solfec.HEX(cube, 2, 2, 2, 1, [1, 2, 3, 4, 5, 6]).get_data()
    elements[9::20] = [2] * len(elements[9::20])
    with solfec.view(model_of(nodes, elements, surfaces, cube), size=(100, 80), window=False) as view:
        view.do("result " + result)
        view.save(str(tmp_path / "p.html"))
        shown, data = view.application.view, data_of(tmp_path / "p.html")
        numbers, _, words = fields.categories(shown.domain, shown.topology, result)
    named = dict(data["legend"]["words"])
    last = decoded(data["triangles"], "<u4").reshape(-1, 3)[:, 2]
    category = decoded(data["category"], "<i2")
    kinds, body = decoded(data["frames"][0]["kinds"], "<i2"), decoded(data["body"], "<u4")
    assert len(category) == len(body) == len(decoded(data["points"], "<f4")) // 3 and len(kinds) == (2 if result == "bodies" else 0)
    assert [named[k] for k in (kinds[body] if len(kinds) else category)[last]] == [words[k] for k in numbers]


def model_of(nodes, elements, surfaces, cube):
    """Elements of two materials that have moved, and a rigid cube."""
    model = solfec.SOLFEC("DYNAMIC", 1e-3)
    model.verbose = "OFF"
    bulk, soft = solfec.BULK_MATERIAL(model, density=1.0), solfec.BULK_MATERIAL(model, label="soft", young=1.0, density=1.0)
    body = solfec.BODY(model, "FINITE_ELEMENT", solfec.MESH(nodes, elements, surfaces), bulk)
    solfec.APPLY_BULKMAT(model, body, 2, soft)
    solfec.BODY(model, "RIGID", solfec.TRANSLATE(solfec.HEX(cube, 1, 1, 1, 3, [7, 8, 9, 7, 8, 9]), (2, 0, 0)), bulk)
    body.conf = [0.1] * len(body.conf)
    return model


def test_copied_points_of_pages_move_with_their_bodies(window, tmp_path):
    cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    nodes, elements, surfaces = solfec.HEX(cube, 1, 1, 1, 1, [1, 2, 3, 4, 5, 6]).get_data()
    with solfec.view(model_of(nodes, [*elements[:-1], 2], surfaces, cube), size=(100, 80), window=False) as view:
        view.do("result surfaces")
        view.save(str(tmp_path / "p.html"))
    data = data_of(tmp_path / "p.html")
    points, soft = decoded(data["points"], "<f4").reshape(-1, 3), decoded(data["soft"], "<u4")
    moved = decoded(data["frames"][0]["moved"], "<f4").reshape(-1, 3)
    assert len(soft) == len(moved) > 8
    assert moved - points[soft] == pytest.approx(0.1, abs=1e-5)


def test_balls_that_are_drawn_as_edges_have_great_circles_on_pages(window, scene, tmp_path):
    edges = []
    for command in ("wireframe none", "wireframe all"):
        assert cli.main(["view", scene, "--html", str(tmp_path / "p.html"), "--do", command, "--every", "9"]) == 0
        data = data_of(tmp_path / "p.html")
        points, body = decoded(data["points"], "<f4").reshape(-1, 3).astype(float), decoded(data["body"], "<u4")
        edges.append(decoded(data["edges"], "<u4").reshape(-1, 2))
    ball = data["labels"].index("body 5 (ball)")
    assert not (body[edges[0][:, 0]] == ball).any()
    drawn = edges[1][body[edges[1][:, 0]] == ball]
    centre = points[body == ball].mean(axis=0)
    length = np.linalg.norm(points[drawn[:, 0]] - points[drawn[:, 1]], axis=1).sum()
    assert length == pytest.approx(3 * 2 * np.pi * 0.5, rel=0.01) and np.linalg.norm(points[drawn] - centre, axis=2) == pytest.approx(0.5, abs=0.01)


def test_groups_and_kinds_of_constraints_are_those_of_every_frame(window, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = solfec.SOLFEC("DYNAMIC", 1e-2, "out/meet", contacts="MANIFOLD")
    model.verbose = "OFF"
    bulk = solfec.BULK_MATERIAL(model, density=1.0)
    balls = [solfec.BODY(model, "RIGID", solfec.SPHERE((x, 0, 0), 0.5, 1, 1), bulk) for x in (0.0, 1.2)]
    solfec.FIX_DIRECTION(balls[0], (0, 0, 0), (0, 1, 0))
    solfec.INITIAL_VELOCITY(balls[0], (1, 0, 0), (0, 0, 0))
    solfec.RUN(model, solfec.AUTO_SOLVER(), 0.3)
    with solfec.view("out/meet", window=False) as view:
        view.do("result islands")
        view.save("p.html")
        view.do("result constraints")
        view.save("q.html")
        kinds = view.application.view.domain.constraints.view("kind")
        words = {int(k): kind.family.word for k, kind in zip(sorted(set(kinds.tolist())), sorted({ConstraintKind(k) for k in kinds.tolist()}))}
    frames = [decoded(frame["kinds"], "<i2") for frame in data_of(tmp_path / "p.html")["frames"]]
    assert len(set(frames[0])) == 2 and len(set(frames[-1])) == 1  # apart, then together
    data = data_of(tmp_path / "q.html")
    drawn = decoded(data["frames"][-1]["arrows"], "<f4").reshape(-1, 7)[:, 6]
    assert data["kinds"] and dict(data["legend"]["words"]) == words and set(drawn) == set(kinds)


def test_pages_that_cannot_be_are_refused(window, scene, tmp_path, monkeypatch, capsys):
    assert cli.main(["view", scene, "--html", str(tmp_path / "p.html"), "--cut", "x"]) == 1
    assert "pages show no cuts" in capsys.readouterr().err
    assert cli.main(["view", scene, "--html", str(tmp_path / "none" / "p.html")]) == 1
    assert "cannot be written" in capsys.readouterr().err
    monkeypatch.setattr("solfec.viewer.page.MOST_BYTES", 1000)
    assert cli.main(["view", scene, "--html", str(tmp_path / "p.html")]) == 1
    assert "--every N" in capsys.readouterr().err


def test_views_of_programs_and_notebooks(window, scene, tmp_path):
    with solfec.view(scene, "result mises", window=False, size=(80, 60)) as view:
        assert view._repr_png_()[:4] == b"\x89PNG" and view.array().shape == (60, 80, 3)
        before = view.array()
        assert (view.do("frame 0", "top").array() != before).any()
        for ending in ("png", "pdf", "gif", "html"):
            assert Path(view.save(tmp_path / f"p.{ending}")).stat().st_size > 500
        assert "<iframe" in view.page()._repr_html_()
        with pytest.raises(SolfecError, match="no command"):
            view.do("nonsense")
    with pytest.raises(SolfecError, match="closed"):
        view.picture()
    with pytest.raises(TypeError, match="output directory or a SOLFEC object"):
        solfec.view(3, window=False)
    with pytest.raises(SolfecError, match="positive numbers of pixels"):
        solfec.view(scene, window=False, size=(0, 3))


def test_models_in_memory_are_shown_as_they_are(window):
    model = solfec.SOLFEC("DYNAMIC", 1e-2)
    model.verbose = "OFF"
    body = solfec.BODY(model, "RIGID", solfec.SPHERE((0, 0, 0), 1, 1, 1), solfec.BULK_MATERIAL(model))
    solfec.INITIAL_VELOCITY(body, (3, 0, 0), (0, 0, 0))
    with solfec.view(model, "look 0,90", window=False, size=(80, 60)) as view:
        first = view.array()
        solfec.RUN(model, solfec.PENALTY_SOLVER(), 0.2)
        assert (view.refresh().array() != first).any()
        with pytest.raises(SolfecError, match="needs frames"):
            view.save("m.gif")


def test_vector_files_have_vector_legends(window, scene, tmp_path):
    for ending, mark in (("pdf", b"/Font"), ("eps", b"glyphshow")):
        path = tmp_path / f"p.{ending}"
        assert cli.main(["view", scene, "--screenshot", str(path), "--result", "mises", "--size", "200x150"]) == 0
        plain = tmp_path / f"q.{ending}"
        assert cli.main(["view", scene, "--screenshot", str(plain), "--result", "mises", "--size", "200x150", "--plain"]) == 0
        assert mark in path.read_bytes() and path.stat().st_size > plain.stat().st_size
        assert (b"DejaVuSans" in path.read_bytes()) and b"DejaVuSans" not in plain.read_bytes()
