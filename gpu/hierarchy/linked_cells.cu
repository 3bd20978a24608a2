// What kd-trees and octrees hold at each node, as rows (tree_links.py): two words, of a leaf the first of its
// references and their number. LEAF_AXIS, a unit constant, is what the last two bits of a kd-tree's leaf say.
// Below zero: this is an octree, where the number is inverted.
// from gpu.hierarchy.tree_links import INNER_ROW, LEAF_ROW
#include "gpu/device/loops.cuh"

// `node_count`: of the nodes now.
extern "C" __global__ void link_cells(const int* words, const int* node_count, int row_count, uint8* kinds, int* firsts,
                                      int* counts) {
    for (int row : grid_stride(row_count)) {
        const bool exists = row < node_count[0];
        const int first = exists ? words[2 * (int64)row] : 0, second = exists ? words[2 * (int64)row + 1] : 0;
        const bool is_leaf = exists && (LEAF_AXIS < 0 ? second < 0 : (second & 3) == LEAF_AXIS);
        kinds[row] = !exists ? 0 : is_leaf ? LEAF_ROW : INNER_ROW;
        firsts[row] = is_leaf ? first : 0;
        counts[row] = !is_leaf ? 0 : LEAF_AXIS < 0 ? ~second : (int)((unsigned)second >> 2);
    }
}
