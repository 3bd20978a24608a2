// A picture of RGBA8 pixels enlarged: each pixel is a weighted mean of the 4 x 4 around its place, whose weights reach
// further along an edge than across it, so that edges stay sharp and lose their steps. Which way edges run says the
// structure tensor of the brightness (Bigun and Granlund, Optimal Orientation Detection of Linear Symmetry, 1987).
#include "gpu/device/lanes.cuh"
#include "gpu/device/loops.cuh"

// How much less a distance along an edge counts where all differences point one way, in squares; and the squared
// differences of brightness, in bytes, up to which they have no direction. Channels that differ by no more than PLAIN
// have no edge.
constexpr float ALONG = 0.85f, FAINT = 16.0f, PLAIN = 4.0f;
constexpr int TAPS = 4;

__device__ __forceinline__ Real channel(Int pixel, int shift) { return to_real(pixel >> shift & 255); }
__device__ __forceinline__ Real brightness(Int pixel) {
    return (channel(pixel, 0) + channel(pixel, 8) * 2.0f + channel(pixel, 16)) * 0.25f;
}

// Of a squared distance in pixels: 1 at 0, 0 from 2 pixels on, below 0 between 1 and 2, much like Lanczos' kernel.
__device__ __forceinline__ Real weight_at(Real squared) {
    const Real far = splat(1.0f) - min(squared, splat(4.0f)) * 0.25f;
    return (splat(1.0f) - squared) * (far * far * far * far);
}

// How far `place`, from 0 to `count` pixels of the enlarged side, is from the middle of the pixel before it.
struct Place {
    Int first;
    Real beyond;
};
__device__ __forceinline__ Place place_of(Int place, float ratio) {
    const Real at = (to_real(place) + 0.5f) * ratio - 0.5f, first = lanes_floor(at);
    return {truncated(first), at - first};
}
__device__ __forceinline__ Int clamped(Int value, int most) {
    const Int least = select(value < splat_int(0), splat_int(0), value);
    return select(least < splat_int(most), least, splat_int(most));
}

// The direction in which brightness differs most, by the cosine and sine of twice its angle, and by how much less a
// distance along the edge counts than one across it.
struct Edge {
    Real cosine, sine, along;
};
__device__ __forceinline__ Edge edge_of(const Real (&light)[TAPS][TAPS], Real x, Real y) {
    Real xx = splat(0.0f), xy = splat(0.0f), yy = splat(0.0f);
#pragma unroll
    for (int row = 1; row <= 2; ++row) {
#pragma unroll
        for (int column = 1; column <= 2; ++column) {
            const Real share = (column == 1 ? splat(1.0f) - x : x) * (row == 1 ? splat(1.0f) - y : y);
            const Real across = light[row][column + 1] - light[row][column - 1],
                       down = light[row + 1][column] - light[row - 1][column];
            xx = xx + share * across * across;
            xy = xy + share * across * down;
            yy = yy + share * down * down;
        }
    }
    const Real difference = xx - yy, length = lanes_sqrt(difference * difference + xy * xy * 4.0f);
    const Real inverse = select(length > splat(0.0f), splat(1.0f) / length, splat(0.0f));
    return {difference * inverse, xy * 2.0f * inverse, splat(1.0f) - length / max(xx + yy, splat(FAINT)) * ALONG};
}

// The channels of the four pixels around a place: the least and the most of each, and what lies between them by the
// place.
struct Around {
    Real least[3], most[3], between[3];
};
__device__ __forceinline__ Around around(const Int (&pixels)[2][2], Real x, Real y) {
    Around found;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const Real a = channel(pixels[0][0], 8 * k), b = channel(pixels[0][1], 8 * k), c = channel(pixels[1][0], 8 * k),
                   d = channel(pixels[1][1], 8 * k), above = a + (b - a) * x, below = c + (d - c) * x;
        found.least[k] = min(min(a, b), min(c, d));
        found.most[k] = max(max(a, b), max(c, d));
        found.between[k] = above + (below - above) * y;
    }
    return found;
}

