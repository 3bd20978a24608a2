// What is seen where a ray meets nothing: the environment, or the background of a scene that has none.
#pragma once
#include "gpu/shade/environment.cuh"
#include "gpu/shade/shading.cuh"

__device__ __forceinline__ Real3 far_away(const EnvironmentView& environment, const float* options, Real3 direction) {
    return environment.is_there() ? environment_radiance(environment, direction) : background(options, direction);
}
