// A sphere as an impostor: the smallest box of pixels round it, as a point sprite; as two triangles where the driver's
// points are not that large. A point is placed in the middle of what the picture shows of the box: points whose middle
// lies outside are not drawn.
uniform bool are_points;
uniform float largest_point;  // pixels
flat out int index;

const float UNBOUNDED = 1e30;

// The slope of the tangent on the side of greater slopes, of the circle of that radius round (across, along).
float tangent_slope(float across, float along, float radius) {
    float apart2 = across * across + along * along, reach2 = apart2 - radius * radius;
    if (reach2 <= 1e-5 * apart2) return UNBOUNDED;
    float reach = sqrt(reach2), run = along * reach - across * radius;
    return run <= 1e-5 * apart2 ? UNBOUNDED : (across * reach + along * radius) / run;
}

// Pixels along one axis of the picture, a pixel wider than the sphere on both sides.
vec2 seen_along(vec3 axis, vec3 place, float along, float radius, float pixels) {
    float wide = length(axis), across = dot(place, axis) / wide;
    vec2 slopes = camera[0].w != 0.0 ? vec2(across - radius, across + radius)
                                     : vec2(-tangent_slope(-across, along, radius), tangent_slope(across, along, radius));
    return clamp((slopes / wide + 0.5) * pixels + vec2(-1.0, 1.0), 0.0, pixels);
}

void main() {
    index = are_points ? gl_VertexID : gl_VertexID / 6;
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 1.0;
    vec4 sphere = sphere_of(index);
    vec3 place = sphere.xyz - camera[0].xyz;
    float along = dot(place, camera[1].xyz);
    if (!(sphere.w >= LEAST_RADIUS) || (camera[0].w == 0.0 && along + sphere.w <= 0.0)) return;
    vec2 x = seen_along(camera[2].xyz, place, along, sphere.w, picture.x);
    vec2 y = seen_along(camera[3].xyz, place, along, sphere.w, picture.y);
    vec2 least = vec2(x.x, y.x), most = vec2(x.y, y.y), size = most - least;
    if (size.x <= 0.0 || size.y <= 0.0) return;
    float wanted = ceil(max(size.x, size.y)) + 1.0;
    if (are_points != (wanted <= largest_point)) return;
    vec2 pixel = 0.5 * (least + most);
    int corner = gl_VertexID % 6;
    if (!are_points) pixel = mix(least, most, vec2(corner % 2, corner == 2 || corner > 3));
    gl_Position = vec4(2.0 * pixel / picture - 1.0, 0.0, 1.0);
    gl_PointSize = wanted;
}
