// Fits a topology: records in the order of the references, boxes from below, and the nodes written as they are
// finished. For refits, and for trees that are new (a builder's that emits no boxes, an optimiser's), whose flags are
// decided on the way: MARKS.
//
// A block takes one CHUNK of references and the node ids of the same numbers. First it reads all it needs of them, with
// nothing waiting for anything: records, the boxes of leaves, links. Then boxes climb in shared memory, where the last
// child to arrive goes on (Karras 2012).
//
// Where ids follow the references, few nodes are left open by their chunks, and groups of chunks go on with those
// (groups.cuh; SLOTS above 0). For all other numberings a second launch goes on in global memory (climb_above).
//
// A refit may rotate on its way (ROTATES, exchanges.cuh): the last child to arrive at a node looks at what lies below,
// all of which is finished, in shared memory or, above the chunks, in global memory. A node with a leaf that lies
// elsewhere is left open, so that all boxes are at hand.
//
// One block per CHUNK. Unit constants: CHUNK, GATHERS (records are written, or else read), WRITES_BVH2, MARKS,
// KEEPS_BOXES (node_writer.cuh), GROUP, SLOTS, ROTATES (then GATHERS, MARKS and KEEPS_BOXES too, and no SLOTS).
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/refit/node_writer.cuh"
#include "gpu/hierarchy/bvh/refit/groups.cuh"
#include "gpu/hierarchy/bvh/refit/chunk.cuh"

constexpr int ALL_HERE = 2;  // the owner adds 3 less the children that are still to come, each of them 1
constexpr int NO_PARENT = -1;

static_assert(!ROTATES || (GATHERS && MARKS && KEEPS_BOXES && SLOTS == 0), "what rotations need");

constexpr int MOST_THREADS = 1024;  // of a multiprocessor, or a block: so a thread has 64 registers

struct Tree : NodeWriter {
    Primitives primitives;
    Pointer<const int> order;
    ReferencesOf<Records> references;
    Pointer<int> parent;
    Pointer<int> waiting;
    Pointer<uint8> heights;

    // The box of a reference of which no record may be there yet.
    __device__ Aabb reference_aabb(int reference) const {
        if (references.boxes != nullptr) return references.own_box(reference);
        return GATHERS ? primitives.aabb(order[reference]) : references.records.aabb(reference);
    }
    // A leaf's box from its references. Where it lies with any of them in the chunk, it is left in the place of the
    // first of those, which nobody else asks for: leaf_box finds it there.
    __device__ Aabb compute_leaf_bounds(Chunk& chunk, int chunk_first, int leaf) const {
        Aabb box = empty_aabb();
        const int first = first_reference(leaf) - chunk_first, last = first + references.count(leaf);
#pragma unroll 1
        for (int at = first; at < last; ++at) {
            const bool is_here = GATHERS && at >= 0 && at < CHUNK;
            box = merge(box, is_here ? load_shared_box(chunk.references, at) : reference_aabb(chunk_first + at));
        }
        if (GATHERS && first < CHUNK && last > 0) store_shared_box(chunk.references, max(first, 0), box);
        return box;
    }
    __device__ Aabb leaf_box(Chunk& chunk, int chunk_first, int leaf) const {
        if (ROTATES) return ChunkRotator{chunk, parent, chunk_first}.box(leaf);  // of finished nodes all lie here
        const int first = first_reference(leaf) - chunk_first, last = first + references.count(leaf);
        return GATHERS && first < CHUNK && last > 0 ? load_shared_box(chunk.references, max(first, 0))
                                                    : compute_leaf_bounds(chunk, chunk_first, leaf);
    }

