/* SPDX-License-Identifier: BSD-3-Clause */
/* etc.h - what this program, its libraries included, finds in /etc/hosts and /etc/resolv.conf. NULL: there is no such file. */
#ifndef TEST_ADAPTER_ETC_H
#define TEST_ADAPTER_ETC_H

extern const char *etc_hosts, *etc_resolv_conf;

#endif
