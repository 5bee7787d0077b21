in vec3 world;
in float value;
in vec3 reference;
uniform isamplerBuffer owners;  // by triangle: body row, body identifier, category, plane of which it is a cap
#include "common"
void main() {
  ivec4 owner = texelFetch(owners, gl_PrimitiveID);
  vec4 look = texelFetch(looks, owner.x);
  if (look.a <= 0. || (owner.w < 0 && see_through(look.a)) || cut_away(world, reference, owner.w)) discard;
  normal = vec4(facing(normalize(cross(dFdx(world), dFdy(world))), world), 1);
  albedo = vec4(owner.w >= 0 ? cut_paint(owner, look, value) : paint(owner, look, value), 1);
  if (!gl_FrontFacing && owner.w < 0) albedo.rgb *= .6;  // the inside of a shape that is open or cut
  ids = uvec2(owner.y, uint(gl_PrimitiveID + 1) + (owner.w >= 0 ? 0x20000000u : 0u));
}
