# SPDX-License-Identifier: Apache-2.0
# What a person types. Every target is listed by `make help`.

.PHONY: demo
demo: all ## judge an example of each kind on the CPU device
	@tools/demo.sh

# Tests that need GPUs are built as well: where there is none, nothing else would keep them true.
.PHONY: test
test: all $(UNIT_TESTS) $(GPU_TESTS) ## unit, Python, conformance and end-to-end tests; no GPU needed
	@tools/run_tests.sh

.PHONY: test-gpu
test-gpu: all $(GPU_TESTS) ## the tests that need GPUs
	@$(PYTHON) -m pytest -q -m gpu tests

.PHONY: gpu-programs
gpu-programs: $(GPU_TESTS)

.PHONY: lint
lint: | $(SETUP_STAMP) ## formatting, layers, clang-tidy, cppcheck, shellcheck, ruff, oxlint
	@tools/lint.sh

.PHONY: format
format: | $(SETUP_STAMP) ## rewrite all sources in the project's style
	@tools/lint.sh --fix

.PHONY: asan
asan: ## unit and translator tests under AddressSanitizer and UBSan, in build-asan/
	@$(MAKE) BUILD=build-asan CFLAGS="-O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer" unit

.PHONY: unit
unit: $(UNIT_TESTS) ## the C unit tests only
	@tools/run_unit.sh $(UNIT_TESTS)

.PHONY: bench
bench: all $(BUILD)/bench/fiber_switch ## speed of the CPU device, of judging and of reading; writes build/bench.json
	@$(PYTHON) tools/bench.py $(BENCH)

.PHONY: soak
soak: all ## long runs that must hold: 200 attempts, 100 kills, 1000 requests; takes an hour or more
	@$(PYTHON) -m tests.soak $(SOAK)

.PHONY: fuzz
fuzz: ## 100,000 mutated PTX files and 20,000 of records, requests and the like, under ASan
	@tools/fuzz.sh

PREFIX ?= /usr/local
.PHONY: install
install: all ## copy the command and what it needs below PREFIX
	@tools/install.sh "$(PREFIX)"

.PHONY: uninstall
uninstall: ## remove what install put below PREFIX
	@tools/install.sh --uninstall "$(PREFIX)"

.PHONY: clean
clean: ## remove everything that was built
	rm -rf $(BUILD) build-asan

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' tools/targets.mk | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12
