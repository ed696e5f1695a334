/* SPDX-License-Identifier: Apache-2.0
 *
 * A problem that has every dtype, role and kind of dim, for the tests of this folder.
 */
#ifndef PKB_TESTS_SAMPLE_PROBLEM_H
#define PKB_TESTS_SAMPLE_PROBLEM_H

static const char sample_problem[] =
    "{\"schema\": 1, \"id\": 7, \"name\": \"007_sample\", \"title\": \"A sample\","
    " \"category\": \"primitive\", \"statement\": \"Every rank does something.\","
    " \"grid\": [\"cp\", \"tp\"], \"require\": [\"E % P == 0\"], \"deviates\": [],"
    " \"dims\": {\"L\": \"E // P\", \"edges\": {\"drawn\": true, \"max\": \"M * 4\"}},"
    " \"sizes\": [{\"name\": \"tiny\", \"class\": \"tiny\", \"values\": {\"M\": 3, \"E\": \"2 * "
    "P\"}}],"
    " \"arguments\": ["
    "{\"name\": \"a\", \"role\": \"in\", \"dtype\": \"bf16\", \"shape\": [\"M\", 4]},"
    "{\"name\": \"b\", \"role\": \"in\", \"dtype\": \"f16\", \"shape\": [\"M\"]},"
    "{\"name\": \"c\", \"role\": \"inout\", \"dtype\": \"f32\", \"shape\": [\"M\"]},"
    "{\"name\": \"d\", \"role\": \"in\", \"dtype\": \"f64\", \"shape\": [\"M\"]},"
    "{\"name\": \"e\", \"role\": \"in\", \"dtype\": \"i8\", \"shape\": [\"M\"]},"
    "{\"name\": \"f\", \"role\": \"in\", \"dtype\": \"u8\", \"shape\": [\"M\"]},"
    "{\"name\": \"g\", \"role\": \"in\", \"dtype\": \"i32\", \"shape\": [\"M\"]},"
    "{\"name\": \"h\", \"role\": \"in\", \"dtype\": \"bool\", \"shape\": [\"M\"]},"
    "{\"name\": \"i\", \"role\": \"in\", \"dtype\": \"e4m3\", \"shape\": [\"M\"]},"
    "{\"name\": \"j\", \"role\": \"in\", \"dtype\": \"e5m2\", \"shape\": [\"M\"]},"
    "{\"name\": \"k\", \"role\": \"out\", \"dtype\": \"c64\", \"shape\": [\"M\"],"
    " \"check\": {\"default\": \"float\"}},"
    "{\"name\": \"n\", \"role\": \"out\", \"dtype\": \"i64\", \"shape\": [], \"check\": \"exact\"},"
    "{\"name\": \"alpha\", \"role\": \"scalar\", \"dtype\": \"f32\"},"
    "{\"name\": \"root\", \"role\": \"scalar\", \"dtype\": \"i32\"},"
    "{\"name\": \"offsets\", \"role\": \"host\", \"dtype\": \"i64\", \"shape\": [\"L + 1\"]}],"
    " \"families\": [\"nominal\"], \"cost\": {\"flop\": 1}}";

#endif
