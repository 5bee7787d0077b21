in vec3 colour;
#include "common"
void main() {  // lines that no body owns: identifiers are masked
  albedo = vec4(colour, 0);
  normal = vec4(0);
  ids = uvec2(0);
}
