// The single-ray traversal of the 8-wide layouts whose children lie in slots by direction (octant_slots.cuh). What
// waits of a node is one word: its index and a byte of the slots still to be entered, in the order of slot ^ octant,
// nearer ones first (after the node groups of Ylitie, Karras and Laine 2017); so the stack holds one word per level. A
// pack is traversed lane by lane, all eight children of a node at once in its vectors.
//
// An index has 24 bits in a word of 32, and where a tree may have more nodes the words have 64: HAS_WIDE_GROUPS, a unit
// constant.
//
// A layout gives `Node`: enter(index, ray) -> the slots whose box the ray enters; child(index, slot) -> a child word,
// inner ones as indices; root_word(); STACK, a bound of the levels; MOVES_PLANES, whether slabs are to move them
// (slabs.cuh). For events: slots(index) -> the slots with a child, box(index, slot) -> its box.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/bvh/traversals/slabs.cuh"

constexpr int WIDE_SLOTS = 8;

template <bool IS_WIDE>
struct GroupWord {
    typedef int Type;
    typedef unsigned Bits;
};
template <>
struct GroupWord<true> {
    typedef int64 Type;
    typedef uint64 Bits;
};
typedef GroupWord<HAS_WIDE_GROUPS>::Type NodeGroup;
__device__ __forceinline__ NodeGroup group_of(int node, unsigned slots) {
    return (NodeGroup)((GroupWord<HAS_WIDE_GROUPS>::Bits)node << 8 | slots);
}
__device__ __forceinline__ unsigned node_of(NodeGroup group) {
    return (unsigned)((GroupWord<HAS_WIDE_GROUPS>::Bits)group >> 8);
}
__device__ __forceinline__ int slots_of(NodeGroup group) { return (int)(group & 255); }

// Bit s of a byte goes to bit s ^ octant, and back.
__device__ __forceinline__ unsigned by_octant(unsigned slots, int octant) {
    if (octant & 1) slots = (slots & 0x55u) << 1 | (slots >> 1 & 0x55u);
    if (octant & 2) slots = (slots & 0x33u) << 2 | (slots >> 2 & 0x33u);
    if (octant & 4) slots = (slots & 0x0fu) << 4 | slots >> 4;
    return slots;
}

// The same from a table, for rays of a pack one after the other: their octants differ, so that branches are
// mispredicted.
template <int SIZE>
struct OctantOrders {
    unsigned char of[8][SIZE];

    constexpr OctantOrders() : of{} {
        for (int octant = 0; octant < 8; ++octant) {
            for (int slots = 0; slots < SIZE; ++slots) {
                for (int s = 0; s < 8; ++s)
                    of[octant][slots] = (unsigned char)(of[octant][slots] | (slots >> s & 1) << (s ^ octant));
            }
        }
    }
    // Of a pack of one there is no table.
    __device__ __forceinline__ static unsigned order(unsigned slots, int octant) {
        if constexpr (IS_SINGLE_RAY) {
            return by_octant(slots, octant);
        } else {
            static constexpr OctantOrders ORDERS;
            return ORDERS.of[octant][slots];
        }
    }
};

// One ray of a pack, each of its numbers in every lane: lanes are children then. Of a pack of one it is the ray itself.
// Packs of sixteen have room for a child's nearer planes in the first half and, negated, its further ones in the
// second: so do the numbers that these are combined with.
constexpr bool HAS_HALVES = PACK == 2 * WIDE_SLOTS;

struct OneRay {
    Real ix, iy, iz, near_x, near_y, near_z, far_x, far_y, far_z, t_min, t_max;
    int sign_x, sign_y, sign_z;

