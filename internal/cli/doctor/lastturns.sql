-- The newest message of each session of the host.
SELECT n.session_key, n.current_session_id, max(e.created_at) FROM session_nodes n
  JOIN transcript_events e ON e.session_id = n.current_session_id
  JOIN transcript_event_identities i ON i.session_id = e.session_id AND i.seq = e.seq AND i.event_type = 'message'
  GROUP BY n.session_key, n.current_session_id;
