-- The exchanges that the host still has to deliver: how many, since when, and the newest error.
SELECT count(*), min(created_at), (SELECT last_error FROM context_engine_turn_outbox
  WHERE last_error IS NOT NULL ORDER BY last_attempt_at DESC LIMIT 1) FROM context_engine_turn_outbox;
