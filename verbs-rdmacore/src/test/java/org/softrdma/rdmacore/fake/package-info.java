/**
 * rdma-core in Java: {@link org.softrdma.rdmacore.fake.FakeVerbsLibrary} fills native memory as the ABI says and moves
 * the data of loopback connections itself, so that the provider runs on a machine without devices, libraries or
 * modules.
 */
@NullMarked
package org.softrdma.rdmacore.fake;

import org.jspecify.annotations.NullMarked;
