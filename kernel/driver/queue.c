// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device `queue`: a link of constant rate with a queueing discipline of Linux, in front of the host in whose network
 * namespace it is up. It takes a packet, and the next one when the time to transmit it is over. So all others wait in
 * the discipline, as before a network card without buffers of its own.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/pkt_sched.h>
#include "wire.h"

/* Bits per second; 0 for no such link. */
static unsigned long queue_rate;
module_param(queue_rate, ulong, 0644);

static struct net_device *queue;
/* Device of the host behind the link. */
static struct net_device *host;
static struct sk_buff *in_transmission;
static struct hrtimer timer;

bool celltcp_queue(struct sk_buff *skb, struct net_device *device)
{
	if (!queue_rate || !netif_running(queue) || !net_eq(dev_net(queue), dev_net(device)))
		return false;
	host = device;
	skb->dev = queue;
	dev_queue_xmit(skb);
	return true;
}

static netdev_tx_t queue_transmit(struct sk_buff *skb, struct net_device *device)
{
	u64 bits = (u64)skb->len * BITS_PER_BYTE;

	netif_stop_queue(device);
	in_transmission = skb;
	hrtimer_start(&timer, ns_to_ktime(div64_ul(bits * NSEC_PER_SEC, queue_rate)),
		      HRTIMER_MODE_REL_SOFT);
	return NETDEV_TX_OK;
}

static enum hrtimer_restart transmission_ends(struct hrtimer *expired)
{
	celltcp_receive(in_transmission, host);
	netif_wake_queue(queue);
	return HRTIMER_NORESTART;
}

static const struct net_device_ops queue_operations = { .ndo_start_xmit = queue_transmit };

static void queue_setup(struct net_device *device)
{
	celltcp_setup(device, &queue_operations);
}

int __init celltcp_queue_init(void)
{
	int error;

	celltcp_setup_timer(&timer, transmission_ends, HRTIMER_MODE_REL_SOFT);
	queue = alloc_netdev(0, "queue", NET_NAME_ENUM, queue_setup);
	if (!queue)
		return -ENOMEM;
	error = register_netdev(queue);
	if (error)
		free_netdev(queue);
	return error;
}
