/* SPDX-License-Identifier: BSD-3-Clause */
/* A hold is renewed in time, survives what is no loss, ends when it must, and says so once, with the right reason. */
#include "play.h"

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 3000};

enum { LEASE_US = 3000000, DRIFT_US = 30000 + 2000 + 5000 };

HOLDING(a_hold_is_renewed_at_each_third_of_its_lease, &short_lease)
{
    uint64_t granted_us = sent_at_us(s, "mutex_acquire", 0);
    TELLS_IN(s, 59990, "");
    SAME(s, asked(s, "renew"), 59);
    for (int i = 0; i < 59; i++)
        SAME(s, sent_at_us(s, "renew", i), granted_us + (uint64_t)(i + 1) * LEASE_US / 3);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 1900);
    HOLDS(s, !strcmp(store_line(&s->store, "renew", 0)->text, store_line(&s->store, "renew", 58)->text));
}

/* Also if the loop's timers are a little early. */
WITH_CLIENT(renew_NEVER_ends_a_lease_after_the_grant)
{
    for (int i = 0; i < 2; i++) {
        p->loop.early_us = i ? 700 : 0;
        struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
        TELLS_IN(s, 5000, "a:LOST EXPIRED");
        SAME(s, a->at_us, sent_at_us(s, "mutex_acquire", i) + LEASE_US - DRIFT_US);
        SAME(s, asked(s, "renew"), 0);
        SAME(s, asked(s, "mutex_release"), i + 1);
        TEXT(s, a->detail, "EXPIRED: the lease of \"stock\" (3000 ms) is over; 127.0.0.1:6379 can be reached now");
    }
}

HOLDING(no_answer_until_the_deadline_is_EXPIRED_at_the_deadline, &short_lease)
{
    uint64_t sent_us = sent_at_us(s, "mutex_acquire", 0), token = hilock_lock_token(a->lock);
    cut_off(s);
    TELLS_IN(s, 5000, "a:RENEWAL_FAILED a:LOST EXPIRED");
    SAME(s, a->at_us, sent_us + LEASE_US - DRIFT_US);
    SAME(s, a->event.kind, HILOCK_EVENT_LOST);
    SAME(s, a->event.reason, HILOCK_REASON_EXPIRED);
    SAME(s, a->event.fencing_token, token);
    HOLDS(s, a->event.lock == a->lock && a->event.client == p->client);
    TEXT(s, a->detail, "EXPIRED: no renewal of \"stock\" got through (lease 3000 ms); 127.0.0.1:6379 cannot be reached");
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
    SAME(s, counts_of(p).renewals_failed, 3);
}

/* Some of the last retries fall into the last moments. */
WITH_CLIENT(a_loop_that_is_a_little_late_is_not_SUSPENDED)
{
    PLAN(s, .on = "renew", .error = "BUSY", .times = PLAN_ALWAYS);
    for (int i = 0; i < 200; i++) {
        p->loop.late_us = 0;
        held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
        p->loop.late_us = 20000;
        TELLS_IN(s, 3200, "a:RENEWAL_FAILED a:LOST EXPIRED");
    }
}

HOLDING(the_second_in_a_row_is_told_once_and_its_end_too, &short_lease)
{
    struct plan *busy = PLAN(s, .on = "renew", .error = "BUSY Redis is busy running a script.", .times = 6);
    HOLDS(s, run_until_told(s, 2900));
    TELLS(s, "a:RENEWAL_FAILED");
    SAME(s, busy->met, 2);
    uint32_t remaining_ms = hilock_lock_remaining_ms(a->lock);
    SAME(s, a->event.remaining_ms, remaining_ms);
    HOLDS(s, strstr(a->detail, "2 renewals of \"stock\" in a row failed; still valid for "));
    HOLDS(s, run_until_told(s, 2900));
    TELLS(s, "a:RENEWED");
    SAME(s, busy->met, 6);
    HOLDS(s, a->event.remaining_ms > 2900);
    TEXT(s, a->detail, "\"stock\" is renewed again");
    TELLS_IN(s, 5000, "");
    PLAN(s, .on = "renew", .error = "BUSY Redis is busy running a script.", .times = 2);
    TELLS_IN(s, 3000, "a:RENEWAL_FAILED a:RENEWED");
}

