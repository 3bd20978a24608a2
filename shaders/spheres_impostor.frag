// The sphere behind a pixel of its impostor, at its depth: greater is nearer.
flat in int index;
out vec4 shown;

void main() {
    Ray ray = ray_through(gl_FragCoord.xy);
    vec4 sphere = sphere_of(index);
    float t = hit_distance(ray, sphere);
    if (t < 0.0) discard;
    shown = displayed(shaded(ray, index, sphere, t));
    gl_FragDepth = depth_scale / (depth_scale + t);
}
