// How a surface scatters light, in lane packs: a diffuse base, GGX reflection and dielectric transmission, rough or
// smooth, with Fresnel.
//
// Directions are in the frame of the shading normal, z along it on the side of `out` (out.z > 0); `out` leads towards
// the eye, `in` towards the light. Evaluation gives value * |in.z|. Delta lobes (a mirror, clear glass) are found by
// sampling alone: evaluation and density leave them out. Lobes: reflection by GGX with Smith's correlated masking
// (Walter et al. 2007; Heitz 2014) and the Fresnel term of a dielectric, or Schlick's (1994) of the base colour for a
// metal; transmission by the same microfacets, tinted by the base colour; below both a diffuse base that gets all that
// the gloss leaves: (1 - E(out)) (1 - E(in)) / (1 - mean of E), where E is what the gloss reflects to all sides
// (gloss.cuh), after Kelemen and Szirmay-Kalos, A Microfacet Based Coupled Specular-Matte BRDF Model (2001):
// reciprocal, never above the input, and white where the base is. Radiance is scaled where the index changes, so that
// value / index^2 is reciprocal too (Veach 1997, chapter 5).
#pragma once
#include "gpu/device/color.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/shade/gloss.cuh"

constexpr float INVERSE_PI = 0.318309886f;

struct Bsdf {
    Real3 base;
    Real metallic, transmission;
    Real alpha;  // roughness squared
    Real index;  // of refraction beyond the surface over that on the side of `out`
    Real reflect_share, transmit_share;  // how often a sample takes these lobes; the rest is the diffuse one
    Mask mirror, clear;  // reflection, transmission are delta lobes
    Pointer<const float> gloss;  // gloss.cuh's table
    Real diffuse;  // the base's share of the material, times (1 - E(out)) / (1 - mean of E)
};
struct BsdfValue {
    Real3 value;
    Real density;
};
struct BsdfSample {
    Real3 in, weight;  // weight is value / density
    Real density;  // by solid angle; 0 where nothing is sampled, 1 for a delta lobe
    Mask is_delta, is_transmitted;
};

// The share of light that a dielectric reflects; 1 beyond the critical angle. `cosine` in [0, 1].
__device__ __forceinline__ Real dielectric_fresnel(Real index, Real cosine) {
    const Real sine = (splat(1.0f) - cosine * cosine) / (index * index);
    const Real other = lanes_sqrt(max(splat(1.0f) - sine, splat(0.0f)));
    const Real a = (index * cosine - other) / max(index * cosine + other, splat(LEAST_SUM));
    const Real b = (cosine - index * other) / max(cosine + index * other, splat(LEAST_SUM));
    return min(splat(0.5f) * (a * a + b * b), splat(1.0f));
}
__device__ __forceinline__ Real3 bsdf_fresnel(const Bsdf& b, Real cosine, Real of_dielectric) {
    const Real x = splat(1.0f) - cosine, x2 = x * x;
    const Real3 of_metal = b.base + (splat3(1.0f, 1.0f, 1.0f) - b.base) * (x2 * x2 * x);
    return lerp(Real3{of_dielectric, of_dielectric, of_dielectric}, of_metal, b.metallic);
}
__device__ __forceinline__ Real brightness(Real3 color) {
    return color.x * splat(0.2126f) + color.y * splat(0.7152f) + color.z * splat(0.0722f);
}

// `index`: beyond the surface over before it, for an `out` with this z.
__device__ Bsdf make_bsdf(const float* gloss, Real3 base, Real metallic, Real roughness, Real transmission, Real index,
                          Real out_z) {
    Bsdf b;
    b.base = base;
    b.metallic = metallic;
    b.transmission = transmission * (splat(1.0f) - metallic);
    b.alpha = roughness * roughness;
    b.index = index;
    b.mirror = b.alpha < splat(SMOOTHEST);
    // equal indices: there is nothing to scatter at
    b.clear = b.mirror | (lanes_abs(index - splat(1.0f)) < splat(SAME_INDEX));
    b.alpha = max(b.alpha, splat(SMOOTHEST));
    const Real fresnel = dielectric_fresnel(index, min(out_z, splat(1.0f)));
    // Where the whole surface is beyond its critical angle, some of its microfacets are not.
    const Real blocked = select(b.clear, fresnel, min(fresnel, splat(0.7f)));
    const Real passed = (splat(1.0f) - metallic) * (splat(1.0f) - blocked) * brightness(base);
    const Real reflected = brightness(bsdf_fresnel(b, min(out_z, splat(1.0f)), fresnel));
    const Real scale = splat(1.0f) / max(reflected + passed, splat(LEAST_CHANCE));
    b.reflect_share = reflected * scale;
    b.transmit_share = passed * transmission * scale;
    b.gloss = gloss;
    b.diffuse = max(splat(1.0f) - b.metallic - b.transmission, splat(0.0f));
    if (any(b.diffuse > splat(0.0f))) {
        const Real left = splat(1.0f) - gloss_reflects(gloss, index, b.alpha, min(out_z, splat(1.0f)), fresnel);
        b.diffuse = b.diffuse * left / (splat(1.0f) - gloss_reflects_of_all(gloss, index, b.alpha));
    }
    return b;
}
__device__ __forceinline__ Real diffuse_share(const Bsdf& b) {
    return max(splat(1.0f) - b.reflect_share - b.transmit_share, splat(0.0f));
}

