// What the kernels of queries are given: a structure and what is asked of it (query.py).
// from gpu.query.questions import QueryParts
#pragma once
#include "gpu/query/questions.cuh"

struct QueryInput : QueryParts<Tree, Records, Question> {};
static_assert(sizeof(QueryInput) == QUERY_INPUT_BYTES, "query.py lays this struct out");
