# SPDX-License-Identifier: Apache-2.0
# How programs, libraries and unit tests are linked.

# Set-up installs what is missing before the first object is compiled, and again when the Python
# environment is gone.
SETUP_STAMP := $(BUILD)/.setup
ifeq ($(PKBENCH_PYTHON)$(wildcard .venv/bin/python),)
$(shell rm -f $(SETUP_STAMP))
endif
$(SETUP_STAMP): tools/setup.sh tools/requirements.txt tools/requirements-nvcc.txt \
                tools/requirements-report.txt
	@mkdir -p $(@D)
	@tools/setup.sh
	@touch $@

$(BUILD)/obj/%.o: %.c | $(SETUP_STAMP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PKB_CFLAGS) -MMD -MP -c $< -o $@

# The CPU device's runtime and NVIDIA's driver are declared by the toolkit's own headers.
CUDA_INCLUDE ?= $(eval CUDA_INCLUDE := $(shell tools/find_nvcc.sh --include))$(CUDA_INCLUDE)
$(BUILD)/obj/harness/cuda/%.o: private PKB_CFLAGS += -isystem $(CUDA_INCLUDE)
$(BUILD)/obj/harness/cpu/cudart/%.o: private PKB_CFLAGS += -isystem $(CUDA_INCLUDE)
$(BUILD)/obj/tests/unit/cpu/%.o: private PKB_CFLAGS += -isystem $(CUDA_INCLUDE)
$(BUILD)/obj/tests/unit/harness/test_device_cuda.o: private PKB_CFLAGS += -isystem $(CUDA_INCLUDE)

# The judge's kernels travel in it as text, for any GPU from sm_80 on: the driver compiles them.
$(BUILD)/obj/harness/judge/kernels.ptx: harness/judge/kernels.cu harness/judge/kernels.h \
                                        harness/judge/survey.h harness/memory/layout.h
	@mkdir -p $(@D)
	$(Q)$(shell tools/find_nvcc.sh) -ptx -arch=compute_80 -std=c++17 -O3 -I. -Werror all-warnings $< -o $@

$(BUILD)/obj/harness/judge/kernels_ptx.c: $(BUILD)/obj/harness/judge/kernels.ptx
	@{ echo '#include "harness/judge/kernels.h"'; echo 'const char pkb_kernels_ptx[] ='; \
	   sed -e '/^\/\//d' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $<; echo ';'; } >$@

$(BUILD)/obj/harness/judge/kernels_ptx.o: $(BUILD)/obj/harness/judge/kernels_ptx.c
	$(Q)$(CC) $(PKB_CFLAGS) -c $< -o $@

# Attempts load this library, so it brings nothing along but the C library.
$(BUILD)/lib/libcudart.so.13: $(CUDART_OBJECTS) $(BUILD)/obj/base/error.o harness/cpu/cudart/libcudart.map
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(CFLAGS) -Wl,-soname,libcudart.so.13 \
	    -Wl,--version-script=harness/cpu/cudart/libcudart.map \
	    $(CUDART_OBJECTS) $(BUILD)/obj/base/error.o -o $@ -ldl -lpthread

# Loaded by Python: as little as possible.
$(BUILD)/lib/libpkbregion.so: $(MEMORY_OBJECTS) $(BUILD)/obj/base/error.o $(BUILD)/obj/base/clock.o
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(CFLAGS) $^ -o $@ -Wl,-z,defs

# The judge's comparison, for those who judge without a judge: audits and tests.
COMPARE_OBJECTS := $(addprefix $(BUILD)/obj/harness/judge/,compare.o compare_call.o survey.o number.o)
$(BUILD)/lib/libpkbcompare.so: $(COMPARE_OBJECTS) $(BUILD)/obj/harness/memory/layout.o \
                               $(BUILD)/obj/base/error.o
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(CFLAGS) $^ -o $@ -Wl,-z,defs -lm

$(BUILD)/lib/libpkbcuda.so: $(CUDA_OBJECTS) $(BUILD)/obj/base/error.o
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(CFLAGS) $^ -o $@ -Wl,-z,defs -ldl

$(BUILD)/pkbench-ptx2c: $(BUILD)/obj/harness/cpu/ptx2c_main.o $(TRANSLATOR_OBJECTS) $(BASE_OBJECTS)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ -lcrypto -lcjson

$(BUILD)/pkbench-cpurun: $(BUILD)/obj/harness/cpu/cpurun_main.o $(TRANSLATOR_OBJECTS) $(BASE_OBJECTS)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ -lcrypto -lcjson

# Started for every attempt: links only what it uses.
CELL_BASE_OBJECTS := $(addprefix $(BUILD)/obj/base/,error.o clock.o buf.o fs.o)
CELL_SANDBOX_OBJECTS := $(addprefix $(BUILD)/obj/harness/sandbox/,filter.o message.o)
$(BUILD)/pkbench-cell: $(BUILD)/obj/harness/cell_main.o $(CELL_OBJECTS) $(MEMORY_OBJECTS) $(CUDA_OBJECTS) \
                       $(CELL_SANDBOX_OBJECTS) $(CELL_BASE_OBJECTS)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ -rdynamic -lseccomp -ldl -lpthread

