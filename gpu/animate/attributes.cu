// Spheres by their attributes, after they are placed (spheres.cu): colours, sizes, and which of them are selected; and
// how many have how much of one.
//
// Values are interpolated between the two key frames of the instant; where only one of them has a value, the nearer one
// decides. What is not a number is no value.
// from gpu.animate.attributes import BINS, COLORS, AttributeRow
// from gpu.animate.structs import AttributeColumn, AttributeObject, Object
#include "gpu/animate/animate.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

__device__ __forceinline__ float nowhere() { return __int_as_float(0x7fc00000); }

__device__ float value_of(const float* values, const AttributeColumn& column, int64 local, const Keys& keys) {
    const int64 from = column.first + keys.key * column.stride + local * column.width;
    const int64 to = column.first + keys.next * column.stride + local * column.width;
    float sum = 0.0f, only = 0.0f;
    for (int i = 0; i < column.width; ++i) {
        const float a = values[from + i], b = values[to + i];
        only = is_finite(a) && is_finite(b) ? lerp(a, b, keys.alpha) : keys.alpha < 0.5f ? a : b;
        sum += only * only;
    }
    if (column.width == 0) return nowhere();
    const float value = column.width == 1 ? only : sqrtf(sum);
    return is_finite(value) ? value : nowhere();
}

// Where a value lies in a range, from 0 to 1.
__device__ __forceinline__ float share_of(float value, float low, float high) {
    return fminf(fmaxf((value - low) / (high - low), 0.0f), 1.0f);
}

// The colour of a sphere that is coloured by nothing, or not selected: as it is, or dark and grey.
__device__ __forceinline__ float3 dimmed(float3 color) {
    const float grey = color.x < 0.0f ? 0.4f : 0.2126f * color.x + 0.7152f * color.y + 0.0722f * color.z;
    return make_float3(1.0f, 1.0f, 1.0f) * (0.02f + 0.1f * grey);
}

// One tile a block. `color_map` has COLORS linear colours. `counts` grow: BINS of the counted attribute over its
// range, then spheres without a value, and those that are not selected.
extern "C" __global__ void apply_attributes(const Tile* tiles, int tile_count, const Moment* moment,
                                            const Object* posed, const float* key_times, const AttributeObject* objects,
                                            const float* values, const float* options, const float* color_map,
                                            float* centres, float* radii, float* colours, int* counts) {
    SHARED int of_block[BINS + 2];
    const float time = moment->time;
    for (int t = block_index(); t < tile_count; t += block_count()) {
        const Tile tile = tiles[t];
        const AttributeObject object = objects[tile.object];
        const Object placed = posed[object.posed];
        const Keys keys = find_keys(key_times + placed.first_time, placed.key_count, time);
        for (int bin : block_stride(BINS + 2)) of_block[bin] = 0;
        block_sync();
        for (int i : block_stride(tile.count)) {
            const int64 local = (int64)tile.first_local + i, slot = object.first_slot + local;
            const float radius = radii[slot];
            const bool is_there = radius > 0.0f;
            float3 color = object.has_colours ? load3(colours, slot) : make_float3(-1.0f, -1.0f, -1.0f);
            if (is_there && object.color.width > 0) {
                const float value = value_of(values, object.color, local, keys);
                const float share = share_of(value, options[AttributeRow::color_low],
                                             options[AttributeRow::color_high]);
                color = is_finite(value) ? load3(color_map, (int)(share * (COLORS - 1) + 0.5f))
                                         : load3(options + AttributeRow::missing, 0);
            }
            if (is_there && object.size.width > 0) {
                const float value = value_of(values, object.size, local, keys);
                const float share = share_of(value, options[AttributeRow::size_low], options[AttributeRow::size_high]);
                if (is_finite(value))
                    radii[slot] = radius * lerp(options[AttributeRow::smallest], options[AttributeRow::largest], share);
            }
            if (is_there && object.selection.width > 0) {
                const float value = value_of(values, object.selection, local, keys);
                const bool is_selected = value >= options[AttributeRow::select_from] &&
                                         value <= options[AttributeRow::select_to];
                if (!is_selected) {
                    block_atomic_add(&of_block[BINS + 1], 1);
                    color = dimmed(color);
                    if (options[AttributeRow::hides_others] != 0.0f) {
                        radii[slot] = -1.0f;
                        store3(centres, slot, make_float3(nowhere(), nowhere(), nowhere()));
                    }
                }
            }
            if (is_there && object.counted.width > 0) {
                const float value = value_of(values, object.counted, local, keys);
                const float share = share_of(value, options[AttributeRow::count_low],
                                             options[AttributeRow::count_high]);
                block_atomic_add(&of_block[is_finite(value) ? min((int)(share * BINS), BINS - 1) : BINS], 1);
            }
            store3(colours, slot, color);
        }
        block_sync();
        for (int bin : block_stride(BINS + 2))
            if (of_block[bin] != 0) atomic_add(&counts[bin], of_block[bin]);
        block_sync();
    }
}
