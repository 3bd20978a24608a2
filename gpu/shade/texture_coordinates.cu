// Readings of texture coordinates: their fractions and a zero (what is shown), then the coordinates as they are. Zeros where the scene has none.
#include "gpu/shade/interaction.cuh"

extern "C" __global__ void read_texture_coordinates(SurfaceView surface, const ViewFrame* frame, int pack_count, const int* prim_id, const float* u,
                                                    const float* v, int has_coordinates, float* readings) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int found = load(prim_id + first);
        const Mask hit = !(found < splat_int(0)) & splat_mask(has_coordinates != 0);
        TexturePlace place = {splat(0.0f), splat(0.0f)};
        if (any(hit)) place = texture_place(surface, point_of_hit(surface, direction_of(camera.rays(first)), hit, found, load(u + first), load(v + first)));
        store(readings + first, fraction_of(place.s));
        store(readings + plane + first, fraction_of(place.t));
        store(readings + 2 * plane + first, splat(0.0f));
        store(readings + 3 * plane + first, place.s);
        store(readings + 4 * plane + first, place.t);
    }
}
