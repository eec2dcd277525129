/* state.hpp - what hilock.hpp keeps on the heap for C to point to; not for programs. A state lives
 * as long as its object, as long as one of its callbacks runs, and as long as C may still call
 * back. So objects may be moved, and may end inside callbacks. Invariant: an operation stays at its
 * place in its state's list from the accepted call until its answer begins. */
#include <hilock/hilock.hpp> /* which includes this file in its middle */

#ifndef HILOCK_DETAIL_STATE_HPP
#define HILOCK_DETAIL_STATE_HPP

namespace hilock {
namespace detail {

/* A time that C has no span for becomes one that C refuses. */
inline std::uint32_t span(milliseconds time) noexcept
{
    if (time == forever)
        return HILOCK_FOREVER;
    return time.count() < 0 || time.count() > INT32_MAX
               ? 0x80000000u
               : static_cast<std::uint32_t>(time.count());
}
inline std::uint32_t span(milliseconds time, std::uint32_t otherwise) noexcept
{
    return time.count() ? span(time) : otherwise;
}

inline result result_of(const hilock_result &from)
{
    result to;
    to.status = static_cast<hilock::status>(from.status);
    to.state = from.state;
    to.remaining = milliseconds(from.remaining_ms);
    to.waited = milliseconds(from.waited_ms);
    to.holder_remaining = from.holder_remaining_ms == HILOCK_FOREVER
                              ? forever
                              : milliseconds(from.holder_remaining_ms);
    to.fencing_token = from.fencing_token;
    to.hold_count = from.hold_count;
    to.attempts = from.attempts;
    to.votes = from.votes;
    to.holders = from.holders;
    to.waiters = from.waiters;
    to.waiters_ready = from.waiters_ready;
    to.position = from.position;
    to.holder = from.holder;
    to.holder_label = from.holder_label;
    to.detail = from.detail;
    return to;
}

struct party;

/* An accepted call that has no answer yet. It is never moved. */
struct operation {
    party *of = nullptr;
    hilock::on_result answer{};
    bool is_acquire = false;
    bool is_awaited = false; /* a coroutine awaits it, so it is answered in every case */
    bool is_silent = false;  /* nobody wants the answer any more */
    std::list<operation>::iterator place{};
    hilock::on_holder each{}; /* of a list: is told each holder */
};

/* The state of a client or of a lock. */
struct party : std::enable_shared_from_this<party> {
    hilock::status status = hilock::status::closed; /* what opening or making it answered */
    std::string refused;                            /* why that was refused */
    std::list<operation> operations;
    std::shared_ptr<party> self; /* keeps this alive while C may call back and the object is gone */

    party() = default;
    party(const party &) = delete;
    party &operator=(const party &) = delete;
    virtual ~party() = default;
    virtual const char *refusal() const noexcept = 0;
    virtual void forget(operation &it) noexcept = 0; /* its coroutine was destroyed */

    /* call(operation *) calls C, which never answers inside that call. */
    template <class Call>
    static operation *begin(party *state, Call call, operation &&made, result &ret_refused)
    {
        ret_refused.detail = state ? "" : "empty: moved from, or made by default";
        if (!state)
            return nullptr;
        std::list<operation> next;
        next.push_back(std::move(made));
        next.front().of = state;
        next.front().place = next.begin();
        ret_refused.status = static_cast<hilock::status>(call(&next.front()));
        if (ret_refused.status != hilock::status::ok) {
            ret_refused.detail = state->refusal();
            return nullptr;
        }
        state->operations.splice(state->operations.end(), next);
        return &state->operations.back();
    }
    /* Takes an operation out of the list, in a list of its own, because it must not be moved. */
    std::list<operation> take(operation &it) noexcept
    {
        std::list<operation> taken;
        taken.splice(taken.begin(), operations, it.place);
        return taken;
    }
};

struct client_state final : party {
    hilock_client *client = nullptr; /* NULL: it was refused, or is closed or abandoned */
    hilock::on_log on_log;
    hilock::on_event on_event;
    hilock::on_trace on_trace;
    bool is_ended = false;

    template <class Open> client_state(client_options &&options, Open open)
        : on_log(std::move(options.on_log)), on_event(std::move(options.on_event)),
          on_trace(std::move(options.on_trace))
    {
        hilock_client_options raw = options.more;
        hilock_error error{};
        raw.url = options.url ? options.url : raw.url;
        raw.label = options.label ? options.label : raw.label;
        raw.lease_ms = span(options.lease, raw.lease_ms);
        raw.log_level = options.log_level ? options.log_level : raw.log_level;
        raw.on_log = on_log ? log : nullptr;
        raw.on_event = on_event ? happened : nullptr;
        raw.on_trace = on_trace ? stepped : nullptr;
        raw.user = this;
        status = static_cast<hilock::status>(open(&client, &raw, &error));
        if (status != hilock::status::ok)
            refused = error.text;
    }