    // Everything that a chunk needs of global memory, read before anything is written. `last` is the last reference
    // there is.
    __device__ void read(Chunk& chunk, int first, int start, int references_here, int last, int ids_here) const {
        int prim_ids[READS_AT_ONCE];
        bool exists[READS_AT_ONCE];
        Primitives::Corners corners[READS_AT_ONCE];
        Primitives::Shape shapes[READS_AT_ONCE];
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            const int at = start + k * block_threads(), reference = first + at;
            exists[k] = at < ids_here && (flags[reference] & NODE_EXISTS);
            if (!GATHERS) continue;
            prim_ids[k] = order[min(reference, last)];
            primitives.prefetch_indices(order[min(reference + PREFETCH_INDICES_AHEAD, last)]);
            primitives.prefetch_points(order[min(reference + PREFETCH_POINTS_AHEAD, last)]);
        }
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            if (GATHERS) {
                corners[k] = primitives.corners(prim_ids[k]);
                prim_ids[k] = primitives.scene_id(prim_ids[k]);  // no other use is left of it
            }
            if (exists[k]) hold(chunk, first, start + k * block_threads());
        }
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            if (GATHERS) shapes[k] = primitives.shape(corners[k]);
        }
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            if (!GATHERS) continue;
            const int at = start + k * block_threads();
            float4 record[Records::RECORD_FLOAT4S];
            const Aabb box = Records::pack(shapes[k], prim_ids[k], record);
            store_row_by_pairs(references.records.records + Records::RECORD_FLOAT4S * (int64)(first + at), record,
                               at < references_here);
            if (at < references_here)
                store_shared_box(chunk.references, at,
                                 references.boxes == nullptr ? box : references.own_box(first + at));
        }
    }
    // A node's place in the tree.
    __device__ void hold(Chunk& chunk, int first, int at) const {
        const int64 node_id = first + at;
        chunk.left[at] = __float_as_int(nodes[2 * node_id].w);
        chunk.right[at] = __float_as_int(nodes[2 * node_id + 1].w);
        // until a parent that is here says so: nobody reads it anywhere else
        chunk.above[at] = ELSEWHERE * (1 << COUNT_BITS);
        // in any order: boxes are the same whoever comes last
        chunk.existing[block_atomic_add(&chunk.existing_count, 1)] = (short)at;
    }

    // Part of a node of the chunk: its leaves, and what there is to know of its children, who learn where their parent
    // is.
    __device__ void prepare(Chunk& chunk, int first, int at) const {
        Aabb box = empty_aabb();
        int arrived = 0;
        const int children[2] = {chunk.left[at], chunk.right[at]};
#pragma unroll 1
        for (int side = 0; side < 2; ++side) {
            const int child_at = children[side] - first;
            const bool is_here = child_at >= 0 && child_at < CHUNK;
            if (is_leaf(children[side])) {
                box = merge(box, compute_leaf_bounds(chunk, first, children[side]));
                if (ROTATES && !has_leaf(first, children[side])) arrived += NEVER_HERE;
            } else {
                arrived -= is_here ? 1 : -NEVER_HERE;
            }
            if (!is_leaf(children[side]) && is_here)
                block_atomic_add(chunk.above + child_at, (at - ELSEWHERE) * (1 << COUNT_BITS));
        }
        block_atomic_add(chunk.above + at, ALL_CAME + arrived);
        store_shared_box(chunk.boxes, at, box);
        store_shared_state(chunk.states, at, arrived == 0 ? STARTS_HERE : 0);
    }

    // From a node over two leaves up, as long as this child is the last to arrive. Of a node's two children that one is
    // known; the other is a leaf, whose box is the node's part, or a node that is finished. Nothing but shared memory
    // is touched.
    __device__ void climb_here(Chunk& chunk, int first, int at) const {
        Aabb box = load_shared_box(chunk.boxes, at);
        bool is_collapsed = first + at != 0;
        int up = chunk.parent(at);
        if (ROTATES) store_shared_link(chunk.above, at, up * (1 << COUNT_BITS) | 1);
        for (;;) {
            store_shared_state(chunk.states, at, DONE | (is_collapsed ? NODE_IS_COLLAPSED : 0));
            if (up == ELSEWHERE) return;
            const int left = load_shared_link(chunk.left, up), right = load_shared_link(chunk.right, up),
                      word = block_arrive(chunk.above + up);
            if ((word & COUNT_MASK) != ALL_CAME - 1) return;
            const int other = left - first == at ? right : left, other_at = is_leaf(other) ? up : other - first;
            if (ROTATES) box = load_shared_box(chunk.boxes, at);  // as it was: no register holds it meanwhile
            box = merge(box, load_shared_box(chunk.boxes, other_at));
            if (MARKS && !ROTATES)
                is_collapsed = first + up != 0 && !is_collapsed && (is_leaf(other) || !chunk.is_collapsed(other_at));
            store_shared_box(chunk.boxes, up, box);
            at = up;
            up = word >> COUNT_BITS;
            if (ROTATES) {
                is_collapsed = ChunkRotator{chunk, parent, first}.visit(at);
                up = chunk.parent(at);
            }
        }
    }
    __device__ bool has_leaf(int chunk_first, int leaf) const {
        const int first = first_reference(leaf) - chunk_first;
        return first < CHUNK && first + references.count(leaf) > 0;
    }
    // What the chunk has finished, by full warps, node after node.
    __device__ void write_here(Chunk& chunk, int first, int at, bool is_asked, bool is_top) const {
        const int left = chunk.left[at], right = chunk.right[at];
        Aabb left_box = empty_aabb(), right_box = left_box;
        if (is_asked) {
            left_box = is_leaf(left) ? leaf_box(chunk, first, left) : load_shared_box(chunk.boxes, left - first);
            right_box = is_leaf(right) ? leaf_box(chunk, first, right) : load_shared_box(chunk.boxes, right - first);
        }
        write_together(first + at, left_box, left, right_box, right, chunk.is_collapsed(at), is_asked, is_top);
        if (ROTATES && is_asked) heights[first + at] = (uint8)chunk.heights(at);
    }

    // For groups.cuh: a node that is still open, with the part of its leaves, in the chunk's list, which lies
    // from its first id on; and what is finished below one that is not.
    __device__ void publish_here(Chunk& chunk, int first, int at, int* open) const {
        if (!chunk.is_done(at)) {
            leave_leaf_box(first + at, load_shared_box(chunk.boxes, at));
            open[first + block_atomic_add(&chunk.open_count, 1)] = first + at;
        } else if (chunk.is_top(at)) {
            publish(first + at, load_shared_box(chunk.boxes, at), chunk.left[at], chunk.right[at],
                    chunk.is_collapsed(at));
        }
    }

    // For climb_above: a node that is still open keeps the part of its leaves and arrives for all its children but
    // those still to come; a finished one whose parent lies elsewhere arrives there. Whoever is last puts that node
    // into the chunk's list: boxes are there once this launch is over, so nobody waits here.
    __device__ void list_here(Chunk& chunk, int first, int at, int* open) const {
        const int node_id = first + at;
        int up = node_id, by = 1;
        if (!chunk.is_done(at)) {
            leave_leaf_box(node_id, load_shared_box(chunk.boxes, at));
            by = 3 - missing_here(chunk, first, at);
        } else if (chunk.parent(at) == ELSEWHERE) {
            up = node_id == 0 ? NO_PARENT : parent[node_id];
        } else {
            return;
        }
        if (up == NO_PARENT || atomic_add(waiting + up, by) + by != ALL_HERE) return;
        open[first + block_atomic_add(&chunk.open_count, 1)] = up;
    }
    __device__ int missing_here(const Chunk& chunk, int first, int at) const {
        int missing = 0;
        const int children[2] = {chunk.left[at], chunk.right[at]};
        for (int child : children) {
            const int child_at = child - first;
            const bool is_here = child_at >= 0 && child_at < CHUNK;
            missing += !is_leaf(child) && !(is_here && chunk.is_done(child_at));
        }
        return missing;
    }

    // In global memory, where a node that is not finished yet holds the part of its leaves: one leaf's box, or none.
    // The box of the child that came last is known.
    __device__ Aabb finish(int node_id, int left, int right, int known, const Aabb& known_box) const {
        if (ROTATES) return rotate(node_id, left, right);
        const Aabb leaf = load_node(nodes, node_id).aabb();
        const Aabb left_box = is_leaf(left) ? leaf : left == known ? known_box : load_node(nodes, left).aabb();
        const Aabb right_box = is_leaf(right) ? leaf : right == known ? known_box : load_node(nodes, right).aabb();
        bool is_collapsed = MARKS && node_id != 0;
        if (MARKS && !is_leaf(left)) is_collapsed = is_collapsed && !(flags[left] & NODE_IS_COLLAPSED);
        if (MARKS && !is_leaf(right)) is_collapsed = is_collapsed && !(flags[right] & NODE_IS_COLLAPSED);
        write(node_id, left_box, left, right_box, right, is_collapsed);
        waiting[node_id] = AT_REST;
        return merge(left_box, right_box);
    }
    __device__ Aabb rotate(int node_id, int left, int right) const {
        const Rotator rotator = {references, nodes, parent, flags, heights};
        const auto put = [&](int id, const Relative& a, const Relative& b, bool is_collapsed) {
            write(id, a.box, a.link, b.box, b.link, is_collapsed);
        };
        const Aabb box = rotator.visit(node_id, left, right, put).box;
        waiting[node_id] = AT_REST;
        return box;
    }
    // From a node whose children are all finished. Links and the next parent are read before the arrival: nothing else
    // is waited for afterwards but the sibling's box.
    __device__ void climb(int node_id) const {
        Aabb box = empty_aabb();
        for (int known = NO_PARENT;;) {
            const int left = __float_as_int(nodes[2 * (int64)node_id].w),
                      right = __float_as_int(nodes[2 * (int64)node_id + 1].w);
            const int up = node_id == 0 ? NO_PARENT : parent[node_id];
            if (known != NO_PARENT && atomic_arrive(waiting + node_id, 1) + 1 != ALL_HERE) return;
            box = finish(node_id, left, right, known, box);
            if (up == NO_PARENT) return;
            known = node_id;
            node_id = up;
        }
    }
};

