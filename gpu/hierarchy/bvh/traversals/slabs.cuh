// The slab test of a lane pack against one box (slab_test.cuh), and the stack of waiting children that the traversals
// share.
#pragma once
#include "gpu/device/traversal_events.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/slab_test.cuh"

// What events call a child (traversal_events.cuh).
struct ChildIds {
    __device__ __forceinline__ static int event_id(int child) {
        return is_leaf(child) ? ~first_reference(child) : child;
    }
};

// Where children wait. What WaitingChildren counts lies apart from it: beside arrays that are indexed on the way a
// compiler keeps the number in memory as well, which was three of the five accesses of a push and a pop.
template <int CAPACITY, bool KEEPS_ENTRIES, bool KEEPS_LANES, class Word>
struct WaitingPlaces {
    Word children[CAPACITY + 1];  // first EMPTY_CHILD, so that nobody asks whether any wait
    int depths[KEEPS_LANES ? CAPACITY + 1 : 1];
    Real entries[KEEPS_ENTRIES ? CAPACITY + 1 : 1];
    Mask lanes[KEEPS_LANES ? CAPACITY + 1 : 1];
};

// Children that wait their turn. With KEEPS_ENTRIES each carries where the lanes enter it and is dropped when all have
// found something nearer. Lanes and depths are kept only where on_node needs them (KEEPS_LANES_OF_WAITING): a compiler
// does not see that nobody reads them. Who asks is shown the same nodes on every target, hence STACK_KEEPS_DISTANCE ||
// OnNode::IS_ASKED in the traversals. `Ids` says what events call a child, which is a `Word`.
template <int CAPACITY, bool KEEPS_ENTRIES, bool KEEPS_LANES, class Ids = ChildIds, class Word = int>
struct WaitingChildren {
    using Places = WaitingPlaces<CAPACITY, KEEPS_ENTRIES, KEEPS_LANES, Word>;

    Places& places;
    int count;

    __device__ __forceinline__ explicit WaitingChildren(Places& of_thread) : places(of_thread), count(1) {
        places.children[0] = EMPTY_CHILD;
    }

    template <class OnNode>
    __device__ __forceinline__ void push(OnNode& on_node, Word child, int depth, Real entry, Mask of_lanes) {
        tell(on_node, Event::CHILD_PUSHED, Ids::event_id(child), entry, of_lanes);
        check_stack(count - 1, CAPACITY);
        places.children[count] = child;
        if (KEEPS_LANES) {
            places.depths[count] = depth;
            places.lanes[count] = of_lanes;
        }
        if (KEEPS_ENTRIES) places.entries[count] = select(of_lanes, entry, splat(FLOAT_MAX));
        ++count;
    }

    // The child that was pushed last and is still of use, or EMPTY_CHILD, after which nothing is asked for any more;
    // for events, where the lanes enter it.
    template <class OnNode>
    __device__ __forceinline__ Word pop(OnNode& on_node, const Rays& rays, int& depth, Mask& of_lanes, Real& entry) {
        if (IS_SINGLE_RAY && !KEEPS_LANES) of_lanes = rays.active;
        while (true) {
            const Word child = places.children[--count];
            if (!KEEPS_ENTRIES && !KEEPS_LANES) return child;
            if (child == (Word)EMPTY_CHILD) return child;
            const int id = Ids::event_id(child);
            if constexpr (OnNode::HEARS_EVENTS) entry = KEEPS_ENTRIES ? places.entries[count] : rays.t_min;
            if (KEEPS_ENTRIES && !any(rays.active & (places.entries[count] <= rays.t_max))) {
                if (KEEPS_LANES) tell(on_node, Event::CHILD_DROPPED, id, entry, places.lanes[count] & rays.active);
                continue;
            }
            if (KEEPS_LANES) {
                depth = places.depths[count];
                of_lanes = places.lanes[count] & rays.active;
                tell(on_node, Event::CHILD_POPPED, id, entry, of_lanes);
            }
            return child;
        }
    }

    // The same where each lane goes as its ray would alone: those that have found something nearer stay behind.
    template <class OnNode>
    __device__ __forceinline__ Word pop_alone(OnNode& on_node, const Rays& rays, int& depth, Mask& of_lanes,
                                              Real& entry) {
        static_assert(KEEPS_ENTRIES && KEEPS_LANES, "each lane is known, and where it enters");
        while (true) {
            const Word child = places.children[--count];
            if (child == (Word)EMPTY_CHILD) return child;
            const Mask waited = places.lanes[count] & rays.active;
            depth = places.depths[count];
            entry = places.entries[count];
            of_lanes = waited & (entry <= rays.t_max);
            tell(on_node, Event::CHILD_DROPPED, Ids::event_id(child), entry, waited & !of_lanes);
            if (!any(of_lanes)) continue;
            tell(on_node, Event::CHILD_POPPED, Ids::event_id(child), entry, of_lanes);
            return child;
        }
    }
};

// Hand a leaf's references to on_primitive; false when no ray goes on.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ bool visit_leaf(int leaf, const Primitives& primitives, Rays& rays,
                                           OnPrimitive& on_primitive, OnNode& on_node) {
    const int first = first_reference(leaf), last = first + count_in_leaf(primitives, leaf);
    for (int reference = first; reference < last; ++reference) {
        const Intersection found = primitives.intersect(reference, rays);
        tell_primitive(on_node, rays, found);
        on_primitive(rays, found);
    }
    return any(rays.active);
}

// Whether most of the lanes that enter both boxes enter the second one first.
__device__ __forceinline__ bool is_second_nearer(Mask first, Mask second, Real first_entry, Real second_entry) {
    if (IS_SINGLE_RAY) return any(second_entry < first_entry);
    const unsigned both = mask_bits(first & second);
    return 2 * __popc(both & mask_bits(second_entry < first_entry)) > __popc(both);
}
