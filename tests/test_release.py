"""What a release needs: one version everywhere, a command that every installation has, and files that hosts can read."""

import re
import subprocess
import sys
from pathlib import Path

import solfec

ROOT = Path(__file__).parent.parent
PLACES = {
    "pyproject.toml": r'^version = "(.*)"$', "meson.build": r"^  version: '(.*)',$", "CITATION.cff": r"^version: (.*)$",
    "docs/citing.md": r"version = \{(.*)\}", "packaging/conda/meta.yaml": r'set version = "(.*)"',
}  # fmt: skip


def test_version_is_the_same_everywhere():
    found = {place: re.search(pattern, (ROOT / place).read_text(), re.M)[1] for place, pattern in PLACES.items()}
    assert set(found.values()) == {solfec.__version__}, found


def test_python_m_solfec_is_the_command(tmp_path):
    done = subprocess.run([sys.executable, "-m", "solfec", "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip().split()[-1]) == (0, solfec.__version__)


def test_workflows_of_the_host_run_targets_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    used = set()
    for workflow in (ROOT / ".github/workflows").glob("*.yml"):
        for words in re.findall(r"(?:run: |^ +)make ([\w -]+)", workflow.read_text(), re.M):
            used |= {word for word in words.split() if "=" not in word and not word.isupper()}
    assert {"all", "lint", "test", "site"} <= used <= targets
