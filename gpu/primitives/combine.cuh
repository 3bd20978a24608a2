// What a reduction combines: each operation has an identity and a rule. A NaN never enters a minimum or a maximum.
#pragma once

template <class T>
struct Limits;

template <>
struct Limits<float> {
    static __device__ float lowest() { return __int_as_float((int)0xff800000u); }
    static __device__ float highest() { return __int_as_float(0x7f800000); }
};

template <>
struct Limits<int> {
    static __device__ int lowest() { return -2147483647 - 1; }
    static __device__ int highest() { return 2147483647; }
};

template <>
struct Limits<unsigned> {
    static __device__ unsigned lowest() { return 0u; }
    static __device__ unsigned highest() { return 4294967295u; }
};

struct Sum {
    template <class T>
    static __device__ T identity() {
        return T(0);
    }
    static __device__ float combine(float a, float b) { return a + b; }
    static __device__ unsigned combine(unsigned a, unsigned b) { return a + b; }
    // wraps round, as numpy does
    static __device__ int combine(int a, int b) { return int(unsigned(a) + unsigned(b)); }
};

struct Minimum {
    template <class T>
    static __device__ T identity() {
        return Limits<T>::highest();
    }
    template <class T>
    static __device__ T combine(T a, T b) {
        return b < a ? b : a;
    }
};

struct Maximum {
    template <class T>
    static __device__ T identity() {
        return Limits<T>::lowest();
    }
    template <class T>
    static __device__ T combine(T a, T b) {
        return b > a ? b : a;
    }
};
