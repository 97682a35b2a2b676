/** Tests of what designs share in order to connect. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.connection;