    __device__ int octant() const { return sign_x | sign_y << 1 | sign_z << 2; }
    __device__ __forceinline__ void end_at(float t) {
        if constexpr (HAS_HALVES) {
            t_min = halves(lane(t_min, 0), -t);
        } else {
            t_max = splat(t);
        }
    }
    __device__ __forceinline__ static Real halves(float first, float second) {
        if constexpr (!HAS_HALVES) return splat(first);
        return select(mask_from_bits(255u), splat(first), splat(second));
    }
};
__device__ __forceinline__ OneRay one_ray(const Rays& rays, const Slabs& slabs, int i) {
    OneRay ray;
    ray.ix = OneRay::halves(lane(rays.ix, i), -lane(rays.ix, i));
    ray.iy = OneRay::halves(lane(rays.iy, i), -lane(rays.iy, i));
    ray.iz = OneRay::halves(lane(rays.iz, i), -lane(rays.iz, i));
    ray.near_x = OneRay::halves(lane(slabs.near_x, i), -lane(slabs.far_x, i));
    ray.near_y = OneRay::halves(lane(slabs.near_y, i), -lane(slabs.far_y, i));
    ray.near_z = OneRay::halves(lane(slabs.near_z, i), -lane(slabs.far_z, i));
    ray.far_x = splat(lane(slabs.far_x, i));
    ray.far_y = splat(lane(slabs.far_y, i));
    ray.far_z = splat(lane(slabs.far_z, i));
    ray.t_min = OneRay::halves(lane(rays.t_min, i), -lane(rays.t_max, i));
    ray.t_max = splat(lane(rays.t_max, i));
    ray.sign_x = lane(rays.ix, i) < 0.0f;
    ray.sign_y = lane(rays.iy, i) < 0.0f;
    ray.sign_z = lane(rays.iz, i) < 0.0f;
    return ray;
}
// As enter_planes of slabs.cuh: the lanes whose box the ray passes.
__device__ __forceinline__ Mask enter_lanes(const OneRay& ray, Real near_x, Real near_y, Real near_z, Real far_x,
                                            Real far_y, Real far_z) {
    const Real entry = max(max(near_x * ray.ix - ray.near_x, near_y * ray.iy - ray.near_y),
                           max(near_z * ray.iz - ray.near_z, ray.t_min));
    const Real exit = min(min(far_x * ray.ix - ray.far_x, far_y * ray.iy - ray.far_y),
                          min(far_z * ray.iz - ray.far_z, ray.t_max));
    return entry <= exit * SLAB_GROWTH;
}
// Slots whose box the ray enters. `planes`: rows of eight, lower.x upper.x lower.y upper.y lower.z upper.z, with room
// to read a whole pack behind them. A single ray fetches 16 bytes at a time.
__device__ __forceinline__ unsigned enter_rows(const float* planes, const OneRay& ray) {
    unsigned hits = 0;
    if constexpr (IS_SINGLE_RAY) {
#pragma unroll 1  // both halves at once take more registers than a tracing kernel has
        for (int s = 0; s < WIDE_SLOTS; s += 4) {
            const float4* four = (const float4*)(planes + s);
            const float4 nx = four[2 * ray.sign_x], ny = four[4 + 2 * ray.sign_y], nz = four[8 + 2 * ray.sign_z];
            const float4 fx = four[2 - 2 * ray.sign_x], fy = four[6 - 2 * ray.sign_y], fz = four[10 - 2 * ray.sign_z];
            hits |= mask_bits(
                        enter_lanes(ray, splat(nx.x), splat(ny.x), splat(nz.x), splat(fx.x), splat(fy.x), splat(fz.x)))
                    << s;
            hits |= mask_bits(
                        enter_lanes(ray, splat(nx.y), splat(ny.y), splat(nz.y), splat(fx.y), splat(fy.y), splat(fz.y)))
                    << (s + 1);
            hits |= mask_bits(
                        enter_lanes(ray, splat(nx.z), splat(ny.z), splat(nz.z), splat(fx.z), splat(fy.z), splat(fz.z)))
                    << (s + 2);
            hits |= mask_bits(
                        enter_lanes(ray, splat(nx.w), splat(ny.w), splat(nz.w), splat(fx.w), splat(fy.w), splat(fz.w)))
                    << (s + 3);
        }
    } else {
        const float *near_x = planes + 8 * ray.sign_x, *near_y = planes + 16 + 8 * ray.sign_y,
                    *near_z = planes + 32 + 8 * ray.sign_z;
        const float *far_x = planes + 8 - 8 * ray.sign_x, *far_y = planes + 24 - 8 * ray.sign_y,
                    *far_z = planes + 40 - 8 * ray.sign_z;
        if constexpr (HAS_HALVES) {
            const Real x = load_halves(near_x, far_x) * ray.ix - ray.near_x,
                       y = load_halves(near_y, far_y) * ray.iy - ray.near_y;
            const Real z = load_halves(near_z, far_z) * ray.iz - ray.near_z;
            const Real entry_and_exit = max(max(x, y), max(z, ray.t_min));
            return mask_bits(entry_and_exit <= swap_halves(entry_and_exit) * -SLAB_GROWTH) & 255u;
        }
        for (int s = 0; s < WIDE_SLOTS; s += PACK) {
            const Mask enters = enter_lanes(ray, load(near_x + s), load(near_y + s), load(near_z + s), load(far_x + s),
                                            load(far_y + s), load(far_z + s));
            hits |= mask_bits(enters) << s;
        }
    }
    return hits & 255u;
}

