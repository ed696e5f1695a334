/* SPDX-License-Identifier: Apache-2.0
 *
 * Stack switching for x86-64 and the stack pool. Stacks are carved from slabs; free ones are kept
 * last-in first-out, so that a kernel without barriers runs all its threads on one warm stack.
 */
#include "harness/cpu/device/fiber.h"

#include <stdlib.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

/* Only what the System V ABI asks a callee to preserve is saved; nobody changes the floating-point
 * control words. */
__asm__(".text\n"
        ".globl pkb_fiber_switch\n"
        ".hidden pkb_fiber_switch\n"
        ".type pkb_fiber_switch, @function\n"
        ".p2align 4\n"
        "pkb_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    retq\n"
        ".size pkb_fiber_switch, .-pkb_fiber_switch\n"
        ".globl pkb_fiber_jump\n"
        ".hidden pkb_fiber_jump\n"
        ".type pkb_fiber_jump, @function\n"
        ".p2align 4\n"
        "pkb_fiber_jump:\n"
        "    movq %rdi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    retq\n"
        ".size pkb_fiber_jump, .-pkb_fiber_jump\n"
        ".globl pkb_fiber_begin\n"
        ".hidden pkb_fiber_begin\n"
        ".type pkb_fiber_begin, @function\n"
        ".p2align 4\n"
        "pkb_fiber_begin:\n"
        "    movq %rdi, %rsp\n"
        "    xorl %ebp, %ebp\n"
        "    movq %rdx, %rdi\n"
        "    callq *%rsi\n"
        "    ud2\n"
        ".size pkb_fiber_begin, .-pkb_fiber_begin\n"
        ".type pkb_fiber_first, @function\n"
        ".p2align 4\n"
        "pkb_fiber_first:\n"
        "    movq %r12, %rdi\n"
        "    callq *%r13\n"
        "    ud2\n"
        ".size pkb_fiber_first, .-pkb_fiber_first\n"
        ".globl pkb_fiber_first_address\n"
        ".hidden pkb_fiber_first_address\n"
        ".type pkb_fiber_first_address, @function\n"
        "pkb_fiber_first_address:\n"
        "    leaq pkb_fiber_first(%rip), %rax\n"
        "    retq\n"
        ".size pkb_fiber_first_address, .-pkb_fiber_first_address\n");

uintptr_t pkb_fiber_first_address(void);

/* The order in which pkb_fiber_switch pops, lowest address first. */
typedef struct saved_context {
    uintptr_t r15, r14, r13, r12, rbx, rbp, return_address;
    uintptr_t padding[2]; /* keeps the stack 16-aligned where pkb_fiber_first calls */
} saved_context;

void *pkb_fiber_prepare(void *stack_top, pkb_fiber_entry *entry, void *argument)
{
    saved_context *context = (saved_context *)stack_top - 1;

    *context = (saved_context){.r13 = (uintptr_t)entry,
                               .r12 = (uintptr_t)argument,
                               .return_address = pkb_fiber_first_address()};
    return context;
}

/* ---- the pool ---- */

enum {
    SMALLEST_CLASS = 15, /* 32 KiB */
    CLASS_COUNT = 12,
    SLAB_STACKS = 64,
    GUARDED_SLABS = 64, /* each guard costs two kernel mappings, of which there are 65530 */
    GUARD_BYTES = 4096,
    COLOURS = 31,
    COLOUR_BYTES = 64
};

typedef struct stack_class {
    void **free;
    size_t free_count, capacity;
} stack_class;

typedef struct guarded_slab {
    uint64_t start;
    size_t stride;
} guarded_slab;

static stack_class classes[CLASS_COUNT];
static guarded_slab guarded[GUARDED_SLABS];
static size_t guarded_count, taken_count, created_count;

static size_t class_of(size_t bytes)
{
    size_t class = 0;
    while (class + 1 < CLASS_COUNT && ((size_t)1 << (SMALLEST_CLASS + class)) < bytes)
        class ++;
    return class;
}

static void guard_slab(char *slab, size_t stride)
{
    if (guarded_count == GUARDED_SLABS)
        return;
    for (size_t i = 0; i < SLAB_STACKS; i++)
        if (mprotect(slab + i * stride, GUARD_BYTES, PROT_NONE) != 0)
            return;
    guarded[guarded_count++] = (guarded_slab){(uint64_t)(uintptr_t)slab, stride};
}

/* Adds a slab of stacks. Their tops are offset against one another: equal page offsets would fight
 * for the same cache sets. */
static bool grow(size_t class)
{
    stack_class *c = &classes[class];
    size_t stride = ((size_t)1 << (SMALLEST_CLASS + class)) + GUARD_BYTES;
    char *slab = mmap(NULL, stride * SLAB_STACKS, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED)
        return false;

    size_t capacity = c->capacity + SLAB_STACKS;
    void **list = realloc(c->free, capacity * sizeof *list);
    if (list == NULL) {
        munmap(slab, stride * SLAB_STACKS);
        return false;
    }
    c->free = list;
    c->capacity = capacity;
    guard_slab(slab, stride);
    for (size_t i = SLAB_STACKS; i-- > 0;) {
        size_t colour = created_count++ % COLOURS * COLOUR_BYTES;
        c->free[c->free_count++] = slab + (i + 1) * stride - colour;
    }
    return true;
}

void *pkb_stack_take(size_t bytes)
{
    size_t class = class_of(bytes);
    stack_class *c = &classes[class];

    if (c->free_count == 0 && !grow(class))
        return NULL;
    taken_count++;
    void *top = c->free[--c->free_count];
#if defined(__SANITIZE_ADDRESS__)
    /* Frames that were left by a jump are still marked as in use. */
    size_t usable = ((size_t)1 << (SMALLEST_CLASS + class)) - COLOURS * COLOUR_BYTES;
    __asan_unpoison_memory_region((char *)top - usable, usable);
#endif
    return top;
}

void pkb_stack_give(void *stack_top, size_t bytes)
{
    stack_class *c = &classes[class_of(bytes)];

    c->free[c->free_count++] = stack_top;
    taken_count--;
}

size_t pkb_stack_taken_count(void)
{
    return taken_count;
}

bool pkb_stack_is_guard(uint64_t address)
{
    for (size_t i = 0; i < guarded_count; i++) {
        uint64_t offset = address - guarded[i].start;
        if (address >= guarded[i].start && offset < guarded[i].stride * SLAB_STACKS)
            return offset % guarded[i].stride < GUARD_BYTES;
    }
    return false;
}
