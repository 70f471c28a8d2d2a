/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Border between the kernel and the path, a shared object of the host.
 *
 * It has plain C types only, because both sides of UML and the shared object read it. All times are
 * CLOCK_MONOTONIC of the guest in nanoseconds. The path has one caller at a time.
 */
#ifndef CELLTCP_PATH_H
#define CELLTCP_PATH_H

/* Raised whenever something below changes. */
#define CELLTCP_PATH_ABI 2

/* Answer of next() if no event is due. */
#define CELLTCP_NEVER (~0ULL)

/*
 * How a packet is dealt with. A packet of the kernel ends with DELIVER or DROP; until then the path may read its
 * bytes, which the kernel does not change.
 */
enum celltcp_action {
	/* The packet has arrived at its port. */
	CELLTCP_DELIVER = 0,
	/* The packet was lost on the way, or a middlebox has taken it. */
	CELLTCP_DROP = 1,
	/* The sending host's device has put the packet on its wire; it is still on the way. */
	CELLTCP_SENT = 2,
	/* A packet that the path has created, perhaps as a copy of another one, has come to its port. */
	CELLTCP_CREATED = 3,
};

struct celltcp_verdict {
	/* Number of the packet, as given to transmit(); nothing for one that the path has created. */
	unsigned int packet;
	/* One of enum celltcp_action. */
	unsigned short action;
	/* Port at which the packet is delivered. */
	unsigned short port;
	/* Whether the packet was marked "congestion experienced" on the way. */
	unsigned int congestion;
	/* Number of the bytes. */
	unsigned int length;
	/* Of a packet that the path has created: its IPv4 packet, until the next call of the path. */
	const unsigned char *bytes;
};

struct celltcp_path {
	/* Begins a run; the path must know the ABI. Returns the number of ports, negative on failure. */
	int (*open)(unsigned int abi);
	/*
	 * Sends an IPv4 packet, in one piece, from a port. Returns 1 if CELLTCP_SENT will follow, 0 if the
	 * device is done with it at once, negative if the path does not take it.
	 */
	int (*transmit)(unsigned int port, unsigned int packet, unsigned long long now,
			const unsigned char *bytes, unsigned int length);
	/* Returns the time at which advance() is to be called next. */
	unsigned long long (*next)(void);
	/* Handles the events that are due and returns the number of verdicts; if it is max, call again. */
	unsigned int (*advance)(unsigned long long now, struct celltcp_verdict *verdicts,
				unsigned int max);
	/* Takes a message of the guest; returns its length, negative (an errno) on failure. */
	long long (*write)(unsigned long long now, const unsigned char *message,
			   unsigned long long length);
	/* Writes the answer to the last message; returns its length, negative (an errno) on failure. */
	long long (*read)(unsigned long long now, unsigned char *answer, unsigned long long max);
	/* Ends the run, because the guest is shutting down. */
	void (*close)(void);
};

/*
 * Loads the shared object that the environment variable CELLTCP_PATH names. Returns 1 if there is
 * none, 0 on success, negative if it cannot be loaded.
 */
int celltcp_load(struct celltcp_path *path);

#endif