// What one lane's ray is tested with against many primitives at once: its own numbers in every lane.
__device__ __forceinline__ Rays in_every_lane(const Rays& rays, int i) {
    Rays ray = {spread(rays.ox, i), spread(rays.oy, i), spread(rays.oz, i),
                spread(rays.dx, i), spread(rays.dy, i), spread(rays.dz, i)};
    ray.t_min = spread(rays.t_min, i);
    ray.t_max = spread(rays.t_max, i);
    return ray;
}

// A leaf's primitives and the only active lane of a pack, `ray` in every lane: many at once, a primitive a lane, where
// the primitives can. False when the ray does not go on.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ bool visit_leaf_alone(int leaf, const Rays& ray, const Primitives& primitives, Rays& rays,
                                                 OnPrimitive& on_primitive, OnNode& on_node) {
    const int first = first_reference(leaf), count = count_in_leaf(primitives, leaf), last = first + count;
    if constexpr (Primitives::TESTS_MANY) {
        if (count >= Primitives::FEWEST_AT_ONCE) {
            const Mask itself = rays.active;
            for (int from = 0; from < count; from += PACK) {
                const IntersectionsOfOneRay found = primitives.intersect_many(first, count, from, ray);
                if constexpr (OnNode::HEARS_EVENTS) {
                    for (int place = from; place < min(from + PACK, count); ++place)
                        tell(on_node, Event::PRIMITIVE_TESTED, primitives.prim_id_in_leaf(first, count, place),
                             rays.t_max, itself);
                }
                for (unsigned hits = mask_bits(found.hit); hits != 0u; hits &= hits - 1) {
                    const int hit = __ffs((int)hits) - 1;
                    const Real t = spread(found.t, hit);
                    const Intersection of_lane = {itself & (t <= rays.t_max), t, spread(found.u, hit),
                                                  spread(found.v, hit),
                                                  primitives.prim_id_in_leaf(first, count, from + hit)};
                    tell(on_node, Event::PRIMITIVE_HIT, of_lane.prim_id, t, of_lane.hit);
                    on_primitive(rays, of_lane);
                    if (!any(rays.active)) return false;
                }
            }
            return true;
        }
    }
    // Most primitives are missed: a branch is cheaper than keeping what was not hit.
    for (int reference = first; reference < last; ++reference) {
        const Intersection found = primitives.intersect(reference, rays);
        tell_primitive(on_node, rays, found);
        if (any(found.hit)) on_primitive(rays, found);
    }
    return any(rays.active);
}

// Where a ray enters a box, for events: near enough, while traversals round as they need to.
__device__ __forceinline__ float entry_of(const OneRay& ray, const Aabb& box) {
    const float x = (ray.sign_x ? box.upper.x : box.lower.x) * lane(ray.ix, 0) - lane(ray.near_x, 0);
    const float y = (ray.sign_y ? box.upper.y : box.lower.y) * lane(ray.iy, 0) - lane(ray.near_y, 0);
    const float z = (ray.sign_z ? box.upper.z : box.lower.z) * lane(ray.iz, 0) - lane(ray.near_z, 0);
    return max(max(x, y), max(z, lane(ray.t_min, 0)));
}
// The slots with a child that the ray does not enter.
template <class Node, class OnNode>
__device__ __forceinline__ void tell_culled_slots(OnNode& on_node, const Node& tree, int index, unsigned entered,
                                                  const OneRay& ray, const Rays& rays) {
    if constexpr (OnNode::HEARS_EVENTS) {
        for (unsigned rest = tree.slots(index) & ~entered; rest != 0u; rest &= rest - 1u) {
            const int slot = __ffs((int)rest) - 1;
            tell_culled(on_node, ChildIds::event_id(tree.child(index, slot)),
                        splat(entry_of(ray, tree.box(index, slot))), rays.active, rays);
        }
    }
}
// What waits of a node is called by the node (slabs.cuh).
struct GroupIds {
    __device__ __forceinline__ static int event_id(NodeGroup group) { return (int)node_of(group); }
};

