// What a block does with a chunk, in two ways: with barriers and shared memory, as Zhou's implementation, or with
// ballots and shuffles ([B] and [D] of Chang's paper). Unit constants: SHARED_SCANS, SHARED_REDUCTIONS.
#pragma once
#include "gpu/device/quad.cuh"
#include "gpu/hierarchy/kdtree/builders/median_sah/large.cuh"

struct ChunkRange {
    int first, last;
};
__device__ __forceinline__ ChunkRange range_of_chunk(int4 range, int chunk) {
    const int first = range.x + CHUNK * (chunk - range.w);
    return {first, min(first + CHUNK, range.x + range.y)};
}

// Packed sides of the threads before, and of all. With ballots a thread has one reference at most.
__device__ __forceinline__ int scan_chunk(int packed, int& all) {
    if (SHARED_SCANS) {  // Hillis and Steele, two rows by turns
        SHARED int rows[2][THREADS];
        const int thread = thread_index();
        rows[0][thread] = packed;
        block_sync();
        int row = 0;
        for (int step = 1; step < THREADS; step *= 2, row = 1 - row) {
            rows[1 - row][thread] = rows[row][thread] + (thread >= step ? rows[row][thread - step] : 0);
            block_sync();
        }
        const int here = rows[row][thread];
        all = rows[row][THREADS - 1];
        block_sync();
        return here - packed;
    }
    if (RUNS_SERIAL) return block_exclusive_scan(packed, all);
    SHARED int of_warp[CHUNK / 32];
    const unsigned lefts = warp_ballot(lefts_of(packed) != 0), rights = warp_ballot(rights_of(packed) != 0),
                   before = (1u << warp_lane()) - 1u;
    const int warp = thread_index() / WARP_LANES;
    if (warp_lane() == 0) of_warp[warp] = __popc(lefts) | __popc(rights) << 16;
    block_sync();
    int result = __popc(lefts & before) | __popc(rights & before) << 16;
    all = 0;
#pragma unroll
    for (int other = 0; other < CHUNK / 32; ++other) {
        if (other < warp) result += of_warp[other];
        all += of_warp[other];
    }
    block_sync();
    return result;
}

struct LeastOf {
    __device__ static float pick(float a, float b) { return min(a, b); }
    __device__ static float block(float value) { return block_min(value); }
};
struct GreatestOf {
    __device__ static float pick(float a, float b) { return max(a, b); }
    __device__ static float block(float value) { return block_max(value); }
};
template <class Operation>
__device__ __forceinline__ float reduce_chunk(float value) {
    if (!SHARED_REDUCTIONS) return Operation::block(value);
    SHARED float row[THREADS];
    const int thread = thread_index();
    row[thread] = value;
    block_sync();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (thread < step) row[thread] = Operation::pick(row[thread], row[thread + step]);
        block_sync();
    }
    const float result = row[0];
    block_sync();
    return result;
}

__device__ __forceinline__ Aabb reduce_box(const Aabb& box) {
    return {make_float3(reduce_chunk<LeastOf>(box.lower.x), reduce_chunk<LeastOf>(box.lower.y),
                        reduce_chunk<LeastOf>(box.lower.z)),
            make_float3(reduce_chunk<GreatestOf>(box.upper.x), reduce_chunk<GreatestOf>(box.upper.y),
                        reduce_chunk<GreatestOf>(box.upper.z))};
}
__device__ __forceinline__ Aabb box_of_chunk(const float4* references, ChunkRange range) {
    Aabb box = empty_aabb();
    for (int i : block_stride(range.last - range.first))
        box = merge(box, load_reference(references, range.first + i).box);
    return reduce_box(box);
}

// Makes a node's box as large as what the threads of a block found: six atomics per block. `shared`: room for six words
// of the block.
__device__ __forceinline__ void add_to_box(const Aabb& box, int* shared, int* node_box) {
    if (SHARED_REDUCTIONS) {
        const Aabb whole = reduce_box(box);
        for (int axis = 0; axis < 3 && thread_index() == 0; ++axis) {
            shared[axis] = ordered_int(along(whole.lower, axis));
            shared[3 + axis] = ordered_int(along(whole.upper, axis));
        }
    } else {
        for (int i : block_stride(BOX_WORDS)) shared[i] = ordered_int(i < 3 ? FLOAT_MAX : -FLOAT_MAX);
        block_sync();
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const float least = warp_min(along(box.lower, axis)), greatest = warp_max(along(box.upper, axis));
            if (warp_lane() != 0) continue;
            block_atomic_min(shared + axis, ordered_int(least));
            block_atomic_max(shared + 3 + axis, ordered_int(greatest));
        }
    }
    block_sync();
    for (int i : block_stride(BOX_WORDS)) {
        if (i < 3) atomic_min(node_box + i, shared[i]);
        else atomic_max(node_box + i, shared[i]);
    }
    block_sync();
}

