// Smooth shading where a light reaches a hit or does not (smooth.cuh).
#include "gpu/shade/smooth.cuh"

// `shadowed`: bit l where light l does not reach the hit (gpu/trace/shadow.cu), or null: all lights reach everywhere.
extern "C" __global__ void shade_smooth(SurfaceView surface, EnvironmentView environment, const ViewFrame* frame,
                                        const float* options, int pack_count, const int* prim_id, const float* u,
                                        const float* v, const int* shadowed, float* sums) {
    shade_film(surface, environment, frame, options, pack_count, prim_id, u, v, sums,
               [=](int first) { return ShadowBits{shadowed ? load(shadowed + first) : splat_int(0)}; });
}
