/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock.hpp in C++17: an object that is ended or moved, at any time, keeps the promises of its opening comment, and leaves nothing at the store. */
#include "support/cpp.hpp"

#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace live;
using hilock::status;

PLAY(takes_and_gives)
{
    auto client = at.client();
    hilock::lock lock(client, "stock", lasting());
    const auto got = taken(at, lock, 10s);
    answers gone;
    CHECK(got && got.state == HILOCK_STATE_HELD && got.fencing_token > 0 && got.remaining > 30s && got.hold_count == 1);
    CHECK(lock.token() == got.fencing_token && lock.remaining() > 30s && lock.state() == HILOCK_STATE_HELD && client.is_connected());
    CHECK(redis_integer(at.eye, "EXISTS stock") == 1);
    CHECK(lock.release(std::ref(gone)) == status::ok && lock.remaining() == 0ms && gone.count == 0);
    at.loop.until([&] { return gone.count == 1; }, "the release");
    CHECK(gone.last && redis_integer(at.eye, "EXISTS stock") == 0);
    CHECK(lock.release({}) == status::not_held && std::string(lock.refusal()).find("stock") != std::string::npos);
}

PLAY(waits_for_its_turn)
{
    auto here = at.client(), there = at.client();
    hilock::lock first(here, "stock", lasting()), second(there, "stock", lasting());
    answers mine;
    const auto token = taken(at, first).fencing_token;
    CHECK(second.acquire(hilock::forever, std::ref(mine)) == status::ok && second.state() == HILOCK_STATE_WAITING);
    CHECK(second.acquire(hilock::forever, std::ref(mine)) == status::in_use);
    at.loop.until([&] { return redis_queues(at.eye) > 0; }, "the second to wait");
    first = {};
    at.loop.until([&] { return mine.count == 1; }, "the turn of the second");
    CHECK(mine.last && mine.last.fencing_token > token);
}

PLAY(shares_its_name)
{
    auto here = at.client(), there = at.client(), elsewhere = at.client();
    hilock::shared_lock first(here, "stock", lasting()), second(there, "stock", lasting());
    hilock::lock writer(elsewhere, "stock", lasting());
    answers alone;
    const auto early = taken(at, first).fencing_token;
    CHECK(taken(at, second).fencing_token > early);
    const auto refused = taken(at, writer, hilock::try_once);
    CHECK(refused.status == status::timed_out && refused.holders == 2);
    CHECK(writer.acquire(hilock::forever, std::ref(alone)) == status::ok);
    at.loop.until([&] { return redis_queues(at.eye) > 0; }, "the writer to wait");
    auto moved = std::move(second);
    first = {}; /* as std::shared_lock: its end gives back its own share, and no other */
    CHECK(moved.remaining() > 30s && second.native() == nullptr && alone.count == 0);
    moved.drop();
    at.loop.until([&] { return alone.count == 1; }, "the writer's turn");
    CHECK(alone.last && taken(at, moved, hilock::try_once).status == status::timed_out);
    answers shared, listed;
    int seen = 0;
    CHECK(moved.holders([&](const hilock_holder_info &one) { seen += one.fencing_token == writer.token() && one.remaining_ms > 0; }, std::ref(listed)) == status::ok);
    at.loop.until([&] { return listed.count == 1; }, "the list");
    CHECK(listed.last && listed.last.holders == 1 && seen == 1);
    CHECK(writer.downgrade(std::ref(shared)) == status::ok);
    at.loop.until([&] { return shared.count == 1; }, "the downgrade");
    CHECK(shared.last && taken(at, moved, hilock::try_once) && writer.remaining() > 30s);
}

PLAY(takes_one_of_two_permits)
{
    auto client = at.client();
    auto two = lasting(), also_two = lasting();
    two.holders_max = also_two.more.holders_max = 2;
    hilock::lock first(client, "stock", two), third(client, "stock", two);
    hilock::shared_lock second(client, "stock", also_two);
    CHECK(taken(at, first) && taken(at, second));
    CHECK(taken(at, third, hilock::try_once).holders == 2);
    second = {};
    CHECK(taken(at, third));
    two.kind = HILOCK_SIMPLE;
    CHECK(hilock::shared_lock(client, "stock", two).status() == status::unsupported);
}

