/** Tests of FaRM's store. */
@org.jspecify.annotations.NullMarked
package org.softrdma.farm.store;
