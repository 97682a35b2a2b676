#!/usr/bin/env python3
"""The cable of the suite 90-roce: Ethernet between a tap of this network namespace and qemu's network card (-netdev socket),
which loses what it is told to lose.

    cable.py TAP CARD_PORT CONTROL_PORT      both on 127.0.0.1

A line to the control port, and the answer:
    lose COUNT KIND host|guest    the next messages of that kind that come from there; KIND is one of KINDS
    loss PERMILLE SEED            so many of a thousand packets of RoCE, either way; 0 for none
    cut | join                    everything is lost; nothing is
    lost                          how many of each kind were lost, as "host:REQ=1 guest:REP=1 packets=7"
    forget                        nothing was lost, nothing is to be lost
"""
import collections
import fcntl
import os
import random
import selectors
import socket
import struct
import sys

ROCE_PORT = 4791
KINDS = {0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP", 0x17: "SIDR_REQ", 0x18: "SIDR_REP"}
TUNSETIFF = 0x400454CA
IFF_TAP_NO_PI = 0x1002
LARGEST = 1 << 16


def kind_of(frame):
    """KIND of a message of the connection manager, "packet" of another packet of RoCE, None of any other frame."""
    protocol = struct.unpack_from(">H", frame, 12)[0]
    if protocol == 0x0800:
        udp, is_udp = 14 + (frame[14] & 15) * 4, frame[23] == 17
    elif protocol == 0x86DD:
        udp, is_udp = 54, frame[20] == 17
    else:
        return None
    if not is_udp or ROCE_PORT not in struct.unpack_from(">HH", frame, udp):
        return None
    bth = udp + 8
    if int.from_bytes(frame[bth + 5:bth + 8], "big") != 1:
        return "packet"
    attribute = bth + 12 + 8 + 16
    return KINDS.get(struct.unpack_from(">H", frame, attribute)[0], "packet")


class Cable:
    def __init__(self, tap, card_port, control_port):
        self.selector = selectors.DefaultSelector()
        self.to_lose = collections.Counter()
        self.lost = collections.Counter()
        self.permille, self.random, self.is_cut = 0, random.Random(0), False
        self.tap = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.tap, TUNSETIFF, struct.pack("16sH22x", tap.encode(), IFF_TAP_NO_PI))
        self.card, self.pending = None, b""
        self.watch(self.tap, self.from_host)
        self.listen(card_port, self.plug)
        self.listen(control_port, self.command)

    def watch(self, what, action):
        self.selector.register(what, selectors.EVENT_READ, action)

    def listen(self, port, action):
        listener = socket.create_server(("127.0.0.1", port))
        self.watch(listener, lambda: action(listener.accept()[0]))

    def plug(self, card):
        self.unplug()
        self.card, self.pending = card, b""
        card.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.watch(card, self.from_guest)

    def unplug(self):
        if self.card:
            self.selector.unregister(self.card)
            self.card.close()
            self.card = None

    def is_lost(self, frame, end):
        kind = kind_of(frame)
        if self.is_cut:
            return True
        if kind is None:
            return False
        if self.to_lose[end, kind] > 0:
            self.to_lose[end, kind] -= 1
            self.lost[end + ":" + kind] += 1
            return True
        if self.random.randrange(1000) < self.permille:
            self.lost["packets"] += 1
            return True
        return False

    def from_host(self):
        frame = os.read(self.tap, LARGEST)
        if self.card and not self.is_lost(frame, "host"):
            self.card.sendall(struct.pack(">I", len(frame)) + frame)

    def from_guest(self):
        try:
            data = self.card.recv(LARGEST)
        except OSError:
            data = b""
        if not data:
            self.unplug()
            return
        self.pending += data
        at = 0
        while len(self.pending) >= at + 4:
            end = at + 4 + struct.unpack_from(">I", self.pending, at)[0]
            if len(self.pending) < end:
                break
            frame = self.pending[at + 4:end]
            if not self.is_lost(frame, "guest"):
                os.write(self.tap, frame)
            at = end
        self.pending = self.pending[at:]

    def command(self, control):
        with control:
            words = control.makefile().readline().split()
            answer = "ok"
            if words[0] == "lose":
                self.to_lose[words[3], words[2]] += int(words[1])
            elif words[0] == "loss":
                self.permille, self.random = int(words[1]), random.Random(int(words[2]))
            elif words[0] in ("cut", "join"):
                self.is_cut = words[0] == "cut"
            elif words[0] == "lost":
                answer = " ".join("%s=%d" % each for each in sorted(self.lost.items())) or "nothing"
            elif words[0] == "forget":
                self.lost.clear()
                self.to_lose.clear()
            else:
                answer = "unknown: " + " ".join(words)
            control.sendall((answer + "\n").encode())

    def run(self):
        print("ready", flush=True)
        while True:
            for key, _ in self.selector.select():
                key.data()


Cable(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])).run()
