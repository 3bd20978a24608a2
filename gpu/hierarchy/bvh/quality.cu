// What the SAH cost does not say of a tree, beside the overlap (overlap.cu): its levels, and leaf-count variability,
// the standard deviation of the number of leaves that a line through the root's box meets (Aila, Karras and Laine, On
// Quality Metrics of Bounding Volume Hierarchies, 2013). On request, outside the frame.
//
// Unit constants: STACK_DEPTH, LEVELS.
#include "gpu/device/tree_quality.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

// `sums`: LineCounts of each block.
extern "C" __global__ void count_leaves(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                        const float4* nodes, const int* root, int line_count, double* sums) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    const Aabb box = child_aabb(nodes, references, root[0]);
    LineCounts counts = {};
    for (int i : grid_stride(line_count)) {
        const Line line = line_through(box, i);
        if (!line.meets(box)) continue;
        int waiting[STACK_DEPTH];
        int count = 0;
        double met = 0.0;
        waiting[count++] = root[0];
        while (count > 0) {
            const int child = waiting[--count];
            if (!line.meets(child_aabb(nodes, references, child))) continue;
            if (is_leaf(child)) {
                met += 1.0;
                continue;
            }
            const CanonicalNode node = load_node(nodes, child);
            waiting[count++] = node.left;
            waiting[count++] = node.right;
        }
        counts.add(met);
    }
    counts.store(sums);
}

// `levels` (zero before): LevelCounts.
extern "C" __global__ void count_levels(const float4* nodes, const int* parent, const uint8* flags, int node_capacity,
                                        const int* root, int* levels) {
    SHARED LevelCounts<LEVELS> counts;
    counts.begin();
    if (block_index() == 0 && thread_index() == 0 && is_leaf(root[0])) counts.add_leaves(0, 1);
    for (int node_id : grid_stride(node_capacity)) {
        if (!(flags[node_id] & NODE_EXISTS)) continue;
        int depth = 0;
        for (int above = node_id; above != 0; above = parent[above]) ++depth;
        const CanonicalNode node = load_node(nodes, node_id);
        const int leaves = is_leaf(node.left) + is_leaf(node.right);
        counts.add_inner(depth);
        if (leaves > 0) counts.add_leaves(depth + 1, leaves);
    }
    counts.store(levels);
}