// cos and sin of 2 pi u for u in [0, 1]: Taylor's polynomials at half the angle, error below 2e-7, the same on every
// target.
struct Turn {
    Real cosine, sine;
};
__device__ __forceinline__ Turn turn_of(Real u) {
    const Real t = (u - splat(0.5f)) * splat(PI), s = t * t;
    const Real sine = t * (splat(1.0f) -
                           s * (splat(1.0f / 6) -
                                s * (splat(1.0f / 120) - s * (splat(1.0f / 5040) - s * (splat(1.0f / 362880) -
                                                                                        s * splat(1.0f / 39916800))))));
    const Real cosine = splat(1.0f) -
                        s * (splat(0.5f) - s * (splat(1.0f / 24) -
                                                s * (splat(1.0f / 720) -
                                                     s * (splat(1.0f / 40320) -
                                                          s * (splat(1.0f / 3628800) - s * splat(1.0f / 479001600))))));
    return {sine * sine - cosine * cosine, splat(-2.0f) * sine * cosine};
}

// -- microfacets -----------------------------------------------------------------------------------------
// Density of the normals h, without the cancellation that 1 - h.z^2 would have at small alpha.
__device__ __forceinline__ Real ggx_normals(Real alpha, Real3 h) {
    const Real inverse = splat(1.0f) / (alpha * alpha);
    const Real e = (h.x * h.x + h.y * h.y) * inverse + h.z * h.z;
    return splat(INVERSE_PI) * inverse / max(e * e, splat(LEAST_DIVISOR));
}
// Smith's Lambda: the masking G1 is 1 / (1 + Lambda), masking with shadowing G2 is 1 / (1 + Lambda(out) + Lambda(in)).
__device__ __forceinline__ Real ggx_lambda(Real alpha, Real3 w) {
    const Real z2 = max(w.z * w.z, splat(LEAST_COSINE2));
    return (lanes_sqrt(splat(1.0f) + alpha * alpha * (w.x * w.x + w.y * w.y) / z2) - splat(1.0f)) * splat(0.5f);
}
// A normal among those seen from `out`: Dupuy and Benyoub, Sampling Visible GGX Normals with Spherical Caps (2023).
__device__ Real3 sample_visible_normal(Real alpha, Real3 out, Real u, Real v) {
    const Real3 stretched = normalize(Real3{out.x * alpha, out.y * alpha, out.z});
    const Turn turn = turn_of(u);
    const Real z = (splat(1.0f) - v) * (splat(1.0f) + stretched.z) - stretched.z;
    const Real side = lanes_sqrt(max(splat(1.0f) - z * z, splat(0.0f)));
    const Real3 h = stretched + Real3{side * turn.cosine, side * turn.sine, z};
    return normalize(Real3{h.x * alpha, h.y * alpha, max(h.z, splat(LEAST_NORMAL_HEIGHT))});
}

