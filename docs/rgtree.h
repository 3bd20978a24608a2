/* rgtree.h: writes a binary tree as a file .rgtree (docs/trees.md). C99, for machines that are little-endian. */
#ifndef RGTREE_H
#define RGTREE_H
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* M nodes, row 0 the root. count: primitives of a leaf, 0 for an inner node. children: two rows for each node.
   first: where a leaf's primitives begin in primitives. bounds: lower and upper corner of each node, or NULL.
   builder: what made the tree; letters, digits, blanks and dashes only.
   frame_count: T instants of a clip, 0 where there is none. frame_times: T seconds. frame_bounds: T times the corners
   of all nodes, as in bounds. Members that are not named in an initializer are 0. */
typedef struct {
    int64_t node_count, reference_count;
    const int32_t *count, *first, *children, *primitives;
    const float *bounds;
    const char *builder;
    int64_t frame_count;
    const float *frame_times, *frame_bounds;
} rgtree;

static int64_t rgtree_aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static int rgtree_put(FILE *file, const void *data, int64_t bytes) {
    static const char zeros[64] = {0};
    size_t rest = (size_t)(rgtree_aligned(bytes) - bytes);
    return fwrite(data, 1, (size_t)bytes, file) == (size_t)bytes && fwrite(zeros, 1, rest, file) == rest;
}

/* 1 where the file was written, 0 where it was not. */
static int rgtree_write(const char *path, const rgtree *tree) {
    int64_t m = tree->node_count, r = tree->reference_count, column = rgtree_aligned(4 * m);
    int64_t children = 2 * column, primitives = children + rgtree_aligned(8 * m);
    int64_t bounds = primitives + rgtree_aligned(4 * r);
    int64_t t = tree->frame_bounds && tree->frame_times ? tree->frame_count : 0;
    int64_t times = bounds + (tree->bounds ? rgtree_aligned(24 * m) : 0), frames = times + rgtree_aligned(4 * t);
    char header[1280], boxes[128] = "", moving[256] = "";
    int length, is_written, i;
    uint8_t size[8];
    FILE *file;
    if (tree->bounds)
        snprintf(boxes, sizeof boxes, ", \"bounds\": {\"type\": \"float32\", \"shape\": [%lld, 6], \"offset\": %lld}",
                 (long long)m, (long long)bounds);
    if (t)
        snprintf(moving, sizeof moving,
                 ", \"frame_times\": {\"type\": \"float32\", \"shape\": [%lld], \"offset\": %lld}"
                 ", \"frame_bounds\": {\"type\": \"float32\", \"shape\": [%lld, %lld, 6], \"offset\": %lld}",
                 (long long)t, (long long)times, (long long)t, (long long)m, (long long)frames);
    length = snprintf(header, sizeof header,
                      "{\"format\": \"rgtree\", \"version\": 1, \"kind\": \"bvh2\", \"builder\": \"%.200s\", \"arrays\": {"
                      "\"count\": {\"type\": \"int32\", \"shape\": [%lld], \"offset\": 0}, "
                      "\"first\": {\"type\": \"int32\", \"shape\": [%lld], \"offset\": %lld}, "
                      "\"children\": {\"type\": \"int32\", \"shape\": [%lld, 2], \"offset\": %lld}, "
                      "\"primitives\": {\"type\": \"int32\", \"shape\": [%lld], \"offset\": %lld}%s%s}}",
                      tree->builder ? tree->builder : "", (long long)m, (long long)m, (long long)column, (long long)m,
                      (long long)children, (long long)r, (long long)primitives, boxes, moving);
    if (length < 0 || length > (int)sizeof header - 64) return 0;
    while ((length + 8) % 64) header[length++] = ' ';
    for (i = 0; i < 8; i++) size[i] = (uint8_t)((uint64_t)length >> (8 * i));
    if (!(file = fopen(path, "wb"))) return 0;
    is_written = fwrite(size, 1, 8, file) == 8 && fwrite(header, 1, (size_t)length, file) == (size_t)length;
    is_written = is_written && rgtree_put(file, tree->count, 4 * m) && rgtree_put(file, tree->first, 4 * m);
    is_written = is_written && rgtree_put(file, tree->children, 8 * m) && rgtree_put(file, tree->primitives, 4 * r);
    if (tree->bounds) is_written = is_written && rgtree_put(file, tree->bounds, 24 * m);
    if (t) is_written = is_written && rgtree_put(file, tree->frame_times, 4 * t);
    if (t) is_written = is_written && rgtree_put(file, tree->frame_bounds, 24 * m * t);
    return (fclose(file) == 0) && is_written;
}
#endif
