/*
 * The second C yardstick: read_responder with io_uring in place of epoll. As there, one thread, one send for all the
 * requests that a turn brought to a connection, and no response is ever buffered. A turn is one io_uring_enter: it submits
 * the sends of all connections and brings what has come meanwhile. Multishot accept, multishot receive into provided
 * buffers, registered files. Sends do not wait (MSG_DONTWAIT): they are over when the call returns, so the region may
 * change then. A peer that asks for more READs than it was granted loses its connection: what comes is received whether
 * there is room to answer or not.
 *
 * Raw system calls; no liburing. Exits with 77 and a sentence if the kernel refuses.
 */
#define _GNU_SOURCE
#include "iwarp.h"

#include <linux/io_uring.h>
#include <stddef.h>

enum {
    MOST_REQUESTS = 1024,               /* responder.h grants no more READs at a time */
    BUFFER_BYTES = 4096,
    BUFFERS = 512,
    HELD_CAPACITY = MOST_REQUESTS * 52 + 2 * BUFFER_BYTES,
    RING_ENTRIES = 1024,
    COMPLETION_ENTRIES = 8192,
    BATCHES = 64,                       /* sends of one turn */
    CANNOT = 77,
};

struct connection {
    int fd;
    int slot;
    bool open;
    bool established; /* MPA start-up is over */
    bool receiving;   /* its multishot receive is armed */
    bool sending;
    bool blocked;     /* the socket took less than a batch: a poll for room is armed */
    bool peer_finished; /* a FIN is behind what is held */
    bool closing;
    bool has_turn;    /* in `turns` */
    uint32_t next_msn;
    uint32_t held_length;
    uint64_t sent;    /* bytes of the first held request's response that are out */
    struct connection *next_free;
    uint8_t held[HELD_CAPACITY];
};

#define OWN_LOOP
#include "responder.h"
#include "read_batch.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum kind { ACCEPT, RECEIVE, SEND, ROOM, SIGNAL, INPUT };

static int ring_fd;
static unsigned *sq_tail, *cq_head, *cq_tail;
static unsigned sq_mask, cq_mask, sq_local, sq_submitted;
static struct io_uring_sqe *entries;
static struct io_uring_cqe *completions;
static struct io_uring_buf_ring *provided;
static unsigned short provided_tail;
static uint8_t (*buffers)[BUFFER_BYTES];
static struct batch *batches;
static struct msghdr headers[BATCHES];
static int batch_count;
static bool stopped;

/* ---------------------------------------------------------------------------------------------------------- the ring */

static void cannot(const char *what)
{
    fprintf(stderr, "io_uring cannot be used here: %s: %s\n", what, strerror(errno));
    exit(CANNOT);
}

static int enter(unsigned complete)
{
    __atomic_store_n(sq_tail, sq_local, __ATOMIC_RELEASE);
    long n = syscall(SYS_io_uring_enter, ring_fd, sq_local - sq_submitted, complete, IORING_ENTER_GETEVENTS, NULL, 0);
    if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY)
        fail("io_uring_enter");
    if (n > 0)
        sq_submitted += (unsigned)n;
    return (int)n;
}

static struct io_uring_sqe *entry(int operation, enum kind kind, const struct connection *c, int fd)
{
    while (sq_local - sq_submitted == RING_ENTRIES)
        enter(0);
    struct io_uring_sqe *e = &entries[sq_local++ & sq_mask];
    memset(e, 0, sizeof *e);
    e->opcode = (uint8_t)operation;
    e->fd = fd;
    e->user_data = (uint64_t)kind << 56 | (uint64_t)(c == NULL ? 0 : c->slot);
    return e;
}

static void give_back(unsigned id)
{
    struct io_uring_buf *b = &provided->bufs[provided_tail++ & (BUFFERS - 1)];
    b->addr = (uint64_t)(uintptr_t)buffers[id];
    b->len = BUFFER_BYTES;
    b->bid = (uint16_t)id;
    __atomic_store_n(&provided->tail, provided_tail, __ATOMIC_RELEASE);
}

