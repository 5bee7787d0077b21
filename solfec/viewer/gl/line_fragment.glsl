in vec3 world;
in vec3 reference;
uniform isamplerBuffer edge_bodies;
uniform vec3 colour;
#include "common"
void main() {
  vec4 look = texelFetch(looks, texelFetch(edge_bodies, gl_PrimitiveID).x);
  if (look.a == 0. || see_through(abs(look.a) / max(fade, .6)) || cut_away(world, reference, -1)) discard;
  albedo = vec4(colour, 0);
  normal = vec4(0);
  ids = uvec2(0);
}
