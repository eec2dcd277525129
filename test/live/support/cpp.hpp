/* SPDX-License-Identifier: BSD-3-Clause */
/* cpp - what the live tests in C++ share: the support of the C tests, a base that is turned until something is so, and plays that are run one
 * after the other, each against a server of its own. A claim that is not so ends the process: nothing leaves C++ by longjmp. */
#ifndef LIVE_CPP_HPP
#define LIVE_CPP_HPP

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hilock/hilock.hpp>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "support/fixture.h"
#include "support/secret.h"
}
#undef fail /* a macro of cmocka's, a member of the standard streams */

namespace live {

using namespace std::chrono_literals;

constexpr auto patience = std::chrono::milliseconds(CHECK_PATIENCE_MS);

class loop {
public:
    event_base *get() const { return base_.get(); }
    /* Looks again every few milliseconds, for what no event tells. */
    template <class Claim> void until(Claim is_so, const char *what) const
    {
        const auto begun = std::chrono::steady_clock::now();
        while (!is_so()) {
            const timeval tick{0, 5000};
            if (std::chrono::steady_clock::now() - begun > patience)
                check_fail("waited in vain for: %s", what);
            event_base_loopexit(base_.get(), &tick);
            event_base_dispatch(base_.get());
        }
    }
    void run_out() const { event_base_dispatch(base_.get()); } /* until nothing is left on it */

private:
    struct freeing {
        void operator()(event_base *base) const { event_base_free(base); }
    };
    std::unique_ptr<event_base, freeing> base_{event_base_new()};
};

struct play {
    server *store = server_start(nullptr);
    redis *eye = redis_open(store);
    live::loop loop;

    play() = default;
    play(const play &) = delete;
    play &operator=(const play &) = delete;
    ~play()
    {
        loop.run_out(); /* clients that the play has ended */
        fixture_check_clean(eye);
        redis_close(eye);
        server_end(store);
    }
    hilock::client client() const
    {
        hilock::client_options options;
        options.url = store->url;
        options.label = "live";
        options.on_log = [](hilock_log_level, const char *line) { CHECK(!std::strstr(line, TEST_SECRET)); };
        options.log_level = HILOCK_LOG_DEBUG;
        hilock::client made(hilock_client_open_libevent, loop.get(), std::move(options));
        CHECK(made.status() == hilock::status::ok);
        return made;
    }
};

/* Never lost to a stall of the machine; who loses it all the same, fails. */
inline hilock::lock_options lasting()
{
    hilock::lock_options options;
    options.lease = 60s;
    options.on_lost = [](const hilock::event &lost) { check_fail("lost: %s", lost.detail); };
    return options;
}

/* What an answer was. */
struct answers {
    unsigned count = 0;
    hilock::result last;
    void operator()(const hilock::result &result) { last = result, count++; }
};

inline hilock::result taken(const play &at, hilock::lock &lock, std::chrono::milliseconds wait = hilock::forever)
{
    answers answer;
    CHECK(lock.acquire(wait, std::ref(answer)) == hilock::status::ok);
    CHECK(answer.count == 0);
    at.loop.until([&] { return answer.count == 1; }, "the answer");
    return answer.last;
}

/* PLAY(name) { ... } is a play that finds `at`. */
struct entry {
    const char *name;
    void (*run)(const play &at);
    entry(const char *its_name, void (*its_run)(const play &)) : name(its_name), run(its_run) { all.push_back(*this); }
    inline static std::vector<entry> all;
};

#define PLAY(name)                                    \
    void name(const live::play &at);                  \
    const live::entry entry_of_##name(#name, name);   \
    void name(const live::play &at)

inline int run()
{
    check_in_thread();
    for (const auto &[name, run_it] : entry::all) {
        std::printf("%s\n", name);
        std::fflush(stdout);
        run_it(play());
    }
    return 0;
}

} // namespace live

#endif
