// Boxes cut along all axes: a reference that was cut is bounded anew by the part of its primitive in its box, and the
// events of the level are sorted again, as Wu, Zhao and Liu (2011) have it. What this costs is what Kolodzey's cuts
// along one axis save.
#include "gpu/hierarchy/kdtree/builders/sah_events/event_keys.cuh"

extern "C" __global__ void clip_references(Primitives primitives, const int* level, int room, float* reference_words) {
    const References references = {reference_words, room};
    for (int i : grid_stride(level[LEVEL_REFERENCES])) {
        const Reference reference = references.load(i);
        if ((reference.prim_id & CUT) == 0) continue;
        const int prim_id = reference.prim_id & ~CUT;
        Aabb box = {reference.lower, reference.upper};
        bound_inside(primitives.shape(primitives.corners(prim_id)), box);
        references.store(i, box.lower, box.upper, prim_id, reference.slot);
    }
}

// Of an axis' events:  bit 34: node slot | 2: plane | 0: rank among equal planes.  What there is room for and is not
// there is sorted behind all others.
extern "C" __global__ void write_level_keys(const int* level, int room, int axis, float* reference_words, uint64* keys,
                                            unsigned* events) {
    const References references = {reference_words, room};
    const int count = level[LEVEL_REFERENCES];
    for (int event : grid_stride(2 * room)) {
        uint64 key = ~0ull;
        if (event < 2 * count) {
            const float plane = references.plane(event, axis), other = references.plane(event ^ 1, axis);
            const uint64 slot = (uint64)(unsigned)references.slot(reference_of(event));
            key = slot << 34 | (uint64)ordered_plane(plane) << 2 | (uint64)rank_of(plane == other, event & 1);
        }
        keys[event] = key;
        events[event] = (unsigned)event;
    }
}

extern "C" __global__ void take_level_events(const int* level, int room, int axis, const unsigned* sorted,
                                             int* events) {
    for (int i : grid_stride(2 * level[LEVEL_REFERENCES])) events[axis * 2 * (int64)room + i] = (int)sorted[i];
}
