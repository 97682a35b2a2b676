/*
 * Says nonsense to /dev/infiniband/uverbs0: commands of every number and length, with handles that exist and that do not,
 * and whatever in the queues and the doorbell.
 *
 *     hostile SEED ROUNDS
 *
 * It must come to its end, however many of its calls are refused.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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

int main(int count, char **arguments)
{
	if (count != 3) {
		fprintf(stderr, "usage: hostile SEED ROUNDS\n");
		return 2;
	}
	state = strtoull(arguments[1], NULL, 0) * 0x9E3779B97F4A7C15u + 1;
	int rounds = atoi(arguments[2]);
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	device = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
	unsigned char *rings = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
	if (device < 0 || memory == MAP_FAILED || rings == MAP_FAILED) {
		perror("uverbs0");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
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
			if (write(device, below(16) ? memory : (void *)address(), below(16) ? 32 : below(64)) < 0)
				refused++;
			else
				accepted++;
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
	printf("%ld accepted, %ld refused\n", accepted, refused);
	return 0;
}
