package org.softrdma.sanitiser;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Findings;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** What docs/guide/sanitiser.md shows; DocumentationTest (cli) keeps the two equal. */
class SanitiserGuideTest {
    @Test
    void shouldWrapADevice() {
        // docs: wrap
        Findings findings = new Findings();
        Sanitiser sanitiser = new Sanitiser(findings);
        try (VerbsDevice device = sanitiser.wrap(VerbsProviders.named("sim").open(Map.of()));
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(16)) {
            // the program under test
            // docs: end
            assertTrue(domain.toString().length() + completions.entries() > 0);
            // docs: judge
        }
        assertEquals(0, findings.count(), findings::toString);
        assertTrue(sanitiser.openObjects().isEmpty(), sanitiser.openObjects()::toString);
        // docs: end
    }

    @Test
    void shouldSayWhatWasFound() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            QueuePair requester = pair.requester;
            MemoryRegion source = pair.region(64);
            RemoteRegion target = pair.region(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)
                    .remote();
            // docs: touch
            requester.postWrite(7, source, 0, 64, target.address(), target.rkey(), SendFlags.SIGNALLED);
            source.memory().fill((byte) 1); // too early: the completion was not polled
            // docs: end
            pair.completion(pair.requesterQueue);
            Finding found = pair.finding();
            for (String line : new String[] {
                "SOURCE_TOUCHED: its buffer changed between the post and the completion, first at byte 0",
                "\n  queue pair: queue pair ",
                "\n  peer: queue pair ",
                "\n  request: WRITE with wrId 7, posted at org.softrdma.sanitiser.SanitiserGuideTest.",
                "\n  buffer: 64 bytes at offset 0 of the region with lkey 0x",
                "\n  rule: The buffer of a SEND or WRITE belongs to the device until its completion was polled.",
                "\n  instead: Wait for the completion, use another buffer, or post with INLINE."
            }) {
                assertTrue(found.text().contains(line), () -> line + " not in " + found.text());
            }
        }
    }
}
