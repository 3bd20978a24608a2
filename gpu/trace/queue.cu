// Rays of one queue, or of two, into another without gaps: in their order, or in bins of alike directions. The order
// depends on nothing but the rays.
#include "gpu/device/loops.cuh"
#include "gpu/trace/queue.cuh"

__device__ __forceinline__ bool is_ray(const Queue& queue, int place) {
    return place < *queue.count && queue.row(6)[place] < queue.row(7)[place];
}

extern "C" __global__ void flag_rays(Queue source, int* flags) {
    for (int place : grid_stride(source.stride)) flags[place] = is_ray(source, place) ? 1 : 0;
}

// `places` are the exclusive sums of the flags.
extern "C" __global__ void move_rays(Queue source, const int* flags, const int* places, Queue to) {
    for (int place : grid_stride(source.stride)) {
        if (place == source.stride - 1) *to.count = places[place] + flags[place];
        if (!flags[place]) continue;
        for (int number = 0; number < RAY_ROWS + source.payload_rows; ++number)
            to.row(number)[places[place]] = source.row(number)[place];
    }
}

// Two queues whose rays at one place belong together, as those that go on from one hit: side by side, the first queue's
// before the second's. `counts` is how many a place has, `places` their exclusive sums.
extern "C" __global__ void count_pairs(Queue first, Queue second, int* counts) {
    for (int place : grid_stride(first.stride))
        counts[place] = (is_ray(first, place) ? 1 : 0) + (is_ray(second, place) ? 1 : 0);
}

__device__ __forceinline__ void move_ray(const Queue& source, int from, const Queue& to, int place) {
    if (place >= to.stride) return;
    for (int number = 0; number < RAY_ROWS + source.payload_rows; ++number)
        to.row(number)[place] = source.row(number)[from];
}

// Rays beyond the room of `to` stay where they are.
extern "C" __global__ void merge_rays(Queue first, Queue second, const int* counts, const int* places, Queue to) {
    for (int place : grid_stride(first.stride)) {
        if (place == first.stride - 1) *to.count = min(places[place] + counts[place], to.stride);
        if (counts[place] == 0) continue;
        const bool has_first = is_ray(first, place);
        if (has_first) move_ray(first, place, to, places[place]);
        if (is_ray(second, place)) move_ray(second, place, to, places[place] + (has_first ? 1 : 0));
    }
}

// The octant of a direction is the key, what is no ray comes last: a stable sort leaves the queue's order within a bin,
// and so the neighbourhood of the pixels that rays came from.
constexpr unsigned NO_RAY = 8u;
extern "C" __global__ void bin_rays(Queue source, unsigned* keys, unsigned* places) {
    for (int place : grid_stride(source.stride)) {
        unsigned key = NO_RAY;
        if (is_ray(source, place))
            key = (source.row(3)[place] < 0.0f ? 1u : 0u) | (source.row(4)[place] < 0.0f ? 2u : 0u) |
                  (source.row(5)[place] < 0.0f ? 4u : 0u);
        keys[place] = key;
        places[place] = (unsigned)place;
    }
}

extern "C" __global__ void gather_rays(Queue source, const unsigned* keys, const unsigned* places, Queue to) {
    for (int i : grid_stride(source.stride)) {
        const bool is_kept = keys[i] < NO_RAY;
        if (is_kept && (i == source.stride - 1 || keys[i + 1] == NO_RAY)) *to.count = i + 1;
        if (i == 0 && !is_kept) *to.count = 0;
        if (!is_kept) continue;
        for (int number = 0; number < RAY_ROWS + source.payload_rows; ++number)
            to.row(number)[i] = source.row(number)[places[i]];
    }
}
