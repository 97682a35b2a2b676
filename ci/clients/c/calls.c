/* libmemcached's main calls from C, as TAP. Arguments: host, port, text or binary. */
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int count, failed;

static void check(const char *name, bool passed) {
    count++;
    failed += !passed;
    printf("%s %d - %s\n", passed ? "ok" : "not ok", count, name);
    fflush(stdout);
}

static memcached_st *client;

static bool set(const char *key, const char *value, time_t expiry) {
    return memcached_success(memcached_set(client, key, strlen(key), value, strlen(value), expiry, 0));
}

static bool is(const char *key, const char *expected) {
    size_t length;
    uint32_t flags;
    memcached_return_t result;
    char *value = memcached_get(client, key, strlen(key), &length, &flags, &result);
    bool same = value != NULL && length == strlen(expected) && memcmp(value, expected, length) == 0;
    free(value);
    return same;
}

static bool missing(const char *key) {
    size_t length;
    uint32_t flags;
    memcached_return_t result;
    char *value = memcached_get(client, key, strlen(key), &length, &flags, &result);
    free(value);
    return value == NULL && result == MEMCACHED_NOTFOUND;
}

static uint64_t cas_of(const char *key) {
    size_t length = strlen(key);
    memcached_return_t result;
    uint64_t cas = 0;
    if (memcached_mget(client, &key, &length, 1) == MEMCACHED_SUCCESS) {
        memcached_result_st *item = memcached_fetch_result(client, NULL, &result);
        if (item != NULL) {
            cas = memcached_result_cas(item);
            memcached_result_free(item);
        }
        while ((item = memcached_fetch_result(client, NULL, &result)) != NULL) {
            memcached_result_free(item);
        }
    }
    return cas;
}

static bool expires(const char *key) {
    time_t end = time(NULL) + 5;
    struct timespec pause = {0, 50 * 1000 * 1000};
    while (time(NULL) < end) {
        if (missing(key)) {
            return true;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

static memcached_return_t counted(const memcached_st *from, memcached_result_st *item, void *context) {
    (void) from;
    (void) item;
    ++*(int *) context;
    return MEMCACHED_SUCCESS;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: calls HOST PORT text|binary\n");
        return 2;
    }
    client = memcached_create(NULL);
    memcached_behavior_set(client, MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, strcmp(argv[3], "binary") == 0);
    memcached_behavior_set(client, MEMCACHED_BEHAVIOR_SUPPORT_CAS, 1);
    memcached_server_add(client, argv[1], (in_port_t) atoi(argv[2]));

    check("version", memcached_success(memcached_version(client)));
    check("flush", memcached_success(memcached_flush(client, 0)));
    check("set", set("key", "value", 0));
    check("get", is("key", "value"));
    check("miss", missing("nothing"));
    check("add", memcached_success(memcached_add(client, "added", 5, "1", 1, 0, 0))
                     && !memcached_success(memcached_add(client, "added", 5, "2", 1, 0, 0)));
    check("replace", memcached_success(memcached_replace(client, "key", 3, "b", 1, 0, 0))
                         && !memcached_success(memcached_replace(client, "nothing", 7, "b", 1, 0, 0)));
    check("append", memcached_success(memcached_append(client, "key", 3, "c", 1, 0, 0)) && is("key", "bc"));
    check("prepend", memcached_success(memcached_prepend(client, "key", 3, "a", 1, 0, 0)) && is("key", "abc"));
    uint64_t cas = cas_of("key");
    check("cas", cas != 0 && memcached_success(memcached_cas(client, "key", 3, "new", 3, 0, 0, cas))
                     && memcached_cas(client, "key", 3, "old", 3, 0, 0, cas) == MEMCACHED_DATA_EXISTS);
    uint64_t number = 0;
    check("increment", set("n", "10", 0) && memcached_success(memcached_increment(client, "n", 1, 5, &number))
                           && number == 15);
    check("decrement", memcached_success(memcached_decrement(client, "n", 1, 20, &number)) && number == 0);
    check("touch", memcached_success(memcached_touch(client, "n", 1, 100))
                       && !memcached_success(memcached_touch(client, "nothing", 7, 1)));
    check("delete", memcached_success(memcached_delete(client, "key", 3, 0))
                        && memcached_delete(client, "key", 3, 0) == MEMCACHED_NOTFOUND);
    const char *keys[] = {"a", "nothing", "b"};
    size_t lengths[] = {1, 7, 1};
    int found = 0;
    memcached_execute_fn count_items = counted;
    check("get of many", set("a", "1", 0) && set("b", "2", 0)
                             && memcached_success(memcached_mget(client, keys, lengths, 3))
                             && memcached_success(memcached_fetch_execute(client, &count_items, &found, 1)) && found == 2);
    size_t large = 900 * 1000, huge = 2 * 1000 * 1000, got;
    char *bytes = malloc(huge);
    memset(bytes, 'x', huge);
    check("900 KB", memcached_success(memcached_set(client, "large", 5, bytes, large, 0, 0)));
    uint32_t flags;
    memcached_return_t result;
    char *back = memcached_get(client, "large", 5, &got, &flags, &result);
    check("900 KB back", back != NULL && got == large && memcmp(back, bytes, large) == 0);
    free(back);
    check("2 MB is refused", !memcached_success(memcached_set(client, "huge", 4, bytes, huge, 0, 0)));
    memcached_quit(client); /* the library leaves the connection in the middle of the value */
    check("goes on after that", is("a", "1"));
    memcached_behavior_set(client, MEMCACHED_BEHAVIOR_NOREPLY, 1);
    memcached_set(client, "quiet", 5, "x", 1, 0, 0);
    memcached_behavior_set(client, MEMCACHED_BEHAVIOR_NOREPLY, 0);
    check("noreply", is("quiet", "x"));
    check("expiry", set("soon", "x", 1) && expires("soon"));
    memcached_stat_st *stats = memcached_stat(client, NULL, &result);
    check("stats", stats != NULL && memcached_success(result) && stats->curr_items > 0);
    memcached_stat_free(client, stats);
    printf("1..%d\n", count);
    free(bytes);
    memcached_free(client);
    return failed > 0;
}
