// Visits the references in a region through binary nodes, with a stack. Where regions shrink the nearer child comes
// first, and a child that waited is dropped where the region reaches it no more.
//
// A tree says how its nodes lie: children(node_id) gives both children and their boxes, which hold what is below; root
// and long_leaves are as in canonical.cuh. Unit constant: STACK_DEPTH, a proven bound of the children that wait (one a
// level).
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"

struct BoxedChildren {
    int left, right;
    Aabb left_box, right_box;
};

template <bool KEEPS_DISTANCES>
struct WaitingForVisit {
    int children[STACK_DEPTH];
    float distances[KEEPS_DISTANCES ? STACK_DEPTH : 1];
    int count;

    __device__ __forceinline__ void push(int child, float distance2) {
        check_stack(count, STACK_DEPTH);
        children[count] = child;
        if (KEEPS_DISTANCES) distances[count] = distance2;
        ++count;
    }
    template <class Region>
    __device__ __forceinline__ int pop(const Region& region) {
        while (count > 0) {
            --count;
            if (!KEEPS_DISTANCES || region.reaches(distances[count])) return children[count];
        }
        return EMPTY_CHILD;
    }
};

// False where on_reference has seen enough.
template <class Region, class OnReference>
__device__ __forceinline__ bool visit_references(int leaf, const int* long_leaves, Region& region,
                                                 OnReference& on_reference) {
    const int first = first_reference(leaf), last = first + reference_count(leaf, long_leaves);
    for (int reference = first; reference < last; ++reference) {
        if (!on_reference(reference, region)) return false;
    }
    return true;
}

template <class Tree, class Region, class OnReference>
__device__ __forceinline__ void visit_binary(const Tree& tree, Region& region, OnReference& on_reference) {
    WaitingForVisit<Region::SHRINKS> waiting;
    waiting.count = 0;
    int child = tree.root[0];
    while (child != EMPTY_CHILD) {
        if (is_leaf(child)) {
            if (!visit_references(child, tree.long_leaves, region, on_reference)) return;
            child = waiting.pop(region);
            continue;
        }
        const BoxedChildren children = tree.children(child);
        const bool meets_left = region.meets(children.left_box), meets_right = region.meets(children.right_box);
        if (meets_left && meets_right) {
            const float left = region.distance2(children.left_box), right = region.distance2(children.right_box);
            const bool is_right_first = right < left;
            waiting.push(is_right_first ? children.left : children.right, is_right_first ? left : right);
            child = is_right_first ? children.right : children.left;
        } else if (meets_left || meets_right) {
            child = meets_left ? children.left : children.right;
        } else {
            child = waiting.pop(region);
        }
    }
}
