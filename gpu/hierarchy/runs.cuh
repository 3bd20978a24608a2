// Boxes around runs of references: every 2^RUN_BITS that begin at a multiple of that, every 2^RUN_BITS of these, and so
// on, RUN_LEVELS times. Where a run lies in one long list, rays that miss its box pass over it; so a list of thousands,
// as a cell of a grid has them where a scene is crowded, is searched as a tree is.
//
// A run's box follows those of its parts: where it lies does not depend on how many references there are.
//
// Unit constants: RUN_BITS, RUN_LEVELS, RUN_LIST, the references of the shortest list that is searched by runs.
#pragma once
#include "gpu/hierarchy/slab_test.cuh"

// The box of the run `index` of a level; level 1 holds references.
__device__ __forceinline__ int64 place_of_run(int index, int level) {
    const int last = ((index + 1) << RUN_BITS * (level - 1)) - 1;  // its last run of level 1
    int64 place = last + (level - 1);
    for (int k = 1; k < RUN_LEVELS; ++k) place += last >> RUN_BITS * k;
    return place;
}

constexpr int MOST_SHARED = 2048;  // references

__device__ __forceinline__ int references_of_run(int level) { return 1 << RUN_BITS * level; }

struct Runs {
    Pointer<const float4> boxes;

    __device__ __forceinline__ bool is_met(int index, int level, const Rays& rays) const {
        const int64 place = 2 * place_of_run(index, level);
        const float4 lower = boxes[place], upper = boxes[place + 1];
        bool agrees;
        const Slabs slabs = make_slabs(rays, agrees);
        Real entry;
        return any(enter_box(slabs, rays, make_float3(lower.x, lower.y, lower.z),
                             make_float3(upper.x, upper.y, upper.z), entry));
    }

    // Whether a list of so many references is worth the asking: shorter ones are tested sooner than their runs' boxes.
    __device__ __forceinline__ bool may_skip(int count) const { return RUN_LEVELS > 0 && count >= RUN_LIST; }

    // Whether a warp's lanes test a list of so many together, where they do (shared_lists.cuh): they ask for runs of
    // the first level alone, so that a ray is sooner through a longer one by itself.
    __device__ __forceinline__ bool may_share(int count) const { return may_skip(count) && count <= MOST_SHARED; }

    // The first reference from `i` on, of a list that ends before `last`, that lies in no run which all rays miss.
    template <class OnNode>
    __device__ __forceinline__ int skip(int i, int last, const Rays& rays, OnNode& on_node) const {
        if ((i & (references_of_run(1) - 1)) != 0) return i;
        int level = RUN_LEVELS;
        while (level > 0) {
            const int length = references_of_run(level);
            const bool fits = (i & (length - 1)) == 0 && i + length <= last;
            if (fits) {
                on_node.add_boxes(1, rays.active);
                if (!is_met(i >> RUN_BITS * level, level, rays)) {
                    i += length;
                    level = RUN_LEVELS;
                    continue;
                }
            }
            --level;
        }
        return i;
    }
};
