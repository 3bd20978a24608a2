// Spheres straight into the picture: no tiles, one 64-bit minimum a pixel met.
//
// A warp takes a batch of spheres, a lane each, and some of its lanes the pixels of one. A pixel where something hides
// all of a sphere costs that its key is read; the others wait until every lane has one to test.
//
// Constants of the unit: PRINTED_BOXES, and those of tiles.cuh. `only_if`, where it is not null, says whether to draw
// at all. `batch`: spheres that a warp takes at a time, at most as many as it has lanes. `part`: see Part.
#include "gpu/device/warp_stride.cuh"
#include "gpu/glyphs/covered.cuh"
#include "gpu/glyphs/sphere_bounds.cuh"

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
};

__device__ __forceinline__ unsigned lanes_before() { return (1u << warp_lane()) - 1u; }

// All lanes call its functions together.
struct Splatter {
    const ViewFrame& frame;
    const TileInput& input;
    Shared& shared;
    Kept kept;
    int first_id;  // lane 0's
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
        if (has_one) draw_at(sphere, first_id + at.lane, (int)(at.x_y & 0xffffu), (int)(at.x_y >> 16));
    }
    __device__ __forceinline__ void draw_at(float4 sphere, int prim_id, int x, int y) const {
        const int end_x = PACK > 1 ? unpacked(kept.box).x.end : x + 1;  // a pack is of the lane's own sphere
        const Rays rays = rays_from(frame, x, y, end_x);
        const Intersection found = input.is_glyph(prim_id) ? intersect_glyph(input.glyph(prim_id), prim_id, rays)
                                                           : intersect_sphere(sphere, prim_id, rays);
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

// The spheres from `first_id` on, one a lane: those of small boxes side by side, the others by all lanes.
__device__ __forceinline__ void splat_batch(const ViewFrame& frame, const TileInput& input, Shared& shared,
                                            int first_id, int end_id, Part part) {
    const int prim_id = first_id + warp_lane();
    PixelBox box = prim_id < end_id ? input.box(prim_id) : NO_PIXELS;
    if (part != PART_ALL && !box.is_empty() && !is_in_part(input, frame.width, part, input.order_keys[prim_id], box))
        box = NO_PIXELS;
    Splatter by = {frame, input, shared, {{0.0f, 0.0f, 0.0f, 0.0f}, packed(box), 0u}, first_id, 0};
    if (!box.is_empty()) {
        const float4 ball = by.kept.sphere = ball_of(input, prim_id);
        by.kept.least = key_of_distance(nearest_distance(frame, make_float3(ball.x, ball.y, ball.z), ball.w));
    }
    const int64 pixels = (int64)(box.x.end - box.x.first) * (box.y.end - box.y.first);
    const bool is_large = !box.is_empty() && pixels > MOST_PIXELS, is_small = !box.is_empty() && !is_large;
    const unsigned small = warp_ballot(is_small);
    const int count = __popc(small), lanes = lanes_for(count, warp_sum(is_small ? (int)pixels : 0));
    if (is_small) shared.drawn[__popc(small & lanes_before())] = warp_lane();
    warp_sync();
    for (unsigned rest = warp_ballot(is_large); rest != 0; rest &= rest - 1) by.look(__ffs((int)rest) - 1, WARP_LANES);
    for (int next = warp_lane() / lanes; warp_any(next < count); next += WARP_LANES / lanes)
        by.look(next < count ? shared.drawn[next] : -1, lanes);
    by.draw(by.waiting);
    warp_sync();
}

extern "C" __global__ void __launch_bounds__(MOST_WARPS* WARP_LANES, 4)
    splat_spheres(const ViewFrame* frame, TileInput input, const int* only_if, int batch, int part) {
    SHARED Shared of_warps[MOST_WARPS];
    if (only_if && !*only_if) return;
    if (part == PART_REST && has_no_rest(input)) return;
    const int count = input.count(), batches = (int)((count + (int64)batch - 1) / batch);
    for (int i : warp_stride(batches)) {
        const int first_id = i * batch, end_id = (int)min((int64)first_id + batch, (int64)count);
        splat_batch(*frame, input, of_warps[RUNS_SERIAL ? 0 : thread_index() / WARP_LANES], first_id, end_id,
                    (Part)part);
    }
}
