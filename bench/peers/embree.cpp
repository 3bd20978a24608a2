// Embree 3 beside our host target: a medium-quality static tree over the same triangles, the same primary rays in the
// same order, made on the way as ours are, hits stored as ours are; and any-hit rays of a buffer. Reads a file that
// embree.py writes, prints one JSON object.
//
// File: int32 vertex_count, triangle_count, width, height, thread_count, repeat, warmup, ray_count; float[16] camera
// (gpu/camera.py: frame); float[3 * vertex_count] positions; int32[3 * triangle_count] indices; float[8 * ray_count]
// rays, in rows as gpu/trace/ray_sources.cuh has them (a multiple of 64 of them, those with t_min >= t_max idle).
#include <embree3/rtcore.h>
#include <pmmintrin.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

namespace {

constexpr int TILE_SIDE = 8, TILE_RAYS = 64, TILES_A_TASK = 8;

struct Job {
    int vertex_count, triangle_count, width, height, thread_count, repeat, warmup, ray_count;
    float camera[16];
};

struct Hits {
    std::vector<float> t, u, v;
    std::vector<unsigned> prim_id;
    explicit Hits(size_t rays) : t(rays), u(rays), v(rays), prim_id(rays) {}
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void check(RTCDevice device, const char* what) {
    const RTCError error = rtcGetDeviceError(device);
    if (error == RTC_ERROR_NONE) return;
    std::fprintf(stderr, "Embree could not %s: error %d.\n", what, int(error));
    std::exit(1);
}

void read_exactly(std::FILE* file, void* into, size_t bytes) {
    if (std::fread(into, 1, bytes, file) == bytes) return;
    std::fprintf(stderr, "The job file is too short.\n");
    std::exit(2);
}

// Ray r of a picture: x has bits 0, 2, 4 and y bits 1, 3, 5 of r % 64; tile r / 64 in row-major order
// (gpu/trace/ray_sources.cuh). Rays are made in local arrays by a loop that compilers turn into vector code, so that
// making them costs Embree no more than it costs us.
template <int N, class RayHit>
void make_rays(const Job& job, int first, RayHit& pack, int* valid) {
    float c[16], dx[N], dy[N], dz[N];
    std::copy_n(job.camera, 16, c);
    const int width = job.width, height = job.height, across = (width + TILE_SIDE - 1) / TILE_SIDE,
              tile = first / TILE_RAYS, local = first % TILE_RAYS;
    const int left = tile % across * TILE_SIDE, top = tile / across * TILE_SIDE;
    const float wide = 1.0f / float(width), high = 1.0f / float(height);
    int inside[N];
    for (int lane = 0; lane < N; ++lane) {
        const int r = local + lane;
        const int x = left + ((r & 1) | ((r >> 1) & 2) | ((r >> 2) & 4)),
                  y = top + (((r >> 1) & 1) | ((r >> 2) & 2) | ((r >> 3) & 4));
        const float s = (float(x) + 0.5f) * wide - 0.5f, t = (float(y) + 0.5f) * high - 0.5f;
        const float px = c[4] + c[8] * s + c[12] * t, py = c[5] + c[9] * s + c[13] * t,
                    pz = c[6] + c[10] * s + c[14] * t;
        const float shrink = 1.0f / std::sqrt(px * px + py * py + pz * pz);
        dx[lane] = px * shrink, dy[lane] = py * shrink, dz[lane] = pz * shrink;
        inside[lane] = -int((x < width) & (y < height));
    }
    for (int lane = 0; lane < N; ++lane) {
        pack.ray.org_x[lane] = c[0], pack.ray.org_y[lane] = c[1], pack.ray.org_z[lane] = c[2];
        pack.ray.dir_x[lane] = dx[lane], pack.ray.dir_y[lane] = dy[lane], pack.ray.dir_z[lane] = dz[lane];
        pack.ray.tnear[lane] = 0.0f, pack.ray.tfar[lane] = std::numeric_limits<float>::infinity();
        pack.ray.time[lane] = 0.0f, pack.ray.mask[lane] = ~0u, pack.ray.flags[lane] = 0u;
        pack.hit.geomID[lane] = RTC_INVALID_GEOMETRY_ID;
        valid[lane] = inside[lane];
    }
}

template <int N, class RayHit>
void store_hits(const RayHit& pack, const int* valid, int first, Hits& hits) {
    std::copy_n(pack.ray.tfar, N, &hits.t[first]);
    std::copy_n(pack.hit.u, N, &hits.u[first]);
    std::copy_n(pack.hit.v, N, &hits.v[first]);
    unsigned* prim_id = &hits.prim_id[first];
    for (int lane = 0; lane < N; ++lane) {
        const bool hit = (valid[lane] != 0) & (pack.hit.geomID[lane] != RTC_INVALID_GEOMETRY_ID);
        prim_id[lane] = pack.hit.primID[lane] | (hit ? 0u : ~0u);
    }
}

void trace_pack(std::integral_constant<int, 8>, const int* valid, RTCScene scene, RTCIntersectContext* context,
                RTCRayHit8& pack) {
    rtcIntersect8(valid, scene, context, &pack);
}
void trace_pack(std::integral_constant<int, 16>, const int* valid, RTCScene scene, RTCIntersectContext* context,
                RTCRayHit16& pack) {
    rtcIntersect16(valid, scene, context, &pack);
}

template <int N, class RayHit>
void trace_tile(const Job& job, RTCScene scene, RTCIntersectContext* context, int tile, Hits& hits) {
    alignas(64) RayHit pack;
    alignas(64) int valid[N];
    for (int first = tile * TILE_RAYS; first < (tile + 1) * TILE_RAYS; first += N) {
        make_rays<N>(job, first, pack, valid);
        trace_pack(std::integral_constant<int, N>(), valid, scene, context, pack);
        store_hits<N>(pack, valid, first, hits);
    }
}

// Single rays: packs of 8 are made and taken apart, so that making rays costs what it costs the packs.
void trace_tile_singly(const Job& job, RTCScene scene, RTCIntersectContext* context, int tile, Hits& hits) {
    alignas(64) RTCRayHit8 pack;
    alignas(64) int valid[8];
    for (int first = tile * TILE_RAYS; first < (tile + 1) * TILE_RAYS; first += 8) {
        make_rays<8>(job, first, pack, valid);
        for (int lane = 0; lane < 8; ++lane) {
            if (valid[lane] == 0) continue;
            RTCRayHit one = rtcGetRayHitFromRayHitN(reinterpret_cast<RTCRayHitN*>(&pack), 8, unsigned(lane));
            rtcIntersect1(scene, context, &one);
            pack.ray.tfar[lane] = one.ray.tfar, pack.hit.u[lane] = one.hit.u, pack.hit.v[lane] = one.hit.v;
            pack.hit.primID[lane] = one.hit.primID, pack.hit.geomID[lane] = one.hit.geomID;
        }
        store_hits<8>(pack, valid, first, hits);
    }
}

void occlude(std::integral_constant<int, 8>, const int* valid, RTCScene scene, RTCIntersectContext* context,
             RTCRay8& pack) {
    rtcOccluded8(valid, scene, context, &pack);
}
void occlude(std::integral_constant<int, 16>, const int* valid, RTCScene scene, RTCIntersectContext* context,
             RTCRay16& pack) {
    rtcOccluded16(valid, scene, context, &pack);
}

// What a ray of the buffer hits: 0 where anything, else all ones.
template <int N, class Rays>
void occlude_tile(const Job& job, const std::vector<float>& rows, RTCScene scene, RTCIntersectContext* context,
                  int tile, Hits& hits) {
    alignas(64) Rays pack;
    alignas(64) int valid[N];
    const size_t row = size_t(job.ray_count);
    for (int first = tile * TILE_RAYS; first < (tile + 1) * TILE_RAYS; first += N) {
        const float* at = &rows[size_t(first)];
        for (int lane = 0; lane < N; ++lane) {
            pack.org_x[lane] = at[lane], pack.org_y[lane] = at[row + lane], pack.org_z[lane] = at[2 * row + lane];
            pack.dir_x[lane] = at[3 * row + lane], pack.dir_y[lane] = at[4 * row + lane],
            pack.dir_z[lane] = at[5 * row + lane];
            pack.tnear[lane] = at[6 * row + lane], pack.tfar[lane] = at[7 * row + lane];
            pack.time[lane] = 0.0f, pack.mask[lane] = ~0u, pack.flags[lane] = 0u;
            valid[lane] = -int(at[6 * row + lane] < at[7 * row + lane]);
        }
        occlude(std::integral_constant<int, N>(), valid, scene, context, pack);
        for (int lane = 0; lane < N; ++lane)
            hits.prim_id[first + lane] = valid[lane] != 0 && pack.tfar[lane] < 0.0f ? 0u : ~0u;
    }
}
void occlude_tile_singly(const Job& job, const std::vector<float>& rows, RTCScene scene, RTCIntersectContext* context,
                         int tile, Hits& hits) {
    const size_t row = size_t(job.ray_count);
    for (int i = tile * TILE_RAYS; i < (tile + 1) * TILE_RAYS; ++i) {
        const float* at = &rows[size_t(i)];
        alignas(16) RTCRay ray{at[0],       at[row], at[2 * row], at[6 * row], at[3 * row], at[4 * row],
                               at[5 * row], 0.0f,    at[7 * row], ~0u,         0u,          0u};
        hits.prim_id[size_t(i)] = ~0u;
        if (!(ray.tnear < ray.tfar)) continue;
        rtcOccluded1(scene, context, &ray);
        if (ray.tfar < 0.0f) hits.prim_id[size_t(i)] = 0u;
    }
}

// `rows` null: primary rays.
void trace_picture(const Job& job, const std::vector<float>* rows, RTCScene scene, int width, Hits& hits) {
    const int of_picture = ((job.width + TILE_SIDE - 1) / TILE_SIDE) * ((job.height + TILE_SIDE - 1) / TILE_SIDE);
    const int tiles = rows ? job.ray_count / TILE_RAYS : of_picture;
    std::atomic<int> next{0};
    auto work = [&] {
        _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
        _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        context.flags = rows ? RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT : RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
        for (int tile = next.fetch_add(TILES_A_TASK); tile < tiles; tile = next.fetch_add(TILES_A_TASK))
            for (int i = tile; i < std::min(tile + TILES_A_TASK, tiles); ++i) {
                if (rows && width == 16) occlude_tile<16, RTCRay16>(job, *rows, scene, &context, i, hits);
                if (rows && width == 8) occlude_tile<8, RTCRay8>(job, *rows, scene, &context, i, hits);
                if (rows && width == 1) occlude_tile_singly(job, *rows, scene, &context, i, hits);
                if (rows) continue;
                if (width == 16) trace_tile<16, RTCRayHit16>(job, scene, &context, i, hits);
                if (width == 8) trace_tile<8, RTCRayHit8>(job, scene, &context, i, hits);
                if (width == 1) trace_tile_singly(job, scene, &context, i, hits);
            }
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < job.thread_count; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
}

RTCScene build(RTCDevice device, const Job& job, const std::vector<float>& positions, const std::vector<int>& triangles,
               double& build_ms) {
    RTCScene scene = rtcNewScene(device);
    rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_MEDIUM);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, positions.data(), 0, 12,
                               size_t(job.vertex_count));
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, triangles.data(), 0, 12,
                               size_t(job.triangle_count));
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    const auto start = std::chrono::steady_clock::now();
    rtcCommitScene(scene);
    build_ms = milliseconds_since(start);
    check(device, "build its tree");
    return scene;
}

