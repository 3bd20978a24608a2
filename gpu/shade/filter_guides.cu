// What the filter knows of each pixel: surface, albedo, where its point was before, and the sample without its albedo.
// In packs, from primary hits.
#include "gpu/device/epsilons.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/shade/filter.cuh"
#include "gpu/shade/interaction.cuh"

constexpr float LEAST_ALBEDO = 0.02f;  // albedo, to divide by
constexpr float NOWHERE = -1e6f;

// Where a point was in the previous picture, pixels with their centres at whole numbers of the sample's own place; and
// how far from the eye.
struct PreviousPlace {
    Real x, y, depth;
};
__device__ __forceinline__ PreviousPlace previous_place(const ViewFrame& f, const ViewFrame& now, Real3 point) {
    const float* c = f.camera;
    const Real3 away = point - splat3(c + CameraRow::eye);
    const Real3 forward = splat3(c + CameraRow::ahead), across = splat3(c + CameraRow::across),
                down = splat3(c + CameraRow::down);
    const bool is_orthographic = c[CameraRow::is_orthographic] != 0.0f;
    const Real ahead = dot(away, forward);
    const Mask is_seen = is_orthographic ? splat_mask(true) : ahead > splat(0.0f);
    const Real scale = is_orthographic ? splat(1.0f) : splat(1.0f) / select(is_seen, ahead, splat(1.0f));
    const Real s = dot(away, across) * scale / max(dot(across, across), splat(LEAST_DIVISOR)),
               t = dot(away, down) * scale / max(dot(down, down), splat(LEAST_DIVISOR));
    const Real x = (s + splat(0.5f)) * splat((float)f.width) - splat(now.jitter[0]),
               y = (t + splat(0.5f)) * splat((float)f.height) - splat(now.jitter[1]);
    return {select(is_seen, x, splat(NOWHERE)), select(is_seen, y, splat(NOWHERE)),
            is_orthographic ? ahead : lanes_sqrt(dot(away, away))};
}
// How much the distance changes from a pixel to the next.
__device__ __forceinline__ Real change_of_depth(const ViewFrame& f, Real distance, Real facing) {
    const float* c = f.camera;
    const float tall = length(load3(c + CameraRow::down, 0)) / (float)f.height;
    const Real size = c[CameraRow::is_orthographic] != 0.0f ? splat(tall) : distance * splat(tall);
    const Real cosine = max(facing, splat(0.05f));
    return size * lanes_sqrt(max(splat(1.0f) - cosine * cosine, splat(0.0f))) / cosine;
}

__device__ __forceinline__ float4 lane_of(Real3 v, Real w, int i) {
    return make_float4(lane(v.x, i), lane(v.y, i), lane(v.z, i), lane(w, i));
}
__device__ __forceinline__ float4 mean_with(float4 before, float4 sample, float share) {
    return make_float4(before.x + (sample.x - before.x) * share, before.y + (sample.y - before.y) * share,
                       before.z + (sample.z - before.z) * share, 0.0f);
}

// `sample`: three planes, this sample's light; `sharp`: what of it is without noise. `previous_positions`: the vertices
// of the picture before.
extern "C" __global__ void guide_filter(FilterView f, SurfaceView surface, const float* previous_positions,
                                        int pack_count, const float* t, const int* prim_id, const float* u,
                                        const float* v, const float* sample, const float* sharp) {
    const CameraRays camera = {f.frame};
    const ViewFrame& frame = *f.frame;
    const int64 plane = (int64)pack_count * PACK;
    const float share = 1.0f / (float)(frame.sample_index + 1);
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real3 light = {load(sample + first), load(sample + plane + first), load(sample + 2 * plane + first)};
        add_to_film(f.raw, plane, first, frame.sample_index, light);
        const Rays rays = rays_of(camera, first);
        const Int found = load(prim_id + first);
        const Mask is_hit = rays.active & !(found < splat_int(0));
        const Int safe = select(is_hit, found, splat_int(0));
        const Real3 direction = direction_of(rays), white = splat3(1.0f, 1.0f, 1.0f);
        const Interaction hit = interaction_at(surface, direction, is_hit, found, load(u + first), load(v + first));
        Real3 albedo = lerp(hit.material.base_color, white, hit.material.transmission);
        albedo = {max(albedo.x, splat(LEAST_ALBEDO)), max(albedo.y, splat(LEAST_ALBEDO)),
                  max(albedo.z, splat(LEAST_ALBEDO))};
        const Real3 glow = {load(sharp + first), load(sharp + plane + first), load(sharp + 2 * plane + first)};
        const Real3 rest = light - glow;
        const Real3 received = {max(rest.x, splat(0.0f)) / albedo.x, max(rest.y, splat(0.0f)) / albedo.y,
                                max(rest.z, splat(0.0f)) / albedo.z};
        const Corners& corners = hit.at.corners;
        const Real3 a = gather3(previous_positions, corners.a);
        const Real3 before = a + (gather3(previous_positions, corners.b) - a) * hit.at.u +
                             (gather3(previous_positions, corners.c) - a) * hit.at.v;
        const PreviousPlace place = previous_place(*f.previous, frame, point_before(surface, hit.at, safe, before));
        const Real distance = select(is_hit, load(t + first), splat(0.0f));
        const Real slope = change_of_depth(frame, distance, lanes_abs(dot(hit.at.normal, direction)));
        const Int material = gather_int(surface.material_ids, safe);
        const PackPixels at = pixels_of(first, frame.width, frame.height);
        const unsigned inside = mask_bits(at.inside), hits = mask_bits(is_hit);
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (!(inside >> i & 1u)) continue;
            const int p = lane(at.y, i) * frame.width + lane(at.x, i);
            const float normal = packed_normal(make_float3(lane(hit.shading_normal.x, i), lane(hit.shading_normal.y, i),
                                                           lane(hit.shading_normal.z, i)));
            f.guide[p] = make_float4(normal, lane(distance, i), lane(slope, i),
                                     hits >> i & 1u ? (float)lane(material, i) : -1.0f);
            f.light[p] = lane_of(received, splat(0.0f), i);
            f.albedo[p] = mean_with(frame.sample_index > 0 ? f.albedo[p] : make_float4(0.0f, 0.0f, 0.0f, 0.0f),
                                    lane_of(albedo, splat(0.0f), i), share);
            f.glow[p] = mean_with(frame.sample_index > 0 ? f.glow[p] : make_float4(0.0f, 0.0f, 0.0f, 0.0f),
                                  lane_of(glow, splat(0.0f), i), share);
            f.place[p] = make_float2(lane(place.x, i), lane(place.y, i));
            f.depth[p] = lane(place.depth, i);
        }
    }
}
