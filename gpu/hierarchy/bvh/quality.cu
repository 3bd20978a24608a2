// What the SAH cost does not say of a tree, beside the overlap (overlap.cu): its levels, and leaf-count variability, the standard deviation of the
// number of leaves that a line through the root's box meets (Aila, Karras and Laine, On Quality Metrics of Bounding Volume Hierarchies, 2013). On
// request, outside the frame, in double precision and fixed blocks: equal trees, equal figures.
//
// Unit constants: STACK_DEPTH, LEVELS.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

// -- lines -------------------------------------------------------------------------------------------------------------------

struct Line {
    double origin[3], inverse[3];

    __device__ bool meets(const Aabb& box) const {
        if (is_empty(box)) return false;
        const double lower[3] = {box.lower.x, box.lower.y, box.lower.z}, upper[3] = {box.upper.x, box.upper.y, box.upper.z};
        double from = -1e300, to = 1e300;
        for (int k = 0; k < 3; ++k) {
            const double a = (lower[k] - origin[k]) * inverse[k], b = (upper[k] - origin[k]) * inverse[k];
            from = a < b ? (a > from ? a : from) : (b > from ? b : from);
            to = a < b ? (b < to ? b : to) : (a < to ? a : to);
        }
        return from <= to;
    }
};

// The i-th of a sequence that fills [0, 1) evenly in four dimensions (Roberts 2018): multiples of powers of 1 / 1.16730397826142.
__device__ double evenly(int i, int dimension) {
    const double steps[4] = {0.8566748838545029, 0.733891856627126, 0.6287067210378087, 0.5385972572236101};
    const double value = 0.5 + (i + 1) * steps[dimension];
    return value - floor(value);
}

// Directions of all kinds alike, and across them places in a disc that covers the box: lines as even as the SAH takes them for.
__device__ Line line_through(const Aabb& box, int i) {
    const double z = 1.0 - 2.0 * evenly(i, 0), turn = 6.283185307179586 * evenly(i, 1), ring = sqrt(1.0 - z * z > 0.0 ? 1.0 - z * z : 0.0);
    const double along[3] = {ring * cos(turn), ring * sin(turn), z};
    const double sign = z < 0.0 ? -1.0 : 1.0, a = -1.0 / (sign + z), b = along[0] * along[1] * a;  // a frame after Duff et al. 2017
    const double right[3] = {1.0 + sign * along[0] * along[0] * a, sign * b, -sign * along[0]}, up[3] = {b, sign + along[1] * along[1] * a, -along[1]};
    const double lower[3] = {box.lower.x, box.lower.y, box.lower.z}, upper[3] = {box.upper.x, box.upper.y, box.upper.z};
    double diagonal = 0.0;
    for (int k = 0; k < 3; ++k) diagonal += (upper[k] - lower[k]) * (upper[k] - lower[k]);
    const double radius = 0.5 * sqrt(diagonal) * sqrt(evenly(i, 2)), angle = 6.283185307179586 * evenly(i, 3);
    Line line;
    for (int k = 0; k < 3; ++k) {
        line.origin[k] = 0.5 * (lower[k] + upper[k]) + radius * (cos(angle) * right[k] + sin(angle) * up[k]);
        line.inverse[k] = 1.0 / (along[k] < 1e-12 && along[k] > -1e-12 ? 1e-12 : along[k]);
    }
    return line;
}

// `sums`: 3 doubles a block: lines that meet the root's box, leaves on them, squares of the leaves on each.
extern "C" __global__ void count_leaves(float4* record_data, const float4* reference_boxes, const float4* nodes, const int* root, int line_count, double* sums) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes};
    const Aabb box = child_aabb(nodes, references, root[0]);
    double lines = 0.0, leaves = 0.0, squares = 0.0;
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
        lines += 1.0;
        leaves += met;
        squares += met * met;
    }
    lines = block_sum(lines);
    leaves = block_sum(leaves);
    squares = block_sum(squares);
    if (thread_index() != 0) return;
    sums[3 * block_index()] = lines;
    sums[3 * block_index() + 1] = leaves;
    sums[3 * block_index() + 2] = squares;
}

// -- levels ------------------------------------------------------------------------------------------------------------------

// `levels` (zero before): inner nodes and leaves of each depth, 2 numbers a level; what lies deeper is counted in the last one.
extern "C" __global__ void count_levels(const float4* nodes, const int* parent, const uint8* flags, int node_capacity, const int* root, int* levels) {
    SHARED int counts[2 * LEVELS];
    for (int i : block_stride(2 * LEVELS)) counts[i] = 0;
    block_sync();
    if (block_index() == 0 && thread_index() == 0 && is_leaf(root[0])) counts[1] = 1;
    for (int node_id : grid_stride(node_capacity)) {
        if (!(flags[node_id] & NODE_EXISTS)) continue;
        int depth = 0;
        for (int above = node_id; above != 0; above = parent[above]) ++depth;
        const CanonicalNode node = load_node(nodes, node_id);
        const int leaves = is_leaf(node.left) + is_leaf(node.right);
        block_atomic_add(counts + 2 * min(depth, LEVELS - 1), 1);
        if (leaves > 0) block_atomic_add(counts + 2 * min(depth + 1, LEVELS - 1) + 1, leaves);
    }
    block_sync();
    for (int i : block_stride(2 * LEVELS)) {
        if (counts[i] != 0) atomic_add(levels + i, counts[i]);
    }
}
