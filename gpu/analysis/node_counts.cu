// What rays do in a structure, counted by node and by primitive (count_nodes.cuh), while they are traced: with `t` the
// hits are written, too, as trace.cu does. A ray a thread on every target, in the order that all targets share, so that
// counts are those of the kind `steps` of trace.py. The unit names Tree, Records, RaySource and OnPrimitive as trace.cu
// does.
#include "gpu/analysis/count_nodes.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    count_nodes(TraceInput input, int ray_count, uint64* counts, int64 slot_count, int node_space, int primitive_count,
                int copies, int in_strides, uint64* totals, float* t, int* prim_id, float* u, float* v) {
    CountNodes on_node = counts_of_block(counts, slot_count, node_space, primitive_count, copies);
    for (int turn : grid_stride(ray_count)) {
        const int ray = in_turn(input.source, turn, ray_count, in_strides != 0);
        Rays rays = rays_of(input.source, ray);
        OnPrimitive on_primitive = {no_hits()};
        admit_rays(rays);
        if (any(rays.active)) {
            traverse(input.tree, input.records, rays, on_primitive, on_node);
            on_node.end();
        }
        if (t != nullptr) {
            store(t + ray, on_primitive.hits.t);
            store(prim_id + ray, on_primitive.hits.prim_id);
            store(u + ray, on_primitive.hits.u);
            store(v + ray, on_primitive.hits.v);
        }
    }
    on_node.finish(totals);
}
