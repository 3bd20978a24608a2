// Every tolerance of the kernels: how much rounding may have taken away, and what keeps a quotient finite. Their names
// stand where they are used; what a number is and why is said here alone.
//
// One operation is wrong by at most u = 2^-24 of its result, n of them one after the other by at most
// gamma(n) = n u / (1 - n u) (Higham 2002; Pharr, Jakob and Humphreys 2016, 3.9). Where a tolerance follows from that,
// it is asserted.
#pragma once

constexpr double ROUNDING = 1.0 / 16777216.0;
constexpr double rounded(int operations) { return operations * ROUNDING / (1.0 - operations * ROUNDING); }

// -- rays and boxes --------------------------------------------------------------------------------------
// Of a product, what its rounding and that of what it is subtracted from may come to: origin * inverse in a slab test,
// the bases of a compressed grid.
constexpr float SLAB_SLACK = 2.4e-7f;
static_assert(SLAB_SLACK > rounded(4));
// What the slack of a product of denormal size is at least: underflow takes less away.
constexpr float SLAB_LEAST_SLACK = 1e-37f;
// Of the inverse: how far the planes are moved for a ray that runs in one of them (slabs.cuh).
constexpr float SLAB_MOVE = 1e-13f;
// Of where a box is left: entry and exit are each a product and a difference, four roundings, on either side.
constexpr float SLAB_GROWTH = 1.0000005f;
static_assert(SLAB_GROWTH - 1.0f >= 8 * ROUNDING);
// Of the beam of a pack, which encloses the tests of its rays (beam.cuh): how far origins are moved, of themselves and
// at least; where boxes are left, five more roundings on either side; beyond which coordinates and inverses it is not
// used.
constexpr float BEAM_SHARE = 4e-7f, BEAM_MOVE = 1.2e-13f;
static_assert(BEAM_SHARE > SLAB_SLACK + rounded(2) && BEAM_MOVE > 1.1f * SLAB_MOVE);
constexpr float BEAM_GROWTH = 1.0000015f;
static_assert(BEAM_GROWTH - SLAB_GROWTH >= 10 * ROUNDING);
constexpr float BEAM_REACH = 1e18f;
// Of a pack's reach (reach.cuh), which encloses the same tests by a box: of where a ray begins, besides what the test
// takes, a sum, a difference and the slack's own rounding. Its ends lie behind by BEAM_GROWTH.
constexpr float REACH_SHARE = 6e-7f;
static_assert(REACH_SHARE > SLAB_SLACK + rounded(5));
// About a centre, where nothing is left to the comparison: a half extent pays for all (docs/decisions/
// centre-and-half-extent.md). It grows by 16 u of itself and 4 u of the centre when it is stored, and by 7 u of origin
// * inverse in the test.
constexpr float CENTRED_GROWTH = 1.000001f;
static_assert(CENTRED_GROWTH - 1.0f == 16 * ROUNDING);
constexpr float CENTRED_SHARE = 2.3841858e-7f;
static_assert(CENTRED_SHARE == 4 * ROUNDING);
constexpr float CENTRED_SLACK = 4.2e-7f;
static_assert(CENTRED_SLACK > 7 * ROUNDING);
// Four units of the smallest number: what rounding takes from a half extent that is denormal.
constexpr float CENTRED_LEAST_HALF = 6e-45f;
// Of the farthest coordinate: a cell's plane, the ray's origin and both of their products with the inverse.
constexpr float CROSSING_SLACK = 7.2e-7f;
static_assert(CROSSING_SLACK > rounded(12));
// The same where a plane is reached by so many steps from the first one (a grid's): the width of a cell, its product
// with the inverse, the number of steps and a sum more.
constexpr float GRID_SLACK = 1.2e-6f;
static_assert(GRID_SLACK > rounded(20));
// Half sizes of scenes that a grid divides: beyond them a ray's inverse overflows, or a cell is nothing beside where
// rays begin. Others are one cell.
constexpr float LEAST_GRID = 1e-18f, MOST_GRID = 5e17f;
// Half sizes of scenes whose triangles are tested against cells: the cube of a coordinate is a float, that of its slack
// a normal one.
constexpr float LEAST_TESTED_GRID = 1e-6f, MOST_TESTED_GRID = 1e9f;
// A component of a direction is at least this: 2^59 times its inverse is a float (centre-and-half-extent.md).
constexpr float LEAST_DIRECTION = 1e-20f;
// Of a squared distance to a box: its own five roundings, and as many of the primitive's.
constexpr float NEARER_THAN_ROUNDED = 0.999998f;
static_assert(1.0f - NEARER_THAN_ROUNDED > 2 * rounded(5));

