// Whether points see each other: rays between some of two nodes' points, and where these do not agree, between all of
// two leaves'. The unit is compiled against a structure (traversals.cuh).
// from gpu.radiosity.pairs import FIRST_ASKED, KINDS, PARTS, PairTotals
#include "gpu/device/random.cuh"
#include "gpu/device/warp_stride.cuh"
#include "gpu/radiosity/exchange.cuh"
#include "gpu/radiosity/pairs.cuh"
#include "gpu/trace/hit_point.cuh"
#include "gpu/trace/traversals.cuh"

// Rays between points a lane: from just above the one's surface to just above the other's. Lanes whose points do not
// face each other have none.
struct Sight {
    Real3 from, to;
    Mask active;

    __device__ __forceinline__ void set(int i, float3 a, float3 normal_a, float3 b, float3 normal_b, float offset) {
        const float3 above_a = a + normal_a * offset, above_b = b + normal_b * offset;
        set_lane(from.x, i, above_a.x);
        set_lane(from.y, i, above_a.y);
        set_lane(from.z, i, above_a.z);
        set_lane(to.x, i, above_b.x);
        set_lane(to.y, i, above_b.y);
        set_lane(to.z, i, above_b.z);
        if (dot(b - a, normal_a) > 0.0f && dot(b - a, normal_b) < 0.0f) active = active | mask_from_bits(1u << i);
    }
    __device__ __forceinline__ Rays rays() const {
        const Real3 away = to - from;
        const Real distance = lanes_sqrt(max(dot(away, away), splat(LEAST_DISTANCE2)));
        const Real3 direction = select(active, away * (splat(1.0f) / distance), splat3(0.0f, 0.0f, 1.0f));
        return make_rays(from.x, from.y, from.z, direction.x, direction.y, direction.z, splat(0.0f), distance, active);
    }
};
__device__ __forceinline__ Sight no_sight() {
    return {splat3(0.0f, 0.0f, 0.0f), splat3(0.0f, 0.0f, 0.0f), splat_mask(false)};
}
__device__ __forceinline__ float3 three(const float4& a) { return make_float3(a.x, a.y, a.z); }

// Whether what the sender gives at most, with what it reflects of the mean of all light, is less than `least` of that
// mean: what of it is hidden then need not be known better than by its share.
__device__ __forceinline__ bool gives_little(const float4* shapes, int2 pair, float least) {
    const NodeShape all = load_shape(shapes, 0), a = load_shape(shapes, pair.x), b = load_shape(shapes, pair.y);
    const float mean = 2.0f * all.light / max(all.area, LEAST_DIVISOR);  // as where surfaces reflect the half of it
    const float3 away = b.centre - a.centre;
    return b.light + mean * b.area <= least * mean * PI * dot(away, away);
}

// Rays between points of two nodes that face each other, and those of them that arrive.
struct Answer {
    int asked, arrived;

    __device__ bool is_mixed() const { return arrived > 0 && arrived < asked; }
};

// Whether some of a pair's points see each other. One that is split if they do not agree is asked until they do not.
__device__ __forceinline__ Answer ask_pair(const TraceInput& input, const PointTreeView& tree, const float4* normals,
                                           int2 pair, int ray_count, bool is_split_if_mixed) {
    const float offset = SIGHT_OFFSET * tree.root[0].w;
    const int first_a = tree.first_point[pair.x], count_a = tree.point_count[pair.x];
    const int first_b = tree.first_point[pair.y], count_b = tree.point_count[pair.y];
    const unsigned seed = scrambled((unsigned)pair.x ^ scrambled((unsigned)pair.y));
    const int rays = (int)min((int64)ray_count, (int64)count_a * count_b);
    Answer answer = {0, 0};
    for (int first = 0; first < rays && !(is_split_if_mixed && answer.is_mixed()); first += PACK) {
        Sight sight = no_sight();
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (first + i >= rays) continue;
            const unsigned other = scrambled(seed + (unsigned)(first + i));
            const int a = first_a + (int)(((int64)(first + i) * count_a / rays + seed % count_a) % count_a);
            const int b = first_b + (int)(other % (unsigned)count_b);
            sight.set(i, three(tree.points[a]), three(normals[a]), three(tree.points[b]), three(normals[b]), offset);
        }
        const Mask blocked = is_any_hit(input, sight.rays());
        answer.asked += __popc(mask_bits(sight.active));
        answer.arrived += __popc(mask_bits(sight.active & !blocked));
    }
    return answer;
}

// Whether a way keeps the share of its rays that arrives, where some do.
__device__ __forceinline__ bool keeps_share(const float4* shapes, int2 pair, int kind, float least) {
    return is_expanded(kind) && gives_little(shapes, pair, least);
}

