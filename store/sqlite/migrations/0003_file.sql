-- +goose Up

-- body is the File without its content, which is the last column: a listing does not touch it.
CREATE TABLE file (
    id      INTEGER PRIMARY KEY,
    scope   INTEGER NOT NULL,
    uri     BLOB NOT NULL,
    parent  BLOB NOT NULL,
    body    BLOB NOT NULL,
    content BLOB,
    UNIQUE (scope, uri)
);
CREATE INDEX file_parent ON file (scope, parent, uri);

CREATE TABLE record (
    scope INTEGER NOT NULL,
    kind  BLOB NOT NULL,
    rid   BLOB NOT NULL,
    body  BLOB NOT NULL,
    PRIMARY KEY (scope, kind, rid)
) WITHOUT ROWID;
CREATE INDEX record_kind ON record (kind);

PRAGMA user_version = 3;
