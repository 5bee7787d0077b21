in vec3 world;
flat in float value;
flat in ivec4 owner;
flat in int number;
#include "common"
void main() {
  if (cut_away(world, -1)) discard;
  normal = vec4(facing(normalize(mat3(view) * cross(dFdx(world), dFdy(world)))), 1);
  albedo = vec4(mode == 2 ? category(owner.z) : scale(value), 1);
  ids = uvec2(0x80000000u + uint(owner.y), uint(number));
}
