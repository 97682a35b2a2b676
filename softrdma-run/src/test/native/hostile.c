/*
 * Says nonsense to what a run plays, one of these:
 *
 *     uverbs    /dev/infiniband/uverbs0: commands of every number and length, with handles that exist and that do not,
 *               and whatever in the queues and the doorbell
 *     rdma_cm   /dev/infiniband/rdma_cm: the same, in orders that make sense and that do not
 *     files     paths, directories and descriptors: names, lengths, positions, flags and addresses that are none
 *
 *     hostile uverbs|rdma_cm|files SEED ROUNDS
 *
 * It must come to its end, however many of its calls are refused.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MEMORY = 1 << 16, MAPPED = 1 << 20, ATTRIBUTES = 17 };

struct attribute {
	uint16_t id, length, flags, index;
	uint64_t value;
};

struct command {
	uint16_t length, object, method, count;
	uint64_t reserved;
	uint32_t driver, reserved2;
	struct attribute attributes[ATTRIBUTES];
};

static uint64_t state;
static unsigned char *memory;
static int device;
static long refused, accepted;

/* xorshift64: the same numbers everywhere */
static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static unsigned below(unsigned limit)
{
	return next() % limit;
}

/* Small numbers are handles, indexes and flags; large ones lengths and addresses. */
static uint32_t word(void)
{
	switch (below(6)) {
	case 0:
		return next();
	case 1:
		return -1 - below(3);
	case 2:
		return 1u << below(32);
	default:
		return below(24);
	}
}

static uint64_t address(void)
{
	switch (below(4)) {
	case 0:
		return next();
	case 1:
		return (uintptr_t)memory + MEMORY - below(64);
	default:
		return (uintptr_t)memory + below(MEMORY / 2);
	}
}

static void say(int number, int length, int room, int honest)
{
	struct command said;
	memset(&said, 0, sizeof said);
	said.count = honest ? 4 : below(ATTRIBUTES + 3);
	said.length = 24 + 16 * said.count;
	if (!honest && !below(8))
		said.object = next();
	if (!honest && !below(8))
		said.method = next();
	uint64_t input = 0;
	memcpy(&input, memory, sizeof input);
	struct attribute all[] = {
		{ .id = 2, .length = 4, .value = (uint32_t)number },
		{ .id = 0, .length = length, .value = length <= 8 ? input : (uintptr_t)memory },
		{ .id = 1, .length = room, .value = (uintptr_t)memory + MEMORY / 2 },
		{ .id = 0x1001, .length = 64, .value = (uintptr_t)memory + MEMORY / 4 },
	};
	memcpy(said.attributes, all, sizeof all);
	if (!honest) {
		struct attribute *one = &said.attributes[below(4)];
		one->id = below(2) ? next() : one->id;
		one->length = next();
		one->value = address();
	}
	if (ioctl(device, 0xC0181B01, &said))
		refused++;
	else
		accepted++;
}

static void put(int offset, uint64_t value)
{
	memcpy(memory + offset, &value, sizeof value);
}

static void put32(int offset, uint32_t value)
{
	memcpy(memory + offset, &value, sizeof value);
}

/* Objects to be nasty with: a domain, completions, a region, queue pairs, a shared queue, a window. */
static void make(void)
{
	memset(memory, 0, 256);
	say(3, 8, 4, 1);
	memset(memory, 0, 256);
	put32(16, 64);
	put32(24, -1);
	say(18, 40, 8, 1);
	memset(memory, 0, 256);
	put(8, (uintptr_t)memory);
	put(16, MEMORY);
	put(24, (uintptr_t)memory);
	put32(32, 1);
	put32(36, 31);
	say(9, 40, 12, 1);
	for (int type = 2; type < 5; type++) {
		memset(memory, 0, 256);
		put32(16, 1);
		put32(20, 2);
		put32(24, 2);
		put32(32, 16);
		put32(36, 16);
		put32(40, 4);
		put32(44, 4);
		put32(48, 64);
		memory[53] = type;
		say(24, 64, 32, 1);
	}
	memset(memory, 0, 256);
	put32(16, 1);
	put32(20, 16);
	put32(24, 4);
	say(32, 40, 16, 1);
	memset(memory, 0, 256);
	put32(8, 1);
	memory[12] = 2;
	say(14, 16, 8, 1);
}

