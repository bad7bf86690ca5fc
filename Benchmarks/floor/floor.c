/* The floor: the least work that a durable decision server of this shape can do.
 *
 * libmicrohttpd (epoll, a pool of threads, suspend and resume) reads POST /v1/evaluations whole
 * and hands it to ONE writer thread. The writer takes everything that waits as one batch, inserts
 * one row of about 1 KB per request, with one secondary index on a random-looking key, in ONE
 * transaction (WAL, synchronous=FULL), commits, and only then lets the connections answer.
 * No JSON is parsed, nothing is authenticated, nothing is decided, and the answer is a constant:
 * whatever Discern costs above this is the price of what it does.
 *
 * usage: floor --data DIR [--listen PORT] [--threads N, 2 or more] [--autocheckpoint]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ROW_BYTES = 1024, KEY_BYTES = 16, BODY_LIMIT = 1 << 20, CHECKPOINT_PAGES = 4000 };

struct request {
    struct request *next;
    struct MHD_Connection *connection;
    char *body;
    size_t length, capacity;
    int committed; /* written by the writer before it resumes, read by the resumed thread */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct request *first, **last = &first;
static int stopping;

static pthread_mutex_t checkpoint_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t checkpoint_wanted = PTHREAD_COND_INITIALIZER;
static int wal_pages;

static char path[4096];
static struct MHD_Response *created, *not_found, *too_large;

static const char answer[] =
    "{\"evaluationID\":\"01936d3c-7c2a-7b1e-9c55-0242ac120002\",\"requestID\":\"tx-7f3\","
    "\"replayed\":false,\"insights\":[{\"insightID\":\"01936d3c-7c2a-7b1f-8d21-0242ac120002\","
    "\"kind\":\"isLikelyBeingCoached\",\"outcome\":\"high\",\"score\":0.91,\"modelVersion\":\"2\","
    "\"newestModelVersion\":\"2\",\"degraded\":false}],\"decision\":{\"friction\":\"increased\","
    "\"steps\":[\"warn\",\"manualReview\"],\"holdFor\":\"PT15M\",\"notify\":[\"call-centre\"],"
    "\"reasons\":[{\"rule\":\"hold-coached-transfer\","
    "\"explanation\":\"transfer of 900 to a new payee\"}]},\"policy\":{\"name\":"
    "\"transcripts-payments\",\"version\":3,\"digest\":\"5f0c7c127be1f0a1\"},\"consumption\":{"
    "\"state\":\"due\",\"dueAt\":\"2026-11-30T13:00:00.000Z\"},\"labelDeadline\":"
    "\"2028-01-04T12:00:00.000Z\",\"receivedAt\":\"2026-11-30T12:00:00.000Z\"}";

static void die(const char *what, const char *why) {
    fprintf(stderr, "floor: %s: %s\n", what, why);
    exit(1);
}

static sqlite3 *open_database(int autocheckpoint) {
    sqlite3 *db;
    if (sqlite3_open_v2(path, &db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        die(path, sqlite3_errmsg(db));
    sqlite3_busy_timeout(db, 5000);
    char pragmas[256];
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=%d;"
             "PRAGMA cache_size=-65536;",
             autocheckpoint);
    if (sqlite3_exec(db, pragmas, NULL, NULL, NULL) != SQLITE_OK)
        die("pragmas", sqlite3_errmsg(db));
    return db;
}

/* splitmix64: keys spread over the index as hashed request ids would. */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static int on_wal(void *unused, sqlite3 *db, const char *name, int pages) {
    (void)unused, (void)db, (void)name;
    if (pages < CHECKPOINT_PAGES) return SQLITE_OK;
    pthread_mutex_lock(&checkpoint_lock);
    wal_pages = pages;
    pthread_cond_signal(&checkpoint_wanted);
    pthread_mutex_unlock(&checkpoint_lock);
    return SQLITE_OK;
}

/* Checkpoints run on a connection and thread of their own, so that no commit waits for one. */
static void *checkpointer(void *unused) {
    (void)unused;
    sqlite3 *db = open_database(0);
    for (;;) {
        pthread_mutex_lock(&checkpoint_lock);
        while (wal_pages == 0) pthread_cond_wait(&checkpoint_wanted, &checkpoint_lock);
        wal_pages = 0;
        pthread_mutex_unlock(&checkpoint_lock);
        sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    return NULL;
}

static void step(sqlite3 *db, sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) die("write", sqlite3_errmsg(db));
    sqlite3_reset(statement);
}

static sqlite3 *create_database(int own_checkpoints) {
    sqlite3 *db = open_database(own_checkpoints ? 1000 : 0);
    if (sqlite3_exec(db,
                     "CREATE TABLE entry(sequence INTEGER PRIMARY KEY, key BLOB NOT NULL,"
                     " payload BLOB NOT NULL) STRICT; CREATE INDEX entry_key ON entry(key);",
                     NULL, NULL, NULL) != SQLITE_OK)
        die("schema", sqlite3_errmsg(db));
    if (!own_checkpoints) sqlite3_wal_hook(db, on_wal, NULL);
    return db;
}

static void *writer(void *argument) {
    sqlite3 *db = argument;
    sqlite3_stmt *begin, *insert, *commit;
    sqlite3_prepare_v2(db, "BEGIN IMMEDIATE", -1, &begin, NULL);
    sqlite3_prepare_v2(db, "INSERT INTO entry VALUES (?, ?, ?)", -1, &insert, NULL);
    sqlite3_prepare_v2(db, "COMMIT", -1, &commit, NULL);

    char row[ROW_BYTES];
    for (int i = 0; i < ROW_BYTES; i++) row[i] = (char)(' ' + mix((uint64_t)i) % 90);
    sqlite3_int64 sequence = 0;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (first == NULL && !stopping) pthread_cond_wait(&arrived, &lock);
        struct request *batch = first;
        first = NULL;
        last = &first;
        pthread_mutex_unlock(&lock);
        if (batch == NULL) break;

        step(db, begin);
        for (struct request *r = batch; r != NULL; r = r->next) {
            sequence++;
            uint64_t key[2] = {mix((uint64_t)sequence), mix(~(uint64_t)sequence)};
            /* What arrived is what is stored, filled up to the size of an entry. */
            if (r->length > 0)
                memcpy(row, r->body, r->length < ROW_BYTES ? r->length : ROW_BYTES);
            sqlite3_bind_int64(insert, 1, sequence);
            sqlite3_bind_blob(insert, 2, key, KEY_BYTES, SQLITE_STATIC);
            sqlite3_bind_blob(insert, 3, row, ROW_BYTES, SQLITE_STATIC);
            step(db, insert);
        }
        step(db, commit);
        while (batch != NULL) {
            struct request *next = batch->next; /* the request is gone once it is resumed */
            batch->committed = 1;
            MHD_resume_connection(batch->connection);
            batch = next;
        }
    }
    sqlite3_finalize(begin);
    sqlite3_finalize(insert);
    sqlite3_finalize(commit);
    sqlite3_close(db);
    return NULL;
}

