"""Drives every method of OpenViking's Python SDK against a server and prints what came back, one JSON document a line.

    drive.py sync|async URL USER_KEY ROOT_KEY FOLDER

The first line names every public method that the clients have, by inspection; every other line is one call: {"step", "result"} or
{"step", "error": {"code", "type"}}. The cases are generators that yield calls, so that one list drives both clients.
"""

import asyncio
import inspect
import json
import os
import sys
import zipfile

import openviking_sdk
from openviking_sdk import client as sdk

KIND, URL, USER_KEY, ROOT_KEY, FOLDER = sys.argv[1:6]
NOTES = "viking://resources/conf"
BUSY = "lock acquire timed out"  # OpenViking still works on the folder: asked again, as its answer says


def call(method, *args, step=None, **kwargs):
    """One call of the user's client; `root.` before the method takes the root client, `session.` a session object."""
    return {"method": method, "args": args, "kwargs": kwargs, "step": step or method}


def path(name):
    return os.path.join(FOLDER, name)


def write_file(name, text):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "w", encoding="utf-8") as f:
        f.write(text)
    return path(name)


def health():
    yield call("health")
    yield call("get_status")
    yield call("get_status", format="json", step="get_status json")
    yield call("queue_status")
    yield call("vikingdb_status")
    yield call("models_status")


def files():
    yield call("mkdir", NOTES, description="Notes for the conformance suite")
    yield call("write", NOTES + "/a.md", "# Lighthouse\n\nThe lighthouse keeper counts gulls.\n", mode="create", wait=True)
    yield call("write", NOTES + "/a.md", "One more line.\n", mode="append", wait=True, step="write append")
    yield call("write", NOTES + "/absent.md", "x", wait=True, step="write replace of nothing")
    yield call("write", NOTES + "/absent.md", "again", mode="create", wait=True, step="write create twice")
    yield call("write", NOTES + "/a.md", "Two more lines.\n", mode="append", step="write without waiting")
    yield call("wait_processed", step="wait_processed after write")
    yield call("batch_write", NOTES, [
        {"uri": NOTES + "/b.md", "content": "# Harbour\n\nBoats leave the harbour at dawn.\n", "mode": "create"},
        {"uri": NOTES + "/deep/c.md", "content": "A third note.\n", "mode": "upsert"},
    ])
    yield call("read", NOTES + "/a.md")
    yield call("read", NOTES + "/a.md", offset=2, limit=1, step="read lines")
    yield call("read", NOTES + "/none.md", step="read of nothing")
    yield call("read", NOTES, step="read of a directory")
    yield call("read_raw", NOTES + "/a.md")
    yield call("download_bytes", NOTES + "/a.md")
    yield call("abstract", NOTES)
    yield call("overview", NOTES)
    yield call("ls", NOTES)
    yield call("ls", NOTES, output="agent", step="ls agent")
    yield call("ls", NOTES, simple=True, step="ls simple")
    yield call("ls", NOTES + "/none", step="ls of nothing")
    yield call("ls_page", NOTES, limit=1)
    yield call("tree", NOTES)
    yield call("tree", NOTES, output="agent", step="tree agent")
    yield call("tree_page", NOTES, limit=1)
    yield call("stat", NOTES + "/a.md")
    yield call("stat", NOTES, step="stat of a directory")
    yield call("stat", NOTES + "/../x", step="stat of a traversal")
    yield call("set_tags", NOTES + "/a.md", ["topic=sea"])
    yield call("attrs", NOTES + "/a.md")
    yield call("reindex", NOTES)
    yield call("check_consistency", NOTES)
    yield call("wait_processed", step="wait_processed before deletes")
    yield call("mv", NOTES + "/b.md", NOTES + "/moved.md")
    yield call("rm", NOTES, step="rm of a directory")
    yield call("rm", NOTES + "/deep", recursive=True, step="rm recursive")
    yield call("rm", NOTES + "/none.md", step="rm of nothing")


def finding():
    yield call("wait_processed")
    yield call("find", "lighthouse keeper gulls")
    yield call("find", "lighthouse", NOTES, 1, options={"tags": ["topic=sea"], "level": [2]}, step="find with options")
    yield call("find", "", step="find of nothing")
    yield call("search", "lighthouse keeper gulls")
    yield call("search", "harbour", session_id="conf-find", limit=2, step="search in a session")
    yield call("search_context", "lighthouse keeper", options={"max_tokens": 800})
    yield call("grep", NOTES, "keeper counts")
    yield call("grep", NOTES, "(", step="grep of a bad expression")
    yield call("glob", "**/*.md", NOTES)


