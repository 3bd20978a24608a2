// Rays of one queue into another without gaps: in their order, or in bins of alike directions. The order depends on nothing but the rays.
#include "gpu/device/loops.cuh"
#include "gpu/trace/queue.cuh"

__device__ __forceinline__ bool is_ray(const Queue& queue, int place) { return place < *queue.count && queue.row(6)[place] < queue.row(7)[place]; }

extern "C" __global__ void flag_rays(Queue from, int* flags) {
    for (int place : grid_stride(from.stride)) flags[place] = is_ray(from, place) ? 1 : 0;
}

// `places` are the exclusive sums of the flags.
extern "C" __global__ void move_rays(Queue from, const int* flags, const int* places, Queue to) {
    for (int place : grid_stride(from.stride)) {
        if (place == from.stride - 1) *to.count = places[place] + flags[place];
        if (!flags[place]) continue;
        for (int number = 0; number < RAY_ROWS + from.payload_rows; ++number) to.row(number)[places[place]] = from.row(number)[place];
    }
}

// The octant of a direction is the key, what is no ray comes last: a stable sort leaves the queue's order within a bin, and so the neighbourhood
// of the pixels that rays came from.
constexpr unsigned NO_RAY = 8u;
extern "C" __global__ void bin_rays(Queue from, unsigned* keys, unsigned* places) {
    for (int place : grid_stride(from.stride)) {
        unsigned key = NO_RAY;
        if (is_ray(from, place)) key = (from.row(3)[place] < 0.0f ? 1u : 0u) | (from.row(4)[place] < 0.0f ? 2u : 0u) | (from.row(5)[place] < 0.0f ? 4u : 0u);
        keys[place] = key;
        places[place] = (unsigned)place;
    }
}

extern "C" __global__ void gather_rays(Queue from, const unsigned* keys, const unsigned* places, Queue to) {
    for (int i : grid_stride(from.stride)) {
        const bool is_kept = keys[i] < NO_RAY;
        if (is_kept && (i == from.stride - 1 || keys[i + 1] == NO_RAY)) *to.count = i + 1;
        if (i == 0 && !is_kept) *to.count = 0;
        if (!is_kept) continue;
        for (int number = 0; number < RAY_ROWS + from.payload_rows; ++number) to.row(number)[i] = from.row(number)[places[i]];
    }
}
