"""What a release needs: one version everywhere, a command that every installation has, and files that hosts can read."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import solfec

ROOT = Path(__file__).parent.parent
PLACES = {
    "tools/version.py": r'^FIRST = "(.*?)"', "CITATION.cff": r"^version: (.*)$",
    "docs/citing.md": r"version = \{(.*)\}", "packaging/conda/meta.yaml": r'set version = "(.*)"',
}  # fmt: skip


def test_planned_version_is_the_same_everywhere():
    found = {place: re.search(pattern, (ROOT / place).read_text(), re.M)[1] for place, pattern in PLACES.items()}
    assert len(set(found.values())) == 1, found


def test_version_follows_from_tags_and_stays_in_a_source_distribution(tmp_path, monkeypatch):
    """As PEP 440 orders them: 0.1.0.dev2 < 0.2.0 < 0.2.1.dev1."""
    monkeypatch.delenv("SOLFEC_VERSION", raising=False)
    script = tmp_path / "tools" / "version.py"
    script.parent.mkdir()
    script.write_text((ROOT / "tools" / "version.py").read_text())
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]

    def says():
        return subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout.strip()

    def commit():
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a"], check=True)

    assert says() == "0.1.0.dev0"  # no repository
    subprocess.run([*git, "init", "-q"], check=True)
    commit()
    commit()
    assert re.fullmatch(r"0\.1\.0\.dev2\+g[0-9a-f]+", says())  # no tag
    subprocess.run([*git, "tag", "-a", "v0.2.0", "-m", "a"], check=True)
    assert says() == "0.2.0"
    commit()
    assert re.fullmatch(r"0\.2\.1\.dev1\+g[0-9a-f]+", says())
    subprocess.run([*git, "tag", "-a", "v0.3.0rc1", "-m", "a"], check=True)
    assert re.fullmatch(r"0\.2\.1\.dev1\+g[0-9a-f]+", says())  # candidates of releases are no releases
    subprocess.run([sys.executable, script, "--write"], check=True, env=dict(os.environ, MESON_DIST_ROOT=str(tmp_path), SOLFEC_VERSION="0.3.0"))
    assert says() == "0.3.0"  # of the file


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


def test_release_names_an_interpreter_that_does_not_suit_before_it_builds():
    """Nothing is removed or built: the work tree may have a dist/ of its own."""
    done = subprocess.run(["sh", ROOT / "tools/release.sh", "0.1.0", sys.executable, "/bin/false"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("release: /bin/false is not CPython 3.11 or newer") or f"{sys.executable} is not" in done.stderr  # no headers here


def test_kernels_of_a_level_have_no_instructions_of_a_higher_one(tmp_path, monkeypatch):
    """By the names of registers, of a disassembler's output: AVX's have no place in v2, nor AVX-512's in v3, and each level must use its own."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    import wheels

    code = {
        "v2": " 1a: addpd  %xmm1,%xmm0\n",
        "v3": " 1a: vaddpd %ymm1,%ymm2,%ymm0\n 1e: vfmadd231sd %xmm1,%xmm2,%xmm0\n",
        "v4": " 1a: vaddpd %zmm1,%zmm2,%zmm0\n",
    }
    for level in code:
        for other, text in code.items():
            monkeypatch.setattr(wheels, "said", lambda *command, text=text: text)
            if level == other:
                wheels.check_level(level, tmp_path)
                continue
            with pytest.raises(SystemExit, match=f"kernels of {level} have"):
                wheels.check_level(level, tmp_path)


@pytest.mark.parametrize(
    "tools, needs",
    [((), "a C compiler and a Fortran compiler. On Debian and Ubuntu: sudo apt-get install gcc gfortran."), (("gcc", "as", "ld", "ar"), "a Fortran compiler. On Debian and Ubuntu: sudo apt-get install gfortran.")],
)
def test_a_build_says_which_compiler_is_missing_and_how_to_get_it(tmp_path, tools, needs):
    meson = Path(sys.executable).with_name("meson")
    if not meson.exists() or not all(map(shutil.which, tools)):
        pytest.skip("meson or gcc is not installed")
    bare = tmp_path / "bin"
    bare.mkdir()
    (bare / "python3").symlink_to(sys.executable)
    for tool in tools:
        (bare / tool).symlink_to(shutil.which(tool))
    done = subprocess.run([sys.executable, meson, "setup", tmp_path / "build", ROOT], env={"PATH": str(bare)}, capture_output=True, text=True)
    assert done.returncode and f"Solfec needs {needs}" in done.stdout


def test_what_others_build_with_works_with_the_pip_of_debian():
    """Debian 12 has pip 23.0, whose --config-settings has no short form."""
    for name in ("packaging/Dockerfile", "packaging/conda/meta.yaml", "docs/installation.md"):
        text = (ROOT / name).read_text()
        assert "--config-settings=setup-args=" in text and " -C" not in text, name


def test_the_recipe_for_conda_has_all_programs():
    programs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    recipe = re.findall(r"^    - ([\w-]+) = ([\w.:]+)$", (ROOT / "packaging/conda/meta.yaml").read_text(), re.M)
    assert dict(recipe) == programs
