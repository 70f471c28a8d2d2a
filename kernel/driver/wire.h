/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CELLTCP_WIRE_H
#define CELLTCP_WIRE_H
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include "path.h"

/* The loaded path, and the lock under which it is called. */
extern struct celltcp_path celltcp_path;
extern spinlock_t celltcp_lock;

/* Sets the timer to the path's next event. Called with the lock held. */
void celltcp_rearm(void);

/* Creates the device by which the guest talks to the path. */
int celltcp_channel_init(void);

/* Sets up a device without addresses of a link layer. */
void celltcp_setup(struct net_device *device, const struct net_device_ops *operations);

/* Sets up a timer of the monotonic clock. */
void celltcp_setup_timer(struct hrtimer *timer, enum hrtimer_restart (*expired)(struct hrtimer *),
			 enum hrtimer_mode mode);

/* Creates the device `queue`. */
int celltcp_queue_init(void);

/* Takes a packet for the host of a device, where there is a link with a queue before it; returns whether there is. */
bool celltcp_queue(struct sk_buff *skb, struct net_device *device);

/* Has the host of a device receive a packet. */
void celltcp_receive(struct sk_buff *skb, struct net_device *device);

#endif
