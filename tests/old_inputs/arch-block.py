# included by arch.py: the wedge of an arch between two angles; uses radius, width and ratio of the including file
from math import sin, cos, pi

def wedge (a, b, surf):
	r = (radius * (1 - ratio / 2), radius * (1 + ratio / 2))
	pts = []
	for t in (a, b):
		for i, y in ((0, -1), (1, -1), (1, 1), (0, 1)):
			pts.extend ([-r [i] * cos (t), y * width / 2, r [i] * sin (t)])
	return HEX (pts, 3, 2, 1, surf, [surf] * 6, dx = [0.05, 1.9, 0.05])
