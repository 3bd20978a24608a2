// Writes the cwbvh nodes of any canonical tree, after collapse.cu has chosen them. The wide children of a node are neighbours: its child_base is 1
// and the number of wide children of the wide nodes before it in canonical order (a scan). Launch order is the file's, the scan between the two.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/layouts/cwbvh.cuh"
#include "gpu/hierarchy/bvh/layouts/octant_slots.cuh"

// How many wide children each wide node has; each child's wide parent and its rank among them, in one word.
extern "C" __global__ void number_wide_children(const float4* nodes, const uint8* is_wide, int node_capacity, int* child_counts, int* places) {
    for (int node_id : grid_stride(node_capacity)) {
        int count = 0;
        if (is_wide[node_id]) {
            const WideChildren<SLOTS> kids = children_of_wide<SLOTS>(nodes, is_wide, node_id);
            for (int i = 0; i < kids.count; ++i) {
                if (!is_leaf(kids.child[i])) places[kids.child[i]] = node_id << 3 | count++;
            }
        }
        child_counts[node_id] = count;
    }
}

// The exponent of the smallest power of two with which 255 cells reach from `lower` to `upper`. Halves first: the difference may pass FLOAT_MAX.
__device__ __forceinline__ int exponent_of(float lower, float upper) {
    const float share = upper * (1.0f / 256.0f) - lower * (1.0f / 256.0f);
    int exponent = max(1, (__float_as_int(share) >> 23) & 255);
    while (exponent < 254 && plane_of(255, cell_size(exponent), lower) < upper) ++exponent;
    return exponent;
}
// The last cell plane at or before `value`, and the first at or after it.
__device__ __forceinline__ int cell_before(float value, float size, float origin) {
    int cells = (int)min(max((value - origin) / size, 0.0f), 255.0f);
    while (cells > 0 && plane_of(cells, size, origin) > value) --cells;
    return cells;
}
__device__ __forceinline__ int cell_after(float value, float size, float origin) {
    int cells = (int)min(max((value - origin) / size, 0.0f), 255.0f);
    while (cells < 255 && plane_of(cells, size, origin) < value) ++cells;
    return cells;
}

extern "C" __global__ void write_cwbvh_nodes(float4* record_data, const float4* reference_boxes, const float4* nodes, const uint8* is_wide, const int* child_bases,
                                             const int* places, int node_capacity, CwbvhNode* cwbvh, int* leaf_words) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes};
    for (int node_id : grid_stride(node_capacity)) {
        if (!is_wide[node_id]) continue;
        const WideChildren<SLOTS> kids = children_of_wide<SLOTS>(nodes, is_wide, node_id);
        Aabb boxes[SLOTS];
        int ranks[SLOTS], inner_count = 0;
        for (int i = 0; i < kids.count; ++i) {
            boxes[i] = child_aabb(nodes, references, kids.child[i]);
            ranks[i] = inner_count;
            inner_count += !is_leaf(kids.child[i]);
        }
        Aabb box = load_node(nodes, node_id).aabb();
        if (is_empty(box)) box.lower = box.upper = make_float3(0.0f, 0.0f, 0.0f);
        const OctantSlots slots = assign_slots(boxes, kids.count, centre(box));
        const int index = node_id == 0 ? 0 : 1 + child_bases[places[node_id] >> 3] + (places[node_id] & 7);
        const int exponents[3] = {exponent_of(box.lower.x, box.upper.x), exponent_of(box.lower.y, box.upper.y), exponent_of(box.lower.z, box.upper.z)};
        const float3 size = make_float3(cell_size(exponents[0]), cell_size(exponents[1]), cell_size(exponents[2]));
        CwbvhNode node;
        int used = 0;
#pragma unroll 1
        for (int s = 0; s < SLOTS; ++s) {
            const int i = slots.place[s];
            const bool is_used = i != NO_CHILD && !is_empty(boxes[i]);
            const bool is_inner = is_used && !is_leaf(kids.child[i]);
            node.meta[s] = (uint8)(is_inner ? META_INNER | ranks[i] : is_used ? META_LEAF : 0);
            node.planes[0][s] = (uint8)(is_used ? cell_before(boxes[i].lower.x, size.x, box.lower.x) : 255);
            node.planes[1][s] = (uint8)(is_used ? cell_after(boxes[i].upper.x, size.x, box.lower.x) : 0);
            node.planes[2][s] = (uint8)(is_used ? cell_before(boxes[i].lower.y, size.y, box.lower.y) : 255);
            node.planes[3][s] = (uint8)(is_used ? cell_after(boxes[i].upper.y, size.y, box.lower.y) : 0);
            node.planes[4][s] = (uint8)(is_used ? cell_before(boxes[i].lower.z, size.z, box.lower.z) : 255);
            node.planes[5][s] = (uint8)(is_used ? cell_after(boxes[i].upper.z, size.z, box.lower.z) : 0);
            used |= is_used << s;
            leaf_words[SLOTS * (int64)index + s] = is_used && !is_inner ? kids.child[i] : EMPTY_CHILD;
        }
        node.origin[0] = box.lower.x;
        node.origin[1] = box.lower.y;
        node.origin[2] = box.lower.z;
        for (int axis = 0; axis < 3; ++axis) node.exponents[axis] = (uint8)exponents[axis];
        node.used = (uint8)used;
        node.child_base = 1 + child_bases[node_id];
        node.unused = 0;
        cwbvh[index] = node;
    }
}
