# semicircular dry arch of 27 blocks; arguments: thickness over radius, friction, steps
import os
args = NON_SOLFEC_ARGV ()
ratio, friction, steps = float (args [0]), float (args [1]), long (args [2])
radius = 10
width = 5.
blocks = 27
execfile (os.path.join (os.path.dirname (__file__), 'arch-block.py'))

GEOMETRIC_EPSILON (1E-4)
step = 1E-3
solfec = SOLFEC ('DYNAMIC', step, 'out/old/arch-' + str (ratio) + '-' + str (friction))
solfec.verbose = 'OFF'
CONTACT_SPARSIFY (solfec, 0.005)
surf = SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = friction)
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', density = 1)
GRAVITY (solfec, (0, 0, -9.81))
d = pi / blocks
BODY (solfec, 'OBSTACLE', wedge (-d, 0, 0), bulk)
BODY (solfec, 'OBSTACLE', wedge (pi, pi + d, 0), bulk)
for i in range (blocks): BODY (solfec, 'RIGID', wedge (i*d, (i+1)*d, 1 + i % 4), bulk)
gs = GAUSS_SEIDEL_SOLVER (1E-4, 10000)
OUTPUT (solfec, steps * step)
RUN (solfec, gs, steps * step)
print 'path', solfec.outpath
print 'mass', solfec.bodies [0].mass
print 'kinetic', repr (ENERGY (solfec) [0])
