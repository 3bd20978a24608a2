// Glyphs at one instant, in the scene: from two key frames, as pose.cu found them, and the object's node; or stretched
// between two spheres of this instant (spheres.cu).
//
// What is not there at this instant has a mark of -0 and its centre nowhere, and keeps its place.
// from gpu.animate.glyphs import GlyphObject
#include "gpu/animate/animate.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/glyph.cuh"

// The turn of a frame whose axes are at right angles and of unit length (Shepperd 1978).
__device__ float4 turn_of(const GlyphAxes& f) {
    const float x = f.x.x, y = f.y.y, z = f.z.z;
    const float4 parts = make_float4(1.0f + x - y - z, 1.0f - x + y - z, 1.0f - x - y + z, 1.0f + x + y + z);
    float4 turn = make_float4(f.y.z - f.z.y, f.z.x - f.x.z, f.x.y - f.y.x, parts.w);
    float most = parts.w;
    if (parts.x > most) {
        turn = make_float4(parts.x, f.x.y + f.y.x, f.z.x + f.x.z, f.y.z - f.z.y);
        most = parts.x;
    }
    if (parts.y > most) {
        turn = make_float4(f.x.y + f.y.x, parts.y, f.y.z + f.z.y, f.z.x - f.x.z);
        most = parts.y;
    }
    if (parts.z > most) turn = make_float4(f.z.x + f.x.z, f.y.z + f.z.y, parts.z, f.x.y - f.y.x);
    return normalize(turn);
}
__device__ __forceinline__ bool has_size(float3 s) { return s.x > 0.0f && s.y > 0.0f && s.z > 0.0f; }

// Between two keys; where one of them lacks the glyph, the nearer key decides.
__device__ Glyph between(const Glyph& from, const Glyph& to, float alpha) {
    if (!has_size(from.sizes) || !has_size(to.sizes)) return alpha < 0.5f ? from : to;
    return {lerp(from.centre, to.centre, alpha), slerp(normalize(from.turn), normalize(to.turn), alpha),
            lerp(from.sizes, to.sizes, alpha), from.shape};
}

// A glyph keeps its shape: its axis z goes where the node takes it, x as nearly as it can; sizes grow as lengths along
// the axes do, radii by their mean. Of a flat one the plane goes there, and z stands on it.
__device__ Glyph placed_by(const Affine& m, const Glyph& glyph) {
    const GlyphAxes own = axes_of(glyph.turn);
    const float3 x = transform_vector(m, own.x), y = transform_vector(m, own.y), z = transform_vector(m, own.z);
    const bool is_flat = glyph.shape == GLYPH_SHAPES::disc || glyph.shape == GLYPH_SHAPES::splat;
    const float3 up = normalize(is_flat ? cross(x, y) : z), side = normalize(x - up * dot(x, up));
    const bool is_round = glyph.shape == GLYPH_SHAPES::capsule || glyph.shape == GLYPH_SHAPES::arrow ||
                          glyph.shape == GLYPH_SHAPES::splat;
    const float along_x = length(x), along_y = length(y), mean = 0.5f * (along_x + along_y);
    const float3 grown = make_float3(is_round ? mean : along_x, is_round ? mean : along_y, length(z));
    return {transform_point(m, glyph.centre), turn_of({side, cross(up, side), up}),
            make_float3(glyph.sizes.x * grown.x, glyph.sizes.y * grown.y, glyph.sizes.z * grown.z), glyph.shape};
}

// From one place a share of the way to the other.
__device__ Glyph stretched(float3 from, float3 to, float share, float longest, float radius, int shape) {
    const float3 away = to - from;
    const float distance = length(away);
    if (!(distance > 0.0f && distance <= longest))
        return {from, make_float4(0.0f, 0.0f, 0.0f, 1.0f), away, Glyph::NONE};
    const float3 z = away * (1.0f / distance);
    const float beside = z.x * z.x + z.y * z.y, w = z.z < 0.0f ? beside / (1.0f - z.z) : 1.0f + z.z;
    const float4 turn = z.z < 0.0f && beside < LEAST_DIVISOR ? make_float4(1.0f, 0.0f, 0.0f, 0.0f)
                                                             : normalize(make_float4(-z.y, z.x, 0.0f, w));
    return {from + away * (0.5f * share), turn, make_float3(radius, radius, 0.5f * share * distance), shape};
}

