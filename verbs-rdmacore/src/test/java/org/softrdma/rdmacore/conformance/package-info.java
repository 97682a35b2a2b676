/** The conformance suite against the provider on a fake rdma-core: everything but the C libraries and the kernel. */
@NullMarked
package org.softrdma.rdmacore.conformance;

import org.jspecify.annotations.NullMarked;