def sessions():
    yield call("create_session", "conf-1", options={"auto_commit_policy": {"message_count_threshold": 500}})
    yield call("create_session", "conf-1", step="create_session twice")
    yield call("session_exists", "conf-1")
    yield call("session_exists", "conf-none", step="session_exists of nothing")
    yield call("get_session", "conf-none", step="get_session of nothing")
    yield call("get_session", "conf-auto", auto_create=True, step="get_session auto_create")
    yield call("add_message", "conf-1", "user", "I keep my boat in the harbour of Lindal.")
    yield call("add_message", "conf-1", "assistant", parts=[
        {"type": "text", "text": "Noted."},
        {"type": "tool", "tool_id": "t1", "tool_name": "bash", "tool_input": {"command": "ls"}, "tool_output": "a b", "tool_status": "completed"},
        {"type": "context", "uri": NOTES + "/a.md", "context_type": "resource", "abstract": "a note"},
    ], step="add_message parts")
    yield call("add_message", "conf-1", "user", step="add_message of nothing")
    yield call("batch_add_messages", "conf-1", [{"role": "user", "content": "It is called Skua."},
                                                {"role": "assistant", "content": "A fine name."}])
    yield call("get_session", "conf-1")
    yield call("get_session_context", "conf-1")
    yield call("update_session_config", "conf-1", options={"auto_commit_policy": None})
    committed = yield call("commit_session", "conf-1", 1, options={"enable_working_memory": True})
    yield call("wait_processed", step="wait_processed after commit")
    yield call("get_task", (committed or {}).get("task_id") or "none", poll="completed")
    yield call("get_task", "00000000-0000-0000-0000-000000000000", step="get_task of nothing")
    yield call("list_tasks", "session_commit")
    yield call("cancel_task", (committed or {}).get("task_id") or "none")
    yield call("get_session_archive", "conf-1", "archive_001")
    yield call("get_session_archive", "conf-1", "archive_099", step="get_session_archive of nothing")
    yield call("get_session_context", "conf-1", step="get_session_context after commit")
    yield call("commit_session", "conf-auto", step="commit_session of nothing")
    yield call("list_sessions")
    yield call("session", "conf-2")
    yield call("session.add_message", "user", "Through the session object.")
    yield call("session.batch_add_messages", [{"role": "assistant", "content": "Likewise."}])
    yield call("session.load")
    yield call("session.get_session_context")
    yield call("session.commit")
    if KIND == "sync":
        yield call("session.commit_async")
    yield call("session.get_archive", "archive_001", poll="")
    yield call("session.delete")
    yield call("delete_session", "conf-auto")
    yield call("delete_session", "conf-none", step="delete_session of nothing")


def resources():
    doc = write_file("tide.md", "# Tide table\n\nHigh water at Lindal is at six.\n\n## Low water\n\nAt noon.\n")
    yield call("add_resource", doc, to="viking://resources/tide", wait=True)
    yield call("add_resource", "http://127.0.0.1:1/x.md", step="add_resource of a private address")
    yield call("add_resource", "/nowhere/at/all.md", step="add_resource of a server path")
    write_file("folder/one.md", "One.\n")
    write_file("folder/sub/two.txt", "Two.\n")
    yield call("add_resource", path("folder"), wait=True, step="add_resource of a folder")
    yield call("list_watches")
    yield call("get_watch", "none")
    yield call("update_watch", to_uri="viking://resources/none", is_active=False)
    yield call("trigger_watch", to_uri="viking://resources/none")
    yield call("delete_watch", to_uri="viking://resources/none")


SKILL = """---
name: tide-reader
description: Reads a tide table and says when to sail.
tags: [sea]
allowed-tools: [read]
---

# Tide reader

Look up the high water and subtract two hours.
"""


def skills():
    yield call("validate_skill", SKILL)
    yield call("validate_skill", "no front matter", step="validate_skill of nonsense")
    yield call("add_skill", SKILL, wait=True)
    yield call("list_skills")
    yield call("find_skills", "when to sail by the tide")
    yield call("get_skill", "tide-reader", include_content=True, include_integrity=True, level=2)
    yield call("get_skill", "none", step="get_skill of nothing")
    yield call("update_skill", "tide-reader", SKILL.replace("two hours", "three hours"), wait=True)
    yield call("delete_skill", "tide-reader")


