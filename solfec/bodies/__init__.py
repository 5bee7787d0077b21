"""Rigid and pseudo-rigid bodies: their table, motion, loads and bulk materials."""
