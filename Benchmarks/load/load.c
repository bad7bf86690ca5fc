/* The load: evaluations over keep-alive connections, from one epoll thread.
 *
 * Closed loop unless --rate is given: every connection sends its next request when the last is
 * answered. With --rate R requests fall due at even intervals whether or not earlier ones are
 * answered, and a latency counts from the instant a request fell due, so that a server which
 * stalls cannot hide it by slowing the load down.
 *
 * Every request has its own requestID; subjects go round, from another one in each run. With
 * --batch N a request holds N evaluations, and the rate printed is of those. With --fresh every
 * subject is new: it is authorised, an action of it is judged and reported, and it donates, with a
 * device of its own. Any status but 201 (200 for an authorisation, 201 of each in a batch) is an
 * error, and the exit status is 1 if there was one. With --authorise the subjects are authorised,
 * and that is all.
 */
#include "connection.h"
#include "options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

struct samples {
    uint32_t *microseconds;
    size_t count, capacity;
};

struct run {
    const struct options *options;
    int epoll;
    struct connection *connections;
    uint64_t sent, answered, wrong_status, broken, subjects;
    int first_wrong_status;
    char first_wrong_body[400];
    struct samples samples;
    int64_t begin, warm, end; /* nanoseconds; samples count from `warm` on */
    uint64_t due;             /* requests fallen due so far, open loop only */
    uint64_t answered_warm;
    uint64_t tag; /* makes requestIDs differ between runs against one server */
};

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void keep(struct samples *samples, int64_t nanoseconds) {
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity ? samples->capacity * 2 : 1 << 16;
        samples->microseconds =
            realloc(samples->microseconds, samples->capacity * sizeof *samples->microseconds);
        if (samples->microseconds == NULL) die("samples", "out of memory");
    }
    samples->microseconds[samples->count++] = (uint32_t)(nanoseconds / 1000);
}

static int ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static double percentile(const struct samples *samples, double share) {
    if (samples->count == 0) return 0;
    size_t index = (size_t)(share * (double)samples->count);
    if (index >= samples->count) index = samples->count - 1;
    return samples->microseconds[index] / 1000.0;
}

/* The body printed in the API's documentation, with the device value varying. */
static size_t body_of(const struct run *run, uint64_t number, char *out, size_t size) {
    int length = snprintf(
        out, size,
        "{\"requestID\":\"tx-%llx-%llu\",\"subject\":\"acct-%llu\",\"context\":{\"category\":"
        "\"payment\",\"attributes\":{\"amount\":900.0,\"currency\":\"EUR\",\"newPayee\":true}},\n"
        " \"insights\":[{\"kind\":\"isLikelyBeingCoached\",\"schema\":1,\"modelVersion\":"
        "\"current\"}],\n \"device\":{\"value\":0.%02llu}}",
        (unsigned long long)run->tag, (unsigned long long)number,
        (unsigned long long)((number + run->tag) % run->options->subjects),
        (unsigned long long)(number * 37 % 100));
    if (length < 0 || (size_t)length >= size) die("request", "too long");
    return (size_t)length;
}

/* The next evaluation, or the next batch of them. */
static size_t evaluation(const struct run *run, uint64_t number, char *out, size_t size) {
    const struct options *options = run->options;
    char body[sizeof run->connections->out];
    if (options->batch == 0) {
        size_t length = body_of(run, number, body, sizeof body);
        return render(options, "POST", "/v1/evaluations", body, length, out, size);
    }
    static const char head[] = "{\"evaluations\":[";
    size_t length = sizeof head - 1;
    memcpy(body, head, length);
    for (uint64_t i = 0; i < options->batch; i++) {
        if (i > 0) body[length++] = ',';
        length += body_of(run, number * options->batch + i, body + length,
                          sizeof body - length - 3);
    }
    body[length++] = ']';
    body[length++] = '}';
    return render(options, "POST", "/v1/evaluations/batch", body, length, out, size);
}

/* How many of a batch were judged. */
static uint64_t judged(const struct connection *connection) {
    static const char mark[] = "\"status\":201";
    uint64_t count = 0;
    for (const char *at = connection->body; (at = strstr(at, mark)) != NULL; at++) count++;
    return count;
}

enum { AUTHORISE, EVALUATE, REPORT, DONATE, STEPS };

