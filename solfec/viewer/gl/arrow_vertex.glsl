layout(location = 0) in vec3 shape;  // round the z axis, from 0 to 1
layout(location = 1) in vec3 point;
layout(location = 2) in vec3 vector;
layout(location = 3) in float value_in;
layout(location = 4) in ivec4 owner_in;
uniform mat4 view, proj;
uniform vec3 sizes;  // shortest and longest length, the size of the longest vector
uniform int tubes;     // 0: arrows, 1: tubes along normals, 2: tubes from the point along the whole vector, thick by value
out vec3 world;
flat out float value;
flat out ivec4 owner;
flat out int number;
void main() {
  float m = tubes > 0 ? abs(value_in) : length(vector);
  vec3 n = vector / max(length(vector), 1e-30);
  vec3 u = normalize(cross(n, abs(n.z) < .9 ? vec3(0, 0, 1) : vec3(1, 0, 0))), v = cross(n, u);
  float len = mix(sizes.x, sizes.y, clamp(m / max(sizes.z, 1e-30), 0., 1.));
  if (m == 0. && tubes == 0) len = 0.;
  value = value_in;
  owner = owner_in;
  number = gl_InstanceID;
  // An arrow's tip touches the point; a tube has its middle there.
  if (tubes == 2) world = point + shape.z * vector + .25 * (len - sizes.x) * (shape.x * u + shape.y * v);
  else world = point + len * (.22 * (shape.x * u + shape.y * v) + (shape.z - (tubes == 1 ? .5 : 1.)) * n);
  gl_Position = proj * view * vec4(world, 1);
}
