/* SPDX-License-Identifier: BSD-3-Clause */
/* contract - assertions that stay on in release builds.
 * If one of our invariants is broken, two clients could hold one lock, so the program is stopped. Never assert anything
 * about input from a user, a server or the network: refuse the input, or answer with a status. */
#ifndef HL_BASE_CONTRACT_H
#define HL_BASE_CONTRACT_H

#define HL_REQUIRE(claim) ((claim) ? (void)0 : hl_contract_broken(#claim, __FILE__, __LINE__))

_Noreturn void hl_contract_broken(const char *claim, const char *file, int line);

#endif
