// Boxes cut along all axes: a reference that was cut is bounded anew by the part of its primitive in its box, and the events of the level are sorted
// again, as Wu, Zhao and Liu (2011) have it. What this costs is what Kolodzey's cuts along one axis save.
#include "gpu/hierarchy/kdtree/builders/sah_events/event_keys.cuh"

constexpr int MOST_CORNERS = 9;  // of a triangle that six planes have cut

// The corners of a convex polygon that planes across the axes cut (Sutherland and Hodgman 1974).
struct Polygon {
    float3 corners[MOST_CORNERS];
    int count;

    // Keep what lies on one side of a plane: above it where `sign` is 1, below it where it is -1.
    __device__ __forceinline__ void cut(int axis, float plane, float sign) {
        Polygon kept;
        kept.count = 0;
        for (int i = 0; i < count; ++i) {
            const float3 a = corners[i], b = corners[i + 1 == count ? 0 : i + 1];
            const float from = (along(a, axis) - plane) * sign, to = (along(b, axis) - plane) * sign;
            if (from >= 0.0f && kept.count < MOST_CORNERS) kept.corners[kept.count++] = a;
            if ((from < 0.0f) == (to < 0.0f) || kept.count == MOST_CORNERS) continue;
            float3 point = a + (b - a) * (from / (from - to));
            set_along(point, axis, plane);
            kept.corners[kept.count++] = point;
        }
        *this = kept;
    }
};

// Bounds of the part of a shape inside a box; what rounding may have lost is added, and never more than the box is given.
template <class Shape> __device__ __forceinline__ Aabb bounds_inside(const Shape& triangle, const Aabb& box, decltype(Shape::a)* = nullptr) {
    Polygon part = {{triangle.a, triangle.b, triangle.c}, 3};
    for (int axis = 0; axis < 3; ++axis) {
        part.cut(axis, along(box.lower, axis), 1.0f);
        part.cut(axis, along(box.upper, axis), -1.0f);
    }
    Aabb bounds = empty_aabb();
    bool is_known = part.count > 0;
    for (int i = 0; i < part.count; ++i) {
        is_known = is_known && is_finite(part.corners[i]);
        bounds = grow(bounds, part.corners[i]);
    }
    const float3 a = triangle.a, b = triangle.b, c = triangle.c;
    const float3 slack = max(max(a, -a), max(max(b, -b), max(c, -c))) * 4.8e-7f;
    const Aabb inside = {max(bounds.lower - slack, box.lower), min(bounds.upper + slack, box.upper)};
    return is_known && !is_empty(inside) ? inside : box;
}
template <class Shape> __device__ __forceinline__ Aabb bounds_inside(const Shape& sphere, const Aabb& box, decltype(Shape::radius)* = nullptr) {
    Aabb inside = box;
    for (int axis = 0; axis < 3; ++axis) {
        float left = sphere.radius * sphere.radius;  // of the radius' square, where the box is farther off along the other axes
        for (int other = 0; other < 3; ++other) {
            const float centre = along(sphere.centre, other);
            const float away = max(max(along(box.lower, other) - centre, centre - along(box.upper, other)), 0.0f);
            if (other != axis) left -= away * away;
        }
        const float centre = along(sphere.centre, axis), reach = sqrtf(max(left, 0.0f));
        const float slack = (max(centre, -centre) + sphere.radius) * 4.8e-7f;
        set_along(inside.lower, axis, max(along(box.lower, axis), centre - reach - slack));
        set_along(inside.upper, axis, min(along(box.upper, axis), centre + reach + slack));
    }
    return is_finite(inside.lower) && is_finite(inside.upper) && !is_empty(inside) ? inside : box;
}

extern "C" __global__ void clip_references(Primitives primitives, const int* level, int room, float* reference_words) {
    const References references = {reference_words, room};
    for (int i : grid_stride(level[LEVEL_REFERENCES])) {
        const Reference reference = references.load(i);
        if ((reference.prim_id & CUT) == 0) continue;
        const int prim_id = reference.prim_id & ~CUT;
        const Aabb box = bounds_inside(primitives.shape(primitives.corners(prim_id)), {reference.lower, reference.upper});
        references.store(i, box.lower, box.upper, prim_id, reference.slot);
    }
}

// Of an axis' events:  bit 34: node slot | 2: plane | 0: rank among equal planes.  What there is room for and is not there is sorted behind all others.
extern "C" __global__ void write_level_keys(const int* level, int room, int axis, float* reference_words, uint64* keys, unsigned* events) {
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

extern "C" __global__ void take_level_events(const int* level, int room, int axis, const unsigned* sorted, int* events) {
    for (int i : grid_stride(2 * level[LEVEL_REFERENCES])) events[axis * 2 * (int64)room + i] = (int)sorted[i];
}
