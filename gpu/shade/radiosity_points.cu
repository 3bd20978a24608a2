// The points of radiosity on the surface of this instant: where they are, what they reflect and emit, and what lights
// give them, behind whatever stands between. The unit is compiled against a structure (traversals.cuh).
#include "gpu/shade/interaction.cuh"
#include "gpu/shade/sampling.cuh"
#include "gpu/trace/traversals.cuh"

constexpr int LIGHT_DIMENSION = 1;

__device__ __forceinline__ void store_four(float4* rows, int first, int count, Real3 three, Real one) {
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        if (first + i < count)
            rows[first + i] = make_float4(lane(three.x, i), lane(three.y, i), lane(three.z, i), lane(one, i));
    }
}

// The side of a primitive from which its corners go round counterclockwise: the direction that looks at it.
__device__ __forceinline__ Real3 towards_front(const SurfaceView& surface, Mask is_there, Int prim_id, Real u, Real v) {
    const SurfacePoint at = point_of_hit(surface, splat3(0.0f, 0.0f, 1.0f), is_there, prim_id, u, v);
    return select(at.is_back, at.normal, at.normal * splat(-1.0f));
}

// Irradiance over pi from all lights; of those with an area, the mean of so many samples.
__device__ __forceinline__ Real3 from_lights(const TraceInput& input, const SurfaceView& surface,
                                             const Interaction& found, Int number, int light_samples) {
    Real3 sum = splat3(0.0f, 0.0f, 0.0f);
    for (int l = 0; l < surface.light_count; ++l) {
        const float* light = surface.lights + LightRow::FLOATS * l;
        const int samples = is_area_light(light) ? light_samples : 1;
        for (int s = 0; s < samples; ++s) {
            const Sample2d at = sample_2d(number, s, LIGHT_DIMENSION + l, 0);
            const LightSample sample = samples > 1 ? sample_light(light, found.at.point, at.x, at.y)
                                                   : sample_light(light, found.at.point);
            const Real cosine = dot(found.shading_normal, sample.towards);
            const Mask facing = found.hit & (cosine > splat(0.0f)) &
                                (dot(found.at.normal, sample.towards) > splat(0.0f));
            if (!any(facing)) continue;
            const Mask lit = facing & !is_any_hit(input, rays_to_light(found.at, sample, facing));
            sum = sum + select(lit, sample.irradiance * (cosine * splat(1.0f / (PI * (float)samples))),
                               splat3(0.0f, 0.0f, 0.0f));
        }
    }
    return sum;
}

// `side` is 1 for the front of a primitive and -1 for its back; `share` what of its area a point stands for. A point of
// a primitive below 0 has no area.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    place_points(TraceInput input, SurfaceView surface, const int* prim_id, const float* u, const float* v,
                 const float* side, const float* share, int count, int light_samples, float4* places, float4* normals,
                 float4* reflectance, float4* emission, float4* direct) {
    const Real none = splat(0.0f), one = splat(1.0f);
    for (int pack : grid_stride((count + PACK - 1) / PACK)) {
        const int first = pack * PACK;
        Int ids = splat_int(-1), number = splat_int(0);
        Real at_u = none, at_v = none, at_side = one, at_share = none;
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            const int at = min(first + i, count - 1);
            set_lane(ids, i, prim_id[at]);
            set_lane(number, i, at);
            set_lane(at_u, i, u[at]);
            set_lane(at_v, i, v[at]);
            set_lane(at_side, i, side[at]);
            set_lane(at_share, i, share[at]);
        }
        const Mask is_there = !(ids < splat_int(0));
        const Real3 direction = towards_front(surface, is_there, ids, at_u, at_v) * at_side;
        Interaction found = interaction_at(surface, direction, is_there, ids, at_u, at_v);
        found.hit = found.hit & (dot(found.at.point, found.at.point) < splat(FLOAT_MAX));  // not of what is absent now
        const Real area = select(is_there, at_share * primitive_area(surface, found.at, ids), none);
        const Real3 color = found.material.base_color * (one - found.material.metallic);
        store_four(places, first, count, found.at.point, area);
        store_four(normals, first, count, found.shading_normal, none);
        store_four(reflectance, first, count,
                   {min(max(color.x, none), one), min(max(color.y, none), one), min(max(color.z, none), one)}, none);
        store_four(emission, first, count, found.material.emission, none);
        store_four(direct, first, count, from_lights(input, surface, found, number, light_samples), none);
    }
}
