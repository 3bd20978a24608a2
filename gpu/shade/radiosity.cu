// Surfaces lit by what points around them have gathered, or the points themselves.
// from gpu.shade.radiosity import RadiosityRow
#include "gpu/radiosity/near_points.cuh"
#include "gpu/shade/interaction.cuh"

constexpr int NEAREST_COUNT = 4;

// The mean of what points on this side of this surface have gathered: the more of it the nearer they are, and the less
// the more they look elsewhere or stand off the plane.
struct MeanAround {
    const PointTreeView& tree;
    const float4 *normals, *gathered, *direct;
    float3 at, normal;
    float reach, squared_reach, weight;
    float3 sum;

    __device__ __forceinline__ void operator()(int i, float squared) {
        const float4 n = normals[i], p = tree.points[i], g = gathered[i], d = direct[i];
        const float alike = n.x * normal.x + n.y * normal.y + n.z * normal.z;
        const float3 away = make_float3(p.x - at.x, p.y - at.y, p.z - at.z);
        const float off = fabsf(dot(away, normal)) / (0.5f * reach);
        const float near = 1.0f - squared / (reach * reach);
        if (alike <= 0.5f || off >= 1.0f) return;
        const float share = near * near * (alike - 0.5f) * (1.0f - off) * p.w;
        weight += share;
        sum += make_float3(g.x + d.x, g.y + d.y, g.z + d.z) * share;
    }
};
// The mean of the nearest points of any surface: the more of it the nearer they are, the larger, and the more they look
// the same way.
__device__ __forceinline__ float3 mean_of_nearest(const PointTreeView& tree, const float4* shapes,
                                                  const float4* normals, const float4* gathered, const float4* direct,
                                                  float3 at, float3 normal) {
    constexpr float LEAST_ALIKE = 0.01f;
    NearestPoints<NEAREST_COUNT> nearest;
    visit_nearest_first(tree, shapes, at, nearest);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    float weight = 0.0f;
    for (int k = 0; k < nearest.count; ++k) {
        const int i = nearest.places[k];
        const float4 n = normals[i], g = gathered[i], d = direct[i];
        const float alike = max(n.x * normal.x + n.y * normal.y + n.z * normal.z, LEAST_ALIKE);
        // As a share of the farthest, so that no square of a distance is too large or small for a float.
        const float near = nearest.farthest() / max(nearest.squared[k], LEAST_OF_FARTHEST * nearest.farthest());
        const float share = (nearest.farthest() > 0.0f ? near : 1.0f) * alike * tree.points[i].w;
        weight += share;
        sum += make_float3(g.x + d.x, g.y + d.y, g.z + d.z) * share;
    }
    return weight > 0.0f ? sum / weight : sum;
}

// The point itself, as a disc of some of its area.
struct NearestDisc {
    const PointTreeView& tree;
    const float4* normals;
    float3 normal;
    float squared_reach;
    int found;

    __device__ __forceinline__ void operator()(int i, float squared) {
        const float4 n = normals[i];
        if (n.x * normal.x + n.y * normal.y + n.z * normal.z <= 0.5f) return;
        if (squared < squared_reach && squared < DISC_SHARE * tree.points[i].w) {
            squared_reach = squared;
            found = i;
        }
    }
    static constexpr float DISC_SHARE = 0.2f;  // its radius squared, of its area
};

// A small surface that no point lies on has the light of the nearest ones of others; `is_front` where it is seen from
// the side that points lie on.
__device__ __forceinline__ float3 mean_around(const PointTreeView& tree, const float4* shapes, const float4* normals,
                                              const float4* gathered, const float4* direct, float3 at, float3 normal,
                                              float reach, bool is_front) {
    const float3 none = make_float3(0.0f, 0.0f, 0.0f);
    for (int widened = 0; widened < 4; ++widened, reach *= 2.0f) {
        MeanAround mean = {tree, normals, gathered, direct, at, normal, reach, reach * reach, 0.0f, none};
        visit_points(tree, shapes, at, mean);
        if (mean.weight > 0.0f) return mean.sum / mean.weight;
    }
    return is_front ? mean_of_nearest(tree, shapes, normals, gathered, direct, at, normal) : none;
}
__device__ __forceinline__ float3 disc_at(const PointTreeView& tree, const float4* shapes, const float4* normals,
                                          const float4* radiance, float3 at, float3 normal, float reach) {
    NearestDisc nearest = {tree, normals, normal, reach * reach, -1};
    visit_points(tree, shapes, at, nearest);
    if (nearest.found < 0) return make_float3(0.0f, 0.0f, 0.0f);
    return make_float3(radiance[nearest.found].x, radiance[nearest.found].y, radiance[nearest.found].z);
}

extern "C" __global__ void shade_radiosity(SurfaceView surface, const ViewFrame* frame, const float* options,
                                           int pack_count, const int* prim_id, const float* u, const float* v,
                                           PointTreeView tree, const float4* shapes, const float4* normals,
                                           const float4* gathered, const float4* direct, const float4* radiance,
                                           float* sums) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    const float reach = options[RadiosityRow::reach];
    const bool shows_points = options[RadiosityRow::shows_points] != 0.0f;
    const bool has_both_sides = options[RadiosityRow::both_sides] != 0.0f;
    const bool begins_anew = options[RadiosityRow::begins_anew] != 0.0f;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real3 direction = direction_of(rays_of(camera, first));
        const Int primitives = load(prim_id + first);
        const Mask hit = !(primitives < splat_int(0));
        Real3 color = background(options, direction);
        if (any(hit)) {
            const Interaction found = interaction_at(surface, direction, hit, primitives, load(u + first),
                                                     load(v + first));
            Real3 light = splat3(0.0f, 0.0f, 0.0f);
            for (int i = 0; i < PACK; ++i) {
                if (!(mask_bits(hit) >> i & 1u)) continue;
                const float3 at = make_float3(lane(found.at.point.x, i), lane(found.at.point.y, i),
                                              lane(found.at.point.z, i));
                const float3 normal = make_float3(lane(found.shading_normal.x, i), lane(found.shading_normal.y, i),
                                                  lane(found.shading_normal.z, i));
                const bool is_front = has_both_sides || !(mask_bits(found.at.is_back) >> i & 1u);
                const float3 of_points = shows_points ? disc_at(tree, shapes, normals, radiance, at, normal, reach)
                                                      : mean_around(tree, shapes, normals, gathered, direct, at, normal,
                                                                    reach, is_front);
                set_lane(light.x, i, of_points.x);
                set_lane(light.y, i, of_points.y);
                set_lane(light.z, i, of_points.z);
            }
            const Real3 diffuse = found.material.base_color * (splat(1.0f) - found.material.metallic);
            const Real3 lit = shows_points ? light : found.material.emission + diffuse * light;
            color = select(hit, lit, color);
        }
        // While light still spreads, a sample is worth all before it.
        const float weight = begins_anew ? (float)(frame->sample_index + 1) : 1.0f;
        add_to_film(sums, plane, first, begins_anew ? 0 : frame->sample_index, color * splat(weight));
    }
}
