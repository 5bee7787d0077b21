"""Runs in which the implicit and the explicit engine advance one model together."""
