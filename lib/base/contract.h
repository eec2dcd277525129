/* SPDX-License-Identifier: BSD-3-Clause */
/* contract - assertions that stay on in release builds.
 * A broken invariant of ours could let two clients hold one lock: stopping is safe. Never assert what a user, a server
 * or the network sent: refuse it, or answer with a status. */
#ifndef HL_BASE_CONTRACT_H
#define HL_BASE_CONTRACT_H

#define HL_REQUIRE(claim) ((claim) ? (void)0 : hl_contract_broken(#claim, __FILE__, __LINE__))

_Noreturn void hl_contract_broken(const char *claim, const char *file, int line);

#endif
