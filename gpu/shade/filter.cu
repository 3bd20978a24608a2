// The filter of noisy light, a kernel a pass; filter.py says the idea and the papers.
#include "gpu/device/epsilons.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/shade/filter.cuh"

constexpr int NEAR = 3;  // pixels around one, in which its brightness is judged
constexpr float ENOUGH_SAMPLES = 4.0f;  // of history, for a variance over time
constexpr float CLIP_REACH = 1.0f, LIGHT_REACH = 4.0f, SPARK_REACH = 6.0f;  // in standard deviations

__device__ __forceinline__ float4 mixed(float4 a, float4 b, float share) {
    return make_float4(a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share, a.z + (b.z - a.z) * share,
                       a.w + (b.w - a.w) * share);
}
__device__ __forceinline__ void add(float4& sum, float4 value, float weight) {
    sum.x += value.x * weight;
    sum.y += value.y * weight;
    sum.z += value.z * weight;
    sum.w += value.w * weight;
}

// Mean and spread of the light of this sample around a pixel and without it, over pixels of the same surface.
struct Around {
    float3 mean, spread;
    bool is_known;
};
__device__ __forceinline__ Around light_around(const FilterView& f, int x, int y, float4 guide, int width, int height) {
    const float3 normal = unpacked_normal(guide.x);
    float total = 0.0f;
    float3 sum = make_float3(0.0f, 0.0f, 0.0f), squares = sum;
    for (int dy = -NEAR; dy <= NEAR; ++dy) {
        for (int dx = -NEAR; dx <= NEAR; ++dx) {
            const int qx = min(max(x + dx, 0), width - 1), qy = min(max(y + dy, 0), height - 1), q = qy * width + qx;
            const float near = closeness(guide, normal, f.guide[q], (float)max(abs(dx), abs(dy)));
            if (near < -8.0f || (dx == 0 && dy == 0)) continue;
            const float4 light = f.light[q];
            total += 1.0f;
            sum = make_float3(sum.x + light.x, sum.y + light.y, sum.z + light.z);
            squares = make_float3(squares.x + light.x * light.x, squares.y + light.y * light.y,
                                  squares.z + light.z * light.z);
        }
    }
    const float scale = 1.0f / max(total, 1.0f);
    const float3 mean = make_float3(sum.x * scale, sum.y * scale, sum.z * scale);
    const float3 variance = make_float3(squares.x * scale - mean.x * mean.x, squares.y * scale - mean.y * mean.y,
                                        squares.z * scale - mean.z * mean.z);
    return {mean, make_float3(sqrtf(max(variance.x, 0.0f)), sqrtf(max(variance.y, 0.0f)), sqrtf(max(variance.z, 0.0f))),
            total > 8.0f};
}

// The history of a pixel: of the four around the place where its point was, those that show the same surface.
struct History {
    float4 light, moments;
    float weight;
};
__device__ __forceinline__ History history_of(const FilterView& f, float2 place, float depth, float4 guide, int width,
                                              int height) {
    History h = {make_float4(0.0f, 0.0f, 0.0f, 0.0f), make_float4(0.0f, 0.0f, 0.0f, 0.0f), 0.0f};
    const float3 normal = unpacked_normal(guide.x);
    const float left = floorf(place.x), top = floorf(place.y);
    if (!(left >= -1.0f && top >= -1.0f && left < (float)width && top < (float)height)) return h;
    for (int corner = 0; corner < 4; ++corner) {
        const int x = (int)left + (corner & 1), y = (int)top + (corner >> 1);
        if (x < 0 || y < 0 || x >= width || y >= height) continue;
        const float across = place.x - left, down = place.y - top;
        const float weight = (corner & 1 ? across : 1.0f - across) * (corner & 2 ? down : 1.0f - down);
        const int q = y * width + x;
        const float4 other = f.old_guide[q];
        const float3 m = unpacked_normal(other.x);
        const bool is_same = other.w == guide.w && normal.x * m.x + normal.y * m.y + normal.z * m.z > 0.8f &&
                             fabsf(other.y - depth) <= 2.0f * other.z + 0.01f * depth;
        if (!is_same || weight <= 0.001f) continue;
        add(h.light, f.old_mean[q], weight);
        add(h.moments, f.old_moments[q], weight);
        h.weight += weight;
    }
    const float scale = h.weight > 0.01f ? 1.0f / h.weight : 0.0f;
    h.light = mixed(make_float4(0.0f, 0.0f, 0.0f, 0.0f), h.light, scale);
    h.moments = mixed(make_float4(0.0f, 0.0f, 0.0f, 0.0f), h.moments, scale);
    h.weight = scale > 0.0f ? 1.0f : 0.0f;
    return h;
}

