// Spatial median splits of references in Morton order, by work queues: after Garanzha, Pantaleoni and McAllister 2011,
// as Meister 2014 tells it (5.4, 6.1).
//
// A task is a range of references that becomes an inner node. It is split where the highest bit that differs in it
// changes, found by a search in the sorted codes; where all codes are equal, in the middle. Node ids are Karras'
// (tree.py), so that they need no counter, and the order in which tasks come to a queue changes nothing. Where a queue
// is filled, a block's prefix sums give places and one addition a block the first of them.
//
// Wide tasks, of more than TASK references, go WIDE_LEVELS levels down a launch, a warp per task; a whole subtree below
// them is finished by one block in shared memory. So the number of launches depends on the code's length, the logarithm
// of n, and nothing else. Unit constants: CODE_BITS, TASK, WIDE_LEVELS, and BATCH (small tasks that a block finishes
// together).
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/median_splits.cuh"
#include "gpu/hierarchy/morton_order.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"

// -- the queues' first tasks -----------------------------------------------------------------------------

// One task over everything. `counts`: tasks in each of the wide queues, then in the queue of small tasks.
extern "C" __global__ void begin_with_root(int n, const uint64* keys, const int* prim_ids, int* order, int* parent,
                                           uint8* flags, int* root, int max_leaf_size, int2* wide, int2* small,
                                           int* counts, int queue_count) {
    for (int i : grid_stride(n)) {
        order[i] = prim_id_of(keys, prim_ids, i);
        if (i < n - 1) flags[i] = 0;
        if (i == 0) {
            const bool is_node = n > max_leaf_size, is_wide = is_node && n > TASK;
            *root = is_node ? 0 : leaf_child(0, n);
            if (n > 1) parent[0] = -1;
            (is_wide ? wide : small)[0] = pack_task(0, n - 1, false);
            for (int queue = 0; queue < queue_count; ++queue) counts[queue] = 0;
            if (is_node) counts[is_wide ? 0 : queue_count - 1] = 1;
        }
    }
}

// -- wide tasks ------------------------------------------------------------------------------------------

constexpr int LIVE = 1 << WIDE_LEVELS;

// The last reference of the left child. A warp probes as many places at once as it has lanes.
__device__ __forceinline__ int find_split(const uint64* keys, int first, int last) {
    const uint64 difference = code_of(keys[first]) ^ code_of(keys[last]);
    if (difference == 0) return first + (last - first) / 2;
    const int bit = 63 - __clzll((int64)difference);
    int low = first, high = last;
    while (high - low > 1) {
        const int64 span = high - low;
        int zero_count = 0;
        for (int i : lane_stride(WARP_LANES))
            zero_count += (code_of(keys[low + (int)(span * (i + 1) / (WARP_LANES + 1))]) >> bit & 1) == 0;
        zero_count = warp_sum(zero_count);
        const int start = low;
        low = start + (int)(span * zero_count / (WARP_LANES + 1));
        if (zero_count < WARP_LANES) high = start + (int)(span * (zero_count + 1) / (WARP_LANES + 1));
    }
    return low;
}

// What a block holds of one wide task and its descendants.
struct WideShared {
    int2 live[LIVE];  // this level's tasks
    int2 children[LIVE];  // theirs, in pairs
    int2 small[LIVE];  // for the other queue
    int first_place;
};

// One level of `live_count` tasks: splits, then the wide children become live and the small ones are put aside.
__device__ __forceinline__ void split_level(WideShared& shared, const uint64* keys, const Links& links, int& live_count,
                                            int& small_count) {
    for (int i = thread_index() / WARP_LANES; i < live_count; i += block_threads() / WARP_LANES) {
        const Task task = unpack_task(shared.live[i]);
        const int split = find_split(keys, task.first, task.last);
        if (warp_lane() != 0) continue;
        links.write_inner_node(task.node_id(), task.first, split, task.last);
        shared.children[2 * i] = links.is_leaf_range(task.first, split) ? no_task()
                                                                        : pack_task(task.first, split, true);
        shared.children[2 * i + 1] = links.is_leaf_range(split + 1, task.last) ? no_task()
                                                                               : pack_task(split + 1, task.last, false);
    }
    block_sync();
    const int child_count = 2 * live_count;
    live_count = 0;
    for (int start = 0; start < child_count; start += block_threads()) {
        const int i = start + thread_index();
        const int2 packed = i < child_count ? shared.children[i] : no_task();
        const bool is_task = packed.y >= 0;
        const bool is_wide = is_task && unpack_task(packed).count() > TASK;
        int total;
        const int before = block_exclusive_scan(is_wide ? 1 : is_task ? 1 << 16 : 0, total);
        if (is_wide) shared.live[live_count + (before & 0xffff)] = packed;
        else if (is_task) shared.small[small_count + (before >> 16)] = packed;
        live_count += total & 0xffff;
        small_count += total >> 16;
    }
    block_sync();
}