// The references [first, first + references_here) and the nodes of the ids [first, first + ids_here). `last` is the
// last reference of all.
__device__ void compute_chunk_bounds(const Tree& tree, Chunk& chunk, int first, int references_here, int last,
                                     int ids_here) {
    if (thread_index() == 0) chunk.existing_count = chunk.open_count = 0;
    block_sync();
    const int count = max(references_here, ids_here);
    for (int start = thread_index(); start - warp_lane() < count; start += READS_AT_ONCE * block_threads()) {
        tree.read(chunk, first, start, references_here, last, ids_here);
    }
    block_sync();
    for (int i : block_stride(chunk.existing_count)) tree.prepare(chunk, first, chunk.existing[i]);
    block_sync();
    for (int i : block_stride(chunk.existing_count)) {
        const int at = chunk.existing[i];
        if (load_shared_state(chunk.states, at) & STARTS_HERE) tree.climb_here(chunk, first, at);
    }
    block_sync();
}
__device__ void write_chunk(const Tree& tree, Chunk& chunk, int first) {
    for (int i = thread_index(); i - warp_lane() < chunk.existing_count; i += block_threads()) {
        const int at = chunk.existing[min(i, chunk.existing_count - 1)];
        const bool is_asked = i < chunk.existing_count && chunk.is_done(at);
        tree.write_here(chunk, first, at, is_asked, is_asked && chunk.is_top(at));
    }
    block_sync();
}

