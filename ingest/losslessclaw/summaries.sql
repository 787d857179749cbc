SELECT kind, COUNT(*) AS n FROM summaries GROUP BY kind ORDER BY kind