static void *shared(size_t length, uint64_t offset)
{
    void *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_fd, (off_t)offset);
    if (at == MAP_FAILED)
        cannot("mmap");
    return at;
}

static void set_up(void)
{
    struct io_uring_params p = {
        .flags = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
        .cq_entries = COMPLETION_ENTRIES,
    };
    ring_fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &p);
    if (ring_fd < 0)
        cannot("io_uring_setup");
    size_t sq = p.sq_off.array + p.sq_entries * sizeof(unsigned);
    size_t cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    uint8_t *queues = shared(sq > cq ? sq : cq, IORING_OFF_SQ_RING);
    entries = shared(p.sq_entries * sizeof *entries, IORING_OFF_SQES);
    sq_tail = (unsigned *)(queues + p.sq_off.tail);
    sq_mask = *(unsigned *)(queues + p.sq_off.ring_mask);
    cq_head = (unsigned *)(queues + p.cq_off.head);
    cq_tail = (unsigned *)(queues + p.cq_off.tail);
    cq_mask = *(unsigned *)(queues + p.cq_off.ring_mask);
    completions = (struct io_uring_cqe *)(queues + p.cq_off.cqes);
    for (unsigned i = 0; i < p.sq_entries; i++)
        ((unsigned *)(queues + p.sq_off.array))[i] = i;

    size_t bytes_of_ring = BUFFERS * sizeof(struct io_uring_buf);
    size_t all = bytes_of_ring + BUFFERS * sizeof *buffers;
    uint8_t *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    batches = mmap(NULL, BATCHES * sizeof *batches, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || batches == MAP_FAILED)
        fail("mmap buffers");
    provided = (struct io_uring_buf_ring *)memory;
    buffers = (void *)(memory + bytes_of_ring);
    struct io_uring_buf_reg group = {.ring_addr = (uint64_t)(uintptr_t)provided, .ring_entries = BUFFERS};
    if (syscall(SYS_io_uring_register, ring_fd, IORING_REGISTER_PBUF_RING, &group, 1) != 0)
        cannot("IORING_REGISTER_PBUF_RING");
    for (unsigned i = 0; i < BUFFERS; i++)
        give_back(i);
    static int none[MAX_CONNECTIONS];
    for (int i = 0; i < MAX_CONNECTIONS; i++)
        none[i] = -1;
    if (syscall(SYS_io_uring_register, ring_fd, IORING_REGISTER_FILES, none, MAX_CONNECTIONS) != 0)
        cannot("IORING_REGISTER_FILES");
}

static void register_file(const struct connection *c, int fd)
{
    struct io_uring_files_update update = {.offset = (unsigned)c->slot, .fds = (uint64_t)(uintptr_t)&fd};
    if (syscall(SYS_io_uring_register, ring_fd, IORING_REGISTER_FILES_UPDATE, &update, 1) != 1)
        fail("IORING_REGISTER_FILES_UPDATE");
}

static struct io_uring_sqe *of(const struct connection *c, int operation, enum kind kind)
{
    struct io_uring_sqe *e = entry(operation, kind, c, c->slot);
    e->flags = IOSQE_FIXED_FILE;
    return e;
}

/* ------------------------------------------------------------------------------------------------------- connections */

static void take_turn(struct connection *c)
{
    if (!c->has_turn) {
        c->has_turn = true;
        turns[turn_count++] = c;
    }
}

static void arm_receive(struct connection *c)
{
    struct io_uring_sqe *e = of(c, IORING_OP_RECV, RECEIVE);
    e->flags |= IOSQE_BUFFER_SELECT;
    e->ioprio = IORING_RECV_MULTISHOT;
    c->receiving = true;
}

static void arm_accept(void)
{
    struct io_uring_sqe *e = entry(IORING_OP_ACCEPT, ACCEPT, NULL, listen_fd);
    e->ioprio = IORING_ACCEPT_MULTISHOT;
    e->accept_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
}

