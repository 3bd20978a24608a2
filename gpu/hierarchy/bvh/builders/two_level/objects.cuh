// The objects of a scene as the two-level tree numbers them. Each holds neighbouring references, in the order of the
// scene; all together hold all.
//
// Node ids after Karras leave one of an object's numbers free. Every object but the last keeps its first one free, for
// the tree above: as many ids as that needs, and the first of them is the root's, 0. The root of an object's tree has
// its last number, as if it were a left child.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

struct Objects {
    Pointer<const int2> ranges;  // first reference and count, at least 1
    Pointer<int> roots;  // of the objects' trees, as child words
    int count;

    __device__ int first(int object) const { return ranges[object].x; }
    __device__ int last(int object) const { return ranges[object].x + ranges[object].y - 1; }
    __device__ int root_id(int object) const { return object < count - 1 ? last(object) : first(object); }
    __device__ int root(int object) const { return roots[object]; }
    // An id of the tree above, by Karras' number there.
    __device__ int id_above(int number) const { return first(number); }

    // The object that a reference belongs to, which lies in [low, high].
    __device__ int holder(int reference, int low, int high) const {
        while (low < high) {
            const int middle = low + (high - low + 1) / 2;
            if (first(middle) <= reference) low = middle;
            else high = middle - 1;
        }
        return low;
    }
};

// A piece of the references for one block: of one object, or several objects that are small, whole.
//  byte  0       4       8              12            16
//        | first | count | first object | last object |
__device__ __forceinline__ bool is_of_one_object(int4 tile) { return tile.z == tile.w; }

// Places in a cube around a box, in [0, 1]. Everything is halved, so that no finite coordinate overflows, and a box of
// denormal size is magnified, so that its reciprocal does not.
struct Cube {
    float3 lower;
    float magnified, scale;

    __device__ Cube(float3 box_lower, float3 box_upper) : lower(box_lower * 0.5f) {
        const float3 size = box_upper * 0.5f - lower;
        const float largest = max(size.x, max(size.y, size.z));
        magnified = largest < TINY_SCENE ? TINY_SCENE_MAGNIFIED : 1.0f;
        scale = largest > 0.0f ? 1.0f / (largest * magnified) : 0.0f;
    }
    __device__ float3 place(const Aabb& box) const {
        return is_empty(box) ? make_float3(1.0f, 1.0f, 1.0f) : (centre(box) * 0.5f - lower) * magnified * scale;
    }
};