    static void log(hilock_log_level level, const char *line, void *user) noexcept
    {
        const auto *state = static_cast<client_state *>(user);
        if (!state->is_ended)
            state->on_log(level, line);
    }
    static void happened(const hilock_event *what, void *user) noexcept
    {
        auto *state = static_cast<client_state *>(user);
        const auto kept = state->shared_from_this();
        if (!state->is_ended)
            state->on_event(*what);
    }
    static void stepped(const hilock_trace *what, void *user) noexcept
    {
        const auto *state = static_cast<client_state *>(user);
        if (!state->is_ended)
            state->on_trace(*what);
    }
    static void has_closed(void *user) noexcept
    {
        auto *state = static_cast<client_state *>(user);
        const auto kept = std::move(state->self);
        result closed;
        closed.status = hilock::status::ok;
        state->client = nullptr;
        while (!state->operations.empty()) {
            const auto done = state->take(state->operations.front());
            if (done.front().answer && !done.front().is_silent)
                done.front().answer(closed);
        }
    }

    const char *refusal() const noexcept override
    {
        return status != hilock::status::ok ? refused.c_str() : hilock_client_refusal(client);
    }
    void forget(operation &it) noexcept override { it.is_silent = true; }
    /* On a wrong thread and in a forked child the uuid is empty; a call that does nothing then
     * tells which of the two it is. */
    hilock_status place() const noexcept
    {
        if (!client)
            return HILOCK_CLOSED;
        return *hilock_client_uuid(client) ? HILOCK_OK
                                           : hilock_lock_create(nullptr, client, nullptr, nullptr);
    }
    /* In C any thread may close; but this state belongs to the loop's thread. */
    hilock_status close(milliseconds drain) noexcept
    {
        const auto where = place();
        const auto answered = where == HILOCK_OK
                                  ? hilock_client_close(client, span(drain), has_closed, this)
                                  : where;
        if (answered == HILOCK_OK && !self)
            self = shared_from_this();
        return answered;
    }
    void end() noexcept
    {
        if (!client)
            return;
        if (close(self ? forever : milliseconds(0)) == HILOCK_OK)
            is_ended = true;
        else if (!self) /* on a wrong thread or in a forked child: C still points to this */
            self = shared_from_this();
    }
    void abandon() noexcept
    {
        if (!client || place() == HILOCK_WRONG_THREAD) /* nothing can be ended there */
            return;
        hilock_client_abandon(std::exchange(client, nullptr));
        const auto kept = std::move(self);
    }
};

struct lock_state final : party {
    std::shared_ptr<client_state> client;
    hilock_lock *lock = nullptr; /* NULL: it was refused, or is freed */
    hilock::on_event on_lost, on_event;
    bool is_ended = false;

    template <class Make>
    lock_state(std::shared_ptr<client_state> of, lock_options &&options, Make make)
        : client(std::move(of)), on_lost(std::move(options.on_lost)),
          on_event(std::move(options.on_event))
    {
        hilock_client *native = client ? client->client : nullptr;
        hilock_lock_options raw = options.more;
        raw.on_lost = on_lost ? was_lost : nullptr;
        raw.on_event = on_event ? happened : nullptr;
        raw.user = this;
        raw.kind = options.kind != HILOCK_MUTEX ? options.kind : raw.kind;
        raw.lease_ms = span(options.lease, raw.lease_ms);
        raw.hold_max_ms = span(options.hold_max, raw.hold_max_ms);
        raw.min_validity_ms = span(options.min_validity, raw.min_validity_ms);
        raw.reentrant = options.reentrant ? 1 : raw.reentrant;
        raw.holders_max = options.holders_max ? options.holders_max : raw.holders_max;
        if (native)
            status = static_cast<hilock::status>(make(&lock, native, &raw));
        else if (client && client->status != hilock::status::ok)
            status = client->status;
        if (status != hilock::status::ok)
            refused = client ? client->refusal()
                             : "the client is empty: moved from, or made by default";
    }
    ~lock_state() override { hilock_lock_free(lock); }