PLAY(times_out_and_is_cancelled)
{
    auto here = at.client(), there = at.client();
    hilock::lock first(here, "stock", lasting()), second(there, "stock", lasting());
    answers ended, seen;
    (void)taken(at, first);
    const auto late = taken(at, second, 50ms);
    CHECK(late.status == status::timed_out && late.holder.find(hilock_client_uuid(here.native())) == 0 && late.holder_remaining > 0ms);
    CHECK(!late.holder_label.empty() && late.holder.find(":1:" + late.holder_label) == 36);
    CHECK(taken(at, second, hilock::try_once).status == status::timed_out);
    CHECK(second.cancel() == status::not_pending && second.acquire(1h, std::ref(ended)) == status::ok && second.cancel() == status::ok);
    CHECK(second.peek(std::ref(seen)) == status::ok);
    at.loop.until([&] { return ended.count == 1 && seen.count == 1; }, "the end of the wait");
    CHECK(ended.last.status == status::cancelled && seen.last && seen.last.holder == late.holder);
}

PLAY(tells_a_loss)
{
    auto client = at.client();
    unsigned losses = 0;
    hilock_lost_reason why = HILOCK_REASON_NONE;
    hilock::lock_options options;
    options.lease = 3s;
    options.on_lost = [&](const hilock::event &lost) { losses++, why = lost.reason; };
    hilock::lock lock(client, "stock", std::move(options));
    (void)taken(at, lock);
    const auto moved = std::move(lock);
    auto seen = moved.validity();
    CHECK(hilock::remaining(seen) > 0ms);
    std::thread([&seen] { CHECK(hilock::remaining(seen) > 0ms); }).join();
    redis_do(at.eye, "DEL stock");
    at.loop.until([&] { return losses > 0; }, "the loss");
    CHECK(losses == 1 && why == HILOCK_REASON_TAKEN && moved.remaining() == 0ms && moved.state() == HILOCK_STATE_IDLE && !moved.validity());
    CHECK(hilock::remaining(seen) == 0ms);
}

PLAY(is_moved_while_it_waits)
{
    auto here = at.client(), there = at.client();
    hilock::lock first(here, "stock", lasting());
    std::vector<hilock::lock> locks;
    answers mine;
    (void)taken(at, first);
    locks.emplace_back(there, "stock", lasting());
    CHECK(locks[0].acquire(hilock::forever, [&](const hilock::result &result) {
        auto elsewhere = std::move(locks[0]); /* in its callback, too */
        CHECK(elsewhere.remaining() > 0ms && locks[0].native() == nullptr);
        locks[0] = std::move(elsewhere);
        mine(result);
    }) == status::ok);
    for (int i = 0; i < 20; i++) /* grows */
        locks.emplace_back();
    auto &self = locks[0];
    locks[0] = std::move(self);
    auto client = std::move(there);
    first.drop();
    at.loop.until([&] { return mine.count == 1; }, "the turn of what was moved");
    CHECK(mine.last && locks[0].token() == mine.last.fencing_token && there.native() == nullptr && client.native() != nullptr);
    CHECK(there.close(0ms, {}) == status::invalid && locks[1].acquire(1s, std::ref(mine)) == status::invalid);
    CHECK(locks[1].cancel() == status::invalid && locks[1].release({}) == status::invalid && locks[1].token() == 0 && !locks[1].validity());
}

/* Function objects go with the lock, uncalled. */
PLAY(ends_while_it_waits)
{
    auto here = at.client(), there = at.client();
    hilock::lock first(here, "stock", lasting()), second(there, "stock", lasting());
    auto alive = std::make_shared<int>(0);
    (void)taken(at, first);
    auto options = lasting();
    options.on_event = [alive](const hilock::event &) {};
    hilock::lock third(there, "stock", std::move(options));
    CHECK(second.acquire(hilock::forever, [alive](const hilock::result &) { check_fail("called"); }) == status::ok);
    CHECK(third.acquire(hilock::forever, [alive](const hilock::result &) { check_fail("called"); }) == status::ok);
    CHECK(alive.use_count() == 4);
    second.drop();
    CHECK(alive.use_count() == 3 && second.state() == HILOCK_STATE_IDLE);
    CHECK(second.acquire(hilock::forever, [alive](const hilock::result &) { check_fail("called"); }) == status::ok);
    second = hilock::lock(there, "stock", lasting());
    third = {};
    CHECK(alive.use_count() == 1);
    first = {};
    CHECK(taken(at, second));
}

