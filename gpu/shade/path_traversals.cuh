// What arrives of the light that a ray to a light was sent for. The unit is compiled against a structure
// (traversals.cuh) and names HAS_HOLES: whether alpha lets light through some surfaces.
#pragma once
#include "gpu/shade/light_traversal.cuh"
#include "gpu/shade/path_step.cuh"

// Light with nothing in its way is found by paths that meet the lamp, too, and weighed against them. Light through
// holes is not: from one bounce to the next a path may not have enough steps left for all of them.
__device__ __forceinline__ Real3 arriving_light(const TraceInput& input, const SurfaceView& surface,
                                                const float* options, int bounce, const Rays& to_light,
                                                Real3 if_reached, Real if_crossed) {
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    if (!HAS_HOLES) return select(is_any_hit(input, to_light), nothing, if_reached);
    const LightLeft<Real> found = light_through_holes(input, surface, to_light);
    const Real3 through = limited(if_reached * (if_crossed * found.left), bounce > 0 ? options[PathRow::clamp] : 0.0f);
    return select(found.crossed, through, if_reached);
}