/* It is asked for what is left of it, which proves that it stands and makes it no longer; and again until there is an answer. */
WITH_CLIENT(a_fixed_lease_is_asked_for_and_made_no_longer_when_the_link_is_back)
{
    static const struct hilock_lock_options fixed = {.size = sizeof fixed, .lease_ms = 10000, .renew = HILOCK_RENEW_NEVER};
    struct handle *a = held(p, "a", "stock", &fixed);
    uint64_t deadline_us = sent_at_us(s, "mutex_acquire", 0) + 10000000 - 107000;
    run_ms(s, 3000);
    PLAN(s, .on = "renew", .error = "LOADING Redis is loading the dataset in memory");
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 3000);
    SAME(s, asked(s, "renew"), 1);
    BELIEVES(s, a, deadline_us);
    TELLS_IN(s, 3800, "");
    SAME(s, asked(s, "renew"), 1);
    TELLS_IN(s, 500, "a:LOST EXPIRED");
}

WITH_CLIENT(a_fixed_lease_of_kind_SIMPLE_is_not_cut_when_the_link_is_back)
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 10000, .renew = HILOCK_RENEW_NEVER));
    run_ms(s, 3000);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 1000);
    SAME(s, asked(s, "simple_renew"), 1);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 5800);
    TELLS_IN(s, 5500, "");
    HOLDS(s, is_ours(s, "stock"));
}

WITH_CLIENT(without_memory_for_that_a_fixed_lease_is_believed_in)
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 10000, .renew = HILOCK_RENEW_NEVER));
    s->memory.is_out = 0;
    s->memory.spares_links = 1;
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_us(s, 200);
    s->memory.is_out = 1;
    run_ms(s, 1000);
    s->memory.is_out = 0;
    run_ms(s, 1000);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 7500);
    TELLS(s, "");
}
HOLDING(hold_max_ends_it_to_the_microsecond, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .hold_max_ms = 3500))
{
    uint64_t granted_us = sent_at_us(s, "mutex_acquire", 0) + 200;
    TELLS_IN(s, 9000, "a:LOST HOLD_MAX");
    SAME(s, a->at_us, granted_us + 3500000);
    SAME(s, asked(s, "mutex_release"), 1);
    TEXT(s, a->detail, "HOLD_MAX: \"stock\" was held for 3500 ms; is a release missing?");
}

HOLDING(a_suspended_host_finds_SUSPENDED, &short_lease)
{
    run_ms(s, 500);
    world_jump_us(&s->world, 3600000000u);
    SAME(s, hilock_lock_remaining_ms(a->lock), 0);
    TELLS_IN(s, 5, "a:LOST SUSPENDED");
    TEXT(s, a->detail, "SUSPENDED: this process did not run in time; it next ran 3597538 ms after the deadline of \"stock\"");
    HOLDS(s, strstr(p->log, a->detail));
}

HOLDING(a_lease_found_shortened_is_an_anomaly_and_believed_from_its_own_send, HILOCK_LOCK_OPTIONS(.lease_ms = 30000))
{
    p->tells = 1;
    s->is_tampered = 1;
    run_ms(s, 9000);
    store_expire_ms(&s->store, "stock", 5000);
    PLAN(s, .on = "renew", .fate.back_us = 400000);
    TELLS_IN(s, 1500, "ANOMALY");
    SAME(s, p->event.remaining_ms, 4001); /* what it had left when it was asked */
    BELIEVES(s, a, sent_at_us(s, "renew", 0) + 30000000 - 307000);
    HOLDS(s, strstr(p->line, "less than hilock counted on"));
    s->is_tampered = 0; /* restored by that very renewal */
    TELLS_IN(s, 60000, "");
}

/* The holder crashes when the server's clock was set back: others wait for a lease. */
HOLDING(a_lease_that_a_clock_made_too_long_is_shortened, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    s->is_tampered = 1;
    run_ms(s, 500);
    world_clock_step(&s->store.clock, -300000000);
    HOLDS(s, store_left_ms(&s->store, "stock") > 300000);
    run_ms(s, 1000); /* half a second after the renewal that finds it, and sooner than the next one of each third */
    HOLDS(s, store_left_ms(&s->store, "stock") <= 3100 && store_left_ms(&s->store, "stock") > hilock_lock_remaining_ms(a->lock));
    SAME(s, asked(s, "renew"), 2);
    HOLDS(s, strstr(store_line(&s->store, "renew", 1)->text, " 3038 ")); /* the first that is longer than the lease and its drift */
    run_ms(s, 20000);
    HOLDS(s, is_held(a));
    client_abandon(p);
    asking(fixture_connect(s, NULL), "b", "stock", NULL);
    TELLS_IN(s, 4000, "b:WAITING b:OK");
}