def packs():
    yield call("export_ovpack", NOTES, path("notes.ovpack"))
    yield call("import_ovpack", path("notes.ovpack"), "viking://resources/imported/", on_conflict="overwrite")
    yield call("import_ovpack", path("notes.ovpack"), "viking://resources/imported/", on_conflict="fail", step="import_ovpack twice")
    yield call("backup_ovpack", path("all.ovpack"))
    yield call("restore_ovpack", path("all.ovpack"), on_conflict="skip")


def snapshots():
    committed = yield call("snapshot.commit", message="first", paths=[NOTES])
    oid = (committed or {}).get("commit_oid") or "none"
    yield call("snapshot.log", paths=[NOTES])
    yield call("snapshot.log", step="snapshot.log of everything")
    yield call("snapshot.show", "main", path=NOTES + "/a.md")
    yield call("write", NOTES + "/a.md", "# Lighthouse\n\nThe keeper sleeps.\n", wait=True, step="write between snapshots")
    second = yield call("snapshot.commit", message="second", paths=[NOTES], step="snapshot.commit second")
    to = (second or {}).get("commit_oid") or "none"
    yield call("snapshot.diff", NOTES + "/a.md", from_ref=oid, to_ref=to)
    yield call("snapshot.diff_paths", [NOTES], from_ref=oid, to_ref=to)
    yield call("snapshot.restore", source_commit=oid, project_dir=NOTES, dry_run=True)
    yield call("snapshot.set_gitignore", content="*.tmp\n")
    yield call("snapshot.get_gitignore")
    yield call("snapshot.delete_gitignore")
    if KIND == "async":
        yield call("git_commit", message="third", paths=[NOTES])
        yield call("git_log", paths=[NOTES])
        yield call("git_show", "main", path=NOTES + "/a.md")
        yield call("git_diff", NOTES + "/a.md", from_ref=oid, to_ref=to)
        yield call("git_diff_paths", [NOTES], from_ref=oid, to_ref=to)
        yield call("git_restore", source_commit=oid, project_dir=NOTES, dry_run=True)
        yield call("git_set_ignore", content="*.tmp\n")
        yield call("git_get_ignore")
        yield call("git_delete_ignore")


def permissions():
    yield call("acl_get", NOTES)
    yield call("acl_set", NOTES, [{"principal": "user:someone", "level": "read"}])
    yield call("acl_grant", NOTES, "user:someone", "write")
    yield call("acl_revoke", NOTES, "user:someone")
    yield call("acl_delete", NOTES)


def administration():
    yield call("root.admin_create_account", "conf-acme", "ann")
    yield call("root.admin_create_account", "conf-acme", "ann", step="admin_create_account twice")
    yield call("root.admin_list_accounts", name="conf-acme")
    yield call("root.admin_get_account", "conf-acme")
    yield call("root.admin_register_user", "conf-acme", "bob")
    yield call("root.admin_register_user", "conf-acme", "bob", step="admin_register_user twice")
    yield call("root.admin_list_users", "conf-acme")
    yield call("root.admin_get_user", "conf-acme", "bob")
    yield call("root.admin_set_role", "conf-acme", "bob", "admin")
    yield call("root.admin_regenerate_key", "conf-acme", "bob")
    yield call("root.admin_create_group", "conf-acme", "crew")
    yield call("root.admin_list_groups", "conf-acme")
    yield call("root.admin_add_group_member", "conf-acme", "crew", "bob")
    yield call("root.admin_list_group_members", "conf-acme", "crew")
    yield call("root.admin_remove_group_member", "conf-acme", "crew", "bob")
    yield call("root.admin_delete_group", "conf-acme", "crew")
    yield call("root.admin_get_account_settings", "conf-acme")
    yield call("root.admin_set_account_agent_evolution", "conf-acme", False)
    yield call("root.admin_get_agent_evolution")
    yield call("root.admin_set_agent_evolution", False)
    yield call("root.admin_remove_user", "conf-acme", "bob")
    yield call("root.admin_delete_account", "conf-acme")
    yield call("root.admin_migrate")
    yield call("admin_list_accounts", step="admin_list_accounts as a user")


def further():
    yield call("list_experience_trajectories", "viking://user/none/memories/experiences/x.md")
    yield call("get_experience_outcomes", "viking://user/none/memories/experiences/x.md")
    yield call("compile", [NOTES], "viking://resources/compiled", "none")
    yield call("resolve_openviking_assets", "version: openviking-assets/1\nassets: []\n")
    yield call("preflight_openviking_asset", "x", "https://example.invalid/x.git")


