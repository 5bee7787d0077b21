"""Datasets that grow hold what was appended, whichever way a piece goes: as a record or not, in partial chunks or in whole ones."""

import h5py
import numpy as np
import pytest

from solfec.results.columns import Columns


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("together", [1, 2, 11])
def test_pieces_of_any_size_follow_one_another(tmp_path, compression, shape, together):
    chance, chunk = np.random.default_rng(1), 7
    pieces = [chance.random((size, *shape)) for size in (3, 4, 7, 1, 21, 0, 30, 5, 14, 2, 100)]
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file.create_dataset("x", (0, *shape), "f8", maxshape=(None, *shape), chunks=(chunk, *shape), compression=compression)
        columns, records, firsts = Columns(file), [], []
        for k, piece in enumerate(pieces):
            firsts.append(columns["x"].append(piece))
            if k % together == together - 1:  # the last piece comes fresh, those before it from records
                columns.write(records)
                records = []
            else:
                records.append(columns.take_record())
        columns.write(records)
        assert columns["x"].length == len(file["x"]) == sum(map(len, pieces))
    with h5py.File(tmp_path / "file.h5", "r+") as file:
        whole = np.concatenate(pieces)
        assert np.array_equal(file["x"][...], whole)
        assert all(np.array_equal(file["x"][first : first + len(piece)], piece) for first, piece in zip(firsts, pieces))
        columns = Columns(file)
        columns["x"].append(pieces[4].astype("f4"))  # taken up again; other types are converted
        columns.write([])
        assert np.array_equal(file["x"][...], np.concatenate([whole, pieces[4].astype("f4")]))


def test_rows_that_do_not_follow_those_of_the_file_are_refused(tmp_path):
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file.create_dataset("x", (0,), "f8", maxshape=(None,), chunks=(4,))
        columns = Columns(file)
        columns["x"].append(np.ones(3))
        columns.take_record()  # and lose it
        columns["x"].append(np.ones(2))
        with pytest.raises(ValueError, match="/x has 0 rows, the next one cannot be 3"):
            columns.write([])
        assert len(file["x"]) == 0
