// The triangles of the objects that are not hidden, side by side in the scene's order: what structures are built over
// while something is hidden.
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"

// `first_of_visible` (object_count) ascends: the visible objects' first triangles in the list; `first_of_scene`: in the
// scene.
extern "C" __global__ void list_visible(const int* triangles, const int* first_of_visible, const int* first_of_scene,
                                        int object_count, int count, int* indices, int* scene_ids) {
    for (int i : grid_stride(count)) {
        int low = 0, high = object_count - 1;
        while (low < high) {
            const int middle = (low + high + 1) / 2;
            if (first_of_visible[middle] <= i) low = middle;
            else high = middle - 1;
        }
        const int scene_id = first_of_scene[low] + (i - first_of_visible[low]);
        scene_ids[i] = scene_id;
        for (int k = 0; k < 3; ++k) indices[3 * (int64)i + k] = triangles[3 * (int64)scene_id + k];
    }
}
