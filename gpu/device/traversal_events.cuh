// What traversals tell of their way, event by event: for ray debuggers, counts of nodes and of divergence. Told to the
// functor that a traversal takes as on_node, where that has HEARS_EVENTS; to any other nothing is told, and nothing of
// this is compiled.
//
//     on_node.on_event(event, id, entry, lane)      a lane of the pack at a time
//
// `id`: of PRIMITIVE_TESTED and PRIMITIVE_HIT the prim_id; of the others a node, or ~ a leaf's first reference where
// leaves are no nodes. `entry`: of PRIMITIVE_HIT the distance of the hit, of PRIMITIVE_TESTED where the ray ends by
// then, of the others where the ray enters the node's box or cell; its t_min where the traversal does not know that.
//
// on_node.on_children_told() says that all is told which a ray does at an inner node but for what it pushes: a
// traversal may say so, to count a node while all who are there are still together.
//
// Every child that is entered is entered at once or pushed; what is pushed is popped or dropped, unless the ray ends
// first. A traversal that starts again at the root tells that it is popped, and every node on its way once more.
#pragma once
#include "gpu/device/intersection.cuh"

enum class Event : int {
    NODE_ENTERED,
    LEAF_ENTERED,
    CHILD_MISSED,  // culled: the ray does not pass its box
    CHILD_BEYOND,  // culled: it begins where the ray ends by then, mostly at a nearer hit
    CHILD_PUSHED,
    CHILD_POPPED,
    CHILD_DROPPED,  // popped, and culled as CHILD_BEYOND
    PRIMITIVE_TESTED,
    PRIMITIVE_HIT,  // between t_min and where the ray ends; of equal distances each
};

// Who derives from it asks neither how deep nodes are nor what is popped and dropped: of single rays nothing is kept
// for that beside the children that wait.
struct HearsNoPops {};
__device__ constexpr bool hears_no_pops(const HearsNoPops*) { return true; }
__device__ constexpr bool hears_no_pops(const void*) { return false; }

// Who derives from it is shown what each ray of a pack would do alone, in that order, and is told of lanes together:
// on_events(event, id, entry, lanes). Traversals whose tree says LANES_GO_ALONE do so.
struct HearsLanesAlone {};
__device__ constexpr bool hears_lanes_alone(const HearsLanesAlone*) { return true; }
__device__ constexpr bool hears_lanes_alone(const void*) { return false; }
template <class OnNode>
constexpr bool GOES_ALONE = !IS_SINGLE_RAY && hears_lanes_alone((const OnNode*)nullptr);

// Whether a functor must be told which lanes are at a node.
template <class OnNode>
constexpr bool NEEDS_LANES = OnNode::IS_ASKED || OnNode::HEARS_EVENTS;
// Whether these and depths must be kept of what waits.
template <class OnNode>
constexpr bool KEEPS_LANES_OF_WAITING = NEEDS_LANES<OnNode> &&
                                        !(IS_SINGLE_RAY && hears_no_pops((const OnNode*)nullptr));

template <class OnNode>
__device__ __forceinline__ void tell(OnNode& on_node, Event event, int id, Real entry, Mask lanes) {
    if constexpr (GOES_ALONE<OnNode>) {
        on_node.on_events(event, id, entry, lanes);
    } else if constexpr (OnNode::HEARS_EVENTS) {
        for (unsigned rest = mask_bits(lanes); rest != 0u; rest &= rest - 1u) {
            const int i = __ffs((int)rest) - 1;
            on_node.on_event(event, id, lane(entry, i), i);
        }
    }
}

// A node or a leaf is entered: to on_node and, where it hears events, as one. `id` as on_node takes it.
template <class OnNode>
__device__ __forceinline__ void tell_node(OnNode& on_node, int id, int depth, Mask lanes, Real entry, int boxes = 0) {
    on_node(id, depth, false, lanes, boxes);
    tell(on_node, Event::NODE_ENTERED, id, entry, lanes);
}
// `event_id` is what events call the leaf.
template <class OnNode>
__device__ __forceinline__ void tell_leaf(OnNode& on_node, int id, int event_id, int depth, Mask lanes, Real entry) {
    on_node(id, depth, true, lanes);
    tell(on_node, Event::LEAF_ENTERED, event_id, entry, lanes);
}

// A child that `lanes` do not enter, and why.
template <class OnNode>
__device__ __forceinline__ void tell_culled(OnNode& on_node, int id, Real entry, Mask lanes, const Rays& rays) {
    if constexpr (OnNode::HEARS_EVENTS) {
        const Mask is_beyond = rays.t_max < entry;
        tell(on_node, Event::CHILD_BEYOND, id, entry, lanes & is_beyond);
        tell(on_node, Event::CHILD_MISSED, id, entry, lanes & !is_beyond);
    }
}

template <class OnNode>
__device__ __forceinline__ void tell_children_told(OnNode& on_node) {
    if constexpr (OnNode::HEARS_EVENTS) on_node.on_children_told();
}

// What was found at a primitive, before on_primitive takes it.
template <class OnNode>
__device__ __forceinline__ void tell_primitive(OnNode& on_node, const Rays& rays, const Intersection& found) {
    tell(on_node, Event::PRIMITIVE_TESTED, found.prim_id, rays.t_max, rays.active);
    tell(on_node, Event::PRIMITIVE_HIT, found.prim_id, found.t, found.hit);
}