// Where the four pixels around each place of a pack differ by less, what lies between them is all there is to see.
__device__ __forceinline__ bool is_plain(const Around& four) {
    Real range = splat(0.0f);
#pragma unroll
    for (int k = 0; k < 3; ++k) range = max(range, four.most[k] - four.least[k]);
    return !any(range > splat(PLAIN));
}

__device__ __forceinline__ void store_pixels(int* row, int first, int wide, const Real (&channels)[3]) {
    Int color = splat_int((int)0xff000000u);
#pragma unroll
    for (int k = 0; k < 3; ++k) color = color | truncated(channels[k] + 0.5f) << 8 * k;
    int colors[PACK];
    store(colors, color);
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        if (first + i < wide) row[first + i] = colors[i];
    }
}

// The mean of the 4 x 4 pixels by their weights, no brighter and no darker than the four in their middle.
__device__ __forceinline__ void weigh(const Int (&pixels)[TAPS][TAPS], const Real (&light)[TAPS][TAPS], Real beyond_x,
                                      Real beyond_y, const Around& four, Real (&channels)[3]) {
    const Edge edge = edge_of(light, beyond_x, beyond_y);
    Real sums[3] = {splat(0.0f), splat(0.0f), splat(0.0f)}, weights = splat(0.0f);
#pragma unroll
    for (int j = 0; j < TAPS; ++j) {
#pragma unroll
        for (int i = 0; i < TAPS; ++i) {
            const Real x = splat((float)(i - 1)) - beyond_x, y = splat((float)(j - 1)) - beyond_y;
            const Real whole = x * x + y * y,
                       over = (whole + (x * x - y * y) * edge.cosine + x * y * 2.0f * edge.sine) * 0.5f;
            const Real weight = weight_at(over + (whole - over) * edge.along);
            weights = weights + weight;
#pragma unroll
            for (int k = 0; k < 3; ++k) sums[k] = sums[k] + weight * channel(pixels[j][i], 8 * k);
        }
    }
#pragma unroll
    for (int k = 0; k < 3; ++k) channels[k] = max(min(sums[k] / weights, four.most[k]), four.least[k]);
}

// `picture`: width x height pixels, `enlarged`: wide x high.
extern "C" __global__ void enlarge_picture(const uint8* picture, int width, int height, int wide, int high,
                                           uint8* enlarged) {
    const int packs_across = (wide + PACK - 1) / PACK;
    const float across = (float)width / (float)wide, down = (float)height / (float)high;
    for (int pack : grid_stride(packs_across * high)) {
        const int first = pack % packs_across * PACK, at_row = pack / packs_across;
        const Place column = place_of(splat_int(first) + lane_index(), across), row = place_of(splat_int(at_row), down);
        int* const to = (int*)enlarged + (int64)at_row * wide;
        Int columns[TAPS], begins[TAPS];
#pragma unroll
        for (int i = 0; i < TAPS; ++i) {
            columns[i] = clamped(column.first + (i - 1), width - 1);
            begins[i] = clamped(row.first + (i - 1), height - 1) * splat_int(width);
        }
        const auto pixel_at = [&](int j, int i) {
            return bits_of(gather((const float*)picture, begins[j] + columns[i]));
        };
        const Int inner[2][2] = {{pixel_at(1, 1), pixel_at(1, 2)}, {pixel_at(2, 1), pixel_at(2, 2)}};
        const Around four = around(inner, column.beyond, row.beyond);
        if (is_plain(four)) {
            store_pixels(to, first, wide, four.between);
            continue;
        }
        Int pixels[TAPS][TAPS];
        Real light[TAPS][TAPS], channels[3];
#pragma unroll
        for (int j = 0; j < TAPS; ++j) {
#pragma unroll
            for (int i = 0; i < TAPS; ++i) {
                pixels[j][i] = pixel_at(j, i);
                light[j][i] = brightness(pixels[j][i]);
            }
        }
        weigh(pixels, light, column.beyond, row.beyond, four, channels);
        store_pixels(to, first, wide, channels);
    }
}

// `kept`: the picture, whose place is written next. Items are pixels.
extern "C" __global__ void keep_picture(const uint8* picture, int pixel_count, uint8* kept) {
    for (int i : grid_stride(pixel_count)) ((unsigned*)kept)[i] = ((const unsigned*)picture)[i];
}
