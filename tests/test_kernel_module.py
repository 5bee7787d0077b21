"""The compiled module is there and answers."""

from solfec import _kernels


def test_number_of_threads_can_be_set_and_read_back():
    before = _kernels.threads.get_threads()
    _kernels.threads.set_threads(1)
    assert _kernels.threads.get_threads() == 1
    _kernels.threads.set_threads(before)