// -- shapes that are cut ---------------------------------------------------------------------------------
// Of the coordinates: a corner that a plane cuts off an edge (difference, quotient, product, sum, and the edge's own).
constexpr float CUT_SLACK = 4.8e-7f;
static_assert(CUT_SLACK > rounded(8));
// The same of a polygon that six planes cut, of whose corners each may be cut from one that was.
constexpr float POLYGON_SLACK = 9.6e-7f;
static_assert(POLYGON_SLACK > rounded(16));
// What a product of three lengths is at least apart: below it underflow takes more away than the slack gives.
constexpr float LEAST_PARTED = 1e-37f;
// Of a sphere's squared radius, beside the squared distance of a box.
constexpr float SPHERE_GROWTH = 1.000002f;
static_assert(SPHERE_GROWTH - 1.0f > rounded(16));
// A smaller sphere is never hit: its squared radius is no normal number (2^-126 is 1.18e-38), nor are squares of the
// distances that it is compared with, so that any ray nearby would seem to hit.
constexpr float LEAST_RADIUS = 1.1e-19f;
// Of the product of two squared edges, the square of their cross product: sides at less than 1e-7 are a line, whose
// direction is rounding.
constexpr float LEAST_SINE2 = 1e-14f;
// Of a glyph's size, what its turned frame and the sums over its axes may be wrong by; of its centre, what adding to it
// takes away.
constexpr float GLYPH_SLACK = 1e-6f, GLYPH_CENTRE_SLACK = 1.2e-7f;
static_assert(GLYPH_SLACK > rounded(16) && GLYPH_CENTRE_SLACK > 2 * ROUNDING);
// Of a box's half size: how far from an edge a hit is at least said to be, so that rounding does not move it round it.
constexpr float BEFORE_EDGE = 0.999999f;
static_assert(1.0f - BEFORE_EDGE > rounded(8));
// In double precision: far above its own rounding, far below what a cell is.
constexpr double OVERLAP_SLACK = 1e-9;
constexpr double LEAST_LINE_DIRECTION = 1e-12;
// A scene smaller than that is magnified by 2^100 before its size is divided by: the reciprocal stays a float.
constexpr float TINY_SCENE = 1e-30f, TINY_SCENE_MAGNIFIED = 1.2676506e30f;
// Of areas that change: what an optimiser gains less of, sums of areas in another order could show.
constexpr float LEAST_GAIN = 1e-5f;

// -- what is drawn without rays --------------------------------------------------------------------------
// What one rounding changes at most, of 1: u, for bounds that are made term by term (gpu/glyphs/sphere_bounds.cuh).
constexpr float HALF_ULP = 5.9604645e-8f;
static_assert(HALF_ULP == ROUNDING);
// What a ray may pass beside a sphere and still hit it, as an angle: the rounding of a ray's direction, of the offset
// to the centre and of the nearest point of the ray, 2 to 4 half ulps each (sphere.cuh).
constexpr float RAY_SLACK = 16.0f * HALF_ULP;
// Of a pixel, beside the rounding that grows with the picture: of the ray's own place in it.
constexpr float PIXEL_SLACK = 1e-3f;

// -- where rays begin and end ----------------------------------------------------------------------------
// Of the triangle's largest coordinate: how far above it a ray begins (hit_point.cuh), and more than the hit is wrong
// by.
constexpr float ORIGIN_OFFSET = 128.0f / 16777216.0f;
static_assert(ORIGIN_OFFSET > rounded(100));
// Of the largest coordinate near a shadow ray: how high above the light's surface the ray ends (`rays_to_light` of
// lights.cuh), and more than rounding puts a light's point, the ray and where the ray meets that surface beside it.
// With the largest coordinate S, no difference of points is longer than 2 S along an axis, and a height is a sum of
// three products, so at most sqrt(3) of an error along an axis. Along an axis, in u S:
//   the light's point, a corner and shares of two edges: 14
//   the way to it (difference, length, direction and back, less the start's offset), 8 of up to 2: 16
//   the ray's own direction and length from there, 7 of up to 2: 14
//   the triangle's plane in its test, differences and products, 7 of up to 2: 14
// 58 in all, and 101 as a height. How long that is along the ray is left to the cosine to the surface.
constexpr float LIGHT_OFFSET = ORIGIN_OFFSET;
static_assert(LIGHT_OFFSET > rounded(101));

// Of the squared radius of a sphere that shines: a point of its own surface counts as within, from where the far side
// is seen, and not the point itself.
constexpr float WITHIN_SPHERE = 1.00001f;

// Sines of angles to a surface: a direction that is lower than the first is turned to stand as high above it as it was
// below, and by the second more.
constexpr float LEAST_HEIGHT = 1e-4f, TURNED_HEIGHT = 2e-4f;
// Of an edge's farther end, how near the eye is drawn.
constexpr float NEAREST_OF_EDGE = 1e-4f;

