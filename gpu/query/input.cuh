// What the kernels of queries are given: a structure and what is asked of it (query.py).
#pragma once
#include "gpu/query/questions.cuh"

struct QueryInput {
    Tree tree;
    Records records;
    Question question;
};
static_assert(sizeof(QueryInput) == QUERY_INPUT_BYTES, "query.py lays this struct out");
