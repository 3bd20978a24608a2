// Paths as a wavefront: a launch a step of all paths; rays that go on and rays to lights lie in queues between. A queue
// has a pixel at most once, so that its light is added without atomics and in the same order always. The unit names
// HAS_HOLES: whether rays to lights go through holes (path_light.cu).
#include "gpu/device/atomics.cuh"
#include "gpu/shade/path_queues.cuh"

__device__ __forceinline__ void put_state(const Queue& queue, int first, const PathState& state) {
    store(queue.row(STATE_ROW) + first, state.weight.x);
    store(queue.row(STATE_ROW + 1) + first, state.weight.y);
    store(queue.row(STATE_ROW + 2) + first, state.weight.z);
    store(queue.row(STATE_ROW + 3) + first, state.density);
    store(queue.row(STATE_ROW + 4) + first, state.scale);
}
__device__ __forceinline__ void put_step(const Queue& onwards, const Queue& to_lights, int first, const PathStep& step,
                                         Int ray) {
    onwards.put(first, step.next, ray);
    put_state(onwards, first, step.state);
    to_lights.put(first, step.to_light, ray);
    store(to_lights.row(LIGHT_ROW) + first, step.if_reached.x);
    store(to_lights.row(LIGHT_ROW + 1) + first, step.if_reached.y);
    store(to_lights.row(LIGHT_ROW + 2) + first, step.if_reached.z);
    store(to_lights.row(LIGHT_ROW + 3) + first, select(step.is_lit_sharply, splat(1.0f), splat(0.0f)));
    if (HAS_HOLES) store(to_lights.row(LIGHT_ROW + 4) + first, step.if_crossed);
}

// The step at the primary hits. Every ray has its place in the queues; `plane` is the number of them.
extern "C" __global__ void begin_paths(SurfaceView surface, EnvironmentView environment, const ViewFrame* frame,
                                       const float* options, int pack_count, const float* t, const int* prim_id,
                                       const float* u, const float* v, Queue onwards, Queue to_lights, float* sums,
                                       float* sharp) {
    const CameraRays camera = {frame};
    const PathLights lights = path_lights(surface, environment, frame, options);
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Hits hits = {load(t + first), load(u + first), load(v + first), load(prim_id + first)};
        const PathNumbers numbers = path_numbers(frame, options, path_pixel(frame, first), 0);
        const PathStep step = step_path(surface, lights, options, numbers, 0, rays_of(camera, first), hits,
                                        path_begins());
        add_to_film(sums, plane, first, sharp == nullptr ? frame->sample_index : 0, step.found);
        add_sharp(sharp, plane, first, 0, select(step.is_sharp, step.found, splat3(0.0f, 0.0f, 0.0f)));
        put_step(onwards, to_lights, first, step, splat_int(first) + lane_index());
        if (first == 0) *onwards.count = *to_lights.count = (int)plane;
    }
}

// A later step: the rays of `from` and what they have hit.
extern "C" __global__ void continue_paths(SurfaceView surface, EnvironmentView environment, const ViewFrame* frame,
                                          const float* options, int pack_count, const float* t, const int* prim_id,
                                          const float* u, const float* v, int bounce, Queue source, Queue onwards,
                                          Queue to_lights, uint64* ray_counts, float* sums, float* sharp) {
    const PathLights lights = path_lights(surface, environment, frame, options);
    const int64 plane = (int64)pack_count * PACK;
    const int count = *source.count;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        if (first == 0) {
            *onwards.count = *to_lights.count = count;
            if (count > 0) atomic_add(&ray_counts[bounce - 1], (uint64)count);
        }
        if (first >= count) continue;
        const Mask in_use = source.in_use(first);
        const Int ray = select(in_use, source.pixels(first), splat_int(0));
        const Rays rays = rays_of(QueueRays{source.rows, source.count, source.stride}, first);
        const Hits hits = {load(t + first), load(u + first), load(v + first),
                           select(in_use, load(prim_id + first), splat_int(-1))};
        const PathState state = {source.vector(STATE_ROW, first), load(source.row(STATE_ROW + 3) + first),
                                 load(source.row(STATE_ROW + 4) + first)};
        const PathNumbers numbers = path_numbers(frame, options, path_pixels(frame, ray), bounce);
        const PathStep step = step_path(surface, lights, options, numbers, bounce, rays, hits, state);
        const Mask shines = in_use & (largest(step.found) > splat(0.0f));
        add_lanes(sums, plane, ray, mask_bits(shines), step.found);
        if (sharp != nullptr) add_lanes(sharp, plane, ray, mask_bits(shines & step.is_sharp), step.found);
        put_step(onwards, to_lights, first, step, ray);
    }
}

// The light of the rays that nothing stood in the way of.
extern "C" __global__ void collect_light(Queue to_lights, int pack_count, const int* prim_id, int place,
                                         uint64* ray_counts, float* sums, float* sharp) {
    const int64 plane = (int64)pack_count * PACK;
    const int count = *to_lights.count;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        if (first == 0 && count > 0) atomic_add(&ray_counts[place], (uint64)count);
        if (first >= count) continue;
        const Mask is_free = to_lights.in_use(first) & (load(prim_id + first) < splat_int(0));
        const Int ray = to_lights.pixels(first);
        const Real3 light = to_lights.vector(LIGHT_ROW, first);
        add_lanes(sums, plane, ray, mask_bits(is_free), light);
        if (sharp != nullptr)
            add_lanes(sharp, plane, ray,
                      mask_bits(is_free & (load(to_lights.row(LIGHT_ROW + 3) + first) > splat(0.5f))), light);
    }
}