/* The next request of the subject of a connection, or the first of a new one. */
static size_t of_fresh_subject(struct run *run, struct connection *connection) {
    static const struct {
        const char *method, *path, *body;
    } requests[STEPS] = {
        {"PUT", "/v1/authorizations",
         "{\"subject\":\"s-%s\",\"category\":\"payment\",\"status\":\"authorized\"}"},
        {"POST", "/v1/evaluations",
         "{\"requestID\":\"tx-%s\",\"subject\":\"s-%s\",\"context\":{\"category\":\"payment\","
         "\"attributes\":{\"amount\":900.0,\"currency\":\"EUR\",\"newPayee\":true}},"
         "\"insights\":[{\"kind\":\"isLikelyBeingCoached\",\"schema\":1,\"modelVersion\":"
         "\"current\"}],\"device\":{\"value\":0.5}}"},
        {"POST", "/v1/consumption", "{\"requestID\":\"tx-%s\",\"status\":\"usedUnchangedFriction\"}"},
        {"POST", "/v1/review-prompts/donations",
         "{\"idempotencyKey\":\"d-%s\",\"subject\":\"s-%s\",\"device\":\"d-%s\",\"reason\":"
         "\"finishedTranscript\",\"appVersion\":\"1.0\",\"distribution\":\"appStore\","
         "\"timeZone\":\"UTC\",\"installedAt\":\"2020-01-01T00:00:00Z\"}"},
    };
    int step = connection->step++ % STEPS;
    if (step == 0) connection->subject = run->subjects++;
    char name[48], body[768];
    snprintf(name, sizeof name, "%llx-%llu", (unsigned long long)run->tag,
             (unsigned long long)connection->subject);
    int length = snprintf(body, sizeof body, requests[step].body, name, name, name);
    return render(run->options, requests[step].method, requests[step].path, body, (size_t)length,
                  connection->out, sizeof connection->out);
}

static void send_next(struct run *run, struct connection *connection, int64_t due) {
    connection->length =
        run->options->fresh
            ? of_fresh_subject(run, connection)
            : evaluation(run, run->sent, connection->out, sizeof connection->out);
    run->sent++;
    connection->due = due;
    if (!connection_send(connection)) {
        run->broken++;
        connection_reopen(connection, run->options, run->epoll);
    }
}

static void answer(struct run *run, struct connection *connection) {
    int64_t at = now();
    run->answered++;
    int wanted = run->options->fresh && connection->step % STEPS == AUTHORISE + 1 ? 200 : 201;
    if (run->options->batch > 0) wanted = 207;
    if (connection->status != wanted || judged(connection) < run->options->batch) {
        if (run->wrong_status++ == 0) {
            run->first_wrong_status = connection->status;
            snprintf(run->first_wrong_body, sizeof run->first_wrong_body, "%.*s",
                     (int)connection->body_length, connection->body);
        }
    } else if (at >= run->warm && at <= run->end) {
        run->answered_warm++;
        keep(&run->samples, at - connection->due);
    }
}

/* Starts what has fallen due on the connections that are free. */
static void start_due(struct run *run) {
    const struct options *options = run->options;
    int64_t at = now();
    if (options->rate > 0) {
        double elapsed = (double)((at < run->end ? at : run->end) - run->begin) / 1e9;
        run->due = (uint64_t)(elapsed * options->rate);
    }
    for (size_t i = 0; i < options->connections; i++) {
        struct connection *connection = &run->connections[i];
        if (connection->busy) continue;
        if (options->rate > 0) {
            if (run->sent >= run->due) return;
            int64_t due = run->begin + (int64_t)((double)run->sent / options->rate * 1e9);
            send_next(run, connection, due);
        } else if (at < run->end) {
            send_next(run, connection, at);
        }
    }
}

static size_t busy(const struct run *run) {
    size_t count = 0;
    for (size_t i = 0; i < run->options->connections; i++) count += run->connections[i].busy;
    return count;
}

