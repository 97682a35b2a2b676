/** What tests of several modules use: a JVM of its own, a full heap, contents. Runs on the test's thread. */
package org.softrdma.net.peer;
