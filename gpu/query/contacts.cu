// The boxes of objects at this instant, and where those that ask meet the others' (contacts.cuh).
#include "gpu/device/block.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/query/contacts.cuh"

// `boxes`: lower and upper corner of each object, as ordered integers.
extern "C" __global__ void clear_boxes(int* boxes, int count) {
    for (int i : grid_stride(6 * count)) boxes[i] = ordered_int(i % 6 < 3 ? FLOAT_MAX : -FLOAT_MAX);
}

// A tile a block: object, first primitive, how many there are, and nothing.
extern "C" __global__ void bound_objects(PrimitiveView primitives, const int* tiles, int tile_count, int* boxes) {
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        const int object = tiles[4 * tile], first = tiles[4 * tile + 1], count = tiles[4 * tile + 2];
        Aabb box = empty_aabb();
        for (int i : block_stride(count)) box = merge(box, primitives.aabb(first + i));
        const float3 lower = make_float3(block_min(box.lower.x), block_min(box.lower.y), block_min(box.lower.z));
        const float3 upper = make_float3(block_max(box.upper.x), block_max(box.upper.y), block_max(box.upper.z));
        if (thread_index() != 0) continue;
        int* of_object = &boxes[6 * object];
        atomic_min_float(of_object, lower.x);
        atomic_min_float(of_object + 1, lower.y);
        atomic_min_float(of_object + 2, lower.z);
        atomic_max_float(of_object + 3, upper.x);
        atomic_max_float(of_object + 4, upper.y);
        atomic_max_float(of_object + 5, upper.z);
    }
}

__device__ __forceinline__ Aabb box_of(const int* boxes, int object) {
    const int* at = &boxes[6 * object];
    return {make_float3(ordered_float(at[0]), ordered_float(at[1]), ordered_float(at[2])),
            make_float3(ordered_float(at[3]), ordered_float(at[4]), ordered_float(at[5]))};
}

// An object that asks a thread. Where there are too many objects to compare each with all (`is_narrowed` is 0) its own
// box is where others may reach into it.
extern "C" __global__ void find_contacts(const int* boxes, const int* ranks, int count, int is_narrowed,
                                         Contact* contacts) {
    for (int i : grid_stride(count)) {
        Contact found;
        found.box = empty_aabb();
        found.count = 0;
        const Aabb own = box_of(boxes, i);
        const bool asks = ranks[i] >= 0 && !is_empty(own);
        if (asks && is_narrowed == 0) {
            found.box = own;
            found.count = -1;
        }
        for (int other = 0; asks && is_narrowed != 0 && other < count; ++other) {
            if (ranks[other] <= ranks[i]) continue;
            const Aabb part = common(own, box_of(boxes, other));
            if (is_empty(part)) continue;
            found.box = merge(found.box, part);
            if (found.count >= 0 && found.count < MOST_PARTS) found.parts[found.count++] = part;
            else found.count = -1;
        }
        contacts[i].box = found.box;
        contacts[i].count = found.count;
        for (int part = 0; part < found.count; ++part) contacts[i].parts[part] = found.parts[part];
    }
}