static void count(long result)
{
	if (result < 0)
		refused++;
	else
		accepted++;
}

/* Objects and queues. */
static void uverbs(int rounds)
{
	device = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
	unsigned char *rings = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
	if (device < 0 || rings == MAP_FAILED) {
		perror("uverbs0");
		exit(1);
	}
	memset(memory, 0, 256);
	say(0, 8, 8, 1);
	make();
	for (int i = 0; i < rounds; i++) {
		int offset = below(64) ? 0 : 8 * below(64);
		for (int at = offset; at < 160; at += 4)
			put32(at, word());
		switch (below(8)) {
		case 0: /* a doorbell */
			put32(0, below(8) ? 28 : word());
			put32(16, below(16));
			count(write(device, below(16) ? memory : (void *)address(), below(16) ? 32 : below(64)));
			break;
		case 1: /* whatever in the queues */
			for (int n = below(256); n > 0; n--) {
				uint32_t value = word();
				memcpy(rings + 4 * below(MAPPED / 4), &value, sizeof value);
			}
			break;
		case 2: /* indexes, and what begins an element, of each queue there may be */
			for (int page = 1; page < 32; page++) {
				uint32_t value = word();
				memcpy(rings + 4096 * page + 128 * (1 + below(2)), &value, sizeof value);
				memcpy(rings + 4096 * page + 384 + 4 * below(256), &value, sizeof value);
			}
			break;
		case 3: /* states as they should be, so that there is something to break */
			memset(memory, 0, 112);
			put(8, 0x0100007FFFFF0000);
			memory[24] = below(2);
			memory[30] = 1;
			put32(64, 4 + below(3));
			put32(68, (uint32_t[]) { 0x39, 0x71, 0x129181, 0x101181, 1, 0x12E01, 0x10001 }[below(7)]);
			put32(84, word());
			put32(88, 15);
			memory[96] = below(7);
			memory[98] = 3;
			memset(memory + 101, 1, 7);
			say(26, 112, 0, 1);
			break;
		default:
			say(below(16) ? below(60) | (below(4) ? 0 : 0x80000000) : (int)next(), below(4) ? 8 * below(32) : below(600),
				below(4) ? 64 : below(700), below(4));
		}
		if (!below(256))
			make();
	}
}

static const char *const PLACES[] = { "/sys/class/infiniband", "/sys/class/infiniband/rxe0/ports/1/gids", "/dev/infiniband" };
static const char *const PARTS[] = { "/", "//", ".", "..", "sys", "class", "infiniband", "infiniband_verbs", "uverbs0", "rdma_cm",
	"rxe0", "ports", "1", "gids", "0", "state", "dev", "\xff", "no such", "" };

/* A path of some parts, or one that has no end; perhaps where no memory is. */
static const char *path(void)
{
	char *to = (char *)memory + MEMORY - 5000;
	memset(memory + MEMORY - 5000, 0, 5000);
	if (!below(32))
		return (const char *)address();
	if (!below(64))
		return memset(to, 'x', 5000);
	strcpy(to, below(2) ? PLACES[below(3)] : "");
	for (int n = below(6); n > 0; n--) {
		strcat(to, below(4) ? "/" : "");
		strcat(to, PARTS[below(sizeof PARTS / sizeof *PARTS)]);
	}
	return to;
}

static int number(void)
{
	switch (below(8)) {
	case 0:
		return AT_FDCWD;
	case 1:
		return (int)next();
	case 2:
		return 3 + below(61); /* not what the program says */
	default:
		return 956 + below(70);
	}
}