def blocking():
    """What blocks in the asynchronous client too: last, since it leaves other calls of the process without their event loop."""
    yield call("fresh.is_healthy")
    for name in ("queue", "vikingdb", "models", "system", "is_healthy"):
        yield call("observer." + name)  # the first four are properties


CASES = [health, files, finding, sessions, resources, skills, packs, snapshots, permissions, administration, further, blocking]
# Methods that every run calls at its begin and end.
LIFE = {"initialize", "close"}
GROUPS = {"observer", "snapshot"}
SESSION = {"sync": sdk.SyncSession, "async": sdk.Session}
SNAPSHOT = {"sync": sdk.SyncHTTPSnapshotNamespace, "async": sdk.AsyncHTTPSnapshotNamespace}
CLIENT = {"sync": openviking_sdk.SyncHTTPClient, "async": openviking_sdk.AsyncHTTPClient}


def public(cls):
    """The names of a class that do something: its functions and properties, without the two that name groups."""
    members = ((n, inspect.getattr_static(cls, n)) for n in dir(cls) if not n.startswith("_"))
    return [n for n, m in members if (callable(m) or isinstance(m, property)) and n not in GROUPS]


def methods():
    names = set(public(CLIENT[KIND])) - LIFE
    names |= {"session." + n for n in public(SESSION[KIND])}
    names |= {"snapshot." + n for n in public(SNAPSHOT[KIND])}
    names |= {"observer." + n for n in public(sdk._HTTPObserver)}
    return sorted(names)


async def settled(value):
    return await value if inspect.isawaitable(value) else value


class Runner:
    def __init__(self):
        self.clients = {"": CLIENT[KIND](url=URL, api_key=USER_KEY, timeout=120), "root": CLIENT[KIND](url=URL, api_key=ROOT_KEY, timeout=120)}
        self.session = None

    async def fresh(self):
        """A client of its own, for what runs an event loop of its own in the asynchronous client."""
        c = CLIENT[KIND](url=URL, api_key=USER_KEY, timeout=120)
        await settled(c.initialize())
        return c

    async def target(self, name):
        where, _, method = name.rpartition(".")
        if where == "session":
            return getattr(self.session, method)
        if where == "observer":
            return getattr((await self.fresh()).observer, method)
        if where == "snapshot":
            return getattr(self.clients[""].snapshot, method)
        if where == "fresh":
            return getattr(await self.fresh(), method)
        return getattr(self.clients[where], method)

    async def once(self, c):
        """One call: its result, and what the line says of it."""
        poll = c["kwargs"].pop("poll", None)
        for _ in range(300):
            try:
                target = await self.target(c["method"])
                result = await settled(target(*c["args"], **c["kwargs"]) if callable(target) else target)
            except Exception as e:  # what the SDK raises is what is tested
                result, said = None, {"error": {"code": getattr(e, "code", ""), "type": type(e).__name__}, "message": str(e)}
            else:
                said = {"result": shown(result)}
            # A commit's second phase runs in the background: its task and its archive are asked for until they are there.
            pending = poll is not None and ("error" in said or (poll and isinstance(result, dict) and result.get("status") in ("pending", "running")))
            pending = pending or BUSY in said.get("message", "")
            if not pending or said.get("error", {}).get("code") == "UNIMPLEMENTED":
                return result, said
            await asyncio.sleep(0.1)
        return result, said

    async def case(self, case):
        steps = case()
        try:
            c = next(steps)
            while True:
                result, said = await self.once(c)
                if c["method"] == "session":
                    self.session = result
                print(json.dumps({"step": c["step"], "method": c["method"].removeprefix("root.").removeprefix("fresh."), **said}, ensure_ascii=False, sort_keys=True), flush=True)
                c = steps.send(result)
        except StopIteration:
            pass


def shown(result):
    if isinstance(result, bytes):
        return {"bytes": len(result)}
    if isinstance(result, (sdk.Session, sdk.SyncSession)):
        return {"session_id": result.session_id}
    if isinstance(result, str) and result.endswith(".ovpack") and os.path.exists(result):
        with zipfile.ZipFile(result) as z:
            return {"pack": sorted({n.split("/", 1)[-1].split("/")[0] for n in z.namelist()})}
    try:
        json.dumps(result)
    except TypeError:
        return json.loads(json.dumps(result, default=lambda o: getattr(o, "__dict__", str(o))))
    return result


async def main():
    print(json.dumps({"methods": methods()}))
    r = Runner()
    for c in r.clients.values():
        await settled(c.initialize())
    for case in CASES:
        await r.case(case)
    for c in r.clients.values():
        await settled(c.close())


asyncio.run(main())
