// environment.cuh as kernels: directions chosen by three numbers, and what a direction finds. Rows of `n` floats.
#include "gpu/device/loops.cuh"
#include "gpu/shade/environment.cuh"

// `numbers`: three rows. `results`: direction, radiance, density.
extern "C" __global__ void choose(EnvironmentView environment, const float* numbers, int n, float* results) {
    for (int pack : grid_stride(n / PACK)) {
        const int first = pack * PACK;
        const EnvironmentChoice found = choose_direction(environment, load(numbers + first), load(numbers + n + first),
                                                         load(numbers + 2 * n + first));
        const Real rows[] = {found.towards.x,  found.towards.y,  found.towards.z, found.radiance.x,
                             found.radiance.y, found.radiance.z, found.density};
        for (int row = 0; row < 7; ++row) store(results + row * n + first, rows[row]);
    }
}
// `directions`: three rows. `results`: radiance, density.
extern "C" __global__ void look(EnvironmentView environment, const float* directions, int n, float* results) {
    for (int pack : grid_stride(n / PACK)) {
        const int first = pack * PACK;
        const Real3 direction = {load(directions + first), load(directions + n + first),
                                 load(directions + 2 * n + first)};
        const Real3 found = environment_radiance(environment, direction);
        const Real rows[] = {found.x, found.y, found.z, environment_density(environment, direction)};
        for (int row = 0; row < 4; ++row) store(results + row * n + first, rows[row]);
    }
}
