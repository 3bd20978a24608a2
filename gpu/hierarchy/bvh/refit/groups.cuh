// The nodes that a refit's chunks left open, because their subtrees reach over a chunk's border: the last of GROUP
// chunks to be done fits what it can of all their open nodes, in shared memory; the last of GROUP groups goes on, until
// one block holds the rest. So nothing waits for anything, most of it happens while other chunks are still at work, and
// there is one trip to global memory per level of groups instead of several a node.
//
// `open` has at each chunk's (then each group's) first id a list of the open nodes' ids, `counts` their numbers, level
// after level. A node that is open holds the box of its leaves (node_writer.cuh). `waiting` holds AT_REST at every
// other id; here it says at which slot an open node is. `arrivals` are 0 between launches. Few nodes are open where ids
// follow the references; more than SLOTS in a group are right, and slow. What the next group reads is published before
// a block arrives for it; the rest is written while that arrival is on its way. Unit constants: GROUP, SLOTS,
// WRITES_BVH2, MARKS.
// from gpu.hierarchy.bvh.refit import CLIMBS_A_LIST
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/prefetch.cuh"
#include "gpu/hierarchy/bvh/refit/node_writer.cuh"

constexpr int STARTS = 1 << 30;  // beside an id: all children are finished beforehand
// of arrivals, below a link in one word
constexpr int COUNT_BITS = 8, COUNT_MASK = (1 << COUNT_BITS) - 1, ALL_CAME = 64;
constexpr int PLACES = SLOTS > 0 ? SLOTS : 1;

struct Group {
    SharedBox boxes[2][PLACES];  // of an open node's children, left ones and right ones
    int ids[PLACES], left[PLACES], right[PLACES];
    // the slot of the parent twice, 1 more for its left child and 2 for its right one, or 0; below it what counts up to
    // ALL_CAME
    int above[PLACES];
    uint8 stays[2][PLACES];  // whether that child is collapsed, so that the node is not
    uint8 states[PLACES];  // DONE, NODE_IS_COLLAPSED
    int starts[GROUP], sizes[GROUP], first_items[GROUP * CLIMBS_A_LIST];
    int total, written, left_open, finished;  // `written`: slots that are to be written yet

    __device__ bool is_done(int slot) const { return load_shared_state(states, slot) & DONE; }
    // Of a finished node, whether the one above it is not.
    __device__ bool is_top(int slot) const {
        return above[slot] >> COUNT_BITS == 0 || !is_done(((above[slot] >> COUNT_BITS) - 1) >> 1);
    }
};

// The last of a group of lists to arrive goes on. Who does leaves the place as it was.
__device__ __forceinline__ bool arrive_last_of_group(int* arrivals, int list, int list_count) {
    const int index = list / GROUP, others = min(list_count - index * GROUP, GROUP) - 1;
    if (!atomic_arrive_last(arrivals + index, others)) return false;
    arrivals[index] = 0;
    return true;
}

// The lists of a block: the ids [begin, end), `lists` of them, each `span` ids long.
struct Lists {
    Pointer<int> open;
    int64 begin, end, span;
    int lists;

    __device__ bool has(int node_id) const { return node_id >= begin && node_id < end; }
    __device__ int* of(int list) const { return open + begin + list * span; }
};

struct Groups {
    NodeWriter writer;
    Pointer<int> waiting;
    Lists lists;

