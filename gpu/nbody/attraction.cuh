// What one body does to a pack of others: the softened attraction of Plummer, a pack of bodies at a time.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/lanes.cuh"

// Acceleration and potential, a lane a body.
struct PackField {
    Real x, y, z, potential;

    __device__ __forceinline__ void add(const PackField& other) {
        x = x + other.x;
        y = y + other.y;
        z = z + other.z;
        potential = potential + other.potential;
    }
};

__device__ __forceinline__ PackField no_field() { return {splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f)}; }

struct PackPlaces {
    Real x, y, z;
};

// Bodies [first, first + PACK) of places, those past `last` at the place of the last one.
__device__ __forceinline__ PackPlaces load_places(const float4* bodies, int first, int last) {
    PackPlaces places = {};
    for (int i = 0; i < PACK; ++i) {
        const float4 body = bodies[min(first + i, last - 1)];
        set_lane(places.x, i, body.x);
        set_lane(places.y, i, body.y);
        set_lane(places.z, i, body.z);
    }
    return places;
}

__device__ __forceinline__ void store_field(float4* field, int first, int last, const PackField& sum) {
    for (int i = 0; i < PACK && first + i < last; ++i) {
        field[first + i] = make_float4(lane(sum.x, i), lane(sum.y, i), lane(sum.z, i), lane(sum.potential, i));
    }
}

// A body of `mass` at `source` attracts the pack.
__device__ __forceinline__ void attract(PackField& sum, const PackPlaces& at, float4 source, Real mass,
                                        float softening2) {
    const Real x = splat(source.x) - at.x, y = splat(source.y) - at.y, z = splat(source.z) - at.z;
    const Real squared = lanes_fma(x, x, lanes_fma(y, y, lanes_fma(z, z, splat(softening2))));
    const Mask is_apart = splat(LEAST_SEPARATION2) < squared;
    const Real inverse = select(is_apart, splat(1.0f) / lanes_sqrt(squared), splat(0.0f));
    const Real weight = mass * inverse, pull = weight * (inverse * inverse);
    sum.x = lanes_fma(pull, x, sum.x);
    sum.y = lanes_fma(pull, y, sum.y);
    sum.z = lanes_fma(pull, z, sum.z);
    sum.potential = sum.potential - weight;
}

// Bodies [first, first + count) attract the pack, but for the one whose number is that of the lane.
template <bool HAS_SELF>
__device__ __forceinline__ PackField attract_all(const PackPlaces& at, const float4* bodies, int count, Int own,
                                                 float softening2) {
    PackField sum = no_field();
    for (int j = 0; j < count; ++j) {
        const float4 body = bodies[j];
        const Real mass = splat(body.w);
        attract(sum, at, body, HAS_SELF ? select(own == splat_int(j), splat(0.0f), mass) : mass, softening2);
    }
    return sum;
}
