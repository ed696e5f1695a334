# SPDX-License-Identifier: Apache-2.0
"""Long runs that must hold: hundreds of attempts, a hundred kills, a worker that lives on.

`python -m tests.soak --help`; each part takes minutes and is no part of `make test`.
"""