// Traverses one ray, the only active lane of `rays`.
template <class Node, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_groups(const Node& tree, OneRay ray, int ray_lane,
                                                const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                                OnNode& on_node) {
    using Waiting = WaitingChildren<Node::STACK, false, NEEDS_LANES<OnNode>, GroupIds, NodeGroup>;
    typename Waiting::Places places;
    Waiting waiting(places);
    const int octant = ray.octant();
    int child = tree.root_word(), depth = 0;
    Mask lanes = rays.active;
    Real entry = rays.t_min;  // of `child`, where events are heard
    // `group`: the node whose children are met, above a byte of those to come; its depth is that of its children.
    NodeGroup group = 0;
    while (true) {
        while (!is_leaf(child)) {
            tell_node(on_node, child, depth, lanes, entry, WIDE_SLOTS);
            if (slots_of(group)) waiting.push(on_node, group, depth, rays.t_min, lanes);
            ++depth;
            const unsigned entered = tree.enter(child, ray);
            tell_culled_slots(on_node, tree, child, entered, ray, rays);
            group = group_of(child, OctantOrders<256>::order(entered, octant));
            if (!slots_of(group)) group = waiting.pop(on_node, rays, depth, lanes, entry);
            if (group == EMPTY_CHILD) return;
            const int bit = __ffs(slots_of(group)) - 1;
            group &= group - 1;
            child = tree.child(node_of(group), bit ^ octant);
            if constexpr (OnNode::HEARS_EVENTS) entry = splat(entry_of(ray, tree.box(node_of(group), bit ^ octant)));
        }
        if (child == EMPTY_CHILD) return;
        tell_leaf(on_node, first_reference(child), ChildIds::event_id(child), depth, lanes, entry);
        if constexpr (IS_SINGLE_RAY) {
            if (!visit_leaf(child, primitives, rays, on_primitive, on_node)) return;
        } else {
            if (!visit_leaf_alone(child, in_every_lane(rays, ray_lane), primitives, rays, on_primitive, on_node))
                return;
        }
        ray.end_at(lane(rays.t_max, ray_lane));
        if (!slots_of(group)) group = waiting.pop(on_node, rays, depth, lanes, entry);
        if (group == EMPTY_CHILD) return;
        const int bit = __ffs(slots_of(group)) - 1;
        group &= group - 1;
        child = tree.child(node_of(group), bit ^ octant);
        if constexpr (OnNode::HEARS_EVENTS) entry = splat(entry_of(ray, tree.box(node_of(group), bit ^ octant)));
    }
}

// Traverses the lanes of `which`, all active, each by itself.
template <class Node, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_these_lanes(const Node& tree, unsigned which, const Slabs& slabs,
                                                     const Primitives& primitives, Rays& rays,
                                                     OnPrimitive& on_primitive, OnNode& on_node) {
    const unsigned active = mask_bits(rays.active);
    unsigned ended = 0;
    for (unsigned remaining = which; remaining; remaining &= remaining - 1) {
        const int i = __ffs((int)remaining) - 1;
        rays.active = mask_from_bits(1u << i);
        traverse_groups(tree, one_ray(rays, slabs, i), i, primitives, rays, on_primitive, on_node);
        ended |= (1u << i) & ~mask_bits(rays.active);
    }
    rays.active = mask_from_bits(active & ~ended);
}

// Traverses every active lane by itself.
template <class Node, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_lane_by_lane(const Node& tree, const Primitives& primitives, Rays& rays,
                                                      OnPrimitive& on_primitive, OnNode& on_node) {
    bool agrees;
    const Slabs slabs = make_slabs<Node::MOVES_PLANES>(rays, agrees);
    if constexpr (IS_SINGLE_RAY) {
        traverse_groups(tree, one_ray(rays, slabs, 0), 0, primitives, rays, on_primitive, on_node);
    } else {
        traverse_these_lanes(tree, mask_bits(rays.active), slabs, primitives, rays, on_primitive, on_node);
    }
}
