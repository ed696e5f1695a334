/* SPDX-License-Identifier: Apache-2.0
 *
 * vprintf of device code. Each conversion is rebuilt and handed to snprintf, so an attempt's
 * format string never meets a real argument list.
 */
#include "harness/cpu/device/print.h"

#include "harness/cpu/device/device.h"
#include "harness/cpu/device/window.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 16, PIECE_BYTES = 512, SPEC_BYTES = 64, LARGEST_WIDTH = 400 };

static char buffer[BUFFER_BYTES];
static size_t used;
static uint64_t printed_bytes, limit_bytes = 1u << 20;
static bool said_limit;

void pkb_print_set_limit(uint64_t bytes)
{
    limit_bytes = bytes;
}

void pkb_print_flush(void)
{
    if (used == 0)
        return;
    fwrite(buffer, 1, used, stdout);
    fflush(stdout);
    used = 0;
}

static void append(const char *text, size_t bytes)
{
    while (bytes > 0) {
        if (used == BUFFER_BYTES)
            pkb_print_flush();
        size_t piece = bytes < BUFFER_BYTES - used ? bytes : BUFFER_BYTES - used;
        memcpy(buffer + used, text, piece);
        used += piece;
        text += piece;
        bytes -= piece;
    }
}

static void put(const char *text, size_t bytes)
{
    static const char note[] = "\n[device printf: output limit reached, the rest is dropped]\n";
    uint64_t left = limit_bytes > printed_bytes ? limit_bytes - printed_bytes : 0;
    size_t kept = bytes < left ? bytes : (size_t)left;

    append(text, kept);
    printed_bytes += kept;
    if (kept < bytes && !said_limit) {
        append(note, sizeof note - 1);
        said_limit = true;
    }
}

/* ---- arguments ---- */

static uint64_t take(const uint8_t *arguments, size_t *offset, size_t bytes)
{
    uint64_t value = 0;

    *offset = (*offset + bytes - 1) / bytes * bytes;
    memcpy(&value, arguments + *offset, bytes);
    *offset += bytes;
    return value;
}

/* One conversion: "%-8.3lld" is flags and numbers "-8.3", long_count 2, letter 'd'. */
typedef struct conversion {
    char flags[SPEC_BYTES];
    size_t flag_count;
    int long_count, short_count;
    char letter;
} conversion;

static void add_flag(conversion *c, char flag)
{
    if (c->flag_count + 1 < sizeof c->flags)
        c->flags[c->flag_count++] = flag;
}

static void add_star(conversion *c, const uint8_t *arguments, size_t *offset)
{
    char digits[16];
    int value = (int)(int32_t)take(arguments, offset, 4);

    if (value > LARGEST_WIDTH)
        value = LARGEST_WIDTH;
    if (value < -LARGEST_WIDTH)
        value = -LARGEST_WIDTH;
    int length = snprintf(digits, sizeof digits, "%d", value);
    for (int i = 0; i < length; i++)
        add_flag(c, digits[i]);
}

/* Reads after the '%'; returns the first character behind the conversion. */
static const char *parse(const char *at, conversion *c, const uint8_t *arguments, size_t *offset)
{
    *c = (conversion){0};
    for (; *at != '\0'; at++) {
        if (*at == '*')
            add_star(c, arguments, offset);
        else if (strchr("-+ #0.123456789", *at) != NULL)
            add_flag(c, *at);
        else if (*at == 'l' || *at == 'j' || *at == 'z' || *at == 't')
            c->long_count++;
        else if (*at == 'h')
            c->short_count++;
        else if (*at != 'L')
            break;
    }
    c->letter = *at;
    return *at == '\0' ? at : at + 1;
}

static const char *spec_of(const conversion *c, const char *length, char *out)
{
    snprintf(out, SPEC_BYTES + 8, "%%%s%s%c", c->flags, length, c->letter);
    return out;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static int convert_integer(char *out, const conversion *c, const uint8_t *arguments, size_t *offset)
{
    char spec[SPEC_BYTES + 8];
    bool is_signed = c->letter == 'd' || c->letter == 'i';
    uint64_t value = take(arguments, offset, c->long_count > 0 ? 8 : 4);

    if (c->long_count == 0 && is_signed)
        value = (uint64_t)(int64_t)(int32_t)value;
    if (c->short_count == 1)
        value = is_signed ? (uint64_t)(int64_t)(int16_t)value : (uint16_t)value;
    else if (c->short_count > 1)
        value = is_signed ? (uint64_t)(int64_t)(int8_t)value : (uint8_t)value;
    return snprintf(out, PIECE_BYTES, spec_of(c, "ll", spec), (unsigned long long)value);
}

static int convert_float(char *out, const conversion *c, const uint8_t *arguments, size_t *offset)
{
    char spec[SPEC_BYTES + 8];
    uint64_t bits = take(arguments, offset, 8);
    double value = 0;

    memcpy(&value, &bits, sizeof value);
    return snprintf(out, PIECE_BYTES, spec_of(c, "", spec), value);
}

static int convert_other(char *out, const conversion *c, const uint8_t *arguments, size_t *offset)
{
    char spec[SPEC_BYTES + 8];

    if (c->letter == 'c')
        return snprintf(out, PIECE_BYTES, spec_of(c, "", spec), (int)take(arguments, offset, 4));
    void *pointer = pkb_window_translate(take(arguments, offset, 8));
    if (c->letter == 'p')
        return snprintf(out, PIECE_BYTES, "0x%llx",
                        (unsigned long long)pkb_window_device_address((uintptr_t)pointer));
    return snprintf(out, PIECE_BYTES, spec_of(c, "", spec),
                    pointer == NULL ? "(null)" : (const char *)pointer);
}

#pragma GCC diagnostic pop

static int convert(char *out, const conversion *c, const uint8_t *arguments, size_t *offset)
{
    if (c->letter == '\0')
        return 0;
    if (strchr("diuxXo", c->letter) != NULL)
        return convert_integer(out, c, arguments, offset);
    if (strchr("fFeEgGaA", c->letter) != NULL)
        return convert_float(out, c, arguments, offset);
    if (strchr("cps", c->letter) != NULL)
        return convert_other(out, c, arguments, offset);
    return 0;
}

uint32_t pkb_print_format(const char *format, const uint8_t *arguments)
{
    char piece[PIECE_BYTES];
    size_t offset = 0;
    uint32_t conversions = 0;

    while (*format != '\0') {
        const char *percent = strchrnul(format, '%');
        put(format, (size_t)(percent - format));
        if (*percent == '\0')
            break;
        if (percent[1] == '%') {
            put("%", 1);
            format = percent + 2;
            continue;
        }
        conversion c;
        format = parse(percent + 1, &c, arguments, &offset);
        int length = convert(piece, &c, arguments, &offset);
        if (length > 0)
            put(piece, length < PIECE_BYTES ? (size_t)length : PIECE_BYTES - 1);
        conversions++;
    }
    return conversions;
}

uint32_t pkb_vprintf(pkb_thread *thread, uint64_t format, uint64_t arguments)
{
    (void)thread;
    if (format == 0)
        return ~0u;
    return pkb_print_format(pkb_window_translate(format), pkb_window_translate(arguments));
}
