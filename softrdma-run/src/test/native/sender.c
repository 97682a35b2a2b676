/*
 * The example of docs/guide/run.md: a queue pair that sends 200 messages to another one of the same program.
 *
 *     sender GID_INDEX [SECONDS]
 *
 * Without -DMENDED it takes a post that fails for one that is on its way, and waits for its completion.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGES = 200, DEPTH = 16 };

static char memory[64];
static struct ibv_context *context;

static void require(int good, const char *what)
{
	if (!good) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

/* What has happened to the card and its objects. */
static void print_events(void)
{
	struct ibv_async_event event;
	fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
	while (!ibv_get_async_event(context, &event)) {
		printf("event: %s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
}

static struct ibv_qp *queue_pair(struct ibv_pd *domain, struct ibv_cq *queue)
{
	struct ibv_qp_init_attr wanted = {
		.send_cq = queue, .recv_cq = queue, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = MESSAGES, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *made = ibv_create_qp(domain, &wanted);
	require(made != NULL, "ibv_create_qp");
	struct ibv_qp_attr initial = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	require(!ibv_modify_qp(made, &initial,
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
	return made;
}

static void connect_to(struct ibv_qp *one, struct ibv_qp *peer, union ibv_gid gid, int gid_index)
{
	struct ibv_qp_attr receive = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1,
			.grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 64 } },
	};
	require(!ibv_modify_qp(one, &receive, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN
		| IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
	struct ibv_qp_attr send = {
		.qp_state = IBV_QPS_RTS, .timeout = 12, .retry_cnt = 7, .rnr_retry = 2, .max_rd_atomic = 1,
	};
	require(!ibv_modify_qp(one, &send, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
		| IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

// docs: sender
/* Sends all messages; returns the status of the first request that has failed. */
static enum ibv_wc_status send_all(struct ibv_qp *from, struct ibv_cq *queue, struct ibv_sge piece, int seconds)
{
	int posted = 0, completed = 0, received = 0;
	time_t end = time(NULL) + seconds;
	while (completed < MESSAGES || received < MESSAGES) {
		while (posted < MESSAGES && posted - completed < DEPTH) {
			struct ibv_send_wr request = {
				.wr_id = posted, .sg_list = &piece, .num_sge = 1,
				.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
			}, *bad;
			int error = ibv_post_send(from, &request, &bad);
#ifdef MENDED
			if (error == ENOMEM) /* the queue is full: go on once something is complete */
				break;
			require(error == 0, "ibv_post_send");
#else
			(void)error;
#endif
			posted++;
		}
		struct ibv_wc completion;
		if (ibv_poll_cq(queue, 1, &completion) == 1) {
			if (completion.status != IBV_WC_SUCCESS)
				return completion.status;
			if (completion.opcode & IBV_WC_RECV)
				received++;
			else
				completed++;
		}
		if (time(NULL) > end) {
			fprintf(stderr, "%d of %d messages after %d seconds\n", completed, posted, seconds);
			exit(3);
		}
	}
	return IBV_WC_SUCCESS;
}
// docs: end

int main(int count, char **arguments)
{
	int gid_index = count > 1 ? atoi(arguments[1]) : 0;
	struct ibv_device **devices = ibv_get_device_list(NULL);
	require(devices != NULL && devices[0] != NULL, "no device");
	context = ibv_open_device(devices[0]);
	require(context != NULL, "ibv_open_device");
	atexit(print_events);
	struct ibv_pd *domain = ibv_alloc_pd(context);
	require(domain != NULL, "ibv_alloc_pd");
	struct ibv_mr *region = ibv_reg_mr(domain, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	require(region != NULL, "ibv_reg_mr");
	struct ibv_cq *queue = ibv_create_cq(context, 2 * MESSAGES, NULL, NULL, 0);
	require(queue != NULL, "ibv_create_cq");
	union ibv_gid gid;
	require(!ibv_query_gid(context, 1, gid_index, &gid), "ibv_query_gid");
	struct ibv_qp *from = queue_pair(domain, queue), *to = queue_pair(domain, queue);
	connect_to(from, to, gid, gid_index);
	connect_to(to, from, gid, gid_index);
	struct ibv_sge piece = { .addr = (uintptr_t)memory, .length = sizeof memory, .lkey = region->lkey };
	for (int i = 0; i < MESSAGES; i++) {
		struct ibv_recv_wr receive = { .sg_list = &piece, .num_sge = 1 }, *bad;
		require(!ibv_post_recv(to, &receive, &bad), "ibv_post_recv");
	}
	enum ibv_wc_status status = send_all(from, queue, piece, count > 2 ? atoi(arguments[2]) : 10);
	printf("%s\n", status == IBV_WC_SUCCESS ? "all messages have come" : ibv_wc_status_str(status));
	return status == IBV_WC_SUCCESS ? 0 : 4;
}
