// Kernels that go where nothing is, for the tests of checked units.
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"

struct Numbers {
    Pointer<const int> values;
};
static_assert(sizeof(Numbers) == 8, "a pointer in either kind of unit");

extern "C" __global__ void copy_from(const int* values, int first, int* out, int n) {
    for (int i : grid_stride(n)) out[i] = values[first + i];
}
extern "C" __global__ void copy_of_struct(Numbers numbers, int first, int* out, int n) {
    for (int i : grid_stride(n)) out[i] = numbers.values[first + i];
}
extern "C" __global__ void write_behind(int* out, int from, int place) {
    int* const at = out + from;
    for (int i : grid_stride(1)) at[i] = out[place];
}
extern "C" __global__ void push_too_often(int* out, int count) {
    int stack[4] = {};
    for (int i = 0; i < count; ++i) {
        check_stack(i, 4);
        stack[i] = i + 1;
    }
    for (int i : grid_stride(1)) out[i] = stack[3];
}