// Whether what some points do not see is looked at more closely: in their children, or point by point.
__device__ __forceinline__ bool is_split_or_asked(const PointTreeView& tree, int2 pair) {
    const bool are_leaves = tree.child_count[pair.x] == 0 && tree.child_count[pair.y] == 0;
    return !are_leaves || max(tree.point_count[pair.x], tree.point_count[pair.y]) <= LEAF_POINTS;
}

// What becomes of one way of a pair some of whose rays were stopped: `none` where no ray arrives; one that keeps a
// share is as it was; others are split as far as there are children, and after that `partial`.
__device__ __forceinline__ int partly_hidden(const PointTreeView& tree, int2 pair, int kind, bool keeps,
                                             const Answer& answer) {
    if (kind == KINDS::none || answer.arrived == 0) return KINDS::none;
    if (keeps) return kind;
    if (tree.child_count[pair.x] != 0 || tree.child_count[pair.y] != 0) return KINDS::split;
    if (tree.point_count[pair.x] <= LEAF_POINTS && tree.point_count[pair.y] <= LEAF_POINTS) return KINDS::partial;
    return 2 * answer.arrived < answer.asked ? KINDS::none : kind;  // more points in one place than a row holds
}

// Ask the pairs that are to be listed, both ways at once.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    see_pairs(TraceInput input, PointTreeView tree, const float4* shapes, const float4* normals, const int2* pairs,
              const int* totals, int ray_count, float least, int2* kinds, float* shares) {
    for (int item : grid_stride(totals[PairTotals::frontier])) {
        const int2 kind = kinds[item];
        if (kind.x >= KINDS::partial) continue;
        const Couple couple = couple_of(pairs[item]);
        const bool keeps_forth = keeps_share(shapes, couple.way(0), kind.x, least);
        const bool keeps_back = keeps_share(shapes, couple.way(1), kind.y, least);
        const bool is_split_if_mixed = !keeps_forth && !keeps_back && is_split_or_asked(tree, couple.nodes);
        const Answer answer = ask_pair(input, tree, normals, couple.nodes, ray_count, is_split_if_mixed);
        if (answer.arrived == answer.asked) continue;
        shares[item] = (float)answer.arrived / (float)answer.asked;
        kinds[item] = int2{partly_hidden(tree, couple.way(0), kind.x, keeps_forth, answer),
                           partly_hidden(tree, couple.way(1), kind.y, keeps_back, answer)};
    }
}

// -- points of two leaves ------------------------------------------------------------------------------------------
// Of each receiver a bit for each sender; receivers are shared out over a warp's lanes.
struct Words {
    unsigned of[(LEAF_POINTS + WARP_LANES - 1) / WARP_LANES];

    __device__ __forceinline__ unsigned row(int receiver) const {
        return warp_broadcast(of[receiver / WARP_LANES], receiver % WARP_LANES);
    }
};
constexpr int LANE_RECEIVERS = sizeof(Words) / sizeof(unsigned);

// Of the bits of rays `begin` and on, 32 at most, those of rays first .. first + count - 1, counted from `first`.
__device__ __forceinline__ unsigned bits_between(unsigned bits, int begin, int first, int count) {
    const int low = max(begin, first), high = min(begin + WARP_LANES * PACK, first + count);
    if (low >= high) return 0u;
    const unsigned kept = high - low < 32 ? (1u << (high - low)) - 1u : 0xffffffffu;
    return ((bits >> (low - begin)) & kept) << (low - first);
}
__device__ __forceinline__ int place_of_bit(unsigned mask, int number) {
    for (; number > 0; --number) mask &= mask - 1u;
    return __ffs((int)mask) - 1;
}
// The lowest bits of `bits` at the places of those of `mask`.
__device__ __forceinline__ unsigned at_bits_of(unsigned mask, unsigned bits) {
    unsigned placed = 0;
    for (; mask != 0; mask &= mask - 1u, bits >>= 1) placed |= (bits & 1u) * (mask & (0u - mask));
    return placed;
}

struct Leaves {
    int first_a, count_a, first_b, count_b;
};

// Which of some `senders` are seen by so many of the receivers, evenly spread: a word for each of these, in their
// order. All of a warp's lanes together: they take the rays one after the other, so that none idles for a point that a
// leaf lacks.
__device__ __forceinline__ Words ask_points(const TraceInput& input, const PointTreeView& tree, const float4* normals,
                                            const Leaves& leaves, int receivers, unsigned senders) {
    const float offset = SIGHT_OFFSET * tree.root[0].w;
    const int asked = __popc(senders);  // of a receiver
    Words words = {};
    for (int begin = 0; begin < receivers * asked; begin += WARP_LANES * PACK) {
        Sight sight = no_sight();
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            const int ray = begin + warp_lane() * PACK + i, receiver = ray / asked;
            if (receiver >= receivers) continue;
            const int a = leaves.first_a + receiver * leaves.count_a / receivers;
            const int b = leaves.first_b + place_of_bit(senders, ray % asked);
            sight.set(i, three(tree.points[a]), three(normals[a]), three(tree.points[b]), three(normals[b]), offset);
        }
        const Mask arrives = sight.active & !is_any_hit(input, sight.rays());
        const unsigned bits = WARP_LANES > 1 ? warp_ballot(any(arrives)) : mask_bits(arrives);
        for (int own = 0; own < LANE_RECEIVERS; ++own)
            words.of[own] |= bits_between(bits, begin, (warp_lane() + own * WARP_LANES) * asked, asked);
    }
    for (int own = 0; own < LANE_RECEIVERS; ++own) words.of[own] = at_bits_of(senders, words.of[own]);
    return words;
}

