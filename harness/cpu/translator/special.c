/* SPDX-License-Identifier: Apache-2.0
 *
 * Special registers; see writer.h. Blocks are clusters of one.
 */
#include <string.h>

#include "harness/cpu/translator/writer.h"

typedef struct special_row {
    const char *name;
    const char *in_c; /* a %c stands for the axis 0, 1 or 2 */
} special_row;

static const special_row rows[] = {
    {"%tid", "T->tid[%c]"},
    {"%ntid", "T->ntid[%c]"},
    {"%ctaid", "T->ctaid[%c]"},
    {"%nctaid", "T->nctaid[%c]"},
    {"%clusterid", "T->ctaid[%c]"},
    {"%nclusterid", "T->nctaid[%c]"},
    {"%cluster_ctaid", "(0u*%c)"},
    {"%cluster_nctaid", "(1u+0u*%c)"},
    {"%cluster_ctarank", "0u"},
    {"%cluster_nctarank", "1u"},
    {"%is_explicit_cluster", "0u"},
    {"%laneid", "T->lane"},
    {"%warpid", "T->warp"},
    {"%nwarpid", "pkb_warp_count(T)"},
    {"%smid", "T->smid"},
    {"%nsmid", "132u"},
    {"%gridid", "T->grid_id"},
    {"%lanemask_eq", "(1u<<T->lane)"},
    {"%lanemask_lt", "((1u<<T->lane)-1u)"},
    {"%lanemask_le", "((2u<<T->lane)-1u)"},
    {"%lanemask_gt", "(0u-(2u<<T->lane))"},
    {"%lanemask_ge", "(0u-(1u<<T->lane))"},
    {"%clock", "(uint32_t)pkb_clock64()"},
    {"%clock_hi", "(uint32_t)(pkb_clock64()>>32)"},
    {"%clock64", "pkb_clock64()"},
    {"%globaltimer", "pkb_globaltimer()"},
    {"%globaltimer_lo", "(uint32_t)pkb_globaltimer()"},
    {"%globaltimer_hi", "(uint32_t)(pkb_globaltimer()>>32)"},
    {"%envreg1", "(uint32_t)(T->grid_workspace>>32)"},
    {"%envreg2", "(uint32_t)T->grid_workspace"},
    {"%dynamic_smem_size", "T->dynamic_shared_bytes"},
    {"%total_smem_size", "(T->total_shared_bytes-1024u)"},
    {"%aggr_smem_size", "(T->total_shared_bytes-1024u)"},
    {"%reserved_smem_offset_begin", "T->shared_base"},
    {"%reserved_smem_offset_end", "(T->shared_base+1024u)"},
    {"%reserved_smem_offset_cap", "(T->shared_base+1024u)"},
    {"%reserved_smem_offset_0", "T->shared_base"},
    {"%reserved_smem_offset_1", "T->shared_base"},
    {"%current_graph_exec", "(uint64_t)0"},
};

static void put_with_axis(pkb_ptx_writer *w, const char *in_c, char axis)
{
    for (const char *at = in_c; *at != '\0'; at++) {
        if (at[0] == '%' && at[1] == 'c') {
            pkb_buf_append_byte(&w->body, axis);
            at++;
        } else {
            pkb_buf_append_byte(&w->body, *at);
        }
    }
}

/* A loop that watches a clock can wait for another thread. */
static bool is_clock(const pkb_ptx_token *token)
{
    return token->length >= 6 &&
           (memcmp(token->text, "%clock", 6) == 0 ||
            (token->length > 11 && memcmp(token->text, "%globaltimer", 12) == 0));
}

bool pkb_ptx_put_special(pkb_ptx_writer *w, const pkb_ptx_operand *operand)
{
    const pkb_ptx_token *token = operand->token;
    char axis = '0';

    if (operand->axis != NULL) {
        if (operand->axis->length != 2 || strchr("xyzw", operand->axis->text[1]) == NULL)
            return false;
        if (operand->axis->text[1] == 'w') {
            pkb_buf_append_string(&w->body, "0u");
            return true;
        }
        axis = (char)('0' + operand->axis->text[1] - 'x');
    }
    w->wait_count += is_clock(token);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pkb_ptx_token_is(token, rows[i].name)) {
            bool has_axis = strstr(rows[i].in_c, "%c") != NULL;
            put_with_axis(w, rows[i].in_c, axis);
            return has_axis == (operand->axis != NULL);
        }
    if (token->length >= 7 && memcmp(token->text, "%envreg", 7) == 0) {
        pkb_buf_append_string(&w->body, "0u");
        return true;
    }
    return false;
}
