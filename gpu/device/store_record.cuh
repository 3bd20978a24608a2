// How every kind of record is written: packed from the primitive's shape, then stored in words of 16 bytes.
#pragma once
#include "gpu/device/aabb.cuh"

// The record holds the scene's number of the primitive. Returns its box, which a builder wants next.
template <class Records, class Primitives>
__device__ __forceinline__ Aabb store_record(float4* records, int reference, const Primitives& primitives,
                                             int prim_id) {
    float4 parts[Records::RECORD_FLOAT4S];
    const Aabb box = Records::pack(primitives.shape(primitives.corners(prim_id)), primitives.scene_id(prim_id), parts);
    float4* at = &records[Records::RECORD_FLOAT4S * (int64)reference];
    for (int k = 0; k < Records::RECORD_FLOAT4S; ++k) at[k] = parts[k];
    return box;
}
