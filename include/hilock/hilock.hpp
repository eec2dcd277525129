/* hilock.hpp - hilock in C++17 and later: objects that give back what they have, function objects,
 * chrono, and coroutines where the compiler has them. Header only, on hilock.h, whose contract
 * holds here too; what is not wrapped is a call of that on native(). Link hilock and an adapter.
 * One screen of it, with libevent:
 *
 *     #include <event2/event.h>
 *     #include <hilock/adapters/libevent.h>
 *     #include <hilock/hilock.hpp>
 *
 *     #include <cstdio>
 *
 *     int main(int, char **argv)
 *     {
 *         using namespace std::chrono_literals;
 *         event_base *base = event_base_new();
 *         hilock::client_options at;
 *         at.url = argv[1]; // NULL: redis://127.0.0.1:6379/0
 *         hilock::client client(hilock_client_open_libevent, base, std::move(at));
 *         hilock::lock_options options;
 *         options.on_lost = [](const hilock::event &lost) {
 *             std::fprintf(stderr, "stop: %s\n", lost.detail);
 *         };
 *         hilock::lock lock(client, "report:daily", std::move(options));
 *         const auto status = lock.acquire(1s, [&](const hilock::result &result) {
 *             if (result)
 *                 std::printf("ours, token %llu\n",
 *                             static_cast<unsigned long long>(result.fencing_token));
 *             else
 *                 std::fprintf(stderr, "%s: %s\n", to_string(result.status),
 *                              result.detail.c_str());
 *             lock = {};   // releases it, as its destructor would
 *             client = {}; // closes; the loop ends when that is done
 *         });
 *         if (status != hilock::status::ok) {
 *             std::fprintf(stderr, "%s: %s\n", to_string(status), lock.refusal());
 *             client = {};
 *         }
 *         event_base_dispatch(base);
 *         event_base_free(base);
 *     }
 *
 * In a coroutine `auto result = co_await lock.acquire(1s);` and `co_await lock.release();` take the
 * place of the callbacks.
 *
 * A hilock::lock holds its name alone, a hilock::shared_lock together with others, as
 * std::unique_lock and std::shared_lock hold a mutex (hilock.h, SHARING). With
 * options.holders_max = 5 either of them is one of at most five that hold the name: a semaphore.
 *
 *  1. client and lock may be moved at any time, also while they wait and inside callbacks: C points
 *     to a state on the heap, never to them. An object that was moved from, or made by default, is
 *     empty, and its calls answer `invalid`.
 *  2. Nothing throws except std::bad_alloc, and then nothing has begun. If a client or lock was
 *     refused, status() and refusal() say so, and its calls answer that status again; a bad name
 *     may be noticed only at acquire. A refused call under co_await does not suspend: the result
 *     has the refusal, and `detail` its words.
 *  3. No exception may leave a function object that you gave to hilock, nor a coroutine's
 *     unhandled_exception: it would cross frames of C, so it ends in std::terminate. So does
 *     std::bad_alloc while an answer is copied.
 *  4. When a lock ends (its destructor runs, or another is moved into it), its wait is cancelled or
 *     its hold released, and its function objects are destroyed without being called. This may
 *     happen inside each of them; the one that is running lives until it returns. A coroutine that
 *     awaits is still resumed, on a later turn of the loop and never inside the destructor: an
 *     acquire with `cancelled` (`closed` if the client was closed first), anything else with its
 *     true answer. The lock is gone by then, and the coroutine may not touch it. Until a coroutine
 *     has its answer, the function objects of its lock are kept, and not called.
 *  5. When a coroutine is destroyed while it awaits, its acquire is cancelled (the handle is
 *     `in_use` until the loop has turned); if it is granted all the same, the grant is given back.
 *     A release goes on.
 *  6. When a client ends it is closed without a drain, unless it was closed already, and its on_log
 *     and on_event are not called any more. The loop must turn until it is closed. An earlier
 *     close() is answered then, though the object is gone. If the loop will not turn again, and in
 *     a forked child (after event_reinit), call abandon() first: after it nothing is answered, and
 *     whoever owns a coroutine that awaits must destroy it.
 *  7. On a wrong thread the end of an object frees nothing: what it should have ended goes on, and
 *     leaks (hilock.h, 6). */
#ifndef HILOCK_HPP
#define HILOCK_HPP

#if __cplusplus < 201703L
#error "hilock.hpp needs C++17: compile with -std=c++17 or later"
#endif

#include <hilock/hilock.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__cpp_impl_coroutine) && __has_include(<coroutine>)
#define HILOCK_COROUTINES 1
#include <coroutine>
#endif