// -- evaluation ------------------------------------------------------------------------------------------
__device__ BsdfValue evaluate_reflection(const Bsdf& b, Real3 out, Real3 in) {
    const Real out_z = max(out.z, splat(LEAST_COSINE)), in_z = max(in.z, splat(LEAST_COSINE));
    const Real3 h = normalize(out + in);
    const Real cosine = min(max(dot(out, h), splat(0.0f)), splat(1.0f));
    const Real normals = ggx_normals(b.alpha, h), lambda = ggx_lambda(b.alpha, out);
    const Real masking = splat(1.0f) / (splat(1.0f) + lambda + ggx_lambda(b.alpha, in));
    const Real3 fresnel = bsdf_fresnel(b, cosine, dielectric_fresnel(b.index, cosine));
    const Real over = normals / (splat(4.0f) * out_z);
    const Real rough = select(b.mirror, splat(0.0f), splat(1.0f));
    Real passes = b.diffuse;
    if (any(passes > splat(0.0f))) {
        const Real flat = min(in_z, splat(1.0f));
        passes = passes *
                 (splat(1.0f) - gloss_reflects(b.gloss, b.index, b.alpha, flat, dielectric_fresnel(b.index, flat)));
    }
    const Real lambert = in_z * splat(INVERSE_PI);
    const Real density = rough * b.reflect_share * over / (splat(1.0f) + lambda) + diffuse_share(b) * lambert;
    return {fresnel * (rough * over * masking) + b.base * (passes * lambert), density};
}
__device__ BsdfValue evaluate_transmission(const Bsdf& b, Real3 out, Real3 in) {
    const Real out_z = max(out.z, splat(LEAST_COSINE));
    Real3 h = normalize(in * b.index + out);
    h = select(h.z < splat(0.0f), h * splat(-1.0f), h);
    const Real out_h = dot(out, h), in_h = dot(in, h);
    const Mask possible = (out_h > splat(0.0f)) & (in_h < splat(0.0f)) & !b.clear & (b.transmission > splat(0.0f));
    const Real lambda = ggx_lambda(b.alpha, out);
    const Real root = in_h + out_h / b.index;
    const Real spread = (-in_h) / max(root * root, splat(LEAST_SHARE));
    const Real over = ggx_normals(b.alpha, h) * max(out_h, splat(0.0f)) * spread / out_z;
    const Real masking = splat(1.0f) / (splat(1.0f) + lambda + ggx_lambda(b.alpha, in));
    const Real passed = splat(1.0f) - dielectric_fresnel(b.index, min(max(out_h, splat(0.0f)), splat(1.0f)));
    const Real scale = select(possible, over / (b.index * b.index) * masking * passed * b.transmission, splat(0.0f));
    return {b.base * scale, select(possible, b.transmit_share * over / (splat(1.0f) + lambda), splat(0.0f))};
}
// Value times |in.z|, and the density by solid angle with which `sample_bsdf` takes `in`. Zero for a direction along
// the surface.
__device__ BsdfValue evaluate_bsdf(const Bsdf& b, Real3 out, Real3 in) {
    const Mask above = in.z > splat(LEAST_COSINE), below = in.z < splat(-LEAST_COSINE);
    const BsdfValue nothing = {splat3(0.0f, 0.0f, 0.0f), splat(0.0f)};
    BsdfValue result = nothing;
    if (any(above)) {
        const BsdfValue found = evaluate_reflection(b, out, in);
        result = {select(above, found.value, result.value), select(above, found.density, result.density)};
    }
    if (any(below & (b.transmission > splat(0.0f)))) {
        const BsdfValue found = evaluate_transmission(b, out, in);
        result = {select(below, found.value, result.value), select(below, found.density, result.density)};
    }
    return result;
}

// -- sampling --------------------------------------------------------------------------------------------
// `choice`, `u`, `v` in [0, 1).
__device__ BsdfSample sample_bsdf(const Bsdf& b, Real3 out, Real choice, Real u, Real v) {
    const Mask reflects = choice < b.reflect_share,
               transmits = !reflects & (choice < b.reflect_share + b.transmit_share);
    const Mask is_delta = (reflects & b.mirror) | (transmits & b.clear);
    const Turn turn = turn_of(u);
    const Real radius = lanes_sqrt(v);
    const Real3 diffuse = {radius * turn.cosine, radius * turn.sine, lanes_sqrt(max(splat(1.0f) - v, splat(0.0f)))};
    const Real3 upright = splat3(0.0f, 0.0f, 1.0f);
    const Real3 h = select(is_delta, upright, sample_visible_normal(b.alpha, out, u, v));
    const Real cosine = min(max(dot(out, h), splat(0.0f)), splat(1.0f));
    const Real3 mirrored = h * (splat(2.0f) * cosine) - out;
    const Real sine2 = (splat(1.0f) - cosine * cosine) / (b.index * b.index);
    const Real beyond = lanes_sqrt(max(splat(1.0f) - sine2, splat(0.0f)));
    const Real3 bent = h * (cosine / b.index - beyond) - out * (splat(1.0f) / b.index);
    const Real3 in = normalize(select(reflects, mirrored, select(transmits, bent, diffuse)));
    const Mask possible = select(transmits, -in.z, in.z) > splat(LEAST_COSINE);
    const Mask total = transmits & !(sine2 < splat(1.0f));
    const BsdfValue found = evaluate_bsdf(b, out, in);
    const Real fresnel = dielectric_fresnel(b.index, cosine);
    const Real through = b.transmission * (splat(1.0f) - fresnel) / (b.index * b.index);
    const Real3 of_delta = select(reflects, bsdf_fresnel(b, cosine, fresnel), b.base * through);
    const Real share = select(reflects, b.reflect_share, b.transmit_share);
    const Real density = select(is_delta, splat(1.0f), found.density);
    const Real3 value = select(is_delta, of_delta, found.value);
    const Mask valid = possible & !total & (density > splat(LEAST_SHARE));
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    const Real scale = splat(1.0f) / max(select(is_delta, share, density), splat(LEAST_SHARE));
    return {in, select(valid, value * scale, nothing), select(valid, density, splat(0.0f)), is_delta, transmits};
}
