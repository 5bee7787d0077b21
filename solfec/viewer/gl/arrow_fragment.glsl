in vec3 world;
flat in float value;
flat in ivec4 owner;
flat in int number;
#include "common"
void main() {
  for (int k = 0; k < plane_count; k++) if (referential[k] < .5 && dot(planes[k].xyz, world) > planes[k].w) discard;
  normal = vec4(facing(normalize(cross(dFdx(world), dFdy(world))), world), 1);
  albedo = vec4(mode == 2 ? category(owner.z) : scale(value), 1);
  ids = uvec2(0x80000000u + uint(owner.y), uint(number));
}
