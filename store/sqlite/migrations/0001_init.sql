-- +goose Up

-- Every text is a BLOB: payloads, ids and URIs come back byte for byte, NUL and broken UTF-8 included. Times are integers
-- (milliseconds, NULL when unknown) where SQL orders or filters by them, and part of the body otherwise. A body is a Go struct
-- as store/internal/record writes it. Columns that hold one of a few known words hold its number, or the word when it is new.

-- A scope leads every key. Its counters spare a count over big tables.
CREATE TABLE scope (
    id      INTEGER PRIMARY KEY,
    account BLOB NOT NULL,
    kind    BLOB NOT NULL,
    user    BLOB NOT NULL,
    agent   BLOB NOT NULL,
    turns   INTEGER NOT NULL DEFAULT 0,
    docs    INTEGER NOT NULL DEFAULT 0,
    length  INTEGER NOT NULL DEFAULT 0, -- terms in all docs
    UNIQUE (account, kind, user, agent)
);

-- ref numbers the session references, so that no other table repeats scope and id.
CREATE TABLE ref (
    id    INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    sid   BLOB NOT NULL,
    UNIQUE (scope, sid)
);

CREATE TABLE session (
    ref     INTEGER PRIMARY KEY,
    scope   INTEGER NOT NULL,
    sid     BLOB NOT NULL,
    owner   BLOB NOT NULL, -- the scope's key: last part of the order
    updated INTEGER NOT NULL, -- nanoseconds, for the order
    open    INTEGER NOT NULL,
    skey    BLOB,
    body    BLOB NOT NULL
);
CREATE INDEX session_updated ON session (scope, updated DESC, sid);
CREATE INDEX session_skey ON session (scope, skey) WHERE skey IS NOT NULL;
CREATE INDEX session_open ON session (updated DESC, sid, owner) WHERE open = 1;

-- raw is the last column: a read without payload does not touch its overflow pages.
CREATE TABLE turn (
    id        INTEGER PRIMARY KEY,
    ref       INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    epoch     INTEGER NOT NULL,
    time      INTEGER,
    role,
    tokens    INTEGER NOT NULL,
    origin,
    audience,
    purpose,
    source,
    entry     BLOB,
    position  INTEGER NOT NULL,
    advance   BLOB,
    match     BLOB, -- 0 and the bytes that the hex stands for, or 1 and the text
    exchange  BLOB,
    speaker   BLOB,
    forgotten INTEGER NOT NULL,
    purged    INTEGER NOT NULL,
    salt      BLOB,
    leaf      BLOB,
    link      BLOB,
    raw       BLOB
);
CREATE UNIQUE INDEX turn_seq ON turn (ref, seq);
CREATE INDEX turn_entry ON turn (ref, entry) WHERE entry IS NOT NULL;
CREATE INDEX turn_match ON turn (ref, substr(match, 1, 9)) WHERE match IS NOT NULL;

CREATE TABLE turn_key (
    ref       INTEGER NOT NULL,
    key       BLOB NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    PRIMARY KEY (ref, key)
) WITHOUT ROWID;

CREATE TABLE recall (
    id    INTEGER PRIMARY KEY,
    ref   INTEGER NOT NULL,
    after INTEGER NOT NULL,
    body  BLOB NOT NULL,
    UNIQUE (ref, after)
);

CREATE TABLE dead_letter (
    id    INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    body  BLOB NOT NULL
);
CREATE INDEX dead_letter_scope ON dead_letter (scope, id);

CREATE TABLE archive (
    id   INTEGER PRIMARY KEY,
    ref  INTEGER NOT NULL,
    idx  INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (ref, idx)
);

CREATE TABLE checkpoint (
    id   INTEGER PRIMARY KEY,
    ref  INTEGER NOT NULL,
    cid  BLOB NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (ref, cid)
);

CREATE TABLE memory (
    id      INTEGER PRIMARY KEY,
    scope   INTEGER NOT NULL,
    uri     BLOB NOT NULL,
    type    BLOB NOT NULL,
    current INTEGER NOT NULL,
    body    BLOB NOT NULL,
    UNIQUE (scope, uri)
);
CREATE TABLE memory_source (
    ref       INTEGER NOT NULL,
    memory    INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL
);
CREATE INDEX memory_source_ref ON memory_source (ref, memory);
CREATE INDEX memory_source_memory ON memory_source (memory);

CREATE TABLE doc (
    id        INTEGER PRIMARY KEY, -- see docid.go
    scope     INTEGER NOT NULL,
    kind,
    ref       INTEGER,
    seq       INTEGER NOT NULL,
    uri       BLOB,
    start     INTEGER NOT NULL,
    stop      INTEGER NOT NULL,
    time      INTEGER,
    role,
    origin,
    audience,
    type,
    length    INTEGER NOT NULL
);
CREATE INDEX doc_ref ON doc (ref, seq) WHERE ref IS NOT NULL;
CREATE INDEX doc_uri ON doc (scope, uri) WHERE uri IS NOT NULL;

-- term is the lexical index: no text, no positions, only which doc holds which token; see token.go. Every token starts with its
-- scope's number, so document frequencies and postings are per scope by construction.
CREATE VIRTUAL TABLE term USING fts5 (
    token, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE term_frequency USING fts5vocab ('term', 'row');

CREATE TABLE trace (
    id       INTEGER PRIMARY KEY,
    ref      INTEGER NOT NULL,
    exchange BLOB NOT NULL,
    after    INTEGER NOT NULL,
    time     INTEGER,
    json     BLOB NOT NULL
);
CREATE INDEX trace_ref ON trace (ref, id);

CREATE TABLE job (
    id      INTEGER PRIMARY KEY AUTOINCREMENT, -- an id is never given twice
    key     BLOB NOT NULL UNIQUE,
    scope   INTEGER NOT NULL,
    ref     INTEGER, -- NULL for a job of no session
    ready   INTEGER NOT NULL,
    run_at  INTEGER NOT NULL, -- nanoseconds
    lease   INTEGER NOT NULL, -- nanoseconds, 0 when free
    body    BLOB NOT NULL
);
CREATE INDEX job_due ON job (run_at, id) WHERE ready = 1;
CREATE INDEX job_leased ON job (ref) WHERE ready = 1 AND lease > 0;

PRAGMA user_version = 1;
