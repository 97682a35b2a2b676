/*
 * WRITEs both ways between two programs, of which one dies amid them.
 *
 *     writes GID_INDEX TCP_PORT dies|fails [HOST]
 *
 * Without HOST it waits for the other one. The one that "dies" posts 1000 WRITEs by one call, and sends itself SIGKILL when
 * half of them are complete. The one that "fails" keeps 100 under way until one of them fails, by RETRY_EXC_ERR; those
 * behind it are flushed, none is lost, and none comes twice. It prints how long after the last success that was: eight times
 * 67 ms to 268 ms, because a timeout may last four times as long as it was set (IBTA 9.7.6.1.3).
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WRITES = 1000, AT_ONCE = 100, BYTES = 4096, PSN = 7 };

struct end {
	union ibv_gid gid;
	uint64_t address;
	uint32_t pair, key;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *present(void *made, const char *what)
{
	if (!made)
		fail(what);
	return made;
}

static void done(int result, const char *what)
{
	if (result)
		fail(what);
}

/* A connection over TCP; the client asks until the server is there. */
static int connection(const char *host, int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int yes = 1, made = socket(AF_INET, SOCK_STREAM, 0);
	if (made < 0)
		fail("socket");
	if (host) {
		if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
			fail(host);
		for (int i = 0; connect(made, (struct sockaddr *)&address, sizeof address); i++) {
			if (i == 600)
				fail("connect");
			close(made);
			usleep(100000);
			made = socket(AF_INET, SOCK_STREAM, 0);
		}
		return made;
	}
	done(setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), "SO_REUSEADDR");
	done(bind(made, (struct sockaddr *)&address, sizeof address), "bind");
	done(listen(made, 1), "listen");
	int peer = accept(made, NULL, NULL);
	if (peer < 0)
		fail("accept");
	close(made);
	return peer;
}

static void exchange(int peer, const void *own, void *theirs, size_t length)
{
	if (write(peer, own, length) != (ssize_t)length || recv(peer, theirs, length, MSG_WAITALL) != (ssize_t)length)
		fail("exchange of addresses");
}

static struct ibv_qp *queue_pair(struct ibv_pd *domain, struct ibv_cq *queue)
{
	struct ibv_qp_init_attr wanted = {
		.send_cq = queue, .recv_cq = queue, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = WRITES, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *made = present(ibv_create_qp(domain, &wanted), "ibv_create_qp");
	struct ibv_qp_attr initial = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	done(ibv_modify_qp(made, &initial, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
	return made;
}

static void ready(struct ibv_qp *pair, const struct end *peer, int gid_index)
{
	struct ibv_qp_attr receive = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->pair, .rq_psn = PSN,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			.grh = { .dgid = peer->gid, .sgid_index = gid_index, .hop_limit = 64 } },
	};
	done(ibv_modify_qp(pair, &receive, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
		| IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
	struct ibv_qp_attr send = {
		.qp_state = IBV_QPS_RTS, .sq_psn = PSN, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1,
	};
	done(ibv_modify_qp(pair, &send, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
		| IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

/* Posts requests by one call; their numbers begin with the first one's. */
static void post(struct ibv_qp *pair, struct ibv_mr *region, const struct end *peer, uint64_t first, int count)
{
	static struct ibv_send_wr requests[WRITES];
	struct ibv_sge piece = { .addr = (uintptr_t)region->addr, .length = BYTES, .lkey = region->lkey };
	struct ibv_send_wr *bad;
	for (int i = 0; i < count; i++)
		requests[i] = (struct ibv_send_wr){
			.wr_id = first + i, .next = i + 1 < count ? &requests[i + 1] : NULL, .sg_list = &piece, .num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = peer->address, .rkey = peer->key },
		};
	done(ibv_post_send(pair, requests, &bad), "ibv_post_send");
}

static struct ibv_wc next(struct ibv_cq *queue, uint64_t number)
{
	struct ibv_wc completion;
	int got;
	while (!(got = ibv_poll_cq(queue, 1, &completion)))
		;
	if (got < 0)
		fail("ibv_poll_cq");
	if (completion.wr_id != number) {
		fprintf(stderr, "expected the completion of %lu, got %lu's\n", (unsigned long)number,
			(unsigned long)completion.wr_id);
		exit(1);
	}
	return completion;
}

static void expect(struct ibv_wc completion, enum ibv_wc_status status)
{
	if (completion.status != status) {
		fprintf(stderr, "request %lu: expected %s, got %s\n", (unsigned long)completion.wr_id,
			ibv_wc_status_str(status), ibv_wc_status_str(completion.status));
		exit(1);
	}
}

static long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void survive(struct ibv_qp *pair, struct ibv_cq *queue, struct ibv_mr *region, const struct end *peer)
{
	uint64_t posted = AT_ONCE, complete = 0;
	long last = now();
	post(pair, region, peer, 0, AT_ONCE);
	struct ibv_wc completion = next(queue, complete++);
	for (; completion.status == IBV_WC_SUCCESS; completion = next(queue, complete++)) {
		last = now();
		post(pair, region, peer, posted++, 1);
	}
	expect(completion, IBV_WC_RETRY_EXC_ERR);
	long waited = now() - last;
	for (uint64_t number = complete; number < posted; number++)
		expect(next(queue, number), IBV_WC_WR_FLUSH_ERR);
	printf("%lu WRITEs, then an error after %ld ms\n", (unsigned long)complete - 1, waited);
}

int main(int count, char **arguments)
{
	if (count < 4)
		return 2;
	int gid_index = atoi(arguments[1]);
	int peer_socket = connection(count > 4 ? arguments[4] : NULL, atoi(arguments[2]));
	struct ibv_device **devices = present(ibv_get_device_list(NULL), "ibv_get_device_list");
	struct ibv_context *context = present(ibv_open_device(present(devices[0], "a device")), "ibv_open_device");
	struct ibv_pd *domain = present(ibv_alloc_pd(context), "ibv_alloc_pd");
	struct ibv_cq *queue = present(ibv_create_cq(context, WRITES, NULL, NULL, 0), "ibv_create_cq");
	struct ibv_mr *region = present(ibv_reg_mr(domain, present(calloc(1, BYTES), "calloc"), BYTES,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE), "ibv_reg_mr");
	struct ibv_qp *pair = queue_pair(domain, queue);
	struct end own = { .address = (uintptr_t)region->addr, .pair = pair->qp_num, .key = region->rkey }, peer;
	done(ibv_query_gid(context, 1, gid_index, &own.gid), "ibv_query_gid");
	exchange(peer_socket, &own, &peer, sizeof own);
	ready(pair, &peer, gid_index);
	exchange(peer_socket, &own, &peer, sizeof own);
	if (!strcmp(arguments[3], "fails")) {
		survive(pair, queue, region, &peer);
		done(ibv_destroy_qp(pair), "ibv_destroy_qp");
		return 0;
	}
	post(pair, region, &peer, 0, WRITES);
	for (int i = 0; i < WRITES / 2; i++)
		expect(next(queue, i), IBV_WC_SUCCESS);
	kill(getpid(), SIGKILL);
	return 1;
}
