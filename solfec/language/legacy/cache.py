"""Compiled translations of old inputs, kept in the user's cache directory.

A cache never makes a run fail: unreadable, damaged or unwritable entries count as absent.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import tempfile
from pathlib import Path

VERSION = 2  # increase it whenever translations change
MOST_FILES = 300
_HEADER = b"solfec translation\n"


def directory() -> Path:
    """$XDG_CACHE_HOME/solfec/translations, by default below ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "solfec" / "translations"


def _file(content: bytes, *words: str) -> Path:
    key = hashlib.sha256(content)
    for word in (str(VERSION), _sources(), importlib.util.MAGIC_NUMBER.hex(), *words):
        key.update(b"\0" + word.encode("utf-8", "surrogateescape"))
    return directory() / (key.hexdigest() + ".bin")


_made_of: list[str] = []


def _sources() -> str:
    """Fingerprint of the translator itself: sizes and times of its files."""
    if not _made_of:
        stats = [path.stat() for path in sorted(Path(__file__).parent.glob("*.py"))]
        _made_of.append(str([(stat.st_size, stat.st_mtime_ns) for stat in stats]))
    return _made_of[0]


def load(content: bytes, *words: str):
    """Load what `save` kept for this content and these words, or return None."""
    try:
        data = _file(content, *words).read_bytes()
        head = len(_HEADER) + 32
        payload = data[head:]
        if data[: len(_HEADER)] != _HEADER or hashlib.sha256(payload).digest() != data[len(_HEADER) : head]:
            return None
        return marshal.loads(payload)
    except (OSError, ValueError, EOFError, TypeError, RuntimeError):
        return None


def save(kept, content: bytes, *words: str) -> None:
    """Save an object that `marshal` can write; the file is complete or does not exist."""
    try:
        payload = marshal.dumps(kept)
        path = _file(content, *words)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_HEADER + hashlib.sha256(payload).digest() + payload)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        _forget_old(path.parent)
    except (OSError, ValueError, RuntimeError):
        pass


def _forget_old(folder: Path) -> None:
    files = list(folder.glob("*.bin"))
    if len(files) > MOST_FILES:
        files.sort(key=lambda path: path.stat().st_mtime)
        for path in files[: len(files) - MOST_FILES // 2]:
            path.unlink(missing_ok=True)
