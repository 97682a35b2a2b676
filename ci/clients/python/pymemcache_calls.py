# pymemcache's main calls, as TAP. Arguments: host, port.
import sys

from pymemcache.client.base import Client
from tap import Tap

tap = Tap()
client = Client((sys.argv[1], int(sys.argv[2])), timeout=10)

tap.check("version", lambda: len(client.version()) > 0)
tap.check("flush", lambda: client.flush_all(noreply=False))
tap.check("set", lambda: client.set("key", b"value", noreply=False))
tap.check("get", lambda: client.get("key") == b"value")
tap.check("miss", lambda: client.get("nothing") is None)
tap.check("add", lambda: client.add("added", b"1", noreply=False) and not client.add("added", b"2", noreply=False))
tap.check("replace", lambda: client.replace("key", b"b", noreply=False) and not client.replace("nothing", b"b", noreply=False))
tap.check("append", lambda: client.append("key", b"c", noreply=False) and client.get("key") == b"bc")
tap.check("prepend", lambda: client.prepend("key", b"a", noreply=False) and client.get("key") == b"abc")


def cas():
    value, token = client.gets("key")
    return (value == b"abc" and client.cas("key", b"new", token, noreply=False) is True
            and client.cas("key", b"old", token, noreply=False) is False)


tap.check("cas", cas)
tap.check("incr", lambda: client.set("n", b"10", noreply=False) and client.incr("n", 5) == 15)
tap.check("decr", lambda: client.decr("n", 20) == 0 and client.incr("nothing", 1) is None)
tap.check("delete", lambda: client.delete("key", noreply=False) and not client.delete("key", noreply=False))
tap.check("touch", lambda: client.touch("n", 100, noreply=False) and not client.touch("nothing", 1, noreply=False))
tap.check("get many", lambda: client.set_many({"a": b"1", "b": b"2"}, noreply=False) == []
          and client.get_many(["a", "nothing", "b"]) == {"a": b"1", "b": b"2"})
tap.check("noreply", lambda: client.set("quiet", b"x", noreply=True) and client.get("quiet") == b"x")
tap.check("empty value", lambda: client.set("empty", b"", noreply=False) and client.get("empty") == b"")
tap.check("900 KB", lambda: client.set("large", b"x" * 900_000, noreply=False) and len(client.get("large")) == 900_000)
tap.check("2 MB is refused", lambda: tap.fails(lambda: client.set("huge", b"x" * 2_000_000, noreply=False)))
tap.check("goes on after that", lambda: client.get("a") == b"1")
tap.check("key of 250 bytes", lambda: client.set("k" * 250, b"x", noreply=False) and client.get("k" * 250) == b"x")
tap.check("expiry", lambda: client.set("soon", b"x", expire=1, noreply=False) and tap.within(5, lambda: client.get("soon") is None))
tap.check("stats", lambda: int(client.stats()[b"curr_items"]) > 0)
tap.check("stats settings", lambda: len(client.stats("settings")) > 5)
tap.done()