// A sender that some receivers far apart all see, or none of them does, is taken to be seen by all or by none: one that
// a surface just before it hides from everybody else costs a ray for each. The others are asked one by one.
__device__ __forceinline__ Words seen_words(const TraceInput& input, const PointTreeView& tree, const float4* normals,
                                            const Leaves& leaves) {
    const int first_asked = min(FIRST_ASKED, leaves.count_a);
    const unsigned all = leaves.count_b < 32 ? (1u << leaves.count_b) - 1u : 0xffffffffu;
    Words words = ask_points(input, tree, normals, leaves, first_asked, all);
    if (first_asked == leaves.count_a) return words;
    unsigned by_all = all, by_any = 0u;
    for (int row = 0; row < first_asked; ++row) {
        by_all &= words.row(row);
        by_any |= words.row(row);
    }
    words = ask_points(input, tree, normals, leaves, leaves.count_a, by_any & ~by_all);
    for (int own = 0; own < LANE_RECEIVERS; ++own) words.of[own] |= by_all;
    return words;
}

// Between the points of the leaves of `partial`, whose receivers are the sorted keys of the list: a row of LEAF_POINTS
// words for each pair. A warp has a pair.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    see_points(TraceInput input, PointTreeView tree, const float4* normals, const int* totals,
               const unsigned* receivers, const int* senders, int room, unsigned* seen) {
    for (int pair : warp_stride(min(totals[PairTotals::listed + KINDS::partial], room))) {
        const int node = (int)receivers[pair], sender = senders[pair];
        const Leaves leaves = {tree.first_point[node], tree.point_count[node], tree.first_point[sender],
                               tree.point_count[sender]};
        const Words words = seen_words(input, tree, normals, leaves);
        for (int own = 0; own < LANE_RECEIVERS; ++own) {
            const int receiver = warp_lane() + own * WARP_LANES;
            if (receiver < leaves.count_a) seen[(int64)pair * LEAF_POINTS + receiver] = words.of[own];
        }
    }
}

// What some points would gather by a ray to each other point: the measure of the sum with all that hides. Every
// `step`-th point is asked, in PARTS parts each of the points that send; `parts` has a row of them for each one asked.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    gather_by_rays(TraceInput input, PointTreeView tree, const float4* normals, const float4* sent, int step, int asked,
                   float4* parts) {
    const float offset = SIGHT_OFFSET * tree.root[0].w;
    const int count = tree.counts[TREE_COUNTS::points];
    for (int item : grid_stride(asked * PARTS)) {
        const int a = min(item / PARTS * step, max(count - 1, 0)), part = item % PARTS;
        const int begin = (int)((int64)count * part / PARTS), end = (int)((int64)count * (part + 1) / PARTS);
        const float4 place = tree.points[a], normal = normals[a];
        Real3 sum = splat3(0.0f, 0.0f, 0.0f);
        for (int first = begin; first < end; first += PACK) {
            Sight sight = no_sight();
#pragma unroll
            for (int i = 0; i < PACK; ++i) {
                if (first + i >= end) continue;
                const int b = first + i;
                sight.set(i, three(place), three(normal), three(tree.points[b]), three(normals[b]), offset);
            }
            const Mask arrives = sight.active & !is_any_hit(input, sight.rays());
            const Receivers senders = load_receivers(tree.points, normals, first, end - 1);
            Real3 light = splat3(0.0f, 0.0f, 0.0f);
#pragma unroll
            for (int i = 0; i < PACK; ++i) {
                const float4 of = sent[min(first + i, end - 1)];
                set_lane(light.x, i, of.x);
                set_lane(light.y, i, of.y);
                set_lane(light.z, i, of.z);
            }
            // the kernel is the same from either side
            const Real share = select(arrives, exchange(senders, place, normal), splat(0.0f));
            sum = sum + light * share;
        }
        float3 total = make_float3(0.0f, 0.0f, 0.0f);
        for (int i = 0; i < PACK; ++i) total += make_float3(lane(sum.x, i), lane(sum.y, i), lane(sum.z, i));
        parts[item] = make_float4(total.x, total.y, total.z, 0.0f);
    }
}
