-- The tables of the 1.0 line, as far as they are read: messages know their transcript entry.
CREATE TABLE conversations (conversation_id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, session_key TEXT,
  active INTEGER NOT NULL DEFAULT 1, archived_at TEXT, archive_cause TEXT, title TEXT, bootstrapped_at TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE messages (message_id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id INTEGER NOT NULL, seq INTEGER NOT NULL,
  role TEXT NOT NULL, content TEXT NOT NULL, token_count INTEGER NOT NULL, identity_hash TEXT, transcript_entry_id TEXT,
  stable_event_key TEXT, large_content_file_id TEXT, created_at TEXT NOT NULL, UNIQUE (conversation_id, seq));
CREATE TABLE message_parts (part_id TEXT PRIMARY KEY, message_id INTEGER NOT NULL, session_id TEXT NOT NULL, part_type TEXT NOT NULL,
  ordinal INTEGER NOT NULL, text_content TEXT, tool_call_id TEXT, tool_name TEXT, tool_input TEXT, tool_output TEXT, tool_error TEXT,
  metadata TEXT);
CREATE TABLE summaries (summary_id TEXT PRIMARY KEY, conversation_id INTEGER NOT NULL, kind TEXT NOT NULL, depth INTEGER, content TEXT NOT NULL);
CREATE TABLE turn_advancements (advancement_key TEXT PRIMARY KEY, payload_hash TEXT);
INSERT INTO conversations VALUES (7,'5d0c7e80-55b5-4a4e-a40d-0d5b4a4f8e07','agent:main:main',1,NULL,NULL,NULL,NULL,'2026-08-21T08:00:00.000Z','2026-08-21T08:00:00.000Z');
INSERT INTO messages VALUES
  (1,7,1,'user','Now it is port 5545.',9,'h1','entry-1',NULL,NULL,'2026-08-21T08:00:00.123Z'),
  (2,7,2,'tool','[stub]',9,'h2','entry-2','k','file_9','2026-08-21T08:00:01.000Z'),
  (3,7,3,'assistant','',9,'h3',NULL,NULL,NULL,'2026-08-21T08:00:02.000Z');
