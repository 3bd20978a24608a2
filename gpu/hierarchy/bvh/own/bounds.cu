// The boxes of primitives as a function on the host takes them: six floats each, lower and upper.
#include "gpu/device/aabb.cuh"
#include "gpu/device/loops.cuh"

extern "C" __global__ void write_bounds(Primitives primitives, float* bounds) {
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        float* const row = bounds + 6 * (int64)i;
        row[0] = box.lower.x, row[1] = box.lower.y, row[2] = box.lower.z;
        row[3] = box.upper.x, row[4] = box.upper.y, row[5] = box.upper.z;
    }
}