PLAY(ends_inside_callbacks)
{
    auto client = at.client();
    std::string heard, text(100, 'x'); /* on the heap: what was freed too early is seen */
    hilock::lock lock;
    hilock::lock_options options;
    options.lease = 3s;
    options.on_lost = [&, text](const hilock::event &lost) { lock = {}, heard = lost.detail + text; };
    lock = hilock::lock(client, "stock", std::move(options));
    (void)taken(at, lock);
    redis_do(at.eye, "DEL stock");
    at.loop.until([&] { return !heard.empty(); }, "the loss");
    CHECK(lock.native() == nullptr && heard.substr(heard.size() - 100) == text);
    heard.clear();
    lock = hilock::lock(client, "stock", lasting());
    CHECK(lock.acquire(10s, [&, text](const hilock::result &result) { lock = {}, heard = result.detail + text; }) == status::ok);
    at.loop.until([&] { return !heard.empty(); }, "the grant");
    heard.clear();
    lock = hilock::lock(client, "stock", lasting());
    CHECK(taken(at, lock)); /* what the callback ended was released */
    CHECK(lock.release([&, text](const hilock::result &) { client = {}, lock = {}, heard = text; }) == status::ok);
    at.loop.until([&] { return !heard.empty(); }, "the release");
}

/* Each close is answered, whether or not the object is there still. */
PLAY(closes)
{
    auto client = at.client();
    hilock::lock held(client, "stock", lasting()), waits(client, "stock", lasting());
    unsigned closed = 0;
    answers ended;
    (void)taken(at, held);
    CHECK(waits.acquire(hilock::forever, std::ref(ended)) == status::ok);
    CHECK(client.close(hilock::forever, [&] { closed++; }) == status::ok && client.close(-1ms, {}) == status::invalid);
    at.loop.until([&] { return ended.count == 1; }, "the end of the wait");
    CHECK(ended.last.status == status::closed && closed == 0 && waits.acquire(1s, std::ref(ended)) == status::closed);
    CHECK(client.close(hilock::forever, [&] { closed += 10; }) == status::ok);
    client = {};
    CHECK(held.remaining() > 0ms && held.release({}) == status::ok);
    at.loop.until([&] { return closed == 11; }, "both answers");
    CHECK(held.acquire(1s, std::ref(ended)) == status::closed && std::string(held.refusal()) == "the client is closed");
}

/* Ended without a close: it closes, its functions are silent, and a hold is reported as lost before it is given back. */
PLAY(ends_with_holds)
{
    hilock_lost_reason why = HILOCK_REASON_NONE;
    auto alive = std::make_shared<int>(0);
    hilock::lock_options options;
    options.on_lost = [&](const hilock::event &lost) { why = lost.reason; };
    hilock::client_options listening;
    listening.url = at.store->url;
    listening.on_event = [alive](const hilock::event &) { ++*alive; };
    hilock::client client(hilock_client_open_libevent, at.loop.get(), std::move(listening));
    hilock::lock lock(client, "stock", std::move(options));
    (void)taken(at, lock);
    CHECK(*alive > 0);
    const int heard = *alive;
    client = {};
    at.loop.run_out();
    CHECK(why == HILOCK_REASON_CLOSING && *alive == heard);
    lock = {};
    CHECK(alive.use_count() == 1);
}

/* Ended after a close, it does what that said, in silence: a lost link is not reported. */
PLAY(ends_behind_a_close)
{
    unsigned events = 0, steps = 0, heard = 0, asked = 0;
    hilock::client_options listening;
    listening.url = at.store->url;
    listening.on_event = [&](const hilock::event &) { events++; };
    listening.on_trace = [&](const hilock_trace &) { steps++; };
    hilock::client client(hilock_client_open_libevent, at.loop.get(), std::move(listening));
    hilock::lock lock(client, "stock", lasting());
    answers proved;
    (void)taken(at, lock);
    CHECK(client.close(hilock::forever, {}) == status::ok);
    client = {};
    heard = events;
    const unsigned seen = steps; /* connected, asked, granted at least */
    redis_do(at.eye, "CLIENT KILL TYPE normal SKIPME yes");
    do {
        CHECK(lock.extend(90s, std::ref(proved)) == status::ok);
        asked++;
        at.loop.until([&] { return proved.count == asked; }, "the proof, by a new link");
    } while (!proved.last);
    CHECK(heard > 0 && events == heard && seen >= 4 && steps == seen && lock.release({}) == status::ok);
}

