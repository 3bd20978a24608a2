// Smooth shading where lights reach hits in part, through holes (smooth.cuh): a unit of its own, since few scenes need
// it and each of the two takes a second to compile.
#include "gpu/shade/smooth.cuh"

// `shares`: a plane of rays for each light, how much of it reaches the hit (smooth_shadow.cu).
extern "C" __global__ void shade_smooth_with_holes(SurfaceView surface, EnvironmentView environment,
                                                   const ViewFrame* frame, const float* options, int pack_count,
                                                   const int* prim_id, const float* u, const float* v,
                                                   const float* shares, float* sums) {
    const int64 plane = (int64)pack_count * PACK;
    shade_film(surface, environment, frame, options, pack_count, prim_id, u, v, sums,
               [=](int first) { return ShadowShares{shares + first, plane}; });
}
