// Fits a topology: records in the order of the references, boxes from below, and the nodes written as they are finished. For refits, and for trees
// that are new (a builder's that emits no boxes, an optimiser's), whose flags are decided on the way: MARKS.
//
// A block takes one CHUNK of references and the node ids of the same numbers. First it reads all it needs of them, with nothing waiting for
// anything: records, the boxes of leaves, links. Then boxes climb in shared memory, where the last child to arrive goes on (Karras 2012). What has a
// child in another chunk goes on in global memory afterwards: there the owner of a node arrives too, once it has left the part of its leaves. So
// builders whose ids and references are near where their nodes are near are fast, and every other numbering is right.
//
// Where ids follow the references, few nodes are left open by their chunks, and groups of chunks go on with those (refit_groups.cuh; SLOTS above 0).
//
// One block a CHUNK. Unit constants: CHUNK, GATHERS (records are written, or else read), WRITES_BVH2, MARKS, GROUP, SLOTS.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/fitted_nodes.cuh"
#include "gpu/hierarchy/bvh/refit_groups.cuh"

constexpr int ALL_HERE = 2;  // the owner adds 3 less the children that are still to come, each of them 1
constexpr int ELSEWHERE = -1;
constexpr int NO_PARENT = -1;

constexpr int THREADS = CHUNK < 64 ? 32 : CHUNK / 2;  // bvh.py launches as many

// The chunk of a block, by place: a node's id or a reference less the chunk's first.
struct Chunk {
    SharedBox boxes[CHUNK];  // of nodes; of what is not finished yet the part of its leaves
    SharedBox references[GATHERS ? CHUNK : 1];  // then, at a leaf's first reference, the leaf's
    int left[CHUNK], right[CHUNK];
    int arrived[CHUNK];       // counts up to 0, when all children are here
    short parent[CHUNK];      // place, or ELSEWHERE
    short existing[CHUNK], lowest[CHUNK];
    uint8 states[CHUNK];      // DONE, NODE_IS_ABSORBED
    int existing_count, lowest_count, open_count;
};

struct Tree : FittedNodes {
    Primitives primitives;
    const int* order;
    ReferencesOf<Records> references;
    const int* parent;
    int* waiting;
    int4* kept;  // corners by reference

    // The box of a reference of which no record may be there yet.
    __device__ Aabb reference_aabb(int reference) const {
        if (references.boxes != nullptr) return references.own_box(reference);
        return GATHERS ? primitives.aabb(order[reference]) : references.records.aabb(reference);
    }
    // A leaf's box from its references. Where it lies with any of them in the chunk, it is left in the place of the first of those, which nobody else
    // asks for: leaf_box finds it there.
    __device__ Aabb fit_leaf(Chunk& chunk, int chunk_first, int leaf) const {
        Aabb box = empty_aabb();
        const int first = first_reference(leaf) - chunk_first, last = first + reference_count(leaf);
#pragma unroll 1
        for (int at = first; at < last; ++at) {
            const bool is_here = GATHERS && at >= 0 && at < CHUNK;
            box = merge(box, is_here ? load_shared_box(chunk.references, at) : reference_aabb(chunk_first + at));
        }
        if (GATHERS && first < CHUNK && last > 0) store_shared_box(chunk.references, max(first, 0), box);
        return box;
    }
    __device__ Aabb leaf_box(Chunk& chunk, int chunk_first, int leaf) const {
        const int first = first_reference(leaf) - chunk_first, last = first + reference_count(leaf);
        return GATHERS && first < CHUNK && last > 0 ? load_shared_box(chunk.references, max(first, 0)) : fit_leaf(chunk, chunk_first, leaf);
    }

    // The words of a node that hold its place in the tree.
    struct Links {
        int left, right, parent;
    };
    __device__ Links links(int node_id) const {
        return {__float_as_int(nodes[2 * (int64)node_id].w), __float_as_int(nodes[2 * (int64)node_id + 1].w), parent[node_id]};
    }

