# One model for either engine: this input makes a model of the explicit engine part of an implicit one, and either-explicit.py runs it as
# it stands.  The models are a block that slides, a chain of rods that falls, and a row of bricks whose ends are shaken.
#
#   solfec either.py block|chain|row
#   parmec either-explicit.py block|chain|row
import os

words = NON_SOLFEC_ARGV () or []
name = (words + ['block'])[0]
duration, step, seen = {'block': (0.5, 1E-3, [0]), 'chain': (1.0, 1E-3, [4]), 'row': (0.5, 2E-4, [1, 5, 10])}[name]

solfec = SOLFEC ('DYNAMIC', step, 'out/either-' + name)
bulk = BULK_MATERIAL (solfec, density = 1000)
here = os.path.dirname (os.path.abspath (__file__))
bodies = PARMEC_IMPORT (solfec, os.path.join (here, 'either-%s.py' % name), bulk)
RUN (solfec, NEWTON_SOLVER (), duration)

if solfec.mode == 'WRITE' and not VIEWER():
  for p in seen: print ('particle %d: %.5f %.5f %.5f' % (p, *bodies[p].conf[9:12]))
