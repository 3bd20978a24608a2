// A kernel that writes where nothing is: the process that runs it on the host ends.
#include "gpu/device/vec.cuh"

extern "C" __global__ void crash(int* values) { values[1ll << 40] = 1; }