PLAY(says_why_it_is_refused)
{
    auto client = at.client();
    answers never;
    hilock::client_options options;
    options.url = "http://nowhere";
    hilock::client bad(hilock_client_open_libevent, at.loop.get(), std::move(options));
    CHECK(bad.status() == status::invalid && std::string(bad.refusal()).find("url") != std::string::npos && bad.close(0ms, {}) == status::closed);
    hilock::lock homeless(bad, "stock", lasting()), nameless(client, "", lasting()), braced(client, "a}b", lasting());
    CHECK(homeless.status() == status::invalid && std::string(homeless.refusal()) == bad.refusal());
    CHECK(nameless.status() == status::bad_name && braced.status() == status::bad_name);
    CHECK(braced.acquire(1s, std::ref(never)) == status::bad_name && std::string(braced.refusal()).find("a}b") != std::string::npos);
    hilock::lock careless(client, "stock", {}), negative(client, "stock", lasting());
    CHECK(careless.status() == status::invalid && negative.acquire(-1ms, std::ref(never)) == status::invalid);
    CHECK(negative.acquire(600h * 24, std::ref(never)) == status::invalid && negative.extend(1s, std::ref(never)) == status::not_held);
    CHECK(std::string(hilock::to_string(status::bad_name)) == "BAD_NAME");
    client.abandon();
    CHECK(negative.acquire(1s, std::ref(never)) == status::closed && client.close(0ms, {}) == status::closed && never.count == 0);
}

PLAY(takes_several_and_again)
{
    auto client = at.client();
    auto options = lasting();
    answers proved;
    auto both = hilock::lock::all_of(client, {"east", std::string("west")}, lasting());
    CHECK(taken(at, both) && both.token(0) > 0 && both.token(1) > 0 && both.token(2) == 0);
    options.reentrant = true;
    hilock::lock again(client, std::string("a\0b", 3), std::move(options));
    CHECK(taken(at, again).hold_count == 1 && taken(at, again).hold_count == 2 && again.release({}) == status::ok && again.remaining() > 0ms);
    CHECK(again.extend(90s, std::ref(proved)) == status::ok);
    at.loop.until([&] { return proved.count == 1; }, "the proof");
    CHECK(proved.last && proved.last.remaining > 60s && redis_integer(at.eye, "EXISTS %b", "a\0b", std::size_t{3}) == 1);
    CHECK(again.acquire(1s, {}) == status::ok); /* to nobody: given back */
    const auto count = [&] {
        hilock_lock_info info{};
        info.size = sizeof info;
        hilock_lock_describe(again.native(), &info);
        return info.hold_count;
    };
    CHECK(count() == 2);
    at.loop.until([&] { return count() == 1; }, "what nobody wants to be given back");
}

/* What was ended on another thread goes on, and what leaks by that is safe. It is pointed to from here, so that nothing else may leak. */
PLAY(goes_on_when_ended_elsewhere)
{
    static hilock_lock *leaked;
    static hilock::lock *keeper;
    auto client = at.client();
    hilock::lock first(client, "stock", lasting()), second(client, "stock", lasting());
    answers mine;
    (void)taken(at, first);
    CHECK(second.acquire(hilock::forever, std::ref(mine)) == status::ok);
    leaked = second.native();
    std::thread([&second] { second = {}; }).join();
    first = {};
    at.loop.until([&] { return mine.count == 1; }, "the answer of what was ended elsewhere");
    CHECK(mine.last && second.native() == nullptr && hilock_release(leaked, nullptr, nullptr) == HILOCK_OK);
    keeper = new hilock::lock(client, "stock", lasting());
    auto *native = client.native();
    std::thread([&client] { client.abandon(), client = {}; }).join();
    CHECK(taken(at, *keeper));
    keeper->drop();
    CHECK(hilock_client_close(native, 0, nullptr, nullptr) == HILOCK_OK);
}

/* An exception that leaves a callback ends the program, and crosses no C. */
PLAY(ends_the_program_by_an_exception)
{
    int how = 0;
    std::fflush(stdout);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_in_child();
        std::set_terminate([] { _exit(42); });
        const live::loop loop;
        hilock::client_options options;
        options.url = at.store->url;
        hilock::client client(hilock_client_open_libevent, loop.get(), std::move(options));
        hilock::lock lock(client, "stock", lasting());
        CHECK(lock.acquire(10s, [](const hilock::result &) { throw 1; }) == status::ok);
        try {
            loop.until([] { return false; }, "the exception");
        } catch (int) {
        }
        _exit(1);
    }
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 42);
    redis_do(at.eye, "FLUSHALL");
}

} // namespace

int main() { return run(); }
