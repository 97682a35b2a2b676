-- A post-dissector for what Wireshark's own iwarp_mpa and iwarp_ddp_rdmap leave in numbers; docs/reference/wire.md says what it means.
--   wireshark -X lua_script:docs/reference/softrdma.lua capture.pcapng      tshark -X lua_script:docs/reference/softrdma.lua -r capture.pcapng
-- It names the RDMAP opcode of each segment and who defines it, and takes apart the enhanced handshake of MPA revision 2
-- (RFC 6581 section 9) and Immediate Data (RFC 7306 section 6.2). softrdma sends opcodes of RFC 5040 and RFC 7306 and has none of
-- its own: filter softrdma.defined == "nobody".

local softrdma = Proto("softrdma", "softrdma (what iWARP's fields mean)")

local OPCODES = {
    [0] = "RDMA Write", "RDMA Read Request", "RDMA Read Response", "Send", "Send with Invalidate",
    "Send with Solicited Event", "Send with Solicited Event and Invalidate", "Terminate",
    "Immediate Data", "Immediate Data with Solicited Event", "Atomic Request", "Atomic Response",
}
local LAST_OF_RFC_5040 = 7
local LAST_OF_RFC_7306 = 11

local opcode = ProtoField.string("softrdma.opcode", "RDMAP opcode")
local defined = ProtoField.string("softrdma.defined", "Defined by")
local immediate = ProtoField.uint32("softrdma.immediate", "Immediate of the verbs", base.HEX)
local peer_to_peer = ProtoField.bool("softrdma.peer_to_peer", "Peer-to-peer (A)")
local rtr = ProtoField.string("softrdma.rtr", "Ready-to-receive by a zero-length")
local ird = ProtoField.uint16("softrdma.ird", "IRD")
local ord = ProtoField.uint16("softrdma.ord", "ORD")
local private_data = ProtoField.bytes("softrdma.private_data", "Private data of the upper layer")
softrdma.fields = { opcode, defined, immediate, peer_to_peer, rtr, ird, ord, private_data }

local f_opcode = Field.new("iwarp_rdma.opcode")
local f_reserved = Field.new("iwarp_mpa.res")
local f_revision = Field.new("iwarp_mpa.rev")
local f_private = Field.new("iwarp_mpa.privatedata")

local IMMEDIATE, IMMEDIATE_SOLICITED = 8, 9
-- From the RDMAP control field on: the rest of the header of an untagged segment.
local IMMEDIATE_OFFSET, IMMEDIATE_BYTES = 17, 4
local ENHANCED = 0x10
local HIGH, LOW, DEPTH = 0x8000, 0x4000, 0x3FFF

local function has(word, bit)
    return word % (2 * bit) >= bit
end

local function definer(number)
    if number <= LAST_OF_RFC_5040 then return "RFC 5040" end
    if number <= LAST_OF_RFC_7306 then return "RFC 7306" end
    return "nobody"
end

local function handshake(tree)
    local reserved, revision, data = f_reserved(), f_revision(), f_private()
    if not (reserved and revision and data) or revision.value < 2 or not has(reserved.value, ENHANCED) then return end
    local bytes = data.range
    if bytes:len() < 4 then return end
    local first, second = bytes(0, 2):uint(), bytes(2, 2):uint()
    local branch = tree:add(softrdma, bytes, "Enhanced handshake, RFC 6581")
    branch:add(peer_to_peer, bytes(0, 2), has(first, HIGH))
    local kinds = {}
    if has(first, LOW) then kinds[#kinds + 1] = "SEND (B)" end
    if has(second, HIGH) then kinds[#kinds + 1] = "WRITE (C)" end
    if has(second, LOW) then kinds[#kinds + 1] = "READ (D)" end
    branch:add(rtr, bytes, #kinds == 0 and "none" or table.concat(kinds, ", "))
    branch:add(ird, bytes(0, 2), first % (DEPTH + 1))
    branch:add(ord, bytes(2, 2), second % (DEPTH + 1))
    if bytes:len() > 4 then branch:add(private_data, bytes(4)) end
end

-- Wireshark knows nothing of these two opcodes and leaves what is behind their header as it is.
local function add_immediate(branch, info)
    local bytes, at = info.source, info.offset + IMMEDIATE_OFFSET
    if bytes:len() >= at + IMMEDIATE_BYTES then branch:add(immediate, bytes(at, IMMEDIATE_BYTES)) end
end

function softrdma.dissector(tvb, pinfo, tree)
    handshake(tree)
    for _, info in ipairs({ f_opcode() }) do
        local number = info.value
        local branch = tree:add(softrdma, info.range, "Segment: " .. (OPCODES[number] or ("unknown opcode " .. number)))
        branch:add(opcode, info.range, OPCODES[number] or ("unknown " .. number))
        branch:add(defined, info.range, definer(number))
        if number == IMMEDIATE or number == IMMEDIATE_SOLICITED then add_immediate(branch, info) end
    end
end

register_postdissector(softrdma)
