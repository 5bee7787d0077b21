layout(location = 0) in vec3 position;
layout(location = 1) in float value_in;
layout(location = 2) in vec3 reference_in;
uniform mat4 view, proj;
out vec3 world;
out float value;
out vec3 reference;
void main() {
  world = position;
  value = value_in;
  reference = reference_in;
  gl_Position = proj * view * vec4(position, 1);
}