// -- shading: what keeps quotients finite ----------------------------------------------------------------
// The square of a length of 1e-18, and the largest coordinate of a vector that is divided by it.
constexpr float LEAST_LENGTH2 = 1e-36f, LEAST_COORDINATE = 1e-36f;
// Squared distances to lights and areas: nearer than 1e-15 (placed lights: 1e-6) light grows no more.
constexpr float LEAST_DISTANCE2 = 1e-30f, LEAST_LIGHT_DISTANCE2 = 1e-12f;
// Of the squared distance of the farthest of some points: a mean by distance weighs nearer ones no more.
constexpr float LEAST_OF_FARTHEST = 1e-6f;
// Whatever is divided by that may be nothing: in the sums of squares and the densities where it is, the numerator is.
constexpr float LEAST_DIVISOR = 1e-30f, LEAST_SHARE = 1e-20f, LEAST_SUM = 1e-12f;
// Of a squared sum of normals: shorter ones have no direction.
constexpr float LEAST_NORMAL2 = 1e-12f;
// A cosine to a surface: a direction along it carries no light; the eye is at least so far above it.
constexpr float LEAST_COSINE = 1e-6f, LEAST_EYE_COSINE = 1e-4f;
constexpr float LEAST_COSINE2 = 1e-12f;
// A chance that a path goes on with, a share that is reflected, a surface's alpha.
constexpr float LEAST_CHANCE = 1e-6f;
// The height of a visible normal; a lens' cosine to the axis; what lies between a spot light's two cosines.
constexpr float LEAST_NORMAL_HEIGHT = 1e-7f, LEAST_LENS_COSINE = 1e-3f, LEAST_SPOT_EDGE = 1e-4f;
// Of points in a ball: nearer to its centre their direction is coarse.
constexpr float LEAST_IN_BALL2 = 1e-4f;
// Half the sine of the angle between two rotations: below it they are blended linearly, wrong by its square.
constexpr float LEAST_TURN = 1e-3f;
// Below one, so that a place in [0, 1) stays in it: by two u, and where it is a share of a texel by more.
constexpr float BELOW_ONE = 0.9999999f, BELOW_TEXEL = 0.9999f;
static_assert(BELOW_ONE < 1.0f && 1.0f - BELOW_ONE <= 2 * ROUNDING);

// -- shading: what counts as nothing, or as all ----------------------------------------------------------
constexpr float SMOOTHEST = 1e-3f;  // smaller alpha is a delta lobe
constexpr float SAME_INDEX = 1e-3f;  // indices of refraction that differ by less: nothing is scattered there
constexpr float LEAST_SEEN = 1e-3f;  // of light that comes through glass and holes: less is shadow
// A surface is a mirror to the eye, where this share of its light is mirrored: what is seen in it is as sharp as
// itself.
constexpr float SHARPLY_REFLECTED = 0.98f;
// Light behind holes is found by rays to lights alone: a ray that has gone through one weighs next to nothing beside
// them, and all where they find none.
constexpr float THROUGH_HOLES = 1e-12f;
// Of the distance to a first hit that is given: rays to find it again begin so much before, where nothing else is. At
// a rim a sphere's distance is uncertain by 5e-4 of its radius.
constexpr float BEFORE_FIRST_HIT = 1e-3f;
// The filter: of the spread around a pixel, of the distance of what is beside it, of the light there.
constexpr float FILTER_SPREAD = 1e-4f, FILTER_DEPTH = 1e-4f, FILTER_LIGHT = 1e-5f;

// -- gravity --------------------------------------------------------------------------------------------
// Bodies nearer than its root, softening included, do not attract one another: the cube of what divides by less would
// be no float any more.
constexpr float LEAST_SEPARATION2 = 1e-24f;

// -- radiosity of points ---------------------------------------------------------------------------------
// A cosine that counts as nothing: points of one plane see nothing of each other, whatever rounding says.
constexpr float FACING_SLACK = 1e-4f;
// Of a cosine: normals nearer to each other than that are one, to the rounding of their products.
constexpr float ALIKE_NORMALS = 1e-6f;
static_assert(ALIKE_NORMALS > rounded(8));
// Of a box's half diagonal: a side shorter than that is flat to an expansion.
constexpr float FLAT_SIDE = 1e-3f;
// Of the side of the points' cube: how far above its surface a ray begins, and ends, that asks whether points see each
// other. What is thinner hides nothing.
constexpr float SIGHT_OFFSET = 1e-4f;

// Newton's steps end where the next one is less than this share of what they have come to: about a rounding.
constexpr float NEWTON_ENOUGH = 1e-7f;
