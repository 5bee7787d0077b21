# The models of either.py in the explicit engine.
import os

name = (ARGV () + ['block'])[0]
duration, step, seen = {'block': (0.5, 1E-5, [0]), 'chain': (1.0, 1E-4, [4]), 'row': (0.5, 5E-5, [1, 5, 10])}[name]
here = os.path.dirname (os.path.abspath (__file__))
exec (open (os.path.join (here, 'either-%s.py' % name)).read ())

places = [[HISTORY (c, p) for c in ('PX', 'PY', 'PZ')] for p in seen]
DEM (duration, step, (1E9, step))
for p, place in zip (seen, places): print ('particle %d: %.5f %.5f %.5f' % (p, *(c[-2] for c in place)))