    // Everything that a chunk needs of global memory, read before anything is written. `last` is the last reference there is. Where corners are kept,
    // vertices alone wait for something else: links are asked for before it is known whether the node exists.
    __device__ void read(Chunk& chunk, int first, int start, int references_here, int last, int ids_here) const {
        int prim_ids[READS_AT_ONCE];
        bool exists[READS_AT_ONCE];
        int4 rows[READS_AT_ONCE];
        Links found[READS_AT_ONCE];
        Primitives::Corners corners[READS_AT_ONCE];
        Primitives::Shape shapes[READS_AT_ONCE];
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            const int at = start + k * block_threads(), reference = first + at;
            exists[k] = at < ids_here && (flags[reference] & NODE_EXISTS);
            if (KEEPS_CORNERS && at < ids_here) found[k] = links(reference);
            if (!GATHERS) continue;
            prim_ids[k] = order[min(reference, last)];
            if (KEEPS_CORNERS) rows[k] = kept[min(reference, last)];
            primitives.prefetch_indices(order[min(reference + PREFETCH_INDICES_AHEAD, last)]);
            primitives.prefetch_points(order[min(reference + PREFETCH_POINTS_AHEAD, last)]);
        }
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            const int at = start + k * block_threads(), reference = first + at;
            const bool is_kept = KEEPS_CORNERS && rows[k].w == prim_ids[k];
            if (GATHERS) corners[k] = is_kept ? Primitives::corners_of(rows[k]) : primitives.corners(prim_ids[k]);
            if (KEEPS_CORNERS && !is_kept && at < references_here) kept[reference] = Primitives::kept(corners[k], prim_ids[k]);
            if (exists[k]) hold(chunk, first, at, KEEPS_CORNERS ? found[k] : links(reference));
        }
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            if (GATHERS) shapes[k] = primitives.shape(corners[k]);
        }
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; ++k) {
            const int at = start + k * block_threads();
            if (!GATHERS || at >= references_here) continue;
            const Aabb box = references.records.store(first + at, shapes[k], prim_ids[k]);
            store_shared_box(chunk.references, at, references.boxes == nullptr ? box : references.own_box(first + at));
        }
    }
    __device__ void hold(Chunk& chunk, int first, int at, const Links& links) const {
        const int up = first + at == 0 ? ELSEWHERE : links.parent - first;
        chunk.left[at] = links.left;
        chunk.right[at] = links.right;
        chunk.parent[at] = (short)(up >= 0 && up < CHUNK ? up : ELSEWHERE);
        chunk.existing[block_atomic_add(&chunk.existing_count, 1)] = (short)at;  // in any order: boxes are the same whoever comes last
    }

    // Part of a node of the chunk: its leaves, and what there is to know of its children.
    __device__ void prepare(Chunk& chunk, int first, int at) const {
        store_shared_state(chunk.states, at, 0);
        Aabb box = empty_aabb();
        int arrived = 0;
        const int children[2] = {chunk.left[at], chunk.right[at]};
#pragma unroll 1
        for (int side = 0; side < 2; ++side) {
            const int child_at = children[side] - first;
            if (is_leaf(children[side])) box = merge(box, fit_leaf(chunk, first, children[side]));
            else arrived -= child_at >= 0 && child_at < CHUNK ? 1 : -NEVER_HERE;
        }
        chunk.arrived[at] = arrived;
        store_shared_box(chunk.boxes, at, box);
        if (arrived == 0) chunk.lowest[block_atomic_add(&chunk.lowest_count, 1)] = (short)at;
    }

    // All children of a node of the chunk are finished, and all of them are here. Nothing but shared memory is touched.
    __device__ void finish_here(Chunk& chunk, int first, int at) const {
        Aabb box = load_shared_box(chunk.boxes, at);
        bool is_child_absorbed = false;
        const int children[2] = {chunk.left[at], chunk.right[at]};
        for (int child : children) {
            if (is_leaf(child)) continue;
            box = merge(box, load_shared_box(chunk.boxes, child - first));
            if (MARKS) is_child_absorbed = is_child_absorbed || (load_shared_state(chunk.states, child - first) & NODE_IS_ABSORBED);
        }
        store_shared_box(chunk.boxes, at, box);
        store_shared_state(chunk.states, at, DONE | (first + at != 0 && !is_child_absorbed ? NODE_IS_ABSORBED : 0));
    }
    __device__ void climb_here(Chunk& chunk, int first, int at) const {
        finish_here(chunk, first, at);
        for (at = chunk.parent[at]; at != ELSEWHERE && block_arrive(chunk.arrived + at) == -1; at = chunk.parent[at]) finish_here(chunk, first, at);
    }
    // What the chunk has finished, by full warps, node after node.
    __device__ void write_here(Chunk& chunk, int first, int at) const {
        const int left = chunk.left[at], right = chunk.right[at];
        const Aabb left_box = is_leaf(left) ? leaf_box(chunk, first, left) : load_shared_box(chunk.boxes, left - first);
        const Aabb right_box = is_leaf(right) ? leaf_box(chunk, first, right) : load_shared_box(chunk.boxes, right - first);
        write(first + at, left_box, left, right_box, right, load_shared_state(chunk.states, at) & NODE_IS_ABSORBED);
    }

    // The same in global memory, where a node that is not finished yet holds the part of its leaves: one leaf's box, or none. The box of the child
    // that came last is known.
    __device__ Aabb finish(int node_id, int left, int right, int known, const Aabb& known_box) const {
        const Aabb leaf = load_node(nodes, node_id).aabb();
        const Aabb left_box = is_leaf(left) ? leaf : left == known ? known_box : load_node(nodes, left).aabb();
        const Aabb right_box = is_leaf(right) ? leaf : right == known ? known_box : load_node(nodes, right).aabb();
        bool is_absorbed = MARKS && node_id != 0;
        if (MARKS && !is_leaf(left)) is_absorbed = is_absorbed && !(flags[left] & NODE_IS_ABSORBED);
        if (MARKS && !is_leaf(right)) is_absorbed = is_absorbed && !(flags[right] & NODE_IS_ABSORBED);
        write(node_id, left_box, left, right_box, right, is_absorbed);
        return merge(left_box, right_box);
    }
    __device__ bool arrive(int node_id, int by) const {
        if (atomic_arrive(waiting + node_id, by) + by != ALL_HERE) return false;
        waiting[node_id] = AT_REST;
        return true;
    }
    // Links and the next parent are read before the arrival: nothing else is waited for afterwards but the sibling's box.
    __device__ void climb(int node_id, Aabb box) const {
        int up = node_id == 0 ? NO_PARENT : parent[node_id];
        while (up != NO_PARENT) {
            const int left = __float_as_int(nodes[2 * (int64)up].w), right = __float_as_int(nodes[2 * (int64)up + 1].w);
            const int next = up == 0 ? NO_PARENT : parent[up];
            if (!arrive(up, 1)) return;
            box = finish(up, left, right, node_id, box);
            node_id = up;
            up = next;
        }
    }

    // What the chunk could not finish: leave the part of the leaves, and arrive for it and for the children that are finished. The links stay as they
    // are: others may be reading them.
    __device__ void leave(const Chunk& chunk, int first, int at) const {
        const int node_id = first + at, left = chunk.left[at], right = chunk.right[at];
        const Aabb part = load_shared_box(chunk.boxes, at);
        leave_part(node_id, part);
        int missing = 0;
        const int children[2] = {left, right};
        for (int child : children) {
            const int child_at = child - first;
            const bool is_here = child_at >= 0 && child_at < CHUNK;
            missing += !is_leaf(child) && !(is_here && (load_shared_state(chunk.states, child_at) & DONE));
        }
        if (arrive(node_id, 3 - missing)) climb(node_id, finish(node_id, left, right, NO_PARENT, part));
    }
};

