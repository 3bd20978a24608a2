// Readings of every pixel's hit, planes of numbers in ray order: what the views of probes.py show, a kernel each.
// from gpu.shade.views import ViewRow
#include "gpu/shade/interaction.cuh"

// Readings of where in its triangle a ray hits: the weights of the three corners, and the smallest of them, which is 0
// at the edges.
extern "C" __global__ void read_barycentrics(int pack_count, const float* u, const float* v, float* readings) {
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real second = load(u + first), third = load(v + first),
                   corner = max(splat(1.0f) - second - third, splat(0.0f));
        store(readings + first, corner);
        store(readings + plane + first, second);
        store(readings + 2 * plane + first, third);
        store(readings + 3 * plane + first, min(corner, min(second, third)));
    }
}

// Readings of depth: the distance along the ray, and that along the direction of view.
extern "C" __global__ void read_depth(const ViewFrame* frame, int pack_count, const float* t, float* readings) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    const float* c = frame->camera;
    // Across the picture and down it: what stands on both is the direction of view, whichever ray the frame's middle
    // is.
    const float3 across = load3(c + CameraRow::across, 0), down = load3(c + CameraRow::down, 0),
                 middle = load3(c + CameraRow::ahead, 0);
    const float3 upright = normalize(cross(across, down));
    const float3 ahead = dot(upright, middle) < 0.0f ? -upright : upright;
    const Real3 forward = splat3(ahead.x, ahead.y, ahead.z);
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real distance = load(t + first);
        store(readings + first, distance);
        store(readings + plane + first, distance * dot(direction_of(rays_of(camera, first)), forward));
    }
}

// Readings of ids, as whole numbers: the triangle's, the object's, the material's. `first_of_object` ascends; the
// object is the last that begins no later.
extern "C" __global__ void read_ids(SurfaceView surface, int pack_count, const int* prim_id, const int* first_of_object,
                                    int object_count, int* readings) {
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

// Readings of normals: x, y, z, and the cosine to the ray.
extern "C" __global__ void read_normals(SurfaceView surface, const ViewFrame* frame, const float* options,
                                        int pack_count, const int* prim_id, const float* u, const float* v,
                                        float* readings) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int found = load(prim_id + first);
        const Mask hit = !(found < splat_int(0));
        Real3 normal = splat3(0.0f, 0.0f, 0.0f);
        const Real3 direction = direction_of(rays_of(camera, first));
        if (any(hit)) {
            const Interaction at = interaction_at(surface, direction, hit, found, load(u + first), load(v + first));
            normal = options[ViewRow::is_geometric] != 0.0f ? at.at.normal : at.shading_normal;
        }
        store(readings + first, normal.x);
        store(readings + plane + first, normal.y);
        store(readings + 2 * plane + first, normal.z);
        store(readings + 3 * plane + first, max(-dot(normal, direction), splat(0.0f)));
    }
}

// Readings of texture coordinates: their fractions and a zero (what is shown), then the coordinates as they are. Zeros
// where the scene has none.
extern "C" __global__ void read_texture_coordinates(SurfaceView surface, const ViewFrame* frame, int pack_count,
                                                    const int* prim_id, const float* u, const float* v,
                                                    int has_coordinates, float* readings) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int found = load(prim_id + first);
        const Mask hit = !(found < splat_int(0)) & splat_mask(has_coordinates != 0);
        TexturePlace place = {splat(0.0f), splat(0.0f)};
        if (any(hit))
            place = texture_place(surface, point_of_hit(surface, direction_of(rays_of(camera, first)), hit, found,
                                                        load(u + first), load(v + first)));
        store(readings + first, fraction_of(place.s));
        store(readings + plane + first, fraction_of(place.t));
        store(readings + 2 * plane + first, splat(0.0f));
        store(readings + 3 * plane + first, place.s);
        store(readings + 4 * plane + first, place.t);
    }
}