static void loop(struct run *run) {
    const struct options *options = run->options;
    struct epoll_event events[256];
    start_due(run);
    for (;;) {
        int64_t at = now();
        /* Five seconds of grace for what is under way at the end. */
        if (at >= run->end && (busy(run) == 0 || at > run->end + 5000000000)) break;
        int ready = epoll_wait(run->epoll, events, 256, options->rate > 0 ? 1 : 100);
        if (ready < 0 && errno != EINTR) die("epoll_wait", strerror(errno));
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            enum received received = connection_receive(connection);
            if (received == PARTIAL) continue;
            if (received == BROKEN) {
                run->broken++;
                connection_reopen(connection, options, run->epoll);
                continue;
            }
            answer(run, connection);
            if (options->rate == 0 && (at = now()) < run->end) send_next(run, connection, at);
        }
        if (options->rate > 0 || ready == 0) start_due(run);
    }
}

/* Waits for the answer to what was sent last. */
static void await(const struct run *run, struct connection *connection) {
    enum received received;
    while ((received = connection_receive(connection)) == PARTIAL) {
        struct epoll_event event;
        epoll_wait(run->epoll, &event, 1, 1000);
    }
    if (received == BROKEN) die("authorise", "connection lost");
    if (connection->status < 200 || connection->status > 299) {
        fprintf(stderr, "load: authorise: status %d: %.*s\n", connection->status,
                (int)connection->body_length, connection->body);
        exit(1);
    }
}

/* Authorises every subject for payments; the connections take turns. */
static void authorise(struct run *run) {
    const struct options *options = run->options;
    for (uint64_t subject = 0; subject < options->subjects + options->connections; subject++) {
        struct connection *connection = &run->connections[subject % options->connections];
        if (connection->busy) await(run, connection);
        if (subject >= options->subjects) continue;
        char body[160];
        int length = snprintf(body, sizeof body,
                              "{\"subject\":\"acct-%llu\",\"category\":\"payment\","
                              "\"status\":\"authorized\"}",
                              (unsigned long long)subject);
        connection->length = render(options, "PUT", "/v1/authorizations", body, (size_t)length,
                                    connection->out, sizeof connection->out);
        if (!connection_send(connection)) die("authorise", "connection lost");
    }
}

static void report(struct run *run) {
    const struct options *options = run->options;
    struct samples *samples = &run->samples;
    qsort(samples->microseconds, samples->count, sizeof *samples->microseconds, ascending);
    double seconds = (double)(run->end - run->warm) / 1e9;
    uint64_t lost = run->sent - run->answered;
    uint64_t errors = run->wrong_status + lost;
    printf("%.0f %s/s  p50 %.2f ms  p99 %.2f ms  max %.2f ms  answered %llu  "
           "errors %llu\n",
           (double)run->answered_warm * (double)(options->batch > 0 ? options->batch : 1) / seconds,
           options->batch > 0 ? "evaluations" : "requests", percentile(samples, 0.5),
           percentile(samples, 0.99), percentile(samples, 1),
           (unsigned long long)run->answered, (unsigned long long)errors);
    if (run->wrong_status > 0)
        fprintf(stderr, "load: %llu answers were not as they should be; the first was %d: %s\n",
                (unsigned long long)run->wrong_status, run->first_wrong_status,
                run->first_wrong_body);
    if (lost > 0)
        fprintf(stderr, "load: %llu requests unanswered, %llu connections broken\n",
                (unsigned long long)lost, (unsigned long long)run->broken);
    if (options->rate > 0 && run->due > run->sent)
        fprintf(stderr, "load: %llu requests fell due and were never sent\n",
                (unsigned long long)(run->due - run->sent));
    if (errors > 0 || samples->count == 0) exit(1);
}

int main(int count, char **arguments) {
    struct options options = options_parse(count, arguments);
    struct run run = {.options = &options, .epoll = epoll_create1(0)};
    if (run.epoll < 0) die("epoll_create1", strerror(errno));
    run.tag = (uint64_t)time(NULL) << 16 ^ (uint64_t)getpid();
    run.connections = calloc(options.connections, sizeof *run.connections);
    if (run.connections == NULL) die("connections", "out of memory");
    for (size_t i = 0; i < options.connections; i++)
        connection_open(&run.connections[i], &options, run.epoll);
    if (options.authorise) {
        authorise(&run);
        return 0;
    }
    run.begin = now();
    run.warm = run.begin + (int64_t)(options.warmup * 1e9);
    run.end = run.warm + (int64_t)(options.seconds * 1e9);
    loop(&run);
    report(&run);
    return 0;
}
