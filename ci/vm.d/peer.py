#!/usr/bin/python3
"""The scripted peer of the interoperation suites: a program on the kernel's verbs and rdma_cm (pyverbs) that does what the
other end asks for by messages. The messages are those of org.softrdma.testkit.interop.ScriptMessage.

    peer.py listen PORT                      serves one connection after the other until it is killed
    peer.py connect HOST PORT HOW...         connects once for each HOW, a number: with so many bytes of private data 0, 1, 2, ...,
                                             which must come back; or "reject": asks for a reject and expects one, with a reason
A listening peer sends the private data of a request back in its reply; it rejects a request whose private data begins with
"reject:", with the rest of it as its reason. PEER_ADDRESS is the address of this end (10.0.2.15). Messages of RoCE have a fixed
length: zeros are behind the private data.
"""
import os
import random
import struct
import sys
import zlib

import pyverbs.cm_enums as ce
import pyverbs.enums as e
from pyverbs.cmid import CMEvent, CMEventChannel, CMID, AddrInfo, ConnParam
from pyverbs.mr import MR
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QPCap, QPInitAttr

ADDRESS = os.environ.get("PEER_ADDRESS", "10.0.2.15")
BUFFER = 1 << 20
PAGE = 4096
PADDED = (56, 148, 196)  # lengths of private data in REQ, REJ and REP of RoCE
RECEIVES = 3
DEPTH = 16
MESSAGE = struct.Struct(">QQQQ")
GREETING, REGION, FILL, CHECKSUM, READ, WRITE, SEND, RECEIVE, LEAVE = range(9)


def say(*words):
    print(*words, flush=True)


class Broken(Exception):
    """The connection ended."""


class Memory:
    """What is registered once for all connections."""

    def __init__(self, pd):
        everything = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_WRITE
        self.regions = [
            MR(pd, BUFFER, everything),
            MR(pd, PAGE, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ),
            MR(pd, PAGE, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE),
        ]
        self.lengths = [BUFFER, PAGE, PAGE]
        self.open = self.regions[0]
        self.inbox = [MR(pd, BUFFER, e.IBV_ACCESS_LOCAL_WRITE) for _ in range(RECEIVES)]
        self.reply = MR(pd, MESSAGE.size, e.IBV_ACCESS_LOCAL_WRITE)

    def checksum(self, length):
        return zlib.crc32(self.open.read(length, 0))


class Connection:
    def __init__(self, cmid, memory):
        self.cmid = cmid
        self.memory = memory
        self.received = 0
        cmid.create_qp(QPInitAttr(qp_type=e.IBV_QPT_RC, cap=QPCap(max_send_wr=8, max_recv_wr=8)))
        for region in memory.inbox:
            cmid.post_recv(region)

    def sent(self, what):
        completion = self.cmid.get_send_comp()
        if completion.status != e.IBV_WC_SUCCESS:
            say(what, "ended with status", completion.status)
            raise Broken()

    def next(self):
        """The next message, as (region, length); whoever takes it gives it back."""
        completion = self.cmid.get_recv_comp()
        if completion.status != e.IBV_WC_SUCCESS:
            raise Broken()
        region = self.memory.inbox[self.received % RECEIVES]
        self.received += 1
        return region, completion.byte_len

    def answer(self, command, first=0, second=0, third=0):
        self.memory.reply.write(MESSAGE.pack(command, first, second, third), MESSAGE.size)
        self.cmid.post_send(self.memory.reply, e.IBV_SEND_SIGNALED)
        self.sent("SEND of an answer")

    def serve(self):
        try:
            while True:
                region, length = self.next()
                if length != MESSAGE.size:
                    say("expected a control message of", MESSAGE.size, "bytes, got", length)
                    return
                message = MESSAGE.unpack(region.read(length, 0))
                self.cmid.post_recv(region)
                self.do(*message)
        except Broken:
            pass

    def do(self, command, first, second, third):
        memory = self.memory
        if command == REGION:
            region = memory.regions[first]
            self.answer(REGION, region.buf, region.rkey, memory.lengths[first])
        elif command == FILL:
            memory.open.write(random.Random(second).randbytes(first), first)
            self.answer(FILL, memory.checksum(first))
        elif command == CHECKSUM:
            self.answer(CHECKSUM, memory.checksum(first))
        elif command == READ:
            self.cmid.post_read(memory.open, third, first, second, e.IBV_SEND_SIGNALED)
            self.sent("READ")
            self.answer(READ, memory.checksum(third))
        elif command == WRITE:
            self.cmid.post_write(memory.open, third, first, second, e.IBV_SEND_SIGNALED)
            self.sent("WRITE")
            self.answer(WRITE)
        elif command == SEND:
            self.cmid.post_send(memory.open, e.IBV_SEND_SIGNALED, first)
            self.sent("SEND")
            self.answer(SEND)
        elif command == RECEIVE:
            region, length = self.next()
            checksum = zlib.crc32(region.read(length, 0))
            self.cmid.post_recv(region)
            self.answer(RECEIVE, checksum, length)
        elif command == LEAVE:
            raise Broken()
        else:
            say("unknown command", command)
            raise Broken()


