package org.softrdma.run;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.LoopGuard;
import org.softrdma.run.card.Card;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.card.EventWriter;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.device.RxeTree;
import org.softrdma.run.files.DeviceFile;
import org.softrdma.run.files.FileCalls;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.MemoryPause;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;
import org.softrdma.run.rdmacm.RdmaCmDevice;
import org.softrdma.run.uverbs.UverbsDevice;

/**
 * Answers a program's calls, one after the other. Each call gets one answer, whatever happens here: a program that waits for ever would be
 * worse than one whose call fails. Runs on the thread that answers calls.
 */
final class ProgramCalls {
    private static final System.Logger LOG = System.getLogger(ProgramCalls.class.getName());

    private final ProgramKernel kernel;
    private final Architecture architecture;
    private final Notification call;
    private final FileCalls files;
    private final Card card;
    private final UverbsDevice verbs;
    private final RdmaCmDevice manager;
    /** Made before it is needed. */
    private final Runnable refusal;

    ProgramCalls(
            ProgramKernel kernel,
            Architecture architecture,
            DescriptorRange range,
            RxeDevice device,
            CardSettings settings,
            Arena arena) {
        this.kernel = kernel;
        this.architecture = architecture;
        call = new Notification(arena.allocate(Notification.LENGTH, Long.BYTES));
        refusal = () -> kernel.refuse(call.id(), ErrorNumber.ENOMEM);
        card = new Card(device, kernel.listener(), settings);
        EventWriter pipes = new EventWriter(architecture);
        verbs = new UverbsDevice(kernel, range, device, card, pipes, arena);
        manager = new RdmaCmDevice(kernel, range, device, card, pipes, arena);
        Map<String, DeviceFile> devices = Map.of(UverbsDevice.PATH, verbs, RdmaCmDevice.PATH, manager);
        files = new FileCalls(
                kernel, architecture, range, RxeTree.of(device, settings.faults()::isPortDown), devices, arena);
        MemoryPause.pause(); // when it is needed, there is no memory to load it
    }

    /**
     * Answers until a thread seeks in a file, on a descriptor of ours.
     *
     * @param last number of that thread
     */
    void answerAll(int last) {
        boolean ended = false;
        while (!ended) {
            try {
                ended = answerNext(last);
            } catch (Error e) { // a class may have been needed for the first time, too
                MemoryPause.pause(); // none to look for a call
            }
        }
    }

    /** Ends what programs have left. */
    void close() {
        manager.close();
        verbs.close();
        card.close();
    }

    /** Waits for a call and answers it; true for the last one. */
    boolean answerNext(int last) {
        if (!awaitCall() || !kernel.receive(call)) {
            return false;
        }
        LinuxCall which = architecture.call(call.number());
        boolean isLast = call.thread() == last && which == LinuxCall.LSEEK;
        answer(isLast ? null : which);
        return isLast;
    }

    /**
     * The card works meanwhile, and what nobody has any more ends. Whatever has failed in the card, for want of memory for one, it works
     * on: waiting for a call would stop it.
     *
     * @return false if there may be none
     */
    private boolean awaitCall() {
        try {
            while (!card.awaitCall()) {
                verbs.forgetContexts();
                manager.forgetChannels();
            }
            return true;
        } catch (RuntimeException | Error e) {
            report(null, e);
            return kernel.hasCall();
        }
    }

    /**
     * A call for which there is no memory waits until there is some, but not for ever; a command of uverbs that has begun may have made
     * half of what it is to make, and is not tried again.
     */
    private void answer(@Nullable LinuxCall which) {
        for (int i = 0; i < MemoryPause.MOST; i++) {
            try {
                answerOnce(which);
                return;
            } catch (OutOfMemoryError e) {
                if (which == LinuxCall.IOCTL && verbs.changes()) {
                    break;
                }
                MemoryPause.pause();
            }
        }
        LoopGuard.insist(refusal);
    }

    private void answerOnce(@Nullable LinuxCall which) {
        try {
            if (which == null) {
                kernel.pass(call.id());
            } else if (which == LinuxCall.IOCTL) {
                verbs.answer(call);
            } else if (which != LinuxCall.WRITE || !(verbs.ring(call) || manager.answer(call))) {
                files.answer(call, which);
            }
        } catch (CallRefusedException e) {
            kernel.refuse(call.id(), e.errno());
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (RuntimeException | Error e) {
            kernel.refuse(call.id(), ErrorNumber.EIO);
            report(which, e);
        }
    }

    /** Where there is no memory to answer, there may be none to tell of it; the thread goes on. */
    private static void report(@Nullable LinuxCall which, Throwable failure) {
        try {
            LOG.log(Level.ERROR, "a call of the program failed here: " + which, failure);
        } catch (Error e) { // or a class that telling needs could not be loaded
            return;
        }
    }
}
