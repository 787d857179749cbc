-- The sessions of one agent of the host, oldest first: every id that a session key ever had. {bytes} is the size of an event.
SELECT w.session_id, w.session_key, w.created_at, n.current_session_id = w.session_id,
  coalesce(json_extract(n.entry_json, '$.lifecycleRevision'), ''), coalesce(n.display_name, n.label, ''),
  (SELECT coalesce(sum({bytes}), 0) FROM transcript_events e WHERE e.session_id = w.session_id),
  {cold}
FROM session_windows w JOIN session_nodes n ON n.session_key = w.session_key
ORDER BY w.created_at, w.session_id;
