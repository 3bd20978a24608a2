// A level of cells that are cut: which children each reference meets, how many there are, and where they go. All of it
// follows from counts and the order of the references, so that the same input gives the same bytes. Launch order is the
// file's; the caller scans tile_sums and additions.
//
// Unit constant: TILE, references that are counted together.
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/octree/builders/octree_top_down/level.cuh"
#include "gpu/hierarchy/octree/cells_met.cuh"

static_assert(TILE < 256, "how many come before in a tile is a byte");

// The children of a cell that a primitive in it meets, as bits. What lies in a plane alone is below it.
template <class Kind>
__device__ __forceinline__ unsigned octants_met(const Kind& primitives, int prim_id, const OctreeSpace& space,
                                                const OctreeCell& cell) {
    const Aabb box = primitives.aabb(prim_id);
    const int half = cell.size() >> 1;
    const float3 middle = space.corner(cell.x + half, cell.y + half, cell.z + half);
    unsigned met = 255u;
    for (int axis = 0; axis < 3; ++axis) {
        const float plane = along(middle, axis);
        const bool is_above = along(box.upper, axis) > plane, is_below = along(box.lower, axis) < plane || !is_above;
        if (!is_below) met &= octants_on_side(axis, true);
        if (!is_above) met &= octants_on_side(axis, false);
    }
    if ((met & (met - 1u)) == 0u || !space.is_within(LARGEST_CLIPPED)) return met;
    const auto shape = primitives.shape(primitives.corners(prim_id));
    unsigned reached = 0u;
#pragma unroll 1
    for (unsigned rest = met; rest != 0u; rest &= rest - 1u) {
        const int octant = __ffs((int)rest) - 1;
        if (meets_cell(shape, box, space.box_of(cell.child(octant)))) reached |= 1u << octant;
    }
    return reached != 0u ? reached : met;
}

// A mask's bits as bytes of a number, which count.
__device__ __forceinline__ uint64 as_bytes(unsigned mask) {
    uint64 bytes = mask;
    bytes = (bytes | bytes << 28) & 0x0000000f0000000full;
    bytes = (bytes | bytes << 14) & 0x0003000300030003ull;
    return (bytes | bytes << 7) & 0x0101010101010101ull;
}

// `ranks`: of each reference how many before it in its tile meet each child. `tile_sums`: eight rows of a tile each.
extern "C" __global__ void meet_children(Primitives primitives, const int* level, const int* prim_ids,
                                         const int* slot_ids, const int4* cells, const float4* box, uint8* met,
                                         uint64* ranks, int tiles, int* tile_sums) {
    const int count = level[LEVEL_REFERENCES];
    const OctreeSpace space = load_space(box);
    for (int tile = block_index(); tile * TILE < count; tile += block_count()) {
        const int last = min(count, (tile + 1) * TILE);
        uint64 before = 0;
        for (int first = tile * TILE; first < last; first += block_threads()) {
            const int i = first + thread_index();
            const unsigned mask = i < last ? octants_met(primitives, prim_ids[i], space, load_cell(cells, slot_ids[i]))
                                           : 0u;
            uint64 all;
            const uint64 rank = before + block_exclusive_scan(as_bytes(mask), all);
            before += all;
            if (i >= last) continue;
            met[i] = (uint8)mask;
            ranks[i] = rank;
        }
        for (int octant : block_stride(8)) tile_sums[octant * tiles + tile] = (int)(before >> 8 * octant & 255);
    }
}

// How many references meet each child, up to a reference.
struct Met {
    Pointer<const uint64> ranks;
    Pointer<const int> tile_sums;
    int tiles;

    __device__ __forceinline__ int before(int octant, int i) const {
        return tile_sums[octant * tiles + i / TILE] + (int)(ranks[i] >> 8 * octant & 255);
    }
};

// What each cell adds: rows of nodes, of cells of the next level, of their references, and of references of leaves.
struct Additions {
    Pointer<int> sums;
    int length;