def parameters(private_data):
    result = ConnParam(resources=DEPTH, depth=DEPTH, data_len=len(private_data))
    if private_data:
        result.set_private_data(private_data)
    return result


def take(channel, *expected):
    """The next event of these kinds; others are told and passed over. Acknowledged by whoever takes it."""
    while True:
        event = CMEvent(channel)
        if event.event_type in expected:
            return event
        say("passed over", event.event_str(), "waiting for", expected)
        event.ack_cm_event()


def listen(port):
    channel = CMEventChannel()
    listener = CMID(creator=channel)
    listener.bind_addr(AddrInfo(src=ADDRESS, src_service=port, port_space=ce.RDMA_PS_TCP, flags=ce.RAI_PASSIVE))
    memory = Memory(listener.pd)
    listener.listen(backlog=64)
    say("listening")
    while True:
        event = take(channel, ce.RDMA_CM_EVENT_CONNECT_REQUEST)
        private_data = bytes(event.private_data or b"")
        child = CMID(creator=event, listen_id=listener)
        event.ack_cm_event()
        if private_data.startswith(b"reject:"):
            reason = private_data[len(b"reject:"):]
            child.reject(reason)
            child.close()
            continue
        try:
            connection = Connection(child, memory)
            child.accept(parameters(private_data))
            event = take(channel, ce.RDMA_CM_EVENT_ESTABLISHED, ce.RDMA_CM_EVENT_CONNECT_ERROR, ce.RDMA_CM_EVENT_DISCONNECTED)
            established = event.event_type == ce.RDMA_CM_EVENT_ESTABLISHED
            event.ack_cm_event()
            if established:
                connection.serve()
        except PyverbsError as failure:
            say("a connection failed:", failure)
        child.close()


def connect(host, port, how):
    channel = CMEventChannel()
    cmid = CMID(creator=channel)
    to = AddrInfo(src=ADDRESS, dst=host, dst_service=port, port_space=ce.RDMA_PS_TCP)
    cmid.resolve_addr(to)
    take(channel, ce.RDMA_CM_EVENT_ADDR_RESOLVED).ack_cm_event()
    cmid.resolve_route()
    take(channel, ce.RDMA_CM_EVENT_ROUTE_RESOLVED).ack_cm_event()
    connection = Connection(cmid, Memory(cmid.pd))
    private_data = b"reject:" if how == "reject" else bytes(range(int(how)))
    cmid.connect(parameters(private_data))
    event = take(
        channel,
        ce.RDMA_CM_EVENT_ESTABLISHED,
        ce.RDMA_CM_EVENT_REJECTED,
        ce.RDMA_CM_EVENT_CONNECT_ERROR,
        ce.RDMA_CM_EVENT_UNREACHABLE,
    )
    came = bytes(event.private_data or b"")
    say(event.event_str(), came)
    expected = b"not today" if how == "reject" else private_data
    if len(came) in PADDED:
        expected = expected.ljust(len(came), b"\0")
    if how == "reject":
        if event.event_type != ce.RDMA_CM_EVENT_REJECTED or came != expected:
            sys.exit("expected a reject that says 'not today'")
        event.ack_cm_event()
        cmid.close()
        return
    if event.event_type != ce.RDMA_CM_EVENT_ESTABLISHED or came != expected:
        sys.exit("expected to be connected, and %s bytes of private data back" % how)
    event.ack_cm_event()
    connection.answer(GREETING)
    connection.serve()
    cmid.close()


if sys.argv[1] == "listen":
    listen(sys.argv[2])
else:
    for how in sys.argv[4:]:
        connect(sys.argv[2], sys.argv[3], how)
