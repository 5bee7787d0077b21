"""One model on several processes: who owns which bodies, what they tell one another, and sweeps whose bits do not depend on their number."""
