// Spheres straight into the picture: no tiles, one 64-bit minimum a pixel met.
//
// A warp looks at a batch of spheres, a lane each. Those that its part may draw wait until every lane has one; then
// some of its lanes take the pixels of one. A pixel where something hides all of a sphere costs that its key is read;
// the others wait, too, until every lane has one to test.
//
// Constants of the unit: those of seen.cuh. `only_if`, where it is not null, says whether to draw
// at all. `batch`: spheres that a warp takes at a time, at most as many as it has lanes. `part`: see Part.
#include "gpu/device/warp_stride.cuh"
#include "gpu/glyphs/seen.cuh"

constexpr int MOST_WARPS = RUNS_SERIAL ? 1 : 8;  // of a block
constexpr int AT_ONCE = 2;  // keys that a lane reads before it looks at one: each is waited for
constexpr int STEPS = 10;  // of a sphere's lanes over its pixels, about
constexpr int MOST_SHARING = 8;  // lanes of one of many spheres
constexpr int INVERSE_BITS = 20;
constexpr int MOST_PIXELS = 1 << INVERSE_BITS / 2;  // of a box whose places are found by an inverse, exactly

// A lane's own sphere of a batch.
struct Kept {
    float4 sphere;  // of a glyph, its ball
    uint2 box;
    unsigned least;  // of the keys of its hits, the part that is their distance
    int prim_id;
};

// A pixel (on the host a pack of them) to be tested, and whose sphere.
struct Waiting {
    unsigned x_y;
    int lane;
};
// What a warp's lanes tell each other.
struct Shared {
    Waiting waiting[2 * WARP_LANES];
    int drawn[WARP_LANES];  // lanes with a sphere to draw, those first whose box is small
    int queue[2 * WARP_LANES];  // prim_ids of spheres that wait
};

__device__ __forceinline__ unsigned lanes_before() { return (1u << warp_lane()) - 1u; }

// All lanes call its functions together.
struct Splatter {
    const ViewFrame& frame;
    const TileInput& input;
    Shared& shared;
    Kept kept;
    int waiting;

    // Tests the last ones that wait.
    __device__ __forceinline__ void draw(int count) {
        warp_sync();
        waiting -= count;
        const bool has_one = warp_lane() < count;
        const Waiting at = has_one ? shared.waiting[waiting + warp_lane()] : Waiting{0u, 0};
        warp_sync();
        const float4 sphere = {warp_broadcast(kept.sphere.x, at.lane), warp_broadcast(kept.sphere.y, at.lane),
                               warp_broadcast(kept.sphere.z, at.lane), warp_broadcast(kept.sphere.w, at.lane)};
        const int prim_id = warp_broadcast(kept.prim_id, at.lane);
        if (has_one) draw_at(sphere, prim_id, (int)(at.x_y & 0xffffu), (int)(at.x_y >> 16));
    }
    __device__ __forceinline__ void draw_at(float4 sphere, int prim_id, int x, int y) const {
        const int end_x = PACK > 1 ? unpacked(kept.box).x.end : x + 1;  // a pack is of the lane's own sphere
        const Rays rays = rays_from(frame, x, y, end_x);
        const Intersection found = intersect_read(input, sphere, prim_id, rays);
        const unsigned hits = mask_bits(found.hit);
        uint64* at = input.keys + (int64)y * frame.width + x;
        for (int i = 0; i < PACK; ++i)
            if (hits >> i & 1u) atomic_min(at + i, hit_key(lane(found.t, i), prim_id));
    }

    // Reads the keys of the sphere that lane `from` keeps, none where that is negative, by so many lanes, a power of 2.
    __device__ __forceinline__ void look(int from, int lanes) {
        const int source = max(from, 0);
        const PixelBox box = unpacked({warp_broadcast(kept.box.x, source), warp_broadcast(kept.box.y, source)});
        const unsigned least = warp_broadcast(kept.least, source);
        const int across = max((box.x.end - box.x.first + PACK - 1) / PACK, 1), down = box.y.end - box.y.first;
        const int packs = from < 0 ? 0 : across * down;
        const bool is_small = packs <= MOST_PIXELS;
        const unsigned inverse = (1u << INVERSE_BITS) / across + 1u;
        for (int begin = warp_lane() & (lanes - 1); warp_any(begin < packs); begin += AT_ONCE * lanes) {
            unsigned x_y[AT_ONCE];
            bool is_asked[AT_ONCE];
            for (int i = 0; i < AT_ONCE; ++i) {
                const int pack = begin + i * lanes;
                const int row = is_small ? (int)(pack * inverse >> INVERSE_BITS) : pack / across;
                const int x = box.x.first + (pack - row * across) * PACK, y = box.y.first + row;
                is_asked[i] = pack < packs && may_be_nearest(x, y, box.x.end, least);
                x_y[i] = (unsigned)x | (unsigned)y << 16;
            }
            for (int i = 0; i < AT_ONCE; ++i) {
                const unsigned asked = warp_ballot(is_asked[i]);
                if (is_asked[i]) shared.waiting[waiting + __popc(asked & lanes_before())] = {x_y[i], source};
                waiting += __popc(asked);
                if (waiting >= WARP_LANES) draw(WARP_LANES);
            }
        }
    }
    // Whether something that is no nearer than `least` is drawn in any of a pack's pixels.
    __device__ __forceinline__ bool may_be_nearest(int x, int y, int end_x, unsigned least) const {
        const uint64* at = input.keys + (int64)y * frame.width + x;
        bool found = false;
        for (int i = 0; i < min(PACK, end_x - x); ++i) found |= (unsigned)(atomic_load(at + i) >> 32) >= least;
        return found;
    }
};

