"""Reads a Perfetto trace by its documented rules, from bytes: protobuf wire format, interning of a packet sequence, tracks,
nesting of begin and end, flows. Shares nothing with the program."""
import struct


class Malformed(Exception):
    pass


def fields(data):
    """(field, value) of a message; varints as int, 64-bit as 8 bytes, length-delimited as bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise Malformed("varint")

    while at < len(data):
        tag = varint()
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value = varint()
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size = varint()
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise Malformed("length")
        else:
            raise Malformed(f"wire type {kind}")
        if not number or at > len(data):
            raise Malformed("field")
        yield number, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Slice:
    __slots__ = ("track", "start", "end", "name", "category", "args", "flows", "depth")


class Trace:
    """tracks: {uuid: dict}; slices; instants; counters: {uuid: [(ts, value)]}; attributes; clocks; flows: {id: [slice]}."""

    def __init__(self, data):
        self.tracks, self.slices, self.instants, self.counters = {}, [], [], {}
        self.attributes, self.clocks, self.flows = {}, {}, {}
        self.sequences = {}  # what each has interned; a file of one trace has sequence 1
        events = []
        for index, (number, packet) in enumerate(fields(data)):
            if number != 1:
                raise Malformed("not a packet")
            self.packet(index, packet, events)
        self.replay(events)

    def packet(self, index, packet, events):
        got = {}
        for number, value in fields(packet):
            if number in got:
                raise Malformed("twice")
            got[number] = value
        needs = 12 in got or 11 in got and any(number in (3, 4, 10) for number, _ in fields(got[11]))
        first = got.get(10) not in self.sequences
        if first and got.get(10) != len(self.sequences) + 1 or 8 not in got or (87 in got) != first or got.get(13, 0) not in ((1,) if first else (0, 2)):
            raise Malformed(f"sequence state of packet {index}")
        self.interned = self.sequences.setdefault(got[10], {1: {}, 2: {}, 3: {}, 29: {}})
        if needs and not got.get(13):
            raise Malformed("interned data without the flag")
        if got[8] >> 63:
            raise Malformed("time below zero")
        for number, entry in fields(got.get(12, b"")):
            pair = dict(fields(entry))
            if not pair[1] or pair[1] in self.interned[number]:
                raise Malformed("interned twice, or as 0")
            self.interned[number][pair[1]] = pair.get(2, b"").decode("utf-8")
        if 60 in got:
            self.descriptor(got[60])
        if 6 in got:
            for number, clock in fields(got[6]):
                if number == 1:
                    pair = dict(fields(clock))
                    self.clocks[pair[1]] = pair.get(2, 0)
        if 126 in got:
            for _, attribute in fields(got[126]):
                pair = dict(fields(attribute))
                self.attributes[pair[1].decode()] = pair[3].decode() if 3 in pair else signed(pair[2])
        if 11 in got:
            events.append((got[8], self.event(got[11])))

    def descriptor(self, message):
        got = dict(fields(message))
        if not got[1] or got[1] in self.tracks:
            raise Malformed("uuid")
        track = {"uuid": got[1], "name": got.get(2, b"").decode("utf-8"), "parent": got.get(5, 0), "counter": 8 in got}
        for number, name in ((3, "process"), (4, "thread")):
            if number in got:
                track[name] = {n: v for n, v in fields(got[number])}
        if track["parent"] and track["parent"] not in self.tracks:
            raise Malformed("parent")
        self.tracks[got[1]] = track

    def event(self, message):
        event = {"args": {}, "flows": [], "category": None, "name": None, "value": None}
        for number, value in fields(message):
            if number == 9:
                event["type"] = value
            elif number == 11:
                event["track"] = value
            elif number == 10:
                event["name"] = self.interned[2][value]
            elif number == 3:
                event["category"] = self.interned[1][value]
            elif number in (47, 48):
                event["flows"].append(struct.unpack("<Q", value)[0])
            elif number == 44:
                event["value"] = struct.unpack("<d", value)[0]
            elif number == 4:
                arg = dict(fields(value))
                content = (signed(arg[4]) if 4 in arg else struct.unpack("<d", arg[5])[0] if 5 in arg else self.interned[29][arg[17]])
                event["args"][self.interned[3][arg[1]]] = content
            else:
                raise Malformed(f"event field {number}")
        if event["track"] not in self.tracks:
            raise Malformed("track")
        return event

    def replay(self, events):
        """As importers do: events by time, those of equal times as they stand in the file."""
        stacks = {}
        for ts, event in sorted(events, key=lambda pair: pair[0]):
            track, kind = event["track"], event["type"]
            if kind == 4:
                self.counters.setdefault(track, []).append((ts, event["value"]))
            elif kind == 3:
                self.instants.append((ts, track, event["name"]))
            elif kind == 1:
                s = Slice()
                s.track, s.start, s.end, s.depth = track, ts, None, len(stacks.setdefault(track, []))
                s.name, s.category, s.args, s.flows = event["name"], event["category"], event["args"], event["flows"]
                stacks[track].append(s)
                self.slices.append(s)
                for flow in s.flows:
                    self.flows.setdefault(flow, []).append(s)
            elif kind == 2:
                if not stacks.get(track):
                    raise Malformed("end without begin")
                s = stacks[track].pop()
                s.end = ts
                for flow in event["flows"]:  # importers take them for the slice that ends
                    self.flows.setdefault(flow, []).append(s)
            else:
                raise Malformed("event type")
        if any(stacks.values()):
            raise Malformed("begin without end")

    def root(self, uuid):
        while self.tracks[uuid]["parent"]:
            uuid = self.tracks[uuid]["parent"]
        return self.tracks[uuid]
