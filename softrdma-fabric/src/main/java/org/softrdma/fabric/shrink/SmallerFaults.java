package org.softrdma.fabric.shrink;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;

/** Faults that are simpler than another one: happening once, surely, sooner, shorter. Any thread. */
final class SmallerFaults {
    private SmallerFaults() {}

    /** Simpler ones, the simplest first. */
    static List<Fault> of(Fault fault) {
        List<Fault> all = new ArrayList<>();
        if (fault.times() > 1) {
            all.add(new Fault(fault.when(), fault.what(), fault.perMille(), 1, fault.skipped()));
        }
        if (fault.perMille() < Fault.ALWAYS) {
            all.add(new Fault(fault.when(), fault.what(), Fault.ALWAYS, fault.times(), fault.skipped()));
        }
        for (long skipped : smaller(fault.skipped(), 0)) {
            all.add(new Fault(fault.when(), fault.what(), fault.perMille(), fault.times(), (int) skipped));
        }
        for (When when : of(fault.when())) {
            all.add(new Fault(when, fault.what(), fault.perMille(), fault.times(), fault.skipped()));
        }
        for (What what : of(fault.what())) {
            all.add(new Fault(fault.when(), what, fault.perMille(), fault.times(), fault.skipped()));
        }
        return all;
    }

    private static List<When> of(When when) {
        return switch (when) {
            case When.AfterBytes(String from, String to, long bytes, int connection) ->
                smaller(bytes, 0).stream()
                        .map(less -> (When) new When.AfterBytes(from, to, less, connection))
                        .toList();
            case When.OnMessage(var from, var to, var kind, int number, int connection) ->
                smaller(number, 1).stream()
                        .map(less -> (When) new When.OnMessage(from, to, kind, less.intValue(), connection))
                        .toList();
            case When.OnDatagram(String from, String to, int number) ->
                smaller(number, 1).stream()
                        .map(less -> (When) new When.OnDatagram(from, to, less.intValue()))
                        .toList();
            case When.OnPacket(var from, var to, var kind, int number) ->
                smaller(number, 1).stream()
                        .map(less -> (When) new When.OnPacket(from, to, kind, less.intValue()))
                        .toList();
            case When.AtTime(long ns) ->
                smaller(ns, 0).stream()
                        .map(less -> (When) new When.AtTime(less))
                        .toList();
            case When.OnRequest _, When.ForVerbs _ -> List.of();
        };
    }

    private static List<What> of(What what) {
        return switch (what) {
            case What.Delay(long ns) ->
                smaller(ns, 1).stream().map(less -> (What) new What.Delay(less)).toList();
            case What.Stall(long ns)
            when ns != What.FOREVER ->
                smaller(ns, 1).stream().map(less -> (What) new What.Stall(less)).toList();
            case What.Partition(String one, String other, long ns) ->
                smaller(ns, 1).stream()
                        .map(less -> (What) new What.Partition(one, other, less))
                        .toList();
            case What.Pause(String node, long ns, boolean devices) ->
                smaller(ns, 1).stream()
                        .map(less -> (What) new What.Pause(node, less, devices))
                        .toList();
            case What _ -> List.of();
        };
    }

    /** The least, a half, and a tenth less. */
    private static List<Long> smaller(long number, long least) {
        List<Long> all = new ArrayList<>();
        for (long less : new long[] {least, number / 2, number - Math.max(1, number / 10)}) {
            if (less >= least && less < number && !all.contains(less)) {
                all.add(less);
            }
        }
        return all;
    }
}
