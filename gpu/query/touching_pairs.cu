// Marks what touches of different objects, and counts pairs: each record of a structure asks, in the order of its
// leaves, for what belongs to objects of greater rank. For structures that list no primitive several times.
//
// Unit constant: GROUP, records side by side that visit the tree together, as the box around them.
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/query/input.cuh"

using Shape = decltype(static_cast<const Records*>(nullptr)->shape(0));

struct Asking {
    Shape shapes[GROUP];
    Aabb boxes[GROUP];
    int ranks[GROUP], prim_ids[GROUP];
    int count, least_rank;
};

struct TouchingPairs {
    const QueryInput* input;
    const Asking* asking;
    Pointer<unsigned> marks;
    int pairs, primitives;

    __device__ __forceinline__ void mark(int prim_id) {
        if (atomic_max(&marks[prim_id], 1u) == 0u) ++primitives;
    }
    __device__ __forceinline__ bool operator()(int reference, const BoxRegion& region) {
        const Records& records = input->records;
        const Aabb box = records.aabb(reference);
        if (!overlap(box, region.box)) return true;
        const int prim_id = records.prim_id(reference), rank = input->question.rank_of(prim_id);
        if (rank <= asking->least_rank) return true;
        for (int i = 0; i < asking->count; ++i) {
            if (rank <= asking->ranks[i] || !overlap(box, asking->boxes[i])) continue;
            if (!touches(asking->shapes[i], records.shape(reference))) continue;
            ++pairs;
            mark(prim_id);
            mark(asking->prim_ids[i]);
        }
        return true;
    }
};

// `marks`: 0 before, 1 of each primitive that touches one; `found` are pairs and primitives.
extern "C" __global__ void mark_touching(QueryInput input, int count, unsigned* marks, uint64* found) {
    const int groups = (int)(((int64)count + GROUP - 1) / GROUP);
    int64 pairs = 0, primitives = 0;
    for (int group : grid_stride(groups)) {
        const int first = group * GROUP, last = min(count, first + GROUP);
        Asking asking;
        asking.count = 0;
        asking.least_rank = input.question.count;
        BoxRegion region = {empty_aabb()};
        for (int reference = first; reference < last; ++reference) {
            const int prim_id = input.records.prim_id(reference), object = input.question.object_of(prim_id);
            const Aabb part = input.question.asking_part(object, input.records.aabb(reference));
            if (is_empty(part)) continue;
            const int place = asking.count++;
            asking.shapes[place] = input.records.shape(reference);
            asking.boxes[place] = part;
            asking.prim_ids[place] = prim_id;
            asking.ranks[place] = input.question.ranks[object];
            asking.least_rank = min(asking.least_rank, asking.ranks[place]);
            region.box = merge(region.box, part);
        }
        if (asking.count == 0) continue;
        TouchingPairs touching = {&input, &asking, marks, 0, 0};
        visit(input.tree, region, touching);
        pairs += touching.pairs;
        primitives += touching.primitives;
    }
    if (pairs > 0) atomic_add(&found[0], (uint64)pairs);
    if (primitives > 0) atomic_add(&found[1], (uint64)primitives);
}
