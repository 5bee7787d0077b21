in vec2 uv;
out vec4 colour;
uniform sampler2D albedo, normals, occlusion;
uniform usampler2D ids;
uniform int lighting;  // 0: none, 1: light, 2: and occlusion
uniform uint chosen;   // identifier of the body that is outlined, 0: none
uniform uint hovered;  // of the body under the pointer of a tool, 0: none
uniform vec2 pixel;
bool border(uint body, uint id) {
  bool inside = id == body, edge = false;
  for (int k = 0; k < 4; k++) {
    vec2 d = k == 0 ? vec2(2, 0) : k == 1 ? vec2(-2, 0) : k == 2 ? vec2(0, 2) : vec2(0, -2);
    edge = edge || (textureLod(ids, uv + d * pixel, 0.).x == body) != inside;
  }
  return edge;
}
void main() {
  vec4 a = textureLod(albedo, uv, 0.), n = textureLod(normals, uv, 0.);
  uint id = textureLod(ids, uv, 0.).x;
  bool drawn = a.a > 0. || n.w > 0. || a.rgb != vec3(1);
  colour = vec4(a.rgb, drawn ? 1. : 0.);
  if (n.w > 0. && lighting > 0) {
    float open_part = 1.;
    if (lighting > 1) {
      open_part = 0.;
      for (int i = -1; i < 3; i++) for (int j = -1; j < 3; j++) open_part += textureLod(occlusion, uv + vec2(i, j) * pixel, 0.).r / 16.;
    }
    float key = max(dot(n.xyz, normalize(vec3(.35, .55, .75))), 0.), fill = .5 + .5 * n.y;
    colour.rgb = a.rgb * (open_part * (.34 + .2 * fill) + .56 * key * mix(1., open_part, .5));
    colour.rgb = pow(colour.rgb, vec3(.87));
  }
  if (chosen > 0u) {
    if (border(chosen, id)) colour = vec4(.95, .45, 0, 1);
    else if (id == chosen) colour.rgb = mix(colour.rgb, vec3(1., .7, .2), .25);
  }
  if (hovered > 0u && border(hovered, id)) colour = vec4(0, .35, .8, 1);
}
