// What a traversal tells on its way, written down ray by ray: for a ray debugger. The unit names Tree, Records,
// RaySource and OnPrimitive as trace.cu does. Unit constant: IS_ASKED, whether the traversal shows the same nodes on
// every target, as it does to the steps ray type.
#include "gpu/device/loops.cuh"
#include "gpu/trace/traversals.cuh"

struct WriteDown {
    static constexpr bool IS_ASKED = ::IS_ASKED, HEARS_EVENTS = true;

    int first;  // ray of the pack
    int capacity;
    int* counts;
    int* events;
    float* entries;

    __device__ void operator()(int, int, bool, Mask, int = 0) {}
    __device__ void add_boxes(int, Mask) {}
    __device__ void on_children_told() {}
    __device__ void on_event(Event event, int id, float entry, int lane) {
        const int64 ray = first + lane, at = counts[ray]++;
        if (at >= capacity) return;
        events[2 * (ray * capacity + at)] = (int)event;
        events[2 * (ray * capacity + at) + 1] = id;
        entries[ray * capacity + at] = entry;
    }
};

// `counts` are 0 before, and count the events beyond `capacity` too. `events`: (rays, capacity, 2), kind and id;
// `entries`: (rays, capacity); `rows`: (rays, 8), origin, direction, t_min and t_max, or null.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    write_down_rays(TraceInput input, int pack_count, int capacity, int* prim_id, float* t, int* counts, int* events,
                    float* entries, float* rows) {
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        Rays rays = rays_of(input.source, first);
        OnPrimitive on_primitive = {no_hits()};
        WriteDown on_node = {first, capacity, counts, events, entries};
        admit_rays(rays);
        for (int i = 0; rows != nullptr && i < PACK; ++i) {
            float* row = rows + 8 * (int64)(first + i);
            row[0] = lane(rays.ox, i);
            row[1] = lane(rays.oy, i);
            row[2] = lane(rays.oz, i);
            row[3] = lane(rays.dx, i);
            row[4] = lane(rays.dy, i);
            row[5] = lane(rays.dz, i);
            row[6] = lane(rays.t_min, i);
            row[7] = lane(rays.t_max, i);
        }
        if (any(rays.active)) traverse(input.tree, input.records, rays, on_primitive, on_node);
        store(prim_id + first, on_primitive.hits.prim_id);
        store(t + first, on_primitive.hits.t);
    }
}
