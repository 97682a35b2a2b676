package org.softrdma.run.files;

import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.Notification;

/** What opening a character device does. */
public interface DeviceFile {
    /**
     * Answers the call with a new descriptor.
     *
     * @param call open(2) or one of its kind
     * @param closeOnExec whether its flags say so
     * @param nonBlocking likewise
     * @throws CallRefusedException what the program gets instead
     */
    void open(Notification call, boolean closeOnExec, boolean nonBlocking) throws CallRefusedException;

    /** Whether a program's descriptor is of it, though its file is not named after it. */
    default boolean has(int thread, int descriptor) {
        return false;
    }
}
