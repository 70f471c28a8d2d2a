/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The border between the kernel and the path, a shared object of the host.
 *
 * Only plain C types: both sides of UML and the shared object read this alike. All times are
 * CLOCK_MONOTONIC of the guest in nanoseconds. The path is called by one caller at a time.
 */
#ifndef CELLTCP_PATH_H
#define CELLTCP_PATH_H

/* Raised whenever something below changes. */
#define CELLTCP_PATH_ABI 1

/* No event is due: the answer of next(). */
#define CELLTCP_NEVER (~0ULL)

/* Bytes at the start of a packet that the path gets to see: the longest IPv4 and TCP headers. */
#define CELLTCP_HEADERS 120

enum celltcp_action {
	/* The packet has come to its port. */
	CELLTCP_DELIVER = 0,
	/* The packet was lost on the way. */
	CELLTCP_DROP = 1,
	/* The sending host's device has put the packet on its wire; it is still on the way. */
	CELLTCP_SENT = 2,
};

struct celltcp_verdict {
	/* Number of the packet, as given to transmit(). */
	unsigned int packet;
	/* One of enum celltcp_action. */
	unsigned short action;
	/* Where the packet is delivered. */
	unsigned short port;
	/* Whether the packet was marked "congestion experienced" on the way. */
	unsigned int congestion;
};

struct celltcp_path {
	/* Begins; the path must know the ABI. Answers the number of ports, negative on failure. */
	int (*open)(unsigned int abi);
	/*
	 * A packet leaves a port. Answers 1 if CELLTCP_SENT will follow, 0 if the device is done with
	 * it at once, negative if the path does not take it.
	 */
	int (*transmit)(unsigned int port, unsigned int packet, unsigned int length,
			unsigned long long now, const unsigned char *headers,
			unsigned int headers_length);
	/* When advance() is to be called next. */
	unsigned long long (*next)(void);
	/* Does what is due and answers the number of verdicts; if that is max, call again. */
	unsigned int (*advance)(unsigned long long now, struct celltcp_verdict *verdicts,
				unsigned int max);
	/* A message of the guest; answers its length, negative (an errno) on failure. */
	long long (*write)(unsigned long long now, const unsigned char *message,
			   unsigned long long length);
	/* The answer to the last message; answers its length, negative (an errno) on failure. */
	long long (*read)(unsigned long long now, unsigned char *answer, unsigned long long max);
	/* The guest is shutting down. */
	void (*close)(void);
};

/*
 * Loads the shared object that the environment variable CELLTCP_PATH names. Answers 1 if there is
 * none, 0 on success, negative if it cannot be loaded.
 */
int celltcp_load(struct celltcp_path *path);

#endif
