-- The tables of the 0.x line, as far as they are read.
CREATE TABLE conversations (conversation_id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, session_key TEXT,
  active INTEGER NOT NULL DEFAULT 1, archived_at TEXT, title TEXT, bootstrapped_at TEXT,
  created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now')));
CREATE TABLE messages (message_id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id INTEGER NOT NULL, seq INTEGER NOT NULL,
  role TEXT NOT NULL, content TEXT NOT NULL, token_count INTEGER NOT NULL, created_at TEXT NOT NULL, UNIQUE (conversation_id, seq));
CREATE TABLE message_parts (part_id TEXT PRIMARY KEY, message_id INTEGER NOT NULL, session_id TEXT NOT NULL, part_type TEXT NOT NULL,
  ordinal INTEGER NOT NULL, text_content TEXT, tool_call_id TEXT, tool_name TEXT, tool_input TEXT, tool_output TEXT, tool_error TEXT,
  file_name TEXT, metadata TEXT, UNIQUE (message_id, ordinal));
CREATE TABLE summaries (summary_id TEXT PRIMARY KEY, conversation_id INTEGER NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL,
  token_count INTEGER NOT NULL, created_at TEXT NOT NULL DEFAULT (datetime('now')));
INSERT INTO conversations VALUES
  (1,'5D0C7E80-55b5-4a4e-a40d-0d5b4a4f8e01','agent:coder:main',1,NULL,'The port',NULL,'2026-02-03 08:00:00','2026-02-03 09:00:00'),
  (2,'5d0c7e80-55b5-4a4e-a40d-0d5b4a4f8e02',NULL,0,'2026-02-04 09:00:00',NULL,NULL,'2026-02-04 08:00:00','2026-02-04 09:00:00');
INSERT INTO messages VALUES
  (1,1,1,'user','Our database listens on port 5544.',9,'2026-02-03 08:00:01'),
  (2,1,2,'assistant','I check.',9,'2026-02-03 08:00:02'),
  (3,1,3,'tool','',9,'2026-02-03 08:00:03'),
  (4,1,4,'assistant','$ ls',9,'2026-02-03 08:00:04'),
  (5,1,5,'user','',9,'2026-02-03 08:00:05'),
  (6,1,6,'user','without parts',9,'2026-02-03 08:00:06'),
  (7,2,1,'assistant','',9,'2026-02-04 08:00:01'),
  (8,2,2,'tool','',9,'2026-02-04 08:00:02'),
  (9,2,3,'assistant','',9,'2026-02-04 08:00:03');
INSERT INTO message_parts (part_id, message_id, session_id, part_type, ordinal, text_content, tool_call_id, tool_name, tool_input, tool_output, metadata) VALUES
  ('a',1,'s','text',0,'Our database listens on port 5544.',NULL,NULL,NULL,NULL,'{"originalRole":"user"}'),
  ('b',2,'s','reasoning',0,'A ping will do.',NULL,NULL,NULL,NULL,'{"originalRole":"assistant","rawType":"thinking","raw":{"type":"thinking","thinking":"A ping will do.","thinkingSignature":"c2ln"}}'),
  ('c',2,'s','text',1,'I check.',NULL,NULL,NULL,NULL,'{"originalRole":"assistant","rawType":"text","raw":{"type":"text","text":"I check."}}'),
  ('d',2,'s','tool',2,NULL,'call_1','ping','{"port":5544}',NULL,'{"originalRole":"assistant","rawType":"toolCall","raw":{"type":"toolCall","id":"call_1","name":"ping","arguments":{"port":5544}}}'),
  ('e',3,'s','text',0,'it answers','call_1','ping',NULL,NULL,'{"originalRole":"toolResult","toolCallId":"call_1","toolName":"ping","isError":false,"rawType":"text","raw":{"type":"text","text":"it answers"}}'),
  ('f',4,'s','text',0,'$ ls
db.toml',NULL,NULL,NULL,NULL,'{"originalRole":"bashExecution","source":"bash-exec","command":"ls"}'),
  ('g',5,'s','text',0,'[file]',NULL,NULL,NULL,NULL,'{"originalRole":"user","externalizedFileId":"file_1"}'),
  ('h',7,'s','tool',0,NULL,'call_9','read','{"path":"a"}',NULL,NULL),
  ('i',8,'s','tool',0,NULL,'call_9','read',NULL,'"the text of a"',NULL),
  ('j',9,'s','step_start',0,NULL,NULL,NULL,NULL,NULL,NULL),
  ('k',9,'s','agent',1,'shape',NULL,NULL,NULL,NULL,'{"originalRole":"branchSummary","source":"unknown-message-shape","raw":{"role":"branchSummary","summary":"The other way failed."}}');
INSERT INTO summaries (summary_id, conversation_id, kind, content, token_count) VALUES ('sum_1',1,'leaf','The port is 5544.',5),('sum_2',1,'leaf','x',5),('sum_3',1,'condensed','y',5);