static void files(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		long result;
		uint64_t word = next() >> below(64);
		switch (below(14)) {
		case 0:
		case 1:
			result = open(PLACES[below(3)], O_RDONLY | O_DIRECTORY);
			break;
		case 2:
			result = syscall(SYS_openat, number(), path(), (int)next() & ~(O_CREAT | O_TRUNC | __O_TMPFILE | O_PATH), 0);
			break;
		case 3:
			memcpy(memory, &word, sizeof word);
			result = syscall(SYS_openat2, number(), path(), below(4) ? memory + 8 : (void *)address(), below(64));
			break;
		case 4:
			result = syscall(SYS_getdents64, number(), below(4) ? memory : (void *)address(), below(4) ? below(MEMORY / 2) : next());
			break;
		case 5:
			result = lseek(number(), next() >> below(64), (int)below(6));
			break;
		case 6: /* a directory's position */
			result = pwrite(956 + below(70), &word, sizeof word, 0);
			break;
		case 7:
			result = fstat(number(), below(4) ? (struct stat *)memory : (struct stat *)address());
			break;
		case 8:
			result = syscall(SYS_newfstatat, number(), path(), below(4) ? memory : (void *)address(), below(4) ? below(0x2000) : next());
			break;
		case 9:
			result = syscall(SYS_statx, number(), path(), below(0x2000), (int)next(), below(4) ? memory : (void *)address());
			break;
		case 10:
			result = below(2) ? syscall(SYS_faccessat2, number(), path(), below(8), below(0x1000)) : access(path(), below(8));
			break;
		case 11:
			result = syscall(SYS_readlinkat, number(), path(), below(4) ? memory : (void *)address(), below(MEMORY / 2));
			break;
		case 12: /* ours over others, and others over ours; then the last of both */
			result = dup2(956 + below(70), 956 + below(70));
			break;
		default:
			result = below(2) ? write(956 + below(70), memory, below(64)) : close(956 + below(70));
		}
		count(result);
	}
}

/* Where commands have the ids and addresses that they are about, of which librdmacm knows some order. */
static void connections(int rounds)
{
	static const int ORDER[] = { 0, 0, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 10, 11, 12, 12, 12, 13, 14, 15, 16, 17, 18 };
	static const int IDS[] = { 0, 8, 36, 56, 8, 8, 272, 0, 280, 0, 0, 8, 0, 0, 8, 0, 44, 8, 8 };
	uint32_t last = 0;
	int first = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	int second = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (first < 0 || second < 0) {
		perror("rdma_cm");
		exit(1);
	}
	for (int i = 0; i < rounds; i++) {
		int command = below(16) ? ORDER[below(sizeof ORDER / sizeof *ORDER)] : (int)next(), length = below(16) ? 288 : below(600);
		memset(memory, 0, 1024);
		for (int at = 8; at < 8 + length; at += 4)
			put32(at, below(4) ? 0 : word());
		put32(0, command);
		put32(4, length | (below(16) ? 400 : below(700)) << 16);
		put(8, below(64) ? (uintptr_t)memory + MEMORY / 2 : address());
		for (int at = 0; at < 2; at++) { /* bind has its address at 8, resolve its two at 0 and 28, join its group at 16 */
			int to = 8 + (command == 2 ? 8 : command == 16 ? 16 : 28 * at);
			if ((command == 2 || command == 3 || command == 16) && below(16)) {
				memset(memory + to, 0, 28);
				put32(to, (below(8) ? 2 : 10) | (0x4700 + below(8)) << 16);
				put32(to + 4, command == 16 ? 0x050000e0 : below(8) ? 0x0100007f : 0);
			}
		}
		if (command == 0) {
			put(16, (uintptr_t)memory + MEMORY / 2);
			put32(24, below(4) ? 0x0106 : 0x0111);
		}
		if (command > 0 && command < 19 && below(16))
			put32(8 + IDS[command], last + 4 - below(12));
		if (command == 6 || command == 8) /* what connects says is valid */
			memory[8 + (command == 6 ? 0 : 8) + 271] = below(4) != 0;
		if (command == 18)
			put32(20, below(2) ? first : second);
		int to = below(4) ? first : second;
		long written = write(to, below(64) ? memory : (void *)address(), below(32) ? 8 + length : below(700));
		count(written);
		if (command == 0 && written > 0)
			memcpy(&last, memory + MEMORY / 2, sizeof last);
		if (!below(512)) {
			close(second);
			second = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);
		}
	}
}

int main(int count, char **arguments)
{
	if (count != 4) {
		fprintf(stderr, "usage: hostile uverbs|rdma_cm|files SEED ROUNDS\n");
		return 2;
	}
	state = strtoull(arguments[2], NULL, 0) * 0x9E3779B97F4A7C15u + 1;
	int rounds = atoi(arguments[3]);
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("memory");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(arguments[1], "uverbs"))
		uverbs(rounds);
	else if (!strcmp(arguments[1], "rdma_cm"))
		connections(rounds);
	else
		files(rounds);
	printf("%ld accepted, %ld refused\n", accepted, refused);
	return 0;
}
