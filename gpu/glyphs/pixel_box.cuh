// Boxes of pixels.
#pragma once
#include "gpu/device/types.cuh"

// Pixels of a picture's axis: from `first` up to, not including, `end`. Of a pack's spheres `Whole` is Int.
template <class Whole>
struct PixelRangeOf {
    Whole first, end;
};
using PixelRange = PixelRangeOf<int>;
template <class Whole>
struct PixelBoxOf {
    PixelRangeOf<Whole> x, y;
    __device__ __forceinline__ bool is_empty() const { return x.first >= x.end || y.first >= y.end; }
};
using PixelBox = PixelBoxOf<int>;

constexpr PixelBox NO_PIXELS = {{0, 0}, {0, 0}};
__device__ __forceinline__ PixelBox pixels_or_none(const PixelBox& box) { return box.is_empty() ? NO_PIXELS : box; }

// Boxes are kept in eight bytes: two 16-bit numbers a range.
__device__ __forceinline__ uint2 packed(const PixelBox& box) {
    return make_uint2((unsigned)box.x.first | (unsigned)box.x.end << 16,
                      (unsigned)box.y.first | (unsigned)box.y.end << 16);
}
__device__ __forceinline__ PixelBox unpacked(uint2 box) {
    return {{(int)(box.x & 0xffffu), (int)(box.x >> 16)}, {(int)(box.y & 0xffffu), (int)(box.y >> 16)}};
}

__device__ __forceinline__ PixelRange both(PixelRange a, PixelRange b) {
    return {max(a.first, b.first), min(a.end, b.end)};
}
__device__ __forceinline__ PixelBox both(const PixelBox& a, const PixelBox& b) {
    return {both(a.x, b.x), both(a.y, b.y)};
}

//  byte  0      12       16    24       32
//        | centre | radius | box | unused |
struct alignas(16) SphereStruct {
    float4 sphere;
    uint2 box, unused;
};
static_assert(sizeof(SphereStruct) == 32, "two 16-byte loads");
