package org.softrdma.run.rdmacm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.run.rdmacm.ScriptedManager.DONE;
import static org.softrdma.run.rdmacm.ScriptedManager.TCP;
import static org.softrdma.run.rdmacm.ScriptedManager.UDP;
import static org.softrdma.run.rdmacm.ScriptedManager.at;

import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.Verb;
import org.softrdma.fabric.fault.VerbError;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.faults.CardFaults;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.ScriptedKernel;

/** Commands on ids that have no peer. */
class RdmaCmDeviceTest {
    private static final int CHANNEL = 960;

    private final ScriptedManager program = new ScriptedManager();
    private final ScriptedKernel kernel = program.kernel;

    @BeforeEach
    void open() throws CallRefusedException {
        assertEquals(CHANNEL, program.channel());
        assertEquals(List.of("give 1 960 closeOnExec", "answer 1 960"), kernel.answers);
    }

    @AfterEach
    void close() {
        program.close();
    }

    @Test
    void shouldLeaveOtherDescriptorsToOthers() throws CallRefusedException {
        assertFalse(program.device.answer(kernel.call(LinuxCall.WRITE, 961, ScriptedKernel.MEMORY, 8)));
        assertTrue(program.device.has(ScriptedKernel.THREAD, CHANNEL));
        assertFalse(program.device.has(ScriptedKernel.THREAD, 961));
    }

    @Test
    void shouldRefuseWhatIsNoWholeCommand() {
        assertEquals(ErrorNumber.EINVAL, program.write(CHANNEL, 7));
        assertEquals(ErrorNumber.EINVAL, program.command(CHANNEL, 23, 0, 0, to -> {}));
        assertEquals(ErrorNumber.EINVAL, program.command(CHANNEL, -1, 0, 0, to -> {}));
        for (int absent : new int[] {13, 19, 20, 21, 22}) {
            assertEquals(ErrorNumber.ENOSYS, program.command(CHANNEL, absent, 0, 0, to -> {}));
        }
        assertEquals(ErrorNumber.EINVAL, program.command(CHANNEL, 0, 4, 23, to -> {}));
        assertEquals(ErrorNumber.ENOSPC, program.command(CHANNEL, 0, 3, 24, to -> {}));
        kernel.memory().set(ValueLayout.JAVA_SHORT, 4, (short) 24);
        assertEquals(ErrorNumber.EINVAL, program.write(CHANNEL, 31)); // it says that it has one byte more
    }

    /** It can be made again: nothing is done. */
    @Test
    void shouldRefuseTheCallThatAPlanNames() throws CallRefusedException {
        FaultPlan plan = FaultPlan.NONE
                .and(new When.OnVerb(Verb.RDMA_BIND_ADDR, 1), new What.Refuse(VerbError.ENOMEM))
                .and(new When.OnVerb(Verb.RDMA_RESOLVE_ADDR, 1), new What.Refuse(VerbError.ETIMEDOUT));
        CardFaults faults = CardFaults.of(plan, false, 1, line -> {}, System::nanoTime);
        try (ScriptedManager unlucky = new ScriptedManager(
                List.of(ScriptedManager.HERE), new CardSettings(faults, Optional.empty(), counters -> {}))) {
            int channel = unlucky.channel();
            int id = unlucky.create(channel, 7, TCP);
            assertEquals(ErrorNumber.ENOMEM, unlucky.bind(channel, id, at("127.0.0.1", 0)));
            assertEquals(DONE, unlucky.bind(channel, id, at("127.0.0.1", 0)));
            assertEquals(ErrorNumber.ETIMEDOUT, unlucky.resolveAddress(channel, id, at("127.0.0.1", 1)));
            assertEquals(DONE, unlucky.resolveAddress(channel, id, at("127.0.0.1", 1)));
        }
    }

