// Fixed-width integers under one name on every target (NVRTC has no standard headers).
#pragma once

typedef long long int64;
typedef unsigned long long uint64;
typedef unsigned char uint8;

static_assert(sizeof(int) == 4 && sizeof(int64) == 8 && sizeof(float) == 4, "the kernels count on these widths");

constexpr float FLOAT_MAX = 3.402823466e+38f;
constexpr float PI = 3.14159265358979f;
