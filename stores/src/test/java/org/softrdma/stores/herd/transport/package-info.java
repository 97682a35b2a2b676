/** Tests of what carries requests and answers. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.herd.transport;
