"""Connected components of items, given pairs of them; SciPy's take longer to import than a small model to run."""

from __future__ import annotations

import numpy as np

from . import _kernels

_connections = _kernels.mesh_connections


def components(count: int, one, two) -> np.ndarray:
    """Label items by connected component; labels ascend with the first item of each component.

    Parameters
    ----------
    count : int
        Number of items.
    one, two : array_like (m,)
        Items of each pair.

    Returns
    -------
    ndarray (count,)
    """
    labels = np.arange(count, dtype=np.int32)
    if len(one):
        _connections.label_connected(np.asarray(one, np.int32), np.asarray(two, np.int32), labels)
    return labels.astype(int)
