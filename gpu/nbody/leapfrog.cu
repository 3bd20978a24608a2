// Leapfrog, kick-drift-kick: the second half of a step's kick is given when the forces there are known, together with
// the first half of the next one. In between, velocities are those of the instant and have an energy.
//
// progress: the steps done, and a word that says what the forces lacked room for; a step without its forces is not
// done.
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"
// from gpu.nbody.bodies import PROGRESS

__device__ __forceinline__ float4 moved(float4 value, float4 by, float step) {
    return make_float4(value.x + step * by.x, value.y + step * by.y, value.z + step * by.z, value.w);
}

// velocities (n) are half a step behind but at the start -> those of this instant; energies (n) kinetic, (n) potential.
extern "C" __global__ void catch_up(const float4* bodies, const float4* field, int n, float step, const int* progress,
                                    float4* velocities, float* energies) {
    if (progress[PROGRESS::lacking] != 0) return;
    const float behind = progress[PROGRESS::steps] == 0 ? 0.0f : 0.5f * step;
    for (int i : grid_stride(n)) {
        const float4 velocity = moved(velocities[i], field[i], behind);
        const float mass = bodies[i].w;
        velocities[i] = velocity;
        const float squared = velocity.x * velocity.x + velocity.y * velocity.y + velocity.z * velocity.z;
        energies[i] = 0.5f * mass * squared;
        energies[n + i] = 0.5f * mass * field[i].w;
    }
}

// The places before (n), and after a step (n).
extern "C" __global__ void kick_and_drift(const float4* field, int n, float step, const int* progress,
                                          float4* velocities, float4* bodies, float4* before) {
    if (progress[PROGRESS::lacking] != 0) return;
    for (int i : grid_stride(n)) {
        const float4 velocity = moved(velocities[i], field[i], 0.5f * step);
        velocities[i] = velocity;
        before[i] = bodies[i];
        bodies[i] = moved(bodies[i], velocity, step);
    }
}

extern "C" __global__ void count_step(int* progress) {
    for ([[maybe_unused]] int i : grid_stride(1)) {
        if (progress[PROGRESS::lacking] == 0) ++progress[PROGRESS::steps];
    }
}
