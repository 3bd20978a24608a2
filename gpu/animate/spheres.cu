// Spheres at one instant: world-space centres of this and the last instant, radii, colours; from two key frames, as
// pose.cu found them, and the object's node.
//
// What is not there at this instant has a radius below 0 and its centre nowhere, and keeps its place: nothing is moved
// together, so that a tree over the spheres keeps fitting them.
// from gpu.animate.structs import PeriodicCell, SphereObject
#include "gpu/animate/animate.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

// The image of `to` that is nearest to `from`, counted in whole edges.
__device__ __forceinline__ float3 nearest_image(const PeriodicCell& cell, float3 from, float3 to) {
    const float3 away = to - from;
    float3 image = to;
    for (int edge = 0; edge < 3; ++edge) {
        const float whole = floorf(dot(cell.shares[edge], away) + 0.5f) * along(cell.repeats, edge);
        if (whole != 0.0f) image = image - cell.edges[edge] * whole;
    }
    return image;
}

struct MovingSphere {
    float3 centre;
    float radius;
};

// Between two keys; where one of them lacks the sphere, the nearer key decides.
__device__ __forceinline__ MovingSphere between(const MovingSphere& from, MovingSphere to, float alpha,
                                                const PeriodicCell* cell) {
    const bool is_before = from.radius > 0.0f, is_after = to.radius > 0.0f;
    if (!is_before || !is_after) return alpha < 0.5f ? from : to;
    if (cell != nullptr && alpha > 0.0f) to.centre = nearest_image(*cell, from.centre, to.centre);
    return {lerp(from.centre, to.centre, alpha), lerp(from.radius, to.radius, alpha)};
}

// One tile per block. `hidden`: of each object, whether it is left out. Spheres that are not finite are counted.
extern "C" __global__ void animate_spheres(const Tile* tiles, int tile_count, const Placement* placements,
                                           const SphereObject* objects, const int* hidden, const float* source_centres,
                                           const float* source_radii, const float* source_colours,
                                           const PeriodicCell* cells, float* centres, float* previous, float* radii,
                                           float* colours, int* not_finite) {
    for (int t = block_index(); t < tile_count; t += block_count()) {
        const Tile tile = tiles[t];
        const SphereObject object = objects[tile.object];
        const Placement place = placements[object.placement];
        const int key = place.source, next = place.next_source;  // a sphere object's shapes are its keys
        const Affine& m = place.transform;
        const float scale = sqrtf((dot(m.row[0], m.row[0]) + dot(m.row[1], m.row[1]) + dot(m.row[2], m.row[2])) / 3.0f);
        const PeriodicCell* cell = object.first_cell < 0 ? nullptr
                                                         : cells + object.first_cell + key * object.cell_stride;
        const bool is_hidden = hidden[tile.object] != 0;
        int bad = 0;
        for (int i : block_stride(tile.count)) {
            const int64 slot = (int64)object.first_slot + tile.first_local + i, local = (int64)tile.first_local + i;
            const int64 centre_row = object.first_centre + local, radius_row = object.first_radius + local;
            const MovingSphere from = {load3(source_centres, centre_row + key * object.centre_stride),
                                       source_radii[radius_row + key * object.radius_stride]};
            const MovingSphere to = {load3(source_centres, centre_row + next * object.centre_stride),
                                     source_radii[radius_row + next * object.radius_stride]};
            const MovingSphere now = between(from, to, place.alpha, cell);
            const float3 centre = transform_point(m, now.centre);
            const float radius = now.radius * scale;
            const bool is_good = is_finite(centre) && is_finite(radius), is_there = is_good && radius > 0.0f;
            const float nowhere = __int_as_float(0x7fc00000);
            store3(previous, slot, load3(centres, slot));
            store3(centres, slot, is_there && !is_hidden ? centre : make_float3(nowhere, nowhere, nowhere));
            radii[slot] = is_there && !is_hidden ? radius : -1.0f;
            bad += is_good ? 0 : 1;
            if (object.first_colour >= 0) {
                const int64 row = object.first_colour + local;
                store3(colours, slot,
                       lerp(load3(source_colours, row + key * object.colour_stride),
                            load3(source_colours, row + next * object.colour_stride), place.alpha));
            }
        }
        bad = block_sum(bad);
        if (thread_index() == 0 && bad > 0) atomic_add(not_finite, bad);
    }
}
