// What warps of 32 neighbouring rays take in a traversal by single rays: heard from it (traversal_events.cuh), a ray at
// a time. The unit names Tree, Records, RaySource and OnPrimitive as trace.cu does.
//
// Unit constant: BY_STEPS, whether a lane takes a node or a primitive in each step, whichever comes next
// (if_if_traversal.cuh). Then `marks` has of each warp `room` words of bits, of the steps in which any lane is at a
// node, and as many of those in which any is at a primitive. Else lanes go down together until each has a leaf, and
// then through their leaves: of each warp `room` rounds, the most nodes of a lane, and as many of the most primitives.
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/trace/traversals.cuh"

constexpr int WARP_RAYS = 32;

struct HearSteps : HearsNoPops {
    static constexpr bool IS_ASKED = true, HEARS_EVENTS = true;

    int* nodes_of_warp;
    int* primitives_of_warp;
    int room;
    int step = 0;  // of steps, or of rounds
    int nodes = 0, primitives = 0;  // of the ray
    int round_nodes = 0, round_primitives = 0;
    bool is_in_leaf = false;

    __device__ void operator()(int, int, bool, Mask, int = 0) {}
    __device__ void add_boxes(int, Mask) {}
    __device__ void on_children_told() {}
    __device__ void mark(int* words) {
        if (step / 32 < room) atomic_or(words + step / 32, (int)(1u << step % 32));
        ++step;
    }
    __device__ void end_round() {
        if (step < room) {
            if (round_nodes > 0) atomic_max(nodes_of_warp + step, round_nodes);
            if (round_primitives > 0) atomic_max(primitives_of_warp + step, round_primitives);
        }
        ++step;
        round_nodes = round_primitives = 0;
        is_in_leaf = false;
    }
    __device__ void on_event(Event event, int, float, int) {
        if (event == Event::NODE_ENTERED) {
            if (is_in_leaf) end_round();
            ++nodes;
            ++round_nodes;
            if (BY_STEPS) mark(nodes_of_warp);
        } else if (event == Event::LEAF_ENTERED) {
            if (is_in_leaf) end_round();
            is_in_leaf = !BY_STEPS;
        } else if (event == Event::PRIMITIVE_TESTED) {
            ++primitives;
            ++round_primitives;
            if (BY_STEPS) mark(primitives_of_warp);
        }
    }
};

// `used`: nodes and primitives of each warp's lanes; `longest` becomes the most steps or rounds of a ray.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    hear_warps(TraceInput input, int ray_count, int* marks, int room, int* used, int* longest) {
    int most = 0;
    for (int ray : grid_stride(ray_count)) {
        Rays rays = rays_of(input.source, ray);
        admit_rays(rays);
        if (!any(rays.active)) continue;
        const int warp = ray / WARP_RAYS;
        int* nodes_of_warp = marks + (int64)warp * 2 * room;
        OnPrimitive on_primitive = {no_hits()};
        HearSteps on_node = {{}, nodes_of_warp, nodes_of_warp + room, room};
        traverse(input.tree, input.records, rays, on_primitive, on_node);
        if (!BY_STEPS) on_node.end_round();
        atomic_add(used + 2 * warp, on_node.nodes);
        atomic_add(used + 2 * warp + 1, on_node.primitives);
        most = max(most, on_node.step);
    }
    if (most > 0) atomic_max(longest, most);
}

// What each warp took, five rows of `warp_count` numbers: its steps, those at nodes and those at primitives, and the
// nodes and the primitives of its lanes. A thread a warp.
extern "C" __global__ void sum_warps(const int* marks, int room, const int* used, int warp_count, int* found) {
    for (int warp : grid_stride(warp_count)) {
        const int* nodes = marks + (int64)warp * 2 * room;
        const int* primitives = nodes + room;
        int steps = 0, node_steps = 0, primitive_steps = 0;
        for (int i = 0; i < room; ++i) {
            node_steps += BY_STEPS ? __popc((unsigned)nodes[i]) : nodes[i];
            primitive_steps += BY_STEPS ? __popc((unsigned)primitives[i]) : primitives[i];
            steps += BY_STEPS ? __popc((unsigned)(nodes[i] | primitives[i])) : nodes[i] + primitives[i];
        }
        found[warp] = steps;
        found[warp_count + warp] = node_steps;
        found[2 * warp_count + warp] = primitive_steps;
        found[3 * warp_count + warp] = used[2 * warp];
        found[4 * warp_count + warp] = used[2 * warp + 1];
    }
}