$(BUILD)/pkbench-judge: $(BUILD)/obj/harness/judge_main.o $(JUDGE_OBJECTS) $(MEMORY_OBJECTS) \
                        $(CUDA_OBJECTS) $(SANDBOX_OBJECTS) $(BASE_OBJECTS)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ -lseccomp -lcrypto -lcjson -lm -ldl -lpthread

$(BUILD)/pkbench: $(BUILD)/obj/evaluator/main.o $(filter-out %/main.o,$(EVALUATOR_OBJECTS)) \
                  $(CUDA_OBJECTS) $(SANDBOX_OBJECTS) $(BASE_OBJECTS)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ -lseccomp -lcrypto -lcjson -lm -ldl

# The plotting library of reports, where set-up could fetch it.
$(BUILD)/share/echarts.min.js: | $(SETUP_STAMP)
	@mkdir -p $(@D)
	@cp .venv/share/pkbench/echarts.min.js $@ 2>/dev/null || true

# ---- unit tests: tests/unit/<folder>/test_X.c, linked with what its folder name says ----
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*/test_*.c))
UNIT_LIBS := -lcmocka -lseccomp -lcrypto -lcjson -lm -ldl -lpthread

$(BUILD)/tests/base/%: $(BUILD)/obj/tests/unit/base/%.o $(BASE_OBJECTS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ $(UNIT_LIBS)

$(BUILD)/tests/translator/%: $(BUILD)/obj/tests/unit/translator/%.o $(TRANSLATOR_OBJECTS) $(BASE_OBJECTS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ $(UNIT_LIBS)

$(BUILD)/tests/cpu/%: $(BUILD)/obj/tests/unit/cpu/%.o $(CUDART_OBJECTS) $(BASE_OBJECTS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ $(UNIT_LIBS)

$(BUILD)/tests/harness/%: $(BUILD)/obj/tests/unit/harness/%.o $(JUDGE_OBJECTS) \
                          $(MEMORY_OBJECTS) $(CUDA_OBJECTS) $(SANDBOX_OBJECTS) $(BASE_OBJECTS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ $(UNIT_LIBS)

# These start cells.
$(addprefix $(BUILD)/tests/harness/,test_cell test_cell_device test_sandbox): | \
    $(BUILD)/pkbench-cell $(BUILD)/lib/libcudart.so.13 $(BUILD)/pkbench-ptx2c

$(BUILD)/tests/evaluator/%: $(BUILD)/obj/tests/unit/evaluator/%.o \
                            $(filter-out %/main.o,$(EVALUATOR_OBJECTS)) \
                            $(CUDA_OBJECTS) $(SANDBOX_OBJECTS) $(BASE_OBJECTS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ $(UNIT_LIBS)

# Its clock is the test's.
$(BUILD)/tests/evaluator/test_ahead: private UNIT_LIBS += -Wl,--wrap=clock_gettime

# These say when there is no memory.
$(BUILD)/tests/evaluator/test_output: private UNIT_LIBS += -Wl,--wrap=realloc
$(BUILD)/tests/harness/test_device_cuda: private UNIT_LIBS += -Wl,--wrap=calloc,--wrap=malloc

# ---- fuzzing: built with sanitizers by tools/fuzz.sh ----
FUZZ_OBJECTS := $(BUILD)/obj/tests/fuzz/mutation.o
$(BUILD)/fuzz_translator: $(BUILD)/obj/tests/fuzz/fuzz_translator.o $(FUZZ_OBJECTS) \
                          $(TRANSLATOR_OBJECTS) $(BASE_OBJECTS)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ -lcrypto -lcjson

$(BUILD)/fuzz_readers: $(BUILD)/obj/tests/fuzz/fuzz_readers.o $(FUZZ_OBJECTS) \
                       $(filter-out %/main.o,$(EVALUATOR_OBJECTS)) $(CUDA_OBJECTS) $(SANDBOX_OBJECTS) \
                       $(BASE_OBJECTS)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ $(UNIT_LIBS)

# ---- tests that need GPUs: built by `make test-gpu`, skipped without one ----
GPU_TESTS := $(patsubst tests/gpu/%.c,$(BUILD)/tests/gpu/%,$(wildcard tests/gpu/test_*.c))
$(BUILD)/obj/tests/gpu/%.o: private PKB_CFLAGS += -isystem $(CUDA_INCLUDE)

$(BUILD)/tests/gpu/%: $(BUILD)/obj/tests/gpu/%.o $(JUDGE_OBJECTS) $(CUDA_OBJECTS) $(MEMORY_OBJECTS) \
                      $(SANDBOX_OBJECTS) $(BASE_OBJECTS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ $(UNIT_LIBS)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# ---- benchmarks of one part: tests/bench/X.c -> build/bench/X ----
$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(CUDART_OBJECTS) $(BASE_OBJECTS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ $(UNIT_LIBS)
