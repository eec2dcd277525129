/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock.hpp in C++20: a coroutine that awaits is resumed once, from the loop, for any end of what it awaits; and one that is destroyed
 * leaves no wait and no hold. */
#include "support/cpp.hpp"

#include <coroutine>
#include <optional>

namespace {

using namespace live;
using hilock::status;

/* Begins at once; its frame lives as long as this does. */
class task {
public:
    struct promise_type {
        task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    task(task &&other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    ~task()
    {
        if (frame_)
            frame_.destroy();
    }
    bool is_done() const { return frame_.done(); }

private:
    explicit task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

/* co_await a turn of the loop. */
struct turn {
    event_base *base;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const
    {
        const timeval soon{0, 1000};
        const auto resume = [](evutil_socket_t, short, void *frame) { std::coroutine_handle<>::from_address(frame).resume(); };
        CHECK(event_base_once(base, -1, EV_TIMEOUT, resume, waiting.address(), &soon) == 0);
    }
    void await_resume() const noexcept {}
};

/* Asks, and keeps what is answered. */
task ask(hilock::lock &lock, std::chrono::milliseconds wait, std::optional<hilock::result> &ret_result)
{
    ret_result = co_await lock.acquire(wait);
}

task give(hilock::lock &lock, std::optional<hilock::result> &ret_result)
{
    ret_result = co_await lock.release();
}

PLAY(takes_turns)
{
    enum { TURNS = 20 };
    int inside = 0, turns = 0;
    std::uint64_t latest = 0;
    const auto compete = [&](hilock::client client) -> task {
        hilock::lock lock(client, "stock", lasting());
        for (int i = 0; i < TURNS; i++) {
            auto asking = lock.acquire(hilock::forever); /* lives on behind its answer */
            const auto got = co_await asking;
            CHECK(got && ++inside == 1 && got.fencing_token > latest);
            latest = got.fencing_token;
            co_await turn{at.loop.get()};
            inside--;
            turns++;
            const auto proved = co_await lock.extend();
            CHECK(proved && (co_await lock.peek()).holder.find(hilock_client_uuid(client.native())) == 0);
            CHECK(co_await lock.release());
        }
        CHECK((co_await lock.release()).status == status::not_held);
        CHECK(co_await client.close() && client.native() == nullptr);
    };
    const auto first = compete(at.client()), second = compete(at.client());
    at.loop.until([&] { return first.is_done() && second.is_done(); }, "the turns of both");
    CHECK(turns == 2 * TURNS);
}

/* Readers are inside together, and never beside a writer. */
PLAY(reads_together_and_writes_alone)
{
    enum { READERS = 3, TURNS = 5 };
    int readers = 0, most = 0, writers = 0, turns = 0;
    const auto read = [&](hilock::client client) -> task {
        hilock::shared_lock lock(client, "stock", lasting());
        for (int i = 0; i < TURNS; i++) {
            CHECK(co_await lock.acquire(hilock::forever));
            most = std::max(most, ++readers);
            while (i == 0 && most < READERS) /* each waits inside for all of them */
                co_await turn{at.loop.get()};
            CHECK(writers == 0 && (co_await lock.peek()).holders >= 1);
            readers--;
            CHECK(co_await lock.release());
            turns++;
        }
    };
    const auto write = [&](hilock::client client) -> task {
        hilock::lock lock(client, "stock", lasting());
        for (int i = 0; i < TURNS; i++) {
            while (most < READERS)
                co_await turn{at.loop.get()};
            CHECK(co_await lock.acquire(hilock::forever));
            CHECK(++writers == 1 && readers == 0);
            co_await turn{at.loop.get()};
            writers--;
            CHECK(co_await lock.release());
            turns++;
        }
    };
    const auto one = read(at.client()), two = read(at.client()), three = read(at.client()), alone = write(at.client());
    at.loop.until([&] { return turns == (READERS + 1) * TURNS; }, "the turns of all");
    CHECK(one.is_done() && two.is_done() && three.is_done() && alone.is_done());
}

PLAY(is_cancelled_when_its_lock_ends)
{
    auto here = at.client(), there = at.client();
    hilock::lock first(here, "stock", lasting()), second(there, "stock", lasting());
    std::optional<hilock::result> told;
    (void)taken(at, first);
    auto alive = std::make_shared<int>(0);
    const auto asking = ask(second, hilock::forever, told);
    at.loop.until([&] { return redis_queues(at.eye) > 0; }, "the wait");
    CHECK(second.peek([alive](const hilock::result &) { check_fail("called"); }) == status::ok);
    auto moved = std::move(second);
    moved = {};
    CHECK(!told && !asking.is_done()); /* not inside of it */
    at.loop.until([&] { return asking.is_done(); }, "the end of the coroutine");
    CHECK(told->status == status::cancelled && alive.use_count() == 1);
}

/* Also when it was granted, but not reported. */
PLAY(is_cancelled_when_granted_untold)
{
    auto client = at.client();
    hilock::lock first(client, "stock", lasting()), second(client, "stock", lasting());
    std::optional<hilock::result> told;
    (void)taken(at, first);
    const auto asking = ask(second, hilock::forever, told);
    first = {}; /* handed over */
    second = {};
    at.loop.until([&] { return asking.is_done(); }, "the end of the coroutine");
    CHECK(told->status == status::cancelled);
}

PLAY(gets_its_answer_when_its_lock_ends)
{
    auto client = at.client();
    auto options = lasting();
    options.reentrant = true;
    hilock::lock lock(client, "stock", std::move(options)), other(client, "other", lasting());
    std::optional<hilock::result> told, proof, sight;
    (void)taken(at, lock);
    (void)taken(at, lock);
    (void)taken(at, other);
    CHECK(lock.peek([](const hilock::result &) { check_fail("called"); }) == status::ok); /* is answered before the others */
    const auto giving = give(other, told);
    const auto proving = [](hilock::lock &of, std::optional<hilock::result> &ret_result) -> task { ret_result = co_await of.extend(); }(lock, proof);
    const auto seeing = [](hilock::lock &of, std::optional<hilock::result> &ret_result) -> task { ret_result = co_await of.peek(); }(lock, sight);
    other = {};
    lock = {}; /* both counts of it are released */
    at.loop.until([&] { return giving.is_done() && proving.is_done() && seeing.is_done(); }, "all answers");
    CHECK(told->status == status::ok && proof->status == status::lost && sight->status == status::ok);
}

PLAY(is_dropped)
{
    auto client = at.client();
    hilock::lock first(client, "stock", lasting()), second(client, "stock", lasting());
    std::optional<hilock::result> told;
    (void)taken(at, first);
    const auto asking = ask(second, hilock::forever, told);
    second.drop();
    CHECK(second.state() == HILOCK_STATE_WAITING || !told);
    at.loop.until([&] { return asking.is_done(); }, "the end of the coroutine");
    CHECK(told->status == status::cancelled);
    first.drop();
    CHECK(taken(at, second));
}

/* The frame goes first: its lock is another's, or its own. */
PLAY(is_destroyed_while_it_waits)
{
    auto here = at.client(), there = at.client();
    hilock::lock first(here, "stock", lasting()), second(there, "stock", lasting());
    std::optional<hilock::result> told;
    (void)taken(at, first);
    {
        const auto asking = ask(second, hilock::forever, told);
        const auto its_own = [](hilock::client &client) -> task {
            hilock::lock lock(client, "stock", lasting());
            (void)co_await lock.acquire(hilock::forever);
            check_fail("resumed");
        }(there);
        at.loop.until([&] { return redis_queues(at.eye) > 0; }, "the wait");
    }
    at.loop.until([&] { return second.state() == HILOCK_STATE_IDLE; }, "the wait to end");
    first = {};
    CHECK(taken(at, second) && !told);
}

/* An accepted re-entry looks like any other: one that is no longer awaited is given back. */
PLAY(is_destroyed_while_it_enters_again)
{
    auto client = at.client();
    auto options = lasting();
    options.reentrant = true;
    hilock::lock lock(client, "stock", std::move(options));
    std::optional<hilock::result> told;
    hilock_lock_info info{};
    info.size = sizeof info;
    (void)taken(at, lock);
    {
        const auto asking = ask(lock, hilock::forever, told);
    }
    CHECK(taken(at, lock) && !told);
    hilock_lock_describe(lock.native(), &info);
    CHECK(info.hold_count == 2);
}

PLAY(is_refused_at_once)
{
    auto client = at.client();
    hilock::lock bad(client, "a}b", lasting()), ended(client, "stock", lasting());
    std::optional<hilock::result> told;
    CHECK(ask(bad, 1s, told).is_done() && told->status == status::bad_name && told->detail.find("a}b") != std::string::npos);
    CHECK(ask(ended, -1ms, told).is_done() && told->status == status::invalid && !told->detail.empty());
    auto late = ended.acquire(1s); /* may be awaited when its lock is gone */
    ended = {};
    const auto asking = [](hilock::awaiting &answer, std::optional<hilock::result> &ret_result) -> task { ret_result = co_await answer; }(late, told);
    CHECK(asking.is_done() && told->status == status::closed && told->detail == "the lock has ended");
    CHECK(ask(ended, 1s, told).is_done() && told->status == status::invalid);
}

PLAY(is_closed)
{
    auto client = at.client();
    hilock::lock first(client, "stock", lasting()), second(client, "stock", lasting());
    std::optional<hilock::result> told;
    bool is_closed = false;
    (void)taken(at, first);
    const auto asking = ask(second, hilock::forever, told);
    const auto close = [&]() -> task { is_closed = !!co_await client.close(hilock::forever); };
    const auto closing = close();
    {
        const auto impatient = close(); /* destroyed before its answer */
    }
    second = {};
    at.loop.until([&] { return asking.is_done(); }, "the end of the wait");
    CHECK((told->status == status::closed || told->status == status::cancelled) && !is_closed);
    client = {};
    first = {};
    at.loop.until([&] { return closing.is_done(); }, "the close");
    CHECK(is_closed);
}

/* Nothing is answered; the frames' owner destroys them. */
PLAY(is_abandoned)
{
    auto client = at.client();
    hilock::lock first(client, "stock", lasting()), second(client, "stock", lasting()), third(client, "stock", lasting());
    std::optional<hilock::result> told;
    (void)taken(at, first);
    {
        const auto early = ask(second, hilock::forever, told), late = ask(third, hilock::forever, told);
        const auto closing = [](hilock::client &of) -> task { (void)co_await of.close(hilock::forever); }(client);
        second = {}; /* before */
        client.abandon();
        third = {}; /* and behind */
        at.loop.run_out();
        CHECK(!early.is_done() && !late.is_done() && !closing.is_done() && !told);
    }
    redis_do(at.eye, "FLUSHALL");
}

} // namespace

int main() { return run(); }
