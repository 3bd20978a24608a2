// Segments: a block's positions in ranges of neighbours that are worked on at once, a position a thread on CUDA, one
// after the other on the host.
//
//     PositionValues<T, POSITIONS> values              one value a position, values[i]: a register of its thread, or an
//     array; only the own is used for (int i : block_stride(POSITIONS)) ...        each position once
//     segment_scan(values, segments, join)             for each position the join of its segment's values up to it,
//     itself included segment_sides(values, segments, join, rest)      the same, and in `rest` the join of those after
//     it; where there are none it stays as it was
//
//     tile_segment_scan, tile_segment_sides(count, ...)   the same for the first `count` items of a warp's tile
//     (device/tile.cuh), without a barrier
//
// Blocks have POSITIONS threads, all of which call the collectives together. A T is made of 32-bit words; `join` is
// associative and commutative. What a segment of one position gets is not to be read.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"

// The positions [first, end); the same for each of them.
struct Segment {
    int first, end;
    __device__ int size() const { return end - first; }
};

#ifdef CUDA_ON_HOST
template <class T, int POSITIONS>
struct PositionValues {
    T items[POSITIONS];
    T& operator[](int i) { return items[i]; }
    const T& operator[](int i) const { return items[i]; }
};
template <class T, int POSITIONS, class Join>
inline PositionValues<T, POSITIONS> segment_scan(const PositionValues<T, POSITIONS>& values,
                                                 const PositionValues<Segment, POSITIONS>& segments, const Join& join) {
    PositionValues<T, POSITIONS> scanned;
    for (int i = 0; i < POSITIONS; i = segments[i].end) {
        if (segments[i].size() == 1) continue;
        scanned[i] = values[i];
        for (int next = i + 1; next < segments[i].end; ++next) scanned[next] = join(scanned[next - 1], values[next]);
    }
    return scanned;
}
template <class T, int POSITIONS, class Join>
inline PositionValues<T, POSITIONS> segment_sides(const PositionValues<T, POSITIONS>& values,
                                                  const PositionValues<Segment, POSITIONS>& segments, const Join& join,
                                                  PositionValues<T, POSITIONS>& rest) {
    for (int i = 0; i < POSITIONS; i = segments[i].end) {
        if (segments[i].size() == 1) continue;
        const int last = segments[i].end - 1;
        rest[last - 1] = values[last];
        for (int next = last - 2; next >= i; --next) rest[next] = join(values[next + 1], rest[next + 1]);
    }
    return segment_scan(values, segments, join);
}
template <class T, class Join>
inline TileValues<T> tile_segment_scan(int count, const TileValues<T>& values, const TileValues<Segment>& segments,
                                       const Join& join) {
    TileValues<T> scanned;
    for (int i = 0; i < count; ++i) scanned[i] = i > segments[i].first ? join(scanned[i - 1], values[i]) : values[i];
    return scanned;
}
template <class T, class Join>
inline TileValues<T> tile_segment_sides(int count, const TileValues<T>& values, const TileValues<Segment>& segments,
                                        const Join& join, TileValues<T>& rest) {
    for (int i = count - 2; i >= 0; --i) {
        if (i + 1 < segments[i].end)
            rest[i] = i + 2 < segments[i].end ? join(values[i + 1], rest[i + 1]) : values[i + 1];
    }
    return tile_segment_scan(count, values, segments, join);
}
#else
template <class T, int POSITIONS>
struct PositionValues {
    T item = {};
    __device__ __forceinline__ T& operator[](int) { return item; }
    __device__ __forceinline__ const T& operator[](int) const { return item; }
};
// Within warps by shuffles, as many rounds as the longest segment needs; then each position goes through the warps that
// have a part of its segment.
template <class T, int POSITIONS, class Join>
__device__ __forceinline__ PositionValues<T, POSITIONS> segment_scan(const PositionValues<T, POSITIONS>& values,
                                                                     const PositionValues<Segment, POSITIONS>& segments,
                                                                     const Join& join) {
    __shared__ T tails[POSITIONS / 32];
    const int i = threadIdx.x, lane = i & 31, warp = i / 32, first = segments.item.first;
    T scanned = values.item;
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
        const bool reaches = lane >= step && i - step >= first;
        if (!__any_sync(WARP_ALL, reaches)) break;
        const T below = warp_read_words(scanned, lane - step);
        if (reaches) scanned = join(below, scanned);
    }
    if (lane == 31) tails[warp] = scanned;
    __syncthreads();
#pragma unroll 1
    for (int before = first / 32; before < warp; ++before) scanned = join(tails[before], scanned);
    __syncthreads();
    return {scanned};
}
template <class T, int POSITIONS, class Join>
__device__ __forceinline__ PositionValues<T, POSITIONS> segment_sides(
    const PositionValues<T, POSITIONS>& values, const PositionValues<Segment, POSITIONS>& segments, const Join& join,
    PositionValues<T, POSITIONS>& rest) {
    __shared__ T tails[POSITIONS / 32], heads[POSITIONS / 32];
    const int i = threadIdx.x, lane = i & 31, warp = i / 32, first = segments.item.first, end = segments.item.end;
    T up = values.item, down = values.item;
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
        const bool reaches_up = lane >= step && i - step >= first, reaches_down = lane + step < 32 && i + step < end;
        if (!__any_sync(WARP_ALL, reaches_up)) break;
        const T below = warp_read_words(up, lane - step);
        if (reaches_up) up = join(below, up);
        const T above = warp_read_words(down, lane + step);
        if (reaches_down) down = join(down, above);
    }
    if (lane == 31) tails[warp] = up;
    if (lane == 0) heads[warp] = down;
    __syncthreads();
#pragma unroll 1
    for (int before = first / 32; before < warp; ++before) up = join(tails[before], up);
    const T next = warp_read_words(down, lane + 1);
    if (i + 1 < end) {
        rest.item = lane < 31 ? next : heads[warp + 1];
#pragma unroll 1
        for (int after = warp + (lane < 31 ? 1 : 2); after <= (end - 1) / 32; ++after)
            rest.item = join(rest.item, heads[after]);
    }
    __syncthreads();
    return {up};
}
template <class T, class Join>
__device__ __forceinline__ TileValues<T> tile_segment_scan(int, const TileValues<T>& values,
                                                           const TileValues<Segment>& segments, const Join& join) {
    const int lane = warp_lane(), first = segments.item.first;
    T scanned = values.item;
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
        const bool reaches = lane - step >= first;
        if (!__any_sync(WARP_ALL, reaches)) break;
        const T below = warp_read_words(scanned, lane - step);
        if (reaches) scanned = join(below, scanned);
    }
    return {scanned};
}
template <class T, class Join>
__device__ __forceinline__ TileValues<T> tile_segment_sides(int, const TileValues<T>& values,
                                                            const TileValues<Segment>& segments, const Join& join,
                                                            TileValues<T>& rest) {
    const int lane = warp_lane(), first = segments.item.first, end = segments.item.end;
    T up = values.item, down = values.item;
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
        const bool reaches_up = lane - step >= first, reaches_down = lane + step < end;
        if (!__any_sync(WARP_ALL, reaches_up)) break;
        const T below = warp_read_words(up, lane - step);
        if (reaches_up) up = join(below, up);
        const T above = warp_read_words(down, lane + step);
        if (reaches_down) down = join(down, above);
    }
    const T next = warp_read_words(down, lane + 1);
    if (lane + 1 < end) rest.item = next;
    return {up};
}
#endif