// The references [first, first + references_here) and the nodes of the ids [first, first + ids_here). `last` is the last reference of all.
__device__ void fit_chunk(const Tree& tree, Chunk& chunk, int first, int references_here, int last, int ids_here) {
    if (thread_index() == 0) chunk.existing_count = chunk.lowest_count = chunk.open_count = 0;
    block_sync();
    const int count = max(references_here, ids_here);
    for (int start = thread_index(); start < count; start += READS_AT_ONCE * block_threads()) tree.read(chunk, first, start, references_here, last, ids_here);
    block_sync();
    for (int i : block_stride(chunk.existing_count)) tree.prepare(chunk, first, chunk.existing[i]);
    block_sync();
    for (int i : block_stride(chunk.lowest_count)) tree.climb_here(chunk, first, chunk.lowest[i]);
    block_sync();
    for (int i : block_stride(chunk.existing_count)) {
        const int at = chunk.existing[i];
        if (load_shared_state(chunk.states, at) & DONE) tree.write_here(chunk, first, at);
    }
    block_sync();
}

// Unless another kernel is to go on: everything above, in global memory.
__device__ void fit_above_chunk(const Tree& tree, const Chunk& chunk, int first) {
    for (int i : block_stride(chunk.existing_count)) {
        const int at = chunk.existing[i];
        if (!(load_shared_state(chunk.states, at) & DONE)) tree.leave(chunk, first, at);
        else if (chunk.parent[at] == ELSEWHERE) tree.climb(first + at, load_shared_box(chunk.boxes, at));
    }
}