    __device__ __forceinline__ int& at(int row, int slot) const { return sums[row * length + slot]; }
    __device__ __forceinline__ int before(int row, int slot) const { return at(row, slot) - at(row, 0); }
};
constexpr int NODES_ADDED = 0, CELLS_ADDED = 1, REFERENCES_ADDED = 2, LEAF_REFERENCES_ADDED = 3;

// A cell is cut where that costs less than testing all that it holds, children having a quarter of its area; where some
// child holds less than all; and where its share of references allows it.
__device__ __forceinline__ bool is_cut(const int* counts, int4 range, int by_cost) {
    int64 total = 0;
    int children = 0, fewest = range.z;
    for (int octant = 0; octant < 8; ++octant) {
        const int count = counts[octant];
        if (count == 0) continue;
        total += count;
        ++children;
        fewest = min(fewest, count);
    }
    if (children > 1 && fewest == range.z) return false;
    if (by_cost && total + 4 >= 4 * (int64)range.z) return false;
    return __int_as_float(range.w) * (float)range.z >= (float)total;
}

// `child_counts`: eight of each cell; the first is negative where the cell is not cut.
extern "C" __global__ void count_children(const int* level, const int4* ranges, const uint64* ranks, const uint8* met,
                                          int tiles, int* tile_sums, int by_cost, int leaf_primitives, int ends_here,
                                          int slots, int* child_counts, int* additions) {
    const Met before = {ranks, tile_sums, tiles};
    const Additions added = {additions, slots + 1};
    for (int slot : grid_stride(level[LEVEL_CELLS])) {
        const int4 range = ranges[slot];
        const int first = range.y, last = first + range.z - 1;
        int counts[8], nodes = 0, open = 0, references = 0, leaf_references = 0;
        for (int octant = 0; octant < 8; ++octant) {
            const int count = before.before(octant, last) - before.before(octant, first) + (met[last] >> octant & 1);
            const bool is_open = count > leaf_primitives && !ends_here;
            counts[octant] = count;
            nodes += count > 0;
            open += is_open;
            references += is_open ? count : 0;
            leaf_references += is_open ? 0 : count;
        }
        const bool cuts = is_cut(counts, range, by_cost);
        for (int octant = 0; octant < 8; ++octant) child_counts[8 * (int64)slot + octant] = cuts ? counts[octant] : -1;
        added.at(NODES_ADDED, slot) = cuts ? nodes : 0;
        added.at(CELLS_ADDED, slot) = cuts ? open : 0;
        added.at(REFERENCES_ADDED, slot) = cuts ? references : 0;
        added.at(LEAF_REFERENCES_ADDED, slot) = cuts ? leaf_references : range.z;
    }
}

// The next row, and what was too small for it.
__device__ __forceinline__ void finish_level(const int* level, const Additions& added, int node_capacity,
                                             int reference_capacity, int working_capacity, int* next_level,
                                             int* counts) {
    const int cells = level[LEVEL_CELLS];
    const int references = added.before(REFERENCES_ADDED, cells);
    const int nodes = level[LEVEL_FIRST_NODE] + added.before(NODES_ADDED, cells);
    const int leaf_references = level[LEVEL_FIRST_REFERENCE] + added.before(LEAF_REFERENCES_ADDED, cells);
    int status = counts[STATUS_NOW];
    if (nodes > node_capacity) status |= NODES_FULL;
    if (leaf_references > reference_capacity) status |= REFERENCES_FULL;
    if (references > working_capacity) status |= WORKING_FULL;
    counts[NODES_NOW] = nodes;
    counts[REFERENCES_NOW] = leaf_references;
    counts[STATUS_NOW] = status;
    counts[WORKING_NOW] = max(counts[WORKING_NOW], references);
    next_level[LEVEL_CELLS] = status == 0 ? added.before(CELLS_ADDED, cells) : 0;
    next_level[LEVEL_REFERENCES] = status == 0 ? references : 0;
    next_level[LEVEL_FIRST_NODE] = nodes;
    next_level[LEVEL_FIRST_REFERENCE] = leaf_references;
}

