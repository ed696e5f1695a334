# SPDX-License-Identifier: Apache-2.0
# Everything is built below build/. `make help` lists the targets.

ifeq ($(origin CC),default)
CC := gcc
endif
BUILD ?= build
CFLAGS ?= -O2 -g
PYTHON ?= $(shell tools/find_python.sh)

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wformat=2 -Wstrict-prototypes \
            -Wmissing-prototypes -Wswitch-enum -Wvla -Wundef
ifdef CI
WARNINGS += -Werror
endif
PKB_CFLAGS := -std=c11 -D_GNU_SOURCE -I. -fPIC -fvisibility=hidden $(WARNINGS) $(CFLAGS)

# Objects are kept although only pattern rules name them; `make V=1` shows whole commands.
.SECONDARY:
Q = $(if $(V),,@echo "  $@"; )

# ---- sources: one library a folder, one program a *_main.c ----
sources = $(filter-out %_main.c,$(wildcard $(addsuffix /*.c,$(1))))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(call sources,$(1)))

BASE_OBJECTS       := $(call objects,base)
MEMORY_OBJECTS     := $(call objects,harness/memory)
SANDBOX_OBJECTS    := $(call objects,harness/sandbox)
CUDA_OBJECTS       := $(call objects,harness/cuda)
JUDGE_OBJECTS      := $(call objects,harness/judge) $(BUILD)/obj/harness/judge/kernels_ptx.o
CELL_OBJECTS       := $(call objects,harness/cell)
TRANSLATOR_OBJECTS := $(call objects,harness/cpu/translator)
CUDART_OBJECTS     := $(call objects,harness/cpu/device harness/cpu/cudart)
EVALUATOR_OBJECTS  := $(call objects,evaluator $(patsubst %/,%,$(wildcard evaluator/*/)))

PROGRAMS := $(addprefix $(BUILD)/,pkbench pkbench-judge pkbench-cell pkbench-ptx2c pkbench-cpurun)
LIBRARIES := $(addprefix $(BUILD)/lib/,libcudart.so.13 libpkbregion.so libpkbcompare.so libpkbcuda.so)

.PHONY: all
all: $(PROGRAMS) $(LIBRARIES) $(BUILD)/share/echarts.min.js

include tools/build.mk
include tools/targets.mk
