in vec2 uv;
out float open_part;  // of the directions round the normal
uniform sampler2D depth, normals;
uniform mat4 proj, unproj;
uniform float radius;
vec3 at(vec2 u) {
  vec4 h = unproj * vec4(vec3(u, textureLod(depth, u, 0.).r) * 2. - 1., 1);
  return h.xyz / h.w;
}
void main() {
  vec4 n = textureLod(normals, uv, 0.);
  open_part = 1.;
  if (n.w == 0.) return;
  vec3 x = at(uv), t = normalize(abs(n.z) < .9 ? cross(n.xyz, vec3(0, 0, 1)) : cross(n.xyz, vec3(1, 0, 0)));
  float closed = 0., turn = 6.2832 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(.06711056, .00583715))));
  for (int k = 0; k < 10; k++) {
    float f = (float(k) + .5) / 10., a = turn + float(k) * 2.39996, z = 1. - f, r = sqrt(1. - z * z);
    vec3 s = vec3(r * cos(a), r * sin(a), z);
    vec3 q = x + (t * s.x + cross(n.xyz, t) * s.y + n.xyz * s.z) * radius * (.15 + .85 * fract(f * 7.3));
    vec4 h = proj * vec4(q, 1);
    float gap = at(h.xy / h.w * .5 + .5).z - q.z;
    closed += gap > .02 * radius && gap < radius ? 1. : 0.;
  }
  open_part = 1. - closed / 10.;
}