// Without groups to go on: what climb_above begins with.
__device__ void list_above(const Tree& tree, Chunk& chunk, int first, int* open, int* open_count) {
    for (int i : block_stride(chunk.existing_count)) tree.list_here(chunk, first, chunk.existing[i], open);
    block_sync();
    if (thread_index() == 0) *open_count = chunk.open_count;
}

union Shared {
    Chunk chunk;
    Group group;
};

// With groups to go on: they get what they read first, and while the chunk's arrival is on its way the rest is written.
__device__ void hand_over(const Tree& tree, Chunk& chunk, int first, int* open, int* open_counts, int* arrivals,
                          int& is_last) {
    for (int i : block_stride(chunk.existing_count)) tree.publish_here(chunk, first, chunk.existing[i], open);
    block_sync();
    if (thread_index() == 0) {
        open_counts[block_index()] = chunk.open_count;
        is_last = arrive_last_of_group(arrivals, block_index(), block_count());
    }
    write_chunk(tree, chunk, first);
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS)
    compute_tree_bounds(Primitives primitives, const int* order, const int* reference_count_now, float4* record_data,
                        const float4* reference_boxes, const int* long_leaves, float4* nodes, int* parent, uint8* flags,
                        int node_capacity, float4* bvh2, int* waiting, uint8* heights, int* open, int* open_counts,
                        int* arrivals) {
    SHARED Shared shared;
    SHARED int is_last;
    const int first = block_index() * CHUNK, reference_count = *reference_count_now;
    const Tree tree = {{nodes, flags, bvh2},
                       primitives,
                       order,
                       {{record_data}, reference_boxes, long_leaves},
                       parent,
                       waiting,
                       heights};
    compute_chunk_bounds(tree, shared.chunk, first, min(reference_count - first, CHUNK), reference_count - 1,
                         min(node_capacity - first, CHUNK));
    if (SLOTS > 0) {
        hand_over(tree, shared.chunk, first, open, open_counts, arrivals, is_last);
        go_on({nodes, flags, bvh2}, node_capacity, waiting, open, open_counts, arrivals, CHUNK, shared.group, is_last);
    } else {
        list_above(tree, shared.chunk, first, open, open_counts + block_index());
        write_chunk(tree, shared.chunk, first);
    }
}

