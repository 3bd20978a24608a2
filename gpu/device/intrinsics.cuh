// Instructions of x86 processors by their names, for lanes. GCC's whole header takes longer to read than most kernels
// to compile (0.36 s, 0.14 for what is used here), so that its parts are named, where the compiler is one that they are
// known of; -DWHOLE_INTRINSICS reads all of it.
#pragma once
#if !defined(WHOLE_INTRINSICS) && !defined(__clang__) && defined(__GNUC__) && __GNUC__ >= 9 && \
    __has_include(<avx512vpopcntdqvlintrin.h>)
#define NAMED_INTRINSICS
#ifndef _IMMINTRIN_H_INCLUDED
#define _IMMINTRIN_H_INCLUDED  // by which the parts know that they may be read
#endif
#ifndef _MM_MALLOC_H_INCLUDED
#define _MM_MALLOC_H_INCLUDED  // no kernel asks for memory
#endif
#include <mmintrin.h>
//
#include <xmmintrin.h>
//
#include <emmintrin.h>
//
#include <pmmintrin.h>
//
#include <tmmintrin.h>
//
#include <smmintrin.h>
//
#include <avxintrin.h>
//
#include <avx2intrin.h>
//
#include <fmaintrin.h>
//
#ifdef __AVX512F__
#include <avx512fintrin.h>
//
#include <avx512vlintrin.h>
//
#include <avx512vpopcntdqintrin.h>
#include <avx512vpopcntdqvlintrin.h>
#endif
#else
#include <immintrin.h>
#endif
