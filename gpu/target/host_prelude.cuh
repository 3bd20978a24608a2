// The standard headers that kernel files include, compiled once for the host (host_prelude.py).
#pragma once
#include <algorithm>
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include "gpu/device/intrinsics.cuh"
#endif
