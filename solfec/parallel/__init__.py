"""One model on several processes: ownership of bodies, communication, and sweeps whose bits do not depend on the number of processes."""
