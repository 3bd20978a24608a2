// Embree beside our host target: a static tree over the same triangles and the same rays in the same order, made on the
// way as ours are or read from buffers as ours are, hits stored as ours are. Reads a file that embree.py writes and
// prints a line about its tree; then acts line by line of stdin, and prints a line for each:
//   trace SET WIDTH COUNT   that set of rays COUNT times in packets of WIDTH: what was hit, both kinds of times
//   build, refit            positions of the file EXCHANGE: a new tree, or new boxes for the one there is
//   hits SET WIDTH          once, and writes t (infinite: nothing) and prim_id (-1) of all rays to EXCHANGE
//
// File: int32 vertex_count, triangle_count, thread_count, quality, is_dynamic, is_robust, set_count;
// float[3 * vertex_count] positions; int32[3 * triangle_count] indices; and for each set int32 is_any, is_coherent,
// width, height, ray_count, float[16] camera (gpu/camera.py: frame), float[8 * ray_count] rays, in rows as
// gpu/trace/ray_sources.cuh has them (a multiple of 64 of them, those with t_min >= t_max idle). A set without rays of
// its own is the camera's picture.
#include <pmmintrin.h>
#include <time.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "embree_view.h"

namespace {

constexpr int TILE_SIDE = 8, TILE_RAYS = 64, TILES_A_TASK = 8;

struct Job {
    int vertex_count, triangle_count, thread_count, quality, is_dynamic, is_robust, set_count;
};

struct SetHead {
    int is_any, is_coherent, width, height, ray_count;
    float camera[16];
};

struct RaySet : SetHead {
    std::vector<float> rows;
    int tiles() const {
        if (ray_count) return ray_count / TILE_RAYS;
        return ((width + TILE_SIDE - 1) / TILE_SIDE) * ((height + TILE_SIDE - 1) / TILE_SIDE);
    }
};

struct HitBuffer {
    std::vector<float> t, u, v;
    std::vector<unsigned> prim_id;
    explicit HitBuffer(size_t rays) : t(rays), u(rays), v(rays), prim_id(rays) {}
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double processor_milliseconds() {
    timespec spent{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return 1e3 * double(spent.tv_sec) + 1e-6 * double(spent.tv_nsec);
}

void check(const embree::Library& library, void* device, const char* what) {
    const int error = library.device_error(device);
    if (error == 0) return;
    std::fprintf(stderr, "Embree could not %s: error %d.\n", what, error);
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
template <int N>
void make_rays(const RaySet& set, int first, embree::Rays<N>& pack, int* valid) {
    float c[16], dx[N], dy[N], dz[N];
    std::copy_n(set.camera, 16, c);
    const int width = set.width, height = set.height, across = (width + TILE_SIDE - 1) / TILE_SIDE,
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
        pack.org_x[lane] = c[0], pack.org_y[lane] = c[1], pack.org_z[lane] = c[2];
        pack.dir_x[lane] = dx[lane], pack.dir_y[lane] = dy[lane], pack.dir_z[lane] = dz[lane];
        pack.tnear[lane] = 0.0f, pack.tfar[lane] = std::numeric_limits<float>::infinity();
        valid[lane] = inside[lane];
    }
}

template <int N>
void read_rays(const RaySet& set, int first, embree::Rays<N>& pack, int* valid) {
    const size_t row = size_t(set.ray_count);
    const float* at = &set.rows[size_t(first)];
    float* const into[8] = {pack.org_x, pack.org_y, pack.org_z, pack.dir_x,
                            pack.dir_y, pack.dir_z, pack.tnear, pack.tfar};
    for (int i = 0; i < 8; ++i) std::copy_n(at + size_t(i) * row, N, into[i]);
    for (int lane = 0; lane < N; ++lane) valid[lane] = -int(pack.tnear[lane] < pack.tfar[lane]);
}

template <int N>
void take_rays(const RaySet& set, int first, embree::Rays<N>& pack, int* valid) {
    if (set.ray_count) read_rays<N>(set, first, pack, valid);
    else make_rays<N>(set, first, pack, valid);
    for (int lane = 0; lane < N; ++lane) pack.time[lane] = 0.0f, pack.mask[lane] = ~0u, pack.flags[lane] = 0u;
}

// Packets of eight are made and taken apart, so that making rays costs what it costs the packets.
void trace_singly(const embree::Library& library, const RaySet& set, void* scene, const int* valid,
                  embree::RayHits<8>& pack) {
    for (int lane = 0; lane < 8; ++lane) {
        if (valid[lane] == 0) continue;
        embree::RayHits<1> one{};
        const embree::Rays<8>& of = pack.ray;
        one.ray = {{of.org_x[lane]}, {of.org_y[lane]}, {of.org_z[lane]}, {of.tnear[lane]}, {of.dir_x[lane]},
                   {of.dir_y[lane]}, {of.dir_z[lane]}, {0.0f},           {of.tfar[lane]},  {~0u}};
        one.hit.geom_id[0] = embree::NO_HIT, one.hit.inst_id[0] = embree::NO_HIT;
        library.trace<1>(set.is_any, set.is_coherent, nullptr, scene, &one);
        pack.ray.tfar[lane] = one.ray.tfar[0], pack.hit.u[lane] = one.hit.u[0], pack.hit.v[lane] = one.hit.v[0];
        pack.hit.prim_id[lane] = one.hit.prim_id[0], pack.hit.geom_id[lane] = one.hit.geom_id[0];
    }
}

// An occluded ray has a negative end and names no primitive: 0 is stored for it.
template <int N>
void store_hits(const RaySet& set, const embree::RayHits<N>& pack, const int* valid, int first, HitBuffer& hits) {
    unsigned* prim_id = &hits.prim_id[size_t(first)];
    if (set.is_any) {
        for (int lane = 0; lane < N; ++lane)
            prim_id[lane] = (valid[lane] != 0) & (pack.ray.tfar[lane] < 0.0f) ? 0u : embree::NO_HIT;
        return;
    }
    std::copy_n(pack.ray.tfar, N, &hits.t[size_t(first)]);
    std::copy_n(pack.hit.u, N, &hits.u[size_t(first)]);
    std::copy_n(pack.hit.v, N, &hits.v[size_t(first)]);
    for (int lane = 0; lane < N; ++lane) {
        const bool hit = (valid[lane] != 0) & (pack.hit.geom_id[lane] != embree::NO_HIT);
        prim_id[lane] = pack.hit.prim_id[lane] | (hit ? 0u : embree::NO_HIT);
    }
}

template <int N, bool IS_SINGLE>
void trace_tile(const embree::Library& library, const RaySet& set, void* scene, int tile, HitBuffer& hits) {
    embree::RayHits<N> pack;
    alignas(64) int valid[N];
    for (int first = tile * TILE_RAYS; first < (tile + 1) * TILE_RAYS; first += N) {
        take_rays<N>(set, first, pack.ray, valid);
        for (int lane = 0; lane < N; ++lane)
            pack.hit.geom_id[lane] = embree::NO_HIT, pack.hit.inst_id[lane] = embree::NO_HIT;
        if constexpr (IS_SINGLE) trace_singly(library, set, scene, valid, pack);
        else library.trace<N>(set.is_any, set.is_coherent, valid, scene, set.is_any ? (void*)&pack.ray : (void*)&pack);
        store_hits<N>(set, pack, valid, first, hits);
    }
}

void set_rounding() {
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
}

void trace_set(const embree::Library& library, const RaySet& set, int threads, void* scene, int width,
               HitBuffer& hits) {
    const int tiles = set.tiles();
    std::atomic<int> next{0};
    auto work = [&] {
        set_rounding();
        for (int tile = next.fetch_add(TILES_A_TASK); tile < tiles; tile = next.fetch_add(TILES_A_TASK))
            for (int i = tile; i < std::min(tile + TILES_A_TASK, tiles); ++i) {
                if (width == 16) trace_tile<16, false>(library, set, scene, i, hits);
                if (width == 8) trace_tile<8, false>(library, set, scene, i, hits);
                if (width == 1) trace_tile<8, true>(library, set, scene, i, hits);
            }
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (std::thread& thread : others) thread.join();
}

struct Tree {
    void *scene, *geometry;
    double ms = 0.0, processor_ms = 0.0;
};

void commit(const embree::Library& library, void* device, Tree& tree) {
    library.commit_geometry(tree.geometry);
    const auto start = std::chrono::steady_clock::now();
    const double spent = processor_milliseconds();
    library.commit_scene(tree.scene);
    tree.ms = milliseconds_since(start), tree.processor_ms = processor_milliseconds() - spent;
    check(library, device, "build its tree");
}

Tree build(const embree::Library& library, void* device, const Job& job, const std::vector<float>& positions,
           const std::vector<int>& triangles) {
    Tree tree{library.new_scene(device), library.new_geometry(device, embree::TRIANGLES)};
    // Embree keeps a tree for each mesh, which is built by its own quality or refitted, in scenes of low quality alone.
    library.set_quality(tree.scene, job.is_dynamic ? embree::LOW : job.quality);
    library.set_flags(tree.scene, (job.is_dynamic ? embree::DYNAMIC : 0) | (job.is_robust ? embree::ROBUST : 0));
    library.set_geometry_quality(tree.geometry, job.quality);
    library.set_buffer(tree.geometry, embree::VERTEX_BUFFER, 0, embree::FLOAT3, positions.data(), 0, 12,
                       size_t(job.vertex_count));
    library.set_buffer(tree.geometry, embree::INDEX_BUFFER, 0, embree::UINT3, triangles.data(), 0, 12,
                       size_t(job.triangle_count));
    library.attach(tree.scene, tree.geometry);
    commit(library, device, tree);
    return tree;
}

void update(const embree::Library& library, void* device, const Job& job, const char* exchange, Tree& tree, bool refits,
            std::vector<float>& positions) {
    std::FILE* file = std::fopen(exchange, "rb");
    if (!file) std::exit(2);
    read_exactly(file, positions.data(), 12 * size_t(job.vertex_count));
    std::fclose(file);
    library.set_geometry_quality(tree.geometry, refits ? embree::REFIT : job.quality);
    library.update_buffer(tree.geometry, embree::VERTEX_BUFFER, 0);
    commit(library, device, tree);
    std::printf("{\"build_ms\": %.4f, \"build_processor_ms\": %.4f}\n", tree.ms, tree.processor_ms);
    std::fflush(stdout);
}

void print_list(const char* name, const std::vector<double>& values) {
    std::printf(", \"%s\": [", name);
    for (size_t i = 0; i < values.size(); ++i) std::printf("%s%.4f", i ? ", " : "", values[i]);
    std::printf("]");
}

void measure(const embree::Library& library, const RaySet& set, int threads, void* scene, int width, int count) {
    HitBuffer hits(size_t(set.tiles()) * TILE_RAYS);
    std::vector<double> samples, processors;
    for (int i = 0; i < count; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const double spent = processor_milliseconds();
        trace_set(library, set, threads, scene, width, hits);
        samples.push_back(milliseconds_since(start)), processors.push_back(processor_milliseconds() - spent);
    }
    long long found = 0;
    double sum_t = 0.0;
    for (size_t i = 0; i < hits.t.size(); ++i)
        if (hits.prim_id[i] != embree::NO_HIT) ++found, sum_t += set.is_any ? 0.0 : double(hits.t[i]);
    std::printf("{\"hits\": %lld, \"sum_t\": %.9g", found, sum_t);
    print_list("samples_ms", samples), print_list("processor_ms", processors);
    std::printf("}\n");
    std::fflush(stdout);
}

void write_hits(const embree::Library& library, const RaySet& set, int threads, void* scene, int width,
                const char* exchange) {
    HitBuffer hits(size_t(set.tiles()) * TILE_RAYS);
    trace_set(library, set, threads, scene, width, hits);
    for (size_t i = 0; i < hits.t.size(); ++i)
        if (hits.prim_id[i] == embree::NO_HIT) hits.t[i] = std::numeric_limits<float>::infinity();
    std::FILE* file = std::fopen(exchange, "wb");
    const size_t count = hits.t.size();
    const bool is_written = file && std::fwrite(hits.t.data(), 4, count, file) == count &&
                            std::fwrite(hits.prim_id.data(), 4, count, file) == count && std::fclose(file) == 0;
    if (!is_written) {
        std::fprintf(stderr, "The hits could not be written.\n");
        std::exit(2);
    }
    std::printf("{\"rays\": %zu}\n", count);
    std::fflush(stdout);
}

std::vector<RaySet> read_sets(std::FILE* file, int count) {
    std::vector<RaySet> sets(static_cast<size_t>(count));
    for (RaySet& set : sets) {
        read_exactly(file, static_cast<SetHead*>(&set), sizeof(SetHead));
        set.rows.resize(8 * size_t(set.ray_count) + 16);
        read_exactly(file, set.rows.data(), 32 * size_t(set.ray_count));
    }
    return sets;
}

}  // namespace

int main(int argc, char** argv) {
    std::FILE* file = argc == 4 ? std::fopen(argv[2], "rb") : nullptr;
    if (!file) {
        std::fprintf(stderr, "usage: embree LIBRARY JOB EXCHANGE\n");
        return 2;
    }
    embree::Library library(argv[1]);
    Job job;
    read_exactly(file, &job, sizeof job);
    std::vector<float> positions(3 * size_t(job.vertex_count) + 4);
    std::vector<int> triangles(3 * size_t(job.triangle_count) + 4);
    read_exactly(file, positions.data(), 12 * size_t(job.vertex_count));
    read_exactly(file, triangles.data(), 12 * size_t(job.triangle_count));
    const std::vector<RaySet> sets = read_sets(file, job.set_count);
    std::fclose(file);
    set_rounding();
    char configuration[64];
    std::snprintf(configuration, sizeof configuration, "threads=%d", job.thread_count);
    void* device = library.new_device(configuration);
    check(library, nullptr, "start");
    const long long version = library.device_property(device, embree::VERSION);
    library.is_version_4 = version >= 40000;
    Tree tree = build(library, device, job, positions, triangles);
    std::printf("{\"version\": \"%lld.%lld.%lld\", \"build_ms\": %.3f, \"build_processor_ms\": %.3f}\n",
                version / 10000, version / 100 % 100, version % 100, tree.ms, tree.processor_ms);
    std::fflush(stdout);
    char word[16];
    while (std::scanf("%15s", word) == 1) {
        const std::string command = word;
        int set = 0, width = 0, count = 0;
        if (command == "build" || command == "refit")
            update(library, device, job, argv[3], tree, command == "refit", positions);
        else if (command == "trace" && std::scanf("%d %d %d", &set, &width, &count) == 3)
            measure(library, sets.at(size_t(set)), job.thread_count, tree.scene, width, count);
        else if (command == "hits" && std::scanf("%d %d", &set, &width) == 2)
            write_hits(library, sets.at(size_t(set)), job.thread_count, tree.scene, width, argv[3]);
        else return 2;
    }
    return 0;
}
