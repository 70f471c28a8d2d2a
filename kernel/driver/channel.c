// SPDX-License-Identifier: GPL-2.0-only
/* Device /dev/celltcp: what is written is a message to the path, what is read is its answer. */
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "wire.h"

/* Longest message in bytes; the guest splits longer ones. */
#define MESSAGE_MAX (64 * 1024)

static ssize_t channel_write(struct file *file, const char __user *from, size_t length,
			     loff_t *offset)
{
	unsigned char *message;
	long long done;

	if (length > MESSAGE_MAX)
		return -EMSGSIZE;
	message = memdup_user(from, length);
	if (IS_ERR(message))
		return PTR_ERR(message);
	spin_lock_bh(&celltcp_lock);
	done = celltcp_path.write(ktime_get_ns(), message, length);
	celltcp_rearm();
	spin_unlock_bh(&celltcp_lock);
	kfree(message);
	return done;
}

static ssize_t channel_read(struct file *file, char __user *to, size_t length, loff_t *offset)
{
	unsigned char *answer;
	long long done;

	length = min_t(size_t, length, MESSAGE_MAX);
	answer = kmalloc(length, GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	spin_lock_bh(&celltcp_lock);
	done = celltcp_path.read(ktime_get_ns(), answer, length);
	spin_unlock_bh(&celltcp_lock);
	if (done > 0 && copy_to_user(to, answer, done))
		done = -EFAULT;
	kfree(answer);
	return done;
}

static const struct file_operations channel_operations = {
	.owner = THIS_MODULE,
	.write = channel_write,
	.read = channel_read,
};

static struct miscdevice channel = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "celltcp",
	.fops = &channel_operations,
};

int __init celltcp_channel_init(void)
{
	return misc_register(&channel);
}