// For refit_groups.cuh: the nodes that are still open, each with the part of its leaves; their ids lie from the chunk's first id on.
__device__ void list_open(const Tree& tree, Chunk& chunk, int first, int* open, int* open_counts) {
    for (int i : block_stride(chunk.existing_count)) {
        const int at = chunk.existing[i];
        if (load_shared_state(chunk.states, at) & DONE) continue;
        tree.leave_part(first + at, load_shared_box(chunk.boxes, at));
        open[first + block_atomic_add(&chunk.open_count, 1)] = first + at;
    }
    block_sync();
    if (thread_index() == 0) open_counts[block_index()] = chunk.open_count;
}

union Shared {
    Chunk chunk;
    Group group;
};
// As many as shared memory has room for, and no more than leave a thread 48 registers; 64 where it climbs in global memory.
constexpr int ROOM = SHARED_KIB * 1024 / (int)(sizeof(Shared) + 1024), MOST_BLOCKS = (SLOTS > 0 ? 1280 : 1024) / (THREADS < 128 ? 128 : THREADS);
constexpr int BLOCKS = ROOM < 1 ? 1 : ROOM < MOST_BLOCKS ? ROOM : MOST_BLOCKS;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
fit_tree(Primitives primitives, const int* order, const int* reference_count_now, float4* record_data, const float4* reference_boxes, float4* nodes,
         const int* parent, uint8* flags, int node_capacity, float4* bvh2, int* waiting, int* open, int* open_counts, int* arrivals,
         int4* kept) {
    SHARED Shared shared;
    const int first = block_index() * CHUNK, reference_count = *reference_count_now;
    const Tree tree = {{nodes, flags, bvh2}, primitives, order, {{record_data}, reference_boxes}, parent, waiting, kept};
    fit_chunk(tree, shared.chunk, first, min(reference_count - first, CHUNK), reference_count - 1, min(node_capacity - first, CHUNK));
    if (SLOTS > 0) {
        list_open(tree, shared.chunk, first, open, open_counts);
        go_on({nodes, flags, bvh2}, node_capacity, waiting, open, open_counts, arrivals, CHUNK, shared.group);
    } else {
        fit_above_chunk(tree, shared.chunk, first);
    }
}

// Only some tiles: `tiles` holds first reference and count of each, at most CHUNK; `listed` says how many, then which. A subtree whose root's parent
// is NO_PARENT lies in tiles that are all listed, or none of them; all its tiles are CHUNK long but the last, or it shares its only one.
extern "C" __global__ void fit_tiles(Primitives primitives, const int* order, float4* record_data, float4* nodes, const int* parent, uint8* flags,
                                     int node_capacity, float4* bvh2, int* waiting, const int4* tiles, const int* listed) {
    SHARED Chunk chunk;
    const Tree tree = {{nodes, flags, bvh2}, primitives, order, {{record_data}, nullptr}, parent, waiting, nullptr};
    for (int i = block_index(); i < listed[0]; i += block_count()) {
        const int4 tile = tiles[listed[1 + i]];
        block_sync();
        fit_chunk(tree, chunk, tile.x, tile.y, tile.x + tile.y - 1, min(node_capacity - tile.x, tile.y));
        fit_above_chunk(tree, chunk, tile.x);
    }
}
