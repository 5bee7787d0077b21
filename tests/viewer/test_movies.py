"""Movies: decoded again, their frames and sizes; what cannot be written is an error."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from PIL import Image, ImageSequence

from solfec import cli
from solfec.errors import SolfecError
from solfec.viewer import movies


def test_gifs_have_all_frames(window, scene, tmp_path, capsys):
    path = str(tmp_path / "m.gif")
    assert cli.main(["view", scene, "--movie", path, "--size", "101x75", "--result", "|v|", "--rate", "10"]) == 0
    assert capsys.readouterr().out == path + "\n"
    with Image.open(path) as image:
        frames = [frame.convert("RGB").tobytes() for frame in ImageSequence.Iterator(image)]
        assert image.size == (101, 75) and image.info["duration"] == 100
    assert len(frames) == 5 and len(set(frames)) == 5


@pytest.mark.parametrize("ending", ["mp4", "avi"])
def test_movies_of_ffmpeg_are_decoded_again(window, scene, tmp_path, ending):
    try:
        program = movies.ffmpeg()
    except SolfecError as error:
        pytest.skip(f"no movie was made: {error}")
    path = str(tmp_path / f"m.{ending}")
    assert cli.main(["view", scene, "--movie", path, "--size", "101x75", "--every", "2"]) == 0
    raw = subprocess.run([program, "-loglevel", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True)
    assert len(raw.stdout) == 3 * 102 * 76 * 3


@pytest.mark.parametrize(
    "words, status, said",
    [
        (["--movie", "none/m.gif"], 1, "cannot be written"),
        (["--movie", "m.mov"], 1, "movies are .gif, .mp4, .avi"),
        (["--movie", "m.gif", "--transparent"], 2, "background"),
        (["--movie", "m.gif", "--rate", "0"], 2, "positive"),
        (["--every", "2"], 2, "are for movies"),
    ],
)
def test_wrong_movies_are_refused(window, scene, tmp_path, monkeypatch, capsys, words, status, said):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["view", scene, *words]) == status
    assert said in capsys.readouterr().err


def test_an_ffmpeg_that_fails_is_an_error(window, scene, tmp_path, monkeypatch, capsys):
    for text, said in (("#!/bin/sh\necho no space left >&2\nexit 1\n", "no space left"), ("#!/bin/sh\ncat > /dev/null\n", "status 0")):
        fake = tmp_path / "ffmpeg"
        fake.write_text(text)
        fake.chmod(0o755)
        monkeypatch.setattr(movies, "ffmpeg", lambda: str(tmp_path / "ffmpeg"))
        assert cli.main(["view", scene, "--movie", str(tmp_path / "m.mp4"), "--size", "400x300"]) == 1
        assert said in capsys.readouterr().err


def test_missing_ffmpeg_is_named(monkeypatch):
    if shutil.which("ffmpeg"):
        monkeypatch.setattr(movies.shutil, "which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(SolfecError, match="pip install imageio-ffmpeg"):
        movies.ending_of("m.mp4")
    assert movies.ending_of("m.GIF") == ".gif"
