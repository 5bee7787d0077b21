"""Datasets that grow hold what was appended, whichever way a piece goes: partial chunks through HDF5, whole ones past its cache."""

import h5py
import numpy as np
import pytest

from solfec.results.columns import Column


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_pieces_of_any_size_follow_one_another(tmp_path, compression, shape):
    chance, chunk = np.random.default_rng(1), 7
    pieces = [chance.random((size, *shape)) for size in (3, 4, 7, 1, 21, 0, 30, 5, 14, 2, 100)]
    with h5py.File(tmp_path / "file.h5", "w") as file:
        dataset = file.create_dataset("x", (0, *shape), "f8", maxshape=(None, *shape), chunks=(chunk, *shape), compression=compression)
        column = Column(dataset)
        firsts = [column.append(piece) for piece in pieces]
        assert column.length == sum(map(len, pieces))
    with h5py.File(tmp_path / "file.h5", "r+") as file:
        whole = np.concatenate(pieces)
        assert np.array_equal(file["x"][...], whole)
        assert all(np.array_equal(file["x"][first : first + len(piece)], piece) for first, piece in zip(firsts, pieces))
        column = Column(file["x"])
        column.append(pieces[4].astype("f4"))  # taken up again; other types are converted
        assert np.array_equal(file["x"][...], np.concatenate([whole, pieces[4].astype("f4")]))