    /** No id is left that nobody knows. */
    @Test
    void shouldRefuseAnAnswerWhereThereIsNoMemory() {
        int errno = program.command(CHANNEL, 0, 4, 24, to -> {
            to.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, 1);
            ScriptedManager.set(to, 16, TCP);
        });
        assertEquals(ErrorNumber.EFAULT, errno);
        int next = program.create(CHANNEL, 7, TCP);
        assertEquals(ErrorNumber.ENOENT, program.withId(CHANNEL, 1, next - 1));
    }

    @Test
    void shouldRefusePortSpacesOfInfiniBandSoThatLibrariesFallBack() {
        assertEquals(ErrorNumber.EINVAL, program.tryCreate(CHANNEL, 7, 0x013F));
        int id = program.create(CHANNEL, 7, TCP);
        int errno = program.command(CHANNEL, 2, 0, 40, to -> {
            ScriptedManager.set(to, 8, 27); // AF_IB
            ScriptedManager.set(to, 36, id);
        });
        assertEquals(ErrorNumber.EAFNOSUPPORT, errno);
    }

    @Test
    void shouldRefuseIdsOfNobodyAndOfOtherChannels() throws CallRefusedException {
        int id = program.create(CHANNEL, 7, TCP);
        int other = program.channel();
        assertEquals(ErrorNumber.EINVAL, program.withId(other, 1, id));
        assertEquals(ErrorNumber.ENOENT, program.withId(CHANNEL, 1, id + 1));
        assertEquals(0, program.destroy(CHANNEL, id));
        assertEquals(ErrorNumber.ENOENT, program.withId(CHANNEL, 1, id));
    }

    @Test
    void shouldRefuseStatesThatLinuxRefuses() {
        int id = program.create(CHANNEL, 7, TCP);
        assertEquals(ErrorNumber.EINVAL, program.resolveRoute(CHANNEL, id));
        assertEquals(ErrorNumber.EINVAL, program.connect(CHANNEL, id, 17, ""));
        assertEquals(ErrorNumber.EINVAL, program.accept(CHANNEL, id, 7, 17, ""));
        assertEquals(ErrorNumber.EINVAL, program.reject(CHANNEL, id, ""));
        assertEquals(ErrorNumber.EINVAL, program.disconnect(CHANNEL, id));
        assertEquals(ErrorNumber.EINVAL, program.simple(CHANNEL, 15, id, 4));
        assertEquals(ErrorNumber.EINVAL, program.attributes(CHANNEL, id, 1)); // it has no device
        assertEquals(DONE, program.bind(CHANNEL, id, at("127.0.0.1", 0)));
        assertEquals(ErrorNumber.EINVAL, program.bind(CHANNEL, id, at("127.0.0.1", 0)));
        assertEquals(ErrorNumber.EINVAL, program.attributes(CHANNEL, id, 7));
        assertEquals(DONE, program.attributes(CHANNEL, id, 1));
        assertEquals(1 | 1 << 3 | 1 << 4 | 1 << 5, program.answer(0));
        assertEquals(DONE, program.resolveAddress(CHANNEL, id, at("127.0.0.1", 1)));
        assertEquals(ErrorNumber.EINVAL, program.resolveAddress(CHANNEL, id, at("127.0.0.1", 1)));
        assertEquals(ErrorNumber.EINVAL, program.listen(CHANNEL, id, 1));
    }

    @Test
    void shouldGiveAPortToOneIdOfAPortSpace() {
        int first = program.create(CHANNEL, 7, TCP);
        assertEquals(DONE, program.bind(CHANNEL, first, at("0.0.0.0", 7471)));
        int second = program.create(CHANNEL, 8, TCP);
        assertEquals(ErrorNumber.EADDRINUSE, program.bind(CHANNEL, second, at("127.0.0.1", 7471)));
        assertEquals(ErrorNumber.EADDRNOTAVAIL, program.bind(CHANNEL, second, at("192.0.2.1", 7471)));
        int ofDatagrams = program.create(CHANNEL, 9, UDP);
        assertEquals(DONE, program.bind(CHANNEL, ofDatagrams, at("127.0.0.1", 7471)));
        assertEquals(0, program.destroy(CHANNEL, first));
        assertEquals(DONE, program.bind(CHANNEL, second, at("127.0.0.1", 7471)));
    }

    @Test
    void shouldLetIdsShareAPortOfWhichOneListens() {
        int first = program.create(CHANNEL, 7, TCP);
        int second = program.create(CHANNEL, 8, TCP);
        for (int id : new int[] {first, second}) {
            assertEquals(ErrorNumber.EINVAL, option(id, 1, 1));
            assertEquals(DONE, option(id, 1, 4));
            assertEquals(DONE, program.bind(CHANNEL, id, at("127.0.0.1", 7472)));
        }
        assertEquals(DONE, program.listen(CHANNEL, first, 1));
        assertEquals(ErrorNumber.EADDRINUSE, program.listen(CHANNEL, second, 1));
        assertEquals(ErrorNumber.ENOSYS, option(second, 9, 4));
    }

    private int option(int id, int name, int length) {
        return program.command(CHANNEL, 14, 0, 24, to -> {
            ScriptedManager.answerAt(to, 0, ScriptedManager.ANSWER);
            kernel.memory().set(ValueLayout.JAVA_INT, ScriptedManager.ANSWER, 1);
            ScriptedManager.set(to, 8, id);
            ScriptedManager.set(to, 16, name);
            ScriptedManager.set(to, 20, length);
        });
    }

    @Test
    void shouldSayThatThereIsNoWay() {
        int id = program.create(CHANNEL, 7, TCP);
        assertEquals(DONE, program.bind(CHANNEL, id, at("127.0.0.1", 0)));
        assertEquals(ErrorNumber.EINVAL, program.resolveAddress(CHANNEL, id, at("::1", 1))); // another family
        int other = program.create(CHANNEL, 8, TCP);
        assertEquals(DONE, program.resolveAddress(CHANNEL, other, at("255.255.255.255", 1)));
        assertEquals(8, program.next(CHANNEL, 1, -ErrorNumber.ENETUNREACH).name());
    }

    @Test
    void shouldTellTheRoute() {
        int id = program.resolved(CHANNEL, 7, TCP, 0x1234);
        assertEquals(DONE, program.withId(CHANNEL, 5, id, 0, 208));
        String gid = "00000000000000000000ffff7f000001";
        assertEquals("0250fffe7f000001" + gid + gid, kernel.hex(ScriptedManager.ANSWER, 40));
        assertEquals(5, program.answer(56));
        assertEquals("0200", kernel.hex(ScriptedManager.ANSWER + 136, 2));
        assertEquals("02001234" + "7f000001", kernel.hex(ScriptedManager.ANSWER + 164, 8));
        assertEquals(1, program.answer(192));
        assertEquals(1, program.answerByte(196));
        assertEquals(DONE, program.withId(CHANNEL, 5, id, 0, 200)); // an older librdmacm
        assertEquals(ErrorNumber.ENOSPC, program.withId(CHANNEL, 5, id, 0, 199));
    }

    @Test
    void shouldSayThatThereIsNoEventToWhoeverDoesNotWait() {
        assertEquals(ErrorNumber.EAGAIN, program.getEvent(CHANNEL));
        assertEquals(ErrorNumber.ENOSPC, program.command(CHANNEL, 12, 323, 8, to -> {}));
    }

    /** As open(2) is told, before any fcntl(2). */
    @Test
    void shouldOpenAChannelThatWaitsForNothing() throws CallRefusedException {
        kernel.answers.clear();
        program.device.open(kernel.call(LinuxCall.OPENAT), true, true);
        assertEquals("set non-blocking", kernel.answers.getFirst());
    }

    @Test
    void shouldAnswerWhoeverWaitsOnceThereIsAnEvent() {
        kernel.statusFlags = 0;
        int id = program.create(CHANNEL, 7, TCP);
        kernel.answers.clear();
        assertEquals(DONE, program.getEvent(CHANNEL));
        assertEquals(List.of(), kernel.answers);
        assertEquals(DONE, program.resolveAddress(CHANNEL, id, at("127.0.0.1", 1)));
        assertEquals(2, kernel.answers.size(), kernel.answers::toString);
        assertTrue(kernel.answers.getLast().endsWith(" 16"), kernel.answers::toString); // bytes that were written
        assertEquals(-1, kernel.event(CHANNEL)); // poll does not say that there is one
        assertEquals(1, program.destroy(CHANNEL, id));
    }

    @Test
    void shouldKeepAnEventThatAProgramCannotRead() {
        int id = program.create(CHANNEL, 7, TCP);
        assertEquals(DONE, program.resolveAddress(CHANNEL, id, at("127.0.0.1", 1)));
        kernel.answers.clear();
        assertEquals(DONE, program.command(CHANNEL, 12, 336, 8, to -> to.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 1)));
        assertTrue(kernel.answers.getLast().startsWith("refuse"), kernel.answers::toString);
        assertEquals(7, program.next(CHANNEL, 0, 0).name());
    }

    @Test
    void shouldTellPollWhetherThereAreEvents() {
        int id = program.create(CHANNEL, 7, TCP);
        int other = program.create(CHANNEL, 8, TCP);
        assertEquals(DONE, program.resolveAddress(CHANNEL, id, at("127.0.0.1", 1)));
        assertEquals(DONE, program.resolveAddress(CHANNEL, other, at("127.0.0.1", 1)));
        assertEquals(0, program.destroy(CHANNEL, id)); // its event was not read
        assertEquals(8, program.next(CHANNEL, 0, 0).name());
        assertEquals(-1, kernel.event(CHANNEL));
        assertEquals(ErrorNumber.EAGAIN, program.getEvent(CHANNEL));
        assertEquals(DONE, program.resolveRoute(CHANNEL, other));
        assertEquals(1, kernel.event(CHANNEL));
        assertEquals(1, program.destroy(CHANNEL, other));
    }

    @Test
    void shouldMoveAnIdWithItsEvents() throws CallRefusedException {
        int id = program.create(CHANNEL, 7, TCP);
        assertEquals(DONE, program.resolveAddress(CHANNEL, id, at("127.0.0.1", 1)));
        int other = program.channel();
        assertEquals(ErrorNumber.EINVAL, program.withId(other, 18, id, 5, 4)); // no channel
        assertEquals(DONE, program.withId(other, 18, id, CHANNEL, 4));
        assertEquals(0, program.answer(0));
        assertEquals(ErrorNumber.EAGAIN, program.getEvent(CHANNEL));
        assertEquals(-1, kernel.event(CHANNEL));
        assertEquals(7, program.next(other, 0, 0).name());
        assertEquals(ErrorNumber.EINVAL, program.withId(CHANNEL, 1, id));
        assertEquals(1, program.destroy(other, id));
    }

    @Test
    void shouldForgetAChannelThatNobodyHas() {
        int id = program.create(CHANNEL, 7, TCP);
        assertEquals(DONE, program.bind(CHANNEL, id, at("127.0.0.1", 7473)));
        assertEquals(DONE, program.listen(CHANNEL, id, 1));
        assertEquals(1, program.device.channels());
        kernel.abandoned.addAll(kernel.open);
        assertEquals(0, program.device.channels());
        assertTrue(kernel.open.isEmpty(), () -> "left open: " + kernel.open);
    }
}
