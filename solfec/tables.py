"""Structure-of-arrays tables, which hold the state of a simulation.

A table is a set of numpy columns that grow together by doubling.  Columns are Fortran-ordered with the row
number last, so kernels get a column unchanged, with its full capacity, and the number of rows in use as
another argument.  Row numbers and pointers are zero-based everywhere, in Python, in the
kernels (whose arrays start at 0) and in files.  A row number is never an identity: rows move when others are
deleted, identifiers (`id`) do not change.
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from ctypes import addressof, c_double, c_int32, c_int64
from functools import cache
from math import prod
from operator import attrgetter
from types import SimpleNamespace
from weakref import WeakKeyDictionary

import numpy as np

from . import _kernels
from ._table_types import TABLES

FEW_RECORDS = 400  # records for which copies that are faster row by row take longer to prepare than they save
FEWER = 2000  # rows whose move takes as long as telling kernels that columns begin elsewhere
AT_ONCE = 4096  # records that are filled column by column before the next ones
NUMBER_TYPES = {"i4": c_int32, "i8": c_int64, "f8": c_double}  # of the numbers of records

_bind, _free = _kernels.table_handles.bind_table, _kernels.table_handles.free_table
_close_rows = _kernels.row_moves.close_rows
_known_numbers: WeakKeyDictionary[type, tuple[dict, int]] = WeakKeyDictionary()  # number of each class, with its compared columns


def layout(columns: dict, numbers: dict) -> str:
    """Return columns and numbers as one line, in the form of tools/table_types.py for the compiled module."""
    parts = [f"{name}:{dtype}{list(shape)}".replace(" ", "") for name, (shape, dtype, *_) in columns.items()]
    return " ".join([*parts, *(f"{name}:{dtype}" for name, dtype in numbers.items())])


def handles_of(owner, names) -> np.ndarray:
    """Handles of tables that kernels open together (OPENED_TOGETHER), in the order of their names, which are members of the owner."""
    return np.array([getattr(owner, name).handle for name in names], np.longlong)


def known_number(kind: type, columns: dict, numbers: dict) -> int:
    """Return the number of a class in the compiled module; 0: it has none.

    Raises
    ------
    RuntimeError
        The module was built from other columns of the class.
    """
    checked, number = _known_numbers.get(kind, (None, 0))
    if checked is not columns:
        number, known = TABLES.get(kind.__name__, (0, ""))
        if number and layout(columns, numbers) != known:
            raise RuntimeError(f"the compiled module of solfec knows other columns of {kind.__name__}; build it again (make)")
        _known_numbers[kind] = columns, number
    return number


class _Registration:
    """A handle, which becomes void when its table is deleted."""

    def __init__(self):
        self.handle = 0

    def __del__(self):
        _free(self.handle)

    def __deepcopy__(self, memo: dict):
        return _Registration()  # a copied table registers columns of its own


def ranges(start: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The concatenation of start[i], start[i] + 1, ..., start[i] + count[i] - 1."""
    count = np.asarray(count)
    before = np.cumsum(count) - count
    return np.arange(count.sum()) + np.repeat(np.asarray(start) - before, count)


