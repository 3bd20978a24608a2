// What Embree's library is called by, as far as races and bench need it: declarations of our own for Embree 4 and 3.13,
// whose names are looked up when the program starts. The two differ in how a query's flags are handed over.
#pragma once
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace embree {

constexpr unsigned NO_HIT = ~0u;
constexpr int TRIANGLES = 0, INDEX_BUFFER = 0, VERTEX_BUFFER = 1, UINT3 = 0x5003, FLOAT3 = 0x9003, VERSION = 0,
              DYNAMIC = 1, ROBUST = 4, LOW = 0, REFIT = 3;

template <int N>
struct alignas(N == 1 ? 16 : 64) Rays {
    float org_x[N], org_y[N], org_z[N], tnear[N], dir_x[N], dir_y[N], dir_z[N], time[N], tfar[N];
    unsigned mask[N], id[N], flags[N];
};
// The last rows are an instance's numbers: version 4 has one more than version 3, which does not look there.
template <int N>
struct alignas(N == 1 ? 16 : 64) Hits {
    float ng_x[N], ng_y[N], ng_z[N], u[N], v[N];
    unsigned prim_id[N], geom_id[N], inst_id[N], inst_prim_id[N];
};
template <int N>
struct RayHits {
    Rays<N> ray;
    Hits<N> hit;
};

// RTCIntersectArguments and RTCOccludedArguments of version 4, with room for what a build may add behind.
struct Arguments {
    int flags;
    unsigned feature_mask = ~0u;
    void *context = nullptr, *filter = nullptr, *function = nullptr, *more[2] = {};
    explicit Arguments(bool is_coherent) : flags(is_coherent ? 1 << 16 : 0) {}
};
// RTCIntersectContext of version 3, likewise.
struct Context {
    int flags;
    void* filter = nullptr;
    unsigned inst_id[4] = {~0u, ~0u, ~0u, ~0u};
    explicit Context(bool is_coherent) : flags(is_coherent ? 1 : 0) {}
};

struct Library {
    void* handle;
    void* (*new_device)(const char*);
    int (*device_error)(void*);
    ptrdiff_t (*device_property)(void*, int);
    void* (*new_scene)(void*);
    void (*set_quality)(void*, int);
    void (*set_flags)(void*, int);
    void (*set_geometry_quality)(void*, int);
    void (*update_buffer)(void*, int, unsigned);
    void* (*new_geometry)(void*, int);
    void (*set_buffer)(void*, int, unsigned, int, const void*, size_t, size_t, size_t);
    void (*commit_geometry)(void*);
    unsigned (*attach)(void*, void*);
    void (*commit_scene)(void*);
    void* query[2][3];  // closest and any hit, of 1, 8 and 16 rays
    bool is_version_4 = true;

    explicit Library(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (!handle) {
            std::fprintf(stderr, "Embree's library could not be opened: %s.\n", dlerror());
            std::exit(1);
        }
        find("rtcNewDevice", new_device), find("rtcGetDeviceError", device_error);
        find("rtcGetDeviceProperty", device_property), find("rtcNewScene", new_scene);
        find("rtcSetSceneBuildQuality", set_quality), find("rtcNewGeometry", new_geometry);
        find("rtcSetSceneFlags", set_flags), find("rtcSetGeometryBuildQuality", set_geometry_quality);
        find("rtcUpdateGeometryBuffer", update_buffer);
        find("rtcSetSharedGeometryBuffer", set_buffer), find("rtcCommitGeometry", commit_geometry);
        find("rtcAttachGeometry", attach), find("rtcCommitScene", commit_scene);
        const char* names[2][3] = {{"rtcIntersect1", "rtcIntersect8", "rtcIntersect16"},
                                   {"rtcOccluded1", "rtcOccluded8", "rtcOccluded16"}};
        for (int any = 0; any < 2; ++any)
            for (int width = 0; width < 3; ++width) find(names[any][width], query[any][width]);
    }

    // `rays`: Rays<N> where `is_any`, else RayHits<N>. `valid`: N words, -1 for a ray that counts; unused where N is 1.
    template <int N>
    void trace(bool is_any, bool is_coherent, const int* valid, void* scene, void* rays) const {
        Arguments arguments(is_coherent);
        Context context(is_coherent);
        void* third = is_version_4 ? rays : &context;
        void* fourth = is_version_4 ? static_cast<void*>(&arguments) : rays;
        void* function = query[is_any][N == 1 ? 0 : N == 8 ? 1 : 2];
        if constexpr (N == 1) reinterpret_cast<void (*)(void*, void*, void*)>(function)(scene, third, fourth);
        else reinterpret_cast<void (*)(const int*, void*, void*, void*)>(function)(valid, scene, third, fourth);
    }

private:
    template <class F>
    void find(const char* name, F& into) const {
        into = reinterpret_cast<F>(dlsym(handle, name));
        if (into) return;
        std::fprintf(stderr, "Embree's library has no %s.\n", name);
        std::exit(1);
    }
};

}  // namespace embree
