// What a traversal tells while it goes, written down ray by ray. The unit names Tree, Records, RaySource and
// OnPrimitive as trace.cu does. Unit constants: IS_ASKED, whether the traversal shows the same nodes on every target;
// CAPACITY, the events of a ray that are kept.
#include "gpu/device/loops.cuh"
#include "gpu/trace/traversals.cuh"

struct WriteDown {
    static constexpr bool IS_ASKED = ::IS_ASKED, HEARS_EVENTS = true;

    int first;  // ray of the pack
    int* counts;
    int* events;
    float* entries;

    __device__ void operator()(int, int, bool, Mask, int = 0) {}
    __device__ void add_boxes(int, Mask) {}
    __device__ void on_event(Event event, int id, float entry, int lane) {
        const int64 ray = first + lane, at = counts[ray]++;
        if (at >= CAPACITY) return;
        events[2 * (ray * CAPACITY + at)] = (int)event;
        events[2 * (ray * CAPACITY + at) + 1] = id;
        entries[ray * CAPACITY + at] = entry;
    }
};

// `counts` are 0 before. `events`: (rays, CAPACITY, 2), kind and id; `entries`: (rays, CAPACITY).
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_events(TraceInput input, int pack_count, int* prim_id, int* counts, int* events, float* entries) {
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        Rays rays = rays_of(input.source, first);
        OnPrimitive on_primitive = {no_hits()};
        WriteDown on_node = {first, counts, events, entries};
        if (any(rays.active)) traverse(input.tree, input.records, rays, on_primitive, on_node);
        store(prim_id + first, on_primitive.hits.prim_id);
    }
}
