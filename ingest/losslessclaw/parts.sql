SELECT p.* FROM message_parts p JOIN messages m ON m.message_id = p.message_id
WHERE m.conversation_id = ? ORDER BY m.seq, m.message_id, p.ordinal
