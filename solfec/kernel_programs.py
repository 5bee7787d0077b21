"""Several kernels in one call, with arguments whose addresses are looked up once.

A kernel that works on a large model empties the caches, and every line of Python and every array argument after it has to be
fetched from memory again, ten times as slowly as before.  So the phases of a time step that need no Python in between are
run as one program: arrays are checked as f2py checks them, their addresses are listed, and both are done anew only when
`tables.note_reallocation` has been called.  Numbers that kernels take from one another, or from Python, are in `Numbers`.

In builds with DEBUG = yes kernels are called one by one, and addresses are compared with the arrays before each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from struct import Struct, calcsize
from time import perf_counter

import numpy as np

from . import _kernels
from ._kernel_arguments import KERNELS
from .tables import Table

_run = _kernels.kernel_programs.run
_run_at = _kernels.kernel_programs.run_at

PHASES = ("TIMINT", "CONUPD", "CONDET", "LOCDYN", "CONSOL")  # of a time step, in the manual's words
TIMINT, CONUPD, CONDET, LOCDYN, CONSOL = range(len(PHASES))

_CODES = {"i4": "i", "i8": "q", "f8": "d"}
_DTYPES = {name: np.dtype(name) for name in ("i4", "i8", "f4", "f8")}
COLUMNS = 8  # of a step, see the kernel `run`

#: Whether kernels are called one by one, after a look at whether their arrays are where they were.
stepwise = bool(_kernels.threads.has_checks())


GIVE_UP = -1  # of `Phase.stopped`: the rest of the step is not for this program


class Numbers:
    """Scalar arguments in memory of their own: ``Numbers(step="f8", bodies="i4")``.

    Attributes
    ----------
    set, get : callable
        All numbers at once, in the order of the names.
    """

    def __init__(self, **kinds: str):
        codes = [_CODES[kind] for kind in kinds.values()]
        layout = Struct("@" + "".join(codes))
        self.memory = bytearray(max(layout.size, 8))  # the quickest for `struct`
        ends = (calcsize("@" + "".join(codes[: k + 1])) for k in range(len(codes)))
        self.views = {
            name: np.frombuffer(self.memory, _DTYPES[kind], 1, end - _DTYPES[kind].itemsize)
            for (name, kind), end in zip(kinds.items(), ends)
        }
        self.set: Callable[..., None] = partial(layout.pack_into, self.memory, 0)
        self.get: Callable[[], tuple] = partial(layout.unpack_from, self.memory, 0)

    def __getitem__(self, name: str) -> np.ndarray:
        """One of them, as an array of one number."""
        return self.views[name]

    def __reduce_ex__(self, protocol):
        kinds = {name: view.dtype.str[1:] for name, view in self.views.items()}
        return _numbers, (type(self), kinds, self.get())  # copies have memory of their own


def _numbers(kind: type[Numbers], kinds: dict[str, str], values: tuple) -> Numbers:
    """A copy of numbers."""
    copied = kind.__new__(kind)
    Numbers.__init__(copied, **kinds)
    copied.set(*values)
    return copied


def remembered(numbers: str, name: str, kind: type | None = None) -> property:
    """A member of a class that is one of the numbers in its member `numbers`, which kernels change without Python."""

    def get(instance):
        value = getattr(instance, numbers).views[name].item()
        return value if kind is None else kind(value)

    def put(instance, value) -> None:
        getattr(instance, numbers).views[name][0] = value

    return property(get, put)


class Call:
    """A kernel with its arguments.

    Parameters
    ----------
    kernel : str
        Module and procedure, of those that fortran/meson.build lists as `in_programs`.
    *arguments
        As for the kernel that f2py wraps; scalars are members of `Numbers`, or numbers that stay as they are.
    results : Numbers or tuple of Numbers
        Memory of intent(out) scalars that they have names for.
    phase : int
        The phase in whose seconds the kernel's are counted; by default that of its `Phase`.
    wanted : dict
        Names of integer results, and what they must be for the program to go on.
    unless_zero : ndarray of int32 (1,), optional
        The kernel is left out where this is 0.
    back : int
        The program goes back by so many kernels as long as `unless_zero` is not 0 after this one.

    Raises
    ------
    ValueError
        An argument of another type, order or shape than the kernel's.
    """

    def __init__(
        self, kernel: str, *arguments, results=(), wanted=None, unless_zero=None, back: int = 0, phase: int | None = None
    ):  # fmt: skip
        self.kernel, self.phase = kernel, phase
        named = {name: view for numbers in np.atleast_1d(results) for name, view in numbers.views.items()}
        self.number, described = KERNELS[kernel]
        self.kept: list[np.ndarray] = []
        extents = {size for _, _, shape, intent in described if intent != "out" for size in shape}
        given, places, sizes = iter(arguments), {}, {}
        for name, kind, shape, intent in described:
            if intent == "out":
                places[name] = self._checked(name, kind, shape, sizes, named.get(name, 0))
            elif name not in extents or shape:
                value = next(given, None)
                if value is None:
                    raise ValueError(f"{kernel}: argument {name} is missing")
                places[name] = self._checked(name, kind, shape, sizes, value)
        if next(given, None) is not None:
            raise ValueError(f"{kernel}: too many arguments")
        for name, kind, _, _ in described:
            if name not in places:
                places[name] = self._checked(name, kind, (), sizes, sizes[name])
        self.addresses = [places[name] for name, *_ in described]
        stops = [part for name, value in (wanted or {}).items() for part in (places[name], value)]
        guard = 0 if unless_zero is None else self._checked("unless_zero", "i4", (), sizes, unless_zero)
        self.conditions = (guard, *(stops + [0, 0, 0, 0])[:4], back)

    def _checked(self, name: str, kind: str, shape: tuple, sizes: dict, value) -> int:
        """The address of an argument."""
        dtype = _DTYPES[kind]
        if not isinstance(value, np.ndarray):
            value = np.full(1, value, dtype)
        if value.dtype != dtype or not (value.flags.f_contiguous and value.flags.aligned):
            raise ValueError(f"{self.kernel}: {name} must be an array of {dtype} in Fortran's order, not {value.dtype}, {value.strides}")
        if value.ndim != max(len(shape), 1):
            raise ValueError(f"{self.kernel}: {name} must have {len(shape)} axes, not {value.ndim}")
        for size, length in zip(shape or ("1",), value.shape):
            wanted = int(size) if size.isdigit() else sizes.setdefault(size, length)
            if length != wanted:
                raise ValueError(f"{self.kernel}: {name} has {length} where {wanted} are wanted ({size})")
        self.kept.append(value)
        return value.ctypes.data


class Pause(Call):
    """A place in a program where it stops, for what Python does between kernels; `unless_zero` as of kernels."""

    def __init__(self, unless_zero: np.ndarray | None = None):
        self.kernel, self.phase, self.number = "pause", None, -1
        self.kept, self.addresses = [], []
        self.conditions = (0 if unless_zero is None else unless_zero.ctypes.data, 0, 0, 0, 0, 0)


class Phase:
    """A part of a time step.

    Attributes
    ----------
    phase : int
        The phase, one of `PHASES` by its number, in whose seconds its time is counted.
    """

    phase = TIMINT

    def settle(self) -> None:
        """After `note_reallocation`, before a step begins: numbers that stay are set, arrays made large enough."""

    def calls(self) -> list[Call]:
        """The kernels; asked for again after a reallocation."""
        raise NotImplementedError

    def stopped(self, call: int) -> int:
        """A result of one of them was not what it must be, or it is a `Pause`; returns the call from which the program goes on,
        or `GIVE_UP`."""
        raise NotImplementedError

    def end(self) -> None:
        """What Python does after every step, and before anything that comes after a pause behind this phase.

        A phase that leaves this out costs no Python: those who ask read its results in memory.
        """

    def recover(self) -> None:
        """After a step in which it has stopped: what the next step begins with is put back."""


class Program:
    """Phases whose kernels are called at once.

    Parameters
    ----------
    phases : list of Phase
    seconds : ndarray (n,)
        To which the times of phases are added.
    """

    def __init__(self, phases: list[Phase], seconds: np.ndarray):
        self.phases, self._seconds = phases, seconds
        self.gave_up: Phase | None = None
        self._reallocations = -1
        self._prepare = [phase.prepare for phase in phases if isinstance(phase, Preparation) and phase.prepare]
        self._end = [phase.end for phase in phases if type(phase).end is not Phase.end]

    def run(self) -> bool:
        """All phases, one after another; False when one of them gave up."""
        try:
            if self._prepare or self._reallocations != Table.reallocations:
                self._make_ready()
            reached = self._call(0) if stepwise else _run_at(0, self._place)
            if reached < self._count:
                return self._go_on(reached)
            for end in self._end:
                end()
            return True
        except BaseException:  # what phases have noted down stands in the midst of a step: the next one settles anew
            self._reallocations = -1
            raise

    def _make_ready(self) -> None:
        for prepare in self._prepare:
            prepare()
        if self._reallocations != Table.reallocations:
            for phase in self.phases:
                phase.settle()
            self._list()

    def _go_on(self, reached: int) -> bool:
        """What Python does where the program has stopped, and the rest of it."""
        ended, stopped = 0, {}
        while reached < self._count:
            number, first = self._owner[reached]
            for phase in self.phases[ended:number]:
                phase.end()
            ended, phase = number, self.phases[number]
            stopped[number] = phase
            started = perf_counter()
            again = phase.stopped(reached - first)
            self._seconds[phase.phase] += perf_counter() - started
            if again == GIVE_UP:
                self.gave_up = phase
                return False
            if self._reallocations != Table.reallocations:
                self._list()
            reached = self._call(first + again)
        for phase in self.phases[ended:]:
            phase.end()
        for phase in stopped.values():
            phase.recover()
        return True

    def _call(self, first: int) -> int:
        if not stepwise:
            return _run_at(first, self._place)
        for k in range(first, self._count):
            self._compare(k)
            try:
                reached = _run(k, self._steps[:, : k + 1], self._numbers[: k + 1], self._addresses, self._seconds)
                if reached <= k:
                    return reached
            except FloatingPointError as error:
                raise FloatingPointError(f"{self._calls[k].kernel}, {error}") from None
        return self._count

    def _list(self) -> None:
        """Look addresses up."""
        self._reallocations = Table.reallocations
        self._calls, self._owner, places, self._addresses = [], [], [], []
        numbers = []
        for number, phase in enumerate(self.phases):
            first = len(self._calls)
            for call in phase.calls():
                places.append((call.number, len(self._addresses), *call.conditions))
                self._addresses += call.addresses
                self._owner.append((number, first))
                self._calls.append(call)
                numbers.append(phase.phase if call.phase is None else call.phase)
        self._count = len(places)
        self._steps = np.array(places, np.int64).reshape(-1, COLUMNS).T.copy(order="F")
        self._addresses = np.array(self._addresses, np.int64)
        self._numbers = np.array(numbers, np.int32)
        arrays = self._steps, self._numbers, self._addresses, self._seconds
        lengths = self._count, len(self._addresses), len(self._seconds)
        self._places = np.array([*(array.ctypes.data for array in arrays), *lengths], np.int64)
        self._place = self._places.ctypes.data

    def _compare(self, number: int) -> None:
        """Raise AssertionError when an array of a call is not the one whose address is listed.

        Numbers of a call that has been made anew are elsewhere, so constants and results without a name are passed over.
        """
        listed = self._calls[number]
        owner, first = self._owner[number]
        present = self.phases[owner].calls()[number - first]
        for one, two in zip(listed.kept, present.kept, strict=True):
            if one.size > 1 and (one.ctypes.data != two.ctypes.data or one.shape != two.shape):
                raise AssertionError(f"{listed.kernel}: an array was replaced without note_reallocation()")


class Preparation(Phase):
    """A part of a step without kernels, for what Python does before those of the whole program.

    Parameters
    ----------
    function : callable
        Called before every step, ahead of all else, since phases settle by what it leaves and it may replace arrays; or
        (`once`) only to settle.
    """

    def __init__(self, function: Callable[[], None], once: bool):
        self.prepare = None if once else function
        if once:
            self.settle = function

    def calls(self) -> list[Call]:
        return []


class PythonPhase(Phase):
    """A part of a step that is Python's: programs end before it."""

    def __init__(self, phase: int, function: Callable[[], None]):
        self.phase, self.function = phase, function
        self.seconds = np.zeros(len(PHASES))

    def run(self) -> bool:
        """Call it; True, since it never gives up."""
        started = perf_counter()
        self.function()
        self.seconds[self.phase] += perf_counter() - started
        return True


def arrange(phases: list[Phase], seconds: np.ndarray) -> list[Program | PythonPhase]:
    """Programs of as many phases as possible, and what Python does between them."""
    parts: list = []
    for phase in phases:
        if isinstance(phase, PythonPhase):
            phase.seconds = seconds
            parts.append(phase)
        elif parts and isinstance(parts[-1], Program):
            parts[-1] = Program([*parts[-1].phases, phase], seconds)
        else:
            parts.append(Program([phase], seconds))
    return parts
