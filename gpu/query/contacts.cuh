// Objects whose primitives may touch, by the boxes of objects alone: who asks, who is found, and where.
// from gpu.query.contacts import CONTACT_WORDS, MOST_PARTS, ContactRows
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/query/regions.cuh"

__device__ __forceinline__ Aabb common(const Aabb& a, const Aabb& b) {
    return {max(a.lower, b.lower), min(a.upper, b.upper)};
}

// Where others reach into the box of an object that asks: `box` around all such parts, and these themselves where they
// are at most MOST_PARTS; `count` is -1 where they are more.
struct Contact {
    Aabb box;
    int count;
    Aabb parts[MOST_PARTS];

    // Whether something of the object that lies in a box may touch another one.
    __device__ __forceinline__ bool reaches(const Aabb& other) const {
        if (!overlap(box, other)) return false;
        if (count < 0) return true;
        for (int i = 0; i < count; ++i)
            if (overlap(parts[i], other)) return true;
        return false;
    }
};
static_assert(sizeof(Contact) == 4 * CONTACT_WORDS, "contacts.py makes room for these");

struct Contacts : ContactRows {
    __device__ __forceinline__ int object_of(int prim_id) const {
        int low = 0, high = count - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (ends[middle] > prim_id) high = middle;
            else low = middle + 1;
        }
        return low;
    }
    __device__ __forceinline__ int rank_of(int prim_id) const { return ranks[object_of(prim_id)]; }

    // The part of a primitive's box in which it may touch what it asks for; empty where it asks for nothing.
    __device__ __forceinline__ Aabb asking_part(int object, const Aabb& own) const {
        const Contact& contact = as<const Contact>(contacts)[object];
        return contact.reaches(own) ? common(contact.box, own) : empty_aabb();
    }
};
