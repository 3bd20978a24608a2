// The standard headers that kernel files include, compiled once for the host (host_prelude.py).
#pragma once
#include "gpu/target/host_headers.cuh"
#ifdef __x86_64__
#include "gpu/device/intrinsics.cuh"
#endif