// Copy `count` tasks of a block to a queue.
__device__ __forceinline__ void append_tasks(const int2* tasks, int count, int2* queue, int* queue_count,
                                             int* first_place) {
    if (thread_index() == 0) *first_place = atomic_add(queue_count, count);
    block_sync();
    for (int i : block_stride(count)) queue[*first_place + i] = tasks[i];
    block_sync();
}

extern "C" __global__ void split_wide_tasks(const uint64* keys, float4* nodes, int* parent, uint8* flags,
                                            int max_leaf_size, const int2* wide, const int* wide_count, int2* next_wide,
                                            int* next_wide_count, int2* small, int* small_count) {
    SHARED WideShared shared;
    const Links links = {nodes, parent, flags, max_leaf_size};
    const int task_count = *wide_count;
    for (int task = block_index(); task < task_count; task += block_count()) {
        int live_here = 1, small_here = 0;
        if (thread_index() == 0) shared.live[0] = wide[task];
        block_sync();
        for (int level = 0; level < WIDE_LEVELS && live_here > 0; ++level)
            split_level(shared, keys, links, live_here, small_here);
        if (live_here > 0) append_tasks(shared.live, live_here, next_wide, next_wide_count, &shared.first_place);
        if (small_here > 0) append_tasks(shared.small, small_here, small, small_count, &shared.first_place);
    }
}

// -- small tasks -----------------------------------------------------------------------------------------

constexpr int HELD = BATCH * TASK;

template <int BITS>
struct CodeOf {
    typedef uint64 Type;
};
template <>
struct CodeOf<30> {
    typedef unsigned Type;
};
typedef CodeOf<CODE_BITS>::Type Code;

// A range of codes in shared memory, and which task of the batch it belongs to, in one word.
struct Piece {
    int first, last, slot;
    bool is_left;
};
static_assert(HELD <= 1 << 12 && BATCH <= 1 << 4, "a piece has 12 bits for a place and 4 for a slot");
__device__ __forceinline__ int pack_piece(int first, int last, int slot, bool is_left) {
    return first | last << 12 | slot << 24 | (is_left ? 1 << 28 : 0);
}
__device__ __forceinline__ Piece unpack_piece(int packed) {
    return {packed & 0xfff, packed >> 12 & 0xfff, packed >> 24 & 15, (packed & 1 << 28) != 0};
}

// BATCH tasks level by level, a thread a node, until nothing is left of them.
extern "C" __global__ void finish_small_tasks(const uint64* keys, float4* nodes, int* parent, uint8* flags,
                                              int max_leaf_size, const int2* small, const int* small_count) {
    SHARED Code codes[HELD];
    SHARED int pieces[2][HELD / 2];
    SHARED int offsets[BATCH];  // from places here to references
    const Links links = {nodes, parent, flags, max_leaf_size};
    const int task_count = *small_count;
    for (int batch = block_index(); batch * BATCH < task_count; batch += block_count()) {
        int piece_count = min(BATCH, task_count - batch * BATCH), held = 0, side = 0;
        for (int slot = 0; slot < piece_count; ++slot) {
            const Task task = unpack_task(small[batch * BATCH + slot]);
            for (int i : block_stride(task.count())) codes[held + i] = (Code)code_of(keys[task.first + i]);
            if (thread_index() == 0) {
                offsets[slot] = task.first - held;
                pieces[0][slot] = pack_piece(held, held + task.count() - 1, slot, task.is_left);
            }
            held += task.count();
        }
        block_sync();
        while (piece_count > 0) {
            int next_count = 0;
            for (int start = 0; start < piece_count; start += block_threads()) {
                const int i = start + thread_index();
                bool left_is_node = false, right_is_node = false;
                Piece piece = {0, 0, 0, false};
                int split = 0, total;
                if (i < piece_count) {
                    piece = unpack_piece(pieces[side][i]);
                    const int offset = offsets[piece.slot];
                    split = find_split_alone([&](int at) { return codes[at]; }, piece.first, piece.last);
                    links.write_inner_node((piece.is_left ? piece.last : piece.first) + offset, piece.first + offset,
                                           split + offset, piece.last + offset);
                    left_is_node = !links.is_leaf_range(piece.first, split);
                    right_is_node = !links.is_leaf_range(split + 1, piece.last);
                }
                int place = next_count + block_exclusive_scan((left_is_node ? 1 : 0) + (right_is_node ? 1 : 0), total);
                if (left_is_node) pieces[1 - side][place++] = pack_piece(piece.first, split, piece.slot, true);
                if (right_is_node) pieces[1 - side][place] = pack_piece(split + 1, piece.last, piece.slot, false);
                next_count += total;
            }
            block_sync();
            piece_count = next_count;
            side = 1 - side;
        }
    }
}
