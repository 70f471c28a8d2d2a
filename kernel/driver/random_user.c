// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaces the host's getrandom() in the kernel's program, so that the kernel's entropy repeats, and
 * with it the run. The stream is that of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), seeded
 * by the environment variable CELLTCP_SEED.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static unsigned long long state;

static unsigned long long draw(void)
{
	unsigned long long z;

	state += 0x9e3779b97f4a7c15ULL;
	z = state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	static int seeded;
	unsigned char *out = buffer;
	size_t done, piece;

	if (!seeded) {
		const char *seed = getenv("CELLTCP_SEED");

		state = seed ? strtoull(seed, NULL, 10) : 0;
		seeded = 1;
	}
	for (done = 0; done < length; done += piece) {
		unsigned long long word = draw();

		piece = length - done < sizeof(word) ? length - done : sizeof(word);
		memcpy(out + done, &word, piece);
	}
	return length;
}
