// What a block of a refit knows of its CHUNK of references and node ids, in shared memory, and rotations in there
// (exchanges.cuh). Unit constants: CHUNK, GATHERS, and groups.cuh's.
#pragma once
#include "gpu/hierarchy/bvh/exchanges.cuh"
#include "gpu/hierarchy/bvh/refit/groups.cuh"

constexpr int ELSEWHERE = -1;
constexpr int STARTS_HERE = 32;  // a state in shared memory

// Links and heights of nodes that are finished or just being finished, while other threads climb (ROTATES). Who
// finishes a node writes them before it arrives at the parent, and reads where that is; what is below a node is read
// and exchanged by the last to arrive there alone, which is after all of that.
__device__ __forceinline__ void store_shared_link(int* links, int at, int link) { links[at] = link; }
__device__ __forceinline__ int load_shared_link(const int* links, int at) { return links[at]; }

// The chunk of a block, by place: a node's id or a reference less the chunk's first.
struct Chunk {
    SharedBox boxes[CHUNK];  // of nodes; of what is not finished yet the part of its leaves
    SharedBox references[GATHERS ? CHUNK : 1];  // then, at a leaf's first reference, the leaf's
    int left[CHUNK], right[CHUNK];
    // the parent's place or ELSEWHERE, and below it what counts up to ALL_CAME, when all children are here; of a
    // finished node its height
    int above[CHUNK];
    short existing[CHUNK];
    uint8 states[CHUNK];  // STARTS_HERE, DONE, NODE_IS_COLLAPSED
    int existing_count, open_count;

    __device__ int parent(int at) const { return load_shared_link(above, at) >> COUNT_BITS; }
    __device__ int heights(int at) const { return load_shared_link(above, at) & COUNT_MASK; }
    __device__ bool is_done(int at) const { return load_shared_state(states, at) & DONE; }
    __device__ bool is_collapsed(int at) const { return load_shared_state(states, at) & NODE_IS_COLLAPSED; }
    // Of a finished node, whether the one above it is not.
    __device__ bool is_top(int at) const { return parent(at) == ELSEWHERE || !is_done(parent(at)); }
};

// Rotations of nodes below which all is finished and lies in the chunk, leaves with their boxes included. `first`: the
// chunk's. The parents of what is exchanged are written to global memory at once, links with the nodes.
struct ChunkRotator {
    Chunk& chunk;
    Pointer<int> parent;
    int first;

    __device__ Aabb box(int child) const {
        return is_leaf(child) ? load_shared_box(chunk.references, max(first_reference(child) - first, 0))
                              : load_shared_box(chunk.boxes, child - first);
    }
    __device__ int heights(int child) const { return is_leaf(child) ? 0 : chunk.heights(child - first); }
    __device__ int left(int child) const { return load_shared_link(chunk.left, child - first); }
    __device__ int right(int child) const { return load_shared_link(chunk.right, child - first); }
    __device__ bool is_collapsed(int child) const { return !is_leaf(child) && chunk.is_collapsed(child - first); }

    // Exchange what lies below the node at `at`, which is finished then but for its state; whether it is collapsed.
    __device__ bool visit(int at) const {
        const int node_id = first + at;
        keep_height(at, first_height_over(heights(left(node_id)), heights(right(node_id))));
        const int best = best_exchange(*this, left(node_id), right(node_id));
        if (best != NO_EXCHANGE) {
            exchange(best, at, left(node_id) - first, right(node_id) - first);
            keep_height(at, first_height_of(chunk.heights(at)));
        }
        return is_to_collapse(at);
    }
    // By the number of best_exchange; `left` and `right` are the places of children, of leaves nothing.
    __device__ void exchange(int best, int at, int left, int right) const {
        const bool takes_child = best < 4, takes_right = takes_child && best >> 1 == 1;
        const int mine_at = takes_child ? at : left, other_at = takes_right ? left : right;
        int *const mine = takes_right ? chunk.right : chunk.left, *const other = best & 1 ? chunk.right : chunk.left;
        const int down = load_shared_link(mine, mine_at), up = load_shared_link(other, other_at);
        store_shared_link(mine, mine_at, up);
        store_shared_link(other, other_at, down);
        adopt(mine_at, up);
        adopt(other_at, down);
        fit(other_at);
        if (!takes_child) fit(mine_at);
    }
    __device__ void adopt(int at, int child) const {
        if (is_leaf(child)) return;
        store_shared_link(chunk.above, child - first, at << COUNT_BITS | chunk.heights(child - first));
        parent[child] = first + at;
    }
    // A child that has got another child.
    __device__ void fit(int at) const {
        const int left_child = left(first + at), right_child = right(first + at);
        store_shared_box(chunk.boxes, at, merge(box(left_child), box(right_child)));
        keep_height(at, first_height_over(heights(left_child), heights(right_child)));
        store_shared_state(chunk.states, at, DONE | (is_to_collapse(at) ? NODE_IS_COLLAPSED : 0));
    }
    __device__ void keep_height(int at, int first_height) const {
        const int height = height_over(heights(left(first + at)), heights(right(first + at)));
        store_shared_link(chunk.above, at, chunk.parent(at) * (1 << COUNT_BITS) | heights_of(height, first_height));
    }
    __device__ bool is_to_collapse(int at) const {
        return first + at != 0 && !is_collapsed(left(first + at)) && !is_collapsed(right(first + at));
    }
};