// Only some tiles: `tiles` holds first reference and count of each, at most CHUNK; `listed` says how many, then which.
// A subtree whose root's parent is NO_PARENT lies in tiles that are all listed, or none of them; all its tiles are
// CHUNK long but the last, or it shares its only one.
extern "C" __global__ void compute_tile_bounds(Primitives primitives, const int* order, float4* record_data,
                                               float4* nodes, int* parent, uint8* flags, int node_capacity,
                                               float4* bvh2, int* waiting, const int4* tiles, const int* listed,
                                               int* open, int* open_counts) {
    SHARED Chunk chunk;
    const Tree tree = {{nodes, flags, bvh2}, primitives, order, {{record_data}, nullptr}, parent, waiting, nullptr};
    for (int i = block_index(); i < listed[0]; i += block_count()) {
        const int4 tile = tiles[listed[1 + i]];
        block_sync();
        compute_chunk_bounds(tree, chunk, tile.x, tile.y, tile.x + tile.y - 1, min(node_capacity - tile.x, tile.y));
        list_above(tree, chunk, tile.x, open, open_counts + i);
        write_chunk(tree, chunk, tile.x);
    }
}

// What is above the chunks, or the listed tiles, node by node in global memory, where the last child to arrive goes on:
// a launch of its own, of threads that hold no room for a chunk meanwhile. CLIMBS_A_LIST of them take a list.
extern "C" __global__ void climb_above(int chunk_count, const int4* tiles, const int* listed, float4* record_data,
                                       const float4* reference_boxes, const int* long_leaves, float4* nodes,
                                       int* parent, uint8* flags, float4* bvh2, int* waiting, uint8* heights,
                                       const int* open, const int* open_counts) {
    const Tree tree = {
        {nodes, flags, bvh2}, {}, nullptr, {{record_data}, reference_boxes, long_leaves}, parent, waiting, heights};
    for (int i : grid_stride((listed == nullptr ? chunk_count : listed[0]) * CLIMBS_A_LIST)) {
        const int list = i / CLIMBS_A_LIST, first = listed == nullptr ? list * CHUNK : tiles[listed[1 + list]].x;
        for (int item = i % CLIMBS_A_LIST; item < open_counts[list]; item += CLIMBS_A_LIST)
            tree.climb(open[first + item]);
    }
}