// Adds what lies on either side of the middle of `cell` along each axis. One thread writes.
__device__ __forceinline__ void count_chunk(const float4* references, ChunkRange range, const Aabb& cell,
                                            int* side_counts) {
    int packed[3] = {0, 0, 0};
    for (int i : block_stride(range.last - range.first)) {
        const Aabb box = load_reference(references, range.first + i).box;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) packed[axis] += pack_sides(sides_of(box, axis, middle_of(cell, axis)));
    }
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        const int all = block_sum(packed[axis]);
        if (thread_index() != 0) continue;
        atomic_add(side_counts + axis, lefts_of(all));
        atomic_add(side_counts + 3 + axis, rights_of(all));
    }
}

// What lies on a side of a reference that lies on both. Cut boxes are those of what the plane leaves of the primitive,
// as far as they lie in the reference's own.
__device__ __forceinline__ Aabb piece_of(const Primitives& primitives, const Reference& reference, const Plan& plan,
                                         int side, int clips) {
    Aabb slab = reference.box;
    if (side == 0) set_along(slab.upper, plan.axis, plan.plane);
    else set_along(slab.lower, plan.axis, plan.plane);
    if (!clips) return slab;
    const Aabb whole = primitives.aabb_between(reference.prim_id, plan.axis, along(slab.lower, plan.axis),
                                               along(slab.upper, plan.axis));
    const float3 zero = make_float3(0.0f, 0.0f, 0.0f);
    const Aabb piece = {max(whole.lower, slab.lower) + zero, min(whole.upper, slab.upper) + zero};
    return is_empty(piece) ? slab : piece;
}

// A thread's part of a chunk: who goes to which side, and how many come before them there.
struct ChunkSides {
    int first, last, before, all;
};
__device__ __forceinline__ ChunkSides sides_of_chunk(const float4* references, const Plan& plan, ChunkRange range) {
    ChunkSides made;
    made.first = range.first + thread_index() * ITEMS;
    made.last = min(made.first + ITEMS, range.last);
    int packed = 0;
    for (int i = made.first; i < made.last; ++i) packed += pack_sides(plan.sides_at(references, i));
    made.before = scan_chunk(packed, made.all);
    return made;
}
struct SideBoxes {
    Aabb left, right;
};
// What one side gets, in two words of a reference each, whose last numbers mean nothing.
struct SideQuads {
    Quad lower, upper;

    __device__ __forceinline__ void grow(Quad low, Quad high) {
        lower = min(lower, low);
        upper = max(upper, high);
    }
    __device__ __forceinline__ Aabb box() const {
        return {make_float3(x_of(lower), y_of(lower), z_of(lower)), make_float3(x_of(upper), y_of(upper), z_of(upper))};
    }
};
// Gives the boxes of what a thread stored. Which side a reference goes to is as good as chance, so that only cut ones,
// which are few, take a branch: their primitives are asked for at once, and they are cut behind the others.
__device__ __forceinline__ SideBoxes store_sides(const Primitives& primitives, const Plan& plan,
                                                 const ChunkSides& sides_here, int left_base, int right_base, int clips,
                                                 float4* references) {
    const Quad least = splat_quad(-FLOAT_MAX), greatest = splat_quad(FLOAT_MAX);
    SideQuads on_left = {greatest, least}, on_right = {greatest, least};
    int left = left_base + lefts_of(sides_here.before), right = right_base + rights_of(sides_here.before);
    int3 cut[ITEMS];  // reference and both places
    int cut_count = 0;
    for (int i = sides_here.first; i < sides_here.last; ++i) {
        const Quad low = load_quad(references + 2 * (int64)i), high = load_quad(references + 2 * (int64)i + 1);
        const int sides = plan.sides_at(references, i), goes_right = sides >> 1;
        if (sides == 3) {
            cut[cut_count++] = make_int3(i, left++, right++);
            if (clips) primitives.prefetch_indices(__float_as_int(references[2 * (int64)i].w));
            continue;
        }
        const int64 place = left ^ ((left ^ right) & -goes_right);
        left += 1 - goes_right;
        right += goes_right;
        store_quad(references + 2 * place, low);
        store_quad(references + 2 * place + 1, high);
        on_left.grow(select(goes_right != 0, greatest, low), select(goes_right != 0, least, high));
        on_right.grow(select(goes_right != 0, low, greatest), select(goes_right != 0, high, least));
    }
    for (int i = 0; clips && i < cut_count; ++i)
        primitives.prefetch_points(__float_as_int(references[2 * (int64)cut[i].x].w));
    SideBoxes made = {on_left.box(), on_right.box()};
    for (int i = 0; i < cut_count; ++i) {
        const Reference reference = load_reference(references, cut[i].x);
        const Aabb left_piece = piece_of(primitives, reference, plan, 0, clips),
                   right_piece = piece_of(primitives, reference, plan, 1, clips);
        store_reference(references, cut[i].y, left_piece, reference.prim_id);
        store_reference(references, cut[i].z, right_piece, reference.prim_id);
        made.left = merge(made.left, left_piece);
        made.right = merge(made.right, right_piece);
    }
    return made;
}