namespace hilock {

using std::chrono::milliseconds;

inline constexpr milliseconds try_once{0};                   /* for acquire: ask once */
inline constexpr milliseconds forever = milliseconds::max(); /* for acquire, close, hold_max */
inline constexpr std::uint32_t any_number = HILOCK_ANY_NUMBER; /* for holders_max */

/* The statuses of hilock.h, which says what each means and what to do. */
enum class status : int {
    ok = HILOCK_OK,
    invalid = HILOCK_INVALID, no_memory = HILOCK_NO_MEMORY, closed = HILOCK_CLOSED,
    in_use = HILOCK_IN_USE,
    too_many_waiters = HILOCK_TOO_MANY_WAITERS, not_held = HILOCK_NOT_HELD,
    not_pending = HILOCK_NOT_PENDING,
    wrong_thread = HILOCK_WRONG_THREAD, forked = HILOCK_FORKED, unsupported = HILOCK_UNSUPPORTED,
    bad_name = HILOCK_BAD_NAME,
    timed_out = HILOCK_TIMED_OUT, cancelled = HILOCK_CANCELLED, lost = HILOCK_LOST,
    unreachable = HILOCK_UNREACHABLE, denied = HILOCK_DENIED, wrong_kind = HILOCK_WRONG_KIND,
    unwritable = HILOCK_UNWRITABLE, not_replicated = HILOCK_NOT_REPLICATED, server = HILOCK_SERVER,
    protocol = HILOCK_PROTOCOL,
    queue_full = HILOCK_QUEUE_FULL,
    unknown = HILOCK_UNKNOWN
};

inline const char *to_string(status value) noexcept
{
    return hilock_status_name(static_cast<hilock_status>(value));
}

/* struct hilock_result, as a value that may be kept. */
struct result {
    hilock::status status = hilock::status::invalid;
    hilock_state state = HILOCK_STATE_IDLE;
    milliseconds remaining{0}, waited{0};
    milliseconds holder_remaining{0}; /* forever: the holder's lease has no end */
    std::uint64_t fencing_token = 0;
    std::uint32_t hold_count = 0, attempts = 0, votes = 0, holders = 0, waiters = 0;
    std::uint32_t waiters_ready = 0, position = 0;
    std::string holder;
    std::string holder_label; /* the label of the holder's client; or "" */
    std::string detail;

    explicit operator bool() const noexcept { return status == hilock::status::ok; }
};

using event = hilock_event; /* lives until the function that gets it returns */
using on_result = std::function<void(const result &)>;
using on_holder = std::function<void(const hilock_holder_info &)>;
using on_event = std::function<void(const event &)>;
using on_trace = std::function<void(const hilock_trace &)>;
/* May not call hilock. Not set: warnings go to standard error. */
using on_log = std::function<void(hilock_log_level, const char *)>;

/* An on_lost for programs that ask remaining() before each write. */
inline void lost_ignored(const event &) noexcept {}

/* What you do not set keeps its default. `more` has all options by their names in C; if an option
 * is set here as well, that counts. The functions and `user` in `more` are not used. In C++20 write
 * {.on_lost = stop, .lease = 5s}. */
struct client_options {
    const char *url = nullptr;
    const char *label = nullptr;
    milliseconds lease{0};
    hilock_log_level log_level{};
    hilock::on_log on_log{};
    hilock::on_event on_event{};
    hilock::on_trace on_trace{};
    hilock_client_options more = hilock_client_options_default();
};

struct lock_options {
    hilock::on_event on_lost{}; /* required */
    hilock::on_event on_event{};
    hilock_kind kind = HILOCK_MUTEX;
    milliseconds lease{0}, hold_max{0}, min_validity{0};
    bool reentrant = false;
    std::uint32_t holders_max = 0; /* any_number: a read lock; n: a semaphore of n permits */
    hilock_lock_options more = hilock_lock_options_default();
};

} // namespace hilock

#include <hilock/detail/state.hpp>

namespace hilock {

#if defined(HILOCK_COROUTINES)
/* What co_await awaits. It may be awaited once, and the call is made then. It may outlive the
 * object that it came from. */
class [[nodiscard]] awaiting {
public:
    using beginning = std::function<detail::operation *(const on_result &, result &)>;

    explicit awaiting(beginning begin) : begin_(std::move(begin)) {}
    awaiting(const awaiting &) = delete;
    awaiting &operator=(const awaiting &) = delete;
    ~awaiting()
    {
        if (operation_)
            operation_->of->forget(*operation_);
    }
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting)
    {
        const auto answer = [this, waiting](const result &told) {
            operation_ = nullptr;
            result_ = told;
            waiting.resume();
        };
        operation_ = begin_(answer, result_);
        return operation_ != nullptr;
    }
    result await_resume() { return std::move(result_); }

private:
    beginning begin_;
    detail::operation *operation_ = nullptr; /* under way */
    result result_;
};
#endif

