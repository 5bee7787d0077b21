layout(location = 0) in vec3 position;
layout(location = 1) in vec3 colour_in;
uniform mat4 view, proj;
out vec3 colour;
void main() {
  colour = colour_in;
  gl_Position = proj * view * vec4(position, 1);
}
