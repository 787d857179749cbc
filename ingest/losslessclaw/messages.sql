SELECT * FROM messages WHERE conversation_id = ? ORDER BY seq, message_id