/* Its time is over as the server's clock shows it now, whatever its clock showed before. */
HOLDING(a_lease_is_shortened_by_no_late_request, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    run_ms(s, 500);
    s->is_tampered = 1;
    store_expire_ms(&s->store, "stock", 3600000);
    PLAN(s, .on = "renew", .after = 1, .fate.there_us = 3500000, .fate.is_stray = 1);
    run_ms(s, 10000);
    HOLDS(s, !is_held(a) && store_left_ms(&s->store, "stock") <= 0);
}

/* As by a clock that is set back: told once while it lasts, and nothing is believed of it. */
HOLDING(a_lease_found_too_long_is_an_anomaly_told_once, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    p->tells = 1;
    run_ms(s, 900);
    store_expire_ms(&s->store, "stock", 3200);
    run_ms(s, 200);
    HOLDS(s, asked(s, "renew") == 1);
    TELLS(s, "ANOMALY");
    TEXT(s, p->event_detail, "the lease of \"stock\" was 3101 ms at the store, longer than hilock asked for: did the server's clock jump, or did another program change the lease?");
    BELIEVES(s, a, sent_at_us(s, "renew", 0) + 3000000 - 37000);
    store_expire_ms(&s->store, "stock", 60000);
    TELLS_IN(s, 20000, "");
    run_ms(s, 60000); /* it has passed */
    store_expire_ms(&s->store, "stock", 60000);
    TELLS_IN(s, 2000, "ANOMALY");
}

/* How the server's clock is since the step is not known yet: by the time from before it late bytes could run for an hour. */
HOLDING(nothing_is_shortened_by_a_clock_from_before_its_step, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    run_ms(s, 500);
    PLAN(s, .on = "TIME", .holds = 1, .times = PLAN_ALWAYS);
    world_clock_step(&s->store.clock, -300000000);
    run_ms(s, 2500);
    HOLDS(s, asked(s, "renew") >= 2 && strstr(p->log, "longer than hilock asked for"));
    HOLDS(s, store_left_ms(&s->store, "stock") > 100000);
}

/* A SIMPLE lock and a share are never shortened, so an extend of theirs does not wait behind a renewal whose answer is lost. */
HOLDING(of_a_kind_that_is_not_shortened_an_extend_waits_for_nothing, HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 3000))
{
    s->is_tampered = 1;
    store_expire_ms(&s->store, "stock", 60000);
    PLAN(s, .on = "simple_renew", .after = 1, .fate.resets_after = 1);
    run_ms(s, 1010);
    for (int i = 0; i < 3000 && asked(s, "simple_renew") < 2; i++)
        run_ms(s, 1);
    extend(a, 5000);
    TELLS_IN(s, 500, "a:extended");
}

static int words_of(const char *text)
{
    int words = 1;
    for (; *text; text++)
        words += *text == ' ';
    return words;
}

/* Nothing is too long: over a new link, whose server's time is known afresh, a renewal asks as it did before. And what an extend asks
 * for is not cut, though the lease is too long. */
HOLDING(only_a_lease_that_is_too_long_is_asked_to_be_shorter, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    run_ms(s, 1100);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 1500);
    HOLDS(s, asked(s, "renew") > 1);
    for (int i = 0; i < (int)asked(s, "renew"); i++)
        TEXT(s, store_line(&s->store, "renew", i)->text, store_line(&s->store, "renew", 0)->text);
    s->is_tampered = 1;
    store_expire_ms(&s->store, "stock", 3600000);
    for (size_t before = asked(s, "renew"); asked(s, "renew") == before;)
        run_ms(s, 1);
    run_ms(s, 5); /* the server's time is known afresh */
    extend(a, 60000);
    run_ms(s, 5);
    SAME(s, words_of(store_line(&s->store, "renew", -1)->text), words_of(store_line(&s->store, "renew", 0)->text));
}

