"""The module `random` with Python 2's sequences: integers, choices and shuffles differ from Python 3's."""

from __future__ import annotations

import math
import random
from random import SystemRandom  # noqa: F401 (part of the module)

_WORD = 1 << 64


def hash_of_text(text: str) -> int:
    """Python 2's hash of a string on 64-bit machines."""
    octets = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
    if not octets:
        return 0
    x = octets[0] << 7
    for octet in octets:
        x = (1000003 * x ^ octet) % _WORD
    x ^= len(octets)
    return _WORD - 2 if x == _WORD - 1 else x


def hash_of_float(x: float) -> int:
    """Python 2's hash of a float that is no whole number."""
    if math.isinf(x):
        return 314159 if x > 0 else (-271828) % _WORD
    if x != x:
        return 0
    if x == int(x):
        return int(x) % _WORD if abs(x) < 2**63 else hash(x) % _WORD
    mantissa, exponent = math.frexp(x)
    mantissa *= 2147483648.0
    high = int(mantissa)
    mantissa = (mantissa - high) * 2147483648.0
    total = high + int(mantissa) + (exponent << 15)
    return (-2 if total == -1 else total) % _WORD


def hash_of_tuple(items: tuple) -> int:
    """Python 2's hash of a tuple of numbers, texts and tuples."""
    x, factor = 0x345678, 1000003
    for left, item in zip(range(len(items) - 1, -1, -1), items):
        if isinstance(item, (str, bytes)):
            own = hash_of_text(item)
        elif isinstance(item, (float, tuple)):
            own = hash_of_float(item) if isinstance(item, float) else hash_of_tuple(item)
        else:
            own = hash(item)
        x = ((x ^ own) * factor) % _WORD
        factor += 82520 + 2 * left
    x = (x + 97531) % _WORD
    return _WORD - 2 if x == _WORD - 1 else x


class Random(random.Random):
    """Python 2's generator: `random ()` is that of Python 3, integers are derived as in Python 2."""

    def seed(self, a=None, version=1):
        """Start a sequence from None (the system's noise), a number or a string."""
        if isinstance(a, float):
            a = int(a) if a == int(a) and abs(a) < 2**63 else hash_of_float(a) if a == a else 0
        elif isinstance(a, (str, bytes, bytearray)):
            a = hash_of_text(a)
        elif isinstance(a, tuple):
            a = hash_of_tuple(a)
        elif a is not None and not isinstance(a, int):
            a = hash(a) % _WORD
        super().seed(a)

    def randrange(self, start, stop=None, step=1):
        """Like choice (range (start, stop, step))."""
        first, stride = int(start), int(step)
        if first != start or stride != step or (stop is not None and int(stop) != stop):
            raise ValueError("non-integer argument for randrange()")
        if stop is None:
            first, stop = 0, first
        width = int(stop) - first
        count = width if stride == 1 else (width + stride - (1 if stride > 0 else -1)) // stride if stride else 0
        if count <= 0:
            raise ValueError("empty range for randrange()" if stride else "zero step for randrange()")
        return first + stride * (self._randbelow(count) if count >= 1 << 53 else int(self.random() * count))

    def randint(self, a, b):
        """An integer from a to b, both included."""
        return self.randrange(a, b + 1)

    def choice(self, seq):
        """An item of a sequence."""
        return seq[int(self.random() * len(seq))]

    def shuffle(self, x, random=None):
        """Mix a list in place."""
        random = random or self.random
        for i in range(len(x) - 1, 0, -1):
            j = int(random() * (i + 1))
            x[i], x[j] = x[j], x[i]

    def sample(self, population, k):
        """k different items of a sequence."""
        n = len(population)
        if not 0 <= k <= n:
            raise ValueError("sample larger than population")
        size = 21 if k <= 5 else 21 + 4 ** math.ceil(math.log(k * 3, 4))
        if n <= size or hasattr(population, "keys"):
            return self._from_pool(list(population), k)
        if isinstance(population, (set, frozenset)):
            population = tuple(population)
        result, selected = [], set()
        for _ in range(k):
            j = int(self.random() * n)
            while j in selected:
                j = int(self.random() * n)
            selected.add(j)
            result.append(population[j])
        return result

    def _from_pool(self, pool: list, k: int) -> list:
        n, result = len(pool), []
        for i in range(k):
            j = int(self.random() * (n - i))
            result.append(pool[j])
            pool[j] = pool[n - i - 1]
        return result

    def gammavariate(self, alpha, beta):
        """Draw from the gamma distribution; exponential variates are computed as in Python 2."""
        if alpha != 1.0 or beta <= 0.0:
            return super().gammavariate(alpha, beta)
        u = self.random()
        while u <= 1e-7:
            u = self.random()
        return -math.log(u) * beta

    def jumpahead(self, n):
        """Do nothing useful: Python 2 promises no sequence; kept for scripts that call it."""
        super().seed(n)


_generator = Random()
_NAMES = ("seed random uniform triangular randint choice randrange sample shuffle normalvariate lognormvariate expovariate"
          " vonmisesvariate gammavariate gauss betavariate paretovariate weibullvariate getstate setstate jumpahead getrandbits")  # fmt: skip
for _name in _NAMES.split():
    globals()[_name] = getattr(_generator, _name)
__all__ = ["Random", "SystemRandom", *_NAMES.split()]
