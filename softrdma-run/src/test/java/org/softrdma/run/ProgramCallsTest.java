package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.ScriptedKernel;

class ProgramCallsTest {
    private static final int LAUNCHER = 1;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final ProgramCalls calls = new ProgramCalls(
            kernel,
            Architecture.X86_64,
            DescriptorRange.below(1024),
            RxeDevice.of(List.of(new GidEntry(InetAddress.getLoopbackAddress(), "lo")), 65_536),
            CardSettings.usual(),
            Arena.ofAuto());

    private String answerTo(LinuxCall which, long... arguments) {
        var ignored = kernel.call(which, arguments);
        kernel.answers.clear();
        assertFalse(calls.answerNext(LAUNCHER));
        return kernel.answers.getLast().replaceFirst(" \\d+", "");
    }

    @Test
    void shouldAnswerByWhoeverTheCallConcerns() {
        assertEquals(
                "give 3 answer",
                answerTo(LinuxCall.OPEN, kernel.text(0, "/sys/class/infiniband_verbs/abi_version"), 0));
        assertEquals(
                "give 960 closeOnExec answer",
                answerTo(LinuxCall.OPEN, kernel.text(0, "/dev/infiniband/uverbs0"), 02000002));
        assertEquals("refuse 14", answerTo(LinuxCall.IOCTL, 960, 0xC018_1B01L, 0));
        assertEquals("pass", answerTo(LinuxCall.CLOSE, 1));
    }

    /** A channel is a pipe; a library closes what is no character device. */
    @Test
    void shouldSayThatAChannelIsACharacterDevice() {
        assertEquals("answer 960", answerTo(LinuxCall.OPEN, kernel.text(0, "/dev/infiniband/rdma_cm"), 02000002));
        long empty = kernel.text(0, "");
        assertEquals("answer 0", answerTo(LinuxCall.NEWFSTATAT, 960, empty, empty + 64, 010000));
        assertEquals(0020666, kernel.memory().get(ValueLayout.JAVA_INT, 64 + 24));
        assertEquals("answer 0", answerTo(LinuxCall.FSTAT, 960, empty + 64));
        assertEquals("refuse 22", answerTo(LinuxCall.WRITE, 960, empty, 7)); // no command
    }

    /** The command in the form INVOKE_WRITE, with its number and room for the answer. */
    private void getContext() {
        MemorySegment page = kernel.memory().fill((byte) 0);
        page.set(ValueLayout.JAVA_SHORT, 6, (short) 2);
        page.set(ValueLayout.JAVA_INT, 24, 2 | 4 << 16);
        page.set(ValueLayout.JAVA_INT, 40, 1 | 8 << 16);
        page.set(ValueLayout.JAVA_LONG, 48, ScriptedKernel.MEMORY + 512);
        assertEquals("answer 0", answerTo(LinuxCall.IOCTL, 960, 0xC018_1B01L, ScriptedKernel.MEMORY));
    }

    @Test
    void shouldRefuseWhatIsNoDoorbell() {
        assertEquals("give 960 answer", answerTo(LinuxCall.OPEN, kernel.text(0, "/dev/infiniband/uverbs0"), 2));
        assertEquals("refuse 95", answerTo(LinuxCall.WRITE, 960, kernel.text(0, "28"), 32)); // no context yet
        getContext();
        assertEquals("refuse 14", answerTo(LinuxCall.WRITE, 960, 0, 32)); // where there is no memory
        assertEquals("refuse 22", answerTo(LinuxCall.WRITE, 960, kernel.text(0, "28"), 2));
        assertEquals(
                "refuse 95", answerTo(LinuxCall.WRITE, 960, kernel.text(0, "another command, at least so long"), 32));
        assertEquals("pass", answerTo(LinuxCall.WRITE, 961, 0, 32));
    }

    @Test
    void shouldAnswerACallThatFailsHere() {
        kernel.broken = true;
        assertEquals("refuse 5", answerTo(LinuxCall.LSEEK, 960, 0, 0));
    }

    @Test
    void shouldEndWithTheLaunchersLastCall() {
        var ignored = kernel.call(LinuxCall.LSEEK, 960, 0, 0);
        assertTrue(calls.answerNext(ScriptedKernel.THREAD));
        assertEquals(List.of("pass 1"), kernel.answers);
    }
}
