// What `intersect` of every primitive kind gives, and on_primitive takes.
#pragma once
#include "gpu/device/ray.cuh"

// Per lane a distance and the surface parameters `u`, `v` (of a triangle: the weights of vertices 1 and 2). `hit` where
// t_min < t <= t_max: the far end is included so that on_primitive can decide between coincident primitives.
struct Intersection {
    Mask hit;
    Real t, u, v;
    int prim_id;
};

// The same of one ray and PACK primitives, a primitive a lane.
struct IntersectionsOfOneRay {
    Mask hit;
    Real t, u, v;
};
