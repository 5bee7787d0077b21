"""Inputs written in Python 2 for Solfec-1.0, run unmodified (docs/legacy.md).

`source` decodes and masks texts, `grammar` parses them, `translate` makes Python 3 of them, `reading` decides which
language a file is, `loader` runs files and imports modules, `names`, `runtime`, `modules`, `random2`, `pickle2` provide
what old code uses at run time, `watch` checks files that could be either, `convert` writes clean Python 3.
"""