    // What there is to know of a node and its children: asked for before it is known what of it is needed, so that all
    // waits are one.
    struct Child {
        int id, at;  // `at`: its slot if it is open
        bool is_here, is_collapsed;
        Aabb box;
    };
    __device__ Child ask(int node_id, int child) const {
        const bool is_here = !is_leaf(child) && lists.has(child);
        const int id = is_here ? child : node_id;
        return {child, waiting[id], is_here, MARKS && (writer.flags[id] & NODE_IS_COLLAPSED),
                load_node(writer.nodes, id).aabb()};
    }
    // A leaf's box, or a finished child's; an open one learns who its parent is. Returns how many children are still to
    // come.
    __device__ int settle(Group& group, const Child& child, const Aabb& leaf, int slot, int side, bool stays) const {
        const bool is_finished = child.is_here && child.at == AT_REST, is_known = is_leaf(child.id) || is_finished;
        const Aabb none = empty_aabb(), box = is_leaf(child.id) ? leaf : child.box;
        store_shared_box(group.boxes[side], slot, is_known ? box : none);
        if (MARKS) store_shared_state(group.stays[side], slot, stays || (is_finished && child.is_collapsed) ? 1 : 0);
        if (child.is_here && !is_finished)
            block_atomic_add(group.above + child.at, (2 * slot + side + 1) << COUNT_BITS);
        return is_known ? 0 : child.is_here ? -1 : NEVER_HERE;
    }
    __device__ void prepare(Group& group, int first) const {
        CanonicalNode open[READS_AT_ONCE];
        Child left[READS_AT_ONCE], right[READS_AT_ONCE];
        int ids[READS_AT_ONCE];
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            const int slot = first + k * block_threads();
            ids[k] = group.ids[slot < group.total ? slot : first];
            open[k] = load_node(writer.nodes, ids[k]);
        }
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            left[k] = ask(ids[k], open[k].left);
            right[k] = ask(ids[k], open[k].right);
        }
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            const int slot = first + k * block_threads();
            if (slot >= group.total) break;
            group.left[slot] = open[k].left;
            group.right[slot] = open[k].right;
            const int left_missing = settle(group, left[k], open[k].aabb(), slot, 0, ids[k] == 0);
            const int missing = left_missing + settle(group, right[k], open[k].aabb(), slot, 1, false);
            block_atomic_add(group.above + slot, ALL_CAME + missing);
            store_shared_state(group.states, slot, 0);
            if (missing == 0) group.ids[slot] = ids[k] | STARTS;
        }
    }
    // A node whose children are all here hands its box to its parent's slot; the second to arrive there knows one box
    // and reads the other. Nothing but shared memory is touched.
    __device__ void climb_here(Group& group, int slot) const {
        Aabb box = merge(load_shared_box(group.boxes[0], slot), load_shared_box(group.boxes[1], slot));
        for (int link = group.above[slot] >> COUNT_BITS;;) {
            const bool stays = MARKS &&
                               (load_shared_state(group.stays[0], slot) | load_shared_state(group.stays[1], slot));
            store_shared_state(group.states, slot, DONE | (stays ? 0 : NODE_IS_COLLAPSED));
            if (link == 0) return;
            const int side = (link - 1) & 1;
            slot = (link - 1) >> 1;
            store_shared_box(group.boxes[side], slot, box);
            if (MARKS && !stays) store_shared_state(group.stays[side], slot, 1);
            const int word = block_arrive(group.above + slot);
            if ((word & COUNT_MASK) != ALL_CAME - 1) return;
            link = word >> COUNT_BITS;
            box = merge(box, load_shared_box(group.boxes[1 - side], slot));
        }
    }
    // What the next group reads: the nodes still open, in a list, and what is finished below them.
    __device__ void publish_here(Group& group, int slot) const {
        const int node_id = group.ids[slot] & ~STARTS;
        if (!group.is_done(slot)) {
            lists.of(0)[block_atomic_add(&group.left_open, 1)] = node_id;
        } else if (group.is_top(slot)) {
            const Aabb box = merge(load_shared_box(group.boxes[0], slot), load_shared_box(group.boxes[1], slot));
            writer.publish(node_id, box, group.left[slot], group.right[slot],
                           load_shared_state(group.states, slot) & NODE_IS_COLLAPSED);
            waiting[node_id] = AT_REST;
        }
    }
    __device__ void write_here(Group& group, int slot, bool is_asked) const {
        const int node_id = group.ids[slot] & ~STARTS;
        const bool is_published = is_asked && group.is_top(slot),
                   is_collapsed = load_shared_state(group.states, slot) & NODE_IS_COLLAPSED;
        const Aabb left_box = load_shared_box(group.boxes[0], slot), right_box = load_shared_box(group.boxes[1], slot);
        writer.write_together(node_id, left_box, group.left[slot], right_box, group.right[slot], is_collapsed, is_asked,
                              is_published);
        if (is_asked && !is_published) waiting[node_id] = AT_REST;
    }
    __device__ void write(Group& group) const {
        for (int i = thread_index(); i - warp_lane() < group.written; i += block_threads()) {
            const int slot = min(i, group.written - 1);
            write_here(group, slot, i < group.written && group.is_done(slot));
        }
    }

    __device__ void fit_here(Group& group) const {
        for (int i : block_stride(lists.lists * CLIMBS_A_LIST)) {
            const int list = i / CLIMBS_A_LIST;
            for (int item = i % CLIMBS_A_LIST; item < group.sizes[list]; item += CLIMBS_A_LIST) {
                const int node_id = item < CLIMBS_A_LIST ? group.first_items[i] : lists.of(list)[item],
                          slot = group.starts[list] + item;
                group.ids[slot] = node_id;
                group.above[slot] = 0;
                waiting[node_id] = slot;
            }
        }
        block_sync();
        for (int slot = thread_index(); slot < group.total; slot += READS_AT_ONCE * block_threads())
            prepare(group, slot);
        block_sync();
        for (int slot : block_stride(group.total)) {
            if (group.ids[slot] & STARTS) climb_here(group, slot);
        }
        block_sync();
        for (int slot : block_stride(group.total)) publish_here(group, slot);
    }

    // Where there are more than SLOTS: rounds over the lists in global memory. `waiting` is the round that finished a
    // node, 0 while it is open; what a round finishes counts from the next one on.
    __device__ bool is_ready(int child, int round) const {
        if (is_leaf(child)) return true;
        if (!lists.has(child)) return false;
        const int finished_in = waiting[child];
        return finished_in == AT_REST || (finished_in > 0 && finished_in < round);
    }
    __device__ bool finish_in_round(int node_id, int round) const {
        if (waiting[node_id] != 0) return false;
        const CanonicalNode node = load_node(writer.nodes, node_id);
        if (!is_ready(node.left, round) || !is_ready(node.right, round)) return false;
        const Aabb left_box = is_leaf(node.left) ? node.aabb() : load_node(writer.nodes, node.left).aabb();
        const Aabb right_box = is_leaf(node.right) ? node.aabb() : load_node(writer.nodes, node.right).aabb();
        const bool is_left = MARKS && !is_leaf(node.left) && (writer.flags[node.left] & NODE_IS_COLLAPSED);
        const bool is_right = MARKS && !is_leaf(node.right) && (writer.flags[node.right] & NODE_IS_COLLAPSED);
        writer.write(node_id, left_box, node.left, right_box, node.right, node_id != 0 && !is_left && !is_right);
        waiting[node_id] = round;
        return true;
    }
    __device__ void fit_in_rounds(Group& group) const {
        for (int list = 0; list < lists.lists; ++list) {
            for (int item : block_stride(group.sizes[list])) waiting[lists.of(list)[item]] = 0;
        }
        int finished = 1;
        for (int round = 1; finished > 0; ++round) {
            block_sync();
            if (thread_index() == 0) group.finished = 0;
            block_sync();
            for (int list = 0; list < lists.lists; ++list) {
                for (int item : block_stride(group.sizes[list])) {
                    if (finish_in_round(lists.of(list)[item], round)) block_atomic_add(&group.finished, 1);
                }
            }
            block_sync();
            finished = group.finished;
        }
        if (thread_index() == 0) {
            for (int list = 0; list < lists.lists; ++list) {
                for (int item = 0; item < group.sizes[list]; ++item) {
                    const int node_id = lists.of(list)[item];
                    if (waiting[node_id] == 0) lists.of(0)[group.left_open++] = node_id;
                    else waiting[node_id] = AT_REST;
                }
            }
        }
    }

    // The open nodes of the lists, into a list of what is left; the block's own.
    __device__ void fit(Group& group, const int* counts) const {
        for (int i : block_stride(lists.lists * CLIMBS_A_LIST)) {
            const int list = i / CLIMBS_A_LIST, item = i % CLIMBS_A_LIST, count = counts[list];
            // The first of each list are asked for before it is known how many there are.
            group.first_items[i] = lists.of(list)[lists.begin + list * lists.span + item < lists.end ? item : 0];
            if (item > 0) continue;
            group.sizes[list] = count;
            group.starts[list] = block_atomic_add(&group.total, count);
        }
        block_sync();
        if (thread_index() == 0) group.written = group.total <= SLOTS ? group.total : 0;
        if (group.total <= SLOTS) fit_here(group);
        else fit_in_rounds(group);
        block_sync();
    }
};

// What a block does when its chunk is listed and has arrived. `span`: ids of a chunk.
__device__ void go_on(const NodeWriter& writer, int node_capacity, int* waiting, int* open, int* counts, int* arrivals,
                      int64 span, Group& group, int& is_last) {
    int list = block_index(), list_count = block_count();
    while (list_count > 1 && is_last) {
        const int index = list / GROUP, first = index * GROUP, lists = min(list_count - first, GROUP),
                  groups = (list_count + GROUP - 1) / GROUP;
        if (thread_index() == 0) group.total = group.left_open = 0;
        block_sync();
        const int64 begin = first * span, end = min(begin + GROUP * span, (int64)node_capacity);
        const Groups above = {writer, waiting, {open, begin, end, span, lists}};
        above.fit(group, counts + first);
        counts += list_count;
        arrivals += groups;
        list = index;
        list_count = groups;
        span *= GROUP;
        if (thread_index() == 0) {
            counts[list] = group.left_open;
            is_last = list_count > 1 && arrive_last_of_group(arrivals, list, list_count);
        }
        above.write(group);
        block_sync();
    }
}
