"""Movies of stored results: GIF by Pillow; MP4 and AVI by ffmpeg, a program of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from ..errors import SolfecError
from .pictures import picture

CODECS = {
    ".mp4": ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart"],
    ".avi": ["-c:v", "mjpeg", "-q:v", "2"],
}
ENDINGS = (".gif", *CODECS)


def ending_of(path: str) -> str:
    """Ending of a movie's name.

    Raises
    ------
    SolfecError
        Movies are not of this kind, or ffmpeg, which makes them, is not there.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending not in ENDINGS:
        raise SolfecError(f"{path}: movies are {', '.join(ENDINGS)}")
    if ending != ".gif":
        ffmpeg()
    return ending


def ffmpeg() -> str:
    """Path of the program: that of the system, or that of the package imageio-ffmpeg."""
    if found := shutil.which("ffmpeg"):
        return found
    try:
        import imageio_ffmpeg

        return imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise SolfecError("movies other than .gif need ffmpeg: install it, or pip install imageio-ffmpeg") from None


def movie(app, path: str, frames: list[int], rate: float, annotated: bool = True) -> None:
    """Write a movie of some frames of stored results.

    Parameters
    ----------
    app : Application
        With the camera and the result that are to be shown.
    path : str
        Its ending says of which kind.
    frames : list of int
    rate : float
        Frames per second.

    Raises
    ------
    SolfecError
        The file cannot be written.
    """
    ending = ending_of(path)
    width, height = app.size
    if ending != ".gif":
        width, height = width + width % 2, height + height % 2  # what codecs take

    def pictures():
        for frame in frames:
            app.seek(frame)
            yield picture(app.view, width, height, annotated=annotated)

    try:
        with open(path, "ab"):  # it can be written
            pass
        if ending == ".gif":
            first, *others = [image.quantize(256) for image in pictures()]
            first.save(path, save_all=True, append_images=others, duration=1000.0 / rate, loop=0)
        else:
            _encode(path, (width, height), pictures(), rate, CODECS[ending])
    except OSError as error:
        raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from None


def _encode(path: str, size: tuple[int, int], pictures, rate: float, codec: list[str]) -> None:
    """Hand pictures to ffmpeg through a pipe; its status and the file are looked at."""
    words = [ffmpeg(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{rate:g}"]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([*words, "-i", "-", *codec, path], stdin=subprocess.PIPE, stderr=said)
        try:
            for image in pictures:
                process.stdin.write(image.tobytes())
        except BrokenPipeError:
            pass  # ffmpeg has ended, and says below why
        finally:
            process.stdin.close() if not process.stdin.closed else None
            status = process.wait()
        said.seek(0)
        text = said.read().decode(errors="replace").strip()
    if status or not os.path.getsize(path):
        raise SolfecError(f"{path}: ffmpeg could not write it: {text or f'status {status}'}")
