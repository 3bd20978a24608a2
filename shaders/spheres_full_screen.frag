// Soell 2015, 2.2.8 and 5.3: one full-screen quad, spheres in a texture, each pixel's ray tested against all of them.
out vec4 shown;

void main() {
    Ray ray = ray_through(gl_FragCoord.xy);
    int found = -1;
    float nearest = FURTHEST;
    for (int index = 0; index < count; ++index) {
        float t = hit_distance(ray, sphere_of(index));
        if (t >= 0.0 && t < nearest) {
            nearest = t;
            found = index;
        }
    }
    shown = displayed(found < 0 ? background(ray) : shaded(ray, found, sphere_of(found), nearest));
}