// How many lanes share each of so many spheres of so many pixels in all: of few spheres those that are left over too.
__device__ __forceinline__ int lanes_for(int spheres, int pixels) {
    int lanes = 1;
    while (lanes < WARP_LANES &&
           ((lanes < MOST_SHARING && lanes * STEPS * spheres < pixels) || 2 * lanes * spheres <= WARP_LANES))
        lanes *= 2;
    return lanes;
}

// The last `count` spheres that wait, one a lane: those of small boxes side by side, the others by all lanes.
__device__ __forceinline__ void splat_waiting(const ViewFrame& frame, const TileInput& input, Shared& shared, int first,
                                              int count) {
    const int prim_id = warp_lane() < count ? shared.queue[first + warp_lane()] : -1;
    Seen seen = {{0.0f, 0.0f, 0.0f, 0.0f}, NO_PIXELS, 0u};
    if (prim_id >= 0) seen = seen_at(frame, input, prim_id);
    const PixelBox& box = seen.box;
    Splatter by = {frame, input, shared, {seen.ball, packed(box), seen.least, prim_id}, 0};
    const int64 pixels = (int64)(box.x.end - box.x.first) * (box.y.end - box.y.first);
    const bool is_large = !box.is_empty() && pixels > MOST_PIXELS, is_small = !box.is_empty() && !is_large;
    const unsigned small = warp_ballot(is_small);
    const int drawn = __popc(small), lanes = lanes_for(drawn, warp_sum(is_small ? (int)pixels : 0));
    if (is_small) shared.drawn[__popc(small & lanes_before())] = warp_lane();
    warp_sync();
    for (unsigned rest = warp_ballot(is_large); rest != 0; rest &= rest - 1) by.look(__ffs((int)rest) - 1, WARP_LANES);
    for (int next = warp_lane() / lanes; warp_any(next < drawn); next += WARP_LANES / lanes)
        by.look(next < drawn ? shared.drawn[next] : -1, lanes);
    by.draw(by.waiting);
    warp_sync();
}

extern "C" __global__ void __launch_bounds__(MOST_WARPS* WARP_LANES, 4)
    splat_spheres(const ViewFrame* frame, TileInput input, const int* only_if, int batch, int part) {
    SHARED Shared of_warps[MOST_WARPS];
    SHARED CellView view;
    if (only_if && !*only_if) return;
    if (part == PART_REST && has_no_rest(input)) return;
    Shared& shared = of_warps[RUNS_SERIAL ? 0 : thread_index() / WARP_LANES];
    if (part == PART_NEAR && has_no_rest(input)) part = PART_ALL;
    if (OWN_BOXES && part != PART_ALL) {
        if (thread_index() == 0) view = cell_view(*frame, input);
        block_sync();
    }
    const int count = input.count(), batches = (int)((count + (int64)batch - 1) / batch);
    int queued = 0;
    for (int i : warp_stride(batches)) {
        const int prim_id = i * batch + warp_lane();
        const bool is_wanted = warp_lane() < batch && prim_id < count &&
                               may_be_in_part(*frame, view, input, prim_id, (Part)part);
        const unsigned wanted = warp_ballot(is_wanted);
        if (wanted == 0) continue;
        if (is_wanted) shared.queue[queued + __popc(wanted & lanes_before())] = prim_id;
        queued += __popc(wanted);
        warp_sync();
        if (queued < WARP_LANES) continue;
        queued -= WARP_LANES;
        splat_waiting(*frame, input, shared, queued, WARP_LANES);
    }
    if (queued > 0) splat_waiting(*frame, input, shared, 0, queued);
}