class client {
    static detail::operation *begin(detail::client_state *state, milliseconds drain,
                                    detail::operation &&made, result &refused)
    {
        const auto call = [=](detail::operation *) { return state->close(drain); };
        return detail::party::begin(state, call, std::move(made), refused);
    }
    friend class lock;
    detail::handle<detail::client_state> state_;

public:
    client() = default;
    /* open: hilock_client_open_libevent or that of another adapter, with a pointer to its loop; or
     * hilock_client_open with a struct hilock_loop. */
    template <class Open, class Loop> client(Open open, Loop *loop, client_options options = {})
    {
        const auto opener = [&](hilock_client **made, const hilock_client_options *raw,
                                hilock_error *error) {
            return open(made, loop, raw, error);
        };
        state_ = detail::handle(std::make_shared<detail::client_state>(std::move(options), opener));
    }

    /* ok, or why the client was not opened. refusal() has the reason in words; later, why the
     * latest call was refused. */
    [[nodiscard]] hilock::status status() const noexcept
    {
        return state_ ? state_->status : hilock::status::invalid;
    }
    [[nodiscard]] const char *refusal() const noexcept { return state_ ? state_->refusal() : ""; }
    [[nodiscard]] bool is_connected() const noexcept
    {
        return hilock_client_is_connected(native()) != 0;
    }
    /* nullptr: it is gone. */
    [[nodiscard]] hilock_client *native() const noexcept
    {
        return state_ ? state_->client : nullptr;
    }

    /* As hilock_client_close, but only on the loop's thread (elsewhere `wrong_thread`), and each
     * accepted close is answered. on_closed may be empty. */
    hilock::status close(milliseconds drain, std::function<void()> on_closed)
    {
        result refused;
        on_result answer;
        if (on_closed)
            answer = [closed = std::move(on_closed)](const result &) { closed(); };
        begin(state_.get(), drain, {nullptr, std::move(answer)}, refused);
        return refused.status;
    }
#if defined(HILOCK_COROUTINES)
    awaiting close(milliseconds drain = milliseconds(0)) const
    {
        return awaiting([state = state_.shared(), drain](const on_result &answer, result &refused) {
            return begin(state.get(), drain, {nullptr, answer, false, true}, refused);
        });
    }
#endif
    void abandon() noexcept
    {
        if (state_)
            state_->abandon();
    }
};

/* A view of a hold for other threads (hilock_lock_validity); its destructor gives it back. */
using validity = std::unique_ptr<hilock_validity, detail::unref>;
inline milliseconds remaining(const validity &of) noexcept
{
    return milliseconds(hilock_validity_remaining_ms(of.get()));
}

class lock {
    using calling = std::function<hilock_status(hilock_lock *, hilock_result_fn *, void *)>;

    static calling acquiring(milliseconds wait)
    {
        return [span = detail::span(wait)](hilock_lock *lock, hilock_result_fn *told, void *user) {
            return hilock_acquire(lock, span, told, user);
        };
    }
    static calling extending(milliseconds lease)
    {
        return [span = detail::span(lease)](hilock_lock *lock, hilock_result_fn *told, void *user) {
            return hilock_extend(lock, span, told, user);
        };
    }
    static calling listing(on_holder each)
    {
        return [each = std::move(each)](hilock_lock *lock, hilock_result_fn *told, void *user) {
            static_cast<detail::operation *>(user)->each = each;
            return hilock_holders(lock, detail::lock_state::was_listed, told, user);
        };
    }
    static detail::operation *begin(detail::lock_state *state, const calling &ask,
                                    detail::operation &&made, result &refused)
    {
        const auto call = [&](detail::operation *it) { return state->call(ask, it); };
        return detail::party::begin(state, call, std::move(made), refused);
    }
    hilock::status start(const calling &call, on_result answer, bool is_acquire = false)
    {
        result refused;
        begin(state_.get(), call, {nullptr, std::move(answer), is_acquire}, refused);
        return refused.status;
    }
#if defined(HILOCK_COROUTINES)
    awaiting await(calling call, bool is_acquire = false) const
    {
        const auto &state = state_.shared();
        return awaiting([state, ask = std::move(call), is_acquire](const on_result &answer,
                                                                   result &refused) {
            return begin(state.get(), ask, {nullptr, answer, is_acquire, true}, refused);
        });
    }
#endif
    template <class Make> void make(const client &of, lock_options &&options, Make made)
    {
        state_ = detail::handle(std::make_shared<detail::lock_state>(of.state_.shared(),
                                                                     std::move(options), made));
    }
    detail::handle<detail::lock_state> state_;

public:
    lock() = default;
    lock(const client &of, std::string_view name, lock_options options)
    {
        make(of, std::move(options), [&](hilock_lock **made, hilock_client *client,
                                         hilock_lock_options *raw) {
            raw->name_length = name.size();
            return hilock_lock_create(made, client, name.empty() ? "" : name.data(), raw);
        });
    }
    /* For several names, of which it holds all or none: hilock_multi_create. */
    static lock all_of(const client &of, const std::vector<std::string> &names,
                       lock_options options)
    {
        std::vector<const char *> texts;
        lock all;
        for (const std::string &name : names)
            texts.push_back(name.c_str());
        texts.push_back(nullptr);
        all.make(of, std::move(options), [&](hilock_lock **made, hilock_client *client,
                                             hilock_lock_options *raw) {
            return hilock_multi_create(made, client, texts.data(), raw);
        });
        return all;
    }

