/* SPDX-License-Identifier: BSD-3-Clause */
/* raii - hilock from C++: handles that give themselves back, and answers that go to a lambda.
 *
 * hilock_lock_free cancels, releases and silences in any state, so a handle's destructor is all the clean-up there is: an exception, an early
 * return, a request that goes away. A function object is kept in the handle, and dies with it: nothing calls back after hilock_lock_free.
 * No exception may leave a callback: it would cross C.
 * Invariant: a Lock never outlives what its function object refers to; it may outlive the client.
 * usage: raii [URL] */
#include <hilock/adapters/libevent.h>

#include <event2/event.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

struct BaseFree {
    void operator()(event_base *base) const { event_base_free(base); }
};
using Base = std::unique_ptr<event_base, BaseFree>;

/* Closing takes turns of the loop: the destructor turns it until on_closed. */
class Client {
public:
    Client(event_base *base, const char *url) : base_(base)
    {
        hilock_client_options options = hilock_client_options_default();
        hilock_error error = {};
        options.url = url;
        options.label = "raii";
        if (hilock_client_open_libevent(&client_, base, &options, &error) != HILOCK_OK)
            throw std::runtime_error(error.text);
    }
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;
    ~Client()
    {
        bool is_closed = false;
        if (hilock_client_close(client_, 0, [](void *flag) { *static_cast<bool *>(flag) = true; }, &is_closed) != HILOCK_OK)
            return;
        while (!is_closed && event_base_loop(base_, EVLOOP_ONCE) >= 0) {
        }
    }
    hilock_client *get() const { return client_; }

private:
    event_base *base_;
    hilock_client *client_ = nullptr;
};

class Lock {
public:
    using Answer = std::function<void(const hilock_result &)>;

    Lock(const Client &client, const std::string &name, std::function<void(const hilock_event &)> on_lost) : lost_(std::move(on_lost))
    {
        hilock_lock_options options = hilock_lock_options_default();
        options.on_lost = [](const hilock_event *event, void *self) { static_cast<Lock *>(self)->lost_(*event); };
        options.user = this;
        options.name_length = name.size();
        if (hilock_lock_create(&lock_, client.get(), name.data(), &options) != HILOCK_OK)
            throw std::invalid_argument(hilock_client_refusal(client.get()));
    }
    Lock(const Lock &) = delete; /* its address is what callbacks get */
    Lock &operator=(const Lock &) = delete;
    ~Lock() { hilock_lock_free(lock_); }

    hilock_status acquire(uint32_t wait_ms, Answer answer)
    {
        answer_ = std::move(answer);
        return hilock_acquire(lock_, wait_ms, [](const hilock_result *result, void *self) { static_cast<Lock *>(self)->answer_(*result); }, this);
    }
    bool is_mine() const { return hilock_lock_remaining_ms(lock_) > 0; }

private:
    hilock_lock *lock_ = nullptr;
    std::function<void(const hilock_event &)> lost_;
    Answer answer_;
};

void say(const char *what) { std::printf("%s\n", what); }

/* Asks, and turns the loop until the answer: for the example's sake. */
hilock_status take(event_base *base, Lock &lock, uint32_t wait_ms)
{
    hilock_status status = HILOCK_OK;
    bool is_answered = false;
    if (lock.acquire(wait_ms, [&](const hilock_result &result) { status = result.status, is_answered = true; }) != HILOCK_OK)
        throw std::logic_error("refused");
    while (!is_answered)
        event_base_loop(base, EVLOOP_ONCE);
    return status;
}

void work(event_base *base, const Client &client)
{
    Lock lock(client, "stock:42", [](const hilock_event &event) { say(event.detail); });
    if (take(base, lock, 5000) != HILOCK_OK)
        throw std::runtime_error("not had");
    say(lock.is_mine() ? "ours" : "not ours");
    throw std::runtime_error("the work failed");
}

void run(event_base *base, const char *url)
{
    std::vector<std::unique_ptr<Lock>> waiters;
    Client client(base, url); /* goes before the handles: they may outlive it */
    const auto ignored = [](const hilock_event &) {};
    try {
        work(base, client);
    } catch (const std::runtime_error &error) {
        say(error.what());
    }
    for (int i = 0; i < 3; i++)
        waiters.push_back(std::unique_ptr<Lock>(new Lock(client, "stock:42", ignored)));
    say(take(base, *waiters[0], 5000) == HILOCK_OK ? "free again" : "still held");
    if (waiters[1]->acquire(HILOCK_FOREVER, [](const hilock_result &) { say("never said: the handle is gone"); }) == HILOCK_OK)
        waiters.erase(waiters.begin() + 1);
    waiters.erase(waiters.begin());
    say(take(base, *waiters[0], 5000) == HILOCK_OK ? "the next has it" : "still held");
    try {
        Lock refused(client, "a}b", ignored);
    } catch (const std::invalid_argument &error) {
        say(error.what());
    }
    waiters.clear();
}

} // namespace

int main(int argc, char **argv)
{
    const Base base(event_base_new());
    try {
        run(base.get(), argc > 1 ? argv[1] : nullptr);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    say("left");
    return 0;
}
