// What both ways of drawing spheres share: the ray through a pixel, the hit, and flat shading as gpu/shade/flat_spheres.cu has it.
uniform vec4 camera[4];      // a CameraRow (gpu/camera.py): eye, ahead, across, down, and in w is_orthographic, near, far
uniform vec2 picture;        // width and height in pixels
uniform vec4 clip;           // kept is what lies where dot(normal, point) <= offset; no normal: everything
uniform vec4 color;          // linear, and the share of light on surfaces that are seen edge on
uniform vec3 below, above;   // linear colours of the background
uniform float exposure;      // a factor
uniform int tone;            // 0 none, 1 reinhard, 2 filmic
uniform float depth_scale;   // the distance whose depth is a half
uniform sampler2D spheres;   // a texel a sphere: centre and radius
uniform sampler2D colours;   // a texel a sphere: its linear colour, negative for none
uniform bool has_colours;    // by an attribute
uniform int count;

const float FURTHEST = 3.4e38;
const float LEAST_RADIUS = 1.1e-19;  // that of gpu/device/epsilons.cuh

struct Ray {
    vec3 origin, direction;
    float least, most;
};

ivec2 texel_of(int index) {
    int wide = textureSize(spheres, 0).x;
    return ivec2(index % wide, index / wide);
}

vec4 sphere_of(int index) { return texelFetch(spheres, texel_of(index), 0); }

// Row 0 is the picture's top row, also of the texture that is drawn into.
Ray ray_through(vec2 pixel) {
    vec2 place = pixel / picture - 0.5;
    vec3 across = camera[2].xyz * place.x + camera[3].xyz * place.y;
    float near = camera[1].w, far = camera[2].w;
    Ray ray = Ray(camera[0].xyz, camera[1].xyz + across, near, far);
    if (camera[0].w != 0.0) {
        ray.origin = camera[0].xyz + across;
        ray.direction = camera[1].xyz;
    } else {
        float stretch = length(ray.direction);
        ray.direction /= stretch;
        ray.least = near * stretch;
        ray.most = far < FURTHEST / stretch ? far * stretch : FURTHEST;
    }
    float leaving = dot(clip.xyz, ray.direction), inside = clip.w - dot(clip.xyz, ray.origin);
    if (clip.xyz != vec3(0.0)) {
        if (leaving >= 0.0)
            ray.most = min(ray.most, inside / max(leaving, 1e-20));
        else
            ray.least = max(ray.least, inside / leaving);
    }
    return ray;
}

// The nearer root within the ray, else the farther; -1 for none. Digits are kept as gpu/device/sphere.cuh keeps them.
float hit_distance(Ray ray, vec4 sphere) {
    if (!(sphere.w >= LEAST_RADIUS)) return -1.0;
    vec3 place = sphere.xyz - ray.origin;
    float nearest = dot(place, ray.direction);
    vec3 beside = place - nearest * ray.direction;
    float inside = sphere.w * sphere.w - dot(beside, beside);
    if (!(inside >= 0.0)) return -1.0;
    float reach = sqrt(inside), first = nearest - reach;
    float t = first > ray.least && first <= ray.most ? first : nearest + reach;
    return t > ray.least && t <= ray.most ? t : -1.0;
}

vec3 shaded(Ray ray, int index, vec4 sphere, float t) {
    vec3 own = has_colours ? texelFetch(colours, texel_of(index), 0).rgb : vec3(-1.0);
    if (own.r < 0.0) own = color.rgb;
    vec3 normal = (ray.origin + t * ray.direction - sphere.xyz) / sphere.w;
    return own * (color.a + (1.0 - color.a) * abs(dot(normal, ray.direction)));
}

vec3 background(Ray ray) { return mix(below, above, 0.5 + 0.5 * ray.direction.y); }

// Linear light as a screen shows it: exposure and tone as gpu/shade/tone.cuh has them, then sRGB.
vec4 displayed(vec3 light) {
    light *= exposure;
    if (tone == 1) light /= 1.0 + max(dot(light, vec3(0.2126, 0.7152, 0.0722)), 0.0);
    if (tone == 2) {
        light = clamp(light, 0.0, 1e8);
        light = (light * (light * 2.51 + 0.03)) / (light * (light * 2.43 + 0.59) + 0.14);
    }
    light = clamp(light, 0.0, 1.0);
    vec3 curve = 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055;
    return vec4(mix(curve, light * 12.92, lessThanEqual(light, vec3(0.0031308))), 1.0);
}
