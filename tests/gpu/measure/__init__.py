# SPDX-License-Identifier: Apache-2.0
"""Measurements of the judging itself on two GPUs; `python -m tests.gpu.measure --help`.

Each step is a module with a function `measure(bench)` that returns rows of a table and stores its
records. With --device cpu the same code runs on small sizes: that proves the scripts, no number.
"""
