/* SPDX-License-Identifier: BSD-3-Clause */
/* host - a program with an hiredis of its own that loads a module with hilock in it: host MODULE works|refused. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *redisAsyncConnect(const char *host, int port);
void *(*host_uses)(const char *host, int port);

int main(int argc, char **argv)
{
    void *module = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL, *found = module ? dlsym(module, "opener_run") : NULL;
    int (*run)(const char *wanted);
    host_uses = redisAsyncConnect;
    if (!found)
        return fprintf(stderr, "%s\n", dlerror()) < 0 ? 2 : 2;
    memcpy(&run, &found, sizeof run);
    return run(argv[2]);
}