// A sample far brighter than all around it would stay a dot: no neighbour takes part in it.
__device__ __forceinline__ float4 without_sparks(float4 sample, const Around& around) {
    const float4 most = make_float4(around.mean.x + SPARK_REACH * around.spread.x,
                                    around.mean.y + SPARK_REACH * around.spread.y,
                                    around.mean.z + SPARK_REACH * around.spread.z, 0.0f);
    const float scale = min(1.0f, brightness(most) / max(brightness(sample), LEAST_SHARE));
    return make_float4(sample.x * scale, sample.y * scale, sample.z * scale, 0.0f);
}
__device__ __forceinline__ float within(float value, float middle, float reach) {
    return min(max(value, middle - reach), middle + reach);
}

// The sample and the past become their mean. While things move, the past is held to what this sample shows around the
// pixel, so that shadows and light that have gone leave no trail (Salvi, An Excursion in Temporal Supersampling, 2016:
// clipping by variance).
extern "C" __global__ void filter_accumulate(FilterView f, int item_count) {
    const int width = f.frame->width, height = f.frame->height, first_samples = f.frame->sample_index;
    const bool moves = f.state[0] != 0, has_history = f.previous->width == width && f.previous->height == height;
    for (int item : grid_stride(item_count)) {
        const Pixel at = pixel_of_item(item, width, height);
        if (!at.inside) continue;
        const int p = at.y * width + at.x;
        const float4 guide = f.guide[p];
        float4 sample = f.light[p], light = sample, moments = make_float4(0.0f, 0.0f, 1.0f, 0.0f);
        if (guide.w >= 0.0f) {
            const Around around = light_around(f, at.x, at.y, guide, width, height);
            if (around.is_known) sample = without_sparks(sample, around);
            const float bright = brightness(sample);
            light = sample;
            moments = make_float4(bright, bright * bright, 1.0f, 0.0f);
            const float spread = max(max(around.spread.x, around.spread.y), around.spread.z);
            History past = {};
            if (has_history && first_samples > 0) past = {f.old_mean[p], f.old_moments[p], 1.0f};
            else if (has_history) past = history_of(f, f.place[p], f.depth[p], guide, width, height);
            if (past.weight > 0.0f) {
                const float count = min(past.moments.z, (float)(f.state[1] + first_samples));
                if (moves) {
                    // The mean of so many pixels is known up to a share of their spread.
                    const float reach = CLIP_REACH;
                    past.light.x = within(past.light.x, around.mean.x,
                                          reach * around.spread.x + FILTER_SPREAD * spread);
                    past.light.y = within(past.light.y, around.mean.y,
                                          reach * around.spread.y + FILTER_SPREAD * spread);
                    past.light.z = within(past.light.z, around.mean.z,
                                          reach * around.spread.z + FILTER_SPREAD * spread);
                }
                const float share = 1.0f / (count + 1.0f);
                light = mixed(past.light, sample, share);
                moments = mixed(past.moments, moments, share);
                moments.z = count + 1.0f;
            }
            const float over_time = max(moments.y - moments.x * moments.x, 0.0f);
            const float over_space = brightness(make_float4(around.spread.x * around.spread.x,
                                                            around.spread.y * around.spread.y,
                                                            around.spread.z * around.spread.z, 0.0f));
            light.w = (moments.z < ENOUGH_SAMPLES ? over_space : over_time) / moments.z;
        }
        f.mean[p] = light;
        f.moments[p] = moments;
    }
}

// The variance is itself noisy: its mean over 3 x 3 pixels.
__device__ __forceinline__ float smooth_variance(const float4* light, int x, int y, int width, int height) {
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            const int qx = min(max(x + dx, 0), width - 1), qy = min(max(y + dy, 0), height - 1);
            sum += light[qy * width + qx].w * (dx == 0 ? 2.0f : 1.0f) * (dy == 0 ? 2.0f : 1.0f);
        }
    }
    return sum * (1.0f / 16.0f);
}

