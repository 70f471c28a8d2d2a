/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CELLTCP_WIRE_H
#define CELLTCP_WIRE_H
#include <linux/spinlock.h>
#include "path.h"

/* The loaded path, and the lock under which it is called. */
extern struct celltcp_path celltcp_path;
extern spinlock_t celltcp_lock;

/* Sets the timer to the path's next event. Called with the lock held. */
void celltcp_rearm(void);

/* Creates the device by which the guest talks to the path. */
int celltcp_channel_init(void);

#endif
