"""The documents build as a site, without a warning, a dead link or anything from the network; all examples are in its gallery."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_every_example_with_a_model_has_a_thumbnail():
    models = [path for path in (ROOT / "inp").rglob("*.py") if "out" not in path.parts and re.search(r"\bSOLFEC *\(['\"]|= SOLFEC *\(", path.read_text())]
    missing = [path.relative_to(ROOT / "inp").with_suffix("").as_posix() for path in models]
    missing = [name for name in missing if not (ROOT / "docs/figures/gallery" / (name.replace("/", "-") + ".png")).exists()]
    assert missing == [], "python docs/figures/thumbnails.py"


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("sphinx") or not find_spec("furo"), reason="the packages of the site are not installed: make site")
def test_site_builds_without_warnings_and_dead_links(tmp_path):
    done = subprocess.run([sys.executable, ROOT / "docs/site/build.py", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert (tmp_path / "html/index.html").exists() and (tmp_path / "html/searchindex.js").exists()
    commands = "".join(page.read_text() for page in (tmp_path / "html/api").glob("*.html"))
    assert commands.count("which the tests run") >= 128
