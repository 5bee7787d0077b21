"""Numbers of threads of kernels, for tests that compare what several of them compute."""

from collections.abc import Iterator

from solfec import _kernels


def with_threads(*numbers: int) -> Iterator[int]:
    """Yield these numbers, each while kernels use as many threads; then kernels use as many as before, also after an error."""
    before = _kernels.threads.get_threads()
    try:
        for number in numbers:
            _kernels.threads.set_threads(number)
            yield number
    finally:
        _kernels.threads.set_threads(before)
