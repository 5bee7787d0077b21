"""Results on disk: written frame by frame, readable by anyone with h5py (docs/results-format.md).

>>> from solfec import results
>>> with results.open("out/arch") as run:            # doctest: +SKIP
...     times, gap = run.history([(None, "GAP")])
"""

from .claims import Claim
from .layout import results_file
from .reader import Frame, ResultsReader
from .records import RunRecord
from .restore import mismatch
from .resume import resume
from .writer import ResultsWriter

__all__ = ["Claim", "Frame", "ResultsReader", "ResultsWriter", "RunRecord", "mismatch", "open", "results_file", "resume"]


def open(path: str) -> ResultsReader:  # noqa: A001 - reads well as results.open
    """Open results for reading without executing anything from their directory.

    Parameters
    ----------
    path : str
        Output directory or results file.
    """
    return ResultsReader(path)
