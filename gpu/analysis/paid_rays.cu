// How much each ray paid in chosen nodes, or for chosen primitives: nodes entered and primitives tested there, added to
// its pixel. Slots are those of node_counts.cu; the unit names Tree, Records, RaySource and OnPrimitive as trace.cu
// does.
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/trace/traversals.cuh"

struct CountPaid {
    static constexpr bool IS_ASKED = true, HEARS_EVENTS = true;

    const uint8* nodes;  // 1: chosen
    const uint8* primitives;
    int node_space;
    int paid = 0;
    bool is_chosen = false;

    __device__ void operator()(int, int, bool, Mask, int = 0) {}
    __device__ void add_boxes(int, Mask) {}
    __device__ void on_children_told() {}
    __device__ void on_event(Event event, int id, float, int) {
        if (event == Event::NODE_ENTERED || event == Event::LEAF_ENTERED) {
            is_chosen = nodes[id < 0 ? node_space + ~id : id] != 0;
            paid += is_chosen;
        } else if (event == Event::PRIMITIVE_TESTED) {
            paid += is_chosen || primitives[id] != 0;
        }
    }
};

// `pixels`: of each ray the place in `paid`; null: its own.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    count_paid(TraceInput input, int ray_count, const uint8* nodes, const uint8* primitives, int node_space,
               const int* pixels, int* paid) {
    for (int ray : grid_stride(ray_count)) {
        Rays rays = rays_of(input.source, ray);
        admit_rays(rays);
        if (!any(rays.active)) continue;
        OnPrimitive on_primitive = {no_hits()};
        CountPaid on_node = {nodes, primitives, node_space};
        traverse(input.tree, input.records, rays, on_primitive, on_node);
        if (on_node.paid > 0) atomic_add(paid + (pixels == nullptr ? ray : pixels[ray]), on_node.paid);
    }
}