static enum MHD_Result handle(void *unused, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state) {
    (void)unused, (void)version;
    struct request *request = *state;
    if (request == NULL) {
        request = calloc(1, sizeof *request);
        if (request == NULL) return MHD_NO;
        request->connection = connection;
        *state = request;
        return MHD_YES;
    }
    if (*size > 0) {
        if (request->length + *size > BODY_LIMIT) {
            *size = 0;
            return MHD_queue_response(connection, 413, too_large);
        }
        if (request->length + *size > request->capacity) {
            size_t capacity = (request->length + *size) * 2;
            char *grown = realloc(request->body, capacity);
            if (grown == NULL) return MHD_NO;
            request->body = grown;
            request->capacity = capacity;
        }
        memcpy(request->body + request->length, data, *size);
        request->length += *size;
        *size = 0;
        return MHD_YES;
    }
    if (request->committed) return MHD_queue_response(connection, 201, created);
    if (strcmp(method, "POST") != 0 || strcmp(url, "/v1/evaluations") != 0)
        return MHD_queue_response(connection, 404, not_found);

    MHD_suspend_connection(connection);
    pthread_mutex_lock(&lock);
    int was_empty = first == NULL;
    request->next = NULL;
    *last = request;
    last = &request->next;
    if (was_empty) pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
    return MHD_YES;
}

static void completed(void *unused, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode why) {
    (void)unused, (void)connection, (void)why;
    struct request *request = *state;
    if (request == NULL) return;
    free(request->body);
    free(request);
    *state = NULL;
}

static struct MHD_Response *constant(const char *text) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) die("response", "out of memory");
    MHD_add_response_header(response, "Content-Type", "application/json");
    return response;
}

int main(int count, char **arguments) {
    const char *data = NULL;
    int port = 0, own_checkpoints = 0;
    unsigned threads = 2;
    for (int i = 1; i < count; i++) {
        int more = i + 1 < count;
        if (strcmp(arguments[i], "--autocheckpoint") == 0) own_checkpoints = 1;
        else if (strcmp(arguments[i], "--data") == 0 && more) data = arguments[++i];
        else if (strcmp(arguments[i], "--listen") == 0 && more) port = atoi(arguments[++i]);
        else if (strcmp(arguments[i], "--threads") == 0 && more)
            threads = (unsigned)atoi(arguments[++i]);
        else die("unknown argument", arguments[i]);
    }
    if (data == NULL) die("usage", "floor --data DIR [--listen PORT] [--threads N]");
    if ((size_t)snprintf(path, sizeof path, "%s/floor.sqlite", data) >= sizeof path)
        die(data, "name too long");

    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);

    created = constant(answer);
    not_found = constant("{\"status\":404}");
    too_large = constant("{\"status\":413}");

    pthread_t writing, checkpointing;
    pthread_create(&writing, NULL, writer, create_database(own_checkpoints));
    if (!own_checkpoints) pthread_create(&checkpointing, NULL, checkpointer, NULL);

    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL,
        NULL, handle, NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_THREAD_POOL_SIZE,
        threads,
        MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_CONNECTION_TIMEOUT, 60u,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_END);
    if (daemon == NULL) die("start", strerror(errno));
    printf("listening on http://127.0.0.1:%u\n",
           (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);

    int received;
    sigwait(&signals, &received);
    MHD_quiesce_daemon(daemon);
    pthread_mutex_lock(&lock);
    stopping = 1;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
    pthread_join(writing, NULL);
    MHD_stop_daemon(daemon);
    return 0;
}
