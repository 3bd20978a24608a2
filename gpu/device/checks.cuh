// Checks of a unit that is compiled for a target with `checks` (TargetOptions): indices against the lengths of arrays,
// pushes against the bounds of stacks, rays against what can be traced. In any other unit nothing of this is compiled.
//
//     Pointer<T>                      T*, whose places are checked: the parameters of kernels (the unit writes them
//                                     so) and what structs hold. p[i] is in its array, p + i may be its end;
//                                     what is handed on as a plain pointer is checked no more
//     as<U>(pointer)                  the same memory as U
//     check_stack(count, capacity)    before something is pushed
//
// The target knows where its arrays lie and keeps their places, sorted, in memory that `check_state` leads to. A place
// in none of them is somebody else's memory, of which nothing is known. The first check that fails leaves a report
// there and ends its thread, on the host its share of the blocks; kernels that come later begin nothing until the
// target has read the report (gpu/target/checks.py).
#pragma once
#include "gpu/device/types.cuh"

#ifdef IS_CHECKED

enum class Check : int { NONE, PLACE, NO_ARRAY, STACK, ORIGIN, DIRECTION, NO_DIRECTION, INTERVAL };

struct CheckReport {
    int check, kernel;
    int64 index, bound;
    uint64 array;  // where it begins
};
struct CheckState {
    CheckReport report;
    int64 array_count;
    uint64 arrays[1][2];  // where each begins and ends
};
static_assert(sizeof(CheckReport) == 32 && sizeof(CheckState) == 56, "checks.py lays them out");

#ifdef CUDA_ON_HOST
// Sanitizers leave out the search for an array, which would take most of their time.
#define NOT_WATCHED __attribute__((no_sanitize("address", "undefined", "thread")))

extern "C" {
__attribute__((visibility("default"))) CheckState* check_state = nullptr;
}
static thread_local int checked_kernel;

__device__ bool is_first_report(int check) {
    int none = 0;
    return __atomic_compare_exchange_n(&check_state->report.check, &none, check, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}
__device__ int report_so_far() { return __atomic_load_n(&check_state->report.check, __ATOMIC_RELAXED); }
__device__ int& kernel_at_work() { return checked_kernel; }
__device__ void end_thread() { longjmp(cuda_on_host::check_exit, 1); }
#else
#define NOT_WATCHED

extern "C" {
__device__ CheckState* check_state;
}
__device__ __forceinline__ bool is_first_report(int check) {
    return atomicCAS(&check_state->report.check, 0, check) == 0;
}
__device__ __forceinline__ int report_so_far() { return *(volatile int*)&check_state->report.check; }
__device__ __forceinline__ int& kernel_at_work() {
    __shared__ int kernel;
    return kernel;
}
__device__ __forceinline__ void end_thread() { asm volatile("exit;"); }
#endif

static __device__ __noinline__ void fail_check(Check check, int64 index, int64 bound, uint64 array) {
    if (is_first_report((int)check)) {
        CheckReport& report = check_state->report;
        report.kernel = kernel_at_work();
        report.index = index;
        report.bound = bound;
        report.array = array;
    }
    end_thread();
}

// The first thing in a kernel; false where it is not to begin.
__device__ __forceinline__ bool begins_checked(int kernel) {
    kernel_at_work() = kernel;
    return report_so_far() == 0;
}

__device__ __forceinline__ void check_stack(int count, int capacity) {
    if (count < 0 || count >= capacity) fail_check(Check::STACK, count, capacity, 0);
}

// Whether the element `index`, of `size` bytes, of what begins at `base` lies in the array that `base` lies in; of
// `used` bytes, none where it may be the array's end.
static __device__ __noinline__ NOT_WATCHED void check_place(uint64 base, int64 index, int64 size, int64 used) {
    if (base < 4096) fail_check(Check::NO_ARRAY, index, 0, 0);
    const CheckState& state = *check_state;
    int64 low = 0, high = state.array_count;  // the arrays before `low` begin at `base` or earlier
    while (low < high) {
        const int64 middle = (low + high) / 2;
        if (state.arrays[middle][0] <= base) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return;
    const uint64 first = state.arrays[low - 1][0], end = state.arrays[low - 1][1];
    if (base > end) return;
    const int64 place = (int64)base + index * size;
    if (place < (int64)first || place + used > (int64)end)
        fail_check(Check::PLACE, index, (int64)(end - base) / size, first);
}

template <class T>
struct Pointer {
    T* base;

    Pointer() = default;
    __device__ __forceinline__ Pointer(T* pointer) : base(pointer) {}
    __device__ __forceinline__ operator T*() const { return base; }
    __device__ __forceinline__ operator Pointer<const T>() const { return base; }
    template <class U>
    __device__ __forceinline__ explicit operator U*() const {
        return (U*)base;
    }
    template <class Index>
    __device__ __forceinline__ T& operator[](Index index) const {
        check_place((uint64)base, (int64)index, sizeof(T), sizeof(T));
        return base[index];
    }
    template <class Index>
    __device__ __forceinline__ Pointer operator+(Index index) const {
        if (base != nullptr) check_place((uint64)base, (int64)index, sizeof(T), 0);
        return base + index;
    }
    __device__ __forceinline__ T& operator*() const { return (*this)[0]; }
    __device__ __forceinline__ T* operator->() const { return &(*this)[0]; }
};
template <class U, class T>
__device__ __forceinline__ Pointer<U> as(Pointer<T> pointer) {
    return (U*)pointer.base;
}
#else

template <class T>
using Pointer = T*;
__device__ __forceinline__ void check_stack(int, int) {}
#endif

template <class U, class T>
__device__ __forceinline__ Pointer<U> as(T* pointer) {
    return (U*)pointer;
}
