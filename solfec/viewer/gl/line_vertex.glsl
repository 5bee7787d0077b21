layout(location = 0) in vec3 position;
uniform mat4 view, proj;
out vec3 world;
void main() {
  world = position;
  gl_Position = proj * view * vec4(position, 1);
}
