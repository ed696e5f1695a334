# SPDX-License-Identifier: Apache-2.0
"""Proves the suite itself: that no problem can be passed by guessing, that every honest answer
passes, and that reference and oracle agree. `pkbench audit`; docs/problems.md says what is asked.
"""
