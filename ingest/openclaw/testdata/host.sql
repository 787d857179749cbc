-- A small host: only the tables and columns that are read, as OpenClaw 2026.9 has them.
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL, label TEXT, display_name TEXT);
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB,
  event_utf8_bytes INTEGER, PRIMARY KEY (session_id, seq));
CREATE TABLE session_transcript_active_events (session_id TEXT NOT NULL, active_position INTEGER NOT NULL, event_seq INTEGER NOT NULL,
  message_position INTEGER, PRIMARY KEY (session_id, active_position));
CREATE TABLE session_transcript_cold_archives (session_id TEXT PRIMARY KEY);

INSERT INTO session_nodes VALUES
  ('agent:main:main', 'new', '{"lifecycleRevision":"r2"}', NULL, 'Boat'),
  ('agent:main:internal-session-effects:flush', 'quiet', '{}', NULL, NULL),
  ('agent:main:skald-proof:1', 'proof', '{}', NULL, NULL),
  ('agent:main:cold', 'cold', '{}', NULL, NULL);
INSERT INTO session_windows VALUES ('old', 'agent:main:main', 1767600000000), ('new', 'agent:main:main', 1767700000000),
  ('quiet', 'agent:main:internal-session-effects:flush', 1767700000001), ('proof', 'agent:main:skald-proof:1', 1767700000002),
  ('cold', 'agent:main:cold', 1767700000003);
INSERT INTO session_transcript_cold_archives VALUES ('cold');
INSERT INTO transcript_events (session_id, seq, created_at, event_json) VALUES
  ('old', 0, 0, '{"type":"session","id":"s"}'),
  ('old', 1, 0, '{"type":"message","id":"a1","message":{"role":"user","content":"old question"}}'),
  ('new', 0, 0, '{"type":"session","id":"s"}'),
  ('new', 1, 0, '{"type":"message","id":"b1","message":{"role":"user","content":"hello \u0000 <&>"}}'),
  ('new', 2, 0, '{"type":"message","id":"b2","message":{"role":"assistant","content":[]}}'),
  ('new', 3, 0, '{"type":"message","id":"gone","message":{"role":"user","content":"taken back"}}'),
  ('new', 4, 0, '{"type":"reset","id":"r","reason":"reset"}'),
  ('new', 5, 0, '{"type":"message","id":"b3","message":{"role":"user","content":"after the reset"}}'),
  ('new', 6, 0, '{"type":"message","id":"b4","message":{"role":"assistant","content":[]}}'),
  ('new', 8, 0, '{"type":"message","id":"b6","message":{"role":"user","content":"being answered"}}');
INSERT INTO transcript_events (session_id, seq, created_at, event_zstd, event_utf8_bytes) VALUES ('new', 7, 0, x'00', 9);
INSERT INTO session_transcript_active_events VALUES ('old', 0, 1, 0),
  ('new', 0, 0, NULL), ('new', 1, 1, 0), ('new', 2, 2, 1), ('new', 3, 4, 2), ('new', 4, 5, 3), ('new', 5, 6, 4), ('new', 6, 7, 5), ('new', 7, 8, 6);
