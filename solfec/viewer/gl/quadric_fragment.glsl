flat in mat3 axes;
flat in vec3 centre;
flat in mat3 reference_axes;
flat in vec3 reference_centre;
flat in ivec4 owner;
flat in float value;
flat in int number;
in vec3 world;
uniform vec3 eye, forward, colour;
uniform bool parallel;
#include "common"
bool on_circle(vec3 s, float width) {  // one of the three great circles
  vec3 off = abs(s);
  return min(off.x, min(off.y, off.z)) < width;
}
void main() {
  vec4 look = texelFetch(looks, owner.x);
  // The ray starts where it is near the ellipsoid, so that single precision holds the root.
  vec3 d = normalize(parallel ? forward : world - eye);
  vec3 o = world - d * dot(world - centre, d);
  float nearest = parallel ? -1e30 : -dot(o - eye, d);  // the eye
  mat3 inv = inverse(axes);
  vec3 p = inv * (o - centre), q = inv * d;
  float width = .7 * max(length(dFdx(p)), length(dFdy(p)));  // 1: that of a pixel, on the unit ball
  bool wire = look.a < 0., ends = false;                // ends: the ray leaves through a plane
  if (look.a == 0. || see_through(wire ? 1. / max(fade, .6) : look.a)) discard;
  float a = dot(q, q), b = dot(p, q), e = dot(p, p) - 1., under = b * b - a * e;
  if (under < 0.) discard;
  float root = sqrt(under), enter = (-b - root) / a, leave = (-b + root) / a;
  int cap = -1;  // the plane through which the ray enters
  if (enter < nearest) enter = nearest;
  for (int k = 0; k < plane_count; k++) {
    // Points of the ellipsoid are centre + axes (p + t q), in the reference as well.
    bool old = referential[k] > .5;
    float rate = dot(planes[k].xyz, old ? reference_axes * q : d);
    float room = planes[k].w - dot(planes[k].xyz, old ? reference_centre + reference_axes * p : o);
    if (rate > 0.) { if (room / rate < leave) { leave = room / rate; ends = true; } }
    else if (rate < 0.) { if (room / rate > enter) { enter = room / rate; cap = k; } }
    else if (room < 0.) discard;
  }
  if (enter > leave) discard;
  if (wire) {  // edges only: great circles on both sides, and the outline
    bool front = cap < 0 && (e + 1. - b * b / a > (1. - width) * (1. - width) || on_circle(p + enter * q, width));
    if (!front && (ends || !on_circle(p + leave * q, width))) discard;
    albedo = vec4(colour, 0);
    normal = vec4(0);
    ids = uvec2(0);
    vec4 h = proj * view * vec4(o + (front ? enter : leave) * d, 1);
    gl_FragDepth = clamp(h.z / h.w * .5 + .5, 0., 1.);
    return;
  }
  vec3 x = o + enter * d, s = p + enter * q;
  vec3 n = cap < 0 ? normalize(transpose(inv) * s) : referential[cap] > .5 ? normalize(transpose(inv) * (transpose(reference_axes) * planes[cap].xyz)) : planes[cap].xyz;
  albedo = vec4(cap >= 0 ? cut_paint(owner, look, value) : paint(owner, look, value), 1);
  if (cap < 0 && mode == 0 && (abs(s.x) < .05 || abs(s.y) < .05)) albedo.rgb *= .8;  // two great circles show rotation
  normal = vec4(facing(n, x), 1);
  ids = uvec2(owner.y, uint(number) + 0x40000000u);
  vec4 h = proj * view * vec4(x, 1);
  gl_FragDepth = clamp(h.z / h.w * .5 + .5, 0., 1.);
}