static void accepted(int fd)
{
    struct connection *c = free_connections;
    if (c == NULL) {
        close(fd);
        return;
    }
    free_connections = c->next_free;
    memset(c, 0, offsetof(struct connection, held));
    c->slot = (int)(c - pool);
    c->fd = fd;
    c->open = true;
    c->next_msn = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    register_file(c, fd);
    arm_receive(c);
}

/* Requests that are armed hold the file: shutdown ends them, and the last of them closes it. */
static void end(struct connection *c)
{
    if (!c->closing) {
        c->closing = true;
        shutdown(c->fd, SHUT_RDWR);
    }
    if (!c->receiving && !c->sending && !c->blocked && !c->has_turn) {
        register_file(c, -1);
        close_connection(c);
    }
}

static void drop(struct connection *c, uint32_t consumed)
{
    c->held_length -= consumed;
    memmove(c->held, c->held + consumed, c->held_length);
}

/* Takes what is there to do; sends at most one batch. */
static void run(struct connection *c)
{
    uint32_t consumed = 0;
    enum outcome outcome = NEEDS_INPUT;
    if (!c->established)
        outcome = start(c, c->held, c->held_length, &consumed);
    if (outcome == NEEDS_INPUT && c->established && c->sent == 0)
        outcome = skip_ready(c->held + consumed, c->held_length - consumed, &consumed);
    drop(c, consumed);
    if (outcome != NEEDS_INPUT || !c->established) {
        if (outcome == BROKEN || c->peer_finished)
            end(c);
        return;
    }
    batch = &batches[batch_count];
    outcome = plan(c, c->held, c->held_length);
    if (batch->length == 0) {
        if (outcome == BROKEN || c->peer_finished)
            end(c);
        return;
    }
    struct io_uring_sqe *e;
    if (batch->vector_count == 1) {
        e = of(c, IORING_OP_SEND, SEND);
        e->addr = (uint64_t)(uintptr_t)batch->vectors[0].iov_base;
        e->len = (unsigned)batch->vectors[0].iov_len;
    } else {
        headers[batch_count] = (struct msghdr){.msg_iov = batch->vectors, .msg_iovlen = (size_t)batch->vector_count};
        e = of(c, IORING_OP_SENDMSG, SEND);
        e->addr = (uint64_t)(uintptr_t)&headers[batch_count];
        e->len = 1;
    }
    e->msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    e->user_data |= (uint64_t)batch_count << 32;
    c->sending = true;
    batch_count++;
}

static void received(struct connection *c, const struct io_uring_cqe *e)
{
    if (!(e->flags & IORING_CQE_F_MORE))
        c->receiving = false;
    if (e->flags & IORING_CQE_F_BUFFER) {
        unsigned id = e->flags >> IORING_CQE_BUFFER_SHIFT;
        if (!c->closing && e->res > 0 && c->held_length + (uint32_t)e->res <= HELD_CAPACITY) {
            memcpy(c->held + c->held_length, buffers[id], (size_t)e->res);
            c->held_length += (uint32_t)e->res;
            take_turn(c);
        } else if (e->res > 0) {
            end(c); /* more requests than it was granted */
        }
        give_back(id);
    }
    if (e->res == 0) {
        c->peer_finished = true;
        take_turn(c);
    }
    if (c->closing || (e->res < 0 && e->res != -ENOBUFS))
        end(c);
    else if (!c->receiving && !c->peer_finished)
        arm_receive(c);
}

static void sent(struct connection *c, int result, uint64_t wanted)
{
    c->sending = false;
    if (result < 0 && result != -EAGAIN)
        c->closing = true;
    if (c->closing) {
        end(c);
        return;
    }
    uint64_t n = result < 0 ? 0 : (uint64_t)result;
    drop(c, retire(c, c->held, n));
    if (n < wanted) {
        struct io_uring_sqe *e = of(c, IORING_OP_POLL_ADD, ROOM);
        e->poll32_events = POLLOUT;
        c->blocked = true;
    } else if (c->held_length > 0 || c->peer_finished)
        take_turn(c);
}