// `bases`: where each child's references begin, in the next level's, or ~ where in those of leaves.
extern "C" __global__ void make_children(const int* level, int* next_level, const int4* cells, const int4* ranges,
                                         const int* child_counts, int* additions, int leaf_primitives, int ends_here,
                                         int slots, int node_capacity, int reference_capacity, int working_capacity,
                                         int4* next_cells, int4* next_ranges, int* bases, int* counts,
                                         int2* draft_nodes, int* draft_parent) {
    const Additions added = {additions, slots + 1};
    const int level_cells = level[LEVEL_CELLS];
    for (int slot : grid_stride(max(1, level_cells))) {
        if (slot == 0)
            finish_level(level, added, node_capacity, reference_capacity, working_capacity, next_level, counts);
        if (slot >= level_cells) continue;
        const int4 range = ranges[slot];
        const int* child_count = child_counts + 8 * (int64)slot;
        int leaf_reference = level[LEVEL_FIRST_REFERENCE] + added.before(LEAF_REFERENCES_ADDED, slot);
        if (child_count[0] < 0) {
            store_octree_node(draft_nodes, range.x, leaf_reference, ~range.z);
            bases[8 * (int64)slot] = ~leaf_reference;
            continue;
        }
        const OctreeCell cell = load_cell(cells, slot);
        const int first_child = level[LEVEL_FIRST_NODE] + added.before(NODES_ADDED, slot);
        int node_id = first_child, next_slot = added.before(CELLS_ADDED, slot),
            reference = added.before(REFERENCES_ADDED, slot), total = 0;
        unsigned mask = 0u;
        for (int octant = 0; octant < 8; ++octant) total += child_count[octant];
        const float share = __int_as_float(range.w) * (float)range.z / (float)total;
        for (int octant = 0; octant < 8; ++octant) {
            const int count = child_count[octant];
            if (count == 0) continue;
            const bool is_open = count > leaf_primitives && !ends_here;
            bases[8 * (int64)slot + octant] = is_open ? reference : ~leaf_reference;
            if (node_id < node_capacity) {
                store_octree_node(draft_nodes, node_id, is_open ? 0 : leaf_reference, is_open ? 0 : ~count);
                draft_parent[node_id] = range.x;
            }
            if (is_open && next_slot < slots)
                store_open_cell(next_cells, next_ranges, next_slot,
                                {cell.child(octant), node_id, reference, count, share});
            mask |= 1u << octant;
            ++node_id;
            next_slot += is_open;
            reference += is_open ? count : 0;
            leaf_reference += is_open ? 0 : count;
        }
        store_octree_node(draft_nodes, range.x, first_child, (int)mask);
    }
}

// References to their children: stable, so that those of a leaf are in the order of the scene.
extern "C" __global__ void move_references(const int* level, const int* counts, const int* prim_ids,
                                           const int* slot_ids, const int4* ranges, const uint8* met,
                                           const uint64* ranks, int tiles, int* tile_sums, const int* child_counts,
                                           const int* bases, int* additions, int slots, int* next_prim_ids,
                                           int* next_slot_ids, int* draft_references) {
    if (counts[STATUS_NOW] != 0) return;
    const Met before = {ranks, tile_sums, tiles};
    const Additions added = {additions, slots + 1};
    for (int i : grid_stride(level[LEVEL_REFERENCES])) {
        const int slot = slot_ids[i], prim_id = prim_ids[i], first = ranges[slot].y;
        const int64 children = 8 * (int64)slot;
        if (child_counts[children] < 0) {
            draft_references[~bases[children] + i - first] = prim_id;
            continue;
        }
        int next_slot = added.before(CELLS_ADDED, slot);
        for (int octant = 0; octant < 8; ++octant) {
            const int count = child_counts[children + octant];
            if (count == 0) continue;
            const int base = bases[children + octant];
            if (met[i] >> octant & 1) {
                const int rank = before.before(octant, i) - before.before(octant, first);
                if (base < 0) {
                    draft_references[~base + rank] = prim_id;
                } else {
                    next_prim_ids[base + rank] = prim_id;
                    next_slot_ids[base + rank] = next_slot;
                }
            }
            next_slot += base >= 0;
        }
    }
}
