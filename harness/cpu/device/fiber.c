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
    /* A guarded stack costs two kernel mappings, of which a process has 65530. */
    GUARDED_STACKS = 4096,
    GUARD_BYTES = 4096,
    GROWTH_BYTES = 96 * 1024, /* below the stack; made accessible when it is first touched */
    COLOURS = 31,
    COLOUR_BYTES = 64
};

/* Most kernels get by with the first, guarded stacks; the plain ones are for wide grids. Free ones
 * are kept apart so that the guarded ones are used first. */
typedef struct stack_list {
    void **tops;
    size_t count, capacity;
} stack_list;

typedef struct stack_class {
    stack_list guarded, plain;
    uint64_t region; /* of the guarded stacks, reserved as a whole; 0 = not yet */
    size_t region_used;
} stack_class;

static stack_class classes[CLASS_COUNT];
static size_t taken_count, created_count;

static size_t class_of(size_t bytes)
{
    size_t class = 0;
    while (class + 1 < CLASS_COUNT && ((size_t)1 << (SMALLEST_CLASS + class)) < bytes)
        class ++;
    return class;
}

static size_t bytes_of(size_t class)
{
    return (size_t)1 << (SMALLEST_CLASS + class);
}

static size_t stride_of(size_t class)
{
    return bytes_of(class) + GROWTH_BYTES + GUARD_BYTES;
}

static bool is_in_region(const stack_class *c, size_t class, uint64_t address)
{
    return c->region != 0 && address - c->region < GUARDED_STACKS * stride_of(class);
}

static bool make_room(stack_list *list)
{
    size_t capacity = list->capacity + SLAB_STACKS;
    void **grown = realloc(list->tops, capacity * sizeof *grown);

    if (grown == NULL)
        return false;
    list->tops = grown;
    list->capacity = capacity;
    return true;
}

/* Tops are offset against one another: equal page offsets would fight for the same cache sets. */
static void add(stack_list *list, char *end)
{
    list->tops[list->count++] = end - created_count++ % COLOURS * COLOUR_BYTES;
}

static bool reserve_region(stack_class *c, size_t class)
{
    if (c->region != 0)
        return true;
    void *region = mmap(NULL, GUARDED_STACKS * stride_of(class), PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED)
        return false;
    c->region = (uint64_t)(uintptr_t)region;
    return true;
}

static bool grow_guarded(stack_class *c, size_t class)
{
    size_t stride = stride_of(class), bytes = bytes_of(class);

    if (c->region_used == GUARDED_STACKS || !reserve_region(c, class) || !make_room(&c->guarded))
        return false;
    for (size_t i = 0; i < SLAB_STACKS; i++) {
        char *end = (char *)(uintptr_t)(c->region + (c->region_used + 1) * stride);
        if (mprotect(end - bytes, bytes, PROT_READ | PROT_WRITE) != 0)
            return i > 0;
        c->region_used++;
        add(&c->guarded, end);
    }
    return true;
}

static bool grow_plain(stack_class *c, size_t class)
{
    size_t bytes = bytes_of(class);

    if (!make_room(&c->plain))
        return false;
    char *slab = mmap(NULL, bytes * SLAB_STACKS, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED)
        return false;
    /* A huge page would make each stack cost all that it reserves. */
    (void)madvise(slab, bytes * SLAB_STACKS, MADV_NOHUGEPAGE);
    for (size_t i = SLAB_STACKS; i-- > 0;)
        add(&c->plain, slab + (i + 1) * bytes);
    return true;
}

void *pkb_stack_take(size_t bytes)
{
    size_t class = class_of(bytes);
    stack_class *c = &classes[class];

    if (c->guarded.count == 0 && c->plain.count == 0 && !grow_guarded(c, class) &&
        !grow_plain(c, class))
        return NULL;
    stack_list *list = c->guarded.count > 0 ? &c->guarded : &c->plain;
    taken_count++;
    void *top = list->tops[--list->count];
#if defined(__SANITIZE_ADDRESS__)
    /* Frames that were left by a jump are still marked as in use. */
    size_t usable = bytes_of(class) - COLOURS * COLOUR_BYTES;
    usable += list == &c->guarded ? GROWTH_BYTES : 0;
    __asan_unpoison_memory_region((char *)top - usable, usable);
#endif
    return top;
}

void pkb_stack_give(void *stack_top, size_t bytes)
{
    size_t class = class_of(bytes);
    stack_class *c = &classes[class];
    stack_list *list =
        is_in_region(c, class, (uint64_t)(uintptr_t)stack_top - 1) ? &c->guarded : &c->plain;

    list->tops[list->count++] = stack_top;
    taken_count--;
}

bool pkb_stack_is_overrun(const void *stack_top, size_t bytes, size_t depth)
{
    size_t class = class_of(bytes);

    return depth > bytes_of(class) - (size_t)COLOURS * COLOUR_BYTES &&
           !is_in_region(&classes[class], class, (uint64_t)(uintptr_t)stack_top - 1);
}

size_t pkb_stack_taken_count(void)
{
    return taken_count;
}

pkb_stack_touch pkb_stack_note_fault(uint64_t address)
{
    for (size_t class = 0; class < CLASS_COUNT; class ++) {
        const stack_class *c = &classes[class];
        size_t stride = stride_of(class);
        if (!is_in_region(c, class, address))
            continue;
        uint64_t start = address - (address - c->region) % stride;
        if (address - start < GUARD_BYTES)
            return PKB_STACK_OVERFLOW;
        void *growth = (void *)(uintptr_t)(start + GUARD_BYTES);
        bool is_grown = mprotect(growth, GROWTH_BYTES, PROT_READ | PROT_WRITE) == 0;
        return is_grown ? PKB_STACK_GROWN : PKB_STACK_OVERFLOW;
    }
    return PKB_STACK_NONE;
}
