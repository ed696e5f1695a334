# SPDX-License-Identifier: Apache-2.0
"""The Python side of a rank: what a problem means, its inputs, its reference and its oracle."""
