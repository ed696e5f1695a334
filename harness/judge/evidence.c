/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks for words in the built files; see evidence.h.
 */
#include "harness/judge/evidence.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

enum { FILE_LIMIT_BYTES = 256 * 1024 * 1024 };

/* Whether `word` stands in the bytes; `is_whole`: as a string of its own, between NULs. */
static bool holds(const char *content, size_t bytes, const char *word, bool is_whole)
{
    size_t length = strlen(word);
    for (const char *at = content, *end = content + bytes; at < end; at++) {
        at = memmem(at, (size_t)(end - at), word, length);
        if (at == NULL)
            return false;
        if (!is_whole || (at > content && at[-1] == '\0' && at[length] == '\0'))
            return true; /* pkb_fs_read leaves a NUL behind the last byte */
    }
    return false;
}

static bool file_holds(const char *path, const char *word, bool is_whole)
{
    char *content = NULL;
    size_t bytes = 0;
    bool is_there = false;

    if (path != NULL && word[0] != '\0' &&
        pkb_fs_read(path, FILE_LIMIT_BYTES, &content, &bytes, NULL) == PKB_OK)
        is_there = holds(content, bytes, word, is_whole);
    free(content);
    return is_there;
}

/* Section number `index` of an ELF file; false if it is damaged or has none. */
static bool find_section(const char *content, size_t bytes, size_t index, Elf64_Shdr *out)
{
    Elf64_Ehdr file;
    if (bytes < sizeof file)
        return false;
    memcpy(&file, content, sizeof file);
    if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_shentsize != sizeof *out ||
        index >= file.e_shnum || file.e_shoff > bytes ||
        (index + 1) * sizeof *out > bytes - file.e_shoff)
        return false;
    memcpy(out, content + file.e_shoff + index * sizeof *out, sizeof *out);
    return out->sh_type != SHT_NOBITS && out->sh_offset <= bytes &&
           out->sh_size <= bytes - out->sh_offset;
}

static bool is_named(const char *content, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
    static const char wanted[] = "pkb_lacking";
    return section->sh_name < names->sh_size &&
           names->sh_size - section->sh_name >= sizeof wanted &&
           memcmp(content + names->sh_offset + section->sh_name, wanted, sizeof wanted) == 0;
}

/* `word` between NULs, or at the begin of the section. */
static bool section_holds_word(const char *section, size_t bytes, const char *word)
{
    size_t length = strlen(word) + 1;
    if (bytes >= length && memcmp(section, word, length) == 0)
        return true;
    for (size_t at = 1; at + length <= bytes; at++)
        if (section[at - 1] == '\0' && memcmp(section + at, word, length) == 0)
            return true;
    return false;
}

static bool section_holds(const char *path, const char *word)
{
    char *content = NULL;
    size_t bytes = 0;
    Elf64_Ehdr file;
    Elf64_Shdr names, section;
    bool is_there = false;

    if (path == NULL || word[0] == '\0' ||
        pkb_fs_read(path, FILE_LIMIT_BYTES, &content, &bytes, NULL) != PKB_OK)
        return false;
    if (bytes >= sizeof file) {
        memcpy(&file, content, sizeof file);
        bool has_names = find_section(content, bytes, file.e_shstrndx, &names);
        for (size_t i = 0; has_names && !is_there && i < file.e_shnum; i++)
            is_there = find_section(content, bytes, i, &section) &&
                       is_named(content, &names, &section) &&
                       section_holds_word(content + section.sh_offset, section.sh_size, word);
    }
    free(content);
    return is_there;
}

/* What follows `lead` in `text`; NULL if it is not there. */
static const char *after(const char *text, const char *lead)
{
    const char *found = strstr(text, lead);
    return found == NULL ? NULL : found + strlen(lead);
}

bool pkb_evidence_is_unsupported(const pkb_evidence *evidence, const char *text)
{
    const char *what = after(text, "does not support ");
    const char *call = what == NULL ? NULL : after(what, "the CUDA call ");

    if (what == NULL)
        return false;
    if (call != NULL)
        return file_holds(evidence->library_path, what, true) &&
               file_holds(evidence->host_path, call, true);
    if (strncmp(what, "clusters", strlen("clusters")) == 0)
        return file_holds(evidence->host_path, "cudaLaunchKernelExC", true) ||
               file_holds(evidence->host_path, ".reqnctapercluster", false);
    return section_holds(evidence->device_path, what);
}