/* ---------------------------------------------------------------------------------------------------------- the loop */

static void watch_stop(int fd, enum kind kind)
{
    struct io_uring_sqe *e = entry(IORING_OP_POLL_ADD, kind, NULL, fd);
    e->poll32_events = POLLIN;
}

static void complete(const struct io_uring_cqe *e)
{
    static char ignored[4096];
    struct connection *c = &pool[e->user_data & 0xFFFFFFFF];
    switch ((enum kind)(e->user_data >> 56)) {
    case ACCEPT:
        if (e->res >= 0)
            accepted(e->res);
        if (!(e->flags & IORING_CQE_F_MORE))
            arm_accept();
        break;
    case RECEIVE: received(c, e); break;
    case SEND: sent(c, e->res, batches[e->user_data >> 32 & 0xFFFFFF].length); break;
    case ROOM:
        c->blocked = false;
        if (c->closing)
            end(c);
        else
            take_turn(c);
        break;
    case SIGNAL: stopped = true; break;
    case INPUT:
        if (read(STDIN_FILENO, ignored, sizeof ignored) <= 0)
            stopped = true;
        else
            watch_stop(STDIN_FILENO, INPUT);
        break;
    }
}

static void run_turns(void)
{
    static struct connection *now[MAX_CONNECTIONS];
    int count = turn_count;
    memcpy(now, turns, sizeof turns[0] * (size_t)count);
    turn_count = 0;
    for (int i = 0; i < count; i++) {
        struct connection *c = now[i];
        c->has_turn = false;
        if (c->closing)
            end(c);
        else if (c->sending || c->blocked)
            continue; /* its completion gives it a turn */
        else if (batch_count == BATCHES)
            take_turn(c);
        else
            run(c);
    }
}

static void open_loop(void)
{
    set_up();
    struct stat input;
    arm_accept();
    watch_stop(signal_fd, SIGNAL);
    /* A file or /dev/null never ends: then only a signal stops us. */
    if (fstat(STDIN_FILENO, &input) == 0 && (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode) || isatty(STDIN_FILENO)))
        watch_stop(STDIN_FILENO, INPUT);
}

static void serve_until_stopped(void)
{
    while (!stopped) {
        enter(common.spin || batch_count > 0 || turn_count > 0 ? 0 : 1);
        unsigned head = *cq_head;
        unsigned end = __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE);
        for (; head != end; head++)
            complete(&completions[head & cq_mask]);
        __atomic_store_n(cq_head, head, __ATOMIC_RELEASE);
        batch_count = 0;
        run_turns();
    }
}

/* ---------------------------------------------------------------------------------------------------- the process */

static void parse(int argc, char **argv)
{
    static const struct option names[] = {
        COMMON_OPTIONS,
        {"copy-below", required_argument, NULL, 'c'},
        {NULL, 0, NULL, 0},
    };
    int index = 0;
    for (int o; (o = getopt_long(argc, argv, "", names, &index)) != -1;) {
        const char *name = names[index].name;
        switch (o) {
        case 'c': options.copy_below = (uint32_t)number(name, optarg, UINT32_MAX); break;
        default: take_common(o, name);
        }
    }
    check_common(argc, "usage: read_responder_uring " COMMON_USAGE " [--copy-below N]\n");
}

int main(int argc, char **argv)
{
    int64_t user_micros;
    int64_t system_micros;
    parse(argc, argv);
    serve(false, &user_micros, &system_micros);
    printf("{\"reads\":%llu,\"bytes\":%llu,\"userMicros\":%lld,\"systemMicros\":%lld}\n", (unsigned long long)reads,
           (unsigned long long)bytes, (long long)user_micros, (long long)system_micros);
    return fflush(stdout) == 0 ? 0 : 1;
}
