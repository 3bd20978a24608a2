// What rays do in a structure, counted by node and by primitive: heard from the traversal that traces them
// (traversal_events.cuh). A ray a thread on every target, in the order that all targets share, so that counts are those
// of the kind `steps` of trace.py. The unit names Tree, Records, RaySource and OnPrimitive as trace.cu does.
//
// A slot is a node's number in the layout, or behind `node_space` a leaf's first reference, where leaves are no nodes.
// Of `counts` there are several copies, which blocks take in turn, so that few wait for one another at the root.
// Unit constant: OWN_COPIES, whether each block has one for itself.
// from gpu.analysis.node_counts import NodeCount
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/trace/traversals.cuh"

struct CountNodes {
    static constexpr bool IS_ASKED = true, HEARS_EVENTS = true;

    NodeCount* counts;
    uint64* of_primitives;  // tests, then hits
    int node_space, primitive_count;
    // of the node that the ray is in
    int here = -1, tests = 0, hits = 0, boxes = 0;
    int width = 0;  // boxes that the last inner node was said to have
    // the nearest hit until now, and where
    float nearest = FLOAT_MAX;
    int nearest_id = 0, nearest_slot = -1;

    __device__ int slot(int id) const { return id < 0 ? node_space + ~id : id; }
    __device__ static void add(uint64* at, int by) {
        if (by == 0) return;
        if (OWN_COPIES) block_atomic_add(at, (uint64)by);
        else atomic_add(at, (uint64)by);
    }
    __device__ void leave() {
        if (here < 0) return;
        add(&counts[here].tests, tests);
        add(&counts[here].hits, hits);
        add(&counts[here].more_boxes, boxes);
        tests = hits = boxes = 0;
    }
    __device__ void operator()(int, int, bool is_leaf, Mask, int box_count = 0) {
        if (!is_leaf) width = box_count;
    }
    __device__ void add_boxes(int count, Mask) { boxes += count; }
    __device__ void on_event(Event event, int id, float entry, int) {
        if (event == Event::NODE_ENTERED || event == Event::LEAF_ENTERED) {
            leave();
            here = slot(id);
            add(&counts[here].visits, 1);
        } else if (event == Event::CHILD_MISSED || event == Event::CHILD_BEYOND) {
            add(&counts[slot(id)].culled, 1);
        } else if (event == Event::PRIMITIVE_TESTED) {
            ++tests;
            add(of_primitives + id, 1);
        } else if (event == Event::PRIMITIVE_HIT) {
            ++hits;
            add(of_primitives + primitive_count + id, 1);
            if (entry < nearest || (entry == nearest && id < nearest_id) || nearest_slot < 0) {
                nearest = entry;
                nearest_id = id;
                nearest_slot = here;
            }
        }
    }
    __device__ void end() {
        leave();
        if (nearest_slot >= 0) add(&counts[nearest_slot].found, 1);
    }
};

// `traced` grows by the rays, `width` becomes the most boxes of an inner node.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    count_nodes(TraceInput input, int ray_count, NodeCount* counts, int64 slot_count, int copies, int node_space,
                uint64* of_primitives, int primitive_count, uint64* traced, int* width) {
    int rays_traced = 0, widest = 0;
    const int copy = block_index() % copies;
    NodeCount* mine = counts + copy * slot_count;
    uint64* tests_of = of_primitives + (int64)copy * 2 * primitive_count;
    for (int ray : grid_stride(ray_count)) {
        Rays rays = rays_of(input.source, ray);
        admit_rays(rays);
        if (!any(rays.active)) continue;
        OnPrimitive on_primitive = {no_hits()};
        CountNodes on_node = {mine, tests_of, node_space, primitive_count};
        traverse(input.tree, input.records, rays, on_primitive, on_node);
        on_node.end();
        ++rays_traced;
        widest = max(widest, on_node.width);
    }
    rays_traced = block_sum(rays_traced);
    if (widest > 0) atomic_max(width, widest);
    if (thread_index() == 0 && rays_traced > 0) atomic_add(traced, (uint64)rays_traced);
}