    static void was_lost(const hilock_event *what, void *user) noexcept
    {
        auto *state = static_cast<lock_state *>(user);
        const auto kept = state->shared_from_this();
        if (!state->is_ended)
            state->on_lost(*what);
    }
    static void happened(const hilock_event *what, void *user) noexcept
    {
        auto *state = static_cast<lock_state *>(user);
        const auto kept = state->shared_from_this();
        if (!state->is_ended)
            state->on_event(*what);
    }
    static void was_listed(const hilock_holder_info *one, void *user) noexcept
    {
        const auto *it = static_cast<operation *>(user);
        const auto each = it->is_silent ? nullptr : it->each; /* a copy: it may end the lock */
        if (each)
            each(*one);
    }
    static void was_answered(const hilock_result *what, void *user) noexcept
    {
        auto *it = static_cast<operation *>(user);
        auto *state = static_cast<lock_state *>(it->of);
        const auto kept = state->shared_from_this();
        const auto done = state->take(*it);
        if (it->answer && !it->is_silent)
            it->answer(result_of(*what));
        else if (it->is_acquire && what->status == HILOCK_OK)
            hilock_release(state->lock, nullptr, nullptr); /* it was granted, and nobody wants it */
        state->settle();
    }

    template <class Call> hilock_status call(Call ask, operation *it)
    {
        if (is_ended || !lock)
            return status != hilock::status::ok ? static_cast<hilock_status>(status)
                                                : HILOCK_CLOSED;
        return ask(lock, was_answered, it);
    }
    const char *refusal() const noexcept override
    {
        if (is_ended)
            return "the lock has ended";
        return status != hilock::status::ok ? refused.c_str()
                                            : hilock_client_refusal(client->client);
    }
    void forget(operation &it) noexcept override
    {
        it.is_silent = true;
        it.is_awaited = false;
        if (is_ended)
            settle();
        else if (it.is_acquire && hilock_lock_state(lock) == HILOCK_STATE_WAITING)
            hilock_cancel(lock);
    }
    bool is_awaited() const noexcept
    {
        return std::any_of(operations.begin(), operations.end(),
                           [](const operation &it) { return it.is_awaited; });
    }
    /* As hilock_lock_drop, but operations that coroutines await are answered. */
    void drop() noexcept
    {
        std::list<operation> gone; /* is destroyed last, with all that its functions hold */
        if (!is_awaited()) {
            hilock_lock_drop(lock);
            gone.swap(operations);
            return;
        }
        hilock_lock_info info{};
        info.size = sizeof info;
        for (operation &it : operations) {
            it.is_silent = it.is_silent || !it.is_awaited;
            if (it.is_acquire)
                hilock_cancel(lock);
        }
        hilock_lock_describe(lock, &info);
        while (info.hold_count-- && hilock_release(lock, nullptr, nullptr) == HILOCK_OK) {
        }
    }
    void free() noexcept
    {
        std::list<operation> gone;
        hilock_lock_free(std::exchange(lock, nullptr));
        gone.swap(operations);
    }
    /* Frees a lock that ended while coroutines awaited, when the last of them has its answer or is
     * destroyed. */
    void settle() noexcept
    {
        if (!is_ended || !lock || is_awaited())
            return;
        const auto kept = std::move(self);
        free();
    }
    void end() noexcept
    {
        if (!lock)
            return;
        if (hilock_lock_user(lock) != this && hilock_cancel(lock) == HILOCK_WRONG_THREAD) {
            self = shared_from_this(); /* C still points to this */
            return;
        }
        is_ended = true;
        drop();
        if (is_awaited())
            self = shared_from_this();
        else
            free();
    }
};

/* What client and lock have in common: a state that moves with the object, and ends with it. */
template <class State> class handle {
public:
    handle() = default;
    explicit handle(std::shared_ptr<State> state) : state_(std::move(state)) {}
    handle(handle &&other) noexcept = default;
    handle &operator=(handle &&other) noexcept
    {
        handle taken(std::move(other));
        state_.swap(taken.state_);
        return *this;
    }
    ~handle()
    {
        if (state_)
            state_->end();
    }
    explicit operator bool() const noexcept { return state_ != nullptr; }
    State *operator->() const noexcept { return state_.get(); }
    State *get() const noexcept { return state_.get(); }
    const std::shared_ptr<State> &shared() const noexcept { return state_; }

private:
    std::shared_ptr<State> state_;
};

struct unref {
    void operator()(hilock_validity *validity) const noexcept { hilock_validity_unref(validity); }
};

} // namespace detail
} // namespace hilock

#endif
