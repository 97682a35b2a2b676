/** Tests of FaRM's rings. */
@org.jspecify.annotations.NullMarked
package org.softrdma.farm.transaction;
