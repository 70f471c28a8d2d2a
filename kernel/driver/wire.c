// SPDX-License-Identifier: GPL-2.0-only
/*
 * Network devices path0, path1, ..., one per host, whose wire is a path in the memory of the host machine.
 *
 * A packet that is sent is copied at once into a buffer as a network card would have it in the receiver's ring.
 * So the memory that the receiver is charged for it (truesize) does not depend on the sender's layout, and the
 * path can read the whole packet. The sender's own buffer is freed when the path reports that the card is done
 * with it, so that TCP small queues work as on real hosts.
 */
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/reboot.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include "wire.h"

/* Limits of packets on the way at a time, and of ports. */
#define PACKETS (1 << 17)
#define PORTS 64
/* Largest number of verdicts per call. */
#define BATCH 64

struct on_the_way {
	/* Buffer for the receiver. */
	struct sk_buff *copy;
	/* Buffer of the sender, until the card is done with it. */
	struct sk_buff *original;
};

struct port {
	unsigned int number;
};

struct celltcp_path celltcp_path;
DEFINE_SPINLOCK(celltcp_lock);

static struct net_device *ports[PORTS];
static unsigned int port_count;
static struct on_the_way *packets;
static u32 *unused;
static u32 unused_count;
static struct hrtimer timer;
static u64 armed = CELLTCP_NEVER;

void celltcp_rearm(void)
{
	u64 next = celltcp_path.next();

	if (next == armed)
		return;
	armed = next;
	if (next == CELLTCP_NEVER)
		hrtimer_try_to_cancel(&timer);
	else
		hrtimer_start(&timer, ns_to_ktime(next), HRTIMER_MODE_ABS_SOFT);
}

static void release_original(struct on_the_way *packet)
{
	if (packet->original)
		dev_consume_skb_any(packet->original);
	packet->original = NULL;
}

void celltcp_receive(struct sk_buff *skb, struct net_device *device)
{
	skb->dev = device;
	device->stats.rx_packets++;
	device->stats.rx_bytes += skb->len;
	netif_rx(skb);
}

static void deliver(struct sk_buff *skb, const struct celltcp_verdict *verdict)
{
	struct net_device *device = verdict->port < port_count ? ports[verdict->port] : NULL;

	if (!device || !netif_running(device)) {
		kfree_skb(skb);
		return;
	}
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	if (verdict->congestion)
		INET_ECN_set_ce(skb);
	if (!celltcp_queue(skb, device))
		celltcp_receive(skb, device);
}

/* A buffer with an IPv4 packet of this length, as the receiver's card would have it in memory. */
static struct sk_buff *buffer_of_receiver(unsigned int length)
{
	struct sk_buff *skb = dev_alloc_skb(length);

	if (!skb)
		return NULL;
	skb_put(skb, length);
	skb->protocol = htons(ETH_P_IP);
	skb->pkt_type = PACKET_HOST;
	/* Checksums are left to the card; the wire does not damage packets. */
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	return skb;
}

/* A packet that the path has created is lost where there is no memory for it. */
static void deliver_created(const struct celltcp_verdict *verdict)
{
	struct sk_buff *skb = buffer_of_receiver(verdict->length);

	if (!skb)
		return;
	memcpy(skb->data, verdict->bytes, verdict->length);
	deliver(skb, verdict);
}

static void carry_out(const struct celltcp_verdict *verdict)
{
	struct on_the_way *packet;

	if (verdict->action == CELLTCP_CREATED) {
		deliver_created(verdict);
		return;
	}
	packet = &packets[verdict->packet];
	release_original(packet);
	if (verdict->action == CELLTCP_SENT)
		return;
	if (verdict->action == CELLTCP_DELIVER)
		deliver(packet->copy, verdict);
	else
		kfree_skb(packet->copy);
	packet->copy = NULL;
	unused[unused_count++] = verdict->packet;
}

static enum hrtimer_restart path_event(struct hrtimer *expired)
{
	static struct celltcp_verdict verdicts[BATCH];
	unsigned int count, i;
	u64 next;

	spin_lock_bh(&celltcp_lock);
	do {
		count = celltcp_path.advance(ktime_get_ns(), verdicts, BATCH);
		for (i = 0; i < count; i++)
			carry_out(&verdicts[i]);
	} while (count == BATCH);
	next = celltcp_path.next();
	armed = next;
	if (next != CELLTCP_NEVER)
		hrtimer_set_expires(expired, ns_to_ktime(next));
	spin_unlock_bh(&celltcp_lock);
	return next == CELLTCP_NEVER ? HRTIMER_NORESTART : HRTIMER_RESTART;
}