// One pass of the a-trous wavelet: a small kernel with gaps of `step` pixels, over pixels of the same surface whose
// light differs by no more than noise.
extern "C" __global__ void filter_spread(FilterView f, const float4* source, float4* to, int step, int reach,
                                         int item_count) {
    const int width = f.frame->width, height = f.frame->height;
    for (int item : grid_stride(item_count)) {
        const Pixel at = pixel_of_item(item, width, height);
        if (!at.inside) continue;
        const int p = at.y * width + at.x;
        const float4 guide = f.guide[p], centre = source[p];
        float4 sum = centre;
        if (guide.w >= 0.0f) {
            const float3 normal = unpacked_normal(guide.x);
            const float own = brightness(centre);
            const float noise = 1.0f /
                                (LIGHT_REACH * sqrtf(max(smooth_variance(source, at.x, at.y, width, height), 0.0f)) +
                                 FILTER_LIGHT * own + LEAST_SUM);
            float total = 1.0f;
            for (int dy = -reach; dy <= reach; ++dy) {
                for (int dx = -reach; dx <= reach; ++dx) {
                    const int qx = at.x + dx * step, qy = at.y + dy * step;
                    if ((dx == 0 && dy == 0) || qx < 0 || qy < 0 || qx >= width || qy >= height) continue;
                    const int q = qy * width + qx;
                    // B3 spline: 3/8, 1/4, 1/16, here over the middle's.
                    const int ax = abs(dx), ay = abs(dy);
                    const float kernel = (ax == 0   ? 1.0f
                                          : ax == 1 ? 2.0f / 3.0f
                                                    : 1.0f / 6.0f) *
                                         (ay == 0   ? 1.0f
                                          : ay == 1 ? 2.0f / 3.0f
                                                    : 1.0f / 6.0f);
                    const float near = closeness(guide, normal, f.guide[q], (float)(max(ax, ay) * step));
                    if (near < -24.0f) continue;
                    const float4 other = source[q];
                    const float weight = kernel * exp2_of(near - fabsf(brightness(other) - own) * noise);
                    sum.x += other.x * weight;
                    sum.y += other.y * weight;
                    sum.z += other.z * weight;
                    sum.w += other.w * weight * weight;
                    total += weight;
                }
            }
            const float scale = 1.0f / total;
            sum = make_float4(sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale * scale);
        }
        to[p] = sum;
    }
}

// The albedo put back; the more samples there are since the restart, the more of them is shown as they are, slowly at
// first where they are to be shown alone in the end, or noise would come back early. Then this
// picture is the past. Items are rays.
extern "C" __global__ void filter_compose(FilterView f, const float4* source, int ray_count) {
    const int width = f.frame->width, height = f.frame->height;
    const float count = (float)f.frame->sample_count, plain_from = (float)f.state[2];
    const float way = min((count - 1.0f) / max(plain_from - 1.0f, 1.0f), 1.0f);
    const float plain = plain_from > 0.0f ? (count >= plain_from ? 1.0f : way * way)
                                          : (count - 1.0f) / (count + 1023.0f);
    for (int ray : grid_stride(ray_count)) {
        const PackPixels at = pixels_of(ray, width, height);
        if (!at.inside) continue;
        const int p = at.y * width + at.x;
        const float4 light = source[p], albedo = f.albedo[p], glow = f.glow[p];
        const int64 plane = ray_count;
        const float filtered[3] = {light.x * albedo.x + glow.x, light.y * albedo.y + glow.y,
                                   light.z * albedo.z + glow.z};
        for (int channel = 0; channel < 3; ++channel) {
            const float raw = f.raw[channel * plane + ray];
            f.sums[channel * plane + ray] = filtered[channel] * count * (1.0f - plain) + raw * plain;
        }
        f.old_guide[p] = f.guide[p];
        f.old_mean[p] = f.mean[p];
        f.old_moments[p] = f.moments[p];
        if (ray == 0) *f.previous = *f.frame;
    }
}
