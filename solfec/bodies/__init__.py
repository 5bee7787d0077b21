"""Bodies: their table, motion, elements, loads and bulk materials."""