def pointers_of(counts, dtype=np.int64) -> np.ndarray:
    """Return where each of several lists of these lengths begins, laid one behind the other, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(counts))).astype(dtype)


def unique(values) -> np.ndarray:
    """Return the distinct ones of whole numbers, ascending, as np.unique does; that loads numpy.ma, which takes longer than the first steps of a small model."""
    values = np.sort(values, axis=None)
    return values[np.append(True, values[1:] != values[:-1])] if values.size else values


class Gaps:
    """Rows that go from a table, which closes up then.

    Parameters
    ----------
    start, stop : array_like (k,) of int
        First rows, and rows behind the last ones, ascending; gaps may be empty.

    Attributes
    ----------
    shift : ndarray (k,)
        By how many rows those behind each gap, and before the next one, move up.
    total : int
        Rows that go.
    """

    def __init__(self, start, stop):
        self.start, self.stop = np.asarray(start, np.int64), np.asarray(stop, np.int64)
        self.shift = np.cumsum(self.stop - self.start)
        self.total = int(self.shift[-1]) if self.shift.size else 0

    def behind_most(self, n: int) -> bool:
        """Whether there is one gap, and so many fewer of `n` rows stand before it than behind it that moving these takes less time."""
        return self.total > 0 and self.start.size == 1 and bool(self.start[0] + FEWER < n - self.stop[0])

    def rows(self, n: int) -> np.ndarray:
        """New row of each of `n` old ones; -1: it is gone."""
        place = np.arange(n)
        if self.total:
            place[self.start[0] :] -= np.repeat(self.shift, np.diff(self.start, append=n))
            place[ranges(self.start, self.stop - self.start)] = -1
        return place

    def left_of(self, rows: np.ndarray) -> np.ndarray:
        """New rows of some ascending ones, without those that have gone, in the memory of `rows`."""
        lost = Gaps(*(np.searchsorted(rows, at.astype(rows.dtype)) for at in (self.start, self.stop)))
        return close_up(rows, lost, len(rows), 0, self.shift)[: len(rows) - lost.total]


def starts(first: np.ndarray, rows: np.ndarray, end: int) -> np.ndarray:
    """Return where the lists of some rows begin, from the column `first` of all; the list behind the last one begins at `end`."""
    count = len(first)
    return np.where(rows < count, first[np.minimum(rows, count - 1)], end) if count else np.full(len(rows), end)


def close_up(column: np.ndarray, gaps: Gaps, n: int, fill, shift: np.ndarray | None = None) -> np.ndarray:
    """Return a column, or another array with the row last, without the rows in gaps; the others move in its memory.

    Parameters
    ----------
    column : ndarray (..., m)
        In Fortran's order; `n` rows are in use.  It is no longer to be used.
    fill
        Value of the rows that get free behind those in use.
    shift : ndarray (k,), optional
        What is taken from the values behind each gap: pointers into another table.

    Returns
    -------
    ndarray
        As many rows as `column`; fewer where rows before the gap have moved, since it begins behind the rows that have got free.
    """
    if not column.flags.f_contiguous or (shift is not None and column.dtype != np.int32):
        raise ValueError("only columns in Fortran's order close up, and only integers of four bytes are pointers")
    if not gaps.start.size:
        return column
    shift = np.zeros(gaps.start.size, np.int64) if shift is None else shift
    down = gaps.behind_most(n)
    _close_rows(np.array([_place(column, fill)], np.int64).T, [1], shift[:, None], gaps.start, gaps.stop, n, down)
    return column[..., gaps.total :] if down else column


def _place(column: np.ndarray, fill) -> tuple[int, int, int, int]:
    """Return what the kernel `close_rows` asks of a column: its address, bytes of a number and of a row, and bits of the fill value."""
    size = column.itemsize
    return column.ctypes.data, size, prod(column.shape[:-1]) * size, int(np.array(fill, column.dtype).view(f"i{size}"))


def enlarged(array: np.ndarray, count: int, fill) -> np.ndarray:
    """A copy with room for `count` rows, the last index, in Fortran's order.

    Pages of memory that hold zeros only are not written, so the system need not give them: contacts leave a half of their columns to the user's
    constraints.
    """
    kept = min(count, array.shape[-1])
    if fill == 0:
        result = np.zeros((*array.shape[:-1], count), array.dtype, order="F")
        for first in range(0, kept, AT_ONCE):
            rows = slice(first, min(first + AT_ONCE, kept))
            if _any_bit(array[..., rows]):
                result[..., rows] = array[..., rows]
        return result
    result = np.empty((*array.shape[:-1], count), array.dtype, order="F")
    result[..., :kept] = array[..., :kept]
    result[..., kept:] = fill
    return result


def refill(rows: np.ndarray, fill) -> None:
    """Fill rows of a column; those that hold zeros already are not written."""
    if fill != 0 or rows.shape[-1] < AT_ONCE:
        rows[...] = fill
        return
    for first in range(0, rows.shape[-1], AT_ONCE):
        several = rows[..., first : first + AT_ONCE]
        if _any_bit(several):
            several[...] = 0


def _any_bit(rows: np.ndarray) -> bool:
    """Whether rows hold anything but zeros; minus zero is not zero."""
    return bool(rows.view(f"i{rows.itemsize}").any())


def appended(array: np.ndarray, more: np.ndarray) -> np.ndarray:
    """An array with `more` behind it along the last index, in the memory behind it where there is room; `array` is then no longer to be used."""
    count, total = array.shape[-1], array.shape[-1] + more.shape[-1]
    room = _from_first_row(array)
    if room is None or room.shape[-1] < total:
        room = enlarged(array, max(total, 2 * count), 0)
    room[..., count:total] = more
    return room[..., :total]


def _from_first_row(array: np.ndarray) -> np.ndarray | None:
    """Return the memory in which an array stands, from its first row on; None: it has none but its own."""
    room = array.base
    if room is None or room.shape[:-1] != array.shape[:-1] or room.dtype != array.dtype or not room.flags.f_contiguous:
        return None
    return room[..., (array.ctypes.data - room.ctypes.data) // (array.itemsize * prod(array.shape[:-1])) :]


class _Column:
    """A column of a table (in its `vars`), which cannot be replaced once it is registered for kernels."""

    def __init__(self, name: str):
        self.name = name

    def __set__(self, table: Table, values: np.ndarray) -> None:
        if table.handle:
            raise AttributeError(f"kernels know where column {self.name!r} of {type(table).__name__} is; write into it, do not replace it")
        vars(table)[self.name] = values


class _Array:
    """An array of a record (in its `vars`), which is registered for kernels when it is assigned."""

    def __init__(self, name: str):
        self.name = name

    def __set__(self, record: Record, values: np.ndarray) -> None:
        record.replace(**{self.name: values})


class Table:
    """Columns growing together.  Subclasses list them in `COLUMNS` as name -> (shape of one row, dtype, fill).

    `POINTS_INTO` lists the columns that hold row numbers: name -> name of the table (or other list) whose rows they are.
    A negative row number points to nothing.  In a table that is `REFILLED` rows behind those in use always hold fill values: kernels
    write rows in use only.

    Attributes
    ----------
    n : int
        Number of rows in use.
    capacity : int
        Number of rows allocated; every column has shape ``(*row_shape, capacity)``.
    generation : int
        Increases whenever columns are reallocated.
    edits : int
        Increases whenever the methods below append or remove rows, which a step does not do.
    handle : int
        Handle of the table for kernels; 0: they have none.
    """

    COLUMNS: dict[str, tuple[tuple[int, ...], str, float]] = {}
    POINTS_INTO: dict[str, str] = {}
    REFILLED = False

    def __init_subclass__(cls):
        super().__init_subclass__()
        for name in cls.COLUMNS:
            setattr(cls, name, _Column(name))

    def __init__(self, capacity: int = 16):
        self._registration, self.handle = _Registration(), 0
        self._rows = c_int64(0)  # memory in which kernels find `n`
        self.capacity = capacity
        self.generation = self.edits = 0
        for name, (shape, dtype, fill) in self.COLUMNS.items():
            setattr(self, name, np.full((*shape, capacity), fill, dtype, order="F"))
        self._register()

    def _use(self, rows: int) -> None:
        """Let so many rows be in use."""
        if self.REFILLED:
            for name, (_, _, fill) in self.COLUMNS.items():
                getattr(self, name)[..., rows : self.n] = fill
        self._rows.value = rows

    n = property(attrgetter("_rows.value"), _use)  # a step reads numbers of rows dozens of times, and this without a call of Python code

    def _register(self) -> None:
        """Register the present addresses of the columns for kernels."""
        places = [_place(getattr(self, name), fill) for name, (_, _, fill) in self.COLUMNS.items()]
        self._places = np.array(places, np.int64).reshape(-1, 4).T
        self._bind()

    def _bind(self) -> None:
        """Tell kernels where the columns are."""
        number = known_number(type(self), self.COLUMNS, {})
        if number:
            known = self._registration
            known.handle = self.handle = _bind(known.handle, number, addressof(self._rows), self._places[0], [self.capacity] * len(self.COLUMNS))

    def __deepcopy__(self, memo: dict):
        copied = memo[id(self)] = type(self).__new__(type(self))
        vars(copied).update(copy.deepcopy(vars(self), memo))
        copied._register()
        return copied

    def reserve(self, rows: int) -> None:
        """Make room for `rows` rows in total, keeping contents."""
        if rows <= self.capacity:
            return
        self._reallocate(max(rows, 2 * self.capacity))

    def _reallocate(self, capacity: int) -> None:
        """Give the columns memory for `capacity` rows, keeping contents."""
        columns, n = vars(self), self.n
        for name, (_, _, fill) in self.COLUMNS.items():
            columns[name] = enlarged(columns[name][..., :n], capacity, fill)
        self.capacity = capacity
        self.generation += 1
        self._places[0] = [columns[name].ctypes.data for name in self.COLUMNS]
        self._bind()

    def append(self, count: int = 1, **values) -> int:
        """Append `count` rows, set the given columns (the others get their fill value) and return the first row."""
        first = self.n
        if not count:
            return first
        end = first + count
        columns = self._room(end, values.keys())
        for name, value in values.items():
            columns[name][..., first:end] = value
        self._rows.value = end
        return first

    def extend(self, count: int) -> int:
        """Append rows that hold fill values, in a table that is `REFILLED`, and return the first of them."""
        first = self._rows.value
        end = first + count
        if end > self.capacity:
            self.reserve(end)
        self.edits += 1
        self._rows.value = end
        return first

    def append_row(self, **values) -> int:
        """Append one row as `append` does, in a third of its time: values are numbers, or arrays in the shape of one row."""
        row = self.n
        columns = self._room(row + 1, values.keys())
        for name, value in values.items():
            column = columns[name]
            if column.ndim == 1:  # one index sets a number in a third of the time of others
                column[row] = value
            else:
                column[..., row] = value
        self._rows.value = row + 1
        return row

    def _room(self, end: int, names: Collection[str]) -> dict[str, np.ndarray]:
        """Make room for rows before `end`, which hold fill values then; return the columns, KeyError if any of `names` is none."""
        if names and not names <= self.COLUMNS.keys():
            raise KeyError(f"{type(self).__name__} has no columns {sorted(names - self.COLUMNS.keys())}")
        if end > self.capacity:
            self.reserve(end)
        self.edits += 1
        columns = vars(self)
        if not self.REFILLED:
            for name, (_, _, fill) in self.COLUMNS.items():
                refill(columns[name][..., self.n : end], fill)
        return columns

    def keep(self, mask: np.ndarray) -> None:
        """Keep the rows for which `mask` (length n) is true, in their order."""
        self.compact(mask)
        self.edits += 1

    def compact(self, mask: np.ndarray) -> None:
        """Keep rows as `keep` does, but without counting an edit: for contacts within a step."""
        gone = np.flatnonzero(~mask)
        if gone.size:
            new = np.concatenate(([True], np.diff(gone) > 1))  # first rows of gaps
            last = np.append(np.flatnonzero(new)[1:], gone.size) - 1
            self._move(Gaps(gone[new], gone[last] + 1), {})

    def close(self, gaps: dict[str, Gaps]) -> None:
        """Remove rows; pointers of the rows that stay follow the tables into which they point.

        Parameters
        ----------
        gaps : dict of Gaps
            By names of tables, all of the same bodies: what stands behind a gap points behind this gap of other tables, too.
        """
        own = gaps[type(self).__name__]
        self._move(own, {name: gaps[table].shift for name, table in self.POINTS_INTO.items() if table in gaps}, own.behind_most(self.n))
        self.edits += 1

    def _move(self, gaps: Gaps, shifts: dict[str, np.ndarray], down: bool = False) -> None:
        """Let the rows that stay move, up or `down`, and take from columns the shift of each run of rows."""
        if not gaps.start.size:
            return
        idle = self._idle_among(0, int(gaps.stop[0])) if down else self._idle_among(int(gaps.start[0]), self.n)
        none = np.zeros(gaps.start.size, np.int64)
        shift = np.array([shifts.get(name, none) for name in self.COLUMNS])
        _close_rows(self._places, [name not in idle for name in self.COLUMNS], shift.T, gaps.start, gaps.stop, self.n, down)
        self._rows.value = self.n - gaps.total
        if down:
            self._begin_behind(gaps.total)

    def _begin_behind(self, rows: int) -> None:
        """Let the columns begin behind so many rows, whose memory is not used until columns are reallocated."""
        columns = vars(self)
        for name in self.COLUMNS:
            columns[name] = columns[name][..., rows:]
        self.capacity -= rows
        self.generation += 1
        self._places[0] += rows * self._places[2]
        self._bind()

    def _idle_among(self, first: int, stop: int) -> Collection[str]:
        """Return the columns of which rows from `first` to `stop` need not move: these have one value in all of them, or those that count are elsewhere."""
        return ()

    def view(self, name: str) -> np.ndarray:
        """The rows in use of one column (a view, not a copy)."""
        return getattr(self, name)[..., : self.n]

    @classmethod
    def record(cls, names=None) -> np.dtype:
        """Return the record type of one row: the columns in `names`, or all of them, in that order and little-endian."""
        return np.dtype([(name, "<" + cls.COLUMNS[name][1], cls.COLUMNS[name][0]) for name in names or cls.COLUMNS])

    def pack(self, rows, names=None, *, origins=None, dtype=None, room=None, **others) -> np.ndarray:
        """Pack rows as records, which `unpack` appends to this or another table.

        Parameters
        ----------
        rows : slice or array of int or bool
            Rows to pack, in that order.
        names : sequence of str, optional
            Columns to pack, all by default.
        origins : dict, optional
            Name in `POINTS_INTO` -> row from which packed pointers count, one number or one for each packed row.
            Every table into which packed columns point needs one.  Without origins pointers are not changed.
        dtype : dtype, optional
            Type of the records, ``record(names)`` by default.
        room : array of records, optional
            Memory for the result.
        **others
            Further fields of `dtype`, arrays with the row first.

        Returns
        -------
        array of records
            A field has the shape of one row of its column.
        """
        names = tuple(names or self.COLUMNS)
        if isinstance(rows, slice):
            rows = slice(*rows.indices(self.n))
            count = len(range(rows.start, rows.stop, rows.step))
        else:
            rows = np.asarray(rows)
            rows = np.flatnonzero(rows) if rows.dtype == bool else np.arange(self.n)[rows.astype(np.intp)]
            count = rows.size
        packed = np.empty(count, self.record(names) if dtype is None else dtype) if room is None else room[:count]
        if count <= FEW_RECORDS:
            columns = vars(self)
            for name, column in others.items():
                packed[name] = column
            for name in names:
                packed[name] = rows_first(columns[name][..., rows])
            self._shift(packed, names, origins, -1)
            return packed
        raw = packed.view(_untyped(packed.dtype))
        pairs = [(packed[name], column) for name, column in others.items()]
        for name in names:
            column = self.view(name)[..., rows]
            if column.ndim == 2 and column.flags.f_contiguous and column.dtype == packed.dtype[name].base and count:
                pairs.append((raw[name], column.T.view(raw.dtype[name])[:, 0]))
            else:
                pairs.append((packed[name], rows_first(column)))
        for first in range(0, count, AT_ONCE):  # so that the records stay in the processor's cache while they fill up
            for target, source in pairs:
                target[first : first + AT_ONCE] = source[first : first + AT_ONCE]
        self._shift(packed, names, origins, -1)
        return packed

    def unpack(self, packed: np.ndarray, origins=None) -> int:
        """Append packed rows and return the first of them; columns that the records lack get their fill value.

        Parameters
        ----------
        packed : array of records
            Records of `pack`; they are not changed.
        origins : dict, optional
            Name in `POINTS_INTO` -> row of this model for the origin with which the records were packed.
        """
        names = packed.dtype.names
        if not set(names) <= set(self.COLUMNS):
            raise KeyError(f"{type(self).__name__} has no columns {sorted(set(names) - set(self.COLUMNS))}")
        packed = packed.copy() if origins else packed
        self._shift(packed, names, origins, 1)
        first = self.append(len(packed))
        self.fill(packed, slice(first, self.n))
        return first

    def fill(self, packed: np.ndarray, rows: slice, names=None) -> None:
        """Write records into existing rows; columns that the records lack are not changed."""
        for name in (name for name in names or self.COLUMNS if name in packed.dtype.names):
            column = getattr(self, name)
            column[..., rows] = np.moveaxis(packed[name], 0, -1) if column.ndim > 1 else packed[name]

    def _shift(self, packed: np.ndarray, names, origins, sign: int) -> None:
        """Add origins to (or with sign -1 subtract them from) the pointers in records."""
        if origins is None:
            return
        pointers = {name: table for name, table in self.POINTS_INTO.items() if name in names}
        missing = sorted(set(pointers.values()) - set(origins))
        if missing:
            raise KeyError(f"{type(self).__name__} points into {', '.join(missing)}: from which rows on?")
        for name, table in pointers.items():
            numbers = packed[name]
            origin = np.asarray(origins[table], np.int64)
            if origin.ndim:
                origin = origin.reshape(-1, *(1,) * (numbers.ndim - 1))
            numbers[...] = np.where(numbers < 0, numbers, numbers + sign * origin)

    def trim(self) -> None:
        """Give back the memory of rows that are not in use."""
        if self.capacity <= max(16, self.n + self.n // 4):
            return
        self._reallocate(max(16, self.n))

    def nbytes(self) -> int:
        """Memory of all columns, in bytes."""
        return sum(getattr(self, name).nbytes for name in self.COLUMNS)


class Record:
    """Arrays and numbers that kernels take together, by one handle.

    Subclasses list arrays in `COLUMNS` as name -> (shape of one row, dtype), the row number last and each of its own length,
    and numbers in `NUMBERS` as name -> dtype.  Both are ordinary members: assigning an array replaces the old one,
    assigning a number writes it where kernels find it.  Kernels take the member `handle`.
    """

    COLUMNS: dict[str, tuple[tuple[int, ...], str]] = {}
    NUMBERS: dict[str, str] = {}

    def __init_subclass__(cls):
        super().__init_subclass__()
        for name in cls.COLUMNS:
            setattr(cls, name, _Array(name))
        for name in cls.NUMBERS:
            setattr(cls, name, _number(name))

    def __init__(self, **arrays: np.ndarray):
        vars(self).update(_registration=_Registration(), _options=(), _numbers=SimpleNamespace(**{name: NUMBER_TYPES[kind]() for name, kind in self.NUMBERS.items()}))
        for name, (shape, dtype) in self.COLUMNS.items():
            vars(self)[name] = np.zeros((*shape, 0), dtype, order="F")
        self._find_arrays()
        self._register()
        self.replace(**arrays)

    def replace(self, **arrays: np.ndarray) -> None:
        """Replace some arrays."""
        held, changed = vars(self), False
        for name, value in arrays.items():
            if value is held[name]:
                continue
            shape, dtype = self.COLUMNS[name]
            if value.dtype != dtype or value.shape[:-1] != shape or not value.flags.f_contiguous:
                raise ValueError(f"{type(self).__name__}.{name} is an array of {dtype} {(*shape, 'n')} in Fortran's order, not {value.dtype} {value.shape}")
            held[name] = value
            self._places[name] = value.ctypes.data, value.shape[-1]
            changed = True
        if changed:
            self._register()

    def choose(self, *options) -> None:
        """Write the first numbers, in the order of `NUMBERS`, if they differ from those chosen last; nothing else may write these."""
        if options != self._options:
            for name, value in zip(self.NUMBERS, options):
                setattr(self, name, value)
            self._options = options

    def extend(self, **arrays: np.ndarray) -> None:
        """Put rows behind those of some arrays, which keep room for more of them."""
        for name, more in arrays.items():
            vars(self)[name] = value = appended(vars(self)[name], more)
            self._places[name] = value.ctypes.data, value.shape[-1]
        self._register()

    def _register(self) -> None:
        """Register the present addresses of arrays and numbers for kernels."""
        number = known_number(type(self), self.COLUMNS, self.NUMBERS)
        addresses, lengths = zip(*self._places.values())
        known = self._registration
        known.handle = self.handle = _bind(known.handle, number, 0, addresses, lengths)

    def _find_arrays(self) -> None:
        """Store addresses and lengths of all arrays and numbers (numpy takes a microsecond to return an address)."""
        columns = {name: vars(self)[name] for name in self.COLUMNS}
        vars(self)["_places"] = {name: (column.ctypes.data, column.shape[-1]) for name, column in columns.items()}
        self._places.update((name, (addressof(number), 1)) for name, number in vars(self._numbers).items())

    def __deepcopy__(self, memo: dict):
        copied = memo[id(self)] = type(self).__new__(type(self))
        vars(copied).update(copy.deepcopy(vars(self), memo))
        copied._find_arrays()
        copied._register()
        return copied


def _number(name: str) -> property:
    """Make a member for a number of a record."""
    place = attrgetter(f"_numbers.{name}")

    def put(record, value) -> None:
        place(record).value = value

    return property(attrgetter(f"_numbers.{name}.value"), put)


#: Status of a kernel for an unknown handle (fortran/tables/table_registry.f90).
TABLE_UNKNOWN = 100


def opened(status: int) -> None:
    """Raise RuntimeError if a kernel reports an unknown handle."""
    if status:
        raise RuntimeError("a kernel does not know a table by its handle; please report this")


def rows_first(column: np.ndarray) -> np.ndarray:
    """View of a column with the row number first (np.moveaxis costs ten times as much)."""
    return column if column.ndim == 1 else column.T if column.ndim == 2 else column.transpose(-1, *range(column.ndim - 1))


@cache
def _untyped(dtype: np.dtype) -> np.dtype:
    """Return the record type with fields as plain bytes, which copies whole vectors in half the time."""
    fields = {name: dtype.fields[name] for name in dtype.names}
    return np.dtype({
        "names": list(fields), "formats": [f"V{field[0].itemsize}" for field in fields.values()],
        "offsets": [field[1] for field in fields.values()], "itemsize": dtype.itemsize,
    })  # fmt: skip
