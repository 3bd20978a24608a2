// Readings of ids, as whole numbers: the triangle's, the object's, the material's. `first_of_object` ascends; the object is the last that begins no later.
#include "gpu/shade/shading.cuh"

extern "C" __global__ void read_ids(SurfaceView surface, int pack_count, const int* prim_id, const int* first_of_object, int object_count, int* readings) {
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int found = load(prim_id + first), safe = select(found < splat_int(0), splat_int(0), found);
        Int object = splat_int(0);
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            int low = 0, high = object_count - 1;
            while (low < high) {
                const int middle = (low + high + 1) / 2;
                if (first_of_object[middle] <= lane(safe, i)) low = middle;
                else high = middle - 1;
            }
            set_lane(object, i, low);
        }
        store(readings + first, found);
        store(readings + plane + first, object);
        store(readings + 2 * plane + first, gather_int(surface.material_ids, safe));
    }
}