/* By an extend that was answered a lease may be as long as this. */
HOLDING(a_lease_that_an_extend_explains_is_no_anomaly, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    s->is_tampered = p->tells = 1;
    extend(a, 60000);
    uint64_t sent_us = fixture_us(s);
    TELLS_IN(s, 2, "a:extended");
    for (int more_ms = 0; more_ms < 2; more_ms++) {
        run_to(s, sent_us + (uint64_t)(more_ms + 1) * 1000000 - 100000);
        store_expire_ms(&s->store, "stock", 63607 - 1000 * (more_ms + 1) + 100 + more_ms);
        TELLS_IN(s, 200, more_ms ? "ANOMALY" : "");
    }
    SAME(s, asked(s, "renew"), 3);
}

/* The server's time was asked for together with the second renewal, when the first one had found the lease too long; the next answer is away. */
HOLDING(a_time_that_was_asked_for_with_the_latest_renewal_is_fresh_enough_to_shorten, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    s->is_tampered = 1;
    run_ms(s, 500);
    store_expire_ms(&s->store, "stock", 3600000);
    PLAN(s, .on = "TIME", .after = 1, .holds = 1, .times = PLAN_ALWAYS);
    extend(a, 0);
    extend(a, 0);
    run_ms(s, 1100);
    SAME(s, asked(s, "renew"), 3);
    SAME(s, words_of(store_line(&s->store, "renew", 1)->text), words_of(store_line(&s->store, "renew", 0)->text));
    SAME(s, words_of(store_line(&s->store, "renew", 2)->text), words_of(store_line(&s->store, "renew", 0)->text) + 2);
    fixture_hush(s);
}

/* While a renewal that shortens may still run an extend waits, and not for longer. */
GIVEN(an_extend_waits_while_a_renewal_may_shorten, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000)))
{
    for (int i = 0; i < 2; i++) {
        struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
        s->is_tampered = 1;
        store_forget(&s->store);
        store_expire_ms(&s->store, "stock", 3600000);
        PLAN(s, .on = "renew", .after = 1, .fate.resets_after = 1);
        while (asked(s, "renew") < 2)
            run_us(s, 100);
        SAME(s, words_of(store_line(&s->store, "renew", 1)->text), words_of(store_line(&s->store, "renew", 0)->text) + 2);
        run_to(s, sent_at_us(s, "renew", 1) + 1010000 + s->net.there_us + s->net.back_us - (uint64_t)i);
        extend(a, 60000);
        run_us(s, 300); /* it takes one renewal, or two */
        TELLS(s, i ? "" : "a:extended");
        run_ms(s, 2000);
        fixture_hush(s);
        release_quietly(a);
        run_ms(s, 2000);
    }
}

/* The row of failures is counted to 255 only. */
HOLDING(failing_for_ten_minutes_is_told_once, HILOCK_LOCK_OPTIONS(.lease_ms = 900000))
{
    PLAN(s, .on = "renew", .error = "BUSY Redis is busy running a script.", .times = PLAN_ALWAYS);
    TELLS_IN(s, 600000, "a:RENEWAL_FAILED");
    HOLDS(s, counts_of(p).renewals_failed > 300);
}

/* As long as the drift allows for is as long as was asked for. */
HOLDING(a_lease_longer_by_the_drift_is_no_anomaly, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    s->is_tampered = p->tells = 1;
    run_ms(s, 900);
    store_expire_ms(&s->store, "stock", 3136);
    TELLS_IN(s, 200, "");
    SAME(s, asked(s, "renew"), 1);
    run_ms(s, 800);
    store_expire_ms(&s->store, "stock", 3137);
    TELLS_IN(s, 200, "ANOMALY");
}

/* As long as the deadline needs, but for a millisecond, is long enough. */
HOLDING(a_lease_that_the_deadline_fits_into_is_no_anomaly, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    s->is_tampered = p->tells = 1;
    s->net.back_us = 900;
    for (int less_ms = 0; less_ms < 2; less_ms++) {
        run_to(s, sent_at_us(s, less_ms ? "renew" : "mutex_acquire", -1) + 900000);
        store_expire_ms(&s->store, "stock", 2061 - less_ms);
        TELLS_IN(s, 200, less_ms ? "ANOMALY" : "");
    }
    SAME(s, asked(s, "renew"), 2);
}

