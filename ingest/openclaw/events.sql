-- A page of the active path of one session: what the host's transcript cursor shows, and the resets between.
SELECT a.active_position, a.event_seq, a.message_position, e.event_json, {zstd}
FROM session_transcript_active_events a JOIN transcript_events e ON e.session_id = a.session_id AND e.seq = a.event_seq
WHERE a.session_id = ? AND a.active_position >= ?
ORDER BY a.active_position LIMIT ?;
