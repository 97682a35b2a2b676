/*
 * Queue pairs that talk to each other within one process.
 *
 *     pairs GID_INDEX THREADS PAIRS BYTES
 *
 * Each thread has a completion queue, a region of BYTES, and its share of PAIRS pairs of queue pairs, and sends a message
 * over each of them, WRITEs and READs it, and compares. The messages are at the end of the region.
 */
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MESSAGE = 2000 };

static struct ibv_context *context;
static struct ibv_pd *domain;
static union ibv_gid gid;
static int gid_index, pairs_each;
static size_t bytes;

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

static struct ibv_qp *queue_pair(struct ibv_cq *queue)
{
	struct ibv_qp_init_attr wanted = {
		.send_cq = queue, .recv_cq = queue, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *made = present(ibv_create_qp(domain, &wanted), "ibv_create_qp");
	struct ibv_qp_attr initial = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	done(ibv_modify_qp(made, &initial, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
	return made;
}

static void ready(struct ibv_qp *one, uint32_t peer)
{
	struct ibv_qp_attr receive = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer, .rq_psn = 7,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			.grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 64 } },
	};
	done(ibv_modify_qp(one, &receive, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
		| IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
	struct ibv_qp_attr send = {
		.qp_state = IBV_QPS_RTS, .sq_psn = 7, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1,
	};
	done(ibv_modify_qp(one, &send, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
		| IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

static void await(struct ibv_cq *queue, int count)
{
	struct ibv_wc completion;
	while (count > 0) {
		int got = ibv_poll_cq(queue, 1, &completion);
		if (got < 0)
			fail("ibv_poll_cq");
		if (got && completion.status != IBV_WC_SUCCESS) {
			fprintf(stderr, "request %lu: %s\n", (unsigned long)completion.wr_id, ibv_wc_status_str(completion.status));
			exit(1);
		}
		count -= got;
	}
}

static void post(struct ibv_qp *from, struct ibv_mr *region, enum ibv_wr_opcode what, char *here, char *there)
{
	struct ibv_sge piece = { .addr = (uintptr_t)here, .length = MESSAGE, .lkey = region->lkey };
	struct ibv_send_wr request = {
		.wr_id = what, .sg_list = &piece, .num_sge = 1, .opcode = what, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)there, .rkey = region->rkey },
	}, *bad;
	done(ibv_post_send(from, &request, &bad), "ibv_post_send");
}

static void compare(const char *one, const char *other, const char *what)
{
	if (memcmp(one, other, MESSAGE)) {
		fprintf(stderr, "%s: other bytes have come\n", what);
		exit(1);
	}
}

static void *thread(void *ignored)
{
	struct ibv_cq *queue = present(ibv_create_cq(context, 16, NULL, NULL, 0), "ibv_create_cq");
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	struct ibv_mr *region = present(ibv_reg_mr(domain, memory, bytes,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ), "ibv_reg_mr");
	struct ibv_qp **all = calloc(2 * pairs_each, sizeof *all);
	for (int i = 0; i < pairs_each; i++) {
		all[2 * i] = queue_pair(queue);
		all[2 * i + 1] = queue_pair(queue);
		ready(all[2 * i], all[2 * i + 1]->qp_num);
		ready(all[2 * i + 1], all[2 * i]->qp_num);
	}
	char *from = memory, *to = memory + bytes - MESSAGE;
	for (int i = 0; i < pairs_each; i++) {
		for (int b = 0; b < MESSAGE; b++)
			from[b] = rand();
		struct ibv_sge piece = { .addr = (uintptr_t)to, .length = MESSAGE, .lkey = region->lkey };
		struct ibv_recv_wr receive = { .sg_list = &piece, .num_sge = 1 }, *bad;
		done(ibv_post_recv(all[2 * i + 1], &receive, &bad), "ibv_post_recv");
		post(all[2 * i], region, IBV_WR_SEND, from, NULL);
		await(queue, 2);
		compare(from, to, "SEND");
		from[0]++;
		post(all[2 * i + 1], region, IBV_WR_RDMA_READ, to, from);
		await(queue, 1);
		compare(from, to, "READ");
		from[1]++;
		post(all[2 * i], region, IBV_WR_RDMA_WRITE, from, to);
		await(queue, 1);
		compare(from, to, "WRITE");
	}
	for (int i = 0; i < 2 * pairs_each; i++)
		done(ibv_destroy_qp(all[i]), "ibv_destroy_qp");
	done(ibv_dereg_mr(region), "ibv_dereg_mr");
	done(ibv_destroy_cq(queue), "ibv_destroy_cq");
	return ignored;
}

int main(int count, char **arguments)
{
	if (count != 5) {
		fprintf(stderr, "usage: pairs GID_INDEX THREADS PAIRS BYTES\n");
		return 2;
	}
	gid_index = atoi(arguments[1]);
	int threads = atoi(arguments[2]);
	pairs_each = atoi(arguments[3]) / threads;
	bytes = strtoull(arguments[4], NULL, 0);
	struct ibv_device **devices = present(ibv_get_device_list(NULL), "ibv_get_device_list");
	context = present(ibv_open_device(present(devices[0], "no device")), "ibv_open_device");
	domain = present(ibv_alloc_pd(context), "ibv_alloc_pd");
	done(ibv_query_gid(context, 1, gid_index, &gid), "ibv_query_gid");
	pthread_t *all = calloc(threads, sizeof *all);
	for (int i = 0; i < threads; i++)
		done(pthread_create(&all[i], NULL, thread, NULL), "pthread_create");
	for (int i = 0; i < threads; i++)
		done(pthread_join(all[i], NULL), "pthread_join");
	done(ibv_dealloc_pd(domain), "ibv_dealloc_pd");
	done(ibv_close_device(context), "ibv_close_device");
	printf("%d queue pairs of %d threads talked\n", 2 * pairs_each * threads, threads);
	return 0;
}
