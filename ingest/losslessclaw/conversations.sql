SELECT * FROM conversations ORDER BY conversation_id
