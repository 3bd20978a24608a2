// What finds the best split of a node from its events: the costs of their planes, and the best word of a block.
#pragma once
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

// Of the unit: SHUFFLED, whether lanes hand candidates to each other or through shared memory.

// The greatest word of a block, which thread 0 gets: by shuffles (6.8.1), or as they were found before there were any.
__device__ __forceinline__ uint64 best_of_block(uint64 found) {
    if (SHUFFLED) return block_max(found);
    SHARED uint64 words[THREADS];
    words[thread_index()] = found;
    block_sync();
    for (int step = THREADS / 2; step > 0; step >>= 1) {
        if (thread_index() < step && words[thread_index() + step] > words[thread_index()])
            words[thread_index()] = words[thread_index() + step];
        block_sync();
    }
    found = words[0];
    block_sync();
    return found;
}

__device__ __forceinline__ uint64 max_of(uint64 a, uint64 b) { return a > b ? a : b; }

// One axis' list of a node, from one of its events on: how many references lie below and above, and the least cost so
// far.
struct Sweep {
    SplitCosts costs;
    int axis, slot, end, count, below, above, best_event;
    AxisCosts along_axis;
    float least;

    // `before`: lower ends in the level before event i.
    __device__ __forceinline__ void enter(const float4* cells, const int4* ranges, int new_slot, int i, int before) {
        slot = new_slot;
        const LevelNode node = load_level_node(cells, ranges, slot);
        along_axis = costs_along(node, axis);
        end = 2 * (node.first + node.count);
        count = node.count;
        below = before - node.first;
        above = node.count - (i - 2 * node.first - below);
        least = FLOAT_MAX;
        best_event = -1;
    }
    __device__ __forceinline__ void step(int i, int event, float plane) {
        above -= event & 1;
        if (along_axis.may_split(plane, is_end(event))) {
            // At a face events are in no order after cuts; but the flat ones' last end has all others above it, and
            // their first beginning all below.
            const bool is_inside = along_axis.is_inside(plane), is_upper = is_end(event);
            const int left = is_inside || !is_upper ? below : count - above,
                      right = is_inside || is_upper ? above : count - below;
            const float cost = along_axis.cost(costs, plane, left, right);
            if (cost < least || (cost == least && best_event < 0)) {
                least = cost;
                best_event = i;
            }
        }
        below += 1 - (event & 1);
    }
    // Lower costs are larger words, and of equal costs those of earlier events of earlier axes; 0 means none.
    __device__ __forceinline__ uint64 word(int room) const {
        const unsigned place = 2u * (unsigned)axis * (unsigned)room + (unsigned)best_event;
        return best_event < 0 ? 0 : ~((uint64)__float_as_uint(least) << 32 | place);
    }
};
