layout(location = 0) in vec3 centre_in;
layout(location = 1) in vec3 axis0;
layout(location = 2) in vec3 axis1;
layout(location = 3) in vec3 axis2;
layout(location = 4) in ivec4 owner_in;
layout(location = 5) in float value_in;
layout(location = 6) in vec3 reference_centre_in;
layout(location = 7) in vec3 reference0;
layout(location = 8) in vec3 reference1;
layout(location = 9) in vec3 reference2;
uniform mat4 view, proj;
flat out mat3 axes;
flat out vec3 centre;
flat out mat3 reference_axes;
flat out vec3 reference_centre;
flat out ivec4 owner;
flat out float value;
flat out int number;
out vec3 world;
void main() {  // the box round the ellipsoid: 36 corners without a buffer
  const int corner[36] = int[36](0,2,1,1,2,3, 4,5,6,5,7,6, 0,1,4,1,5,4, 2,6,3,3,6,7, 0,4,2,2,4,6, 1,3,5,3,7,5);
  int k = corner[gl_VertexID];
  vec3 s = vec3(k & 1, (k >> 1) & 1, (k >> 2) & 1) * 2. - 1.;
  axes = mat3(axis0, axis1, axis2);
  reference_axes = mat3(reference0, reference1, reference2);
  if (determinant(axes) < 0.) {  // the same ellipsoid, and faces keep their sides
    axes[2] = -axes[2];
    reference_axes[2] = -reference_axes[2];
  }
  reference_centre = reference_centre_in;
  centre = centre_in;
  owner = owner_in;
  value = value_in;
  number = gl_InstanceID;
  world = centre + axes * s;
  gl_Position = proj * view * vec4(world, 1);
}
