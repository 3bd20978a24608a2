// Tiles in depth (Soell 2015, chapter 6, "Ausblick"): layers of equal depth between the nearest and the farthest sphere
// that the picture shows. A sphere belongs to the layer in which it begins.
//
// `order_keys` are boxes.cu's.
#include "gpu/device/block.cuh"
#include "gpu/glyphs/tiles.cuh"

__device__ __forceinline__ int ordered_of(unsigned order_key) { return (int)(order_key ^ 0x80000000u); }

// The least and the greatest distance as ordered integers; `depths` is {INT_MAX, INT_MIN} before.
extern "C" __global__ void find_depths(TileInput input, const unsigned* order_keys, int* depths) {
    int least = ordered_int(FLOAT_MAX), most = ordered_int(-FLOAT_MAX);
    for (int i : grid_stride(input.count())) {
        if (input.box(i).is_empty()) continue;
        least = min(least, ordered_of(order_keys[i]));
        most = max(most, ordered_of(order_keys[i]));
    }
    least = block_min(least);
    most = block_max(most);
    if (thread_index() > 0) return;
    atomic_min(depths, least);
    atomic_max(depths + 1, most);
}

// Where the layers begin; the first one has what lies before the picture's near plane, too.
extern "C" __global__ void begin_layers(const ViewFrame* frame, const int* depths, int layer_count, float* begins) {
    const float least = max(ordered_float(depths[0]), frame->camera[CameraRow::near]);
    const float depth = max(ordered_float(depths[1]) - least, 0.0f) / (float)layer_count;
    for (int layer : grid_stride(layer_count)) begins[layer] = layer == 0 ? -FLOAT_MAX : least + depth * (float)layer;
}

extern "C" __global__ void write_layers(TileInput input, const unsigned* order_keys, uint8* layers) {
    for (int i : grid_stride(input.count())) {
        const float distance = ordered_float(ordered_of(order_keys[i]));
        int layer = 0;
        for (int next = 1; next < input.layer_count; ++next) layer += input.layer_begins[next] <= distance;
        layers[i] = (uint8)layer;
    }
}