// One tile a block. `hidden`: of each object, whether it is left out. `pairs`: two spheres for each linked glyph. Those
// with sizes that are not finite are counted.
extern "C" __global__ void animate_glyphs(const Tile* tiles, int tile_count, const Placement* placements,
                                          const GlyphObject* objects, const int* hidden, const float4* source_rows,
                                          const float* source_colours, const int* pairs, const float* sphere_centres,
                                          const float* sphere_radii, const float* sphere_colours, float4* rows,
                                          float4* previous, float* colours, int* not_finite) {
    for (int t = block_index(); t < tile_count; t += block_count()) {
        const Tile tile = tiles[t];
        const GlyphObject object = objects[tile.object];
        const Placement place = placements[object.placement];
        const Affine& m = place.transform;
        const float scale = sqrtf((dot(m.row[0], m.row[0]) + dot(m.row[1], m.row[1]) + dot(m.row[2], m.row[2])) / 3.0f);
        const bool is_hidden = hidden[tile.object] != 0;
        int bad = 0;
        for (int i : block_stride(tile.count)) {
            const int local = tile.first_local + i;
            const int64 slot = (int64)object.first_slot + local, row = (int64)object.first_row + local;
            const float4* from = source_rows + 3 * (row + place.source * (int64)object.row_stride);
            const float4* to = source_rows + 3 * (row + place.next_source * (int64)object.row_stride);
            Glyph now = between(glyph_of(from[0], from[1], from[2]), glyph_of(to[0], to[1], to[2]), place.alpha);
            int first = 0;
            bool is_linked = true;
            if (object.first_pair >= 0) {
                const int64 pair = 2 * ((int64)object.first_pair + local);
                first = object.first_sphere + pairs[pair];
                const int second = object.first_sphere + pairs[pair + 1];
                is_linked = sphere_radii[first] > 0.0f && sphere_radii[second] > 0.0f;
                now = stretched(load3(sphere_centres, first), load3(sphere_centres, second), object.share,
                                object.longest * scale, now.sizes.x * scale, object.shape);
            } else {
                now = placed_by(m, now);
            }
            const bool is_good = is_finite((now.centre + now.sizes) * 0.0f),
                       is_seen = is_good && is_linked && is_there(now) && !is_hidden;
            const float nowhere = __int_as_float(0x7fc00000), place_of = is_seen ? 0.0f : nowhere;
            for (int k = 0; k < 3; ++k) previous[3 * slot + k] = rows[3 * slot + k];
            rows[3 * slot] = make_float4(now.centre.x + place_of, now.centre.y + place_of, now.centre.z + place_of,
                                         0.0f);
            rows[3 * slot + 1] = now.turn;
            rows[3 * slot + 2] = make_float4(now.sizes.x, now.sizes.y, now.sizes.z,
                                             is_seen ? GLYPH_MARK - (float)now.shape : -0.0f);
            bad += is_good || !is_linked ? 0 : 1;
            if (object.first_colour >= 0) {
                const int64 colour = (int64)object.first_colour + local;
                store3(
                    colours, slot,
                    lerp(load3(source_colours, colour + place.source * (int64)object.colour_stride),
                         load3(source_colours, colour + place.next_source * (int64)object.colour_stride), place.alpha));
            } else if (object.first_pair >= 0 && sphere_colours != nullptr) {
                store3(colours, slot, load3(sphere_colours, first));
            }
        }
        bad = block_sum(bad);
        if (thread_index() == 0 && bad > 0) atomic_add(not_finite, bad);
    }
}