    /* The same as those of a client. */
    [[nodiscard]] hilock::status status() const noexcept
    {
        return state_ ? state_->status : hilock::status::invalid;
    }
    [[nodiscard]] const char *refusal() const noexcept { return state_ ? state_->refusal() : ""; }
    [[nodiscard]] hilock_lock *native() const noexcept { return state_ ? state_->lock : nullptr; }

    [[nodiscard]] milliseconds remaining() const noexcept
    {
        return milliseconds(hilock_lock_remaining_ms(native()));
    }
    [[nodiscard]] std::uint64_t token() const noexcept { return hilock_lock_token(native()); }
    [[nodiscard]] std::uint64_t token(std::size_t index) const noexcept
    {
        return hilock_multi_token(native(), index);
    }
    [[nodiscard]] hilock_state state() const noexcept { return hilock_lock_state(native()); }
    [[nodiscard]] hilock::validity validity() const noexcept /* NULL: not held, or no memory */
    {
        hilock_validity *made = nullptr;
        const bool is_made = native() && hilock_lock_validity(native(), &made) == HILOCK_OK;
        return hilock::validity(is_made ? made : nullptr);
    }

    /* As hilock_acquire and the like: an accepted call (ok) is answered once, later. A function may
     * be empty; a grant to an empty one is given back. */
    [[nodiscard]] hilock::status acquire(milliseconds wait, on_result answer)
    {
        return start(acquiring(wait), std::move(answer), true);
    }
    [[nodiscard]] hilock::status extend(milliseconds lease, on_result answer)
    {
        return start(extending(lease), std::move(answer));
    }
    [[nodiscard]] hilock::status downgrade(on_result answer)
    {
        return start(hilock_downgrade, std::move(answer));
    }
    [[nodiscard]] hilock::status peek(on_result answer)
    {
        return start(hilock_peek, std::move(answer));
    }
    /* As hilock_holders: `each` is told of each holder, and then comes the answer. */
    [[nodiscard]] hilock::status holders(on_holder each, on_result answer)
    {
        return start(listing(std::move(each)), std::move(answer));
    }
    hilock::status release(on_result answer) { return start(hilock_release, std::move(answer)); }
#if defined(HILOCK_COROUTINES)
    awaiting acquire(milliseconds wait) const { return await(acquiring(wait), true); }
    awaiting extend(milliseconds lease = milliseconds(0)) const { return await(extending(lease)); }
    awaiting downgrade() const { return await(hilock_downgrade); }
    awaiting peek() const { return await(hilock_peek); }
    awaiting holders(on_holder each) const { return await(listing(std::move(each))); }
    awaiting release() const { return await(hilock_release); }
#endif
    hilock::status cancel() noexcept
    {
        return static_cast<hilock::status>(hilock_cancel(native()));
    }
    /* As at its end (4), but good for another acquire: at once, or when what coroutines await is
     * answered. */
    void drop() noexcept
    {
        if (native())
            state_->drop();
    }
};

/* A lock that shares its name: with any number of others, unless options say how many. Those that
 * hold the name alone (lock) wait for all that share it, and these wait for them. */
class shared_lock : public lock {
    static lock_options sharing(lock_options options)
    {
        if (!options.holders_max && !options.more.holders_max)
            options.holders_max = any_number;
        return options;
    }

public:
    shared_lock() = default;
    shared_lock(const client &of, std::string_view name, lock_options options)
        : lock(of, name, sharing(std::move(options)))
    {
    }
    /* Not of several names. */
    static lock all_of(const client &, const std::vector<std::string> &, lock_options) = delete;
};

} // namespace hilock

#endif
