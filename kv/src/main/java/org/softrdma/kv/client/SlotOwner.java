package org.softrdma.kv.client;

/** Who waits for what becomes of a slot of a {@link RemoteReader}. Called by the thread of the client. */
interface SlotOwner {
    /** The request whose limits count, and that fails with the connection. */
    Pending request();

    /**
     * A READ into the slot is done.
     *
     * @param slot its number
     * @param outcome what it has brought
     */
    void read(int slot, ReadOutcome outcome);

    /**
     * The server has answered an rget into the slot.
     *
     * @param slot its number
     * @param status of the {@link org.softrdma.kv.message.AnswerDescriptor}
     */
    void answered(int slot, int status);
}
