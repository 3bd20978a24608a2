// What rays do in a structure, counted by node and by primitive (count_nodes.cuh), while they are traced: with `t` the
// hits are written, too, as trace.cu does. Rays go as each would alone, in the order that all targets share, so that
// counts are those of the kind `steps` of trace.py: in packs where the traversal can do that. The unit names Tree,
// Records, RaySource and OnPrimitive as trace.cu does.
#include "gpu/analysis/count_nodes.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    count_nodes(TraceInput input, int pack_count, uint64* counts, int64 slot_count, int node_space, int primitive_count,
                int copies, int in_strides, uint64* totals, float* t, int* prim_id, float* u, float* v) {
    Counter on_node = counts_of_block(counts, slot_count, node_space, primitive_count, copies);
    for (int pack : grid_stride(pack_count)) {
        const int first = (IS_SINGLE_RAY ? in_turn(input.source, pack, pack_count, in_strides != 0) : pack) * PACK;
        Rays rays = rays_of(input.source, first);
        OnPrimitive on_primitive = {no_hits()};
        admit_rays(rays);
        const Mask active = rays.active;
        if (any(active)) {
            traverse(input.tree, input.records, rays, on_primitive, on_node);
            on_node.end(active);
        }
        if (t != nullptr) {
            store(t + first, on_primitive.hits.t);
            store(prim_id + first, on_primitive.hits.prim_id);
            store(u + first, on_primitive.hits.u);
            store(v + first, on_primitive.hits.v);
        }
    }
    on_node.finish(totals);
}
