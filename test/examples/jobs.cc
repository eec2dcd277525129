/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs - a server in C++20 that does jobs under locks: each connection is a coroutine, which awaits a line, the lock, the
 * pieces of its work and the release, one after the other, while many like it do the same on one thread.
 *
 * A line is "NAME PIECES SECONDS": so many pieces of work under the lock NAME, which is waited for that long. The answer is
 * "NAME done TOKEN", or NAME and why not: the name of a status; LOST, if another may have worked at it meanwhile. Of all
 * such servers on one store one works at a name at a time.
 * A caller that hangs up ends its session, and so its coroutine, wherever it stands, and so the lock: a wait is cancelled,
 * a hold released. SIGTERM closes: who waits is answered CLOSED, who works goes on; a second one ends that too.
 * Invariant: a session owns the frame of its coroutine, and the frame owns all that it has begun.
 * usage: jobs [URL]; it says on which port of the loopback it listens. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <hilock/adapters/libevent.h>
#include <hilock/hilock.hpp>

#include <netinet/in.h>
#include <signal.h>

#include <algorithm>
#include <coroutine>
#include <cstdio>
#include <map>
#include <sstream>

namespace {

using namespace std::chrono_literals;

template <auto Free> struct freeing {
    template <class Thing> void operator()(Thing *thing) const { Free(thing); }
};
using base_ptr = std::unique_ptr<event_base, freeing<event_base_free>>;
using event_ptr = std::unique_ptr<event, freeing<event_free>>;
using stream_ptr = std::unique_ptr<bufferevent, freeing<bufferevent_free>>;
using listener_ptr = std::unique_ptr<evconnlistener, freeing<evconnlistener_free>>;

/* A coroutine that begins at once, and ends with this object. */
class task {
public:
    struct promise_type {
        task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    task() = default;
    task(task &&other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    task &operator=(task &&other) noexcept
    {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~task()
    {
        if (frame_)
            frame_.destroy();
    }

private:
    explicit task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

/* A piece of work, which takes a hundredth of a second: here, of doing nothing. */
class piece {
public:
    explicit piece(event_base *base) : timer_(evtimer_new(base, is_done, this)) {}
    piece(const piece &) = delete; /* its address is what the timer has */
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting)
    {
        const timeval span{0, 10000};
        waiting_ = waiting;
        event_add(timer_.get(), &span);
    }
    void await_resume() const noexcept {}

private:
    static void is_done(evutil_socket_t, short, void *self) { static_cast<piece *>(self)->waiting_.resume(); }

    event_ptr timer_;
    std::coroutine_handle<> waiting_;
};

struct server;

class session {
public:
    session(server &of, evutil_socket_t fd);
    session(const session &) = delete;
    bool is_idle() const { return waiting_ && evbuffer_get_length(bufferevent_get_output(stream_.get())) == 0; }

private:
    struct next_line { /* what co_await line() takes */
        session &of;
        bool await_ready() { return of.read(); }
        void await_suspend(std::coroutine_handle<> waiting) { of.waiting_ = waiting; }
        std::string await_resume() { return std::move(of.line_); }
    };
    next_line line() { return {*this}; }
    bool read()
    {
        char *text = evbuffer_readln(bufferevent_get_input(stream_.get()), nullptr, EVBUFFER_EOL_LF);
        line_ = text ? text : "";
        std::free(text);
        return text != nullptr;
    }
    void say(const std::string &text) { bufferevent_write(stream_.get(), text.data(), text.size()); }
    task serve();

    server &of_;
    stream_ptr stream_;
    std::string line_;
    std::coroutine_handle<> waiting_; /* for a line */
    task serving_;                    /* ends first */
};

struct server {
    event_base *base;
    hilock::client locks;
    listener_ptr listener{};
    event_ptr on_term{};
    std::map<session *, std::unique_ptr<session>> sessions{};
    task stopping{};

    task stop()
    {
        listener.reset();
        co_await locks.close(hilock::forever);
        while (!std::all_of(sessions.begin(), sessions.end(), [](const auto &each) { return each.second->is_idle(); }))
            co_await piece(base); /* the last answers go out */
        sessions.clear();
        on_term.reset(); /* the last thing that kept the loop turning */
    }
    void terminate()
    {
        if (listener)
            stopping = stop();
        else
            locks.close(0ms, {});
    }
};

session::session(server &of, evutil_socket_t fd)
    : of_(of), stream_(bufferevent_socket_new(of.base, fd, BEV_OPT_CLOSE_ON_FREE))
{
    const auto on_read = [](bufferevent *, void *user) {
        auto *self = static_cast<session *>(user);
        if (self->waiting_ && self->read())
            std::exchange(self->waiting_, nullptr).resume();
    };
    const auto on_end = [](bufferevent *, short, void *user) {
        auto *self = static_cast<session *>(user);
        self->of_.sessions.erase(self);
    };
    bufferevent_setcb(stream_.get(), on_read, nullptr, on_end, this);
    bufferevent_enable(stream_.get(), EV_READ | EV_WRITE);
    serving_ = serve();
}

task session::serve()
{
    for (;;) {
        std::istringstream words(co_await line());
        std::string name;
        unsigned pieces = 0, seconds = 0;
        words >> name >> pieces >> seconds;
        hilock::lock lock(of_.locks, name, {.on_lost = hilock::lost_ignored}); /* asks before each piece */
        const auto got = co_await lock.acquire(std::chrono::seconds(seconds));
        std::string answer = got ? "done " + std::to_string(got.fencing_token) : to_string(got.status);
        for (; got && pieces > 0 && lock.remaining() > 0ms; pieces--)
            co_await piece(of_.base);
        if (got) {
            const auto given = co_await lock.release();
            if (!given && given.status != hilock::status::unknown) /* unknown: it was ours to the end */
                answer = "LOST";
        }
        say(name + " " + answer + "\n");
    }
}

int run(const char *url)
{
    const base_ptr base(event_base_new());
    const auto log = [](hilock_log_level, const char *line) { std::fprintf(stderr, "%s\n", line); };
    server all{base.get(), {hilock_client_open_libevent, base.get(), {.url = url, .label = "jobs", .on_log = log}}};
    sockaddr_in at{};
    socklen_t length = sizeof at;
    if (all.locks.status() != hilock::status::ok) {
        std::fprintf(stderr, "%s\n", all.locks.refusal());
        return 1;
    }
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto on_caller = [](evconnlistener *, evutil_socket_t fd, sockaddr *, int, void *user) {
        auto *to = static_cast<server *>(user);
        auto made = std::make_unique<session>(*to, fd);
        to->sessions.emplace(made.get(), std::move(made));
    };
    const auto on_term = [](evutil_socket_t, short, void *user) { static_cast<server *>(user)->terminate(); };
    all.listener.reset(evconnlistener_new_bind(base.get(), on_caller, &all, LEV_OPT_CLOSE_ON_FREE, -1,
                                               reinterpret_cast<sockaddr *>(&at), sizeof at));
    all.on_term.reset(evsignal_new(base.get(), SIGTERM, on_term, &all));
    if (!all.listener || event_add(all.on_term.get(), nullptr) != 0)
        return 1;
    getsockname(evconnlistener_get_fd(all.listener.get()), reinterpret_cast<sockaddr *>(&at), &length);
    std::printf("%d\n", ntohs(at.sin_port));
    std::fflush(stdout);
    event_base_dispatch(base.get());
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a caller who hangs up while it is answered */
    return run(argc > 1 ? argv[1] : nullptr);
}
