// Where centres lie along the edges of a periodic box.
#include "gpu/device/loops.cuh"
#include "gpu/query/cell.cuh"

// `coordinates`: three rows; those of what is not finite are no numbers.
extern "C" __global__ void write_coordinates(const float* points, int count, const float* cell, float* coordinates) {
    for (int i : grid_stride(count)) {
        const float3 at = coordinates_in(cell, load3(points, i));
        const int64 row = count;
        coordinates[i] = at.x;
        coordinates[i + row] = at.y;
        coordinates[i + 2 * row] = at.z;
    }
}
