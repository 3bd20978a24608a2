// Spheres straight into the picture: no tiles, one 64-bit minimum a pixel met.
//
// Constants of the unit: WARP_EACH (32 threads share a sphere's pixels, else a thread has a sphere), and those of
// tiles.cuh.
// `only_if`, where it is not null, says whether to draw at all.
#include "gpu/device/loops.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/glyphs/tiles.cuh"

__device__ __forceinline__ void keep_in_picture(uint64* at, uint64 key) {
    if (key < atomic_load(at)) atomic_min(at, key);
}

__device__ __forceinline__ void splat_sphere(const ViewFrame& frame, const TileInput& input, int prim_id) {
    const PixelBox box = input.box(prim_id);
    if (box.is_empty()) return;
    const int packs_across = (box.x.end - box.x.first + PACK - 1) / PACK;
    const int packs = packs_across * (box.y.end - box.y.first);
    for (int pack : WARP_EACH ? lane_stride(packs) : Stride{0, packs, 1}) {
        const int x = box.x.first + pack % packs_across * PACK, y = box.y.first + pack / packs_across;
        const Rays rays = rays_from(frame, x, y, box.x.end);
        const Intersection found = intersect_at(input, prim_id, rays);
        const unsigned lanes = mask_bits(found.hit);
        uint64* at = input.keys + (int64)y * frame.width + x;
        for (int i = 0; i < PACK; ++i)
            if (lanes >> i & 1u) keep_in_picture(at + i, hit_key(lane(found.t, i), prim_id));
    }
}

// What a thread or a warp takes, counted by spheres: a hundred million have more threads than a number of 32 bits says.
__device__ __forceinline__ Stride spheres_here(int count) {
    if (!WARP_EACH || RUNS_SERIAL) return grid_stride(count);
    const int warps = block_threads() / 32;
    return {block_index() * warps + thread_index() / 32, count, block_count() * warps};
}

extern "C" __global__ void splat_spheres(const ViewFrame* frame, TileInput input, const int* only_if) {
    if (only_if && !*only_if) return;
    for (int i : spheres_here(input.count())) splat_sphere(*frame, input, i);
}
