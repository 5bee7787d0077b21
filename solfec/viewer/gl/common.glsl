// What all programs of the first pass share: where they draw, cuts, colours.
layout(location = 0) out vec4 albedo;
layout(location = 1) out vec4 normal;
layout(location = 2) out uvec2 ids;
uniform mat4 view, proj;
uniform vec4 planes[4];  // points with dot(n, x) > w are cut away
uniform vec4 referential;  // 1 for planes that cut the referential shape
uniform int plane_count;
uniform float fade;      // by which opacities are multiplied, so that arrows inside of bodies are seen
uniform int mode;        // 0: the body's colour, 1: a value, 2: a category
uniform vec2 range;
uniform sampler2D colours;     // row 0: colour map, row 1: categories
uniform samplerBuffer looks;   // by body row: colour, opacity (0: hidden, negative: edges only)

vec3 scale(float value) {
  if (!(abs(value) < 3e38)) return vec3(.6);  // NaN: bodies without this result
  if (range.y <= range.x) return texelFetch(colours, ivec2(127, 0), 0).rgb;
  float t = (value - range.x) / (range.y - range.x);
  if (!(t >= -1e-4 && t <= 1.0001)) return vec3(.6);
  return texelFetch(colours, ivec2(int(clamp(t, 0., 1.) * 255. + .5), 0), 0).rgb;
}
vec3 category(int k) { if (k < 0) return vec3(.75); return texelFetch(colours, ivec2(k % 32, 1), 0).rgb; }
vec3 paint(ivec4 owner, vec4 look, float value) {
  bool highlighted = look.r > 1.5;  // 2 is added to the red of bodies that are highlighted
  vec3 own = vec3(highlighted ? look.r - 2. : look.r, look.gb);
  vec3 c = mode == 1 ? scale(value) : mode == 2 ? category(owner.z) : own;
  return highlighted ? mix(c, vec3(1., .55, 0.), .6) : c;
}
vec3 cut_paint(ivec4 owner, vec4 look, float value) {  // of sections: told from surfaces where colours say nothing else
  vec3 c = paint(owner, look, value);
  return mode == 0 ? mix(c, vec3(.95, .55, .3), .5) : c;
}
bool see_through(float opacity) {  // ordered stipple, 4x4
  const int bayer[16] = int[16](0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5);
  return (float(bayer[(int(gl_FragCoord.x) & 3) * 4 + (int(gl_FragCoord.y) & 3)]) + .5) / 16. > opacity * fade;
}
bool cut_away(vec3 x, vec3 reference, int but) {
  for (int k = 0; k < plane_count; k++) if (k != but && dot(planes[k].xyz, referential[k] > .5 ? reference : x) > planes[k].w) return true;
  return false;
}
// A normal at a point, both in the world, as the eye sees it: turned towards the eye.
vec3 facing(vec3 n, vec3 at) {
  vec3 seen = mat3(view) * n, from_eye = proj[2][3] == 0. ? vec3(0, 0, -1) : (view * vec4(at, 1)).xyz;  // parallel projection or perspective
  return dot(seen, from_eye) > 0. ? -seen : seen;
}