void measure(const Job& job, const std::vector<float>* rows, RTCScene scene, int width, Hits& hits, bool is_last) {
    std::vector<double> samples;
    for (int i = 0; i < job.warmup + job.repeat; ++i) {
        const auto start = std::chrono::steady_clock::now();
        trace_picture(job, rows, scene, width, hits);
        if (i >= job.warmup) samples.push_back(milliseconds_since(start));
    }
    long long count = 0;
    double sum_t = 0.0;
    for (size_t i = 0; i < hits.t.size(); ++i)
        if (hits.prim_id[i] != ~0u) ++count, sum_t += rows ? 0.0 : double(hits.t[i]);
    std::printf("{\"pack\": %d, \"hits\": %lld, \"sum_t\": %.9g, \"samples_ms\": [", width, count, sum_t);
    for (size_t i = 0; i < samples.size(); ++i) std::printf("%s%.4f", i ? ", " : "", samples[i]);
    std::printf("]}%s", is_last ? "" : ", ");
}

}  // namespace

int main(int argc, char** argv) {
    std::FILE* file = argc == 2 ? std::fopen(argv[1], "rb") : nullptr;
    if (!file) {
        std::fprintf(stderr, "usage: embree JOB\n");
        return 2;
    }
    Job job;
    read_exactly(file, &job, sizeof job);
    std::vector<float> positions(3 * size_t(job.vertex_count) + 4);
    std::vector<int> triangles(3 * size_t(job.triangle_count) + 4);
    read_exactly(file, positions.data(), 12 * size_t(job.vertex_count));
    read_exactly(file, triangles.data(), 12 * size_t(job.triangle_count));
    std::vector<float> rows(8 * size_t(job.ray_count) + 16);
    read_exactly(file, rows.data(), 32 * size_t(job.ray_count));
    std::fclose(file);
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
    char configuration[64];
    std::snprintf(configuration, sizeof configuration, "threads=%d", job.thread_count);
    RTCDevice device = rtcNewDevice(configuration);
    check(nullptr, "start");
    double build_ms = 0.0;
    RTCScene scene = build(device, job, positions, triangles, build_ms);
    const int tiles = ((job.width + TILE_SIDE - 1) / TILE_SIDE) * ((job.height + TILE_SIDE - 1) / TILE_SIDE);
    Hits hits(size_t(tiles) * TILE_RAYS);
    const long long version = rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION);
    std::printf("{\"version\": \"%lld.%lld.%lld\", \"threads\": %d, \"build_ms\": %.3f, \"results\": [",
                version / 10000, version / 100 % 100, version % 100, job.thread_count, build_ms);
    for (int width : {16, 8, 1}) measure(job, nullptr, scene, width, hits, width == 1);
    std::printf("], \"occluded\": [");
    Hits occluded(size_t(job.ray_count));
    if (job.ray_count > 0) {
        for (int width : {16, 8, 1}) measure(job, &rows, scene, width, occluded, width == 1);
    }
    std::printf("]}\n");
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
    return 0;
}