/* Copies a packet that is sent into a buffer of the receiver. */
static struct sk_buff *copy_for_receiver(const struct sk_buff *skb)
{
	struct sk_buff *copy = buffer_of_receiver(skb->len);

	if (copy && skb_copy_bits(skb, 0, copy->data, skb->len)) {
		kfree_skb(copy);
		return NULL;
	}
	return copy;
}

static netdev_tx_t port_transmit(struct sk_buff *skb, struct net_device *device)
{
	struct port *port = netdev_priv(device);
	struct sk_buff *copy = NULL;
	int taken = -1;
	u32 number;

	if (skb->protocol == htons(ETH_P_IP))
		copy = copy_for_receiver(skb);
	if (!copy)
		goto drop;
	device->stats.tx_packets++;
	device->stats.tx_bytes += skb->len;
	spin_lock_bh(&celltcp_lock);
	if (unused_count) {
		number = unused[--unused_count];
		packets[number].copy = copy;
		packets[number].original = skb;
		taken = celltcp_path.transmit(port->number, number, ktime_get_ns(), copy->data,
					      copy->len);
		if (taken < 0)
			unused[unused_count++] = number;
		else if (taken == 0)
			release_original(&packets[number]);
		celltcp_rearm();
	}
	spin_unlock_bh(&celltcp_lock);
	if (taken >= 0)
		return NETDEV_TX_OK;
	kfree_skb(copy);
drop:
	device->stats.tx_dropped++;
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops port_operations = { .ndo_start_xmit = port_transmit };

void celltcp_setup(struct net_device *device, const struct net_device_ops *operations)
{
	device->netdev_ops = operations;
	device->type = ARPHRD_NONE;
	device->flags = IFF_POINTOPOINT | IFF_NOARP;
	device->mtu = ETH_DATA_LEN;
	device->min_mtu = 68;
	device->max_mtu = IP_MAX_MTU;
	device->tx_queue_len = DEFAULT_TX_QUEUE_LEN;
	/* Checksums are not looked at. The stack splits large segments before it calls the device. */
	device->features = NETIF_F_HW_CSUM | NETIF_F_SG;
	device->hw_features = device->features;
	device->needs_free_netdev = true;
}

void celltcp_setup_timer(struct hrtimer *timer, enum hrtimer_restart (*expired)(struct hrtimer *),
			 enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, expired, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = expired;
#endif
}

static void port_setup(struct net_device *device)
{
	celltcp_setup(device, &port_operations);
}

static int __init create_port(unsigned int number)
{
	struct net_device *device =
		alloc_netdev(sizeof(struct port), "path%d", NET_NAME_ENUM, port_setup);
	int error;

	if (!device)
		return -ENOMEM;
	((struct port *)netdev_priv(device))->number = number;
	error = register_netdev(device);
	if (error)
		free_netdev(device);
	else
		ports[number] = device;
	return error;
}

static int shutting_down(struct notifier_block *block, unsigned long action, void *data)
{
	celltcp_path.close();
	return NOTIFY_DONE;
}

static struct notifier_block reboot = { .notifier_call = shutting_down };

static int __init celltcp_init(void)
{
	int count, error;
	u32 i;

	error = celltcp_load(&celltcp_path);
	if (error)
		return error > 0 ? 0 : -ENOENT;
	packets = vzalloc(array_size(PACKETS, sizeof(*packets)));
	unused = vzalloc(array_size(PACKETS, sizeof(*unused)));
	if (!packets || !unused)
		return -ENOMEM;
	for (i = 0; i < PACKETS; i++)
		unused[i] = PACKETS - 1 - i;
	unused_count = PACKETS;
	celltcp_setup_timer(&timer, path_event, HRTIMER_MODE_ABS_SOFT);
	count = celltcp_path.open(CELLTCP_PATH_ABI);
	if (count <= 0 || count > PORTS) {
		pr_err("celltcp: the path answers %d ports; allowed: 1 to %d\n", count, PORTS);
		return -EINVAL;
	}
	for (port_count = 0; port_count < count; port_count++) {
		error = create_port(port_count);
		if (error)
			return error;
	}
	error = celltcp_queue_init();
	if (error)
		return error;
	register_reboot_notifier(&reboot);
	return celltcp_channel_init();
}
late_initcall(celltcp_init);