/* A second is the border between a loop that was late and one that was stopped. */
A_PLAY(a_loss_that_is_noticed_late_by_a_second_is_EXPIRED)
{
    for (uint64_t more_us = 0; more_us < 2; more_us++) {
        struct client *p = fixture_connect(s, NULL);
        held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
        world_jump_us(&s->world, sent_at_us(s, "mutex_acquire", -1) + LEASE_US - DRIFT_US + 1000000 + more_us - fixture_us(s));
        TELLS_IN(s, 5, more_us ? "a:LOST SUSPENDED" : "a:LOST EXPIRED");
    }
}

/* Three seconds each, and a pause of a second at most: half of the time that is left would be longer. */
HOLDING(two_renewals_that_cannot_be_sent_have_failed_after_seven_seconds, HILOCK_LOCK_OPTIONS(.lease_ms = 30000))
{
    run_ms(s, 9000);
    cut_off(s);
    TELLS_IN(s, 1000 + 7100, "a:RENEWAL_FAILED");
    s->place->mood = NET_LISTENS;
    unheard_ms(s, 5000);
}

/* The last renewal had been tried in time, and only the end came a little late. */
HOLDING(a_loss_that_is_noticed_half_a_second_late_is_EXPIRED, &short_lease)
{
    uint64_t deadline_us = sent_at_us(s, "mutex_acquire", 0) + LEASE_US - DRIFT_US;
    cut_off(s);
    run_to(s, deadline_us - 1000);
    world_jump_us(&s->world, 600000);
    TELLS_IN(s, 1, "a:RENEWAL_FAILED a:LOST EXPIRED");
}

/* The border is a sixth of the lease after what the loop was to do last, which is half of what was left when the renewal became overdue. */
A_PLAY(a_loop_that_was_later_than_a_sixth_of_the_lease_was_suspended)
{
    for (uint64_t more_us = 0; more_us < 2; more_us++) {
        struct client *p = fixture_connect(s, NULL);
        held(p, "a", formatted("stock %d", (int)more_us), &short_lease);
        uint64_t sent_us = sent_at_us(s, "mutex_acquire", -1), overdue_us = sent_us + 2 * LEASE_US / 3;
        uint64_t due_us = overdue_us + (LEASE_US - DRIFT_US - 2 * LEASE_US / 3) / 2;
        struct plan *lost = PLAN(s, .on = "renew", .fate.is_lost = 1);
        run_to(s, due_us - 1);
        TELLS(s, "");
        world_jump_us(&s->world, due_us + LEASE_US / 6 + more_us - fixture_us(s));
        TELLS_IN(s, 1, more_us ? "a:LOST SUSPENDED" : "a:LOST EXPIRED");
        plan_end(lost);
        run_ms(s, 5000);
    }
}

/* Extends that wait for the next renewal give the present one no more time. */
HOLDING(extends_do_not_postpone_the_failure_of_a_renewal, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    PLAN(s, .on = "renew", .fate.back_us = 1500000);
    run_ms(s, 1900);
    SAME(s, asked(s, "renew"), 1);
    extend(a, 0);
    run_ms(s, 150);
    SAME(s, counts_of(p).renewals_failed, 1);
    TELLS_IN(s, 600, "a:RENEWAL_FAILED a:RENEWED a:extended");
}

enum { FEW = 300, MANY = 310 };

/* From the first renewal to the last of so many holds that began in one moment. */
static uint64_t renewed_within_us(struct fixture *s, int count)
{
    struct client *p = fixture_connect(s, NULL);
    s->is_untold = 1;
    for (int i = 0; i < count; i++)
        acquiring(handle_new(p, "h", formatted("name %d", i), HILOCK_LOCK_OPTIONS(.lease_ms = 9000)), HILOCK_FOREVER);
    run_ms(s, 4500);
    SAME(s, asked(s, "renew"), count);
    return asked_at_us(s, "renew", -1) - asked_at_us(s, "renew", 0);
}

/* Not in one moment again: the server would have to answer them all before anybody else. */
A_PLAY(many_holds_are_renewed_one_after_the_other) { HOLDS(s, renewed_within_us(s, MANY) > 200000); }
A_PLAY(few_holds_are_renewed_together) { HOLDS(s, renewed_within_us(s, FEW) < 1000); }
