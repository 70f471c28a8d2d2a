// SPDX-License-Identifier: GPL-2.0-only
/* Loader of the path, compiled against the host's C library. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "path.h"

int celltcp_load(struct celltcp_path *path)
{
	const char *file = getenv("CELLTCP_PATH");
	void *object;

	if (!file)
		return 1;
	object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!object) {
		fprintf(stderr, "celltcp: %s\n", dlerror());
		return -1;
	}
	path->open = dlsym(object, "celltcp_path_open");
	path->transmit = dlsym(object, "celltcp_path_transmit");
	path->next = dlsym(object, "celltcp_path_next");
	path->advance = dlsym(object, "celltcp_path_advance");
	path->write = dlsym(object, "celltcp_path_write");
	path->read = dlsym(object, "celltcp_path_read");
	path->close = dlsym(object, "celltcp_path_close");
	if (!path->open || !path->transmit || !path->next || !path->advance || !path->write ||
	    !path->read || !path->close) {
		fprintf(stderr, "celltcp: %s is not a path\n", file);
		return -1;
	}
	return 0;
}
