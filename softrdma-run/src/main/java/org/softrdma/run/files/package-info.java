/**
 * Files that a program sees and that no file system has: sysfs and the devices of RDMA. A directory or file that is opened is a file in
 * memory, named after its path, so whatever descriptor the program has, by fork, dup or exec, the kernel tells what it is; nothing is kept
 * here, and nothing is left behind. Read {@link org.softrdma.run.files.FileCalls} first. Runs on the thread that answers calls.
 */
@NullMarked
package org.softrdma.run.files;

import org.jspecify.annotations.NullMarked;
