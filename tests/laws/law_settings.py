"""How many random examples are tried: few in the gate, many with HYPOTHESIS_PROFILE=explore; and random 3x3 blocks."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import HealthCheck, Phase, settings

EXPLORING = os.environ.get("HYPOTHESIS_PROFILE", "gate") == "explore"


def examples(count: int):
    """So many examples in the gate, twenty times as many when exploring."""
    more = {} if EXPLORING else {"phases": [Phase.explicit, Phase.generate]}  # seeds do not shrink to anything simpler
    return settings(max_examples=count * (20 if EXPLORING else 1), deadline=None, suppress_health_check=[HealthCheck.too_slow], **more)


def random_block(random, condition=100.0) -> np.ndarray:
    """A symmetric positive definite W_aa of any scale whose friction cannot wedge: |W_NT| stays below 0.3 W_NN."""
    q = np.linalg.qr(random.normal(size=(3, 3)))[0]
    w = q @ np.diag(10.0 ** random.uniform(0, np.log10(condition), 3)) @ q.T
    limit = 0.3 * w[2, 2] / max(np.hypot(w[2, 0], w[2, 1]), 1e-30)
    if limit < 1.0:
        w[2, :2] *= limit
        w[:2, 2] = w[2, :2]
    w = 0.5 * (w + w.T)
    lowest = np.linalg.eigvalsh(w)[0]
    if lowest < 1e-3 * w[2, 2]:  # shrunk couplings leave it positive; rounding may not
        w += (1e-3 * w[2, 2] - lowest) * np.eye(3)
    return w * 10.0 ** random.uniform(-6, 6)
